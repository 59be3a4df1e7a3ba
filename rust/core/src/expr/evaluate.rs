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

    /// Writes the values of the first `nodes` nodes to `values`; variable `i` has the value `variable(i)`.
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

    /// Evaluates the roots; variable `i` has the value `variables[i]`. `scratch` is memory to work in.
    ///
    /// Errors: a divisor of 0, a value that leaves int64, a variable without a value.
    pub fn evaluate(&self, variables: &[i64], scratch: &mut Vec<i64>) -> Result<Vec<i64>> {
        self.evaluate_first(self.root_count(), variables, scratch)
    }

    /// As [`Dag::evaluate`], for the first `count` roots only.
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

    /// As [`Dag::evaluate_first`], replacing the contents of `roots`.
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
        let reciprocals = self.reciprocals(nodes, length);
        let mut scratch = vec![0i64; nodes * BLOCK.min(length)];
        let mut values = Vec::new();
        for start in (0..length).step_by(BLOCK) {
            let part = start..length.min(start + BLOCK);
            let given: Vec<&[i64]> = variables.iter().map(|v| &v[part.clone()]).collect();
            let mut made: Vec<&mut [i64]> = out.iter_mut().map(|o| &mut o[part.clone()]).collect();
            let whole = self.try_block(&reciprocals, &given, &mut made, &mut scratch, start == 0);
            for i in 0..if whole { 0 } else { part.len() } {
                self.values_into(nodes, |v| given.get(v as usize).map(|x| x[i]), &mut values)?;
                let roots = self.root_positions();
                made.iter_mut().zip(roots).for_each(|(out, root)| out[i] = values[*root as usize]);
            }
        }
        Ok(())
    }

    /// Of each of the first nodes that is a constant what to divide by it with; nothing where so few points don't repay that.
    fn reciprocals(&self, nodes: usize, length: usize) -> Vec<Option<Reciprocal>> {
        let of = |entry| match entry {
            Entry::Constant(c) if length >= REPAYING => Reciprocal::of(c),
            _ => None,
        };
        self.entries().take(nodes).map(of).collect()
    }

    /// All nodes at all points: roots to `out`, the others to `scratch`, in which constants stay from the first block on.
    /// False where something overflows or is not defined: then point by point.
    fn try_block(
        &self,
        reciprocals: &[Option<Reciprocal>],
        variables: &[&[i64]],
        out: &mut [&mut [i64]],
        scratch: &mut [i64],
        is_first: bool,
    ) -> bool {
        let nodes = reciprocals.len();
        let first = nodes.min(self.first_variables() as usize); // which are read where they stand
        if variables.len() < first {
            return false;
        }
        let (places, copied) = self.places(first, nodes, out, scratch);
        let mut block = Block { rows: Vec::with_capacity(nodes), variables, reciprocals };
        block.rows.extend(&variables[..first]);
        let mut good = true;
        for (entry, (place, is_root)) in self.written().zip(places) {
            if is_first || is_root || !matches!(entry, Entry::Constant(_)) {
                good &= block.evaluate(entry, place);
            }
            block.rows.push(place);
        }
        copied.into_iter().for_each(|(root, out)| out.copy_from_slice(block.rows[root]));
        good
    }

    /// The memory of each node from `first` on, that of its root where it is one, else a row of `scratch`; and the roots
    /// that are copied from a node: variables, and roots that were there before.
    fn places<'a>(
        &self,
        first: usize,
        nodes: usize,
        out: &'a mut [&mut [i64]],
        scratch: &'a mut [i64],
    ) -> (Vec<Place<'a>>, Vec<(usize, &'a mut [i64])>) {
        let count = out.first().map_or(0, |o| o.len());
        let rows = scratch.chunks_exact_mut((scratch.len() / nodes.max(1)).max(1));
        let mut places: Vec<_> = rows.take(nodes - first).map(|row| (&mut row[..count], false)).collect();
        let mut copied = Vec::new();
        for (out, root) in out.iter_mut().zip(self.root_positions()) {
            match (*root as usize).checked_sub(first) {
                Some(k) if !places[k].1 => places[k] = (out, true),
                _ => copied.push((*root as usize, &mut **out)),
            }
        }
        (places, copied)
    }
}

/// The memory of a node's values, and whether it is that of a root.
type Place<'a> = (&'a mut [i64], bool);

/// The nodes of a block of points that are known.
struct Block<'a> {
    rows: Vec<&'a [i64]>,
    variables: &'a [&'a [i64]],
    reciprocals: &'a [Option<Reciprocal>],
}

