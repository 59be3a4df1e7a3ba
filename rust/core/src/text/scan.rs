//! Tokens: white space, names, integers, and messages of what was expected where.

use crate::error::{Error, Result};
use crate::indexing_map::continues_name;

const SPACE: u8 = 1;
const NAME_START: u8 = 2;
const NAME: u8 = 4;

/// What each byte can be.
static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut b = 0usize;
    while b < 256 {
        let byte = b as u8;
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) {
            table[b] = SPACE;
        } else if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            table[b] = NAME_START | NAME;
        } else if byte.is_ascii_digit() || byte == b'.' {
            table[b] = NAME;
        }
        b += 1;
    }
    table
}

#[inline]
fn is(b: u8, class: u8) -> bool {
    CLASS[b as usize] & class != 0
}

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
        let mut at = self.at;
        // Most bytes are told apart from white space without the table.
        while self.bytes.get(at).is_some_and(|b| *b <= b' ' && is(*b, SPACE)) {
            at += 1;
        }
        self.at = at;
    }

    /// Take the name `prefix` and one digit if it is next.
    #[inline]
    pub(crate) fn take_short(&mut self, prefix: &[u8], digit: u8) -> bool {
        self.skip_space();
        let end = self.at + prefix.len();
        let found = self.bytes.get(end) == Some(&(b'0' + digit))
            && self.bytes[self.at..end] == *prefix
            && !self.bytes.get(end + 1).is_some_and(|b| is(*b, NAME));
        if found {
            self.at = end + 1;
        }
        found
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
        // A branch: `self.at += usize::from(found)` is lost by rustc 1.95 where it optimises.
        if self.peek() != b {
            return false;
        }
        self.at += 1;
        true
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
    #[inline]
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let end = self.at + word.len();
        let found = self.bytes.get(self.at..end) == Some(word.as_bytes())
            && !self.bytes.get(end).is_some_and(|b| is(*b, NAME));
        if found {
            self.at = end;
        }
        found
    }

    /// Take a name if one is next: its bytes' range.
    #[inline]
    pub(crate) fn name(&mut self) -> Option<(usize, usize)> {
        if !is(self.peek(), NAME_START) {
            return None;
        }
        let start = self.at;
        let mut end = start + 1;
        while self.bytes.get(end).is_some_and(|b| is(*b, NAME)) {
            end += 1;
        }
        self.at = end;
        Some((start, end))
    }

    /// Take the digits that are next: at least one is.
    #[inline]
    pub(crate) fn digits(&mut self) -> Result<u64> {
        let start = self.at;
        let mut at = start;
        let mut value = 0u64;
        while let Some(d) = self.bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
            // Longer numbers are found by their length: 19 digits never leave u64.
            value = value.wrapping_mul(10).wrapping_add(u64::from(d));
            at += 1;
        }
        self.at = at;
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
    #[inline]
    pub(crate) fn integer(&mut self, what: &str) -> Result<i64> {
        self.skip_space();
        match self.short_number() {
            Some(value) => Ok(value),
            None => self.any_integer(what),
        }
    }

    /// Take a number of at most 18 digits if it is here.
    #[inline]
    fn short_number(&mut self) -> Option<i64> {
        let mut value = 0i64;
        let mut length = 0;
        for b in self.bytes.get(self.at..)? {
            let digit = b.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
            length += 1;
        }
        if length == 0 || length > 18 {
            return None;
        }
        self.at += length;
        Some(value)
    }

    fn any_integer(&mut self, what: &str) -> Result<i64> {
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

/// The first eight bytes of a name, as a number: equal for names that begin alike.
#[inline]
pub(crate) fn name_key(name: &[u8]) -> u64 {
    match name.first_chunk::<8>() {
        Some(first) => u64::from_le_bytes(*first),
        None => name.iter().rev().fold(0, |key, b| (key << 8) | u64::from(*b)),
    }
}
