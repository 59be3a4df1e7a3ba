//! Operations on the variables of a [`MapBuilder`]: removal, renumbering, rescaling.

use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Node};
use crate::int::{ceil_div, floor_div};
use crate::interval::Interval;
use crate::map::indexing_map::MapBuilder;

impl MapBuilder {
    /// Replaces variable `i` by `variables[i]` in all expressions.
    pub fn substitute(&mut self, arena: &mut Arena, variables: &[Expr]) -> Result<()> {
        let mut all = self.results.clone();
        all.extend(self.constraints.iter().map(|(e, _)| *e));
        let new = arena.substitute(&all, variables)?;
        let (results, constraints) = new.split_at(self.results.len());
        self.results.copy_from_slice(results);
        for (c, e) in self.constraints.iter_mut().zip(constraints) {
            c.0 = *e;
        }
        Ok(())
    }

    /// Reorders the variables to `order` (old indices; omitted variables must be unused), the first `num_dims` of them
    /// dimensions, the next `num_ranges` ranges.
    pub fn reorder(
        &mut self,
        arena: &mut Arena,
        order: &[usize],
        num_dims: usize,
        num_ranges: usize,
    ) -> Result<()> {
        let mut moved: Vec<Expr> = (0..self.intervals.len()).map(|_| arena.constant(0)).collect();
        for (new, old) in order.iter().enumerate() {
            moved[*old] = arena.variable(new as u32);
        }
        self.substitute(arena, &moved)?;
        self.intervals = order.iter().map(|old| self.intervals[*old]).collect();
        self.names = self.names.moved(order.iter().copied());
        (self.num_dims, self.num_ranges) = (num_dims, num_ranges);
        Ok(())
    }

    /// The variables that the results, and constraints linked with them, depend on, and all that are not `removable`.
    fn needed(&self, arena: &mut Arena, removable: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut needed: Vec<bool> = (0..self.intervals.len()).map(|v| !removable(v)).collect();
        for v in arena.variables(&self.results) {
            needed[v as usize] = true;
        }
        let used: Vec<Vec<u32>> = self.constraints.iter().map(|(e, _)| arena.variables(&[*e])).collect();
        let mut open: Vec<usize> = (0..used.len()).collect();
        loop {
            let before = open.len();
            open.retain(|c| {
                let linked = used[*c].iter().any(|v| needed[*v as usize]);
                if linked {
                    used[*c].iter().for_each(|v| needed[*v as usize] = true);
                }
                !linked
            });
            if open.len() == before {
                return needed;
            }
        }
    }

    fn remove_unneeded(&mut self, arena: &mut Arena, removable: impl Fn(usize) -> bool) -> Result<()> {
        let mut needed = self.needed(arena, removable);
        let mut unlinked = Vec::new();
        for (e, i) in std::mem::take(&mut self.constraints) {
            let linked = arena.variables(&[e]).iter().any(|v| needed[*v as usize]);
            if linked { &mut self.constraints } else { &mut unlinked }.push((e, i));
        }
        match self.feasible(arena, &unlinked)? {
            Some(true) => {}
            Some(false) => self.known_empty = true,
            // Such constraints may be unsatisfiable: they are kept, with their variables.
            None => {
                for (e, _) in &unlinked {
                    arena.variables(&[*e]).iter().for_each(|v| needed[*v as usize] = true);
                }
                self.constraints.append(&mut unlinked);
            }
        }
        let order: Vec<usize> = (0..needed.len()).filter(|v| needed[*v]).collect();
        let dims = order.iter().filter(|v| **v < self.num_dims).count();
        let ranges = order.iter().filter(|v| **v < self.num_dims + self.num_ranges).count() - dims;
        self.reorder(arena, &order, dims, ranges)
    }

    /// Whether some point satisfies `constraints`; `None` if a short search does not decide.
    fn feasible(&self, arena: &mut Arena, constraints: &[(Expr, Interval)]) -> Result<Option<bool>> {
        const POINTS: u128 = 4096;
        if constraints.is_empty() {
            return Ok(Some(true));
        }
        let roots: Vec<Expr> = constraints.iter().map(|(e, _)| *e).collect();
        let free: Vec<usize> = arena.variables(&roots).iter().map(|v| *v as usize).collect();
        let points: u128 = free.iter().fold(1u128, |n, v| n.saturating_mul(self.intervals[*v].count()));
        let dag = arena.export(&roots);
        let mut values: Vec<i64> = self.intervals.iter().map(|i| i.lower).collect();
        let mut scratch = Vec::new();
        for _ in 0..points.min(POINTS) {
            // An undefined constraint does not hold.
            if let Ok(reached) = dag.evaluate(&values, &mut scratch) {
                if reached.iter().zip(constraints).all(|(v, (_, i))| i.contains(*v)) {
                    return Ok(Some(true));
                }
            }
            for v in &free {
                let interval = self.intervals[*v];
                if values[*v] < interval.upper {
                    values[*v] += 1;
                    break;
                }
                values[*v] = interval.lower;
            }
        }
        Ok((points <= POINTS).then_some(false))
    }

    /// Removes range and runtime variables on which neither results nor dimensions depend.
    pub fn remove_unused_symbols(&mut self, arena: &mut Arena) -> Result<()> {
        let dims = self.num_dims;
        self.remove_unneeded(arena, |v| v >= dims)
    }

