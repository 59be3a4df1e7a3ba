//! Laws of `min` and `max` on a domain.

use super::factors::Factors;
use super::{first_of, law, Row, ALWAYS};
use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term};
use crate::interval::Interval;
use crate::simplify::law::{Law, Rewritten};
use crate::simplify::simplifier::Simplifier;

/// Extrema of more arguments than this are not compared in pairs.
const MAX_COMPARED_ARGUMENTS: usize = 24;
/// The maximal number of terms that are tried outside of a minimum or maximum.
const MAX_MOVED_TERMS: usize = 8;

type ExtremumRule = fn(&mut Simplifier<'_>, Tag, Expr, &[Expr]) -> Rewritten;

const REDUNDANT: Law =
    law("argument-redundant", "min, max", "min(a, b) = a", "a <= b on the domain (max alike)")
        .always()
        .on_domain();

/// The rules of minima and maxima.
pub(super) const EXTREMA: &[Row<ExtremumRule>] = &[
    row!(REDUNDANT => argument_idle),
    row!("extremum-of-quotients", "min, max": "min(a / m, b / m) = e / m"
        if "m > 0, e = min(a, b) (max alike)" => of_quotients),
    row!("extremum-term-moved-out", "min, max": "min(a + t, b) = min(a, b - t) + t"
        if "none (max alike)" => term_moved_out),
    row!("extremum-of-last-step", "min, max": "max(a * x, c) = c + (a * n - c) * (x / n), min(-a * x, -c) = -c - (a * n - c) * (x / n)"
        if "a > 0, n > 0, 0 <= x <= n, a * n - a <= c <= a * n on the domain", on_domain => of_last_step),
    row!("extremum-factor-moved-out", "min, max": "min(f * x, f * y) = f * e"
        if "0 <= f, e = min(x, y) (max alike)", on_domain => factor_moved_out),
];

/// Simplifies a canonical minimum or maximum of simplified arguments.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let tag = s.arena.tag(e);
    let (Node::Min(args) | Node::Max(args)) = s.arena.node(e) else { return Ok(None) };
    let args = args.to_vec();
    first_of(s, EXTREMA, ALWAYS, e, |s, f| f(s, tag, e, &args))
}

fn argument_idle(s: &mut Simplifier<'_>, tag: Tag, _: Expr, args: &[Expr]) -> Rewritten {
    let kept = undominated(s, tag, args)?;
    if kept.len() == args.len() {
        return Ok(None);
    }
    let out = s.extremum(tag, &kept)?;
    bind_redundant(s, args, &kept);
    Ok(Some(out))
}

/// Records the letters of an extremum of two arguments, if one is kept.
fn bind_redundant(s: &mut Simplifier<'_>, args: &[Expr], kept: &[Expr]) {
    if let ([x, y], [a]) = (args, kept) {
        s.bind(|_| vec![("a", *a), ("b", if a == x { *y } else { *x })]);
    }
}

/// Records, and uses, that the extremum `before` of `args` is that of `kept`, by what was used since `mark`.
pub(super) fn record_redundant(
    s: &mut Simplifier<'_>,
    [before, after]: [Expr; 2],
    (args, kept): (&[Expr], &[Expr]),
    mark: usize,
) {
    if before != after {
        bind_redundant(s, args, kept);
        s.record_rule(&REDUNDANT, before, after, mark);
        s.record(|r, _, _| r.use_equality(before, after));
    }
}

/// `(x, m)` with `e = x / m`, if `e` is `k + n / m` or `k - n / m`.
fn as_quotient(s: &mut Simplifier<'_>, e: Expr) -> Result<Option<(Expr, i64)>> {
    let (constant, coeff, atom) = match s.arena.node(e) {
        Node::Sum(constant, [t]) if t.coeff == 1 || t.coeff == -1 => (constant, t.coeff, t.expr),
        _ => (0, 1, e),
    };
    let Some((n, m)) = s.arena.as_floordiv(atom) else { return Ok(None) };
    let Some(shift) = constant.checked_mul(m) else { return Ok(None) };
    // -(n / m) = (m - 1 - n) / m
    let Some(shift) = shift.checked_add(if coeff == 1 { 0 } else { m - 1 }) else { return Ok(None) };
    Ok(Some((s.arena.affine(n, coeff, shift)?, m)))
}

