"""What the kernels of all heroes share: thread ids as index variables, thread maps, the entry's head, stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, Variable, variable
from indexing.emit.dialect import launch_bounds
from indexing.emit.elemental import FunctionWriter
from indexing.emit.index import INT32_MAX
from indexing.emit.kernel import Argument, Dim3, Kernel
from indexing.emit.source import identifier, sanitized
from indexing.emit.types import c_type
from indexing.errors import IndexingError
from indexing.layout import bitcast_map, delinearize, major_to_minor
from indexing.work import predicted_work

if TYPE_CHECKING:
    from indexing.emit.hero import Output
    from indexing.emit.unit import Unit
    from indexing.hlo import Instruction, Shape
    from indexing.ops.block import OperandIndexing
    from indexing.ops.element import Index, Value

THREAD_IDS = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z")
FIRST_RANGE = len(THREAD_IDS)  # the number of a thread map's first range variable
Bounds: TypeAlias = tuple[int, int]


def thread_id(name: str) -> SymbolicExpr:
    """A thread or block id as a variable of thread maps, and of the entry function's scope."""
    return variable(THREAD_IDS.index(name))


def range_variable(k: int) -> SymbolicExpr:
    """The `k`-th range variable of a thread map."""
    return variable(FIRST_RANGE + k)


def thread_map(
    grid: Dim3,
    block: Dim3,
    results: Sequence[SymbolicExpr],
    ranges: Sequence[tuple[str, int]] = (),
    constraints: Sequence[tuple[SymbolicExpr, Bounds]] = (),
    runtimes: Sequence[Variable] = (),
) -> IndexingMap:
    """From (th_x, th_y, th_z, bl_x, bl_y, bl_z)[ranges]{runtimes} to `results`, on `constraints`, simplified.

    `ranges` are names with counts.
    """
    dims = [(name, Interval(0, max(size, 1) - 1)) for name, size in zip(THREAD_IDS, (*block, *grid), strict=True)]
    symbols = [(name, Interval(0, max(size, 1) - 1)) for name, size in ranges]
    conditions = [(expression, Interval(*bounds)) for expression, bounds in constraints]
    symbolic = SymbolicMap(len(dims), len(symbols) + len(runtimes), list(results))
    return IndexingMap(symbolic, dims, symbols, runtimes, conditions).simplify()


def entry_writer(unit: Unit, grid: Dim3, block: Dim3) -> FunctionWriter:
    """A writer for the entry function, whose first index variables are the thread and block ids.

    For launches of one dimension that need no more than a thread's number, `write_position` reads better.
    """
    body = FunctionWriter(unit)
    words = ("thread_x", "thread_y", "thread_z", "block_x", "block_y", "block_z")
    for name, word, size in zip(THREAD_IDS, words, (*block, *grid), strict=True):
        body.scope.add(name, 0, max(size, 1) - 1)
        if size > 1:
            body.writer.line(f"const s32 {name} = @{word};")
    return body


def position_in_grid(block_size: int) -> SymbolicExpr:
    """The number of a thread in a launch of one dimension, as thread maps say it."""
    return thread_id("bl_x") * block_size + thread_id("th_x")


