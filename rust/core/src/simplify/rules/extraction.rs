//! Cost-driven extraction: a greedy search for the cheapest form of a result. It rewrites quotients and remainders in sums,
//! and in dividends.
//!
//! The rewrites hold for all integers. They are separate from the rules because they hide ranges: the difference of a
//! dividend and its quotient has looser bounds than the remainder that it equals. Nothing is simplified afterwards.

use super::sum::{have_common_term, shares_variables};
use super::{rule, Row, ALWAYS};
use crate::error::Result;
use crate::expr::canonical::signed_residue;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Sums with more terms than this are left as they are.
const MAX_TERMS: usize = 24;
/// The maximal number of rewrites of one expression.
const MAX_REWRITES: usize = 12;
/// The depth to which dividends and arguments are rewritten.
const MAX_NESTING: usize = 6;

/// A rewrite: appends other forms of a sum. If there is a modulus, they may be merely congruent to it.
type Rewrite = fn(&mut Simplifier<'_>, SumForm<'_>, &mut Vec<Expr>) -> Result<()>;

/// A sum, its terms, and, if it is the dividend of a remainder, the modulus.
#[derive(Clone, Copy)]
struct SumForm<'t> {
    sum: Expr,
    terms: &'t [Term],
    modulus: Option<i64>,
}

/// All rewrites.
const REWRITES: [Rewrite; 6] = [expand_one, expand_all, expand_inside, contract_one, move_out, move_in];

