//! Formulas of instructions: looked up, derived from the structure of the program, or requested from the caller.

use crate::error::Error;
use crate::hlo_text::{ElementType, Module, ShapeId, OPCODES};
use crate::propagation::array_sources::has_elements;
use crate::propagation::formulas::{is_bounded, Formula, Outcome, Propagation, PropagationError};
use crate::propagation::operand_map::{Direction, Key, Link};
use crate::propagation::structure::Structure;
use std::ops::Range;

const ONE_BRANCH: &str = "only one branch runs, and which one is known at run time only";
const CARRIED: &str = "the loop's body may have carried any element of this value here, in some iteration";

/// The instruction that the caller passes for a parameter of the computation; others stand for themselves.
fn argument_for(module: &Module, computation: u32, arguments: &[u32], row: u32) -> u32 {
    let Some(i) = module.instructions.get(row as usize) else { return row };
    if i.computation != computation || i.parameter < 0 {
        return row;
    }
    arguments.get(i.parameter as usize).copied().unwrap_or(row)
}

impl Propagation {
    /// The formula of a key: known, derived from the structure of the program, or stated.
    pub(super) fn formula_of(&mut self, module: &Module, key: Key) -> Outcome<Formula> {
        if let Some(known) = self.known_formula(module, key) {
            return Ok(known.clone());
        }
        let (direction, row, _) = key;
        if self.reads_nothing(module, direction, row) {
            return Ok(Formula::default()); // half of the formulas of a large program
        }
        if self.structure(module, row) == Structure::Alias {
            self.derive_for_names(module, row)?; // one by one, each array whatever the sizes of the others
        } else {
            let (simplified, links) = self.links_of(module, key)?;
            self.set_formula(module, key, simplified, links)?;
        }
        self.known_formula(module, key).cloned().ok_or(PropagationError::Unstated(key))
    }

    /// The links of a formula, and whether their maps are simplified.
    fn links_of(&mut self, module: &Module, key: Key) -> Outcome<(bool, Vec<Link>)> {
        if let Some(links) = self.links_of_unknown_size(module, key) {
            return Ok((true, links));
        }
        Ok(match self.structure(module, key.1) {
            Structure::Calls => (false, self.links_of_call(module, key)?),
            Structure::Starts => (false, self.links_of_start(module, key)?),
            Structure::Branches => (true, self.links_of_branches(module, key)?),
            Structure::Loops => (true, self.links_of_loop(module, key)?),
            _ => (
                false,
                self.stated.links(module, &mut self.sets.maps, key).ok_or(PropagationError::Unstated(key))?,
            ),
        })
    }

    pub(super) fn reads_nothing(&self, module: &Module, direction: Direction, row: u32) -> bool {
        let instruction = &module.instructions[row as usize];
        let is_known = (instruction.opcode as usize) < OPCODES.len();
        direction == Direction::ToOperands && is_known && instruction.operands.range().is_empty()
    }

    /// The formula of array `array` of an instruction; to users, the inverse formula of its operand `array`.
    pub fn formula(&mut self, module: &Module, key: (Direction, u32, u32)) -> Outcome<Vec<Link>> {
        Ok(self.formula_of(module, key)?.iter().map(|f| f.link).collect())
    }

    /// The formula, if it is known.
    pub fn known_links(&self, module: &Module, key: Key) -> Option<Vec<Link>> {
        Some(self.known_formula(module, key)?.iter().map(|f| f.link).collect())
    }

    /// Derives all formulas of the instructions in `rows`, to be read later. Appends for each instruction its signature,
    /// or `-1 - row` where it shares its formulas with no other; stops at the first error, the rows before it appended.
    pub fn find_formulas(
        &mut self,
        module: &Module,
        direction: Direction,
        rows: Range<u32>,
        signatures: &mut Vec<i64>,
    ) -> Outcome<()> {
        self.complete[direction as usize].resize(module.signatures as usize, false);
        for row in rows {
            let instruction = &module.instructions[row as usize];
            let signature = instruction.signature as usize;
            if self.complete[direction as usize][signature] || self.reads_nothing(module, direction, row) {
                signatures.push(signature as i64);
                continue;
            }
            let mut shared = true;
            for array in 0..self.formula_count(module, direction, row) {
                self.formula_of(module, (direction, row, array))?;
                shared &= self.is_shared((direction, row, array));
            }
            self.complete[direction as usize][signature] = shared;
            signatures.push(if shared { signature as i64 } else { -1 - i64::from(row) });
        }
        Ok(())
    }

