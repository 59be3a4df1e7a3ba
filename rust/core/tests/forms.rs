//! The forms that maps simplify to: the maps of `forms.txt` against the forms of `forms.golden`, and both against each
//! other at every point. `GOLDEN=accept cargo test -p indexing-core --test forms` accepts the forms of today, if they
//! have the right values.

mod enumeration;

use enumeration::{read, results_of};
use indexing_core::{simplify, Arena, IndexingMap, Interval, MapKind, PointVariables, Scratch};

const MAPS: &str = include_str!("forms.txt");
const FORMS: &str = include_str!("forms.golden");
/// Points of a box that are looked at: all of a small one, of a larger one those at its ends.
const MAX_POINTS: u64 = 20_000;

fn form_of(map: &IndexingMap) -> IndexingMap {
    simplify(&mut Arena::new(), &mut Scratch::default(), map, PointVariables::Replace).expect("within int64")
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

/// Maps, and below each a result that means the same on its domain: none becomes dearer.
const FORMS_BY_HAND: &str = include_str!("forms_by_hand.txt");

/// What a result costs as it is written: 1 for each sign, 4 for each other operator.
fn written_cost(result: &str) -> usize {
    let occurrences = |words: &[&str]| words.iter().map(|w| result.matches(w).count()).sum::<usize>();
    occurrences(&[" + ", " - ", " * "]) + 4 * occurrences(&["div", "mod", ", "])
}

#[test]
fn forms_are_no_dearer_than_those_written_by_hand() {
    let lines: Vec<&str> = FORMS_BY_HAND.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).collect();
    for pair in lines.chunks_exact(2) {
        let (line, by_hand) = (pair[0], pair[1].trim());
        let (before, domain) = line.split_once("), domain").expect(line);
        let own = before.split_once("-> (").expect(line).1;
        let (map, other) = (read(line), read(&line.replace(own, by_hand)));
        let (form, all) = (form_of(&map), points(&map));
        assert!(all.iter().any(|point| value(&map, point).is_some()), "{line} at no point of{domain}");
        for point in all {
            assert_eq!(value(&other, &point), value(&map, &point), "{line} at {point:?}: {by_hand}");
            assert_eq!(value(&form, &point), value(&map, &point), "{line} at {point:?}: {form}");
        }
        let written = form.to_string();
        let result = results_of(&written);
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
        assert_eq!(form_of(&read(&line)).to_string(), line);
    }
}

#[test]
fn forms_mean_what_they_are_forms_of() {
    for line in MAPS.lines() {
        let map = read(line);
        let form = form_of(&map);
        for point in points(&map) {
            assert_eq!(value(&form, &point), value(&map, &point), "{line} at {point:?}: {form}");
        }
    }
}

#[test]
fn forms_are_those_accepted() {
    let forms: Vec<String> = MAPS.lines().map(|line| form_of(&read(line)).to_string()).collect();
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
        assert_eq!(form_of(&read(form)).to_string(), form);
    }
}
