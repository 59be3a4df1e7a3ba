//! Exact answers about the relation that a map is, against its points, one by one.

mod enumeration;
mod random_expressions;

use enumeration::{graph, listed, listed_graph, product, read, Graph};
use indexing_core::{
    count, difference, image_count, index_bits, intersect, inverse, is_bijection_onto, is_empty,
    is_injective, Arena, IndexingMap, Interval, MapBuilder, MapKind, Names, Scratch,
};
use random_expressions::{random_tree, Random};
use std::collections::{BTreeMap, BTreeSet};

const CASES: u64 = 1200;

fn random_map(r: &mut Random, arena: &mut Arena) -> Option<IndexingMap> {
    let bounds = |r: &mut Random| {
        let low = r.between(-4, 3);
        Interval::new(low, low + r.between(0, 5))
    };
    let tree = |r: &mut Random, arena: &mut Arena| {
        let depth = r.below(3) as u32;
        random_tree(r, depth).build(arena).ok()
    };
    let intervals: Vec<Interval> = (0..3).map(|_| bounds(r)).collect();
    let results = (0..1 + r.below(2)).map(|_| tree(r, arena)).collect::<Option<Vec<_>>>()?;
    let mut map = MapBuilder {
        intervals,
        names: Names::default(),
        num_dims: 3,
        num_ranges: 0,
        results,
        constraints: Vec::new(),
        known_empty: false,
    };
    for _ in 0..r.below(3) {
        let (e, within) = (tree(r, arena)?, bounds(r));
        map.add_constraint(arena, e, within);
    }
    IndexingMap::new(arena, map).ok()
}

fn check(map: &IndexingMap, graph: &Graph) {
    let (a, s) = (&mut Arena::new(), &mut Scratch::default());
    let image: BTreeSet<&Vec<i64>> = graph.values().collect();
    assert_eq!(is_empty(a, s, map).expect("small"), graph.is_empty());
    assert_eq!(product(count(a, s, map).expect("small")), graph.len() as u128);
    assert_eq!(product(image_count(a, s, map).expect("small")), image.len() as u128);
    assert_eq!(is_injective(a, s, map).expect("small"), image.len() == graph.len());
    let sizes: Vec<i64> =
        (0..map.num_results()).map(|k| image.iter().map(|y| y[k]).max().unwrap_or(-1).max(-1) + 1).collect();
    let elements: i64 = sizes.iter().product();
    let indices = image.iter().all(|y| y.iter().all(|v| *v >= 0));
    let onto = indices && image.len() == graph.len() && elements == image.len() as i64;
    if map.kind() == MapKind::Defined && !graph.is_empty() {
        assert_eq!(is_bijection_onto(a, s, map, &sizes).expect("small"), onto);
        let bits = index_bits(a, s, map).expect("small");
        let limit = 1i128 << (bits - 1);
        assert!(image.iter().flat_map(|y| y.iter()).all(|v| (-limit..limit).contains(&i128::from(*v))));
    }
}

fn check_points(map: &IndexingMap, graph: &Graph) {
    let (listed, mut each) = (listed(map, 64), BTreeSet::new());
    assert!(listed.iter().all(|p| each.insert(p)), "each point once");
    assert!(each.into_iter().eq(graph.keys()));
}

fn check_inverse(map: &IndexingMap, graph: &Graph) {
    let (a, s) = (&mut Arena::new(), &mut Scratch::default());
    let back = inverse(a, s, map).expect("small");
    let domain = back.domain(a);
    let is_inside = |p: &Vec<i64>| domain.contains(p, &mut Vec::new()).expect("small");
    assert!(listed(&back, 4096).iter().all(is_inside));
    let pairs: BTreeSet<_> =
        listed_graph(&back).into_iter().map(|(p, x)| (x, p[..map.num_results()].to_vec())).collect();
    let expected: BTreeSet<_> = graph.iter().map(|(x, y)| (x.clone(), y.clone())).collect();
    assert_eq!(pairs, expected);
}

