"""The sort and merge emitters: types, comparators, stability, sizes, runs; and sorts in passes, planned for a GPU.

Expected values are numpy's stable orders, by keys that are stated here.
"""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.hlo.shape import Shape
from indexing.kernels import emit_fused
from indexing.kernels.kernel import Kernel
from indexing.planning.program import plan_program
from kernels import as_fusion, assert_written_once, check, compiled, launch, prove

BEFORE = {
    "total order": "ROOT r = pred[] compare(a0, b0), direction=LT, type=TOTALORDER",
    "less": "ROOT r = pred[] compare(a0, b0), direction=LT",
    "greater": "ROOT r = pred[] compare(a0, b0), direction=GT",
    "two keys": """l = pred[] compare(a0, b0), direction=LT
      e = pred[] compare(a0, b0), direction=EQ
      m = pred[] compare(a1, b1), direction=GT
      b = pred[] and(e, m)
      ROOT r = pred[] or(l, b)""",
    "second": "ROOT r = pred[] compare(a1, b1), direction=LT",
    "differs": "ROOT r = pred[] compare(a0, b0), direction=NE",
}
SIZES = [(3, 1), (5, 2), (3, 3), (40, 8), (7, 31), (2, 33), (2, 1000), (1, 1024), (3, 5, 7)]


def comparator(name: str, kinds: Sequence[str]) -> str:
    parameters = [
        f"{s}{k} = {kind}[] parameter({2 * k + n})" for k, kind in enumerate(kinds) for n, s in enumerate("ab")
    ]
    return "before {\n" + "\n".join([*parameters, BEFORE[name]]) + "\n}\n"


