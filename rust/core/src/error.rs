//! The errors of the crate: one table of kinds, a message, and for text the byte offset.

use std::fmt;

/// The kinds of errors; their names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Text that does not follow the grammar.
    Parse,
    /// A result that leaves int64.
    Overflow,
    /// A map whose parts do not fit together, or an operation that its variables do not allow.
    InvalidMap,
    /// A division or remainder whose divisor is 0.
    DivisionByZero,
    /// A question that cannot be answered within the work allowed.
    Unsupported,
    /// A figure that makes no sense: of a device or a demand.
    InvalidArgument,
}

/// An error: its kind, a message for a person, and where it is known the byte offset in the text.
///
/// Boxed, so that a `Result` of a small value stays in registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    kind: ErrorKind,
    message: String,
    offset: Option<usize>,
}

/// `1 operand`, `2 operands`.
pub(crate) fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `kind`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Details { kind, message: message.into(), offset: None }))
    }

    /// A parse error at a byte offset of the text.
    pub fn parse(message: impl Into<String>, offset: usize) -> Self {
        Error(Box::new(Details { kind: ErrorKind::Parse, message: message.into(), offset: Some(offset) }))
    }

    /// A result of `what` that leaves int64.
    #[cold]
    pub fn overflow(what: &str) -> Self {
        Error::new(ErrorKind::Overflow, format!("{what} leaves the range of int64"))
    }

    /// A question that stays open: `what` is not known.
    pub(crate) fn undecided(what: &str) -> Self {
        Error::new(
            ErrorKind::Unsupported,
            format!("{what} is not known: the domain has no structure that tells, and is too large to list"),
        )
    }

    /// A divisor that is 0.
    #[cold]
    pub fn division_by_zero() -> Self {
        Error::new(ErrorKind::DivisionByZero, "the divisor of a floordiv, ceildiv or mod is 0")
    }

    /// Two maps that do not compose: the later one has so many dimensions, the earlier one so many results.
    pub(crate) fn cannot_follow(dims: usize, results: usize) -> Self {
        let (dims, results) = (counted(dims, "dimension"), counted(results, "result"));
        Error::invalid_map(format!("a map of {dims} cannot follow a map of {results}"))
    }

    /// A map that is not well formed.
    pub fn invalid_map(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::InvalidMap, message)
    }

    /// The same error, placed at a byte offset.
    #[must_use]
    pub fn at(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// The same error of a text that begins at a byte offset of a longer one.
    #[must_use]
    pub(crate) fn behind(mut self, start: usize) -> Self {
        self.0.offset = self.0.offset.map(|offset| offset + start);
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The byte offset in the text that was read, where there is one.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
