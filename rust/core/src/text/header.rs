//! The header of a map, the variables before its arrow, and the lookup of their names after it.

use super::read_expr::{ReadScratch, VariableNames};
use super::scan::{is_name_byte, name_key, Scanner};
use crate::error::{Error, Result};
use crate::map::names::{default_name, starts_name, Names, VariableKind, RESERVED};
use std::collections::HashMap;
use std::sync::Arc;

/// The names of the variables before an arrow.
#[derive(Default)]
pub(super) struct Header<'t> {
    /// In the order of the variables.
    custom: Vec<Custom<'t>>,
    pub(super) num_variables: usize,
    pub(super) num_dims: usize,
    pub(super) num_ranges: usize,
    /// Filled if many names are not default.
    by_name: Option<HashMap<&'t str, u32>>,
}

/// A name that is not the default one of its place.
struct Custom<'t> {
    /// Its first eight bytes, and a mask of those that it has.
    key: u64,
    mask: u64,
    name: &'t str,
    index: u32,
}

const FEW: usize = 12;
/// Lists of names that are kept from text to text.
const NAMES_KEPT: usize = 8;

/// The number after `prefix`, written as in default names.
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
    /// The index of the variable with this default name, if there is one and it has it.
    fn default_index(&self, name: &str) -> Option<usize> {
        let (kind, place) = default_place(name)?;
        self.index_of_default(kind, place)
    }

    fn index_of_default(&self, kind: VariableKind, place: usize) -> Option<usize> {
        let (first, end) = match kind {
            VariableKind::Dimension => (0, self.num_dims),
            VariableKind::Range => (self.num_dims, self.num_dims + self.num_ranges),
            VariableKind::Runtime => (self.num_dims + self.num_ranges, self.num_variables),
        };
        let index = first + place;
        (index < end && self.has_default(index)).then_some(index)
    }

    /// The variable of the default name of one digit that `text` begins with, and what is behind it: that may still
    /// belong to the name.
    #[inline]
    pub(super) fn short_default<'s>(&self, text: &'s [u8]) -> Option<(u32, &'s [u8])> {
        let (kind, digit, rest) = match text {
            [b'd', digit @ b'0'..=b'9', rest @ ..] => (VariableKind::Dimension, digit, rest),
            [b's', digit @ b'0'..=b'9', rest @ ..] => (VariableKind::Range, digit, rest),
            [b'r', b't', digit @ b'0'..=b'9', rest @ ..] => (VariableKind::Runtime, digit, rest),
            _ => return None,
        };
        let index = self.index_of_default(kind, usize::from(*digit - b'0'))?;
        Some((index as u32, rest))
    }

    /// Whether the variable has its default name.
    fn has_default(&self, index: usize) -> bool {
        let after_all = self.custom.last().is_none_or(|c| (c.index as usize) < index);
        after_all || self.custom.binary_search_by_key(&index, |c| c.index as usize).is_err()
    }

    /// As [`VariableNames::short`], for a name of at most eight bytes that is no default name.
    fn short_custom<'s>(&self, text: &'s [u8]) -> Option<(u32, &'s [u8])> {
        if self.custom.is_empty() || !text.first().is_some_and(|b| starts_name(*b)) {
            return None;
        }
        self.any_short_custom(text)
    }

    fn any_short_custom<'s>(&self, text: &'s [u8]) -> Option<(u32, &'s [u8])> {
        if self.custom.len() > FEW {
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

    /// Indexes the names, and finds a repeated one.
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

    /// The names as a value; they return from text to text.
    pub(super) fn names(&self, reading: &mut ReadScratch) -> Names {
        if self.custom.is_empty() {
            return Names::default();
        }
        self.kept_names(reading)
    }

    fn kept_names(&self, reading: &mut ReadScratch) -> Names {
        if let Some(known) = reading.names.iter().find(|n| self.are(n)) {
            return known.clone();
        }
        let mut names: Vec<Option<Arc<str>>> = vec![None; self.num_variables];
        self.custom.iter().for_each(|c| names[c.index as usize] = Some(c.name.into()));
        let new = Names::new(names);
        if reading.names.len() == NAMES_KEPT {
            reading.names.clear();
        }
        reading.names.push(new.clone());
        new
    }

    /// Whether these are its names.
    fn are(&self, names: &Names) -> bool {
        let mut given = names.given().iter().enumerate().filter_map(|(i, n)| Some((i, n.as_deref()?)));
        self.custom.iter().all(|c| given.next() == Some((c.index as usize, c.name))) && given.next().is_none()
    }

    /// The name of variable `v`.
    pub(super) fn name_of(&self, v: usize) -> String {
        match self.custom.iter().find(|c| c.index as usize == v) {
            Some(c) => c.name.to_owned(),
            None => default_name(v, self.num_dims, self.num_ranges),
        }
    }
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

/// Reads the names of a list as long as they are default names in order; returns whether that is the whole list.
fn default_names(scanner: &mut Scanner<'_>, header: &mut Header<'_>, kind: VariableKind, close: u8) -> bool {
    let [letter] = *kind.prefix().as_bytes() else { return default_runtimes(scanner, header, close) };
    let mut rest = scanner.rest;
    let mut digit = b'0';
    let mut whole = false;
    while digit <= b'9' {
        let Some((word, behind)) = rest.split_first_chunk() else { break };
        let differs = u32::from_le_bytes(*word) ^ u32::from_le_bytes([letter, digit, b',', b' ']);
        if differs != 0 {
            whole = differs & 0x00ff_ffff == u32::from(b',' ^ close) << 16;
            break;
        }
        rest = behind;
        digit += 1;
    }
    if whole {
        rest = rest.get(3..).unwrap_or_default();
    }
    header.num_variables += usize::from(digit - b'0') + usize::from(whole);
    scanner.rest = rest;
    whole
}

/// As [`default_names`], of runtime variables: apart, for few maps have any.
fn default_runtimes(scanner: &mut Scanner<'_>, header: &mut Header<'_>, close: u8) -> bool {
    for digit in b'0'..=b'9' {
        match scanner.rest {
            [b'r', b't', d, b',', b' ', rest @ ..] if *d == digit => scanner.rest = rest,
            [b'r', b't', d, end, rest @ ..] if *d == digit && *end == close => {
                scanner.rest = rest;
                header.num_variables += 1;
                return true;
            }
            _ => break,
        }
        header.num_variables += 1;
    }
    false
}

#[inline]
fn names<'t>(
    scanner: &mut Scanner<'t>,
    header: &mut Header<'t>,
    kind: VariableKind,
    close: u8,
    what: &str,
) -> Result<usize> {
    let first = header.num_variables;
    if !default_names(scanner, header, kind, close) {
        any_names(scanner, header, kind, (first, close), what)?;
    }
    Ok(header.num_variables - first)
}

fn any_names<'t>(
    scanner: &mut Scanner<'t>,
    header: &mut Header<'t>,
    kind: VariableKind,
    (first, close): (usize, u8),
    what: &str,
) -> Result<()> {
    loop {
        if scanner.take(close) {
            return Ok(());
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
            return scanner.need(close, what);
        }
    }
}

/// Reads the text before the bracket of the results into an empty header.
#[inline]
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
    if !header.custom.is_empty() {
        if let Some(twice) = header.finish() {
            return Err(Error::parse(format!("expected each variable once, found {twice:?} twice"), start));
        }
    }
    if scanner.take_exactly(b"-> (").is_some() {
        return Ok(());
    }
    if !(scanner.take(b'-') && scanner.here() == b'>') {
        return Err(scanner.expected("'->' and the results"));
    }
    scanner.step();
    scanner.need(b'(', "'(' and the results")
}
