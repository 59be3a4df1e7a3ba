//! The memory traffic of an access's warps.

use crate::error::Raise;
use crate::indexing_map::PyIndexingMap;
use crate::workspace;
use indexing_core::{count_traffic, Access, Memory, Sums, TrafficCounts};
use pyo3::prelude::*;

/// Sums by instruction, and by vector; their multiplier and divisor; the number of instructions that were sampled, if not all
/// were counted.
pub type Traffic = (Sums, Sums, u128, u128, Option<u64>);

fn traffic(py: Python<'_>, access: &Access<'_>, memory: Memory) -> PyResult<Option<Traffic>> {
    let count = || workspace::with(|w| count_traffic(&mut w.arena, &mut w.scratch, access, memory));
    Ok(py.detach(count).raise(py)?.map(as_traffic))
}

/// The sums as Python gets them.
pub fn as_traffic(f: TrafficCounts) -> Traffic {
    (f.each, f.together, f.all, f.counted.saturating_mul(f.repeats), f.sampled)
}

/// The traffic of a thread map's warps in global memory; None where no thread reaches anything. Sizes are in bits.
///
/// `map` goes from `(th_x, th_y, th_z, bl_x, bl_y, bl_z)[ranges]{runtime variables}` to an index with these `strides`
/// in elements of `width`. `vector` is the place, among all variables, of the range variable that counts a thread's
/// vector, `widest` what a thread moves with one instruction, 0 where that is one element. The sums are those of
/// instructions, distinct bytes accessed, sectors, lines, the least number of sectors that could hold the bytes, and sectors if
/// each contiguous run of bytes began with one. Raises InvalidMap for a map of other dimensions, and Overflow.
#[pyfunction]
#[pyo3(signature = (map, strides, width, block, warp_size, sector, line, vector = None, widest = 0))]
#[expect(
    clippy::too_many_arguments,
    reason = "each is a fact of its own, and a struct would be made for this call"
)]
pub fn global_memory_traffic(
    py: Python<'_>,
    map: &PyIndexingMap,
    strides: Vec<i64>,
    width: i64,
    block: [i64; 3],
    warp_size: i64,
    sector: i64,
    line: i64,
    vector: Option<usize>,
    widest: i64,
) -> PyResult<Option<Traffic>> {
    let access = Access { map: &map.0, strides: &strides, width, block, warp_size, vector };
    traffic(py, &access, Memory::Global { sector, line, vector: widest })
}

/// The traffic of a thread map's warps in shared memory; None where no thread reaches anything. Sizes are in bits.
///
/// `map` goes to one cell of `width`; each of the `banks` serves one `word` in a pass. The sums are those of
/// instructions, distinct bytes accessed, passes, the least number of passes, and zeros. Raises as `global_memory_traffic`.
#[pyfunction]
pub fn shared_memory_traffic(
    py: Python<'_>,
    map: &PyIndexingMap,
    width: i64,
    block: [i64; 3],
    warp_size: i64,
    banks: i64,
    word: i64,
) -> PyResult<Option<Traffic>> {
    let access = Access { map: &map.0, strides: &[1], width, block, warp_size, vector: None };
    traffic(py, &access, Memory::Shared { banks, word })
}
