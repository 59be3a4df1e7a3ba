//! What is simplified is settled: simplified again it stays, and a domain without points is found at once.

use indexing_core::{
    read_indexing_map, simplify, write_indexing_map, Arena, IndexingMap, MapKind, PointVariables,
    ReadScratch, Scratch, Style,
};

fn read(text: &str) -> IndexingMap {
    read_indexing_map(text, &mut Arena::new(), &mut ReadScratch::default()).expect(text)
}

fn simplified(map: &IndexingMap) -> IndexingMap {
    simplify(&mut Arena::new(), &mut Scratch::default(), map, PointVariables::Replace).expect("small numbers")
}

fn text(map: &IndexingMap) -> String {
    write_indexing_map(map, Style::Plain).expect("a short text")
}

#[test]
fn simplifying_again_changes_nothing() {
    for source in [
        // The equal variable can be written for the other only once the coefficients have become smaller.
        "(d0, d1) -> ((d0 + d1) * 4611686018427387904 - d0 ceildiv 3), domain: d0 in [0, 1], d1 in [0, 1], d1 - d0 in [0, 0]",
        // A rule that asks for the form of what it is asked about.
        "(d0, d1) -> (min(d0 + d1 * 4, 8) floordiv 3 - ((min(d0 + d1 * 4, 8) mod 3) * 2 + 1) floordiv 3), \
         domain: d0 in [0, 1], d1 in [0, 2], (-d0) mod 4 in [3, 3]",
        // What a law of constraints makes has a form of its own.
        "(d0, d1, d2) -> (), domain: d0 in [0, 0], d1 in [0, 7], d2 in [9223372036854775804, 9223372036854775806], \
         d1 - d0 in [0, 0], (d2 floordiv 3) mod 3 + (((d1 + d2 * 48) floordiv 7) mod 2) * 3 in [1, 1]",
        "(d0, d1) -> (), domain: d0 in [0, 0], d1 in [9223372036854775805, 9223372036854775806], \
         d0 + ((d0 + d1) mod 2) * 2 in [0, 0]",
        // Bounds that come nearer to each other for longer than anyone waits.
        "(d0, d1) -> (), domain: d0 in [0, 1000000], d1 in [0, 1000000], d0 - max(d0, d1) in [-2, -1], d1 - max(d0, d1) in [-2, -1]",
        // Of two congruences that become one, the other is settled before.
        "(d0, d1) -> (), domain: d0 in [-9, 9], d1 in [-9, 9], d0 mod 6 in [5, 5], d0 - d1 in [0, 0], (d1 + 6) mod 4 in [3, 3]",
    ] {
        let once = simplified(&read(source));
        assert_eq!(text(&simplified(&once)), text(&once), "{source}");
    }
}

#[test]
fn domains_without_points_are_found_at_once() {
    for source in [
        // Bounds that come nearer to each other by one a round.
        "(d0, d1) -> (), domain: d0 in [0, 6], d1 in [0, 7], d1 - d0 in [0, 0], max(d0, d1) - d1 in [1, 1]",
        "(d0, d1) -> (), domain: d0 in [-4, 1], d1 in [-4, 4], d1 * 33 - max(d0, d1) * 35 in [-5, -5]",
        // A divisor that is 0 everywhere, though its condition follows from the constraint that divides by it.
        "(d0, d1) -> (), domain: d0 in [0, 5], d1 in [0, 4], max((d1 ceildiv 57) ceildiv d0, d0 * 100) in [2, 42]",
    ] {
        assert_eq!(simplified(&read(source)).kind(), MapKind::KnownEmpty, "{source}");
    }
}

#[test]
fn residues_join_at_once() {
    // 59 is -1 modulo 12, and x mod 6 - x is a multiple of the quotient.
    for (source, expected) in [
        ("(d0) -> ((d0 mod 6 + d0 * 59) mod 12), domain: d0 in [0, 99]", "((d0 floordiv 6) mod 2) * 6"),
        ("(d0) -> ((d0 mod 6 - d0) mod 12), domain: d0 in [0, 99]", "((d0 floordiv 6) mod 2) * 6"),
    ] {
        let map = read(source);
        assert!(text(&map).contains(&format!("({expected})")), "{}", text(&map));
        assert_eq!(text(&read(&text(&map))), text(&map));
    }
}
