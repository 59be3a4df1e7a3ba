//! Predictions of kernels. Structs begin with their size, by which later versions tell which fields a program knows.

use crate::pointers::{reference, slice, slice_mut};
use crate::status::{guarded, Failure, Status};
use indexing_core::{Demand, Device, Prediction};

/// A struct of the header: its size in bytes, and its numbers.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WithSize<T> {
    /// As the caller's compiler has it.
    pub size: usize,
    /// The struct without its size.
    pub value: T,
}

impl<T> WithSize<T> {
    /// The struct with its size.
    pub fn new(value: T) -> Self {
        WithSize { size: size_of::<Self>(), value }
    }

    pub(crate) fn check(&self, what: &str) -> Result<&T, Failure> {
        let known = size_of::<Self>();
        if self.size == known {
            return Ok(&self.value);
        }
        let stated = self.size;
        Err(Failure::argument(&format!(
            "{what}.size is {stated}, and this library knows {known}: set it to sizeof(indexing_{what})"
        )))
    }
}

/// # Safety
/// As the header says.
#[no_mangle]
pub unsafe extern "C" fn indexing_predict(
    device: *const WithSize<Device>,
    demands: *const WithSize<Demand>,
    count: usize,
    predictions: *mut WithSize<Prediction>,
) -> Status {
    guarded(|| {
        // SAFETY: the header asks for one device, and `count` demands.
        let (device, demands) = unsafe { (reference(device, "device")?, slice(demands, count, "demands")?) };
        // SAFETY: the header asks for `count` predictions, whose sizes are set.
        let predictions = unsafe { slice_mut(predictions, count, "predictions") }?;
        let device = device.check("device")?;
        check_device(device)?;
        for (k, (demand, place)) in demands.iter().zip(&mut *predictions).enumerate() {
            demand
                .check("demand")
                .and_then(|demand| check_demand(demand, device))
                .and_then(|()| place.check("prediction").map(|_| ()))
                .map_err(|failure| failure.of_item(k))?;
        }
        for (place, demand) in predictions.iter_mut().zip(demands) {
            place.value = device.predict(&demand.value);
        }
        Ok(())
    })
}

/// A machine has processors and warps; none of its figures is negative or no number.
fn check_device(d: &Device) -> Result<(), Failure> {
    for (name, figure) in [("processors", d.processors), ("warp_size", d.warp_size)] {
        if !(figure > 0.0 && figure.is_finite()) {
            return Err(Failure::argument(&format!("device.{name} is {figure}; expected a positive number")));
        }
    }
    check_figures("device", Device::NAMES, &d.figures())
}

/// No figure of a demand is negative or no number, and the device has a rate for all work that it asks for.
fn check_demand(d: &Demand, device: &Device) -> Result<(), Failure> {
    check_figures("demand", Demand::NAMES, &d.figures())?;
    let work = [
        ("memory", d.memory, "memory_rate", device.memory_rate),
        ("moved", d.moved, "cache_rate", device.cache_rate),
        ("passes", d.passes, "pass_rate", device.pass_rate),
        ("operations", d.operations, "operation_rate", device.operation_rate),
        ("issued", d.issued, "issue_rate", device.issue_rate),
        ("updates", d.updates, "update_rate", device.update_rate),
    ];
    match work.iter().find(|(_, amount, _, rate)| *amount > 0.0 && *rate == 0.0) {
        None => Ok(()),
        Some((name, amount, rate, _)) => {
            Err(Failure::argument(&format!("demand.{name} is {amount}, and device.{rate} is 0")))
        }
    }
}

fn check_figures(what: &str, names: &[&str], figures: &[f64]) -> Result<(), Failure> {
    match names.iter().zip(figures).find(|(_, figure)| figure.is_nan() || **figure < 0.0) {
        None => Ok(()),
        Some((name, figure)) => {
            Err(Failure::argument(&format!("{what}.{name} is {figure}; expected 0 or a positive number")))
        }
    }
}
