//! Laws of `floordiv` on a domain.

use super::min_max::{record_redundant, undominated};
use super::{by_expression, first_of, law, progress, Row, ALWAYS, NONLINEAR};
use crate::error::Result;
use crate::expr::{Expr, Node, Tag, Term, Terms};
use crate::int::{ceil_div, div_mod_positive, gcd_i64};
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;

/// A law of a quotient or remainder by a constant; its arguments are the expression, its dividend and its divisor.
pub(super) type DivisorRule = fn(&mut Simplifier<'_>, Expr, Expr, i64) -> Rewritten;

/// The rules of quotients by constants.
pub(super) const QUOTIENTS: &[Row<DivisorRule>] = &[
    row!("quotient-offset-redundant", "floordiv": "(x + c) / (g * k) = x / (g * k)"
        if "g > 0, k > 0, 0 <= x % g + c < g", on_domain => offset_redundant),
    row!("quotient-split", "floordiv": "n / m = (n - r) / m"
        if "m > 0, g divides m, g divides n - r, 0 <= r < g", if_smaller, on_domain => split),
    row!("quotient-of-nested", "floordiv": "(x / b + y) / m = (x + b * y) / (b * m), (y - x / b) / m = (b * y - x + b - 1) / (b * m)"
        if "b > 0, m > 0"; NONLINEAR => nested),
    row!("quotient-of-extremum", "floordiv": "min(a, b) / m = min(a / m, b / m)"
        if "m > 0 (max alike)"; NONLINEAR => extremum),
    row!("quotient-of-digit", "floordiv": "(x / a % b + y) / m = (x % (a * b) + a * y) / (a * m), (y - x / a % b) / m = (a * y - x % (a * b) + a - 1) / (a * m)"
        if "a > 0, b > 0, m > 0"; NONLINEAR => digit),
    row!("quotient-with-carry", "floordiv": "(g * h + l) / m = (h + l / g) / (m / g)"
        if "g > 0, m > 0, g divides m"; NONLINEAR => with_carry),
    row!("quotient-thresholds", "floordiv": "(a * x + c) / m = (x - s) / k + q"
        if "a > 0, m > 0, within the bounds of x the left side increases by 1 at x = s, s + k, s + 2 * k, .. and nowhere else, and it is q at s", on_domain
        => thresholds),
];

/// Simplifies a canonical quotient of simplified operands.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let Node::FloorDiv(n, d) = s.arena.node(e) else { return Ok(None) };
    if let Some(m) = s.arena.as_constant(d) {
        let out = first_of(s, QUOTIENTS, traits(s, n), e, |s, f| f(s, e, n, m))?;
        if out.is_some() || !s.arena.divides_by_expressions {
            return Ok(out);
        }
    }
    by_expression::apply_quotient(s, e, n, d)
}

/// The traits of a dividend. Most laws apply only if it contains a quotient, a remainder or an extremum.
pub(super) fn traits(s: &Simplifier<'_>, n: Expr) -> u16 {
    if s.arena.is_linear(n) {
        ALWAYS
    } else {
        NONLINEAR
    }
}

