//! Any bytes as a map: read or refused; what is read prints to text that reads back; simplifying twice is once.
#![no_main]

use indexing_core::{
    read_indexing_map, simplify, write_indexing_map, Arena, IndexingMap, PointVariables, ReadScratch,
    Scratch, Style,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (mut arena, mut reading, mut scratch) = (Arena::new(), ReadScratch::default(), Scratch::default());
    let Ok(map) = read_indexing_map(text, &mut arena, &mut reading) else { return };
    if let Some(text) = printed(&map) {
        arena.clear();
        let again = read_indexing_map(&text, &mut arena, &mut reading).expect("printed text reads back");
        assert_eq!(printed(&again), Some(text));
    }
    arena.clear();
    let Ok(once) = simplify(&mut arena, &mut scratch, &map, PointVariables::Replace) else { return };
    arena.clear();
    let twice = simplify(&mut arena, &mut scratch, &once, PointVariables::Replace).expect("simplified twice");
    assert_eq!(printed(&once), printed(&twice));
});

fn printed(map: &IndexingMap) -> Option<String> {
    write_indexing_map(map, Style::Plain).ok()
}
