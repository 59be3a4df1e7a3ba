//! Laws of the cheapest form of a simplified result: other forms of a sum, which may be the dividend of a quotient or of a
//! remainder.
//!
//! They hold for all integers, and are apart from the laws of sums because they hide ranges: the difference of a dividend
//! and its quotient has looser bounds than the remainder that it equals. The driver applies them after all others.

use super::moved_terms::{
    extremum_term_moved_out, residues_above_moved_in, residues_below_moved_in, terms_moved_in,
    terms_moved_out,
};
use super::sum::{have_common_term, may_cancel, shares_variables};
use super::{law, Row, ALWAYS};
use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::simplify::cost::saved_coefficients;
use crate::simplify::law::{Applied, Law, Rewritten};
use crate::simplify::simplifier::Simplifier;
use smallvec::SmallVec;

/// Sums with more terms than this are left as they are.
const MAX_TERMS: usize = 24;

/// A sum, its terms, and the modulus if it is the dividend of a remainder: then another form may be merely congruent to it.
#[derive(Clone, Copy)]
pub(super) struct SumForm<'t> {
    pub(super) sum: Expr,
    pub(super) terms: &'t [Term],
    pub(super) modulus: Option<i64>,
}

/// A law of the term at an index; it returns another form of the sum.
type FormRule = fn(&mut Simplifier<'_>, SumForm<'_>, usize) -> Rewritten;

/// The sum is simplified: no law of this file was applied to it.
const SIMPLIFIED: u16 = 1;

/// A row, and the operator of the term that it is about.
macro_rules! form {
    ($operator:ident, $($row:tt)+) => {
        (Tag::$operator, row!($($row)+))
    };
}

/// The laws by the operator of the term, in the order in which results of equal cost are preferred.
const FORMS: &[(Tag, Row<FormRule>)] = &[
    form!(Mod, "form-remainder-expanded", "sum": "x % m = x - m * (x / m)"
        if "m > 0"; SIMPLIFIED => remainder_expanded),
    form!(FloorDiv, "form-remainder-by-quotient", "sum": "x % m = z - m * (z / m)"
        if "m > 0, x % m = z % m"; SIMPLIFIED => remainder_by_quotient),
    form!(Mod, "form-remainders-expanded", "sum": "a * (x % m) + b * (y % n) = a * x + b * y - a * m * (x / m) - b * n * (y / n)"
        if "m > 0, n > 0", if_cheaper_with_next; SIMPLIFIED => remainders_expanded),
    form!(Mod, "form-remainder-beside-half", "sum": "x % g + g * (x / (2 * g)) = x - g * ((x + g) / (2 * g)), x % g + g * ((x + g) / (2 * g)) = x - g * (x / (2 * g))"
        if "g > 0" => remainder_beside_half),
    form!(FloorDiv, "form-remainder-expanded-inside", "sum": "(y + c * (x % u)) / m = (y + c * x) / m - k * (x / u)"
        if "m > 0, u > 0, c * u = k * m"; SIMPLIFIED => remainder_expanded_inside),
    form!(FloorDiv, "form-quotient-contracted", "sum": "m * (x / m) = x - x % m" if "m > 0" => quotient_contracted),
    form!(FloorDiv, "form-terms-moved-out", "sum": "(m * x + y) / m = x + y / m" if "m > 0" => terms_moved_out),
    form!(FloorDiv, "form-terms-moved-in", "sum": "k * x + n / m = (n + k * m * x) / m"
        if "m > 0"; SIMPLIFIED => terms_moved_in),
    form!(FloorDiv, "form-residues-moved-in", "mod": "(k * x + c * (n / d)) % m = c * ((n + j * d * x) / d) % m"
        if "d > 0, m > 0, c * j = k + m"; SIMPLIFIED => residues_above_moved_in),
    form!(FloorDiv, "form-negative-residues-moved-in", "mod": "(k * x + c * (n / d)) % m = c * ((n + j * d * x) / d) % m"
        if "d > 0, m > 0, c * j = k - m"; SIMPLIFIED => residues_below_moved_in),
    form!(Min, "form-extremum-term-moved-out", "sum": "min(a + t, b) + c = min(a, b - t) + t + c"
        if "none (max alike)" => extremum_term_moved_out),
];

