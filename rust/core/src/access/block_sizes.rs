//! The memory traffic of one-dimensional launches, for many block sizes at once.
//!
//! The warps of a block begin at its threads 0, 32, 64, ... . The traffic of a warp depends on its first thread, up to a
//! period of the map, and on its number of lanes, so that tables hold it. The traffic of a block size is then a sum over
//! the first threads of its warps.

use crate::access::memory_traffic::{sample_points, Counter, Memory, Point};
use crate::access::period::{equivalence_classes, growths, ClassQuery};
use crate::access::warps::{Access, Warps, LANE};
use crate::error::Result;
use crate::expr::Arena;
use crate::int::gcd_i64;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::simplify::Scratch;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

const BLOCK: usize = 3; // the variable bl_x of a thread map
const FIRST: usize = 2; // that variable over lanes and warps: the thread that a warp begins with
const MAX_PERIOD: i64 = 1 << 14;
const MAX_ENTRIES: u128 = 1 << 18; // of a table, times the points of other variables
const MAX_BOXES: usize = 1 << 10;

/// Sums over the warps of a launch that have an active lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockTraffic {
    /// Instructions.
    pub instructions: u64,
    /// Sectors, each instruction counted by itself.
    pub sectors: u64,
    /// Sectors, the instructions of one thread's vector counted together.
    pub together: u64,
}

impl BlockTraffic {
    fn plus(self, more: BlockTraffic, times: u64) -> BlockTraffic {
        BlockTraffic {
            instructions: self.instructions + more.instructions * times,
            sectors: self.sectors + more.sectors * times,
            together: self.together + more.together * times,
        }
    }

    fn minus(self, less: BlockTraffic) -> BlockTraffic {
        BlockTraffic {
            instructions: self.instructions - less.instructions,
            sectors: self.sectors - less.sectors,
            together: self.together - less.together,
        }
    }
}

/// The traffic of `access`, stated for one thread a block, with blocks of each of these sizes.
///
/// `None` if the map has no period of a few thousand threads, or has runtime variables:
/// [`count_traffic`](super::memory_traffic::count_traffic) then counts each size. Errors: as that function.
pub fn traffic_by_block_size(
    arena: &mut Arena,
    scratch: &mut Scratch,
    access: &Access<'_>,
    memory: Memory,
    sizes: &[i64],
) -> Result<Option<Vec<BlockTraffic>>> {
    memory.check()?;
    if access.map.kind() == MapKind::KnownEmpty {
        return Ok(Some(vec![BlockTraffic::default(); sizes.len()]));
    }
    let Some(map) = map_over_first_threads(arena, access)? else { return Ok(None) };
    let warp = Access { map: &map, block: [access.warp_size, 1, 1], ..*access };
    let Some(warps) = warp.warps(arena, scratch)? else {
        return Ok(Some(vec![BlockTraffic::default(); sizes.len()]));
    };
    let Some(mut launch) = Launch::new(&warps, &warp, memory)? else { return Ok(None) };
    sizes.iter().map(|size| launch.traffic_of_blocks(*size)).collect()
}

/// The map over the lane and, in place of the block id, the first thread of the warp.
fn map_over_first_threads(arena: &mut Arena, access: &Access<'_>) -> Result<Option<IndexingMap>> {
    let map = access.map;
    let is_plain = map.num_dims() == 6 && map.num_runtimes() == 0 && map.interval(BLOCK).lower == 0;
    if map.kind() != MapKind::Defined
        || !is_plain
        || map.intervals().take(BLOCK).any(|i| i != Interval::point(0))
    {
        return Ok(None);
    }
    let (lane, first) = (arena.variable(LANE as u32), arena.variable(BLOCK as u32));
    let thread = arena.add(lane, first)?;
    let mut places: Vec<_> = (0..map.num_variables()).map(|v| arena.variable(v as u32)).collect();
    places[LANE] = arena.constant(0);
    places[BLOCK] = thread;
    let mut roots = arena.import_substituted(map.dag(), &places)?;
    let conditions: Vec<_> = roots.drain(map.num_results()..).zip(map.constraint_bounds()).collect();
    let mut builder = MapBuilder {
        intervals: map.intervals().collect(),
        names: map.names().clone(),
        num_dims: map.num_dims(),
        num_ranges: map.num_ranges(),
        results: roots,
        ..MapBuilder::default()
    };
    builder.intervals[LANE] = Interval::new(0, access.warp_size - 1);
    conditions.into_iter().for_each(|(e, i)| builder.add_constraint(arena, e, i));
    builder.add_constraint(arena, thread, map.interval(BLOCK));
    builder.build(arena).map(Some)
}

