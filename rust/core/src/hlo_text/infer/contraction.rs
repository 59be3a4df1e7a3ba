//! Shapes of opcodes that combine many elements: dot, reduce, windows, convolution, sort.

use super::super::attributes::{self, WindowDim};
use super::super::element::Class;
use super::super::error::Result;
use super::super::number::holds;
use super::super::shape::{Shape, UNBOUNDED};
use super::{same_size, same_sizes, InferredShape, ShapeContext};
use crate::error::counted;

/// The pairs of corresponding dimensions of two operands.
struct Pairs<'s> {
    lhs: &'s Shape,
    rhs: &'s Shape,
    batch: (Vec<usize>, Vec<usize>),
    contracted: (Vec<usize>, Vec<usize>),
}

impl<'s> Pairs<'s> {
    fn read(context: &'s ShapeContext) -> Result<Self> {
        let (lhs, rhs) = (context.array(0)?, context.array(1)?);
        let named = |key: &str, shape: &Shape| context.optional_dimensions(key, shape.dimensions.len());
        let batch = (named("lhs_batch_dims", lhs)?, named("rhs_batch_dims", rhs)?);
        let contracted = (named("lhs_contracting_dims", lhs)?, named("rhs_contracting_dims", rhs)?);
        for (left, right) in [&batch, &contracted] {
            let mut pairs = left.iter().zip(right);
            let same = pairs.all(|(&l, &r)| same_size(lhs.dimensions[l], rhs.dimensions[r]));
            if left.len() != right.len() || !same {
                let (a, b) = (context.operand_text(0), context.operand_text(1));
                return Err(
                    context.error(format!("dimensions {left:?} of {a} and {right:?} of {b} do not pair"))
                );
            }
        }
        let both = |(batch, contracted): (&[usize], &[usize])| batch.iter().any(|d| contracted.contains(d));
        if both((&batch.0, &contracted.0)) || both((&batch.1, &contracted.1)) {
            return Err(context.error("a dimension is both a batch and a contracting one"));
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
pub(in super::super) fn dot(context: &ShapeContext) -> Result<InferredShape> {
    let pairs = Pairs::read(context)?;
    of_free_type(context, pairs.lhs, pairs.sizes(&[]))
}

/// As that of a dot. An operand has one scale, or one for each of equal blocks.
pub(in super::super) fn scaled_dot(context: &ShapeContext) -> Result<InferredShape> {
    for k in 0..2 {
        let (array, scale) = (&context.array(k)?.dimensions, &context.array(2 + k)?.dimensions);
        let divides = |(&n, &m): (&i64, &i64)| n < 0 || m < 0 || n == m || (m > 0 && n % m == 0);
        let blocks = array.len() == scale.len() && array.iter().zip(scale).all(divides);
        if !scale.is_empty() && !blocks {
            let (array, scale) = (context.operand_text(k), context.operand_text(2 + k));
            return Err(context.error(format!("{scale} does not divide {array} into blocks")));
        }
    }
    dot(context)
}

/// An array of any type that the text states (preferred_element_type), or of the operand's.
fn of_free_type(context: &ShapeContext, operand: &Shape, sizes: Vec<i64>) -> Result<InferredShape> {
    let given = context.given_shape().map(|shape| shape.element);
    let element = given.filter(|e| e.is_array()).unwrap_or(operand.element);
    Ok(InferredShape::Array(Some(element), sizes))
}

/// A dot of groups of rows, each with a matrix of its own. The ragged dimension is free, contracted or a batch.
pub(in super::super) fn ragged_dot(context: &ShapeContext) -> Result<InferredShape> {
    let (lhs, rhs, counts) = (context.array(0)?, context.array(1)?, context.array(2)?);
    let pairs = Pairs::read(context)?;
    let ragged = match context.dimensions("lhs_ragged_dims", lhs.dimensions.len())?[..] {
        [one] => one,
        _ => return Err(context.error("lhs_ragged_dims must name one dimension")),
    };
    let group = context.optional_dimensions("rhs_group_dims", rhs.dimensions.len())?;
    let free = !pairs.batch.0.contains(&ragged) && !pairs.contracted.0.contains(&ragged);
    let used = |d: &usize| pairs.batch.1.contains(d) || pairs.contracted.1.contains(d);
    if group.len() != usize::from(free) || group.iter().any(used) {
        return Err(
            context.error("rhs_group_dims must name one dimension where the ragged one is free, else none")
        );
    }
    if !matches!(counts.element.row().class, Class::Signed | Class::Unsigned) {
        return Err(context.error("the sizes of groups must be integers"));
    }
    let groups = counts.dimensions.last().copied();
    check_rows_of_groups(context, &pairs, ragged)?;
    let sized = group.first().is_none_or(|&g| groups.is_some_and(|n| same_size(n, rhs.dimensions[g])));
    let Some(groups) = groups.filter(|_| sized) else {
        return Err(context.error("the sizes of groups do not fit the groups"));
    };
    let mut sizes = pairs.sizes(&group);
    if pairs.contracted.0.contains(&ragged) {
        sizes.insert(0, groups);
    }
    of_free_type(context, lhs, sizes)
}

/// Refuses sizes of groups that are neither one row for all nor a row for each element of the dimensions before the
/// ragged one: the batch, then those of the same role.
fn check_rows_of_groups(context: &ShapeContext, pairs: &Pairs, ragged: usize) -> Result<()> {
    let (lhs, counts) = (&context.array(0)?.dimensions, &context.array(2)?.dimensions);
    let Some((_, rows)) = counts.split_last().filter(|(_, rows)| !rows.is_empty()) else { return Ok(()) };
    let (batch, contracted) = (&pairs.batch.0, &pairs.contracted.0);
    let own: Vec<usize> = match (batch.contains(&ragged), contracted.contains(&ragged)) {
        (true, _) => batch.iter().copied().filter(|&d| d < ragged).collect(),
        (_, true) => {
            batch.iter().copied().chain(contracted.iter().copied().filter(|&d| d < ragged)).collect()
        }
        _ => {
            let free = (0..ragged).filter(|d| !batch.contains(d) && !contracted.contains(d));
            batch.iter().copied().chain(free).collect()
        }
    };
    let wanted: Vec<i64> = own.into_iter().map(|d| lhs[d]).collect();
    if same_sizes(rows, &wanted) {
        return Ok(());
    }
    Err(context.error(format!("the sizes of groups must be one row, or rows for {wanted:?}, found {rows:?}")))
}

/// The number of inputs, which have equal sizes. The operands are N inputs, then N initial values.
fn inputs_and_initial_values(context: &ShapeContext) -> Result<usize> {
    let count = context.operands.len() / 2;
    if count * 2 != context.operands.len() {
        return Err(context.error("the operands must be arrays and as many initial values"));
    }
    for k in 0..count {
        if !same_sizes(&context.array(k)?.dimensions, &context.array(0)?.dimensions) {
            return Err(context.error(format!("operands 0 and {k} have different sizes")));
        }
        let (array, initial) = (context.array(k)?.element, context.scalar(count + k)?.element);
        if array != initial {
            let (a, i) = (array.row().name, initial.row().name);
            return Err(context.error(format!("operand {k} has elements of {a}, its initial value is {i}")));
        }
    }
    context.same_precision()?;
    Ok(count)
}

/// A result of `sizes` for each of `count` inputs.
fn results(context: &ShapeContext, count: usize, sizes: &[i64]) -> Result<InferredShape> {
    let one = |k: usize| Ok(InferredShape::Array(Some(context.array(k)?.element), sizes.to_vec()));
    Ok(super::tuples::results(context, (0..count).map(one).collect::<Result<_>>()?))
}

/// Arrays of the dimensions that are not reduced.
pub(in super::super) fn reduce(context: &ShapeContext) -> Result<InferredShape> {
    let count = inputs_and_initial_values(context)?;
    let sizes = &context.array(0)?.dimensions;
    let reduced = context.dimensions("dimensions", sizes.len())?;
    let left: Vec<i64> = (0..sizes.len()).filter(|d| !reduced.contains(d)).map(|d| sizes[d]).collect();
    results(context, count, &left)
}

/// Arrays of the numbers of windows.
pub(in super::super) fn reduce_window(context: &ShapeContext) -> Result<InferredShape> {
    let count = inputs_and_initial_values(context)?;
    results(context, count, &window_counts(context, &context.array(0)?.dimensions)?)
}

/// The shape of the operand; each window adds an element of the source at its selected element.
pub(in super::super) fn select_and_scatter(context: &ShapeContext) -> Result<InferredShape> {
    let (operand, source, initial) = (context.array(0)?, context.array(1)?, context.scalar(2)?);
    if operand.element != source.element || operand.element != initial.element {
        return Err(context.error("operand, source and initial value have different element types"));
    }
    let expected = window_counts(context, &operand.dimensions)?;
    if !same_sizes(&expected, &source.dimensions) {
        let given = context.operand_text(1);
        return Err(context.error(format!("the windows give a source of {expected:?}, found {given}")));
    }
    Ok(InferredShape::Like(context.operands[0]))
}

/// The number of windows that fit in each dimension.
fn window_counts(context: &ShapeContext, sizes: &[i64]) -> Result<Vec<i64>> {
    let window = context.read("window", attributes::window)?.unwrap_or_default();
    if window.len() != sizes.len() {
        return Err(context.error(format!(
            "a window of {} for {}",
            counted(window.len(), "dimension"),
            sizes.len()
        )));
    }
    let counts: Option<Vec<i64>> = sizes.iter().zip(&window).map(|(&s, w)| windows(s, w)).collect();
    counts.ok_or_else(|| context.error("the window's numbers exceed 64 bits"))
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
pub(in super::super) fn convolution(context: &ShapeContext) -> Result<InferredShape> {
    let (input, kernel) = (context.array(0)?, context.array(1)?);
    let text = context.required("dim_labels", context.value("dim_labels"))?;
    let [i, k, o] = attributes::labels(text, context.at)?;
    let (a, b) = (input.element, kernel.element);
    if !holds(a, b) && !holds(b, a) {
        let (a, b) = (a.row().name, b.row().name);
        return Err(context.error(format!("neither of {a} and {b} has all numbers of the other")));
    }
    let rank = i.spatial.len() + 2;
    let window = context.read("window", attributes::window)?.unwrap_or_default();
    if input.dimensions.len() != rank || kernel.dimensions.len() != rank || window.len() != i.spatial.len() {
        return Err(context.error(format!(
            "dim_labels and window must name the {} dimensions of the operands",
            input.dimensions.len()
        )));
    }
    let groups = |key: &str| Ok(context.integer(key)?.unwrap_or(1));
    let (features, batches) = (groups("feature_group_count")?, groups("batch_group_count")?);
    let at = |shape: &Shape, d: i64| shape.dimensions[d as usize];
    let (batch, feature) = (at(input, i.batch), at(input, i.feature));
    let divides = features >= 1 && batches >= 1 && (features == 1 || batches == 1) && batch % batches == 0;
    let divides = divides && at(kernel, k.feature) % features == 0 && at(kernel, k.feature) % batches == 0;
    if !divides || !same_size(at(kernel, k.batch).saturating_mul(features), feature) && feature != UNBOUNDED {
        return Err(context.error("features, batch and groups of input and kernel do not divide"));
    }
    let mut sizes = vec![0; rank];
    sizes[o.batch as usize] = batch / batches;
    sizes[o.feature as usize] = at(kernel, k.feature);
    for (n, dim) in window.iter().enumerate() {
        if !same_size(at(kernel, k.spatial[n]), dim.size) {
            return Err(context.error(format!(
                "the window has size {}, the kernel {}",
                dim.size,
                at(kernel, k.spatial[n])
            )));
        }
        let count = windows(at(input, i.spatial[n]), dim);
        sizes[o.spatial[n] as usize] =
            count.ok_or_else(|| context.error("the window's numbers exceed 64 bits"))?;
    }
    of_free_type(context, input, sizes)
}

/// The operands, sorted along a dimension.
pub(in super::super) fn sort(context: &ShapeContext) -> Result<InferredShape> {
    let sizes = &context.array(0)?.dimensions;
    for k in 1..context.operands.len() {
        if !same_sizes(&context.array(k)?.dimensions, sizes) {
            return Err(context.error(format!("operands 0 and {k} have different sizes")));
        }
    }
    context.one_dimension(sizes.len())?;
    super::tuples::like_all(context)
}

/// The results along one dimension, and the values that steps pass on to the next.
pub(in super::super) fn scan(context: &ShapeContext) -> Result<InferredShape> {
    let carries = usize::try_from(context.integer("num_carries")?.unwrap_or_default()).ok();
    let inputs = carries.and_then(|n| context.operands.len().checked_sub(n));
    let Some(inputs) = inputs.filter(|&n| n > 0) else {
        return Err(context.error("num_carries must leave an input"));
    };
    let along = context.one_dimension(context.array(0)?.dimensions.len())?;
    for input in 1..inputs {
        let sizes = &context.array(input)?.dimensions;
        if !sizes.get(along).is_some_and(|&s| same_size(s, context.shape(0).dimensions[along])) {
            return Err(context.error(format!("operands 0 and {input} have different numbers of steps")));
        }
    }
    let given = context.given_shape().map(|shape| &shape.elements[..]).unwrap_or_default();
    let outputs = given.len().saturating_sub(context.operands.len() - inputs);
    let steps = context.shape(0).dimensions[along];
    for (k, &output) in given[..outputs].iter().enumerate() {
        let sizes = &context.shapes.table[output as usize].dimensions;
        if !sizes.get(along).is_some_and(|&s| same_size(s, steps)) {
            return Err(context.error(format!("result {k} must have a part for each of the {steps} steps")));
        }
    }
    Ok(InferredShape::Any)
}