/// The laws.
pub(super) fn laws() -> impl Iterator<Item = Law> {
    FORMS.iter().map(|(_, row)| row.law)
}

/// Whether it is a constant, a sum of variables, or a quotient or remainder of one by a constant: most operands are.
pub(super) fn has_single_form(s: &Simplifier<'_>, e: Expr) -> bool {
    match s.arena.node(e) {
        Node::FloorDiv(a, b) | Node::Mod(a, b) => s.arena.is_plain(a, 0) && s.arena.tag(b) == Tag::Constant,
        _ => s.arena.is_plain(e, 0),
    }
}

/// The cheapest form that one law gives of `e`.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Option<Expr> {
    let divided = s.arena.as_floordiv(e).or_else(|| s.arena.as_mod(e));
    let sum = divided.map_or(e, |(dividend, _)| dividend);
    let Node::Sum(_, terms) = s.arena.node(sum) else { return None };
    if terms.len() > MAX_TERMS || !(s.is_searching() || is_related(s, terms) || is_shifted(s, sum)) {
        return None;
    }
    let mut search = Search { e, divisor: divided.map(|(_, m)| m), best: None };
    let mark = s.mark();
    search.forms_of(s, sum, None);
    let (before, (law, after)) = search.best?;
    if let Some((law, form)) = before {
        let used = s.used_since(mark);
        s.record_rule(law, e, form, mark);
        s.record(|r, _, _| r.use_steps(used));
    }
    s.record_rule(law, before.map_or(e, |(_, form)| form), after, mark);
    s.record(|r, _, _| r.chain(&[e, before.map_or(e, |(_, form)| form), after]));
    Some(after)
}

