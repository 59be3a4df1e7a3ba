//! Bounds and congruences that constraints state of expressions.

use super::{derived, law, Info, Ranges, Row, ALWAYS};
use crate::expr::{Arena, Expr, Node, Term, Terms};
use crate::int::div_mod_positive;
use crate::interval::Interval;
use crate::simplify::facts::normal_form;

/// With more facts than this, sums are not compared with each of them.
const FACTS_COMPARED: usize = 12;

/// The facts are few enough for a sum to be compared with each; and one of them is about more than variables.
const FEW: u16 = 1;
const DIGITS: u16 = 2;

/// A law by which facts bound a sum.
type OfSum = fn(&Ranges, &mut Arena, Expr) -> Option<Info>;

/// The laws by which facts bound sums that contain their forms.
pub(super) static SUMS: [Row<OfSum>; 3] = [
    Row {
        laws: &[law("range-by-common-denominator", "sum", "x / b + y = (x + b * y) / b", "b > 0")],
        requires: ALWAYS,
        function: range_by_lifting,
    },
    Row {
        laws: &[law(
            "range-by-facts",
            "sum",
            "k * u + p <= k * f + y <= k * v + q, p - k * v <= y - k * f <= q - k * u",
            "u <= f <= v, p <= y <= q, k > 0",
        )],
        requires: FEW,
        function: range_by_facts,
    },
    Row {
        laws: &[law(
            "range-by-digits",
            "sum",
            "x % (a * b) = a * (x / a % b) + x % a, x = a * (x / a) + x % a",
            "a > 0, b > 0",
        )],
        requires: FEW | DIGITS,
        function: range_by_digits,
    },
];

impl Ranges {
    /// Bounds and congruence of `e`, tightened by the facts.
    pub(crate) fn with_facts(&self, arena: &mut Arena, e: Expr, info: Info) -> Info {
        let Node::Sum(_, terms) = arena.node(e) else {
            return if self.facts.has_atoms { self.with_stated(e, 1, 0, info) } else { info };
        };
        // A fact about the only term already bounds the sum.
        if terms.len() < 2 || (self.facts.linear.is_empty() && self.facts.congruences.is_empty()) {
            return info;
        }
        let mut info = info;
        arena.charge(self.facts.linear.len().min(FACTS_COMPARED) * terms.len());
        let compared = self.facts.linear.len() <= FACTS_COMPARED;
        // A fact bounds only a sum that contains all of its form.
        let about = |f: &(Expr, Interval)| arena.may_use_variables_of(e, f.0);
        if compared && self.facts.congruences.is_empty() && !self.facts.linear.iter().any(about) {
            return info;
        }
        if !compared || !self.facts.congruences.is_empty() {
            if let Some((form, factor, offset)) = normal_form(arena, e) {
                info = self.with_stated(form, factor, offset, info);
            }
        }
        let digits = if self.facts.has_digits { DIGITS } else { ALWAYS };
        let has = if compared { FEW | digits } else { ALWAYS };
        let told = derived(&SUMS, has, |f| f(self, arena, e));
        told.map_or(info, |told| info.and(told))
    }

    /// The bounds that are stated of `form`, as those of `factor * form + offset`.
    fn with_stated(&self, form: Expr, factor: i64, offset: i64, mut info: Info) -> Info {
        if let Some(bounds) = self.facts.ranges.get(&form) {
            let stated = bounds.scaled(factor).plus(Interval::point(offset));
            info = info.and(Info { bounds: stated, modulus: 1, residue: 0 });
        }
        if let Some((m, r)) = self.facts.congruences.get(&form) {
            let both =
                m.checked_mul(factor.abs()).zip(r.checked_mul(factor).and_then(|x| x.checked_add(offset)));
            if let Some((m, r)) = both {
                let residue = div_mod_positive(r, m).1;
                info = info.and(Info { bounds: Interval::ALL, modulus: m, residue });
            }
        }
        info
    }
}

/// `x floordiv b + y = (x + b * y) floordiv b`: the numerator may be a stated form.
fn range_by_lifting(ranges: &Ranges, arena: &mut Arena, e: Expr) -> Option<Info> {
    let Node::Sum(_, terms) = arena.node(e) else { return None };
    let t = *terms.iter().find(|t| t.coeff == 1 && arena.as_floordiv(t.expr).is_some())?;
    let (x, b) = arena.as_floordiv(t.expr)?;
    let rest = arena.sub(e, t.expr).ok()?;
    let lifted = arena.combine(x, 1, rest, b).ok()?;
    let (form, factor, offset) = normal_form(arena, lifted)?;
    let stated = ranges.facts.ranges.get(&form)?.scaled(factor).plus(Interval::point(offset));
    Some(Info::of(stated.floordiv_positive(b)))
}

