//! Preimages of intervals: the values of an operand for which the expression lies in an interval.

use crate::int::{ceil_div, floor_div};
use crate::interval::Interval;

/// The `h` with `g * h + low in interval`, for all values of `low`; `None` if membership depends on `low`.
pub(crate) fn periods(interval: Interval, low: Interval, g: i64) -> Option<Interval> {
    // g * h + low >= a holds for every low if g * h >= a - low.lower, and for none if g * h < a - low.upper.
    let lower = if interval.lower == i64::MIN {
        i64::MIN
    } else {
        let all = ceil_div(interval.lower.checked_sub(low.lower)?, g)?;
        let some = ceil_div(interval.lower.checked_sub(low.upper)?, g)?;
        Some(all).filter(|_| all == some)?
    };
    let upper = if interval.upper == i64::MAX {
        i64::MAX
    } else {
        let all = floor_div(interval.upper.checked_sub(low.upper)?, g)?;
        let some = floor_div(interval.upper.checked_sub(low.lower)?, g)?;
        Some(all).filter(|_| all == some)?
    };
    Some(Interval::new(lower, upper))
}

/// The `x` with `x + offset in interval`; `None` if a bound overflows int64.
pub(crate) fn shifted_back(interval: Interval, offset: i64) -> Option<Interval> {
    transformed(interval, |lower| lower.checked_sub(offset), |upper| upper.checked_sub(offset))
}

/// The `x` with `x floordiv m in interval`; `None` if a bound overflows int64.
pub(crate) fn dividends(interval: Interval, m: i64) -> Option<Interval> {
    transformed(interval, |lower| lower.checked_mul(m), |upper| upper.checked_mul(m)?.checked_add(m - 1))
}

/// The interval of transformed bounds; `None` if one overflows, or becomes a number that means "unbounded".
fn transformed(
    interval: Interval,
    lower: impl Fn(i64) -> Option<i64>,
    upper: impl Fn(i64) -> Option<i64>,
) -> Option<Interval> {
    let stated = |x: &i64| *x != i64::MIN && *x != i64::MAX;
    let low = if interval.lower == i64::MIN { i64::MIN } else { lower(interval.lower).filter(stated)? };
    let high = if interval.upper == i64::MAX { i64::MAX } else { upper(interval.upper).filter(stated)? };
    Some(Interval::new(low, high))
}
