//! The C interface; `include/indexing.h` documents it, and a test compares the two.
//!
//! Each function checks what can be checked of its arguments, catches panics, and reports by [`Status`].

mod status;

use indexing_core::{
    compose, read_indexing_map, simplify, write_indexing_map, Arena, Demand, IndexingMap, Machine, MapKind,
    PointVariables, Prediction, ReadScratch, Scratch, Style,
};
use status::{guarded, Failure};
use std::cell::RefCell;
use std::ffi::{c_char, CString};

pub use status::Status;

/// A map: immutable, so that threads may share it.
pub struct Map(IndexingMap);

#[derive(Default)]
struct Workspace {
    arena: Arena,
    scratch: Scratch,
    reading: ReadScratch,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

fn with_workspace<R>(work: impl FnOnce(&mut Workspace) -> R) -> R {
    WORKSPACE.with(|w| {
        let mut workspace = w.borrow_mut();
        workspace.arena.clear();
        work(&mut workspace)
    })
}

/// # Safety
/// `pointer` is null, or points to a value that lives as long as the result.
unsafe fn reference<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: by the contract of this function.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(&format!("{what} is NULL")))
}

/// # Safety
/// `pointer` is null, or points to memory for a `T` that nobody else uses meanwhile; what is there may be anything.
unsafe fn put<T>(pointer: *mut T, value: T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(&format!("{what} is NULL")));
    }
    // SAFETY: by the contract of this function.
    unsafe { pointer.write(value) };
    Ok(())
}

/// # Safety
/// `pointer` is null, or points to `length` values that live as long as the result.
unsafe fn slice<'a, T>(pointer: *const T, length: usize, what: &str) -> Result<&'a [T], Failure> {
    check_length::<T>(pointer.is_null(), length, what)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: by the contract of this function, and since the length in bytes fits.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// # Safety
/// `pointer` is null, or points to `length` values that nobody else uses while the result lives.
unsafe fn slice_mut<'a, T>(pointer: *mut T, length: usize, what: &str) -> Result<&'a mut [T], Failure> {
    check_length::<T>(pointer.is_null(), length, what)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: by the contract of this function, and since the length in bytes fits.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, length) })
}

fn check_length<T>(is_null: bool, length: usize, what: &str) -> Result<(), Failure> {
    if is_null && length > 0 {
        return Err(Failure::argument(&format!("{what} is NULL, but not empty")));
    }
    let fits = length.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if fits {
        Ok(())
    } else {
        Err(Failure::argument(&format!("{what} is longer than memory")))
    }
}

