//! `Maps`: the results of a batch, a sequence of maps whose objects are made on demand.

use crate::indexing_map::PyIndexingMap;
use crate::objects::Any;
use indexing_core::IndexingMap;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PySlice};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// Different maps, and their objects as far as they were asked for.
pub struct DifferentMaps {
    pub maps: Vec<IndexingMap>,
    made: OnceLock<Vec<OnceLock<Py<PyIndexingMap>>>>,
}

/// Maps in an order: an immutable sequence. Its objects are made when they are asked for; those of equal items once.
#[pyclass(name = "Maps", module = "indexing", frozen, sequence, skip_from_py_object)]
#[derive(Clone)]
pub struct PyMaps {
    /// The place of each item among the different maps.
    pub index: Arc<[u32]>,
    pub different: Arc<DifferentMaps>,
}

impl PyMaps {
    pub fn new(index: Arc<[u32]>, maps: Vec<IndexingMap>) -> Self {
        PyMaps { index, different: Arc::new(DifferentMaps { maps, made: OnceLock::new() }) }
    }

    /// The maps, in their order.
    fn items(&self) -> impl Iterator<Item = &IndexingMap> {
        self.index.iter().map(|place| &self.different.maps[*place as usize])
    }

    fn item(&self, py: Python<'_>, k: usize) -> PyResult<Py<PyIndexingMap>> {
        let place = self.index[k] as usize;
        let DifferentMaps { maps, made } = &*self.different;
        let cell = &made.get_or_init(|| maps.iter().map(|_| OnceLock::new()).collect())[place];
        if cell.get().is_none() {
            let map = Py::new(py, PyIndexingMap(maps[place].clone()))?;
            let _ = cell.set(map); // another thread may have been first
        }
        cell.get().map(|map| map.clone_ref(py)).ok_or_else(|| PyIndexError::new_err("there is no such map"))
    }

    fn is_equal_to(&self, other: &Any<'_>) -> Option<bool> {
        if let Ok(other) = other.cast::<PyMaps>() {
            let other = other.get();
            return Some(self.index.len() == other.index.len() && self.items().eq(other.items()));
        }
        let list = other.cast::<PyList>().ok()?;
        let same = |(own, given): (&IndexingMap, Any<'_>)| {
            given.cast::<PyIndexingMap>().is_ok_and(|given| given.get().0 == *own)
        };
        Some(self.index.len() == list.len() && self.items().zip(list.iter()).all(same))
    }
}

#[pymethods]
impl PyMaps {
    fn __len__(&self) -> usize {
        self.index.len()
    }

    fn __getitem__<'py>(&self, key: &Any<'py>) -> PyResult<Any<'py>> {
        let py = key.py();
        if let Ok(slice) = key.cast::<PySlice>() {
            let places = slice.indices(self.index.len() as isize)?;
            let at = |k: isize| self.index[(places.start + k * places.step) as usize];
            let index = (0..places.slicelength as isize).map(at).collect();
            let part = PyMaps { index, different: self.different.clone() };
            return Ok(Bound::new(py, part)?.into_any());
        }
        let row = key.extract::<isize>().map_err(|error| match error.is_instance_of::<PyTypeError>(py) {
            true => PyTypeError::new_err("maps are numbered by an int, or a slice"),
            false => error,
        })?;
        let count = self.index.len();
        let from_start = if row < 0 { row.saturating_add(count as isize) } else { row };
        match usize::try_from(from_start).ok().filter(|k| *k < count) {
            Some(k) => Ok(self.item(py, k)?.into_bound(py).into_any()),
            None => Err(PyIndexError::new_err(format!("there are {count} maps, not one at {row}"))),
        }
    }

    /// An iterator over all maps, which are made at once.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let maps = (0..self.index.len()).map(|k| self.item(py, k));
        PyList::new(py, maps.collect::<PyResult<Vec<_>>>()?)?.try_iter()
    }

    /// The number of different maps.
    #[getter]
    fn different_count(&self) -> usize {
        self.different.maps.len()
    }

    fn __eq__<'py>(&self, other: &Any<'py>) -> PyResult<Any<'py>> {
        let py = other.py();
        match self.is_equal_to(other) {
            Some(equal) => Ok(equal.into_pyobject(py)?.to_owned().into_any()),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.items().for_each(|map| map.hash(&mut hasher));
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let shown = if self.index.len() == 1 { "map" } else { "maps" };
        format!("<Maps of {} {shown}>", self.index.len())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, (Vec<String>,))> {
        let py = slf.py();
        let texts = slf.get().items().map(|m| PyIndexingMap(m.clone()).__str__(py));
        let read = py.import("indexing._core")?.getattr("parse_all")?;
        Ok((read, (texts.collect::<PyResult<_>>()?,)))
    }
}
