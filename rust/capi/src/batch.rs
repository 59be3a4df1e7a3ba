//! Many maps in one call: all are answered, or none, and the failure says which item it is of.

use crate::maps::{composed, parsed, simplified};
use crate::pointers::{reference, slice, slice_mut};
use crate::status::{guarded, Failure, Status};
use crate::workspace::Map;
use indexing_core::IndexingMap;
use std::ffi::c_char;

/// # Safety
/// `out` is null, or points to `count` places for pointers that nobody else uses meanwhile.
unsafe fn put_maps(
    out: *mut *mut Map,
    count: usize,
    map_at: impl Fn(usize) -> Result<IndexingMap, Failure>,
) -> Result<(), Failure> {
    // SAFETY: by the contract of this function.
    let places = unsafe { slice_mut(out, count, "out") }?;
    let maps: Vec<IndexingMap> =
        (0..count).map(|k| map_at(k).map_err(|failure| failure.of_item(k))).collect::<Result<_, _>>()?;
    places.iter_mut().zip(maps).for_each(|(place, map)| *place = Box::into_raw(Box::new(Map(map))));
    Ok(())
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_maps_parse(
    texts: *const *const c_char,
    lengths: *const usize,
    count: usize,
    out: *mut *mut Map,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for `count` texts and `count` lengths.
        let (texts, lengths) = unsafe { (slice(texts, count, "texts")?, slice(lengths, count, "lengths")?) };
        // SAFETY: the header asks for `lengths[k]` bytes of text k, and for `count` places.
        unsafe { put_maps(out, count, |k| parsed(slice(texts[k].cast::<u8>(), lengths[k], "text")?)) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_maps_simplify(
    maps: *const *const Map,
    count: usize,
    out: *mut *mut Map,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for `count` pointers.
        let maps = unsafe { slice(maps, count, "maps") }?;
        // SAFETY: the header asks for maps of this library, and for `count` places.
        unsafe { put_maps(out, count, |k| simplified(reference(maps[k], "map")?)) }
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_maps_compose(
    first: *const *const Map,
    second: *const *const Map,
    count: usize,
    out: *mut *mut Map,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for `count` pointers each.
        let (first, second) = unsafe { (slice(first, count, "first")?, slice(second, count, "second")?) };
        // SAFETY: the header asks for maps of this library, and for `count` places.
        let pair =
            |k: usize| unsafe { composed(reference(first[k], "first")?, reference(second[k], "second")?) };
        // SAFETY: the header asks for `count` places.
        unsafe { put_maps(out, count, pair) }
    })
}
