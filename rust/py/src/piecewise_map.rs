//! `PiecewiseMap`: relations by pieces.

use crate::argument::{refused, style_of, text_of, MAX_REPR_LENGTH};
use crate::equivalence::PyEquivalence;
use crate::error::{guarded, Raise};
use crate::expr::list;
use crate::indexing_map::PyIndexingMap;
use crate::objects::{Any, Given, Str, Tuple};
use crate::questions::product;
use crate::vector;
use crate::workspace::{self, TEXT};
use indexing_core::{
    abridged_piecewise_map, are_disjoint, common_pairs, compose_pieces, count_pairs, count_results, covers,
    differing_point, has_no_pairs, inverse_pieces, is_function, read_piecewise_map, simplify_pieces,
    subtract, write_piecewise_map, Arena, PieceValues, PiecewiseMap, Result, Scratch,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

/// A relation by pieces: the pairs of a point and results of all of its maps.
///
/// A point is the values of dimensions and runtime variables; a map relates it to the results that the range variables give.
/// Pieces may overlap, and may have different results at one point (`is_function` says whether they do). The text of a relation
/// is that of its pieces, separated by `;`. Arguments may be maps as well, and `first * second` composes.
#[pyclass(name = "PiecewiseMap", module = "indexing", frozen, eq, hash)]
#[derive(PartialEq, Hash)]
pub struct PyPiecewiseMap(pub PiecewiseMap);

/// A relation, given as such or as a map.
pub struct Relation(pub PiecewiseMap);

impl<'py> FromPyObject<'_, 'py> for Relation {
    type Error = PyErr;

    fn extract(given: Given<'_, 'py>) -> PyResult<Self> {
        if let Ok(relation) = given.cast::<PyPiecewiseMap>() {
            return Ok(Relation(relation.get().0.clone()));
        }
        match given.cast::<PyIndexingMap>() {
            Ok(map) => PiecewiseMap::new(vec![map.get().0.clone()]).map(Relation).raise(given.py()),
            Err(_) => Err(refused(&given, "an IndexingMap or a PiecewiseMap")),
        }
    }
}

type Question<T> = fn(&mut Arena, &mut Scratch, &PiecewiseMap, &PiecewiseMap) -> Result<T>;

/// Ask a question about two relations: the GIL is released.
fn asked_of<T: Send>(
    py: Python<'_>,
    a: &PiecewiseMap,
    b: &PiecewiseMap,
    question: Question<T>,
) -> PyResult<T> {
    let work = || workspace::with(|w| question(&mut w.arena, &mut w.scratch, a, b));
    guarded(py, || py.detach(work))?.raise(py)
}

impl PyPiecewiseMap {
    fn asked<T: Send>(
        &self,
        py: Python<'_>,
        question: fn(&mut Arena, &mut Scratch, &PiecewiseMap) -> Result<T>,
    ) -> PyResult<T> {
        let work = || workspace::with(|w| question(&mut w.arena, &mut w.scratch, &self.0));
        guarded(py, || py.detach(work))?.raise(py)
    }

    /// The pieces as functions, and the values of a point's dimensions and runtime variables.
    fn values<'py>(
        &self,
        dims: &Any<'py>,
        symbols: Option<&Any<'py>>,
    ) -> PyResult<(PieceValues, vector::Values<'py>)> {
        let pieces = workspace::with(|w| PieceValues::new(&mut w.arena, &self.0)).raise(dims.py())?;
        let signature = pieces.signature();
        let values = vector::checked_values(dims, symbols, signature.dims, signature.runtimes)?;
        Ok((pieces, values))
    }
}

/// The values of one point, as columns.
fn as_columns(point: &[i64]) -> Vec<&[i64]> {
    point.iter().map(std::slice::from_ref).collect()
}

#[pymethods]
impl PyPiecewiseMap {
    #[new]
    #[pyo3(signature = (pieces))]
    fn new(pieces: &Any<'_>) -> PyResult<Self> {
        let mut maps = Vec::new();
        for piece in list(pieces)? {
            maps.extend_from_slice(piece.extract::<Relation>()?.0.pieces());
        }
        PiecewiseMap::new(maps).map(PyPiecewiseMap).raise(pieces.py())
    }

