//! The relation of a map as constraints on a point and its results, without quantifiers.
//!
//! A point is the values of dimensions and runtime variables. It is related to all results that the range variables give it:
//! `(p, y)` is in the relation if some values of the range variables satisfy the constraints and make the results `y`. A
//! difference of relations needs this as constraints on `p` and `y` alone. The inverse solves `y` for the range variables;
//! variables of few values that it leaves open are replaced by each of these.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::map::names::Names;
use crate::sets::work::Work;
use crate::simplify::domain::PointVariables;

/// The maximal number of combinations of values that replace variables.
const MAX_COMBINATIONS: u128 = 64;

/// Constraints over dimensions, then results, then runtime variables, in an order in which each is defined where those before
/// it hold.
pub(super) type Conjunction = Vec<(Expr, Interval)>;

/// The conjunctions of which one holds for `(p, y)` if and only if it is in the relation of the map.
///
/// Error: range variables cannot be eliminated.
pub(super) fn membership(work: &mut Work<'_>, map: &IndexingMap) -> Result<Vec<Conjunction>> {
    if map.num_ranges() == 0 {
        return Ok(vec![of_function(work.arena, map)?]);
    }
    let graph = graph(work.arena, map)?;
    let solved = work.inverse(&graph)?;
    let arena = &mut *work.arena;
    if solved.kind() != MapKind::Defined {
        return Ok(Vec::new());
    }
    let [own, left] = [map, &solved].map(|m| combinations(m).filter(|n| *n <= MAX_COMBINATIONS));
    match (own, left) {
        (_, Some(1)) => Ok(vec![of_domain(arena, &solved)?]),
        (Some(n), left) if left.is_none_or(|m| n < m) => {
            each_value(arena, map)?.iter().map(|m| of_function(arena, m)).collect()
        }
        (_, Some(_)) => each_value(arena, &solved)?.iter().map(|m| of_domain(arena, m)).collect(),
        _ => Err(Error::undecided("which range variables lead to a result")),
    }
}

/// The number of combinations of values of the range variables.
fn combinations(map: &IndexingMap) -> Option<u128> {
    let ranges = map.num_dims()..map.num_dims() + map.num_ranges();
    map.intervals_at(ranges).try_fold(1u128, |n, i| n.checked_mul(i.count()))
}

/// The function from a point and range variables, all of them dimensions, to the point's dimensions and the results: its
/// inverse tells the range variables.
fn graph(arena: &mut Arena, map: &IndexingMap) -> Result<IndexingMap> {
    let mut builder = map.to_builder(arena);
    let dims: Vec<Expr> = (0..builder.num_dims).map(|v| arena.variable(v as u32)).collect();
    builder.results.splice(0..0, dims);
    builder.num_dims += std::mem::take(&mut builder.num_ranges);
    builder.names = Names::default();
    builder.build(arena)
}

/// The maps with each combination of values of the range variables.
fn each_value(arena: &mut Arena, map: &IndexingMap) -> Result<Vec<IndexingMap>> {
    let mut maps = vec![map.to_builder(arena)];
    for v in map.num_dims()..map.num_dims() + map.num_ranges() {
        let Interval { lower, upper } = map.interval(v);
        let values = (lower..=upper).flat_map(|x| maps.iter().map(move |m| (x, m)));
        maps = values
            .map(|(x, m)| {
                let mut m = m.clone();
                m.intervals[v] = Interval::point(x);
                m
            })
            .collect();
    }
    maps.into_iter().map(|m| without_ranges(arena, m)).collect()
}

/// The map with its range variables, each of one value, replaced by these.
fn without_ranges(arena: &mut Arena, mut map: MapBuilder) -> Result<IndexingMap> {
    map.state_conditions(arena)?;
    let ranges = map.num_dims..map.num_dims + map.num_ranges;
    let values: Vec<Expr> = (0..map.intervals.len())
        .map(|v| match ranges.contains(&v) {
            true => arena.constant(map.intervals[v].lower),
            false => arena.variable(v as u32),
        })
        .collect();
    match map.substitute(arena, &values) {
        Err(e) if e.kind() == ErrorKind::DivisionByZero => map.known_empty = true,
        substituted => substituted?,
    }
    let kept: Vec<usize> = (0..map.intervals.len()).filter(|v| !ranges.contains(v)).collect();
    let num_dims = map.num_dims;
    map.reorder(arena, &kept, num_dims, 0)?;
    map.build(arena)
}

