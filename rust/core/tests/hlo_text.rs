//! HLO text: tables, errors at their offsets, literals, and input that nests or grows without end.

use indexing_core::{
    build_module, parse_module, write_shape, Computation, Draft, DraftArgument, DraftComputation,
    DraftInstruction, DraftValue, Literal, Module, ELEMENT_TYPES, MAX_CALL_DEPTH, OPCODES,
};

const PROGRAM: &str = "HloModule m, a={1}
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
ENTRY e {
  p = f32[2,3]{1,0} parameter(0)
  q = f32[2,3]{1,0} multiply(p, p), metadata={op_name=\"n\"}
  c = f32[] constant(-0)
  r = f32[3]{0} reduce(q, c), dimensions={0}, to_apply=add
  ROOT t = (f32[3]{0}, f32[2,3]{1,0}) tuple(r, q)
}";

fn parsed(text: &str) -> Module {
    parse_module(text).unwrap_or_else(|e| panic!("{e:?}"))
}

fn refused(text: &str) -> (usize, String) {
    let error = parse_module(text).expect_err("an error");
    (error.offset, error.message)
}

fn row(module: &Module, name: &str) -> usize {
    module.instructions.iter().rposition(|i| i.name.of(&module.text) == name).expect("an instruction")
}

#[test]
fn tables_of_a_program() {
    let m = parsed(PROGRAM);
    assert_eq!((m.name.as_str(), m.computations.len(), m.entry, m.instructions.len()), ("m", 2, 1, 8));
    let names = |rows: &[u32]| -> Vec<&str> {
        rows.iter().map(|&i| m.instructions[i as usize].name.of(&m.text)).collect()
    };
    assert_eq!(names(m.operands_of(row(&m, "t"))), ["r", "q"]);
    assert_eq!(names(m.users_of(row(&m, "q"))), ["r", "t"]);
    assert_eq!(names(m.users_of(row(&m, "p"))), ["q"], "a user that takes an operand twice is listed once");
    assert_eq!(m.calls_of(row(&m, "r")).collect::<Vec<_>>(), [("to_apply", 0)]);
    assert_eq!(m.integers(m.attribute(row(&m, "r"), "dimensions").expect("there")), Ok(vec![0]));
    assert_eq!(m.literal(row(&m, "p")), Ok(None));
    let shape = m.instructions[row(&m, "c")].shape;
    assert_eq!(m.literal(row(&m, "c")), Ok(Some(Literal::Array(shape, vec![0, 0, 0, 0x80]))));
    assert_eq!(m.instructions[row(&m, "p")].shape, m.instructions[row(&m, "q")].shape);
}

#[test]
fn printing_reads_back() {
    let text = parsed(PROGRAM).to_text();
    assert_eq!(parsed(&text).to_text(), text);
    assert!(text.contains("ROOT %t = (f32[3]{0}, f32[2,3]{1,0}) tuple(%r, %q)"), "{text}");
}

#[test]
fn errors_have_their_offset_and_place() {
    let text = PROGRAM.replace("reduce(q, c)", "reduce(q, d)");
    let (offset, message) = refused(&text);
    assert_eq!(&text[offset..offset + 1], "d");
    assert!(message.contains("d is not defined before this use in e"), "{message}");
    let error = parse_module("e {\n\té = f32[] x()\n}").expect_err("a name");
    let place = error.place("e {\n\té = f32[] x()\n}");
    assert_eq!((place.line, place.column, place.caret, place.excerpt.as_str()), (2, 2, 1, " é = f32[] x()"));
}

#[test]
fn a_place_in_a_long_line_shows_the_piece_around_it() {
    let text = format!("e {{ {} }}", "a = f32[] parameter(0) ".repeat(10_000));
    let error = parse_module(&text).expect_err("a name twice");
    let place = error.place(&text);
    assert!(place.excerpt.len() <= 120 && place.caret <= place.excerpt.len() && place.line == 1);
    assert_eq!(place.column, error.offset + 1);
}

#[test]
fn calls_nest_only_so_deep() {
    let chain = |length: usize| {
        let mut text = String::from("c0 { ROOT r = f32[] constant(1) }\n");
        for i in 1..=length {
            text += &format!("c{i} {{ ROOT r = f32[] call(), to_apply=c{} }}\n", i - 1);
        }
        text
    };
    parsed(&chain(MAX_CALL_DEPTH));
    assert!(refused(&chain(MAX_CALL_DEPTH + 1)).1.contains("computations call one another"));
    assert!(refused(&chain(100_000)).1.contains("computations call one another"));
}

#[test]
fn every_prefix_is_an_error_or_a_module() {
    for end in (0..PROGRAM.len()).filter(|&i| PROGRAM.is_char_boundary(i)) {
        if let Ok(module) = parse_module(&PROGRAM[..end]) {
            parsed(&module.to_text());
        }
    }
}

#[test]
fn rows_of_the_tables_are_in_order_and_unique() {
    assert!(OPCODES.windows(2).all(|w| w[0].name < w[1].name));
    assert!(OPCODES.iter().all(|row| row.min_operands <= row.max_operands));
    for (i, row) in ELEMENT_TYPES.iter().enumerate() {
        assert!(ELEMENT_TYPES[..i].iter().all(|other| other.name != row.name));
    }
}

#[test]
fn long_chains_take_linear_time() {
    let mut text = String::from("e { a0 = f32[] parameter(0)\n");
    for i in 1..100_000 {
        text += &format!("a{i} = f32[] add(a{}, a{})\n", i - 1, i / 2);
    }
    text.push('}');
    let m = parsed(&text);
    assert_eq!((m.instructions.len(), m.signatures), (100_000, 2));
}

/// The rows of a module that text gave, as somebody else would describe them.
fn draft_of(m: &Module) -> Draft {
    let attribute = |row: usize| {
        let key = m.attributes[row].key.of(&m.text).to_string();
        let called: Vec<u32> =
            m.calls.iter().filter(|c| c.attribute as usize == row).map(|c| c.computation).collect();
        let text = DraftValue::Text(m.attribute_value(row));
        (key, if called.is_empty() { text } else { DraftValue::Computations(called) })
    };
    let instruction = |row: usize, first: u32| {
        let i = &m.instructions[row];
        let mut shape = String::new();
        write_shape(&mut shape, &m.shapes, i.shape);
        let opcode = m.opcodes[i.opcode as usize].clone();
        let argument = match opcode.as_str() {
            "parameter" => DraftArgument::Parameter(i.parameter),
            "constant" => DraftArgument::Literal(i.literal.of(&m.text).to_string()),
            _ => DraftArgument::Operands(m.operands_of(row).iter().map(|o| o - first).collect()),
        };
        let attributes = i.attributes.range().map(attribute).collect();
        DraftInstruction { name: i.name.of(&m.text).to_string(), shape, opcode, argument, attributes }
    };
    let computation = |c: &Computation| DraftComputation {
        name: c.name.clone(),
        instructions: c.instructions.range().map(|row| instruction(row, c.instructions.first)).collect(),
        root: (c.root - c.instructions.first) as usize,
    };
    Draft { name: m.name.clone(), computations: m.computations.iter().map(computation).collect() }
}

#[test]
fn a_draft_gives_the_tables_of_its_text() {
    let read = parsed(PROGRAM);
    let built = build_module(&draft_of(&read)).unwrap();
    let again = parsed(&built.to_text());
    assert_eq!(again.to_text(), built.to_text());
    let entry = |m: &Module| m.computation_text(m.entry as usize);
    assert_eq!(entry(&built), entry(&read));
    let signatures = |m: &Module| m.instructions.iter().map(|i| i.signature).collect::<Vec<_>>();
    assert_eq!(signatures(&built), signatures(&again));
}

#[test]
fn a_draft_that_text_would_not_give_is_refused() {
    let draft = |argument: DraftArgument, root: usize| {
        let row = |name: &str, opcode: &str, argument| DraftInstruction {
            name: name.into(),
            shape: "f32[2]".into(),
            opcode: opcode.into(),
            argument,
            attributes: Vec::new(),
        };
        let rows = vec![row("p", "parameter", DraftArgument::Parameter(0)), row("n", "negate", argument)];
        Draft {
            name: "m".into(),
            computations: vec![DraftComputation { name: "e".into(), instructions: rows, root }],
        }
    };
    assert!(build_module(&draft(DraftArgument::Operands(vec![0]), 1)).is_ok());
    let refused = |argument, root| build_module(&draft(argument, root)).unwrap_err();
    let itself = refused(DraftArgument::Operands(vec![1]), 1);
    assert!(itself.error.message.contains("operand 1 of instruction 1 is not defined before"));
    assert!(itself.text[itself.error.offset..].starts_with("negate(%n)"));
    assert!(refused(DraftArgument::Operands(vec![0, 0]), 1).error.message.contains("takes 1 operand"));
    assert!(refused(DraftArgument::Operands(vec![0]), 2)
        .error
        .message
        .contains("root of e is instruction 2"));
    assert!(refused(DraftArgument::Parameter(1), 1).error.message.contains("a parameter has its number"));
    assert!(refused(DraftArgument::Literal("1".into()), 1).error.message.contains("a constant its literal"));
}
