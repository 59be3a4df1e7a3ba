//! Simplification keeps the values on the domain, and the domain: random problems, all points of the box.

mod enumeration;
mod random_expressions;

use enumeration::{box_points, read};
use indexing_core::{
    compose_simplified, simplify, Arena, DomainSimplifier, Expr, Interval, PointVariables, Scratch,
};
use random_expressions::{random_tree, show, Random};

struct Case {
    problem: DomainSimplifier,
    seed: u64,
}

fn random_case(seed: u64, arena: &mut Arena) -> Option<Case> {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let bounds = (0..3)
        .map(|_| {
            let low = r.between(-9, 4);
            Interval::new(low, low + r.between(0, 7))
        })
        .collect();
    let depth = 1 + r.below(4) as u32;
    let results =
        (0..2).map(|_| random_tree(&mut r, depth).build(arena)).collect::<Result<Vec<_>, _>>().ok()?;
    let mut constraints = Vec::new();
    for _ in 0..r.below(4) {
        let depth = 1 + r.below(3) as u32;
        let e = random_tree(&mut r, depth).build(arena).ok()?;
        let low = r.between(-12, 6);
        constraints.push((e, Interval::new(low, low + [0, 0, 3, 9][r.below(4) as usize])));
    }
    Some(Case {
        problem: DomainSimplifier { bounds, constraints, results, ..DomainSimplifier::default() },
        seed,
    })
}

/// Whether the point is in the domain; `None` where an expression has no value there.
fn inside(arena: &mut Arena, p: &DomainSimplifier, point: &[i64]) -> Option<bool> {
    let in_box = p.bounds.iter().zip(point).all(|(b, x)| b.contains(*x));
    let exprs: Vec<Expr> = p.constraints.iter().map(|c| c.0).collect();
    let values = arena.evaluate(&exprs, point).ok()?;
    Some(in_box && p.constraints.iter().zip(values).all(|(c, v)| c.1.contains(v)))
}

fn check(case: &Case, arena: &mut Arena, scratch: &mut Scratch) -> u64 {
    let before = &case.problem;
    let mut after = before.clone();
    let outcome = after.simplify(arena, scratch);
    let mut points = 0;
    for point in box_points(before.bounds.iter().copied()) {
        let Some(was_inside) = inside(arena, before, &point) else { continue };
        let Ok(expected) = arena.evaluate(&before.results, &point) else { continue };
        if outcome.empty {
            assert!(!was_inside, "seed {}: called empty, but {point:?} is inside", case.seed);
            continue;
        }
        // Outside the domain an expression may lose its value: a fact that made it defined does not hold there.
        let is_inside = inside(arena, &after, &point).unwrap_or(false);
        assert_eq!(is_inside, was_inside, "seed {} at {point:?}: the domains differ", case.seed);
        if was_inside {
            let got = arena.evaluate(&after.results, &point).expect("defined before");
            assert_eq!(got, expected, "seed {} at {point:?}", case.seed);
            points += 1;
        }
    }
    points
}

#[test]
fn values_and_domains_stay() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    let cases: u64 = std::env::var("INDEXING_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let first: u64 = std::env::var("INDEXING_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut points = 0;
    for seed in first..first + cases {
        arena.clear();
        if let Some(case) = random_case(seed, &mut arena) {
            points += check(&case, &mut arena, &mut scratch);
        }
    }
    assert!(points > 10 * cases);
}

#[test]
fn simplifying_again_changes_nothing() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    let mut differ = Vec::new();
    for seed in 1..20_000 {
        arena.clear();
        let Some(case) = random_case(seed, &mut arena) else { continue };
        let mut once = case.problem;
        if once.simplify(&mut arena, &mut scratch).empty {
            continue;
        }
        let mut twice = once.clone();
        twice.simplify(&mut arena, &mut scratch);
        if (&once.results, &once.constraints, &once.bounds)
            != (&twice.results, &twice.constraints, &twice.bounds)
        {
            let all = |p: &DomainSimplifier| {
                p.results
                    .iter()
                    .chain(p.constraints.iter().map(|c| &c.0))
                    .map(|e| show(&arena, *e))
                    .collect::<Vec<_>>()
            };
            differ.push(format!(
                "seed {seed}: {:?} became {:?} on {:?}",
                all(&once),
                all(&twice),
                once.bounds
            ));
        }
    }
    assert!(differ.is_empty(), "{} differ: {:?}", differ.len(), &differ[..differ.len().min(10)]);
}

#[test]
fn equal_variables_become_one_though_the_result_is_spelled_longer() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    for text in [
        "(d0, d1) -> (max(d1 floordiv 8, d0), max(4 - d1, d0)), domain: d0 in [0, 8], d1 in [0, 8], d0 - d1 in [0, 0]",
        "(d0, d1) -> (max(d1 + 9, -4 - d0)), domain: d0 in [4, 5], d1 in [0, 5], d1 - d0 in [0, 0]",
        "(d0, d1) -> (min(d0 + d1, d0), max(1 + d1, d0 * 2) + d1 mod 8), domain: d0 in [0, 2], d1 in [0, 3], d1 - d0 in [0, 0]",
    ] {
        let map = read(text);
        let simple = simplify(&mut arena, &mut scratch, &map, PointVariables::Replace).unwrap();
        let Interval { lower, upper } = map.interval(0);
        for x in lower..=upper.min(map.interval(1).upper) {
            let values = |point: &[i64; 2]| {
                let of = |m: &indexing_core::IndexingMap| {
                    m.dag().evaluate_first(m.num_results(), point, &mut Vec::new()).unwrap()
                };
                (of(&map), of(&simple))
            };
            let (before, after) = values(&[x, x]);
            assert_eq!(before, after, "{text} at {x}");
            // Of the second variable nothing is left in the results.
            assert_eq!(values(&[x, x + 1]).1, after, "{text}");
        }
    }
}

/// Each step makes the measure smaller, which debug assertions check: a remainder that is opened may cost more once it is
/// simplified, and then stays.
#[test]
fn remainders_are_opened_only_if_the_simplified_form_costs_less() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    for (first, second) in [
        (
            "(d0, d1) -> ((d0 + d1 * 4 + 20) floordiv 8 + ((d0 + d1 * 4 + 8) mod 12) * 4), domain: d0 in [0, 3], \
             d1 in [0, 4], (max(d0, d1 floordiv 8 + 4) + 2) mod 6 in [6, 6]",
            "(d0) -> (0, min(d0 floordiv 64, 10000000000)), domain: d0 in [-2, 4], (-d0) mod 3 in [1, 1], \
             (d0 * 2) mod 5 in [4, 4]",
        ),
        (
            "(d0, d1) -> (((d0 + d1 * 9 - 9) floordiv 16 + ((d0 + d1 * 9 + 639) floordiv 81) mod 8) * 4 \
             + (d0 + d1 + 7) mod 8), domain: d0 in [10, 18], d1 in [0, 8], d0 + d1 in [0, 0]",
            "(d0) -> (((max(min(d0 * 2, -1), -7) + 2) floordiv 4) mod 6 - (max(min(d0 * 2, -1), -7) + 2) floordiv 12), \
             domain: d0 in [-7, -2], (d0 * 2) mod 5 in [0, 3], d0 * 2 in [0, 0]",
        ),
    ] {
        let (first, second) = (read(first), read(second));
        arena.clear();
        let composed = compose_simplified(&mut arena, &mut scratch, &first, &second).unwrap();
        assert_eq!(composed.to_string(), "KNOWN EMPTY");
    }
}
