//! The carry of a dividend: `n = g * h + low`, where the radix `g` divides the divisor `m`. With `carry = low floordiv g`,
//! `n floordiv m = (h + carry) floordiv (m / g)` and `n mod m = g * ((h + carry) mod (m / g)) + low mod g`. This is tried if
//! the carry may be simpler than the low part.

use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::int::gcd_i64;
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;

/// `n = radix * high + low`.
pub(super) struct Carry {
    high: Terms,
    pub(super) low: Expr,
    pub(super) radix: i64,
    /// `low floordiv radix`.
    pub(super) carry: Expr,
}

impl Carry {
    /// `high + carry`.
    pub(super) fn high_plus_carry(&self, s: &mut Simplifier<'_>) -> Result<Expr> {
        let mut terms: Terms = self.high.iter().map(|t| Term::new(t.coeff / self.radix, t.expr)).collect();
        terms.push(Term::new(1, self.carry));
        s.sum(0, &terms)
    }
}

impl Simplifier<'_> {
    /// Records the letters of the law of a carry.
    pub(super) fn bind_carry(&mut self, c: &Carry, m: i64) {
        self.bind(|a| {
            let high: Terms = c.high.iter().map(|t| Term::new(t.coeff / c.radix, t.expr)).collect();
            let high = a.sum(0, &high).ok();
            let numbers = [("g", c.radix), ("m", m)].map(|(letter, value)| (letter, a.constant(value)));
            numbers.into_iter().chain(high.map(|h| ("h", h))).chain([("l", c.low)]).collect()
        });
    }
}

/// The maximal number of radices that are tried for one divisor.
const MAX_RADICES: usize = 6;

impl Simplifier<'_> {
    /// Calls `accept` with the carries of `n` for the divisor `m`, largest radix first, until it returns a result.
    pub(super) fn find_carry<T>(
        &mut self,
        n: Expr,
        m: i64,
        mut accept: impl FnMut(&mut Self, &Carry) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let Node::Sum(constant, terms) = self.arena.node(n) else { return Ok(None) };
        let terms = Terms::from_slice(terms);
        for radix in radices(&terms, m) {
            if !self.spend(terms.len() as u64) {
                break;
            }
            let (high, low): (Terms, Terms) = terms.iter().copied().partition(|t| t.coeff % radix == 0);
            if !self.may_carry(&low) {
                continue;
            }
            let low = self.sum(constant, &low)?;
            let carry = self.floordiv_constant(low, radix)?;
            if let Some(out) = accept(self, &Carry { high, low, radix, carry })? {
                return Ok(Some(out));
            }
        }
        Ok(None)
    }

    /// Whether the quotient of a low part may be simpler than the low part. For several terms, or a variable, a split would
    /// have found it.
    fn may_carry(&self, low: &[Term]) -> bool {
        matches!(low, [t] if self.arena.tag(t.expr) != Tag::Variable)
    }
}

/// The greatest common divisors of `m` and each coefficient, in descending order, without duplicates, 1 and `m`.
fn radices(terms: &[Term], m: i64) -> SmallVec<[i64; 8]> {
    let mut gcds = SmallVec::new();
    for t in terms {
        let g = gcd_i64(m, t.coeff);
        if g > 1 && g < m && !gcds.contains(&g) && gcds.len() < MAX_RADICES {
            gcds.push(g);
        }
    }
    gcds.sort_unstable_by(|a, b| b.cmp(a));
    gcds
}