    /// Removes range variables on which nothing else depends.
    pub fn remove_unused_ranges(&mut self, arena: &mut Arena) -> Result<()> {
        let ranges = self.num_dims..self.num_dims + self.num_ranges;
        self.remove_unneeded(arena, |v| ranges.contains(&v))
    }

    /// Removes variables on which no result depends.
    pub fn remove_unused_variables(&mut self, arena: &mut Arena) -> Result<()> {
        self.remove_unneeded(arena, |_| true)
    }

    /// Makes all variables dimensions, in order.
    pub fn symbols_to_dims(&mut self) {
        self.num_dims = self.intervals.len();
        self.num_ranges = 0;
        self.canonicalize_names();
    }

    /// Makes the range variables at `places` (among all variables) dimensions, after the others.
    pub fn ranges_to_dims(&mut self, arena: &mut Arena, places: &[usize]) -> Result<()> {
        let ranges = self.num_dims..self.num_dims + self.num_ranges;
        if let Some(v) = places.iter().find(|v| !ranges.contains(v)) {
            return Err(Error::invalid_map(format!("variable {v} is no range variable")));
        }
        let mut order: Vec<usize> = (0..self.num_dims).collect();
        order.extend(ranges.clone().filter(|v| places.contains(v)));
        let dims = order.len();
        order.extend(ranges.filter(|v| !places.contains(v)));
        let num_ranges = order.len() - dims;
        order.extend(self.num_dims + self.num_ranges..self.intervals.len());
        self.reorder(arena, &order, dims, num_ranges)
    }

    /// Rescales range variables that a constraint fixes to `r` modulo `c`: the variable becomes `c * s + r`, with `s` in its
    /// place, and the constraint is dropped.
    pub fn rescale_symbols(&mut self, arena: &mut Arena) -> Result<()> {
        while let Some((k, v, c, r)) = self.stepped_range(arena) {
            self.constraints.remove(k);
            let interval = self.intervals[v];
            let step = |end: i64, divide: fn(i64, i64) -> Option<i64>| {
                end.checked_sub(r).and_then(|x| divide(x, c)).ok_or_else(|| Error::overflow("a bound"))
            };
            self.intervals[v] =
                Interval::new(step(interval.lower, ceil_div)?, step(interval.upper, floor_div)?);
            let mut new: Vec<Expr> = (0..self.intervals.len()).map(|i| arena.variable(i as u32)).collect();
            new[v] = arena.affine(new[v], c, r)?;
            self.substitute(arena, &new)?;
            self.canonicalize_constraints(arena);
        }
        Ok(())
    }

    /// Finds a constraint `(x + a) mod c in [r, r]` or `(-x + a) mod c in [r, r]` on a range variable `x`: its place, the
    /// variable, `c`, and the residue of the variable modulo `c`.
    fn stepped_range(&self, arena: &Arena) -> Option<(usize, usize, i64, i64)> {
        self.constraints.iter().enumerate().find_map(|(k, (e, interval))| {
            let (x, c) = arena.as_mod(*e)?;
            let r = interval.lower;
            if !interval.is_point() || !(0..c).contains(&r) {
                return None;
            }
            let (coeff, offset, x) = match arena.node(x) {
                Node::Variable(_) => (1, 0, x),
                Node::Sum(offset, [t]) if t.coeff.abs() == 1 => (t.coeff, offset, t.expr),
                _ => return None,
            };
            let v = arena.as_variable(x)? as usize;
            let range = (self.num_dims..self.num_dims + self.num_ranges).contains(&v);
            let residue = (i128::from(r) - i128::from(offset)) * i128::from(coeff);
            range.then_some((k, v, c, residue.rem_euclid(i128::from(c)) as i64))
        })
    }
}

/// A map of `results` over dimensions `[0, size - 1]` and ranges `[0, size - 1]`.
///
/// ```
/// use indexing_core::{from_tensor_sizes, write_indexing_map, Arena, Style};
///
/// let mut arena = Arena::new();
/// let (row, lane) = (arena.variable(0), arena.variable(1));
/// let offset = arena.scale(row, 32)?;
/// let results = vec![arena.add(offset, lane)?];
/// let map = from_tensor_sizes(results, &[8], &[32])?.build(&mut arena)?;
/// let text = "(d0)[s0] -> (d0 * 32 + s0), domain: d0 in [0, 7], s0 in [0, 31]";
/// assert_eq!(write_indexing_map(&map, Style::Plain)?, text);
/// # Ok::<(), indexing_core::Error>(())
/// ```
pub fn from_tensor_sizes(results: Vec<Expr>, dims: &[i64], ranges: &[i64]) -> Result<MapBuilder> {
    let interval = |size: &i64| match size.checked_sub(1) {
        Some(upper) if *size >= 0 => Ok(Interval::new(0, upper)),
        _ => Err(Error::invalid_map(format!("a size is {size}: sizes are at least 0"))),
    };
    let intervals = dims.iter().chain(ranges).map(interval).collect::<Result<Vec<_>>>()?;
    let (num_dims, num_ranges) = (dims.len(), ranges.len());
    Ok(MapBuilder { intervals, num_dims, num_ranges, results, ..MapBuilder::default() })
}
