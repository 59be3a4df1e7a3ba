//! Bounds and congruences of sums: by their terms one by one, and by dependences between terms, such as a quotient and its
//! dividend.

use super::info::add_to_congruence;
use super::{law, Info, Ranges, Row, ALWAYS};
use crate::expr::{Arena, Expr, Node, Tag, Term, Terms};
use crate::int::{div_mod_positive, gcd_i64};
use crate::interval::Interval;

/// A law of a sum; its last arguments are the constant and the terms.
type OfSum = fn(&Ranges, &Arena, i64, &[Term]) -> Option<Info>;

/// Sums with more terms than this are not searched for pairs.
const MAX_RELATED_TERMS: usize = 64;

/// The traits of a sum of several terms: it contains a quotient, a quotient or remainder, a product, a remainder, a remainder by an
/// expression.
const QUOTIENT: u16 = 1;
const DIGIT: u16 = 2;
const PRODUCT: u16 = 4;
const REMAINDER: u16 = 8;
const BY_EXPRESSION: u16 = 16;

/// The laws of independent terms.
pub(super) static TERMS: [Row<OfSum>; 1] =
    [row!("range-of-sum", "sum": "u + p <= x + y <= v + q" if "u <= x <= v, p <= y <= q",
        "range-of-multiple", "sum": "k * u <= k * x <= k * v, -k * v <= -k * x <= -k * u"
        if "u <= x <= v, k > 0",
        "congruence-of-sum", "sum": "(a * x + b * y) % g = (a * r + b * s) % g"
        if "x = r + m * i, y = s + n * j, g > 0, g divides a * m and b * n" => of_terms)];

/// The laws of dependent terms.
pub(super) static RELATED_TERMS: [Row<OfSum>; 5] = [
    row!("range-of-digits", "sum": "a * x + b * (x / k) + c * (x % k) = (a * k + b) * (x / k) + (a + c) * (x % k)"
        if "k > 0"; DIGIT => range_of_digits),
    row!("range-of-common-factor", "sum": "x * f + y * f = (x + y) * f"
        if "none"; PRODUCT => range_of_common_factor),
    row!("range-of-expanded-quotient", "sum": "a * (x / m) + y = (a * x + m * y - a * (x % m)) / m"
        if "m > 0"; QUOTIENT => range_of_expanded_quotient),
    row!("congruence-of-digits", "sum": "(a * x + b * (x / k) + c * (x % k)) % g = 0"
        if "k > 0, g > 0, g divides a * k + b and a + c",
        "congruence-of-remainders", "sum": "(a * (x % m) + b * (y % n)) % g = (a * x + b * y) % g"
        if "m > 0, n > 0, g > 0, g divides a * m and b * n"; REMAINDER => congruence_of_remainders),
    row!("range-below-divisor", "sum": "x % y - y <= -1" if "y > 0"; BY_EXPRESSION => range_below_divisor),
];

/// The traits of a sum of several terms that depend on each other.
pub(super) fn traits_of(arena: &Arena, terms: &[Term]) -> u16 {
    if !(2..=MAX_RELATED_TERMS).contains(&terms.len()) {
        return ALWAYS;
    }
    let has = terms.iter().fold(ALWAYS, |has, t| match arena.tag(t.expr) {
        Tag::FloorDiv => has | QUOTIENT | DIGIT,
        Tag::Mod if arena.as_mod(t.expr).is_none() => has | BY_EXPRESSION,
        Tag::Mod => has | DIGIT | REMAINDER,
        Tag::Product => has | PRODUCT,
        _ => has,
    });
    match has != ALWAYS && arena.may_depend_on_each_other(terms) {
        true => has,
        false => ALWAYS,
    }
}

