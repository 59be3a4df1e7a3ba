//! An integer point of a system of linear constraints, or that there is none: the Omega test.
//!
//! Equalities are solved first, by the steps of Euclid's algorithm. Then columns are eliminated, those first whose projection
//! is exact. Where none is, the dark shadow has points above which there are integers; without a point in the real shadow
//! there is none at all; between the two, a point lies near a lower bound, on one of a few hyperplanes.

use super::relation::{combined, value_at, Constraint, IntegerRelation, Row, Shadow, Undecided, Work};
use crate::interval::Interval;

/// The values of all columns.
pub(super) type Point = Vec<i64>;

/// A column to eliminate.
struct Elimination {
    column: usize,
    is_exact: bool,
}

/// The constraints on a column: how many bound it from below, from above, and by which factors.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    is_used: bool,
    lower: usize,
    upper: usize,
    largest_below: i64,
    largest_above: i64,
}

impl Use {
    fn of(bounds: Interval) -> Use {
        let mut own = Use::default();
        own.add(1, bounds);
        own
    }

    fn add(&mut self, factor: i64, bounds: Interval) {
        if bounds.lower != i64::MIN {
            (self.lower, self.largest_below) = (self.lower + 1, self.largest_below.max(factor));
        }
        if bounds.upper != i64::MAX {
            (self.upper, self.largest_above) = (self.upper + 1, self.largest_above.max(factor));
        }
    }

    fn is_exact(&self) -> bool {
        self.largest_below <= 1 || self.largest_above <= 1
    }

    fn rating(&self) -> (bool, usize, i64) {
        (!self.is_exact(), self.lower * self.upper, self.largest_below.max(self.largest_above))
    }
}

impl IntegerRelation {
    /// A point of the system; `None` if there is none.
    pub(super) fn sample(mut self, work: &mut Work) -> Result<Option<Point>, Undecided> {
        work.spend(LEVEL_COST)?;
        if self.is_empty || !self.propagate(work)? {
            return Ok(None);
        }
        if let Some(k) = self.constraints.iter().position(|c| c.bounds.is_point()) {
            return self.sample_of_equality(k, work);
        }
        if let Some(point) = self.corner() {
            return Ok(Some(point));
        }
        match self.next_elimination() {
            None => Err(Undecided), // the corners are points of a box
            Some(e) if e.is_exact => self.sample_below(e.column, Shadow::Real, work),
            Some(e) => self.sample_between_shadows(e.column, work),
        }
    }

    /// As [`IntegerRelation::sample`], with equality `k` solved for its least coefficient.
    fn sample_of_equality(mut self, k: usize, work: &mut Work) -> Result<Option<Point>, Undecided> {
        let equality = self.constraints.remove(k);
        let least = equality.row.iter().copied().min_by_key(|t| t.0.unsigned_abs());
        let Some((a, column)) = least else { return Err(Undecided) };
        let others: Row = equality.row.iter().copied().filter(|t| t.1 != column).collect();
        let value = equality.bounds.lower;
        let (row, constant) = if a.unsigned_abs() == 1 {
            let solved = others.iter().map(|t| Some((t.0.checked_mul(-a)?, t.1))).collect::<Option<Row>>();
            (solved, value.checked_mul(a))
        } else {
            // A new column for the old one and multiples of the others, which leaves the least remainders of their coefficients.
            let quotients = others.iter().map(|t| (-nearest_quotient(t.0, a), t.1)).filter(|t| t.0 != 0);
            let mut row: Row = std::iter::once((1, column)).chain(quotients).collect();
            row.sort_unstable_by_key(|t| t.1);
            // It remains the first, until it is solved.
            self.constraints.insert(0, equality);
            (Some(row), Some(0))
        };
        let (Some(row), Some(constant)) = (row, constant) else { return Err(Undecided) };
        let Some(mut point) = self.substituted(column, &row, constant, work)?.sample(work)? else {
            return Ok(None);
        };
        point[column] = value_at(&row, &point)?.checked_add(constant).ok_or(Undecided)?;
        Ok(Some(point))
    }

    /// The column whose elimination is exact, if there is one, and adds the fewest constraints.
    fn next_elimination(&self) -> Option<Elimination> {
        let mut uses: Vec<Use> = self.columns.iter().map(|bounds| Use::of(*bounds)).collect();
        for c in &self.constraints {
            for (factor, column) in &c.row {
                let own = &mut uses[*column];
                own.is_used = true;
                own.add(factor.abs(), if *factor < 0 { c.bounds.negated() } else { c.bounds });
            }
        }
        let used = uses.iter().enumerate().filter(|(_, u)| u.is_used);
        let (column, best) = used.min_by_key(|(_, u)| u.rating())?;
        Some(Elimination { column, is_exact: best.is_exact() })
    }

