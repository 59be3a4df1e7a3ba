//! Opcodes that combine many elements to one: dot, reduce, windows, convolution, sort.

use super::super::attributes::{self, WindowDim};
use super::super::error::Result;
use super::super::shape::UNBOUNDED;
use super::{same_size, same_sizes, Outcome, Site};

/// Batch dimensions, then the free ones of both operands.
pub(in super::super) fn dot(site: &Site) -> Result<Outcome> {
    let (lhs, rhs) = (site.array(0)?, site.array(1)?);
    let named = |key: &str, rank: usize| site.optional_dimensions(key, rank);
    let (a, b) = (&lhs.dimensions, &rhs.dimensions);
    let batch = (named("lhs_batch_dims", a.len())?, named("rhs_batch_dims", b.len())?);
    let contracted = (named("lhs_contracting_dims", a.len())?, named("rhs_contracting_dims", b.len())?);
    for (left, right) in [&batch, &contracted] {
        let pairs = left.iter().zip(right).all(|(&l, &r)| same_size(a[l], b[r]));
        if left.len() != right.len() || !pairs {
            let text = |k: usize| site.shapes.text(site.operands[k]);
            return Err(site.error(format!(
                "dimensions {left:?} of {} and {right:?} of {} do not pair",
                text(0),
                text(1)
            )));
        }
    }
    let overlap =
        batch.0.iter().any(|d| contracted.0.contains(d)) || batch.1.iter().any(|d| contracted.1.contains(d));
    if overlap {
        return Err(site.error("a dimension is both a batch and a contracting one"));
    }
    let mut sizes: Vec<i64> = batch.0.iter().map(|&d| a[d]).collect();
    sizes.extend((0..a.len()).filter(|d| !batch.0.contains(d) && !contracted.0.contains(d)).map(|d| a[d]));
    sizes.extend((0..b.len()).filter(|d| !batch.1.contains(d) && !contracted.1.contains(d)).map(|d| b[d]));
    let given = site.given.map(|id| site.shapes.table[id as usize].element);
    // the result's type is free (preferred_element_type); without one it is the operand's
    Ok(Outcome::Array(Some(given.filter(|e| e.is_array()).unwrap_or(lhs.element)), sizes))
}

/// N arrays and N initial values: the inputs, all of the same sizes.
fn inputs_and_initial_values(site: &Site) -> Result<usize> {
    let count = site.operands.len() / 2;
    if count * 2 != site.operands.len() {
        return Err(site.error("the operands must be arrays and as many initial values"));
    }
    for k in 0..count {
        if !same_sizes(&site.array(k)?.dimensions, &site.array(0)?.dimensions) {
            return Err(site.error(format!("operands 0 and {k} have different sizes")));
        }
        site.scalar(count + k)?;
    }
    Ok(count)
}

/// A result of `sizes` for each of `count` inputs.
fn results(site: &Site, count: usize, sizes: &[i64]) -> Result<Outcome> {
    let one = |k: usize| Ok(Outcome::Array(Some(site.array(k)?.element), sizes.to_vec()));
    match count {
        1 => one(0),
        _ => Ok(Outcome::Tuple((0..count).map(one).collect::<Result<_>>()?)),
    }
}

/// The dimensions that are left.
pub(in super::super) fn reduce(site: &Site) -> Result<Outcome> {
    let count = inputs_and_initial_values(site)?;
    let sizes = &site.array(0)?.dimensions;
    let reduced = site.dimensions("dimensions", sizes.len())?;
    let left: Vec<i64> = (0..sizes.len()).filter(|d| !reduced.contains(d)).map(|d| sizes[d]).collect();
    results(site, count, &left)
}

