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
        device.check()?;
        for (k, (demand, place)) in demands.iter().zip(&mut *predictions).enumerate() {
            demand
                .check("demand")
                .and_then(|demand| Ok(device.check_demand(demand)?))
                .and_then(|()| place.check("prediction").map(|_| ()))
                .map_err(|failure| failure.of_item(k))?;
        }
        for (place, demand) in predictions.iter_mut().zip(demands) {
            place.value = device.predict(&demand.value);
        }
        Ok(())
    })
}
