//! The conditions that no divisor is 0, stated before all other laws are applied.

use crate::expr::Expr;
use crate::interval::Interval;
use crate::simplify::constraints::{law, IMPOSSIBLE};
use crate::simplify::definedness::POSITIVE;
use crate::simplify::domain::DomainSimplifier;
use crate::simplify::law::Law;
use crate::simplify::simplifier::Simplifier;

/// Applied before all other laws.
pub(crate) const CONDITION: Law = law("constraint-divisor", "floordiv, mod", "x / y or x % y is defined = y in [1, oo] if y >= 0, y in [-oo, -1] if y <= 0, else max(y, -y) in [1, oo]", "none");

impl DomainSimplifier {
    /// States that divisors are not 0 where nothing implies it, except of those that were `stated`. Returns whether there are any.
    pub(crate) fn state_conditions(&mut self, s: &mut Simplifier<'_>, stated: &mut Vec<Expr>) -> bool {
        let count = self.constraints.len();
        let divisors = self.divisors(s);
        if divisors.is_empty() {
            return false;
        }
        s.arena.charge(count);
        self.sort_constraints(s); // what is decided about them depends on their order
        for d in divisors {
            let known = s.info(d);
            s.record(|r, arena, ranges| r.keep_range(arena, ranges, d));
            // If the condition overflows int64, it is not stated: the rules cannot use it.
            let Ok(Some(condition)) = s.arena.nonzero(d, known) else { continue };
            if !stated.contains(&d) && !self.is_never(s, (d, Interval::point(0))) {
                s.record_constraint(&CONDITION, (d, Interval::ALL), &[condition]);
                self.constraints.push(condition);
                stated.push(d);
            }
        }
        self.constraints.len() > count
    }

    /// The divisors of the results and constraints that are not constant.
    fn divisors(&self, s: &mut Simplifier<'_>) -> Vec<Expr> {
        s.arena.divisors(self.results.iter().copied().chain(self.constraints.iter().map(|c| c.0)))
    }

    /// Whether a divisor is 0 everywhere: its condition was not stated where the constraint that divides by it implies it.
    pub(crate) fn divides_by_zero(&self, s: &mut Simplifier<'_>) -> bool {
        let zero = self.divisors(s).into_iter().find(|d| s.bounds(*d) == Interval::point(0));
        let Some(d) = zero else { return false };
        let condition = (d, POSITIVE);
        s.record_constraint(&CONDITION, (d, Interval::ALL), &[condition]);
        s.record_constraint(&IMPOSSIBLE, condition, &[(d, Interval::EMPTY)]);
        true
    }
}
