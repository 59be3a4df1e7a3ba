"""Formulas are stated before the core composes: once for a signature, whatever errors and interrupts come in between."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

import indexing as ix
from indexing.hlo import Instruction
from indexing.indexing_analysis import computations
from indexing.indexing_analysis.instructions import input_to_output, output_to_input
from indexing.indexing_analysis.programs import Direction
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
    indexing = output_to_input(module.entry.instructions[name])[0]
    return [(str(m.map).partition(", domain")[0], [v.instruction.name for v in m.runtime_values]) for m in indexing]


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
    actual: list[list[object]] = []

    def ask() -> None:
        actual.append([reads(module, name) for name in "abcd"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [expected] * 8


AHEAD = """
HloModule m
moved {
  x = s32[9,4] parameter(0)
  at = s32[2] constant({3, 1})
  k = s32[1] slice(at), slice={[1:2]}
  turned = s32[1] reverse(k), dimensions={0}
  i = s32[] reshape(turned)
  j = s32[] parameter(1)
  one = s32[2,2] dynamic-slice(x, i, j), dynamic_slice_sizes={2,2}
  other = s32[2,2] dynamic-slice(x, j, i), dynamic_slice_sizes={2,2}
  ROOT both = (s32[2,2], s32[2,2]) tuple(one, other)
}
halved {
  h = (s32[9,4], s32[]) parameter(0)
  ha = s32[9,4] get-tuple-element(h), index=0
  hs = s32[2,2] slice(ha), slice={[1:3], [0:2]}
  ROOT ht = (s32[2,2], s32[2,2]) tuple(hs, hs)
}
doubled {
  d = (s32[9,4], s32[]) parameter(0)
  da = s32[9,4] get-tuple-element(d), index=0
  db = s32[] get-tuple-element(d), index=1
  ds = s32[2,2] dynamic-slice(da, db, db), dynamic_slice_sizes={2,2}
  dn = s32[2,2] negate(ds)
  ROOT dt = (s32[2,2], s32[2,2]) tuple(dn, ds)
}
ENTRY e {
  p = s32[9,4] parameter(0)
  q = s32[] parameter(1)
  called = (s32[2,2], s32[2,2]) call(p, q), to_apply=moved
  given = (s32[9,4], s32[]) tuple(p, q)
  chosen = (s32[2,2], s32[2,2]) conditional(q, given, given), branch_computations={halved, doubled}
  first = s32[2,2] get-tuple-element(called), index=0
  last = s32[2,2] get-tuple-element(chosen), index=1
  flat = s32[4] reshape(first)
  turned = s32[2,2] transpose(last), dimensions={1,0}
  ROOT r = (s32[4], s32[2,2]) tuple(flat, turned)
}
"""


@pytest.mark.parametrize(
    "text", [SLICES, SLICES.replace("(p, i, j)", "(p, i, i)", 1).replace("(p, j, j)", "(p, j, i)"), AHEAD]
)
@pytest.mark.parametrize("direction", ["output_to_input", "input_to_output"])
@pytest.mark.parametrize("all_instructions", [False, True])
def test_no_formula_is_missing_while_maps_are_composed(
    text: str, direction: Direction, all_instructions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[tuple[int, int]] = []
    original = computations.ModuleMaps._statement

    def noted(self: computations.ModuleMaps, inverse: bool, at: tuple[int, int], is_used: bool) -> Indexing | None:
        late.extend([at] if is_used else [])
        return original(self, inverse, at, is_used)

    monkeypatch.setattr(computations.ModuleMaps, "_statement", noted)
    maps = ix.maps(ix.hlo.parse(text), direction=direction)
    if all_instructions:
        list(maps.instructions.items())
    else:
        maps.find()
    assert not late


def test_arrays_that_are_not_needed_have_no_formula_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ix.hlo.parse(AHEAD)
    counts = stated(monkeypatch, lambda: output_to_input(module, 0))
    assert counts == dict.fromkeys(("flat", "one", "k", "turned", "i"), 1)


NUMBERS = """
HloModule m
ENTRY e {{
  p = s32[1000] parameter(0)
  v = s32[] parameter(1)
  {}
  ROOT s = s32[10] dynamic-slice(p, at), dynamic_slice_sizes={{10}}
}}
"""


@pytest.mark.parametrize(
    "lines, start",
    [
        ("at = s8[] constant(-128)", "d0 + rt0"),  # clamped: it isn't 128
        ("at = u8[] constant(128)", "d0 + 128"),
        ("at = u16[] constant(258)", "d0 + 258"),
        ("at = s64[] constant(990)", "d0 + 990"),
        ("at = s32[] constant(991)", "d0 + rt0"),
        ("at = s4[] constant(3)", "d0 + rt0"),
        ("c = s32[2,3] constant({{1,2,3},{4,5,6}}) d = s32[1,1] slice(c), slice={[1:2],[2:3]} at = s32[] reshape(d)", "d0 + 6"),
        ("c = s32[2,3] constant({{1,2,3},{4,5,6}}) d = s32[1,1] slice(c), slice={[0:1],[2:3]} at = s32[] reshape(d)", "d0 + 3"),
        ("c = s8[128] iota(), iota_dimension=0 d = s8[1] slice(c), slice={[127:128]} at = s8[] reshape(d)", "d0 + 127"),
        ("c = s8[129] iota(), iota_dimension=0 d = s8[1] slice(c), slice={[5:6]} at = s8[] reshape(d)", "d0 + rt0"),
        ("c = u8[256] iota(), iota_dimension=0 d = u8[1] slice(c), slice={[255:256]} at = u8[] reshape(d)", "d0 + 255"),
        ("c = u8[257] iota(), iota_dimension=0 d = u8[1] slice(c), slice={[5:6]} at = u8[] reshape(d)", "d0 + rt0"),
        ("c = s32[3,5] iota(), iota_dimension=1 d = s32[1,1] slice(c), slice={[2:3],[4:5]} at = s32[] reshape(d)", "d0 + 4"),
    ],
)  # fmt: skip
def test_known_starts_of_slices(lines: str, start: str) -> None:
    indexing = output_to_input(ix.hlo.parse(NUMBERS.format(lines)), 0)[0][0]
    assert str(indexing.map).partition(" -> ")[2].startswith(f"({start})")


GATHERED = """
ENTRY e {{
  p = s32[1000] parameter(0)
  c = s32[3] constant({{{}}})
  ROOT g = s32[3] gather(p, c), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}
}}
"""


@pytest.mark.parametrize("elements, element", [("4, 4, 4", "4"), ("4, 4, 5", "rt0")])
def test_elements_at_unknown_indices_are_known_if_all_are_equal(elements: str, element: str) -> None:
    indexing = output_to_input(ix.hlo.parse(GATHERED.format(elements)), 0)[0][0]
    assert str(indexing.map).partition(" -> ")[2].startswith(f"({element})")


@pytest.mark.parametrize("copies, is_known", [(63, True), (64, False)])
def test_known_values_are_read_through_a_limited_number_of_ops(copies: int, is_known: bool) -> None:
    names = ["at", *(f"c{k}" for k in range(1, copies)), "end"]
    lines = [f"{name} = s32[] copy({operand})" for name, operand in pairwise(names)]
    text = NUMBERS.format("\n".join(["end = s32[] constant(7)", *reversed(lines)]))
    assert (not output_to_input(ix.hlo.parse(text), 0)[0][0].runtime_values) == is_known


SHARED = """
HloModule m
ENTRY e {
  p = s32[9] parameter(0)
  i = s32[] parameter(1)
  s = s32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}
  b = s32[2] negate(s)
  t = (s32[2], s32[2]) tuple(s, b)
  ROOT o = (s32[2], s32[2]) opt-barrier(t)
}
"""


def test_maps_of_one_relation_share_their_objects() -> None:
    module = ix.hlo.parse(SHARED)
    barrier = module.entry.instructions["o"]
    first, last = (output_to_input(barrier, k)[0][0] for k in range(2))
    assert (first.leaf, last.leaf) == (0, 1)
    assert first.map is last.map
    one, other = (input_to_output(module, 0)[k][0] for k in range(2))
    assert (one.leaf, other.leaf) == (0, 0)
    assert one is other
    assert output_to_input(module, 0)[0][0] is output_to_input(module, 1)[0][0]


def test_formulas_of_arrays_of_unknown_size_are_not_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ENTRY e { p = f32[<=8] parameter(0) n = f32[<=8] negate(p) ROOT r = (f32[<=8], f32[<=8]) tuple(n, p) }"
    module = ix.hlo.parse(text)
    assert not stated(monkeypatch, lambda: list(ix.maps(module).instructions.values()))
    assert {output_to_input(module, k)[0][0].exactness for k in range(2)} == {"unknown"}


def test_known_values_are_not_read_through_a_change_of_width() -> None:
    line = "c = s8[4] constant({1, 2, 3, 0}) at = s32[] bitcast-convert(c)"
    indexing = output_to_input(ix.hlo.parse(NUMBERS.format(line)), 0)[0][0]
    assert [v.instruction.name for v in indexing.runtime_values] == ["at"]


def test_rows_are_asked_for_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    original = computations.ModuleMaps.find_formulas

    def noted(self: computations.ModuleMaps, first: int, last: int, inverse: bool) -> list[int]:
        asked.append(first)
        return original(self, first, last, inverse)

    monkeypatch.setattr(computations.ModuleMaps, "find_formulas", noted)
    text = SLICES.replace("(p, i, j)", "(p, i, i)", 1).replace("(p, j, j)", "(p, j, i)")
    list(ix.maps(ix.hlo.parse(text)).instructions.items())
    assert asked == [0]
