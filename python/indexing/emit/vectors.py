"""Vectors of neighbouring elements: their C types, and loads that fill one ahead of a loop over its lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr, constant
from indexing.emit.types import c_type

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter
    from indexing.hlo import Instruction

VECTOR_BYTES = 16
MAX_LOADED_BYTES = 4 * VECTOR_BYTES  # wider vectors would need too many registers


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


class VectorLoads:
    """Turns loads at neighbouring, aligned places into one load of a vector in front of the loop over lanes.

    `group` is the number of the vector of outputs that a thread computes, `lane` the loop's variable. A load is
    recognized where its offset is `width * block + lane` with a `block` that does not depend on the lane.
    """

    def __init__(self, types: VectorTypes, body: FunctionWriter, group: SymbolicExpr) -> None:
        """Vectors are loaded at the place where `body` stands now."""
        self.types, self.group, self.lane = types, group, group
        self._at, self._depth = len(body.writer.lines), body.writer.depth
        self._loaded: dict[tuple[int, SymbolicExpr], str] = {}

    def load(self, body: FunctionWriter, parameter: Instruction, offset: SymbolicExpr) -> str | None:
        """C text of the element at `offset`, taken from a vector; None where it is no lane of an aligned one."""
        storage = c_type(parameter.shape.element_type).storage
        block = self._block(body, offset)
        if block is None or bytes_of(storage) * self.types.width > MAX_LOADED_BYTES:
            return None
        number = parameter.parameter_number
        name = self._loaded.get((number, block))
        if name is None:
            name = self._loaded[number, block] = body.fresh("x")
            vector = self.types.name(storage)
            pointer = f"(@global const {vector} *){body.unit.pointer(number)}"
            body.writer.insert(self._at, f"const {vector} {name} = ({pointer})[{body.integer(block)}];", self._depth)
            self._at += 1
        return f"{name}.v[{body.integer(self.lane)}]"

    def _block(self, body: FunctionWriter, offset: SymbolicExpr) -> SymbolicExpr | None:
        scope, width = body.scope, self.types.width
        start = scope.simplify(offset - self.lane)
        if not set(start.used_variables()) <= set(self.group.used_variables()):
            return None
        block = scope.simplify(start // width)
        return block if scope.simplify(block * width - start) == constant(0) else None


def bytes_of(storage: str) -> int:
    """Size of a storage type: its name ends with its bits."""
    return int(storage[1:]) // 8
