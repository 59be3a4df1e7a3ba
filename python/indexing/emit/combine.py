"""Accumulators of a reduction, and how the threads of a block combine theirs.

CUDA combines within a warp by shuffles, and across warps through shared memory; OpenCL C through local memory alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from indexing.emit.constants import literal
from indexing.emit.kernel import Dim3, SharedAccess
from indexing.emit.launch import Bounds, thread_id, thread_map
from indexing.emit.types import c_type
from indexing.ops.block import leaves
from indexing.ops.element import Value
from indexing.ops.element_types import element_type

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr
    from indexing.emit.elemental import FunctionWriter
    from indexing.hlo import Instruction

WARP = 32
FULL_MASK = "0xffffffffu"


class Accumulators:
    """The variables in which a thread reduces for one reduction, one an array.

    Where the reducer has a neutral element they start there; elsewhere the first value that a thread reads starts them.
    """

    def __init__(self, reduce: Instruction) -> None:
        """Nothing is declared yet."""
        self.reduce = reduce
        self.computation = reduce.computation_of("to_apply")
        self.kinds = [leaf.element_type for leaf in leaves(reduce.shape)]
        self.neutral = _neutral(reduce)
        self.values: list[Value] = []

    def declare(self, body: FunctionWriter) -> None:
        """Declare the variables."""
        start = [self.neutral] if self.neutral is not None else [_zero(kind) for kind in self.kinds]
        self.values = [body.variable(kind, text) for kind, text in zip(self.kinds, start, strict=True)]

    def add(self, body: FunctionWriter, values: Sequence[Value], is_first: str) -> None:
        """Reduce the values of one element into the accumulators; `is_first` holds for the thread's first one."""
        if self.neutral is not None:
            self.merge(body, values)
            return
        with body.when([is_first]):
            self._assign(body, values)
        with body.otherwise():
            self.merge(body, values)

    def merge(self, body: FunctionWriter, others: Sequence[Value]) -> None:
        """accumulators = reducer(accumulators, others); floats below f32 stay unrounded in between."""
        with body.unrounded():
            results = body.apply(self.computation, [*self.values, *others])
        self._assign(body, results)

    def _assign(self, body: FunctionWriter, values: Sequence[Value]) -> None:
        if len(values) > 1:  # all are computed before any is overwritten
            values = [body.let(v.element_type, v.text, rounds=False) for v in values]
        for variable, value in zip(self.values, values, strict=True):
            body.assign(variable, value.text)

    def finished(self, body: FunctionWriter, initial: Sequence[Value]) -> tuple[Value, ...]:
        """The result: the initial values reduced with what was accumulated, rounded to its type."""
        with body.unrounded():
            results = body.apply(self.computation, [*initial, *self.values])
        return tuple(body.let(r.element_type, r.text) for r in results)


def combine_in_block(
    body: FunctionWriter,
    accumulators: Accumulators,
    part: str,
    threads: int,
    distance: int,
    block: int,
    declared_at: int,
) -> None:
    """Leave in part 0 what the `threads` parts of a row (neighbours) or column (`distance` apart) have accumulated.

    `part` is C text; all threads of the block take part. Shared memory is declared at line `declared_at`.
    """
    if threads == 1:
        return
    if body.unit.dialect == "cuda" and distance == 1:
        _combine_by_shuffles(body, accumulators, part, threads, block, declared_at)
    else:
        _combine_by_halves(body, accumulators, part, threads, distance, block, declared_at)


def shared_bytes(accumulators: Accumulators, body: FunctionWriter, threads: int, distance: int, block: int) -> int:
    """Bytes of shared memory that `combine_in_block` declares."""
    size = sum(c_type(kind).size for kind in map(_computed, accumulators.kinds))
    if threads == 1:
        return 0
    if body.unit.dialect == "cuda" and distance == 1:
        return 0 if threads <= WARP else size * block // WARP
    return size * block


def shared_accesses(
    accumulators: Accumulators,
    body: FunctionWriter,
    part: SymbolicExpr,
    threads: int,
    distance: int,
    launch: tuple[Dim3, Dim3],
) -> Iterator[SharedAccess]:
    """The loads and stores of `combine_in_block`; `launch` are grid and block."""
    if threads == 1:
        return
    by_shuffles = body.unit.dialect == "cuda" and distance == 1
    cells = _cells_of_shuffles(part, threads) if by_shuffles else _cells_of_halves(part, threads, distance)
    for kind, cell, bounds in cells:
        m = thread_map(*launch, [cell], (), bounds)
        for k, accumulated in enumerate(accumulators.kinds):
            yield SharedAccess(kind, f"part{k}", c_type(_computed(accumulated)).size, m)


_Cell: TypeAlias = "tuple[Literal['load', 'store'], SymbolicExpr, list[tuple[SymbolicExpr, Bounds]]]"


def _cells_of_shuffles(part: SymbolicExpr, threads: int) -> Iterator[_Cell]:
    """As `_combine_by_shuffles` writes them."""
    if threads > WARP:
        th_x, warps = thread_id("th_x"), threads // WARP
        yield "store", th_x // WARP, [(th_x % WARP, (0, 0))]
        yield "load", th_x // threads * warps + part % warps, []


