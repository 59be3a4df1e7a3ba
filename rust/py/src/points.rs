//! Iteration over the points of a domain.

use crate::error::Raise;
use crate::vector;
use indexing_core::{PointStep, Points, Result};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The points of a domain, as pairs of the values of dimensions and of symbols (ranges, then runtime variables).
#[pyclass(name = "Points", module = "indexing._core", frozen)]
pub struct PyPoints {
    pub points: Mutex<Points>,
    pub num_dims: usize,
    pub num_variables: usize,
}

/// Points or boxes that are looked at before signals are.
const MANY: usize = 1 << 16;
type Pair<'py> = (Bound<'py, PyTuple>, Bound<'py, PyTuple>);

impl PyPoints {
    fn step(&self, steps: usize) -> Result<PointStep> {
        self.locked().step(steps)
    }

    fn locked(&self) -> MutexGuard<'_, Points> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyPoints {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Pair<'py>>> {
        let few = 1 << 6;
        let mut found = self.step(few).raise(py)?;
        loop {
            match found {
                PointStep::Point(values) => {
                    let (dims, symbols) = values.split_at(self.num_dims);
                    return Ok(Some((PyTuple::new(py, dims)?, PyTuple::new(py, symbols)?)));
                }
                PointStep::End => return Ok(None),
                PointStep::Searching => py.check_signals()?,
            }
            found = py.detach(|| self.step(MANY)).raise(py)?;
        }
    }

    /// All points that are left, as `evaluate` takes them: an array of int64 for each dimension, and one for each symbol.
    ///
    /// Raises MemoryError where there are too many.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py>> {
        let mut columns = vec![Vec::new(); self.num_variables];
        let known = self.locked().known_count().map_or(MANY, |n| usize::try_from(n).unwrap_or(usize::MAX));
        reserve(&mut columns, known)?;
        while py.detach(|| self.locked().extend(MANY, &mut columns)).raise(py)? {
            py.check_signals()?;
            reserve(&mut columns, if known == MANY { MANY } else { 0 })?;
        }
        let arrays =
            columns.iter().map(|c| vector::array(py, &[c.len()], c)).collect::<PyResult<Vec<_>>>()?;
        let (dims, symbols) = arrays.split_at(self.num_dims);
        Ok((PyTuple::new(py, dims)?, PyTuple::new(py, symbols)?))
    }
}

fn reserve(columns: &mut [Vec<i64>], more: usize) -> PyResult<()> {
    let fits = columns.iter_mut().all(|column| column.try_reserve(more).is_ok());
    let message = "the points of this domain are more than memory holds; iterate over them";
    fits.then_some(()).ok_or_else(|| PyMemoryError::new_err(message))
}
