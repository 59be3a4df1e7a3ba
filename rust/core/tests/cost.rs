//! What hostile input costs, in counted work: never in time. Each family is a shape of text that took long once.

mod enumeration;

use enumeration::read;
use indexing_core::{
    compose, compose_simplified, count, difference, image_count, inverse, is_empty, read_indexing_map,
    simplifies_fully, simplify, Arena, ErrorKind, Expr, IndexingMap, PointStep, PointVariables, ReadScratch,
    Scratch,
};

/// Units for each byte of text, and for any text.
const UNITS_A_BYTE: u64 = 400;
const UNITS: u64 = 250_000;
/// Twice the size, so many times the work at most: an exponent of 1.5.
const DOUBLED: f64 = 2.83;

/// The work of `f` in an arena of its own.
fn work(f: impl FnOnce(&mut Arena, &mut Scratch)) -> u64 {
    let mut arena = Arena::new();
    f(&mut arena, &mut Scratch::default());
    arena.work()
}

/// The work to read a text and to simplify it.
fn costs(text: &str) -> [u64; 2] {
    let reading = work(|arena, _| {
        read_indexing_map(text, arena, &mut ReadScratch::default()).expect(text);
    });
    let map = read(text);
    let simplifying = work(|arena, scratch| {
        let simple = simplify(arena, scratch, &map, PointVariables::Replace).expect(text);
        let printed = simple.to_string();
        assert!(printed.len() < 8 * text.len() + 1000, "{text} becomes {} bytes", printed.len());
    });
    [reading, simplifying]
}

fn list(n: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(separator)
}

/// A map of one result on a box, and constraints.
fn on_box(variables: usize, upper: i64, result: &str, constraints: &str) -> String {
    let names = list(variables, ", ", |v| format!("d{v}"));
    let bounds = list(variables, ", ", |v| format!("d{v} in [0, {upper}]"));
    let comma = if constraints.is_empty() { "" } else { ", " };
    format!("({names}) -> ({result}), domain: {bounds}{comma}{constraints}")
}

fn nested(n: usize, around: impl Fn(usize, String) -> String) -> String {
    (0..n).fold("d0".to_owned(), |inner, k| around(k, inner))
}

fn min_or_max(k: usize) -> &'static str {
    ["max", "min"][k % 2]
}

fn max_of_sums(n: usize) -> String {
    let part = |k: usize| format!("min(d{} * {}, d{} + {k}) + d{}", k % 4, k + 1, (k + 1) % 4, (k + 2) % 4);
    format!("max({})", list(n, ", ", part))
}

type Family = fn(usize) -> String;

