//! The constructor of sums joins quotients and remainders of one dividend, by laws that hold for all integers:
//!
//! - `c * (x mod m) + c * m * (z floordiv m) = c * z` where `z mod m` is `x mod m`;
//! - `c * (x mod u) + c * u * (y mod v) = c * ((z + u * (y - z floordiv u)) mod (u * v))`, where `y` holds
//!   `z floordiv u` and `z mod u` is `x mod u`.
//!
//! - `c * x - c * (x mod m) = c * m * (x floordiv m)`, and `c * x - c * m * (x floordiv m) = c * (x mod m)`.
//!
//! A constructor has to do this, not only a rule on a domain: `(17 * (x floordiv 17) + x mod 17) mod 31` would otherwise
//! reduce the coefficient 17 before any rule saw the pair.

use crate::error::Result;
use crate::expr::{Arena, Expr, Node, Tag, Term, Terms};

/// Sums with more terms than this are not searched for pairs.
const TERMS_SEARCHED: usize = 64;

impl Arena {
    /// The sum of sorted, distinct, nonzero terms, with pairs joined.
    #[inline]
    pub(crate) fn joined_sum(&mut self, constant: i64, terms: &[Term]) -> Result<Expr> {
        let is_digit = |t: &Term| matches!(self.tag(t.expr), Tag::FloorDiv | Tag::Mod);
        if (2..=TERMS_SEARCHED).contains(&terms.len())
            && terms.iter().any(is_digit)
            && self.may_depend_on_each_other(terms)
        {
            if let Some((gone, new)) = self.find_pair(terms)? {
                let mut rest: Terms = Terms::new();
                rest.extend(terms.iter().enumerate().filter(|(k, _)| !gone.contains(k)).map(|(_, t)| *t));
                rest.push(new);
                return self.sum(constant, &rest);
            }
            if let Some(joined) = self.find_difference(constant, terms)? {
                return Ok(joined);
            }
        }
        Ok(self.ordered_sum(constant, terms))
    }

    /// `c * x - c * (x mod m) = c * m * (x floordiv m)` and `c * x - c * m * (x floordiv m) = c * (x mod m)`, where all
    /// of `c * x` is there.
    fn find_difference(&mut self, constant: i64, terms: &[Term]) -> Result<Option<Expr>> {
        for (k, t) in terms.iter().enumerate() {
            let (x, m, factor) = match (self.as_mod(t.expr), self.as_floordiv(t.expr)) {
                (Some((x, m)), _) => (x, m, t.coeff.checked_neg()),
                (_, Some((x, m))) if t.coeff % m == 0 => (x, m, (t.coeff / m).checked_neg()),
                _ => continue,
            };
            let Some(factor) = factor else { continue };
            let whole = match self.node(x) {
                Node::Sum(_, parts) => parts.iter().all(|p| {
                    p.coeff.checked_mul(factor).is_some_and(|c| terms.contains(&Term::new(c, p.expr)))
                }),
                _ => terms.contains(&Term::new(factor, x)),
            };
            if !whole {
                continue;
            }
            let mut rest: Terms = Terms::from_slice(terms);
            let Some(minus) = factor.checked_neg() else { continue };
            rest.push(Term::new(minus, x));
            if self.tag(t.expr) == Tag::Mod {
                let Some(step) = factor.checked_mul(m) else { continue };
                let quotient = self.floordiv_constant(x, m)?;
                rest[k] = Term::new(step, quotient);
            } else {
                rest[k] = Term::new(factor, self.modulo_constant(x, m)?);
            }
            return Ok(Some(self.sum(constant, &rest)?));
        }
        Ok(None)
    }

    fn find_pair(&mut self, terms: &[Term]) -> Result<Option<([usize; 2], Term)>> {
        for (k, low) in terms.iter().enumerate() {
            let Some((_, m)) = self.as_mod(low.expr) else { continue };
            let Some(step) = low.coeff.checked_mul(m) else { continue };
            for (i, high) in terms.iter().enumerate() {
                if i == k || high.coeff != step {
                    continue;
                }
                let joined = match self.tag(high.expr) {
                    Tag::FloorDiv => self.dividend_of(high.expr, low.expr, m)?,
                    Tag::Mod => self.joined_digits(low.expr, high.expr)?,
                    _ => None,
                };
                if let Some(x) = joined {
                    return Ok(Some(([i, k], Term::new(low.coeff, x))));
                }
            }
        }
        Ok(None)
    }

    /// The `z` of `quotient = z floordiv m`, if `z mod m` is `remainder`.
    fn dividend_of(&mut self, quotient: Expr, remainder: Expr, m: i64) -> Result<Option<Expr>> {
        let Some((z, divisor)) = self.as_floordiv(quotient) else { return Ok(None) };
        if divisor % m != 0 || !self.may_use_variables_of(quotient, remainder) {
            return Ok(None);
        }
        // z floordiv (b * m) is (z floordiv b) floordiv m.
        let z = if divisor == m { z } else { self.floordiv_constant(z, divisor / m)? };
        Ok((self.modulo_constant(z, m)? == remainder).then_some(z))
    }

    fn joined_digits(&mut self, low: Expr, high: Expr) -> Result<Option<Expr>> {
        let (Some((_, u)), Some((y, v))) = (self.as_mod(low), self.as_mod(high)) else { return Ok(None) };
        let Some(modulus) = u.checked_mul(v) else { return Ok(None) };
        let (_, parts) = self.to_sum(y);
        for p in parts.iter().filter(|p| p.coeff == 1) {
            let Some(z) = self.dividend_of(p.expr, low, u)? else { continue };
            let rest = self.sub(y, p.expr)?;
            let whole = self.combine(z, 1, rest, u)?;
            return Ok(Some(self.modulo_constant(whole, modulus)?));
        }
        Ok(None)
    }
}
