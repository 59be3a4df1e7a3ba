//! The median time of a pass over the whole corpus, and of a program, of those within some seconds; and the least and the most.

use std::hint::black_box;
use std::time::{Duration, Instant};

use indexing_benches::corpus;
use indexing_core::{
    compose_simplified, parse_module, read_indexing_map, simplify, Arena, IndexingMap, PointVariables,
    ReadScratch, Scratch,
};

fn read_all(lines: &[String], arena: &mut Arena, reading: &mut ReadScratch) -> Vec<IndexingMap> {
    let mut read = |line: &String| {
        arena.clear();
        read_indexing_map(line, arena, reading).expect("a line of the corpus is a map")
    };
    lines.iter().map(&mut read).collect()
}

const SECONDS: u64 = 5;
const LEAST_PASSES: usize = 10;

/// Prints how long a pass takes, and how many of what it goes through are done in a second.
fn measure(name: &str, count: usize, units: &str, mut pass: impl FnMut()) {
    pass();
    let (begun, mut times) = (Instant::now(), Vec::new());
    while times.len() < LEAST_PASSES || begun.elapsed() < Duration::from_secs(SECONDS) {
        let start = Instant::now();
        pass();
        times.push(start.elapsed());
    }
    times.sort();
    let (least, median, most) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    let rate = count as f64 / median.as_secs_f64();
    println!("{name}: {median:.3?} ({least:.3?} to {most:.3?}), {rate:.0} {units} a second");
}

fn maps() {
    let lines = corpus();
    let (mut arena, mut reading, mut scratch) = (Arena::new(), ReadScratch::default(), Scratch::default());
    let maps = read_all(&lines, &mut arena, &mut reading);
    let count = lines.len();
    measure("parse maps", count, "maps", || {
        black_box(read_all(&lines, &mut arena, &mut reading));
    });
    measure("simplify maps", count, "maps", || {
        for m in &maps {
            arena.clear();
            let _ = black_box(simplify(&mut arena, &mut scratch, m, PointVariables::Replace));
        }
    });
    let mut pair = |m| (m, identity_after(m, &mut arena, &mut reading));
    let pairs: Vec<(&IndexingMap, IndexingMap)> = maps.iter().map(&mut pair).collect();
    measure("compose maps with an identity and simplify", count, "maps", || {
        for (first, second) in &pairs {
            arena.clear();
            let _ = black_box(compose_simplified(&mut arena, &mut scratch, first, second));
        }
    });
}

/// The identity on what a map gives, within wide bounds.
fn identity_after(m: &IndexingMap, arena: &mut Arena, reading: &mut ReadScratch) -> IndexingMap {
    let names: Vec<String> = (0..m.num_results()).map(|k| format!("d{k}")).collect();
    let domain: Vec<String> = names.iter().map(|n| format!("{n} in [-1000000000, 1000000000]")).collect();
    let (names, domain) = (names.join(", "), domain.join(", "));
    let text = if names.is_empty() {
        "() -> ()".into()
    } else {
        format!("({names}) -> ({names}), domain: {domain}")
    };
    arena.clear();
    read_indexing_map(&text, arena, reading).expect("an identity is a map")
}

fn main() {
    maps();
    let text = include_str!("../../../examples/transformer_block.hlo");
    measure("parse a program", text.len(), "bytes", || {
        let _ = black_box(parse_module(black_box(text)));
    });
}
