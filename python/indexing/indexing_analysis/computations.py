"""Maps of instructions and through computations: formulas come from the ops, the core composes and merges them.

The core visits each instruction of a computation once, after all that lead to it. Maps that lead to one array are merged
where they are equal; where too many differ, one that names the whole array takes their places and says so. The work is
therefore bounded by the number of instructions, whatever the number of paths.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from indexing import _core
from indexing.indexing_analysis.constant_folding import known_value, may_be_known
from indexing.indexing_analysis.generic_inverse import inverse_of_formula
from indexing.indexing_analysis.loop_carried import leaf_sources, loop_carried_arrays
from indexing.ops.op import (
    ComputationMaps,
    Indexing,
    OperandIndexing,
    PassedIndexing,
    PassedMaps,
    RuntimeValue,
    Statement,
    ThroughComputations,
    WholeArrays,
    unknown,
)
from indexing.ops.registry import REGISTRY, op_of
from indexing.ops.tuples import named_arrays

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr
    from indexing.hlo import Computation, Instruction, Module, Shape

#: By an instruction's array: the number of the list of maps found to lead there.
Arrays: TypeAlias = dict[int, int]
#: A part of a formula as the core takes it.
_Part: TypeAlias = "list[OperandIndexing] | tuple[int, int, int, str, list[int] | None] | tuple[list[int], str]"
_TOO_LARGE = "the computation is too large to follow every path of each array; what it may reach is named as a whole"


class ModuleMaps:
    """The maps of a module's instructions, and what the core asks for while it composes them. One thread at a time."""

    operand_indexing = OperandIndexing
    runtime_value = RuntimeValue

    def __init__(self, module: Module) -> None:
        """None so far."""
        self.module = module
        self.heights: dict[str, int] = {}
        self.lock = threading.RLock()  # formulas ask for maps while maps are asked for
        self._core = _core.Propagation(module.tables)
        self._computations = list(module.computations.values())
        self._firsts = [c.first_row for c in self._computations]
        self._has_unknown_sizes = module.tables.has_unknown_sizes

    # ------------------------------------------------------------ what is known

    def find(self, instruction: Instruction, inverse: bool) -> bool:
        """Find all formulas of an instruction, to be read later; are they those of all instructions that equal it?"""
        count = len(instruction.operands) if inverse else len(instruction.shape.leaves)
        with self.lock:
            return self._core.find(self, inverse, instruction.row, count)

    def of_instruction(self, instruction: Instruction, array: int, inverse: bool) -> Indexing:
        """The formula of an array (inverse: of an operand)."""
        count = len(instruction.shape.leaves) if inverse else len(instruction.operands)
        with self.lock:
            return self._core.formula(self, inverse, (instruction.row, array), count)

    def of_computation(
        self, computation: Computation, array: int, arguments: Sequence[Instruction], inverse: bool
    ) -> Indexing:
        """The maps between the array of the root (inverse: the parameter) and the parameters (the root's arrays)."""
        count = len(computation.root.shape.leaves) if inverse else len(computation.parameters)
        with self.lock:
            self.prepare_called(computation, inverse)
            return self._core.through(self, inverse, (computation.row, array), arguments, count)

    def prepare_called(self, computation: Computation, inverse: bool) -> None:
        """Compute maps of deeply nested calls innermost first, so that no recursion follows the depth of the program."""
        for called in _deep_calls(computation, self.heights):
            for array in range(len(called.parameters if inverse else called.root.shape.leaves)):
                self._core.prepare(self, inverse, (called.row, array))

    def start(self, instruction: Instruction, output: int) -> int:
        """The list of the map of an array to itself, where propagation starts."""
        with self.lock:
            return self._core.start(self, instruction.row, output)

    def maps(self, found: int, leaf: int) -> list[OperandIndexing]:
        """The maps of a list, of array `leaf`."""
        with self.lock:
            return self._core.maps(self, found, leaf)

    def merge(self, into: Arrays, leaf: int, found: int) -> None:
        """Add a list to that of an array."""
        with self.lock:
            into[leaf] = self._core.merged(self, into[leaf], found) if leaf in into else found

    def propagate(self, found: dict[Instruction, Arrays], order: Sequence[Instruction]) -> None:
        """Propagate the maps found so far to the operands of each instruction of `order`, of one computation."""
        here = {o: found[o] for i in order for o in (i, *i.operands) if o in found}
        if not here:
            return
        with self.lock:
            self.prepare_called(order[0].computation, inverse=False)
            given = [(i.row, list(arrays.items())) for i, arrays in here.items()]
            rows = [i.row for i in order]
            reached = self._core.propagate(self, order[0].computation.row, given, rows)
        for row, arrays in reached:
            found[self.instruction(row)] = dict(arrays)

    def leading_to(self, start: Instruction, target: Instruction) -> list[OperandIndexing]:
        """The maps from array 0 of an instruction to array 0 of one that it leads to."""
        with self.lock:
            self.prepare_called(start.computation, inverse=False)
            reached = dict(self._core.propagate_to(self, start.row, 0, target.row))
            return self.maps(reached[0], 0) if 0 in reached else []

    def compose(self, first: OperandIndexing, second: OperandIndexing) -> OperandIndexing:
        """`second` after `first`: from first's index to second's element, simplified, unused symbols removed.

        Variables: ranges and runtimes of `second`, then those of `first`. As exact as the less exact of the two.
        """
        with self.lock:
            return self._core.compose(self, first, second)

    # ------------------------------------------------------------ what the core asks for

    def instruction(self, row: int) -> Instruction:
        """The instruction of a row of the module's tables."""
        computation = self._computations[bisect_right(self._firsts, row) - 1]
        return computation.instruction_at(row)

    def row(self, instruction: Instruction) -> int:
        """The row of an instruction; -1 for one of another module."""
        return instruction.row if instruction.module is self.module else -1

    def formula(self, row: int, output: int) -> None:
        """State the formula of an array."""
        i = self.instruction(row)
        op = op_of(i)
        if op.kind == "names" and self._put_names(i):
            return
        found: Statement = []
        if self._has_unknown_sizes:
            read = () if op.kind == "names" else i.operands
            found = _of_unknown_sizes(i.operands, [i.shape.leaves[output], *(o.shape for o in read)])
        found = found or op.indexing(i, output, MAPS)
        self._core.put(self, False, (row, output), op.is_simplified, self._parts(i, found))

    def inverse(self, row: int, operand: int) -> None:
        """State the inverse formula of an operand."""
        i = self.instruction(row)
        op = op_of(i)
        if op.kind == "names" and self._put_names(i):
            return
        shapes = [*i.shape.leaves, *(o.shape for o in i.operands[operand : operand + 1])]
        found: Statement | None
        if self._has_unknown_sizes and _of_unknown_sizes(shapes, shapes):
            found = _of_unknown_sizes(i.shape.leaves, shapes)
        else:
            found = op.inverse_indexing(i, operand, MAPS)
        if found is None:
            found = inverse_of_formula(i, operand, _formula)
        self._core.put(self, True, (row, operand), op.is_simplified, self._parts(i, found))

    def _put_names(self, i: Instruction) -> bool:
        """State all formulas of what names arrays at once; not where sizes are not known."""
        known = not any(shape.is_bounded for shape in i.shape.leaves)
        if known:
            self._core.put_names(self, i.row, named_arrays(i))
        return known

    def reached_wholly(self, row: int, parameter: int, leaf: int) -> tuple[list[int], list[int], str]:
        """The arrays of the root that array `leaf` of the parameter is; those that it may reach; and why that is a bound."""
        computation = self._computations[row]
        if not computation.parameters[parameter].shape.leaves[leaf].is_array:
            return [], [], _TOO_LARGE
        here, targets, sources = (parameter, leaf), computation.root.shape.leaves, leaf_sources(computation)
        untouched = [k for k, (_, same) in enumerate(sources) if same == here]
        bounded = [
            k for k, (reads, same) in enumerate(sources) if here in reads and same != here and targets[k].is_array
        ]
        return untouched, bounded, _TOO_LARGE

    def may_be_known(self, instruction: Instruction) -> bool:
        """May an element of an instruction be known before the program runs?"""
        return may_be_known(instruction)

    def known(self, instruction: Instruction, index: Sequence[SymbolicExpr]) -> int | SymbolicExpr | None:
        """Its element at an index, where that is known."""
        return known_value(instruction, index)

    def _parts(self, i: Instruction, found: Statement) -> list[_Part]:
        if not isinstance(found, PassedIndexing):
            return [p if isinstance(p, list) else self._part(i, p) for p in found]
        if found.computation.module is self.module:
            return [self._part(i, PassedMaps(found, -1))]
        of_other = _passed_indexing(found)
        return list(of_other)

    def _part(self, i: Instruction, part: PassedMaps | WholeArrays) -> _Part:
        if isinstance(part, WholeArrays):
            return part.arrays, part.because
        source = part.source
        if source.computation.module is not self.module:
            return _passed_indexing(source)[part.which]
        self.prepare_called(source.computation, source.inverse)
        passed = None if source.arguments is i.operands else [i.operands.index(a) for a in source.arguments]
        return source.computation.row, source.array, part.which, source.because, passed


