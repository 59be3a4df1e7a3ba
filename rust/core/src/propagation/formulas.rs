//! The formulas of instructions, as they are put in by whoever knows them; and what is asked of a module again and again.

use crate::error::Error;
use crate::hlo_text::{ElementType, Module, ShapeId, OPCODES, UNBOUNDED};
use crate::propagation::found::FoundMaps;
use crate::propagation::interner::Table;
use crate::propagation::operand_map::{MapId, Values};
use std::sync::Arc;

/// Why a map to all of an array is unknown.
const UNKNOWN_SIZE: &str = "a dimension's size is not known, nor bounded";

/// One map of an instruction's formula, or between a computation's root and its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// Which operand (or parameter); of an inverse, which array of the result.
    pub to: u32,
    /// Which array of the operand.
    pub leaf: u32,
    /// The map.
    pub map: MapId,
}

/// A link of an instruction, and whether it changes nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    pub link: Link,
    pub same: bool,
}

/// The questions that the core asks of whoever knows the formulas: they are put into the [`Propagation`] by [`Propagation::put`].
pub trait Formulas: Values {
    /// The formula of array `output` of an instruction is needed.
    fn formula(&mut self, found: &mut Propagation, row: u32, output: u32) -> Result<(), Self::Error>;
    /// The inverse formula of an operand of an instruction is needed.
    fn inverse(&mut self, found: &mut Propagation, row: u32, operand: u32) -> Result<(), Self::Error>;
    /// The arrays of the root that array `leaf` of a parameter is, and those that it may reach; and why that is a bound.
    fn reached_wholly(&mut self, computation: u32, parameter: u32, leaf: u32) -> Result<Bounds, Self::Error>;
}

/// Arrays that are an array themselves, those that it may reach, and why it isn't said how.
pub type Bounds = (Vec<u32>, Vec<u32>, String);

/// Which way maps lead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From an array of an instruction to those of its operands.
    ToOperands,
    /// From an array of an operand to those of the instruction.
    ToUsers,
}

/// Of an instruction's array its links, as they stand; of an operand, inverted, by the operand's arrays.
pub(super) type Formula = Arc<[Followed]>;
type Key = (Direction, u32, u32);

/// All that is known of a module's maps.
#[derive(Default)]
pub struct Propagation {
    /// The maps, and lists of them.
    pub found: FoundMaps,
    /// By signature, and by row where formulas name instructions.
    shared: Table<Key, Formula>,
    own: Table<Key, Formula>,
    pub(super) through: Table<Key, Arc<[Link]>>,
    leaves: Vec<Arc<[ShapeId]>>,
    orders: Table<u32, Arc<[u32]>>,
    parameters: Table<u32, Arc<[u32]>>,
    wholes: Table<(ShapeId, ShapeId), MapId>,
}

impl Propagation {
    /// The shapes of the arrays of a shape, nested tuples flattened in order.
    pub fn leaves(&mut self, module: &Module, shape: ShapeId) -> Arc<[ShapeId]> {
        for id in self.leaves.len()..module.shapes.len() {
            let row = &module.shapes[id];
            let leaves = if row.element == ElementType::TUPLE {
                row.elements.iter().flat_map(|e| self.leaves[*e as usize].iter().copied()).collect()
            } else {
                Arc::from([id as ShapeId])
            };
            self.leaves.push(leaves);
        }
        self.leaves[shape as usize].clone()
    }

    /// The instructions of a computation, operands before users: those below the root depth first, then the others.
    pub fn post_order(&mut self, module: &Module, computation: u32) -> Arc<[u32]> {
        if let Some(known) = self.orders.get(&computation) {
            return known.clone();
        }
        let row = &module.computations[computation as usize];
        let first = row.instructions.first;
        let mut seen = vec![false; row.instructions.range().len()];
        let mut order = Vec::with_capacity(seen.len());
        let mut stack: Vec<(u32, usize)> = Vec::new();
        for start in std::iter::once(row.root).chain(row.instructions.first..row.instructions.last) {
            if !std::mem::replace(&mut seen[(start - first) as usize], true) {
                stack.push((start, 0));
            }
            while let Some((at, next)) = stack.last_mut() {
                match module.operands_of(*at as usize).get(*next) {
                    Some(&operand) => {
                        *next += 1;
                        if !std::mem::replace(&mut seen[(operand - first) as usize], true) {
                            stack.push((operand, 0));
                        }
                    }
                    None => {
                        order.push(*at);
                        stack.pop();
                    }
                }
            }
        }
        let order: Arc<[u32]> = order.into();
        self.orders.insert(computation, order.clone());
        order
    }

    /// The rows of a computation's parameters, by number.
    pub fn parameters(&mut self, module: &Module, computation: u32) -> Arc<[u32]> {
        if let Some(known) = self.parameters.get(&computation) {
            return known.clone();
        }
        let rows = module.computations[computation as usize].instructions;
        let number = |row: &u32| module.instructions[*row as usize].parameter;
        let mut found: Vec<u32> = (rows.first..rows.last).filter(|row| number(row) >= 0).collect();
        found.sort_by_key(number);
        let found: Arc<[u32]> = found.into();
        self.parameters.insert(computation, found.clone());
        found
    }

