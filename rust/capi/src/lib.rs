//! The C interface; `include/indexing.h` documents it, and a test compares the two.
//!
//! Each function checks what can be checked of its arguments, catches panics, and reports by [`Status`].

mod batch;
mod maps;
mod pointers;
mod points;
mod prediction;
mod predictor;
mod programs;
mod status;
mod worker;
mod workspace;

use std::ffi::c_char;

pub use batch::{indexing_maps_compose, indexing_maps_parse, indexing_maps_simplify};
pub use maps::{
    indexing_map_compose, indexing_map_equal, indexing_map_free, indexing_map_inverse, indexing_map_num_dims,
    indexing_map_num_ranges, indexing_map_num_results, indexing_map_num_variables, indexing_map_parse,
    indexing_map_simplify, indexing_map_text, indexing_string_free,
};
pub use points::{indexing_map_bounds, indexing_map_count, indexing_map_evaluate, indexing_map_is_empty};
pub use prediction::{indexing_predict, WithSize};
pub use predictor::{KernelTime, Knob, Predictor, Program, ProgramTimes};
pub use programs::{
    indexing_predictor_free, indexing_predictor_knobs, indexing_predictor_plans, indexing_predictor_program,
    indexing_predictor_start, Kernel, KnobColumn, OwnedPredictor, ProgramText,
};
pub use status::{Failure, Status};
pub use workspace::Map;

/// See the header.
#[no_mangle]
pub extern "C" fn indexing_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// See the header.
#[no_mangle]
pub extern "C" fn indexing_last_error() -> *const c_char {
    status::last_message()
}

/// See the header.
#[no_mangle]
pub extern "C" fn indexing_last_error_offset() -> usize {
    status::last_offset()
}

/// See the header.
#[no_mangle]
pub extern "C" fn indexing_last_error_item() -> usize {
    status::last_item()
}

// The examples of the document in Rust.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/c.md")]
struct Document;
