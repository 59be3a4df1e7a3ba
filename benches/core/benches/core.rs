//! A pass over the whole corpus is one iteration; the throughput is maps a second.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
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

fn maps(c: &mut Criterion) {
    let lines = corpus();
    let (mut arena, mut reading, mut scratch) = (Arena::new(), ReadScratch::default(), Scratch::default());
    let maps = read_all(&lines, &mut arena, &mut reading);
    let mut group = c.benchmark_group("maps");
    group.throughput(Throughput::Elements(lines.len() as u64));
    group.bench_function("parse", |b| b.iter(|| read_all(&lines, &mut arena, &mut reading)));
    group.bench_function("simplify", |b| {
        b.iter(|| {
            for m in &maps {
                arena.clear();
                let _ = black_box(simplify(&mut arena, &mut scratch, m, PointVariables::Replace));
            }
        })
    });
    group.bench_function("compose with an identity and simplify", |b| {
        let mut pair = |m| (m, identity_after(m, &mut arena, &mut reading));
        let pairs: Vec<(&IndexingMap, IndexingMap)> = maps.iter().map(&mut pair).collect();
        b.iter(|| {
            for (first, second) in &pairs {
                arena.clear();
                let _ = black_box(compose_simplified(&mut arena, &mut scratch, first, second));
            }
        })
    });
    group.finish();
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

fn programs(c: &mut Criterion) {
    let text = include_str!("../../../examples/transformer_block.hlo");
    let mut group = c.benchmark_group("programs");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("parse", |b| b.iter(|| parse_module(black_box(text))));
    group.finish();
}

criterion_group!(benches, maps, programs);
criterion_main!(benches);
