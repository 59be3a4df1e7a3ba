//! The points of a domain, one by one and by many.

use crate::dag::Dag;
use crate::error::{ErrorKind, Result};
use crate::expr::Arena;
use crate::indexing_map::{Form, IndexingMap};
use crate::interval::Interval;

/// What a step found.
pub enum Step {
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
    constraints: Dag,
    bounds: Box<[Interval]>,
}

impl Domain {
    /// Is the point in the domain? Where a constraint is not defined, it is not. Error: overflow.
    pub fn contains(&self, point: &[i64], scratch: &mut Vec<i64>) -> Result<bool> {
        let within = self.intervals.iter().zip(point).all(|(i, x)| i.contains(*x));
        Ok(within && self.holds(point, scratch)?)
    }

    fn holds(&self, point: &[i64], scratch: &mut Vec<i64>) -> Result<bool> {
        if self.bounds.is_empty() {
            return Ok(true);
        }
        match self.constraints.evaluate(point, scratch) {
            Ok(values) => Ok(values.iter().zip(&self.bounds).all(|(v, i)| i.contains(*v))),
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

/// The points of a domain, in the order of their values, the last variable fastest.
pub struct Points {
    domain: Domain,
    next: Option<Vec<i64>>,
    scratch: Vec<i64>,
}

impl Points {
    /// Go on to the next point, looking at `limit` points at most.
    pub fn step(&mut self, limit: usize) -> Result<Step> {
        for _ in 0..limit {
            let Some(point) = self.next.clone() else { return Ok(Step::End) };
            self.advance();
            if self.domain.holds(&point, &mut self.scratch)? {
                return Ok(Step::Point(point));
            }
        }
        Ok(Step::Searching)
    }

    fn advance(&mut self) {
        let Some(point) = &mut self.next else { return };
        for (value, interval) in point.iter_mut().zip(&self.domain.intervals).rev() {
            if *value < interval.upper {
                *value += 1;
                return;
            }
            *value = interval.lower;
        }
        self.next = None;
    }
}

impl IndexingMap {
    /// The domain, to ask about many points.
    pub fn domain(&self, arena: &mut Arena) -> Domain {
        let expressions = arena.import(self.dag());
        Domain {
            intervals: self.intervals().collect(),
            constraints: arena.export(&expressions[self.num_results()..]),
            bounds: self.constraint_bounds().collect(),
        }
    }

    /// The points of the domain; none where the map is not defined.
    pub fn points(&self, arena: &mut Arena) -> Points {
        let domain = self.domain(arena);
        let next = (self.form() == Form::Defined).then(|| domain.intervals.iter().map(|i| i.lower).collect());
        Points { domain, next, scratch: Vec::new() }
    }
}
