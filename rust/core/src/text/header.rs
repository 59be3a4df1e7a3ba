//! Reading the variables in front of the arrow of a map, and what their names mean behind it.

use super::read_expr::{Reading, VariableNames};
use super::scan::{is_name_byte, name_key, Scanner};
use crate::error::{Error, Result};
use crate::indexing_map::{Variable, VariableKind, RESERVED};
use crate::interval::Interval;
use std::collections::HashMap;
use std::sync::Arc;

/// The names of the variables in front of an arrow.
#[derive(Default)]
pub(super) struct Header<'t> {
    /// In the order of the variables.
    custom: Vec<Custom<'t>>,
    pub(super) num_variables: usize,
    pub(super) num_dims: usize,
    pub(super) num_ranges: usize,
    /// Filled where many names are no default names.
    by_name: Option<HashMap<&'t str, u32>>,
}

/// A name that is not the default one of its place.
struct Custom<'t> {
    /// Its first eight bytes, and which of these it has.
    key: u64,
    mask: u64,
    name: &'t str,
    index: u32,
}

const FEW: usize = 12;
/// Names that are kept from text to text.
const NAMES_KEPT: usize = 64;

/// The number behind `prefix`, written as default names write it.
#[inline]
fn place_in(name: &str, prefix: usize) -> Option<usize> {
    let digits = &name.as_bytes()[prefix..];
    if digits.is_empty() || digits.len() > 9 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    digits.iter().try_fold(0usize, |n, d| {
        let digit = d.wrapping_sub(b'0');
        (digit < 10).then(|| n * 10 + usize::from(digit))
    })
}

/// The kind and the place that a default name stands for.
#[inline]
fn default_place(name: &str) -> Option<(VariableKind, usize)> {
    let (kind, prefix) = match name.as_bytes() {
        [b'd', digit @ b'0'..=b'9'] => return Some((VariableKind::Dimension, usize::from(digit - b'0'))),
        [b's', digit @ b'0'..=b'9'] => return Some((VariableKind::Range, usize::from(digit - b'0'))),
        [b'd', ..] => (VariableKind::Dimension, 1),
        [b's', ..] => (VariableKind::Range, 1),
        [b'r', b't', ..] => (VariableKind::Runtime, 2),
        _ => return None,
    };
    Some((kind, place_in(name, prefix)?))
}

impl<'t> Header<'t> {
    /// Where the variable with this default name would be, if it is there and has it.
    #[inline]
    fn default_index(&self, name: &str) -> Option<usize> {
        let (kind, place) = default_place(name)?;
        self.index_of_default(kind, place)
    }

    #[inline]
    fn index_of_default(&self, kind: VariableKind, place: usize) -> Option<usize> {
        let (first, end) = match kind {
            VariableKind::Dimension => (0, self.num_dims),
            VariableKind::Range => (self.num_dims, self.num_dims + self.num_ranges),
            VariableKind::Runtime => (self.num_dims + self.num_ranges, self.num_variables),
        };
        let index = first + place;
        (index < end && self.has_default(index)).then_some(index)
    }

    /// The variable of the default name of two bytes that `text` begins with, and what is behind it: that may still
    /// belong to the name.
    #[inline]
    pub(super) fn short_default<'s>(&self, text: &'s [u8]) -> Option<(u32, &'s [u8])> {
        let [letter, digit @ b'0'..=b'9', rest @ ..] = text else { return None };
        let kind = match letter {
            b'd' => VariableKind::Dimension,
            b's' => VariableKind::Range,
            _ => return None,
        };
        let index = self.index_of_default(kind, usize::from(*digit - b'0'))?;
        Some((index as u32, rest))
    }

    /// Has the variable the default name of its place?
    #[inline]
    fn has_default(&self, index: usize) -> bool {
        let after_all = self.custom.last().is_none_or(|c| (c.index as usize) < index);
        after_all || self.custom.binary_search_by_key(&index, |c| c.index as usize).is_err()
    }

    /// As [`VariableNames::short`], for a name of at most eight bytes that is no default name.
    #[inline(never)]
    pub(super) fn short_custom<'s>(&self, text: &'s [u8]) -> Option<(u32, &'s [u8])> {
        if self.custom.is_empty() || self.custom.len() > FEW {
            return None;
        }
        let word = u64::from_le_bytes(*text.first_chunk()?);
        let begins = self.custom.iter().find(|c| {
            word & c.mask == c.key && c.name.len() <= 8 && {
                // What is behind the name doesn't belong to it.
                !text.get(c.name.len()).is_some_and(|b| is_name_byte(*b))
            }
        })?;
        Some((begins.index, text.get(begins.name.len()..)?))
    }

    fn add(&mut self, kind: VariableKind, first: usize, name: &'t str) {
        let place = self.num_variables - first;
        if default_place(name) != Some((kind, place)) {
            let index = self.num_variables as u32;
            let mask = u64::MAX >> (64 - 8 * name.len().clamp(1, 8));
            self.custom.push(Custom { key: name_key(name.as_bytes()), mask, name, index });
        }
        self.num_variables += 1;
    }

    /// Index the names, and find one that stands twice.
    fn finish(&mut self) -> Option<&'t str> {
        if self.custom.len() > FEW {
            let mut by_name = HashMap::with_capacity(self.custom.len());
            for c in &self.custom {
                if by_name.insert(c.name, c.index).is_some() {
                    return Some(c.name);
                }
            }
            self.by_name = Some(by_name);
        } else {
            for (k, c) in self.custom.iter().enumerate() {
                if self.custom[..k].iter().any(|other| other.key == c.key && other.name == c.name) {
                    return Some(c.name);
                }
            }
        }
        self.custom.iter().map(|c| c.name).find(|name| self.default_index(name).is_some())
    }

    pub(super) fn variables(&self, reading: &mut Reading) -> Vec<Variable> {
        let unknown = Interval::EMPTY;
        let mut variables = Vec::with_capacity(self.num_variables);
        variables.extend((0..self.num_variables).map(|_| Variable::new(unknown)));
        for c in &self.custom {
            variables[c.index as usize].name = Some(kept_name(reading, c));
        }
        variables
    }
}

