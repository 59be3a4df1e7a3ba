//! Steps about several constraints as one system.

use super::{bounds_only, Recorder};
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::simplify::certificate::Claim;
use crate::simplify::law::Law;
use crate::simplify::range::Ranges;

impl Recorder {
    /// The constraints, with the bounds of their variables, have no point in common.
    pub(crate) fn contradiction(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        law: &Law,
        constraints: &[(Expr, Interval)],
    ) {
        let from = self.system(arena, ranges, constraints);
        self.push(law.name, Claim::Never, from);
    }

    /// A constraint follows from another, with the bounds of the variables.
    pub(crate) fn following(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        law: &Law,
        (e, interval): (Expr, Interval),
        other: (Expr, Interval),
    ) {
        let from = self.system(arena, ranges, &[other]);
        self.push(law.name, Claim::Within(e, bounds_only(interval)), from);
    }

    /// The steps of constraints, and of the bounds of their variables.
    fn system(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        constraints: &[(Expr, Interval)],
    ) -> Vec<usize> {
        let mut from = Vec::new();
        for c in constraints {
            from.extend(self.constraint_step(arena, ranges, *c));
            for v in arena.variables(&[c.0]) {
                let x = arena.variable(v);
                from.extend(self.range(arena, ranges, x));
            }
        }
        from
    }
}
