//! Shapes of gather and scatter, by their dimension numbers.

use super::super::element::Class;
use super::super::error::Result;
use super::super::shape::Shape;
use super::{same_size, same_sizes, InferredShape, ShapeContext};
use crate::error::counted;

/// The names of the dimension numbers of gather, and of scatter.
struct Names {
    /// Dimensions of the result (of the updates) that lie inside a slice.
    window: &'static str,
    /// Dimensions of the operand in which a slice has size 1, and which the result lacks.
    dropped: &'static str,
    /// The dimension of the operand for each number of an index.
    map: &'static str,
    /// Dimensions that operand and indices share.
    batching: [&'static str; 2],
}

const GATHER: Names = Names {
    window: "offset_dims",
    dropped: "collapsed_slice_dims",
    map: "start_index_map",
    batching: ["operand_batching_dims", "start_indices_batching_dims"],
};
const SCATTER: Names = Names {
    window: "update_window_dims",
    dropped: "inserted_window_dims",
    map: "scatter_dims_to_operand_dims",
    batching: ["input_batching_dims", "scatter_indices_batching_dims"],
};

/// Dimension numbers that fit the operand and the indices.
struct Numbers {
    /// Dimensions of the operand that a slice lacks: dropped ones and batching ones.
    missing: Vec<usize>,
    /// Sizes of the indices without the dimension that holds one index.
    batch: Vec<i64>,
}

impl Names {
    fn read(&self, context: &ShapeContext, operand: &Shape, indices: &Shape) -> Result<Numbers> {
        if !matches!(indices.element.row().class, Class::Signed | Class::Unsigned) {
            return Err(
                context.error(format!("indices must be integers, found {}", indices.element.row().name))
            );
        }
        let rank = operand.dimensions.len();
        let map = context.dimensions(self.map, rank)?;
        let mut missing = self.sorted(context, self.dropped, rank)?;
        let (batch, at) = batch_sizes(context, &indices.dimensions, map.len())?;
        let shared = self.sorted(context, self.batching[0], rank)?;
        let sharing = context.optional_dimensions(self.batching[1], indices.dimensions.len())?;
        if shared.iter().any(|d| missing.contains(d) || map.contains(d)) || sharing.contains(&at) {
            return Err(context
                .error(format!("{} name a dimension that has another use", self.batching.join(" or "))));
        }
        let sizes = |(&o, &i): (&usize, &usize)| same_size(operand.dimensions[o], indices.dimensions[i]);
        if shared.len() != sharing.len() || !shared.iter().zip(&sharing).all(sizes) {
            return Err(
                context.error(format!("{} name dimensions that do not pair", self.batching.join(" and ")))
            );
        }
        missing.extend(shared);
        Ok(Numbers { missing, batch })
    }

