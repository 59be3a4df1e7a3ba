//! Facts that hold beside a box, from constraints: what they tell of an expression.
//!
//! A fact is stored for the form without its constant, divided by its content, with a positive leading coefficient.

use crate::expr::{Arena, Expr, Node, Term, Terms};
use crate::int::{div_mod_positive, gcd_i64};
use crate::interval::Interval;
use crate::simplify::range::{Info, Ranges};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Hashes the ids of nodes, which are small numbers in a row.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u32(u32::from(*b)));
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type ByNode<V> = HashMap<Expr, V, BuildHasherDefault<IdHasher>>;

/// Facts that hold beside the box.
#[derive(Default, Debug)]
pub struct Facts {
    /// Bounds of normalized forms.
    pub(crate) ranges: ByNode<Interval>,
    /// `form mod m = r`.
    pub(crate) congruences: ByNode<(i64, i64)>,
    /// The forms of `ranges` that are sums, in the order in which they were stated.
    pub(crate) linear: Vec<(Expr, Interval)>,
    /// Is a fact of `ranges` or `congruences` about something else than a sum?
    pub(crate) has_atoms: bool,
    /// Quotients, remainders and so on that equal something cheaper.
    pub(crate) equal: ByNode<Expr>,
    /// Does a sum have one value?
    pub(crate) has_equalities: bool,
    /// Variables that are equal.
    pub(crate) equal_variables: EqualVariables,
}

/// Variables that are equal: of each class, the first stands for all.
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

    /// `a` and `b` are equal. The one that another one now stands for; `None` where that was known.
    pub(crate) fn join(&mut self, arena: &Arena, a: Expr, b: Expr) -> Option<Expr> {
        let (a, b) = (self.shortened(a), self.shortened(b));
        let (first, last) = if arena.compare(a, b).is_lt() { (a, b) } else { (b, a) };
        if first == last {
            return None;
        }
        self.before.insert(last, first);
        Some(last)
    }

    /// The first of the class of `v`; those on the way to it point to it from now on.
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

    /// Is no fact about a sum?
    pub(crate) fn are_of_atoms(&self) -> bool {
        self.linear.is_empty() && self.congruences.is_empty()
    }

    /// May a fact say more about a sum of some of the terms of which `has` is true than is known of each of them?
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
        self.linear.clear();
        self.has_atoms = false;
        self.equal.clear();
        self.has_equalities = false;
        self.equal_variables.clear();
    }
}

/// With more facts than this, sums are not compared with each of them.
const FACTS_COMPARED: usize = 12;

impl Ranges {
    /// What is known of `e`, with what the facts tell.
    #[inline]
    pub(crate) fn with_facts(&self, arena: &mut Arena, e: Expr, info: Info) -> Info {
        let Node::Sum(_, terms) = arena.node(e) else {
            return if self.facts.has_atoms { self.with_stated(e, 1, 0, info) } else { info };
        };
        // What is stated of the only term is known of the sum already.
        if terms.len() < 2 || (self.facts.linear.is_empty() && self.facts.congruences.is_empty()) {
            return info;
        }
        let mut info = info;
        arena.charge(self.facts.linear.len().min(FACTS_COMPARED) * terms.len());
        let compared = self.facts.linear.len() <= FACTS_COMPARED;
        // A fact tells something of a sum that has all that it is about.
        let about = |f: &(Expr, Interval)| arena.may_use_variables_of(e, f.0);
        if compared && self.facts.congruences.is_empty() && !self.facts.linear.iter().any(about) {
            return info;
        }
        if !compared || !self.facts.congruences.is_empty() {
            if let Some((form, factor, offset)) = normal_form(arena, e) {
                info = self.with_stated(form, factor, offset, info);
            }
        }
        if let Some(bounds) = self.by_lifting(arena, e) {
            info = info.and(Info { bounds, modulus: 1, residue: 0 });
        }
        if compared {
            info = self.with_linear_facts(arena, e, info);
        }
        info
    }

    /// What is stated of `form`, for `factor * form + offset`.
    #[inline]
    fn with_stated(&self, form: Expr, factor: i64, offset: i64, mut info: Info) -> Info {
        if let Some(bounds) = self.facts.ranges.get(&form) {
            let stated = bounds.scaled(factor).plus(Interval::point(offset));
            info = info.and(Info { bounds: stated, modulus: 1, residue: 0 });
        }
        if let Some((m, r)) = self.facts.congruences.get(&form) {
            let both =
                m.checked_mul(factor.abs()).zip(r.checked_mul(factor).and_then(|x| x.checked_add(offset)));
            if let Some((m, r)) = both {
                let residue = div_mod_positive(r, m).1;
                info = info.and(Info { bounds: Interval::ALL, modulus: m, residue });
            }
        }
        info
    }

    /// `x floordiv b + y = (x + b * y) floordiv b`: the numerator may be a stated form.
    fn by_lifting(&self, arena: &mut Arena, e: Expr) -> Option<Interval> {
        let Node::Sum(_, terms) = arena.node(e) else { return None };
        let t = *terms.iter().find(|t| t.coeff == 1 && arena.as_floordiv(t.expr).is_some())?;
        let (x, b) = arena.as_floordiv(t.expr)?;
        let rest = arena.sub(e, t.expr).ok()?;
        let lifted = arena.combine(x, 1, rest, b).ok()?;
        let (form, factor, offset) = normal_form(arena, lifted)?;
        let stated = self.facts.ranges.get(&form)?.scaled(factor).plus(Interval::point(offset));
        Some(stated.floordiv_positive(b))
    }

    /// `e = k * form + rest`: the bounds of the form and of the rest bound `e`.
    fn with_linear_facts(&self, arena: &mut Arena, e: Expr, info: Info) -> Info {
        let mut info = info;
        let Node::Sum(constant, terms) = arena.node(e) else { return info };
        for (form, bounds) in &self.facts.linear {
            if !arena.may_use_variables_of(e, *form) {
                continue;
            }
            let Node::Sum(0, parts) = arena.node(*form) else { continue };
            let Some(first) = terms.iter().find(|t| t.expr == parts[0].expr) else { continue };
            let Some(k) = first.coeff.checked_div(parts[0].coeff) else { continue };
            if k == 0 || first.coeff % parts[0].coeff != 0 {
                continue;
            }
            let mut rest = Interval::point(constant).plus(bounds.scaled(k));
            let mut shared = 0;
            for t in terms {
                let part = parts.iter().find(|p| p.expr == t.expr);
                shared += usize::from(part.is_some());
                let taken = part.map_or(Some(0), |p| p.coeff.checked_mul(k));
                match taken.and_then(|x| t.coeff.checked_sub(x)) {
                    Some(left) => rest = rest.plus(self.operand(arena, t.expr).bounds.scaled(left)),
                    None => rest = Interval::ALL,
                }
            }
            // All parts of the form must have been taken away for the identity to hold.
            if shared == parts.len() {
                info = info.and(Info { bounds: rest, modulus: 1, residue: 0 });
            }
        }
        info
    }
}

impl Arena {
    /// `(x, y)` where `form in value` says `x - y = 0` of two variables.
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
