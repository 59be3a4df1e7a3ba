//! `PiecewiseMap`: the relation that some maps are together.
//!
//! A map relates each point, the values of its dimensions and runtime variables, to the results that its range variables
//! give. The relation has the pairs of a point and results of all pieces: at one point, two pieces may have different results,
//! and a piece with range variables several.

use crate::error::{counted, Error, ErrorKind, Result};
use crate::map::indexing_map::{IndexingMap, MapKind};
use std::cmp::Ordering;
use std::sync::Arc;

/// The maximal number of pieces.
const MAX_PIECES: usize = 1 << 12;

/// The numbers of variables and results that the pieces of a relation have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// The number of dimensions.
    pub dims: usize,
    /// The number of runtime variables.
    pub runtimes: usize,
    /// The number of results.
    pub results: usize,
}

impl Signature {
    fn of(map: &IndexingMap) -> Self {
        Signature { dims: map.num_dims(), runtimes: map.num_runtimes(), results: map.num_results() }
    }
}

/// A relation by pieces: maps that differ from each other, none of them known to be empty, sorted, so that the order in which
/// they were given does not matter. Immutable, and cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PiecewiseMap {
    pieces: Arc<[IndexingMap]>,
}

impl PiecewiseMap {
    /// The union of maps. Errors: their numbers of dimensions, runtime variables or results differ; one is undefined; there are
    /// too many.
    pub fn new(mut pieces: Vec<IndexingMap>) -> Result<Self> {
        if pieces.iter().any(|m| m.kind() == MapKind::Undefined) {
            return Err(Error::invalid_map("nothing is known about an undefined map"));
        }
        pieces.retain(|m| m.kind() == MapKind::Defined);
        pieces.sort_by(order);
        pieces.dedup();
        check_count(pieces.len())?;
        let signature = pieces.first().map(Signature::of);
        pieces.iter().try_for_each(|m| check_signatures(signature, Some(Signature::of(m))))?;
        Ok(PiecewiseMap { pieces: pieces.into() })
    }

    /// The pieces, in their order.
    pub fn pieces(&self) -> &[IndexingMap] {
        &self.pieces
    }

    /// The numbers of variables and results; `None` if there are no pieces.
    pub fn signature(&self) -> Option<Signature> {
        self.pieces.first().map(Signature::of)
    }

    /// The pairs of either relation. Errors: as [`PiecewiseMap::new`].
    ///
    /// ```
    /// use indexing_core::{read_piecewise_map, write_piecewise_map, Arena, PiecewiseMap, ReadScratch, Style};
    ///
    /// let text = "(d0) -> (d0), domain: d0 in [0, 3]; (d0) -> (d0 - 4), domain: d0 in [4, 9]";
    /// let map = read_piecewise_map(text, &mut Arena::new(), &mut ReadScratch::default())?;
    /// assert_eq!(map.union(&map)?, map);
    /// assert_eq!(write_piecewise_map(&map, Style::Plain)?, text);
    /// # Ok::<(), indexing_core::Error>(())
    /// ```
    pub fn union(&self, other: &PiecewiseMap) -> Result<Self> {
        PiecewiseMap::new(self.pieces.iter().chain(&*other.pieces).cloned().collect())
    }
}

/// Pieces are ordered by the bounds of their variables, then by their structure.
fn order(a: &IndexingMap, b: &IndexingMap) -> Ordering {
    let bounds = |i: crate::interval::Interval| (i.lower, i.upper);
    a.intervals().map(bounds).cmp(b.intervals().map(bounds)).then_with(|| a.cmp(b))
}

/// Error: there are too many pieces.
pub(crate) fn check_count(count: usize) -> Result<()> {
    match count <= MAX_PIECES {
        true => Ok(()),
        false => {
            Err(Error::new(ErrorKind::Unsupported, format!("the relation has more than {MAX_PIECES} pieces")))
        }
    }
}

/// Error: the numbers of variables or results differ.
pub(crate) fn check_signatures(a: Option<Signature>, b: Option<Signature>) -> Result<()> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(()) };
    if a == b {
        return Ok(());
    }
    let say = |s: Signature| {
        let [dims, results] = [counted(s.dims, "dimension"), counted(s.results, "result")];
        format!("{dims}, {} and {results}", counted(s.runtimes, "runtime variable"))
    };
    Err(Error::invalid_map(format!("the maps are of different kinds: {}, and {}", say(a), say(b))))
}
