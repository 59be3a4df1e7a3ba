//! Predictions of many plans at once.

use crate::error::invalid;
use crate::objects::Any;
use indexing_core::{Demand, Device};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

/// Of kernels: resident blocks of a processor, occupancy, waves, seconds, limits. The model is that of docs/prediction.md.
///
/// `device` is processors, warp size, threads, blocks, registers and bytes of shared memory of a processor, bytes a second
/// of memory and of its cache, operations a second, instructions a second of a processor and of a warp, passes a second of a
/// processor, updates a second of one address, seconds from a load to its value in memory, in its cache and in the
/// processor's own, seconds a launch, seconds a block, overlap of memory and arithmetic. `demands` are columns: blocks,
/// threads, registers of a thread, bytes of shared memory, waits of warps for loads, loads that reach the cache, loads that
/// reach memory, bytes moved, bytes of memory, passes, operations, instructions issued, updates of one address.
/// A limit is the number of one of launch, latency, memory, arithmetic, issue.
#[pyfunction]
pub fn predict_times<'py>(
    py: Python<'py>,
    device: [f64; 19],
    demands: [Any<'py>; 13],
) -> PyResult<[Any<'py>; 5]> {
    let columns =
        demands.iter().map(|c| PyBuffer::<f64>::get(c)?.to_vec(py)).collect::<PyResult<Vec<Vec<f64>>>>()?;
    let length = columns[0].len();
    if columns.iter().any(|c| c.len() != length) {
        return Err(invalid(py, "columns have one length".to_owned()));
    }
    let device = Device::of_figures(device);
    let demand = |row: usize| Demand::of_figures(std::array::from_fn(|k| columns[k][row]));
    let rows: Vec<[f64; 5]> =
        py.detach(|| (0..length).map(|row| device.predict(&demand(row)).figures()).collect());
    let column = |k: usize| array(py, &rows.iter().map(|row| row[k]).collect::<Vec<f64>>());
    Ok([column(0)?, column(1)?, column(2)?, column(3)?, column(4)?])
}

/// An array of numbers.
pub fn array<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Any<'py>> {
    let numpy = py.import("numpy")?;
    let out = numpy.call_method1("empty", (values.len(), numpy.getattr("float64")?))?;
    PyBuffer::<f64>::get(&out)?.copy_from_slice(py, values)?;
    Ok(out)
}
