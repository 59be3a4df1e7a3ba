//! Counting by bisection: one variable that occurs linearly, or linearly within a `mod`, is counted in closed form, the others
//! by bisecting their box. A part where all constraints hold counts in full, one where a constraint fails not at all.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::flat::Dag;
use crate::expr::{Arena, Expr, Node};
use crate::int::{floor_div, floor_mod};
use crate::interval::Interval;
use crate::map::indexing_map::MapBuilder;
use crate::sets::count::{Group, Question, WORDS_PER_UNIT};
use crate::sets::line::solutions;
use crate::sets::work::Work;

impl Work<'_> {
    /// The number of points of a group; with [`Question::WhetherAny`], 0 or some positive number.
    ///
    /// Error: it is not found before the limit.
    pub(super) fn count_by_bisection(
        &mut self,
        map: &MapBuilder,
        group: &Group,
        question: Question,
    ) -> Result<u128> {
        Counter::new(self.arena, map, group).run(self, map.intervals.clone(), question)
    }
}

/// The dependence of a constraint on the variable that is counted in closed form.
#[derive(Clone, Copy, Debug)]
struct LinearDependence {
    coeff: i64,
    /// 0 for `coeff * v + rest`, else `(coeff * v + rest) mod modulus`.
    modulus: i64,
    interval: Interval,
}

struct Counter {
    /// The constraints.
    dag: Dag,
    bounds: Vec<Interval>,
    /// The variables whose box is bisected.
    outer: Vec<usize>,
    /// The variable counted in closed form, and how each constraint depends on it.
    inner: Option<(usize, Vec<LinearDependence>, Dag)>,
}

impl Counter {
    fn new(arena: &mut Arena, map: &MapBuilder, group: &Group) -> Self {
        let constraints: Vec<(Expr, Interval)> =
            group.constraints.iter().map(|k| map.constraints[*k]).collect();
        let mut by_size = group.variables.clone();
        by_size.sort_by_key(|v| std::cmp::Reverse(map.intervals[*v].count()));
        let inner = by_size.iter().find_map(|v| {
            let parts: Option<Vec<(LinearDependence, Expr)>> =
                constraints.iter().map(|(e, i)| linear_dependence(arena, *e, *i, *v as u32)).collect();
            let (inner, rests): (Vec<LinearDependence>, Vec<Expr>) = parts?.into_iter().unzip();
            Some((*v, inner, arena.export(&rests)))
        });
        let outer =
            group.variables.iter().copied().filter(|v| inner.as_ref().is_none_or(|i| i.0 != *v)).collect();
        let roots: Vec<Expr> = constraints.iter().map(|(e, _)| *e).collect();
        let bounds = constraints.iter().map(|(_, i)| *i).collect();
        Counter { dag: arena.export(&roots), bounds, outer, inner }
    }

    fn run(&self, work: &Work<'_>, whole: Vec<Interval>, question: Question) -> Result<u128> {
        let mut total = 0u128;
        let mut stack = vec![whole];
        let mut ranges = Vec::new();
        while let Some(part) = stack.pop() {
            self.spend(work, part.len())?;
            let certain = self.dag.ranges(&part, &mut ranges);
            let of_roots = self.dag.root_positions().iter().map(|r| ranges[*r as usize]);
            let mut all = certain;
            let mut none = false;
            for (range, bounds) in of_roots.zip(&self.bounds) {
                all &= bounds.covers(range);
                none |= bounds.intersect(range).is_empty();
            }
            let largest = self.outer.iter().copied().max_by_key(|v| part[*v].count());
            let here = if none {
                0
            } else if all {
                self.volume(&part)?
            } else {
                match largest.filter(|v| !part[*v].is_point()) {
                    Some(v) => {
                        let Interval { lower, upper } = part[v];
                        let middle = lower + ((upper as i128 - lower as i128) / 2) as i64;
                        let mut right = part.clone();
                        let mut left = part;
                        left[v].upper = middle;
                        right[v].lower = middle + 1;
                        stack.extend([right, left]);
                        continue;
                    }
                    None => self.count_inner(work, &part)?,
                }
            };
            total = total.checked_add(here).ok_or_else(|| Error::overflow("the number of points"))?;
            if question == Question::WhetherAny && total > 0 {
                break;
            }
        }
        Ok(total)
    }

