//! Reading maps: lists of variables, results, and the domain.

use super::read_expr::{expr, Reading, VariableNames};
use super::scan::{name_key, Scanner};
use crate::error::{Error, Result};
use crate::expr::{Arena, Expr};
use crate::indexing_map::{IndexingMap, OpenMap, Variable, VariableKind, RESERVED};
use crate::interval::Interval;
use crate::map::SymbolicMap;
use std::collections::HashMap;
use std::sync::Arc;

/// The names of the variables in front of an arrow.
#[derive(Default)]
struct Header<'t> {
    /// In the order of the variables.
    custom: Vec<Custom<'t>>,
    num_variables: usize,
    num_dims: usize,
    num_ranges: usize,
    /// Filled where many names are no default names.
    by_name: Option<HashMap<&'t str, u32>>,
}

/// A name that is not the default one of its place.
struct Custom<'t> {
    key: u64,
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
        let (first, end) = match kind {
            VariableKind::Dimension => (0, self.num_dims),
            VariableKind::Range => (self.num_dims, self.num_dims + self.num_ranges),
            VariableKind::Runtime => (self.num_dims + self.num_ranges, self.num_variables),
        };
        let index = first + place;
        (index < end && self.has_default(index)).then_some(index)
    }

    /// Has the variable the default name of its place?
    #[inline]
    fn has_default(&self, index: usize) -> bool {
        self.custom.is_empty() || self.custom.binary_search_by_key(&index, |c| c.index as usize).is_err()
    }

    fn add(&mut self, kind: VariableKind, first: usize, name: &'t str) {
        let place = self.num_variables - first;
        if default_place(name) != Some((kind, place)) {
            let index = self.num_variables as u32;
            self.custom.push(Custom { key: name_key(name.as_bytes()), name, index });
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

    fn variables(&self, reading: &mut Reading) -> Vec<Variable> {
        let unknown = Interval::EMPTY;
        let mut variables = Vec::with_capacity(self.num_variables);
        variables.extend((0..self.num_variables).map(|_| Variable::new(unknown)));
        for c in &self.custom {
            variables[c.index as usize].name = Some(kept_name(reading, c.name));
        }
        variables
    }
}

/// The name as a value; names return from text to text.
fn kept_name(reading: &mut Reading, name: &str) -> Arc<str> {
    if let Some(known) = reading.names.iter().find(|n| ***n == *name) {
        return known.clone();
    }
    let new: Arc<str> = name.into();
    if reading.names.len() == NAMES_KEPT {
        reading.names.clear();
    }
    reading.names.push(new.clone());
    new
}

impl VariableNames for Header<'_> {
    #[inline]
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

fn names<'t>(
    scanner: &mut Scanner<'t>,
    header: &mut Header<'t>,
    kind: VariableKind,
    close: u8,
    what: &str,
) -> Result<usize> {
    let first = header.num_variables;
    // The default names come in this order; most names are default names.
    for digit in 0..10 {
        if !scanner.take_short(kind.prefix().as_bytes(), digit) {
            break;
        }
        header.num_variables += 1;
        if !scanner.take(b',') {
            scanner.need(close, what)?;
            return Ok(header.num_variables - first);
        }
    }
    loop {
        if scanner.take(close) {
            return Ok(header.num_variables - first);
        }
        let Some((start, end)) = scanner.name() else { return Err(scanner.expected(what)) };
        let name = &scanner.text[start..end];
        if matches!(name.as_bytes()[0], b'f' | b'c' | b'm' | b'i' | b'd') && RESERVED.contains(&name) {
            scanner.at = start;
            return Err(scanner.expected("a name of a variable"));
        }
        header.add(kind, first, name);
        if !scanner.take(b',') {
            scanner.need(close, what)?;
            return Ok(header.num_variables - first);
        }
    }
}

fn header<'t>(scanner: &mut Scanner<'t>) -> Result<Header<'t>> {
    let mut header = Header::default();
    let start = scanner.at;
    scanner.need(b'(', "'(' and the dimensions, as in `(d0, d1) -> (d0)`")?;
    let dims = names(scanner, &mut header, VariableKind::Dimension, b')', "a dimension, ',' or ')'")?;
    header.num_dims = dims;
    if scanner.take(b'[') {
        header.num_ranges =
            names(scanner, &mut header, VariableKind::Range, b']', "a range variable, ',' or ']'")?;
    }
    if scanner.take(b'{') {
        names(scanner, &mut header, VariableKind::Runtime, b'}', "a runtime variable, ',' or '}'")?;
    }
    if let Some(twice) = header.finish() {
        return Err(Error::parse(format!("expected each variable once, found {twice:?} twice"), start));
    }
    if !(scanner.take(b'-') && scanner.here() == b'>') {
        return Err(scanner.expected("'->' and the results"));
    }
    scanner.at += 1;
    Ok(header)
}

