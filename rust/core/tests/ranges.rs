//! Bounds and congruences of expressions, against all values that they take: by enumeration where boxes are small, by
//! wider integers at the ends of int64.

mod enumeration;

use enumeration::box_points;
use indexing_core::{
    is_multiple_of, range_of, range_on_box, Arena, Expr, Interval, MapBuilder, Names, Scratch, Term,
};

const LOW: i64 = i64::MIN;
const HIGH: i64 = i64::MAX;

fn interval(ends: (i64, i64)) -> Interval {
    Interval::new(ends.0, ends.1)
}

/// All values of `e` on a box.
fn values(arena: &mut Arena, e: Expr, bounds: &[Interval]) -> Vec<i64> {
    let points = box_points(bounds.iter().copied());
    points.iter().filter_map(|p| arena.evaluate(&[e], p).ok().map(|v| v[0])).collect()
}

fn hull(values: &[i64]) -> Interval {
    let (least, most) = (values.iter().min().expect("a value"), values.iter().max().expect("a value"));
    Interval::new(*least, *most)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 {
        a.abs()
    } else {
        gcd(b, a % b)
    }
}

fn bounds_of(arena: &mut Arena, e: Expr, bounds: &[Interval]) -> Interval {
    range_on_box(arena, &mut Scratch::default(), e, bounds.to_vec())
}

fn assert_exact(arena: &mut Arena, e: Expr, bounds: &[Interval], what: &str) {
    let least = hull(&values(arena, e, bounds));
    assert_eq!(bounds_of(arena, e, bounds), least, "{what} on {bounds:?}");
}

const BOXES: [[(i64, i64); 2]; 8] = [
    [(0, 5), (0, 3)],
    [(0, 0), (0, 4)],
    [(-3, 2), (1, 4)],
    [(2, 7), (-5, -1)],
    [(-6, -2), (-4, 1)],
    [(1, 1), (3, 3)],
    [(0, 1), (0, 11)],
    [(-1, 0), (-2, 2)],
];

/// `a * x + b * y + c` for small coefficients.
fn linear(arena: &mut Arena, [a, b, c]: [i64; 3]) -> Expr {
    let terms = [Term::new(a, arena.variable(0)), Term::new(b, arena.variable(1))];
    arena.sum(c, &terms).expect("small")
}

fn forms() -> impl Iterator<Item = [i64; 3]> {
    let coefficients = [0, 1, -1, 2, -3, 4, 6];
    coefficients.into_iter().flat_map(move |a| {
        coefficients.into_iter().flat_map(move |b| [0, 1, -5].into_iter().map(move |c| [a, b, c]))
    })
}