def write_position(body: FunctionWriter, count: int, block_size: int) -> SymbolicExpr:
    """The same as a variable `i` of the entry function; threads with `count` or more leave."""
    launched = -(-count // block_size) * block_size
    is_wide = launched > INT32_MAX
    kind, cast = ("s64", "(s64)") if is_wide else ("s32", "")
    body.writer.line(f"const {kind} i = {cast}@block_x * {block_size} + @thread_x;")
    if launched > count:
        body.writer.line(f"if (i >= {count}) return;")
    return body.scope.add("i", 0, count - 1)


def unravelled(position: SymbolicExpr, sizes: Sequence[int], order: Sequence[int]) -> list[SymbolicExpr]:
    """The logical index of the element at `position` of an array of `sizes` laid out in `order` (major to minor)."""
    parts = dict(zip(order, delinearize(position, [sizes[d] for d in order]), strict=True))
    return [parts[d] for d in range(len(sizes))]


def element_at(position: SymbolicExpr, shape: Shape) -> list[SymbolicExpr]:
    """The logical index of the element at `position` in the memory of an array."""
    return unravelled(position, shape.dimensions, major_to_minor(shape))


def thread_index() -> Index:
    """The thread and block ids, as the dimensions of a thread map."""
    return tuple(thread_id(name) for name in THREAD_IDS)


@contextmanager
def each(body: FunctionWriter, count: int) -> Iterator[SymbolicExpr]:
    """Run what is written inside for each index below `count`; without a loop where that is one."""
    if count == 1:
        yield body.constant(0)
        return
    with body.loop(count) as index:
        yield index


@contextmanager
def guarded(body: FunctionWriter, conditions: Sequence[str]) -> Iterator[None]:
    """Run what is written inside where all conditions hold; without a branch where there are none."""
    if not conditions:
        yield
        return
    with body.when(conditions):
        yield


@dataclass(frozen=True, slots=True)
class Part:
    """A coordinate of a thread's place, over thread ids and range variables, which must be less than `count`."""

    expression: SymbolicExpr
    count: int


def bound(part: Part) -> tuple[SymbolicExpr, Bounds]:
    """The constraint of a thread map that a part stands for."""
    return part.expression, (0, part.count - 1)


@contextmanager
def inside(body: FunctionWriter, parts: Sequence[Part], conditions: Sequence[str] = ()) -> Iterator[Index]:
    """Run what is written inside where all `parts`, over the function's own variables, are less than their counts; those
    that might not be get a name.
    """
    sizes = [p.count for p in parts]
    mapped = body.mapped(IndexingMap.identity(sizes), tuple(p.expression for p in parts))
    with guarded(body, [*conditions, *mapped.conditions]):
        yield body.inside(mapped.index, sizes)


@contextmanager
def placed(
    body: FunctionWriter, parts: Sequence[Part], ranges: Index = (), conditions: Sequence[str] = ()
) -> Iterator[Index]:
    """As `inside`, for `parts` over thread ids and range variables, whose values are `ranges`."""
    values = [*thread_index(), *ranges]
    found = [Part(body.scope.simplify(p.expression.replace_variables(values)), p.count) for p in parts]
    with inside(body, found, conditions) as index:
        yield index


def check_knob(knob: str, value: int, low: int, high: int) -> None:
    """IndexingError where a knob lies outside of its legal range."""
    if not low <= value <= high:
        raise IndexingError(f"{knob} lies in [{low}, {high}]; got {value}")


def starts(body: FunctionWriter, indexing: OperandIndexing, index: Index) -> tuple[Index, tuple[str, ...]]:
    """The runtime variables of a map from an element at `index`, read; and the C conditions under which it is moved."""
    found: list[SymbolicExpr] = []
    conditions: list[str] = []
    for value, variable_ in zip(indexing.runtime_values, indexing.map.runtimes, strict=True):
        place = body.mapped(value.map, index).index
        element = body.read(value.instruction, place, value.output)
        lower, upper = value.bounds or (variable_.interval.lower, variable_.interval.upper)
        if value.out_of_bounds == "clamp":
            found.append(body.bounded(element, lower, upper))
        else:
            start, is_inside = body.checked(element, lower, upper)
            found.append(start)
            conditions.append(is_inside)
    return tuple(found), tuple(conditions)


def same_memory(shape: Shape, other: Shape) -> IndexingMap:
    """From an index of an array to that of another with as many elements: the same index, else the same position."""
    if shape.dimensions == other.dimensions:
        return IndexingMap.identity(shape.dimensions)
    return bitcast_map(replace(shape, element_type=other.element_type), other)


def offset(body: FunctionWriter, shape: Shape, index: Index) -> str:
    """C text of the position in memory of an index of an array."""
    return body.integer(body.offset(shape.dimensions, major_to_minor(shape), index))


def store(body: FunctionWriter, output: Output, index: Index, value: Value) -> None:
    """Write one element of an output, or one lane of a vector of them."""
    kind = output.shape.element_type
    text = body.stored(kind, value)
    place = body.offset(output.shape.dimensions, major_to_minor(output.shape), index)
    if body.lanes is None or not body.lanes.store(output.number, kind, place, text):
        body.writer.line(f"o{output.number}[{body.integer(place)}] = {text};")


def assembled(
    unit: Unit,
    emitter: str,
    hero: Instruction,
    body: FunctionWriter,
    outputs: Sequence[Output],
    launch: tuple[Dim3, Dim3],
    shared_bytes: int,
    maps: tuple[Sequence[IndexingMap], Sequence[Sequence[IndexingMap]]],
    types: Sequence[str] = (),
    aliases: dict[int, int] | None = None,
    scratch: Sequence[Argument] = (),
) -> Kernel:
    """The kernel: the entry's head in front of `body`, its arguments, its thread maps.

    `launch` are grid and block, `maps` those of the outputs and of the parameters; `aliases` gives the parameter in
    whose buffer an output lives.
    """
    grid, block = launch
    in_place = aliases or {}
    read = unit.used_parameters(body)
    inputs = sorted({*read, *in_place.values()})
    parameters = []
    arguments: list[Argument] = []
    for number in inputs:
        shape = unit.computation.parameters[number].shape
        arguments.append(Argument("input", number, shape.element_type, shape.dimensions, shape.layout))
        if number in in_place.values():
            written = next(k for k, p in in_place.items() if p == number)
            parameters.append(f"@global {c_type(shape.element_type).storage} *o{written}")
        else:
            parameters.append(unit.pointer_parameter(number, "@restrict "))
    for o in outputs:
        alias = inputs.index(in_place[o.number]) if o.number in in_place else None
        arguments.append(Argument("output", o.number, o.shape.element_type, o.shape.dimensions, o.shape.layout, alias))
        if alias is None:
            parameters.append(f"@global {c_type(o.shape.element_type).storage} *@restrict o{o.number}")
    parameters += [f"@global {c_type(a.element_type).storage} *w{a.number}" for a in scratch]
    arguments += scratch
    name = f"{identifier(emitter)}_{identifier(hero.opcode)}"
    bounds = launch_bounds(unit.dialect, block)
    words = ("@kernel", bounds) if unit.dialect == "cuda" else (bounds, "@kernel")
    head = f"{' '.join(words)} {name}({', '.join(parameters)})"
    comment = f"{sanitized(unit.computation.name)}: {emitter} emitter, {prod(grid)} blocks of {prod(block)} threads"
    source = unit.assemble(comment, head, body, types)
    output_maps, input_maps = maps
    return Kernel(
        name,
        source,
        unit.dialect,
        emitter,
        grid,
        block,
        shared_bytes,
        tuple(arguments),
        tuple(output_maps),
        tuple(tuple(m) for m in input_maps),
        work=predicted_work(unit.partition),
    )
