//! Constraints into a domain: each in its normal form, turned into bounds of variables where it is one, dropped where
//! the box implies it; what it implies for variables tightens their bounds.

use crate::expr::{variable_bit, Arena, Expr, Node, Tag, Term, Terms};
use crate::int::{ceil_div, div_mod_positive, floor_div, floor_mod, gcd_i64, inverse_mod};
use crate::interval::Interval;
use crate::simplify::driver::Simplifier;
use crate::simplify::facts::normal_form;
use smallvec::{smallvec, SmallVec};
use std::collections::HashMap;

/// One pass over the constraints.
pub(crate) struct ConstraintPropagation<'a> {
    pub(crate) bounds: &'a mut Vec<Interval>,
    pub(crate) kept: Vec<(Expr, Interval)>,
    /// Would a pass over what is kept perhaps do more?
    pub(crate) changed: bool,
    /// Did bounds of variables change?
    pub(crate) tightened: bool,
    pub(crate) empty: bool,
    /// Where each form stands among those kept, once there are many.
    places: HashMap<Expr, usize>,
}

/// Up to so many kept constraints are searched one by one.
const SEARCHED: usize = 16;

/// `expr in interval`; an implied one only tightens bounds of variables.
struct Assumption {
    expr: Expr,
    interval: Interval,
    implied: bool,
}

/// Constraints that a pass left as they are, and that left the box as it is: until bounds of their variables change, they
/// need not be looked at again.
#[derive(Default)]
pub(crate) struct StableConstraints {
    /// Those of the rounds before, in the order of their ids.
    known: Vec<(Expr, Interval)>,
    /// Those of this round.
    found: Vec<(Expr, Interval)>,
}

impl StableConstraints {
    #[inline]
    pub(crate) fn holds(&self, e: Expr, interval: Interval) -> bool {
        !self.known.is_empty()
            && self
                .known
                .binary_search_by_key(&e.index(), |(x, _)| x.index())
                .is_ok_and(|k| self.known[k].1 == interval)
    }

    pub(crate) fn add(&mut self, e: Expr, interval: Interval) {
        self.found.push((e, interval));
    }

    /// The bounds of variables were `before` and are `after`, and another round begins.
    pub(crate) fn end_round(&mut self, arena: &mut Arena, before: &[Interval], after: &[Interval]) {
        let found = std::mem::take(&mut self.found);
        self.known.extend(found);
        let moved: Vec<bool> = before.iter().zip(after).map(|(b, a)| b != a).collect();
        let places = (0..moved.len()).filter(|v| moved[*v]);
        let bits = places.fold(0, |all, v| all | variable_bit(v));
        arena.charge(self.known.len());
        self.known.retain(|(e, _)| {
            let may_move = arena.variables_of(*e) & bits != 0;
            !(may_move && arena.variables(&[*e]).iter().any(|v| moved.get(*v as usize) == Some(&true)))
        });
        // Of two about one expression, the later one stays: the other is not stated any more.
        self.known.sort_by_key(|(e, _)| e.index());
        self.known.reverse();
        self.known.dedup_by_key(|(e, _)| *e);
        self.known.reverse();
    }
}

/// What is still to be assumed.
type Work = SmallVec<[Assumption; 4]>;

impl<'a> ConstraintPropagation<'a> {
    pub(crate) fn new(bounds: &'a mut Vec<Interval>) -> Self {
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
    #[inline]
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
        let mut work: Work = smallvec![Assumption { expr: e, interval, implied: false }];
        while let Some(a) = work.pop() {
            if self.empty || !s.spend(1) {
                if !a.implied {
                    self.push_kept(a.expr, a.interval);
                }
                continue;
            }
            self.step(s, a, &mut work);
        }
    }