/// `n / m = (n - r) / m` if `r` is in `[0, g)` and `g` divides `m` and `n - r`.
fn split(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Rewritten {
    s.split(n, m, |s, parts| {
        let high = s.simplify(parts.high);
        let Some(q) = s.other_quotient(e, high, m)? else { return Ok(None) };
        let dropped = parts.disjoint && s.arena.as_constant(parts.low).is_none();
        let (new, old) = (s.cost(q), s.cost(e));
        let smaller = |s: &mut Simplifier<'_>| dropped && progress::is_smaller(s, q, e);
        if q == e || new > old || (new == old && !smaller(s)) {
            return Ok(None);
        }
        s.bind_split(&parts, n, m);
        Ok(Some(q))
    })
}

/// `(x / b + y) / m = (x + b * y) / (b * m)`.
fn nested(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Rewritten {
    let Node::Sum(constant, terms) = s.arena.node(n) else { return Ok(None) };
    let is_quotient = |t: &Term| matches!(t.coeff, 1 | -1) && s.arena.tag(t.expr) == Tag::FloorDiv;
    let Some(at) = terms.iter().position(is_quotient) else { return Ok(None) };
    let Some((x, b)) = s.arena.as_floordiv(terms[at].expr) else { return Ok(None) };
    let Some(divisor) = b.checked_mul(m) else { return Ok(None) };
    let (sign, own) = (terms[at].coeff, terms[at].expr);
    let mut inner: Terms = Terms::new();
    for (k, t) in terms.iter().enumerate() {
        match t.coeff.checked_mul(b) {
            _ if k == at => inner.push(Term::new(sign, x)),
            Some(coeff) => inner.push(Term::new(coeff, t.expr)),
            None => return Ok(None),
        }
    }
    let up = if sign < 0 { b - 1 } else { 0 };
    let Some(constant) = constant.checked_mul(b).and_then(|c| c.checked_add(up)) else { return Ok(None) };
    let inner = s.sum(constant, &inner)?;
    let Some(q) = s.other_quotient(e, inner, divisor)? else { return Ok(None) };
    if s.records_steps() {
        let rest = s.arena.combine(n, 1, own, -sign)?;
        s.bind(|a| vec![("x", x), ("b", a.constant(b)), ("y", rest), ("m", a.constant(m))]);
    }
    Ok(Some(q))
}

/// `min(a, b) / m = min(a / m, b / m)`, if that is cheaper.
fn extremum(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Rewritten {
    let Some((tag, args)) = s.distribute_over_extremum(n)? else { return Ok(None) };
    let mut quotients = Vec::with_capacity(args.len());
    for a in &args {
        let a = s.simplify(*a);
        quotients.push(s.floordiv_constant(a, m)?);
    }
    // Simplified only after the comparison of costs: the rules of minima may restore the quotient.
    let mark = s.mark();
    let kept = undominated(s, tag, &quotients)?;
    let raw = s.arena.extremum(tag, &kept)?;
    if s.records_steps() && kept.len() < quotients.len() {
        let whole = s.arena.extremum(tag, &quotients)?;
        record_redundant(s, [whole, raw], (&quotients, &kept), mark);
    }
    let out = s.cheaper_form(raw, e);
    if let [a, b] = *args {
        s.bind(|arena| vec![("a", a), ("b", b), ("m", arena.constant(m))]);
    }
    Ok(out)
}

/// `(g * h + l) / m = (h + l / g) / (m / g)` for `g` that divides `m`, if that is cheaper.
fn with_carry(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Rewritten {
    s.find_carry(n, m, |s, c| {
        if s.cost(c.carry) >= s.cost(c.low) + 4 {
            return Ok(None);
        }
        let inner = c.high_plus_carry(s)?;
        let Some(q) = s.other_quotient(e, inner, m / c.radix)? else { return Ok(None) };
        let cheaper = s.cost(q) < s.cost(e);
        s.bind_carry(c, m);
        Ok(cheaper.then_some(q))
    })
}

/// Quotients with more steps than this are left as they are.
const MAX_COMPARED_STEPS: i64 = 64;

/// `(a * x + c) / m = (x + b) / k + q` if both increase at the same values of `x`.
fn thresholds(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Rewritten {
    let Node::Sum(c, &[t]) = s.arena.node(n) else { return Ok(None) };
    let x = s.bounds(t.expr);
    if t.coeff < 1 || !x.is_bounded() {
        return Ok(None);
    }
    let value =
        |x: i64| t.coeff.checked_mul(x).and_then(|y| y.checked_add(c)).map(|y| div_mod_positive(y, m).0);
    let (Some(first), Some(last)) = (value(x.lower), value(x.upper)) else { return Ok(None) };
    // The quotient of x itself would be found again.
    let again = t.coeff == 1 && last - first > 1;
    if again || last - first > MAX_COMPARED_STEPS || last == first {
        return Ok(None);
    }
    // The least x at which the quotient is j.
    let rises = |j: i64| m.checked_mul(j).and_then(|y| y.checked_sub(c)).and_then(|y| ceil_div(y, t.coeff));
    let Some(start) = rises(first + 1) else { return Ok(None) };
    let period = if last == first + 1 {
        // For a single step, any period will do that causes no second one; one that needs no offset is best.
        let fits = start > 0 && x.lower >= 0 && x.upper - start < start;
        let Some(width) = x.upper.checked_sub(x.lower) else { return Ok(None) };
        match width.checked_add(1) {
            _ if fits => start,
            Some(period) => period,
            None => return Ok(None),
        }
    } else {
        let Some(k) = rises(first + 2).map(|second| second - start) else { return Ok(None) };
        let even = (first + 1..last).all(|j| rises(j).zip(rises(j + 1)).is_some_and(|(a, b)| b - a == k));
        // The parts before the first and after the last step must not be longer than the period.
        let ends = start.checked_sub(x.lower).zip(rises(last).and_then(|y| x.upper.checked_sub(y)));
        if !even || ends.is_none_or(|(before, after)| before > k || after >= k) {
            return Ok(None);
        }
        k
    };
    let shifted = s.affine(t.expr, 1, -start)?;
    let Some(q) = s.other_quotient(e, shifted, period)? else { return Ok(None) };
    let out = s.affine(q, 1, first + 1)?;
    s.reason(t.expr);
    s.bind(|arena| {
        let numbers = [("a", t.coeff), ("c", c), ("m", m), ("s", start), ("k", period), ("q", first + 1)];
        let numbers = numbers.map(|(letter, value)| (letter, arena.constant(value)));
        numbers.into_iter().chain([("x", t.expr)]).collect()
    });
    Ok(Some(out))
}

/// `(x / a % b + y) / m = (x % (a * b) + a * y) / (a * m)`, if that is cheaper.
fn digit(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Rewritten {
    let (_, terms) = s.arena.to_sum(n);
    for t in terms.iter().filter(|t| matches!(t.coeff, 1 | -1)) {
        let Some((inner, b)) = s.arena.as_mod(t.expr) else { continue };
        let Some((x, a)) = s.arena.as_floordiv(inner) else { continue };
        let (Some(period), Some(divisor)) = (a.checked_mul(b), a.checked_mul(m)) else { continue };
        let rest = s.arena.combine(n, 1, t.expr, -t.coeff)?;
        let rest = s.arena.affine(rest, a, if t.coeff < 0 { a - 1 } else { 0 })?;
        let whole = s.modulo_constant(x, period)?;
        let sum = s.combine(whole, t.coeff, rest, 1)?;
        let Some(q) = s.other_quotient(e, sum, divisor)? else { continue };
        if s.cost(q) < s.cost(e) {
            let rest = s.arena.combine(n, 1, t.expr, -t.coeff)?;
            s.bind(|c| {
                vec![("x", x), ("a", c.constant(a)), ("b", c.constant(b)), ("y", rest), ("m", c.constant(m))]
            });
            return Ok(Some(q));
        }
    }
    Ok(None)
}

/// `(x + c) / m = x / m` if the residue of `x` modulo a divisor `g` of `m` is known, adding `c` does not leave the period
/// of `g`, and the result is cheaper. Multiples of `m` in `c` are moved out of the quotient.
fn offset_redundant(s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Rewritten {
    let c = s.arena.constant_part(n);
    if c == 0 {
        return Ok(None);
    }
    let info = s.info(n);
    let g = gcd_i64(info.modulus, m);
    if g < 2 {
        return Ok(None);
    }
    let residue = div_mod_positive(info.residue, g).1;
    // The residue of `x` modulo `m`, if it is a residue modulo `g`.
    let own = div_mod_positive(residue - div_mod_positive(c, m).1, m).1;
    if own >= g {
        return Ok(None);
    }
    let x = s.arena.offset(n, own - residue)?;
    let raw = s.arena.floordiv_constant(x, m)?;
    if s.cost(raw) >= s.cost(e) {
        return Ok(None);
    }
    let out = s.simplify(raw);
    s.reason(n);
    s.bind(|a| {
        let numbers = [("c", residue - own), ("g", g), ("k", m / g)];
        let numbers = numbers.map(|(letter, value)| (letter, a.constant(value)));
        numbers.into_iter().chain([("x", x)]).collect()
    });
    Ok(Some(out))
}

impl Simplifier<'_> {
    /// A sum that contains one minimum or maximum, as the minimum or maximum of sums.
    pub(super) fn distribute_over_extremum(&mut self, n: Expr) -> Result<Option<(Tag, Vec<Expr>)>> {
        let (constant, mut terms) = self.arena.to_sum(n);
        let mut extrema =
            terms.iter().enumerate().filter(|(_, t)| matches!(self.arena.tag(t.expr), Tag::Min | Tag::Max));
        let (Some((at, t)), None) = (extrema.next(), extrema.next()) else { return Ok(None) };
        let (coeff, tag) = (t.coeff, self.arena.tag(t.expr));
        let args: Vec<Expr> = match self.arena.node(t.expr) {
            Node::Min(args) | Node::Max(args) => args.to_vec(),
            _ => return Ok(None),
        };
        let mut out = Vec::with_capacity(args.len());
        for a in args {
            terms[at] = Term::new(coeff, a);
            out.push(self.arena.sum(constant, &terms)?);
        }
        Ok(Some((if coeff < 0 { tag.opposite() } else { tag }, out)))
    }
}
