//! Formulas as the caller states them: one for all instructions of a signature, whose runtime values read their own operands.

use crate::hlo_text::Module;
use crate::propagation::interner::Table;
use crate::propagation::operand_map::{Direction, Key, Link, MapId};
use crate::propagation::operand_maps::OperandMaps;
use std::sync::Arc;

/// A formula as it was stated for an instruction.
struct StatedFormula {
    row: u32,
    links: Arc<[Link]>,
    /// The instructions that its runtime values read.
    reads: Box<[u32]>,
}

/// The statements about an array (or operand) of the instructions of a signature.
#[derive(Default)]
struct Statements {
    /// Several where the operands of instructions repeat differently.
    formulas: Vec<StatedFormula>,
    /// Whether an instruction has no formula.
    refused: bool,
}

/// The formulas stated so far.
#[derive(Default)]
pub(super) struct StatedFormulas {
    /// By direction, signature and array (or operand).
    by_signature: Table<Key, Statements>,
    /// The signatures with formulas that have runtime values, by direction.
    with_values: [Table<u32, ()>; 2],
}

/// Whether a formula has been stated for an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Statement {
    Missing,
    Refused,
    /// It has: the instructions that its runtime values read.
    Stated(Vec<u32>),
}

impl StatedFormula {
    /// Whether the formula holds for an instruction, if what its runtime values read is replaced: each operand that they read
    /// stands at the same places among the operands of both.
    fn fits(&self, module: &Module, row: u32) -> bool {
        let (own, others) = (module.operands_of(self.row as usize), module.operands_of(row as usize));
        self.row == row
            || self.reads.iter().all(|read| {
                let mut places = own.iter().zip(others).filter(|(o, _)| *o == read).map(|(_, other)| other);
                match places.next() {
                    Some(first) => places.all(|other| other == first),
                    None => *read as usize >= module.instructions.len(), // of another module: the same for all
                }
            })
    }
}

impl StatedFormulas {
    /// Adds the formula of an array of an instruction; to users, the inverse formula of an operand.
    pub fn add(&mut self, module: &Module, maps: &OperandMaps, key: Key, links: Vec<Link>) {
        let mut reads = Vec::new();
        links.iter().for_each(|l| instructions_read(maps, l.map, &mut reads));
        let (direction, row, _) = key;
        if !reads.is_empty() {
            let signature = module.instructions[row as usize].signature;
            self.with_values[direction as usize].insert(signature, ());
        }
        let formula = StatedFormula { row, links: links.into(), reads: reads.into() };
        self.by_signature.entry(of_signature(module, key)).or_default().formulas.push(formula);
    }

    /// Notes that an instruction has no formula.
    pub fn refuse(&mut self, module: &Module, key: Key) {
        self.by_signature.entry(of_signature(module, key)).or_default().refused = true;
    }

    /// Whether a formula has been stated.
    pub fn statement(&self, module: &Module, key: Key) -> Statement {
        let Some(all) = self.by_signature.get(&of_signature(module, key)) else { return Statement::Missing };
        match all.formulas.iter().find(|f| f.fits(module, key.1)) {
            Some(f) => {
                Statement::Stated(f.reads.iter().map(|r| replaced(module, f.row, key.1, *r)).collect())
            }
            None if all.refused => Statement::Refused,
            None => Statement::Missing,
        }
    }

    /// Whether formulas of the instruction's signature have runtime values.
    pub fn have_values(&self, module: &Module, direction: Direction, row: u32) -> bool {
        let signature = module.instructions[row as usize].signature;
        self.with_values[direction as usize].contains_key(&signature)
    }

    fn get(&self, module: &Module, key: Key) -> Option<&StatedFormula> {
        let all = self.by_signature.get(&of_signature(module, key))?;
        all.formulas.iter().find(|f| f.fits(module, key.1))
    }

    /// The links of the formula of an instruction.
    pub fn links(&self, module: &Module, maps: &mut OperandMaps, key: Key) -> Option<Vec<Link>> {
        let formula = self.get(module, key)?;
        let place = |read: u32| replaced(module, formula.row, key.1, read);
        let link = |l: &Link| Link { map: maps.replace_instructions(l.map, &place), ..*l };
        Some(formula.links.iter().map(link).collect())
    }
}

/// The instruction that a runtime value reads in the formula of `row`, if in that of `other` it reads `read`.
fn replaced(module: &Module, other: u32, row: u32, read: u32) -> u32 {
    let place = module.operands_of(other as usize).iter().position(|o| *o == read);
    place.map_or(read, |k| module.operands_of(row as usize)[k])
}

/// The key that all instructions of a signature share.
fn of_signature(module: &Module, (direction, row, array): Key) -> Key {
    (direction, module.instructions[row as usize].signature, array)
}

/// Adds the instructions that the runtime values of a map, and of its pieces, read.
pub(super) fn instructions_read(maps: &OperandMaps, id: MapId, out: &mut Vec<u32>) {
    out.extend(maps.relation_of(id).values.iter().map(|v| v.instruction));
    maps.map(id).pieces.iter().flatten().for_each(|p| instructions_read(maps, *p, out));
}