/// Bounds `e = k * form + rest` by the bounds of the form and of the rest, which may contain further forms.
fn range_by_facts(ranges: &Ranges, arena: &mut Arena, e: Expr) -> Option<Info> {
    by_each_fact(ranges, arena, e, |arena, terms, form| {
        let (factor, rest) = without(arena, terms, form)?;
        Some((factor, rest, Interval::point(0)))
    })
}

/// As [`range_by_facts`], if `e` contains an expression of which the form has a high digit: the low digit is in the rest.
fn range_by_digits(ranges: &Ranges, arena: &mut Arena, e: Expr) -> Option<Info> {
    by_each_fact(ranges, arena, e, |arena, terms, form| {
        let (parts, low) = with_digits_of(arena, terms, form)?;
        let (factor, rest) = without(arena, &parts, form)?;
        Some((factor, rest, low))
    })
}

/// The bounds of `e` by each fact that `split` finds in it: as a multiple of the form, other terms, and what is left.
fn by_each_fact(
    ranges: &Ranges,
    arena: &mut Arena,
    e: Expr,
    split: impl Fn(&Arena, &[Term], Expr) -> Option<(i64, Terms, Interval)>,
) -> Option<Info> {
    let Node::Sum(constant, terms) = arena.node(e) else { return None };
    let mut known: Option<Interval> = None;
    for (k, (form, bounds)) in ranges.facts.linear.iter().enumerate() {
        if !arena.may_use_variables_of(e, *form) {
            continue;
        }
        let Some((factor, mut rest, left)) = split(arena, terms, *form) else { continue };
        let mut sum = Interval::point(constant).plus(left).plus(bounds.scaled(factor));
        for (_, (form, bounds)) in ranges.facts.linear.iter().enumerate().filter(|(i, _)| *i != k) {
            if rest.len() < 2 {
                break;
            }
            arena.charge(rest.len());
            match without(arena, &rest, *form) {
                Some((factor, fewer)) if fewer.len() + arena.operand_count(*form) == rest.len() => {
                    sum = sum.plus(bounds.scaled(factor));
                    rest = fewer;
                }
                _ => {}
            }
        }
        for t in &rest {
            sum = sum.plus(ranges.operand(arena, t.expr).bounds.scaled(t.coeff));
        }
        known = Some(known.map_or(sum, |known| known.intersect(sum)));
    }
    known.map(Info::of)
}

/// The terms, those of which the form holds a high digit written as `x mod (a * b) = a * (x floordiv a mod b) + x mod a`,
/// or `x = a * (x floordiv a) + x mod a`, and the bounds of what is left of these, the low digits.
fn with_digits_of(arena: &Arena, terms: &[Term], form: Expr) -> Option<(Terms, Interval)> {
    let Node::Sum(0, parts) = arena.node(form) else { return None };
    if arena.is_linear(form) {
        return None;
    }
    let mut split = Terms::from_slice(terms);
    let mut low = Interval::point(0);
    for p in parts {
        let digit = match arena.as_mod(p.expr) {
            Some((high, b)) => arena.as_floordiv(high).map(|(x, a)| (x, a, Some(b))),
            None => arena.as_floordiv(p.expr).map(|(x, a)| (x, a, None)),
        };
        let Some((x, a, b)) = digit else { continue };
        let is_whole = |t: &Term| match b {
            Some(b) => arena.as_mod(t.expr).is_some_and(|(n, m)| n == x && a.checked_mul(b) == Some(m)),
            None => t.expr == x,
        };
        let Some(k) = split.iter().position(is_whole) else { continue };
        let coeff = split[k].coeff;
        low = low.plus(Interval::new(0, a - 1).scaled(coeff));
        split[k] = Term::new(coeff.checked_mul(a)?, p.expr);
    }
    // A digit that was there before now has two terms.
    let once = |t: &Term| split.iter().filter(|o| o.expr == t.expr).count() == 1;
    let different = split.iter().all(once);
    (low != Interval::point(0) && different).then_some((split, low))
}

/// `(k, rest)` where the sum of the terms is `k * form + rest`, all parts of the form being terms.
fn without(arena: &Arena, terms: &[Term], form: Expr) -> Option<(i64, Terms)> {
    let Node::Sum(0, parts) = arena.node(form) else { return None };
    let first = terms.iter().find(|t| t.expr == parts[0].expr)?;
    let factor = first.coeff.checked_div(parts[0].coeff).filter(|k| *k != 0)?;
    let whole = factor.checked_mul(parts[0].coeff) == Some(first.coeff);
    if !whole || !parts[1..].iter().all(|p| terms.iter().any(|t| t.expr == p.expr)) {
        return None;
    }
    let mut rest = Terms::new();
    for t in terms {
        let part = parts.iter().find(|p| p.expr == t.expr);
        let left = t.coeff.checked_sub(part.map_or(Some(0), |p| p.coeff.checked_mul(factor))?)?;
        if left != 0 {
            rest.push(Term::new(left, t.expr));
        }
    }
    Some((factor, rest))
}