/// A law, and the form that it gives.
type LawApplied = (&'static Law, Expr);

/// The search for the cheapest form.
struct Search {
    e: Expr,
    /// The divisor, if it is a quotient or remainder.
    divisor: Option<i64>,
    /// The cheapest form, and the one before it that it was made of.
    best: Option<(Option<LawApplied>, LawApplied)>,
}

impl Search {
    /// Applies the laws to a sum: that of the expression, or one that `before` made of it.
    fn forms_of(&mut self, s: &mut Simplifier<'_>, sum: Expr, before: Option<LawApplied>) {
        let Node::Sum(_, terms) = s.arena.node(sum) else { return };
        let terms = Terms::from_slice(terms);
        let modulus = self.divisor.filter(|_| s.arena.tag(self.e) == Tag::Mod);
        let of = SumForm { sum, terms: &terms, modulus };
        let has = if before.is_none() { SIMPLIFIED } else { ALWAYS };
        let tags: SmallVec<[Tag; 8]> = (0..terms.len()).map(|k| of.tag(s, k)).collect();
        for (tag, row) in FORMS.iter().filter(|(_, row)| row.may_apply(has)) {
            if !s.spend(terms.len() as u64) {
                return;
            }
            for k in (0..terms.len()).filter(|k| tags[*k] == *tag) {
                // A form that overflows is none.
                let Ok(Some(form)) = (row.function)(s, of, k) else { continue };
                let Ok(whole) = self.with_dividend(s, form) else { continue };
                self.consider(s, before, (&row.law, whole));
                if row.law.applied == Applied::IfCheaperWithNext && !s.is_searching() {
                    self.forms_of(s, form, Some((&row.law, whole)));
                }
            }
        }
    }

    /// The expression with another sum.
    fn with_dividend(&self, s: &mut Simplifier<'_>, sum: Expr) -> Result<Expr> {
        match (self.divisor, s.arena.tag(self.e)) {
            (Some(m), Tag::Mod) => s.arena.modulo_constant(sum, m),
            (Some(m), _) => s.arena.floordiv_constant(sum, m),
            (None, _) => Ok(sum),
        }
    }

    fn consider(&mut self, s: &mut Simplifier<'_>, before: Option<LawApplied>, applied: LawApplied) {
        if let Some(chosen) = s.is_chosen(applied.0, self.e, applied.1) {
            self.best = self.best.or(chosen.then_some((before, applied)));
            return;
        }
        let cheapest = self.best.map_or(self.e, |(_, (_, form))| form);
        let (cost, least) = (s.cost(applied.1), s.cost(cheapest));
        let saves_more = |e, other| saved_coefficients(s.arena, e) > saved_coefficients(s.arena, other);
        let is_cheaper = cost < least || (cost == least && saves_more(applied.1, cheapest));
        if is_cheaper && !s.is_wider(applied.1, self.e) {
            self.best = Some((before, applied));
        }
    }
}

impl SumForm<'_> {
    /// The operator of the term; laws of minima are those of maxima as well.
    fn tag(&self, s: &Simplifier<'_>, k: usize) -> Tag {
        match s.arena.tag(self.terms[k].expr) {
            Tag::Max => Tag::Min,
            tag => tag,
        }
    }

    /// The sum with these terms instead.
    pub(super) fn with_terms(&self, s: &mut Simplifier<'_>, terms: &[Term]) -> Rewritten {
        let constant = s.arena.constant_part(self.sum);
        s.arena.sum(constant, terms).map(Some)
    }
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

/// Whether a constant stands beside a minimum or maximum: it may cancel with one that a term leaves inside.
fn is_shifted(s: &Simplifier<'_>, sum: Expr) -> bool {
    let Node::Sum(constant, terms) = s.arena.node(sum) else { return false };
    constant != 0 && terms.iter().any(|t| matches!(s.arena.tag(t.expr), Tag::Min | Tag::Max))
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

/// `c * (x % m) = c * x - c * m * (x / m)`, if terms may cancel: those of the dividend, or the quotient with another one.
fn remainder_expanded(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    let Some((x, _)) = s.arena.as_mod(of.terms[k].expr) else { return Ok(None) };
    let quotient = |t: &Term| s.arena.tag(t.expr) == Tag::FloorDiv && s.arena.may_share_variables(t.expr, x);
    if !s.is_searching() && !have_common_term(s, of.sum, x) && !of.terms.iter().any(quotient) {
        return Ok(None);
    }
    let mut new = Terms::from_slice(of.terms);
    let t = new.remove(k);
    let rest = new.len();
    if !expand(s, t, &mut new)? || !(s.is_searching() || may_cancel(s, &new[..rest], &new[rest..])) {
        return Ok(None);
    }
    of.with_terms(s, &new)
}

/// `c * (x % m) = c * z - c * m * (z / m)` for a term `z / m`.
fn remainder_by_quotient(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    let quotient = of.terms[k].expr;
    let Some((z, m)) = s.arena.as_floordiv(quotient) else { return Ok(None) };
    if !of.terms.iter().any(|t| s.arena.as_mod(t.expr).is_some_and(|(_, n)| n == m)) {
        return Ok(None);
    }
    let rest = s.modulo_constant(z, m)?;
    let Some(at) = of.terms.iter().position(|t| t.expr == rest) else { return Ok(None) };
    let coeff = of.terms[at].coeff;
    let Some(step) = coeff.checked_mul(m).and_then(i64::checked_neg) else { return Ok(None) };
    let mut new = Terms::from_slice(of.terms);
    new[at] = Term::new(coeff, z);
    new.push(Term::new(step, quotient));
    of.with_terms(s, &new)
}

/// Expands all remainders that share a variable with another term; this is asked of the first one.
fn remainders_expanded(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    if (0..k).any(|j| of.tag(s, j) == Tag::Mod) {
        return Ok(None);
    }
    let is_expanded = |j: &usize| of.tag(s, *j) == Tag::Mod && shares_variables(s, of.terms, *j);
    let expanded: SmallVec<[usize; 8]> = (k..of.terms.len()).filter(is_expanded).collect();
    if expanded.len() < 2 {
        return Ok(None);
    }
    let mut new = Terms::new();
    let mut count = 0;
    for (j, t) in of.terms.iter().enumerate() {
        if expanded.contains(&j) && expand(s, *t, &mut new)? {
            count += 1;
        } else {
            new.push(*t);
        }
    }
    match count {
        0 | 1 => Ok(None),
        _ => of.with_terms(s, &new),
    }
}

/// `(y + c * (x % u)) / m = (y + c * x) / m - c * u / m * (x / u)` for the first remainder whose quotient `x / u` is a term
/// of the sum.
fn remainder_expanded_inside(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    let t = of.terms[k];
    let Some((n, m)) = s.arena.as_floordiv(t.expr) else { return Ok(None) };
    let (inner, mut dividend) = s.arena.to_sum(n);
    for i in 0..dividend.len() {
        let Some((x, u)) = s.arena.as_mod(dividend[i].expr) else { continue };
        let Some(whole) = dividend[i].coeff.checked_mul(u).filter(|w| w % m == 0) else { continue };
        let q = s.floordiv_constant(x, u)?;
        let Some(step) = (whole / m).checked_mul(t.coeff).and_then(i64::checked_neg) else { continue };
        if s.arena.tag(q) == Tag::FloorDiv && s.holds(of.sum, q) {
            dividend[i].expr = x;
            let dividend = s.arena.sum(inner, &dividend)?;
            let mut new = Terms::from_slice(of.terms);
            new[k].expr = s.arena.floordiv_constant(dividend, m)?;
            new.push(Term::new(step, q));
            return of.with_terms(s, &new);
        }
    }
    Ok(None)
}

/// `c * m * (x / m) = c * x - c * (x % m)`, where `x` may be a quotient that cancels: `x / (b * m)` is `(x / b) / m`.
fn quotient_contracted(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    let t = of.terms[k];
    let Some((x, divisor)) = s.arena.as_floordiv(t.expr) else { return Ok(None) };
    let cancelling = |o: &Term| {
        if (o.coeff < 0) == (t.coeff < 0) {
            return None;
        }
        let (_, b) = s.arena.as_floordiv(o.expr).filter(|(_, b)| *b < divisor && divisor % b == 0)?;
        (o.coeff.checked_mul(divisor / b)?.checked_neg()? == t.coeff).then_some(b)
    };
    let b = of.terms.iter().find_map(cancelling).unwrap_or(1);
    let m = divisor / b;
    if t.coeff % m != 0 {
        return Ok(None);
    }
    let remainder = |t: &Term| s.arena.tag(t.expr) == Tag::Mod;
    if b == 1 && !s.is_searching() && !have_common_term(s, of.sum, x) && !of.terms.iter().any(remainder) {
        return Ok(None);
    }
    let x = s.floordiv_constant(x, b)?;
    let rest = s.modulo_constant(x, m)?;
    let mut new = Terms::from_slice(of.terms);
    new[k] = Term::new(t.coeff / m, x);
    new.push(Term::new(-(t.coeff / m), rest));
    of.with_terms(s, &new)
}

/// `c * (x % g) + c * g * (x / (2 * g)) = c * x - c * g * ((x + g) / (2 * g))`, and with the two quotients exchanged.
fn remainder_beside_half(s: &mut Simplifier<'_>, of: SumForm<'_>, k: usize) -> Rewritten {
    let c = of.terms[k].coeff;
    let Some((x, g)) = s.arena.as_mod(of.terms[k].expr) else { return Ok(None) };
    let (Some(m), Some(step)) = (g.checked_mul(2), c.checked_mul(g)) else { return Ok(None) };
    let Some(minus) = step.checked_neg() else { return Ok(None) };
    // Shifts and masks stay: they are cheaper than they count.
    let is_half = |n: i64| n % m == 0 && !n.unsigned_abs().is_power_of_two();
    let halves = |t: &Term| t.coeff == step && s.arena.as_floordiv(t.expr).is_some_and(|(_, n)| is_half(n));
    if !of.terms.iter().any(halves) {
        return Ok(None);
    }
    let above = s.arena.offset(x, g)?;
    let (low, high) = (s.floordiv_constant(x, m)?, s.floordiv_constant(above, m)?);
    for (half, other) in [(low, high), (high, low)] {
        if let Some(i) = of.terms.iter().position(|t| t.expr == half && t.coeff == step) {
            let mut new = Terms::from_slice(of.terms);
            new[k].expr = x;
            new[i] = Term::new(minus, other);
            return of.with_terms(s, &new);
        }
    }
    Ok(None)
}
