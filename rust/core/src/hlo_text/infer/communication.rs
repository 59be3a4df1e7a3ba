//! Shapes of collective, host transfer and asynchronous opcodes. The comment of each rule describes the result.

use std::collections::HashSet;

use super::super::element::ElementType;
use super::super::error::Result;
use super::super::groups::replica_groups;
use super::super::shape::{Shape, ShapeId};
use super::tuples::{like_all, like_only, tuple};
use super::{compatible, same_size, same_sizes, InferredShape, ShapeContext};

/// The number of participants of each group; `None` if it is the number of replicas, which the text does not state.
fn group_size(context: &ShapeContext) -> Result<Option<i64>> {
    let global = context.value("use_global_device_ids") == Some("true");
    if global && context.integer("channel_id")?.is_none_or(|id| id < 1) {
        return Err(context.error("use_global_device_ids=true needs a channel_id of 1 or more"));
    }
    let groups = context.read("replica_groups", replica_groups)?.unwrap_or_default();
    if global && groups.is_empty() {
        return Err(context.error("use_global_device_ids=true needs replica_groups"));
    }
    if groups.iter().any(Vec::is_empty) {
        return Err(
            context.error("replica_groups has an empty group; leave it out, or write {} for one of all")
        );
    }
    if context.value("replica_groups").is_some_and(|v| v.starts_with('{')) {
        each_once(context, &groups)?;
    }
    Ok(groups.first().map(|group| group.len() as i64))
}

/// The same of an opcode whose groups must be equally large.
fn equal_group_size(context: &ShapeContext) -> Result<Option<i64>> {
    let groups = context.read("replica_groups", replica_groups)?.unwrap_or_default();
    match groups.windows(2).find(|pair| pair[0].len() != pair[1].len()) {
        None => group_size(context),
        Some(pair) => {
            let sizes = format!("{} and {}", pair[0].len(), pair[1].len());
            Err(context.error(format!("replica_groups must be equally large, found groups of {sizes}")))
        }
    }
}

/// Checks that the ids of listed groups are 0, 1, ... in some order.
fn each_once(context: &ShapeContext, groups: &[Vec<i64>]) -> Result<()> {
    let mut seen = vec![false; groups.iter().map(Vec::len).sum()];
    for &id in groups.iter().flatten() {
        let slot = usize::try_from(id).ok().and_then(|id| seen.get_mut(id));
        if slot.is_none_or(|s| std::mem::replace(s, true)) {
            return Err(context.error(format!("replica_groups must name 0, 1, ... once each, found {id}")));
        }
    }
    Ok(())
}

/// Checks that each source and each target occurs in one pair, unless slices are sent.
fn pairs(context: &ShapeContext) -> Result<()> {
    let pairs =
        context.required("source_target_pairs", context.read("source_target_pairs", replica_groups)?)?;
    let (mut sources, mut targets) = (HashSet::new(), HashSet::new());
    for pair in &pairs {
        let &[source, target] = &pair[..] else {
            return Err(context.error(format!("source_target_pairs must be pairs, found {pair:?}")));
        };
        let is_new = sources.insert(source) & targets.insert(target);
        if source < 0 || target < 0 || !(is_new || context.value("slice_sizes").is_some()) {
            return Err(context.error(format!("{pair:?}: a source or a target is negative or stands twice")));
        }
    }
    Ok(())
}

/// Whether `whole` is `part` with one dimension multiplied by the size of a group.
fn multiplied(context: &ShapeContext, part: &Shape, whole: &Shape) -> Result<bool> {
    let dimension = context.one_dimension(part.dimensions.len())?;
    let mut expected = part.dimensions.clone();
    if part.element != whole.element || part.dimensions.len() != whole.dimensions.len() {
        return Ok(false);
    }
    let (one, all) = (part.dimensions[dimension], whole.dimensions[dimension]);
    expected[dimension] = all;
    let times = equal_group_size(context)?.unwrap_or(1);
    // a group of one means that the groups depend on the devices
    let fits =
        if times == 1 { one == 0 || all % one == 0 } else { same_size(one.saturating_mul(times), all) };
    Ok((fits || one < 0 || all < 0) && same_sizes(&expected, &whole.dimensions))
}

/// The arrays of a result, one for each operand; `None` if the text states no shape.
fn results(context: &ShapeContext, given: Option<ShapeId>) -> Result<Option<Vec<ShapeId>>> {
    let Some(given) = given else { return Ok(None) };
    let elements = &context.shapes.table[given as usize].elements;
    let arrays =
        if context.operands.len() == 1 && elements.is_empty() { vec![given] } else { elements.clone() };
    if arrays.len() == context.operands.len() {
        return Ok(Some(arrays));
    }
    Err(context.error(format!(
        "{} operands give as many results, found {}",
        context.operands.len(),
        arrays.len()
    )))
}

