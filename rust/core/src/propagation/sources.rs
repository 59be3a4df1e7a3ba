//! The arrays of parameters that the arrays of a computation depend on, without maps; and what a loop carries.

use crate::error::{Error, Result};
use crate::hlo_text::{ElementType, Module};
use crate::propagation::formulas::Propagation;
use crate::propagation::structure::Structure;
use std::sync::Arc;

/// Stands for an array that is not one of a parameter's, untouched.
const CHANGED: u32 = u32::MAX;

/// Numbers of arrays, as bits.
#[derive(Clone, Default, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn with_room_for(count: usize) -> Self {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    fn add(&mut self, others: &Bits) {
        self.0.iter_mut().zip(&others.0).for_each(|(a, b)| *a |= b);
    }

    fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| numbers_of(word, *bits))
    }
}

/// The numbers in one word of them.
fn numbers_of(word: usize, bits: u64) -> impl Iterator<Item = u32> {
    let some = |bits: u64| Some(bits).filter(|bits| *bits != 0);
    let rests = std::iter::successors(some(bits), move |bits| some(bits & (bits - 1)));
    rests.map(move |bits| word as u32 * 64 + bits.trailing_zeros())
}

/// Of each array of a computation's root: the arrays of the parameters that it depends on, and the one that it is.
pub(super) struct Sources {
    /// For each parameter the number of its first array; then the number of all.
    first: Vec<u32>,
    sets: Vec<Bits>,
    root: Vec<Source>,
}

#[derive(Clone, Copy)]
struct Source {
    reads: u32,
    same: u32,
}

/// The arrays of a loop's state, from one iteration to the next.
pub(super) struct Carried {
    /// The arrays that the body leaves alone.
    pub untouched: Vec<bool>,
    /// For each array those whose elements may be in it in the end.
    pub reached: Vec<Vec<u32>>,
}

/// Whether it has elements: tokens and opaque values have none.
pub(super) fn has_elements(element: ElementType) -> bool {
    element.is_array() || element == ElementType::BUFFER
}

impl Propagation {
    /// The sources of the arrays of a computation's root. Called computations count as a whole.
    fn sources(&mut self, module: &Module, computation: u32) -> Arc<Sources> {
        if let Some(known) = self.sources.get(&computation) {
            return known.clone();
        }
        let mut first = vec![0];
        for row in self.parameters(module, computation).iter() {
            let count = self.leaves(module, module.instructions[*row as usize].shape).len() as u32;
            first.push(first[first.len() - 1] + count);
        }
        let mut found = Sources { first, sets: Vec::new(), root: Vec::new() };
        let rows = module.computations[computation as usize].instructions;
        let mut arrays: Vec<Vec<Source>> = vec![Vec::new(); rows.range().len()];
        for row in self.post_order(module, computation).iter() {
            let sources = self.sources_of(module, *row, rows.first, &mut found, &arrays);
            arrays[(row - rows.first) as usize] = sources;
        }
        let root = module.computations[computation as usize].root - rows.first;
        found.root = std::mem::take(&mut arrays[root as usize]);
        let found = Arc::new(found);
        self.sources.insert(computation, found.clone());
        found
    }

    fn sources_of(
        &mut self,
        module: &Module,
        row: u32,
        first: u32,
        found: &mut Sources,
        arrays: &[Vec<Source>],
    ) -> Vec<Source> {
        let instruction = &module.instructions[row as usize];
        let operands = module.operands_of(row as usize);
        let of = |operand: u32| &arrays[(operand - first) as usize];
        let count = self.leaves(module, instruction.shape).len();
        let all = found.first[found.first.len() - 1] as usize;
        if instruction.parameter >= 0 {
            let start = found.first[instruction.parameter as usize];
            let single = |array: u32| {
                let mut bits = Bits::with_room_for(all);
                bits.insert(array as usize);
                found.sets.push(bits);
                Source { reads: found.sets.len() as u32 - 1, same: array }
            };
            return (start..start + count as u32).map(single).collect();
        }
        match self.structure(module, row) {
            Structure::Names => {
                let named = self.named_arrays(module, row);
                named.iter().map(|(k, leaf)| of(operands[*k as usize])[*leaf as usize]).collect()
            }
            Structure::Passes => of(operands[0]).clone(),
            _ => {
                let mut bits = Bits::with_room_for(all);
                operands.iter().flat_map(|o| of(*o)).for_each(|s| bits.add(&found.sets[s.reads as usize]));
                found.sets.push(bits);
                vec![Source { reads: found.sets.len() as u32 - 1, same: CHANGED }; count]
            }
        }
    }

    /// The arrays of the root that array `leaf` of a parameter is, and those that it may reach.
    pub(super) fn reached_from(
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
            } else if is_array(far[k]) && sources.sets[source.reads as usize].has(here as usize) {
                reached.push(k as u32);
            }
        }
        (same, reached)
    }

    /// The arrays of a loop's state, from one iteration to the next.
    pub(super) fn carried(&mut self, module: &Module, row: u32) -> Result<Arc<Carried>> {
        let called = |name: &str| {
            let found = module.calls_of(row as usize).find(|(key, _)| *key == name);
            found.map(|(_, computation)| computation).ok_or_else(|| {
                Error::invalid_map(format!("a loop without a {name}: give it the attribute {name}"))
            })
        };
        let key = (called("body")?, called("condition")?);
        if let Some(known) = self.carried.get(&key) {
            return Ok(known.clone());
        }
        let (body, condition) = (self.sources(module, key.0), self.sources(module, key.1));
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let step: Vec<&Bits> = body.root.iter().map(|s| &body.sets[s.reads as usize]).collect();
        let steers = closure(condition.sets[condition.root[0].reads as usize].clone(), &step);
        let found = (0..shapes.len()).map(|k| {
            let mut start = Bits::with_room_for(shapes.len());
            start.insert(k);
            let mut reached = closure(start, &step);
            reached.add(&steers);
            let is_read = |a: &u32| has_elements(module.shapes[shapes[*a as usize] as usize].element);
            reached.numbers().filter(is_read).collect()
        });
        let untouched = body.root.iter().enumerate().map(|(k, s)| s.same == k as u32).collect();
        let found = Arc::new(Carried { untouched, reached: found.collect() });
        self.carried.insert(key, found.clone());
        Ok(found)
    }
}

/// The arrays that are reached from some, in any number of steps.
fn closure(start: Bits, step: &[&Bits]) -> Bits {
    let mut reached = start;
    let mut pending: Vec<u32> = reached.numbers().collect();
    while let Some(array) = pending.pop() {
        for (word, bits) in step[array as usize].0.iter().enumerate() {
            let fresh = bits & !reached.0[word];
            reached.0[word] |= fresh;
            pending.extend(numbers_of(word, fresh));
        }
    }
    reached
}
