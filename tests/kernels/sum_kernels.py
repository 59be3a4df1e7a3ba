"""Kernels of the IR that add up and choose among what several threads have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from indexing._core import constant, variable
from indexing.kernels.ir import nodes as ir
from ir_kernels import BL_X, TH_X, given, kernel, result

OWN = variable(6)  # the first variable of an entry behind the ids
ADD = ir.Function(
    "add",
    (),
    (ir.Ref("f32", "a"), ir.Ref("f32", "b")),
    (),
    (ir.Op("add", "f32", (ir.Ref("f32", "a"), ir.Ref("f32", "b"))),),
)
LATER = ir.Function(  # the pair with the larger value, of equal ones the first
    "later",
    (),
    tuple(ir.Ref(t, n) for t, n in (("f32", "a"), ("s32", "i"), ("f32", "b"), ("s32", "j"))),
    (ir.Let("first", ir.Op("ge", "pred", (ir.Ref("f32", "a"), ir.Ref("f32", "b")))),),
    (
        ir.Op("select", "f32", (ir.Ref("pred", "first"), ir.Ref("f32", "a"), ir.Ref("f32", "b"))),
        ir.Op("select", "s32", (ir.Ref("pred", "first"), ir.Ref("s32", "i"), ir.Ref("s32", "j"))),
    ),
)


def f32(value: float) -> ir.Constant:
    return ir.Constant("f32", value)


def plus(a: ir.Value, b: ir.Value) -> ir.Op:
    return ir.Op("add", a.type, (a, b))


@dataclass(frozen=True)
class Case:
    """A kernel, data for it by seed, and what a launch leaves."""

    kernel: ir.Kernel
    inputs: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    expected: Callable[..., tuple[np.ndarray, ...]]
    shuffles: bool = False


def row_sum(threads: int, rows: int, columns: int, block: int) -> Case:
    """`block // threads` rows a block, `threads` threads a row; the last rows of the last block are missing."""
    across = block // threads
    row = BL_X * across + TH_X // threads
    inside = ir.Within(row, 0, rows - 1)
    load = ir.Load("f32", "p0", (row * columns + variable(6),))
    body = (
        ir.Var("sum", "f32", f32(0.0)),
        ir.If(
            (inside,),
            (
                ir.For(7, constant(0), constant(-(-columns // threads)), 1, (
                    ir.LetIndex(6, TH_X % threads + variable(7) * threads),
                    ir.If((ir.Within(variable(6), 0, columns - 1),), (ir.Assign("sum", plus(ir.Ref("f32", "sum"), load)),)),
                )),
            ),
        ),
        ir.GroupReduce(("sum",), ("f32",), "add", threads, 1),
        ir.If((inside, ir.Within(TH_X % threads, 0, 0)), (ir.Store("o0", (row,), ir.Ref("f32", "sum")),)),
    )  # fmt: skip
    steps = -(-columns // threads)
    built = kernel(
        body, [given(0, "f32", rows * columns), result(0, "f32", rows)], -(-rows // across), block, [ADD],
        column=("let", 0, steps * threads - 1), step=("loop", 0, steps - 1),
    )  # fmt: skip
    return Case(
        built,
        lambda rng: (rng.integers(-8, 8, rows * columns).astype(np.float32),),
        lambda x: (x.reshape(rows, columns).sum(1),),
    )


def column_sum() -> Case:
    """32 columns a block, 8 threads a column, 32 threads apart."""
    rows, columns, group = 100, 70, 8
    column = BL_X * 32 + TH_X % 32
    row = variable(6) * group + TH_X // 32
    load = ir.Load("f32", "p0", (row * columns + column,))
    inside = (ir.Within(column, 0, columns - 1), ir.Within(row, 0, rows - 1))
    body = (
        ir.Var("sum", "f32", f32(0.0)),
        ir.For(
            6, constant(0), constant(13), 1, (ir.If(inside, (ir.Assign("sum", plus(ir.Ref("f32", "sum"), load)),)),)
        ),
        ir.GroupReduce(("sum",), ("f32",), "add", group, 32),
        ir.If((ir.Within(TH_X // 32, 0, 0), inside[0]), (ir.Store("o0", (column,), ir.Ref("f32", "sum")),)),
    )
    built = kernel(
        body, [given(0, "f32", rows * columns), result(0, "f32", columns)], 3, 256, [ADD], step=("loop", 0, 12)
    )
    return Case(
        built,
        lambda rng: (rng.integers(-8, 8, rows * columns).astype(np.float32),),
        lambda x: (x.reshape(rows, columns).sum(0),),
    )


def argmax() -> Case:
    """One row a block; a value and its place are combined together."""
    rows, columns = 5, 256
    body = (
        ir.Var("top", "f32", ir.Load("f32", "p0", (BL_X * columns + TH_X,))),
        ir.Var("place", "s32", ir.IndexValue(TH_X, "s32")),
        ir.GroupReduce(("top", "place"), ("f32", "s32"), "later", columns, 1),
        ir.If((ir.Within(TH_X, 0, 0),), (
            ir.Store("o0", (BL_X,), ir.Ref("f32", "top")),
            ir.Store("o1", (BL_X,), ir.Ref("s32", "place")),
        )),
    )  # fmt: skip
    buffers = [given(0, "f32", rows * columns), result(0, "f32", rows), result(1, "s32", rows)]
    return Case(
        kernel(body, buffers, rows, columns, [LATER]),
        lambda rng: (rng.permutation(rows * columns).astype(np.float32),),
        lambda x: (x.reshape(rows, columns).max(1), x.reshape(rows, columns).argmax(1).astype(np.int32)),
    )


def group_sum_to_all(threads: int, distance: int) -> Case:
    """Every thread has the sum of its group, and the greatest part of it besides."""
    block = 256
    body = (
        ir.Var("sum", "f32", ir.Load("f32", "p0", (BL_X * block + TH_X,))),
        ir.Var("top", "f32", ir.Load("f32", "p0", (BL_X * block + TH_X,))),
        ir.Var("place", "s32", ir.IndexValue(TH_X, "s32")),
        ir.GroupReduce(("sum",), ("f32",), "add", threads, distance, to_all=True),
        ir.GroupReduce(("top", "place"), ("f32", "s32"), "later", threads, distance, to_all=True),
        ir.Store("o0", (BL_X * block + TH_X,), ir.Ref("f32", "sum")),
        ir.Store("o1", (BL_X * block + TH_X,), ir.Ref("s32", "place")),
    )
    buffers = [given(0, "f32", 2 * block), result(0, "f32", 2 * block), result(1, "s32", 2 * block)]

    def expected(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        groups = x.reshape(2, -1, threads, distance)
        best = np.broadcast_to(groups.argmax(2, keepdims=True), groups.shape)
        first = np.arange(block).reshape(1, -1, threads, distance)[:, :, :1]
        place = (best * distance + first).astype(np.int32)
        return np.broadcast_to(groups.sum(2, keepdims=True), groups.shape).reshape(-1), place.reshape(-1)

    return Case(
        kernel(body, buffers, 2, block, [ADD, LATER]),
        lambda rng: (rng.permutation(2 * block).astype(np.float32),),
        expected,
    )


def split_sum() -> Case:
    """The block that comes last adds up what all have left: a condition that threads share decides over a barrier."""
    blocks, threads = 6, 64
    last = ir.Op("eq", "pred", (ir.Load("u32", "ticket", (constant(0),)), ir.Constant("u32", blocks - 1)))
    body = (
        ir.Var("sum", "f32", ir.Load("f32", "p0", (BL_X * threads + TH_X,))),
        ir.GroupReduce(("sum",), ("f32",), "add", threads, 1),
        ir.If((ir.Within(TH_X, 0, 0),), (
            ir.Store("parts", (BL_X,), ir.Ref("f32", "sum")),
            ir.Fence(),
            ir.FetchAdd("mine", "count", (constant(0),), ir.Constant("u32", 1)),
            ir.Store("ticket", (constant(0),), ir.Ref("u32", "mine")),
        )),
        ir.Barrier(),
        ir.Let("last", last),
        ir.If((ir.Ref("pred", "last"),), (
            ir.Fence(),
            ir.Assign("sum", f32(0.0)),
            ir.If((ir.Within(TH_X, 0, blocks - 1),), (ir.Assign("sum", ir.Load("f32", "parts", (TH_X,))),)),
            ir.GroupReduce(("sum",), ("f32",), "add", threads, 1),
            ir.If((ir.Within(TH_X, 0, 0),), (
                ir.Store("o0", (), ir.Ref("f32", "sum")),
                ir.Store("count", (constant(0),), ir.Constant("u32", 0)),
            )),
        )),
    )  # fmt: skip
    buffers = [
        given(0, "f32", blocks * threads),
        result(0, "f32"),
        ir.Buffer("parts", "f32", (blocks,), "global", "scratch", 0),
        ir.Buffer("count", "u32", (1,), "global", "scratch", 1),
        ir.Buffer("ticket", "u32", (1,), "shared"),
    ]
    return Case(
        kernel(body, buffers, blocks, threads, [ADD]),
        lambda rng: (rng.integers(-8, 8, blocks * threads).astype(np.float32),),
        lambda x: (np.float32([x.sum()]), x.reshape(blocks, threads).sum(1), np.uint32([0])),
    )
