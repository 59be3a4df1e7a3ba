//! Laws of sums on a domain: quotients and remainders of one dividend join, and so do digits.

use super::RuleId;
use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term};
use crate::simplify::Simplifier;

/// Sums with more terms than this are not searched for pairs term by term.
const PAIRS_SEARCHED: usize = 64;

/// Simplify a canonical sum of simplified terms.
pub fn apply(s: &mut Simplifier<'_>, e: Expr) -> Result<Expr> {
    let Node::Sum(_, terms) = s.arena.node(e) else { return Ok(e) };
    let (mut quotients, mut remainders, mut extrema) = (0, 0, 0);
    for t in terms {
        match s.arena.tag(t.expr) {
            Tag::FloorDiv => quotients += 1,
            Tag::Mod => remainders += 1,
            Tag::Min | Tag::Max => extrema += 1,
            _ => {}
        }
    }
    let (others, searched) = (terms.len() > 1, terms.len() <= PAIRS_SEARCHED);
    if !searched {
        return Ok(e);
    }
    if let Some(x) = equality_used(s, e)? {
        return Ok(x);
    }
    if quotients + remainders + extrema == 0 {
        return Ok(e);
    }
    if remainders > 0 && others {
        if let Some(x) = each_term(s, e, Tag::Mod, remainder_joins)? {
            return Ok(x);
        }
    }
    if quotients > 0 && others {
        if let Some(x) = each_term(s, e, Tag::FloorDiv, quotient_joins)? {
            return Ok(x);
        }
    }
    if extrema > 0 && others {
        if let Some(x) = extremum_absorbs(s, e)? {
            return Ok(x);
        }
    }
    Ok(e)
}

type TermRule = fn(&mut Simplifier<'_>, Expr, &[Term], usize) -> Result<Option<Expr>>;

fn each_term(s: &mut Simplifier<'_>, e: Expr, tag: Tag, rule: TermRule) -> Result<Option<Expr>> {
    let Node::Sum(_, terms) = s.arena.node(e) else { return Ok(None) };
    let terms = terms.to_vec();
    for k in 0..terms.len() {
        if s.arena.tag(terms[k].expr) == tag && s.spend(1) {
            if let Some(x) = rule(s, e, &terms, k)? {
                return Ok(Some(x));
            }
        }
    }
    Ok(None)
}

/// Replace term `k` of `e` by `factor * by` and simplify; `None` where that is not cheaper.
fn with_term(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    gone: &[usize],
    new: &[Term],
) -> Result<Option<Expr>> {
    let constant = s.arena.constant_part(e);
    let mut all: Vec<Term> = Vec::with_capacity(terms.len() + new.len());
    all.extend(terms.iter().enumerate().filter(|(k, _)| !gone.contains(k)).map(|(_, t)| *t));
    all.extend_from_slice(new);
    let raw = s.arena.sum(constant, &all)?;
    if s.cost(raw) >= s.cost(e) {
        return Ok(None);
    }
    Ok(Some(s.simplify(raw)))
}

/// `c * (x % m)` is `c * x - c * m * (x / m)`; it joins where the sum holds the quotient, or the next digit of `x`.
fn remainder_joins(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Result<Option<Expr>> {
    let Some((x, m)) = s.arena.as_mod(terms[k].expr) else { return Ok(None) };
    let Some(step) = terms[k].coeff.checked_mul(m) else { return Ok(None) };
    let partner = |t: &Term| t.coeff % step == 0 && !matches!(s.arena.tag(t.expr), Tag::Constant);
    let halves =
        m == 2 && terms.iter().any(|t| t.coeff == terms[k].coeff && s.arena.tag(t.expr) == Tag::FloorDiv);
    if !halves && !terms.iter().enumerate().any(|(i, t)| i != k && partner(t)) {
        return Ok(None);
    }
    let q = s.floordiv_constant(x, m)?;
    if halves {
        if let Some(i) = terms.iter().position(|t| t.expr == q && t.coeff == terms[k].coeff) {
            let above = s.affine(x, 1, 1)?;
            let half = s.floordiv_constant(above, 2)?;
            if let Some(out) = with_term(s, e, terms, &[i, k], &[Term::new(terms[k].coeff, half)])? {
                return Ok(Some(s.applied(RuleId::HalvesJoin, e, out)));
            }
        }
    }
    if let Some(out) = digits_join(s, e, terms, k, q)? {
        return Ok(Some(out));
    }
    let Some(minus) = step.checked_neg() else { return Ok(None) };
    let out = with_term(s, e, terms, &[k], &[Term::new(terms[k].coeff, x), Term::new(minus, q)])?;
    Ok(out.map(|out| s.applied(RuleId::RemainderJoins, e, out)))
}

/// `c * (x % u) + c * u * (y % v)` is `c * (x % (u * v))` where `x / u` and `y` are congruent modulo `v`.
fn digits_join(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize, q: Expr) -> Result<Option<Expr>> {
    let Some((x, u)) = s.arena.as_mod(terms[k].expr) else { return Ok(None) };
    for i in 0..terms.len() {
        let Some((y, v)) = s.arena.as_mod(terms[i].expr) else { continue };
        let (Some(step), Some(joined)) = (terms[k].coeff.checked_mul(u), u.checked_mul(v)) else { continue };
        if i == k || terms[i].coeff != step {
            continue;
        }
        let gap = s.arena.sub(q, y)?;
        let gap = s.simplify(gap);
        let gap = s.modulo_constant(gap, v)?;
        if s.arena.as_constant(gap) != Some(0) {
            continue;
        }
        let digit = s.modulo_constant(x, joined)?;
        if let Some(out) = with_term(s, e, terms, &[i, k], &[Term::new(terms[k].coeff, digit)])? {
            return Ok(Some(s.applied(RuleId::DigitsJoin, e, out)));
        }
    }
    Ok(None)
}

/// `c * m * (x / m)` is `c * x - c * (x % m)`, where that is cheaper.
fn quotient_joins(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> Result<Option<Expr>> {
    let Some((x, m)) = s.arena.as_floordiv(terms[k].expr) else { return Ok(None) };
    if terms[k].coeff % m != 0 {
        return Ok(None);
    }
    let factor = terms[k].coeff / m;
    // Something of x must cancel for this to pay.
    let cancels = match s.arena.node(x) {
        Node::Sum(_, parts) => parts.iter().any(|p| terms.iter().any(|t| t.expr == p.expr)),
        _ => terms.iter().any(|t| t.expr == x),
    };
    let digits = terms.iter().any(|t| s.arena.tag(t.expr) == Tag::Mod);
    if !cancels && !digits {
        return Ok(None);
    }
    let rest = s.modulo_constant(x, m)?;
    let Some(minus) = factor.checked_neg() else { return Ok(None) };
    let out = with_term(s, e, terms, &[k], &[Term::new(factor, x), Term::new(minus, rest)])?;
    Ok(out.map(|out| s.applied(RuleId::QuotientJoins, e, out)))
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
    if s.ranges.facts.linear.is_empty() {
        return Ok(None);
    }
    let equalities: Vec<(Expr, i64)> =
        s.ranges.facts.linear.iter().filter(|f| f.1.is_point()).map(|f| (f.0, f.1.lower)).collect();
    for (form, value) in equalities {
        let (Node::Sum(_, terms), Node::Sum(_, parts)) = (s.arena.node(e), s.arena.node(form)) else {
            continue;
        };
        let factors: Vec<i64> = parts
            .iter()
            .filter_map(|p| {
                terms.iter().find(|t| t.expr == p.expr && t.coeff % p.coeff == 0).map(|t| t.coeff / p.coeff)
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