#[inline]
fn of_terms(ranges: &Ranges, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Info> {
    let (mut lower, mut upper) = (constant, constant);
    let (mut beyond, mut any_residue) = (false, false);
    for t in terms {
        let info = ranges.of_term(arena, t.expr);
        let Interval { lower: low, upper: high } = info.bounds;
        let (first, last) = if t.coeff > 0 { (low, high) } else { (high, low) };
        let ((least, a), (most, b)) = (first.overflowing_mul(t.coeff), last.overflowing_mul(t.coeff));
        let (c, d);
        (lower, c) = lower.overflowing_add(least);
        (upper, d) = upper.overflowing_add(most);
        beyond |= a | b | c | d | (low == i64::MIN) | (high == i64::MAX);
        any_residue |= info.modulus == 1 && (t.coeff == 1 || t.coeff == -1);
    }
    let congruence = if any_residue { (1, 0) } else { congruence_of_sum(ranges, arena, constant, terms) };
    // No tightening is needed: bounds that satisfy the congruences of the terms add up to bounds that satisfy that of the sum.
    let bounds = Interval::new(lower, upper);
    if beyond || !bounds.is_bounded() || bounds.is_point() {
        return Some(of_terms_with_open_ends(ranges, arena, constant, terms, congruence));
    }
    let (modulus, residue) = congruence;
    let residue = if modulus == 1 { 0 } else { div_mod_positive(residue, modulus).1 };
    Some(Info { bounds, modulus, residue })
}

fn congruence_of_sum(ranges: &Ranges, arena: &Arena, constant: i64, terms: &[Term]) -> (i64, i64) {
    let mut known = (0, constant);
    for t in terms {
        known = add_to_congruence(known, t.coeff, ranges.of_term(arena, t.expr));
        if known.0 == 1 {
            return (1, 0);
        }
    }
    known
}

#[cold]
fn of_terms_with_open_ends(
    ranges: &Ranges,
    arena: &Arena,
    constant: i64,
    terms: &[Term],
    (modulus, residue): (i64, i64),
) -> Info {
    let bounds = terms.iter().fold(Interval::point(constant), |sum, t| {
        sum.plus(ranges.of_term(arena, t.expr).bounds.scaled(t.coeff))
    });
    match modulus {
        // All terms are constants, or the modulus overflows int64.
        0 => Info::of(bounds),
        _ => Info { bounds, modulus, residue: div_mod_positive(residue, modulus).1 }.tightened(),
    }
}

fn range_of_common_factor(ranges: &Ranges, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Info> {
    let factored = terms.iter().enumerate().filter_map(|(k, t)| match arena.node(t.expr) {
        Node::Product(&[x, y]) => by_common_factor(ranges, arena, constant, terms, (k, x, y)),
        _ => None,
    });
    factored.reduce(Interval::intersect).map(Info::of)
}

/// The products `x * (a * y + b)` that parts `a * x * y + b * x` of a sum are.
pub(crate) fn factored_parts(arena: &mut Arena, e: Expr) -> Vec<Expr> {
    let Node::Sum(_, terms) = arena.node(e) else { return Vec::new() };
    let parts = terms.iter().filter_map(|t| match arena.node(t.expr) {
        Node::Product(&[x, y]) => {
            let other = terms.iter().find(|other| [x, y].contains(&other.expr))?;
            Some((*other, t.coeff, if other.expr == x { y } else { x }))
        }
        _ => None,
    });
    let parts: Vec<_> = parts.collect();
    let mut product =
        |(x, a, y): (Term, i64, Expr)| arena.affine(y, a, x.coeff).and_then(|f| arena.mul(x.expr, f));
    parts.into_iter().filter_map(|part| product(part).ok()).collect()
}

/// The bounds by `a * x * y + b * x = x * (a * y + b)`.
fn by_common_factor(
    ranges: &Ranges,
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
    let factor = ranges.operand(arena, terms[k].expr).bounds;
    let other = ranges.operand(arena, other).bounds.scaled(terms[place].coeff);
    let mut sum = factor.times(other.plus(Interval::point(terms[k].coeff)));
    sum = sum.plus(Interval::point(constant));
    for (_, t) in terms.iter().enumerate().filter(|(i, _)| *i != k && *i != place) {
        sum = sum.plus(ranges.operand(arena, t.expr).bounds.scaled(t.coeff));
    }
    Some(sum)
}

fn range_of_expanded_quotient(ranges: &Ranges, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Info> {
    let expanded = terms.iter().enumerate().filter_map(|(k, t)| {
        let (n, m) = arena.as_floordiv(t.expr)?;
        let related = |(i, o): (usize, &Term)| i != k && arena.may_share_variables(o.expr, n);
        terms.iter().enumerate().any(related).then_some(())?;
        by_expanded_quotient(ranges, arena, constant, terms, (k, n, m))
    });
    expanded.reduce(Interval::intersect).map(Info::of)
}

/// The bounds by `a * (n floordiv m) + y = (a * n + m * y - a * (n mod m)) / m`, if terms of `n` and `y` cancel.
fn by_expanded_quotient(
    ranges: &Ranges,
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
        sum = sum.plus(ranges.of_term(arena, p.expr).bounds.scaled(coeff));
    }
    for (k, t) in terms.iter().enumerate() {
        if k != place && !parts.iter().any(|p| p.expr == t.expr) {
            sum = sum.plus(ranges.of_term(arena, t.expr).bounds.scaled(t.coeff.checked_mul(m)?));
        }
    }
    Some(sum.quotient_by(m))
}

/// The congruence of a sum by `c * (x mod m) = c * x - c * m * (x floordiv m)`, if a term of `x` meets another one; a quotient
/// that the sum does not contain leaves a congruence modulo `c * m`.
fn congruence_of_remainders(ranges: &Ranges, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Info> {
    let mut expanded: Terms = terms.iter().filter(|t| arena.as_mod(t.expr).is_none()).copied().collect();
    let (mut known, mut meets) = ((0, constant), false);
    for (t, (x, m)) in terms.iter().filter_map(|t| Some((t, arena.as_mod(t.expr)?))) {
        let left = t.coeff.checked_mul(m)?;
        match expanded.iter_mut().find(|e| arena.as_floordiv(e.expr) == Some((x, m))) {
            Some(quotient) => quotient.coeff = quotient.coeff.checked_sub(left)?,
            None => known.0 = gcd_i64(known.0, left),
        }
        if known.0 == 1 {
            return None;
        }
        let one = [Term::new(1, x)];
        let (inner, parts) = arena.as_sum(x, &one);
        known.1 = known.1.checked_add(inner.checked_mul(t.coeff)?)?;
        for p in parts {
            let coeff = p.coeff.checked_mul(t.coeff)?;
            match expanded.iter_mut().find(|e| e.expr == p.expr) {
                Some(e) => (e.coeff, meets) = (e.coeff.checked_add(coeff)?, true),
                None => expanded.push(Term::new(coeff, p.expr)),
            }
        }
    }
    let joined = |known, t: &Term| add_to_congruence(known, t.coeff, ranges.of_term(arena, t.expr));
    let (modulus, residue) = expanded.iter().filter(|_| meets).fold(known, joined);
    (meets && modulus > 1).then(|| Info::congruent(modulus, residue))
}

/// The bounds of a sum with `c * (x mod y)` by `c * (y - 1)`, of which terms cancel with others.
fn range_below_divisor(ranges: &Ranges, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Info> {
    let bounds = terms.iter().enumerate().filter_map(|(k, t)| {
        let Node::Mod(_, y) = arena.node(t.expr) else { return None };
        if arena.as_constant(y).is_some() || ranges.operand(arena, y).bounds.lower < 1 {
            return None;
        }
        let one = [Term::new(1, y)];
        let (inner, parts) = arena.as_sum(y, &one);
        let mut sum = Interval::point(t.coeff.checked_mul(inner.checked_sub(1)?)?.checked_add(constant)?);
        arena.charge(parts.len() * terms.len());
        for (_, o) in terms.iter().enumerate().filter(|(i, _)| *i != k) {
            let of_divisor = parts.iter().find(|p| p.expr == o.expr).map_or(0, |p| p.coeff);
            let coeff = o.coeff.checked_add(t.coeff.checked_mul(of_divisor)?)?;
            sum = sum.plus(ranges.of_term(arena, o.expr).bounds.scaled(coeff));
        }
        for p in parts.iter().filter(|p| terms.iter().all(|o| o.expr != p.expr)) {
            sum = sum.plus(ranges.of_term(arena, p.expr).bounds.scaled(t.coeff.checked_mul(p.coeff)?));
        }
        Some(if t.coeff > 0 {
            Interval::new(i64::MIN, sum.upper)
        } else {
            Interval::new(sum.lower, i64::MAX)
        })
    });
    bounds.reduce(Interval::intersect).map(Info::of)
}

/// The bounds by `a * x + b * (x floordiv k) + c * (x mod k) = (a * k + b) * q + (a + c) * r`, where the quotient `q` and the
/// remainder `r` are independent except at the bounds of `x`.
fn range_of_digits(ranges: &Ranges, arena: &Arena, constant: i64, terms: &[Term]) -> Option<Info> {
    let digits = digits_of(arena, terms)?;
    let (quotient, remainder) = digits.factors()?;
    let rest = terms.iter().filter(|t| !digits.is_one(arena, t.expr));
    let rest = rest.fold(Interval::point(constant), |sum, t| {
        sum.plus(ranges.operand(arena, t.expr).bounds.scaled(t.coeff))
    });
    let bounds = ranges.operand(arena, digits.x).bounds.floordiv_positive(digits.k);
    let low = Interval::new(0, digits.k - 1);
    Some(Info::of(rest.plus(bounds.scaled(quotient).plus(low.scaled(remainder)))))
}

/// `a * x + b * (x floordiv k) + c * (x mod k)`.
struct Digits {
    x: Expr,
    k: i64,
    /// The dividend and the divisor of `x floordiv k` as it is written: of `n floordiv (j * k)` if `x` is `n floordiv j`.
    quotient: (Expr, i64),
    a: i64,
    b: i64,
    c: i64,
}

impl Digits {
    /// The factors of the quotient and the remainder when `x` is written in terms of both.
    fn factors(&self) -> Option<(i64, i64)> {
        Some((self.a.checked_mul(self.k)?.checked_add(self.b)?, self.a.checked_add(self.c)?))
    }

    /// Whether `e` is `x`, its quotient or its remainder.
    fn is_one(&self, arena: &Arena, e: Expr) -> bool {
        e == self.x
            || arena.as_floordiv(e) == Some(self.quotient)
            || arena.as_mod(e) == Some((self.x, self.k))
    }
}

/// The first quotient or remainder of a sum that also contains its dividend. Without the dividend, digits are independent.
fn digits_of(arena: &Arena, terms: &[Term]) -> Option<Digits> {
    let (x, k, quotient) = terms.iter().find_map(|t| digit_of(arena, t.expr, terms))?;
    let coeff = |own: &dyn Fn(Expr) -> bool| terms.iter().find(|t| own(t.expr)).map_or(0, |t| t.coeff);
    Some(Digits {
        x,
        k,
        quotient,
        a: coeff(&|e| e == x),
        b: coeff(&|e| arena.as_floordiv(e) == Some(quotient)),
        c: coeff(&|e| arena.as_mod(e) == Some((x, k))),
    })
}

/// The dividend `x` of `e`, which is one of the terms, its divisor, and how its quotient is written.
fn digit_of(arena: &Arena, e: Expr, terms: &[Term]) -> Option<(Expr, i64, (Expr, i64))> {
    let (n, m) = arena.as_floordiv(e).or_else(|| arena.as_mod(e))?;
    if terms.iter().any(|o| o.expr == n) {
        let nested = arena.as_floordiv(n).and_then(|(n, j)| Some((n, j.checked_mul(m)?)));
        return Some((n, m, nested.unwrap_or((n, m))));
    }
    arena.as_floordiv(e)?;
    terms.iter().find_map(|o| {
        let (dividend, j) = arena.as_floordiv(o.expr)?;
        (dividend == n && j < m && m % j == 0).then_some((o.expr, m / j, (n, m)))
    })
}
