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
    /// How many of the first nodes the first `count` roots need.
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
        let mut block = vec![0i64; nodes * BLOCK.min(length)];
        let mut values = Vec::new();
        for start in (0..length).step_by(BLOCK) {
            let count = BLOCK.min(length - start);
            let whole = self.try_block(nodes, variables, start, count, &mut block);
            for i in 0..if whole { 0 } else { count } {
                self.values_into(nodes, |v| variables.get(v as usize).map(|x| x[start + i]), &mut values)?;
                values.iter().enumerate().for_each(|(node, v)| block[node * count + i] = *v);
            }
            for (values, &root) in out.iter_mut().zip(self.root_positions()) {
                let from = root as usize * count;
                values[start..start + count].copy_from_slice(&block[from..from + count]);
            }
        }
        Ok(())
    }

    /// All nodes at `count` points; false where something overflows or is not defined: then point by point.
    fn try_block(
        &self,
        nodes: usize,
        variables: &[&[i64]],
        start: usize,
        count: usize,
        block: &mut [i64],
    ) -> bool {
        let mut bad = false;
        for (node, entry) in self.entries().take(nodes).enumerate() {
            let (before, rest) = block.split_at_mut(node * count);
            let out = &mut rest[..count];
            let row = |p: usize| &before[p * count..p * count + count];
            match entry {
                Entry::Variable(v) => match variables.get(v as usize) {
                    Some(values) => out.copy_from_slice(&values[start..start + count]),
                    None => return false,
                },
                Entry::Constant(c) => out.fill(c),
                Entry::FloorDiv(a, b) => {
                    for ((o, x), y) in out.iter_mut().zip(row(a)).zip(row(b)) {
                        let q = floor_div(*x, *y);
                        bad |= q.is_none();
                        *o = q.unwrap_or(0);
                    }
                }
                Entry::Mod(a, b) => {
                    for ((o, x), y) in out.iter_mut().zip(row(a)).zip(row(b)) {
                        let r = floor_mod(*x, *y);
                        bad |= r.is_none();
                        *o = r.unwrap_or(0);
                    }
                }
                Entry::Product(args) => {
                    out.copy_from_slice(row(args[0] as usize));
                    for &a in &args[1..] {
                        for (o, x) in out.iter_mut().zip(row(a as usize)) {
                            let (p, over) = o.overflowing_mul(*x);
                            bad |= over;
                            *o = p;
                        }
                    }
                }
                Entry::Min(args) | Entry::Max(args) => {
                    let least = matches!(entry, Entry::Min(_));
                    out.copy_from_slice(row(args[0] as usize));
                    for &a in &args[1..] {
                        for (o, x) in out.iter_mut().zip(row(a as usize)) {
                            *o = if least { (*o).min(*x) } else { (*o).max(*x) };
                        }
                    }
                }
                Entry::Sum(constant, pairs) => {
                    out.fill(constant);
                    for p in pairs.chunks_exact(2) {
                        for (o, x) in out.iter_mut().zip(row(p[1] as usize)) {
                            let (product, over) = p[0].overflowing_mul(*x);
                            let (total, carried) = o.overflowing_add(product);
                            bad |= over | carried;
                            *o = total;
                        }
                    }
                }
            }
        }
        !bad
    }
}

/// Points evaluated at a time: their values stay in the cache.
const BLOCK: usize = 512;
