//! `Equivalence`: the answer of `equivalent`.

use crate::objects::{Any, Tuple};
use crate::parts;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

type Point = (Vec<i64>, Vec<i64>);

/// Whether two maps are equal as relations: it converts to bool, and has a point where they differ.
#[pyclass(name = "Equivalence", module = "indexing", frozen, eq, hash)]
#[derive(PartialEq, Hash)]
pub struct PyEquivalence(pub Option<Point>);

#[pymethods]
impl PyEquivalence {
    #[new]
    #[pyo3(signature = (counterexample = None))]
    fn new(counterexample: Option<&Tuple<'_>>) -> PyResult<Self> {
        let Some(point) = counterexample else { return Ok(PyEquivalence(None)) };
        let (dims, symbols) = point
            .extract::<(Any<'_>, Any<'_>)>()
            .map_err(|_| PyTypeError::new_err("a counterexample is a pair (dims, symbols)"))?;
        Ok(PyEquivalence(Some((parts::sizes(Some(&dims))?, parts::sizes(Some(&symbols))?))))
    }

    /// A point (dims, symbols) in one domain only, or whose results differ; None if the maps are equivalent.
    #[getter]
    fn counterexample<'py>(&self, py: Python<'py>) -> PyResult<Option<Tuple<'py>>> {
        let Some((dims, symbols)) = &self.0 else { return Ok(None) };
        (PyTuple::new(py, dims)?, PyTuple::new(py, symbols)?).into_pyobject(py).map(Some)
    }

    fn __bool__(&self) -> bool {
        self.0.is_none()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(match self.counterexample(py)? {
            Some(point) => format!("Equivalence(counterexample={})", point.repr()?),
            None => "Equivalence(counterexample=None)".into(),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, Tuple<'py>)> {
        let arguments = (slf.get().counterexample(slf.py())?,).into_pyobject(slf.py())?;
        Ok((slf.get_type().into_any(), arguments))
    }
}
