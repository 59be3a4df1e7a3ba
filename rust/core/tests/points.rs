//! The points of domains: one by one, by many, and asked about; against the box that is gone through in order.

mod enumeration;

use enumeration::{box_points, listed, read};
use indexing_core::{Arena, ErrorKind, IndexingMap, Interval, MapKind, PointStep};

fn floor_quotient(a: i64, b: i64) -> i64 {
    (a as f64 / b as f64).floor() as i64
}

/// Domains, and what they say of a point: all of these have at most three variables.
type Holds = fn(&[i64]) -> bool;
const DOMAINS: &[(&str, Holds)] = &[
    ("(d0, d1) -> (d0), domain: d0 in [0, 4], d1 in [-2, 3]", |_| true),
    ("(d0, d1, d2) -> (d0), domain: d0 in [3, 3], d1 in [-2, 3], d2 in [5, 5]", |_| true),
    ("(d0) -> (d0), domain: d0 in [-7, 200]", |_| true),
    ("(d0, d1, d2) -> (d0), domain: d0 in [0, 10], d1 in [0, 6], d2 in [0, 4]", |_| true),
    ("(d0, d1) -> (d0), domain: d0 in [0, 40], d1 in [0, 9], d0 + d1 in [7, 20]", |p| (7..=20).contains(&(p[0] + p[1]))),
    ("(d0, d1) -> (d0), domain: d0 in [0, 40], d1 in [0, 9], (d0 + d1) mod 5 in [3, 3]", |p| (p[0] + p[1]) % 5 == 3),
    ("(d0, d1, d2) -> (d0), domain: d0 in [-9, 9], d1 in [0, 9], d2 in [0, 3], d0 * d1 in [-3, 9], d1 - d2 in [1, 40]", |p| {
        (-3..=9).contains(&(p[0] * p[1])) && p[1] - p[2] >= 1
    }),
    // Where a divisor is 0 there is no point, be it a constraint's or a result's.
    ("(d0, d1) -> (d0), domain: d0 in [-9, 9], d1 in [-4, 9], d0 floordiv d1 in [0, 2]", |p| {
        p[1] != 0 && (0..=2).contains(&floor_quotient(p[0], p[1]))
    }),
    ("(d0, d1) -> (d0 floordiv d1), domain: d0 in [-9, 9], d1 in [-4, 9]", |p| p[1] != 0),
    ("(d0, d1) -> (d0), domain: d0 in [-9, 9], d1 in [-4, 9], d0 mod d1 in [0, 100]", |p| p[1] != 0),
    ("(d0, d1) -> (d0), domain: d0 in [-9, 9], d1 in [-4, 9], d0 floordiv d1 in [-100, 100]", |p| p[1] != 0),
    ("(d0, d1) -> (d0 floordiv (d1 mod 3)), domain: d0 in [0, 19], d1 in [-4, 9], d0 - d1 in [0, 9]", |p| {
        p[1].rem_euclid(3) != 0 && (0..=9).contains(&(p[0] - p[1]))
    }),
    ("(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 99], d0 * d1 in [9998, 9999]", |_| false),
    ("(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 99], d0 * d1 in [9801, 9801]", |p| p[0] * p[1] == 9801),
];

fn expected(map: &IndexingMap, holds: Holds) -> Vec<Vec<i64>> {
    box_points(map.intervals()).into_iter().filter(|p| holds(p)).collect()
}

#[test]
fn points_come_one_by_one_in_order() {
    for (text, holds) in DOMAINS {
        let map = read(text);
        for limit in [1, 5, 1000] {
            assert_eq!(listed(&map, limit), expected(&map, *holds), "{text}");
        }
    }
}

#[test]
fn points_come_as_columns() {
    for (text, holds) in DOMAINS {
        let map = read(text);
        let all = expected(&map, *holds);
        let unasked = map.constraint_bounds().len() == 0 && !text.contains("floordiv");
        for limit in [1, 2, 3, 7, 50, 64, 1000] {
            let mut points = map.points(&mut Arena::new());
            let mut columns = vec![Vec::new(); map.num_variables()];
            loop {
                let left = (all.len() - columns[0].len()) as u128;
                match points.known_count() {
                    Some(known) => assert_eq!(known, left, "{text} by {limit}"),
                    None => assert!(!unasked, "{text} by {limit}"),
                }
                let before = columns[0].len();
                let more = points.extend(limit, &mut columns).expect(text);
                assert!(columns.iter().all(|c| c.len() == columns[0].len()));
                assert!(columns[0].len() - before <= limit, "{text} by {limit}");
                if !more {
                    break;
                }
            }
            let rows: Vec<Vec<i64>> =
                (0..columns[0].len()).map(|k| columns.iter().map(|c| c[k]).collect()).collect();
            assert_eq!(rows, all, "{text} by {limit}");
        }
    }
}

/// A point that was taken alone is not in the next columns.
#[test]
fn single_points_and_columns_may_be_mixed() {
    for (text, holds) in DOMAINS {
        let map = read(text);
        let mut points = map.points(&mut Arena::new());
        let mut columns = vec![Vec::new(); map.num_variables()];
        for k in 0.. {
            if k % 2 == 0 {
                match points.step(3).expect(text) {
                    PointStep::Point(p) => columns.iter_mut().zip(p).for_each(|(c, x)| c.push(x)),
                    PointStep::Searching => {}
                    PointStep::End => break,
                }
            } else {
                points.extend(4, &mut columns).expect(text);
            }
        }
        let rows: Vec<Vec<i64>> =
            (0..columns[0].len()).map(|k| columns.iter().map(|c| c[k]).collect()).collect();
        assert_eq!(rows, expected(&map, *holds), "{text}");
    }
}

