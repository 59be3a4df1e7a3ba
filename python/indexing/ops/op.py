"""`Op`: everything that the package knows of an opcode, as data: its formulas, reference, element code and traits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from indexing.errors import UnsupportedOp
from indexing.hlo import Computation, Instruction
from indexing.ops.element_context import ElementContext, Index, Value
from indexing.ops.operand_indexing import Indexing
from indexing.ops.operation_count import OperationRule
from indexing.ops.values import HloValue

# What an op does to elements: it computes them; moves elements of operand 0 unchanged to other indices; is an alias of arrays
# of its operands; is a leaf (a parameter or constant); counts (the index is the element); or only orders other ops.
Kind: TypeAlias = Literal["computes", "moves", "alias", "leaf", "counts", "orders"]
# What an op does with the computations it calls: none; its fused computation is one kernel; it is equal to the computation;
# it runs one of several; loops over them; starts one asynchronously; applies one to each element; combines elements by one.
Calls: TypeAlias = Literal["", "fused", "inlined", "branches", "loops", "starts", "applies", "combines"]

Formula: TypeAlias = "Callable[[Instruction, int], Indexing]"
Reference: TypeAlias = "Callable[[Instruction, Sequence[HloValue]], HloValue]"
Across: TypeAlias = "Callable[[Instruction, Sequence[Sequence[HloValue]], Interpreter], Sequence[HloValue]]"


#: Formulas that the core derives from the program's structure: arrays of the operands ("alias"), the maps of a computation
#: that is called ("calls") or started ("starts"), of one of several ("branches"), or of a loop's body, repeated ("loops").
Structure: TypeAlias = Literal["alias", "calls", "starts", "branches", "loops"]


@dataclass(frozen=True, slots=True)
class ByStructure:
    """A formula that follows from the program's structure alone and is built into the core."""

    structure: Structure


@dataclass(frozen=True, slots=True)
class ComputationMaps:
    """Maps through computations, for formulas of ops that are equal to a computation of another module.

    `output_to_input(computation, output, arguments)` returns the maps from array `output` of the root to each parameter's
    arrays, `input_to_output(computation, parameter, arguments)` those from a parameter's arrays to each of the root's.
    Runtime values that are parameters are replaced by the instructions `arguments`.
    """

    output_to_input: Callable[[Computation, int, Sequence[Instruction]], Indexing]
    input_to_output: Callable[[Computation, int, Sequence[Instruction]], Indexing]


class Interpreter(Protocol):
    """Evaluates computations, for references of ops that run computations."""

    def run(self, computation: Computation, arguments: Sequence[HloValue]) -> HloValue:
        """The value of the root, given one value for each parameter."""

    def apply(self, computation: Computation, *arrays: HloValue) -> HloValue:
        """The result of a scalar computation applied elementwise to arrays, which are broadcast."""


@dataclass(frozen=True, slots=True)
class ThroughComputations:
    """A formula that takes the maps through computations as a further argument."""

    formula: Callable[[Instruction, int, ComputationMaps], Indexing]


@dataclass(frozen=True, slots=True)
class RunsComputations:
    """A reference that takes the interpreter as a further argument, to run computations."""

    reference: Callable[[Instruction, Sequence[HloValue], Interpreter], HloValue]


