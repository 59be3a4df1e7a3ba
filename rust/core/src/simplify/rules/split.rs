//! The split of a dividend: `n = high + low`, where the radix `g` divides the divisor `m` and `high`, and `0 <= low < g`.
//!
//! Then `n floordiv m = high floordiv m` and `n mod m = high mod m + low`. If `g = m`, the quotient is exact and the
//! remainder is `low`. For each candidate `g`, the coefficients of `low` are residues: those of least absolute value, or all
//! nonnegative, or all nonpositive. The values of `low` must lie within one period of `g`, which takes time linear in the
//! number of terms.

use crate::error::Result;
use crate::expr::{Expr, Tag, Term, Terms};
use crate::int::{div_mod_positive, gcd_i64};
use crate::interval::Interval;
use crate::simplify::range::Info;
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;

/// `n = high + low`.
pub struct Split {
    /// A multiple of the radix.
    pub high: Expr,
    /// In `[0, radix)`.
    pub low: Expr,
    /// `g`.
    pub radix: i64,
    /// Whether no term is part of both.
    pub disjoint: bool,
}

/// One term of the dividend.
struct Part {
    term: Term,
    info: Info,
    /// A modulus for which all values of the term are congruent; 0 for a constant.
    step: i64,
    /// Whether its values may depend on those of other terms.
    related: bool,
}

type Radices = SmallVec<[i64; 16]>;
type Parts = SmallVec<[Part; 8]>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Residues {
    Least,
    LeastDown,
    Nonnegative,
    Nonpositive,
}

const ALL_RESIDUES: [Residues; 4] =
    [Residues::Least, Residues::LeastDown, Residues::Nonnegative, Residues::Nonpositive];

/// Sums with more terms than this are not searched for pairs.
const MAX_RELATED_PARTS: usize = 64;

