"""The record of a device: the limits of its launches, and the sizes that plans of kernels take from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from indexing.arguments import check_fields, integer, of_type
from indexing.errors import IndexingError

__all__ = ["Device", "Dim3", "Limits", "Widths"]

Dim3: TypeAlias = tuple[int, int, int]
REMEDY = "take a plan that `ix.knobs` allows for this device"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a launch: `threads` of a block, the sizes of a `block` and of the `grid` in x, y and z, and the bytes of
    shared memory that a kernel may declare.
    """

    threads: int
    block: Dim3
    grid: Dim3
    shared_bytes: int

    def __post_init__(self) -> None:
        check_fields(self, threads=integer, shared_bytes=integer, block=of_type(tuple), grid=of_type(tuple))
        if len(self.block) != 3 or len(self.grid) != 3 or min(self.threads, *self.block, *self.grid) < 1:
            raise IndexingError(f"limits of a launch are positive, those of block and grid in x, y and z; got {self}")

    @property
    def block_size(self) -> int:
        """The most threads of a block in one dimension."""
        return min(self.threads, self.block[0])

    def exceeded(self, grid: Dim3, block: Dim3, shared_bytes: int) -> str:
        """The first limit that a launch exceeds, with its value, that of the launch, and a remedy; empty if there is none."""
        return next((f"{what}; {REMEDY}" for what in self._exceeded(grid, block, shared_bytes)), "")

    def _exceeded(self, grid: Dim3, block: Dim3, shared_bytes: int) -> Iterator[str]:
        if prod(block) > self.threads:
            yield f"{prod(block)} threads of a block exceed the limit of {self.threads}"
        for what, sizes, limits in (("block", block, self.block), ("grid", grid, self.grid)):
            if any(size > limit for size, limit in zip(sizes, limits, strict=True)):
                yield f"the {what} {sizes} exceeds the limit of {limits}"
        if shared_bytes > self.shared_bytes:
            yield f"{shared_bytes} bytes of shared memory of a block exceed the limit of {self.shared_bytes}"


@dataclass(frozen=True, slots=True)
class Widths:
    """The sizes that default plans take from a kind of device.

    `wanted_threads` keep it busy. A row has at most `row_threads`, unless there are few rows; a block has `block_size` threads
    if rows are short, `tile_threads` if it moves tiles, and up to `columns` neighbouring columns (or vectors of them). A thread
    keeps `kept_bytes` of elements by default, and at most `max_kept_bytes`. With `caches_rows`, a second pass over a row hits
    the cache, so that fewer passes are not worth more operations. With `reads_ahead`, the device prefetches, so that blocks
    that share a row take contiguous parts of it.
    """

    wanted_threads: int
    row_threads: int
    block_size: int
    tile_threads: int
    columns: int
    kept_bytes: int = 128
    max_kept_bytes: int = 1020
    caches_rows: bool = False
    reads_ahead: bool = False

    def within(self, most: int) -> Widths:
        """The widths for blocks of at most that many threads, of which plans take powers of two."""
        most = 1 << (most.bit_length() - 1)
        names = ("row_threads", "block_size", "tile_threads", "columns")
        return replace(self, **{n: min(getattr(self, n), most) for n in names})


@dataclass(frozen=True, slots=True)
class Device:
    """A device by its `name`, with the `dialect` of its kernels, its limits, and the widths of plans, which these bound."""

    name: str
    dialect: str
    limits: Limits
    widths: Widths

    def __post_init__(self) -> None:
        check_fields(self, name=of_type(str), dialect=of_type(str), limits=of_type(Limits), widths=of_type(Widths))
        object.__setattr__(self, "widths", self.widths.within(self.limits.block_size))

    def with_limits(self, **limits: int | Dim3) -> Device:
        """The device with other limits, given by name."""
        return replace(self, limits=replace(self.limits, **limits))  # type: ignore[arg-type]
