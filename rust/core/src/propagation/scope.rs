//! The formulas to be stated before maps are composed: those of all instructions that a propagation may visit, one for each
//! signature.

use crate::hlo_text::{ElementType, Module};
use crate::propagation::formulas::{Formula, Propagation};
use crate::propagation::interner::Table;
use crate::propagation::operand_map::{Direction, Key};
use crate::propagation::stated_formulas::Statement;
use crate::propagation::structure::Structure;
use std::mem::{replace, take};
use std::ops::Range;

/// Stands for all arrays of an instruction.
pub const ALL_ARRAYS: u32 = u32::MAX;
/// Marks an instruction all of whose operands have been reached.
const OPERANDS: u32 = u32::MAX - 1;

/// The number of operands that are compared at once: large tuples are the users of all their operands.
const CHUNK: usize = 32;

/// The instructions whose formulas a propagation may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One array of an instruction; to users, one operand.
    Formula(u32, u32),
    /// These instructions.
    Rows(Range<u32>),
    /// All to which an array of an instruction leads within its computation.
    From(u32, u32),
}

/// A walk through instructions, and through the computations that they call.
struct Walk<'a> {
    propagation: &'a mut Propagation,
    module: &'a Module,
    pending: Vec<(Direction, Scope)>,
    /// The signatures visited, by direction.
    signatures: [Vec<bool>; 2],
    listed: Table<Key, ()>,
    unstated: Vec<Key>,
}

impl Propagation {
    /// The formulas that must be stated before maps are composed in these scopes; where they have runtime values, more may
    /// follow once they are.
    pub fn unstated(
        &mut self,
        module: &Module,
        direction: Direction,
        scopes: impl IntoIterator<Item = Scope>,
    ) -> Vec<Key> {
        let mut pending: Vec<_> = scopes.into_iter().map(|scope| (direction, scope)).collect();
        if pending.is_empty() {
            return Vec::new();
        }
        let missing = take(&mut self.missing).into_iter();
        pending.extend(missing.map(|(direction, row, array)| (direction, Scope::Formula(row, array))));
        let (signatures, listed, unstated) = Default::default();
        let mut walk = Walk { propagation: self, module, pending, signatures, listed, unstated };
        while let Some(next) = walk.pending.pop() {
            walk.visit(next);
        }
        walk.unstated
    }

    /// The scope of the maps through a computation; `None` if they are known.
    pub fn computation_scope(&mut self, module: &Module, key: Key) -> Option<Scope> {
        let (direction, computation, array) = key;
        if self.computation_links.contains_key(&key) {
            return None;
        }
        Some(match direction {
            Direction::ToOperands => Scope::From(module.computations[computation as usize].root, array),
            Direction::ToUsers => {
                Scope::From(self.parameters(module, computation)[array as usize], ALL_ARRAYS)
            }
        })
    }
}

