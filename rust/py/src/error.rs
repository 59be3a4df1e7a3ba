//! Errors of the core as exceptions of `indexing.errors`.

use crate::objects::{Any, Str};
use indexing_core::{Error, ErrorKind, HloError, Place};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PySlice;
use std::panic::{catch_unwind, AssertUnwindSafe};

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Any<'py>> {
    let module = ERRORS.get_or_try_init(py, || py.import("indexing.errors").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

fn class_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Parse => "ParseError",
        ErrorKind::Overflow => "Overflow",
        ErrorKind::InvalidMap | ErrorKind::DivisionByZero => "InvalidMap",
        ErrorKind::Unsupported => "Undecided",
        _ => "IndexingError",
    }
}

/// The exception of an error; `text` is what was read, if anything was; `prefix` is put before the message.
pub fn raise(py: Python<'_>, error: &Error, text: Option<&str>, prefix: &str) -> PyErr {
    let made = class(py, class_name(error.kind())).and_then(|class| {
        let mut message = format!("{prefix}{}", error.message());
        match (error.kind(), text, error.offset()) {
            (ErrorKind::Parse, Some(text), Some(offset)) => {
                let at = place(text, offset);
                class.call1((message, at.line, at.column, at.excerpt, at.caret))
            }
            (_, Some(text), Some(offset)) => {
                let at = place(text, offset);
                message.push_str(&format!(" (line {}, column {})", at.line, at.column));
                class.call1((message,))
            }
            _ => class.call1((message,)),
        }
    });
    made.map_or_else(|e| e, PyErr::from_value)
}

/// The place of a byte: line, column, and the part of the line around it.
fn place(text: &str, offset: usize) -> Place {
    HloError::new(offset, "").place(text)
}

/// Turn results of the core into results of Python.
pub trait Raise<T> {
    /// The value, or the exception.
    fn raise(self, py: Python<'_>) -> PyResult<T>;
    /// The value, or the exception of an error in `text`.
    fn raise_in(self, py: Python<'_>, text: &str) -> PyResult<T>;
}

impl<T> Raise<T> for indexing_core::Result<T> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|e| raise(py, &e, None, ""))
    }

    fn raise_in(self, py: Python<'_>, text: &str) -> PyResult<T> {
        self.map_err(|e| raise(py, &e, Some(text), ""))
    }
}

/// `InvalidMap` with this message.
pub fn invalid(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, &Error::invalid_map(message), None, "")
}

/// `IndexingError`: an option that does not exist, or a fault of the core.
pub fn wrong_option(py: Python<'_>, message: String) -> PyErr {
    class(py, "IndexingError").and_then(|class| class.call1((message,))).map_or_else(|e| e, PyErr::from_value)
}

/// Run `call`. A panic of it, which is a fault of the core, becomes an `IndexingError`: what it leaves behind is memory to
/// work in, which is cleared before use, and tables of what is known, which are filled after the work.
pub fn guarded<R>(py: Python<'_>, call: impl FnOnce() -> R) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        wrong_option(py, format!("a fault of the core ({text}): please report the call and its arguments"))
    })
}

/// `ParseError` at the place of the first half of a character, which `failure` names, with `prefix` before the message; any other
/// failure as it is.
pub fn broken_text(text: &Str<'_>, failure: &PyErr, prefix: &str) -> PyErr {
    let py = text.py();
    let raised = failure.value(py).getattr("start").and_then(|start| {
        let before = text.get_item(PySlice::new(py, 0, start.extract()?, 1))?;
        let before = before.extract::<String>()?;
        let at = place(&before, before.len());
        let message = format!("{prefix}the text holds half of a character (a lone surrogate)");
        class(py, "ParseError")?.call1((message, at.line, at.column, at.excerpt, at.caret))
    });
    raised.map_or_else(|_| failure.clone_ref(py), PyErr::from_value)
}

/// `Overflow`: an integer of Python that is no int64.
pub fn too_large(py: Python<'_>) -> PyErr {
    match class(py, "Overflow").and_then(|c| c.call1(("an integer leaves the range of int64",))) {
        Ok(e) => PyErr::from_value(e),
        Err(e) => PyRuntimeError::new_err(e.to_string()),
    }
}
