//! The interface as C calls it: what is answered, what is refused, and that nothing that is passed brings a panic.

use indexing::*;
use indexing_core::{Demand, Device, Prediction};
use std::ffi::{c_char, CStr};
use std::ptr::{null, null_mut};

const TILE: &str = "(d0)[s0] -> (d0 * 4 + s0, d0 floordiv (s0 + 1)), domain: d0 in [0, 9], s0 in [0, 3]";

fn parse(text: &[u8]) -> Result<*mut Map, Status> {
    let mut out = null_mut();
    // SAFETY: the text has that length, and `out` is a place for a pointer.
    match unsafe { indexing_map_parse(text.as_ptr().cast(), text.len(), &mut out) } {
        Status::Ok => Ok(out),
        status => Err(status),
    }
}

fn text(map: *const Map) -> String {
    let mut out: *mut c_char = null_mut();
    // SAFETY: `map` is one of this library, `out` a place; the string is given back once.
    unsafe {
        assert_eq!(indexing_map_text(map, &mut out), Status::Ok);
        let written = CStr::from_ptr(out).to_str().unwrap().to_owned();
        indexing_string_free(out);
        written
    }
}

fn message() -> String {
    // SAFETY: the message lives until the next failure of this thread.
    unsafe { CStr::from_ptr(indexing_last_error()) }.to_str().unwrap().to_owned()
}

#[test]
fn maps_are_read_composed_simplified_and_written() {
    let tile = parse(b"(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 3]").unwrap();
    let split = parse(b"(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 39]").unwrap();
    let (mut composed, mut simple) = (null_mut(), null_mut());
    // SAFETY: maps of this library, each given back once.
    unsafe {
        assert_eq!(indexing_map_compose(tile, split, &mut composed), Status::Ok);
        assert_eq!(indexing_map_simplify(composed, &mut simple), Status::Ok);
        assert_eq!(text(simple), "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 3]");
        assert!(!indexing_map_equal(composed, simple) && indexing_map_equal(simple, simple));
        let counts = (
            indexing_map_num_dims(simple),
            indexing_map_num_variables(simple),
            indexing_map_num_results(simple),
        );
        assert_eq!(counts, (1, 2, 2));
        assert_eq!(indexing_map_compose(split, split, &mut composed), Status::InvalidMap);
        [tile, split, composed, simple].into_iter().for_each(|m| indexing_map_free(m));
    }
}

#[test]
fn bounds_of_variables_are_the_box_around_the_domain() {
    let map = parse(
        b"(d0)[s0]{rt0} -> (d0), domain: d0 in [-3, 9], s0 in [0, 4], rt0 in [1, 1], d0 + s0 in [0, 3]",
    )
    .unwrap();
    let (mut lower, mut upper) = ([0; 3], [0; 3]);
    // SAFETY: a map of three variables; one without any.
    unsafe {
        assert_eq!(indexing_map_bounds(map, lower.as_mut_ptr(), upper.as_mut_ptr()), Status::Ok);
        assert_eq!((lower, upper), ([-3, 0, 1], [9, 4, 1]));
        assert_eq!((indexing_map_num_dims(map), indexing_map_num_ranges(map)), (1, 1));
        assert_eq!(indexing_map_bounds(map, null_mut(), upper.as_mut_ptr()), Status::InvalidArgument);
        assert_eq!(indexing_map_bounds(null(), null_mut(), null_mut()), Status::InvalidArgument);
        let empty = parse(b"KNOWN EMPTY").unwrap();
        assert_eq!(indexing_map_bounds(empty, null_mut(), null_mut()), Status::Ok);
        assert_eq!(indexing_map_num_ranges(null()), 0);
        [map, empty].into_iter().for_each(|m| indexing_map_free(m));
    }
}

