"""Vectors of neighbouring elements: their C types, and the loop over the lanes of one thread's vector.

What the loop loads at neighbouring, aligned places is loaded as one vector in front of it; what it stores at such places
is stored as one behind it. Everything else is loaded and stored lane by lane.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr, constant
from indexing.emit.types import c_type
from indexing.errors import IndexingError

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter
    from indexing.hlo import Instruction

VECTOR_BYTES = 16
_NAMES = re.compile(r"\b(([a-z]+)\d+)\b")
_ELSEWHERE = frozenset(
    {"bf", "c", "f", "p", "s", "table", "u"}
)  # what numbered types, parameters and tables begin with
WIDTHS = (1, 2, 4, 8, 16)
MAX_MOVED_BYTES = 4 * VECTOR_BYTES  # wider vectors would need too many registers
MIN_THREADS = 1 << 14  # below so many threads, more of them are better than wider ones
LARGE = 512  # instructions; a larger body is not unrolled
MANY_READS = frozenset({"convolution", "dot", "reduce", "reduce-window", "scatter", "select-and-scatter"})


def is_light(order: Collection[Instruction], heroes: Collection[Instruction] = ()) -> bool:
    """Whether a body, the heroes aside, is worth writing once a lane."""
    return len(order) <= LARGE and not any(i.opcode in MANY_READS for i in order if i not in heroes)


def widest(limit: int, size: int, count: int, divides: Iterable[int]) -> int:
    """Lanes of a vector: as many elements of `size` bytes as 16 bytes hold, up to `limit`, that divide all of
    `divides`; fewer where `count` elements would leave few threads.
    """
    width = min(limit, VECTOR_BYTES // size)
    sizes = list(divides)
    while width > 1 and (count // width < MIN_THREADS or any(n % width for n in sizes)):
        width //= 2
    return max(width, 1)


def check_width(width: int, size: int) -> None:
    """Raise IndexingError for a knob `vector_width` that does not divide `size`, or is no width of a vector."""
    if width not in WIDTHS or size % width:
        raise IndexingError(f"vector_width is 1, 2, 4, 8 or 16, and divides {size} here; got {width}")


class VectorTypes:
    """The vector types that a kernel uses, with their declarations."""

    def __init__(self, width: int) -> None:
        """`width`: elements of each vector."""
        self.width = width
        self.declarations: dict[str, str] = {}

    def name(self, storage: str) -> str:
        """The C type of a vector of `storage` elements; it is aligned to its size, up to 16 bytes."""
        name = f"{storage}x{self.width}"
        alignment = min(bytes_of(storage) * self.width, VECTOR_BYTES)
        self.declarations[name] = f"typedef struct @aligned{alignment} {{ {storage} v[{self.width}]; }} {name};"
        return name


class Lanes:
    """The loop over the lanes of a vector, as it is written. What is the same for all lanes is computed in front of it.

    A place is a lane of an aligned vector where it is `width * block + lane` with a `block` that depends on neither the
    lane nor anything that the loop computes.
    """

    def __init__(self, types: VectorTypes, body: FunctionWriter) -> None:
        """The loop begins at the place where `body` stands now."""
        self.types, self.body = types, body
        self.lane = constant(0)
        self._at, self._depth = len(body.writer.lines), body.writer.depth
        self._known = set(range(len(body.scope.names)))  # variables that exist in front of the loop
        self._names = set(body.scope.names)
        self._loaded: dict[tuple[int, SymbolicExpr], str] = {}
        self._stored: dict[int, tuple[SymbolicExpr, str, str]] = {}

    def define(self, kind: str, name: str, text: str, variable: int | None = None) -> bool:
        """Define a constant in front of the loop, where all lanes need it and none of what the loop computes; else False.

        `variable` is its number, where indices may have it.
        """
        if self.body.writer.depth != self._depth + 1 or not self._is_outside(text):
            return False
        self._in_front(f"const {kind} {name} = {text};")
        self._names.add(name)
        if variable is not None:
            self._known.add(variable)
        return True

    def _is_outside(self, text: str) -> bool:
        """Whether the text has no name but types, parameters, tables, and what stands in front of the loop."""
        return all(name in self._names or prefix in _ELSEWHERE for name, prefix in _NAMES.findall(text))

    def load(self, parameter: Instruction, offset: SymbolicExpr) -> str | None:
        """C text of the element at `offset`, taken from a vector; None where it is no lane of an aligned one."""
        storage = c_type(parameter.shape.element_type).storage
        block = self._block(storage, offset)
        if block is None:
            return None
        number = parameter.parameter_number
        name = self._loaded.get((number, block))
        if name is None:
            name = self._loaded[number, block] = self.body.fresh("x")
            vector = self.types.name(storage)
            pointer = f"(@global const {vector} *){self.body.unit.pointer(number)}"
            self._in_front(f"const {vector} {name} = ({pointer})[{self.body.integer(block)}];")
        return self._lane_of(name)

    def store(self, output: int, element_type: str, offset: SymbolicExpr, text: str) -> bool:
        """Keep `text` for the store behind the loop; False where it is no lane of an aligned vector, or not of all."""
        storage = c_type(element_type).storage
        block = self._block(storage, offset)
        if block is None or output in self._stored or self.body.writer.depth != self._depth + 1:
            return False
        name, vector = self.body.fresh("y"), self.types.name(storage)
        self._in_front(f"{vector} {name};")
        self.body.writer.line(f"{self._lane_of(name)} = {text};")
        self._stored[output] = (block, name, vector)
        return True

    def finish(self) -> None:
        """Behind the loop: the stores."""
        for output, (block, name, vector) in self._stored.items():
            self.body.writer.line(f"((@global {vector} *)o{output})[{self.body.integer(block)}] = {name};")

    def _lane_of(self, name: str) -> str:
        return f"{name}.v[{self.body.integer(self.lane)}]"

    def _in_front(self, line: str) -> None:
        self.body.writer.insert(self._at, line, self._depth)
        self._at += 1

    def _block(self, storage: str, offset: SymbolicExpr) -> SymbolicExpr | None:
        scope, width = self.body.scope, self.types.width
        if bytes_of(storage) * width > MAX_MOVED_BYTES:
            return None
        start = scope.simplify(offset - self.lane)
        if not self._known.issuperset(start.used_variables()):
            return None
        block = scope.simplify(start // width)
        return block if scope.simplify(block * width - start) == constant(0) else None


@contextmanager
def lanes(body: FunctionWriter, types: VectorTypes) -> Iterator[SymbolicExpr]:
    """Run what is written inside for each lane of a vector, in an unrolled loop; without a loop where there is one."""
    if types.width == 1:
        yield constant(0)
        return
    loop = Lanes(types, body)
    with unrolled(body, types.width) as lane, body.base_scope():
        loop.lane, body.lanes = lane, loop
        try:
            yield lane
        finally:
            body.lanes = None
    loop.finish()


@contextmanager
def unrolled(body: FunctionWriter, count: int) -> Iterator[SymbolicExpr]:
    """Run what is written inside for each number below `count`, in an unrolled loop; without one where that is one."""
    if count == 1:
        yield constant(0)
        return
    body.writer.line("#pragma unroll")
    with body.loop(count) as lane:
        yield lane


def bytes_of(storage: str) -> int:
    """Size of a storage type: its name ends with its bits."""
    return int(storage[1:]) // 8
