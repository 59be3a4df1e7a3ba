//! Shapes of opcodes of linear algebra, statistics and random numbers.

use super::super::element::{Class, ElementType};
use super::super::error::Result;
use super::super::shape::Shape;
use super::{same_size, same_sizes, shape_of_first, InferredShape, ShapeContext};

/// Batches of square matrices.
fn square<'s>(context: &'s ShapeContext, operand: usize) -> Result<&'s Shape> {
    let shape = context.array(operand)?;
    match shape.dimensions[..] {
        [.., rows, columns] if same_size(rows, columns) => Ok(shape),
        _ => {
            let given = context.operand_text(operand);
            Err(context.error(format!("operand {operand} must hold square matrices, found {given}")))
        }
    }
}

/// One triangle of each matrix.
pub(in super::super) fn cholesky(context: &ShapeContext) -> Result<InferredShape> {
    square(context, 0)?;
    shape_of_first(context)
}

/// As many right-hand sides as the second operand holds.
pub(in super::super) fn triangular_solve(context: &ShapeContext) -> Result<InferredShape> {
    let (a, b) = (square(context, 0)?, context.array(1)?);
    let left = context.value("left_side") == Some("true");
    let rank = a.dimensions.len();
    let fits = a.element == b.element
        && b.dimensions.len() == rank
        && same_sizes(&a.dimensions[..rank - 2], &b.dimensions[..rank - 2])
        && same_size(a.dimensions[rank - 1], b.dimensions[if left { rank - 2 } else { rank - 1 }]);
    if !fits {
        return Err(context.error("the matrices and the right-hand sides do not fit"));
    }
    if !matches!(context.value("transpose_a"), Some("NO_TRANSPOSE" | "TRANSPOSE" | "ADJOINT")) {
        return Err(context.error("transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT"));
    }
    Ok(InferredShape::Like(context.operands[1]))
}

/// The operand's sizes. If one side is real, the last dimension of the complex side has about half the size.
pub(in super::super) fn fft(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    let length = context.integers("fft_length")?;
    let rank = shape.dimensions.len();
    if length.is_empty() || length.len() > 3 || length.len() > rank {
        return Err(context.error(format!("fft_length names {} dimensions of {rank}", length.len())));
    }
    let half = length[length.len() - 1] / 2 + 1;
    let name = shape.element.row().name;
    let (mut input, mut sizes) = (length.clone(), shape.dimensions.clone());
    let complex = matches!(name, "c64" | "c128");
    let (ok, element) = match context.value("fft_type").unwrap_or_default() {
        "FFT" | "IFFT" => (complex, Some(shape.element)),
        "RFFT" => {
            sizes[rank - 1] = if sizes[rank - 1] == 0 { 0 } else { half };
            let result = if name == "f64" { "c128" } else { "c64" };
            (matches!(name, "f32" | "f64"), ElementType::named(result))
        }
        "IRFFT" => {
            input[length.len() - 1] = half;
            sizes[rank - 1] = length[length.len() - 1];
            (complex, ElementType::named(if name == "c128" { "f64" } else { "f32" }))
        }
        other => {
            return Err(context.error(format!("fft_type must be FFT, IFFT, RFFT or IRFFT, found {other}")))
        }
    };
    let inner = &shape.dimensions[rank - length.len()..];
    if !ok || !(same_sizes(inner, &input) || inner.contains(&0)) {
        let given = context.operand_text(0);
        return Err(context.error(format!("fft_length {length:?} and fft_type do not fit {given}")));
    }
    Ok(InferredShape::Array(element, sizes))
}

/// The operand, and as many numbers as it has features; one operand may have the first one's sizes instead.
fn features(context: &ShapeContext, whole: Option<usize>) -> Result<()> {
    let shape = context.array(0)?;
    let index = context.integer("feature_index")?.and_then(|i| usize::try_from(i).ok());
    let size = index.and_then(|i| shape.dimensions.get(i));
    let Some(&size) = size else {
        return Err(context.error(format!("feature_index is outside of rank {}", shape.dimensions.len())));
    };
    for operand in 1..context.operands.len() {
        let other = context.array(operand)?;
        let sizes = if whole == Some(operand) { &shape.dimensions[..] } else { &[size] };
        if other.element != shape.element || !same_sizes(&other.dimensions, sizes) {
            let given = context.operand_text(operand);
            return Err(context.error(format!("operand {operand} must have sizes {sizes:?}, found {given}")));
        }
    }
    Ok(())
}

