//! Relations between two maps: their intersection, and a point where they differ.

use crate::error::{counted, Error, Result};
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::map::simplify::simplify;
use crate::sets::work::Work;
use crate::simplify::domain::PointVariables;
use crate::simplify::Scratch;

fn check_signature(a: &IndexingMap, b: &IndexingMap) -> Result<()> {
    let signature = |m: &IndexingMap| (m.num_dims(), m.num_ranges(), m.num_runtimes(), m.num_results());
    if signature(a) == signature(b) {
        return Ok(());
    }
    let say = |m: &IndexingMap| {
        let (d, s, rt, r) = signature(m);
        let [d, s] = [counted(d, "dimension"), counted(s, "range")];
        format!("{d}, {s}, {} and {}", counted(rt, "runtime variable"), counted(r, "result"))
    };
    Err(Error::invalid_map(format!("the maps are of different kinds: {}, and {}", say(a), say(b))))
}

/// The intersection of two maps: the points of both domains at which all results are equal.
///
/// Errors: the maps differ in their numbers of variables or results, or are undefined.
pub fn intersect(
    arena: &mut Arena,
    scratch: &mut Scratch,
    a: &IndexingMap,
    b: &IndexingMap,
) -> Result<IndexingMap> {
    match (a.kind(), b.kind()) {
        (MapKind::Undefined, _) | (_, MapKind::Undefined) => {
            return Err(Error::invalid_map("nothing is known about an undefined map"));
        }
        (MapKind::KnownEmpty, _) | (_, MapKind::KnownEmpty) => return Ok(IndexingMap::known_empty(arena)),
        _ => {}
    }
    check_signature(a, b)?;
    let mut both = a.to_builder(arena);
    let mut other = b.to_builder(arena);
    both.state_conditions(arena)?;
    other.state_conditions(arena)?;
    for (v, w) in both.intervals.iter_mut().zip(&other.intervals) {
        *v = v.intersect(*w);
    }
    for (e, i) in &other.constraints {
        both.add_constraint(arena, *e, *i);
    }
    for k in 0..other.results.len() {
        let difference = arena.sub(both.results[k], other.results[k])?;
        both.add_constraint(arena, difference, Interval::point(0));
    }
    both.canonicalize_constraints(arena);
    both.simplify(arena, scratch, PointVariables::Replace);
    both.build(arena)
}

/// A point of one of the domains where two maps differ; `None` if they are equal, in their domains and in all results.
///
/// Errors: the maps differ in their numbers of variables or results; it is not decided within the work limit.
///
/// ```
/// use indexing_core::{difference, read_indexing_map, Arena, ReadScratch, Scratch};
///
/// let (mut arena, mut reading, mut scratch) = (Arena::new(), ReadScratch::default(), Scratch::default());
/// let mut read = |text| read_indexing_map(text, &mut arena, &mut reading);
/// let row = read("(d0) -> (d0 floordiv 4), domain: d0 in [0, 7]")?;
/// let clamped = read("(d0) -> (min(d0 floordiv 3, 1)), domain: d0 in [0, 7]")?;
/// assert_eq!(difference(&mut arena, &mut scratch, &row, &row)?, None);
/// assert_eq!(difference(&mut arena, &mut scratch, &row, &clamped)?, Some(vec![3]));
/// # Ok::<(), indexing_core::Error>(())
/// ```
pub fn difference(
    arena: &mut Arena,
    scratch: &mut Scratch,
    a: &IndexingMap,
    b: &IndexingMap,
) -> Result<Option<Vec<i64>>> {
    if a == b {
        return Ok(None);
    }
    let mut work = Work::new(arena, scratch);
    match (a.kind(), b.kind()) {
        (MapKind::Defined, MapKind::Defined) => check_signature(a, b)?,
        (MapKind::Undefined, _) | (_, MapKind::Undefined) => {
            return Err(Error::invalid_map("nothing is known about an undefined map"));
        }
        (MapKind::KnownEmpty, _) => return work.first_point(b),
        (_, MapKind::KnownEmpty) => return work.first_point(a),
    }
    if let Some(point) = sampled_difference(work.arena, a, b)? {
        return Ok(Some(point));
    }
    // The maps are equal if each part in which they could differ, a map of its own, is empty.
    let mut different = None;
    for_each_differing_part(&mut work, a, b, |work, part| {
        if work.is_over() {
            return Err(Error::undecided("whether the maps differ"));
        }
        if !work.is_empty(&part)? {
            different = work.first_point(&part)?;
        }
        Ok(different.is_some())
    })?;
    Ok(different)
}

