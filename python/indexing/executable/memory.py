"""Arrays of a running program, on the device, the host, or both; a pool reuses their buffers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from indexing.executable.profile import Recorder
    from indexing.hlo import Shape
    from indexing.runtime.device import Buffer, Device


class Pool:
    """Free buffers of one device, by size, and the scratch memory of kernels that no launch uses; threads share it."""

    def __init__(self, device: Device) -> None:
        """Start with an empty pool."""
        self.device = device
        self.allocated = 0
        self.recorder: Recorder | None = None  # set while a call is profiled
        self._free: dict[int, list[Buffer]] = defaultdict(list)
        self._scratch: dict[int, list[dict[int, Buffer]]] = defaultdict(list)
        self._lock = Lock()

    def take(self, nbytes: int) -> Buffer:
        """A free buffer of exactly this size, or a new one."""
        with self._lock:
            if free := self._free[nbytes]:
                return free.pop()
            self.allocated += 1
        return self.device.empty(nbytes)

    def give(self, buffer: Buffer) -> None:
        """Make a buffer available to later steps."""
        with self._lock:
            self._free[buffer.nbytes].append(buffer)

    def take_scratch(self, step: int) -> dict[int, Buffer]:
        """Scratch memory that a launch of that step has left, by the argument's number; empty if all is in use."""
        with self._lock:
            free = self._scratch[step]
            return free.pop() if free else {}

    def give_scratch(self, step: int, scratch: dict[int, Buffer]) -> None:
        """Keep the scratch memory of a launch for the next launch of that step."""
        with self._lock:
            self._scratch[step].append(scratch)


@dataclass(slots=True, eq=False)
class OwnedArray:
    """One array of a running program, with a reference count (`owners`): its buffer is freed with the last owner.

    The buffer has the elements in the order of the shape's layout; the host array is in logical order.
    """

    shape: Shape
    pool: Pool
    buffer: Buffer | None = None
    array: np.ndarray | None = None
    owners: int = 1

    def retain(self) -> OwnedArray:
        """Add an owner."""
        self.owners += 1
        return self

    def release(self) -> None:
        """Remove an owner; the last one returns the buffer to the pool."""
        self.owners -= 1
        if self.owners == 0 and self.buffer is not None and not self.buffer.borrowed:  # runs share borrowed constants
            self.pool.give(self.buffer)
            self.buffer = None

    def on_device(self) -> Buffer:
        """The buffer, uploaded if need be."""
        if self.buffer is None:
            assert self.array is not None
            self.buffer = self.pool.device.share(self.array.transpose(major_to_minor(self.shape)))
        return self.buffer

    def on_host(self) -> np.ndarray:
        """The elements as a numpy array, downloaded if need be."""
        if self.array is None:
            assert self.buffer is not None
            order = major_to_minor(self.shape)
            sizes = tuple(self.shape.dimensions[d] for d in order)
            physical = self.pool.device.download(self.buffer, self.shape.dtype, sizes)
            self.array = physical
            if sizes != self.shape.dimensions or list(order) != sorted(order):
                logical = physical.transpose(np.argsort(order))
                contiguous = np.ascontiguousarray(logical)  # which makes scalars 1-d
                self.array = contiguous.reshape(self.shape.dimensions)
        return self.array

    def in_layout_of(self, shape: Shape) -> OwnedArray:
        """This array for a reader that expects `shape`: itself, or a copy in the layout of `shape`.

        The caller's ownership moves to the returned array.
        """
        if shape is self.shape or major_to_minor(shape) == major_to_minor(self.shape):
            return self
        other = OwnedArray(shape, self.pool, array=self.on_host())
        self.release()
        return other

    def to_overwrite(self, *, is_last_use: bool) -> Buffer:
        """A buffer with the elements that a step may overwrite: this array's own if this is its last use, else a copy."""
        source = self.on_device()
        if is_last_use and self.owners == 1 and not source.borrowed:
            self.buffer = None
            return source
        target = self.pool.take(source.nbytes)
        self.pool.device.copy(source, target)
        return target


@lru_cache(maxsize=4096)
def major_to_minor(shape: Shape) -> tuple[int, ...]:
    """The dimensions in physical order, slowest first."""
    return tuple(reversed(shape.minor_to_major))


def byte_count(shape: Shape) -> int:
    """The size of a buffer of that shape in bytes; elements narrower than a byte take one."""
    return int(shape.element_count) * int(shape.dtype.itemsize)


@dataclass(slots=True)
class Environment:
    """The arrays of one run of one computation, by slot."""

    pool: Pool
    arrays: dict[int, OwnedArray] = field(default_factory=dict)

    def put(self, slot: int, held: OwnedArray) -> None:
        """Store an array; the caller's ownership moves to the environment."""
        self.arrays[slot] = held

    def drop(self, slot: int) -> None:
        """Release the array of a slot, if there is one."""
        held = self.arrays.pop(slot, None)
        if held is not None:
            held.release()

    def close(self) -> None:
        """Release all arrays."""
        for held in self.arrays.values():
            held.release()
        self.arrays.clear()
