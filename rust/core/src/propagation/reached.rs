//! The instructions of a computation that maps have been found to lead to.

use crate::hlo_text::Module;
use crate::propagation::found::FoundId;

/// Of an instruction: for each of its arrays that are reached, the maps that lead there.
pub type Arrays = Vec<(u32, FoundId)>;

/// The instructions of a computation that are reached, in the order in which they are.
#[derive(Default)]
pub struct Reached {
    pub(super) first: u32,
    pub(super) arrays: Vec<Arrays>,
    order: Vec<u32>,
}

impl Reached {
    /// None yet, with the memory of another computation's.
    pub(super) fn emptied(mut self, module: &Module, computation: u32) -> Self {
        let rows = module.computations[computation as usize].instructions;
        self.order.drain(..).for_each(|row| self.arrays[(row - self.first) as usize].clear());
        self.arrays.resize_with(self.arrays.len().max(rows.range().len()), Arrays::new);
        self.first = rows.first;
        self
    }

    /// The arrays of an instruction.
    pub fn arrays(&mut self, row: u32) -> &mut Arrays {
        let arrays = &mut self.arrays[(row - self.first) as usize];
        if arrays.is_empty() {
            self.order.push(row);
        }
        arrays
    }

    /// The instructions reached, each with its arrays.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Arrays)> {
        self.order.iter().map(|row| (*row, self.at(*row)))
    }

    pub(super) fn at(&self, row: u32) -> &Arrays {
        &self.arrays[(row - self.first) as usize]
    }
}
