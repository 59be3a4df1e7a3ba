//! The arrays of a computation's instructions, numbered so that users come before their operands, and what each needs of
//! the others: what a walk from the root to the parameters goes by.

use crate::hlo_text::{Module, ShapeId};
use crate::propagation::found::{FoundId, NONE};
use crate::propagation::operand_map::MapId;
use crate::propagation::reached::Arrays;
use std::ops::Range;

/// An array that an array needs, and the map to it; none where it changes nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub array: u32,
    pub map: Option<MapId>,
    /// The last lists that were followed here: those of the array needed, those of the array that needs it, both.
    pub last: (FoundId, FoundId, FoundId),
}

/// An array of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub row: u32,
    pub leaf: u32,
    pub shape: ShapeId,
    /// The rows of its needs, once they have been asked for.
    pub needs: Option<(u32, u32)>,
}

/// The arrays of a computation, each with those that it needs.
#[derive(Debug)]
pub(super) struct Needs {
    first_row: u32,
    /// Of each instruction the numbers of its arrays, from one to before another.
    numbers: Box<[(u32, u32)]>,
    pub arrays: Vec<Array>,
    needs: Vec<Need>,
}

impl Needs {
    /// Nothing known yet of a computation: its instructions in order, users before operands, and the shapes of their arrays.
    pub fn new(
        module: &Module,
        computation: u32,
        order: impl Iterator<Item = u32>,
        mut leaves: impl FnMut(ShapeId) -> std::sync::Arc<[ShapeId]>,
    ) -> Self {
        let rows = module.computations[computation as usize].instructions;
        let count = rows.range().len();
        let (mut numbers, mut arrays) = (vec![(0, 0); count], Vec::with_capacity(count));
        for row in order {
            let first = arrays.len() as u32;
            let shapes = leaves(module.instructions[row as usize].shape);
            let of = |(leaf, shape): (usize, &ShapeId)| Array {
                row,
                leaf: leaf as u32,
                shape: *shape,
                needs: None,
            };
            arrays.extend(shapes.iter().enumerate().map(of));
            numbers[(row - rows.first) as usize] = (first, arrays.len() as u32);
        }
        Needs { first_row: rows.first, numbers: numbers.into(), arrays, needs: Vec::new() }
    }

    /// The numbers of an instruction's arrays, in order.
    pub fn of(&self, row: u32) -> Range<u32> {
        let (first, last) = self.numbers[(row - self.first_row) as usize];
        first..last
    }

    /// Keep what an array needs; says where.
    pub fn put(&mut self, array: u32, needs: impl Iterator<Item = Need>) -> (u32, u32) {
        let first = self.needs.len() as u32;
        self.needs.extend(needs);
        let rows = (first, self.needs.len() as u32);
        self.arrays[array as usize].needs = Some(rows);
        rows
    }

    pub fn need(&mut self, row: u32) -> &mut Need {
        &mut self.needs[row as usize]
    }
}

/// The maps found to lead to each array of a computation.
#[derive(Default)]
pub(super) struct Lists {
    lists: Vec<FoundId>,
    /// The arrays that are reached, in the order in which they are.
    order: Vec<u32>,
}

impl Lists {
    /// None, of so many arrays, with the memory of others.
    pub fn emptied(mut self, count: usize) -> Self {
        self.order.drain(..).for_each(|array| self.lists[array as usize] = NONE);
        self.lists.resize(self.lists.len().max(count), NONE);
        self
    }

    pub fn get(&self, array: u32) -> FoundId {
        self.lists[array as usize]
    }

    pub fn set(&mut self, array: u32, found: FoundId) {
        if std::mem::replace(&mut self.lists[array as usize], found) == NONE {
            self.order.push(array);
        }
    }

    /// The instructions that are reached, in the order in which they are, with their arrays.
    pub fn by_row(&self, needs: &Needs) -> Vec<(u32, Arrays)> {
        let mut found: Vec<(u32, Arrays)> = Vec::new();
        let mut seen = vec![false; needs.numbers.len()];
        for row in self.order.iter().map(|array| needs.arrays[*array as usize].row) {
            if !std::mem::replace(&mut seen[(row - needs.first_row) as usize], true) {
                let reached = needs.of(row).filter(|array| self.get(*array) != NONE);
                let arrays = reached.map(|array| (needs.arrays[array as usize].leaf, self.get(array)));
                found.push((row, arrays.collect()));
            }
        }
        found
    }
}
