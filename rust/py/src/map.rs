//! `SymbolicMap`.

use crate::argument::{style_of, text_of, Count, MAX_REPR_LENGTH};
use crate::error::Raise;
use crate::expr::{list, operands, split};
use crate::objects::{Any, Str, Tuple};
use crate::vector;
use crate::workspace::{self, TEXT};
use indexing_core::{
    abridged_symbolic_map, read_symbolic_map, write_symbolic_map, Arena, Expr, Result, SymbolicMap,
};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// `(d0, ..)[s0, ..] -> (results)`: variable i is dimension i for i < num_dims, then come the symbols.
#[pyclass(name = "SymbolicMap", module = "indexing", frozen, eq, hash)]
#[derive(PartialEq, Hash)]
pub struct PySymbolicMap(pub SymbolicMap);

fn made(py: Python<'_>, make: impl FnOnce(&mut Arena) -> Result<SymbolicMap>) -> PyResult<PySymbolicMap> {
    workspace::with(|w| make(&mut w.arena)).map(PySymbolicMap).raise(py)
}

#[pymethods]
impl PySymbolicMap {
    #[new]
    fn new(py: Python<'_>, num_dims: Count, num_symbols: Count, results: &Any<'_>) -> PyResult<Self> {
        let results = list(results)?;
        let results = operands(&results)?;
        made(py, |arena| {
            let roots: Vec<Expr> = results.iter().map(|r| r.import(arena)).collect();
            SymbolicMap::new(arena, num_dims.0, num_symbols.0, &roots)
        })
    }

    /// Read a map; runtime variables in braces are symbols too. Raises ParseError.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &Str<'_>) -> PyResult<Self> {
        let text = text_of(text)?;
        let read = || workspace::with(|w| read_symbolic_map(text, &mut w.arena, &mut w.reading));
        workspace::released(py, text.len() / TEXT, read).map(PySymbolicMap).raise_in(py, text)
    }

    /// The map of each dimension to itself.
    #[staticmethod]
    fn identity(py: Python<'_>, num_dims: Count) -> PyResult<Self> {
        made(py, |arena| SymbolicMap::identity(arena, num_dims.0))
    }

    /// The number of dimensions.
    #[getter]
    fn num_dims(&self) -> usize {
        self.0.num_dims()
    }

    /// The number of symbols.
    #[getter]
    fn num_symbols(&self) -> usize {
        self.0.num_symbols()
    }

    /// The results.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Tuple<'py>> {
        let all = workspace::with(|w| {
            let roots = w.arena.import(self.0.results());
            split(&mut w.arena, &roots)
        });
        PyTuple::new(py, all)
    }

    /// The values of the results: ints, or arrays if values are arrays (which are broadcast).
    #[pyo3(signature = (dims, symbols = None))]
    fn evaluate<'py>(&self, dims: &Any<'py>, symbols: Option<&Any<'py>>) -> PyResult<Tuple<'py>> {
        let py = dims.py();
        let values = vector::checked_values(dims, symbols, self.num_dims(), self.num_symbols())?;
        PyTuple::new(py, vector::evaluate(py, self.0.results(), self.0.results().root_count(), values)?)
    }

    /// The map with dimensions and symbols replaced, over that many variables; those beyond the lists are kept.
    fn replace_dims_and_symbols(
        &self,
        py: Python<'_>,
        dims: &Any<'_>,
        symbols: &Any<'_>,
        num_dims: Count,
        num_symbols: Count,
    ) -> PyResult<Self> {
        let (dims, symbols) = (list(dims)?, list(symbols)?);
        let (dims, symbols) = (operands(&dims)?, operands(&symbols)?);
        made(py, |arena| {
            let dims: Vec<Expr> = dims.iter().map(|e| e.import(arena)).collect();
            let symbols: Vec<Expr> = symbols.iter().map(|e| e.import(arena)).collect();
            self.0.replace_dims_and_symbols(arena, &dims, &symbols, num_dims.0, num_symbols.0)
        })
    }

    /// This map after `other`, whose results become this map's dimensions; symbols are this map's, then the other's.
    fn compose(&self, py: Python<'_>, other: &PySymbolicMap) -> PyResult<Self> {
        made(py, |arena| self.0.compose(arena, &other.0))
    }

    /// The map without dimensions that no result uses.
    fn compress_dims(&self, py: Python<'_>) -> PyResult<Self> {
        made(py, |arena| self.0.compress_dims(arena))
    }

    /// The map without symbols that no result uses.
    fn compress_symbols(&self, py: Python<'_>) -> PyResult<Self> {
        made(py, |arena| self.0.compress_symbols(arena))
    }

    /// The dimensions that no result uses.
    fn unused_dims(&self) -> Vec<usize> {
        workspace::with(|w| self.0.unused_dims(&mut w.arena))
    }

    /// The symbols that no result uses.
    fn unused_symbols(&self) -> Vec<usize> {
        workspace::with(|w| self.0.unused_symbols(&mut w.arena))
    }

    /// The map of the results at `indices`.
    fn sub_map(&self, py: Python<'_>, indices: Vec<Count>) -> PyResult<Self> {
        let indices: Vec<usize> = indices.iter().map(|i| i.0).collect();
        made(py, |arena| self.0.sub_map(arena, &indices))
    }

    /// Whether the results are the dimensions, in order.
    #[getter]
    fn is_identity(&self) -> bool {
        workspace::with(|w| self.0.is_identity(&mut w.arena))
    }

    /// Whether all results are constants.
    #[getter]
    fn is_constant(&self) -> bool {
        workspace::with(|w| self.0.is_constant(&mut w.arena))
    }

    /// The text.
    #[pyo3(signature = (style = None))]
    fn to_text(&self, py: Python<'_>, style: Option<&Str<'_>>) -> PyResult<String> {
        write_symbolic_map(&self.0, style_of(style)?).raise(py)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.to_text(py, None)
    }

    fn __repr__(&self) -> String {
        format!("SymbolicMap({})", abridged_symbolic_map(&self.0, MAX_REPR_LENGTH))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, (String,))> {
        Ok((slf.get_type().getattr("parse")?, (slf.get().__str__(slf.py())?,)))
    }
}
