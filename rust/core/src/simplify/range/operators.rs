//! Bounds and congruences of quotients, remainders, extrema and products.

use super::{law, Info, Ranges, Row};
use crate::expr::{Arena, Expr, Term};
use crate::int::{div_mod_positive, gcd_i64};
use crate::interval::Interval;

/// The maximal number of pairs of arguments of an extremum whose sums are bounded.
const MAX_OPPOSITE_PAIRS: usize = 6;

/// A law of a quotient or remainder by a constant; its arguments are the dividend and the divisor.
type ByConstant = fn(&Info, i64) -> Option<Info>;
/// A law of a quotient or remainder by an expression.
type ByExpression = fn(&Info, &Info) -> Option<Info>;
/// A law of a minimum or maximum; the last argument combines the bounds of two arguments.
type OfExtremum = fn(&Ranges, &Arena, &[Expr], fn(Interval, Interval) -> Interval) -> Option<Info>;
/// A law of a product.
type OfProduct = fn(&Ranges, &Arena, &[Expr]) -> Option<Info>;

pub(super) static QUOTIENTS: [Row<ByConstant>; 1] =
    [row!("range-of-quotient", "floordiv": "u / m <= x / m <= v / m"
        if "u <= x <= v, m > 0" => range_of_quotient)];

pub(super) static QUOTIENTS_BY_EXPRESSIONS: [Row<ByExpression>; 1] = [
    row!("range-of-quotient-by-expression", "floordiv": "x / y lies between the least and the greatest of u / p, u / q, v / p, v / q"
        if "u <= x <= v, p <= y <= q, p > 0 or q < 0" => range_of_quotient_by_expression),
];

pub(super) static REMAINDERS: [Row<ByConstant>; 2] = [
    row!("range-of-remainder", "mod": "u % m <= x % m <= v % m"
        if "u <= x <= v, u / m = v / m, m > 0" => range_of_remainder),
    row!("congruence-of-remainder", "mod": "x % m % g = r % g"
        if "x = r + n * i, m > 0, g > 0, g divides n and m" => congruence_of_remainder),
];

pub(super) static REMAINDERS_BY_EXPRESSIONS: [Row<ByExpression>; 1] = [
    row!("range-of-remainder-by-expression", "mod": "0 <= x % y <= max(-p, q) - 1, and x % y <= x if x >= 0"
        if "p <= y <= q, y != 0" => range_of_remainder_by_expression),
];

pub(super) static EXTREMA: [Row<OfExtremum>; 4] = [
    row!("range-of-extremum", "min, max": "min(u, p) <= min(x, y) <= min(v, q)"
        if "u <= x <= v, p <= y <= q (max alike)" => range_of_extremum),
    row!("congruence-of-extremum", "min, max": "min(x, y) % g = r % g"
        if "x = r + m * i, y = s + n * j, g > 0, g divides m, n and s - r (max alike)"
        => congruence_of_extremum),
    row!("range-of-opposite-extremum", "min, max": "2 * min(x, y) <= v"
        if "x + y <= v (max alike)" => range_of_opposites),
    row!("congruence-of-two-values", "min, max": "max(c + g - m * i, c) % g = c % g, min(c - g + m * i, c) % g = c % g"
        if "g > 0, g <= m, 0 <= i" => congruence_of_two_values),
];

pub(super) static PRODUCTS: [Row<OfProduct>; 3] = [
    row!("range-of-product", "product": "x * y lies between the least and the greatest of u * p, u * q, v * p, v * q"
        if "u <= x <= v, p <= y <= q" => range_of_product),
    row!("range-of-square", "product": "0 <= x * x" if "none" => range_of_square),
    row!("congruence-of-product", "product": "x * y % (g * h) = 0"
        if "g > 0, h > 0, g divides x, h divides y" => congruence_of_product),
];

fn range_of_quotient(a: &Info, m: i64) -> Option<Info> {
    Some(Info::of(a.bounds.floordiv_positive(m)))
}

fn range_of_quotient_by_expression(a: &Info, b: &Info) -> Option<Info> {
    let quotients = a.bounds.floordiv(b.bounds);
    (!quotients.is_empty()).then(|| Info::of(quotients))
}

fn range_of_remainder(a: &Info, m: i64) -> Option<Info> {
    if a.bounds.is_bounded() {
        let ((q, low), (p, high)) =
            (div_mod_positive(a.bounds.lower, m), div_mod_positive(a.bounds.upper, m));
        if p == q {
            return Some(Info::of(Interval::new(low, high)));
        }
    }
    Some(Info::of(Interval::new(0, m - 1)))
}

fn congruence_of_remainder(a: &Info, m: i64) -> Option<Info> {
    if a.modulus == 1 {
        return None;
    }
    Some(Info::congruent(gcd_i64(a.modulus, m), a.residue))
}

fn range_of_remainder_by_expression(a: &Info, b: &Info) -> Option<Info> {
    let largest = b.bounds.remainders().upper;
    let upper = if a.bounds.lower >= 0 { largest.min(a.bounds.upper) } else { largest };
    Some(Info::of(Interval::new(0, upper)))
}

