//! Maps between the arrays of instructions, how exact they are, and why.

use crate::map::indexing_map::IndexingMap;
use crate::propagation::joint_map::RuntimeValue;

/// The number of a map in [`OperandMaps`](super::operand_maps::OperandMaps).
pub type MapId = u32;

/// The exactness of a map, in falling order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exactness {
    /// The elements named are read, and no others.
    Exact,
    /// All elements read are named, possibly with others.
    OverApproximate,
    /// Nothing is known of the elements read.
    Unknown,
}

/// A relation between the elements of two arrays. Maps of equal relation to one array are merged.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Relation {
    /// The map from an index of the first array to those of the second.
    pub map: IndexingMap,
    /// The values of the runtime variables.
    pub values: Box<[RuntimeValue]>,
    /// The replicas whose arrays are read, if not the own one.
    pub replicas: Option<IndexingMap>,
}

impl Relation {
    pub(super) fn plain(map: IndexingMap) -> Self {
        Relation { map, values: Box::default(), replicas: None }
    }
}

/// A relation, how exact it is, and why.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OperandMap {
    /// The number of its [`Relation`].
    pub relation: u32,
    /// The exactness.
    pub exactness: Exactness,
    /// The number of the reason why it isn't exact; 0 for none.
    pub reason: u32,
    /// Exact maps whose union this map bounds.
    pub pieces: Option<Box<[MapId]>>,
}

impl OperandMap {
    /// Whether the map is exact, and not refined by pieces.
    pub(super) fn is_plain(&self) -> bool {
        self.exactness == Exactness::Exact && self.pieces.is_none()
    }
}

/// One map of an instruction's formula, or between a computation's root and its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The operand or parameter; of an inverse formula, the array of the result.
    pub to: u32,
    /// The array of the operand.
    pub leaf: u32,
    /// The map.
    pub map: MapId,
}

/// The direction in which maps lead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From an array of an instruction to those of its operands.
    ToOperands,
    /// From an array of an operand to those of the instruction.
    ToUsers,
}

/// A formula's direction, instruction and array; to users, the array is the number of an operand instead.
pub type Key = (Direction, u32, u32);
