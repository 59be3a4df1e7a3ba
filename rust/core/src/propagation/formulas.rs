//! The formulas of instructions, as they are put in by whoever knows them; and what is asked of a module again and again.

use crate::error::Error;
use crate::hlo_text::{write_shape, ElementType, Module, ShapeId, UNBOUNDED};
use crate::propagation::found::FoundMaps;
use crate::propagation::interner::Table;
use crate::propagation::needs::{Lists, Needs};
use crate::propagation::operand_map::{MapId, OperandMaps, Values};
use crate::propagation::reached::Reached;
use crate::propagation::sources::{Carried, Sources};
use crate::propagation::structure::Structure;
use std::sync::Arc;

/// The reason why a map to all of an array is unknown.
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

/// The arrays of a shape.
#[derive(Debug)]
struct Leaves {
    /// Their shapes.
    arrays: Arc<[ShapeId]>,
    /// Of a tuple, for each element the number of its first array; then the number of all.
    first: Box<[u32]>,
}

/// The questions that the core asks of whoever knows the formulas: they are put into the [`Propagation`] by [`Propagation::state`].
pub trait Formulas: Values {
    /// The formula of array `output` of an instruction is needed.
    fn formula(&mut self, found: &mut Propagation, row: u32, output: u32) -> Result<(), Self::Error>;
    /// The inverse formula of an operand of an instruction is needed.
    fn inverse(&mut self, found: &mut Propagation, row: u32, operand: u32) -> Result<(), Self::Error>;
}

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
pub(super) type Key = (Direction, u32, u32);

/// All that is known of a module's maps.
#[derive(Default)]
pub struct Propagation {
    /// The maps, and lists of them.
    pub found: FoundMaps,
    structures: Vec<Structure>,
    /// Formulas of all instructions of a signature: by direction, signature and array.
    shared: [Vec<Vec<Option<Formula>>>; 2],
    /// By row, where formulas name instructions.
    own: Table<Key, Formula>,
    /// Of which row it was stated, and the links, where they name operands alone: others of the signature name theirs.
    stated: Table<Key, (u32, Arc<[Link]>)>,
    /// Signatures all of whose formulas are shared and known.
    pub(super) complete: [Vec<bool>; 2],
    pub(super) through: Table<Key, Arc<[Link]>>,
    pub(super) sources: Table<u32, Arc<Sources>>,
    pub(super) carried: Table<(u32, u32), Arc<Carried>>,
    pub(super) needs: Table<u32, Needs>,
    /// Memory of walks that have ended.
    pub(super) spare: Vec<Reached>,
    pub(super) spare_lists: Vec<Lists>,
    leaves: Vec<Leaves>,
    /// By shape, the map of an array to itself.
    identities: Vec<Option<MapId>>,
    orders: Table<u32, Arc<[u32]>>,
    parameters: Table<u32, Arc<[u32]>>,
    wholes: Table<(ShapeId, ShapeId), MapId>,
}