    /// Charges the work of visiting a box of so many variables.
    fn spend(&self, work: &Work<'_>, variables: usize) -> Result<()> {
        work.arena.charge(1 + (self.dag.node_words().len() + variables) / WORDS_PER_UNIT);
        if work.is_over() {
            return Err(Error::undecided("the number of points"));
        }
        Ok(())
    }

    fn volume(&self, part: &[Interval]) -> Result<u128> {
        let inner = self.inner.as_ref().map(|i| i.0);
        self.outer
            .iter()
            .copied()
            .chain(inner)
            .try_fold(1u128, |n, v| n.checked_mul(part[v].count()))
            .ok_or_else(|| Error::overflow("the number of points"))
    }

    /// Counts the values of the inner variable, if all outer variables have one value. Conditions that no divisor is 0 are part of
    /// the domain, but for those that leave int64.
    fn count_inner(&self, work: &Work<'_>, part: &[Interval]) -> Result<u128> {
        let mut point: Vec<i64> = part.iter().map(|i| i.lower).collect();
        let mut scratch = Vec::new();
        let Some((v, inner, rests)) = &self.inner else {
            return Ok(u128::from(holds(&self.dag, &self.bounds, &point, &mut scratch)?));
        };
        let rests = match rests.evaluate(&point, &mut scratch) {
            Err(e) if e.kind() == ErrorKind::DivisionByZero => return Ok(0),
            rests => rests?,
        };
        let mut span = part[*v];
        let mut residues = Vec::new();
        for (i, rest) in inner.iter().zip(rests) {
            if i.modulus != 0 {
                residues.push((i, rest));
                continue;
            }
            span = span.intersect(solutions(i.coeff, rest, i.interval));
            if span.is_empty() {
                return Ok(0);
            }
        }
        match residues.as_slice() {
            [] => Ok(span.count()),
            [(i, rest)] => Ok(count_residues(span, i, *rest)),
            _ => {
                // Several congruences are counted point by point.
                let mut total = 0;
                for x in span.lower..=span.upper {
                    self.spend(work, 1)?;
                    point[*v] = x;
                    total += u128::from(holds(&self.dag, &self.bounds, &point, &mut scratch)?);
                }
                Ok(total)
            }
        }
    }
}

/// Whether a point is in the domain. It is not where a divisor is 0.
fn holds(dag: &Dag, bounds: &[Interval], point: &[i64], scratch: &mut Vec<i64>) -> Result<bool> {
    match dag.evaluate(point, scratch) {
        Err(e) if e.kind() == ErrorKind::DivisionByZero => Ok(false),
        values => Ok(values?.iter().zip(bounds).all(|(v, i)| i.contains(*v))),
    }
}

/// The dependence of `e in interval` on variable `v`, and the rest of `e` without it; `None` if it has no closed form.
fn linear_dependence(
    arena: &mut Arena,
    e: Expr,
    interval: Interval,
    v: u32,
) -> Option<(LinearDependence, Expr)> {
    if let Some((x, m)) = arena.as_mod(e) {
        let (coeff, rest) = linear_in(arena, x, v)?;
        let bounded = interval.intersect(Interval::new(0, m - 1));
        return match coeff {
            0 => Some((LinearDependence { coeff, modulus: 0, interval }, e)),
            _ => Some((LinearDependence { coeff, modulus: m, interval: bounded }, rest)),
        };
    }
    let (coeff, rest) = linear_in(arena, e, v)?;
    Some((LinearDependence { coeff, modulus: 0, interval }, rest))
}

/// Splits `e` into `(c, rest)` with `e = c * v + rest` and no `v` in the rest.
fn linear_in(arena: &mut Arena, e: Expr, v: u32) -> Option<(i64, Expr)> {
    if !arena.variables(&[e]).contains(&v) {
        return Some((0, e));
    }
    let variable = arena.variable(v);
    let coeff = match arena.node(e) {
        Node::Variable(_) => 1,
        Node::Sum(_, terms) => terms.iter().find(|t| t.expr == variable)?.coeff,
        _ => return None,
    };
    let rest = arena.combine(e, 1, variable, coeff.checked_neg()?).ok()?;
    (!arena.variables(&[rest]).contains(&v)).then_some((coeff, rest))
}