    #[inline]
    fn step(&mut self, s: &mut Simplifier<'_>, a: Assumption, work: &mut Work) {
        let Assumption { expr: e, mut interval, implied } = a;
        if let Some(v) = s.arena.as_variable(e) {
            return self.tighten(s, v, interval);
        }
        let range = self.range(s, e);
        if interval.covers(range) {
            if !implied {
                s.note_constraint("constraint-implied", (e, interval), &[]);
            }
            return;
        }
        let whole = (e, interval);
        interval = interval.intersect(range);
        if interval.is_empty() {
            s.note_constraint("constraint-impossible", whole, &[(e, interval)]);
            self.empty = true;
            return;
        }
        let push = |work: &mut Work, expr, interval, implied| {
            work.push(Assumption { expr, interval, implied });
        };
        match s.arena.node(e) {
            Node::Sum(..) => {
                let Some((form, factor, offset)) = normal_form(s.arena, e) else { return };
                if form != e {
                    if let Some(inner) = shifted_back(interval, offset) {
                        // Without its constant the sum may be spelled otherwise.
                        let simple = s.simplify(form);
                        let cheaper = simple != form && s.cost(simple) < s.cost(form);
                        let form = if cheaper { simple } else { form };
                        let inner = inner.quotient_by(factor);
                        s.note_constraint("constraint-normal-form", whole, &[(form, inner)]);
                        return push(work, form, inner, implied);
                    }
                }
                if let Some((high, inner)) = self.without_low_terms(s, e, interval) {
                    s.note_constraint("constraint-low-terms-leave", whole, &[(high, inner)]);
                    return push(work, high, inner, implied);
                }
                self.imply_terms(s, e, interval, work);
            }
            Node::FloorDiv(x, d) => {
                if let Some(inner) = s.arena.as_constant(d).and_then(|m| dividends(interval, m)) {
                    s.note_constraint("constraint-quotient-opened", whole, &[(x, inner)]);
                    return push(work, x, inner, implied);
                }
            }
            Node::Min(args) | Node::Max(args) => {
                let lower = s.arena.tag(e) == Tag::Min;
                let one_sided = if lower {
                    Interval::new(interval.lower, i64::MAX)
                } else {
                    Interval::new(i64::MIN, interval.upper)
                };
                let binding = if lower { interval.upper < range.upper } else { interval.lower > range.lower };
                let first = work.len();
                for x in args {
                    push(work, *x, one_sided, implied || binding);
                }
                if s.explains() {
                    let parts = work[first..].iter().map(|a| (a.expr, a.interval));
                    let made: Vec<_> = parts.chain(binding.then_some((e, interval))).collect();
                    s.note_constraint("constraint-extremum-opened", whole, &made);
                }
                if !binding {
                    return;
                }
            }
            Node::Mod(..) if interval.is_point() => {
                if let Some((form, r, m)) = self.congruence(s, e, interval.lower) {
                    let same = s.arena.as_mod(e) == Some((form, m));
                    self.changed |= !implied && !same;
                    if !implied {
                        if !same && s.explains() {
                            if let Ok(made) = s.arena.modulo_constant(form, m) {
                                let made = [(made, Interval::point(r))];
                                s.note_constraint("constraint-congruence-normal", whole, &made);
                            }
                        }
                        self.keep_congruence(s, form, r, m);
                    }
                    return;
                }
            }
            _ => {}
        }
        if !implied {
            self.keep(s, e, interval);
        }
    }

    /// The bounds of `e` on the box as it is now.
    fn range(&mut self, s: &mut Simplifier<'_>, e: Expr) -> Interval {
        s.bounds(e)
    }

    fn tighten(&mut self, s: &mut Simplifier<'_>, variable: u32, interval: Interval) {
        let v = variable as usize;
        let new = self.bounds[v].intersect(interval);
        if new != self.bounds[v] && s.explains() {
            let x = s.arena.variable(variable);
            s.note_constraint("constraints-meet", (x, self.bounds[v]), &[(x, new)]);
        }
        self.empty |= new.is_empty();
        self.tightened |= new != self.bounds[v];
        self.changed |= self.tightened;
        self.bounds[v] = new;
    }

    #[inline]
    fn keep(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        if !self.joins_kept(s, e, interval) {
            // What a law of constraints has left may be spelled otherwise.
            self.changed |= s.simplify(e) != e;
            self.push_kept(e, interval);
        }
    }

    /// Where something is kept of the same expression, both meet.
    #[inline]
    fn joins_kept(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) -> bool {
        let Some(k) = self.place_of(e) else { return false };
        let known = self.kept[k].1;
        let both = known.intersect(interval);
        if known != both {
            s.note_constraint("constraints-meet", (e, known), &[(e, both)]);
            self.changed = true;
        }
        self.kept[k].1 = both;
        self.empty |= both.is_empty();
        true
    }

    #[inline]
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

