//! From text to tables, in one pass; computations written inside instructions are kept on an explicit stack.

mod build;
mod instruction;
mod operands;
mod starts;

use std::collections::HashSet;

use super::called::check_called;
use super::calls::link_calls;
use super::element::ElementType;
use super::error::{HloError, Result};
use super::header::check_header;
use super::infer::COMPUTATION_KEYS;
use super::lexer::{Cursor, Span};
use super::opcodes::OPCODES;
use super::pairs::{check_pairs, check_threads};
use super::shape::{Interner, ShapeId};
use super::signature::Signatures;
use super::tables::{Attribute, Computation, Instruction, Module, Rows, Target};
use super::Table;
use crate::error::counted;

pub use build::{build_module, DraftError};

/// The part of an instruction before its attributes.
#[derive(Default)]
struct Pending {
    root: bool,
    name: Span,
    opcode: u16,
    opcode_at: usize,
    /// For `<op>-start`, `<op>-update` and `<op>-done`, the operation.
    operation: Option<u16>,
    shape: Option<ShapeId>,
    operands: Rows,
    literal: Span,
    parameter: i64,
}

/// A computation that is being read.
#[derive(Default)]
struct Frame<'a> {
    name: &'a str,
    name_at: usize,
    entry: bool,
    declared: Option<ShapeId>,
    instructions: Vec<Instruction>,
    /// The rows of instructions that have names.
    names: Table<&'a str, u32>,
    root: Option<u32>,
    pending: Option<Pending>,
    attributes: Vec<Attribute>,
    calls: Vec<(u32, Target<'a>)>,
    /// For instructions without a computation around them, the number of the next parameter: names that they use but do not
    /// define are parameters.
    bare: Option<i64>,
    /// Elements of tuples that `%name#index` stands for: the rows of tuple and element.
    elements: Table<(u32, i64), u32>,
    /// Inside `{...}` of several computations.
    in_list: bool,
}

/// The maximal number of names of a computation whose table is reused: a larger one takes longer to clear than to allocate.
const MAX_SPARE: usize = 1 << 13;

struct Parser<'a> {
    cursor: Cursor<'a>,
    module: Module,
    shapes: Interner<'a>,
    opcodes: Table<&'a str, u16>,
    computations: Table<&'a str, u32>,
    nested: Vec<u32>,
    #[allow(
        clippy::vec_box,
        reason = "popped and pushed for each instruction: a pointer moves, not the frame"
    )]
    frames: Vec<Box<Frame<'a>>>,
    targets: Vec<Target<'a>>,
    signatures: Signatures<'a>,
    scratch: Vec<(u8, usize)>,
    operand_shapes: Vec<ShapeId>,
    spare_rows: Vec<u32>,
    /// The memory of computations that were read.
    spare_tables: Vec<(Vec<Instruction>, Table<&'a str, u32>)>,
    /// Names of instructions that the text does not name; they are kept behind the text.
    made_names: String,
}

