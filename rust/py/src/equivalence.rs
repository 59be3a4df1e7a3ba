//! `Equivalence`: the answer of `equivalent`.

use crate::hash::stable;
use crate::interval::equality;
use crate::parts;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

type Point = (Vec<i64>, Vec<i64>);

/// Whether two maps are equal as relations: it converts to bool, and has a point where they differ.
#[pyclass(name = "Equivalence", module = "indexing", frozen)]
pub struct PyEquivalence(pub Option<Point>);

#[pymethods]
impl PyEquivalence {
    #[new]
    #[pyo3(signature = (counterexample = None))]
    fn new(counterexample: Option<&Bound<'_, PyTuple>>) -> PyResult<Self> {
        let Some(point) = counterexample else { return Ok(PyEquivalence(None)) };
        let (dims, symbols) = point
            .extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()
            .map_err(|_| PyTypeError::new_err("a counterexample is a pair (dims, symbols)"))?;
        Ok(PyEquivalence(Some((parts::sizes(Some(&dims))?, parts::sizes(Some(&symbols))?))))
    }

    /// A point (dims, symbols) in one domain only, or whose results differ; None if the maps are equivalent.
    #[getter]
    fn counterexample<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some((dims, symbols)) = &self.0 else { return Ok(None) };
        (PyTuple::new(py, dims)?, PyTuple::new(py, symbols)?).into_pyobject(py).map(Some)
    }

    fn __bool__(&self) -> bool {
        self.0.is_none()
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> Py<PyAny> {
        equality(other.py(), op, other.downcast::<Self>().ok().map(|o| o.get().0 == self.0))
    }

    fn __hash__(&self) -> u64 {
        stable(&self.0)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(match self.counterexample(py)? {
            Some(point) => format!("Equivalence(counterexample={})", point.repr()?),
            None => "Equivalence(counterexample=None)".into(),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let arguments = (slf.get().counterexample(slf.py())?,).into_pyobject(slf.py())?;
        Ok((slf.get_type().into_any(), arguments))
    }
}
