//! The formula of an instruction's array: as it is known, as the program's structure gives it, or as it is asked for.

use crate::error::Error;
use crate::hlo_text::{ElementType, Module, OPCODES};
use crate::propagation::formulas::{is_bounded, Direction, Formula, Formulas, Key, Link, Propagation};
use crate::propagation::sources::has_elements;
use crate::propagation::structure::Structure;
use std::ops::Range;

const ONE_BRANCH: &str = "only one branch runs, and which one is known at run time only";
const CARRIED: &str = "the loop's body may have carried any element of this value here, in some iteration";

/// A parameter of the computation is what the caller passes.
fn argument(module: &Module, computation: u32, arguments: &[u32], row: u32) -> u32 {
    let Some(i) = module.instructions.get(row as usize) else { return row };
    if i.computation != computation || i.parameter < 0 {
        return row;
    }
    arguments.get(i.parameter as usize).copied().unwrap_or(row)
}

impl Propagation {
    pub(super) fn followed<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        key: Key,
    ) -> Result<Formula, F::Error> {
        if let Some(known) = self.known_formula(module, key) {
            return Ok(known);
        }
        let (direction, row, array) = key;
        if self.reads_nothing(module, direction, row) {
            return Ok(Formula::default()); // half of the formulas of a large program
        }
        let is_known = (module.instructions[row as usize].opcode as usize) < OPCODES.len();
        if !(is_known && self.put_unknown_sizes(module, formulas, key)?) {
            match (self.structure(module, row), direction) {
                (Structure::Names, _) => self.put_names(module, formulas, row)?,
                (Structure::Calls, _) => self.put_call(module, formulas, key)?,
                (Structure::Starts, Direction::ToOperands) => self.put_start(module, formulas, key)?,
                (Structure::Branches, _) => self.put_branches(module, formulas, key)?,
                (Structure::Loops, _) => self.put_loop(module, formulas, key)?,
                _ => match (self.stated(module, key), direction) {
                    (Some(links), _) => self.state(module, formulas, key, false, links)?,
                    (None, Direction::ToOperands) => formulas.formula(self, row, array)?,
                    (None, Direction::ToUsers) => formulas.inverse(self, row, array)?,
                },
            }
        }
        let put = self.known_formula(module, key);
        put.ok_or_else(|| Error::invalid_map(format!("no formula was given for row {row}")).into())
    }

    fn reads_nothing(&self, module: &Module, direction: Direction, row: u32) -> bool {
        let instruction = &module.instructions[row as usize];
        let is_known = (instruction.opcode as usize) < OPCODES.len();
        direction == Direction::ToOperands && is_known && instruction.operands.range().is_empty()
    }

    /// The formula of array `array` of an instruction, or of its operand `array`, inverted.
    pub fn formula<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        key: (Direction, u32, u32),
    ) -> Result<Vec<Link>, F::Error> {
        Ok(self.followed(module, formulas, key)?.iter().map(|f| f.link).collect())
    }

    /// Find all formulas of the instructions of these rows, to be read later. Appends for each instruction its signature,
    /// or -1 - row where the formulas are its own; where one can't be found, those before it are there.
    pub fn find<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        direction: Direction,
        rows: Range<u32>,
        found: &mut Vec<i64>,
    ) -> Result<(), F::Error> {
        self.complete[direction as usize].resize(module.signatures as usize, false);
        for row in rows {
            let instruction = &module.instructions[row as usize];
            let signature = instruction.signature as usize;
            if self.complete[direction as usize][signature] || self.reads_nothing(module, direction, row) {
                found.push(signature as i64);
                continue;
            }
            let count = match direction {
                Direction::ToOperands => self.leaves(module, instruction.shape).len(),
                Direction::ToUsers => instruction.operands.range().len(),
            };
            let mut shared = true;
            for array in 0..count as u32 {
                self.followed(module, formulas, (direction, row, array))?;
                shared &= self.is_shared((direction, row, array));
            }
            self.complete[direction as usize][signature] = shared;
            found.push(if shared { signature as i64 } else { -1 - i64::from(row) });
        }
        Ok(())
    }

    /// Keep that nothing is known of the elements where some size is only known as a bound; says whether that is so.
    fn put_unknown_sizes<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        (direction, row, array): Key,
    ) -> Result<bool, F::Error> {
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let operands = module.operands_of(row as usize);
        if self.structure(module, row) == Structure::Names {
            return Ok(false); // each array is one, whatever the others are
        }
        let (own, others) = match direction {
            Direction::ToOperands => (&shapes[array as usize..=array as usize], operands),
            Direction::ToUsers => {
                (&shapes[..], operands.get(array as usize..=array as usize).unwrap_or_default())
            }
        };
        let others = others.iter().map(|o| module.instructions[*o as usize].shape);
        let is_array = |shape: &u32| module.shapes[*shape as usize].element != ElementType::TUPLE;
        let mut shapes = own.iter().copied().chain(others).filter(is_array);
        let Some(shape) = shapes.find(|shape| is_bounded(module, *shape)) else { return Ok(false) };
        let map = self.unknown_size(module, shape);
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
        let links = pairs.into_iter().map(|(to, leaf)| Link { to, leaf, map }).collect();
        self.state(module, formulas, (direction, row, array), true, links)?;
        Ok(true)
    }

    /// The numbers of an instruction's arrays.
    fn arrays_of(&mut self, module: &Module, row: u32) -> Range<u32> {
        0..self.leaves(module, module.instructions[row as usize].shape).len() as u32
    }

    /// The maps through a computation, its parameters being `arguments`: as those of its caller, to all arrays.
    pub fn handed_over<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        (direction, computation, array): (Direction, u32, u32),
        arguments: &[u32],
    ) -> Result<Vec<Link>, F::Error> {
        let mut links = self.through(module, formulas, (direction, computation, array))?.to_vec();
        let place = |row: u32| argument(module, computation, arguments, row);
        for link in &mut links {
            link.map = self.found.maps.with_instructions(link.map, &place);
        }
        Ok(links)
    }

    fn put_call<F: Formulas>(&mut self, module: &Module, formulas: &mut F, key: Key) -> Result<(), F::Error> {
        let (direction, row, array) = key;
        let called = self.called(module, row)?[0];
        let arguments = module.operands_of(row as usize);
        let links = self.handed_over(module, formulas, (direction, called, array), arguments)?;
        self.state(module, formulas, key, false, links)
    }

    fn put_start<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        key: Key,
    ) -> Result<(), F::Error> {
        let (direction, row, mut array) = key;
        let operands = module.operands_of(row as usize);
        for (to, operand) in operands.iter().enumerate() {
            let shapes = self.leaves(module, module.instructions[*operand as usize].shape);
            if let Some(shape) = shapes.get(array as usize) {
                let links = self.itself(module, *shape, (to as u32, array))?;
                return self.state(module, formulas, key, false, links);
            }
            array -= shapes.len() as u32;
        }
        let called = self.called(module, row)?[0];
        let root = module.computations[called as usize].root as usize;
        let results = self.leaves(module, module.instructions[root].shape).len() as u32;
        let links = match array < results {
            true => self.handed_over(module, formulas, (direction, called, array), operands)?,
            false => Vec::new(), // a context
        };
        self.state(module, formulas, key, false, links)
    }

    fn put_branches<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        key: Key,
    ) -> Result<(), F::Error> {
        let (direction, row, array) = key;
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let operands = &module.operands_of(row as usize);
        let branches = self.called(module, row)?;
        let because = self.found.maps.reason_number(ONE_BRANCH);
        let sizes = |shape: u32| module.shapes[shape as usize].dimensions.as_slice();
        let mut links = Vec::new();
        match direction {
            Direction::ToOperands => {
                let map = self.found.maps.whole(sizes(shapes[array as usize]), &[], "")?;
                links.push(Link { to: 0, leaf: 0, map });
                for (branch, to) in branches.into_iter().zip(1..) {
                    let given = &operands[to..=to];
                    let found = self.handed_over(module, formulas, (direction, branch, array), given)?;
                    let of_branch = found.into_iter().filter(|l| l.to == 0);
                    links.extend(of_branch.map(|l| Link { to: to as u32, ..l }));
                }
                for link in &mut links[1..] {
                    link.map = self.found.maps.weakened(link.map, because);
                }
            }
            Direction::ToUsers if array == 0 => {
                for (to, shape) in shapes.iter().enumerate() {
                    if has_elements(module.shapes[*shape as usize].element) {
                        let map = self.found.maps.whole(&[], sizes(*shape), "")?;
                        links.push(Link { to: to as u32, leaf: 0, map });
                    }
                }
            }
            Direction::ToUsers => {
                let (branch, given) = (branches[array as usize - 1], [operands[array as usize]]);
                links = self.handed_over(module, formulas, (direction, branch, 0), &given)?;
                for link in &mut links {
                    link.map = self.found.maps.weakened(link.map, because);
                }
            }
        }
        self.state(module, formulas, key, true, links)
    }

    fn put_loop<F: Formulas>(&mut self, module: &Module, formulas: &mut F, key: Key) -> Result<(), F::Error> {
        let (direction, row, array) = key;
        let carried = self.carried(module, row)?;
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
                links.extend(self.itself(module, own, (to, output))?);
                continue;
            }
            for leaf in &carried.reached[output as usize] {
                let other = shapes[*leaf as usize];
                let ends = if direction == Direction::ToOperands { (own, other) } else { (other, own) };
                links.push(Link { to, leaf: *leaf, map: self.whole(module, ends, CARRIED)? });
            }
        }
        self.state(module, formulas, key, true, links)
    }

    /// The array is array `leaf` of operand (or result) `to`; what has no elements needs no map.
    fn itself(&mut self, module: &Module, shape: u32, (to, leaf): (u32, u32)) -> Result<Vec<Link>, Error> {
        let shape = &module.shapes[shape as usize];
        if !has_elements(shape.element) {
            return Ok(Vec::new());
        }
        let map = self.found.maps.identity(&shape.dimensions)?;
        Ok(vec![Link { to, leaf, map }])
    }

    fn called(&self, module: &Module, row: u32) -> Result<Vec<u32>, Error> {
        let found: Vec<u32> = module.calls_of(row as usize).map(|(_, computation)| computation).collect();
        match found.is_empty() {
            true => Err(Error::invalid_map(format!("row {row} calls no computation"))),
            false => Ok(found),
        }
    }
}