#[test]
fn points_are_evaluated_by_columns() {
    let map = parse(TILE.as_bytes()).unwrap();
    let variables = [0, 3, 10, /* s0 */ 2, 1, 0];
    let (mut results, mut inside) = ([0; 6], [false; 3]);
    // SAFETY: two variables and two results at three points.
    unsafe {
        let status =
            indexing_map_evaluate(map, variables.as_ptr(), 3, results.as_mut_ptr(), inside.as_mut_ptr());
        assert_eq!((status, results, inside), (Status::Ok, [2, 13, 40, 0, 1, 10], [true, true, false]));
        let zero = [1, -1];
        let status = indexing_map_evaluate(map, zero.as_ptr(), 1, results.as_mut_ptr(), null_mut());
        assert_eq!(status, Status::DivisionByZero);
        assert_eq!(indexing_map_evaluate(map, null(), 0, null_mut(), null_mut()), Status::Ok);
        let huge =
            indexing_map_evaluate(map, variables.as_ptr(), usize::MAX, results.as_mut_ptr(), null_mut());
        assert_eq!(huge, Status::InvalidArgument);
        indexing_map_free(map);
    }
    let empty = parse(b"KNOWN EMPTY").unwrap();
    // SAFETY: a map of this library, which has no value.
    unsafe {
        let status = indexing_map_evaluate(empty, null(), 0, null_mut(), null_mut());
        assert_eq!(status, Status::InvalidArgument);
        indexing_map_free(empty);
    }
}

#[test]
fn points_are_counted() {
    let mut points = 0;
    let mut empty = true;
    let texts = [
        ("(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 3], d0 + s0 in [0, 4]", Ok(4 + 4 + 3 + 2 + 1)),
        ("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 3 in [4, 5]", Ok(0)),
        ("KNOWN EMPTY", Ok(0)),
        (
            "(d0, d1) -> (d0), domain: d0 in [1, 4294967296], d1 in [1, 4294967295]",
            Ok(4294967296 * 4294967295),
        ),
        ("(d0, d1) -> (d0), domain: d0 in [1, 4294967296], d1 in [1, 4294967296]", Err(Status::Overflow)),
    ];
    for (text, expected) in texts {
        let map = parse(text.as_bytes()).unwrap();
        // SAFETY: a map of this library, given back once, and places for the answers.
        unsafe {
            let status = indexing_map_count(map, &mut points);
            assert_eq!(if status == Status::Ok { Ok(points) } else { Err(status) }, expected, "{text}");
            assert_eq!(indexing_map_is_empty(map, &mut empty), Status::Ok);
            assert_eq!(empty, expected == Ok(0), "{text}");
            indexing_map_free(map);
        }
    }
}

#[test]
fn a_map_is_inverted() {
    let map = parse(b"(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 39]").unwrap();
    let mut inverse = null_mut();
    // SAFETY: maps of this library, each given back once.
    unsafe {
        assert_eq!(indexing_map_inverse(map, &mut inverse), Status::Ok);
        assert_eq!(text(inverse), "(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 9], d1 in [0, 3]");
        [map, inverse].into_iter().for_each(|m| indexing_map_free(m));
    }
}

