//! Builds the tables of a module from a draft, with the checks that parsed text passes. The text that the draft prints is
//! kept beside them, for spans and errors to point into; of it only single words are parsed, to check that they are words.

use super::super::draft::{Draft, DraftArgument, DraftInstruction, DraftValue};
use super::super::literal::parse_literal;
use super::super::print::called_text;
use super::*;

/// A draft that cannot be built: why, and the text that the error points into.
#[derive(Clone, Debug)]
pub struct DraftError {
    /// The expectation that failed, and its place in the text.
    pub error: HloError,
    /// The module as text.
    pub text: String,
}

/// The spans of an instruction's words in the text.
struct Words {
    name: Span,
    shape: Span,
    opcode: Span,
    literal: Span,
    attributes: Vec<Attribute>,
}

/// The spans of a computation's words.
struct ComputationWords {
    name: Span,
    instructions: Vec<Words>,
}

/// Makes the tables of a module; they are those of the text that it prints.
pub fn build_module(draft: &Draft) -> std::result::Result<Module, DraftError> {
    let mut listing = Listing { text: String::new(), draft };
    let (name, words) = listing.module();
    let text = listing.text;
    let built = Parser::new(&text).and_then(|parser| parser.build(draft, name, words));
    built.map_err(|error| DraftError { error, text })
}

/// Writes the text, and records the spans of its words.
struct Listing<'d> {
    text: String,
    draft: &'d Draft,
}

impl Listing<'_> {
    fn word(&mut self, word: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(word);
        Span::new(start, self.text.len())
    }

    fn module(&mut self) -> (Span, Vec<ComputationWords>) {
        self.word("HloModule ");
        let name = self.word(&self.draft.name);
        self.word("\n");
        (name, (0..self.draft.computations.len()).map(|number| self.computation(number)).collect())
    }

    fn computation(&mut self, number: usize) -> ComputationWords {
        let computation = &self.draft.computations[number];
        let is_entry = number + 1 == self.draft.computations.len();
        self.word(if is_entry { "\nENTRY %" } else { "\n%" });
        let name = self.word(&computation.name);
        self.word(" {\n");
        let mut instructions = Vec::with_capacity(computation.instructions.len());
        for (row, instruction) in computation.instructions.iter().enumerate() {
            self.word(if row == computation.root { "  ROOT %" } else { "  %" });
            instructions.push(self.instruction(instruction, &computation.instructions));
        }
        self.word("}\n");
        ComputationWords { name, instructions }
    }

    fn instruction(&mut self, instruction: &DraftInstruction, all: &[DraftInstruction]) -> Words {
        let name = self.word(&instruction.name);
        self.word(" = ");
        let shape = self.word(&instruction.shape);
        self.word(" ");
        let opcode = self.word(&instruction.opcode);
        self.word("(");
        let literal = self.argument(&instruction.argument, all);
        self.word(")");
        let attributes =
            instruction.attributes.iter().map(|(key, value)| self.attribute(key, value)).collect();
        self.word("\n");
        Words { name, shape, opcode, literal, attributes }
    }

    /// The literal's place, if it is one.
    fn argument(&mut self, argument: &DraftArgument, all: &[DraftInstruction]) -> Span {
        let text = match argument {
            DraftArgument::Literal(literal) => return self.word(literal),
            DraftArgument::Parameter(number) => number.to_string(),
            DraftArgument::Operands(rows) => {
                let name = |&row: &u32| all.get(row as usize).map_or("?", |i| i.name.as_str());
                rows.iter().map(|row| format!("%{}", name(row))).collect::<Vec<_>>().join(", ")
            }
        };
        self.word(&text);
        Span::default()
    }

    /// Writes an attribute. A value that is a computation has no span: calls refer to it.
    fn attribute(&mut self, key: &str, value: &DraftValue) -> Attribute {
        self.word(", ");
        let key_at = self.word(key);
        self.word("=");
        match value {
            DraftValue::Text(text) => Attribute { key: key_at, value: self.word(text) },
            DraftValue::Computations(rows) => {
                let name =
                    |&row: &u32| self.draft.computations.get(row as usize).map_or("?", |c| c.name.as_str());
                let text = called_text(key, rows.iter().map(name));
                self.word(&text);
                Attribute { key: key_at, value: Span::default() }
            }
        }
    }
}

