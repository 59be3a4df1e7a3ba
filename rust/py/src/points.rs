//! Iteration over the points of a domain.

use crate::error::Raise;
use indexing_core::{PointStep, Points, Result};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, PoisonError};

/// The points of a domain, as pairs of the values of dimensions and of symbols (ranges, then runtime variables).
#[pyclass(name = "Points", module = "indexing._core", frozen)]
pub struct PyPoints {
    pub points: Mutex<Points>,
    pub num_dims: usize,
}

impl PyPoints {
    fn step(&self, steps: usize) -> Result<PointStep> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner).step(steps)
    }
}

#[pymethods]
impl PyPoints {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let (few, many) = (1 << 6, 1 << 16);
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
            found = py.detach(|| self.step(many)).raise(py)?;
        }
    }
}
