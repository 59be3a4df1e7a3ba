//! Evaluation of a [`Dag`]: at one point, and over blocks of points, in one pass over its words.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::flat::Dag;
use crate::expr::flat_nodes::Entry;
use crate::expr::rows::{self, Reciprocal};
use crate::int::{floor_div, floor_mod};
use smallvec::{smallvec, SmallVec};
use std::ops::Range;

/// Integers in which nodes are evaluated.
trait Integer: Copy + Ord + From<i64> + TryInto<i64> {
    fn floordiv(self, by: Self) -> Option<Self>;
    fn modulo(self, by: Self) -> Option<Self>;
    fn times(self, other: Self) -> Option<Self>;
    fn sum(constant: i64, terms: impl Iterator<Item = (i64, Self)>) -> Option<Self>;
}

impl Integer for i64 {
    fn floordiv(self, by: i64) -> Option<i64> {
        floor_div(self, by)
    }

    fn modulo(self, by: i64) -> Option<i64> {
        floor_mod(self, by)
    }

    fn times(self, other: i64) -> Option<i64> {
        self.checked_mul(other)
    }

    fn sum(constant: i64, terms: impl Iterator<Item = (i64, i64)>) -> Option<i64> {
        // Partial sums may leave int64 where the sum does not.
        let wide = terms.map(|(coeff, value)| (coeff, i128::from(value)));
        i64::try_from(i128::sum(constant, wide)?).ok()
    }
}

impl Integer for i128 {
    fn floordiv(self, by: i128) -> Option<i128> {
        let quotient = self.checked_div_euclid(by)?;
        // Euclid's remainder is never negative; that of a floor quotient has the divisor's sign.
        let moved = by < 0 && quotient.checked_mul(by) != Some(self);
        Some(if moved { quotient - 1 } else { quotient })
    }

    fn modulo(self, by: i128) -> Option<i128> {
        self.checked_rem_euclid(by)
    }

    fn times(self, other: i128) -> Option<i128> {
        self.checked_mul(other)
    }

    fn sum(constant: i64, mut terms: impl Iterator<Item = (i64, i128)>) -> Option<i128> {
        let term = |sum: i128, (coeff, value): (i64, i128)| sum.checked_add(value.checked_mul(coeff.into())?);
        terms.try_fold(constant.into(), term)
    }
}

impl Dag {
    /// The number of first nodes that the first `count` roots need.
    fn nodes_for(&self, count: usize) -> usize {
        self.root_positions()[..count].iter().max().map_or(0, |r| *r as usize + 1)
    }

    /// Writes the values of the first `count` roots to `roots`; variable `i` has the value `variable(i)`. Values of other nodes
    /// may leave int64.
    fn roots_into(
        &self,
        count: usize,
        variable: impl Fn(u32) -> Option<i64> + Copy,
        values: &mut Vec<i64>,
        mut roots: impl FnMut(usize, i64),
    ) -> Result<()> {
        let (nodes, places) = (self.nodes_for(count), &self.root_positions()[..count]);
        match self.values_into(nodes, variable, values) {
            Ok(()) => places.iter().enumerate().for_each(|(k, r)| roots(k, values[*r as usize])),
            Err(e) if e.kind() == ErrorKind::Overflow => {
                let mut wide: Vec<i128> = Vec::new();
                self.values_into(nodes, variable, &mut wide)?;
                for (k, r) in places.iter().enumerate() {
                    roots(k, wide[*r as usize].try_into().map_err(|_| e.clone())?);
                }
            }
            Err(e) => return Err(e),
        }
        Ok(())
    }

    /// Writes the values of the first `nodes` nodes to `values`; variable `i` has the value `variable(i)`.
    fn values_into<N: Integer>(
        &self,
        nodes: usize,
        variable: impl Fn(u32) -> Option<i64>,
        values: &mut Vec<N>,
    ) -> Result<()> {
        values.clear();
        values.reserve(nodes);
        for entry in self.entries().take(nodes) {
            let at = |p: &i64| values[*p as usize];
            let value = match entry {
                Entry::Variable(v) => {
                    let value = variable(v);
                    value.ok_or_else(|| Error::invalid_map(format!("variable {v} has no value")))?.into()
                }
                Entry::Constant(c) => c.into(),
                Entry::FloorDiv(_, b) | Entry::Mod(_, b) if values[b] == 0.into() => {
                    return Err(Error::division_by_zero());
                }
                Entry::FloorDiv(a, b) => {
                    values[a].floordiv(values[b]).ok_or_else(|| Error::overflow("a quotient"))?
                }
                Entry::Mod(a, b) => {
                    values[a].modulo(values[b]).ok_or_else(|| Error::overflow("a remainder"))?
                }
                Entry::Product(args) => {
                    let product = args.iter().map(at).try_fold(1.into(), N::times);
                    product.ok_or_else(|| Error::overflow("a product"))?
                }
                Entry::Min(args) => args.iter().map(at).min().unwrap_or(0.into()),
                Entry::Max(args) => args.iter().map(at).max().unwrap_or(0.into()),
                Entry::Sum(constant, pairs) => {
                    let sum = N::sum(constant, pairs.chunks_exact(2).map(|p| (p[0], at(&p[1]))));
                    sum.ok_or_else(|| Error::overflow("a sum"))?
                }
            };
            values.push(value);
        }
        Ok(())
    }

