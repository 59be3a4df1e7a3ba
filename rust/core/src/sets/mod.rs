//! Exact answers about the relation that a map is: points, counts, images, inverses, differences.

pub(crate) mod count;
pub(crate) mod image;
pub(crate) mod inverse;
pub(crate) mod points;
pub(crate) mod relate;
