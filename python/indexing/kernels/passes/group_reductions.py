"""Lowering of group reductions: by shuffles within a warp; through shared memory across warps, or without shuffles.

Values of one type that are combined together lie side by side in shared memory, up to a vector of them in one cell, so that one
instruction moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from indexing._core import SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import rewrite_blocks, same_block
from indexing.kernels.ir.types import decoded, encoded, storage_bytes, storage_type

TH_X = variable(0)
CELL_BYTES = 16  # one instruction moves values of so many, side by side
RADIX = 16  # parts in shared memory that a thread combines between two barriers


def lower_group_reductions(kernel: ir.Kernel, shuffle_width: int) -> ir.Kernel:
    """The kernel with group reductions lowered to statements of threads; `shuffle_width` is the size of a warp, 0 for none."""
    lowering = _Lowering(kernel, shuffle_width)
    body = rewrite_blocks(rewrite_blocks(kernel.body, lowering.with_last_barriers), lowering.block)
    return replace(kernel, body=body, buffers=(*kernel.buffers, *lowering.buffers))


def shared_cells(block: int, threads: int, distance: int, shuffle_width: int) -> int:
    """The number of cells of shared memory for each value of a group reduction: none within a warp, else one for each warp of
    the block, or, without shuffles, for each of its threads.
    """
    if threads == 1:
        return 0
    if not _uses_shuffles(distance, shuffle_width):
        return block
    return block // shuffle_width if threads > shuffle_width else 0


@dataclass(frozen=True, slots=True)
class _Parts:
    """Variables of one type whose parts lie in one cell of `shared`, and the vector in which a thread has them; with one
    variable there is none.
    """

    names: tuple[str, ...]
    type: str
    shared: str
    vector: str

    def stored(self, cell: SymbolicExpr) -> list[ir.Statement]:
        """The thread's values in a cell."""
        values = [encoded(self.type, ir.Ref(self.type, n)) for n in self.names]
        if len(values) == 1:
            return [ir.Store(self.shared, (cell,), values[0])]
        width = len(values)
        stores = [ir.Store(self.vector, (constant(k),), v) for k, v in enumerate(values)]
        return [*stores, ir.Copy(self.shared, cell * width, self.vector, constant(0), width)]

    def loaded(self, cell: SymbolicExpr) -> tuple[list[ir.Statement], list[ir.Value]]:
        """The statements that load a cell, and its values after them."""
        kind, width = storage_type(self.type), len(self.names)
        if width == 1:
            return [], [decoded(self.type, ir.Load(kind, self.shared, (cell,)))]
        values = [decoded(self.type, ir.Load(kind, self.vector, (constant(k),))) for k in range(width)]
        return [ir.Copy(self.vector, constant(0), self.shared, cell * width, width)], values


def _uses_shuffles(distance: int, shuffle_width: int) -> bool:
    return shuffle_width > 0 and distance == 1


