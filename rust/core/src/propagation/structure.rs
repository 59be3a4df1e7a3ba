//! Structural opcodes: those that rename arrays or call computations.

/// The structure of an opcode whose maps follow from the program alone, without a stated formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Structure {
    /// None: the formula is stated.
    #[default]
    None,
    /// Its arrays are those of operand 0, unmodified; its formula is stated.
    Passes,
    /// It renames arrays of its operands: those of one tuple element (attribute `index`), or all, in order.
    Names,
    /// It calls a computation on its operands.
    Calls,
    /// It starts a computation: its arrays are those of its operands, then the results, then contexts without data.
    Starts,
    /// It runs the branch that operand 0 selects; branch k is given operand k + 1.
    Branches,
    /// It repeats its `body`, at first on operand 0, while its `condition` holds.
    Loops,
}

impl Structure {
    /// The structure of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "passes" => Self::Passes,
            "names" => Self::Names,
            "calls" => Self::Calls,
            "starts" => Self::Starts,
            "branches" => Self::Branches,
            "loops" => Self::Loops,
            _ => return None,
        })
    }
}
