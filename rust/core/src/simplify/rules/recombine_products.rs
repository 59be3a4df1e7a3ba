//! Laws of sums that recombine quotients and remainders by expressions, which stand in products with their divisors.

use super::by_expression::OF_QUOTIENT;
use super::factors::Factors;
use super::law;
use super::sum::cheaper;
use crate::expr::{Expr, Node, Term};
use crate::simplify::law::{Law, Rewritten};
use crate::simplify::simplifier::Simplifier;

pub(super) const QUOTIENT_RECOMBINES: Law =
    law("quotient-recombines", "sum", "m * (x / m) = x - x % m", "m > 0");
pub(super) const DIGITS_RECOMBINE: Law = law(
    "digits-recombine",
    "sum",
    "x % u + u * (y % v) = (z + u * (y - z / u)) % (u * v), w % u + u * (y % v) = (u - 1 - z + u * (y + z / u)) % (u * v)",
    "u > 0, v > 0, x % u = z % u, w % u = (-1 - z) % u",
);
pub(super) const REMAINDER_MIRRORED: Law =
    law("remainder-mirrored", "sum", "x % m = m - 1 - (m - 1 - x) % m", "m > 0");

pub(super) const QUOTIENT_MIRRORED: Law =
    law("quotient-mirrored", "sum", "x / m = -1 - (-1 - x) / m", "m > 0").on_domain();

