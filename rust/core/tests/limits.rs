//! Searches that end at a size: at that size the law is still applied, and sums far beyond it stay as they are.

mod enumeration;

use enumeration::{read, results_of};
use indexing_core::{
    is_injective, simplify, simplify_expr, Arena, ErrorKind, Expr, IndexingMap, Interval, MapBuilder,
    PointVariables, Scratch, Term,
};

/// The simplified results of a map, as text.
fn simplified(result: &str, domain: &str, variables: usize) -> String {
    let names: Vec<String> = (0..variables).map(|v| format!("d{v}")).collect();
    let source = format!("({}) -> ({result}), domain: {domain}", names.join(", "));
    let map = read(&source);
    let simple = simplify(&mut Arena::new(), &mut Scratch::default(), &map, PointVariables::Replace);
    let text = simple.expect(&source).to_string();
    results_of(&text).to_owned()
}

/// A box for `variables` variables.
fn wide(variables: usize) -> String {
    (0..variables).map(|v| format!("d{v} in [0, 99]")).collect::<Vec<_>>().join(", ")
}

/// `core`, and variables from `d3` on until there are so many terms.
fn with_terms(core: &str, own: usize, terms: usize) -> (String, usize) {
    let others: String = (0..terms - own).map(|k| format!(" + d{}", k + 3)).collect();
    (format!("{core}{others}"), 3 + terms - own)
}

fn of_sum(core: &str, own: usize, terms: usize) -> String {
    let (e, variables) = with_terms(core, own, terms);
    simplified(&e, &wide(variables), variables)
}

#[test]
fn quotients_that_differ_join_in_sums_of_32_terms() {
    let core = "(d0 + d1) floordiv 4 - d0 floordiv 4";
    for (terms, joins) in [(2, true), (31, true), (32, true), (33, false), (34, false)] {
        assert_eq!(of_sum(core, 2, terms).contains("d0 mod 4"), joins, "{terms} terms");
    }
}

#[test]
fn mirrored_remainders_are_found_in_sums_of_32_terms() {
    for (terms, applied) in [(1, true), (31, true), (32, true), (33, false), (34, false)] {
        let text = of_sum("2 - (d0 * 3 + d1 + 2) mod 3", 1, terms);
        assert_eq!(!text.contains(" - "), applied, "{terms} terms: {text}");
    }
}

#[test]
fn products_are_factored_in_sums_of_32_terms() {
    for (terms, applied) in [(2, true), (31, true), (32, true), (33, false), (34, false)] {
        let text = of_sum("d0 * d1 + d0 * d2", 2, terms);
        assert_eq!(text.contains("(d1 + d2)"), applied, "{terms} terms: {text}");
    }
}

#[test]
fn laws_of_sums_are_tried_on_64_terms() {
    for (terms, applied) in [(2, true), (63, true), (64, true), (65, false), (66, false)] {
        let text = of_sum("d0 - (d0 floordiv 4) * 4", 2, terms);
        assert_eq!(text.contains("d0 mod 4"), applied, "{terms} terms: {text}");
    }
}

/// `x + 8 * (x floordiv 4) = 3 * x - 2 * (x mod 4)`, and so on: digits are spelled otherwise in sums of 24 terms.
#[test]
fn digits_are_spelled_otherwise_in_sums_of_24_terms() {
    for (terms, applied) in [(2, true), (23, true), (24, true), (25, false), (26, false)] {
        let text = of_sum("d0 * 2 + d0 floordiv 2", 2, terms);
        assert_eq!(text.contains("(d0 * 5) floordiv 2"), applied, "{terms} terms: {text}");
    }
}

/// The same inside of any number of operators, one around the other.
#[test]
fn digits_are_spelled_otherwise_at_any_depth() {
    for nesting in [1, 2, 7, 30] {
        let around = |inner, k| format!("{}({inner}, d{})", ["max", "min"][k % 2], k + 1);
        let e = (0..nesting).fold("d0 * 2 + d0 floordiv 2".to_owned(), around);
        let text = simplified(&e, &wide(nesting + 1), nesting + 1);
        assert!(text.contains("(d0 * 5) floordiv 2"), "within {nesting}: {text}");
    }
}

/// The arguments of a minimum are compared pair by pair up to 24: of `d0` and `d0 + d1`, the second is idle.
#[test]
fn arguments_are_compared_pair_by_pair_up_to_24() {
    for (arguments, applied) in [(3, true), (23, true), (24, true), (25, false), (26, false)] {
        let others: String = (2..arguments).map(|k| format!(", d{} * 3 - 100", k + 1)).collect();
        let text = simplified(&format!("min(d0, d0 + d1{others})"), &wide(arguments + 1), arguments + 1);
        assert_eq!(!text.contains("d0 + d1,"), applied, "{arguments} arguments: {text}");
    }
}

/// `(1000 * x + 1000) floordiv 2001` rises at 2, 4, 6, and so on, for a thousand times: where it rises 64 times it is
/// compared with `x floordiv 2`, which does alike.
#[test]
fn steps_of_a_quotient_are_compared_up_to_64() {
    for (last, applied) in [(9, true), (127, true), (129, true), (130, false), (133, false)] {
        let text = simplified("(d0 * 1000 + 1000) floordiv 2001", &format!("d0 in [0, {last}]"), 1);
        assert_eq!(text == "d0 floordiv 2", applied, "up to {last}: {text}");
    }
}