    /// Read a relation: the texts of its pieces, separated by `;`. Raises ParseError, and InvalidMap for pieces of different
    /// kinds.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &Str<'_>) -> PyResult<Self> {
        let text = text_of(text)?;
        let read = || workspace::with(|w| read_piecewise_map(text, &mut w.arena, &mut w.reading));
        guarded(py, || workspace::released(py, text.len() / TEXT, read))?
            .map(PyPiecewiseMap)
            .raise_in(py, text)
    }

    /// The pieces, in an order that does not depend on how they were given.
    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        let each = self.0.pieces().iter().map(|m| Py::new(py, PyIndexingMap(m.clone())));
        PyTuple::new(py, each.collect::<PyResult<Vec<_>>>()?)
    }

    /// The pairs of either relation. Raises InvalidMap where the numbers of variables or results differ.
    pub fn union(&self, py: Python<'_>, other: Relation) -> PyResult<Self> {
        self.0.union(&other.0).map(PyPiecewiseMap).raise(py)
    }

    /// The pairs that the other relation does not have.
    ///
    /// Exact; raises Undecided where range variables of the other cannot be eliminated.
    pub fn subtract(&self, py: Python<'_>, other: Relation) -> PyResult<Self> {
        asked_of(py, &self.0, &other.0, subtract).map(PyPiecewiseMap)
    }

    /// The common pairs, with the range variables of both.
    fn intersect(&self, py: Python<'_>, other: Relation) -> PyResult<Self> {
        asked_of(py, &self.0, &other.0, common_pairs).map(PyPiecewiseMap)
    }

    /// Whether the relations have no pair in common. Exact; raises Undecided.
    pub fn is_disjoint(&self, py: Python<'_>, other: Relation) -> PyResult<bool> {
        asked_of(py, &self.0, &other.0, are_disjoint)
    }

    /// Whether all pairs of the other relation are pairs of this one. Exact; raises Undecided as `subtract`.
    pub fn covers(&self, py: Python<'_>, other: Relation) -> PyResult<bool> {
        asked_of(py, &self.0, &other.0, covers)
    }

    /// Whether the pairs are the same: true, or false with a counterexample, a point (dims, runtimes).
    fn equivalent(&self, py: Python<'_>, other: Relation) -> PyResult<PyEquivalence> {
        asked_of(py, &self.0, &other.0, differing_point).map(PyEquivalence)
    }

    /// The pairs (x, z) with (x, y) in this relation and (y, z) in the second, piece by piece.
    fn compose(&self, py: Python<'_>, second: Relation) -> PyResult<Self> {
        asked_of(py, &self.0, &second.0, compose_pieces).map(PyPiecewiseMap)
    }

    fn __mul__(&self, py: Python<'_>, second: Relation) -> PyResult<Self> {
        self.compose(py, second)
    }

    /// The inverse relation, from results to dimensions, piece by piece.
    fn inverse(&self, py: Python<'_>) -> PyResult<Self> {
        self.asked(py, inverse_pieces).map(PyPiecewiseMap)
    }

    /// The same relation in fewer and simpler pieces: without empty ones and those in others, neighbours as one.
    fn simplify(&self, py: Python<'_>) -> PyResult<Self> {
        self.asked(py, simplify_pieces).map(PyPiecewiseMap)
    }

    /// Whether there are no pairs. Exact; raises Undecided.
    fn is_empty(&self, py: Python<'_>) -> PyResult<bool> {
        self.asked(py, has_no_pairs)
    }

    /// Whether each point has one result at most. Exact; raises Undecided.
    fn is_function(&self, py: Python<'_>) -> PyResult<bool> {
        self.asked(py, is_function)
    }

    /// The number of pairs, each counted once: of points, if the relation is a function. Exact; raises Undecided.
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        sum(py, &self.asked(py, count_pairs)?)
    }

    /// The number of different results. Exact; raises Undecided.
    fn image_count<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        sum(py, &self.asked(py, count_results)?)
    }

    /// Whether some piece has the point, given by dimensions and runtime variables: a bool, or an array of them.
    ///
    /// Raises InvalidMap if a piece has range variables.
    #[pyo3(signature = (dims, symbols = None))]
    fn contains<'py>(&self, dims: &Any<'py>, symbols: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        let py = dims.py();
        let (pieces, values) = self.values(dims, symbols)?;
        match values {
            vector::Values::Point(point) => {
                let mut inside = [0u8];
                pieces.contains_each(&as_columns(&point), &mut inside).raise(py)?;
                Ok(PyBool::new(py, inside[0] == 1).to_owned().into_any())
            }
            vector::Values::Many(values) => {
                let columns = vector::columns(py, values)?;
                let inside = |inputs: &[&[i64]], out: &mut [&mut [u8]]| pieces.contains_each(inputs, out[0]);
                vector::map_columns(py, &columns, 1, inside)?[0].call_method1("view", ("bool",))
            }
        }
    }

    /// The results at a point, given by dimensions and runtime variables: ints, or arrays where values are arrays.
    ///
    /// Raises InvalidMap if no piece has the point, if pieces disagree, or if one has range variables.
    #[pyo3(signature = (dims, symbols = None))]
    fn evaluate<'py>(&self, dims: &Any<'py>, symbols: Option<&Any<'py>>) -> PyResult<Tuple<'py>> {
        let py = dims.py();
        let (pieces, values) = self.values(dims, symbols)?;
        let count = pieces.signature().results;
        match values {
            vector::Values::Point(point) => {
                let mut row = vec![0i64; count];
                let mut rows: Vec<&mut [i64]> = row.iter_mut().map(std::slice::from_mut).collect();
                pieces.evaluate_each(&as_columns(&point), &mut rows).raise(py)?;
                PyTuple::new(py, row)
            }
            vector::Values::Many(values) => {
                let columns = vector::columns(py, values)?;
                let results = |inputs: &[&[i64]], out: &mut [&mut [i64]]| pieces.evaluate_each(inputs, out);
                PyTuple::new(py, vector::map_columns(py, &columns, count, results)?)
            }
        }
    }

    /// The text: the pieces on one line, separated by `; `.
    #[pyo3(signature = (style = None))]
    fn to_text(&self, py: Python<'_>, style: Option<&Str<'_>>) -> PyResult<String> {
        write_piecewise_map(&self.0, style_of(style)?).raise(py)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.to_text(py, None)
    }

    fn __repr__(&self) -> String {
        format!("PiecewiseMap({})", abridged_piecewise_map(&self.0, MAX_REPR_LENGTH))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, (String,))> {
        Ok((slf.get_type().getattr("parse")?, (slf.get().__str__(slf.py())?,)))
    }
}

