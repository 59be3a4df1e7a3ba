//! Checks of instructions and the computations that they call: numbers of parameters, shapes of parameters and roots.

use super::attributes::find_attribute;
use super::element::ElementType;
use super::error::{HloError, Result};
use super::infer::{compatible, same_sizes};
use super::shape::{Interner, ShapeId};
use super::tables::{Instruction, Module};
use crate::error::counted;

/// A call to check: the attribute `key` names the computation, the `nth` that the caller names.
pub(super) struct Callee<'m> {
    module: &'m Module,
    shapes: &'m Interner<'m>,
    text: &'m str,
    caller: &'m Instruction,
    operands: &'m [ShapeId],
    key: &'m str,
    computation: usize,
    parameters: &'m [ShapeId],
    nth: usize,
}

/// Checks each instruction that calls, by the rule of its opcode and attribute; equal signatures once.
pub(super) fn check_called<R: Fn(&Callee) -> Result<()>>(
    module: &Module,
    shapes: &Interner,
    rule_of: impl Fn(u16, &str) -> Option<R>,
) -> Result<()> {
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
            let (key, computation) =
                (module.attributes[call.attribute as usize].key.of(text), call.computation as usize);
            let Some(rule) = rule_of(caller.opcode, key) else { continue };
            let (operands, parameters) = (&operands[..], &parameters[computation][..]);
            rule(&Callee { module, shapes, text, caller, operands, key, computation, parameters, nth })?;
        }
    }
    Ok(())
}

/// For each computation, the shapes of its parameters by number.
fn parameters(module: &Module) -> Vec<Vec<ShapeId>> {
    let of = |computation: &super::tables::Computation| {
        let rows = &module.instructions[computation.instructions.range()];
        let mut numbered: Vec<_> =
            rows.iter().filter(|i| i.parameter >= 0).map(|i| (i.parameter, i.shape)).collect();
        numbered.sort_unstable();
        numbered.into_iter().map(|(_, shape)| shape).collect()
    };
    module.computations.iter().map(of).collect()
}

/// It has the caller's operands and result.
pub(super) fn equals(callee: &Callee) -> Result<()> {
    callee.takes(callee.operands)?;
    callee.gives(callee.caller.shape)
}

/// The same; XLA reads fusions with a scalar parameter for an array of its type.
pub(super) fn equals_fused(callee: &Callee) -> Result<()> {
    let fits = |parameter, operand| callee.fits(parameter, operand) || callee.is_element(parameter, operand);
    callee.takes_fitting(callee.operands, fits)?;
    callee.gives(callee.caller.shape)
}

/// Branch n takes operand n + 1; the first operand chooses.
pub(super) fn equals_branch(callee: &Callee) -> Result<()> {
    let branches = callee.caller.calls.range().len();
    let (wanted, given) = (branches + 1, callee.operands.len());
    if wanted != given {
        return Err(callee.error(format!("the index and the branches need {wanted} operands, found {given}")));
    }
    let chooser = &callee.shapes.table[callee.operands[0] as usize];
    let integer = chooser.element == ElementType::PRED && branches == 2
        || Some(chooser.element) == ElementType::named("s32");
    if !integer || !chooser.dimensions.is_empty() {
        return Err(callee.error("the first operand must be s32[], or pred[] for two branches"));
    }
    callee.takes(&callee.operands[callee.nth + 1..callee.nth + 2])?;
    callee.gives(callee.caller.shape)
}

/// It takes the operands and says whether a loop goes on.
pub(super) fn holds(callee: &Callee) -> Result<()> {
    callee.takes(callee.operands)?;
    callee.gives_predicate()
}

/// It combines an element of each input with the value so far; the initial values are the second half of the operands.
pub(super) fn combines_inputs(callee: &Callee) -> Result<()> {
    let (inputs, initial) = callee.operands.split_at(callee.operands.len() / 2);
    callee.combines(initial, inputs)
}

