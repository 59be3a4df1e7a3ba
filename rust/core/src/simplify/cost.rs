//! The cost of an expression, and the width of the integers that it needs.

use crate::expr::canonical::gcd_with;
use crate::expr::traversal::{compute_all, BottomUp};
use crate::expr::{Arena, Expr, Leaf, Node, Tag, Term, Terms};
use crate::interval::Interval;
use crate::simplify::simplifier::Simplifier;
use crate::simplify::width::Width;

/// The greatest cost, at which costs saturate.
pub(crate) const MAX_COST: u32 = u32::MAX - 1;

/// Factors are printed inside of minima, maxima and remainders up to this number.
const MAX_INSIDE: i64 = i32::MAX as i64;
/// Into a minimum or maximum of more arguments, no factor is printed.
const MAX_ARGUMENTS_INSIDE: usize = 8;
/// Of a minimum or maximum of more arguments, none are printed within one of their own.
const MAX_SHARING_ARGUMENTS: usize = 8;

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

    /// Counts coefficients that are printed once as one from now on, or each by itself.
    pub(crate) fn shares_coefficients(&mut self, shared: bool) {
        if shared != self.shared_coefficients {
            self.shared_coefficients = shared;
            self.costs.clear();
        }
    }

    /// The cost, with each coefficient by itself.
    pub(crate) fn cost_without_sharing(&mut self, e: Expr) -> u32 {
        self.shares_coefficients(false);
        let cost = self.cost(e);
        self.shares_coefficients(true);
        cost
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
                let own = 4 * (args.len() as u32 - 1);
                args.iter().fold(own, |c, a| c.saturating_add(at(*a))) - self.gain_of_shared_term(args)
            }
            Node::Sum(constant, terms) => {
                let own = self.own_cost_of_sum(constant, terms);
                let own = own.saturating_sub(self.gain_of_factor_inside(constant, terms));
                terms.iter().fold(own, |c, t| c.saturating_add(at(t.expr)))
            }
        };
        cost.min(MAX_COST)
    }

    /// The cost of a sum without that of its terms' expressions.
    fn own_cost_of_sum(&self, constant: i64, terms: &[Term]) -> u32 {
        let joins = terms.len() as u32 - 1 + u32::from(constant != 0);
        let coefficients = printed_coefficients(constant, terms, self.shared_coefficients);
        // The constant may be moved into a quotient that contains one.
        let folds = constant != 0
            && terms.iter().any(|t| {
                let dividend = self.arena.as_floordiv(t.expr);
                let has_one = |c: i64, m: i64| c != 0 && c != m - 1;
                dividend.is_some_and(|(n, m)| has_one(self.arena.constant_part(n), m))
                    && constant.checked_rem(t.coeff) == Some(0)
            });
        joins - u32::from(folds) + coefficients
    }

    /// The additions and coefficients of `factor * e + shift`, less those of `e`; `None` for large numbers.
    fn dearer_by(&self, e: Expr, factor: i64, shift: i64) -> Option<i64> {
        let one = [Term::new(1, e)];
        let (constant, terms) = self.arena.as_sum(e, &one);
        let scaled = |c: i64, shift: i64| {
            let scaled = c.checked_mul(factor)?.checked_add(shift)?;
            (-MAX_INSIDE..=MAX_INSIDE).contains(&scaled).then_some(scaled)
        };
        let moved = scaled(constant, shift)?;
        // An extremum within would be joined with the one around it.
        if terms.iter().any(|t| matches!(self.arena.tag(t.expr), Tag::Min | Tag::Max)) {
            return None;
        }
        if terms.is_empty() {
            return Some(0);
        }
        let inside: Option<Terms> =
            terms.iter().map(|t| Some(Term::new(scaled(t.coeff, 0)?, t.expr))).collect();
        let (after, before) = (self.own_cost_of_sum(moved, &inside?), self.own_cost_of_sum(constant, terms));
        Some(i64::from(after) - i64::from(before))
    }

    /// The cost saved if arguments that have the term of a variable in common are printed as an extremum of their own, with
    /// the term behind it: `min(a + t, b + t, c)` as `min(min(a, b) + t, c)`.
    fn gain_of_shared_term(&self, args: &[Expr]) -> u32 {
        if !(3..=MAX_SHARING_ARGUMENTS).contains(&args.len()) {
            return 0;
        }
        let sums: Vec<(i64, Terms)> = args.iter().map(|a| self.arena.to_sum(*a)).collect();
        // An extremum within would be joined with the one around it.
        let is_extremum = |t: &Term| matches!(self.arena.tag(t.expr), Tag::Min | Tag::Max);
        if sums.iter().any(|s| s.1.iter().any(is_extremum)) {
            return 0;
        }
        let mut best: Option<(usize, Term)> = None;
        for t in sums.iter().flat_map(|s| &s.1).filter(|t| self.arena.tag(t.expr) == Tag::Variable) {
            let count = sums.iter().filter(|s| s.1.contains(t)).count();
            if count > best.map_or(1, |b| b.0) {
                best = Some((count, *t));
            }
        }
        let Some((count, t)) = best else { return 0 };
        let alone = sums.iter().filter(|s| s.0 == 0 && s.1.as_slice() == [t]).count();
        let factors = if matches!(t.coeff, 1 | -1) { 0 } else { count - 1 };
        (count - alone + factors).saturating_sub(1) as u32
    }

    /// The cost saved if a factor is printed inside: `c * min(a, b) + k` as `min(c * a + k, c * b + k)`, and
    /// `c * (x mod m) + k` as `(c * x + k) mod (c * m)` for `0 <= k < c`.
    fn gain_of_factor_inside(&self, constant: i64, terms: &[Term]) -> u32 {
        let &[Term { coeff, expr }] = terms else { return 0 };
        if coeff == 1 || coeff == -1 {
            return 0;
        }
        let dearer = match self.arena.node(expr) {
            Node::Min(args) | Node::Max(args) if args.len() <= MAX_ARGUMENTS_INSIDE => {
                args.iter().try_fold(0, |sum, a| Some(sum + self.dearer_by(*a, coeff, constant)?))
            }
            Node::Mod(x, m) if (0..coeff).contains(&constant) => {
                let whole = self.arena.as_constant(m).and_then(|m| m.checked_mul(coeff));
                whole.filter(|m| *m <= MAX_INSIDE).and_then(|_| self.dearer_by(x, coeff, constant))
            }
            _ => None,
        };
        let outside = 1 + i64::from(constant != 0);
        dearer.map_or(0, |dearer| u32::try_from(outside - dearer).unwrap_or(0))
    }
}

