//! Nodes, as they are read and as the arena stores them.

/// A node of an [`Arena`](crate::Arena).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Expr(pub(crate) u32);

impl Expr {
    /// The position of the node in its arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One term of a sum: `coeff * expr`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// The nonzero coefficient.
    pub coeff: i64,
    /// The factor, neither a constant nor a sum.
    pub expr: Expr,
}

impl Term {
    /// `coeff * expr`.
    pub fn new(coeff: i64, expr: Expr) -> Self {
        Term { coeff, expr }
    }
}

/// A few terms, without an allocation.
pub(crate) type Terms = smallvec::SmallVec<[Term; 8]>;
/// A few nodes, without an allocation.
pub(crate) type Exprs = smallvec::SmallVec<[Expr; 8]>;

/// A node as it is read.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// A variable by its index.
    Variable(u32),
    /// `a floordiv b`; a constant `b` is at least 2.
    FloorDiv(Expr, Expr),
    /// `a mod b`; a constant `b` is at least 2.
    Mod(Expr, Expr),
    /// At least two factors, none a constant.
    Product(&'a [Expr]),
    /// At least two arguments; a constant is last.
    Min(&'a [Expr]),
    /// At least two arguments; a constant is last.
    Max(&'a [Expr]),
    /// `constant + sum of coeff * expr`.
    Sum(i64, &'a [Term]),
    /// A constant.
    Constant(i64),
}

/// A node without operands.
#[derive(Clone, Copy)]
pub(crate) enum Leaf {
    Variable(u32),
    Constant(i64),
}

/// The kinds of nodes, in the order in which terms are sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Tag {
    Variable,
    FloorDiv,
    Mod,
    Product,
    Min,
    Max,
    Sum,
    Constant,
}

impl Tag {
    /// Minima for maxima, and the other way round.
    pub(crate) fn opposite(self) -> Tag {
        if self == Tag::Min {
            Tag::Max
        } else {
            Tag::Min
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// The constant of a constant or a sum.
    pub(crate) value: i64,
    pub(crate) hash: u32,
    /// The variable, the first operand, or where the list starts.
    pub(crate) at: u32,
    /// The second operand, or the length of the list.
    pub(crate) len: u32,
    /// The variables below, each by its index modulo 16.
    pub(crate) variables: u16,
    pub(crate) tag: Tag,
    /// The number of its leaves, written out, up to [`MAX_WEIGHT`]; with the bit [`LINEAR`].
    pub(crate) shape: u8,
}

/// The bit of a shape for variables, and sums of variables alone.
pub(crate) const LINEAR: u8 = 0x80;
/// The greatest weight; greater ones saturate to it.
pub(crate) const MAX_WEIGHT: u8 = 0x7f;

pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The bit of a variable in the sets of variables that nodes have: that of its index modulo 16.
pub(crate) fn variable_bit(index: usize) -> u16 {
    1 << (index % u16::BITS as usize)
}

/// The weight of a node with one more operand, saturated.
pub(crate) fn added(weight: u8, shape: u8) -> u8 {
    (weight + (shape & !LINEAR)).min(MAX_WEIGHT)
}

pub(crate) fn finish(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

impl Record {
    pub(crate) fn of_constant(value: i64) -> Self {
        let hash = finish(mix(Tag::Constant as u64, value as u64));
        Record { value, hash, at: 0, len: 0, variables: 0, tag: Tag::Constant, shape: 1 }
    }

    pub(crate) fn of_variable(index: u32) -> Self {
        let hash = index.wrapping_add(1).wrapping_mul(0x9e37_79b1);
        let variables = variable_bit(index as usize);
        Record { value: 0, hash, at: index, len: 0, variables, tag: Tag::Variable, shape: 1 | LINEAR }
    }
}