/// A launch whose block size is open.
struct Launch<'a> {
    counter: Counter<'a>,
    /// The points of all other variables, each with its weight.
    others: Vec<(Vec<i64>, u64)>,
    /// The last thread that can be the first of a warp.
    last: i64,
    /// Warps that begin below this thread have the same traffic as those that begin `period` threads later.
    regular: i64,
    period: i64,
    warp: i64,
    /// The kind of warp that begins at each thread of the period.
    kinds: Vec<u32>,
    /// The first of these threads for each kind.
    examples: Vec<i64>,
    /// Tables by number of lanes, at least 1.
    tables: HashMap<i64, Table>,
    /// The traffic of warps that begin at or after `regular`, by first thread and number of lanes.
    irregular: HashMap<(i64, i64), BlockTraffic>,
}

impl<'a> Launch<'a> {
    fn new(warps: &'a Warps, access: &Access<'_>, memory: Memory) -> Result<Option<Self>> {
        let (cycle, firsts) = (memory.cycle()?, warps.values[FIRST]);
        let regular = (firsts.upper - access.warp_size).max(0);
        let Some(period) = period(warps, cycle, regular) else { return Ok(None) };
        let free: Vec<usize> = [Some(LANE), Some(FIRST), warps.vector].into_iter().flatten().collect();
        let query = ClassQuery { dag: &warps.whole, cycle, bounds: &warps.bounds, free: &free };
        let parts = equivalence_classes(&query, warps.values.clone(), MAX_BOXES);
        let Some(others) = sample_points(&parts, (MAX_ENTRIES / period as u128) as u64)? else {
            return Ok(None);
        };
        let Some(others) =
            weights_in_64_bits(others, firsts.upper, max_traffic_of_thread(warps, access, memory))
        else {
            return Ok(None);
        };
        let mut made = Launch {
            counter: Counter::new(warps, access, memory)?,
            others,
            last: firsts.upper,
            regular,
            period,
            warp: access.warp_size,
            kinds: Vec::with_capacity(period as usize),
            examples: Vec::new(),
            tables: HashMap::new(),
            irregular: HashMap::new(),
        };
        Ok((firsts.lower == 0 && made.find_kinds()?).then_some(made))
    }

    /// Numbers the kinds of warps; false if vectors are not aligned in one way.
    fn find_kinds(&mut self) -> Result<bool> {
        let mut numbers: HashMap<Vec<i64>, u32> = HashMap::new();
        let mut kind = Vec::new();
        for first in 0..self.period.min(self.regular) {
            kind.clear();
            for (point, _) in &mut self.others {
                point[FIRST] = first;
                if !self.counter.append_kind(point, &mut kind)? {
                    return Ok(false);
                }
            }
            let number = numbers.get(&kind).copied().unwrap_or_else(|| {
                self.examples.push(first);
                numbers.insert(kind.clone(), numbers.len() as u32);
                numbers.len() as u32 - 1
            });
            self.kinds.push(number);
        }
        Ok(true)
    }

