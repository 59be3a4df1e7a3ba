//! The text form of expressions and maps: reading and printing. `read(print(x)) == x`, always.
//!
//! ```text
//! (d0, d1)[s0]{rt0} -> (d0 * 8 + s0, d1 floordiv 4 + rt0), domain: d0 in [0, 3], .., d0 + s0 in [0, 9]
//! ```
//!
//! Reading goes straight from bytes into an arena, with a stack of its own: no depth of nesting overflows anything.
//! Printing chooses the cheapest spelling of a canonical node.

mod frame;
mod header;
mod parse_cache;
mod read_expr;
mod read_map;
mod scan;
mod write_expr;
mod write_map;
mod write_sum;

pub use read_expr::{read_expr, ReadScratch, VariableNames};
pub use read_map::{read_indexing_map, read_piecewise_map, read_symbolic_map};
pub use write_expr::{abridged_expr, write_expr, Style};
pub use write_map::{
    abridged_indexing_map, abridged_piecewise_map, abridged_symbolic_map, write_indexing_map,
    write_piecewise_map, write_symbolic_map,
};

/// The longest text that is printed, in bytes, unless it is long without being shared: shared subexpressions can make a
/// text exponentially long.
pub const MAX_TEXT_LENGTH: usize = 1 << 22;

/// The longest text of a word of a value: a number, an operator and brackets take less.
const MAX_TEXT_PER_WORD: usize = 64;
