"""reduce, reduce-window, select-and-scatter: formulas by perturbation, references against loops over the definition."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from indexing.ops.registry import REGISTRY
from reached import check, program, root_of, run

ADD = "add {\n  a = f64[] parameter(0)\n  b = f64[] parameter(1)\n  ROOT s = f64[] add(a, b)\n}\n"
PAIR = """pair {
  a = f64[] parameter(0)
  i = s64[] parameter(1)
  b = f64[] parameter(2)
  j = s64[] parameter(3)
  s = f64[] add(a, b)
  t = s64[] add(i, j)
  ROOT r = (f64[], s64[]) tuple(s, t)
}
"""
ARGMAX = """argmax {
  a = f64[] parameter(0)
  i = s64[] parameter(1)
  b = f64[] parameter(2)
  j = s64[] parameter(3)
  first = pred[] compare(a, b), direction=GE
  m = f64[] select(first, a, b)
  k = s64[] select(first, i, j)
  ROOT r = (f64[], s64[]) tuple(m, k)
}
"""
KEEP = """keep {
  a = f64[] parameter(0)
  i = s64[] parameter(1)
  b = f64[] parameter(2)
  j = s64[] parameter(3)
  s = f64[] add(a, b)
  ROOT r = (f64[], s64[]) tuple(s, i)
}
"""
MOST = "most {\n  a = f64[] parameter(0)\n  b = f64[] parameter(1)\n  ROOT g = pred[] compare(a, b), direction=GE\n}\n"


def scalar(kind, opcode):
    return f"f {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n  ROOT s = {kind}[] {opcode}(b, a)\n}}\n"


def dims(values):
    return "[" + ",".join(map(str, values)) + "]"


@pytest.mark.parametrize("seed", range(10))
def test_reduce(seed):
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(0 if seed == 3 else 1, 4, rng.integers(0, 4))]
    reduced = [int(k) for k in rng.permutation(len(shape))[: rng.integers(0, len(shape) + 1)]]
    kept = [n for k, n in enumerate(shape) if k not in reduced]
    text = program(
        f"f64{dims(kept)} reduce(p0, p1), dimensions={{{','.join(map(str, reduced))}}}, to_apply=add",
        f"f64{dims(shape)}",
        "f64[]",
        computations=ADD,
    )
    values = [rng.uniform(0.5, 2, shape), np.array(3.0)]
    (out,) = run(root_of(text), values)
    np.testing.assert_allclose(out, values[0].sum(axis=tuple(reduced)) + 3)
    check(text, values, operands=[0, 1])


def test_variadic_reduce_folds_all_operands_together():
    text = program(
        "(f64[3], s64[3]) reduce(p0, p1, p2, p3), dimensions={1}, to_apply=argmax",
        "f64[3,7]",
        "s64[3,7]",
        "f64[]",
        "s64[]",
        computations=ARGMAX,
    )
    rng = np.random.default_rng(0)
    values = [rng.integers(0, 4, (3, 7)).astype(float), np.tile(np.arange(7), (3, 1)), np.array(-np.inf), np.array(-1)]
    best, at = run(root_of(text), values)
    np.testing.assert_array_equal(best, values[0].max(axis=1))
    np.testing.assert_array_equal(at, values[0].argmax(axis=1))
    check(text, values, operands=range(4), only_bounds=range(4), change=lambda v: np.asarray(v) + 9)


def test_variadic_reduce_of_unrelated_sums_says_which_operand_is_not_used():
    text = program(
        "(f64[2], s64[2]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=pair",
        "f64[3,2]",
        "s64[3,2]",
        "f64[]",
        "s64[]",
        computations=PAIR,
    )
    values = [np.ones((3, 2)), np.ones((3, 2), np.int64), np.array(0.0), np.array(0)]
    check(text, values, operands=range(4))


@pytest.mark.parametrize(
    ("kind", "opcode", "values", "want"),
    [
        ("s8", "add", [100, 100, 100], np.int8(44)),
        ("s8", "multiply", [16, 16, 3], np.int8(0)),
        ("u8", "minimum", [200, 3, 7], np.uint8(3)),
        ("s4", "add", [7, 7, 7], ml_dtypes.int4(5)),
        ("u64", "maximum", [2**63 + 5, 1, 2], np.uint64(2**63 + 5)),
        ("u64", "add", [2**63 + 5, 2**63, 2], np.uint64(7)),
        ("pred", "add", [1, 1, 0], np.bool_(True)),
        ("pred", "and", [1, 1, 0], np.bool_(False)),
        ("f32", "maximum", [1, np.nan, 3], np.float32(np.nan)),
        ("f32", "add", [np.inf, -np.inf, 3], np.float32(np.nan)),
        ("s32", "xor", [5, 3, 8], np.int32(14)),
    ],
)
def test_reduce_in_each_kind_of_type(kind, opcode, values, want):
    text = program(
        f"{kind}[] reduce(p0, p1), dimensions={{0}}, to_apply=f",
        f"{kind}[3]",
        f"{kind}[]",
        computations=scalar(kind, opcode),
    )
    root = root_of(text)
    dtype = root.shape.dtype
    start = {"multiply": 1, "minimum": values[0], "maximum": values[0], "and": 1}.get(opcode, 0)
    (out,) = run(root, [np.array([dtype.type(v) for v in values]), np.array(start).astype(dtype)])
    np.testing.assert_array_equal(np.asarray(out), np.asarray(want))


def test_reduce_sums_bfloat16_without_losing_it_on_the_way():
    text = program(
        "bf16[] reduce(p0, p1), dimensions={0}, to_apply=f", "bf16[1000]", "bf16[]", computations=scalar("bf16", "add")
    )
    (out,) = run(root_of(text), [np.ones(1000, ml_dtypes.bfloat16), np.zeros((), ml_dtypes.bfloat16)])
    assert float(out) == 1000.0


def random_window(rng, shape):
    rank = len(shape)
    size, stride, lhs, rhs = (rng.integers(1, 4 if k < 2 else 3, rank) for k in range(4))
    low, high = rng.integers(-1, 3, rank), rng.integers(-1, 3, rank)
    dilated = (np.array(shape) - 1) * lhs + 1 + low + high
    reach = (size - 1) * rhs + 1
    out = [int(n) for n in np.maximum((dilated - reach) // stride + 1, 0) * (dilated >= reach)]
    parts = {"size": size, "stride": stride, "pad": [f"{a}_{b}" for a, b in zip(low, high, strict=True)]}
    parts |= {"lhs_dilate": lhs, "rhs_dilate": rhs}
    text = "window={" + " ".join(f"{k}={'x'.join(map(str, v))}" for k, v in parts.items()) + "}"
    return (text if rank else "window={}"), out, (size, stride, lhs, rhs, low)


def window_elements(at, shape, setting):
    """The input indices in the window of one output, in order."""
    size, stride, lhs, rhs, low = setting
    for w in itertools.product(*(range(n) for n in size)):
        places = [divmod(at[k] * stride[k] + w[k] * rhs[k] - low[k], lhs[k]) for k in range(len(shape))]
        if all(rest == 0 and 0 <= x < n for (x, rest), n in zip(places, shape, strict=True)):
            yield tuple(int(x) for x, _ in places)


@pytest.mark.parametrize("seed", range(12))
def test_reduce_window(seed):
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(1, 6, rng.integers(0, 3))]
    window, out_shape, setting = random_window(rng, shape)
    values = [rng.uniform(0.5, 2, shape), np.array(3.0)]
    text = program(
        f"f64{dims(out_shape)} reduce-window(p0, p1), {window}, to_apply=add",
        f"f64{dims(shape)}",
        "f64[]",
        computations=ADD,
    )
    (out,) = run(root_of(text), values)
    want = np.zeros(out_shape)
    for at in np.ndindex(*out_shape):
        want[at] = 3 + sum(values[0][x] for x in window_elements(at, shape, setting))
    np.testing.assert_allclose(out, want)
    check(text, values, operands=[0, 1])


def test_variadic_reduce_window():
    window, out_shape, setting = "window={size=3 pad=1_1}", [5], ([3], [1], [1], [1], [1])
    text = program(
        f"(f64{dims(out_shape)}, s64{dims(out_shape)}) reduce-window(p0, p1, p2, p3), {window}, to_apply=argmax",
        "f64[5]",
        "s64[5]",
        "f64[]",
        "s64[]",
        computations=ARGMAX,
    )
    values = [np.array([3.0, 1, 4, 1, 5]), np.arange(5), np.array(-np.inf), np.array(-1)]
    best, at = run(root_of(text), values)
    groups = [[x[0] for x in window_elements((k,), [5], setting)] for k in range(5)]
    np.testing.assert_array_equal(best, [max(values[0][g]) for g in groups])
    np.testing.assert_array_equal(at, [max(g, key=lambda x: values[0][x]) for g in groups])
    check(text, values, operands=range(4), only_bounds=range(4), change=lambda v: np.asarray(v) + 9)


@pytest.mark.parametrize(
    ("function", "computation", "second", "used"),
    [("pair", PAIR, [10, 13, 16], [False, True, False, True]), ("keep", KEEP, [7, 7, 7], [False, False, False, True])],
)
def test_arrays_that_a_reduction_keeps_apart_reach_their_own_result_alone(function, computation, second, used):
    """Neither array, nor its initial value, is used in the other's sum; where a result stays, no array is used."""
    text = program(
        f"(f64[3], s64[3]) reduce-window(p0, p1, p2, p3), window={{size=3}}, to_apply={function}",
        "f64[5]",
        "s64[5]",
        "f64[]",
        "s64[]",
        computations=computation,
    )
    values = [np.array([3.0, 1, 4, 1, 5]), np.arange(5), np.array(0.5), np.array(7)]
    sums, others = run(root_of(text), values)
    np.testing.assert_allclose(sums, [8.5, 6.5, 10.5])
    np.testing.assert_array_equal(others, second)
    check(text, values, operands=range(4), change=lambda v: np.asarray(v) + 9)
    op, root = REGISTRY["reduce-window"], root_of(text)
    actual = [[maps[0].exactness == "exact" for maps in op.output_to_input(root, output)] for output in range(2)]
    assert actual == [[True, False, True, False], used]
    back = [[maps[0].exactness == "exact" for maps in op.input_to_output(root, operand)] for operand in range(4)]
    assert back == [list(column) for column in zip(*actual, strict=True)]


