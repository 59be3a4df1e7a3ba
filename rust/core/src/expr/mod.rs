//! Expressions: nodes in an arena, the constructors that make them canonical, traversals, and what is kept of them.

pub(crate) mod arena;
pub(crate) mod canonical;
pub(crate) mod evaluate;
pub(crate) mod flat;
pub(crate) mod flat_nodes;
pub(crate) mod intern;
pub(crate) mod min_max;
pub(crate) mod node;
pub(crate) mod order;
pub(crate) mod quotient;
pub(crate) mod recombine;
pub(crate) mod rows;
pub(crate) mod traversal;
pub(crate) mod work;

pub use arena::Arena;
pub(crate) use arena::{Words, FIRST_VARIABLES};
pub(crate) use node::{variable_bit, Exprs, Leaf, Tag, Terms};
pub use node::{Expr, Node, Term};
