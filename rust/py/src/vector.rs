//! Evaluation over numpy arrays: through the buffer protocol, with the GIL released.

use crate::error::{invalid, Raise};
use crate::interval::int64;
use crate::workspace;
use indexing_core::Dag;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};

fn is_array(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<PyInt>() {
        return Ok(false);
    }
    match value.getattr_opt("ndim")? {
        Some(ndim) => Ok(ndim.extract::<i64>()? > 0),
        None => Ok(value.hasattr("__len__")?),
    }
}

/// The values of variables: all integers, or some arrays.
pub enum Values<'py> {
    /// One point.
    Point(Vec<i64>),
    /// Many points: arrays that broadcast against each other.
    Many(Vec<Bound<'py, PyAny>>),
}

/// Read the values of variables from sequences.
pub fn values_of<'py>(sequences: &[&Bound<'py, PyAny>]) -> PyResult<Values<'py>> {
    let mut all = Vec::new();
    for sequence in sequences {
        for value in sequence.try_iter()? {
            all.push(value?);
        }
    }
    for value in &all {
        if is_array(value)? {
            return Ok(Values::Many(all));
        }
    }
    Ok(Values::Point(all.iter().map(int64).collect::<PyResult<_>>()?))
}

/// Arrays of int64, broadcast to one shape, and that shape.
pub struct Columns<'py> {
    pub shape: Bound<'py, PyAny>,
    pub columns: Vec<Vec<i64>>,
    pub length: usize,
}

/// Bring values to one shape.
pub fn columns<'py>(py: Python<'py>, values: Vec<Bound<'py, PyAny>>) -> PyResult<Columns<'py>> {
    let numpy = py.import("numpy")?;
    let mut arrays = Vec::with_capacity(values.len());
    for value in values {
        let array = numpy.call_method1("asarray", (value,)).map_err(|failure| {
            PyTypeError::new_err(format!("expected integers or arrays of them: {}", failure.value(py)))
        })?;
        let dtype = array.getattr("dtype")?;
        let kind: String = dtype.getattr("kind")?.extract()?;
        let narrow =
            kind == "i" || kind == "b" || (kind == "u" && dtype.getattr("itemsize")?.extract::<i64>()? < 8);
        if !narrow {
            let large = kind == "u" && array.getattr("size")?.extract::<i64>()? > 0;
            if kind == "u" && (!large || array.call_method0("max")?.extract::<i64>().is_ok()) {
                arrays.push(array);
                continue;
            }
            if kind == "u" {
                return Err(crate::error::too_large(py));
            }
            return Err(PyTypeError::new_err(format!("expected integers, not an array of {dtype}")));
        }
        arrays.push(array);
    }
    let broadcast = numpy
        .getattr("broadcast_arrays")?
        .call1(PyTuple::new(py, arrays)?)
        .map_err(|e| invalid(py, format!("the arrays have different shapes: {}", e.value(py))))?;
    let mut shape = None;
    let mut out = Vec::new();
    for array in broadcast.try_iter()? {
        let array = array?;
        let options = PyDict::new(py);
        options.set_item("dtype", numpy.getattr("int64")?)?;
        let flat = numpy.call_method("ascontiguousarray", (&array,), Some(&options))?;
        let column = PyBuffer::<i64>::get(&flat)?.to_vec(py)?;
        shape.get_or_insert(array.getattr("shape")?);
        out.push(column);
    }
    let shape = match shape {
        Some(shape) => shape,
        None => PyTuple::empty(py).into_any(),
    };
    let length = out.first().map_or(1, Vec::len);
    Ok(Columns { shape, columns: out, length })
}

/// An array of this shape with these values.
pub fn array<'py>(py: Python<'py>, shape: &Bound<'py, PyAny>, values: &[i64]) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    let out = numpy.call_method1("empty", (shape, numpy.getattr("int64")?))?;
    PyBuffer::<i64>::get(&out)?.copy_from_slice(py, values)?;
    Ok(out)
}

/// The values of the first `count` roots: of each a column.
pub fn evaluate_columns(
    py: Python<'_>,
    dag: &Dag,
    count: usize,
    columns: &Columns<'_>,
) -> PyResult<Vec<Vec<i64>>> {
    let length = columns.length;
    let inputs: Vec<&[i64]> = columns.columns.iter().map(Vec::as_slice).collect();
    let mut out = vec![vec![0i64; length]; count];
    let result = py.detach(|| {
        let mut outputs: Vec<&mut [i64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        dag.evaluate_block(&inputs, &mut outputs)
    });
    result.raise(py)?;
    Ok(out)
}

/// The values of the first `count` roots: integers, or arrays.
pub fn evaluate<'py>(
    py: Python<'py>,
    dag: &Dag,
    count: usize,
    values: Values<'py>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match values {
        Values::Point(point) => {
            let found = workspace::with(|w| dag.evaluate_first(count, &point, &mut w.values)).raise(py)?;
            found.iter().map(|v| Ok(v.into_pyobject(py)?.into_any())).collect()
        }
        Values::Many(values) => {
            let columns = columns(py, values)?;
            let found = evaluate_columns(py, dag, count, &columns)?;
            found.iter().map(|v| array(py, &columns.shape, v)).collect()
        }
    }
}

/// Values of dimensions and symbols, as many as a map has.
pub fn checked_values<'py>(
    dims: &Bound<'py, PyAny>,
    symbols: &Bound<'py, PyAny>,
    num_dims: usize,
    num_symbols: usize,
) -> PyResult<Values<'py>> {
    for (what, given, wanted) in [("dims", dims, num_dims), ("symbols", symbols, num_symbols)] {
        let count = given.len()?;
        if count != wanted {
            return Err(invalid(given.py(), format!("{what} has {count} values, the map has {wanted}")));
        }
    }
    values_of(&[dims, symbols])
}
