//! Work on relations by pieces: differences, intersections, and questions about them.

use crate::error::{Error, Result};
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder};
use crate::map::names::Names;
use crate::map::piecewise_map::{check_count, check_signatures, PiecewiseMap};
use crate::map::simplify::{compose_simplified, simplify};
use crate::sets::membership::{membership, parts_outside, Conjunction};
use crate::sets::work::Work;
use crate::simplify::domain::PointVariables;
use crate::simplify::Scratch;

/// The budget of finding out that a part is empty, and may be left out.
const PRUNING_BUDGET: u64 = 1 << 16;

impl Work<'_> {
    /// Whether a map is found to be empty with little work.
    fn is_seen_empty(&mut self, map: &IndexingMap) -> bool {
        self.within(PRUNING_BUDGET, |work| work.is_empty(map)) == Some(true)
    }

    fn check_limit(&self) -> Result<()> {
        match self.is_over() {
            true => Err(Error::undecided("the difference of the relations")),
            false => Ok(()),
        }
    }

    /// The common pairs of two maps, with the range variables of both.
    pub fn common(&mut self, a: &IndexingMap, b: &IndexingMap) -> Result<IndexingMap> {
        let (mut both, results) = self.joined(a, b)?;
        for (x, y) in both.results.clone().into_iter().zip(results) {
            let difference = self.arena.sub(x, y)?;
            both.add_constraint(self.arena, difference, Interval::point(0));
        }
        both.canonicalize_constraints(self.arena);
        both.simplify(self.arena, self.scratch, PointVariables::Replace);
        both.build(self.arena)
    }

    /// The points of both maps, with the range variables of `a`, then those of `b`, and the results of `a`; beside it, the
    /// results of `b`.
    pub fn joined(&mut self, a: &IndexingMap, b: &IndexingMap) -> Result<(MapBuilder, Vec<Expr>)> {
        let (dims, ranges, others) = (a.num_dims(), a.num_ranges(), b.num_ranges());
        let count = a.num_variables() + others;
        let mut both = self.spread(a, count, |v| if v < dims + ranges { v } else { v + others })?;
        let other = self.spread(b, count, |v| if v < dims { v } else { v + ranges })?;
        both.num_ranges += others;
        for (own, i) in both.intervals.iter_mut().zip(&other.intervals) {
            *own = own.intersect(*i);
        }
        both.known_empty |= both.intervals.iter().any(|i| i.is_empty());
        both.constraints.extend_from_slice(&other.constraints);
        Ok((both, other.results))
    }

    /// The map as one of `count` variables, its own at other places, with all conditions stated.
    fn spread(
        &mut self,
        map: &IndexingMap,
        count: usize,
        place: impl Fn(usize) -> usize,
    ) -> Result<MapBuilder> {
        let mut builder = map.to_builder(self.arena);
        builder.state_conditions(self.arena)?;
        let own = std::mem::replace(&mut builder.intervals, vec![Interval::ALL; count]);
        let moved: Vec<Expr> = (0..own.len()).map(|v| self.arena.variable(place(v) as u32)).collect();
        builder.substitute(self.arena, &moved)?;
        own.iter().enumerate().for_each(|(v, i)| builder.intervals[place(v)] = *i);
        if count > own.len() {
            builder.names = Names::default();
        }
        Ok(builder)
    }

    /// Whether maps are found to have no common pair with little work.
    fn are_seen_disjoint(&mut self, a: &IndexingMap, b: &IndexingMap) -> bool {
        let boxes = |m: &IndexingMap| m.intervals_at(0..m.num_dims()).collect::<Vec<_>>();
        let apart = boxes(a).iter().zip(boxes(b)).any(|(x, y)| x.intersect(y).is_empty());
        apart || self.common(a, b).is_ok_and(|common| self.is_seen_empty(&common))
    }

    /// The pairs of `parts` that `b` does not have.
    pub fn without(&mut self, parts: Vec<IndexingMap>, b: &IndexingMap) -> Result<Vec<IndexingMap>> {
        let mut conjunctions = None;
        let mut rest = Vec::new();
        for part in parts.into_iter().filter(|part| part != b) {
            if self.are_seen_disjoint(&part, b) {
                rest.push(part);
                continue;
            }
            let conjunctions = match &mut conjunctions {
                Some(known) => known,
                unknown => unknown.insert(membership(self, b)?),
            };
            rest.extend(self.outside(part, conjunctions)?);
        }
        check_count(rest.len())?;
        Ok(rest)
    }

    /// The parts of a map at which none of the conjunctions holds.
    pub(super) fn outside(
        &mut self,
        part: IndexingMap,
        conjunctions: &[Conjunction],
    ) -> Result<Vec<IndexingMap>> {
        let mut rest = vec![part];
        for conjunction in conjunctions {
            let mut next = Vec::new();
            for part in rest {
                self.check_limit()?;
                next.extend(parts_outside(self, &part, conjunction)?);
            }
            next.retain(|part| !self.is_seen_empty(part));
            check_count(next.len())?;
            rest = next;
        }
        Ok(rest)
    }

    /// Pieces with the same pairs together, and no pair in common. Those without range variables are taken out of the others.
    pub fn disjoint(&mut self, map: &PiecewiseMap) -> Result<Vec<IndexingMap>> {
        let mut pieces = map.pieces().to_vec();
        pieces.sort_by_key(IndexingMap::num_ranges);
        let mut all = Vec::new();
        for (k, piece) in pieces.iter().enumerate() {
            let start = vec![piece.clone()];
            all.extend(pieces[..k].iter().try_fold(start, |rest, earlier| self.without(rest, earlier))?);
        }
        Ok(all)
    }

    fn difference(&mut self, a: &PiecewiseMap, b: &PiecewiseMap) -> Result<Vec<IndexingMap>> {
        check_signatures(a.signature(), b.signature())?;
        b.pieces().iter().try_fold(a.pieces().to_vec(), |rest, piece| self.without(rest, piece))
    }

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

    /// Whether all maps are empty: false if one has a point, although others are not decided.
    fn are_empty(&mut self, maps: &[IndexingMap]) -> Result<bool> {
        let answers: Vec<Result<bool>> = maps.iter().map(|m| self.is_empty(m)).collect();
        if answers.iter().any(|a| a == &Ok(false)) {
            return Ok(false);
        }
        answers.into_iter().try_fold(true, |all, answer| Ok(all && answer?))
    }
}

