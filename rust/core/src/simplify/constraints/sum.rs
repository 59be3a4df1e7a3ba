//! Constraints on sums.

use super::{law, Apply, Assumption, ConstraintPropagation};
use crate::expr::{Expr, Node, Term, Terms};
use crate::int::gcd_i64;
use crate::interval::Interval;
use crate::simplify::facts::normal_form;
use crate::simplify::law::{Law, Row};
use crate::simplify::preimage::{periods, shifted_back};
use crate::simplify::simplifier::Simplifier;
use smallvec::{smallvec, SmallVec};

pub(super) static SUMS: [Row<Apply>; 3] = [
    row!("constraint-normal-form", "sum": "k * x + c in [a, b] = x in [-(-(a - c) / k), (b - c) / k]"
        if "k > 0; if k < 0, the same of -k and -x" => ConstraintPropagation::normal_form),
    row!("constraint-low-terms-removed", "sum": "g * h + l in [a, b] = h in [p, q]"
        if "g > 0, u <= l <= v, p = (a - u) ceildiv g = (a - v) ceildiv g, q = (b - v) / g = (b - u) / g"
        => ConstraintPropagation::low_terms_removed),
    row!("constraint-bounds-term", "sum": "x + y in [a, b] implies x in [a - v, b - u]"
        if "u <= y <= v" => ConstraintPropagation::bounds_of_terms),
];

impl ConstraintPropagation {
    fn normal_form(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let Some((form, factor, offset)) = normal_form(s.arena, a.expr) else { return true };
        let inner = shifted_back(a.interval, offset).filter(|_| form != a.expr);
        let Some(inner) = inner else { return false };
        // The sum without its constant may have a cheaper form.
        let simple = s.simplify(form);
        let cheaper = simple != form && s.cost(simple) < s.cost(form);
        let form = if cheaper { simple } else { form };
        let inner = inner.quotient_by(factor);
        s.record_constraint(law, a.stated(), &[(form, inner)]);
        self.work.push(a.part(form, inner));
        true
    }

    fn low_terms_removed(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let Some((high, inner)) = self.without_low_terms(s, a.expr, a.interval) else { return false };
        s.record_constraint(law, a.stated(), &[(high, inner)]);
        self.work.push(a.part(high, inner));
        true
    }

    /// `h in [a', b']` for `g * h + low in [a, b]` with `0 <= low < g`, if neither bound lies within a period.
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

    /// The bounds that `sum in interval` implies for each term, by the extreme values of the others.
    fn bounds_of_terms(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let Assumption { expr: e, interval, .. } = *a;
        let Node::Sum(constant, terms) = s.arena.node(e) else { return false };
        let terms: Terms = Terms::from_slice(terms);
        let parts: SmallVec<[Interval; 8]> = terms.iter().map(|t| s.bounds(t.expr).scaled(t.coeff)).collect();
        let total = parts.iter().fold(Interval::point(constant), |sum, p| sum.plus(*p));
        // A term gets bounds only if it varies by more than this.
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
                s.record_constraint(law, (e, interval), &[(t.expr, bounds)]);
                self.work.push(Assumption { implied: true, ..a.part(t.expr, bounds) });
            }
        }
        false
    }
}
