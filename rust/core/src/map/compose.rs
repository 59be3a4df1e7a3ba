//! Composition of maps.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::map::names::Names;
use std::ops::Range;

/// Composes `second` after `first`, without simplifying: the results of `first` become the dimensions of `second`, under the
/// constraints and bounds of both. Range variables are those of `second`, then those of `first`; runtime variables likewise.
///
/// Error: the number of results of `first` is not the number of dimensions of `second`.
pub fn compose(arena: &mut Arena, first: &IndexingMap, second: &IndexingMap) -> Result<IndexingMap> {
    let mut map = MapBuilder::default();
    match map.set_to_composition(arena, first, second)? {
        MapKind::Defined => map.build(arena),
        kind => Ok(IndexingMap::without_points(arena, kind)),
    }
}

/// The numbers of two maps' variables by kind. The variables of the composition are the dimensions of the first, the ranges
/// of the second, those of the first, the runtime variables of the second, those of the first.
struct Numbering {
    dims: usize,
    ranges: usize,
    all: usize,
    dims2: usize,
    ranges2: usize,
    all2: usize,
}

impl Numbering {
    fn of(first: &IndexingMap, second: &IndexingMap) -> Self {
        Numbering {
            dims: first.num_dims(),
            ranges: first.num_ranges(),
            all: first.num_variables(),
            dims2: second.num_dims(),
            ranges2: second.num_ranges(),
            all2: second.num_variables(),
        }
    }

    /// The variable of the composition for variable `v` of the first map.
    fn of_first(&self, v: usize) -> usize {
        if v < self.dims {
            v
        } else if v < self.dims + self.ranges {
            v + self.ranges2
        } else {
            v + self.all2 - self.dims2
        }
    }

    /// The variable of the composition for variable `v` of the second map, which is not a dimension.
    fn of_second(&self, v: usize) -> usize {
        if v < self.dims2 + self.ranges2 {
            v - self.dims2 + self.dims
        } else {
            v - self.dims2 + self.dims + self.ranges
        }
    }

    /// Calls `f` with runs of adjacent variables of the composition: whether they belong to the first map, and which.
    fn for_each_run(&self, mut f: impl FnMut(bool, Range<usize>)) {
        let (symbols, symbols2) = (self.dims + self.ranges, self.dims2 + self.ranges2);
        if self.all2 == self.dims2 {
            return f(true, 0..self.all);
        }
        f(true, 0..self.dims);
        for (of_first, run) in [
            (false, self.dims2..symbols2),
            (true, self.dims..symbols),
            (false, symbols2..self.all2),
            (true, symbols..self.all),
        ] {
            if !run.is_empty() {
                f(of_first, run);
            }
        }
    }

    fn names(&self, first: &Names, second: &Names) -> Names {
        if first.are_default() && second.are_default() {
            return Names::default();
        }
        let mut names = Vec::with_capacity(self.all + self.all2 - self.dims2);
        self.for_each_run(|of_first, run| {
            let given = if of_first { first } else { second };
            names.extend(run.map(|v| given.get(v)));
        });
        Names::canonicalized(names.into_iter())
    }
}

impl MapBuilder {
    /// Sets this builder to `second` after `first`, as [`compose`]; leaves it incomplete if the kind returned is not
    /// [`MapKind::Defined`].
    #[inline]
    pub(crate) fn set_to_composition(
        &mut self,
        arena: &mut Arena,
        first: &IndexingMap,
        second: &IndexingMap,
    ) -> Result<MapKind> {
        match (first.kind(), second.kind()) {
            (MapKind::Defined, MapKind::Defined) => {}
            (MapKind::Undefined, _) | (_, MapKind::Undefined) => return Ok(MapKind::Undefined),
            _ => return Ok(MapKind::KnownEmpty),
        }
        if first.num_results() != second.num_dims() {
            return Err(Error::cannot_follow(second.num_dims(), first.num_results()));
        }
        self.clear();
        let numbering = Numbering::of(first, second);
        (self.num_dims, self.num_ranges) = (numbering.dims, numbering.ranges + numbering.ranges2);
        self.names = numbering.names(first.names(), second.names());
        self.intervals.reserve(numbering.all + numbering.all2 - numbering.dims2);
        numbering.for_each_run(|of_first, run| {
            let map = if of_first { first } else { second };
            map.intervals_at(run).for_each(|i| self.intervals.push(i));
        });
        let mut inner = arena.take_args();
        arena.import_moved_into(first.dag(), |v| numbering.of_first(v as usize) as u32, &mut inner);
        let outcome = self.add_composed(arena, first, second, &numbering, &inner);
        arena.give_args(inner);
        outcome
    }

    /// Results and constraints of `second` after `first`, whose results and constraints are `inner`.
    fn add_composed(
        &mut self,
        arena: &mut Arena,
        first: &IndexingMap,
        second: &IndexingMap,
        numbering: &Numbering,
        inner: &[Expr],
    ) -> Result<MapKind> {
        let (results, constraints) = inner.split_at(first.num_results());
        let variable = |arena: &mut Arena, v: u32| match results.get(v as usize) {
            Some(result) => *result,
            None => arena.variable(numbering.of_second(v as usize) as u32),
        };
        match arena.import_with(second.dag(), variable, &mut self.results) {
            // A divisor is 0 at all points.
            Err(e) if e.kind() == ErrorKind::DivisionByZero => return Ok(MapKind::KnownEmpty),
            outcome => outcome?,
        }
        if arena.divides_by_expressions {
            self.add_conditions(arena, second, variable)?;
        }
        self.constraints.extend(constraints.iter().copied().zip(first.constraint_bounds()));
        for (expr, interval) in results.iter().zip(second.intervals()) {
            self.add_constraint(arena, *expr, interval);
        }
        for (k, interval) in second.constraint_bounds().enumerate() {
            self.add_constraint(arena, self.results[second.num_results() + k], interval);
        }
        self.results.truncate(second.num_results());
        Ok(MapKind::Defined)
    }

    /// Adds constraints that no divisor of `map` is 0: divisions may cancel when its variables are replaced.
    #[cold]
    pub(crate) fn add_conditions(
        &mut self,
        arena: &mut Arena,
        map: &IndexingMap,
        variable: impl Fn(&mut Arena, u32) -> Expr,
    ) -> Result<()> {
        let roots = arena.import(map.dag());
        let bounds: Vec<Interval> = map.intervals().collect();
        let (conditions, allowed): (Vec<Expr>, Vec<Interval>) =
            arena.conditions(&bounds, roots.into_iter())?.into_iter().unzip();
        let variables: Vec<Expr> = (0..map.num_variables()).map(|v| variable(arena, v as u32)).collect();
        for (e, interval) in arena.substitute(&conditions, &variables)?.into_iter().zip(allowed) {
            self.add_constraint(arena, e, interval);
        }
        Ok(())
    }
}
