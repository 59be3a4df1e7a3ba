//! Bounds and congruences that follow from facts.

use super::{derived, law, Info, Ranges, Row, ALWAYS};
use crate::expr::{Arena, Expr, Node, Term, Terms};
use crate::int::div_mod_positive;
use crate::interval::Interval;
use crate::simplify::facts::normal_form;

/// The maximal number of facts that sums are compared with one by one.
const MAX_COMPARED_FACTS: usize = 12;

/// Traits of the facts: there are few enough to compare a sum with each; one of them contains quotients or remainders.
const FEW: u16 = 1;
const DIGITS: u16 = 2;

/// A law by which facts bound a sum.
type OfSum = fn(&Ranges, &mut Arena, Expr) -> Option<Info>;

/// The laws that derive bounds of sums from facts about parts of them.
pub(super) static SUMS: [Row<OfSum>; 3] = [
    row!("range-by-common-denominator", "sum": "x / b + y = (x + b * y) / b"
        if "b > 0" => range_by_common_denominator),
    row!("range-by-facts", "sum": "k * u + p <= k * f + y <= k * v + q, p - k * v <= y - k * f <= q - k * u"
        if "u <= f <= v, p <= y <= q, k > 0"; FEW => range_by_facts),
    row!("range-by-digits", "sum": "x % (a * b) = a * (x / a % b) + x % a, x = a * (x / a) + x % a"
        if "a > 0, b > 0"; FEW | DIGITS => range_by_digits),
];

impl Ranges {
    /// Bounds and congruence of `e`, tightened by the facts.
    pub(crate) fn with_facts(&self, arena: &mut Arena, e: Expr, info: Info) -> Info {
        let Node::Sum(_, terms) = arena.node(e) else {
            return if self.facts.has_atoms { self.with_facts_about(e, 1, 0, info) } else { info };
        };
        // A fact about the only term is part of the bounds of that term.
        if terms.len() < 2 || (self.facts.linear.is_empty() && self.facts.congruences.is_empty()) {
            return info;
        }
        let mut info = info;
        arena.charge(self.facts.linear.len().min(MAX_COMPARED_FACTS) * terms.len());
        let compared = self.facts.linear.len() <= MAX_COMPARED_FACTS;
        // A fact bounds only a sum that contains its whole form.
        let about = |f: &(Expr, Interval)| arena.may_use_variables_of(e, f.0);
        if compared && self.facts.congruences.is_empty() && !self.facts.linear.iter().any(about) {
            return info;
        }
        if !compared || !self.facts.congruences.is_empty() {
            if let Some((form, factor, offset)) = normal_form(arena, e) {
                info = self.with_facts_about(form, factor, offset, info);
            }
        }
        let digits = if self.facts.has_digits { DIGITS } else { ALWAYS };
        let has = if compared { FEW | digits } else { ALWAYS };
        let derived_info = derived(&SUMS, has, |f| f(self, arena, e));
        derived_info.map_or(info, |derived_info| info.and(derived_info))
    }

    /// `info` of `factor * form + offset`, tightened by the facts about `form`.
    fn with_facts_about(&self, form: Expr, factor: i64, offset: i64, mut info: Info) -> Info {
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

/// `x floordiv b + y = (x + b * y) floordiv b`, if there is a fact about the numerator.
fn range_by_common_denominator(ranges: &Ranges, arena: &mut Arena, e: Expr) -> Option<Info> {
    let Node::Sum(_, terms) = arena.node(e) else { return None };
    let t = *terms.iter().find(|t| t.coeff == 1 && arena.as_floordiv(t.expr).is_some())?;
    let (x, b) = arena.as_floordiv(t.expr)?;
    // Building the numerator costs more than to see that no fact is about its variables.
    let own = arena.variables_of(e);
    if !ranges.facts.ranges.keys().any(|form| arena.variables_of(*form) == own) {
        return None;
    }
    let rest = arena.sub(e, t.expr).ok()?;
    let numerator = arena.combine(x, 1, rest, b).ok()?;
    let (form, factor, offset) = normal_form(arena, numerator)?;
    let stated = ranges.facts.ranges.get(&form)?.scaled(factor).plus(Interval::point(offset));
    Some(Info::of(stated.floordiv_positive(b)))
}

/// The bounds of `e = k * form + rest` by those of the form of a fact and of the rest, which may contain further forms.
fn range_by_facts(ranges: &Ranges, arena: &mut Arena, e: Expr) -> Option<Info> {
    by_each_fact(ranges, arena, e, |arena, terms, form| {
        let (factor, rest) = without(arena, terms, form)?;
        Some((factor, rest, Interval::point(0)))
    })
}

/// As [`range_by_facts`], if the form contains the high digit of a term of `e`: the low digit belongs to the rest.
fn range_by_digits(ranges: &Ranges, arena: &mut Arena, e: Expr) -> Option<Info> {
    by_each_fact(ranges, arena, e, |arena, terms, form| {
        let (parts, low) = with_digits_of(arena, terms, form)?;
        let (factor, rest) = without(arena, &parts, form)?;
        Some((factor, rest, low))
    })
}

/// The bounds of `e` by each fact. `split` writes its terms as a multiple of the form, other terms, and a rest in an interval.
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

/// The terms, and the bounds of the low digits that were removed from them. A term whose high digit is part of the form is
/// written as `x mod (a * b) = a * (x floordiv a mod b) + x mod a` or `x = a * (x floordiv a) + x mod a`.
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
    // If the digit was a term before, there are now two terms of it.
    let once = |t: &Term| split.iter().filter(|o| o.expr == t.expr).count() == 1;
    let different = split.iter().all(once);
    (low != Interval::point(0) && different).then_some((split, low))
}

/// `(k, rest)`, where the sum of the terms is `k * form + rest`, if each term of the form is one of the terms.
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