/// # Safety
/// As of [`put`].
unsafe fn put_map(out: *mut *mut Map, map: IndexingMap) -> Result<(), Failure> {
    let owned = Box::into_raw(Box::new(Map(map)));
    // SAFETY: `out` is as `put` wants it; `owned` is what `Box::into_raw` gave, and taken back if nobody got it.
    unsafe { put(out, owned, "out").inspect_err(|_| drop(Box::from_raw(owned))) }
}

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

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_parse(
    text: *const c_char,
    length: usize,
    out: *mut *mut Map,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for `length` bytes.
        let bytes = unsafe { slice(text.cast::<u8>(), length, "text") }?;
        let text = std::str::from_utf8(bytes).map_err(|_| Failure::argument("text is not UTF-8"))?;
        let map = with_workspace(|w| read_indexing_map(text, &mut w.arena, &mut w.reading))?;
        // SAFETY: the header asks for a place to put a pointer.
        unsafe { put_map(out, map) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_simplify(map: *const Map, out: *mut *mut Map) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a map of this library.
        let map = &unsafe { reference(map, "map") }?.0;
        let found = with_workspace(|w| simplify(&mut w.arena, &mut w.scratch, map, PointVariables::Replace))?;
        // SAFETY: the header asks for a place to put a pointer.
        unsafe { put_map(out, found) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_compose(
    first: *const Map,
    second: *const Map,
    out: *mut *mut Map,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for maps of this library.
        let (first, second) = unsafe { (reference(first, "first")?, reference(second, "second")?) };
        let found = with_workspace(|w| compose(&mut w.arena, &first.0, &second.0))?;
        // SAFETY: the header asks for a place to put a pointer.
        unsafe { put_map(out, found) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_text(map: *const Map, out: *mut *mut c_char) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a map of this library.
        let text = write_indexing_map(&unsafe { reference(map, "map") }?.0, Style::Plain)?;
        let owned = CString::new(text).map_err(|_| Failure::argument("a name has a zero byte"))?.into_raw();
        // SAFETY: the header asks for a place to put a pointer; `owned` is taken back if nobody got it.
        unsafe { put(out, owned, "out").inspect_err(|_| drop(CString::from_raw(owned))) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the header asks for what `indexing_map_text` gave, once.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_free(map: *mut Map) {
    if !map.is_null() {
        // SAFETY: the header asks for what a function of this library gave, once.
        drop(unsafe { Box::from_raw(map) });
    }
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_equal(first: *const Map, second: *const Map) -> bool {
    // SAFETY: the header asks for maps of this library, or NULL.
    match unsafe { (first.as_ref(), second.as_ref()) } {
        (Some(first), Some(second)) => first.0 == second.0,
        (first, second) => first.is_none() && second.is_none(),
    }
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_num_dims(map: *const Map) -> usize {
    // SAFETY: the header asks for a map of this library, or NULL.
    unsafe { map.as_ref() }.map_or(0, |m| m.0.num_dims())
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_num_variables(map: *const Map) -> usize {
    // SAFETY: the header asks for a map of this library, or NULL.
    unsafe { map.as_ref() }.map_or(0, |m| m.0.num_variables())
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_num_results(map: *const Map) -> usize {
    // SAFETY: the header asks for a map of this library, or NULL.
    unsafe { map.as_ref() }.map_or(0, |m| m.0.num_results())
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_evaluate(
    map: *const Map,
    variables: *const i64,
    count: usize,
    results: *mut i64,
    inside: *mut bool,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a map of this library.
        let map = &unsafe { reference(map, "map") }?.0;
        if map.kind() != MapKind::Defined {
            return Err(Failure::argument(
                "the map is undefined, or known to be empty: it has no value anywhere",
            ));
        }
        let of = |each: usize| count.checked_mul(each).ok_or_else(|| Failure::argument("count is too large"));
        // SAFETY: the header asks for a column of `count` values for each variable.
        let variables = unsafe { slice(variables, of(map.num_variables())?, "variables") }?;
        // SAFETY: the header asks for a column of `count` places for each result.
        let results = unsafe { slice_mut(results, of(map.num_results())?, "results") }?;
        let columns: Vec<&[i64]> =
            (0..map.num_variables()).map(|k| &variables[k * count..][..count]).collect();
        let mut out: Vec<&mut [i64]> = results.chunks_mut(count.max(1)).collect();
        map.dag().evaluate_block(&columns, &mut out)?;
        if inside.is_null() {
            return Ok(());
        }
        let domain = with_workspace(|w| map.domain(&mut w.arena));
        let mut found = vec![0u8; count];
        domain.contains_each(&columns, &mut found)?;
        // SAFETY: the header asks for `count` places, or NULL.
        let inside = unsafe { slice_mut(inside, count, "inside") }?;
        inside.iter_mut().zip(found).for_each(|(place, value)| *place = value != 0);
        Ok(())
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_predict(
    machine: *const Machine,
    demands: *const Demand,
    count: usize,
    predictions: *mut Prediction,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for one machine, and `count` demands.
        let (machine, demands) =
            unsafe { (reference(machine, "machine")?, slice(demands, count, "demands")?) };
        // SAFETY: the header asks for `count` places.
        let predictions = unsafe { slice_mut(predictions, count, "predictions") }?;
        predictions.iter_mut().zip(demands).for_each(|(place, demand)| *place = machine.predict(demand));
        Ok(())
    })
}
