//! Laws of the cheapest form of a sum that move terms into a quotient or an extremum, or out of it.

use super::extraction::SumForm;
use super::min_max::with_term_outside;
use crate::expr::canonical::signed_residue;
use crate::expr::{Expr, Node, Term, Terms};
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;

/// `(m * q * x + r * x + y) / m = q * x + (r * x + y) / m` for the terms `x` of the sum, where `r` is the residue of least
/// absolute value.
pub(super) fn terms_moved_out(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    let t = of.terms[k];
    let Some((n, m)) = s.arena.as_floordiv(t.expr) else { return Ok(None) };
    let Node::Sum(inner, parts) = s.arena.node(n) else { return Ok(None) };
    let mut low = Terms::from_slice(parts);
    let mut new = Terms::from_slice(of.terms);
    for p in low.iter_mut().filter(|p| of.terms.iter().any(|t| t.expr == p.expr)) {
        let residue = signed_residue(p.coeff, m);
        let whole = p.coeff.checked_sub(residue).and_then(|whole| (whole / m).checked_mul(t.coeff));
        let Some(whole) = whole else { return Ok(None) };
        new.push(Term::new(whole, p.expr));
        p.coeff = residue;
    }
    if new.len() == of.terms.len() {
        return Ok(None);
    }
    let low = s.arena.sum(inner, &low)?;
    new[k].expr = s.arena.floordiv_constant(low, m)?;
    of.with_terms(s, &new)
}

/// `c * min(a + t, b) + k = c * min(a, b - t) + c * t + k`, if that is cheaper.
pub(super) fn extremum_term_moved_out(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    let t = of.terms[k];
    let (Node::Min(args) | Node::Max(args)) = s.arena.node(t.expr) else { return Ok(None) };
    let (tag, args) = (s.arena.tag(t.expr), args.to_vec());
    if s.arena.constant_part(of.sum) == 0 {
        return Ok(None);
    }
    with_term_outside(s, tag, &args, |s, form| {
        let mut new = Terms::from_slice(of.terms);
        new[k].expr = form;
        let form = of.with_terms(s, &new)?;
        Ok(form.filter(|form| s.cost(*form) < s.cost(of.sum)))
    })
}

pub(super) fn terms_moved_in(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    moved_in(s, of, k, 0)
}

pub(super) fn residues_above_moved_in(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    of.modulus.map_or(Ok(None), |m| moved_in(s, of, k, m))
}

pub(super) fn residues_below_moved_in(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    of.modulus.and_then(i64::checked_neg).map_or(Ok(None), |m| moved_in(s, of, k, m))
}

/// `c * k * x + c * (n / m) = c * ((n + k * m * x) / m)` for the terms `x` of `n`, after `shift` was added to their
/// coefficients.
fn moved_in(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize, shift: i64) -> Rewritten {
    let q = of.terms[k];
    let Some((n, m)) = s.arena.as_floordiv(q.expr) else { return Ok(None) };
    let (_, parts) = s.arena.to_sum(n);
    let (mut new, mut moved) = (Terms::new(), Terms::new());
    let scaled = |c: i64| (c.checked_rem(q.coeff)? == 0).then(|| (c / q.coeff).checked_mul(m))?;
    for (_, t) in of.terms.iter().enumerate().filter(|(i, _)| *i != k) {
        let inside = s.is_searching() || parts.iter().any(|p| mentions(s, p.expr, t.expr));
        match t.coeff.checked_add(shift).filter(|_| inside).and_then(scaled) {
            Some(coeff) => moved.push(Term::new(coeff, t.expr)),
            None => new.push(*t),
        }
    }
    if moved.is_empty() {
        return Ok(None);
    }
    let moved = s.arena.sum(0, &moved)?;
    let n = s.combine(n, 1, moved, 1)?;
    new.push(Term::new(q.coeff, s.arena.floordiv_constant(n, m)?));
    of.with_terms(s, &new)
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
