//! The tables of laws.

use indexing_core::{all_laws, Law};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A law of the simplifier, as data.
#[pyclass(name = "Law", module = "indexing._core", frozen)]
pub struct PyLaw(Law);

#[pymethods]
impl PyLaw {
    #[getter]
    fn group(&self) -> &'static str {
        self.0.group.name()
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    #[getter]
    fn family(&self) -> &'static str {
        self.0.family
    }

    #[getter]
    fn law(&self) -> &'static str {
        self.0.law
    }

    #[getter]
    fn precondition(&self) -> &'static str {
        self.0.precondition
    }

    fn __repr__(&self) -> String {
        let Law { group, name, law, precondition, .. } = &self.0;
        format!("Law({} {name}: {law} where {precondition})", group.name())
    }
}

/// All laws.
#[pyfunction]
pub fn rules(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, all_laws().map(|l| Py::new(py, PyLaw(l))).collect::<PyResult<Vec<_>>>()?)
}
