"""The nodes of the kernel IR.

A kernel has buffers, functions and an entry, whose body runs once for each thread of each block. Control flow is
structured. Integer index arithmetic is `SymbolicExpr` over the index variables of its function (variable k is
`function.variables[k]`), so that the core's simplifier knows ranges and constraints. Data are typed values.

Types of values: `pred`, `s8` to `s64`, `u8` to `u64`, `f32`, `f64`, `c64`, `c128`. A buffer has an element type of HLO; memory
holds its storage type (`types.storage_type`): floats below f32 are their bits as an unsigned integer, which `decode` turns
into f32 and `encode` back; `round` is encode, then decode; integers below a byte take a byte, and predicates are bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal, TypeAlias

from indexing._core import Interval, SymbolicExpr
from indexing.cached import cached_property
from indexing.display import shown

Space: TypeAlias = Literal["global", "shared", "local", "constant"]
Role: TypeAlias = Literal["input", "output", "scratch", "none"]
Index: TypeAlias = "tuple[SymbolicExpr, ...]"

# ---------------------------------------------------------------- values


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of a type; floats may be infinite or NaN."""

    type: str
    value: bool | int | float | complex


@dataclass(frozen=True, slots=True)
class Ref:
    """A value by its name, defined by a `Let`, a `Var`, a result of a `CallFunction` or a value parameter."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class IndexValue:
    """An index expression as a value of type s64; the pass `index-widths` makes it s32 if its range fits."""

    expression: SymbolicExpr
    type: str = "s64"


@dataclass(frozen=True, slots=True)
class Within:
    """Whether an index expression lies in [lower, upper]; None: no bound on that side."""

    expression: SymbolicExpr
    lower: int | None
    upper: int | None
    type: ClassVar[str] = "pred"

    @property
    def negated(self) -> Within | None:
        """The condition that holds where this one, of a single bound, does not; None for two bounds."""
        if self.lower is None and self.upper is not None:
            return Within(self.expression, self.upper + 1, None)
        return Within(self.expression, None, self.lower - 1) if self.upper is None and self.lower is not None else None

    def decided(self, values: Interval) -> bool | None:
        """Whether the condition holds for all values of an interval, or for none; None if that depends on the value."""
        lower = values.lower if self.lower is None else self.lower
        upper = values.upper if self.upper is None else self.upper
        if lower <= values.lower and values.upper <= upper:
            return True
        return False if values.upper < lower or upper < values.lower else None

    def share(self, values: Interval) -> float:
        """The share of the values of an interval for which the condition holds."""
        lower = values.lower if self.lower is None else max(self.lower, values.lower)
        upper = values.upper if self.upper is None else min(self.upper, values.upper)
        return max(upper - lower + 1, 0) / (values.upper - values.lower + 1)


@dataclass(frozen=True, slots=True)
class Op:
    """An operation of `opcodes.OPCODES` on values; `format` is the narrow element type of encode, decode, round and wrap."""

    opcode: str
    type: str
    operands: tuple[Value, ...]
    format: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """One element of a buffer, of its storage type, at an index of the buffer's rank (of rank 1 after flattening)."""

    type: str
    buffer: str
    index: Index


Value: TypeAlias = "Constant | Ref | IndexValue | Within | Op | Load"

# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Let:
    """A name for a value, which never changes."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Var:
    """A name for a value that `Assign` may change."""

    name: str
    type: str
    initial: Value


@dataclass(frozen=True, slots=True)
class Assign:
    """Assign a new value to a `Var`."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class LetIndex:
    """Define index variable `variable` as `value`: an index expression that lies in the variable's interval by the conditions
    around it, or an integer value that is clamped to the interval by the op that computes it.

    `promise` names a promise of the kernel's caller about such a value: with `unique_indices`, threads that read it from
    different places of memory write different elements.
    """

    variable: int
    value: SymbolicExpr | Value
    promise: str = ""


@dataclass(frozen=True, slots=True)
class CallFunction:
    """Names for the results of a function called at `index`, with value arguments if it has value parameters."""

    names: tuple[str, ...]
    function: str
    index: Index = ()
    arguments: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Store:
    """Write one element of a buffer; `value` is of the storage type."""

    buffer: str
    index: Index
    value: Value


@dataclass(frozen=True, slots=True)
class Copy:
    """A vector load or store: copies `width` neighbouring elements between a `local` buffer and another.

    Both buffers are flat. The index in the other buffer is a multiple of `width`.
    """

    destination: str
    destination_index: SymbolicExpr
    source: str
    source_index: SymbolicExpr
    width: int


@dataclass(frozen=True, slots=True)
class CopyAsync:
    """Begin to copy `width` neighbouring elements from global to shared memory, past the registers of the thread.

    Both buffers are flat, both indices multiples of `width`. The copy is complete for the thread after `WaitCopies`, and for
    other threads after the next barrier.
    """

    destination: str
    destination_index: SymbolicExpr
    source: str
    source_index: SymbolicExpr
    width: int


