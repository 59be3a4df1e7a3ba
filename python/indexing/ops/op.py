"""An op: everything the package knows of one opcode, as data: its formulas, reference, element code and traits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from indexing.errors import UnsupportedOp

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction
    from indexing.ops.element_context import ElementContext, Index, Value
    from indexing.ops.operand_indexing import Indexing
    from indexing.ops.values import HloValue

# What an op does to elements: it computes them; moves those of operand 0, as they are, to other places; names arrays of
# its operands; is given with its computation; counts (the index is the element); or has none and only orders others.
Kind: TypeAlias = Literal["computes", "moves", "names", "given", "counts", "orders"]
# What an op does with the computations it calls: nothing but their name is fused into it; it stands for the computation;
# runs one of them; repeats them; starts it; applies it to each element; combines elements by it.
Calls: TypeAlias = Literal["", "fused", "inlined", "branches", "loops", "starts", "applies", "combines"]

Formula: TypeAlias = "Callable[[Instruction, int], Indexing]"
Reference: TypeAlias = "Callable[[Instruction, Sequence[HloValue]], HloValue]"
Across: TypeAlias = "Callable[[Instruction, Sequence[Sequence[HloValue]], Interpreter], Sequence[HloValue]]"


#: Formulas that the core has by itself: arrays that are arrays of the operands ("names"), the computation that is called
#: ("calls"), or started ("starts"), one of several ("branches"), a loop's body, again and again ("loops").
Structure: TypeAlias = Literal["names", "calls", "starts", "branches", "loops"]


@dataclass(frozen=True, slots=True)
class ByStructure:
    """A formula that follows from the program's structure alone: the core has it."""

    structure: Structure


@dataclass(frozen=True, slots=True)
class ComputationMaps:
    """Maps through computations: what a formula is given where the op stands for a computation of another module.

    `output_to_input(computation, output, arguments)` has the maps from array `output` of the root to each parameter's
    arrays, `input_to_output(computation, parameter, arguments)` those from a parameter's arrays to each of the root's.
    Runtime values that are parameters become the instructions that the caller passes as `arguments`.
    """

    output_to_input: Callable[[Computation, int, Sequence[Instruction]], Indexing]
    input_to_output: Callable[[Computation, int, Sequence[Instruction]], Indexing]


class Interpreter(Protocol):
    """Values of computations: what a reference is given where the op runs computations."""

    def run(self, computation: Computation, arguments: Sequence[HloValue]) -> HloValue:
        """The value of the root, given one value a parameter."""

    def apply(self, computation: Computation, *arrays: HloValue) -> HloValue:
        """A computation of scalars applied element by element to arrays that broadcast against each other."""


@dataclass(frozen=True, slots=True)
class ThroughComputations:
    """A formula that goes through computations: it is given their maps."""

    formula: Callable[[Instruction, int, ComputationMaps], Indexing]


@dataclass(frozen=True, slots=True)
class RunsComputations:
    """A reference that runs computations: it is given the interpreter."""

    reference: Callable[[Instruction, Sequence[HloValue], Interpreter], HloValue]


