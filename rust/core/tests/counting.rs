//! How many points and results there are, against all of them: domains with congruences, results with strides.

mod enumeration;

use enumeration::{graph, product, read};
use indexing_core::{
    count, image_count, inverse, is_bijection_onto, is_empty, is_injective, Arena, MapKind, Scratch,
};
use std::collections::BTreeSet;

fn check(text: &str) {
    let map = read(text);
    let (a, s) = (&mut Arena::new(), &mut Scratch::default());
    let graph = graph(&map);
    let image: BTreeSet<&Vec<i64>> = graph.values().collect();
    assert_eq!(product(count(a, s, &map).expect(text)), graph.len() as u128, "points of {text}");
    assert_eq!(is_empty(a, s, &map).expect(text), graph.is_empty(), "{text}");
    assert_eq!(product(image_count(a, s, &map).expect(text)), image.len() as u128, "results of {text}");
    assert_eq!(is_injective(a, s, &map).expect(text), image.len() == graph.len(), "{text}");
    let sizes: Vec<i64> =
        (0..map.num_results()).map(|k| image.iter().map(|y| y[k] + 1).max().unwrap_or(0).max(0)).collect();
    let least = image.iter().flat_map(|y| y.iter()).min().copied().unwrap_or(0);
    let elements: u128 = sizes.iter().map(|n| *n as u128).product();
    let onto = least >= 0 && elements == graph.len() as u128 && image.len() == graph.len();
    assert_eq!(is_bijection_onto(a, s, &map, &sizes).expect(text), onto, "{text} onto {sizes:?}");
    if let [size] = sizes.as_slice() {
        let larger = graph.is_empty() && size + 1 == 0;
        assert_eq!(is_bijection_onto(a, s, &map, &[size + 1]).expect(text), larger, "{text} onto more");
    }
}

#[test]
fn points_with_linear_constraints_and_congruences_are_counted() {
    let constraints = [
        "(d0 * 3 + d1) mod 5 in [1, 3]",
        "(d0 * -2 + d1 + 3) mod 7 in [0, 2]",
        "(d0 - d1 * 4) mod 6 in [2, 2]",
        "(d0 * 5 + 4) mod 9 in [3, 12]",
        "(d1 * 3 - d0) mod 4 in [-5, 1]",
        "d0 * 2 - d1 * 3 in [-4, 9]",
        "d0 + d1 in [-3, 6]",
        "-d0 + d1 * 2 in [0, 0]",
        "d0 * 7 + d1 * 3 in [5, 1000]",
        "d0 * d1 in [-6, 8]",
        "d0 floordiv 3 + d1 in [0, 3]",
        "(d0 + d1) floordiv 4 in [1, 1]",
        "min(d0 * 2, d1 + 3) in [1, 6]",
        "d1 + d0 floordiv d1 in [-2, 3]",
        "d0 mod d1 in [0, 100]",
        "d0 floordiv d1 in [-100, 100]",
        "d0 mod 3 - d1 mod 2 in [0, 1]",
    ];
    for (k, first) in constraints.iter().enumerate() {
        for domain in
            ["d0 in [0, 40], d1 in [-4, 5]", "d0 in [-12, -3], d1 in [0, 30]", "d0 in [2, 2], d1 in [-7, 8]"]
        {
            check(&format!("(d0, d1) -> (d0 + d1 * 3), domain: {domain}, {first}"));
            for second in &constraints[k + 1..] {
                check(&format!("(d0, d1) -> (d0, d1), domain: {domain}, {first}, {second}"));
            }
        }
    }
}

/// Where an outer variable is a divisor, its zero leaves no point on the line of the inner one.
#[test]
fn lines_where_a_divisor_is_zero_have_no_points() {
    for constraint in [
        "d2 + d0 floordiv d1 in [0, 3]",
        "(d2 + d0 floordiv d1) mod 5 in [1, 2]",
        "d2 * 2 - d0 mod d1 in [-1, 30]",
    ] {
        check(&format!(
            "(d0, d1, d2) -> (d2), domain: d0 in [-3, 5], d1 in [-2, 2], d2 in [0, 20], {constraint}"
        ));
    }
}

/// A result is not defined where it divides by 0, so that such points are not counted, however few results do so.
#[test]
fn points_at_which_a_result_divides_by_zero_are_not_counted() {
    for results in
        ["d0 floordiv d1", "d0 * 9, d0 mod d1", "(d0 floordiv d1) mod 2, d1", "d0 mod (d0 + d1), d0"]
    {
        for constraint in ["", ", d0 + d1 in [-1, 4]", ", d0 + d1 * 2 in [0, 0]"] {
            check(&format!("(d0, d1) -> ({results}), domain: d0 in [-3, 5], d1 in [-2, 2]{constraint}"));
        }
        check(&format!("(d0, d1) -> ({results}), domain: d0 in [0, 0], d1 in [0, 0]"));
    }
}

