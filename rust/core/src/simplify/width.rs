//! The width of the integers that an expression needs on a domain, for its value and all intermediate results.

use crate::expr::{Arena, Expr, Node, Term};
use crate::interval::Interval;
use crate::simplify::range::Ranges;

/// The number of bits, with the sign, that hold all values of an expression and of its subexpressions: 32, 64 or more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Width(u8);

impl Width {
    pub(crate) const NARROW: Width = Width(32);
    pub(crate) const WIDE: Width = Width(64);

    pub(crate) fn of(values: Interval) -> Width {
        const NARROW: Interval = Interval { lower: i32::MIN as i64, upper: i32::MAX as i64 };
        match values {
            v if NARROW.covers(v) => Width::NARROW,
            v if v.is_bounded() => Width::WIDE,
            _ => Width(65),
        }
    }

    /// More than 64 bits, enough for a sum of this magnitude.
    pub(crate) fn beyond(most: i128) -> Width {
        Width((129 - most.leading_zeros() as u8).max(65))
    }
}

impl Ranges {
    /// An interval of the values of `e` and of all its partial sums and products, in any order.
    pub(crate) fn intermediate_values(&mut self, arena: &mut Arena, e: Expr) -> Interval {
        if let Node::Sum(constant, terms) = arena.node(e) {
            // Most sums fit in 31 bits for all values of their terms: exact bounds are not needed.
            if let Some(most) = self.small_sum(arena, constant, terms) {
                return Interval::new(-most, most);
            }
        }
        let own = self.bounds(arena, e);
        match arena.node(e) {
            Node::Sum(constant, terms) => {
                let zero = Interval::point(0);
                let sums = terms.iter().fold(zero.union(Interval::point(constant)), |sums, t| {
                    sums.plus(self.of_term(arena, t.expr).bounds.scaled(t.coeff).union(zero))
                });
                own.union(sums)
            }
            Node::Product(factors) => {
                let products = factors.iter().fold(Interval::point(1), |products, f| {
                    products.union(products.times(self.operand(arena, *f).bounds))
                });
                own.union(products)
            }
            _ => own,
        }
    }

    /// A bound on the magnitude of all partial sums, if it fits in 31 bits and the bounds of all terms are known.
    fn small_sum(&self, arena: &Arena, constant: i64, terms: &[Term]) -> Option<i64> {
        const MAX: u64 = i32::MAX as u64;
        let small = |x: u64| (x <= MAX).then_some(x);
        let mut most = small(constant.unsigned_abs())?;
        for t in terms {
            let Interval { lower, upper } = self.known(arena, t.expr)?.bounds;
            let term = small(lower.unsigned_abs().max(upper.unsigned_abs()))?;
            most = small(most + term * small(t.coeff.unsigned_abs())?)?;
        }
        Some(most as i64)
    }

    /// A bound on the magnitude of all partial sums of `e`: the sum of the greatest magnitudes of its terms.
    pub(crate) fn max_partial_sum(&self, arena: &Arena, e: Expr) -> i128 {
        let one = [Term::new(1, e)];
        let (constant, terms) = arena.as_sum(e, &one);
        terms.iter().fold(i128::from(constant).abs(), |sum, t| {
            let Interval { lower, upper } = self.of_term(arena, t.expr).bounds;
            let most = i128::from(lower).abs().max(i128::from(upper).abs());
            sum.saturating_add(most.saturating_mul(i128::from(t.coeff).abs()))
        })
    }

    /// Whether `e` may overflow int64 although its operands do not, for another reason than an unbounded variable.
    pub(crate) fn may_overflow(&mut self, arena: &mut Arena, e: Expr) -> bool {
        let own = self.bounds(arena, e);
        if own.is_bounded() {
            return false;
        }
        let (lower, upper) = match arena.node(e) {
            Node::Sum(constant, terms) => {
                let terms = terms.to_vec();
                self.ends_of_sum(arena, constant, &terms)
            }
            Node::Product(factors) => {
                let factors = factors.to_vec();
                self.ends_of_product(arena, &factors)
            }
            _ => return false,
        };
        let below = |end: Option<i128>| end.is_some_and(|x| x < i128::from(i64::MIN));
        let above = |end: Option<i128>| end.is_some_and(|x| x > i128::from(i64::MAX));
        let ends = (own.lower == i64::MIN && below(lower)) || (own.upper == i64::MAX && above(upper));
        ends || above(lower) || below(upper)
    }

    /// The least and the greatest value of an operand; `None` where an unbounded variable leaves it open.
    fn ends(&self, arena: &mut Arena, e: Expr) -> (Option<i128>, Option<i128>) {
        let Interval { lower, upper } = self.operand(arena, e).bounds;
        let is_closed = |i: Interval| i.is_bounded() || i.is_point();
        let closed = arena.variables(&[e]).iter().all(|v| is_closed(self.variable(*v).bounds));
        let end = |x: i64, open: i64| (closed || x != open).then_some(i128::from(x));
        (end(lower, i64::MIN), end(upper, i64::MAX))
    }

    /// The ends of a sum: without one of a term there is none.
    fn ends_of_sum(&self, arena: &mut Arena, constant: i64, terms: &[Term]) -> (Option<i128>, Option<i128>) {
        let constant = Some(i128::from(constant));
        terms.iter().fold((constant, constant), |(lower, upper), t| {
            let (low, high) = self.ends(arena, t.expr);
            let (least, most) = if t.coeff > 0 { (low, high) } else { (high, low) };
            let plus = |(sum, end)| sum + end * i128::from(t.coeff);
            (lower.zip(least).map(plus), upper.zip(most).map(plus))
        })
    }

    /// The ends of a product, if all its factors have them.
    fn ends_of_product(&self, arena: &mut Arena, factors: &[Expr]) -> (Option<i128>, Option<i128>) {
        let mut ends = (Some(1), Some(1));
        for f in factors {
            let (low, high) = self.ends(arena, *f);
            let (Some(a), Some(b), Some(c), Some(d)) = (ends.0, ends.1, low, high) else {
                return (None, None);
            };
            let products = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y): (i128, i128)| x.saturating_mul(y));
            ends = (products.into_iter().min(), products.into_iter().max());
        }
        ends
    }
}
