"""Stable orders of rows, by integer keys or by a comparator.

A comparator nearly always sorts its operands' values, ascending or descending, so these orders are tried first: an order in
which no element is less than its predecessor, and equal ones are in their original order, is the stable order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexing.hlo import Computation
from indexing.lazy import np
from indexing.ops.contraction import accumulator, is_complex, is_float
from indexing.ops.dependence import parameters_used
from indexing.ops.op import Interpreter
from indexing.ops.reducer import apply
from indexing.ops.values import Array

MIN_PRUNED = 4096  # elements of rows of which few are sorted
GROUPS_OF_COUNT = 8  # groups of a row for each position that is asked for
MAX_LENGTH = 2**31  # positions in rows of this length fit into one int64 beside a key of 32 bits


def sorted_values(less: Computation, rows: Array, interpreter: Interpreter) -> Array | None:
    """The rows of one operand in the order of their values, rising or falling, if the comparator agrees, and gives elements of
    different bits an order, so that those without one may change places; None otherwise.
    """
    if rows.dtype.kind not in "iufb" or (rows.dtype.kind == "f" and _has_equal_floats_of_other_bits(rows)):
        return None
    rising = np.sort(rows, axis=-1)
    for values in (rising, rising[:, ::-1]):
        before, behind = values[:, :-1], values[:, 1:]
        (falls,) = apply(less, [behind, before], interpreter)
        if np.any(falls):
            continue
        (rises,) = apply(less, [before, behind], interpreter)
        bits = np.dtype(f"u{rows.dtype.itemsize}")
        if np.all(rises | (before.view(bits) == behind.view(bits))):
            return values
    return None


def _has_equal_floats_of_other_bits(numbers: Array) -> bool:
    """Whether there are NaNs or negative zeros, to which numpy's sort may give the bits of others that it takes for equal."""
    return bool(np.any(np.isnan(numbers) | ((numbers == 0) & np.signbit(numbers))))


def order_of_rows(less: Computation, rows: Sequence[Array], interpreter: Interpreter) -> Array:
    """For each row, the stable order of its elements: [row, position] -> element."""
    for order in _likely_orders(less, rows):
        if _is_order(less, rows, order, interpreter):
            return order
    return _merged_order(less, rows, interpreter)


def _likely_orders(less: Computation, rows: Sequence[Array]) -> Iterator[Array]:
    """The orders by the values that the comparator reads: first with -0 as 0 and all NaN equal, then by total order."""
    (used,) = parameters_used(less)
    read = [r for k, r in enumerate(rows) if {2 * k, 2 * k + 1} & used]
    if not read or any(is_complex(r.dtype) for r in read):
        return
    for values in ([_alike(r) for r in read], read):
        for falls in (False, True):
            yield stable_order([ordered_keys(v) for v in values], falls)


def _alike(values: Array) -> Array:
    if not is_float(values.dtype):
        return values
    with np.errstate(invalid="ignore"):
        return np.where(values != values, values.dtype.type(np.nan), values + values.dtype.type(0))


def _is_order(less: Computation, rows: Sequence[Array], order: Array, interpreter: Interpreter) -> bool:
    """Whether `order` is the stable order by the comparator; comparing neighbours decides that."""
    ordered = [np.take_along_axis(r, order, axis=-1) for r in rows]
    before, behind = [r[:, :-1] for r in ordered], [r[:, 1:] for r in ordered]
    (falls,) = apply(less, [x for pair in zip(behind, before, strict=True) for x in pair], interpreter)
    if np.any(falls):
        return False
    (rises,) = apply(less, [x for pair in zip(before, behind, strict=True) for x in pair], interpreter)
    return bool(np.all(rises | (order[:, :-1] < order[:, 1:])))


