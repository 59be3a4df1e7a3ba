//! Shapes of opcodes that move elements: each result element is an operand element, or padding.

use super::super::attributes;
use super::super::element::{Class, ElementType};
use super::super::error::Result;
use super::super::shape::{Shape, UNBOUNDED};
use super::elementwise::mismatch;
use super::{same_size, same_sizes, InferredShape, ShapeContext};
use crate::error::counted;

fn of(shape: &Shape, sizes: Vec<i64>) -> Result<InferredShape> {
    Ok(InferredShape::Array(Some(shape.element), sizes))
}

/// Each dimension of the operand becomes the named one of the result.
pub(in super::super) fn broadcast(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    let Some(given) = context.given_shape() else { return Ok(InferredShape::Any) };
    let sizes = &given.dimensions;
    let targets = match shape.dimensions.len() {
        0 => context.optional_dimensions("dimensions", sizes.len())?,
        _ => context.dimensions("dimensions", sizes.len())?,
    };
    if targets.len() != shape.dimensions.len() {
        return Err(context.error(format!(
            "dimensions must name one result dimension for each of the operand's {}",
            shape.dimensions.len()
        )));
    }
    for (dimension, &target) in targets.iter().enumerate() {
        if !same_size(shape.dimensions[dimension], sizes[target]) {
            let (a, b) = (shape.dimensions[dimension], sizes[target]);
            return Err(context.error(format!(
                "operand dimension {dimension} has size {a}, dimension {target} of the result {b}"
            )));
        }
    }
    of(shape, sizes.clone())
}

/// Result dimension i is operand dimension `dimensions[i]`.
pub(in super::super) fn transpose(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    let order = context.dimensions("dimensions", shape.dimensions.len())?;
    if order.len() != shape.dimensions.len() {
        return Err(context
            .error(format!("dimensions must be a permutation of {} dimensions", shape.dimensions.len())));
    }
    of(shape, order.iter().map(|&d| shape.dimensions[d]).collect())
}

/// As many elements, of the operand's type.
pub(in super::super) fn reshape(context: &ShapeContext) -> Result<InferredShape> {
    same_count(context)?;
    context.of_given_sizes()
}

/// As many elements, if the type is the operand's; otherwise as many bytes.
pub(in super::super) fn bitcast(context: &ShapeContext) -> Result<InferredShape> {
    let element = context.shape(0).element;
    match context.given_shape() {
        Some(given) if given.element == element && element.is_array() => same_count(context)?,
        Some(given) => same_bytes(context, given)?,
        None => {}
    }
    Ok(InferredShape::Any)
}

/// Checks that an array of another type has as many bytes. Types narrower than a byte are not checked: layouts determine how
/// they are stored.
fn same_bytes(context: &ShapeContext, result: &Shape) -> Result<()> {
    let bytes = |s: &Shape| i64::from(s.element.row().bits / 8).saturating_mul(s.element_count);
    let is_whole = |s: &Shape| {
        s.element.is_array() && s.element.row().bits % 8 == 0 && !s.dimensions.contains(&UNBOUNDED)
    };
    let shape = context.shape(0);
    if !is_whole(shape) || !is_whole(result) || bytes(shape) == bytes(result) {
        return Ok(());
    }
    let from = context.operand_text(0);
    Err(context.error(format!("{from} takes {} bytes, the result {}", bytes(shape), bytes(result))))
}

fn same_count(context: &ShapeContext) -> Result<()> {
    let shape = context.array(0)?;
    let Some(given) = context.given else { return Ok(()) };
    let result = &context.shapes.table[given as usize];
    let unknown = shape.dimensions.contains(&UNBOUNDED) || result.dimensions.contains(&UNBOUNDED);
    if unknown || shape.element_count == result.element_count {
        return Ok(());
    }
    let (from, to) = (context.operand_text(0), context.shapes.text(given));
    Err(context
        .error(format!("{from} has {} elements, {to} has {}", shape.element_count, result.element_count)))
}

