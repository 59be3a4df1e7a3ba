//! The image of a map: the number of different results, injectivity, bijection onto a tensor; the width of the integers
//! that a map needs.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::work::Limit;
use crate::expr::{Arena, Expr, Node};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder};
use crate::map::parametric::DistinctRows;
use crate::sets::changed_variables::{roots, Path};
use crate::sets::count::{groups, require_defined, Group, Question, WORDS_PER_UNIT};
use crate::sets::inverse::{determines, invert};
use crate::sets::points::PointStep;
use crate::sets::split_digits::radices;
use crate::sets::work::Work;
use crate::simplify::domain::PointVariables;
use crate::simplify::facts::normal_form;
use crate::simplify::width::Width;
use crate::simplify::Scratch;

/// The maximal number of points that are enumerated for one answer.
pub(super) const MAX_ENUMERATED: u128 = 1 << 21;

/// More points are only listed if no change of variables helps.
const MAX_LISTED: u128 = 1 << 12;
/// The units of work for each point of a box that may be spent on other variables.
const DIGITS_PER_POINT: u64 = 4;

/// The number of different results, as factors. Errors: as [`count`](super::count::count).
pub fn image_count(arena: &mut Arena, scratch: &mut Scratch, map: &IndexingMap) -> Result<Vec<u128>> {
    Work::new(arena, scratch).image_count(map)
}

