//! Knowledge about the values of an expression: bounds and a congruence.

use super::{law, Row};
use crate::int::{div_mod_positive, gcd_i64};
use crate::interval::Interval;

/// Bounds of an expression, and a congruence `expr = modulus * k + residue`. Modulus 0 means a constant, 1 no knowledge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The bounds.
    pub bounds: Interval,
    /// The modulus of the congruence.
    pub modulus: i64,
    /// The residue, in `[0, modulus)`; if the modulus is 0, the value.
    pub residue: i64,
}

/// A law that tightens knowledge by itself.
type Tightening = fn(Info) -> Info;

/// The laws by which bounds and congruence of an expression tighten each other.
pub(super) static ANY: [Row<Tightening>; 1] =
    [row!("congruence-tightens", "any": "a + (r - a) % m <= x <= b - (b - r) % m"
        if "x % m = r, a <= x <= b, m > 0, 0 <= r < m" => Info::tighten_bounds)];

impl Info {
    pub(super) const UNKNOWN: Info = Info { bounds: Interval::ALL, modulus: 1, residue: 0 };

    /// Bounds alone.
    pub fn of(bounds: Interval) -> Info {
        if bounds.is_point() {
            return Info { bounds, modulus: 0, residue: bounds.lower };
        }
        Info { bounds, modulus: 1, residue: 0 }
    }

    pub(super) fn point(value: i64) -> Info {
        Info { bounds: Interval::point(value), modulus: 0, residue: value }
    }

    /// A congruence alone; `modulus` is positive.
    pub(super) fn congruent(modulus: i64, residue: i64) -> Info {
        Info { bounds: Interval::ALL, modulus, residue: div_mod_positive(residue, modulus).1 }
    }

    /// The value at this part of the way from the least to the greatest one, down to one with the residue.
    pub(crate) fn value_at(self, part: u8, of: u8) -> i64 {
        let Interval { lower, upper } = self.bounds;
        let (part, of, length) = (u64::from(part), u64::from(of), upper.abs_diff(lower));
        let way = length / of * part + length % of * part / of;
        let value = lower.wrapping_add_unsigned(way);
        if self.modulus > 1 {
            let above = value.wrapping_sub(self.residue).rem_euclid(self.modulus);
            return value.checked_sub(above).map_or(lower, |x| x.max(lower));
        }
        value
    }

    /// The value so many steps of the modulus from the greatest one, or from the least one; the other end beyond that.
    pub(crate) fn value_near_end(self, upper: bool, steps: i64) -> i64 {
        let distance = self.modulus.max(1).saturating_mul(steps);
        match upper {
            true => self.bounds.upper.saturating_sub(distance).max(self.bounds.lower),
            false => self.bounds.lower.saturating_add(distance).min(self.bounds.upper),
        }
    }

    /// Tightens bounds and congruence by each other.
    #[must_use]
    pub fn tightened(self) -> Info {
        ANY.iter().fold(self, |info, row| (row.function)(info))
    }

    /// Moves the bounds inwards to values that satisfy the congruence.
    fn tighten_bounds(mut self) -> Info {
        if self.modulus > 1 {
            if self.bounds.lower != i64::MIN {
                let gap = div_mod_positive(self.residue.wrapping_sub(self.bounds.lower), self.modulus).1;
                // If the difference overflows int64, the bound is left as it is.
                if self.residue.checked_sub(self.bounds.lower).is_some() {
                    self.bounds.lower = raised(self.bounds.lower, gap);
                }
            }
            if self.bounds.upper != i64::MAX && self.bounds.upper.checked_sub(self.residue).is_some() {
                let gap = div_mod_positive(self.bounds.upper - self.residue, self.modulus).1;
                self.bounds.upper = lowered(self.bounds.upper, gap);
            }
        }
        if self.bounds.is_point() {
            return Info::point(self.bounds.lower);
        }
        self
    }

    /// The intersection of both; `self` if they contradict each other.
    #[must_use]
    pub fn and(self, other: Info) -> Info {
        let bounds = self.bounds.intersect(other.bounds);
        if bounds.is_empty() {
            return self;
        }
        let (modulus, residue) =
            if other.modulus > self.modulus && self.modulus > 0 && other.modulus % self.modulus == 0 {
                (other.modulus, other.residue)
            } else {
                (self.modulus, self.residue)
            };
        Info { bounds, modulus, residue }.tightened()
    }
}

/// The congruence of a sum and one more term.
pub(super) fn add_to_congruence((modulus, residue): (i64, i64), coeff: i64, term: &Info) -> (i64, i64) {
    let own = coeff.checked_mul(term.modulus);
    if own == Some(1) {
        return (1, 0);
    }
    let shifted = coeff.checked_mul(term.residue).and_then(|x| residue.checked_add(x));
    match own.zip(shifted) {
        Some((own, shifted)) => (gcd_i64(modulus, own), shifted),
        None => (1, 0),
    }
}

/// A lower bound moved up, but not to the number that means "unbounded" as an upper bound.
fn raised(lower: i64, gap: i64) -> i64 {
    lower.checked_add(gap).unwrap_or(i64::MAX).min(lower.max(i64::MAX - 1))
}

/// An upper bound moved down, but not to the number that means "unbounded" as a lower bound.
fn lowered(upper: i64, gap: i64) -> i64 {
    upper.checked_sub(gap).unwrap_or(i64::MIN).max(upper.min(i64::MIN + 1))
}
