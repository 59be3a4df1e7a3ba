//! Memory traffic of an access's warps: sectors and lines of global memory, passes over the banks of shared memory.
//!
//! Warps with the same active lanes, whose addresses differ by whole lines (or by whole words of shared memory), are
//! counted by one representative.

use crate::access::lanes::{Access, Warps, LANE, MAX_ADDRESS};
use crate::access::period::{equivalence_classes, ClassQuery, Sample};
use crate::access::transactions::{add, Layout, Pattern};
pub use crate::access::transactions::{Memory, Sums};
use crate::error::{Error, Result};
use crate::expr::Arena;
use crate::int::floor_mod;
use crate::interval::Interval;
use crate::simplify::Scratch;
use std::collections::HashMap;

/// The counts of an access's warps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TrafficCounts {
    /// Each load or store by itself.
    pub each: Sums,
    /// The loads or stores of one thread's vector together: sectors that one of them fetches serve the others.
    pub together: Sums,
    /// Warp instructions of the launch, for all `repeats` runtime values.
    pub all: u128,
    /// The number of them that those counted represent.
    pub counted: u128,
    /// The number of rows counted, if not all were.
    pub sampled: Option<u64>,
    /// The number of runtime values that the sums run over, one of which occurs.
    pub repeats: u128,
}

const MAX_BOXES: usize = 1 << 10;
const MAX_ROWS: u64 = 1 << 14; // a sample of more rows is counted
const SAMPLED_ROWS: u64 = 1 << 12; // rows of a sample
const MAX_PARTS: usize = 1 << 8; // so many parts are kept in memory

/// Counts the traffic of all warp instructions with an active lane; `None` if there are none.
///
/// Sums of global memory: instructions, distinct bytes requested, sectors, lines, the least number of sectors that could
/// hold the bytes, and sectors if each contiguous run of bytes began at a sector. Sums of shared memory: instructions,
/// distinct bytes requested, passes over the banks, the least number of passes, then zeros.
///
/// Errors: a map that is no thread map, addresses or sums that leave their range.
pub fn count_traffic(
    arena: &mut Arena,
    scratch: &mut Scratch,
    access: &Access<'_>,
    memory: Memory,
) -> Result<Option<TrafficCounts>> {
    memory.check()?;
    let Some(warps) = access.warps(arena, scratch)? else { return Ok(None) };
    let free: Vec<usize> = [Some(LANE), warps.vector].into_iter().flatten().collect();
    let query = ClassQuery { dag: &warps.whole, cycle: memory.cycle()?, bounds: &warps.bounds, free: &free };
    let parts = equivalence_classes(&query, warps.values.clone(), MAX_BOXES);
    let mut counter = Counter::new(&warps, access, memory)?;
    let mut counts = counter.run(&parts)?;
    if counts.is_none() {
        counter = Counter::new(&warps, access, memory)?;
        counter.layout.merges = false;
        counts = counter.run(&parts)?;
    }
    Ok(counts.filter(|f| f.each[0] > 0))
}

/// Rows of a class: one value for each variable, the last variable fastest.
struct Rows {
    /// The first value of each variable.
    first: Vec<i64>,
    /// The variables with several values: their number, the points that each represents, how many represent one more.
    varying: Vec<(usize, u64, u64, u64)>,
    /// The number of points that a row represents by the other variables.
    weight: u128,
    /// The number of rows.
    count: u64,
    /// The number of points.
    points: u128,
}

impl Rows {
    fn new(class: &[Sample]) -> Result<Rows> {
        let product = |wanted: &dyn Fn(&&Sample) -> bool| {
            let mut counts = class.iter().filter(wanted).map(|s| u128::from(s.count));
            let product = counts.try_fold(1u128, |n, c| n.checked_mul(c));
            product.ok_or_else(|| Error::overflow("the number of warp instructions"))
        };
        let varying = class.iter().enumerate().filter(|(_, s)| s.shown > 1);
        Ok(Rows {
            first: class.iter().map(|s| s.first).collect(),
            varying: varying.map(|(v, s)| (v, s.shown, s.count / s.shown, s.count % s.shown)).collect(),
            weight: product(&|s| s.shown == 1)?,
            count: class.iter().fold(1u64, |n, s| n.saturating_mul(s.shown)),
            points: product(&|_| true)?,
        })
    }

    /// Writes the values of row `k`, and returns the number of points that it represents.
    fn read(&self, mut k: u64, values: &mut [i64]) -> u128 {
        let mut weight = self.weight;
        for (v, shown, each, more) in self.varying.iter().rev() {
            let at = k % shown;
            k /= shown;
            values[*v] = self.first[*v] + at as i64;
            weight *= u128::from(each + u64::from(at < *more)); // no more than all points
        }
        weight
    }
}

