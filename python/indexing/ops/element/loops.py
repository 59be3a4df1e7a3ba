"""Element code of ops that loop over elements with accumulators: reduce, reduce-window, dot, convolution.

Sums of floats below f32 are kept in f32 and rounded once. A long reduction is split into blocks with accumulators of
their own, so that its rounding error grows with the length of a block, not of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indexing._core import SymbolicExpr
from indexing.hlo import Instruction
from indexing.ops.element.moves import zero
from indexing.ops.element_context import ElementContext, Index, Value
from indexing.ops.element_types import ElementType, element_type
from indexing.ops.elementwise.builders import narrow_integer
from indexing.ops.elementwise.conversion import convert_code

BLOCK_SIZE = 256
MAX_UNBLOCKED_SIZE = 1024  # a longer dimension is reduced block by block


def reduce(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """Fold the operands over the reduced dimensions, starting from the initial values."""
    count = len(instruction.operands) // 2
    sizes, reduced = instruction.operands[0].shape.dimensions, instruction.ints("dimensions")
    initial = [ctx.operand(instruction, count + k, ()) for k in range(count)]

    def read(places: Sequence[SymbolicExpr]) -> list[Value]:
        at, kept = dict(zip(reduced, places, strict=True)), iter(index)
        full = tuple(at[d] if d in at else next(kept) for d in range(len(sizes)))
        return [ctx.operand(instruction, k, full) for k in range(count)]

    folded = _fold(ctx, instruction, initial, [sizes[d] for d in reduced], read)
    return _rounded(ctx, instruction, index, folded, output)


def _fold(
    ctx: ElementContext,
    instruction: Instruction,
    initial: Sequence[Value],
    sizes: Sequence[int],
    read: Callable[[Sequence[SymbolicExpr]], list[Value]],
) -> list[Value]:
    """Accumulators after a nest of loops over `sizes`, from the initial values."""
    totals = [ctx.variable(v.element_type, v) for v in initial]
    neutral = _neutral(ctx, instruction)

    def level(done: list[SymbolicExpr], totals: Sequence[Value]) -> None:
        if len(done) == len(sizes):
            _combine(ctx, instruction, totals, read(done))
        elif sizes[len(done)] > MAX_UNBLOCKED_SIZE and neutral:
            in_blocks(sizes[len(done)], done, totals)
        else:
            with ctx.loop(sizes[len(done)]) as place:
                apart([*done, place], totals)

    def apart(done: list[SymbolicExpr], totals: Sequence[Value]) -> None:
        """Build the inner levels, with accumulators of their own if the reducer has a neutral element."""
        if len(done) == len(sizes) or not neutral:
            level(done, totals)
            return
        parts = [ctx.variable(v.element_type, neutral) for v in initial]
        level(done, parts)
        _combine(ctx, instruction, totals, parts)

    def in_blocks(size: int, done: list[SymbolicExpr], totals: Sequence[Value]) -> None:
        with ctx.loop(-(-size // BLOCK_SIZE)) as block:
            assert neutral is not None
            parts = [ctx.variable(v.element_type, neutral) for v in initial]
            with ctx.loop(BLOCK_SIZE) as place:
                at = block * BLOCK_SIZE + place
                if size % BLOCK_SIZE == 0:
                    apart([*done, at], parts)
                else:
                    with ctx.when(ctx.within(at, None, size - 1)):
                        apart([*done, *ctx.inside((at,), (size,))], parts)
            _combine(ctx, instruction, totals, parts)

    level([], totals)
    return totals


def _neutral(ctx: ElementContext, instruction: Instruction) -> Value | None:
    """The neutral element of a sum or product of floats; None if separate accumulators gain nothing."""
    computation = instruction.called[0]
    root, kind = computation.root, instruction.operands[0].shape.element_type
    if len(computation.parameters) != 2 or set(root.operands) != set(computation.parameters):
        return None
    number = {"add": 0.0, "multiply": 1.0}.get(root.opcode)
    if number is None or element_type(kind).kind not in ("float", "complex"):
        return None
    return ctx.number(kind, number)


def _combine(ctx: ElementContext, instruction: Instruction, totals: Sequence[Value], values: Sequence[Value]) -> None:
    with ctx.unrounded():
        results = ctx.apply(instruction.called[0], [*totals, *values])
    if len(results) > 1:  # a result may refer to a total that is about to change
        results = tuple(ctx.let(r.element_type, r, rounds=False) for r in results)
    for total, result in zip(totals, results, strict=True):
        ctx.assign(total, result)


def _rounded(
    ctx: ElementContext, instruction: Instruction, index: Index, totals: Sequence[Value], output: int
) -> Value:
    values = [ctx.let(v.element_type, v) if element_type(v.element_type).is_narrow_float else v for v in totals]
    ctx.remember(instruction, index, values)
    return values[output]


def reduce_window(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """Fold the operands over the window at the index; padding is skipped."""
    count = len(instruction.operands) // 2
    sizes, window = instruction.operands[0].shape.dimensions, instruction.window()
    totals = [
        ctx.variable(instruction.operands[count + k].shape.element_type, ctx.operand(instruction, count + k, ()))
        for k in range(count)
    ]

    def visit(places: Sequence[SymbolicExpr]) -> None:
        position = [
            (i * w.stride + p * w.rhs_dilation - w.pad_low, w.lhs_dilation)
            for i, p, w in zip(index, places, window, strict=True)
        ]
        at, is_element, is_inside = undilated(ctx, position, sizes)
        with ctx.when([*is_inside, *is_element]):
            inner = ctx.inside(at, sizes)
            _combine(ctx, instruction, totals, [ctx.operand(instruction, k, inner) for k in range(count)])

    _nest(ctx, [w.size for w in window], visit)
    return _rounded(ctx, instruction, index, totals, output)


def _nest(ctx: ElementContext, sizes: Sequence[int], then: Callable[[Sequence[SymbolicExpr]], None]) -> None:
    """Build `then` inside a nest of loops over `sizes`; a size of 1 needs no loop."""

    def level(done: list[SymbolicExpr]) -> None:
        if len(done) == len(sizes):
            then(done)
        elif sizes[len(done)] == 1:
            level([*done, ctx.constant(0)])
        else:
            with ctx.loop(sizes[len(done)]) as place:
                level([*done, place])

    level([])


def undilated(
    ctx: ElementContext, position: Sequence[tuple[SymbolicExpr, int]], sizes: Sequence[int]
) -> tuple[Index, list[Value], list[Value]]:
    """The index in an array dilated by `dilation`, the conditions that no hole is there, and that it is no padding."""
    at = []
    is_element: list[Value] = []
    is_inside: list[Value] = []
    for (place, dilation), size in zip(position, sizes, strict=True):
        is_inside += ctx.within(place, 0, (size - 1) * dilation)
        is_element += ctx.within(place % dilation, 0, 0)
        at.append(place // dilation)
    return tuple(at), is_element, is_inside


def dot(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """Sum of products over the contracting dimensions."""
    sides = [
        (instruction.ints(f"{side}_batch_dims"), instruction.ints(f"{side}_contracting_dims"))
        for side in ("lhs", "rhs")
    ]
    shapes = [o.shape.dimensions for o in instruction.operands]
    sizes = [shapes[0][d] for d in sides[0][1]]
    batch_count = len(sides[0][0])
    free_count = len(shapes[0]) - batch_count - len(sides[0][1])
    free = [index[batch_count : batch_count + free_count], index[batch_count + free_count :]]

    def factors_at(places: Sequence[SymbolicExpr]) -> list[Value]:
        factors = []
        for k, (batch, contracting) in enumerate(sides):
            at = dict(zip(batch, index[:batch_count], strict=True)) | dict(zip(contracting, places, strict=True))
            rest = iter(free[k])
            full = tuple(at[d] if d in at else next(rest) for d in range(len(shapes[k])))
            factors.append(ctx.operand(instruction, k, full))
        return factors

    return accumulate(ctx, instruction, sizes, factors_at)


def multiplied(ctx: ElementContext, instruction: Instruction, factors: Sequence[Value]) -> Value:
    """The product in the result's type, unrounded."""
    kind = element_type(instruction.shape.element_type)
    return ctx.op("and" if kind.kind == "pred" else "mul", kind.compute_type, *_converted(ctx, kind, factors))


