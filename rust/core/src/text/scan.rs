//! Tokens: white space, names, integers, and messages of what was expected where.

use crate::error::{Error, Result};
use crate::indexing_map::{continues_name, starts_name};

/// A place in a text.
pub(crate) struct Scanner<'t> {
    pub(crate) text: &'t str,
    pub(crate) bytes: &'t [u8],
    pub(crate) at: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Scanner { text, bytes: text.as_bytes(), at: 0 }
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        while let Some(b) = self.bytes.get(self.at) {
            if !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) {
                return;
            }
            self.at += 1;
        }
    }

    /// The next byte that is no white space; 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        self.skip_space();
        self.here()
    }

    /// The byte at this place; 0 at the end.
    #[inline]
    pub(crate) fn here(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Take `b` if it is next.
    #[inline]
    pub(crate) fn take(&mut self, b: u8) -> bool {
        let found = self.peek() == b;
        self.at += usize::from(found);
        found
    }

    /// Take `b`, or fail: `what` says what was expected.
    #[inline]
    pub(crate) fn need(&mut self, b: u8, what: &str) -> Result<()> {
        if self.take(b) {
            Ok(())
        } else {
            Err(self.expected(what))
        }
    }

    /// Take the word `word` if it is next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let end = self.at + word.len();
        let found = self.bytes.get(self.at..end) == Some(word.as_bytes())
            && !self.bytes.get(end).is_some_and(|b| continues_name(*b));
        if found {
            self.at = end;
        }
        found
    }

    /// Take a name if one is next: its bytes' range.
    #[inline]
    pub(crate) fn name(&mut self) -> Option<(usize, usize)> {
        if !starts_name(self.peek()) {
            return None;
        }
        let start = self.at;
        self.at += 1;
        while self.bytes.get(self.at).is_some_and(|b| continues_name(*b)) {
            self.at += 1;
        }
        Some((start, self.at))
    }

    /// Take the digits that are next: at least one is.
    #[inline]
    pub(crate) fn digits(&mut self) -> Result<u64> {
        let start = self.at;
        let mut value = 0u64;
        while let Some(d) = self.bytes.get(self.at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
            // Longer numbers are found by their length: 19 digits never leave u64.
            value = value.wrapping_mul(10).wrapping_add(u64::from(d));
            self.at += 1;
        }
        if self.at - start > 19 {
            return self.text[start..self.at].trim_start_matches('0').parse().or_else(
                |e: std::num::ParseIntError| match e.kind() {
                    std::num::IntErrorKind::Empty => Ok(0),
                    _ => Err(Error::parse("expected an integer of 64 bits, found a longer one", start)),
                },
            );
        }
        Ok(value)
    }

    /// Take an integer with an optional sign.
    pub(crate) fn integer(&mut self, what: &str) -> Result<i64> {
        let start = self.at;
        let negative = self.take(b'-');
        if !self.peek().is_ascii_digit() {
            return Err(self.expected(what));
        }
        let magnitude = self.digits()?;
        signed(magnitude, negative)
            .ok_or_else(|| Error::parse("expected an integer of 64 bits, found a longer one", start))
    }

    /// The error that `what` was expected here, and what was found.
    #[cold]
    pub(crate) fn expected(&mut self, what: &str) -> Error {
        self.skip_space();
        let found = self.describe();
        Error::parse(format!("expected {what}, found {found}"), self.at)
    }

    fn describe(&self) -> String {
        let Some(rest) = self.text.get(self.at..).filter(|r| !r.is_empty()) else {
            return "the end of the text".to_owned();
        };
        let bytes = rest.as_bytes();
        let mut end = 1;
        if continues_name(bytes[0]) {
            end = bytes.iter().position(|b| !continues_name(*b)).unwrap_or(bytes.len());
        }
        let token: String = match rest.get(..end) {
            Some(t) => t.chars().take(40).collect(),
            None => rest.chars().take(1).collect(),
        };
        format!("{token:?}")
    }
}

/// The int64 of a magnitude and a sign, if it is one.
#[inline]
pub(crate) fn signed(magnitude: u64, negative: bool) -> Option<i64> {
    if negative {
        0i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    }
}
