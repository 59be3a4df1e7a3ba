//! Constraints into a domain: each in its normal form, turned into bounds of variables where it is one, dropped where
//! the box implies it; what it implies for variables tightens their bounds.

use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::int::{div_mod_positive, floor_mod, gcd_i64, inverse_mod};
use crate::interval::Interval;
use crate::simplify::congruence::{chinese_remainder, Joined};
use crate::simplify::constraint_laws::*;
use crate::simplify::facts::normal_form;
use crate::simplify::law::Law;
use crate::simplify::preimage::{dividends, periods, shifted_back};
use crate::simplify::simplifier::Simplifier;
use smallvec::{smallvec, SmallVec};
use std::collections::HashMap;

/// One pass over the constraints.
pub(crate) struct ConstraintPropagation {
    pub(crate) bounds: Vec<Interval>,
    pub(crate) kept: Vec<(Expr, Interval)>,
    /// Would a pass over what is kept perhaps do more?
    pub(crate) changed: bool,
    /// Did bounds of variables change?
    pub(crate) tightened: bool,
    pub(crate) empty: bool,
    /// The place of each form among those kept, once there are many.
    places: HashMap<Expr, usize>,
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

/// A law of one constraint: the operators that it is about (none: all), and the function, which answers whether it took
/// the whole constraint.
struct Row {
    law: &'static Law,
    family: &'static [Tag],
    function: fn(&mut ConstraintPropagation, &mut Simplifier<'_>, &mut Assumption, &mut Work) -> bool,
}

impl Row {
    fn is_about(&self, tag: Tag) -> bool {
        self.family.is_empty() || self.family.contains(&tag)
    }
}

/// The laws of one constraint, in the order in which they are tried.
static ROWS: &[Row] = &[
    Row { law: &MEET, family: &[Tag::Variable], function: ConstraintPropagation::bounds_of_variable },
    Row { law: &IMPLIED, family: &[], function: ConstraintPropagation::implied },
    Row { law: &IMPOSSIBLE, family: &[], function: ConstraintPropagation::impossible },
    Row { law: &NORMAL_FORM, family: &[Tag::Sum], function: ConstraintPropagation::normal_form },
    Row { law: &LOW_TERMS_LEAVE, family: &[Tag::Sum], function: ConstraintPropagation::low_terms_leave },
    Row { law: &BOUNDS_TERM, family: &[Tag::Sum], function: ConstraintPropagation::bounds_of_terms },
    Row { law: &QUOTIENT_OPENED, family: &[Tag::FloorDiv], function: ConstraintPropagation::quotient_opened },
    Row {
        law: &EXTREMUM_OPENED,
        family: &[Tag::Min, Tag::Max],
        function: ConstraintPropagation::extremum_opened,
    },
    Row { law: &CONGRUENCE_NORMAL, family: &[Tag::Mod], function: ConstraintPropagation::congruence_normal },
];

/// The laws of one constraint, and those of two congruences of one expression.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    let of_congruences = [CONGRUENCES_JOIN, CONGRUENCES_NEVER, CONGRUENCE_BOUNDS];
    ROWS.iter().map(|row| *row.law).chain(of_congruences)
}

/// Constraints that are still to be assumed.
type Work = SmallVec<[Assumption; 4]>;

impl ConstraintPropagation {
    pub(crate) fn new(bounds: Vec<Interval>) -> Self {
        let places = HashMap::new();
        ConstraintPropagation {
            bounds,
            kept: Vec::new(),
            changed: false,
            tightened: false,
            empty: false,
            places,
        }
    }

    /// Take `e in interval` into the domain. `e` is simplified on the box. True where that is kept as it is and tells
    /// nothing else.
    pub(crate) fn assume(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) -> bool {
        let (kept, tightened) = (self.kept.len(), std::mem::take(&mut self.tightened));
        self.assume_all(s, e, interval);
        let same =
            !self.tightened && self.kept.get(kept) == Some(&(e, interval)) && self.kept.len() == kept + 1;
        self.tightened |= tightened;
        same
    }

