//! `_core.Propagation`: the maps of a module's instructions, which the core composes and Python states and reads.

use crate::error::raise;
use crate::expr::PyExpr;
use crate::hlo::HloModule;
use crate::operand_maps::Objects;
use indexing_core::{
    Arrays, Bounds, Dag, Direction, Error, Formulas, Known, Link, Module, Propagation, Reached, Values,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use pyo3::PyTraverseError;
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

    fn reached_wholly(&mut self, computation: u32, parameter: u32, leaf: u32) -> Outcome<Bounds> {
        let found = self.formulas.call_method1("reached_wholly", (computation, parameter, leaf))?;
        Ok(found.extract()?)
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

/// Maps handed over from a computation: its row, the array (or parameter) that is asked about, which of its parameters (or
/// arrays) is meant (all: -1), why it is only a bound (or nothing), the numbers of the operands that are passed (all: None).
type Passed = (u32, u32, i64, String, Option<Vec<u32>>);

/// The links of a part of a formula: maps as they are, or those through a computation.
fn links_of(
    walk: &mut Propagation,
    module: &Module,
    python: &mut Asked<'_, '_>,
    direction: Direction,
    (row, array, to, part): (u32, u32, u32, &Bound<'_, PyAny>),
    links: &mut Vec<Link>,
) -> Outcome<()> {
    let Ok(passed) = part.downcast::<PyTuple>() else {
        for m in part.try_iter()? {
            let (map, leaf) = python.objects.read(python.formulas, &mut walk.found.maps, &m?)?;
            links.push(Link { to, leaf, map });
        }
        return Ok(());
    };
    if passed.len() == 2 {
        return wholes_of(walk, module, direction, (row, array, to), passed.extract()?, links);
    }
    let (computation, array, which, because, numbers): Passed = passed.extract()?;
    let operands = module.operands_of(row as usize);
    let arguments = match numbers {
        None => operands.to_vec(),
        Some(numbers) => numbers.iter().map(|k| operands[*k as usize]).collect(),
    };
    let through = walk.through(module, python, (direction, computation, array))?;
    let place = |row: u32| argument(module, computation, &arguments, row);
    let reason = walk.found.maps.reason_number(&because);
    for link in through.iter().filter(|l| which < 0 || i64::from(l.to) == which) {
        let mut map = walk.found.maps.with_instructions(link.map, &place);
        if !because.is_empty() {
            map = walk.found.maps.weakened(map, reason);
        }
        links.push(Link { to: if which < 0 { link.to } else { to }, leaf: link.leaf, map });
    }
    Ok(())
}

/// Links to all elements of arrays of operand `to`; inverse: from these arrays of operand `array` to all of array `to`.
fn wholes_of(
    walk: &mut Propagation,
    module: &Module,
    direction: Direction,
    (row, array, to): (u32, u32, u32),
    (arrays, because): (Vec<u32>, String),
    links: &mut Vec<Link>,
) -> Outcome<()> {
    let operand = if direction == Direction::ToOperands { to } else { array };
    let operand = module.operands_of(row as usize)[operand as usize] as usize;
    let own = walk.leaves(module, module.instructions[row as usize].shape);
    let operands = walk.leaves(module, module.instructions[operand].shape);
    for leaf in arrays {
        let other = operands[leaf as usize];
        let ends = match direction {
            Direction::ToOperands => (own[array as usize], other),
            Direction::ToUsers => (other, own[to as usize]),
        };
        links.push(Link { to, leaf, map: walk.whole(module, ends, &because)? });
    }
    Ok(())
}

/// A parameter of the computation is what the caller passes.
fn argument(module: &Module, computation: u32, arguments: &[u32], row: u32) -> u32 {
    let Some(i) = module.instructions.get(row as usize) else { return row };
    if i.computation != computation || i.parameter < 0 {
        return row;
    }
    arguments.get(i.parameter as usize).copied().unwrap_or(row)
}

#[pymethods]
impl PyPropagation {
    #[new]
    fn new(module: Py<HloModule>) -> Self {
        PyPropagation { module, state: Mutex::new(Some(State::default())) }
    }

    /// State a formula: for each operand (inverse: output) its maps, or a tuple that says through what they go.
    fn put(
        &self,
        asked: &Bound<'_, PyAny>,
        inverse: bool,
        at: (u32, u32),
        simplified: bool,
        parts: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.with(asked, |walk, module, python| {
            let mut links = Vec::new();
            for (to, part) in parts.iter().enumerate() {
                links_of(
                    walk,
                    module,
                    python,
                    direction(inverse),
                    (at.0, at.1, to as u32, part),
                    &mut links,
                )?;
            }
            let own = links.iter().any(|l| walk.found.maps.names_instructions(l.map));
            if own || !simplified {
                for link in &mut links {
                    link.map = walk.found.maps.finish(python, link.map)?;
                }
            }
            Ok(walk.put(module, (direction(inverse), at.0, at.1), own, &links)?)
        })
    }

    /// State that the arrays of an instruction are arrays of its operands: the operand of each, and which array of that.
    fn put_names(&self, asked: &Bound<'_, PyAny>, row: u32, named: Vec<(u32, u32)>) -> PyResult<()> {
        self.with(asked, |walk, module, python| walk.put_names(module, python, row, &named))
    }

    /// Find the formulas of the first `arrays` arrays of an instruction (inverse: operands), to be read later; says whether
    /// they are those of all of its signature.
    fn find(&self, asked: &Bound<'_, PyAny>, inverse: bool, row: u32, arrays: u32) -> PyResult<bool> {
        self.with(asked, |walk, module, python| {
            let mut shared = true;
            for array in 0..arrays {
                let key = (direction(inverse), row, array);
                walk.find(module, python, key)?;
                shared &= walk.is_shared(key);
            }
            Ok(shared)
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
            let found = walk.through(module, python, (direction(inverse), at.0, at.1))?;
            let place = |row: u32| argument(module, at.0, &arguments, row);
            let mut links = found.to_vec();
            for link in &mut links {
                link.map = walk.found.maps.with_instructions(link.map, &place);
            }
            python.objects.grouped(asked, &walk.found.maps, &links, count)
        })
    }

    /// Find the maps through a computation, to be read later.
    fn prepare(&self, asked: &Bound<'_, PyAny>, inverse: bool, at: (u32, u32)) -> PyResult<()> {
        self.with(asked, |walk, module, python| {
            walk.through(module, python, (direction(inverse), at.0, at.1)).map(|_| ())
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
        self.with(asked, |walk, module, python| {
            let mut reached = Reached::new(module, computation);
            for (row, mut arrays) in found {
                arrays.sort_unstable(); // by array
                *reached.arrays(row) = arrays;
            }
            walk.propagate(module, python, order.into_iter(), &mut reached)?;
            Ok(reached.iter().map(|(row, arrays)| (row, arrays.clone())).collect())
        })
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
