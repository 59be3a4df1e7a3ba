//! Laws of `mod` on a domain.

use super::division::multiples_of;
use super::{first_of, progress, RuleId};
use crate::error::Result;
use crate::expr::canonical::signed_residue;
use crate::expr::{Arena, Expr, Node, Tag, Term, Terms};
use crate::int::{div_mod_positive, gcd_i64};
use crate::simplify::driver::Simplifier;

/// Simplify a canonical remainder of simplified operands.
#[inline]
pub fn apply(s: &mut Simplifier<'_>, e: Expr) -> Result<Expr> {
    let Some((n, m)) = s.arena.as_mod(e) else { return by_expression(s, e) };
    // The later rules are about quotients and remainders in the dividend.
    match s.arena.is_linear(n) {
        true => first_of(&[in_period, quotient_known, split], s, e, n, m),
        false => first_of(&[in_period, quotient_known, split, of_quotient, opened, carried], s, e, n, m),
    }
}

/// `n % m = n - m * k` where all of `n` lies in one period.
#[inline]
fn in_period(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    let bounds = s.bounds(n);
    if !bounds.is_bounded() {
        return Ok(None);
    }
    let (low, high) = (div_mod_positive(bounds.lower, m).0, div_mod_positive(bounds.upper, m).0);
    let Some(back) = low.checked_mul(m).and_then(i64::checked_neg).filter(|_| low == high) else {
        return Ok(None);
    };
    let out = s.affine(n, 1, back)?;
    Ok(Some(s.applied(RuleId::RemainderInPeriod, e, out)))
}

/// `(c * ((x + d * p * y) / d) + z) % m = (c * (x / d) + z) % m` where `m` divides `c * p`, where that is cheaper.
fn of_quotient(s: &mut Simplifier<'_>, e: Expr, _: Expr, _: i64) -> Result<Option<Expr>> {
    let raw = least_residues(s.arena, e)?;
    if raw == e || s.cost(raw) >= s.cost(e) {
        return Ok(None);
    }
    let out = s.simplify(raw);
    Ok(Some(s.applied(RuleId::RemainderOfQuotient, e, out)))
}

/// Are the remainders the same but for the coefficients in their quotients?
pub(super) fn are_congruent(s: &mut Simplifier<'_>, a: Expr, b: Expr) -> Result<bool> {
    if a == b {
        return Ok(true);
    }
    let modulus = |e: Expr| s.arena.as_mod(e).map(|(_, m)| m);
    let comparable = modulus(a).is_some() && modulus(a) == modulus(b);
    Ok(comparable && least_residues(s.arena, a)? == least_residues(s.arena, b)?)
}

/// Quotients in one dividend that are looked at.
const QUOTIENTS_REDUCED: usize = 8;

/// A remainder with the coefficients in the quotients of its dividend as residues of least absolute value.
///
/// This isn't a law of the constructor: the digits of one dividend must stay alike until they have met in a sum.
fn least_residues(arena: &mut Arena, e: Expr) -> Result<Expr> {
    let mut out = e;
    for _ in 0..QUOTIENTS_REDUCED {
        let Some((n, m)) = arena.as_mod(out) else { break };
        let one = [Term::new(1, n)];
        let (constant, terms) = arena.as_sum(n, &one);
        let found = terms.iter().enumerate().find_map(|(k, t)| Some((k, residues(arena, *t, m)?)));
        let Some((at, (d, inner, parts))) = found else { break };
        let mut terms = Terms::from_slice(terms);
        let x = arena.sum(inner, &parts)?;
        terms[at].expr = arena.floordiv_constant(x, d)?;
        let sum = arena.sum(constant, &terms)?;
        out = arena.modulo_constant(sum, m)?;
    }
    Ok(out)
}

/// The divisor of the quotient `t`, the constant and the terms of its dividend, where a coefficient is no residue.
fn residues(arena: &Arena, t: Term, m: i64) -> Option<(i64, i64, Terms)> {
    let (x, d) = arena.as_floordiv(t.expr)?;
    let Node::Sum(constant, parts) = arena.node(x) else { return None };
    if parts.iter().all(|p| p.coeff.unsigned_abs() < d.unsigned_abs()) {
        return None; // for the period is twice the divisor at least
    }
    let period = d.checked_mul(m / gcd_i64(m, t.coeff))?;
    let half = period / 2;
    if parts.iter().all(|p| half - period < p.coeff && p.coeff <= half) {
        return None;
    }
    let reduced = parts.iter().map(|p| Term::new(signed_residue(p.coeff, period), p.expr));
    Some((d, constant, reduced.filter(|p| p.coeff != 0).collect()))
}

