"""Maps of instructions, and through computations. Ops state formulas, once for each signature, before the core begins; it
derives those that follow from a program's structure (calls, branches, loops, names of arrays), and composes and merges all.

The core visits each instruction of a computation once, after all that lead to it. Equal maps that lead to one array are
merged; if too many differ, one map to the whole array replaces them and states that it is a bound. The work is therefore
bounded by the number of instructions, whatever the number of paths.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from indexing import _core
from indexing.errors import IndexingError
from indexing.hlo import Computation, Instruction, Module, Part
from indexing.indexing_analysis.generic_inverse import inverse_of_formula
from indexing.ops.op import ComputationMaps
from indexing.ops.operand_indexing import Indexing, OperandIndexing, RuntimeValue
from indexing.ops.registry import REGISTRY, op_of

T = TypeVar("T")
#: The errors of formulas of instructions that have none.
_FORMULA_ERRORS = (IndexingError, ArithmeticError, LookupError, TypeError, ValueError)
#: By an instruction's array: the number of the set of maps that lead to it.
Arrays: TypeAlias = dict[int, int]
#: The formulas that follow from the structure of programs, by opcode.
_STRUCTURES = {op.opcode: op.structure for op in REGISTRY.values() if op.structure}


class ModuleMaps:
    """The maps of a module's instructions."""

    operand_indexing = OperandIndexing
    runtime_value = RuntimeValue

    def __init__(self, module: Module) -> None:
        """Start without maps."""
        self.module = module
        self._core = _core.Propagation(module.tables, _STRUCTURES, self)
        self._computations = list(module.computations.values())
        self._firsts = [c.first_row for c in self._computations]

    # ------------------------------------------------------------ maps

    def find_formulas(self, first: int, last: int, inverse: bool) -> list[int]:
        """Derive all formulas of the instructions in these rows, to be read later. Returns for each a number that instructions
        of equal formulas share, negative where none shares them; stops before the first that has none.
        """
        return self._with_formulas(lambda: self._core.find_formulas(inverse, first, last))

    def of_instruction(self, instruction: Instruction, array: int, inverse: bool) -> Indexing:
        """The maps of an array (inverse: of an operand) of an instruction."""
        reached = self.reached(instruction, array, (), inverse)
        return _lists(reached, len(instruction.shape.leaves) if inverse else len(instruction.operands))

    def of_computation(
        self, computation: Computation, array: int, arguments: Sequence[Instruction], inverse: bool
    ) -> Indexing:
        """The maps from an array of the root to the parameters (inverse: from a parameter to the root's arrays)."""
        reached = self.reached(computation, array, arguments, inverse)
        return _lists(reached, len(computation.root.shape.leaves) if inverse else len(computation.parameters))

    def reached(
        self, part: Part, array: int, arguments: Sequence[Instruction], inverse: bool
    ) -> dict[int, list[OperandIndexing]]:
        """The maps of an array, by the number of the operand (inverse: of the array) that they lead to, if any do."""
        at = (part.row, array)
        if isinstance(part, Instruction):
            return self._with_formulas(lambda: self._core.formula(inverse, at))
        return self._with_formulas(lambda: self._core.computation_indexing(inverse, at, arguments))

    def identity(self, instruction: Instruction, output: int) -> int:
        """The set of the identity on an array, from which propagation starts."""
        return self._core.identity(instruction.row, output)

    def maps(self, map_set: int, leaf: int) -> list[OperandIndexing]:
        """The maps of a set, to array `leaf`."""
        return self._core.maps(map_set, leaf)

    def merge(self, into: Arrays, leaf: int, map_set: int) -> None:
        """Add the maps of a set to those of an array."""
        into[leaf] = self._core.union(into[leaf], map_set) if leaf in into else map_set

    def propagate(self, instructions: dict[Instruction, Arrays], order: Sequence[Instruction]) -> None:
        """Propagate the maps of instructions to the operands of each instruction of `order`, all of one computation."""
        here = {o: instructions[o] for i in order for o in (i, *i.operands) if o in instructions}
        if not here:
            return
        given = [(i.row, list(arrays.items())) for i, arrays in here.items()]
        rows = [i.row for i in order]
        reached = self._with_formulas(lambda: self._core.propagate(order[0].computation.row, given, rows))
        for row, arrays in reached:
            instructions[self.instruction(row)] = dict(arrays)

    def leading_to(self, start: Instruction, target: Instruction) -> list[OperandIndexing]:
        """The maps from array 0 of an instruction to array 0 of one that it depends on."""
        reached = dict(self._with_formulas(lambda: self._core.propagate_to(start.row, 0, target.row)))
        return self.maps(reached[0], 0) if 0 in reached else []

    def compose(self, first: OperandIndexing, second: OperandIndexing) -> OperandIndexing:
        """`second` after `first`: from first's index to second's element, simplified, unused symbols removed.

        Variables: ranges and runtimes of `second`, then those of `first`. As exact as the less exact of the two.
        """
        return self._core.compose(first, second)

    # ------------------------------------------------------------ formulas

    def _with_formulas(self, find: Callable[[], T]) -> T:
        """The result of the core, once the formulas that it lists are stated."""
        while True:
            try:
                return find()
            except _core.Unstated as unstated:
                keys, are_used = unstated.args
            for inverse, at in keys:  # one by one: the garbage collector is slow if many are alive
                self._core.state(inverse, at, self._statement(inverse, at, are_used))

    def _statement(self, inverse: bool, at: tuple[int, int], is_used: bool) -> Indexing | None:
        """The formula of an array (inverse: of an operand); None if it raises an error and may not be used."""
        row, array = at
        formula = _inverse_formula if inverse else _formula
        try:
            return formula(self.instruction(row), array)
        except _FORMULA_ERRORS:
            if is_used:
                raise
            return None

    # ------------------------------------------------------------ views of what the core knows by number

    def instruction(self, row: int) -> Instruction:
        """The instruction of a row of the module's tables."""
        computation = self._computations[bisect_right(self._firsts, row) - 1]
        return computation.instruction_at(row)

    def row(self, instruction: Instruction) -> int:
        """The row of an instruction; -1 for one of another module."""
        return instruction.row if instruction.module is self.module else -1


