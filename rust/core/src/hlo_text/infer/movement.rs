//! Shapes of opcodes that move elements: each result element is an operand element, or padding.

use super::super::attributes;
use super::super::error::Result;
use super::super::shape::{Class, ElementType, Shape, UNBOUNDED};
use super::{same_size, same_sizes, Outcome, Site};

fn of(shape: &Shape, sizes: Vec<i64>) -> Result<Outcome> {
    Ok(Outcome::Array(Some(shape.element), sizes))
}

/// Each dimension of the operand becomes the named one of the result.
pub(in super::super) fn broadcast(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    let Some(given) = site.given else { return Ok(Outcome::Any) };
    let sizes = &site.shapes.table[given as usize].dimensions;
    let targets = match shape.dimensions.len() {
        0 => site.optional_dimensions("dimensions", sizes.len())?,
        _ => site.dimensions("dimensions", sizes.len())?,
    };
    if targets.len() != shape.dimensions.len() {
        return Err(site.error(format!(
            "dimensions must name one result dimension for each of the operand's {}",
            shape.dimensions.len()
        )));
    }
    for (dimension, &target) in targets.iter().enumerate() {
        if !same_size(shape.dimensions[dimension], sizes[target]) {
            let (a, b) = (shape.dimensions[dimension], sizes[target]);
            return Err(site.error(format!(
                "operand dimension {dimension} has size {a}, dimension {target} of the result {b}"
            )));
        }
    }
    of(shape, sizes.clone())
}

/// Result dimension i is operand dimension `dimensions[i]`.
pub(in super::super) fn transpose(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    let order = site.dimensions("dimensions", shape.dimensions.len())?;
    if order.len() != shape.dimensions.len() {
        return Err(
            site.error(format!("dimensions must be a permutation of {} dimensions", shape.dimensions.len()))
        );
    }
    of(shape, order.iter().map(|&d| shape.dimensions[d]).collect())
}

/// As many elements, of the operand's type.
pub(in super::super) fn reshape(site: &Site) -> Result<Outcome> {
    same_count(site)?;
    let shape = site.array(0)?;
    let sizes = site.given.map(|id| site.shapes.table[id as usize].dimensions.clone());
    sizes.map_or(Ok(Outcome::Any), |sizes| of(shape, sizes))
}

/// As many elements, if the type is the operand's; otherwise as many bytes.
pub(in super::super) fn bitcast(site: &Site) -> Result<Outcome> {
    let same_type =
        site.given.is_some_and(|id| site.shapes.table[id as usize].element == site.shape(0).element);
    if same_type && site.shape(0).element.is_array() {
        same_count(site)?;
    } else if let Some(given) = site.given {
        same_bytes(site, &site.shapes.table[given as usize])?;
    }
    Ok(Outcome::Any)
}

/// Checks that an array of another type has as many bytes. Types narrower than a byte are not checked: layouts determine how
/// they are stored.
fn same_bytes(site: &Site, result: &Shape) -> Result<()> {
    let bytes = |s: &Shape| i64::from(s.element.row().bits / 8).saturating_mul(s.element_count);
    let is_whole = |s: &Shape| {
        s.element.is_array() && s.element.row().bits % 8 == 0 && !s.dimensions.contains(&UNBOUNDED)
    };
    let shape = site.shape(0);
    if !is_whole(shape) || !is_whole(result) || bytes(shape) == bytes(result) {
        return Ok(());
    }
    let from = site.shapes.text(site.operands[0]);
    Err(site.error(format!("{from} takes {} bytes, the result {}", bytes(shape), bytes(result))))
}

fn same_count(site: &Site) -> Result<()> {
    let shape = site.array(0)?;
    let Some(given) = site.given else { return Ok(()) };
    let result = &site.shapes.table[given as usize];
    let unknown = shape.dimensions.contains(&UNBOUNDED) || result.dimensions.contains(&UNBOUNDED);
    if unknown || shape.element_count == result.element_count {
        return Ok(());
    }
    let (from, to) = (site.shapes.text(site.operands[0]), site.shapes.text(given));
    Err(site.error(format!("{from} has {} elements, {to} has {}", shape.element_count, result.element_count)))
}