def sort(name: str, kinds: Sequence[str], sizes: Sequence[int], dimension: int | None = None) -> str:
    """A program that sorts one array for each of `kinds`, along the last dimension where none is given."""
    shapes = [f"{kind}[{','.join(map(str, sizes))}]" for kind in kinds]
    arrays = "\n".join(f"p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes))
    result = shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"
    names = ", ".join(f"p{k}" for k in range(len(kinds)))
    along = len(sizes) - 1 if dimension is None else dimension
    return f"""{comparator(name, kinds)}ENTRY e {{ {arrays}
      ROOT s = {result} sort({names}), dimensions={{{along}}}, is_stable=true, to_apply=before }}"""


def values(kind: str, sizes: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Numbers of which many are equal; of floats, some are zeros of both signs, infinite or NaN."""
    dtype = Shape.array(kind, ()).dtype
    if kind[0] != "f" and kind != "bf16":
        return rng.integers(0, 2 if kind == "pred" else 9, sizes).astype(dtype)
    odd = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1, 1, 1], sizes)
    return (odd * rng.integers(1, 6, sizes)).astype(dtype)


def total_order(x: np.ndarray) -> np.ndarray:
    """Integers in the order of floats with their signs: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    bits = x.view(f"i{x.dtype.itemsize}").astype(np.int64)
    return np.where(bits < 0, (1 << (8 * x.dtype.itemsize - 1)) - 1 ^ bits, bits)


def results(text: str, arrays: Sequence[np.ndarray], **knobs: int) -> list[np.ndarray]:
    fusion = as_fusion(text)
    prove(ix.emit(fusion, dialect="cuda", **knobs))
    return launch(ix.emit(fusion, dialect="c", **knobs), list(arrays), list(fusion.shape.leaves))


def same(got: np.ndarray, want: np.ndarray) -> None:
    """The same bits."""
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.ascontiguousarray(got).view(np.uint8), np.ascontiguousarray(want).view(np.uint8))


@pytest.mark.parametrize("sizes", SIZES)
def test_sizes(sizes: tuple[int, ...]) -> None:
    kernel = check(sort("less", ["s32"], sizes), "sort")
    assert_written_once(kernel, [Shape.array("s32", sizes)])
    assert not kernel.verify().open


@pytest.mark.parametrize("kind", ["f32", "bf16", "f16", "f64"])
def test_floats_in_their_total_order(kind: str) -> None:
    x = values(kind, (5, 77), np.random.default_rng(1))
    (got,) = results(sort("total order", [kind], x.shape), [x])
    same(got, np.take_along_axis(x, np.argsort(total_order(x), axis=1, kind="stable"), axis=1))


@pytest.mark.parametrize("kind", ["u8", "s8", "pred", "s16", "u32", "s64", "u64", "s4"])
@pytest.mark.parametrize("name", ["less", "greater"])
def test_integers_both_ways(kind: str, name: str) -> None:
    x = np.random.default_rng(2).integers(0, 2 if kind == "pred" else 7, (3, 130)).astype(Shape.array(kind, ()).dtype)
    (got,) = results(sort(name, [kind], x.shape), [x])
    want = np.sort(x.astype(np.int64), axis=1)
    np.testing.assert_array_equal(got.astype(np.int64), want if name == "less" else want[:, ::-1])


@pytest.mark.parametrize("name", ["less", "greater"])
@pytest.mark.parametrize("others", [["s32"], ["u8", "bf16"], ["f64"], ["c64", "pred", "s4"]], ids=str)
def test_equal_elements_stay_in_order(name: str, others: list[str]) -> None:
    """Operands that are not compared come along: small ones are moved, else they are read by the order."""
    rng, sizes = np.random.default_rng(3), (4, 100)
    x = rng.integers(-3, 4, sizes).astype(np.int32)
    arrays = [x, *(rng.integers(0, 7, sizes).astype(Shape.array(kind, ()).dtype) for kind in others)]
    order = np.argsort(x if name == "less" else -x, axis=1, kind="stable")
    got = results(sort(name, ["s32", *others], sizes), arrays)
    for one, array in zip(got, arrays, strict=True):
        same(one, np.take_along_axis(array, order, axis=1))


def test_two_keys_and_the_second_of_two() -> None:
    rng, sizes = np.random.default_rng(4), (3, 200)
    a, b = rng.integers(0, 4, sizes).astype(np.int8), rng.integers(0, 90, sizes).astype(np.float32)
    for name, order in {"two keys": np.lexsort((-b, a)), "second": np.argsort(b, axis=1, kind="stable")}.items():
        got = results(sort(name, ["s8", "f32"], sizes), [a, b])
        for one, array in zip(got, (a, b), strict=True):
            same(one, np.take_along_axis(array, order, axis=1))


@pytest.mark.parametrize("dimension", [0, 1])
def test_other_dimensions(dimension: int) -> None:
    x = np.random.default_rng(5).permutation(3 * 70 * 2).reshape(3, 70, 2).astype(np.int32)
    (got,) = results(sort("greater", ["s32"], x.shape, dimension), [x])
    same(got, -np.sort(-x, axis=dimension))


@pytest.mark.parametrize("size", [31, 1000])
def test_a_comparator_without_an_order_ends(size: int) -> None:
    """Nothing is known of the order then, but that elements are those of the row."""
    x = np.random.default_rng(6).integers(0, 50, (3, size)).astype(np.int32)
    (got,) = results(sort("differs", ["s32"], x.shape), [x])
    assert all(set(row) <= set(own) for row, own in zip(got, x, strict=True))


@pytest.mark.parametrize("elements", [1, 2, 4, 16])
@pytest.mark.parametrize("rows", [1, 4])
def test_knobs(elements: int, rows: int) -> None:
    kernel = check(sort("total order", ["f32", "s32"], (9, 45)), "sort", elements=elements, rows=rows)
    assert kernel.block == (rows * -(-45 // elements), 1, 1)
    assert kernel.shared_bytes == kernel.block[0] * elements * 8


# ---------------------------------------------------------------- passes


def runs(size: int, before: int, length: int, kinds: Sequence[str] = ("s32", "f32")) -> str:
    shapes = [f"{kind}[2,{size}]" for kind in kinds]
    arrays = "\n".join(f"p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes))
    config = f'{{"sorted":{before},"length":{length}}}'
    return f"""{comparator("less", kinds)}ENTRY e {{ {arrays}
      ROOT s = ({", ".join(shapes)}) custom-call(p0, p1), custom_call_target="__indexing$sort_runs", to_apply=before,
        backend_config={config} }}"""


def in_runs(x: np.ndarray, length: int) -> np.ndarray:
    """The order that sorts each run of so many elements."""
    starts = range(0, x.shape[1], length)
    return np.concatenate([s + np.argsort(x[:, s : s + length], axis=1, kind="stable") for s in starts], axis=1)


@pytest.mark.parametrize("size", [64, 100, 113, 129, 300])
def test_runs_are_sorted_then_merged(size: int) -> None:
    x = np.random.default_rng(size).integers(0, 40, (2, size)).astype(np.int32)
    y = np.arange(2 * size).reshape(2, size).astype(np.float32)
    first = results(runs(size, 1, 32), [x, y])
    second = results(runs(size, 32, 64), first)
    for got, length in ((first, 32), (second, 64)):
        order = in_runs(x, length)
        for one, array in zip(got, (x, y), strict=True):
            same(one, np.take_along_axis(array, order, axis=1))


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_knobs_of_a_merge(width: int) -> None:
    x = np.sort(np.random.default_rng(0).integers(0, 40, (2, 5, 16)), axis=2).reshape(2, 80).astype(np.int32)
    y = np.arange(160).reshape(2, 80).astype(np.float32)
    got = results(runs(80, 16, 32), [x, y], vector_width=width, block_size=33)
    same(got[1], np.take_along_axis(y, in_runs(x, 32), axis=1))


@pytest.mark.parametrize(("before", "length"), [(0, 4), (4, 4), (4, 12), (1, 0), (-1, 2)])
def test_a_call_that_is_no_pass_has_no_meaning(before: int, length: int) -> None:
    module = ix.hlo.parse(runs(64, before, length))
    with pytest.raises(ix.UnsupportedOp, match="sort_runs"):
        ix.evaluate(module, np.zeros((2, 64), np.int32), np.zeros((2, 64), np.float32))
    with pytest.raises(ix.UnsupportedOp):
        ix.emit(module)


# ---------------------------------------------------------------- plans for GPUs


def planned(
    text: str, arrays: Sequence[np.ndarray], shared_bytes: int = 48 << 10
) -> tuple[list[Kernel], list[np.ndarray]]:
    """The kernels that a GPU with so much shared memory would run, and what they compute in C."""
    entry = ix.hlo.parse(text).entry
    plan = plan_program(entry, portable_device("cuda").with_limits(shared_bytes=shared_bytes))[entry]
    known = {ref: a for node, a in zip(plan.graph.parameters, arrays, strict=True) for ref in node.arrays}
    kernels = []
    for node in plan.graph.nodes:
        if node in plan.views:
            known[node.arrays[0]] = known[plan.views[node]].reshape(node.arrays[0].shape.dimensions)
        if node in plan.kernels:
            part = plan.kernels[node]
            kernels.append(part.kernel)
            own = emit_fused(part.computation, portable_device("c"))
            inputs = [known[ref] for ref in part.inputs]
            known |= dict(zip(part.outputs, launch(own, inputs, list(part.computation.root.shape.leaves)), strict=True))
    for kernel in kernels:
        prove(kernel)
        assert not kernel.verify().open
    results = plan.graph.result if isinstance(plan.graph.result, tuple) else (plan.graph.result,)
    return kernels, [known[ref] for ref in results]


@pytest.mark.parametrize("size", [1024, 1500, 1601])
@pytest.mark.parametrize("others", [[], ["f32"], ["f64", "u8"]], ids=str)
def test_long_rows_are_sorted_in_passes(size: int, others: list[str]) -> None:
    rng, sizes = np.random.default_rng(size), (2, size)
    x = rng.integers(0, 300, sizes).astype(np.int32)
    arrays = [x, *(rng.integers(0, 99, sizes).astype(Shape.array(kind, ()).dtype) for kind in others)]
    kernels, got = planned(sort("greater", ["s32", *others], sizes), arrays, 2048)
    order = np.argsort(-x, axis=1, kind="stable")
    for one, array in zip(got, arrays, strict=True):
        same(one, np.take_along_axis(array, order, axis=1))
    emitters = [k.emitter for k in kernels]
    assert emitters[0] == "sort" and set(emitters[1:]) <= {"merge", "loop"} and "merge" in emitters


@pytest.mark.parametrize(("columns", "emitters"), [(64, ["sort"]), (2500, ["transpose", "sort", "transpose"])])
def test_dimensions_that_are_not_adjacent_in_memory_are_transposed(columns: int, emitters: list[str]) -> None:
    """But where two launches take longer than elements that are moved one by one."""
    x = np.random.default_rng(8).integers(0, 99, (100, columns)).astype(np.float32)
    kernels, (got,) = planned(sort("less", ["f32"], x.shape, 0), [x])
    same(got, np.sort(x, axis=0))
    assert [k.emitter for k in kernels] == emitters


@pytest.mark.parametrize("sizes", [(100, 64), (3, 4, 50)])
def test_last_dimensions_that_are_not_adjacent_in_memory_are_copied(sizes: tuple[int, ...]) -> None:
    x = np.random.default_rng(9).integers(0, 99, sizes).astype(np.float32)
    backwards = f"{{{','.join(map(str, range(len(sizes))))}}}"
    text = sort("less", ["f32"], sizes).replace("] parameter(0)\n ", f"]{backwards} parameter(0)\n ")
    kernels, (got,) = planned(text, [x])
    same(got, np.sort(x, axis=-1))
    assert [k.emitter for k in kernels].count("sort") == 1


@pytest.mark.parametrize("first", ["{1,0}", "{0,1}"])
def test_each_operand_of_a_sort_may_have_another_layout(first: str) -> None:
    rng, sizes = np.random.default_rng(11), (3, 200)
    arrays = [rng.permutation(600).reshape(sizes).astype(np.float32), rng.integers(0, 99, sizes).astype(np.int32)]
    text = sort("less", ["f32", "s32"], sizes).replace("200] parameter(0)", f"200]{first} parameter(0)")
    text = text.replace("200] parameter(1)", "200]{0,1} parameter(1)")
    order = np.argsort(arrays[0], axis=1)
    for got in (planned(text, arrays)[1], compiled(text, "cpu")(*arrays)):
        for one, array in zip(got, arrays, strict=True):
            same(one, np.take_along_axis(array, order, axis=1))


def test_top_elements_of_rows_that_are_not_adjacent_in_memory() -> None:
    x = np.random.default_rng(10).permutation(3 * 700).reshape(3, 700).astype(np.float32)
    text = "ENTRY e { x = f32[3,700]{0,1} parameter(0) ROOT t = (f32[3,300], s32[3,300]) topk(x), k=300, largest=true }"
    _, (best, places) = planned(text, [x])
    order = np.argsort(-x, axis=1)[:, :300]
    same(places, order.astype(np.int32))
    same(best, np.take_along_axis(x, order, axis=1))


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize(("size", "count"), [(40, 17), (3000, 20), (2999, 64), (700, 300)])
def test_many_top_elements(size: int, count: int, largest: str) -> None:
    """Of equal elements, the first; NaN is larger than infinity, -0 smaller than 0."""
    x = values("f32", (3, size), np.random.default_rng(size))
    text = f"""ENTRY e {{ x = f32[3,{size}] parameter(0)
      ROOT t = (f32[3,{count}], s32[3,{count}]) topk(x), k={count}, largest={largest} }}"""
    _, (best, places) = planned(text, [x], 2048)
    keys = total_order(x)
    order = np.argsort(-keys if largest == "true" else keys, axis=1, kind="stable")[:, :count]
    same(places, order.astype(np.int32))
    same(best, np.take_along_axis(x, order, axis=1))


def test_what_belongs_to_a_sort_alone_joins_it() -> None:
    text = f"""{comparator("less", ["f32", "s32"])}ENTRY e {{ x = f32[4,50] parameter(0)
      n = f32[4,50] negate(x)
      i = s32[4,50] iota(), iota_dimension=1
      s = (f32[4,50], s32[4,50]) sort(n, i), dimensions={{1}}, is_stable=true, to_apply=before
      ROOT o = s32[4,50] get-tuple-element(s), index=1 }}"""
    x = np.random.default_rng(9).integers(0, 20, (4, 50)).astype(np.float32)
    kernels, (got,) = planned(text, [x])
    same(got, np.argsort(-x, axis=1, kind="stable").astype(np.int32))
    (kernel,) = kernels
    assert kernel.emitter == "sort" and len(kernel.inputs) == 1 and len(kernel.outputs) == 1


def test_elementwise_readers_of_a_sort_join_it() -> None:
    text = f"""{comparator("less", ["f32"])}ENTRY e {{ x = f32[4,50] parameter(0)
      y = f32[4,50] parameter(1)
      s = f32[4,50] sort(x), dimensions={{1}}, to_apply=before
      n = f32[4,50] negate(s)
      ROOT a = f32[4,50] add(n, y) }}"""
    x, y = np.random.default_rng(9).integers(0, 20, (2, 4, 50)).astype(np.float32)
    kernels, (got,) = planned(text, [x, y])
    same(got, y - np.sort(x, axis=1))
    assert [k.emitter for k in kernels] == ["sort"]


@pytest.mark.parametrize("sizes, dimension", [((4, 50), 1), ((2000, 64), 1), ((2, 1 << 11), 1), ((50, 4), 0)])
def test_cpus_sort_few_elements_and_short_rows(sizes: tuple[int, int], dimension: int) -> None:
    run = compiled(sort("less", ["f32"], sizes, dimension), device="cpu")
    assert "sort" in {k.emitter for k in run.kernels} and not run.reference_steps
    x = np.random.default_rng(3).integers(0, 99, sizes).astype(np.float32)
    np.testing.assert_array_equal(run(x), np.sort(x, dimension))


@pytest.mark.parametrize("sizes", [(500, 65), (2, (1 << 11) + 1)])
def test_cpus_leave_many_long_rows_to_numpy(sizes: tuple[int, int]) -> None:
    run = compiled(sort("less", ["f32"], sizes), device="cpu")
    assert run.reference_steps and not run.kernels


def test_narrow_floats_are_moved_as_their_bits() -> None:
    """A NaN keeps its payload."""
    bits = np.array([[0x7FC1, 0x3F80, 0x7FC2, 0x0000]], np.uint16)
    (got,) = results(sort("total order", ["bf16"], (1, 4)), [bits.view(ml_dtypes.bfloat16)])
    np.testing.assert_array_equal(got.view(np.uint16), [[0x0000, 0x3F80, 0x7FC1, 0x7FC2]])


def emitters_of_topk(rows: int, size: int, count: int, device: str) -> set[str]:
    """The emitters that compute the greatest elements of long rows."""
    text = f"(f32[{rows},{count}], s32[{rows},{count}]) topk(x), k={count}, largest=true"
    module = ix.hlo.parse(f"ENTRY e {{ x = f32[{rows},{size}] parameter(0) ROOT t = {text} }}")
    return {kernel.emitter for kernel in ix.emit_all(module, device=device)}


@pytest.mark.parametrize(("rows", "size"), [(64, 4096), (64, 32768), (4096, 1024)])
def test_the_greatest_elements_are_sorted_or_found_one_by_one_whichever_takes_less(rows: int, size: int) -> None:
    """One by one, each takes a pass over its row: few are found so, sixteen are not. CPUs sort no long rows."""
    assert "sort" not in emitters_of_topk(rows, size, 1, "h100")
    assert "sort" in emitters_of_topk(rows, size, 16, "h100")
    assert "sort" not in emitters_of_topk(rows, size, 16, "cpu")
