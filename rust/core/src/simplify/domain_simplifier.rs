//! Simplification of a domain (a box of variables, and constraints) together with results on it.
//!
//! Constraints come first. Each is simplified on the box and brought to a normal form without constant, content and outer
//! floordiv. A constraint on a variable becomes its bounds, one that the box implies is dropped, and bounds that constraints
//! imply for variables tighten the box, until nothing changes. Then results are simplified, with the constraints as facts.

use crate::expr::{Arena, Expr, Node, Tag, Term};
use crate::interval::Interval;
use crate::simplify::certificate::Certificate;
use crate::simplify::conditions::CONDITION;
use crate::simplify::constraints::{is_implied, law, ConstraintPropagation, INTERSECT};
use crate::simplify::contradiction;
use crate::simplify::domain::{DomainSimplifier, Effort, PointVariables};
use crate::simplify::facts::{normal_form, EqualVariables};
use crate::simplify::law::{Law, Row};
use crate::simplify::recorder::Recorder;
use crate::simplify::simplifier::{Scratch, Simplifier, Status};
use crate::simplify::stable_constraints::StableConstraints;
use smallvec::SmallVec;
use std::iter::once;

/// The outcome of [`DomainSimplifier::simplify`].
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether the budget sufficed.
    pub status: Status,
    /// Whether the domain was found to have no points; the results are then not simplified.
    pub empty: bool,
    /// The certificate, if it was requested.
    pub certificate: Certificate,
}

/// The maximal number of rounds of tightening, beyond which the domain is left as it was stated.
const MAX_ROUNDS: usize = 256;
/// The interval of rounds at which constraints are compared with each other although bounds still change.
const COMPARISON_INTERVAL: usize = 4;
/// The maximal number of constraints that are simplified with each other as facts.
const MAX_COMPARED_CONSTRAINTS: usize = 12;

/// Inputs of fewer nodes and operands are not measured.
const MIN_MEASURED_SIZE: usize = 500;