@dataclass(frozen=True, slots=True)
class WaitCopies:
    """End a group of copies, those that the thread began since the last wait, and wait until all but the last `pending` groups
    are complete.

    Copies are begun by the pass `async-copies`, in kernels that wait for them, for targets that have the instruction.
    """

    pending: int = 0


@dataclass(frozen=True, slots=True)
class LoadMatrices:
    """Load four 8 x 8 matrices of 16-bit elements (8 x 16 of bytes; 8 x 4 of f32, which are rounded to tf32) from shared memory
    into the registers of a warp.

    Lane l gives the place of 16 bytes: line l mod 8 of matrix l floordiv 8. Register q of `destination`, four words from
    `destination_index` on, gets a word of matrix q: of lane l word l mod 4 of line l floordiv 4; `transposed`, the elements
    2 * (l mod 4) and the next of each line's element l floordiv 4. Of transposed bytes, lines have eight pairs, and a word is
    made of two matrices: the first two registers get the first bytes of pair l floordiv 4, those of lines 2 * (l mod 4) and the
    next of matrices 0 and 1, then of 2 and 3; the other two the second bytes. All threads of the warp take part.
    """

    destination: str
    destination_index: SymbolicExpr
    source: str
    source_index: SymbolicExpr
    width: int  # elements of 16 bytes
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class MatrixMultiply:
    """Add the product of two matrices to a third, all held in the registers of a warp: local buffers, from an index on.

    The maps of `targets/matrix_units.py` say which element each register of each lane holds; `instruction` is its name,
    that of the factors' element types. Products are exact; the order of the sum of one instruction is the hardware's,
    instructions are added in program order. All threads of the warp take part.
    """

    instruction: str
    accumulator: str
    accumulator_index: SymbolicExpr
    left: str
    left_index: SymbolicExpr
    right: str
    right_index: SymbolicExpr


@dataclass(frozen=True, slots=True)
class MultiplyPanels:
    """Add the product of two panels to a tile of sums in local memory, all of them row-major, without gaps.

    `product` names a row of `PANEL_PRODUCTS`, which has the types and the sizes. The left panel has rows of `depth` elements,
    the right one `depth` rows, of whose groups the elements alternate. Products of f32 or f64 are each added in one operation,
    in the order of the depth, those of bf16 in any. Each thread's tile is in registers meanwhile.
    """

    product: str
    accumulator: str
    accumulator_index: SymbolicExpr
    left: str
    left_index: SymbolicExpr
    right: str
    right_index: SymbolicExpr
    depth: int


@dataclass(frozen=True, slots=True)
class AtomicUpdate:
    """buffer[index] = combiner(buffer[index], value), atomically, for one value, or for those of neighbouring elements.

    Each element is updated on its own; of several, a power of two, the first is at a multiple of their number. `combiner` is
    the name of a function of two values of the buffer's compute type; `opcode` is its operation if it is a single one (`add`,
    `minimum`, ...), for which targets may have an instruction.
    """

    buffer: str
    index: Index
    combiner: str
    values: tuple[Value, ...]
    opcode: str = ""


@dataclass(frozen=True, slots=True)
class FetchAdd:
    """`name` is the old value of a u32 element, to which `value` is added atomically, visible to all blocks."""

    name: str
    buffer: str
    index: Index
    value: Value


@dataclass(frozen=True, slots=True)
class GroupReduce:
    """Combine the variables `names` over the threads of each group; its thread 0 gets the result, or, with `to_all`, all of its
    threads do.

    The block has `threads * distance * n` threads along th_x; threads t, t + distance, ... t + (threads - 1) * distance are a
    group. `combiner` is a function of 2 * len(names) values to len(names). All threads of the block take part. The pass
    `lower_group_reductions` lowers it to warp shuffles or accesses to shared memory.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    combiner: str
    threads: int
    distance: int
    to_all: bool = False


@dataclass(frozen=True, slots=True)
class Shuffle:
    """`name` is the `value` of the thread `offset` further on in the warp, or, if `group` isn't 0, of the first of each `group`
    neighbouring threads. All threads of the warp take part.
    """

    name: str
    value: Value
    offset: int
    group: int = 0


@dataclass(frozen=True, slots=True)
class For:
    """Run the body for index variable `variable` = start, start + step, ... below `stop`.

    `start` and `stop` are index expressions; if the body has a barrier, they are uniform over the block. With `lanes`,
    iterations are the lanes of a vector, whose adjacent accesses may be merged. `unroll` is the number of iterations that the
    target's compiler shall unroll (0: it decides), set by the pass of that name.
    """

    variable: int
    start: SymbolicExpr
    stop: SymbolicExpr
    step: int
    body: Block
    lanes: bool = False
    unroll: int = 0


@dataclass(frozen=True, slots=True)
class If:
    """Run one of two bodies, the first if all `conditions` hold. A condition is evaluated only if those before it hold."""

    conditions: tuple[Value, ...]
    then: Block
    otherwise: Block = ()


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop if all conditions hold."""

    conditions: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """Synchronize all threads of the block; their writes to shared memory become visible to all of them."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A memory fence: all blocks see the thread's earlier writes to global memory before its later ones."""


