//! Reading of maps: results, and the domain.

use super::header::{read_header, Header};
use super::read_expr::{expr, variable, ReadScratch};
use super::scan::{fast_interval, Scanner};
use crate::error::{Error, Result};
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder};
use crate::map::piecewise_map::PiecewiseMap;
use crate::map::symbolic_map::SymbolicMap;
use std::str::FromStr;

#[inline]
fn results(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut ReadScratch,
    header: &Header<'_>,
    results: &mut Vec<Expr>,
) -> Result<()> {
    loop {
        match header.short_default(scanner.rest) {
            Some((v, rest @ [b',' | b')', ..])) => {
                results.push(arena.variable(v));
                scanner.rest = rest;
            }
            _ if scanner.take(b')') => return Ok(()),
            _ => results.push(expr(scanner, arena, reading, header)?),
        }
        match scanner.rest {
            [b',', b' ', rest @ ..] => scanner.rest = rest,
            [b')', rest @ ..] => {
                scanner.rest = rest;
                return Ok(());
            }
            _ => {
                if !scanner.take(b',') {
                    return scanner.need(b')', "an operator, ',' or ')'");
                }
            }
        }
    }
}

/// The bounds of a variable or of an expression.
fn any_bounds(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut ReadScratch,
    header: &Header<'_>,
    map: &mut MapBuilder,
    bounded: &mut Bounded<'_>,
) -> Result<()> {
    let start = scanner.rest;
    if scanner.at_name() {
        if let Some(Ok(v)) = variable(scanner, header) {
            if let Some(bounds) = interval(scanner)? {
                bounded.set(map, v as usize, bounds);
                return Ok(());
            }
        }
        scanner.rest = start;
    }
    let e = expr(scanner, arena, reading, header)?;
    let Some(bounds) = interval(scanner)? else {
        return Err(scanner.expected("an operator or `in [lower, upper]`"));
    };
    map.constraints.push((e, bounds));
    Ok(())
}

/// Reads ` in [lower, upper]`, if it is next.
#[inline]
fn interval(scanner: &mut Scanner<'_>) -> Result<Option<Interval>> {
    if let Some((lower, upper, rest)) = fast_interval(scanner.rest) {
        scanner.rest = rest;
        return Ok(Some(Interval::new(lower, upper)));
    }
    if scanner.take_word("in") {
        any_interval(scanner).map(Some)
    } else {
        Ok(None)
    }
}

fn any_interval(scanner: &mut Scanner<'_>) -> Result<Interval> {
    scanner.need(b'[', "'[' and two bounds, as in `in [0, 9]`")?;
    let lower = scanner.integer("the lower bound, an integer")?;
    scanner.need(b',', "',' and the upper bound")?;
    let upper = scanner.integer("the upper bound, an integer")?;
    scanner.need(b']', "']' after the upper bound")?;
    Ok(Interval::new(lower, upper))
}

/// The variables that have bounds; while the list is empty, those that the map already has.
struct Bounded<'h> {
    header: &'h Header<'h>,
    each: Vec<bool>,
}

impl Bounded<'_> {
    /// Sets the bounds of variable `v`, or intersects them with further ones.
    fn set(&mut self, map: &mut MapBuilder, v: usize, bounds: Interval) {
        let (known, count) = (map.intervals.len(), self.header.num_variables);
        if v == known {
            map.intervals.push(bounds);
            return;
        }
        if self.each.is_empty() {
            self.each.resize(count, false);
            self.each[..known].fill(true);
            map.intervals.resize(count, Interval::EMPTY);
        }
        let own = &mut map.intervals[v];
        let old = std::mem::replace(&mut self.each[v], true);
        *own = if old { own.intersect(bounds) } else { bounds };
    }

    fn first_without(&self, map: &MapBuilder) -> Option<usize> {
        if self.each.is_empty() {
            return (map.intervals.len() < self.header.num_variables).then_some(map.intervals.len());
        }
        self.each.iter().position(|b| !b)
    }
}

