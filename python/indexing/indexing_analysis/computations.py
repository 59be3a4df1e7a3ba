"""Maps through a computation: composed along its instructions, from the root to the parameters or the other way.

Each instruction is visited once, after all that lead to it. Its maps are merged where they are equal; when more than
MAX_MAPS different ones reach one array, they are replaced by one that names the whole array and says so. The work is
therefore bounded by the number of instructions, whatever the number of paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from indexing.indexing_analysis.composition import MAX_PIECES, Compositions, simplified_with_values
from indexing.indexing_analysis.generic_inverse import inverse_of_formula
from indexing.indexing_analysis.loop_carried import leaf_sources, loop_carried_arrays
from indexing.ops.op import (
    ComputationMaps,
    Indexing,
    OperandIndexing,
    RuntimeValue,
    identity,
    identity_map,
    leaves,
    output_sizes,
    unknown,
    whole,
    whole_map,
)
from indexing.ops.registry import REGISTRY, op_of

if TYPE_CHECKING:
    from indexing._core import IndexingMap
    from indexing.hlo import Computation, Instruction, Shape

MAX_MAPS = 64
MAX_WITH_VALUES = 16  # of them, maps with runtime values: these are dear to compose, and rarely many
_TOO_MANY = (
    f"more than {MAX_MAPS} different maps ({MAX_WITH_VALUES} with runtime values) reach this value; "
    "it is named as a whole"
)

Key: TypeAlias = "IndexingMap | tuple[IndexingMap, tuple[RuntimeValue, ...], IndexingMap | None]"
Found: TypeAlias = dict[Key, OperandIndexing]  # different maps, by what tells them apart, in the order they were found
Arrays: TypeAlias = "dict[Instruction, dict[int, Found]]"  # by instruction and number of its array
Onward: TypeAlias = dict[int, list[tuple[int, OperandIndexing, bool]]]  # by an operand's array: output, map, no change?
Step: TypeAlias = tuple[int, int, OperandIndexing, bool]  # operand, its array, the map to it, whether that's no change


@dataclass(slots=True)
class Memo:
    """Cached maps of a module: formulas by an instruction's signature, maps through a computation by its name.

    Only formulas without runtime values are shared by signature, since these name instructions; others are kept by
    instruction.
    """

    formulas: dict[tuple[Instruction | int, int], Indexing] = field(default_factory=dict)
    inverses: dict[tuple[Instruction | int, int], Indexing] = field(default_factory=dict)
    steps: dict[tuple[Instruction | int, int], list[Step]] = field(default_factory=dict)
    through: dict[tuple[str, int], Indexing] = field(default_factory=dict)
    through_inverse: dict[tuple[str, int], Indexing] = field(default_factory=dict)
    onward: dict[tuple[Instruction | int, int], Onward] = field(default_factory=dict)
    heights: dict[str, int] = field(default_factory=dict)


def computation_indexing(computation: Computation, output: int, arguments: Sequence[Instruction] = ()) -> Indexing:
    """For each parameter, the maps from array `output` of the root to the parameter's arrays.

    `arguments` are what a caller passes: runtime values that are parameters become these.
    """
    memo = computation.module.attached(Memo).through
    found = memo.get((computation.name, output))
    if found is None:
        prepare_called(computation)
        found = memo[computation.name, output] = _from_root(computation, output)
    return _at_caller(found, computation, arguments)


def computation_inverse(computation: Computation, parameter: int, arguments: Sequence[Instruction] = ()) -> Indexing:
    """For each array of the root, the maps from the arrays of a parameter to it; `leaf` says which array of it."""
    memo = computation.module.attached(Memo).through_inverse
    found = memo.get((computation.name, parameter))
    if found is None:
        prepare_called_inverses(computation)
        found = memo[computation.name, parameter] = _from_parameter(computation, parameter)
    return _at_caller(found, computation, arguments)


MAPS = ComputationMaps(computation_indexing, computation_inverse, loop_carried_arrays)


def instruction_indexing(instruction: Instruction, output: int) -> Indexing:
    """The instruction's own formula, output to input, simplified."""
    memo = instruction.module.attached(Memo).formulas
    found = memo.get((instruction.signature, output))
    if found is None:
        found = memo.get((instruction, output))
    if found is None:
        op = op_of(instruction)
        read = () if op.kind == "names" else instruction.operands
        shapes = [instruction.shape.leaves[output], *(o.shape for o in read)]
        formula = _of_unknown_sizes(instruction.operands, shapes) or op.indexing(instruction, output, MAPS)
        own = names_instructions(formula)  # before known values are folded: another instruction may have others
        found = formula if op.is_simplified and not own else finished(formula)
        memo[instruction if own else instruction.signature, output] = found
    return found


