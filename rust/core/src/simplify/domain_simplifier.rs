//! Simplification on a domain: of a box of variables, constraints and results together.
//!
//! Constraints first: each is simplified on the box, brought to a normal form (no constant, no content, no outer
//! floordiv), turned into bounds of variables where it is one, dropped where the box implies it; what it implies for
//! variables tightens their bounds, until nothing changes. Then the results, with the constraints as facts.

use crate::expr::{Arena, Expr, Node, Tag, Term};
use crate::interval::Interval;
use crate::simplify::constraints::{is_implied, law, ConstraintPropagation, Row};
use crate::simplify::domain::{DomainSimplifier, PointVariables};
use crate::simplify::facts::{normal_form, EqualVariables};
use crate::simplify::law::Law;
use crate::simplify::preimage::shifted_back;
use crate::simplify::simplifier::{Scratch, Simplifier, Status};
use crate::simplify::stable_constraints::StableConstraints;
use crate::simplify::trace::Step;
use smallvec::SmallVec;
use std::collections::HashMap;

/// The outcome of [`DomainSimplifier::simplify`].
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether the budget sufficed.
    pub status: Status,
    /// Whether the domain was found to have no points; simplification then stopped halfway.
    pub empty: bool,
    /// The steps, where they were asked for.
    pub steps: Vec<Step>,
}

/// Rounds of tightening before the domain is left as it was stated.
const ROUNDS: usize = 256;
/// Every so many rounds constraints are compared with each other even though bounds still move.
const COMPARISON_INTERVAL: usize = 4;
/// With more constraints than this, they are not simplified with each other as facts.
const CONSTRAINTS_COMPARED: usize = 12;

/// The intervals of constraints by expression.
#[derive(Default)]
struct Stated(HashMap<Expr, Interval>);

impl Stated {
    fn add(&mut self, (e, interval): (Expr, Interval)) {
        self.0.entry(e).and_modify(|i| *i = i.intersect(interval)).or_insert(interval);
    }

    /// Whether the constraint is stated, as it is or in normal form, or a stronger one of the same expression.
    fn implies(&self, arena: &mut Arena, (e, interval): (Expr, Interval)) -> bool {
        let Some((form, factor, offset)) = normal_form(arena, e) else { return false };
        let Some(inner) = shifted_back(interval, offset) else { return false };
        let says =
            |e: &Expr, interval: Interval| self.0.get(e).is_some_and(|stated| interval.covers(*stated));
        says(&form, inner.quotient_by(factor)) || says(&e, interval)
    }
}

/// Inputs of fewer nodes and operands are not measured.
const SMALL: usize = 500;

