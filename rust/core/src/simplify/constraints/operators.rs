//! Constraints on quotients and extrema, as constraints on their operands.

use super::{law, Apply, Assumption, ConstraintPropagation};
use crate::expr::{Expr, Node, Tag};
use crate::interval::Interval;
use crate::simplify::law::{Law, Row};
use crate::simplify::preimage::dividends;
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;

pub(super) static QUOTIENTS: [Row<Apply>; 1] =
    [row!("constraint-on-quotient", "floordiv": "x / m in [a, b] = x in [a * m, b * m + m - 1]"
        if "m > 0" => ConstraintPropagation::on_quotient)];

pub(super) static EXTREMA: [Row<Apply>; 2] = [
    row!("constraint-on-deciding-operand", "min, max": "min(x, y) in [a, b] = x in [a, b]"
        if "b < y (max alike)" => ConstraintPropagation::on_deciding_operand),
    row!("constraint-on-extremum", "min, max": "min(x, y) in [a, b] = x in [a, oo], y in [a, oo], min(x, y) in [-oo, b]"
        if "none (max alike)" => ConstraintPropagation::on_extremum),
];

impl ConstraintPropagation {
    fn on_quotient(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let Some((x, m)) = s.arena.as_floordiv(a.expr) else { return false };
        let Some(inner) = dividends(a.interval, m) else { return false };
        s.record_constraint(law, a.stated(), &[(x, inner)]);
        self.work.push(a.part(x, inner));
        true
    }

    /// The constraint on the operands that may be the extremum, where others never are.
    fn on_deciding_operand(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let (Node::Min(args) | Node::Max(args)) = s.arena.node(a.expr) else { return false };
        let (args, tag) = (SmallVec::<[Expr; 8]>::from_slice(args), s.arena.tag(a.expr));
        let mut reached = |x: &Expr| match tag {
            Tag::Min => s.bounds(*x).lower <= a.interval.upper,
            _ => s.bounds(*x).upper >= a.interval.lower,
        };
        let rest: SmallVec<[Expr; 8]> = args.iter().copied().filter(&mut reached).collect();
        if rest.is_empty() || rest.len() == args.len() {
            return false;
        }
        let Ok(deciding) = s.arena.extremum(tag, &rest) else { return false };
        s.record_constraint(law, a.stated(), &[(deciding, a.interval)]);
        self.work.push(a.part(deciding, a.interval));
        true
    }

    fn on_extremum(&mut self, s: &mut Simplifier<'_>, a: &mut Assumption, law: &Law) -> bool {
        let (Node::Min(args) | Node::Max(args)) = s.arena.node(a.expr) else { return false };
        let args: SmallVec<[Expr; 8]> = SmallVec::from_slice(args);
        let (Interval { lower, upper }, range) = (a.interval, s.bounds(a.expr));
        let (one_sided, binding) = match s.arena.tag(a.expr) {
            Tag::Min => (Interval::new(lower, i64::MAX), upper < range.upper),
            _ => (Interval::new(i64::MIN, upper), lower > range.lower),
        };
        let made: SmallVec<[Assumption; 8]> = args.iter().map(|x| a.part(*x, one_sided)).collect();
        if s.records_steps() {
            let parts = made.iter().map(|a| (a.expr, a.interval));
            let all: Vec<_> = parts.chain(binding.then_some((a.expr, a.interval))).collect();
            s.record_constraint(law, a.stated(), &all);
        }
        self.work
            .extend(made.into_iter().map(|part| Assumption { implied: part.implied || binding, ..part }));
        !binding
    }
}
