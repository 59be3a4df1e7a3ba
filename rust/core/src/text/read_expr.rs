//! Reading an expression: a loop over operands and operators, with a stack of open brackets.
//!
//! All of `* / // % floordiv ceildiv mod` bind alike, from the left; a unary minus binds closest. A bracket collects the
//! terms of its sum, and makes one node of them when it closes: a sum of n terms costs one sort, not n sums.

use super::scan::{signed, Scanner};
use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Term};
use std::sync::Arc;

/// What names mean while an expression is read.
pub trait VariableNames {
    /// The variable that `name` names.
    fn index_of(&self, name: &str) -> Option<u32>;
    /// What to say of a name that is none.
    fn expected(&self) -> String;
}

/// Memory that reading works in; kept between readings.
#[derive(Default, Debug)]
pub struct Reading {
    frames: Vec<Frame>,
    terms: Vec<Term>,
    args: Vec<Expr>,
    seen: Seen,
    pub(super) names: Vec<Arc<str>>,
    pub(super) flags: Vec<bool>,
}

/// Parts of the text that were read before, with what they are: maps repeat their subexpressions.
#[derive(Default, Debug)]
struct Seen {
    slots: Vec<SeenPart>,
    /// Which text the slots are about; those of others are empty.
    text: u32,
}

#[derive(Clone, Copy, Debug)]
struct SeenPart {
    text: u32,
    start: u32,
    end: u32,
    /// The bytes from `start` on.
    key: u64,
    expr: Expr,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Whole,
    Bracket,
}

/// Slots of [`Seen`], a power of two.
const SLOTS: usize = 64;
/// Shorter parts are read again.
const SHORTEST: usize = 9;

impl Seen {
    fn next_text(&mut self) {
        self.text = self.text.wrapping_add(1);
        if self.slots.is_empty() || self.text == 0 {
            self.text = 1;
            let empty = SeenPart { text: 0, start: 0, end: 0, key: 0, expr: Expr(0) };
            self.slots.clear();
            self.slots.resize(SLOTS, empty);
        }
    }

    #[inline]
    fn slot(key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % SLOTS
    }

    /// A whole expression is never taken for a part in brackets that begins alike.
    #[inline]
    fn key(bytes: &[u8], start: usize, part: Part) -> Option<u64> {
        let first = u64::from_le_bytes(*bytes.get(start..)?.first_chunk::<8>()?);
        Some(if part == Part::Whole { !first } else { first })
    }

    /// What the text at `start` is, as far as it was read before: its end and the expression.
    #[inline]
    fn find(&self, bytes: &[u8], start: usize, part: Part) -> Option<(usize, Expr)> {
        let key = Seen::key(bytes, start, part)?;
        let seen = self.slots.get(Seen::slot(key))?;
        if seen.text != self.text || seen.key != key {
            return None;
        }
        let old = bytes.get(seen.start as usize..seen.end as usize)?;
        let end = start + old.len();
        (bytes.get(start..end)? == old).then_some((end, seen.expr))
    }

