//! Replica maps: from an index and the id of the reading replica to the ids of the replicas read.

use crate::error::Result;
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::map::simplify::range_of;
use crate::simplify::domain::PointVariables;
use crate::simplify::Scratch;

/// Composes replica maps: `asked` after `own`, at the index that `first` gives.
pub(super) fn compose(
    arena: &mut Arena,
    scratch: &mut Scratch,
    (first, own): (&IndexingMap, Option<&IndexingMap>),
    asked: &IndexingMap,
) -> Result<IndexingMap> {
    if first.num_variables() > first.num_dims() {
        return bound_replicas(arena, scratch, first, asked);
    }
    let mut map = MapBuilder::default();
    match own {
        None => {
            if map.set_to_composition(arena, first, asked)? != MapKind::Defined {
                return Ok(IndexingMap::known_empty(arena));
            }
        }
        Some(own) => map = compose_with_own(arena, first, own, asked)?,
    }
    map.canonicalize_constraints(arena);
    map.simplify(arena, scratch, PointVariables::Replace);
    if !map.known_empty {
        map.remove_unused_symbols(arena)?;
    }
    map.build(arena)
}

/// A map over the dimensions of `first`, the ranges of `asked` and of `own`, and the runtime variable of `own`.
fn compose_with_own(
    arena: &mut Arena,
    first: &IndexingMap,
    own: &IndexingMap,
    asked: &IndexingMap,
) -> Result<MapBuilder> {
    let (dims, ranges, own_ranges) = (first.num_dims(), asked.num_ranges(), own.num_ranges());
    let index = results(arena, first)?;
    let own_places: Vec<Expr> = (0..own.num_variables())
        .map(|v| arena.variable(if v < dims { v } else { v + ranges } as u32))
        .collect();
    let own_all = arena.import_substituted(own.dag(), &own_places)?;
    let middle = own_all[0];
    let asked_places: Vec<Expr> = (0..asked.num_variables())
        .map(|v| match v {
            v if v < index.len() => index[v],
            v if v < index.len() + ranges => arena.variable((dims + v - index.len()) as u32),
            _ => middle,
        })
        .collect();
    let asked_all = arena.import_substituted(asked.dag(), &asked_places)?;
    let mut map = MapBuilder { num_dims: dims, num_ranges: ranges + own_ranges, ..MapBuilder::default() };
    map.intervals.extend(first.intervals().take(dims));
    map.intervals.extend(asked.intervals_at(index.len()..index.len() + ranges));
    map.intervals.extend(own.intervals_at(dims..own.num_variables()));
    map.results.push(asked_all[0]);
    map.constraints.extend(asked_all[asked.num_results()..].iter().copied().zip(asked.constraint_bounds()));
    map.constraints.extend(own_all[own.num_results()..].iter().copied().zip(own.constraint_bounds()));
    map.constraints.extend(index.iter().copied().zip(asked.intervals()));
    let runtimes = asked.intervals_at(index.len() + ranges..asked.num_variables());
    map.constraints.extend(runtimes.map(|interval| (middle, interval)));
    Ok(map)
}

fn results(arena: &mut Arena, map: &IndexingMap) -> Result<Vec<Expr>> {
    let mut roots = arena.import(map.dag());
    roots.truncate(map.num_results());
    Ok(roots)
}

/// A bound, where symbols of `first` relate index and replica: the replicas that are read at any index.
fn bound_replicas(
    arena: &mut Arena,
    scratch: &mut Scratch,
    first: &IndexingMap,
    asked: &IndexingMap,
) -> Result<IndexingMap> {
    let builder = asked.to_builder(arena);
    let replicas: Interval = range_of(arena, scratch, &builder, builder.results[0]);
    let dims = first.num_dims();
    let mut map = MapBuilder { num_dims: dims, num_ranges: 1, ..MapBuilder::default() };
    map.intervals.extend(first.intervals().take(dims));
    map.intervals.push(replicas);
    map.results.push(arena.variable(dims as u32));
    map.build(arena)
}
