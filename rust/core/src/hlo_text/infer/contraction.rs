//! Shapes of opcodes that combine many elements: dot, reduce, windows, convolution, sort.

use super::super::attributes::{self, WindowDim};
use super::super::error::Result;
use super::super::number::holds;
use super::super::shape::{Class, Shape, UNBOUNDED};
use super::{same_size, same_sizes, Outcome, Site};

/// The pairs of corresponding dimensions of two operands.
struct Pairs<'s> {
    lhs: &'s Shape,
    rhs: &'s Shape,
    batch: (Vec<usize>, Vec<usize>),
    contracted: (Vec<usize>, Vec<usize>),
}

impl<'s> Pairs<'s> {
    fn read(site: &'s Site) -> Result<Self> {
        let (lhs, rhs) = (site.array(0)?, site.array(1)?);
        let named = |key: &str, shape: &Shape| site.optional_dimensions(key, shape.dimensions.len());
        let batch = (named("lhs_batch_dims", lhs)?, named("rhs_batch_dims", rhs)?);
        let contracted = (named("lhs_contracting_dims", lhs)?, named("rhs_contracting_dims", rhs)?);
        for (left, right) in [&batch, &contracted] {
            let mut pairs = left.iter().zip(right);
            let same = pairs.all(|(&l, &r)| same_size(lhs.dimensions[l], rhs.dimensions[r]));
            if left.len() != right.len() || !same {
                let text = |k: usize| site.shapes.text(site.operands[k]);
                let (a, b) = (text(0), text(1));
                return Err(
                    site.error(format!("dimensions {left:?} of {a} and {right:?} of {b} do not pair"))
                );
            }
        }
        let both = |(batch, contracted): (&[usize], &[usize])| batch.iter().any(|d| contracted.contains(d));
        if both((&batch.0, &contracted.0)) || both((&batch.1, &contracted.1)) {
            return Err(site.error("a dimension is both a batch and a contracting one"));
        }
        Ok(Self { lhs, rhs, batch, contracted })
    }

    /// Batch dimensions, then the free ones of both operands, without those of the second that are left out.
    fn sizes(&self, left_out: &[usize]) -> Vec<i64> {
        let (a, b) = (&self.lhs.dimensions, &self.rhs.dimensions);
        let mut sizes: Vec<i64> = self.batch.0.iter().map(|&d| a[d]).collect();
        let free = |d: &usize| !self.batch.0.contains(d) && !self.contracted.0.contains(d);
        sizes.extend((0..a.len()).filter(free).map(|d| a[d]));
        let free =
            |d: &usize| !self.batch.1.contains(d) && !self.contracted.1.contains(d) && !left_out.contains(d);
        sizes.extend((0..b.len()).filter(free).map(|d| b[d]));
        sizes
    }
}

/// Batch dimensions, then the free ones of both operands.
pub(in super::super) fn dot(site: &Site) -> Result<Outcome> {
    let pairs = Pairs::read(site)?;
    of_free_type(site, pairs.lhs, pairs.sizes(&[]))
}

/// As that of a dot. An operand has one scale, or one for each of equal blocks.
pub(in super::super) fn scaled_dot(site: &Site) -> Result<Outcome> {
    for k in 0..2 {
        let (array, scale) = (&site.array(k)?.dimensions, &site.array(2 + k)?.dimensions);
        let divides = |(&n, &m): (&i64, &i64)| n < 0 || m < 0 || n == m || (m > 0 && n % m == 0);
        let blocks = array.len() == scale.len() && array.iter().zip(scale).all(divides);
        if !scale.is_empty() && !blocks {
            let (array, scale) = (site.shapes.text(site.operands[k]), site.shapes.text(site.operands[2 + k]));
            return Err(site.error(format!("{scale} does not divide {array} into blocks")));
        }
    }
    dot(site)
}

/// An array of any type that the text states (preferred_element_type), or of the operand's.
fn of_free_type(site: &Site, operand: &Shape, sizes: Vec<i64>) -> Result<Outcome> {
    let given = site.given.map(|id| site.shapes.table[id as usize].element);
    let element = given.filter(|e| e.is_array()).unwrap_or(operand.element);
    Ok(Outcome::Array(Some(element), sizes))
}

/// A dot of groups of rows, each with a matrix of its own. The ragged dimension is free, contracted or a batch.
pub(in super::super) fn ragged_dot(site: &Site) -> Result<Outcome> {
    let (lhs, rhs, counts) = (site.array(0)?, site.array(1)?, site.array(2)?);
    let pairs = Pairs::read(site)?;
    let ragged = match site.dimensions("lhs_ragged_dims", lhs.dimensions.len())?[..] {
        [one] => one,
        _ => return Err(site.error("lhs_ragged_dims must name one dimension")),
    };
    let group = site.optional_dimensions("rhs_group_dims", rhs.dimensions.len())?;
    let free = !pairs.batch.0.contains(&ragged) && !pairs.contracted.0.contains(&ragged);
    let used = |d: &usize| pairs.batch.1.contains(d) || pairs.contracted.1.contains(d);
    if group.len() != usize::from(free) || group.iter().any(used) {
        return Err(
            site.error("rhs_group_dims must name one dimension where the ragged one is free, else none")
        );
    }
    if !matches!(counts.element.row().class, Class::Signed | Class::Unsigned) {
        return Err(site.error("the sizes of groups must be integers"));
    }
    let groups = counts.dimensions.last().copied();
    let sized = group.first().is_none_or(|&g| groups.is_some_and(|n| same_size(n, rhs.dimensions[g])));
    let Some(groups) = groups.filter(|_| sized) else {
        return Err(site.error("the sizes of groups do not fit the groups"));
    };
    let mut sizes = pairs.sizes(&group);
    if pairs.contracted.0.contains(&ragged) {
        sizes.insert(0, groups);
    }
    of_free_type(site, lhs, sizes)
}

