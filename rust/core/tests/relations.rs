//! Inverses, comparisons and injectivity where enumeration alone would not do: large domains, ranges, runtime variables.

mod enumeration;

use enumeration::{listed_graph, read};
use indexing_core::{
    difference, index_bits, intersect, inverse, is_injective, Arena, ErrorKind, MapKind, Scratch,
};
use std::collections::BTreeSet;

/// Bijections, and what inverts them by their definition.
#[test]
fn inverses_with_very_many_free_variables_take_time_in_proportion() {
    // Minutes, if each free variable had all equations and all dimensions looked at again.
    let each = |part: &dyn Fn(usize) -> String| (0..60_000).map(part).collect::<Vec<_>>().join(", ");
    let (names, bounds) = (each(&|k| format!("d{k}")), each(&|k| format!("d{k} in [0, 9]")));
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    let map = read(&format!("({names}) -> (d0 + d1 * 10, d2 mod 4), domain: {bounds}"));
    let back = inverse(&mut arena, &mut scratch, &map).expect("of two results");
    assert_eq!((back.num_dims(), back.num_ranges()), (2, 59_998));
}

#[test]
fn inverses_of_digits_have_no_free_variable() {
    for (map, back) in [
        ("(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 4294967295]", "(d0 * 4 + d1)"),
        ("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 4294967295], d1 in [0, 3]", "(d0 floordiv 4, d0 mod 4)"),
        ("(d0, d1) -> (d1, d0), domain: d0 in [0, 4294967295], d1 in [0, 3]", "(d1, d0)"),
        ("(d0, d1) -> (d0 + d1, d1), domain: d0 in [0, 4294967295], d1 in [0, 3]", "(d0 - d1, d1)"),
        ("(d0) -> (-d0 + 9), domain: d0 in [0, 4294967295]", "(9 - d0)"),
        ("(d0) -> (d0 * 5), domain: d0 in [0, 4294967295]", "(d0 floordiv 5)"),
        (
            "(d0, d1, d2) -> (d0 * 12 + d1 * 4 + d2), domain: d0 in [0, 4294967295], d1 in [0, 2], d2 in [0, 3]",
            "(d0 floordiv 12, (d0 floordiv 4) mod 3, d0 mod 4)",
        ),
        (
            "(d0) -> (d0 floordiv 12, (d0 floordiv 4) mod 3, d0 mod 4), domain: d0 in [0, 4294967295]",
            "(d0 * 12 + d1 * 4 + d2)",
        ),
        ("(d0, d1) -> (d1 * -8 + d0), domain: d0 in [0, 7], d1 in [0, 4294967295]", "(d0 mod 8, -(d0 floordiv 8))"),
        ("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 4294967295], d1 in [-3, 4]", "((d0 + 3) floordiv 8, (d0 + 3) mod 8 - 3)"),
    ] {
        let (a, s) = (&mut Arena::new(), &mut Scratch::default());
        let written = inverse(a, s, &read(map)).expect(map).to_string();
        let result = written.split("-> ").nth(1).and_then(|t| t.split(", domain").next());
        assert_eq!(result, Some(back), "{map}: {written}");
        assert_eq!(is_injective(a, s, &read(map)), Ok(true), "{map}");
    }
}

/// What the results do not tell is found without a list of all points.
#[test]
fn injectivity_of_large_domains_is_told() {
    let large = "d0 in [0, 1099511627775], d1 in [0, 3]";
    for (results, expected) in [
        ("d0 * 3 + d1", false),
        ("d0 * 4 + d1", true),
        ("d0 * 5 + d1", true),
        ("d0 * -4 + d1", true),
        ("d0 - d1 * 1099511627776", true),
        ("d0 floordiv 2, d0 mod 2, d1", true),
        ("d0 + d1, d1", true),
        ("d0 floordiv 2", false),
    ] {
        let map = read(&format!("(d0, d1) -> ({results}), domain: {large}"));
        let injective = is_injective(&mut Arena::new(), &mut Scratch::default(), &map);
        assert_eq!(injective, Ok(expected), "{results}");
    }
}

