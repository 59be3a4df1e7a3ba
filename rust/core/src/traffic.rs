//! What the warps of an access move: sectors and lines of global memory, passes over the banks of shared memory.
//!
//! Warps whose addresses differ by whole lines (or turns of the banks), and whose lanes are active alike, are counted by
//! one of them.

use crate::error::{Error, Result};
use crate::expr::Arena;
use crate::int::{floor_mod, gcd_i64};
use crate::interval::Interval;
use crate::period::{classes, Question, Sample};
use crate::simplify::Scratch;
use crate::warps::{Access, Warps, LANE};
use std::collections::HashMap;

/// Where an access goes, and what that memory moves at once; sizes in bits.
#[derive(Clone, Copy, Debug)]
pub enum Memory {
    /// Sectors, tagged in lines of whole sectors; a thread moves up to `vector` bits with one instruction, 0 where it
    /// doesn't.
    Global {
        /// A sector.
        sector: i64,
        /// A line.
        line: i64,
        /// The widest vector.
        vector: i64,
    },
    /// Banks, each of which serves one word in a pass; a warp whose elements are wider goes in parts that fill all banks.
    Shared {
        /// How many.
        banks: i64,
        /// A word.
        word: i64,
    },
}

/// Sums over warp instructions: see [`counted`] for their order.
pub type Sums = [u128; 6];

/// What is known of an access's warps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// Each load or store by itself.
    pub each: Sums,
    /// Those of one thread's vector together: what one of them brings the next ones find.
    pub together: Sums,
    /// Warp instructions of the launch, those of one runtime value among `repeats`.
    pub all: u128,
    /// For how many of them those that were judged stand.
    pub judged: u128,
    /// How many were judged, where that are not all.
    pub sampled: Option<u64>,
    /// Values of the runtime variables, which the sums run over; one of them happens.
    pub repeats: u128,
}

const MOST_BOXES: usize = 1 << 10;
const MOST_ROWS: u64 = 1 << 14;

/// The sums over all warp instructions that have an active lane; `None` where none has.
///
/// In global memory they are: instructions, different bytes asked for, sectors that hold them, lines that do, the least
/// number of sectors that could, sectors that would do if each contiguous run of bytes began where one does. In shared
/// memory: instructions, different bytes asked for, passes over the banks, the least number of passes; then zeros.
///
/// Errors: a map that is no thread map, addresses or sums that leave their range.
pub fn counted(
    arena: &mut Arena,
    scratch: &mut Scratch,
    access: &Access<'_>,
    memory: Memory,
) -> Result<Option<Counted>> {
    memory.check()?;
    let Some(warps) = access.warps(arena, scratch)? else { return Ok(None) };
    let free: Vec<usize> = [Some(LANE), warps.vector].into_iter().flatten().collect();
    let cycle = memory.cycle()?;
    let question = Question { dag: &warps.whole, cycle, bounds: &warps.bounds, free: &free };
    let parts = classes(&question, warps.values.clone(), MOST_BOXES);
    let mut counter = Counter::new(&warps, access, memory, cycle)?;
    let mut found = counter.run(&parts)?;
    if found.is_none() {
        counter.merges = false;
        counter.known.clear();
        found = counter.run(&parts)?;
    }
    Ok(found.filter(|f| f.each[0] > 0))
}

impl Memory {
    fn check(self) -> Result<()> {
        let (sizes, whole) = match self {
            Memory::Global { sector, line, .. } => ([sector, line], line % sector.max(1) == 0),
            Memory::Shared { banks, word } => ([banks, word], true),
        };
        if !whole || sizes.iter().any(|n| !(1..=1 << 20).contains(n)) {
            return Err(Error::invalid_map("memory has positive sizes, and a line is whole sectors"));
        }
        Ok(())
    }

    /// Addresses that differ by multiples of this move alike.
    fn cycle(self) -> Result<i64> {
        match self {
            Memory::Global { line, vector, .. } => {
                let factor = vector.max(1) / gcd_i64(vector.max(1), line);
                line.checked_mul(factor).ok_or_else(|| Error::overflow("a line"))
            }
            Memory::Shared { banks, word } => Ok(banks * word),
        }
    }
}

/// Rows of a class: one value for each variable, the last one fastest.
struct Rows<'a> {
    class: &'a [Sample],
    count: u64,
}

impl<'a> Rows<'a> {
    fn new(class: &'a [Sample]) -> Self {
        Rows { class, count: class.iter().fold(1u64, |n, s| n.saturating_mul(s.shown)) }
    }

