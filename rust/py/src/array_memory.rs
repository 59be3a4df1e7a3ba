//! The memory of numpy's arrays, read and written without the GIL: the one file of this crate that has `unsafe`.
#![allow(unsafe_code)]

use crate::objects::Any;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::ffi;
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

/// The bytes of an object that lie side by side, by the buffer protocol: the view keeps them where they are.
pub struct ByteView(Box<ffi::Py_buffer>);

// SAFETY: only the object that has given a view writes to it, and it is released while this thread is attached to Python.
unsafe impl Send for ByteView {}
// SAFETY: as above.
unsafe impl Sync for ByteView {}

impl ByteView {
    /// A view of an object's bytes, if it has the protocol and its bytes have no gaps.
    pub fn of(object: &Any<'_>) -> Option<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the object is alive, and the view is written to only if the function succeeds.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, ffi::PyBUF_SIMPLE) } == 0 {
            return Some(Self(view));
        }
        PyErr::take(object.py());
        None
    }

    /// The address of the first byte.
    pub fn address(&self) -> usize {
        self.0.buf as usize
    }
}

impl Drop for ByteView {
    fn drop(&mut self) {
        // SAFETY: the view was made by `PyObject_GetBuffer`, and is released once.
        Python::attach(|_| unsafe { ffi::PyBuffer_Release(&raw mut *self.0) });
    }
}
