//! Laws of sums that move terms into quotients, or take common factors out; each is taken where it is cheaper.

use super::sum::with_terms;
use crate::error::Result;
use crate::expr::{Expr, Node, Term};
use crate::simplify::simplifier::Simplifier;

/// With more terms than this, a sum is not searched.
const TERMS_SEARCHED: usize = 32;

/// `a / m - b / m = (b % m + a - b) / m`.
pub(super) fn quotients_differ(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Result<Option<Expr>> {
    if terms.len() > TERMS_SEARCHED {
        return Ok(None);
    }
    for (i, x) in terms.iter().enumerate() {
        let Some((a, m)) = s.arena.as_floordiv(x.expr) else { continue };
        for (j, y) in terms.iter().enumerate() {
            let Some((b, n)) = s.arena.as_floordiv(y.expr) else { continue };
            if i == j || m != n || x.coeff.checked_neg() != Some(y.coeff) {
                continue;
            }
            let gap = s.arena.sub(a, b)?;
            let rest = s.modulo_constant(b, m)?;
            let sum = s.combine(rest, 1, gap, 1)?;
            let quotient = s.floordiv_constant(sum, m)?;
            if let Some(out) = with_terms(s, e, terms, &[i, j], &[Term::new(x.coeff, quotient)])? {
                return Ok(Some(out));
            }
        }
    }
    Ok(None)
}

/// `x % m = m - 1 - (m - 1 - x) % m`, which moves a constant out.
pub(super) fn remainder_mirrored(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Result<Option<Expr>> {
    if terms.len() > TERMS_SEARCHED {
        return Ok(None);
    }
    for (k, t) in terms.iter().enumerate() {
        let Some((x, m)) = s.arena.as_mod(t.expr) else { continue };
        let (Some(minus), Some(top)) = (t.coeff.checked_neg(), t.coeff.checked_mul(m - 1)) else { continue };
        // It pays only where a constant vanishes, inside or outside.
        let inside = s.arena.constant_part(x) == m - 1;
        let outside = s.arena.constant_part(e).checked_add(top) == Some(0);
        if !inside && !outside {
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
    if terms.len() > TERMS_SEARCHED {
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

/// `e / f` where `f` is a factor of the term.
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