/// At most as many elements, of the operand's type; a scalar operand for each dimension is its size.
pub(in super::super) fn dynamic_reshape(context: &ShapeContext) -> Result<InferredShape> {
    same_count(context)?;
    let shape = context.array(0)?;
    for size in 1..context.operands.len() {
        if context.scalar(size)?.element != ElementType::named("s32").unwrap_or(shape.element) {
            return Err(context.error("sizes must be s32[]"));
        }
    }
    let (given, count) = (context.given_shape(), context.operands.len() - 1);
    if let Some(rank) = given.map(|given| given.dimensions.len()).filter(|&rank| rank != count) {
        return Err(context.error(format!("{} for {}", counted(count, "size"), counted(rank, "dimension"))));
    }
    context.of_given_sizes()
}

/// Start, limit and stride of each dimension.
pub(in super::super) fn slice(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    let slices = context.required("slice", context.read("slice", attributes::slices)?)?;
    if slices.len() != shape.dimensions.len() {
        let (slices, rank) = (counted(slices.len(), "slice"), counted(shape.dimensions.len(), "dimension"));
        return Err(context.error(format!("{slices} for {rank}")));
    }
    let mut sizes = Vec::new();
    for (dimension, (&(start, limit, stride), &size)) in slices.iter().zip(&shape.dimensions).enumerate() {
        let upper = if size == UNBOUNDED { i64::MAX } else { size };
        if start < 0 || limit < start || limit > upper || stride < 1 {
            return Err(context.error(format!(
                "[{start}:{limit}:{stride}] is no slice of dimension {dimension} of size {size}"
            )));
        }
        sizes.push((limit - start) / stride + i64::from((limit - start) % stride != 0));
    }
    of(shape, sizes)
}

/// The operands concatenated along a dimension.
pub(in super::super) fn concatenate(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    let along = context.one_dimension(shape.dimensions.len())?;
    let mut sizes = shape.dimensions.clone();
    for operand in 1..context.operands.len() {
        let other = context.array(operand)?;
        let mut expected = shape.dimensions.clone();
        if let (Some(slot), Some(size)) = (expected.get_mut(along), other.dimensions.get(along)) {
            *slot = *size;
        }
        if !same_sizes(&expected, &other.dimensions) || shape.element != other.element {
            return Err(mismatch(context, operand, 0));
        }
        let total = sizes[along].checked_add(other.dimensions[along]);
        let unknown = sizes[along] == UNBOUNDED || other.dimensions[along] == UNBOUNDED;
        sizes[along] = if unknown {
            UNBOUNDED
        } else {
            total.ok_or_else(|| context.error("the result's size exceeds 64 bits"))?
        };
    }
    of(shape, sizes)
}

/// Low, high and interior padding of each dimension.
pub(in super::super) fn pad(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    if context.scalar(1)?.element != shape.element {
        let (a, p) = (shape.element.row().name, context.shape(1).element.row().name);
        return Err(context.error(format!("the operand has elements of {a}, the padding value is {p}")));
    }
    let rank = shape.dimensions.len();
    let padding = context.read("padding", attributes::padding)?;
    let padding =
        if rank == 0 { padding.unwrap_or_default() } else { context.required("padding", padding)? };
    if padding.len() != rank {
        return Err(context.error(format!("padding of {} dimensions for {rank}", padding.len())));
    }
    let sizes: Option<Vec<i64>> =
        shape.dimensions.iter().zip(padding).map(|(&size, p)| padded(size, p)).collect();
    of(
        shape,
        sizes.ok_or_else(|| {
            context.error("padding gives a negative size or one beyond 64 bits, or is negative inside")
        })?,
    )
}

fn padded(size: i64, (low, high, interior): (i64, i64, i64)) -> Option<i64> {
    if size == UNBOUNDED {
        return Some(UNBOUNDED);
    }
    let between = (size - 1).max(0).checked_mul(interior).filter(|_| interior >= 0)?;
    size.checked_add(between)?.checked_add(low)?.checked_add(high).filter(|&total| total >= 0)
}

