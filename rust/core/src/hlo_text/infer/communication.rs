//! Shapes of collective, host transfer and asynchronous opcodes. The comment of each rule describes the result.

use std::collections::HashSet;

use super::super::error::Result;
use super::super::groups::replica_groups;
use super::super::shape::{ElementType, Shape, ShapeId};
use super::tuples::{like_all, tuple};
use super::{same_size, same_sizes, Outcome, Site};

/// The number of participants of each group; `None` if it is the number of replicas, which the text does not state.
fn group_size(site: &Site) -> Result<Option<i64>> {
    let global = site.value("use_global_device_ids") == Some("true");
    if global && site.integer("channel_id")?.is_none_or(|id| id < 1) {
        return Err(site.error("use_global_device_ids=true needs a channel_id of 1 or more"));
    }
    let read = |cursor: &mut super::Cursor| {
        cursor.skip_space()?;
        replica_groups(cursor)
    };
    let groups = site.read("replica_groups", read)?.unwrap_or_default();
    if site.value("replica_groups").is_some_and(|v| v.starts_with('{')) {
        each_once(site, &groups)?;
    }
    Ok(groups.first().map(|group| group.len() as i64).filter(|&size| size > 0))
}

/// Checks that the ids of listed groups are 0, 1, ... in some order.
fn each_once(site: &Site, groups: &[Vec<i64>]) -> Result<()> {
    let mut seen = vec![false; groups.iter().map(Vec::len).sum()];
    for &id in groups.iter().flatten() {
        let slot = usize::try_from(id).ok().and_then(|id| seen.get_mut(id));
        if slot.is_none_or(|s| std::mem::replace(s, true)) {
            return Err(site.error(format!("replica_groups must name 0, 1, ... once each, found {id}")));
        }
    }
    Ok(())
}

/// Checks that each source and each target occurs in one pair.
fn pairs(site: &Site) -> Result<()> {
    let read = |cursor: &mut super::Cursor| {
        cursor.skip_space()?;
        replica_groups(cursor)
    };
    let pairs = site.required("source_target_pairs", site.read("source_target_pairs", read)?)?;
    let (mut sources, mut targets) = (HashSet::new(), HashSet::new());
    for pair in &pairs {
        let &[source, target] = &pair[..] else {
            return Err(site.error(format!("source_target_pairs must be pairs, found {pair:?}")));
        };
        if source < 0 || target < 0 || !sources.insert(source) || !targets.insert(target) {
            return Err(site.error(format!("{pair:?}: a source or a target is negative or stands twice")));
        }
    }
    Ok(())
}

/// The one dimension that is gathered, scattered or split.
fn along(site: &Site, rank: usize) -> Result<usize> {
    match site.dimensions("dimensions", rank)?[..] {
        [one] => Ok(one),
        _ => Err(site.error("dimensions must name one dimension")),
    }
}

/// Whether `whole` is `part` with one dimension multiplied by the size of a group.
fn multiplied(site: &Site, part: &Shape, whole: &Shape) -> Result<bool> {
    let dimension = along(site, part.dimensions.len())?;
    let mut expected = part.dimensions.clone();
    if part.element != whole.element || part.dimensions.len() != whole.dimensions.len() {
        return Ok(false);
    }
    let (one, all) = (part.dimensions[dimension], whole.dimensions[dimension]);
    expected[dimension] = all;
    let times = group_size(site)?.unwrap_or(1);
    // a group of one means that the groups depend on the devices
    let fits =
        if times == 1 { one == 0 || all % one == 0 } else { same_size(one.saturating_mul(times), all) };
    Ok((fits || one < 0 || all < 0) && same_sizes(&expected, &whole.dimensions))
}

/// The arrays of a result, one for each operand; `None` if the text states no shape.
fn results(site: &Site, given: Option<ShapeId>) -> Result<Option<Vec<ShapeId>>> {
    let Some(given) = given else { return Ok(None) };
    let elements = &site.shapes.table[given as usize].elements;
    let found = if site.operands.len() == 1 && elements.is_empty() { vec![given] } else { elements.clone() };
    if found.len() == site.operands.len() {
        return Ok(Some(found));
    }
    Err(site.error(format!("{} operands give as many results, found {}", site.operands.len(), found.len())))
}

