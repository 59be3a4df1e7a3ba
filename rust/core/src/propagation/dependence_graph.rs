//! The dependence graph of a computation's arrays, in reverse post-order: users are numbered before their operands, so
//! that one pass over the numbers propagates maps from the root to the parameters.

use crate::hlo_text::{Module, ShapeId};
use crate::propagation::map_sets::{MapSetId, EMPTY_SET};
use crate::propagation::operand_map::MapId;
use crate::propagation::reached_instructions::ArraySets;
use std::ops::Range;

/// An edge: the array that is read, and the map to it; `None` for the identity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependence {
    pub array: u32,
    pub map: Option<MapId>,
    /// The latest propagation along this edge: the sets of maps of the array read and of its reader, and their union.
    pub last: (MapSetId, MapSetId, MapSetId),
}

/// An array of an instruction.
#[derive(Clone, Debug)]
pub(super) struct ArrayNode {
    pub row: u32,
    pub leaf: u32,
    pub shape: ShapeId,
    /// The range of its dependences, once its formula has been derived.
    pub dependences: Option<(u32, u32)>,
}

/// The arrays of a computation, each with those that it reads.
#[derive(Debug)]
pub(super) struct DependenceGraph {
    first_row: u32,
    /// The half-open range of each instruction's arrays.
    numbers: Box<[(u32, u32)]>,
    pub arrays: Vec<ArrayNode>,
    dependences: Vec<Dependence>,
}

impl DependenceGraph {
    /// A graph without edges. `order` lists the instructions, users before operands; `leaves` gives the arrays of a shape.
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
            let of = |(leaf, shape): (usize, &ShapeId)| ArrayNode {
                row,
                leaf: leaf as u32,
                shape: *shape,
                dependences: None,
            };
            arrays.extend(shapes.iter().enumerate().map(of));
            numbers[(row - rows.first) as usize] = (first, arrays.len() as u32);
        }
        DependenceGraph { first_row: rows.first, numbers: numbers.into(), arrays, dependences: Vec::new() }
    }

    /// The numbers of an instruction's arrays, in order.
    pub fn arrays_of(&self, row: u32) -> Range<u32> {
        let (first, last) = self.numbers[(row - self.first_row) as usize];
        first..last
    }

    /// Records the dependences of an array and returns their range.
    pub fn add_dependences(
        &mut self,
        array: u32,
        dependences: impl Iterator<Item = Dependence>,
    ) -> (u32, u32) {
        let first = self.dependences.len() as u32;
        self.dependences.extend(dependences);
        let rows = (first, self.dependences.len() as u32);
        self.arrays[array as usize].dependences = Some(rows);
        rows
    }

    pub fn dependence_mut(&mut self, row: u32) -> &mut Dependence {
        &mut self.dependences[row as usize]
    }
}

/// The sets of maps that lead to each array of a computation.
#[derive(Default)]
pub(super) struct SetsByArray {
    sets: Vec<MapSetId>,
    /// The arrays reached, in the order in which they were.
    order: Vec<u32>,
}

impl SetsByArray {
    /// Empty sets for `count` arrays, in the memory of `self`.
    pub fn cleared(mut self, count: usize) -> Self {
        self.order.drain(..).for_each(|array| self.sets[array as usize] = EMPTY_SET);
        self.sets.resize(self.sets.len().max(count), EMPTY_SET);
        self
    }

    pub fn get(&self, array: u32) -> MapSetId {
        self.sets[array as usize]
    }

    pub fn set(&mut self, array: u32, map_set: MapSetId) {
        if std::mem::replace(&mut self.sets[array as usize], map_set) == EMPTY_SET {
            self.order.push(array);
        }
    }

    /// The instructions reached, in the order in which they were, each with its arrays.
    pub fn by_instruction(&self, graph: &DependenceGraph) -> Vec<(u32, ArraySets)> {
        let mut by_row: Vec<(u32, ArraySets)> = Vec::new();
        let mut seen = vec![false; graph.numbers.len()];
        for row in self.order.iter().map(|array| graph.arrays[*array as usize].row) {
            if !std::mem::replace(&mut seen[(row - graph.first_row) as usize], true) {
                let reached = graph.arrays_of(row).filter(|array| self.get(*array) != EMPTY_SET);
                let arrays = reached.map(|array| (graph.arrays[array as usize].leaf, self.get(array)));
                by_row.push((row, arrays.collect()));
            }
        }
        by_row
    }
}
