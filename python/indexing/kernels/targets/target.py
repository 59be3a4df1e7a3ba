"""The interface of a target: one object with every difference between the languages of kernel sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from indexing.kernels.ir import nodes as ir
from indexing.kernels.targets.library import Definition

Dialect: TypeAlias = str  # a target's name


@dataclass(frozen=True, slots=True)
class Entry:
    """The text around a kernel's body: the lines up to the opening brace, lines in front of the body, the closing lines.

    `depth` is the number of open braces around the body; `uses` are names of the library.
    """

    head: tuple[str, ...]
    closing: tuple[str, ...]
    depth: int = 1
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A pointer parameter of the entry: the name of its buffer, and its declaration in C."""

    name: str
    declaration: str


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A language of kernels. Texts with braces are templates.

    A target `has_threads` if the threads of a block run in parallel and can synchronize; for a target without,
    `passes.thread_loops` turns them into loops. `shuffle_width` is the number of threads that can exchange values (0: none).
    """

    name: str
    ending: str  # of a file
    library: Mapping[str, Definition]
    has_threads: bool
    entry: Callable[[ir.Kernel, tuple[Parameter, ...], frozenset[int]], Entry]
    function: str  # qualifiers of a function
    noinline: str
    spaces: Mapping[str, str]  # qualifiers of pointers, by space
    declarations: Mapping[str, str]  # qualifiers of array declarations, by space
    restrict: str
    aligned: str  # {n}
    barrier: str
    fence: str
    fetch_add: str  # {pointer} {value}
    atomics: Mapping[tuple[str, str], str]  # by opcode and type: {pointer} {value}
    compare_and_swap: Mapping[str, str]  # by word type, u32 or u64: {pointer} {expected} {value}; returns the old value
    vector_bytes: int = 0  # of the widest useful load or store (0: the compiler vectorizes)
    shuffle_width: int = 0
    shuffle: str = ""  # {value} {offset}, of 32 or 64 bits
    shuffle_first: str = ""  # {value} {group}
    unroll: str = ""  # {n} iterations
    select: Mapping[str, str] = field(default_factory=dict)  # functions: of predicates, and by type with a constant
    joins_conditions: bool = False  # those on indices by `&`: one branch, or none in loops that are vectorized
    scalar_branch: str = ""  # in branches one after another that assign one variable: no vector may be made of them
    thread_loop: str = ""  # in front of a loop over the threads of a block
    lane_loop: str = ""  # in front of a loop over the lanes of a vector
    prelude: tuple[str, ...] = ()
    solvers: Mapping[str, str] = field(
        default_factory=dict
    )  # the sources of functions for whole matrices, by element type

    @property
    def copies_async(self) -> bool:
        """Whether it has `CopyAsync`."""
        return "wait_copies" in self.library

    @property
    def packs_lanes(self) -> bool:
        """Whether it has instructions for words of two numbers of bf16 or f16."""
        return "pack" in self.library

    @property
    def has_reciprocals(self) -> bool:
        """Whether it has quotients by the upper half of a product."""
        return "quotient_s32" in self.library

    def loads_before_update(self, opcode: str, element_type: str, count: int) -> bool:
        """Whether an atomic update of `count` neighbours in global memory loads them first: to compare and swap them, or to see
        whether a maximum or minimum changes them.
        """
        if f"{opcode}_at_{element_type}_{count}" in self.library:
            return opcode != "add"
        return self.compares_and_swaps(opcode, element_type)

    def compares_and_swaps(self, opcode: str, element_type: str) -> bool:
        """Whether an atomic update of an element by itself loads it first, to compare and swap it."""
        return (opcode, element_type) not in self.atomics

    def multiplies_matrices(self, instruction: str) -> bool:
        """Whether it has the instruction of that name for `MatrixMultiply`."""
        return f"multiply_matrices_{instruction}" in self.library

    def multiplies_panels(self, product: str) -> bool:
        """Whether it has a function for `MultiplyPanels` of that name."""
        return f"multiply_panels_{product}" in self.library


def id_lines(kernel: ir.Kernel, spellings: Sequence[str], used: Collection[int], indent: str = "  ") -> list[str]:
    """The declarations of the ids of threads and blocks that a body uses, spelled like this; loops declare their own."""
    ids = [(k, v.name) for k, v in enumerate(kernel.variables[: len(spellings)]) if k in used and v.kind != "loop"]
    return [f"{indent}const s32 {name} = {spellings[k]};" for k, name in ids]