    /// How many points the class has.
    fn points(&self) -> Option<u128> {
        self.class.iter().try_fold(1u128, |n, s| n.checked_mul(u128::from(s.count)))
    }

    /// The values of row `k`, and for how many it stands.
    fn read(&self, mut k: u64, values: &mut [i64]) -> u128 {
        let mut weight = 1u128;
        for (value, sample) in values.iter_mut().zip(self.class).rev() {
            let at = k % sample.shown;
            k /= sample.shown;
            *value = sample.first + at as i64;
            weight = weight.saturating_mul(u128::from(sample.weight(at)));
        }
        weight
    }
}

struct Counter<'a> {
    warps: &'a Warps,
    memory: Memory,
    cycle: i64,
    width: i64,
    lanes: usize,
    /// Elements of a thread's vector.
    elements: usize,
    /// Does a thread move neighbours of its vector with one instruction?
    merges: bool,
    /// The values of lane and vector, lane by lane, and of the parameters.
    points: Vec<Vec<i64>>,
    /// The parameters at which `within` was evaluated: the part of each root that lane, vector and they decide.
    at: Vec<i64>,
    within: Vec<Vec<i64>>,
    /// The values of the bounds' parts.
    spans: Vec<Interval>,
    /// Active lanes, a bit for each element.
    active: Vec<u64>,
    /// What is known by start, parameters and active lanes.
    known: HashMap<Vec<i64>, (Sums, Sums)>,
    key: Vec<i64>,
    scratch: Vec<i64>,
}

