"""Maps through a computation: composed along its instructions, from the root to the parameters or the other way.

Each instruction is visited once, after all that lead to it. Its maps are merged where they are equal; when more than
MOST_MAPS different ones reach one array, they are replaced by one that names the whole array and says so. The work is
therefore bounded by the number of instructions, whatever the number of paths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

from indexing._core import IndexingMap
from indexing.ops.block import (
    Indexing,
    OperandIndexing,
    identity,
    leaves,
    output_sizes,
    unknown,
    whole,
    whole_map,
)
from indexing.ops.compose import follow
from indexing.ops.interpret import rule
from indexing.ops.inverse import inverse_indexing

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Module

MOST_MAPS = 64
_TOO_MANY = f"more than {MOST_MAPS} different maps reach this value; it is named as a whole"

Found: TypeAlias = dict[OperandIndexing, None]  # different maps, in the order they were found
_Key: TypeAlias = "tuple[str, str, int]"
_MEMO: WeakKeyDictionary[Module, dict[_Key, list[list[OperandIndexing]]]] = WeakKeyDictionary()


def computation_indexing(computation: Computation, output: int, arguments: Sequence[Instruction] = ()) -> Indexing:
    """For each parameter, the maps from array `output` of the root to the parameter's arrays.

    `arguments` are what a caller passes: runtime values that are parameters become these.
    """
    found = _memoised(computation, "output", output, _from_root)
    return [[_at_caller(m, computation, arguments) for m in maps] for maps in found]


def computation_inverse(computation: Computation, parameter: int, arguments: Sequence[Instruction] = ()) -> Indexing:
    """For each array of the root, the maps from the arrays of a parameter to it; `leaf` says which array of it."""
    found = _memoised(computation, "input", parameter, _from_parameter)
    return [[_at_caller(m, computation, arguments) for m in maps] for maps in found]


def instruction_indexing(instruction: Instruction, output: int) -> Indexing:
    """The instruction's own law, output to input."""
    return rule(instruction).output_to_input(instruction, output)


def instruction_inverse(instruction: Instruction, operand: int) -> Indexing:
    """The instruction's own law, input to output; the inverse of the other where it states none."""
    op = rule(instruction)
    if op.input_to_output is not None:
        return op.input_to_output(instruction, operand)
    return inverse_indexing(instruction, operand, op.output_to_input)


def indexing_from(
    start: Instruction, output: int, order: Sequence[Instruction], inside: Callable[[Instruction], bool]
) -> dict[tuple[Instruction, int], Found]:
    """Maps from an array of `start` to the arrays of all instructions that lead to it.

    `order` lists users before their operands; only instructions that are `inside` are looked through.
    """
    found: dict[tuple[Instruction, int], Found] = {(start, output): {identity(output_sizes(start, output)): None}}
    walk(found, order, inside)
    return {key: _bounded(maps, output_sizes(*key)) for key, maps in found.items()}


def walk(
    found: dict[tuple[Instruction, int], Found],
    order: Sequence[Instruction],
    inside: Callable[[Instruction], bool],
) -> None:
    """Carry the maps found so far on to the operands of each instruction of `order` that is `inside`."""
    for i in order:
        if not i.operands or not inside(i):
            continue
        for leaf, shape in enumerate(leaves(i.shape)):
            here = found.get((i, leaf))
            if here is None:
                continue
            merged = _bounded(here, shape.dimensions)
            found[i, leaf] = merged
            for operand, maps in zip(i.operands, instruction_indexing(i, leaf), strict=True):
                for m in maps:
                    _extend(found.setdefault((operand, m.leaf), {}), merged, m)


def _from_root(computation: Computation, output: int) -> Indexing:
    prepare_called(computation)
    return _from_root_prepared(computation, output)


def _from_parameter(computation: Computation, parameter: int) -> Indexing:
    prepare_called(computation)
    start = computation.parameters[parameter]
    outputs: Indexing = [[] for _ in leaves(computation.root.shape)]
    for leaf in range(len(leaves(start.shape))):
        found = indexing_to(start, leaf, computation.post_order())
        for k, maps in enumerate(outputs):
            maps += [replace(m, leaf=leaf) for m in found.get((computation.root, k), {})]
    return outputs


def indexing_to(start: Instruction, leaf: int, order: Sequence[Instruction]) -> dict[tuple[Instruction, int], Found]:
    """Maps from array `leaf` of `start` to the arrays of all instructions of `order` that it reaches.

    `order` lists operands before their users.
    """
    found: dict[tuple[Instruction, int], Found] = {(start, leaf): {identity(output_sizes(start, leaf)): None}}
    reached = {start}
    for i in order:
        for k, operand in enumerate(i.operands):
            if operand not in reached:
                continue
            for output, maps in enumerate(instruction_inverse(i, k)):
                for m in maps:
                    here = found.get((operand, m.leaf))
                    if here:
                        reached.add(i)
                        _extend(found.setdefault((i, output), {}), here, m)
        if i in reached and i is not start:
            for output, shape in enumerate(leaves(i.shape)):
                if (i, output) in found:
                    found[i, output] = _bounded(found[i, output], shape.dimensions)
    return found


