//! Simplification of maps: a map becomes a [`DomainSimplifier`], and is read back.

use crate::error::Result;
use crate::expr::{variable_bit, Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::simplify::certificate::Certificate;
use crate::simplify::domain::{DomainSimplifier, Options, PointVariables};
use crate::simplify::presburger::tightest_bounds;
use crate::simplify::{Scratch, Status};

impl MapBuilder {
    fn take_domain(&mut self, options: Options) -> DomainSimplifier {
        DomainSimplifier {
            bounds: std::mem::take(&mut self.intervals),
            constraints: std::mem::take(&mut self.constraints),
            results: std::mem::take(&mut self.results),
            options,
        }
    }

    fn put_domain(&mut self, domain: DomainSimplifier) {
        self.intervals = domain.bounds;
        self.results = domain.results;
        self.constraints = domain.constraints;
    }

    /// A map in the memory of `scratch`, until that is given back.
    fn within(scratch: &mut Scratch) -> Self {
        let DomainSimplifier { bounds, constraints, results, .. } = std::mem::take(&mut scratch.lists);
        MapBuilder { intervals: bounds, constraints, results, ..MapBuilder::default() }
    }

    fn give_back(self, scratch: &mut Scratch) {
        let MapBuilder { intervals, constraints, results, .. } = self;
        scratch.lists =
            DomainSimplifier { bounds: intervals, constraints, results, ..DomainSimplifier::default() };
    }

    /// Simplifies results and constraints on the domain, and tightens bounds. Keeps unused variables.
    pub fn simplify(&mut self, arena: &mut Arena, scratch: &mut Scratch, options: impl Into<Options>) {
        if !self.known_empty {
            let mut domain = self.take_domain(options.into());
            self.known_empty = domain.simplify(arena, scratch).empty;
            self.put_domain(domain);
        }
    }

    /// As [`MapBuilder::simplify`], but `scratch` does not hold the domain afterwards if there was nothing to do: then it
    /// returns false.
    #[inline]
    pub(crate) fn simplify_if_needed(
        &mut self,
        arena: &mut Arena,
        scratch: &mut Scratch,
        options: impl Into<Options>,
    ) -> bool {
        let options = options.into();
        let is_needed = !self.is_simplified(arena, options.points);
        if is_needed {
            self.simplify(arena, scratch, options);
        }
        is_needed
    }

    /// Whether no rule can apply, at a glance. Most maps of a program are like this: permuted variables, constant offsets.
    fn is_simplified(&self, arena: &Arena, points: PointVariables) -> bool {
        self.constraints.is_empty() && {
            let point = |(_, i): &(usize, &Interval)| points == PointVariables::Replace && i.is_point();
            let points = self.intervals.iter().enumerate().filter(point);
            let replaced = points.fold(0, |all, (v, _)| all | variable_bit(v));
            self.results.iter().all(|r| arena.is_plain(*r, replaced))
        }
    }
}

/// Simplifies a map to an equal one of no greater cost: see [`MapBuilder::simplify`].
pub fn simplify(
    arena: &mut Arena,
    scratch: &mut Scratch,
    map: &IndexingMap,
    options: impl Into<Options>,
) -> Result<IndexingMap> {
    if map.kind() != MapKind::Defined {
        return Ok(map.clone());
    }
    let mut builder = MapBuilder::within(scratch);
    map.rebuild_into(arena, &mut builder);
    let value = match builder.simplify_if_needed(arena, scratch, options) {
        true => builder.take_map(arena),
        false => Ok(map.clone()),
    };
    builder.give_back(scratch);
    value
}

/// Whether [`simplify`] completes within its budget of work. Its result is equal to the map either way.
pub fn simplifies_fully(arena: &mut Arena, scratch: &mut Scratch, map: &IndexingMap) -> bool {
    if map.kind() != MapKind::Defined {
        return true;
    }
    let mut builder = map.to_builder(arena);
    builder.take_domain(Options::default()).simplify(arena, scratch).status == Status::Complete
}

/// Composes `second` after `first`, and simplifies.
pub fn compose_simplified(
    arena: &mut Arena,
    scratch: &mut Scratch,
    first: &IndexingMap,
    second: &IndexingMap,
) -> Result<IndexingMap> {
    let mut map = MapBuilder::within(scratch);
    let value = match map.set_to_composition(arena, first, second) {
        Ok(MapKind::Defined) => {
            map.simplify_if_needed(arena, scratch, Options::default());
            map.take_map(arena)
        }
        Ok(kind) => Ok(IndexingMap::without_points(arena, kind)),
        Err(error) => Err(error),
    };
    map.give_back(scratch);
    value
}

/// Simplifies a map; its certificate refers to the arena.
pub fn certify(
    arena: &mut Arena,
    scratch: &mut Scratch,
    map: &IndexingMap,
    options: impl Into<Options>,
) -> Result<(IndexingMap, Certificate)> {
    if map.kind() != MapKind::Defined {
        return Ok((map.clone(), Certificate::default()));
    }
    let mut builder = map.to_builder(arena);
    let mut domain = builder.take_domain(options.into());
    let outcome = domain.certify(arena, scratch);
    builder.known_empty = outcome.empty;
    builder.put_domain(domain);
    Ok((builder.build(arena)?, outcome.certificate))
}

/// An interval that holds all values of `e` on the domain of `map`; empty if the domain is.
pub fn range_of(arena: &mut Arena, scratch: &mut Scratch, map: &MapBuilder, e: Expr) -> Interval {
    let mut domain = DomainSimplifier {
        bounds: map.intervals.clone(),
        constraints: map.constraints.clone(),
        results: vec![e],
        ..DomainSimplifier::default()
    };
    if map.known_empty || domain.simplify(arena, scratch).empty {
        return Interval::EMPTY;
    }
    let simplified = domain.results[0];
    let known = scratch.ranges.bounds(arena, simplified).intersect(scratch.ranges.bounds(arena, e));
    tightest_bounds(arena, &mut scratch.ranges, &domain.constraints, simplified, known)
}

/// Simplifies `e` with variable `i` in `bounds[i]`; variables beyond the list may have any value.
pub fn simplify_expr(arena: &mut Arena, scratch: &mut Scratch, e: Expr, bounds: Vec<Interval>) -> Expr {
    on_box(arena, scratch, e, bounds).0
}

/// As [`simplify_expr`], with that box left in `scratch`; false if `e` is defined nowhere.
fn on_box(arena: &mut Arena, scratch: &mut Scratch, e: Expr, mut bounds: Vec<Interval>) -> (Expr, bool) {
    if arena.divides_by_expressions {
        // A nonzero divisor may bound any variable.
        let used = arena.variables(&[e]).last().map_or(0, |v| *v as usize + 1);
        bounds.resize(bounds.len().max(used), Interval::ALL);
    }
    let mut domain = DomainSimplifier { bounds, results: vec![e], ..DomainSimplifier::default() };
    let empty = domain.simplify(arena, scratch).empty;
    (domain.results[0], !empty)
}

/// An interval that holds all values of `e` with variable `i` in `bounds[i]`.
pub fn range_on_box(arena: &mut Arena, scratch: &mut Scratch, e: Expr, bounds: Vec<Interval>) -> Interval {
    if bounds.iter().any(|b| b.is_empty()) {
        return Interval::EMPTY;
    }
    let (simplified, defined) = on_box(arena, scratch, e, bounds);
    if !defined {
        return Interval::EMPTY;
    }
    let known = scratch.ranges.bounds(arena, simplified).intersect(scratch.ranges.bounds(arena, e));
    tightest_bounds(arena, &mut scratch.ranges, &[], simplified, known)
}

/// Whether `e` is known to be a multiple of `factor` for all values of its variables.
pub fn is_multiple_of(arena: &mut Arena, scratch: &mut Scratch, e: Expr, factor: i64) -> bool {
    match arena.as_constant(e) {
        Some(c) => c == 0 || (factor != 0 && c.checked_rem(factor).unwrap_or(0) == 0),
        None if factor == 0 => false,
        None => {
            scratch.ranges.reset(std::iter::empty());
            let info = scratch.ranges.info(arena, e);
            let divides = |x: i64| x.checked_rem(factor).unwrap_or(0) == 0;
            divides(info.modulus) && divides(info.residue)
        }
    }
}
