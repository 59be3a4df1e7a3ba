//! Evaluation of a [`Dag`]: at one point, and over blocks of points, in one pass over its words.

use crate::error::{Error, Result};
use crate::expr::flat::Dag;
use crate::expr::flat_nodes::Entry;
use crate::int::{floor_div, floor_mod};

fn quotient(a: i64, b: i64) -> Result<i64> {
    match floor_div(a, b) {
        Some(q) => Ok(q),
        None if b == 0 => Err(Error::division_by_zero()),
        None => Err(Error::overflow("a quotient")),
    }
}

fn product(mut factors: impl Iterator<Item = i64>) -> Result<i64> {
    factors.try_fold(1i64, |p, f| p.checked_mul(f)).ok_or_else(|| Error::overflow("a product"))
}

fn sum(constant: i64, terms: impl Iterator<Item = (i64, i64)>) -> Result<i64> {
    // Partial sums may leave int64 where the sum does not.
    let mut total = i128::from(constant);
    for (coeff, value) in terms {
        total = total
            .checked_add(i128::from(coeff) * i128::from(value))
            .ok_or_else(|| Error::overflow("a sum"))?;
    }
    i64::try_from(total).map_err(|_| Error::overflow("a sum"))
}

impl Dag {
    /// The number of first nodes that the first `count` roots need.
    fn nodes_for(&self, count: usize) -> usize {
        self.root_positions()[..count].iter().max().map_or(0, |r| *r as usize + 1)
    }

    /// The values of the first `nodes` nodes, where variable `i` has the value `variable(i)`, to `values`.
    fn values_into(
        &self,
        nodes: usize,
        variable: impl Fn(u32) -> Option<i64>,
        values: &mut Vec<i64>,
    ) -> Result<()> {
        values.clear();
        values.reserve(nodes);
        for entry in self.entries().take(nodes) {
            let at = |p: &i64| values[*p as usize];
            let value = match entry {
                Entry::Variable(v) => {
                    variable(v).ok_or_else(|| Error::invalid_map(format!("variable {v} has no value")))?
                }
                Entry::Constant(c) => c,
                Entry::FloorDiv(a, b) => quotient(values[a], values[b])?,
                Entry::Mod(a, b) => floor_mod(values[a], values[b]).ok_or_else(Error::division_by_zero)?,
                Entry::Product(args) => product(args.iter().map(at))?,
                Entry::Min(args) => args.iter().map(at).min().unwrap_or(0),
                Entry::Max(args) => args.iter().map(at).max().unwrap_or(0),
                Entry::Sum(constant, pairs) => {
                    sum(constant, pairs.chunks_exact(2).map(|p| (p[0], at(&p[1]))))?
                }
            };
            values.push(value);
        }
        Ok(())
    }

    /// The values of the roots where variable `i` has the value `variables[i]`. `scratch` is memory to work in.
    ///
    /// Errors: a divisor of 0, a value that leaves int64, a variable without a value.
    pub fn evaluate(&self, variables: &[i64], scratch: &mut Vec<i64>) -> Result<Vec<i64>> {
        self.evaluate_first(self.root_count(), variables, scratch)
    }

    /// As [`Dag::evaluate`], of the first `count` roots only.
    pub fn evaluate_first(
        &self,
        count: usize,
        variables: &[i64],
        scratch: &mut Vec<i64>,
    ) -> Result<Vec<i64>> {
        let mut roots = Vec::with_capacity(count);
        self.evaluate_into(count, variables, scratch, &mut roots)?;
        Ok(roots)
    }

    /// As [`Dag::evaluate_first`], to `roots`, what was there forgotten.
    pub(crate) fn evaluate_into(
        &self,
        count: usize,
        variables: &[i64],
        scratch: &mut Vec<i64>,
        roots: &mut Vec<i64>,
    ) -> Result<()> {
        self.values_into(self.nodes_for(count), |v| variables.get(v as usize).copied(), scratch)?;
        roots.clear();
        roots.extend(self.root_positions()[..count].iter().map(|r| scratch[*r as usize]));
        Ok(())
    }

