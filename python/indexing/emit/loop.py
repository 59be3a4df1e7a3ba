"""The loop emitter: each thread computes some elements of each output, in the order in which memory holds them.

It takes every fusion. A thread computes `vector_width` neighbouring elements; inputs that are read at neighbouring,
aligned places are loaded as one vector, and outputs stored as one. Where the grid would exceed `max_blocks`, blocks go
on with further chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, constant, variable
from indexing.emit.dialect import launch_bounds
from indexing.emit.elemental import FunctionWriter
from indexing.emit.index import INT32_MAX
from indexing.emit.kernel import MAX_GRID, MAX_THREADS_PER_BLOCK, Argument, Dialect, Kernel
from indexing.emit.source import identifier, sanitized
from indexing.emit.types import c_type, encoded
from indexing.emit.unit import Unit
from indexing.errors import IndexingError
from indexing.layout import major_to_minor, physical_sizes
from indexing.ops.block import leaves
from indexing.partition import partition

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape

NAME = "loop"
VECTOR_BYTES = 16
MIN_THREADS = 1 << 14  # below so many threads, more of them are better than wider ones
LARGE = 512  # instructions; a larger body is not unrolled
MANY_READS = frozenset({"convolution", "dot", "reduce", "reduce-window", "scatter", "select-and-scatter"})


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """Launch dimensions and knobs. `groups` vectors of `vector_width` elements; each block does `chunks` of them."""

    count: int
    vector_width: int
    block_size: int
    blocks: int
    chunks: int

    @property
    def groups(self) -> int:
        """How many vectors of elements there are, the last one perhaps partial."""
        return -(-self.count // self.vector_width)


def matches(computation: Computation) -> bool:
    """Every fusion can be a loop."""
    return True


def plan(
    computation: Computation, *, block_size: int = 128, vector_width: int | None = None, max_blocks: int = MAX_GRID[0]
) -> LoopPlan:
    """Launch dimensions for a computation.

    Knobs: `block_size` 1 to 1024 threads; `vector_width` 1, 2, 4, 8 or 16 elements a thread (by default as many as 16
    bytes hold while enough threads remain); `max_blocks` from 1: more work than that many blocks take is done in chunks.
    """
    _check("block_size", block_size, 1, MAX_THREADS_PER_BLOCK)
    _check("max_blocks", max_blocks, 1, MAX_GRID[0])
    shapes = leaves(computation.root.shape)
    count = max(prod(s.dimensions) for s in shapes)
    if vector_width is None:
        vector_width = _vector_width(computation, shapes, count)
    elif vector_width not in (1, 2, 4, 8, 16):
        raise IndexingError(f"vector_width is 1, 2, 4, 8 or 16; got {vector_width}")
    if any(prod(s.dimensions) % vector_width for s in shapes):
        vector_width = 1
    groups = max(-(-count // vector_width), 1)
    blocks = -(-groups // block_size)
    chunks = -(-blocks // max_blocks)
    return LoopPlan(count, vector_width, block_size, -(-blocks // chunks), chunks)


def _check(knob: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise IndexingError(f"{knob} lies in [{low}, {high}]; got {value}")


def _vector_width(computation: Computation, shapes: Sequence[Shape], count: int) -> int:
    """As many elements as 16 bytes hold of the widest output, halved while threads are few; 1 for heavy bodies."""
    order = computation.post_order()
    if len(order) > LARGE or any(i.opcode in MANY_READS for i in order):
        return 1
    width = min(8, VECTOR_BYTES // max(c_type(s.element_type).size for s in shapes))
    while width > 1 and (count // width < MIN_THREADS or any(prod(s.dimensions) % width for s in shapes)):
        width //= 2
    return max(width, 1)


def kernel(computation: Computation, plan: LoopPlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    unit = Unit(dialect, computation, partition(computation))
    shapes = leaves(computation.root.shape)
    body = FunctionWriter(unit)
    vectors = _write_body(body, plan, computation, shapes)
    inputs = unit.used_parameters(body)
    name = f"{NAME}_{identifier(_hero(computation).opcode)}"
    block = (plan.block_size, 1, 1)
    parameters = [unit.pointer_parameter(n, "@restrict ") for n in inputs]
    parameters += [f"@global {c_type(s.element_type).storage} *@restrict o{k}" for k, s in enumerate(shapes)]
    head = f"@kernel {launch_bounds(dialect, block)} {name}({', '.join(parameters)})"
    if dialect == "opencl":
        head = f"{launch_bounds(dialect, block)} @kernel {name}({', '.join(parameters)})"
    comment = f"{sanitized(computation.name)}: {NAME} emitter, {plan.blocks} blocks of {plan.block_size} threads"
    source = unit.assemble(comment, head, body, vectors)
    return Kernel(
        name=name,
        source=source,
        dialect=dialect,
        emitter=NAME,
        grid=(plan.blocks, 1, 1),
        block=block,
        shared_bytes=0,
        arguments=arguments(computation, inputs),
        output_maps=tuple(_thread_map(plan, s) for s in shapes),
        input_maps=(),
    )


def arguments(computation: Computation, inputs: Sequence[int]) -> tuple[Argument, ...]:
    """The arguments of a kernel that reads the parameters `inputs` and writes all outputs."""
    read = [computation.parameters[n].shape for n in inputs]
    found = [Argument("input", n, s.element_type, s.dimensions, s.layout) for n, s in zip(inputs, read, strict=True)]
    for k, s in enumerate(leaves(computation.root.shape)):
        found.append(Argument("output", k, s.element_type, s.dimensions, s.layout))
    return tuple(found)


def _hero(computation: Computation) -> Instruction:
    root = computation.root
    while root.opcode == "tuple" and root.operands:
        root = root.operands[0]
    return root


def _thread_map(plan: LoopPlan, shape: Shape) -> IndexingMap:
    """From (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk, vector_index] to the index of the element."""
    th_x, bl_x, chunk, lane = variable(0), variable(3), variable(6), variable(7)
    position = ((chunk * plan.blocks + bl_x) * plan.block_size + th_x) * plan.vector_width + lane
    zero = Interval(0, 0)
    dims = [("th_x", Interval(0, plan.block_size - 1)), ("th_y", zero), ("th_z", zero)]
    dims += [("bl_x", Interval(0, plan.blocks - 1)), ("bl_y", zero), ("bl_z", zero)]
    ranges = [("chunk", Interval(0, plan.chunks - 1)), ("vector_index", Interval(0, plan.vector_width - 1))]
    results = delinearized(position, shape)
    count = prod(shape.dimensions)
    bounds = [(position, Interval(0, count - 1))]
    return IndexingMap(SymbolicMap(6, 2, results), dims, ranges, [], bounds).simplify()


def delinearized(position: SymbolicExpr, shape: Shape) -> list[SymbolicExpr]:
    """The logical index of the element at `position` in the memory of an array."""
    order, sizes = major_to_minor(shape), physical_sizes(shape)
    index: list[SymbolicExpr] = [constant(0)] * len(order)
    stride = prod(sizes)
    for k, (d, size) in enumerate(zip(order, sizes, strict=True)):
        stride //= max(size, 1)
        quotient = position // max(stride, 1)
        index[d] = quotient if k == 0 else quotient % max(size, 1)
    return index


def _write_body(body: FunctionWriter, plan: LoopPlan, computation: Computation, shapes: Sequence[Shape]) -> list[str]:
    """Write the kernel's body; the result are the declarations of vector types that it uses."""
    w = body.writer
    launched = plan.chunks * plan.blocks * plan.block_size
    kind = "s64" if (launched + 1) * plan.vector_width > INT32_MAX else "s32"
    cast = "(s64)" if kind == "s64" else ""
    first = f"{cast}@block_x * {plan.block_size} + @thread_x"
    group = body.scope.add("i", 0, plan.groups - 1)
    if plan.chunks > 1:
        w.line(f"for ({kind} i = {first}; i < {plan.groups}; i += {plan.blocks * plan.block_size}) {{")
        w.depth += 1
    else:
        w.line(f"const {kind} i = {first};")
        if launched > plan.groups:
            w.line(f"if (i >= {plan.groups}) return;")
    vectors = (
        _write_elements(body, plan, computation, shapes, group)
        if plan.vector_width == 1
        else _write_vectors(body, plan, computation, shapes, group)
    )
    if plan.chunks > 1:
        w.depth -= 1
        w.line("}")
    return vectors


