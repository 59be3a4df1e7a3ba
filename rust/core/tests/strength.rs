//! How simple maps become: random maps of many kinds, each judged at every point of its domain.
//!
//! Values and domain stay. Where the values are a linear form of the variables, the result should be one; a variable on
//! which they do not depend should not be written. What each kind misses of that, and how many nodes all its results have,
//! is recorded: the numbers may fall.

mod enumeration;
mod random_expressions;

use enumeration::{graph, graph_within, read, results_of, Graph};
use indexing_core::{certify, simplify, Arena, Claim, MapKind, PointVariables, Scratch};
use random_expressions::Random;
use std::collections::HashMap;

/// Maps of each kind.
const CASES: u64 = 4000;

/// The kinds of maps.
const KINDS: &str = include_str!("strength.txt");

/// A kind of maps: results of which one is chosen, and constraints alike.
struct Kind {
    results: Vec<&'static str>,
    constraints: Vec<&'static str>,
}

fn kind_of(name: &str) -> Kind {
    let section = KINDS.split("\n== ").find(|s| s.starts_with(name)).expect(name);
    let lines = section.lines().skip(1).filter(|l| !l.is_empty());
    let (mut constraints, results): (Vec<_>, Vec<_>) = lines.partition(|l| l.starts_with("domain: "));
    constraints.iter_mut().for_each(|c| *c = &c["domain: ".len()..]);
    if constraints.is_empty() {
        constraints.push("");
    }
    Kind { results, constraints }
}

fn choose<T: Copy>(r: &mut Random, from: &[T]) -> T {
    from[r.below(from.len() as u64) as usize]
}

fn linear_form(r: &mut Random) -> String {
    let coefficients = [0, 0, 1, 1, -1, 2, 3, 4, 6, 8, 12, -2, -3, -4, 5];
    let terms: Vec<String> = (0..3).map(|v| format!("d{v} * {}", choose(r, &coefficients))).collect();
    format!("({} + {})", terms.join(" + "), choose(r, &[0, 0, 1, -1, 2, 3, -5, 7]))
}

/// A map of the kind.
fn random_map(kind: &Kind, r: &mut Random) -> String {
    let (m, n) = (choose(r, &[2, 3, 4, 5, 6, 8]), choose(r, &[2, 3, 4]));
    let numbers = [
        m,
        n,
        m * n,
        choose(r, &[1, 1, -1, 2, -3, m, -m]),
        choose(r, &[1, -1, 2, -2]),
        choose(r, &[-3, 0, 1, 4]),
    ];
    let mut filled: HashMap<&str, String> =
        ["m", "n", "w", "p", "q", "u"].into_iter().zip(numbers.map(|k| k.to_string())).collect();
    for form in ["A", "B", "C"] {
        filled.insert(form, linear_form(r));
    }
    let (e, constraint) =
        (fill(choose(r, &kind.results), &filled), fill(choose(r, &kind.constraints), &filled));
    let ends = [(0, 3), (0, 1), (0, 7), (-3, 2), (-1, 0), (2, 5), (-6, -2), (0, 5)];
    let bounds: Vec<String> =
        (0..3).map(|v| (v, choose(r, &ends))).map(|(v, (a, b))| format!("d{v} in [{a}, {b}]")).collect();
    let comma = if constraint.is_empty() { "" } else { ", " };
    format!("(d0, d1, d2) -> ({e}), domain: {}{comma}{constraint}", bounds.join(", "))
}

/// The template with its letters, where they stand alone, replaced.
fn fill(template: &str, filled: &HashMap<&str, String>) -> String {
    let mut words = Vec::new();
    for word in template.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let (name, rest) = word.split_at(word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len()));
        words.push(format!("{}{rest}", filled.get(name).map_or(name, String::as_str)));
    }
    words.concat()
}

/// Are the values a linear form of the variables? Asked where each variable makes a step from the first point.
fn is_linear(graph: &Graph) -> bool {
    let Some((first, base)) = graph.iter().next() else { return false };
    let mut slopes = Vec::new();
    for v in 0..first.len() {
        let mut next = first.clone();
        next[v] += 1;
        match graph.get(&next) {
            Some(value) => slopes.push(value[0] - base[0]),
            None => return false,
        }
    }
    let form = |p: &Vec<i64>| base[0] + (0..p.len()).map(|v| slopes[v] * (p[v] - first[v])).sum::<i64>();
    graph.iter().all(|(p, value)| value[0] == form(p))
}