/// Shapes of text that took more than linear work once, by size.
const FAMILIES: [(&str, Family); 16] = [
    ("nested min of max", |n| {
        let around = |k: usize, e: String| format!("{}({e}, d{} + {})", min_or_max(k), k % 5, k % 7);
        on_box(5, 99, &nested(n, around), "")
    }),
    ("nested min of max, scaled", |n| {
        let around = |k: usize, e: String| format!("{}(d{} * {}, {e})", min_or_max(k), k % 7, k + 2);
        on_box(7, 99, &nested(n, around), "")
    }),
    ("nested min of max with terms", |n| {
        let around =
            |k: usize, e: String| format!("{}({e} + d{}, d{} * 3 + {k})", min_or_max(k), k % 3, k % 5);
        on_box(5, 99, &nested(n, around), "")
    }),
    ("quotients of minima beside minima", |n| {
        let around = |_: usize, e: String| format!("min({e} floordiv 2 + min(d0, d1), d2)");
        on_box(3, 1_000_000, &nested(n, around), "")
    }),
    ("max of min-sums", |n| on_box(4, 99, &max_of_sums(n), "")),
    ("min of maxima", |n| {
        let part = |k: usize| format!("max(d{} * {}, d{} + {k})", k % 4, k + 1, (k + 1) % 4);
        on_box(4, 99, &format!("min({})", list(n, ", ", part)), "")
    }),
    ("product of sums", |n| on_box(4, 99, &list(n, " * ", |k| format!("(d{} + {})", k % 4, k + 1)), "")),
    ("sum of products of sums", |n| {
        let part = |k: usize| format!("(d{} + {}) * (d{} + {})", k % 4, k + 1, (k + 1) % 4, k + 2);
        on_box(4, 99, &list(n, " + ", part), "")
    }),
    ("chain of equalities", |n| {
        on_box(n + 1, 63, &format!("d0 + d{n}"), &list(n, ", ", |k| format!("d{k} - d{} in [0, 0]", k + 1)))
    }),
    ("chain of equalities, used", |n| {
        let sum = list(n, " + ", |k| format!("d{k} * {}", k + 1));
        on_box(n + 1, 63, &sum, &list(n, ", ", |k| format!("d{k} - d{} in [0, 0]", k + 1)))
    }),
    ("chain of equalities, moved", |n| {
        on_box(n + 1, 63, "d0", &list(n, ", ", |k| format!("d{k} - d{} * 2 in [0, 0]", k + 1)))
    }),
    ("chain of differences", |n| {
        on_box(n + 1, 1 << 20, "d0", &list(n, ", ", |k| format!("d{k} - d{} in [0, {}]", k + 1, k % 5)))
    }),
    ("cycle of differences", |n| {
        let part = |k: usize| format!("d{k} - d{} in [1, 1000000000]", (k + 1) % n);
        on_box(n, 1_000_000_000, "d0", &list(n, ", ", part))
    }),
    ("minima beside a cycle of differences", |n| {
        let cycle = "d4 - d5 in [1, 1000000000], d5 - d6 in [0, 1000000000], d6 - d4 in [0, 1000000000]";
        on_box(7, 1_000_000_000, "d0", &format!("{} in [50, 150], {cycle}", max_of_sums(n)))
    }),
    ("remainder of a sum of quotients", |n| {
        let part = |k: usize| format!("(d{} + {k}) floordiv {} * {}", k % 4, k + 2, k + 3);
        on_box(4, 99, &format!("({}) mod 97", list(n, " + ", part)), "")
    }),
    ("congruences", |n| {
        let part = |k: usize| format!("(d{} + d{} * {k}) mod {} in [0, 0]", k % 4, (k + 1) % 4, k % 13 + 2);
        on_box(4, 9999, "d0", &list(n, ", ", part))
    }),
];

#[test]
fn work_is_bounded_by_the_length_of_the_text() {
    for (name, family) in FAMILIES {
        for n in [1, 2, 3, 5, 8, 12, 20, 40, 100, 400] {
            let text = family(n);
            let allowed = UNITS + UNITS_A_BYTE * text.len() as u64;
            for work in costs(&text) {
                assert!(work <= allowed, "{name}, {n}: {work} units for {} bytes", text.len());
            }
        }
    }
}

#[test]
fn work_grows_little_faster_than_the_text() {
    for (name, family) in FAMILIES {
        let [small, large] = [300, 1200].map(|n| costs(&family(n)));
        for (small, large) in small.into_iter().zip(large) {
            let least = small.max(UNITS / 5) as f64;
            assert!(large as f64 <= least * DOUBLED * DOUBLED, "{name}: {small} units become {large}");
        }
    }
}

/// The first result in place of each dimension, so that the map fits behind itself.
fn to_itself(arena: &mut Arena, map: &IndexingMap) -> IndexingMap {
    let mut open = map.to_builder(arena);
    open.results = vec![open.results[0]; map.num_dims()];
    open.build(arena).expect("a map")
}

fn size(map: &IndexingMap) -> u64 {
    map.dag().byte_size() as u64 / 8
}

/// A map behind itself: the work to compose, that to simplify, how many words are read and made, and what came out.
fn composition(first: &IndexingMap, second: &IndexingMap) -> Option<([u64; 2], u64, IndexingMap)> {
    let mut made = None;
    let composing = work(|arena, _| made = compose(arena, first, second).ok()); // some leave int64
    let whole = made?;
    let words = size(first) + size(second) + size(&whole);
    let mut simple = whole.clone();
    let simplifying = work(|arena, scratch| {
        simple = simplify(arena, scratch, &whole, PointVariables::Replace).expect("a map");
    });
    Some(([composing, simplifying], words, simple))
}

#[test]
fn compositions_take_work_by_what_they_read_and_make() {
    let mut composed = 0;
    for (name, family) in FAMILIES {
        for n in [5, 40, 150, 600] {
            let map = to_itself(&mut Arena::new(), &read(&family(n)));
            let mut all = map.clone();
            for _ in 0..2 {
                let Some((works, words, simple)) = composition(&all, &map) else { break };
                for work in works {
                    assert!(work <= UNITS + UNITS_A_BYTE * words, "{name}, {n}: {work} units, {words} words");
                }
                (composed, all) = (composed + 1, simple);
            }
        }
    }
    assert!(composed > 70, "{composed}");
}