/// A counter along a dimension.
pub(in super::super) fn iota(context: &ShapeContext) -> Result<InferredShape> {
    let Some(shape) = context.given_shape() else { return Ok(InferredShape::Any) };
    let along = context.integer("iota_dimension")?;
    if !shape.element.is_array() || shape.element == ElementType::PRED {
        return Err(context.error("the result must be an array of numbers"));
    }
    let along = along.unwrap_or_default();
    if !(0..shape.dimensions.len() as i64).contains(&along) {
        return Err(
            context.error(format!("iota_dimension {along} is outside of rank {}", shape.dimensions.len()))
        );
    }
    Ok(InferredShape::Any)
}

/// The operand's shape; dimensions are reversed.
pub(in super::super) fn reverse(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    context.dimensions("dimensions", shape.dimensions.len())?;
    of(shape, shape.dimensions.clone())
}

/// Checks that slice starts are one scalar for each dimension, or one vector.
fn slice_starts(context: &ShapeContext, first: usize, rank: usize) -> Result<()> {
    let count = context.operands.len() - first;
    let vector = count == 1 && context.array(first)?.dimensions.len() == 1;
    if !(vector && context.array(first)?.dimensions == [rank as i64] || count == rank && !vector) {
        return Err(context.error(format!("one start for each of {rank} dimensions, found {count}")));
    }
    for operand in first..context.operands.len() {
        let start = if vector { context.array(operand)? } else { context.scalar(operand)? };
        let class = start.element.row().class;
        if !matches!(class, Class::Signed | Class::Unsigned) {
            return Err(context.error("starts must be integers"));
        }
    }
    Ok(())
}

/// A slice with the sizes of an attribute; starts are operands.
pub(in super::super) fn dynamic_slice(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    slice_starts(context, 1, shape.dimensions.len())?;
    let sizes = context.integers("dynamic_slice_sizes")?;
    if let Some(size) = sizes.iter().find(|size| **size < 0) {
        return Err(context.error(format!("dynamic_slice_sizes must be 0 or more, found {size}")));
    }
    fits(context, &sizes, &shape.dimensions)?;
    of(shape, sizes)
}

/// An operand with a part replaced.
pub(in super::super) fn dynamic_update_slice(context: &ShapeContext) -> Result<InferredShape> {
    let (shape, update) = (context.array(0)?, context.array(1)?);
    slice_starts(context, 2, shape.dimensions.len())?;
    if shape.element != update.element {
        let (a, u) = (shape.element.row().name, update.element.row().name);
        return Err(context.error(format!("the operand has elements of {a}, the update of {u}")));
    }
    fits(context, &update.dimensions, &shape.dimensions)?;
    Ok(InferredShape::Like(context.operands[0]))
}

fn fits(context: &ShapeContext, part: &[i64], whole: &[i64]) -> Result<()> {
    let inside = |(p, w): (&i64, &i64)| *w == UNBOUNDED || *p == UNBOUNDED || (0..=*w).contains(p);
    if part.len() == whole.len() && part.iter().zip(whole).all(inside) {
        return Ok(());
    }
    Err(context.error(format!("a part of sizes {part:?} does not fit into {whole:?}")))
}

/// A scalar: the size of a dimension.
pub(in super::super) fn dimension_size(context: &ShapeContext) -> Result<InferredShape> {
    context.one_dimension(context.array(0)?.dimensions.len())?;
    Ok(InferredShape::Array(ElementType::named("s32"), Vec::new()))
}

/// An operand with a dimension made dynamic.
pub(in super::super) fn set_dimension_size(context: &ShapeContext) -> Result<InferredShape> {
    context.one_dimension(context.array(0)?.dimensions.len())?;
    if Some(context.scalar(1)?.element) != ElementType::named("s32") {
        return Err(context.error("the size must be s32[]"));
    }
    let shape = context.array(0)?;
    of(shape, shape.dimensions.clone())
}
