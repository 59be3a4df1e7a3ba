//! Systems of linear constraints on integers: normal form, propagation of bounds, substitution, projection.

use crate::int::gcd_i64;
use crate::interval::Interval;
use smallvec::SmallVec;

/// Coefficients that are not 0, each with its column, in the order of columns.
pub(super) type Row = SmallVec<[(i64, usize); 6]>;

/// A question was left open: its budget of work is exhausted, or a number leaves int64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Undecided;

/// The rest of a budget, in units of coefficients that are read.
#[derive(Debug)]
pub(crate) struct Work(pub(crate) u64);

impl Work {
    pub(super) fn spend(&mut self, units: usize) -> Result<(), Undecided> {
        self.0 = self.0.checked_sub(units as u64).ok_or(Undecided)?;
        Ok(())
    }
}

/// `row in bounds`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Constraint {
    pub(super) row: Row,
    pub(super) bounds: Interval,
}

/// The integer points in a box that satisfy linear constraints. An end of an interval that overflows int64 is open, so that
/// the system may hold more points, never fewer.
#[derive(Clone, Debug, Default)]
pub(super) struct IntegerRelation {
    /// The bounds of each column.
    pub(super) columns: Vec<Interval>,
    pub(super) constraints: Vec<Constraint>,
    pub(super) is_empty: bool,
}

/// The kind of a projection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shadow {
    /// The points above which there is a rational point: all that lie below integer points are among them.
    Real,
    /// Points above which there is an integer point, but not all.
    Dark,
}

/// More constraints than this are not combined.
const MAX_CONSTRAINTS: usize = 160;
/// The maximal number of passes in which bounds are propagated.
const MAX_PASSES: usize = 12;

pub(super) fn coefficient(row: &Row, column: usize) -> i64 {
    row.iter().find(|t| t.1 == column).map_or(0, |t| t.0)
}

/// `p * a + q * b`.
pub(super) fn combined(a: &Row, p: i64, b: &Row, q: i64) -> Result<Row, Undecided> {
    let (mut out, mut i, mut j) = (Row::new(), 0, 0);
    while i < a.len() || j < b.len() {
        let (left, right) = (a.get(i), b.get(j));
        let column = left.into_iter().chain(right).map(|t| t.1).min().unwrap_or(0);
        let part = |term: Option<&(i64, usize)>, place: &mut usize, factor: i64| match term {
            Some((c, at)) if *at == column => {
                *place += 1;
                c.checked_mul(factor).ok_or(Undecided)
            }
            _ => Ok(0),
        };
        let sum = part(left, &mut i, p)?.checked_add(part(right, &mut j, q)?).ok_or(Undecided)?;
        if sum != 0 {
            out.push((sum, column));
        }
    }
    Ok(out)
}

/// The value of a row at a point.
pub(super) fn value_at(row: &Row, point: &[i64]) -> Result<i64, Undecided> {
    let sum = row.iter().map(|(c, column)| i128::from(*c) * i128::from(point[*column])).sum::<i128>();
    i64::try_from(sum).map_err(|_| Undecided)
}

impl IntegerRelation {
    /// The bounds of a row by those of its columns.
    pub(super) fn range(&self, row: &Row) -> Interval {
        row.iter().fold(Interval::point(0), |sum, (c, column)| sum.plus(self.columns[*column].scaled(*c)))
    }

    pub(super) fn restrict(&mut self, column: usize, bounds: Interval) {
        let both = self.columns[column].intersect(bounds);
        self.columns[column] = both;
        self.is_empty |= both.is_empty();
    }

    /// Adds a constraint, divided by its content, its first coefficient positive; intersects those of equal rows.
    pub(super) fn add(&mut self, mut row: Row, bounds: Interval) -> Result<(), Undecided> {
        let content = row.iter().fold(0, |g, t| gcd_i64(g, t.0));
        let Some(&(first, column)) = row.first() else {
            self.is_empty |= !bounds.contains(0);
            return Ok(());
        };
        if row.iter().any(|t| t.0 == i64::MIN) {
            return Err(Undecided);
        }
        let factor = if first < 0 { -content } else { content };
        row.iter_mut().for_each(|t| t.0 /= factor);
        let bounds = bounds.quotient_by(factor);
        if row.len() == 1 {
            self.restrict(column, bounds);
            return Ok(());
        }
        let bounds = match self.constraints.iter_mut().find(|c| c.row == row) {
            Some(known) => {
                known.bounds = known.bounds.intersect(bounds);
                known.bounds
            }
            None => {
                self.constraints.push(Constraint { row, bounds });
                bounds
            }
        };
        self.is_empty |= bounds.is_empty();
        if self.constraints.len() > MAX_CONSTRAINTS {
            Err(Undecided)
        } else {
            Ok(())
        }
    }

    /// Propagates bounds between columns and constraints, and drops what the columns imply. Returns whether there may be a
    /// point.
    pub(super) fn propagate(&mut self, work: &mut Work) -> Result<bool, Undecided> {
        let mut changed = true;
        for _ in 0..MAX_PASSES {
            if !std::mem::take(&mut changed) {
                break;
            }
            let constraints = std::mem::take(&mut self.constraints);
            for c in &constraints {
                work.spend(c.row.len())?;
                changed |= self.bound_columns_by(c);
            }
            self.constraints = constraints;
            if self.is_empty {
                return Ok(false);
            }
        }
        for c in std::mem::take(&mut self.constraints) {
            self.add_open(c)?;
        }
        Ok(!self.is_empty)
    }

