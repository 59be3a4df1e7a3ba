"""Kernels of the IR that every target writes, with data and what they give."""

from __future__ import annotations

import numpy as np

from indexing._core import Interval, constant, variable
from indexing.kernels.ir import nodes as ir
from ir_kernels import BL_X, NUMPY, TH_X, TH_Y, given, kernel, result
from sum_kernels import OWN, Case, argmax, column_sum, f32, group_sum_to_all, plus, row_sum, split_sum


def transpose() -> Case:
    """Tiles of 32 by 32 through shared memory, with a loop over four rows a thread on both sides of the barrier."""
    rows, columns = 70, 100
    tiles = 4
    tile_row, tile_column = BL_X // tiles, BL_X % tiles
    row, column = tile_row * 32 + variable(6) * 8 + TH_Y, tile_column * 32 + TH_X
    out_row, out_column = tile_column * 32 + variable(6) * 8 + TH_Y, tile_row * 32 + TH_X
    tile = ir.Buffer("tile", "f32", (32 * 33,), "shared")
    cell = (variable(6) * 8 + TH_Y) * 33 + TH_X
    other = TH_X * 33 + variable(6) * 8 + TH_Y
    body = (
        ir.For(6, constant(0), constant(4), 1, (
            ir.If((ir.Within(row, 0, rows - 1), ir.Within(column, 0, columns - 1)),
                  (ir.Store("tile", (cell,), ir.Load("f32", "p0", (row * columns + column,))),)),
        ), 4),
        ir.Barrier(),
        ir.For(6, constant(0), constant(4), 1, (
            ir.If((ir.Within(out_row, 0, columns - 1), ir.Within(out_column, 0, rows - 1)),
                  (ir.Store("o0", (out_row * rows + out_column,), ir.Load("f32", "tile", (other,))),)),
        )),
    )  # fmt: skip
    buffers = [given(0, "f32", rows * columns), result(0, "f32", rows * columns), tile]
    return Case(
        kernel(body, buffers, 3 * tiles, (32, 8, 1), step=("loop", 0, 3)),
        lambda rng: (rng.normal(size=rows * columns).astype(np.float32),),
        lambda x: (x.reshape(rows, columns).T.reshape(-1),),
    )