def _extend(into: Found, firsts: Found, second: OperandIndexing) -> None:
    for first in firsts:
        if len(into) > MOST_MAPS:
            return  # _bounded replaces them by one
        merge(into, _step(first, second))


def _step(first: OperandIndexing, second: OperandIndexing) -> OperandIndexing:
    if second.exactness == "exact" and not second.runtime_values and second.replica_map is None:
        if second.pieces is None and second.map == IndexingMap.identity(
            [d.interval.upper + 1 for d in second.map.dims]
        ):
            return first if first.leaf == 0 else replace(first, leaf=0)
    return replace(follow(first, second), leaf=0)


def merge(into: Found, m: OperandIndexing) -> None:
    """Add a map to those found. Of equal maps the more exact one stays: both name the same elements."""
    for other in into:
        if other.map == m.map and other.runtime_values == m.runtime_values and other.replica_map == m.replica_map:
            if (m.exactness, other.exactness) == ("exact", "over-approximate"):
                del into[other]
                into[m] = None
            return
    into[m] = None


def _bounded(found: Found, sizes: Sequence[int]) -> Found:
    """The maps without those known to be empty (unless all are), or one that bounds them where there are too many."""
    if len(found) > MOST_MAPS or any(_names_all(m, sizes) for m in found):
        return {_bound(found, sizes): None}
    kept = {m: None for m in found if not m.map.is_known_empty}
    return kept or dict.fromkeys(list(found)[:1])


def _bound(found: Found, sizes: Sequence[int]) -> OperandIndexing:
    for m in found:
        if m.exactness == "unknown":
            return unknown(m.reason)
    start = [v.interval.upper + 1 for v in next(iter(found)).map.dims]
    return whole(start, sizes, _TOO_MANY)


def _names_all(m: OperandIndexing, sizes: Sequence[int]) -> bool:
    """Is this the bound that replaced too many maps, carried here without losing an element?"""
    return _TOO_MANY in m.reason and m.map == whole_map([v.interval.upper + 1 for v in m.map.dims], sizes)


def prepare_called(computation: Computation) -> None:
    """Compute the maps of all computations called below this one, innermost first, so that no call nests deeper."""
    module = computation.module
    memo = _MEMO.setdefault(module, {})
    pending: list[tuple[Computation, bool]] = [(c, False) for c in _called_for_data(computation)]
    done: set[str] = set()
    while pending:
        current, below_done = pending.pop()
        if current.name in done:
            continue
        if not below_done:
            pending.append((current, True))
            pending += [(c, False) for c in _called_for_data(current) if c.name not in done]
            continue
        done.add(current.name)
        for output in range(len(leaves(current.root.shape))):
            key = (current.name, "output", output)
            if key not in memo:
                memo[key] = _from_root_prepared(current, output)


def _called_for_data(computation: Computation) -> list[Computation]:
    opcodes = ("fusion", "call", "conditional", "async-start")
    return [c for i in computation.instructions.values() if i.opcode in opcodes for c in i.called]


def _from_root_prepared(computation: Computation, output: int) -> Indexing:
    order = computation.post_order()[::-1]
    found = indexing_from(computation.root, output, order, lambda i: True)
    return [
        [replace(m, leaf=leaf) for leaf in range(len(leaves(p.shape))) for m in found.get((p, leaf), {})]
        for p in computation.parameters
    ]


def _memoised(
    computation: Computation, direction: str, which: int, compute: Callable[[Computation, int], Indexing]
) -> Indexing:
    memo = _MEMO.setdefault(computation.module, {})
    key = (computation.name, direction, which)
    if key not in memo:
        memo[key] = compute(computation, which)
    return memo[key]


def _at_caller(m: OperandIndexing, computation: Computation, arguments: Sequence[Instruction]) -> OperandIndexing:
    """Runtime values that are parameters of the computation become the caller's operands."""
    if not arguments or not m.runtime_values:
        return m
    values = tuple(
        replace(v, instruction=arguments[v.instruction.parameter_number])
        if v.instruction.opcode == "parameter" and v.instruction.computation is computation
        else v
        for v in m.runtime_values
    )
    pieces = None if m.pieces is None else tuple(_at_caller(p, computation, arguments) for p in m.pieces)
    return replace(m, runtime_values=values, pieces=pieces)
