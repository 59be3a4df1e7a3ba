//! Fewer and simpler pieces of the same relation.

use crate::error::Result;
use crate::expr::Arena;
use crate::map::indexing_map::{IndexingMap, MapKind};
use crate::map::piecewise_map::PiecewiseMap;
use crate::map::simplify::simplify;
use crate::sets::work::Work;
use crate::simplify::domain::PointVariables;
use crate::simplify::Scratch;

/// The budget of deciding whether two pieces are one.
const JOINING_BUDGET: u64 = 1 << 18;
/// Of more pieces, only neighbours in their order are compared.
const MAX_COMPARED: usize = 64;

/// The same relation: each piece simplified, without pieces that are empty or in others, and with two pieces as one where they
/// fill its box. What is not decided with little work stays as it is.
pub fn simplify_pieces(arena: &mut Arena, scratch: &mut Scratch, map: &PiecewiseMap) -> Result<PiecewiseMap> {
    let simple = |m: &IndexingMap| simplify(arena, scratch, m, PointVariables::Replace);
    let simple = PiecewiseMap::new(map.pieces().iter().map(simple).collect::<Result<_>>()?)?;
    let mut work = Work::new(arena, scratch);
    let mut pieces = simple.pieces().to_vec();
    pieces.retain(|p| work.within(JOINING_BUDGET, |w| w.is_empty(p)) != Some(true));
    while let Some((k, joined)) = work.first_joined(&pieces) {
        pieces.remove(k.1);
        pieces[k.0] = joined;
        pieces = PiecewiseMap::new(pieces)?.pieces().to_vec();
    }
    PiecewiseMap::new(pieces)
}

impl Work<'_> {
    /// The first two pieces that are one.
    fn first_joined(&mut self, pieces: &[IndexingMap]) -> Option<((usize, usize), IndexingMap)> {
        let far = if pieces.len() > MAX_COMPARED { 1 } else { pieces.len() };
        for i in 0..pieces.len() {
            for j in i + 1..pieces.len().min(i + 1 + far) {
                if let Some(joined) =
                    self.within(JOINING_BUDGET, |w| w.joined_pieces(&pieces[i], &pieces[j])).flatten()
                {
                    return Some(((i, j), joined));
                }
            }
        }
        None
    }

    /// One map with the pairs of both.
    fn joined_pieces(&mut self, a: &IndexingMap, b: &IndexingMap) -> Result<Option<IndexingMap>> {
        for (whole, part) in [(a, b), (b, a)] {
            if self.has_all(&[whole], part)? {
                return Ok(Some(whole.clone()));
            }
        }
        if a.num_ranges() != b.num_ranges() || !are_neighbours(a, b) {
            return Ok(None);
        }
        for (a, b) in [(a, b), (b, a)] {
            let hull = self.hull(a, b)?;
            let fits = hull.kind() == MapKind::Defined
                && self.has_all(&[a, b], &hull)?
                && self.has_all(&[&hull], a)?
                && self.has_all(&[&hull], b)?;
            if fits {
                return Ok(Some(hull));
            }
        }
        Ok(None)
    }

    /// Whether the pairs of `part` are pairs of the others.
    fn has_all(&mut self, others: &[&IndexingMap], part: &IndexingMap) -> Result<bool> {
        let rest = others.iter().try_fold(vec![part.clone()], |rest, other| self.without(rest, other))?;
        rest.iter().try_fold(true, |all, m| Ok(all && self.is_empty(m)?))
    }

    /// The map `a` on the least box that holds both, under the constraints on expressions that both have.
    fn hull(&mut self, a: &IndexingMap, b: &IndexingMap) -> Result<IndexingMap> {
        let (mut hull, other) = (a.to_builder(self.arena), b.to_builder(self.arena));
        for (own, i) in hull.intervals.iter_mut().zip(&other.intervals) {
            *own = own.union(*i);
        }
        hull.constraints.retain_mut(|(e, own)| {
            let same = other.constraints.iter().find(|c| c.0 == *e);
            same.is_some_and(|(_, i)| {
                *own = own.union(*i);
                true
            })
        });
        hull.simplify(self.arena, self.scratch, PointVariables::Replace);
        hull.build(self.arena)
    }
}

/// Whether the least box that holds the boxes of both has no further points: they differ in one variable at most.
fn are_neighbours(a: &IndexingMap, b: &IndexingMap) -> bool {
    let mut differing = a.intervals().zip(b.intervals()).filter(|(x, y)| x != y);
    match (differing.next(), differing.next()) {
        (Some((x, y)), None) => x.union(y).count() <= x.count().saturating_add(y.count()),
        (first, _) => first.is_none(),
    }
}
