//! Constraints on remainders that have one value: congruences.

use super::{law, Apply, Assumption, ConstraintPropagation};
use crate::expr::{Expr, Node, Term, Terms};
use crate::int::{ceil_div, div_mod_positive, floor_div, floor_mod, inverse_mod};
use crate::interval::Interval;
use crate::simplify::congruence::{chinese_remainder, Conjunction};
use crate::simplify::law::{Law, Row};
use crate::simplify::simplifier::Simplifier;

/// `x mod m = r`.
pub(super) struct Congruence {
    x: Expr,
    m: i64,
    r: i64,
}

/// A law of a congruence and a kept one of the same expression, given by its index. Returns whether it removed the kept one,
/// or found that no integer satisfies both.
type ApplyToPair =
    fn(&mut ConstraintPropagation, &mut Simplifier<'_>, &mut Congruence, (usize, i64), &Law) -> bool;
/// A law of a congruence on a variable; returns whether the bounds of the variable now imply it.
type ApplyToVariable = fn(&mut ConstraintPropagation, &mut Simplifier<'_>, &Congruence, u32, &Law) -> bool;

pub(super) static REMAINDERS: [Row<Apply>; 3] = [
    row!("constraint-on-remainder", "mod": "x % m in [r, s] = x in [k * m + r, k * m + s]"
        if "m > 0, 0 <= r, s < m, k * m + s - m < x < k * m + r + m" => ConstraintPropagation::on_remainder),
    row!("constraint-remainder-bounds", "mod": "x % m in [r, s] implies x in [k * m + r, l * m + s]"
        if "m > 0, 0 <= r, s < m, k * m + s - m < x < l * m + r + m"
        => ConstraintPropagation::bounds_by_remainder),
    row!("constraint-congruence-normal", "mod": "(u * x + c) % m = r is (x + i * c) % m = i * r % m"
        if "m > 0, 0 <= r < m, i * u % m = 1" => ConstraintPropagation::congruence_normal),
];

pub(super) static PAIRS: [Row<ApplyToPair>; 2] = [
    row!("constraint-congruences-merge", "mod": "x % m = r and x % n = q is x % l = s"
        if "l = lcm(m, n), 0 <= s < l, s % m = r, s % n = q" => ConstraintPropagation::congruences_merge),
    row!("constraint-congruences-contradict", "mod": "x % m = r and x % n = q is false"
        if "m > 0, n > 0, g > 0, g divides m and n, (q - r) % g != 0"
        => ConstraintPropagation::congruences_contradict),
];

pub(super) static VARIABLES: [Row<ApplyToVariable>; 1] = [
    row!("constraint-congruence-bounds", "mod": "x % m = r and a <= x <= b implies a + (r - a) % m <= x <= b - (b - r) % m"
        if "m > 0, 0 <= r < m" => ConstraintPropagation::bounds_by_congruence),
];

/// The dividends of `e in interval`, a remainder, from the first to the last period that its bounds reach, and whether
/// these are the same; `None` if the dividend is not bounded.
fn dividends_in_periods(
    s: &mut Simplifier<'_>,
    e: Expr,
    interval: Interval,
) -> Option<(Expr, Interval, bool)> {
    let (x, m) = s.arena.as_mod(e)?;
    let range = s.bounds(x);
    let (lower, upper) = (range.lower.checked_sub(interval.upper)?, range.upper.checked_sub(interval.lower)?);
    let (first, last) = (ceil_div(lower, m)?, floor_div(upper, m)?);
    let least = first.checked_mul(m)?.checked_add(interval.lower)?;
    let most = last.checked_mul(m)?.checked_add(interval.upper)?;
    range.is_bounded().then_some((x, Interval::new(least, most), first == last))
}

impl ConstraintPropagation {
    fn on_remainder(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let Some((x, inner, true)) = dividends_in_periods(s, a.expr, a.interval) else { return false };
        s.record_constraint(law, a.stated(), &[(x, inner)]);
        self.work.push(a.part(x, inner));
        true
    }

    fn bounds_by_remainder(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let Some((x, inner, false)) = dividends_in_periods(s, a.expr, a.interval) else { return false };
        if !inner.covers(s.bounds(x)) {
            s.record_constraint(law, a.stated(), &[(x, inner)]);
            self.work.push(Assumption { implied: true, ..a.part(x, inner) });
        }
        false
    }

    fn congruence_normal(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        if !a.interval.is_point() {
            return false;
        }
        let Some((form, r, m)) = self.normal_congruence(s, a.expr, a.interval.lower) else { return false };
        if a.implied {
            return true;
        }
        if s.arena.as_mod(a.expr) != Some((form, m)) {
            self.changed = true;
            if let Ok(made) = s.arena.modulo_constant(form, m) {
                s.record_constraint(law, a.stated(), &[(made, Interval::point(r))]);
            }
        }
        self.keep_congruence(s, Congruence { x: form, r, m });
        true
    }

    /// `x mod m = r` with the constant of `x` moved to the right and, if it has an inverse, the leading coefficient made 1.
    fn normal_congruence(&mut self, s: &mut Simplifier<'_>, e: Expr, r: i64) -> Option<(Expr, i64, i64)> {
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
        // The constructor may find a remainder with a smaller modulus, for which `right` is not the residue.
        let whole = form;
        let (form, modulus) = s.arena.as_mod(form)?;
        (modulus == m && !s.is_wider(whole, e)).then_some((form, right, m))
    }

    /// Keeps the congruence, merged with those of the same expression.
    fn keep_congruence(&mut self, s: &mut Simplifier<'_>, mut own: Congruence) {
        let mut k = 0;
        s.arena.charge(self.kept.len() / 2);
        while k < self.kept.len() {
            let (e, known) = self.kept[k];
            let other = s.arena.as_mod(e).filter(|(y, _)| *y == own.x && known.is_point());
            let Some((_, n)) = other else {
                k += 1;
                continue;
            };
            if !PAIRS.iter().any(|row| (row.function)(self, s, &mut own, (k, n), &row.law)) {
                k += 1;
            }
            if self.empty {
                return;
            }
        }
        if let Some(v) = s.arena.as_variable(own.x) {
            if VARIABLES.iter().any(|row| (row.function)(self, s, &own, v, &row.law)) {
                return;
            }
        }
        if let Ok(e) = s.arena.modulo_constant(own.x, own.m) {
            self.keep(s, e, Interval::point(own.r));
        }
    }

    fn congruences_merge(
        &mut self,
        s: &mut Simplifier<'_>,
        own: &mut Congruence,
        (k, n): (usize, i64),
        law: &Law,
    ) -> bool {
        let (e, known) = self.kept[k];
        let Conjunction::Congruence(r, m) = chinese_remainder((own.r, own.m), (known.lower, n)) else {
            return false;
        };
        if s.records_steps() {
            let parts = [s.arena.modulo_constant(own.x, m), s.arena.modulo_constant(own.x, own.m)];
            if let [Ok(made), Ok(first)] = parts {
                let (merged, first) = ((made, Interval::point(r)), (first, Interval::point(own.r)));
                s.record_merged(law, [first, (e, known)], merged);
            }
        }
        (own.r, own.m) = (r, m);
        self.remove_kept(k);
        self.changed = true;
        true
    }

    fn congruences_contradict(
        &mut self,
        s: &mut Simplifier<'_>,
        own: &mut Congruence,
        (k, n): (usize, i64),
        law: &Law,
    ) -> bool {
        let (e, known) = self.kept[k];
        let never = matches!(chinese_remainder((own.r, own.m), (known.lower, n)), Conjunction::Unsatisfiable);
        if never {
            self.use_own(s, own);
            s.record_constraint(law, (e, known), &[(e, Interval::EMPTY)]);
            self.empty = true;
        }
        never
    }

    fn bounds_by_congruence(&mut self, s: &mut Simplifier<'_>, own: &Congruence, v: u32, law: &Law) -> bool {
        let Congruence { x, m, r } = *own;
        let b = self.bounds[v as usize];
        let above = div_mod_positive(r.wrapping_sub(floor_mod(b.lower, m).unwrap_or(0)), m).1;
        let below = div_mod_positive(floor_mod(b.upper, m).unwrap_or(0).wrapping_sub(r), m).1;
        let ends = b.lower.checked_add(above).zip(b.upper.checked_sub(below));
        let Some((lower, upper)) = ends else { return false };
        let inner = Interval::new(lower, upper);
        if inner != b && s.records_steps() {
            s.reason_stated(x, b);
            if let Ok(e) = s.arena.modulo_constant(x, m) {
                s.record_constraint(law, (e, Interval::point(r)), &[(x, inner)]);
            }
        }
        self.tighten(s, v, inner);
        let done = self.empty || self.bounds[v as usize].is_point();
        if done && s.records_steps() {
            s.release(0);
            s.reason_stated(x, self.bounds[v as usize]);
            if let Ok(e) = s.arena.modulo_constant(x, m) {
                s.record(|recorder, _, _| recorder.implied(law, (e, Interval::point(r))));
            }
        }
        done
    }

    /// Records that the law uses the congruence.
    fn use_own(&self, s: &mut Simplifier<'_>, own: &Congruence) {
        s.record(|recorder, arena, ranges| {
            if let Ok(e) = arena.modulo_constant(own.x, own.m) {
                recorder.use_derived_constraint(arena, ranges, (e, Interval::point(own.r)));
            }
        });
    }
}
