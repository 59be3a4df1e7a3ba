//! Structural opcodes: those that rename or move arrays, count, or call computations.

/// The structure of an opcode. The maps of some follow from the program alone, without a stated formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Structure {
    /// None: the formula is stated.
    #[default]
    None,
    /// Its arrays are those of operand 0, unmodified; its formula is stated.
    Passes,
    /// It passes operand 0, whose elements are known before run time if they are constants; its formula is stated.
    Copies,
    /// It moves elements of operand 0, unmodified; its formula is stated.
    Moves,
    /// Its elements are indices.
    Counts,
    /// It renames arrays of its operands: those of one tuple element (attribute `index`), or all, in order.
    Alias,
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
            "copies" => Self::Copies,
            "moves" => Self::Moves,
            "counts" => Self::Counts,
            "alias" => Self::Alias,
            "calls" => Self::Calls,
            "starts" => Self::Starts,
            "branches" => Self::Branches,
            "loops" => Self::Loops,
            _ => return None,
        })
    }

    /// Whether its formula is stated, not derived.
    pub(super) fn is_stated(self) -> bool {
        matches!(self, Self::None | Self::Passes | Self::Copies | Self::Moves | Self::Counts)
    }

    /// Whether its arrays are those of operand 0, unmodified.
    pub(super) fn passes_operand(self) -> bool {
        matches!(self, Self::Passes | Self::Copies)
    }

    /// Whether each of its elements is one of operand 0.
    pub(super) fn moves_elements(self) -> bool {
        matches!(self, Self::Copies | Self::Moves)
    }
}
