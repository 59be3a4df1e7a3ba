//! Evaluation over numpy arrays: through the buffer protocol, with the GIL released.

use crate::argument::{int64, refused};
use crate::array_memory;
use crate::array_memory::ArrayElement;
use crate::error::{invalid, Raise};
use crate::objects::Any;
use crate::workspace;
use indexing_core::Dag;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyTuple};
use std::ops::Range;

fn is_array(value: &Any<'_>) -> PyResult<bool> {
    if value.is_instance_of::<PyInt>() {
        return Ok(false);
    }
    match value.getattr_opt(intern!(value.py(), "ndim"))? {
        Some(ndim) => Ok(ndim.extract::<i64>()? > 0),
        None => Ok(value.hasattr("__len__")?),
    }
}

/// The values of variables: all integers, or some arrays.
pub enum Values<'py> {
    /// One point.
    Point(Vec<i64>),
    /// Many points: arrays that broadcast against each other.
    Many(Vec<Any<'py>>),
}

/// Read the values of variables from sequences.
pub fn values_of<'py>(sequences: &[&Any<'py>]) -> PyResult<Values<'py>> {
    let mut all = Vec::with_capacity(4);
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

/// Arrays of int64 that broadcast to one shape.
pub struct Columns {
    pub shape: Vec<usize>,
    /// The number of elements of that shape.
    pub length: usize,
    arrays: Vec<Column>,
}

/// An array as it was given, or one value.
enum Column {
    Value(i64),
    Array(PyBuffer<i64>),
}

/// Read values of one variable each.
pub fn columns(py: Python<'_>, values: Vec<Any<'_>>) -> PyResult<Columns> {
    let arrays = values.into_iter().map(|value| column(py, value)).collect::<PyResult<Vec<_>>>()?;
    let mut shape: Vec<usize> = Vec::new();
    for (k, column) in arrays.iter().enumerate() {
        if !broadcast(&mut shape, column.shape()) {
            let shapes: Vec<&[usize]> = arrays[..=k].iter().map(Column::shape).collect();
            return Err(invalid(
                py,
                format!("the arrays have different shapes: {shapes:?} do not broadcast"),
            ));
        }
    }
    Ok(Columns { length: shape.iter().product(), shape, arrays })
}

fn column(py: Python<'_>, value: Any<'_>) -> PyResult<Column> {
    if value.is_instance_of::<PyInt>() {
        return Ok(Column::Value(int64(&value)?));
    }
    // Of another byte order PyO3 takes buffers as they stand.
    let taken = |b: &PyBuffer<i64>| b.is_c_contiguous() && matches!(b.format().to_bytes(), b"l" | b"q");
    if let Some(buffer) = PyBuffer::get(&value).ok().filter(taken) {
        return Ok(Column::Array(buffer));
    }
    let array = int64_array(py, value)?;
    let options = PyDict::new(py);
    options.set_item("dtype", "int64")?;
    let flat = py.import("numpy")?.call_method("ascontiguousarray", (&array,), Some(&options))?;
    Ok(Column::Array(PyBuffer::get(&flat)?))
}

/// An array of integers that fit into int64, of whatever type.
fn int64_array<'py>(py: Python<'py>, value: Any<'py>) -> PyResult<Any<'py>> {
    let array = py.import("numpy")?.call_method1("asarray", (value,)).map_err(|failure| {
        PyTypeError::new_err(format!("expected integers or arrays of them: {}", failure.value(py)))
    })?;
    let dtype = array.getattr("dtype")?;
    match dtype.getattr("kind")?.extract::<String>()?.as_str() {
        "i" | "b" => Ok(array),
        "u" => {
            let empty = array.getattr("size")?.extract::<usize>()? == 0;
            if empty || array.call_method0("max")?.call_method0("item")?.extract::<i64>().is_ok() {
                return Ok(array);
            }
            Err(crate::error::too_large(py))
        }
        _ => Err(PyTypeError::new_err(format!("expected integers, not an array of {dtype}"))),
    }
}