#[test]
fn results_with_strides_are_counted() {
    let parts = [
        "d0",
        "d0 * -1",
        "d0 * 4",
        "d0 floordiv 3",
        "(d0 floordiv 2) * 5",
        "d0 mod 4",
        "(d0 mod 3) * 6",
        "d0 + 7",
    ];
    let others =
        ["", " + d1", " - d1 * 2", " + d1 * 3", " + d1 * 12", " + (d1 mod 2) * 4", " + (d1 floordiv 2) * 8"];
    let bounds =
        ["d0 in [0, 11], d1 in [0, 3]", "d0 in [-5, 8], d1 in [-2, 1]", "d0 in [3, 5], d1 in [0, 0]"];
    for part in parts {
        for other in others {
            for domain in bounds {
                let e = format!("{part}{other}");
                check(&format!("(d0, d1) -> ({e}), domain: {domain}"));
                check(&format!("(d0, d1) -> (({e}) floordiv 4), domain: {domain}"));
                check(&format!("(d0, d1) -> (({e}) mod 6), domain: {domain}"));
                for range in ["[2, 9]", "[-3, 4]", "[-100, 5]", "[7, 7]"] {
                    check(&format!("(d0, d1) -> ({e}), domain: {domain}, {e} + 2 in {range}"));
                }
            }
        }
    }
}

#[test]
fn bijections_are_told_from_what_comes_near() {
    for text in [
        "(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [0, 3]",
        "(d0, d1) -> (d0 * 4 + d1 - 1), domain: d0 in [0, 2], d1 in [0, 3]",
        "(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [0, 4]",
        "(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 11]",
        "(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 10]",
        "(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [1, 12]",
        "(d0) -> (d0 mod 5), domain: d0 in [3, 7]",
        "(d0) -> (d0 mod 5), domain: d0 in [3, 8]",
        "(d0) -> (-d0 + 7), domain: d0 in [0, 7]",
        "(d0) -> (-d0 + 7), domain: d0 in [1, 8]",
        "(d0, d1) -> (d0), domain: d0 in [0, 7], d1 in [2, 2]",
        "(d0, d1) -> (d0), domain: d0 in [0, 7], d1 in [2, 3]",
        "(d0) -> (7), domain: d0 in [0, 0]",
        "() -> ()",
        "(d0) -> (), domain: d0 in [0, 1]",
    ] {
        check(text);
    }
    let map = read("(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 1]");
    let asked = |sizes: &[i64]| is_bijection_onto(&mut Arena::new(), &mut Scratch::default(), &map, sizes);
    for (sizes, expected) in [
        (&[4, 2][..], true),
        (&[2, 4], false),
        (&[8], false),
        (&[4, 2, 1], false),
        (&[-4, -2], false),
        (&[4, 0], false),
    ] {
        assert_eq!(asked(sizes).expect("small"), expected, "{sizes:?}");
    }
    let none = read("(d0) -> (d0), domain: d0 in [0, 9], d0 * d0 in [2, 3]");
    let asked = |sizes: &[i64]| is_bijection_onto(&mut Arena::new(), &mut Scratch::default(), &none, sizes);
    assert_eq!([asked(&[0]), asked(&[1]), asked(&[7, 0])], [Ok(true), Ok(false), Ok(true)]);
}

