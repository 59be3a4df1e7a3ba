//! `OperandIndexing` objects of Python for maps of the core, and back.

use crate::indexing_map::PyIndexingMap;
use indexing_core::{Exactness, Interval, Link, MapId, OperandMaps, Relation, RuntimeValue};
use pyo3::exceptions::PyValueError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::PyTraverseError;

/// Instructions of other modules have numbers from here on.
const FOREIGN: u32 = 1 << 31;

/// An operand map, whose instructions have numbers; independent of the tables of the core.
pub struct MapData {
    relation: Relation,
    exactness: Exactness,
    reason: String,
    pieces: Option<Vec<MapData>>,
}

impl MapData {
    /// The data of a map of the core.
    pub fn of(maps: &OperandMaps, id: MapId) -> Self {
        let map = maps.map(id);
        MapData {
            relation: maps.relation(map.relation).clone(),
            exactness: map.exactness,
            reason: maps.reason(map.reason).to_string(),
            pieces: map.pieces.as_ref().map(|ids| ids.iter().map(|id| MapData::of(maps, *id)).collect()),
        }
    }

    /// The number of the map in the core.
    pub fn add_to(self, maps: &mut OperandMaps) -> MapId {
        let pieces = self.pieces.map(|pieces| pieces.into_iter().map(|p| p.add_to(maps)).collect());
        maps.add(self.relation, self.exactness, &self.reason, pieces)
    }
}

/// The objects of Python that maps of a module are given as, each made once.
///
/// `views` is what makes them: an object with the members of `_Views`.
pub struct Objects {
    views: Py<PyAny>,
    /// By number of the map, and array.
    made: Py<PyDict>,
    /// Instructions of other modules.
    foreign: Py<PyList>,
}

fn exactness_text(exactness: Exactness) -> &'static str {
    match exactness {
        Exactness::Exact => "exact",
        Exactness::OverApproximate => "over-approximate",
        Exactness::Unknown => "unknown",
    }
}

fn exactness_of(text: &str) -> PyResult<Exactness> {
    let all = [Exactness::Exact, Exactness::OverApproximate, Exactness::Unknown];
    let found = all.into_iter().find(|e| exactness_text(*e) == text);
    found.ok_or_else(|| PyValueError::new_err(format!("{text:?} says not how exact a map is")))
}

impl Objects {
    pub fn new(views: Bound<'_, PyAny>) -> Self {
        let py = views.py();
        let (made, foreign) = (PyDict::new(py).unbind(), PyList::empty(py).unbind());
        Objects { views: views.unbind(), made, foreign }
    }

    /// The view of an instruction.
    fn instruction<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyAny>> {
        match number.checked_sub(FOREIGN) {
            Some(k) => self.foreign.bind(py).get_item(k as usize),
            None => self.views.bind(py).call_method1("instruction", (number,)),
        }
    }

    /// The number of an instruction: its row, where it is one of the module.
    pub fn number(&self, instruction: &Bound<'_, PyAny>) -> PyResult<u32> {
        let py = instruction.py();
        let row: i64 = self.views.bind(py).call_method1("row", (instruction,))?.extract()?;
        if row >= 0 {
            return Ok(row as u32);
        }
        let foreign = self.foreign.bind(py);
        let place = match foreign.iter().position(|f| f.is(instruction)) {
            Some(place) => place,
            None => {
                foreign.append(instruction)?;
                foreign.len() - 1
            }
        };
        Ok(FOREIGN + place as u32)
    }

    /// The data of an `OperandIndexing`.
    pub fn read(&self, object: &Bound<'_, PyAny>) -> PyResult<MapData> {
        let replicas = object.getattr("replica_map")?;
        let values = object.getattr("runtime_values")?;
        let relation = Relation {
            map: map_of(&object.getattr("map")?)?,
            values: values.try_iter()?.map(|v| self.value(&v?)).collect::<PyResult<_>>()?,
            replicas: if replicas.is_none() { None } else { Some(map_of(&replicas)?) },
        };
        let exactness = exactness_of(object.getattr("exactness")?.extract()?)?;
        let reason = object.getattr("reason")?.extract()?;
        let pieces = object.getattr("pieces")?;
        let pieces = match pieces.is_none() {
            true => None,
            false => Some(pieces.try_iter()?.map(|p| self.read(&p?)).collect::<PyResult<_>>()?),
        };
        Ok(MapData { relation, exactness, reason, pieces })
    }

