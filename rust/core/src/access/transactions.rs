//! Transactions of one warp instruction: sectors and lines of global memory, or passes over the banks of shared memory.

use crate::error::{Error, Result};
use crate::int::{floor_mod, gcd_i64};
use std::collections::HashMap;

/// The memory of an access, and the units that it moves at once; sizes in bits.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Memory {
    /// Sectors, tagged in lines of whole sectors. A thread moves up to `vector` bits with one instruction; 0 for one element.
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
        /// The number of banks.
        banks: i64,
        /// A word.
        word: i64,
    },
}

/// Sums over warp instructions, in the order that `count_traffic` documents.
pub type Sums = [u128; 6];

impl Memory {
    /// Checks the sizes.
    pub(crate) fn check(self) -> Result<()> {
        let (sizes, whole) = match self {
            Memory::Global { sector, line, .. } => ([sector, line], line % sector.max(1) == 0),
            Memory::Shared { banks, word } => ([banks, word], true),
        };
        if !whole || sizes.iter().any(|n| !(1..=1 << 20).contains(n)) {
            return Err(Error::invalid_map("memory has positive sizes, and a line is whole sectors"));
        }
        Ok(())
    }

    /// The shift of all addresses that leaves the traffic unchanged; one by whole words only rotates the banks.
    pub(crate) fn cycle(self) -> Result<i64> {
        match self {
            Memory::Global { line, vector, .. } => {
                let factor = vector.max(1) / gcd_i64(vector.max(1), line);
                line.checked_mul(factor).ok_or_else(|| Error::overflow("a line"))
            }
            Memory::Shared { word, .. } => Ok(word),
        }
    }
}

/// The layout of a warp's elements, and of the memory that serves them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub memory: Memory,
    /// Bits of an element.
    pub width: i64,
    /// Elements of a thread's vector.
    pub elements: usize,
    /// Whether a thread moves neighbours in its vector with one instruction.
    pub merges: bool,
}

/// The addresses of a warp relative to their start: each lane's elements, `None` where it is inactive.
pub(crate) struct Pattern {
    layout: Layout,
    addresses: Vec<Option<i64>>,
    /// One group for each instruction.
    groups: Vec<Group>,
    together: Option<Group>,
    /// The starts of merged vectors modulo their size; `None` without merged vectors.
    vectors: Option<i64>,
    /// The traffic by start, with the number of warp instructions that have it.
    known: HashMap<i64, (Sums, Sums, u128)>,
}

/// Distinct elements in contiguous runs: the first and last bit of each.
struct Group {
    elements: i64,
    runs: Vec<(i64, i64)>,
}

impl Group {
    fn new(mut addresses: Vec<i64>, width: i64) -> Group {
        if !addresses.is_sorted() {
            addresses.sort_unstable();
        }
        addresses.dedup();
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for a in &addresses {
            let end = a.saturating_add(width - 1);
            match runs.last_mut() {
                Some((_, last)) if last.saturating_add(1) == *a => *last = end,
                _ => runs.push((*a, end)),
            }
        }
        Group { elements: addresses.len() as i64, runs }
    }

    fn bytes(&self, width: i64) -> i64 {
        self.elements.saturating_mul(width).saturating_add(7) / 8
    }

    /// The number of pieces of `size` bits that hold elements.
    fn pieces(&self, start: i64, size: i64) -> i64 {
        let (mut count, mut last) = (0, i64::MIN);
        for (first, end) in &self.runs {
            let from = first.saturating_add(start).div_euclid(size).max(last.saturating_add(1));
            let to = end.saturating_add(start).div_euclid(size);
            count += (to - from + 1).max(0);
            last = last.max(to);
        }
        count
    }

    /// The sums of one instruction in global memory.
    fn sums(&self, start: i64, width: i64, sector: i64, line: i64) -> Sums {
        if self.elements == 0 {
            return [0; 6];
        }
        let (asked, sectors) = (self.bytes(width), self.pieces(start, sector));
        let filled = |(first, end): &(i64, i64)| (end - first) / sector + 1;
        let aligned = self.runs.iter().map(filled).sum::<i64>().min(sectors);
        let ideal = (asked * 8 - 1) / sector + 1;
        [1, asked, sectors, self.pieces(start, line), ideal, aligned].map(|n| n as u128)
    }
}

