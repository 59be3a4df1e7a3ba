//! Expressions as products, and the factors that two of them have in common.

use crate::error::Result;
use crate::expr::{Arena, Expr, Tag, Term};
use crate::int::{div_mod_positive, gcd_i64};

/// A product of a number that is not 0 and of factors that are no numbers.
#[derive(Clone, PartialEq)]
pub(super) struct Factors {
    pub(super) number: i64,
    pub(super) own: Vec<Expr>,
}

impl Factors {
    /// Those of an expression that is not 0.
    pub(super) fn of(arena: &mut Arena, e: Expr) -> Factors {
        let mut own = Vec::new();
        let number = match arena.as_constant(e) {
            Some(c) => c,
            None => arena.push_factors(e, &mut own),
        };
        Factors { number, own }
    }

    /// Those of a term.
    pub(super) fn of_term(arena: &mut Arena, t: Term) -> Factors {
        Factors { number: t.coeff, ..Factors::of(arena, t.expr) }
    }

    /// The factors but for one, with another number.
    pub(super) fn beside(&self, at: usize, number: i64) -> Factors {
        let mut own = self.own.clone();
        own.remove(at);
        Factors { number, own }
    }

    /// The product.
    pub(super) fn product(&self, arena: &mut Arena) -> Result<Expr> {
        let product = arena.product(&self.own)?;
        arena.scale(product, self.number)
    }

    /// The rest without the factors of another product, if it has all of them.
    pub(super) fn without(mut self, by: &Factors) -> Option<Factors> {
        if self.number.checked_rem(by.number) != Some(0) {
            return None;
        }
        self.number = self.number.checked_div(by.number)?;
        for f in &by.own {
            let at = self.own.iter().position(|x| x == f)?;
            self.own.remove(at);
        }
        Some(self)
    }

    /// Those that another product has as well; the number is positive.
    pub(super) fn shared(&self, with: &Factors) -> Factors {
        let mut left = with.own.clone();
        let mut own = self.own.clone();
        own.retain(|f| {
            let at = left.iter().position(|x| x == f);
            at.map(|k| left.remove(k)).is_some()
        });
        Factors { number: gcd_i64(self.number, with.number), own }
    }

    pub(super) fn is_one(&self) -> bool {
        self.number == 1 && self.own.is_empty()
    }
}

/// `n = g * x + r` and `d = g * y`.
pub(super) struct Split {
    pub(super) g: Expr,
    pub(super) x: Expr,
    pub(super) y: Expr,
    pub(super) r: Expr,
    /// Whether `r` is 0.
    pub(super) is_exact: bool,
}

/// The splits of a dividend and a divisor by what they have in common, and by what the divisor has in common with each term.
pub(super) fn splits(arena: &mut Arena, n: Expr, d: Expr) -> Result<Vec<Split>> {
    let by = Factors::of(arena, d);
    let (constant, terms) = arena.to_sum(n);
    let mut out = Vec::new();
    let whole = Factors::of(arena, n);
    let common = by.shared(&whole);
    if let (false, Some(x), Some(y)) = (common.is_one(), whole.without(&common), by.clone().without(&common))
    {
        let (g, x, y) = (common.product(arena)?, x.product(arena)?, y.product(arena)?);
        out.push(Split { g, x, y, r: arena.constant(0), is_exact: true });
    }
    let of_terms: Vec<Factors> = terms.iter().map(|t| by.shared(&Factors::of_term(arena, *t))).collect();
    let of_all = of_terms.iter().cloned().reduce(|a, b| a.shared(&b));
    let mut factors: Vec<Factors> = Vec::new();
    for f in of_terms.into_iter().chain(of_all) {
        if !f.is_one() && !factors.contains(&f) {
            factors.push(f);
        }
    }
    for f in factors {
        let Some(y) = by.clone().without(&f) else { continue };
        let (mut multiples, mut rest) = (Vec::new(), Vec::new());
        for t in &terms {
            match Factors::of_term(arena, *t).without(&f) {
                Some(left) => multiples.push(Term::new(1, left.product(arena)?)),
                None => rest.push(*t),
            }
        }
        let (outside, inside) =
            if f.own.is_empty() { div_mod_positive(constant, f.number) } else { (0, constant) };
        let is_exact = rest.is_empty() && inside == 0;
        let (g, y) = (f.product(arena)?, y.product(arena)?);
        let (x, r) = (arena.sum(outside, &multiples)?, arena.sum(inside, &rest)?);
        out.push(Split { g, x, y, r, is_exact });
    }
    Ok(out)
}

/// `k` with `m = k * y`, if the factors of `y` are seen in `m`; `None` for two numbers, whose laws are those of constructors.
pub(super) fn exact_quotient(arena: &mut Arena, m: Expr, y: Expr) -> Result<Option<Expr>> {
    if arena.tag(m) == Tag::Constant {
        return Ok(None);
    }
    let by = Factors::of(arena, y);
    Factors::of(arena, m).without(&by).map(|left| left.product(arena)).transpose()
}
