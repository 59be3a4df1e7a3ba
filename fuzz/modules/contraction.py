"""Generators of products: dot, convolution; and of linear algebra, transforms, normalisation, random bits."""

from __future__ import annotations

from dataclasses import replace

from modules.program import EXACT, SUM, Array, Builder, Tolerance, Value, braces
from modules.reductions import window, window_text
from modules.values import DEFINITE, REAL, SMALL, TRIANGULAR, Data

MULTIPLIED = ("f32",) * 4 + ("s32", "f64", "bf16", "f16", "s8", "c64", "u8", "s64", "c128")


def dot(b: Builder) -> Value:
    """Any batch and contracting dimensions, in any order on either side; small integers, so that sums are exact."""
    kind = b.pick(*MULTIPLIED)
    batch = [b.rng.randint(1, 3) for _ in range(b.rng.choice((0, 0, 1, 2)))]
    inner = [b.rng.randint(0 if b.chance(0.05) else 1, 5) for _ in range(b.rng.choice((0, 1, 1, 1, 2)))]
    left, l_batch, l_inner, l_free = _side(b, batch, inner)
    right, r_batch, r_inner, r_free = _side(b, batch, inner)
    attributes = [
        *([f"lhs_batch_dims={braces(l_batch)}"] if batch else []),
        f"lhs_contracting_dims={braces(l_inner)}",
        *([f"rhs_batch_dims={braces(r_batch)}"] if batch else []),
        f"rhs_contracting_dims={braces(r_inner)}",
    ]
    x, y = b.array([kind], left, SMALL), b.array([kind], right, SMALL)
    wide = {"bf16": "f32", "s8": "s32"}.get(kind, kind) if b.chance(0.3) else kind
    shape = Array(wide, (*batch, *l_free, *r_free))
    return b.emit("dot", shape, [x, y], ", ".join(attributes), tolerance=SUM)


def _side(b: Builder, batch: list[int], inner: list[int]) -> tuple[tuple[int, ...], list[int], list[int], list[int]]:
    """Sizes of one operand; where its batch and contracting dimensions are; sizes of the others."""
    free = [b.rng.randint(0 if b.chance(0.03) else 1, 4) for _ in range(b.rng.choice((0, 1, 1, 2)))]
    labels = [("b", k) for k in range(len(batch))] + [("i", k) for k in range(len(inner))]
    labels += [("f", k) for k in range(len(free))]
    order = b.rng.sample(labels, len(labels))
    given = {"b": batch, "i": inner, "f": free}
    sizes = tuple(given[group][k] for group, k in order)
    kept = [free[k] for group, k in order if group == "f"]
    return (
        sizes,
        [order.index(("b", k)) for k in range(len(batch))],
        [order.index(("i", k)) for k in range(len(inner))],
        kept,
    )


def convolution(b: Builder) -> Value:
    """Any layout of dimensions, strides, paddings, dilations, reversals; groups of features or of the batch."""
    kind = b.pick("f32", "f32", "f32", "f64", "s32", "bf16", "f16", "c64")
    rank = b.rng.choice((0, 1, 1, 2, 2))
    groups = b.rng.choice((1, 1, 2, 3))
    by_batch = groups > 1 and b.chance(0.4)
    batch, per_group, out = b.rng.randint(1, 2), b.rng.randint(1, 2), b.rng.randint(1, 2) * groups
    sizes = [b.rng.randint(1, 6) for _ in range(rank)]
    windows = [
        w if w.low >= 0 or w.high <= 0 else replace(w, low=0) for w in (window(b, n) for n in sizes)
    ]  # see AVOIDED
    results = [w.output(n) for w, n in zip(windows, sizes, strict=True)]
    features = per_group if by_batch else per_group * groups
    labels_in, x = _arranged(b, "bf", [batch * groups if by_batch else batch, features], sizes)
    labels_kernel, kernel = _arranged(b, "io", [per_group, out], [w.size for w in windows])
    labels_out, shape = _arranged(b, "bf", [batch, out], results)
    attributes = f"{window_text(windows, [int(n > 1 and b.chance(0.2)) for n in results])}, " if windows else ""
    attributes += f"dim_labels={labels_in}_{labels_kernel}->{labels_out}"
    if groups > 1:
        attributes += f", {'batch' if by_batch else 'feature'}_group_count={groups}"
    operands = [b.array([kind], x, SMALL), b.array([kind], kernel, SMALL)]
    return b.emit("convolution", Array(kind, shape), operands, attributes, tolerance=SUM)


def _arranged(b: Builder, letters: str, sizes: list[int], spatial: list[int]) -> tuple[str, tuple[int, ...]]:
    labels = list(zip([*letters, *map(str, range(len(spatial)))], [*sizes, *spatial], strict=True))
    b.rng.shuffle(labels)
    return "".join(name for name, _ in labels), tuple(size for _, size in labels)


