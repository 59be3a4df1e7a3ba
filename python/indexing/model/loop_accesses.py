"""The lines of memory that a kernel without threads fetches: its accesses in nested loops, by the distances of these.

A walk visits the body of a loop once, with the counter in the middle of its range; strides are differences of the first two
iterations. The laws are those of docs/prediction.md, "CPUs".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, prod
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import Interval, SymbolicExpr, variable
from indexing.device.record import Memory
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.nodes import Block, Statement, Value
from indexing.kernels.ir.traversal import loads_of
from indexing.kernels.ir.types import storage_bytes
from indexing.model.cache_lines import Cache, Level, Lines, digits, fetched_by_several
from indexing.model.data_indices import DataIndices
from indexing.model.guards import Guard, Moving, first_periods, reached
from indexing.model.kernel_walk import GRID, KernelWalk

if TYPE_CHECKING:
    Path: TypeAlias = "tuple[tuple[ir.For, int] | ir.LetIndex, ...]"
    Touched: TypeAlias = "tuple[str, SymbolicExpr]"
    Guards: TypeAlias = "tuple[Guard, ...]"
    _Access: TypeAlias = "tuple[str, tuple[int, ...], tuple[Level, ...], tuple[float, float], frozenset[int]]"

__all__ = ["Fetches", "LoopAccesses", "last_loop", "touched_by"]

GATHERED_BYTES = 4  # processors gather vectors of elements of so many, or more
WAYS = 8  # lines in a set of a core's own cache
FAR = 1 << 40  # elements: a distance beyond all arrays


@dataclass(slots=True)
class Fetches:
    """The `lines` of an array that cores' caches fetch, in so many `runs` of adjacent ones, the bytes that are `used` before
    other lines take their place, and the lines `from_memory`, one more for each run. Of the access that leaves most, `step` is
    the distance of its innermost loop in bytes; 0 if data decide it.
    """

    lines: float = 0.0
    runs: float = 0.0
    used: float = 0.0
    from_memory: float = 0.0
    step: int = 0
    left: float = 0.0

    def add(self, lines: Lines, from_memory: Lines, step: int, line: int) -> None:
        """Add those of accesses."""
        self.lines += lines.lines
        self.runs += lines.runs
        self.used += lines.used
        self.from_memory += from_memory.lines + from_memory.runs
        left = lines.lines * line - lines.used
        if left > self.left:
            self.left, self.step = left, step


class LoopAccesses(KernelWalk):
    """A walk through a block of a kernel, which stands for several; the accesses that it meets, and what these fetch."""

    def __init__(self, kernel: ir.Kernel, memory: Memory) -> None:
        """Begin with no block."""
        super().__init__(kernel, (0,) * 6)
        self.kernel, self.memory = kernel, memory
        self.buffers = {b.name: b for b in kernel.buffers}
        self.fetches: dict[str, Fetches] = {}  # of all blocks, by buffer
        self._touched: dict[int, tuple[Touched, ...]] = {}  # by statement
        self._distances: dict[tuple[SymbolicExpr, int], int | None] = {}  # in loops, if they are always the same

    def begin_block(self, block: Sequence[int]) -> None:
        """Begin a block of this number in x, y and z."""
        self.origin = tuple(block)
        self.begin((0, 0, 0, *block))
        # Conditions on a block's number hold as often as for all blocks, of which those that are visited may be no sample.
        self.counters = {k: Interval(0, size - 1) for k, size in enumerate(self.kernel.grid, GRID)}
        self.data = DataIndices()
        self._accesses: dict[_Access, list[int]] = {}

    def defined(self, s: Statement, path: Path) -> Path:
        """The path after a statement."""
        self.data.define(s)
        return (*path, s) if self.define(s) and isinstance(s, ir.LetIndex) else path

    def touched(self, s: Statement) -> tuple[Touched, ...]:
        """The buffers that a statement touches, as `touched_by`."""
        if id(s) not in self._touched:
            self._touched[id(s)] = tuple(touched_by(s))
        return self._touched[id(s)]

    def varies(self, condition: Value, path: Path, level: int) -> bool:
        """Whether a condition changes with the loop at a level of a path."""
        if not isinstance(condition, ir.Within):
            return True
        loop, _ = _loop_at(path, level)
        whole = self.without_lets(condition.expression)
        return loop.variable in whole.used_variables() or loop.variable in self.data.changes(condition.expression)

    def accesses_apart(self, s: Statement, path: Path, level: int) -> tuple[int, bool]:
        """The number of a statement's accesses that neither stay nor move by one element in the loop at a level of a path, and
        whether vectors can do them: a store moves evenly, an update by one element, and so do loads of less than 4 bytes, which
        no instruction gathers.
        """
        loop, iterations = _loop_at(path, level)
        count, is_even = 0, True
        for number, (name, index) in enumerate(self.touched(s)):
            distance, length = next(self._digits(index, path, level), (1, 1))
            is_by_data = loop.variable in self.data.changes(index)
            count += distance not in (0, 1) or length < iterations or is_by_data
            if number == 0 and isinstance(s, ir.Store):
                is_even = distance != 0 and length >= iterations
            elif number == 0 and isinstance(s, ir.AtomicUpdate):
                is_even = distance == 1 and length >= iterations and not is_by_data
            elif storage_bytes(self.buffers[name].element_type) < GATHERED_BYTES:
                is_even = is_even and length >= iterations and not is_by_data
        return count, is_even

    def stays(self, index: SymbolicExpr, path: Path, level: int) -> bool:
        """Whether an index is the same in each iteration of the loop at a level of a path."""
        loop, iterations = _loop_at(path, level)
        distance, length = next(self._digits(index, path, level), (0, iterations))
        return distance == 0 and length >= iterations and loop.variable not in self.data.changes(index)

    def _address(self, index: SymbolicExpr, path: Path, moved: int = -1, place: int = 0) -> int:
        """The address in the first block and the first iteration of all loops, except the variable `moved`, which is that of a
        block's number or of a counter, and has its next place, or a later one.
        """
        values = [0] * len(self.values)
        values[GRID : GRID + 3] = self.origin
        if moved in range(GRID, GRID + 3):
            values[moved] = place
        for part in path:
            if isinstance(part, ir.LetIndex):
                assert isinstance(part.value, SymbolicExpr)
                values[part.variable] = part.value.evaluate(values)
            else:
                loop, _ = part
                values[loop.variable] = loop.start.evaluate(values) + (
                    place * loop.step if loop.variable == moved else 0
                )
        return index.evaluate(values)

    def guarded(self, s: ir.If, path: Path) -> Iterator[tuple[Block, float, Guards]]:
        """The bodies that may run, each with its probability, and what guards its accesses."""
        conditions = [self._guard(c, path) for c in s.conditions]
        holds = prod(c.probability for c in conditions)
        if holds > 0:
            yield s.then, holds, tuple(c for c in conditions if c.probability < 1)
        if holds < 1:
            periods = [c.periods for c in conditions if c.periods is not None]
            by_index = {v: min(p.get(v, inf) for p in periods) for p in periods for v in p} if periods else None
            yield s.otherwise, 1 - holds, (Guard(1 - holds, by_index, any(c.is_everywhere for c in conditions)),)

    def _guard(self, condition: Value, path: Path) -> Guard:
        probability = self.probability(condition)
        if not isinstance(condition, ir.Within):
            return Guard(probability, is_everywhere=probability == 0.5)
        if self.data.changes(condition.expression):
            return Guard(probability, is_everywhere=True)
        return Guard(probability, first_periods(self._levels(condition.expression, path)))

    def access(self, s: Statement, path: Path, guards: Guards) -> None:
        """Meet the accesses of a statement to global memory."""
        for name, index in self.touched(s):
            buffer = self.buffers[name]
            if buffer.space == "global":
                loops = tuple(id(part[0]) for part in path if not isinstance(part, ir.LetIndex))
                size, line = storage_bytes(buffer.element_type), self.memory.line_bytes
                moving, of_lines, of_bytes = reached(guards, list(self._levels(index, path)), size, line)
                key = name, loops, tuple(level for _, level in moving), (of_lines, of_bytes), self.data.changes(index)
                self._accesses.setdefault(key, []).append(self._address(index, path))

    def count_fetches(self, share: float) -> None:
        """Add what all accesses that were met fetch, those in the same loops together. Single lines that data choose, and
        arrays of one line, bring no others.
        """
        line = self.memory.line_bytes
        own, last = Cache(self.memory.l1_bytes, line, WAYS), Cache(self.memory.l2_bytes, line)
        for (name, _, levels, (of_lines, of_bytes), by_data), addresses in self._accesses.items():
            buffer = self.buffers[name]
            size = storage_bytes(buffer.element_type)
            in_bytes = [(distance * size, iterations) for distance, iterations in levels]
            step = next((abs(d) for d, _ in in_bytes if d), size)
            if step >= FAR:
                step = 0 if by_data else size
            of_array = self.fetches.setdefault(name, Fetches())
            accesses = [(a * size, size) for a in addresses]
            of_own, of_last = (fetched_by_several(in_bytes, accesses, cache) for cache in (own, last))
            if by_data:
                of_own, of_last = self._at_most(of_own, buffer, own), self._at_most(of_last, buffer, last)
                of_own, of_last = (replace(f, runs=0.0) if f.lines <= f.runs else f for f in (of_own, of_last))
            if buffer.size * size <= line:
                of_own, of_last = (replace(f, runs=0.0) for f in (of_own, of_last))
            of_own, of_last = (f.part(share * of_lines, share * of_bytes) for f in (of_own, of_last))
            of_array.add(of_own, of_last, step, line)

    def _at_most(self, fetched: Lines, buffer: ir.Buffer, cache: Cache) -> Lines:
        """At most each line of the array once, if all of them stay in the cache."""
        most = -(-buffer.size * storage_bytes(buffer.element_type) // cache.line)
        if most * cache.line > cache.size:
            return fetched
        return Lines(min(fetched.lines, most), min(fetched.runs, most), min(fetched.used, most * cache.line))

    def _digits(self, index: SymbolicExpr, path: Path, level: int) -> Iterator[Level]:
        """The levels of an access in one loop of a path."""
        loop, iterations = _loop_at(path, level)
        return self._moves(index, path, path[level + 1 :], (loop.variable, loop.step, iterations))

    def _moves(self, index: SymbolicExpr, path: Path, inside: Path, counter: tuple[int, int, int]) -> Iterator[Level]:
        """The levels of an access by a variable, with its step and the number of its values; `inside` is defined after it."""
        moved, step, count = counter
        if (index, moved) not in self._distances:
            within = self.replaced(index, (_counted(inner) for inner in reversed(inside)))
            later = self.replaced(within, [(moved, variable(moved) + step)])
            self._distances[index, moved] = (later - within).constant_value
        distance = self._distances[index, moved]
        if distance is None:
            return digits(partial(self._address, index, path, moved), count)
        return iter([(distance, count)])

    def _levels(self, index: SymbolicExpr, path: Path) -> Iterator[Moving]:
        """Distances and numbers of iterations of the loops of a path, innermost first, with their counters; then those of the
        blocks. Data lead anywhere.
        """
        anywhere = self.data.changes(index)
        far = FAR  # no two loops lead to the same places
        loops = [(level, part) for level, part in enumerate(path) if not isinstance(part, ir.LetIndex)]
        for level, (loop, iterations) in reversed(loops):
            if loop.variable in anywhere:
                yield loop.variable, (far, iterations)
                far *= iterations
            elif iterations > 1:
                yield from ((loop.variable, of) for of in self._digits(index, path, level))
        for number, size in enumerate(self.kernel.grid, GRID):
            if number in anywhere:
                yield number, (far, size)
                far *= size
            elif size > 1:
                yield from ((number, of) for of in self._moves(index, path, path, (number, 1, size)))


def _counted(part: tuple[ir.For, int] | ir.LetIndex) -> tuple[int, SymbolicExpr]:
    """The variable of a part of a path, and its first value."""
    if not isinstance(part, ir.LetIndex):
        return part[0].variable, part[0].start
    assert isinstance(part.value, SymbolicExpr)
    return part.variable, part.value


def last_loop(path: Path) -> int:
    """The level of the last loop of a path."""
    return max(level for level, part in enumerate(path) if not isinstance(part, ir.LetIndex))


def _loop_at(path: Path, level: int) -> tuple[ir.For, int]:
    """The loop at a level of a path, and its iterations."""
    part = path[level]
    assert not isinstance(part, ir.LetIndex)
    return part


def touched_by(s: Statement) -> Iterator[Touched]:
    """The buffers that a statement itself writes, then those that it reads, with the indices."""
    if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
        yield s.buffer, s.index[0]
    yield from ((v.buffer, v.index[0]) for v in loads_of(s))
