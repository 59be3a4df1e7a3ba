//! Two congruences of one expression as one.

use crate::int::{gcd_i64, inverse_mod};

/// Two congruences as one.
pub(crate) enum Joined {
    /// No integer fulfils both.
    Never,
    /// The modulus leaves int64.
    TooLarge,
    /// The residue and the modulus.
    As(i64, i64),
}

/// `x = r (mod m)` and `x = q (mod n)` as one congruence.
pub(crate) fn chinese_remainder((r, m): (i64, i64), (q, n): (i64, i64)) -> Joined {
    let g = gcd_i64(m, n);
    let Some(gap) = q.checked_sub(r) else { return Joined::TooLarge };
    if gap % g != 0 {
        return Joined::Never;
    }
    let Some(lcm) = (m / g).checked_mul(n) else { return Joined::TooLarge };
    let (step, modulus) = (gap / g, n / g);
    let (_, inverse) = if modulus == 1 { (1, 0) } else { inverse_mod((m / g).rem_euclid(modulus), modulus) };
    let k = (i128::from(step) * i128::from(inverse)).rem_euclid(i128::from(modulus));
    let x = (i128::from(r) + i128::from(m) * k).rem_euclid(i128::from(lcm));
    match i64::try_from(x) {
        Ok(x) => Joined::As(x, lcm),
        Err(_) => Joined::TooLarge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_remainders_follow_the_definition() {
        for m in 1..12 {
            for n in 1..12 {
                for r in 0..m {
                    for q in 0..n {
                        let all: Vec<i64> = (0..m * n).filter(|x| x % m == r && x % n == q).collect();
                        match chinese_remainder((r, m), (q, n)) {
                            Joined::Never => assert!(all.is_empty()),
                            Joined::As(x, lcm) => {
                                assert_eq!(all.first(), Some(&x), "{r} mod {m}, {q} mod {n}");
                                assert_eq!((m * n) / lcm, all.len() as i64);
                            }
                            Joined::TooLarge => panic!("small numbers"),
                        }
                    }
                }
            }
        }
    }
}
