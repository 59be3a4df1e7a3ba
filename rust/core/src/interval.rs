//! Closed intervals of int64, and comparison that may answer "depends".
//!
//! `i64::MIN` as a lower bound and `i64::MAX` as an upper bound stand for "unbounded": arithmetic on bounds saturates
//! to them, and what starts from them stays there, so that an overflow can only widen an interval.

use crate::int::{ceil_div, floor_div};

/// The integers from `lower` to `upper`, both included; empty where `lower > upper`.
///
/// ```
/// use indexing_core::Interval;
///
/// let lanes = Interval::new(0, 31);
/// assert_eq!(lanes.scaled(4).plus(Interval::point(3)), Interval::new(3, 127));
/// assert_eq!(lanes.lt(Interval::point(32)), Some(true));
/// assert_eq!(lanes.lt(Interval::point(16)), None); // it depends
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interval {
    /// The least element.
    pub lower: i64,
    /// The greatest element.
    pub upper: i64,
}

const LOW: i64 = i64::MIN;
const HIGH: i64 = i64::MAX;

fn add_lower(a: i64, b: i64) -> i64 {
    if a == LOW || b == LOW {
        LOW
    } else {
        a.saturating_add(b)
    }
}

fn add_upper(a: i64, b: i64) -> i64 {
    if a == HIGH || b == HIGH {
        HIGH
    } else {
        a.saturating_add(b)
    }
}

fn saturating_product(a: i64, b: i64) -> i64 {
    a.checked_mul(b).unwrap_or(if (a < 0) == (b < 0) { HIGH } else { LOW })
}

/// The product of two ends of intervals of several values; the least and the greatest number stand for open ends.
fn product_of_ends(a: i64, b: i64) -> i64 {
    let open = |x: i64| x == LOW || x == HIGH;
    if a != 0 && b != 0 && (open(a) || open(b)) {
        return if (a < 0) == (b < 0) { HIGH } else { LOW };
    }
    saturating_product(a, b)
}

impl Interval {
    /// All of int64, of which nothing is known.
    pub const ALL: Interval = Interval { lower: LOW, upper: HIGH };
    /// No integer.
    pub const EMPTY: Interval = Interval { lower: 0, upper: -1 };

    /// `[lower, upper]`.
    pub const fn new(lower: i64, upper: i64) -> Self {
        Interval { lower, upper }
    }

    /// The interval between saturated ends: a lower bound that met the greatest number still lies below "unbounded", an
    /// upper bound that met the least one above, so that two saturated ends never look like one value.
    const fn saturated(lower: i64, upper: i64) -> Self {
        let lower = if lower == HIGH { HIGH - 1 } else { lower };
        let upper = if upper == LOW { LOW + 1 } else { upper };
        Interval { lower, upper }
    }

    /// `[value, value]`.
    pub const fn point(value: i64) -> Self {
        Interval { lower: value, upper: value }
    }

    /// Whether it holds no integer.
    pub fn is_empty(self) -> bool {
        self.lower > self.upper
    }

    /// Whether it holds exactly one integer.
    pub fn is_point(self) -> bool {
        self.lower == self.upper
    }

    /// Whether both ends are known.
    pub fn is_bounded(self) -> bool {
        self.lower != LOW && self.upper != HIGH
    }