    /// The values of the first roots, as many as `out` has, at many points: variable `i` has the values
    /// `variables[i]`, all of one length; the values of root `k` go to `out[k]`, of that length too.
    ///
    /// Errors: as [`Dag::evaluate`], if at any point.
    pub fn evaluate_block(&self, variables: &[&[i64]], out: &mut [&mut [i64]]) -> Result<()> {
        let length = out.first().map_or(0, |o| o.len());
        let nodes = self.nodes_for(out.len());
        let known = self.facts(nodes, variables, length);
        let mut block = vec![0i64; nodes * BLOCK.min(length)];
        let mut values = Vec::new();
        for start in (0..length).step_by(BLOCK) {
            let count = BLOCK.min(length - start);
            let whole = self.try_block(&known, variables, start, count, &mut block);
            for i in 0..if whole { 0 } else { count } {
                self.values_into(nodes, |v| variables.get(v as usize).map(|x| x[start + i]), &mut values)?;
                values.iter().enumerate().for_each(|(node, v)| block[node * count + i] = *v);
            }
            for (values, &root) in out.iter_mut().zip(self.root_positions()) {
                let (root, from) = (root as usize, root as usize * count);
                values[start..start + count].copy_from_slice(match variables.get(root) {
                    Some(given) if root < self.first_variables() as usize => &given[start..start + count],
                    _ => &block[from..from + count],
                });
            }
        }
        Ok(())
    }

    /// The range of each of the first nodes, found before any is evaluated; none where so few points don't repay that.
    fn facts(&self, nodes: usize, variables: &[&[i64]], length: usize) -> Vec<Known> {
        let mut known: Vec<Known> = Vec::with_capacity(nodes);
        for entry in self.entries().take(nodes) {
            let most = |p: &i64| known[*p as usize].most;
            let times = |k: i64, most: u64| k.unsigned_abs().saturating_mul(most);
            let most = match entry {
                _ if length < REPAYING => u64::MAX,
                Entry::Variable(v) => variables.get(v as usize).map_or(u64::MAX, |values| magnitude(values)),
                Entry::Constant(c) => c.unsigned_abs(),
                Entry::FloorDiv(a, _) => known[a].most,
                Entry::Mod(_, b) => known[b].most,
                Entry::Product(args) => args.iter().map(most).fold(1, u64::saturating_mul),
                Entry::Min(args) | Entry::Max(args) => args.iter().map(most).max().unwrap_or(0),
                Entry::Sum(constant, pairs) => pairs
                    .chunks_exact(2)
                    .fold(constant.unsigned_abs(), |n, p| n.saturating_add(times(p[0], most(&p[1])))),
            };
            let reciprocal = match entry {
                Entry::Constant(c) if length >= REPAYING => Reciprocal::of(c),
                _ => None,
            };
            known.push(Known { most, reciprocal });
        }
        known
    }

    /// All nodes at `count` points; false where something overflows or is not defined: then point by point.
    fn try_block(
        &self,
        known: &[Known],
        variables: &[&[i64]],
        start: usize,
        count: usize,
        block: &mut [i64],
    ) -> bool {
        let mut good = true;
        let first = self.first_variables() as usize; // which are read where they stand
        if variables.len() < first.min(known.len()) {
            return false;
        }
        for (node, entry) in self.entries().take(known.len()).enumerate().skip(first) {
            let (before, rest) = block.split_at_mut(node * count);
            let out = &mut rest[..count];
            let row = |p: usize| match variables.get(p).filter(|_| p < first) {
                Some(values) => &values[start..start + count],
                None => &before[p * count..p * count + count],
            };
            let fits = known[node].most <= i64::MAX as u64;
            match entry {
                Entry::Variable(v) => match variables.get(v as usize) {
                    Some(values) => out.copy_from_slice(&values[start..start + count]),
                    None => return false,
                },
                Entry::Constant(c) => out.fill(c),
                Entry::FloorDiv(a, b) => match known[b].reciprocal {
                    Some(divisor) => each(out, row(a), |_, x| divisor.quotient(x)),
                    None => good &= each_pair(out, row(a), row(b), floor_div),
                },
                Entry::Mod(a, b) => match known[b].reciprocal {
                    Some(divisor) => each(out, row(a), |_, x| divisor.remainder(x)),
                    None => good &= each_pair(out, row(a), row(b), floor_mod),
                },
                Entry::Product(args) => {
                    out.copy_from_slice(row(args[0] as usize));
                    args[1..].iter().for_each(|a| good &= multiply(out, row(*a as usize), fits));
                }
                Entry::Min(args) => {
                    out.copy_from_slice(row(args[0] as usize));
                    args[1..].iter().for_each(|a| each(out, row(*a as usize), i64::min));
                }
                Entry::Max(args) => {
                    out.copy_from_slice(row(args[0] as usize));
                    args[1..].iter().for_each(|a| each(out, row(*a as usize), i64::max));
                }
                Entry::Sum(constant, pairs) => {
                    out.fill(constant);
                    for p in pairs.chunks_exact(2) {
                        good &= add_multiple(out, p[0], row(p[1] as usize), fits);
                    }
                }
            }
        }
        good
    }
}

