"""Reasons why an access moves more than it must, and remedies, as sentences.

What moves beyond that has four parts: bytes that move again for another warp instruction, sectors that runs of bytes touch
because they begin within one, sectors of which scattered lanes use a part, and what is left of the last sector of a warp
instruction. The greatest part gives the sentence; its numbers come from the access's map from threads to elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from indexing._core import constant, variable
from indexing.analysis.memory.global_memory import Access
from indexing.hlo import Instruction, Shape
from indexing.hlo.layout import bit_width, major_to_minor
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.registry import traits_of
from indexing.reports.warp_samples import Step, WarpSample, sample_of

READ_AGAIN = 1.5  # loads of an element from which on a cache is worth a word
CACHED = 1 << 20  # bytes that fit in the cache of any device


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


def reasons_for(array: AccessedArray, accesses: Sequence[Access]) -> tuple[str, str]:
    """The reason why accesses move more than they must, and a remedy; empty if nothing is known about them."""
    if not accesses:
        return "", ""
    again = sum(a.unrolled.asked for a in accesses) / max(array.ideal_bytes, 1)
    parts = {sentence: [part(a) for a in accesses] for sentence, part in _PARTS.items()}
    sentence = max(parts, key=lambda s: sum(parts[s]))
    if sum(parts[sentence]) <= (again - 1) * array.ideal_bytes:
        return _read_again(array, accesses, again)
    worst = accesses[max(range(len(accesses)), key=parts[sentence].__getitem__)]
    why, remedy = sentence(array, worst, sample_of(worst, array.shape))
    if array.operand is not None and again >= READ_AGAIN and array.bytes <= CACHED:
        return (
            f"{why}; a cache serves it, for it holds the {array.bytes:,} B, which warps load {_times(again, accesses)}",
            "",
        )
    return why, remedy


def times_text(count: float) -> str:
    """A number of times in words."""
    return f"{count:,.0f} times" if count >= 10 else f"{count:.3g} times"


def _times(count: float, accesses: Sequence[Access]) -> str:
    at_most = "up to " if any(a.is_upper_bound for a in accesses) else ""
    return f"{at_most}{times_text(count)}"


def _read_again(array: AccessedArray, accesses: Sequence[Access], again: float) -> tuple[str, str]:
    verb = "store" if array.operand is None else "load"
    each = max(a.unrolled.asked for a in accesses) / max(array.ideal_bytes, 1)
    parts = f"the {len(accesses)} {verb}s of the kernel overlap: " if len(accesses) > 1 and each * 1.01 < again else ""
    why = f"{parts}warps {verb} each element {_times(again, accesses)}"
    if any(a.map.runtimes for a in accesses):
        return f"warps {verb} {again:.3g} times as much; which elements depends on values known at run time only", ""
    if array.operand is None:
        return why, ""
    if array.bytes <= CACHED:
        return f"{why}, which a cache serves, for it holds the {array.bytes:,} B", ""
    if only_moves(array.instruction):
        return why, f"a fusion of `{array.called}` with what reads it, which then reads `{array.name}`"
    return why, f"a tile of `{array.name}` in shared memory or registers, or more elements a thread"


def _scattered(array: AccessedArray, access: Access, sample: WarpSample) -> tuple[str, str]:
    """The reason for lanes whose bytes lie in several runs, each of which moves whole sectors."""
    usual = sample.steps[0] if sample.steps else None
    if access.map.runtimes and (usual is None or usual.shared):
        return (
            f"which elements lanes {array.verb} depends on values that are known at run time only",
            "indices in ascending order, or rows of at least a sector (32 B) a lane",
        )
    used = (
        f"of a sector's {access.sector_bytes} B, a warp uses {_number(access.unrolled.asked / access.unrolled.sectors)}"
    )
    if usual is None:
        return used, ""
    minor = major_to_minor(array.shape)[-1:]
    via = reordered_by(array)
    apart = dict.fromkeys(str(abs(step.bytes)) for step in sample.steps)
    distance = f"{_lanes_text(usual)} {' or '.join(apart)} B apart"
    if abs(usual.bytes) == sample.lane_bytes:
        distance = f"a warp {array.verb}s runs of {sample.run_bytes} B, apart from each other"
    dimensions = tuple(d for d in usual.dimensions if array.shape.dimensions[d] > 1)
    if dimensions and dimensions != minor and abs(usual.bytes) != sample.lane_bytes:
        number = "dimension" if len(dimensions) == 1 else "dimensions"
        along = ", ".join(map(str, dimensions))
        where = f" (they go along {number} {along} of {array.shape}, memory along dimension {minor[0]}){via}"
        return f"{distance}{where}; {used}", _reordering_remedy(array, dimensions)
    return (
        f"{distance}{via}; {used}",
        f"a layout of `{array.name}` in which what lanes {array.verb} lies side by side, or wider accesses a lane",
    )


def _number(count: float) -> str:
    return f"{count:.3g}"


def _lanes_text(step: Step) -> str:
    """The lanes that are so far apart."""
    if step.lanes == 1:
        return "neighbouring lanes are"
    if step.shared:
        return f"{step.lanes} lanes share an element, the next are"
    return f"one lane in {step.lanes} is active, the next"


def _misaligned(array: AccessedArray, access: Access, sample: WarpSample) -> tuple[str, str]:
    """The reason for runs that begin within a sector: the length of rows, or where they start in rows."""
    sector = access.sector_bytes
    elements = sector // gcd(sector, sample.element_bytes)
    row = _unaligned_row(array.shape, sample, sector)
    if row is not None:
        size, dimensions = row
        along = (
            f"dimension {dimensions[0]}" if len(dimensions) == 1 else f"dimensions {', '.join(map(str, dimensions))}"
        )
        return (
            f"a row of `{array.name}` ({along}) is {size} B, which is no multiple of a sector ({sector} B): "
            f"what a warp {array.verb}s of it begins within one",
            f"rows of a multiple of {elements} elements, by padding",
        )
    offsets = Counter(start % sector for start in sample.starts if start % sector)
    such = f", {_most_frequent(offsets)} B from its start, for example" if offsets else ""
    return (
        f"the runs that a warp {array.verb}s begin within a sector ({sector} B){such}",
        f"starts and lengths that are multiples of {elements} elements",
    )


def _most_frequent(counts: Counter[int]) -> int:
    return max(counts, key=lambda n: (counts[n], -n))


def _unaligned_row(shape: Shape, sample: WarpSample, sector: int) -> tuple[int, tuple[int, ...]] | None:
    """The bytes of rows at whose ends runs come to begin within sectors, and their dimensions; None if rows are not why."""
    within = [start for start in sample.starts if start % sector]
    widest = None
    size, dimensions = sample.element_bytes, tuple[int, ...]()
    for d in reversed(major_to_minor(shape)[1:]):
        if shape.dimensions[d] == 1:
            continue
        size, dimensions = size * shape.dimensions[d], (d, *dimensions)
        if within and all(start % size % sector == 0 for start in within):
            widest = size, dimensions
    return widest


def _partial(array: AccessedArray, access: Access, sample: WarpSample) -> tuple[str, str]:
    """The reason for warp instructions whose bytes do not fill their last sector."""
    sector = access.sector_bytes
    if array.ideal_bytes < sector:
        return f"its {array.ideal_bytes} B are less than a sector ({sector} B), which moves whole", ""
    if array.ideal_bytes % sector and access.unrolled.ideal * sector - access.unrolled.asked < sector:
        return f"its {array.ideal_bytes} B are no multiple of a sector ({sector} B)", ""
    at_once = access.unrolled.asked / access.unrolled.instructions
    mean = "" if sample.bytes_at_once == {at_once} else " on average"
    return f"a warp {array.verb}s {_number(at_once)} B at a time{mean}, and a sector ({sector} B) moves whole", ""


def _sectors(bytes_of: Callable[[Access], float]) -> Callable[[Access], float]:
    """A number of sectors in bytes."""
    return lambda access: bytes_of(access) * access.sector_bytes


#: The sentences, and the bytes that each accounts for.
_PARTS: dict[Callable[[AccessedArray, Access, WarpSample], tuple[str, str]], Callable[[Access], float]] = {
    _scattered: _sectors(lambda a: min(a.unrolled.sectors, a.unrolled.aligned) - a.unrolled.ideal),
    _misaligned: _sectors(lambda a: max(a.unrolled.sectors - a.unrolled.aligned, 0)),
    _partial: lambda a: a.unrolled.ideal * a.sector_bytes - a.unrolled.asked,
}


def only_moves(i: Instruction) -> bool:
    """Whether the instruction, or each one of a fusion, computes nothing."""
    return all(traits_of(j).has_no_compute for j in (i.called[0].listed if i.is_fusion else (i,)))


def _reordering_remedy(array: AccessedArray, dimensions: tuple[int, ...]) -> str:
    turn, apart = turned_layout(array, dimensions), own_kernel(array)
    return f"{turn}; a tile in shared memory; or {apart}" if apart else f"{turn}, or a tile in shared memory"


def turned_layout(array: AccessedArray, dimensions: Sequence[int]) -> str:
    """The layout of an array in which these dimensions are the minor ones."""
    order = [d for d in major_to_minor(array.shape) if d not in dimensions] + list(dimensions)
    layout = ",".join(str(d) for d in reversed(order))
    return f"a layout {{{layout}}} of `{array.name}`" if dimensions else f"another layout of `{array.name}`"


def own_kernel(array: AccessedArray) -> str:
    """The first transpose on the way of the array's elements, as what a kernel of its own computes; empty if there is none."""
    transposes = [i for i in _reordering_instructions(array) if permutes(i)]
    return f"a kernel of its own for `{transposes[0].name}`" if transposes else ""


