"""Thread maps of launches that are described without a kernel."""

from __future__ import annotations

from collections.abc import Sequence

from indexing._core import IndexingMap, Interval, SymbolicExpr, Variable
from indexing.kernels.kernel import Dim3
from indexing.kernels.launch import THREAD_IDS
from indexing.ops.operand_indexing import map_over

Bounds = tuple[int, int]


def thread_map(
    grid: Dim3,
    block: Dim3,
    results: Sequence[SymbolicExpr],
    ranges: Sequence[tuple[str, int]] = (),
    constraints: Sequence[tuple[SymbolicExpr, Bounds]] = (),
    runtimes: Sequence[Variable] = (),
) -> IndexingMap:
    """The simplified map from (th_x, th_y, th_z, bl_x, bl_y, bl_z)[ranges]{runtimes} to `results`, under `constraints`.

    `ranges` are names with their counts.
    """
    dims = [(name, Interval(0, max(size, 1) - 1)) for name, size in zip(THREAD_IDS, (*block, *grid), strict=True)]
    symbols = [(name, Interval(0, max(size, 1) - 1)) for name, size in ranges]
    conditions = [(expression, Interval(*bounds)) for expression, bounds in constraints]
    return map_over(results, dims, symbols, runtimes, conditions).simplify()
