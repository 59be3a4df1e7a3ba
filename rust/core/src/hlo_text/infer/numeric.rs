//! Shapes of opcodes of linear algebra, statistics and random numbers.

use super::super::error::Result;
use super::super::shape::{Class, ElementType, Shape};
use super::{like_first, same_size, same_sizes, Outcome, Site};

/// Batches of square matrices.
fn square<'s>(site: &'s Site, operand: usize) -> Result<&'s Shape> {
    let shape = site.array(operand)?;
    match shape.dimensions[..] {
        [.., rows, columns] if same_size(rows, columns) => Ok(shape),
        _ => {
            let found = site.shapes.text(site.operands[operand]);
            Err(site.error(format!("operand {operand} must hold square matrices, found {found}")))
        }
    }
}

/// One triangle of each matrix.
pub(in super::super) fn cholesky(site: &Site) -> Result<Outcome> {
    square(site, 0)?;
    like_first(site)
}

/// As many right-hand sides as the second operand holds.
pub(in super::super) fn triangular_solve(site: &Site) -> Result<Outcome> {
    let (a, b) = (square(site, 0)?, site.array(1)?);
    let left = site.value("left_side") == Some("true");
    let rank = a.dimensions.len();
    let fits = a.element == b.element
        && b.dimensions.len() == rank
        && same_sizes(&a.dimensions[..rank - 2], &b.dimensions[..rank - 2])
        && same_size(a.dimensions[rank - 1], b.dimensions[if left { rank - 2 } else { rank - 1 }]);
    if !fits {
        return Err(site.error("the matrices and the right-hand sides do not fit"));
    }
    if !matches!(site.value("transpose_a"), Some("NO_TRANSPOSE" | "TRANSPOSE" | "ADJOINT")) {
        return Err(site.error("transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT"));
    }
    Ok(Outcome::Like(site.operands[1]))
}

/// The operand's sizes. If one side is real, the last dimension of the complex side has about half the size.
pub(in super::super) fn fft(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    let length = site.integers("fft_length")?;
    let rank = shape.dimensions.len();
    if length.is_empty() || length.len() > 3 || length.len() > rank {
        return Err(site.error(format!("fft_length names {} dimensions of {rank}", length.len())));
    }
    let half = length[length.len() - 1] / 2 + 1;
    let name = shape.element.row().name;
    let (mut input, mut sizes) = (length.clone(), shape.dimensions.clone());
    let complex = matches!(name, "c64" | "c128");
    let (ok, element) = match site.value("fft_type").unwrap_or_default() {
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
        other => return Err(site.error(format!("fft_type must be FFT, IFFT, RFFT or IRFFT, found {other}"))),
    };
    let inner = &shape.dimensions[rank - length.len()..];
    if !ok || !(same_sizes(inner, &input) || inner.contains(&0)) {
        let found = site.shapes.text(site.operands[0]);
        return Err(site.error(format!("fft_length {length:?} and fft_type do not fit {found}")));
    }
    Ok(Outcome::Array(element, sizes))
}

/// The operand, and as many numbers as it has features; one operand may have the first one's sizes instead.
fn features(site: &Site, whole: Option<usize>) -> Result<()> {
    let shape = site.array(0)?;
    let index = site.integer("feature_index")?.and_then(|i| usize::try_from(i).ok());
    let size = index.and_then(|i| shape.dimensions.get(i));
    let Some(&size) = size else {
        return Err(site.error(format!("feature_index is outside of rank {}", shape.dimensions.len())));
    };
    for operand in 1..site.operands.len() {
        let other = site.array(operand)?;
        let sizes = if whole == Some(operand) { &shape.dimensions[..] } else { &[size] };
        if other.element != shape.element || !same_sizes(&other.dimensions, sizes) {
            let found = site.shapes.text(site.operands[operand]);
            return Err(site.error(format!("operand {operand} must have sizes {sizes:?}, found {found}")));
        }
    }
    Ok(())
}

/// The operand, normalized, and two values for each feature.
pub(in super::super) fn batch_norm_training(site: &Site) -> Result<Outcome> {
    features(site, None)?;
    Ok(with_two_features(site))
}

