"""Shapes at the edges: scalars, no elements, many dimensions."""

import numpy as np
import pytest

import indexing as ix
from kernels import compiled

RANKS = [1, 31, 32, 33, 40, 62, 64]
ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
LESS = "lt {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=LT\n}\n"
AT_LEAST = LESS.replace("lt", "ge").replace("LT", "GE")
X = np.array([4, -1, 0], np.float32)


def dims(sizes):
    return "[" + ",".join(map(str, sizes)) + "]"


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


@pytest.mark.parametrize(
    ("operand", "result", "x", "want"),
    [
        ("s32[]", "f32[]", np.int32(1065353216), np.float32(1)),
        ("u8[4]", "f32[]", np.array([0, 0, 128, 63], np.uint8), np.float32(1)),
        ("f32[]", "u8[4]", np.float32(1), np.array([0, 0, 128, 63], np.uint8)),
        ("f64[]", "u32[2]", np.float64(1), np.array([0, 0x3FF00000], np.uint32)),
        ("bf16[]", "s16[]", np.float32(1), np.int16(0x3F80)),
        ("s4[2]", "u8[]", np.array([-1, 2], np.int8), np.uint8(0x2F)),
    ],
)
def test_bits_of_scalars(operand, result, x, want):
    text = f"ENTRY e {{\n  p = {operand} parameter(0)\n  ROOT r = {result} bitcast-convert(p)\n}}\n"
    got = ix.evaluate(text, x)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", ["f32", "f64", "bf16", "f8e4m3fn"])
@pytest.mark.parametrize(("a", "b", "want"), [(1, 2, True), (2, 1, False), (-0.0, 0.0, True), (0.0, -0.0, False)])
def test_total_order_of_scalars(kind, a, b, want):
    text = (f"ENTRY e {{\n  p = {kind}[] parameter(0)\n  q = {kind}[] parameter(1)\n"
            "  ROOT r = pred[] compare(p, q), direction=LT, type=TOTALORDER\n}\n")  # fmt: skip
    assert ix.evaluate(text, np.float64(a), np.float64(b)) == want
    assert ix.evaluate(text, np.float64(a), np.float64(b)).shape == ()


@pytest.mark.parametrize(("x", "want"), [(1.0, 1.0), (1.0625, 1.0), (1.1875, 1.25), (70000.0, np.inf)])
def test_precision_of_scalars(x, want):
    text = "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT r = f32[] reduce-precision(p), exponent_bits=5, mantissa_bits=3\n}\n"
    assert ix.evaluate(text, np.float32(x)) == want


@pytest.mark.parametrize(
    ("lhs", "rhs", "out", "rest"),
    [
        ((2, 0, 4), (0, 1, 2), (2, 1, 3), "window={size=2}"),
        ((2, 0, 4), (0, 2, 2), (2, 2, 3), "window={size=2}, feature_group_count=2"),
        ((2, 0, 4), (0, 2, 2), (1, 2, 3), "window={size=2}, batch_group_count=2"),
        ((2, 3, 4), (3, 0, 2), (2, 0, 3), "window={size=2}"),
        ((0, 3, 4), (3, 5, 2), (0, 5, 3), "window={size=2}"),
        ((2, 3, 0), (3, 5, 2), (2, 5, 1), "window={size=2 pad=1_1}"),
    ],
)
def test_convolutions_without_elements_are_zeros(lhs, rhs, out, rest):
    text = (f"ENTRY e {{\n  p = f32{dims(lhs)} parameter(0)\n  k = f32{dims(rhs)} parameter(1)\n"
            f"  ROOT o = f32{dims(out)} convolution(p, k), {rest}, dim_labels=bf0_io0->bf0\n}}\n")  # fmt: skip
    arrays = np.ones(lhs, np.float32), np.ones(rhs, np.float32)
    np.testing.assert_array_equal(ix.evaluate(text, *arrays), np.zeros(out, np.float32))


