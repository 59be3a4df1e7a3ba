//! Maps: text both ways, places of errors, composition, counting; expectations from the definitions.

mod enumeration;

use enumeration::read;
use indexing_core::{
    compose, compose_simplified, count, from_tensor_sizes, image_count, inverse, is_bijection_onto,
    read_indexing_map, simplify, write_indexing_map, Arena, ErrorKind, IndexingMap, MapKind, PointVariables,
    ReadScratch, Scratch, Style, MAX_TEXT_LENGTH,
};

#[test]
fn what_is_printed_is_read_as_the_same_map() {
    let (mut arena, mut reading) = (Arena::new(), ReadScratch::default());
    for source in [
        "(d0, d1)[s0]{rt0} -> (d0 * 8 + s0, d1 floordiv 4 + rt0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 7], rt0 in [0, 4]",
        "(th_x)[vector_index] -> ((th_x + 13) floordiv 10, th_x ceildiv 8), domain: th_x in [0, 9], vector_index in [0, 1]",
        "(d0, d1) -> ((d0 + d1) * 4, (d0 + d1) * 4 + (d0 + d1) mod 3), domain: d0 in [0, 9], d1 in [0, 9], (d0 + d1) mod 3 in [0, 1]",
        "(d0, d1) -> (min(min(d0 + d1, d0), d1)), domain: d0 in [0, 9], d1 in [0, 9]",
        "() -> ()",
        "KNOWN EMPTY",
        "UNDEFINED",
    ] {
        // One reader for all texts: nothing of one may reach another.
        arena.clear();
        let map = read_indexing_map(source, &mut arena, &mut reading).expect(source);
        assert_eq!(read(&map.to_string()), map);
        assert_eq!(read(&write_indexing_map(&map, Style::Xla).expect("a short text")), map);
    }
}

/// Texts that are written as most are take short cuts; more white space takes them away.
#[test]
fn white_space_does_not_matter() {
    for usual in [
        "(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10)[s0] -> (d10 + d9 * 3 - s0, d1), domain: d0 in [0, 0], d1 in [0, 12345], \
         d2 in [-5, 7], d3 in [2, 3], d4 in [0, 999999999999999999], d5 in [0, 9223372036854775807], d6 in [0, 100000], \
         d7 in [-9223372036854775808, 0], d8 in [0, 1], d9 in [0, 2], d10 in [0, 3], s0 in [0, 4], d9 + d10 in [1, 4]",
        "(d0, d1)[s0, s1]{rt0} -> ((d0 * 4 + d1) floordiv 3 mod 5 * 2 - rt0, ((d0 + 1) mod 4 + d1) floordiv 2, 0, s1), \
         domain: d0 in [0, 9], d1 in [0, 3], s0 in [0, 0], s1 in [3, 3], rt0 in [0, 7], (d0 * 4 + d1) mod 6 in [1, 2]",
        "(th_x, d1)[s0] -> (th_x * 0 + 7 floordiv 2 - d1 * 3 * 2 + 5 - (s0 - 1) * 4, 3 * d1, -(th_x + 1) mod 2, th_x), \
         domain: th_x in [0, 9], d1 in [0, 3], s0 in [0, 7], d1 in [1, 9]",
        "(d1, d0) -> (d1, d0 + d1), domain: d0 in [0, 9], d1 in [0, 3], d0 in [4, 12]",
        "(d0) -> (min(d0, 3) + 1, (min((d0 + 1) * 2, 5)) floordiv 2), domain: d0 in [0, 9]",
    ] {
        assert_eq!(read(&usual.replace(' ', "  ")), read(usual), "{usual}");
    }
    for wrong in [
        "(d0) -> (d0 * 9223372036854775807 * 2), domain: d0 in [0, 9]",
        "(d0) -> ((d0 + 1) floordiv 0 + 3), domain: d0 in [0, 9]",
        "(d0) -> (d0 * 99999999999999999999), domain: d0 in [0, 9]",
        "(d0) -> (d0 + 4x), domain: d0 in [0, 9]",
        "(d0, d1) -> (d0), domain: d0 in [0, 9]",
        "(d0) -> (d0), domain: d0 in [0, 9] d0",
        "(d0) -> (d00), domain: d0 in [0, 9]",
    ] {
        let message = |text: &str| {
            let outcome = read_indexing_map(text, &mut Arena::new(), &mut ReadScratch::default());
            outcome.expect_err(text).message().to_owned()
        };
        assert_eq!(message(&wrong.replace(' ', "  ")), message(wrong), "{wrong}");
    }
}

#[test]
fn parts_that_begin_alike_are_not_taken_for_each_other() {
    let map = read(
        "(d0, d1) -> ((d0 + d1 * 2) * 3 + d1, ((d0 + d1 * 2) * 3 + d1) * 2, d0 + d1 * 2, d0 + d1 * 21, (d0 + d1 * 2) mod 5), \
         domain: d0 in [0, 3], d1 in [0, 3], d0 + d1 * 2 in [0, 8]",
    );
    let values = map.dag().evaluate_first(5, &[2, 3], &mut Vec::new()).expect("small numbers");
    assert_eq!(values, [27, 54, 8, 65, 3]);
}