/// At most as many elements, of the operand's type; a scalar operand for each dimension is its size.
pub(in super::super) fn dynamic_reshape(site: &Site) -> Result<Outcome> {
    same_count(site)?;
    let shape = site.array(0)?;
    for size in 1..site.operands.len() {
        if site.scalar(size)?.element != ElementType::named("s32").unwrap_or(shape.element) {
            return Err(site.error("sizes must be s32[]"));
        }
    }
    let Some(sizes) = site.given.map(|id| site.shapes.table[id as usize].dimensions.clone()) else {
        return Ok(Outcome::Any);
    };
    if sizes.len() + 1 != site.operands.len() {
        return Err(site.error(format!("{} sizes for {} dimensions", site.operands.len() - 1, sizes.len())));
    }
    of(shape, sizes)
}

/// Start, limit and stride of each dimension.
pub(in super::super) fn slice(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    let slices = site.required("slice", site.read("slice", attributes::slices)?)?;
    if slices.len() != shape.dimensions.len() {
        return Err(site.error(format!("{} slices for {} dimensions", slices.len(), shape.dimensions.len())));
    }
    let mut sizes = Vec::new();
    for (dimension, (&(start, limit, stride), &size)) in slices.iter().zip(&shape.dimensions).enumerate() {
        let upper = if size == UNBOUNDED { i64::MAX } else { size };
        if start < 0 || limit < start || limit > upper || stride < 1 {
            return Err(site.error(format!(
                "[{start}:{limit}:{stride}] is no slice of dimension {dimension} of size {size}"
            )));
        }
        sizes.push((limit - start) / stride + i64::from((limit - start) % stride != 0));
    }
    of(shape, sizes)
}

/// The operands concatenated along a dimension.
pub(in super::super) fn concatenate(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    let along = site.dimensions("dimensions", shape.dimensions.len())?;
    let [along] = along[..] else { return Err(site.error("dimensions must name one dimension")) };
    let mut sizes = shape.dimensions.clone();
    for operand in 1..site.operands.len() {
        let other = site.array(operand)?;
        let mut expected = shape.dimensions.clone();
        if let (Some(slot), Some(size)) = (expected.get_mut(along), other.dimensions.get(along)) {
            *slot = *size;
        }
        if !same_sizes(&expected, &other.dimensions) || shape.element != other.element {
            let text = |k: usize| site.shapes.text(site.operands[k]);
            return Err(site.error(format!(
                "operands 0 and {operand} do not fit: {} and {}",
                text(0),
                text(operand)
            )));
        }
        let total = sizes[along].checked_add(other.dimensions[along]);
        let unknown = sizes[along] == UNBOUNDED || other.dimensions[along] == UNBOUNDED;
        sizes[along] = if unknown {
            UNBOUNDED
        } else {
            total.ok_or_else(|| site.error("the result's size exceeds 64 bits"))?
        };
    }
    of(shape, sizes)
}

