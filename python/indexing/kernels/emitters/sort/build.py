"""The kernel of a sort: runs of rows in shared memory, sorted by the threads of a block.

A thread sorts its own elements in registers. Then, in passes, pairs of sorted runs are merged: threads take their elements of
the result from shared memory, and write them there after a barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from indexing._core import SymbolicExpr
from indexing.kernels.emitters.sort.match import NAME, Elements, RowSort
from indexing.kernels.emitters.sort.merging import PLACE, Merge, Runs
from indexing.kernels.emitters.sort.plan import SortPlan
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, Kernel, Space
from indexing.kernels.launch import Part, built, guarded, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Value
from indexing.ops.library_calls.sorted_runs import ORDER


def build_sort(match: RowSort, plan: SortPlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.hero, match.parts, plan, lambda body: _Body(match, plan, body).build())


class _Body:
    """Builds the entry."""

    def __init__(self, match: RowSort, plan: SortPlan, body: FunctionBuilder) -> None:
        """Declare the buffers: `shared` ones of a block, and a thread's `own` ones."""
        self.match, self.plan, self.body = match, plan, body
        self.elements = Elements(match, body)
        self.shared = self._buffers("run", "shared", plan.rows * plan.cells)
        self.own = self._buffers("own", "local", plan.elements)
        self.run = thread_id("th_x") // plan.threads  # of those of the block
        self.first = thread_id("th_x") % plan.threads * plan.elements

    def _buffers(self, name: str, space: Space, size: int) -> list[str]:
        add = self.body.kernel.add_buffer
        return [add(Buffer(f"{name}{k}", kind, (size,), space)) for k, kind in enumerate(self.elements.types)]

    def build(self) -> None:
        """Build the loads, the sort in registers, the passes, and the stores."""
        body, plan = self.body, self.plan
        self._fill()
        body.barrier()
        self._sort_own()
        self._exchange()
        if plan.threads > 1:
            with body.loop((plan.threads - 1).bit_length(), "turn") as turn:
                self._merge(turn)
                self._exchange()
        self._finish()

    # ------------------------------------------------------------ places

    def _place(self, run: SymbolicExpr) -> tuple[SymbolicExpr, SymbolicExpr]:
        """The row of a run, of all runs, and the place in the row at which the run begins."""
        runs = self.match.runs
        in_row = -(-runs.size // runs.length)
        return run // in_row, run % in_row * runs.length

    def _numbered(self, run: SymbolicExpr) -> SymbolicExpr:
        """The number of a run of the block among all runs; the last one for those beyond it."""
        plan = self.plan
        number = thread_id("bl_x") * plan.rows + run
        return number if plan.count % plan.rows == 0 else number.min(plan.count - 1)

    def _length(self, run: SymbolicExpr) -> SymbolicExpr:
        """The number of elements of a run of the block."""
        plan, runs = self.plan, self.match.runs
        if runs.size % plan.length == 0:
            return self.body.constant(plan.length)
        _, begin = self._place(self._numbered(run))
        return self.body.scope.simplify((runs.size - begin).min(plan.length))

    @contextmanager
    def _each_cell(self) -> Iterator[tuple[SymbolicExpr, SymbolicExpr, SymbolicExpr]]:
        """A scope that runs for cells of shared memory, neighbouring ones in neighbouring threads: the cell, its run and its
        place in the run.
        """
        plan = self.plan
        with loop_over(self.body, plan.elements, "i") as i, self.body.base_scope():
            cell = self.body.scope.simplify(i * plan.block[0] + thread_id("th_x"))
            yield cell, cell // plan.cells, cell % plan.cells

    # ------------------------------------------------------------ steps

    def _fill(self) -> None:
        """Build the loads of the elements; cells behind the last element of a run hold that, too."""
        body = self.body
        with self._each_cell() as (cell, run, place):
            row, begin = self._place(self._numbered(run))
            inside_run = place.min(self._length(run) - 1)
            self.elements.store(self.shared, cell, self.elements.read(row, body.scope.simplify(begin + inside_run)))

    def _sort_own(self) -> None:
        """Build the sort of a thread's elements: neighbours are exchanged, pairs of even and of odd ones in turns."""
        body, plan = self.body, self.plan
        with lanes(body, plan.elements) as lane:
            self.elements.store(self.own, lane, self.elements.load(self.shared, self._own_cell(lane)))
        if plan.elements == 1:
            return
        with loop_over(body, plan.elements // 2, "turn"):
            for begin in range(2):
                with loop_over(body, (plan.elements - begin) // 2, "pair") as pair:
                    self._exchange_pair(2 * pair + begin)

    def _own_cell(self, lane: SymbolicExpr) -> SymbolicExpr:
        return self.run * self.plan.cells + self.first + lane

    def _exchange_pair(self, lane: SymbolicExpr) -> None:
        body, elements = self.body, self.elements
        second = body.scope.simplify(self.first + lane + 1 - self._length(self.run))
        with guarded(body, body.within(second, None, -1)):
            a, b = (elements.load(self.own, at) for at in (lane, lane + 1))
            is_before = elements.comes_before(b, a)
            elements.store(self.own, lane, elements.choose(is_before, b, a))
            elements.store(self.own, lane + 1, elements.choose(is_before, a, b))

    def _exchange(self) -> None:
        """Build the stores of a thread's elements to shared memory, which all threads have read."""
        body = self.body
        body.barrier()
        with lanes(body, self.plan.elements) as lane:
            self.elements.store(self.shared, self._own_cell(lane), self.elements.load(self.own, lane))
        body.barrier()

    def _merge(self, turn: SymbolicExpr) -> None:
        """Build the merge of a thread's elements from two runs of `elements` << `turn` elements."""
        body, plan = self.body, self.plan
        length = body.named(self._integer(self._length(self.run)))
        width = body.named(body.op("shl", PLACE, body.number(PLACE, plan.elements), self._integer(turn)))
        first = body.named(body.op("minimum", PLACE, self._integer(self.first), length))
        pair = body.op("neg", PLACE, body.op("shl", PLACE, width, body.number(PLACE, 1)))
        start = body.named(body.op("and", PLACE, first, pair))
        ends = [start]
        for _ in range(2):
            ends.append(body.named(body.op("minimum", PLACE, body.op("add", PLACE, ends[-1], width), length)))
        merge = Merge(body, self.elements, self._loaded(length))
        steps = (plan.cells // 2).bit_length()
        merge.build(
            Runs(*ends), first, plan.elements, steps, lambda lane, held: self.elements.store(self.own, lane, held)
        )

    def _loaded(self, length: Value) -> Callable[[Value], list[Value]]:
        """The load of the element at a place of the thread's run; of the nearest one for places beyond."""
        body, base, known = self.body, self.run * self.plan.cells, self._length(self.run).constant_value
        last = body.named(body.op("sub", PLACE, length, body.number(PLACE, 1)))

        def load(place: Value) -> list[Value]:
            inside_run = place if known is not None else body.op("minimum", PLACE, place, last)
            at = body.bounded(inside_run, 0, (known or self.plan.cells) - 1)
            return self.elements.load(self.shared, base + at)

        return load

    def _integer(self, expression: SymbolicExpr) -> Value:
        return self.body.op("convert", PLACE, self.body.integer(expression))

    # ------------------------------------------------------------ results

    def _finish(self) -> None:
        """Build the outputs, neighbouring elements in neighbouring threads."""
        body, plan, runs = self.body, self.plan, self.match.runs
        with self._each_cell() as (cell, run, place):
            parts = [Part(thread_id("bl_x") * plan.rows + run, plan.count), Part(place, plan.length)]
            with inside(body, parts) as (number, at), body.base_scope():
                row, begin = self._place(number)
                with inside(body, [Part(begin + at, runs.size)]) as (there,), body.base_scope():
                    self._write(cell, row, there)

    def _write(self, cell: SymbolicExpr, row: SymbolicExpr, place: SymbolicExpr) -> None:
        """Build the outputs at a place of a row, which the elements in a cell of shared memory go to."""
        match, body = self.match, self.body
        moved = {k: body.load(self.shared[n], match.kind(k), (cell,)) for n, k in match.wanted_columns.items()}
        if match.has_order:
            order = body.load(self.shared[-1], ORDER, (cell,))
            origin = body.bounded(order, 0, match.runs.size - 1)
            source = tuple(map(body.scope.simplify, match.index(row, origin)))
            moved |= {k: body.read(match.hero.operands[k], source) for k in match.wanted if k not in moved}
        self.elements.write(row, place, moved)
