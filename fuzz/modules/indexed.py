"""Generators of gather and scatter, over all of their dimension numbers, batching dimensions included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modules.program import EXACT, Array, Builder, Computation, Tolerance, Value, braces, random_sizes
from modules.reducers import of_one_precision, operations, reducer
from modules.values import ANY, INDICES, USUAL, Data


@dataclass(frozen=True)
class Numbers:
    """Dimension numbers that gather and scatter share.

    `collapsed` dimensions of the operand have windows of 1 and no dimension in the result, `batching` ones go with
    batch dimensions of the indices; `starts` says which dimension each element of an index vector starts the window in.
    """

    windows: tuple[int, ...]
    collapsed: tuple[int, ...]
    batching: tuple[int, ...]
    starts: tuple[int, ...]
    index_sizes: tuple[int, ...]
    index_batching: tuple[int, ...]  # dimensions of the indices that go with `batching`
    vector: int
    offsets: tuple[int, ...]  # where the window's dimensions stand in the result
    result: tuple[int, ...]


def random_numbers(b: Builder, sizes: tuple[int, ...]) -> Numbers:
    rank = len(sizes)
    roles = [b.rng.choice("wwwcb" if n else "w") for n in sizes]
    batching = [d for d in range(rank) if roles[d] == "b"]
    collapsed = [d for d in range(rank) if roles[d] == "c"]
    windows = tuple(
        1 if roles[d] in "cb" else b.rng.randint(0 if b.chance(0.03) else min(1, n), n) for d, n in enumerate(sizes)
    )
    able = [d for d in range(rank) if d not in batching]
    starts = b.rng.sample(able, b.rng.randint(0 if b.chance(0.05) else min(1, len(able)), len(able)))
    batch, index_batching = _batch_dimensions(b, [sizes[d] for d in batching])
    index_sizes, vector = _with_vector(b, batch, len(starts))
    moved = [d + (vector <= d and vector < len(index_sizes)) for d in index_batching]
    kept = [windows[d] for d in range(rank) if roles[d] == "w"]
    offsets = sorted(b.rng.sample(range(len(batch) + len(kept)), len(kept)))
    result, rest, window = [], iter(batch), iter(kept)
    for d in range(len(batch) + len(kept)):
        result.append(next(window) if d in offsets else next(rest))
    return Numbers(
        *(windows, tuple(collapsed), tuple(batching), tuple(starts), index_sizes, tuple(moved)),
        *(vector, tuple(offsets), tuple(result)),
    )


def _batch_dimensions(b: Builder, batching: Sequence[int]) -> tuple[list[int], list[int]]:
    """Sizes of the indices' batch dimensions, and which of them go with the operand's batching dimensions."""
    count = len(batching) + b.rng.choice((0, 1, 1, 2))
    places = b.rng.sample(range(count), len(batching))
    sizes = [0 if b.chance(0.03) else b.rng.randint(1, 4) for _ in range(count)]
    for place, size in zip(places, batching, strict=True):
        sizes[place] = size
    return sizes, places


def _with_vector(b: Builder, batch: Sequence[int], length: int) -> tuple[tuple[int, ...], int]:
    """The indices' sizes and their index vector dimension, which may stand behind the last where vectors have one."""
    if length == 1 and b.chance(0.4):
        return tuple(batch), len(batch)
    vector = b.rng.randint(0, len(batch))
    return (*batch[:vector], length, *batch[vector:]), vector


def _indices(b: Builder, numbers: Numbers, sizes: tuple[int, ...]) -> Value:
    kind = b.pick(*INDICES)
    most = max((sizes[d] for d in numbers.starts), default=1)
    data = ANY if b.chance(0.1) else Data("range", 0 if kind[0] == "u" else -2, most + 1)
    return b.array([kind], numbers.index_sizes, data)


def gather(b: Builder) -> Value:
    x = b.array(USUAL, moved=True)
    n = random_numbers(b, x.sizes)
    attributes = (
        f"offset_dims={braces(n.offsets)}, collapsed_slice_dims={braces(n.collapsed)}, "
        f"start_index_map={braces(n.starts)}, "
    )
    if n.batching:
        attributes += (
            f"operand_batching_dims={braces(n.batching)}, start_indices_batching_dims={braces(n.index_batching)}, "
        )
    attributes += f"index_vector_dim={n.vector}, slice_sizes={braces(n.windows)}"
    indices = _indices(b, n, x.sizes)
    return b.emit("gather", Array(x.kind, n.result), [x, indices], attributes, tolerance=x.tolerance)


def _scatter_attributes(n: Numbers, to_apply: Computation, unique: bool) -> str:
    batching = ""
    if n.batching:
        batching = (
            f"input_batching_dims={braces(n.batching)}, scatter_indices_batching_dims={braces(n.index_batching)}, "
        )
    return (
        f"update_window_dims={braces(n.offsets)}, inserted_window_dims={braces(n.collapsed)}, "
        f"scatter_dims_to_operand_dims={braces(n.starts)}, {batching}index_vector_dim={n.vector}, "
        + ("unique_indices=true, " if unique else "")
        + f"to_apply={to_apply.name}"
    )


def scatter(b: Builder) -> object:
    """One array or two at the same indices; sums, extremes, bits, or the update itself."""
    sizes = random_sizes(b.rng)
    n = random_numbers(b, sizes)
    count = 2 if b.chance(0.2) else 1
    kinds = of_one_precision(b, b.rng.choices([k for k in USUAL if operations(k)], k=count))
    assigns = count == 1 and b.chance(0.3)
    function = reducer(b, kinds, assigns=assigns)
    targets = [b.parameter(Array(k, sizes), function.data) for k in kinds]
    updates = [b.parameter(Array(k, n.result), function.data) for k in kinds]
    operands = [*targets, _indices(b, n, sizes), *updates]
    attributes = _scatter_attributes(n, function.computation, False)
    shape = targets[0].shape if count == 1 else tuple(t.shape for t in targets)
    results = b.emit("scatter", shape, operands, attributes, called=[function.computation], tolerance=EXACT)
    return results if count == 1 else b.split(results, [Tolerance()] * count)


GENERATORS = {"gather": (gather,), "scatter": (scatter,)}