    /// Evaluates the roots; variable `i` has the value `variables[i]`. `scratch` is memory to work in.
    ///
    /// Errors: a divisor of 0, the value of a root that leaves int64, a variable without a value.
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
        roots.clear();
        self.roots_into(count, |v| variables.get(v as usize).copied(), scratch, |_, value| roots.push(value))
    }

    /// The values of the first roots, as many as `out` has, at many points: variable `i` has the values
    /// `variables[i]`, all of one length; the values of root `k` go to `out[k]`, of that length too.
    ///
    /// Errors: as [`Dag::evaluate`], if at any point.
    pub fn evaluate_block(&self, variables: &[&[i64]], out: &mut [&mut [i64]]) -> Result<()> {
        let length = out.first().map_or(0, |o| o.len());
        let plan = self.plan(out.len(), length);
        let mut scratch = vec![0i64; plan.rows * plan.width];
        let mut values = Vec::new();
        for start in (0..length).step_by(plan.width) {
            let part = start..length.min(start + plan.width);
            if self.try_block(&plan, variables, out, part.clone(), &mut scratch) {
                continue;
            }
            for i in part {
                let variable = |v: u32| variables.get(v as usize).map(|x| x[i]);
                self.roots_into(out.len(), variable, &mut values, |k, value| out[k][i] = value)?;
            }
        }
        Ok(())
    }

    /// The preparation for blocks of `length` points and the first `count` roots.
    fn plan(&self, count: usize, length: usize) -> Plan {
        let nodes = self.nodes_for(count);
        let reciprocal = |entry| match entry {
            Entry::Constant(c) if length >= REPAYING => Reciprocal::of(c),
            _ => None,
        };
        let mut roots: SmallVec<[Option<usize>; 8]> = smallvec![None; nodes];
        for (k, root) in self.root_positions()[..count].iter().enumerate().rev() {
            roots[*root as usize] = Some(k);
        }
        Plan {
            reciprocals: self.entries().take(nodes).map(reciprocal).collect(),
            rows: roots.iter().skip(self.first_variables() as usize).filter(|root| root.is_none()).count(),
            roots,
            width: BLOCK.min(length).max(1),
        }
    }

    /// Evaluate all nodes at a part of the points: roots to `out`, other nodes to `scratch`, which keeps constants from the
    /// first block on. False if a value overflows or is not defined; the part is then evaluated point by point.
    fn try_block(
        &self,
        plan: &Plan,
        variables: &[&[i64]],
        out: &mut [&mut [i64]],
        part: Range<usize>,
        scratch: &mut [i64],
    ) -> bool {
        let nodes = plan.roots.len();
        let first = nodes.min(self.first_variables() as usize); // which are read where they stand
        if variables.len() < first {
            return false;
        }
        let mut unused = scratch.chunks_exact_mut(plan.width).map(|row| &mut row[..part.len()]);
        let mut out: SmallVec<[_; 4]> = out.iter_mut().map(|o| Some(&mut o[part.clone()])).collect();
        let mut block = Block { rows: SmallVec::with_capacity(nodes), reciprocals: &plan.reciprocals };
        block.rows.extend(variables[..first].iter().map(|v| &v[part.clone()]));
        let mut good = true;
        for (entry, root) in self.written().zip(&plan.roots[first..]) {
            let place = root.map_or_else(|| unused.next(), |k| out[k].take());
            let Some(place) = place else { unreachable!("each node has a row or the memory of its root") };
            match entry {
                Entry::Variable(v) => match variables.get(v as usize) {
                    Some(values) => place.copy_from_slice(&values[part.clone()]),
                    None => return false,
                },
                Entry::Constant(_) if part.start > 0 && root.is_none() => {}
                _ => good &= block.evaluate(entry, place),
            }
            block.rows.push(place);
        }
        for (out, root) in out.into_iter().zip(self.root_positions()) {
            // Roots that are variables, and further roots of one node.
            out.into_iter().for_each(|out| out.copy_from_slice(block.rows[*root as usize]));
        }
        good
    }
}

/// The preparation that all blocks of points share.
struct Plan {
    /// For each constant node its reciprocal, unless there are too few points to make up for its cost.
    reciprocals: SmallVec<[Option<Reciprocal>; 8]>,
    /// For each node the first root that it is, in whose memory its values are written.
    roots: SmallVec<[Option<usize>; 8]>,
    /// The number of nodes that need a row of scratch memory.
    rows: usize,
    /// The maximum number of points of a block.
    width: usize,
}

/// The nodes of a block of points that are known.
struct Block<'a> {
    rows: SmallVec<[&'a [i64]; 8]>,
    reciprocals: &'a [Option<Reciprocal>],
}

impl Block<'_> {
    /// Write the values of a node other than a variable to `out`; false if one overflows or is not defined.
    fn evaluate(&self, entry: Entry<'_>, out: &mut [i64]) -> bool {
        let row = |p: &i64| self.rows[*p as usize];
        match entry {
            Entry::Variable(_) => return false,
            Entry::Constant(c) => out.fill(c),
            Entry::FloorDiv(a, b) => match self.reciprocals[b] {
                Some(divisor) => rows::each(out, self.rows[a], |x| divisor.quotient(x)),
                None => return rows::each_pair(out, self.rows[a], self.rows[b], floor_div),
            },
            Entry::Mod(a, b) => match self.reciprocals[b] {
                Some(divisor) => rows::each(out, self.rows[a], |x| divisor.remainder(x)),
                None => return rows::each_pair(out, self.rows[a], self.rows[b], floor_mod),
            },
            Entry::Min(args) => rows::min(out, args.iter().map(row)),
            Entry::Max(args) => rows::max(out, args.iter().map(row)),
            Entry::Product(args) => return rows::product(out, args.iter().map(row)),
            Entry::Sum(constant, pairs) => {
                return rows::sum(out, constant, pairs.chunks_exact(2).map(|p| (p[0], row(&p[1]))));
            }
        }
        true
    }
}

/// Points from which to find reciprocals saves work.
const REPAYING: usize = 64;
/// Points that are evaluated at a time, so that their values stay in the cache.
const BLOCK: usize = 1 << 10;