/// It combines elements of the arrays, the first half of the operands, with updates.
pub(super) fn combines_arrays(callee: &Callee) -> Result<()> {
    let arrays = &callee.operands[..callee.operands.len() / 2];
    callee.combines(arrays, arrays)
}

/// It combines elements of the source, operand 1, with the initial value.
pub(super) fn combines_sources(callee: &Callee) -> Result<()> {
    callee.combines(&callee.operands[2..], &callee.operands[1..2])
}

/// It combines two scalars, of whatever type.
pub(super) fn combines_scalars(callee: &Callee) -> Result<()> {
    callee.takes_scalars(2)
}

/// It computes an element of the result from one of each operand.
pub(super) fn maps_elements(callee: &Callee) -> Result<()> {
    callee.takes_elements(callee.operands)?;
    callee.gives_elements(&[callee.caller.shape])
}

/// It orders two elements of each operand.
pub(super) fn compares_pairs(callee: &Callee) -> Result<()> {
    let pairs: Vec<ShapeId> = callee.operands.iter().flat_map(|&o| [o, o]).collect();
    callee.takes_elements(&pairs)?;
    callee.gives_predicate()
}

/// It chooses between two elements of the first operand.
pub(super) fn compares_elements(callee: &Callee) -> Result<()> {
    callee.takes_elements(&[callee.operands[0]; 2])?;
    callee.gives_predicate()
}

/// It has the start's operands, which the start's shape repeats, and the result in that shape.
pub(super) fn starts(callee: &Callee) -> Result<()> {
    callee.takes(callee.operands)?;
    let [operands, result, ..] = callee.shapes.table[callee.caller.shape as usize].elements[..] else {
        return Err(callee.error("the shape must be a tuple of operands, result and context"));
    };
    callee.takes(&callee.shapes.table[operands as usize].elements)?;
    callee.gives(result)
}

/// A step takes a part of each input and the carried values, gives a part of each result and the carried values; or it
/// takes and gives single elements of them.
pub(super) fn steps(callee: &Callee) -> Result<()> {
    callee.takes_as_many(callee.operands)?;
    let attribute = |key: &str| find_attribute(callee.text, callee.module, callee.caller, key);
    let number = |key: &str| match attribute(key) {
        Some(row) => callee.module.integers(row).map(|values| values.first().copied()),
        None => Ok(None),
    };
    let carried = number("num_carries")?.unwrap_or_default() as usize;
    let along = number("dimensions")?.unwrap_or_default() as usize;
    let inputs = callee.operands.len().saturating_sub(carried);
    let given = &callee.shapes.table[callee.caller.shape as usize].elements;
    let outputs = given.len().saturating_sub(carried);
    let root = &callee.shapes.table[callee.root() as usize].elements;
    let step = |step: ShapeId, all: ShapeId, sliced: bool| {
        let whole = if sliced { callee.is_step(step, all, along) } else { callee.fits(step, all) };
        whole || callee.is_element(step, all)
    };
    let mut taken = callee.parameters.iter().zip(callee.operands).enumerate();
    let mut results = root.iter().zip(given).enumerate();
    let takes = taken.all(|(k, (&p, &o))| step(p, o, k < inputs));
    let gives = root.len() == given.len() && results.all(|(k, (&r, &g))| step(r, g, k < outputs));
    if takes && gives {
        return Ok(());
    }
    Err(callee.error("the computation must take and give a step of each array and the carried values"))
}

