//! Signatures: equal numbers for instructions that differ only in name, operands and annotations. Called computations are
//! compared by content, not by name.

use super::lexer::Span;
use super::opcodes::OPCODES;
use super::shape::ShapeId;
use super::tables::{is_annotation, Attribute, Instruction, Target};
use super::Table;

/// Longer literals are not compared: each counts as different.
const LONG_LITERAL: u32 = 64;

/// The different signatures met so far.
#[derive(Default)]
pub(super) struct Signatures<'a> {
    numbers: Table<Vec<u8>, u32>,
    contents: Table<Vec<u8>, u32>,
    /// The content of each computation that was read, and of those that have names.
    of_computations: Vec<u32>,
    by_name: Table<&'a str, u32>,
    key: Vec<u8>,
    unique: u32,
}

impl<'a> Signatures<'a> {
    /// The number of an instruction, from opcode, shape, parameter number and literal, operands' shapes, attributes; and
    /// whether it is new.
    pub(super) fn intern(
        &mut self,
        text: &str,
        (opcode, shape, parameter, literal): (u16, ShapeId, i64, Span),
        operands: &[ShapeId],
        attributes: &[Attribute],
        calls: &[(u32, Target)],
    ) -> (u32, bool) {
        let opcode_name = OPCODES.get(opcode as usize).map_or("", |row| row.name);
        let key = &mut self.key;
        key.clear();
        key.extend_from_slice(&opcode.to_le_bytes());
        key.extend_from_slice(&shape.to_le_bytes());
        key.extend_from_slice(&parameter.to_le_bytes());
        key.extend_from_slice(&(operands.len() as u32).to_le_bytes());
        operands.iter().for_each(|o| key.extend_from_slice(&o.to_le_bytes()));
        if literal.end - literal.start > LONG_LITERAL {
            key.extend_from_slice(&literal.start.to_le_bytes());
        } else {
            key.extend_from_slice(literal.of(text).as_bytes());
        }
        for attribute in attributes {
            let name = attribute.key.of(text);
            if !is_annotation(opcode_name, name) {
                key.push(b',');
                key.extend_from_slice(name.as_bytes());
                key.push(b'=');
                key.extend_from_slice(attribute.value.of(text).as_bytes());
            }
        }
        for (attribute, target) in calls {
            key.push(b'%');
            key.extend_from_slice(&attribute.to_le_bytes());
            let content = match target {
                Target::Named(name, _) => self.by_name.get(name),
                Target::Nested(index, _) => self.of_computations.get(*index as usize),
            };
            match (content, target) {
                (Some(content), _) => {
                    key.push(b'#');
                    key.extend_from_slice(&content.to_le_bytes());
                }
                (None, Target::Named(name, _)) => {
                    key.push(b'"'); // it stands further down in the text
                    key.extend_from_slice(name.as_bytes());
                }
                (None, Target::Nested(..)) => {}
            }
        }
        if let Some(&number) = self.numbers.get(key.as_slice()) {
            return (number, false);
        }
        let number = self.unique;
        self.unique += 1;
        self.numbers.insert(key.clone(), number);
        (number, true)
    }

    /// Adds the content of the next computation: its instructions, whose `operands` are rows in it, and the row of its root.
    pub(super) fn add_computation(
        &mut self,
        instructions: &[Instruction],
        operands: &[u32],
        root: u32,
        name: Option<&'a str>,
    ) {
        let key = &mut self.key;
        key.clear();
        key.extend_from_slice(&root.to_le_bytes());
        for i in instructions {
            key.extend_from_slice(&i.signature.to_le_bytes()); // how many operands there are is part of it
            for operand in &operands[i.operands.range()] {
                key.extend_from_slice(&operand.to_le_bytes());
            }
        }
        let next = self.contents.len() as u32;
        let content = match self.contents.get(key.as_slice()) {
            Some(known) => *known,
            None => {
                self.contents.insert(key.clone(), next);
                next
            }
        };
        self.of_computations.push(content);
        if let Some(name) = name {
            self.by_name.insert(name, content);
        }
    }

    /// The number of different signatures.
    pub(super) fn count(&self) -> u32 {
        self.unique
    }
}