class _Attached:
    """The place where a module keeps its maps."""

    maps: ModuleMaps | None = None


def maps_of(module: Module) -> ModuleMaps:
    """The maps of a module."""
    attached = module.attached(_Attached)
    found = attached.maps
    if found is None:
        found = attached.maps = ModuleMaps(module)
    return found


def computation_indexing(computation: Computation, output: int, arguments: Sequence[Instruction] = ()) -> Indexing:
    """For each parameter, the maps from array `output` of the root to the parameter's arrays.

    `arguments` are what a caller passes: runtime values that are parameters become these.
    """
    return maps_of(computation.module).of_computation(computation, output, arguments, inverse=False)


def computation_inverse(computation: Computation, parameter: int, arguments: Sequence[Instruction] = ()) -> Indexing:
    """For each array of the root, the maps from the arrays of a parameter to it; `leaf` says which array of it."""
    return maps_of(computation.module).of_computation(computation, parameter, arguments, inverse=True)


def _passed_indexing(passed: PassedIndexing) -> Indexing:
    of_module = maps_of(passed.computation.module)
    return of_module.of_computation(passed.computation, passed.array, passed.arguments, passed.inverse)


def _pass_on(computation: Computation, output: int, arguments: Sequence[Instruction]) -> PassedIndexing:
    return PassedIndexing(computation, output, arguments, inverse=False)


