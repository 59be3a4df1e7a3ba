"""Phases between barriers against enumeration of all accesses: what is proved by phases, no enumeration refutes."""

from __future__ import annotations

from pathlib import Path

import pytest

import indexing as ix
from indexing._core import constant
from indexing.errors import IndexingError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.verify.order import difference_of_order, read_and_written
from indexing.kernels.verify.phases import keeps_phases
from ir_kernels import TH_X, given, kernel, result
from pass_mutants import Step, drawn, faults, steps

GOLDEN = Path(__file__).parents[1] / "golden"
PRODUCT = """
ENTRY e {
  a = bf16[1024,4096] parameter(0)
  b = bf16[4096,1024] parameter(1)
  ROOT d = f32[1024,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
PASSES = {"async-copies", "peel", "unroll", "fold-again"}  # those that divide, move or drop accesses of tiles
FAULTS = 8  # of each step


def compared(step: Step, after: ir.Kernel) -> list[tuple[bool, str]]:
    """Whether phases prove the order of each memory, and what enumeration says."""
    answers = []
    for memory in read_and_written(step.before):
        try:
            answers.append((keeps_phases(step.before, after, memory), difference_of_order(step.before, after, memory)))
        except IndexingError:  # data decide
            continue
    return answers


@pytest.mark.parametrize("name", ["dot_tile_bf16", "dot_tile_s8", "transpose_packed"])
def test_phases_never_prove_what_enumeration_refutes(name: str) -> None:
    changed = [
        s for s in steps([GOLDEN / f"{name}.hlo"], ("cuda",)) if s.of.name in PASSES and read_and_written(s.before)
    ]
    right = [answer for s in changed for answer in compared(s, s.after)]
    assert right
    assert all(not fault for _, fault in right)
    assert any(by_phases for by_phases, _ in right)
    mutants = [(s, m.kernel) for s in changed for m in drawn(faults(s.after), FAULTS, "27")]
    assert len(mutants) == FAULTS * len(changed)
    wrong = [answer for s, mutant in mutants for answer in compared(s, mutant)]
    assert any(fault for _, fault in wrong)
    assert not [fault for by_phases, fault in wrong if by_phases and fault]


def test_the_order_in_a_large_product_is_proved() -> None:
    kernel = ix.emit(ix.hlo.parse(PRODUCT).entry)
    assert kernel.emitter == "dot-tile"
    begun = "async-copies: left_tile"
    copied = [c for c in kernel.verify().proved if c.kind == "same order" and c.subject.startswith(begun)]
    assert len(copied) == 3  # a tile for each stage
    assert not kernel.verify().open


@pytest.mark.parametrize(("shift", "matters"), [(0, True), (32, False)])
def test_what_a_thread_stores_and_loads_of_one_element_stays_in_order(shift: int, matters: bool) -> None:
    store = ir.Store("cells", (TH_X,), ir.Load("f32", "p0", (TH_X,)))
    load = ir.Let("v", ir.Load("f32", "cells", (TH_X + shift,)))
    last = ir.Store("o0", (TH_X,), ir.Ref("f32", "v"))
    buffers = [given(0, "f32", 32), result(0, "f32", 32), ir.Buffer("cells", "f32", (64,), "shared")]
    before, after = (kernel([*order, last], buffers, 1, 32) for order in ((store, load), (load, store)))
    assert keeps_phases(before, after, "cells") is not matters
    assert bool(difference_of_order(before, after, "cells")) is matters
    loop = lambda *body: ir.For(6, constant(0), constant(2), 1, body)  # noqa: E731
    together, apart = (
        kernel([*loops, last], buffers, 1, 32, i=("loop", 0, 1))
        for loops in ([loop(store, load)], [loop(store), loop(load)])
    )
    assert keeps_phases(together, apart, "cells") is not matters