#[test]
fn a_domain_is_asked_about_points_one_by_one_and_by_many() {
    for (text, holds) in DOMAINS {
        let map = read(text);
        let domain = map.domain(&mut Arena::new());
        let wider = map.intervals().map(|i| Interval::new(i.lower - 2, i.upper + 2));
        let points = box_points(wider);
        let expected: Vec<u8> = points
            .iter()
            .map(|p| u8::from(map.intervals().zip(p).all(|(i, x)| i.contains(*x)) && holds(p)))
            .collect();
        let each: Vec<u8> =
            points.iter().map(|p| u8::from(domain.contains(p, &mut Vec::new()).expect(text))).collect();
        assert_eq!(each, expected, "{text}");
        let columns: Vec<Vec<i64>> =
            (0..map.num_variables()).map(|v| points.iter().map(|p| p[v]).collect()).collect();
        let columns: Vec<&[i64]> = columns.iter().map(Vec::as_slice).collect();
        let mut inside = vec![7; points.len()];
        domain.contains_each(&columns, &mut inside).expect(text);
        assert_eq!(inside, expected, "{text}");
    }
}

/// Of many values at once, and of each alone: those in the interval, at the ends of int64 and where differences leave it.
#[test]
fn values_are_compared_with_intervals_up_to_the_ends_of_int64() {
    let near = [0, 1 << 62, i64::MAX].map(|end| [-end - 1, -end, -end + 1, end - 1, end].to_vec()).concat();
    let some = [vec![0, -7, 1 << 61], vec![i64::MIN, i64::MAX]];
    let columns: Vec<Vec<i64>> = near.iter().map(|x| vec![*x]).chain([near.clone()]).chain(some).collect();
    for (lower, upper) in near.iter().flat_map(|a| near.iter().map(move |b| (*a, *b))) {
        let map = read(&format!("(d0) -> (d0), domain: d0 in [{lower}, {upper}]"));
        if map.kind() != MapKind::Defined {
            continue;
        }
        let domain = map.domain(&mut Arena::new());
        for values in &columns {
            let expected: Vec<u8> = values.iter().map(|x| u8::from(lower <= *x && *x <= upper)).collect();
            let mut inside = vec![7; values.len()];
            domain.contains_each(&[values], &mut inside).expect("no constraint");
            assert_eq!(inside, expected, "{values:?} in [{lower}, {upper}]");
        }
    }
}

/// Only where a divisor is 0 there is no point.
#[test]
fn divisors_may_be_all_numbers_but_0() {
    let domain = read("(d0, d1) -> (d0 floordiv d1), domain: d0 in [0, 9], d1 in [-9223372036854775808, 9223372036854775807]")
        .domain(&mut Arena::new());
    let divisors = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
    let mut inside = [7; 6];
    domain.contains_each(&[&[5; 6], &divisors], &mut inside).expect("in int64");
    assert_eq!(inside, divisors.map(|d| u8::from(d != 0)));
}

/// A box of any size is gone through from its first point, and its points are counted.
#[test]
fn large_boxes_begin_at_their_first_points() {
    let map = read(
        "(d0, d1, d2) -> (d0), domain: d0 in [-5, 9223372036854775806], d1 in [2, 3], d2 in [0, 4294967295]",
    );
    let mut points = map.points(&mut Arena::new());
    let mut columns = vec![Vec::new(); 3];
    let all = (1u128 << 32) * 2 * ((1u128 << 63) + 4);
    assert_eq!(points.known_count(), Some(all));
    assert!(points.extend(101, &mut columns).expect("a box"));
    assert_eq!(columns[2], (0..100).collect::<Vec<i64>>());
    assert!(columns[0].iter().all(|x| *x == -5) && columns[1].iter().all(|x| *x == 2));
    assert_eq!(points.known_count(), Some(all - 100));
    let empty = IndexingMap::known_empty(&mut Arena::new());
    assert_eq!(empty.points(&mut Arena::new()).known_count(), Some(0));
}

/// What int64 does not hold is an error where it is come to, not a point.
#[test]
fn overflow_is_an_error_at_its_point() {
    let map = read("(d0) -> (d0), domain: d0 in [0, 3], d0 * 9223372036854775807 in [-9223372036854775808, 9223372036854775807]");
    let mut points = map.points(&mut Arena::new());
    let mut values = Vec::new();
    let error = loop {
        match points.step(8) {
            Ok(PointStep::Point(p)) => values.push(p[0]),
            Ok(_) => {}
            Err(e) => break e,
        }
    };
    assert_eq!((values, error.kind()), (vec![0, 1], ErrorKind::Overflow));
}

#[test]
fn remainders_of_what_may_leave_int64_pass_over_no_box() {
    let [top, bottom] = [i64::MAX - 1, i64::MIN + 1];
    for (few, end, residues) in [(0..=3, top, 3..=4), (-3..=0, bottom, 0..=1)] {
        let text = format!(
            "(d0, d1) -> (d0), domain: d0 in [{}, {}], d1 in [{end}, {end}], (d0 + d1) mod 5 in [{}, {}]",
            few.start(),
            few.end(),
            residues.start(),
            residues.end()
        );
        let mut columns = vec![Vec::new(); 2];
        let mut points = read(&text).points(&mut Arena::new());
        while points.extend(100, &mut columns).expect("values that leave int64 are no errors") {}
        let is_inside =
            |x: &i64| residues.contains(&((i128::from(*x) + i128::from(end)).rem_euclid(5) as i64));
        assert_eq!(columns[0], few.filter(is_inside).collect::<Vec<i64>>(), "{text}");
    }
}
