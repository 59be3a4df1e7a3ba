//! `OperandIndexing` objects of Python for maps of the core, and back.

use crate::error::Raised;
use crate::indexing_map::PyIndexingMap;
use indexing_core::{Exactness, Interval, Link, MapId, OperandMaps, Relation, RuntimeValue};
use pyo3::exceptions::PyValueError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use pyo3::PyTraverseError;
use std::collections::HashMap;

type Table<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
type Outcome<T> = Result<T, Raised>;
type RelationObjects = (Py<PyAny>, Py<PyAny>, Py<PyAny>); // the map, the runtime values, the map of replicas
/// Instructions of other modules have numbers from here on.
const FOREIGN: u32 = 1 << 31;

/// Objects that were made, or read, once.
#[derive(Default)]
pub struct Objects {
    made: Table<(MapId, u32), Py<PyAny>>,
    relations: Table<u32, RelationObjects>,
    reasons: Table<u32, Py<PyString>>,
    read: Table<usize, (Py<PyAny>, MapId, u32)>,
    foreign: Vec<Py<PyAny>>,
    pub may_be_known: Table<u32, bool>,
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
    /// The view of an instruction.
    pub fn instruction<'py>(&self, asked: &Bound<'py, PyAny>, number: u32) -> PyResult<Bound<'py, PyAny>> {
        match number.checked_sub(FOREIGN) {
            Some(k) => Ok(self.foreign[k as usize].bind(asked.py()).clone()),
            None => asked.call_method1("instruction", (number,)),
        }
    }

    /// The number of an instruction: its row, where it is one of the module.
    pub fn number(&mut self, asked: &Bound<'_, PyAny>, instruction: &Bound<'_, PyAny>) -> PyResult<u32> {
        let row: i64 = asked.call_method1("row", (instruction,))?.extract()?;
        if row >= 0 {
            return Ok(row as u32);
        }
        let known = self.foreign.iter().position(|f| f.is(instruction));
        let at = known.unwrap_or_else(|| {
            self.foreign.push(instruction.clone().unbind());
            self.foreign.len() - 1
        });
        Ok(FOREIGN + at as u32)
    }

    /// The number of an `OperandIndexing`, and its `leaf`.
    pub fn read(
        &mut self,
        asked: &Bound<'_, PyAny>,
        maps: &mut OperandMaps,
        m: &Bound<'_, PyAny>,
    ) -> Outcome<(MapId, u32)> {
        if let Some((_, id, leaf)) = self.read.get(&(m.as_ptr() as usize)) {
            return Ok((*id, *leaf));
        }
        let map = map_of(&m.getattr("map")?)?;
        let replicas = m.getattr("replica_map")?;
        let replicas = if replicas.is_none() { None } else { Some(map_of(&replicas)?) };
        let mut values = Vec::new();
        for v in m.getattr("runtime_values")?.try_iter()? {
            values.push(self.value(asked, &v?)?);
        }
        let pieces = m.getattr("pieces")?;
        let pieces = if pieces.is_none() {
            None
        } else {
            let ids: Outcome<Box<[MapId]>> =
                pieces.try_iter()?.map(|p| Ok(self.read(asked, maps, &p?)?.0)).collect();
            Some(ids?)
        };
        let exactness = exactness_of(m.getattr("exactness")?.extract()?)?;
        let reason = m.getattr("reason")?;
        let relation = Relation { map, values: values.into(), replicas };
        let id = maps.add(
            relation,
            exactness,
            reason.downcast::<PyString>().map_err(PyErr::from)?.to_str()?,
            pieces,
        );
        let leaf = m.getattr("leaf")?.extract()?;
        self.read.insert(m.as_ptr() as usize, (m.clone().unbind(), id, leaf));
        Ok((id, leaf))
    }

    fn value(&mut self, asked: &Bound<'_, PyAny>, v: &Bound<'_, PyAny>) -> PyResult<RuntimeValue> {
        let bounds: Option<(i64, i64)> = v.getattr("bounds")?.extract()?;
        Ok(RuntimeValue {
            instruction: self.number(asked, &v.getattr("instruction")?)?,
            map: map_of(&v.getattr("map")?)?,
            output: v.getattr("output")?.extract()?,
            drops: v.getattr("out_of_bounds")?.extract::<String>()? == "drop",
            bounds: bounds.map(|(lower, upper)| Interval::new(lower, upper)),
        })
    }

    /// The `OperandIndexing` of a map, of array `leaf`.
    pub fn object<'py>(
        &mut self,
        asked: &Bound<'py, PyAny>,
        maps: &OperandMaps,
        id: MapId,
        leaf: u32,
    ) -> Outcome<Bound<'py, PyAny>> {
        let py = asked.py();
        if let Some(made) = self.made.get(&(id, leaf)) {
            return Ok(made.bind(py).clone());
        }
        let m = maps.map(id);
        let pieces = match &m.pieces {
            None => py.None().into_bound(py),
            Some(ids) => {
                let all: Outcome<Vec<_>> = ids.iter().map(|p| self.object(asked, maps, *p, 0)).collect();
                PyTuple::new(py, all?)?.into_any()
            }
        };
        let reason =
            self.reasons.entry(m.reason).or_insert_with(|| PyString::new(py, maps.reason(m.reason)).unbind());
        let reason = reason.bind(py).clone();
        let (map, values, replicas) = self.relation_objects(asked, maps, m.relation)?;
        let exactness = exactness_text(m.exactness);
        let class = asked.getattr("operand_indexing")?;
        let made = class.call1((map, values, exactness, reason, replicas, leaf, pieces))?;
        self.made.insert((id, leaf), made.clone().unbind());
        Ok(made)
    }

    fn relation_objects(
        &mut self,
        asked: &Bound<'_, PyAny>,
        maps: &OperandMaps,
        number: u32,
    ) -> PyResult<RelationObjects> {
        let py = asked.py();
        if let Some((map, values, replicas)) = self.relations.get(&number) {
            return Ok((map.clone_ref(py), values.clone_ref(py), replicas.clone_ref(py)));
        }
        let relation = maps.relation(number);
        let class = asked.getattr("runtime_value")?;
        let mut values = Vec::new();
        for v in &relation.values {
            let instruction = self.instruction(asked, v.instruction)?;
            let out_of_bounds = if v.drops { "drop" } else { "clamp" };
            let bounds = v.bounds.map(|b| (b.lower, b.upper));
            values.push(class.call1((
                instruction,
                PyIndexingMap(v.map.clone()),
                v.output,
                out_of_bounds,
                bounds,
            ))?);
        }
        let replicas = match &relation.replicas {
            Some(map) => Py::new(py, PyIndexingMap(map.clone()))?.into_any(),
            None => py.None(),
        };
        let map = Py::new(py, PyIndexingMap(relation.map.clone()))?.into_any();
        let values = PyTuple::new(py, values)?.unbind().into_any();
        let found = (map.clone_ref(py), values.clone_ref(py), replicas.clone_ref(py));
        self.relations.insert(number, (map, values, replicas));
        Ok(found)
    }

    /// `count` lists, each of the objects of the links that lead there.
    pub fn grouped<'py>(
        &mut self,
        asked: &Bound<'py, PyAny>,
        maps: &OperandMaps,
        links: &[Link],
        count: usize,
    ) -> Outcome<Bound<'py, PyList>> {
        let py = asked.py();
        let mut groups: Vec<Vec<Bound<'py, PyAny>>> = vec![Vec::new(); count];
        for link in links {
            groups[link.to as usize].push(self.object(asked, maps, link.map, link.leaf)?);
        }
        let lists: PyResult<Vec<_>> = groups.into_iter().map(|g| PyList::new(py, g)).collect();
        Ok(PyList::new(py, lists?)?)
    }

    /// Shows the garbage collector the objects that may belong to a circle.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.made.values().try_for_each(|o| visit.call(o))?;
        self.relations.values().try_for_each(|(_, values, _)| visit.call(values))?;
        self.read.values().try_for_each(|(o, _, _)| visit.call(o))?;
        self.foreign.iter().try_for_each(|o| visit.call(o))
    }
}

fn map_of(value: &Bound<'_, PyAny>) -> PyResult<indexing_core::IndexingMap> {
    Ok(value.downcast::<PyIndexingMap>()?.get().0.clone())
}