/// A law of the whole domain; returns whether it changed a constraint.
type Apply = fn(&mut DomainSimplifier, &mut Simplifier<'_>, &Law) -> bool;
/// A law of one constraint, given by its index, and all others; returns whether the constraint always holds.
type ApplyToOne = fn(&mut DomainSimplifier, &mut Simplifier<'_>, usize, &Law) -> bool;

/// The laws of all constraints together.
static TOGETHER: [Row<Apply>; 1] =
    [row!("constraint-equates", "sum": "f(y) = f(x)" if "x - y = 0" => DomainSimplifier::equate_variables)];

/// The laws of each constraint and all others.
static EACH: [Row<ApplyToOne>; 1] = [row!("constraint-solved", "sum": "v = s * (c - r)"
        if "r + s * v = c, s = 1 or s = -1" => DomainSimplifier::holds_by_substitution)];

/// All laws of this file.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    let whole = TOGETHER.iter().map(|row| row.law);
    once(CONDITION).chain(whole).chain(EACH.iter().map(|row| row.law)).chain(contradiction::laws())
}

/// The changes that a round of tightening made.
enum Round {
    Changed,
    Unchanged,
    Empty,
}

impl DomainSimplifier {
    /// Simplifies constraints and results; preserves the domain, and the values of the results on it.
    pub fn simplify(&mut self, arena: &mut Arena, scratch: &mut Scratch) -> Outcome {
        self.run(arena, scratch, false)
    }

    /// As [`DomainSimplifier::simplify`], recording a certificate.
    pub fn certify(&mut self, arena: &mut Arena, scratch: &mut Scratch) -> Outcome {
        self.run(arena, scratch, true)
    }

    fn run(&mut self, arena: &mut Arena, scratch: &mut Scratch, certify: bool) -> Outcome {
        if self.bounds.iter().any(|b| b.is_empty()) {
            return Outcome { status: Status::Complete, empty: true, certificate: Certificate::default() };
        }
        let mut s = self.start(arena, scratch, certify);
        let empty = self.simplifies_to_nothing(&mut s);
        self.record_domain(&mut s, Recorder::keep_stated);
        Outcome { status: s.status(), empty, certificate: s.take_certificate() }
    }

    /// A simplifier with the budget of this domain, that knows its bounds.
    fn start<'a>(&self, arena: &'a mut Arena, scratch: &'a mut Scratch, certify: bool) -> Simplifier<'a> {
        let size = self.size(arena);
        let mut s = Simplifier::new(arena, scratch);
        s.set_domain_budget(size);
        if certify {
            s.record_steps();
        }
        s.start_on(self.visible_bounds());
        self.record_domain(&mut s, Recorder::give);
        s
    }

    /// Simplifies the domain, then the results; true if the domain was found to have no points.
    fn simplifies_to_nothing(&mut self, s: &mut Simplifier<'_>) -> bool {
        let mut stated = Vec::new();
        self.state_conditions(s, &mut stated);
        let empty = self.tightens_to_nothing(s);
        s.add_result_budget();
        if empty {
            return true;
        }
        if s.arena.divides_by_expressions {
            return self.restates_to_nothing(s, &mut stated);
        }
        self.simplify_results(s);
        false
    }

    /// Simplifies the results, and both again for as long as there are conditions to state; true if there are no points.
    fn restates_to_nothing(&mut self, s: &mut Simplifier<'_>, stated: &mut Vec<Expr>) -> bool {
        let given = self.results.clone();
        loop {
            self.simplify_results(s);
            if s.status() != Status::Complete || !self.restates_conditions(s, stated) {
                return false;
            }
            self.results.clone_from(&given);
            if self.tightens_to_nothing(s) {
                return true;
            }
        }
    }

    /// Drops and tightens constraints; true if the domain was found to have no points.
    fn tightens_to_nothing(&mut self, s: &mut Simplifier<'_>) -> bool {
        self.drop_implied(s, &StableConstraints::default());
        (!self.constraints.is_empty() && self.propagate_constraints(s)) || self.divides_by_zero(s)
    }

    /// Simplifies the results on the domain.
    fn simplify_results(&mut self, s: &mut Simplifier<'_>) {
        s.record(|recorder, _, _| recorder.start_results());
        for r in &mut self.results {
            let given = *r;
            *r = match self.options.effort {
                Effort::Default => s.simplify_result(given),
                Effort::Search => s.search_result(given),
            };
            s.record(|recorder, _, _| recorder.result(given, *r));
        }
    }

    /// States conditions on divisors that constraints implied until they were tightened; returns whether there are any.
    fn restates_conditions(&mut self, s: &mut Simplifier<'_>, stated: &mut Vec<Expr>) -> bool {
        s.start_on(self.visible_bounds()); // facts would imply their own conditions
        self.state_conditions(s, stated)
    }

    /// Records the bounds and constraints as they are now.
    fn record_domain(&self, s: &mut Simplifier<'_>, record: fn(&mut Recorder, Expr, Interval)) {
        s.record(|r, arena, _| {
            for (v, interval) in self.bounds.iter().enumerate() {
                record(r, arena.variable(v as u32), *interval);
            }
            self.constraints.iter().for_each(|(e, interval)| record(r, *e, *interval));
        });
    }

    /// The number of nodes and operands in the arena.
    fn size(&self, arena: &mut Arena) -> usize {
        let stated = arena.size() + self.bounds.len();
        if stated < MIN_MEASURED_SIZE {
            return stated;
        }
        let mut roots = self.results.clone();
        roots.extend(self.constraints.iter().map(|(e, _)| *e));
        let nodes = arena.post_order(&roots);
        nodes.into_iter().map(|e| 1 + arena.operand_count(e)).sum::<usize>() + self.bounds.len()
    }

    /// The bounds that the rules use: a variable with one value that must be kept gets a second one.
    pub(crate) fn visible_bounds(&self) -> impl Iterator<Item = Interval> + '_ {
        let keep = self.options.points == PointVariables::Keep;
        self.bounds.iter().map(move |b| match b {
            b if keep && b.is_point() && b.upper < i64::MAX => Interval::new(b.lower, b.upper + 1),
            b => *b,
        })
    }

    /// Drops constraints that the box implies, as it implies most constraints of composed maps, before they are simplified.
    fn drop_implied(&mut self, s: &mut Simplifier<'_>, stable: &StableConstraints) {
        self.constraints
            .retain(|&(e, interval)| stable.holds(e, interval) || !is_implied(s, (e, interval), e));
    }

    /// Tightens until nothing changes; true if the domain was found to have no points.
    fn propagate_constraints(&mut self, s: &mut Simplifier<'_>) -> bool {
        let bounds: SmallVec<[Interval; 8]> = SmallVec::from_slice(&self.bounds);
        let mut stated = Vec::new();
        let mut stable = StableConstraints::default();
        self.sort_constraints(s);
        self.intersect_equal(s);
        for round in 1..=MAX_ROUNDS {
            let given = std::mem::take(&mut self.constraints);
            let before: SmallVec<[Interval; 8]> = SmallVec::from_slice(&self.bounds);
            let done = self.tighten(s, &given, round % COMPARISON_INTERVAL == 0, &mut stable);
            if round == 1 {
                stated = given;
            }
            match done {
                Round::Empty => return true,
                _ if s.status() == Status::BudgetExhausted => break,
                Round::Unchanged => return self.has_no_points(s),
                Round::Changed => {}
            }
            stable.end_round(s.arena, &before, &self.bounds);
            s.start_on(self.visible_bounds());
            self.drop_implied(s, &stable);
            if self.constraints.is_empty() {
                return false;
            }
        }
        // Bounds that change by little in each round are restored: they would change again in the next call.
        s.set_exhausted();
        self.bounds.copy_from_slice(&bounds);
        self.constraints = stated;
        self.restate_facts(s, None);
        false
    }

    /// Makes one pass over the constraints. If it changes nothing, or `compare` is set, also uses them on each other.
    fn tighten(
        &mut self,
        s: &mut Simplifier<'_>,
        given: &[(Expr, Interval)],
        compare: bool,
        stable: &mut StableConstraints,
    ) -> Round {
        let mut pass = ConstraintPropagation::new(std::mem::take(&mut self.bounds), given.len());
        for &(stated, interval) in given {
            if stable.holds(stated, interval) && !pass.merges(s, stated, interval) {
                pass.keep_stable(s, stated, interval);
                continue;
            }
            s.release(0);
            let e = s.simplify(stated);
            s.record(|r, arena, ranges| r.substituted(arena, ranges, [stated, e], interval));
            if pass.assume(s, e, interval) && e == stated {
                stable.add(e, interval);
            }
            if pass.empty {
                break;
            }
        }
        self.bounds = pass.bounds;
        if pass.empty {
            return Round::Empty;
        }
        let (changed, tightened) = (pass.changed, pass.tightened);
        self.constraints = pass.kept;
        if self.constraints.is_empty() && !changed {
            return Round::Unchanged; // derived knowledge remains valid
        }
        let equal = self.constraints == given;
        if !equal {
            self.sort_constraints(s);
        }
        let same = !changed || (!tightened && (equal || self.constraints == given));
        if !same && !compare {
            return Round::Changed;
        }
        if TOGETHER.iter().any(|row| (row.function)(self, s, &row.law)) || self.simplify_by_each_other(s) {
            self.sort_constraints(s);
            return Round::Changed;
        }
        if !same {
            return Round::Changed;
        }
        self.restate_facts(s, None);
        Round::Unchanged
    }

    /// Sorts constraints by their expressions.
    pub(crate) fn sort_constraints(&mut self, s: &Simplifier<'_>) {
        self.constraints.sort_by(|a, b| s.arena.compare(a.0, b.0));
    }

    /// Intersects the intervals of equal expressions, which follow one another.
    fn intersect_equal(&mut self, s: &mut Simplifier<'_>) {
        self.constraints.dedup_by(|later, first| {
            let is_equal = later.0 == first.0;
            if is_equal {
                s.record_intersection(&INTERSECT, first.0, [first.1, later.1]);
                first.1 = first.1.intersect(later.1);
            }
            is_equal
        });
    }

    /// Simplifies each constraint with the others as facts; true if one became cheaper.
    fn simplify_by_each_other(&mut self, s: &mut Simplifier<'_>) -> bool {
        let count = self.constraints.len();
        if !(2..=MAX_COMPARED_CONSTRAINTS).contains(&count) {
            return false;
        }
        for k in 0..count {
            if s.is_spent() {
                return false;
            }
            let (e, interval) = self.constraints[k];
            let simplifies = |j: usize| j != k && self.may_simplify(s, j, e);
            if !(0..count).any(simplifies) {
                continue;
            }
            self.restate_facts(s, Some(k));
            let new = s.simplify(e);
            let equality = s.equality(e, new);
            let implied = is_implied(s, (e, interval), new);
            if implied || EACH.iter().any(|row| (row.function)(self, s, k, &row.law)) {
                self.constraints.remove(k);
                return true;
            }
            if new != e && s.cost(new) < s.cost(e) {
                s.record(|r, arena, ranges| {
                    r.restore_equality(e, new, equality);
                    r.substituted(arena, ranges, [e, new], interval);
                });
                self.constraints[k] = (new, interval);
                return true;
            }
        }
        false
    }

    /// Whether constraint `k`, as a fact, may simplify `e`. An equality may add its variables to `e`; the expression of any
    /// other constraint must be part of `e`.
    fn may_simplify(&self, s: &Simplifier<'_>, k: usize, e: Expr) -> bool {
        let (form, value) = self.constraints[k];
        match value.is_point() && s.arena.tag(form) == Tag::Sum {
            true => s.arena.may_share_variables(form, e),
            false => s.arena.may_use_variables_of(e, form),
        }
    }

    /// Whether constraint `k` always holds after a variable is replaced by what it equals by another constraint.
    fn holds_by_substitution(&mut self, s: &mut Simplifier<'_>, k: usize, law: &Law) -> bool {
        let (e, interval) = self.constraints[k];
        for (j, (form, value)) in self.constraints.iter().enumerate() {
            if j == k || !value.is_point() {
                continue;
            }
            if s.is_spent() {
                return false;
            }
            let Some((variable, equal)) = solved_variable(s, *form, value.lower) else { continue };
            s.start_on(self.visible_bounds());
            let Ok(replaced) = s.arena.replace_variable(e, variable, equal) else { continue };
            let new = s.simplify(replaced);
            if new != e && interval.covers(s.bounds(new)) {
                s.reason_stated(*form, *value);
                s.record_constraint(law, (e, interval), &[(replaced, interval)]);
                return is_implied(s, (replaced, interval), new);
            }
        }
        false
    }

    pub(crate) fn restate_facts(&self, s: &mut Simplifier<'_>, except: Option<usize>) {
        s.start_on(self.visible_bounds());
        self.state_facts(s, except);
    }

    fn state_facts(&self, s: &mut Simplifier<'_>, except: Option<usize>) {
        for (k, (e, interval)) in self.constraints.iter().enumerate() {
            if Some(k) == except {
                continue;
            }
            s.ranges.facts.ranges.insert(*e, *interval);
            s.ranges.facts.variables |= s.arena.variables_of(*e);
            if s.arena.tag(*e) == Tag::Sum {
                s.ranges.facts.linear.push((*e, *interval));
                s.ranges.facts.has_digits |= !s.arena.is_linear(*e);
                s.ranges.facts.has_equalities |= interval.is_point();
                if let Some((x, y)) = s.arena.equal_variables(*e, *interval) {
                    s.ranges.facts.equal_variables.unite(s.arena, x, y);
                }
                if let Some((atom, equal)) = solved_atom(s, *e, *interval) {
                    s.ranges.facts.equal.insert(atom, equal);
                }
            } else {
                s.ranges.facts.has_atoms = true;
            }
            if let Some((x, m)) = s.arena.as_mod(*e) {
                if interval.is_point() {
                    self.state_congruence(s, x, m, interval.lower);
                }
            }
        }
        s.ranges.invalidate();
    }

    fn state_congruence(&self, s: &mut Simplifier<'_>, x: Expr, m: i64, r: i64) {
        let Some((form, factor, offset)) = normal_form(s.arena, x) else { return };
        if (factor, offset) != (1, 0) {
            return;
        }
        if let Some(v) = s.arena.as_variable(form) {
            s.ranges.state_variable_congruence(v, m, r);
        } else {
            s.ranges.facts.has_atoms |= s.arena.tag(form) != Tag::Sum;
            s.ranges.facts.congruences.insert(form, (m, r));
        }
    }

    /// Substitutes equal variables: for `x - y = 0`, replaces `y` by `x` in the other constraints. Returns whether one
    /// changed. Handles all pairs at once: each class of equal variables is represented by its first one, and each other one
    /// remains in a single constraint.
    fn equate_variables(&mut self, s: &mut Simplifier<'_>, law: &Law) -> bool {
        let mut equal = EqualVariables::default();
        let own: SmallVec<[Option<Expr>; 8]> = self
            .constraints
            .iter()
            .map(|(form, value)| {
                let (x, y) = s.arena.equal_variables(*form, *value)?;
                equal.unite(s.arena, x, y)
            })
            .collect();
        if equal.is_empty() {
            return false;
        }
        let stated = |c: &&(Expr, Interval)| s.arena.equal_variables(c.0, c.1).is_some();
        let equalities: Vec<_> = match s.records_steps() {
            true => self.constraints.iter().filter(stated).copied().collect(),
            false => Vec::new(),
        };
        let mut changed = false;
        for (constraint, own) in self.constraints.iter_mut().zip(own) {
            let (e, interval) = *constraint;
            let first = |v: Expr| if Some(v) == own { None } else { equal.representative(v) };
            match s.arena.replace_variables(e, first) {
                Ok(new) if new != e => {
                    let others: Vec<_> = equalities.iter().filter(|c| c.0 != e).copied().collect();
                    s.record(|r, arena, _| r.use_replaced(arena, e, &others, first));
                    s.record_constraint(law, (e, interval), &[(new, interval)]);
                    constraint.0 = new;
                    changed = true;
                }
                _ => {}
            }
        }
        changed
    }
}

