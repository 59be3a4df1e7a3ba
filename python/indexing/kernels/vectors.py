"""Vectors of neighbouring elements: the number that a thread takes, and the loop over them.

The loop is built element by element; the pass `vectorize` merges its adjacent accesses to vector loads and stores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from indexing._core import SymbolicExpr, constant
from indexing.errors import IndexingError
from indexing.hlo import Instruction
from indexing.hlo.layout import major_to_minor
from indexing.indexing_analysis.access import Access
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.types import storage_bytes
from indexing.partitioner import PartitionedComputation, Subgraph
from indexing.work import element_work

VECTOR_BYTES = 16
WIDTHS = (1, 2, 4, 8, 16)
LANES = 8  # the bytes that a thread reads are compared for so many
MIN_THREADS = 1 << 14  # with fewer threads, vectors are narrower
MAX_LIGHT = 512  # instructions of a body that is built for each lane
MAX_LOOP = 16  # a loop of at most so many iterations in such a body is written out


def is_cheap(order: Collection[Instruction], heroes: Collection[Instruction] = ()) -> bool:
    """Whether a body, heroes excluded, is cheap enough to be built for each lane."""
    return len(order) <= MAX_LIGHT and all(element_work(i) <= MAX_LOOP for i in order if i not in heroes)


def is_light(parts: PartitionedComputation, count: int) -> bool:
    """Whether a kernel of `count` elements is cheap enough to be built for each lane, with all calls of its functions."""
    work = sum(n for i, n in parts.evaluations.items() if not i.is_parameter)
    return is_cheap(parts.computation.post_order()) and work <= MAX_LIGHT * count


def bytes_beside(parts: PartitionedComputation, parameter: Instruction) -> int:
    """The bytes of a parameter, per lane, from the element that the first of LANES lanes reads to that of the last; 0 if all
    read the same.
    """
    shape = parameter.shape
    if shape.is_tuple or not shape.dimensions:
        return 0
    fast = major_to_minor(shape)[-1]
    most = max((_distance(s, a, fast) for s, a in parts.reads(parameter)), default=0)
    return storage_bytes(shape.element_type) * most // LANES


def _distance(reader: Subgraph, access: Access, fast: int) -> int:
    """The elements along an array's dimension `fast` from that which the first of LANES neighbouring elements of a function
    reads to that of the last; 0 if all read the same.
    """
    m, root = access.map, reader.roots[0].shape
    order = range(len(reader.index_sizes)) if root.is_tuple else major_to_minor(root)
    wide = [d for d in order if reader.index_sizes[d] != 1]
    if not wide or not access.is_known or m.is_undefined or m.is_known_empty:
        return 0
    here = [v.interval.lower for v in m.variables]
    there = list(here)
    there[wide[-1]] += min(LANES, reader.index_sizes[wide[-1]]) - 1
    steps = abs(m.results[fast].evaluate(there) - m.results[fast].evaluate(here))
    return min(steps + 1, LANES) if steps else 0


def widest_vector(limit: int, size: int, count: int, divides: Iterable[int], least: int = MIN_THREADS) -> int:
    """The number of lanes of a vector: as many elements of `size` bytes as fit into 16 bytes, up to `limit`, dividing all of
    `divides`; fewer if `count` elements would leave few threads.
    """
    width = min(limit, VECTOR_BYTES // size)
    sizes = list(divides)
    while width > 1 and (count // width < least or any(n % width for n in sizes)):
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
