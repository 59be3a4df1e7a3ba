"""Factorizations and triangular solves on CPUs: functions of C that take whole matrices, in place of loops of kernels.

`targets/solvers.c` has them, for real and complex elements. Each block computes the results of one matrix, or some columns of
a solution, in a work area of its own. A source is the same for all sizes, which are passed in memory, so that it is compiled
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from indexing.device.limits import Dim3
from indexing.hlo import Instruction
from indexing.hlo.layout import is_row_major
from indexing.kernels.targets import TARGETS
from indexing.kernels.targets.target import Dialect
from indexing.ops.element_types import element_type
from indexing.ops.library_calls.custom_call import lapack_routine
from indexing.ops.linalg import CHOLESKY, TRIANGULAR_SOLVE
from indexing.ops.registry import traits_of

PAIR_BYTES = 128  # rows of work areas have a multiple of this: two of the widest vectors
PANEL = 16  # columns that are eliminated before others; as in solvers.c
CHUNK = 4  # pairs of vectors of the columns that a block solves for
# Smaller matrices are left to kernels, which compute them side by side: of complex ones, whose divisions take them long, those
# of fewer rows, but for Cholesky's factors.
MIN_ROWS, MIN_COMPLEX_ROWS = 6, 4


@dataclass(frozen=True, slots=True)
class Solver:
    """A function with the sizes that it reads in front of its operands, and the work area behind its results, for a launch."""

    dialect: Dialect
    element_type: str
    function: str
    sizes: tuple[int, ...]
    blocks: int
    block_work: int  # elements of a block's work area
    flops: int  # of all blocks, a multiply-add of two elements counted as two

    @property
    def name(self) -> str:
        """The name of the function."""
        return f"{self.function}_{self.element_type}"

    @property
    def source(self) -> str:
        """The source of all functions of the element type."""
        return TARGETS[self.dialect].solvers[self.element_type]

    @property
    def launch_grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (self.blocks, 1, 1)

    @property
    def block(self) -> Dim3:
        """A block has one thread."""
        return (1, 1, 1)

    @property
    def shared_bytes(self) -> int:
        """None."""
        return 0

    @property
    def work_bytes(self) -> int:
        """The bytes of the work areas of all blocks."""
        return self.blocks * self.block_work * element_type(self.element_type).dtype.itemsize


def solver_of(instruction: Instruction, dialect: str) -> Solver | None:
    """The solver that computes an instruction on devices of a dialect; None where kernels, or the reference, do.

    Matrices are in row-major order. Kernels compute small matrices side by side.
    """
    target = TARGETS[dialect]
    make = _maker_of(instruction) if target.solvers else None
    if make is None:
        return None
    operands, results = [o.shape for o in instruction.operands], instruction.shape.leaves
    sizes, kind = operands[0].dimensions, operands[0].element_type
    batch = prod(sizes[:-2])
    if kind not in target.solvers or not all(map(is_row_major, (*operands, *results))):
        return None
    if any(0 in s.dimensions for s in operands) or sizes[-2] < _least_rows(instruction, kind):
        return None
    return Solver(dialect, kind, *make(instruction, kind, batch))


def _least_rows(i: Instruction, kind: str) -> int:
    is_complex = element_type(kind).real != kind
    return MIN_COMPLEX_ROWS if is_complex and traits_of(i) is not CHOLESKY else MIN_ROWS


#: Of an instruction, an element type and a batch: the fields of a solver behind these.
_Maker: TypeAlias = "Callable[[Instruction, str, int], _Fields]"
_Fields: TypeAlias = tuple[str, tuple[int, ...], int, int, int]


def _maker_of(i: Instruction) -> _Maker | None:
    op = traits_of(i)
    if op is CHOLESKY:
        return _cholesky
    if op is TRIANGULAR_SOLVE:
        return _solve
    return _eliminate if lapack_routine(i) == "getrf" else None


def _cholesky(i: Instruction, kind: str, batch: int) -> _Fields:
    n = i.shape.dimensions[-1]
    work = n * _padded(n, kind)
    return "cholesky", (n, i.flag("lower"), work), batch, work, batch * n**3 // 3


def _eliminate(i: Instruction, kind: str, batch: int) -> _Fields:
    m, n = i.operands[0].shape.dimensions[-2:]
    work = m * (_padded(n, kind) + _padded(1, kind)) + PANEL * _padded(m, kind)
    flops = batch * min(m, n) ** 2 * (3 * max(m, n) - min(m, n)) // 3
    return "eliminate", (m, n, work), batch, work, flops


def _solve(i: Instruction, kind: str, batch: int) -> _Fields:
    is_left = i.flag("left_side")
    n, columns = i.shape.dimensions[-2:] if is_left else reversed(i.shape.dimensions[-2:])
    chunk = min(CHUNK * _padded(1, kind), _padded(columns, kind))
    is_transposed = i.text("transpose_a") != "NO_TRANSPOSE"
    flags = is_left, is_transposed, i.flag("lower"), i.flag("unit_diagonal"), i.text("transpose_a") == "ADJOINT"
    work = n * chunk
    blocks, flops = batch * -(-columns // chunk), batch * n * n * columns
    return "solve", (n, columns, *flags, chunk, work), blocks, work, flops


def _padded(n: int, kind: str) -> int:
    """The elements of the least whole pairs of vectors."""
    pair = PAIR_BYTES // element_type(kind).dtype.itemsize
    return -(-n // pair) * pair
