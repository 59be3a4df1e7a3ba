//! Instructions against the computations that they call: numbers of parameters, shapes of parameters and roots.

use super::attributes::find_attribute;
use super::error::{HloError, Result};
use super::infer::{compatible, same_sizes};
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
            ("fusion" | "call", _) | ("while", "body") => {
                self.takes(parameters, &self.operands)?;
                self.gives(self.caller.shape)
            }
            ("while", "condition") => {
                self.takes(parameters, &self.operands)?;
                self.gives_predicate()
            }
            ("conditional", _) => self.branch(parameters, nth),
            ("reduce" | "reduce-window", "to_apply") => {
                let (inputs, initial) = self.operands.split_at(self.operands.len() / 2);
                self.combines(parameters, initial, inputs)
            }
            ("scatter", "to_apply") => {
                let arrays = &self.operands[..self.operands.len() / 2];
                self.combines(parameters, arrays, arrays)
            }
            ("map", "to_apply") => {
                self.takes_elements(parameters, &self.operands)?;
                self.gives_elements(&[self.caller.shape])
            }
            ("sort", "to_apply") => {
                let pairs: Vec<ShapeId> = self.operands.iter().flat_map(|&o| [o, o]).collect();
                self.takes_elements(parameters, &pairs)?;
                self.gives_predicate()
            }
            ("select-and-scatter", "select") => {
                self.takes_elements(parameters, &[self.operands[0]; 2])?;
                self.gives_predicate()
            }
            ("select-and-scatter", "scatter") => {
                self.combines(parameters, &self.operands[2..], &self.operands[1..2])
            }
            ("all-reduce" | "reduce-scatter" | "all-reduce-start", "to_apply") => {
                self.takes_scalars(parameters, 2)
            }
            ("async-start", "calls") => {
                self.takes(parameters, &self.operands)?;
                match self.shapes.table[self.caller.shape as usize].elements[..] {
                    [operands, result, ..] => {
                        let operands = &self.shapes.table[operands as usize].elements;
                        self.takes(parameters, operands)?;
                        self.gives(result)
                    }
                    _ => Err(self.error("the shape must be a tuple of operands, result and context")),
                }
            }
            ("scan", "to_apply") => self.steps(parameters),
            _ => Ok(()),
        }
    }

    /// A step takes a part of each input and the carried values, gives a part of each result and the carried values;
    /// or it takes and gives single elements of them.
    fn steps(&self, parameters: &[ShapeId]) -> Result<()> {
        self.takes_as_many(parameters, &self.operands)?;
        let attribute = |key: &str| find_attribute(self.text, self.module, self.caller, key);
        let number = |key: &str| match attribute(key) {
            Some(row) => self.module.integers(row).map(|found| found.first().copied()),
            None => Ok(None),
        };
        let carried = number("num_carries")?.unwrap_or_default() as usize;
        let along = number("dimensions")?.unwrap_or_default() as usize;
        let inputs = self.operands.len().saturating_sub(carried);
        let given = &self.shapes.table[self.caller.shape as usize].elements;
        let outputs = given.len().saturating_sub(carried);
        let root = &self.shapes.table[self.root() as usize].elements;
        let step = |step: ShapeId, all: ShapeId, sliced: bool| {
            let whole =
                if sliced { self.is_step(step, all, along) } else { compatible(self.shapes, step, all) };
            whole || self.is_element(step, all)
        };
        let mut taken = parameters.iter().zip(&self.operands).enumerate();
        let mut results = root.iter().zip(given).enumerate();
        let takes = taken.all(|(k, (&p, &o))| step(p, o, k < inputs));
        let gives = root.len() == given.len() && results.all(|(k, (&r, &g))| step(r, g, k < outputs));
        if takes && gives {
            return Ok(());
        }
        Err(self.error("the computation must take and give a step of each array and the carried values"))
    }

    /// Whether a shape is another without one dimension.
    fn is_step(&self, step: ShapeId, all: ShapeId, along: usize) -> bool {
        let (step, all) = (&self.shapes.table[step as usize], &self.shapes.table[all as usize]);
        let mut sizes = all.dimensions.clone();
        if along < sizes.len() {
            sizes.remove(along);
        }
        step.element == all.element && same_sizes(&step.dimensions, &sizes)
    }

    /// Takes values so far and elements to add to them, gives the new values.
    fn combines(&self, parameters: &[ShapeId], values: &[ShapeId], elements: &[ShapeId]) -> Result<()> {
        self.takes_elements(parameters, &[values, elements].concat())?;
        self.gives_elements(values)
    }

    /// Takes one scalar of the type of each of these arrays.
    fn takes_elements(&self, parameters: &[ShapeId], arrays: &[ShapeId]) -> Result<()> {
        let fits = |(&p, &a): (&ShapeId, &ShapeId)| self.is_element(p, a);
        if parameters.len() == arrays.len() && parameters.iter().zip(arrays).all(fits) {
            return Ok(());
        }
        let found: Vec<String> = parameters.iter().map(|&p| self.shapes.text(p)).collect();
        let (wanted, found) = (self.elements(arrays), found.join(", "));
        Err(self.error(format!("the computation must take ({wanted}), it takes ({found})")))
    }

    /// Gives one scalar of the type of each of these arrays: one alone, or a tuple.
    fn gives_elements(&self, arrays: &[ShapeId]) -> Result<()> {
        let root = &self.shapes.table[self.root() as usize];
        let one = [self.root()];
        let given = if root.element == ElementType::TUPLE { &root.elements[..] } else { &one };
        if given.len() == arrays.len() && given.iter().zip(arrays).all(|(&g, &a)| self.is_element(g, a)) {
            return Ok(());
        }
        let (wanted, found) = (self.elements(arrays), self.shapes.text(self.root()));
        Err(self.error(format!("the computation must give {wanted}, its root is {found}")))
    }

    fn is_element(&self, scalar: ShapeId, array: ShapeId) -> bool {
        let (s, a) = (&self.shapes.table[scalar as usize], &self.shapes.table[array as usize]);
        s.element == a.element && s.dimensions.is_empty()
    }

    fn elements(&self, arrays: &[ShapeId]) -> String {
        let name = |&a: &ShapeId| format!("{}[]", self.shapes.table[a as usize].element.row().name);
        arrays.iter().map(name).collect::<Vec<_>>().join(", ")
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
            || Some(chooser.element) == ElementType::named("s32");
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
            if !self.fits(parameter, operand) {
                let (p, o) = (self.shapes.text(parameter), self.shapes.text(operand));
                return Err(self.error(format!("parameter {number} has shape {p}, its operand {o}")));
            }
        }
        Ok(())
    }

    /// XLA reads fusions with a scalar parameter for an array of its type.
    fn fits(&self, parameter: ShapeId, operand: ShapeId) -> bool {
        let opcode = &self.module.opcodes[self.caller.opcode as usize];
        compatible(self.shapes, parameter, operand)
            || opcode == "fusion" && self.is_element(parameter, operand)
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
