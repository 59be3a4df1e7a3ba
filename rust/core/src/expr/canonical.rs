//! The constructors: the only way to make a node. Every law here is true for all integers (wherever both sides are
//! defined), so that no domain is needed and a node that breaks one cannot exist.
//!
//! - A sum is flat: one constant, terms sorted structurally, coefficients nonzero, no term a sum or a constant.
//! - `floordiv` by a constant: the divisor is at least 2; multiples of it are taken out of the numerator, common
//!   factors cancelled, nested quotients joined; the leading coefficient of the numerator is positive.
//! - `mod` by a constant: the modulus is at least 2; coefficients are signed residues; common factors are taken out.
//! - `min`, `max`: in `min_max.rs`.
//! - A product has no constant factor; the content of a factor that is a sum is taken out; a factor that is a product has
//!   more than [`FACTORS_JOINED`] factors.

use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Exprs, Node, Tag, Term, Terms};
use crate::int::div_mod_positive;

/// A product of more factors than this stays one factor of another: squares of squares would be exponentially long.
const FACTORS_JOINED: usize = 16;

pub(crate) fn coefficient(value: Option<i64>) -> Result<i64> {
    value.ok_or_else(|| Error::overflow("a coefficient"))
}

/// The residue of `coeff` in `(-m/2, m/2]`.
pub(crate) fn signed_residue(coeff: i64, m: i64) -> i64 {
    let (_, r) = div_mod_positive(coeff, m);
    if r > m / 2 {
        r - m
    } else {
        r
    }
}

impl Arena {
    pub(crate) fn take_terms(&mut self) -> Vec<Term> {
        self.term_buffers.pop().unwrap_or_default()
    }

    pub(crate) fn give_terms(&mut self, mut terms: Vec<Term>) {
        terms.clear();
        self.term_buffers.push(terms);
    }

    pub(crate) fn take_args(&mut self) -> Vec<Expr> {
        self.arg_buffers.pop().unwrap_or_default()
    }

    pub(crate) fn give_args(&mut self, mut args: Vec<Expr>) {
        args.clear();
        self.arg_buffers.push(args);
    }

    /// A constant.
    pub fn constant(&mut self, value: i64) -> Expr {
        self.intern_constant(value)
    }

    /// A variable by its index.
    pub fn variable(&mut self, index: u32) -> Expr {
        self.intern_variable(index)
    }

    // ------------------------------------------------------------------ sums

    /// `a + b`.
    pub fn add(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        self.combine(a, 1, b, 1)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        self.combine(a, 1, b, -1)
    }

    /// `-a`.
    pub fn neg(&mut self, a: Expr) -> Result<Expr> {
        self.scale(a, -1)
    }

    /// `a + c`.
    pub fn offset(&mut self, a: Expr, c: i64) -> Result<Expr> {
        if c == 0 {
            return Ok(a);
        }
        self.affine(a, 1, c)
    }

    /// `a * factor`.
    pub fn scale(&mut self, a: Expr, factor: i64) -> Result<Expr> {
        if factor == 1 {
            return Ok(a);
        }
        self.affine(a, factor, 0)
    }

    /// `a * factor + constant`.
    pub fn affine(&mut self, a: Expr, factor: i64, constant: i64) -> Result<Expr> {
        if factor == 0 {
            return Ok(self.constant(constant));
        }
        if !matches!(self.tag(a), Tag::Sum | Tag::Constant) {
            return Ok(self.ordered_sum(constant, &[Term::new(factor, a)]));
        }
        let mut terms = self.take_terms();
        let own = self.push_terms(a, factor, &mut terms)?;
        let constant = own.checked_add(constant).ok_or_else(|| Error::overflow("a constant"))?;
        let out = self.sorted_sum(constant, &terms);
        self.give_terms(terms);
        Ok(out)
    }

