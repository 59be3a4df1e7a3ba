//! Laws of sums of quotients, or of remainders, by one divisor, whose dividends differ by constants: where all residues
//! occur, Hermite's identity holds.

use super::sum::with_terms;
use crate::error::Result;
use crate::expr::{Expr, Tag, Term, Terms};
use crate::int::div_mod_positive;
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;

/// Sums with more terms than this are left as they are.
const MAX_TERMS: usize = 32;

/// Terms `c * ((x + r) / m)`, or `c * ((x + r) % m)`, with one coefficient and divisor, whose dividends differ by constants.
struct Residues {
    coeff: i64,
    divisor: i64,
    /// The dividend of the first term, and its constant.
    dividend: Expr,
    constant: i64,
    /// The places of the terms, and the constants of their dividends.
    places: Vec<(usize, i64)>,
}

/// `c * x / m + c * (x + g) / m + ... = c * (x / g)`.
pub(super) fn quotients_complete(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    complete(s, e, terms, Tag::FloorDiv)
}

/// `c * (x % m) + c * ((x + g) % m) + ... = c * n * (x % g) + c * g * n * (n - 1) / 2`.
pub(super) fn remainders_complete(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    complete(s, e, terms, Tag::Mod)
}

fn complete(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], tag: Tag) -> Rewritten {
    if terms.len() > MAX_TERMS {
        return Ok(None);
    }
    for k in 0..terms.len() - 1 {
        let Some(residues) = residues_of(s, terms, k, tag).filter(|r| r.places.len() > 1) else { continue };
        let m = residues.divisor;
        let most = (residues.places.len() as i64 + 1).min(m);
        for n in (2..=most).rev().filter(|n| m % n == 0) {
            if let Some(out) = joined(s, (e, terms), &residues, tag, n)? {
                return Ok(Some(out));
            }
        }
    }
    Ok(None)
}

/// `c * (x / g) - c * (x / (2 * g)) = c * ((x + g) / (2 * g))`, and the other way round.
pub(super) fn quotient_of_half(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    let negative = terms.iter().filter(|t| t.coeff < 0).count();
    if terms.len() > MAX_TERMS || negative == 0 || negative == terms.len() {
        return Ok(None);
    }
    for (k, t) in terms.iter().enumerate() {
        let Some((x, g)) = s.arena.as_floordiv(t.expr) else { continue };
        let (Some(m), Some(minus)) = (g.checked_mul(2), t.coeff.checked_neg()) else { continue };
        let halves = |o: &Term| o.coeff == minus && s.arena.as_floordiv(o.expr).is_some_and(|(_, n)| n == m);
        let Some(i) = terms.iter().position(halves) else { continue };
        let above = s.arena.offset(x, g)?;
        let (low, high) = (s.floordiv_constant(x, m)?, s.floordiv_constant(above, m)?);
        let rest = match terms[i].expr {
            half if half == low => high,
            half if half == high => low,
            _ => continue,
        };
        if let Some(out) = with_terms(s, e, terms, &[i, k], &[Term::new(t.coeff, rest)])? {
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// The terms like that at `k`, which is the first of them.
fn residues_of(s: &Simplifier<'_>, terms: &[Term], k: usize, tag: Tag) -> Option<Residues> {
    let digit = |t: &Term| match tag {
        Tag::FloorDiv => s.arena.as_floordiv(t.expr),
        _ => s.arena.as_mod(t.expr),
    };
    let (dividend, divisor) = digit(&terms[k])?;
    let coeff = terms[k].coeff;
    let mut places = Vec::new();
    for (i, t) in terms.iter().enumerate() {
        let Some((x, m)) = digit(t) else { continue };
        if t.coeff == coeff && m == divisor && s.arena.compare_terms(x, dividend).is_eq() {
            places.push((i, s.arena.constant_part(x)));
        }
    }
    Some(Residues { coeff, divisor, dividend, constant: s.arena.constant_part(dividend), places })
}

/// The sum with `n` of the terms as one, the first of which is the first of all; one of them may be missing.
fn joined(s: &mut Simplifier<'_>, (e, terms): (Expr, &[Term]), of: &Residues, tag: Tag, n: i64) -> Rewritten {
    let Residues { coeff, divisor: m, .. } = *of;
    let g = m / n;
    let (mut gone, mut missing, mut quotients) = (Vec::new(), None, 0i64);
    for j in 0..n {
        let residue = |c: i64| c.checked_sub(of.constant).map(|c| div_mod_positive(c, m));
        let place = of.places.iter().find_map(|(i, c)| {
            let (q, r) = residue(*c)?;
            (r == j * g).then_some((*i, q))
        });
        match place {
            Some((i, q)) => {
                gone.push(i);
                quotients = quotients.saturating_add(q);
            }
            None if missing.is_none() && n > 2 => missing = Some(j * g),
            None => return Ok(None),
        }
    }
    let Some(mut new) = whole(s, of, tag, (g, n, quotients))? else { return Ok(None) };
    if let Some(shift) = missing {
        let dividend = s.arena.offset(of.dividend, shift)?;
        let last = match tag {
            Tag::FloorDiv => s.arena.floordiv_constant(dividend, m)?,
            _ => s.arena.modulo_constant(dividend, m)?,
        };
        let Some(minus) = coeff.checked_neg() else { return Ok(None) };
        new.push(Term::new(minus, last));
    }
    with_terms(s, e, terms, &gone, &new)
}

/// The sum of all `n` terms, of whose quotients `quotients` were moved in; `None` beyond int64.
fn whole(
    s: &mut Simplifier<'_>,
    of: &Residues,
    tag: Tag,
    (g, n, quotients): (i64, i64, i64),
) -> Result<Option<Terms>> {
    let one = s.arena.constant(1);
    let (factor, digit, rest) = match tag {
        Tag::FloorDiv => (1, s.arena.floordiv_constant(of.dividend, g)?, Some(quotients)),
        _ => (n, s.arena.modulo_constant(of.dividend, g)?, (n * (n - 1) / 2).checked_mul(g)),
    };
    let scaled = |x: i64| of.coeff.checked_mul(x);
    let Some((factor, rest)) = scaled(factor).zip(rest.and_then(scaled)) else { return Ok(None) };
    Ok(Some(Terms::from_slice(&[Term::new(factor, digit), Term::new(rest, one)])))
}

/// `c * (x % m) + c * (-x % m) = c * m * min(x % m, 1)`.
pub(super) fn remainders_opposite(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    for (k, t) in terms.iter().enumerate() {
        let Some((x, m)) = s.arena.as_mod(t.expr) else { continue };
        let alike = |o: &Term| o.coeff == t.coeff && s.arena.as_mod(o.expr).is_some_and(|(_, n)| n == m);
        if !terms[k + 1..].iter().any(alike) {
            continue;
        }
        let back = s.arena.neg(x)?;
        let twin = s.arena.modulo_constant(back, m)?;
        let (Some(i), Some(step)) = (
            terms.iter().position(|o| o.expr == twin && o.expr != t.expr && o.coeff == t.coeff),
            t.coeff.checked_mul(m),
        ) else {
            continue;
        };
        let one = s.arena.constant(1);
        let least = s.arena.min(t.expr, one)?;
        let mut new: Terms =
            terms.iter().enumerate().filter(|(j, _)| *j != i && *j != k).map(|(_, t)| *t).collect();
        new.push(Term::new(step, least));
        let raw = s.arena.sum(s.arena.constant_part(e), &new)?;
        return Ok(Some(s.simplify(raw)));
    }
    Ok(None)
}