impl Work<'_> {
    /// As [`image_count`].
    pub(super) fn image_count(&mut self, map: &IndexingMap) -> Result<Vec<u128>> {
        if self.is_empty(map)? {
            return Ok(vec![0]);
        }
        let Some(mut builder) = self.simplified(map)? else { return Ok(vec![0]) };
        builder.remove_unused_variables(self.arena)?;
        builder.simplify(self.arena, self.scratch, PointVariables::Replace);
        builder.canonicalize_constraints(self.arena);
        self.image_of(&builder, &Path::default())
    }

    /// The number of different results of a map whose domain `scratch` holds, and is not empty, as factors.
    fn image_of(&mut self, map: &MapBuilder, path: &Path) -> Result<Vec<u128>> {
        let groups = groups(self.arena, map, &map.results);
        groups.iter().map(|g| self.image_of_group(map, g, path)).collect()
    }

    fn image_of_group(&mut self, map: &MapBuilder, group: &Group, path: &Path) -> Result<u128> {
        let results: Vec<Expr> = group.results.iter().map(|k| map.results[*k]).collect();
        if results.is_empty() {
            return Ok(1);
        }
        if determines(self, map, &results, &group.variables)? {
            return self.count_group(map, group, Question::HowMany);
        }
        if let [one] = results.as_slice() {
            if let Some(steps) = ArithmeticProgression::of_constrained(self.arena, map, group, *one) {
                return Ok(steps.count);
            }
        }
        let size = group.box_size(map);
        if size > MAX_LISTED && path.goes_on() {
            // About as much work as to list all points, but not all that is left.
            let units = u64::try_from(size).unwrap_or(u64::MAX).saturating_mul(DIGITS_PER_POINT);
            let limit = self.limit.half(self.arena).min(Limit::after(self.arena, units));
            if let Some(count) = self.image_by_digits(group.alone(map, &results), path, limit)? {
                return Ok(count);
            }
        }
        count_distinct(self, map, group, &results)
    }

    /// The number of different results by those of maps of other variables; `None` if these do not tell.
    fn image_by_digits(&mut self, mut map: MapBuilder, path: &Path, limit: Limit) -> Result<Option<u128>> {
        let work = &mut Work { arena: self.arena, scratch: &mut Scratch::default(), limit };
        let (maps, path) = work.by_digits(&mut map, path).unwrap_or_default();
        let mut counts = maps.into_iter().map(|mut map| {
            map.simplify(work.arena, work.scratch, PointVariables::Replace);
            let factors = work.image_of(&map, &path)?;
            product(&factors).ok_or_else(|| Error::overflow("the number of different results"))
        });
        match counts.next().transpose() {
            Err(e) if e.kind() == ErrorKind::Unsupported => Ok(None),
            count => Ok(count?.filter(|n| counts.all(|other| other.is_ok_and(|other| other == *n)))),
        }
    }

    /// Maps of other variables, which have as many different results if all of them have the same number.
    fn by_digits(&mut self, map: &mut MapBuilder, path: &Path) -> Option<(Vec<MapBuilder>, Path)> {
        if !self.arena.divisors(roots(map).into_iter()).is_empty() {
            return None;
        }
        if self.solve_equation(map) || self.replace_shared_forms(map) || self.join_digits(map, path) {
            return Some((vec![map.clone()], path.next()));
        }
        radices(self.arena, map).into_iter().find_map(|radix| {
            let maps = self.with_digits(map, radix)?;
            Some((maps, radix.after(path, map)))
        })
    }

    /// As [`is_injective`].
    fn is_injective(&mut self, map: &IndexingMap) -> Result<bool> {
        let Some(builder) = self.simplified(map)? else { return Ok(true) };
        let varying: Vec<usize> =
            (0..builder.intervals.len()).filter(|v| !builder.intervals[*v].is_point()).collect();
        if determines(self, &builder, &builder.results, &varying)? || self.is_injective_by_digits(builder) {
            return Ok(true);
        }
        let (points, different) = (self.count(map)?, self.image_count(map)?);
        match (product(&points), product(&different)) {
            (Some(p), Some(d)) => Ok(p == d),
            _ => Err(Error::undecided("whether different points have different results")),
        }
    }

    /// Whether a map of other variables, which has all points of this one, or more, is seen to be injective.
    fn is_injective_by_digits(&mut self, mut map: MapBuilder) -> bool {
        let limit = self.limit.half(self.arena);
        let work = &mut Work { arena: self.arena, scratch: &mut Scratch::default(), limit };
        let mut path = Path::default();
        while path.goes_on() && work.arena.divisors(roots(&map).into_iter()).is_empty() {
            let Some(changed) = work.over_digits(map, &path) else { return false };
            (map, path) = changed;
            map.simplify(work.arena, work.scratch, PointVariables::Replace);
            let all: Vec<usize> = (0..map.intervals.len()).collect();
            if determines(work, &map, &map.results, &all).is_ok_and(|known| known) {
                return true;
            }
        }
        false
    }

    /// The map over numbers whose digits are its variables, or over the digits of a variable; it may have more points.
    fn over_digits(&mut self, mut map: MapBuilder, path: &Path) -> Option<(MapBuilder, Path)> {
        if self.solve_equation(&mut map) || self.join_digits(&mut map, path) {
            return Some((map, path.next()));
        }
        radices(self.arena, &map)
            .into_iter()
            .find_map(|radix| Some((self.with_all_digits(&map, radix)?, radix.after(path, &map))))
    }

    /// As [`is_bijection_onto`].
    fn is_bijection_onto(&mut self, map: &IndexingMap, sizes: &[i64]) -> Result<bool> {
        require_defined(map)?;
        let elements: Vec<u128> = sizes.iter().map(|s| u128::try_from(*s).unwrap_or(0)).collect();
        if self.is_empty(map)? {
            return Ok(product(&elements) == Some(0));
        }
        if map.num_results() != sizes.len() {
            return Ok(false);
        }
        let points = self.count(map)?;
        Ok(product(&points) == product(&elements) && self.is_injective(map)? && self.is_within(map, sizes)?)
    }

    /// Whether all results are indices of a tensor of these sizes.
    fn is_within(&mut self, map: &IndexingMap, sizes: &[i64]) -> Result<bool> {
        for (k, size) in sizes.iter().enumerate() {
            // Points with this result outside the tensor: there must be none.
            for outside in [Interval::new(i64::MIN, -1), Interval::new(*size, i64::MAX)] {
                let mut builder = map.to_builder(self.arena);
                let result = builder.results[k];
                builder.add_constraint(self.arena, result, outside);
                let beyond = builder.build(self.arena)?;
                if !self.is_empty(&beyond)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// As [`inverse`].
    pub(super) fn inverse(&mut self, map: &IndexingMap) -> Result<IndexingMap> {
        let Some(builder) = self.simplified(map)? else { return Ok(IndexingMap::known_empty(self.arena)) };
        for e in self.arena.post_order(&builder.results) {
            if self.scratch.ranges.may_overflow(self.arena, e) {
                return Err(Error::overflow("a result on the domain"));
            }
        }
        let mut inverted = invert(self, &builder)?;
        inverted.simplify(self.arena, self.scratch, PointVariables::Replace);
        inverted.canonicalize_constraints(self.arena);
        if !inverted.known_empty {
            inverted.remove_unused_ranges(self.arena)?;
            inverted.simplify(self.arena, self.scratch, PointVariables::Replace);
        }
        inverted.build(self.arena)
    }
}

/// The `count` values `first`, `first + step`, `first + 2 * step`, ..
#[derive(Clone, Copy, Debug)]
pub(super) struct ArithmeticProgression {
    pub first: i64,
    pub step: i64,
    pub count: u128,
}

impl ArithmeticProgression {
    fn last(self) -> Option<i64> {
        let length = i128::from(self.step).checked_mul(i128::try_from(self.count).ok()? - 1)?;
        i64::try_from(i128::from(self.first) + length).ok()
    }

    /// As many values as `e` has: those of its normal form, without factor and offset, if the constraints of its group only
    /// bound them.
    fn of_constrained(
        arena: &mut Arena,
        map: &MapBuilder,
        group: &Group,
        e: Expr,
    ) -> Option<ArithmeticProgression> {
        let (form, ..) = normal_form(arena, e)?;
        let mut steps = ArithmeticProgression::of(arena, map, form)?;
        for k in &group.constraints {
            let (bounded, interval) = map.constraints[*k];
            steps = steps.within(interval).filter(|_| bounded == form)?;
        }
        Some(steps)
    }

    fn within(self, bounds: Interval) -> Option<ArithmeticProgression> {
        let kept = Interval::new(self.first, self.last()?).intersect(bounds);
        (self.step == 1).then(|| ArithmeticProgression { first: kept.lower, step: 1, count: kept.count() })
    }

    /// The values of `e` on the box of `map`, if its structure shows that they are evenly spaced.
    pub(super) fn of(arena: &mut Arena, map: &MapBuilder, e: Expr) -> Option<ArithmeticProgression> {
        match arena.node(e) {
            Node::Variable(v) => {
                let i = map.intervals[v as usize];
                Some(ArithmeticProgression { first: i.lower, step: 1, count: i.count() })
            }
            Node::FloorDiv(x, m) => {
                let m = arena.as_constant(m)?;
                let x = ArithmeticProgression::of(arena, map, x)?;
                // With steps of at most m, no quotient is skipped. ArithmeticProgression that are multiples of m were moved out of quotients.
                let (a, b) = (x.first.div_euclid(m), x.last()?.div_euclid(m));
                (x.step <= m).then(|| ArithmeticProgression {
                    first: a,
                    step: 1,
                    count: Interval::new(a, b).count(),
                })
            }
            Node::Mod(x, m) => {
                let m = arena.as_constant(m)?;
                let x = ArithmeticProgression::of(arena, map, x)?;
                if x.first.div_euclid(m) == x.last()?.div_euclid(m) {
                    return Some(ArithmeticProgression { first: x.first.rem_euclid(m), ..x });
                }
                // If there are values for a whole period, all residues that are congruent to `first` modulo `step`.
                let step = i64::try_from(crate::int::gcd(x.step, m)).ok()?;
                let period = u128::try_from(m / step).ok()?;
                (x.count >= period).then(|| ArithmeticProgression {
                    first: x.first.rem_euclid(step),
                    step,
                    count: period,
                })
            }
            Node::Sum(constant, terms) => {
                let terms = terms.to_vec();
                let mut seen = Vec::new();
                let mut parts = Vec::new();
                for t in terms {
                    let used = arena.variables(&[t.expr]);
                    if used.iter().any(|v| seen.contains(v)) {
                        return None;
                    }
                    seen.extend(used);
                    parts.push(ArithmeticProgression::of(arena, map, t.expr)?.scaled(t.coeff)?);
                }
                parts.sort_by_key(|s| s.step);
                let start = ArithmeticProgression { first: constant, step: 1, count: 1 };
                parts.into_iter().try_fold(start, ArithmeticProgression::plus)
            }
            _ => None,
        }
    }

    fn scaled(self, factor: i64) -> Option<ArithmeticProgression> {
        let end = if factor < 0 { self.last()? } else { self.first };
        let step = self.step.checked_mul(factor.checked_abs()?)?;
        Some(ArithmeticProgression { first: end.checked_mul(factor)?, step, count: self.count })
    }

    /// All sums of two values, if they are evenly spaced: `other` has the larger steps, and `self` the values in between.
    fn plus(self, other: ArithmeticProgression) -> Option<ArithmeticProgression> {
        let first = self.first.checked_add(other.first)?;
        if self.count == 1 {
            return Some(ArithmeticProgression { first, ..other });
        }
        if other.count == 1 {
            return Some(ArithmeticProgression { first, ..self });
        }
        let ratio = u128::try_from(other.step / self.step).ok()?;
        if other.step % self.step != 0 || ratio > self.count {
            return None;
        }
        let count = (other.count - 1).checked_mul(ratio)?.checked_add(self.count)?;
        Some(ArithmeticProgression { first, step: self.step, count })
    }
}

/// The results at the points of a domain, row by row.
#[derive(Default)]
pub(super) struct ResultRows {
    pub width: usize,
    pub values: Vec<i64>,
}

impl ResultRows {
    pub fn count_distinct(&self) -> usize {
        let mut rows: Vec<&[i64]> = self.values.chunks_exact(self.width).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len()
    }
}

/// A group alone, with these results. Error: there are too many points to enumerate.
fn of_group(map: &MapBuilder, group: &Group, results: &[Expr]) -> Result<MapBuilder> {
    match group.box_size(map) {
        0..=MAX_ENUMERATED => Ok(group.alone(map, results)),
        _ => Err(Error::undecided("the number of different results")),
    }
}

/// The values of `results`, a nonempty list, at all points of a group. Error: there are too many to enumerate.
pub(super) fn enumerate(
    work: &mut Work<'_>,
    map: &MapBuilder,
    group: &Group,
    results: &[Expr],
) -> Result<ResultRows> {
    let map = of_group(map, group, results)?.build(work.arena)?;
    let units = 1 + (results.len() + map.num_variables()) / 2 + map.dag().node_words().len() / WORDS_PER_UNIT;
    let mut points = map.points(work.arena);
    let (mut scratch, mut rows) = (Vec::new(), ResultRows { width: results.len(), values: Vec::new() });
    loop {
        match points.step(usize::MAX)? {
            PointStep::Point(_) if work.is_over() => {
                return Err(Error::undecided("the number of different results"));
            }
            PointStep::Point(p) => {
                work.arena.charge(units);
                rows.values.extend(map.dag().evaluate_first(results.len(), &p, &mut scratch)?);
            }
            PointStep::Searching => {}
            PointStep::End => return Ok(rows),
        }
    }
}

/// The points that are found at a time.
const BATCH: usize = 1 << 14;

/// The number of different rows of `results` at the points of a group. Only the number of the row of each point is kept, as
/// results are added one by one, until all are different. Error: there are too many points.
fn count_distinct(work: &mut Work<'_>, map: &MapBuilder, group: &Group, results: &[Expr]) -> Result<u128> {
    let undecided = || Error::undecided("the number of different results");
    let part = of_group(map, group, &[])?;
    let part = part.build(work.arena)?;
    let mut columns = vec![Vec::new(); part.num_variables()];
    let mut points = part.points(work.arena);
    while points.extend(BATCH, &mut columns)? {
        work.arena
            .charge(BATCH * (1 + part.num_variables() / 2 + part.dag().node_words().len() / WORDS_PER_UNIT));
        if work.is_over() {
            return Err(undecided());
        }
    }
    let columns: Vec<&[i64]> = columns.iter().map(Vec::as_slice).collect();
    let length = columns.first().map_or(0, |column| column.len());
    let (mut rows, mut values) = (DistinctRows::new(&[], length), vec![0; length]);
    for result in results {
        let dag = work.arena.export(&[*result]);
        work.arena.charge(length * (1 + dag.node_words().len() / WORDS_PER_UNIT));
        if work.is_over() {
            return Err(undecided());
        }
        dag.evaluate_block(&columns, &mut [&mut values])?;
        rows = rows.with_column(&values);
        if rows.first.len() == length {
            break;
        }
    }
    Ok(rows.first.len() as u128)
}

fn product(factors: &[u128]) -> Option<u128> {
    if factors.contains(&0) {
        return Some(0);
    }
    factors.iter().try_fold(1u128, |n, f| n.checked_mul(*f))
}

/// Whether different points of the domain have different results. Errors: as [`count`](super::count::count).
pub fn is_injective(arena: &mut Arena, scratch: &mut Scratch, map: &IndexingMap) -> Result<bool> {
    Work::new(arena, scratch).is_injective(map)
}

/// Whether the results are the elements of a tensor of these sizes, each once. Errors: as [`count`](super::count::count).
pub fn is_bijection_onto(
    arena: &mut Arena,
    scratch: &mut Scratch,
    map: &IndexingMap,
    sizes: &[i64],
) -> Result<bool> {
    Work::new(arena, scratch).is_bijection_onto(map, sizes)
}

/// The inverse relation, simplified: from results to dimensions, with range variables for what the results leave open.
///
/// Errors: the map is undefined; results may leave int64.
pub fn inverse(arena: &mut Arena, scratch: &mut Scratch, map: &IndexingMap) -> Result<IndexingMap> {
    Work::new(arena, scratch).inverse(map)
}

/// The width, 32 or 64 bits, of integers that hold all subexpressions on the domain, with partial sums in any order.
/// Errors: the map is undefined; 64 bits may not suffice.
pub fn index_bits(arena: &mut Arena, scratch: &mut Scratch, map: &IndexingMap) -> Result<u32> {
    let Some(domain) = Work::new(arena, scratch).simplified(map)? else { return Ok(32) };
    // The expressions as they are written, on the domain as it is known.
    let roots = arena.import(map.dag());
    let mut all = domain.intervals.iter().fold(Interval::point(0), |all, i| all.union(*i));
    for e in arena.post_order(&roots) {
        all = all.union(scratch.ranges.intermediate_values(arena, e));
    }
    match Width::of(all) {
        Width::NARROW => Ok(32),
        Width::WIDE => Ok(64),
        _ => Err(Error::overflow("a subexpression on the domain")),
    }
}
