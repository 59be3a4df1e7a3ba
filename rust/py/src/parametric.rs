//! `ParametricMap`: a map in parameters, and its instances in bulk.

use crate::argument::int64;
use crate::error::{invalid, raise, Raise};
use crate::expr::PyExpr;
use crate::indexing_map::PyIndexingMap;
use crate::interval::interval_of;
use crate::memory_traffic::{as_traffic, Traffic};
use crate::objects::{Any, Tuple};
use crate::vector;
use crate::workspace;
use indexing_core::{
    count_traffic, Access, Coefficient, DistinctRows, Error, IndexingMap, Interval, Memory, Options,
    Parameter, ParametricMap, ParametricTerms,
};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyString, PyTuple};
use std::ops::Range;
use std::sync::OnceLock;

/// A map with parameters: variables whose values are given later, many at once. Made by `IndexingMap.with_parameters`.
#[pyclass(name = "ParametricMap", module = "indexing._core", frozen, eq, hash)]
#[derive(PartialEq, Hash)]
pub struct PyParametricMap(ParametricMap);

/// The values that a parameter takes: an interval, a range with a step, or None for all positive ones.
fn parameter_of(variable: usize, values: &Any<'_>) -> PyResult<Parameter> {
    if values.is_none() {
        return Ok(Parameter { variable, interval: Interval::new(1, i64::MAX), step: 1 });
    }
    let Ok(range) = values.cast::<PyRange>() else {
        return Ok(Parameter { variable, interval: interval_of(values)?, step: 1 });
    };
    let end = |name: &str| range.getattr(name)?.extract::<i128>();
    let (start, stop, step) = (end("start")?, end("stop")?, end("step")?);
    let last = start + (stop - start - step.signum()).div_euclid(step) * step;
    let (lower, upper) = if step > 0 { (start, last) } else { (last, start) };
    let fits = |n: i128| i64::try_from(n).map_err(|_| crate::error::too_large(values.py()));
    Ok(Parameter { variable, interval: Interval::new(fits(lower)?, fits(upper)?), step: fits(step.abs())? })
}

/// The values of parameters by name: all numbers, or some arrays.
fn values_by_name<'py>(
    map: &ParametricMap,
    given: Option<&Bound<'py, PyDict>>,
    py: Python<'py>,
) -> PyResult<Vec<Any<'py>>> {
    let empty = PyDict::new(py);
    let given = given.unwrap_or(&empty);
    let names: Vec<String> = map.parameters().iter().map(|p| map.stated().name(p.variable)).collect();
    for name in given.keys() {
        if !names.contains(&name.extract()?) {
            return Err(invalid(py, format!("the map has no parameter {name}; it has {}", names.join(", "))));
        }
    }
    let value = |name: &String| {
        given.get_item(name)?.ok_or_else(|| invalid(py, format!("parameter {name} has no value")))
    };
    names.iter().map(value).collect()
}

/// Runs `work` for each distinct row; an error names the row.
fn each_row<T>(
    rows: &DistinctRows,
    columns: &[Vec<i64>],
    mut work: impl FnMut(&mut workspace::Workspace, &[i64]) -> indexing_core::Result<T>,
) -> Result<Vec<T>, (usize, Error)> {
    workspace::with(|w| {
        let mut done = Vec::with_capacity(rows.first.len());
        let mut values = Vec::with_capacity(columns.len());
        for row in &rows.first {
            w.arena.clear();
            values.clear();
            values.extend(columns.iter().map(|c| c[*row]));
            done.push(work(w, &values).map_err(|e| (*row, e))?);
        }
        Ok(done)
    })
}

fn of_row<T>(py: Python<'_>, result: Result<T, (usize, Error)>) -> PyResult<T> {
    result.map_err(|(row, error)| raise(py, &error, None, &format!("item {row}: ")))
}

/// The distinct rows of columns.
fn distinct(py: Python<'_>, columns: &[Vec<i64>], length: usize) -> DistinctRows {
    py.detach(|| {
        let slices: Vec<&[i64]> = columns.iter().map(Vec::as_slice).collect();
        DistinctRows::new(&slices, length)
    })
}

