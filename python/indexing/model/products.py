"""The time of a product of matrices by a library, by a model of its tiles.

A library computes an output tile in each block, and chooses among tiles of several sizes, and among numbers of blocks that
share the contracted dimension. A large tile takes most of its time for multiply-adds, a small one more for its operands; the
last wave of tiles takes as long as a full one. The laws are those of docs/prediction.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from indexing.device.record import Device
from indexing.hlo.layout import bit_width

TILES = ((256, 128), (128, 256), (128, 128), (128, 64), (64, 128), (64, 64), (64, 32), (32, 64), (32, 32))
SPLITS = (1, 2, 4, 8, 16)  # blocks that share the contracted dimension of a tile
FILL = 8  # steps of the contracted dimension that a tile's beginning and end take


@dataclass(frozen=True, slots=True)
class Product:
    """`batch` products of an m x k and a k x n matrix of an element type, into results of `result_type`."""

    batch: int
    m: int
    n: int
    k: int
    element_type: str
    result_type: str

    @property
    def flops(self) -> float:
        """Operations, a multiply-add counted as two."""
        return 2.0 * self.batch * self.m * self.n * self.k

    @property
    def bytes(self) -> float:
        """The bytes of operands and result, each once."""
        read = (self.m * self.k + self.k * self.n) * bit_width(self.element_type)
        return self.batch * (read + self.m * self.n * bit_width(self.result_type)) / 8


def product_seconds(product: Product, device: Device, rate: float) -> float:
    """Seconds of the multiply-adds, launch and memory excluded, on units that do `rate` operations per second in all cores. The
    tiles of processors are so small that all cores share the work evenly.
    """
    if device.architecture is None:
        return product.flops / (rate * device.rates.product_share)
    return min(_seconds(product, device, rate, *tile) for tile in TILES)


def _seconds(p: Product, device: Device, rate: float, rows: int, columns: int) -> float:
    """The least time with tiles of this size over the numbers of blocks that share a tile."""
    cores, cost = device.cores.count, device.rates.tile_cost
    largest = 1 + cost * (1 / TILES[0][0] + 1 / TILES[0][1])
    share = device.rates.product_share * largest / (1 + cost * (1 / rows + 1 / columns))
    tiles = p.batch * -(-p.m // rows) * -(-p.n // columns)
    step = 2 * rows * columns / (rate * share / cores)
    return min(
        -(-tiles * split // cores) * (-(-p.k // split) + FILL) * step + parts for split, parts in _splits(p, device)
    )


def _splits(p: Product, device: Device) -> Iterator[tuple[int, float]]:
    """Numbers of blocks that share a tile, each with the seconds in which partial results are stored and added."""
    of_one = 2 * p.batch * p.m * p.n * 4 / device.memory.l2_bandwidth
    for split in SPLITS:
        yield split, of_one * split if split > 1 else 0.0
