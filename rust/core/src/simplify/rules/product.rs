//! Laws of products.

use super::RuleId;
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::simplify::driver::Simplifier;

/// Simplify a canonical product of simplified factors.
pub fn apply(s: &mut Simplifier<'_>, e: Expr) -> Result<Expr> {
    let Node::Product(factors) = s.arena.node(e) else { return Ok(e) };
    let factors = factors.to_vec();
    for (k, f) in factors.iter().enumerate() {
        let Node::Min(&[a, b]) = s.arena.node(*f) else { continue };
        let twin =
            factors.iter().position(|g| matches!(s.arena.node(*g), Node::Max(&[c, d]) if (a, b) == (c, d)));
        let Some(i) = twin else { continue };
        let mut rest: Vec<Expr> =
            (0..factors.len()).filter(|j| *j != i && *j != k).map(|j| factors[j]).collect();
        rest.extend([a, b]);
        let out = s.arena.product(&rest)?;
        let out = s.simplify(out);
        return Ok(s.applied(RuleId::ExtremesMultiply, e, out));
    }
    Ok(e)
}