#[test]
fn answers_are_those_of_the_points() {
    let (mut arena, mut members) = (Arena::new(), 0);
    for seed in 1..CASES {
        arena.clear();
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let Some(map) = random_map(&mut r, &mut arena) else { continue };
        let graph = graph(&map);
        members += graph.len();
        check(&map, &graph);
        check_points(&map, &graph);
        check_inverse(&map, &graph);
    }
    assert!(members as u64 > 10 * CASES);
}

/// What the results and the domain determine is no variable of the inverse; a quotient leaves its remainder open, no more.
#[test]
fn inverses_have_as_few_variables_as_there_are_choices() {
    for (text, choices) in [
        ("(d0, d1, d2) -> (d0, d2), domain: d0 in [0, 9], d1 in [0, 4], d2 in [0, 1], d0 + d1 * 2 in [9, 9]", &[][..]),
        ("(d0, d1, d2) -> (d0 floordiv 4, d1, d2), domain: d0 in [0, 39], d1 in [0, 1], d2 in [0, 1]", &[4]),
        ("(d0, d1, d2) -> (d0 floordiv 4, d1 floordiv 3, d2), domain: d0 in [0, 39], d1 in [0, 8], d2 in [0, 1]", &[4, 3]),
        // What is left of a result tells the first dimension.
        ("(d0, d1, d2) -> (d0 - (d1 floordiv 4) * 3, d2), domain: d0 in [-5, 7], d1 in [-5, 3], d2 in [0, 1]", &[9]),
    ] {
        let (map, a, s) = (read(text), &mut Arena::new(), &mut Scratch::default());
        let back = inverse(a, s, &map).expect("small");
        let mut counts: Vec<u128> = back.intervals().skip(map.num_results()).map(|i| i.count()).collect();
        counts.sort_by_key(|n| std::cmp::Reverse(*n));
        assert_eq!(counts, choices, "{text}");
        check_inverse(&map, &graph(&map));
    }
}

#[test]
fn inverses_keep_runtime_variables_and_no_idle_range_variables() {
    for (text, expected) in [
        ("(d0){start} -> (d0 + start), domain: d0 in [0, 3], start in [0, 2]", "(d0){start} -> "),
        (
            "(d0){start} -> (d0 floordiv 2 + start), domain: d0 in [0, 7], start in [0, 2]",
            "(d0)[s0]{start} -> ",
        ),
        // The range variable is no dimension: of the inverse it is none.
        (
            "(d0, d1)[s0] -> (d0 floordiv 2), domain: d0 in [0, 7], d1 in [0, 4], s0 in [0, 1]",
            "(d0)[s0, s1] -> ",
        ),
    ] {
        let back = inverse(&mut Arena::new(), &mut Scratch::default(), &read(text)).expect("small");
        let written = back.to_string();
        assert!(written.starts_with(expected), "{written}");
    }
}

#[test]
fn comparisons_are_those_of_the_points() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    let mut equal = 0;
    for seed in 1..CASES {
        arena.clear();
        let mut r = Random(seed.wrapping_mul(0xd1b5_4a32_d192_ed03) | 1);
        let Some(p) = random_map(&mut r, &mut arena) else { continue };
        let q = if r.below(3) == 0 { Some(p.clone()) } else { random_map(&mut r, &mut arena) };
        let Some(q) = q.filter(|q| q.num_results() == p.num_results()) else { continue };
        if p.kind() != MapKind::Defined || q.kind() != MapKind::Defined {
            continue;
        }
        let (a, b) = (graph(&p), graph(&q));
        let witness = difference(&mut arena, &mut scratch, &p, &q).expect("small");
        assert_eq!(witness.is_none(), a == b, "seed {seed}");
        equal += u64::from(a == b);
        if let Some(point) = witness {
            assert_ne!(a.get(&point), b.get(&point));
        }
        let both = intersect(&mut arena, &mut scratch, &p, &q).expect("small");
        let expected: BTreeMap<_, _> = a.into_iter().filter(|(x, y)| b.get(x) == Some(y)).collect();
        assert_eq!(graph(&both), expected, "seed {seed}");
    }
    assert!(equal > CASES / 20);
}

