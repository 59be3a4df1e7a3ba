//! `_core.Propagation`: the maps of a module's instructions, which Python states and reads and the core composes.
//!
//! The core works without Python. A method that needs formulas that have not been stated raises `Unstated`, which lists them;
//! Python states them all, and asks again.

use crate::error::{guarded, Raise};
use crate::forks::Shared;
use crate::hlo::{in_table, HloModule};
use crate::objects::Any;
use crate::operand_maps::Objects;
use indexing_core::{
    ArraySets, Direction, Key, Link, Module, Propagation, PropagationError, Scope, Structure,
};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3::PyTraverseError;
use std::collections::HashMap;
use std::mem::take;

create_exception!(
    indexing._core,
    Unstated,
    PyException,
    "Formulas that have to be stated: a list of `(inverse, (row, array))`, and whether they are used for sure."
);

/// The known maps of a module, one caller at a time.
#[pyclass(name = "Propagation", frozen, module = "indexing._core")]
pub struct PyPropagation {
    module: Py<HloModule>,
    propagation: Shared<Propagation>,
    objects: Objects,
}

fn direction(inverse: bool) -> Direction {
    match inverse {
        true => Direction::ToUsers,
        false => Direction::ToOperands,
    }
}

fn unstated(keys: Vec<Key>, are_used: bool) -> PyErr {
    let inverse = |d: Direction| d == Direction::ToUsers;
    let keys: Vec<(bool, (u32, u32))> =
        keys.into_iter().map(|(d, row, array)| (inverse(d), (row, array))).collect();
    Unstated::new_err((keys, are_used))
}

impl PyPropagation {
    /// Run `f` without the GIL.
    fn released<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Propagation, &Module) -> R + Send,
    ) -> PyResult<R> {
        let module = self.module.get().tables();
        guarded(py, || py.detach(|| f(&mut self.propagation.lock(), module)))
    }

    /// Refuse a row that the module has not.
    fn check_row(&self, row: u32) -> PyResult<()> {
        in_table(row as usize, self.module.get().tables().instructions.len()).map(|_| ())
    }

    /// Refuse a computation that the module has not.
    fn check_computation(&self, computation: u32) -> PyResult<()> {
        in_table(computation as usize, self.module.get().tables().computations.len()).map(|_| ())
    }

    /// Refuse numbers that no set of maps has.
    fn check_sets(&self, py: Python<'_>, numbers: impl IntoIterator<Item = u32>) -> PyResult<()> {
        let count = self.propagation.briefly(py, |propagation| propagation.sets.count() as usize);
        numbers.into_iter().try_for_each(|number| in_table(number as usize, count).map(|_| ()))
    }

    /// Run `f` without the GIL, once the formulas in a scope are stated.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        inverse: bool,
        scopes: impl FnOnce(&mut Propagation, &Module) -> Vec<Scope> + Send,
        f: impl FnOnce(&mut Propagation, &Module) -> Result<R, PropagationError> + Send,
    ) -> PyResult<R> {
        let outcome = self.released(py, |propagation, module| {
            let scopes = scopes(propagation, module);
            match propagation.unstated(module, direction(inverse), scopes) {
                keys if keys.is_empty() => Ok(f(propagation, module)),
                keys => Err(keys),
            }
        })?;
        match outcome {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(PropagationError::Unstated(key))) => Err(unstated(vec![key], true)),
            Ok(Err(PropagationError::Invalid(error))) => Err(error).raise(py),
            Err(keys) => Err(unstated(keys, false)),
        }
    }
}

#[pymethods]
impl PyPropagation {
    /// `structures` says of opcodes what follows from the program's structure: see [`Structure`]. `views` makes the objects
    /// that maps are given as.
    #[new]
    fn new(module: Py<HloModule>, structures: HashMap<String, String>, views: Any<'_>) -> PyResult<Self> {
        for name in structures.values() {
            let message = || PyValueError::new_err(format!("{name:?} names no structure"));
            Structure::named(name).ok_or_else(message)?;
        }
        let structure = |opcode: &str| structures.get(opcode).and_then(|name| Structure::named(name));
        let propagation =
            Propagation::new(module.get().tables(), |opcode| structure(opcode).unwrap_or_default());
        Ok(PyPropagation { module, propagation: Shared::new(propagation), objects: Objects::new(views) })
    }

    /// State the formula of an array of an instruction (inverse: of an operand): a list of maps for each operand (inverse:
    /// output), or None if the instruction has none.
    fn state(
        &self,
        py: Python<'_>,
        inverse: bool,
        at: (u32, u32),
        formula: Option<Vec<Vec<Any<'_>>>>,
    ) -> PyResult<()> {
        self.check_row(at.0)?;
        let key = (direction(inverse), at.0, at.1);
        let links = formula.map(|lists| self.objects.read_links(&lists)).transpose()?;
        self.released(py, |propagation, module| {
            let Some(links) = links else { return propagation.refuse_formula(module, key) };
            let maps = &mut propagation.sets.maps;
            let links = links.into_iter().map(|(to, leaf, data)| Link { to, leaf, map: data.add_to(maps) });
            let links = links.collect();
            propagation.state_formula(module, key, links);
        })
    }

