"""What a sentence about an access claims of addresses, held against those of the warps of its kernel.

Every thread of the launch is evaluated at every value of every range variable; a warp instruction is one warp at one value of
each but the vector's. A sentence that claims nothing known here is an error.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from indexing.analysis.memory.global_memory import Access

SECTOR = 32
MAX_POINTS = 50_000  # points of an access
Lanes = dict[int, list[tuple[int, tuple[int, ...]]]]


@dataclass
class Launch:
    """Of each warp instruction with an active lane: the bytes and indices that each lane touches, in the order of its vector."""

    warps: list[Lanes]
    width: int

    def runs(self, warp: Lanes) -> list[tuple[int, int]]:
        """The starts and lengths of runs of adjacent bytes."""
        actual: list[list[int]] = []
        for address in sorted({a for of in warp.values() for a, _ in of}):
            if actual and sum(actual[-1]) == address:
                actual[-1][1] += self.width
            else:
                actual.append([address, self.width])
        return [(start, length) for start, length in actual]

    def parts(self) -> tuple[int, int, int, int]:
        """Bytes asked, in ideal sectors, in sectors, and in sectors if each run began at one."""
        asked = ideal = sectors = aligned = 0
        for warp in self.warps:
            runs = self.runs(warp)
            size = sum(length for _, length in runs)
            asked, ideal = asked + size, ideal + -(-size // SECTOR)
            sectors += len({s for a, n in runs for s in range(a // SECTOR, (a + n - 1) // SECTOR + 1)})
            aligned += sum(-(-n // SECTOR) for _, n in runs)
        return asked, ideal * SECTOR, sectors * SECTOR, aligned * SECTOR

    def steps(self) -> Counter[int]:
        """The distances between lanes that follow each other and touch different elements first."""
        result: Counter[int] = Counter()
        for warp in self.warps:
            firsts = [warp[lane][0][0] for lane in sorted(warp)]
            result.update(abs(b - a) for a, b in pairwise(firsts) if a != b)
        return result

    def gaps(self) -> Counter[int]:
        """The lanes from one to the next that touches another element first."""
        result: Counter[int] = Counter()
        for warp in self.warps:
            lanes = sorted(warp)
            firsts = [lane for k, lane in enumerate(lanes) if not k or warp[lanes[k - 1]][0][0] != warp[lane][0][0]]
            result.update(b - a for a, b in pairwise(firsts))
        return result

    @property
    def elements(self) -> set[int]:
        """The addresses that any warp touches."""
        return {a for warp in self.warps for of in warp.values() for a, _ in of}


def launch_of(access: Access, sizes: Sequence[int], minor_to_major: Sequence[int]) -> Launch | None:
    """All warp instructions of an access of an array; None if they are too many, or depend on values at run time."""
    m, width = access.map, access.element_bits // 8
    if m.runtimes or prod(len(v.interval) for v in (*m.dims, *m.ranges)) > MAX_POINTS:
        return None
    strides, step = [0] * len(sizes), width
    for d in minor_to_major:
        strides[d], step = step, step * sizes[d]
    names = [v.name for v in m.ranges]
    vector = names.index("vector_index") if "vector_index" in names else None
    spans = [np.arange(v.lower, v.upper + 1) for v in (*m.dims[3:], *m.dims[2::-1], *m.ranges)]
    grid = [g.reshape(-1) for g in np.meshgrid(*spans, indexing="ij")]
    dims = [*grid[3:6][::-1], *grid[:3]]
    inside = np.flatnonzero(np.broadcast_to(m.contains(dims, grid[6:]), grid[0].shape))
    results = [np.broadcast_to(r, grid[0].shape) for r in m.evaluate(dims, grid[6:])]
    warps: dict[tuple[int, ...], Lanes] = {}
    block = [len(v.interval) for v in m.dims[:3]]
    for k in inside:
        x, y, z = (int(dims[n][k]) for n in range(3))
        thread = x + block[0] * (y + block[1] * z)
        others = [int(g[k]) for n, g in enumerate(grid[6:]) if n != vector]
        key = (thread // 32, *(int(d[k]) for d in dims[3:]), *others)
        index = tuple(int(r[k]) for r in results)
        address = sum(i * s for i, s in zip(index, strides, strict=True))
        warps.setdefault(key, {}).setdefault(thread % 32, []).append((address, index))
    return Launch(list(warps.values()), width)


@dataclass
class Told:
    """A sentence about the accesses of one array: what must move, the array's form, and its launches."""

    why: str
    ideal_bytes: int
    sizes: tuple[int, ...]
    minor_to_major: tuple[int, ...]
    launches: list[Launch]

    @property
    def bytes(self) -> int:
        return prod(self.sizes) * self.launches[0].width

    @property
    def asked(self) -> int:
        return sum(launch.parts()[0] for launch in self.launches)

    def total(self, kind: str) -> int:
        """The bytes of all launches beyond what must move that are due to scattered lanes, starts in sectors, or rests of them."""
        result = {"scattered": 0, "misaligned": 0, "partial": 0}
        for asked, ideal, sectors, aligned in (launch.parts() for launch in self.launches):
            result["scattered"] += min(sectors, aligned) - ideal
            result["misaligned"] += max(sectors - aligned, 0)
            result["partial"] += ideal - asked
        return result[kind]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def close(said: str, true: float) -> bool:
    return abs(number(said) - true) <= max(0.006 * true, 0.5 if "." not in said and true >= 10 else 0)