#[test]
fn compositions_grow_little_faster_than_what_they_make() {
    for (name, family) in FAMILIES {
        let [small, large] = [150, 600].map(|n| {
            let map = to_itself(&mut Arena::new(), &read(&family(n)));
            composition(&map, &map).map(|(works, words, _)| (works.iter().sum::<u64>() as f64, words as f64))
        });
        let Some((small, large)) = small.zip(large) else { continue };
        let allowed = small.0.max(UNITS as f64 / 5.0) * (large.1 / small.1).powf(1.5);
        assert!(large.0 <= allowed, "{name}: {} units become {}", small.0, large.0);
    }
}

/// The worst of what searches for slow maps found, a text of less than 2 KB a line.
const FOUND: &str = include_str!("slow_maps.txt");

#[test]
fn what_was_slow_once_stays_within_the_work_of_a_short_text() {
    for text in FOUND.lines() {
        assert!(text.len() < 2048);
        let map = to_itself(&mut Arena::new(), &read(text));
        let mut all = map.clone();
        let mut works = costs(text).to_vec();
        for _ in 0..2 {
            let Some((more, _, simple)) = composition(&all, &map) else { break };
            works.extend(more);
            all = simple;
        }
        assert!(works.iter().sum::<u64>() <= 2_500_000, "{works:?} units: {text}");
    }
}

/// The nodes that a value holds.
fn words(arena: &mut Arena, e: Expr) -> usize {
    arena.export(&[e]).byte_size() / 8
}

#[test]
fn constructors_make_no_more_than_a_multiple_of_their_operands() {
    type Operation = fn(&mut Arena, Expr, [Expr; 2]) -> indexing_core::Result<Expr>;
    let operations: [(&str, Operation); 6] = [
        ("min(e + x, e * 2 + 3)", |a, e, [x, _]| {
            let (left, double) = (a.add(e, x)?, a.affine(e, 2, 3)?);
            a.min(left, double)
        }),
        ("min(max(e, x), e * 3 + y) + x", |a, e, [x, y]| {
            let (left, right) = (a.max(e, x)?, a.combine(e, 3, y, 1)?);
            let both = a.min(left, right)?;
            a.add(both, x)
        }),
        ("e + min(e, x)", |a, e, [x, _]| {
            let least = a.min(e, x)?;
            a.combine(e, 1, least, 1)
        }),
        ("min(e floordiv 2 + min(x, y), x)", |a, e, [x, y]| {
            let (half, least) = (a.floordiv_constant(e, 2)?, a.min(x, y)?);
            let sum = a.add(half, least)?;
            a.min(sum, x)
        }),
        ("e * e", |a, e, _| a.mul(e, e)),
        ("(e + x) * (e + y)", |a, e, [x, y]| {
            let (left, right) = (a.add(e, x)?, a.add(e, y)?);
            a.mul(left, right)
        }),
    ];
    for (name, operation) in operations {
        let mut arena = Arena::new();
        let variables = [0, 1].map(|v| arena.variable(v));
        let mut e = variables[0];
        for step in 1..=60 {
            let before = arena.work();
            let Ok(next) = operation(&mut arena, e, variables) else { break };
            e = next;
            let (work, size) = (arena.work() - before, words(&mut arena, e));
            assert!(work <= 60_000, "{name}: step {step} takes {work} units");
            assert!(size <= 200 * (step + 1), "{name}: {size} words after {step} steps");
        }
    }
}

#[test]
fn compositions_take_work_by_the_size_of_what_they_make() {
    let map = read("(d0, d1) -> (min(d0 + d1, d0 * 2 + 3), d1), domain: d0 in [0, 1000000], d1 in [0, 9]");
    let mut all = map.clone();
    for step in 1..=40 {
        let mut next = None;
        let composing = work(|arena, _| next = compose(arena, &all, &map).ok());
        let Some(value) = next else { return }; // beyond int64
        all = value;
        let simplifying = work(|arena, scratch| {
            simplify(arena, scratch, &all, PointVariables::Replace).expect("a map");
        });
        let size = all.dag().byte_size() as u64 / 8;
        assert!(composing <= 200 * size + 60_000, "{step}: {composing} units to compose");
        assert!(simplifying <= UNITS + UNITS_A_BYTE * size, "{step}: {simplifying} units to simplify");
        assert!(size <= 200 * (step + 1), "{step}: {size} words");
    }
}

