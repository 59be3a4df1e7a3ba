"""Fragments: which element of a matrix each register of each lane of a warp holds, as maps, for `MatrixMultiply`.

A register is a word: one element of 32 bits, two of 16, or four bytes; of the sum, one element. Four neighbouring lanes hold
16 neighbouring bytes of one line of a factor: a row of the left one, a column of the right one. A piece is such 16 bytes; an
8 x 8 matrix of `LoadMatrices` is eight lines by one piece.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from indexing._core import IndexingMap
from indexing.kernels.ir.types import storage_bytes

CAPABILITY = (8, 0)  # the least compute capability of kernels for any GPU that have matrix instructions
LANES = 32
PIECE_BYTES = 16
FULL_WORDS = PIECE_BYTES // 4  # the elements of a piece of f32, which `LoadMatrices` rounds to tf32
ASYNC_BYTES = (4, 8, 16)  # sizes of a `CopyAsync`
MAX_PENDING = 2  # groups of them that `WaitCopies` leaves incomplete
LINES = 8  # the lines of a matrix of `LoadMatrices`
ROWS, COLUMNS = 16, 8  # the sides of the sum
LINE_BYTES, WIDE_BYTES = 64, 128  # one of the widest vectors, or two
WORD_BYTES = 4  # elements of a group in a right panel of `MultiplyPanels`
INTEGERS, FLOATS = ("s8", "u8"), ("f8e4m3fn", "f8e5m2")


@dataclass(frozen=True, slots=True)
class PanelProduct:
    """A product of `MultiplyPanels`: the element types of the left and the right panel, and of the sums, the rows of the left
    panel, and the bytes of a row of sums.

    In the right panel, `group` neighbours along the depth are neighbours in memory, column by column. The depth is a multiple
    of `depth_unit`.
    """

    factors: tuple[str, str]
    sums: str
    rows: int
    row_bytes: int
    group: int = 1
    depth_unit: int = 1

    @property
    def columns(self) -> int:
        """The columns of the right panel."""
        return self.row_bytes // storage_bytes(self.sums)

    @property
    def factor_bytes(self) -> int:
        """The bytes of an element of a panel."""
        return storage_bytes(self.factors[0])


def _of_vectors(kind: str, row_bytes: int) -> PanelProduct:
    """Sums in vector registers: with two vectors a row, six rows take 12 of 16."""
    return PanelProduct((kind, kind), kind, rows=6, row_bytes=row_bytes)


def _of_tiles(left: str, right: str, sums: str) -> PanelProduct:
    """Sums in two tiles of 16 rows by 16 columns, whose factors have lines of 64 bytes, in words of 4."""
    size = storage_bytes(left)
    return PanelProduct((left, right), sums, 16, WIDE_BYTES, group=WORD_BYTES // size, depth_unit=LINE_BYTES // size)


def name_of_factors(left: str, right: str) -> str:
    """The element types of two factors by one name: the one of both, or both."""
    return "_".join(dict.fromkeys((left, right)))


PANEL_PRODUCTS: Mapping[str, PanelProduct] = {
    **{kind: _of_vectors(kind, LINE_BYTES) for kind in ("f32", "f64", "s32")},
    # One vector of a row leaves a processor with the widest ones waiting for sums.
    **{f"{kind}_wide": _of_vectors(kind, WIDE_BYTES) for kind in ("f32", "f64")},
    **{name_of_factors(left, right): _of_tiles(left, right, "s32") for left in INTEGERS for right in INTEGERS},
    "bf16": _of_tiles("bf16", "bf16", "f32"),
}


MAX_WIDENED = 1.25  # columns of wide panels to those of others, up to which the wide ones take less time


def panels_for(name: str, *columns: int) -> str:
    """The product of panels of that name, or of wide ones, if they leave few of each count of columns empty."""
    wide = f"{name}_wide"
    if wide not in PANEL_PRODUCTS:
        return name
    narrow, widened = (PANEL_PRODUCTS[n].columns for n in (name, wide))
    fills = all(-(-n // widened) * widened <= MAX_WIDENED * -(-n // narrow) * narrow for n in columns)
    return wide if fills else name


@dataclass(frozen=True, slots=True)
class MatrixInstruction:
    """An instruction for factors of two element types, the left one's first, of `element_bytes` each, whose sum is of type
    `accumulator`; GPUs of a `capability` have it.
    """

    element_types: tuple[str, str]
    accumulator: str
    element_bytes: int
    capability: tuple[int, int] = CAPABILITY

    @property
    def name(self) -> str:
        """The element types by one name."""
        return name_of_factors(*self.element_types)

    @property
    def rate_type(self) -> str:
        """The element type under which devices have the rate of the instruction."""
        return self.element_types[0].replace("u8", "s8")

    @property
    def depth(self) -> int:
        """The number of products in each element of the sum: two pieces."""
        return 2 * self.piece

    @property
    def piece(self) -> int:
        """The elements of a piece."""
        return PIECE_BYTES // self.element_bytes

    @property
    def word(self) -> int:
        """The elements of a register of a factor."""
        return 4 // self.element_bytes

    @property
    def left(self) -> IndexingMap:
        """(lane, register, element in it) -> (row, position along the sum) of the left factor."""
        k = f"(lane mod 4 + register floordiv 2 * 4) * {self.word} + element"
        return self._factor(4, f"lane floordiv 4 + register mod 2 * 8, {k}")

    @property
    def right(self) -> IndexingMap:
        """(lane, register, element in it) -> (column, position along the sum) of the right factor."""
        return self._factor(2, f"lane floordiv 4, (lane mod 4 + register * 4) * {self.word} + element")

    def _factor(self, registers: int, place: str) -> IndexingMap:
        domain = f"lane in [0, {LANES - 1}], register in [0, {registers - 1}], element in [0, {self.word - 1}]"
        return _map("lane, register, element", place, domain)


def _map(names: str, place: str, domain: str) -> IndexingMap:
    return IndexingMap.parse(f"({names}) -> ({place}), domain: {domain}")


SUM = _map(
    "lane, register",
    "lane floordiv 4 + register floordiv 2 * 8, lane mod 4 * 2 + register mod 2",
    f"lane in [0, {LANES - 1}], register in [0, 3]",
)  # (lane, register) -> (row, column)

SUM_OF_WORD = _map(
    "word, element",
    "word floordiv 2, word mod 2 * 2 + element",
    "word in [0, 3], element in [0, 1]",
)  # (register of a left factor of 16 bits, element in it) -> (which of two neighbouring sums, its register): the same element

INSTRUCTIONS: Mapping[str, MatrixInstruction] = {
    i.name: i
    for i in (
        MatrixInstruction(("f16", "f16"), "f32", 2),
        MatrixInstruction(("bf16", "bf16"), "f32", 2),
        MatrixInstruction(("f32", "f32"), "f32", 4),  # factors are rounded to tf32
        *(MatrixInstruction((left, right), "s32", 1) for left in INTEGERS for right in INTEGERS),
        *(MatrixInstruction((left, right), "f32", 1, (8, 9)) for left in FLOATS for right in FLOATS),
    )
}
BY_FACTORS: Mapping[tuple[str, str], MatrixInstruction] = {i.element_types: i for i in INSTRUCTIONS.values()}
