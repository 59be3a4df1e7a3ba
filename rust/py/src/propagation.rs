//! `_core.Propagation`: the maps of a module's instructions, which the core composes and Python states and reads.

use crate::error::raise;
use crate::expr::PyExpr;
use crate::hlo::HloModule;
use crate::operand_maps::Objects;
use indexing_core::{
    Arrays, Dag, Direction, Error, Formulas, Known, Link, Module, Propagation, Structure, Values,
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
    walk: Propagation,
    objects: Objects,
}

/// An error of the core, or one that Python raised when it was asked.
pub enum Raised {
    Core(Error),
    Python(PyErr),
}

impl From<Error> for Raised {
    fn from(error: Error) -> Self {
        Raised::Core(error)
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Raised::Python(error)
    }
}

impl Raised {
    fn into_python(self, py: Python<'_>) -> PyErr {
        match self {
            Raised::Core(error) => raise(py, &error, None, ""),
            Raised::Python(error) => error,
        }
    }
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
    fn call(&mut self, walk: &mut Propagation, name: &str, at: (u32, u32)) -> PyResult<()> {
        self.owner.give_back(State { walk: take(walk), objects: take(&mut self.objects) });
        let outcome = self.formulas.call_method1(name, at);
        let state = self.owner.taken()?;
        (*walk, self.objects) = (state.walk, state.objects);
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

    fn known(&mut self, instruction: u32, index: &[Dag]) -> Outcome<Option<Known>> {
        let view = self.objects.instruction(self.formulas, instruction)?;
        let index: Vec<PyExpr> = index.iter().map(|e| PyExpr(e.clone())).collect();
        let found = self.formulas.call_method1("known", (view, index))?;
        if found.is_none() {
            return Ok(None);
        }
        Ok(Some(match found.downcast::<PyExpr>() {
            Ok(e) => Known::Expression(e.get().0.clone()),
            Err(_) => Known::Integer(found.extract()?),
        }))
    }
}

impl Formulas for Asked<'_, '_> {
    fn formula(&mut self, walk: &mut Propagation, row: u32, output: u32) -> Outcome<()> {
        Ok(self.call(walk, "formula", (row, output))?)
    }

    fn inverse(&mut self, walk: &mut Propagation, row: u32, operand: u32) -> Outcome<()> {
        Ok(self.call(walk, "inverse", (row, operand))?)
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
        let State { mut walk, objects } = self.taken()?;
        let mut python = Asked { owner: self, formulas: asked, objects };
        let outcome = f(&mut walk, self.module.get().tables(), &mut python);
        self.give_back(State { walk, objects: python.objects });
        outcome.map_err(|e| e.into_python(asked.py()))
    }
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
        let walk = Propagation::new(module.get().tables(), |opcode| structure(opcode).unwrap_or_default());
        let state = State { walk, ..State::default() };
        Ok(PyPropagation { module, state: Mutex::new(Some(state)) })
    }

    /// State a formula: for each operand (inverse: output) its maps.
    fn put(
        &self,
        asked: &Bound<'_, PyAny>,
        inverse: bool,
        at: (u32, u32),
        simplified: bool,
        parts: Vec<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        self.with(asked, |walk, module, python| {
            let mut links = Vec::new();
            for (to, part) in parts.iter().enumerate() {
                for m in part {
                    let (map, leaf) = python.objects.read(python.formulas, &mut walk.found.maps, m)?;
                    links.push(Link { to: to as u32, leaf, map });
                }
            }
            let key = (direction(inverse), at.0, at.1);
            walk.note_stated(module, key, &links);
            walk.state(module, python, key, simplified, links)
        })
    }

