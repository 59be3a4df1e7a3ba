//! Laws of `mod` on a domain.

use super::division::{traits, DivisorRule};
use super::period::{completes, quotient_completed};
use super::recombine::{congruent_dividend, Side};
use super::{by_expression, first_of, law, progress, Row, NONLINEAR};
use crate::error::Result;
use crate::expr::canonical::signed_residue;
use crate::expr::{Arena, Expr, Node, Tag, Term, Terms};
use crate::int::{div_mod_positive, gcd_i64};
use crate::simplify::simplifier::Simplifier;
use smallvec::{smallvec, SmallVec};

/// The rules of remainders by constants.
pub(super) const REMAINDERS: &[Row<DivisorRule>] = &[
    row!("remainder-in-period", "mod": "x % m = x - m * k"
        if "m > 0, m * k <= x < m * (k + 1)", always, on_domain => in_period),
    row!(by_expression::KNOWN_QUOTIENT => quotient_known),
    row!("remainder-split", "mod": "n % m = (n - r) % m + r"
        if "m > 0, g divides m, g divides n - r, 0 <= r < g", if_smaller, on_domain => split),
    row!("remainder-of-quotient", "mod": "(c * ((x + d * p * y) / d) + z) % m = (c * (x / d) + z) % m"
        if "m > 0, d > 0, m divides c * p"; NONLINEAR => of_quotient),
    row!("remainder-expanded", "mod": "(y + c * (x % u)) % m = (y + c * z - c * u * (z / u)) % m, (y + c * (w % u)) % m = (y + c * (u - 1 - z + u * (z / u))) % m"
        if "u > 0, m > 0, x % u = z % u, w % u = (-1 - z) % u"; NONLINEAR => expanded),
    row!("remainder-of-completed-quotient", "mod": "(y + a * x + b * (x / k)) % m = (y + a * (x % k)) % m"
        if "k > 0, m > 0, m divides a * k + b"; NONLINEAR => quotient_completed),
    row!("remainder-with-carry", "mod": "(g * h + l) % m = g * ((h + l / g) % (m / g)) + l % g"
        if "g > 0, m > 0, g divides m"; NONLINEAR => with_carry),
];

/// Simplifies a canonical remainder of simplified operands.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<Expr>> {
    let Node::Mod(n, d) = s.arena.node(e) else { return Ok(None) };
    if let Some(m) = s.arena.as_constant(d) {
        let out = first_of(s, REMAINDERS, traits(s, n), e, |s, f| f(s, e, n, m))?;
        if out.is_some() || !s.arena.divides_by_expressions {
            return Ok(out);
        }
    }
    by_expression::apply_remainder(s, e, n, d)
}

/// `n % m = n - m * k`, if all values of `n` lie in one period.
fn in_period(s: &mut Simplifier<'_>, _: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    let bounds = s.bounds(n);
    if !bounds.is_bounded() {
        return Ok(None);
    }
    let (low, high) = (div_mod_positive(bounds.lower, m).0, div_mod_positive(bounds.upper, m).0);
    let Some(back) = low.checked_mul(m).and_then(i64::checked_neg).filter(|_| low == high) else {
        return Ok(None);
    };
    s.reason(n);
    let out = s.affine(n, 1, back)?;
    Ok(Some(out))
}