    /// `a * p + b * q`, by merging the sorted terms of both.
    pub fn combine(&mut self, a: Expr, p: i64, b: Expr, q: i64) -> Result<Expr> {
        let mut left = self.take_terms();
        let mut right = self.take_terms();
        let mut out = self.take_terms();
        let (c, d) = (self.push_terms(a, p, &mut left)?, self.push_terms(b, q, &mut right)?);
        let constant = c.checked_add(d).ok_or_else(|| Error::overflow("a constant"))?;
        self.merge(&left, &right, &mut out)?;
        out.retain(|t| t.coeff != 0);
        let e = self.joined_sum(constant, &out)?;
        self.give_terms(left);
        self.give_terms(right);
        self.give_terms(out);
        Ok(e)
    }

    fn merge(&self, left: &[Term], right: &[Term], out: &mut Vec<Term>) -> Result<()> {
        let (mut i, mut j) = (0, 0);
        while i < left.len() && j < right.len() {
            let (l, r) = (left[i], right[j]);
            match self.compare(l.expr, r.expr) {
                std::cmp::Ordering::Less => {
                    out.push(l);
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    out.push(r);
                    j += 1;
                }
                std::cmp::Ordering::Equal => {
                    out.push(Term::new(coefficient(l.coeff.checked_add(r.coeff))?, l.expr));
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        out.extend_from_slice(&left[i..]);
        out.extend_from_slice(&right[j..]);
        Ok(())
    }

    /// `constant + sum of terms`; the terms may be anything, in any order.
    #[inline]
    pub fn sum(&mut self, constant: i64, terms: &[Term]) -> Result<Expr> {
        if self.are_in_order(terms) {
            return self.joined_sum(constant, terms);
        }
        let mut flat = self.take_terms();
        let mut given = self.take_terms();
        given.extend_from_slice(terms);
        self.join_equal_sums(&mut given)?;
        let mut total = i128::from(constant);
        for t in &given {
            total += i128::from(self.push_terms(t.expr, t.coeff, &mut flat)?);
        }
        self.give_terms(given);
        let constant = i64::try_from(total).map_err(|_| Error::overflow("a constant"))?;
        if !flat.windows(2).all(|w| self.compare(w[0].expr, w[1].expr).is_lt()) {
            flat.sort_unstable_by(|x, y| self.compare(x.expr, y.expr));
            self.join_equal(&mut flat)?;
        }
        flat.retain(|t| t.coeff != 0);
        let e = self.joined_sum(constant, &flat)?;
        self.give_terms(flat);
        Ok(e)
    }

    /// Whether the terms are flat, sorted, distinct and nonzero.
    fn are_in_order(&self, terms: &[Term]) -> bool {
        let mut last: Option<Expr> = None;
        terms.iter().all(|t| {
            let flat = !matches!(self.tag(t.expr), Tag::Sum | Tag::Constant) && t.coeff != 0;
            let before = last.replace(t.expr);
            flat && before.is_none_or(|b| self.compare(b, t.expr).is_lt())
        })
    }

    /// Join sums that stand there several times before they are written out: what cancels costs nothing then.
    fn join_equal_sums(&self, terms: &mut Vec<Term>) -> Result<()> {
        if terms.iter().filter(|t| self.tag(t.expr) == Tag::Sum).nth(1).is_some() {
            terms.sort_unstable_by_key(|t| t.expr.index());
            self.join_equal(terms)?;
            terms.retain(|t| t.coeff != 0);
        }
        Ok(())
    }

    fn join_equal(&self, terms: &mut Vec<Term>) -> Result<()> {
        let mut kept = 0;
        let mut i = 0;
        while i < terms.len() {
            let expr = terms[i].expr;
            let mut coeff = 0i128;
            while i < terms.len() && terms[i].expr == expr {
                coeff += i128::from(terms[i].coeff);
                i += 1;
            }
            let coeff = i64::try_from(coeff).map_err(|_| Error::overflow("a coefficient"))?;
            terms[kept] = Term::new(coeff, expr);
            kept += 1;
        }
        terms.truncate(kept);
        Ok(())
    }

    /// A sum of terms that are flat, sorted and different; zero coefficients are dropped.
    #[inline]
    pub(crate) fn sorted_sum(&mut self, constant: i64, terms: &[Term]) -> Expr {
        if terms.iter().any(|t| t.coeff == 0) {
            let mut kept = self.take_terms();
            kept.extend(terms.iter().filter(|t| t.coeff != 0));
            let e = self.sorted_sum(constant, &kept);
            self.give_terms(kept);
            return e;
        }
        self.ordered_sum(constant, terms)
    }

    /// The same where no coefficient is zero.
    #[inline]
    pub(crate) fn ordered_sum(&mut self, constant: i64, terms: &[Term]) -> Expr {
        match terms {
            [] => self.constant(constant),
            [t] if constant == 0 && t.coeff == 1 => t.expr,
            _ => self.intern_sum(constant, terms),
        }
    }

    // ------------------------------------------------------------------ products

    /// `a * b`.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        if let Some(c) = self.as_constant(a) {
            return self.scale(b, c);
        }
        if let Some(c) = self.as_constant(b) {
            return self.scale(a, c);
        }
        let mut factors = self.take_args();
        let left = self.push_factors(a, &mut factors);
        let right = self.push_factors(b, &mut factors);
        let coeff = coefficient(left.checked_mul(right))?;
        factors.sort_unstable_by(|x, y| self.compare(*x, *y));
        let product = self.intern_args(Tag::Product, &factors);
        self.give_args(factors);
        self.scale(product, coeff)
    }

    /// The product of all of `factors`.
    pub fn product(&mut self, factors: &[Expr]) -> Result<Expr> {
        let mut coeff = 1i64;
        let mut all = self.take_args();
        for &f in factors {
            let own = match self.as_constant(f) {
                Some(c) => c,
                None if coeff == 0 => 1,
                None => self.push_factors(f, &mut all),
            };
            coeff = coefficient(coeff.checked_mul(own))?;
        }
        let product = match all.as_slice() {
            _ if coeff == 0 => self.constant(1),
            [] => self.constant(1),
            [only] => *only,
            _ => {
                all.sort_unstable_by(|x, y| self.compare(*x, *y));
                self.intern_args(Tag::Product, &all)
            }
        };
        self.give_args(all);
        self.scale(product, coeff)
    }

    /// Append the factors of `e` and return their constant factor.
    pub(crate) fn push_factors(&mut self, e: Expr, factors: &mut Vec<Expr>) -> i64 {
        match self.node(e) {
            Node::Sum(constant, terms) => {
                let content = terms.iter().fold(constant.unsigned_abs(), |g, t| gcd_with(g, t.coeff));
                let leading = terms[0].coeff;
                // i64::MIN has no negative; such a sum stays as it is.
                let extreme = constant == i64::MIN || terms.iter().any(|t| t.coeff == i64::MIN);
                let Some(content) = i64::try_from(content).ok().filter(|_| !extreme) else {
                    factors.push(e);
                    return 1;
                };
                let content = if leading < 0 { -content } else { content };
                let constant = constant / content;
                let mut reduced = self.take_terms();
                let Node::Sum(_, terms) = self.node(e) else { return 1 };
                reduced.extend(terms.iter().map(|t| Term::new(t.coeff / content, t.expr)));
                let primitive = self.sorted_sum(constant, &reduced);
                self.give_terms(reduced);
                self.push_flat(primitive, factors);
                content
            }
            _ => {
                self.push_flat(e, factors);
                1
            }
        }
    }

    /// Append the factors of a product that has not too many; else the expression.
    fn push_flat(&self, e: Expr, factors: &mut Vec<Expr>) {
        match self.node(e) {
            Node::Product(args) if args.len() <= FACTORS_JOINED => factors.extend_from_slice(args),
            _ => factors.push(e),
        }
    }

    // ------------------------------------------------------------------ substitution

    /// Rebuild `roots` with variable `i` replaced by `variables[i]` (variables beyond the list stay).
    pub fn substitute(&mut self, roots: &[Expr], variables: &[Expr]) -> Result<Vec<Expr>> {
        self.rebuild(roots, |arena, e| {
            let v = arena.as_variable(e)? as usize;
            variables.get(v).copied()
        })
    }

    /// Rebuild `roots` with each expression that stands left in a pair replaced by the one right of it.
    pub fn replace(&mut self, roots: &[Expr], pairs: &[(Expr, Expr)]) -> Result<Vec<Expr>> {
        let map: std::collections::HashMap<u32, Expr> = pairs.iter().map(|(a, b)| (a.0, *b)).collect();
        self.rebuild(roots, |_, e| map.get(&e.0).copied())
    }

    /// `e` with a variable replaced.
    pub(crate) fn replace_variable(&mut self, e: Expr, variable: Expr, by: Expr) -> Result<Expr> {
        if !self.may_share_variables(e, variable) {
            return Ok(e);
        }
        let new = self.rebuild(&[e], |_, x| (x == variable).then_some(by))?;
        Ok(new[0])
    }

    /// `e` with each variable replaced by what `by` has for it.
    pub(crate) fn replace_variables(&mut self, e: Expr, by: impl Fn(Expr) -> Option<Expr>) -> Result<Expr> {
        let new = self.rebuild(&[e], |arena, x| match arena.tag(x) {
            Tag::Variable => by(x),
            _ => None,
        })?;
        Ok(new[0])
    }

    fn rebuild(&mut self, roots: &[Expr], leaf: impl Fn(&Arena, Expr) -> Option<Expr>) -> Result<Vec<Expr>> {
        let order = self.reachable(roots);
        self.charge(order.len());
        // By id where the nodes lie close together: memory for all of an arena costs more than a few nodes.
        let top = order.last().map_or(0, |e| e.index() + 1);
        let dense = top < 8 * order.len();
        let place = |e: Expr| match dense {
            true => e.index(),
            false => order.partition_point(|o| o.0 < e.0),
        };
        let mut memo = vec![Expr(u32::MAX); if dense { top } else { order.len() }];
        for &e in &order {
            memo[place(e)] = match leaf(self, e) {
                Some(new) => new,
                None => self.with_operands(e, |o| memo[place(o)])?,
            };
        }
        Ok(roots.iter().map(|r| memo[place(*r)]).collect())
    }

    /// The node `e` with each operand `o` replaced by `at(o)`.
    pub(crate) fn with_operands(&mut self, e: Expr, at: impl Fn(Expr) -> Expr) -> Result<Expr> {
        match self.node(e) {
            Node::Variable(_) | Node::Constant(_) => Ok(e),
            Node::FloorDiv(a, b) if at(a) == a && at(b) == b => Ok(e),
            Node::FloorDiv(a, b) => self.floordiv(at(a), at(b)),
            Node::Mod(a, b) if at(a) == a && at(b) == b => Ok(e),
            Node::Mod(a, b) => self.modulo(at(a), at(b)),
            Node::Product(args) | Node::Min(args) | Node::Max(args) => {
                if args.iter().all(|a| at(*a) == *a) {
                    return Ok(e);
                }
                let tag = self.tag(e);
                let new: Exprs = args.iter().map(|a| at(*a)).collect();
                match tag {
                    Tag::Product => self.product(&new),
                    Tag::Min => self.minimum(&new),
                    _ => self.maximum(&new),
                }
            }
            Node::Sum(constant, terms) => {
                if terms.iter().all(|t| at(t.expr) == t.expr) {
                    return Ok(e);
                }
                let new: Terms = terms.iter().map(|t| Term::new(t.coeff, at(t.expr))).collect();
                self.sum(constant, &new)
            }
        }
    }
}

pub(crate) fn gcd_with(g: u64, coeff: i64) -> u64 {
    if g == 1 {
        return 1;
    }
    let (mut a, mut b) = (g, coeff.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