/// Bring a shape to what it and another broadcast to; false where they don't.
fn broadcast(shape: &mut Vec<usize>, other: &[usize]) -> bool {
    let missing = other.len().saturating_sub(shape.len());
    shape.splice(0..0, std::iter::repeat_n(1, missing));
    let behind = shape.len() - other.len();
    shape[behind..].iter_mut().zip(other).all(|(size, n)| {
        let fits = *size == *n || *size == 1 || *n == 1;
        *size = if *size == 1 { *n } else { *size };
        fits
    })
}

impl Column {
    fn shape(&self) -> &[usize] {
        match self {
            Column::Value(_) => &[],
            Column::Array(buffer) => buffer.shape(),
        }
    }

    /// The values of `part` of the elements of the shape that all columns broadcast to; where they do not lie side by side,
    /// in `scratch`.
    fn part<'a>(&'a self, shape: &[usize], part: Range<usize>, scratch: &'a mut Vec<i64>) -> &'a [i64] {
        match self {
            Column::Value(value) => scratch.resize(part.len(), *value),
            Column::Array(buffer) => {
                let values = array_memory::given(buffer);
                if values.len() == shape.iter().product::<usize>() {
                    return &values[part];
                }
                scratch.clear();
                copy_rows(values, buffer.shape(), shape, part, scratch);
            }
        }
        scratch
    }
}

/// As `part`, of an array with fewer elements than the shape, to the end of `out`, by rows of the last dimension.
fn copy_rows(values: &[i64], own: &[usize], shape: &[usize], part: Range<usize>, out: &mut Vec<i64>) {
    let mut strides = vec![0; shape.len()];
    let mut stride = 1;
    for (out, size) in strides.iter_mut().rev().zip(own.iter().rev()) {
        *out = if *size == 1 { 0 } else { stride };
        stride *= size;
    }
    let digits: Vec<(usize, usize)> =
        shape.iter().copied().zip(strides).filter(|(size, _)| *size != 1).collect();
    let Some(((row, step), outer)) = digits.split_last() else { return };
    let mut at = part.start;
    while at < part.end {
        let (mut rest, inside) = (at / row, at % row);
        let count = (row - inside).min(part.end - at);
        let mut base = 0;
        for (size, stride) in outer.iter().rev() {
            base += rest % size * stride;
            rest /= size;
        }
        match step {
            0 => out.resize(out.len() + count, values[base]),
            _ => out.extend_from_slice(&values[base + inside..base + inside + count]),
        }
        at += count;
    }
}

impl Columns {
    /// All values, of each column as many as there are elements.
    pub fn values(&self) -> Vec<Vec<i64>> {
        let all = |column: &Column| column.part(&self.shape, 0..self.length, &mut Vec::new()).to_vec();
        self.arrays.iter().map(all).collect()
    }
}

/// An array of this shape with these values.
pub fn array<'py>(py: Python<'py>, shape: &[usize], values: &[i64]) -> PyResult<Any<'py>> {
    let out = empty::<i64>(py, shape)?;
    PyBuffer::<i64>::get(&out)?.copy_from_slice(py, values)?;
    Ok(out)
}

impl ArrayElement for i64 {
    fn dtype(py: Python<'_>) -> PyResult<&Any<'_>> {
        static DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        dtype_named(py, &DTYPE, "int64")
    }
}

impl ArrayElement for u8 {
    fn dtype(py: Python<'_>) -> PyResult<&Any<'_>> {
        static DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        dtype_named(py, &DTYPE, "uint8")
    }
}

fn dtype_named<'py>(
    py: Python<'py>,
    known: &'static PyOnceLock<Py<PyAny>>,
    name: &str,
) -> PyResult<&'py Any<'py>> {
    let make = || Ok(py.import("numpy")?.call_method1("dtype", (name,))?.unbind());
    known.get_or_try_init(py, make).map(|dtype| dtype.bind(py))
}

/// A new array of this shape.
pub fn empty<'py, T: ArrayElement>(py: Python<'py>, shape: &[usize]) -> PyResult<Any<'py>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    EMPTY.import(py, "numpy", "empty")?.call1((PyTuple::new(py, shape)?, T::dtype(py)?))
}