/// `(v, x)` with `v = x` for a variable with coefficient 1 or -1 in `form = value`; the last such variable.
fn solved_variable(s: &mut Simplifier<'_>, form: Expr, value: i64) -> Option<(Expr, Expr)> {
    let Node::Sum(_, terms) = s.arena.node(form) else { return None };
    let unit = |t: &&Term| (t.coeff == 1 || t.coeff == -1) && s.arena.as_variable(t.expr).is_some();
    let t = *terms.iter().rev().find(unit)?;
    solve(s, form, value, t)
}

/// `(a, x)` with `a = x` for a quotient, remainder, minimum or maximum in `form = value` that costs more than all else.
fn solved_atom(s: &mut Simplifier<'_>, form: Expr, value: Interval) -> Option<(Expr, Expr)> {
    if !value.is_point() {
        return None;
    }
    let Node::Sum(_, terms) = s.arena.node(form) else { return None };
    let unit = |t: &&Term| (t.coeff == 1 || t.coeff == -1) && s.arena.as_variable(t.expr).is_none();
    let t = *terms.iter().find(unit)?;
    let (atom, equal) = solve(s, form, value.lower, t)?;
    (s.cost(equal) < s.cost(atom)).then_some((atom, equal))
}

fn solve(s: &mut Simplifier<'_>, form: Expr, value: i64, t: Term) -> Option<(Expr, Expr)> {
    // form = value, so t.expr = t.coeff * (value - (form - t)), because the coefficient is 1 or -1.
    let rest = s.arena.combine(form, -1, t.expr, t.coeff).ok()?;
    let rest = s.arena.offset(rest, value).ok()?;
    Some((t.expr, s.arena.scale(rest, t.coeff).ok()?))
}