/// `min(a / m, b / m) = min(a, b) / m`, if that is cheaper.
fn of_quotients(s: &mut Simplifier<'_>, tag: Tag, e: Expr, args: &[Expr]) -> Rewritten {
    if let &[x, y] = args {
        if let (Node::FloorDiv(a, m), Node::FloorDiv(b, n)) = (s.arena.node(x), s.arena.node(y)) {
            if m == n && s.arena.as_constant(m).is_none() && s.bounds(m).lower > 0 {
                s.reason(m);
                let inner = s.extremum(tag, &[a, b])?;
                let raw = s.arena.floordiv(inner, m)?;
                let out = s.cheaper_form(raw, e);
                s.bind(|_| vec![("a", a), ("b", b), ("m", m), ("e", inner)]);
                return Ok(out);
            }
        }
    }
    let mut quotients: Vec<(usize, Expr, i64)> = Vec::new();
    for (k, a) in args.iter().enumerate() {
        if let Some((x, m)) = as_quotient(s, *a)? {
            quotients.push((k, x, m));
        }
    }
    let Some(&(_, _, m)) = quotients.iter().find(|f| quotients.iter().filter(|g| g.2 == f.2).count() > 1)
    else {
        return Ok(None);
    };
    quotients.retain(|f| f.2 == m);
    let inner: Vec<Expr> = quotients.iter().map(|f| f.1).collect();
    let inner = s.extremum(tag, &inner)?;
    let mut new: Vec<Expr> =
        (0..args.len()).filter(|k| quotients.iter().all(|f| f.0 != *k)).map(|k| args[k]).collect();
    new.push(s.arena.floordiv_constant(inner, m)?);
    let raw = s.arena.extremum(tag, &new)?;
    Ok(s.cheaper_form(raw, e))
}

/// `min(f * x, f * y) = f * min(x, y)` for a factor that is not negative; the negative of one that is not positive is none.
fn factor_moved_out(s: &mut Simplifier<'_>, tag: Tag, e: Expr, args: &[Expr]) -> Rewritten {
    let &[a, b] = args else { return Ok(None) };
    let is_product = |e: &&Expr| match s.arena.node(**e) {
        Node::Sum(0, [t]) => s.arena.tag(t.expr) == Tag::Product,
        _ => s.arena.tag(**e) == Tag::Product,
    };
    let Some(first) = args.iter().find(is_product) else { return Ok(None) };
    let candidates = Factors::of(s.arena, *first).own;
    for f in candidates {
        let (Some(x), Some(y)) = (without_factor(s, a, f)?, without_factor(s, b, f)?) else { continue };
        let bounds = s.bounds(f);
        if bounds.lower < 0 && bounds.upper > 0 {
            continue;
        }
        let is_turned = bounds.lower < 0;
        let inner = s.arena.extremum(if is_turned { tag.opposite() } else { tag }, &[x, y])?;
        let raw = s.arena.mul(f, inner)?;
        s.reason(f);
        if let Some(out) = s.cheaper_form(raw, e) {
            let sign = if is_turned { -1 } else { 1 };
            let letters = [("f", f), ("x", x), ("y", y), ("e", inner)];
            s.bind(|a| {
                letters.map(|(letter, value)| (letter, a.affine(value, sign, 0).unwrap_or(value))).to_vec()
            });
            return Ok(Some(out));
        }
    }
    Ok(None)
}

/// `x` with `e = f * x`, if the factor is seen, or `e` is 0.
fn without_factor(s: &mut Simplifier<'_>, e: Expr, f: Expr) -> Rewritten {
    if s.arena.as_constant(e) == Some(0) {
        return Ok(Some(e));
    }
    let by = Factors { number: 1, own: vec![f] };
    Factors::of(s.arena, e).without(&by).map(|left| left.product(s.arena)).transpose()
}