#[test]
fn many_maps_are_answered_in_one_call_or_none() {
    let texts = [TILE, "(d0) -> (d0 mod 4), domain: d0 in [0, 3]", "(d0) -> (d0 +)"];
    let (pointers, lengths) = (texts.map(|t| t.as_ptr().cast::<c_char>()), texts.map(str::len));
    let mut maps = [null_mut(); 3];
    // SAFETY: three texts of these lengths, places for as many maps, each given back once.
    unsafe {
        assert_eq!(
            indexing_maps_parse(pointers.as_ptr(), lengths.as_ptr(), 3, maps.as_mut_ptr()),
            Status::Parse
        );
        assert_eq!((indexing_last_error_item(), indexing_last_error_offset()), (2, 13));
        assert!(maps.iter().all(|m| m.is_null()));
        assert_eq!(
            indexing_maps_parse(pointers.as_ptr(), lengths.as_ptr(), 2, maps.as_mut_ptr()),
            Status::Ok
        );
        let (mut simple, mut composed) = ([null_mut(); 2], [null_mut(); 2]);
        let given = [maps[0].cast_const(), maps[1].cast_const()];
        assert_eq!(indexing_maps_simplify(given.as_ptr(), 2, simple.as_mut_ptr()), Status::Ok);
        assert_eq!(text(simple[1]), "(d0) -> (d0), domain: d0 in [0, 3]");
        let (first, second) = ([given[1], given[0]], [given[1], given[1]]);
        let status = indexing_maps_compose(first.as_ptr(), second.as_ptr(), 2, composed.as_mut_ptr());
        assert_eq!((status, indexing_last_error_item()), (Status::InvalidMap, 1));
        assert_eq!(
            indexing_maps_compose(first.as_ptr(), second.as_ptr(), 1, composed.as_mut_ptr()),
            Status::Ok
        );
        assert_eq!(indexing_maps_simplify(null(), 2, simple.as_mut_ptr()), Status::InvalidArgument);
        assert_eq!(indexing_maps_simplify(null(), 0, null_mut()), Status::Ok);
        let missing = [given[0], null()];
        assert_eq!(
            indexing_maps_simplify(missing.as_ptr(), 2, composed.as_mut_ptr()),
            Status::InvalidArgument
        );
        assert_eq!(indexing_last_error_item(), 1);
        [maps[0], maps[1], simple[0], simple[1], composed[0]].into_iter().for_each(|m| indexing_map_free(m));
    }
}

#[test]
fn the_header_states_the_version() {
    let header = include_str!("../include/indexing.h");
    let stated = ["MAJOR", "MINOR", "PATCH"].map(|part| {
        let line = header.lines().find_map(|l| l.strip_prefix(&format!("#define INDEXING_VERSION_{part} ")));
        line.unwrap().to_owned()
    });
    assert_eq!(stated.join("."), env!("CARGO_PKG_VERSION"));
}

#[test]
fn predictions_are_those_of_the_core() {
    let device = WithSize::new(machine());
    let demands = [64.0, 2048.0].map(|threads| WithSize::new(of_threads(threads)));
    let mut predictions = [WithSize::new(Prediction::default()); 2];
    // SAFETY: two demands, two places.
    unsafe {
        assert_eq!(indexing_predict(&device, demands.as_ptr(), 2, predictions.as_mut_ptr()), Status::Ok);
        assert_eq!(
            indexing_predict(null(), demands.as_ptr(), 2, predictions.as_mut_ptr()),
            Status::InvalidArgument
        );
    }
    assert_eq!(predictions, demands.map(|d| WithSize::new(machine().predict(&d.value))));
    assert_eq!(predictions[1].value.time, f64::INFINITY);
}

fn machine() -> Device {
    Device::default().with(|d| (d.processors, d.warp_size, d.threads, d.latency) = (4.0, 32.0, 1024.0, 1e-6))
}

fn of_threads(threads: f64) -> Demand {
    Demand::default().with(|d| (d.blocks, d.threads) = (8.0, threads))
}

#[test]
fn machines_and_demands_that_make_no_sense_are_refused_by_name() {
    let predict = |device: WithSize<Device>, demand: WithSize<Demand>, size: usize| {
        let mut predictions = [WithSize::new(Prediction::default()); 2];
        predictions[1].size = size;
        let demands = [WithSize::new(of_threads(64.0)), demand];
        // SAFETY: two demands, two places.
        let status = unsafe { indexing_predict(&device, demands.as_ptr(), 2, predictions.as_mut_ptr()) };
        let untouched = predictions.iter().all(|p| p.value == Prediction::default());
        (status, message(), indexing_last_error_item(), untouched)
    };
    let (fine, size) = (WithSize::new(of_threads(64.0)), size_of::<WithSize<Prediction>>());
    assert_eq!(predict(WithSize::new(machine()), fine, size).0, Status::Ok);
    let refused = |said: (Status, String, usize, bool), words: &str, item: usize| {
        assert_eq!((said.0, said.2, said.3), (Status::InvalidArgument, item, true), "{}", said.1);
        assert!(said.1.contains(words), "{}", said.1);
    };
    for odd in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let device = WithSize::new(machine().with(|d| d.processors = odd));
        refused(predict(device, fine, size), &format!("device.processors is {odd}"), usize::MAX);
    }
    let slow = WithSize::new(machine().with(|d| d.memory_rate = -2.0));
    refused(predict(slow, fine, size), "device.memory_rate is -2", usize::MAX);
    let without = WithSize { size: 0, value: machine() };
    refused(predict(without, fine, size), "set it to sizeof(indexing_device)", usize::MAX);
    let lost = WithSize::new(of_threads(64.0).with(|d| d.updates = f64::NAN));
    refused(predict(WithSize::new(machine()), lost, size), "demand.updates is NaN", 1);
    let endless = WithSize::new(of_threads(64.0).with(|d| d.blocks = f64::INFINITY));
    refused(predict(WithSize::new(machine()), endless, size), "demand.blocks is inf", 1);
    let idle = WithSize::new(of_threads(64.0).with(|d| d.operations = 5.0));
    refused(predict(WithSize::new(machine()), idle, size), "device.operation_rate is 0", 1);
    refused(predict(WithSize::new(machine()), fine, 8), "prediction.size is 8", 1);
}

