//! What is simplified is settled: simplified again it stays, and a domain without points is found at once.

mod enumeration;

use enumeration::read;
use indexing_core::{
    simplify, Arena, DomainSimplifier, IndexingMap, Interval, MapKind, PointVariables, Scratch,
};

fn simplified(map: &IndexingMap) -> IndexingMap {
    simplify(&mut Arena::new(), &mut Scratch::default(), map, PointVariables::Replace).expect("small numbers")
}

#[test]
fn simplifying_again_changes_nothing() {
    for source in [
        // The equal variable can be written for the other only once the coefficients have become smaller.
        "(d0, d1) -> ((d0 + d1) * 4611686018427387904 - d0 ceildiv 3), domain: d0 in [0, 1], d1 in [0, 1], d1 - d0 in [0, 0]",
        // A rule that asks for the form of what it is asked about.
        "(d0, d1) -> (min(d0 + d1 * 4, 8) floordiv 3 - ((min(d0 + d1 * 4, 8) mod 3) * 2 + 1) floordiv 3), \
         domain: d0 in [0, 1], d1 in [0, 2], (-d0) mod 4 in [3, 3]",
        // What a law of constraints makes has a form of its own.
        "(d0, d1, d2) -> (), domain: d0 in [0, 0], d1 in [0, 7], d2 in [9223372036854775804, 9223372036854775806], \
         d1 - d0 in [0, 0], (d2 floordiv 3) mod 3 + (((d1 + d2 * 48) floordiv 7) mod 2) * 3 in [1, 1]",
        "(d0, d1) -> (), domain: d0 in [0, 0], d1 in [9223372036854775805, 9223372036854775806], \
         d0 + ((d0 + d1) mod 2) * 2 in [0, 0]",
        // Bounds that come nearer to each other for longer than anyone waits.
        "(d0, d1) -> (), domain: d0 in [0, 1000000], d1 in [0, 1000000], d0 - max(d0, d1) in [-2, -1], d1 - max(d0, d1) in [-2, -1]",
        // Of two congruences that become one, the other is settled before.
        "(d0, d1) -> (), domain: d0 in [-9, 9], d1 in [-9, 9], d0 mod 6 in [5, 5], d0 - d1 in [0, 0], (d1 + 6) mod 4 in [3, 3]",
        // Divisors that are not 0 by constraints that no longer say so once they are tightened.
        "(d0, d1, d2) -> (7 floordiv (d2 - d0)), domain: d0 in [0, 3], d1 in [3, 8], d2 in [-3, 2], \
         ((((max(min(d0 * 2 + d1 * 8 + d2 * 48 - 4, 107), -4) floordiv 7) mod 6) * 4 + max(min(d0 * 2 + d1 * 8 + d2 * 48 - 4, 107), -4) \
         floordiv 288) * 8 + (max(min(d0 * 2 + d1 * 8 + d2 * 48 - 4, 107), -4) mod 48) floordiv 12) in [1, 1]",
        "(d0, d1) -> (), domain: d0 in [-9223372036854775808, 1000000000], d1 in [-2147483647, 2147483647], \
         (max(min(d0 * 2 + d1 * 2048, 1495669), -2) floordiv 6 + max(min(d0 * 2 + d1 * 2048, 1495669), -2) floordiv 2) * 2 + \
         (max(min(d0 * 2 + d1 * 2048, 1495669), -2) mod 14) floordiv 7 in [1, 1], min((-3) ceildiv d1, d1 floordiv 32) in [-9, 1]",
    ] {
        let once = simplified(&read(source));
        assert_eq!(simplified(&once).to_string(), once.to_string(), "{source}");
    }
}

/// The bounds, and how many constraints are left, of the map's domain with its constraints in another order.
fn simplified_in_order(map: &IndexingMap, is_reversed: bool) -> (Vec<Interval>, usize) {
    let mut arena = Arena::new();
    let mut built = map.to_builder(&mut arena);
    if is_reversed {
        built.constraints.reverse();
    }
    let (bounds, constraints) = (built.intervals, built.constraints);
    let mut domain = DomainSimplifier { bounds, constraints, ..DomainSimplifier::default() };
    domain.simplify(&mut arena, &mut Scratch::default());
    (domain.bounds, domain.constraints.len())
}

#[test]
fn the_order_of_constraints_does_not_matter() {
    // Whether they imply that a divisor is not 0 is decided within a limit of work.
    let map = read(
        "(d0) -> (), domain: d0 in [0, 1099511627776], min((d0 floordiv 12) mod (d0 mod 3), d0) in [-4, 6], \
         ((((d0 * 3) mod 14) floordiv 7) * 2 + ((d0 * 3) floordiv 16) mod 6) * 3 + (d0 * 3) floordiv 12 in [1, 1]",
    );
    assert_eq!(simplified_in_order(&map, true), simplified_in_order(&map, false));
}

#[test]
fn domains_without_points_are_found_at_once() {
    for source in [
        // Bounds that come nearer to each other by one a round.
        "(d0, d1) -> (), domain: d0 in [0, 6], d1 in [0, 7], d1 - d0 in [0, 0], max(d0, d1) - d1 in [1, 1]",
        "(d0, d1) -> (), domain: d0 in [-4, 1], d1 in [-4, 4], d1 * 33 - max(d0, d1) * 35 in [-5, -5]",
        // A divisor that is 0 everywhere, though its condition follows from the constraint that divides by it.
        "(d0, d1) -> (), domain: d0 in [0, 5], d1 in [0, 4], max((d1 ceildiv 57) ceildiv d0, d0 * 100) in [2, 42]",
    ] {
        assert_eq!(simplified(&read(source)).kind(), MapKind::KnownEmpty, "{source}");
    }
}

#[test]
fn residues_join_at_once() {
    // 59 is -1 modulo 12, and x mod 6 - x is a multiple of the quotient.
    for (source, expected) in [
        ("(d0) -> ((d0 mod 6 + d0 * 59) mod 12), domain: d0 in [0, 99]", "((d0 floordiv 6) mod 2) * 6"),
        ("(d0) -> ((d0 mod 6 - d0) mod 12), domain: d0 in [0, 99]", "((d0 floordiv 6) mod 2) * 6"),
    ] {
        let map = read(source);
        assert!(map.to_string().contains(&format!("({expected})")), "{map}");
        assert_eq!(read(&map.to_string()), map);
    }
}