impl<'a> Counter<'a> {
    fn new(warps: &'a Warps, access: &Access<'_>, memory: Memory, cycle: i64) -> Result<Self> {
        let lanes = access.warp_size as usize;
        let span = warps.vector.map(|v| warps.values[v]).unwrap_or(Interval::point(0));
        let elements = usize::try_from(span.count()).ok().filter(|n| *n <= 1 << 12);
        let elements = elements.ok_or_else(|| Error::invalid_map("a vector has too many elements"))?;
        let parameters = warps.beside.root_count() - warps.within.root_count();
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
            memory,
            cycle,
            width: access.width,
            lanes,
            elements,
            merges,
            points,
            at: Vec::new(),
            within: Vec::new(),
            spans: Vec::new(),
            active: vec![0; (lanes * elements).div_ceil(64)],
            known: HashMap::new(),
            key: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// `None`: vectors were to be merged, and some are not in one aligned piece.
    fn run(&mut self, classes: &[Vec<Sample>]) -> Result<Option<Counted>> {
        let rows: Vec<Rows<'_>> = classes.iter().map(|c| Rows::new(c)).collect();
        let total = rows.iter().fold(0u64, |n, r| n.saturating_add(r.count));
        let most = MOST_ROWS / self.elements as u64 + 1;
        let sampled = (total > most).then_some(most);
        let too_many = || Error::overflow("the number of warp instructions");
        let mut found = Counted { sampled, repeats: self.warps.repeats, ..Counted::default() };
        let mut values = vec![0i64; self.warps.values.len()];
        for part in &rows {
            found.all = part.points().and_then(|n| found.all.checked_add(n)).ok_or_else(too_many)?;
            let share = if sampled.is_some() {
                (u128::from(most) * u128::from(part.count) / u128::from(total)).max(1) as u64
            } else {
                part.count
            };
            for k in 0..share {
                let at = match share {
                    1 => 0,
                    _ => (u128::from(k) * u128::from(part.count - 1) / u128::from(share - 1)) as u64,
                };
                let weight = part.read(at, &mut values);
                let Some((each, together)) = self.row(&values)? else { return Ok(None) };
                found.judged = found.judged.checked_add(weight).ok_or_else(too_many)?;
                add(&mut found.each, &each, weight)?;
                add(&mut found.together, &together, weight)?;
            }
        }
        Ok(Some(found))
    }

    /// The warp instructions at one point of the variables that are not free.
    fn row(&mut self, values: &[i64]) -> Result<Option<(Sums, Sums)>> {
        let offsets = self.warps.beside.evaluate(values, &mut self.scratch)?;
        let (moved, parameters) = offsets.split_at(1 + self.warps.bounds.len());
        let start = floor_mod(moved[0], self.cycle).unwrap_or(0);
        if self.at != parameters || self.within.is_empty() {
            self.turn_to(parameters)?;
        }
        self.key.clear();
        self.key.push(start);
        self.key.extend_from_slice(parameters);
        self.active.fill(u64::MAX);
        for (k, (interval, offset)) in self.warps.bounds.iter().zip(&moved[1..]).enumerate() {
            let wanted = interval.minus(Interval::point(*offset));
            if wanted.covers(self.spans[k]) {
                continue;
            }
            for (word, lanes) in self.active.iter_mut().zip(self.within[1 + k].chunks(64)) {
                let inside = |x: &i64| u64::from(wanted.contains(*x));
                *word &= lanes.iter().enumerate().fold(0, |bits, (k, x)| bits | (inside(x) << k));
            }
        }
        self.key.extend(self.active.iter().map(|w| *w as i64));
        if let Some(known) = self.known.get(&self.key) {
            return Ok(Some(*known));
        }
        let mut addresses = vec![None; self.lanes * self.elements];
        for (k, address) in addresses.iter_mut().enumerate() {
            if self.active[k / 64] >> (k % 64) & 1 == 1 {
                let sum = self.within[0][k].checked_add(start);
                *address = Some(sum.ok_or_else(|| Error::overflow("an address"))?);
            }
        }
        let found = self.tallied(&addresses);
        if let Some(sums) = found {
            self.known.insert(self.key.clone(), sums);
        }
        Ok(found)
    }

    /// Bring `within` to these values of the parameters.
    fn turn_to(&mut self, parameters: &[i64]) -> Result<()> {
        let first = self.points.len() - parameters.len();
        for (column, value) in self.points[first..].iter_mut().zip(parameters) {
            column.fill(*value);
        }
        self.within.resize(self.warps.within.root_count(), vec![0; self.lanes * self.elements]);
        self.at = parameters.to_vec();
        evaluate(&self.warps.within, &self.points, &mut self.within)?;
        let span = |x: &Vec<i64>| x.iter().fold(Interval::EMPTY, |all, x| all.union(Interval::point(*x)));
        self.spans = self.within[1..].iter().map(span).collect();
        Ok(())
    }

    /// What the lanes move; `None` where vectors are to be merged and one isn't in one aligned piece.
    fn tallied(&self, addresses: &[Option<i64>]) -> Option<(Sums, Sums)> {
        let (sector, line, widest) = match self.memory {
            Memory::Shared { banks, word } => return Some((self.passes(addresses, banks, word), [0; 6])),
            Memory::Global { sector, line, vector } => (sector, line, vector),
        };
        let mut each = [0; 6];
        let mut gathered = Vec::with_capacity(addresses.len());
        let tally = |gathered: &mut Vec<i64>| self.sectors(gathered, sector, line);
        if self.merges {
            let (full, rest): (Vec<_>, Vec<_>) =
                addresses.chunks(self.elements).partition(|lane| lane.iter().all(Option::is_some));
            if !full.iter().all(|lane| self.is_vector(lane, widest)) {
                return None;
            }
            let piece = (widest / self.width).clamp(1, self.elements as i64) as usize;
            for first in (0..self.elements).step_by(piece) {
                gathered.clear();
                gathered.extend(full.iter().flat_map(|lane| lane[first..first + piece].iter().flatten()));
                plus(&mut each, tally(&mut gathered));
            }
            for k in 0..if rest.is_empty() { 0 } else { self.elements } {
                gathered.clear();
                gathered.extend(rest.iter().filter_map(|lane| lane[k]));
                plus(&mut each, tally(&mut gathered));
            }
        } else {
            for k in 0..self.elements {
                gathered.clear();
                gathered.extend(addresses.iter().skip(k).step_by(self.elements).flatten());
                plus(&mut each, tally(&mut gathered));
            }
        }
        if self.warps.vector.is_none() {
            return Some((each, each));
        }
        gathered.clear();
        gathered.extend(addresses.iter().flatten());
        Some((each, tally(&mut gathered)))
    }

    /// Are the elements of a thread's vector in one aligned piece?
    fn is_vector(&self, lane: &[Option<i64>], widest: i64) -> bool {
        let Some(first) = lane[0] else { return false };
        let size = (self.elements as i64 * self.width).min(widest);
        let in_order = |(k, a): (usize, &Option<i64>)| *a == first.checked_add(k as i64 * self.width);
        floor_mod(first, size) == Some(0) && lane.iter().enumerate().all(in_order)
    }

    /// One instruction of global memory.
    fn sectors(&self, addresses: &mut Vec<i64>, sector: i64, line: i64) -> Sums {
        if addresses.is_empty() {
            return [0; 6];
        }
        if !addresses.is_sorted() {
            addresses.sort_unstable();
        }
        addresses.dedup();
        let (sectors, lines) = (self.pieces(addresses, sector), self.pieces(addresses, line));
        let asked = (addresses.len() as i64 * self.width + 7) / 8;
        let runs = addresses.chunk_by(|a, b| a.saturating_add(self.width) == *b);
        let aligned: i64 = runs.map(|run| (run.len() as i64 * self.width + sector - 1) / sector).sum();
        let ideal = (asked * 8 + sector - 1) / sector;
        [1, asked, sectors, lines, ideal, aligned.min(sectors)].map(|n| n as u128)
    }

    /// The last bit of the element at `address`.
    fn end(&self, address: i64) -> i64 {
        address.saturating_add(self.width - 1)
    }

    /// How many pieces of `size` bits hold elements, in order, at these addresses.
    fn pieces(&self, addresses: &[i64], size: i64) -> i64 {
        let (mut count, mut last) = (0, i64::MIN);
        for a in addresses {
            let (first, to) = (a.div_euclid(size), self.end(*a).div_euclid(size));
            let from = first.max(last.saturating_add(1));
            count += (to - from + 1).max(0);
            last = last.max(to);
        }
        count
    }

    /// One instruction of shared memory.
    fn passes(&self, addresses: &[Option<i64>], banks: i64, word: i64) -> Sums {
        let at_once = (banks * word / self.width).clamp(1, self.lanes as i64) as usize;
        let mut different: Vec<i64> = addresses.iter().flatten().copied().collect();
        if different.is_empty() {
            return [0; 6];
        }
        different.sort_unstable();
        different.dedup();
        let asked = (different.len() as i64 * self.width + 7) / 8;
        let (mut passes, mut ideal) = (0, 0);
        let mut words = Vec::new();
        for part in addresses.chunks(at_once) {
            words.clear();
            for a in part.iter().flatten() {
                words.extend(a.div_euclid(word)..=self.end(*a).div_euclid(word));
            }
            words.sort_unstable();
            words.dedup();
            let mut loads = vec![0i64; banks as usize];
            words.iter().for_each(|w| loads[w.rem_euclid(banks) as usize] += 1);
            passes += loads.iter().max().copied().unwrap_or(0);
            ideal += (words.len() as i64 + banks - 1) / banks;
        }
        [1, asked, passes, ideal, 0, 0].map(|n: i64| n as u128)
    }
}

fn evaluate(dag: &crate::dag::Dag, points: &[Vec<i64>], out: &mut [Vec<i64>]) -> Result<()> {
    let points: Vec<&[i64]> = points.iter().map(Vec::as_slice).collect();
    let mut out: Vec<&mut [i64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    dag.evaluate_block(&points, &mut out)
}

fn plus(sums: &mut Sums, more: Sums) {
    sums.iter_mut().zip(more).for_each(|(s, m)| *s += m);
}

fn add(sums: &mut Sums, more: &Sums, weight: u128) -> Result<()> {
    for (sum, n) in sums.iter_mut().zip(more) {
        let grown = n.checked_mul(weight).and_then(|n| sum.checked_add(n));
        *sum = grown.ok_or_else(|| Error::overflow("the bytes that all warps move"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{read_indexing_map, Reading};

    fn sums(result: &str, width: i64, memory: Memory) -> Sums {
        let text = format!(
            "(th_x, th_y, th_z, bl_x, bl_y, bl_z) -> ({result}), domain: th_x in [0, 63], th_y in [0, 0], \
             th_z in [0, 0], bl_x in [0, 9], bl_y in [0, 0], bl_z in [0, 0]"
        );
        let mut arena = Arena::new();
        let map = read_indexing_map(&text, &mut arena, &mut Reading::default()).unwrap();
        let access =
            Access { map: &map, strides: &[1], width, block: [64, 1, 1], warp_size: 32, vector: None };
        counted(&mut arena, &mut Scratch::default(), &access, memory).unwrap().unwrap().each
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
    fn sectors_and_lines_hold_what_is_asked() {
        let memory = Memory::Global { sector: 256, line: 1024, vector: 0 };
        assert_eq!(sums("th_x + bl_x * 64", 32, memory), [20, 2560, 80, 20, 80, 80]);
        assert_eq!(sums("th_x + bl_x * 64 + 1", 32, memory), [20, 2560, 100, 40, 80, 80]);
        assert_eq!(sums("th_x * 8", 32, memory), [20, 2560, 640, 160, 80, 640]);
        assert_eq!(sums("(th_x mod 2) * 100", 4, memory), [20, 20, 40, 20, 20, 40]);
    }
}
