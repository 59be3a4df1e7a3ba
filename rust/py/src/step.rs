//! `Step`: one step of simplification.

use indexing_core::rules::Rule;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// One step of simplification.
#[pyclass(name = "Step", module = "indexing._core", frozen)]
pub struct PyStep {
    pub rule: &'static Rule,
    pub before: String,
    pub after: String,
    pub facts: Vec<String>,
}

#[pymethods]
impl PyStep {
    #[getter]
    fn rule(&self) -> &str {
        self.rule.name
    }

    #[getter]
    fn law(&self) -> &str {
        self.rule.law
    }

    #[getter]
    fn precondition(&self) -> &str {
        self.rule.precondition
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
        let Rule { name, law, precondition, .. } = self.rule;
        let facts =
            if self.facts.is_empty() { String::new() } else { format!("; {}", self.facts.join(", ")) };
        format!("{} -> {}  [{name}: {law} where {precondition}{facts}]", self.before, self.after)
    }

    fn __repr__(&self) -> String {
        format!("Step({})", self.__str__())
    }
}
