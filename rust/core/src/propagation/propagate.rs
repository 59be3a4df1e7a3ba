//! Propagation from a computation's root to its parameters, and from a parameter to the root. Each instruction is visited
//! once, after all that lead to it, whatever the number of paths.

use crate::error::Error;
use crate::hlo_text::Module;
use crate::propagation::dependence_graph::{ArrayNode, Dependence, DependenceGraph, SetsByArray};
use crate::propagation::formulas::{FormulaLink, Outcome, Propagation};
use crate::propagation::map_sets::{MapSetId, EMPTY_SET};
use crate::propagation::operand_map::{Direction, Link};
use crate::propagation::reached_instructions::{ArraySets, ReachedInstructions};
use std::ops::Range;
use std::sync::Arc;

const MAX_WORK: usize = 20_000; // maps propagated from one parameter, beyond which its other arrays are over-approximated

const TOO_LARGE: &str =
    "the computation is too large to follow every path of each array; what it may reach is named as a whole";

impl Propagation {
    /// Propagates the maps `given` for arrays of a computation to the operands of each instruction of `order`, users before
    /// operands. Returns all instructions reached, in order, with their arrays.
    pub fn propagate(
        &mut self,
        module: &Module,
        computation: u32,
        given: &[(u32, ArraySets)],
        order: &[u32],
    ) -> Outcome<Vec<(u32, ArraySets)>> {
        let mut graph = self.take_graph(module, computation);
        let mut sets = SetsByArray::default().cleared(graph.arrays.len());
        for (row, arrays) in given {
            arrays.iter().for_each(|(leaf, map_set)| sets.set(graph.arrays_of(*row).start + leaf, *map_set));
        }
        for row in order {
            let arrays = graph.arrays_of(*row);
            self.propagate_to_dependences(module, &mut graph, &mut sets, arrays)?;
        }
        let reached = sets.by_instruction(&graph);
        self.graphs.insert(computation, graph);
        Ok(reached)
    }

    /// Takes the dependence graph of a computation out of the cache; the caller puts it back.
    fn take_graph(&mut self, module: &Module, computation: u32) -> DependenceGraph {
        if let Some(known) = self.graphs.remove(&computation) {
            return known;
        }
        let order = self.post_order(module, computation);
        DependenceGraph::new(module, computation, order.iter().rev().copied(), |shape| {
            self.leaves(module, shape)
        })
    }

    /// Propagates the maps found so far from each of these arrays to the arrays that it reads.
    fn propagate_to_dependences(
        &mut self,
        module: &Module,
        graph: &mut DependenceGraph,
        sets: &mut SetsByArray,
        arrays: Range<u32>,
    ) -> Outcome<()> {
        for array in arrays {
            let here = sets.get(array);
            if here == EMPTY_SET {
                continue;
            }
            let ArrayNode { row, leaf, shape, dependences: known } = graph.arrays[array as usize];
            let here = self.sets.bounded(here, shape, &module.shapes[shape as usize].dimensions)?;
            sets.set(array, here);
            let (first, last) = match known {
                Some(rows) => rows,
                None => {
                    let formula = self.formula_of(module, (Direction::ToOperands, row, leaf))?;
                    let operands = module.operands_of(row as usize);
                    let arrays: Vec<Range<u32>> = operands.iter().map(|o| graph.arrays_of(*o)).collect();
                    let dependence = |f: &FormulaLink| {
                        let array = arrays[f.link.to as usize].clone().nth(f.link.leaf as usize)?;
                        Some(Dependence {
                            array,
                            map: (!f.is_identity).then_some(f.link.map),
                            last: (EMPTY_SET, EMPTY_SET, EMPTY_SET),
                        })
                    };
                    graph.add_dependences(array, formula.iter().filter_map(dependence))
                }
            };
            for k in first..last {
                let dependence = graph.dependence_mut(k);
                let into = sets.get(dependence.array);
                if (dependence.last.0, dependence.last.1) != (into, here) {
                    dependence.last = (into, here, self.sets.union_composed(into, here, dependence.map)?);
                }
                sets.set(dependence.array, dependence.last.2);
            }
        }
        Ok(())
    }

    fn extend_sets(
        &mut self,
        into: &mut ArraySets,
        (array, place): (u32, Result<usize, usize>),
        firsts: MapSetId,
        f: &FormulaLink,
    ) -> Outcome<()> {
        let second = (!f.is_identity).then_some(f.link.map);
        match (place, second) {
            (Err(k), None) => into.insert(k, (array, firsts)),
            (Err(k), _) => into.insert(k, (array, self.sets.union_composed(EMPTY_SET, firsts, second)?)),
            (Ok(k), _) => into[k].1 = self.sets.union_composed(into[k].1, firsts, second)?,
        }
        Ok(())
    }

