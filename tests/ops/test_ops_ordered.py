"""sort, topk and scan: rows and prefixes by perturbation, references against Python's sort and loops."""

import numpy as np
import pytest

from indexing.ops.registry import REGISTRY
from reached import check, program, root_of, run

LESS = "less {\n  a = f64[] parameter(0)\n  b = f64[] parameter(1)\n  ROOT l = pred[] compare(a, b), direction=LT\n}\n"
BY_KEY = """by_key {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  x = f64[] parameter(2)
  y = f64[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=GT
}
"""
# the total order that JAX asks for: -0 equals 0, NaN is largest
TOTAL = """total {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  zero = f32[] constant(0)
  nan = f32[] constant(nan)
  a_zero = pred[] compare(a, zero), direction=EQ
  b_zero = pred[] compare(b, zero), direction=EQ
  a_nan = pred[] compare(a, a), direction=NE
  b_nan = pred[] compare(b, b), direction=NE
  a1 = f32[] select(a_zero, zero, a)
  b1 = f32[] select(b_zero, zero, b)
  a2 = f32[] select(a_nan, nan, a1)
  b2 = f32[] select(b_nan, nan, b1)
  ROOT l = pred[] compare(a2, b2), direction=LT, type=TOTALORDER
}
"""
SUM = """sum {
  x = f64[] parameter(0)
  c = f64[] parameter(1)
  s = f64[] add(x, c)
  ROOT r = (f64[], f64[]) tuple(s, s)
}
"""
BEFORE = """before {
  x = f64[] parameter(0)
  c = f64[] parameter(1)
  s = f64[] add(x, c)
  ROOT r = (f64[], f64[]) tuple(c, s)
}
"""
APART = """apart {
  x = f64[] parameter(0)
  c = f64[] parameter(1)
  d = f64[] multiply(x, x)
  ROOT r = (f64[], f64[]) tuple(d, c)
}
"""
LATEST = """latest {
  x = f64[] parameter(0)
  c = f64[] parameter(1)
  ROOT r = (f64[], f64[]) tuple(c, x)
}
"""
EXCHANGED = """exchanged {
  x = f64[] parameter(0)
  y = f64[] parameter(1)
  a = f64[] parameter(2)
  b = f64[] parameter(3)
  s = f64[] add(a, x)
  t = f64[] add(b, y)
  ROOT r = (f64[], f64[], f64[], f64[]) tuple(b, a, s, t)
}"""
TWO = """two {
  x = f64[] parameter(0)
  y = f64[] parameter(1)
  c = f64[] parameter(2)
  s = f64[] add(x, c)
  d = f64[] multiply(y, y)
  ROOT r = (f64[], f64[], f64[]) tuple(s, d, s)
}
"""
SLICES = """slices {
  x = f64[2] parameter(0)
  c = f64[2] parameter(1)
  s = f64[2] add(x, c)
  ROOT r = (f64[2], f64[2]) tuple(s, s)
}
"""


def dims(values):
    return "[" + ",".join(map(str, values)) + "]"


@pytest.mark.parametrize("seed", range(6))
def test_sort_one_array(seed):
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(0 if seed == 2 else 1, 9, rng.integers(1, 4))]
    d = int(rng.integers(0, len(shape)))
    values = [rng.permutation(int(np.prod(shape))).astype(float).reshape(shape)]
    text = program(
        f"f64{dims(shape)} sort(p0), dimensions={{{d}}}, is_stable=true, to_apply=less",
        f"f64{dims(shape)}",
        computations=LESS,
    )
    (out,) = run(root_of(text), values)
    np.testing.assert_array_equal(out, np.sort(values[0], axis=d))
    if values[0].size <= 40:
        check(text, values, operands=[0], only_bounds=[0], change=lambda v: v + 7.5)


def test_sort_is_stable_and_carries_other_arrays_along():
    rng = np.random.default_rng(0)
    keys, payload = rng.integers(0, 3, (2, 40)).astype(np.int32), np.arange(80.0).reshape(2, 40)
    text = program(
        "(s32[2,40], f64[2,40]) sort(p0, p1), dimensions={1}, is_stable=true, to_apply=by_key",
        "s32[2,40]",
        "f64[2,40]",
        computations=BY_KEY,
    )
    ordered, carried = run(root_of(text), [keys, payload])
    order = np.argsort(-keys, axis=1, kind="stable")
    np.testing.assert_array_equal(ordered, np.take_along_axis(keys, order, 1))
    np.testing.assert_array_equal(carried, np.take_along_axis(payload, order, 1))
    by_key = REGISTRY["sort"].output_to_input(root_of(text), 0)
    assert len(by_key[0]) == 1
    assert by_key[1] == []  # the comparator doesn't look at what is carried along
    assert all(len(maps) == 1 for maps in REGISTRY["sort"].output_to_input(root_of(text), 1))