/// The relation of dimensions, results and runtime variables, whatever the ranges are.
#[test]
fn inverses_keep_runtime_variables_and_name_what_is_open_a_range() {
    for text in [
        "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [-1, 2]",
        "(d0, d1){rt0, rt1} -> (d0 + rt0), domain: d0 in [0, 3], d1 in [0, 2], rt0 in [-1, 2], rt1 in [0, 1]",
        "(d0, d1)[s0, s1]{rt0} -> (d0 * 2 + s0 + rt0 * 3, d1 + s1), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 1], s1 in [0, 2], rt0 in [0, 2]",
        "(d0)[s0, s1] -> (d0 floordiv 3 + s0, s1), domain: d0 in [0, 8], s0 in [0, 1], s1 in [4, 5]",
        "(d0, d1){rt0} -> (d0 floordiv 2, d1 - rt0), domain: d0 in [0, 5], d1 in [0, 4], rt0 in [0, 2], d0 + rt0 in [2, 5]",
    ] {
        let map = read(text);
        let back = inverse(&mut Arena::new(), &mut Scratch::default(), &map).expect(text);
        assert_eq!([back.num_dims(), back.num_results()], [map.num_results(), map.num_dims()], "{text}");
        assert_eq!(back.num_runtimes(), map.num_runtimes(), "{text}");
        let (dims, results) = (map.num_dims(), map.num_results());
        let runtimes = dims + map.num_ranges();
        let there: BTreeSet<_> =
            listed_graph(&map).into_iter().map(|(p, y)| (p[..dims].to_vec(), y, p[runtimes..].to_vec())).collect();
        let runtimes = results + back.num_ranges();
        let here: BTreeSet<_> =
            listed_graph(&back).into_iter().map(|(p, x)| (x, p[..results].to_vec(), p[runtimes..].to_vec())).collect();
        assert_eq!(there, here, "{text}");
    }
}

/// The greatest and the least integer are results like others, unless a variable is unbounded.
#[test]
fn inverses_of_results_beyond_int64_are_refused() {
    for (text, expected) in [
        ("(d0, d1) -> ((d0 + 9223372036854775807) * (d0 + d1)), domain: d0 in [0, 0], d1 in [0, 7]", false),
        ("(d0, d1) -> ((d0 + 9223372036854775806) * d1), domain: d0 in [0, 1], d1 in [0, 7]", false),
        ("(d0, d1) -> (d0 * d1), domain: d0 in [-8, 7], d1 in [0, 1317624576693539401]", false),
        ("(d0, d1) -> (d0 * d1), domain: d0 in [-7, 7], d1 in [0, 1317624576693539401]", true),
        ("(d0) -> (d0 + 9223372036854775806), domain: d0 in [0, 1]", true),
        ("(d0) -> (d0 + 9223372036854775806), domain: d0 in [0, 2]", false),
    ] {
        let back = inverse(&mut Arena::new(), &mut Scratch::default(), &read(text));
        assert_eq!(back.map_err(|e| e.kind()).err(), (!expected).then_some(ErrorKind::Overflow), "{text}");
    }
}

#[test]
fn maps_without_points_have_an_inverse_without_points() {
    let text = "(d0, d1) -> (d1), domain: d0 in [0, 5], d1 in [0, 4], max((d1 ceildiv 57) ceildiv d0, d0 * 100) in [2, 42]";
    let back = inverse(&mut Arena::new(), &mut Scratch::default(), &read(text));
    assert_eq!(back.map(|m| m.kind()), Ok(MapKind::KnownEmpty));
}

