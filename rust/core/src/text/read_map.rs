//! Reading maps: results, and the domain.

use super::header::{read_header, Header};
use super::read_expr::{expr, variable, Reading};
use super::scan::{usual_interval, Scanner};
use crate::error::Result;
use crate::expr::{Arena, Expr};
use crate::indexing_map::{name_of, IndexingMap, OpenMap};
use crate::interval::Interval;
use crate::map::SymbolicMap;

fn results(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut Reading,
    header: &Header<'_>,
    results: &mut Vec<Expr>,
) -> Result<()> {
    scanner.need(b'(', "'(' and the results")?;
    loop {
        if scanner.take(b')') {
            return Ok(());
        }
        match header.short_default(scanner.rest) {
            Some((v, rest @ [b',' | b')', ..])) => {
                results.push(arena.variable(v));
                scanner.rest = rest;
            }
            _ => results.push(expr(scanner, arena, reading, header)?),
        }
        if !scanner.take(b',') {
            scanner.need(b')', "an operator, ',' or ')'")?;
            return Ok(());
        }
    }
}

/// `d0 in [lower, upper]`, written just so: the variable, its bounds, and what is behind them.
#[inline]
fn usual_bounds<'t>(rest: &'t [u8], header: &Header<'_>) -> Option<(u32, Interval, &'t [u8])> {
    let (v, rest) = header.short_default(rest).or_else(|| header.short_custom(rest))?;
    let (lower, upper, rest) = usual_interval(rest.strip_prefix(b" in")?)?;
    Some((v, Interval::new(lower, upper), rest))
}

/// The bounds of a variable or of an expression.
fn any_bounds(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut Reading,
    header: &Header<'_>,
    map: &mut OpenMap,
    bounded: &mut Bounded,
) -> Result<()> {
    let start = scanner.rest;
    if scanner.at_name() {
        if let Some(Ok(v)) = variable(scanner, header) {
            if scanner.take_word("in") {
                bounded.set(map, v, interval(scanner)?);
                return Ok(());
            }
        }
        scanner.rest = start;
    }
    let e = expr(scanner, arena, reading, header)?;
    if !scanner.take_word("in") {
        return Err(scanner.expected("an operator or `in [lower, upper]`"));
    }
    map.constraints.push((e, interval(scanner)?));
    Ok(())
}

#[inline]
fn interval(scanner: &mut Scanner<'_>) -> Result<Interval> {
    match usual_interval(scanner.rest) {
        Some((lower, upper, rest)) => {
            scanner.rest = rest;
            Ok(Interval::new(lower, upper))
        }
        None => any_interval(scanner),
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

/// Which variables have bounds: most texts give them in order.
struct Bounded {
    /// All before this one.
    next: usize,
    /// Each, once they came in another order.
    each: Vec<bool>,
}

impl Bounded {
    /// Give variable `v` its bounds, or more of them.
    #[inline(always)]
    fn set(&mut self, map: &mut OpenMap, v: u32, bounds: Interval) {
        let new = self.add(v as usize, map.variables.len());
        let own = &mut map.variables[v as usize].interval;
        *own = if new { bounds } else { own.intersect(bounds) };
    }

    /// Note that variable `v` of `count` has bounds: are these its first ones?
    #[inline]
    fn add(&mut self, v: usize, count: usize) -> bool {
        if self.each.is_empty() {
            if v == self.next {
                self.next += 1;
                return true;
            }
            self.each.resize(count, false);
            self.each[..self.next].fill(true);
        }
        !std::mem::replace(&mut self.each[v], true)
    }

    fn first_without(&self, count: usize) -> Option<usize> {
        if self.each.is_empty() {
            return (self.next < count).then_some(self.next);
        }
        self.each.iter().position(|b| !b)
    }
}

fn domain(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut Reading,
    header: &Header<'_>,
    map: &mut OpenMap,
) -> Result<()> {
    let mut bounded = Bounded { next: 0, each: std::mem::take(&mut reading.bounded) };
    bounded.each.clear();
    while scanner.peek() != 0 {
        match usual_bounds(scanner.rest, header) {
            Some((v, bounds, rest)) => {
                bounded.set(map, v, bounds);
                scanner.rest = rest;
            }
            None => any_bounds(scanner, arena, reading, header, map, &mut bounded)?,
        }
        if scanner.take_exactly(b", ").is_none() && !scanner.take(b',') && scanner.peek() != 0 {
            return Err(scanner.expected("',' or the end"));
        }
    }
    if let Some(first) = bounded.first_without(header.num_variables) {
        let name = name_of(&map.variables[first], first, map.num_dims, map.num_ranges);
        return Err(scanner.expected(&format!("the bounds of {name}, as in `{name} in [0, 9]`")));
    }
    reading.bounded = bounded.each;
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
    let mut map = reading.map.take().unwrap_or_default();
    let result = read_parts(&mut scanner, arena, reading, &mut map).and_then(|()| map.take_value(arena));
    reading.map = Some(map);
    result
}

fn read_parts(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut Reading,
    map: &mut OpenMap,
) -> Result<()> {
    reading.begin();
    map.clear();
    let mut header = Header::default();
    read_header(scanner, &mut header)?;
    results(scanner, arena, reading, &header, &mut map.results)?;
    map.variables = header.variables(reading);
    (map.num_dims, map.num_ranges) = (header.num_dims, header.num_ranges);
    let comma = scanner.take(b',');
    if scanner.take_word("domain") {
        scanner.need(b':', "':' after domain")?;
    } else if !map.variables.is_empty() {
        return Err(scanner.expected("`, domain:` and the bounds of the variables"));
    } else if !(scanner.rest.is_empty() || (comma && scanner.peek() == 0)) {
        return Err(scanner.expected("`, domain:` or the end"));
    }
    domain(scanner, arena, reading, &header, map)?;
    end(scanner)
}

/// Read a symbolic map from the whole of `text`; runtime variables are symbols after the ranges.
pub fn read_symbolic_map(text: &str, arena: &mut Arena, reading: &mut Reading) -> Result<SymbolicMap> {
    let mut scanner = Scanner::new(text);
    reading.begin();
    let (mut header, mut found) = (Header::default(), Vec::new());
    read_header(&mut scanner, &mut header)?;
    results(&mut scanner, arena, reading, &header, &mut found)?;
    scanner.take(b',');
    end(&mut scanner)?;
    SymbolicMap::new(arena, header.num_dims, header.num_variables - header.num_dims, &found)
}

fn end(scanner: &mut Scanner<'_>) -> Result<()> {
    scanner.skip_space();
    if !scanner.rest.is_empty() {
        return Err(scanner.expected("the end of the text"));
    }
    Ok(())
}
