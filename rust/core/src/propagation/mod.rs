//! Propagation of maps through the instructions of a program, from a computation's root to its parameters or back: maps
//! are composed together with their runtime values, and merged. Formulas of instructions follow from the structure of the
//! program, or are stated by the caller before it asks for maps.

pub(crate) mod array_sets;
pub(crate) mod array_sources;
pub(crate) mod constant_folding;
pub(crate) mod dependence_graph;
pub(crate) mod derive_formulas;
pub(crate) mod formulas;
pub(crate) mod interner;
pub(crate) mod joint_map;
pub(crate) mod known_elements;
pub(crate) mod map_sets;
pub(crate) mod operand_map;
pub(crate) mod operand_maps;
pub(crate) mod propagate;
pub(crate) mod reached_instructions;
pub(crate) mod reasons;
pub(crate) mod replicas;
pub(crate) mod scope;
pub(crate) mod stated_formulas;
pub(crate) mod structure;
