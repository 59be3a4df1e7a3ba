//! Digits that are joined: variables that are the digits of one number, in some sum, are replaced by it. This shows structure that
//! no expression of a map shows alone: of `(d1 mod 5) * 64 + d0` and `d1 * 64 + d0` for `d0` in [0, 63], both are remainders of
//! one number.

use crate::error::Result;
use crate::expr::{Arena, Expr, Node, Term};
use crate::interval::Interval;
use crate::map::indexing_map::MapBuilder;
use crate::sets::changed_variables::{roots, Path};
use crate::sets::work::Work;
use std::collections::HashMap;

/// Two variables that are the digits of one number: the values of the low one are as many as there are steps of the high one.
#[derive(Clone, Copy, Debug)]
struct Digits {
    low: usize,
    high: usize,
    /// Whether the high digit counts down.
    descends: bool,
}

/// The variables with several values among the terms of a sum.
pub(super) struct Linear {
    pub constant: i64,
    pub terms: Vec<(usize, i64)>,
    pub modulus: Modulus,
}

/// The part of a sum that matters, in the order in which sums are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Modulus {
    /// All of it.
    None,
    /// The remainder by a number.
    Remainder(i128),
    /// All of it, but quotients by a number of what is added to it are easy.
    Quotient(i128),
}

impl Work<'_> {
    /// Replaces variables that are digits of one number by that number, as long as there are any, and simplifies. Whether there
    /// were any.
    pub(super) fn join_digits(&mut self, map: &mut MapBuilder, path: &Path) -> bool {
        let mut joined = false;
        while let Some(digits) = digits_of(self.arena, map, path) {
            if join(self.arena, map, digits).is_err() {
                break; // a coefficient leaves int64
            }
            self.simplify(map);
            joined = true;
        }
        joined
    }
}

fn digits_of(arena: &mut Arena, map: &MapBuilder, path: &Path) -> Option<Digits> {
    let mut sums = sums(arena, map);
    sums.sort_by_key(|sum| sum.modulus);
    sums.iter().find_map(|sum| sum.digits(map, path))
}

/// The sums in the expressions of a map.
pub(super) fn sums(arena: &mut Arena, map: &MapBuilder) -> Vec<Linear> {
    let mut all = Vec::new();
    for e in arena.post_order(&roots(map)) {
        if let Node::Sum(..) = arena.node(e) {
            all.push(Linear::new(arena, map, e, Modulus::None));
        } else if let Some((x, d)) = arena.as_floordiv(e) {
            all.push(Linear::new(arena, map, x, Modulus::Quotient(d.into())));
        } else if let Some((x, m)) = arena.as_mod(e) {
            all.push(Linear::new(arena, map, x, Modulus::Remainder(m.into())));
            // (x floordiv d) mod m depends on the remainder of x by d * m.
            for (x, d) in arena.to_sum(x).1.iter().filter_map(|t| arena.as_floordiv(t.expr)) {
                all.push(Linear::new(arena, map, x, Modulus::Remainder(i128::from(d) * i128::from(m))));
            }
        }
    }
    all
}

impl Linear {
    fn new(arena: &Arena, map: &MapBuilder, e: Expr, modulus: Modulus) -> Self {
        let (constant, terms) = arena.to_sum(e);
        let variable = |t: &Term| Some((arena.as_variable(t.expr)? as usize, t.coeff));
        let terms = terms.iter().filter_map(variable).filter(|(v, _)| !map.intervals[*v].is_point());
        Linear { constant, terms: terms.collect(), modulus }
    }

    fn digits(&self, map: &MapBuilder, path: &Path) -> Option<Digits> {
        let pairs = self.terms.iter().flat_map(|low| self.terms.iter().map(move |high| (*low, *high)));
        pairs.filter(|(low, high)| low.0 != high.0).find_map(|((low, a), (high, b))| {
            let (own, of_high) = (map.intervals[low].count(), map.intervals[high].count());
            let is_number = own.checked_mul(of_high).is_some_and(|size| size <= i64::MAX as u128);
            let step = i128::from(a).checked_mul(i128::try_from(own).ok()?)?;
            let is_digit = |of_high: i128| match self.modulus {
                Modulus::None => step == of_high,
                Modulus::Remainder(m) | Modulus::Quotient(m) => {
                    step.checked_sub(of_high).is_some_and(|x| x % m == 0)
                }
            };
            let b = i128::from(b);
            let descends = if is_digit(b) { false } else { is_digit(-b).then_some(true)? };
            let was_split = path.splits.iter().any(|(pair, radix)| *pair == [high, low] && *radix == own);
            (is_number && !was_split).then_some(Digits { low, high, descends })
        })
    }
}