@dataclass(frozen=True, slots=True)
class Op:
    """One opcode: its formulas, reference and element code. Nothing else in the package states its meaning.

    `formula` states an element of the result in one line (printed in docs/ops.md). `reference` is None only if the opcode
    has no data semantics, `input_to_output` if it is the generic inverse of `output_to_input`, `element` if kernels refuse
    the opcode. `across_replicas` is the reference of a collective, from all replicas' operands to all replicas' results.
    `refusal` gives the reason why an instruction has no value, whatever its operands are. `exactness` describes in words how
    exact the maps are (printed in docs/ops.md); each map states its own. `bounded` references accept operands with fewer
    elements than a bounded dimension allows, and return such results. `expansion` returns a computation of simpler ops, its
    parameters the operands, by which kernels compute an instruction without element code; None if there is none. `operations`
    is the rule for the number of operations; ops that move, name or count elements need none.

    Other parts of the package ask for traits instead of naming opcodes: `kind` and `calls` (above); `passes_operand`: the
    result is operand 0, unchanged; `same_memory`: it has operand 0's bytes under another shape; `reads_many`: an element
    loops over operands' elements; `by_rows`: an element is any of a row, so that kernels compute whole rows;
    `is_expensive`: an element costs more than a load; `is_async_done`: returns the results of the computation that its
    operand started; `is_done`: ends an asynchronous operation that its operand started, and
    moves nothing itself; `result_index`: the element of a start's tuple that holds the results, beside operands and
    contexts; `workspaces`: the number of arrays at the end of a call's results that are the library's scratch memory;
    `index_vectors`: the attribute as long as an index vector; `in_place_operands`: the number of leading operands
    that a kernel may overwrite with the result; `is_scatter_like`: kernels compute it update by update, not element by
    element.
    """

    opcode: str
    formula: str
    output_to_input: Formula | ThroughComputations | ByStructure
    reference: Reference | RunsComputations | None
    input_to_output: Formula | ThroughComputations | ByStructure | None = None
    element: Callable[[ElementContext, Instruction, int, Index], Value] | None = None
    across_replicas: Across | None = None
    refusal: Callable[[Instruction], str | None] | None = None
    exactness: str = "exact"
    bounded: bool = False
    expansion: Callable[[Instruction], Computation | None] | None = None
    kind: Kind = "computes"
    calls: Calls = ""
    is_elementwise: bool = False
    passes_operand: bool = False
    same_memory: bool = False
    reads_many: bool = False
    by_rows: bool = False
    is_expensive: bool = False
    is_async_done: bool = False
    is_done: bool = False
    result_index: int | None = None
    workspaces: Callable[[Instruction], int] | None = None
    index_vectors: str = ""
    in_place_operands: Callable[[Instruction], int] | None = None
    is_scatter_like: bool = False
    operations: OperationRule | None = None

    @property
    def has_no_compute(self) -> bool:
        """Whether each element of the result is an element of an operand, or given."""
        return self.kind in ("moves", "alias", "leaf")

    @property
    def is_index_arithmetic(self) -> bool:
        """Whether computing an element costs no more than computing its index."""
        return self.has_no_compute or self.kind == "counts"

    @property
    def is_source(self) -> bool:
        """Whether the op reads nothing: it is a parameter, a constant, or the index itself."""
        return self.kind in ("leaf", "counts")

    @property
    def runs_computations(self) -> bool:
        """Whether it passes its operands to computations whose results are its own."""
        return self.calls in ("inlined", "branches", "loops", "starts")

    @property
    def structure(self) -> Structure | Literal["passes", "copies", "moves", "counts", ""]:
        """The formula built into the core; of others, whether the result is operand 0 ("passes", of moves "copies"), has
        elements of it at other indices ("moves"), or its indices as elements ("counts").
        """
        if isinstance(self.output_to_input, ByStructure):
            return self.output_to_input.structure
        if self.passes_operand:
            return "copies" if self.kind == "moves" else "passes"
        return self.kind if self.kind in ("moves", "counts") else ""

    def indexing(self, instruction: Instruction, output: int, maps: ComputationMaps) -> Indexing:
        """The output-to-input maps of array `output`, not simplified; the op must have a formula of its own."""
        formula = self.output_to_input
        if isinstance(formula, ThroughComputations):
            return formula.formula(instruction, output, maps)
        return _stated(formula)(instruction, output)

    def inverse_indexing(self, instruction: Instruction, operand: int, maps: ComputationMaps) -> Indexing | None:
        """The input-to-output maps of an operand, not simplified; None if the op has no formula of its own."""
        formula = self.input_to_output
        if isinstance(formula, ThroughComputations):
            return formula.formula(instruction, operand, maps)
        return None if formula is None else _stated(formula)(instruction, operand)

    def evaluate(self, instruction: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
        """The value by the reference; UnsupportedOp if the opcode has no data semantics."""
        reference = self.reference
        if reference is None:
            raise UnsupportedOp(f"{instruction.name}: {instruction.opcode} has no value that can be computed here")
        if isinstance(reference, RunsComputations):
            return reference.reference(instruction, operands, interpreter)
        return reference(instruction, operands)


def _stated(formula: Formula | ByStructure) -> Formula:
    if isinstance(formula, ByStructure):
        raise TypeError(f"formula {formula.structure!r} follows from the program's structure: only the core has it")
    return formula