fn results(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut Reading,
    header: &Header<'_>,
) -> Result<Vec<Expr>> {
    scanner.need(b'(', "'(' and the results")?;
    let mut results = Vec::with_capacity(header.num_variables);
    loop {
        if scanner.take(b')') {
            return Ok(results);
        }
        results.push(expr(scanner, arena, reading, header)?);
        if !scanner.take(b',') {
            scanner.need(b')', "an operator, ',' or ')'")?;
            return Ok(results);
        }
    }
}

#[inline]
fn interval(scanner: &mut Scanner<'_>) -> Result<Interval> {
    scanner.need(b'[', "'[' and two bounds, as in `in [0, 9]`")?;
    let lower = scanner.integer("the lower bound, an integer")?;
    scanner.need(b',', "',' and the upper bound")?;
    let upper = scanner.integer("the upper bound, an integer")?;
    scanner.need(b']', "']' after the upper bound")?;
    Ok(Interval::new(lower, upper))
}

/// A name that is followed by ` in`: the variable that is bounded here.
#[inline]
fn bounded_variable(scanner: &mut Scanner<'_>, header: &Header<'_>) -> Option<usize> {
    let start = scanner.at;
    if let Some((from, to)) = scanner.name() {
        let name = &scanner.text[from..to];
        if scanner.take_word("in") {
            if let Some(v) = header.index_of(name) {
                return Some(v as usize);
            }
        }
    }
    scanner.at = start;
    None
}

fn domain(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut Reading,
    header: &Header<'_>,
    map: &mut OpenMap,
) -> Result<()> {
    let mut bounded = std::mem::take(&mut reading.flags);
    bounded.clear();
    bounded.resize(map.variables.len(), false);
    let mut missing = map.variables.len();
    while scanner.peek() != 0 {
        if let Some(v) = bounded_variable(scanner, header) {
            let bounds = interval(scanner)?;
            let own = &mut map.variables[v].interval;
            *own = if bounded[v] { own.intersect(bounds) } else { bounds };
            missing -= usize::from(!bounded[v]);
            bounded[v] = true;
        } else {
            let e = expr(scanner, arena, reading, header)?;
            if !scanner.take_word("in") {
                return Err(scanner.expected("an operator or `in [lower, upper]`"));
            }
            let bounds = interval(scanner)?;
            map.constraints.push((e, bounds));
        }
        if !scanner.take(b',') && scanner.peek() != 0 {
            return Err(scanner.expected("',' or the end"));
        }
    }
    if missing > 0 {
        let first = bounded.iter().position(|b| !b).unwrap_or(0);
        let name = crate::indexing_map::name_of(&map.variables[first], first, map.num_dims, map.num_ranges);
        return Err(scanner.expected(&format!("the bounds of {name}, as in `{name} in [0, 9]`")));
    }
    reading.flags = bounded;
    Ok(())
}

/// Read an indexing map from the whole of `text`, into the arena.
pub fn read_indexing_map(text: &str, arena: &mut Arena, reading: &mut Reading) -> Result<IndexingMap> {
    let mut scanner = Scanner::new(text);
    match scanner.peek() {
        b'U' if scanner.take_word("UNDEFINED") => {
            end(&mut scanner)?;
            return Ok(IndexingMap::undefined(arena));
        }
        b'K' if scanner.take_word("KNOWN") => {
            if !scanner.take_word("EMPTY") {
                return Err(scanner.expected("EMPTY, as in `KNOWN EMPTY`"));
            }
            end(&mut scanner)?;
            return Ok(IndexingMap::known_empty(arena));
        }
        _ => {}
    }
    reading.begin();
    let header = header(&mut scanner)?;
    let results = results(&mut scanner, arena, reading, &header)?;
    let mut map = OpenMap {
        variables: header.variables(reading),
        num_dims: header.num_dims,
        num_ranges: header.num_ranges,
        results,
        constraints: Vec::new(),
        known_empty: false,
    };
    let comma = scanner.take(b',');
    if scanner.take_word("domain") {
        scanner.need(b':', "':' after domain")?;
    } else if !map.variables.is_empty() {
        return Err(scanner.expected("`, domain:` and the bounds of the variables"));
    } else if scanner.at < scanner.bytes.len() && !(comma && scanner.peek() == 0) {
        return Err(scanner.expected("`, domain:` or the end"));
    }
    domain(&mut scanner, arena, reading, &header, &mut map)?;
    end(&mut scanner)?;
    map.close(arena)
}

/// Read a symbolic map from the whole of `text`; runtime variables are symbols after the ranges.
pub fn read_symbolic_map(text: &str, arena: &mut Arena, reading: &mut Reading) -> Result<SymbolicMap> {
    let mut scanner = Scanner::new(text);
    reading.begin();
    let header = header(&mut scanner)?;
    let results = results(&mut scanner, arena, reading, &header)?;
    scanner.take(b',');
    end(&mut scanner)?;
    SymbolicMap::new(arena, header.num_dims, header.num_variables - header.num_dims, &results)
}

fn end(scanner: &mut Scanner<'_>) -> Result<()> {
    scanner.skip_space();
    if scanner.at < scanner.bytes.len() {
        return Err(scanner.expected("the end of the text"));
    }
    Ok(())
}
