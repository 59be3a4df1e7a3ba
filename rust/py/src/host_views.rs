//! The addresses of arrays in host memory.

use crate::array_memory::ByteView;
use crate::objects::{Any, Str, Tuple};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Views of arrays in host memory, which stays where it is while this object lives.
#[pyclass(frozen, name = "HostViews", module = "indexing._core")]
pub struct PyHostViews {
    views: Vec<Option<ByteView>>,
}

#[pymethods]
impl PyHostViews {
    /// View the `arrays` that have these types of elements and sizes, without gaps, by the buffer protocol.
    #[new]
    fn new(arrays: &Tuple<'_>, dtypes: &Tuple<'_>, sizes: &Tuple<'_>) -> PyResult<Self> {
        let mut views = Vec::with_capacity(arrays.len());
        for ((array, dtype), sizes) in arrays.iter().zip(dtypes.iter()).zip(sizes.iter()) {
            views.push(if fits(&array, &dtype, &sizes)? { ByteView::of(&array) } else { None });
        }
        Ok(Self { views })
    }

    /// The address of each array; 0 for those that are not viewed.
    fn addresses(&self) -> Vec<usize> {
        self.views.iter().map(|view| view.as_ref().map_or(0, ByteView::address)).collect()
    }
}

/// Whether an object is an array with these elements, whose type it can state by the buffer protocol.
fn fits(array: &Any<'_>, dtype: &Any<'_>, sizes: &Any<'_>) -> PyResult<bool> {
    let py = array.py();
    if !has(array, intern!(py, "dtype"), dtype)? || !has(array, intern!(py, "shape"), sizes)? {
        return Ok(false);
    }
    if array.get_type().is(array_type(py)?) {
        return Ok(true);
    }
    // Of a masked array, some bytes are no values. Arrays of other libraries refuse views of types that Python's struct lacks:
    // to ask them would take longer than to view.
    Ok(!array.hasattr(intern!(py, "mask"))? && dtype.getattr(intern!(py, "isbuiltin"))?.eq(1)?)
}

/// Whether an object has an attribute of this value. What cannot be compared with it is another.
fn has(array: &Any<'_>, name: &Str<'_>, expected: &Any<'_>) -> PyResult<bool> {
    Ok(array
        .getattr_opt(name)?
        .is_some_and(|actual| actual.is(expected) || actual.eq(expected).unwrap_or(false)))
}

fn array_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    TYPE.import(py, "numpy", "ndarray")
}
