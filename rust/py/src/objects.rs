//! Short names of Python's types.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// An object of Python.
pub type Any<'py> = Bound<'py, PyAny>;
/// An argument.
pub type Given<'a, 'py> = Borrowed<'a, 'py, PyAny>;
/// A string of Python.
pub type Str<'py> = Bound<'py, PyString>;
/// A tuple of Python.
pub type Tuple<'py> = Bound<'py, PyTuple>;