    /// Adds a constraint without columns of one value, and with an open end where the columns imply it, so that there is less
    /// to combine.
    fn add_open(&mut self, c: Constraint) -> Result<(), Undecided> {
        let range = self.range(&c.row);
        self.is_empty |= c.bounds.intersect(range).is_empty();
        let lower = if c.bounds.lower <= range.lower { i64::MIN } else { c.bounds.lower };
        let upper = if c.bounds.upper >= range.upper { i64::MAX } else { c.bounds.upper };
        let bounds = if c.bounds.is_point() { c.bounds } else { Interval::new(lower, upper) };
        if bounds == Interval::ALL || range.is_point() {
            return Ok(());
        }
        let is_fixed = |t: &(i64, usize)| self.columns[t.1].is_point();
        let (fixed, row): (Row, Row) = c.row.iter().copied().partition(is_fixed);
        let rest = bounds.minus(self.range(&fixed));
        self.add(row, rest)
    }

    /// Bounds each column of a constraint by the others; returns whether that changed one.
    fn bound_columns_by(&mut self, c: &Constraint) -> bool {
        let total = self.range(&c.row);
        if c.bounds.covers(total) {
            return false;
        }
        let mut changed = false;
        for (place, (factor, column)) in c.row.iter().enumerate() {
            let own = self.columns[*column];
            let rest = if total.is_bounded() {
                let part = own.scaled(*factor);
                Interval::new(total.lower.saturating_sub(part.lower), total.upper.saturating_sub(part.upper))
            } else {
                let others = c.row.iter().enumerate().filter(|(i, _)| *i != place);
                others.fold(Interval::point(0), |sum, (_, t)| sum.plus(self.columns[t.1].scaled(t.0)))
            };
            let bounds = c.bounds.minus(rest).quotient_by(*factor);
            if !bounds.covers(own) {
                self.restrict(*column, bounds);
                changed = true;
            }
        }
        changed
    }

    /// The system with `constant + row` in place of a column, which may itself be part of the row, as a new one.
    pub(super) fn substituted(
        &self,
        column: usize,
        row: &Row,
        constant: i64,
        work: &mut Work,
    ) -> Result<IntegerRelation, Undecided> {
        let mut out = IntegerRelation { columns: self.columns.clone(), ..IntegerRelation::default() };
        out.columns[column] = if coefficient(row, column) == 0 { Interval::point(0) } else { Interval::ALL };
        let moved = |bounds: Interval, by: i64| match by == i64::MIN {
            true => Err(Undecided),
            false => Ok(bounds.plus(Interval::point(-by))),
        };
        for c in &self.constraints {
            work.spend(c.row.len() + row.len())?;
            let own = coefficient(&c.row, column);
            if own == 0 {
                out.add(c.row.clone(), c.bounds)?;
                continue;
            }
            let rest: Row = c.row.iter().copied().filter(|t| t.1 != column).collect();
            let shift = constant.checked_mul(own).ok_or(Undecided)?;
            out.add(combined(&rest, 1, row, own)?, moved(c.bounds, shift)?)?;
        }
        out.add(row.clone(), moved(self.columns[column], constant)?)?;
        Ok(out)
    }

    /// The constraints on a column, as `a * column + row in bounds` with positive `a`, the bounds of the column first.
    pub(super) fn constraints_on(&self, column: usize) -> Vec<(i64, Row, Interval)> {
        let own = (1, Row::new(), self.columns[column]);
        let others = self.constraints.iter().filter_map(|c| {
            let a = coefficient(&c.row, column);
            let sign = a.signum();
            let rest = c.row.iter().filter(|t| t.1 != column).map(|t| (sign * t.0, t.1)).collect();
            (a != 0).then(|| (a * sign, rest, if sign < 0 { c.bounds.negated() } else { c.bounds }))
        });
        std::iter::once(own).chain(others).collect()
    }

    /// The projection along a column, by Fourier and Motzkin: each lower bound of the column is at most each upper one.
    pub(super) fn projected(
        &self,
        column: usize,
        shadow: Shadow,
        work: &mut Work,
    ) -> Result<IntegerRelation, Undecided> {
        let on = self.constraints_on(column);
        let mut out = IntegerRelation { columns: self.columns.clone(), ..IntegerRelation::default() };
        out.columns[column] = Interval::point(0);
        out.constraints.extend(self.constraints.iter().filter(|c| coefficient(&c.row, column) == 0).cloned());
        for (k, (a, first, bounds)) in on.iter().enumerate() {
            out.is_empty |= shadow == Shadow::Dark && !has_multiple(*bounds, *a);
            for (b, second, others) in &on[k + 1..] {
                work.spend(2 + first.len() + second.len())?;
                let g = gcd_i64(*a, *b);
                let (p, q) = (b / g, a / g);
                let mut allowed = bounds.scaled(p).minus(others.scaled(q));
                if shadow == Shadow::Dark {
                    let slack = (a - 1).checked_mul(b - 1).and_then(|s| s.checked_add(g - 1));
                    allowed = shrunk(allowed, slack.ok_or(Undecided)? / g);
                }
                if allowed != Interval::ALL {
                    out.add(combined(first, p, second, -q)?, allowed)?;
                }
            }
        }
        Ok(out)
    }
}

/// Whether each translation of the interval holds a multiple of `a`.
fn has_multiple(bounds: Interval, a: i64) -> bool {
    !bounds.is_bounded() || bounds.count() >= a.unsigned_abs().into()
}

fn shrunk(bounds: Interval, by: i64) -> Interval {
    let lower = if bounds.lower == i64::MIN { i64::MIN } else { bounds.lower.saturating_add(by) };
    let upper = if bounds.upper == i64::MAX { i64::MAX } else { bounds.upper.saturating_sub(by) };
    Interval::new(lower, upper)
}
