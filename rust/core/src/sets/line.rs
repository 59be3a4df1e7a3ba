//! Solutions of constraints on a line: one variable varies, all others have one value.

use crate::expr::flat::Dag;
use crate::expr::flat_nodes::Entry;
use crate::int::{floor_div, floor_mod, inverse_mod};
use crate::interval::Interval;
use crate::simplify::congruence::{chinese_remainder, Conjunction};

/// The values in an interval that are congruent to `residue`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Solutions {
    interval: Interval,
    modulus: i64,
    residue: i64,
}

/// More values than this are not listed.
const MAX_LISTED: u128 = 1 << 12;

impl Solutions {
    const NONE: Solutions = Solutions { interval: Interval::EMPTY, modulus: 1, residue: 0 };

    /// The values in ascending order, each by itself unless they are adjacent, or many.
    pub(super) fn values(self) -> Vec<Interval> {
        let Solutions { interval, modulus, residue } = self;
        let steps = interval.count() / modulus.unsigned_abs() as u128;
        if interval.is_empty() {
            return Vec::new();
        }
        let gap = floor_mod(residue.wrapping_sub(interval.lower), modulus);
        let first = gap.filter(|_| interval.is_bounded()).and_then(|gap| interval.lower.checked_add(gap));
        match first {
            Some(first) if modulus > 1 && steps <= MAX_LISTED => {
                let places = (0..=steps as i64).filter_map(|k| first.checked_add(k.checked_mul(modulus)?));
                places.take_while(|x| *x <= interval.upper).map(Interval::point).collect()
            }
            _ => vec![interval],
        }
    }

    /// Those with `coeff * x + rest` in `allowed`.
    fn bounded(self, coeff: i64, rest: i64, allowed: Interval) -> Solutions {
        Solutions { interval: self.interval.intersect(solutions(coeff, rest, allowed)), ..self }
    }

    /// Those with `coeff * x = right` modulo `m`.
    fn congruent(self, coeff: i64, right: i64, m: i64) -> Solutions {
        let Some(lead) = floor_mod(coeff, m) else { return self };
        let (g, inverse) = if lead == 0 { (m, 0) } else { inverse_mod(lead, m) };
        if right % g != 0 {
            return Solutions::NONE;
        }
        let modulus = m / g;
        let residue = (i128::from(right / g) * i128::from(inverse)).rem_euclid(modulus.into()) as i64;
        match chinese_remainder((self.residue, self.modulus), (residue, modulus)) {
            Conjunction::Unsatisfiable => Solutions::NONE,
            Conjunction::Overflow => self,
            Conjunction::Congruence(residue, modulus) => Solutions { residue, modulus, ..self },
        }
    }
}

/// The value of a node on the line: `coeff * x + constant`.
type Linear = Option<(i64, i64)>;

impl Dag {
    /// The values of variable `v`, in a box in which only it varies, at which the roots that depend linearly on it, or linearly
    /// within a remainder, may lie in `bounds`. Other roots are not considered.
    pub(super) fn solutions_on_line(&self, bounds: &[Interval], part: &[Interval], v: usize) -> Solutions {
        let mut known = Solutions { interval: part[v], modulus: 1, residue: 0 };
        let entries: Vec<Entry<'_>> = self.entries().collect();
        let mut values: Vec<Linear> = Vec::with_capacity(entries.len());
        for entry in &entries {
            values.push(linear_on_line(entry, &values, part, v));
        }
        for (root, allowed) in self.root_positions().iter().zip(bounds) {
            match (values[*root as usize], &entries[*root as usize]) {
                (Some((coeff, rest)), _) => known = known.bounded(coeff, rest, *allowed),
                (None, Entry::Mod(x, m)) => {
                    let divisor = values[*m].filter(|m| m.0 == 0 && m.1 > 0);
                    let Some(((coeff, rest), (_, m))) = values[*x].zip(divisor) else { continue };
                    let residues = allowed.intersect(Interval::new(0, m - 1));
                    let right = rest.checked_neg().and_then(|r| floor_mod(r, m));
                    let right = right.and_then(|r| floor_mod(r.checked_add(residues.lower)?, m));
                    if let Some(right) = right.filter(|_| residues.is_point()) {
                        known = known.congruent(coeff, right, m);
                    }
                }
                _ => {}
            }
        }
        known
    }
}

