//! Constraints as a system: that they contradict each other, though none is impossible by itself, or that one follows from
//! another. A few points are tried, then the Omega test decides.

use crate::expr::Expr;
use crate::interval::Interval;
use crate::simplify::constraints::law;
use crate::simplify::domain::DomainSimplifier;
use crate::simplify::law::{Law, Row};
use crate::simplify::presburger::{IntegerDomain, Work};
use crate::simplify::range::Info;
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;

type Pairs = SmallVec<[(usize, usize); 8]>;

/// A law of all constraints as one system, of which some points were tried; returns whether there is no point.
type ApplyToSystem = fn(&mut DomainSimplifier, &mut Simplifier<'_>, &Tried, &Law) -> bool;

/// Laws of all constraints as one system.
static SYSTEM: [Row<ApplyToSystem>; 2] = [
    row!("constraints-contradict", "any": "e in [a, b] and f in [c, d] is false"
        if "no integers satisfy e in [a, b] and f in [c, d]" => DomainSimplifier::constraints_contradict),
    row!("constraint-follows", "any": "f in [c, d] and e in [a, b] = f in [c, d]"
        if "all integers that satisfy f in [c, d] satisfy e in [a, b]"
        => DomainSimplifier::constraint_follows),
];

/// The answer of a few points.
struct Tried {
    /// Whether one of them satisfies all constraints.
    has_point: bool,
    /// The pairs of constraints, by index, of which the first may follow from the second: none of them refutes it.
    open: Pairs,
}

/// The number of points that are tried before: those spread over the box, then those near one of its ends, where constraints
/// that the box nearly implies do not hold.
const SPREAD_SAMPLES: usize = 9;
const END_SAMPLES: usize = 10;
/// The work of the Omega test on a domain.
const SYSTEM_WORK: u64 = 1 << 14;
/// The work of the Omega test on two constraints.
const PAIR_WORK: u64 = 1 << 12;
/// The work of the Omega test on one side of a constraint that may follow from another.
const FOLLOWING_WORK: u64 = 1 << 10;
/// More constraints than this are not compared with one another.
const MAX_COMPARED: usize = 12;

/// All laws of this file.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    SYSTEM.iter().map(|row| row.law)
}

impl DomainSimplifier {
    /// Whether the constraints, each of which has points in the box, have none in common. Drops those that follow from another.
    pub(crate) fn has_no_points(&mut self, s: &mut Simplifier<'_>) -> bool {
        if !self.is_entangled(s) {
            return false;
        }
        let tried = self.try_points(s);
        SYSTEM.iter().any(|row| (row.function)(self, s, &tried, &row.law))
    }

    /// Whether constraints that have variables in common have no point in common.
    fn constraints_contradict(&mut self, s: &mut Simplifier<'_>, tried: &Tried, law: &Law) -> bool {
        let is_empty = !tried.has_point && is_contradiction(s, &self.constraints, SYSTEM_WORK);
        if is_empty {
            s.record_contradiction(law, &self.constraints);
        }
        is_empty
    }

    /// Drops each constraint that holds wherever another does, the dearest first; what it says stays a fact.
    fn constraint_follows(&mut self, s: &mut Simplifier<'_>, tried: &Tried, law: &Law) -> bool {
        if tried.open.is_empty() {
            return false;
        }
        let mut pairs = tried.open.clone();
        pairs.sort_by_key(|(own, _)| std::cmp::Reverse(s.cost(self.constraints[*own].0)));
        s.start_on(self.visible_bounds()); // a constraint that is a fact would imply itself
        let mut dropped: SmallVec<[usize; 8]> = SmallVec::new();
        for (own, other) in pairs {
            let is_left = !dropped.contains(&own) && !dropped.contains(&other);
            if is_left && follows(s, self.constraints[own], self.constraints[other]) {
                s.record_following(law, self.constraints[own], self.constraints[other]);
                dropped.push(own);
            }
        }
        self.restate_facts(s, None);
        let mut index = 0..;
        self.constraints.retain(|_| !index.next().is_some_and(|k| dropped.contains(&k)));
        false
    }