    #[inline]
    fn keep(&mut self, bytes: &[u8], start: usize, end: usize, part: Part, expr: Expr) {
        if end < start + SHORTEST {
            return;
        }
        let Some(key) = Seen::key(bytes, start, part) else { return };
        if let (Some(slot), Ok(from), Ok(to)) =
            (self.slots.get_mut(Seen::slot(key)), u32::try_from(start), u32::try_from(end))
        {
            *slot = SeenPart { text: self.text, start: from, end: to, key, expr };
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bracket {
    Whole,
    Parenthesis,
    Min,
    Max,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    None,
    Times,
    FloorDiv,
    CeilDiv,
    Mod,
}

/// A product that is being read: `coeff * expr`, or the constant `coeff`.
#[derive(Clone, Copy, Debug)]
struct Value {
    coeff: i64,
    expr: Option<Expr>,
}

const ONE: Value = Value { coeff: 1, expr: None };

#[derive(Clone, Copy, Debug)]
struct Frame {
    bracket: Bracket,
    /// Where it was opened.
    at: usize,
    first_term: usize,
    first_arg: usize,
    constant: i128,
    /// The sign in front of the product that is being read.
    minus: bool,
    /// The sign in front of the operand that is being read.
    negate: bool,
    product: Value,
    operator: Operator,
}

impl Frame {
    #[inline]
    fn add_constant(&mut self, c: i128) -> Result<()> {
        let sum = self.constant.checked_add(if self.minus { -c } else { c });
        self.constant = sum.ok_or_else(|| Error::overflow("a constant"))?;
        Ok(())
    }
}

/// Read an expression from the whole of `text`.
pub fn read_expr(
    text: &str,
    arena: &mut Arena,
    reading: &mut Reading,
    names: &impl VariableNames,
) -> Result<Expr> {
    let mut scanner = Scanner::new(text);
    reading.begin();
    let e = expr(&mut scanner, arena, reading, names)?;
    if scanner.peek() != 0 || scanner.at < scanner.bytes.len() {
        return Err(scanner.expected("an operator or the end"));
    }
    Ok(e)
}

/// Read an expression that begins here, up to what cannot belong to it.
pub(crate) fn expr<N: VariableNames>(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    reading: &mut Reading,
    names: &N,
) -> Result<Expr> {
    reading.frames.clear();
    reading.terms.clear();
    reading.args.clear();
    scanner.skip_space();
    let start = scanner.at;
    let mut first = first_operand(scanner, arena, names)?;
    let after_first = scanner.at;
    if let (Some(value), b',' | b')') = (first, scanner.peek()) {
        return node(arena, value);
    }
    if let Some((end, e)) = reading.seen.find(scanner.bytes, start, Part::Whole) {
        // The same text is the same expression where it also ends here.
        scanner.at = end;
        if matches!(scanner.peek(), b',' | b')') || scanner.bytes[scanner.at..].starts_with(b"in ") {
            return Ok(e);
        }
    }
    scanner.at = after_first;
    reading.open(Bracket::Whole, start);
    loop {
        let mut value = match first.take() {
            Some(value) => value,
            None => match reading.operand(scanner, arena, names)? {
                Some(value) => value,
                None => continue,
            },
        };
        // After an operand: operators begin another one, brackets that close make an operand of what they hold.
        loop {
            let place = scanner.at;
            reading.apply(arena, value).map_err(|e| e.at(place))?;
            let before = scanner.at;
            let next = scanner.peek();
            match next {
                b'+' | b'-' => {
                    reading.end_product(arena).map_err(|e| e.at(before))?;
                    reading.top().minus = next == b'-';
                    scanner.at += 1;
                    break;
                }
                b'*' | b'/' | b'%' | b'f' | b'c' | b'm' => {
                    if let Some(operator) = operator(scanner, next) {
                        reading.top().operator = operator;
                        break;
                    }
                }
                _ => {}
            }
            let Frame { bracket, at, .. } = *reading.top();
            match (bracket, next) {
                (Bracket::Parenthesis | Bracket::Min | Bracket::Max, b')') => scanner.at += 1,
                (Bracket::Min | Bracket::Max, b',') => {
                    scanner.at += 1;
                    let e = reading.end_sum(arena).map_err(|e| e.at(before))?;
                    reading.args.push(e);
                    break;
                }
                (Bracket::Whole, _) => {
                    let e = reading.end_sum(arena).map_err(|e| e.at(before))?;
                    reading.seen.keep(scanner.bytes, start, before, Part::Whole, e);
                    return Ok(e);
                }
                (bracket, _) => return Err(unclosed(scanner, bracket, at)),
            }
            let e = reading.end_sum(arena).map_err(|e| e.at(before))?;
            if reading.joins_outer(scanner.peek()) {
                // min(min(a, b), c) is read as min(a, b, c): order of reading must not decide what is taken out first.
                reading.args.push(e);
                reading.frames.pop();
                if scanner.take(b',') {
                    break;
                }
                let last = reading.args.pop().unwrap_or(e);
                scanner.at += 1;
                let closed = reading.close(arena, last).map_err(|e| e.at(before))?;
                value = Value { coeff: 1, expr: Some(closed) };
                continue;
            }
            let closed = reading.close(arena, e).map_err(|e| e.at(before))?;
            if bracket == Bracket::Parenthesis {
                reading.seen.keep(scanner.bytes, at, scanner.at, Part::Bracket, closed);
            }
            value = Value { coeff: 1, expr: Some(closed) };
        }
    }
}

/// The variable or the number that an expression begins with; nothing is taken where it begins otherwise.
#[inline]
fn first_operand<N: VariableNames>(
    scanner: &mut Scanner<'_>,
    arena: &mut Arena,
    names: &N,
) -> Result<Option<Value>> {
    let start = scanner.at;
    match scanner.here() {
        b'0'..=b'9' => {
            if let Some(coeff) = signed(scanner.digits()?, false) {
                return Ok(Some(Value { coeff, expr: None }));
            }
        }
        b'(' | b'-' => {}
        _ => {
            let name = scanner.name().map(|(from, to)| &scanner.text[from..to]);
            if let Some(v) = name.and_then(|name| names.index_of(name)) {
                return Ok(Some(Value { coeff: 1, expr: Some(arena.variable(v)) }));
            }
        }
    }
    scanner.at = start;
    Ok(None)
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
        scanner.at += 1;
        Some(operator)
    };
    match next {
        b'*' => one(scanner, Operator::Times),
        b'%' => one(scanner, Operator::Mod),
        b'/' => {
            scanner.at += 1;
            if scanner.here() == b'/' {
                scanner.at += 1;
            }
            Some(Operator::FloorDiv)
        }
        b'f' if scanner.take_word("floordiv") || scanner.take_word("floorDiv") => Some(Operator::FloorDiv),
        b'c' if scanner.take_word("ceildiv") || scanner.take_word("ceilDiv") => Some(Operator::CeilDiv),
        b'm' if scanner.take_word("mod") => Some(Operator::Mod),
        _ => None,
    }
}

impl Reading {
    /// Before another text is read.
    pub(super) fn begin(&mut self) {
        self.seen.next_text();
    }

    #[inline]
    fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn open(&mut self, bracket: Bracket, at: usize) {
        self.frames.push(Frame {
            bracket,
            at,
            first_term: self.terms.len(),
            first_arg: self.args.len(),
            constant: 0,
            minus: false,
            negate: false,
            product: ONE,
            operator: Operator::None,
        });
    }

    /// Read one operand; `None` where a sign or an opening bracket was read instead.
    #[inline]
    fn operand<N: VariableNames>(
        &mut self,
        scanner: &mut Scanner<'_>,
        arena: &mut Arena,
        names: &N,
    ) -> Result<Option<Value>> {
        match scanner.peek() {
            b'0'..=b'9' => {
                let start = scanner.at;
                let magnitude = scanner.digits()?;
                // The sign belongs to the number: -2^63 has no positive counterpart.
                let negative = std::mem::take(&mut self.top().negate);
                let coeff = signed(magnitude, negative).ok_or_else(|| {
                    Error::parse("expected an integer of 64 bits, found a longer one", start)
                })?;
                Ok(Some(Value { coeff, expr: None }))
            }
            b'-' => {
                let frame = self.top();
                frame.negate = !frame.negate;
                scanner.at += 1;
                Ok(None)
            }
            b'(' => {
                if let Some((end, e)) = self.seen.find(scanner.bytes, scanner.at, Part::Bracket) {
                    scanner.at = end;
                    return Ok(Some(Value { coeff: 1, expr: Some(e) }));
                }
                self.open(Bracket::Parenthesis, scanner.at);
                scanner.at += 1;
                Ok(None)
            }
            _ => match scanner.name() {
                Some((start, end)) => self.named(scanner, arena, names, start, end),
                None => Err(scanner.expected("an expression")),
            },
        }
    }

    #[inline]
    fn named<N: VariableNames>(
        &mut self,
        scanner: &mut Scanner<'_>,
        arena: &mut Arena,
        names: &N,
        start: usize,
        end: usize,
    ) -> Result<Option<Value>> {
        let name = &scanner.text[start..end];
        if let Some(v) = names.index_of(name) {
            return Ok(Some(Value { coeff: 1, expr: Some(arena.variable(v)) }));
        }
        let bracket = match name {
            "min" => Bracket::Min,
            "max" => Bracket::Max,
            _ => {
                scanner.at = start;
                return Err(scanner.expected(&names.expected()));
            }
        };
        scanner.need(b'(', "'(' after min or max")?;
        self.open(bracket, start);
        Ok(None)
    }

    /// Apply the pending sign and operator to an operand.
    #[inline]
    fn apply(&mut self, arena: &mut Arena, mut value: Value) -> Result<()> {
        let frame = self.top();
        if frame.negate {
            frame.negate = false;
            value.coeff = value.coeff.checked_neg().ok_or_else(|| Error::overflow("a coefficient"))?;
        }
        let (left, operator) = (frame.product, frame.operator);
        let product = match operator {
            Operator::None => value,
            Operator::Times => times(arena, left, value)?,
            _ => {
                let (a, b) = (node(arena, left)?, node(arena, value)?);
                let e = match operator {
                    Operator::FloorDiv => arena.floordiv(a, b)?,
                    Operator::CeilDiv => arena.ceildiv(a, b)?,
                    _ => arena.modulo(a, b)?,
                };
                Value { coeff: 1, expr: Some(e) }
            }
        };
        let frame = self.top();
        frame.product = product;
        frame.operator = Operator::None;
        Ok(())
    }

    /// The product that was read becomes a term.
    #[inline]
    fn end_product(&mut self, arena: &Arena) -> Result<()> {
        let frame = self.top();
        let Value { coeff, expr } = frame.product;
        let minus = frame.minus;
        match expr {
            None => frame.add_constant(i128::from(coeff))?,
            Some(e) if arena.as_constant(e).is_some() => {
                frame.add_constant(i128::from(coeff) * i128::from(arena.constant_part(e)))?;
            }
            Some(e) => {
                let signed = if minus { coeff.checked_neg() } else { Some(coeff) };
                let coeff = signed.ok_or_else(|| Error::overflow("a coefficient"))?;
                self.terms.push(Term::new(coeff, e));
            }
        }
        let frame = self.top();
        frame.product = ONE;
        frame.minus = false;
        Ok(())
    }

    /// The sum that was read becomes a node, and the bracket is ready for another one.
    fn end_sum(&mut self, arena: &mut Arena) -> Result<Expr> {
        self.end_product(arena)?;
        let frame = self.top();
        let (first, constant) = (frame.first_term, std::mem::take(&mut frame.constant));
        let constant = i64::try_from(constant).map_err(|_| Error::overflow("a constant"))?;
        let e = match &self.terms[first..] {
            [] => arena.constant(constant),
            [t] if t.coeff == 1 && constant == 0 => t.expr,
            [t] => arena.affine(t.expr, t.coeff, constant)?,
            terms => arena.sum(constant, terms)?,
        };
        self.terms.truncate(first);
        Ok(e)
    }

    /// Is the innermost bracket a whole argument of one of its own kind, `next` being what follows it?
    fn joins_outer(&self, next: u8) -> bool {
        let [.., outer, inner] = self.frames.as_slice() else { return false };
        let extremum = matches!(inner.bracket, Bracket::Min | Bracket::Max) && inner.bracket == outer.bracket;
        let alone = outer.operator == Operator::None
            && !outer.minus
            && !outer.negate
            && outer.constant == 0
            && outer.first_term == inner.first_term;
        extremum && alone && matches!(next, b',' | b')')
    }

    /// Leave a bracket: the operand that it is, `last` being what stood last in it.
    fn close(&mut self, arena: &mut Arena, last: Expr) -> Result<Expr> {
        let Some(frame) = self.frames.pop() else { return Ok(last) };
        if !matches!(frame.bracket, Bracket::Min | Bracket::Max) {
            return Ok(last);
        }
        self.args.push(last);
        let args = &self.args[frame.first_arg..];
        let e = if frame.bracket == Bracket::Min { arena.minimum(args) } else { arena.maximum(args) };
        self.args.truncate(frame.first_arg);
        e
    }
}

fn times(arena: &mut Arena, a: Value, b: Value) -> Result<Value> {
    let coeff = a.coeff.checked_mul(b.coeff).ok_or_else(|| Error::overflow("a coefficient"))?;
    let expr = match (a.expr, b.expr) {
        (Some(x), Some(y)) => Some(arena.mul(x, y)?),
        (x, y) => x.or(y),
    };
    Ok(if coeff == 0 { Value { coeff, expr: None } } else { Value { coeff, expr } })
}

fn node(arena: &mut Arena, value: Value) -> Result<Expr> {
    match value.expr {
        None => Ok(arena.constant(value.coeff)),
        Some(e) => arena.scale(e, value.coeff),
    }
}