/// How many windows fit.
pub(in super::super) fn reduce_window(site: &Site) -> Result<Outcome> {
    let count = inputs_and_initial_values(site)?;
    let sizes = &site.array(0)?.dimensions;
    let window = site.read("window", attributes::window)?.unwrap_or_default();
    if window.len() != sizes.len() {
        return Err(site.error(format!("a window of {} dimensions for {}", window.len(), sizes.len())));
    }
    let windows: Option<Vec<i64>> = sizes.iter().zip(&window).map(|(&s, w)| windows(s, w)).collect();
    results(site, count, &windows.ok_or_else(|| site.error("the window's numbers exceed 64 bits"))?)
}

/// Windows of `window` in `size` elements.
fn windows(size: i64, window: &WindowDim) -> Option<i64> {
    if size == UNBOUNDED {
        return Some(UNBOUNDED);
    }
    let dilated = |n: i64, by: i64| if n == 0 { Some(0) } else { (n - 1).checked_mul(by)?.checked_add(1) };
    let base =
        dilated(size, window.lhs_dilation)?.checked_add(window.pad_low)?.checked_add(window.pad_high)?;
    let reach = dilated(window.size, window.rhs_dilation)?;
    if base < reach || reach == 0 {
        return Some(if reach == 0 && base >= 0 { base / window.stride + 1 } else { 0 });
    }
    Some((base - reach) / window.stride + 1)
}

/// Input, kernel and output laid out as the labels say.
pub(in super::super) fn convolution(site: &Site) -> Result<Outcome> {
    let (input, kernel) = (site.array(0)?, site.array(1)?);
    let text = site.required("dim_labels", site.value("dim_labels"))?;
    let [i, k, o] = attributes::labels(text, site.at)?;
    let rank = i.spatial.len() + 2;
    let window = site.read("window", attributes::window)?.unwrap_or_default();
    if input.dimensions.len() != rank || kernel.dimensions.len() != rank || window.len() != i.spatial.len() {
        return Err(site.error(format!(
            "dim_labels and window must name the {} dimensions of the operands",
            input.dimensions.len()
        )));
    }
    let groups = |key: &str| Ok(site.integer(key)?.unwrap_or(1));
    let (features, batches) = (groups("feature_group_count")?, groups("batch_group_count")?);
    let at = |shape: &super::super::shape::Shape, d: i64| shape.dimensions[d as usize];
    let (batch, feature) = (at(input, i.batch), at(input, i.feature));
    let divides = features >= 1 && batches >= 1 && (features == 1 || batches == 1) && batch % batches == 0;
    if !divides || !same_size(at(kernel, k.batch).saturating_mul(features), feature) && feature != UNBOUNDED {
        return Err(site.error("features, batch and groups of input and kernel do not divide"));
    }
    let mut sizes = vec![0; rank];
    sizes[o.batch as usize] = batch / batches;
    sizes[o.feature as usize] = at(kernel, k.feature);
    for (n, dim) in window.iter().enumerate() {
        if !same_size(at(kernel, k.spatial[n]), dim.size) {
            return Err(site.error(format!(
                "the window has size {}, the kernel {}",
                dim.size,
                at(kernel, k.spatial[n])
            )));
        }
        let count = windows(at(input, i.spatial[n]), dim);
        sizes[o.spatial[n] as usize] =
            count.ok_or_else(|| site.error("the window's numbers exceed 64 bits"))?;
    }
    let given = site.given.map(|id| site.shapes.table[id as usize].element);
    Ok(Outcome::Array(Some(given.filter(|e| e.is_array()).unwrap_or(input.element)), sizes))
}

/// The operands, sorted along a dimension.
pub(in super::super) fn sort(site: &Site) -> Result<Outcome> {
    let sizes = &site.array(0)?.dimensions;
    for k in 1..site.operands.len() {
        if !same_sizes(&site.array(k)?.dimensions, sizes) {
            return Err(site.error(format!("operands 0 and {k} have different sizes")));
        }
    }
    if site.dimensions("dimensions", sizes.len())?.len() != 1 {
        return Err(site.error("dimensions must name one dimension"));
    }
    super::tuples::like_all(site)
}
