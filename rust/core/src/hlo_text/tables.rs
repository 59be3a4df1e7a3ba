//! A parsed module: flat tables over the kept text.

use std::ops::Range;

use super::lexer::Span;
use super::shape::{ShapeId, ShapeTable};

/// Attributes that do not affect what is computed.
const ANNOTATIONS: [&str; 8] = [
    "metadata",
    "sharding",
    "backend_config",
    "frontend_attributes",
    "control-predecessors",
    "origin",
    "original_value",
    "statistics",
];

/// Whether an attribute of an opcode does not affect what is computed. Those of library calls may.
pub(super) fn is_annotation(opcode: &str, key: &str) -> bool {
    ANNOTATIONS.contains(&key) && (opcode, key) != ("custom-call", "backend_config")
}

/// A range of rows of another table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// First row.
    pub first: u32,
    /// One past the last row.
    pub last: u32,
}

impl Rows {
    pub(super) fn new(first: usize, last: usize) -> Self {
        Self { first: first as u32, last: last as u32 }
    }

    /// As a range of indices.
    pub fn range(self) -> Range<usize> {
        self.first as usize..self.last as usize
    }
}

/// `key=value` as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The key.
    pub key: Span,
    /// The value, white space inside kept.
    pub value: Span,
}

/// A computation that an instruction names in an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Row of the attribute.
    pub attribute: u32,
    /// The computation.
    pub computation: u32,
}

/// One instruction.
#[derive(Clone, Debug, Default)]
pub struct Instruction {
    /// Name, without `%`.
    pub name: Span,
    /// Row of [`Module::opcodes`].
    pub opcode: u16,
    /// Shape of the result.
    pub shape: ShapeId,
    /// The computation that holds it.
    pub computation: u32,
    /// Rows of [`Module::operands`].
    pub operands: Rows,
    /// Rows of [`Module::attributes`].
    pub attributes: Rows,
    /// Rows of [`Module::calls`].
    pub calls: Rows,
    /// A constant's literal, as written.
    pub literal: Span,
    /// A parameter's number; -1 for other instructions.
    pub parameter: i64,
    /// Equal for instructions that differ only in name, operands and annotations.
    pub signature: u32,
}

/// One computation.
#[derive(Clone, Debug)]
pub struct Computation {
    /// Name, without `%`.
    pub name: String,
    /// Rows of [`Module::instructions`], in text order: operands stand before their users.
    pub instructions: Rows,
    /// The root's row.
    pub root: u32,
    /// Rows of [`Module::attributes`]: what follows the closing brace.
    pub attributes: Rows,
}

/// A parsed HLO module. All indices are rows of these tables.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The text; spans point into it.
    pub text: String,
    /// Name of the module; the entry's where the text has no header.
    pub name: String,
    /// Rows of `attributes`: those of the header.
    pub header: Rows,
    /// Tables of file names, functions and stack frames, as written.
    pub debug_tables: Vec<Span>,
    /// Shapes.
    pub shapes: ShapeTable,
    /// Names of opcodes, known ones first.
    pub opcodes: Vec<String>,
    /// Computations, in text order; a nested one stands before the one around it.
    pub computations: Vec<Computation>,
    /// The entry computation.
    pub entry: u32,
    /// Whether the text names the entry.
    pub entry_marked: bool,
    /// Instructions, computation by computation.
    pub instructions: Vec<Instruction>,
    /// Operands: rows of `instructions`.
    pub operands: Vec<u32>,
    /// Users: rows of `instructions`, each user once, in text order.
    pub users: Vec<u32>,
    /// For each instruction, its rows of `users`.
    pub user_rows: Vec<Rows>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Called computations.
    pub calls: Vec<Call>,
    /// The number of different signatures.
    pub signatures: u32,
}

impl Module {
    /// The operands of an instruction.
    pub fn operands_of(&self, instruction: usize) -> &[u32] {
        &self.operands[self.instructions[instruction].operands.range()]
    }

    /// The users of an instruction.
    pub fn users_of(&self, instruction: usize) -> &[u32] {
        &self.users[self.user_rows[instruction].range()]
    }

    /// The attributes of an instruction that affect what it computes.
    pub fn attributes_of(&self, instruction: usize) -> impl Iterator<Item = usize> + '_ {
        let instruction = &self.instructions[instruction];
        let opcode = self.opcodes[instruction.opcode as usize].as_str();
        let key = |&row: &usize| !is_annotation(opcode, self.attributes[row].key.of(&self.text));
        instruction.attributes.range().filter(key)
    }

    /// Called computations of an instruction: the attribute's key and the computation.
    pub fn calls_of(&self, instruction: usize) -> impl Iterator<Item = (&str, u32)> {
        let calls = &self.calls[self.instructions[instruction].calls.range()];
        calls.iter().map(|c| (self.attributes[c.attribute as usize].key.of(&self.text), c.computation))
    }

    /// Finds users: one pass that counts, one that fills.
    pub(super) fn link_users(&mut self) {
        let mut counts = vec![0_u32; self.instructions.len() + 1];
        let mut last_user = vec![u32::MAX; self.instructions.len()];
        let mut edges = Vec::with_capacity(self.operands.len());
        for (user, instruction) in self.instructions.iter().enumerate() {
            for &operand in &self.operands[instruction.operands.range()] {
                if last_user[operand as usize] != user as u32 {
                    last_user[operand as usize] = user as u32;
                    counts[operand as usize + 1] += 1;
                    edges.push((operand, user as u32));
                }
            }
        }
        for i in 1..counts.len() {
            counts[i] += counts[i - 1];
        }
        self.user_rows = counts.windows(2).map(|w| Rows { first: w[0], last: w[1] }).collect();
        self.users = vec![0; edges.len()];
        for (operand, user) in edges {
            self.users[counts[operand as usize] as usize] = user;
            counts[operand as usize] += 1;
        }
    }
}

/// A called computation: by name until all are read, or by number if it is written in place.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    Named(&'a str, usize),
    Nested(u32, usize),
}
