//! Counts of relations by pieces: pairs, and different results.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Arena, Expr};
use crate::map::indexing_map::IndexingMap;
use crate::map::names::Names;
use crate::map::piecewise_map::PiecewiseMap;
use crate::sets::count::Group;
use crate::sets::image::{enumerate, ResultRows, MAX_ENUMERATED};
use crate::sets::work::Work;
use crate::simplify::Scratch;

/// The number of pairs of a point and results, each counted once: the sum of these products.
///
/// Error: it is not found within the work limit.
pub fn count_pairs(arena: &mut Arena, scratch: &mut Scratch, map: &PiecewiseMap) -> Result<Vec<Vec<u128>>> {
    let mut work = Work::new(arena, scratch);
    match by_structure(&mut work, map) {
        Err(e) if e.kind() == ErrorKind::Unsupported => by_enumeration(&mut work, map),
        counts => counts,
    }
}

/// The number of different results, as a sum of products. Error: as [`count_pairs`].
pub fn count_results(arena: &mut Arena, scratch: &mut Scratch, map: &PiecewiseMap) -> Result<Vec<Vec<u128>>> {
    let image = |m: &IndexingMap| {
        let mut builder = m.to_builder(arena);
        (builder.num_dims, builder.num_ranges) = (0, builder.intervals.len());
        builder.names = Names::default();
        builder.build(arena)
    };
    let images = map.pieces().iter().map(image).collect::<Result<_>>()?;
    count_pairs(arena, scratch, &PiecewiseMap::new(images)?)
}

fn by_structure(work: &mut Work<'_>, map: &PiecewiseMap) -> Result<Vec<Vec<u128>>> {
    let parts = work.disjoint(map)?;
    parts.iter().map(|part| count_of(work, part)).collect()
}

/// The number of pairs of a map, as factors.
fn count_of(work: &mut Work<'_>, map: &IndexingMap) -> Result<Vec<u128>> {
    if map.num_ranges() == 0 {
        return work.count(map);
    }
    let pairs = with_points(work.arena, map)?;
    work.image_count(&pairs)
}

/// The map from all variables to a point and its results.
fn with_points(arena: &mut Arena, map: &IndexingMap) -> Result<IndexingMap> {
    let mut builder = map.to_builder(arena);
    let symbols = builder.num_dims + builder.num_ranges;
    let point: Vec<Expr> = (0..builder.num_dims)
        .chain(symbols..builder.intervals.len())
        .map(|v| arena.variable(v as u32))
        .collect();
    builder.results.splice(0..0, point);
    builder.build(arena)
}

/// The number of pairs, by a list of all of them.
fn by_enumeration(work: &mut Work<'_>, map: &PiecewiseMap) -> Result<Vec<Vec<u128>>> {
    let size = |m: &IndexingMap| m.intervals().fold(1u128, |n, i| n.saturating_mul(i.count()));
    if map.pieces().iter().map(size).fold(0u128, u128::saturating_add) > MAX_ENUMERATED {
        return Err(Error::undecided("the number of pairs"));
    }
    let mut rows = ResultRows::default();
    for piece in map.pieces() {
        let pairs = with_points(work.arena, piece)?.to_builder(work.arena);
        if pairs.results.is_empty() {
            return Err(Error::undecided("the number of pairs"));
        }
        let all = Group {
            variables: (0..pairs.intervals.len()).collect(),
            constraints: (0..pairs.constraints.len()).collect(),
            results: Vec::new(),
        };
        let listed = enumerate(work, &pairs, &all, &pairs.results)?;
        rows.width = listed.width;
        rows.values.extend(listed.values);
    }
    Ok(vec![vec![rows.count_distinct() as u128]])
}