    /// Keep a constraint that a pass before left as it is.
    pub(crate) fn keep_stable(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        if !self.joins_kept(s, e, interval) {
            self.push_kept(e, interval);
        }
    }

    fn assume_all(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        let mut work: Work = smallvec![Assumption::new(e, interval)];
        while let Some(a) = work.pop() {
            // Of an empty domain, and where the work is spent, what was kept is not used.
            if self.empty || !s.spend(1) {
                return;
            }
            self.step(s, a, &mut work);
        }
    }

    /// Apply the laws of constraints in their order; what none of them takes is kept.
    fn step(&mut self, s: &mut Simplifier<'_>, mut a: Assumption, work: &mut Work) {
        let tag = s.arena.tag(a.expr);
        for row in ROWS.iter().filter(|row| row.is_about(tag)) {
            if (row.function)(self, s, &mut a, work) {
                return;
            }
        }
        if !a.implied {
            self.keep(s, a.expr, a.interval);
        }
    }

    fn bounds_of_variable(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, _: &mut Work) -> bool {
        let variable = s.arena.as_variable(a.expr);
        variable.map(|v| self.tighten(s, v, a.interval)).is_some()
    }

    fn implied(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, _: &mut Work) -> bool {
        let always = a.interval.covers(s.bounds(a.expr));
        if always && !a.implied {
            s.note_constraint(&IMPLIED, a.stated(), &[]);
        }
        always
    }

    fn impossible(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, _: &mut Work) -> bool {
        a.interval = a.interval.intersect(s.bounds(a.expr));
        if a.interval.is_empty() {
            s.note_constraint(&IMPOSSIBLE, a.stated(), &[(a.expr, a.interval)]);
            self.empty = true;
        }
        self.empty
    }

    fn normal_form(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, work: &mut Work) -> bool {
        let Some((form, factor, offset)) = normal_form(s.arena, a.expr) else { return true };
        let inner = shifted_back(a.interval, offset).filter(|_| form != a.expr);
        let Some(inner) = inner else { return false };
        // Without its constant the sum may be spelled otherwise.
        let simple = s.simplify(form);
        let cheaper = simple != form && s.cost(simple) < s.cost(form);
        let form = if cheaper { simple } else { form };
        let inner = inner.quotient_by(factor);
        s.note_constraint(&NORMAL_FORM, a.stated(), &[(form, inner)]);
        work.push(a.part(form, inner));
        true
    }

    fn low_terms_leave(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, work: &mut Work) -> bool {
        let Some((high, inner)) = self.without_low_terms(s, a.expr, a.interval) else { return false };
        s.note_constraint(&LOW_TERMS_LEAVE, a.stated(), &[(high, inner)]);
        work.push(a.part(high, inner));
        true
    }

    fn quotient_opened(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, work: &mut Work) -> bool {
        let Some((x, m)) = s.arena.as_floordiv(a.expr) else { return false };
        let Some(inner) = dividends(a.interval, m) else { return false };
        s.note_constraint(&QUOTIENT_OPENED, a.stated(), &[(x, inner)]);
        work.push(a.part(x, inner));
        true
    }

    fn extremum_opened(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, work: &mut Work) -> bool {
        let (Node::Min(args) | Node::Max(args)) = s.arena.node(a.expr) else { return false };
        let args: SmallVec<[Expr; 8]> = SmallVec::from_slice(args);
        let (Interval { lower, upper }, range) = (a.interval, s.bounds(a.expr));
        let (one_sided, binding) = match s.arena.tag(a.expr) {
            Tag::Min => (Interval::new(lower, i64::MAX), upper < range.upper),
            _ => (Interval::new(i64::MIN, upper), lower > range.lower),
        };
        let made: SmallVec<[Assumption; 8]> = args.iter().map(|x| a.part(*x, one_sided)).collect();
        if s.explains() {
            let parts = made.iter().map(|a| (a.expr, a.interval));
            let all: Vec<_> = parts.chain(binding.then_some((a.expr, a.interval))).collect();
            s.note_constraint(&EXTREMUM_OPENED, a.stated(), &all);
        }
        work.extend(made.into_iter().map(|part| Assumption { implied: part.implied || binding, ..part }));
        !binding
    }

