"""The cache lines that accesses in nested loops fetch: which of them an iteration still finds in a cache.

The laws are those of docs/prediction.md, "CPUs".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

__all__ = ["Cache", "Level", "Lines", "digits", "fetched_by_several", "fetched_lines", "spans"]

#: A loop around an access: the distance from one iteration to the next, and the number of iterations, of which guards may leave
#: a part.
Level: TypeAlias = "tuple[int, float]"
STREAMS = 16  # runs that a processor fetches ahead


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache of `size` bytes in lines of `line` bytes. A line's address decides in which set of `ways` it stays; 0: in any."""

    size: int
    line: int
    ways: int = 0

    def keeps(self, runs: float, of_run: float, apart: int) -> bool:
        """Whether so many runs of `of_run` lines stay in it; they begin at multiples of `apart` bytes."""
        if not self.ways:
            return runs * of_run * self.line <= self.size
        sets = self.size // self.line // self.ways
        of_starts = sets // max(gcd(apart, sets * self.line) // self.line, 1)
        return runs * of_run <= self.ways * min(of_starts * of_run, sets)


@dataclass(frozen=True, slots=True)
class Lines:
    """The `lines` that are fetched, the `runs` of adjacent ones among them, and the bytes that are `used` before other lines
    take their place.
    """

    lines: float
    runs: float
    used: float

    def part(self, of_lines: float, of_bytes: float) -> Lines:
        """Parts of the lines and their runs, and of the bytes."""
        return Lines(self.lines * of_lines, self.runs * of_lines, self.used * of_bytes)


def fetched_lines(levels: Iterable[Level], length: int, used: int, cache: Cache) -> Lines:
    """The lines that an access of `length` adjacent bytes, of which it uses some, fetches in loops; these are innermost first.

    A loop touches so many runs of `length` bytes. What the next iteration of the loop around it touches again is still cached
    if the lines of all runs fit into the cache; otherwise they are fetched again. Of a box of bytes that fits as a whole, each
    line is fetched once.
    """
    line, apart = cache.line, 0
    box, extent, touched = float(length), float(length), 1.0  # around all, of a run, and the runs
    last: Level = (0, 1)  # the loop that touched several runs, last
    lines, runs, of_used = max(extent / line, 1.0), 1.0, float(used)
    for distance, iterations in levels:
        step, of_run, times = abs(distance), max(extent / line, 1.0), float(iterations)
        is_kept = box <= cache.size or cache.keeps(touched, of_run, apart) or (touched == 1 and step >= extent)
        box += (iterations - 1) * step
        if step <= extent or (step < line and is_kept):  # runs become longer
            shorter, extent = extent, max(extent, (iterations - 1) * step + (extent if step <= extent else 0))
            if is_kept:
                times = max(extent / line, 1.0) / of_run
                of_used *= iterations if step >= shorter else extent / shorter
                runs = min(runs * iterations, lines * times) if touched > STREAMS else runs
            else:
                runs, of_used = runs * iterations, of_used * iterations
        else:
            if last[0] and step % last[0] == 0 and step // last[0] < last[1]:  # a window over runs
                moved = last[1] + (iterations - 1) * step // last[0]
                touched, times = touched * moved // last[1], moved / last[1] if is_kept else times
                last = last[0], moved
            else:
                touched, apart, last = touched * iterations, gcd(apart, step), (step, iterations)
            runs, of_used = runs * times, of_used * times
        lines *= times
        if box <= cache.size:
            lines = min(lines, max(box / line, 1.0))
            runs, of_used = min(runs, lines), min(of_used, box)
    return Lines(lines, runs, of_used)


def fetched_by_several(levels: Sequence[Level], accesses: Sequence[tuple[int, int]], cache: Cache) -> Lines:
    """The lines that accesses of the same loops, each from an address and of a size, fetch together: those in one line, or in
    adjacent ones, are one access. Others are too if that is less, for the loops lead from one to the next (the taps of a
    window) while the cache keeps all between them.
    """
    apart = [fetched_lines(levels, length, used, cache) for length, used in spans(accesses, cache.line)]
    total = Lines(sum(f.lines for f in apart), sum(f.runs for f in apart), sum(f.used for f in apart))
    if len(apart) == 1:
        return total
    length = max(address + size for address, size in accesses) - min(address for address, _ in accesses)
    whole = fetched_lines(levels, length, length, cache)
    return whole if whole.lines < total.lines else total


def digits(address: Callable[[int], int], iterations: int) -> Iterator[Level]:
    """The loops into which a loop falls apart so that each moves by one distance, innermost first: an index such as
    `t % 4 * 8 + t // 4` does so, by the digits of its counter.
    """
    unit = 1
    while unit < iterations:
        length = _even_length(address, unit, -(-iterations // unit))
        yield address(unit) - address(0), length
        unit *= length


def _even_length(address: Callable[[int], int], unit: int, count: int) -> int:
    """The number of steps of so many iterations, at most `count`, that move as the first, by those tried."""
    first, distance = address(0), address(unit) - address(0)

    def is_even(k: int) -> bool:
        return address(k * unit) == first + k * distance

    even, odd = 1, 2
    while odd < count and is_even(odd):
        even, odd = odd, odd * 2
    if odd >= count:
        if is_even(count - 1):
            return count
        odd = count - 1
    while odd - even > 1:
        middle = (even + odd) // 2
        even, odd = (middle, odd) if is_even(middle) else (even, middle)
    return odd


def spans(accesses: Sequence[tuple[int, int]], gap: int) -> Iterator[tuple[int, int]]:
    """Accesses, each from an address and of a size, by which of them lie beside each other, at most `gap` bytes apart: the
    bytes from the first to the last of them, and those that they use.
    """
    begin = end = used = 0
    for address, size in sorted(accesses):
        if used and address - end <= gap:
            used += max(address + size - max(end, address), 0)
            end = max(end, address + size)
            continue
        if used:
            yield end - begin, used
        begin, end, used = address, address + size, size
    if used:
        yield end - begin, used
