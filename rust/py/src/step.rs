//! `Step`: one step of simplification.

use indexing_core::Law;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// One step of simplification: a rule on an expression, or a law of constraints on `expression in [a, b]`.
#[pyclass(name = "Step", module = "indexing._core", frozen)]
pub struct PyStep {
    pub law: Law,
    pub before: String,
    pub after: String,
    pub facts: Vec<String>,
}

#[pymethods]
impl PyStep {
    /// The name of the rule, or of the law of constraints.
    #[getter]
    fn rule(&self) -> &str {
        self.law.name
    }

    /// The law; `/` is floordiv, `%` is mod.
    #[getter]
    fn law(&self) -> &str {
        self.law.law
    }

    /// The precondition of the law.
    #[getter]
    fn precondition(&self) -> &str {
        self.law.precondition
    }

    /// The expression or constraint that the rule applied to.
    #[getter]
    fn before(&self) -> &str {
        &self.before
    }

    /// The result; of a constraint that always or never holds "true" or "false".
    #[getter]
    fn after(&self) -> &str {
        &self.after
    }

    /// Facts that the rule could use, where its law needs a domain: bounds of the variables, then constraints on them.
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