class _Lowering:
    def __init__(self, kernel: ir.Kernel, shuffle_width: int) -> None:
        self.threads = kernel.block[0]
        self.shuffle_width = shuffle_width
        self.buffers: list[ir.Buffer] = []
        self.count = 0

    def with_last_barriers(self, block: ir.Block) -> ir.Block:
        """The block with barriers at the ends of loops whose next turn overwrites shared memory that threads still read."""
        return same_block(block, [self._with_last_barrier(s) if isinstance(s, ir.For) else s for s in block])

    def _with_last_barrier(self, loop: ir.For) -> ir.For:
        reductions = [s for s in loop.body if isinstance(s, ir.GroupReduce)]
        shares = any(shared_cells(self.threads, r.threads, r.distance, self.shuffle_width) for r in reductions)
        is_last = loop.body[-1:] == (ir.Barrier(),)
        return replace(loop, body=(*loop.body, ir.Barrier())) if shares and not is_last else loop

    def block(self, block: ir.Block) -> ir.Block:
        out: list[ir.Statement] = []
        run: list[ir.GroupReduce] = []
        for statement in block:
            if isinstance(statement, ir.GroupReduce):
                if run and _form(statement) != _form(run[0]):
                    out += self._run(run)
                    run = []
                run.append(statement)
                continue
            out += [*self._run(run), statement]
            run = []
        return same_block(block, [*out, *self._run(run)])

    def _run(self, run: Sequence[ir.GroupReduce]) -> list[ir.Statement]:
        """Lower adjacent reductions over the same groups, which share their barriers."""
        if not run:
            return []
        by_shuffles = _uses_shuffles(run[0].distance, self.shuffle_width)
        return self._by_shuffles(run) if by_shuffles else self._by_rounds(run)

    # ------------------------------------------------------------ shuffles

    def _by_shuffles(self, run: Sequence[ir.GroupReduce]) -> list[ir.Statement]:
        width, threads = self.shuffle_width, run[0].threads
        out = self._shuffles(run, min(threads, width))
        if threads <= width:
            return [*out, *self._spread(run, threads)]
        warps = threads // width
        parts = self._shared(run)
        stores = _publish(parts, TH_X // width)
        out += [ir.If((ir.Within(TH_X % width, 0, 0),), tuple(stores)), ir.Barrier()]
        out += _take(parts, TH_X // threads * warps + TH_X % warps)
        return [*out, *self._shuffles(run, warps), *self._spread(run, width)]

    def _spread(self, run: Sequence[ir.GroupReduce], group: int) -> list[ir.Statement]:
        """Broadcast the value of each group's first thread to the group, for reductions with `to_all`."""
        out: list[ir.Statement] = []
        for r in run:
            for n, t in zip(r.names, r.types, strict=True):
                if r.to_all:
                    taken = ir.Ref(t, self._name())
                    out += [ir.Shuffle(taken.name, ir.Ref(t, n), 0, group), ir.Assign(n, taken)]
        return out

    def _shuffles(self, run: Sequence[ir.GroupReduce], width: int) -> list[ir.Statement]:
        """Combine the values of each group of `width` lanes into its first, by halves.

        Lanes in the second half read beyond their group, and in a warp that the block doesn't fill a lane that isn't there,
        whose value PTX leaves undefined (shfl.sync). What they combine it into is read by no lane that the first depends on:
        with offset w, the first w lanes read those up to 2 * w - 1, which were right after the step before.
        """
        out: list[ir.Statement] = []
        offset = width // 2
        while offset:
            for r in run:
                others = [ir.Ref(t, self._name()) for t in r.types]
                out += [
                    ir.Shuffle(o.name, ir.Ref(t, n), offset) for o, n, t in zip(others, r.names, r.types, strict=True)
                ]
                out += self._merge(r, others)
            offset //= 2
        return out

    # ------------------------------------------------------------ shared memory

    def _by_rounds(self, run: Sequence[ir.GroupReduce]) -> list[ir.Statement]:
        """Store each thread's part, then combine RADIX parts into the first of them, repeatedly."""
        distance, left, to_all = run[0].distance, run[0].threads, run[0].to_all
        parts = self._shared(run)
        part = TH_X // distance % run[0].threads
        out: list[ir.Statement] = [*_publish(parts, TH_X), ir.Barrier()]
        while left > 1:
            combined, left = left, left // min(left, RADIX)
            body = self._combined(run, parts, [TH_X + k * distance for k in range(left, combined, left)])
            goes_on = left > 1 or to_all
            body += _publish(parts, TH_X) if goes_on else []
            out += [ir.If((ir.Within(part, None, left - 1),), tuple(body)), *([ir.Barrier()] if goes_on else [])]
        return [*out, *_take(parts, TH_X - part * distance)] if to_all else out

    def _combined(
        self, run: Sequence[ir.GroupReduce], parts: Sequence[_Parts], cells: Sequence[SymbolicExpr]
    ) -> list[ir.Statement]:
        """Combine the parts in cells of shared memory into a thread's own."""
        out: list[ir.Statement] = []
        for cell in cells:
            others: dict[str, ir.Ref] = {}
            for p in parts:
                copies, values = p.loaded(cell)
                own = [ir.Ref(p.type, self._name()) for _ in values]
                out += [*copies, *(ir.Let(o.name, v) for o, v in zip(own, values, strict=True))]
                others.update(zip(p.names, own, strict=True))
            for r in run:
                out += self._merge(r, [others[n] for n in r.names])
        return out

    # ------------------------------------------------------------ both

    def _merge(self, r: ir.GroupReduce, others: Sequence[ir.Ref]) -> list[ir.Statement]:
        own = [ir.Ref(t, n) for t, n in zip(r.types, r.names, strict=True)]
        results = [ir.Ref(t, self._name()) for t in r.types]
        call = ir.CallFunction(tuple(v.name for v in results), r.combiner, (), (*own, *others))
        return [call, *(ir.Assign(n, v) for n, v in zip(r.names, results, strict=True))]

    def _shared(self, run: Sequence[ir.GroupReduce]) -> list[_Parts]:
        """Shared memory for the variables of a run."""
        first = run[0]
        cells = shared_cells(self.threads, first.threads, first.distance, self.shuffle_width)
        typed = [(t, n) for r in run for t, n in zip(r.types, r.names, strict=True)]
        return [
            self._parts(names, kind, cells)
            for kind, pairs in groupby(sorted(typed, key=_type), _type)
            for names in _in_vectors([n for _, n in pairs], max(CELL_BYTES // storage_bytes(kind), 1))
        ]

    def _parts(self, names: tuple[str, ...], kind: str, cells: int) -> _Parts:
        shared, vector = f"part{len(self.buffers)}", f"parts{len(self.buffers)}" if len(names) > 1 else ""
        self.buffers.append(ir.Buffer(shared, kind, (cells * len(names),), "shared"))
        if vector:
            self.buffers.append(ir.Buffer(vector, kind, (len(names),), "local"))
        return _Parts(names, kind, shared, vector)

    def _name(self) -> str:
        self.count += 1
        return f"t{self.count - 1}"


def _form(r: ir.GroupReduce) -> tuple[int, int, bool]:
    return r.threads, r.distance, r.to_all


def _in_vectors(names: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """The names in groups of powers of two, up to `most`."""
    groups: list[tuple[str, ...]] = []
    while names:
        width = min(most, 1 << (len(names).bit_length() - 1))
        groups.append(tuple(names[:width]))
        names = names[width:]
    return groups


def _publish(parts: Sequence[_Parts], cell: SymbolicExpr) -> list[ir.Statement]:
    return [s for p in parts for s in p.stored(cell)]


def _take(parts: Sequence[_Parts], cell: SymbolicExpr) -> list[ir.Statement]:
    out: list[ir.Statement] = []
    for p in parts:
        copies, values = p.loaded(cell)
        out += [*copies, *(ir.Assign(n, v) for n, v in zip(p.names, values, strict=True))]
    return out


def _type(pair: tuple[str, str]) -> str:
    return pair[0]