impl Block<'_> {
    /// Put the values of a node in `out`; false where one overflows or is not defined.
    fn evaluate(&self, entry: Entry<'_>, out: &mut [i64]) -> bool {
        match entry {
            Entry::Variable(v) => match self.variables.get(v as usize) {
                Some(values) => out.copy_from_slice(values),
                None => return false,
            },
            Entry::Constant(c) => out.fill(c),
            Entry::FloorDiv(a, b) => match self.reciprocals[b] {
                Some(divisor) => each(out, self.rows[a], |x| divisor.quotient(x)),
                None => return each_pair(out, self.rows[a], self.rows[b], floor_div),
            },
            Entry::Mod(a, b) => match self.reciprocals[b] {
                Some(divisor) => each(out, self.rows[a], |x| divisor.remainder(x)),
                None => return each_pair(out, self.rows[a], self.rows[b], floor_mod),
            },
            Entry::Min(args) => self.fold(args, out, i64::min),
            Entry::Max(args) => self.fold(args, out, i64::max),
            Entry::Product(args)
                if args.iter().all(|a| is_small(self.rows[*a as usize])) && args.len() == 2 =>
            {
                self.fold(args, out, small_product);
            }
            Entry::Product(args) => {
                let mut overflows = false;
                self.fold(args, out, |x, y| {
                    let (product, over) = x.overflowing_mul(y);
                    overflows |= over;
                    product
                });
                return !overflows;
            }
            Entry::Sum(constant, pairs) => return self.sum(constant, pairs, out),
        }
        true
    }

    /// Combine the values of two nodes or more.
    fn fold(&self, args: &[i64], out: &mut [i64], mut of: impl FnMut(i64, i64) -> i64) {
        let row = |k: usize| self.rows[args[k] as usize];
        for ((o, x), y) in out.iter_mut().zip(row(0)).zip(row(1)) {
            *o = of(*x, *y);
        }
        for k in 2..args.len() {
            out.iter_mut().zip(row(k)).for_each(|(o, x)| *o = of(*o, *x));
        }
    }

    /// A constant and multiples of nodes; false where a partial sum leaves int64.
    fn sum(&self, constant: i64, pairs: &[i64], out: &mut [i64]) -> bool {
        let row = |p: &[i64]| self.rows[p[1] as usize];
        let plain = pairs.chunks_exact(2).position(|p| constant == 0 && p[0] == 1);
        let others = pairs.chunks_exact(2).enumerate().filter(|(k, _)| Some(*k) != plain);
        let mut good = true;
        for (n, (_, p)) in others.enumerate() {
            good &= match (n, plain) {
                (0, Some(k)) => add_multiple(out, p[0], row(p), row(&pairs[2 * k..]), |_, before| before),
                (0, None) => add_multiple(out, p[0], row(p), row(p), |_, _| constant),
                _ => add_multiple(out, p[0], row(p), row(p), |so_far, _| so_far),
            };
        }
        good
    }
}

/// Set each value to what a row gives.
fn each(out: &mut [i64], row: &[i64], of: impl Fn(i64) -> i64) {
    out.iter_mut().zip(row).for_each(|(o, x)| *o = of(*x));
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

/// Whether all values are in [0, 2^31).
fn is_small(values: &[i64]) -> bool {
    values.iter().fold(0, |all, x| all | x) as u64 >> 31 == 0
}

/// The product of values of which each is small: one instruction where processors have vectors.
fn small_product(x: i64, y: i64) -> i64 {
    (x & 0xffff_ffff) * (y & 0xffff_ffff)
}

/// Set each value to what `start` gives for it and its neighbour in `before`, and a multiple of its neighbour in `row`;
/// false where a product or a sum leaves int64.
fn add_multiple(
    out: &mut [i64],
    coeff: i64,
    row: &[i64],
    before: &[i64],
    start: impl Fn(i64, i64) -> i64,
) -> bool {
    let (sign, size) = (coeff >> 63, coeff.wrapping_abs());
    match coeff {
        1 => add(out, row, before, start, |x| x),
        _ if size as u64 >> 31 == 0 && is_small(row) => {
            add(out, row, before, start, |x| (small_product(x, size) ^ sign) - sign)
        }
        _ => {
            let mut overflows = false;
            let fits = add(out, row, before, start, |x| {
                let (product, over) = coeff.overflowing_mul(x);
                overflows |= over;
                product
            });
            fits && !overflows
        }
    }
}

/// Set each value to the sum of what `start` gives, as in `add_multiple`, and `of` its neighbour in `row`; false where one
/// leaves int64.
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
        signs |= (old ^ total) & (more ^ total); // negative where both have another sign than their sum
        *o = total;
    }
    signs >= 0
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

/// Points from which to find reciprocals saves work.
const REPAYING: usize = 64;
/// Points evaluated at a time: their values stay in the cache.
const BLOCK: usize = 1 << 10;

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
