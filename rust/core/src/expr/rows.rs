//! Arithmetic on rows of int64, in loops that compilers vectorize, also for processors with SSE2 only. A row is first
//! computed under an assumption that holds for typical indices (a difference does not overflow, a factor fits in int32). The
//! loop collects violations in a mask, which is tested once per row; if there are any, the row is computed again in general.

/// Apply a function to each value.
pub(super) fn each(out: &mut [i64], row: &[i64], of: impl Fn(i64) -> i64) {
    out.iter_mut().zip(row).for_each(|(o, x)| *o = of(*x));
}

/// Apply a function to pairs of values; false if any pair has no result.
pub(super) fn each_pair(
    out: &mut [i64],
    left: &[i64],
    right: &[i64],
    of: impl Fn(i64, i64) -> Option<i64>,
) -> bool {
    let mut good = true;
    for ((o, x), y) in out.iter_mut().zip(left).zip(right) {
        let value = of(*x, *y);
        good &= value.is_some();
        *o = value.unwrap_or(0);
    }
    good
}

/// Combine the values of two rows or more with a function that returns a value and a mark; the bitwise or of all marks.
fn fold<'a>(
    out: &mut [i64],
    mut rows: impl Iterator<Item = &'a [i64]>,
    of: impl Fn(i64, i64) -> (i64, i64),
) -> i64 {
    let (Some(first), Some(second)) = (rows.next(), rows.next()) else {
        unreachable!("two operands or more")
    };
    let mut marks = 0;
    for ((o, x), y) in out.iter_mut().zip(first).zip(second) {
        let (value, mark) = of(*x, *y);
        *o = value;
        marks |= mark;
    }
    for row in rows {
        for (o, x) in out.iter_mut().zip(row) {
            let (value, mark) = of(*o, *x);
            *o = value;
            marks |= mark;
        }
    }
    marks
}

/// The elementwise minimum of the rows.
pub(super) fn min<'a>(out: &mut [i64], rows: impl Iterator<Item = &'a [i64]> + Clone) {
    let quick = |x: i64, y: i64| {
        let (difference, mark) = difference(x, y);
        (y.wrapping_add(difference & (difference >> 63)), mark)
    };
    if fold(out, rows.clone(), quick) < 0 {
        fold(out, rows, |x, y| (x.min(y), 0));
    }
}

/// The elementwise maximum of the rows.
pub(super) fn max<'a>(out: &mut [i64], rows: impl Iterator<Item = &'a [i64]> + Clone) {
    let quick = |x: i64, y: i64| {
        let (difference, mark) = difference(x, y);
        (x.wrapping_sub(difference & (difference >> 63)), mark)
    };
    if fold(out, rows.clone(), quick) < 0 {
        fold(out, rows, |x, y| (x.max(y), 0));
    }
}

/// The wrapped difference of two values, and a mark that is negative if it overflows.
fn difference(x: i64, y: i64) -> (i64, i64) {
    let difference = x.wrapping_sub(y);
    (difference, (x ^ y) & (x ^ difference))
}

/// The elementwise product of the rows; false if one overflows.
pub(super) fn product<'a>(out: &mut [i64], rows: impl Iterator<Item = &'a [i64]> + Clone) -> bool {
    // If x and y are in [-2^31, 2^31), then u = x + 2^31 and v = y + 2^31 are in [0, 2^32), whose product is one vector
    // instruction, and x * y = u * v - 2^31 * (u + v) + 2^62.
    let quick = |x: i64, y: i64| {
        let (u, v) = (x.wrapping_add(1 << 31), y.wrapping_add(1 << 31));
        let excess = (u.wrapping_add(v) << 31).wrapping_sub(1 << 62);
        (low(u).wrapping_mul(low(v)).wrapping_sub(excess), u | v)
    };
    let is_narrow = rows.clone().all(begins_narrow) && fold(out, rows.clone(), quick) as u64 >> 32 == 0;
    is_narrow || {
        let any = |x: i64, y: i64| {
            let (product, over) = x.overflowing_mul(y);
            (product, -i64::from(over))
        };
        fold(out, rows, any) >= 0
    }
}

/// Whether the first value is one of int32. Where it is not, nothing is tried that only those allow.
fn begins_narrow(row: &[i64]) -> bool {
    row.first().is_none_or(|x| i32::try_from(*x).is_ok())
}

/// The lower half of a value, not negative.
fn low(x: i64) -> i64 {
    x & 0xffff_ffff
}

/// The assumption about values under which their multiples are computed.
#[derive(Clone, Copy)]
enum Width {
    /// They fit in int32: a multiple is one vector instruction on the lower halves.
    Narrow,
    /// They are so small that multiples fit in int64: a multiple is two such instructions.
    Wide,
    /// None: each multiple is checked for overflow.
    Any,
}

/// A constant plus the sum of multiples of the rows; false if a partial sum overflows.
pub(super) fn sum<'a>(
    out: &mut [i64],
    constant: i64,
    terms: impl Iterator<Item = (i64, &'a [i64])> + Clone,
) -> bool {
    let widths = [Width::Narrow, Width::Wide, Width::Any];
    widths.into_iter().find_map(|width| add_all(out, constant, terms.clone(), width)).unwrap_or(false)
}

