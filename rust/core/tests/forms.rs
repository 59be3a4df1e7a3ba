//! The forms that maps simplify to: the maps of `forms.txt` against the forms of `forms.golden`, and both against each
//! other at every point. `GOLDEN=accept cargo test -p indexing-core --test forms` accepts the forms of today, if they
//! have the right values.

use indexing_core::{
    read_indexing_map, simplify, write_indexing_map, Arena, IndexingMap, Interval, MapKind, PointVariables,
    ReadScratch, Scratch, Style,
};

const MAPS: &str = include_str!("forms.txt");
const FORMS: &str = include_str!("forms.golden");
/// Points of a box that are looked at: all of a small one, of a larger one those at its ends.
const MAX_POINTS: u64 = 20_000;

fn read(text: &str) -> IndexingMap {
    read_indexing_map(text, &mut Arena::new(), &mut ReadScratch::default()).expect(text)
}

fn form_of(map: &IndexingMap) -> IndexingMap {
    simplify(&mut Arena::new(), &mut Scratch::default(), map, PointVariables::Replace).expect("within int64")
}

fn text(map: &IndexingMap) -> String {
    write_indexing_map(map, Style::Plain).expect("a short text")
}

/// The values of a variable that are looked at.
fn samples(bounds: Interval, all: bool) -> Vec<i64> {
    if all {
        return (bounds.lower..=bounds.upper).collect();
    }
    let near = [0, 1, 2].into_iter();
    let below = near.clone().filter_map(|k| bounds.lower.checked_add(k));
    let above = near.filter_map(|k| bounds.upper.checked_sub(k));
    let mut values: Vec<i64> = below.chain(above).filter(|v| bounds.contains(*v)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn points(map: &IndexingMap) -> Vec<Vec<i64>> {
    let widths = map.intervals().map(|i| i.upper.abs_diff(i.lower).saturating_add(1));
    let all = widths.fold(1, u64::saturating_mul) <= MAX_POINTS;
    let mut points = vec![Vec::new()];
    for bounds in map.intervals() {
        let values = samples(bounds, all);
        let longer = |p: &Vec<i64>| values.iter().map(|v| [p.as_slice(), &[*v]].concat()).collect::<Vec<_>>();
        points = points.iter().flat_map(longer).collect();
    }
    points
}

/// The results at a point; `None` outside of the domain.
fn value(map: &IndexingMap, point: &[i64]) -> Option<Vec<i64>> {
    let domain = map.domain(&mut Arena::new());
    let inside = map.kind() == MapKind::Defined && domain.contains(point, &mut Vec::new()).expect("small");
    inside.then(|| map.dag().evaluate_first(map.num_results(), point, &mut Vec::new()).expect("small"))
}

/// Maps, and results that mean the same on their domain, written by hand: none becomes dearer.
const FORMS_BY_HAND: &[(&str, &str)] = &[
    (
        "(d0, d1) -> ((d0 * 3 + d1 * 3 + 2) floordiv 4), domain: d0 in [0, 8], d1 in [0, 8], d0 mod 2 in [0, 0], d1 mod 2 in [0, 0]",
        "((d0 + d1) * 3 + 2) floordiv 4",
    ),
    (
        "(d0, d1) -> (((d0 * 3 + d1 * 12 + 15) floordiv 4) * -8 + ((d0 * 3 + d1 * 12 + 15) mod 4) * -8 - d1 * 24 - 16), \
         domain: d0 in [2, 5], d1 in [0, 5]",
        "d1 * -48 - (d0 floordiv 4) * 24 - 64",
    ),
    (
        "(d0, d1) -> ((((d1 * 7) floordiv 2) * 3 + ((d0 * 3) floordiv 2) * 2) mod 6), domain: d0 in [0, 5], d1 in [-3, 2]",
        "(((d0 * 3) floordiv 2) * 2 + (d1 ceildiv 2) * 3) mod 6",
    ),
    // The coefficients in a dividend count modulo 6, those of the remainder's and of the quotient's alike.
    (
        "(d0, d1) -> (((d0 - d1 * 3) floordiv 2) mod 3 + ((d0 + d1 * 3) floordiv 6) * 3), domain: d0 in [0, 99], d1 in [0, 99]",
        "(d0 + d1 * 3) floordiv 2",
    ),
    (
        "(d0, d1) -> (((d0 + d1 * 3) floordiv 2) mod 3 + ((d0 - d1 * 3) floordiv 6) * 3), domain: d0 in [0, 99], d1 in [0, 99]",
        "(d0 - d1 * 3) floordiv 2",
    ),
    // Terms are moved into a quotient beside what it divides, be it an extremum or in one.
    ("(d0, d1) -> (max(d0, d1) floordiv 2 + max(d0, d1) * 2), domain: d0 in [0, 9], d1 in [0, 9]", "(max(d0, d1) * 5) floordiv 2"),
    (
        "(d0) -> (min((d0 * 5 + 1) floordiv 4, (d0 * 3 + 15) floordiv 4) + d0 * 5 + 1), domain: d0 in [-40, 40]",
        "min(d0 * 23, d0 * 25 - 14) ceildiv 4 + 4",
    ),
    // Of the two values of a variable, one is beyond a bound: the extremum is linear.
    ("(d0) -> (max(d0 * 4, 3)), domain: d0 in [0, 1]", "d0 + 3"),
    ("(d0, d1) -> (min(d0 * 8, 5) + d1), domain: d0 in [0, 1], d1 in [0, 9]", "d0 * 5 + d1"),
    ("(d0) -> (min(d0 * -4, 9)), domain: d0 in [-3, -2]", "6 - d0"),
    // Where the coefficients of a quotient are least residues, those of the next one are looked at.
    (
        "(d0, d1, d2) -> ((((d0 * 4 - d1 * 4) floordiv 3) * 2 + ((d2 * 7) floordiv 2) * 3) mod 6), \
         domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        "(((d0 - d1) * 4) floordiv 3 * 2 + (d2 ceildiv 2) * 3) mod 6",
    ),
    (
        "(d0, d1, d2) -> ((((d0 - d1 * 4) floordiv 3) * 2 + ((d2 * 7) floordiv 2) * 3) mod 6), \
         domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        "((d0 - d1 * 4) floordiv 3 * 2 + (d2 ceildiv 2) * 3) mod 6",
    ),
];

/// What a result costs as it is written: 1 for each sign, 4 for each other operator.
fn written_cost(result: &str) -> usize {
    let occurrences = |words: &[&str]| words.iter().map(|w| result.matches(w).count()).sum::<usize>();
    occurrences(&[" + ", " - ", " * "]) + 4 * occurrences(&["div", "mod", ", "])
}

#[test]
fn forms_are_no_dearer_than_those_written_by_hand() {
    for (line, by_hand) in FORMS_BY_HAND {
        let (before, domain) = line.split_once("), domain").expect(line);
        let own = before.split_once("-> (").expect(line).1;
        let (map, other) = (read(line), read(&line.replace(own, by_hand)));
        let (form, all) = (form_of(&map), points(&map));
        assert!(all.iter().any(|point| value(&map, point).is_some()), "{line} at no point of{domain}");
        for point in all {
            assert_eq!(value(&other, &point), value(&map, &point), "{line} at {point:?}: {by_hand}");
            assert_eq!(value(&form, &point), value(&map, &point), "{line} at {point:?}: {}", text(&form));
        }
        let written = text(&form);
        let result = written.split_once("), domain").and_then(|t| t.0.split_once("-> (")).expect(&written).1;
        assert!(written_cost(result) <= written_cost(by_hand), "{line}: {result}");
    }
}

/// The choice of a form doesn't depend on what was simplified before in the same arena.
#[test]
fn forms_do_not_depend_on_what_the_arena_holds() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    let maps: Vec<IndexingMap> = MAPS.lines().map(read).collect();
    for map in maps.iter().rev().chain(&maps) {
        let form = simplify(&mut arena, &mut scratch, map, PointVariables::Replace);
        assert_eq!(form, Ok(form_of(map)));
    }
}

/// Laws that would make these no cheaper leave them as they are.
#[test]
fn forms_that_would_be_no_cheaper_stay() {
    let wide = "d0 in [-99, 99], d1 in [0, 99], d2 in [-99, 99], d3 in [0, 99], d4 in [0, 99], d5 in [0, 99]";
    let results = [
        "min(((d0 + d1) * 5) floordiv 4, -(((d2 + d3 + d4 + d5) * 5) floordiv 4))",
        "(d1 * 2 - d0 mod 2) mod 4",
        "(d1 + d2 + d3 + d4 + d0 floordiv 2) floordiv 3",
    ];
    for result in results {
        let line = format!("(d0, d1, d2, d3, d4, d5) -> ({result}), domain: {wide}");
        assert_eq!(text(&form_of(&read(&line))), line);
    }
}

#[test]
fn forms_mean_what_they_are_forms_of() {
    for line in MAPS.lines() {
        let map = read(line);
        let form = form_of(&map);
        for point in points(&map) {
            assert_eq!(value(&form, &point), value(&map, &point), "{line} at {point:?}: {}", text(&form));
        }
    }
}

#[test]
fn forms_are_those_accepted() {
    let forms: Vec<String> = MAPS.lines().map(|line| text(&form_of(&read(line)))).collect();
    if std::env::var("GOLDEN").as_deref() == Ok("accept") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/forms.golden");
        return std::fs::write(path, forms.join("\n") + "\n").expect("a file of the sources");
    }
    assert_eq!(forms.len(), FORMS.lines().count());
    for ((line, form), accepted) in MAPS.lines().zip(&forms).zip(FORMS.lines()) {
        assert_eq!(form, accepted, "the form of {line}");
    }
}

#[test]
fn forms_stay() {
    for form in FORMS.lines() {
        assert_eq!(text(&form_of(&read(form))), form);
    }
}
