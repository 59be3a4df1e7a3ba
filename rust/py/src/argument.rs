//! Arguments as Python gives them: texts and numbers that do not fit are errors of this package.

use crate::error::{broken_text, invalid, too_large, wrong_option};
use crate::objects::{Any, Given, Str};
use indexing_core::{Effort, Style};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// A map may have more variables, each written out in its text; a number alone asks for no more.
const MAX_COUNT: i64 = 1 << 20;

/// `TypeError` for a value of another type than is wanted.
pub fn refused(value: &Any<'_>, wanted: &str) -> PyErr {
    let name = value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    let article = if name.starts_with(|c| "AEIOaeiou".contains(c)) { "an" } else { "a" };
    PyTypeError::new_err(format!("expected {wanted}, not {article} {name}"))
}

/// The characters of a text; `ParseError` if it contains half of a surrogate pair.
pub fn text_of<'a>(text: &'a Str<'_>) -> PyResult<&'a str> {
    text.to_str().map_err(|failure| broken_text(text, &failure, ""))
}

/// A Python integer as an int64; `Overflow` for a larger one, `TypeError` for other types.
pub fn int64(value: &Any<'_>) -> PyResult<i64> {
    value.extract::<i64>().map_err(|e| {
        if e.is_instance_of::<pyo3::exceptions::PyOverflowError>(value.py()) {
            too_large(value.py())
        } else {
            e
        }
    })
}

/// Whether variables with a single value are kept; what may stand first in a call, where an effort is expected by some.
#[derive(Clone, Copy)]
pub struct KeepPoints(pub bool);

impl<'py> FromPyObject<'_, 'py> for KeepPoints {
    type Error = PyErr;

    fn extract(value: Given<'_, 'py>) -> PyResult<Self> {
        let told = "True or False for keep_points (an effort is named: effort=\"search\")";
        value.extract().map(KeepPoints).map_err(|_| refused(&value, told))
    }
}

/// A name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(pub String);

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(value: Given<'_, 'py>) -> PyResult<Self> {
        Ok(Text(text_of(&*value.cast::<PyString>()?)?.to_owned()))
    }
}

/// A count, or an index.
#[derive(Clone, Copy)]
pub struct Count(pub usize);

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(value: Given<'_, 'py>) -> PyResult<Self> {
        let count = int64(&value)?;
        match usize::try_from(count) {
            Ok(n) if count <= MAX_COUNT => Ok(Count(n)),
            _ => Err(invalid(value.py(), format!("{count} is no number from 0 to {MAX_COUNT}"))),
        }
    }
}

/// The index of a variable.
#[derive(Clone, Copy)]
pub struct VariableIndex(pub u32);

impl<'py> FromPyObject<'_, 'py> for VariableIndex {
    type Error = PyErr;

    fn extract(value: Given<'_, 'py>) -> PyResult<Self> {
        let index = int64(&value)?;
        let too_far = |_| {
            invalid(value.py(), format!("{index} is no index of a variable: it is from 0 to {}", u32::MAX))
        };
        u32::try_from(index).map(VariableIndex).map_err(too_far)
    }
}

/// The maximal number of threads.
#[derive(Clone, Copy)]
pub struct Threads(pub usize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(value: Given<'_, 'py>) -> PyResult<Self> {
        match int64(&value)? {
            n @ 1.. => Ok(Threads(usize::try_from(n).unwrap_or(usize::MAX))),
            n => Err(wrong_option(
                value.py(),
                format!("threads is at least 1, or None for all cores, not {n}"),
            )),
        }
    }
}

/// The longest `repr` of an expression or a map, in bytes; longer ones end in three dots.
pub const MAX_REPR_LENGTH: usize = 1 << 14;

/// The style of a text.
pub fn style_of(style: Option<&Str<'_>>) -> PyResult<Style> {
    let Some(name) = style else { return Ok(Style::Plain) };
    match text_of(name)? {
        "plain" => Ok(Style::Plain),
        "xla" => Ok(Style::Xla),
        other => Err(wrong_option(name.py(), format!("style is 'plain' or 'xla', not {other:?}"))),
    }
}

/// The effort of a simplification.
pub fn effort_of(effort: Option<&Str<'_>>) -> PyResult<Effort> {
    let Some(name) = effort else { return Ok(Effort::Default) };
    match text_of(name)? {
        "default" => Ok(Effort::Default),
        "search" => Ok(Effort::Search),
        other => Err(wrong_option(name.py(), format!("effort is 'default' or 'search', not {other:?}"))),
    }
}
