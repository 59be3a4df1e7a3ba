//! Laws of products.

use super::{first_of, rule, Row, ALWAYS};
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::simplify::simplifier::Simplifier;

type ProductRule = fn(&mut Simplifier<'_>, &[Expr]) -> Result<Option<Expr>>;

/// The rules of products.
pub(super) const PRODUCTS: &[Row<ProductRule>] = &[Row::new(
    rule("product-of-extremes", "product", "min(a, b) * max(a, b) = a * b", "none").always(),
    ALWAYS,
    product_of_extremes,
)];

/// Simplifies a canonical product of simplified factors.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<Expr>> {
    let Node::Product(factors) = s.arena.node(e) else { return Ok(None) };
    let factors = factors.to_vec();
    first_of(s, PRODUCTS, ALWAYS, e, |s, f| f(s, &factors))
}

fn product_of_extremes(s: &mut Simplifier<'_>, factors: &[Expr]) -> Result<Option<Expr>> {
    for (k, f) in factors.iter().enumerate() {
        let Node::Min(&[a, b]) = s.arena.node(*f) else { continue };
        let twin =
            factors.iter().position(|g| matches!(s.arena.node(*g), Node::Max(&[c, d]) if (a, b) == (c, d)));
        let Some(i) = twin else { continue };
        let mut rest: Vec<Expr> =
            (0..factors.len()).filter(|j| *j != i && *j != k).map(|j| factors[j]).collect();
        rest.extend([a, b]);
        let out = s.arena.product(&rest)?;
        return Ok(Some(s.simplify(out)));
    }
    Ok(None)
}