/// The points of a domain do not depend on the results, where those are defined.
#[test]
fn counting_points_simplifies_no_result() {
    let result = |k: usize| format!("((d0 * 8 + d1) floordiv {} + d1) mod {}", k + 3, k + 5);
    let map = read(&on_box(2, 7, &list(200, ", ", result), "d0 + d1 in [3, 9]"));
    let simplified = work(|a, s| drop(simplify(a, s, &map, PointVariables::Replace).expect("a map")));
    for units in [work(|a, s| drop(count(a, s, &map))), work(|a, s| drop(is_empty(a, s, &map)))] {
        assert!(units * 4 < simplified, "{units} units, to simplify {simplified}");
    }
}

#[test]
fn composing_simplified_maps_keeps_them_small() {
    let map = read("(d0, d1) -> (min(d0 + d1, d0 * 2 + 3), d1), domain: d0 in [0, 1000000], d1 in [0, 9]");
    let mut all = map.clone();
    for step in 1..=12 {
        all = compose_simplified(&mut Arena::new(), &mut Scratch::default(), &all, &map).expect("a map");
        let text = all.to_string();
        assert!(text.len() <= 150 + 80 * step, "{step}: {text}");
    }
}

/// A map without structure, on a large box.
const HARD: &str = "(d0, d1, d2) -> (d0 floordiv 3 + d1 * 7, d2 mod 11 + d0), \
    domain: d0 in [0, 100000], d1 in [0, 100000], d2 in [0, 100000], (d0 * d1 + d2) mod 65537 in [3, 3]";
const NO_POINT: &str = "(d0, d1) -> (d0 * d1), \
    domain: d0 in [2, 1000000000], d1 in [2, 1000000000], d0 * d1 in [1000000007, 1000000007]";

type Question<'a> = &'a dyn Fn(&mut Arena, &mut Scratch) -> Option<ErrorKind>;

#[test]
fn questions_stay_undecided_rather_than_run_on() {
    let (hard, none) = (read(HARD), read(NO_POINT));
    let mut undecided = 0;
    for map in [&hard, &none] {
        let questions: [Question; 5] = [
            &|a, s| count(a, s, map).err().map(|e| e.kind()),
            &|a, s| is_empty(a, s, map).err().map(|e| e.kind()),
            &|a, s| image_count(a, s, map).err().map(|e| e.kind()),
            &|a, s| inverse(a, s, map).err().map(|e| e.kind()),
            &|a, s| {
                let mut other = map.to_builder(a);
                let (x, y) = (a.variable(0), a.variable(1));
                let sum = a.combine(x, 3, y, 1).ok()?;
                other.add_constraint(a, sum, indexing_core::Interval::new(0, 4_000_000_000));
                let other = other.build(a).ok()?;
                difference(a, s, map, &other).err().map(|e| e.kind())
            },
        ];
        for question in questions {
            let units = work(|arena, scratch| {
                if let Some(kind) = question(arena, scratch) {
                    assert_eq!(kind, ErrorKind::Unsupported);
                    undecided += 1;
                }
            });
            assert!(units <= 1 << 27, "{units} units");
        }
    }
    assert!(undecided >= 4, "{undecided}");
}

#[test]
fn the_search_for_a_point_passes_over_boxes_and_ends() {
    let mut points = read(NO_POINT).points(&mut Arena::new());
    let error = loop {
        match points.step(1 << 16) {
            Ok(PointStep::Searching) => {}
            Ok(_) => panic!("1000000007 is a prime number"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let far = "(d0, d1) -> (d0), domain: d0 in [0, 1000000000], d1 in [0, 1000000000], \
        d0 * 3 - d1 in [2999999999, 3000000000]";
    let mut points = read(far).points(&mut Arena::new());
    let Ok(PointStep::Point(first)) = points.step(1000) else { panic!("a point within a few boxes") };
    assert_eq!(first, [1_000_000_000, 0]);
}

#[test]
fn what_is_left_unsimplified_says_so() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    let cycle = read(&FAMILIES[13].1(40));
    assert!(!simplifies_fully(&mut arena, &mut scratch, &cycle));
    let plain = read("(d0) -> (d0 * 4 floordiv 2), domain: d0 in [0, 9], d0 mod 3 in [0, 1]");
    assert!(simplifies_fully(&mut arena, &mut scratch, &plain));
}
