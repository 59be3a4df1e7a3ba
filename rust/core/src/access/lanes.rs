//! The address that each lane of each warp accesses: a thread map, rewritten over the lane, the warp's number in its block,
//! the block ids, range and runtime variables.
//!
//! A warp instruction is one warp at one value of every other variable: one load or store of a kernel.

use crate::error::{counted, Error, Result};
use crate::expr::flat::Dag;
use crate::expr::{Arena, Expr, Node, Term};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::simplify::domain::PointVariables;
use crate::simplify::range::{Info, Ranges};
use crate::simplify::Scratch;
use std::collections::HashMap;

/// The number of thread and block ids, the dimensions of a thread map.
const NUM_IDS: usize = 6;
/// The variables that replace the three thread ids: lane and warp.
pub(crate) const LANE: usize = 0;
const WARP: usize = 1;
/// Variable `v` of a thread map, from the first block id on, is variable `v - SHIFT` here.
const SHIFT: usize = 1;

/// Ids and addresses stay below this, so that sums of two fit.
pub(crate) const MAX_ADDRESS: i64 = 1 << 61;

/// One access of a kernel, and the layout of the array in memory.
#[derive(Debug)]
pub struct Access<'a> {
    /// The map from `(th_x, th_y, th_z, bl_x, bl_y, bl_z)[ranges]{runtime variables}` to an index.
    pub map: &'a IndexingMap,
    /// The stride of each dimension of the index, in elements.
    pub strides: &'a [i64],
    /// Bits of an element.
    pub width: i64,
    /// Threads of a block in each dimension.
    pub block: [i64; 3],
    /// Threads of a warp.
    pub warp_size: i64,
    /// The range variable over the elements of one thread's vector.
    pub vector: Option<usize>,
}

/// The addresses of an access's warps.
#[derive(Debug)]
pub(crate) struct Warps {
    /// The address in bits, then the expressions of `bounds`.
    pub whole: Dag,
    /// The part of each root over lane, vector and parameters (the variables after all others).
    pub lane_part: Dag,
    /// The rest of each root, over all other variables; then the values of the parameters.
    pub warp_part: Dag,
    /// The intervals of the values where a lane is active.
    pub bounds: Vec<Interval>,
    /// The variables' values.
    pub values: Vec<Interval>,
    /// The variable that counts a vector's elements.
    pub vector: Option<usize>,
    /// The number of values of the runtime variables together, one of which occurs.
    pub repeats: u128,
}

