//! Laws of sums on a domain.

use super::recombine_products as products;
use super::{combine, complete, first_of, law, period, recombine, Row, ALWAYS};
use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::interval::Interval;
use crate::simplify::law::{Law, Rewritten};
use crate::simplify::simplifier::Simplifier;

/// Sums with more terms than this are left as they are.
const MAX_TERMS: usize = 64;

/// The maximal number of equalities that are tried for one sum.
const MAX_TRIED_EQUALITIES: usize = 32;

/// A law of a sum; its arguments are the sum and its terms.
type SumRule = fn(&mut Simplifier<'_>, Expr, &[Term]) -> Rewritten;
/// A law of one term of a sum; its arguments are the sum, its terms, and the index of the term.
type TermRule = fn(&mut Simplifier<'_>, Expr, &[Term], usize) -> Rewritten;

/// Rules of a whole sum, or of each of its terms with a given operator.
enum Rules {
    Whole(&'static [Row<SumRule>]),
    EachTerm(Tag, &'static [Row<TermRule>]),
}

/// The traits of a sum: two of its terms may have a variable in common; then the kinds of its terms.
const DEPENDENT: u16 = 1;
const QUOTIENT: u16 = 2;
const QUOTIENTS: u16 = 4;
const REMAINDER: u16 = 8;
const EXTREMUM: u16 = 16;
const EXTREMA: u16 = 32;
const PRODUCT: u16 = 64;
const REMAINDERS: u16 = 128;
/// There are quotients or remainders by expressions.
const BY_EXPRESSION: u16 = 256;

/// The rules of sums, in their order.
static RULES: &[Rules] = &[
    Rules::Whole(&[row!("equality-substituted", "sum": "e = e + k * (f - c)"
            if "f = c on the domain", on_domain => equality_substituted)]),
    Rules::EachTerm(
        Tag::Mod,
        &[
            row!("remainder-recombines", "sum": "x % m = z - m * (z / m), y % m = m - 1 - z + m * (z / m)"
                if "m > 0, x % m = z % m, y % m = (-1 - z) % m";
                REMAINDER | DEPENDENT => recombine::remainder_recombines),
            row!("halves-recombine", "sum": "x / 2 + x % 2 = (x + 1) / 2, (x + 1) / 2 - x % 2 = x / 2"
                if "none"; REMAINDER | QUOTIENT => recombine::halves_recombine),
            row!(products::DIGITS_RECOMBINE; REMAINDER | DEPENDENT => recombine::digits_recombine),
            row!("remainder-beside-quotient", "sum": "x % m = x - m * (x / m)"
                if "m > 0"; REMAINDER | QUOTIENT => recombine::remainder_beside_quotient),
        ],
    ),
    Rules::EachTerm(
        Tag::FloorDiv,
        &[row!(products::QUOTIENT_RECOMBINES; QUOTIENT => recombine::quotient_recombines)],
    ),
    Rules::EachTerm(
        Tag::Product,
        &[
            row!(products::QUOTIENT_RECOMBINES; BY_EXPRESSION => products::quotient_recombines),
            row!(products::DIGITS_RECOMBINE; BY_EXPRESSION => products::digits_recombine),
        ],
    ),
    Rules::EachTerm(
        Tag::Mod,
        &[row!(products::REMAINDER_MIRRORED; BY_EXPRESSION => products::remainder_mirrored)],
    ),
    Rules::EachTerm(
        Tag::FloorDiv,
        &[row!(products::QUOTIENT_MIRRORED; BY_EXPRESSION | QUOTIENT => products::quotient_mirrored)],
    ),
    Rules::Whole(&[
        row!("sum-of-extremes", "sum": "min(a, b) + max(a, b) = a + b" if "none"; EXTREMA => sum_of_extremes),
        row!("extrema-differ", "sum": "min(a + m, b + n) - min(a, b) = min(max(b - a + n, n), m)"
            if "n <= m (max alike)"; EXTREMA => extrema_differ),
        row!("extremes-apart", "sum": "max(a, b) - min(a, b) = max(a - b, b - a)"
            if "none"; EXTREMA => extremes_apart),
        row!("extremum-term-moved-in", "sum": "min(a, b) + t = min(a + t, b + t)"
            if "none (max alike)"; EXTREMUM | DEPENDENT => term_moved_in),
        row!("quotients-complete", "sum": "x / m + (x + g) / m + ... + (x + m - g) / m = x / g"
            if "g > 0, g divides m, a term for each multiple of g below m; one of them may be subtracted instead";
            QUOTIENTS => complete::quotients_complete),
        row!("quotient-of-half", "sum": "x / g - x / (2 * g) = (x + g) / (2 * g), x / g - (x + g) / (2 * g) = x / (2 * g)"
            if "g > 0"; QUOTIENTS => complete::quotient_of_half),
        row!("remainders-complete", "sum": "x % m + (x + g) % m + ... + (x + m - g) % m = n * (x % g) + g * n * (n - 1) / 2"
            if "m = n * g, n > 1, g > 0, a term for each multiple of g below m; one of them may be subtracted instead";
            REMAINDERS => complete::remainders_complete),
        row!("remainders-opposite", "sum": "x % m + -x % m = m * min(x % m, 1)"
            if "m > 0", if_smaller; REMAINDERS => complete::remainders_opposite),
        row!("quotients-merge", "sum": "a / m - b / m = (b % m + a - b) / m, a / m + b / m = (a + b - b % m) / m"
            if "m > 0"; QUOTIENTS => combine::quotients_merge),
        row!("remainder-of-values", "sum": "x = (x - k) % m + k"
            if "m > 0, k <= x < k + m", on_domain; DEPENDENT => period::remainder_of_values),
        row!(products::REMAINDER_MIRRORED; REMAINDER => combine::remainder_mirrored),
        row!("products-factored", "sum": "x * f + y * (f + c) = (x + y) * f + c * y"
            if "none"; PRODUCT | DEPENDENT => combine::products_factored),
    ]),
];

/// The rules of sums as laws, each once.
pub(super) fn laws() -> impl Iterator<Item = Law> {
    RULES.iter().flat_map(|rules| match rules {
        Rules::Whole(rows) => rows.iter().map(|row| row.law).collect::<Vec<_>>(),
        // Those of divisors that are expressions are listed with those of constants.
        Rules::EachTerm(_, rows) => {
            rows.iter().filter(|row| row.requires != BY_EXPRESSION).map(|row| row.law).collect()
        }
    })
}

/// Simplifies a canonical sum of simplified terms.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let Node::Sum(_, terms) = s.arena.node(e) else { return Ok(None) };
    if terms.len() > MAX_TERMS {
        return Ok(None);
    }
    let has = if s.arena.is_linear(e) { ALWAYS } else { traits(s, terms) };
    let terms = Terms::from_slice(terms);
    for rules in RULES {
        let out = match rules {
            Rules::Whole(rows) => first_of(s, rows, has, e, |s, f| f(s, e, &terms))?,
            Rules::EachTerm(tag, rows) => of_each_term(s, (e, has), &terms, *tag, rows)?,
        };
        if out.is_some() {
            return Ok(out);
        }
        // The first rules are the only ones of linear sums.
        if has == ALWAYS {
            break;
        }
    }
    Ok(None)
}

fn traits(s: &Simplifier<'_>, terms: &[Term]) -> u16 {
    let dependent = s.arena.may_depend_on_each_other(terms);
    let mut has = if dependent { DEPENDENT } else { ALWAYS };
    if s.arena.divides_by_expressions {
        has |= BY_EXPRESSION;
    }
    for t in terms {
        has |= match s.arena.tag(t.expr) {
            Tag::Mod if has & REMAINDER != 0 && dependent => REMAINDERS,
            Tag::Mod => REMAINDER,
            Tag::FloorDiv if has & QUOTIENT == 0 => QUOTIENT,
            // Rules of other kinds join terms, or cancel something of one with another.
            _ if !dependent => ALWAYS,
            Tag::FloorDiv => QUOTIENTS,
            Tag::Min | Tag::Max if has & EXTREMUM != 0 => EXTREMA,
            Tag::Min | Tag::Max => EXTREMUM,
            Tag::Product => PRODUCT,
            _ => ALWAYS,
        };
    }
    has
}

/// The result of the first row that applies to a term of `e` with this operator.
fn of_each_term(
    s: &mut Simplifier<'_>,
    (e, has): (Expr, u16),
    terms: &[Term],
    tag: Tag,
    rows: &'static [Row<TermRule>],
) -> Rewritten {
    if !rows.iter().any(|row| row.may_apply(has)) {
        return Ok(None);
    }
    for k in 0..terms.len() {
        if s.arena.tag(terms[k].expr) == tag && s.spend(1) {
            let out = first_of(s, rows, has, e, |s, f| f(s, e, terms, k))?;
            if out.is_some() {
                return Ok(out);
            }
        }
    }
    Ok(None)
}

/// Whether the term shares a variable with another one; otherwise nothing cancels.
pub(super) fn shares_variables(s: &Simplifier<'_>, terms: &[Term], k: usize) -> bool {
    let shares = |o: &Term| s.arena.may_share_variables(o.expr, terms[k].expr);
    terms.iter().enumerate().any(|(i, o)| i != k && shares(o))
}

/// `e` without the terms at `gone` and with the terms `new`; `None` if that is not cheaper.
pub(super) fn cheaper(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    gone: &[usize],
    new: &[Term],
) -> Rewritten {
    let constant = s.arena.constant_part(e);
    let mut all: Terms = Terms::new();
    all.extend(terms.iter().enumerate().filter(|(k, _)| !gone.contains(k)).map(|(_, t)| *t));
    all.extend_from_slice(new);
    let raw = s.arena.sum(constant, &all)?;
    Ok((s.cost(raw) < s.cost(e)).then_some(raw))
}

/// As [`cheaper`], simplified.
pub(super) fn with_terms(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    gone: &[usize],
    new: &[Term],
) -> Rewritten {
    Ok(cheaper(s, e, terms, gone, new)?.map(|raw| s.simplify(raw)))
}

/// As [`with_terms`]; `None` also if a quotient or remainder of `new` remains together with its dividend, because the range
/// of their sum is less precise.
pub(super) fn with_term(
    s: &mut Simplifier<'_>,
    e: Expr,
    terms: &[Term],
    gone: &[usize],
    new: &[Term],
) -> Rewritten {
    let Some(raw) = cheaper(s, e, terms, gone, new)? else { return Ok(None) };
    let hides = |t: &Term| match s.arena.tag(t.expr) {
        Tag::FloorDiv => s.holds(raw, t.expr),
        Tag::Mod => {
            s.holds(raw, t.expr) && s.arena.as_mod(t.expr).is_some_and(|(x, _)| have_common_term(s, raw, x))
        }
        _ => false,
    };
    if new.iter().any(hides) {
        return Ok(None);
    }
    Ok(Some(s.simplify(raw)))
}

/// Whether `x` and `e` have a term in common.
pub(super) fn have_common_term(s: &Simplifier<'_>, e: Expr, x: Expr) -> bool {
    match s.arena.node(x) {
        Node::Sum(_, parts) => parts.iter().any(|p| s.holds(e, p.expr)),
        _ => s.holds(e, x),
    }
}

/// Whether one of the new terms is among those that a sum has, or is the next digit of one, or has one as the next digit: more
/// terms are cheaper only then.
pub(super) fn may_cancel(s: &Simplifier<'_>, terms: &[Term], new: &[Term]) -> bool {
    let carries = |low: Term, high: Term| {
        s.arena.as_mod(low.expr).is_some_and(|(_, m)| low.coeff.checked_mul(m) == Some(high.coeff))
    };
    let meets = |n: Term| terms.iter().any(|t| t.expr == n.expr || carries(*t, n) || carries(n, *t));
    new.iter().any(|n| match s.arena.node(n.expr) {
        Node::Sum(_, parts) => parts.iter().any(|p| meets(Term::new(n.coeff.wrapping_mul(p.coeff), p.expr))),
        _ => meets(*n),
    })
}

/// `min(a, b) + t = min(a + t, b + t)`, if that is cheaper.
fn term_moved_in(s: &mut Simplifier<'_>, e: Expr, _: &[Term]) -> Rewritten {
    let Some((tag, args)) = s.distribute_over_extremum(e)? else { return Ok(None) };
    let raw = s.arena.extremum(tag, &args)?;
    Ok(s.cheaper_form(raw, e))
}

/// `e = e - k * (f - c)` for a fact `f = c`, if that is cheaper.
fn equality_substituted(s: &mut Simplifier<'_>, e: Expr, _: &[Term]) -> Rewritten {
    if !s.ranges.facts.has_equalities {
        return Ok(None);
    }
    // Equal variables are not used here: the second one of a pair was already replaced.
    let useful = |f: &&(Expr, Interval)| {
        f.1.is_point() && s.arena.may_share_variables(f.0, e) && s.arena.equal_variables(f.0, f.1).is_none()
    };
    let facts = s.ranges.facts.linear.iter().filter(useful).take(MAX_TRIED_EQUALITIES);
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
                s.reason_stated(form, Interval::point(value));
                let out = s.simplify(raw);
                return Ok(Some(out));
            }
        }
    }
    Ok(None)
}

