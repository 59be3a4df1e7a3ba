"""The interface of a target: one object that holds every difference between the languages that kernels are written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from indexing.emitters.ir import nodes as ir
from indexing.emitters.machine import Machine
from indexing.emitters.targets.library import Definition

Dim3 = tuple[int, int, int]
Dialect: TypeAlias = str  # a target's name


@dataclass(frozen=True, slots=True)
class Entry:
    """The text around a kernel's body: the lines up to the opening brace, lines in front of the body, the closing lines.

    `depth` is how many braces are open around the body; `uses` are names of the library.
    """

    head: tuple[str, ...]
    closing: tuple[str, ...]
    depth: int = 1
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A pointer that the entry takes: the name of its buffer, and the declaration in C."""

    name: str
    declaration: str


@dataclass(frozen=True, slots=True)
class Target:
    """A language of kernels. Texts with braces are templates.

    A target `has_threads` where the threads of a block run side by side and can meet at barriers; for one without,
    `passes.thread_loops` makes loops of them. `shuffle_width` is how many threads of a warp can exchange values (0: none).
    """

    name: str
    ending: str  # of a file
    library: Mapping[str, Definition]
    has_threads: bool
    shuffle_width: int
    vector_bytes: int  # the widest load or store worth writing (0: the compiler makes vectors of its own)
    shared_bytes: int  # what a block may have
    max_threads: int  # of a block
    max_block: Dim3
    machine: Machine  # what runs it
    max_grid: Dim3
    entry: Callable[[ir.Kernel, tuple[Parameter, ...], frozenset[int]], Entry]
    function: str  # qualifiers of a function
    noinline: str
    spaces: Mapping[str, str]  # qualifier of a pointer into a space
    declarations: Mapping[str, str]  # qualifier of an array declared in a space
    restrict: str
    aligned: str  # {n}
    barrier: str
    fence: str
    fetch_add: str  # {pointer} {value}
    atomics: Mapping[tuple[str, str], str]  # by opcode and type: {pointer} {value}
    compare_and_swap: Mapping[str, str]  # by word type, u32 or u64: {pointer} {expected} {value}; gives what was there
    shuffle: str  # {value} {offset}, of 32 or 64 bits
    shuffle_first: str  # {value} {group}
    unroll: str  # {n} turns
    volatile: str  # qualifier of a word that other threads change
    constant_select: Mapping[str, str]  # by type: the function that selects where one of the values is a constant
    thread_loop: str = ""  # in front of a loop over the threads of a block
    prelude: tuple[str, ...] = ()
