"""Sorts of long rows in passes: runs of a row are sorted, then neighbouring sorted runs are merged, until one is the row.

A pass is the custom call SORT_RUNS, whose backend_config has two numbers: rows are runs of `sorted` elements, each of which is
in order already, and become runs of `length` elements in order; the last run may be shorter. Its meaning is a stable sort of
each run of `length` elements. That the shorter ones are in order is a promise; it makes a pass cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexing.errors import UnsupportedOp
from indexing.hlo import AttributeValue, BuiltInstruction, Computation, ComputationBuilder, Instruction, Shape
from indexing.hlo.layout import major_to_minor
from indexing.ops.dependence import parameters_used
from indexing.ops.element_types import element_type
from indexing.ops.expansion import Expansion
from indexing.ops.library_calls.configs import Config, backend_config

#: Cuts arrays to so many elements of each dimension.
_Cut: TypeAlias = Callable[[BuiltInstruction, Sequence[int]], BuiltInstruction]
SORT_RUNS = "__indexing$sort_runs"
ORDER = "s32"  # the element type of places in a row
ORDER_BYTES = 4
RUN_UNIT = 16  # runs are multiples of so many elements where rows allow, so that threads take whole vectors


@dataclass(frozen=True, slots=True)
class Runs:
    """Rows of `size` elements along a dimension, whose sorted runs of `sorted` elements become sorted runs of `length`."""

    dimension: int
    size: int
    sorted: int
    length: int


# ---------------------------------------------------------------- what the comparator reads


def compared_operands(comparator: Computation, count: int) -> tuple[int, ...]:
    """The operands, of `count`, that decide the order."""
    (used,) = parameters_used(comparator)
    return tuple(k for k in range(count) if {2 * k, 2 * k + 1} & used)


def moves_by_order(kinds: Sequence[str]) -> bool:
    """Whether operands that decide nothing are gathered at the end, by the order: moving it costs less than moving these."""
    return sum(max(element_type(k).bits, 8) for k in kinds) > 8 * ORDER_BYTES


# ---------------------------------------------------------------- the call


def write_sorted_runs(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """The sort of each run of `length` elements. Runs are merged in pairs, or begin as single elements."""
    size, runs, length = body.operand(0).dimensions[-1], int(config["sorted"]), int(config["length"])
    if runs < 1 or (length < 1 if runs == 1 else length != 2 * runs):
        raise UnsupportedOp(f"no pass makes sorted runs of {runs} elements runs of {length}")
    comparator, rest = body.copy(body.call.called[0]), size % length
    parts = [_sorted_runs(body, body.first, size - rest, length, comparator)] if size > rest else []
    parts += [_sorted_runs(body, body.last, rest, rest, comparator)] if rest else []
    return [beside(body, arrays) for arrays in zip(*parts, strict=True)]


def _sorted_runs(
    body: Expansion, cut: _Cut, count: int, length: int, comparator: ComputationBuilder
) -> list[BuiltInstruction]:
    """Of each row `count` elements, the first or the last ones, sorted in runs of `length`."""
    rows = body.operand(0).dimensions[:-1]
    runs = [body.reshape(cut(a, (*rows, count)), (*rows, count // length, length)) for a in body.parameters]
    return [body.reshape(s, (*rows, count)) for s in stable_sort(body, runs, comparator)]


def stable_sort(
    body: Expansion, arrays: Sequence[BuiltInstruction], comparator: ComputationBuilder
) -> list[BuiltInstruction]:
    """The arrays, sorted along the last dimension."""
    last = len(arrays[0].dimensions) - 1
    return _several(body, "sort", arrays, dimensions=[last], is_stable="true", to_apply=comparator)


def sort_runs(
    body: Expansion, arrays: Sequence[BuiltInstruction], comparator: ComputationBuilder, runs: int, length: int
) -> list[BuiltInstruction]:
    """The arrays, their sorted runs along the last dimension made sorted runs of `length`."""
    config = f'{{"sorted":{runs},"length":{length}}}'
    return _several(
        body, "custom-call", arrays, custom_call_target=f'"{SORT_RUNS}"', to_apply=comparator, backend_config=config
    )


def _several(
    body: Expansion, opcode: str, arrays: Sequence[BuiltInstruction], **attributes: AttributeValue
) -> list[BuiltInstruction]:
    if len(arrays) == 1:
        return [body.add(opcode, arrays[0].element_type, arrays[0].dimensions, arrays, **attributes)]
    shapes = [Shape.array(a.element_type, a.dimensions) for a in arrays]
    return body.results_of(opcode, shapes, arrays, **attributes)


def beside(body: Expansion, arrays: Sequence[BuiltInstruction]) -> BuiltInstruction:
    """The arrays one after another along the last dimension."""
    if len(arrays) == 1:
        return arrays[0]
    *rows, _ = arrays[0].dimensions
    sizes = (*rows, sum(a.dimensions[-1] for a in arrays))
    return body.add("concatenate", arrays[0].element_type, sizes, arrays, dimensions=[len(rows)])


def runs_of(i: Instruction) -> Runs | None:
    """The runs that a sort, or the call, makes of rows; None for other instructions."""
    if i.opcode == "sort":
        (dimension,) = i.ints("dimensions") or (0,)
        size = i.operands[0].shape.dimensions[dimension]
        return Runs(dimension, size, 1, size)
    if i.opcode != "custom-call" or i.text("custom_call_target", "") != SORT_RUNS or not i.operands:
        return None
    sizes, config = i.operands[0].shape.dimensions, backend_config(i)
    if not sizes or not {"sorted", "length"} <= config.keys():
        return None
    return Runs(len(sizes) - 1, sizes[-1], int(config["sorted"]), int(config["length"]))


# ---------------------------------------------------------------- sorts in passes


def sort_in_passes(sort: Instruction, most: int) -> Computation:
    """A sort along the last dimension in memory, in runs of at most `most` elements and passes that merge these."""
    parts, runs = Expansion(sort), runs_of(sort)
    assert runs is not None
    order = (*(d for d in major_to_minor(sort.operands[0].shape) if d != runs.dimension), runs.dimension)
    moved = [_with_rows_beside(parts, _transposed(parts, p, order)) for p in parts.parameters]
    done = _sort_rows(parts, moved, sort.called[0], most)
    return parts.finish([_transposed(parts, a, [order.index(d) for d in range(len(order))]) for a in done])


def top_by_sorting(topk: Instruction, most: int) -> Computation:
    """A topk as the first elements of sorted rows; of long rows, of those that are first in runs of at most `most` elements."""
    parts, count = Expansion(topk), topk.shape.leaves[0].dimensions[-1]
    values = _with_rows_beside(parts, parts.operand(0))
    comparator = _total_order(parts, values.element_type, topk.attributes.get("largest", "true") == "true")
    arrays = [values, _places(parts, values.dimensions)]
    while arrays[0].dimensions[-1] > most >= 2 * count:
        arrays = _first_of_runs(parts, arrays, comparator, count, most)
    *rows, _ = arrays[0].dimensions
    done = stable_sort(parts, arrays, comparator)
    return parts.finish([parts.first(a, (*rows, count)) for a in done][: len(parts.results)])


def _first_of_runs(
    parts: Expansion, arrays: Sequence[BuiltInstruction], comparator: ComputationBuilder, count: int, most: int
) -> list[BuiltInstruction]:
    """The first `count` elements of each sorted run of the rows."""
    *rows, size = arrays[0].dimensions
    length = run_length(size, most)
    rest, runs = size % length, size // length
    first = []
    for a in sort_runs(parts, arrays, comparator, 1, length):
        whole = parts.reshape(parts.first(a, (*rows, size - rest)), (*rows, runs, length))
        pieces = [parts.reshape(parts.first(whole, (*rows, runs, count)), (*rows, runs * count))]
        if rest:
            pieces.append(parts.first(parts.last(a, (*rows, rest)), (*rows, min(rest, count))))
        first.append(beside(parts, pieces))
    return first


def _total_order(parts: Expansion, kind: str, falls: bool) -> ComputationBuilder:
    """The comparator of elements with their places by the elements' total order."""
    body = parts.computation("before")
    element, place, flag = (Shape.array(t, ()) for t in (kind, ORDER, "pred"))
    pair = [body.parameter(element) for _ in range(2)]
    for _ in range(2):
        body.parameter(place)
    order = {"type": "TOTALORDER"} if element_type(kind).kind == "float" else {}
    body.root = body.add("compare", flag, pair, direction="GT" if falls else "LT", **order)
    return body