/// Maps that differ at one of very many points: no sample finds it.
#[test]
fn a_single_point_difference_is_found() {
    let first = "(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 1099511627775], d1 in [0, 3]";
    for (second, at) in [
        (format!("{first}, d0 * 4 + d1 in [1, 9999999999999]"), Some(vec![0, 0])),
        (format!("{first}, d0 * 4 + d1 in [0, 4398046511102]"), Some(vec![1_099_511_627_775, 3])),
        (first.replace("(d0 * 4 + d1)", "(max(d0 * 4 + d1, 1))"), Some(vec![0, 0])),
        (
            first.replace("(d0 * 4 + d1)", "(min(d0 * 4 + d1, 4398046511102))"),
            Some(vec![1_099_511_627_775, 3]),
        ),
        (
            first.replace(
                "(d0 * 4 + d1)",
                "(d0 * 4 + d1 + max(min(d0 - 700000000000, 700000000002 - d0), 0) * d1)",
            ),
            None,
        ),
        (first.to_owned(), None),
    ] {
        let (a, b) = (read(first), read(&second));
        for (a, b) in [(&a, &b), (&b, &a)] {
            let point = difference(&mut Arena::new(), &mut Scratch::default(), a, b).expect(&second);
            if second.contains("700000000000") {
                let point = point.expect("one in the middle");
                assert!(point[0] == 700_000_000_001 && point[1] > 0, "{point:?}");
            } else {
                assert_eq!(point, at, "{second}");
            }
        }
    }
}

/// A side of a constraint on which a variable has no value left has no points.
#[test]
fn a_side_without_values_of_a_variable_has_no_points() {
    let map = read("(d0, d1) -> (d1), domain: d0 in [0, 1], d1 in [0, 3], ((d1 - d0) mod 4) in [3, 3]");
    let same = read("(d0, d1) -> (d1), domain: d0 in [0, 1], d1 in [0, 3], ((d0 - d1) mod 4) in [1, 1]");
    assert_eq!(difference(&mut Arena::new(), &mut Scratch::default(), &map, &same), Ok(None));
}

/// Indices need 32 bits where they, what they are made of, and partial sums stay within them.
#[test]
fn index_bits_follow_the_largest_value_on_the_way() {
    for (map, bits) in [
        ("(d0) -> (d0), domain: d0 in [0, 2147483646]", Ok(32)),
        ("(d0) -> (d0 * 4), domain: d0 in [0, 2147483646]", Ok(64)),
        ("(d0) -> ((d0 * 4) floordiv 3), domain: d0 in [-1073741824, 0]", Ok(64)),
        ("(d0) -> (d0), domain: d0 in [0, 4294967296]", Ok(64)),
        ("(d0) -> (d0 * 4611686018427387904), domain: d0 in [0, 7]", Err(ErrorKind::Overflow)),
        ("KNOWN EMPTY", Ok(32)),
    ] {
        let actual = index_bits(&mut Arena::new(), &mut Scratch::default(), &read(map));
        assert_eq!(actual.map_err(|e| e.kind()), bits, "{map}");
    }
}

#[test]
fn intersections_with_what_is_nowhere_defined() {
    let (a, s) = (&mut Arena::new(), &mut Scratch::default());
    let map = read("(d0) -> (d0), domain: d0 in [0, 9]");
    let (empty, undefined) = (read("KNOWN EMPTY"), read("UNDEFINED"));
    for (x, y) in [(&map, &empty), (&empty, &map), (&empty, &empty)] {
        assert_eq!(intersect(a, s, x, y).map(|m| m.kind()), Ok(MapKind::KnownEmpty));
    }
    for (x, y) in [(&map, &undefined), (&undefined, &map), (&empty, &undefined), (&undefined, &empty)] {
        let message = intersect(a, s, x, y).expect_err("nothing is known").to_string();
        assert!(message.contains("undefined"), "{message}");
    }
    for other in [
        "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0) -> (d0, d0), domain: d0 in [0, 9]",
        "()[s0] -> (s0), domain: s0 in [0, 9]",
    ] {
        assert!(intersect(a, s, &map, &read(other)).is_err(), "{other}");
        assert!(difference(a, s, &map, &read(other)).is_err(), "{other}");
    }
}
