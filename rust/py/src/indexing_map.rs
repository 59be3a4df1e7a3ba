//! `IndexingMap`.

use crate::argument::{effort_of, int64, style_of, text_of, KeepPoints, MAX_REPR_LENGTH};
use crate::certificate::PyRecorded;
use crate::error::{guarded, invalid, Raise};
use crate::expr::{list, need_operand, operands, split};
use crate::interval::{interval_of, PyInterval, PyVariable};
use crate::map::PySymbolicMap;
use crate::notebook::shown;
use crate::objects::{Any, Str, Tuple};
use crate::parts;
use crate::vector::{self, Values};
use crate::workspace::{self, Workspace, TEXT};
use indexing_core::{
    abridged_indexing_map, certify, compose, from_tensor_sizes, read_indexing_map, simplifies_fully,
    simplify, write_indexing_map, Arena, Certificate, IndexingMap, MapBuilder, MapKind, Options,
    PointVariables, Result, Scratch, SymbolicMap,
};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// `(d0, ..)[s0, ..]{rt0, ..} -> (results), domain: ..`: expressions over dimension, range and runtime variables.
///
/// Variable i of an expression is dimension i, then come ranges, then runtime variables. `*` composes: `first * second`
/// is `compose(first, second)`.
#[pyclass(name = "IndexingMap", module = "indexing", frozen, eq, hash)]
#[derive(PartialEq, Hash)]
pub struct PyIndexingMap(pub IndexingMap);

pub fn made(py: Python<'_>, make: impl FnOnce(&mut Arena) -> Result<IndexingMap>) -> PyResult<PyIndexingMap> {
    workspace::with(|w| make(&mut w.arena)).map(PyIndexingMap).raise(py)
}

