//! Values as notebooks show them: `indexing.display` knows how.

use pyo3::prelude::*;

/// The form of a value that a function of `show/notebook.py` makes.
pub fn shown<'py>(value: &Bound<'py, PyAny>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    value.py().import("indexing.display")?.call_method1("shown", (value, function))
}
