//! What constraints tell of sums: the bounds that are derived, against the values at all points of the domain.

mod enumeration;

use enumeration::{listed_graph, read};
use indexing_core::{range_of, Arena, Interval, Scratch};

/// The bounds that are derived of the only result, and the hull of its values.
fn derived_and_exact(text: &str) -> (Interval, Interval) {
    let arena = &mut Arena::new();
    let map = read(text);
    let builder = map.to_builder(arena);
    let range = range_of(arena, &mut Scratch::default(), &builder, builder.results[0]);
    let values = listed_graph(&map).into_values().map(|y| Interval::point(y[0]));
    (range, values.reduce(Interval::union).expect("a point"))
}

/// Of each of these, one fact or two tell all.
#[test]
fn bounds_by_facts_are_exact() {
    for text in [
        "(d0, d1) -> (d0 - d1), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 1]",
        "(d0, d1, d2) -> (d0 * 2 - d1 * 2 + d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 3], d0 - d1 in [0, 1]",
        // A second fact is about what the first one leaves, of however many terms.
        "(d0, d1, d2, d3) -> (d0 - d1 + d2 - d3), domain: d0 in [0, 5], d1 in [0, 5], d2 in [0, 5], d3 in [0, 5], \
         d0 - d1 in [0, 1], d2 - d3 in [0, 1]",
        "(d0, d1, d2, d3, d4) -> (d0 - d1 + d2 - d3 + d4), domain: d0 in [0, 3], d1 in [0, 3], d2 in [0, 3], \
         d3 in [0, 3], d4 in [0, 3], d0 - d1 in [0, 1], d2 - d3 + d4 in [0, 1]",
        "(d0, d1, d2, d3, d4) -> (d0 - d1 + d2 - d3 + d4), domain: d0 in [0, 3], d1 in [0, 3], d2 in [0, 3], \
         d3 in [0, 3], d4 in [0, 3], d0 - d1 in [0, 1], d2 - d3 in [0, 1]",
        // One that leaves a multiple of its own terms would bound the sum worse.
        "(d0, d1, d2, d3) -> (d0 - d1 + d2 - d3), domain: d0 in [0, 5], d1 in [0, 5], d2 in [0, 3], d3 in [0, 3], \
         d0 - d1 in [0, 1], d2 + d3 in [0, 5]",
        // A fact about the dividend of a quotient, with what stands beside the quotient in it.
        "(d0, d1) -> (d0 floordiv 4 + d1), domain: d0 in [-8, 8], d1 in [-2, 2], d0 + d1 * 4 in [0, 3]",
        "(d0, d1) -> (d0 floordiv 4 + d1), domain: d0 in [-8, 8], d1 in [-2, 2], d0 + d1 * 4 in [-5, 6]",
        // A fact about a digit.
        "(d0, d1) -> (d0 mod 6 + d1 * 2), domain: d0 in [0, 11], d1 in [0, 5], (d0 floordiv 2) mod 3 + d1 in [0, 2]",
        "(d0, d1, d2) -> (d0 mod 6 + d1 * 2 + d2), domain: d0 in [0, 11], d1 in [0, 5], d2 in [0, 3], \
         (d0 floordiv 2) mod 3 + d1 in [0, 2]",
        "(d0, d1) -> (d0 + d1 * 2), domain: d0 in [0, 11], d1 in [0, 5], d0 floordiv 2 + d1 in [0, 2]",
    ] {
        let (derived, exact) = derived_and_exact(text);
        assert_eq!(derived, exact, "{text}");
    }
}

/// What is stated of a sum, or of parts of it, is known however many facts there are.
#[test]
fn sums_have_the_bounds_of_many_facts() {
    for count in [2, 11, 12, 13, 20] {
        let names: Vec<String> = (0..=count).map(|v| format!("d{v}")).collect();
        let bounds: String = names.iter().map(|d| format!("{d} in [0, 1], ")).collect();
        let facts: Vec<String> = names[1..].iter().map(|d| format!("d0 * 2 + {d} in [1, 2]")).collect();
        let range_with = |result: &str| {
            let domain = format!("domain: {bounds}{}", facts.join(", "));
            let text = format!("({}) -> ({result}), {domain}", names.join(", "));
            let arena = &mut Arena::new();
            let map = read(&text);
            let map = map.to_builder(arena);
            range_of(arena, &mut Scratch::default(), &map, map.results[0])
        };
        assert_eq!(range_with(&format!("d0 * 4 + d{count} * 2 + 5")), Interval::new(7, 9), "{count} facts");
        // Both others are 1 if d0 is 0, and 0 if it is 1.
        assert_eq!(range_with(&format!("d0 * 2 + d1 + d{count}")), Interval::point(2), "{count} facts");
    }
}

/// A fact about a digit says nothing of a remainder of something else, and nothing twice of a digit that stands there too.
#[test]
fn facts_about_digits_tell_nothing_else() {
    for text in [
        "(d0, d1, d2) -> (d2 mod 6 + d1 * 2 + d0), domain: d0 in [0, 11], d1 in [0, 5], d2 in [0, 11], \
         (d0 floordiv 2) mod 3 + d1 in [0, 2]",
        "(d0, d1) -> (d0 mod 6 + d1 * 2), domain: d0 in [0, 11], d1 in [0, 5], (d0 floordiv 2) mod 3 + d1 in [0, 2]",
        "(d0, d1) -> (d0 mod 8 + d1 * 2), domain: d0 in [0, 23], d1 in [0, 5], (d0 floordiv 2) mod 3 + d1 in [0, 2]",
        "(d0, d1) -> (d0 mod 6 + (d0 floordiv 2) mod 3 + d1 * 2), domain: d0 in [0, 11], d1 in [0, 5], \
         (d0 floordiv 2) mod 3 + d1 in [0, 2]",
        "(d0, d1) -> (d0 mod 6 + ((d0 floordiv 2) mod 3) * 5 + d1 * 2), domain: d0 in [0, 11], d1 in [0, 5], \
         (d0 floordiv 2) mod 3 + d1 in [0, 2]",
    ] {
        let (derived, exact) = derived_and_exact(text);
        assert!(derived.covers(exact), "{text}: {derived:?}, not {exact:?}");
    }
}
