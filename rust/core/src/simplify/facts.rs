//! Facts: constraints that hold on a domain besides the box of variables.
//!
//! A fact is stored in normal form: without constant, divided by its content, with a positive leading coefficient.

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
    /// The variables in facts, as a set of indices modulo 16.
    pub(crate) variables: u16,
    /// The forms of `ranges` that are sums, in the order in which they were stated.
    pub(crate) linear: Vec<(Expr, Interval)>,
    /// Whether a form of `linear` contains atoms other than variables.
    pub(crate) has_digits: bool,
    /// Whether a fact of `ranges` or `congruences` is about something other than a sum.
    pub(crate) has_atoms: bool,
    /// Quotients, remainders, minima and maxima, with a cheaper expression that each equals.
    pub(crate) equal: ByNode<Expr>,
    /// Whether a sum has a single value.
    pub(crate) has_equalities: bool,
    /// Variables that are equal.
    pub(crate) equal_variables: EqualVariables,
}

/// Classes of equal variables, each represented by its first one: a union-find structure.
#[derive(Default, Debug)]
pub(crate) struct EqualVariables {
    parent: ByNode<Expr>,
}

impl EqualVariables {
    pub(crate) fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.parent.clear();
    }

    /// The representative of the class of `v`; `None` if it is `v`.
    pub(crate) fn representative(&self, v: Expr) -> Option<Expr> {
        let mut first = *self.parent.get(&v)?;
        while let Some(parent) = self.parent.get(&first) {
            first = *parent;
        }
        Some(first)
    }

    /// Unites the classes of `a` and `b`. Returns the variable that is no longer a representative; `None` if the classes were
    /// the same.
    pub(crate) fn unite(&mut self, arena: &Arena, a: Expr, b: Expr) -> Option<Expr> {
        let (a, b) = (self.find(a), self.find(b));
        let (first, last) = if arena.compare(a, b).is_lt() { (a, b) } else { (b, a) };
        if first == last {
            return None;
        }
        self.parent.insert(last, first);
        Some(last)
    }

    /// The representative of the class of `v`, with path compression.
    fn find(&mut self, v: Expr) -> Expr {
        let first = self.representative(v).unwrap_or(v);
        let mut at = v;
        while at != first {
            at = self.parent.insert(at, first).unwrap_or(first);
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

    /// Whether all facts are about atoms, or none contains a variable of `e`; false may be wrong.
    pub(crate) fn are_irrelevant_to(&self, arena: &Arena, e: Expr) -> bool {
        self.are_of_atoms() || arena.variables_of(e) & self.variables == 0
    }

    /// Whether a fact is about a sum of terms that `has` accepts, so that the sum may have tighter bounds than its terms.
    pub(crate) fn may_bound_sum(&self, arena: &Arena, has: impl Fn(Expr) -> bool) -> bool {
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

/// `(form, factor, offset)` with `e = factor * form + offset` and the form normalized; `None` for a constant.
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
