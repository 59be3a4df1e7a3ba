//! Solving results for variables: which variables they determine, by which expressions, and the inverse relation.
//!
//! From an equation `r = y` others follow: a sum whose terms are digits of different weights determines each term, `x floordiv
//! m` and `x mod m` together determine `x`, and solved terms are subtracted from a sum. When nothing more follows, a free
//! variable is introduced.

use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Node, Term};
use crate::interval::Interval;
use crate::map::indexing_map::MapBuilder;
use crate::map::names::Names;
use crate::sets::work::Work;
use std::collections::{HashMap, HashSet};

/// The work of visiting one node in search of a solution.
const NODE_COST: usize = 4;

/// Solves equations, whose left sides are expressions over the variables of a map and whose right sides are expressions over
/// other variables. A solution is the right side for an expression.
#[derive(Default)]
struct EquationSolver {
    solutions: HashMap<Expr, Expr>,
    /// The left sides, in the order in which they were added.
    solved: Vec<Expr>,
    /// Those from which others may follow yet.
    open: Vec<Expr>,
    /// The first of the left sides that may be a quotient of something unsolved.
    first_quotient: usize,
}

impl EquationSolver {
    /// Adds the equation `e = solution`, unless `e` is solved already.
    fn add(&mut self, e: Expr, solution: Expr) {
        if let std::collections::hash_map::Entry::Vacant(free) = self.solutions.entry(e) {
            free.insert(solution);
            self.solved.push(e);
            self.open.push(e);
        }
    }

    /// Adds an equation for each constraint to one value, and for each variable with one value.
    fn add_constraints(&mut self, arena: &mut Arena, map: &MapBuilder) {
        for (e, interval) in map.constraints.iter().filter(|(_, i)| i.is_point()) {
            let value = arena.constant(interval.lower);
            self.add(*e, value);
        }
        for (v, x) in map.intervals.iter().enumerate().filter(|(_, x)| x.is_point()) {
            let (e, value) = (arena.variable(v as u32), arena.constant(x.lower));
            self.add(e, value);
        }
    }

    /// The solution for `e`, if it is known directly or follows from those for its operands.
    fn solution(&self, work: &mut Work<'_>, e: Expr) -> Result<Option<Expr>> {
        if let Some(w) = self.solutions.get(&e) {
            return Ok(Some(*w));
        }
        let order = work.arena.post_order(&[e]);
        work.arena.charge(order.len() * NODE_COST);
        if work.is_over() {
            return Err(Error::undecided("what the results determine"));
        }
        let mut new: HashMap<Expr, Expr> = HashMap::new();
        for node in order {
            let own = match self.solutions.get(&node) {
                Some(w) => Some(*w),
                None => rebuilt(work.arena, node, &new)?,
            };
            if let Some(own) = own {
                new.insert(node, own);
            }
        }
        Ok(new.get(&e).copied())
    }

    /// Adds all equations that follow, on the domain that the scratch memory holds.
    fn solve(&mut self, work: &mut Work<'_>) -> Result<()> {
        loop {
            let before = self.solved.len();
            let (mut k, mut kept) = (0, 0);
            while k < self.open.len() {
                let e = self.open[k];
                let w = self.solutions[&e];
                if self.solve_for_operands(work, e, w)? {
                    self.open[kept] = e;
                    kept += 1;
                }
                k += 1;
            }
            self.open.truncate(kept);
            if self.solved.len() == before {
                return Ok(());
            }
        }
    }

