//! The cost of an expression, and the width of the integers that it needs.

use crate::expr::canonical::gcd_with;
use crate::expr::traversal::{compute_all, BottomUp};
use crate::expr::{Arena, Expr, Leaf, Node, Tag};
use crate::interval::Interval;
use crate::simplify::simplifier::Simplifier;
use crate::simplify::width::Width;

/// The greatest cost, at which costs saturate.
pub(crate) const MAX_COST: u32 = u32::MAX - 1;

impl Simplifier<'_> {
    /// The cost of an expression as a tree: 1 for each addition and each coefficient that is not 1 or -1, 4 for each floordiv,
    /// mod, min, max. It saturates, because the tree of a DAG may be exponential.
    pub(crate) fn cost(&mut self, e: Expr) -> u32 {
        match self.known_cost(e) {
            Some(cost) => cost,
            None => {
                compute_all(&mut Costs(self), e);
                self.known_cost(e).unwrap_or(MAX_COST)
            }
        }
    }

    fn known_cost(&self, e: Expr) -> Option<u32> {
        match self.arena.leaf(e) {
            Some(_) => Some(0),
            None => self.costs.get(e.index()).copied().filter(|c| *c != u32::MAX),
        }
    }

    fn own_cost(&self, e: Expr) -> u32 {
        let at = |o: Expr| self.known_cost(o).unwrap_or(MAX_COST);
        let cost = match self.arena.node(e) {
            Node::Variable(_) | Node::Constant(_) => 0u32,
            Node::FloorDiv(a, b) | Node::Mod(a, b) => {
                // A quotient whose dividend contains m - 1 is printed as a ceildiv without it.
                let top =
                    self.arena.as_floordiv(e).is_some_and(|(n, m)| self.arena.constant_part(n) == m - 1);
                let ceiling = u32::from(top && self.arena.tag(a) == Tag::Sum);
                (at(a) - ceiling).saturating_add(at(b)).saturating_add(4)
            }
            Node::Product(args) => args.iter().fold(args.len() as u32 - 1, |c, a| c.saturating_add(at(*a))),
            Node::Min(args) | Node::Max(args) => {
                args.iter().fold(4 * (args.len() as u32 - 1), |c, a| c.saturating_add(at(*a)))
            }
            Node::Sum(constant, terms) => {
                let joins = terms.len() as u32 - 1 + u32::from(constant != 0);
                let scaled = |g: i64| terms.iter().filter(|t| t.coeff != g && t.coeff != -g).count() as u32;
                let mut coefficients = scaled(1);
                if coefficients as usize == terms.len() {
                    let common = terms.iter().fold(constant.unsigned_abs(), |g, t| gcd_with(g, t.coeff));
                    // A common factor may be printed once, outside of the sum.
                    if let Some(g) = i64::try_from(common).ok().filter(|g| *g > 1) {
                        coefficients = coefficients.min(1 + scaled(g));
                    }
                }
                // The constant may be moved into a quotient that contains one.
                let folds = constant != 0
                    && terms.iter().any(|t| {
                        let dividend = self.arena.as_floordiv(t.expr);
                        let has_one = |c: i64, m: i64| c != 0 && c != m - 1;
                        dividend.is_some_and(|(n, m)| has_one(self.arena.constant_part(n), m))
                            && constant.checked_rem(t.coeff) == Some(0)
                    });
                let joins = joins - u32::from(folds);
                terms.iter().fold(joins.saturating_add(coefficients), |c, t| c.saturating_add(at(t.expr)))
            }
        };
        cost.min(MAX_COST)
    }
}

/// The costs that a simplifier keeps.
struct Costs<'s, 'a>(&'s mut Simplifier<'a>);

impl BottomUp for Costs<'_, '_> {
    fn arena(&self) -> &Arena {
        self.0.arena
    }

    fn is_known(&self, e: Expr) -> bool {
        self.0.known_cost(e).is_some()
    }

    fn compute(&mut self, e: Expr) {
        let s = &mut *self.0;
        s.arena.charge(s.arena.operand_count(e));
        let cost = s.own_cost(e);
        if s.costs.len() <= e.index() {
            s.costs.resize(e.index() + 16, u32::MAX);
        }
        s.costs[e.index()] = cost;
    }
}

impl Simplifier<'_> {
    /// Whether `after` needs wider integers than `before`.
    pub(crate) fn is_wider(&mut self, after: Expr, before: Expr) -> bool {
        let width = self.width(after);
        width > Width::NARROW && width > self.width(before)
    }

    fn width(&mut self, e: Expr) -> Width {
        if self.known_width(e).is_none() {
            compute_all(&mut Widths(self), e);
        }
        self.known_width(e).unwrap_or(Width::WIDE)
    }

    fn known_width(&self, e: Expr) -> Option<Width> {
        match self.arena.leaf(e) {
            Some(Leaf::Constant(c)) => Some(Width::of(Interval::point(c))),
            Some(Leaf::Variable(v)) => Some(Width::of(self.ranges.variable(v).bounds)),
            None => self.widths.get(e.index()).copied().flatten(),
        }
    }
}

/// The widths that a simplifier keeps.
struct Widths<'s, 'a>(&'s mut Simplifier<'a>);

impl BottomUp for Widths<'_, '_> {
    fn arena(&self) -> &Arena {
        self.0.arena
    }

    fn is_known(&self, e: Expr) -> bool {
        self.0.known_width(e).is_some()
    }

    fn compute(&mut self, e: Expr) {
        let s = &mut *self.0;
        s.arena.charge(1 + s.arena.operand_count(e));
        let mut width = Width::of(s.ranges.intermediate_values(s.arena, e));
        if width > Width::WIDE {
            width = Width::beyond(s.ranges.max_partial_sum(s.arena, e));
        }
        s.arena.for_each_operand(e, |o| width = width.max(s.known_width(o).unwrap_or(Width::WIDE)));
        if s.widths.len() <= e.index() {
            s.widths.resize(e.index() + 16, None);
        }
        s.widths[e.index()] = Some(width);
    }
}
