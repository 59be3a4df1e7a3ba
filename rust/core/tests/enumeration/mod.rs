//! Maps by their definition: all points of a box, those of the domain, and their results.

#![allow(dead_code)] // each test uses its part

use indexing_core::{Arena, IndexingMap, Interval, MapKind, PointStep};
use std::collections::BTreeMap;

/// The points of a domain, each with its results.
pub type Graph = BTreeMap<Vec<i64>, Vec<i64>>;

pub fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

/// The points of a box in the order of their values, the last variable fastest.
pub fn box_points(bounds: impl IntoIterator<Item = Interval>) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for b in bounds {
        let longer =
            |p: &Vec<i64>| (b.lower..=b.upper).map(|x| [p.as_slice(), &[x]].concat()).collect::<Vec<_>>();
        points = points.iter().flat_map(longer).collect();
    }
    points
}

/// The graph of a map on the points of a box; a point where an expression has no value is not one of the domain.
pub fn graph_within(map: &IndexingMap, bounds: impl IntoIterator<Item = Interval>) -> Graph {
    if map.kind() != MapKind::Defined {
        return Graph::new();
    }
    let (count, within) = (map.num_results(), map.constraint_bounds().collect::<Vec<_>>());
    let value = |p: Vec<i64>| {
        let values = map.dag().evaluate_first(count + within.len(), &p, &mut Vec::new()).ok()?.to_vec();
        let (results, constrained) = values.split_at(count);
        let inside = within.iter().zip(constrained).all(|(i, v)| i.contains(*v));
        inside.then(|| (p, results.to_vec()))
    };
    let in_box = |p: &Vec<i64>| map.intervals().zip(p).all(|(i, x)| i.contains(*x));
    box_points(bounds).into_iter().filter(in_box).filter_map(value).collect()
}

/// The graph of a map.
pub fn graph(map: &IndexingMap) -> Graph {
    graph_within(map, map.intervals())
}

/// The points that a map lists, in `steps` at most at once.
pub fn listed(map: &IndexingMap, steps: usize) -> Vec<Vec<i64>> {
    let (mut points, mut all) = (map.points(&mut Arena::new()), Vec::new());
    loop {
        match points.step(steps).expect("small") {
            PointStep::Point(p) => all.push(p),
            PointStep::Searching => {}
            PointStep::End => return all,
        }
    }
}

/// The points that a map lists, each with its results.
pub fn listed_graph(map: &IndexingMap) -> Graph {
    let results =
        |p: &[i64]| map.dag().evaluate_first(map.num_results(), p, &mut Vec::new()).expect("small").to_vec();
    listed(map, usize::MAX).into_iter().map(|p| (p.clone(), results(&p))).collect()
}

/// The product of the factors of a count.
pub fn product(factors: Vec<u128>) -> u128 {
    factors.iter().product()
}

/// The results of a map as they are printed, without brackets.
pub fn results_of(text: &str) -> &str {
    text.split("), domain").next().and_then(|t| t.split("-> (").nth(1)).unwrap_or(text)
}
