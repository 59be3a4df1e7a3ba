//! The state of propagation through one module: formulas of instructions, stated or derived, and cached facts of the module.

use crate::error::Error;
use crate::hlo_text::{write_shape, ElementType, Module, ShapeId, OPCODES, UNBOUNDED};
use crate::propagation::array_sets::{LoopCarried, Sources};
use crate::propagation::dependence_graph::{DependenceGraph, SetsByArray};
use crate::propagation::interner::Table;
use crate::propagation::map_sets::MapSets;
use crate::propagation::operand_map::{Direction, Key, Link, MapId};
use crate::propagation::operand_maps::UNKNOWN_SIZE;
use crate::propagation::reached_instructions::ReachedInstructions;
use crate::propagation::stated_formulas::StatedFormulas;
use crate::propagation::structure::Structure;
use std::sync::Arc;

/// A link of an instruction's formula, and whether its map is the identity.
#[derive(Clone, Copy, Debug)]
pub(super) struct FormulaLink {
    pub link: Link,
    pub is_identity: bool,
}

/// The arrays of a shape.
#[derive(Debug)]
struct Leaves {
    /// The shapes of the arrays.
    arrays: Arc<[ShapeId]>,
    /// Of a tuple, the number of each element's first array, and at the end the number of all arrays.
    first: Box<[u32]>,
}

/// The reason why maps are not found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PropagationError {
    /// This formula is used and has not been stated.
    Unstated(Key),
    /// A map that does not exist.
    Invalid(Error),
}

impl From<Error> for PropagationError {
    fn from(error: Error) -> Self {
        PropagationError::Invalid(error)
    }
}

/// The result of a propagation.
pub(super) type Outcome<T> = Result<T, PropagationError>;

/// The links of an instruction's array, in order; of an inverse formula, sorted by the operand's arrays.
pub(super) type Formula = Arc<[FormulaLink]>;
/// The maps of a module that are known so far.
#[derive(Default)]
pub struct Propagation {
    /// The maps, and sets of them.
    pub sets: MapSets,
    structures: Vec<Structure>,
    /// Formulas shared by all instructions of a signature, by direction, signature and array.
    shared: [Vec<Vec<Option<Formula>>>; 2],
    /// Formulas with runtime values, which name instructions: by row.
    own: Table<Key, Formula>,
    /// The formulas as they were stated.
    pub(super) stated: StatedFormulas,
    /// The arrays whose formulas, and those beyond, have been stated, but for those that were missing.
    pub(super) walked: Table<Key, ()>,
    /// Of array 0 of each instruction, the same, by direction.
    pub(super) walked_first: [Vec<bool>; 2],
    /// The formulas that walks have found missing: once they are stated, what they read is to be visited.
    pub(super) missing: Vec<Key>,
    /// Whether an array of the module has a bounded dynamic dimension.
    pub(super) has_bounds: bool,
    /// The signatures whose formulas are all known and shared.
    pub(super) complete: [Vec<bool>; 2],
    pub(super) computation_links: Table<Key, Arc<[Link]>>,
    pub(super) sources: Table<u32, Arc<Sources>>,
    pub(super) loop_carried: Table<(u32, u32), Arc<LoopCarried>>,
    pub(super) graphs: Table<u32, DependenceGraph>,
    /// Memory of finished propagations, to be used again.
    pub(super) spare_reached: Vec<ReachedInstructions>,
    pub(super) spare_sets: Vec<SetsByArray>,
    leaves: Vec<Leaves>,
    /// The identity on an array, by shape.
    identities: Vec<Option<MapId>>,
    orders: Table<u32, Arc<[u32]>>,
    parameters: Table<u32, Arc<[u32]>>,
    wholes: Table<(ShapeId, ShapeId), MapId>,
}

impl Propagation {
    /// Propagation through a module; `structure` classifies its opcodes.
    pub fn new(module: &Module, structure: impl Fn(&str) -> Structure) -> Self {
        let structures = module.opcodes.iter().map(|opcode| structure(opcode)).collect();
        let has_bounds = module.shapes.iter().any(|shape| shape.dynamic.contains(&true));
        Propagation { structures, has_bounds, ..Propagation::default() }
    }

    pub(super) fn structure(&self, module: &Module, row: u32) -> Structure {
        self.structures[module.instructions[row as usize].opcode as usize]
    }

