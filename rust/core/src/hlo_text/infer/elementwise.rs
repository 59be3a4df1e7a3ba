//! Shapes of elementwise opcodes: all operands have the result's sizes. The comment of each rule describes the result.

use super::super::element::{Class, ElementType};
use super::super::error::Result;
use super::super::shape::Shape;
use super::{same_sizes, InferredShape, ShapeContext};

fn of(element: Option<ElementType>, shape: &Shape) -> Result<InferredShape> {
    Ok(InferredShape::Array(element, shape.dimensions.clone()))
}

/// The result has the operand's element type.
pub(in super::super) fn unary(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    of(Some(shape.element), shape)
}

/// The operand's sizes; any type.
pub(in super::super) fn convert(context: &ShapeContext) -> Result<InferredShape> {
    of(None, context.array(0)?)
}

/// The operand's sizes; any type. Elements of the second operand are random bits, as many as the first one's have.
pub(in super::super) fn stochastic_convert(context: &ShapeContext) -> Result<InferredShape> {
    same_sizes_as_first(context, 1)?;
    let (from, bits) = (context.array(0)?.element.row(), context.array(1)?.element.row());
    if from.class != Class::Float || bits.class != Class::Unsigned || from.bits != bits.bits {
        return Err(context.error(format!(
            "needs floating point and as many unsigned bits, found {} and {}",
            from.name, bits.name
        )));
    }
    convert(context)
}

/// A boolean.
pub(in super::super) fn predicate(context: &ShapeContext) -> Result<InferredShape> {
    of(Some(ElementType::PRED), context.array(0)?)
}

/// The operand's sizes; the type of its real part.
pub(in super::super) fn part(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    let element = match shape.element.row().name {
        "c64" => ElementType::named("f32"),
        "c128" => ElementType::named("f64"),
        _ => Some(shape.element),
    };
    of(element, shape)
}

/// Two operands of one type.
pub(in super::super) fn binary(context: &ShapeContext) -> Result<InferredShape> {
    same_type_as_first(context, 1)?;
    same_sizes_as_first(context, 1)?;
    unary(context)
}

/// Two operands of one type, compared.
pub(in super::super) fn compare(context: &ShapeContext) -> Result<InferredShape> {
    binary(context)?;
    let types: &[&str] = match context.array(0)?.element.row().class {
        Class::Float => &["FLOAT", "TOTALORDER"],
        Class::Complex => &["FLOAT"],
        Class::Signed => &["SIGNED"],
        _ => &["UNSIGNED"],
    };
    if context.value("type").is_some_and(|given| !types.contains(&given)) {
        return Err(context.error(format!(
            "type of {} must be {}, found {}",
            context.operand_text(0),
            types.join(" or "),
            context.value("type").unwrap_or_default()
        )));
    }
    match context.required("direction", context.value("direction"))? {
        "EQ" | "NE" | "GE" | "GT" | "LE" | "LT" => predicate(context),
        other => Err(context.error(format!("direction must be EQ, NE, GE, GT, LE or LT, found {other}"))),
    }
}

/// Real and imaginary parts.
pub(in super::super) fn complex(context: &ShapeContext) -> Result<InferredShape> {
    binary(context)?;
    let shape = context.array(0)?;
    match shape.element.row().name {
        "f32" => of(ElementType::named("c64"), shape),
        "f64" => of(ElementType::named("c128"), shape),
        other => Err(context.error(format!("the parts must be f32 or f64, found {other}"))),
    }
}

/// The operand's shape; bounds are scalars or have the operand's sizes.
pub(in super::super) fn clamp(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(1)?;
    for bound in [0, 2] {
        let limit = context.array(bound)?;
        let sized = limit.dimensions.is_empty() || same_sizes(&limit.dimensions, &shape.dimensions);
        if !sized || limit.element != shape.element {
            return Err(mismatch(context, bound, 1));
        }
    }
    of(Some(shape.element), shape)
}

/// The shape of the choices; the predicate is a scalar or has their sizes. Tuples are chosen by a scalar.
pub(in super::super) fn select(context: &ShapeContext) -> Result<InferredShape> {
    let predicate = context.array(0)?;
    if predicate.element != ElementType::PRED {
        return Err(context.error(format!("the predicate must be pred, found {}", context.operand_text(0))));
    }
    context.array(1)?;
    let (on_true, on_false) = (context.operands[1], context.operands[2]);
    if !super::compatible(context.shapes, on_true, on_false) {
        return Err(mismatch(context, 2, 1));
    }
    if !predicate.dimensions.is_empty() && !same_sizes(&predicate.dimensions, &context.shape(1).dimensions) {
        return Err(mismatch(context, 0, 1));
    }
    Ok(InferredShape::Like(on_true))
}

/// A computation applied element by element.
pub(in super::super) fn map(context: &ShapeContext) -> Result<InferredShape> {
    for operand in 1..context.operands.len() {
        same_sizes_as_first(context, operand)?;
    }
    match context.operands.len() {
        0 => Ok(InferredShape::Any),
        _ => context.same_precision().and_then(|()| of(None, context.array(0)?)),
    }
}

/// The operand's sizes if the widths agree; otherwise the last dimension holds the parts of one element.
pub(in super::super) fn bitcast_convert(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    let Some(given) = context.given_shape() else { return Ok(InferredShape::Any) };
    let (from, to) = (shape.element.row().bits, given.element.row().bits);
    let mut sizes = shape.dimensions.clone();
    if !given.element.is_array()
        || (shape.element.row().class == Class::Complex) != (given.element.row().class == Class::Complex)
    {
        return Err(context.error("bits are converted between arrays, neither or both of them complex"));
    }
    if from > to {
        sizes.push(i64::from(from / to));
    } else if from < to && sizes.pop() != Some(i64::from(to / from)) {
        return Err(
            context.error(format!("the last dimension must be {}, the parts of one element", to / from))
        );
    }
    Ok(InferredShape::Array(Some(given.element), sizes))
}

fn same_sizes_as_first(context: &ShapeContext, operand: usize) -> Result<()> {
    if same_sizes(&context.array(operand)?.dimensions, &context.array(0)?.dimensions) {
        return Ok(());
    }
    Err(mismatch(context, operand, 0))
}

fn same_type_as_first(context: &ShapeContext, operand: usize) -> Result<()> {
    if context.array(operand)?.element == context.array(0)?.element {
        return Ok(());
    }
    Err(mismatch(context, operand, 0))
}

pub(super) fn mismatch(context: &ShapeContext, a: usize, b: usize) -> super::super::error::HloError {
    let (first, second) = (context.operand_text(b), context.operand_text(a));
    context.error(format!("operands {b} and {a} do not fit: {first} and {second}"))
}
