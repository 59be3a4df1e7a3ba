"""Vectors of neighbouring elements: the number that a thread takes, and the loop over them.

The loop is built element by element; the pass `vectorize` merges its adjacent accesses to vector loads and stores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indexing._core import constant
from indexing.errors import IndexingError
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr
    from indexing.hlo import Instruction
    from indexing.kernels.function_builder import FunctionBuilder

VECTOR_BYTES = 16
WIDTHS = (1, 2, 4, 8, 16)
MIN_THREADS = 1 << 14  # with fewer threads, vectors are narrower
MAX_LIGHT = 512  # instructions of a body that is built for each lane


def is_cheap(order: Collection[Instruction], heroes: Collection[Instruction] = ()) -> bool:
    """Whether a body, heroes excluded, is cheap enough to be built for each lane."""
    return len(order) <= MAX_LIGHT and not any(traits_of(i).reads_many for i in order if i not in heroes)


def widest_vector(limit: int, size: int, count: int, divides: Iterable[int]) -> int:
    """The number of lanes of a vector: as many elements of `size` bytes as fit into 16 bytes, up to `limit`, dividing all of
    `divides`; fewer if `count` elements would leave few threads.
    """
    width = min(limit, VECTOR_BYTES // size)
    sizes = list(divides)
    while width > 1 and (count // width < MIN_THREADS or any(n % width for n in sizes)):
        width //= 2
    return max(width, 1)


def check_width(width: int, size: int) -> None:
    """Raise IndexingError for a knob `vector_width` that does not divide `size`, or is not in WIDTHS."""
    if width not in WIDTHS or size % width:
        raise IndexingError(f"vector_width is 1, 2, 4, 8 or 16, and divides {size} here; got {width}")


@contextmanager
def lanes(body: FunctionBuilder, width: int, name: str = "vector_index") -> Iterator[SymbolicExpr]:
    """Run the block for each lane of a vector; without a loop if there is only one."""
    if width == 1:
        yield constant(0)
        return
    with body.loop(width, name, lanes=True) as lane, body.base_scope():
        yield lane
