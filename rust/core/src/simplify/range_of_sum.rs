//! Ranges of sums whose terms tell something of each other: a quotient beside its remainder, or beside what it divides.

use crate::expr::{Arena, Expr, Node, Term, Terms};
use crate::int::{div_mod_positive, gcd_i64};
use crate::interval::Interval;
use crate::simplify::range::{joined_congruence, Ranges};

impl Ranges {
    /// The bounds of a sum by what its terms have in common.
    pub(super) fn of_related_terms(&self, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Interval> {
        let mut bounds = self.of_digits(arena, constant, terms);
        for (k, t) in terms.iter().enumerate() {
            if let Node::Product(&[x, y]) = arena.node(t.expr) {
                let factored = self.of_common_factor(arena, constant, terms, (k, x, y));
                bounds = bounds.map_or(factored, |b| Some(factored.map_or(b, |f| b.intersect(f))));
            }
            let Some((n, m)) = arena.as_floordiv(t.expr) else { continue };
            let related = |(i, o): (usize, &Term)| i != k && arena.may_share_variables(o.expr, n);
            if terms.iter().enumerate().any(related) {
                let opened = self.of_opened_quotient(arena, constant, terms, (k, n, m));
                bounds = bounds.map_or(opened, |b| Some(opened.map_or(b, |o| b.intersect(o))));
            }
        }
        bounds
    }

    /// `a * x * y + b * x` is `x * (a * y + b)`.
    fn of_common_factor(
        &self,
        arena: &Arena,
        constant: i64,
        terms: &[Term],
        (place, x, y): (usize, Expr, Expr),
    ) -> Option<Interval> {
        let (k, other) = terms.iter().enumerate().find_map(|(k, t)| match t.expr {
            e if e == x => Some((k, y)),
            e if e == y => Some((k, x)),
            _ => None,
        })?;
        let factor = self.operand(arena, terms[k].expr).bounds;
        let other = self.operand(arena, other).bounds.scaled(terms[place].coeff);
        let mut sum = factor.times(other.plus(Interval::point(terms[k].coeff)));
        sum = sum.plus(Interval::point(constant));
        for (_, t) in terms.iter().enumerate().filter(|(i, _)| *i != k && *i != place) {
            sum = sum.plus(self.operand(arena, t.expr).bounds.scaled(t.coeff));
        }
        Some(sum)
    }

    /// `a * (n floordiv m) + y` is an `m`-th of `a * n + m * y - a * (n mod m)`, where terms of `n` and `y` cancel.
    fn of_opened_quotient(
        &self,
        arena: &Arena,
        constant: i64,
        terms: &[Term],
        (place, n, m): (usize, Expr, i64),
    ) -> Option<Interval> {
        let one = [Term::new(1, n)];
        let (inner, parts) = arena.as_sum(n, &one);
        let beside = |k: usize, p: &Term| k != place && terms[k].expr == p.expr;
        let shared = |p: &Term| (0..terms.len()).find(|k| beside(*k, p));
        arena.charge(parts.len());
        if m <= 0 || !parts.iter().any(|p| shared(p).is_some()) {
            return None;
        }
        let a = terms[place].coeff;
        let whole = a.checked_mul(inner)?.checked_add(constant.checked_mul(m)?)?;
        let mut sum = Interval::point(whole).plus(Interval::new(1 - m, 0).scaled(a));
        for p in parts {
            let own = shared(p).map_or(Some(0), |k| terms[k].coeff.checked_mul(m))?;
            let coeff = a.checked_mul(p.coeff)?.checked_add(own)?;
            sum = sum.plus(self.of_term(arena, p.expr).bounds.scaled(coeff));
        }
        for (k, t) in terms.iter().enumerate() {
            if k != place && !parts.iter().any(|p| p.expr == t.expr) {
                sum = sum.plus(self.of_term(arena, t.expr).bounds.scaled(t.coeff.checked_mul(m)?));
            }
        }
        Some(sum.quotient_by(m))
    }

    /// The congruence of a sum by the digits that it holds beside what they are of.
    pub(super) fn congruence_of_digits(
        &self,
        arena: &Arena,
        constant: i64,
        terms: &[Term],
    ) -> Option<(i64, i64)> {
        let mut known = (0, constant);
        let mut rest = Terms::from_slice(terms);
        while let Some(digits) = digits_of(arena, &rest) {
            let (quotient, remainder) = digits.factors()?;
            known.0 = gcd_i64(known.0, gcd_i64(quotient, remainder));
            if known.0 == 1 {
                return None;
            }
            rest.retain(|t| !digits.is_one(arena, t.expr));
        }
        if rest.len() == terms.len() {
            return None;
        }
        let known = rest
            .iter()
            .fold(known, |known, t| joined_congruence(known, t.coeff, self.of_term(arena, t.expr)));
        (known.0 > 1).then(|| (known.0, div_mod_positive(known.1, known.0).1))
    }

    /// `a * x + b * (x floordiv k) + c * (x mod k)` is `(a * k + b) * q + (a + c) * r`, where `q` and `r` are
    /// independent but for the ends of `x`.
    fn of_digits(&self, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Interval> {
        let digits = digits_of(arena, terms)?;
        let (quotient, remainder) = digits.factors()?;
        let rest = terms.iter().filter(|t| !digits.is_one(arena, t.expr));
        let rest = rest.fold(Interval::point(constant), |sum, t| {
            sum.plus(self.operand(arena, t.expr).bounds.scaled(t.coeff))
        });
        let bounds = self.operand(arena, digits.x).bounds.floordiv_positive(digits.k);
        let low = Interval::new(0, digits.k - 1);
        Some(rest.plus(bounds.scaled(quotient).plus(low.scaled(remainder))))
    }
}

/// `a * x + b * (x floordiv k) + c * (x mod k)`.
struct Digits {
    x: Expr,
    k: i64,
    a: i64,
    b: i64,
    c: i64,
}

impl Digits {
    /// The factors of quotient and remainder, which are independent but for the ends of `x`.
    fn factors(&self) -> Option<(i64, i64)> {
        Some((self.a.checked_mul(self.k)?.checked_add(self.b)?, self.a.checked_add(self.c)?))
    }

    /// Is it `x`, its quotient or its remainder?
    fn is_one(&self, arena: &Arena, e: Expr) -> bool {
        let own = Some((self.x, self.k));
        e == self.x || arena.as_floordiv(e) == own || arena.as_mod(e) == own
    }
}

/// The first digits of a sum that stand beside what they are of; beside each other alone, they are independent already.
fn digits_of(arena: &Arena, terms: &[Term]) -> Option<Digits> {
    let (x, k) = terms.iter().find_map(|t| {
        let (x, k) = arena.as_floordiv(t.expr).or_else(|| arena.as_mod(t.expr))?;
        terms.iter().any(|o| o.expr == x).then_some((x, k))
    })?;
    let coeff = |own: &dyn Fn(Expr) -> bool| terms.iter().find(|t| own(t.expr)).map_or(0, |t| t.coeff);
    Some(Digits {
        x,
        k,
        a: coeff(&|e| e == x),
        b: coeff(&|e| arena.as_floordiv(e) == Some((x, k))),
        c: coeff(&|e| arena.as_mod(e) == Some((x, k))),
    })
}
