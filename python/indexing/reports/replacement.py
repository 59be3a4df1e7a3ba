"""The correspondence between kernels of two programs, by the source operations that they compute.

Names and numbers change from one version of a compiler to the next; operations and source lines in the metadata do not.
Operations that few kernels compute weigh more than those that many do, such as broadcasts. Of several equally similar kernels,
such as those of equal layers, the one at the same position in its program is chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexing.hlo import Computation, Instruction, Place, op_name, source_place
from indexing.ops.registry import traits_of
from indexing.reports.kernel_report import FusionReport
from indexing.walks import reached

NEAR = 2  # kernels of an operation that are compared, before and after the one at the same position
#: A source operation, by its name in both programs.
Operation: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Replacement:
    """Kernels of the program before, and those of the one after that compute their operations."""

    before: tuple[FusionReport, ...]
    after: tuple[FusionReport, ...]


@dataclass(slots=True)
class _Side:
    """One program's kernels: the operations of each, and the kernels of each operation in the program's order."""

    operations: list[set[Operation]]
    of_operation: dict[Operation, list[int]]


def replacements(before: Sequence[FusionReport], after: Sequence[FusionReport]) -> list[Replacement]:
    """Groups of corresponding kernels. Those without an operation of the other program are in none."""
    first, second = _side(before), _side(after)
    edges = [(a, b) for a, b in enumerate(_most_similar(first, second)) if b is not None]
    edges += [(a, b) for b, a in enumerate(_most_similar(second, first)) if a is not None]
    group = list(range(len(before) + len(after)))
    for a, b in edges:
        group[_leader(group, a)] = _leader(group, len(before) + b)
    members: dict[int, tuple[list[FusionReport], list[FusionReport]]] = {}
    for k in range(len(group)):
        sides = members.setdefault(_leader(group, k), ([], []))
        sides[k >= len(before)].append(before[k] if k < len(before) else after[k - len(before)])
    return [r for a, b in members.values() if a and b for r in _as_pairs(a, b)]


def _as_pairs(before: list[FusionReport], after: list[FusionReport]) -> list[Replacement]:
    """Pairs, if for each kernel there is one whose result is that of the same operation; otherwise one group."""
    named = [sorted(side, key=lambda f: (_result(f), f.origin.row)) for side in (before, after)]
    if [_result(f) for f in named[0]] == [_result(f) for f in named[1]]:
        return [Replacement((a,), (b,)) for a, b in zip(*named, strict=True)]
    return [Replacement(tuple(before), tuple(after))]


def _result(f: FusionReport) -> tuple[str, str, str]:
    return op_name(f.origin).rsplit("/", 1)[-1], line_of(f.place), str(f.instruction.shape)


def _leader(group: list[int], k: int) -> int:
    while group[k] != k:
        group[k] = group[group[k]]
        k = group[k]
    return k


def _side(kernels: Sequence[FusionReport]) -> _Side:
    operations = [{*_operations(f), *([("", line_of(f.place))] if f.place else [])} for f in kernels]
    of_operation: dict[Operation, list[int]] = defaultdict(list)
    for k in sorted(range(len(kernels)), key=lambda k: kernels[k].origin.row):
        for operation in operations[k]:
            of_operation[operation].append(k)
    return _Side(operations, dict(of_operation))


def _operations(f: FusionReport) -> Iterator[Operation]:
    """The operations that an instruction's kernel computes: names with source lines, then lines alone, which are less specific;
    without either, opcodes and shapes.
    """
    i = f.instruction

    def inside(callers: Iterable[Instruction]) -> Iterator[Computation]:
        return (c for caller in callers if caller.is_fusion for c in caller.called)

    for c in reached(inside([i]), lambda c: inside(c.listed)):
        for part in c.listed:
            yield from _operations_of(part)
    yield from () if i is f.origin and i.is_fusion and i.called else _operations_of(f.origin)


def _operations_of(i: Instruction) -> Iterator[Operation]:
    op = traits_of(i)
    if op.is_source or op.same_memory or op.kind == "alias":
        return
    name, place = op_name(i).rsplit("/", 1)[-1], source_place(i)
    if name:
        yield name, line_of(place)
    if place:
        yield "", line_of(place)
    if not name and not place:
        yield i.opcode, str(i.shape)


def line_of(place: Place | None) -> str:
    """The file and the line, without the function, which only some versions of compilers state."""
    return f"{place.file}:{place.line}" if place else ""


def _most_similar(side: _Side, other: _Side) -> list[int | None]:
    """For each kernel the most similar one of the other program; None if there is none."""
    likeness: list[dict[int, float]] = [defaultdict(float) for _ in side.operations]
    for operation, own in side.of_operation.items():
        of = other.of_operation.get(operation, [])
        weight = 1 / (len(own) + len(of))
        for n, k in enumerate(own):
            at = n * len(of) // len(own)
            for place in range(max(at - NEAR, 0), min(at + NEAR + 1, len(of))):
                likeness[k][of[place]] += weight / (1 + abs(place - at))
    return [max(similar, key=lambda k: (similar[k], -k), default=None) for similar in likeness]
