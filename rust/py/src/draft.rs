//! `_core.build_hlo`: rows of a module, as Python gives them.

use crate::argument::Text;
use crate::error::guarded;
use crate::hlo::{parse_error, HloModule};
use indexing_core::{build_module, Draft, DraftArgument, DraftComputation, DraftInstruction, DraftValue};
use pyo3::prelude::*;

/// A literal, the number of a parameter, or operands.
#[derive(FromPyObject)]
pub enum Argument {
    Literal(Text),
    Parameter(i64),
    Operands(Vec<u32>),
}

/// A value as written, or computations.
#[derive(FromPyObject)]
pub enum Value {
    Text(Text),
    Computations(Vec<u32>),
}

type Instruction = (Text, Text, Text, Argument, Vec<(Text, Value)>);

/// Builds a module of computations (name, root, instructions), the entry last. Raises ParseError, as for its text.
#[pyfunction]
pub fn build_hlo(
    py: Python<'_>,
    name: Text,
    computations: Vec<(Text, usize, Vec<Instruction>)>,
) -> PyResult<HloModule> {
    let draft = Draft { name: name.0, computations: computations.into_iter().map(computation).collect() };
    let built = guarded(py, || py.detach(|| build_module(&draft)))?;
    let tables = built.map_err(|failure| parse_error(py, &failure.error, &failure.text))?;
    Ok(HloModule::new(py, tables))
}

fn computation((name, root, instructions): (Text, usize, Vec<Instruction>)) -> DraftComputation {
    DraftComputation { name: name.0, root, instructions: instructions.into_iter().map(instruction).collect() }
}

fn instruction((name, shape, opcode, argument, attributes): Instruction) -> DraftInstruction {
    let argument = match argument {
        Argument::Literal(literal) => DraftArgument::Literal(literal.0),
        Argument::Parameter(number) => DraftArgument::Parameter(number),
        Argument::Operands(rows) => DraftArgument::Operands(rows),
    };
    let value = |value| match value {
        Value::Text(text) => DraftValue::Text(text.0),
        Value::Computations(rows) => DraftValue::Computations(rows),
    };
    DraftInstruction {
        name: name.0,
        shape: shape.0,
        opcode: opcode.0,
        argument,
        attributes: attributes.into_iter().map(|(key, given)| (key.0, value(given))).collect(),
    }
}
