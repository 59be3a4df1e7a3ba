//! The domain of definition: a point at which a constraint or a result divides by 0 is not in the domain.
//!
//! Constant divisors are never 0. For any other divisor that may be 0, a constraint states that it is not. Laws may therefore
//! assume nonzero divisors, and remove divisions.

use crate::error::Result;
use crate::expr::{Arena, Expr, Node};
use crate::interval::Interval;
use crate::simplify::range::{Info, Ranges};

pub(crate) const POSITIVE: Interval = Interval { lower: 1, upper: i64::MAX };
const NEGATIVE: Interval = Interval { lower: i64::MIN, upper: -1 };

impl Arena {
    /// The factors of divisors below `roots` that are not constant, without duplicates: a product is 0 where one of them is.
    pub(crate) fn divisors(&mut self, roots: impl Iterator<Item = Expr>) -> Vec<Expr> {
        if !self.divides_by_expressions {
            return Vec::new();
        }
        let roots: Vec<Expr> = roots.collect();
        let mut divisors = Vec::new();
        for e in self.post_order(&roots) {
            if let Node::FloorDiv(_, d) | Node::Mod(_, d) = self.node(e) {
                if self.as_constant(d).is_none() {
                    self.push_factors(d, &mut divisors);
                }
            }
        }
        divisors.sort_unstable_by(|a, b| self.compare(*a, *b));
        divisors.dedup();
        divisors
    }

    /// The constraint that `d` is not 0; `None` if its bounds or its residue, as that of an odd number, imply it.
    pub(crate) fn nonzero(&mut self, d: Expr, known: Info) -> Result<Option<(Expr, Interval)>> {
        let bounds = known.bounds;
        if !bounds.contains(0) || known.residue != 0 {
            return Ok(None);
        }
        if bounds.lower == 0 {
            return Ok(Some((d, POSITIVE)));
        }
        if bounds.upper == 0 {
            return Ok(Some((d, NEGATIVE)));
        }
        let minus = self.neg(d)?;
        let size = self.max(d, minus)?;
        Ok(Some((size, POSITIVE)))
    }

    /// The constraints that no divisor below `roots` is 0, for variables in `bounds`.
    pub(crate) fn conditions(
        &mut self,
        bounds: &[Interval],
        roots: impl Iterator<Item = Expr>,
    ) -> Result<Vec<(Expr, Interval)>> {
        let divisors = self.divisors(roots);
        let mut conditions = Vec::new();
        if divisors.is_empty() {
            return Ok(conditions);
        }
        let mut ranges = Ranges::default();
        ranges.reset(bounds.iter().copied());
        for d in divisors {
            let own = ranges.info(self, d);
            conditions.extend(self.nonzero(d, own)?);
        }
        Ok(conditions)
    }
}