    /// What `sum in interval` says of each term when the others are as small or as large as they can be.
    fn imply_terms(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval, work: &mut Work) {
        let Node::Sum(constant, terms) = s.arena.node(e) else { return };
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
                s.note_constraint("constraint-bounds-term", (e, interval), &[(t.expr, bounds)]);
                work.push(Assumption { expr: t.expr, interval: bounds, implied: true });
            }
        }
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
                    s.note_constraint("constraint-congruences-never", (e, known), &[(e, Interval::EMPTY)]);
                    self.empty = true;
                    return;
                }
                Some(Joined::As(residue, modulus)) => {
                    if s.explains() {
                        if let Ok(made) = s.arena.modulo_constant(x, modulus) {
                            let made = [(made, Interval::point(residue))];
                            s.note_constraint("constraint-congruences-join", (e, known), &made);
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
                        s.note_constraint("constraint-congruence-bounds", whole, &[(x, inner)]);
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

/// The `h` with `g * h + low in interval` for all of `low`'s values or none; `None` where it depends on `low`.
fn periods(interval: Interval, low: Interval, g: i64) -> Option<Interval> {
    // g * h + low >= a: true for every low where g * h >= a - low.lower, false for every low where g * h < a - low.upper.
    let lower = if interval.lower == i64::MIN {
        i64::MIN
    } else {
        let all = ceil_div(interval.lower.checked_sub(low.lower)?, g)?;
        let some = ceil_div(interval.lower.checked_sub(low.upper)?, g)?;
        Some(all).filter(|_| all == some)?
    };
    let upper = if interval.upper == i64::MAX {
        i64::MAX
    } else {
        let all = floor_div(interval.upper.checked_sub(low.upper)?, g)?;
        let some = floor_div(interval.upper.checked_sub(low.lower)?, g)?;
        Some(all).filter(|_| all == some)?
    };
    Some(Interval::new(lower, upper))
}

/// The `x` with `x + offset in interval`; `None` where an end leaves int64, for it would then say nothing.
pub(crate) fn shifted_back(interval: Interval, offset: i64) -> Option<Interval> {
    ends(interval, |lower| lower.checked_sub(offset), |upper| upper.checked_sub(offset))
}

/// The `x` with `x floordiv m in interval`; `None` as above.
fn dividends(interval: Interval, m: i64) -> Option<Interval> {
    ends(interval, |lower| lower.checked_mul(m), |upper| upper.checked_mul(m)?.checked_add(m - 1))
}

/// An interval of moved ends; `None` where one leaves the numbers that don't stand for "unbounded".
fn ends(
    interval: Interval,
    lower: impl Fn(i64) -> Option<i64>,
    upper: impl Fn(i64) -> Option<i64>,
) -> Option<Interval> {
    let stated = |x: &i64| *x != i64::MIN && *x != i64::MAX;
    let low = if interval.lower == i64::MIN { i64::MIN } else { lower(interval.lower).filter(stated)? };
    let high = if interval.upper == i64::MAX { i64::MAX } else { upper(interval.upper).filter(stated)? };
    Some(Interval::new(low, high))
}

enum Joined {
    Never,
    TooLarge,
    As(i64, i64),
}

/// `x = r (mod m)` and `x = q (mod n)` as one congruence.
fn chinese_remainder((r, m): (i64, i64), (q, n): (i64, i64)) -> Joined {
    let g = gcd_i64(m, n);
    let Some(gap) = q.checked_sub(r) else { return Joined::TooLarge };
    if gap % g != 0 {
        return Joined::Never;
    }
    let Some(lcm) = (m / g).checked_mul(n) else { return Joined::TooLarge };
    let (step, modulus) = (gap / g, n / g);
    let (_, inverse) = if modulus == 1 { (1, 0) } else { inverse_mod((m / g).rem_euclid(modulus), modulus) };
    let k = (i128::from(step) * i128::from(inverse)).rem_euclid(i128::from(modulus));
    let x = (i128::from(r) + i128::from(m) * k).rem_euclid(i128::from(lcm));
    match i64::try_from(x) {
        Ok(x) => Joined::As(x, lcm),
        Err(_) => Joined::TooLarge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_remainders_follow_the_definition() {
        for m in 1..12 {
            for n in 1..12 {
                for r in 0..m {
                    for q in 0..n {
                        let all: Vec<i64> = (0..m * n).filter(|x| x % m == r && x % n == q).collect();
                        match chinese_remainder((r, m), (q, n)) {
                            Joined::Never => assert!(all.is_empty()),
                            Joined::As(x, lcm) => {
                                assert_eq!(all.first(), Some(&x), "{r} mod {m}, {q} mod {n}");
                                assert_eq!((m * n) / lcm, all.len() as i64);
                            }
                            Joined::TooLarge => panic!("small numbers"),
                        }
                    }
                }
            }
        }
    }
}