    /// Propagates from array `leaf` of `start` to all instructions of `order` that it reaches, operands before users.
    pub fn propagate_to_users(
        &mut self,
        module: &Module,
        order: &[u32],
        (start, leaf): (u32, u32),
    ) -> Outcome<ReachedInstructions> {
        let shapes = self.leaves(module, module.instructions[start as usize].shape);
        let sizes = &module.shapes[shapes[leaf as usize] as usize].dimensions;
        let spare = self.spare_reached.pop().unwrap_or_default();
        let mut reached = spare.cleared(module, module.instructions[start as usize].computation);
        reached.arrays(start).push((leaf, self.sets.identity(sizes)?));
        let mut places: Vec<usize> = Vec::new(); // one more than the place of each output in `into`, 0 if it has none
        for &row in order {
            let mut into = ArraySets::new();
            for (k, operand) in module.operands_of(row as usize).iter().enumerate() {
                let here = reached.at(*operand);
                if here.is_empty() {
                    continue;
                }
                let formula = self.formula_of(module, (Direction::ToUsers, row, k as u32))?;
                for (leaf, firsts) in here {
                    let first = formula.partition_point(|f| f.link.leaf < *leaf);
                    for f in formula[first..].iter().take_while(|f| f.link.leaf == *leaf) {
                        let output = f.link.to as usize;
                        places.resize(places.len().max(output + 1), 0);
                        let place = places[output].checked_sub(1).ok_or(into.len());
                        self.extend_sets(&mut into, (f.link.to, place), *firsts, f)?;
                        places[output] = place.unwrap_or_else(|end| end) + 1;
                    }
                }
            }
            if into.is_empty() {
                continue;
            }
            let shapes = self.leaves(module, module.instructions[row as usize].shape);
            for (output, map_set) in &mut into {
                places[*output as usize] = 0;
                let shape = shapes[*output as usize];
                *map_set = self.sets.bounded(*map_set, shape, &module.shapes[shape as usize].dimensions)?;
            }
            *reached.arrays(row) = into;
        }
        Ok(reached)
    }

    /// The maps through a computation: from an array of its root to the parameters, or from a parameter to the root's arrays.
    pub fn computation_indexing(
        &mut self,
        module: &Module,
        key: (Direction, u32, u32),
    ) -> Outcome<Arc<[Link]>> {
        if let Some(known) = self.computation_links.get(&key) {
            return Ok(known.clone());
        }
        let (direction, computation, array) = key;
        let links: Arc<[Link]> = match direction {
            Direction::ToOperands => self.root_to_parameters(module, computation, array)?.into(),
            Direction::ToUsers => self.parameter_to_root(module, computation, array)?.into(),
        };
        self.computation_links.insert(key, links.clone());
        Ok(links)
    }

    fn root_to_parameters(&mut self, module: &Module, computation: u32, output: u32) -> Outcome<Vec<Link>> {
        let mut graph = self.take_graph(module, computation);
        let mut sets = self.spare_sets.pop().unwrap_or_default().cleared(graph.arrays.len());
        let root = graph.arrays_of(module.computations[computation as usize].root).start + output;
        let shape = graph.arrays[root as usize].shape;
        sets.set(root, self.sets.identity(&module.shapes[shape as usize].dimensions)?);
        let rest = root..graph.arrays.len() as u32;
        self.propagate_to_dependences(module, &mut graph, &mut sets, rest)?;
        let mut links = Vec::new();
        for (to, row) in self.parameters(module, computation).iter().enumerate() {
            for (array, leaf) in graph.arrays_of(*row).zip(0..) {
                let maps = self.sets.maps_of(sets.get(array)).iter();
                links.extend(maps.map(|map| Link { to: to as u32, leaf, map: *map }));
            }
        }
        self.spare_sets.push(sets);
        self.graphs.insert(computation, graph);
        Ok(links)
    }

    fn parameter_to_root(&mut self, module: &Module, computation: u32, parameter: u32) -> Outcome<Vec<Link>> {
        let start = self.parameters(module, computation)[parameter as usize];
        let root = module.computations[computation as usize].root;
        let order = self.post_order(module, computation);
        let (mut links, mut work) = (Vec::new(), 0);
        for leaf in 0..self.leaves(module, module.instructions[start as usize].shape).len() as u32 {
            if work > MAX_WORK {
                let reached = self.root_arrays_reached(module, (computation, parameter, leaf));
                self.link_whole_arrays(module, (start, leaf), root, reached, &mut links)?;
                continue;
            }
            let reached = self.propagate_to_users(module, &order, (start, leaf))?;
            let lengths = reached
                .iter()
                .flat_map(|(_, arrays)| arrays)
                .map(|(_, map_set)| self.sets.maps_of(*map_set).len());
            work += lengths.sum::<usize>();
            for (to, map_set) in reached.at(root) {
                links.extend(self.sets.maps_of(*map_set).iter().map(|map| Link { to: *to, leaf, map: *map }));
            }
            self.spare_reached.push(reached);
        }
        links.sort_by_key(|s| s.to);
        Ok(links)
    }

    fn link_whole_arrays(
        &mut self,
        module: &Module,
        (start, leaf): (u32, u32),
        root: u32,
        (same, bounds): (Vec<u32>, Vec<u32>),
        links: &mut Vec<Link>,
    ) -> Result<(), Error> {
        let near = self.leaves(module, module.instructions[start as usize].shape)[leaf as usize];
        let far = self.leaves(module, module.instructions[root as usize].shape);
        for to in same {
            let map = self.sets.maps.identity(&module.shapes[near as usize].dimensions)?;
            links.push(Link { to, leaf, map });
        }
        for to in bounds {
            let map = self.whole(module, (near, far[to as usize]), TOO_LARGE)?;
            links.push(Link { to, leaf, map });
        }
        Ok(())
    }
}