@pytest.mark.parametrize("compared", ["a1, b0", "a0, b1"])
def test_sort_reads_an_operand_of_which_its_comparator_looks_at_one_side(compared):
    compare = f"""mixed {{
  a0 = s32[] parameter(0)
  b0 = s32[] parameter(1)
  a1 = s32[] parameter(2)
  b1 = s32[] parameter(3)
  ROOT r = pred[] compare({compared}), direction=LT
}}
"""
    line = "(s32[4], s32[4]) sort(p0, p1), dimensions={0}, to_apply=mixed"
    root = root_of(program(line, "s32[4]", "s32[4]", computations=compare))
    for output in range(2):
        assert [len(maps) for maps in REGISTRY["sort"].output_to_input(root, output)] == [1, 1]


def test_sort_by_the_total_order_with_signed_zeros_and_nan():
    values = np.array([np.nan, 0.0, -0.0, np.inf, -1, -np.inf, 0.0, -np.nan, 2], np.float32)
    text = program("f32[9] sort(p0), dimensions={0}, is_stable=true, to_apply=total", "f32[9]", computations=TOTAL)
    (out,) = run(root_of(text), [values])
    np.testing.assert_array_equal(out, [-np.inf, -1, 0, 0, 0, 2, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(np.signbit(out[2:5]), [False, True, False])


def test_sort_of_thousands_of_elements():
    values = np.random.default_rng(0).integers(0, 1000, (3, 5000)).astype(float)
    text = program("f64[3,5000] sort(p0), dimensions={1}, to_apply=less", "f64[3,5000]", computations=LESS)
    (out,) = run(root_of(text), [values])
    np.testing.assert_array_equal(out, np.sort(values, axis=1))


@pytest.mark.parametrize("largest", ["true", "false"])
def test_topk(largest):
    values = np.array([[3, 1, np.nan, 3, -np.inf], [-0.0, 0.0, 5, 5, 1]], np.float32)
    text = program(f"(f32[2,3], s32[2,3]) topk(p0), k=3, largest={largest}", "f32[2,5]")
    best, at = run(root_of(text), [values])
    want = [[2, 0, 3], [2, 3, 4]] if largest == "true" else [[4, 1, 0], [0, 1, 4]]
    np.testing.assert_array_equal(at, want)
    np.testing.assert_array_equal(best, np.take_along_axis(values, np.array(want), 1))
    check(text, [values], operands=[0], only_bounds=[0], change=lambda v: np.float32(9) - v)


def test_topk_of_one_row_and_of_rows_of_rows():
    """Rows are along the last dimension, however many there are before it."""
    for shape in ([5], [2, 3, 4]):
        values = np.random.default_rng(0).permutation(int(np.prod(shape))).astype(np.float32).reshape(shape)
        out = dims([*shape[:-1], 2])
        text = program(f"(f32{out}, s32{out}) topk(p0), k=2, largest=true", f"f32{dims(shape)}")
        best, at = run(root_of(text), [values])
        np.testing.assert_array_equal(at, np.argsort(-values, axis=-1)[..., :2])
        np.testing.assert_array_equal(best, np.sort(values, axis=-1)[..., ::-1][..., :2])
        check(text, [values], operands=[0], only_bounds=[0], change=lambda v: np.float32(99) - v)


@pytest.mark.parametrize("function", ["sum", "before", "apart"])
@pytest.mark.parametrize("backward", [False, True])
def test_scan(function, backward):
    rng = np.random.default_rng(0)
    shape, d = [2, 5, 3], 1
    computation = {"sum": SUM, "before": BEFORE, "apart": APART}[function]
    text = program(
        f"(f64{dims(shape)}, f64[2,3]) scan(p0, p1), dimensions={{{d}}}, num_carries=1, "
        f"is_reverse={str(backward).lower()}, to_apply={function}",
        f"f64{dims(shape)}",
        "f64[2,3]",
        computations=computation,
    )
    values = [rng.uniform(1, 2, shape), rng.uniform(1, 2, (2, 3))]
    out, last = run(root_of(text), values)
    turned = values[0][:, ::-1] if backward else values[0]
    sums = np.cumsum(np.concatenate([values[1][:, None], turned], axis=1), axis=1)
    want = {"sum": sums[:, 1:], "before": sums[:, :-1], "apart": turned**2}[function]
    np.testing.assert_allclose(out, want[:, ::-1] if backward else want)
    np.testing.assert_allclose(last, values[1] if function == "apart" else sums[:, -1])
    check(text, values, operands=[0, 1])


def test_arrays_that_a_scan_keeps_apart_reach_their_own_result_alone():
    text = program(
        "(f64[4], f64[4], f64[]) scan(p0, p1, p2), dimensions={0}, num_carries=1, to_apply=two",
        "f64[4]",
        "f64[4]",
        "f64[]",
        computations=TWO,
    )
    values = [np.array([1.0, 2, 4, 8]), np.array([3.0, 5, 7, 9]), np.array(0.5)]
    sums, squares, last = run(root_of(text), values)
    np.testing.assert_allclose(sums, np.cumsum(values[0]) + 0.5)
    np.testing.assert_allclose(squares, values[1] ** 2)
    np.testing.assert_allclose(last, 15.5)
    root = check(text, values, operands=range(3))
    assert ["no use" in m.reason for (m,) in REGISTRY["scan"].output_to_input(root, 1)] == [True, False, True]


def test_results_of_a_scan_read_what_their_own_state_has_read():
    line = "(f64[4], f64[4], f64[], f64[]) scan(p0, p1, p2, p3), dimensions={0}, num_carries=2, to_apply=exchanged"
    text = program(line, *["f64[4]", "f64[4]", "f64[]", "f64[]"], computations=EXCHANGED)
    values = [np.array([1.0, 2, 4, 8]), np.array([3.0, 5, 7, 9]), np.array(0.5), np.array(0.25)]
    before_y, before_x, x, y = run(root_of(text), values)
    np.testing.assert_allclose(before_y, np.cumsum(values[1]) - values[1] + 0.25)
    np.testing.assert_allclose(before_x, np.cumsum(values[0]) - values[0] + 0.5)
    np.testing.assert_allclose((x, y), (15.5, 24.25))
    check(text, values, operands=range(4))


def test_scan_over_slices():
    text = program(
        "(f64[4,2], f64[2]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=slices",
        "f64[4,2]",
        "f64[2]",
        computations=SLICES,
    )
    values = [np.arange(8.0).reshape(4, 2), np.ones(2)]
    out, last = run(root_of(text), values)
    np.testing.assert_array_equal(out, np.cumsum(values[0], axis=0) + 1)
    np.testing.assert_array_equal(last, values[0].sum(axis=0) + 1)
    root = check(text, values, operands=[0, 1])
    assert all("slices" in m.reason for (m,) in REGISTRY["scan"].output_to_input(root, 0))


@pytest.mark.parametrize(("function", "computation"), [("sum", SUM), ("latest", LATEST)])
def test_scan_of_nothing_gives_the_initial_state(function, computation):
    """Also where a step forgets the state before it."""
    text = program(
        f"(f64[0,2], f64[2]) scan(p0, p1), dimensions={{0}}, num_carries=1, to_apply={function}",
        "f64[0,2]",
        "f64[2]",
        computations=computation,
    )
    values = [np.zeros((0, 2)), np.array([3.0, 4.0])]
    out, last = run(root_of(text), values)
    assert out.shape == (0, 2)
    np.testing.assert_array_equal(last, values[1])
    check(text, values, operands=[1])


@pytest.mark.parametrize("cast", ["bitcast", "bitcast-convert"])
def test_sort_by_the_bits_of_floats(cast):
    bits = f"""bits {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  x = s32[] {cast}(a)
  y = s32[] {cast}(b)
  ROOT l = pred[] compare(x, y), direction=LT
}}
"""
    values = np.array([1, -1, -2, 3, 0.5], np.float32)
    text = program("f32[5] sort(p0), dimensions={0}, to_apply=bits", "f32[5]", computations=bits)
    (out,) = run(root_of(text), [values])
    np.testing.assert_array_equal(out, values[np.argsort(values.view(np.int32), kind="stable")])
