//! Facts that constraints state besides the box of variables.
//!
//! A fact is stored for the form without its constant, divided by its content, with a positive leading coefficient.

use crate::expr::{Arena, Expr, Node, Term, Terms};
use crate::int::gcd_i64;
use crate::interval::Interval;
use foldhash::fast::FixedState;
use std::collections::HashMap;

type ByNode<V> = HashMap<Expr, V, FixedState>;

/// The facts that hold besides the box.
#[derive(Default, Debug)]
pub struct Facts {
    /// Bounds of normalized forms.
    pub(crate) ranges: ByNode<Interval>,
    /// `form mod m = r`.
    pub(crate) congruences: ByNode<(i64, i64)>,
    /// The variables in facts, each as the bit of its index modulo 16.
    pub(crate) variables: u16,
    /// The forms of `ranges` that are sums, in the order in which they were stated.
    pub(crate) linear: Vec<(Expr, Interval)>,
    /// Whether a form of `linear` has atoms other than variables.
    pub(crate) has_digits: bool,
    /// Whether a fact of `ranges` or `congruences` is about something other than a sum.
    pub(crate) has_atoms: bool,
    /// Quotients, remainders, minima and maxima that equal a cheaper expression.
    pub(crate) equal: ByNode<Expr>,
    /// Whether a sum has a single value.
    pub(crate) has_equalities: bool,
    /// Variables that are equal.
    pub(crate) equal_variables: EqualVariables,
}

/// Classes of equal variables, each represented by its first one.
#[derive(Default, Debug)]
pub(crate) struct EqualVariables {
    before: ByNode<Expr>,
}

impl EqualVariables {
    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.before.clear();
    }

    /// The first of the class of `v`; `None` where it is `v`.
    pub(crate) fn first_of(&self, v: Expr) -> Option<Expr> {
        let mut first = *self.before.get(&v)?;
        while let Some(before) = self.before.get(&first) {
            first = *before;
        }
        Some(first)
    }

    /// Joins the classes of `a` and `b`. Returns the variable that lost its place as representative; `None` if they were equal.
    pub(crate) fn join(&mut self, arena: &Arena, a: Expr, b: Expr) -> Option<Expr> {
        let (a, b) = (self.shortened(a), self.shortened(b));
        let (first, last) = if arena.compare(a, b).is_lt() { (a, b) } else { (b, a) };
        if first == last {
            return None;
        }
        self.before.insert(last, first);
        Some(last)
    }

    /// The first of the class of `v`, with path compression.
    fn shortened(&mut self, v: Expr) -> Expr {
        let first = self.first_of(v).unwrap_or(v);
        let mut at = v;
        while at != first {
            at = self.before.insert(at, first).unwrap_or(first);
        }
        first
    }
}

impl Facts {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.congruences.is_empty()
    }

    /// Whether no fact is about a sum.
    pub(crate) fn are_of_atoms(&self) -> bool {
        self.linear.is_empty() && self.congruences.is_empty()
    }

    /// Whether all facts are about atoms, or none is about a variable of `e`. False may be wrong.
    pub(crate) fn leave_out(&self, arena: &Arena, e: Expr) -> bool {
        self.are_of_atoms() || arena.variables_of(e) & self.variables == 0
    }

    /// Whether a fact may bound a sum of some of the terms accepted by `has` better than each of them is bounded.
    pub(crate) fn may_join(&self, arena: &Arena, has: impl Fn(Expr) -> bool) -> bool {
        let within = |form: &Expr| match arena.node(*form) {
            Node::Sum(_, parts) => parts.iter().all(|p| has(p.expr)),
            _ => false,
        };
        self.linear.iter().any(|f| within(&f.0)) || self.congruences.keys().any(within)
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.congruences.clear();
        self.variables = 0;
        self.linear.clear();
        self.has_digits = false;
        self.has_atoms = false;
        self.equal.clear();
        self.has_equalities = false;
        self.equal_variables.clear();
    }
}

impl Arena {
    /// `(x, y)` if `form in value` states `x - y = 0` for two variables.
    pub(crate) fn equal_variables(&self, form: Expr, value: Interval) -> Option<(Expr, Expr)> {
        let Node::Sum(0, &[a, b]) = self.node(form) else { return None };
        let variables = self.as_variable(a.expr).is_some() && self.as_variable(b.expr).is_some();
        let equal = value == Interval::point(0) && a.coeff == 1 && b.coeff == -1 && variables;
        equal.then_some((a.expr, b.expr))
    }
}

/// `(form, factor, offset)` with `e = factor * form + offset` and the form as facts are stored; `None`: a constant.
pub fn normal_form(arena: &mut Arena, e: Expr) -> Option<(Expr, i64, i64)> {
    match arena.node(e) {
        Node::Constant(_) => None,
        Node::Sum(constant, terms) => {
            let mut content = 0i64;
            for t in terms {
                content = gcd_i64(content, t.coeff);
                if content == 1 {
                    break;
                }
            }
            let content = if terms[0].coeff < 0 { -content } else { content };
            if content == 0 || terms.iter().any(|t| t.coeff == i64::MIN) {
                return Some((e, 1, 0));
            }
            if constant == 0 && content == 1 {
                return Some((e, 1, 0));
            }
            let reduced: Terms = terms.iter().map(|t| Term::new(t.coeff / content, t.expr)).collect();
            Some((arena.sorted_sum(0, &reduced), content, constant))
        }
        _ => Some((e, 1, 0)),
    }
}
