"""fft, cholesky, triangular-solve, batch-norm, rng: formulas by perturbation, references against numpy and published bits."""

import itertools

import numpy as np
import pytest

import indexing as ix
from reached import check, program, root_of, run, spelled


def dims(values):
    return "[" + ",".join(map(str, values)) + "]"


@pytest.mark.parametrize(
    ("kind", "operand", "result", "shape", "out", "length"),
    [
        ("FFT", "c128", "c128", (2, 5), (2, 5), (5,)),
        ("IFFT", "c128", "c128", (3, 4), (3, 4), (3, 4)),
        ("RFFT", "f64", "c128", (2, 6), (2, 4), (6,)),
        ("IRFFT", "c128", "f64", (2, 3, 3), (2, 3, 5), (3, 5)),
        ("FFT", "c64", "c64", (0, 4), (0, 4), (4,)),
    ],
)
def test_fft(kind, operand, result, shape, out, length):
    rng = np.random.default_rng(0)
    text = program(
        f"{result}{dims(out)} fft(p0), fft_type={kind}, fft_length={{{','.join(map(str, length))}}}",
        f"{operand}{dims(shape)}",
    )
    dtype = root_of(text).operands[0].shape.dtype
    value = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype.kind == "c" else 0)
    (got,) = run(root_of(text), [value.astype(dtype)])
    axes = range(len(shape) - len(length), len(shape))
    if 0 not in shape:
        want = {
            "FFT": lambda: np.fft.fftn(value, axes=axes),
            "IFFT": lambda: np.fft.ifftn(value, axes=axes),
            "RFFT": lambda: np.fft.rfftn(value, axes=axes),
            "IRFFT": lambda: np.fft.irfftn(value, s=length, axes=axes),
        }[kind]()
        np.testing.assert_allclose(got, want, atol=1e-12)
    check(text, [value.astype(dtype)], operands=[0], only_bounds=() if kind in ("FFT", "IFFT") else [0])


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("kind", ["f64", "c128"])
def test_cholesky(lower, kind):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(2, 4, 4)) + (1j * rng.normal(size=(2, 4, 4)) if kind == "c128" else 0)
    positive = a @ a.conj().swapaxes(-1, -2) + 4 * np.eye(4)
    text = program(f"{kind}[2,4,4] cholesky(p0), lower={str(lower).lower()}", f"{kind}[2,4,4]")
    (out,) = run(root_of(text), [positive])
    factor = np.linalg.cholesky(positive)
    np.testing.assert_allclose(out, factor if lower else factor.conj().swapaxes(-1, -2), atol=1e-12)
    check(text, [positive], operands=[0])


def test_cholesky_of_matrices_in_rows_and_columns():
    rng = np.random.default_rng(1)
    a = rng.normal(size=(2, 1, 3, 3))
    text = program("f64[2,1,3,3] cholesky(p0), lower=true", "f64[2,1,3,3]")
    check(text, [a @ a.swapaxes(-1, -2) + 4 * np.eye(3)], operands=[0])


def test_cholesky_of_a_matrix_that_is_not_positive_definite_is_no_number():
    text = program("f32[2,1,1] cholesky(p0), lower=true", "f32[2,1,1]")
    (out,) = run(root_of(text), [np.array([[[-1]], [[4]]], np.float32)])
    np.testing.assert_array_equal(out, [[[np.nan]], [[2]]])


SOLVES = list(itertools.product([True, False], [True, False], [True, False], ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]))


@pytest.mark.parametrize(("left", "lower", "unit", "transpose"), SOLVES)
def test_triangular_solve(left, lower, unit, transpose):
    rng = np.random.default_rng(0)
    n, columns = 3, 4
    shape = (2, n, columns) if left else (2, columns, n)
    kind = "c128" if transpose == "ADJOINT" else "f64"
    text = program(
        f"{kind}{dims(shape)} triangular-solve(p0, p1), left_side={str(left).lower()}, lower={str(lower).lower()}, "
        f"unit_diagonal={str(unit).lower()}, transpose_a={transpose}",
        f"{kind}[2,{n},{n}]",
        f"{kind}{dims(shape)}",
    )
    imaginary = 1j if kind == "c128" else 0
    a = rng.uniform(1, 2, (2, n, n)) + imaginary * rng.uniform(1, 2, (2, n, n))
    b = rng.uniform(1, 2, shape) + imaginary
    (x,) = run(root_of(text), [a, b])
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        triangle[:, range(n), range(n)] = 1
    op = {"NO_TRANSPOSE": triangle, "TRANSPOSE": triangle.swapaxes(1, 2), "ADJOINT": triangle.swapaxes(1, 2).conj()}
    np.testing.assert_allclose(op[transpose] @ x if left else x @ op[transpose], b, atol=1e-9)
    check(text, [a, b], operands=[0, 1])


