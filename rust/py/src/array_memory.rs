//! The memory of numpy's arrays, read and written without the GIL: the one file of this crate that has `unsafe`.
#![allow(unsafe_code)]

use crate::objects::Any;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

/// An integer type of new arrays.
pub trait ArrayElement: Element + Send + Sync {
    /// The type of such arrays.
    fn dtype(py: Python<'_>) -> PyResult<&Any<'_>>;
}

/// The elements of an array that was given. As with numpy's functions, what another thread writes to it in a call is seen or
/// not: results are then those of neither the old nor the new values, and memory is not harmed.
pub fn given(buffer: &PyBuffer<i64>) -> &[i64] {
    if buffer.item_count() == 0 || !buffer.is_c_contiguous() {
        return &[];
    }
    // SAFETY: `PyBuffer::get` has checked type and alignment; the buffer keeps the memory of all its items, side by side.
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.item_count()) }
}

/// The elements of a new array, which nobody else knows of yet.
pub fn made<T: ArrayElement>(buffer: &mut PyBuffer<T>) -> &mut [T] {
    if buffer.item_count() == 0 || buffer.readonly() || !buffer.is_c_contiguous() {
        return &mut [];
    }
    // SAFETY: as above; any bytes are an integer, and the exclusive buffer is the only way to the array.
    unsafe { std::slice::from_raw_parts_mut(buffer.buf_ptr().cast(), buffer.item_count()) }
}
