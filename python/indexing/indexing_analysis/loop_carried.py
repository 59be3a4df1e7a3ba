"""Which arrays of a loop's state each array of its result depends on, without maps: a reachability of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from indexing.ops.op import leaves
from indexing.ops.registry import traits_of
from indexing.ops.tuples import is_array, named_array

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction

# For each array of a value: the arrays of the parameters it depends on, and the one that it is, untouched (or None).
Source = tuple[frozenset[tuple[int, int]], "tuple[int, int] | None"]


@dataclass(slots=True)
class _Memo:
    """Cached facts about a module's loops, by body and condition, and its computations, by name."""

    sources: dict[str, list[Source]] = field(default_factory=dict)
    loops: dict[tuple[str, str], tuple[list[bool], list[list[int]]]] = field(default_factory=dict)


def loop_carried_arrays(loop: Instruction) -> tuple[list[bool], list[list[int]]]:
    """For each array of a while's state: does the body leave it alone, and which arrays can reach it in the end, sorted."""
    memo = loop.module.attached(_Memo).loops
    key = (loop.computation_of("body").name, loop.computation_of("condition").name)
    if key not in memo:
        memo[key] = _loop_carried_arrays(loop)
    return memo[key]


def _loop_carried_arrays(loop: Instruction) -> tuple[list[bool], list[list[int]]]:
    body = leaf_sources(loop.computation_of("body"))
    condition = leaf_sources(loop.computation_of("condition"))
    count = len(leaves(loop.shape))
    untouched = [body[k][1] == (0, k) for k in range(count)]
    step = [_as_bits(leaf for _, leaf in body[k][0]) for k in range(count)]
    steers = _closure(_as_bits(leaf for _, leaf in condition[0][0]), step)
    reached = [_closure(1 << k, step) | steers for k in range(count)]
    elements = _as_bits(k for k, shape in enumerate(leaves(loop.shape)) if is_array(shape))
    return untouched, [_bits(r & elements) for r in reached]


def leaf_sources(computation: Computation) -> list[Source]:
    """For each array of the root: what of the parameters it comes from. Called computations count as a whole."""
    memo = computation.module.attached(_Memo).sources
    if computation.name not in memo:
        found: dict[Instruction, list[Source]] = {}
        for i in computation.post_order():
            found[i] = _of_instruction(i, found)
        memo[computation.name] = found[computation.root]
    return memo[computation.name]


def _of_instruction(i: Instruction, found: dict[Instruction, list[Source]]) -> list[Source]:
    if i.is_parameter:
        n = i.parameter_number
        return [(frozenset({(n, k)}), (n, k)) for k in range(len(leaves(i.shape)))]
    op = traits_of(i)
    if op.kind == "names":
        named = (named_array(i, leaf) for leaf in range(len(leaves(i.shape))))
        return [found[operand][leaf] for operand, leaf in named]
    if op.passes_operand:
        return found[i.operands[0]]
    everything = frozenset[tuple[int, int]]().union(*(source[0] for o in i.operands for source in found[o]))
    return [(everything, None) for _ in leaves(i.shape)]


def _closure(start: int, step: list[int]) -> int:
    """The arrays reached from some, both as bits of a number: loops have hundreds of arrays."""
    reached = pending = start
    while pending:
        lowest = pending & -pending
        fresh = step[lowest.bit_length() - 1] & ~reached
        reached |= fresh
        pending = (pending ^ lowest) | fresh
    return reached


def _as_bits(numbers: Iterable[int]) -> int:
    found = 0
    for n in numbers:
        found |= 1 << n
    return found


def _bits(number: int) -> list[int]:
    return [k for k, bit in enumerate(reversed(f"{number:b}")) if bit == "1"]
