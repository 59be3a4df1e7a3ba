"""Addresses that warps of an access touch: those of a sample of warp instructions, spread over the launch.

A warp instruction is the access of one warp at one value of every range variable but that of a thread's vector, whose elements
count as one access.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from indexing.analysis.memory.global_memory import Access
from indexing.analysis.memory.transactions import VECTOR
from indexing.cached import cached_property
from indexing.hlo import Shape
from indexing.hlo.layout import strides_of
from indexing.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WARPS = 32  # warp instructions of a sample
LANES = 32
RARE = 4  # a step is mentioned if it is at least this fraction of a warp's steps
GOLDEN = 0.6180339887498949  # its multiples are spread evenly, whatever the number of values of a variable


@dataclass(frozen=True, slots=True)
class Step:
    """The step from a lane to the next one that touches another element: bytes in memory, and the dimensions that change.

    The next one is `lanes` lanes ahead; those between touch the same element (`shared`), or none.
    """

    bytes: int
    dimensions: tuple[int, ...]
    lanes: int = 1
    shared: bool = False


@dataclass(frozen=True)
class WarpSample:
    """The elements that warp instructions touch: of each instruction, lane and element of a lane's vector.

    `active` says whether it touches one, at `addresses` in bytes and at an index that has an array of `indices` for each
    dimension.
    """

    active: NDArray[np.bool_]
    addresses: NDArray[np.int64]
    indices: tuple[NDArray[np.int64], ...]
    element_bytes: int

    @cached_property
    def runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The runs of adjacent bytes that warp instructions touch, in ascending order: the number of the instruction, the first
        address, and the bytes of each.
        """
        warps, addresses = np.nonzero(self.active)[0], self.addresses[self.active]
        order = np.lexsort((addresses, warps))
        warps, addresses = warps[order], addresses[order]
        steps = np.diff(addresses)
        goes_on = (np.diff(warps) == 0) & ((steps == 0) | (steps == self.element_bytes))
        firsts = np.flatnonzero(np.append(True, ~goes_on)[: len(warps)])
        lasts = np.append(firsts[1:], len(warps))[: len(firsts)] - 1
        return warps[firsts], addresses[firsts], addresses[lasts] + self.element_bytes - addresses[firsts]

    @property
    def starts(self) -> list[int]:
        """The addresses at which runs begin."""
        starts: list[int] = self.runs[1].tolist()
        return starts

    @property
    def run_bytes(self) -> int:
        """The most frequent length of runs, the greatest of several."""
        return _mode(self.runs[2].tolist())

    @property
    def bytes_at_once(self) -> set[int]:
        """The numbers of bytes that warp instructions touch, of those that touch any."""
        warps, _, lengths = self.runs
        return {int(total) for total in np.bincount(warps, weights=lengths) if total}

    @property
    def lane_bytes(self) -> int:
        """The bytes that a lane touches side by side: the most frequent number."""
        touched = self.active.any(axis=2)
        last = self.addresses.max(axis=2, where=self.active, initial=np.iinfo(np.int64).min)
        ascending = np.sort(np.where(self.active, self.addresses, last[..., None])[touched], axis=1)
        steps = np.diff(ascending, axis=1)
        adjacent = np.logical_and.accumulate(steps <= self.element_bytes, axis=1)
        return _mode((self.element_bytes + (steps * adjacent).sum(axis=1)).tolist())

    @cached_property
    def steps(self) -> list[Step]:
        """The most frequent step from lane to lane, and the second if it is not rare."""
        warps, lanes = np.nonzero(self.active.any(axis=2))
        firsts = warps, lanes, self.active[warps, lanes].argmax(axis=1)
        addresses = self.addresses[firsts]
        changing = np.flatnonzero(np.append(True, (np.diff(warps) != 0) | (np.diff(addresses) != 0))[: len(warps)])
        here, there = changing[:-1], changing[1:]
        shares = np.bincount(warps, minlength=len(self.active)) > np.bincount(
            warps[changing], minlength=len(self.active)
        )
        ahead = lanes[there] - lanes[here]
        changes = [of[firsts][there] != of[firsts][here] for of in self.indices]
        steps = [addresses[there] - addresses[here], ahead, shares[warps[here]] & (ahead > 1), *changes]
        return _most_frequent(np.stack(steps, axis=1)[warps[there] == warps[here]])


def _most_frequent(steps: NDArray[np.int64]) -> list[Step]:
    """The most frequent of steps, each its bytes, its lanes, whether it is shared, and whether each dimension changes."""
    different, firsts, counts = np.unique(steps, axis=0, return_index=True, return_counts=True)
    order = sorted(range(len(counts)), key=lambda k: (-counts[k], -abs(different[k, 0]), firsts[k]))
    frequent = [different[k].tolist() for k in order[:2] if k == order[0] or counts[k] * RARE >= len(steps)]
    return [
        Step(distance, tuple(d for d, changes in enumerate(changed) if changes), lanes, bool(shared))
        for distance, lanes, shared, *changed in frequent
    ]


def _mode(counts: Iterable[int]) -> int:
    frequencies = Counter(counts)
    return max(frequencies, key=lambda n: (frequencies[n], n), default=0)


def sample_of(access: Access, shape: Shape) -> WarpSample:
    """A sample of an access of an array of that shape; all its warp instructions if they are few."""
    m = access.map
    vectors = [v.upper + 1 - v.lower for v in m.ranges if v.name == VECTOR] or [1]
    block = [len(v.interval) for v in m.dims[:3]]
    others = [v for v in (*m.dims[3:], *m.ranges, *m.runtimes) if v.name != VECTOR]
    sizes = [-(-prod(block) // LANES), *(len(v.interval) for v in others)]
    first, *values = np.array([_digits(at, sizes) for at in _spread(prod(sizes))], np.int64).T
    threads = first[:, None, None] * LANES + np.arange(LANES)[None, :, None]
    form = (len(first), LANES, vectors[0])
    ids = [v.lower + digit for v, digit in zip(m.dims[:3], _digits(threads, block), strict=True)]
    spread = {v.name: v.lower + digit[:, None, None] for v, digit in zip(others, values, strict=True)}
    spread[VECTOR] = np.arange(form[2])[None, None, :]
    points = [*ids, *(spread[v.name] for v in (*m.dims[3:], *m.ranges, *m.runtimes))]
    flat = [np.broadcast_to(p, form).ravel() for p in points]
    active = _shaped(m.contains(flat[: m.num_dims], flat[m.num_dims :]), form) & (threads < prod(block))
    indices = tuple(_shaped(r, form) for r in m.evaluate(flat[: m.num_dims], flat[m.num_dims :]))
    element_bytes = access.element_bits // 8
    addresses = sum((i * s for i, s in zip(indices, strides_of(shape), strict=True)), np.zeros(form, np.int64))
    return WarpSample(active, addresses * element_bytes, indices, element_bytes)


def _shaped(values: Any, form: tuple[int, ...]) -> Any:
    return np.broadcast_to(values, prod(form)).reshape(form)


def _spread(count: int) -> Sequence[int]:
    """Numbers below `count`: all, or the first, the last and some spread between them."""
    if count <= WARPS:
        return range(count)
    return list(dict.fromkeys([0, count - 1, *(int(count * (k * GOLDEN % 1)) for k in range(1, WARPS - 1))]))


def _digits(number: Any, sizes: Sequence[int]) -> list[Any]:
    digits = []
    for size in sizes:
        digits.append(number % size)
        number = number // size
    return digits