def instruction_inverse(instruction: Instruction, operand: int) -> Indexing:
    """The instruction's own formula, input to output, simplified; the inverse of the other where it states none."""
    memo = instruction.module.attached(Memo).inverses
    found = memo.get((instruction.signature, operand))
    if found is None:
        found = memo.get((instruction, operand))
    if found is None:
        op = op_of(instruction)
        shapes = [*instruction.shape.leaves, *(o.shape for o in instruction.operands[operand : operand + 1])]
        if _of_unknown_sizes(shapes, shapes):
            formula = _of_unknown_sizes(instruction.shape.leaves, shapes)
        else:
            stated = op.inverse_indexing(instruction, operand, MAPS)
            formula = (
                inverse_of_formula(instruction, operand, partial(op.indexing, maps=MAPS)) if stated is None else stated
            )
        own = names_instructions(formula)
        found = formula if op.is_simplified and not own else finished(formula)
        memo[instruction if own else instruction.signature, operand] = found
    return found


def _of_unknown_sizes(each: Sequence[object], shapes: Sequence[Shape]) -> Indexing:
    """For each operand (or output) an unknown map, where a size is not known, or only bounded; else empty."""
    for shape in shapes:
        if not shape.is_tuple and shape.is_bounded:
            return [[unknown(f"how much of {shape} is in use is not known before run time")] for _ in each]
    return []


def names_instructions(found: Indexing) -> bool:
    """Do maps, or their pieces, have runtime values? Then they hold for one instruction alone."""
    return any(_has_values(m) for maps in found if maps for m in maps)


def _has_values(m: OperandIndexing) -> bool:
    return bool(m.runtime_values) or (m.pieces is not None and any(p.runtime_values for p in m.pieces))


def propagate(found: Arrays, order: Iterable[Instruction]) -> None:
    """Propagate the maps found so far to the operands of each instruction of `order`, users before their operands."""
    for i in order:
        arrays = found.get(i)
        if arrays is not None and i.operands:
            _propagate_to_operands(found, i, arrays)


def _propagate_to_operands(found: Arrays, i: Instruction, arrays: dict[int, Found]) -> None:
    operands, shapes, memo = i.operands, i.shape.leaves, i.module.attached(Memo)
    compositions = i.module.attached(Compositions)
    for leaf in sorted(arrays) if len(arrays) > 1 else arrays:
        arrays[leaf] = here = _bounded(arrays[leaf], shapes[leaf].dimensions)
        for operand, at, m, same in _steps(memo, i, leaf):
            inputs = found.setdefault(operands[operand], {})
            into = inputs.get(at)
            if into is not None:
                _extend(into, here, m, None if same else compositions)
            elif same:
                inputs[at] = here.copy()
            else:
                inputs[at] = into = {}
                _extend(into, here, m, compositions)


def _steps(memo: Memo, i: Instruction, output: int) -> list[Step]:
    """The instruction's formula, output to input, without the operands that aren't read, each map as of array 0."""
    found = memo.steps.get((i.signature, output))
    if found is None:
        found = memo.steps.get((i, output))
    if found is None:
        formula = instruction_indexing(i, output)
        sizes = i.shape.leaves[output].dimensions
        found = [
            (operand, m.leaf, with_leaf(m, 0), _changes_nothing(m, sizes))
            for operand, maps in enumerate(formula)
            if maps
            for m in maps
        ]
        memo.steps[i.signature if (i.signature, output) in memo.formulas else i, output] = found
    return found


