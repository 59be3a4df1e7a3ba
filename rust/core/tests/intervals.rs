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

/// `actual` holds all `values`, and where both its ends are numbers, is the least interval that does.
fn check(actual: Interval, values: impl Iterator<Item = i64> + Clone, what: &str) {
    assert!(values.clone().all(|v| actual.contains(v)), "{what}: {actual:?}");
    let least = hull(values).unwrap_or(Interval::EMPTY);
    if actual.lower != LOW {
        assert_eq!(actual.lower, least.lower, "{what}");
    }
    if actual.upper != HIGH {
        assert_eq!(actual.upper, least.upper, "{what}");
    }
    assert!(actual.lower != LOW || least.lower <= -9, "{what} is unbounded below");
    assert!(actual.upper != HIGH || least.upper >= 9, "{what} is unbounded above");
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
                let quotients = x.quotient_by(k);
                assert!(
                    (-9..=9).all(|v| quotients.contains(v) == x.contains(v * k)),
                    "{x:?} by {k}: {quotients:?}"
                );
                assert!(inside.clone().all(|v| quotients.contains(v)));
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
            assert!(x.times(Interval::EMPTY).is_empty() && Interval::EMPTY.times(x).is_empty());
            assert!(x.floordiv(Interval::EMPTY).is_empty() && Interval::EMPTY.floordiv(x).is_empty());
            assert!(x.floordiv(Interval::point(0)).is_empty());
            let what = |sign: &str| format!("{x:?} {sign} {y:?}");
            let pairs = move || elements(x).flat_map(move |a| elements(y).map(move |b| (a, b)));
            check(x.plus(y), pairs().map(|(a, b)| a + b), &what("+"));
            check(x.minus(y), pairs().map(|(a, b)| a - b), &what("-"));
            check(x.times(y), pairs().map(|(a, b)| a * b), &what("*"));
            check(x.min(y), pairs().map(|(a, b)| a.min(b)), &what("min"));
            check(x.max(y), pairs().map(|(a, b)| a.max(b)), &what("max"));
            let made = [x.plus(y), x.minus(y), x.times(y), x.min(y), x.max(y), x.floordiv(y)];
            assert!(
                !(x.is_bounded() && y.is_bounded()) || made.iter().all(|i| i.is_bounded()),
                "{}",
                what("with")
            );
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
    for x in all() {
        for y in all().into_iter().filter(|y| *y != Interval::point(0)) {
            let floor = |a: i64, b: i64| (a as f64 / b as f64).floor() as i64;
            let all = elements(x).flat_map(|a| elements(y).filter(|b| *b != 0).map(move |b| floor(a, b)));
            check(x.floordiv(y), all, &format!("{x:?} floordiv {y:?}"));
            if !y.is_bounded() {
                assert_eq!(y.remainders(), Interval::new(0, HIGH));
                continue;
            }
            let rest = |a: i64, b: i64| a - b.abs() * floor(a, b.abs());
            let remainders = y.remainders();
            let each = (-20..20).flat_map(|a| elements(y).filter(|b| *b != 0).map(move |b| rest(a, b)));
            assert!(
                each.clone().all(|r| remainders.contains(r)) && hull(each) == Some(remainders),
                "mod {y:?}: {remainders:?}"
            );
        }
    }
}

/// Products and sums at the ends of int64: no number is lost, and what leaves int64 is unbounded on its side.
#[test]
fn ends_of_int64_are_saturated() {
    let ends = [LOW, LOW + 1, LOW + 2, -(1 << 33), -3, -1, 0, 1, 2, 1 << 33, HIGH - 2, HIGH - 1, HIGH];
    let within = |v: i128| (i128::from(LOW)..=i128::from(HIGH)).contains(&v);
    let holds = |i: Interval, v: i128| !within(v) || i.contains(v as i64);
    let all = |f: &dyn Fn(Interval)| {
        for (k, a) in ends.iter().enumerate() {
            ends[k..].iter().for_each(|b| f(Interval::new(*a, *b)));
        }
    };
    all(&|x| {
        let (a, b) = (i128::from(x.lower), i128::from(x.upper));
        assert!([a, b].iter().all(|v| holds(x.negated(), -v)), "-{x:?}");
        for k in ends {
            let by = i128::from(k);
            assert!([a, b].iter().all(|v| holds(x.scaled(k), v * by)), "{x:?} * {k}: {:?}", x.scaled(k));
            if k > 0 {
                let least = Interval::new(x.lower.div_euclid(k), x.upper.div_euclid(k));
                assert!(x.floordiv_positive(k).covers(least), "{x:?} / {k}");
            }
            if k != 0 {
                let back = x.quotient_by(k);
                assert!(
                    ends.iter()
                        .all(|v| !within(i128::from(*v) * by) || !x.contains(v * k) || back.contains(*v)),
                    "{x:?} by {k}: {back:?}"
                );
            }
        }
        all(&|y| {
            let (c, d) = (i128::from(y.lower), i128::from(y.upper));
            for (v, w) in [(a, c), (a, d), (b, c), (b, d)] {
                assert!(holds(x.plus(y), v + w), "{x:?} + {y:?}");
                assert!(holds(x.minus(y), v - w), "{x:?} - {y:?}");
                assert!(holds(x.times(y), v * w), "{x:?} * {y:?}: {:?}", x.times(y));
            }
        });
    });
}

/// Ends that no operation leaves int64 with are exact, however large they are.
#[test]
fn large_bounded_ends_are_exact() {
    let large = [-(1i64 << 61), -(1 << 40) - 1, -(1 << 20), 3, 1 << 20, (1 << 40) + 1, 1 << 61];
    for a in large {
        for b in large.into_iter().filter(|b| *b >= a) {
            let x = Interval::new(a, b);
            assert_eq!(x.plus(Interval::new(-5, 7)), Interval::new(a - 5, b + 7));
            assert_eq!(x.minus(Interval::new(-5, 7)), Interval::new(a - 7, b + 5));
            assert_eq!(x.scaled(3), Interval::new(3 * a, 3 * b));
            assert_eq!(x.scaled(-3), Interval::new(-3 * b, -3 * a));
            let products = [-2 * a, 3 * a, -2 * b, 3 * b];
            let (least, greatest) = (products.into_iter().min(), products.into_iter().max());
            assert_eq!(Some(x.times(Interval::new(-2, 3)).lower), least);
            assert_eq!(Some(x.times(Interval::new(-2, 3)).upper), greatest);
            assert_eq!(x.floordiv_positive(7), Interval::new(a.div_euclid(7), b.div_euclid(7)));
        }
    }
}

/// The `x` with `x * factor` in the interval: an end that is open bounds nothing, whichever side it comes to.
#[test]
fn quotients_by_factors_are_open_where_the_interval_is() {
    let ends = [i64::MIN, -(1 << 40), -7, 0, 5, 1 << 40, i64::MAX];
    let values = [i64::MIN / 2, -(1 << 40), -4, -3, -1, 0, 1, 2, 9, 1 << 40, i64::MAX / 2];
    for (lower, upper) in ends.iter().flat_map(|a| ends.iter().map(move |b| (*a, *b))).filter(|(a, b)| a < b)
    {
        for factor in [-5, -2, -1, 1, 2, 3] {
            let quotients = Interval::new(lower, upper).quotient_by(factor);
            for x in values {
                let product = i128::from(x) * i128::from(factor);
                let above = lower == i64::MIN || i128::from(lower) <= product;
                let below = upper == i64::MAX || product <= i128::from(upper);
                assert_eq!(quotients.contains(x), above && below, "{x} * {factor} in [{lower}, {upper}]");
            }
        }
    }
}