/// The name as a value; names return from text to text.
fn kept_name(reading: &mut Reading, custom: &Custom<'_>) -> Arc<str> {
    let same = |(key, name): &&(u64, Arc<str>)| *key == custom.key && **name == *custom.name;
    if let Some((_, known)) = reading.names.iter().find(same) {
        return known.clone();
    }
    let new: Arc<str> = custom.name.into();
    if reading.names.len() == NAMES_KEPT {
        reading.names.clear();
    }
    reading.names.push((custom.key, new.clone()));
    new
}

impl VariableNames for Header<'_> {
    #[inline]
    fn short<'t>(&self, text: &'t [u8]) -> Option<(u32, &'t [u8])> {
        match self.short_default(text) {
            Some((v, rest)) if !rest.first().is_some_and(|b| is_name_byte(*b)) => Some((v, rest)),
            _ => self.short_custom(text),
        }
    }

    fn index_of(&self, name: &str) -> Option<u32> {
        if let Some(index) = self.default_index(name) {
            return Some(index as u32);
        }
        if let Some(by_name) = &self.by_name {
            return by_name.get(name).copied();
        }
        let key = name_key(name.as_bytes());
        let same = |c: &&Custom<'_>| {
            c.key == key && c.name.len() == name.len() && (name.len() <= 8 || c.name == name)
        };
        self.custom.iter().find(same).map(|c| c.index)
    }

    fn expected(&self) -> String {
        if self.num_variables == 0 {
            "an expression without variables, for the map has none".to_owned()
        } else {
            "a variable that stands in front of the arrow".to_owned()
        }
    }
}

/// Read the names of a list as far as they are default names in their order; is this the whole list?
#[inline]
fn default_names(scanner: &mut Scanner<'_>, header: &mut Header<'_>, kind: VariableKind, close: u8) -> bool {
    let [letter] = *kind.prefix().as_bytes() else { return false };
    for place in 0..10u8 {
        let [a, b, after, rest @ ..] = scanner.rest else { return false };
        if *a != letter || *b != b'0' + place || !(*after == b',' || *after == close) {
            return false;
        }
        header.num_variables += 1;
        scanner.rest = rest;
        if *after == close {
            return true;
        }
        scanner.skip_space();
    }
    false
}

fn names<'t>(
    scanner: &mut Scanner<'t>,
    header: &mut Header<'t>,
    kind: VariableKind,
    close: u8,
    what: &str,
) -> Result<usize> {
    let first = header.num_variables;
    if default_names(scanner, header, kind, close) {
        return Ok(header.num_variables - first);
    }
    loop {
        if scanner.take(close) {
            return Ok(header.num_variables - first);
        }
        scanner.skip_space();
        let start = scanner.rest;
        let Some(name) = scanner.name() else { return Err(scanner.expected(what)) };
        if matches!(name.as_bytes()[0], b'f' | b'c' | b'm' | b'i' | b'd') && RESERVED.contains(&name) {
            scanner.rest = start;
            return Err(scanner.expected("a name of a variable"));
        }
        header.add(kind, first, name);
        if !scanner.take(b',') {
            scanner.need(close, what)?;
            return Ok(header.num_variables - first);
        }
    }
}

/// Read what stands in front of the results, into an empty header.
pub(super) fn read_header<'t>(scanner: &mut Scanner<'t>, header: &mut Header<'t>) -> Result<()> {
    let start = scanner.at();
    scanner.need(b'(', "'(' and the dimensions, as in `(d0, d1) -> (d0)`")?;
    header.num_dims = names(scanner, header, VariableKind::Dimension, b')', "a dimension, ',' or ')'")?;
    if scanner.take(b'[') {
        header.num_ranges =
            names(scanner, header, VariableKind::Range, b']', "a range variable, ',' or ']'")?;
    }
    if scanner.take(b'{') {
        names(scanner, header, VariableKind::Runtime, b'}', "a runtime variable, ',' or '}'")?;
    }
    if let Some(twice) = header.finish() {
        return Err(Error::parse(format!("expected each variable once, found {twice:?} twice"), start));
    }
    if !(scanner.take(b'-') && scanner.here() == b'>') {
        return Err(scanner.expected("'->' and the results"));
    }
    scanner.step();
    Ok(())
}
