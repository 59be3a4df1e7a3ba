//! `OperandIndexing` objects of Python for maps of the core, and back.

use crate::forks::Shared;
use crate::indexing_map::PyIndexingMap;
use crate::objects::Any;
use indexing_core::{Exactness, Interval, Link, MapId, OperandMaps, Propagation, Relation, RuntimeValue};
use pyo3::exceptions::PyValueError;
use pyo3::gc::PyVisit;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::PyTraverseError;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Table<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
/// Instructions of other modules have numbers from here on.
const FOREIGN: u32 = 1 << 31;

/// A map that Python states, whose instructions have numbers; independent of the tables of the core.
pub struct MapData {
    relation: Relation,
    exactness: Exactness,
    reason: String,
    pieces: Option<Vec<MapData>>,
}

impl MapData {
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
    /// Locked for a look only: no thread calls Python meanwhile.
    made: Mutex<Made>,
    /// Instructions of other modules.
    foreign: Py<PyList>,
}

/// The objects made so far.
#[derive(Default)]
struct Made {
    /// By number of the map, and array.
    maps: Table<(MapId, u32), Py<PyAny>>,
    /// By number of the relation, which many maps share.
    relations: Table<u32, RelationObjects>,
}

/// The objects of a relation.
struct RelationObjects {
    map: Py<PyIndexingMap>,
    values: Py<PyTuple>,
    replicas: Option<Py<PyIndexingMap>>,
}

impl RelationObjects {
    fn clone_ref(&self, py: Python<'_>) -> Self {
        let replicas = self.replicas.as_ref().map(|replicas| replicas.clone_ref(py));
        RelationObjects { map: self.map.clone_ref(py), values: self.values.clone_ref(py), replicas }
    }
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
    let exactness = all.into_iter().find(|e| exactness_text(*e) == text);
    exactness.ok_or_else(|| PyValueError::new_err(format!("{text:?} says not how exact a map is")))
}

impl Objects {
    pub fn new(views: Any<'_>) -> Self {
        let py = views.py();
        Objects { views: views.unbind(), made: Mutex::default(), foreign: PyList::empty(py).unbind() }
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view of an instruction.
    fn instruction<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Any<'py>> {
        match number.checked_sub(FOREIGN) {
            Some(k) => self.foreign.bind(py).get_item(k as usize),
            None => self.views.bind(py).call_method1("instruction", (number,)),
        }
    }

    /// The number of an instruction: its row, where it is one of the module.
    pub fn number(&self, instruction: &Any<'_>) -> PyResult<u32> {
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
    pub fn read(&self, object: &Any<'_>) -> PyResult<MapData> {
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
    pub fn read_links(&self, lists: &[Vec<Any<'_>>]) -> PyResult<Vec<(u32, u32, MapData)>> {
        let objects =
            lists.iter().zip(0..).flat_map(|(list, to)| list.iter().map(move |object| (to, object)));
        objects.map(|(to, object)| Ok((to, object.getattr("leaf")?.extract()?, self.read(object)?))).collect()
    }

    fn value(&self, object: &Any<'_>) -> PyResult<RuntimeValue> {
        let bounds: Option<(i64, i64)> = object.getattr("bounds")?.extract()?;
        Ok(RuntimeValue {
            instruction: self.number(&object.getattr("instruction")?)?,
            map: map_of(&object.getattr("map")?)?,
            output: object.getattr("output")?.extract()?,
            drops: object.getattr("out_of_bounds")?.extract::<String>()? == "drop",
            bounds: bounds.map(|(lower, upper)| Interval::new(lower, upper)),
        })
    }

    /// The `OperandIndexing` of a map, to array `leaf`.
    pub fn object<'py>(
        &self,
        py: Python<'py>,
        propagation: &Shared<Propagation>,
        (id, leaf): (MapId, u32),
    ) -> PyResult<Any<'py>> {
        if let Some(known) = self.made().maps.get(&(id, leaf)) {
            return Ok(known.bind(py).clone());
        }
        let (map, reason) = propagation.briefly(py, |propagation| {
            let maps = &propagation.sets.maps;
            (maps.map(id).clone(), maps.reason(maps.map(id).reason).to_string())
        });
        let piece = |id: &MapId| self.object(py, propagation, (*id, 0));
        let pieces =
            map.pieces.map(|ids| PyTuple::new(py, ids.iter().map(piece).collect::<PyResult<Vec<_>>>()?));
        let relation = self.relation(py, propagation, map.relation)?;
        let exactness = PyString::intern(py, exactness_text(map.exactness));
        let reason = PyString::intern(py, &reason);
        let parts =
            (relation.map, relation.values, exactness, reason, relation.replicas, leaf, pieces.transpose()?);
        let object = self.views.bind(py).getattr(intern!(py, "operand_indexing"))?.call1(parts)?;
        self.made().maps.insert((id, leaf), object.clone().unbind());
        Ok(object)
    }

    fn relation(
        &self,
        py: Python<'_>,
        propagation: &Shared<Propagation>,
        number: u32,
    ) -> PyResult<RelationObjects> {
        if let Some(known) = self.made().relations.get(&number) {
            return Ok(known.clone_ref(py));
        }
        let relation = propagation.briefly(py, |propagation| propagation.sets.maps.relation(number).clone());
        let views = self.views.bind(py);
        let values = relation.values.iter().map(|v| self.make_value(views, v));
        let values = PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?.unbind();
        let replicas = relation.replicas.map(|replicas| Py::new(py, PyIndexingMap(replicas)));
        let map = Py::new(py, PyIndexingMap(relation.map))?;
        let made = RelationObjects { map, values, replicas: replicas.transpose()? };
        self.made().relations.insert(number, made.clone_ref(py));
        Ok(made)
    }

    fn make_value<'py>(&self, views: &Any<'py>, v: &RuntimeValue) -> PyResult<Any<'py>> {
        let out_of_bounds = if v.drops { "drop" } else { "clamp" };
        let instruction = self.instruction(views.py(), v.instruction)?;
        let bounds = v.bounds.map(|b| (b.lower, b.upper));
        let class = views.getattr(intern!(views.py(), "runtime_value"))?;
        class.call1((instruction, PyIndexingMap(v.map.clone()), v.output, out_of_bounds, bounds))
    }

    /// The objects of links, by where they lead.
    pub fn grouped<'py>(
        &self,
        py: Python<'py>,
        propagation: &Shared<Propagation>,
        links: &[Link],
    ) -> PyResult<Bound<'py, PyDict>> {
        let groups = PyDict::new(py);
        for link in links {
            let object = self.object(py, propagation, (link.map, link.leaf))?;
            match groups.get_item(link.to)? {
                Some(known) => known.cast::<PyList>()?.append(object)?,
                None => groups.set_item(link.to, PyList::new(py, [object])?)?,
            }
        }
        Ok(groups)
    }

    /// Shows the garbage collector the objects that may belong to a circle.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.views)?;
        visit.call(&self.foreign)?;
        let Ok(made) = self.made.try_lock() else { return Ok(()) };
        made.maps.values().try_for_each(|object| visit.call(object))?;
        made.relations.values().try_for_each(|relation| visit.call(&relation.values))
    }
}

fn map_of(value: &Any<'_>) -> PyResult<indexing_core::IndexingMap> {
    Ok(value.cast::<PyIndexingMap>()?.get().0.clone())
}