fn range_of_extremum(
    ranges: &Ranges,
    arena: &Arena,
    args: &[Expr],
    extremum: fn(Interval, Interval) -> Interval,
) -> Option<Info> {
    args.iter().map(|a| ranges.operand(arena, *a).bounds).reduce(extremum).map(Info::of)
}

fn congruence_of_extremum(
    ranges: &Ranges,
    arena: &Arena,
    args: &[Expr],
    _: fn(Interval, Interval) -> Interval,
) -> Option<Info> {
    let mut parts = args.iter().map(|a| ranges.operand(arena, *a));
    let first = parts.next()?;
    let modulus = parts.try_fold(first.modulus, |g, p| {
        let apart = p.residue.checked_sub(first.residue)?; // no congruence if it overflows int64
        Some(gcd_i64(gcd_i64(g, p.modulus), apart)).filter(|g| *g != 1)
    })?;
    (modulus > 1).then(|| Info::congruent(modulus, first.residue))
}

/// The bounds of the extremum of `x` and `y`, whose terms cancel in `x + y`: half of the sum lies between them.
fn range_of_opposites(
    ranges: &Ranges,
    arena: &Arena,
    args: &[Expr],
    extremum: fn(Interval, Interval) -> Interval,
) -> Option<Info> {
    let pairs = args.iter().enumerate().flat_map(|(k, x)| args[k + 1..].iter().map(move |y| (*x, *y)));
    let halves = pairs.take(MAX_OPPOSITE_PAIRS).filter_map(|(x, y)| half_of_sum(ranges, arena, x, y));
    halves.map(|half| extremum(half, Interval::ALL)).reduce(Interval::intersect).map(Info::of)
}

/// The integers next to half of `x + y`, from the least sum rounded up to the greatest one rounded down. `None` if no term of
/// one cancels with a term of the other.
fn half_of_sum(ranges: &Ranges, arena: &Arena, x: Expr, y: Expr) -> Option<Interval> {
    let (ones, others) = ([Term::new(1, x)], [Term::new(1, y)]);
    let ((a, left), (b, right)) = (arena.as_sum(x, &ones), arena.as_sum(y, &others));
    let twin = |t: &Term, terms: &[Term]| terms.iter().find(|o| o.expr == t.expr).map_or(0, |o| o.coeff);
    if !left.iter().any(|t| (t.coeff < 0) != (twin(t, right) < 0) && twin(t, right) != 0) {
        return None;
    }
    let mut sum = Interval::point(a.checked_add(b)?);
    for t in left {
        let coeff = t.coeff.checked_add(twin(t, right))?;
        sum = sum.plus(ranges.of_term(arena, t.expr).bounds.scaled(coeff));
    }
    for t in right.iter().filter(|t| twin(t, left) == 0) {
        sum = sum.plus(ranges.of_term(arena, t.expr).bounds.scaled(t.coeff));
    }
    let lower =
        if sum.lower == i64::MIN { i64::MIN } else { sum.lower.div_euclid(2) + sum.lower.rem_euclid(2) };
    let upper = if sum.upper == i64::MAX { i64::MAX } else { sum.upper.div_euclid(2) };
    Some(Interval { lower, upper })
}

/// The congruence of the extremum of `x` and a constant, if only one value of `x` lies beyond the constant.
fn congruence_of_two_values(
    ranges: &Ranges,
    arena: &Arena,
    args: &[Expr],
    extremum: fn(Interval, Interval) -> Interval,
) -> Option<Info> {
    let &[x, y] = args else { return None };
    let (x, c) = match (arena.as_constant(x), arena.as_constant(y)) {
        (None, Some(c)) => (x, c),
        (Some(c), None) => (y, c),
        _ => return None,
    };
    let Info { bounds, modulus, residue } = ranges.operand(arena, x);
    let both = extremum(bounds, Interval::point(c));
    let beyond = if both.lower == c { both.upper } else { both.lower };
    if modulus < 2 || !both.is_bounded() || ![both.lower, both.upper].contains(&c) {
        return None;
    }
    let apart = both.upper.checked_sub(both.lower)?;
    let only = beyond.checked_sub(residue)? % modulus == 0 && (2..=modulus).contains(&apart);
    only.then(|| Info::congruent(apart, c))
}

fn range_of_product(ranges: &Ranges, arena: &Arena, args: &[Expr]) -> Option<Info> {
    let bounds = args.iter().map(|a| ranges.operand(arena, *a).bounds).reduce(Interval::times);
    bounds.map(Info::of)
}

fn range_of_square(_: &Ranges, _: &Arena, args: &[Expr]) -> Option<Info> {
    matches!(args, [a, b] if a == b).then(|| Info::of(Interval::new(0, i64::MAX)))
}

fn congruence_of_product(ranges: &Ranges, arena: &Arena, args: &[Expr]) -> Option<Info> {
    let modulus = args.iter().fold(1i64, |modulus, a| {
        let Info { modulus: m, residue, .. } = ranges.operand(arena, *a);
        let own = if m == 0 { residue } else { gcd_i64(m, residue) };
        modulus.checked_mul(own).and_then(i64::checked_abs).filter(|m| *m > 0).unwrap_or(1)
    });
    Some(Info::congruent(modulus, 0))
}
