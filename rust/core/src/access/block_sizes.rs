//! Launches of one dimension, whose threads are cut into blocks of any size: what the warps move, for many sizes at once.
//!
//! The warps of a block begin at its threads 0, 32, 64, ... . What a warp moves depends on the thread that it begins with,
//! up to a period of the map, and on how many lanes it has: this is told by tables that are made once. A size of blocks is
//! then a sum over the threads at which its warps begin.

use crate::access::memory_traffic::{points, Counter, Memory, Point};
use crate::access::period::{classes, growths, Question};
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
pub struct Moved {
    /// Instructions.
    pub instructions: u64,
    /// Sectors that each of them moves.
    pub sectors: u64,
    /// Sectors of those of one thread's vector together.
    pub together: u64,
}

impl Moved {
    fn plus(self, more: Moved, times: u64) -> Moved {
        Moved {
            instructions: self.instructions + more.instructions * times,
            sectors: self.sectors + more.sectors * times,
            together: self.together + more.together * times,
        }
    }

    fn minus(self, less: Moved) -> Moved {
        Moved {
            instructions: self.instructions - less.instructions,
            sectors: self.sectors - less.sectors,
            together: self.together - less.together,
        }
    }
}

/// The traffic of `access`, of a kernel with one thread a block, with blocks of each of these sizes.
///
/// `None` where the map does not repeat after a few thousand threads, or has runtime variables: then
/// [`counted`](super::memory_traffic::counted) tells each size. Errors: as that.
pub fn moved_in_blocks(
    arena: &mut Arena,
    scratch: &mut Scratch,
    access: &Access<'_>,
    memory: Memory,
    sizes: &[i64],
) -> Result<Option<Vec<Moved>>> {
    memory.check()?;
    if access.map.kind() == MapKind::KnownEmpty {
        return Ok(Some(vec![Moved::default(); sizes.len()]));
    }
    let Some(map) = over_beginnings(arena, access)? else { return Ok(None) };
    let warp = Access { map: &map, block: [access.warp_size, 1, 1], ..*access };
    let Some(warps) = warp.warps(arena, scratch)? else {
        return Ok(Some(vec![Moved::default(); sizes.len()]));
    };
    let Some(mut launch) = Launch::new(&warps, &warp, memory)? else { return Ok(None) };
    sizes.iter().map(|size| launch.of_blocks(*size)).collect()
}

/// The map over the lane and the thread that the warp begins with, which stands for the block.
fn over_beginnings(arena: &mut Arena, access: &Access<'_>) -> Result<Option<IndexingMap>> {
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

/// A launch whose threads are yet to be cut into blocks.
struct Launch<'a> {
    counter: Counter<'a>,
    /// The points of all other variables, and how often each stands for.
    others: Vec<(Vec<i64>, u64)>,
    /// The last thread that a warp can begin with.
    last: i64,
    /// Warps that begin below this move what those do that begin `period` threads later.
    regular: i64,
    period: i64,
    warp: i64,
    /// Of threads up to the period: which kind of warp begins there.
    kinds: Vec<u32>,
    /// Of each kind, the first of these threads.
    examples: Vec<i64>,
    /// By lanes, at least 1.
    tables: HashMap<i64, Table>,
    /// Of warps that begin at or after `regular`, by that thread and lanes.
    irregular: HashMap<(i64, i64), Moved>,
}

