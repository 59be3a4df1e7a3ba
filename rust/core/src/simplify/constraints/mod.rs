//! Constraint propagation: each constraint is brought to normal form, turned into bounds if it is on a variable, and dropped
//! if the box implies it. Bounds that it implies for variables tighten the box.
//!
//! Each law is a [`Row`] with its function. Laws of one constraint are listed by its operator, laws of two congruences, and
//! of a congruence on a variable, in `congruence.rs`, laws of all constraints together in `domain_simplifier.rs`.

mod congruence;
mod operators;
mod sum;

use crate::expr::{Expr, Tag};
use crate::interval::Interval;
use crate::simplify::law::{laws_of, Group, Law, Row};
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;
use std::collections::HashMap;

/// One pass over the constraints.
pub(crate) struct ConstraintPropagation {
    pub(crate) bounds: Vec<Interval>,
    pub(crate) kept: Vec<(Expr, Interval)>,
    /// Whether another pass over the kept constraints may do more.
    pub(crate) changed: bool,
    /// Whether bounds of variables changed.
    pub(crate) tightened: bool,
    pub(crate) empty: bool,
    /// The index of each form in `kept`, if there are many.
    indices: HashMap<Expr, usize>,
    /// Constraints that are still to be assumed.
    work: SmallVec<[Assumption; 4]>,
}

/// Room for at least this many constraints: the memory is reused for the next domain.
const MIN_ROOM: usize = 8;
/// The maximal number of kept constraints that are searched one by one.
const MAX_SEARCHED: usize = 16;

/// `expr in interval`. An assumption that follows from a kept constraint only tightens bounds of variables.
struct Assumption {
    expr: Expr,
    interval: Interval,
    /// The interval as it was stated.
    whole: Interval,
    implied: bool,
}

impl Assumption {
    fn new(expr: Expr, interval: Interval) -> Self {
        Assumption { expr, interval, whole: interval, implied: false }
    }

    /// A constraint on an operand that follows from this one.
    fn part(&self, expr: Expr, interval: Interval) -> Self {
        Assumption { expr, interval, whole: interval, implied: self.implied }
    }

    fn stated(&self) -> (Expr, Interval) {
        (self.expr, self.whole)
    }
}

/// A law of one constraint; returns whether the constraint needs no further processing.
type Apply = fn(&mut ConstraintPropagation, &mut Simplifier<'_>, &mut Assumption, &Law) -> bool;

/// A law of constraints: see [`Law`].
pub(crate) const fn law(
    name: &'static str,
    family: &'static str,
    law: &'static str,
    precondition: &'static str,
) -> Law {
    Law::new(Group::Constraint, name, family, law, precondition).on_domain()
}

/// Applied whenever an expression already has an interval.
pub(crate) const INTERSECT: Law =
    law("constraints-intersect", "any", "e in [a, b] and e in [c, d] = e in [max(a, c), min(b, d)]", "none");
/// Applied whenever a constraint is compared with the bounds of its expression.
const IMPLIED: Law = law("constraint-implied", "any", "e in [a, b] is true", "a <= u, v <= b, e in [u, v]");

/// Applied whenever an expression cannot have such a value.
pub(crate) const IMPOSSIBLE: Law =
    law("constraint-impossible", "any", "e in [a, b] is false", "v < a or b < u, e in [u, v]");

static VARIABLES: [Row<Apply>; 1] = [row!(INTERSECT => ConstraintPropagation::bounds_of_variable)];

/// The laws of all nodes except variables, applied before those of the operator.
static ANY: [Row<Apply>; 2] =
    [row!(IMPLIED => ConstraintPropagation::implied), row!(IMPOSSIBLE => ConstraintPropagation::impossible)];

/// The laws of a constraint on a node with this operator, in the order in which they are tried.
fn rows_of(operator: Tag) -> impl Iterator<Item = &'static Row<Apply>> {
    let (first, then): (&'static [Row<Apply>], &'static [Row<Apply>]) = match operator {
        Tag::Variable => (&VARIABLES, &[]),
        Tag::Sum => (&ANY, &sum::SUMS),
        Tag::FloorDiv => (&ANY, &operators::QUOTIENTS),
        Tag::Min | Tag::Max => (&ANY, &operators::EXTREMA),
        Tag::Mod => (&ANY, &congruence::REMAINDERS),
        Tag::Product | Tag::Constant => (&ANY, &[]),
    };
    first.iter().chain(then)
}

/// All laws of one constraint, and of two about one expression.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    use self::{congruence as c, operators as o};
    let congruences = laws_of(&c::REMAINDERS).chain(laws_of(&c::PAIRS)).chain(laws_of(&c::VARIABLES));
    let operators = laws_of(&o::QUOTIENTS).chain(laws_of(&o::EXTREMA));
    laws_of(&VARIABLES).chain(laws_of(&ANY)).chain(laws_of(&sum::SUMS)).chain(operators).chain(congruences)
}