/// The lane part of each root for some parameters, by lane and element; of each bound, the range of its part, and whether
/// its values are sorted.
struct LaneParts {
    values: Vec<Vec<i64>>,
    spans: Vec<(Interval, bool)>,
}

/// A counter of warps, each pattern of addresses once.
pub(crate) struct Counter<'a> {
    warps: &'a Warps,
    layout: Layout,
    cycle: i64,
    /// The number of elements that all lanes access together.
    count: usize,
    /// The values of lane and vector, lane by lane, and of the parameters.
    points: Vec<Vec<i64>>,
    /// The lane parts by parameters; `at` holds the parameters of the current one, `here`.
    parts: Vec<LaneParts>,
    parts_at: HashMap<Vec<i64>, usize>,
    at: Vec<i64>,
    here: usize,
    /// Patterns by active elements (one bit each) and parameters; `key` is that of the current pattern, `last`.
    patterns: Vec<Pattern>,
    places: HashMap<Vec<i64>, usize>,
    key: Vec<i64>,
    last: usize,
    next: Vec<i64>,
    offsets: Vec<i64>,
    scratch: Vec<i64>,
}

impl<'a> Counter<'a> {
    /// A counter that has counted nothing.
    pub(crate) fn new(warps: &'a Warps, access: &Access<'_>, memory: Memory) -> Result<Self> {
        let lanes = access.warp_size as usize;
        let span = warps.vector.map(|v| warps.values[v]).unwrap_or(Interval::point(0));
        let elements = usize::try_from(span.count()).ok().filter(|n| *n <= 1 << 12);
        let elements = elements.ok_or_else(|| Error::invalid_map("a vector has too many elements"))?;
        let parameters = warps.warp_part.root_count() - warps.lane_part.root_count();
        let mut points = vec![vec![0; lanes * elements]; warps.values.len() + parameters];
        points[LANE].iter_mut().enumerate().for_each(|(k, lane)| *lane = (k / elements) as i64);
        if let Some(v) = warps.vector {
            points[v].iter_mut().enumerate().for_each(|(k, x)| *x = span.lower + (k % elements) as i64);
        }
        let merges = matches!(memory, Memory::Global { vector, .. } if vector > 0)
            && warps.vector.is_some()
            && elements.is_power_of_two();
        Ok(Counter {
            warps,
            layout: Layout { memory, width: access.width, elements, merges },
            cycle: memory.cycle()?,
            count: lanes * elements,
            points,
            parts: Vec::new(),
            parts_at: HashMap::new(),
            at: Vec::new(),
            here: 0,
            patterns: Vec::new(),
            places: HashMap::new(),
            key: Vec::new(),
            last: 0,
            next: Vec::new(),
            offsets: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Counts all classes; `None` if vectors are to be merged, and some are not in one aligned piece.
    fn run(&mut self, classes: &[Vec<Sample>]) -> Result<Option<TrafficCounts>> {
        let rows = classes.iter().map(|c| Rows::new(c)).collect::<Result<Vec<_>>>()?;
        let total = rows.iter().fold(0u64, |n, r| n.saturating_add(r.count));
        let elements = self.layout.elements as u64;
        let sampled = (total > MAX_ROWS / elements + 1).then_some(SAMPLED_ROWS / elements + 1);
        let too_many = || Error::overflow("the number of warp instructions");
        let mut counts = TrafficCounts { sampled, repeats: self.warps.repeats, ..TrafficCounts::default() };
        for part in &rows {
            counts.all = counts.all.checked_add(part.points).ok_or_else(too_many)?;
            let mut values = part.first.clone();
            for at in sampled_rows(part.count, total, sampled) {
                let weight = part.read(at, &mut values);
                if !self.count_row(&values, weight)? {
                    return Ok(None);
                }
                counts.counted = counts.counted.checked_add(weight).ok_or_else(too_many)?;
            }
        }
        for pattern in &self.patterns {
            let (each, together) = pattern.total()?;
            add(&mut counts.each, &each, 1)?;
            add(&mut counts.together, &together, 1)?;
        }
        Ok(Some(counts))
    }

    /// Counts the warp at one point of the variables that are not free, `weight` times; false as [`Pattern::add`].
    fn count_row(&mut self, values: &[i64], weight: u128) -> Result<bool> {
        if !self.select_pattern(values)? {
            return Ok(false);
        }
        let start = self.start();
        Ok(self.patterns[self.last].add(start, weight))
    }

    /// The start of the current warp's addresses, modulo the cycle.
    fn start(&self) -> i64 {
        floor_mod(self.offsets[0], self.cycle).unwrap_or(0)
    }

    /// Selects the pattern of the warp at one point as `last`; false if it has none.
    fn select_pattern(&mut self, values: &[i64]) -> Result<bool> {
        let warp_part = &self.warps.warp_part;
        warp_part.evaluate_into(warp_part.root_count(), values, &mut self.scratch, &mut self.offsets)?;
        let roots = 1 + self.warps.bounds.len();
        if self.parts.is_empty() || self.at != self.offsets[roots..] {
            self.select_parameters()?;
        }
        let LaneParts { values, spans } = &self.parts[self.here];
        self.next.clear();
        self.next.resize(self.count.div_ceil(64), -1);
        for (k, (interval, offset)) in self.warps.bounds.iter().zip(&self.offsets[1..]).enumerate() {
            let wanted = interval.minus(Interval::point(*offset));
            if !wanted.covers(spans[k].0) {
                clear_unwanted(&mut self.next, &values[1 + k], spans[k].1, wanted);
            }
        }
        self.next.extend_from_slice(&self.offsets[roots..]);
        if self.next != self.key || self.patterns.is_empty() {
            std::mem::swap(&mut self.next, &mut self.key);
            self.last = match self.places.get(&self.key) {
                Some(place) => *place,
                None => {
                    let Some(pattern) = self.pattern(&self.key) else { return Ok(false) };
                    self.patterns.push(pattern);
                    self.places.insert(self.key.clone(), self.patterns.len() - 1);
                    self.patterns.len() - 1
                }
            };
        }
        Ok(true)
    }

    /// The pattern of the elements whose bits are set in `key`.
    fn pattern(&self, key: &[i64]) -> Option<Pattern> {
        let is_active = |k: usize| key[k / 64] >> (k % 64) & 1 == 1;
        let addresses =
            self.parts[self.here].values[0].iter().enumerate().map(|(k, a)| is_active(k).then_some(*a));
        Pattern::new(self.layout, addresses.collect())
    }

    /// Selects the lane part of the current parameters as `here`.
    fn select_parameters(&mut self) -> Result<()> {
        let parameters = &self.offsets[1 + self.warps.bounds.len()..];
        self.at = parameters.to_vec();
        if let Some(place) = self.parts_at.get(parameters) {
            self.here = *place;
            return Ok(());
        }
        if self.parts.len() >= MAX_PARTS {
            self.parts.clear();
            self.parts_at.clear();
        }
        let first = self.points.len() - parameters.len();
        for (column, value) in self.points[first..].iter_mut().zip(parameters) {
            column.fill(*value);
        }
        let mut values = vec![vec![0; self.count]; self.warps.lane_part.root_count()];
        let points: Vec<&[i64]> = self.points.iter().map(Vec::as_slice).collect();
        let mut out: Vec<&mut [i64]> = values.iter_mut().map(Vec::as_mut_slice).collect();
        self.warps.lane_part.evaluate_block(&points, &mut out)?;
        if values[0].iter().any(|a| !(-MAX_ADDRESS..=MAX_ADDRESS).contains(a)) {
            return Err(Error::overflow("an address"));
        }
        let span = |x: &Vec<i64>| x.iter().fold(Interval::EMPTY, |all, x| all.union(Interval::point(*x)));
        let spans = values[1..].iter().map(|x| (span(x), x.is_sorted())).collect();
        self.here = self.parts.len();
        self.parts.push(LaneParts { values, spans });
        self.parts_at.insert(self.at.clone(), self.here);
        Ok(())
    }
}

/// Clears the bits of elements whose value is not `wanted`.
fn clear_unwanted(bits: &mut [i64], values: &[i64], sorted: bool, wanted: Interval) {
    if sorted && values.len() <= 64 {
        let from = values.partition_point(|x| *x < wanted.lower);
        let to = values.partition_point(|x| *x <= wanted.upper);
        let below = |n: usize| if n < 64 { (1u64 << n) - 1 } else { u64::MAX };
        bits[0] &= (below(to) & !below(from)) as i64;
        return;
    }
    for (word, lanes) in bits.iter_mut().zip(values.chunks(64)) {
        let inside = |x: &i64| i64::from(wanted.contains(*x));
        *word &= lanes.iter().enumerate().fold(0, |bits, (k, x)| bits | (inside(x) << k));
    }
}

/// The rows of a class that are counted: all, or its share of a sample, spread evenly.
fn sampled_rows(count: u64, total: u64, sampled: Option<u64>) -> impl Iterator<Item = u64> {
    let share = sampled
        .map_or(count, |most| (u128::from(most) * u128::from(count) / u128::from(total)).max(1) as u64);
    let spread =
        move |k: u64| (u128::from(k) * u128::from(count - 1) / u128::from((share - 1).max(1))) as u64;
    (0..share).map(move |k| if share == count { k } else { spread(k) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{read_indexing_map, ReadScratch};

    fn sums(result: &str, width: i64, memory: Memory) -> Sums {
        let text = format!(
            "(th_x, th_y, th_z, bl_x, bl_y, bl_z) -> ({result}), domain: th_x in [0, 63], th_y in [0, 0], \
             th_z in [0, 0], bl_x in [0, 9], bl_y in [0, 0], bl_z in [0, 0]"
        );
        let mut arena = Arena::new();
        let map = read_indexing_map(&text, &mut arena, &mut ReadScratch::default()).unwrap();
        let access =
            Access { map: &map, strides: &[1], width, block: [64, 1, 1], warp_size: 32, vector: None };
        count_traffic(&mut arena, &mut Scratch::default(), &access, memory).unwrap().unwrap().each
    }

    #[test]
    fn banks_serve_one_word_a_pass() {
        let memory = Memory::Shared { banks: 32, word: 32 };
        // 20 warp instructions each
        assert_eq!(sums("th_x + bl_x", 32, memory), [20, 2560, 20, 20, 0, 0]);
        assert_eq!(sums("th_x * 32", 32, memory), [20, 2560, 640, 20, 0, 0]);
        assert_eq!(sums("th_x * 33", 32, memory), [20, 2560, 20, 20, 0, 0]);
        assert_eq!(sums("th_x * 2 + bl_x", 32, memory), [20, 2560, 40, 20, 0, 0]);
        assert_eq!(sums("bl_x", 32, memory), [20, 80, 20, 20, 0, 0]);
        // 64 elements of 2 bytes a word apart, two elements a word
        assert_eq!(sums("th_x", 16, memory), [20, 1280, 20, 20, 0, 0]);
        assert_eq!(sums("th_x * 64", 16, memory), [20, 1280, 640, 20, 0, 0]);
        // 8 bytes: half a warp at a time
        assert_eq!(sums("th_x", 64, memory), [20, 5120, 40, 40, 0, 0]);
        assert_eq!(sums("th_x * 33", 64, memory), [20, 5120, 40, 40, 0, 0]);
        assert_eq!(sums("th_x * 16", 64, memory), [20, 5120, 640, 40, 0, 0]);
    }

    #[test]
    fn what_leaves_int64_is_an_error() {
        let memory = Memory::Global { sector: 256, line: 1024, vector: 128 };
        let far = i64::MAX;
        for (result, domain) in [
            (format!("th_x + {far}"), "bl_x in [0, 9]".to_string()),
            (format!("th_x * {far}"), "bl_x in [0, 9]".to_string()),
            ("th_x + bl_x".to_string(), format!("bl_x in [0, {far}]")),
            ("th_x".to_string(), format!("bl_x in [{}, {far}]", i64::MIN)),
        ] {
            let text = format!(
                "(th_x, th_y, th_z, bl_x, bl_y, bl_z) -> ({result}), domain: th_x in [0, 63], th_y in [0, 0], \
                 th_z in [0, 0], {domain}, bl_y in [0, 0], bl_z in [0, 0]"
            );
            let mut arena = Arena::new();
            let map = read_indexing_map(&text, &mut arena, &mut ReadScratch::default()).unwrap();
            let access = Access {
                map: &map,
                strides: &[1],
                width: 32,
                block: [64, 1, 1],
                warp_size: 32,
                vector: None,
            };
            let counts = count_traffic(&mut arena, &mut Scratch::default(), &access, memory);
            assert_eq!(counts.unwrap_err().kind(), crate::error::ErrorKind::Overflow, "{text}");
        }
    }

    #[test]
    fn sectors_and_lines_hold_what_is_asked() {
        let memory = Memory::Global { sector: 256, line: 1024, vector: 0 };
        assert_eq!(sums("th_x + bl_x * 64", 32, memory), [20, 2560, 80, 20, 80, 80]);
        assert_eq!(sums("th_x + bl_x * 64 + 1", 32, memory), [20, 2560, 100, 40, 80, 80]);
        assert_eq!(sums("th_x * 8", 32, memory), [20, 2560, 640, 160, 80, 640]);
        assert_eq!(sums("(th_x mod 2) * 100", 4, memory), [20, 20, 40, 20, 20, 40]);
    }
}
