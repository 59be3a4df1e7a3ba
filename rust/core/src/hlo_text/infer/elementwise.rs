//! Shapes of elementwise opcodes: all operands have the result's sizes. The comment of each rule describes the result.

use super::super::error::Result;
use super::super::shape::{Class, ElementType, Shape};
use super::{same_sizes, Outcome, Site};

fn of(element: Option<ElementType>, shape: &Shape) -> Result<Outcome> {
    Ok(Outcome::Array(element, shape.dimensions.clone()))
}

/// The result has the operand's element type.
pub(in super::super) fn unary(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    of(Some(shape.element), shape)
}

/// The operand's sizes; any type.
pub(in super::super) fn convert(site: &Site) -> Result<Outcome> {
    of(None, site.array(0)?)
}

/// The operand's sizes; any type. Elements of the second operand are random bits, as many as the first one's have.
pub(in super::super) fn stochastic_convert(site: &Site) -> Result<Outcome> {
    same_sizes_as_first(site, 1)?;
    let (from, bits) = (site.array(0)?.element.row(), site.array(1)?.element.row());
    if from.class != Class::Float || bits.class != Class::Unsigned || from.bits != bits.bits {
        return Err(site.error(format!(
            "needs floating point and as many unsigned bits, found {} and {}",
            from.name, bits.name
        )));
    }
    convert(site)
}

/// A boolean.
pub(in super::super) fn predicate(site: &Site) -> Result<Outcome> {
    of(Some(ElementType::PRED), site.array(0)?)
}

/// The operand's sizes; the type of its real part.
pub(in super::super) fn part(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    let element = match shape.element.row().name {
        "c64" => ElementType::named("f32"),
        "c128" => ElementType::named("f64"),
        _ => Some(shape.element),
    };
    of(element, shape)
}

/// Two operands of one type.
pub(in super::super) fn binary(site: &Site) -> Result<Outcome> {
    same_type_as_first(site, 1)?;
    same_sizes_as_first(site, 1)?;
    unary(site)
}

/// Two operands of one type, compared.
pub(in super::super) fn compare(site: &Site) -> Result<Outcome> {
    binary(site)?;
    match site.required("direction", site.value("direction"))? {
        "EQ" | "NE" | "GE" | "GT" | "LE" | "LT" => predicate(site),
        other => Err(site.error(format!("direction must be EQ, NE, GE, GT, LE or LT, found {other}"))),
    }
}

/// Real and imaginary parts.
pub(in super::super) fn complex(site: &Site) -> Result<Outcome> {
    binary(site)?;
    let shape = site.array(0)?;
    match shape.element.row().name {
        "f32" => of(ElementType::named("c64"), shape),
        "f64" => of(ElementType::named("c128"), shape),
        other => Err(site.error(format!("the parts must be f32 or f64, found {other}"))),
    }
}

/// The operand's shape; bounds are scalars or have the operand's sizes.
pub(in super::super) fn clamp(site: &Site) -> Result<Outcome> {
    let shape = site.array(1)?;
    for bound in [0, 2] {
        let found = site.array(bound)?;
        if !found.dimensions.is_empty() && !same_sizes(&found.dimensions, &shape.dimensions) {
            return Err(mismatch(site, bound, 1));
        }
        if found.element != shape.element {
            return Err(mismatch(site, bound, 1));
        }
    }
    of(Some(shape.element), shape)
}

/// The shape of the choices; the predicate is a scalar or has their sizes. Tuples are chosen by a scalar.
pub(in super::super) fn select(site: &Site) -> Result<Outcome> {
    let predicate = site.array(0)?;
    if predicate.element != ElementType::PRED {
        return Err(
            site.error(format!("the predicate must be pred, found {}", site.shapes.text(site.operands[0])))
        );
    }
    let (on_true, on_false) = (site.operands[1], site.operands[2]);
    if !super::compatible(site.shapes, on_true, on_false) {
        return Err(mismatch(site, 2, 1));
    }
    if !predicate.dimensions.is_empty() && !same_sizes(&predicate.dimensions, &site.shape(1).dimensions) {
        return Err(mismatch(site, 0, 1));
    }
    Ok(Outcome::Like(on_true))
}

/// A computation applied element by element.
pub(in super::super) fn map(site: &Site) -> Result<Outcome> {
    for operand in 1..site.operands.len() {
        same_sizes_as_first(site, operand)?;
    }
    match site.operands.len() {
        0 => Ok(Outcome::Any),
        _ => site.one_precision().and_then(|()| of(None, site.array(0)?)),
    }
}

/// The operand's sizes if the widths agree; otherwise the last dimension holds the parts of one element.
pub(in super::super) fn bitcast_convert(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    let Some(given) = site.given.map(|id| &site.shapes.table[id as usize]) else { return Ok(Outcome::Any) };
    let (from, to) = (shape.element.row().bits, given.element.row().bits);
    let mut sizes = shape.dimensions.clone();
    if !given.element.is_array()
        || (shape.element.row().class == Class::Complex) != (given.element.row().class == Class::Complex)
    {
        return Err(site.error("bits are converted between arrays, neither or both of them complex"));
    }
    if from > to {
        sizes.push(i64::from(from / to));
    } else if from < to && sizes.pop() != Some(i64::from(to / from)) {
        return Err(site.error(format!("the last dimension must be {}, the parts of one element", to / from)));
    }
    Ok(Outcome::Array(Some(given.element), sizes))
}

fn same_sizes_as_first(site: &Site, operand: usize) -> Result<()> {
    if same_sizes(&site.array(operand)?.dimensions, &site.array(0)?.dimensions) {
        return Ok(());
    }
    Err(mismatch(site, operand, 0))
}

fn same_type_as_first(site: &Site, operand: usize) -> Result<()> {
    if site.array(operand)?.element == site.array(0)?.element {
        return Ok(());
    }
    Err(mismatch(site, operand, 0))
}

fn mismatch(site: &Site, a: usize, b: usize) -> super::super::error::HloError {
    let text = |operand: usize| site.shapes.text(site.operands[operand]);
    site.error(format!("operands {b} and {a} do not fit: {} and {}", text(b), text(a)))
}