/// Whether the box implies `e in interval`; `simplified` is the simplified form of `e`.
pub(crate) fn is_implied(s: &mut Simplifier<'_>, (e, interval): (Expr, Interval), simplified: Expr) -> bool {
    let implied = interval.covers(s.bounds(simplified));
    if implied {
        s.reason(simplified);
        s.record_constraint(&IMPLIED, (e, interval), &[]);
    }
    implied
}

impl ConstraintPropagation {
    /// A pass that starts with these bounds, with capacity for so many constraints.
    pub(crate) fn new(bounds: Vec<Interval>, constraints: usize) -> Self {
        ConstraintPropagation {
            bounds,
            kept: Vec::with_capacity(constraints.max(MIN_ROOM)),
            changed: false,
            tightened: false,
            empty: false,
            indices: HashMap::new(),
            work: SmallVec::new(),
        }
    }

    /// Adds `e in interval` to the domain; `e` is simplified on the box. Returns whether the constraint is kept unchanged.
    pub(crate) fn assume(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) -> bool {
        let kept = self.kept.len();
        self.assume_all(s, e, interval);
        self.kept.get(kept) == Some(&(e, interval))
    }

    /// Whether a kept congruence has the same dividend as this one, so that both are merged.
    pub(crate) fn merges(&self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) -> bool {
        let Some((x, _)) = s.arena.as_mod(e).filter(|_| interval.is_point()) else { return false };
        s.arena.charge(self.kept.len() / 2);
        let is_like = |k: Expr| k != e && s.arena.as_mod(k).is_some_and(|(y, _)| y == x);
        self.kept.iter().any(|(k, value)| value.is_point() && is_like(*k))
    }

    /// Keeps a constraint that earlier passes left unchanged.
    pub(crate) fn keep_stable(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        if !self.intersect_kept(s, e, interval) {
            self.push_kept(e, interval);
        }
    }

    fn assume_all(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        self.work.push(Assumption::new(e, interval));
        while let Some(a) = self.work.pop() {
            // If the domain is empty or the budget exhausted, the kept constraints are not used.
            if self.empty || !s.spend(1) {
                self.work.clear();
                return;
            }
            self.step(s, a);
        }
    }

    /// Applies the laws of the constraint in order; keeps it if none of them is the last word.
    fn step(&mut self, s: &mut Simplifier<'_>, mut a: Assumption) {
        if rows_of(s.arena.tag(a.expr)).any(|row| (row.function)(self, s, &mut a, &row.law)) {
            return;
        }
        if !a.implied {
            self.keep(s, a.expr, a.interval);
        }
    }

    fn bounds_of_variable(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, _: &Law) -> bool {
        let variable = s.arena.as_variable(a.expr);
        variable.map(|v| self.tighten(s, v, a.interval)).is_some()
    }

    fn implied(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let always = a.interval.covers(s.bounds(a.expr));
        if always && !a.implied {
            s.record_constraint(law, a.stated(), &[]);
        }
        always
    }

    fn impossible(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        a.interval = a.interval.intersect(s.bounds(a.expr));
        if a.interval.is_empty() {
            s.record_constraint(law, a.stated(), &[(a.expr, a.interval)]);
            self.empty = true;
        }
        self.empty
    }

    fn tighten(&mut self, s: &mut Simplifier<'_>, variable: u32, interval: Interval) {
        let v = variable as usize;
        let new = self.bounds[v].intersect(interval);
        if new != self.bounds[v] && s.records_steps() {
            let x = s.arena.variable(variable);
            s.record_intersection(&INTERSECT, x, [self.bounds[v], interval]);
        }
        self.empty |= new.is_empty();
        self.tightened |= new != self.bounds[v];
        self.changed |= self.tightened;
        self.bounds[v] = new;
    }

    fn keep(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        if !self.intersect_kept(s, e, interval) {
            // The constraint that remains after a law may have a cheaper form.
            self.changed |= s.simplify(e) != e;
            s.record(|r, arena, ranges| r.keep_constraint(arena, ranges, (e, interval)));
            self.push_kept(e, interval);
        }
    }

    /// Intersects the interval with that of the same expression, if one is kept.
    fn intersect_kept(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) -> bool {
        let Some(k) = self.index_of(e) else { return false };
        let known = self.kept[k].1;
        let both = known.intersect(interval);
        if known != both {
            s.record_intersection(&INTERSECT, e, [known, interval]);
            self.changed = true;
        }
        self.kept[k].1 = both;
        self.empty |= both.is_empty();
        true
    }

    fn index_of(&mut self, e: Expr) -> Option<usize> {
        if self.kept.len() <= MAX_SEARCHED {
            return self.kept.iter().position(|(k, _)| *k == e);
        }
        if self.indices.is_empty() {
            self.indices.extend(self.kept.iter().enumerate().map(|(k, (e, _))| (*e, k)));
        }
        self.indices.get(&e).copied()
    }

    fn push_kept(&mut self, e: Expr, interval: Interval) {
        if !self.indices.is_empty() {
            self.indices.insert(e, self.kept.len());
        }
        self.kept.push((e, interval));
    }

    fn remove_kept(&mut self, k: usize) {
        self.indices.clear();
        self.kept.remove(k);
    }
}