    /// The traffic of all warps with blocks of `size` threads; `None` if vectors are not aligned in one way.
    fn traffic_of_blocks(&mut self, size: i64) -> Result<Option<BlockTraffic>> {
        let (whole, rest) = (size / self.warp, size % self.warp);
        let lanes = [(whole > 0).then_some(self.warp), (rest > 0).then_some(rest)];
        for lanes in lanes.into_iter().flatten() {
            if !self.tables.contains_key(&lanes) {
                let Some(table) = self.table(lanes)? else { return Ok(None) };
                self.tables.insert(lanes, table);
            }
        }
        let blocks = self.regular / size;
        let mut sum = self.regular_blocks(size, blocks);
        for block in blocks..=self.last / size {
            for thread in (0..size).step_by(self.warp as usize) {
                let (first, lanes) = (block * size + thread, self.warp.min(size - thread));
                if first > self.last {
                    break;
                }
                let Some(moved) = self.traffic_of_warp(first, lanes)? else { return Ok(None) };
                sum = sum.plus(moved, 1);
            }
        }
        Ok(Some(sum))
    }

    /// The traffic of the first blocks, whose warps all begin below `regular`; it repeats after `cycle` blocks.
    fn regular_blocks(&self, size: i64, blocks: i64) -> BlockTraffic {
        let step = gcd_i64(size, self.period);
        let cycle = self.period / step;
        let (cycles, more) = (blocks / cycle, blocks % cycle);
        let all = if cycles > 0 { self.cycle_of_blocks(size, step) } else { BlockTraffic::default() };
        let nothing = BlockTraffic::default();
        if cycles > 0 && more > cycle / 2 {
            return nothing.plus(all, cycles as u64 + 1).minus(self.sum_of_blocks(size, more..cycle));
        }
        self.sum_of_blocks(size, 0..more).plus(all, cycles as u64)
    }

    /// The traffic of one cycle of blocks, which begin at each multiple of `step` once.
    fn cycle_of_blocks(&self, size: i64, step: i64) -> BlockTraffic {
        let (whole, rest) = (size / self.warp, size % self.warp);
        let mut sum = BlockTraffic::default();
        for (table, places) in self.tables_of(whole, rest) {
            for place in places {
                sum = sum.plus(table.sum_of_every(step, place * self.warp % step), 1);
            }
        }
        sum
    }

    /// The tables of a block's full warps and of its last, partial one, each with the numbers of these warps.
    fn tables_of(&self, whole: i64, rest: i64) -> impl Iterator<Item = (&Table, Range<i64>)> {
        let of_whole = self.tables.get(&self.warp).map(|t| (t, 0..whole));
        let of_rest = self.tables.get(&rest).map(|t| (t, whole..whole + i64::from(rest > 0)));
        of_whole.into_iter().chain(of_rest)
    }

    fn sum_of_blocks(&self, size: i64, blocks: Range<i64>) -> BlockTraffic {
        let (whole, rest) = (size / self.warp, size % self.warp);
        let step = size % self.period;
        let mut sum = BlockTraffic::default();
        for (table, places) in self.tables_of(whole, rest) {
            let mut first = (blocks.start * step + places.start * self.warp) % self.period;
            for _ in blocks.clone().filter(|_| !places.is_empty()) {
                sum = sum.plus(table.sum_of_row(first, places.end - places.start), 1);
                first += step;
                first -= if first >= self.period { self.period } else { 0 };
            }
        }
        sum
    }

    /// The traffic of one warp; its table must exist.
    fn traffic_of_warp(&mut self, first: i64, lanes: i64) -> Result<Option<BlockTraffic>> {
        if first < self.regular {
            return Ok(Some(self.tables[&lanes].entries[(first % self.period) as usize]));
        }
        if let Some(known) = self.irregular.get(&(first, lanes)) {
            return Ok(Some(*known));
        }
        let Some(found) = self.count_warps(first, lanes)? else { return Ok(None) };
        self.irregular.insert((first, lanes), found);
        Ok(Some(found))
    }

    fn table(&mut self, lanes: i64) -> Result<Option<Table>> {
        let mut of_kinds = Vec::with_capacity(self.examples.len());
        for k in 0..self.examples.len() {
            let Some(moved) = self.count_warps(self.examples[k], lanes)? else { return Ok(None) };
            of_kinds.push(moved);
        }
        let mut entries: Vec<BlockTraffic> = self.kinds.iter().map(|k| of_kinds[*k as usize]).collect();
        entries.resize(self.period as usize, BlockTraffic::default());
        Ok(Some(Table::new(entries, if lanes == self.warp { self.warp } else { 0 })))
    }

