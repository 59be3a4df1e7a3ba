//! Iteration over the points of a domain.

use crate::array_memory;
use crate::error::Raise;
use crate::forks::Shared;
use crate::objects::{Any, Tuple};
use crate::vector;
use indexing_core::{PointStep, Points};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

/// The points of a domain, as pairs of the values of dimensions and of symbols (ranges, then runtime variables).
#[pyclass(name = "Points", module = "indexing._core", frozen)]
pub struct PyPoints {
    pub points: Shared<Points>,
    pub num_dims: usize,
    pub num_variables: usize,
}

/// The number of points or boxes that are visited before signals are checked.
const MANY: usize = 1 << 16;
type Pair<'py> = (Tuple<'py>, Tuple<'py>);

#[pymethods]
impl PyPoints {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Pair<'py>>> {
        let few = 1 << 6;
        let mut point = self.points.briefly(py, |points| points.step(few)).raise(py)?;
        loop {
            match point {
                PointStep::Point(values) => {
                    let (dims, symbols) = values.split_at(self.num_dims);
                    return Ok(Some((PyTuple::new(py, dims)?, PyTuple::new(py, symbols)?)));
                }
                PointStep::End => return Ok(None),
                PointStep::Searching => py.check_signals()?,
            }
            point = py.detach(|| self.points.lock().step(MANY)).raise(py)?;
        }
    }

    /// All remaining points, as `evaluate` takes them: an int64 array for each dimension, and one for each symbol.
    ///
    /// Raises MemoryError if there are too many.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py>> {
        let known = self.points.briefly(py, |points| points.known_count());
        let arrays = match known {
            Some(count) => self.counted_arrays(py, count)?,
            None => self.collected_arrays(py)?,
        };
        let (dims, symbols) = arrays.split_at(self.num_dims);
        Ok((PyTuple::new(py, dims)?, PyTuple::new(py, symbols)?))
    }
}

impl PyPoints {
    /// The arrays of so many points, written as they are found.
    fn counted_arrays<'py>(&self, py: Python<'py>, count: u128) -> PyResult<Vec<Any<'py>>> {
        let fits = |n: &usize| *n < isize::MAX as usize / 8;
        let count = usize::try_from(count).ok().filter(fits).ok_or_else(too_many)?;
        let made =
            (0..self.num_variables).map(|_| vector::empty::<i64>(py, &[count]).map_err(|_| too_many()));
        let arrays = made.collect::<PyResult<Vec<_>>>()?;
        let mut buffers = arrays.iter().map(PyBuffer::get).collect::<PyResult<Vec<_>>>()?;
        let (mut written, mut more) = (0, true);
        while more {
            let next = || {
                let left = |buffer| &mut array_memory::made(buffer)[written..];
                let mut columns: Vec<&mut [i64]> = buffers.iter_mut().map(left).collect();
                // The points of no variables, one at most, need no room; to find out that there are no others neither.
                let room = columns.first().map_or(MANY, |column| column.len().max(1));
                self.points.lock().fill(MANY.min(room), &mut columns)
            };
            let (count, others) = py.detach(next).raise(py)?;
            (written, more) = (written + count, others);
            py.check_signals()?;
        }
        if written == count || arrays.is_empty() {
            return Ok(arrays);
        }
        let first = PySlice::new(py, 0, written as isize, 1); // other threads have taken the others
        arrays.iter().map(|array| array.get_item(&first)).collect()
    }

    /// The arrays of points whose number is known when all are found.
    fn collected_arrays<'py>(&self, py: Python<'py>) -> PyResult<Vec<Any<'py>>> {
        let mut columns = vec![Vec::new(); self.num_variables];
        reserve(&mut columns)?;
        while py.detach(|| self.points.lock().extend(MANY, &mut columns)).raise(py)? {
            py.check_signals()?;
            reserve(&mut columns)?;
        }
        columns.iter().map(|c| vector::array(py, &[c.len()], c)).collect()
    }
}

fn reserve(columns: &mut [Vec<i64>]) -> PyResult<()> {
    let fits = columns.iter_mut().all(|column| column.try_reserve(MANY).is_ok());
    fits.then_some(()).ok_or_else(too_many)
}

fn too_many() -> PyErr {
    PyMemoryError::new_err("the points of this domain are more than memory holds; iterate over them")
}
