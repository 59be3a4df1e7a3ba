//! Symbolic indexing maps: expressions, their simplification over a domain, maps, counting, HLO text.
//!
//! Pure Rust: no Python, no I/O, no global state.

pub mod canonical;
pub mod compose;
pub mod constraints;
pub mod count;
pub mod dag;
pub mod dag_nodes;
pub mod definedness;
pub mod domain;
pub mod error;
pub mod evaluate;
pub mod expr;
pub mod facts;
pub mod hlo_text;
pub mod image;
pub mod indexing_map;
pub mod int;
pub mod interval;
pub mod inverse;
pub mod join;
pub mod lattice;
pub mod laws;
pub mod map;
pub mod map_simplify;
pub mod map_variables;
pub mod names;
pub mod order;
pub mod period;
pub mod points;
pub mod quotient;
pub mod range;
pub mod relate;
pub mod rules;
pub mod simplify;
pub mod tally;
pub mod text;
pub mod trace;
pub mod traffic;
pub mod traversal;
pub mod warps;
pub mod width;
pub mod work;

pub use dag::Dag;
pub use error::{Error, ErrorKind, Result};
pub use expr::{Arena, Expr, Node, Term};
pub use indexing_map::{Form, IndexingMap, OpenMap, Variable};
pub use interval::Interval;
pub use map::SymbolicMap;
pub use names::Names;