fn gathered(site: &Site, given: Option<ShapeId>) -> Result<()> {
    for (k, result) in results(site, given)?.unwrap_or_default().into_iter().enumerate() {
        if !multiplied(site, site.array(k)?, &site.shapes.table[result as usize])? {
            return Err(times_the_group(site, site.operands[k], result));
        }
    }
    Ok(())
}

fn times_the_group(site: &Site, part: ShapeId, whole: ShapeId) -> super::HloError {
    let (part, whole) = (site.shapes.text(part), site.shapes.text(whole));
    site.error(format!("{whole} must be {part} with the dimension as often as the group is large"))
}

/// The operands of all replicas, concatenated.
pub(in super::super) fn all_gather(site: &Site) -> Result<Outcome> {
    gathered(site, site.given)?;
    Ok(Outcome::Any)
}

/// A tuple of the operands and the gathered operands.
pub(in super::super) fn all_gather_start(site: &Site) -> Result<Outcome> {
    if let Some(given) = site.given {
        let &[before, after] = pair(site, given)?;
        operands_are(site, before)?;
        gathered(site, Some(after))?;
    }
    Ok(Outcome::Any)
}

/// The first two elements of a tuple; contexts may follow.
fn pair<'s>(site: &'s Site, id: ShapeId) -> Result<&'s [ShapeId; 2]> {
    let elements = &site.shapes.table[id as usize].elements;
    elements.first_chunk::<2>().ok_or_else(|| {
        site.error(format!(
            "the shape must be a tuple of operands and results, found {}",
            site.shapes.text(id)
        ))
    })
}

/// Checks that the shape is that of the operand, or of the tuple of all operands.
fn operands_are(site: &Site, found: ShapeId) -> Result<()> {
    if super::matches(site.shapes, found, &like_all(site)?) {
        return Ok(());
    }
    let wanted = site.describe(&like_all(site)?);
    Err(site.error(format!("the operands are {wanted}, the shape says {}", site.shapes.text(found))))
}

/// A part of the sum of the operands.
pub(in super::super) fn reduce_scatter(site: &Site) -> Result<Outcome> {
    for (k, result) in results(site, site.given)?.unwrap_or_default().into_iter().enumerate() {
        if !multiplied(site, &site.shapes.table[result as usize], site.array(k)?)? {
            return Err(times_the_group(site, result, site.operands[k]));
        }
    }
    Ok(Outcome::Any)
}

/// Blocks of one array, or whole operands, exchanged between replicas.
pub(in super::super) fn all_to_all(site: &Site) -> Result<Outcome> {
    if site.value("dimensions").is_none() {
        let parts = group_size(site)?;
        if parts.is_some_and(|n| n != site.operands.len() as i64) {
            return Err(site.error("without dimensions, there must be an operand for each of a group"));
        }
        return tuple_or_one(site);
    }
    let [operand] = site.operands else {
        return Err(site.error(format!("takes one operand with dimensions, found {}", site.operands.len())));
    };
    let sizes = &site.array(0)?.dimensions;
    let size = sizes[along(site, sizes.len())?];
    let Some(parts) = group_size(site)? else {
        return Err(site.error("with dimensions, replica_groups must name the groups, as {{0,1}} does"));
    };
    if size >= 0 && size % parts != 0 {
        return Err(site.error(format!("a dimension of {size} does not divide by {parts}")));
    }
    Ok(Outcome::Like(*operand))
}

/// The shapes of the operands as a tuple; that of a single operand also alone.
fn tuple_or_one(site: &Site) -> Result<Outcome> {
    let given = site.given.map(|id| site.shapes.table[id as usize].element);
    if given == Some(ElementType::TUPLE) {
        return tuple(site);
    }
    like_all(site)
}

/// The operands from another replica.
pub(in super::super) fn permute(site: &Site) -> Result<Outcome> {
    pairs(site)?;
    like_all(site)
}