def _places(parts: Expansion, sizes: Sequence[int]) -> BuiltInstruction:
    return parts.add("iota", ORDER, sizes, [], iota_dimension=len(sizes) - 1)


def _transposed(parts: Expansion, array: BuiltInstruction, order: Sequence[int]) -> BuiltInstruction:
    return array if list(order) == sorted(order) else parts.transpose(array, order)


def _with_rows_beside(parts: Expansion, array: BuiltInstruction) -> BuiltInstruction:
    """The array with its rows' elements beside each other in memory."""
    is_there = major_to_minor(array.shape)[-1] == len(array.dimensions) - 1
    return array if is_there else parts.add("copy", array.element_type, array.dimensions, [array])


def _sort_rows(
    parts: Expansion, arrays: Sequence[BuiltInstruction], comparator: Computation, most: int
) -> list[BuiltInstruction]:
    """The arrays, sorted along the last dimension."""
    size = arrays[0].dimensions[-1]
    if size <= most:
        return stable_sort(parts, arrays, parts.copy(comparator))
    compared = compared_operands(comparator, len(arrays))
    others = [k for k in range(len(arrays)) if k not in compared]
    if not moves_by_order([arrays[k].element_type for k in others]):
        return _sort_in_runs(parts, arrays, parts.copy(comparator), most)
    places = _places(parts, arrays[0].dimensions)
    *keys, order = _sort_in_runs(
        parts, [*(arrays[k] for k in compared), places], _of_compared(parts, comparator, compared), most
    )
    known = dict(zip(compared, keys, strict=True))
    return [known[k] if k in known else _in_order(parts, a, order) for k, a in enumerate(arrays)]


