//! Ranges of sums whose terms tell something of each other: a quotient beside its remainder, or beside what it divides.

use crate::expr::{Arena, Expr, Node, Term};
use crate::interval::Interval;
use crate::simplify::range::Ranges;

impl Ranges {
    /// The bounds of a sum by what its terms have in common.
    pub(super) fn of_related_terms(&self, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Interval> {
        let mut bounds = self.of_digits(arena, constant, terms);
        for (k, t) in terms.iter().enumerate() {
            if let Node::Product(&[x, y]) = arena.node(t.expr) {
                let factored = self.of_common_factor(arena, constant, terms, (k, x, y));
                bounds = bounds.map_or(factored, |b| Some(factored.map_or(b, |f| b.intersect(f))));
            }
            let Some((n, m)) = arena.as_floordiv(t.expr) else { continue };
            let related = |(i, o): (usize, &Term)| i != k && arena.may_share_variables(o.expr, n);
            if terms.iter().enumerate().any(related) {
                let opened = self.of_opened_quotient(arena, constant, terms, (k, n, m));
                bounds = bounds.map_or(opened, |b| Some(opened.map_or(b, |o| b.intersect(o))));
            }
        }
        bounds
    }

    /// `a * x * y + b * x` is `x * (a * y + b)`.
    fn of_common_factor(
        &self,
        arena: &Arena,
        constant: i64,
        terms: &[Term],
        (place, x, y): (usize, Expr, Expr),
    ) -> Option<Interval> {
        let (k, other) = terms.iter().enumerate().find_map(|(k, t)| match t.expr {
            e if e == x => Some((k, y)),
            e if e == y => Some((k, x)),
            _ => None,
        })?;
        let factor = self.operand(arena, terms[k].expr).bounds;
        let other = self.operand(arena, other).bounds.scaled(terms[place].coeff);
        let mut sum = factor.times(other.plus(Interval::point(terms[k].coeff)));
        sum = sum.plus(Interval::point(constant));
        for (_, t) in terms.iter().enumerate().filter(|(i, _)| *i != k && *i != place) {
            sum = sum.plus(self.operand(arena, t.expr).bounds.scaled(t.coeff));
        }
        Some(sum)
    }

    /// `a * (n floordiv m) + y` is an `m`-th of `a * n + m * y - a * (n mod m)`, where terms of `n` and `y` cancel.
    fn of_opened_quotient(
        &self,
        arena: &Arena,
        constant: i64,
        terms: &[Term],
        (place, n, m): (usize, Expr, i64),
    ) -> Option<Interval> {
        let one = [Term::new(1, n)];
        let (inner, parts) = arena.as_sum(n, &one);
        let beside = |k: usize, p: &Term| k != place && terms[k].expr == p.expr;
        let shared = |p: &Term| (0..terms.len()).find(|k| beside(*k, p));
        arena.charge(parts.len());
        if m <= 0 || !parts.iter().any(|p| shared(p).is_some()) {
            return None;
        }
        let a = terms[place].coeff;
        let whole = a.checked_mul(inner)?.checked_add(constant.checked_mul(m)?)?;
        let mut sum = Interval::point(whole).plus(Interval::new(1 - m, 0).scaled(a));
        for p in parts {
            let own = shared(p).map_or(Some(0), |k| terms[k].coeff.checked_mul(m))?;
            let coeff = a.checked_mul(p.coeff)?.checked_add(own)?;
            sum = sum.plus(self.of_term(arena, p.expr).bounds.scaled(coeff));
        }
        for (k, t) in terms.iter().enumerate() {
            if k != place && !parts.iter().any(|p| p.expr == t.expr) {
                sum = sum.plus(self.of_term(arena, t.expr).bounds.scaled(t.coeff.checked_mul(m)?));
            }
        }
        Some(sum.quotient_by(m))
    }

    /// `a * x + b * (x floordiv k) + c * (x mod k)` is `(a * k + b) * q + (a + c) * r`, where `q` and `r` are
    /// independent but for the ends of `x`.
    fn of_digits(&self, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Interval> {
        let (x, k) = terms.iter().find_map(|t| {
            let (x, k) = arena.as_floordiv(t.expr).or_else(|| arena.as_mod(t.expr))?;
            // Beside each other alone, both digits are independent already.
            terms.iter().any(|o| o.expr == x).then_some((x, k))
        })?;
        let mut rest = Interval::point(constant);
        let (mut a, mut b, mut c) = (0, 0, 0);
        for t in terms {
            if t.expr == x {
                a = t.coeff;
            } else if arena.as_floordiv(t.expr) == Some((x, k)) {
                b = t.coeff;
            } else if arena.as_mod(t.expr) == Some((x, k)) {
                c = t.coeff;
            } else {
                rest = rest.plus(self.operand(arena, t.expr).bounds.scaled(t.coeff));
            }
        }
        let quotient = a.checked_mul(k)?.checked_add(b)?;
        let remainder = a.checked_add(c)?;
        let bounds = self.operand(arena, x).bounds;
        let digits =
            bounds.floordiv_positive(k).scaled(quotient).plus(Interval::new(0, k - 1).scaled(remainder));
        Some(rest.plus(digits))
    }
}