/// The number of inputs, which have equal sizes. The operands are N inputs, then N initial values.
fn inputs_and_initial_values(site: &Site) -> Result<usize> {
    let count = site.operands.len() / 2;
    if count * 2 != site.operands.len() {
        return Err(site.error("the operands must be arrays and as many initial values"));
    }
    for k in 0..count {
        if !same_sizes(&site.array(k)?.dimensions, &site.array(0)?.dimensions) {
            return Err(site.error(format!("operands 0 and {k} have different sizes")));
        }
        let (array, initial) = (site.array(k)?.element, site.scalar(count + k)?.element);
        if array != initial {
            let (a, i) = (array.row().name, initial.row().name);
            return Err(site.error(format!("operand {k} has elements of {a}, its initial value is {i}")));
        }
    }
    site.one_precision()?;
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

/// Arrays of the dimensions that are not reduced.
pub(in super::super) fn reduce(site: &Site) -> Result<Outcome> {
    let count = inputs_and_initial_values(site)?;
    let sizes = &site.array(0)?.dimensions;
    let reduced = site.dimensions("dimensions", sizes.len())?;
    let left: Vec<i64> = (0..sizes.len()).filter(|d| !reduced.contains(d)).map(|d| sizes[d]).collect();
    results(site, count, &left)
}

/// Arrays of the numbers of windows.
pub(in super::super) fn reduce_window(site: &Site) -> Result<Outcome> {
    let count = inputs_and_initial_values(site)?;
    results(site, count, &window_counts(site, &site.array(0)?.dimensions)?)
}

/// The shape of the operand; each window adds an element of the source at its selected element.
pub(in super::super) fn select_and_scatter(site: &Site) -> Result<Outcome> {
    let (operand, source, initial) = (site.array(0)?, site.array(1)?, site.scalar(2)?);
    if operand.element != source.element || operand.element != initial.element {
        return Err(site.error("operand, source and initial value have different element types"));
    }
    let expected = window_counts(site, &operand.dimensions)?;
    if !same_sizes(&expected, &source.dimensions) {
        let found = site.shapes.text(site.operands[1]);
        return Err(site.error(format!("the windows give a source of {expected:?}, found {found}")));
    }
    Ok(Outcome::Like(site.operands[0]))
}

/// The number of windows that fit in each dimension.
fn window_counts(site: &Site, sizes: &[i64]) -> Result<Vec<i64>> {
    let window = site.read("window", attributes::window)?.unwrap_or_default();
    if window.len() != sizes.len() {
        return Err(site.error(format!("a window of {} dimensions for {}", window.len(), sizes.len())));
    }
    let counts: Option<Vec<i64>> = sizes.iter().zip(&window).map(|(&s, w)| windows(s, w)).collect();
    counts.ok_or_else(|| site.error("the window's numbers exceed 64 bits"))
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

/// An array whose dimensions the labels determine.
pub(in super::super) fn convolution(site: &Site) -> Result<Outcome> {
    let (input, kernel) = (site.array(0)?, site.array(1)?);
    let text = site.required("dim_labels", site.value("dim_labels"))?;
    let [i, k, o] = attributes::labels(text, site.at)?;
    let (a, b) = (input.element, kernel.element);
    if !holds(a, b) && !holds(b, a) {
        let (a, b) = (a.row().name, b.row().name);
        return Err(site.error(format!("neither of {a} and {b} has all numbers of the other")));
    }
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
    let at = |shape: &Shape, d: i64| shape.dimensions[d as usize];
    let (batch, feature) = (at(input, i.batch), at(input, i.feature));
    let divides = features >= 1 && batches >= 1 && (features == 1 || batches == 1) && batch % batches == 0;
    let divides = divides && at(kernel, k.feature) % features == 0 && at(kernel, k.feature) % batches == 0;
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
    of_free_type(site, input, sizes)
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

/// The results along one dimension, and the values that steps pass on to the next.
pub(in super::super) fn scan(site: &Site) -> Result<Outcome> {
    let carries = usize::try_from(site.integer("num_carries")?.unwrap_or_default()).ok();
    let inputs = carries.and_then(|n| site.operands.len().checked_sub(n));
    let Some(inputs) = inputs.filter(|&n| n > 0) else {
        return Err(site.error("num_carries must leave an input"));
    };
    let rank = site.array(0)?.dimensions.len();
    let [along] = site.dimensions("dimensions", rank)?[..] else {
        return Err(site.error("dimensions must name one dimension"));
    };
    for input in 1..inputs {
        let sizes = &site.array(input)?.dimensions;
        if !sizes.get(along).is_some_and(|&s| same_size(s, site.shape(0).dimensions[along])) {
            return Err(site.error(format!("operands 0 and {input} have different numbers of steps")));
        }
    }
    let given = site.given.map(|id| &site.shapes.table[id as usize].elements[..]).unwrap_or_default();
    let outputs = given.len().saturating_sub(site.operands.len() - inputs);
    let steps = site.shape(0).dimensions[along];
    for (k, &output) in given[..outputs].iter().enumerate() {
        let sizes = &site.shapes.table[output as usize].dimensions;
        if !sizes.get(along).is_some_and(|&s| same_size(s, steps)) {
            return Err(site.error(format!("result {k} must have a part for each of the {steps} steps")));
        }
    }
    Ok(Outcome::Any)
}
