//! `Step`: one step of simplification.

use indexing_core::Law;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// One step of simplification.
#[pyclass(name = "Step", module = "indexing._core", frozen)]
pub struct PyStep {
    pub law: Law,
    pub before: String,
    pub after: String,
    pub facts: Vec<String>,
}

#[pymethods]
impl PyStep {
    #[getter]
    fn rule(&self) -> &str {
        self.law.name
    }

    #[getter]
    fn law(&self) -> &str {
        self.law.law
    }

    #[getter]
    fn precondition(&self) -> &str {
        self.law.precondition
    }

    #[getter]
    fn before(&self) -> &str {
        &self.before
    }

    #[getter]
    fn after(&self) -> &str {
        &self.after
    }

    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.facts)
    }

    fn __str__(&self) -> String {
        let Law { name, law, precondition, .. } = self.law;
        let facts =
            if self.facts.is_empty() { String::new() } else { format!("; {}", self.facts.join(", ")) };
        format!("{} -> {}  [{name}: {law} where {precondition}{facts}]", self.before, self.after)
    }

    fn __repr__(&self) -> String {
        format!("Step({})", self.__str__())
    }
}