def _converted(ctx: ElementContext, kind: ElementType, factors: Sequence[Value]) -> list[Value]:
    return [convert_code(ctx, f, kind) if f.element_type != kind.name else f for f in factors]


def accumulate(
    ctx: ElementContext,
    instruction: Instruction,
    sizes: Sequence[int],
    factors_at: Callable[[Sequence[SymbolicExpr]], Sequence[Value]],
) -> Value:
    """Sum of products of two factors over loops of `sizes`, in the result's type (f32 below f32)."""
    kind = element_type(instruction.shape.element_type)
    total = ctx.variable(kind.name, zero(ctx, kind.name))

    def add(places: Sequence[SymbolicExpr]) -> None:
        ctx.assign(total, multiply_add(ctx, instruction, factors_at(places), total))

    _nest(ctx, sizes, add)
    return ctx.let(kind.name, total) if kind.is_narrow_float else total


def multiply_add(ctx: ElementContext, instruction: Instruction, factors: Sequence[Value], total: Value) -> Value:
    """`total` plus the product of the factors in the result's type, unrounded; of floats in one operation."""
    kind = element_type(instruction.shape.element_type)
    if kind.kind != "float":
        return added(ctx, kind, total, multiplied(ctx, instruction, factors))
    return ctx.op("mul_add", kind.compute_type, *_converted(ctx, kind, factors), total)