    fn congruence_normal(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, _: &mut Work) -> bool {
        if !a.interval.is_point() {
            return false;
        }
        let Some((form, r, m)) = self.congruence(s, a.expr, a.interval.lower) else { return false };
        if a.implied {
            return true;
        }
        if s.arena.as_mod(a.expr) != Some((form, m)) {
            self.changed = true;
            if let Ok(made) = s.arena.modulo_constant(form, m) {
                s.note_constraint(&CONGRUENCE_NORMAL, a.stated(), &[(made, Interval::point(r))]);
            }
        }
        self.keep_congruence(s, form, r, m);
        true
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
            // What a law of constraints has left may be spelled otherwise.
            self.changed |= s.simplify(e) != e;
            self.push_kept(e, interval);
        }
    }

    /// Intersect the interval with that of the same expression, where one is kept.
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

    /// `g * h + low in [a, b]` with `0 <= low < g` is `h in [a', b']` where neither end cuts through a period.
    fn without_low_terms(
        &self,
        s: &mut Simplifier<'_>,
        e: Expr,
        interval: Interval,
    ) -> Option<(Expr, Interval)> {
        let Node::Sum(0, terms) = s.arena.node(e) else { return None };
        if terms.iter().all(|t| t.coeff.unsigned_abs() == 1) {
            return None;
        }
        let mut terms: Terms = Terms::from_slice(terms);
        terms.sort_by_key(|t| std::cmp::Reverse(t.coeff.unsigned_abs()));
        let mut low: SmallVec<[Interval; 8]> = smallvec![Interval::point(0)];
        for t in terms[1..].iter().rev() {
            let sum = low[low.len() - 1].plus(s.bounds(t.expr).scaled(t.coeff));
            low.push(sum);
        }
        let mut g = 0;
        for kept in 1..terms.len() {
            g = gcd_i64(g, terms[kept - 1].coeff);
            let rest = low[terms.len() - kept];
            if g <= 1 || !rest.is_bounded() || rest.upper.checked_sub(rest.lower).is_none_or(|w| w >= g) {
                continue;
            }
            let Some(inner) = periods(interval, rest, g) else { continue };
            let high: Terms = terms[..kept].iter().map(|t| Term::new(t.coeff / g, t.expr)).collect();
            return s.arena.sum(0, &high).ok().map(|h| (h, inner));
        }
        None
    }

    /// The bounds of each term that `sum in interval` implies, by the extreme values of the others.
    fn bounds_of_terms(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, work: &mut Work) -> bool {
        let Assumption { expr: e, interval, .. } = *a;
        let Node::Sum(constant, terms) = s.arena.node(e) else { return false };
        let terms: Terms = Terms::from_slice(terms);
        let parts: SmallVec<[Interval; 8]> = terms.iter().map(|t| s.bounds(t.expr).scaled(t.coeff)).collect();
        let total = parts.iter().fold(Interval::point(constant), |sum, p| sum.plus(*p));
        // No term has a larger part in the values than the sum has beside the interval: none is bounded.
        let room = interval.upper.checked_sub(total.lower).zip(total.upper.checked_sub(interval.lower));
        let room = room.filter(|_| total.is_bounded()).map_or(-1, |(above, below)| above.min(below));
        for (t, part) in terms.iter().zip(&parts) {
            if part.upper.checked_sub(part.lower).is_some_and(|width| width <= room) {
                continue;
            }
            let without = |whole: i64, own: i64| whole.checked_sub(own).filter(|_| total.is_bounded());
            let rest = match without(total.lower, part.lower).zip(without(total.upper, part.upper)) {
                Some((lower, upper)) => Interval::new(lower, upper),
                None if terms.len() <= 16 => {
                    let others = parts.iter().zip(&terms).filter(|(_, o)| o.expr != t.expr);
                    others.fold(Interval::point(constant), |sum, (p, _)| sum.plus(*p))
                }
                None => continue,
            };
            let own = interval.plus(Interval::new(rest.lower, rest.upper).negated());
            // own = interval - rest, taken as the hull: lower - rest.upper, upper - rest.lower.
            let bounds = own.quotient_by(t.coeff);
            if !bounds.covers(s.bounds(t.expr)) {
                s.note_constraint(&BOUNDS_TERM, (e, interval), &[(t.expr, bounds)]);
                work.push(Assumption { implied: true, ..a.part(t.expr, bounds) });
            }
        }
        false
    }