def is_count(at_most: str | None, said: str, true: float) -> bool:
    """Whether what is said is the number of times, or a bound of it."""
    return close(said, true) or (bool(at_most) and number(said) > true)


def most_frequent(counts: Counter[int], value: int) -> bool:
    return bool(counts) and 8 * counts[value] >= counts.total()


def row_begins_within(told: Told, dimensions: str, size: int) -> bool:
    named = {int(d) for d in dimensions.split(", ")}
    minor = told.minor_to_major
    inner = minor[: max(minor.index(d) for d in named) + 1]
    starts = [a for launch in told.launches for warp in launch.warps for a, _ in launch.runs(warp) if a % SECTOR]
    is_row = prod(told.sizes[d] for d in inner) * told.launches[0].width == size and size % SECTOR != 0
    return is_row and 0 < len(starts) <= 2 * sum(a % size % SECTOR == 0 for a in starts)


def any_launch(told: Told, holds: Callable[[Launch], bool]) -> bool:
    return any(holds(launch) for launch in told.launches)


def each_instruction(launch: Launch) -> Iterator[int]:
    return (sum(n for _, n in launch.runs(warp)) for warp in launch.warps)


#: What each part of a sentence claims: a pattern, and whether it holds.
CLAIMS: list[tuple[str, Callable[..., bool]]] = [
    (
        r"warps (?:load|store) each element (up to )?([\d.,]+) times",
        lambda t, most, n: is_count(
            most, n, t.asked / len(set().union(*(x.elements for x in t.launches))) / t.launches[0].width
        ),
    ),
    (
        r"the (\d+) (?:loads|stores) of the kernel overlap: ",
        lambda t, n: (
            len(t.launches) == int(n) > 1
            and len(set().union(*(x.elements for x in t.launches))) < sum(len(x.elements) for x in t.launches)
        ),
    ),
    (
        r"(?:neighbouring lanes are|the next(?: are)?) (\d+)(?: or (\d+))? B apart",
        lambda t, a, b: any_launch(
            t, lambda x: all(most_frequent(x.steps(), int(n)) and int(n) > t.launches[0].width for n in (a, b) if n)
        ),
    ),
    (
        r"(\d+) lanes share an element, ",
        lambda t, n: any_launch(
            t, lambda x: most_frequent(x.gaps(), int(n)) and all(len(w) > distinct_firsts(w) for w in x.warps[:1])
        ),
    ),
    (r"one lane in (\d+) is active, ", lambda t, n: any_launch(t, lambda x: most_frequent(x.gaps(), int(n)))),
    (
        r"a warp (?:reads|writes) runs of (\d+) B, apart from each other",
        lambda t, n: any_launch(
            t,
            lambda x: (
                most_frequent(Counter(length for w in x.warps for _, length in x.runs(w)), int(n))
                and max(len(x.runs(w)) for w in x.warps) > 1
            ),
        ),
    ),
    (
        r"of a sector's 32 B, a warp uses ([\d.]+)",
        lambda t, n: any_launch(t, lambda x: close(n, SECTOR * x.parts()[0] / x.parts()[2])),
    ),
    (
        r"a row of `[^`]*` \(dimensions? ([\d, ]+)\) is (\d+) B, which is no multiple of a sector \(32 B\): "
        r"what a warp (?:reads|writes) of it begins within one",
        lambda t, d, n: row_begins_within(t, d, int(n)),
    ),
    (
        r"the runs that a warp (?:reads|writes) begin within a sector \(32 B\)(?:, (\d+) B from its start, for example)?",
        lambda t, n: any_launch(t, lambda x: any(a % SECTOR == int(n or 0) > 0 for w in x.warps for a, _ in x.runs(w))),
    ),
    (
        r"its (\d+) B are less than a sector \(32 B\), which moves whole",
        lambda t, n: int(n) == t.ideal_bytes < SECTOR,
    ),
    (
        r"its (\d+) B are no multiple of a sector \(32 B\)",
        lambda t, n: int(n) == t.ideal_bytes and int(n) % SECTOR != 0,
    ),
    (
        r"a warp (?:reads|writes) ([\d.]+) B at a time( on average)?, and a sector \(32 B\) moves whole",
        lambda t, n, mean: any_launch(
            t,
            lambda x: (
                close(n, x.parts()[0] / len(x.warps)) if mean else all(b == number(n) for b in each_instruction(x))
            ),
        ),
    ),
    (
        r"(?:; a|, which a) cache serves(?: it)?, for it holds the ([\d,]+) B",
        lambda t, n: number(n) == t.bytes <= 1 << 20 and (t.asked >= 1.5 * t.ideal_bytes or "up to" in t.why),
    ),
    (
        r", which warps load (up to )?([\d.,]+) times",
        lambda t, most, n: is_count(most, n, t.asked / t.ideal_bytes),
    ),
    (
        r" \(they go along dimensions? ([\d, ]+) of \S+, memory along dimension (\d+)\)",
        lambda t, d, m: goes_along(t, d, int(m)),
    ),
    (r", through the [^;]*", lambda t: True),
    (r"; ", lambda t: True),
]

