//! Changes of variables that keep the points of a domain, or the results of a map: what they have in common.

use crate::expr::{Arena, Expr, Node, Term};
use crate::interval::Interval;
use crate::map::indexing_map::MapBuilder;
use crate::map::names::Names;
use crate::sets::work::Work;
use crate::simplify::domain::PointVariables;

/// The changes of variables that led to a map.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    /// The places of the high and the low digit of each number that was split, and the radix: they are not joined again.
    pub splits: Vec<([usize; 2], u128)>,
    length: usize,
}

/// So many changes of variables may follow one another.
const MAX_LENGTH: usize = 24;

impl Path {
    /// The path to the next map.
    pub(super) fn next(&self) -> Path {
        Path { length: self.length + 1, ..self.clone() }
    }

    pub(super) fn is_start(&self) -> bool {
        self.length == 0
    }

    /// Whether another change may follow.
    pub(super) fn goes_on(&self) -> bool {
        self.length < MAX_LENGTH
    }
}

/// The expressions of a map.
pub(super) fn roots(map: &MapBuilder) -> Vec<Expr> {
    map.results.iter().copied().chain(map.constraints.iter().map(|(e, _)| *e)).collect()
}

impl Work<'_> {
    /// Simplifies a map whose variables changed. Those that are left are dimensions.
    pub(super) fn simplify(&mut self, map: &mut MapBuilder) {
        (map.num_dims, map.num_ranges, map.names) = (map.intervals.len(), 0, Names::default());
        map.simplify(self.arena, self.scratch, PointVariables::Replace);
        map.canonicalize_constraints(self.arena);
    }

    /// A map for some of the values of a variable.
    pub(super) fn restricted(&mut self, map: &MapBuilder, variable: usize, values: Interval) -> MapBuilder {
        let mut part = map.clone();
        part.intervals[variable] = values;
        self.simplify(&mut part);
        part
    }

    /// Replaces a variable that an equation determines by the other side, if there is one; its bounds become a constraint. Then
    /// simplifies. Whether there was one.
    pub(super) fn solve_equation(&mut self, map: &mut MapBuilder) -> bool {
        let solved = (0..map.constraints.len()).find_map(|k| solution(self.arena, map, k).map(|s| (k, s)));
        let Some((k, (variable, value))) = solved else { return false };
        let mut variables = self.variables(map);
        variables[variable] = value;
        let mut new = map.clone();
        new.constraints.swap_remove(k);
        if new.substitute(self.arena, &variables).is_err() {
            return false;
        }
        let own = std::mem::replace(&mut new.intervals[variable], Interval::point(0));
        new.add_constraint(self.arena, value, own);
        self.simplify(&mut new);
        *map = new;
        true
    }

    /// The variables of a map as expressions.
    pub(super) fn variables(&mut self, map: &MapBuilder) -> Vec<Expr> {
        (0..map.intervals.len()).map(|v| self.arena.variable(v as u32)).collect()
    }
}

/// A variable with coefficient 1 or -1 in constraint `k`, which is an equation, and what it is equal to.
fn solution(arena: &mut Arena, map: &MapBuilder, k: usize) -> Option<(usize, Expr)> {
    let (e, interval) = map.constraints[k];
    let Node::Sum(_, terms) = arena.node(e) else { return None };
    let terms: Vec<Term> = terms.iter().filter(|t| t.coeff.abs() == 1).copied().collect();
    terms.into_iter().filter(|_| interval.is_point()).find_map(|t| {
        let v = arena.as_variable(t.expr)?;
        let rest = arena.combine(e, 1, t.expr, -t.coeff).ok()?;
        let value = arena.affine(rest, -t.coeff, interval.lower.checked_mul(t.coeff)?).ok()?;
        (!arena.variables(&[value]).contains(&v)).then_some((v as usize, value))
    })
}