impl Pattern {
    /// A pattern; `None` if vectors are to be merged, and one is not contiguous or not aligned as the others.
    pub fn new(layout: Layout, addresses: Vec<Option<i64>>) -> Option<Pattern> {
        let mut made = Pattern {
            layout,
            addresses,
            groups: Vec::new(),
            together: None,
            vectors: None,
            known: HashMap::new(),
        };
        let Memory::Global { vector, .. } = layout.memory else { return Some(made) };
        let all = &made.addresses;
        let group = |addresses: Vec<i64>| Group::new(addresses, layout.width);
        let mut groups = Vec::new();
        if layout.merges {
            let (full, rest): (Vec<_>, Vec<_>) =
                all.chunks(layout.elements).partition(|lane| lane.iter().all(Option::is_some));
            let size = (layout.elements as i64 * layout.width).min(vector);
            for lane in &full {
                let residue = floor_mod(layout.one_piece(lane)?, size)?;
                if *made.vectors.get_or_insert(residue) != residue {
                    return None;
                }
            }
            let piece = (vector / layout.width).clamp(1, layout.elements as i64) as usize;
            for first in (0..layout.elements).step_by(piece) {
                let moved = full.iter().flat_map(|lane| lane[first..first + piece].iter().flatten());
                groups.push(group(moved.copied().collect()));
            }
            for k in 0..if rest.is_empty() { 0 } else { layout.elements } {
                groups.push(group(rest.iter().filter_map(|lane| lane[k]).collect()));
            }
        } else {
            let nth = |k: usize| all.iter().skip(k).step_by(layout.elements).flatten().copied().collect();
            groups.extend((0..layout.elements).map(|k| group(nth(k))));
        }
        if layout.elements > 1 {
            made.together = Some(group(all.iter().flatten().copied().collect()));
        }
        made.groups = groups;
        Some(made)
    }

    /// Counts `weight` more warps whose addresses start at `start`; false if merged vectors would not be aligned to their
    /// size.
    pub fn add(&mut self, start: i64, weight: u128) -> bool {
        if let Some((_, _, total)) = self.known.get_mut(&start) {
            *total = total.saturating_add(weight);
            return true;
        }
        let Some((each, together)) = self.moved(start) else { return false };
        self.known.insert(start, (each, together, weight));
        true
    }

    /// The totals: each instruction by itself, and those of a vector together.
    pub fn total(&self) -> Result<(Sums, Sums)> {
        let (mut each, mut together) = ([0; 6], [0; 6]);
        for (one, all, weight) in self.known.values() {
            add(&mut each, one, *weight)?;
            add(&mut together, all, *weight)?;
        }
        Ok((each, together))
    }

    fn moved(&self, start: i64) -> Option<(Sums, Sums)> {
        Some(match self.layout.memory {
            Memory::Shared { banks, word } => {
                (self.layout.passes(&self.addresses, start, banks, word), [0; 6])
            }
            Memory::Global { sector, line, vector } => {
                let size = (self.layout.elements as i64 * self.layout.width).min(vector);
                if self.vectors.is_some_and(|v| floor_mod(v.saturating_add(start), size) != Some(0)) {
                    return None;
                }
                let of = |g: &Group| g.sums(start, self.layout.width, sector, line);
                let mut each = [0; 6];
                for group in &self.groups {
                    each.iter_mut().zip(of(group)).for_each(|(sum, n)| *sum += n);
                }
                (each, self.together.as_ref().map_or(each, of))
            }
        })
    }
}

/// Add `weight` times `more` to `sums`.
pub(crate) fn add(sums: &mut Sums, more: &Sums, weight: u128) -> Result<()> {
    for (sum, n) in sums.iter_mut().zip(more) {
        let grown = n.checked_mul(weight).and_then(|n| sum.checked_add(n));
        *sum = grown.ok_or_else(|| Error::overflow("the bytes that all warps move"))?;
    }
    Ok(())
}

impl Layout {
    /// The start of a thread's vector, if its elements are neighbours.
    fn one_piece(&self, lane: &[Option<i64>]) -> Option<i64> {
        let first = (*lane.first()?)?;
        let in_order = |(k, a): (usize, &Option<i64>)| *a == first.checked_add(k as i64 * self.width);
        lane.iter().enumerate().all(in_order).then_some(first)
    }

    /// One instruction of shared memory.
    fn passes(&self, addresses: &[Option<i64>], start: i64, banks: i64, word: i64) -> Sums {
        let at_once = (banks * word / self.width).clamp(1, addresses.len() as i64) as usize;
        let different = Group::new(addresses.iter().flatten().copied().collect(), self.width);
        if different.elements == 0 {
            return [0; 6];
        }
        let (mut passes, mut ideal) = (0, 0);
        let mut words = Vec::new();
        let mut loads = vec![0i64; banks as usize];
        for part in addresses.chunks(at_once) {
            words.clear();
            for a in part.iter().flatten().map(|a| a.saturating_add(start)) {
                words.extend(a.div_euclid(word)..=a.saturating_add(self.width - 1).div_euclid(word));
            }
            words.sort_unstable();
            words.dedup();
            loads.fill(0);
            words.iter().for_each(|w| loads[w.rem_euclid(banks) as usize] += 1);
            passes += loads.iter().max().copied().unwrap_or(0);
            ideal += (words.len() as i64 + banks - 1) / banks;
        }
        [1, different.bytes(self.width), passes, ideal, 0, 0].map(|n: i64| n as u128)
    }
}