/// `min(a + t, b + k * t, c) = min(a, b + (k - 1) * t, c - t) + t`, if that is cheaper.
fn term_moved_out(s: &mut Simplifier<'_>, tag: Tag, e: Expr, args: &[Expr]) -> Rewritten {
    with_term_outside(s, tag, args, |s, raw| Ok(s.cheaper_form(raw, e)))
}

/// Calls `accept` with the extremum after each term that two of its arguments have was moved out, until it returns a result.
pub(super) fn with_term_outside(
    s: &mut Simplifier<'_>,
    tag: Tag,
    args: &[Expr],
    mut accept: impl FnMut(&mut Simplifier<'_>, Expr) -> Rewritten,
) -> Rewritten {
    let terms = |k: usize| match s.arena.node(args[k]) {
        Node::Sum(_, terms) => terms,
        _ => &[],
    };
    let holds = |x: Expr, k: usize| x == args[k] || terms(k).iter().any(|t| t.expr == x);
    let shared = |k: usize, t: &Term| (0..args.len()).any(|j| j != k && holds(t.expr, j));
    let candidates: Vec<Term> =
        (0..args.len()).flat_map(|k| terms(k).iter().filter(move |t| shared(k, t))).copied().collect();
    for t in candidates.iter().take(MAX_MOVED_TERMS) {
        for coeff in [t.coeff, t.coeff.signum()] {
            let Some(minus) = coeff.checked_neg().filter(|_| s.spend(1)) else { break };
            let rest =
                args.iter().map(|a| s.arena.combine(*a, 1, t.expr, minus)).collect::<Result<Vec<_>>>()?;
            let rest = s.arena.extremum(tag, &rest)?;
            let raw = s.arena.combine(rest, 1, t.expr, coeff)?;
            if let Some(out) = accept(s, raw)? {
                return Ok(Some(out));
            }
        }
    }
    Ok(None)
}

/// The extremum of a constant and an expression that exceeds it only at the last value of its range, such as the size of
/// the last, partial tile, if that is cheaper.
fn of_last_step(s: &mut Simplifier<'_>, tag: Tag, e: Expr, args: &[Expr]) -> Rewritten {
    let [x, last] = *args else { return Ok(None) };
    let (Some(c), (constant, terms)) = (s.arena.as_constant(last), s.arena.to_sum(x)) else {
        return Ok(None);
    };
    let &[t] = terms.as_slice() else { return Ok(None) };
    let rises = (t.coeff > 0) == (tag == Tag::Max);
    let Some(step) = last_step(s.bounds(t.expr), rises) else { return Ok(None) };
    let value = |at: i64| t.coeff.checked_mul(at)?.checked_add(constant);
    let (Some(last), Some(before)) = (value(step.last), value(step.before)) else { return Ok(None) };
    let Some(gain) = last.checked_sub(c).filter(|_| if tag == Tag::Max { before <= c } else { before >= c })
    else {
        return Ok(None);
    };
    s.reason(t.expr);
    let shifted = s.arena.affine(t.expr, step.sign, step.shift)?;
    let is_last = s.arena.floordiv_constant(shifted, step.count)?;
    let raw = s.arena.affine(is_last, gain, c)?;
    if s.cost(raw) >= s.cost(e) {
        return Ok(None);
    }
    let out = s.simplify(raw);
    Ok(Some(out))
}

/// The end of a range of values of `x`: the last one, and the one before. `sign * x + shift` goes from 0 to `count`.
struct LastStep {
    last: i64,
    before: i64,
    sign: i64,
    shift: i64,
    count: i64,
}

/// The end of the range in ascending or descending order; `None` for a single value, and without a bound.
fn last_step(range: Interval, rises: bool) -> Option<LastStep> {
    let count = range.upper.checked_sub(range.lower).filter(|n| *n > 0 && range.is_bounded())?;
    Some(if rises {
        let shift = range.lower.checked_neg()?;
        LastStep { last: range.upper, before: range.upper - 1, sign: 1, shift, count }
    } else {
        LastStep { last: range.lower, before: range.lower + 1, sign: -1, shift: range.upper, count }
    })
}

/// The arguments that no other argument dominates; of several that dominate each other, one.
pub(super) fn undominated(s: &mut Simplifier<'_>, tag: Tag, args: &[Expr]) -> Result<Vec<Expr>> {
    let bounds: Vec<_> = args.iter().map(|a| s.bounds(*a)).collect();
    let (lower, upper) = (|i: usize| bounds[i].lower, |i: usize| bounds[i].upper);
    // The argument with the best bound dominates those that cannot reach it.
    let best = if tag == Tag::Min {
        (0..args.len()).min_by_key(|i| upper(*i))
    } else {
        (0..args.len()).max_by_key(|i| lower(*i))
    };
    let Some(best) = best else { return Ok(args.to_vec()) };
    args.iter().for_each(|a| s.reason(*a));
    let is_dominated_by_bounds = |i: usize| {
        i != best
            && if tag == Tag::Min { bounds[best].at_most(bounds[i]) } else { bounds[i].at_most(bounds[best]) }
    };
    let mut kept: Vec<Expr> =
        (0..args.len()).filter(|i| !is_dominated_by_bounds(*i)).map(|i| args[i]).collect();
    if kept.len() > MAX_COMPARED_ARGUMENTS {
        return Ok(kept);
    }
    let mut i = 0;
    while i < kept.len() {
        let mut dominated = false;
        for j in 0..kept.len() {
            if i != j && s.is_dominated(tag, kept[i], kept[j])? {
                dominated = true;
                break;
            }
        }
        if dominated {
            kept.remove(i);
        } else {
            i += 1;
        }
    }
    Ok(kept)
}

impl Simplifier<'_> {
    /// Whether `b` dominates `a`: `b <= a` in a minimum, `a <= b` in a maximum.
    fn is_dominated(&mut self, tag: Tag, a: Expr, b: Expr) -> Result<bool> {
        if tag == Tag::Min {
            self.is_at_most(b, a, 0)
        } else {
            self.is_at_most(a, b, 0)
        }
    }

    /// Whether `a <= b` is known to hold on the domain. Compares the arguments of minima and maxima too.
    fn is_at_most(&mut self, a: Expr, b: Expr, depth: u32) -> Result<bool> {
        if !self.spend(1) {
            return Ok(false);
        }
        if self.bounds(a).at_most(self.bounds(b)) {
            self.reason(a);
            self.reason(b);
            return Ok(true);
        }
        if depth < 3 {
            let (left, right) = (self.parts_of(a), self.parts_of(b));
            for (parts, side) in [(left, Side::Left), (right, Side::Right)] {
                let Some((tag, parts)) = parts else { continue };
                // For max(x, y) <= b and a <= min(x, y), both must hold; for min(x, y) <= b and a <= max(x, y), one.
                let all = (side == Side::Left) == (tag == Tag::Max);
                let mut holds = all;
                for p in parts {
                    let (x, y) = if side == Side::Left { (p, b) } else { (a, p) };
                    if self.is_at_most(x, y, depth + 1)? != all {
                        holds = !all;
                        break;
                    }
                }
                if holds {
                    return Ok(true);
                }
            }
        }
        let Ok(gap) = self.arena.sub(b, a) else { return Ok(false) };
        let gap = self.simplify(gap);
        let holds = self.bounds(gap).lower >= 0;
        if holds {
            self.reason(gap);
        }
        Ok(holds)
    }

    fn parts_of(&self, e: Expr) -> Option<(Tag, Vec<Expr>)> {
        match self.arena.node(e) {
            Node::Min(args) => Some((Tag::Min, args.to_vec())),
            Node::Max(args) => Some((Tag::Max, args.to_vec())),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}