    /// The number of an instruction's formulas: one for each of its arrays; to users, one for each operand.
    pub(super) fn formula_count(&mut self, module: &Module, direction: Direction, row: u32) -> u32 {
        match direction {
            Direction::ToOperands => self.arrays_of(module, row).end,
            Direction::ToUsers => module.operands_of(row as usize).len() as u32,
        }
    }

    /// Links with an unknown map, if an array involved has a bounded dynamic dimension.
    fn links_of_unknown_size(&mut self, module: &Module, key: Key) -> Option<Vec<Link>> {
        let shape = self.shape_of_unknown_size(module, key)?;
        let map = self.unknown_size(module, shape);
        let (direction, row, array) = key;
        let operands = module.operands_of(row as usize);
        let pairs: Vec<(u32, u32)> = match direction {
            Direction::ToOperands => {
                let arrays = |(o, k): (&u32, u32)| self.arrays_of(module, *o).map(move |leaf| (k, leaf));
                operands.iter().zip(0..).flat_map(arrays).collect()
            }
            Direction::ToUsers => {
                let near = operands.get(array as usize).map_or(0..1, |o| self.arrays_of(module, *o));
                self.arrays_of(module, row).flat_map(|to| near.clone().map(move |leaf| (to, leaf))).collect()
            }
        };
        Some(pairs.into_iter().map(|(to, leaf)| Link { to, leaf, map }).collect())
    }

    /// The first shape with a bounded dynamic dimension among those of the arrays that a formula is about.
    pub(super) fn shape_of_unknown_size(
        &mut self,
        module: &Module,
        (direction, row, array): Key,
    ) -> Option<ShapeId> {
        if !self.has_bounds || module.instructions[row as usize].opcode as usize >= OPCODES.len() {
            return None;
        }
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let operands = module.operands_of(row as usize);
        let (own, others) = match direction {
            Direction::ToOperands => (&shapes[array as usize..=array as usize], operands),
            Direction::ToUsers => {
                (&shapes[..], operands.get(array as usize..=array as usize).unwrap_or_default())
            }
        };
        let others = others.iter().map(|o| module.instructions[*o as usize].shape);
        let is_array = |shape: &u32| module.shapes[*shape as usize].element != ElementType::TUPLE;
        let mut shapes = own.iter().copied().chain(others).filter(is_array);
        shapes.find(|shape| is_bounded(module, *shape))
    }

    /// The range of an instruction's array numbers.
    fn arrays_of(&mut self, module: &Module, row: u32) -> Range<u32> {
        0..self.leaves(module, module.instructions[row as usize].shape).len() as u32
    }

    /// The maps through a called computation, in which runtime values read the caller's `arguments`, not its parameters.
    pub fn call_indexing(
        &mut self,
        module: &Module,
        (direction, computation, array): (Direction, u32, u32),
        arguments: &[u32],
    ) -> Outcome<Vec<Link>> {
        let mut links = self.computation_indexing(module, (direction, computation, array))?.to_vec();
        let place = |row: u32| argument_for(module, computation, arguments, row);
        for link in &mut links {
            link.map = self.sets.maps.replace_instructions(link.map, &place);
        }
        Ok(links)
    }

    fn links_of_call(&mut self, module: &Module, key: Key) -> Outcome<Vec<Link>> {
        let (direction, row, array) = key;
        let called = self.called_computations(module, row)?[0];
        let arguments = module.operands_of(row as usize);
        self.call_indexing(module, (direction, called, array), arguments)
    }