def _from_root(computation: Computation, output: int) -> Indexing:
    root = computation.root
    found: Arrays = {root: {output: starting(root, output)}}
    for i in reversed(computation.post_order()):
        if i.operands and i in found:
            _propagate_to_operands(found, i, found[i])
            del found[i]  # all that is asked for are the parameters, which have no operands
    return [
        [
            with_leaf(m, leaf)
            for leaf, maps in sorted(found.get(p, {}).items())
            for m in _bounded(maps, p.shape.leaves[leaf].dimensions).values()
        ]
        for p in computation.parameters
    ]


MAX_WORK = 20_000  # maps followed from the arrays of one parameter, beyond which the rest is bounded as a whole
_TOO_LARGE = (
    "the computation is too large to compose_indexing every path of each array; what it may reach is named as a whole"
)


def _from_parameter(computation: Computation, parameter: int) -> Indexing:
    start = computation.parameters[parameter]
    outputs: Indexing = [[] for _ in leaves(computation.root.shape)]
    order, work = computation.post_order(), 0
    for leaf in range(len(leaves(start.shape))):
        if work > MAX_WORK:
            _reach_wholly(outputs, computation, start, leaf)
            continue
        found = indexing_to(start, leaf, order)
        work += sum(len(maps) for arrays in found.values() for maps in arrays.values())
        for k, maps in enumerate(outputs):
            maps += [with_leaf(m, leaf) for m in found.get(computation.root, {}).get(k, {}).values()]
    return outputs


def _reach_wholly(outputs: Indexing, computation: Computation, start: Instruction, leaf: int) -> None:
    """Add a bound for each array of the root that array `leaf` of the parameter may reach."""
    shape = leaves(start.shape)[leaf]
    here = (start.parameter_number, leaf)
    for maps, target, (sources, same) in zip(
        outputs, leaves(computation.root.shape), leaf_sources(computation), strict=True
    ):
        if same == here and shape.is_array:
            maps.append(with_leaf(identity(shape.dimensions), leaf))
        elif here in sources and shape.is_array and target.is_array:
            maps.append(with_leaf(whole(shape.dimensions, target.dimensions, _TOO_LARGE), leaf))


def indexing_to(start: Instruction, leaf: int, order: Sequence[Instruction]) -> Arrays:
    """Maps from array `leaf` of `start` to the arrays of all instructions of `order` that it reaches.

    `order` lists operands before their users. The result has, for each instruction reached, its arrays by number.
    """
    found: Arrays = {start: {leaf: starting(start, leaf)}}
    candidates = set(start.users)
    for i in order:
        if i not in candidates:
            continue
        into: dict[int, Found] = {}
        for k, operand in enumerate(i.operands):
            if operand in found:
                _propagate_to_users(into, found[operand], i, k)
        if into:
            shapes = leaves(i.shape)
            found[i] = {output: _bounded(maps, shapes[output].dimensions) for output, maps in into.items()}
            candidates.update(i.users)
    return found


def _propagate_to_users(into: dict[int, Found], here: dict[int, Found], i: Instruction, operand: int) -> None:
    """Propagate the maps found for an operand's arrays to the arrays of the instruction."""
    onward, compositions = _onward(i, operand), i.module.attached(Compositions)
    for leaf, firsts in here.items():
        for output, m, same in onward.get(leaf, ()):
            into_output = into.get(output)
            if into_output is None and same:
                into[output] = firsts.copy()
            else:
                _extend(into.setdefault(output, {}), firsts, m, None if same else compositions)


