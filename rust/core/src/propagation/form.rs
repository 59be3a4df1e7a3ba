//! A map between instructions' arrays, and what is said about it.

use crate::map::indexing_map::IndexingMap;
use crate::propagation::joint::Value;
use crate::propagation::operand_map::MapId;

/// The exactness of a map, from the most exact on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exactness {
    /// These elements and no others.
    Exact,
    /// No fewer than these.
    OverApproximate,
    /// Nothing is known.
    Unknown,
}

/// The part of a map that tells it apart from others that lead to one array.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Form {
    /// From an index on the near side to those on the far side.
    pub map: IndexingMap,
    /// Of each runtime variable, where its value stands.
    pub values: Box<[Value]>,
    /// Which replicas' arrays are meant, where they are not the replica's own.
    pub replicas: Option<IndexingMap>,
}

impl Form {
    pub(super) fn plain(map: IndexingMap) -> Self {
        Form { map, values: Box::default(), replicas: None }
    }
}

/// A map with what is said about it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OperandMap {
    /// The number of its [`Form`].
    pub form: u32,
    /// Its exactness.
    pub exactness: Exactness,
    /// The number of the reason why it isn't exact; 0 is no reason.
    pub reason: u32,
    /// Maps whose union it bounds, exactly.
    pub pieces: Option<Box<[MapId]>>,
}

impl OperandMap {
    /// Whether these elements and no others are meant, and that is all there is to say.
    pub(super) fn is_plain(&self) -> bool {
        self.exactness == Exactness::Exact && self.pieces.is_none()
    }
}
