//! The tables of laws.

use crate::objects::Tuple;
use indexing_core::{all_laws, Law};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A law of the simplifier, as data.
#[pyclass(name = "Law", module = "indexing._core", frozen, get_all)]
pub struct PyLaw {
    /// The group that applies it: a "rule" on a domain, by a "constructor", to a "constraint", to derive a "range".
    group: &'static str,
    /// Its stable name.
    name: &'static str,
    /// The operator at its left side.
    family: &'static str,
    /// The law; `/` is floordiv, `%` is mod.
    law: &'static str,
    /// The precondition.
    precondition: &'static str,
    /// Whether its precondition refers to bounds of variables or to constraints; otherwise it holds for all integers.
    needs_domain: bool,
    /// The condition under which it is applied: "always", "if cheaper", "if smaller", "if cheaper with the next".
    applied: &'static str,
}

impl PyLaw {
    fn new(of: Law) -> Self {
        let Law { group, name, family, law, precondition, needs_domain, applied, .. } = of;
        PyLaw { group: group.name(), name, family, law, precondition, needs_domain, applied: applied.name() }
    }
}

#[pymethods]
impl PyLaw {
    fn __repr__(&self) -> String {
        format!("Law({} {}: {} where {})", self.group, self.name, self.law, self.precondition)
    }
}

/// All laws of the simplifier, those of rules first.
#[pyfunction]
pub fn rules(py: Python<'_>) -> PyResult<Tuple<'_>> {
    PyTuple::new(py, all_laws().map(|l| Py::new(py, PyLaw::new(l))).collect::<PyResult<Vec<_>>>()?)
}