/// The relation of a map without range variables: its domain, and that the results are `y`.
fn of_function(arena: &mut Arena, map: &IndexingMap) -> Result<Conjunction> {
    let mut builder = map.to_builder(arena);
    let (dims, results) = (builder.num_dims, builder.results.len());
    let moved: Vec<Expr> = (0..builder.intervals.len())
        .map(|v| arena.variable(if v < dims { v } else { v + results } as u32))
        .collect();
    builder.substitute(arena, &moved)?;
    let mut all = vec![Interval::ALL; dims + results + builder.intervals.len() - dims];
    all[..dims].copy_from_slice(&builder.intervals[..dims]);
    all[dims + results..].copy_from_slice(&builder.intervals[dims..]);
    builder.intervals = all;
    let mut conjunction = in_order(arena, &builder)?;
    for (k, r) in builder.results.iter().enumerate() {
        let y = arena.variable((dims + k) as u32);
        conjunction.push((arena.sub(*r, y)?, Interval::point(0)));
    }
    Ok(conjunction)
}

/// The domain of a map without range variables whose dimensions are those of a point and its results.
fn of_domain(arena: &mut Arena, map: &IndexingMap) -> Result<Conjunction> {
    let builder = map.to_builder(arena);
    in_order(arena, &builder)
}

/// Bounds of variables, conditions that no divisor is 0, constraints.
fn in_order(arena: &mut Arena, map: &MapBuilder) -> Result<Conjunction> {
    let bounded = map.intervals.iter().enumerate().filter(|(_, i)| **i != Interval::ALL);
    let mut all: Conjunction = bounded.map(|(v, i)| (arena.variable(v as u32), *i)).collect();
    let roots = map.results.iter().copied().chain(map.constraints.iter().map(|c| c.0));
    let mut conditions = arena.conditions(&map.intervals, roots)?;
    // A divisor that divides itself has more divisors than those in it.
    conditions.sort_by_key(|(e, _)| arena.divisors(std::iter::once(*e)).len());
    all.extend(conditions);
    all.extend_from_slice(&map.constraints);
    Ok(all)
}

/// The parts of `map` at which `conjunction` does not hold, without common pairs of points and results.
pub(super) fn parts_outside(
    work: &mut Work<'_>,
    map: &IndexingMap,
    conjunction: &Conjunction,
) -> Result<Vec<IndexingMap>> {
    let Work { arena, scratch, .. } = work;
    let mut inside = map.to_builder(arena);
    inside.state_conditions(arena)?;
    let symbols = inside.num_dims + inside.num_ranges;
    let mut values: Vec<Expr> = (0..inside.num_dims).map(|v| arena.variable(v as u32)).collect();
    values.extend_from_slice(&inside.results);
    values.extend((symbols..inside.intervals.len()).map(|v| arena.variable(v as u32)));
    let mut parts = Vec::new();
    for (e, interval) in conjunction {
        let e = match arena.substitute(&[*e], &values) {
            Ok(replaced) => replaced[0],
            // It holds nowhere.
            Err(error) if error.kind() == ErrorKind::DivisionByZero => {
                parts.push(inside.build(arena)?);
                break;
            }
            Err(error) => return Err(error),
        };
        for side in interval.complement() {
            let mut part = inside.clone();
            part.add_constraint(arena, e, side);
            part.canonicalize_constraints(arena);
            part.simplify(arena, scratch, PointVariables::Replace);
            let part = part.build(arena)?;
            if part.kind() == MapKind::Defined {
                parts.push(part);
            }
        }
        inside.add_constraint(arena, e, *interval);
        inside.canonicalize_constraints(arena);
        if inside.known_empty {
            break;
        }
    }
    Ok(parts)
}
