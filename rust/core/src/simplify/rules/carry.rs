//! The carry of a dividend: `n = g * h + low` with `g` a divisor of the divisor `m`. Then
//! `n floordiv m = (h + carry) floordiv (m / g)` and `n mod m = g * ((h + carry) mod (m / g)) + low mod g` with
//! `carry = low floordiv g`; worth a try where the carry may be simpler than the low part.

use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::int::gcd_i64;
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;

/// `n = granule * high + low`.
pub(super) struct Carry {
    high: Terms,
    pub(super) low: Expr,
    pub(super) granule: i64,
    /// `low floordiv granule`.
    pub(super) carry: Expr,
}

impl Carry {
    /// `high + carry`.
    pub(super) fn joined(&self, s: &mut Simplifier<'_>) -> Result<Expr> {
        let mut terms: Terms = self.high.iter().map(|t| Term::new(t.coeff / self.granule, t.expr)).collect();
        terms.push(Term::new(1, self.carry));
        s.sum(0, &terms)
    }
}

/// The number of granules tried for one divisor.
const GRANULES_TRIED: usize = 6;

impl Simplifier<'_> {
    /// Tries the carries of `n` for the divisor `m`, the largest granule first, until `accept` takes one.
    pub(super) fn carries<T>(
        &mut self,
        n: Expr,
        m: i64,
        mut accept: impl FnMut(&mut Self, &Carry) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let Node::Sum(constant, terms) = self.arena.node(n) else { return Ok(None) };
        let terms = Terms::from_slice(terms);
        for granule in granules(&terms, m) {
            if !self.spend(terms.len() as u64) {
                break;
            }
            let (high, low): (Terms, Terms) = terms.iter().copied().partition(|t| t.coeff % granule == 0);
            if !self.may_carry(&low) {
                continue;
            }
            let low = self.sum(constant, &low)?;
            let carry = self.floordiv_constant(low, granule)?;
            if let Some(out) = accept(self, &Carry { high, low, granule, carry })? {
                return Ok(Some(out));
            }
        }
        Ok(None)
    }

    /// Whether the quotient of a low part may be simpler than the low part. That of several terms, or of a variable, a split
    /// would have told.
    fn may_carry(&self, low: &[Term]) -> bool {
        matches!(low, [t] if self.arena.tag(t.expr) != Tag::Variable)
    }
}

/// The common divisors of `m` with single coefficients, each once, the largest first; neither 1 nor `m`.
fn granules(terms: &[Term], m: i64) -> SmallVec<[i64; 8]> {
    let mut found = SmallVec::new();
    for t in terms {
        let g = gcd_i64(m, t.coeff);
        if g > 1 && g < m && !found.contains(&g) && found.len() < GRANULES_TRIED {
            found.push(g);
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}
