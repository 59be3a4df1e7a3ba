"""The limits of launches on a device, and the sizes that default plans take from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from indexing.arguments import check_fields, integer, of_type
from indexing.errors import IndexingError

Dim3: TypeAlias = tuple[int, int, int]
REMEDY = "take a plan that `ix.knobs` allows for this device"
REGISTER_BYTES = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a launch: `threads` of a block, the sizes of a `block` and of the `grid` in x, y and z, the bytes of shared
    memory that a kernel may declare, those that it may have on request (`optin_shared_bytes`), of which the device takes
    `reserved_shared_bytes` for each block, and the registers of a block and of a thread.
    """

    threads: int
    block: Dim3
    grid: Dim3
    shared_bytes: int
    optin_shared_bytes: int = 0
    reserved_shared_bytes: int = 0
    registers: int = 65536
    thread_registers: int = 255

    def __post_init__(self) -> None:
        check_fields(self, threads=integer, shared_bytes=integer, block=of_type(tuple), grid=of_type(tuple))
        check_fields(self, optin_shared_bytes=integer, reserved_shared_bytes=integer)
        check_fields(self, registers=integer, thread_registers=integer)
        if len(self.block) != 3 or len(self.grid) != 3 or min(self.threads, *self.block, *self.grid) < 1:
            raise IndexingError(f"limits of a launch are positive, those of block and grid in x, y and z; got {self}")

    @property
    def block_size(self) -> int:
        """The most threads of a block in one dimension."""
        return min(self.threads, self.block[0])

    @property
    def thread_bytes(self) -> int:
        """The bytes of all registers of a thread."""
        return self.thread_registers * REGISTER_BYTES

    @property
    def kept_bytes(self) -> int:
        """The bytes of elements that a thread may keep in registers however large its block is: half of its registers."""
        return min(self.registers // self.threads // 2 * REGISTER_BYTES, self.thread_bytes)

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
    if rows are short, `tile_threads` if it moves tiles, and up to `columns` neighbouring columns (or vectors of them). With
    `caches_rows`, a second pass over a row hits the cache, so that fewer passes are not worth more operations. With
    `reads_ahead`, the device prefetches, so that blocks that share a row take contiguous parts of it.
    """

    wanted_threads: int
    row_threads: int
    block_size: int
    tile_threads: int
    columns: int
    caches_rows: bool = False
    reads_ahead: bool = False

    def within(self, most: int) -> Widths:
        """The widths for blocks of at most that many threads, of which plans take powers of two."""
        most = 1 << (most.bit_length() - 1)
        names = ("row_threads", "block_size", "tile_threads", "columns")
        return replace(self, **{n: min(getattr(self, n), most) for n in names})