/// Low, high and interior padding of each dimension.
pub(in super::super) fn pad(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    if site.scalar(1)?.element != shape.element {
        let (a, p) = (shape.element.row().name, site.shape(1).element.row().name);
        return Err(site.error(format!("the operand has elements of {a}, the padding value is {p}")));
    }
    let rank = shape.dimensions.len();
    let padding = site.read("padding", attributes::padding)?;
    let padding = if rank == 0 { padding.unwrap_or_default() } else { site.required("padding", padding)? };
    if padding.len() != rank {
        return Err(site.error(format!("padding of {} dimensions for {rank}", padding.len())));
    }
    let sizes: Option<Vec<i64>> =
        shape.dimensions.iter().zip(padding).map(|(&size, p)| padded(size, p)).collect();
    of(
        shape,
        sizes.ok_or_else(|| {
            site.error("padding gives a negative size or one beyond 64 bits, or is negative inside")
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
pub(in super::super) fn iota(site: &Site) -> Result<Outcome> {
    let Some(given) = site.given else { return Ok(Outcome::Any) };
    let shape = &site.shapes.table[given as usize];
    let along = site.integer("iota_dimension")?;
    if !shape.element.is_array() || shape.element == ElementType::PRED {
        return Err(site.error("the result must be an array of numbers"));
    }
    let along = along.unwrap_or_default();
    if !(0..shape.dimensions.len() as i64).contains(&along) {
        return Err(
            site.error(format!("iota_dimension {along} is outside of rank {}", shape.dimensions.len()))
        );
    }
    Ok(Outcome::Any)
}

/// The operand's shape; dimensions are reversed.
pub(in super::super) fn reverse(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    site.dimensions("dimensions", shape.dimensions.len())?;
    of(shape, shape.dimensions.clone())
}

/// Checks that slice starts are one scalar for each dimension, or one vector.
fn slice_starts(site: &Site, first: usize, rank: usize) -> Result<()> {
    let count = site.operands.len() - first;
    let vector = count == 1 && site.array(first)?.dimensions.len() == 1;
    if !(vector && site.array(first)?.dimensions == [rank as i64] || count == rank && !vector) {
        return Err(site.error(format!("one start for each of {rank} dimensions, found {count}")));
    }
    for operand in first..site.operands.len() {
        let start = if vector { site.array(operand)? } else { site.scalar(operand)? };
        let class = start.element.row().class;
        if !matches!(class, Class::Signed | Class::Unsigned) {
            return Err(site.error("starts must be integers"));
        }
    }
    Ok(())
}

/// A slice with the sizes of an attribute; starts are operands.
pub(in super::super) fn dynamic_slice(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    slice_starts(site, 1, shape.dimensions.len())?;
    let sizes = site.integers("dynamic_slice_sizes")?;
    fits(site, &sizes, &shape.dimensions)?;
    of(shape, sizes)
}

/// An operand with a part replaced.
pub(in super::super) fn dynamic_update_slice(site: &Site) -> Result<Outcome> {
    let (shape, update) = (site.array(0)?, site.array(1)?);
    slice_starts(site, 2, shape.dimensions.len())?;
    if shape.element != update.element {
        let (a, u) = (shape.element.row().name, update.element.row().name);
        return Err(site.error(format!("the operand has elements of {a}, the update of {u}")));
    }
    fits(site, &update.dimensions, &shape.dimensions)?;
    Ok(Outcome::Like(site.operands[0]))
}

fn fits(site: &Site, part: &[i64], whole: &[i64]) -> Result<()> {
    let inside = |(p, w): (&i64, &i64)| *w == UNBOUNDED || *p == UNBOUNDED || (0..=*w).contains(p);
    if part.len() == whole.len() && part.iter().zip(whole).all(inside) {
        return Ok(());
    }
    Err(site.error(format!("a part of sizes {part:?} does not fit into {whole:?}")))
}

fn one_dimension(site: &Site) -> Result<usize> {
    match site.dimensions("dimensions", site.array(0)?.dimensions.len())?[..] {
        [one] => Ok(one),
        _ => Err(site.error("dimensions must name one dimension")),
    }
}

/// A scalar: the size of a dimension.
pub(in super::super) fn dimension_size(site: &Site) -> Result<Outcome> {
    one_dimension(site)?;
    Ok(Outcome::Array(ElementType::named("s32"), Vec::new()))
}

/// An operand with a dimension made dynamic.
pub(in super::super) fn set_dimension_size(site: &Site) -> Result<Outcome> {
    one_dimension(site)?;
    if Some(site.scalar(1)?.element) != ElementType::named("s32") {
        return Err(site.error("the size must be s32[]"));
    }
    let shape = site.array(0)?;
    of(shape, shape.dimensions.clone())
}
