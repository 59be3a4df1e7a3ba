//! The instructions of a computation that propagation has reached.

use crate::hlo_text::Module;
use crate::propagation::map_sets::MapSetId;

/// The arrays of an instruction that are reached, each with the set of maps that lead to it.
pub type ArraySets = Vec<(u32, MapSetId)>;

/// The instructions of a computation that are reached, in order.
#[derive(Default)]
pub struct ReachedInstructions {
    pub(super) first: u32,
    pub(super) arrays: Vec<ArraySets>,
    order: Vec<u32>,
}

impl ReachedInstructions {
    /// No instruction of a computation yet, in the memory of `self`.
    pub(super) fn cleared(mut self, module: &Module, computation: u32) -> Self {
        let rows = module.computations[computation as usize].instructions;
        self.order.drain(..).for_each(|row| self.arrays[(row - self.first) as usize].clear());
        self.arrays.resize_with(self.arrays.len().max(rows.range().len()), ArraySets::new);
        self.first = rows.first;
        self
    }

    /// The arrays of an instruction.
    pub fn arrays(&mut self, row: u32) -> &mut ArraySets {
        let arrays = &mut self.arrays[(row - self.first) as usize];
        if arrays.is_empty() {
            self.order.push(row);
        }
        arrays
    }

    /// The instructions reached, each with its arrays.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &ArraySets)> {
        self.order.iter().map(|row| (*row, self.at(*row)))
    }

    pub(super) fn at(&self, row: u32) -> &ArraySets {
        &self.arrays[(row - self.first) as usize]
    }
}