fn gathered(context: &ShapeContext, given: Option<ShapeId>) -> Result<()> {
    for (k, result) in results(context, given)?.unwrap_or_default().into_iter().enumerate() {
        if !multiplied(context, context.array(k)?, &context.shapes.table[result as usize])? {
            return Err(times_the_group(context, context.operands[k], result)?);
        }
    }
    Ok(())
}

/// The error of shapes for which `multiplied` is false.
fn times_the_group(context: &ShapeContext, part: ShapeId, whole: ShapeId) -> Result<super::HloError> {
    let dimension = context.one_dimension(context.shapes.table[part as usize].dimensions.len())?;
    let factor = match group_size(context)?.unwrap_or(1) {
        1 => "a multiple of it".to_owned(),
        size => format!("{size} times as large, as a group has {size} members"),
    };
    let (part, whole) = (context.shapes.text(part), context.shapes.text(whole));
    Ok(context.error(format!("{whole} must be {part}, but with dimension {dimension} {factor}")))
}

/// The operands of all replicas, concatenated.
pub(in super::super) fn all_gather(context: &ShapeContext) -> Result<InferredShape> {
    gathered(context, context.given)?;
    Ok(InferredShape::Any)
}

/// A tuple of the operands and the gathered operands.
pub(in super::super) fn all_gather_start(context: &ShapeContext) -> Result<InferredShape> {
    if let Some(given) = context.given {
        let &[before, after] = pair(context, given)?;
        operands_are(context, before)?;
        gathered(context, Some(after))?;
    }
    Ok(InferredShape::Any)
}

/// The first two elements of a tuple; contexts may follow.
fn pair<'s>(context: &'s ShapeContext, id: ShapeId) -> Result<&'s [ShapeId; 2]> {
    let elements = &context.shapes.table[id as usize].elements;
    elements.first_chunk::<2>().ok_or_else(|| {
        context.error(format!(
            "the shape must be a tuple of operands and results, found {}",
            context.shapes.text(id)
        ))
    })
}

/// Checks that the shape is that of the operand, or of the tuple of all operands.
fn operands_are(context: &ShapeContext, stated: ShapeId) -> Result<()> {
    let wanted = match context.operands {
        [one] => InferredShape::Like(*one),
        _ => tuple(context)?,
    };
    if super::matches(context.shapes, stated, &wanted) {
        return Ok(());
    }
    let wanted = context.describe(&wanted);
    Err(context.error(format!("the operands are {wanted}, the shape says {}", context.shapes.text(stated))))
}

/// A part of the sum of the operands.
pub(in super::super) fn reduce_scatter(context: &ShapeContext) -> Result<InferredShape> {
    for (k, result) in results(context, context.given)?.unwrap_or_default().into_iter().enumerate() {
        if !multiplied(context, &context.shapes.table[result as usize], context.array(k)?)? {
            return Err(times_the_group(context, result, context.operands[k])?);
        }
    }
    Ok(InferredShape::Any)
}

/// Blocks of one array, or whole operands, exchanged between replicas.
pub(in super::super) fn all_to_all(context: &ShapeContext) -> Result<InferredShape> {
    if context.value("dimensions").is_none() {
        let parts = equal_group_size(context)?;
        if parts.is_some_and(|n| n != context.operands.len() as i64) {
            return Err(context.error("without dimensions, there must be an operand for each of a group"));
        }
        return like_all(context);
    }
    let [operand] = context.operands else {
        return Err(
            context.error(format!("takes one operand with dimensions, found {}", context.operands.len()))
        );
    };
    let sizes = &context.array(0)?.dimensions;
    let size = sizes[context.one_dimension(sizes.len())?];
    let Some(parts) = equal_group_size(context)? else {
        return Err(context.error("with dimensions, replica_groups must name the groups, as {{0,1}} does"));
    };
    if size >= 0 && size % parts != 0 {
        return Err(context.error(format!("a dimension of {size} does not divide by {parts}")));
    }
    Ok(InferredShape::Like(*operand))
}

/// The operands from another replica; with `slice_sizes`, slices of operand 0 written into operand 1 at offsets, the
/// last two operands.
pub(in super::super) fn permute(context: &ShapeContext) -> Result<InferredShape> {
    pairs(context)?;
    match context.value("slice_sizes") {
        None => like_all(context),
        Some(_) => Ok(InferredShape::Like(updated(context)?)),
    }
}

/// The operand into which a permutation with `slice_sizes` writes.
fn updated(context: &ShapeContext) -> Result<ShapeId> {
    match *context.operands {
        [_, output, _, _] => Ok(output),
        _ => Err(context.error("slice_sizes need four operands: input, output, and the offsets in each")),
    }
}

