"""Vectors of neighbouring elements: the number that a thread takes, and the loop over them.

The loop is built element by element; the pass `vectorize` merges its adjacent accesses to vector loads and stores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.hlo.layout import major_to_minor
from indexing.indexing_analysis.access import Access
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.types import storage_bytes
from indexing.partitioner import PartitionedComputation, Subgraph
from indexing.walks import reached
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


def is_light(parts: PartitionedComputation, count: int, but: Collection[Instruction] = ()) -> bool:
    """Whether a kernel of `count` elements is cheap enough to be built for each lane, with all calls of its functions but those
    of which neighbouring lanes share the result, and without what is computed before.
    """
    shared = {i for s, dims in moving_dimensions(parts).items() if not dims for i in s.instructions}
    after = set(reached([parts.computation.root], lambda i: () if i in but else i.operands))
    work = sum(n for i, n in parts.evaluations.items() if not i.is_parameter and i not in shared and i in after)
    return is_cheap(parts.computation.post_order(), but) and work <= MAX_LIGHT * count


def bytes_beside(parts: PartitionedComputation, parameter: Instruction) -> int:
    """The bytes of a parameter, per lane, from the element that the first of LANES lanes reads to that of the last; 0 if all
    read the same.
    """
    shape = parameter.shape
    if shape.is_tuple or not shape.dimensions:
        return 0
    fast = major_to_minor(shape)[-1]
    moving = moving_dimensions(parts)
    most = max((_distance(s, a, fast) for s, a in parts.reads(parameter) if moving[s]), default=0)
    return storage_bytes(shape.element_type) * most // LANES


def _distance(reader: Subgraph, access: Access, fast: int) -> int:
    """The elements along an array's dimension `fast` from that which the first of LANES neighbouring elements of a function
    reads to that of the last; 0 if all read the same.
    """
    m = access.map
    wide = [d for d in index_order(reader) if reader.index_sizes[d] != 1]
    if not wide or not access.is_known or m.is_undefined or m.is_known_empty:
        return 0
    here = [v.interval.lower for v in m.variables]
    there = list(here)
    there[wide[-1]] += min(LANES, reader.index_sizes[wide[-1]]) - 1
    steps = abs(m.results[fast].evaluate(there) - m.results[fast].evaluate(here))
    return min(steps + 1, LANES) if steps else 0


@lru_cache(maxsize=16)
def moving_dimensions(parts: PartitionedComputation) -> dict[Subgraph, frozenset[int]]:
    """The dimensions of each function's index that may differ between neighbouring elements of an output."""
    moving: dict[Subgraph, frozenset[int]] = {}
    for s in parts.subgraphs:
        calls = [(r, a) for root in s.roots for r, a in parts.reads(root) if r is not s]
        if s in parts.epilogues or not calls:
            moving[s] = frozenset(_fastest(s))
        else:
            moving[s] = frozenset(d for reader, a in calls for d in _moved(a, moving[reader], len(s.index_sizes)))
    return moving


def _fastest(function: Subgraph) -> Iterator[int]:
    """The dimensions of a function's index in which its first elements differ."""
    passed = 1
    for d in reversed(index_order(function)):
        if passed <= LANES:
            yield d
        passed *= function.index_sizes[d]


def _moved(access: Access, moving: frozenset[int], rank: int) -> Iterable[int]:
    """The dimensions of a callee's index that depend on some of its caller's, or on data."""
    if not access.is_known or len(access.map.results) != rank:
        return range(rank)
    given = range(len(access.map.variables) - len(access.map.runtimes), len(access.map.variables))
    return [d for d, e in enumerate(access.map.results) if any(v in moving or v in given for v in e.used_variables())]


def index_order(function: Subgraph) -> list[int]:
    """The dimensions of a function's index, fastest last, as in the memory of its root, if that has as many."""
    root, rank = function.roots[0].shape, len(function.index_sizes)
    return list(range(rank) if root.is_tuple or len(root.dimensions) != rank else major_to_minor(root))


def widest_vector(limit: int, size: int, count: int, divides: Iterable[int], least: int = MIN_THREADS) -> int:
    """The number of lanes of a vector: as many elements of `size` bytes as fit into 16 bytes, up to `limit`, dividing all of
    `divides`; fewer if `count` elements would leave few threads.
    """
    width = min(limit, VECTOR_BYTES // size)
    sizes = list(divides)
    while width > 1 and (count // width < least or any(n % width for n in sizes)):
        width //= 2
    return max(width, 1)


@contextmanager
def lanes(body: FunctionBuilder, width: int, name: str = "vector_index") -> Iterator[SymbolicExpr]:
    """Run the block for each lane of a vector; without a loop if there is only one."""
    if width == 1:
        yield constant(0)
        return
    with body.loop(width, name, lanes=True) as lane, body.base_scope():
        yield lane