impl Access<'_> {
    fn check(&self) -> Result<()> {
        let map = self.map;
        if map.kind() == MapKind::Undefined || (map.kind() == MapKind::Defined && map.num_dims() != NUM_IDS) {
            return Err(Error::invalid_map(
                "a thread map has the dimensions th_x, th_y, th_z, bl_x, bl_y, bl_z",
            ));
        }
        if map.kind() == MapKind::Defined && map.num_results() != self.strides.len() {
            let (results, dims) = (map.num_results(), self.strides.len());
            let (results, dims) = (counted(results, "result"), counted(dims, "dimension"));
            return Err(Error::invalid_map(format!("the map has {results}; the array has {dims}")));
        }
        let sizes = [self.block[0], self.block[1], self.block[2], self.warp_size, self.width];
        if sizes.iter().any(|n| !(1..=1 << 20).contains(n)) {
            return Err(Error::invalid_map("a block, a warp and an element have a size of 1 to 2^20"));
        }
        if self.vector.is_some_and(|v| v < NUM_IDS || v >= NUM_IDS + map.num_ranges()) {
            return Err(Error::invalid_map("a vector's elements are counted by a range variable"));
        }
        Ok(())
    }

    /// The addresses; `None` if no thread accesses any.
    pub(crate) fn warps(&self, arena: &mut Arena, scratch: &mut Scratch) -> Result<Option<Warps>> {
        self.check()?;
        if self.map.kind() == MapKind::KnownEmpty {
            return Ok(None);
        }
        let mut builder = self.over_lanes(arena)?;
        builder.simplify(arena, scratch, PointVariables::Keep);
        builder.canonicalize_constraints(arena);
        if builder.known_empty {
            return Ok(None);
        }
        let lanes = Interval::new(0, self.warp_size - 1);
        let lane = arena.variable(LANE as u32);
        if builder.intervals[LANE] != lanes {
            // The lane ranges over the whole warp; active lanes are a bound like others.
            let active = std::mem::replace(&mut builder.intervals[LANE], lanes);
            builder.constraints.push((lane, active));
        }
        let address = arena.scale(builder.results[0], self.width)?;
        let mut roots = vec![address];
        roots.extend(builder.constraints.iter().map(|(e, _)| *e));
        let used = arena.variables(&roots);
        let mut values = builder.intervals.clone();
        if values.iter().any(|i| i.lower < -MAX_ADDRESS || i.upper > MAX_ADDRESS) {
            return Err(Error::overflow("a thread, block or range id"));
        }
        let mut vector = self.vector.map(|v| v - SHIFT);
        if let Some(v) = vector.filter(|v| !used.contains(&(*v as u32))) {
            values[v] = Interval::point(values[v].lower); // the same element for the whole vector: loaded once
            vector = None;
        }
        let runtimes = &values[values.len() - self.map.num_runtimes()..];
        let repeats = runtimes.iter().try_fold(1u128, |n, i| n.checked_mul(i.count()));
        let own: Vec<u32> = [Some(LANE), vector].into_iter().flatten().map(|v| v as u32).collect();
        let whole = arena.export(&roots);
        let (lane_part, warp_part) = split_roots(arena, &mut scratch.ranges, &roots, &own, &values)?;
        Ok(Some(Warps {
            whole,
            lane_part,
            warp_part,
            bounds: builder.constraints.iter().map(|(_, i)| *i).collect(),
            vector,
            repeats: repeats.ok_or_else(|| Error::overflow("the number of runtime values"))?,
            values,
        }))
    }

    /// The position, in elements, with thread ids as digits of the number of a thread.
    fn over_lanes(&self, arena: &mut Arena) -> Result<MapBuilder> {
        let threads = self.block.iter().product::<i64>();
        let (lane, warp) = (arena.variable(LANE as u32), arena.variable(WARP as u32));
        let number = arena.combine(warp, self.warp_size, lane, 1)?;
        let mut places = self.thread_ids(arena, number)?;
        let all: Vec<Interval> = self.map.intervals().collect();
        places.extend((3..all.len()).map(|v| arena.variable((v - SHIFT) as u32)));
        let mut roots = arena.import_substituted(self.map.dag(), &places)?;
        let bounds = self.map.constraint_bounds();
        let mut constraints: Vec<(Expr, Interval)> =
            roots.drain(self.map.num_results()..).zip(bounds).collect();
        if threads % self.warp_size != 0 {
            constraints.push((number, Interval::new(0, threads - 1)));
        }
        for (k, id) in all[..3].iter().enumerate() {
            if id.lower > 0 || id.upper < self.block[k] - 1 {
                constraints.push((places[k], *id));
            }
        }
        let mut position = arena.constant(0);
        for (e, stride) in roots.iter().zip(self.strides) {
            position = arena.combine(position, 1, *e, *stride)?;
        }
        let own = [Interval::new(0, self.warp_size - 1), Interval::new(0, (threads - 1) / self.warp_size)];
        let intervals: Vec<Interval> = own.iter().chain(&all[3..]).copied().collect();
        let num_dims = intervals.len();
        Ok(MapBuilder { intervals, num_dims, results: vec![position], constraints, ..MapBuilder::default() })
    }

    /// The three thread ids of the thread with this number in its block, x fastest.
    fn thread_ids(&self, arena: &mut Arena, number: Expr) -> Result<Vec<Expr>> {
        let [x, y, _] = self.block;
        let (across, plane) = (arena.constant(x), arena.constant(x * y));
        let row = arena.floordiv(number, across)?;
        let height = arena.constant(y);
        let last_x = self.block[1..].iter().all(|n| *n == 1);
        let th_x = if last_x { number } else { arena.modulo(number, across)? };
        let th_y = if self.block[2] == 1 { row } else { arena.modulo(row, height)? };
        let zero = arena.constant(0);
        let th_z = if self.block[2] == 1 { zero } else { arena.floordiv(number, plane)? };
        Ok(vec![th_x, if last_x { zero } else { th_y }, th_z])
    }
}

