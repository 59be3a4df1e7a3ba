//! From text to tables, in one pass; computations written inside instructions are kept on an explicit stack.

use std::collections::HashMap;

use super::calls::link_calls;
use super::error::{HloError, Result};
use super::lexer::{Cursor, Span};
use super::literal::parse_literal;
use super::opcodes::{opcodes, OpcodeRow};
use super::shape::{Interner, ShapeId};
use super::signature::Signatures;
use super::tables::{Attribute, Call, Computation, Instruction, Module, Rows};

/// Attributes whose values are computations.
const COMPUTATION_KEYS: [&str; 10] = [
    "to_apply",
    "calls",
    "condition",
    "body",
    "branch_computations",
    "true_computation",
    "false_computation",
    "called_computations",
    "select",
    "scatter",
];

/// What text writes of an instruction before its attributes.
struct Pending {
    root: bool,
    name: Span,
    opcode: u16,
    opcode_at: usize,
    shape: Option<ShapeId>,
    operands: Rows,
    literal: Span,
    parameter: i64,
}

/// A computation that is being read.
struct Frame<'a> {
    number: u32,
    name: &'a str,
    name_at: usize,
    entry: bool,
    declared: Option<(Vec<ShapeId>, ShapeId)>,
    instructions: Vec<Instruction>,
    root: Option<u32>,
    pending: Option<Pending>,
    attributes: Vec<Attribute>,
    calls: Vec<(u32, Target<'a>)>,
    /// Inside `{...}` of several computations.
    in_list: bool,
}

/// A called computation: by name until all are read, or by number if it is written in place.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    Named(&'a str, usize),
    Nested(u32, usize),
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    module: Module,
    shapes: Interner<'a>,
    opcode_rows: Vec<OpcodeRow>,
    opcodes: HashMap<&'a str, u16>,
    names: HashMap<(u32, &'a str), u32>,
    computations: HashMap<&'a str, u32>,
    nested: Vec<u32>,
    frames: Vec<Frame<'a>>,
    targets: Vec<Target<'a>>,
    signatures: Signatures,
    frame_count: u32,
    scratch: Vec<(u8, usize)>,
    operand_shapes: Vec<ShapeId>,
}

/// Reads HLO text.
pub fn parse_module(text: &str) -> Result<Module> {
    if u32::try_from(text.len()).is_err() {
        return Err(HloError::new(0, "the text is longer than 4 GiB"));
    }
    let opcode_rows: Vec<OpcodeRow> = opcodes().collect();
    let mut parser = Parser {
        cursor: Cursor::new(text, 0),
        module: Module::default(),
        shapes: Interner::default(),
        opcodes: opcode_rows.iter().enumerate().map(|(i, row)| (row.name, i as u16)).collect(),
        opcode_rows,
        names: HashMap::new(),
        computations: HashMap::new(),
        nested: Vec::new(),
        frames: Vec::new(),
        targets: Vec::new(),
        signatures: Signatures::default(),
        frame_count: 0,
        scratch: Vec::new(),
        operand_shapes: Vec::new(),
    };
    parser.module.opcodes = parser.opcode_rows.iter().map(|row| row.name.to_string()).collect();
    parser.header()?;
    parser.body()?;
    parser.finish()
}

impl<'a> Parser<'a> {
    fn header(&mut self) -> Result<()> {
        self.cursor.skip_space()?;
        if self.cursor.peek_word() == "HloModule" {
            self.cursor.word("HloModule")?;
            self.cursor.skip_space()?;
            let rest = &self.cursor.text[self.cursor.at..];
            let end = rest.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(rest.len());
            if end == 0 {
                return Err(self.cursor.expected("the module's name"));
            }
            self.module.name = rest[..end].trim_start_matches('%').to_string();
            self.cursor.at += end;
            let first = self.module.attributes.len();
            self.plain_attributes()?;
            self.module.header = Rows::new(first, self.module.attributes.len());
        }
        self.debug_tables()
    }

    /// `, key=value` as often as it stands here.
    fn plain_attributes(&mut self) -> Result<()> {
        let first = self.module.attributes.len();
        while self.cursor.take(b',')? {
            let (key, at) = self.key()?;
            let value = self.cursor.value(&mut self.scratch)?;
            let known = &self.module.attributes[first..];
            refuse_twice(known, self.cursor.text, key, at)?;
            self.module.attributes.push(Attribute { key, value });
        }
        Ok(())
    }

