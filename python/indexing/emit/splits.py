"""Reductions that several blocks share: each leaves its part in scratch memory, and the block that comes last combines.

The parts are combined in the order of their numbers, whichever block comes last, so that the result is the same in each
run. Blocks that share a row count themselves in a counter, which the last one sets back to zero: as when it was found.
It does so where it counts, before any barrier: PoCL loses a store to the counter that stands behind one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr, constant
from indexing.emit.combine import Accumulators, Team, combine_in_block, computed
from indexing.emit.kernel import Argument
from indexing.emit.launch import each, guarded
from indexing.emit.types import c_type
from indexing.emit.vectors import unrolled
from indexing.ops.element_types import element_type

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter


class Splits:
    """`count` blocks reduce each of `tiles` groups of `slots` rows (or columns); a team of threads has one of them."""

    def __init__(
        self,
        count: int,
        tiles: int,
        slots: int,
        accumulators: Sequence[Accumulators],
    ) -> None:
        """Nothing is written yet."""
        self.count, self.tiles, self.slots = count, tiles, slots
        self.accumulators = accumulators
        self.scratch = self._scratch() if count > 1 else ()

    def _scratch(self) -> tuple[Argument, ...]:
        kinds = [_kept(kind) for a in self.accumulators for kind in a.kinds]
        size = self.count * self.tiles * self.slots
        parts = [Argument("scratch", k, kind, (size,)) for k, kind in enumerate(kinds)]
        return (*parts, Argument("scratch", len(kinds), "u32", (self.tiles,)))

    @contextmanager
    def combined(
        self, body: FunctionWriter, team: Team, tile: SymbolicExpr, split: SymbolicExpr, slot: SymbolicExpr
    ) -> Iterator[None]:
        """What is written inside is done once a tile, when part 0 of each team has the result of all blocks.

        `tile` and `split` number the block, `slot` the thread's team; each is an index of the function's scope.
        """
        if self.count == 1:
            yield
            return
        places = self.slots // self.accumulators[0].width
        self._leave(body, team, (tile * self.count + split) * self.slots + slot, places)
        last = body.fresh("last")
        arrived = f"w{len(self.scratch) - 1}[{body.integer(tile)}]"
        body.writer.insert(team.declared_at, f"@shared u32 {last};", 1)
        body.writer.line("@fence;")
        body.writer.line("@barrier;")
        with body.when(["@thread_x == 0"]):
            body.writer.line(f"{last} = @fetch_add(&{arrived}, 1u);")
            body.writer.line(f"if ({last} == {self.count - 1}) {arrived} = 0;")
        body.writer.line("@barrier;")
        with body.when([f"{last} == {self.count - 1}"]):
            body.writer.line("@fence;")
            self._collect(body, team, tile * (self.count * self.slots) + slot, places)
            yield
            body.writer.line("@barrier;")  # PoCL loses threads in a branch with barriers that does not end with one

    def _leave(self, body: FunctionWriter, team: Team, place: SymbolicExpr, places: int) -> None:
        with guarded(body, _first_parts(team, 1)):
            for accumulators, names in self._arrays():
                with unrolled(body, accumulators.width) as lane:
                    accumulators.at(body, lane)
                    cell = body.integer(place + lane * places)
                    for name, value in zip(names, accumulators.values, strict=True):
                        body.writer.line(f"{name}[{cell}] = {value};")

    def _collect(self, body: FunctionWriter, team: Team, place: SymbolicExpr, places: int) -> None:
        """Each part of a team takes the blocks whose numbers are its own, modulo the number of parts that do."""
        threads = min(team.threads, 1 << (self.count.bit_length() - 1))
        for accumulators in self.accumulators:
            with unrolled(body, accumulators.width) as lane:
                accumulators.at(body, lane)
                accumulators.restart(body)
        part = body.scope.add(body.fresh("q"), 0, threads - 1) if threads > 1 else constant(0)
        with guarded(body, _first_parts(team, threads)):
            if threads > 1:
                body.writer.line(f"const s32 {body.integer(part)} = {team.part};")
            with each(body, -(-self.count // threads)) as step:
                block = part + step * threads
                conditions = [] if self.count % threads == 0 else [f"{body.integer(block)} < {self.count}"]
                with guarded(body, conditions):
                    self._take(body, place + block * self.slots, places, f"{body.integer(step)} == 0")
        for accumulators in self.accumulators:
            combine_in_block(body, accumulators, team, threads)

    def _take(self, body: FunctionWriter, place: SymbolicExpr, places: int, is_first: str) -> None:
        for accumulators, names in self._arrays():
            with unrolled(body, accumulators.width) as lane:
                accumulators.at(body, lane)
                cell = body.integer(place + lane * places)
                texts = [_taken(kind, f"{n}[{cell}]") for n, kind in zip(names, accumulators.kinds, strict=True)]
                pairs = zip(accumulators.kinds, texts, strict=True)
                accumulators.add(body, [body.let(kind, text, rounds=False) for kind, text in pairs], is_first)

    def _arrays(self) -> Iterator[tuple[Accumulators, list[str]]]:
        """The accumulators of each reduction, with the names of their scratch memory."""
        first = 0
        for accumulators in self.accumulators:
            following = first + len(accumulators.kinds)
            yield accumulators, [f"w{k}" for k in range(first, following)]
            first = following


def _first_parts(team: Team, count: int) -> list[str]:
    if count == team.threads:
        return []
    return [f"{team.part} == 0" if count == 1 else f"{team.part} < {count}"]


def _kept(kind: str) -> str:
    """The element type of the scratch memory of an accumulator: what is computed with, predicates as bytes."""
    wide = computed(kind)
    return "u8" if wide == "pred" else c_type(wide).compute


def _taken(kind: str, text: str) -> str:
    return f"{text} != 0" if element_type(kind).kind == "pred" else text