@pytest.mark.parametrize(("shape", "feature"), [((3, 2, 2), 1), ((4,), 0), ((2, 3), 1)])
def test_batch_norm(shape, feature):
    rng = np.random.default_rng(0)
    full, features = f"f64{dims(shape)}", f"f64[{shape[feature]}]"
    x, grad = rng.normal(size=shape), rng.normal(size=shape)
    scale, offset, mean = (rng.uniform(1, 2, shape[feature]) for _ in range(3))
    axes = tuple(k for k in range(len(shape)) if k != feature)
    spread = [1 if k in axes else -1 for k in range(len(shape))]
    tail = f"epsilon=0.25, feature_index={feature}"

    text = program(f"{full} batch-norm-inference(p0, p1, p2, p3, p4), {tail}", full, *[features] * 4)
    variance = rng.uniform(1, 2, shape[feature])
    values = [x, scale, offset, mean, variance]
    (out,) = run(root_of(text), values)
    s, o, m, v = (a.reshape(spread) for a in values[1:])
    np.testing.assert_allclose(out, (x - m) / np.sqrt(v + 0.25) * s + o)
    check(text, values, operands=range(5))

    text = program(f"({full}, {features}, {features}) batch-norm-training(p0, p1, p2), {tail}", full, *[features] * 2)
    out, mean, variance = run(root_of(text), [x, scale, offset])
    np.testing.assert_allclose(mean, x.mean(axis=axes))
    np.testing.assert_allclose(variance, x.var(axis=axes), atol=1e-12)
    m, v = mean.reshape(spread), variance.reshape(spread)
    np.testing.assert_allclose(out, (x - m) / np.sqrt(v + 0.25) * s + o)
    check(text, [x, scale, offset], operands=range(3), only_bounds=() if bool(axes) else range(3))

    text = program(
        f"({full}, {features}, {features}) batch-norm-grad(p0, p1, p2, p3, p4), {tail}",
        full,
        features,
        features,
        features,
        full,
    )
    values = [x, scale, mean, variance, grad]
    to_x, to_scale, to_offset = run(root_of(text), values)

    def loss(x, scale, offset):
        m, v = x.mean(axis=axes).reshape(spread), x.var(axis=axes).reshape(spread)
        out = (x - m) / np.sqrt(v + 0.25) * scale.reshape(spread) + offset.reshape(spread)
        return (out * grad).sum()

    for k, got in enumerate((to_x, to_scale, to_offset)):
        for at in np.ndindex(*got.shape):
            arguments = [[a.copy() for a in (x, scale, offset)] for _ in range(2)]
            arguments[0][k][at] += 1e-6
            arguments[1][k][at] -= 1e-6
            slope = (loss(*arguments[0]) - loss(*arguments[1])) / 2e-6
            np.testing.assert_allclose(got[at], slope, atol=1e-6)
    check(text, values, operands=range(5), only_bounds=() if bool(axes) else range(5))


def bits(algorithm, kind, shape, state):
    text = program(
        f"(u64[{len(state)}], {kind}{dims(shape)}) rng-bit-generator(p0), algorithm={algorithm}", f"u64[{len(state)}]"
    )
    values = [np.array(state, np.uint64)]
    check(text, values, operands=[0], only_bounds=[0])
    return run(root_of(text), values)


def test_threefry_gives_the_published_words():
    """Known answers of Random123 for threefry2x32 of 20 rounds."""
    state, drawn = bits("rng_three_fry", "u64", (1,), [0, 0])
    assert hex(int(drawn[0])) == "0x99ba4efe6b200159"
    np.testing.assert_array_equal(state, [0, 1])
    _, drawn = bits("rng_three_fry", "u64", (1,), [2**64 - 1, 2**64 - 1])
    assert int(drawn[0]) & 0xFFFFFFFF == 0x1CB996FC
    assert int(drawn[0]) >> 32 == 0xBB002BE7
    _, drawn = bits("rng_three_fry", "u64", (1,), [0x0370734413198A2E, 0x85A308D3243F6A88])
    assert int(drawn[0]) & 0xFFFFFFFF == 0xC4923A9C
    assert int(drawn[0]) >> 32 == 0x483DF7A0


