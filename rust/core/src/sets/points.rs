//! The points of a domain, one by one or in batches.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::flat::Dag;
use crate::expr::Arena;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapKind};

/// The result of a step.
pub enum PointStep {
    /// A point of the domain: the values of all variables.
    Point(Vec<i64>),
    /// The work limit was reached; there may be more points.
    Searching,
    /// There are no more points.
    End,
}

/// The domain of a map: bounds of variables, and constraints.
#[derive(Clone)]
pub struct Domain {
    intervals: Vec<Interval>,
    /// The constraints, and behind them the divisors of results that are not constant.
    constraints: Dag,
    bounds: Box<[Interval]>,
}

impl Domain {
    /// Whether the point is in the domain. It is not if a constraint or a result divides by 0 there. Error: overflow.
    pub fn contains(&self, point: &[i64], scratch: &mut Vec<i64>) -> Result<bool> {
        let within = self.intervals.iter().zip(point).all(|(i, x)| i.contains(*x));
        Ok(within && self.satisfies_constraints(point, scratch)?)
    }

    fn satisfies_constraints(&self, point: &[i64], scratch: &mut Vec<i64>) -> Result<bool> {
        if self.constraints.root_count() == 0 {
            return Ok(true);
        }
        match self.constraints.evaluate(point, scratch) {
            Ok(values) => {
                let (values, divisors) = values.split_at(self.bounds.len());
                Ok(values.iter().zip(&self.bounds).all(|(v, i)| i.contains(*v)) && !divisors.contains(&0))
            }
            Err(e) if e.kind() == ErrorKind::DivisionByZero => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Writes to `inside`, for each point, 1 if it is in the domain, and 0 otherwise. `columns[i]` are the values of variable `i`.
    /// Error: overflow.
    pub fn contains_each(&self, columns: &[&[i64]], inside: &mut [u8]) -> Result<()> {
        let mut marks = vec![0i32; BLOCK.min(inside.len())];
        for (k, inside) in inside.chunks_mut(BLOCK).enumerate() {
            let part = k * BLOCK..k * BLOCK + inside.len();
            let columns: Vec<&[i64]> = columns.iter().map(|column| &column[part.clone()]).collect();
            let outside = &mut marks[..inside.len()];
            outside.fill(0);
            for (column, interval) in columns.iter().zip(&self.intervals) {
                mark_outside(*interval, column, outside);
            }
            self.mark_violations(&columns, outside)?;
            inside.iter_mut().zip(outside).for_each(|(i, mark)| *i = (*mark as u32 >> 31) as u8 ^ 1);
        }
        Ok(())
    }

    /// Makes the marks of points negative at which a constraint does not hold.
    fn mark_violations(&self, columns: &[&[i64]], outside: &mut [i32]) -> Result<()> {
        let mut values = vec![0; self.constraints.root_count() * outside.len()];
        let mut rows: Vec<&mut [i64]> = values.chunks_mut(outside.len()).collect();
        if self.constraints.evaluate_block(columns, &mut rows).is_err() {
            return self.mark_by_point(columns, outside); // some constraint is not defined at some point
        }
        for (k, row) in rows.iter().enumerate() {
            match self.bounds.get(k) {
                Some(interval) => mark_outside(*interval, row, outside),
                None => {
                    outside.iter_mut().zip(&**row).for_each(|(o, x)| *o |= sign_of(!(x | x.wrapping_neg())))
                } // only for a divisor of 0
            }
        }
        Ok(())
    }

    fn mark_by_point(&self, columns: &[&[i64]], outside: &mut [i32]) -> Result<()> {
        let (mut point, mut scratch) = (vec![0; columns.len()], Vec::new());
        for (k, mark) in outside.iter_mut().enumerate().filter(|(_, mark)| **mark >= 0) {
            point.iter_mut().zip(columns).for_each(|(x, column)| *x = column[k]);
            *mark = -i32::from(!self.satisfies_constraints(&point, &mut scratch)?);
        }
        Ok(())
    }
}

/// Makes the marks of points negative at which the value is not in the interval.
fn mark_outside(interval: Interval, values: &[i64], outside: &mut [i32]) {
    const QUARTER: i64 = 1 << 62;
    if interval == Interval::ALL {
        return;
    }
    // The sign of a difference tells which number is smaller if both are in [-2^62, 2^62), that is, if the two highest bits of
    // each are equal.
    let are_near = values.iter().fold(0, |all, x| all | (x ^ (x << 1))) >= 0;
    if !are_near || interval.is_empty() {
        return outside.iter_mut().zip(values).for_each(|(o, x)| *o |= -i32::from(!interval.contains(*x)));
    }
    let (lower, upper) =
        (interval.lower.clamp(-QUARTER, QUARTER), interval.upper.clamp(-QUARTER - 1, QUARTER - 1));
    outside.iter_mut().zip(values).for_each(|(o, x)| *o |= sign_of((x - lower) | (upper - x)));
}

/// A number with the same sign.
fn sign_of(x: i64) -> i32 {
    (x >> 32) as i32
}

/// The number of points whose constraints are evaluated together, so that their values remain in the cache.
const BLOCK: usize = 1 << 11;
/// Boxes of at most this many points are not bisected any more.
const SMALL_BOX: u128 = 256;
/// Batches are given up after so many points outside of the domain.
const MAX_REJECTED: u64 = 1 << 31;
/// A line is solved if at most one of so many points may be a solution.
const SPARSE: u128 = 16;
/// The units of work of a step, besides one for every four words of constraints.
const STEP_COST: u64 = 4;
/// The units of work that may be spent in search of one point.
const SEARCH_BUDGET: u64 = 1 << 26;

/// The points of a domain in lexicographic order. Boxes are bisected along their first variable with several values, and
/// those in which a constraint cannot hold are skipped.
pub struct Points {
    domain: Domain,
    /// The boxes that were not visited yet, the next one last.
    boxes: Vec<Vec<Interval>>,
    /// The box that is enumerated, and whether all of its points are known to be in the domain.
    current: Option<(Vec<Interval>, bool)>,
    next: Vec<i64>,
    scratch: Vec<i64>,
    ranges: Vec<Interval>,
    /// The work since the last point was found.
    search_work: u64,
    /// The points outside of the domain that were visited in batches.
    rejected: u64,
}

impl Points {
    /// Advances to the next point, visiting at most `limit` points or boxes. Errors: overflow; no point is found within the
    /// budget.
    pub fn step(&mut self, limit: usize) -> Result<PointStep> {
        for _ in 0..limit {
            let Some((_, all)) = &self.current else {
                match self.boxes.pop() {
                    Some(part) => self.visit_box(part)?,
                    None => return Ok(PointStep::End),
                }
                continue;
            };
            let (all, point) = (*all, self.next.clone());
            self.advance();
            if all || self.domain.satisfies_constraints(&point, &mut self.scratch)? {
                self.search_work = 0;
                return Ok(PointStep::Point(point));
            }
            self.count_step()?;
        }
        Ok(PointStep::Searching)
    }

    /// The number of points that were not returned yet, if there are no constraints, or none are left.
    pub fn known_count(&self) -> Option<u128> {
        let is_done = self.boxes.is_empty() && self.current.is_none();
        let unconstrained = self.domain.constraints.root_count() == 0 || is_done;
        let in_boxes =
            self.boxes.iter().map(|part| part.iter().fold(1u128, |n, i| n.saturating_mul(i.count())));
        let in_current = self.current.as_ref().map_or(0, |(part, _)| remaining_points(part, &self.next));
        unconstrained.then(|| in_boxes.fold(in_current, u128::saturating_add))
    }

    /// Visits at most `limit` boxes and points, and appends the points found to `columns`, one for each variable. Returns
    /// whether there may be more. Errors: as [`Points::step`].
    pub fn extend(&mut self, limit: usize, columns: &mut [Vec<i64>]) -> Result<bool> {
        let before = columns.first().map_or(0, Vec::len);
        columns.iter_mut().for_each(|column| column.resize(before + limit, 0));
        let mut behind: Vec<&mut [i64]> = columns.iter_mut().map(|column| &mut column[before..]).collect();
        let filled = self.fill(limit, &mut behind);
        let count = filled.as_ref().map_or(0, |(count, _)| *count);
        columns.iter_mut().for_each(|column| column.truncate(before + count));
        filled.map(|(_, more)| more)
    }

    /// As [`Points::extend`], but overwrites the beginning of `columns`, each of which has room for `limit` values. Returns
    /// the number of points found, and whether there may be more.
    pub fn fill(&mut self, limit: usize, columns: &mut [&mut [i64]]) -> Result<(usize, bool)> {
        let (mut count_found, mut visited) = (0, 0);
        while visited < limit {
            let Some((part, all)) = &self.current else {
                match self.boxes.pop() {
                    Some(part) => self.visit_box(part)?,
                    None => return Ok((count_found, false)),
                }
                visited += 1;
                continue;
            };
            let left = remaining_points(part, &self.next);
            let count = left.min((limit - visited) as u128) as usize;
            visited += count;
            let mut behind: Vec<&mut [i64]> =
                columns.iter_mut().map(|c| &mut c[count_found..][..count]).collect();
            write_points(part, &mut self.next, &mut behind);
            let all = *all;
            if left == count as u128 {
                self.current = None;
            }
            count_found += if all { count } else { self.compact(count, &mut behind)? };
        }
        Ok((count_found, true))
    }

    /// Moves those of `count` points that satisfy the constraints to the beginning of the columns, and returns their number.
    fn compact(&mut self, count: usize, columns: &mut [&mut [i64]]) -> Result<usize> {
        let mut inside = vec![0; count];
        let points: Vec<&[i64]> = columns.iter().map(|column| &**column).collect();
        self.domain.contains_each(&points, &mut inside)?;
        for column in columns {
            let mut kept = 0;
            for (k, inside) in inside.iter().enumerate() {
                column[kept] = column[k];
                kept += *inside as usize;
            }
        }
        let kept = inside.iter().filter(|inside| **inside == 1).count();
        self.rejected += (count - kept) as u64;
        if self.rejected > MAX_REJECTED {
            return Err(Error::undecided("the list of all points, which can be iterated over one by one,"));
        }
        if kept > 0 {
            self.search_work = 0;
        } else {
            self.count_steps(count as u64)?;
        }
        Ok(kept)
    }

    fn count_step(&mut self) -> Result<()> {
        self.count_steps(1)
    }

    fn count_steps(&mut self, steps: u64) -> Result<()> {
        self.search_work += steps * (STEP_COST + self.domain.constraints.node_words().len() as u64 / 4);
        if self.search_work > SEARCH_BUDGET {
            return Err(Error::undecided("the next point"));
        }
        Ok(())
    }

    /// Starts to enumerate a box, bisects it, or skips it.
    fn visit_box(&mut self, mut part: Vec<Interval>) -> Result<()> {
        self.count_step()?;
        let Domain { constraints, bounds, .. } = &self.domain;
        let certain = constraints.ranges(&part, &mut self.ranges);
        let ranges: Vec<Interval> =
            constraints.root_positions().iter().map(|r| self.ranges[*r as usize]).collect();
        let (values, divisors) = ranges.split_at(bounds.len());
        if values.iter().zip(bounds).any(|(range, stated)| stated.intersect(*range).is_empty()) {
            return Ok(());
        }
        let holds = values.iter().zip(bounds).all(|(range, stated)| stated.covers(*range));
        let within = self.ranges.iter().all(|r| r.is_bounded());
        let all = certain && within && holds && divisors.iter().all(|d| !d.contains(0));
        let size = part.iter().fold(1u128, |n, i| n.saturating_mul(i.count()));
        match part.iter().position(|i| !i.is_point()) {
            _ if size == 0 => {}
            Some(v) if !all && size > SMALL_BOX && self.solve_on_line(&part, v) => {}
            Some(v) if !all && size > SMALL_BOX => {
                let Interval { lower, upper } = part[v];
                let middle = (i128::from(lower) + i128::from(upper)).div_euclid(2) as i64;
                let mut right = part.clone();
                part[v].upper = middle;
                right[v].lower = middle + 1;
                self.boxes.extend([right, part]);
            }
            _ => {
                self.next = part.iter().map(|i| i.lower).collect();
                self.current = Some((part, all));
            }
        }
        Ok(())
    }

    /// Replaces a box in which only variable `v` varies by the parts of it in which constraints that depend linearly on it
    /// hold; false if these are not much smaller.
    fn solve_on_line(&mut self, part: &[Interval], v: usize) -> bool {
        if part[v + 1..].iter().any(|i| !i.is_point()) {
            return false;
        }
        let solved = self.domain.constraints.solutions_on_line(&self.domain.bounds, part, v);
        let values = solved.values();
        let listed = values.iter().fold(0u128, |sum, i| sum.saturating_add(i.count()));
        if listed > part[v].count() / SPARSE {
            return false;
        }
        self.boxes.extend(values.into_iter().rev().map(|values| {
            let mut part = part.to_vec();
            part[v] = values;
            part
        }));
        true
    }

    fn advance(&mut self) {
        let Some((part, _)) = &self.current else { return };
        for (value, interval) in self.next.iter_mut().zip(part).rev() {
            if *value < interval.upper {
                *value += 1;
                return;
            }
            *value = interval.lower;
        }
        self.current = None;
    }
}

/// The number of points of a box from `next` on.
fn remaining_points(part: &[Interval], next: &[i64]) -> u128 {
    let digits = part.iter().zip(next);
    let after = digits.fold(0u128, |after, (i, x)| {
        after.saturating_mul(i.count()).saturating_add(u128::from(i.upper.abs_diff(*x)))
    });
    after.saturating_add(1)
}

/// Fills `columns` with the points of a box from `next` on, and sets `next` to the point behind them.
fn write_points(part: &[Interval], next: &mut [i64], columns: &mut [&mut [i64]]) {
    // A variable keeps its value for `period` points, in which the variables behind it take all of theirs; at first for `left`.
    let (mut period, mut left) = (1u128, 1u128);
    for ((column, interval), value) in columns.iter_mut().zip(part).zip(next).rev() {
        let after = period.saturating_mul(u128::from(interval.upper.abs_diff(*value))).saturating_add(left);
        let kept = [left, period].map(|n| n.min(u128::from(u64::MAX)) as u64);
        write_digit(column, *interval, value, kept);
        (period, left) = (period.saturating_mul(interval.count()), after);
    }
}

/// Fills a column with the next values of its variable, which keeps the first for `left` points and each other for `period`.
fn write_digit(mut column: &mut [i64], interval: Interval, value: &mut i64, kept: [u64; 2]) {
    let [mut left, period] = kept;
    let after = |x| if x == interval.upper { interval.lower } else { x + 1 };
    while !column.is_empty() {
        let room = column.len() as u64;
        let run =
            room.min(if period == 1 { interval.upper.abs_diff(*value).saturating_add(1) } else { left });
        let (filled, rest) = column.split_at_mut(run as usize);
        column = rest;
        if period == 1 {
            let first = *value;
            filled.iter_mut().zip(0..).for_each(|(x, k)| *x = first.wrapping_add(k));
            *value = after(first.wrapping_add(run as i64 - 1));
        } else {
            filled.fill(*value);
            // A shorter run ends because the column is full.
            if run == left {
                (left, *value) = (period, after(*value));
            }
        }
    }
}

impl IndexingMap {
    /// The domain, for questions about many points.
    pub fn domain(&self, arena: &mut Arena) -> Domain {
        let mut expressions = arena.import(self.dag());
        let divisors = arena.divisors(expressions[..self.num_results()].iter().copied());
        expressions.extend(divisors);
        let mut bounds: Vec<Interval> = self.constraint_bounds().collect();
        if self.kind() == MapKind::KnownEmpty {
            expressions.push(arena.constant(0));
            bounds.push(Interval::EMPTY);
        }
        Domain {
            intervals: self.intervals().collect(),
            constraints: arena.export(&expressions[self.num_results()..]),
            bounds: bounds.into(),
        }
    }

    /// The points of the domain; none if the map is undefined or known to be empty.
    ///
    /// ```
    /// use indexing_core::{read_indexing_map, Arena, PointStep, ReadScratch};
    ///
    /// let mut arena = Arena::new();
    /// let text = "(d0, d1) -> (d0), domain: d0 in [0, 2], d1 in [0, 2], d0 + d1 in [4, 4]";
    /// let map = read_indexing_map(text, &mut arena, &mut ReadScratch::default())?;
    /// let mut points = map.points(&mut arena);
    /// assert!(matches!(points.step(100)?, PointStep::Point(p) if p == [2, 2]));
    /// assert!(matches!(points.step(100)?, PointStep::End));
    /// # Ok::<(), indexing_core::Error>(())
    /// ```
    pub fn points(&self, arena: &mut Arena) -> Points {
        let domain = self.domain(arena);
        let whole = (self.kind() == MapKind::Defined).then(|| domain.intervals.clone());
        Points {
            domain,
            boxes: whole.into_iter().collect(),
            current: None,
            next: Vec::new(),
            scratch: Vec::new(),
            ranges: Vec::new(),
            search_work: 0,
            rejected: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Arena;
    use crate::map::indexing_map::MapBuilder;

    /// x * x - 2 * y * y = 3 has no solution: each box that is visited takes at least its cost from the budget.
    #[test]
    fn a_search_in_vain_is_counted_and_ends() {
        let mut arena = Arena::new();
        let (x, y) = (arena.variable(0), arena.variable(1));
        let squares = [arena.mul(x, x).unwrap(), arena.mul(y, y).unwrap()];
        let difference = arena.combine(squares[0], 1, squares[1], -2).unwrap();
        let mut map = MapBuilder {
            intervals: vec![Interval::new(0, 1 << 31); 2],
            num_dims: 2,
            ..MapBuilder::default()
        };
        map.results.push(x);
        map.add_constraint(&arena, difference, Interval::point(3));
        let mut points = map.build(&mut arena).unwrap().points(&mut arena);
        assert!(matches!(points.step(100), Ok(PointStep::Searching)));
        assert!(points.search_work >= 100 * STEP_COST);
        points.search_work = SEARCH_BUDGET;
        assert!(points.step(1).is_err());
        (points.search_work, points.rejected) = (0, MAX_REJECTED);
        let batches = std::iter::repeat_with(|| points.extend(1000, &mut [Vec::new(), Vec::new()]));
        let error = batches.take(100).find_map(std::result::Result::err).unwrap();
        assert!(error.message().contains("iterated over"));
    }
}