/// The operand's gradient from that of the result, the last operand, and two values for each feature.
pub(in super::super) fn batch_norm_grad(site: &Site) -> Result<Outcome> {
    features(site, Some(4))?;
    Ok(with_two_features(site))
}

fn with_two_features(site: &Site) -> Outcome {
    let (operand, feature) = (site.operands[0], site.operands[1]);
    Outcome::Tuple(vec![Outcome::Like(operand), Outcome::Like(feature), Outcome::Like(feature)])
}

/// The operand, normalized.
pub(in super::super) fn batch_norm_inference(site: &Site) -> Result<Outcome> {
    features(site, None)?;
    like_first(site)
}

/// The largest elements of each row, and their indices.
pub(in super::super) fn topk(site: &Site) -> Result<Outcome> {
    let shape = site.array(0)?;
    let k = site.required("k", site.integer("k")?)?;
    let mut sizes = shape.dimensions.clone();
    let fits = sizes.last().is_some_and(|&last| last < 0 || (0..=last).contains(&k));
    if !fits {
        return Err(site.error(format!("k = {k} is more than a row of {sizes:?} has")));
    }
    sizes.pop();
    sizes.push(k);
    let places = Outcome::Array(ElementType::named("s32"), sizes.clone());
    Ok(Outcome::Tuple(vec![Outcome::Array(Some(shape.element), sizes), places]))
}

/// Any array of numbers drawn with two scalar parameters.
pub(in super::super) fn rng(site: &Site) -> Result<Outcome> {
    let (a, b) = (site.scalar(0)?, site.scalar(1)?);
    if a.element != b.element {
        return Err(site.error("the two parameters have different types"));
    }
    if !matches!(site.value("distribution"), Some("rng_uniform" | "rng_normal")) {
        return Err(site.error("distribution must be rng_uniform or rng_normal"));
    }
    let sizes = site.given.map(|id| site.shapes.table[id as usize].dimensions.clone());
    Ok(sizes.map_or(Outcome::Any, |sizes| Outcome::Array(Some(a.element), sizes)))
}

/// The next state, and bits as numbers of any type.
pub(in super::super) fn rng_bits(site: &Site) -> Result<Outcome> {
    let Some(given) = site.given else { return Ok(Outcome::Any) };
    if !matches!(site.value("algorithm"), Some("rng_default" | "rng_three_fry" | "rng_philox")) {
        return Err(site.error("algorithm must be rng_default, rng_three_fry or rng_philox"));
    }
    let state = site.array(0)?;
    let words: &[i64] = if site.value("algorithm") == Some("rng_three_fry") { &[2] } else { &[2, 3] };
    let fits = Some(state.element) == ElementType::named("u64")
        && matches!(state.dimensions[..], [size] if size < 0 || words.contains(&size));
    if !fits {
        return Err(site.error(format!("the state must be u64[n] with n in {words:?}")));
    }
    let shape = &site.shapes.table[given as usize];
    let (state, bits) = match shape.elements[..] {
        [state, bits] => (Some(state), bits),
        _ => (None, given),
    };
    if matches!(site.shapes.table[bits as usize].element.row().class, Class::Boolean | Class::Complex) {
        return Err(site.error(format!("bits are no {}", site.shapes.text(bits))));
    }
    Ok(match state {
        Some(_) => Outcome::Tuple(vec![Outcome::Like(site.operands[0]), Outcome::Like(bits)]),
        None => Outcome::Any,
    })
}

/// The state of the generator.
pub(in super::super) fn rng_state(_: &Site) -> Result<Outcome> {
    Ok(Outcome::Array(ElementType::named("u64"), vec![2]))
}

/// The operand's shape; exponent and mantissa are rounded to fewer bits.
pub(in super::super) fn reduce_precision(site: &Site) -> Result<Outcome> {
    let least = [("exponent_bits", 1), ("mantissa_bits", 0)];
    for (key, least) in least {
        let bits = site.required(key, site.integer(key)?)?;
        if bits < least {
            return Err(site.error(format!("{key} must be {least} or more, found {bits}")));
        }
    }
    like_first(site)
}
