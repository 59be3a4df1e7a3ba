//! A description of a module, from which [`super::build_module`] makes tables.

/// The description of a module.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Name of the module.
    pub name: String,
    /// Computations, each before those that call it; the last one is the entry.
    pub computations: Vec<DraftComputation>,
}

/// One computation.
#[derive(Clone, Debug, Default)]
pub struct DraftComputation {
    /// Name, without `%`.
    pub name: String,
    /// Instructions, operands before their users.
    pub instructions: Vec<DraftInstruction>,
    /// The root's number among them.
    pub root: usize,
}

/// One instruction. Its words are those of text: a name, a shape, an opcode.
#[derive(Clone, Debug)]
pub struct DraftInstruction {
    /// Name, without `%`.
    pub name: String,
    /// Shape of the result.
    pub shape: String,
    /// Opcode.
    pub opcode: String,
    /// The contents of the parentheses.
    pub argument: DraftArgument,
    /// Attributes by key.
    pub attributes: Vec<(String, DraftValue)>,
}

/// Contents of an instruction's parentheses.
#[derive(Clone, Debug)]
pub enum DraftArgument {
    /// Numbers of instructions in front of this one.
    Operands(Vec<u32>),
    /// The number of a parameter.
    Parameter(i64),
    /// The literal of a constant.
    Literal(String),
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum DraftValue {
    /// As text writes it.
    Text(String),
    /// Numbers of computations in front of this one.
    Computations(Vec<u32>),
}