impl PyIndexingMap {
    /// The map after `change`; an undefined or known empty one stays as it is.
    fn changed(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Arena, &mut MapBuilder) -> Result<()> + Send,
    ) -> PyResult<PyIndexingMap> {
        if self.0.kind() != MapKind::Defined {
            return Ok(PyIndexingMap(self.0.clone()));
        }
        self.released(py, |w| {
            let mut map = self.0.to_builder(&mut w.arena);
            change(&mut w.arena, &mut map)?;
            map.build(&mut w.arena)
        })
        .map(PyIndexingMap)
    }

    /// The simplified map, and what was recorded of its simplification, which may be that of an instance of `stated`.
    fn recorded(
        &self,
        py: Python<'_>,
        options: Options,
        stated: Option<&IndexingMap>,
    ) -> PyResult<(PyIndexingMap, PyRecorded)> {
        let (simple, recorded) = self.released(py, |w| {
            let (simple, certificate) = certify(&mut w.arena, &mut w.scratch, &self.0, options)?;
            let maps: Vec<&IndexingMap> = stated.into_iter().chain([&self.0, &simple]).collect();
            let recorded = PyRecorded::new(&mut w.arena, &maps, certificate);
            Ok((simple, recorded))
        })?;
        Ok((PyIndexingMap(simple), recorded))
    }

    /// The simplified map, and the certificate of its simplification, which may be that of an instance of `stated`.
    pub(crate) fn certified<'py>(
        &self,
        py: Python<'py>,
        options: Options,
        stated: Option<&IndexingMap>,
    ) -> PyResult<(Any<'py>, Any<'py>)> {
        let (simple, recorded) = self.recorded(py, options, stated)?;
        let certificate = recorded.into_python(py)?;
        Ok((Bound::new(py, simple)?.into_any(), certificate))
    }

    fn variables_at<'py>(&self, py: Python<'py>, from: usize, to: usize) -> PyResult<Tuple<'py>> {
        let named = |i: usize| PyVariable { name: Some(self.0.name(i)), interval: self.0.interval(i) };
        PyTuple::new(py, (from..to).map(named).map(|v| Py::new(py, v)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The index of a variable given by its name or its index.
    pub fn index_of(&self, variable: &Any<'_>) -> PyResult<usize> {
        let py = variable.py();
        let count = self.0.num_variables();
        if let Ok(name) = variable.cast::<PyString>() {
            let name = text_of(name)?;
            let position = (0..count).find(|i| self.0.name(*i) == name);
            return position.ok_or_else(|| invalid(py, format!("the map has no variable {name:?}")));
        }
        let index = int64(variable)?;
        usize::try_from(index)
            .ok()
            .filter(|i| *i < count)
            .ok_or_else(|| invalid(py, format!("the map has {count} variables, not one at {index}")))
    }
}

#[pymethods]
impl PyIndexingMap {
    #[new]
    #[pyo3(signature = (symbolic_map, dims, ranges = None, runtimes = None, constraints = None))]
    fn new(
        py: Python<'_>,
        symbolic_map: &PySymbolicMap,
        dims: &Any<'_>,
        ranges: Option<&Any<'_>>,
        runtimes: Option<&Any<'_>>,
        constraints: Option<&Any<'_>>,
    ) -> PyResult<Self> {
        let inner = &symbolic_map.0;
        let mut all = parts::variables(dims)?;
        let num_dims = all.len();
        all.extend(ranges.map_or(Ok(Vec::new()), parts::variables)?);
        let num_ranges = all.len() - num_dims;
        all.extend(runtimes.map_or(Ok(Vec::new()), parts::variables)?);
        if num_dims != inner.num_dims() || all.len() - num_dims != inner.num_symbols() {
            return Err(invalid(
                py,
                format!(
                    "the symbolic map has {} dimensions and {} symbols, but there are bounds of {num_dims} dimensions \
                     and of {num_ranges} range + {} runtime variables",
                    inner.num_dims(),
                    inner.num_symbols(),
                    all.len() - num_dims - num_ranges
                ),
            ));
        }
        let given = parts::constraints(constraints)?;
        parts::with_constraints(py, &given, |arena| {
            let results = arena.import(inner.results());
            let mut map = MapBuilder { num_dims, num_ranges, results, ..MapBuilder::default() };
            map.add_variables(all);
            Ok(map)
        })
        .map(PyIndexingMap)
    }

    /// Read a map. Raises ParseError with line and column, Overflow, and InvalidMap for a divisor 0.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &Str<'_>) -> PyResult<Self> {
        let text = text_of(text)?;
        let read = || workspace::with(|w| read_indexing_map(text, &mut w.arena, &mut w.reading));
        guarded(py, || workspace::released(py, text.len() / TEXT, read))?
            .map(PyIndexingMap)
            .raise_in(py, text)
    }

    /// A map whose dimensions and ranges count from 0 below their sizes.
    #[staticmethod]
    #[pyo3(signature = (results, dim_sizes, range_sizes = None, runtime_bounds = None, constraints = None))]
    fn from_tensor_sizes(
        results: &Any<'_>,
        dim_sizes: &Any<'_>,
        range_sizes: Option<&Any<'_>>,
        runtime_bounds: Option<&Any<'_>>,
        constraints: Option<&Any<'_>>,
    ) -> PyResult<Self> {
        let py = results.py();
        let results = match results.cast::<PySymbolicMap>() {
            Ok(map) => list(&map.getattr("results")?)?,
            Err(_) => list(results)?,
        };
        let results = operands(&results)?;
        let (dims, ranges) = (parts::sizes(Some(dim_sizes))?, parts::sizes(range_sizes)?);
        let runtimes = runtime_bounds.map_or(Ok(Vec::new()), parts::variables)?;
        let given = parts::constraints(constraints)?;
        parts::with_constraints(py, &given, |arena| {
            let roots = results.iter().map(|r| r.import(arena)).collect();
            let mut map = from_tensor_sizes(roots, &dims, &ranges)?;
            map.add_variables(runtimes);
            Ok(map)
        })
        .map(PyIndexingMap)
    }

    /// The identity on a tensor of these sizes.
    #[staticmethod]
    fn identity(py: Python<'_>, sizes: &Any<'_>) -> PyResult<Self> {
        let sizes = parts::sizes(Some(sizes))?;
        made(py, |arena| {
            let results = (0..sizes.len()).map(|i| arena.variable(i as u32)).collect();
            from_tensor_sizes(results, &sizes, &[])?.build(arena)
        })
    }

    /// The map about which nothing is known.
    #[staticmethod]
    fn undefined() -> Self {
        PyIndexingMap(workspace::with(|w| IndexingMap::undefined(&mut w.arena)))
    }

    /// The map whose domain is known to have no point.
    #[staticmethod]
    fn known_empty() -> Self {
        PyIndexingMap(workspace::with(|w| IndexingMap::known_empty(&mut w.arena)))
    }

    /// The dimensions.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        self.variables_at(py, 0, self.0.num_dims())
    }

    /// The range variables.
    #[getter]
    fn ranges<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        self.variables_at(py, self.0.num_dims(), self.0.num_dims() + self.0.num_ranges())
    }

    /// The runtime variables.
    #[getter]
    fn runtimes<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        self.variables_at(py, self.0.num_dims() + self.0.num_ranges(), self.0.num_variables())
    }

    /// Dimensions, ranges, runtime variables.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        self.variables_at(py, 0, self.0.num_variables())
    }

    /// The number of dimensions.
    #[getter]
    fn num_dims(&self) -> usize {
        self.0.num_dims()
    }

    /// The number of range variables.
    #[getter]
    fn num_ranges(&self) -> usize {
        self.0.num_ranges()
    }

    /// The number of runtime variables.
    #[getter]
    fn num_runtimes(&self) -> usize {
        self.0.num_runtimes()
    }

    /// The number of results.
    #[getter]
    fn num_results(&self) -> usize {
        self.0.num_results()
    }

    /// The results.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        let all = workspace::with(|w| {
            let roots = w.arena.import(self.0.dag());
            split(&mut w.arena, &roots[..self.0.num_results()])
        });
        PyTuple::new(py, all)
    }

    /// Expressions and the intervals in which they lie; constraints on single variables are their bounds.
    #[getter]
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        let all = workspace::with(|w| {
            let roots = w.arena.import(self.0.dag());
            split(&mut w.arena, &roots[self.0.num_results()..])
        });
        let pairs = all.into_iter().zip(self.0.constraint_bounds()).map(|(e, i)| (e, PyInterval(i)));
        PyTuple::new(py, pairs)
    }

    /// The results, with ranges and runtime variables as symbols.
    #[getter]
    fn symbolic_map(&self, py: Python<'_>) -> PyResult<PySymbolicMap> {
        let result = workspace::with(|w| {
            let roots = w.arena.import(self.0.dag());
            let symbols = self.0.num_ranges() + self.0.num_runtimes();
            SymbolicMap::new(&mut w.arena, self.0.num_dims(), symbols, &roots[..self.0.num_results()])
        });
        result.map(PySymbolicMap).raise(py)
    }

    /// Whether nothing is known about the map.
    #[getter]
    fn is_undefined(&self) -> bool {
        self.0.kind() == MapKind::Undefined
    }

    /// Whether the domain is known to have no points. False does not mean that it has any: see `is_empty`.
    #[getter]
    fn is_known_empty(&self) -> bool {
        self.0.kind() == MapKind::KnownEmpty
    }

    /// An equal map of no greater cost: with the same domain, and the same results on it; no variable is removed.
    ///
    /// With `keep_points`, variables with a single value are kept in the expressions. With `certificate`, returns a pair:
    /// the map and its `Certificate`, each step of which can be checked without the simplifier. The effort "search" looks for a
    /// cheaper form of the results by all laws, in thousands of steps: for maps that are simplified once and evaluated often.
    #[pyo3(signature = (keep_points = KeepPoints(false), certificate = false, effort = None), text_signature = "($self, keep_points=False, certificate=False, effort=None)")]
    fn simplify<'py>(
        &self,
        py: Python<'py>,
        keep_points: KeepPoints,
        certificate: bool,
        effort: Option<&Str<'py>>,
    ) -> PyResult<Any<'py>> {
        let points = if keep_points.0 { PointVariables::Keep } else { PointVariables::Replace };
        let options = Options { points, effort: effort_of(effort)? };
        if certificate {
            return Ok(self.certified(py, options, None)?.into_pyobject(py)?.into_any());
        }
        let map = self.released(py, |w| simplify(&mut w.arena, &mut w.scratch, &self.0, options))?;
        Ok(Bound::new(py, PyIndexingMap(map))?.into_any())
    }

    /// Whether `simplify` completes within its budget of work. If not, it returns an equal map that could be simpler.
    fn simplifies_fully(&self, py: Python<'_>) -> PyResult<bool> {
        self.released(py, |w| Ok(simplifies_fully(&mut w.arena, &mut w.scratch, &self.0)))
    }

    /// The steps of `simplify`: those of its certificate, each with its law and the facts that it uses.
    #[pyo3(signature = (effort = None))]
    fn explain<'py>(&self, py: Python<'py>, effort: Option<&Str<'py>>) -> PyResult<Any<'py>> {
        let options = Options { effort: effort_of(effort)?, ..Options::default() };
        let recorded = self.recorded(py, options, None)?.1;
        let texts = recorded.texts(py)?;
        recorded.into_python(py)?.call_method1("explained", (texts,))
    }

    /// As `compose(self, second)`.
    #[pyo3(signature = (second, certificate = false))]
    fn compose<'py>(&self, py: Python<'py>, second: &PyIndexingMap, certificate: bool) -> PyResult<Any<'py>> {
        let composed = self.composed(py, second)?;
        if !certificate {
            return Ok(Bound::new(py, composed)?.into_any());
        }
        let maps = [&self.0, &second.0, &composed.0];
        let recorded = workspace::with(|w| PyRecorded::new(&mut w.arena, &maps, Certificate::default()));
        let proof = py.import("indexing.certificates")?.call_method1("of_composition", (recorded,))?;
        Ok((composed, proof).into_pyobject(py)?.into_any())
    }

    fn __mul__(&self, py: Python<'_>, second: &PyIndexingMap) -> PyResult<Self> {
        self.composed(py, second)
    }

    /// The map without range and runtime variables on which neither results nor dimensions depend.
    fn remove_unused_symbols(&self, py: Python<'_>) -> PyResult<Self> {
        self.changed(py, |arena, map| map.remove_unused_symbols(arena))
    }

    /// The map without variables on which no result depends.
    fn remove_unused_variables(&self, py: Python<'_>) -> PyResult<Self> {
        self.changed(py, |arena, map| map.remove_unused_variables(arena))
    }

    /// The map with each range variable that a constraint fixes to r modulo c replaced by one that counts in steps of c.
    fn rescale_symbols(&self, py: Python<'_>) -> PyResult<Self> {
        self.changed(py, |arena, map| map.rescale_symbols(arena))
    }

    /// The map with ranges, then runtime variables, as further dimensions.
    fn symbols_to_dims(&self, py: Python<'_>) -> PyResult<Self> {
        self.changed(py, |_, map| {
            map.symbols_to_dims();
            Ok(())
        })
    }

    /// The map with these ranges (by name, or by index among all variables) as further dimensions.
    fn ranges_to_dims(&self, py: Python<'_>, names: &Any<'_>) -> PyResult<Self> {
        let places = list(names)?.iter().map(|n| self.index_of(n)).collect::<PyResult<Vec<_>>>()?;
        self.changed(py, |arena, map| map.ranges_to_dims(arena, &places))
    }

    /// The map with the additional constraint that `expr` lies in `interval`.
    fn add_constraint(&self, py: Python<'_>, expr: &Any<'_>, interval: &Any<'_>) -> PyResult<Self> {
        let (e, interval) = (need_operand(expr)?, interval_of(interval)?);
        self.changed(py, |arena, map| {
            let e = e.import(arena);
            map.constraints.push((e, interval));
            map.verify(arena)
        })
    }

    /// True; raises InvalidMap if variables are missing, or names are invalid or repeated.
    fn verify(&self, py: Python<'_>) -> PyResult<bool> {
        self.released(py, |w| {
            let map = self.0.to_builder(&mut w.arena);
            map.verify(&mut w.arena)
        })?;
        Ok(true)
    }

    /// The text, on one line; the style "xla" prints `/` and binary min and max.
    #[pyo3(signature = (style = None))]
    fn to_text(&self, py: Python<'_>, style: Option<&Str<'_>>) -> PyResult<String> {
        let style = style_of(style)?;
        workspace::released(py, self.0.dag().byte_size(), || write_indexing_map(&self.0, style)).raise(py)
    }

    pub fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.to_text(py, None)
    }

    fn __repr__(&self) -> String {
        format!("IndexingMap({})", abridged_indexing_map(&self.0, MAX_REPR_LENGTH))
    }

    /// The map as a notebook shows it: a formula.
    fn _repr_latex_<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        shown(slf.as_any(), "formula")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, (String,))> {
        Ok((slf.get_type().getattr("parse")?, (slf.get().__str__(slf.py())?,)))
    }
}