/// A tuple of the operands, the results, and contexts.
pub(in super::super) fn permute_start(site: &Site) -> Result<Outcome> {
    pairs(site)?;
    if let Some(given) = site.given {
        let &[before, after] = pair(site, given)?;
        operands_are(site, before)?;
        operands_are(site, after)?;
    }
    Ok(Outcome::Any)
}

/// The sum of the operands, which has their shapes.
pub(in super::super) fn all_reduce(site: &Site) -> Result<Outcome> {
    group_size(site)?;
    like_all(site)
}

/// The second element of the start's result.
pub(in super::super) fn second(site: &Site) -> Result<Outcome> {
    Ok(Outcome::Like(pair(site, site.operands[0])?[1]))
}

/// A tuple of the copy, the operand, and a context.
pub(in super::super) fn copy_start(site: &Site) -> Result<Outcome> {
    let operand = Outcome::Like(site.operands[0]);
    Ok(Outcome::Tuple(vec![operand.clone(), operand, number("u32")]))
}

/// The copy.
pub(in super::super) fn first(site: &Site) -> Result<Outcome> {
    Ok(Outcome::Like(pair(site, site.operands[0])?[0]))
}

/// A scalar.
fn number(element: &str) -> Outcome {
    Outcome::Array(ElementType::named(element), Vec::new())
}

/// The tuple of a send: the operand, a context, a token.
pub(in super::super) fn send(site: &Site) -> Result<Outcome> {
    is_token(site, site.operands[1])?;
    Ok(Outcome::Tuple(vec![Outcome::Like(site.operands[0]), number("u32"), Outcome::Like(site.operands[1])]))
}

/// The tuple of a receive: the result to come, a context, a token.
pub(in super::super) fn recv(site: &Site) -> Result<Outcome> {
    is_token(site, site.operands[0])?;
    let Some(given) = site.given else { return Ok(Outcome::Any) };
    let &[received, _] = pair(site, given)?;
    Ok(Outcome::Tuple(vec![Outcome::Like(received), number("u32"), Outcome::Like(site.operands[0])]))
}

/// The tuple of a finished receive: the result, and a token.
pub(in super::super) fn recv_done(site: &Site) -> Result<Outcome> {
    let started = &site.shape(0).elements;
    let &[received, _, token] = &started[..] else {
        return Err(site.error("the operand must be a recv"));
    };
    Ok(Outcome::Tuple(vec![Outcome::Like(received), Outcome::Like(token)]))
}

/// The tuple of an infeed: the host's value, and a token.
pub(in super::super) fn infeed(site: &Site) -> Result<Outcome> {
    is_token(site, site.operands[0])?;
    let Some(given) = site.given else { return Ok(Outcome::Any) };
    let &[received, _] = pair(site, given)?;
    Ok(Outcome::Tuple(vec![Outcome::Like(received), Outcome::Like(site.operands[0])]))
}

/// A token, after the host has received the first operand.
pub(in super::super) fn outfeed(site: &Site) -> Result<Outcome> {
    is_token(site, site.operands[1])?;
    Ok(Outcome::Like(site.operands[1]))
}

/// The operand; the second one is a token, which only orders instructions.
pub(in super::super) fn ordered(site: &Site) -> Result<Outcome> {
    is_token(site, site.operands[1])?;
    super::like_first(site)
}

fn is_token(site: &Site, id: ShapeId) -> Result<()> {
    if site.shapes.table[id as usize].element.row().name == "token" {
        return Ok(());
    }
    Err(site.error(format!("expected a token[], found {}", site.shapes.text(id))))
}

/// The second operand, into which rows of the first are written; the others are counts and offsets.
pub(in super::super) fn ragged_all_to_all(site: &Site) -> Result<Outcome> {
    group_size(site)?;
    let (input, output) = (site.array(0)?, site.array(1)?);
    if input.element != output.element
        || !same_sizes(
            input.dimensions.get(1..).unwrap_or_default(),
            output.dimensions.get(1..).unwrap_or_default(),
        )
    {
        return Err(site.error("operands 0 and 1 do not fit"));
    }
    Ok(Outcome::Like(site.operands[1]))
}
