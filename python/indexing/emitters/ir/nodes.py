"""The nodes of the kernel IR.

A kernel is buffers, functions and an entry, whose body runs once for each thread of each block. Control flow is
structured. Integer index arithmetic is `SymbolicExpr` over the index variables of the function it stands in (variable k is
`function.variables[k]`), so that ranges and constraints are known to the core's simplifier. Data are typed values.

Types of values: `pred`, `s8` to `s64`, `u8` to `u64`, `f32`, `f64`, `c64`, `c128`. A buffer has an element type of HLO; memory
holds its storage type (`types.storage_type`): floats below f32 are their bits as an unsigned integer, which `decode` turns
into f32 and `encode` back; `round` is encode, then decode; integers below a byte take a byte, and predicates are bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from indexing._core import Interval, SymbolicExpr

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
    """A value by its name, which a `Let`, a `Var`, a result of a `CallFunction` or a value parameter gave it."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class IndexValue:
    """An index expression as a number of type s64; the pass of index widths makes it s32 where its range fits."""

    expression: SymbolicExpr
    type: str = "s64"


@dataclass(frozen=True, slots=True)
class Within:
    """Whether an index expression lies in [lower, upper]; None: no bound on that side."""

    expression: SymbolicExpr
    lower: int | None
    upper: int | None

    @property
    def type(self) -> str:
        """A truth value."""
        return "pred"


@dataclass(frozen=True, slots=True)
class Op:
    """An operation of `opcodes.OPCODES` on values; `format` is the narrow element type that encode, decode, round and
    wrap are about.
    """

    opcode: str
    type: str
    operands: tuple[Value, ...]
    format: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """One element of a buffer, as memory holds it, at an index of the buffer's rank (of rank 1 once it is flattened)."""

    type: str
    buffer: str
    index: Index


Value: TypeAlias = "Constant | Ref | IndexValue | Within | Op | Load"

# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Let:
    """A name for a value; it never changes."""

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
    """A new value for a `Var`."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class LetIndex:
    """Index variable `variable` is `value`: an index expression that is known (by the conditions around it) or an integer
    value that is clamped (by the op that makes it) to lie in the variable's interval.

    `promise` names what the kernel's caller promises of such a value: `unique_indices`, that where threads have it from
    different places of memory, what they write at it are different elements.
    """

    variable: int
    value: SymbolicExpr | Value
    promise: str = ""


@dataclass(frozen=True, slots=True)
class CallFunction:
    """Names for the results of a function at index `index`, and on values where it takes some."""

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
    """Move `width` neighbouring elements at once, between a `local` buffer and another: a vector load or store.

    Both buffers are flat. The place in the other buffer is a multiple of `width`.
    """

    destination: str
    destination_index: SymbolicExpr
    source: str
    source_index: SymbolicExpr
    width: int


@dataclass(frozen=True, slots=True)
class AtomicUpdate:
    """buffer[index] = combiner(buffer[index], value), as if no other thread came between.

    `combiner` is the name of a function of two values of the buffer's compute type; `opcode` says which operation it is,
    where it is a single one (`add`, `minimum`, ...), so that a target may use its own.
    """

    buffer: str
    index: Index
    combiner: str
    value: Value
    opcode: str = ""


@dataclass(frozen=True, slots=True)
class FetchAdd:
    """`name` is what a u32 element held before `value` was added to it, atomically, and seen by all blocks."""

    name: str
    buffer: str
    index: Index
    value: Value


@dataclass(frozen=True, slots=True)
class TeamReduce:
    """Combine the variables `names` of the threads of each team; thread 0 of the team has the result, or all threads
    where `to_all`.

    The block is `threads * distance * n` threads in a line (th_x); threads t, t + distance, ... t + (threads - 1) * distance
    are one team. `combiner` is a function of 2 * len(names) values to len(names). All threads of the block take part. Lowered
    by the pass `lower_team_reductions`, to warp shuffles or through shared memory.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    combiner: str
    threads: int
    distance: int
    to_all: bool = False