/// Maps on which small changes of the code told wrong answers.
const MAPS: [&str; 7] = [
    "(d0, d1, d2) -> ((d1 * 6 - d0 - 5) floordiv 3), domain: d0 in [-3, 4], d1 in [0, 5], d2 in [0, 5]",
    "(d0, d1, d2) -> (-d2 + d0 - d1 * 8 + 1), domain: d0 in [0, 7], d1 in [0, 3], d2 in [1, 4]",
    "(d0, d1, d2) -> (min(d0 * 6 + d2 * 16 + 3, d2 * 4 + d1 * 2 - d0 * 3 + 11)), domain: d0 in [-7, -4], d1 in [0, 5], d2 in [0, 5], d2 * 8 + d0 * 12 + d1 * 16 + 1 in [5, 5]",
    "(d0, d1, d2) -> ((-d1 * 4 + d2 + 5) floordiv 4), domain: d0 in [0, 3], d1 in [0, 2], d2 in [0, 5]",
    "(d0, d1, d2) -> ((d2 * 6 + d0 * 8 + d1 * 8 - 5) floordiv 6), domain: d0 in [1, 3], d1 in [1, 4], d2 in [0, 5]",
    "(d0, d1, d2) -> (d2 * 8 + d1 + d0 + 2), domain: d0 in [2, 4], d1 in [0, 2], d2 in [0, 3]",
    "(d0, d1, d2) -> ((d2 * 16) ceildiv 9), domain: d0 in [0, 7], d1 in [1, 8], d2 in [2, 7]",
];

#[test]
fn answers_about_chosen_maps_are_those_of_the_points() {
    for text in MAPS {
        let map = read(text);
        let graph = graph(&map);
        check(&map, &graph);
        check_points(&map, &graph);
        check_inverse(&map, &graph);
    }
}

/// Domains too large to list: counts from the definition, in closed form.
#[test]
fn large_domains_are_counted() {
    for (text, points, values) in [
        // Steps of 2 beside digits of 3: 0, 1, 2, 3, .. but for gaps.
        ("(d0, d1) -> (d0 * 2 + d1), domain: d0 in [0, 999999], d1 in [0, 1]", 2_000_000, Some(2_000_000)),
        ("(d0, d1) -> (d0 * 2 + d1), domain: d0 in [0, 999999], d1 in [0, 2]", 3_000_000, Some(2_000_001)),
        (
            "(d0, d1) -> (d0 * 2 + d1 * 3), domain: d0 in [0, 999999], d1 in [0, 1]",
            2_000_000,
            Some(2_000_000),
        ),
        ("(d0, d1) -> (d0 * 3 + d1), domain: d0 in [0, 999999], d1 in [0, 1]", 2_000_000, Some(2_000_000)),
        (
            "(d0, d1) -> (d0 + d1), domain: d0 in [0, 999999], d1 in [0, 999999]",
            1_000_000_000_000,
            Some(1_999_999),
        ),
        (
            "(d0, d1) -> (d0 * 1000 + d1), domain: d0 in [0, 999999], d1 in [0, 1000]",
            1_001_000_000,
            Some(1_000_000_001),
        ),
        ("(d0) -> (d0 floordiv 3), domain: d0 in [0, 2999999]", 3_000_000, Some(1_000_000)),
        // Steps of 2 from 0 to 5999994: no third is jumped over.
        (
            "(d0, d1) -> ((d0 * 2 + d1 * 4) floordiv 3), domain: d0 in [0, 999999], d1 in [0, 999999]",
            1_000_000_000_000,
            Some(1_999_999),
        ),
        (
            "(d0, d1) -> (d0), domain: d0 in [0, 999999], d1 in [0, 999999], d0 - d1 in [0, 0]",
            1_000_000,
            Some(1_000_000),
        ),
    ] {
        let (a, s) = (&mut Arena::new(), &mut Scratch::default());
        let map = read(text);
        assert_eq!(product(count(a, s, &map).expect(text)), points, "{text}");
        let images = image_count(a, s, &map).map(product).ok();
        assert!(images == values || images.is_none(), "{text}: {images:?}");
    }
}
