//! The constructors of `floordiv`, `ceildiv` and `mod`; their laws are listed in `canonical.rs`.

use crate::error::{Error, Result};
use crate::expr::canonical::{coefficient, gcd_with, signed_residue};
use crate::expr::{Arena, Expr, Node, Tag, Term};
use crate::int::{div_mod_positive, floor_div, floor_mod};

impl Arena {
    // ------------------------------------------------------------------ floordiv

    /// `a floordiv b`. Errors: `b` is the constant 0; a coefficient leaves int64.
    pub fn floordiv(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        if let Some(c) = self.as_constant(b) {
            return self.floordiv_constant(a, c);
        }
        self.divides_by_expressions = true;
        if self.as_constant(a) == Some(0) {
            return Ok(a);
        }
        if a == b {
            return Ok(self.constant(1));
        }
        if let Some(positive) = self.turned(b) {
            if let Ok(n) = self.neg(a) {
                return self.floordiv(n, positive);
            }
        }
        Ok(self.intern_binary(Tag::FloorDiv, a, b))
    }

    /// `-b` for a divisor without positive coefficients.
    fn turned(&mut self, b: Expr) -> Option<Expr> {
        match self.node(b) {
            Node::Sum(constant, terms) if constant <= 0 && terms.iter().all(|t| t.coeff < 0) => {
                self.neg(b).ok()
            }
            _ => None,
        }
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
        self.divides_by_expressions = true;
        if self.as_constant(a) == Some(0) || a == b {
            return Ok(self.constant(0));
        }
        if let Some(positive) = self.turned(b) {
            return self.modulo(a, positive);
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
            _ => self.remainder_node(a, m),
        }
    }

    fn remainder_node(&mut self, a: Expr, m: i64) -> Result<Expr> {
        let modulus = self.constant(m);
        Ok(self.intern_binary(Tag::Mod, a, modulus))
    }

    fn modulo_of_sum(&mut self, a: Expr, m: i64) -> Result<Expr> {
        let mut kept = self.take_terms();
        let mut inner = self.take_terms();
        let Node::Sum(stated, terms) = self.node(a) else { return self.remainder_node(a, m) };
        let constant = div_mod_positive(stated, m).1;
        let mut same = constant == stated;
        for t in terms {
            let coeff = signed_residue(t.coeff, m);
            same &= coeff == t.coeff;
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
        let out = if inner.is_empty() {
            self.modulo_of_residues(constant, &kept, m, same.then_some(a))
        } else {
            kept.extend_from_slice(&inner);
            let opened = self.sum(constant, &kept)?;
            self.modulo_positive(opened, m)
        };
        self.give_terms(kept);
        self.give_terms(inner);
        out
    }

    /// `whole` is the sum of the terms, where that is there.
    fn modulo_of_residues(
        &mut self,
        constant: i64,
        terms: &[Term],
        m: i64,
        whole: Option<Expr>,
    ) -> Result<Expr> {
        let common = terms.iter().fold(m as u64, |g, t| gcd_with(g, t.coeff)) as i64;
        if terms.is_empty() {
            return Ok(self.constant(constant));
        }
        if common == 1 && m == 2 && constant == 1 {
            // (x + 1) mod 2 = 1 - x mod 2
            let even = self.joined_sum(0, terms)?;
            let remainder = self.modulo_positive(even, 2)?;
            return self.affine(remainder, -1, 1);
        }
        if common == 1 {
            // Residues may join where the terms before them did not: (x mod 6 + 59 * x) mod 12.
            let Some(numerator) = whole else {
                let numerator = self.joined_sum(constant, terms)?;
                return match self.node(numerator) {
                    Node::Sum(_, kept) if kept == terms => self.remainder_node(numerator, m),
                    _ => self.modulo_positive(numerator, m),
                };
            };
            return self.remainder_node(numerator, m);
        }
        // (g * x + r) mod (g * k) = g * (x mod k) + r for r in [0, g)
        let mut reduced = self.take_terms();
        reduced.extend(terms.iter().map(|t| Term::new(t.coeff / common, t.expr)));
        let numerator = self.joined_sum(constant / common, &reduced)?;
        self.give_terms(reduced);
        let remainder = self.modulo_constant(numerator, m / common)?;
        self.affine(remainder, common, constant % common)
    }
}
