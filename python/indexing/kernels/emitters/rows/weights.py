"""Weights: members that are the same for all rows of a block, such as the scale of a layer norm, or that of a sample.

A block of several rows loads them once, into shared memory, while it waits for its rows. Its threads would read them once for
each row, and only when the reductions are known.
"""

from __future__ import annotations

from math import gcd, prod

from indexing.hlo import Instruction
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.reduction.mapping import Dimensions
from indexing.kernels.emitters.rows.match import RowSpace
from indexing.kernels.emitters.rows.row_cache import row_cache_of
from indexing.kernels.ir.types import storage_bytes
from indexing.walks import reached

MAX_BYTES = 1 << 14  # all weights take at most so much; with more shared memory, fewer blocks run at once
WIDTH = 4  # elements that a thread loads at once


@cached_on_module
def weights_of(space: RowSpace, keeps: bool, across: int) -> tuple[Instruction, ...]:
    """The weights of blocks of `across` rows that are worth sharing: those that the first pass does not need, with what is
    computed of them alone.
    """
    passes = row_cache_of(space, keeps).passes
    weights = {i for i, numbers in passes.items() if 0 not in numbers and _is_weight(space, i, across)}
    return tuple(
        i
        for i in space.computation.post_order()
        if i in weights and any(u in space.places and u not in weights for u in i.users)
    )


def bytes_of_weights(space: RowSpace, keeps: bool, d: Dimensions, across: int) -> int:
    """The bytes of all weights; 0 if they are too many, or rows are not what is contiguous."""
    total = d.reduced * sum(storage_bytes(i.shape.element_type) for i in weights_of(space, keeps, across))
    return total if d.kind == "row" and total <= MAX_BYTES else 0


def width_of(vector_width: int) -> int:
    """The elements of weights that a thread loads at once."""
    return gcd(vector_width, WIDTH)


def _is_weight(space: RowSpace, i: Instruction, across: int) -> bool:
    """Whether a member depends on an element's place in its row, and on memory, but on no reduction, nor on which of the
    `across` rows of a block it is.
    """
    d = space.dimensions
    used = {v for e in space.places[i].results for v in e.used_variables()}
    reads_memory = any(operand.is_parameter for operand in reached([i], lambda reader: reader.operands))
    slow = [n for n, k in enumerate(d.kept) if k in used]
    alike = prod(d.sizes[k] for k in d.kept[slow[-1] + 1 :]) if slow else across  # neighbouring rows
    return alike % across == 0 and not space.levels[i] and reads_memory
