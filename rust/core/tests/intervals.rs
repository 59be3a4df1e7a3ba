//! Arithmetic on intervals, against all their elements: small ones, and ones that are unbounded below or above.

use indexing_core::Interval;

const LOW: i64 = i64::MIN;
const HIGH: i64 = i64::MAX;
/// How far an unbounded interval is listed: beyond what operations on small numbers tell apart.
const FAR: i64 = 40;

fn all() -> Vec<Interval> {
    let bounded = (-4..=4).flat_map(|a| (a..=4).map(move |b| Interval::new(a, b)));
    let open = (-3..=3).flat_map(|a| [Interval::new(LOW, a), Interval::new(a, HIGH)]);
    bounded.chain(open).chain([Interval::new(LOW, HIGH)]).collect()
}

fn elements(i: Interval) -> impl Iterator<Item = i64> + Clone {
    i.lower.max(-FAR)..=i.upper.min(FAR)
}

/// The least interval that holds `values`, read as unbounded where `open` says so.
fn hull(values: impl Iterator<Item = i64>) -> Option<Interval> {
    values.fold(None, |all: Option<Interval>, v| {
        Some(all.map_or(Interval::point(v), |i| Interval::new(i.lower.min(v), i.upper.max(v))))
    })
}

/// `found` holds all `values`, and where both its ends are numbers, is the least interval that does.
fn check(found: Interval, values: impl Iterator<Item = i64> + Clone, what: &str) {
    assert!(values.clone().all(|v| found.contains(v)), "{what}: {found:?}");
    let least = hull(values).unwrap_or(Interval::EMPTY);
    if found.lower != LOW {
        assert_eq!(found.lower, least.lower, "{what}");
    }
    if found.upper != HIGH {
        assert_eq!(found.upper, least.upper, "{what}");
    }
    assert!(found.lower != LOW || least.lower <= -9, "{what} is unbounded below");
    assert!(found.upper != HIGH || least.upper >= 9, "{what} is unbounded above");
}

#[test]
fn operations_with_a_number_are_those_of_the_elements() {
    for x in all() {
        check(x.negated(), elements(x).map(|v| -v), &format!("-{x:?}"));
        for k in -3..=3 {
            check(x.scaled(k), elements(x).map(move |v| v * k), &format!("{x:?} * {k}"));
            if k > 0 {
                check(
                    x.floordiv_positive(k),
                    elements(x).map(move |v| v.div_euclid(k)),
                    &format!("{x:?} / {k}"),
                );
            }
            if k != 0 {
                // The x with k * x in the interval.
                let inside = (-FAR..=FAR).filter(move |v| x.contains(v * k));
                let found = x.quotient_by(k);
                assert!((-9..=9).all(|v| found.contains(v) == x.contains(v * k)), "{x:?} by {k}: {found:?}");
                assert!(inside.clone().all(|v| found.contains(v)));
            }
        }
        assert_eq!(x.is_point(), x.lower == x.upper);
        assert_eq!(x.is_bounded(), x.lower != LOW && x.upper != HIGH);
        if x.is_bounded() {
            assert_eq!(x.count(), elements(x).count() as u128);
        }
    }
}

#[test]
fn operations_with_another_interval_are_those_of_the_elements() {
    for x in all() {
        for y in all() {
            let what = |sign: &str| format!("{x:?} {sign} {y:?}");
            let pairs = move || elements(x).flat_map(move |a| elements(y).map(move |b| (a, b)));
            check(x.plus(y), pairs().map(|(a, b)| a + b), &what("+"));
            check(x.minus(y), pairs().map(|(a, b)| a - b), &what("-"));
            check(x.times(y), pairs().map(|(a, b)| a * b), &what("*"));
            check(x.min(y), pairs().map(|(a, b)| a.min(b)), &what("min"));
            check(x.max(y), pairs().map(|(a, b)| a.max(b)), &what("max"));
            let both = x.intersect(y);
            assert!(
                (-9..=9).all(|v| both.contains(v) == (x.contains(v) && y.contains(v))),
                "{}",
                what("and")
            );
            check(x.union(y), elements(x).chain(elements(y)), &what("or"));
            assert_eq!(x.covers(y), y.lower >= x.lower && y.upper <= x.upper, "{}", what("covers"));
        }
    }
}

#[test]
fn comparisons_are_those_of_the_elements() {
    let decided = |all: bool, any: bool| if all { Some(true) } else { (!any).then_some(false) };
    for x in all().into_iter().filter(|x| x.is_bounded()) {
        for y in all().into_iter().filter(|y| y.is_bounded()) {
            let pairs = || elements(x).flat_map(move |a| elements(y).map(move |b| (a, b)));
            let of = |f: fn(i64, i64) -> bool| {
                decided(pairs().all(|(a, b)| f(a, b)), pairs().any(|(a, b)| f(a, b)))
            };
            assert_eq!(x.lt(y), of(|a, b| a < b), "{x:?} < {y:?}");
            assert_eq!(x.le(y), of(|a, b| a <= b), "{x:?} <= {y:?}");
            assert_eq!(x.gt(y), of(|a, b| a > b), "{x:?} > {y:?}");
            assert_eq!(x.ge(y), of(|a, b| a >= b), "{x:?} >= {y:?}");
            assert_eq!(x.equal(y), of(|a, b| a == b), "{x:?} == {y:?}");
            assert_eq!(x.not_equal(y), of(|a, b| a != b), "{x:?} != {y:?}");
            assert_eq!(x.at_most(y), pairs().all(|(a, b)| a <= b), "{x:?} at most {y:?}");
        }
    }
}

/// An end that is unbounded decides nothing: the least number stands for all below it.
#[test]
fn unbounded_ends_are_no_numbers() {
    let (below, above) = (Interval::new(LOW, 3), Interval::new(3, HIGH));
    assert!(below.at_most(above));
    assert!(!above.at_most(Interval::new(HIGH, HIGH)));
    assert!(!Interval::new(LOW, LOW).at_most(below));
    assert_eq!(below.lt(Interval::point(4)), Some(true));
    assert_eq!(above.lt(Interval::point(4)), None);
}

#[test]
fn quotients_by_intervals_are_those_of_the_elements() {
    for x in all().into_iter().filter(|x| x.is_bounded()) {
        for y in all().into_iter().filter(|y| y.is_bounded() && *y != Interval::point(0)) {
            let floor = |a: i64, b: i64| (a as f64 / b as f64).floor() as i64;
            let all = elements(x).flat_map(|a| elements(y).filter(|b| *b != 0).map(move |b| floor(a, b)));
            check(x.floordiv(y), all, &format!("{x:?} floordiv {y:?}"));
            let rest = |a: i64, b: i64| a - b.abs() * floor(a, b.abs());
            let found = y.remainders();
            let each = (-20..20).flat_map(|a| elements(y).filter(|b| *b != 0).map(move |b| rest(a, b)));
            assert!(
                each.clone().all(|r| found.contains(r)) && hull(each) == Some(found),
                "mod {y:?}: {found:?}"
            );
        }
    }
}
