//! Tokens: white space, names, integers, and messages of what was expected where.

use crate::error::{Error, Result};
use crate::map::names::continues_name;

const SPACE: u8 = 1;
const NAME_START: u8 = 2;
const NAME: u8 = 4;

/// The classes of each byte.
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

pub(super) fn is_name_byte(b: u8) -> bool {
    is(b, NAME)
}

fn is(b: u8, class: u8) -> bool {
    CLASS[b as usize] & class != 0
}

/// A place in a text.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    /// The text that is not read yet: a slice, for it is shortened without a check of its bounds.
    pub(super) rest: &'t [u8],
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Scanner { text, rest: text.as_bytes() }
    }

    /// The byte offset of what is next.
    pub(super) fn at(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    pub(super) fn skip_space(&mut self) {
        // Most places have one space or none.
        match self.rest {
            [b, ..] if *b > b' ' => {}
            [b' ', rest @ ..] if rest.first().is_some_and(|b| *b > b' ') => self.rest = rest,
            _ => self.skip_any_space(),
        }
    }

    fn skip_any_space(&mut self) {
        let length = self.rest.iter().take_while(|b| is(**b, SPACE)).count();
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// The next byte that is no white space; 0 at the end.
    pub(super) fn peek(&mut self) -> u8 {
        self.skip_space();
        self.here()
    }

    /// The byte at this place; 0 at the end.
    pub(super) fn here(&self) -> u8 {
        self.rest.first().copied().unwrap_or(0)
    }

    /// Takes the byte that is here.
    pub(super) fn step(&mut self) {
        if let [_, rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes `b` if it is next.
    pub(super) fn take(&mut self, b: u8) -> bool {
        let is_next = self.peek() == b;
        if is_next {
            self.step();
        }
        is_next
    }

    /// Takes `b`, or fails: `what` says what was expected.
    pub(super) fn need(&mut self, b: u8, what: &str) -> Result<()> {
        if self.take(b) {
            Ok(())
        } else {
            Err(self.expected(what))
        }
    }

    /// Takes the word `word` if it is next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(word.as_bytes()) {
            Some(rest) if !rest.first().is_some_and(|b| is(*b, NAME)) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Takes exactly `text` if it is here.
    pub(super) fn take_exactly<const N: usize>(&mut self, text: &[u8; N]) -> Option<()> {
        let (start, rest) = self.rest.split_first_chunk()?;
        if start != text {
            return None;
        }
        self.rest = rest;
        Some(())
    }

    /// Whether a name begins here.
    pub(super) fn at_name(&self) -> bool {
        is(self.here(), NAME_START)
    }

    /// Takes a name if one is next.
    pub(super) fn name(&mut self) -> Option<&'t str> {
        self.skip_space();
        if !self.at_name() {
            return None;
        }
        let start = self.at();
        let length = self.rest.iter().take_while(|b| is(**b, NAME)).count();
        self.rest = self.rest.get(length..)?;
        self.text.get(start..start + length)
    }

    /// Takes a number whose first digit is here; `negative` is the sign before it.
    pub(super) fn unsigned(&mut self, negative: bool) -> Result<i64> {
        let start = self.at();
        let magnitude = self.digits()?;
        signed(magnitude, negative).ok_or_else(|| too_long(start))
    }

    /// Takes a number without a sign if one is next.
    pub(super) fn number(&mut self) -> Result<Option<i64>> {
        if self.peek().is_ascii_digit() {
            self.unsigned(false).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Takes the digits that are here; there is at least one.
    pub(super) fn digits(&mut self) -> Result<u64> {
        let start = self.at();
        let (length, value, rest) = digits(self.rest);
        self.rest = rest;
        // 19 digits never leave u64.
        if length <= 19 {
            Ok(value)
        } else {
            self.long_number(start)
        }
    }

    #[cold]
    fn long_number(&self, start: usize) -> Result<u64> {
        let digits = self.text[start..self.at()].trim_start_matches('0');
        if digits.is_empty() {
            return Ok(0);
        }
        digits.parse().map_err(|_| too_long(start))
    }

    /// Takes an integer with an optional sign.
    pub(super) fn integer(&mut self, what: &str) -> Result<i64> {
        self.skip_space();
        let start = self.at();
        let negative = self.take(b'-');
        if !self.peek().is_ascii_digit() {
            return Err(self.expected(what));
        }
        let magnitude = self.digits()?;
        signed(magnitude, negative).ok_or_else(|| too_long(start))
    }

    /// The error that `what` was expected here, and what was found.
    #[cold]
    pub(super) fn expected(&mut self, what: &str) -> Error {
        self.skip_space();
        let actual = self.describe();
        Error::parse(format!("expected {what}, found {actual}"), self.at())
    }

    fn describe(&self) -> String {
        let Some(rest) = self.text.get(self.at()..).filter(|r| !r.is_empty()) else {
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

/// The digits that `text` begins with: their number, their value if they are at most 19, and the text after them.
fn digits(text: &[u8]) -> (usize, u64, &[u8]) {
    let mut rest = text;
    let mut value = 0u64;
    while let [b, behind @ ..] = rest {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        rest = behind;
    }
    (text.len() - rest.len(), value, rest)
}

/// Reads exactly ` in [lower, upper]`, without signs: the two bounds, and the text after it.
pub(super) fn fast_interval(text: &[u8]) -> Option<(i64, i64, &[u8])> {
    let (lower, rest) = short_number(text.strip_prefix(b" in [")?)?;
    let (upper, rest) = short_number(rest.strip_prefix(b", ")?)?;
    Some((lower, upper, rest.strip_prefix(b"]")?))
}

/// The number of at most 18 digits that `text` begins with, and what is behind it.
pub(super) fn short_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let (first, mut rest) = text.split_first()?;
    let mut value = i64::from(first.wrapping_sub(b'0'));
    if value > 9 {
        return None;
    }
    while let [b @ b'0'..=b'9', behind @ ..] = rest {
        value = value.wrapping_mul(10).wrapping_add(i64::from(*b - b'0'));
        rest = behind;
    }
    (text.len() - rest.len() <= 18).then_some((value, rest))
}

#[cold]
fn too_long(start: usize) -> Error {
    Error::parse("expected an integer of 64 bits, found a longer one", start)
}

/// The int64 of a magnitude and a sign, if it is one.
fn signed(magnitude: u64, negative: bool) -> Option<i64> {
    if negative {
        0i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    }
}

/// The first eight bytes of a name, as a number: equal for names that begin alike.
pub(super) fn name_key(name: &[u8]) -> u64 {
    match name.first_chunk::<8>() {
        Some(first) => u64::from_le_bytes(*first),
        None => name.iter().rev().fold(0, |key, b| (key << 8) | u64::from(*b)),
    }
}
