//! Reading of an expression: a loop over operands and operators, with a stack of open brackets.
//!
//! All of `* / // % floordiv ceildiv mod` bind alike, from the left; a unary minus binds closest. A bracket collects the
//! terms of its sum, and makes one node of them when it closes: a sum of n terms costs one sort, not n sums.

use super::frame::{Bracket, Frame, Lists, Operator, Value};
use super::scan::{short_number, Scanner};
use crate::error::{Error, Result};
use crate::expr::{Arena, Expr};
use crate::map::indexing_map::MapBuilder;
use crate::map::names::Names;

/// The variables that names stand for while an expression is read.
pub trait VariableNames {
    /// The variable that `name` names.
    fn index_of(&self, name: &str) -> Option<u32>;
    /// The variable whose name `text` begins with, and what is behind it; `None` where that takes a longer look.
    fn short<'t>(&self, _text: &'t [u8]) -> Option<(u32, &'t [u8])> {
        None
    }
    /// The message for a name that names no variable.
    fn expected(&self) -> String;
}

/// Memory that reading works in; kept between readings.
#[derive(Default, Debug)]
pub struct ReadScratch {
    /// The brackets around the one that is being read.
    outer: Vec<Frame>,
    lists: Lists,
    pub(super) names: Vec<Names>,
    pub(super) bounded: Vec<bool>,
    /// Boxed, for it is taken out while it is filled.
    pub(super) map: Option<Box<MapBuilder>>,
}

/// Read an expression from the whole of `text`.
pub fn read_expr(
    text: &str,
    arena: &mut Arena,
    reading: &mut ReadScratch,
    names: &impl VariableNames,
) -> Result<Expr> {
    let mut scanner = Scanner::new(text);
    reading.begin();
    let e = expr(&mut scanner, arena, reading, names)?;
    if scanner.peek() != 0 || !scanner.rest.is_empty() {
        return Err(scanner.expected("an operator or the end"));
    }
    Ok(e)
}

/// Read an expression that begins here, up to what cannot belong to it.
pub(super) fn expr<N: VariableNames>(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut ReadScratch,
    names: &N,
) -> Result<Expr> {
    scanner.skip_space();
    if let Some((n, rest @ [b',' | b')', ..])) = short_number(scanner.rest) {
        scanner.rest = rest;
        return Ok(arena.constant(n));
    }
    // The same text is the same expression where it also ends.
    let ends = |rest: &[u8]| matches!(rest, [] | [b',' | b')', ..] | [b' ', b'i', b'n', b' ', ..]);
    if let Some((rest, e)) = reading.lists.cache.find(scanner.text, scanner.rest, ends) {
        scanner.rest = rest;
        return Ok(e);
    }
    any_expr(scanner, arena, reading, names)
}

/// Take a name: the variable that it names, or the name where it names none.
#[inline]
pub(super) fn variable<'t, N: VariableNames>(
    scanner: &mut Scanner<'t>,
    names: &N,
) -> Option<std::result::Result<u32, &'t str>> {
    if let Some((v, rest)) = names.short(scanner.rest) {
        scanner.rest = rest;
        return Some(Ok(v));
    }
    any_variable(scanner, names)
}

fn any_variable<'t, N: VariableNames>(
    scanner: &mut Scanner<'t>,
    names: &N,
) -> Option<std::result::Result<u32, &'t str>> {
    let name = scanner.name()?;
    Some(names.index_of(name).ok_or(name))
}

/// As [`expr`], of a text that was not read before.
fn any_expr<N: VariableNames>(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut ReadScratch,
    names: &N,
) -> Result<Expr> {
    let start = scanner.at();
    reading.outer.clear();
    reading.lists.terms.clear();
    reading.lists.args.clear();
    reading.lists.factors.clear();
    let mut frame = Frame::new(Bracket::Whole, start, [0; 3]);
    loop {
        let Some(mut value) = reading.operand(scanner, arena, names, &mut frame)? else { continue };
        // After an operand: operators begin another one, brackets that close make an operand of what they hold.
        loop {
            let place = scanner.at();
            frame.apply(arena, &mut reading.lists, value).map_err(|e| e.at(place))?;
            let next = scanner.peek();
            match next {
                b'+' | b'-' => {
                    frame.end_product(arena, &mut reading.lists).map_err(|e| e.at(place))?;
                    frame.sum.minus = next == b'-';
                    scanner.step();
                    break;
                }
                b'*' | b'/' | b'%' | b'f' | b'c' | b'm' => {
                    if let Some(operator) = operator(scanner, next) {
                        frame.operator = operator;
                        match scanner.number()? {
                            Some(n) => value = Value::number(n),
                            None => break,
                        }
                        continue;
                    }
                }
                _ => {}
            }
            match (frame.bracket, next) {
                (Bracket::Parenthesis | Bracket::Min | Bracket::Max, b')') => scanner.step(),
                (Bracket::Min | Bracket::Max, b',') => {
                    scanner.step();
                    let e = frame.end_sum(arena, &mut reading.lists).map_err(|e| e.at(place))?;
                    reading.lists.args.push(e);
                    break;
                }
                (Bracket::Whole, _) => {
                    let e = frame.end_sum(arena, &mut reading.lists).map_err(|e| e.at(place))?;
                    reading.lists.cache.keep(scanner.text, start, place, e);
                    return Ok(e);
                }
                (bracket, _) => return Err(unclosed(scanner, bracket, frame.at)),
            }
            let e = frame.end_sum(arena, &mut reading.lists).map_err(|e| e.at(place))?;
            let after = scanner.peek();
            if reading.joins_outer(&frame, after) {
                // min(min(a, b), c) is read as min(a, b, c): order of reading must not decide what is taken out first.
                reading.lists.args.push(e);
                reading.leave(&mut frame);
                scanner.step();
                if after == b',' {
                    break;
                }
                let last = reading.lists.args.pop().unwrap_or(e);
                value = Value::expr(reading.close(arena, &mut frame, last).map_err(|e| e.at(place))?);
                continue;
            }
            let (bracket, at) = (frame.bracket, frame.at);
            let closed = reading.close(arena, &mut frame, e).map_err(|e| e.at(place))?;
            if bracket == Bracket::Parenthesis {
                reading.lists.cache.keep(scanner.text, at + 1, place, closed);
            }
            value = Value::expr(closed);
        }
    }
}