    fn key(&mut self) -> Result<(Span, usize)> {
        self.cursor.skip_space()?;
        let start = self.cursor.at;
        self.cursor.word("an attribute's name")?;
        let key = Span::new(start, self.cursor.at);
        self.cursor.require(b'=')?;
        Ok((key, start))
    }

    fn debug_tables(&mut self) -> Result<()> {
        loop {
            self.cursor.skip_space()?;
            let word = self.cursor.peek_word();
            if !matches!(word, "FileNames" | "FunctionNames" | "FileLocations" | "StackFrames") {
                return Ok(());
            }
            let start = self.cursor.at;
            self.cursor.at += word.len();
            self.cursor.skip_space()?;
            if matches!(self.cursor.peek(), b'{' | b'(' | b'=') {
                self.cursor.at = start; // a computation of this name
                return Ok(());
            }
            let mut end = start + word.len();
            while self.cursor.peek().is_ascii_digit() {
                self.cursor.integer("a number")?;
                self.cursor.value(&mut self.scratch)?;
                end = self.cursor.at;
                self.cursor.skip_space()?;
            }
            self.module.debug_tables.push(Span::new(start, end));
        }
    }

    fn body(&mut self) -> Result<()> {
        loop {
            self.cursor.skip_space()?;
            let Some(frame) = self.frames.last() else {
                if self.cursor.at_end() {
                    return Ok(());
                }
                self.open_computation()?;
                continue;
            };
            if frame.pending.is_some() {
                self.attribute_or_end()?;
            } else if self.cursor.peek() == b'}' {
                self.cursor.at += 1;
                self.close_computation()?;
            } else {
                self.instruction_head()?;
            }
        }
    }

    /// `ENTRY %name (parameters) -> result {`, where all but the name and the brace may be missing.
    fn open_computation(&mut self) -> Result<()> {
        let mut at = self.cursor.at;
        let entry = self.cursor.peek_word() == "ENTRY" && {
            self.cursor.at += "ENTRY".len();
            self.cursor.skip_space()?;
            let named = !matches!(self.cursor.peek(), b'{' | b'(');
            self.cursor.at = if named { self.cursor.at } else { at };
            named
        };
        if entry && self.module.entry_marked {
            return Err(HloError::new(at, "a second ENTRY computation; a module has one"));
        }
        self.module.entry_marked |= entry;
        self.cursor.skip_space()?;
        at = self.cursor.at;
        let name = self.cursor.name("a computation's name")?;
        let declared = match self.cursor.take(b'(')? {
            true => Some(self.declaration()?),
            false => None,
        };
        self.cursor.require(b'{')?;
        self.push_frame(name, at, entry, declared);
        Ok(())
    }

    fn push_frame(
        &mut self,
        name: &'a str,
        name_at: usize,
        entry: bool,
        declared: Option<(Vec<ShapeId>, ShapeId)>,
    ) {
        self.frames.push(Frame {
            number: self.frame_count,
            name,
            name_at,
            entry,
            declared,
            instructions: Vec::new(),
            root: None,
            pending: None,
            attributes: Vec::new(),
            calls: Vec::new(),
            in_list: false,
        });
        self.frame_count += 1;
    }

    /// `name: shape, ...) -> shape`.
    fn declaration(&mut self) -> Result<(Vec<ShapeId>, ShapeId)> {
        let mut parameters = Vec::new();
        if !self.cursor.take(b')')? {
            loop {
                self.cursor.name("a parameter's name")?;
                self.cursor.require(b':')?;
                parameters.push(self.shapes.parse(&mut self.cursor)?);
                if !self.cursor.take(b',')? {
                    self.cursor.require(b')')?;
                    break;
                }
            }
        }
        self.cursor.require(b'-')?;
        self.cursor.require(b'>')?;
        Ok((parameters, self.shapes.parse(&mut self.cursor)?))
    }