    /// Adds the equations that follow from `e = w`. Whether others may follow from it later.
    fn solve_for_operands(&mut self, work: &mut Work<'_>, e: Expr, w: Expr) -> Result<bool> {
        match work.arena.node(e) {
            Node::Sum(constant, terms) => {
                let terms = terms.to_vec();
                self.solve_sum(work, constant, &terms, w)
            }
            Node::Mod(x, m) => {
                let Some(m) = work.arena.as_constant(m).filter(|_| !self.solutions.contains_key(&x)) else {
                    return Ok(false);
                };
                let quotient = work.arena.floordiv_constant(x, m)?;
                let Some(q) = self.solution(work, quotient)? else { return Ok(true) };
                let whole = work.arena.combine(q, m, w, 1)?;
                self.add(x, whole);
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Solves `constant + terms = w` for the terms. Whether some stay unknown.
    fn solve_sum(&mut self, work: &mut Work<'_>, constant: i64, terms: &[Term], w: Expr) -> Result<bool> {
        let Some(minus) = constant.checked_neg() else { return Ok(false) };
        let mut left = work.arena.offset(w, minus)?;
        let mut unknown: Vec<(Term, Interval)> = Vec::new();
        for t in terms {
            match self.solution(work, t.expr)? {
                Some(solved) => {
                    let Some(minus) = t.coeff.checked_neg() else { return Ok(false) };
                    left = work.arena.combine(left, 1, solved, minus)?;
                }
                None => unknown.push((*t, work.scratch.ranges.bounds(work.arena, t.expr))),
            }
        }
        if let [(t, _)] = unknown.as_slice() {
            let value = work.arena.floordiv_constant(left, t.coeff)?;
            self.add(t.expr, value);
            return Ok(false);
        }
        self.solve_digits(work.arena, left, &mut unknown)?;
        Ok(!unknown.is_empty())
    }

    /// Solves `sum of unknown terms = left`. The term of the greatest weight is a quotient if the values of the others lie
    /// within an interval shorter than its weight.
    fn solve_digits(
        &mut self,
        arena: &mut Arena,
        left: Expr,
        unknown: &mut Vec<(Term, Interval)>,
    ) -> Result<()> {
        unknown.sort_by_key(|(t, _)| t.coeff.unsigned_abs());
        let mut left = left;
        while let [lower @ .., (top, _)] = unknown.as_slice() {
            let rest = lower.iter().fold(Interval::point(0), |sum, (t, i)| sum.plus(i.scaled(t.coeff)));
            let weight = top.coeff.unsigned_abs();
            let span = rest.count();
            if lower.is_empty() || !rest.is_bounded() || span > u128::from(weight) || top.coeff == i64::MIN {
                return Ok(());
            }
            let (Some(low), Ok(weight)) = (rest.lower.checked_neg(), i64::try_from(weight)) else {
                return Ok(());
            };
            // left - rest.lower = weight * (+-top) + (rest - rest.lower), the last in [0, weight)
            let shifted = arena.offset(left, low)?;
            let quotient = arena.floordiv_constant(shifted, weight)?;
            let value = if top.coeff < 0 { arena.neg(quotient)? } else { quotient };
            self.add(top.expr, value);
            left = arena.combine(left, 1, quotient, -weight)?;
            let kept: Vec<Term> = lower.iter().map(|(t, _)| *t).collect();
            let sum = arena.sum(0, &kept)?;
            self.add(sum, left);
            unknown.pop();
        }
        Ok(())
    }

    /// The dividend and the divisor of the first solved `x floordiv m` whose `x` is not solved.
    fn unsolved_quotient(&mut self, arena: &Arena) -> Option<(Expr, i64)> {
        let unsolved = |e: &Expr| arena.as_floordiv(*e).filter(|(x, _)| !self.solutions.contains_key(x));
        let first = self.solved[self.first_quotient..].iter().position(|e| unsolved(e).is_some());
        self.first_quotient = first.map_or(self.solved.len(), |k| self.first_quotient + k);
        self.solved.get(self.first_quotient).and_then(unsolved)
    }
}

/// The node rebuilt from the solutions for its operands; `None` if one has none.
fn rebuilt(arena: &mut Arena, e: Expr, new: &HashMap<Expr, Expr>) -> Result<Option<Expr>> {
    let mut complete = arena.as_variable(e).is_none();
    arena.for_each_operand(e, |o| complete &= new.contains_key(&o));
    complete.then(|| arena.with_operands(e, |o| new[&o])).transpose()
}

/// Whether the results of a simplified map, whose domain the scratch memory holds, determine the variables `wanted`; false may be
/// wrong.
pub(super) fn determines(
    work: &mut Work<'_>,
    map: &MapBuilder,
    results: &[Expr],
    wanted: &[usize],
) -> Result<bool> {
    let mut solver = EquationSolver::default();
    for (k, r) in results.iter().enumerate() {
        let y = work.arena.variable((map.intervals.len() + k) as u32);
        solver.add(*r, y);
    }
    solver.add_constraints(work.arena, map);
    solver.solve(work)?;
    for v in wanted {
        let x = work.arena.variable(*v as u32);
        if solver.solution(work, x)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The inverse relation of a simplified map, whose domain the scratch memory holds. It leads from results to dimensions, with range
/// variables for what the results do not determine; runtime variables are kept.
pub(super) fn invert(work: &mut Work<'_>, map: &MapBuilder) -> Result<MapBuilder> {
    let count = map.intervals.len();
    let symbols = map.num_dims + map.num_ranges;
    let results = map.results.len();
    let mut solver = EquationSolver::default();
    // During construction, the dimensions of the new map are variables from `count` on, its free variables from `free` on.
    let free = count + results;
    let mut ranges: Vec<Interval> = Vec::new();
    for v in symbols..count {
        let e = work.arena.variable(v as u32);
        solver.add(e, e);
    }
    for (k, r) in map.results.iter().enumerate() {
        let y = work.arena.variable((count + k) as u32);
        solver.add(*r, y);
    }
    solver.add_constraints(work.arena, map);
    let order: Vec<usize> = (map.num_dims..symbols).rev().chain((0..map.num_dims).rev()).collect();
    let mut tried: HashSet<Expr> = HashSet::new();
    let mut solutions: Vec<Expr> = Vec::new();
    let mut next = 0; // those before it are solved, and stay so
    solver.solve(work)?;
    while let Some(&v) = order.get(next) {
        let x = work.arena.variable(v as u32);
        if solver.solution(work, x)?.is_some() {
            next += 1;
            continue;
        }
        let fresh = work.arena.variable((free + ranges.len()) as u32);
        match solver.unsolved_quotient(work.arena).filter(|(q, _)| tried.insert(*q)) {
            Some((q, m)) => {
                let rest = work.arena.modulo_constant(q, m)?;
                if solver.solution(work, rest)?.is_none() {
                    ranges.push(work.scratch.ranges.bounds(work.arena, rest));
                    solver.add(rest, fresh);
                }
            }
            None => {
                ranges.push(map.intervals[v]);
                solver.add(x, fresh);
            }
        }
        solver.solve(work)?;
    }
    for v in 0..count {
        let x = work.arena.variable(v as u32);
        solutions.push(solver.solution(work, x)?.unwrap_or(x));
    }
    inverse_map(work, map, &solutions, &ranges)
}

/// The map whose results are the solutions for the dimensions, with the constraints that make it the inverse.
fn inverse_map(
    work: &mut Work<'_>,
    map: &MapBuilder,
    solutions: &[Expr],
    ranges: &[Interval],
) -> Result<MapBuilder> {
    let Work { arena, scratch, .. } = work;
    let (count, results) = (map.intervals.len(), map.results.len());
    let symbols = map.num_dims + map.num_ranges;
    let mut intervals: Vec<Interval> = map.results.iter().map(|r| scratch.ranges.bounds(arena, *r)).collect();
    intervals.extend_from_slice(ranges);
    intervals.extend_from_slice(&map.intervals[symbols..]);
    let runtimes = (symbols..count).map(|v| map.names.get(v));
    // Old indices to new ones: runtime variables are moved to the end, the others to the front.
    let moved: Vec<Expr> = (0..count + results + ranges.len())
        .map(|v| match v.checked_sub(count) {
            Some(k) => arena.variable(k as u32),
            None => arena.variable((results + ranges.len() + v.saturating_sub(symbols)) as u32),
        })
        .collect();
    let solutions = arena.substitute(solutions, &moved)?;
    let mut out = MapBuilder {
        intervals,
        names: Names::canonicalized(std::iter::repeat_n(None, results + ranges.len()).chain(runtimes)),
        num_dims: results,
        num_ranges: ranges.len(),
        results: solutions[..map.num_dims].to_vec(),
        ..MapBuilder::default()
    };
    let mut all = map.results.clone();
    all.extend(map.constraints.iter().map(|(e, _)| *e));
    let forward = arena.substitute(&all, &solutions)?;
    for (k, r) in forward[..results].iter().enumerate() {
        let y = arena.variable(k as u32);
        let difference = arena.sub(*r, y)?;
        out.add_constraint(arena, difference, Interval::point(0));
    }
    for (e, (_, interval)) in forward[results..].iter().zip(&map.constraints) {
        out.add_constraint(arena, *e, *interval);
    }
    for (w, interval) in solutions.iter().zip(&map.intervals) {
        out.add_constraint(arena, *w, *interval);
    }
    Ok(out)
}