def _onward(i: Instruction, operand: int) -> Onward:
    """The inverse formula by the operand's array: which arrays of the instruction it reaches, and how, as from array 0."""
    memo = i.module.attached(Memo)
    found = memo.onward.get((i.signature, operand))
    if found is None:
        found = memo.onward.get((i, operand))
    if found is None:
        found = {}
        shapes = i.operands[operand].shape.leaves
        for output, maps in enumerate(instruction_inverse(i, operand)):
            for m in maps:
                same = _changes_nothing(m, shapes[m.leaf].dimensions)
                found.setdefault(m.leaf, []).append((output, with_leaf(m, 0), same))
        memo.onward[i.signature if (i.signature, operand) in memo.inverses else i, operand] = found
    return found


def _extend(into: Found, firsts: Found, second: OperandIndexing, compositions: Compositions | None) -> None:
    """Add each of `firsts` followed by `second` (of array 0), or as it is where that's no change (None)."""
    for first in firsts.values():
        if compositions is None:
            merge(into, first)
        elif len(into) > MAX_MAPS:
            return  # _bounded replaces them by one
        else:
            merge(into, compositions.compose(first, second))


def with_leaf(m: OperandIndexing, leaf: int) -> OperandIndexing:
    """The same map of another array of the operand."""
    if m.leaf == leaf:
        return m
    return OperandIndexing(m.map, m.runtime_values, m.exactness, m.reason, m.replica_map, leaf, m.pieces)


def _changes_nothing(m: OperandIndexing, sizes: tuple[int, ...]) -> bool:
    plain = m.exactness == "exact" and not m.runtime_values and m.replica_map is None and m.pieces is None
    return plain and m.map == identity_map(sizes)


def merge(into: Found, m: OperandIndexing) -> None:
    """Add a map to those found. Of equal maps the more exact one stays; of equal bounds, the pieces of both."""
    key = _key(m)
    other = into.setdefault(key, m)
    if other is m or other.exactness == "exact":
        return
    if m.exactness == "exact":
        into[key] = m
    elif other.pieces != m.pieces:
        into[key] = replace(other, pieces=_pieces_of_both(other, m))


def _key(m: OperandIndexing) -> Key:
    return (m.map, m.runtime_values, m.replica_map) if m.runtime_values or m.replica_map is not None else m.map


def starting(instruction: Instruction, output: int) -> Found:
    """The start of propagation: array `output` of the instruction is itself."""
    itself = identity(output_sizes(instruction, output))
    return {itself.map: itself}


def _pieces_of_both(one: OperandIndexing, other: OperandIndexing) -> tuple[OperandIndexing, ...] | None:
    if one.pieces is None or other.pieces is None:
        return None
    both = tuple(dict.fromkeys((*one.pieces, *other.pieces)))
    return both if len(both) <= MAX_PIECES else None


def _bounded(found: Found, sizes: Sequence[int]) -> Found:
    """The maps without those known to be empty (unless all are), or one that bounds them where there are too many."""
    if len(found) == 1:
        return found
    if _too_many(found) or any(m.reason and _names_all(m, sizes) for m in found.values()):
        bound = _bound(found, sizes)
        return {bound.map: bound}
    if not any(m.map.is_known_empty for m in found.values()):
        return found
    kept = {key: m for key, m in found.items() if not m.map.is_known_empty}
    return kept or dict(islice(found.items(), 1))


def _too_many(found: Found) -> bool:
    if len(found) <= MAX_WITH_VALUES:
        return False
    return len(found) > MAX_MAPS or sum(bool(m.runtime_values) for m in found.values()) > MAX_WITH_VALUES


def _bound(found: Found, sizes: Sequence[int]) -> OperandIndexing:
    for m in found.values():
        if m.exactness == "unknown":
            return unknown(m.reason)
    dims = next(m.map.dims for m in found.values() if not m.map.is_known_empty)
    return whole([v.interval.upper + 1 for v in dims], sizes, _TOO_MANY)


def _names_all(m: OperandIndexing, sizes: Sequence[int]) -> bool:
    """Is this the bound that replaced too many maps, carried here without losing an element?"""
    return _TOO_MANY in m.reason and m.map == whole_map([v.interval.upper + 1 for v in m.map.dims], sizes)


SHALLOW = 24  # calls nested no deeper than this are followed by recursion, and only where they are needed