#[test]
fn bounds_of_sums_of_quotients_and_remainders_of_variables_are_exact() {
    let mut arena = Arena::new();
    for bounds in BOXES.map(|b| b.map(interval)) {
        for (m, n) in [(2, 3), (3, 2), (4, 6), (7, 2), (2, 12)] {
            for (a, b) in [(1, 1), (1, -1), (-2, 3), (4, -5)] {
                for x in [0, 1] {
                    arena.clear();
                    let variables = [arena.variable(x), arena.variable(1)];
                    let quotient = arena.floordiv_constant(variables[0], m).expect("small");
                    let of_quotient = arena.modulo_constant(quotient, n).expect("small");
                    let remainder = arena.modulo_constant(variables[1], n).expect("small");
                    let of_remainder = arena.floordiv_constant(remainder, m).expect("small");
                    for (i, left) in [quotient, of_quotient].into_iter().enumerate() {
                        for (k, right) in [remainder, of_remainder].into_iter().enumerate() {
                            let sum =
                                arena.sum(-3, &[Term::new(a, left), Term::new(b, right)]).expect("small");
                            assert_exact(&mut arena, sum, &bounds, &format!("{a} {b} {x} {i} {k}"));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn bounds_of_linear_forms_their_quotients_and_extrema_are_exact() {
    let mut arena = Arena::new();
    for bounds in BOXES.map(|b| b.map(interval)) {
        for form in forms() {
            arena.clear();
            let e = linear(&mut arena, form);
            assert_exact(&mut arena, e, &bounds, &format!("{form:?}"));
            for m in [2, 3, 4, 5] {
                let q = arena.floordiv_constant(e, m).expect("small");
                assert_exact(&mut arena, q, &bounds, &format!("{form:?} floordiv {m}"));
            }
            for c in [-7, -1, 0, 3, 8] {
                let c = arena.constant(c);
                let (least, most) = (arena.min(e, c).expect("small"), arena.max(e, c).expect("small"));
                assert_exact(&mut arena, least, &bounds, &format!("min({form:?}, {c:?})"));
                assert_exact(&mut arena, most, &bounds, &format!("max({form:?}, {c:?})"));
            }
        }
    }
}

/// `x mod 8 + 8 * (x floordiv 4) + 2 * x` is no multiple of 3: the quotient is by another number than the remainder.
#[test]
fn a_remainder_and_a_quotient_by_another_number_have_no_congruence() {
    let mut arena = Arena::new();
    for (m, k, divisor) in [(8, 4, 3), (4, 8, 3), (6, 2, 5), (6, 3, 7)] {
        for bounds in BOXES.map(|b| b.map(interval)) {
            arena.clear();
            let x = arena.variable(0);
            let remainder = arena.modulo_constant(x, m).expect("small");
            let quotient = arena.floordiv_constant(x, k).expect("small");
            let terms = [Term::new(1, remainder), Term::new(m, quotient), Term::new(divisor - 1, x)];
            let sum = arena.sum(0, &terms).expect("small");
            for e in [sum, arena.modulo_constant(sum, divisor).expect("small")] {
                let least = hull(&values(&mut arena, e, &bounds));
                let actual = bounds_of(&mut arena, e, &bounds);
                assert!(actual.covers(least), "{m} {k} on {bounds:?}: {actual:?}, not {least:?}");
            }
        }
    }
}

/// What a remainder's bounds can be told from: the dividend's ends, where they lie in one period, and its residue modulo
/// the steps of its terms.
#[test]
fn bounds_of_remainders_follow_ends_and_residues() {
    let mut arena = Arena::new();
    for bounds in BOXES.map(|b| b.map(interval)) {
        for form in forms() {
            for m in 2..=9 {
                arena.clear();
                let e = linear(&mut arena, form);
                let rest = arena.modulo_constant(e, m).expect("small");
                let dividends = values(&mut arena, e, &bounds);
                let ends = hull(&dividends);
                let step = dividends.iter().fold(m, |g, v| gcd(g, v - dividends[0]));
                let residue = dividends[0].rem_euclid(step);
                let expected = match ends.lower.div_euclid(m) == ends.upper.div_euclid(m) {
                    true => Interval::new(ends.lower.rem_euclid(m), ends.upper.rem_euclid(m)),
                    false => Interval::new(residue, m - step + residue),
                };
                let least = hull(&values(&mut arena, rest, &bounds));
                let actual = bounds_of(&mut arena, rest, &bounds);
                assert!(actual.covers(least), "{form:?} mod {m} on {bounds:?}: {actual:?}");
                assert!(
                    expected.covers(actual),
                    "{form:?} mod {m} on {bounds:?}: {actual:?}, not {expected:?}"
                );
            }
        }
    }
}

#[test]
fn bounds_of_products_are_exact() {
    let mut arena = Arena::new();
    for bounds in BOXES.map(|b| b.map(interval)) {
        arena.clear();
        let (x, y) = (arena.variable(0), arena.variable(1));
        for (a, b) in [(1, 1), (2, 3), (-1, 4)] {
            let (p, q) = (arena.scale(x, a).expect("small"), arena.scale(y, b).expect("small"));
            let both = arena.mul(p, q).expect("small");
            assert_exact(&mut arena, both, &bounds, &format!("{a}x * {b}y"));
        }
        let square = arena.mul(x, x).expect("small");
        let least = hull(&values(&mut arena, square, &bounds));
        let range = bounds_of(&mut arena, square, &bounds);
        // The two factors are taken to be independent, but a square is never negative.
        assert!(range.lower >= 0 && range.covers(least), "{range:?}");
        assert_eq!(range.upper, least.upper, "x * x on {bounds:?}");
    }
}

/// `a * x + b * (x floordiv k) + c * (x mod k)` is `(a * k + b) * q + (a + c) * r`: over whole periods, both digits are
/// independent.
#[test]
fn bounds_of_digits_are_exact_over_whole_periods() {
    let mut arena = Arena::new();
    for (k, from, to) in [(2, 0, 3), (3, -2, 1), (4, 1, 2), (5, 0, 1)] {
        let bounds = [Interval::new(from * k, to * k - 1), Interval::new(0, 3)];
        for a in -2..=2 {
            for b in [0, 1, -k, k, -1] {
                for c in -2..=2 {
                    for d in [0, 1, -7] {
                        arena.clear();
                        let (x, y) = (arena.variable(0), arena.variable(1));
                        let (q, r) = (arena.floordiv_constant(x, k), arena.modulo_constant(x, k));
                        let (q, r) = (q.expect("small"), r.expect("small"));
                        let terms = [Term::new(a, x), Term::new(b, q), Term::new(c, r), Term::new(d, y)];
                        let e = arena.sum(1, &terms).expect("small");
                        assert_exact(&mut arena, e, &bounds, &format!("{a} {b} {c} {d} by {k}"));
                    }
                }
            }
        }
    }
}

/// `a * x * y + b * x` is `x * (a * y + b)`: two independent factors, whichever of them stands alone.
#[test]
fn bounds_of_sums_with_a_common_factor_are_exact() {
    let mut arena = Arena::new();
    for bounds in BOXES.map(|b| b.map(interval)) {
        for (a, b, c) in [(1, 1, 0), (1, -2, 3), (-1, 4, 0), (2, -5, 1), (-3, -1, 7)] {
            for own in [0, 1] {
                arena.clear();
                let (x, y) = (arena.variable(0), arena.variable(1));
                let both = arena.mul(x, y).expect("small");
                let e = arena.sum(c, &[Term::new(a, both), Term::new(b, [x, y][own])]).expect("small");
                assert_exact(&mut arena, e, &bounds, &format!("{a} xy + {b} v{own} + {c}"));
                // Beside a product of others.
                let (z, w) = (arena.variable(2), arena.variable(3));
                let other = arena.mul(z, w).expect("small");
                let e = arena.add(e, other).expect("small");
                let bounds = [&bounds[..], &[Interval::new(-1, 2), Interval::new(1, 3)]].concat();
                assert_exact(&mut arena, e, &bounds, &format!("{a} xy + {b} v{own} + {c} + zw"));
            }
        }
    }
}

/// Digits beside what they are of, and those of another variable alone: all is independent over whole periods.
#[test]
fn bounds_and_multiples_of_digits_do_not_depend_on_digits_of_others() {
    let mut arena = Arena::new();
    for (v, k) in [(0, 3), (1, 3), (0, 4), (1, 4)] {
        let mut bounds = [Interval::new(-6, 5), Interval::new(-6, 5)];
        bounds[v] = Interval::new(-k, 3 * k - 1);
        for (a, b, c) in [
            (1, 0, 1),
            (1, -1, 0),
            (1, -2 * k, 0),
            (2, -k, -2),
            (4, 2 * k, 2),
            (1, k, 2),
            (3, 0, -3),
            (1, -k, 3),
        ] {
            for (d, e, constant) in [(0, 0, 2), (2, 0, 0), (3, 2, 6), (6, 4, 1)] {
                arena.clear();
                let (x, y) = (arena.variable(v as u32), arena.variable(1 - v as u32));
                let digits = [(x, k), (y, 2)].map(|(z, k)| {
                    [arena.floordiv_constant(z, k), arena.modulo_constant(z, k)].map(|r| r.expect("small"))
                });
                let [[q, r], [other, rest]] = digits;
                let terms = [(a, x), (b, q), (c, r), (d, other), (e, rest)].map(|(c, t)| Term::new(c, t));
                let sum = arena.sum(constant, &terms).expect("small");
                let what = format!("{a} {b} {c} by {k}, {d} {e} + {constant}");
                assert_exact(&mut arena, sum, &bounds, &what);
                let all = values(&mut arena, sum, &bounds);
                for factor in 2..=12 {
                    let said = is_multiple_of(&mut arena, &mut Scratch::default(), sum, factor);
                    assert_eq!(said, all.iter().all(|v| v % factor == 0), "{what}: a multiple of {factor}");
                }
            }
        }
    }
}

/// Without bounds only the congruence tells what an expression is a multiple of.
#[test]
fn multiples_are_known_from_the_terms() {
    let mut arena = Arena::new();
    let everywhere = [interval((-6, 6)), interval((-6, 6)), interval((-2, 3))];
    let forms = [
        [6, 4, 0],
        [6, 4, 2],
        [6, 9, 3],
        [4, 8, 4],
        [10, 15, 5],
        [6, 10, 1],
        [12, 8, -4],
        [1, 6, 0],
        [5, 0, 0],
    ];
    for form in forms {
        for other in forms {
            arena.clear();
            let (e, f) = (linear(&mut arena, form), linear(&mut arena, other));
            let made = [
                (arena.mul(e, f).expect("small"), "*"),
                (arena.min(e, f).expect("small"), "min"),
                (arena.max(e, f).expect("small"), "max"),
                (arena.modulo_constant(e, 12).expect("small"), "mod 12"),
                (arena.modulo_constant(e, 18).expect("small"), "mod 18"),
                (arena.add(e, f).expect("small"), "+"),
            ];
            for (e, sign) in made {
                let all = values(&mut arena, e, &everywhere);
                for factor in [2, 3, 4, 5, 6, 9, 12, -3] {
                    let said = is_multiple_of(&mut arena, &mut Scratch::default(), e, factor);
                    let is = all.iter().all(|v| v % factor == 0);
                    assert!(is || !said, "{form:?} {sign} {other:?} is no multiple of {factor}");
                    // Two products of sums may have a factor that neither has, as x * (x + 1) is even.
                    if sign != "*" {
                        assert_eq!(said, is, "{form:?} {sign} {other:?} by {factor}");
                    }
                }
            }
            let (p, q) = (content(form), content(other));
            let product = arena.mul(e, f).expect("small");
            assert!(is_multiple_of(&mut arena, &mut Scratch::default(), product, p * q));
        }
    }
}

fn content(form: [i64; 3]) -> i64 {
    form.into_iter().fold(0, gcd)
}

/// Congruences that constraints state move bounds inwards, to the values that have the residue.
#[test]
fn residues_tighten_bounds() {
    for m in 2..=6 {
        for r in 0..m {
            for (from, to) in [(-9, 9), (0, 13), (-13, -1), (3, 3 + m), (0, 40)] {
                let kept: Vec<i64> = (from..=to).filter(|x| x % m == r || x % m == r - m).collect();
                let mut arena = Arena::new();
                let x = arena.variable(0);
                let rest = arena.modulo_constant(x, m).expect("small");
                let map = MapBuilder {
                    intervals: vec![Interval::new(from, to)],
                    names: Names::default(),
                    num_dims: 1,
                    constraints: vec![(rest, Interval::point(r))],
                    ..MapBuilder::default()
                };
                for (factor, c) in [(1, 0), (3, 1), (-2, 5)] {
                    let e = arena.affine(x, factor, c).expect("small");
                    let all: Vec<i64> = kept.iter().map(|x| factor * x + c).collect();
                    let actual = range_of(&mut arena, &mut Scratch::default(), &map, e);
                    let expected = if all.is_empty() { Interval::EMPTY } else { hull(&all) };
                    assert_eq!(actual, expected, "{factor}x + {c}, x = {r} mod {m} in [{from}, {to}]");
                }
            }
        }
    }
}

/// An end that is open stays open, and no sum wraps around: the ends of sums of `x` and `y` in 128 bits.
#[test]
fn ends_of_int64_are_never_left() {
    let ends = [LOW, LOW + 1, LOW / 2, -(1 << 40), -7, 0, 7, 1 << 40, HIGH / 2, HIGH - 1, HIGH];
    let pairs = ends.iter().flat_map(|a| ends.iter().map(|b| Interval::new(*a, *b)));
    // A point is a number, also where it stands for "unbounded" as an end.
    let boxes: Vec<Interval> =
        pairs.filter(|i| i.lower < i.upper || i.is_bounded() && i.is_point()).collect();
    let mut arena = Arena::new();
    for x in &boxes {
        for y in
            [Interval::new(0, 0), Interval::new(-3, 5), Interval::new(LOW + 1, 0), Interval::new(0, HIGH - 1)]
        {
            for (a, b) in [(1, 0), (-1, 0), (2, 1), (-2, 1), (4, 1), (1, 1), (1, -1), (1 << 40, 1)] {
                for c in [0, 5, -5, HIGH - 9, LOW + 9] {
                    arena.clear();
                    let form = [a, b, c];
                    let e = linear(&mut arena, form);
                    let actual = bounds_of(&mut arena, e, &[*x, y]);
                    check_ends(actual, form, [*x, y]);
                }
            }
        }
    }
}

/// The lower and the upper end of `a * x`, without those that are open.
fn scaled(a: i64, x: Interval) -> [Option<i128>; 2] {
    let lower = Some(x.lower).filter(|e| *e != LOW).map(|e| i128::from(e) * i128::from(a));
    let upper = Some(x.upper).filter(|e| *e != HIGH).map(|e| i128::from(e) * i128::from(a));
    match a {
        0 => [Some(0), Some(0)],
        1.. => [lower, upper],
        _ => [upper, lower],
    }
}

fn check_ends(actual: Interval, [a, b, c]: [i64; 3], [x, y]: [Interval; 2]) {
    let (p, q) = (scaled(a, x), scaled(b, y));
    let inside = |v: i128| i128::from(LOW) < v && v < i128::from(HIGH);
    let what = format!("{a}x + {b}y + {c}, x in {x:?}, y in {y:?}: {actual:?}");
    for (k, end) in [actual.lower, actual.upper].into_iter().enumerate() {
        let exact = p[k].zip(q[k]).map(|(p, q)| (p, q, p + q + i128::from(c)));
        let open = if k == 0 { LOW } else { HIGH };
        match exact {
            // In whatever order they are added, nothing leaves int64.
            Some((p, q, sum))
                if [p, q, p + q, p + i128::from(c), q + i128::from(c), sum].into_iter().all(inside) =>
            {
                assert_eq!(i128::from(end), sum, "{what}");
            }
            Some((_, _, sum)) if k == 0 => {
                assert!(i128::from(end) <= sum.clamp(i128::from(LOW), i128::from(HIGH)), "{what}");
            }
            Some((_, _, sum)) => {
                assert!(i128::from(end) >= sum.clamp(i128::from(LOW), i128::from(HIGH)), "{what}");
            }
            None => assert_eq!(end, open, "{what}"),
        }
    }
}

/// A product is a multiple of what its factors are multiples of, by constraints as well.
#[test]
fn products_of_multiples_are_multiples() {
    for (m, n) in [(2, 3), (4, 2), (5, 5), (6, 4)] {
        let mut arena = Arena::new();
        let (x, y) = (arena.variable(0), arena.variable(1));
        let zero = Interval::point(0);
        let constraints = vec![
            (arena.modulo_constant(x, m).expect("small"), zero),
            (arena.modulo_constant(y, n).expect("small"), zero),
        ];
        let map = MapBuilder {
            intervals: vec![Interval::new(-50, 50), Interval::new(-60, 60)],
            names: Names::default(),
            num_dims: 2,
            constraints,
            ..MapBuilder::default()
        };
        let product = arena.mul(x, y).expect("small");
        let shifted = arena.offset(product, 1).expect("small");
        for (e, rest) in [(product, 0), (shifted, 1)] {
            let e = arena.modulo_constant(e, m * n).expect("small");
            let actual = range_of(&mut arena, &mut Scratch::default(), &map, e);
            assert_eq!(actual, Interval::point(rest), "{m} and {n}");
        }
    }
}