impl Propagation {
    /// Nothing known yet of a module whose opcodes have these structures.
    pub fn new(module: &Module, structure: impl Fn(&str) -> Structure) -> Self {
        let structures = module.opcodes.iter().map(|opcode| structure(opcode)).collect();
        Propagation { structures, ..Propagation::default() }
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

    /// Keep the formula of an array of an instruction (or of its operand, inverted): for all of its signature, unless it names
    /// instructions. Maps that are not `simplified` become so.
    pub fn state<V: Values>(
        &mut self,
        module: &Module,
        values: &mut V,
        (direction, row, array): (Direction, u32, u32),
        simplified: bool,
        mut links: Vec<Link>,
    ) -> Result<(), V::Error> {
        let own = links.iter().any(|l| self.found.maps.names_instructions(l.map));
        if own || !simplified {
            for link in &mut links {
                link.map = self.found.maps.finish(values, link.map)?;
            }
        }
        let mut formula = Vec::with_capacity(links.len());
        let near = self.near(module, direction, row, array);
        for link in links {
            let at = if direction == Direction::ToOperands { array } else { link.leaf };
            let same = match near.get(at as usize) {
                Some(shape) => self.changes_nothing(module, link.map, *shape)?,
                None => false, // what has no operands may state an inverse nevertheless
            };
            formula.push(Followed { link, same });
        }
        if direction == Direction::ToUsers {
            formula.sort_by_key(|f| f.link.leaf);
        }
        if own {
            self.own.insert((direction, row, array), formula.into());
        } else {
            self.put(module, (direction, row, array), formula.into());
        }
        Ok(())
    }

    /// Does a map lead from each element of an array to itself, and is that all there is to say?
    fn changes_nothing(&mut self, module: &Module, map: MapId, shape: ShapeId) -> Result<bool, Error> {
        self.identities.resize(module.shapes.len(), None);
        if let Some(identity) = self.identities[shape as usize] {
            return Ok(self.found.maps.are_plainly_equal(map, identity));
        }
        let sizes = &module.shapes[shape as usize].dimensions;
        let found = self.found.maps.changes_nothing(map, sizes)?;
        self.identities[shape as usize] = found.then_some(map);
        Ok(found)
    }

    /// Note what is stated for a row, before anything is known of it, if all that it names are operands, each of them once.
    pub fn note_stated(&mut self, module: &Module, (direction, row, array): Key, links: &[Link]) {
        let operands = module.operands_of(row as usize);
        let (mut named, maps) = (Vec::new(), &self.found.maps);
        links.iter().for_each(|l| named_instructions(maps, l.map, &mut named));
        let is_once = |i: &u32| operands.iter().filter(|o| *o == i).count() == 1;
        let is_plain = self.structure(module, row) == Structure::None;
        if is_plain && !named.is_empty() && named.iter().all(is_once) {
            let signature = module.instructions[row as usize].signature;
            self.stated.insert((direction, signature, array), (row, links.into()));
        }
    }

    /// The links that were stated for another instruction of the signature, naming the operands of this one.
    pub(super) fn stated(&mut self, module: &Module, (direction, row, array): Key) -> Option<Vec<Link>> {
        let signature = module.instructions[row as usize].signature;
        let (other, links) = self.stated.get(&(direction, signature, array))?;
        let (mut links, theirs) = (links.to_vec(), module.operands_of(*other as usize));
        let operands = module.operands_of(row as usize);
        let place = |i: u32| theirs.iter().position(|o| *o == i).map_or(i, |k| operands[k]);
        links.iter_mut().for_each(|l| l.map = self.found.maps.with_instructions(l.map, &place));
        Some(links)
    }

    /// Keep a formula for all instructions of the signature.
    fn put(&mut self, module: &Module, (direction, row, array): Key, formula: Formula) {
        let of_direction = &mut self.shared[direction as usize];
        let signature = module.instructions[row as usize].signature as usize;
        of_direction.resize_with(of_direction.len().max(module.signatures as usize), Vec::new);
        let of_signature = &mut of_direction[signature];
        of_signature.resize_with(of_signature.len().max(array as usize + 1), || None);
        of_signature[array as usize] = Some(formula);
    }

    /// Of an instruction whose arrays are arrays of its operands: of each its operand's number and which array of that.
    pub(super) fn named_arrays(&mut self, module: &Module, row: u32) -> Vec<(u32, u32)> {
        let operands = module.operands_of(row as usize);
        let index = module.attribute(row as usize, "index").and_then(|a| module.integers(a).ok());
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

    /// Keep the formulas, both ways, of an instruction whose arrays are arrays of its operands.
    pub(super) fn put_names<V: Values>(
        &mut self,
        module: &Module,
        values: &mut V,
        row: u32,
    ) -> Result<(), V::Error> {
        let shapes = self.leaves(module, module.instructions[row as usize].shape);
        let operands = module.operands_of(row as usize).len();
        let mut inverses = vec![Vec::new(); operands];
        for (output, (operand, leaf)) in self.named_arrays(module, row).into_iter().enumerate() {
            let shape = &module.shapes[shapes[output] as usize];
            let mut formula = Vec::new();
            if is_bounded(module, shapes[output]) {
                let map = self.unknown_size(module, shapes[output]);
                formula.push(Followed { link: Link { to: operand, leaf, map }, same: false });
            } else if shape.element.is_array() {
                let identity = self.found.maps.identity(&shape.dimensions)?;
                let map = self.found.maps.finish(values, identity)?; // of a single element 0, not the index
                formula.push(Followed { link: Link { to: operand, leaf, map }, same: map == identity });
            }
            let inverse = |f: &Followed| Followed { link: Link { to: output as u32, ..f.link }, ..*f };
            inverses[operand as usize].extend(formula.iter().map(inverse));
            self.put(module, (Direction::ToOperands, row, output as u32), formula.into());
        }
        for (operand, inverse) in inverses.into_iter().enumerate() {
            self.put(module, (Direction::ToUsers, row, operand as u32), inverse.into());
        }
        Ok(())
    }

    /// The map about which nothing is known since the array's size is only known as a bound.
    pub(super) fn unknown_size(&mut self, module: &Module, shape: ShapeId) -> MapId {
        let mut reason = String::from("how much of ");
        write_shape(&mut reason, &module.shapes, shape);
        reason.push_str(" is in use is not known before run time");
        self.found.maps.unknown_because(&reason)
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

    pub(super) fn known_formula(&self, module: &Module, key: Key) -> Option<Formula> {
        let (direction, row, array) = key;
        let signature = module.instructions[row as usize].signature as usize;
        let of_signature = self.shared[direction as usize].get(signature);
        let shared = of_signature.and_then(|arrays| arrays.get(array as usize)?.as_ref());
        shared.or_else(|| self.own.get(&key)).cloned()
    }

    /// Whether the formula is that of all instructions of the signature.
    pub(super) fn is_shared(&self, key: Key) -> bool {
        !self.own.contains_key(&key)
    }
}

/// Add the instructions that give the runtime values of a map, and of its pieces.
fn named_instructions(maps: &OperandMaps, id: MapId, out: &mut Vec<u32>) {
    out.extend(maps.form_of(id).values.iter().map(|v| v.instruction));
    maps.map(id).pieces.iter().flatten().for_each(|p| named_instructions(maps, *p, out));
}

/// Whether some size of an array, or of the arrays of a buffer, is only known as a bound.
pub(super) fn is_bounded(module: &Module, shape: ShapeId) -> bool {
    let row = &module.shapes[shape as usize];
    row.dynamic.contains(&true) || row.elements.iter().any(|e| is_bounded(module, *e))
}
