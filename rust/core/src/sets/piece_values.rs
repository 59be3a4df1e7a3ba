//! Values of relations by pieces at given points.

use crate::error::{Error, Result};
use crate::expr::flat::Dag;
use crate::expr::Arena;
use crate::map::indexing_map::IndexingMap;
use crate::map::piecewise_map::{PiecewiseMap, Signature};
use crate::sets::points::Domain;

/// The pieces of a relation without range variables, for questions about many points.
pub struct PieceValues {
    signature: Signature,
    pieces: Vec<(Domain, Dag)>,
}

/// The columns of the points at `places`.
fn gathered(columns: &[&[i64]], places: &[usize]) -> Vec<Vec<i64>> {
    columns.iter().map(|column| places.iter().map(|k| column[*k]).collect()).collect()
}

impl PieceValues {
    /// The pieces. Error: one has range variables, which give several results at a point.
    pub fn new(arena: &mut Arena, map: &PiecewiseMap) -> Result<Self> {
        let Some(signature) = map.signature() else {
            return Err(Error::invalid_map(
                "a relation without pieces has no points, and no number of variables",
            ));
        };
        if map.pieces().iter().any(|m| m.num_ranges() > 0) {
            return Err(Error::invalid_map(
                "a piece with range variables has several results at a point: ask `pieces`, each of which takes the \
                 values of its range variables",
            ));
        }
        let parts = |m: &IndexingMap| (m.domain(arena), m.dag().clone());
        Ok(PieceValues { signature, pieces: map.pieces().iter().map(parts).collect() })
    }

    /// The numbers of variables and results.
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// Writes to `inside`, for each point, 1 if some piece has it, and 0 otherwise. `columns[i]` are the values of variable `i`.
    pub fn contains_each(&self, columns: &[&[i64]], inside: &mut [u8]) -> Result<()> {
        let mut own = vec![0; inside.len()];
        inside.fill(0);
        for (domain, _) in &self.pieces {
            domain.contains_each(columns, &mut own)?;
            inside.iter_mut().zip(&own).for_each(|(all, own)| *all |= own);
        }
        Ok(())
    }

    /// Writes the results at each point. Errors: no piece has a point; pieces that have it disagree; a value leaves int64.
    pub fn evaluate_each(&self, columns: &[&[i64]], out: &mut [&mut [i64]]) -> Result<()> {
        let count = columns.first().map_or(out.first().map_or(1, |row| row.len()), |column| column.len());
        let mut known = vec![0u8; count];
        let mut own = vec![0; count];
        for (domain, dag) in &self.pieces {
            domain.contains_each(columns, &mut own)?;
            let places: Vec<usize> = (0..count).filter(|k| own[*k] == 1).collect();
            let points = gathered(columns, &places);
            let points: Vec<&[i64]> = points.iter().map(Vec::as_slice).collect();
            let mut values = vec![vec![0; places.len()]; self.signature.results];
            let mut rows: Vec<&mut [i64]> = values.iter_mut().map(Vec::as_mut_slice).collect();
            dag.evaluate_block(&points, &mut rows)?;
            for (j, k) in places.iter().enumerate() {
                let differs = values.iter().zip(&*out).any(|(new, old)| new[j] != old[*k]);
                if known[*k] == 1 && differs {
                    return Err(self.refused("pieces disagree about the result", columns, *k));
                }
                values.iter().zip(&mut *out).for_each(|(new, old)| old[*k] = new[j]);
                known[*k] = 1;
            }
        }
        match known.iter().position(|k| *k == 0) {
            Some(k) => Err(self.refused("no piece has a result", columns, k)),
            None => Ok(()),
        }
    }

    fn refused(&self, why: &str, columns: &[&[i64]], k: usize) -> Error {
        let values: Vec<i64> = columns.iter().map(|column| column[k]).collect();
        let (dims, runtimes) = values.split_at(self.signature.dims);
        Error::invalid_map(format!("{why} at {dims:?}, {runtimes:?}"))
    }
}
