//! The exact number of points of a domain, and whether it has any.
//!
//! Groups of variables that no constraint links are counted separately, and the counts multiplied: a box of any size costs
//! nothing. In a group, one variable that occurs linearly, or linearly within a `mod`, is counted in closed form, the others
//! by bisecting their box: a part where all constraints hold counts in full, one where a constraint fails not at all.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::flat::Dag;
use crate::expr::{Arena, Expr, Node};
use crate::int::{floor_div, floor_mod};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::sets::line::solutions;
use crate::sets::work::Work;
use crate::simplify::domain::PointVariables;
use crate::simplify::presburger::{self, IntegerDomain, Undecided};
use crate::simplify::Scratch;

/// The number of words of constraints, or of variables, that are visited for one unit of work.
pub(super) const WORDS_PER_UNIT: usize = 4;

/// The work in search of one point by the Omega test.
const SAMPLE_WORK: u64 = 1 << 18;

/// The question about a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// The number of points.
    HowMany,
    /// Whether there is a point: any positive number means yes.
    WhetherAny,
}

pub(super) fn require_defined(map: &IndexingMap) -> Result<()> {
    if map.kind() == MapKind::Undefined {
        return Err(Error::invalid_map("nothing is known about an undefined map"));
    }
    Ok(())
}

fn unless_empty(arena: &Arena, mut builder: MapBuilder) -> Option<MapBuilder> {
    builder.canonicalize_constraints(arena);
    (!builder.known_empty).then_some(builder)
}

/// The number of points of the domain, as factors.
///
/// Errors: the map is undefined; the number is not found within the work limit.
pub fn count(arena: &mut Arena, scratch: &mut Scratch, map: &IndexingMap) -> Result<Vec<u128>> {
    Work::new(arena, scratch).count(map)
}

/// Whether the domain has no points. Errors: as [`count`].
pub fn is_empty(arena: &mut Arena, scratch: &mut Scratch, map: &IndexingMap) -> Result<bool> {
    Work::new(arena, scratch).is_empty(map)
}

impl Work<'_> {
    /// The simplified map, its domain in `scratch`; `None` if it is known to be empty.
    pub(super) fn simplified(&mut self, map: &IndexingMap) -> Result<Option<MapBuilder>> {
        require_defined(map)?;
        let mut builder = map.to_builder(self.arena);
        builder.simplify(self.arena, self.scratch, PointVariables::Replace);
        Ok(unless_empty(self.arena, builder))
    }

    /// As `simplified`, without the results; those that divide by expressions are kept, since they restrict the domain.
    fn simplified_domain(&mut self, map: &IndexingMap) -> Result<Option<MapBuilder>> {
        require_defined(map)?;
        let mut builder = map.to_builder(self.arena);
        if self.arena.divisors(builder.results.iter().copied()).is_empty() {
            builder.results.clear();
        }
        builder.simplify_if_needed(self.arena, self.scratch, PointVariables::Replace);
        Ok(unless_empty(self.arena, builder))
    }

    /// As [`count`].
    pub(super) fn count(&mut self, map: &IndexingMap) -> Result<Vec<u128>> {
        let Some(builder) = self.simplified_domain(map)? else { return Ok(vec![0]) };
        let groups = groups(self.arena, &builder, &[]);
        groups.iter().map(|g| self.count_group(&builder, g, Question::HowMany)).collect()
    }

    /// As [`is_empty`].
    pub(super) fn is_empty(&mut self, map: &IndexingMap) -> Result<bool> {
        let Some(builder) = self.simplified_domain(map)? else { return Ok(true) };
        if let Some(empty) = self.is_empty_by_sample(map, &builder)? {
            return Ok(empty);
        }
        for g in groups(self.arena, &builder, &[]).iter().filter(|g| !g.constraints.is_empty()) {
            if self.count_group(&builder, g, Question::WhetherAny)? == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the domain has no points, by one that is in it, or by the Omega test; `None` if that does not decide.
    fn is_empty_by_sample(&mut self, map: &IndexingMap, simplified: &MapBuilder) -> Result<Option<bool>> {
        let constraints = &simplified.constraints;
        if constraints.is_empty() {
            return Ok(Some(false));
        }
        let ranges = &mut self.scratch.ranges;
        let Some(domain) = IntegerDomain::new(self.arena, ranges, constraints, &[]) else {
            return Ok(None);
        };
        match domain.sample(&mut presburger::Work(SAMPLE_WORK)) {
            Ok(Some(point)) => Ok(map.domain(self.arena).contains(&point, &mut Vec::new())?.then_some(false)),
            Ok(None) => Ok(Some(true)),
            Err(Undecided) => Ok(None),
        }
    }

    /// The number of points of a group; with [`Question::WhetherAny`], 0 or some positive number.
    ///
    /// Error: it is not found before the limit.
    pub(super) fn count_group(
        &mut self,
        map: &MapBuilder,
        group: &Group,
        question: Question,
    ) -> Result<u128> {
        let intervals = map.intervals.clone();
        if group.constraints.is_empty() {
            return group.variables.iter().try_fold(1u128, |n, v| {
                n.checked_mul(intervals[*v].count()).ok_or_else(|| Error::overflow("the number of points"))
            });
        }
        Counter::new(self.arena, map, group).run(self, intervals, question)
    }
}

/// A group of linked variables, and the expressions that link them.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The variables, sorted.
    pub variables: Vec<usize>,
    /// The indices of the constraints.
    pub constraints: Vec<usize>,
    /// The indices of the results; empty if results do not link variables.
    pub results: Vec<usize>,
}

