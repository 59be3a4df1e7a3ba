"""Every address of every warp of a launch, one by one: what the analyses of memory accesses are held against.

Written from the definition alone: threads are numbered x fastest, warps are runs of threads of one block, and a warp
instruction is one warp at one value of every range variable.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import indexing as ix


@dataclass
class Moved:
    instructions: int = 0
    asked: int = 0
    sectors: int = 0
    lines: int = 0
    ideal: int = 0

    @property
    def numbers(self) -> tuple[int, ...]:
        return (self.instructions, self.asked, self.sectors, self.lines, self.ideal)


def strides(sizes: Sequence[int], minor_to_major: Sequence[int]) -> list[int]:
    result, step = [0] * len(sizes), 1
    for d in minor_to_major:
        result[d] = step
        step *= sizes[d]
    return result


def spans(variables: Sequence[ix.Variable]) -> list[range]:
    return [range(v.lower, v.upper + 1) for v in variables]


def warp_lanes(m: ix.IndexingMap, block: tuple[int, int, int], warp_size: int = 32) -> Iterator[list[tuple[int, ...]]]:
    """Of each warp: the thread and block ids of its lanes."""
    threads = [(x, y, z) for z in range(block[2]) for y in range(block[1]) for x in range(block[0])]
    for ids in itertools.product(*spans(m.dims[3:])):
        for first in range(0, len(threads), warp_size):
            yield [(*t, *ids) for t in threads[first : first + warp_size]]


def simulate(
    m: ix.IndexingMap,
    steps: Sequence[int],
    block: tuple[int, int, int],
    bits: int,
    vector: int | None = None,
    most: int = 128,
) -> Moved:
    """Count sectors of 32 bytes and lines of 128 for all warps.

    `vector` is a range variable whose elements a thread moves together, `most` bits at a time, where it has all of them.
    """
    moved = Moved()
    for lanes in warp_lanes(m, block):
        others = [s for k, s in enumerate(spans(m.ranges)) if k != vector]
        for symbols in itertools.product(*others):
            for addresses in instructions(m, steps, lanes, symbols, bits, vector, most):
                add(moved, addresses, bits)
    return moved


def instructions(
    m: ix.IndexingMap,
    steps: Sequence[int],
    lanes: list[tuple[int, ...]],
    symbols: tuple[int, ...],
    bits: int,
    vector: int | None,
    most: int,
) -> Iterator[set[int]]:
    if vector is None:
        yield {a for lane in lanes for a in reached(m, steps, lane, symbols, bits)}
        return
    values = list(spans(m.ranges)[vector])
    by_lane = [
        [reached(m, steps, lane, (*symbols[:vector], v, *symbols[vector:]), bits) for v in values] for lane in lanes
    ]
    whole = [actual for actual in by_lane if all(actual)]
    partial = [actual for actual in by_lane if not all(actual)]
    piece = max(min(len(values), most // bits), 1)
    for first in range(0, len(values), piece):
        yield {a for actual in whole for one in actual[first : first + piece] for a in one}
    for k in range(len(values)):
        yield {a for actual in partial for a in actual[k]}


def reached(
    m: ix.IndexingMap, steps: Sequence[int], lane: tuple[int, ...], symbols: tuple[int, ...], bits: int
) -> list[int]:
    if not m.contains(list(lane), list(symbols)):
        return []
    return [bits * sum(i * s for i, s in zip(m.evaluate(list(lane), list(symbols)), steps, strict=True))]


def add(moved: Moved, addresses: set[int], bits: int) -> None:
    if not addresses:
        return
    asked = -(-len(addresses) * bits // 8)
    moved.instructions += 1
    moved.asked += asked
    moved.sectors += len({a // 256 for a in addresses})
    moved.lines += len({a // 1024 for a in addresses})
    moved.ideal += -(-asked // 32)


def simulate_banks(
    m: ix.IndexingMap, block: tuple[int, int, int], cell_bytes: int, banks: int = 32, bank_bytes: int = 4
) -> tuple[int, int, int, int]:
    """Instructions, bytes, passes and least passes of all warps over the banks of shared memory, word by word."""
    result = [0, 0, 0, 0]
    together = max(banks * bank_bytes // cell_bytes, 1)  # lanes whose cells fill all banks once
    for lanes in warp_lanes(m, block):
        for symbols in itertools.product(*spans(m.ranges)):
            cells = [reached(m, [1], lane, symbols, 1) for lane in lanes]
            if not any(cells):
                continue
            result[0] += 1
            result[1] += cell_bytes * len({c for cell in cells for c in cell})
            for first in range(0, len(cells), together):
                passes, least = bank_passes(cells[first : first + together], cell_bytes, banks, bank_bytes)
                result[2] += passes
                result[3] += least
    return result[0], result[1], result[2], result[3]


def bank_passes(cells: list[list[int]], cell_bytes: int, banks: int, bank_bytes: int) -> tuple[int, int]:
    bytes_wanted = {c * cell_bytes + b for cell in cells for c in cell for b in range(cell_bytes)}
    words = {b // bank_bytes for b in bytes_wanted}
    by_bank = [sum(1 for w in words if w % banks == bank) for bank in range(banks)]
    return max(by_bank), -(-len(words) // banks)
