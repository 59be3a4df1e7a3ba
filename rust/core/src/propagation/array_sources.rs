//! Dependences between arrays of a computation and arrays of its parameters, without maps; loop-carried dependences.

use crate::error::{Error, Result};
use crate::hlo_text::{ElementType, Module};
use crate::propagation::array_sets::{transitive_closure, BitSet, LoopCarried, RootArray, Sources, CHANGED};
use crate::propagation::formulas::Propagation;
use crate::propagation::structure::Structure;
use std::sync::Arc;

/// Whether an element type has elements: tokens and opaque values have none.
pub(super) fn has_elements(element: ElementType) -> bool {
    element.is_array() || element == ElementType::BUFFER
}

impl Propagation {
    /// Computes the sources of the arrays of a computation's root; a called computation may read all that it is given.
    fn sources(&mut self, module: &Module, computation: u32) -> Arc<Sources> {
        if let Some(known) = self.sources.get(&computation) {
            return known.clone();
        }
        let mut first = vec![0];
        for row in self.parameters(module, computation).iter() {
            let count = self.leaves(module, module.instructions[*row as usize].shape).len() as u32;
            first.push(first[first.len() - 1] + count);
        }
        let mut collected = Sources { first, sets: Vec::new(), root: Vec::new() };
        let rows = module.computations[computation as usize].instructions;
        let mut arrays: Vec<Vec<RootArray>> = vec![Vec::new(); rows.range().len()];
        for row in self.post_order(module, computation).iter() {
            let sources = self.sources_of(module, *row, rows.first, &mut collected, &arrays);
            arrays[(row - rows.first) as usize] = sources;
        }
        let root = module.computations[computation as usize].root - rows.first;
        collected.root = std::mem::take(&mut arrays[root as usize]);
        let collected = Arc::new(collected);
        self.sources.insert(computation, collected.clone());
        collected
    }

    fn sources_of(
        &mut self,
        module: &Module,
        row: u32,
        first: u32,
        collected: &mut Sources,
        arrays: &[Vec<RootArray>],
    ) -> Vec<RootArray> {
        let instruction = &module.instructions[row as usize];
        let operands = module.operands_of(row as usize);
        let of = |operand: u32| &arrays[(operand - first) as usize];
        let count = self.leaves(module, instruction.shape).len();
        let all = collected.first[collected.first.len() - 1] as usize;
        if instruction.parameter >= 0 {
            let start = collected.first[instruction.parameter as usize];
            let single = |array: u32| {
                let mut bits = BitSet::with_room_for(all);
                bits.insert(array as usize);
                collected.sets.push(bits);
                RootArray { reads: collected.sets.len() as u32 - 1, same: array }
            };
            return (start..start + count as u32).map(single).collect();
        }
        match self.structure(module, row) {
            Structure::Alias => {
                let named = self.named_arrays(module, row);
                named.iter().map(|(k, leaf)| of(operands[*k as usize])[*leaf as usize]).collect()
            }
            s if s.passes_operand() => of(operands[0]).clone(),
            _ => {
                let mut bits = BitSet::with_room_for(all);
                operands
                    .iter()
                    .flat_map(|o| of(*o))
                    .for_each(|s| bits.union_with(&collected.sets[s.reads as usize]));
                collected.sets.push(bits);
                vec![RootArray { reads: collected.sets.len() as u32 - 1, same: CHANGED }; count]
            }
        }
    }

    /// The arrays of the root that are copies of array `leaf` of a parameter, and those that may depend on it.
    pub(super) fn root_arrays_reached(
        &mut self,
        module: &Module,
        (computation, parameter, leaf): (u32, u32, u32),
    ) -> (Vec<u32>, Vec<u32>) {
        let start = self.parameters(module, computation)[parameter as usize];
        let root = module.computations[computation as usize].root as usize;
        let near = self.leaves(module, module.instructions[start as usize].shape);
        let far = self.leaves(module, module.instructions[root].shape);
        let is_array = |shape: u32| module.shapes[shape as usize].element.is_array();
        if !is_array(near[leaf as usize]) {
            return (Vec::new(), Vec::new());
        }
        let sources = self.sources(module, computation);
        let here = sources.first[parameter as usize] + leaf;
        let (mut same, mut reached) = (Vec::new(), Vec::new());
        for (k, source) in sources.root.iter().enumerate() {
            if source.same == here {
                same.push(k as u32);
            } else if is_array(far[k]) && sources.sets[source.reads as usize].contains(here as usize) {
                reached.push(k as u32);
            }
        }
        (same, reached)
    }

    /// The loop-carried dependences of a while loop.
    pub(super) fn loop_carried(&mut self, module: &Module, row: u32) -> Result<Arc<LoopCarried>> {
        let called = |name: &str| {
            let named = module.calls_of(row as usize).find(|(key, _)| *key == name);
            named.map(|(_, computation)| computation).ok_or_else(|| {
                Error::invalid_map(format!("a loop without a {name}: give it the attribute {name}"))
            })
        };
        let key = (called("body")?, called("condition")?);
        if let Some(known) = self.loop_carried.get(&key) {
            return Ok(known.clone());
        }
        let (body, condition) = (self.sources(module, key.0), self.sources(module, key.1));
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let step: Vec<&BitSet> = body.root.iter().map(|s| &body.sets[s.reads as usize]).collect();
        let steers = transitive_closure(condition.sets[condition.root[0].reads as usize].clone(), &step);
        let sources = (0..shapes.len()).map(|k| {
            let mut start = BitSet::with_room_for(shapes.len());
            start.insert(k);
            let mut reached = transitive_closure(start, &step);
            reached.union_with(&steers);
            let is_read = |a: &u32| has_elements(module.shapes[shapes[*a as usize] as usize].element);
            reached.iter().filter(is_read).collect()
        });
        let untouched = body.root.iter().enumerate().map(|(k, s)| s.same == k as u32).collect();
        let carried = Arc::new(LoopCarried { untouched, reached: sources.collect() });
        self.loop_carried.insert(key, carried.clone());
        Ok(carried)
    }
}
