//! The exact number of points of a domain, and whether it has any.
//!
//! Groups of variables that no constraint links are counted separately, and the counts multiplied: a box of any size costs
//! nothing. A group is counted by bisection, or, where that takes long, by the digits of its variables.

use crate::error::{Error, Result};
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
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

impl Group {
    /// The group without the rest of its map, with these results.
    pub(super) fn alone(&self, map: &MapBuilder, results: &[Expr]) -> MapBuilder {
        let mut part = map.clone();
        part.results = results.to_vec();
        part.constraints = self.constraints.iter().map(|k| map.constraints[*k]).collect();
        for v in (0..map.intervals.len()).filter(|v| !self.variables.contains(v)) {
            part.intervals[v] = Interval::point(map.intervals[v].lower);
        }
        part
    }

    /// The number of points in the box of its variables, at most that of u128.
    pub(super) fn box_size(&self, map: &MapBuilder) -> u128 {
        self.variables.iter().fold(1u128, |n, v| n.saturating_mul(map.intervals[*v].count()))
    }
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
}