#: Of a sentence with these words, the part of what moves that it accounts for.
PARTS = {"uses": "scattered", "begin": "misaligned", "moves whole": "partial", "no multiple": "partial"}


def distinct_firsts(warp: Lanes) -> int:
    return len({of[0][0] for of in warp.values()})


def goes_along(told: Told, dimensions: str, minor: int) -> bool:
    """Whether an eighth of the steps between lanes change these dimensions alone, and memory goes along the other one."""
    wanted = {int(d) for d in dimensions.split(", ")}
    if minor != told.minor_to_major[0]:
        return False
    for launch in told.launches:
        actual: Counter[bool] = Counter()
        for warp in launch.warps:
            firsts = [warp[lane][0] for lane in sorted(warp)]
            for (a, i), (b, j) in pairwise(firsts):
                if a != b:
                    actual[{d for d, (x, y) in enumerate(zip(i, j, strict=True)) if x != y} == wanted] += 1
        if 8 * actual[True] >= actual.total() > 0:
            return True
    return False


def false_claims(told: Told) -> list[str]:
    """The claims of a sentence that do not hold, and words that no claim is known for."""
    wrong, rest = [], told.why
    while rest:
        match, holds = next(((m, h) for pattern, h in CLAIMS if (m := re.match(pattern, rest))), (None, None))
        if match is None or holds is None:
            return [*wrong, f"unknown: {rest}"]
        if not holds(told, *match.groups()):
            wrong.append(match.group())
        rest = rest[match.end() :]
    return wrong + ([] if is_greatest(told) else ["another part is greater"])


def is_greatest(told: Told) -> bool:
    """Whether what the sentence is about accounts for a quarter of what moves beyond what must, at least."""
    again = told.asked - told.ideal_bytes
    parts = {kind: told.total(kind) for kind in ("scattered", "misaligned", "partial")}
    kind = next((kind for words, kind in PARTS.items() if words in told.why), "")
    own = parts.get(kind, again)
    return 4 * own * 1.01 >= again + sum(parts.values())