def reordered_by(array: AccessedArray) -> str:
    """The first instructions of the fusion that change the order of the array's elements."""
    path = _reordering_instructions(array)[:2]
    return f", through {' and '.join(f'the {i.opcode} `{i.name}`' for i in path)}" if path else ""


def _reordering_instructions(array: AccessedArray) -> list[Instruction]:
    """The instructions of the fusion that change the order of the array's elements, the nearest to it first."""
    fusion = array.instruction
    if array.operand is None or not fusion.is_fusion:
        return []
    moved: list[Instruction] = []
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
                    moved.append(user)
    return moved


def _places(operand: Instruction, user: Instruction) -> Iterator[int]:
    return (k for k, o in enumerate(user.operands) if o is operand)


def _reorders(results: Sequence[object], user: Instruction) -> bool:
    """Whether the results are neither the index nor a part of it in order. Dimensions of size 1 are ignored."""
    own = [variable(k) for k, size in enumerate(user.shape.dimensions) if size != 1]
    moving = [r for r in results if r != constant(0)]
    return moving != [v for v in own if v in moving]


def permutes(i: Instruction) -> bool:
    """Whether the result is the operand with its dimensions in another order."""
    own = [variable(k) for k in range(len(i.shape.dimensions))]
    maps = output_to_input(i)
    results = [list(m.map.results) for m in maps[0]] if len(maps) == 1 else []
    return len(results) == 1 and results[0] != own and sorted(map(str, results[0])) == sorted(map(str, own))
