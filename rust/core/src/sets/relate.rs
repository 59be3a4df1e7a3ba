//! Relations between two maps: their intersection, and a point where they differ.

use crate::error::{counted, Error, Result};
use crate::expr::Arena;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapKind};
use crate::sets::membership::membership;
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

/// The map with its range variables as dimensions: each point has one result.
fn as_function(arena: &mut Arena, map: &IndexingMap) -> Result<IndexingMap> {
    let mut builder = map.to_builder(arena);
    builder.num_dims += std::mem::take(&mut builder.num_ranges);
    builder.build(arena)
}

/// The map without results, on the domain that these leave it.
fn domain_of(arena: &mut Arena, map: &IndexingMap) -> Result<IndexingMap> {
    let mut builder = map.to_builder(arena);
    builder.state_conditions(arena)?;
    builder.results.clear();
    builder.build(arena)
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
    let (one, other) = (as_function(work.arena, a)?, as_function(work.arena, b)?);
    if let Some(point) = work.first_outside(one.clone(), &other)? {
        return Ok(Some(point));
    }
    let (one, other) = (domain_of(work.arena, &one)?, domain_of(work.arena, &other)?);
    work.first_outside(other, &one)
}

impl Work<'_> {
    /// A point at which the results of a map are not those of another one.
    fn first_outside(&mut self, map: IndexingMap, other: &IndexingMap) -> Result<Option<Vec<i64>>> {
        if map == *other {
            return Ok(None);
        }
        let conjunctions = membership(self, other)?;
        let rest = self.outside(map, &conjunctions)?;
        rest.iter().find_map(|part| self.first_point(part).transpose()).transpose()
    }
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
