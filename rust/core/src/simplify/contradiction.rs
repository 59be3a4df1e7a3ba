//! Constraints that contradict each other as a system, though none is impossible by itself: a few points are tried, then the
//! Omega test decides.

use crate::expr::Expr;
use crate::interval::Interval;
use crate::simplify::constraints::{law, Row};
use crate::simplify::domain::DomainSimplifier;
use crate::simplify::law::Law;
use crate::simplify::presburger::{IntegerDomain, Work};
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;

/// A law of all constraints as one system; returns whether there is no point.
type ApplyToSystem = fn(&DomainSimplifier, &mut Simplifier<'_>, &Law) -> bool;

/// Laws of all constraints as one system.
static SYSTEM: [Row<ApplyToSystem>; 1] = [Row {
    law: law(
        "constraints-contradict",
        "any",
        "e in [a, b] and f in [c, d] is false",
        "no integers satisfy e in [a, b] and f in [c, d]",
    ),
    function: DomainSimplifier::constraints_contradict,
}];

/// The number of points that are tried before.
const SAMPLES: i128 = 9;
/// The work of the Omega test on a domain.
const SYSTEM_WORK: u64 = 1 << 14;
/// The work of the Omega test on two constraints.
const PAIR_WORK: u64 = 1 << 12;

/// All laws of this file.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    SYSTEM.iter().map(|row| row.law)
}

impl DomainSimplifier {
    /// Whether the constraints, each of which has points in the box, have none in common.
    pub(crate) fn has_no_points(&self, s: &mut Simplifier<'_>) -> bool {
        SYSTEM.iter().any(|row| (row.function)(self, s, &row.law))
    }

    /// Whether constraints that have variables in common have no point in common.
    fn constraints_contradict(&self, s: &mut Simplifier<'_>, law: &Law) -> bool {
        if !self.is_entangled(s) || self.has_point(s) {
            return false;
        }
        let is_empty = is_contradiction(s, &self.constraints, SYSTEM_WORK);
        if is_empty {
            s.record_contradiction(law, &self.constraints);
        }
        is_empty
    }

    /// Whether no point satisfies one more constraint, as that a divisor is 0: together with one that is stated, or with all.
    pub(crate) fn is_never(&self, s: &mut Simplifier<'_>, one: (Expr, Interval)) -> bool {
        let is_about = |c: &&(Expr, Interval)| s.arena.may_use_variables_of(one.0, c.0);
        let pairs: Vec<_> = self.constraints.iter().filter(is_about).map(|c| [*c, one]).collect();
        let all: Vec<_> = self.constraints.iter().copied().chain([one]).collect();
        pairs.iter().any(|pair| is_contradiction(s, pair, PAIR_WORK))
            || is_contradiction(s, &all, SYSTEM_WORK)
    }

    /// Whether one of a few points of the box, spread evenly, satisfies all constraints, as in most domains.
    fn has_point(&self, s: &mut Simplifier<'_>) -> bool {
        let roots: SmallVec<[Expr; 8]> = self.constraints.iter().map(|c| c.0).collect();
        let order = s.arena.post_order(&roots);
        let (mut point, mut values) = (Vec::new(), Vec::new());
        (0..SAMPLES).any(|k| {
            // At first, all values are those in the middle.
            let place = |v: usize| (SAMPLES / 2 + k * (v as i128 + 1)) % SAMPLES;
            point.clear();
            let variables = s.ranges.variables.iter().enumerate();
            point.extend(variables.map(|(v, info)| info.value_at(place(v), SAMPLES - 1)));
            s.arena.charge(order.len());
            let is_defined = s.arena.evaluate_in_order(&order, &point, &mut values).is_ok();
            is_defined && self.constraints.iter().all(|c| c.1.contains(values[c.0.index()]))
        })
    }

    /// Whether two constraints may have a variable in common.
    fn is_entangled(&self, s: &Simplifier<'_>) -> bool {
        let mut used = 0;
        self.constraints.iter().any(|(e, _)| {
            let own = s.arena.variables_of(*e);
            let is_shared = used & own != 0;
            used |= own;
            is_shared
        })
    }
}

/// Whether no point of the box satisfies all constraints, as far as the Omega test decides it.
fn is_contradiction(s: &mut Simplifier<'_>, constraints: &[(Expr, Interval)], limit: u64) -> bool {
    let Some(domain) = IntegerDomain::new(s.arena, s.ranges, constraints, &[]) else { return false };
    let mut work = Work(limit);
    let sample = domain.sample(&mut work);
    s.arena.charge((limit - work.0) as usize);
    sample == Ok(None)
}