impl<'a> Parser<'a> {
    fn build(mut self, draft: &'a Draft, name: Span, words: Vec<ComputationWords>) -> Result<Module> {
        self.whole_name(name, "a module's name")?;
        self.module.name = name.of(self.cursor.text).to_string();
        self.module.entry_marked = true;
        for (number, (computation, words)) in draft.computations.iter().zip(words).enumerate() {
            let name = self.whole_name(words.name, "a computation's name")?;
            let at = words.name.start as usize;
            if computation.root >= computation.instructions.len().max(1) {
                let (root, count) = (computation.root, computation.instructions.len());
                return Err(HloError::new(
                    at,
                    format!("the root of {name} is instruction {root} of {count}"),
                ));
            }
            self.push_frame(name, at, number + 1 == draft.computations.len(), None);
            for (row, (instruction, words)) in
                computation.instructions.iter().zip(words.instructions).enumerate()
            {
                self.add_drafted(instruction, words, (number, row, row == computation.root), draft)?;
            }
            self.cursor.at = self.cursor.text.len();
            self.close_computation()?;
        }
        self.finish()
    }

    /// Adds an instruction to the innermost computation: `number` is the computation's, `row` its own.
    fn add_drafted(
        &mut self,
        instruction: &DraftInstruction,
        words: Words,
        (number, row, is_root): (usize, usize, bool),
        draft: &Draft,
    ) -> Result<()> {
        self.whole_name(words.name, "an instruction's name")?;
        let shape = self.whole(words.shape, "a shape", |parser| parser.shapes.parse(&mut parser.cursor))?;
        let mut pending =
            self.whole(words.opcode, "an opcode", |parser| parser.pending(words.name, is_root, Some(shape)))?;
        self.drafted_argument(instruction, &mut pending, words.literal, row)?;
        for (attribute, (_, value)) in words.attributes.into_iter().zip(&instruction.attributes) {
            self.drafted_attribute(attribute, value, number, draft)?;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.pending = Some(pending);
        }
        self.finish_instruction()
    }

    fn drafted_argument(
        &mut self,
        instruction: &DraftInstruction,
        pending: &mut Pending,
        literal: Span,
        row: usize,
    ) -> Result<()> {
        match (&instruction.argument, instruction.opcode.as_str()) {
            (DraftArgument::Parameter(number @ 0..), "parameter") => pending.parameter = *number,
            (DraftArgument::Literal(_), "constant") => {
                let shape = pending.shape.unwrap_or_default();
                self.whole(literal, "a literal", |parser| {
                    parse_literal(&mut parser.cursor, &parser.shapes.table, shape)
                })?;
                pending.literal = literal;
            }
            (DraftArgument::Operands(rows), opcode) if !matches!(opcode, "parameter" | "constant") => {
                if let Some(later) = rows.iter().find(|&&operand| operand as usize >= row) {
                    let message =
                        format!("operand {later} of instruction {row} is not defined before this use");
                    return Err(HloError::new(pending.opcode_at, message));
                }
                self.file_operands(pending, rows);
            }
            _ => {
                let message = "a parameter has its number, a constant its literal, any other opcode operands";
                return Err(HloError::new(pending.opcode_at, message));
            }
        }
        Ok(())
    }

    fn drafted_attribute(
        &mut self,
        attribute: Attribute,
        value: &DraftValue,
        number: usize,
        draft: &Draft,
    ) -> Result<()> {
        let (text, at) = (self.cursor.text, attribute.key.start as usize);
        let key = self.whole(attribute.key, "an attribute's name", |parser| parser.cursor.word("a name"))?;
        if let Some(frame) = self.frames.last() {
            reject_duplicate(&frame.attributes, text, attribute.key, at)?;
        }
        if COMPUTATION_KEYS.contains(&key) != matches!(value, DraftValue::Computations(_)) {
            let message = format!("only an attribute of {} names computations", COMPUTATION_KEYS.join(", "));
            return Err(HloError::new(at, message));
        }
        if matches!(value, DraftValue::Text(_)) {
            self.whole(attribute.value, "one value", |parser| parser.attribute_value(key))?;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.attributes.push(attribute);
        }
        let DraftValue::Computations(called) = value else { return Ok(()) };
        for &row in called {
            if row as usize >= number {
                let message = format!(
                    "computation {row} is not defined before {} calls it",
                    draft.computations[number].name
                );
                return Err(HloError::new(at, message));
            }
            self.add_call(Target::Nested(row, at));
        }
        Ok(())
    }

    /// A name that is nothing but a name.
    fn whole_name(&mut self, span: Span, what: &str) -> Result<&'a str> {
        self.whole(span, what, |parser| {
            parser.cursor.at = parser.cursor.at.saturating_sub(1); // a `%` before it lets a digit come first
            parser.cursor.name(what)
        })
    }

    /// Reads the text of a span, all of which must be read.
    fn whole<T>(&mut self, span: Span, what: &str, read: impl Fn(&mut Self) -> Result<T>) -> Result<T> {
        self.cursor.at = span.start as usize;
        let value = read(self)?;
        if self.cursor.at == span.end as usize {
            return Ok(value);
        }
        let written: String = span.of(self.cursor.text).chars().take(40).collect();
        Err(HloError::new(span.start as usize, format!("expected {what}, found {written:?}")))
    }
}