def prepare_called(computation: Computation) -> None:
    """Compute maps of deeply nested calls innermost first, so that no recursion follows the depth of the program."""
    memo = computation.module.attached(Memo).through
    for called in _deep_calls(computation):
        for output in range(len(leaves(called.root.shape))):
            if (called.name, output) not in memo:
                memo[called.name, output] = _from_root(called, output)


def prepare_called_inverses(computation: Computation) -> None:
    """The same for the maps from parameters to roots."""
    memo = computation.module.attached(Memo).through_inverse
    for called in _deep_calls(computation):
        for parameter in range(len(called.parameters)):
            if (called.name, parameter) not in memo:
                memo[called.name, parameter] = _from_parameter(called, parameter)


def _deep_calls(computation: Computation) -> list[Computation]:
    """Of the computations called below this one, innermost first, those at depths a recursion may span."""
    heights = computation.module.attached(Memo).heights
    order = _heights(computation, heights)
    if heights[computation.name] <= SHALLOW:
        return []
    return [called for called in order if heights[called.name] % SHALLOW == 0]


def _heights(computation: Computation, heights: dict[str, int]) -> list[Computation]:
    """Note how deep calls nest below this computation and those it calls; these, innermost first."""
    order: list[Computation] = []
    if computation.name in heights and heights[computation.name] <= SHALLOW:
        return order
    pending: list[tuple[Computation, bool]] = [(computation, False)]
    seen: set[str] = set()
    while pending:
        current, below_done = pending.pop()
        if current.name in seen:
            continue
        called = _called_for_data(current)
        if below_done:
            seen.add(current.name)
            heights[current.name] = 1 + max((heights[c.name] for c in called), default=0)
            order.append(current)
        else:
            pending.append((current, True))
            pending += [(c, False) for c in called if c.name not in seen and heights.get(c.name, SHALLOW) >= SHALLOW]
    return order[:-1]


# What hands arrays over to computations whose maps are composed with the maps of what leads to their callers.
_HAND_OVER = frozenset(o.opcode for o in REGISTRY.values() if o.calls in ("fused", "inlined", "branches", "starts"))


def _called_for_data(computation: Computation) -> list[Computation]:
    return [c for i in computation.instructions.values() if i.opcode in _HAND_OVER for c in i.called]


def finished(found: Indexing) -> Indexing:
    """The maps of a formula as they are handed out: simplified, known runtime values folded, unused symbols removed."""
    return [[_finished(m) for m in maps] if maps else maps for maps in found]


def _finished(m: OperandIndexing) -> OperandIndexing:
    if m.map.is_undefined:
        return m
    found, values = simplified_with_values(m)
    if not values and m.pieces is None and m.replica_map is None:
        return m if found == m.map else replace(m, map=found, runtime_values=())
    parts = None if m.pieces is None else [_finished(p) for p in m.pieces]
    pieces = None if parts is None else tuple(p for p in parts if not p.map.is_known_empty)
    replicas = m.replica_map.simplify() if m.replica_map is not None else None
    return replace(m, map=found, runtime_values=values, replica_map=replicas, pieces=pieces)


def _at_caller(found: Indexing, computation: Computation, arguments: Sequence[Instruction]) -> Indexing:
    """Runtime values that are parameters of the computation become the caller's operands."""
    if not arguments or not names_instructions(found):
        return list(found)
    return [[_with_arguments(m, computation, arguments) for m in maps] for maps in found]


def _with_arguments(m: OperandIndexing, computation: Computation, arguments: Sequence[Instruction]) -> OperandIndexing:
    if not _has_values(m):
        return m
    values = tuple(
        replace(v, instruction=arguments[v.instruction.parameter_number])
        if v.instruction.is_parameter and v.instruction.computation is computation
        else v
        for v in m.runtime_values
    )
    pieces = None if m.pieces is None else tuple(_with_arguments(p, computation, arguments) for p in m.pieces)
    return replace(m, runtime_values=values, pieces=pieces)
