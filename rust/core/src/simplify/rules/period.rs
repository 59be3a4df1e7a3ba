//! Laws that write a sum as a remainder: because its values lie in one period, or because its quotients complete a remainder
//! modulo another one.

use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::int::div_mod_positive;
use crate::interval::Interval;
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;

/// Sums with more terms than this are left as they are: their bounds take long.
const MAX_TERMS: usize = 8;

/// The cost of a quotient or remainder by itself.
const DIGIT_COST: u32 = 4;

/// The maximal number of periods that are tried for one sum.
const MAX_PERIODS: usize = 4;

/// `e = (e - k) % m + k`, if all values of `e` lie in `[k, k + m)` and the remainder, without its multiples of `m`, is cheaper.
#[inline(never)]
pub(super) fn remainder_of_values(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    // One sign keeps no value within a period, and without remainders no digit continues another.
    let negative = terms.iter().filter(|t| t.coeff < 0).count();
    let is_mixed = negative > 0 && negative < terms.len();
    let holds_remainder = || terms.iter().any(|t| s.arena.tag(t.expr) == Tag::Mod);
    if terms.len() > MAX_TERMS || !(is_mixed || holds_remainder()) {
        return Ok(None);
    }
    for period in periods(s, terms) {
        let m = period.length;
        let Some(first) = start_of_period(s.bounds(e), m).filter(|_| s.spend(1)) else { continue };
        let Some(back) = first.checked_neg() else { continue };
        let moved = s.arena.offset(e, back)?;
        let rest = s.arena.modulo_constant(moved, m)?;
        let raw = s.arena.offset(rest, first)?;
        let (new, old) = (s.cost(raw), s.cost(e));
        let out = if new.saturating_add(period.saves) <= old {
            s.simplify(raw)
        } else if new == old && period.is_continued {
            s.simplify_cheapest(raw)
        } else {
            continue;
        };
        if s.cost(out).saturating_add(period.saves) <= old {
            s.reason(e);
            s.bind(|a| vec![("x", e), ("m", a.constant(m)), ("k", a.constant(first))]);
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// The least value of a period of `m` values that contains the bounds, a multiple of `m` if possible.
fn start_of_period(bounds: Interval, m: i64) -> Option<i64> {
    let width = bounds.upper.checked_sub(bounds.lower).filter(|_| bounds.is_bounded())?;
    let low = div_mod_positive(bounds.lower, m).0;
    match low == div_mod_positive(bounds.upper, m).0 {
        true => low.checked_mul(m),
        false => (width < m).then_some(bounds.lower),
    }
}

/// A period in which the values of a sum may lie.
struct Period {
    length: i64,
    /// The digits of the sum may recombine in a remainder of equal cost, because they were apart.
    is_continued: bool,
    /// The cost that a remainder must save: that of a digit, unless it takes the place of a quotient.
    saves: u32,
}

/// The factors of the quotients of a sum, and those of its remainders times their divisors, without duplicates; only of those
/// that other terms may keep within one period, or continue.
fn periods(s: &Simplifier<'_>, terms: &[Term]) -> SmallVec<[Period; 4]> {
    let mut out = SmallVec::<[Period; 4]>::new();
    for (k, t) in terms.iter().enumerate() {
        let (divisor, is_continued, saves) = match s.arena.tag(t.expr) {
            // A quotient by a power of 2 is a shift, which a remainder by another number is not.
            Tag::FloorDiv => match s.arena.as_floordiv(t.expr) {
                Some((_, k)) if is_power_of_two(k) && !is_power_of_two(t.coeff) => continue,
                _ => (1, false, 1),
            },
            Tag::Mod => match s.arena.as_mod(t.expr) {
                Some((y, m)) => (m, continues(s, terms, k, y), DIGIT_COST),
                None => continue,
            },
            _ => continue,
        };
        let kept = |o: &Term| (o.coeff < 0) != (t.coeff < 0) && s.arena.may_share_variables(o.expr, t.expr);
        let length = t.coeff.checked_mul(divisor).and_then(i64::checked_abs);
        let Some(length) = length.filter(|m| *m > 1 && (is_continued || terms.iter().any(kept))) else {
            continue;
        };
        if out.iter().all(|p| p.length != length) && out.len() < MAX_PERIODS {
            out.push(Period { length, is_continued, saves });
        }
    }
    out
}

fn is_power_of_two(k: i64) -> bool {
    k.unsigned_abs().is_power_of_two()
}

/// Whether `c * (x / u)`, with `x / u` the dividend `y` of the remainder at `k`, belongs into a quotient of the sum: into
/// `b * ((a * (x % u) + z) / m)` if `b * a * u = c * m`.
fn continues(s: &Simplifier<'_>, terms: &[Term], k: usize, y: Expr) -> bool {
    let Some((x, u)) = s.arena.as_floordiv(y) else { return false };
    let c = i128::from(terms[k].coeff);
    let belongs = |o: &Term| {
        let Some((n, m)) = s.arena.as_floordiv(o.expr) else { return false };
        let Node::Sum(_, parts) = s.arena.node(n) else { return false };
        let whole = |a: i64| i128::from(a) * i128::from(u);
        let fits = |a: i64| whole(a).checked_mul(o.coeff.into()) == Some(c * i128::from(m));
        parts.iter().any(|p| s.arena.as_mod(p.expr) == Some((x, u)) && fits(p.coeff))
    };
    terms.iter().any(belongs)
}

/// `(y + a * x + b * (x / k)) % m = (y + a * (x % k)) % m` for `m` that divides `a * k + b`, if that is cheaper by a digit.
#[inline(never)]
pub(super) fn quotient_completed(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Rewritten {
    let one = [Term::new(1, n)];
    let (constant, terms) = s.arena.as_sum(n, &one);
    let completed = |at: usize| Some((at, completing_factor(s, terms, at, m)?));
    let quotients = (0..terms.len()).filter(|at| s.arena.tag(terms[*at].expr) == Tag::FloorDiv);
    let completed: SmallVec<[(usize, i64); 4]> = quotients.filter_map(completed).collect();
    if completed.is_empty() {
        return Ok(None);
    }
    let terms = Terms::from_slice(terms);
    for (at, a) in completed {
        let t = terms[at];
        let Some((dividend, divisor)) = s.arena.as_floordiv(t.expr).filter(|_| s.spend(1)) else { continue };
        let (high, x, k) = match quotient_beside(s, &terms, dividend, divisor) {
            Some((x, k, _)) => (Terms::new(), x, k),
            None => whole_part(s, dividend, divisor)?,
        };
        // The sum with the whole part of the quotient outside of it.
        let mut all = terms.clone();
        all.remove(at);
        for h in high {
            let Some(coeff) = h.coeff.checked_mul(t.coeff) else { return Ok(None) };
            all.push(Term::new(coeff, h.expr));
        }
        let beside = s.arena.sum(constant, &all)?;
        let Some(minus) = a.checked_neg() else { continue };
        let rest = s.arena.combine(beside, 1, x, minus)?;
        let digit = s.arena.modulo_constant(x, k)?;
        let new = s.arena.combine(rest, 1, digit, a)?;
        let raw = s.arena.modulo_constant(new, m)?;
        let out = if s.cost(raw) < s.cost(e) { s.simplify(raw) } else { e };
        // A digit must go: one that takes the place of another hides digits that recombine.
        if s.cost(out).saturating_add(DIGIT_COST) <= s.cost(e) {
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// The `a` of `a * x` beside the quotient at `at`, by the first term of `x`, if it completes the quotient modulo `m`.
fn completing_factor(s: &Simplifier<'_>, terms: &[Term], at: usize, m: i64) -> Option<i64> {
    let b = terms[at].coeff;
    let (n, k) = s.arena.as_floordiv(terms[at].expr)?;
    let one = [Term::new(1, n)];
    let first = s.arena.as_sum(n, &one).1.first()?;
    if terms.len() == 1 && first.coeff.unsigned_abs() < k.unsigned_abs() {
        return None;
    }
    if let Some((_, k, a)) = quotient_beside(s, terms, n, k) {
        return completes(a, k, b, m).then_some(a);
    }
    let (high, low) = (first.coeff.checked_div(k)?, first.coeff.checked_rem(k)?);
    let beside = terms.iter().find(|t| t.expr == first.expr).map_or(0, |t| t.coeff);
    let own = high.checked_mul(b)?.checked_add(beside)?;
    let a = own.checked_div(low).filter(|a| *a != 0 && own % low == 0)?;
    completes(a, k, b, m).then_some(a)
}

/// `n / j`, `m / j` and the factor of `n / j`, if it is one of the terms for a `j` that divides `m`: `n / m` is its quotient
/// as well.
fn quotient_beside(s: &Simplifier<'_>, terms: &[Term], n: Expr, m: i64) -> Option<(Expr, i64, i64)> {
    let nested = |t: &Term| {
        let (dividend, j) = s.arena.as_floordiv(t.expr)?;
        (dividend == n && j > 0 && j < m && m % j == 0).then_some((t.expr, m / j, t.coeff))
    };
    terms.iter().find_map(nested)
}

/// The terms of `x / k` that are no quotient, and the dividend and the divisor of the rest: coefficients in `(-k, k)`.
#[cold]
fn whole_part(s: &mut Simplifier<'_>, x: Expr, k: i64) -> Result<(Terms, Expr, i64)> {
    let (constant, parts) = s.arena.to_sum(x);
    if k < 1 || parts.iter().all(|p| p.coeff.unsigned_abs() < k.unsigned_abs()) {
        return Ok((Terms::new(), x, k));
    }
    let high = parts.iter().map(|p| Term::new(p.coeff / k, p.expr)).filter(|p| p.coeff != 0).collect();
    let low: Terms = parts.iter().map(|p| Term::new(p.coeff % k, p.expr)).filter(|p| p.coeff != 0).collect();
    Ok((high, s.arena.sum(constant, &low)?, k))
}

/// Whether `m` divides `a * k + b`.
pub(super) fn completes(a: i64, k: i64, b: i64, m: i64) -> bool {
    (i128::from(a) * i128::from(k) + i128::from(b)) % i128::from(m) == 0
}