def _pass_on_inverse(computation: Computation, parameter: int, arguments: Sequence[Instruction]) -> PassedIndexing:
    return PassedIndexing(computation, parameter, arguments, inverse=True)


MAPS = ComputationMaps(_pass_on, _pass_on_inverse, loop_carried_arrays)


def instruction_indexing(instruction: Instruction, output: int) -> Indexing:
    """The instruction's own formula, output to input, simplified."""
    return maps_of(instruction.module).of_instruction(instruction, output, inverse=False)


def instruction_inverse(instruction: Instruction, operand: int) -> Indexing:
    """The instruction's own formula, input to output, simplified; the inverse of the other where it states none."""
    return maps_of(instruction.module).of_instruction(instruction, operand, inverse=True)


def _formula(instruction: Instruction, output: int) -> Indexing:
    """The formula that the generic inverse turns around: as the op states it, or through the computation it goes through."""
    op = op_of(instruction)
    if isinstance(op.output_to_input, ThroughComputations):
        return instruction_indexing(instruction, output)
    return op.output_to_input(instruction, output)


def _of_unknown_sizes(each: Sequence[object], shapes: Sequence[Shape]) -> Indexing:
    """For each operand (or output) an unknown map, where a size is not known, or only bounded; else empty."""
    for shape in shapes:
        if not shape.is_tuple and shape.is_bounded:
            return [[unknown(f"how much of {shape} is in use is not known before run time")] for _ in each]
    return []


SHALLOW = 24  # calls nested no deeper than this are followed by recursion, and only where they are needed


def _deep_calls(computation: Computation, heights: dict[str, int]) -> list[Computation]:
    """Of the computations called below this one, innermost first, those at depths a recursion may span."""
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


def _called_for_data(computation: Computation) -> Iterable[Computation]:
    return [c for i in computation.instructions.values() if i.opcode in _HAND_OVER for c in i.called]
