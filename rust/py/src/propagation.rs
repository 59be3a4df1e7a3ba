//! `_core.Propagation`: the maps of a module's instructions, which the core composes and Python states and reads.

use crate::error::{guarded, Raised};
use crate::expr::PyExpr;
use crate::hlo::{in_table, HloModule};
use crate::operand_maps::Objects;
use indexing_core::{
    ArraySets, Dag, Direction, Formulas, KnownValue, Link, Module, Propagation, Structure, Values,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::PyTraverseError;
use std::collections::HashMap;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The known maps of a module. One thread at a time; its methods may be called from the formulas that they ask for.
///
/// `asked` is what knows the formulas: an object with the methods of `_Formulas`.
#[pyclass(name = "Propagation", frozen, module = "indexing._core")]
pub struct PyPropagation {
    module: Py<HloModule>,
    state: Mutex<Option<State>>,
}

#[derive(Default)]
struct State {
    propagation: Propagation,
    objects: Objects,
}

type Outcome<T> = Result<T, Raised>;

/// Python, which is asked, and the objects made for it.
pub struct Asked<'a, 'py> {
    owner: &'a PyPropagation,
    formulas: &'a Bound<'py, PyAny>,
    pub objects: Objects,
}

impl Asked<'_, '_> {
    /// Call Python, which may call the owner again.
    fn call(&mut self, propagation: &mut Propagation, name: &str, at: (u32, u32)) -> PyResult<()> {
        self.owner.give_back(State { propagation: take(propagation), objects: take(&mut self.objects) });
        let outcome = self.formulas.call_method1(name, at);
        let state = self.owner.taken()?;
        (*propagation, self.objects) = (state.propagation, state.objects);
        outcome.map(|_| ())
    }
}

impl Values for Asked<'_, '_> {
    type Error = Raised;

    fn may_be_known(&mut self, instruction: u32) -> Outcome<bool> {
        if let Some(known) = self.objects.may_be_known.get(&instruction) {
            return Ok(*known);
        }
        let view = self.objects.instruction(self.formulas, instruction)?;
        let found = self.formulas.call_method1("may_be_known", (view,))?.extract()?;
        self.objects.may_be_known.insert(instruction, found);
        Ok(found)
    }

    fn known(&mut self, instruction: u32, index: &[Dag]) -> Outcome<Option<KnownValue>> {
        let view = self.objects.instruction(self.formulas, instruction)?;
        let index: Vec<PyExpr> = index.iter().map(|e| PyExpr(e.clone())).collect();
        let found = self.formulas.call_method1("known", (view, index))?;
        if found.is_none() {
            return Ok(None);
        }
        Ok(Some(match found.downcast::<PyExpr>() {
            Ok(e) => KnownValue::Expression(e.get().0.clone()),
            Err(_) => KnownValue::Integer(found.extract()?),
        }))
    }
}

impl Formulas for Asked<'_, '_> {
    fn formula(&mut self, propagation: &mut Propagation, row: u32, output: u32) -> Outcome<()> {
        Ok(self.call(propagation, "formula", (row, output))?)
    }

    fn inverse(&mut self, propagation: &mut Propagation, row: u32, operand: u32) -> Outcome<()> {
        Ok(self.call(propagation, "inverse", (row, operand))?)
    }
}

impl PyPropagation {
    fn locked(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken(&self) -> PyResult<State> {
        self.locked().take().ok_or_else(|| PyRuntimeError::new_err("Propagation: another thread is using it"))
    }

    fn give_back(&self, state: State) {
        *self.locked() = Some(state);
    }

    /// Run `f` with all that is known, and Python to ask.
    fn with<'py, R>(
        &self,
        asked: &Bound<'py, PyAny>,
        f: impl FnOnce(&mut Propagation, &Module, &mut Asked<'_, 'py>) -> Outcome<R>,
    ) -> PyResult<R> {
        let State { mut propagation, objects } = self.taken()?;
        let mut python = Asked { owner: self, formulas: asked, objects };
        let outcome = guarded(asked.py(), || f(&mut propagation, self.module.get().tables(), &mut python));
        self.give_back(State { propagation, objects: python.objects });
        outcome?.map_err(|e| e.into_python(asked.py()))
    }
}

/// Refuses a row that the module has not.
fn known_row(module: &Module, row: u32) -> PyResult<()> {
    in_table(row as usize, module.instructions.len()).map(|_| ())
}

/// Refuses a number that no set of maps has.
fn known_set(propagation: &Propagation, number: u32) -> PyResult<()> {
    in_table(number as usize, propagation.sets.count() as usize).map(|_| ())
}

fn direction(inverse: bool) -> Direction {
    if inverse {
        Direction::ToUsers
    } else {
        Direction::ToOperands
    }
}

#[pymethods]
impl PyPropagation {
    /// `structures` says of opcodes what follows from the program's structure: see [`Structure`].
    #[new]
    fn new(module: Py<HloModule>, structures: HashMap<String, String>) -> PyResult<Self> {
        for name in structures.values() {
            let message = || PyValueError::new_err(format!("{name:?} names no structure"));
            Structure::named(name).ok_or_else(message)?;
        }
        let structure = |opcode: &str| structures.get(opcode).and_then(|name| Structure::named(name));
        let propagation =
            Propagation::new(module.get().tables(), |opcode| structure(opcode).unwrap_or_default());
        let state = State { propagation, ..State::default() };
        Ok(PyPropagation { module, state: Mutex::new(Some(state)) })
    }

    /// Set a formula: for each operand (inverse: output) its maps.
    fn set_formula(
        &self,
        asked: &Bound<'_, PyAny>,
        inverse: bool,
        at: (u32, u32),
        simplified: bool,
        parts: Vec<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        self.with(asked, |propagation, module, python| {
            known_row(module, at.0)?;
            let mut links = Vec::new();
            for (to, part) in parts.iter().enumerate() {
                for m in part {
                    let (map, leaf) = python.objects.read(python.formulas, &mut propagation.sets.maps, m)?;
                    links.push(Link { to: to as u32, leaf, map });
                }
            }
            let key = (direction(inverse), at.0, at.1);
            propagation.note_for_signature(module, key, &links);
            propagation.set_formula(module, python, key, simplified, links)
        })
    }

    /// Derive all formulas of the instructions in these rows, to be read later. Returns for each instruction its signature,
    /// or -1 - row where it shares its formulas with no other. Stops at the first error; raises it if no row came before.
    fn find_formulas(
        &self,
        asked: &Bound<'_, PyAny>,
        inverse: bool,
        first: u32,
        last: u32,
    ) -> PyResult<Vec<i64>> {
        self.with(asked, |propagation, module, python| {
            let mut found = Vec::new();
            in_table(last as usize, module.instructions.len() + 1)?;
            match propagation.find_formulas(module, python, direction(inverse), first..last, &mut found) {
                Err(error) if found.is_empty() => Err(error),
                _ => Ok(found),
            }
        })
    }

    /// The formula of an array of an instruction (inverse: of an operand), as `count` lists.
    fn formula<'py>(
        &self,
        asked: &Bound<'py, PyAny>,
        inverse: bool,
        at: (u32, u32),
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        self.with(asked, |propagation, module, python| {
            known_row(module, at.0)?;
            let links = propagation.formula(module, python, (direction(inverse), at.0, at.1))?;
            python.objects.grouped(asked, &propagation.sets.maps, &links, count)
        })
    }

    /// The maps through a computation: from array `at[1]` of its root, or inverse from that parameter.
    fn computation_indexing<'py>(
        &self,
        asked: &Bound<'py, PyAny>,
        inverse: bool,
        at: (u32, u32),
        arguments: Vec<Bound<'py, PyAny>>,
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        self.with(asked, |propagation, module, python| {
            in_table(at.0 as usize, module.computations.len())?;
            let numbers = arguments.iter().map(|i| python.objects.number(asked, i));
            let arguments = numbers.collect::<PyResult<Vec<u32>>>()?;
            let links =
                propagation.call_indexing(module, python, (direction(inverse), at.0, at.1), &arguments)?;
            python.objects.grouped(asked, &propagation.sets.maps, &links, count)
        })
    }

    /// The set of the identity on array `output` of an instruction.
    fn identity(&self, asked: &Bound<'_, PyAny>, row: u32, output: u32) -> PyResult<u32> {
        self.with(asked, |propagation, module, _| {
            known_row(module, row)?;
            let shapes = propagation.leaves(module, module.instructions[row as usize].shape);
            let array = shapes[in_table(output as usize, shapes.len())?];
            let sizes = &module.shapes[array as usize].dimensions;
            Ok(propagation.sets.identity(sizes)?)
        })
    }

    /// The union of two sets of maps.
    fn union(&self, asked: &Bound<'_, PyAny>, one: u32, other: u32) -> PyResult<u32> {
        self.with(asked, |propagation, _, python| {
            known_set(propagation, one)?;
            known_set(propagation, other)?;
            propagation.sets.union_composed(python, one, other, None)
        })
    }

    /// The maps of a set, to array `leaf`.
    fn maps<'py>(&self, asked: &Bound<'py, PyAny>, map_set: u32, leaf: u32) -> PyResult<Bound<'py, PyList>> {
        self.with(asked, |propagation, _, python| {
            known_set(propagation, map_set)?;
            let list = propagation.sets.maps_of(map_set).iter();
            let links: Vec<Link> = list.map(|map| Link { to: 0, leaf, map: *map }).collect();
            let groups = python.objects.grouped(asked, &propagation.sets.maps, &links, 1)?;
            Ok(groups.get_item(0)?.downcast_into().map_err(PyErr::from)?)
        })
    }

    /// Propagate sets of maps of a computation's arrays to the operands of instructions, in order: users before operands.
    fn propagate(
        &self,
        asked: &Bound<'_, PyAny>,
        computation: u32,
        given: Vec<(u32, ArraySets)>,
        order: Vec<u32>,
    ) -> PyResult<Vec<(u32, ArraySets)>> {
        self.with(asked, |propagation, module, python| {
            in_table(computation as usize, module.computations.len())?;
            let rows = given.iter().map(|(row, _)| row).chain(&order);
            rows.into_iter().try_for_each(|row| known_row(module, *row))?;
            let sets = given.iter().flat_map(|(_, arrays)| arrays);
            sets.into_iter().try_for_each(|(_, number)| known_set(propagation, *number))?;
            propagation.propagate(module, python, computation, &given, &order)
        })
    }

    /// The sets of maps from array `leaf` of an instruction to the arrays of `target`, which depends on it.
    fn propagate_to(
        &self,
        asked: &Bound<'_, PyAny>,
        start: u32,
        leaf: u32,
        target: u32,
    ) -> PyResult<ArraySets> {
        self.with(asked, |propagation, module, python| {
            known_row(module, start)?;
            known_row(module, target)?;
            let order = propagation.post_order(module, module.instructions[start as usize].computation);
            let mut reached = propagation.propagate_to_users(module, python, &order, (start, leaf))?;
            Ok(take(reached.arrays(target)))
        })
    }

    /// Compose `second` after `first`.
    fn compose<'py>(
        &self,
        asked: &Bound<'py, PyAny>,
        first: &Bound<'py, PyAny>,
        second: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.with(asked, |propagation, _, python| {
            let (one, _) = python.objects.read(python.formulas, &mut propagation.sets.maps, first)?;
            let (other, leaf) = python.objects.read(python.formulas, &mut propagation.sets.maps, second)?;
            let found = propagation.sets.maps.compose(python, one, other)?;
            python.objects.object(asked, &propagation.sets.maps, found, leaf)
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.state.try_lock() {
            Ok(state) => state.as_ref().map_or(Ok(()), |s| s.objects.traverse(&visit)),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        let state = self.locked().take();
        drop(state);
    }
}