fn split_roots(
    arena: &mut Arena,
    ranges: &mut Ranges,
    roots: &[Expr],
    own: &[u32],
    values: &[Interval],
) -> Result<(Dag, Dag)> {
    ranges.reset(values.iter().copied());
    let first = values.len() as u32;
    let mut parts = RootSplitter { arena, ranges, own, first, parameters: Vec::new(), known: HashMap::new() };
    let (lane, mut rest): (Vec<Expr>, Vec<Expr>) =
        roots.iter().map(|e| parts.split(*e)).collect::<Result<Vec<_>>>()?.into_iter().unzip();
    rest.append(&mut parts.parameters);
    Ok((arena.export(&lane), arena.export(&rest)))
}

/// Splits roots into sums of two parts: one over the `own` variables and parameters, one over all others. A parameter is the
/// value of the second part that a node of both kinds of variables depends on.
struct RootSplitter<'a> {
    arena: &'a mut Arena,
    ranges: &'a mut Ranges,
    own: &'a [u32],
    /// The number of the first parameter's variable.
    first: u32,
    /// The expression of each parameter.
    parameters: Vec<Expr>,
    /// The two parts of each node.
    known: HashMap<Expr, (Expr, Expr)>,
}

/// Both parts of a quotient and of a remainder.
struct DivisionParts {
    quotient: (Expr, Expr),
    remainder: (Expr, Expr),
}