    fn sorted(&self, context: &ShapeContext, key: &str, rank: usize) -> Result<Vec<usize>> {
        let dimensions = context.optional_dimensions(key, rank)?;
        if dimensions.is_sorted() {
            return Ok(dimensions);
        }
        Err(context.error(format!("{key} must ascend, found {dimensions:?}")))
    }
}

/// Sizes of `indices` without the dimension that holds one index, and that dimension.
fn batch_sizes(context: &ShapeContext, indices: &[i64], count: usize) -> Result<(Vec<i64>, usize)> {
    let at = context.required("index_vector_dim", context.integer("index_vector_dim")?)?;
    let at = usize::try_from(at).ok().filter(|&d| d <= indices.len());
    let at =
        at.ok_or_else(|| context.error(format!("index_vector_dim is outside of rank {}", indices.len())))?;
    let mut sizes = indices.to_vec();
    let length = if at == sizes.len() { 1 } else { sizes.remove(at) };
    if !same_size(length, count as i64) {
        return Err(context.error(format!("an index has {length} numbers, the dimension map {count}")));
    }
    Ok((sizes, at))
}

/// Slices of the operand, one for each index.
pub(in super::super) fn gather(context: &ShapeContext) -> Result<InferredShape> {
    let (operand, indices) = (context.array(0)?, context.array(1)?);
    let rank = operand.dimensions.len();
    let Numbers { missing, batch } = GATHER.read(context, operand, indices)?;
    let sizes = context.integers("slice_sizes")?;
    let inside = |(s, w): (&i64, &i64)| (0..=*w).contains(s) || *w < 0;
    if sizes.len() != rank || !sizes.iter().zip(&operand.dimensions).all(inside) {
        return Err(context.error(format!("slice_sizes {sizes:?} do not fit into {:?}", operand.dimensions)));
    }
    if missing.iter().any(|&d| sizes[d] > 1) {
        return Err(context.error("a collapsed or batching dimension must have slice size 1"));
    }
    let total = batch.len() + rank - missing.len();
    let offsets = GATHER.sorted(context, GATHER.window, total)?;
    if offsets.len() + batch.len() != total {
        let inner = counted(rank - missing.len(), "dimension");
        return Err(context.error(format!("offset_dims must name the {inner} of a slice")));
    }
    let (mut batch, mut kept) =
        (batch.into_iter(), (0..rank).filter(|d| !missing.contains(d)).map(|d| sizes[d]));
    let size = |d: usize| if offsets.contains(&d) { kept.next() } else { batch.next() };
    let sizes: Option<Vec<i64>> = (0..total).map(size).collect();
    Ok(InferredShape::Array(
        Some(operand.element),
        sizes.ok_or_else(|| context.error("the dimension numbers do not fit"))?,
    ))
}

/// The operands, some elements updated.
pub(in super::super) fn scatter(context: &ShapeContext) -> Result<InferredShape> {
    let count = context.operands.len() / 2;
    if context.operands.len() != 2 * count + 1 {
        return Err(context.error("the operands must be arrays, indices, and as many updates as arrays"));
    }
    let (operand, indices, updates) = (context.array(0)?, context.array(count)?, context.array(count + 1)?);
    for k in 0..count {
        let (array, update) = (context.array(k)?, context.array(count + 1 + k)?);
        if !same_sizes(&array.dimensions, &operand.dimensions)
            || !same_sizes(&update.dimensions, &updates.dimensions)
        {
            return Err(context.error(format!("operands 0 and {k}, or their updates, have different sizes")));
        }
        if array.element != update.element {
            let (a, u) = (array.element.row().name, update.element.row().name);
            return Err(context.error(format!("operand {k} has elements of {a}, its updates of {u}")));
        }
    }
    let Numbers { missing, batch } = SCATTER.read(context, operand, indices)?;
    let rank = operand.dimensions.len();
    let window = SCATTER.sorted(context, SCATTER.window, updates.dimensions.len())?;
    if window.len() + missing.len() != rank || window.len() + batch.len() != updates.dimensions.len() {
        return Err(context.error(format!(
            "updates of {:?} do not fit: {} window and {} scatter dimensions",
            updates.dimensions,
            window.len(),
            batch.len()
        )));
    }
    let scattered =
        (0..updates.dimensions.len()).filter(|d| !window.contains(d)).map(|d| updates.dimensions[d]);
    if !same_sizes(&scattered.collect::<Vec<_>>(), &batch) {
        return Err(context.error(format!(
            "updates of {:?} do not fit indices of {:?}",
            updates.dimensions, indices.dimensions
        )));
    }
    let kept = (0..rank).filter(|d| !missing.contains(d)).map(|d| operand.dimensions[d]);
    let larger = |(w, size): (&usize, i64)| size >= 0 && updates.dimensions[*w] > size;
    if window.iter().zip(kept).any(larger) {
        return Err(context.error(format!(
            "the window of updates of {:?} is larger than the operand of {:?}",
            updates.dimensions, operand.dimensions
        )));
    }
    let arrays = context.operands[..count].iter().map(|&id| InferredShape::Like(id));
    Ok(super::tuples::results(context, arrays.collect()))
}