/// `c * min(a, b) + c * max(a, b) = c * a + c * b`, also where one of them is written with more arguments: those of `a`.
fn sum_of_extremes(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    for t in terms {
        let (Node::Min(&[a, b]) | Node::Max(&[a, b])) = s.arena.node(t.expr) else { continue };
        let turned = s.arena.tag(t.expr).opposite();
        let Some(minus) = t.coeff.checked_neg() else { continue };
        let is_extremum = |o: &Term| matches!(s.arena.tag(o.expr), Tag::Min | Tag::Max);
        let may_cancel = |o: &Term| [t.coeff, minus].contains(&o.coeff) && o.expr != t.expr && is_extremum(o);
        if !terms.iter().any(may_cancel) {
            continue;
        }
        let other = s.arena.extremum(turned, &[a, b])?;
        let cancels = |inner: Term| {
            terms.iter().any(|o| o.expr == inner.expr && Some(o.coeff) == t.coeff.checked_mul(inner.coeff))
        };
        if !s.arena.extremum_term(turned, other).is_some_and(cancels) {
            continue;
        }
        let mut raw = e;
        for (part, coeff) in [(t.expr, minus), (other, minus), (a, t.coeff), (b, t.coeff)] {
            raw = s.arena.combine(raw, 1, part, coeff)?;
        }
        if s.cost(raw) < s.cost(e) {
            return Ok(Some(s.simplify(raw)));
        }
    }
    Ok(None)
}