    /// Find all formulas of the instructions of these rows, to be read later. For each instruction its signature, or
    /// -1 - row where the formulas are its own; ends before one that can't be found, and raises where that is the first.
    fn find(&self, asked: &Bound<'_, PyAny>, inverse: bool, first: u32, last: u32) -> PyResult<Vec<i64>> {
        self.with(asked, |walk, module, python| {
            let mut found = Vec::new();
            match walk.find(module, python, direction(inverse), first..last, &mut found) {
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
        self.with(asked, |walk, module, python| {
            let links = walk.formula(module, python, (direction(inverse), at.0, at.1))?;
            python.objects.grouped(asked, &walk.found.maps, &links, count)
        })
    }

    /// The maps through a computation: from array `at[1]` of its root, or inverse from that parameter.
    fn through<'py>(
        &self,
        asked: &Bound<'py, PyAny>,
        inverse: bool,
        at: (u32, u32),
        arguments: Vec<Bound<'py, PyAny>>,
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        self.with(asked, |walk, module, python| {
            let numbers = arguments.iter().map(|i| python.objects.number(asked, i));
            let arguments = numbers.collect::<PyResult<Vec<u32>>>()?;
            let links = walk.handed_over(module, python, (direction(inverse), at.0, at.1), &arguments)?;
            python.objects.grouped(asked, &walk.found.maps, &links, count)
        })
    }

    /// The list of one map: array `output` of an instruction is itself.
    fn start(&self, asked: &Bound<'_, PyAny>, row: u32, output: u32) -> PyResult<u32> {
        self.with(asked, |walk, module, _| {
            let shapes = walk.leaves(module, module.instructions[row as usize].shape);
            let sizes = &module.shapes[shapes[output as usize] as usize].dimensions;
            Ok(walk.found.start(sizes)?)
        })
    }

    /// The maps of both lists.
    fn merged(&self, asked: &Bound<'_, PyAny>, one: u32, other: u32) -> PyResult<u32> {
        self.with(asked, |walk, _, python| walk.found.extended(python, one, other, None))
    }

    /// The maps of a list, of array `leaf`.
    fn maps<'py>(&self, asked: &Bound<'py, PyAny>, found: u32, leaf: u32) -> PyResult<Bound<'py, PyList>> {
        self.with(asked, |walk, _, python| {
            let list = walk.found.list(found).iter();
            let links: Vec<Link> = list.map(|map| Link { to: 0, leaf, map: *map }).collect();
            let groups = python.objects.grouped(asked, &walk.found.maps, &links, 1)?;
            Ok(groups.get_item(0)?.downcast_into().map_err(PyErr::from)?)
        })
    }

    /// Follow what is found of a computation's instructions to the operands of those of `order`, users before operands.
    fn propagate(
        &self,
        asked: &Bound<'_, PyAny>,
        computation: u32,
        found: Vec<(u32, Arrays)>,
        order: Vec<u32>,
    ) -> PyResult<Vec<(u32, Arrays)>> {
        self.with(asked, |walk, module, python| walk.propagate(module, python, computation, &found, &order))
    }

    /// The lists of maps from array `leaf` of an instruction to those of `target`, which its users lead to.
    fn propagate_to(&self, asked: &Bound<'_, PyAny>, start: u32, leaf: u32, target: u32) -> PyResult<Arrays> {
        self.with(asked, |walk, module, python| {
            let order = walk.post_order(module, module.instructions[start as usize].computation);
            let mut reached = walk.propagate_to_users(module, python, &order, (start, leaf))?;
            Ok(take(reached.arrays(target)))
        })
    }

    /// One map after another.
    fn compose<'py>(
        &self,
        asked: &Bound<'py, PyAny>,
        first: &Bound<'py, PyAny>,
        second: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.with(asked, |walk, _, python| {
            let (one, _) = python.objects.read(python.formulas, &mut walk.found.maps, first)?;
            let (other, leaf) = python.objects.read(python.formulas, &mut walk.found.maps, second)?;
            let found = walk.found.maps.compose(python, one, other)?;
            python.objects.object(asked, &walk.found.maps, found, leaf)
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