impl Work<'_> {
    /// A point of the domain, found by bisecting its box; `None` if there is none.
    pub(super) fn first_point(&mut self, map: &IndexingMap) -> Result<Option<Vec<i64>>> {
        if self.is_empty(map)? {
            return Ok(None);
        }
        let mut map = simplify(self.arena, self.scratch, map, PointVariables::Replace)?;
        for v in 0..map.num_variables() {
            loop {
                let own = map.interval(v);
                if own.is_point() {
                    break;
                }
                let middle = (i128::from(own.lower) + i128::from(own.upper)).div_euclid(2) as i64;
                let lower = restricted(self.arena, &map, v, Interval::new(own.lower, middle))?;
                map = match self.is_empty(&lower)? {
                    true => restricted(self.arena, &map, v, Interval::new(middle + 1, own.upper))?,
                    false => lower,
                };
            }
        }
        Ok(Some(map.intervals().map(|i| i.lower).collect()))
    }
}

fn restricted(arena: &mut Arena, map: &IndexingMap, v: usize, interval: Interval) -> Result<IndexingMap> {
    let mut builder = map.to_builder(arena);
    builder.intervals[v] = interval;
    builder.build(arena)
}

/// A point where the maps differ, among random corners and inner points of both boxes.
fn sampled_difference(arena: &mut Arena, a: &IndexingMap, b: &IndexingMap) -> Result<Option<Vec<i64>>> {
    const SAMPLES: u64 = 256;
    let (da, db) = (a.domain(arena), b.domain(arena));
    let mut scratch = Vec::new();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    for _ in 0..SAMPLES {
        let source = if draw() % 2 == 0 { a } else { b };
        let point: Vec<i64> = source.intervals().map(|i| pick(i, draw(), draw())).collect();
        // Points at which a value overflows int64 are skipped.
        let (Ok(ina), Ok(inb)) = (da.contains(&point, &mut scratch), db.contains(&point, &mut scratch))
        else {
            continue;
        };
        if ina != inb {
            return Ok(Some(point));
        }
        if ina {
            let x = a.dag().evaluate_first(a.num_results(), &point, &mut scratch);
            let y = b.dag().evaluate_first(b.num_results(), &point, &mut scratch);
            if matches!((x, y), (Ok(x), Ok(y)) if x != y) {
                return Ok(Some(point));
            }
        }
    }
    Ok(None)
}

fn pick(i: Interval, choice: u64, value: u64) -> i64 {
    match choice % 4 {
        0 => i.lower,
        1 => i.upper,
        _ => (i128::from(i.lower) + i128::from(value) % (i.count() as i128)) as i64,
    }
}

/// Calls `f` with each part in which the maps may differ: the points in one domain only, and those in both with different
/// results. Stops when `f` returns true.
fn for_each_differing_part(
    work: &mut Work<'_>,
    a: &IndexingMap,
    b: &IndexingMap,
    mut f: impl FnMut(&mut Work<'_>, IndexingMap) -> Result<bool>,
) -> Result<()> {
    let (mut first, mut second) = (a.to_builder(work.arena), b.to_builder(work.arena));
    first.state_conditions(work.arena)?;
    second.state_conditions(work.arena)?;
    for (one, two) in [(&first, &second), (&second, &first)] {
        let bounds = two.intervals.iter().enumerate();
        let bounds: Vec<_> = bounds.map(|(v, i)| (work.arena.variable(v as u32), *i)).collect();
        for (e, i) in bounds.into_iter().chain(two.constraints.iter().copied()) {
            if for_each_side(work, one, e, i, &mut f)? {
                return Ok(());
            }
        }
    }
    let mut both = first.clone();
    both.constraints.extend_from_slice(&second.constraints);
    for (v, w) in both.intervals.iter_mut().zip(&second.intervals) {
        *v = v.intersect(*w);
    }
    for k in 0..first.results.len() {
        let difference = work.arena.sub(first.results[k], second.results[k])?;
        if for_each_side(work, &both, difference, Interval::point(0), &mut f)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Calls `f` with `map` restricted to `e` below `interval`, then above it, until `f` returns true.
fn for_each_side(
    work: &mut Work<'_>,
    map: &MapBuilder,
    e: Expr,
    interval: Interval,
    f: &mut impl FnMut(&mut Work<'_>, IndexingMap) -> Result<bool>,
) -> Result<bool> {
    for side in interval.complement() {
        let mut part = map.clone();
        part.add_constraint(work.arena, e, side);
        let closed = part.build(work.arena)?;
        if closed.kind() == MapKind::Defined && f(work, closed)? {
            return Ok(true);
        }
    }
    Ok(false)
}
