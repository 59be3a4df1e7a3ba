//! Laws of expressions of one variable with few values: a cheaper expression with the same values.
//!
//! The values are computed, a form of each kind is fitted to them, and a form is taken only if it has these values.

use super::{first_of, law, Row, ALWAYS};
use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Node, Tag, Term, Terms};
use crate::int::{div_mod_positive, floor_div, floor_mod, gcd_i64};
use crate::interval::Interval;
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;

/// The maximal number of values of the variable.
const MAX_VALUES: i64 = 64;
/// The maximal distance of the values from 0.
const MAX_DISTANCE: i64 = 1 << 40;
/// The maximal number of nodes of the expression.
const MAX_NODES: usize = 48;
/// Cheaper expressions are left as they are.
const MIN_COST: u32 = 5;
/// The maximal divisor in a form with a minimum of a remainder.
const MAX_CAPPED_DIVISOR: i64 = 12;

type ValueRule = fn(&mut Simplifier<'_>, Expr) -> Rewritten;

/// The rules of expressions with few values.
pub(super) const VALUES: &[Row<ValueRule>] = &[
    row!("values-equal", "any": "e = f"
        if "e and f have equal values at each value of their only variable", on_domain => values_equal),
    row!("values-equal-in-sum", "sum": "e + y = f + y"
        if "e and f have equal values at each value of their only variable", on_domain
        => values_equal_in_sum),
];

/// A cheaper expression with the same values on the domain.
pub(super) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Option<Expr> {
    if !may_be_of_few_values(s, e) || s.cost(e) < MIN_COST {
        return None;
    }
    first_of(s, VALUES, ALWAYS, e, |s, f| f(s, e)).ok().flatten()
}

/// Whether a variable of few values may be the only one of `e`, or of several of its terms.
fn may_be_of_few_values(s: &Simplifier<'_>, e: Expr) -> bool {
    let own = s.arena.variables_of(e);
    let few = |bits: u16| {
        let first = bits.trailing_zeros() as usize;
        s.ranges.variables.iter().skip(first).step_by(16).any(|v| has_few_values(v.bounds))
    };
    if own.count_ones() == 1 {
        return few(own);
    }
    let Node::Sum(_, terms) = s.arena.node(e) else { return false };
    let (mut once, mut twice) = (0, 0);
    for t in terms {
        let bits = s.arena.variables_of(t.expr);
        if bits.count_ones() == 1 {
            twice |= once & bits;
            once |= bits;
        }
    }
    (0..16).map(|bit| twice & 1 << bit).any(|bits| bits != 0 && few(bits))
}

/// Whether a variable in `bounds` has several values, but few.
fn has_few_values(bounds: Interval) -> bool {
    let near = (-MAX_DISTANCE..=MAX_DISTANCE).contains(&bounds.lower);
    near && bounds.upper.checked_sub(bounds.lower).is_some_and(|n| (1..MAX_VALUES).contains(&n))
}

fn values_equal(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let Some(table) = Table::of(s, e) else { return Ok(None) };
    s.reason(table.x);
    Ok(cheapest(s, &table, e))
}

/// The terms of each variable that has several, as one expression.
fn values_equal_in_sum(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let Node::Sum(constant, terms) = s.arena.node(e) else { return Ok(None) };
    let terms = Terms::from_slice(terms);
    let bits = |s: &Simplifier<'_>, t: &Term| s.arena.variables_of(t.expr);
    for (k, t) in terms.iter().enumerate() {
        let own = bits(s, t);
        let is_first = terms[..k].iter().all(|o| bits(s, o) != own);
        let nonlinear = |o: &&Term| bits(s, o) == own && s.arena.tag(o.expr) != Tag::Variable;
        if !is_first || own.count_ones() != 1 || terms.iter().filter(nonlinear).count() == 0 {
            continue;
        }
        let (part, mut rest): (Terms, Terms) = terms.iter().copied().partition(|o| bits(s, o) == own);
        if part.len() < 2 || rest.is_empty() {
            continue;
        }
        let part = s.arena.sum(0, &part)?;
        let Some(table) = Table::of(s, part) else { continue };
        if let Some(cheaper) = cheapest(s, &table, part) {
            s.reason(table.x);
            rest.push(Term::new(1, cheaper));
            return s.arena.sum(constant, &rest).map(Some);
        }
    }
    Ok(None)
}

/// A function of the values `low`, `low + 1`, ... of `x`.
struct Table {
    x: Expr,
    low: i64,
    values: Vec<i64>,
    /// The differences of neighbours.
    steps: Vec<i64>,
}

/// A form with the values of the table; `None` if there is none of its kind.
type Form = fn(&mut Arena, &Table) -> Rewritten;

/// The forms, the cheapest first, with the least cost of each.
const FORMS: &[(u32, Form)] =
    &[(0, line), (2, square), (4, bend), (4, period), (4, steps), (8, clipped), (8, capped)];
/// The forms of what is beside a clipped end.
const UNCLIPPED: usize = 5;

/// The cheapest form with the values of `e`, if it is cheaper than `e`.
fn cheapest(s: &mut Simplifier<'_>, table: &Table, e: Expr) -> Option<Expr> {
    let (mut best, mut cost) = (None, s.cost(e));
    for (least, form) in FORMS {
        if *least >= cost {
            break;
        }
        s.arena.charge(table.values.len());
        // A form that overflows is none.
        let Ok(Some(candidate)) = form(s.arena, table) else { continue };
        let candidate_cost = s.cost(candidate);
        if candidate_cost >= cost {
            continue;
        }
        // What has wider bounds than the values hides them from what it becomes a part of: it must be worth that.
        let hides = !s.bounds(e).covers(s.bounds(candidate)) && candidate_cost > s.cost(e) / 2;
        // No division takes the place of a clamp, nor one by a large number that of a shift.
        let divides = |arena: &mut Arena| greatest_divisor(arena, candidate) > greatest_divisor(arena, e);
        if !hides
            && !divides(s.arena)
            && values_of(s.arena, candidate, (table.low, table.values.len())).as_ref() == Some(&table.values)
        {
            (best, cost) = (Some(candidate), candidate_cost);
        }
    }
    best
}

fn greatest_divisor(arena: &mut Arena, e: Expr) -> u64 {
    let nodes = arena.post_order(&[e]);
    let divisors = nodes.into_iter().filter_map(|x| match arena.node(x) {
        Node::FloorDiv(_, d) | Node::Mod(_, d) => arena.as_constant(d),
        _ => None,
    });
    divisors.map(i64::unsigned_abs).max().unwrap_or(0)
}

impl Table {
    /// The values of an expression of one variable; `None` if there are many, or one leaves int64.
    fn of(s: &mut Simplifier<'_>, e: Expr) -> Option<Table> {
        let bits = s.arena.variables_of(e);
        if bits.count_ones() != 1 {
            return None;
        }
        let v = match s.ranges.variables.len() {
            // Each variable has a bit of its own.
            0..=16 => bits.trailing_zeros(),
            _ => match s.arena.variables(&[e]).as_slice() {
                [v] => *v,
                _ => return None,
            },
        };
        let x = s.arena.variable(v);
        let bounds = s.bounds(x);
        if !has_few_values(bounds) {
            return None;
        }
        let count = (bounds.upper - bounds.lower + 1) as usize;
        let values = values_of(s.arena, e, (bounds.lower, count))?;
        Table::new(x, bounds.lower, values)
    }

    /// `None` if a difference leaves int64.
    fn new(x: Expr, low: i64, values: Vec<i64>) -> Option<Table> {
        let mut steps = Vec::with_capacity(values.len());
        for w in values.windows(2) {
            steps.push(w[1].checked_sub(w[0])?);
        }
        Some(Table { x, low, values, steps })
    }

    fn at(&self, k: usize) -> i64 {
        self.low + k as i64
    }

    fn first(&self) -> i64 {
        self.values[0]
    }

    fn last(&self) -> i64 {
        self.values[self.values.len() - 1]
    }

    /// The line through the value at `k` with this slope.
    fn line_at(&self, arena: &mut Arena, k: usize, slope: i64) -> Result<Expr> {
        let overflow = || Error::overflow("a line");
        let below = slope.checked_mul(self.at(k)).and_then(|rise| self.values[k].checked_sub(rise));
        arena.affine(self.x, slope, below.ok_or_else(overflow)?)
    }

    /// Whether the form has the values of the table, by a function of the values of `x`.
    fn is(&self, f: impl Fn(i64) -> i64) -> bool {
        self.values.iter().enumerate().all(|(k, v)| f(self.at(k)) == *v)
    }
}

/// The values of `e` at `count` values of its variable from `low` on; `None` beyond int64, and where a divisor is 0.
fn values_of(arena: &mut Arena, e: Expr, (low, count): (i64, usize)) -> Option<Vec<i64>> {
    let nodes = arena.post_order(&[e]);
    if nodes.len() > MAX_NODES {
        return None;
    }
    arena.charge(nodes.len() * count / 4);
    // The values of one node after the other, which are found where they begin.
    let mut all: Vec<i64> = Vec::with_capacity(nodes.len() * count);
    for (k, node) in nodes.iter().enumerate() {
        let place = |o: Expr| nodes[..k].iter().rposition(|x| *x == o).map(|p| p * count);
        match arena.node(*node) {
            Node::Constant(c) => all.resize(all.len() + count, c),
            Node::Variable(_) => all.extend((0..count).map(|k| low + k as i64)),
            Node::Sum(constant, terms) => {
                all.resize(all.len() + count, constant);
                for t in terms {
                    fold_into_last(&mut all, count, place(t.expr)?, |sum, x| {
                        sum.checked_add(t.coeff.checked_mul(x)?)
                    })?;
                }
            }
            Node::Product(args) => {
                all.resize(all.len() + count, 1);
                args.iter()
                    .try_for_each(|a| fold_into_last(&mut all, count, place(*a)?, i64::checked_mul))?;
            }
            Node::Min(args) | Node::Max(args) => {
                let least = arena.tag(*node) == Tag::Min;
                let first = place(args[0])?;
                all.extend_from_within(first..first + count);
                let better = |a: i64, b: i64| Some(if least { a.min(b) } else { a.max(b) });
                args[1..].iter().try_for_each(|a| fold_into_last(&mut all, count, place(*a)?, better))?;
            }
            Node::FloorDiv(a, b) | Node::Mod(a, b) => {
                let is_quotient = arena.tag(*node) == Tag::FloorDiv;
                let first = place(a)?;
                all.extend_from_within(first..first + count);
                fold_into_last(&mut all, count, place(b)?, if is_quotient { floor_div } else { floor_mod })?;
            }
        }
    }
    Some(all.split_off((nodes.len() - 1) * count))
}

/// Replaces each of the last `count` numbers by `f` of it and of its partner among those from `place` on.
fn fold_into_last(
    all: &mut [i64],
    count: usize,
    place: usize,
    f: impl Fn(i64, i64) -> Option<i64>,
) -> Option<()> {
    let (before, last) = all.split_at_mut(all.len() - count);
    last.iter_mut().zip(&before[place..]).try_for_each(|(own, other)| {
        *own = f(*own, *other)?;
        Some(())
    })
}

// ---------------------------------------------------------------------- forms

/// `a * x + b`.
fn line(arena: &mut Arena, t: &Table) -> Rewritten {
    let d = &t.steps;
    match d.iter().all(|x| *x == d[0]) {
        true => t.line_at(arena, 0, d[0]).map(Some),
        false => Ok(None),
    }
}

/// `x * (a * x + b) + c`.
fn square(arena: &mut Arena, t: &Table) -> Rewritten {
    let d = &t.steps;
    let bend = d.get(1).and_then(|second| second.checked_sub(d[0])).unwrap_or(0);
    if d.len() < 3
        || bend == 0
        || bend % 2 != 0
        || !d.windows(2).all(|w| w[1].checked_sub(w[0]) == Some(bend))
    {
        return Ok(None);
    }
    // a * (2 * x + 1) + b is the first difference.
    let a = bend / 2;
    let own = |x: i64| a.checked_mul(x.checked_mul(2)?.checked_add(1)?);
    let Some(b) = own(t.low).and_then(|rise| d[0].checked_sub(rise)) else { return Ok(None) };
    let inner = arena.affine(t.x, a, b)?;
    let product = arena.mul(t.x, inner)?;
    let rise = a.checked_mul(t.low).and_then(|x| x.checked_add(b)).and_then(|x| x.checked_mul(t.low));
    let Some(c) = rise.and_then(|rise| t.first().checked_sub(rise)) else { return Ok(None) };
    arena.offset(product, c).map(Some)
}

/// `min(a * x + b, c * x + d)`, or the maximum.
fn bend(arena: &mut Arena, t: &Table) -> Rewritten {
    let d = &t.steps;
    let end = t.values.len() - 1;
    for (first, last) in [(d[0], d[end - 1]), (0, d[end - 1]), (d[0], 0), (0, 0)] {
        let line = |k: usize, slope: i64| {
            move |x: i64| t.values[k].saturating_add(slope.saturating_mul(x - t.at(k)))
        };
        let (left, right) = (line(0, first), line(end, last));
        for tag in [Tag::Min, Tag::Max] {
            let among = |x: i64| if tag == Tag::Min { left(x).min(right(x)) } else { left(x).max(right(x)) };
            if t.is(among) {
                let args = [t.line_at(arena, 0, first)?, t.line_at(arena, end, last)?];
                return arena.extremum(tag, &args).map(Some);
            }
        }
    }
    Ok(None)
}

/// The two differences of neighbours, in ascending order; `None` if there are more, or fewer.
fn two_differences(t: &Table) -> Option<(i64, i64)> {
    let one = *t.steps.first()?;
    let other = *t.steps.iter().find(|x| **x != one)?;
    let both = t.steps.iter().all(|x| *x == one || *x == other);
    both.then_some((one.min(other), one.max(other)))
}

/// `(a * x + b) mod m + c`.
fn period(arena: &mut Arena, t: &Table) -> Rewritten {
    let Some((low, high)) = two_differences(t) else { return Ok(None) };
    let (Some(least), Some(greatest)) = (t.values.iter().min(), t.values.iter().max()) else {
        return Ok(None);
    };
    let (Some(m), Some(span)) = (high.checked_sub(low), greatest.checked_sub(*least)) else {
        return Ok(None);
    };
    let Some(start) = high.checked_mul(t.low).and_then(|rise| t.first().checked_sub(rise)) else {
        return Ok(None);
    };
    if span >= m {
        return Ok(None);
    }
    // All values lie in [c, c + m): with c = 0, or with b = 0, the form is cheapest.
    let room = m - 1 - span;
    let without_b = least.checked_sub(div_mod_positive(least.wrapping_sub(start), m).1);
    let without_c = Some(0).filter(|_| (0..m).contains(least) && (0..m).contains(greatest));
    let within = |c: &i64| *c <= *least && least.checked_sub(*c).is_some_and(|gap| gap <= room);
    let Some(c) = without_c.or(without_b.filter(within)).or(Some(*least)) else { return Ok(None) };
    let Some(b) = start.checked_sub(c).and_then(|b| floor_mod(b, m)) else { return Ok(None) };
    let inner = arena.affine(t.x, high, b)?;
    let digit = arena.modulo_constant(inner, m)?;
    arena.offset(digit, c).map(Some)
}

/// `a * x + c * ((q * x + r) / d) + b`: the cheapest of both signs of `c`.
fn steps(arena: &mut Arena, t: &Table) -> Rewritten {
    let Some((low, high)) = two_differences(t) else { return Ok(None) };
    let Some(step) = high.checked_sub(low) else { return Ok(None) };
    let up: Vec<i64> = t.steps.iter().map(|x| i64::from(*x == high)).collect();
    let down: Vec<i64> = up.iter().map(|x| 1 - x).collect();
    let mut best: Option<Expr> = None;
    for (word, base, step) in [(up, low, step), (down, high, -step)] {
        let Some(quotient) = quotient_with_steps(arena, t, &word)? else { continue };
        let rest =
            |q: i64| t.first().checked_sub(base.checked_mul(t.low)?)?.checked_sub(step.checked_mul(q)?);
        let Some(b) = rest(quotient.first) else { continue };
        let sum = arena.sum(b, &[Term::new(base, t.x), Term::new(step, quotient.e)])?;
        if base == 0 || best.is_none() {
            best = Some(sum);
        }
    }
    Ok(best)
}

/// `(q * x + r) / d`, and its first value.
struct Quotient {
    e: Expr,
    first: i64,
}

/// The quotient with the least divisor that increases by `word[k]` after the value at `k`.
fn quotient_with_steps(arena: &mut Arena, t: &Table, word: &[i64]) -> Result<Option<Quotient>> {
    let total: i64 = word.iter().sum();
    let n = word.len() as i64;
    for d in 2..=n + 1 {
        let near = total * d / n;
        for q in (near.max(1)..=near + 1).filter(|q| *q < d && gcd_i64(*q, d) == 1) {
            // d * k <= q * x + r < d * (k + 1) for each x, where k starts with 0.
            let (mut least, mut most, mut k) = (i64::MIN, i64::MAX, 0);
            for (i, w) in word.iter().chain([&0]).enumerate() {
                let at = d * k - q * i as i64;
                (least, most, k) = (least.max(at), most.min(at + d - 1), k + w);
            }
            if least > most {
                continue;
            }
            // A constant of 0, or one less than the divisor, costs nothing.
            let Some(shift) = q.checked_mul(t.low) else { return Ok(None) };
            let constant = |r: i64| div_mod_positive(r - shift, d).1;
            let free = (least..=most).find(|r| constant(*r) == 0);
            let r = free.or((least..=most).find(|r| constant(*r) == d - 1)).unwrap_or(least);
            let dividend = arena.affine(t.x, q, constant(r))?;
            let first = (shift + constant(r)).div_euclid(d);
            return Ok(Some(Quotient { e: arena.floordiv_constant(dividend, d)?, first }));
        }
    }
    Ok(None)
}

/// A form of `max(x, k)` or `min(x, k)`: the values at one end are equal.
fn clipped(arena: &mut Arena, t: &Table) -> Rewritten {
    let end = t.values.len() - 1;
    let below = t.values.iter().take_while(|v| **v == t.first()).count() - 1;
    let above = end + 1 - t.values.iter().rev().take_while(|v| **v == t.last()).count();
    for (tag, k, kept) in [(Tag::Max, below, below..end + 1), (Tag::Min, above, 0..above + 1)] {
        if kept.len() < 2 || kept.len() > end {
            continue;
        }
        let bound = arena.constant(t.at(k));
        let x = arena.extremum(tag, &[t.x, bound])?;
        let Some(inner) = Table::new(x, t.at(kept.start), t.values[kept].to_vec()) else { continue };
        for (_, form) in &FORMS[..UNCLIPPED] {
            if let Some(form_of_inner) = form(arena, &inner)? {
                return Ok(Some(form_of_inner));
            }
        }
    }
    Ok(None)
}

/// `a * min((x + q) mod m, c) + b`, or with `-x`.
fn capped(arena: &mut Arena, t: &Table) -> Rewritten {
    let (least, step) = (t.values.iter().min().copied().unwrap_or(0), common_step(t));
    if step == 0 {
        return Ok(None);
    }
    for (base, step) in [(Some(least), step), (t.values.iter().max().copied(), -step)] {
        let Some(base) = base else { continue };
        let scaled: Option<Vec<i64>> =
            t.values.iter().map(|v| v.checked_sub(base)?.checked_div(step)).collect();
        let Some(scaled) = scaled else { continue };
        let Some(of) = Table::new(t.x, t.low, scaled) else { continue };
        let Some(capped) = least_of_period(arena, &of)? else { continue };
        return arena.affine(capped, step, base).map(Some);
    }
    Ok(None)
}

/// The greatest common divisor of the differences of values.
fn common_step(t: &Table) -> i64 {
    t.values.iter().fold(0, |g, v| gcd_i64(g, v.checked_sub(t.first()).unwrap_or(1)))
}

/// `min((x + q) mod m, c)`, or with `-x`.
fn least_of_period(arena: &mut Arena, t: &Table) -> Rewritten {
    let cap = t.values.iter().max().copied().unwrap_or(0);
    for m in cap.saturating_add(2)..=MAX_CAPPED_DIVISOR.min(t.values.len() as i64) {
        for (sign, q) in (0..m).flat_map(|q| [(1, q), (-1, q)]) {
            if t.is(|x| div_mod_positive(sign * x + q, m).1.min(cap)) {
                let inner = arena.affine(t.x, sign, q)?;
                let (digit, cap) = (arena.modulo_constant(inner, m)?, arena.constant(cap));
                return arena.min(digit, cap).map(Some);
            }
        }
    }
    Ok(None)
}