#[pymethods]
impl PyIndexingMap {
    /// The map with variables as parameters, simplified once for all values that they take: those of an Interval, of a
    /// range (with a step: `range(8, 129, 8)`), or all positive ones (None).
    ///
    /// Raises InvalidMap for a name that the map does not have, and for a range without a value.
    #[pyo3(signature = (**parameters))]
    fn with_parameters(
        &self,
        py: Python<'_>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyParametricMap> {
        PyParametricMap::new(self, parameters.unwrap_or(&PyDict::new(py)))
    }
}

#[pymethods]
impl PyParametricMap {
    #[new]
    pub fn new(map: &PyIndexingMap, parameters: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = parameters.py();
        let mut declared = Vec::new();
        for (name, values) in parameters {
            let variable = map.index_of(name.cast::<PyString>()?.as_any())?;
            declared.push(parameter_of(variable, &values)?);
        }
        let make = || workspace::with(|w| ParametricMap::new(&mut w.arena, &mut w.scratch, &map.0, declared));
        py.detach(make).map(PyParametricMap).raise(py)
    }

    /// The map, the parameters among its variables, simplified once for all their values.
    #[getter]
    fn map(&self) -> PyIndexingMap {
        PyIndexingMap(self.0.simplified().clone())
    }

    /// The map as it was stated; its parameters have their ranges.
    #[getter]
    fn stated(&self) -> PyIndexingMap {
        PyIndexingMap(self.0.stated().clone())
    }

