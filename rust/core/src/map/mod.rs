//! Maps: symbolic maps, indexing maps with a domain, their variables, composition and simplification.

pub(crate) mod compose;
pub(crate) mod indexing_map;
pub(crate) mod instances;
pub(crate) mod names;
pub(crate) mod parametric;
pub(crate) mod piecewise_map;
pub(crate) mod simplify;
pub(crate) mod symbolic_map;
pub(crate) mod variables;