    /// `x mod m = r` with the constant of `x` moved to the right and its leading coefficient made 1 where it can be.
    fn congruence(&mut self, s: &mut Simplifier<'_>, e: Expr, r: i64) -> Option<(Expr, i64, i64)> {
        let (x, m) = s.arena.as_mod(e)?;
        let Node::Sum(constant, terms) = s.arena.node(x) else { return Some((x, r, m)) };
        let r = floor_mod(r.checked_sub(floor_mod(constant, m)?)?, m)?;
        let lead = floor_mod(terms[0].coeff, m)?;
        let (g, inverse) = inverse_mod(lead, m);
        let factor = if g == 1 { inverse } else { 1 };
        let scaled: Option<Terms> = terms
            .iter()
            .map(|t| {
                let coeff = (i128::from(t.coeff) * i128::from(factor)).rem_euclid(i128::from(m));
                Some(Term::new(i64::try_from(coeff).ok()?, t.expr))
            })
            .collect();
        let form = s.arena.sum(0, &scaled?).ok()?;
        let right = i64::try_from((i128::from(r) * i128::from(factor)).rem_euclid(i128::from(m))).ok()?;
        let form = s.arena.modulo_constant(form, m).ok()?;
        // The constructor may know the remainder under a smaller modulus, where `right` would mean something else.
        let whole = form;
        let (form, modulus) = s.arena.as_mod(form)?;
        (modulus == m && !s.is_wider(whole, e)).then_some((form, right, m))
    }

    /// Keep `x mod m = r`, joined with what is known of `x` already.
    fn keep_congruence(&mut self, s: &mut Simplifier<'_>, x: Expr, r: i64, m: i64) {
        let (mut r, mut m) = (r, m);
        let mut k = 0;
        s.arena.charge(self.kept.len() / 2);
        while k < self.kept.len() {
            let (e, known) = self.kept[k];
            let other = s.arena.as_mod(e).filter(|(y, _)| *y == x && known.is_point());
            match other.map(|(_, n)| chinese_remainder((r, m), (known.lower, n))) {
                Some(Joined::Never) => {
                    s.note_constraint(&CONGRUENCES_NEVER, (e, known), &[(e, Interval::EMPTY)]);
                    self.empty = true;
                    return;
                }
                Some(Joined::As(residue, modulus)) => {
                    if s.explains() {
                        if let Ok(made) = s.arena.modulo_constant(x, modulus) {
                            let made = [(made, Interval::point(residue))];
                            s.note_constraint(&CONGRUENCES_JOIN, (e, known), &made);
                        }
                    }
                    (r, m) = (residue, modulus);
                    self.remove_kept(k);
                    self.changed = true;
                }
                Some(Joined::TooLarge) | None => k += 1,
            }
        }
        if let Some(v) = s.arena.as_variable(x) {
            let b = self.bounds[v as usize];
            let lower = b
                .lower
                .checked_add(div_mod_positive(r.wrapping_sub(floor_mod(b.lower, m).unwrap_or(0)), m).1);
            let upper = b
                .upper
                .checked_sub(div_mod_positive(floor_mod(b.upper, m).unwrap_or(0).wrapping_sub(r), m).1);
            if let (Some(lower), Some(upper)) = (lower, upper) {
                let inner = Interval::new(lower, upper);
                if inner != b && s.explains() {
                    if let Ok(e) = s.arena.modulo_constant(x, m) {
                        let whole = (e, Interval::point(r));
                        s.note_constraint(&CONGRUENCE_BOUNDS, whole, &[(x, inner)]);
                    }
                }
                self.tighten(s, v, inner);
                let b = self.bounds[v as usize];
                if self.empty || b.is_point() {
                    return;
                }
            }
        }
        if let Ok(e) = s.arena.modulo_constant(x, m) {
            self.keep(s, e, Interval::point(r));
        }
    }
}
