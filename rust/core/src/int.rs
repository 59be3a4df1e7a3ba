//! The integer semantics, once: floor division, remainder in `[0, |m|)`, gcd, checked and saturating forms.

/// `a floordiv b`, rounded towards minus infinity; `None` for `b = 0` and for `i64::MIN floordiv -1`.
pub fn floor_div(a: i64, b: i64) -> Option<i64> {
    let q = a.checked_div(b)?;
    Some(if a % b != 0 && ((a < 0) != (b < 0)) { q - 1 } else { q })
}

/// `a ceildiv b`, rounded towards plus infinity; `None` as for [`floor_div`].
pub fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let q = a.checked_div(b)?;
    Some(if a % b != 0 && ((a < 0) == (b < 0)) { q + 1 } else { q })
}

/// `a mod m` in `[0, |m|)`; `None` for `m = 0`.
pub fn floor_mod(a: i64, m: i64) -> Option<i64> {
    if m == 0 {
        return None;
    }
    // |i64::MIN| is no i64, but every remainder by it is.
    let r = a.wrapping_rem(m);
    Some(if r < 0 { r.wrapping_add(m.wrapping_abs()) } else { r }).filter(|r| *r >= 0)
}

/// `a floordiv m` and `a mod m` for a positive `m`, in one division.
pub fn div_mod_positive(a: i64, m: i64) -> (i64, i64) {
    debug_assert!(m > 0);
    let (q, r) = (a / m, a % m);
    if r < 0 {
        (q - 1, r + m)
    } else {
        (q, r)
    }
}

/// The greatest common divisor of the absolute values; `gcd(0, x) = |x|`.
pub fn gcd(a: i64, b: i64) -> u64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `gcd` as an int64. Where the result is 2^63 (both in {0, i64::MIN}), its half: 0 would read as "all are 0" to the next
/// step of a fold, and a smaller common divisor is one all the same.
pub fn gcd_i64(a: i64, b: i64) -> i64 {
    i64::try_from(gcd(a, b)).unwrap_or(1 << 62)
}

/// `(g, x)` with `g = gcd(a, m)` and `a * x = g (mod m)`, for `a`, `m` > 0.
pub fn inverse_mod(a: i64, m: i64) -> (i64, i64) {
    let (mut r0, mut r1) = (a as i128, m as i128);
    let (mut x0, mut x1) = (1i128, 0i128);
    while r1 != 0 {
        let q = r0 / r1;
        (r0, r1) = (r1, r0 - q * r1);
        (x0, x1) = (x1, x0 - q * x1);
    }
    (r0 as i64, x0.rem_euclid(m as i128) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_semantics_follow_the_definition() {
        for a in -40i64..=40 {
            for b in (-9i64..=9).filter(|b| *b != 0) {
                let q = floor_div(a, b).unwrap();
                let below = (a - q * b) * b.signum();
                assert!((0..b.abs()).contains(&below), "{a} floordiv {b} = {q}");
                let r = floor_mod(a, b).unwrap();
                assert!((0..b.abs()).contains(&r) && (a - r) % b == 0, "{a} mod {b} = {r}");
                assert_eq!(ceil_div(a, b), floor_div(-a, b).map(|q| -q));
            }
        }
    }

    #[test]
    fn ends_of_int64() {
        assert_eq!(floor_div(i64::MIN, -1), None);
        assert_eq!(floor_div(1, 0), None);
        assert_eq!(floor_mod(-1, i64::MIN), Some(i64::MAX));
        assert_eq!(floor_mod(i64::MIN, i64::MIN), Some(0));
        assert_eq!(floor_mod(7, 0), None);
        assert_eq!(gcd(i64::MIN, 0), 1 << 63);
    }

    #[test]
    fn a_fold_of_divisors_divides_all() {
        let numbers = [0, 6, -12, i64::MIN, i64::MIN + 2, i64::MAX];
        for a in numbers {
            for b in numbers {
                for c in numbers {
                    let g = [a, b, c].into_iter().fold(0, gcd_i64);
                    let divides = |x: i64| if g == 0 { x == 0 } else { x % g == 0 };
                    assert!([a, b, c].into_iter().all(divides), "{a}, {b}, {c}: {g}");
                }
            }
        }
    }

    #[test]
    fn inverses() {
        for m in 1..30 {
            for a in 1..30 {
                let (g, x) = inverse_mod(a, m);
                assert_eq!(g as u64, gcd(a, m));
                assert_eq!((a * x - g).rem_euclid(m), 0);
            }
        }
    }
}
