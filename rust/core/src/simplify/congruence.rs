//! The Chinese remainder theorem: two congruences of one expression as one.

use crate::int::{gcd_i64, inverse_mod};

/// The conjunction of two congruences.
pub(crate) enum Conjunction {
    /// No integer satisfies both.
    Unsatisfiable,
    /// The modulus exceeds int64.
    Overflow,
    /// A congruence: the residue and the modulus.
    Congruence(i64, i64),
}

/// `x = r (mod m)` and `x = q (mod n)` as one congruence.
pub(crate) fn chinese_remainder((r, m): (i64, i64), (q, n): (i64, i64)) -> Conjunction {
    let g = gcd_i64(m, n);
    let Some(gap) = q.checked_sub(r) else { return Conjunction::Overflow };
    if gap % g != 0 {
        return Conjunction::Unsatisfiable;
    }
    let Some(lcm) = (m / g).checked_mul(n) else { return Conjunction::Overflow };
    let (step, modulus) = (gap / g, n / g);
    let (_, inverse) = if modulus == 1 { (1, 0) } else { inverse_mod((m / g).rem_euclid(modulus), modulus) };
    let k = (i128::from(step) * i128::from(inverse)).rem_euclid(i128::from(modulus));
    let x = (i128::from(r) + i128::from(m) * k).rem_euclid(i128::from(lcm));
    match i64::try_from(x) {
        Ok(x) => Conjunction::Congruence(x, lcm),
        Err(_) => Conjunction::Overflow,
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
                            Conjunction::Unsatisfiable => assert!(all.is_empty()),
                            Conjunction::Congruence(x, lcm) => {
                                assert_eq!(all.first(), Some(&x), "{r} mod {m}, {q} mod {n}");
                                assert_eq!((m * n) / lcm, all.len() as i64);
                            }
                            Conjunction::Overflow => panic!("small numbers"),
                        }
                    }
                }
            }
        }
    }
}
