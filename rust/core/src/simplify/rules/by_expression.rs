//! Laws of quotients and remainders by expressions: products of variables, or sums.

use super::factors::{exact_quotient, splits, Factors, Split};
use super::{first_of, law, Row, ALWAYS};
use crate::error::Result;
use crate::expr::{Expr, Node, Term};
use crate::simplify::law::{Law, Rewritten};
use crate::simplify::simplifier::Simplifier;

/// A law of a quotient or remainder; its arguments are the expression, its dividend and its divisor.
type ExpressionRule = fn(&mut Simplifier<'_>, Expr, Expr, Expr) -> Rewritten;

pub(super) const KNOWN_QUOTIENT: Law =
    law("remainder-of-known-quotient", "mod", "x % m = x - m * q", "m > 0, x / m = q").on_domain();

pub(super) const OF_QUOTIENT: Law = law(
    "quotient-of-quotient-by-expression",
    "floordiv",
    "(x / b + y) / m = (x + b * y) / (b * m)",
    "b != 0, m > 0",
)
.on_domain();

/// The rules of quotients by expressions.
const QUOTIENTS: &[Row<ExpressionRule>] = &[
    row!("quotient-small", "floordiv": "x / y = 0" if "0 <= x < y", always, on_domain => small_quotient),
    row!("quotient-of-multiple", "floordiv": "(x * y + z) / y = x + z / y"
        if "y != 0", always, on_domain => quotient_of_multiple),
    row!("quotient-factor-cancelled", "floordiv": "g * x / (g * y) = x / y"
        if "g * y != 0", on_domain => factor_cancelled),
    row!("quotient-rest-dropped", "floordiv": "(g * x + r) / (g * y) = x / y"
        if "0 <= r < g, y > 0", on_domain => rest_dropped),
    row!("quotient-of-whole-multiple", "floordiv": "(c * x - c * (x % y) + z) / y = c * (x / y) + z / y"
        if "y > 0", on_domain => of_whole_multiple),
];

/// The rules of remainders by expressions.
const REMAINDERS: &[Row<ExpressionRule>] = &[
    row!("remainder-small", "mod": "x % y = x" if "0 <= x < y", always, on_domain => small_remainder),
    row!("remainder-of-multiple", "mod": "(x * y + z) % y = z % y"
        if "y != 0", always, on_domain => remainder_of_multiple),
    row!(KNOWN_QUOTIENT => quotient_known),
    row!("remainder-factor-outside", "mod": "(g * x + r) % (g * y) = g * (x % y) + r"
        if "0 <= r < g, g * y != 0", on_domain => factor_outside),
];

/// The rules of quotients, also by constants, whose dividends contain quotients or remainders by expressions.
const NESTED_QUOTIENTS: &[Row<ExpressionRule>] = &[
    row!(OF_QUOTIENT => of_quotient),
    row!("quotient-of-remainder-by-expression", "floordiv": "x % (y * k) / y = e % k"
        if "y > 0, k > 0, e = x / y", on_domain => of_remainder),
];

/// The rules of remainders, also by constants, whose dividends contain remainders by expressions.
const NESTED_REMAINDERS: &[Row<ExpressionRule>] =
    &[row!("remainder-of-remainder-by-expression", "mod": "(c * (x % (k * y)) + z) % y = (c * x + z) % y"
        if "k * y != 0", on_domain => inner_expanded)];

/// The laws of quotients.
pub(super) fn quotient_laws() -> impl Iterator<Item = Law> {
    QUOTIENTS.iter().chain(NESTED_QUOTIENTS).map(|row| row.law)
}

/// The laws of remainders that remainders by constants do not have.
pub(super) fn remainder_laws() -> impl Iterator<Item = Law> {
    let rows = REMAINDERS.iter().chain(NESTED_REMAINDERS);
    rows.map(|row| row.law).filter(|law| law.name != KNOWN_QUOTIENT.name)
}

/// Simplifies a quotient by an expression, or one by a constant of what was divided by expressions.
pub(super) fn apply_quotient(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    let own = match s.arena.as_constant(d) {
        Some(_) => None,
        None => first_of(s, QUOTIENTS, ALWAYS, e, |s, f| f(s, e, n, d))?,
    };
    match own {
        Some(out) => Ok(Some(out)),
        None => first_of(s, NESTED_QUOTIENTS, ALWAYS, e, |s, f| f(s, e, n, d)),
    }
}

/// The same for a remainder.
pub(super) fn apply_remainder(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    let own = match s.arena.as_constant(d) {
        Some(_) => None,
        None => first_of(s, REMAINDERS, ALWAYS, e, |s, f| f(s, e, n, d))?,
    };
    match own {
        Some(out) => Ok(Some(out)),
        None => first_of(s, NESTED_REMAINDERS, ALWAYS, e, |s, f| f(s, e, n, d)),
    }
}

/// `0 <= n < d`.
fn small_quotient(s: &mut Simplifier<'_>, _: Expr, n: Expr, d: Expr) -> Rewritten {
    let small = is_between_zero_and(s, n, d)?;
    s.bind(|_| vec![("x", n), ("y", d)]);
    Ok(small.then(|| s.arena.constant(0)))
}

fn small_remainder(s: &mut Simplifier<'_>, _: Expr, n: Expr, d: Expr) -> Rewritten {
    let small = is_between_zero_and(s, n, d)?;
    s.bind(|_| vec![("x", n), ("y", d)]);
    Ok(small.then_some(n))
}

/// Whether `0 <= n < d` on the domain.
fn is_between_zero_and(s: &mut Simplifier<'_>, n: Expr, d: Expr) -> Result<bool> {
    let (a, b) = (s.bounds(n), s.bounds(d));
    if a.lower < 0 {
        return Ok(false);
    }
    s.reason(n);
    s.reason(d);
    // The bounds of the difference may be tighter than those of `n` and `d`.
    let gap = s.arena.sub(d, n)?;
    s.reason(gap);
    Ok(a.upper < b.lower || s.bounds(gap).lower > 0)
}

fn quotient_of_multiple(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    let Some((x, z)) = multiples_of(s, n, d)? else { return Ok(None) };
    s.reason(d);
    let (multiple, rest) = (s.simplify(x), s.simplify(z));
    let q = s.floordiv(rest, d)?;
    let out = s.combine(multiple, 1, q, 1)?;
    s.bind(|_| vec![("x", x), ("y", d), ("z", z)]);
    Ok((s.cost(out) <= s.cost(e)).then_some(out))
}

fn remainder_of_multiple(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    let Some((x, z)) = multiples_of(s, n, d)? else { return Ok(None) };
    s.reason(d);
    let rest = s.simplify(z);
    let out = s.modulo(rest, d)?;
    s.bind(|_| vec![("x", x), ("y", d), ("z", z)]);
    Ok((s.cost(out) <= s.cost(e)).then_some(out))
}

/// `(x, z)` with `n = x * d + z`, if terms of `n` have the factors of `d`, or `z` has fewer terms for a number `x`. Neither
/// is simplified.
fn multiples_of(s: &mut Simplifier<'_>, n: Expr, d: Expr) -> Result<Option<(Expr, Expr)>> {
    let by = Factors::of(s.arena, d);
    let (constant, terms) = s.arena.to_sum(n);
    let (mut multiples, mut rest) = (Vec::new(), Vec::new());
    for t in &terms {
        match Factors::of_term(s.arena, *t).without(&by) {
            Some(left) => multiples.push(Term::new(1, left.product(s.arena)?)),
            None => rest.push(*t),
        }
    }
    if !multiples.is_empty() {
        return Ok(Some((s.arena.sum(0, &multiples)?, s.arena.sum(constant, &rest)?)));
    }
    let Node::Sum(_, &[first, ..]) = s.arena.node(d) else { return Ok(None) };
    let Some(t) = terms.iter().find(|t| t.expr == first.expr) else { return Ok(None) };
    let Some(factor) = t.coeff.checked_div(first.coeff).filter(|k| *k != 0) else { return Ok(None) };
    let Some(minus) = factor.checked_neg() else { return Ok(None) };
    let rest = s.arena.combine(n, 1, d, minus)?;
    let simplified = s.simplify(rest);
    let is_shorter = s.arena.to_sum(simplified).1.len() < terms.len();
    Ok(is_shorter.then(|| (s.arena.constant(factor), rest)))
}

/// `g * x / (g * y) = x / y`.
fn factor_cancelled(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    for Split { g, x, y, .. } in splits(s.arena, n, d)?.iter().filter(|split| split.is_exact) {
        s.reason(d);
        let raw = s.arena.floordiv(*x, *y)?;
        if let Some(out) = s.cheaper_form(raw, e) {
            s.bind(|_| vec![("g", *g), ("x", *x), ("y", *y)]);
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `(g * x + r) / (g * y) = x / y` for `0 <= r < g`.
fn rest_dropped(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    for Split { g, x, y, r, .. } in splits(s.arena, n, d)? {
        if s.bounds(y).lower < 1 || !is_between_zero_and(s, r, g)? {
            continue;
        }
        s.reason(y);
        let raw = s.arena.floordiv(x, y)?;
        if let Some(out) = s.cheaper_form(raw, e) {
            s.bind(|_| vec![("g", g), ("x", x), ("y", y), ("r", r)]);
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `(g * x + r) % (g * y) = g * (x % y) + r` for `0 <= r < g`.
fn factor_outside(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    for Split { g, x, y, r, .. } in splits(s.arena, n, d)? {
        if !is_between_zero_and(s, r, g)? {
            continue;
        }
        s.reason(d);
        let rest = s.arena.modulo(x, y)?;
        let scaled = s.arena.mul(g, rest)?;
        let raw = s.arena.add(scaled, r)?;
        if let Some(out) = s.cheaper_form(raw, e) {
            s.bind(|_| vec![("g", g), ("x", x), ("y", y), ("r", r)]);
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `(c * x - c * (x % y) + z) / y = c * (x / y) + z / y`.
fn of_whole_multiple(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    let (_, terms) = s.arena.to_sum(n);
    for t in &terms {
        let Node::Mod(x, m) = s.arena.node(t.expr) else { continue };
        let Some(c) = t.coeff.checked_neg().filter(|_| m == d && s.bounds(d).lower > 0) else { continue };
        let multiple = s.arena.combine(x, c, t.expr, t.coeff)?;
        let z = s.arena.sub(n, multiple)?;
        let (q, rest) = (s.arena.floordiv(x, d)?, s.arena.floordiv(z, d)?);
        let raw = s.arena.combine(q, c, rest, 1)?;
        s.reason(d);
        if let Some(out) = s.cheaper_form(raw, e) {
            s.bind(|a| vec![("c", a.constant(c)), ("x", x), ("y", d), ("z", z)]);
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `x % d = x - d * q`, if the quotient has one value.
fn quotient_known(s: &mut Simplifier<'_>, e: Expr, n: Expr, d: Expr) -> Rewritten {
    let q = s.arena.floordiv(n, d)?;
    let value = s.bounds(q);
    let Some(minus) = value.lower.checked_neg().filter(|_| value.is_point()) else { return Ok(None) };
    if s.bounds(d).lower < 1 {
        return Ok(None);
    }
    s.reason(q);
    s.reason(d);
    let raw = s.arena.combine(n, 1, d, minus)?;
    let out = s.cheaper_form(raw, e);
    s.bind(|a| vec![("x", n), ("m", d), ("q", a.constant(value.lower))]);
    Ok(out)
}

/// `(x / b + y) / m = (x + b * y) / (b * m)`, if that is cheaper.
fn of_quotient(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: Expr) -> Rewritten {
    let (_, terms) = s.arena.to_sum(n);
    for t in terms.iter().filter(|t| t.coeff == 1) {
        let Node::FloorDiv(x, b) = s.arena.node(t.expr) else { continue };
        let is_by_numbers = s.arena.as_constant(b).is_some() && s.arena.as_constant(m).is_some();
        if is_by_numbers || s.bounds(m).lower < 1 {
            continue;
        }
        let y = s.arena.combine(n, 1, t.expr, -1)?;
        let scaled = s.arena.mul(b, y)?;
        let (dividend, divisor) = (s.arena.add(x, scaled)?, s.arena.mul(b, m)?);
        let raw = s.arena.floordiv(dividend, divisor)?;
        s.reason(b);
        s.reason(m);
        if let Some(out) = s.cheaper_form(raw, e) {
            s.bind(|_| vec![("x", x), ("b", b), ("y", y), ("m", m)]);
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `x % (y * k) / y = x / y % k`.
fn of_remainder(s: &mut Simplifier<'_>, e: Expr, n: Expr, y: Expr) -> Rewritten {
    let Node::Mod(x, m) = s.arena.node(n) else { return Ok(None) };
    let Some(k) = exact_quotient(s.arena, m, y)? else { return Ok(None) };
    if s.bounds(y).lower < 1 || s.bounds(k).lower < 1 {
        return Ok(None);
    }
    s.reason(y);
    s.reason(k);
    let q = s.arena.floordiv(x, y)?;
    let raw = s.arena.modulo(q, k)?;
    let out = s.cheaper_form(raw, e);
    s.bind(|_| vec![("x", x), ("y", y), ("k", k), ("e", q)]);
    Ok(out)
}

/// `(c * (x % (k * y)) + z) % y = (c * x + z) % y`.
fn inner_expanded(s: &mut Simplifier<'_>, e: Expr, n: Expr, y: Expr) -> Rewritten {
    let (_, terms) = s.arena.to_sum(n);
    for t in &terms {
        let factors = Factors::of_term(s.arena, *t);
        for (at, f) in factors.own.iter().enumerate() {
            let Node::Mod(x, m) = s.arena.node(*f) else { continue };
            let Some(k) = exact_quotient(s.arena, m, y)? else { continue };
            let c = factors.beside(at, factors.number).product(s.arena)?;
            let z = s.arena.combine(n, 1, t.expr, -t.coeff)?;
            let expanded = s.arena.mul(c, x)?;
            let sum = s.arena.add(expanded, z)?;
            let raw = s.arena.modulo(sum, y)?;
            s.reason(m);
            if let Some(out) = s.cheaper_form(raw, e) {
                s.bind(|_| vec![("c", c), ("x", x), ("k", k), ("y", y), ("z", z)]);
                return Ok(Some(out));
            }
        }
    }
    Ok(None)
}
