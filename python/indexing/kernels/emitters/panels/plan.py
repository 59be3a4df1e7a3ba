"""Launch dimensions and knobs of a product of panels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd, prod

from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.dot import convolution
from indexing.kernels.emitters.dot.match import Axis, Product, fastest, planned_product
from indexing.kernels.emitters.panels.match import NAME, panel_product
from indexing.kernels.emitters.tile.shared_tile import SharedTile, in_order, places
from indexing.kernels.epilogue import Heroes
from indexing.kernels.ir.fragments import LINE_BYTES, PANEL_PRODUCTS, PanelProduct, panels_for
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import KnobSpace, Values, nested_space

# Rows of a block by default, and bytes of a row of its sums: the tiles of both operands fit into 64 KiB.
MAX_DEFAULT_ROWS, MAX_DEFAULT_BYTES = 128, 512
MAX_PANELS = 32
MAX_DEPTH_BYTES = 512  # a line of the left panel by default
# Where these lines are columns in memory, they are one line of caches, since vectors are written across them; their number is a
# multiple of a vector's elements.
TURNED_DEPTH_BYTES, TURNED_PANELS, MAX_TURNED_PANELS = 64, 8, 16
DEPTH_UNIT, MAX_DEPTH = 8, 256
VECTOR, MAX_VECTOR = 16, 32  # elements that a thread copies at once, at most if they are of a run


@dataclass(frozen=True, slots=True)
class PanelPlan:
    """Knobs and launch dimensions: a block computes `row_panels` by `column_panels` tiles of sums, a thread each, and copies
    pieces of `tile_depth` along the sum.
    """

    sizes: Product
    name: str  # of the product
    row_panels: int
    column_panels: int
    tile_depth: int
    fastest: tuple[Axis, Axis]  # of each operand's dimensions
    run: int = 0  # the neighbours along the sum in memory that vectors of the left operand divide; 0: any

    @property
    def product(self) -> PanelProduct:
        """The product of panels."""
        return PANEL_PRODUCTS[self.name]

    @property
    def panels(self) -> tuple[int, int]:
        """The tiles of sums of a block along rows and columns."""
        return self.row_panels, self.column_panels

    @property
    def rows(self) -> int:
        """The rows of a tile of sums."""
        return self.product.rows

    @property
    def columns(self) -> int:
        """The columns of a tile of sums."""
        return self.product.columns

    @property
    def tile_rows(self) -> int:
        """The rows of a block's tile."""
        return self.row_panels * self.rows

    @property
    def tile_columns(self) -> int:
        """The columns of a block's tile."""
        return self.column_panels * self.columns

    @property
    def tiles(self) -> tuple[int, int, int]:
        """The numbers of blocks along the batch, the rows and the columns."""
        return self.sizes.tiles(self.tile_rows, self.tile_columns)

    @property
    def steps(self) -> int:
        """The number of tiles along the sum."""
        return self.sizes.steps(self.tile_depth)

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (prod(self.tiles), 1, 1)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (prod(self.panels), 1, 1)

    @property
    def shared_tiles(self) -> tuple[SharedTile, SharedTile]:
        """The tiles of both operands: rows one after another, and panels of columns one after another."""
        return self._left_tile(), self._right_tile()

    def _left_tile(self) -> SharedTile:
        rows, depth, reads = self.tile_rows, self.tile_depth, self.fastest[0]
        vector = gcd(max(VECTOR, self._line), depth if reads == "sum" else rows)
        if self.run and reads == "sum":
            vector = max(n for n in range(1, MAX_VECTOR + 1) if gcd(self.run, depth) % n == 0)
        return SharedTile("left", self.product.factors[0], rows, depth, "sum", reads, vector, in_order(rows, depth))

    def _right_tile(self) -> SharedTile:
        """The tile of panels one after another, in whose rows the elements of groups alternate."""
        depth, columns, width, group = self.tile_depth, self.tile_columns, self.columns, self.product.group
        panel = f"element floordiv {width} * {depth} + line floordiv {group} * {group}"
        place = f"({panel}) * {width} + element mod {width} * {group} + line mod {group}"
        reads, kind = self.fastest[1], self.product.factors[1]
        vector = width if reads == "free" else gcd(max(width, self._line), depth)
        return SharedTile(
            "right", kind, depth, columns, "free", reads, vector, places(depth, columns, place), group=group
        )

    @property
    def _line(self) -> int:
        """The elements of a line of memory."""
        return LINE_BYTES // self.product.factor_bytes

    @property
    def shared_bytes(self) -> int:
        """The bytes of both tiles."""
        return (self.tile_rows + self.tile_columns) * self.tile_depth * self.product.factor_bytes