/// The values of `count` functions of the columns, an array each. `of` works them out for a part of the elements, without
/// the GIL.
pub fn map_columns<'py, T: ArrayElement>(
    py: Python<'py>,
    columns: &Columns,
    count: usize,
    of: impl Fn(&[&[i64]], &mut [&mut [T]]) -> indexing_core::Result<()> + Sync,
) -> PyResult<Vec<Any<'py>>> {
    let mut scratch = vec![Vec::new(); columns.arrays.len()];
    made_by_parts(py, &columns.shape, count, |part, made| {
        let each = columns.arrays.iter().zip(&mut scratch);
        let inputs: Vec<&[i64]> = each.map(|(c, s)| c.part(&columns.shape, part.clone(), s)).collect();
        of(&inputs, made)
    })
}

/// As `map_columns`, of columns that Python does not hold, to arrays of one dimension.
pub fn map_slices<'py>(
    py: Python<'py>,
    columns: &[Vec<i64>],
    length: usize,
    count: usize,
    of: impl Fn(&[&[i64]], &mut [&mut [i64]]) -> indexing_core::Result<()> + Sync,
) -> PyResult<Vec<Any<'py>>> {
    made_by_parts(py, &[length], count, |part, made| {
        let inputs: Vec<&[i64]> = columns.iter().map(|c| &c[part.clone()]).collect();
        of(&inputs, made)
    })
}

/// New arrays of this shape, as many as `count`, filled part by part without the GIL.
fn made_by_parts<'py, T: ArrayElement>(
    py: Python<'py>,
    shape: &[usize],
    count: usize,
    mut fill: impl FnMut(Range<usize>, &mut [&mut [T]]) -> indexing_core::Result<()> + Send,
) -> PyResult<Vec<Any<'py>>> {
    let arrays = (0..count).map(|_| empty::<T>(py, shape)).collect::<PyResult<Vec<_>>>()?;
    let mut buffers = arrays.iter().map(PyBuffer::<T>::get).collect::<PyResult<Vec<_>>>()?;
    let length = shape.iter().product();
    let work = || {
        let mut made: Vec<&mut [T]> = buffers.iter_mut().map(array_memory::made).collect();
        for start in (0..length).step_by(PART) {
            let part = start..length.min(start + PART);
            let mut outputs: Vec<&mut [T]> = made.iter_mut().map(|m| &mut m[part.clone()]).collect();
            fill(part, &mut outputs)?;
        }
        Ok(())
    };
    py.detach(work).raise(py)?;
    Ok(arrays)
}

/// Elements of a part: what is broadcast stays in the cache.
const PART: usize = 1 << 15;

/// The values of the first `count` roots: integers, or arrays.
pub fn evaluate<'py>(
    py: Python<'py>,
    dag: &Dag,
    count: usize,
    values: Values<'py>,
) -> PyResult<Vec<Any<'py>>> {
    match values {
        Values::Point(point) => {
            let evaluated =
                workspace::with(|w| dag.evaluate_first(count, &point, &mut w.values)).raise(py)?;
            evaluated.iter().map(|v| Ok(v.into_pyobject(py)?.into_any())).collect()
        }
        Values::Many(values) => {
            let columns = columns(py, values)?;
            map_columns(py, &columns, count, |inputs, outputs| dag.evaluate_block(inputs, outputs))
        }
    }
}

/// Values of dimensions and symbols, as many as a map has.
pub fn checked_values<'py>(
    dims: &Any<'py>,
    symbols: Option<&Any<'py>>,
    num_dims: usize,
    num_symbols: usize,
) -> PyResult<Values<'py>> {
    let none = PyTuple::empty(dims.py()).into_any();
    let symbols = symbols.unwrap_or(&none);
    for (what, given, wanted) in [("dims", dims, num_dims), ("symbols", symbols, num_symbols)] {
        let count = given.len().map_err(|_| refused(given, &format!("{what}, a sequence of {wanted}")))?;
        if count != wanted {
            return Err(invalid(given.py(), format!("{what} has {count} values, the map has {wanted}")));
        }
    }
    values_of(&[dims, symbols])
}