/// The number of coefficients of a sum that are printed; `shared`: equal ones up to their sign once.
fn printed_coefficients(constant: i64, terms: &[Term], shared: bool) -> u32 {
    let scaled = |g: i64| terms.iter().filter(|t| t.coeff != g && t.coeff != -g).count() as u32;
    let coefficients = if shared { different_coefficients(terms) } else { scaled(1) };
    if coefficients as usize == terms.len() {
        let common = terms.iter().fold(constant.unsigned_abs(), |g, t| gcd_with(g, t.coeff));
        // A common factor may be printed once, outside of the sum.
        if let Some(g) = i64::try_from(common).ok().filter(|g| *g > 1) {
            return coefficients.min(1 + scaled(g));
        }
    }
    coefficients
}

/// The number of coefficients of a sum that are not printed, because they stand beside an equal one.
pub(super) fn saved_coefficients(arena: &Arena, e: Expr) -> u32 {
    match arena.node(e) {
        Node::Sum(c, terms) => printed_coefficients(c, terms, false) - printed_coefficients(c, terms, true),
        _ => 0,
    }
}

/// The number of coefficients other than 1 and -1; equal ones, up to their sign, count once, as they are printed.
fn different_coefficients(terms: &[Term]) -> u32 {
    let size = |t: &Term| t.coeff.unsigned_abs();
    let is_first = |k: &usize| terms[..*k].iter().all(|t| size(t) != size(&terms[*k]));
    (0..terms.len()).filter(|k| size(&terms[*k]) != 1 && is_first(k)).count() as u32
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
