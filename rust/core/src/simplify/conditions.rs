//! The conditions that no divisor is 0, stated before all other laws are applied.

use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::simplify::constraints::{law, IMPOSSIBLE};
use crate::simplify::definedness::POSITIVE;
use crate::simplify::domain::DomainSimplifier;
use crate::simplify::facts::normal_form;
use crate::simplify::law::Law;
use crate::simplify::preimage::shifted_back;
use crate::simplify::simplifier::Simplifier;
use std::collections::HashMap;

/// The intervals of constraints by expression.
#[derive(Default)]
struct StatedConstraints(HashMap<Expr, Interval>);

impl StatedConstraints {
    fn add(&mut self, (e, interval): (Expr, Interval)) {
        self.0.entry(e).and_modify(|i| *i = i.intersect(interval)).or_insert(interval);
    }

    /// Whether a stated constraint on the same expression, or on its normal form, implies the constraint.
    fn implies(&self, arena: &mut Arena, (e, interval): (Expr, Interval)) -> bool {
        let Some((form, factor, offset)) = normal_form(arena, e) else { return false };
        let Some(inner) = shifted_back(interval, offset) else { return false };
        let says =
            |e: &Expr, interval: Interval| self.0.get(e).is_some_and(|stated| interval.covers(*stated));
        says(&form, inner.quotient_by(factor)) || says(&e, interval)
    }
}

/// Applied before all other laws.
pub(crate) const CONDITION: Law = law("constraint-divisor", "floordiv, mod", "x / y or x % y is defined = y in [1, oo] if y >= 0, y in [-oo, -1] if y <= 0, else max(y, -y) in [1, oo]", "none");

impl DomainSimplifier {
    /// States that no divisor is 0.
    pub(crate) fn state_conditions(&mut self, s: &mut Simplifier<'_>) {
        let divisors = self.divisors(s);
        if divisors.is_empty() {
            return;
        }
        s.arena.charge(self.constraints.len());
        let mut stated = StatedConstraints::default();
        self.constraints.iter().for_each(|c| stated.add(*c));
        for d in divisors {
            let known = s.info(d);
            s.record(|r, arena, ranges| r.keep_range(arena, ranges, d));
            // If the condition overflows int64, it is not stated: the rules cannot use it.
            let Ok(Some(condition)) = s.arena.nonzero(d, known) else { continue };
            let twin = s.arena.nonzero_as_minimum(d);
            let is_stated =
                stated.implies(s.arena, condition) || twin.is_ok_and(|twin| stated.implies(s.arena, twin));
            if !is_stated && !self.is_never(s, (d, Interval::point(0))) {
                s.record_constraint(&CONDITION, (d, Interval::ALL), &[condition]);
                self.constraints.push(condition);
                stated.add(condition);
            }
        }
    }

    /// States that divisors are not 0 that simplify to variables whose bounds end there: before, their conditions were not stated
    /// where other constraints imply them, and bounds that become 0 later would end there. Returns whether there are any.
    pub(crate) fn state_least_divisors(&mut self, s: &mut Simplifier<'_>) -> bool {
        let count = self.constraints.len();
        for d in self.divisors(s) {
            let simplified = s.simplify(d);
            let Some(v) = s.arena.as_variable(simplified) else { continue };
            let bounds = self.bounds[v as usize];
            if bounds.lower != 0 && bounds.upper != 0 || bounds.is_point() {
                continue;
            }
            let known = s.info(d);
            s.record(|r, arena, ranges| r.keep_range(arena, ranges, d));
            if let Ok(Some(condition)) = s.arena.nonzero(d, known) {
                s.record_constraint(&CONDITION, (d, Interval::ALL), &[condition]);
                self.constraints.push(condition);
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
