//! Iteration over the points of a domain.

use crate::error::Raise;
use indexing_core::points::{Points, Step};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Iterates over the points of a domain, as pairs of dimensions and symbols.
#[pyclass(name = "Points", module = "indexing._core", frozen)]
pub struct PyPoints {
    pub points: std::sync::Mutex<Points>,
    pub num_dims: usize,
}

#[pymethods]
impl PyPoints {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        const STEPS: usize = 1 << 16;
        loop {
            let found = {
                let mut points = self.points.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                points.step(STEPS).raise(py)?
            };
            match found {
                Step::Point(values) => {
                    let (dims, symbols) = values.split_at(self.num_dims);
                    return Ok(Some((PyTuple::new(py, dims)?, PyTuple::new(py, symbols)?)));
                }
                Step::End => return Ok(None),
                Step::Searching => py.check_signals()?,
            }
        }
    }
}