def cholesky(b: Builder) -> Value:
    """The half that the attribute names; the other is XLA's own affair and is cleared."""
    n = b.rng.randint(1, 4)
    batch = tuple(b.rng.randint(1, 2) for _ in range(b.rng.randint(0, 1)))
    kind, lower = b.pick("f32", "f64", "c64"), b.chance(0.5)
    x = b.parameter(Array(kind, (*batch, n, n)), DEFINITE)
    return b.emit("cholesky", x.shape, [x], f"lower={str(lower).lower()}", tolerance=Tolerance(200, True))


def triangular_solve(b: Builder) -> Value:
    n, m = b.rng.randint(1, 4), b.rng.randint(1, 3)
    batch = tuple(b.rng.randint(1, 2) for _ in range(b.rng.randint(0, 1)))
    left = b.chance(0.5)
    kind = b.pick("f32", "f64", "c64")
    a = b.parameter(Array(kind, (*batch, n, n)), TRIANGULAR)
    right = b.parameter(Array(kind, (*batch, n, m) if left else (*batch, m, n)), REAL)
    transposes = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
    attributes = (
        f"left_side={str(left).lower()}, lower={b.pick('true', 'false')}, unit_diagonal={b.pick('true', 'false')}, "
        f"transpose_a={b.pick(*transposes)}"
    )
    return b.emit("triangular-solve", right.shape, [a, right], attributes, tolerance=Tolerance(200, True))


def fft(b: Builder) -> Value:
    """Transforms over the last one to three dimensions, to and from real numbers as well."""
    rank = b.rng.randint(1, 3)
    batch = tuple(b.rng.randint(1, 3) for _ in range(b.rng.randint(0, 4 - rank)))
    lengths = tuple(b.rng.randint(1, 6) for _ in range(rank))
    style = b.pick("FFT", "IFFT", "RFFT", "IRFFT")
    half = (*lengths[:-1], lengths[-1] // 2 + 1)
    complex_, real = b.pick("c64 f32", "c64 f32", "c128 f64").split()
    inside = (
        Array(real, (*batch, *lengths))
        if style == "RFFT"
        else Array(complex_, (*batch, *(half if style == "IRFFT" else lengths)))
    )
    outside = {"RFFT": Array(complex_, (*batch, *half)), "IRFFT": Array(real, (*batch, *lengths))}
    x = b.parameter(inside, REAL)
    attributes = f"fft_type={style}, fft_length={braces(lengths)}"
    return b.emit("fft", outside.get(style, inside), [x], attributes, tolerance=Tolerance(400, True))


POSITIVE = Data("range", 1, 4)


def batch_norm(b: Builder, opcode: str) -> object:
    kind = b.pick("f32", "f32", "f64", "f16", "bf16")
    sizes = tuple(b.rng.randint(1, 4) for _ in range(b.rng.randint(2, 4)))
    feature = b.rng.randrange(len(sizes))
    row = (sizes[feature],)
    attributes = f"epsilon=0.5, feature_index={feature}"
    x, scale = b.parameter(Array(kind, sizes), SMALL), b.parameter(Array(kind, row), SMALL)
    mean, variance = b.parameter(Array(kind, row), SMALL), b.parameter(Array(kind, row), POSITIVE)
    loose = Tolerance(64, True)
    if opcode == "batch-norm-training":
        shape = (x.shape, scale.shape, scale.shape)
        results = b.emit(opcode, shape, [x, scale, mean], attributes, tolerance=loose)
        return b.split(results)
    if opcode == "batch-norm-inference":
        offset = b.parameter(Array(kind, row), SMALL)
        return b.emit(opcode, x.shape, [x, scale, offset, mean, variance], attributes, tolerance=loose)
    gradient = b.parameter(Array(kind, sizes), SMALL)
    shape = (x.shape, scale.shape, scale.shape)
    return b.split(b.emit(opcode, shape, [x, scale, mean, variance, gradient], attributes, tolerance=loose))


def random_bits(b: Builder) -> object:
    algorithm, words = b.rng.choice((("rng_three_fry", 2), ("rng_philox", 3), ("rng_philox", 2)))
    state = b.parameter(Array("u64", (words,)))
    bits = Array(b.pick("u32", "u64", "u8", "u16"), tuple(b.rng.randint(1, 5) for _ in range(b.rng.randint(0, 3))))
    results = b.emit("rng-bit-generator", (state.shape, bits), [state], f"algorithm={algorithm}", tolerance=EXACT)
    return b.split(results, [EXACT, EXACT])


GENERATORS = {
    "dot": (dot,),
    "convolution": (convolution,),
    "cholesky": (cholesky,),
    "triangular-solve": (triangular_solve,),
    "fft": (fft,),
    "batch-norm-training": (lambda b: batch_norm(b, "batch-norm-training"),),
    "batch-norm-inference": (lambda b: batch_norm(b, "batch-norm-inference"),),
    "batch-norm-grad": (lambda b: batch_norm(b, "batch-norm-grad"),),
    "rng-bit-generator": (random_bits,),
}