    /// Whether no point satisfies one more constraint, as that a divisor is 0: together with one that is stated, or with all.
    pub(crate) fn is_never(&self, s: &mut Simplifier<'_>, one: (Expr, Interval)) -> bool {
        let is_about = |c: &&(Expr, Interval)| s.arena.may_use_variables_of(one.0, c.0);
        let pairs: Vec<_> = self.constraints.iter().filter(is_about).map(|c| [*c, one]).collect();
        let all: Vec<_> = self.constraints.iter().copied().chain([one]).collect();
        pairs.iter().any(|pair| is_contradiction(s, pair, PAIR_WORK))
            || is_contradiction(s, &all, SYSTEM_WORK)
    }

    /// Tries a few points of the box: one of them satisfies all constraints of most domains.
    fn try_points(&self, s: &mut Simplifier<'_>) -> Tried {
        let roots: SmallVec<[Expr; 8]> = self.constraints.iter().map(|c| c.0).collect();
        let order = s.arena.post_order(&roots);
        let (mut point, mut values) = (Vec::new(), Vec::new());
        let mut tried = Tried { has_point: false, open: self.comparable(s) };
        for k in 0..SPREAD_SAMPLES + END_SAMPLES {
            point.clear();
            let variables = s.ranges.variables.iter().enumerate();
            point.extend(variables.map(|(v, info)| sample(*info, v, k)));
            s.arena.charge(order.len());
            if s.arena.evaluate_in_order(&order, &point, &mut values).is_err() {
                continue;
            }
            let holds = |(e, interval): &(Expr, Interval)| interval.contains(values[e.index()]);
            let held: SmallVec<[bool; 8]> = self.constraints.iter().map(holds).collect();
            tried.has_point |= held.iter().all(|h| *h);
            tried.open.retain(|(own, other)| held[*own] || !held[*other]);
            if tried.has_point && tried.open.is_empty() {
                break;
            }
        }
        tried
    }

    /// The pairs of constraints, by index, of which the first may follow from the second: that has its variables.
    fn comparable(&self, s: &Simplifier<'_>) -> Pairs {
        let n = self.constraints.len();
        if n > MAX_COMPARED || s.arena.divides_by_expressions {
            return Pairs::new(); // whether a divisor is 0 is no question of linear arithmetic
        }
        let pairs = (0..n).flat_map(|own| (0..n).map(move |other| (own, other)));
        let may_follow = |(own, other): &(usize, usize)| {
            bounds_all_of(s, self.constraints[*other], self.constraints[*own])
        };
        pairs.filter(may_follow).collect()
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

/// The value of variable `v` at sample `k`.
fn sample(info: Info, v: usize, k: usize) -> i64 {
    match k.checked_sub(SPREAD_SAMPLES) {
        // At first, all values are those in the middle.
        None => {
            let place = (SPREAD_SAMPLES / 2 + k * (v + 1)) % SPREAD_SAMPLES;
            info.value_at(place as u8, SPREAD_SAMPLES as u8 - 1)
        }
        Some(near) => info.value_near_end(near % 2 == 0, near as i64 / 2),
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

/// Whether a constraint may have all variables of another one.
fn bounds_all_of(s: &Simplifier<'_>, (e, _): (Expr, Interval), (of, _): (Expr, Interval)) -> bool {
    e != of && s.arena.may_use_variables_of(e, of)
}

/// Whether all points of the box that satisfy another constraint satisfy this one, as far as the Omega test decides it.
fn follows(s: &mut Simplifier<'_>, (e, interval): (Expr, Interval), other: (Expr, Interval)) -> bool {
    let Interval { lower, upper } = s.bounds(e);
    let below = Interval::new(lower, interval.lower.saturating_sub(1));
    let above = Interval::new(interval.upper.saturating_add(1), upper);
    let never =
        |outside: Interval| outside.is_empty() || is_contradiction(s, &[other, (e, outside)], FOLLOWING_WORK);
    [below, above].into_iter().all(never)
}