    /// The point of all columns' ends nearest to zero, or of their upper ends, if it satisfies the constraints.
    fn corner(&self) -> Option<Point> {
        let corners: [fn(Interval) -> i64; 2] =
            [nearest_to_zero, |c| if c.is_bounded() { c.upper } else { 0 }];
        let points = corners.iter().map(|end| self.columns.iter().map(|c| end(*c)).collect::<Point>());
        let holds =
            |c: &Constraint, point: &Point| value_at(&c.row, point).is_ok_and(|x| c.bounds.contains(x));
        let is_inside = |p: &Point| self.columns.iter().zip(p).all(|(c, x)| c.contains(*x));
        points.into_iter().find(|p| is_inside(p) && self.constraints.iter().all(|c| holds(c, p)))
    }

    /// A point above one of a shadow.
    fn sample_below(
        &self,
        column: usize,
        shadow: Shadow,
        work: &mut Work,
    ) -> Result<Option<Point>, Undecided> {
        let Some(mut point) = self.projected(column, shadow, work)?.sample(work)? else { return Ok(None) };
        let mut values = Interval::ALL;
        for (a, row, bounds) in self.constraints_on(column) {
            let rest = Interval::point(value_at(&row, &point)?);
            values = values.intersect(bounds.minus(rest).quotient_by(a));
        }
        // Only if a bound left int64.
        if values.is_empty() {
            return Err(Undecided);
        }
        point[column] = nearest_to_zero(values);
        Ok(Some(point))
    }

    fn sample_between_shadows(self, column: usize, work: &mut Work) -> Result<Option<Point>, Undecided> {
        let point = self.sample_below(column, Shadow::Dark, work)?;
        if point.is_some() || self.projected(column, Shadow::Real, work)?.sample(work)?.is_none() {
            return Ok(point);
        }
        for (row, value) in self.hyperplanes(column)? {
            let mut part = self.clone();
            part.add(row, Interval::point(value))?;
            let point = part.sample(work)?;
            if point.is_some() {
                return Ok(point);
            }
        }
        Ok(None)
    }

    /// The hyperplanes on which all points lie that have none of the dark shadow below: the values of the column, or those
    /// near its lower bounds, if these are fewer.
    fn hyperplanes(&self, column: usize) -> Result<Vec<(Row, i64)>, Undecided> {
        let on = self.constraints_on(column);
        let own: Row = std::iter::once((1, column)).collect();
        let uppers = on.iter().filter(|c| c.2.upper != i64::MAX);
        let largest = i128::from(uppers.map(|c| c.0).max().unwrap_or(1));
        let distance = |a: i64| (largest * i128::from(a) - largest - i128::from(a)).div_euclid(largest);
        let lowers = on.iter().filter(|c| c.2.lower != i64::MIN && distance(c.0) >= 0);
        let near: i128 = lowers.clone().map(|c| distance(c.0) + 1).sum();
        let values = self.columns[column];
        let most = near.min(values.count().try_into().unwrap_or(i128::MAX));
        if most > MAX_HYPERPLANES {
            return Err(Undecided);
        }
        if values.is_bounded() && most < near {
            return Ok((values.lower..=values.upper).map(|x| (own.clone(), x)).collect());
        }
        let mut planes = Vec::new();
        for (a, rest, bounds) in lowers {
            let row = combined(&own, *a, rest, 1)?;
            for i in 0..=distance(*a) as i64 {
                planes.push((row.clone(), bounds.lower.checked_add(i).ok_or(Undecided)?));
            }
        }
        Ok(planes)
    }
}

/// The units of work of each call, which bound the depth of calls.
const LEVEL_COST: usize = 256;
/// More hyperplanes than this are not searched.
const MAX_HYPERPLANES: i128 = 4096;

fn nearest_to_zero(values: Interval) -> i64 {
    0.clamp(values.lower, values.upper)
}

/// The quotient with the least remainder in magnitude.
fn nearest_quotient(x: i64, by: i64) -> i64 {
    let half = i128::from(by.unsigned_abs() / 2);
    let sign = i128::from(by.signum());
    let quotient = (i128::from(x) * sign + half).div_euclid(i128::from(by.unsigned_abs()));
    quotient as i64
}
