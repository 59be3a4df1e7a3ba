//! The constructors: the only way to make a node. Every law here is true for all integers (wherever both sides are
//! defined), so that no domain is needed and a node that breaks one cannot exist.
//!
//! - A sum is flat: one constant, terms sorted structurally, coefficients nonzero, no term a sum or a constant.
//! - `floordiv` by a constant: the divisor is at least 2; multiples of it are taken out of the numerator, common
//!   factors cancelled, nested quotients joined; the leading coefficient of the numerator is positive.
//! - `mod` by a constant: the modulus is at least 2; coefficients are signed residues; common factors are taken out.
//! - `min`, `max`: in `lattice.rs`.
//! - A product has no constant factor; the content of a factor that is a sum is taken out.

use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Node, Tag, Term};
use crate::int::{div_mod_positive, floor_div, floor_mod};

fn coefficient(value: Option<i64>) -> Result<i64> {
    value.ok_or_else(|| Error::overflow("a coefficient"))
}

/// The residue of `coeff` in `(-m/2, m/2]`.
#[inline]
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
    #[inline]
    pub fn constant(&mut self, value: i64) -> Expr {
        self.intern_constant(value)
    }

    /// A variable by its index.
    #[inline]
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
    pub fn sum(&mut self, constant: i64, terms: &[Term]) -> Result<Expr> {
        let mut flat = self.take_terms();
        let mut total = i128::from(constant);
        for t in terms {
            total += i128::from(self.push_terms(t.expr, t.coeff, &mut flat)?);
        }
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
    pub(crate) fn sorted_sum(&mut self, constant: i64, terms: &[Term]) -> Expr {
        if terms.iter().any(|t| t.coeff == 0) {
            let mut kept = self.take_terms();
            kept.extend(terms.iter().filter(|t| t.coeff != 0));
            let e = self.sorted_sum(constant, &kept);
            self.give_terms(kept);
            return e;
        }
        match terms {
            [] => self.constant(constant),
            [t] if constant == 0 && t.coeff == 1 => t.expr,
            _ => self.intern_sum(constant, terms),
        }
    }

    // ------------------------------------------------------------------ floordiv

    /// `a floordiv b`. Errors: `b` is the constant 0; a coefficient leaves int64.
    pub fn floordiv(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        if let Some(c) = self.as_constant(b) {
            return self.floordiv_constant(a, c);
        }
        if self.as_constant(a) == Some(0) {
            return Ok(a);
        }
        if a == b {
            return Ok(self.constant(1));
        }
        Ok(self.intern_binary(Tag::FloorDiv, a, b))
    }

    /// `a ceildiv b`, which is `-((-a) floordiv b)`.
    pub fn ceildiv(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        let n = self.neg(a)?;
        let q = self.floordiv(n, b)?;
        self.neg(q)
    }

    /// `a floordiv c`.
    pub fn floordiv_constant(&mut self, a: Expr, c: i64) -> Result<Expr> {
        match c {
            0 => Err(Error::division_by_zero()),
            1 => Ok(a),
            c if c < 0 => {
                let n = self.neg(a)?;
                let c = c.checked_neg().ok_or_else(|| Error::overflow("a divisor"))?;
                self.floordiv_constant(n, c)
            }
            c => self.floordiv_positive(a, c),
        }
    }

    fn floordiv_positive(&mut self, a: Expr, c: i64) -> Result<Expr> {
        if let Some((x, b)) = self.as_floordiv(a) {
            // (x floordiv b) floordiv c = x floordiv (b * c)
            if let Some(d) = b.checked_mul(c) {
                return self.floordiv_constant(x, d);
            }
        }
        if let Some((x, m)) = self.as_mod(a) {
            // (x mod (c * k)) floordiv c = (x floordiv c) mod k
            if m % c == 0 {
                let q = self.floordiv_constant(x, c)?;
                return self.modulo_constant(q, m / c);
            }
        }
        match self.node(a) {
            Node::Constant(v) => {
                let q = floor_div(v, c).ok_or_else(|| Error::overflow("a quotient"))?;
                Ok(self.constant(q))
            }
            Node::Sum(..) => self.floordiv_of_sum(a, c),
            _ => self.quotient_node(a, c),
        }
    }

    fn quotient_node(&mut self, a: Expr, c: i64) -> Result<Expr> {
        let divisor = self.constant(c);
        Ok(self.intern_binary(Tag::FloorDiv, a, divisor))
    }

    /// Multiples of the divisor leave the numerator, the rest is divided by its common factor and its sign is fixed.
    fn floordiv_of_sum(&mut self, a: Expr, c: i64) -> Result<Expr> {
        let Node::Sum(constant, terms) = self.node(a) else { return self.quotient_node(a, c) };
        let (whole, rest) = div_mod_positive(constant, c);
        let common = terms.iter().fold(c as u64, |g, t| gcd_with(g, t.coeff));
        let has_multiples = terms.iter().any(|t| t.coeff % c == 0);
        let common = if has_multiples {
            terms.iter().filter(|t| t.coeff % c != 0).fold(c as u64, |g, t| gcd_with(g, t.coeff))
        } else {
            common
        } as i64;
        let leading = terms.iter().find(|t| t.coeff % c != 0).map_or(1, |t| t.coeff);
        if whole == 0 && common == 1 && leading > 0 && !has_multiples {
            return match terms {
                [t] if t.coeff == 1 => self.floordiv_of_offset(a, t.expr, rest, c),
                _ => self.quotient_node(a, c),
            };
        }
        let (mut multiples, mut kept) = (self.take_terms(), self.take_terms());
        let Node::Sum(_, terms) = self.node(a) else { return self.quotient_node(a, c) };
        let sign = if leading < 0 { -1 } else { 1 };
        for t in terms {
            if t.coeff % c == 0 {
                multiples.push(Term::new(t.coeff / c, t.expr));
            } else {
                let reduced = (t.coeff / common).checked_mul(sign);
                kept.push(Term::new(coefficient(reduced)?, t.expr));
            }
        }
        let divisor = c / common;
        let offset = if sign > 0 { rest / common } else { divisor - 1 - rest / common };
        if !kept.is_empty() {
            // n floordiv d = -((-n + d - 1) floordiv d): the numerator's leading coefficient is positive.
            let numerator = self.sorted_sum(offset, &kept);
            let quotient = match kept.as_slice() {
                [t] if t.coeff == 1 => self.floordiv_of_offset(numerator, t.expr, offset, divisor)?,
                _ => self.quotient_node(numerator, divisor)?,
            };
            multiples.push(Term::new(sign, quotient));
        }
        let out = self.sum(whole, &multiples)?;
        self.give_terms(multiples);
        self.give_terms(kept);
        Ok(out)
    }

    /// `(x + offset) floordiv c` with `offset` in `[0, c)`, where `x` may itself be a quotient.
    fn floordiv_of_offset(&mut self, numerator: Expr, x: Expr, offset: i64, c: i64) -> Result<Expr> {
        if offset == 0 {
            return self.floordiv_positive(x, c);
        }
        if let Some((y, b)) = self.as_floordiv(x) {
            // (y floordiv b + k) floordiv c = (y + k * b) floordiv (b * c)
            if let (Some(d), Some(k)) = (b.checked_mul(c), offset.checked_mul(b)) {
                if let Ok(n) = self.offset(y, k) {
                    return self.floordiv_positive(n, d);
                }
            }
        }
        self.quotient_node(numerator, c)
    }

    // ------------------------------------------------------------------ mod

    /// `a mod b`, in `[0, |b|)`. Errors: `b` is the constant 0; a coefficient leaves int64.
    pub fn modulo(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        if let Some(c) = self.as_constant(b) {
            return self.modulo_constant(a, c);
        }
        if self.as_constant(a) == Some(0) || a == b {
            return Ok(self.constant(0));
        }
        Ok(self.intern_binary(Tag::Mod, a, b))
    }

    /// `a mod m`.
    pub fn modulo_constant(&mut self, a: Expr, m: i64) -> Result<Expr> {
        match m {
            0 => Err(Error::division_by_zero()),
            1 | -1 => Ok(self.constant(0)),
            m => {
                let m = m.checked_abs().ok_or_else(|| Error::overflow("a modulus"))?;
                self.modulo_positive(a, m)
            }
        }
    }

    fn modulo_positive(&mut self, a: Expr, m: i64) -> Result<Expr> {
        if let Some((x, n)) = self.as_mod(a) {
            if n % m == 0 {
                return self.modulo_positive(x, m);
            }
            if m % n == 0 {
                return Ok(a);
            }
        }
        match self.node(a) {
            Node::Constant(v) => {
                let r = floor_mod(v, m).ok_or_else(Error::division_by_zero)?;
                Ok(self.constant(r))
            }
            Node::Sum(..) => self.modulo_of_sum(a, m),
            Node::FloorDiv(..) => {
                let reduced = self.quotient_modulo(a, m)?;
                if reduced == a {
                    self.remainder_node(a, m)
                } else {
                    self.modulo_positive(reduced, m)
                }
            }
            _ => self.remainder_node(a, m),
        }
    }

    /// A quotient that is congruent to `x floordiv d` modulo `m`: the coefficients of `x` are residues modulo `d * m`.
    fn quotient_modulo(&mut self, quotient: Expr, m: i64) -> Result<Expr> {
        let Some((x, d)) = self.as_floordiv(quotient) else { return Ok(quotient) };
        let Some(period) = d.checked_mul(m) else { return Ok(quotient) };
        let Node::Sum(constant, terms) = self.node(x) else { return Ok(quotient) };
        if terms.iter().all(|t| signed_residue(t.coeff, period) == t.coeff) {
            return Ok(quotient);
        }
        let reduced: Vec<Term> = terms
            .iter()
            .map(|t| Term::new(signed_residue(t.coeff, period), t.expr))
            .filter(|t| t.coeff != 0)
            .collect();
        let x = self.sum(constant, &reduced)?;
        self.floordiv_constant(x, d)
    }

    fn remainder_node(&mut self, a: Expr, m: i64) -> Result<Expr> {
        let modulus = self.constant(m);
        Ok(self.intern_binary(Tag::Mod, a, modulus))
    }

    fn modulo_of_sum(&mut self, a: Expr, m: i64) -> Result<Expr> {
        let mut kept = self.take_terms();
        let mut inner = self.take_terms();
        let Node::Sum(constant, terms) = self.node(a) else { return self.remainder_node(a, m) };
        let constant = div_mod_positive(constant, m).1;
        for t in terms {
            let coeff = signed_residue(t.coeff, m);
            if coeff == 0 {
                continue;
            }
            match self.as_mod(t.expr) {
                // c * (x mod n) = c * x (mod m) where m divides c * n
                Some((x, n)) if (i128::from(coeff) * i128::from(n)) % i128::from(m) == 0 => {
                    inner.push(Term::new(coeff, x));
                }
                _ => kept.push(Term::new(coeff, t.expr)),
            }
        }
        for t in &mut kept {
            if self.tag(t.expr) == Tag::FloorDiv {
                let period = m / gcd_with(m as u64, t.coeff) as i64;
                let reduced = self.quotient_modulo(t.expr, period)?;
                if reduced != t.expr {
                    inner.push(Term::new(t.coeff, reduced));
                    t.coeff = 0;
                }
            }
        }
        let out = if inner.is_empty() {
            self.modulo_of_residues(constant, &kept, m)
        } else {
            kept.extend_from_slice(&inner);
            kept.retain(|t| t.coeff != 0);
            let opened = self.sum(constant, &kept)?;
            self.modulo_positive(opened, m)
        };
        self.give_terms(kept);
        self.give_terms(inner);
        out
    }

    fn modulo_of_residues(&mut self, constant: i64, terms: &[Term], m: i64) -> Result<Expr> {
        let common = terms.iter().fold(m as u64, |g, t| gcd_with(g, t.coeff)) as i64;
        if terms.is_empty() {
            return Ok(self.constant(constant));
        }
        if common == 1 && m == 2 && constant == 1 {
            // (x + 1) mod 2 = 1 - x mod 2
            let even = self.sorted_sum(0, terms);
            let remainder = self.modulo_positive(even, 2)?;
            return self.affine(remainder, -1, 1);
        }
        if common == 1 {
            let numerator = self.sorted_sum(constant, terms);
            return if self.tag(numerator) == Tag::Sum {
                self.remainder_node(numerator, m)
            } else {
                self.modulo_positive(numerator, m)
            };
        }
        // (g * x + r) mod (g * k) = g * (x mod k) + r for r in [0, g)
        let mut reduced = self.take_terms();
        reduced.extend(terms.iter().map(|t| Term::new(t.coeff / common, t.expr)));
        let numerator = self.sorted_sum(constant / common, &reduced);
        self.give_terms(reduced);
        let remainder = self.modulo_constant(numerator, m / common)?;
        self.affine(remainder, common, constant % common)
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
        let mut out = self.constant(1);
        for f in factors {
            out = self.mul(out, *f)?;
        }
        Ok(out)
    }

    /// Append the factors of `e` and return their constant factor.
    fn push_factors(&mut self, e: Expr, factors: &mut Vec<Expr>) -> i64 {
        match self.node(e) {
            Node::Product(args) => {
                factors.extend_from_slice(args);
                1
            }
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
                match self.node(primitive) {
                    Node::Product(args) => factors.extend_from_slice(args),
                    _ => factors.push(primitive),
                }
                content
            }
            _ => {
                factors.push(e);
                1
            }
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

    fn rebuild(&mut self, roots: &[Expr], leaf: impl Fn(&Arena, Expr) -> Option<Expr>) -> Result<Vec<Expr>> {
        let order = self.reachable(roots);
        let mut memo = vec![Expr(u32::MAX); order.last().map_or(0, |e| e.index() + 1)];
        for e in order {
            memo[e.index()] = match leaf(self, e) {
                Some(new) => new,
                None => self.with_operands(e, &memo)?,
            };
        }
        Ok(roots.iter().map(|r| memo[r.index()]).collect())
    }

    /// The node `e` with each operand `o` replaced by `memo[o]`.
    pub(crate) fn with_operands(&mut self, e: Expr, memo: &[Expr]) -> Result<Expr> {
        let at = |o: Expr| memo[o.index()];
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
                let new: Vec<Expr> = args.iter().map(|a| at(*a)).collect();
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
                let new: Vec<Term> = terms.iter().map(|t| Term::new(t.coeff, at(t.expr))).collect();
                self.sum(constant, &new)
            }
        }
    }
}

#[inline]
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
