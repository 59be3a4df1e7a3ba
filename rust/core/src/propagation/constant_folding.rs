//! Known runtime values: elements of constants and iotas, also through ops that only move them. They are folded into maps.
//!
//! HLO's clamp is applied: an iota folds to min(max(i, lower), upper). A constant within its bounds folds to itself; one
//! outside stays a runtime variable, whose value is the constant and whose bounds are those of the clamp. Where values out of
//! bounds are dropped instead of clamped, a value folds to itself, and the bounds become a constraint.

use crate::hlo_text::{Class, Literal, Module, Shape};
use crate::propagation::formulas::{Outcome, Propagation};
use crate::propagation::known_elements::Source;
use crate::propagation::operand_map::{Direction, Link, MapId};
use crate::propagation::stated_formulas::instructions_read;
use crate::propagation::structure::Structure;

const MAX_MOVES: usize = 64; // instructions that a known element is traced through

impl Propagation {
    /// Notes which elements are known of the instructions that the runtime values of a formula read.
    pub(super) fn note_known_elements(&mut self, module: &Module, links: &[Link]) -> Outcome<()> {
        let mut reads = Vec::new();
        links.iter().for_each(|l| instructions_read(&self.sets.maps, l.map, &mut reads));
        for instruction in reads {
            if self.sets.maps.knows_of(instruction) {
                continue;
            }
            match self.moves_of_source(module, instruction)? {
                Some((moves, source)) => {
                    let shape = module.instructions[instruction as usize].shape;
                    let rank = module.shapes[shape as usize].dimensions.len();
                    self.sets.maps.note_known(instruction, (rank, &moves), source)?;
                }
                None => self.sets.maps.note_unknown(instruction),
            }
        }
        Ok(())
    }

    /// The constant or iota that holds the elements of an instruction, and the maps that lead to it.
    fn moves_of_source(
        &mut self,
        module: &Module,
        instruction: u32,
    ) -> Outcome<Option<(Vec<MapId>, Source)>> {
        let Some(rows) = self.rows_to_source(module, instruction) else { return Ok(None) };
        let (end, moving) = (rows[rows.len() - 1], &rows[..rows.len() - 1]);
        let Some(source) = self.source_at(module, end) else { return Ok(None) };
        let mut moves = Vec::with_capacity(moving.len());
        for row in moving {
            let formula = self.formula_of(module, (Direction::ToOperands, *row, 0))?;
            match &formula[..] {
                [only] if self.sets.maps.is_function(only.link.map) => moves.push(only.link.map),
                _ => return Ok(None), // a bitcast to another width
            }
        }
        Ok(Some((moves, source)))
    }

    /// The instructions from one to the constant or iota whose elements it moves; none if it computes, or is of another module.
    pub(super) fn rows_to_source(&self, module: &Module, instruction: u32) -> Option<Vec<u32>> {
        let mut rows = vec![instruction];
        while rows.len() <= MAX_MOVES {
            let row = rows[rows.len() - 1];
            let known = module.instructions.get(row as usize)?;
            let structure = self.structure(module, row);
            if known.literal.end > known.literal.start || structure == Structure::Counts {
                return Some(rows);
            }
            let operand = module.operands_of(row as usize).first().filter(|_| structure.moves_elements());
            rows.push(*operand?);
        }
        None
    }

    /// The elements of a constant or iota of integers of whole bytes.
    fn source_at(&self, module: &Module, row: u32) -> Option<Source> {
        let shape = &module.shapes[module.instructions[row as usize].shape as usize];
        let kind = shape.element.row();
        if !matches!(kind.class, Class::Signed | Class::Unsigned) || kind.bits < 8 {
            return None;
        }
        if self.structure(module, row) == Structure::Counts {
            return iota_of(module, row, shape);
        }
        match module.literal(row as usize) {
            Ok(Some(Literal::Array(_, bytes) | Literal::Splat(_, bytes))) => constant_of(shape, &bytes),
            _ => None, // elided, or a tuple
        }
    }
}

/// An iota, if its element type can hold all of its indices.
fn iota_of(module: &Module, row: u32, shape: &Shape) -> Option<Source> {
    let attribute = module.attribute(row as usize, "iota_dimension")?;
    let dimension = *module.integers(attribute).ok()?.first()? as usize;
    let kind = shape.element.row();
    let bits = kind.bits - u32::from(kind.class == Class::Signed);
    let holds_all = bits >= 63 || *shape.dimensions.get(dimension)? <= 1 << bits;
    holds_all.then_some(Source::Iota(dimension))
}

/// A constant with elements in these bytes, a single one if all are equal.
fn constant_of(shape: &Shape, bytes: &[u8]) -> Option<Source> {
    let kind = shape.element.row();
    let is_signed = kind.class == Class::Signed;
    let mut elements: Vec<i64> =
        bytes.chunks_exact(kind.bits as usize / 8).map(|b| integer(b, is_signed)).collect();
    let first = *elements.first()?;
    if elements.iter().all(|e| *e == first) {
        elements.truncate(1);
    }
    Some(Source::Constant(shape.dimensions.as_slice().into(), elements.into()))
}

/// A little-endian integer; the largest int64, if it is beyond it.
fn integer(bytes: &[u8], is_signed: bool) -> i64 {
    let is_negative = is_signed && bytes[bytes.len() - 1] >= 0x80;
    let mut all = [if is_negative { 0xff } else { 0 }; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    match i64::from_le_bytes(all) {
        beyond if beyond < 0 && !is_signed => i64::MAX,
        value => value,
    }
}