impl<'a> Launch<'a> {
    fn new(warps: &'a Warps, access: &Access<'_>, memory: Memory) -> Result<Option<Self>> {
        let (cycle, firsts) = (memory.cycle()?, warps.values[FIRST]);
        let regular = (firsts.upper - access.warp_size).max(0);
        let Some(period) = period(warps, cycle, regular) else { return Ok(None) };
        let free: Vec<usize> = [Some(LANE), Some(FIRST), warps.vector].into_iter().flatten().collect();
        let question = Question { dag: &warps.whole, cycle, bounds: &warps.bounds, free: &free };
        let parts = classes(&question, warps.values.clone(), MAX_BOXES);
        let Some(others) = points(&parts, (MAX_ENTRIES / period as u128) as u64)? else { return Ok(None) };
        let Some(others) = in_64_bits(others, firsts.upper, most_moved(warps, access, memory)) else {
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

    /// Number the kinds of warps; false where vectors lie in memory in more than one way.
    fn find_kinds(&mut self) -> Result<bool> {
        let mut numbers: HashMap<Vec<i64>, u32> = HashMap::new();
        let mut kind = Vec::new();
        for first in 0..self.period.min(self.regular) {
            kind.clear();
            for (point, _) in &mut self.others {
                point[FIRST] = first;
                if !self.counter.kind(point, &mut kind)? {
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

    /// The traffic of all warps with blocks of `size` threads; `None` where vectors lie in memory in more than one way.
    fn of_blocks(&mut self, size: i64) -> Result<Option<Moved>> {
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
                let Some(moved) = self.of_warp(first, lanes)? else { return Ok(None) };
                sum = sum.plus(moved, 1);
            }
        }
        Ok(Some(sum))
    }

    /// Of the first blocks, whose warps all begin below `regular`. After `turn` of them warps begin alike again.
    fn regular_blocks(&self, size: i64, blocks: i64) -> Moved {
        let step = gcd_i64(size, self.period);
        let turn = self.period / step;
        let (turns, more) = (blocks / turn, blocks % turn);
        let all = if turns > 0 { self.turn_of_blocks(size, step) } else { Moved::default() };
        let nothing = Moved::default();
        if turns > 0 && more > turn / 2 {
            return nothing.plus(all, turns as u64 + 1).minus(self.blocks_one_by_one(size, more..turn));
        }
        self.blocks_one_by_one(size, 0..more).plus(all, turns as u64)
    }

    /// Of as many blocks as begin at each multiple of `step` once.
    fn turn_of_blocks(&self, size: i64, step: i64) -> Moved {
        let (whole, rest) = (size / self.warp, size % self.warp);
        let mut sum = Moved::default();
        for (table, places) in self.tables_of(whole, rest) {
            for place in places {
                sum = sum.plus(table.every(step, place * self.warp % step), 1);
            }
        }
        sum
    }

    /// The tables of a block's whole warps and of its last one, each with the places of these warps in the block.
    fn tables_of(&self, whole: i64, rest: i64) -> impl Iterator<Item = (&Table, Range<i64>)> {
        let of_whole = self.tables.get(&self.warp).map(|t| (t, 0..whole));
        let of_rest = self.tables.get(&rest).map(|t| (t, whole..whole + i64::from(rest > 0)));
        of_whole.into_iter().chain(of_rest)
    }

    fn blocks_one_by_one(&self, size: i64, blocks: Range<i64>) -> Moved {
        let (whole, rest) = (size / self.warp, size % self.warp);
        let step = size % self.period;
        let mut sum = Moved::default();
        for (table, places) in self.tables_of(whole, rest) {
            let mut first = (blocks.start * step + places.start * self.warp) % self.period;
            for _ in blocks.clone().filter(|_| !places.is_empty()) {
                sum = sum.plus(table.row(first, places.end - places.start), 1);
                first += step;
                first -= if first >= self.period { self.period } else { 0 };
            }
        }
        sum
    }

    /// Of one warp whose table is there.
    fn of_warp(&mut self, first: i64, lanes: i64) -> Result<Option<Moved>> {
        if first < self.regular {
            return Ok(Some(self.tables[&lanes].entries[(first % self.period) as usize]));
        }
        if let Some(known) = self.irregular.get(&(first, lanes)) {
            return Ok(Some(*known));
        }
        let Some(found) = self.counted(first, lanes)? else { return Ok(None) };
        self.irregular.insert((first, lanes), found);
        Ok(Some(found))
    }

    fn table(&mut self, lanes: i64) -> Result<Option<Table>> {
        let mut of_kinds = Vec::with_capacity(self.examples.len());
        for k in 0..self.examples.len() {
            let Some(moved) = self.counted(self.examples[k], lanes)? else { return Ok(None) };
            of_kinds.push(moved);
        }
        let mut entries: Vec<Moved> = self.kinds.iter().map(|k| of_kinds[*k as usize]).collect();
        entries.resize(self.period as usize, Moved::default());
        Ok(Some(Table::new(entries, if lanes == self.warp { self.warp } else { 0 })))
    }

    fn counted(&mut self, first: i64, lanes: i64) -> Result<Option<Moved>> {
        let mut sum = Moved::default();
        for (point, times) in &mut self.others {
            point[FIRST] = first;
            let Some((each, together)) = self.counter.at(point, lanes as usize)? else { return Ok(None) };
            let moved =
                Moved { instructions: each[0] as u64, sectors: each[2] as u64, together: together[2] as u64 };
            sum = sum.plus(moved, *times);
        }
        Ok(Some(sum))
    }
}

/// The most that a thread moves at one point.
fn most_moved(warps: &Warps, access: &Access<'_>, memory: Memory) -> u128 {
    let Memory::Global { sector, .. } = memory else { return u128::from(u64::MAX) };
    warps.vector.map_or(1, |v| warps.values[v].count()) * (access.width / sector + 2) as u128
}

/// `None` where sums over all threads might leave 64 bits.
fn in_64_bits(others: Vec<Point>, last: i64, most: u128) -> Option<Vec<(Vec<i64>, u64)>> {
    let all = others.iter().try_fold(0u128, |sum, (_, times)| sum.checked_add(*times))?;
    let sum = all.checked_mul(last as u128 + 1)?.checked_mul(most)?;
    (sum < u128::from(u64::MAX)).then(|| others.into_iter().map(|(p, times)| (p, times as u64)).collect())
}

/// After how many threads a warp moves alike, if it begins below `regular`.
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

/// Traffic of warps of some lanes, by their first thread up to the period; sums over warps in a row.
struct Table {
    entries: Vec<Moved>,
    /// Of each entry: its row, and its place there.
    places: Vec<(usize, usize)>,
    /// Of each row, which comes back to its first entry: sums of its first entries.
    sums: Vec<Vec<Moved>>,
    /// Sums of entries by step and first one.
    steps: RefCell<HashMap<(i64, i64), Moved>>,
}

impl Table {
    /// `step`: threads from a warp in a row to the next; 0: there are no rows.
    fn new(entries: Vec<Moved>, step: i64) -> Table {
        let period = entries.len() as i64;
        let mut table = Table { entries, places: Vec::new(), sums: Vec::new(), steps: RefCell::default() };
        if step == 0 {
            return table;
        }
        table.places = vec![(0, 0); period as usize];
        let rows = gcd_i64(step, period);
        for row in 0..rows {
            let mut sums = vec![Moved::default()];
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

    /// The sum of the warps that begin at `first` and each `step` further, up to the period.
    fn every(&self, step: i64, first: i64) -> Moved {
        let known = self.steps.borrow().get(&(step, first)).copied();
        known.unwrap_or_else(|| {
            let chosen = self.entries[first as usize..].iter().step_by(step as usize);
            let sum = chosen.fold(Moved::default(), |sum, moved| sum.plus(*moved, 1));
            self.steps.borrow_mut().insert((step, first), sum);
            sum
        })
    }

    /// The sum of `count` warps in a row, the first of which begins at `first`: of one without rows.
    fn row(&self, first: i64, count: i64) -> Moved {
        if count == 1 {
            return self.entries[first as usize];
        }
        let (row, place) = self.places[first as usize];
        let sums = &self.sums[row];
        let length = sums.len() - 1;
        let (turns, more) = (count as usize / length, count as usize % length);
        let end = place + more;
        let part = if end <= length {
            sums[end].minus(sums[place])
        } else {
            sums[length].minus(sums[place]).plus(sums[end - length], 1)
        };
        part.plus(sums[length], turns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::memory_traffic::counted;
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

    fn in_blocks(map: &IndexingMap, sizes: &[i64]) -> Option<Vec<Moved>> {
        let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
        moved_in_blocks(arena, scratch, &access(map, 1), MEMORY, sizes).unwrap()
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
                    let wanted = counted(arena, scratch, &access(&of_size, *size), MEMORY).unwrap().unwrap();
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
