//! The tables of laws.

use crate::objects::Tuple;
use indexing_core::{all_laws, Law};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A law of the simplifier, as data.
#[pyclass(name = "Law", module = "indexing._core", frozen)]
pub struct PyLaw(Law);

#[pymethods]
impl PyLaw {
    /// The group that applies it: a "rule" on a domain, by a "constructor", to a "constraint", to derive a "range".
    #[getter]
    fn group(&self) -> &'static str {
        self.0.group.name()
    }

    /// Its stable name.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// The operator at its left side.
    #[getter]
    fn family(&self) -> &'static str {
        self.0.family
    }

    /// The law; `/` is floordiv, `%` is mod.
    #[getter]
    fn law(&self) -> &'static str {
        self.0.law
    }

    /// The precondition.
    #[getter]
    fn precondition(&self) -> &'static str {
        self.0.precondition
    }

    /// Whether its precondition refers to bounds of variables or to constraints; otherwise it holds for all integers.
    #[getter]
    fn needs_domain(&self) -> bool {
        self.0.needs_domain
    }

    /// The condition under which it is applied: "always", "if cheaper", "if smaller", "if cheaper with the next".
    #[getter]
    fn applied(&self) -> &'static str {
        self.0.applied.name()
    }

    fn __repr__(&self) -> String {
        let Law { group, name, law, precondition, .. } = &self.0;
        format!("Law({} {name}: {law} where {precondition})", group.name())
    }
}

/// All laws of the simplifier, those of rules first.
#[pyfunction]
pub fn rules(py: Python<'_>) -> PyResult<Tuple<'_>> {
    PyTuple::new(py, all_laws().map(|l| Py::new(py, PyLaw(l))).collect::<PyResult<Vec<_>>>()?)
}
