"""The parts of an op: the data every opcode states, and the few ways to build its maps.

`OperandIndexing` is one map from the index of an output element to an index of an operand, together with where its
runtime variables are read and how exact it is. An `Op` is everything the package knows of one opcode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, constant, variable
from indexing.errors import UnsupportedOp
from indexing.lazy import np

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape
    from indexing.ops.element_context import ElementContext, Index, Value

Exactness: TypeAlias = Literal["exact", "over-approximate", "unknown"]
Bounds: TypeAlias = tuple[int, int]
Constraint: TypeAlias = tuple[SymbolicExpr, Bounds]
Array: TypeAlias = "np.ndarray"  # any element type of numpy or ml_dtypes
HloValue: TypeAlias = "Array | tuple[HloValue, ...] | None"  # an array, a tuple of values, or a token (None)


@dataclass(frozen=True, slots=True)
class RuntimeValue:
    """The place of a runtime variable's value: element `map(output index)` of `instruction`.

    HLO clamps that element to `bounds` (None: the variable's interval), so value = clamp(lower, element, upper); the
    map it belongs to holds where the value lies in the variable's interval. Where `out_of_bounds` is "drop" (scatter),
    the element is not clamped: outside the interval nothing is read or written. `map` has the dimensions of that map;
    its range and runtime variables, where it has any, are the first ones of that map. `output` counts the arrays of a
    tuple-shaped instruction.
    """

    instruction: Instruction
    map: IndexingMap
    output: int = 0
    out_of_bounds: Literal["clamp", "drop"] = "clamp"
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class OperandIndexing:
    """Which elements of an operand (or of an output) belong to one element of the other side.

    `map` goes from the index on this side to the index on the other; its range variables enumerate the elements, its
    runtime variables stand for `runtime_values`, in order. `exactness` is `exact` (these elements, no others),
    `over-approximate` (no fewer than these; `reason` says why) or `unknown` (`map` is undefined, or the whole of a
    value whose elements may not be all there is; `reason` says why). `replica_map` gives the replicas whose operand is
    read, from the same dimensions to a replica id, over range variables of its own and at most one runtime variable:
    the id of the replica that asks. `leaf` counts the arrays of a tuple-shaped operand. `pieces`, where not None, says
    exactly what `map` only bounds: maps, of disjoint domains on each path, whose union it is (none: nothing is read).
    """

    map: IndexingMap
    runtime_values: tuple[RuntimeValue, ...] = ()
    exactness: Exactness = "exact"
    reason: str = ""
    replica_map: IndexingMap | None = None
    leaf: int = 0
    pieces: tuple[OperandIndexing, ...] | None = None


Indexing: TypeAlias = list[
    list[OperandIndexing]
]  # one list an operand (output to input) or an output (input to output)
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


@lru_cache(maxsize=4096)
def join_reasons(*reasons: str) -> str:
    """Reasons one after another, each once, at most four of them."""
    if not any(reasons):
        return ""
    parts = dict.fromkeys(part for reason in reasons if reason for part in reason.split("; "))
    kept = list(parts)[:4]
    return "; ".join(kept if len(parts) <= 4 else [*kept, "and more"])


def variables(count: int, first: int = 0) -> list[SymbolicExpr]:
    """`count` variables in a row: `variables(rank)` are an index, `variables(n, rank)` the range variables after it."""
    return [variable(first + k) for k in range(count)]


def tensor_map(
    results: Sequence[SymbolicExpr],
    sizes: Sequence[int],
    range_sizes: Sequence[int] = (),
    runtime_bounds: Sequence[Bounds] = (),
    constraints: Sequence[Constraint] = (),
) -> IndexingMap:
    """The map from an index of a tensor of `sizes` to `results`, over variables numbered dims, ranges, runtimes.

    A range of one element needs no variable: it is 0, and the variables behind it move up.
    """
    if 1 in range_sizes:
        places = _without_points(len(sizes), range_sizes, len(runtime_bounds))
        results = [e.replace_variables(places) for e in results]
        constraints = [(e.replace_variables(places), b) for e, b in constraints]
        range_sizes = [n for n in range_sizes if n != 1]
    return IndexingMap.from_tensor_sizes(
        list(results),
        list(sizes),
        list(range_sizes),
        runtime_bounds=list(runtime_bounds),
        constraints=[(e, Interval(*b)) for e, b in constraints],
    )


def _without_points(dims: int, range_sizes: Sequence[int], runtimes: int) -> list[SymbolicExpr]:
    """For each variable what stands for it when ranges of one element are left out."""
    counted = iter(variables(len(range_sizes) + runtimes, dims))
    ranges = [constant(0) if n == 1 else next(counted) for n in range_sizes]
    return [*variables(dims), *ranges, *(next(counted) for _ in range(runtimes))]


def identity(sizes: Sequence[int]) -> OperandIndexing:
    """Element i reads element i."""
    return _identity(tuple(sizes))


@lru_cache(maxsize=4096)
def _identity(sizes: tuple[int, ...]) -> OperandIndexing:
    return OperandIndexing(identity_map(sizes))


@lru_cache(maxsize=4096)
def identity_map(sizes: tuple[int, ...]) -> IndexingMap:
    """The map from an index of a tensor of `sizes` to itself."""
    return IndexingMap.identity(list(sizes))


def scalar(sizes: Sequence[int]) -> OperandIndexing:
    """Every element reads the only element of a scalar."""
    return OperandIndexing(tensor_map([], sizes))


def whole_map(sizes: Sequence[int], operand_sizes: Sequence[int]) -> IndexingMap:
    """Every element reads all elements of a tensor of `operand_sizes`, simplified."""
    return _whole_map(tuple(sizes), tuple(operand_sizes))


@lru_cache(maxsize=4096)
def _whole_map(sizes: tuple[int, ...], operand_sizes: tuple[int, ...]) -> IndexingMap:
    found = tensor_map(variables(len(operand_sizes), len(sizes)), sizes, operand_sizes)
    return found.simplify().remove_unused_symbols()


def whole(sizes: Sequence[int], operand_sizes: Sequence[int], reason: str = "") -> OperandIndexing:
    """Every element reads all of the operand: exactly, or as the bound that `reason` explains."""
    exactness: Exactness = "over-approximate" if reason else "exact"
    return OperandIndexing(whole_map(sizes, operand_sizes), (), exactness, reason)


def unknown(reason: str) -> OperandIndexing:
    """Nothing better than "anything" is true; `reason` says why."""
    return OperandIndexing(IndexingMap.undefined(), (), "unknown", reason)


def leaves(shape: Shape) -> tuple[Shape, ...]:
    """The arrays (and tokens) of a shape, tuples flattened in order."""
    return shape.leaves


def output_sizes(instruction: Instruction, output: int = 0) -> tuple[int, ...]:
    """Sizes of the `output`-th array of an instruction, tuples flattened in order."""
    shape = instruction.shape
    return (leaves(shape)[output] if shape.is_tuple else shape).dimensions


def broadcast_sizes(*sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes of arrays that broadcast against each other, of any rank: `np.broadcast_shapes` ends at 32 dimensions."""
    rank = max(map(len, sizes), default=0)
    aligned = [(1,) * (rank - len(s)) + tuple(s) for s in sizes]
    return tuple(next((n for n in column if n != 1), 1) for column in zip(*aligned, strict=True))


def only_array(value: HloValue) -> Array:
    """The value as an array; a tuple or a token where an array is needed is an error of the program."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"expected an array, got {type(value).__name__}")
    return value
