//! Exact answers about the relation that a map is: points, counts, images, inverses, differences; relations by pieces.

mod bisection;
mod changed_variables;
pub(crate) mod count;
mod count_digits;
pub(crate) mod image;
pub(crate) mod inverse;
mod join_digits;
pub(crate) mod join_pieces;
mod line;
pub(crate) mod membership;
pub(crate) mod piece_counts;
pub(crate) mod piece_values;
pub(crate) mod piecewise;
pub(crate) mod points;
pub(crate) mod relate;
mod shared_forms;
mod split_digits;
mod work;