def _write_elements(
    body: FunctionWriter, plan: LoopPlan, computation: Computation, shapes: Sequence[Shape], position: SymbolicExpr
) -> list[str]:
    for k, shape in enumerate(shapes):
        count = prod(shape.dimensions)
        if count == 0:
            continue
        if count < plan.count:
            with body.when([f"{body.integer(position)} < {count}"]):
                (inner,) = body.inside((position,), (count,))
                _store(body, computation, k, shape, inner)
        else:
            _store(body, computation, k, shape, position)
    return []


def _store(body: FunctionWriter, computation: Computation, k: int, shape: Shape, position: SymbolicExpr) -> None:
    index = tuple(body.scope.simplify(e) for e in delinearized(position, shape))
    value = body.value(computation.root, index, k)
    body.writer.line(f"o{k}[{body.integer(position)}] = {encoded(shape.element_type, value.text)};")


def _write_vectors(
    body: FunctionWriter, plan: LoopPlan, computation: Computation, shapes: Sequence[Shape], group: SymbolicExpr
) -> list[str]:
    """`vector_width` elements a thread: vectors of inputs first, then an unrolled loop, then vectors of outputs."""
    width, w = plan.vector_width, body.writer
    loads = _VectorLoads(width, at=len(w.lines), depth=w.depth, group=group)
    for k, shape in enumerate(shapes):
        w.line(f"{loads.vector(c_type(shape.element_type).storage)} y{k};")
    w.line("#pragma unroll")
    with body.loop(width) as lane:
        loads.lane = lane
        body.base_scopes += 1
        body.load_hook = loads.load
        for k, shape in enumerate(shapes):
            count = prod(shape.dimensions)
            position = body.scope.simplify(group * width + lane)
            if count < plan.count:
                with body.when([f"{body.integer(position)} < {count}"]):
                    (inner,) = body.inside((position,), (count,))
                    _store_lane(body, computation, k, shape, inner, lane)
            else:
                _store_lane(body, computation, k, shape, position, lane)
    body.load_hook = None
    body.base_scopes -= 1
    for k, shape in enumerate(shapes):
        vector = loads.vector(c_type(shape.element_type).storage)
        guard = f"if ({body.integer(group)} < {prod(shape.dimensions) // width}) "
        store = f"((@global {vector} *)o{k})[{body.integer(group)}] = y{k};"
        w.line(store if prod(shape.dimensions) == plan.count else guard + store)
    return list(loads.types.values())


