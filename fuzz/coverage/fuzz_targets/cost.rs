//! Any bytes as a map: to read and to simplify it takes no more work than its length allows. The work is fed back as how
//! often a line runs, which the fuzzer counts as coverage: it keeps what takes more work for each byte than all before.
#![no_main]

use indexing_core::{read_indexing_map, simplify, Arena, PointVariables, ReadScratch, Scratch};
use libfuzzer_sys::fuzz_target;
use std::hint::black_box;

/// Units for each byte of text, and for any text.
const UNITS_A_BYTE: u64 = 400;
const UNITS: u64 = 250_000;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (mut arena, mut reading, mut scratch) = (Arena::new(), ReadScratch::default(), Scratch::default());
    let Ok(map) = read_indexing_map(text, &mut arena, &mut reading) else { return };
    let read = arena.work();
    arena.clear();
    let _ = simplify(&mut arena, &mut scratch, &map, PointVariables::Replace);
    let bytes = text.len() as u64;
    for step in 0..(arena.work() / (bytes + 100) + 1).ilog2() * 8 {
        black_box(step);
    }
    for work in [read, arena.work() - read] {
        assert!(work <= UNITS + UNITS_A_BYTE * bytes, "{work} units for {bytes} bytes");
    }
});