/// A law of the whole domain: answers whether it changed a constraint.
type Apply = fn(&mut DomainSimplifier, &mut Simplifier<'_>, &Law) -> bool;
/// A law of one constraint beside all others: it has the place, and answers whether the constraint always holds.
type ApplyToOne = fn(&mut DomainSimplifier, &mut Simplifier<'_>, usize, &Law) -> bool;

/// The laws by which conditions are stated, before all others.
static CONDITIONS: [Row<Apply>; 1] = [Row {
    law: law("constraint-divisor", "floordiv, mod", "x / y or x % y is defined = y in [1, oo] if y >= 0, y in [-oo, -1] if y <= 0, else max(y, -y) in [1, oo]", "none"),
    function: DomainSimplifier::state_conditions,
}];

/// The laws of all constraints together.
static TOGETHER: [Row<Apply>; 1] = [Row {
    law: law("constraint-equates", "sum", "f(y) = f(x)", "x - y = 0"),
    function: DomainSimplifier::equate_variables,
}];

/// The laws of each constraint beside the others.
static EACH: [Row<ApplyToOne>; 1] = [Row {
    law: law("constraint-solved", "sum", "v = s * (c - r)", "r + s * v = c, s = 1 or s = -1"),
    function: DomainSimplifier::holds_by_substitution,
}];

/// The laws of all constraints together.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    let whole = CONDITIONS.iter().chain(&TOGETHER).map(|row| row.law);
    whole.chain(EACH.iter().map(|row| row.law))
}

/// The changes that a round of tightening made.
enum Round {
    Moved,
    Unchanged,
    Empty,
}

impl DomainSimplifier {
    /// Simplifies constraints and results; preserves the domain, and the values of the results on it.
    pub fn simplify(&mut self, arena: &mut Arena, scratch: &mut Scratch) -> Outcome {
        self.run(arena, scratch, false)
    }

    /// As [`DomainSimplifier::simplify`], recording the steps.
    pub fn explain(&mut self, arena: &mut Arena, scratch: &mut Scratch) -> Outcome {
        self.run(arena, scratch, true)
    }

    fn run(&mut self, arena: &mut Arena, scratch: &mut Scratch, explain: bool) -> Outcome {
        if self.bounds.iter().any(|b| b.is_empty()) {
            return Outcome { status: Status::Complete, empty: true, steps: Vec::new() };
        }
        let size = self.size(arena);
        let mut s = Simplifier::new(arena, scratch);
        s.allow(size);
        if explain {
            s.record_steps();
        }
        s.start_on(self.visible_bounds());
        for row in &CONDITIONS {
            (row.function)(self, &mut s, &row.law);
        }
        self.drop_implied(&mut s, &StableConstraints::default());
        let empty = !self.constraints.is_empty() && self.propagate_constraints(&mut s);
        if !empty {
            s.allow_rest();
            for r in &mut self.results {
                *r = s.finish(*r);
            }
        }
        Outcome { status: s.status(), empty, steps: s.take_steps() }
    }

    /// The number of nodes and operands in the arena.
    fn size(&self, arena: &mut Arena) -> usize {
        let stated = arena.size() + self.bounds.len();
        if stated < SMALL {
            return stated;
        }
        let mut roots = self.results.clone();
        roots.extend(self.constraints.iter().map(|(e, _)| *e));
        let nodes = arena.post_order(&roots);
        nodes.into_iter().map(|e| 1 + arena.operand_count(e)).sum::<usize>() + self.bounds.len()
    }

    /// States that no divisor is 0.
    fn state_conditions(&mut self, s: &mut Simplifier<'_>, law: &Law) -> bool {
        let roots = self.results.iter().copied().chain(self.constraints.iter().map(|c| c.0));
        let divisors = s.arena.divisors(roots);
        if divisors.is_empty() {
            return false;
        }
        let before = self.constraints.len();
        s.arena.charge(self.constraints.len());
        let mut stated = Stated::default();
        self.constraints.iter().for_each(|c| stated.add(*c));
        for d in divisors {
            let bounds = s.bounds(d);
            // The rules find nothing beyond int64 either.
            let Ok(Some(condition)) = s.arena.nonzero(d, bounds) else { continue };
            let twin = s.arena.nonzero_as_minimum(d);
            if !stated.implies(s.arena, condition) && !twin.is_ok_and(|twin| stated.implies(s.arena, twin)) {
                s.note_constraint(law, (d, Interval::ALL), &[condition]);
                self.constraints.push(condition);
                stated.add(condition);
            }
        }
        self.constraints.len() > before
    }

    /// The bounds as the rules see them: a variable that is to be kept gets a second value.
    fn visible_bounds(&self) -> impl Iterator<Item = Interval> + '_ {
        let keep = self.points == PointVariables::Keep;
        self.bounds.iter().map(move |b| match b {
            b if keep && b.is_point() && b.upper < i64::MAX => Interval::new(b.lower, b.upper + 1),
            b => *b,
        })
    }

    /// Drops constraints that the box implies, as most of composed maps, before simplification.
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
        for round in 1..=ROUNDS {
            let given = std::mem::take(&mut self.constraints);
            let before: SmallVec<[Interval; 8]> = SmallVec::from_slice(&self.bounds);
            let done = self.tighten(s, &given, round % COMPARISON_INTERVAL == 0, &mut stable);
            if round == 1 {
                stated = given;
            }
            match done {
                Round::Empty => return true,
                _ if s.status() == Status::BudgetExhausted => break,
                Round::Unchanged => return false,
                Round::Moved => {}
            }
            stable.end_round(s.arena, &before, &self.bounds);
            s.start_on(self.visible_bounds());
            self.drop_implied(s, &stable);
            if self.constraints.is_empty() {
                return false;
            }
        }
        // Bounds that still move would move on in the next call, by as little.
        s.give_up();
        self.bounds.copy_from_slice(&bounds);
        self.constraints = stated;
        self.restate_facts(s, None);
        false
    }

    /// Makes one pass over the constraints; uses them on each other if it changes nothing, or if `compare` is set.
    fn tighten(
        &mut self,
        s: &mut Simplifier<'_>,
        given: &[(Expr, Interval)],
        compare: bool,
        stable: &mut StableConstraints,
    ) -> Round {
        let mut pass = ConstraintPropagation::new(std::mem::take(&mut self.bounds), given.len());
        for &(stated, interval) in given {
            if stable.holds(stated, interval) {
                pass.keep_stable(s, stated, interval);
                continue;
            }
            let e = s.simplify(stated);
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
            return Round::Unchanged; // and what was derived from the box holds on
        }
        let equal = self.constraints == given;
        if !equal {
            self.sort_constraints(s);
        }
        let same = !changed || (!tightened && (equal || self.constraints == given));
        if !same && !compare {
            return Round::Moved;
        }
        if TOGETHER.iter().any(|row| (row.function)(self, s, &row.law)) || self.use_each_other(s) {
            self.sort_constraints(s);
            return Round::Moved;
        }
        if !same {
            return Round::Moved;
        }
        self.restate_facts(s, None);
        Round::Unchanged
    }

    fn sort_constraints(&mut self, s: &Simplifier<'_>) {
        self.constraints.sort_by(|a, b| s.arena.compare(a.0, b.0));
    }

    /// Simplifies each constraint with the others as facts; true if one became cheaper.
    fn use_each_other(&mut self, s: &mut Simplifier<'_>) -> bool {
        let count = self.constraints.len();
        if !(2..=CONSTRAINTS_COMPARED).contains(&count) {
            return false;
        }
        for k in 0..count {
            if s.is_spent() {
                return false;
            }
            let (e, interval) = self.constraints[k];
            let informs = |j: usize| j != k && self.may_inform(s, j, e);
            if !(0..count).any(informs) {
                continue;
            }
            self.restate_facts(s, Some(k));
            let new = s.simplify(e);
            let implied = is_implied(s, (e, interval), new);
            if implied || EACH.iter().any(|row| (row.function)(self, s, k, &row.law)) {
                self.constraints.remove(k);
                return true;
            }
            if new != e && s.cost(new) < s.cost(e) {
                self.constraints[k] = (new, interval);
                return true;
            }
        }
        false
    }

    /// Whether constraint `k` may bear on the values of `e`. An equality may bring its variables
    /// into `e`; any other is about an expression that `e` must hold.
    fn may_inform(&self, s: &Simplifier<'_>, k: usize, e: Expr) -> bool {
        let (form, value) = self.constraints[k];
        match value.is_point() && s.arena.tag(form) == Tag::Sum {
            true => s.arena.may_share_variables(form, e),
            false => s.arena.may_use_variables_of(e, form),
        }
    }

    /// Whether constraint `k` always holds once a variable is replaced by its equal according to another constraint.
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
                s.note_constraint(law, (e, interval), &[(replaced, interval)]);
                return is_implied(s, (replaced, interval), new);
            }
        }
        false
    }

    fn restate_facts(&self, s: &mut Simplifier<'_>, except: Option<usize>) {
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
                    s.ranges.facts.equal_variables.join(s.arena, x, y);
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
            s.ranges.state_of_variable(v, m, r);
        } else {
            s.ranges.facts.has_atoms |= s.arena.tag(form) != Tag::Sum;
            s.ranges.facts.congruences.insert(form, (m, r));
        }
    }

    /// Substitutes equal variables: for `x - y = 0`, replaces `y` by `x` in the other constraints; true if one changed. All
    /// pairs at once: the first of each class of equal variables represents it, and each other one is left in a single
    /// constraint.
    fn equate_variables(&mut self, s: &mut Simplifier<'_>, law: &Law) -> bool {
        let mut equal = EqualVariables::default();
        let own: SmallVec<[Option<Expr>; 8]> = self
            .constraints
            .iter()
            .map(|(form, value)| {
                let (x, y) = s.arena.equal_variables(*form, *value)?;
                equal.join(s.arena, x, y)
            })
            .collect();
        if equal.is_empty() {
            return false;
        }
        let mut changed = false;
        for (constraint, own) in self.constraints.iter_mut().zip(own) {
            let (e, interval) = *constraint;
            let first = |v: Expr| if Some(v) == own { None } else { equal.first_of(v) };
            match s.arena.replace_variables(e, first) {
                Ok(new) if new != e => {
                    s.note_constraint(law, (e, interval), &[(new, interval)]);
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

/// `(a, x)` with `a = x` for a quotient, remainder, minimum or maximum that is dearer than all else in `form = value`.
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
    // form = value, so t.expr = t.coeff * (value - (form - t)) for a coefficient that is its own inverse.
    let rest = s.arena.combine(form, -1, t.expr, t.coeff).ok()?;
    let rest = s.arena.offset(rest, value).ok()?;
    Some((t.expr, s.arena.scale(rest, t.coeff).ok()?))
}
