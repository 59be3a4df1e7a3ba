//! The last look at a result that is a sum: other spellings of the same digits, the cheapest of which is taken.
//!
//! The moves are true for all integers. They stand apart from the rules because they hide ranges (a quotient beside its
//! dividend is bounded worse than the digit that both make), so that nothing may be simplified afterwards.

use super::sum::{shares, shares_variables};
use super::{rule, Row, ALWAYS};
use crate::error::Result;
use crate::expr::canonical::signed_residue;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::simplify::simplifier::Simplifier;

/// Sums with more terms than this are left as they are.
const TERMS_SEARCHED: usize = 24;
/// Moves made one after the other.
const MOVES: usize = 12;

type Move = fn(&mut Simplifier<'_>, Expr, &[Term], &mut Vec<Expr>) -> Result<()>;

/// The ways to spell a sum otherwise.
const ALL: [Move; 5] = [expand_one, expand_all, contract_one, move_out, move_in];

type ResultRule = fn(&mut Simplifier<'_>, Expr) -> Result<Option<Expr>>;

/// The rules of a simplified result.
pub(super) const RESULTS: &[Row<ResultRule>] = &[Row::new(
    rule("extraction", "sum", "x % m = x - m * (x / m), k * x + n / m = (n + k * m * x) / m", "m > 0"),
    ALWAYS,
    extract,
)];

/// The cheapest spelling of the digits of a sum that greedy moves find.
fn extract(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<Expr>> {
    let mut best = e;
    for _ in 0..MOVES {
        let Node::Sum(_, terms) = s.arena.node(best) else { break };
        if terms.len() > TERMS_SEARCHED || !is_related(s, terms) {
            break;
        }
        let terms = Terms::from_slice(terms);
        let mut found = Vec::new();
        for propose in ALL {
            if !s.spend(terms.len() as u64) {
                return Ok((best != e).then_some(best));
            }
            propose(s, best, &terms, &mut found)?;
        }
        let price = s.cost(best);
        found.retain(|x| s.cost(*x) < price);
        found.sort_by_key(|x| s.cost(*x));
        match found.into_iter().find(|x| !s.is_wider(*x, best)) {
            Some(x) => best = x,
            None => break,
        }
    }
    Ok((best != e).then_some(best))
}

/// Does a quotient or remainder have a variable in common with another term? Otherwise nothing cancels.
fn is_related(s: &Simplifier<'_>, terms: &[Term]) -> bool {
    (0..terms.len()).any(|k| {
        matches!(s.arena.tag(terms[k].expr), Tag::FloorDiv | Tag::Mod) && shares_variables(s, terms, k)
    })
}

/// Append `c * x - c * m * (x / m)` for `c * (x % m)`; false where the term is no remainder.
fn expand(s: &mut Simplifier<'_>, t: Term, out: &mut Terms) -> Result<bool> {
    let Some((x, m)) = s.arena.as_mod(t.expr) else { return Ok(false) };
    let Some(step) = t.coeff.checked_mul(m).and_then(i64::checked_neg) else { return Ok(false) };
    let q = s.floordiv_constant(x, m)?;
    out.push(Term::new(t.coeff, x));
    out.push(Term::new(step, q));
    Ok(true)
}

fn expand_one(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], found: &mut Vec<Expr>) -> Result<()> {
    let constant = s.arena.constant_part(e);
    for k in 0..terms.len() {
        let mut new = Terms::from_slice(terms);
        if may_cancel(s, e, terms, k) && expand(s, terms[k], &mut new)? {
            new.remove(k);
            found.push(s.arena.sum(constant, &new)?);
        }
    }
    // A remainder may also belong to the dividend of a quotient that stands beside it.
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

/// May what a remainder is opened to cancel with other terms: its dividend with their atoms, its quotient with another?
fn may_cancel(s: &Simplifier<'_>, e: Expr, terms: &[Term], k: usize) -> bool {
    let Some((x, _)) = s.arena.as_mod(terms[k].expr) else { return false };
    let quotient = |t: &Term| s.arena.tag(t.expr) == Tag::FloorDiv && s.arena.may_share_variables(t.expr, x);
    shares(s, e, x) || terms.iter().any(quotient)
}

fn expand_all(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], found: &mut Vec<Expr>) -> Result<()> {
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
    let opened = s.arena.sum(constant, &new)?;
    found.push(opened);
    // From there, close what pays.
    if let Node::Sum(_, terms) = s.arena.node(opened) {
        let terms = Terms::from_slice(terms);
        let mut closed = Vec::new();
        contract_one(s, opened, &terms, &mut closed)?;
        found.extend(closed);
    }
    Ok(())
}

/// `c * m * (x / m) = c * x - c * (x % m)`.
fn contract_one(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], found: &mut Vec<Expr>) -> Result<()> {
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

/// `(m * q * x + r * x + y) / m = q * x + (r * x + y) / m`, with least residues.
fn move_out(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], found: &mut Vec<Expr>) -> Result<()> {
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
fn move_in(s: &mut Simplifier<'_>, e: Expr, terms: &[Term], found: &mut Vec<Expr>) -> Result<()> {
    let constant = s.arena.constant_part(e);
    for (k, q) in terms.iter().enumerate() {
        let Some((n, m)) = s.arena.as_floordiv(q.expr) else { continue };
        let (_, parts) = s.arena.to_sum(n);
        let (mut new, mut moved) = (Terms::new(), Terms::new());
        for (i, t) in terms.iter().enumerate() {
            let inside = i != k
                && t.coeff.checked_rem(q.coeff) == Some(0)
                && parts.iter().any(|p| mentions(s, p.expr, t.expr));
            match Some(t.coeff).filter(|_| inside).and_then(|c| (c / q.coeff).checked_mul(m)) {
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
    Ok(())
}

/// Is `atom` the term, or a term of an argument where the term is a minimum or maximum?
fn mentions(s: &Simplifier<'_>, e: Expr, atom: Expr) -> bool {
    match s.arena.node(e) {
        Node::Min(args) | Node::Max(args) => args.iter().any(|a| match s.arena.node(*a) {
            Node::Sum(_, parts) => parts.iter().any(|p| p.expr == atom),
            _ => *a == atom,
        }),
        _ => e == atom,
    }
}