def _store_lane(
    body: FunctionWriter, computation: Computation, k: int, shape: Shape, position: SymbolicExpr, lane: SymbolicExpr
) -> None:
    index = tuple(body.scope.simplify(e) for e in delinearized(position, shape))
    value = body.value(computation.root, index, k)
    body.writer.line(f"y{k}.v[{body.integer(lane)}] = {encoded(shape.element_type, value.text)};")


class _VectorLoads:
    """Turns loads at neighbouring, aligned places into one load of a vector in front of the loop over lanes."""

    def __init__(self, width: int, at: int, depth: int, group: SymbolicExpr) -> None:
        self.width, self.at, self.depth, self.group = width, at, depth, group
        self.lane = group
        self.types: dict[str, str] = {}
        self._loaded: dict[tuple[int, SymbolicExpr], str] = {}

    def vector(self, storage: str) -> str:
        """The C type of a vector of `storage` elements, at most 16 bytes aligned."""
        name = f"{storage}x{self.width}"
        size = int(storage[1:]) // 8
        alignment = min(size * self.width, VECTOR_BYTES)
        self.types[name] = f"typedef struct @aligned{alignment} {{ {storage} v[{self.width}]; }} {name};"
        return name

    def load(self, body: FunctionWriter, parameter: Instruction, offset: SymbolicExpr) -> str | None:
        """C text of the element at `offset`, taken from a vector; None where it is no lane of an aligned one."""
        scope = body.scope
        start = scope.simplify(offset - self.lane)
        if not set(start.used_variables()) <= set(self.group.used_variables()):
            return None
        block = scope.simplify(start // self.width)
        if scope.simplify(block * self.width - start) != constant(0):
            return None
        storage = c_type(parameter.shape.element_type).storage
        if int(storage[1:]) // 8 * self.width > 4 * VECTOR_BYTES:
            return None
        number = parameter.parameter_number
        name = self._loaded.get((number, block))
        if name is None:
            name = self._loaded[number, block] = f"x{len(self._loaded)}"
            vector = self.vector(storage)
            text = (
                f"const {vector} {name} = ((@global const {vector} *){body.unit.pointer(number)})[{scope.text(block)}];"
            )
            body.writer.insert(self.at, text, self.depth)
            self.at += 1
        return f"{name}.v[{body.integer(self.lane)}]"
