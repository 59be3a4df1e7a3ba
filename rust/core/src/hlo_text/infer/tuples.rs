//! Tuples, tokens, and what passes several values through.

use super::super::error::Result;
use super::super::shape::ElementType;
use super::{Outcome, Site};

/// The operands side by side.
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

/// A token.
pub(in super::super) fn token(site: &Site) -> Result<Outcome> {
    let token = site.given.map(|id| &site.shapes.table[id as usize]);
    match token {
        Some(shape) if shape.element.row().name != "token" => Err(site.error("the result is a token[]")),
        _ => Ok(Outcome::Any),
    }
}

/// A device's number.
pub(in super::super) fn identifier(_: &Site) -> Result<Outcome> {
    Ok(Outcome::Array(ElementType::named("u32"), Vec::new()))
}

/// The shape of the second operand.
pub(in super::super) fn like_second(site: &Site) -> Result<Outcome> {
    Ok(Outcome::Like(site.operands[1]))
}

/// The operand, normalized or its gradient, and two values for each feature.
pub(in super::super) fn batch_norm(site: &Site) -> Result<Outcome> {
    let (operand, feature) = (site.operands[0], site.operands[1]);
    Ok(Outcome::Tuple(vec![Outcome::Like(operand), Outcome::Like(feature), Outcome::Like(feature)]))
}

/// The shape of the one operand; with more of them, among them the root's number, nothing is known.
pub(in super::super) fn like_only(site: &Site) -> Result<Outcome> {
    Ok(match site.operands {
        [one] => Outcome::Like(*one),
        _ => Outcome::Any,
    })
}