/// `n % m = n - m * (n / m)` where the facts know the quotient.
#[inline]
fn quotient_known(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    if s.ranges.facts.equal.is_empty() {
        return Ok(None);
    }
    let q = s.floordiv_constant(n, m)?;
    let raw = s.arena.combine(n, 1, q, -m)?;
    if s.cost(raw) >= s.cost(e) {
        return Ok(None);
    }
    let out = s.simplify(raw);
    Ok(Some(s.applied(RuleId::RemainderRecombines, e, out)))
}

/// `n % m = (n - r) % m + r` where `r` in `[0, g)` and `g` divides `m` and `n - r`.
#[inline]
fn split(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    s.split(n, m, |s, found| {
        let low = s.simplify(found.low);
        let out = if found.granule == m {
            low
        } else {
            let high = s.simplify(found.high);
            let Some(rest) = s.other_remainder(e, high, m)? else { return Ok(None) };
            s.combine(rest, 1, low, 1)?
        };
        // What was parted may have joined again.
        let whole = s.arena.as_mod(out).is_some_and(|(_, modulus)| modulus >= m);
        let moved = found.disjoint && s.arena.as_constant(low).is_none() && !whole;
        let (new, old) = (s.cost(out), s.cost(e));
        let smaller = |s: &mut Simplifier<'_>| moved && progress::is_made(s, RuleId::RemainderSplit, e, out);
        if out == e || new > old || (new == old && !smaller(s)) {
            return Ok(None);
        }
        Ok(Some(s.applied(RuleId::RemainderSplit, e, out)))
    })
}

/// A remainder inside is opened, where its quotient merges with what is there.
fn opened(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    let Node::Sum(constant, terms) = s.arena.node(n) else { return Ok(None) };
    let terms = Terms::from_slice(terms);
    for t in &terms {
        let Some((x, u)) = s.arena.as_mod(t.expr) else { continue };
        let beside = |o: &Term| {
            o != t && s.arena.tag(o.expr) == Tag::FloorDiv && s.arena.may_share_variables(o.expr, x)
        };
        if !terms.iter().any(beside) || !s.spend(1) {
            continue;
        }
        let q = s.floordiv_constant(x, u)?;
        // c * (x % u) = c * x - c * u * (x / u), all in one sum: alone the two would join again.
        let Some(step) = t.coeff.checked_mul(u).and_then(i64::checked_neg) else { continue };
        let mut all: Terms = terms.iter().copied().filter(|o| o != t).collect();
        all.extend([Term::new(t.coeff, x), Term::new(step, q)]);
        let new = s.arena.sum(constant, &all)?;
        let raw = s.arena.modulo_constant(new, m)?;
        if s.cost(raw) < s.cost(e) {
            let out = s.simplify(raw);
            return Ok(Some(s.applied(RuleId::RemainderOpened, e, out)));
        }
    }
    Ok(None)
}

/// `(g * h + l) % m = g * ((h + l / g) % (m / g)) + l % g` where `g` divides `m`, where that is cheaper.
fn carried(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    s.carries(n, m, |s, c| {
        let rest = s.modulo_constant(c.low, c.granule)?;
        if s.cost(c.carry) + s.cost(rest) >= s.cost(c.low) + 8 {
            return Ok(None);
        }
        let inner = c.joined(s)?;
        let Some(digit) = s.other_remainder(e, inner, m / c.granule)? else { return Ok(None) };
        let out = s.combine(digit, c.granule, rest, 1)?;
        let cheaper = s.cost(out) < s.cost(e);
        Ok(cheaper.then(|| s.applied(RuleId::RemainderCarried, e, out)))
    })
}

fn by_expression(s: &mut Simplifier<'_>, e: Expr) -> Result<Expr> {
    let Node::Mod(n, d) = s.arena.node(e) else { return Ok(e) };
    let (a, b) = (s.bounds(n), s.bounds(d));
    if a.lower >= 0 && b.lower > 0 {
        let gap = s.arena.sub(d, n)?;
        if a.upper < b.lower || s.bounds(gap).lower > 0 {
            return Ok(s.applied(RuleId::RemainderSmall, e, n));
        }
    }
    let Some((_, rest)) = multiples_of(s, n, d)? else { return Ok(e) };
    let out = s.modulo(rest, d)?;
    Ok(s.applied(RuleId::RemainderOfMultiple, e, out))
}
