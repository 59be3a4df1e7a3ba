//! `SymbolicMap`: expressions over dimensions and symbols, without a domain.

use crate::error::{counted, Error, Result};
use crate::expr::flat::Dag;
use crate::expr::{Arena, Expr};

/// `(d0, ..)[s0, ..] -> (results)`. Variable `i` is a dimension for `i < num_dims`, then come the symbols.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SymbolicMap {
    num_dims: u32,
    num_symbols: u32,
    results: Dag,
}

impl SymbolicMap {
    /// A map of the expressions `results`. Error: a variable that is neither dimension nor symbol.
    pub fn new(arena: &mut Arena, num_dims: usize, num_symbols: usize, results: &[Expr]) -> Result<Self> {
        let all = num_dims + num_symbols;
        if let Some(v) = arena.variables(results).last().filter(|v| **v as usize >= all) {
            let (dims, symbols) = (counted(num_dims, "dimension"), counted(num_symbols, "symbol"));
            return Err(Error::invalid_map(format!(
                "variable {v} is used, but the map has {dims} and {symbols}"
            )));
        }
        let count = |n: usize| u32::try_from(n).map_err(|_| Error::invalid_map("too many variables"));
        Ok(SymbolicMap {
            num_dims: count(num_dims)?,
            num_symbols: count(num_symbols)?,
            results: arena.export(results),
        })
    }

    /// The identity `(d0, .., dn) -> (d0, .., dn)`.
    pub fn identity(arena: &mut Arena, n: usize) -> Result<Self> {
        let results: Vec<Expr> = (0..n).map(|i| arena.variable(i as u32)).collect();
        SymbolicMap::new(arena, n, 0, &results)
    }

    /// The number of dimensions.
    pub fn num_dims(&self) -> usize {
        self.num_dims as usize
    }

    /// The number of symbols.
    pub fn num_symbols(&self) -> usize {
        self.num_symbols as usize
    }

    /// The results.
    pub fn results(&self) -> &Dag {
        &self.results
    }

    /// Whether the results are the dimensions, in order; symbols do not matter.
    pub fn is_identity(&self, arena: &mut Arena) -> bool {
        let results = arena.import(&self.results);
        results.len() == self.num_dims()
            && results.iter().enumerate().all(|(i, r)| arena.as_variable(*r) == Some(i as u32))
    }

    /// Whether all results are constants.
    pub fn is_constant(&self, arena: &mut Arena) -> bool {
        let results = arena.import(&self.results);
        results.iter().all(|r| arena.as_constant(*r).is_some())
    }

    /// Replaces dimensions and symbols; variables beyond the lists keep their place among the new ones:
    /// dimension `i` is variable `i`, symbol `j` is variable `num_dims + j` of the result.
    pub fn replace_dims_and_symbols(
        &self,
        arena: &mut Arena,
        dims: &[Expr],
        symbols: &[Expr],
        num_dims: usize,
        num_symbols: usize,
    ) -> Result<Self> {
        let mut variables = Vec::with_capacity(self.num_dims() + self.num_symbols());
        for i in 0..self.num_dims() {
            variables.push(dims.get(i).copied().unwrap_or_else(|| arena.variable(i as u32)));
        }
        for j in 0..self.num_symbols() {
            variables.push(symbols.get(j).copied().unwrap_or_else(|| arena.variable((num_dims + j) as u32)));
        }
        let results = arena.import_substituted(&self.results, &variables)?;
        SymbolicMap::new(arena, num_dims, num_symbols, &results)
    }

    /// Composes this map after `other`: other's results become this map's dimensions; symbols are this map's, then other's.
    pub fn compose(&self, arena: &mut Arena, other: &SymbolicMap) -> Result<Self> {
        if other.results.root_count() != self.num_dims() {
            return Err(Error::cannot_follow(self.num_dims(), other.results.root_count()));
        }
        let dims = other.num_dims();
        let shift = |v: usize| if v < dims { v } else { v + self.num_symbols() };
        let variables: Vec<Expr> =
            (0..dims + other.num_symbols()).map(|v| arena.variable(shift(v) as u32)).collect();
        let mut inner = arena.import_substituted(&other.results, &variables)?;
        inner.extend((0..self.num_symbols()).map(|j| arena.variable((dims + j) as u32)));
        let results = arena.import_substituted(&self.results, &inner)?;
        SymbolicMap::new(arena, dims, self.num_symbols() + other.num_symbols(), &results)
    }

    /// The variables that no result uses.
    fn unused(&self, arena: &mut Arena) -> Vec<bool> {
        let results = arena.import(&self.results);
        let mut unused = vec![true; self.num_dims() + self.num_symbols()];
        for v in arena.variables(&results) {
            unused[v as usize] = false;
        }
        unused
    }

    /// The dimensions that no result uses.
    pub fn unused_dims(&self, arena: &mut Arena) -> Vec<usize> {
        let unused = self.unused(arena);
        (0..self.num_dims()).filter(|i| unused[*i]).collect()
    }

    /// The symbols that no result uses.
    pub fn unused_symbols(&self, arena: &mut Arena) -> Vec<usize> {
        let unused = self.unused(arena);
        (0..self.num_symbols()).filter(|j| unused[self.num_dims() + j]).collect()
    }

    /// Removes the dimensions that no result uses.
    pub fn compress_dims(&self, arena: &mut Arena) -> Result<Self> {
        let dropped = self.unused_dims(arena);
        self.without(arena, &dropped, &[])
    }

    /// Removes the symbols that no result uses.
    pub fn compress_symbols(&self, arena: &mut Arena) -> Result<Self> {
        let dropped = self.unused_symbols(arena);
        self.without(arena, &[], &dropped)
    }

    fn without(&self, arena: &mut Arena, dims: &[usize], symbols: &[usize]) -> Result<Self> {
        let num_dims = self.num_dims() - dims.len();
        let kept_before = |dropped: &[usize], i: usize| i - dropped.partition_point(|d| *d < i);
        let new_dims: Vec<Expr> =
            (0..self.num_dims()).map(|i| arena.variable(kept_before(dims, i) as u32)).collect();
        let new_symbols: Vec<Expr> = (0..self.num_symbols())
            .map(|j| arena.variable((num_dims + kept_before(symbols, j)) as u32))
            .collect();
        let num_symbols = self.num_symbols() - symbols.len();
        self.replace_dims_and_symbols(arena, &new_dims, &new_symbols, num_dims, num_symbols)
    }

    /// The map of the results at `indices`. Error: an index beyond the results.
    pub fn sub_map(&self, arena: &mut Arena, indices: &[usize]) -> Result<Self> {
        let all = arena.import(&self.results);
        let mut results = Vec::with_capacity(indices.len());
        for &i in indices {
            results.push(*all.get(i).ok_or_else(|| {
                Error::invalid_map(format!("result {i} is asked for, but the map has {}", all.len()))
            })?);
        }
        SymbolicMap::new(arena, self.num_dims(), self.num_symbols(), &results)
    }
}