fn restricted(arena: &mut Arena, map: &IndexingMap, v: usize, interval: Interval) -> Result<IndexingMap> {
    let mut builder = map.to_builder(arena);
    builder.intervals[v] = interval;
    builder.build(arena)
}

/// The pairs of `a` that `b` does not have, in disjoint pieces where those of `a` are disjoint.
///
/// Errors: the numbers of variables or results differ; range variables of `b` cannot be eliminated.
pub fn subtract(
    arena: &mut Arena,
    scratch: &mut Scratch,
    a: &PiecewiseMap,
    b: &PiecewiseMap,
) -> Result<PiecewiseMap> {
    PiecewiseMap::new(Work::new(arena, scratch).difference(a, b)?)
}

/// The common pairs of two relations. Error: the numbers of variables or results differ.
pub fn common_pairs(
    arena: &mut Arena,
    scratch: &mut Scratch,
    a: &PiecewiseMap,
    b: &PiecewiseMap,
) -> Result<PiecewiseMap> {
    check_signatures(a.signature(), b.signature())?;
    let mut work = Work::new(arena, scratch);
    PiecewiseMap::new(for_each_pair(a, b, |p, q| work.common(p, q))?)
}

fn for_each_pair<T>(
    a: &PiecewiseMap,
    b: &PiecewiseMap,
    mut f: impl FnMut(&IndexingMap, &IndexingMap) -> Result<T>,
) -> Result<Vec<T>> {
    check_count(a.pieces().len() * b.pieces().len())?;
    a.pieces().iter().flat_map(|p| b.pieces().iter().map(move |q| (p, q))).map(|(p, q)| f(p, q)).collect()
}