impl Callee<'_> {
    /// Whether a shape is another without one dimension.
    fn is_step(&self, step: ShapeId, all: ShapeId, along: usize) -> bool {
        let (step, all) = (&self.shapes.table[step as usize], &self.shapes.table[all as usize]);
        let mut sizes = all.dimensions.clone();
        if along < sizes.len() {
            sizes.remove(along);
        }
        step.element == all.element && same_sizes(&step.dimensions, &sizes)
    }

    /// Checks a reducer: its parameters are the values so far and the elements to combine with them, its results new values.
    fn combines(&self, values: &[ShapeId], elements: &[ShapeId]) -> Result<()> {
        self.takes_elements(&[values, elements].concat())?;
        self.gives_elements(values)
    }

    /// Checks that the parameters are a scalar of the type of each of these arrays.
    fn takes_elements(&self, arrays: &[ShapeId]) -> Result<()> {
        let fits = |(&p, &a): (&ShapeId, &ShapeId)| self.is_element(p, a);
        if self.parameters.len() == arrays.len() && self.parameters.iter().zip(arrays).all(fits) {
            return Ok(());
        }
        let (wanted, taken) = (self.elements(arrays), self.parameters_text());
        Err(self.error(format!("the computation must take ({wanted}), it takes ({taken})")))
    }

    /// Checks that the result is a scalar of the type of each of these arrays: a single one alone, several as a tuple.
    fn gives_elements(&self, arrays: &[ShapeId]) -> Result<()> {
        let root = &self.shapes.table[self.root() as usize];
        let one = [self.root()];
        let given = if root.element == ElementType::TUPLE { &root.elements[..] } else { &one };
        if given.len() == arrays.len() && given.iter().zip(arrays).all(|(&g, &a)| self.is_element(g, a)) {
            return Ok(());
        }
        let (wanted, given) = (self.elements(arrays), self.shapes.text(self.root()));
        Err(self.error(format!("the computation must give {wanted}, its root is {given}")))
    }

    fn is_element(&self, scalar: ShapeId, array: ShapeId) -> bool {
        let (s, a) = (&self.shapes.table[scalar as usize], &self.shapes.table[array as usize]);
        s.element == a.element && s.dimensions.is_empty()
    }

    fn elements(&self, arrays: &[ShapeId]) -> String {
        let name = |&a: &ShapeId| format!("{}[]", self.shapes.table[a as usize].element.row().name);
        arrays.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn takes_as_many(&self, operands: &[ShapeId]) -> Result<()> {
        let (taken, given) = (self.parameters.len(), operands.len());
        if taken == given {
            return Ok(());
        }
        let taken = counted(taken, "parameter");
        Err(self.error(format!("the computation takes {taken}, the number of operands is {given}")))
    }

    fn takes(&self, operands: &[ShapeId]) -> Result<()> {
        self.takes_fitting(operands, |parameter, operand| self.fits(parameter, operand))
    }

    fn takes_fitting(&self, operands: &[ShapeId], fits: impl Fn(ShapeId, ShapeId) -> bool) -> Result<()> {
        self.takes_as_many(operands)?;
        for (number, (&parameter, &operand)) in self.parameters.iter().zip(operands).enumerate() {
            if !fits(parameter, operand) {
                let (p, o) = (self.shapes.text(parameter), self.shapes.text(operand));
                return Err(self.error(format!("parameter {number} has shape {p}, its operand {o}")));
            }
        }
        Ok(())
    }

    fn fits(&self, parameter: ShapeId, operand: ShapeId) -> bool {
        compatible(self.shapes, parameter, operand)
    }

    fn takes_scalars(&self, count: usize) -> Result<()> {
        let scalars = self.parameters.iter().all(|&p| {
            let shape = &self.shapes.table[p as usize];
            shape.element.is_array() && shape.dimensions.is_empty()
        });
        if self.parameters.len() == count && scalars {
            return Ok(());
        }
        let taken = self.parameters_text();
        Err(self.error(format!("the computation must take {count} scalars, it takes ({taken})")))
    }

    fn parameters_text(&self) -> String {
        self.parameters.iter().map(|&p| self.shapes.text(p)).collect::<Vec<_>>().join(", ")
    }

    fn root(&self) -> ShapeId {
        self.module.instructions[self.module.computations[self.computation].root as usize].shape
    }

    fn gives(&self, shape: ShapeId) -> Result<()> {
        if self.fits(self.root(), shape) {
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