/// As `sum`; nothing if a value violates the assumption of `width`.
fn add_all<'a>(
    out: &mut [i64],
    constant: i64,
    terms: impl Iterator<Item = (i64, &'a [i64])> + Clone,
    width: Width,
) -> Option<bool> {
    let plain = terms.clone().position(|(coeff, _)| constant == 0 && coeff == 1);
    let others = terms.clone().enumerate().filter(|(k, _)| Some(*k) != plain);
    let before = plain.and_then(|k| terms.clone().nth(k));
    let mut good = true;
    for (n, (_, (coeff, row))) in others.enumerate() {
        good &= match (n, before) {
            (0, Some((_, before))) => add_multiple(out, coeff, row, before, |_, before| before, width),
            (0, None) => add_multiple(out, coeff, row, row, |_, _| constant, width),
            _ => add_multiple(out, coeff, row, row, |so_far, _| so_far, width),
        }?;
    }
    Some(good)
}

/// Set each value of `out` to what `start` returns for it and the value of `before`, plus a multiple of the value of `row`;
/// false if a product or a sum overflows, nothing if a value violates the assumption of `width`.
fn add_multiple(
    out: &mut [i64],
    coeff: i64,
    row: &[i64],
    before: &[i64],
    start: impl Fn(i64, i64) -> i64,
    width: Width,
) -> Option<bool> {
    if coeff == 1 {
        return Some(add(out, row, before, start, |x| x));
    }
    let (sign, size) = (coeff >> 63, coeff.wrapping_abs());
    let signed = |x: i64| (x ^ sign).wrapping_sub(sign);
    let width = if size as u64 >> 32 == 0 { width } else { Width::Any };
    if matches!(width, Width::Narrow) && !begins_narrow(row) {
        return None;
    }
    // A value x in [-2^bits, 2^bits) satisfies the assumption: the upper bits of x + 2^bits are then 0. Intermediate results
    // may wrap; the multiple itself does not.
    let bits = match width {
        Width::Narrow => 31,
        _ => (size as u64).leading_zeros().saturating_sub(1),
    };
    let (mut seen, bias, excess) = (0, 1i64 << bits, signed(size.wrapping_shl(bits)));
    let fits = match width {
        Width::Narrow => add(out, row, before, start, |x| {
            let shifted = x.wrapping_add(bias);
            seen |= shifted;
            signed(low(shifted).wrapping_mul(low(size))).wrapping_sub(excess)
        }),
        Width::Wide => add(out, row, before, start, |x| {
            seen |= x.wrapping_add(bias);
            signed(x.wrapping_mul(low(size)))
        }),
        Width::Any => {
            let mut overflows = false;
            let fits = add(out, row, before, start, |x| {
                let (product, over) = coeff.overflowing_mul(x);
                overflows |= over;
                product
            });
            return Some(fits && !overflows);
        }
    };
    (seen as u64 >> (bits + 1) == 0).then_some(fits)
}

/// Set each value of `out` to what `start` returns, as in `add_multiple`, plus `of` the value of `row`; false if a sum
/// overflows.
fn add(
    out: &mut [i64],
    row: &[i64],
    before: &[i64],
    start: impl Fn(i64, i64) -> i64,
    mut of: impl FnMut(i64) -> i64,
) -> bool {
    let mut signs = 0;
    for ((o, x), b) in out.iter_mut().zip(row).zip(before) {
        let (old, more) = (start(*o, *b), of(*x));
        let total = old.wrapping_add(more);
        signs |= (old ^ total) & (more ^ total); // negative if both have another sign than their sum
        *o = total;
    }
    signs >= 0
}

/// A division by a constant from 2 on, by a product and a shift.
#[derive(Clone, Copy)]
pub(super) struct Reciprocal {
    divisor: i64,
    factor: u64,
    shift: u32,
}

impl Reciprocal {
    pub(super) fn of(divisor: i64) -> Option<Reciprocal> {
        if divisor < 2 {
            return None;
        }
        // With 2^(l-1) < divisor <= 2^l and factor = floor(2^(63+l) / divisor) + 1, factor * u >> 63 + l is the quotient of
        // every u < 2^63 (Granlund and Montgomery, Division by Invariant Integers, theorem 4.2); factor is below 2^64.
        let log = 64 - (divisor as u64 - 1).leading_zeros();
        let factor = (1u128 << (63 + log)) / divisor as u128 + 1;
        Some(Reciprocal { divisor, factor: factor as u64, shift: log - 1 })
    }

    /// `x floordiv divisor`: of a negative x as of -1 - x.
    pub(super) fn quotient(self, x: i64) -> i64 {
        let sign = x >> 63;
        let high = (u128::from((x ^ sign) as u64) * u128::from(self.factor)) >> 64;
        ((high as u64 >> self.shift) as i64) ^ sign
    }

