//! Maps one at a time: read, written, simplified, composed, inverted, and what they have.

use crate::pointers::{put, reference, slice};
use crate::status::{guarded, Failure, Status};
use crate::workspace::{put_map, with_workspace, Map};
use indexing_core::{
    compose, inverse, read_indexing_map, simplify, write_indexing_map, IndexingMap, PointVariables, Style,
};
use std::ffi::{c_char, CString};

pub fn parsed(text: &[u8]) -> Result<IndexingMap, Failure> {
    let text = std::str::from_utf8(text).map_err(|_| Failure::argument("text is not UTF-8"))?;
    Ok(with_workspace(|w| read_indexing_map(text, &mut w.arena, &mut w.reading))?)
}

pub fn simplified(map: &Map) -> Result<IndexingMap, Failure> {
    Ok(with_workspace(|w| simplify(&mut w.arena, &mut w.scratch, &map.0, PointVariables::Replace))?)
}

pub fn composed(first: &Map, second: &Map) -> Result<IndexingMap, Failure> {
    Ok(with_workspace(|w| compose(&mut w.arena, &first.0, &second.0))?)
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
        let map = parsed(unsafe { slice(text.cast::<u8>(), length, "text") }?)?;
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
        let simple = simplified(unsafe { reference(map, "map") }?)?;
        // SAFETY: the header asks for a place to put a pointer.
        unsafe { put_map(out, simple) }
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
        let composition = composed(first, second)?;
        // SAFETY: the header asks for a place to put a pointer.
        unsafe { put_map(out, composition) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_inverse(map: *const Map, out: *mut *mut Map) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a map of this library.
        let map = &unsafe { reference(map, "map") }?.0;
        let inverted = with_workspace(|w| inverse(&mut w.arena, &mut w.scratch, map))?;
        // SAFETY: the header asks for a place to put a pointer.
        unsafe { put_map(out, inverted) }
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
pub unsafe extern "C" fn indexing_map_num_ranges(map: *const Map) -> usize {
    // SAFETY: the header asks for a map of this library, or NULL.
    unsafe { map.as_ref() }.map_or(0, |m| m.0.num_ranges())
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
