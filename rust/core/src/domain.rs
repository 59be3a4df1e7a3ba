//! Simplification of a whole problem: a box of variables, constraints, results.
//!
//! Constraints first: each is simplified on the box, brought to a normal form (no constant, no content, no outer
//! floordiv), turned into bounds of variables where it is one, dropped where the box implies it; what it implies for
//! variables tightens their bounds, until nothing changes. Then the results, with the constraints as facts.

use crate::error::Result;
use crate::expr::{Arena, Expr, Node, Tag, Term};
use crate::int::{ceil_div, div_mod_positive, floor_div, floor_mod, gcd_i64, inverse_mod};
use crate::interval::Interval;
use crate::range::normal_form;
use crate::rules::RuleId;
use crate::simplify::{Scratch, Simplifier, Status, Step};

/// What happens to variables that have one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PointVariables {
    /// They become constants.
    #[default]
    Replace,
    /// They stay.
    Keep,
}

/// A box, constraints on it, and results, all in one arena; simplified in place by [`Problem::simplify`].
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The bounds of variable 0, 1, ...
    pub bounds: Vec<Interval>,
    /// `expression in interval`.
    pub constraints: Vec<(Expr, Interval)>,
    /// The results.
    pub results: Vec<Expr>,
    /// What happens to variables that have one value.
    pub points: PointVariables,
}

/// What [`Problem::simplify`] found out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether the budget sufficed.
    pub status: Status,
    /// The domain was found to hold no point; the problem is then left as it was when that was found.
    pub empty: bool,
    /// The steps, where they were asked for.
    pub steps: Vec<Step>,
}

/// Rounds of tightening before the result is taken as it is.
const ROUNDS: usize = 12;
/// With more constraints than this, they are not simplified with each other as facts.
const CONSTRAINTS_COMPARED: usize = 12;

impl Problem {
    /// Simplify constraints and results; the values of the results on the domain, and the domain, stay as they are.
    pub fn simplify(&mut self, arena: &mut Arena, scratch: &mut Scratch) -> Outcome {
        self.run(arena, scratch, false)
    }

    /// The same, with the steps kept.
    pub fn explain(&mut self, arena: &mut Arena, scratch: &mut Scratch) -> Outcome {
        self.run(arena, scratch, true)
    }

    fn run(&mut self, arena: &mut Arena, scratch: &mut Scratch, explain: bool) -> Outcome {
        if self.bounds.iter().any(|b| b.is_empty()) {
            return Outcome { status: Status::Complete, empty: true, steps: Vec::new() };
        }
        let mut s = Simplifier::new(arena, scratch);
        if explain {
            s.record_steps();
        }
        let empty = if self.constraints.is_empty() {
            s.ranges.reset(self.visible_bounds());
            false
        } else {
            self.simplify_domain(&mut s)
        };
        if !empty {
            for r in &mut self.results {
                *r = s.finish(*r);
            }
        }
        Outcome { status: s.status(), empty, steps: s.take_steps() }
    }

