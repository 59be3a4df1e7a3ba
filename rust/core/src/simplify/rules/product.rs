//! Laws of products.

use super::{first_of, law, Row, ALWAYS};
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::interval::Interval;
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;

/// The values of a bit, and those of a negated one.
const BIT: Interval = Interval { lower: 0, upper: 1 };
const NEGATED_BIT: Interval = Interval { lower: -1, upper: 0 };

type ProductRule = fn(&mut Simplifier<'_>, &[Expr]) -> Rewritten;

/// The rules of products.
pub(super) const PRODUCTS: &[Row<ProductRule>] = &[
    row!("product-of-extremes", "product": "min(a, b) * max(a, b) = a * b"
        if "none", always => product_of_extremes),
    row!("product-with-bit", "product": "b * (c * b + y) = b * (c + y)"
        if "0 <= b <= 1", always, on_domain => with_bit),
    row!("square-of-bit", "product": "b * b = b, n * n = -n"
        if "0 <= b <= 1, -1 <= n <= 0", always, on_domain => square_of_bit),
];

/// Simplifies a canonical product of simplified factors.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let Node::Product(factors) = s.arena.node(e) else { return Ok(None) };
    let factors = factors.to_vec();
    first_of(s, PRODUCTS, ALWAYS, e, |s, f| f(s, &factors))
}

fn product_of_extremes(s: &mut Simplifier<'_>, factors: &[Expr]) -> Rewritten {
    for (k, f) in factors.iter().enumerate() {
        let Node::Min(&[a, b]) = s.arena.node(*f) else { continue };
        let twin =
            factors.iter().position(|g| matches!(s.arena.node(*g), Node::Max(&[c, d]) if (a, b) == (c, d)));
        let Some(i) = twin else { continue };
        let mut rest: Vec<Expr> =
            (0..factors.len()).filter(|j| *j != i && *j != k).map(|j| factors[j]).collect();
        rest.extend([a, b]);
        let product = s.arena.product(&rest)?;
        let out = s.simplify(product);
        bind_beside(s, factors, [i, k], vec![("a", a), ("b", b)])?;
        return Ok(Some(out));
    }
    Ok(None)
}

/// `b * (c * b + y) = b * (c + y)` for a factor `b` that is 0 or 1, which is a term of another factor.
fn with_bit(s: &mut Simplifier<'_>, factors: &[Expr]) -> Rewritten {
    for (k, bit) in factors.iter().enumerate() {
        // First, since the search for its other factor takes quadratic time where no factor is a bit.
        if !BIT.covers(s.bounds(*bit)) {
            continue;
        }
        let others = || (0..factors.len()).filter(|i| *i != k);
        let Some(i) = others().find(|i| s.holds(factors[*i], *bit)) else { continue };
        s.reason(*bit);
        let (constant, mut terms) = s.arena.to_sum(factors[i]);
        let coeff = terms.iter().find(|t| t.expr == *bit).map_or(0, |t| t.coeff);
        terms.retain(|t| t.expr != *bit);
        let y = s.arena.sum(constant, &terms)?;
        let Some(constant) = constant.checked_add(coeff) else { return Ok(None) };
        let mut new = factors.to_vec();
        new[i] = s.arena.sum(constant, &terms)?;
        let product = s.arena.product(&new)?;
        let out = s.simplify(product);
        let c = s.arena.constant(coeff);
        bind_beside(s, factors, [i, k], vec![("b", *bit), ("c", c), ("y", y)])?;
        return Ok(Some(out));
    }
    Ok(None)
}

/// `b * b = b` for a factor that is 0 or 1, and `n * n = -n` for one that is -1 or 0; equal factors follow one another.
fn square_of_bit(s: &mut Simplifier<'_>, factors: &[Expr]) -> Rewritten {
    for k in (1..factors.len()).filter(|k| factors[k - 1] == factors[*k]) {
        let bounds = s.bounds(factors[k]);
        let is_negated = NEGATED_BIT.covers(bounds);
        if !is_negated && !BIT.covers(bounds) {
            continue;
        }
        s.reason(factors[k]);
        let rest: Vec<Expr> = (0..factors.len()).filter(|j| *j != k).map(|j| factors[j]).collect();
        let product = s.arena.product(&rest)?;
        let scaled = s.arena.scale(product, if is_negated { -1 } else { 1 })?;
        let out = s.simplify(scaled);
        let zero = s.arena.constant(0);
        let (b, n) = if is_negated { (zero, factors[k]) } else { (factors[k], zero) };
        bind_beside(s, factors, [k - 1, k], vec![("b", b), ("n", n)])?;
        return Ok(Some(out));
    }
    Ok(None)
}

/// Binds the letters of a law of two factors, and `factor` to the product of the others.
fn bind_beside(
    s: &mut Simplifier<'_>,
    factors: &[Expr],
    pair: [usize; 2],
    letters: Vec<(&'static str, Expr)>,
) -> Result<()> {
    if !s.records_steps() {
        return Ok(());
    }
    let others: Vec<Expr> = (0..factors.len()).filter(|i| !pair.contains(i)).map(|i| factors[i]).collect();
    let factor = if others.is_empty() { s.arena.constant(1) } else { s.arena.product(&others)? };
    s.bind(|_| letters.into_iter().chain([("factor", factor)]).collect());
    Ok(())
}
