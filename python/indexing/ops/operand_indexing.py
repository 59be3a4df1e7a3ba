"""Maps between the elements of an instruction and those of its operands.

`OperandIndexing` is one such map, together with the places where its runtime variables are read, and its exactness. The
functions build the maps that most formulas need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, Variable, constant, variable
from indexing.hlo import Instruction

Exactness: TypeAlias = Literal["exact", "over-approximate", "unknown"]
Bounds: TypeAlias = tuple[int, int]
Constraint: TypeAlias = tuple[SymbolicExpr, Bounds]
VariableLike: TypeAlias = "Variable | Interval | tuple[str, Interval]"


@dataclass(frozen=True, slots=True)
class RuntimeValue:
    """The source of a runtime variable's value: element `map(output index)` of `instruction`.

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
    """The elements of an operand (or of an output) that belong to an element of the other side.

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


#: One list for each operand (output to input) or for each output (input to output).
Indexing: TypeAlias = list[list[OperandIndexing]]


@lru_cache(maxsize=4096)
def join_reasons(*reasons: str) -> str:
    """The distinct reasons, joined; at most four of them."""
    if not any(reasons):
        return ""
    parts = dict.fromkeys(part for reason in reasons if reason for part in reason.split("; "))
    kept = list(parts)[:4]
    return "; ".join(kept if len(parts) <= 4 else [*kept, "and more"])


def variables(count: int, first: int = 0) -> list[SymbolicExpr]:
    """`count` consecutive variables: `variables(rank)` is an index, `variables(n, rank)` the range variables after it."""
    return [variable(first + k) for k in range(count)]


def map_over(
    results: Sequence[SymbolicExpr],
    dims: Sequence[VariableLike],
    ranges: Sequence[VariableLike] = (),
    runtimes: Sequence[VariableLike] = (),
    constraints: Sequence[tuple[SymbolicExpr, Interval]] = (),
    places: Sequence[SymbolicExpr] | None = None,
) -> IndexingMap:
    """The map of results and constraints over variables; `places`, where given, are what their own variables stand for."""
    if places is not None:
        results = [e.replace_variables(places) for e in results]
        constraints = [(e.replace_variables(places), i) for e, i in constraints]
    return IndexingMap(
        SymbolicMap(len(dims), len(ranges) + len(runtimes), results), dims, ranges, runtimes, constraints
    )


def without_dims(m: IndexingMap) -> IndexingMap:
    """The map whose dimensions and runtime variables are range variables too: the relation of one point to all its results."""
    return map_over(m.results, [], m.variables, [], m.constraints)


def tensor_map(
    results: Sequence[SymbolicExpr],
    sizes: Sequence[int],
    range_sizes: Sequence[int] = (),
    runtime_bounds: Sequence[Bounds] = (),
    constraints: Sequence[Constraint] = (),
) -> IndexingMap:
    """The map from an index of a tensor of `sizes` to `results`, over variables numbered dims, ranges, runtimes.

    A range of one element needs no variable: it is 0, and later variables are renumbered.
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
    """The replacement of each variable where ranges of one element are left out."""
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


def same_indices(instruction: Instruction, output: int) -> Indexing:
    """The formula of an op that reads each operand at the index of the result's element."""
    return [[identity(instruction.shape.dimensions)] for _ in instruction.operands]


def scalar(sizes: Sequence[int]) -> OperandIndexing:
    """Every element reads the only element of a scalar."""
    return OperandIndexing(tensor_map([], sizes))


def whole_map(sizes: Sequence[int], operand_sizes: Sequence[int]) -> IndexingMap:
    """Every element reads all elements of a tensor of `operand_sizes`, simplified."""
    return _whole_map(tuple(sizes), tuple(operand_sizes))


@lru_cache(maxsize=4096)
def _whole_map(sizes: tuple[int, ...], operand_sizes: tuple[int, ...]) -> IndexingMap:
    whole = tensor_map(variables(len(operand_sizes), len(sizes)), sizes, operand_sizes)
    return whole.simplify().remove_unused_symbols()


def whole(sizes: Sequence[int], operand_sizes: Sequence[int], reason: str = "") -> OperandIndexing:
    """Every element reads all of the operand; with a `reason`, this is a bound."""
    exactness: Exactness = "over-approximate" if reason else "exact"
    return OperandIndexing(whole_map(sizes, operand_sizes), (), exactness, reason)


def unknown(reason: str) -> OperandIndexing:
    """An undefined map of unknown exactness; `reason` says why nothing is known."""
    return OperandIndexing(IndexingMap.undefined(), (), "unknown", reason)