    /// The bounds as the rules see them: a variable that is to stay has a second value.
    fn visible_bounds(&self) -> impl Iterator<Item = Interval> + '_ {
        let keep = self.points == PointVariables::Keep;
        self.bounds.iter().map(move |b| match b {
            b if keep && b.is_point() && b.upper < i64::MAX => Interval::new(b.lower, b.upper + 1),
            b => *b,
        })
    }

    fn simplify_domain(&mut self, s: &mut Simplifier<'_>) -> bool {
        for _ in 0..ROUNDS {
            s.ranges.reset(self.visible_bounds());
            s.domain_changed();
            let mut pass = Pass { bounds: &mut self.bounds, kept: Vec::new(), changed: false, empty: false };
            for (e, interval) in std::mem::take(&mut self.constraints) {
                let e = s.simplify(e);
                pass.assume(s, e, interval);
                if pass.empty {
                    return true;
                }
            }
            let changed = pass.changed;
            self.constraints = pass.kept;
            if !changed && !self.equate_variables(s) && !self.use_each_other(s) {
                break;
            }
        }
        self.constraints.sort_by(|a, b| s.arena.compare(a.0, b.0));
        self.restate_facts(s, None);
        self.replace_equal_variables(s);
        false
    }

    /// Simplify each constraint with the others as facts; true where one became cheaper.
    fn use_each_other(&mut self, s: &mut Simplifier<'_>) -> bool {
        let count = self.constraints.len();
        if !(2..=CONSTRAINTS_COMPARED).contains(&count) {
            return false;
        }
        for k in 0..count {
            s.ranges.reset(self.visible_bounds());
            s.domain_changed();
            self.state_facts(s, Some(k));
            let (e, interval) = self.constraints[k];
            let new = s.simplify(e);
            let bounds = s.bounds(new);
            if interval.covers(bounds) || self.holds_by_substitution(s, k) {
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

    /// Does constraint `k` always hold once a variable is replaced by what another constraint says it equals?
    fn holds_by_substitution(&self, s: &mut Simplifier<'_>, k: usize) -> bool {
        let (e, interval) = self.constraints[k];
        for (j, (form, value)) in self.constraints.iter().enumerate() {
            if j == k || !value.is_point() {
                continue;
            }
            let Some((variable, equal)) = solved_variable(s, *form, value.lower) else { continue };
            s.ranges.reset(self.visible_bounds());
            s.domain_changed();
            let Ok(new) = s.arena.replace(&[e], &[(variable, equal)]) else { continue };
            let new = s.simplify(new[0]);
            if new != e && interval.covers(s.bounds(new)) {
                return true;
            }
        }
        false
    }

    fn restate_facts(&self, s: &mut Simplifier<'_>, except: Option<usize>) {
        s.ranges.reset(self.visible_bounds());
        s.domain_changed();
        self.state_facts(s, except);
    }

    fn state_facts(&self, s: &mut Simplifier<'_>, except: Option<usize>) {
        for (k, (e, interval)) in self.constraints.iter().enumerate() {
            if Some(k) == except {
                continue;
            }
            s.ranges.facts.ranges.insert(*e, *interval);
            if s.arena.tag(*e) == Tag::Sum {
                s.ranges.facts.linear.push((*e, *interval));
                if let Some((atom, equal)) = solved_atom(s, *e, *interval) {
                    s.ranges.facts.equal.insert(atom, equal);
                }
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
        if (factor, offset) == (1, 0) {
            s.ranges.facts.congruences.insert(form, (m, r));
        }
    }

    /// `(x, y)` where constraint `k` says `x - y = 0`.
    fn equal_variables(&self, s: &Simplifier<'_>, k: usize) -> Option<(Expr, Expr)> {
        let (e, interval) = self.constraints[k];
        let Node::Sum(0, [a, b]) = s.arena.node(e) else { return None };
        let variables = s.arena.as_variable(a.expr).is_some() && s.arena.as_variable(b.expr).is_some();
        let equal = interval == Interval::point(0) && a.coeff == 1 && b.coeff == -1 && variables;
        equal.then_some((a.expr, b.expr))
    }

    /// Where `x - y = 0`, write `x` for `y` in the other constraints; true where one changed. One pair after the other,
    /// each as the pairs before it have left it, so that `y` stays in its own constraint alone.
    fn equate_variables(&mut self, s: &mut Simplifier<'_>) -> bool {
        let mut changed = false;
        for own in 0..self.constraints.len() {
            let Some((keep, gone)) = self.equal_variables(s, own) else { continue };
            let roots: Vec<Expr> = self.constraints.iter().map(|c| c.0).collect();
            let Ok(new) = s.arena.replace(&roots, &[(gone, keep)]) else { continue };
            for (k, n) in new.into_iter().enumerate() {
                if k != own && self.constraints[k].0 != n {
                    self.constraints[k].0 = n;
                    changed = true;
                }
            }
        }
        changed
    }

    /// Where `x - y = 0`, write `x` for `y` in the results.
    fn replace_equal_variables(&mut self, s: &mut Simplifier<'_>) {
        for k in 0..self.constraints.len() {
            let Some((keep, gone)) = self.equal_variables(s, k) else { continue };
            let Ok(new) = s.arena.replace(&self.results, &[(gone, keep)]) else { continue };
            for (r, n) in self.results.iter_mut().zip(new) {
                if *r != n {
                    *r = s.applied(RuleId::EqualityUsed, *r, n);
                }
            }
        }
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

/// One pass over the constraints.
struct Pass<'a> {
    bounds: &'a mut Vec<Interval>,
    kept: Vec<(Expr, Interval)>,
    changed: bool,
    empty: bool,
}

/// `expr in interval`; an implied one only tightens bounds of variables.
struct Assumption {
    expr: Expr,
    interval: Interval,
    implied: bool,
}

impl Pass<'_> {
    /// Take `e in interval` into the domain. `e` is simplified on the box.
    fn assume(&mut self, s: &mut Simplifier<'_>, e: Expr, interval: Interval) {
        let mut work = vec![Assumption { expr: e, interval, implied: false }];
        while let Some(a) = work.pop() {
            if self.empty || !s.spend(1) {
                if !a.implied {
                    self.kept.push((a.expr, a.interval));
                }
                continue;
            }
            self.step(s, a, &mut work);
        }
    }

    fn step(&mut self, s: &mut Simplifier<'_>, a: Assumption, work: &mut Vec<Assumption>) {
        let Assumption { expr: e, mut interval, implied } = a;
        if let Some(v) = s.arena.as_variable(e) {
            return self.tighten(v as usize, interval);
        }
        let range = self.range(s, e);
        if interval.covers(range) {
            return;
        }
        interval = interval.intersect(range);
        if interval.is_empty() {
            self.empty = true;
            return;
        }
        let push = |work: &mut Vec<Assumption>, expr, interval, implied| {
            work.push(Assumption { expr, interval, implied });
        };
        match s.arena.node(e) {
            Node::Sum(..) => {
                let Some((form, factor, offset)) = normal_form(s.arena, e) else { return };
                if form != e {
                    if let Some(inner) = shifted_back(interval, offset) {
                        return push(work, form, inner.quotient_by(factor), implied);
                    }
                }
                if let Some((high, inner)) = self.without_low_terms(s, e, interval) {
                    return push(work, high, inner, implied);
                }
                self.imply_terms(s, e, interval, work);
            }
            Node::FloorDiv(x, d) => {
                if let Some(inner) = s.arena.as_constant(d).and_then(|m| dividends(interval, m)) {
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
                for x in args {
                    push(work, *x, one_sided, implied || binding);
                }
                if !binding {
                    return;
                }
            }
            Node::Mod(..) if interval.is_point() => {
                if let Some((form, r, m)) = self.congruence(s, e, interval.lower) {
                    self.changed |= !implied && s.arena.as_mod(e) != Some((form, m));
                    if !implied {
                        self.keep_congruence(s, form, r, m);
                    }
                    return;
                }
            }
            _ => {}
        }
        if !implied {
            self.keep(e, interval);
        }
    }

    /// The bounds of `e` on the box as it is now.
    fn range(&mut self, s: &mut Simplifier<'_>, e: Expr) -> Interval {
        s.bounds(e)
    }

    fn tighten(&mut self, v: usize, interval: Interval) {
        let new = self.bounds[v].intersect(interval);
        self.empty |= new.is_empty();
        self.changed |= new != self.bounds[v];
        self.bounds[v] = new;
    }

    fn keep(&mut self, e: Expr, interval: Interval) {
        match self.kept.iter_mut().find(|(k, _)| *k == e) {
            Some((_, known)) => {
                let both = known.intersect(interval);
                self.changed |= *known != both;
                *known = both;
                self.empty |= known.is_empty();
            }
            None => self.kept.push((e, interval)),
        }
    }

    /// `g * h + low in [a, b]` with `0 <= low < g` is `h in [a', b']` where neither end cuts through a period.
    fn without_low_terms(
        &self,
        s: &mut Simplifier<'_>,
        e: Expr,
        interval: Interval,
    ) -> Option<(Expr, Interval)> {
        let Node::Sum(0, terms) = s.arena.node(e) else { return None };
        let mut terms: Vec<Term> = terms.to_vec();
        terms.sort_by_key(|t| std::cmp::Reverse(t.coeff.unsigned_abs()));
        let mut low: Vec<Interval> = vec![Interval::point(0)];
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
            let high: Vec<Term> = terms[..kept].iter().map(|t| Term::new(t.coeff / g, t.expr)).collect();
            return s.arena.sum(0, &high).ok().map(|h| (h, inner));
        }
        None
    }

    /// What `sum in interval` says of each term when the others are as small or as large as they can be.
    fn imply_terms(
        &mut self,
        s: &mut Simplifier<'_>,
        e: Expr,
        interval: Interval,
        work: &mut Vec<Assumption>,
    ) {
        let Node::Sum(constant, terms) = s.arena.node(e) else { return };
        let terms: Vec<Term> = terms.to_vec();
        let parts: Vec<Interval> = terms.iter().map(|t| s.bounds(t.expr).scaled(t.coeff)).collect();
        let total = parts.iter().fold(Interval::point(constant), |sum, p| sum.plus(*p));
        for (t, part) in terms.iter().zip(&parts) {
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
        let scaled: Option<Vec<Term>> = terms
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
        let (form, modulus) = s.arena.as_mod(form)?;
        (modulus == m).then_some((form, right, m))
    }

    /// Keep `x mod m = r`, joined with what is known of `x` already.
    fn keep_congruence(&mut self, s: &mut Simplifier<'_>, x: Expr, r: i64, m: i64) {
        let (mut r, mut m) = (r, m);
        let mut k = 0;
        while k < self.kept.len() {
            let (e, known) = self.kept[k];
            let other = s.arena.as_mod(e).filter(|(y, _)| *y == x && known.is_point());
            match other.map(|(_, n)| chinese_remainder((r, m), (known.lower, n))) {
                Some(Joined::Never) => {
                    self.empty = true;
                    return;
                }
                Some(Joined::As(residue, modulus)) => {
                    (r, m) = (residue, modulus);
                    self.kept.remove(k);
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
                self.tighten(v as usize, Interval::new(lower, upper));
                let b = self.bounds[v as usize];
                if self.empty || b.is_point() {
                    return;
                }
            }
        }
        if let Ok(e) = s.arena.modulo_constant(x, m) {
            self.keep(e, Interval::point(r));
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
fn shifted_back(interval: Interval, offset: i64) -> Option<Interval> {
    let Interval { lower, upper } = interval;
    let lower =
        if lower == i64::MIN { lower } else { lower.checked_sub(offset).filter(|x| *x != i64::MAX)? };
    let upper =
        if upper == i64::MAX { upper } else { upper.checked_sub(offset).filter(|x| *x != i64::MIN)? };
    Some(Interval::new(lower, upper))
}

/// The `x` with `x floordiv m in interval`; `None` as above.
fn dividends(interval: Interval, m: i64) -> Option<Interval> {
    let Interval { lower, upper } = interval;
    let lower = if lower == i64::MIN { lower } else { lower.checked_mul(m)? };
    let upper = if upper == i64::MAX { upper } else { upper.checked_mul(m)?.checked_add(m - 1)? };
    Some(Interval::new(lower, upper))
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

/// The bounds of `e` on a box, without facts.
pub fn range_on_box(
    arena: &mut Arena,
    scratch: &mut Scratch,
    bounds: &[Interval],
    e: Expr,
) -> Result<Interval> {
    scratch.ranges.reset(bounds.iter().copied());
    Ok(scratch.ranges.bounds(arena, e))
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
