"""Addresses that warps of an access touch: those of a sample of warp instructions, spread over the launch.

A warp instruction is the access of one warp at one value of every range variable but that of a thread's vector, whose elements
count as one access.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from indexing.analysis.memory.transactions import VECTOR
from indexing.hlo.layout import major_to_minor
from indexing.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexing.analysis.memory.global_memory import Access
    from indexing.hlo import Shape

__all__ = ["Step", "WarpSample", "sample_of"]

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
    def runs(self) -> list[list[range]]:
        """Of each warp instruction: the runs of adjacent bytes that it touches, in ascending order."""
        warps = zip(self.addresses, self.active, strict=True)
        return [_runs(addresses[active], self.element_bytes) for addresses, active in warps]

    @property
    def starts(self) -> list[int]:
        """The addresses at which runs begin."""
        return [run.start for runs in self.runs for run in runs]

    @property
    def run_bytes(self) -> int:
        """The most frequent length of runs, the greatest of several."""
        return _mode(len(run) for runs in self.runs for run in runs)

    @property
    def lane_bytes(self) -> int:
        """The bytes that a lane touches side by side: the most frequent number."""
        lanes = zip(
            self.addresses.reshape(-1, self.active.shape[2]), self.active.reshape(-1, self.active.shape[2]), strict=True
        )
        return _mode(
            len(_runs(addresses[active], self.element_bytes)[0]) for addresses, active in lanes if active.any()
        )

    @cached_property
    def steps(self) -> list[Step]:
        """The most frequent step from lane to lane, and the second if it is not rare."""
        counted = Counter(step for warp in range(len(self.active)) for step in self._steps_of(warp))
        order = sorted(counted, key=lambda step: (-counted[step], -abs(step.bytes)))
        return [step for k, step in enumerate(order[:2]) if k == 0 or counted[step] * RARE >= counted.total()]

    def _steps_of(self, warp: int) -> Iterator[Step]:
        firsts = [(int(lane), int(v)) for lane, v in zip(*self._first_elements(warp), strict=True)]
        addresses = [int(self.addresses[warp, lane, v]) for lane, v in firsts]
        changing = [k for k, address in enumerate(addresses) if not k or addresses[k - 1] != address]
        for k, n in pairwise(changing):
            (lane, v), (next_lane, w) = firsts[k], firsts[n]
            changed = tuple(d for d, of in enumerate(self.indices) if of[warp, lane, v] != of[warp, next_lane, w])
            lanes, shares = next_lane - lane, len(changing) < len(firsts)
            yield Step(addresses[n] - addresses[k], changed, lanes, shares and lanes > 1)

    def _first_elements(self, warp: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The active lanes of a warp, and the first element that each touches."""
        lanes = np.flatnonzero(self.active[warp].any(axis=1))
        return lanes, self.active[warp].argmax(axis=1)[lanes]


def _mode(counts: Iterable[int]) -> int:
    frequencies = Counter(counts)
    return max(frequencies, key=lambda n: (frequencies[n], n), default=0)


def _runs(addresses: NDArray[np.int64], width: int) -> list[range]:
    different = np.unique(addresses)
    parts = np.split(different, np.flatnonzero(np.diff(different) != width) + 1) if len(different) else []
    return [range(int(part[0]), int(part[-1]) + width) for part in parts]


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
    return WarpSample(active, _addresses(indices, access, shape, form), indices, access.element_bits // 8)


def _shaped(values: Any, form: tuple[int, ...]) -> Any:
    return np.broadcast_to(values, prod(form)).reshape(form)


def _addresses(indices: Sequence[NDArray[np.int64]], access: Access, shape: Shape, form: tuple[int, ...]) -> Any:
    addresses, stride = np.zeros(form, np.int64), access.element_bits // 8
    for d in reversed(major_to_minor(shape)):
        addresses = addresses + indices[d] * stride
        stride *= shape.dimensions[d]
    return addresses


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