def ordered_keys(values: Array) -> Array:
    """Integers in the total order of the values, of 32 bits if the values are no wider."""
    if not is_float(values.dtype):
        narrow = values.dtype.itemsize < 4 or values.dtype == np.int32
        return values if values.dtype == np.uint64 else values.astype(np.int32 if narrow else np.int64)
    wide = values if values.dtype == np.float32 else values.astype(accumulator(values.dtype))
    kind = np.int32 if wide.dtype == np.float32 else np.int64
    bits: Array = wide.view(kind)
    keys: Array = np.right_shift(bits, 8 * bits.itemsize - 1)  # -1 for negative numbers, whose other bits are inverted
    keys &= np.iinfo(kind).max
    keys ^= bits
    return keys


def stable_order(keys: Sequence[Array], falls: bool = False, count: int | None = None) -> Array:
    """The stable order of rows of integers, by the first of `keys`, then the next; its first `count` positions, or all."""
    turned = [np.invert(k) for k in keys] if falls else list(keys)  # inverting bits reverses the order without overflow
    if len(turned) > 1:
        return np.lexsort(turned[::-1], axis=-1)[..., :count]
    (key,) = turned
    length = key.shape[-1]
    if count is not None and length >= MIN_PRUNED and 0 < count <= length // GROUPS_OF_COUNT:
        return np.array([_first_of(row, count) for row in key], np.int64).reshape(-1, count)
    if key.dtype != np.int32 or length >= MAX_LENGTH:
        return np.argsort(key, axis=-1, kind="stable")[..., :count]
    both = key.astype(np.int64)
    both <<= 32  # in place: new memory of this size costs more than what is computed
    both |= np.arange(length)
    if count is not None and count < length:
        both.partition(count, axis=-1)
        both = both[..., :count].copy()
    both.sort(axis=-1)
    both &= 0xFFFFFFFF
    return both


def _first_of(key: Array, count: int) -> Array:
    """The first `count` positions of a row's stable order, which are among the elements that are no greater than `count` of the
    least elements of groups.
    """
    groups = count * GROUPS_OF_COUNT
    least = key[: len(key) // groups * groups].reshape(-1, groups).min(axis=0)
    limit = np.partition(least, count - 1)[count - 1]
    left = np.flatnonzero(key <= limit)
    order: Array = left[np.argsort(key[left], kind="stable")[:count]]
    return order


def _merged_order(less: Computation, rows: Sequence[Array], interpreter: Interpreter) -> Array:
    """The order by a merge sort of all rows at once: runs of 1, 2, 4, ... are merged."""
    count, length = rows[0].shape
    order = np.broadcast_to(np.arange(length), (count, length)).copy()
    width = 1
    while width < length:
        order = _merge_runs(less, rows, order, width, interpreter)
        width *= 2
    return order


def _merge_runs(less: Computation, rows: Sequence[Array], order: Array, width: int, interpreter: Interpreter) -> Array:
    """Merge pairs of sorted runs: an element's position is the sum of its rank in its run and, by bisection, in the other."""
    count, length = order.shape
    at = np.arange(length)
    run = at // width
    other = np.minimum((run ^ 1) * width, length)
    own_is_left = run % 2 == 0
    low = np.zeros((count, length), np.int64)
    high = np.broadcast_to(np.minimum(other + width, length) - other, (count, length)).copy()
    row = np.arange(count)[:, None]
    own = [r[row, order] for r in rows]
    sorted_rows = own
    while (low < high).any():
        middle = (low + high) // 2
        probe = np.minimum(other + middle, length - 1)
        theirs = [r[row, probe] for r in sorted_rows]
        # Stable: elements of the left run come before equal ones of the right run.
        first = [np.where(own_is_left, t, o) for t, o in zip(theirs, own, strict=True)]
        second = [np.where(own_is_left, o, t) for t, o in zip(theirs, own, strict=True)]
        (is_less,) = apply(less, [x for pair in zip(first, second, strict=True) for x in pair], interpreter)
        before = np.where(own_is_left, is_less, ~is_less.astype(np.bool_))
        open_ = low < high
        low = np.where(open_ & before, middle + 1, low)
        high = np.where(open_ & ~before, middle, high)
    target = (run // 2) * 2 * width + at % width + low
    merged = np.empty_like(order)
    merged[row, target] = order
    return merged