def _sort_in_runs(
    parts: Expansion, arrays: Sequence[BuiltInstruction], comparator: ComputationBuilder, most: int
) -> list[BuiltInstruction]:
    """The arrays, sorted by a pass for runs of at most `most` elements, and by passes that merge pairs of runs."""
    size = arrays[0].dimensions[-1]
    length = run_length(size, most)
    done = sort_runs(parts, arrays, comparator, 1, length)
    while length < size:
        done = sort_runs(parts, done, comparator, length, 2 * length)
        length *= 2
    return done


def run_length(size: int, most: int) -> int:
    """The largest divisor of a row from `most` / 2 to `most` that is a multiple of RUN_UNIT; `most` if there is none."""
    return next((n for n in range(most, most // 2, -RUN_UNIT) if size % n == 0), most)


def _of_compared(parts: Expansion, comparator: Computation, compared: Sequence[int]) -> ComputationBuilder:
    """The comparator with parameters for the operands that it compares, and for one of places."""
    body = parts.computation(comparator.name)
    pairs = (comparator.parameters[2 * k + side] for k in compared for side in (0, 1))
    built = {p: body.parameter(p.shape) for p in pairs}
    for _ in range(2):
        body.parameter(Shape.array(ORDER, ()))
    for i in comparator.post_order():
        if i not in built and not i.is_parameter:
            built[i] = body.copy(i, [built[o] for o in i.operands])
    body.root = built[comparator.root]
    return body


def _in_order(parts: Expansion, array: BuiltInstruction, order: BuiltInstruction) -> BuiltInstruction:
    """The elements of each row in an order."""
    sizes = array.dimensions
    last = len(sizes) - 1
    return parts.add(
        "gather",
        array.element_type,
        sizes,
        [array, parts.reshape(order, (*sizes, 1))],
        offset_dims=(),
        collapsed_slice_dims=[last],
        start_index_map=[last],
        operand_batching_dims=range(last),
        start_indices_batching_dims=range(last),
        index_vector_dim=last + 1,
        slice_sizes=[1] * len(sizes),
    )