    fn count_warps(&mut self, first: i64, lanes: i64) -> Result<Option<BlockTraffic>> {
        let mut sum = BlockTraffic::default();
        for (point, times) in &mut self.others {
            point[FIRST] = first;
            let Some((each, together)) = self.counter.traffic_at(point, lanes as usize)? else {
                return Ok(None);
            };
            let moved = BlockTraffic {
                instructions: each[0] as u64,
                sectors: each[2] as u64,
                together: together[2] as u64,
            };
            sum = sum.plus(moved, *times);
        }
        Ok(Some(sum))
    }
}

/// An upper bound on the sectors of one thread at one point.
fn max_traffic_of_thread(warps: &Warps, access: &Access<'_>, memory: Memory) -> u128 {
    let Memory::Global { sector, .. } = memory else { return u128::from(u64::MAX) };
    warps.vector.map_or(1, |v| warps.values[v].count()) * (access.width / sector + 2) as u128
}

/// The points with weights of 64 bits; `None` if sums over all threads might overflow.
fn weights_in_64_bits(others: Vec<Point>, last: i64, most: u128) -> Option<Vec<(Vec<i64>, u64)>> {
    let all = others.iter().try_fold(0u128, |sum, (_, times)| sum.checked_add(*times))?;
    let sum = all.checked_mul(last as u128 + 1)?.checked_mul(most)?;
    (sum < u128::from(u64::MAX)).then(|| others.into_iter().map(|(p, times)| (p, times as u64)).collect())
}

/// The period, in threads, of the traffic of warps that begin below `regular`.
fn period(warps: &Warps, cycle: i64, regular: i64) -> Option<i64> {
    if regular == 0 {
        return Some(1);
    }
    let growth = growths(&warps.whole, FIRST as u32);
    let mut part = warps.values.clone();
    part[FIRST].upper = regular - 1;
    let mut ranges = Vec::new();
    let certain = warps.whole.ranges(&part, &mut ranges);
    let address = growth.first().copied().flatten()?;
    let mut period = address.period.checked_mul(cycle / gcd_i64(address.growth, cycle).max(1))?;
    for ((root, bounds), growth) in
        warps.whole.root_positions()[1..].iter().zip(&warps.bounds).zip(&growth[1..])
    {
        if certain && bounds.covers(ranges[*root as usize]) {
            continue;
        }
        let growth = growth.filter(|g| g.growth == 0)?;
        period = period.checked_mul(growth.period / gcd_i64(period, growth.period).max(1))?;
    }
    (period <= MAX_PERIOD).then_some(period)
}

/// The traffic of warps with some number of lanes, by first thread modulo the period, with sums over consecutive warps.
struct Table {
    entries: Vec<BlockTraffic>,
    /// The row of each entry, and its position there.
    places: Vec<(usize, usize)>,
    /// Prefix sums of each row; a row is the cycle of entries of consecutive warps.
    sums: Vec<Vec<BlockTraffic>>,
    /// Sums of entries by step and first one.
    steps: RefCell<HashMap<(i64, i64), BlockTraffic>>,
}

impl Table {
    /// `step` is the number of threads from a warp to the next; 0 for a table without rows.
    fn new(entries: Vec<BlockTraffic>, step: i64) -> Table {
        let period = entries.len() as i64;
        let mut table = Table { entries, places: Vec::new(), sums: Vec::new(), steps: RefCell::default() };
        if step == 0 {
            return table;
        }
        table.places = vec![(0, 0); period as usize];
        let rows = gcd_i64(step, period);
        for row in 0..rows {
            let mut sums = vec![BlockTraffic::default()];
            let mut at = row;
            for place in 0..(period / rows) as usize {
                table.places[at as usize] = (row as usize, place);
                sums.push(sums[place].plus(table.entries[at as usize], 1));
                at = (at + step) % period;
            }
            table.sums.push(sums);
        }
        table
    }

