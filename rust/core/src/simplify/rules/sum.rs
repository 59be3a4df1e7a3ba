//! Laws of sums on a domain: quotients and remainders of one dividend join, and so do digits.

use super::remainder::are_congruent;
use super::RuleId;
use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::int::gcd_i64;
use crate::interval::Interval;
use crate::simplify::driver::Simplifier;
use smallvec::smallvec;

/// Sums with more terms than this are not searched for pairs term by term.
const PAIRS_SEARCHED: usize = 64;

/// With more equalities about its variables than this, a sum is not tried with each.
const EQUALITIES_TRIED: usize = 32;

/// How many terms of a sum are of each kind that a law is about.
#[derive(Default)]
pub(super) struct Kinds {
    pub(super) quotients: usize,
    pub(super) remainders: usize,
    pub(super) extrema: usize,
    pub(super) products: usize,
}

impl Kinds {
    #[inline]
    fn of(s: &Simplifier<'_>, terms: &[Term]) -> Self {
        let mut kinds = Kinds::default();
        for t in terms {
            match s.arena.tag(t.expr) {
                Tag::FloorDiv => kinds.quotients += 1,
                Tag::Mod => kinds.remainders += 1,
                Tag::Min | Tag::Max => kinds.extrema += 1,
                Tag::Product => kinds.products += 1,
                _ => {}
            }
        }
        kinds
    }
}

/// Simplify a canonical sum of simplified terms.
#[inline]
pub fn apply(s: &mut Simplifier<'_>, e: Expr) -> Result<Expr> {
    let Node::Sum(_, terms) = s.arena.node(e) else { return Ok(e) };
    if terms.len() > PAIRS_SEARCHED {
        return Ok(e);
    }
    if let Some(x) = equality_used(s, e)? {
        return Ok(x);
    }
    if s.arena.is_linear(e) {
        return Ok(e);
    }
    let Node::Sum(_, terms) = s.arena.node(e) else { return Ok(e) };
    let (kinds, terms) = (Kinds::of(s, terms), Terms::from_slice(terms));
    let others = terms.len() > 1;
    if kinds.remainders > 0 && others {
        if let Some(x) = each_term(s, e, &terms, Tag::Mod, remainder_recombines)? {
            return Ok(x);
        }
    }
    if kinds.quotients > 0 {
        if let Some(x) = each_term(s, e, &terms, Tag::FloorDiv, quotient_recombines)? {
            return Ok(x);
        }
    }
    if kinds.extrema > 1 {
        if let Some(x) = extremes_join(s, e, &terms)? {
            return Ok(x);
        }
    }
    if kinds.extrema > 0 && others {
        if let Some(x) = extremum_absorbs(s, e)? {
            return Ok(x);
        }
    }
    Ok(super::combine::apply(s, e, &terms, &kinds)?.unwrap_or(e))
}

/// Has the term a variable in common with another one? Otherwise nothing of it cancels.
pub(super) fn shares_variables(s: &Simplifier<'_>, terms: &[Term], k: usize) -> bool {
    let shares = |o: &Term| s.arena.may_share_variables(o.expr, terms[k].expr);
    terms.iter().enumerate().any(|(i, o)| i != k && shares(o))
}