@dataclass(frozen=True, slots=True)
class Shuffle:
    """`name` is `value` as the thread `offset` further on in the warp has it, or, where `group` isn't 0, as the first of
    each `group` neighbouring threads has it; all threads of the warp take part.
    """

    name: str
    value: Value
    offset: int
    group: int = 0


@dataclass(frozen=True, slots=True)
class For:
    """Run the body for index variable `variable` = start, start + step, ... below `stop`.

    `stop` and `start` are index expressions that are the same for all threads of a block where the body has a barrier.
    `lanes`: the turns are the lanes of a vector, so that what they move side by side may be moved at once. `unroll`: how many
    turns the target's compiler shall write out (0: it decides), as the pass of that name says.
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
    """Run one of two bodies; `conditions` hold all together. A later condition is only looked at where those before hold."""

    conditions: tuple[Value, ...]
    then: Block
    otherwise: Block = ()


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop where all conditions hold."""

    conditions: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """All threads of the block meet; what they wrote to shared memory is seen by all."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence: all blocks see what the thread wrote to global memory before they see what it writes next."""


Statement: TypeAlias = (
    "Let | Var | Assign | LetIndex | CallFunction | Store | Copy | AtomicUpdate | FetchAdd | TeamReduce | Shuffle"
    " | For | If | Break | Barrier | Fence"
)
Block: TypeAlias = "tuple[Statement, ...]"

# ---------------------------------------------------------------- functions and kernels


@dataclass(frozen=True, slots=True)
class IndexVariable:
    """A variable of index expressions; `kind` says what gives it its value.

    `thread` (th_x ... bl_z, variables 0 to 5 of an entry, in this order), `parameter` (of a function), `loop`, `let`.
    """

    name: str
    interval: Interval
    kind: Literal["thread", "parameter", "loop", "let"]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory: `global` (the kernel's arguments), `shared` by a block, `local` to a thread, or `constant` (`data`).

    `element_type` is HLO's; `dimensions` logical, `layout` minor to major (None: row-major). `number`: the parameter of an
    input, the output of an output, the position among scratch buffers. An output with `alias_of` lives in the buffer of that
    name. `data` are the elements of a constant buffer, in order of memory.
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
        total = 1
        for n in self.dimensions:
            total *= n
        return total


@dataclass(frozen=True, slots=True)
class Function:
    """From an index (variables of kind `parameter`) and values (`parameters`) to values (`results`); it stores nothing."""

    name: str
    variables: tuple[IndexVariable, ...]
    parameters: tuple[Ref, ...]
    body: Block
    results: tuple[Value, ...]
    comment: str = ""
    inline: bool | None = None  # False: the compiler must not inline it; None: as it likes

    @property
    def index(self) -> tuple[int, ...]:
        """The numbers of the index parameters."""
        return tuple(k for k, v in enumerate(self.variables) if v.kind == "parameter")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: `entry` runs for each thread of each block; `functions` stand callees first."""

    name: str
    emitter: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    buffers: tuple[Buffer, ...]
    functions: tuple[Function, ...]
    variables: tuple[IndexVariable, ...]
    body: Block
    comment: str = ""
    work: int = 0  # predicted: elements computed, times what each reads

    def buffer(self, name: str) -> Buffer:
        """The buffer of that name."""
        return next(b for b in self.buffers if b.name == name)

    def function(self, name: str) -> Function:
        """The function of that name."""
        return next(f for f in self.functions if f.name == name)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks within a statement."""
    if isinstance(statement, For):
        return (statement.body,)
    if isinstance(statement, If):
        return (statement.then, statement.otherwise)
    return ()


def bodies(kernel: Kernel) -> tuple[Function | Kernel, ...]:
    """The functions and the entry."""
    return (*kernel.functions, kernel)


def statements(block: Block) -> Sequence[Statement]:
    """All statements of a block and of the blocks within, in order of the text."""
    found: list[Statement] = []
    pending = list(reversed(block))
    while pending:
        statement = pending.pop()
        found.append(statement)
        if isinstance(statement, For):
            pending.extend(reversed(statement.body))
        elif isinstance(statement, If):
            pending.extend(reversed(statement.otherwise))
            pending.extend(reversed(statement.then))
    return found
