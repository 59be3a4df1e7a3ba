"""Expansion of prefix reductions (cumulative sums): reduce-windows whose windows hold all elements up to each.

Computed as stated, n elements take n^2 / 2 reads. Here the dimension is split into blocks: the prefix of an element combines
the prefix of the blocks before its own, again a prefix reduction, with the prefix within its block.
"""

from __future__ import annotations

from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.hlo.layout import is_row_major
from indexing.hlo.window import WindowDim
from indexing.ops.element_types import element_type
from indexing.ops.expansion import Expansion, Reducer
from indexing.ops.reducer_ops import neutral_element, reducer_opcode

BLOCK_SIZE = 16
MIN_SIZE = 64  # shorter dimensions are computed as stated


def prefix_in_parts(instruction: Instruction) -> Computation | None:
    """A computation equal to a reduce-window that is a prefix reduction, from either end of one dimension; None for other
    windows.
    """
    if instruction.shape.is_tuple or not _may_regroup(instruction):
        return None
    sizes = instruction.shape.dimensions
    long = [(d, w) for d, w in enumerate(instruction.window()) if w != WindowDim(1)]
    if len(long) != 1 or sizes != instruction.operands[0].shape.dimensions or not is_row_major(instruction.shape):
        return None
    ((d, window),) = long
    if sizes[d] < MIN_SIZE or window not in (_forward(sizes[d]), _backward(sizes[d])):
        return None
    return _in_blocks(instruction, d, window == _forward(sizes[d]))


def _may_regroup(instruction: Instruction) -> bool:
    """Whether the initial value is neutral, so that it may be combined repeatedly, and the reducer can be computed in f32 where
    elements are narrower: what is rounded, or kept between kernels, is then a whole prefix.

    Reducers of several ops are taken at HLO's word: they are associative, and the initial value, with which windows are padded,
    may be used any number of times.
    """
    neutral, initial = neutral_element(instruction), instruction.operands[-1]
    if not initial.is_constant:
        return False
    if neutral is None:
        is_narrow = element_type(instruction.shape.element_type).is_narrow_float
        return not is_narrow and reducer_opcode(instruction.computation_of("to_apply")) is None
    return bool(initial.literal == neutral)


def _reducer(instruction: Instruction) -> Reducer:
    computation = instruction.computation_of("to_apply")
    return reducer_opcode(computation) or computation


def _forward(size: int) -> WindowDim:
    """The window from the first element up to each."""
    return WindowDim(size, pad_low=size - 1)


def _backward(size: int) -> WindowDim:
    """The window from each element to the last."""
    return WindowDim(size, pad_high=size - 1)


def _in_blocks(instruction: Instruction, d: int, is_forward: bool) -> Computation:
    """The prefix reduction along dimension `d`, block by block; of narrow floats in f32."""
    parts = Expansion(instruction)
    own = instruction.shape.element_type
    wide = "f32" if element_type(own).is_narrow_float else own
    x, reducer = parts.convert(parts.operand(0), wide), _reducer(instruction)
    initial = instruction.operands[-1].literal
    assert initial is not None and not isinstance(initial, tuple)
    # Not the parameter: the prefix reduction of blocks is split in turn, for which its initial value must be known.
    zero = parts.constant(wide, initial.item())
    up_to_each = _forward if is_forward else _backward
    rank, blocks = len(x.dimensions), -(-x.dimensions[d] // BLOCK_SIZE)
    before, after = x.dimensions[:d], x.dimensions[d + 1 :]

    def prefixes(value: BuiltInstruction, along: int) -> BuiltInstruction:
        window = [up_to_each(n) if k == along else WindowDim(1) for k, n in enumerate(value.dimensions)]
        return parts.reduce_window(reducer, value, window, zero)

    def padded(value: BuiltInstruction, low: int, high: int) -> BuiltInstruction:
        return parts.pad(value, zero, [(low, high) if k == d else (0, 0) for k in range(rank)])

    # Initial values fill the far end, where no window that counts has several: one may not be neutral for another.
    missing = blocks * BLOCK_SIZE - x.dimensions[d]
    whole = x if missing == 0 else padded(x, 0, missing) if is_forward else padded(x, missing, 0)
    split = parts.reshape(whole, (*before, blocks, BLOCK_SIZE, *after))
    through = prefixes(parts.reduce(reducer, split, [d + 1], zero), d)
    beyond = padded(through, 1, -1) if is_forward else padded(through, -1, 1)
    spread = parts.broadcast(beyond, split.dimensions, [k for k in range(rank + 1) if k != d + 1])
    both = parts.combine(reducer, spread, prefixes(split, d + 1))
    joined, kept = parts.reshape(both, whole.dimensions), parts.first if is_forward else parts.last
    return parts.finish([parts.convert(kept(joined, x.dimensions), own)])
