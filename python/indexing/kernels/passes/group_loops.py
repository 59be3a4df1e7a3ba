"""Group reductions as loops over arrays that hold a value of each thread, for targets without threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexing._core import Interval, SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.types import decoded, encoded, storage_type


def array_of(name: str) -> str:
    """The name of the array that holds a value of each thread."""
    return f"{name}_of"


def pairs_of(name: str) -> str:
    """The name of the array that holds combined pairs of these values."""
    return f"{name}_pairs"


class GroupLoops:
    """The loops of the group reductions of a kernel, in blocks of so many threads."""

    def __init__(self, threads: int, variables: list[ir.IndexVariable]) -> None:
        """Start without loops; `variables` gets their counters."""
        self.threads, self.variables = threads, variables
        self.calls = 0  # of combiners
        self.pairs: dict[str, str] = {}  # the element types of arrays of pairs

    def buffers(self) -> Iterator[ir.Buffer]:
        """The arrays of pairs."""
        return (ir.Buffer(name, kind, (self.threads // 2,), "local") for name, kind in self.pairs.items())

    def loops(self, s: ir.GroupReduce) -> Iterator[ir.Statement]:
        """A reduction of several groups of neighbours in pairs, whose vectors are full; of others by halves."""
        groups = self.threads // (s.threads * s.distance)
        is_paired = s.distance == 1 and groups > 1 and s.threads.bit_count() == 1
        yield from self._in_pairs(s, groups) if is_paired else self._in_halves(s, groups)
        if s.to_all:
            yield self._spread_result(s)

    def _in_halves(self, s: ir.GroupReduce, groups: int) -> Iterator[ir.Statement]:
        """The second half of each group is combined into the first one, until one element is left."""
        arrays, left = tuple(map(array_of, s.names)), s.threads
        while left > 1:
            half = -(-left // 2)
            others = left - half
            here, counters = constant(0), []
            for name, size, stride in (("cell", others * s.distance, 1), ("group", groups, s.threads * s.distance)):
                if size > 1:
                    counters.append((self._counter(name, size), size))
                    here = here + variable(counters[-1][0]) * stride
            body = self._combined(s, arrays, (here, here + half * s.distance), arrays, here)
            for counter, size in counters:
                body = (ir.For(counter, constant(0), constant(size), 1, body),)
            yield from body
            left = half

    def _in_pairs(self, s: ir.GroupReduce, groups: int) -> Iterator[ir.Statement]:
        """Neighbours are combined into the next cells of other arrays, and these into the first ones, until each group has a
        pair left. The last group's comes first: its result is written to where pairs of groups before it are not.
        """
        arrays, others = tuple(map(array_of, s.names)), tuple(map(pairs_of, s.names))
        source, target = arrays, others
        left = s.threads // 2
        while left > 1:
            self.pairs.update(zip(others, s.types, strict=True))
            yield self._paired(s, "pair", groups * left, source, target, 1)
            source, target, left = target, source, left // 2
        yield self._paired(s, "group", groups, source, arrays, s.threads)

    def _paired(
        self, s: ir.GroupReduce, name: str, size: int, source: Sequence[str], target: Sequence[str], distance: int
    ) -> ir.Statement:
        """A loop that combines pairs of neighbours into cells at a distance; the last pair first if they are apart."""
        counter = self._counter(name, size)
        cell = variable(counter) if distance == 1 else size - 1 - variable(counter)
        body = self._combined(s, source, (cell * 2, cell * 2 + 1), target, cell * distance)
        return ir.For(counter, constant(0), constant(size), 1, body)

    def _spread_result(self, s: ir.GroupReduce) -> ir.Statement:
        """A loop that copies the first thread's cells to all other threads of each group."""
        first, cell, counters = constant(0), constant(0), []
        whole = s.threads * s.distance
        for name, size, stride in (
            ("cell", s.distance, 1),
            ("part", s.threads - 1, s.distance),
            ("group", self.threads // whole, whole),
        ):
            if size > 1 or name == "part":
                number = self._counter(name, size)
                counters.append((number, size))
                place = variable(number) * stride
                cell, first = (cell + place + stride, first) if name == "part" else (cell + place, first + place)
        body: ir.Block = tuple(
            ir.Store(array_of(n), (cell,), ir.Load(storage_type(t), array_of(n), (first,)))
            for n, t in zip(s.names, s.types, strict=True)
        )
        for counter, size in counters:
            body = (ir.For(counter, constant(0), constant(size), 1, body),)
        return body[0]

    def _counter(self, name: str, size: int) -> int:
        number = len(self.variables)
        self.variables.append(ir.IndexVariable(f"{name}{number}", Interval(0, max(size - 1, 0)), "loop"))
        return number

    def _combined(
        self,
        s: ir.GroupReduce,
        source: Sequence[str],
        places: Sequence[SymbolicExpr],
        target: Sequence[str],
        place: SymbolicExpr,
    ) -> ir.Block:
        """The values at two places of arrays, combined at a place of arrays."""
        arguments = [
            decoded(kind, ir.Load(storage_type(kind), array, (other,)))
            for other in places
            for array, kind in zip(source, s.types, strict=True)
        ]
        names = tuple(f"{n}_both{self.calls or ''}" for n in s.names)
        self.calls += 1
        stores = [
            ir.Store(array, (place,), encoded(kind, ir.Ref(kind, both)))
            for array, both, kind in zip(target, names, s.types, strict=True)
        ]
        return (ir.CallFunction(names, s.combiner, (), tuple(arguments)), *stores)