@dataclass(frozen=True, slots=True)
class Op:
    """One opcode: its formulas, its reference, its element code. Nothing else in the package mentions its meaning.

    `formula` states the element in one line (docs/ops.md prints it). `reference` is None only where an opcode has no data
    semantics, `input_to_output` None where the generic inverse of `output_to_input` serves, `element` None where a
    kernel refuses the opcode by name. `across_replicas` is the reference of a collective: all replicas' operands to all
    replicas' results. `refusal` says why an instruction has no value whatever its operands are, where its reference would
    only refuse it. `is_simplified` formulas give maps that are simplified already, since they are composed. `exactness` says in
    words how exact the maps are (docs/ops.md prints it); each map says it for itself. `bounded` references take operands
    with fewer elements than a bounded dimension may have, and give such results. `expansion` gives the computation of
    simpler ops, its parameters the operands, by which kernels compute an instruction that has no element code; None where
    there is none.

    The traits are what other parts of the package ask an op, instead of naming opcodes: `kind` and `calls` (above);
    `passes_operand`: the result is operand 0, untouched; `same_memory`: its bytes too, under another shape; `reads_many`:
    an element loops over elements of operands; `takes_long`: an element costs more than a load; `awaits`: it gives the
    results of the computation that its operand started; `ends`: its operand started what goes on in the background, and it
    moves nothing itself; `makes`: of the tuple that a start gives, the element that is made, beside operands and contexts;
    `index_vectors`: the attribute whose length is that of an index vector; `overwritten`: how many leading operands a kernel
    may overwrite with the result; `by_updates`: a kernel computes it update by update, not element by element.
    """

    opcode: str
    formula: str
    output_to_input: Formula | ThroughComputations | ByStructure
    reference: Reference | RunsComputations | None
    input_to_output: Formula | ThroughComputations | ByStructure | None = None
    element: Callable[[ElementContext, Instruction, int, Index], Value] | None = None
    across_replicas: Across | None = None
    refusal: Callable[[Instruction], str | None] | None = None
    is_simplified: bool = False
    exactness: str = "exact"
    bounded: bool = False
    expansion: Callable[[Instruction], Computation | None] | None = None
    kind: Kind = "computes"
    calls: Calls = ""
    is_elementwise: bool = False
    passes_operand: bool = False
    same_memory: bool = False
    reads_many: bool = False
    takes_long: bool = False
    awaits: bool = False
    ends: bool = False
    makes: int | None = None
    index_vectors: str = ""
    overwritten: Callable[[Instruction], int] | None = None
    by_updates: bool = False

    @property
    def has_no_compute(self) -> bool:
        """Whether each element of the result is one of the operands' or of the program's text."""
        return self.kind in ("moves", "names", "given")

    @property
    def is_index_arithmetic(self) -> bool:
        """Whether no element costs more than its index."""
        return self.has_no_compute or self.kind == "counts"

    @property
    def is_source(self) -> bool:
        """Whether it is a parameter, a constant, or the index itself: nothing is read to compute it."""
        return self.kind in ("given", "counts")

    @property
    def runs_computations(self) -> bool:
        """Whether it hands its operands to computations, which run as they would in its place."""
        return self.calls in ("inlined", "branches", "loops", "starts")

    @property
    def structure(self) -> Structure | Literal["passes", ""]:
        """The formula that the core has by itself; "passes" where the result is operand 0, untouched, "" for all else."""
        if isinstance(self.output_to_input, ByStructure):
            return self.output_to_input.structure
        return "passes" if self.passes_operand else ""

    def indexing(self, instruction: Instruction, output: int, maps: ComputationMaps) -> Indexing:
        """The output-to-input formula of array `output`, not simplified, of an op that states one."""
        formula = self.output_to_input
        if isinstance(formula, ThroughComputations):
            return formula.formula(instruction, output, maps)
        return _stated(formula)(instruction, output)

    def inverse_indexing(self, instruction: Instruction, operand: int, maps: ComputationMaps) -> Indexing | None:
        """The input-to-output formula of an operand, not simplified; None where the op states none."""
        formula = self.input_to_output
        if isinstance(formula, ThroughComputations):
            return formula.formula(instruction, operand, maps)
        return None if formula is None else _stated(formula)(instruction, operand)

    def evaluate(self, instruction: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
        """The reference's value; UnsupportedOp where the opcode has no data semantics."""
        reference = self.reference
        if reference is None:
            raise UnsupportedOp(f"{instruction.name}: {instruction.opcode} has no value that can be computed here")
        if isinstance(reference, RunsComputations):
            return reference.reference(instruction, operands, interpreter)
        return reference(instruction, operands)


def _stated(formula: Formula | ByStructure) -> Formula:
    if isinstance(formula, ByStructure):
        raise TypeError(f"a formula that follows from the structure ({formula.structure}) is the core's, not the op's")
    return formula