    /// `x mod divisor`. The product wraps where the quotient is rounded down beyond int64; the difference does not.
    pub(super) fn remainder(self, x: i64) -> i64 {
        x.wrapping_sub(self.quotient(x).wrapping_mul(self.divisor))
    }
}

#[cfg(test)]
mod tests {
    use super::{max, min, product, sum, Reciprocal};
    use crate::int::{floor_div, floor_mod};

    /// Values around 0 and around each bound that a faster computation assumes, and factors around the largest of each.
    fn values() -> Vec<i64> {
        let powers = [1i64, 1 << 15, 1 << 31, 1 << 32, 1 << 46, 1 << 60, 1 << 61, 1 << 62];
        let near = powers.into_iter().chain([3 << 60, i64::MAX - 1]).flat_map(|p| [p - 1, p, p + 1]);
        near.flat_map(|x| [x, -x]).chain([i64::MIN]).collect()
    }

    /// The value that an operation on rows of one value finds; nothing if it says that it overflows.
    fn the_value(of: impl Fn(&mut [i64]) -> bool) -> Option<i64> {
        let mut out = [77];
        of(&mut out).then_some(out[0])
    }

    #[test]
    fn rows_are_computed_as_in_128_bits() {
        let all = values();
        for (x, y) in all.iter().flat_map(|x| all.iter().map(move |y| (*x, *y))) {
            let (a, b) = (i128::from(x), i128::from(y));
            let rows = [&[x][..], &[y][..]];
            let ones = [(1, rows[0]), (1, rows[1])];
            let coeff = if x == 0 { 5 } else { x }; // a term has a coefficient
            let multiple = [(coeff, rows[1]), (1, &[0][..])];
            let cases = [
                ("product", a * b, the_value(|out| product(out, rows.into_iter()))),
                ("sum", a + b, the_value(|out| sum(out, 0, ones.into_iter()))),
                ("multiple", i128::from(coeff) * b, the_value(|out| sum(out, 0, multiple.into_iter()))),
                (
                    "min",
                    a.min(b),
                    the_value(|out| {
                        min(out, rows.into_iter());
                        true
                    }),
                ),
                (
                    "max",
                    a.max(b),
                    the_value(|out| {
                        max(out, rows.into_iter());
                        true
                    }),
                ),
            ];
            for (name, wide, narrow) in cases {
                assert_eq!(i64::try_from(wide).ok(), narrow, "{name} of {x} and {y}");
            }
        }
    }

    /// One value that violates an assumption has its whole row computed again, whatever the first value says.
    #[test]
    fn a_row_is_computed_again_for_one_value() {
        for x in values() {
            let row = [1, x, -1];
            let fits =
                |wide: [i128; 3]| wide.map(|w| i64::try_from(w).ok()).into_iter().collect::<Option<Vec<_>>>();
            for coeff in [2, -2, 3, 1 << 31, 4294967295, -4294967295, 4294967296] {
                let wide = row.map(|v| i128::from(v) * i128::from(coeff));
                let mut out = [0; 3];
                let is_right = sum(&mut out, 0, [(coeff, &row[..])].into_iter());
                assert_eq!(is_right.then(|| out.to_vec()), fits(wide), "{coeff} * {row:?}");
                let is_right = product(&mut out, [&row[..], &[coeff; 3][..]].into_iter());
                assert_eq!(is_right.then(|| out.to_vec()), fits(wide), "{row:?} * {coeff}");
                min(&mut out, [&row[..], &[coeff; 3][..], &[2; 3][..]].into_iter());
                assert_eq!(out, row.map(|v| v.min(coeff).min(2)), "min of {row:?}, {coeff} and 2");
                max(&mut out, [&row[..], &[coeff; 3][..], &[2; 3][..]].into_iter());
                assert_eq!(out, row.map(|v| v.max(coeff).max(2)), "max of {row:?}, {coeff} and 2");
            }
        }
    }

    #[test]
    fn reciprocals_divide() {
        let near = |x: i64| [x.saturating_sub(1), x, x.saturating_add(1)];
        let powers = (0..63).flat_map(|k| near(1 << k)).chain([i64::MAX, 3, 7, 513, 10_000_019]);
        let divisors: Vec<i64> = powers.filter(|d| *d >= 2).collect();
        for d in &divisors {
            let reciprocal = Reciprocal::of(*d).unwrap();
            let multiples = [1, 2, 3, 1000].map(|k| d.saturating_mul(k));
            let ends = [0, i64::MAX, i64::MIN, i64::MIN / d * d];
            for x in multiples.into_iter().chain(ends).chain(divisors.iter().copied()).flat_map(near) {
                for x in [x, x.wrapping_neg()] {
                    assert_eq!(Some(reciprocal.quotient(x)), floor_div(x, *d), "{x} floordiv {d}");
                    assert_eq!(Some(reciprocal.remainder(x)), floor_mod(x, *d), "{x} mod {d}");
                }
            }
        }
        assert!([i64::MIN, -2, -1, 0, 1].iter().all(|d| Reciprocal::of(*d).is_none()));
    }
}
