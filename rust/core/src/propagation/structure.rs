//! The ways in which opcodes hand whole arrays on: under other names, or through computations.

/// The maps that follow from an instruction's place in the program alone, without a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Structure {
    /// Nothing: whoever knows the opcode states its formula.
    #[default]
    None,
    /// Nothing but that its arrays are those of operand 0, untouched.
    Passes,
    /// Its arrays are arrays of its operands: those of an element (attribute `index`), or of all, one after the other.
    Names,
    /// It is the computation that it calls, whose parameters are its operands.
    Calls,
    /// Its arrays are those of its operands, then those of the computation that it calls, then others without data.
    Starts,
    /// It is one of the computations that it calls, operand 0 says which; computation k is given operand k + 1.
    Branches,
    /// Its `body` is run again and again on its own result, operand 0 at first, while its `condition` holds.
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