#[test]
fn open_terms_are_bounded_by_the_others_in_sums_of_16_terms() {
    for (terms, bounded) in [(2, true), (15, true), (16, true), (17, false), (18, false)] {
        let sum = (0..terms).map(|k| format!("d{k}")).collect::<Vec<_>>().join(" + ");
        let others: String = (1..terms).map(|k| format!("d{k} in [0, 1], ")).collect();
        let domain = format!("d0 in [{}, {}], {others}{sum} in [0, 3]", i64::MIN, i64::MAX);
        let text = simplified("max(d0, 50)", &domain, terms);
        assert_eq!(text == "50", bounded, "{terms} terms: {text}");
    }
}

#[test]
fn terms_of_two_values_are_bounded_beside_open_ones() {
    let domain =
        |least: i64| format!("d0 in [{}, 5], d1 in [0, 1], d0 + d1 in [{least}, {}]", i64::MIN, i64::MAX);
    assert_eq!(simplified("d1", &domain(6), 2), "1");
    assert_eq!(simplified("d1", &domain(5), 2), "d1");
}

#[test]
fn constraints_on_one_expression_meet_however_many_there_are() {
    for pairs in [2, 16, 17, 18, 20] {
        let names: Vec<String> = (0..2 * pairs).map(|v| format!("d{v}")).collect();
        let products = names.chunks(2).map(|p| format!("{} * {} in [1, 3]", p[0], p[1]));
        let again = names.chunks(2).map(|p| format!("{} * {} in [2, 5]", p[0], p[1]));
        let constraints: Vec<String> = products.chain(again).collect();
        let domain = format!("{}, {}", wide(2 * pairs), constraints.join(", "));
        let source = format!("({}) -> (d0), domain: {domain}", names.join(", "));
        let map = read(&source);
        let simple = simplify(&mut Arena::new(), &mut Scratch::default(), &map, PointVariables::Replace);
        let text = simple.expect(&source).to_string();
        assert_eq!(text.matches(" * ").count(), pairs, "{text}");
    }
}

/// Of 18 other remainders, and of one: `[0, 5]` and `[5, 9]` leave one value.
#[test]
fn remainders_that_become_one_meet_however_many_there_are() {
    for last in [2, 19] {
        let others: String = (2..=last).map(|k| format!(", (d0 + d1 * {k}) mod 50 in [1, 40]")).collect();
        let pair = "(d0 + d1 * 20) mod 50 in [0, 5], (d0 + d1 * 20 + d2 - 7) mod 50 in [5, 9]";
        let domain = format!("d0 in [0, 60], d1 in [0, 60], d2 in [7, 7]{others}, {pair}");
        assert_eq!(simplified("(d0 + d1 * 20) mod 50", &domain, 3), "5", "up to {last}");
    }
}

/// Bounds beyond int64 are no narrow ones: of this domain nothing is concluded from its low terms.
#[test]
fn low_terms_that_leave_int64_do_not_leave_a_constraint() {
    let domain = "d0 in [4611686018427387900, 4611686018427387907], d1 in [0, 9223372036854775806], \
                  d0 * 96 - d1 * 8 + (d0 * 4 - d1 * 3) mod 8 in [-19, -10]";
    assert_eq!(simplified("d0", domain, 2), "d0");
}

/// Congruences whose moduli have no common multiple in int64 stay beside each other.
#[test]
fn congruences_that_cannot_be_joined_are_kept() {
    let (m, n) = (1i64 << 40, (1i64 << 40) - 1);
    let source = format!(
        "(d0) -> (d0), domain: d0 in [0, {}], d0 mod {m} in [1, 1], d0 mod {n} in [1, 1]",
        1i64 << 60
    );
    let map = read(&source);
    let simple = simplify(&mut Arena::new(), &mut Scratch::default(), &map, PointVariables::Replace)
        .expect("within int64");
    let domain = simple.domain(&mut Arena::new());
    for (x, inside) in [(1, true), (0, false), (m + 1, false), (n + 1, false)] {
        assert_eq!(domain.contains(&[x], &mut Vec::new()).expect("within int64"), inside, "{x}");
    }
}

/// Sums of remainders of sums of remainders: written out as a tree, the expression has 60^6 terms.
fn nested_sums(arena: &mut Arena) -> Expr {
    let [x, y] = [0, 1].map(|v| arena.variable(v));
    let mut e = arena.mul(x, y).expect("a product");
    for _ in 0..6 {
        let remainder = |k| {
            let divisor = arena.constant(1000 + 7 * k);
            Term::new(1, arena.modulo(e, divisor).expect("a remainder"))
        };
        let terms: Vec<Term> = (0..60i64).map(remainder).collect();
        e = arena.sum(0, &terms).expect("a sum");
    }
    e
}

#[test]
fn operands_that_many_nodes_share_are_rewritten_once() {
    let mut arena = Arena::new();
    let e = nested_sums(&mut arena);
    let before = arena.work();
    let bounds = vec![Interval::new(0, 1_000_000); 2];
    let simple = simplify_expr(&mut arena, &mut Scratch::default(), e, bounds);
    assert!(arena.work() - before < 2_000_000, "{} units of work", arena.work() - before);
    for point in [[0, 0], [123, 456], [999_999, 1_000_000]] {
        let values = arena.evaluate(&[e, simple], &point).expect("within int64");
        assert_eq!(values[0], values[1], "at {point:?}");
    }
}

/// A million points, each of which takes more than twenty thousand steps.
#[test]
fn the_work_at_a_point_grows_with_the_expression() {
    let mut arena = Arena::new();
    let results = vec![nested_sums(&mut arena)];
    let intervals = vec![Interval::new(0, 1000); 2];
    let parts = MapBuilder { intervals, num_dims: 2, results, ..MapBuilder::default() };
    let map = IndexingMap::new(&mut arena, parts).expect("a map");
    let answer = is_injective(&mut arena, &mut Scratch::default(), &map);
    assert_eq!(answer.expect_err("too much work").kind(), ErrorKind::Unsupported);
}