    /// Keep the formula of an array of an instruction (or of its operand, inverted): for all of its signature unless it is
    /// its `own`. `sizes` are those of the array.
    pub fn put(
        &mut self,
        module: &Module,
        (direction, row, array): (Direction, u32, u32),
        own: bool,
        links: &[Link],
    ) -> Result<(), Error> {
        let mut formula = Vec::with_capacity(links.len());
        let near = self.near(module, direction, row, array);
        for link in links {
            let at = if direction == Direction::ToOperands { array } else { link.leaf };
            let same = match near.get(at as usize) {
                Some(shape) => {
                    let sizes = &module.shapes[*shape as usize].dimensions;
                    self.found.maps.changes_nothing(link.map, sizes)?
                }
                None => false, // what has no operands may state an inverse nevertheless
            };
            formula.push(Followed { link: *link, same });
        }
        if direction == Direction::ToUsers {
            formula.sort_by_key(|f| f.link.leaf);
        }
        let (table, key) = match own {
            true => (&mut self.own, row),
            false => (&mut self.shared, module.instructions[row as usize].signature),
        };
        table.insert((direction, key, array), formula.into());
        Ok(())
    }

    /// Keep the formulas, both ways, of an instruction whose arrays are arrays of its operands: of each its operand and which
    /// array of that.
    pub fn put_names<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        row: u32,
        named: &[(u32, u32)],
    ) -> Result<(), F::Error> {
        let signature = module.instructions[row as usize].signature;
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let operands = module.operands_of(row as usize).len();
        let mut inverses = vec![Vec::new(); operands];
        for (output, (operand, leaf)) in named.iter().enumerate() {
            let shape = &module.shapes[shapes[output] as usize];
            let mut formula = Vec::new();
            if shape.element.is_array() {
                let identity = self.found.maps.identity(&shape.dimensions)?;
                let map = self.found.maps.finish(formulas, identity)?; // of a single element 0, not the index
                let same = map == identity;
                formula.push(Followed { link: Link { to: *operand, leaf: *leaf, map }, same });
                let link = Link { to: output as u32, leaf: *leaf, map };
                inverses[*operand as usize].push(Followed { link, same });
            }
            self.shared.insert((Direction::ToOperands, signature, output as u32), formula.into());
        }
        for (operand, inverse) in inverses.into_iter().enumerate() {
            self.shared.insert((Direction::ToUsers, signature, operand as u32), inverse.into());
        }
        Ok(())
    }

    /// The map from each index of an array of the first shape to all elements of one of the other, as a bound; unknown
    /// where sizes are.
    pub fn whole(
        &mut self,
        module: &Module,
        (near, far): (ShapeId, ShapeId),
        because: &str,
    ) -> Result<MapId, Error> {
        if let Some(known) = self.wholes.get(&(near, far)) {
            if self.found.maps.reason(self.found.maps.map(*known).reason) == because {
                return Ok(*known);
            }
        }
        let sizes = |shape: ShapeId| module.shapes[shape as usize].dimensions.as_slice();
        let map = if sizes(near).contains(&UNBOUNDED) || sizes(far).contains(&UNBOUNDED) {
            self.found.maps.unknown_because(UNKNOWN_SIZE)
        } else {
            self.found.maps.whole(sizes(near), sizes(far), because)?
        };
        self.wholes.insert((near, far), map);
        Ok(map)
    }

    /// The arrays that maps of a formula start at.
    fn near(&mut self, module: &Module, direction: Direction, row: u32, array: u32) -> Arc<[ShapeId]> {
        let near = match direction {
            Direction::ToOperands => Some(&row),
            Direction::ToUsers => module.operands_of(row as usize).get(array as usize),
        };
        let shape = near.map(|near| module.instructions[*near as usize].shape);
        shape.map_or_else(Arc::default, |shape| self.leaves(module, shape))
    }

    fn known_formula(&self, module: &Module, direction: Direction, row: u32, array: u32) -> Option<Formula> {
        let signature = module.instructions[row as usize].signature;
        let shared = self.shared.get(&(direction, signature, array));
        shared.or_else(|| self.own.get(&(direction, row, array))).cloned()
    }

    pub(super) fn followed<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        (direction, row, array): Key,
    ) -> Result<Formula, F::Error> {
        if let Some(known) = self.known_formula(module, direction, row, array) {
            return Ok(known);
        }
        let instruction = &module.instructions[row as usize];
        let is_known = (instruction.opcode as usize) < OPCODES.len();
        if direction == Direction::ToOperands && is_known && instruction.operands.range().is_empty() {
            return Ok(Arc::default()); // it reads nothing: half of the formulas of a large program
        }
        match direction {
            Direction::ToOperands => formulas.formula(self, row, array)?,
            Direction::ToUsers => formulas.inverse(self, row, array)?,
        }
        let put = self.known_formula(module, direction, row, array);
        put.ok_or_else(|| Error::invalid_map(format!("no formula was given for row {row}")).into())
    }

    /// Find a formula, to be read later.
    pub fn find<F: Formulas>(
        &mut self,
        module: &Module,
        formulas: &mut F,
        key: (Direction, u32, u32),
    ) -> Result<(), F::Error> {
        self.followed(module, formulas, key).map(|_| ())
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

    /// Whether the formula is that of all instructions of the signature.
    pub fn is_shared(&self, (direction, row, array): (Direction, u32, u32)) -> bool {
        !self.own.contains_key(&(direction, row, array))
    }
}