impl Simplifier<'_> {
    /// Calls `accept` with the splits of `n` for the divisor `m`, largest radix first, until it returns a result.
    pub fn split<T>(
        &mut self,
        n: Expr,
        m: i64,
        mut accept: impl FnMut(&mut Self, Split) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        // A dividend other than a sum can be split only if it has at most two values.
        if self.arena.tag(n) != Tag::Sum && width(self.bounds(n)) > 1 {
            return Ok(None);
        }
        // The quotient and the remainder of one dividend often occur together.
        if self.failed_split == Some((n, m)) {
            return Ok(None);
        }
        let mut parts = Parts::new();
        let constant = self.fill_parts(n, &mut parts);
        let related = self.are_related(parts.iter());
        if related {
            self.mark_related(&mut parts);
        }
        let (mut split, mut radices) = (false, Radices::new());
        // A term with more than `m` values must be congruent to a constant.
        let wide = parts.iter().filter(|p| width(p.info.bounds) >= m as u64);
        if related || wide.fold(m, |g, p| gcd_i64(g, p.step)) > 1 {
            fill_radices(&parts, m, &mut radices);
        }
        for &g in &radices {
            if !self.spend(parts.len() as u64) {
                return Ok(None);
            }
            if least_width(&parts, g).is_none_or(|w| w >= g as u64) {
                continue;
            }
            let Some(reduced) = Reduced::new(constant, &parts, g) else { continue };
            let low = parts.iter().zip(&reduced.rests).filter(|(_, r)| r.is_some()).map(|(p, _)| p);
            let related = related && self.are_related(low);
            for residues in ALL_RESIDUES {
                if !reduced.is_new(residues) {
                    continue;
                }
                if let Some(parts_of_split) = self.split_at(&reduced, residues, related)? {
                    split = true;
                    if let Some(out) = accept(self, parts_of_split)? {
                        return Ok(Some(out));
                    }
                }
            }
        }
        if !split {
            self.failed_split = Some((n, m));
        }
        Ok(None)
    }

    /// Whether terms depend on each other, so that their sum may have tighter bounds than the terms one by one: a fact is
    /// about these terms only, or they contain a quotient or remainder together with its dividend or its counterpart.
    fn are_related<'p>(&self, parts: impl Iterator<Item = &'p Part> + Clone) -> bool {
        let count = parts.clone().count();
        let is_variable = |p: &Part| self.arena.tag(p.term.expr) == Tag::Variable;
        if !(2..=MAX_RELATED_PARTS).contains(&count)
            || (self.ranges.facts.are_of_atoms() && parts.clone().all(is_variable))
        {
            return false;
        }
        self.arena.charge((count + self.ranges.facts.linear.len()) * count / 4);
        let has = |e: Expr| parts.clone().any(|p| p.term.expr == e);
        // A fact about `x + b * y` bounds `x / b + y`.
        let lifted = |e: Expr| {
            let inside =
                |p: &Part| self.arena.as_floordiv(p.term.expr).is_some_and(|(x, _)| self.holds(x, e));
            has(e) || parts.clone().any(inside)
        };
        let digits = parts.clone().any(|p| {
            let digit = |e: Expr| self.arena.as_floordiv(e).or_else(|| self.arena.as_mod(e));
            let own = digit(p.term.expr);
            own.is_some_and(|(x, _)| {
                has(x) || parts.clone().any(|o| o.term.expr != p.term.expr && digit(o.term.expr) == own)
            })
        });
        digits || self.ranges.facts.may_bound_sum(self.arena, lifted)
    }

    /// Records the letters of the law of a split, and what it uses.
    pub(super) fn bind_split(&mut self, split: &Split, n: Expr, m: i64) {
        self.reason(split.low);
        self.reason(split.high);
        // The values of terms that are constant modulo the radix.
        if self.records_steps() {
            self.arena.to_sum(n).1.iter().for_each(|t| self.reason(t.expr));
        }
        let (low, radix) = (split.low, split.radix);
        self.bind(|a| vec![("n", n), ("m", a.constant(m)), ("r", low), ("g", a.constant(radix))]);
    }

    /// Appends the terms of `n`, and returns its constant.
    fn fill_parts(&mut self, n: Expr, parts: &mut Parts) -> i64 {
        self.info(n); // derives the knowledge of its terms as well
        let one = [Term::new(1, n)];
        let (constant, terms) = self.arena.as_sum(n, &one);
        for &term in terms {
            let info = *self.ranges.of_term(self.arena, term.expr);
            let step = term.coeff.checked_mul(info.modulus).unwrap_or(term.coeff);
            parts.push(Part { term, info, step, related: false });
        }
        constant
    }

    /// Marks the terms whose values may depend on those of others, by a variable or by a fact.
    fn mark_related(&self, parts: &mut Parts) {
        let (mut once, mut twice) = (0, 0);
        for p in parts.iter() {
            let own = self.arena.variables_of(p.term.expr);
            twice |= once & own;
            once |= own;
        }
        let any = !self.ranges.facts.are_of_atoms();
        for p in parts.iter_mut() {
            p.related = any || self.arena.variables_of(p.term.expr) & twice != 0;
        }
    }

    fn split_at(
        &mut self,
        reduced: &Reduced<'_>,
        residues: Residues,
        related: bool,
    ) -> Result<Option<Split>> {
        let Reduced { parts, constant, shift, radix: g, .. } = *reduced;
        let mut period = reduced.period(residues);
        if period.is_none() && related && !reduced.none_low {
            let low: Terms = reduced.low(residues).map(|(p, r)| Term::new(r, p.term.expr)).collect();
            let low = self.arena.sum(shift, &low)?;
            let bounds = self.bounds(low);
            let ends = (div_mod_positive(bounds.lower, g).0, div_mod_positive(bounds.upper, g).0);
            period = Some(ends.0).filter(|_| bounds.is_bounded() && ends.0 == ends.1);
        }
        let Some(base) = period.and_then(|k| k.checked_mul(g)).and_then(|b| shift.checked_sub(b)) else {
            return Ok(None);
        };
        if reduced.none_low && base == 0 {
            return Ok(None);
        }
        let (mut low, mut high) = (Terms::new(), Terms::new());
        let mut disjoint = true;
        for (p, r) in parts.iter().zip(&reduced.rests) {
            let residue = r.map_or(0, |r| residue_of(p.term.coeff, r, g, residues));
            disjoint &= r.is_none() || residue == p.term.coeff;
            if residue != 0 {
                low.push(Term::new(residue, p.term.expr));
            }
            if p.term.coeff != residue {
                high.push(Term::new(p.term.coeff - residue, p.term.expr));
            }
        }
        let Some(above) = constant.checked_sub(base) else { return Ok(None) };
        let (high, low) = (self.arena.sum(above, &high)?, self.arena.sum(base, &low)?);
        Ok(Some(Split { high, low, radix: g, disjoint }))
    }
}

/// A dividend modulo a radix.
struct Reduced<'p> {
    parts: &'p [Part],
    /// The constant of the dividend.
    constant: i64,
    shift: i64,
    radix: i64,
    /// The residue in `[0, radix)` of each coefficient; `None` if all values of the term are congruent.
    rests: SmallVec<[Option<i64>; 8]>,
    none_low: bool,
    /// Whether a coefficient has two residues of least absolute value, one that is positive, or one that is negative.
    has_tie: bool,
    has_above: bool,
    has_below: bool,
}

impl<'p> Reduced<'p> {
    /// `None` beyond int64.
    fn new(constant: i64, parts: &'p [Part], g: i64) -> Option<Self> {
        let mut shift = div_mod_positive(constant, g).1;
        let mut rests = SmallVec::new();
        let (mut has_tie, mut has_above, mut has_below) = (false, false, false);
        for p in parts {
            if p.step % g == 0 {
                // The whole term is congruent to a constant.
                let r = div_mod_positive(p.term.coeff.checked_mul(p.info.residue)?, g).1;
                shift = if shift < g - r { shift + r } else { shift - (g - r) };
                rests.push(None);
                continue;
            }
            let r = div_mod_positive(p.term.coeff, g).1;
            has_tie |= r == g - r;
            has_above |= r < g - r;
            has_below |= r > g - r;
            rests.push(Some(r));
        }
        let none_low = !(has_tie || has_above || has_below);
        Some(Reduced { parts, constant, shift, radix: g, rests, none_low, has_tie, has_above, has_below })
    }