/// Reads HLO text.
pub fn parse_module(text: &str) -> Result<Module> {
    let mut parser = Parser::new(text)?;
    let read = parser.header().and_then(|()| parser.body());
    let computation = parser.frames.first().filter(|frame| frame.bare.is_none());
    read.map_err(|error| error.at_end_of(text, computation.map(|frame| frame.name)))?;
    parser.finish()
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self> {
        if u32::try_from(text.len()).is_err() {
            return Err(HloError::new(0, "the text is longer than 4 GiB"));
        }
        let opcodes = OPCODES.iter().map(|row| row.name.to_string()).collect();
        Ok(Self {
            cursor: Cursor::new(text, 0),
            module: Module { opcodes, ..Module::default() },
            shapes: Interner::default(),
            opcodes: OPCODES.iter().enumerate().map(|(i, row)| (row.name, i as u16)).collect(),
            computations: Table::default(),
            nested: Vec::new(),
            frames: Vec::new(),
            targets: Vec::new(),
            signatures: Signatures::default(),
            scratch: Vec::new(),
            operand_shapes: Vec::new(),
            spare_rows: Vec::new(),
            spare_tables: Vec::new(),
            made_names: String::new(),
        })
    }

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
            let text = self.cursor.text;
            let attributes = self.module.attributes.iter();
            attributes
                .map(|a| (a.key.of(text), a.value))
                .try_for_each(|(key, value)| check_header(text, key, value))?;
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
            reject_duplicate(known, self.cursor.text, key, at)?;
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
            } else if self.cursor.peek() == b'}' && frame.bare.is_none() {
                self.cursor.at += 1;
                self.close_computation()?;
            } else if self.cursor.at_end() && frame.bare.is_some() {
                self.close_computation()?;
            } else {
                self.instruction_head()?;
            }
        }
    }

    /// `ENTRY %name (parameters) -> result {`, where all but the name and the brace may be missing.
    fn open_computation(&mut self) -> Result<()> {
        let mut at = self.cursor.at;
        if self.starts_with_instruction() {
            self.push_frame("entry", at, true, None);
            self.frames.iter_mut().for_each(|frame| frame.bare = Some(0));
            return Ok(());
        }
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
        self.cursor.skip_space()?;
        if name == "HloModule" && !matches!(self.cursor.peek(), b'{' | b'(') {
            return Err(HloError::new(at, "a second HloModule; a text holds one, so split it here"));
        }
        let declared = match self.cursor.take(b'(')? {
            true => Some(self.declaration()?),
            false => None,
        };
        self.cursor.require(b'{')?;
        self.push_frame(name, at, entry, declared);
        Ok(())
    }

    /// Whether the text is instructions without a computation around them.
    fn starts_with_instruction(&self) -> bool {
        let mut ahead = self.cursor.clone();
        if !self.module.computations.is_empty() || ahead.name("a name").is_err() {
            return false;
        }
        let named = |ahead: &mut Cursor| ahead.take(b'=').unwrap_or(false);
        named(&mut ahead)
            || self.cursor.peek_word() == "ROOT" && ahead.name("a name").is_ok() && named(&mut ahead)
    }

    fn push_frame(&mut self, name: &'a str, name_at: usize, entry: bool, declared: Option<ShapeId>) {
        let (instructions, names) = self.spare_tables.pop().unwrap_or_default();
        self.frames.push(Box::new(Frame {
            name,
            name_at,
            entry,
            declared,
            instructions,
            names,
            ..Frame::default()
        }));
    }

    /// `name: shape, ...) -> shape`: the shape of the root. Shapes of parameters are ignored: their instructions state them.
    fn declaration(&mut self) -> Result<ShapeId> {
        let shapes = &mut self.shapes;
        self.cursor.list(b')', |cursor| {
            cursor.name("a parameter's name")?;
            cursor.take(b':')?;
            shapes.parse(cursor)
        })?;
        self.cursor.require(b'-')?;
        self.cursor.require(b'>')?;
        self.shapes.parse(&mut self.cursor)
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
        self.name_anonymous(&mut frame)?;
        self.check_parameters(&frame, root)?;
        let name = self.frames.is_empty().then_some(frame.name);
        self.signatures.add_computation(&frame.instructions, &self.module.operands, root, name);
        for instruction in &mut frame.instructions {
            instruction.computation = index;
            let operands = &mut self.module.operands[instruction.operands.range()];
            operands.iter_mut().for_each(|o| *o += first as u32);
        }
        self.module.instructions.append(&mut frame.instructions);
        if frame.names.capacity() <= MAX_SPARE {
            frame.names.clear();
            self.spare_tables.push((frame.instructions, frame.names));
        }
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

    /// Instructions written in place of operands are called after their opcodes.
    fn name_anonymous(&mut self, frame: &mut Frame) -> Result<()> {
        let mut numbers: Table<u16, u32> = Table::default();
        let mut made = HashSet::new();
        for instruction in frame.instructions.iter_mut().filter(|i| i.name.start == i.name.end) {
            let opcode = &self.module.opcodes[instruction.opcode as usize];
            let number = numbers.entry(instruction.opcode).or_default();
            let name = loop {
                let name =
                    if *number == 0 { format!("{opcode}.anon") } else { format!("{opcode}.anon.{number}") };
                *number += 1;
                if !frame.names.contains_key(name.as_str()) && made.insert(name.clone()) {
                    break name;
                }
            };
            let start = self.cursor.text.len() + self.made_names.len();
            if u32::try_from(start + name.len()).is_err() {
                return Err(HloError::new(frame.name_at, "the text is longer than 4 GiB"));
            }
            self.made_names.push_str(&name);
            instruction.name = Span::new(start, start + name.len());
        }
        Ok(())
    }

    /// Parameters are numbered 0, 1, ...; the root has the declared shape.
    fn check_parameters(&self, frame: &Frame, root: u32) -> Result<()> {
        let count = frame.instructions.iter().filter(|i| i.parameter >= 0).count();
        let mut seen = vec![false; count];
        for i in frame.instructions.iter().filter(|i| i.parameter >= 0) {
            let slot = usize::try_from(i.parameter).ok().and_then(|n| seen.get_mut(n));
            if slot.is_none_or(|s| std::mem::replace(s, true)) {
                let parameters = counted(count, "parameter");
                let message =
                    format!("the {parameters} of {} must be numbered 0, 1, ... once each", frame.name);
                return Err(HloError::new(i.name.start as usize, message));
            }
        }
        let actual = frame.instructions[root as usize].shape;
        if let Some(declared) = frame.declared.filter(|&d| self.shapes.bare(d) != self.shapes.bare(actual)) {
            let (a, b) = (self.shapes.text(actual), self.shapes.text(declared));
            return Err(HloError::new(
                frame.name_at,
                format!("the root of {} has shape {a}, its head declares {b}", frame.name),
            ));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Module> {
        if self.module.computations.is_empty() {
            return Err(self.cursor.expected("a computation").at_end_of(self.cursor.text, None));
        }
        self.name_nested();
        self.module.text = String::with_capacity(self.cursor.text.len() + self.made_names.len());
        self.module.text.push_str(self.cursor.text);
        self.module.text.push_str(&self.made_names);
        link_calls(&mut self.module, &self.targets, &self.computations)?;
        self.module.link_users();
        check_pairs(&self.module)?;
        check_threads(&self.module)?;
        check_called(&self.module, &self.shapes, |opcode, key| OPCODES.get(opcode as usize)?.call_rule(key))?;
        self.check_entry_layout()?;
        if self.module.name.is_empty() {
            self.module.name.clone_from(&self.module.computations[self.module.entry as usize].name);
        }
        self.module.shapes = self.shapes.table;
        self.module.signatures = self.signatures.count();
        Ok(self.module)
    }

    /// Checks that `entry_computation_layout={(shape, ...)->shape}` has a shape for each parameter of the entry. As in XLA's
    /// import, the shapes themselves are those of the instructions; but if no computation is marked as the entry, they tell
    /// whether the last one can be it.
    fn check_entry_layout(&mut self) -> Result<()> {
        let Some((start, given)) = self.entry_layout()? else { return Ok(()) };
        let entry = &self.module.computations[self.module.entry as usize];
        let rows = &self.module.instructions[entry.instructions.range()];
        let mut own: Vec<_> = rows.iter().filter(|i| i.parameter >= 0).collect();
        own.sort_unstable_by_key(|i| i.parameter);
        let fits = |(a, b): (&ShapeId, &&Instruction)| self.shapes.bare(*a) == self.shapes.bare(b.shape);
        let same_shapes = self.module.entry_marked || given.iter().zip(&own).all(fits);
        let (name, count, parameters) = (&entry.name, own.len(), counted(given.len(), "parameter"));
        let message = match given.len() == count {
            true if same_shapes => return Ok(()),
            true => format!("entry_computation_layout has parameters of other shapes than {name}"),
            false => format!("entry_computation_layout has {parameters}, {name} has {count}"),
        };
        if self.module.entry_marked {
            return Err(HloError::new(start, message));
        }
        let message = message + "; that is the last computation, and none is marked ENTRY";
        Err(HloError::unclosed(start, message).at_end_of(self.cursor.text, None))
    }

    /// The shapes of the parameters in the header's `entry_computation_layout`, and where that begins.
    fn entry_layout(&mut self) -> Result<Option<(usize, Vec<ShapeId>)>> {
        let header = &self.module.attributes[self.module.header.range()];
        let named = |a: &&Attribute| a.key.of(self.cursor.text) == "entry_computation_layout";
        let Some(span) = header.iter().find(named).map(|a| a.value) else { return Ok(None) };
        let (start, end) = (span.start as usize, span.end as usize);
        let mut cursor = Cursor::new(&self.cursor.text[..end], start);
        cursor.require(b'{')?;
        cursor.require(b'(')?;
        let given = self.shapes.parse_list(&mut cursor, b')')?;
        cursor.require(b'-')?;
        cursor.require(b'>')?;
        self.shapes.parse(&mut cursor)?;
        cursor.require(b'}')?;
        Ok(Some((start, given)))
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

fn reject_duplicate(known: &[Attribute], text: &str, key: Span, at: usize) -> Result<()> {
    if known.iter().any(|a| a.key.of(text) == key.of(text)) {
        return Err(HloError::new(at, format!("attribute {} is given twice", key.of(text))));
    }
    Ok(())
}