    /// The sum over the warps that begin at `first`, `first + step`, ... below the period.
    fn sum_of_every(&self, step: i64, first: i64) -> BlockTraffic {
        let known = self.steps.borrow().get(&(step, first)).copied();
        known.unwrap_or_else(|| {
            let chosen = self.entries[first as usize..].iter().step_by(step as usize);
            let sum = chosen.fold(BlockTraffic::default(), |sum, moved| sum.plus(*moved, 1));
            self.steps.borrow_mut().insert((step, first), sum);
            sum
        })
    }

    /// The sum over `count` consecutive warps, the first of which begins at `first`; one warp in a table without rows.
    fn sum_of_row(&self, first: i64, count: i64) -> BlockTraffic {
        if count == 1 {
            return self.entries[first as usize];
        }
        let (row, place) = self.places[first as usize];
        let sums = &self.sums[row];
        let length = sums.len() - 1;
        let (cycles, more) = (count as usize / length, count as usize % length);
        let end = place + more;
        let part = if end <= length {
            sums[end].minus(sums[place])
        } else {
            sums[length].minus(sums[place]).plus(sums[end - length], 1)
        };
        part.plus(sums[length], cycles as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::memory_traffic::count_traffic;
    use crate::text::{read_indexing_map, ReadScratch};

    const MEMORY: Memory = Memory::Global { sector: 256, line: 1024, vector: 128 };

    /// The map where `P` is a thread's number, in blocks of `block`.
    fn map(results: &str, threads: i64, block: i64) -> IndexingMap {
        let number = if block == 1 { "bl_x".to_string() } else { format!("(bl_x * {block} + th_x)") };
        let text = format!(
            "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[v] -> ({}), domain: th_x in [0, {}], th_y in [0, 0], \
             th_z in [0, 0], bl_x in [0, {}], bl_y in [0, 0], bl_z in [0, 0], v in [0, 3], {number} in [0, {}]",
            results.replace('P', &number),
            block - 1,
            (threads - 1) / block,
            threads - 1,
        );
        read_indexing_map(&text, &mut Arena::new(), &mut ReadScratch::default()).unwrap()
    }

    fn access(map: &IndexingMap, block: i64) -> Access<'_> {
        Access { map, strides: &[1], width: 32, block: [block, 1, 1], warp_size: 32, vector: Some(6) }
    }

    fn in_blocks(map: &IndexingMap, sizes: &[i64]) -> Option<Vec<BlockTraffic>> {
        let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
        traffic_by_block_size(arena, scratch, &access(map, 1), MEMORY, sizes).unwrap()
    }

    #[test]
    fn each_size_is_what_its_blocks_are_counted_to_move() {
        let sizes: Vec<i64> = (1..34).chain([63, 90, 128, 333, 1000, 1024]).collect();
        for results in [
            "P * 4 + v",
            "P mod 100 * 4 + v",
            "(P * 3) floordiv 7 * 4 + v",
            "(P mod 40 * 32 + P floordiv 40) * 4 + v",
        ] {
            for threads in [1, 33, 1320, 9000] {
                let found = in_blocks(&map(results, threads, 1), &sizes).expect(results);
                for (size, moved) in sizes.iter().zip(found) {
                    let of_size = map(results, threads, *size);
                    let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
                    let wanted =
                        count_traffic(arena, scratch, &access(&of_size, *size), MEMORY).unwrap().unwrap();
                    if wanted.sampled.is_none() {
                        let wanted = [wanted.each[0], wanted.each[2], wanted.together[2]].map(|n| n as u64);
                        let found = [moved.instructions, moved.sectors, moved.together];
                        assert_eq!(found, wanted, "{results}: {threads} threads by {size}");
                    }
                }
            }
        }
    }

    #[test]
    fn maps_that_do_not_repeat_are_left_to_others() {
        assert!(in_blocks(&map("P * P", 100, 1), &[32]).is_none());
        assert!(in_blocks(&map("P + v * 40", 100, 1), &[32]).is_none()); // vectors in pieces
        assert!(in_blocks(&map("P mod 99991", 200_000, 1), &[32]).is_none());
        assert!(in_blocks(&map("P * 4 + v", 100, 4), &[32]).is_none()); // in blocks already
    }
}
