//! Laws of `mod` on a domain.

use super::division::{is_between_zero_and, multiples_of, traits, DivisorRule, ExpressionRule};
use super::{first_of, progress, rule, Row, ALWAYS, NONLINEAR};
use crate::error::Result;
use crate::expr::canonical::signed_residue;
use crate::expr::{Arena, Expr, Node, Tag, Term, Terms};
use crate::int::{div_mod_positive, gcd_i64};
use crate::simplify::simplifier::Simplifier;

/// The rules of remainders by constants.
pub(super) const REMAINDERS: &[Row<DivisorRule>] = &[
    Row::new(
        rule("remainder-in-period", "mod", "x % m = x - m * k", "m > 0, m * k <= x < m * (k + 1)")
            .on_domain(),
        ALWAYS,
        in_period,
    ),
    Row::new(
        rule("remainder-of-known-quotient", "mod", "x % m = x - m * q", "m > 0, x / m = q").on_domain(),
        ALWAYS,
        quotient_known,
    ),
    Row::new(
        rule(
            "remainder-split",
            "mod",
            "n % m = (n - r) % m + r",
            "m > 0, g divides m, g divides n - r, 0 <= r < g",
        )
        .on_domain(),
        ALWAYS,
        split,
    ),
    Row::new(
        rule(
            "remainder-of-quotient",
            "mod",
            "(c * ((x + d * p * y) / d) + z) % m = (c * (x / d) + z) % m",
            "m > 0, d > 0, m divides c * p",
        ),
        NONLINEAR,
        of_quotient,
    ),
    Row::new(
        rule(
            "remainder-expanded",
            "mod",
            "(y + c * (x % u)) % m = (y + c * x - c * u * (x / u)) % m",
            "u > 0, m > 0",
        ),
        NONLINEAR,
        opened,
    ),
    Row::new(
        rule(
            "remainder-with-carry",
            "mod",
            "(g * h + l) % m = g * ((h + l / g) % (m / g)) + l % g",
            "g > 0, m > 0, g divides m",
        ),
        NONLINEAR,
        carried,
    ),
];

/// The rules of remainders by expressions.
pub(super) const REMAINDERS_BY_EXPRESSIONS: &[Row<ExpressionRule>] = &[
    Row::new(rule("remainder-small", "mod", "x % y = x", "0 <= x < y").on_domain(), ALWAYS, small),
    Row::new(
        rule("remainder-of-multiple", "mod", "(x * y + z) % y = z % y", "y != 0").on_domain(),
        ALWAYS,
        of_multiple,
    ),
];

/// Simplify a canonical remainder of simplified operands.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<Expr>> {
    let Node::Mod(n, d) = s.arena.node(e) else { return Ok(None) };
    match s.arena.as_constant(d) {
        Some(m) => first_of(s, REMAINDERS, traits(s, n), e, |s, f| f(s, e, n, m)),
        None => first_of(s, REMAINDERS_BY_EXPRESSIONS, ALWAYS, e, |s, f| f(s, e, n, d)),
    }
}

/// `n % m = n - m * k` where all of `n` lies in one period.
fn in_period(s: &mut Simplifier<'_>, _: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    let bounds = s.bounds(n);
    if !bounds.is_bounded() {
        return Ok(None);
    }
    let (low, high) = (div_mod_positive(bounds.lower, m).0, div_mod_positive(bounds.upper, m).0);
    let Some(back) = low.checked_mul(m).and_then(i64::checked_neg).filter(|_| low == high) else {
        return Ok(None);
    };
    let out = s.affine(n, 1, back)?;
    Ok(Some(out))
}

/// `(c * ((x + d * p * y) / d) + z) % m = (c * (x / d) + z) % m` where `m` divides `c * p`, where that is cheaper.
fn of_quotient(s: &mut Simplifier<'_>, e: Expr, _: Expr, _: i64) -> Result<Option<Expr>> {
    let raw = least_residues(s.arena, e)?;
    if raw == e || s.cost(raw) >= s.cost(e) {
        return Ok(None);
    }
    let out = s.simplify(raw);
    Ok(Some(out))
}

/// Whether the remainders are equal except for the coefficients in their quotients.
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

/// A remainder with the coefficients in the quotients of its dividend as residues of least absolute value, and without
/// remainders in these that the modulus makes idle.
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

/// The divisor of the quotient `t`, the constant and the terms of its dividend modulo the period, where they differ: a
/// coefficient is no residue, or a remainder `x % u = x - u * (x / u)` leaves its quotient out.
fn residues(arena: &Arena, t: Term, m: i64) -> Option<(i64, i64, Terms)> {
    let (x, d) = arena.as_floordiv(t.expr)?;
    let Node::Sum(constant, parts) = arena.node(x) else { return None };
    let is_small = |p: &Term| p.coeff.unsigned_abs() < d.unsigned_abs() && arena.tag(p.expr) != Tag::Mod;
    if parts.iter().all(is_small) {
        return None; // for the period is twice the divisor at least
    }
    let period = d.checked_mul(m / gcd_i64(m, t.coeff))?;
    let reduced = |p: &Term| {
        let coeff = signed_residue(p.coeff, period);
        let whole = |u: i64| i128::from(coeff) * i128::from(u) % i128::from(period) == 0;
        let opened = arena.as_mod(p.expr).filter(|(_, u)| whole(*u));
        Term::new(coeff, opened.map_or(p.expr, |(x, _)| x))
    };
    if parts.iter().all(|p| reduced(p) == *p) {
        return None;
    }
    Some((d, constant, parts.iter().map(reduced).filter(|p| p.coeff != 0).collect()))
}

/// `n % m = n - m * (n / m)` where the facts know the quotient.
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
    Ok(Some(out))
}

/// `n % m = (n - r) % m + r` where `r` in `[0, g)` and `g` divides `m` and `n - r`.
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
        let moved = found.disjoint && s.arena.as_constant(low).is_none();
        let (new, old) = (s.cost(out), s.cost(e));
        let smaller = |s: &mut Simplifier<'_>| moved && progress::is_smaller(s, out, e);
        if out == e || new > old || (new == old && !smaller(s)) {
            return Ok(None);
        }
        Ok(Some(out))
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
            // Which may cost more again: a sum is simplified to the form that other sums can join.
            let out = s.simplify(raw);
            return Ok((s.cost(out) < s.cost(e)).then_some(out));
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
        Ok(cheaper.then_some(out))
    })
}

fn small(s: &mut Simplifier<'_>, _: Expr, n: Expr, d: Expr) -> Result<Option<Expr>> {
    Ok(is_between_zero_and(s, n, d)?.then_some(n))
}

fn of_multiple(s: &mut Simplifier<'_>, _: Expr, n: Expr, d: Expr) -> Result<Option<Expr>> {
    let Some((_, rest)) = multiples_of(s, n, d)? else { return Ok(None) };
    s.modulo(rest, d).map(Some)
}
