//! Values as notebooks show them: `indexing.display` knows how.

use crate::objects::Any;
use pyo3::prelude::*;

/// The form of a value that a function of `show/notebook.py` makes.
pub fn shown<'py>(value: &Any<'py>, function: &str) -> PyResult<Any<'py>> {
    value.py().import("indexing.display")?.call_method1("shown", (value, function))
}