Statement: TypeAlias = (
    "Let | Var | Assign | LetIndex | CallFunction | Store | Copy | LoadMatrices | MatrixMultiply | MultiplyPanels"
    " | AtomicUpdate | FetchAdd | GroupReduce | Shuffle | For | If | Break | Barrier | Fence"
    " | CopyAsync | WaitCopies"
)
Block: TypeAlias = "tuple[Statement, ...]"

# ---------------------------------------------------------------- functions and kernels


@dataclass(frozen=True, slots=True)
class IndexVariable:
    """A variable of index expressions; `kind` states what defines it.

    `thread` (th_x ... bl_z, variables 0 to 5 of an entry, in this order), `parameter` (of a function), `loop`, `let`.
    """

    name: str
    interval: Interval
    kind: Literal["thread", "parameter", "loop", "let"]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory: `global` (the kernel's arguments), `shared` by a block, `local` to a thread, or `constant` (`data`).

    `element_type` is HLO's; `dimensions` logical, `layout` minor to major (None: row-major). `number`: the parameter of an
    input, the output of an output, the position among scratch buffers. An output with `alias_of` shares the buffer of that
    name. `data` are the elements of a constant buffer, in memory order.
    """

    name: str
    element_type: str
    dimensions: tuple[int, ...]
    space: Space
    role: Role = "none"
    number: int = 0
    layout: tuple[int, ...] | None = None
    alias_of: str | None = None
    data: tuple[bool | int | float | complex, ...] = ()

    @property
    def size(self) -> int:
        """The number of its elements."""
        return prod(self.dimensions)


@dataclass(frozen=True, slots=True)
class Function:
    """A function from an index (variables of kind `parameter`) and values (`parameters`) to `results`, without stores."""

    name: str
    variables: tuple[IndexVariable, ...]
    parameters: tuple[Ref, ...]
    body: Block
    results: tuple[Value, ...]
    comment: str = ""
    inline: bool | None = None  # False: the compiler must not inline it; None: it decides

    @property
    def index(self) -> tuple[int, ...]:
        """The numbers of the index parameters."""
        return tuple(k for k, v in enumerate(self.variables) if v.kind == "parameter")


@dataclass(frozen=True)
class Kernel:
    """A kernel: `body` runs for each thread of each block; `functions` are ordered callees first."""

    name: str
    emitter: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    buffers: tuple[Buffer, ...]
    functions: tuple[Function, ...]
    variables: tuple[IndexVariable, ...]
    body: Block
    comment: str = ""
    work: int = 0  # predicted work, see work.py
    parameters: ClassVar[tuple[Ref, ...]] = ()  # of the entry; functions may have both
    results: ClassVar[tuple[Value, ...]] = ()

    def __str__(self) -> str:
        """The text form: one statement per line."""
        return str(shown(self, "ir_text"))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """The hash of all statements, which tables of what is known of kernels ask for again and again."""
        return hash((self.name, self.grid, self.block, self.buffers, self.functions, self.variables, self.body))

    def __getstate__(self) -> dict[str, object]:
        return {k: v for k, v in self.__dict__.items() if k != "_hash"}  # each process has hashes of its own

    def buffer(self, name: str) -> Buffer:
        """The buffer of that name."""
        return next(b for b in self.buffers if b.name == name)

    def function(self, name: str) -> Function:
        """The function of that name."""
        return next(f for f in self.functions if f.name == name)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The nested blocks of a statement."""
    if isinstance(statement, For):
        return (statement.body,)
    return (statement.then, statement.otherwise) if isinstance(statement, If) else ()


def iterations_of(loop: For) -> int | None:
    """The number of iterations of a loop, if it is constant."""
    start, stop = loop.start.constant_value, loop.stop.constant_value
    return None if start is None or stop is None else max(-(-(stop - start) // loop.step), 0)


def bodies(kernel: Kernel) -> tuple[Function | Kernel, ...]:
    """The functions and the entry."""
    return (*kernel.functions, kernel)


def statements(block: Block) -> Sequence[Statement]:
    """All statements of a block and of nested blocks, in program order."""
    nested: list[Statement] = []
    pending = list(reversed(block))
    while pending:
        statement = pending.pop()
        nested.append(statement)
        if isinstance(statement, For):
            pending.extend(reversed(statement.body))
        elif isinstance(statement, If):
            pending.extend(reversed(statement.otherwise))
            pending.extend(reversed(statement.then))
    return nested
