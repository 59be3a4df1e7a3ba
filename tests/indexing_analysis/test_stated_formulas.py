"""Formulas are stated before the core composes: once for a signature, whatever errors and interrupts come in between."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import pytest

import indexing as ix
from indexing.hlo import Instruction
from indexing.indexing_analysis import computations
from indexing.indexing_analysis.instructions import input_to_output, output_to_input
from indexing.ops.operand_indexing import Indexing

SLICES = """
HloModule m
ENTRY e {
  p = s32[8,8] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  one = s32[] constant(1)
  a = s32[2,2] dynamic-slice(p, i, j), dynamic_slice_sizes={2,2}
  b = s32[2,2] dynamic-slice(p, i, i), dynamic_slice_sizes={2,2}
  c = s32[2,2] dynamic-slice(p, j, j), dynamic_slice_sizes={2,2}
  d = s32[2,2] dynamic-slice(p, j, one), dynamic_slice_sizes={2,2}
  ROOT r = (s32[2,2], s32[2,2], s32[2,2], s32[2,2]) tuple(a, b, c, d)
}
"""


def stated(monkeypatch: pytest.MonkeyPatch, run: Callable[[], object]) -> Counter[str]:
    """How often the formulas of each instruction are stated while `run` runs."""
    counts: Counter[str] = Counter()
    original = computations._formula

    def counted(instruction: Instruction, output: int) -> Indexing:
        counts[instruction.name] += 1
        return original(instruction, output)

    monkeypatch.setattr(computations, "_formula", counted)
    run()
    return counts


def reads(module: ix.hlo.Module, name: str) -> list[tuple[str, list[str]]]:
    """The maps of an instruction to its first operand, each with the instructions that its runtime values read."""
    found = output_to_input(module.entry.instructions[name])[0]
    return [(str(m.map).partition(", domain")[0], [v.instruction.name for v in m.runtime_values]) for m in found]


def test_a_formula_is_stated_once_for_a_signature_and_each_repetition_of_operands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ix.hlo.parse(SLICES)
    counts = stated(monkeypatch, lambda: list(ix.maps(module).instructions.values()))
    assert counts == {"a": 1}  # distinct operands: what fits them fits all


def test_a_formula_with_repeated_operands_does_not_fit_others(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ix.hlo.parse(SLICES)
    order = ["b", "c", "a", "d"]
    counts = stated(monkeypatch, lambda: [output_to_input(module.entry.instructions[name]) for name in order])
    assert counts == {"b": 1, "a": 1}
    assert reads(module, "a") == [("(d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1)", ["i", "j"])]
    assert reads(module, "b") == [("(d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1)", ["i", "i"])]
    assert reads(module, "c") == [("(d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1)", ["j", "j"])]
    assert reads(module, "d") == [("(d0, d1){rt0} -> (d0 + rt0, d1 + 1)", ["j"])]


def test_an_error_names_the_instruction_that_is_used() -> None:
    text = """
    HloModule m
    ENTRY e {
      p = f32[4] parameter(0)
      dead = f32[4] unheard-of(p)
      used = f32[4] unheard-of(p)
      n = f32[4] negate(p)
      ROOT r = (f32[4], f32[4]) tuple(n, used)
    }
    """
    module = ix.hlo.parse(text)
    assert str(output_to_input(module, 0)[0][0].map) == "(d0) -> (d0), domain: d0 in [0, 3]"
    for _ in range(2):
        with pytest.raises(ix.UnsupportedOp, match="used"):
            output_to_input(module, 1)
    with pytest.raises(ix.UnsupportedOp, match="dead"):
        list(ix.maps(module).instructions.values())


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_interrupts_a_formula_leaves_the_module_usable(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ix.hlo.parse(SLICES)

    def interrupted(instruction: Instruction, output: int) -> Indexing:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(computations, "_formula", interrupted)
        with pytest.raises(error):
            output_to_input(module, 0)
    assert reads(module, "a") == reads(ix.hlo.parse(SLICES), "a")


STARTS = """
HloModule m
part {
  x = s32[8] parameter(0)
  k = s32[] parameter(1)
  ROOT s = s32[2] dynamic-slice(x, k), dynamic_slice_sizes={2}
}
ENTRY e {
  p = s32[8] parameter(0)
  i = s32[] parameter(1)
  two = s32[] constant(2)
  known = ((s32[8], s32[]), s32[2], u32[]) async-start(p, two), calls=part
  asked = ((s32[8], s32[]), s32[2], u32[]) async-start(p, i), calls=part
  ROOT r = (s32[2], s32[2]) tuple(s32[2] async-done(known), s32[2] async-done(asked))
}
"""


def test_inverse_formulas_of_started_computations_depend_on_known_operands() -> None:
    module = ix.hlo.parse(STARTS)
    known, asked = (input_to_output(module.entry.instructions[name])[2] for name in ("known", "asked"))
    assert [str(m.map) for m in known] == ["(d0) -> (d0 - 2), domain: d0 in [2, 3]"]
    assert [[v.instruction.name for v in m.runtime_values] for m in asked] == [["i"]]


KNOWN = """
HloModule m
ENTRY e {
  p = s32[100] parameter(0)
  table = s32[2,2] constant({{7, 1}, {5, 90}})
  row = s32[1,2] slice(table), slice={[1:2], [0:2]}
  turned = s32[2,1] transpose(row), dimensions={1,0}
  one = s32[1,1] slice(turned), slice={[0:1], [0:1]}
  at = s32[] reshape(one)
  through = s32[] copy(at)
  s = s32[10] dynamic-slice(p, through), dynamic_slice_sizes={10}
  last = s32[1,1] slice(turned), slice={[1:2], [0:1]}
  beyond = u64[] constant(18446744073709551615)
  t = s32[10] dynamic-slice(p, beyond), dynamic_slice_sizes={10}
  hidden = s32[] opt-barrier(at)
  u = s32[10] dynamic-slice(p, hidden), dynamic_slice_sizes={10}
  ROOT r = (s32[10], s32[10], s32[10]) tuple(s, t, u)
}
"""


@pytest.mark.parametrize("direction", [False, True])
def test_known_values_are_read_through_ops_that_move_elements(direction: bool) -> None:
    module = ix.hlo.parse(KNOWN)
    ask = input_to_output if direction else output_to_input
    s, t, u = (ask(module.entry.instructions[name])[0][0] for name in "stu")
    shifted = "(d0) -> (d0 - 5), domain: d0 in [5, 14]" if direction else "(d0) -> (d0 + 5), domain: d0 in [0, 9]"
    assert (str(s.map), s.runtime_values) == (shifted, ())
    assert [v.instruction.name for v in t.runtime_values] == ["beyond"]  # it is clamped where it is read
    assert [v.instruction.name for v in u.runtime_values] == ["hidden"]


def test_threads_share_a_module() -> None:
    expected = [reads(ix.hlo.parse(SLICES), name) for name in "abcd"]
    module = ix.hlo.parse(SLICES)
    found: list[list[object]] = []

    def ask() -> None:
        found.append([reads(module, name) for name in "abcd"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8
