//! Maps through the instructions of a program: composed with the values of their runtime variables, merged, followed
//! from a root to the parameters or the other way. Formulas of instructions come from the program's structure, or from
//! whoever asks.

pub(crate) mod follow;
pub(crate) mod form;
pub(crate) mod formulas;
pub(crate) mod found;
pub(crate) mod interner;
pub(crate) mod joint;
pub(crate) mod needs;
pub(crate) mod operand_map;
pub(crate) mod reached;
pub(crate) mod replicas;
pub(crate) mod sources;
pub(crate) mod structure;
pub(crate) mod walk;