type TermRule = fn(&mut Simplifier<'_>, Expr, &[Term], usize) -> Result<Option<Expr>>;

#[inline]
fn each_term(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    tag: Tag,
    rule: TermRule,
) -> Result<Option<Expr>> {
    for k in 0..terms.len() {
        if s.arena.tag(terms[k].expr) == tag && s.spend(1) {
            if let Some(x) = rule(s, e, terms, k)? {
                return Ok(Some(x));
            }
        }
    }
    Ok(None)
}

/// `e` without the terms at `gone` and with `new`; `None` where that is not cheaper.
fn cheaper(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    gone: &[usize],
    new: &[Term],
) -> Result<Option<Expr>> {
    let constant = s.arena.constant_part(e);
    let mut all: Terms = Terms::new();
    all.extend(terms.iter().enumerate().filter(|(k, _)| !gone.contains(k)).map(|(_, t)| *t));
    all.extend_from_slice(new);
    let raw = s.arena.sum(constant, &all)?;
    Ok((s.cost(raw) < s.cost(e)).then_some(raw))
}

/// The same, simplified.
pub(super) fn with_terms(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    gone: &[usize],
    new: &[Term],
) -> Result<Option<Expr>> {
    Ok(cheaper(s, e, terms, gone, new)?.map(|raw| s.simplify(raw)))
}

/// The same; `None` too where a quotient or remainder of `new` stays beside its dividend and hides the range of both.
fn with_term(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    gone: &[usize],
    new: &[Term],
) -> Result<Option<Expr>> {
    let Some(raw) = cheaper(s, e, terms, gone, new)? else { return Ok(None) };
    let hides = |t: &Term| match s.arena.tag(t.expr) {
        Tag::FloorDiv => s.holds(raw, t.expr),
        Tag::Mod => s.holds(raw, t.expr) && s.arena.as_mod(t.expr).is_some_and(|(x, _)| shares(s, raw, x)),
        _ => false,
    };
    if new.iter().any(hides) {
        return Ok(None);
    }
    Ok(Some(s.simplify(raw)))
}

/// Is a term of `x` a term of `e`?
pub(super) fn shares(s: &Simplifier<'_>, e: Expr, x: Expr) -> bool {
    match s.arena.node(x) {
        Node::Sum(_, parts) => parts.iter().any(|p| s.holds(e, p.expr)),
        _ => s.holds(e, x),
    }
}

/// `c * (x % m)` is `c * z - c * m * (z / m)` for any `z` congruent to `x`: it joins where the sum holds the quotient,
/// or the next digit.
fn remainder_recombines(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Result<Option<Expr>> {
    let Some((x, m)) = s.arena.as_mod(terms[k].expr) else { return Ok(None) };
    if !shares_variables(s, terms, k) {
        return Ok(None);
    }
    let Some(step) = terms[k].coeff.checked_mul(m) else { return Ok(None) };
    let Some(minus) = step.checked_neg() else { return Ok(None) };
    for i in 0..terms.len() {
        if terms[i].coeff != step && terms[i].coeff != minus {
            continue;
        }
        let Some((z, side)) = congruent_dividend(s, terms[i].expr, terms[k].expr, m)? else { continue };
        let c = terms[k].coeff;
        let new: Terms = match (side, c.checked_neg(), c.checked_mul(m - 1)) {
            (Side::Same, ..) if terms[i].coeff == step => smallvec![Term::new(c, z)],
            (Side::Mirrored, Some(negative), Some(top)) if terms[i].coeff == minus => {
                let one = s.arena.constant(1);
                smallvec![Term::new(top, one), Term::new(negative, z)]
            }
            _ => continue,
        };
        if let Some(out) = with_terms(s, e, terms, &[i, k], &new)? {
            return Ok(Some(s.applied(RuleId::RemainderRecombines, e, out)));
        }
    }
    if m == 2 {
        if let Some(out) = halves_recombine(s, e, terms, k, x)? {
            return Ok(Some(out));
        }
    }
    for i in 0..terms.len() {
        let next = i != k && terms[i].coeff == step && s.arena.tag(terms[i].expr) == Tag::Mod;
        if next && s.arena.may_share_variables(terms[i].expr, x) {
            if let Some(out) = digits_recombine(s, e, terms, k, i)? {
                return Ok(Some(out));
            }
        }
    }
    // What x / m could cancel with is a quotient.
    let partner = |t: &Term| {
        t.coeff % step == 0 && s.arena.tag(t.expr) == Tag::FloorDiv && s.arena.may_share_variables(t.expr, x)
    };
    if !terms.iter().enumerate().any(|(i, t)| i != k && partner(t)) {
        return Ok(None);
    }
    let q = s.floordiv_constant(x, m)?;
    let mut new: Terms = smallvec![Term::new(terms[k].coeff, x)];
    match s.arena.node(q) {
        Node::Sum(constant, parts) => {
            for p in parts {
                let Some(coeff) = p.coeff.checked_mul(minus) else { return Ok(None) };
                new.push(Term::new(coeff, p.expr));
            }
            let one = s.arena.constant(constant);
            new.push(Term::new(minus, one));
        }
        _ => new.push(Term::new(minus, q)),
    }
    let out = with_term(s, e, terms, &[k], &new)?;
    Ok(out.map(|out| s.applied(RuleId::RemainderRecombines, e, out)))
}

/// How a remainder belongs to a dividend `z`: it is `z % m`, or `m - 1 - z % m`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Same,
    Mirrored,
}

/// The `z` of `quotient = z / m`, if `remainder` is `z % m` or `(-1 - z) % m`.
fn congruent_dividend(
    s: &mut Simplifier<'_>,
    quotient: Expr,
    remainder: Expr,
    m: i64,
) -> Result<Option<(Expr, Side)>> {
    let Some((z, divisor)) = s.arena.as_floordiv(quotient) else { return Ok(None) };
    if divisor % m != 0 || !s.spend(1) {
        return Ok(None);
    }
    let Some((x, _)) = s.arena.as_mod(remainder) else { return Ok(None) };
    if !s.arena.may_share_variables(z, x) {
        return Ok(None);
    }
    // z / (b * m) is (z / b) / m.
    let z = if divisor == m { z } else { s.floordiv_constant(z, divisor / m)? };
    let rest = s.arena.modulo_constant(z, m)?;
    if rest == remainder {
        return Ok(Some((z, Side::Same)));
    }
    let reduced = s.arena.as_mod(rest).filter(|r| r.1 == m).map_or(z, |r| r.0);
    if agree(s, reduced, x, (1, 0), m) {
        return Ok(Some((z, Side::Same)));
    }
    if agree(s, reduced, x, (-1, -1), m) {
        return Ok(Some((z, Side::Mirrored)));
    }
    // Quotients in both may differ in their coefficients alone.
    let one = [Term::new(1, x)];
    if s.arena.as_sum(x, &one).1.iter().all(|t| s.arena.tag(t.expr) != Tag::FloorDiv) {
        return Ok(None);
    }
    if are_congruent(s, rest, remainder)? {
        return Ok(Some((z, Side::Same)));
    }
    let mirrored = s.arena.affine(z, -1, -1)?;
    let mirrored = s.arena.modulo_constant(mirrored, m)?;
    Ok(are_congruent(s, mirrored, remainder)?.then_some((z, Side::Mirrored)))
}

/// Is `factor * z + offset`, term by term, congruent to `x` modulo `m`?
fn agree(s: &Simplifier<'_>, z: Expr, x: Expr, (factor, offset): (i64, i64), m: i64) -> bool {
    let (one, other) = ([Term::new(1, z)], [Term::new(1, x)]);
    let (a, left) = s.arena.as_sum(z, &one);
    let (b, right) = s.arena.as_sum(x, &other);
    let apart = |p: i64, q: i64, offset: i64| {
        (i128::from(factor) * i128::from(p) + i128::from(offset) - i128::from(q)) % i128::from(m) != 0
    };
    if apart(a, b, offset) {
        return false;
    }
    let coeff = |terms: &[Term], e: Expr| terms.iter().find(|t| t.expr == e).map_or(0, |t| t.coeff);
    left.iter().all(|t| !apart(t.coeff, coeff(right, t.expr), 0))
        && right.iter().all(|t| t.coeff % m == 0 || left.iter().any(|o| o.expr == t.expr))
}

/// `c * (x / 2) + c * (x % 2)` is `c * ((x + 1) / 2)`.
fn halves_recombine(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    k: usize,
    x: Expr,
) -> Result<Option<Expr>> {
    let c = terms[k].coeff;
    // (x + 1) / 2 - x % 2 is x / 2
    let above = s.arena.offset(x, 1)?;
    let half = s.arena.floordiv_constant(above, 2)?;
    if let Some(i) = terms.iter().position(|t| t.expr == half && t.coeff.checked_neg() == Some(c)) {
        let q = s.floordiv_constant(x, 2)?;
        if let Some(out) = with_terms(s, e, terms, &[i, k], &[Term::new(terms[i].coeff, q)])? {
            return Ok(Some(s.applied(RuleId::HalvesRecombine, e, out)));
        }
    }
    if !terms.iter().any(|t| t.coeff == c && s.arena.tag(t.expr) == Tag::FloorDiv) {
        return Ok(None);
    }
    let q = s.floordiv_constant(x, 2)?;
    let Some(i) = terms.iter().position(|t| t.expr == q && t.coeff == c) else { return Ok(None) };
    let above = s.affine(x, 1, 1)?;
    let half = s.floordiv_constant(above, 2)?;
    let out = with_terms(s, e, terms, &[i, k], &[Term::new(c, half)])?;
    Ok(out.map(|out| s.applied(RuleId::HalvesRecombine, e, out)))
}

/// `c * (x % u) + c * u * (y % v)` is `c * ((z + u * (y - z / u)) % (u * v))` for any `z` congruent to `x` modulo `u`;
/// taken where `z / u` cancels.
fn digits_recombine(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    k: usize,
    i: usize,
) -> Result<Option<Expr>> {
    let (low, high) = (terms[k], terms[i]);
    let Some((x, u)) = s.arena.as_mod(low.expr) else { return Ok(None) };
    let Some((y, v)) = s.arena.as_mod(high.expr) else { return Ok(None) };
    let Some(joined) = u.checked_mul(v) else { return Ok(None) };
    let mut dividends: Vec<(Expr, Expr)> = Vec::new();
    let (_, parts) = s.arena.to_sum(y);
    for p in parts {
        if let Some((z, Side::Same)) = congruent_dividend(s, p.expr, low.expr, u)? {
            dividends.push((z, p.expr));
        }
    }
    if dividends.is_empty() {
        let q = s.floordiv_constant(x, u)?;
        if !shares(s, y, q) && !shares(s, y, x) {
            return Ok(None);
        }
        dividends.push((x, q));
    }
    for (z, q) in dividends {
        let rest = s.combine(y, 1, q, -1)?;
        let whole = s.combine(z, 1, rest, u)?;
        let digit = s.modulo_constant(whole, joined)?;
        if let Some(out) = with_terms(s, e, terms, &[i, k], &[Term::new(low.coeff, digit)])? {
            return Ok(Some(s.applied(RuleId::DigitsRecombine, e, out)));
        }
    }
    Ok(None)
}

/// `c * m * (x / m)` is `c * x - c * (x % m)`, where that is cheaper.
fn quotient_recombines(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Result<Option<Expr>> {
    let Some((x, divisor)) = s.arena.as_floordiv(terms[k].expr) else { return Ok(None) };
    let m = gcd_i64(terms[k].coeff, divisor);
    if m < 2 {
        return Ok(None);
    }
    // c * m * (x / (b * m)) is that of x / b, which must be there.
    let b = divisor / m;
    let beside = |t: &Term| s.arena.as_floordiv(t.expr).is_some_and(|(_, n)| n == b);
    if b > 1 && !terms.iter().any(beside) {
        return Ok(None);
    }
    let x = if b > 1 { s.floordiv_constant(x, b)? } else { x };
    let factor = terms[k].coeff / m;
    // Something of x must cancel for this to pay.
    let cancels = match s.arena.node(x) {
        Node::Sum(_, parts) => parts.iter().any(|p| terms.iter().any(|t| t.expr == p.expr)),
        _ => terms.iter().any(|t| t.expr == x),
    };
    let digits = terms.iter().any(|t| s.arena.as_mod(t.expr).is_some_and(|(_, n)| n == m));
    let exact = s.info(x).modulus % m == 0;
    if !cancels && !digits && !exact {
        return Ok(None);
    }
    let rest = s.modulo_constant(x, m)?;
    let Some(minus) = factor.checked_neg() else { return Ok(None) };
    let out = with_term(s, e, terms, &[k], &[Term::new(factor, x), Term::new(minus, rest)])?;
    Ok(out.map(|out| s.applied(RuleId::QuotientRecombines, e, out)))
}

/// `min(a, b) + t` is `min(a + t, b + t)`, where that is cheaper.
fn extremum_absorbs(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<Expr>> {
    let Some((tag, args)) = s.spread_extremum(e)? else { return Ok(None) };
    let raw = s.arena.extremum(tag, &args)?;
    if s.cost(raw) >= s.cost(e) {
        return Ok(None);
    }
    let out = s.extremum(tag, &args)?;
    Ok(Some(s.applied(RuleId::ExtremumAbsorbsTerms, e, out)))
}

/// `e` is `e - k * (f - c)` where the facts say `f = c`; taken where that is cheaper.
fn equality_used(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<Expr>> {
    if !s.ranges.facts.has_equalities {
        return Ok(None);
    }
    // Of two equal variables, the second is written nowhere else.
    let useful = |f: &&(Expr, Interval)| {
        f.1.is_point() && s.arena.may_share_variables(f.0, e) && s.arena.equal_variables(f.0, f.1).is_none()
    };
    let facts = s.ranges.facts.linear.iter().filter(useful).take(EQUALITIES_TRIED);
    let equalities: Vec<(Expr, i64)> = facts.map(|f| (f.0, f.1.lower)).collect();
    s.arena.charge(s.ranges.facts.linear.len() / 4);
    for (form, value) in equalities {
        if !s.spend(s.arena.operand_count(form) as u64) {
            break;
        }
        let (Node::Sum(_, terms), Node::Sum(_, parts)) = (s.arena.node(e), s.arena.node(form)) else {
            continue;
        };
        let factors: Vec<i64> = parts
            .iter()
            .filter_map(|p| {
                let divides = |t: &&Term| t.expr == p.expr && t.coeff.checked_rem(p.coeff) == Some(0);
                terms.iter().find(divides).map(|t| t.coeff / p.coeff)
            })
            .collect();
        for k in factors {
            let (Some(minus), Some(back)) = (k.checked_neg(), k.checked_mul(value)) else { continue };
            let raw = s.arena.combine(e, 1, form, minus)?;
            let raw = s.arena.offset(raw, back)?;
            if s.cost(raw) < s.cost(e) {
                let out = s.simplify(raw);
                return Ok(Some(s.applied(RuleId::EqualityUsed, e, out)));
            }
        }
    }
    Ok(None)
}

/// `c * min(a, b) + c * max(a, b)` is `c * a + c * b`.
fn extremes_join(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Result<Option<Expr>> {
    for (k, low) in terms.iter().enumerate() {
        let Node::Min(&[a, b]) = s.arena.node(low.expr) else { continue };
        let twin = terms.iter().position(|t| {
            t.coeff == low.coeff && matches!(s.arena.node(t.expr), Node::Max(&[c, d]) if (a, b) == (c, d))
        });
        let Some(i) = twin else { continue };
        let new = [Term::new(low.coeff, a), Term::new(low.coeff, b)];
        if let Some(out) = with_terms(s, e, terms, &[k, i], &new)? {
            return Ok(Some(s.applied(RuleId::ExtremesJoin, e, out)));
        }
    }
    Ok(None)
}