type ResultRule = fn(&mut Simplifier<'_>, Expr) -> Result<Option<Expr>>;

/// The rules of a simplified result.
pub(super) const RESULTS: &[Row<ResultRule>] = &[Row::new(
    rule("extraction", "any", "x % m = x - m * (x / m), k * x + n / m = (n + k * m * x) / m", "m > 0"),
    ALWAYS,
    extract,
)];

/// The cheapest form of a result that greedy rewrites find.
fn extract(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<Expr>> {
    if has_single_form(s, e) {
        return Ok(None);
    }
    let best = rewrite(s, e, MAX_NESTING, &mut Memo::new())?;
    Ok((best != e).then_some(best))
}

/// The forms of operands by id, whether they are dividends, and the depth to which they were rewritten. (An empty map of
/// this kind costs nothing.)
type Memo = BTreeMap<(usize, bool, usize), Expr>;

fn rewrite(s: &mut Simplifier<'_>, e: Expr, nesting: usize, memo: &mut Memo) -> Result<Expr> {
    let mut best = e;
    for _ in 0..MAX_REWRITES {
        match cheaper_form(s, best)? {
            Some(x) => best = x,
            None => break,
        }
    }
    with_rewritten_operands(s, best, nesting, memo)
}

/// Whether it is a constant, a sum of variables, or a quotient or remainder of one by a constant: most operands are.
fn has_single_form(s: &Simplifier<'_>, e: Expr) -> bool {
    match s.arena.node(e) {
        Node::FloorDiv(a, b) | Node::Mod(a, b) => s.arena.is_plain(a, 0) && s.arena.tag(b) == Tag::Constant,
        _ => s.arena.is_plain(e, 0),
    }
}

fn with_rewritten_operands(s: &mut Simplifier<'_>, e: Expr, nesting: usize, memo: &mut Memo) -> Result<Expr> {
    if nesting == 0 || s.arena.is_linear(e) || !s.spend(s.arena.operand_count(e) as u64) {
        return Ok(e);
    }
    let divides = matches!(s.arena.tag(e), Tag::FloorDiv | Tag::Mod);
    let mut operands: SmallVec<[Expr; 8]> = SmallVec::new();
    s.arena.for_each_operand(e, |o| {
        if !has_single_form(s, o) {
            operands.push(o);
        }
    });
    if operands.is_empty() {
        return Ok(e);
    }
    let mut rewritten: SmallVec<[(Expr, Expr); 4]> = SmallVec::new();
    for o in operands {
        // A dividend was rewritten together with its divisor.
        let is_dividend = divides && s.arena.tag(o) == Tag::Sum;
        let key = (o.index(), is_dividend, nesting);
        let other = match memo.get(&key) {
            Some(known) => *known,
            None => {
                let form = match is_dividend {
                    true => with_rewritten_operands(s, o, nesting, memo)?,
                    false => rewrite(s, o, nesting - 1, memo)?,
                };
                memo.insert(key, form);
                form
            }
        };
        if other != o {
            rewritten.push((o, other));
        }
    }
    if rewritten.is_empty() {
        return Ok(e);
    }
    let at = |o: Expr| rewritten.iter().find(|(old, _)| *old == o).map_or(o, |(_, new)| *new);
    let rebuilt = s.arena.with_operands(e, at)?;
    Ok(if s.cost(rebuilt) < s.cost(e) && !s.is_wider(rebuilt, e) { rebuilt } else { e })
}

/// The cheapest form that one rewrite makes of a sum, or of a quotient or remainder by rewriting its dividend.
fn cheaper_form(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<Expr>> {
    let divided = s.arena.as_floordiv(e).or_else(|| s.arena.as_mod(e));
    let sum = divided.map_or(e, |(dividend, _)| dividend);
    let Node::Sum(_, terms) = s.arena.node(sum) else { return Ok(None) };
    if terms.len() > MAX_TERMS || !is_related(s, terms) {
        return Ok(None);
    }
    let terms = Terms::from_slice(terms);
    let modulus = s.arena.as_mod(e).map(|(_, m)| m);
    let mut found = Vec::new();
    for rewrite in REWRITES {
        if !s.spend(terms.len() as u64) {
            return Ok(None);
        }
        rewrite(s, SumForm { sum, terms: &terms, modulus }, &mut found)?;
    }
    if let Some((_, m)) = divided {
        for x in &mut found {
            *x = match modulus {
                Some(_) => s.arena.modulo_constant(*x, m)?,
                None => s.arena.floordiv_constant(*x, m)?,
            };
        }
    }
    let price = s.cost(e);
    found.retain(|x| s.cost(*x) < price);
    found.sort_by_key(|x| s.cost(*x));
    Ok(found.into_iter().find(|x| !s.is_wider(*x, e)))
}

/// Whether a quotient or remainder shares a variable with another term, here or within a dividend; otherwise nothing
/// cancels.
fn is_related(s: &Simplifier<'_>, terms: &[Term]) -> bool {
    let inside = |t: &Term| match s.arena.as_floordiv(t.expr).map(|(n, _)| s.arena.node(n)) {
        Some(Node::Sum(_, parts)) => are_related(s, parts),
        _ => false,
    };
    are_related(s, terms) || terms.iter().any(inside)
}

fn are_related(s: &Simplifier<'_>, terms: &[Term]) -> bool {
    let is_digit = |k: usize| matches!(s.arena.tag(terms[k].expr), Tag::FloorDiv | Tag::Mod);
    s.arena.may_depend_on_each_other(terms)
        && (0..terms.len()).any(|k| is_digit(k) && shares_variables(s, terms, k))
}

/// Appends `c * x - c * m * (x / m)` for `c * (x % m)`. False if the term is not a remainder.
fn expand(s: &mut Simplifier<'_>, t: Term, out: &mut Terms) -> Result<bool> {
    let Some((x, m)) = s.arena.as_mod(t.expr) else { return Ok(false) };
    let Some(step) = t.coeff.checked_mul(m).and_then(i64::checked_neg) else { return Ok(false) };
    let q = s.floordiv_constant(x, m)?;
    out.push(Term::new(t.coeff, x));
    out.push(Term::new(step, q));
    Ok(true)
}

fn expand_one(s: &mut Simplifier<'_>, of: SumForm<'_>, found: &mut Vec<Expr>) -> Result<()> {
    let SumForm { sum: e, terms, .. } = of;
    let constant = s.arena.constant_part(e);
    for k in 0..terms.len() {
        let mut new = Terms::from_slice(terms);
        if may_cancel(s, e, terms, k) && expand(s, terms[k], &mut new)? {
            new.remove(k);
            found.push(s.arena.sum(constant, &new)?);
        }
    }
    // The remainder may equal that of another dividend, whose quotient is a term.
    for (k, t) in terms.iter().enumerate() {
        let Some((_, m)) = s.arena.as_mod(t.expr) else { continue };
        for q in terms {
            let Some((z, n)) = s.arena.as_floordiv(q.expr) else { continue };
            let Some(step) = t.coeff.checked_mul(m).and_then(i64::checked_neg) else { continue };
            if n == m && s.modulo_constant(z, m)? == t.expr {
                let mut new = Terms::from_slice(terms);
                new[k] = Term::new(t.coeff, z);
                new.push(Term::new(step, q.expr));
                found.push(s.arena.sum(constant, &new)?);
            }
        }
    }
    Ok(())
}

/// Whether terms may cancel when a remainder is expanded: those of its dividend, or its quotient with another one.
fn may_cancel(s: &Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> bool {
    let Some((x, _)) = s.arena.as_mod(terms[k].expr) else { return false };
    let quotient = |t: &Term| s.arena.tag(t.expr) == Tag::FloorDiv && s.arena.may_share_variables(t.expr, x);
    have_common_term(s, e, x) || terms.iter().any(quotient)
}

fn expand_all(s: &mut Simplifier<'_>, of: SumForm<'_>, found: &mut Vec<Expr>) -> Result<()> {
    let SumForm { sum: e, terms, .. } = of;
    let constant = s.arena.constant_part(e);
    let mut new = Terms::new();
    let mut count = 0;
    for (k, t) in terms.iter().enumerate() {
        if shares_variables(s, terms, k) && expand(s, *t, &mut new)? {
            count += 1;
        } else {
            new.push(*t);
        }
    }
    if count < 2 {
        return Ok(());
    }
    let expanded = s.arena.sum(constant, &new)?;
    found.push(expanded);
    // Then contract what makes it cheaper.
    if let Node::Sum(_, terms) = s.arena.node(expanded) {
        let terms = Terms::from_slice(terms);
        let expanded = SumForm { sum: expanded, terms: &terms, modulus: of.modulus };
        contract_one(s, expanded, found)?;
        move_out(s, expanded, found)?;
    }
    Ok(())
}

/// `(y + c * (x % u)) / m = (y + c * x) / m - c * u / m * (x / u)` for `m` that divides `c * u`, if `x / u` is a term of the
/// sum, or has a coefficient that is a multiple of the modulus.
fn expand_inside(s: &mut Simplifier<'_>, of: SumForm<'_>, found: &mut Vec<Expr>) -> Result<()> {
    let constant = s.arena.constant_part(of.sum);
    for (k, t) in of.terms.iter().enumerate() {
        let Some((n, m)) = s.arena.as_floordiv(t.expr) else { continue };
        let (inner, parts) = s.arena.to_sum(n);
        for (i, p) in parts.iter().enumerate() {
            let Some((x, u)) = s.arena.as_mod(p.expr) else { continue };
            let Some(whole) = p.coeff.checked_mul(u).filter(|w| w % m == 0) else { continue };
            let q = s.floordiv_constant(x, u)?;
            let Some(step) = (whole / m).checked_mul(t.coeff).and_then(i64::checked_neg) else { continue };
            let beside = s.arena.tag(q) == Tag::FloorDiv && s.holds(of.sum, q);
            let vanishes = of.modulus.is_some_and(|m| step % m == 0);
            if !beside && !vanishes {
                continue;
            }
            let mut dividend = Terms::from_slice(&parts);
            dividend[i].expr = x;
            let dividend = s.arena.sum(inner, &dividend)?;
            let mut new = Terms::from_slice(of.terms);
            new[k].expr = s.arena.floordiv_constant(dividend, m)?;
            new.push(Term::new(step, q));
            found.push(s.arena.sum(constant, &new)?);
        }
    }
    Ok(())
}

/// `c * m * (x / m) = c * x - c * (x % m)`.
fn contract_one(s: &mut Simplifier<'_>, of: SumForm<'_>, found: &mut Vec<Expr>) -> Result<()> {
    let SumForm { sum: e, terms, .. } = of;
    let constant = s.arena.constant_part(e);
    for k in 0..terms.len() {
        let Some((x, m)) = s.arena.as_floordiv(terms[k].expr) else { continue };
        if terms[k].coeff % m != 0 {
            continue;
        }
        let rest = s.modulo_constant(x, m)?;
        let mut new = Terms::from_slice(terms);
        new[k] = Term::new(terms[k].coeff / m, x);
        new.push(Term::new(-(terms[k].coeff / m), rest));
        found.push(s.arena.sum(constant, &new)?);
    }
    Ok(())
}

/// `(m * q * x + r * x + y) / m = q * x + (r * x + y) / m`, where `r` is the residue of least absolute value.
fn move_out(s: &mut Simplifier<'_>, of: SumForm<'_>, found: &mut Vec<Expr>) -> Result<()> {
    let SumForm { sum: e, terms, .. } = of;
    let constant = s.arena.constant_part(e);
    for k in 0..terms.len() {
        let Some((x, m)) = s.arena.as_floordiv(terms[k].expr) else { continue };
        let Node::Sum(inner, parts) = s.arena.node(x) else { continue };
        let parts = Terms::from_slice(parts);
        let outside = |p: &Term| terms.iter().any(|t| t.expr == p.expr);
        if !parts.iter().any(outside) {
            continue;
        }
        let mut new = Terms::from_slice(terms);
        let mut low = Terms::new();
        for p in &parts {
            let residue = if outside(p) { signed_residue(p.coeff, m) } else { p.coeff };
            low.push(Term::new(residue, p.expr));
            let coeff =
                p.coeff.checked_sub(residue).and_then(|whole| (whole / m).checked_mul(terms[k].coeff));
            if let Some(coeff) = coeff {
                new.push(Term::new(coeff, p.expr));
            }
        }
        let low = s.arena.sum(inner, &low)?;
        new[k].expr = s.arena.floordiv_constant(low, m)?;
        if new.len() == terms.len() + parts.len() {
            found.push(s.arena.sum(constant, &new)?);
        }
    }
    Ok(())
}

/// `k * x + n / m = (n + k * m * x) / m` for the terms `x` of `n`.
fn move_in(s: &mut Simplifier<'_>, of: SumForm<'_>, found: &mut Vec<Expr>) -> Result<()> {
    let SumForm { sum: e, terms, modulus } = of;
    let constant = s.arena.constant_part(e);
    // In the dividend of a remainder, a coefficient may be replaced by a congruent one.
    let shifts = [Some(0), modulus, modulus.and_then(i64::checked_neg)];
    for (k, q) in terms.iter().enumerate() {
        let Some((n, m)) = s.arena.as_floordiv(q.expr) else { continue };
        let (_, parts) = s.arena.to_sum(n);
        for shift in shifts.into_iter().flatten() {
            let (mut new, mut moved) = (Terms::new(), Terms::new());
            for (i, t) in terms.iter().enumerate() {
                let inside = i != k && parts.iter().any(|p| mentions(s, p.expr, t.expr));
                let scaled = |c: i64| (c.checked_rem(q.coeff)? == 0).then(|| (c / q.coeff).checked_mul(m))?;
                match t.coeff.checked_add(shift).filter(|_| inside).and_then(scaled) {
                    Some(coeff) => moved.push(Term::new(coeff, t.expr)),
                    None if i != k => new.push(*t),
                    None => {}
                }
            }
            if moved.is_empty() {
                continue;
            }
            let moved = s.arena.sum(0, &moved)?;
            let n = s.combine(n, 1, moved, 1)?;
            new.push(Term::new(q.coeff, s.arena.floordiv_constant(n, m)?));
            found.push(s.arena.sum(constant, &new)?);
        }
    }
    Ok(())
}

/// Whether `e` is `atom`, or a minimum or maximum with an argument that contains `atom` as a term.
fn mentions(s: &Simplifier<'_>, e: Expr, atom: Expr) -> bool {
    let (Node::Min(args) | Node::Max(args)) = s.arena.node(e) else { return e == atom };
    e == atom
        || args.iter().any(|a| match s.arena.node(*a) {
            Node::Sum(_, parts) => parts.iter().any(|p| p.expr == atom),
            _ => *a == atom,
        })
}