fn sum<'py>(py: Python<'py>, terms: &[Vec<u128>]) -> PyResult<Any<'py>> {
    let zero = 0u128.into_pyobject(py)?.into_any();
    terms.iter().try_fold(zero, |n, factors| n.add(product(py, factors)?))
}

#[pymethods]
impl PyIndexingMap {
    /// The relation that has the pairs of both maps, of a point and its results. Raises InvalidMap where the numbers of
    /// dimensions, runtime variables or results differ.
    fn union(slf: &Bound<'_, Self>, other: Relation) -> PyResult<PyPiecewiseMap> {
        relation_of(slf)?.union(slf.py(), other)
    }

    /// The pairs of a point and its results that the other map or relation does not have, by pieces.
    ///
    /// Exact; raises Undecided where range variables of the other cannot be eliminated.
    fn subtract(slf: &Bound<'_, Self>, other: Relation) -> PyResult<PyPiecewiseMap> {
        relation_of(slf)?.subtract(slf.py(), other)
    }

    /// Whether no point has a result in both. Exact; raises Undecided.
    fn is_disjoint(slf: &Bound<'_, Self>, other: Relation) -> PyResult<bool> {
        relation_of(slf)?.is_disjoint(slf.py(), other)
    }

    /// Whether all pairs of the other map or relation are pairs of this one. Exact; raises Undecided as `subtract`.
    fn covers(slf: &Bound<'_, Self>, other: Relation) -> PyResult<bool> {
        relation_of(slf)?.covers(slf.py(), other)
    }
}

fn relation_of(map: &Bound<'_, PyIndexingMap>) -> PyResult<PyPiecewiseMap> {
    map.extract::<Relation>().map(|relation| PyPiecewiseMap(relation.0))
}
