//! Shapes of tuples, tokens, and opcodes that pass several values through.

use super::super::element::ElementType;
use super::super::error::Result;
use super::{InferredShape, ShapeContext};

/// The tuple of the operands.
pub(in super::super) fn tuple(context: &ShapeContext) -> Result<InferredShape> {
    Ok(InferredShape::Tuple(context.operands.iter().map(|&id| InferredShape::Like(id)).collect()))
}

/// One element.
pub(in super::super) fn get_tuple_element(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.shape(0);
    if shape.element != ElementType::TUPLE {
        return Err(context.error(format!("the operand must be a tuple, found {}", context.operand_text(0))));
    }
    let index = context.required("index", context.integer("index")?)?;
    let element = usize::try_from(index).ok().and_then(|i| shape.elements.get(i));
    let element = element
        .ok_or_else(|| context.error(format!("index {index} of a tuple of {}", shape.elements.len())))?;
    Ok(InferredShape::Like(*element))
}

/// The shape of every operand, as results.
pub(in super::super) fn like_all(context: &ShapeContext) -> Result<InferredShape> {
    Ok(results(context, context.operands.iter().map(|&id| InferredShape::Like(id)).collect()))
}

/// Several arrays as a tuple; one alone, or in a tuple if the text says so.
pub(in super::super) fn results(context: &ShapeContext, arrays: Vec<InferredShape>) -> InferredShape {
    let in_tuple = context.given_shape().is_some_and(|shape| shape.element == ElementType::TUPLE);
    match <[InferredShape; 1]>::try_from(arrays) {
        Ok([one]) if !in_tuple => one,
        Ok(one) => InferredShape::Tuple(one.into()),
        Err(several) => InferredShape::Tuple(several),
    }
}

/// A token; the operands are tokens.
pub(in super::super) fn token(_: &ShapeContext) -> Result<InferredShape> {
    Ok(InferredShape::Array(ElementType::named("token"), Vec::new()))
}

/// The number of a device.
pub(in super::super) fn identifier(_: &ShapeContext) -> Result<InferredShape> {
    Ok(InferredShape::Array(ElementType::named("u32"), Vec::new()))
}

/// The shape of the operand, if there is only one; with several, one of which is the number of the root, it is unknown.
pub(in super::super) fn like_only(context: &ShapeContext) -> Result<InferredShape> {
    Ok(match context.operands {
        [one] => InferredShape::Like(*one),
        _ => InferredShape::Any,
    })
}

/// The shape of the chosen branch's result; the computations are checked where all are known.
pub(in super::super) fn conditional(context: &ShapeContext) -> Result<InferredShape> {
    let chooser = context.scalar(0)?.element;
    let (listed, yes, no) = (
        context.value("branch_computations"),
        context.value("true_computation"),
        context.value("false_computation"),
    );
    let is_pair = chooser == ElementType::PRED;
    match (listed.is_some(), yes.is_some(), no.is_some()) {
        (false, true, true) if is_pair => Ok(InferredShape::Any),
        (true, false, false) if !is_pair => Ok(InferredShape::Any),
        _ => Err(context.error(
            "needs branch_computations, or true_computation and false_computation where the first operand is pred[]",
        )),
    }
}