/// A tuple of the operands, the results, and contexts.
pub(in super::super) fn permute_start(context: &ShapeContext) -> Result<InferredShape> {
    pairs(context)?;
    if let Some(given) = context.given {
        let &[before, after] = pair(context, given)?;
        if context.value("slice_sizes").is_some() {
            let wanted = [context.operands[0], updated(context)?];
            let fits =
                compatible(context.shapes, before, wanted[0]) && compatible(context.shapes, after, wanted[1]);
            let texts = wanted.map(|id| context.shapes.text(id)).join(", ");
            return fits
                .then_some(InferredShape::Any)
                .ok_or_else(|| context.error(format!("the shape must begin with ({texts})")));
        }
        operands_are(context, before)?;
        operands_are(context, after)?;
    }
    Ok(InferredShape::Any)
}

/// The sum of the operands, which has their shapes.
pub(in super::super) fn all_reduce(context: &ShapeContext) -> Result<InferredShape> {
    group_size(context)?;
    like_all(context)
}

/// The operand of one replica of each group, or the sum that it gets.
pub(in super::super) fn of_one_replica(context: &ShapeContext) -> Result<InferredShape> {
    group_size(context)?;
    like_only(context)
}

/// The second element of the start's result.
pub(in super::super) fn second(context: &ShapeContext) -> Result<InferredShape> {
    Ok(InferredShape::Like(pair(context, context.operands[0])?[1]))
}

/// A tuple of the copy, the operand, and a context.
pub(in super::super) fn copy_start(context: &ShapeContext) -> Result<InferredShape> {
    let operand = InferredShape::Like(context.operands[0]);
    Ok(InferredShape::Tuple(vec![operand.clone(), operand, number("u32")]))
}

/// The copy.
pub(in super::super) fn first(context: &ShapeContext) -> Result<InferredShape> {
    Ok(InferredShape::Like(pair(context, context.operands[0])?[0]))
}

/// A scalar.
fn number(element: &str) -> InferredShape {
    InferredShape::Array(ElementType::named(element), Vec::new())
}

/// The tuple of a send: the operand, a context, a token.
pub(in super::super) fn send(context: &ShapeContext) -> Result<InferredShape> {
    is_token(context, context.operands[1])?;
    Ok(InferredShape::Tuple(vec![
        InferredShape::Like(context.operands[0]),
        number("u32"),
        InferredShape::Like(context.operands[1]),
    ]))
}

/// The tuple of a receive: the result to come, a context, a token.
pub(in super::super) fn recv(context: &ShapeContext) -> Result<InferredShape> {
    is_token(context, context.operands[0])?;
    let Some(given) = context.given else { return Ok(InferredShape::Any) };
    let &[received, _] = pair(context, given)?;
    Ok(InferredShape::Tuple(vec![
        InferredShape::Like(received),
        number("u32"),
        InferredShape::Like(context.operands[0]),
    ]))
}

/// The tuple of a finished receive: the result, and a token.
pub(in super::super) fn recv_done(context: &ShapeContext) -> Result<InferredShape> {
    let started = &context.shape(0).elements;
    let &[received, _, token] = &started[..] else {
        return Err(context.error("the operand must be a recv"));
    };
    Ok(InferredShape::Tuple(vec![InferredShape::Like(received), InferredShape::Like(token)]))
}

/// The tuple of an infeed: the host's value, and a token.
pub(in super::super) fn infeed(context: &ShapeContext) -> Result<InferredShape> {
    is_token(context, context.operands[0])?;
    let Some(given) = context.given else { return Ok(InferredShape::Any) };
    let &[received, _] = pair(context, given)?;
    Ok(InferredShape::Tuple(vec![InferredShape::Like(received), InferredShape::Like(context.operands[0])]))
}

/// A token, after the host has received the first operand.
pub(in super::super) fn outfeed(context: &ShapeContext) -> Result<InferredShape> {
    is_token(context, context.operands[1])?;
    Ok(InferredShape::Like(context.operands[1]))
}

/// The operand; the second one is a token, which only orders instructions.
pub(in super::super) fn ordered(context: &ShapeContext) -> Result<InferredShape> {
    is_token(context, context.operands[1])?;
    super::shape_of_first(context)
}

fn is_token(context: &ShapeContext, id: ShapeId) -> Result<()> {
    if context.shapes.table[id as usize].element.row().name == "token" {
        return Ok(());
    }
    Err(context.error(format!("expected a token[], found {}", context.shapes.text(id))))
}

/// The second operand, into which rows of the first are written; the others are counts and offsets.
pub(in super::super) fn ragged_all_to_all(context: &ShapeContext) -> Result<InferredShape> {
    equal_group_size(context)?;
    let (input, output) = (context.array(0)?, context.array(1)?);
    if input.element != output.element
        || !same_sizes(
            input.dimensions.get(1..).unwrap_or_default(),
            output.dimensions.get(1..).unwrap_or_default(),
        )
    {
        return Err(context.error("operands 0 and 1 do not fit"));
    }
    Ok(InferredShape::Like(context.operands[1]))
}