fn depends_on(graph: &Graph, v: usize) -> bool {
    let mut seen = HashMap::new();
    graph.iter().any(|(p, value)| {
        let mut rest = p.clone();
        rest[v] = 0;
        *seen.entry(rest).or_insert(value) != value
    })
}

/// What a map's form misses: linear values, variables without need; and its nodes.
fn missed(source: &str, arena: &mut Arena, scratch: &mut Scratch) -> [usize; 3] {
    arena.clear();
    let map = read(source);
    let simple = simplify(arena, scratch, &map, PointVariables::Replace).expect(source);
    let values = graph(&map);
    let text = simple.to_string();
    assert_eq!(graph_within(&simple, map.intervals()), values, "{source} became {text}");
    if values.is_empty() {
        return [0, usize::from(simple.kind() != MapKind::KnownEmpty), simple.dag().node_count()];
    }
    let result = results_of(&text);
    let nonlinear = ["div", "mod", "min", "max"].iter().any(|word| result.contains(word));
    let idle = (0..3).filter(|v| result.contains(&format!("d{v}")) && !depends_on(&values, *v)).count();
    [usize::from(nonlinear && is_linear(&values)), idle, simple.dag().node_count()]
}

/// Recording leads to the same map, and no equality says nothing.
fn check_steps(source: &str, arena: &mut Arena, scratch: &mut Scratch) {
    arena.clear();
    let map = read(source);
    let simple = simplify(arena, scratch, &map, PointVariables::Replace).expect(source);
    arena.clear();
    let (certified, certificate) = certify(arena, scratch, &map, PointVariables::Replace).expect(source);
    assert_eq!(certified, simple, "{source}");
    for step in certificate.steps {
        if let Claim::Equal(before, after) = step.claim {
            assert_ne!(before, after, "{} in {source}", step.law);
        }
    }
}

/// A constraint goes as implied where all points of the box fulfil it; a congruence moves ends of a box that it does not hold at.
#[test]
fn steps_of_constraints_are_told_where_they_are_made() {
    let implied = |domain| (domain, "constraint-implied");
    let sum = |interval| implied(format!("d0 in [0, 9], d1 in [0, 9], d0 + d1 in {interval}"));
    let rest =
        |box_| (format!("d0 in {box_}, d1 in [0, 9], d0 mod 4 in [1, 1]"), "constraint-remainder-bounds");
    for ((domain, law), is_recorded) in [
        (sum("[0, 18]"), true),
        (sum("[-1, 19]"), true),
        (sum("[1, 18]"), false),
        (sum("[0, 17]"), false),
        (rest("[0, 9]"), true),
        (rest("[1, 10]"), true),
        (rest("[1, 9]"), false),
        // Implied only once it is simplified.
        (
            implied(
                "d0 in [0, 9], d1 in [0, 3], (d0 * 4 + d1) floordiv 8 - d0 floordiv 2 in [0, 0]".to_owned(),
            ),
            true,
        ),
    ] {
        let source = format!("(d0, d1) -> (d0), domain: {domain}");
        let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
        let map = read(&source);
        let (_, certificate) = certify(arena, scratch, &map, PointVariables::Replace).expect(&source);
        assert_eq!(certificate.steps.iter().any(|s| s.law == law), is_recorded, "{source}");
    }
}

/// Checks maps of a kind; the `record` is of linear values that are not written so, of variables written without need, and of
/// nodes.
fn check(name: &str, record: [usize; 3]) {
    let kind = kind_of(name);
    let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
    let mut missed_in_all = [0; 3];
    for seed in 1..CASES {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let source = random_map(&kind, &mut r);
        if seed % 8 == 0 {
            check_steps(&source, arena, scratch);
        }
        let missed = missed(&source, arena, scratch);
        missed_in_all.iter_mut().zip(missed).for_each(|(all, one)| *all += one);
    }
    assert!(
        missed_in_all.iter().zip(record).all(|(f, r)| *f <= r),
        "{missed_in_all:?}, recorded are {record:?}"
    );
}

#[test]
fn quotients_and_remainders() {
    check("quotients", [0, 2, 27385]);
}

#[test]
fn digits() {
    check("digits", [5, 20, 27782]);
}

#[test]
fn minima_and_maxima() {
    check("extrema", [20, 56, 28377]);
}

#[test]
fn products_and_divisors_that_are_expressions() {
    check("products", [87, 216, 21833]);
}

#[test]
fn domains_with_constraints() {
    check("constrained", [3, 1191, 15593]);
}

#[test]
fn terms_that_depend_on_each_other() {
    check("related", [2, 1728, 15762]);
}
