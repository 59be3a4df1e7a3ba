//! Numbers for what an instruction is, apart from its name, its operands' identity and its annotations.

use super::hasher::Table;
use super::lexer::Span;
use super::parser::Target;
use super::shape::ShapeId;
use super::tables::Attribute;

/// Attributes that say nothing about what is computed.
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

/// Literals longer than this are taken as different without a look.
const LONG_LITERAL: u32 = 64;

/// The different signatures met so far.
#[derive(Default)]
pub(super) struct Signatures {
    numbers: Table<Vec<u8>, u32>,
    key: Vec<u8>,
    unique: u32,
}

impl Signatures {
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
            if !ANNOTATIONS.contains(&name) {
                key.push(b',');
                key.extend_from_slice(name.as_bytes());
                key.push(b'=');
                key.extend_from_slice(attribute.value.of(text).as_bytes());
            }
        }
        for (attribute, target) in calls {
            key.push(b'%');
            key.extend_from_slice(&attribute.to_le_bytes());
            match target {
                Target::Named(name, _) => key.extend_from_slice(name.as_bytes()),
                Target::Nested(index, _) => {
                    key.push(b'#');
                    key.extend_from_slice(&index.to_le_bytes());
                }
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

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.unique
    }
}