/// Reads a domain: the bounds of variables, and constraints.
fn domain(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut ReadScratch,
    header: &Header<'_>,
    map: &mut MapBuilder,
) -> Result<()> {
    let mut bounded = Bounded { header, each: std::mem::take(&mut reading.bounded) };
    bounded.each.clear();
    while scanner.peek() != 0 {
        any_bounds(scanner, arena, reading, header, map, &mut bounded)?;
        if scanner.take_exactly(b", ").is_none() && !scanner.take(b',') && scanner.peek() != 0 {
            return Err(scanner.expected("',' or the end"));
        }
    }
    if let Some(first) = bounded.first_without(map) {
        let name = header.name_of(first);
        return Err(scanner.expected(&format!("the bounds of {name}, as in `{name} in [0, 9]`")));
    }
    reading.bounded = bounded.each;
    end(scanner)
}

impl FromStr for IndexingMap {
    type Err = Error;

    /// Reads a map in memory of its own; [`read_indexing_map`] uses memory again.
    fn from_str(text: &str) -> Result<Self> {
        read_indexing_map(text, &mut Arena::new(), &mut ReadScratch::default())
    }
}

/// Reads an indexing map from the whole of `text`, into the arena.
pub fn read_indexing_map(text: &str, arena: &mut Arena, reading: &mut ReadScratch) -> Result<IndexingMap> {
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
    let mut map = reading.map.take().unwrap_or_default();
    let result = read_parts(&mut scanner, arena, reading, &mut map).and_then(|()| map.take_map(arena));
    reading.map = Some(map);
    result
}

/// Reads the pieces of a relation, separated by `;`.
pub fn read_piecewise_map(text: &str, arena: &mut Arena, reading: &mut ReadScratch) -> Result<PiecewiseMap> {
    let mut start = 0;
    let mut pieces = Vec::new();
    for part in text.split(';') {
        let piece = read_indexing_map(part, arena, reading);
        pieces.push(piece.map_err(|e| e.behind(start))?);
        start += part.len() + 1;
    }
    PiecewiseMap::new(pieces)
}

fn read_parts(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut ReadScratch,
    map: &mut MapBuilder,
) -> Result<()> {
    reading.begin();
    map.clear();
    let mut header = Header::default();
    read_header(scanner, &mut header)?;
    results(scanner, arena, reading, &header, &mut map.results)?;
    (map.num_dims, map.num_ranges) = (header.num_dims, header.num_ranges);
    if scanner.take_exactly(b", domain: ").is_none() {
        before_domain(scanner, &header)?;
    }
    map.intervals.reserve(header.num_variables);
    domain(scanner, arena, reading, &header, map)?;
    map.names = header.names(reading);
    Ok(())
}

fn before_domain(scanner: &mut Scanner<'_>, header: &Header<'_>) -> Result<()> {
    let comma = scanner.take(b',');
    if scanner.take_word("domain") {
        scanner.need(b':', "':' after domain")?;
    } else if header.num_variables > 0 {
        return Err(scanner.expected("`, domain:` and the bounds of the variables"));
    } else if !(scanner.rest.is_empty() || (comma && scanner.peek() == 0)) {
        return Err(scanner.expected("`, domain:` or the end"));
    }
    scanner.skip_space();
    Ok(())
}

/// Reads a symbolic map from the whole of `text`; runtime variables are symbols after the ranges.
pub fn read_symbolic_map(text: &str, arena: &mut Arena, reading: &mut ReadScratch) -> Result<SymbolicMap> {
    let mut scanner = Scanner::new(text);
    reading.begin();
    let (mut header, mut roots) = (Header::default(), Vec::new());
    read_header(&mut scanner, &mut header)?;
    results(&mut scanner, arena, reading, &header, &mut roots)?;
    scanner.take(b',');
    end(&mut scanner)?;
    SymbolicMap::new(arena, header.num_dims, header.num_variables - header.num_dims, &roots)
}

fn end(scanner: &mut Scanner<'_>) -> Result<()> {
    scanner.skip_space();
    if !scanner.rest.is_empty() {
        return Err(scanner.expected("the end of the text"));
    }
    Ok(())
}