    fn links_of_start(&mut self, module: &Module, (direction, row, array): Key) -> Outcome<Vec<Link>> {
        let operands = module.operands_of(row as usize);
        let mut first = vec![0]; // the number of each operand's first array in the result
        for operand in operands {
            first.push(first[first.len() - 1] + self.arrays_of(module, *operand).end);
        }
        let results = first[operands.len()];
        let called = self.called_computations(module, row)?[0];
        if direction == Direction::ToUsers {
            let k = array as usize;
            let mut links = Vec::new();
            for leaf in 0..first[k + 1] - first[k] {
                let shape =
                    self.leaves(module, module.instructions[operands[k] as usize].shape)[leaf as usize];
                links.extend(self.identity_link(module, shape, (first[k] + leaf, leaf))?);
            }
            let through = self.call_indexing(module, (direction, called, array), operands)?;
            links.extend(through.into_iter().map(|l| Link { to: l.to + results, ..l }));
            return Ok(links);
        }
        let root = module.computations[called as usize].root;
        if array < results {
            let to = first.partition_point(|f| *f <= array) - 1;
            let shape = self.leaves(module, module.instructions[row as usize].shape)[array as usize];
            return Ok(self.identity_link(module, shape, (to as u32, array - first[to]))?);
        }
        match array - results < self.arrays_of(module, root).end {
            true => self.call_indexing(module, (direction, called, array - results), operands),
            false => Ok(Vec::new()), // a context has no elements
        }
    }

    fn links_of_branches(&mut self, module: &Module, key: Key) -> Outcome<Vec<Link>> {
        let (direction, row, array) = key;
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let operands = &module.operands_of(row as usize);
        let branches = self.called_computations(module, row)?;
        let because = self.sets.maps.reason_number(ONE_BRANCH);
        let sizes = |shape: u32| module.shapes[shape as usize].dimensions.as_slice();
        let mut links = Vec::new();
        match direction {
            Direction::ToOperands => {
                let map = self.sets.maps.whole(sizes(shapes[array as usize]), &[], "")?;
                links.push(Link { to: 0, leaf: 0, map });
                for (branch, to) in branches.into_iter().zip(1..) {
                    let given = &operands[to..=to];
                    let called = self.call_indexing(module, (direction, branch, array), given)?;
                    let of_branch = called.into_iter().filter(|l| l.to == 0);
                    links.extend(of_branch.map(|l| Link { to: to as u32, ..l }));
                }
                for link in &mut links[1..] {
                    link.map = self.sets.maps.over_approximated(link.map, because);
                }
            }
            Direction::ToUsers if array == 0 => {
                for (to, shape) in shapes.iter().enumerate() {
                    if has_elements(module.shapes[*shape as usize].element) {
                        let map = self.sets.maps.whole(&[], sizes(*shape), "")?;
                        links.push(Link { to: to as u32, leaf: 0, map });
                    }
                }
            }
            Direction::ToUsers => {
                let (branch, given) = (branches[array as usize - 1], [operands[array as usize]]);
                links = self.call_indexing(module, (direction, branch, 0), &given)?;
                for link in &mut links {
                    link.map = self.sets.maps.over_approximated(link.map, because);
                }
            }
        }
        Ok(links)
    }

    fn links_of_loop(&mut self, module: &Module, (direction, row, array): Key) -> Result<Vec<Link>, Error> {
        let carried = self.loop_carried(module, row)?;
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let outputs = match direction {
            Direction::ToOperands => array..array + 1,
            Direction::ToUsers => 0..shapes.len() as u32,
        };
        let mut links = Vec::new();
        for output in outputs {
            let to = if direction == Direction::ToOperands { 0 } else { output };
            let own = shapes[output as usize];
            if carried.untouched[output as usize] {
                links.extend(self.identity_link(module, own, (to, output))?);
                continue;
            }
            for leaf in &carried.reached[output as usize] {
                let other = shapes[*leaf as usize];
                let ends = if direction == Direction::ToOperands { (own, other) } else { (other, own) };
                links.push(Link { to, leaf: *leaf, map: self.whole(module, ends, CARRIED)? });
            }
        }
        Ok(links)
    }

    /// The identity to array `leaf` of operand (or result) `to`; no link for what has no elements.
    fn identity_link(
        &mut self,
        module: &Module,
        shape: u32,
        (to, leaf): (u32, u32),
    ) -> Result<Vec<Link>, Error> {
        let shape = &module.shapes[shape as usize];
        if !has_elements(shape.element) {
            return Ok(Vec::new());
        }
        let map = self.sets.maps.identity(&shape.dimensions)?;
        Ok(vec![Link { to, leaf, map }])
    }

    fn called_computations(&self, module: &Module, row: u32) -> Result<Vec<u32>, Error> {
        let computations: Vec<u32> =
            module.calls_of(row as usize).map(|(_, computation)| computation).collect();
        match computations.is_empty() {
            true => Err(Error::invalid_map(format!("row {row} calls no computation"))),
            false => Ok(computations),
        }
    }
}