    /// Whether it holds `value`.
    pub fn contains(self, value: i64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Whether it holds all integers of `other`.
    pub fn covers(self, other: Interval) -> bool {
        other.is_empty() || (self.lower <= other.lower && other.upper <= self.upper)
    }

    /// The number of integers.
    pub fn count(self) -> u128 {
        if self.is_empty() {
            0
        } else {
            (self.upper as i128 - self.lower as i128 + 1) as u128
        }
    }

    /// The integers in both.
    #[must_use]
    pub fn intersect(self, other: Interval) -> Interval {
        Interval::new(self.lower.max(other.lower), self.upper.min(other.upper))
    }

    /// The integers that it does not hold: those below, those above.
    pub(crate) fn complement(self) -> impl Iterator<Item = Interval> {
        let below = self.lower.checked_sub(1).map(|upper| Interval::new(LOW, upper));
        let above = self.upper.checked_add(1).map(|lower| Interval::new(lower, HIGH));
        let parts = if self.is_empty() { [Some(Interval::ALL), None] } else { [below, above] };
        parts.into_iter().flatten()
    }

    /// The least interval that holds both.
    #[must_use]
    pub fn union(self, other: Interval) -> Interval {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        Interval::new(self.lower.min(other.lower), self.upper.max(other.upper))
    }

    /// All sums.
    #[must_use]
    pub fn plus(self, other: Interval) -> Interval {
        Interval::saturated(add_lower(self.lower, other.lower), add_upper(self.upper, other.upper))
    }

    /// All differences.
    #[must_use]
    pub fn minus(self, other: Interval) -> Interval {
        self.plus(other.negated())
    }

    /// All negatives.
    #[must_use]
    pub fn negated(self) -> Interval {
        let lower = if self.upper == HIGH { LOW } else { self.upper.saturating_neg() };
        let upper = if self.lower == LOW { HIGH } else { self.lower.saturating_neg() };
        Interval::saturated(lower, upper)
    }

    /// All multiples by a constant.
    #[must_use]
    pub fn scaled(self, factor: i64) -> Interval {
        if factor == 0 {
            return Interval::point(0);
        }
        let (a, b) = if factor > 0 { (self.lower, self.upper) } else { (self.upper, self.lower) };
        // But for the negative of the greatest number, the products of open ends saturate to open ends.
        let lower = if factor < 0 && a == HIGH { LOW } else { saturating_product(a, factor) };
        Interval::saturated(lower, saturating_product(b, factor))
    }

    /// The least interval that holds all products.
    #[must_use]
    pub fn times(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        if other.is_point() {
            return self.scaled(other.lower);
        }
        if self.is_point() {
            return other.scaled(self.lower);
        }
        let ends = [
            product_of_ends(self.lower, other.lower),
            product_of_ends(self.lower, other.upper),
            product_of_ends(self.upper, other.lower),
            product_of_ends(self.upper, other.upper),
        ];
        Interval::saturated(*ends.iter().min().unwrap_or(&LOW), *ends.iter().max().unwrap_or(&HIGH))
    }

    /// The floor quotients by a positive constant.
    #[must_use]
    pub fn floordiv_positive(self, divisor: i64) -> Interval {
        debug_assert!(divisor > 0);
        let lower = if self.lower == LOW { LOW } else { self.lower.div_euclid(divisor) };
        let upper = if self.upper == HIGH { HIGH } else { self.upper.div_euclid(divisor) };
        Interval::new(lower, upper)
    }

    /// The least interval that holds all floor quotients by the nonzero elements of `other`.
    #[must_use]
    pub fn floordiv(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        let mut all = Interval::EMPTY;
        let positive = other.intersect(Interval::new(1, HIGH));
        let negative = other.intersect(Interval::new(LOW, -1));
        for part in [positive, negative] {
            if part.is_empty() {
                continue;
            }
            for divisor in [part.lower, part.upper] {
                // The greatest number as a lower end is itself, as the least one is as an upper end.
                for (end, open) in [(self.lower, self.lower == LOW), (self.upper, self.upper == HIGH)] {
                    let towards_low = (end < 0) != (divisor < 0);
                    let q = match floor_div(end, divisor) {
                        _ if open && towards_low => LOW,
                        Some(_) if open => HIGH,
                        Some(q) => q,
                        None => HIGH,
                    };
                    all = all.union(Interval::point(q));
                }
            }
        }
        if all.is_empty() {
            all
        } else {
            Interval::saturated(all.lower, all.upper)
        }
    }

    /// The possible remainders of division by the nonzero elements, for any dividend.
    #[must_use]
    pub fn remainders(self) -> Interval {
        if !self.is_bounded() {
            return Interval::new(0, HIGH);
        }
        Interval::new(0, self.lower.saturating_neg().max(self.upper).saturating_sub(1).max(0))
    }

    /// The smaller of two elements.
    #[must_use]
    pub fn min(self, other: Interval) -> Interval {
        Interval::saturated(self.lower.min(other.lower), self.upper.min(other.upper))
    }

    /// The greater of two elements.
    #[must_use]
    pub fn max(self, other: Interval) -> Interval {
        Interval::saturated(self.lower.max(other.lower), self.upper.max(other.upper))
    }

    /// The `x` with `x * factor` in the interval, for a nonzero factor.
    #[must_use]
    pub fn quotient_by(self, factor: i64) -> Interval {
        debug_assert!(factor != 0);
        let (a, b) = if factor > 0 { (self.lower, self.upper) } else { (self.upper, self.lower) };
        let lower = if a == LOW || a == HIGH { LOW } else { ceil_div(a, factor).unwrap_or(LOW) };
        let upper = if b == HIGH || b == LOW { HIGH } else { floor_div(b, factor).unwrap_or(HIGH) };
        Interval::new(lower, upper)
    }

    /// Whether no element is above an element of `other`; false if an end that decides is unbounded.
    pub fn at_most(self, other: Interval) -> bool {
        self.upper <= other.lower && self.upper != HIGH && other.lower != LOW
    }

    /// Whether every element is below every element of `other`; `None` if that depends, or an end is unbounded.
    pub fn lt(self, other: Interval) -> Option<bool> {
        if self.upper < other.lower {
            Some(true)
        } else if other.at_most(self) {
            Some(false)
        } else {
            None
        }
    }

    /// `<=` of all pairs of elements.
    pub fn le(self, other: Interval) -> Option<bool> {
        other.lt(self).map(|x| !x)
    }

    /// `>` of all pairs of elements.
    pub fn gt(self, other: Interval) -> Option<bool> {
        other.lt(self)
    }

    /// `>=` of all pairs of elements.
    pub fn ge(self, other: Interval) -> Option<bool> {
        self.lt(other).map(|x| !x)
    }

    /// `==` of all pairs of elements.
    pub fn equal(self, other: Interval) -> Option<bool> {
        if self.intersect(other).is_empty() {
            Some(false)
        } else if self.is_point() && self == other {
            Some(true)
        } else {
            None
        }
    }

    /// `!=` of all pairs of elements.
    pub fn not_equal(self, other: Interval) -> Option<bool> {
        self.equal(other).map(|x| !x)
    }
}