def added(ctx: ElementContext, kind: ElementType, total: Value, term: Value) -> Value:
    """`total + term` of an element type, unrounded."""
    opcode = "or" if kind.kind == "pred" else "add"
    return narrow_integer(ctx, kind, ctx.op(opcode, kind.compute_type, total, term))


def convolution(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """Sum over the window and the input features of the group, without holes of a dilated input; padding is zeros."""
    labels, window = instruction.dim_labels(), instruction.window()
    lhs, rhs = (o.shape.dimensions for o in instruction.operands)
    out_sizes = instruction.shape.dimensions
    groups = instruction.integer("feature_group_count", 1)
    batch_groups = instruction.integer("batch_group_count", 1)
    feature, batch = index[labels.output.feature], index[labels.output.batch]
    features = out_sizes[labels.output.feature]
    in_features = rhs[labels.kernel.batch]
    kind = element_type(instruction.shape.element_type)
    total = ctx.variable(kind.name, zero(ctx, kind.name))

    def add(places: Sequence[SymbolicExpr]) -> None:
        channel, taps = places[0], places[1:]
        at = [ctx.constant(0)] * len(lhs)
        at[labels.input.batch] = batch + feature // (features // batch_groups) * out_sizes[labels.output.batch]
        at[labels.input.feature] = feature // (features // groups) * in_features + channel
        kernel = [ctx.constant(0)] * len(rhs)
        kernel[labels.kernel.feature], kernel[labels.kernel.batch] = feature, channel
        position = []
        for w, tap, o, k in zip(window, taps, labels.output.spatial, labels.kernel.spatial, strict=True):
            position.append((index[o] * w.stride + tap * w.rhs_dilation - w.pad_low, w.lhs_dilation))
            kernel[k] = w.size - 1 - tap if w.reversed else tap
        met, is_element, is_inside = undilated(ctx, position, [lhs[d] for d in labels.input.spatial])
        for d, place in zip(labels.input.spatial, met, strict=True):
            at[d] = place
        with ctx.when(is_element):
            with ctx.when(is_inside):
                inner = ctx.inside(tuple(at), lhs)
                factors = [ctx.operand(instruction, 0, inner), ctx.operand(instruction, 1, tuple(kernel))]
                ctx.assign(total, multiply_add(ctx, instruction, factors, total))
            if is_inside and kind.kind in ("float", "complex"):  # padding is not skipped: zero times infinity is NaN
                with ctx.otherwise():
                    weight = ctx.operand(instruction, 1, tuple(kernel))
                    padding = zero(ctx, kind.name)
                    ctx.assign(total, added(ctx, kind, total, multiplied(ctx, instruction, [padding, weight])))

    _nest(ctx, [in_features, *(w.size for w in window)], add)
    return ctx.let(kind.name, total) if kind.is_narrow_float else total
