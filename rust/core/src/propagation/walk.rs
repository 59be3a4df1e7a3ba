//! From a computation's root to its parameters, and from a parameter to the root: each instruction is visited once, after
//! all that lead to it, whatever the number of paths.

use crate::error::Error;
use crate::hlo_text::Module;
use crate::propagation::formulas::{Direction, Followed, Formulas, Link, Propagation};
use crate::propagation::found::{FoundId, NONE};
use crate::propagation::needs::{Array, Lists, Need, Needs};
use crate::propagation::reached::{Arrays, Reached};
use std::ops::Range;
use std::sync::Arc;

const MAX_WORK: usize = 20_000; // maps followed from the arrays of one parameter, beyond which the rest is bounded as a whole

const TOO_LARGE: &str =
    "the computation is too large to follow every path of each array; what it may reach is named as a whole";

impl Propagation {
    /// Follow the maps `given` to arrays of a computation's instructions to the operands of each instruction of `order`,
    /// users before their operands: all instructions that are reached, in the order in which they are, with their arrays.
    pub fn propagate<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        computation: u32,
        given: &[(u32, Arrays)],
        order: &[u32],
    ) -> Result<Vec<(u32, Arrays)>, F::Error> {
        let mut needs = self.needs_of(module, computation);
        let mut lists = Lists::default().emptied(needs.arrays.len());
        for (row, arrays) in given {
            arrays.iter().for_each(|(leaf, found)| lists.set(needs.of(*row).start + leaf, *found));
        }
        for row in order {
            let arrays = needs.of(*row);
            self.follow_needs(module, formulas, &mut needs, &mut lists, arrays)?;
        }
        let reached = lists.by_row(&needs);
        self.needs.insert(computation, needs);
        Ok(reached)
    }

    /// The arrays of a computation, with the needs that are known: taken out, to be put back.
    fn needs_of(&mut self, module: &Module, computation: u32) -> Needs {
        if let Some(known) = self.needs.remove(&computation) {
            return known;
        }
        let order = self.post_order(module, computation);
        Needs::new(module, computation, order.iter().rev().copied(), |shape| self.leaves(module, shape))
    }

    /// Follow the maps found so far to what these arrays need, one after the other.
    fn follow_needs<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        needs: &mut Needs,
        lists: &mut Lists,
        arrays: Range<u32>,
    ) -> Result<(), F::Error> {
        for array in arrays {
            let here = lists.get(array);
            if here == NONE {
                continue;
            }
            let Array { row, leaf, shape, needs: known } = needs.arrays[array as usize];
            let here = self.found.bounded(here, shape, &module.shapes[shape as usize].dimensions)?;
            lists.set(array, here);
            let (first, last) = match known {
                Some(rows) => rows,
                None => {
                    let formula = self.followed(module, formulas, (Direction::ToOperands, row, leaf))?;
                    let operands = module.operands_of(row as usize);
                    let arrays: Vec<Range<u32>> = operands.iter().map(|o| needs.of(*o)).collect();
                    let need = |f: &Followed| {
                        let array = arrays[f.link.to as usize].clone().nth(f.link.leaf as usize)?;
                        Some(Need { array, map: (!f.same).then_some(f.link.map), last: (NONE, NONE, NONE) })
                    };
                    needs.put(array, formula.iter().filter_map(need))
                }
            };
            for k in first..last {
                let need = needs.need(k);
                let into = lists.get(need.array);
                if (need.last.0, need.last.1) != (into, here) {
                    need.last = (into, here, self.found.extended(formulas, into, here, need.map)?);
                }
                lists.set(need.array, need.last.2);
            }
        }
        Ok(())
    }

    fn extend<F: Formulas>(
        &mut self,
        formulas: &mut F,
        into: &mut Arrays,
        (array, place): (u32, Result<usize, usize>),
        firsts: FoundId,
        f: &Followed,
    ) -> Result<(), F::Error> {
        let second = (!f.same).then_some(f.link.map);
        match (place, second) {
            (Err(k), None) => into.insert(k, (array, firsts)),
            (Err(k), _) => into.insert(k, (array, self.found.extended(formulas, NONE, firsts, second)?)),
            (Ok(k), _) => into[k].1 = self.found.extended(formulas, into[k].1, firsts, second)?,
        }
        Ok(())
    }

    /// Maps from array `leaf` of `start` to the arrays of all instructions of `order` that it reaches: operands come before
    /// their users.
    pub fn propagate_to_users<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        order: &[u32],
        (start, leaf): (u32, u32),
    ) -> Result<Reached, F::Error> {
        let shapes = self.leaves(module, module.instructions[start as usize].shape);
        let sizes = &module.shapes[shapes[leaf as usize] as usize].dimensions;
        let spare = self.spare.pop().unwrap_or_default();
        let mut reached = spare.emptied(module, module.instructions[start as usize].computation);
        reached.arrays(start).push((leaf, self.found.start(sizes)?));
        let mut places: Vec<usize> = Vec::new(); // of each output, one more than its place; 0: it has none
        for &row in order {
            let mut into = Arrays::new();
            for (k, operand) in module.operands_of(row as usize).iter().enumerate() {
                let here = reached.at(*operand);
                if here.is_empty() {
                    continue;
                }
                let formula = self.followed(module, formulas, (Direction::ToUsers, row, k as u32))?;
                for (leaf, firsts) in here {
                    let first = formula.partition_point(|f| f.link.leaf < *leaf);
                    for f in formula[first..].iter().take_while(|f| f.link.leaf == *leaf) {
                        let output = f.link.to as usize;
                        places.resize(places.len().max(output + 1), 0);
                        let place = places[output].checked_sub(1).ok_or(into.len());
                        self.extend(formulas, &mut into, (f.link.to, place), *firsts, f)?;
                        places[output] = place.unwrap_or_else(|end| end) + 1;
                    }
                }
            }
            if into.is_empty() {
                continue;
            }
            let shapes = self.leaves(module, module.instructions[row as usize].shape);
            for (output, found) in &mut into {
                places[*output as usize] = 0;
                let shape = shapes[*output as usize];
                *found = self.found.bounded(*found, shape, &module.shapes[shape as usize].dimensions)?;
            }
            *reached.arrays(row) = into;
        }
        Ok(reached)
    }

    /// The maps through a computation: of an array of its root to the parameters, or of a parameter to the root's arrays.
    pub fn through<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        key: (Direction, u32, u32),
    ) -> Result<Arc<[Link]>, F::Error> {
        if let Some(known) = self.through.get(&key) {
            return Ok(known.clone());
        }
        let (direction, computation, array) = key;
        let links: Arc<[Link]> = match direction {
            Direction::ToOperands => self.root_to_parameters(module, formulas, computation, array)?.into(),
            Direction::ToUsers => self.parameter_to_root(module, formulas, computation, array)?.into(),
        };
        self.through.insert(key, links.clone());
        Ok(links)
    }

    fn root_to_parameters<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        computation: u32,
        output: u32,
    ) -> Result<Vec<Link>, F::Error> {
        let mut needs = self.needs_of(module, computation);
        let mut lists = self.spare_lists.pop().unwrap_or_default().emptied(needs.arrays.len());
        let root = needs.of(module.computations[computation as usize].root).start + output;
        let shape = needs.arrays[root as usize].shape;
        lists.set(root, self.found.start(&module.shapes[shape as usize].dimensions)?);
        let rest = root..needs.arrays.len() as u32;
        self.follow_needs(module, formulas, &mut needs, &mut lists, rest)?;
        let mut links = Vec::new();
        for (to, row) in self.parameters(module, computation).iter().enumerate() {
            for (array, leaf) in needs.of(*row).zip(0..) {
                let maps = self.found.list(lists.get(array)).iter();
                links.extend(maps.map(|map| Link { to: to as u32, leaf, map: *map }));
            }
        }
        self.spare_lists.push(lists);
        self.needs.insert(computation, needs);
        Ok(links)
    }

    fn parameter_to_root<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        computation: u32,
        parameter: u32,
    ) -> Result<Vec<Link>, F::Error> {
        let start = self.parameters(module, computation)[parameter as usize];
        let root = module.computations[computation as usize].root;
        let order = self.post_order(module, computation);
        let (mut links, mut work) = (Vec::new(), 0);
        for leaf in 0..self.leaves(module, module.instructions[start as usize].shape).len() as u32 {
            if work > MAX_WORK {
                let reached = self.reached_from(module, (computation, parameter, leaf));
                self.reach_wholly(module, (start, leaf), root, reached, &mut links)?;
                continue;
            }
            let reached = self.propagate_to_users(module, formulas, &order, (start, leaf))?;
            let lengths =
                reached.iter().flat_map(|(_, arrays)| arrays).map(|(_, found)| self.found.list(*found).len());
            work += lengths.sum::<usize>();
            for (to, found) in reached.at(root) {
                links.extend(self.found.list(*found).iter().map(|map| Link { to: *to, leaf, map: *map }));
            }
            self.spare.push(reached);
        }
        links.sort_by_key(|s| s.to);
        Ok(links)
    }

    fn reach_wholly(
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
            let map = self.found.maps.identity(&module.shapes[near as usize].dimensions)?;
            links.push(Link { to, leaf, map });
        }
        for to in bounds {
            let map = self.whole(module, (near, far[to as usize]), TOO_LARGE)?;
            links.push(Link { to, leaf, map });
        }
        Ok(())
    }
}
