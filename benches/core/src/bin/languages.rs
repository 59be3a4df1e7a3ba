//! Nanoseconds a pair of maps takes in Rust: `languages FILE ROUNDS`, a line `first<tab>second` a pair; the least of the rounds.
//! What is told: to read both, to simplify the first, to compose and simplify.

use std::hint::black_box;
use std::time::Instant;

use indexing_core::{
    compose_simplified, read_indexing_map, simplify, Arena, IndexingMap, PointVariables, ReadScratch, Scratch,
};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, rounds] = &arguments[..] else { panic!("expected: languages FILE ROUNDS") };
    let text = std::fs::read_to_string(file).expect("the file is there");
    let pairs: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut best = [f64::INFINITY; 3];
    for _ in 0..rounds.parse().expect("ROUNDS is a number") {
        for (least, found) in best.iter_mut().zip(round(&pairs)) {
            *least = least.min(found);
        }
    }
    println!("{:.1} {:.1} {:.1}", best[0], best[1], best[2]);
}

/// One pass over all pairs, each step by itself.
fn round(pairs: &[(&str, &str)]) -> [f64; 3] {
    let (mut arena, mut reading, mut scratch) = (Arena::new(), ReadScratch::default(), Scratch::default());
    let mut read = |text: &str| {
        arena.clear();
        read_indexing_map(text, &mut arena, &mut reading).expect("a line holds two maps")
    };
    let (parsing, maps) = each(pairs, |(first, second)| (read(first), read(second)));
    let (simplifying, _) = each(&maps, |(first, _)| {
        arena.clear();
        simplify(&mut arena, &mut scratch, first, PointVariables::Replace)
    });
    let (composing, _) = each(&maps, |(first, second): &(IndexingMap, IndexingMap)| {
        arena.clear();
        compose_simplified(&mut arena, &mut scratch, first, second)
    });
    [parsing, simplifying, composing]
}

/// Nanoseconds an item, and what was made of all.
fn each<T, R>(items: &[T], mut work: impl FnMut(&T) -> R) -> (f64, Vec<R>) {
    let mut made = Vec::with_capacity(items.len());
    let start = Instant::now();
    for item in items {
        made.push(black_box(work(item)));
    }
    (start.elapsed().as_nanos() as f64 / items.len() as f64, made)
}
