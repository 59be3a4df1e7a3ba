"""The kernel of a merge of sorted runs of long rows, from global memory."""

from __future__ import annotations

from indexing._core import SymbolicExpr
from indexing.kernels.emitters.merge.plan import NAME
from indexing.kernels.emitters.sort.match import Elements, RowSort
from indexing.kernels.emitters.sort.merging import PLACE, Merge, Runs
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, Kernel
from indexing.kernels.launch import Part, built, inside
from indexing.kernels.linear import LinearPlan, vector_index
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Value


def build_merge(match: RowSort, plan: LinearPlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.hero, match.parts, plan, lambda body: _Body(match, plan, body).build())


class _Body:
    """Builds the entry."""

    def __init__(self, match: RowSort, plan: LinearPlan, body: FunctionBuilder) -> None:
        """Declare a thread's own elements."""
        self.match, self.plan, self.body = match, plan, body
        self.elements = Elements(match, body)
        add = body.kernel.add_buffer
        kinds = enumerate(self.elements.types)
        self.own = [add(Buffer(f"own{k}", kind, (plan.vector_width,), "local")) for k, kind in kinds]

    def build(self) -> None:
        """Build the merge of a thread's elements of a row."""
        with vector_index(self.body, self.plan) as (row, vector):
            self._merge(row, vector * self.plan.vector_width)

    def _merge(self, row: SymbolicExpr, first: SymbolicExpr) -> None:
        """Build the merge of the elements of a row from the place `first` on, and their stores."""
        body, runs = self.body, self.match.runs
        start = first // runs.length * runs.length
        ends = (start, (start + runs.sorted).min(runs.size), (start + runs.length).min(runs.size))

        def load(place: Value) -> list[Value]:
            return self.elements.read(row, body.bounded(place, 0, runs.size - 1))

        merge = Merge(body, self.elements, load)
        merge.build(
            Runs(*map(self._integer, ends)),
            self._integer(first),
            self.plan.vector_width,
            runs.sorted.bit_length(),
            lambda lane, held: self.elements.store(self.own, lane, held),
        )
        self._write(row, first)

    def _integer(self, expression: SymbolicExpr) -> Value:
        return self.body.named(self.body.op("convert", PLACE, self.body.integer(expression)))

    def _write(self, row: SymbolicExpr, first: SymbolicExpr) -> None:
        match, body = self.match, self.body
        with (
            lanes(body, self.plan.vector_width) as lane,
            inside(body, [Part(first + lane, match.runs.size)]) as (place,),
            body.base_scope(),
        ):
            wanted = match.wanted_columns.items()
            self.elements.write(row, place, {k: body.load(self.own[n], match.kind(k), (lane,)) for n, k in wanted})