def histogram(kind: str, opcode: str, compute: str) -> Case:
    """o0[p0[i]] = combiner(o0[p0[i]], p1[i]); `opcode` for the target's own instruction."""
    count, bins = 5000, 7
    place = BL_X * 128 + TH_X
    own = "maximum" if opcode == "maximum" else "add"
    pair = tuple(ir.Ref(compute, n) for n in "ab")
    combiner = ir.Function("both", (), pair, (), (ir.Op(own, compute, pair),))
    value: ir.Value = ir.Load(NUMPY_STORED[kind], "p1", (place,))
    if kind == "bf16":
        value = ir.Op("decode", "f32", (value,), "bf16")
    body = (
        ir.If((ir.Within(place, 0, count - 1),), (
            ir.LetIndex(6, ir.Load("s32", "p0", (place,))),
            ir.AtomicUpdate("o0", (OWN,), "both", (value,), opcode if opcode != "swap" else ""),
        )),
    )  # fmt: skip
    buffers = [given(0, "s32", count), given(1, kind, count), result(0, kind, bins)]
    built = kernel(body, buffers, -(-count // 128), 128, [combiner], bin=("let", 0, bins - 1))

    def inputs(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        values = rng.integers(0, 2, count)
        stored = (values * 0x3F80).astype(np.uint16) if kind == "bf16" else values.astype(NUMPY[kind])
        return rng.integers(0, bins, count).astype(np.int32), stored

    def expected(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, ...]:
        if kind == "bf16":  # 256 + 1 is 256 in bf16
            sums = np.bincount(places, values != 0, bins)
            return ((np.minimum(sums, 256).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16),)
        out = np.zeros(bins, NUMPY[kind])
        (np.maximum if own == "maximum" else np.add).at(out, places, values)
        return (out,)

    return Case(built, inputs, expected)


NUMPY_STORED = {**{name: name for name in NUMPY}, "bf16": "u16"}
NUMPY["bf16"] = np.dtype(np.uint16)


def vectors() -> Case:
    """Four elements a thread by vector loads and stores, through local memory; a part of them in place."""
    count = 1024
    place = (BL_X * 64 + TH_X) * 4
    local = [ir.Buffer("x", "f32", (4,), "local"), ir.Buffer("y", "f32", (4,), "local")]
    body = (
        ir.Copy("x", constant(0), "p0", place, 4),
        ir.For(6, constant(0), constant(4), 1, (
            ir.Store("y", (OWN,), plus(ir.Load("f32", "x", (OWN,)), f32(1.5))),
        ), 4),
        ir.Copy("o0", place, "y", constant(0), 4),
    )  # fmt: skip
    buffers = [given(0, "f32", count), result(0, "f32", count, alias_of="p0"), *local]
    return Case(
        kernel(body, buffers, 4, 64, lane=("loop", 0, 3)),
        lambda rng: (rng.normal(size=count).astype(np.float32),),
        lambda x: (x + np.float32(1.5),),
    )


def table_and_function() -> Case:
    """A function of an index and a value that reads a buffer and a table of constants; results of two types."""
    count = 300
    i, k = variable(0), variable(1)
    function = ir.Function(
        "pick",
        (ir.IndexVariable("i", _interval(count), "parameter"),
         ir.IndexVariable("k", _interval(3), "let")),
        (ir.Ref("f32", "scale"),),
        (ir.LetIndex(1, i % 3),
         ir.Let("entry", ir.Op("decode", "f32", (ir.Load("u16", "table", (k,)),), "bf16"))),
        (ir.Op("mul", "f32", (ir.Op("mul", "f32", (ir.Load("f32", "p0", (i,)), ir.Ref("f32", "entry"))), ir.Ref("f32", "scale"))),
         ir.Op("lt", "pred", (ir.Load("f32", "p0", (i,)), f32(0.0)))),
        inline=False,
    )  # fmt: skip
    place = BL_X * 128 + TH_X
    body = (
        ir.If((ir.Within(place, 0, count - 1),), (
            ir.CallFunction(("value", "negative"), "pick", (place,), (f32(2.0),)),
            ir.Store("o0", (place,), ir.Ref("f32", "value")),
            ir.Store("o1", (place,), ir.Op("convert", "u8", (ir.Ref("pred", "negative"),))),
        )),
    )  # fmt: skip
    table = ir.Buffer("table", "bf16", (3,), "constant", data=(1.0, -0.5, 3.0))
    buffers = [given(0, "f32", count), result(0, "f32", count), result(1, "pred", count), table]
    entries = np.float32([1.0, -0.5, 3.0])
    return Case(
        kernel(body, buffers, 3, 128, [function]),
        lambda rng: (rng.normal(size=count).astype(np.float32),),
        lambda x: (x * entries[np.arange(count) % 3] * 2, (x < 0).astype(np.uint8)),
    )


def _interval(size: int) -> Interval:
    return Interval(0, size - 1)


def matmul() -> Case:
    """A column a thread: the loop over the shared dimension stands outside of the loop over threads."""
    m, k, n = 3, 50, 200
    place = BL_X * 128 + TH_X
    a = ir.Load("f32", "p0", (variable(7) * k + OWN,))
    b = ir.Load("f32", "p1", (OWN * n + place,))
    product = ir.Op("mul", "f32", (a, b))
    body = (
        ir.If((ir.Within(place, 0, n - 1),), (
            ir.For(7, constant(0), constant(m), 1, (
                ir.Var("sum", "f32", f32(0.0)),
                ir.For(6, constant(0), constant(k), 1, (ir.Assign("sum", plus(ir.Ref("f32", "sum"), product)),)),
                ir.Store("o0", (variable(7) * n + place,), ir.Ref("f32", "sum")),
            )),
        )),
    )  # fmt: skip
    buffers = [given(0, "f32", m * k), given(1, "f32", k * n), result(0, "f32", m * n)]
    return Case(
        kernel(body, buffers, 2, 128, k=("loop", 0, k - 1), m=("loop", 0, m - 1)),
        lambda rng: (rng.integers(-4, 4, m * k).astype(np.float32), rng.integers(-4, 4, k * n).astype(np.float32)),
        lambda a, b: ((a.reshape(m, k) @ b.reshape(k, n)).reshape(-1),),
    )


def branch_around_loops() -> Case:
    """Both sides of a condition of each thread's own have a loop over neighbouring elements; a value lives across."""
    count, steps = 256, 5
    place = TH_X
    wide = BL_X * count + place
    flag = ir.Op("gt", "pred", (ir.Load("f32", "p0", (wide,)), f32(0.0)))
    element = ir.Load("f32", "p1", (OWN * count + place,))
    body = (
        ir.Let("first", ir.Load("f32", "p0", (wide,))),
        ir.Var("sum", "f32", f32(0.0)),
        ir.If((flag,), (
            ir.For(6, constant(0), constant(steps), 1, (ir.Assign("sum", plus(ir.Ref("f32", "sum"), element)),)),
        ), (
            ir.For(6, constant(0), constant(steps), 1, (
                ir.Assign("sum", ir.Op("sub", "f32", (ir.Ref("f32", "sum"), element))),
            )),
        )),
        ir.Store("o0", (wide,), plus(ir.Ref("f32", "sum"), ir.Ref("f32", "first"))),
    )  # fmt: skip
    buffers = [given(0, "f32", 2 * count), given(1, "f32", steps * count), result(0, "f32", 2 * count)]

    def expected(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        sums = np.tile(y.reshape(steps, count).sum(0), 2)
        return (np.where(x > 0, sums, -sums) + x,)

    return Case(
        kernel(body, buffers, 2, count, step=("loop", 0, steps - 1)),
        lambda rng: (
            rng.integers(-4, 4, 2 * count).astype(np.float32),
            rng.integers(-4, 4, steps * count).astype(np.float32),
        ),
        expected,
    )


def early_exit() -> Case:
    """A loop with a break: how many elements stand before the first 0."""
    count, steps = 100, 9
    element = ir.Load("s32", "p0", (OWN * count + TH_X,))
    body = (
        ir.If((ir.Within(TH_X, 0, count - 1),), (
            ir.Var("before", "s32", ir.Constant("s32", 0)),
            ir.For(6, constant(0), constant(steps), 1, (
                ir.Break((ir.Op("eq", "pred", (element, ir.Constant("s32", 0))),)),
                ir.Assign("before", plus(ir.Ref("s32", "before"), ir.Constant("s32", 1))),
            )),
            ir.Store("o0", (TH_X,), ir.Ref("s32", "before")),
        )),
    )  # fmt: skip
    return Case(
        kernel(body, [given(0, "s32", steps * count), result(0, "s32", count)], 1, 128, step=("loop", 0, steps - 1)),
        lambda rng: (rng.integers(0, 4, steps * count).astype(np.int32),),
        lambda x: ((x.reshape(steps, count) != 0).cumprod(0).sum(0).astype(np.int32),),
    )


def columns_in_local_memory() -> Case:
    """Each thread adds up two columns in local memory, over a loop that stands outside of the loop over threads."""
    count, steps = 64, 10
    cell = variable(7)
    element = ir.Load("f32", "p0", (OWN * (2 * count) + cell * count + TH_X,))
    both = (constant(0), constant(2), 1)
    body = (
        ir.For(7, *both, (ir.Store("sums", (cell,), f32(0.0)),)),
        ir.For(6, constant(0), constant(steps), 1, (
            ir.For(7, *both, (ir.Store("sums", (cell,), plus(ir.Load("f32", "sums", (cell,)), element)),)),
        )),
        ir.For(7, *both, (ir.Store("o0", (cell * count + TH_X,), ir.Load("f32", "sums", (cell,))),)),
    )  # fmt: skip
    buffers = [
        given(0, "f32", steps * 2 * count),
        result(0, "f32", 2 * count),
        ir.Buffer("sums", "f32", (2,), "local"),
    ]
    return Case(
        kernel(body, buffers, 1, count, step=("loop", 0, steps - 1), cell=("loop", 0, 1)),
        lambda rng: (rng.integers(-4, 4, steps * 2 * count).astype(np.float32),),
        lambda x: (x.reshape(steps, 2 * count).sum(0),),
    )


def previous_in_local_memory() -> Case:
    """What a turn of a shared loop leaves in local memory, the next one finds there, in one parallel region."""
    count, steps = 64, 10
    element = ir.Load("f32", "p0", (OWN * count + TH_X,))
    body = (
        ir.For(6, constant(0), constant(steps), 1, (
            ir.If((ir.Within(OWN, 1, None),), (
                ir.Store("o0", (OWN * count + TH_X,), ir.Op("sub", "f32", (element, ir.Load("f32", "before", ())))),
            )),
            ir.Store("before", (), element),
        )),
    )  # fmt: skip
    buffers = [
        given(0, "f32", steps * count),
        result(0, "f32", steps * count),
        ir.Buffer("before", "f32", (), "local"),
    ]
    return Case(
        kernel(body, buffers, 1, count, step=("loop", 0, steps - 1)),
        lambda rng: (rng.integers(-4, 4, steps * count).astype(np.float32),),
        lambda x: (
            np.concatenate([np.zeros(count, np.float32), np.diff(x.reshape(steps, count), axis=0).reshape(-1)]),
        ),
    )


def middle() -> Case:
    """Threads from a place in the block up to another one: both ends of the loop over threads; a row of a block of rows."""
    count = 300
    place = BL_X * 128 + TH_X
    body = (
        ir.If((ir.Within(place, 37, 250),), (ir.Store("o0", (place,), ir.Load("f32", "p0", (place,))),)),
    )  # fmt: skip
    return Case(
        kernel(body, [given(0, "f32", count), result(0, "f32", count)], 3, 128),
        lambda rng: (rng.normal(size=count).astype(np.float32),),
        lambda x: (np.where((np.arange(count) >= 37) & (np.arange(count) <= 250), x, np.float32(0)),),
    )


def tickets() -> Case:
    """Pairs of blocks count together: the place of an atomic operation is a shift."""
    body = (
        ir.If((ir.Within(TH_X, 0, 0),), (
            ir.FetchAdd("mine", "o0", (BL_X // 2,), ir.Load("u32", "p0", (BL_X,))),
            ir.AtomicUpdate("o1", (BL_X // 2,), "both", (ir.Load("s32", "p1", (BL_X,)),), "add"),
        )),
    )  # fmt: skip
    pair = (ir.Ref("s32", "a"), ir.Ref("s32", "b"))
    combiner = ir.Function("both", (), pair, (), (ir.Op("add", "s32", pair),))
    buffers = [given(0, "u32", 8), given(1, "s32", 8), result(0, "u32", 4), result(1, "s32", 4)]
    return Case(
        kernel(body, buffers, 8, 32, [combiner]),
        lambda rng: (rng.integers(0, 9, 8).astype(np.uint32), rng.integers(-9, 9, 8).astype(np.int32)),
        lambda a, b: (a.reshape(4, 2).sum(1).astype(np.uint32), b.reshape(4, 2).sum(1).astype(np.int32)),
    )


CASES = {
    "columns_in_local_memory": columns_in_local_memory(),
    "previous_in_local_memory": previous_in_local_memory(),
    "middle": middle(),
    "tickets": tickets(),
    "row_sum_warp": row_sum(32, 37, 90, 128),
    "row_sum_block": row_sum(256, 5, 1000, 256),
    "row_sum_rows_a_warp": row_sum(8, 37, 8, 64),
    "column_sum": column_sum(),
    "argmax": argmax(),
    "transpose": transpose(),
    "atomic_s32": histogram("s32", "add", "s32"),
    "atomic_maximum_s32": histogram("s32", "maximum", "s32"),
    "atomic_f32": histogram("f32", "add", "f32"),
    "atomic_swap_f32": histogram("f32", "swap", "f32"),
    "atomic_swap_u8": histogram("u8", "swap", "u8"),
    "atomic_swap_bf16": histogram("bf16", "swap", "f32"),
    "atomic_swap_c64": histogram("c64", "swap", "c64"),
    "split_sum": split_sum(),
    **{f"to_all_{t}_{d}": group_sum_to_all(t, d) for t, d in ((4, 1), (32, 1), (64, 1), (256, 1), (8, 32), (2, 16))},
    "vectors": vectors(),
    "table_and_function": table_and_function(),
    "matmul": matmul(),
    "branch_around_loops": branch_around_loops(),
    "early_exit": early_exit(),
}
