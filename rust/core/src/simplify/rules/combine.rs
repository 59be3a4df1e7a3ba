//! Laws of sums that move terms into quotients, or common factors out of sums; applied if the result is cheaper.

use super::sum::with_terms;
use crate::error::Result;
use crate::expr::{Expr, Node, Term};
use crate::simplify::simplifier::Simplifier;

/// Sums with more terms than this are left as they are.
const MAX_TERMS: usize = 32;

/// `a / m - b / m = (b % m + a - b) / m`, and `a / m + b / m = (a + b - b % m) / m`.
pub(super) fn quotients_merge(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Result<Option<Expr>> {
    if terms.len() > MAX_TERMS {
        return Ok(None);
    }
    for (i, x) in terms.iter().enumerate() {
        for (j, y) in terms.iter().enumerate().skip(i + 1) {
            let alike = x.coeff == y.coeff;
            if !alike && x.coeff.checked_neg() != Some(y.coeff) {
                continue;
            }
            // The remainder may be that of a or of b: the cheaper result is used.
            let mut best: Option<Expr> = None;
            for (x, y) in [(x, y), (y, x)] {
                let Some(quotient) = merged(s, x.expr, y.expr, alike)? else { continue };
                let out = with_terms(s, e, terms, &[i, j], &[Term::new(x.coeff, quotient)])?;
                if let Some(out) = out.filter(|out| best.is_none_or(|b| s.cost(*out) < s.cost(b))) {
                    best = Some(out);
                }
            }
            if best.is_some() {
                return Ok(best);
            }
        }
    }
    Ok(None)
}

/// `x + y`, or `x - y`, as one quotient, if both are quotients by the same divisor.
fn merged(s: &mut Simplifier<'_>, x: Expr, y: Expr, add: bool) -> Result<Option<Expr>> {
    let (Some((a, m)), Some((b, n))) = (s.arena.as_floordiv(x), s.arena.as_floordiv(y)) else {
        return Ok(None);
    };
    if m != n || !s.arena.may_share_variables(a, b) {
        return Ok(None);
    }
    let sign = if add { 1 } else { -1 };
    let both = s.arena.combine(a, 1, b, sign)?;
    let rest = s.modulo_constant(b, m)?;
    let sum = s.combine(both, 1, rest, -sign)?;
    s.floordiv_constant(sum, m).map(Some)
}

/// `x % m = m - 1 - (m - 1 - x) % m`, which moves a constant out.
pub(super) fn remainder_mirrored(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Result<Option<Expr>> {
    if terms.len() > MAX_TERMS {
        return Ok(None);
    }
    for (k, t) in terms.iter().enumerate() {
        let Some((x, m)) = s.arena.as_mod(t.expr) else { continue };
        let (Some(minus), Some(top)) = (t.coeff.checked_neg(), t.coeff.checked_mul(m - 1)) else { continue };
        // The result is cheaper only if a constant becomes 0, inside or outside of the remainder, and none takes its place.
        let (own, beside) = (s.arena.constant_part(x), s.arena.constant_part(e));
        let becomes_zero = own == m - 1 && beside != 0 || own != 0 && beside.checked_add(top) == Some(0);
        if !becomes_zero {
            continue;
        }
        let one = s.arena.constant(1);
        let mirrored = s.arena.affine(x, -1, m - 1)?;
        let mirrored = s.arena.modulo_constant(mirrored, m)?;
        if let Some(out) = with_terms(s, e, terms, &[k], &[Term::new(top, one), Term::new(minus, mirrored)])?
        {
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `x * f + y * f = (x + y) * f`.
pub(super) fn products_factored(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Result<Option<Expr>> {
    if terms.len() > MAX_TERMS {
        return Ok(None);
    }
    for t in terms {
        let Node::Product(factors) = s.arena.node(t.expr) else { continue };
        let factors = factors.to_vec();
        for f in factors {
            let (mut gone, mut inner) = (Vec::new(), Vec::new());
            for (i, o) in terms.iter().enumerate() {
                if let Some(rest) = without_factor(s, o.expr, f)? {
                    gone.push(i);
                    inner.push(Term::new(o.coeff, rest));
                }
            }
            if gone.len() < 2 {
                continue;
            }
            let inner = s.arena.sum(0, &inner)?;
            let product = s.arena.mul(inner, f)?;
            if let Some(out) = with_terms(s, e, terms, &gone, &[Term::new(1, product)])? {
                return Ok(Some(out));
            }
        }
    }
    Ok(None)
}

/// `e / f`, if `f` is a factor of the term `e`.
fn without_factor(s: &mut Simplifier<'_>, e: Expr, f: Expr) -> Result<Option<Expr>> {
    if e == f {
        return Ok(Some(s.arena.constant(1)));
    }
    let Node::Product(factors) = s.arena.node(e) else { return Ok(None) };
    let Some(k) = factors.iter().position(|x| *x == f) else { return Ok(None) };
    let mut rest = factors.to_vec();
    rest.remove(k);
    Ok(Some(s.arena.product(&rest)?))
}