/// `m * (x / m) = x - x % m`, if that is cheaper.
pub(super) fn quotient_recombines(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Rewritten {
    let factors = Factors::of_term(s.arena, terms[k]);
    for (at, f) in factors.own.iter().enumerate() {
        let (_, parts) = s.arena.to_sum(*f);
        for p in parts {
            let Node::FloorDiv(n, d) = s.arena.node(p.expr) else { continue };
            let Some(number) = p.coeff.checked_mul(factors.number) else { continue };
            let beside = factors.beside(at, number);
            let m = Factors::of(s.arena, d).shared(&beside);
            let Some(left) = beside.without(&m).filter(|left| left.own.is_empty()) else { continue };
            let Some(minus) = left.number.checked_neg() else { continue };
            let Some(inner) = Factors::of(s.arena, d).without(&m) else { continue };
            let own = Factors { number: 1, own: m.own.clone() }.product(s.arena)?;
            let (m, inner) = (m.product(s.arena)?, inner.product(s.arena)?);
            if s.bounds(m).lower < 1 {
                continue;
            }
            // n / (inner * m) is (n / inner) / m
            let x = s.arena.floordiv(n, inner)?;
            let rest = s.arena.modulo(x, m)?;
            let inside = s.arena.combine(*f, 1, p.expr, -p.coeff)?;
            let around = factors.beside(at, factors.number).product(s.arena)?;
            let others = s.arena.mul(around, inside)?;
            let new = [Term::new(left.number, x), Term::new(minus, rest), Term::new(1, others)];
            let Some(raw) = cheaper(s, e, terms, &[k], &new)? else { continue };
            let quotient = s.arena.floordiv(x, m)?;
            let written = s.arena.mul(m, p.expr)?;
            let (product, difference) = (s.arena.mul(m, quotient)?, s.arena.sub(x, rest)?);
            let without_number = (s.arena.mul(own, p.expr)?, s.arena.mul(own, quotient)?);
            if quotient != p.expr {
                let (mark, zero) = (s.mark(), s.arena.constant(0));
                s.reason(inner);
                s.reason(m);
                s.bind(|_| vec![("x", n), ("b", inner), ("y", zero), ("m", m)]);
                s.record_rule(&OF_QUOTIENT, p.expr, quotient, mark);
            }
            let mark = s.mark();
            s.reason(m);
            s.bind(|_| vec![("m", m), ("x", x)]);
            s.record_rule(&QUOTIENT_RECOMBINES, product, difference, mark);
            s.record(|r, arena, ranges| {
                let (old, new) = without_number;
                r.operands(arena, ranges, [old, new, new], &[(p.expr, quotient)]);
                r.operands(arena, ranges, [written, product, difference], &[(old, new)]);
                r.use_equality(written, difference);
            });
            return Ok(Some(s.simplify(raw)));
        }
    }
    Ok(None)
}

/// `x % u + u * (x / u % v) = x % (u * v)`, if that is cheaper.
pub(super) fn digits_recombine(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Rewritten {
    let factors = Factors::of_term(s.arena, terms[k]);
    for (at, f) in factors.own.iter().enumerate() {
        let Node::Mod(y, v) = s.arena.node(*f) else { continue };
        let Node::FloorDiv(x, u) = s.arena.node(y) else { continue };
        let low = s.arena.modulo(x, u)?;
        let Some(i) = terms.iter().position(|t| t.expr == low) else { continue };
        let mut step = Factors::of(s.arena, u);
        let Some(number) = step.number.checked_mul(terms[i].coeff) else { continue };
        step.number = number;
        let left = factors.beside(at, factors.number).without(&step);
        let is_next = left.is_some_and(|left| left.is_one());
        if !is_next || s.bounds(u).lower < 1 || s.bounds(v).lower < 1 {
            continue;
        }
        let period = s.arena.mul(u, v)?;
        let whole = s.arena.modulo(x, period)?;
        let Some(raw) = cheaper(s, e, terms, &[i, k], &[Term::new(terms[i].coeff, whole)])? else { continue };
        let mark = s.mark();
        let high = s.arena.mul(u, *f)?;
        let both = s.arena.add(low, high)?;
        s.reason(u);
        s.reason(v);
        let mirrored = s.arena.affine(x, -1, -1)?;
        s.bind(|_| vec![("x", x), ("u", u), ("y", y), ("v", v), ("z", x), ("w", mirrored)]);
        return Ok(Some(by_equal(s, raw, (&DIGITS_RECOMBINE, both, whole), mark)));
    }
    Ok(None)
}

/// `x % m = m - 1 - (m - 1 - x) % m`, which cancels `m`, if that is cheaper.
pub(super) fn remainder_mirrored(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Rewritten {
    let Node::Mod(x, m) = s.arena.node(terms[k].expr) else { return Ok(None) };
    if s.arena.as_constant(m).is_some() {
        return Ok(None);
    }
    let back = s.arena.affine(x, -1, -1)?;
    let (back, top) = (s.arena.modulo(back, m)?, s.arena.offset(m, -1)?);
    mirrored(s, (e, terms, k), &REMAINDER_MIRRORED, (x, m), (top, back))
}

/// `x / m = -1 - (-1 - x) / m`, which moves a constant out, if that is cheaper.
pub(super) fn quotient_mirrored(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Rewritten {
    let Node::FloorDiv(x, m) = s.arena.node(terms[k].expr) else { return Ok(None) };
    if s.arena.as_constant(m).is_some() {
        return Ok(None);
    }
    let back = s.arena.affine(x, -1, -1)?;
    // Else the quotient around a sum could be mirrored back at the same cost.
    if s.cost(back) >= s.cost(x) {
        return Ok(None);
    }
    let (back, top) = (s.arena.floordiv(back, m)?, s.arena.constant(-1));
    mirrored(s, (e, terms, k), &QUOTIENT_MIRRORED, (x, m), (top, back))
}

/// A term that a law says to be `top - back`, for a positive divisor `m` of `x`, replaced by that, if that is cheaper.
fn mirrored(
    s: &mut Simplifier<'_>,
    (e, terms, k): (Expr, &[Term], usize),
    law: &Law,
    (x, m): (Expr, Expr),
    (top, back): (Expr, Expr),
) -> Rewritten {
    let Term { coeff, expr } = terms[k];
    let Some(minus) = coeff.checked_neg().filter(|_| s.bounds(m).lower > 0) else { return Ok(None) };
    let Some(raw) = cheaper(s, e, terms, &[k], &[Term::new(coeff, top), Term::new(minus, back)])? else {
        return Ok(None);
    };
    let mark = s.mark();
    let other = s.arena.sub(top, back)?;
    s.reason(m);
    s.bind(|_| vec![("x", x), ("m", m)]);
    Ok(Some(by_equal(s, raw, (law, expr, other), mark)))
}

/// The simplified `raw`, which equals a sum by an equality within it: the law of that is recorded by itself.
fn by_equal(
    s: &mut Simplifier<'_>,
    raw: Expr,
    (law, before, after): (&Law, Expr, Expr),
    mark: usize,
) -> Expr {
    s.record_rule(law, before, after, mark);
    s.record(|r, _, _| r.use_equality(before, after));
    s.simplify(raw)
}