impl Walk<'_> {
    fn visit(&mut self, (direction, scope): (Direction, Scope)) {
        match scope {
            Scope::Formula(row, array) => self.visit_formula((direction, row, array)),
            Scope::Rows(rows) => rows.for_each(|row| self.visit_instruction(direction, row)),
            Scope::From(row, array) if !self.is_reached((direction, row, array)) => match direction {
                _ if array == ALL_ARRAYS => self.reach_all_arrays(direction, row),
                Direction::ToOperands => self.visit_operands(row, array),
                Direction::ToUsers => self.visit_users(row, array),
            },
            Scope::From(..) => {}
        }
    }

    /// Whether an array had been reached before.
    fn is_reached(&mut self, key: Key) -> bool {
        let (direction, row, array) = key;
        let first = &mut self.propagation.walked_first[direction as usize];
        match array {
            0 => {
                first.resize(self.module.instructions.len(), false);
                replace(&mut first[row as usize], true)
            }
            _ => self.propagation.walked.insert(key, ()).is_some(),
        }
    }

    fn reach(&mut self, direction: Direction, row: u32, array: u32) {
        let shape = self.module.instructions[row as usize].shape;
        let is_tuple = self.module.shapes[shape as usize].element == ElementType::TUPLE;
        let array = if is_tuple { array } else { 0 };
        self.pending.push((direction, Scope::From(row, array)));
    }

    fn reach_all_arrays(&mut self, direction: Direction, row: u32) {
        let count = self.propagation.formula_count(self.module, Direction::ToOperands, row);
        (0..count).for_each(|array| self.reach(direction, row, array));
    }

    /// Visits the formula of an array, and reaches the arrays of operands that it may read.
    fn visit_operands(&mut self, row: u32, array: u32) {
        let key = (Direction::ToOperands, row, array);
        self.visit_formula(key);
        let operands = self.module.operands_of(row as usize);
        if let Some(formula) = self.known_formula(key) {
            let links = formula.iter().map(|f| f.link);
            links.for_each(|l| self.reach(Direction::ToOperands, operands[l.to as usize], l.leaf));
        } else if !self.is_reached((Direction::ToOperands, row, OPERANDS)) {
            operands.iter().for_each(|o| self.reach(Direction::ToOperands, *o, ALL_ARRAYS));
        }
    }

    /// Visits the formulas of all that may read an array, and reaches their results.
    fn visit_users(&mut self, row: u32, array: u32) {
        let module = self.module;
        for user in module.users_of(row as usize) {
            let (operands, firsts) = (module.operands_of(*user as usize), (0..).step_by(CHUNK));
            let chunks = operands.chunks(CHUNK).zip(firsts).filter(|(chunk, _)| chunk.contains(&row));
            let operands = chunks.flat_map(|(chunk, first)| chunk.iter().zip(first..));
            for (_, k) in operands.filter(|(operand, _)| **operand == row) {
                let key = (Direction::ToUsers, *user, k);
                self.visit_formula(key);
                match self.known_formula(key) {
                    Some(formula) => {
                        let first = formula.partition_point(|f| f.link.leaf < array);
                        let links = formula[first..].iter().map(|f| f.link);
                        let links = links.take_while(|l| l.leaf == array);
                        links.for_each(|l| self.reach(Direction::ToUsers, *user, l.to));
                    }
                    None => self.reach(Direction::ToUsers, *user, ALL_ARRAYS),
                }
            }
        }
    }

    /// The formula of a key, if it is known, or follows from what needs no statement.
    fn known_formula(&mut self, key: Key) -> Option<Formula> {
        match self.propagation.structure(self.module, key.1) {
            Structure::Alias | Structure::Loops => self.propagation.formula_of(self.module, key).ok(),
            _ => self.propagation.known_formula(self.module, key).cloned(),
        }
    }

    /// Visits all formulas of an instruction, unless those of its signature are known not to depend on it.
    fn visit_instruction(&mut self, direction: Direction, row: u32) {
        let instruction = &self.module.instructions[row as usize];
        let seen = &mut self.signatures[direction as usize];
        seen.resize(self.module.signatures as usize, false);
        let is_seen = replace(&mut seen[instruction.signature as usize], true);
        if is_seen && !self.propagation.stated.have_values(self.module, direction, row) {
            return;
        }
        if self.propagation.reads_nothing(self.module, direction, row) {
            return;
        }
        for array in 0..self.propagation.formula_count(self.module, direction, row) {
            self.visit_formula((direction, row, array));
        }
    }

    fn visit_formula(&mut self, key: Key) {
        let (direction, row, _) = key;
        let (propagation, module) = (&mut *self.propagation, self.module);
        if propagation.known_formula(module, key).is_some()
            || propagation.reads_nothing(module, direction, row)
            || propagation.shape_of_unknown_size(module, key).is_some()
        {
            return;
        }
        let structure = propagation.structure(module, row);
        if structure.is_stated() {
            return self.visit_stated(key);
        }
        for (computation, parameter) in self.called(key) {
            let scope = self.propagation.computation_scope(module, (direction, computation, parameter));
            self.pending.extend(scope.map(|scope| (direction, scope)));
        }
    }

    /// The computations that a formula leads through, each with the formula's array, or the parameter for its operand.
    fn called(&self, (direction, row, array): Key) -> Vec<(u32, u32)> {
        let called = self.module.calls_of(row as usize).map(|(_, computation)| computation);
        match (self.propagation.structure(self.module, row), direction) {
            (Structure::Starts, Direction::ToOperands) => called.take(1).map(|c| (c, ALL_ARRAYS)).collect(),
            (Structure::Calls | Structure::Starts, _) => called.take(1).map(|c| (c, array)).collect(),
            (Structure::Branches, Direction::ToOperands) => called.map(|c| (c, array)).collect(),
            (Structure::Branches, Direction::ToUsers) if array > 0 => {
                called.skip(array as usize - 1).take(1).map(|c| (c, 0)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Visits a formula that is stated, and those of the instructions that move elements to what its runtime values read.
    fn visit_stated(&mut self, key: Key) {
        match self.propagation.stated.statement(self.module, key) {
            Statement::Refused => {}
            Statement::Missing => {
                self.propagation.missing.push(key);
                let signature = self.module.instructions[key.1 as usize].signature;
                if self.listed.insert((key.0, signature, key.2), ()).is_none() {
                    self.unstated.push(key);
                }
            }
            Statement::Stated(reads) => {
                for read in reads {
                    let rows = self.propagation.rows_to_source(self.module, read).unwrap_or_default();
                    for row in rows.iter().take(rows.len().saturating_sub(1)) {
                        self.visit_formula((Direction::ToOperands, *row, 0));
                    }
                }
            }
        }
    }
}
