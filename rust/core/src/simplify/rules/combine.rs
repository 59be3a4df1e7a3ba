//! Laws of sums that move terms into quotients, or common factors out of sums; applied if the result is cheaper.

use super::sum::with_terms;
use crate::error::Result;
use crate::expr::{Expr, Node, Term};
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;

/// Sums with more terms than this are left as they are.
const MAX_TERMS: usize = 32;

/// `a / m - b / m = (b % m + a - b) / m`, and `a / m + b / m = (a + b - b % m) / m`.
pub(super) fn quotients_merge(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
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
fn merged(s: &mut Simplifier<'_>, x: Expr, y: Expr, add: bool) -> Rewritten {
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
pub(super) fn remainder_mirrored(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
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

/// `x * f + y * (f + c) = (x + y) * f + c * y`; first of the terms with the factor `f` itself.
pub(super) fn products_factored(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    if terms.len() > MAX_TERMS {
        return Ok(None);
    }
    for may_differ in [false, true] {
        // Factors that differ by a constant leave different sums: the cheapest result is used.
        let mut best: Option<Expr> = None;
        for t in terms {
            let Node::Product(factors) = s.arena.node(t.expr) else { continue };
            let factors = factors.to_vec();
            for f in factors {
                let out = factored(s, e, terms, f, may_differ)?;
                if let Some(out) = out.filter(|out| best.is_none_or(|b| s.cost(*out) < s.cost(b))) {
                    best = Some(out);
                }
            }
        }
        if best.is_some() {
            return Ok(best);
        }
    }
    Ok(None)
}

/// `e` with the factor `f` outside of the terms that have it, or, if it may differ, one that differs by a constant.
fn factored(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], f: Expr, may_differ: bool) -> Rewritten {
    let (mut gone, mut inner, mut new) = (Vec::new(), Vec::new(), Vec::new());
    for (i, t) in terms.iter().enumerate() {
        let Some((rest, c)) = without_factor(s, t.expr, f, may_differ)? else { continue };
        let Some(beside) = t.coeff.checked_mul(c) else { continue };
        gone.push(i);
        inner.push(Term::new(t.coeff, rest));
        new.push(Term::new(beside, rest));
    }
    if gone.len() < 2 || may_differ && new.iter().all(|t| t.coeff == 0) {
        return Ok(None);
    }
    let inner = s.arena.sum(0, &inner)?;
    new.push(Term::new(1, s.arena.mul(inner, f)?));
    new.retain(|t| t.coeff != 0);
    with_terms(s, e, terms, &gone, &new)
}

/// `y` and `c`, if the term `e` is `y * (f + c)`; `c` is 0 unless it may differ.
fn without_factor(s: &mut Simplifier<'_>, e: Expr, f: Expr, may_differ: bool) -> Result<Option<(Expr, i64)>> {
    if e == f {
        return Ok(Some((s.arena.constant(1), 0)));
    }
    let Node::Product(factors) = s.arena.node(e) else { return Ok(None) };
    let mut rest = factors.to_vec();
    let own = rest.iter().position(|x| *x == f).map(|k| (k, 0));
    let alike = || rest.iter().enumerate().find_map(|(k, x)| Some((k, difference(s, *x, f)?)));
    let Some((k, c)) = own.or_else(|| if may_differ { alike() } else { None }) else { return Ok(None) };
    rest.remove(k);
    Ok(Some((s.arena.product(&rest)?, c)))
}

/// The constant `x - f`, if it is one.
fn difference(s: &Simplifier<'_>, x: Expr, f: Expr) -> Option<i64> {
    let ((c, terms), (d, others)) = (s.arena.to_sum(x), s.arena.to_sum(f));
    if terms == others {
        c.checked_sub(d)
    } else {
        None
    }
}
