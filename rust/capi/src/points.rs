//! The points of a map's domain: values on them, how many, whether any.

use crate::pointers::{put, reference, slice, slice_mut};
use crate::status::{guarded, Failure, Status};
use crate::workspace::{with_workspace, Map};
use indexing_core::{count, is_empty, MapKind};

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
        let mut each = vec![0u8; count];
        domain.contains_each(&columns, &mut each)?;
        // SAFETY: the header asks for `count` places, or NULL.
        let inside = unsafe { slice_mut(inside, count, "inside") }?;
        inside.iter_mut().zip(each).for_each(|(place, value)| *place = value != 0);
        Ok(())
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_bounds(map: *const Map, lower: *mut i64, upper: *mut i64) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a map of this library.
        let map = &unsafe { reference(map, "map") }?.0;
        let count = map.num_variables();
        // SAFETY: the header asks for a place for each variable.
        let (lower, upper) =
            unsafe { (slice_mut(lower, count, "lower")?, slice_mut(upper, count, "upper")?) };
        for ((lower, upper), interval) in lower.iter_mut().zip(upper).zip(map.intervals()) {
            (*lower, *upper) = (interval.lower, interval.upper);
        }
        Ok(())
    })
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_count(map: *const Map, out: *mut u64) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a map of this library.
        let map = &unsafe { reference(map, "map") }?.0;
        let factors = with_workspace(|w| count(&mut w.arena, &mut w.scratch, map))?;
        let points =
            product(&factors).ok_or_else(|| Failure::overflow("the number of points leaves uint64"))?;
        // SAFETY: the header asks for a place to put a number.
        unsafe { put(out, points, "out") }
    })
}

/// The product, where it fits. A factor of 0 makes it 0 whatever the others are.
fn product(factors: &[u128]) -> Option<u64> {
    if factors.contains(&0) {
        return Some(0);
    }
    factors.iter().try_fold(1, |all: u64, &factor| all.checked_mul(u64::try_from(factor).ok()?))
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_map_is_empty(map: *const Map, out: *mut bool) -> Status {
    guarded(|| {
        // SAFETY: the header asks for a map of this library.
        let map = &unsafe { reference(map, "map") }?.0;
        let empty = with_workspace(|w| is_empty(&mut w.arena, &mut w.scratch, map))?;
        // SAFETY: the header asks for a place to put a truth value.
        unsafe { put(out, empty, "out") }
    })
}
