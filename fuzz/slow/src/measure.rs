//! What a text costs: the work that the core counts, by what is done with it.

use indexing_core::{
    certify, compose, read_indexing_map, simplify, write_indexing_map, Arena, Expr, IndexingMap,
    PointVariables, ReadScratch, Scratch, Style,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// What is done with a text.
pub const PHASES: [&str; 5] = ["read", "simplify", "print", "compose", "operators"];

/// Units of work (bytes, where it is printed) that a text of 2 KB may take by phase: a million takes about 16 ms. Of two
/// compositions, each may take half.
pub const ALLOWED: [u64; 5] = [1_000_000, 1_500_000, 1_000_000, 6_000_000, 1_000_000];

/// The cost of a text.
#[derive(Default)]
pub struct Cost {
    /// Units of work by phase; bytes, where it is printed.
    pub work: [u64; 5],
    /// The time of each.
    pub time: [Duration; 5],
    /// What the core met on the way: the laws that it applied, and the magnitudes of the work.
    pub features: BTreeSet<String>,
}

impl Cost {
    /// The work, in thousandths of what is allowed: the most of all phases.
    pub fn worst(&self) -> u64 {
        self.work.iter().zip(ALLOWED).map(|(work, allowed)| work * 1000 / allowed).max().unwrap_or(0)
    }

    pub fn slowest(&self) -> Duration {
        self.time.iter().copied().max().unwrap_or_default()
    }
}

/// How long this thread has had a processor, to a few milliseconds; zero where the system doesn't say.
fn time_on_processor() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

/// Memory that is used again.
#[derive(Default)]
pub struct Bench {
    arena: Arena,
    reading: ReadScratch,
    scratch: Scratch,
}

impl Bench {
    /// `None`: it is no map.
    pub fn measure(&mut self, text: &str) -> Option<Cost> {
        let mut cost = Cost::default();
        let map = self.timed(&mut cost, 0, |b| read_indexing_map(text, &mut b.arena, &mut b.reading)).ok()?;
        let simple = self
            .timed(&mut cost, 1, |b| simplify(&mut b.arena, &mut b.scratch, &map, PointVariables::Replace));
        if let Ok(simple) = simple {
            let printed = self.timed(&mut cost, 2, |_| write_indexing_map(&simple, Style::Plain));
            cost.work[2] = printed.map_or(1 << 26, |t| t.len() as u64);
        }
        let own = map.num_results() == map.num_dims();
        let after = if own { map.clone() } else { self.endomap(&map) };
        self.timed(&mut cost, 3, |b| composed(&mut b.arena, &mut b.scratch, &after));
        self.timed(&mut cost, 4, |b| operate(&mut b.arena, &map));
        self.arena.clear();
        let certified = certify(&mut self.arena, &mut self.scratch, &map, PointVariables::Replace);
        if let Ok((_, certificate)) = certified {
            cost.features.extend(certificate.steps.iter().map(|s| s.law.to_owned()));
        }
        for (phase, work) in PHASES.iter().zip(cost.work) {
            cost.features.insert(format!(
                "{phase} {}",
                (work + 1).ilog2() * 2 + u32::from((work + 1).count_ones() > 1)
            ));
        }
        Some(cost)
    }

    fn timed<T>(&mut self, cost: &mut Cost, phase: usize, f: impl FnOnce(&mut Self) -> T) -> T {
        self.arena.clear();
        let (before, start) = (self.arena.work(), time_on_processor());
        let out = f(self);
        cost.work[phase] = self.arena.work() - before;
        cost.time[phase] = time_on_processor().saturating_sub(start);
        out
    }

    /// A map from the dimensions to as many results: the first result in place of each.
    fn endomap(&mut self, map: &IndexingMap) -> IndexingMap {
        self.arena.clear();
        let mut open = map.to_builder(&mut self.arena);
        open.results = (0..map.num_dims()).map(|k| open.results[k % open.results.len()]).collect();
        open.build(&mut self.arena).unwrap_or_else(|_| map.clone())
    }
}

/// The map behind itself twice, simplified each time.
fn composed(arena: &mut Arena, scratch: &mut Scratch, map: &IndexingMap) {
    let mut all = map.clone();
    for _ in 0..2 {
        let Ok(next) = compose(arena, &all, map) else { return };
        let Ok(simple) = simplify(arena, scratch, &next, PointVariables::Replace) else { return };
        all = simple;
    }
}

/// Each operator of the first expressions, and of what came out.
fn operate(arena: &mut Arena, map: &IndexingMap) {
    let roots = arena.import(map.dag());
    let (Some(&first), Some(&last)) = (roots.first(), roots.last()) else { return };
    let mut e = first;
    for k in 0..32 {
        let other: Expr = if k % 2 == 0 { last } else { first };
        let made = match k % 8 {
            0 => arena.min(e, other),
            1 => arena.add(e, other),
            2 => arena.max(e, other),
            3 => arena.mul(e, other),
            4 => arena.floordiv_constant(e, 3),
            5 => arena.sub(e, other),
            6 => arena.modulo_constant(e, 1000),
            _ => arena.scale(e, -2),
        };
        e = made.unwrap_or(other);
    }
}
