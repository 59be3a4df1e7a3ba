//! Symbolic indexing maps: expressions, their simplification over a domain, maps, counting, HLO text.
//!
//! Pure Rust: no Python, no I/O, no global state.

pub mod canonical;
pub mod dag;
pub mod domain;
pub mod error;
pub mod expr;
pub mod hlo_text;
pub mod int;
pub mod interval;
pub mod lattice;
pub mod range;
pub mod rules;
pub mod simplify;

pub use dag::Dag;
pub use error::{Error, ErrorKind, Result};
pub use expr::{Arena, Expr, Node, Term};
pub use interval::Interval;