/// `c * max(a, b) - c * min(a, b) = c * max(a - b, b - a)`.
fn extremes_apart(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    for (k, low) in terms.iter().enumerate() {
        let Node::Min(&[a, b]) = s.arena.node(low.expr) else { continue };
        let Some(coeff) = low.coeff.checked_neg() else { continue };
        let twin = |t: &Term| {
            t.coeff == coeff && matches!(s.arena.node(t.expr), Node::Max(&[c, d]) if (a, b) == (c, d))
        };
        let Some(i) = terms.iter().position(twin) else { continue };
        let apart = s.arena.combine(a, 1, b, -1)?;
        let back = s.arena.neg(apart)?;
        let distance = s.arena.max(apart, back)?;
        if let Some(out) = with_terms(s, e, terms, &[k, i], &[Term::new(coeff, distance)])? {
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `c * min(a + m, b + n) - c * min(a, b) = c * min(max(b - a + n, n), m)`, where `a` and `b` occur once.
fn extrema_differ(s: &mut Simplifier<'_>, e: Expr, terms: &[Term]) -> Rewritten {
    for (k, t) in terms.iter().enumerate() {
        for (i, _) in terms.iter().enumerate().filter(|(_, o)| Some(o.coeff) == t.coeff.checked_neg()) {
            if !s.spend(1) {
                return Ok(None);
            }
            let Some(clamp) = extremum_difference(s, t.expr, terms[i].expr)? else { continue };
            if let Some(out) = with_terms(s, e, terms, &[k, i], &[Term::new(t.coeff, clamp)])? {
                return Ok(Some(out));
            }
        }
    }
    Ok(None)
}

/// `x - y` for two minima, or two maxima, whose arguments differ in pairs by constants.
fn extremum_difference(s: &mut Simplifier<'_>, x: Expr, y: Expr) -> Rewritten {
    let tag = s.arena.tag(x);
    let ((Node::Min(&[p, q]), Node::Min(&[a, b])) | (Node::Max(&[p, q]), Node::Max(&[a, b]))) =
        (s.arena.node(x), s.arena.node(y))
    else {
        return Ok(None);
    };
    for (a, b) in [(a, b), (b, a)] {
        let (Some(m), Some(n)) = (constant_difference(s, p, a)?, constant_difference(s, q, b)?) else {
            continue;
        };
        // For minima `b` is the argument with the smaller constant, for maxima that with the greater one.
        let ((a, m), (b, n)) =
            if (n <= m) == (tag == Tag::Min) { ((a, m), (b, n)) } else { ((b, n), (a, m)) };
        let apart = s.arena.combine(b, 1, a, -1)?;
        let (near, far, follows) = (s.arena.constant(n), s.arena.constant(m), s.arena.offset(apart, n)?);
        let inner = s.arena.extremum(tag.opposite(), &[follows, near])?;
        return s.arena.extremum(tag, &[inner, far]).map(Some);
    }
    Ok(None)
}

/// `x - y`, if it is a constant.
fn constant_difference(s: &mut Simplifier<'_>, x: Expr, y: Expr) -> Result<Option<i64>> {
    let apart = s.arena.combine(x, 1, y, -1)?;
    Ok(s.arena.as_constant(apart))
}