    /// The shapes of the arrays of a shape, nested tuples flattened in order.
    pub fn leaves(&mut self, module: &Module, shape: ShapeId) -> Arc<[ShapeId]> {
        for id in self.leaves.len()..module.shapes.len() {
            let row = &module.shapes[id];
            if row.element != ElementType::TUPLE {
                self.leaves.push(Leaves { arrays: Arc::from([id as ShapeId]), first: Box::default() });
                continue;
            }
            let of = |e: &ShapeId| &self.leaves[*e as usize].arrays;
            let arrays = row.elements.iter().flat_map(|e| of(e).iter().copied()).collect();
            let mut first = vec![0];
            row.elements.iter().for_each(|e| first.push(first[first.len() - 1] + of(e).len() as u32));
            self.leaves.push(Leaves { arrays, first: first.into() });
        }
        self.leaves[shape as usize].arrays.clone()
    }

    /// The instructions of a computation in post-order, operands before users: those below the root, then the others.
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
        let mut parameters: Vec<u32> = (rows.first..rows.last).filter(|row| number(row) >= 0).collect();
        parameters.sort_by_key(number);
        let parameters: Arc<[u32]> = parameters.into();
        self.parameters.insert(computation, parameters.clone());
        parameters
    }

    /// States the formula of an array of an instruction; to users, the inverse formula of an operand.
    pub fn state_formula(&mut self, module: &Module, key: Key, links: Vec<Link>) {
        self.stated.add(module, &self.sets.maps, key, links);
    }

    /// Notes that an instruction has no formula: it is unstated where it is used.
    pub fn refuse_formula(&mut self, module: &Module, key: Key) {
        self.stated.refuse(module, key);
    }

    /// Sets the formula of an array of an instruction (to users, the inverse formula of its operand): for all instructions
    /// of the signature, unless it has runtime values. Normalizes the maps if they are not `simplified`.
    pub(super) fn set_formula(
        &mut self,
        module: &Module,
        (direction, row, array): Key,
        simplified: bool,
        mut links: Vec<Link>,
    ) -> Outcome<()> {
        let own = links.iter().any(|l| self.sets.maps.has_runtime_values(l.map));
        if own {
            self.note_known_elements(module, &links)?;
        }
        if own || !simplified {
            for link in &mut links {
                link.map = self.sets.maps.normalize(link.map)?;
            }
        }
        let mut formula = Vec::with_capacity(links.len());
        let near = self.domain_shapes(module, direction, row, array);
        for link in links {
            let at = if direction == Direction::ToOperands { array } else { link.leaf };
            let is_identity = match near.get(at as usize) {
                Some(shape) => self.is_identity(module, link.map, *shape)?,
                None => false, // an instruction without operands may state an inverse nevertheless
            };
            formula.push(FormulaLink { link, is_identity });
        }
        if direction == Direction::ToUsers {
            formula.sort_by_key(|f| f.link.leaf);
        }
        if own {
            self.own.insert((direction, row, array), formula.into());
        } else {
            self.set_shared_formula(module, (direction, row, array), formula.into());
        }
        Ok(())
    }

    /// Whether a map is exactly the identity on an array.
    fn is_identity(&mut self, module: &Module, map: MapId, shape: ShapeId) -> Result<bool, Error> {
        self.identities.resize(module.shapes.len(), None);
        if let Some(identity) = self.identities[shape as usize] {
            return Ok(self.sets.maps.are_plainly_equal(map, identity));
        }
        let sizes = &module.shapes[shape as usize].dimensions;
        let is_identity = self.sets.maps.is_identity(map, sizes)?;
        self.identities[shape as usize] = is_identity.then_some(map);
        Ok(is_identity)
    }

    /// Sets the formula of all instructions of the signature.
    fn set_shared_formula(&mut self, module: &Module, (direction, row, array): Key, formula: Formula) {
        let of_direction = &mut self.shared[direction as usize];
        let signature = module.instructions[row as usize].signature as usize;
        of_direction.resize_with(of_direction.len().max(module.signatures as usize), Vec::new);
        let of_signature = &mut of_direction[signature];
        of_signature.resize_with(of_signature.len().max(array as usize + 1), || None);
        of_signature[array as usize] = Some(formula);
    }

    /// For each array of an instruction that only renames arrays, the operand and the array of it.
    pub(super) fn named_arrays(&mut self, module: &Module, row: u32) -> Vec<(u32, u32)> {
        let operands = module.operands_of(row as usize);
        let opcode = OPCODES.get(module.instructions[row as usize].opcode as usize);
        let selects = opcode.is_some_and(|row| row.needs.contains(&"index"));
        let index = module.attribute(row as usize, "index").filter(|_| selects);
        let index = index.and_then(|a| module.integers(a).ok());
        let Some(index) = index.and_then(|integers| integers.first().copied()) else {
            let counts =
                operands.iter().map(|o| self.leaves(module, module.instructions[*o as usize].shape).len());
            return counts
                .enumerate()
                .flat_map(|(k, n)| (0..n as u32).map(move |leaf| (k as u32, leaf)))
                .collect();
        };
        let shape = module.instructions[operands[0] as usize].shape;
        self.leaves(module, shape);
        let first = &self.leaves[shape as usize].first;
        (first[index as usize]..first[index as usize + 1]).map(|leaf| (0, leaf)).collect()
    }

    /// Sets the formulas, in both directions, of an instruction that only renames arrays of its operands.
    pub(super) fn derive_for_names(&mut self, module: &Module, row: u32) -> Result<(), Error> {
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let operands = module.operands_of(row as usize).len();
        let mut inverses = vec![Vec::new(); operands];
        for (output, (operand, leaf)) in self.named_arrays(module, row).into_iter().enumerate() {
            let shape = &module.shapes[shapes[output] as usize];
            let mut formula = Vec::new();
            if is_bounded(module, shapes[output]) {
                let map = self.unknown_size(module, shapes[output]);
                formula.push(FormulaLink { link: Link { to: operand, leaf, map }, is_identity: false });
            } else if shape.element.is_array() {
                let identity = self.sets.maps.identity(&shape.dimensions)?;
                let map = self.sets.maps.normalize(identity)?; // 0 along dimensions of size 1
                formula.push(FormulaLink {
                    link: Link { to: operand, leaf, map },
                    is_identity: map == identity,
                });
            }
            let inverse = |f: &FormulaLink| FormulaLink { link: Link { to: output as u32, ..f.link }, ..*f };
            inverses[operand as usize].extend(formula.iter().map(inverse));
            self.set_shared_formula(module, (Direction::ToOperands, row, output as u32), formula.into());
        }
        for (operand, inverse) in inverses.into_iter().enumerate() {
            self.set_shared_formula(module, (Direction::ToUsers, row, operand as u32), inverse.into());
        }
        Ok(())
    }

    /// The unknown map to an array with a bounded dynamic dimension.
    pub(super) fn unknown_size(&mut self, module: &Module, shape: ShapeId) -> MapId {
        let mut reason = String::from("how much of ");
        write_shape(&mut reason, &module.shapes, shape);
        reason.push_str(" is in use is not known before run time");
        self.sets.maps.unknown_because(&reason)
    }

    /// The over-approximate map from each index of an array to all elements of another; unknown where a size is.
    pub fn whole(
        &mut self,
        module: &Module,
        (near, far): (ShapeId, ShapeId),
        because: &str,
    ) -> Result<MapId, Error> {
        if let Some(known) = self.wholes.get(&(near, far)) {
            if self.sets.maps.reason(self.sets.maps.map(*known).reason) == because {
                return Ok(*known);
            }
        }
        let sizes = |shape: ShapeId| module.shapes[shape as usize].dimensions.as_slice();
        let map = if sizes(near).contains(&UNBOUNDED) || sizes(far).contains(&UNBOUNDED) {
            self.sets.maps.unknown_because(UNKNOWN_SIZE)
        } else {
            self.sets.maps.whole(sizes(near), sizes(far), because)?
        };
        self.wholes.insert((near, far), map);
        Ok(map)
    }

    /// The shapes of the arrays that the maps of a formula start at.
    fn domain_shapes(
        &mut self,
        module: &Module,
        direction: Direction,
        row: u32,
        array: u32,
    ) -> Arc<[ShapeId]> {
        let near = match direction {
            Direction::ToOperands => Some(&row),
            Direction::ToUsers => module.operands_of(row as usize).get(array as usize),
        };
        let shape = near.map(|near| module.instructions[*near as usize].shape);
        shape.map_or_else(Arc::default, |shape| self.leaves(module, shape))
    }

    /// The formula, if it is known.
    pub(super) fn known_formula(&self, module: &Module, key: Key) -> Option<&Formula> {
        let (direction, row, array) = key;
        let signature = module.instructions[row as usize].signature as usize;
        let of_signature = self.shared[direction as usize].get(signature);
        let shared = of_signature.and_then(|arrays| arrays.get(array as usize)?.as_ref());
        shared.or_else(|| self.own.get(&key))
    }

    /// Whether all instructions of the signature share the formula.
    pub(super) fn is_shared(&self, key: Key) -> bool {
        !self.own.contains_key(&key)
    }
}

/// Whether an array, or an array of a buffer, has a bounded dynamic dimension.
pub(super) fn is_bounded(module: &Module, shape: ShapeId) -> bool {
    let row = &module.shapes[shape as usize];
    row.dynamic.contains(&true) || row.elements.iter().any(|e| is_bounded(module, *e))
}
