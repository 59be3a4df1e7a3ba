//! How simple maps become: random maps of many kinds, each judged at every point of its domain.
//!
//! Values and domain stay. Where the values are a linear form of the variables, the result should be one; a variable on
//! which they do not depend should not be written. What each kind misses of that, and how many nodes all its results have,
//! is recorded: the numbers may fall.

mod random_expressions;

use indexing_core::{
    certify, read_indexing_map, simplify, write_indexing_map, Arena, Claim, IndexingMap, Interval, MapKind,
    PointVariables, ReadScratch, Scratch, Style,
};
use random_expressions::Random;
use std::collections::{BTreeMap, HashMap};

/// Maps of each kind.
const CASES: u64 = 4000;

/// A kind of maps: results of which one is chosen, constraints alike, and what is recorded.
struct Kind {
    /// `A`, `B`, `C` are linear forms; `m`, `n` divisors, `w` their product; `p`, `q` factors; `u` a bound.
    results: &'static [&'static str],
    constraints: &'static [&'static str],
    /// Linear values that are not written so; variables written without need; nodes.
    record: [usize; 3],
}

const QUOTIENTS: Kind = Kind {
    results: &[
        "A floordiv m",
        "A mod m",
        "A ceildiv m",
        "(A floordiv m) mod n",
        "(A mod w) floordiv m",
        "(A mod m) floordiv n",
        "(A floordiv m + B) floordiv n",
        "(A mod m + B * m) mod w",
        "(A * m + B) floordiv w",
        "(A * m + B) mod w",
        "((A floordiv m) mod n + B * n) floordiv 6",
        "(B * 6 + (A floordiv 2) mod 3) mod 12",
    ],
    constraints: &[""],
    record: [0, 2, 27385],
};

const DIGITS: Kind = Kind {
    results: &[
        "(A floordiv m) * p + (A mod m) * q",
        "(A floordiv m) * m + A mod m + B",
        "A floordiv m - B floordiv m",
        "A mod m - B mod m",
        "((A floordiv m) mod n) * m + A mod m",
        "A mod w - A mod m",
        "A - (A floordiv m) * m * p",
        "(A floordiv m) * n + B * m",
        "A floordiv 2 + A mod 2 + B",
        "(A + 1) floordiv 2 - A mod 2 + B mod 2",
        "(A floordiv m - (A floordiv w) * n) * p + d0",
        "(-A) mod m + A mod m + q",
        "((A floordiv m) * p + A mod m) mod n",
    ],
    constraints: &[""],
    record: [5, 20, 27782],
};

const EXTREMA: Kind = Kind {
    results: &[
        "min(A, B)",
        "max(A, B, C)",
        "max(min(A, B), C)",
        "min(A, max(B, C), u)",
        "min(A, B) + max(A, B)",
        "min(A, B) * max(A, B)",
        "min(A, B) floordiv m",
        "max(A, B) mod m",
        "min(A floordiv m, B floordiv m)",
        "min((A floordiv m) * p + q, (B floordiv m) * p)",
        "max(A, B) - min(A, u)",
        "min(A + 5, B) - min(A, B - 2)",
        "max(A * 2 + 3, B) * p - max(A * 2, B - 1) * p",
        "min(A, B) - A",
        "min(min(A, u) + B, C)",
        "max(A floordiv m, u - B floordiv m)",
    ],
    constraints: &[""],
    record: [20, 56, 28377],
};

const PRODUCTS: Kind = Kind {
    results: &[
        "A * d0 + B * d0",
        "A * d1 - B * d1 * p",
        "(A * (d2 + 9) + B) floordiv (d2 + 9)",
        "(A * (d2 + 9) + B) mod (d2 + 9)",
        "(d1 * p) floordiv (d2 + 40)",
        "(d0 mod m) mod (d2 + 9)",
        "(A * B) floordiv m",
    ],
    constraints: &[""],
    record: [87, 216, 21833],
};

const CONSTRAINED: Kind = Kind {
    results: &[
        "A",
        "A floordiv m",
        "A mod m",
        "min(A, B)",
        "(A floordiv m) * m + B",
        "d0 mod m + d1",
        "d2 floordiv m",
    ],
    constraints: &[
        "A in [u, 9]",
        "A in [u, u]",
        "d0 - d1 in [0, 0]",
        "d0 - d1 * 2 in [0, 1], d2 in [-1, 4]",
        "A mod m in [1, 1]",
        "d0 mod m in [0, 0], (d0 + d1) mod n in [0, 0]",
        "A floordiv m in [0, 1]",
        "A * m + d2 in [u, 7]",
        "min(A, B) in [u, 5]",
        "max(d0, B) in [-20, u]",
        "d0 mod m - d1 in [0, 0]",
        "A in [u, 6], A in [-1, 8], B in [-9, u]",
        "d0 * 2 + d1 * 4 in [u, 7], d1 mod 2 - d2 in [-9, 0]",
    ],
    record: [3, 1191, 15593],
};