/// The number of `x` in `span` with `(coeff * x + rest) mod modulus` in the interval of `inner`.
fn count_residues(span: Interval, inner: &LinearDependence, rest: i64) -> u128 {
    let Interval { lower: r, upper: s } = inner.interval;
    if r > s {
        return 0;
    }
    let m = i128::from(inner.modulus);
    let a = i128::from(inner.coeff).rem_euclid(m);
    let b = (i128::from(rest) + i128::from(inner.coeff) * i128::from(span.lower)).rem_euclid(m);
    let n = span.count() as i128;
    // [x mod m in [r, s]] = floor((x - r) / m) - floor((x - s - 1) / m)
    let sum = |shift: i64| floor_sum(n, m, a, b - i128::from(shift));
    (sum(r) - sum(s.saturating_add(1))) as u128
}

/// The sum of `floor((a * i + b) / m)` for `i` in `0..n`, in as many steps as Euclid's algorithm takes.
fn floor_sum(n: i128, m: i128, a: i128, b: i128) -> i128 {
    let (mut n, mut m, mut a, mut b) = (n, m, a, b);
    let mut total = 0i128;
    loop {
        total += n * (n - 1) / 2 * a.div_euclid(m) + n * b.div_euclid(m);
        (a, b) = (a.rem_euclid(m), b.rem_euclid(m));
        let top = a * n + b;
        if top < m {
            return total;
        }
        // Count lattice points by columns instead of rows.
        (n, b) = (top / m, top % m);
        (a, m) = (m, a);
    }
}

impl Dag {
    /// Computes the interval of each node with variable `i` in `bounds[i]`; false if a divisor may be 0 there.
    pub fn ranges(&self, bounds: &[Interval], out: &mut Vec<Interval>) -> bool {
        use crate::expr::flat_nodes::Entry;
        out.clear();
        let mut certain = true;
        for entry in self.entries() {
            let at = |p: &i64| out[*p as usize];
            let interval = match entry {
                Entry::Variable(v) => bounds.get(v as usize).copied().unwrap_or(Interval::ALL),
                Entry::Constant(c) => Interval::point(c),
                Entry::FloorDiv(a, b) => {
                    certain &= !out[b].contains(0);
                    out[a].floordiv(out[b])
                }
                Entry::Mod(a, b) => {
                    certain &= !out[b].contains(0);
                    remainders(out[a], out[b])
                }
                Entry::Product(args) => args.iter().map(at).reduce(Interval::times).unwrap_or(Interval::ALL),
                Entry::Min(args) => args.iter().map(at).reduce(Interval::min).unwrap_or(Interval::ALL),
                Entry::Max(args) => args.iter().map(at).reduce(Interval::max).unwrap_or(Interval::ALL),
                Entry::Sum(c, pairs) => {
                    pairs.chunks_exact(2).fold(Interval::point(c), |sum, p| sum.plus(at(&p[1]).scaled(p[0])))
                }
            };
            out.push(interval);
        }
        certain
    }
}

/// The remainders of `a` by `b`.
fn remainders(a: Interval, b: Interval) -> Interval {
    let (m, whole) = (b.lower, b.remainders());
    // The ends of int64 stand for no bound: values may lie beyond them.
    if !b.is_point() || !a.is_bounded() {
        return whole;
    }
    match (floor_div(a.lower, m), floor_div(a.upper, m), floor_mod(a.lower, m), floor_mod(a.upper, m)) {
        (Some(p), Some(q), Some(r), Some(s)) if p == q && r <= s => Interval::new(r, s),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_sums_follow_the_definition() {
        for m in 1i128..7 {
            for a in -8i128..9 {
                for b in -9i128..10 {
                    for n in 0i128..9 {
                        let sum: i128 = (0..n).map(|i| (a * i + b).div_euclid(m)).sum();
                        assert_eq!(floor_sum(n, m, a, b), sum, "{n} {m} {a} {b}");
                    }
                }
            }
        }
    }
}
