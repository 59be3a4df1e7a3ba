"""Sentences about an access that moves more than it must: why it does, and what would mend it.

All is read off the access's own map, from threads to elements: how far apart neighbouring lanes are in memory, along which
dimension they go, which instruction of the fusion turned them that way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from indexing._core import variable
from indexing.hlo.layout import bit_width, major_to_minor
from indexing.indexing_analysis.instructions import output_to_input

if TYPE_CHECKING:
    from indexing.analysis.memory.global_memory import Access
    from indexing.hlo import Instruction, Shape

__all__ = ["Step", "Subject", "lane_step", "reasons_for"]

READ_AGAIN = 1.5  # times an element is read, from which on that is worth a sentence
CACHED = 1 << 20  # bytes that any cache of a whole device holds


@dataclass(frozen=True, slots=True)
class Subject:
    """An array that an instruction reads (its operand of that number) or, without a number, writes."""

    instruction: Instruction
    operand: int | None
    shape: Shape
    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """From one lane to the next: bytes in memory, and the dimensions of the array that change."""

    bytes: int
    dimensions: tuple[int, ...]


def reasons_for(subject: Subject, accesses: Sequence[Access], reuse: float) -> tuple[str, str]:
    """Why the accesses move more than they must, and what would mend it; empty where nothing is known of them."""
    slow = [a for a in accesses if not a.coalesced]
    if slow:
        return _uncoalesced(subject, max(slow, key=lambda a: a.total.sectors))
    if accesses and subject.operand is not None and reuse >= READ_AGAIN:
        return _read_again(subject, reuse)
    if accesses:
        return (
            "sectors at the ends of rows or of the array are moved whole, or accesses begin within a sector",
            "sizes and starts that are multiples of a sector (32 B)",
        )
    return "", ""


def _uncoalesced(subject: Subject, access: Access) -> tuple[str, str]:
    step = lane_step(access, subject.shape)
    if access.map.runtimes and (step is None or not step.bytes):
        return (
            f"which elements lanes {_verb(subject)} depends on values that are known at run time only",
            "indices in ascending order, or rows of at least a sector (32 B) a lane",
        )
    if step is None:
        return "lanes of a warp touch memory at uneven distances", _turned_remedy(subject, ())
    minor = major_to_minor(subject.shape)[-1:]
    along = ", ".join(map(str, step.dimensions))
    path = _turning(subject)
    via = f", through {_named(path)}" if path else ""
    distance = f"neighbouring lanes are {abs(step.bytes)} B apart"
    if step.dimensions and step.dimensions != minor:
        number = "dimension" if len(step.dimensions) == 1 else "dimensions"
        where = f" (they go along {number} {along} of {subject.shape}, memory along dimension {minor[0]}){via}"
        return distance + where, _turned_remedy(subject, step.dimensions)
    if abs(step.bytes) * 8 > access.element_bits:
        return (
            f"{distance}, so that each sector serves {_lanes_a_sector(step, access)}{via}",
            f"a layout of `{subject.name}` in which what lanes {_verb(subject)} lies side by side, or wider accesses a lane",
        )
    return (
        f"a warp {_verb(subject)}s runs that are shorter than its lanes, or begin within a sector{via}",
        "a minor dimension that is a multiple of a sector (32 B), or one kernel for several rows",
    )


def _lanes_a_sector(step: Step, access: Access) -> str:
    count = access.sector_bytes // abs(step.bytes)
    return "one lane" if count <= 1 else f"{count} lanes"


def _read_again(subject: Subject, reuse: float) -> tuple[str, str]:
    size = -(-subject.shape.element_count * bit_width(subject.shape.element_type) // 8)
    why = f"each element is read {reuse:,.0f} times" if reuse >= 10 else f"each element is read {reuse:.3g} times"
    if size <= CACHED:
        return f"{why}, which a cache serves, for it holds the {size} B", ""
    return why, f"a tile of `{subject.name}` in shared memory or registers, or more elements a thread"


def _turned_remedy(subject: Subject, dimensions: tuple[int, ...]) -> str:
    order = [d for d in major_to_minor(subject.shape) if d not in dimensions] + list(dimensions)
    layout = ",".join(str(d) for d in reversed(order))
    turn = f"a layout {{{layout}}} of `{subject.name}`" if dimensions else f"another layout of `{subject.name}`"
    path = _turning(subject)
    if path:
        return f"{turn}; a tile in shared memory; or a kernel of its own for `{path[0].name}`"
    return f"{turn}, or a tile in shared memory"


def _verb(subject: Subject) -> str:
    return "write" if subject.operand is None else "read"


def _named(path: Sequence[Instruction]) -> str:
    return " and ".join(f"the {i.opcode} `{i.name}`" for i in path[:2])


def _turning(subject: Subject) -> list[Instruction]:
    """The instructions of the fusion that move the array's elements to other indices, the nearest to it first."""
    fusion = subject.instruction
    if subject.operand is None or not fusion.is_fusion:
        return []
    found: list[Instruction] = []
    pending, seen = [fusion.called[0].parameters[subject.operand]], set()
    while pending:
        i = pending.pop(0)
        for user in i.users:
            if user not in seen and user.shape.is_array:
                seen.add(user)
                pending.append(user)
                if any(_turns(m.map.results, user) for k in _places(i, user) for m in output_to_input(user)[k]):
                    found.append(user)
    return found


def _places(operand: Instruction, user: Instruction) -> Iterator[int]:
    return (k for k, o in enumerate(user.operands) if o is operand)


def _turns(results: Sequence[object], user: Instruction) -> bool:
    """Are the results anything but the index itself, or a part of it in order?"""
    own = [variable(k) for k in range(len(user.shape.dimensions))]
    return list(results) != [v for v in own if v in results]


def lane_step(access: Access, shape: Shape) -> Step | None:
    """The distance of neighbouring lanes, where it is the same for the first lanes of a warp; else None."""
    points = [p for p in (_index_of_lane(access, lane) for lane in range(4)) if p is not None]
    steps = {_difference(a, b, access, shape) for a, b in pairwise(points)}
    return steps.pop() if len(steps) == 1 else None


def _index_of_lane(access: Access, lane: int) -> tuple[int, ...] | None:
    """The array's index that a lane of the first block touches; None where it is predicated off."""
    m = access.map
    dims = [v.lower for v in m.dims]
    rest = lane
    for k in range(min(3, len(dims))):
        size = m.dims[k].upper - m.dims[k].lower + 1
        dims[k] += rest % size
        rest //= size
    symbols = [max(v.lower, 0) for v in (*m.ranges, *m.runtimes)]
    if rest or not m.contains(dims, symbols):
        return None
    return tuple(int(x) for x in m.evaluate(dims, symbols))


def _difference(a: tuple[int, ...], b: tuple[int, ...], access: Access, shape: Shape) -> Step:
    stride, position = 1, 0
    for d in reversed(major_to_minor(shape)):
        position += (b[d] - a[d]) * stride
        stride *= shape.dimensions[d]
    changed = tuple(d for d, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)
    return Step(position * access.element_bits // 8, changed)