/// `(c * ((x + d * p * y) / d) + z) % m = (c * (x / d) + z) % m` for `m` that divides `c * p`, if that is cheaper.
fn of_quotient(s: &mut Simplifier<'_>, e: Expr, _: Expr, _: i64) -> Result<Option<Expr>> {
    let raw = least_residues(s.arena, e)?;
    if raw == e || s.cost(raw) >= s.cost(e) {
        return Ok(None);
    }
    // Which may cost more again: a sum is simplified to the form that other sums can join.
    Ok(Some(s.simplify(raw)))
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

/// The maximal number of quotients that are reduced in one dividend.
const MAX_REDUCED_QUOTIENTS: usize = 8;

/// The remainder, after coefficients in the quotients of its dividend were replaced by residues of least absolute value, and
/// remainders in these quotients by their dividends if the modulus makes them redundant.
///
/// This is not a law of the constructor, because sums recombine only digits of equal dividends.
fn least_residues(arena: &mut Arena, e: Expr) -> Result<Expr> {
    let mut out = e;
    for _ in 0..MAX_REDUCED_QUOTIENTS {
        let Some((n, m)) = arena.as_mod(out) else { break };
        let one = [Term::new(1, n)];
        let (constant, terms) = arena.as_sum(n, &one);
        let replaced = terms.iter().enumerate().find_map(|(k, t)| Some((k, residues(arena, *t, m)?)));
        let Some((at, (d, inner, parts))) = replaced else { break };
        let mut terms = Terms::from_slice(terms);
        let x = arena.sum(inner, &parts)?;
        terms[at].expr = arena.floordiv_constant(x, d)?;
        let sum = arena.sum(constant, &terms)?;
        out = arena.modulo_constant(sum, m)?;
    }
    Ok(out)
}

/// The divisor of the quotient `t`, and the constant and the terms of its dividend modulo the period. `None` if nothing is
/// reduced: neither a coefficient, nor a remainder `x % u` to `x` because `u * (x / u)` is a multiple of the period.
fn residues(arena: &Arena, t: Term, m: i64) -> Option<(i64, i64, Terms)> {
    let (x, d) = arena.as_floordiv(t.expr)?;
    let Node::Sum(constant, parts) = arena.node(x) else { return None };
    let is_small = |p: &Term| p.coeff.unsigned_abs() < d.unsigned_abs() && arena.tag(p.expr) != Tag::Mod;
    if parts.iter().all(is_small) {
        return None; // the period is at least twice the divisor
    }
    let period = d.checked_mul(m / gcd_i64(m, t.coeff))?;
    let reduced = |p: &Term| {
        let coeff = signed_residue(p.coeff, period);
        let whole = |u: i64| i128::from(coeff) * i128::from(u) % i128::from(period) == 0;
        let expanded = arena.as_mod(p.expr).filter(|(_, u)| whole(*u));
        Term::new(coeff, expanded.map_or(p.expr, |(x, _)| x))
    };
    if parts.iter().all(|p| reduced(p) == *p) {
        return None;
    }
    Some((d, constant, parts.iter().map(reduced).filter(|p| p.coeff != 0).collect()))
}

/// `n % m = n - m * (n / m)`, if the facts contain the quotient.
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

/// `n % m = (n - r) % m + r` if `r` is in `[0, g)` and `g` divides `m` and `n - r`.
fn split(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    s.split(n, m, |s, parts| {
        let low = s.simplify(parts.low);
        let out = if parts.radix == m {
            low
        } else {
            let high = s.simplify(parts.high);
            let Some(rest) = s.other_remainder(e, high, m)? else { return Ok(None) };
            s.combine(rest, 1, low, 1)?
        };
        let moved = parts.disjoint && s.arena.as_constant(low).is_none();
        let (new, old) = (s.cost(out), s.cost(e));
        let smaller = |s: &mut Simplifier<'_>| moved && progress::is_smaller(s, out, e);
        if out == e || new > old || (new == old && !smaller(s)) {
            return Ok(None);
        }
        s.bind_split(&parts, n, m);
        Ok(Some(out))
    })
}

/// `(y + c * (x % u)) % m = (y + c * z - c * u * (z / u)) % m` for `x`, or any `z` congruent to it of which the sum contains
/// the quotient, if the quotient may cancel with another term and the result is cheaper.
fn expanded(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    let Node::Sum(constant, terms) = s.arena.node(n) else { return Ok(None) };
    if terms.iter().all(|t| s.arena.tag(t.expr) != Tag::Mod) {
        return Ok(None);
    }
    let terms = Terms::from_slice(terms);
    for t in &terms {
        let Some((x, u)) = s.arena.as_mod(t.expr) else { continue };
        let beside = |o: &Term| {
            o != t && s.arena.tag(o.expr) == Tag::FloorDiv && s.arena.may_share_variables(o.expr, x)
        };
        let quotients: Terms = terms.iter().filter(|o| beside(o)).copied().collect();
        if quotients.is_empty() || !s.spend(1) {
            continue;
        }
        let others: Terms = terms.iter().copied().filter(|o| o != t).collect();
        let mut dividends: SmallVec<[(Expr, Side); 4]> = smallvec![(x, Side::Same)];
        for q in &quotients {
            // The quotient of x needs no other dividend, and that of another must become a multiple of m.
            let cancels = completes(t.coeff, u, q.coeff, m) || completes(t.coeff, -u, q.coeff, m);
            if !cancels || s.arena.as_floordiv(q.expr) == Some((x, u)) {
                continue;
            }
            dividends.extend(congruent_dividend(s, q.expr, t.expr, u)?.filter(|(z, _)| *z != x));
        }
        for (z, side) in dividends {
            let Some(new) = digit_expanded(s, t.coeff, z, u, side)? else { continue };
            // All terms are added in one sum: a sum of the new ones alone would become the remainder again.
            let all: Terms = others.iter().copied().chain(new).collect();
            let sum = s.arena.sum(constant, &all)?;
            let raw = s.arena.modulo_constant(sum, m)?;
            if s.cost(raw) < s.cost(e) {
                // The simplified form may cost more, because sums are simplified to the form that recombines with others.
                return Ok(Some(s.simplify(raw)));
            }
        }
    }
    Ok(None)
}

/// The terms of `c * z - c * u * (z / u)`, or of `c * (u - 1) - c * z + c * u * (z / u)`.
fn digit_expanded(s: &mut Simplifier<'_>, c: i64, z: Expr, u: i64, side: Side) -> Result<Option<Terms>> {
    let q = s.floordiv_constant(z, u)?;
    let one = s.arena.constant(1);
    let terms = (|| {
        let (step, minus) = (c.checked_mul(u)?, c.checked_neg()?);
        Some(match side {
            Side::Same => smallvec![Term::new(c, z), Term::new(step.checked_neg()?, q)],
            Side::Mirrored => {
                smallvec![Term::new(step.checked_sub(c)?, one), Term::new(minus, z), Term::new(step, q)]
            }
        })
    })();
    Ok(terms)
}

/// `(g * h + l) % m = g * ((h + l / g) % (m / g)) + l % g` for `g` that divides `m`, if that is cheaper.
fn with_carry(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Option<Expr>> {
    s.find_carry(n, m, |s, c| {
        let rest = s.modulo_constant(c.low, c.radix)?;
        if s.cost(c.carry) + s.cost(rest) >= s.cost(c.low) + 8 {
            return Ok(None);
        }
        let inner = c.high_plus_carry(s)?;
        let Some(digit) = s.other_remainder(e, inner, m / c.radix)? else { return Ok(None) };
        let out = s.combine(digit, c.radix, rest, 1)?;
        let cheaper = s.cost(out) < s.cost(e);
        s.bind_carry(c, m);
        Ok(cheaper.then_some(out))
    })
}