    /// The values that each parameter takes.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let range = py.import("builtins")?.getattr("range")?;
        for p in self.0.parameters() {
            let stop = i128::from(p.interval.upper) + 1;
            let values = range.call1((p.interval.lower, stop, p.step))?;
            dict.set_item(self.0.stated().name(p.variable), values)?;
        }
        Ok(dict)
    }

    /// The map, simplified, where the parameters have these values; for arrays (they broadcast) one an element.
    ///
    /// Instances are columns: arrays of coefficients and bounds. Each as a map is equal to what `simplify` makes of this map
    /// with the values in it; it is made when one asks for it. Raises InvalidMap for values outside of a parameter's range,
    /// and for parameters without a value. With `certificate`, returns a pair for one value of each: the map and its
    /// `Certificate`.
    #[pyo3(signature = (*, certificate = false, **values))]
    fn instantiate<'py>(
        &self,
        py: Python<'py>,
        certificate: bool,
        values: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Any<'py>> {
        let given = values_by_name(&self.0, values, py)?;
        let list = PyTuple::new(py, &given)?;
        if let vector::Values::Point(point) = vector::values_of(&[list.as_any()])? {
            if certificate {
                let bound =
                    workspace::with(|w| self.0.bind(&mut w.arena, &point)).map(PyIndexingMap).raise(py)?;
                let stated = self.stated();
                let (simple, steps) = bound.certified(py, Options::default(), Some(&stated.0))?;
                let parts = (values.map(|v| v.copy()).transpose()?, steps);
                let proof = py.import("indexing.certificates")?.call_method1("of_instance", parts)?;
                return Ok((simple, proof).into_pyobject(py)?.into_any());
            }
            let work = || workspace::with(|w| self.0.instantiate(&mut w.arena, &mut w.scratch, &point));
            return Ok(Bound::new(py, PyIndexingMap(work().raise(py)?))?.into_any());
        }
        if certificate {
            return Err(invalid(py, "a certificate is of one instance: give each parameter one value"));
        }
        let columns = vector::columns(py, given)?;
        let values = columns.values();
        if let Some(refused) = py.detach(|| self.0.first_refused(&values)) {
            of_row(py, Err(refused))?;
        }
        Ok(Bound::new(py, PyInstances::new(self.0.clone(), values, columns.length))?.into_any())
    }

    /// As the function of that name, of blocks of `threads` threads, for each distinct row; and which one each row is.
    #[pyo3(signature = (values, threads, strides, width, warp_size, sector, line, vector = None, widest = 0))]
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a fact of its own, and a struct would be made for this call"
    )]
    fn global_memory_traffic<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyDict>,
        threads: Any<'py>,
        strides: Vec<i64>,
        width: i64,
        warp_size: i64,
        sector: i64,
        line: i64,
        vector: Option<usize>,
        widest: i64,
    ) -> PyResult<(Vec<Option<Traffic>>, Any<'py>)> {
        let mut given = values_by_name(&self.0, Some(values), py)?;
        given.push(threads);
        let columns = vector::columns(py, given)?;
        let values = columns.values();
        let rows = distinct(py, &values, columns.length);
        let memory = Memory::Global { sector, line, vector: widest };
        let given = values.as_slice();
        let made = py.detach(|| {
            each_row(&rows, given, |w, values| {
                let (block, values) = values.split_last().unwrap_or((&1, &[]));
                let map = self.0.bind(&mut w.arena, values)?;
                w.arena.clear();
                let block = [*block, 1, 1];
                let access = Access { map: &map, strides: &strides, width, block, warp_size, vector };
                count_traffic(&mut w.arena, &mut w.scratch, &access, memory).map(|c| c.map(as_traffic))
            })
        });
        let index: Vec<i64> = rows.index.iter().map(|i| i64::from(*i)).collect();
        Ok((of_row(py, made)?, vector::array(py, &[index.len()], &index)?))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.map().__str__(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("ParametricMap({}, {})", self.__str__(py)?, self.parameters(py)?.repr()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, Tuple<'py>)> {
        let py = slf.py();
        let parts = (slf.get().stated(), slf.get().parameters(py)?);
        Ok((slf.get_type().into_any(), parts.into_pyobject(py)?))
    }
}

/// The instances of a map with parameters, one for each element of the given arrays.
///
/// What differs between them are arrays: coefficients of the terms of results and constraints, and bounds. Maps are made
/// when one asks for them, of equal rows once.
#[pyclass(name = "Instances", module = "indexing._core", frozen)]
pub struct PyInstances {
    map: ParametricMap,
    values: Vec<Vec<i64>>,
    length: usize,
    rows: OnceLock<DistinctRows>,
    made: OnceLock<Vec<OnceLock<Py<PyIndexingMap>>>>,
    maps: OnceLock<Py<PyTuple>>,
    terms: OnceLock<(ParametricTerms, Vec<Py<PyAny>>)>,
}

impl PyInstances {
    fn new(map: ParametricMap, values: Vec<Vec<i64>>, length: usize) -> Self {
        let (rows, made, maps, terms) = (OnceLock::new(), OnceLock::new(), OnceLock::new(), OnceLock::new());
        PyInstances { map, values, length, rows, made, maps, terms }
    }

    fn rows(&self, py: Python<'_>) -> &DistinctRows {
        py.detach(|| {
            self.rows.get_or_init(|| {
                let slices: Vec<&[i64]> = self.values.iter().map(Vec::as_slice).collect();
                DistinctRows::new(&slices, self.length)
            })
        })
    }

    /// A place for the map of each different row.
    fn made(&self, py: Python<'_>) -> &[OnceLock<Py<PyIndexingMap>>] {
        let count = self.rows(py).first.len();
        self.made.get_or_init(|| (0..count).map(|_| OnceLock::new()).collect())
    }

    fn put(&self, py: Python<'_>, place: usize, map: IndexingMap) -> PyResult<Py<PyIndexingMap>> {
        let map = Py::new(py, PyIndexingMap(map))?;
        let cell = &self.made(py)[place];
        let _ = cell.set(map.clone_ref(py)); // another thread may have been first
        Ok(cell.get().map_or(map, |first| first.clone_ref(py)))
    }

    /// The terms, and an array for each of their columns.
    fn columns(&self, py: Python<'_>) -> PyResult<&(ParametricTerms, Vec<Py<PyAny>>)> {
        if self.terms.get().is_none() {
            let terms = py.detach(|| workspace::with(|w| ParametricTerms::new(&mut w.arena, &self.map)));
            let terms = terms.raise(py)?;
            let arrays =
                vector::map_slices(py, &self.values, self.length, terms.num_columns(), |given, out| {
                    terms.columns_into(given, out)
                })?;
            for array in &arrays {
                array.call_method1("setflags", (false,))?; // it is the same one for whoever asks
            }
            let _ = self.terms.set((terms, arrays.into_iter().map(Bound::unbind).collect()));
        }
        self.terms.get().ok_or_else(|| PyIndexError::new_err("there are no columns"))
    }

    /// An array with an element for each instance.
    fn array<'py>(&self, py: Python<'py>, coefficient: Coefficient) -> PyResult<Any<'py>> {
        match coefficient {
            Coefficient::Column(k) => Ok(self.columns(py)?.1[k].bind(py).clone()),
            Coefficient::Constant(value) => {
                let numpy = py.import("numpy")?;
                numpy.call_method1("broadcast_to", (numpy.call_method1("int64", (value,))?, self.length))
            }
        }
    }

    /// The terms of the expressions in a range: results, then constraints.
    fn terms<'py>(&self, py: Python<'py>, part: Range<usize>) -> PyResult<Vec<Tuple<'py>>> {
        let (terms, _) = self.columns(py)?;
        let factors = workspace::with(|w| {
            let roots = w.arena.import(terms.factors());
            roots.iter().map(|r| w.arena.export(&[*r])).collect::<Vec<_>>()
        });
        let of = |k: usize| (k.checked_sub(1).map_or(0, |k| terms.ends()[k]))..terms.ends()[k];
        let term = |t: usize| Ok((PyExpr(factors[t].clone()), self.array(py, terms.coefficients()[t])?));
        part.map(|k| PyTuple::new(py, of(k).map(term).collect::<PyResult<Vec<_>>>()?)).collect()
    }
}

