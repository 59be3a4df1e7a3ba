//! Shapes of tuples, tokens, and opcodes that pass several values through.

use super::super::error::Result;
use super::super::shape::ElementType;
use super::{Outcome, Site};

/// The tuple of the operands.
pub(in super::super) fn tuple(site: &Site) -> Result<Outcome> {
    Ok(Outcome::Tuple(site.operands.iter().map(|&id| Outcome::Like(id)).collect()))
}

/// One element.
pub(in super::super) fn get_tuple_element(site: &Site) -> Result<Outcome> {
    let shape = site.shape(0);
    if shape.element != ElementType::TUPLE {
        return Err(
            site.error(format!("the operand must be a tuple, found {}", site.shapes.text(site.operands[0])))
        );
    }
    let index = site.required("index", site.integer("index")?)?;
    let element = usize::try_from(index).ok().and_then(|i| shape.elements.get(i));
    let element =
        element.ok_or_else(|| site.error(format!("index {index} of a tuple of {}", shape.elements.len())))?;
    Ok(Outcome::Like(*element))
}

/// The one operand, or a tuple of all.
pub(in super::super) fn like_all(site: &Site) -> Result<Outcome> {
    match site.operands {
        [one] => Ok(Outcome::Like(*one)),
        _ => tuple(site),
    }
}

/// A token; the operands are tokens.
pub(in super::super) fn token(site: &Site) -> Result<Outcome> {
    let token = site.given.map(|id| &site.shapes.table[id as usize]);
    match token {
        Some(shape) if shape.element.row().name != "token" => Err(site.error("the result is a token[]")),
        _ => Ok(Outcome::Any),
    }
}

/// The number of a device.
pub(in super::super) fn identifier(_: &Site) -> Result<Outcome> {
    Ok(Outcome::Array(ElementType::named("u32"), Vec::new()))
}

/// The shape of the operand, if there is only one; with several, one of which is the number of the root, it is unknown.
pub(in super::super) fn like_only(site: &Site) -> Result<Outcome> {
    Ok(match site.operands {
        [one] => Outcome::Like(*one),
        _ => Outcome::Any,
    })
}

/// The shape of the chosen branch's result; the computations are checked where all are known.
pub(in super::super) fn conditional(site: &Site) -> Result<Outcome> {
    let chooser = site.scalar(0)?.element;
    let (listed, yes, no) =
        (site.value("branch_computations"), site.value("true_computation"), site.value("false_computation"));
    match (chooser == ElementType::PRED, listed.is_some(), yes.is_some() && no.is_some()) {
        (_, true, false) | (true, false, true) => Ok(Outcome::Any),
        _ => Err(site.error(
            "needs branch_computations, or true_computation and false_computation where the first operand is pred[]",
        )),
    }
}