@pytest.mark.parametrize(
    ("function", "computation", "second", "used"),
    [("pair", PAIR, 17, [False, True, False, True]), ("keep", KEEP, 7, [False, False, False, True])],
)
def test_arrays_that_a_reduction_to_scalars_keeps_apart(function, computation, second, used):
    shapes = ["f64[5]", "s64[5]", "f64[]", "s64[]"]
    text = program(
        f"(f64[], s64[]) reduce(p0, p1, p2, p3), dimensions={{0}}, to_apply={function}",
        *shapes,
        computations=computation,
    )
    values = [np.array([3.0, 1, 4, 1, 5]), np.arange(5), np.array(0.5), np.array(7)]
    total, other = run(root_of(text), values)
    np.testing.assert_allclose(total, 14.5)
    np.testing.assert_array_equal(other, second)
    check(text, values, operands=range(4), change=lambda v: np.asarray(v) + 9)
    op, root = REGISTRY["reduce"], root_of(text)
    actual = [[maps[0].exactness == "exact" for maps in op.output_to_input(root, output)] for output in range(2)]
    assert actual == [[True, False, True, False], used]


@pytest.mark.parametrize("seed", range(6))
def test_select_and_scatter(seed):
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(2, 6, rng.integers(1, 3))]
    size, stride = rng.integers(1, 3, len(shape)), rng.integers(1, 3, len(shape))
    low = rng.integers(0, 2, len(shape)) * (size > 1)
    out = [int((n + a - s) // t + 1) for n, a, s, t in zip(shape, low, size, stride, strict=True)]
    joined = [f"size={'x'.join(map(str, size))}", f"stride={'x'.join(map(str, stride))}"]
    joined.append("pad=" + "x".join(f"{a}_0" for a in low))
    one = np.ones(len(shape), int)
    text = program(
        f"f64{dims(shape)} select-and-scatter(p0, p1, p2), window={{{' '.join(joined)}}}, select=most, scatter=add",
        f"f64{dims(shape)}",
        f"f64{dims(out)}",
        "f64[]",
        computations=MOST + ADD,
    )
    values = [rng.integers(0, 5, shape).astype(float), rng.uniform(0.5, 2, out), np.array(3.0)]
    (got,) = run(root_of(text), values)
    want = np.full(shape, 3.0)
    for at in np.ndindex(*out):
        inside = list(window_elements(at, shape, (size, stride, one, one, low)))
        want[max(inside, key=lambda x: values[0][x])] += values[1][at]
    np.testing.assert_allclose(got, want)
    check(text, values, operands=range(3), only_bounds=range(3), change=lambda v: np.asarray(v) + 9)