def test_a_scatter_without_index_components_beside_another_result():
    text = (
        ADD
        + """f {
      p = f32[3] parameter(0)
      i = s32[0,3] parameter(1)
      u = f32[3] parameter(2)
      r = f32[3] scatter(p, i, u), update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={},
        input_batching_dims={0}, scatter_indices_batching_dims={1}, index_vector_dim=0, to_apply=add
      n = f32[3] negate(r)
      ROOT out = (f32[3], f32[3]) tuple(r, n)
    }
    ENTRY e {
      p = f32[3] parameter(0)
      i = s32[0,3] parameter(1)
      u = f32[3] parameter(2)
      ROOT x = (f32[3], f32[3]) fusion(p, i, u), kind=kLoop, calls=f
    }"""
    )
    run = compiled(text)
    for start in (0, 7):
        p, u = np.arange(start, start + 3, dtype=np.float32), np.array([10, 20, 30], np.float32)
        arguments = p, np.zeros((0, 3), np.int32), u
        for actual in (ix.evaluate(text, *arguments), run(*arguments)):
            np.testing.assert_array_equal(actual, [p + u, -(p + u)])


def whole_scatter(rank):
    """A scatter of one whole array over another, starting at the first place."""
    return (f"scatter(p, i1, p), update_window_dims={braces(range(rank))}, inserted_window_dims={{}}, "
            f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=0, to_apply=add")  # fmt: skip


def high_rank_cases(rank):
    """Programs on X as an array whose last dimension is its only one of more than one element, and their results."""
    sizes, ones = [1] * (rank - 1) + [3], [1] * rank
    full, every = dims(sizes), braces(range(rank))
    window = "window={size=" + "x".join(map(str, ones)) + "}"
    yield f"f32{full} negate(p)", -X
    yield f"f32{full} add(p, p)", 2 * X
    yield f"pred{full} compare(p, b), direction=LT, type=TOTALORDER", X < 1
    yield f"f32{full} select(c, p, b)", np.where(X > 0, X, 1)
    yield f"f32{full} clamp(b, p, b)", [1, 1, 1]
    yield f"c64{full} complex(p, b)", X + 1j
    yield f"s32{full} power(n, n)", [256, -1, 1]
    yield f"s32{full} bitcast-convert(p)", X.view(np.int32)
    yield f"bf16{full} convert(p)", X
    yield f"f32{full} map(p, b), dimensions={every}, to_apply=add", X + 1
    yield f"f32{full} reverse(p), dimensions={braces([rank - 1])}", X[::-1]
    yield f"f32{dims(sizes[::-1])} transpose(p), dimensions={braces(reversed(range(rank)))}", X
    yield f"f32[3] reduce(p, z), dimensions={braces(range(rank - 1))}, to_apply=add", X
    yield "f32[3] reshape(p)", X
    yield f"f32{dims([*sizes[:-1], 6])} concatenate(p, p), dimensions={braces([rank - 1])}", [*X, *X]
    yield f"f32{full} reduce-window(p, z), {window}, to_apply=add", X
    yield f"f32{full} select-and-scatter(p, p, z), {window}, select=ge, scatter=add", X
    yield f"f32{full} sort(p), dimensions={braces([rank - 1])}, to_apply=lt", np.sort(X)
    yield f"(f32{dims([*sizes[:-1], 2])}, s32{dims([*sizes[:-1], 2])}) topk(p), k=2, largest=true", ([4, 0], [0, 2])
    yield f"f32{full} dynamic-update-slice(p, b, {', '.join(['i'] * rank)})", [1, 1, 1]
    yield f"f32{full} {whole_scatter(rank)}", 2 * X
    offsets = braces(range(rank))
    yield (f"f32{full} gather(p, i1), offset_dims={offsets}, collapsed_slice_dims={{}}, start_index_map={{0}}, "
           f"index_vector_dim=0, slice_sizes={braces(sizes)}"), X  # fmt: skip
    contracted = braces(range(rank))
    yield f"f32[] dot(p, p), lhs_contracting_dims={contracted}, rhs_contracting_dims={contracted}", 17
    batch = braces(range(rank - 1))
    last = braces([rank - 1])
    if rank > 1:
        yield (f"f32{dims(ones[1:])} dot(p, p), lhs_batch_dims={batch}, rhs_batch_dims={batch}, "
               f"lhs_contracting_dims={last}, rhs_contracting_dims={last}"), 17  # fmt: skip
        yield f"f32{full} dynamic-slice(p, {', '.join(['i'] * rank)}), dynamic_slice_sizes={braces(sizes)}", X
        yield f"c64{full} fft(x), fft_type=FFT, fft_length={{3}}", np.fft.fft(X)


def high_rank_program(rank, operation):
    sizes = [1] * (rank - 1) + [3]
    full = dims(sizes)
    return (ADD + LESS + AT_LEAST + f"""ENTRY e {{
      p = f32{full} parameter(0)
      o = f32[] constant(1)
      z = f32[] constant(0)
      i = s32[] constant(0)
      i1 = s32[1] constant({{0}})
      b = f32{full} broadcast(o), dimensions={{}}
      zs = f32{full} broadcast(z), dimensions={{}}
      c = pred{full} compare(p, zs), direction=GT
      n = s32{full} convert(p)
      x = c64{full} complex(p, zs)
      ROOT r = {operation}
    }}""")  # fmt: skip


@pytest.mark.parametrize("rank", RANKS)
def test_arrays_of_many_dimensions(rank):
    x = X.reshape([1] * (rank - 1) + [3])
    for operation, want in high_rank_cases(rank):
        got = ix.evaluate(high_rank_program(rank, operation), x)
        actual = got if isinstance(got, tuple) else (got,)
        expected = want if isinstance(want, tuple) else (want,)
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_allclose(one.ravel().astype(np.complex64), np.ravel(other), rtol=1e-6, err_msg=operation)


def test_a_convolution_of_many_dimensions():
    spatial = "".join(map(str, range(10)))
    sizes = [2, 3, *[1] * 9, 4]
    labels = f"bf{spatial}_io{spatial}->bf{spatial}"
    text = (f"ENTRY e {{\n  p = f32{dims(sizes)} parameter(0)\n  k = f32{dims([3, 1, *[1] * 9, 2])} parameter(1)\n"
            f"  ROOT o = f32{dims([2, 1, *[1] * 9, 3])} convolution(p, k), "
            f"window={{size={'x'.join(['1'] * 9 + ['2'])}}}, dim_labels={labels}\n}}\n")  # fmt: skip
    p = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    k = np.arange(6, dtype=np.float32).reshape(3, 2)
    want = [[sum(p[b, f, x + w] * k[f, w] for f in range(3) for w in range(2)) for x in range(3)] for b in range(2)]
    got = ix.evaluate(text, p.reshape(sizes), k.reshape([3, 1, *[1] * 9, 2]))
    np.testing.assert_array_equal(got.reshape(2, 3), want)


def test_more_dimensions_than_arrays_have_are_refused_by_name():
    sizes = dims([1] * 65)
    text = f"ENTRY e {{\n  p = f32[] parameter(0)\n  ROOT r = f32{sizes} broadcast(p), dimensions={{}}\n}}\n"
    with pytest.raises(ix.UnsupportedOp, match="r has 65 dimensions; arrays of numpy .* have at most"):
        ix.evaluate(text, np.float32(1))
    with pytest.raises(ix.UnsupportedOp, match="argument 0 has 65 dimensions"):
        ix.evaluate(f"ENTRY e {{\n  p = f32{sizes} parameter(0)\n  ROOT r = f32{sizes} negate(p)\n}}\n", np.float32(1))
