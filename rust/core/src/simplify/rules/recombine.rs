//! Laws of sums that recombine quotients and remainders of one dividend, and adjacent digits.

use super::remainder::are_congruent;
use super::sum::{have_common_term, may_cancel, shares_variables, with_term, with_terms};
use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::int::gcd_i64;
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;
use smallvec::smallvec;

/// `c * (x % m) = c * z - c * m * (z / m)` for any `z` congruent to `x` modulo `m`, if the sum contains the quotient or the
/// next digit.
pub(super) fn remainder_recombines(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Rewritten {
    let Some((_, m)) = s.arena.as_mod(terms[k].expr) else { return Ok(None) };
    if !shares_variables(s, terms, k) {
        return Ok(None);
    }
    let Some(step) = terms[k].coeff.checked_mul(m) else { return Ok(None) };
    let Some(minus) = step.checked_neg() else { return Ok(None) };
    for i in 0..terms.len() {
        if terms[i].coeff != step && terms[i].coeff != minus {
            continue;
        }
        let Some((z, side)) = congruent_dividend(s, terms[i].expr, terms[k].expr, m)? else { continue };
        let c = terms[k].coeff;
        let new: Terms = match (side, c.checked_neg(), c.checked_mul(m - 1)) {
            (Side::Same, ..) if terms[i].coeff == step => smallvec![Term::new(c, z)],
            (Side::Mirrored, Some(negative), Some(top)) if terms[i].coeff == minus => {
                let one = s.arena.constant(1);
                smallvec![Term::new(top, one), Term::new(negative, z)]
            }
            _ => continue,
        };
        if let Some(out) = with_terms(s, e, terms, &[i, k], &new)? {
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `c * (x % m) = c * x - c * m * (x / m)`, if the quotient may cancel with another term.
pub(super) fn remainder_beside_quotient(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    k: usize,
) -> Rewritten {
    let Some((x, m)) = s.arena.as_mod(terms[k].expr) else { return Ok(None) };
    let Some(step) = terms[k].coeff.checked_mul(m) else { return Ok(None) };
    let Some(minus) = step.checked_neg() else { return Ok(None) };
    // Only another quotient can cancel with x / m.
    let partner = |t: &Term| {
        t.coeff % step == 0 && s.arena.tag(t.expr) == Tag::FloorDiv && s.arena.may_share_variables(t.expr, x)
    };
    if !terms.iter().any(partner) {
        return Ok(None);
    }
    let q = s.floordiv_constant(x, m)?;
    let mut new: Terms = smallvec![Term::new(terms[k].coeff, x)];
    match s.arena.node(q) {
        Node::Sum(constant, parts) => {
            for p in parts {
                let Some(coeff) = p.coeff.checked_mul(minus) else { return Ok(None) };
                new.push(Term::new(coeff, p.expr));
            }
            let one = s.arena.constant(constant);
            new.push(Term::new(minus, one));
        }
        _ => new.push(Term::new(minus, q)),
    }
    if !may_cancel(s, terms, &new) {
        return Ok(None);
    }
    let out = with_term(s, e, terms, &[k], &new)?;
    Ok(out)
}

/// The relation of a remainder to a dividend `z`: it is `z % m`, or `m - 1 - z % m`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Same,
    Mirrored,
}

/// The `z` of `quotient = z / m`, if `remainder` is `z % m` or `(-1 - z) % m`.
pub(super) fn congruent_dividend(
    s: &mut Simplifier<'_>,
    quotient: Expr,
    remainder: Expr,
    m: i64,
) -> Result<Option<(Expr, Side)>> {
    let Some((z, divisor)) = s.arena.as_floordiv(quotient) else { return Ok(None) };
    if divisor % m != 0 || !s.spend(1) {
        return Ok(None);
    }
    let Some((x, _)) = s.arena.as_mod(remainder) else { return Ok(None) };
    if !s.arena.may_share_variables(z, x) {
        return Ok(None);
    }
    // z / (b * m) is (z / b) / m.
    let z = if divisor == m { z } else { s.floordiv_constant(z, divisor / m)? };
    let rest = s.arena.modulo_constant(z, m)?;
    if rest == remainder {
        return Ok(Some((z, Side::Same)));
    }
    let reduced = s.arena.as_mod(rest).filter(|r| r.1 == m).map_or(z, |r| r.0);
    if congruent_by_terms(s, reduced, x, (1, 0), m) {
        return Ok(Some((z, Side::Same)));
    }
    if congruent_by_terms(s, reduced, x, (-1, -1), m) {
        return Ok(Some((z, Side::Mirrored)));
    }
    // The dividends may contain quotients that differ only in their coefficients.
    let one = [Term::new(1, x)];
    if s.arena.as_sum(x, &one).1.iter().all(|t| s.arena.tag(t.expr) != Tag::FloorDiv) {
        return Ok(None);
    }
    if are_congruent(s, rest, remainder)? {
        return Ok(Some((z, Side::Same)));
    }
    let mirrored = s.arena.affine(z, -1, -1)?;
    let mirrored = s.arena.modulo_constant(mirrored, m)?;
    Ok(are_congruent(s, mirrored, remainder)?.then_some((z, Side::Mirrored)))
}

/// Whether `factor * z + offset` is congruent to `x` modulo `m`, term by term.
fn congruent_by_terms(s: &Simplifier<'_>, z: Expr, x: Expr, (factor, offset): (i64, i64), m: i64) -> bool {
    let (one, other) = ([Term::new(1, z)], [Term::new(1, x)]);
    let (a, left) = s.arena.as_sum(z, &one);
    let (b, right) = s.arena.as_sum(x, &other);
    let apart = |p: i64, q: i64, offset: i64| {
        (i128::from(factor) * i128::from(p) + i128::from(offset) - i128::from(q)) % i128::from(m) != 0
    };
    if apart(a, b, offset) {
        return false;
    }
    let coeff = |terms: &[Term], e: Expr| terms.iter().find(|t| t.expr == e).map_or(0, |t| t.coeff);
    left.iter().all(|t| !apart(t.coeff, coeff(right, t.expr), 0))
        && right.iter().all(|t| t.coeff % m == 0 || left.iter().any(|o| o.expr == t.expr))
}

/// `c * (x / 2) + c * (x % 2) = c * ((x + 1) / 2)`.
pub(super) fn halves_recombine(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Rewritten {
    let Some((x, 2)) = s.arena.as_mod(terms[k].expr) else { return Ok(None) };
    if !shares_variables(s, terms, k) {
        return Ok(None);
    }
    let c = terms[k].coeff;
    // (x + 1) / 2 - x % 2 is x / 2
    let above = s.arena.offset(x, 1)?;
    let half = s.arena.floordiv_constant(above, 2)?;
    if let Some(i) = terms.iter().position(|t| t.expr == half && t.coeff.checked_neg() == Some(c)) {
        let q = s.floordiv_constant(x, 2)?;
        if let Some(out) = with_terms(s, e, terms, &[i, k], &[Term::new(terms[i].coeff, q)])? {
            return Ok(Some(out));
        }
    }
    if !terms.iter().any(|t| t.coeff == c && s.arena.tag(t.expr) == Tag::FloorDiv) {
        return Ok(None);
    }
    let q = s.floordiv_constant(x, 2)?;
    let Some(i) = terms.iter().position(|t| t.expr == q && t.coeff == c) else { return Ok(None) };
    let above = s.affine(x, 1, 1)?;
    let half = s.floordiv_constant(above, 2)?;
    let out = with_terms(s, e, terms, &[i, k], &[Term::new(c, half)])?;
    Ok(out)
}

/// `c * (x % u) + c * u * (y % v) = c * ((z + u * (y - z / u)) % (u * v))` for any `z` congruent to `x` modulo `u`, or
/// `c * ((u - 1 - z + u * (y + z / u)) % (u * v))` for one congruent to `-1 - x`, if `z / u` cancels.
pub(super) fn digits_recombine(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Rewritten {
    let Some((x, m)) = s.arena.as_mod(terms[k].expr) else { return Ok(None) };
    let Some(step) = terms[k].coeff.checked_mul(m) else { return Ok(None) };
    for i in 0..terms.len() {
        let next = i != k && terms[i].coeff == step && s.arena.tag(terms[i].expr) == Tag::Mod;
        if next && s.arena.may_share_variables(terms[i].expr, x) {
            if let Some(out) = join_digits(s, e, terms, k, i)? {
                return Ok(Some(out));
            }
        }
    }
    Ok(None)
}

fn join_digits(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize, i: usize) -> Rewritten {
    let (low, high) = (terms[k], terms[i]);
    let Some((x, u)) = s.arena.as_mod(low.expr) else { return Ok(None) };
    let Some((y, v)) = s.arena.as_mod(high.expr) else { return Ok(None) };
    let Some(joined) = u.checked_mul(v) else { return Ok(None) };
    let mut dividends: Vec<(Expr, Side, Expr)> = Vec::new();
    let (_, parts) = s.arena.to_sum(y);
    for p in parts {
        if let Some((z, side)) = congruent_dividend(s, p.expr, low.expr, u)? {
            dividends.push((z, side, p.expr));
        }
    }
    if dividends.is_empty() {
        let q = s.floordiv_constant(x, u)?;
        if !have_common_term(s, y, q) && !have_common_term(s, y, x) {
            return Ok(None);
        }
        dividends.push((x, Side::Same, q));
    }
    for (z, side, q) in dividends {
        let (sign, top) = if side == Side::Same { (1, 0) } else { (-1, u - 1) };
        let rest = s.combine(y, 1, q, -sign)?;
        let whole = s.combine(z, sign, rest, u)?;
        let whole = s.affine(whole, 1, top)?;
        let digit = s.modulo_constant(whole, joined)?;
        if let Some(out) = with_terms(s, e, terms, &[i, k], &[Term::new(low.coeff, digit)])? {
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `c * m * (x / m) = c * x - c * (x % m)`, if that is cheaper.
pub(super) fn quotient_recombines(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Rewritten {
    let Some((x, divisor)) = s.arena.as_floordiv(terms[k].expr) else { return Ok(None) };
    let m = gcd_i64(terms[k].coeff, divisor);
    if m < 2 {
        return Ok(None);
    }
    // c * m * (x / (b * m)) is the same for x / b, which must be a term.
    let b = divisor / m;
    let beside = |t: &Term| s.arena.as_floordiv(t.expr).is_some_and(|(_, n)| n == b);
    if b > 1 && !terms.iter().any(beside) {
        return Ok(None);
    }
    let x = s.floordiv_constant(x, b)?;
    let factor = terms[k].coeff / m;
    // The result is cheaper only if terms of x cancel.
    let cancels = match s.arena.node(x) {
        Node::Sum(_, parts) => parts.iter().any(|p| terms.iter().any(|t| t.expr == p.expr)),
        _ => terms.iter().any(|t| t.expr == x),
    };
    let digits = terms.iter().any(|t| s.arena.as_mod(t.expr).is_some_and(|(_, n)| n == m));
    let exact = s.info(x).modulus % m == 0;
    if !cancels && !digits && !exact {
        return Ok(None);
    }
    let rest = s.modulo_constant(x, m)?;
    let Some(minus) = factor.checked_neg() else { return Ok(None) };
    let out = with_term(s, e, terms, &[k], &[Term::new(factor, x), Term::new(minus, rest)])?;
    Ok(out)
}