#[cold]
fn unclosed(scanner: &mut Scanner<'_>, bracket: Bracket, opened: usize) -> Error {
    let what = match bracket {
        Bracket::Min | Bracket::Max => "an operator, ',' or ')'",
        _ => "an operator or ')'",
    };
    let line = scanner.text[..opened].matches('\n').count() + 1;
    let column = scanner.text[..opened].chars().rev().take_while(|c| *c != '\n').count() + 1;
    scanner.expected(&format!("{what} (for the bracket opened at line {line}, column {column})"))
}

fn operator(scanner: &mut Scanner<'_>, next: u8) -> Option<Operator> {
    let one = |scanner: &mut Scanner<'_>, operator| {
        scanner.step();
        Some(operator)
    };
    match next {
        b'*' => one(scanner, Operator::Times),
        b'%' => one(scanner, Operator::Mod),
        b'/' => {
            scanner.step();
            if scanner.here() == b'/' {
                scanner.step();
            }
            Some(Operator::FloorDiv)
        }
        b'f' if scanner.take_word("floordiv") || scanner.take_word("floorDiv") => Some(Operator::FloorDiv),
        b'c' if scanner.take_word("ceildiv") || scanner.take_word("ceilDiv") => Some(Operator::CeilDiv),
        b'm' if scanner.take_word("mod") => Some(Operator::Mod),
        _ => None,
    }
}

impl ReadScratch {
    /// Before another text is read.
    pub(super) fn begin(&mut self) {
        self.lists.cache.next_text();
    }

    /// Enter a bracket inside `frame`, which becomes it.
    fn open(&mut self, frame: &mut Frame, bracket: Bracket, at: usize) {
        self.outer.push(*frame);
        let Lists { terms, args, factors, .. } = &self.lists;
        *frame = Frame::new(bracket, at, [terms.len(), args.len(), factors.len()]);
    }

    /// Read one operand; `None` where a sign or an opening bracket was read instead.
    fn operand<N: VariableNames>(
        &mut self,
        scanner: &mut Scanner<'_>,
        arena: &mut Arena,
        names: &N,
        frame: &mut Frame,
    ) -> Result<Option<Value>> {
        match scanner.peek() {
            // The sign belongs to the number: -2^63 has no positive counterpart.
            b'0'..=b'9' => Ok(Some(Value::number(scanner.unsigned(std::mem::take(&mut frame.negate))?))),
            b'-' => {
                frame.negate = !frame.negate;
                scanner.step();
                Ok(None)
            }
            b'(' => {
                let at = scanner.at();
                scanner.step();
                if let Some((rest, e)) =
                    self.lists.cache.find(scanner.text, scanner.rest, |r| r.first() == Some(&b')'))
                {
                    scanner.rest = rest;
                    scanner.step();
                    scanner.skip_space();
                    return Ok(Some(Value::expr(e)));
                }
                self.open(frame, Bracket::Parenthesis, at);
                Ok(None)
            }
            _ => {
                let start = scanner.rest;
                match variable(scanner, names) {
                    Some(Ok(v)) => Ok(Some(Value::expr(arena.variable(v)))),
                    Some(Err(name)) => self.function(scanner, names, frame, start, name),
                    None => Err(scanner.expected("an expression")),
                }
            }
        }
    }

    fn function<'t, N: VariableNames>(
        &mut self,
        scanner: &mut Scanner<'t>,
        names: &N,
        frame: &mut Frame,
        start: &'t [u8],
        name: &str,
    ) -> Result<Option<Value>> {
        let bracket = match name {
            "min" => Bracket::Min,
            "max" => Bracket::Max,
            _ => {
                scanner.rest = start;
                return Err(scanner.expected(&names.expected()));
            }
        };
        scanner.need(b'(', "'(' after min or max")?;
        self.open(frame, bracket, scanner.text.len() - start.len());
        Ok(None)
    }

    /// Whether `inner` is a whole argument of a bracket of its own kind; `next` is the byte that follows it.
    fn joins_outer(&self, inner: &Frame, next: u8) -> bool {
        matches!(inner.bracket, Bracket::Min | Bracket::Max)
            && matches!(next, b',' | b')')
            && self.outer.last().is_some_and(|outer| {
                outer.bracket == inner.bracket && outer.is_fresh() && outer.first_term == inner.first_term
            })
    }

    /// Makes the bracket around `frame` the current one.
    fn leave(&mut self, frame: &mut Frame) {
        if let Some(outer) = self.outer.pop() {
            *frame = outer;
        }
    }

    /// Closes a bracket and returns it as an operand; `last` is its last sum.
    fn close(&mut self, arena: &mut Arena, frame: &mut Frame, last: Expr) -> Result<Expr> {
        let Frame { bracket, first_arg, .. } = *frame;
        self.leave(frame);
        if !matches!(bracket, Bracket::Min | Bracket::Max) {
            return Ok(last);
        }
        self.lists.args.push(last);
        let args = &self.lists.args[first_arg..];
        let e = if bracket == Bracket::Min { arena.minimum(args) } else { arena.maximum(args) };
        self.lists.args.truncate(first_arg);
        e
    }
}
