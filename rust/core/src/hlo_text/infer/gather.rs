//! Gather and scatter: dimension numbers, and the sizes that they give.

use super::super::error::Result;
use super::{same_sizes, Outcome, Site};

/// Sizes of `indices` without the dimension that holds one index.
fn batch_sizes(site: &Site, indices: &[i64], count: usize) -> Result<Vec<i64>> {
    let at = site.required("index_vector_dim", site.integer("index_vector_dim")?)?;
    let at = usize::try_from(at).ok().filter(|&d| d <= indices.len());
    let at =
        at.ok_or_else(|| site.error(format!("index_vector_dim is outside of rank {}", indices.len())))?;
    let mut sizes = indices.to_vec();
    let length = if at == sizes.len() { 1 } else { sizes.remove(at) };
    if length != count as i64 {
        return Err(site.error(format!("an index has {length} numbers, the dimension map {count}")));
    }
    Ok(sizes)
}

/// Slices of the operand, one for each index.
pub(in super::super) fn gather(site: &Site) -> Result<Outcome> {
    let (operand, indices) = (site.array(0)?, site.array(1)?);
    let rank = operand.dimensions.len();
    let map = site.dimensions("start_index_map", rank)?;
    let mut dropped = site.dimensions("collapsed_slice_dims", rank)?;
    dropped.extend(site.optional_dimensions("operand_batching_dims", rank)?);
    let sizes = site.integers("slice_sizes")?;
    let inside = |(s, w): (&i64, &i64)| (0..=*w).contains(s) || *w < 0;
    if sizes.len() != rank || !sizes.iter().zip(&operand.dimensions).all(inside) {
        return Err(site.error(format!("slice_sizes {sizes:?} do not fit into {:?}", operand.dimensions)));
    }
    if dropped.iter().any(|&d| sizes[d] > 1) {
        return Err(site.error("a collapsed or batching dimension must have slice size 1"));
    }
    let batch = batch_sizes(site, &indices.dimensions, map.len())?;
    let mut kept = (0..rank).filter(|d| !dropped.contains(d)).map(|d| sizes[d]);
    let total = batch.len() + rank - dropped.len().min(rank);
    let offsets = site.dimensions("offset_dims", total)?;
    if offsets.len() + batch.len() != total {
        return Err(site.error(format!(
            "offset_dims must name the {} dimensions of a slice",
            rank - dropped.len().min(rank)
        )));
    }
    let mut batch = batch.into_iter();
    let size = |d: usize| if offsets.contains(&d) { kept.next() } else { batch.next() };
    let sizes: Option<Vec<i64>> = (0..total).map(size).collect();
    Ok(Outcome::Array(
        Some(operand.element),
        sizes.ok_or_else(|| site.error("the dimension numbers do not fit"))?,
    ))
}

/// The operands, some elements updated.
pub(in super::super) fn scatter(site: &Site) -> Result<Outcome> {
    let count = site.operands.len() / 2;
    if site.operands.len() != 2 * count + 1 {
        return Err(site.error("the operands must be arrays, indices, and as many updates as arrays"));
    }
    let (operand, indices, updates) = (site.array(0)?, site.array(count)?, site.array(count + 1)?);
    for k in 1..count {
        let alike = same_sizes(&site.array(k)?.dimensions, &operand.dimensions)
            && same_sizes(&site.array(count + 1 + k)?.dimensions, &updates.dimensions);
        if !alike {
            return Err(site.error(format!("operands 0 and {k}, or their updates, have different sizes")));
        }
    }
    let rank = operand.dimensions.len();
    let map = site.dimensions("scatter_dims_to_operand_dims", rank)?;
    let mut inserted = site.dimensions("inserted_window_dims", rank)?;
    inserted.extend(site.optional_dimensions("input_batching_dims", rank)?);
    let batch = batch_sizes(site, &indices.dimensions, map.len())?;
    let window = site.dimensions("update_window_dims", updates.dimensions.len())?;
    if window.len() + inserted.len() != rank || window.len() + batch.len() != updates.dimensions.len() {
        return Err(site.error(format!(
            "updates of {:?} do not fit: {} window and {} scatter dimensions",
            updates.dimensions,
            window.len(),
            batch.len()
        )));
    }
    let scattered =
        (0..updates.dimensions.len()).filter(|d| !window.contains(d)).map(|d| updates.dimensions[d]);
    if !same_sizes(&scattered.collect::<Vec<_>>(), &batch) {
        return Err(site.error(format!(
            "updates of {:?} do not fit indices of {:?}",
            updates.dimensions, indices.dimensions
        )));
    }
    Ok(match site.operands[..count] {
        [one] => Outcome::Like(one),
        ref all => Outcome::Tuple(all.iter().map(|&id| Outcome::Like(id)).collect()),
    })
}
