//! Instructions against the computations that they call: numbers of parameters, shapes of parameters and roots.

use super::error::{HloError, Result};
use super::infer::{compatible, same_kind};
use super::shape::{ElementType, Interner, ShapeId};
use super::tables::{Instruction, Module};

/// A call to check.
struct Callee<'m> {
    module: &'m Module,
    shapes: &'m Interner<'m>,
    text: &'m str,
    caller: &'m Instruction,
    operands: Vec<ShapeId>,
    key: &'m str,
    computation: usize,
}

/// Checks each instruction that calls; equal signatures once.
pub(super) fn check_called(module: &Module, shapes: &Interner) -> Result<()> {
    let text = &module.text;
    let parameters = parameters(module);
    let mut seen = std::collections::HashSet::new();
    for caller in &module.instructions {
        if caller.calls.range().is_empty() || !seen.insert(caller.signature) {
            continue;
        }
        let operands: Vec<ShapeId> = module.operands[caller.operands.range()]
            .iter()
            .map(|&o| module.instructions[o as usize].shape)
            .collect();
        for (nth, call) in module.calls[caller.calls.range()].iter().enumerate() {
            let callee = Callee {
                module,
                shapes,
                text,
                caller,
                operands: operands.clone(),
                key: module.attributes[call.attribute as usize].key.of(text),
                computation: call.computation as usize,
            };
            callee.check(&parameters[call.computation as usize], nth)?;
        }
    }
    Ok(())
}

/// For each computation, the shapes of its parameters by number.
fn parameters(module: &Module) -> Vec<Vec<ShapeId>> {
    let of = |computation: &super::tables::Computation| {
        let rows = &module.instructions[computation.instructions.range()];
        let mut found: Vec<_> =
            rows.iter().filter(|i| i.parameter >= 0).map(|i| (i.parameter, i.shape)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, shape)| shape).collect()
    };
    module.computations.iter().map(of).collect()
}

impl Callee<'_> {
    fn check(&self, parameters: &[ShapeId], nth: usize) -> Result<()> {
        let opcode = self.module.opcodes[self.caller.opcode as usize].as_str();
        match (opcode, self.key) {
            // XLA reads fusions whose parameters have other shapes than the operands
            ("fusion", _) => {
                self.takes_as_many(parameters, &self.operands)?;
                self.gives(self.caller.shape)
            }
            ("call", _) | ("while", "body") => {
                self.takes(parameters, &self.operands)?;
                self.gives(self.caller.shape)
            }
            ("while", "condition") => {
                self.takes(parameters, &self.operands)?;
                self.gives_predicate()
            }
            ("conditional", _) => self.branch(parameters, nth),
            ("reduce" | "reduce-window", "to_apply") => self.takes_scalars(parameters, self.operands.len()),
            ("scatter", "to_apply") => self.takes_scalars(parameters, self.operands.len() / 2 * 2),
            ("map", "to_apply") => self.takes_scalars(parameters, self.operands.len()),
            ("sort", "to_apply") => {
                self.takes_scalars(parameters, self.operands.len() * 2)?;
                self.gives_predicate()
            }
            ("select-and-scatter", "select") => {
                self.takes_scalars(parameters, 2)?;
                self.gives_predicate()
            }
            ("select-and-scatter", "scatter")
            | ("all-reduce" | "reduce-scatter" | "all-reduce-start", "to_apply") => {
                self.takes_scalars(parameters, 2)
            }
            _ => Ok(()),
        }
    }

    /// Branch n takes operand n + 1; the first operand chooses.
    fn branch(&self, parameters: &[ShapeId], nth: usize) -> Result<()> {
        let branches = self.caller.calls.range().len();
        if branches + 1 != self.operands.len() {
            return Err(self.error(format!(
                "{branches} branches need {} operands, found {}",
                branches + 1,
                self.operands.len()
            )));
        }
        let chooser = &self.shapes.table[self.operands[0] as usize];
        let integer = chooser.element == ElementType::PRED && branches == 2
            || same_kind(chooser.element, ElementType::named("s32").unwrap_or(chooser.element));
        if !integer || !chooser.dimensions.is_empty() {
            return Err(self.error("the first operand must be s32[], or pred[] for two branches"));
        }
        self.takes(parameters, &self.operands[nth + 1..nth + 2])?;
        self.gives(self.caller.shape)
    }

    fn takes_as_many(&self, parameters: &[ShapeId], operands: &[ShapeId]) -> Result<()> {
        let (found, given) = (parameters.len(), operands.len());
        if found == given {
            return Ok(());
        }
        Err(self.error(format!("the computation takes {found} parameters, {given} operands are given")))
    }

    fn takes(&self, parameters: &[ShapeId], operands: &[ShapeId]) -> Result<()> {
        self.takes_as_many(parameters, operands)?;
        for (number, (&parameter, &operand)) in parameters.iter().zip(operands).enumerate() {
            if !compatible(self.shapes, parameter, operand) {
                let (p, o) = (self.shapes.text(parameter), self.shapes.text(operand));
                return Err(self.error(format!("parameter {number} has shape {p}, its operand {o}")));
            }
        }
        Ok(())
    }

    fn takes_scalars(&self, parameters: &[ShapeId], count: usize) -> Result<()> {
        let scalars = parameters.iter().all(|&p| {
            let shape = &self.shapes.table[p as usize];
            shape.element.is_array() && shape.dimensions.is_empty()
        });
        if parameters.len() == count && scalars {
            return Ok(());
        }
        let found: Vec<String> = parameters.iter().map(|&p| self.shapes.text(p)).collect();
        Err(self.error(format!("the computation must take {count} scalars, it takes ({})", found.join(", "))))
    }

    fn root(&self) -> ShapeId {
        self.module.instructions[self.module.computations[self.computation].root as usize].shape
    }

    fn gives(&self, shape: ShapeId) -> Result<()> {
        if compatible(self.shapes, self.root(), shape) {
            return Ok(());
        }
        let (root, wanted) = (self.shapes.text(self.root()), self.shapes.text(shape));
        Err(self.error(format!("the computation's root has shape {root}, not {wanted}")))
    }

    fn gives_predicate(&self) -> Result<()> {
        let root = &self.shapes.table[self.root() as usize];
        if root.element == ElementType::PRED && root.dimensions.is_empty() {
            return Ok(());
        }
        Err(self
            .error(format!("the computation's root must be pred[], found {}", self.shapes.text(self.root()))))
    }

    fn error(&self, message: impl AsRef<str>) -> HloError {
        let name = &self.module.computations[self.computation].name;
        let opcode = &self.module.opcodes[self.caller.opcode as usize];
        let message =
            format!("{opcode} {}, {}={name}: {}", self.caller.name.of(self.text), self.key, message.as_ref());
        HloError::new(self.caller.name.start as usize, message)
    }
}