fn linear_on_line(entry: &Entry<'_>, values: &[Linear], part: &[Interval], v: usize) -> Linear {
    let fixed = |p: usize| values[p].filter(|x| x.0 == 0).map(|x| x.1);
    let constant = |x: i64| (0, x);
    match entry {
        Entry::Variable(w) if *w as usize == v => Some((1, 0)),
        Entry::Variable(w) => Some(constant(part.get(*w as usize)?.lower)),
        Entry::Constant(c) => Some(constant(*c)),
        Entry::FloorDiv(a, b) => floor_div(fixed(*a)?, fixed(*b)?).map(constant),
        Entry::Mod(a, b) => floor_mod(fixed(*a)?, fixed(*b)?).map(constant),
        Entry::Min(args) => args.iter().map(|p| fixed(*p as usize)).min()?.map(constant),
        Entry::Max(args) => {
            let all: Option<Vec<i64>> = args.iter().map(|p| fixed(*p as usize)).collect();
            all?.into_iter().max().map(constant)
        }
        Entry::Sum(c, pairs) => pairs.chunks_exact(2).try_fold((0i64, *c), |(coeff, rest), pair| {
            let (a, b) = values[pair[1] as usize]?;
            Some((coeff.checked_add(a.checked_mul(pair[0])?)?, rest.checked_add(b.checked_mul(pair[0])?)?))
        }),
        Entry::Product(args) => args.iter().try_fold((0i64, 1i64), |(a, b), p| {
            let (c, d) = values[*p as usize]?;
            let linear = a.checked_mul(d)?.checked_add(b.checked_mul(c)?)?;
            (a == 0 || c == 0).then_some((linear, b.checked_mul(d)?))
        }),
    }
}

/// The `x` with `coeff * x + rest` in the interval.
pub(super) fn solutions(coeff: i64, rest: i64, interval: Interval) -> Interval {
    if coeff == 0 {
        return if interval.contains(rest) { Interval::ALL } else { Interval::EMPTY };
    }
    let c = i128::from(coeff);
    let floor = |end: i64| (i128::from(end) - i128::from(rest)).div_euclid(c.abs()) * c.signum();
    let ceiling = |end: i64| -(i128::from(rest) - i128::from(end)).div_euclid(c.abs()) * c.signum();
    let (least, most) = (ceiling(interval.lower), floor(interval.upper));
    let (least, most) = if coeff > 0 { (least, most) } else { (most, least) };
    let open_below = if coeff > 0 { interval.lower == i64::MIN } else { interval.upper == i64::MAX };
    let open_above = if coeff > 0 { interval.upper == i64::MAX } else { interval.lower == i64::MIN };
    let (first, last) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let least = if open_below { first } else { least };
    let most = if open_above { last } else { most };
    if least > last || most < first || least > most {
        return Interval::EMPTY;
    }
    Interval::new(least.max(first) as i64, most.min(last) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_are_all_there_are() {
        for (coeff, rest) in (-4..=4).flat_map(|c| (-6..=6).map(move |r| (c, r))) {
            for (lower, upper) in (-9..9).flat_map(|l| (l..9).map(move |u| (l, u))) {
                let solved = solutions(coeff, rest, Interval::new(lower, upper));
                for x in -20..=20 {
                    let inside = (lower..=upper).contains(&(coeff * x + rest));
                    assert_eq!(solved.contains(x), inside, "{coeff} * {x} + {rest} in [{lower}, {upper}]");
                }
            }
        }
        let far = solutions(-1, i64::MIN + 2, Interval::point(0));
        assert_eq!(far, Interval::point(i64::MIN + 2));
        assert!(solutions(1, i64::MIN, Interval::point(0)).is_empty());
        // An end that is open holds for what int64 does not.
        assert_eq!(solutions(4, 1, Interval::new(0, i64::MAX)), Interval::new(0, i64::MAX));
        assert_eq!(solutions(4, 1, Interval::new(i64::MIN, 0)), Interval::new(i64::MIN, -1));
        assert_eq!(solutions(-4, 1, Interval::new(0, i64::MAX)), Interval::new(i64::MIN, 0));
        assert_eq!(solutions(-4, 1, Interval::new(i64::MIN, 0)), Interval::new(1, i64::MAX));
        assert_eq!(solutions(0, 1, Interval::new(0, 1)), Interval::ALL);
        // Both ends of int64 may be the only solution, or miss it by one.
        assert_eq!(solutions(1, 0, Interval::point(i64::MIN)), Interval::point(i64::MIN));
        assert_eq!(solutions(1, 0, Interval::point(i64::MAX)), Interval::point(i64::MAX));
        assert_eq!(solutions(1, 1, Interval::point(i64::MIN + 1)), Interval::point(i64::MIN));
        assert_eq!(solutions(1, -1, Interval::point(i64::MAX - 1)), Interval::point(i64::MAX));
        assert!(solutions(1, i64::MAX, Interval::new(-5, -3)).is_empty());
    }

    #[test]
    fn congruences_have_the_solutions_of_the_definition() {
        let whole = Solutions { interval: Interval::new(-20, 30), modulus: 1, residue: 0 };
        for m in 1..9 {
            for (coeff, right) in (-9..9).flat_map(|c| (0..m).map(move |r| (c, r))) {
                let solved = whole.congruent(coeff, right, m).congruent(3, 1, 4);
                let listed: Vec<i64> = solved.values().iter().flat_map(|i| i.lower..=i.upper).collect();
                let holds =
                    |x: &i64| floor_mod(coeff * x - right, m) == Some(0) && floor_mod(3 * x, 4) == Some(1);
                let wanted: Vec<i64> = (-20..=30).filter(holds).collect();
                assert_eq!(listed, wanted, "{coeff} * x = {right} mod {m}");
            }
        }
    }
}