/// Whether a relation has no pairs. Error: it is not decided within the work limit.
pub fn has_no_pairs(arena: &mut Arena, scratch: &mut Scratch, map: &PiecewiseMap) -> Result<bool> {
    Work::new(arena, scratch).are_empty(map.pieces())
}

/// Whether two relations have no pair in common. Errors: as [`common_pairs`], [`has_no_pairs`].
pub fn are_disjoint(
    arena: &mut Arena,
    scratch: &mut Scratch,
    a: &PiecewiseMap,
    b: &PiecewiseMap,
) -> Result<bool> {
    let common = common_pairs(arena, scratch, a, b)?;
    has_no_pairs(arena, scratch, &common)
}

/// Whether `a` has all pairs of `b`. Errors: as [`subtract`], [`has_no_pairs`].
pub fn covers(arena: &mut Arena, scratch: &mut Scratch, a: &PiecewiseMap, b: &PiecewiseMap) -> Result<bool> {
    let mut work = Work::new(arena, scratch);
    let rest = work.difference(b, a)?;
    work.are_empty(&rest)
}

/// A point, its dimensions and its runtime variables, at which the results of two relations differ; `None` if the relations are
/// equal. Errors: as [`covers`].
pub fn differing_point(
    arena: &mut Arena,
    scratch: &mut Scratch,
    a: &PiecewiseMap,
    b: &PiecewiseMap,
) -> Result<Option<(Vec<i64>, Vec<i64>)>> {
    let mut work = Work::new(arena, scratch);
    let mut rest = work.difference(a, b)?;
    rest.extend(work.difference(b, a)?);
    for part in rest {
        if let Some(mut point) = work.first_point(&part)? {
            let runtimes = point.split_off(part.num_dims() + part.num_ranges());
            point.truncate(part.num_dims());
            return Ok(Some((point, runtimes)));
        }
    }
    Ok(None)
}

/// Whether each point has one result at most. Errors: as [`has_no_pairs`].
pub fn is_function(arena: &mut Arena, scratch: &mut Scratch, map: &PiecewiseMap) -> Result<bool> {
    let mut work = Work::new(arena, scratch);
    let mut parts = Vec::new();
    for (k, p) in map.pieces().iter().enumerate() {
        let from = if p.num_ranges() > 0 { k } else { k + 1 }; // itself, if it may have several
        for q in &map.pieces()[from..] {
            let (both, others) = work.joined(p, q)?;
            for (x, y) in both.results.iter().zip(others) {
                let difference = work.arena.sub(*x, y)?;
                for side in Interval::point(0).complement() {
                    let mut part = both.clone();
                    part.add_constraint(work.arena, difference, side);
                    parts.push(part.build(work.arena)?);
                }
            }
        }
    }
    work.are_empty(&parts)
}

/// The pairs `(x, z)` with `(x, y)` in `first` and `(y, z)` in `second`. Errors: as [`crate::compose`]; too many pieces.
pub fn compose_pieces(
    arena: &mut Arena,
    scratch: &mut Scratch,
    first: &PiecewiseMap,
    second: &PiecewiseMap,
) -> Result<PiecewiseMap> {
    PiecewiseMap::new(for_each_pair(first, second, |p, q| compose_simplified(arena, scratch, p, q))?)
}

/// The inverse relation: each piece's. Errors: as [`crate::inverse`].
pub fn inverse_pieces(arena: &mut Arena, scratch: &mut Scratch, map: &PiecewiseMap) -> Result<PiecewiseMap> {
    let mut work = Work::new(arena, scratch);
    let pieces = map.pieces().iter().map(|p| work.inverse(p));
    PiecewiseMap::new(pieces.collect::<Result<_>>()?)
}