#[test]
fn spelling_does_not_matter() {
    for (usual, other) in [
        (
            "(d0, d1)[s0] -> (d0 * 8 - d1 + 3, s0, 7), domain: d0 in [0, 9], d1 in [-1, 5], s0 in [0, 1], d0 - d1 in [0, 9]",
            "( d0,d1 )[s0]->(3+8*d0-1*d1\t,(s0),7*1-0),domain:s0 in[0,1],\nd1  in [ - 1,005], d0 in [0,9],-d1+d0 in [0,9],",
        ),
        (
            "(th_x, a_longer_name, d5) -> (th_x * 4 + a_longer_name, d5), domain: th_x in [0, 9], a_longer_name in [0, 5], d5 in [2, 3]",
            "(th_x, a_longer_name, d5) -> (a_longer_name + 4 * th_x, d5 * 1), domain: d5 in [2, 9], th_x in [0, 9], \
             a_longer_name in [0, 5], d5 in [0, 3]",
        ),
        (
            "(d0, d1) -> ((d0 + d1 * 2) mod 5 + d0 * 3, (d0 * 2 + d1 * 4) floordiv 10), domain: d0 in [0, 9], d1 in [0, 5]",
            "(d0, d1) -> (d0 * 0 + (d1 * 2 + d0) % 5 + d0 + d0 + d0, (d0 + d1 * 2) / 5), domain: d0 in [0, 9], d1 in [0, 5]",
        ),
    ] {
        assert_eq!(read(usual), read(other), "{usual}");
    }
}

#[test]
fn errors_stand_where_they_are() {
    for (source, offset) in [
        ("(d0 -> (d0)", 4),
        ("(d0) -> (d0 + ), domain: d0 in [0, 1]", 14),
        ("", 0),
        // A sum that was read before ends where its last name does.
        ("(d0, d1) -> (d0 * 12 + d1), domain: d0 in [0, 1], d1 in [0, 1], d0 * 12 + d1in [0, 9]", 74),
    ] {
        let error =
            read_indexing_map(source, &mut Arena::new(), &mut ReadScratch::default()).expect_err(source);
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Parse, Some(offset)), "{source}");
    }
}

#[test]
fn range_variables_of_the_second_map_come_first() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    let first = read("(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 9], s0 in [0, 7], rt0 in [0, 1]");
    let second = read(
        "(d0, d1)[s0]{rt0} -> (d0 * 2 + s0, d1 + rt0), domain: d0 in [0, 9], d1 in [0, 5], s0 in [0, 1], rt0 in [0, 3]",
    );
    let composed = compose(&mut arena, &first, &second).expect("two results, two dimensions");
    let expected =
        "(d0)[s0, s1]{rt0, rt1} -> ((d0 + rt1) * 2 + s0, rt0 + s1), domain: d0 in [0, 9], s0 in [0, 1], \
                    s1 in [0, 5], rt0 in [0, 3], rt1 in [0, 1], d0 + rt1 in [0, 9]";
    assert_eq!(composed, read(expected));
    arena.clear();
    let at_once = compose_simplified(&mut arena, &mut scratch, &first, &second).expect("as before");
    arena.clear();
    assert_eq!(
        simplify(&mut arena, &mut scratch, &composed, PointVariables::Replace).expect("small"),
        at_once
    );
    arena.clear();
    let empty = IndexingMap::known_empty(&mut arena);
    assert_eq!(compose(&mut arena, &first, &empty).expect("any map").kind(), MapKind::KnownEmpty);
}

#[test]
fn large_domains_are_counted_and_inverted() {
    let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
    let map = read("(d0, d1) -> (d0 * 1000000 + d1), domain: d0 in [0, 999999], d1 in [0, 999999]");
    let total = |factors: Vec<u128>| factors.iter().product::<u128>();
    assert_eq!(total(count(&mut arena, &mut scratch, &map).expect("a box")), 1_000_000_000_000);
    arena.clear();
    assert_eq!(total(image_count(&mut arena, &mut scratch, &map).expect("digits")), 1_000_000_000_000);
    arena.clear();
    assert!(is_bijection_onto(&mut arena, &mut scratch, &map, &[1_000_000_000_000]).expect("digits"));
    arena.clear();
    let back = inverse(&mut arena, &mut scratch, &map).expect("digits");
    assert_eq!(
        back.to_string(),
        "(d0) -> (d0 floordiv 1000000, d0 mod 1000000), domain: d0 in [0, 999999999999]"
    );
}

#[test]
fn maps_are_parsed_and_displayed_as_values() {
    for text in ["(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 3]", "KNOWN EMPTY", "UNDEFINED"]
    {
        let map: IndexingMap = text.parse().expect(text);
        assert_eq!(map.to_string(), text);
    }
    assert_eq!("(d0) -> (d1)".parse::<IndexingMap>().map_err(|e| e.kind()), Err(ErrorKind::Parse));
    // A text that doubles with each level is cut short.
    let (mut arena, mut e) = (Arena::new(), None);
    for level in 0..40 {
        let (x, y) = (arena.variable(0), arena.variable(1));
        let inner = e.unwrap_or(x);
        let high = arena.floordiv_constant(inner, 3 + level).expect("a quotient");
        let product = arena.mul(high, inner).expect("a product");
        e = Some(arena.add(product, y).expect("a sum"));
    }
    let map = from_tensor_sizes(e.into_iter().collect(), &[2, 2], &[]).and_then(|m| m.build(&mut arena));
    let shown = map.expect("a map").to_string();
    assert!(shown.ends_with("...") && shown.len() <= MAX_TEXT_LENGTH + 3, "{}", shown.len());
}
