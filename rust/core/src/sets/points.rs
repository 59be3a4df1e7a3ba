//! The points of a domain, one by one and by many.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::flat::Dag;
use crate::expr::Arena;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapKind};

/// What a step found.
pub enum PointStep {
    /// A point of the domain: the values of all variables.
    Point(Vec<i64>),
    /// No point yet; there may be more.
    Searching,
    /// There is no other point.
    End,
}

/// Where a map holds: bounds of variables, and constraints.
#[derive(Clone)]
pub struct Domain {
    intervals: Vec<Interval>,
    /// The constraints, then the divisors of results that are no constants.
    constraints: Dag,
    bounds: Box<[Interval]>,
}

impl Domain {
    /// Is the point in the domain? Where a constraint or a result divides by 0, it is not. Error: overflow.
    pub fn contains(&self, point: &[i64], scratch: &mut Vec<i64>) -> Result<bool> {
        let within = self.intervals.iter().zip(point).all(|(i, x)| i.contains(*x));
        Ok(within && self.holds(point, scratch)?)
    }

    fn holds(&self, point: &[i64], scratch: &mut Vec<i64>) -> Result<bool> {
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

    /// By point: 1 where it is in the domain, else 0. `columns[i]` are the values of variable `i`.
    pub fn contains_each(&self, columns: &[&[i64]], length: usize) -> Result<Vec<i64>> {
        let (mut point, mut scratch) = (vec![0; columns.len()], Vec::new());
        (0..length)
            .map(|i| {
                point.iter_mut().zip(columns).for_each(|(x, column)| *x = column[i]);
                self.contains(&point, &mut scratch).map(i64::from)
            })
            .collect()
    }
}

/// Boxes of at most so many points are not halved any more.
const SMALL_BOX: u128 = 64;
/// What a step costs beside the words of constraints that it looks at, four a unit.
const STEP_COST: u64 = 4;
/// Units of work in search of one point.
const SEARCH_BUDGET: u64 = 1 << 26;

/// The points of a domain, in the order of their values, the last variable fastest: boxes are halved at their first
/// variable, and those are passed over in which a constraint can't hold.
pub struct Points {
    domain: Domain,
    /// The boxes still to be looked at, the next one last.
    boxes: Vec<Vec<Interval>>,
    /// The box that is gone through point by point, and whether all of its points are in the domain.
    current: Option<(Vec<Interval>, bool)>,
    next: Vec<i64>,
    scratch: Vec<i64>,
    ranges: Vec<Interval>,
    /// Steps since the last point.
    searched: u64,
}

impl Points {
    /// Go on to the next point, looking at `limit` points or boxes at most. Errors: overflow; no point is found with
    /// the work allowed.
    pub fn step(&mut self, limit: usize) -> Result<PointStep> {
        for _ in 0..limit {
            let Some((_, all)) = &self.current else {
                match self.boxes.pop() {
                    Some(part) => self.enter(part)?,
                    None => return Ok(PointStep::End),
                }
                continue;
            };
            let (all, point) = (*all, self.next.clone());
            self.advance();
            if all || self.domain.holds(&point, &mut self.scratch)? {
                self.searched = 0;
                return Ok(PointStep::Point(point));
            }
            self.count_step()?;
        }
        Ok(PointStep::Searching)
    }

    fn count_step(&mut self) -> Result<()> {
        self.searched += STEP_COST + self.domain.constraints.node_words().len() as u64 / 4;
        if self.searched > SEARCH_BUDGET {
            return Err(Error::undecided("the next point"));
        }
        Ok(())
    }

    /// Go through a box, halve it, or leave it.
    fn enter(&mut self, mut part: Vec<Interval>) -> Result<()> {
        self.count_step()?;
        let Domain { constraints, bounds, .. } = &self.domain;
        let certain = constraints.ranges(&part, &mut self.ranges);
        let ranges: Vec<Interval> =
            constraints.root_positions().iter().map(|r| self.ranges[*r as usize]).collect();
        let (values, divisors) = ranges.split_at(bounds.len());
        if certain && values.iter().zip(bounds).any(|(range, stated)| stated.intersect(*range).is_empty()) {
            return Ok(());
        }
        let holds = values.iter().zip(bounds).all(|(range, stated)| stated.covers(*range));
        let within = self.ranges.iter().all(|r| r.is_bounded());
        let all = certain && within && holds && divisors.iter().all(|d| !d.contains(0));
        let size = part.iter().fold(1u128, |n, i| n.saturating_mul(i.count()));
        match part.iter().position(|i| !i.is_point()) {
            _ if size == 0 => {}
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

impl IndexingMap {
    /// The domain, to ask about many points.
    pub fn domain(&self, arena: &mut Arena) -> Domain {
        let mut expressions = arena.import(self.dag());
        let divisors = arena.divisors(expressions[..self.num_results()].iter().copied());
        expressions.extend(divisors);
        Domain {
            intervals: self.intervals().collect(),
            constraints: arena.export(&expressions[self.num_results()..]),
            bounds: self.constraint_bounds().collect(),
        }
    }

    /// The points of the domain; none where the map is not defined.
    pub fn points(&self, arena: &mut Arena) -> Points {
        let domain = self.domain(arena);
        let whole = (self.form() == MapKind::Defined).then(|| domain.intervals.clone());
        Points {
            domain,
            boxes: whole.into_iter().collect(),
            current: None,
            next: Vec::new(),
            scratch: Vec::new(),
            ranges: Vec::new(),
            searched: 0,
        }
    }
}
