//! Constraint propagation: each constraint is brought to normal form, turned into bounds if it is on a variable, and dropped
//! if the box implies it; bounds that it implies for variables tighten the box.
//!
//! Each law is a [`Row`] with its function: of one constraint by its operator, of a congruence beside others and on a
//! variable in `congruence.rs`, of all constraints together in `domain_simplifier.rs`. Adding a law adds a row.

mod congruence;
mod opened;
mod sum;

use crate::expr::{Expr, Tag};
use crate::interval::Interval;
use crate::simplify::law::{Group, Law};
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
    /// The place of each form among the kept constraints, filled once there are many.
    places: HashMap<Expr, usize>,
    /// Constraints that are still to be assumed.
    work: SmallVec<[Assumption; 4]>,
}

/// Up to so many kept constraints are searched one by one.
const SEARCHED: usize = 16;

/// `expr in interval`; an implied one only tightens bounds of variables.
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

    /// A constraint on a part of the expression follows.
    fn part(&self, expr: Expr, interval: Interval) -> Self {
        Assumption { expr, interval, whole: interval, implied: self.implied }
    }

    fn stated(&self) -> (Expr, Interval) {
        (self.expr, self.whole)
    }
}

/// A row: a law, and the function that applies it.
pub(crate) struct Row<F> {
    pub(crate) law: Law,
    pub(crate) function: F,
}

/// A law of one constraint: answers whether it took the whole constraint.
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

/// Applied wherever an expression already has an interval.
const MEET: Law =
    law("constraints-intersect", "any", "e in [a, b] and e in [c, d] = e in [max(a, c), min(b, d)]", "none");
/// Applied wherever the bounds of an expression are asked for.
const IMPLIED: Law = law("constraint-implied", "any", "e in [a, b] is true", "a <= u, v <= b, e in [u, v]");

static VARIABLES: [Row<Apply>; 1] = [Row { law: MEET, function: ConstraintPropagation::bounds_of_variable }];

/// The laws of all nodes but variables, before those of the operator.
static ANY: [Row<Apply>; 2] = [
    Row { law: IMPLIED, function: ConstraintPropagation::implied },
    Row {
        law: law("constraint-impossible", "any", "e in [a, b] is false", "v < a or b < u, e in [u, v]"),
        function: ConstraintPropagation::impossible,
    },
];

/// The laws of a constraint on a node of the operator, in the order in which they are tried.
fn rows_of(operator: Tag) -> impl Iterator<Item = &'static Row<Apply>> {
    let (first, then): (&'static [Row<Apply>], &'static [Row<Apply>]) = match operator {
        Tag::Variable => (&VARIABLES, &[]),
        Tag::Sum => (&ANY, &sum::SUMS),
        Tag::FloorDiv => (&ANY, &opened::QUOTIENTS),
        Tag::Min | Tag::Max => (&ANY, &opened::EXTREMA),
        Tag::Mod => (&ANY, &congruence::REMAINDERS),
        Tag::Product | Tag::Constant => (&ANY, &[]),
    };
    first.iter().chain(then)
}

/// All laws of one constraint, and of two about one expression.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    fn of<F>(rows: &'static [Row<F>]) -> impl Iterator<Item = Law> {
        rows.iter().map(|row| row.law)
    }
    let congruences =
        of(&congruence::REMAINDERS).chain(of(&congruence::PAIRS)).chain(of(&congruence::VARIABLES));
    let opened = of(&opened::QUOTIENTS).chain(of(&opened::EXTREMA));
    of(&VARIABLES).chain(of(&ANY)).chain(of(&sum::SUMS)).chain(opened).chain(congruences)
}

/// Whether the box implies `e in interval`, given the values of its simplified form `now`.
pub(crate) fn is_implied(s: &mut Simplifier<'_>, (e, interval): (Expr, Interval), now: Expr) -> bool {
    let implied = interval.covers(s.bounds(now));
    if implied {
        s.note_constraint(&IMPLIED, (e, interval), &[]);
    }
    implied
}

impl ConstraintPropagation {
    /// With these bounds so far, and room for so many constraints.
    pub(crate) fn new(bounds: Vec<Interval>, constraints: usize) -> Self {
        ConstraintPropagation {
            bounds,
            kept: Vec::with_capacity(constraints),
            changed: false,
            tightened: false,
            empty: false,
            places: HashMap::new(),
            work: SmallVec::new(),
        }
    }

    /// Take `e in interval` into the domain. `e` is simplified on the box. True where that is kept as it is.
    pub(crate) fn assume(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) -> bool {
        let kept = self.kept.len();
        self.assume_all(s, e, interval);
        self.kept.get(kept) == Some(&(e, interval))
    }

    /// Keeps a constraint that an earlier pass left as it is.
    pub(crate) fn keep_stable(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        if !self.joins_kept(s, e, interval) {
            self.push_kept(e, interval);
        }
    }

    fn assume_all(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        self.work.push(Assumption::new(e, interval));
        while let Some(a) = self.work.pop() {
            // The kept constraints of an empty domain, or after the budget is spent, are not used.
            if self.empty || !s.spend(1) {
                self.work.clear();
                return;
            }
            self.step(s, a);
        }
    }

    /// Applies the laws of constraints in order; keeps a constraint that none of them takes.
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
            s.note_constraint(law, a.stated(), &[]);
        }
        always
    }

    fn impossible(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        a.interval = a.interval.intersect(s.bounds(a.expr));
        if a.interval.is_empty() {
            s.note_constraint(law, a.stated(), &[(a.expr, a.interval)]);
            self.empty = true;
        }
        self.empty
    }

    fn tighten(&mut self, s: &mut Simplifier<'_>, variable: u32, interval: Interval) {
        let v = variable as usize;
        let new = self.bounds[v].intersect(interval);
        if new != self.bounds[v] && s.explains() {
            let x = s.arena.variable(variable);
            s.note_constraint(&MEET, (x, self.bounds[v]), &[(x, new)]);
        }
        self.empty |= new.is_empty();
        self.tightened |= new != self.bounds[v];
        self.changed |= self.tightened;
        self.bounds[v] = new;
    }

    fn keep(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        if !self.joins_kept(s, e, interval) {
            // The rest that a law leaves may have a cheaper form.
            self.changed |= s.simplify(e) != e;
            self.push_kept(e, interval);
        }
    }

    /// Intersects the interval with that of the same expression, if one is kept.
    fn joins_kept(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) -> bool {
        let Some(k) = self.place_of(e) else { return false };
        let known = self.kept[k].1;
        let both = known.intersect(interval);
        if known != both {
            s.note_constraint(&MEET, (e, known), &[(e, both)]);
            self.changed = true;
        }
        self.kept[k].1 = both;
        self.empty |= both.is_empty();
        true
    }

    fn place_of(&mut self, e: Expr) -> Option<usize> {
        if self.kept.len() <= SEARCHED {
            return self.kept.iter().position(|(k, _)| *k == e);
        }
        if self.places.is_empty() {
            self.places.extend(self.kept.iter().enumerate().map(|(k, (e, _))| (*e, k)));
        }
        self.places.get(&e).copied()
    }

    fn push_kept(&mut self, e: Expr, interval: Interval) {
        if !self.places.is_empty() {
            self.places.insert(e, self.kept.len());
        }
        self.kept.push((e, interval));
    }

    fn remove_kept(&mut self, k: usize) {
        self.places.clear();
        self.kept.remove(k);
    }
}