    /// `ROOT %name = shape opcode(operands)`.
    fn instruction_head(&mut self) -> Result<()> {
        let mut at = self.cursor.at;
        let mut name = self.cursor.name("an instruction or '}'")?;
        let mut root = false;
        if name == "ROOT" && !self.cursor.take(b'=')? {
            self.cursor.skip_space()?;
            at = self.cursor.at;
            name = self.cursor.name("the root's name")?;
            self.cursor.require(b'=')?;
            root = true;
        } else if name != "ROOT" {
            self.cursor.require(b'=')?;
        }
        let start = self.cursor.offset_of(name);
        self.define(name, at)?;
        let shape = self.result_shape()?;
        self.cursor.skip_space()?;
        let opcode_at = self.cursor.at;
        let opcode = self.cursor.word("an opcode")?;
        let opcode = self.opcode(opcode, opcode_at)?;
        let mut pending = Pending {
            root,
            name: Span::new(start, start + name.len()),
            opcode,
            opcode_at,
            shape,
            operands: Rows::default(),
            literal: Span::default(),
            parameter: -1,
        };
        self.arguments(&mut pending)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.pending = Some(pending);
        }
        Ok(())
    }

    fn define(&mut self, name: &'a str, at: usize) -> Result<()> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let row = frame.instructions.len() as u32;
        if self.names.insert((frame.number, name), row).is_some() {
            return Err(HloError::new(at, format!("{name} is defined twice in {}", frame.name)));
        }
        Ok(())
    }

    /// The shape before the opcode; `None` where the text leaves it to inference.
    fn result_shape(&mut self) -> Result<Option<ShapeId>> {
        self.cursor.skip_space()?;
        let word = self.cursor.peek_word();
        let after = self.cursor.peek_at(word.len());
        if !word.is_empty() && after == b'(' {
            return Ok(None);
        }
        self.shapes.parse(&mut self.cursor).map(Some)
    }

    fn opcode(&mut self, name: &'a str, at: usize) -> Result<u16> {
        if let Some(&row) = self.opcodes.get(name) {
            return Ok(row);
        }
        let row = u16::try_from(self.module.opcodes.len())
            .map_err(|_| HloError::new(at, "more than 65535 different opcodes"))?;
        self.opcodes.insert(name, row);
        self.module.opcodes.push(name.to_string());
        Ok(row)
    }

    /// What stands in parentheses: operands, a literal, or a parameter's number.
    fn arguments(&mut self, pending: &mut Pending) -> Result<()> {
        self.cursor.require(b'(')?;
        match self.module.opcodes[pending.opcode as usize].as_str() {
            "parameter" => {
                let at = self.cursor.at;
                pending.parameter = self.cursor.integer("a parameter's number")?;
                if pending.parameter < 0 {
                    return Err(HloError::new(at, "a parameter's number cannot be negative"));
                }
                self.cursor.require(b')')
            }
            "constant" => self.constant(pending),
            _ => self.operands(pending),
        }
    }

    fn constant(&mut self, pending: &mut Pending) -> Result<()> {
        let Some(shape) = pending.shape else {
            return Err(HloError::new(
                pending.opcode_at,
                "expected the shape of a constant before its opcode",
            ));
        };
        self.cursor.skip_space()?;
        let start = self.cursor.at;
        parse_literal(&mut self.cursor, &self.shapes.table, shape)?;
        pending.literal = Span::new(start, self.cursor.at);
        self.cursor.require(b')')
    }

    fn operands(&mut self, pending: &mut Pending) -> Result<()> {
        let first = self.module.operands.len();
        if !self.cursor.take(b')')? {
            loop {
                self.operand()?;
                if !self.cursor.take(b',')? {
                    if !self.cursor.take(b')')? {
                        return Err(self.cursor.expected("',' or ')' after an operand"));
                    }
                    break;
                }
            }
        }
        pending.operands = Rows::new(first, self.module.operands.len());
        Ok(())
    }

    /// `%name`, with or without its shape in front.
    fn operand(&mut self) -> Result<()> {
        self.cursor.skip_space()?;
        let start = self.cursor.at;
        let word = self.cursor.peek_word();
        let shaped =
            self.cursor.peek() == b'(' || !word.is_empty() && self.cursor.peek_at(word.len()) == b'[';
        let shape = if shaped { Some(self.shapes.parse(&mut self.cursor)?) } else { None };
        self.cursor.skip_space()?;
        let at = self.cursor.at;
        let name = self.cursor.name("an operand's name")?;
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let known =
            self.names.get(&(frame.number, name)).filter(|&&row| (row as usize) < frame.instructions.len());
        let Some(&row) = known else {
            return Err(HloError::new(
                at,
                format!("{name} is not defined before this use in {}", frame.name),
            ));
        };
        if let Some(given) = shape {
            let actual = frame.instructions[row as usize].shape;
            if self.shapes.bare(given) != self.shapes.bare(actual) {
                let message =
                    format!("{name} has shape {}, not {}", self.shapes.text(actual), self.shapes.text(given));
                return Err(HloError::new(start, message));
            }
        }
        self.module.operands.push(row);
        Ok(())
    }

    /// One step behind the operands: the next attribute, a part of a list of computations, or the end.
    fn attribute_or_end(&mut self) -> Result<()> {
        let in_list = self.frames.last().is_some_and(|f| f.in_list);
        if in_list {
            return self.list_item();
        }
        if !self.cursor.take(b',')? {
            return self.finish_instruction();
        }
        let (key, at) = self.key()?;
        let text = self.cursor.text;
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        refuse_twice(&frame.attributes, text, key, at)?;
        if !COMPUTATION_KEYS.contains(&key.of(text)) {
            let value = self.cursor.value(&mut self.scratch)?;
            frame.attributes.push(Attribute { key, value });
            return Ok(());
        }
        frame.attributes.push(Attribute { key, value: Span::default() });
        self.cursor.skip_space()?;
        if self.cursor.peek() == b'{' && self.is_list()? {
            self.cursor.at += 1;
            if let Some(frame) = self.frames.last_mut() {
                frame.in_list = true;
            }
            return Ok(());
        }
        self.computation_value()
    }

    /// A list of computations, item by item, as they may be written in place.
    fn list_item(&mut self) -> Result<()> {
        self.cursor.skip_space()?;
        match self.cursor.peek() {
            b',' => {
                self.cursor.at += 1;
                Ok(())
            }
            b'}' => {
                self.cursor.at += 1;
                if let Some(frame) = self.frames.last_mut() {
                    frame.in_list = false;
                }
                Ok(())
            }
            _ => self.computation_value(),
        }
    }

    /// Whether the brace at the cursor opens a list of names or of bodies, rather than one body.
    fn is_list(&self) -> Result<bool> {
        let mut ahead = self.cursor.clone();
        ahead.at += 1;
        ahead.skip_space()?;
        if matches!(ahead.peek(), b'{' | b'}') {
            return Ok(true);
        }
        ahead.name("a computation or an instruction")?;
        ahead.skip_space()?;
        Ok(matches!(ahead.peek(), b',' | b'}'))
    }

    /// A computation's name, or the computation itself.
    fn computation_value(&mut self) -> Result<()> {
        let at = self.cursor.at;
        if self.cursor.peek() == b'{' {
            self.cursor.at += 1;
            self.push_frame("_", at, false, None);
            return Ok(());
        }
        let name = self.cursor.name("a computation's name")?;
        self.add_call(Target::Named(name, at));
        Ok(())
    }

    fn add_call(&mut self, target: Target<'a>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.calls.push((frame.attributes.len() as u32 - 1, target));
        }
    }

    fn finish_instruction(&mut self) -> Result<()> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let Some(pending) = frame.pending.take() else { return Ok(()) };
        let operands = &self.module.operands[pending.operands.range()];
        self.operand_shapes.clear();
        self.operand_shapes.extend(operands.iter().map(|&o| frame.instructions[o as usize].shape));
        check_arity(self.opcode_rows.get(pending.opcode as usize), operands.len(), pending.opcode_at)?;
        let Some(shape) = pending.shape else {
            return Err(HloError::new(pending.opcode_at, "expected a shape before the opcode"));
        };
        let first_attribute = self.module.attributes.len();
        self.module.attributes.extend_from_slice(&frame.attributes);
        let first_call = self.module.calls.len();
        for &(attribute, target) in &frame.calls {
            self.module.calls.push(Call { attribute: first_attribute as u32 + attribute, computation: 0 });
            self.targets.push(target);
        }
        let signature = self.signatures.intern(
            self.cursor.text,
            (pending.opcode, shape, pending.parameter, pending.literal),
            &self.operand_shapes,
            &frame.attributes,
            &frame.calls,
        );
        frame.attributes.clear();
        frame.calls.clear();
        if pending.root && frame.root.replace(frame.instructions.len() as u32).is_some() {
            return Err(HloError::new(
                pending.name.start as usize,
                format!("a second ROOT in {}", frame.name),
            ));
        }
        frame.instructions.push(Instruction {
            name: pending.name,
            opcode: pending.opcode,
            shape,
            computation: 0,
            operands: pending.operands,
            attributes: Rows::new(first_attribute, self.module.attributes.len()),
            calls: Rows::new(first_call, self.module.calls.len()),
            literal: pending.literal,
            parameter: pending.parameter,
            signature,
        });
        Ok(())
    }

    fn close_computation(&mut self) -> Result<()> {
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        let Some(last) = frame.instructions.len().checked_sub(1) else {
            return Err(HloError::new(
                frame.name_at,
                format!("computation {} has no instruction", frame.name),
            ));
        };
        let index = self.module.computations.len() as u32;
        let first = self.module.instructions.len();
        let root = frame.root.unwrap_or(last as u32);
        self.check_parameters(&frame, root)?;
        for instruction in &mut frame.instructions {
            instruction.computation = index;
            let operands = &mut self.module.operands[instruction.operands.range()];
            operands.iter_mut().for_each(|o| *o += first as u32);
        }
        self.module.instructions.append(&mut frame.instructions);
        let first_attribute = self.module.attributes.len();
        if self.frames.is_empty() {
            self.plain_attributes()?;
        }
        self.module.computations.push(Computation {
            name: frame.name.to_string(),
            instructions: Rows::new(first, self.module.instructions.len()),
            root: first as u32 + root,
            attributes: Rows::new(first_attribute, self.module.attributes.len()),
        });
        if !self.frames.is_empty() {
            self.nested.push(index);
            self.add_call(Target::Nested(index, frame.name_at));
            return Ok(());
        }
        if self.computations.insert(frame.name, index).is_some() {
            return Err(HloError::new(frame.name_at, format!("computation {} is defined twice", frame.name)));
        }
        if frame.entry || !self.module.entry_marked {
            self.module.entry = index;
        }
        Ok(())
    }

    /// Parameters are numbered 0, 1, ... and have the declared shapes; so has the root.
    fn check_parameters(&self, frame: &Frame, root: u32) -> Result<()> {
        let count = frame.instructions.iter().filter(|i| i.parameter >= 0).count();
        let mut shapes = vec![None; count];
        for i in frame.instructions.iter().filter(|i| i.parameter >= 0) {
            let slot = usize::try_from(i.parameter).ok().and_then(|n| shapes.get_mut(n));
            if slot.is_none_or(|s| s.replace(i.shape).is_some()) {
                let message =
                    format!("the {count} parameters of {} must be numbered 0, 1, ... once each", frame.name);
                return Err(HloError::new(i.name.start as usize, message));
            }
        }
        let Some((declared, result)) = &frame.declared else { return Ok(()) };
        let bare = |id: &ShapeId| self.shapes.bare(*id);
        let same = declared.len() == count
            && declared.iter().zip(shapes.iter().flatten()).all(|(a, b)| bare(a) == bare(b));
        if !same {
            let message = format!("the parameters of {} are not those that its head declares", frame.name);
            return Err(HloError::new(frame.name_at, message));
        }
        let actual = frame.instructions[root as usize].shape;
        if bare(&actual) != bare(result) {
            let (a, b) = (self.shapes.text(actual), self.shapes.text(*result));
            return Err(HloError::new(
                frame.name_at,
                format!("the root of {} has shape {a}, its head declares {b}", frame.name),
            ));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Module> {
        if self.module.computations.is_empty() {
            return Err(self.cursor.expected("a computation"));
        }
        self.name_nested();
        let text = self.cursor.text;
        link_calls(&mut self.module, &self.targets, &self.computations)?;
        if self.module.name.is_empty() {
            self.module.name.clone_from(&self.module.computations[self.module.entry as usize].name);
        }
        self.module.text = text.to_string();
        self.module.shapes = self.shapes.table;
        self.module.signatures = self.signatures.count();
        self.module.link_users();
        Ok(self.module)
    }

    /// Computations written in place get names that no other has.
    fn name_nested(&mut self) {
        let mut number = 0;
        for &index in &self.nested {
            self.module.computations[index as usize].name = loop {
                let name = if number == 0 { "_".to_string() } else { format!("_.{number}") };
                number += 1;
                if !self.computations.contains_key(name.as_str()) {
                    break name;
                }
            };
        }
    }
}

fn refuse_twice(known: &[Attribute], text: &str, key: Span, at: usize) -> Result<()> {
    if known.iter().any(|a| a.key.of(text) == key.of(text)) {
        return Err(HloError::new(at, format!("attribute {} is given twice", key.of(text))));
    }
    Ok(())
}

fn check_arity(row: Option<&OpcodeRow>, count: usize, at: usize) -> Result<()> {
    let Some(row) = row else { return Ok(()) };
    if (row.least as usize..=row.most as usize).contains(&count) {
        return Ok(());
    }
    let wanted = match (row.least, row.most) {
        (a, b) if a == b => a.to_string(),
        (a, u32::MAX) => format!("{a} or more"),
        (a, b) => format!("{a} to {b}"),
    };
    Err(HloError::new(at, format!("{} takes {wanted} operands, found {count}", row.name)))
}