/// The range of a node over all points.
#[derive(Clone, Copy)]
struct Known {
    /// No value is farther from 0.
    most: u64,
    /// Of a constant, what to divide by it with.
    reciprocal: Option<Reciprocal>,
}

/// The greatest distance of a value from 0.
fn magnitude(values: &[i64]) -> u64 {
    let bits = values.iter().fold(0, |bits, x| bits | (x ^ (x >> 63)));
    bits as u64 + 1
}

/// Combine each value of `out` with that of a row.
fn each(out: &mut [i64], row: &[i64], of: impl Fn(i64, i64) -> i64) {
    out.iter_mut().zip(row).for_each(|(o, x)| *o = of(*o, *x));
}

/// Set each value to what two rows give; false where one gives nothing.
fn each_pair(out: &mut [i64], left: &[i64], right: &[i64], of: impl Fn(i64, i64) -> Option<i64>) -> bool {
    let mut good = true;
    for ((o, x), y) in out.iter_mut().zip(left).zip(right) {
        let value = of(*x, *y);
        good &= value.is_some();
        *o = value.unwrap_or(0);
    }
    good
}

/// Multiply each value by a row's; false where one leaves int64, which none does where it is known that all fit.
fn multiply(out: &mut [i64], row: &[i64], fits: bool) -> bool {
    if fits {
        each(out, row, i64::wrapping_mul);
        return true;
    }
    let mut overflows = false;
    for (o, x) in out.iter_mut().zip(row) {
        let (product, over) = o.overflowing_mul(*x);
        overflows |= over;
        *o = product;
    }
    !overflows
}

/// Add a multiple of a row's to each value; false as of `multiply`.
fn add_multiple(out: &mut [i64], coeff: i64, row: &[i64], fits: bool) -> bool {
    if fits && coeff == 1 {
        each(out, row, i64::wrapping_add);
        return true;
    }
    if fits {
        each(out, row, |o, x| o.wrapping_add(coeff.wrapping_mul(x)));
        return true;
    }
    let mut overflows = false;
    for (o, x) in out.iter_mut().zip(row) {
        let (product, over) = coeff.overflowing_mul(*x);
        let (total, carried) = o.overflowing_add(product);
        overflows |= over | carried;
        *o = total;
    }
    !overflows
}

/// A division by a constant from 2 on, by a product and a shift.
#[derive(Clone, Copy)]
struct Reciprocal {
    divisor: i64,
    factor: u64,
    shift: u32,
}

impl Reciprocal {
    fn of(divisor: i64) -> Option<Reciprocal> {
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
    fn quotient(self, x: i64) -> i64 {
        let sign = x >> 63;
        let high = (u128::from((x ^ sign) as u64) * u128::from(self.factor)) >> 64;
        ((high as u64 >> self.shift) as i64) ^ sign
    }

    /// `x mod divisor`. The product wraps where the quotient is rounded down beyond int64; the difference does not.
    fn remainder(self, x: i64) -> i64 {
        x.wrapping_sub(self.quotient(x).wrapping_mul(self.divisor))
    }
}

/// Points from which to look at all of them first, and to find reciprocals, saves work.
const REPAYING: usize = 64;
/// Points evaluated at a time: their values stay in the cache.
const BLOCK: usize = 512;

#[cfg(test)]
mod tests {
    use super::Reciprocal;
    use crate::int::{floor_div, floor_mod};

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