#[test]
fn failures_say_what_and_where_to_their_thread_alone() {
    assert_eq!(parse(b"(d0) -> (d0 +)").unwrap_err(), Status::Parse);
    assert_eq!(indexing_last_error_offset(), 13);
    assert!(message().contains("expected an expression"), "{}", message());
    std::thread::spawn(|| assert_eq!((message().as_str(), indexing_last_error_offset()), ("", usize::MAX)))
        .join()
        .unwrap();
    assert_eq!(parse(&[0xff]).unwrap_err(), Status::InvalidArgument);
    assert_eq!((message().as_str(), indexing_last_error_offset()), ("text is not UTF-8", usize::MAX));
}

#[test]
fn null_is_refused_where_a_value_is_needed() {
    let map = parse(TILE.as_bytes()).unwrap();
    let mut out = null_mut();
    // SAFETY: NULL is what the functions look for.
    unsafe {
        for status in [
            indexing_map_parse(null(), 1, &mut out),
            indexing_map_parse(TILE.as_ptr().cast(), TILE.len(), null_mut()),
            indexing_map_simplify(null(), &mut out),
            indexing_map_simplify(map, null_mut()),
            indexing_map_compose(map, null(), &mut out),
            indexing_map_text(map, null_mut()),
            indexing_map_evaluate(map, null(), 1, null_mut(), null_mut()),
        ] {
            assert_eq!(status, Status::InvalidArgument);
        }
        assert!(out.is_null() && indexing_map_equal(null(), null()) && !indexing_map_equal(map, null()));
        assert_eq!(indexing_map_num_results(null()), 0);
        indexing_map_free(null_mut());
        indexing_string_free(null_mut());
        indexing_map_free(map);
    }
}

#[test]
fn no_text_brings_a_panic() {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let pieces: Vec<&[u8]> =
        ["d0", "s0", " floordiv ", " mod ", "-9223372036854775808", "(", ")", "0", ", ", "\0", "\u{fc}"]
            .map(str::as_bytes)
            .to_vec();
    for _ in 0..3000 {
        let mut bytes = TILE.as_bytes().to_vec();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            let end = at + random(bytes.len() - at).min(3);
            bytes.splice(at..end, pieces[random(pieces.len())].iter().copied());
        }
        let Ok(map) = parse(&bytes) else { continue };
        let mut simple = null_mut();
        // SAFETY: maps of this library, each given back once; no points are asked for.
        unsafe {
            let status = indexing_map_simplify(map, &mut simple);
            assert_ne!(status, Status::Internal, "{}", String::from_utf8_lossy(&bytes));
            if status == Status::Ok {
                let again = parse(text(simple).as_bytes()).unwrap();
                assert!(indexing_map_equal(again, simple), "{}", text(simple));
                indexing_map_free(again);
                indexing_map_free(simple);
            }
            indexing_map_free(map);
        }
    }
}