impl RootSplitter<'_> {
    fn split(&mut self, root: Expr) -> Result<(Expr, Expr)> {
        for e in self.arena.post_order(&[root]) {
            if !self.known.contains_key(&e) {
                let parts = self.split_node(e)?;
                self.known.insert(e, parts);
            }
        }
        Ok(self.known[&root])
    }

    fn split_node(&mut self, e: Expr) -> Result<(Expr, Expr)> {
        let zero = self.arena.constant(0);
        let used = self.arena.variables(&[e]);
        let lane = used.iter().filter(|v| self.own.contains(v)).count();
        if lane == 0 {
            return Ok((zero, e));
        }
        if lane == used.len() {
            return Ok((e, zero));
        }
        if let Some((x, d)) = self.arena.as_floordiv(e).filter(|(_, d)| *d > 0) {
            return Ok(self.split_division(x, d)?.quotient);
        }
        if let Some((x, d)) = self.arena.as_mod(e).filter(|(_, d)| *d > 0) {
            return Ok(self.split_division(x, d)?.remainder);
        }
        if let Node::Sum(constant, terms) = self.arena.node(e) {
            let terms = terms.to_vec();
            let lane: Vec<Term> = terms.iter().map(|t| Term::new(t.coeff, self.known[&t.expr].0)).collect();
            let rest: Vec<Term> = terms.iter().map(|t| Term::new(t.coeff, self.known[&t.expr].1)).collect();
            return Ok((self.arena.sum(0, &lane)?, self.arena.sum(constant, &rest)?));
        }
        let mut operands = Vec::new();
        self.arena.for_each_operand(e, |o| operands.push(o));
        let mut pairs = Vec::new();
        for o in operands {
            let (lane, rest) = self.known[&o];
            let parameter = self.parameter_for(rest);
            pairs.push((o, self.arena.add(lane, parameter)?));
        }
        Ok((self.arena.replace(&[e], &pairs)?[0], zero))
    }

    /// Splits `x floordiv d` and `x mod d`, where `x = o + t` with `o` in `[0, span]` over the own variables. With
    /// `r = t mod d`, `x floordiv d = (o + r) floordiv d + t floordiv d` and `x mod d = o - d * ((o + r) floordiv d) + r`. The
    /// first terms depend on `r` only by whether `o + r` reaches `d`: `max(r, d - 1 - span)` decides that, with fewer values.
    fn split_division(&mut self, x: Expr, d: i64) -> Result<DivisionParts> {
        let (lane, rest) = self.known[&x];
        let Interval { lower, upper } = self.ranges.bounds(self.arena, lane);
        let span = upper.checked_sub(lower).filter(|s| *s < d && lower > i64::MIN);
        let shift = if span.is_some() { lower } else { 0 };
        let (lane, rest) = (self.arena.offset(lane, -shift)?, self.arena.offset(rest, shift)?);
        let divisor = self.arena.constant(d);
        let residue = self.arena.modulo(rest, divisor)?;
        let least = self.arena.constant(span.map_or(0, |s| d - 1 - s));
        let parameter = self.arena.maximum(&[residue, least])?;
        let parameter = self.parameter_for(parameter);
        let sum = self.arena.add(lane, parameter)?;
        let carried = self.arena.floordiv(sum, divisor)?;
        Ok(DivisionParts {
            quotient: (carried, self.arena.floordiv(rest, divisor)?),
            remainder: (self.arena.combine(lane, 1, carried, -d)?, residue),
        })
    }

    fn parameter_for(&mut self, e: Expr) -> Expr {
        if self.arena.as_constant(e).is_some() {
            return e;
        }
        let place = self.parameters.iter().position(|p| *p == e).unwrap_or_else(|| {
            let bounds = self.ranges.bounds(self.arena, e);
            self.ranges.variables.push(Info::of(bounds));
            self.parameters.push(e);
            self.parameters.len() - 1
        });
        self.arena.variable(self.first + place as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{read_indexing_map, ReadScratch};

    fn map(text: &str) -> IndexingMap {
        read_indexing_map(text, &mut Arena::new(), &mut ReadScratch::default()).unwrap()
    }

    fn access(map: &IndexingMap) -> Access<'_> {
        Access { map, strides: &[1], width: 32, block: [40, 3, 1], warp_size: 32, vector: None }
    }

    #[test]
    fn the_two_parts_add_up_to_the_whole() {
        for result in [
            "th_x + bl_x * 7 + s * 3",
            "((th_x + bl_x * 5) floordiv 6) * 4 - (th_x + bl_x + th_y) mod 7",
            "((th_x * 2 + s) mod 9 + bl_x) floordiv 4",
            "min(th_x + bl_x, s * 10) * 3 + max(th_x, bl_x) mod 5",
            "(th_x + s) floordiv -3 + (bl_x * th_x) mod 11",
        ] {
            let text = format!(
                "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[s] -> ({result}), domain: th_x in [0, 39], th_y in [0, 2], \
                 th_z in [0, 0], bl_x in [0, 6], bl_y in [0, 0], bl_z in [0, 0], s in [0, 4], th_x + s in [1, 30]"
            );
            let map = map(&text);
            let warps = access(&map).warps(&mut Arena::new(), &mut Scratch::default()).unwrap().unwrap();
            let roots = warps.whole.root_count();
            let mut scratch = Vec::new();
            for k in 0..500i64 {
                let mut point: Vec<i64> = warps
                    .values
                    .iter()
                    .zip(1..)
                    .map(|(i, n)| i.lower + k * n * 5 % (i.upper - i.lower + 1))
                    .collect();
                let whole = warps.whole.evaluate(&point, &mut scratch).unwrap();
                let mut warp_part = warps.warp_part.evaluate(&point, &mut scratch).unwrap();
                point.extend(warp_part.drain(roots..));
                let lane_part = warps.lane_part.evaluate(&point, &mut scratch).unwrap();
                let sums: Vec<i64> = lane_part.iter().zip(&warp_part).map(|(a, b)| a + b).collect();
                assert_eq!(sums, whole, "{result} at {point:?}");
            }
        }
    }

    #[test]
    fn what_is_no_thread_map_is_refused() {
        let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
        let other = map("(d0) -> (d0), domain: d0 in [0, 3]");
        assert!(access(&other).warps(&mut arena, &mut scratch).is_err());
        let six = map("(a, b, c, d, e, f) -> (a), domain: a in [0, 3], b in [0, 0], c in [0, 0], d in [0, 0], e in [0, 0], f in [0, 0]");
        assert!(access(&six).warps(&mut arena, &mut scratch).is_ok());
        assert!(Access { block: [0, 1, 1], ..access(&six) }.warps(&mut arena, &mut scratch).is_err());
        assert!(Access { strides: &[1, 2], ..access(&six) }.warps(&mut arena, &mut scratch).is_err());
        assert!(Access { vector: Some(2), ..access(&six) }.warps(&mut arena, &mut scratch).is_err());
    }
}