/// The operand, normalized, and two values for each feature.
pub(in super::super) fn batch_norm_training(context: &ShapeContext) -> Result<InferredShape> {
    features(context, None)?;
    Ok(with_two_features(context))
}

/// The operand's gradient from that of the result, the last operand, and two values for each feature.
pub(in super::super) fn batch_norm_grad(context: &ShapeContext) -> Result<InferredShape> {
    features(context, Some(4))?;
    Ok(with_two_features(context))
}

fn with_two_features(context: &ShapeContext) -> InferredShape {
    let (operand, feature) = (context.operands[0], context.operands[1]);
    InferredShape::Tuple([operand, feature, feature].map(InferredShape::Like).to_vec())
}

/// The operand, normalized.
pub(in super::super) fn batch_norm_inference(context: &ShapeContext) -> Result<InferredShape> {
    features(context, None)?;
    shape_of_first(context)
}

/// The largest elements of each row, and their indices.
pub(in super::super) fn topk(context: &ShapeContext) -> Result<InferredShape> {
    let shape = context.array(0)?;
    let k = context.required("k", context.integer("k")?)?;
    let mut sizes = shape.dimensions.clone();
    let fits = sizes.last().is_some_and(|&last| last < 0 || (0..=last).contains(&k));
    if !fits {
        return Err(context.error(format!("k = {k} is more than a row of {sizes:?} has")));
    }
    sizes.splice(sizes.len() - 1.., [k]);
    let places = InferredShape::Array(ElementType::named("s32"), sizes.clone());
    Ok(InferredShape::Tuple(vec![InferredShape::Array(Some(shape.element), sizes), places]))
}

/// Any array of numbers drawn with two scalar parameters.
pub(in super::super) fn rng(context: &ShapeContext) -> Result<InferredShape> {
    let (a, b) = (context.scalar(0)?, context.scalar(1)?);
    if a.element != b.element {
        return Err(context.error("the two parameters have different types"));
    }
    match (context.value("distribution"), a.element.row().class) {
        (Some("rng_uniform"), _) | (Some("rng_normal"), Class::Float) => context.of_given_sizes(),
        (Some("rng_normal"), _) => {
            Err(context.error(format!("rng_normal draws floating point, not {}", context.operand_text(0))))
        }
        _ => Err(context.error("distribution must be rng_uniform or rng_normal")),
    }
}

/// The next state, and bits as numbers of any type.
pub(in super::super) fn rng_bits(context: &ShapeContext) -> Result<InferredShape> {
    let Some(given) = context.given else { return Ok(InferredShape::Any) };
    if !matches!(context.value("algorithm"), Some("rng_default" | "rng_three_fry" | "rng_philox")) {
        return Err(context.error("algorithm must be rng_default, rng_three_fry or rng_philox"));
    }
    let state = context.array(0)?;
    let words: &[i64] = if context.value("algorithm") == Some("rng_three_fry") { &[2] } else { &[2, 3] };
    let fits = Some(state.element) == ElementType::named("u64")
        && matches!(state.dimensions[..], [size] if size < 0 || words.contains(&size));
    if !fits {
        return Err(context.error(format!("the state must be u64[n] with n in {words:?}")));
    }
    let shape = &context.shapes.table[given as usize];
    let (is_pair, bits) = match shape.elements[..] {
        [_, bits] => (true, bits),
        _ => (false, given),
    };
    let class = context.shapes.table[bits as usize].element.row().class;
    if matches!(class, Class::Boolean | Class::Complex | Class::NoArray) {
        return Err(context.error(format!("bits are no {}", context.shapes.text(bits))));
    }
    let both = vec![InferredShape::Like(context.operands[0]), InferredShape::Like(bits)];
    Ok(if is_pair { InferredShape::Tuple(both) } else { InferredShape::Any })
}

/// The state of the generator.
pub(in super::super) fn rng_state(_: &ShapeContext) -> Result<InferredShape> {
    Ok(InferredShape::Array(ElementType::named("u64"), vec![2]))
}

/// The operand's shape; exponent and mantissa are rounded to fewer bits.
pub(in super::super) fn reduce_precision(context: &ShapeContext) -> Result<InferredShape> {
    for (key, least) in [("exponent_bits", 1), ("mantissa_bits", 0)] {
        let bits = context.required(key, context.integer(key)?)?;
        if bits < least {
            return Err(context.error(format!("{key} must be {least} or more, found {bits}")));
        }
    }
    shape_of_first(context)
}