def plan_panels(
    match: Heroes,
    device: Device,
    *,
    row_panels: int | None = None,
    column_panels: int | None = None,
    tile_depth: int | None = None,
) -> PanelPlan:
    """Launch dimensions.

    Knobs: `row_panels` and `column_panels` of the product per block, from 1 to 32 each, of 6 rows and of 64 or
    128 bytes of columns, for bytes and bf16 of 16 rows and 32 columns; `tile_depth`, the elements along the sum that are
    copied at once, 1 to 256, for bytes and bf16 in multiples of 64 bytes.
    """
    dot = match.first
    rows, columns = _default_panels(dot, device)
    rows, columns = row_panels or rows, column_panels or columns
    product = PANEL_PRODUCTS[_product_name(dot)]
    lines = rows * product.rows + columns * product.columns
    return _planned(dot, rows, columns, tile_depth or _default_depth(dot, lines, device))


def _planned(dot: Instruction, rows: int, columns: int, depth: int) -> PanelPlan:
    p = planned_product(dot)
    left, right = (fastest(dot, k)[0] for k in p.operands)
    return PanelPlan(p, _product_name(dot), rows, columns, depth, (left, right), _run(dot))


def _product_name(dot: Instruction) -> str:
    return panels_for(panel_product(dot), prod(planned_product(dot).columns))


def _run(dot: Instruction) -> int:
    return convolution.sum_run(dot) if convolution.is_convolution(dot) else 0


def _default_panels(dot: Instruction, device: Device) -> tuple[int, int]:
    """The panels of blocks of equal size, of which each core has one if there are as many panels."""
    p, product = planned_product(dot), PANEL_PRODUCTS[_product_name(dot)]
    most_rows, most_columns = MAX_DEFAULT_ROWS // product.rows, MAX_DEFAULT_BYTES // product.row_bytes
    all_rows, all_columns = -(-prod(p.rows) // product.rows), -(-prod(p.columns) // product.columns)
    rows, columns = even_part(all_rows, most_rows), even_part(all_columns, most_columns)
    if _is_turned(dot) and all_rows >= TURNED_PANELS:
        rows = min(rows, MAX_TURNED_PANELS) // TURNED_PANELS * TURNED_PANELS or TURNED_PANELS
    while prod(p.batch) * -(-all_rows // rows) * -(-all_columns // columns) < device.cores.count and rows > 1:
        rows = -(-rows // 2)
    return rows, columns


def _is_turned(dot: Instruction) -> bool:
    """Whether the rows of a dot's left operand are columns in memory, for products of vectors."""
    left, is_of_vectors = planned_product(dot).operands[0], PANEL_PRODUCTS[panel_product(dot)].depth_unit == 1
    return is_of_vectors and not convolution.is_convolution(dot) and fastest(dot, left)[0] == "free"


def _default_depth(dot: Instruction, lines: int, device: Device) -> int:
    """Even parts of the sum, of whole runs, or of one run, for tiles that have so many lines together."""
    contracted, product = prod(planned_product(dot).contracted), PANEL_PRODUCTS[panel_product(dot)]
    size, run, unit = product.factor_bytes, _run(dot), max(DEPTH_UNIT, product.depth_unit)
    most_bytes = TURNED_DEPTH_BYTES if _is_turned(dot) else MAX_DEPTH_BYTES
    fitting = device.limits.shared_bytes // (lines * size) // unit * unit
    most = max(min(fitting, most_bytes // size, MAX_DEPTH), unit)
    if 0 < run <= most and run % product.depth_unit == 0:
        return run * even_part(contracted // run, most // run)
    if run > most:
        contracted = run
    return -(-even_part(contracted, most) // unit) * unit


def even_part(count: int, most: int) -> int:
    """The largest part of a count if it is divided into as few even parts of at most so many as possible."""
    return -(-count // -(-count // most))


def panel_knobs(_: Heroes, default: PanelPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs: tiles that fit into the memory of a block."""
    panels = range(1, MAX_PANELS + 1)
    lines = (replace(default, row_panels=r, column_panels=c, tile_depth=1) for r in panels for c in panels)
    unit = default.product.depth_unit
    depths: dict[tuple[int, ...], Values] = {
        line.panels: range(unit, _most_depth(line, device) + 1, unit) for line in lines
    }
    return nested_space(NAME, ("row_panels", "column_panels", "tile_depth"), default, depths)


def _most_depth(line: PanelPlan, device: Device) -> int:
    """The greatest depth of tiles that fit, given a plan of one line; 0 if the block has too many threads or too many bytes."""
    depth = min(MAX_DEPTH, device.limits.shared_bytes // line.shared_bytes)
    return depth if depth and fits(line, device.limits) else 0
