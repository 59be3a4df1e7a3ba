//! Errors of HLO text: a message, and the place in the text.

use std::fmt;

/// Longest piece of a line that an excerpt shows; programs with lines of a megabyte exist.
const EXCERPT: usize = 120;

/// HLO text that cannot be read: the byte offset of the place, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HloError {
    /// Byte offset into the text.
    pub offset: usize,
    /// The expectation, what stood there instead, and the remedy.
    pub message: String,
    is_unclosed: bool,
}

/// A place in a text as people count: lines and columns from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line, or the part of a long line around the place.
    pub excerpt: String,
    /// Characters of the excerpt before the place.
    pub caret: usize,
}

impl HloError {
    /// An error at a byte offset.
    pub fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into(), is_unclosed: false }
    }

    /// An error at the beginning of what has no end.
    pub(super) fn unclosed(offset: usize, message: impl Into<String>) -> Self {
        Self { is_unclosed: true, ..Self::new(offset, message) }
    }

    /// The error; if `text` ends too early, with the computation that it ends in and a remedy.
    pub(super) fn at_end_of(mut self, text: &str, inside: Option<&str>) -> Self {
        let is_last_token =
            |rest: &str| !rest.contains(|c: char| c.is_whitespace() || "(){}[],=".contains(c));
        let is_open = |rest: &str| rest.matches('}').count() <= rest.matches('{').count();
        let is_at_end = |rest: &str| is_last_token(rest) || !rest.trim_end().contains('\n') && is_open(rest);
        if self.is_unclosed || text.get(self.offset..).is_some_and(is_at_end) {
            let place = inside.map_or_else(String::new, |name| format!(", inside computation {name}"));
            self.message += &format!("{place}; if the text was cut off, copy or dump it again");
        }
        self
    }

    /// The place of the error in `text`.
    pub fn place(&self, text: &str) -> Place {
        let offset = floor_boundary(text, self.offset.min(text.len()));
        let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |i| offset + i);
        let from = if end - start > EXCERPT { offset.saturating_sub(EXCERPT / 2).max(start) } else { start };
        let from = floor_boundary(text, from);
        let to = floor_boundary(text, end.min(from + EXCERPT));
        let excerpt = text[from..to.max(offset)].trim_end_matches('\r').replace('\t', " ");
        Place {
            line: text.as_bytes()[..start].iter().filter(|&&b| b == b'\n').count() + 1,
            column: text[start..offset].chars().count() + 1,
            excerpt,
            caret: text[from..offset].chars().count(),
        }
    }
}

impl fmt::Display for HloError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for HloError {}

/// The largest character boundary at or below `offset`.
fn floor_boundary(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The result of a step of reading.
pub type Result<T> = std::result::Result<T, HloError>;