#[pymethods]
impl PyInstances {
    /// The different maps, in the order in which they are met.
    #[getter]
    fn maps<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        if let Some(maps) = self.maps.get() {
            return Ok(maps.bind(py).clone());
        }
        let rows = self.rows(py);
        let made = py.detach(|| {
            each_row(rows, &self.values, |w, values| {
                self.map.instantiate(&mut w.arena, &mut w.scratch, values)
            })
        });
        let maps = of_row(py, made)?;
        let maps = maps.into_iter().enumerate().map(|(place, m)| self.put(py, place, m));
        let maps = PyTuple::new(py, maps.collect::<PyResult<Vec<_>>>()?)?;
        let _ = self.maps.set(maps.clone().unbind()); // another thread may have been first
        Ok(maps)
    }

    /// Of each element, the place of its instance in `maps`.
    #[getter]
    fn index<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        let index: Vec<i64> = self.rows(py).index.iter().map(|i| i64::from(*i)).collect();
        vector::array(py, &[index.len()], &index)
    }

    /// The values of each parameter.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (p, values) in self.map.parameters().iter().zip(&self.values) {
            dict.set_item(self.map.stated().name(p.variable), vector::array(py, &[self.length], values)?)?;
        }
        Ok(dict)
    }

    /// Of each result its terms: factors over the variables of the map in parameters, and arrays of their coefficients. A
    /// result is the sum of their products; a constant has factor 1.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        let (terms, _) = self.columns(py)?;
        PyTuple::new(py, self.terms(py, 0..terms.ends().len() - terms.bounds().len())?)
    }

    /// Of each constraint its terms, as those of `results`, and arrays of the least and the greatest values of their
    /// sum; one that is about parameters alone has no terms.
    #[getter]
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        let (terms, _) = self.columns(py)?;
        let count = terms.ends().len();
        let of_terms = self.terms(py, count - terms.bounds().len()..count)?;
        let tuples = of_terms
            .into_iter()
            .zip(terms.bounds())
            .map(|(terms, (lower, upper))| Ok((terms, self.array(py, *lower)?, self.array(py, *upper)?)));
        PyTuple::new(py, tuples.collect::<PyResult<Vec<_>>>()?)
    }

    fn __len__(&self) -> usize {
        self.length
    }

    fn __getitem__(&self, row: &Any<'_>) -> PyResult<Py<PyIndexingMap>> {
        let py = row.py();
        if !row.hasattr("__index__")? {
            return Err(PyTypeError::new_err("instances are numbered by an int"));
        }
        let (row, count) = (int64(row)?, self.length);
        let from_start = if row < 0 { row.saturating_add(count as i64) } else { row };
        let valid = usize::try_from(from_start).ok().filter(|k| *k < count);
        let row = valid
            .ok_or_else(|| PyIndexError::new_err(format!("there are {count} instances, not one at {row}")))?;
        let place = self.rows(py).index[row] as usize;
        if let Some(map) = self.made(py)[place].get() {
            return Ok(map.clone_ref(py));
        }
        let values: Vec<i64> = self.values.iter().map(|c| c[row]).collect();
        let make = || workspace::with(|w| self.map.instantiate(&mut w.arena, &mut w.scratch, &values));
        self.put(py, place, of_row(py, make().map_err(|e| (row, e)))?)
    }
}