impl PyIndexingMap {
    fn composed(&self, py: Python<'_>, second: &PyIndexingMap) -> PyResult<PyIndexingMap> {
        let bytes = self.0.dag().byte_size() + second.0.dag().byte_size();
        let join = || workspace::with(|w| compose(&mut w.arena, &self.0, &second.0));
        guarded(py, || workspace::released(py, bytes, join))?.map(PyIndexingMap).raise(py)
    }

    /// Work that takes the longer the larger the map: the GIL is released where that pays.
    pub(crate) fn released<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Workspace) -> Result<T> + Send,
    ) -> PyResult<T> {
        let bytes = self.0.dag().byte_size();
        guarded(py, || workspace::released(py, bytes, || workspace::with(work)))?.raise(py)
    }

    /// Ask a question that may take long of any map: the GIL is released.
    pub(crate) fn asked<T: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&mut Arena, &mut Scratch) -> Result<T> + Send,
    ) -> PyResult<T> {
        let work = || workspace::with(|w| question(&mut w.arena, &mut w.scratch));
        guarded(py, || py.detach(work))?.raise(py)
    }

    pub(crate) fn values<'py>(&self, dims: &Any<'py>, symbols: Option<&Any<'py>>) -> PyResult<Values<'py>> {
        if self.0.kind() != MapKind::Defined {
            return Err(invalid(dims.py(), "an undefined or known empty map has no values"));
        }
        let num_symbols = self.0.num_ranges() + self.0.num_runtimes();
        vector::checked_values(dims, symbols, self.0.num_dims(), num_symbols)
    }
}

/// `second` after `first`, not simplified: the results of `first` are the dimensions of `second`.
///
/// Bounds and constraints of both hold. Range variables are the second's, then the first's; runtime variables likewise.
/// With `certificate`, returns a pair: the map and its `Certificate`. Raises InvalidMap if the numbers of results and
/// dimensions differ.
#[pyfunction(name = "compose", signature = (first, second, certificate = false))]
pub fn compose_maps<'py>(
    py: Python<'py>,
    first: &PyIndexingMap,
    second: &PyIndexingMap,
    certificate: bool,
) -> PyResult<Any<'py>> {
    first.compose(py, second, certificate)
}
