"""Reasons why an access moves more than it must, and remedies, as sentences.

They follow from the access's map from threads to elements: the distance of adjacent lanes in memory, the dimension along which
lanes lie, and the instruction of the fusion that changed the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from indexing._core import constant, variable
from indexing.hlo.layout import bit_width, major_to_minor
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.analysis.memory.global_memory import Access
    from indexing.hlo import Instruction, Shape

__all__ = ["AccessedArray", "Step", "lane_steps", "reasons_for"]

READ_AGAIN = 1.5  # repeated reads of an element are mentioned from this number on
CACHED = 1 << 20  # bytes that fit in the cache of any device
RARE = 4  # a step is mentioned if it is at least this fraction of a warp's steps
WARP = 32  # lanes that are compared


@dataclass(frozen=True, slots=True)
class AccessedArray:
    """An array that an instruction reads (with the operand's number) or writes (without), and the bytes that must move.

    `called` is the instruction's name in the program.
    """

    instruction: Instruction
    operand: int | None
    shape: Shape
    name: str
    ideal_bytes: int
    called: str

    @property
    def verb(self) -> str:
        """The verb for lanes: read or write."""
        return "write" if self.operand is None else "read"

    @property
    def bytes(self) -> int:
        """The bytes of the whole array."""
        return -(-self.shape.element_count * bit_width(self.shape.element_type) // 8)


@dataclass(frozen=True, slots=True)
class Step:
    """The step from a lane to the next one that touches another element: bytes in memory, and the dimensions that change.

    The next one is `lanes` lanes ahead; those between touch the same element (`shared`), or none.
    """

    bytes: int
    dimensions: tuple[int, ...]
    lanes: int = 1
    shared: bool = False

    @property
    def lanes_text(self) -> str:
        """The lanes that are so far apart."""
        if self.lanes == 1:
            return "neighbouring lanes are"
        return (
            f"{self.lanes} lanes share an element, the next are"
            if self.shared
            else f"one lane in {self.lanes} is active, the next"
        )


def reasons_for(array: AccessedArray, accesses: Sequence[Access], reuse: float) -> tuple[str, str]:
    """The reasons why accesses move more than they must, and remedies; empty if nothing is known about them."""
    slow = [a for a in accesses if not a.coalesced]
    is_read_again = array.operand is not None and reuse >= READ_AGAIN
    if slow:
        why, remedy = _uncoalesced(array, max(slow, key=lambda a: a.total.sectors))
        if is_read_again and array.bytes <= CACHED:
            return f"{why}; a cache serves it, for it holds the {array.bytes} B, which are read {_times(reuse)}", ""
        return why, remedy
    if accesses and is_read_again:
        return _read_again(array, reuse)
    return _partial_sectors(array, accesses[0]) if accesses else ("", "")


def _uncoalesced(array: AccessedArray, access: Access) -> tuple[str, str]:
    steps = lane_steps(access, array.shape)
    usual = steps[0] if steps else None
    if access.map.runtimes and (usual is None or usual.shared):
        return (
            f"which elements lanes {array.verb} depends on values that are known at run time only",
            "indices in ascending order, or rows of at least a sector (32 B) a lane",
        )
    if usual is None:
        return f"few lanes of a warp {array.verb} at once", ""
    minor = major_to_minor(array.shape)[-1:]
    path = _reordering_instructions(array)
    via = f", through {_named(path)}" if path else ""
    distance = f"{usual.lanes_text} {' or '.join(str(abs(step.bytes)) for step in steps)} B apart"
    if usual.dimensions and usual.dimensions != minor:
        number = "dimension" if len(usual.dimensions) == 1 else "dimensions"
        along = ", ".join(map(str, usual.dimensions))
        where = f" (they go along {number} {along} of {array.shape}, memory along dimension {minor[0]}){via}"
        return distance + where, _reordering_remedy(array, usual.dimensions)
    if abs(usual.bytes) * 8 > access.element_bits:
        return (
            f"{distance}, so that each sector serves {_lanes_a_sector(usual, access)}{via}",
            f"a layout of `{array.name}` in which what lanes {array.verb} lies side by side, or wider accesses a lane",
        )
    return _partial_sectors(array, access)


def _lanes_a_sector(step: Step, access: Access) -> str:
    count = access.sector_bytes // abs(step.bytes)
    return "one lane" if count <= 1 else f"{count} lanes"


def _partial_sectors(array: AccessedArray, access: Access) -> tuple[str, str]:
    """The reason for adjacent lanes whose runs begin or end within a sector: the length of rows, or where they start."""
    sector = access.sector_bytes
    if array.ideal_bytes < sector:
        return f"its {array.ideal_bytes} B are less than a sector ({sector} B), which moves whole", ""
    at_once = round(access.unrolled.asked / access.unrolled.instructions)
    if at_once * 2 <= sector:
        return f"a warp {array.verb}s {at_once} B at a time, and a sector ({sector} B) moves whole", ""
    elements = sector * 8 // gcd(sector * 8, access.element_bits)
    order = major_to_minor(array.shape)
    row = array.shape.dimensions[order[-1]] * access.element_bits // 8
    if row == array.bytes and row % sector:
        return f"`{array.name}` is {row} B, which is no multiple of a sector ({sector} B)", ""
    if row % sector:
        return (
            f"a row of `{array.name}` is {row} B, which is no multiple of a sector ({sector} B): "
            "those at its ends are shared, and move twice",
            f"a multiple of {elements} elements in dimension {order[-1]}, by padding",
        )
    return (
        f"the runs that a warp {array.verb}s begin or end within a sector ({sector} B)",
        f"starts and lengths that are multiples of {elements} elements",
    )


def _times(reuse: float) -> str:
    return f"{reuse:,.0f} times" if reuse >= 10 else f"{reuse:.3g} times"


def _read_again(array: AccessedArray, reuse: float) -> tuple[str, str]:
    why = f"each element is read {_times(reuse)}"
    if array.bytes <= CACHED:
        return f"{why}, which a cache serves, for it holds the {array.bytes} B", ""
    if _only_moves(array.instruction):
        return why, f"a fusion of `{array.called}` with what reads it, which then reads `{array.name}`"
    return why, f"a tile of `{array.name}` in shared memory or registers, or more elements a thread"


def _only_moves(i: Instruction) -> bool:
    """Whether the instruction, or each one of a fusion, computes nothing."""
    return all(traits_of(j).has_no_compute for j in (i.called[0].listed if i.is_fusion else (i,)))


def _reordering_remedy(array: AccessedArray, dimensions: tuple[int, ...]) -> str:
    order = [d for d in major_to_minor(array.shape) if d not in dimensions] + list(dimensions)
    layout = ",".join(str(d) for d in reversed(order))
    turn = f"a layout {{{layout}}} of `{array.name}`" if dimensions else f"another layout of `{array.name}`"
    transposes = [i for i in _reordering_instructions(array) if _permutes(i)]
    if transposes:
        return f"{turn}; a tile in shared memory; or a kernel of its own for `{transposes[0].name}`"
    return f"{turn}, or a tile in shared memory"


def _named(path: Sequence[Instruction]) -> str:
    return " and ".join(f"the {i.opcode} `{i.name}`" for i in path[:2])


def _reordering_instructions(array: AccessedArray) -> list[Instruction]:
    """The instructions of the fusion that change the order of the array's elements, the nearest to it first."""
    fusion = array.instruction
    if array.operand is None or not fusion.is_fusion:
        return []
    reordering: list[Instruction] = []
    pending, seen = [fusion.called[0].parameters[array.operand]], set()
    while pending:
        i = pending.pop(0)
        for user in i.users:
            if user not in seen and user.shape.is_array:
                seen.add(user)
                pending.append(user)
                if not traits_of(user).same_memory and any(
                    _reorders(m.map.results, user) for k in _places(i, user) for m in output_to_input(user)[k]
                ):
                    reordering.append(user)
    return reordering


def _places(operand: Instruction, user: Instruction) -> Iterator[int]:
    return (k for k, o in enumerate(user.operands) if o is operand)


def _reorders(results: Sequence[object], user: Instruction) -> bool:
    """Whether the results are neither the index nor a part of it in order. Dimensions of size 1 are ignored."""
    own = [variable(k) for k, size in enumerate(user.shape.dimensions) if size != 1]
    moving = [r for r in results if r != constant(0)]
    return moving != [v for v in own if v in moving]


def _permutes(i: Instruction) -> bool:
    """Whether the result is the operand with its dimensions in another order."""
    own = [variable(k) for k in range(len(i.shape.dimensions))]
    maps = output_to_input(i)
    results = [list(m.map.results) for m in maps[0]] if len(maps) == 1 else []
    return len(results) == 1 and results[0] != own and sorted(map(str, results[0])) == sorted(map(str, own))


def lane_steps(access: Access, shape: Shape) -> list[Step]:
    """The distances of lanes that touch different elements, in the first, middle and last warps: the most frequent one, and
    the second if it is not rare.
    """
    counts: Counter[Step] = Counter()
    for part in (0, 1, 2):
        points = [(lane, _index_of_lane(access, lane, part)) for lane in range(WARP)]
        active = [(lane, index) for lane, index in points if index is not None]
        firsts = [active[k] for k in range(len(active)) if not k or active[k - 1][1] != active[k][1]]
        shares = len(firsts) < len(active)
        for (first, a), (second, b) in pairwise(firsts):
            bytes_, changed = _difference(a, b, access, shape)
            counts[Step(bytes_, changed, second - first, shares and second - first > 1)] += 1
    order = sorted(counts, key=lambda step: (-counts[step], -abs(step.bytes)))
    return [step for k, step in enumerate(order[:2]) if k == 0 or counts[step] * RARE >= counts.total()]


def _index_of_lane(access: Access, lane: int, part: int) -> tuple[int, ...] | None:
    """The array's index that a lane of the first (0), a middle (1) or the last (2) warp touches; None if it is not active."""
    m = access.map
    dims = [v.lower for v in m.dims[:3]] + [v.lower + (v.upper - v.lower) * part // 2 for v in m.dims[3:]]
    rest = lane
    for k in range(min(3, len(dims))):
        size = m.dims[k].upper - m.dims[k].lower + 1
        dims[k] += rest % size
        rest //= size
    ranges = [v.lower + (v.upper - v.lower) * part // 2 for v in m.ranges]
    symbols = [*ranges, *(max(v.lower, 0) for v in m.runtimes)]
    if rest or not m.contains(dims, symbols):
        return None
    return tuple(int(x) for x in m.evaluate(dims, symbols))


def _difference(a: tuple[int, ...], b: tuple[int, ...], access: Access, shape: Shape) -> tuple[int, tuple[int, ...]]:
    """Bytes from one index to another, and the dimensions that change."""
    stride, position = 1, 0
    for d in reversed(major_to_minor(shape)):
        position += (b[d] - a[d]) * stride
        stride *= shape.dimensions[d]
    changed = tuple(d for d, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)
    return position * access.element_bits // 8, changed
