//! `indexing-slow ROUNDS [SEED]`: a search for small maps that take much work.
//!
//! Maps are changed at random; one is kept where it met a law or a magnitude of work that none before it met, or takes
//! more work than those kept for the same. Prints the worst by phase. Exit status 1: one takes more than is allowed, in
//! units of work, which are the same on every machine.

mod measure;
#[path = "../../volume/src/random.rs"]
mod random;
mod tree;

use measure::{Bench, Cost, ALLOWED, PHASES};
use random::Random;
use std::collections::BTreeMap;
use std::process::ExitCode;
use tree::Map;

/// No text is longer.
const LONGEST: usize = 2000;
struct Found {
    map: Map,
    text: String,
    cost: Cost,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u64>().expect("ROUNDS [SEED]"));
    let (rounds, seed) = (arguments.next().unwrap_or(20_000), arguments.next().unwrap_or(1));
    println!("seed {seed}, {rounds} rounds");
    let mut search = Search { kept: Vec::new(), best: BTreeMap::new(), bench: Bench::default() };
    let mut random = Random::new(seed, 0);
    for round in 0..rounds {
        search.round(&mut random, round < 200);
    }
    let mut over = false;
    for (k, phase) in PHASES.iter().enumerate() {
        let Some(worst) = search.kept.iter().max_by_key(|f| f.cost.work[k]) else { continue };
        let allowed = worst.cost.work[k] <= ALLOWED[k];
        over |= !allowed;
        println!(
            "{phase}: {} units, {:.1} ms{}\n{}",
            worst.cost.work[k],
            worst.cost.time[k].as_secs_f64() * 1e3,
            if allowed { "" } else { ": more than is allowed" },
            worst.text
        );
    }
    if let Some(slowest) = search.kept.iter().max_by_key(|f| f.cost.slowest()) {
        println!("slowest: {:.1} ms\n{}", slowest.cost.slowest().as_secs_f64() * 1e3, slowest.text);
    }
    ExitCode::from(u8::from(over))
}

struct Search {
    kept: Vec<Found>,
    /// Which of those kept takes most work of those that met a feature.
    best: BTreeMap<String, usize>,
    bench: Bench,
}

impl Search {
    fn round(&mut self, random: &mut Random, fresh: bool) {
        let map = if fresh || random.one_in(50) { Map::random(random) } else { self.changed(random) };
        let text = map.text();
        if text.len() > LONGEST {
            return;
        }
        let Some(cost) = self.bench.measure(&text) else { return };
        let place = self.kept.len();
        let mut better = false;
        for feature in &cost.features {
            let known = self.best.get(feature).map(|k| self.kept[*k].cost.worst());
            if known.is_none_or(|w| w < cost.worst()) {
                self.best.insert(feature.clone(), place);
                better = true;
            }
        }
        if better || self.kept.iter().all(|f| f.cost.slowest() < cost.slowest()) {
            self.kept.push(Found { map, text, cost });
        }
    }

    /// One of those kept, changed a few times; the last and the worst are drawn most.
    fn changed(&self, random: &mut Random) -> Map {
        let draw = |random: &mut Random| {
            let n = self.kept.len() as u64;
            let recent = n - 1 - random.below(n.min(30));
            let any = *self.best.values().nth(random.below(self.best.len() as u64) as usize).unwrap_or(&0);
            &self.kept[if random.one_in(3) { recent as usize } else { any }].map
        };
        let mut map = draw(random).clone();
        for _ in 0..random.between(1, 4) {
            let other = draw(random).clone();
            map.mutate(random, &other);
        }
        map
    }
}
