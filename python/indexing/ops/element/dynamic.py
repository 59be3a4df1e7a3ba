"""Element code of ops whose indices are data: dynamic-slice, dynamic-update-slice, gather, scatter.

Start indices are clamped so that the slice lies inside; scatter skips windows that do not lie inside.
"""

from __future__ import annotations

from collections.abc import Callable

from indexing._core import SymbolicExpr
from indexing.hlo import Instruction
from indexing.ops.element.moves import zero
from indexing.ops.element_context import ElementContext, Index, Value


def dynamic_slice(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The operand at start + index."""
    starts = _starts(ctx, instruction, 1, instruction.shape.dimensions)
    at = tuple(s + i for s, i in zip(starts, index, strict=True))
    return ctx.operand(instruction, 0, ctx.inside(at, instruction.operands[0].shape.dimensions))


def dynamic_update_slice(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The update's element if the index lies in its window, else the operand's."""
    update = instruction.operands[1].shape.dimensions
    starts = _starts(ctx, instruction, 2, update)
    at = tuple(i - s for i, s in zip(index, starts, strict=True))
    conditions = [c for e, size in zip(at, update, strict=True) for c in ctx.within(e, 0, size - 1)]
    result = ctx.variable(instruction.shape.element_type, zero(ctx, instruction.shape.element_type))
    with ctx.when(conditions):
        ctx.assign(result, ctx.operand(instruction, 1, ctx.inside(at, update)))
    with ctx.otherwise():
        ctx.assign(result, ctx.operand(instruction, 0, index))
    return result


def _starts(ctx: ElementContext, instruction: Instruction, first: int, slice_sizes: tuple[int, ...]) -> Index:
    """The clamped start indices: scalars from operand `first` on, or, in an older form of HLO, one vector."""
    sizes = instruction.operands[0].shape.dimensions
    scalars = instruction.operands[first:]
    starts = []
    for d, (size, width) in enumerate(zip(sizes, slice_sizes, strict=True)):
        if size == width:
            starts.append(ctx.constant(0))
            continue
        is_vector = len(scalars) == 1 and len(scalars[0].shape.dimensions) == 1
        value = (
            ctx.operand(instruction, first, (ctx.constant(d),))
            if is_vector
            else ctx.operand(instruction, first + d, ())
        )
        starts.append(ctx.bounded(value, 0, size - width))
    return tuple(starts)


def gather(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The operand at the gathered start plus the offset within the slice."""
    sizes, slices = instruction.operands[0].shape.dimensions, instruction.ints("slice_sizes")
    offset_dims = instruction.ints("offset_dims")
    batch = [i for d, i in enumerate(index) if d not in offset_dims]
    collapsed = {*instruction.ints("collapsed_slice_dims"), *instruction.ints("operand_batching_dims")}
    kept = [d for d in range(len(sizes)) if d not in collapsed]
    at = [ctx.constant(0)] * len(sizes)
    for d, where in zip(kept, offset_dims, strict=True):
        at[d] = index[where]
    vector_dim = instruction.integer("index_vector_dim")
    for k, d in enumerate(instruction.ints("start_index_map")):
        if sizes[d] == slices[d]:
            continue
        start = ctx.operand(instruction, 1, _with_component(ctx, instruction, 1, batch, vector_dim, k))
        at[d] = at[d] + ctx.bounded(start, 0, sizes[d] - slices[d])
    pairs = zip(instruction.ints("operand_batching_dims"), instruction.ints("start_indices_batching_dims"), strict=True)
    for d, where in pairs:
        at[d] = batch[where - (1 if where > vector_dim else 0)]
    return ctx.operand(instruction, 0, ctx.inside(tuple(at), sizes))


def _with_component(
    ctx: ElementContext, instruction: Instruction, operand: int, batch: list[SymbolicExpr], vector_dim: int, k: int
) -> Index:
    """The index of component `k` of the start vector at `batch`, which is a scalar without a vector dimension."""
    if vector_dim == len(instruction.operands[operand].shape.dimensions):
        return tuple(batch)
    return (*batch[:vector_dim], ctx.constant(k), *batch[vector_dim:])


def scatter(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The operand's element, combined with every update whose window covers the index, in the order of the indices."""
    count = len(instruction.operands) // 2
    kinds = [o.shape.element_type for o in instruction.operands[:count]]
    results = [ctx.variable(kind, ctx.operand(instruction, k, index)) for k, kind in enumerate(kinds)]
    if all(u.shape.element_count for u in instruction.operands[count + 1 :]):
        _fold_updates(ctx, instruction, count, index, results)
    ctx.remember(instruction, index, results)
    return results[output]


def _fold_updates(
    ctx: ElementContext, instruction: Instruction, count: int, index: Index, results: list[Value]
) -> None:
    indices, updates = instruction.operands[count].shape.dimensions, instruction.operands[count + 1].shape.dimensions
    vector_dim = instruction.integer("index_vector_dim")
    places = [size for d, size in enumerate(indices) if d != vector_dim]
    _over_places(ctx, places, [], lambda batch: _fold_one(ctx, instruction, count, index, results, batch, updates))


def _over_places(
    ctx: ElementContext, sizes: list[int], batch: list[SymbolicExpr], then: Callable[[list[SymbolicExpr]], None]
) -> None:
    """Call `then` once, inside loops over every index of the updates' batch dimensions."""
    if len(batch) == len(sizes):
        then(batch)
        return
    with ctx.loop(sizes[len(batch)]) as place:
        _over_places(ctx, sizes, [*batch, place], then)


def _fold_one(
    ctx: ElementContext,
    instruction: Instruction,
    count: int,
    index: Index,
    results: list[Value],
    batch: list[SymbolicExpr],
    updates: tuple[int, ...],
) -> None:
    """Fold the update window at one place of the batch into the results, where it covers the index."""
    sizes = instruction.operands[0].shape.dimensions
    window_dims = instruction.ints("update_window_dims")
    batching = instruction.ints("input_batching_dims")
    dropped = {*instruction.ints("inserted_window_dims"), *batching}
    window = dict(zip([d for d in range(len(sizes)) if d not in dropped], window_dims, strict=True))
    vector_dim = instruction.integer("index_vector_dim")
    widths = [updates[window[d]] if d in window else 1 for d in range(len(sizes))]
    offsets = list(index)
    conditions: list[Value] = []
    for k, d in enumerate(instruction.ints("scatter_dims_to_operand_dims")):
        value = ctx.operand(instruction, count, _with_component(ctx, instruction, count, batch, vector_dim, k))
        start, inside = ctx.checked(value, 0, sizes[d] - widths[d])
        conditions.append(inside)
        offsets[d] = index[d] - start
    for d, where in zip(batching, instruction.ints("scatter_indices_batching_dims"), strict=True):
        offsets[d] = index[d] - batch[where - (1 if where > vector_dim else 0)]
    for d, width in enumerate(widths):
        conditions += ctx.within(offsets[d], 0, width - 1)
    with ctx.when(conditions):
        places, windowed = iter(batch), {where: offsets[d] for d, where in window.items()}
        at = tuple(windowed[d] if d in windowed else next(places) for d in range(len(updates)))
        inner = ctx.inside(at, updates)
        values = [ctx.operand(instruction, count + 1 + k, inner) for k in range(count)]
        folded = ctx.apply(instruction.called[0], [*results, *values])
        if count > 1:  # all results are computed before any is overwritten
            folded = tuple(ctx.let(v.element_type, v, rounds=False) for v in folded)
        for result, value in zip(results, folded, strict=True):
            ctx.assign(result, value)