/// Domains too large to list: what is expected follows from the steps of the results.
#[test]
fn results_on_large_domains_are_counted_by_their_steps() {
    const MANY: u128 = 1 << 40;
    let large = "d0 in [0, 1099511627775], d1 in [0, 3]";
    for (result, values) in [
        ("d0 floordiv 4 + d1 * 0", MANY / 4),
        ("(d0 + 3) floordiv 4", MANY / 4 + 1),
        ("d0 * 3 + d1 * 6", MANY + 6),
        ("d0 * -3 + d1 * 6", MANY + 6),
        ("d0 * 3 - d1 * 6", MANY + 6),
        ("(d0 + d1) mod 1024", 1024),
        ("(d0 + 5) mod 1099511627776", MANY),
        ("(d0 + d1) mod 2199023255552", MANY + 3),
        ("(d0 * 6 + d1 * 6 + 1) mod 16", 8),
        ("(d0 floordiv 5) * 7 + 1", MANY / 5 + 1),
        ("(d0 floordiv 4) * 4 + d1", MANY),
        ("(d0 mod 8) * 4 + d1", 32),
        ("(d0 mod 8) * 5 + d1 * 10", 8 + 6),
        ("(d0 floordiv 1048576) * 4 + d1", 1 << 22),
        ("(d0 * 2 + d1 * 2) floordiv 6", (2 * (MANY - 1) + 6) / 6 + 1),
    ] {
        let text = format!("(d0, d1) -> ({result}), domain: {large}");
        let (a, s) = (&mut Arena::new(), &mut Scratch::default());
        assert_eq!(image_count(a, s, &read(&text)).map(product).ok(), Some(values), "{text}");
    }
    for (result, bounds, values) in [
        // d0 * 3 + d1 * 6 in [a, b]: the multiples of 3 there.
        ("d0 * 3 + d1 * 6", "[7, 1000000000000]", 333_333_333_331),
        ("d0 * 3 + d1 * 6", "[9, 9]", 1),
        ("d0 * 3 + d1 * 6 + 1", "[-5, 1000000000000]", 333_333_333_334),
        ("d0 * -3 - d1 * 6", "[-1000000000000, -7]", 333_333_333_331),
    ] {
        let text = format!("(d0, d1) -> ({result}), domain: {large}, {result} in {bounds}");
        let (a, s) = (&mut Arena::new(), &mut Scratch::default());
        assert_eq!(image_count(a, s, &read(&text)).map(product).ok(), Some(values), "{text}");
    }
}

#[test]
fn points_of_large_domains_are_counted_in_closed_form() {
    for (domain, points) in [
        // 10^12 + 3 is 4 modulo 7: two of each seven, and both in the rest.
        ("d0 in [0, 1000000000002], d1 in [0, 0], d0 mod 7 in [2, 3]", 2 * 142_857_142_857 + 2),
        ("d0 in [-6, 1000000000000], d1 in [0, 6], (d0 * 3 + d1) mod 7 in [2, 3]", 2 * 1_000_000_000_007),
        // d1 is 1 or 4, and leaves d0 two residues of seven: 4 / 7 of 10^12 + 1, which is 2 modulo 7.
        (
            "d0 in [0, 1000000000000], d1 in [0, 6], (d0 * 3 + d1) mod 7 in [2, 3], d1 mod 3 in [1, 1]",
            571_428_571_428,
        ),
        ("d0 in [0, 1000000000000], d1 in [0, 9], d0 - d1 * 100 in [0, 99]", 1000),
        (
            "d0 in [0, 1000000000000], d1 in [0, 9], d0 + d1 in [5, 1000000000004]",
            10 * 1_000_000_000_001 - 15 - 15,
        ),
        (
            "d0 in [-1000000000000, -1], d1 in [0, 9], d0 * 2 + d1 in [-10, 0]",
            3 + 5 + 7 + 9 + 10 + 8 + 6 + 4 + 2,
        ),
    ] {
        let text = format!("(d0, d1) -> (d0), domain: {domain}");
        let (a, s) = (&mut Arena::new(), &mut Scratch::default());
        assert_eq!(product(count(a, s, &read(&text)).expect(&text)), points, "{text}");
    }
}

/// What nobody can count is refused, not guessed.
#[test]
fn numbers_beyond_128_bits_and_undefined_maps_are_refused() {
    let all = "d0 in [-9223372036854775807, 9223372036854775806]";
    let (a, s) = (&mut Arena::new(), &mut Scratch::default());
    let map = read(&format!(
        "(d0, d1, d2) -> (d0), domain: {all}, {}, {}",
        all.replace("d0", "d1"),
        all.replace("d0", "d2")
    ));
    assert_eq!(count(a, s, &map).expect("factors").len(), 3);
    let undefined = read("UNDEFINED");
    assert!(count(a, s, &undefined).is_err() && is_empty(a, s, &undefined).is_err());
    assert!(is_bijection_onto(a, s, &undefined, &[1]).is_err() && inverse(a, s, &undefined).is_err());
    let empty = read("KNOWN EMPTY");
    assert_eq!(count(a, s, &empty), Ok(vec![0]));
    assert_eq!(image_count(a, s, &empty), Ok(vec![0]));
    assert_eq!((is_empty(a, s, &empty), is_injective(a, s, &empty)), (Ok(true), Ok(true)));
    assert_eq!(inverse(a, s, &empty).map(|m| m.kind()), Ok(MapKind::KnownEmpty));
}
