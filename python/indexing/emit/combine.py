"""Accumulators of a reduction, and how the threads of a block combine theirs.

CUDA combines within a warp by shuffles, and across warps through shared memory; OpenCL C through local memory alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from indexing.emit.constants import literal
from indexing.emit.kernel import Dim3, SharedAccess
from indexing.emit.launch import Bounds, range_variable, thread_id, thread_map
from indexing.emit.types import c_type
from indexing.emit.vectors import unrolled
from indexing.lazy import np
from indexing.ops.block import leaves
from indexing.ops.element import Value
from indexing.ops.element_types import element_type

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr
    from indexing.emit.elemental import FunctionWriter
    from indexing.hlo import Instruction

WARP = 32
FULL_MASK = "0xffffffffu"


@dataclass(frozen=True, slots=True)
class Team:
    """The threads of a block that reduce one row or column: `threads` parts, `distance` threads apart; `block` threads
    in all. `part` is C text: a thread's number in its team. Shared memory is declared at line `declared_at`.
    """

    part: str
    threads: int
    distance: int
    block: int
    declared_at: int


class Accumulators:
    """The variables in which a thread reduces for one reduction, one an array; `width` of each, for as many columns.

    Where the reducer has a neutral element they start there; elsewhere the first value that a thread reads starts them.
    """

    def __init__(self, reduce: Instruction, width: int = 1) -> None:
        """Nothing is declared yet."""
        self.reduce = reduce
        self.width = width
        self.computation = reduce.computation_of("to_apply")
        self.kinds = [leaf.element_type for leaf in leaves(reduce.shape)]
        self.neutral = _neutral(reduce)
        self.values: list[Value] = []
        self.shared: list[str] = []
        self.shared_bytes = 0
        self._names: list[str] = []

    def declare(self, body: FunctionWriter) -> None:
        """Declare the variables."""
        starts = [self.neutral] if self.neutral is not None else [_zero(kind) for kind in self.kinds]
        for kind, start in zip(self.kinds, starts, strict=True):
            if self.width == 1:
                self._names.append(body.variable(kind, start).text)
                continue
            self._names.append(body.fresh("v"))
            each = ", ".join([start] * self.width)
            body.writer.line(f"{c_type(kind).compute} {self._names[-1]}[{self.width}] = {{{each}}};")
        self.at(body)

    def at(self, body: FunctionWriter, lane: SymbolicExpr | None = None) -> None:
        """From here on, what is written concerns the variables of column `lane`."""
        place = "" if self.width == 1 or lane is None else f"[{body.integer(lane)}]"
        self.values = [Value(name + place, kind) for name, kind in zip(self._names, self.kinds, strict=True)]

    def restart(self, body: FunctionWriter) -> None:
        """Back to the neutral element, where there is one."""
        if self.neutral is not None:
            body.assign(self.values[0], self.neutral)

    def add(self, body: FunctionWriter, values: Sequence[Value], is_first: str | bool) -> None:
        """Reduce the values of one element into the accumulators; `is_first`: whether it is the thread's first one, as a
        C condition where that isn't known.
        """
        if self.neutral is not None or is_first is False:
            self.merge(body, values)
            return
        if is_first is True:
            self._assign(body, values)
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

    def share(self, body: FunctionWriter, count: int, at: int) -> list[str]:
        """Names of arrays of `count` elements in shared memory, one an accumulator, declared when first asked for."""
        if not self.shared:
            for kind in self.kinds:
                self.shared.append(body.fresh("part"))
                body.writer.insert(at, f"@shared {c_type(kind).compute} {self.shared[-1]}[{count}];", 1)
                self.shared_bytes += count * c_type(computed(kind)).size
        return self.shared


def combine_in_block(body: FunctionWriter, accumulators: Accumulators, team: Team, threads: int) -> None:
    """Leave in part 0 what the first `threads` parts of each team, a power of two, have accumulated.

    All threads of the block take part.
    """
    if threads == 1:
        return
    if body.unit.dialect == "cuda" and team.distance == 1 and accumulators.width == 1:
        _combine_by_shuffles(body, accumulators, team, threads)
    else:
        _combine_by_halves(body, accumulators, team, threads)


def shared_accesses(
    accumulators: Accumulators, body: FunctionWriter, part: SymbolicExpr, team: Team, launch: tuple[Dim3, Dim3]
) -> Iterator[SharedAccess]:
    """The loads and stores of `combine_in_block` for all threads of the teams; `launch` are grid and block."""
    if team.threads == 1:
        return
    is_shuffled = body.unit.dialect == "cuda" and team.distance == 1 and accumulators.width == 1
    for kind, cell, bounds in _cells_of_shuffles(part, team) if is_shuffled else _cells_of_halves(part, team):
        m = thread_map(*launch, [cell], [("column", accumulators.width)], bounds)
        for k, accumulated in enumerate(accumulators.kinds):
            yield SharedAccess(kind, f"part{k}", c_type(computed(accumulated)).size, m)


_Cell: TypeAlias = "tuple[Literal['load', 'store'], SymbolicExpr, list[tuple[SymbolicExpr, Bounds]]]"


def _cells_of_shuffles(part: SymbolicExpr, team: Team) -> Iterator[_Cell]:
    """As `_combine_by_shuffles` writes them."""
    if team.threads > WARP:
        th_x, warps = thread_id("th_x"), team.threads // WARP
        yield "store", th_x // WARP, [(th_x % WARP, (0, 0))]
        yield "load", th_x // team.threads * warps + part % warps, []


def _cells_of_halves(part: SymbolicExpr, team: Team) -> Iterator[_Cell]:
    """As `_combine_by_halves` writes them."""
    own, half = thread_id("th_x") + range_variable(0) * team.block, team.threads // 2
    yield "store", own, []
    while half:
        yield "load", own + half * team.distance, [(part, (0, half - 1))]
        if half > 1:
            yield "store", own, [(part, (0, half - 1))]
        half //= 2


def computed(kind: str) -> str:
    """The element type whose storage is the compute type of `kind`."""
    return "f32" if element_type(kind).is_narrow_float else kind


def _combine_by_shuffles(body: FunctionWriter, accumulators: Accumulators, team: Team, threads: int) -> None:
    _shuffle(body, accumulators, min(threads, WARP))
    if threads <= WARP:
        return
    warps = threads // WARP
    names = accumulators.share(body, team.block // WARP, team.declared_at)
    with body.when([f"@thread_x % {WARP} == 0"]):
        for name, value in zip(names, accumulators.values, strict=True):
            body.writer.line(f"{name}[@thread_x / {WARP}] = {value};")
    body.writer.line("@barrier;")
    first = f"@thread_x / {team.threads} * {team.threads // WARP}"
    for name, value in zip(names, accumulators.values, strict=True):
        body.writer.line(f"{value} = {name}[{first} + ({team.part}) % {warps}];")
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


def _combine_by_halves(body: FunctionWriter, accumulators: Accumulators, team: Team, threads: int) -> None:
    names = accumulators.share(body, team.block * accumulators.width, team.declared_at)
    _publish(body, accumulators, names, team)
    body.writer.line("@barrier;")
    half = threads // 2
    while half:
        with body.when([f"{team.part} < {half}"]):
            with unrolled(body, accumulators.width) as lane:
                accumulators.at(body, lane)
                place = _cell(body, lane, team, half * team.distance)
                others = [
                    body.let(v.element_type, f"{name}[{place}]", rounds=False)
                    for name, v in zip(names, accumulators.values, strict=True)
                ]
                accumulators.merge(body, others)
            if half > 1:
                _publish(body, accumulators, names, team)
        if half > 1:
            body.writer.line("@barrier;")
        half //= 2


def _publish(body: FunctionWriter, accumulators: Accumulators, names: Sequence[str], team: Team) -> None:
    with unrolled(body, accumulators.width) as lane:
        accumulators.at(body, lane)
        for name, value in zip(names, accumulators.values, strict=True):
            body.writer.line(f"{name}[{_cell(body, lane, team)}] = {value};")


def _cell(body: FunctionWriter, lane: SymbolicExpr, team: Team, ahead: int = 0) -> str:
    """Neighbouring threads have neighbouring cells, so that each bank of shared memory serves one of them."""
    shift = body.integer(lane * team.block + ahead)
    return "@thread_x" if shift == "0" else f"@thread_x + {shift}"


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
        return literal(found, computed(kind.name))
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