/// Sums of which facts, or what is shared, bound terms together better than one by one.
const RELATED: Kind = Kind {
    results: &[
        "(d2 * m + A) floordiv m",
        "(d2 * m + A) mod m",
        "(d2 * m - A) floordiv w",
        "(d2 * w + A * m + d1 mod m) mod w",
        "(d2 * w + (A floordiv n) * n - A + m) floordiv w",
        "(d2 * m + d0 - (d0 floordiv m) * m) floordiv m",
        "(d2 * 4 + A floordiv m - B floordiv m) mod 4",
        "min(A, m - 1) + (d2 * m + A) floordiv m",
        "max(d0 + d1, A * 2)",
        "(A + B) floordiv m",
    ],
    constraints: &[
        "A in [0, 1]",
        "A in [-2, 0]",
        "A in [0, 1], d0 + d1 in [0, 3]",
        "d0 - d1 in [0, 1]",
        "A in [0, 3], B in [0, 3]",
        "A - B in [0, 0]",
        "d0 mod m - d1 in [0, 0]",
        "A mod m in [0, 0]",
        "A floordiv m - d1 in [0, 1]",
    ],
    record: [2, 1728, 15762],
};

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
        (fill(choose(r, kind.results), &filled), fill(choose(r, kind.constraints), &filled));
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

type Graph = BTreeMap<Vec<i64>, i64>;

/// The result at each point of the domain; `within` a box.
fn graph(map: &IndexingMap, within: &[Interval]) -> Graph {
    let mut points = vec![Vec::new()];
    for b in within {
        let longer =
            |p: &Vec<i64>| (b.lower..=b.upper).map(|x| [p.as_slice(), &[x]].concat()).collect::<Vec<_>>();
        points = points.iter().flat_map(longer).collect();
    }
    if map.kind() != MapKind::Defined {
        return Graph::new();
    }
    let (bounds, scratch) = (map.constraint_bounds().collect::<Vec<_>>(), &mut Vec::new());
    points.retain(|p| map.intervals().zip(p).all(|(i, x)| i.contains(*x)));
    let value = |p: Vec<i64>| {
        let values = map.dag().evaluate_first(1 + bounds.len(), &p, scratch).ok()?;
        bounds.iter().zip(&values[1..]).all(|(i, x)| i.contains(*x)).then(|| (p, values[0]))
    };
    points.into_iter().filter_map(value).collect()
}

/// Are the values a linear form of the variables? Asked where each variable makes a step from the first point.
fn is_linear(graph: &Graph) -> bool {
    let Some((first, base)) = graph.iter().next() else { return false };
    let mut slopes = Vec::new();
    for v in 0..first.len() {
        let mut next = first.clone();
        next[v] += 1;
        match graph.get(&next) {
            Some(value) => slopes.push(value - base),
            None => return false,
        }
    }
    let form = |p: &Vec<i64>| base + (0..p.len()).map(|v| slopes[v] * (p[v] - first[v])).sum::<i64>();
    graph.iter().all(|(p, value)| *value == form(p))
}

fn depends_on(graph: &Graph, v: usize) -> bool {
    let mut seen = HashMap::new();
    graph.iter().any(|(p, value)| {
        let mut rest = p.clone();
        rest[v] = 0;
        *seen.entry(rest).or_insert(*value) != *value
    })
}

/// What a map's form misses: linear values, variables without need; and its nodes.
fn missed(source: &str, arena: &mut Arena, scratch: &mut Scratch) -> [usize; 3] {
    arena.clear();
    let map = read_indexing_map(source, arena, &mut ReadScratch::default()).expect(source);
    let simple = simplify(arena, scratch, &map, PointVariables::Replace).expect(source);
    let within: Vec<Interval> = map.intervals().collect();
    let values = graph(&map, &within);
    let text = write_indexing_map(&simple, Style::Plain).expect("a short text");
    assert_eq!(graph(&simple, &within), values, "{source} became {text}");
    if values.is_empty() {
        return [0, usize::from(simple.kind() != MapKind::KnownEmpty), simple.dag().node_count()];
    }
    let result = text.split("), domain").next().and_then(|t| t.split("-> (").nth(1)).unwrap_or("");
    let nonlinear = ["div", "mod", "min", "max"].iter().any(|word| result.contains(word));
    let idle = (0..3).filter(|v| result.contains(&format!("d{v}")) && !depends_on(&values, *v)).count();
    [usize::from(nonlinear && is_linear(&values)), idle, simple.dag().node_count()]
}

/// Recording leads to the same map, and no equality says nothing.
fn check_steps(source: &str, arena: &mut Arena, scratch: &mut Scratch) {
    arena.clear();
    let map = read_indexing_map(source, arena, &mut ReadScratch::default()).expect(source);
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
        let map = read_indexing_map(&source, arena, &mut ReadScratch::default()).expect(&source);
        let (_, certificate) = certify(arena, scratch, &map, PointVariables::Replace).expect(&source);
        assert_eq!(certificate.steps.iter().any(|s| s.law == law), is_recorded, "{source}");
    }
}

fn check(kind: &Kind) {
    let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
    let mut missed_in_all = [0; 3];
    for seed in 1..CASES {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let source = random_map(kind, &mut r);
        if seed % 8 == 0 {
            check_steps(&source, arena, scratch);
        }
        let missed = missed(&source, arena, scratch);
        missed_in_all.iter_mut().zip(missed).for_each(|(all, one)| *all += one);
    }
    assert!(
        missed_in_all.iter().zip(kind.record).all(|(f, r)| *f <= r),
        "{missed_in_all:?}, recorded are {:?}",
        kind.record
    );
}

#[test]
fn quotients_and_remainders() {
    check(&QUOTIENTS);
}

#[test]
fn digits() {
    check(&DIGITS);
}

#[test]
fn minima_and_maxima() {
    check(&EXTREMA);
}

#[test]
fn products_and_divisors_that_are_expressions() {
    check(&PRODUCTS);
}

#[test]
fn domains_with_constraints() {
    check(&CONSTRAINED);
}

#[test]
fn terms_that_depend_on_each_other() {
    check(&RELATED);
}
