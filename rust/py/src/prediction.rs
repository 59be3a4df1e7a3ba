//! Predictions of many plans at once.

use crate::error::invalid;
use crate::objects::Any;
use indexing_core::{Demand, Device, Prediction};
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
    let device = device_of(device);
    let predictions: Vec<Prediction> =
        py.detach(|| (0..length).map(|row| device.predict(&demand_of(&columns, row))).collect());
    let column = |of: fn(&Prediction) -> f64| array(py, &predictions.iter().map(of).collect::<Vec<f64>>());
    Ok([
        column(|p| p.resident)?,
        column(|p| p.occupancy)?,
        column(|p| p.waves)?,
        column(|p| p.time)?,
        column(|p| p.limit)?,
    ])
}

fn device_of(fields: [f64; 19]) -> Device {
    let [processors, warp_size, threads, blocks, registers, shared_bytes, memory_rate, cache_rate, ..] =
        fields;
    let [.., operation_rate, issue_rate, warp_rate, pass_rate, update_rate, _, _, _, _, _, _] = fields;
    let [.., latency, cache_latency, own_latency, launch, block, overlap] = fields;
    Device::default().with(|d| {
        (d.processors, d.warp_size, d.threads, d.blocks) = (processors, warp_size, threads, blocks);
        (d.registers, d.shared_bytes) = (registers, shared_bytes);
        (d.memory_rate, d.cache_rate, d.operation_rate) = (memory_rate, cache_rate, operation_rate);
        (d.issue_rate, d.warp_rate, d.pass_rate, d.update_rate) =
            (issue_rate, warp_rate, pass_rate, update_rate);
        (d.latency, d.cache_latency, d.own_latency) = (latency, cache_latency, own_latency);
        (d.launch, d.block, d.overlap) = (launch, block, overlap);
    })
}

fn demand_of(columns: &[Vec<f64>], row: usize) -> Demand {
    let at = |k: usize| columns[k][row];
    Demand::default().with(|d| {
        (d.blocks, d.threads, d.registers, d.shared_bytes) = (at(0), at(1), at(2), at(3));
        (d.waits, d.cache_loads, d.memory_loads) = (at(4), at(5), at(6));
        (d.moved, d.memory, d.passes) = (at(7), at(8), at(9));
        (d.operations, d.issued, d.updates) = (at(10), at(11), at(12));
    })
}

/// An array of numbers.
pub fn array<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Any<'py>> {
    let numpy = py.import("numpy")?;
    let out = numpy.call_method1("empty", (values.len(), numpy.getattr("float64")?))?;
    PyBuffer::<f64>::get(&out)?.copy_from_slice(py, values)?;
    Ok(out)
}