/// A number in the place of its digits.
struct Number {
    digits: Digits,
    /// The values of the low digit and of the high one.
    intervals: [Interval; 2],
    /// The number, and what it is divided by.
    variable: Expr,
    radix: i64,
    /// By expression over the digits, the one over the number.
    new: HashMap<Expr, Expr>,
}

/// Replaces the digits by the number, which gets the place of the low one.
fn join(arena: &mut Arena, map: &mut MapBuilder, digits: Digits) -> Result<()> {
    let intervals = [digits.low, digits.high].map(|v| map.intervals[v]);
    let [low, high] = intervals.map(Interval::count);
    let variable = arena.variable(digits.low as u32);
    let mut number = Number { digits, intervals, variable, radix: low as i64, new: HashMap::new() };
    for e in arena.post_order(&roots(map)) {
        let own = number.rewritten(arena, e)?;
        number.new.insert(e, own);
    }
    map.results.iter_mut().for_each(|e| *e = number.new[e]);
    map.constraints.iter_mut().for_each(|(e, _)| *e = number.new[e]);
    map.intervals[digits.low] = Interval::new(0, (low * high) as i64 - 1);
    map.intervals[digits.high] = Interval::point(0);
    Ok(())
}

impl Number {
    fn rewritten(&self, arena: &mut Arena, e: Expr) -> Result<Expr> {
        match arena.as_variable(e).map(|v| v as usize) {
            Some(v) if v == self.digits.low => {
                let rest = arena.modulo_constant(self.variable, self.radix)?;
                return arena.offset(rest, self.intervals[0].lower);
            }
            Some(v) if v == self.digits.high => {
                let quotient = arena.floordiv_constant(self.variable, self.radix)?;
                return arena.affine(quotient, self.sign(), self.first_high());
            }
            _ => {}
        }
        match self.divided(arena, e)? {
            Some(joined) => Ok(joined),
            None => arena.with_operands(e, |operand| self.new[&operand]),
        }
    }

    fn sign(&self) -> i64 {
        if self.digits.descends {
            -1
        } else {
            1
        }
    }

    /// The high digit where the number is less than the radix.
    fn first_high(&self) -> i64 {
        if self.digits.descends {
            self.intervals[1].upper
        } else {
            self.intervals[1].lower
        }
    }

    /// A quotient or remainder of a sum with both digits, if their coefficients are those of the digits of a multiple of the
    /// number but for a multiple of the divisor.
    fn divided(&self, arena: &mut Arena, e: Expr) -> Result<Option<Expr>> {
        let quotient = arena.as_floordiv(e);
        let Some((dividend, divisor)) = quotient.or_else(|| arena.as_mod(e)) else { return Ok(None) };
        let (constant, terms) = arena.to_sum(dividend);
        let digits = [self.digits.low, self.digits.high].map(|v| arena.variable(v as u32));
        let coeff = |digit: Expr| terms.iter().find(|t| t.expr == digit).map(|t| t.coeff);
        let (Some(a), Some(b)) = (coeff(digits[0]), coeff(digits[1])) else { return Ok(None) };
        let more = i128::from(b) * i128::from(self.sign()) - i128::from(a) * i128::from(self.radix);
        let start = i128::from(a) * i128::from(self.intervals[0].lower)
            + i128::from(b) * i128::from(self.first_high());
        let (Ok(constant), Ok(more)) = (i64::try_from(start + i128::from(constant)), i64::try_from(more))
        else {
            return Ok(None);
        };
        if more % divisor != 0 {
            return Ok(None);
        }
        let others = terms.iter().filter(|t| !digits.contains(&t.expr));
        let mut terms: Vec<Term> = others.map(|t| Term { coeff: t.coeff, expr: self.new[&t.expr] }).collect();
        terms.push(Term { coeff: a, expr: self.variable });
        let dividend = arena.sum(constant, &terms)?;
        if quotient.is_none() {
            return arena.modulo_constant(dividend, divisor).map(Some);
        }
        let high = arena.floordiv_constant(self.variable, self.radix)?;
        let joined = arena.floordiv_constant(dividend, divisor)?;
        arena.combine(joined, 1, high, more / divisor).map(Some)
    }
}
