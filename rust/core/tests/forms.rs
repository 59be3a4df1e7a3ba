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
    let found: Vec<String> = MAPS.lines().map(|line| text(&form_of(&read(line)))).collect();
    if std::env::var("GOLDEN").as_deref() == Ok("accept") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/forms.golden");
        return std::fs::write(path, found.join("\n") + "\n").expect("a file of the sources");
    }
    assert_eq!(found.len(), FORMS.lines().count());
    for ((line, form), accepted) in MAPS.lines().zip(&found).zip(FORMS.lines()) {
        assert_eq!(form, accepted, "the form of {line}");
    }
}

#[test]
fn forms_stay() {
    for form in FORMS.lines() {
        assert_eq!(text(&form_of(&read(form))), form);
    }
}