class _Attached:
    """The attribute in which a module keeps its maps."""

    maps: ModuleMaps | None = None


def maps_of(module: Module) -> ModuleMaps:
    """The maps of a module."""
    attached = module.attached(_Attached)
    maps = attached.maps
    if maps is None:
        maps = attached.maps = ModuleMaps(module)
    return maps


def computation_indexing(computation: Computation, output: int, arguments: Sequence[Instruction] = ()) -> Indexing:
    """For each parameter, the maps from array `output` of the root to the parameter's arrays.

    Runtime values that are parameters are replaced by the instructions `arguments` of a caller.
    """
    return maps_of(computation.module).of_computation(computation, output, arguments, inverse=False)


def computation_inverse(computation: Computation, parameter: int, arguments: Sequence[Instruction] = ()) -> Indexing:
    """For each array of the root, the maps from the arrays of a parameter to it; `leaf` says which array of it."""
    return maps_of(computation.module).of_computation(computation, parameter, arguments, inverse=True)


def _lists(reached: dict[int, list[OperandIndexing]], count: int) -> Indexing:
    return [reached.get(k, []) for k in range(count)]


MAPS = ComputationMaps(computation_indexing, computation_inverse)


def instruction_indexing(instruction: Instruction, output: int) -> Indexing:
    """The instruction's own formula, output to input, simplified."""
    return maps_of(instruction.module).of_instruction(instruction, output, inverse=False)


def instruction_inverse(instruction: Instruction, operand: int) -> Indexing:
    """The instruction's own formula, input to output, simplified; the inverse of the other formula if the op has none."""
    return maps_of(instruction.module).of_instruction(instruction, operand, inverse=True)


def _formula(instruction: Instruction, output: int) -> Indexing:
    """The op's own formula, not simplified."""
    return op_of(instruction).indexing(instruction, output, MAPS)


def _inverse_formula(instruction: Instruction, operand: int) -> Indexing:
    """The op's own inverse formula, not simplified; the inverse of the other formula if it has none."""
    stated = op_of(instruction).inverse_indexing(instruction, operand, MAPS)
    return inverse_of_formula(instruction, operand, _formula) if stated is None else stated