    /// Derive all formulas of the instructions in these rows, to be read later. Returns for each instruction its signature,
    /// or -1 - row where it shares its formulas with no other. Stops at the first error; raises it if no row came before.
    fn find_formulas(&self, py: Python<'_>, inverse: bool, first: u32, last: u32) -> PyResult<Vec<i64>> {
        in_table(last as usize, self.module.get().tables().instructions.len() + 1)?;
        self.run(
            py,
            inverse,
            |_, _| vec![Scope::Rows(first..last)],
            |propagation, module| {
                let mut signatures = Vec::new();
                match propagation.find_formulas(module, direction(inverse), first..last, &mut signatures) {
                    Err(error) if signatures.is_empty() => Err(error),
                    _ => Ok(signatures),
                }
            },
        )
    }

    /// The formula of an array of an instruction (inverse: of an operand): the maps to each array that it leads to.
    fn formula<'py>(&self, py: Python<'py>, inverse: bool, at: (u32, u32)) -> PyResult<Bound<'py, PyDict>> {
        self.check_row(at.0)?;
        let key = (direction(inverse), at.0, at.1);
        let module = self.module.get().tables();
        let known = self.propagation.briefly(py, |propagation| propagation.known_links(module, key));
        let find = || {
            let scope = vec![Scope::Formula(key.1, key.2)];
            self.run(py, inverse, |_, _| scope, |propagation, module| propagation.formula(module, key))
        };
        let links = known.map_or_else(find, Ok)?;
        self.objects.grouped(py, &self.propagation, &links)
    }

    /// The maps through a computation: from array `at[1]` of its root to each parameter that it leads to, or inverse from
    /// that parameter to each array.
    fn computation_indexing<'py>(
        &self,
        py: Python<'py>,
        inverse: bool,
        at: (u32, u32),
        arguments: Vec<Any<'py>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.check_computation(at.0)?;
        let arguments: Vec<u32> =
            arguments.iter().map(|i| self.objects.number(i)).collect::<PyResult<_>>()?;
        let key = (direction(inverse), at.0, at.1);
        let links = self.run(
            py,
            inverse,
            |propagation, module| propagation.computation_scope(module, key).into_iter().collect(),
            |propagation, module| propagation.call_indexing(module, key, &arguments),
        )?;
        self.objects.grouped(py, &self.propagation, &links)
    }

    /// The set of the identity on array `output` of an instruction.
    fn identity(&self, py: Python<'_>, row: u32, output: u32) -> PyResult<u32> {
        self.check_row(row)?;
        let module = self.module.get().tables();
        let shape = module.instructions[row as usize].shape;
        let shapes = self.released(py, |propagation, module| propagation.leaves(module, shape))?;
        let array = shapes[in_table(output as usize, shapes.len())?];
        let sizes = &module.shapes[array as usize].dimensions;
        let set = self.released(py, |propagation, _| propagation.sets.identity(sizes))?;
        set.raise(py)
    }

    /// The union of two sets of maps.
    fn union(&self, py: Python<'_>, one: u32, other: u32) -> PyResult<u32> {
        self.check_sets(py, [one, other])?;
        let set = self.released(py, |propagation, _| propagation.sets.union_composed(one, other, None))?;
        set.raise(py)
    }

    /// The maps of a set, to array `leaf`.
    fn maps<'py>(&self, py: Python<'py>, map_set: u32, leaf: u32) -> PyResult<Bound<'py, PyList>> {
        self.check_sets(py, [map_set])?;
        let maps = self.propagation.briefly(py, |propagation| propagation.sets.maps_of(map_set).to_vec());
        let objects = maps.iter().map(|map| self.objects.object(py, &self.propagation, (*map, leaf)));
        PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)
    }

    /// Propagate sets of maps of a computation's arrays to the operands of instructions, in order: users before operands.
    fn propagate(
        &self,
        py: Python<'_>,
        computation: u32,
        given: Vec<(u32, ArraySets)>,
        order: Vec<u32>,
    ) -> PyResult<Vec<(u32, ArraySets)>> {
        self.check_computation(computation)?;
        given.iter().map(|(row, _)| row).chain(&order).try_for_each(|row| self.check_row(*row))?;
        self.check_sets(py, given.iter().flat_map(|(_, arrays)| arrays).map(|(_, number)| *number))?;
        self.run(
            py,
            false,
            |_, _| order.iter().map(|row| Scope::Rows(*row..row + 1)).collect(),
            |propagation, module| propagation.propagate(module, computation, &given, &order),
        )
    }

    /// The sets of maps from array `leaf` of an instruction to the arrays of `target`, which depends on it.
    fn propagate_to(&self, py: Python<'_>, start: u32, leaf: u32, target: u32) -> PyResult<ArraySets> {
        self.check_row(start)?;
        self.check_row(target)?;
        self.run(
            py,
            true,
            |_, _| vec![Scope::From(start, leaf)],
            |propagation, module| {
                let order = propagation.post_order(module, module.instructions[start as usize].computation);
                let mut reached = propagation.propagate_to_users(module, &order, (start, leaf))?;
                Ok(take(reached.arrays(target)))
            },
        )
    }

    /// Compose `second` after `first`.
    fn compose<'py>(&self, first: &Any<'py>, second: &Any<'py>) -> PyResult<Any<'py>> {
        let py = first.py();
        let (one, other) = (self.objects.read(first)?, self.objects.read(second)?);
        let composed = self.released(py, |propagation, _| {
            let maps = &mut propagation.sets.maps;
            let (one, other) = (one.add_to(maps), other.add_to(maps));
            maps.compose(one, other)
        })?;
        let set = composed.raise(py)?;
        let leaf = second.getattr("leaf")?.extract()?;
        self.objects.object(py, &self.propagation, (set, leaf))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.objects.traverse(&visit)
    }
}