def _cells_of_halves(part: SymbolicExpr, threads: int, distance: int) -> Iterator[_Cell]:
    """As `_combine_by_halves` writes them."""
    th_x, half = thread_id("th_x"), threads // 2
    yield "store", th_x, []
    while half:
        yield "load", th_x + half * distance, [(part, (0, half - 1))]
        if half > 1:
            yield "store", th_x, [(part, (0, half - 1))]
        half //= 2


def _computed(kind: str) -> str:
    """The element type whose storage is the compute type of `kind`."""
    return "f32" if element_type(kind).is_narrow_float else kind


def _declare(body: FunctionWriter, accumulators: Accumulators, count: int, at: int) -> list[str]:
    names = []
    for kind in accumulators.kinds:
        name = body.fresh("part")
        body.writer.insert(at, f"@shared {c_type(kind).compute} {name}[{count}];", 1)
        names.append(name)
    return names


def _combine_by_shuffles(
    body: FunctionWriter, accumulators: Accumulators, part: str, threads: int, block: int, declared_at: int
) -> None:
    _shuffle(body, accumulators, min(threads, WARP))
    if threads <= WARP:
        return
    warps = threads // WARP
    names = _declare(body, accumulators, block // WARP, declared_at)
    with body.when([f"@thread_x % {WARP} == 0"]):
        for name, value in zip(names, accumulators.values, strict=True):
            body.writer.line(f"{name}[@thread_x / {WARP}] = {value};")
    body.writer.line("@barrier;")
    for name, value in zip(names, accumulators.values, strict=True):
        body.writer.line(f"{value} = {name}[@thread_x / {threads} * {warps} + ({part}) % {warps}];")
    _shuffle(body, accumulators, warps)


def _shuffle(body: FunctionWriter, accumulators: Accumulators, width: int) -> None:
    """Reduce among `width` neighbouring lanes of a warp; lane 0 of them has the result."""
    offset = width // 2
    while offset:
        others = [body.let(v.element_type, shuffled(v, offset), rounds=False) for v in accumulators.values]
        accumulators.merge(body, others)
        offset //= 2


def shuffled(value: Value, offset: int) -> str:
    """CUDA text: the value of the lane `offset` further on in the warp."""
    kind = element_type(value.element_type)
    if kind.kind == "complex":
        parts = ", ".join(f"__shfl_down_sync({FULL_MASK}, {value}.{p}, {offset})" for p in "xy")
        return f"@{kind.name}({parts})"
    if kind.kind == "pred":
        return f"__shfl_down_sync({FULL_MASK}, (s32){value}, {offset}) != 0"
    if kind.is_integer and kind.bits < 32:
        return f"({c_type(kind.name).compute})__shfl_down_sync({FULL_MASK}, (s32){value}, {offset})"
    return f"__shfl_down_sync({FULL_MASK}, {value}, {offset})"


def _combine_by_halves(
    body: FunctionWriter,
    accumulators: Accumulators,
    part: str,
    threads: int,
    distance: int,
    block: int,
    declared_at: int,
) -> None:
    names = _declare(body, accumulators, block, declared_at)
    for name, value in zip(names, accumulators.values, strict=True):
        body.writer.line(f"{name}[@thread_x] = {value};")
    body.writer.line("@barrier;")
    half = threads // 2
    while half:
        with body.when([f"{part} < {half}"]):
            others = [
                body.let(v.element_type, f"{name}[@thread_x + {half * distance}]", rounds=False)
                for name, v in zip(names, accumulators.values, strict=True)
            ]
            accumulators.merge(body, others)
            if half > 1:
                for name, value in zip(names, accumulators.values, strict=True):
                    body.writer.line(f"{name}[@thread_x] = {value};")
        if half > 1:
            body.writer.line("@barrier;")
        half //= 2


def _zero(kind: str) -> str:
    return literal(np.zeros((), element_type(kind).dtype).item() if kind[0] != "c" else 0j, kind)


def _neutral(reduce: Instruction) -> str | None:
    """C text of the reducer's neutral element, where it is one binary op on its two parameters."""
    root = reduce.computation_of("to_apply").root
    if reduce.shape.is_tuple or [o.opcode for o in root.operands] != ["parameter", "parameter"]:
        return None
    if root.operands[0] is root.operands[1]:
        return None
    kind = element_type(reduce.shape.element_type)
    if kind.kind == "complex":
        return {"add": literal(0j, kind.name), "multiply": literal(1 + 0j, kind.name)}.get(root.opcode)
    found = _NEUTRAL.get(root.opcode, {}).get(kind.kind)
    if found is None:
        return None
    if kind.kind == "float":
        return literal(found, _computed(kind.name))
    if found in ("lowest", "highest"):
        low = -(1 << (kind.bits - 1)) if kind.kind == "signed" else 0
        high = (1 << (kind.bits - (kind.kind == "signed"))) - 1
        found = low if found == "lowest" else high
    return literal(found, kind.name)


_NEUTRAL: dict[str, dict[str, object]] = {
    "add": {"float": -0.0, "signed": 0, "unsigned": 0},
    "multiply": {"float": 1.0, "signed": 1, "unsigned": 1, "pred": True},
    "maximum": {"float": float("-inf"), "signed": "lowest", "unsigned": "lowest", "pred": False},
    "minimum": {"float": float("inf"), "signed": "highest", "unsigned": "highest", "pred": True},
    "and": {"signed": -1, "unsigned": "highest", "pred": True},
    "or": {"signed": 0, "unsigned": 0, "pred": False},
    "xor": {"signed": 0, "unsigned": 0, "pred": False},
}