/// Partitions the variables into groups that constraints, and `results` if given, link.
pub fn groups(arena: &mut Arena, map: &MapBuilder, results: &[Expr]) -> Vec<Group> {
    let mut leader: Vec<usize> = (0..map.intervals.len()).collect();
    fn find(leader: &mut [usize], mut v: usize) -> usize {
        while leader[v] != v {
            leader[v] = leader[leader[v]];
            v = leader[v];
        }
        v
    }
    let constraints: Vec<Expr> = map.constraints.iter().map(|(e, _)| *e).collect();
    let mut firsts = Vec::new();
    for e in constraints.iter().chain(results) {
        let used = arena.variables(&[*e]);
        for pair in used.windows(2) {
            let (a, b) = (find(&mut leader, pair[0] as usize), find(&mut leader, pair[1] as usize));
            leader[a.max(b)] = a.min(b);
        }
        firsts.push(used.first().map(|v| *v as usize));
    }
    let mut out: Vec<Group> = Vec::new();
    let mut place = vec![usize::MAX; leader.len()];
    for v in 0..leader.len() {
        let l = find(&mut leader, v);
        if place[l] == usize::MAX {
            place[l] = out.len();
            out.push(Group::default());
        }
        out[place[l]].variables.push(v);
    }
    for (k, first) in firsts.into_iter().enumerate() {
        let Some(v) = first else { continue };
        let group = &mut out[place[find(&mut leader, v)]];
        match k.checked_sub(constraints.len()) {
            None => group.constraints.push(k),
            Some(r) => group.results.push(r),
        }
    }
    out
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
    use crate::expr::work::Limit;
    use crate::sets::work::BUDGET;

    /// x * x - 2 * y * y = 3 has no solution; to show this takes more boxes than the smaller budget allows.
    #[test]
    fn a_count_that_takes_too_long_stays_undecided() {
        let arena = &mut Arena::new();
        let squares = [0, 1].map(|v| arena.variable(v)).map(|x| arena.mul(x, x).unwrap());
        let difference = arena.combine(squares[0], 1, squares[1], -2).unwrap();
        let mut map =
            MapBuilder { intervals: vec![Interval::new(0, 999); 2], num_dims: 2, ..MapBuilder::default() };
        map.add_constraint(arena, difference, Interval::point(3));
        let group = &groups(arena, &map, &[])[0];
        for (units, decided) in [(100, false), (BUDGET, true)] {
            let (limit, scratch) = (Limit::after(arena, units), &mut Scratch::default());
            let counted = Work { arena, scratch, limit }.count_group(&map, group, Question::HowMany);
            assert_eq!(counted.ok(), decided.then_some(0), "{units} units");
        }
    }

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