def test_threefry_lays_halves_along_the_first_even_dimension():
    whole = bits("rng_three_fry", "u64", (6,), [7, 3])[1]
    low, high = (whole & np.uint64(0xFFFFFFFF)).astype(np.uint32), (whole >> np.uint64(32)).astype(np.uint32)
    state, drawn = bits("rng_three_fry", "u32", (3, 4), [7, 3])
    np.testing.assert_array_equal(drawn, np.stack([low.reshape(3, 2), high.reshape(3, 2)], axis=2).reshape(3, 4))
    np.testing.assert_array_equal(state, [7, 9])
    odd = bits("rng_three_fry", "u8", (5,), [7, 3])[1]
    words = np.stack([low[:3], high[:3]], axis=1).reshape(-1)[:5]
    np.testing.assert_array_equal(odd, words.astype(np.uint8))
    assert bits("rng_three_fry", "u32", (), [7, 3])[1] == low[0]


def test_philox_gives_the_published_words():
    """Known answers of Random123 for philox4x32 of 10 rounds."""
    state, drawn = bits("rng_philox", "u32", (4,), [0, 0, 0])
    assert [hex(int(w)) for w in drawn] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    np.testing.assert_array_equal(state, [0, 1, 0])
    ones = 2**64 - 1
    state, drawn = bits("rng_philox", "u32", (4,), [ones, ones, ones])
    assert [hex(int(w)) for w in drawn] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]
    np.testing.assert_array_equal(state, [ones, 0, 0])
    _, drawn = bits("rng_default", "u64", (3,), [0, 0, 0])
    assert hex(int(drawn[0])) == "0xe169c58d6627e8d5"


def test_one_array_of_random_bits_is_that_without_the_state():
    state = [np.array([7, 3, 1], np.uint64)]
    text = program("u32[3,4] rng-bit-generator(p0), algorithm=rng_philox", "u64[3]")
    check(text, state, operands=[0])
    assert ix.output_to_input(root_of(text))[0][0].exactness == "exact"
    np.testing.assert_array_equal(run(root_of(text), state)[0], bits("rng_philox", "u32", (3, 4), [7, 3, 1])[1])


def test_rng_has_maps_and_no_value():
    text = program("f32[3] rng(p0, p1), distribution=rng_uniform", "f32[]", "f32[]")
    root = root_of(text)
    with pytest.raises(ix.UnsupportedOp, match=r"rng r .*rng-bit-generator"):
        run(root, [np.float32(0), np.float32(1)])
    for (actual,) in ix.output_to_input(root):
        assert (str(actual.map), actual.exactness) == (spelled("(d0) -> (), domain: d0 in [0, 2]"), "exact")


EMPTY = [
    ("f64[0,3] sort(p0), dimensions={0}, to_apply=less", "f64[0,3]"),
    ("(f64[2,0], s32[2,0]) topk(p0), k=0, largest=true", "f64[2,3]"),
    ("f64[0,2,2] cholesky(p0), lower=true", "f64[0,2,2]"),
    ("f64[2,0,0] cholesky(p0), lower=true", "f64[2,0,0]"),
    (
        "f64[2,2,0] triangular-solve(p0, p1), left_side=true, lower=true, unit_diagonal=false, "
        "transpose_a=NO_TRANSPOSE",
        "f64[2,2,2]",
        "f64[2,2,0]",
    ),
    (
        "(f64[0,3], f64[3], f64[3]) batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1",
        "f64[0,3]",
        "f64[3]",
        "f64[3]",
    ),
    ("f64[0] select-and-scatter(p0, p1, p2), window={size=1}, select=less, scatter=add", "f64[0]", "f64[0]", "f64[]"),
    ("f64[3,0] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f64[3,2]", "f64[2,0]"),
]
SCALARS = """less {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT
}
add {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT s = f64[] add(a, b)
}
"""


@pytest.mark.parametrize("case", EMPTY)
def test_arrays_without_elements(case):
    root, *shapes = case
    text = program(root, *shapes, computations=SCALARS)
    values = [np.zeros(o.shape.dimensions, o.shape.dtype) for o in root_of(text).operands]
    run(root_of(text), values)
    check(text, values, operands=range(len(values)), only_bounds=range(len(values)))
