"""Launch dimensions and knobs of an attention: the rows of a block, and the keys of a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd, prod

from indexing._core import IndexingMap
from indexing.device.record import Device
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.attention.match import NAME, Attention
from indexing.kernels.emitters.dot.match import Axis, Product, fastest
from indexing.kernels.emitters.panels.plan import even_part
from indexing.kernels.emitters.tile.plan import rotated
from indexing.kernels.emitters.tile.shared_tile import SharedTile, in_order, places
from indexing.kernels.ir.fragments import PANEL_PRODUCTS, panels_for
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import KnobSpace, Values, nested_space
from indexing.kernels.targets import TARGETS

PANEL = 4, 4  # rows and columns of sums of a thread, where panels are no instruction
MAX_PANELS = 32
DEFAULT_ROWS, DEFAULT_KEYS = 96, 64  # rows of a block and keys of a step, by default at most
DEFAULT_PANEL_KEYS = 96  # more where panels are multiplied, so that fewer are partial
MIN_THREADS, DEFAULT_THREADS = 128, 256  # threads of a block, where they run in parallel
VECTOR = 16  # elements that a thread copies at once


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """Knobs and launch dimensions: a block has `row_panels` panels of rows, and takes `key_panels` panels of keys at a step.

    `sizes` are those of the product of weights and values, `depth` the products in an element of the scores; a thread
    holds sums of a `panel`, its rows and columns, by the `panel_product` if there is one. `fastest` is the fastest dimension
    of queries, keys and values.
    """

    sizes: Product
    depth: int
    element_type: str
    panel: tuple[int, int]
    panel_product: str | None
    fastest: tuple[Axis, Axis, Axis]
    row_panels: int
    key_panels: int

    @property
    def value_panels(self) -> int:
        """The panels of columns of the values."""
        return -(-prod(self.sizes.columns) // self.panel[1])

    @property
    def rows(self) -> int:
        """The rows of a block."""
        return self.row_panels * self.panel[0]

    @property
    def keys(self) -> int:
        """The keys of a step."""
        return self.key_panels * self.panel[1]

    @property
    def steps(self) -> int:
        """The number of steps along the keys."""
        return self.sizes.steps(self.keys)

    @property
    def tiles(self) -> tuple[int, int]:
        """The numbers of blocks along the batch and the rows."""
        return self.sizes.tiles(self.rows, prod(self.sizes.columns))[:2]

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (prod(self.tiles), 1, 1)

    @property
    def threads(self) -> int:
        """The threads of a block: one for each panel of sums of the results."""
        return self.row_panels * self.value_panels

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (self.threads, 1, 1)

    @property
    def queries(self) -> SharedTile:
        """The tile of the queries: rows one after another."""
        return self._tile("queries", self.rows, self.depth, in_order(self.rows, self.depth))

    @property
    def keyed(self) -> tuple[SharedTile, SharedTile]:
        """The tiles of the keys and the values of a step.

        Where panels are multiplied, these are panels of columns, each without gaps; else rows, rotated, so that neither threads
        that read columns nor those that write them access a bank often.
        """
        values = self.value_panels * self.panel[1]
        return (
            self._tile("keys", self.depth, self.keys, self._columns(self.depth, self.keys)),
            self._tile("values", self.keys, values, self._columns(self.keys, values)),
        )

    def _columns(self, lines: int, run: int) -> IndexingMap:
        width = self.panel[1]
        if self.panel_product is None:
            return rotated(lines, run, width)
        return places(lines, run, f"(element floordiv {width} * {lines} + line) * {width} + element mod {width}")

    def _tile(self, name: str, lines: int, run: int, place: IndexingMap) -> SharedTile:
        number = ("queries", "keys", "values").index(name)
        reads, fast = self.fastest[number], _FAST[number]
        widest = VECTOR if fast == "sum" else self.panel[1]
        vector = gcd(widest, run if reads == fast else lines)
        side = "left" if number == 0 else "right"
        return SharedTile(side, self.element_type, lines, run, fast, reads, vector, place, name=name)  # type: ignore[arg-type]

    @property
    def shared_bytes(self) -> int:
        """The bytes of the tiles, of the logits, and of three numbers for each row."""
        tiles = self.rows * self.depth + (self.depth + self.value_panels * self.panel[1]) * self.keys
        return (tiles + self.rows * (self.keys + 3)) * storage_bytes(self.element_type)


_FAST: tuple[Axis, Axis, Axis] = ("sum", "free", "free")


def plan_attention(
    match: Attention, device: Device, *, row_panels: int | None = None, key_panels: int | None = None
) -> AttentionPlan:
    """Launch dimensions.

    Knobs: `row_panels` of a block and `key_panels` of a step, from 1 to 32 each, of 4 rows and 4 keys; on CPUs, of 6 rows and
    64 or 128 bytes of keys.
    """
    default = _default(match, device)
    return replace(default, row_panels=row_panels or default.row_panels, key_panels=key_panels or default.key_panels)


def _default(match: Attention, device: Device) -> AttentionPlan:
    """The most rows and keys that fit, in blocks of equal size, of which each core has one if there are as many panels."""
    plan = _planned(match, device)
    rows, keys = (
        -(-prod(n) // width) for n, width in zip((plan.sizes.rows, plan.sizes.contracted), plan.panel, strict=True)
    )
    most = min(DEFAULT_ROWS // plan.panel[0], max(DEFAULT_THREADS // plan.value_panels, 1))
    most_keys = (DEFAULT_PANEL_KEYS if plan.panel_product else DEFAULT_KEYS) // plan.panel[1]
    plan = replace(plan, row_panels=even_part(rows, most), key_panels=even_part(keys, max(most_keys, 1)))
    least = MIN_THREADS if TARGETS[device.dialect].has_threads else 1
    while plan.row_panels > 1 and prod(plan.tiles) < device.cores.count and plan.threads >= 2 * least:
        plan = replace(plan, row_panels=-(-plan.row_panels // 2))
    while not fits(plan, device.limits) and (plan.row_panels > 1 or plan.key_panels > 1):
        rows, keys = plan.row_panels, plan.key_panels
        wide = plan.rows > plan.keys
        plan = replace(plan, row_panels=-(-rows // 2) if wide or keys == 1 else rows)
        plan = replace(plan, key_panels=keys if wide and rows > 1 else -(-keys // 2))
    return plan


def _planned(match: Attention, device: Device) -> AttentionPlan:
    """The plan with one panel of rows and of keys."""
    kind, scores, product = match.element_type, match.scores, match.product
    is_panels = TARGETS[device.dialect].multiplies_panels(kind)
    panels = panels_for(kind, prod(match.sizes.contracted), prod(match.sizes.columns)) if is_panels else None
    panel = (PANEL_PRODUCTS[panels].rows, PANEL_PRODUCTS[panels].columns) if panels else PANEL
    order = fastest(scores, match.query)[0], fastest(scores, 1 - match.query)[0], fastest(product, 1 - match.side)[0]
    return AttentionPlan(match.sizes, match.depth, kind, panel, panels, order, 1, 1)


def attention_knobs(match: Attention, default: AttentionPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs: tiles that fit into the memory of a block."""
    legal = range(1, MAX_PANELS + 1)
    keys: dict[tuple[int, ...], Values] = {
        (r,): tuple(k for k in legal if fits(replace(default, row_panels=r, key_panels=k), device.limits))
        for r in legal
    }
    return nested_space(NAME, ("row_panels", "key_panels"), default, keys)