    /// The data of lists of `OperandIndexing`, one for each operand (or array): where each leads to, and its `leaf`.
    pub fn read_links(&self, lists: &[Vec<Bound<'_, PyAny>>]) -> PyResult<Vec<(u32, u32, MapData)>> {
        let objects =
            lists.iter().zip(0..).flat_map(|(list, to)| list.iter().map(move |object| (to, object)));
        objects.map(|(to, object)| Ok((to, object.getattr("leaf")?.extract()?, self.read(object)?))).collect()
    }

    fn value(&self, object: &Bound<'_, PyAny>) -> PyResult<RuntimeValue> {
        let bounds: Option<(i64, i64)> = object.getattr("bounds")?.extract()?;
        Ok(RuntimeValue {
            instruction: self.number(&object.getattr("instruction")?)?,
            map: map_of(&object.getattr("map")?)?,
            output: object.getattr("output")?.extract()?,
            drops: object.getattr("out_of_bounds")?.extract::<String>()? == "drop",
            bounds: bounds.map(|(lower, upper)| Interval::new(lower, upper)),
        })
    }

    /// The `OperandIndexing` of a map, to array `leaf`; `data` gives what a new one is made of.
    pub fn object<'py>(
        &self,
        py: Python<'py>,
        (id, leaf): (MapId, u32),
        data: impl FnOnce() -> PyResult<MapData>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (made, key) = (self.made.bind(py), u64::from(id) << 32 | u64::from(leaf));
        if let Some(known) = made.get_item(key)? {
            return Ok(known);
        }
        let object = self.make(py, data()?, leaf)?;
        made.set_item(key, &object)?;
        Ok(object)
    }

    fn make<'py>(&self, py: Python<'py>, data: MapData, leaf: u32) -> PyResult<Bound<'py, PyAny>> {
        let pieces = match data.pieces {
            None => py.None().into_bound(py),
            Some(pieces) => {
                let all: PyResult<Vec<_>> = pieces.into_iter().map(|p| self.make(py, p, 0)).collect();
                PyTuple::new(py, all?)?.into_any()
            }
        };
        let views = self.views.bind(py);
        let values = data.relation.values.iter().map(|v| self.make_value(views, v));
        let values = PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?;
        let (map, replicas) = (PyIndexingMap(data.relation.map), data.relation.replicas.map(PyIndexingMap));
        let (exactness, reason) = (exactness_text(data.exactness), PyString::intern(py, &data.reason));
        views.getattr("operand_indexing")?.call1((map, values, exactness, reason, replicas, leaf, pieces))
    }

    fn make_value<'py>(&self, views: &Bound<'py, PyAny>, v: &RuntimeValue) -> PyResult<Bound<'py, PyAny>> {
        let out_of_bounds = if v.drops { "drop" } else { "clamp" };
        let instruction = self.instruction(views.py(), v.instruction)?;
        let bounds = v.bounds.map(|b| (b.lower, b.upper));
        let class = views.getattr("runtime_value")?;
        class.call1((instruction, PyIndexingMap(v.map.clone()), v.output, out_of_bounds, bounds))
    }

    /// `count` lists, each of the objects of the links that lead there.
    pub fn grouped<'py>(
        &self,
        py: Python<'py>,
        links: &[Link],
        count: usize,
        data: impl Fn(MapId) -> PyResult<MapData>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut groups: Vec<Vec<Bound<'py, PyAny>>> = vec![Vec::new(); count];
        for link in links {
            groups[link.to as usize].push(self.object(py, (link.map, link.leaf), || data(link.map))?);
        }
        let lists: PyResult<Vec<_>> = groups.into_iter().map(|g| PyList::new(py, g)).collect();
        PyList::new(py, lists?)
    }

    /// Shows the garbage collector the objects that may belong to a circle.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.views)?;
        visit.call(&self.made)?;
        visit.call(&self.foreign)
    }
}

fn map_of(value: &Bound<'_, PyAny>) -> PyResult<indexing_core::IndexingMap> {
    Ok(value.downcast::<PyIndexingMap>()?.get().0.clone())
}
