"""Fragments of tiles in shared memory, as loads into the registers of a warp."""

from __future__ import annotations

from indexing._core import SymbolicExpr, constant
from indexing.kernels.emitters.tile.shared_tile import SharedTile, position
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.fragments import COLUMNS, LANES, LINES, MatrixInstruction
from indexing.kernels.ir.nodes import LoadMatrices
from indexing.kernels.launch import thread_id


def load_fragments(
    body: FunctionBuilder,
    tile: SharedTile,
    instruction: MatrixInstruction,
    place: tuple[SymbolicExpr, SymbolicExpr],
    register: SymbolicExpr,
) -> None:
    """Load four matrices: the registers of a fragment of a left tile, or of two of a right one.

    They begin at `place`, along the tile's free dimension and the sum, and go to the local buffer named after the side. A
    matrix begins at the element that lane 0 gets; each lane gives the place of one of its lines. Of bytes that are transposed,
    the first fragment gets the even columns, the second the odd ones.
    """
    lane, zero = thread_id("th_x") % LANES, constant(0)
    matrix, line = lane // LINES, lane % LINES
    if tile.side == "left":
        fragment, begin, further = instruction.left, [zero, matrix, zero], zero
    else:
        fragment, begin, further = instruction.right, [zero, matrix % 2, zero], matrix // 2 * COLUMNS
    free = place[0] + further + position(fragment, *begin)
    along = place[1] + position(fragment, *begin, result=1)
    is_transposed = tile.fast == "free"  # the lines of the tile are along the sum
    piece = instruction.piece
    if is_transposed and instruction.word == 4:  # two lines of four that are one word
        free, along = place[0], place[1] + matrix // 2 * piece + matrix % 2 * 2 + line // 2 * 4 + line % 2 - line
    at = position(tile.place, *((along + line, free) if is_transposed else (free + line, along)))
    cell = body.named_index(
        body.fresh(f"{tile.side}_cell"), body.scope.simplify(at // piece), 0, tile.buffer.size // piece - 1
    )
    source = cell * piece
    body.add(LoadMatrices(tile.side, register, tile.buffer.name, source, instruction.piece, is_transposed))