    /// Whether these residues differ from those of the kinds before.
    fn is_new(&self, residues: Residues) -> bool {
        match residues {
            Residues::Least => true,
            Residues::LeastDown => self.has_tie,
            Residues::Nonnegative => self.has_below,
            Residues::Nonpositive => self.has_above,
        }
    }

    /// The terms of the low part, each with its residue.
    fn low(&self, residues: Residues) -> impl Iterator<Item = (&'p Part, i64)> + '_ {
        self.parts
            .iter()
            .zip(&self.rests)
            .filter_map(move |(p, r)| Some((p, residue_of(p.term.coeff, (*r)?, self.radix, residues))))
    }

    /// The `k` with all values of the low part in `[k * g, (k + 1) * g)`.
    fn period(&self, residues: Residues) -> Option<i64> {
        let (mut lower, mut upper) = (i128::from(self.shift), i128::from(self.shift));
        for (p, r) in self.low(residues) {
            let b = p.info.bounds;
            let (from, to) = if r > 0 { (b.lower, b.upper) } else { (b.upper, b.lower) };
            lower += i128::from(from) * i128::from(r);
            upper += i128::from(to) * i128::from(r);
            if !b.is_bounded() || upper - lower >= i128::from(self.radix) {
                return None;
            }
        }
        let (lower, upper) = (i64::try_from(lower).ok()?, i64::try_from(upper).ok()?);
        let k = div_mod_positive(lower, self.radix).0;
        (k == div_mod_positive(upper, self.radix).0).then_some(k)
    }
}

/// The difference of the bounds; the greatest number if there is no bound.
fn width(bounds: Interval) -> u64 {
    match bounds.is_bounded() {
        true => bounds.upper.abs_diff(bounds.lower),
        false => u64::MAX,
    }
}

/// The width of the values of independent terms modulo `g`, with residues of least absolute value;
/// `None` beyond 64 bits.
#[inline]
fn least_width(parts: &[Part], g: i64) -> Option<u64> {
    let mut all = 0u64;
    for p in parts.iter().filter(|p| !p.related && p.step % g != 0) {
        let r = div_mod_positive(p.term.coeff, g).1;
        all = all.checked_add((r.min(g - r) as u64).checked_mul(width(p.info.bounds))?)?;
    }
    Some(all)
}

/// The residue of a coefficient, whose least nonnegative one is `r`.
fn residue_of(coeff: i64, r: i64, g: i64, residues: Residues) -> i64 {
    let down = match residues {
        Residues::Least => r > g - r,
        Residues::LeastDown => r >= g - r,
        Residues::Nonnegative => false,
        Residues::Nonpositive => r > 0,
    };
    // A remainder of a coefficient near i64::MIN may not be taken away from it within int64.
    if down && coeff.checked_sub(r - g).is_some() {
        r - g
    } else if coeff.checked_sub(r).is_some() {
        r
    } else {
        coeff % g
    }
}

/// `m`, and the common divisors of `m` with the steps of the terms: of each one, and of the largest ones together. In
/// descending order, without 1.
fn fill_radices(parts: &[Part], m: i64, radices: &mut Radices) {
    radices.push(m);
    for p in parts {
        insert(radices, gcd_i64(p.step, m));
    }
    let (mut joined, mut k) = (0, 1);
    while k < radices.len() {
        joined = gcd_i64(joined, radices[k]);
        insert(radices, joined);
        k += 1;
    }
}

/// Inserts `g` into a list in descending order.
fn insert(radices: &mut Radices, g: i64) {
    let place = radices.iter().position(|x| *x <= g).unwrap_or(radices.len());
    if g > 1 && radices.get(place) != Some(&g) {
        radices.insert(place, g);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The residue of a coefficient is congruent to it, less than the radix, and as small, or of the sign, that was requested;
    /// subtracting it does not overflow int64.
    #[test]
    fn residues_of_coefficients_are_those_asked_for() {
        let ends = [0, 1, 7, i64::MAX / 2, i64::MAX - 1, i64::MAX];
        let coefficients = ends.into_iter().flat_map(|c| [c, -c, -c - 1]).chain(-9..=9);
        for (coeff, g) in coefficients.flat_map(|c| [2, 3, 4, 5, 8, 1 << 40].map(|g| (c, g))) {
            let r = coeff.rem_euclid(g);
            for residues in ALL_RESIDUES.into_iter().filter(|_| r != 0) {
                let residue = residue_of(coeff, r, g, residues);
                let high = coeff.checked_sub(residue).expect("within int64");
                assert!(high % g == 0 && residue.abs() < g, "{coeff} modulo {g}: {residue}");
                let asked = match residues {
                    Residues::Least if 2 * r == g => r,
                    Residues::LeastDown if 2 * r == g => r - g,
                    Residues::Least | Residues::LeastDown => [r, r - g][usize::from(2 * r > g)],
                    Residues::Nonnegative => r,
                    Residues::Nonpositive => r - g,
                };
                assert!(
                    residue == asked || coeff.checked_sub(asked).is_none(),
                    "{coeff} modulo {g}: {residue}"
                );
            }
        }
    }
}
