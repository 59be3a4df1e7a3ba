"""Loops, calls and conditionals in a report stand for the instructions of their computations."""

import indexing as ix
from indexing.report.accesses import data_moving_instructions

PROGRAM = """
HloModule control
body { s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[64] get-tuple-element(s), index=1
  y = f32[64] exponential(x)
  ROOT t = (s32[], f32[64]) tuple(next, y) }
condition { s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT less = pred[] compare(i, n), direction=LT }
twice { p = f32[64] parameter(0)
  ROOT double = f32[64] add(p, p) }
ENTRY main {
  zero = s32[] constant(0)
  a = f32[64] parameter(0)
  first = f32[64] call(a), to_apply=twice
  second = f32[64] call(first), to_apply=twice
  start = (s32[], f32[64]) tuple(zero, second)
  ROOT loop = (s32[], f32[64]) while(start), condition=condition, body=body }
"""


def test_computations_stand_for_what_calls_them_once_each():
    module = ix.hlo.parse(PROGRAM)
    names = [i.name for i in data_moving_instructions(list(module.entry.instructions.values()))]
    assert names == ["double", "less", "next", "y"]


def test_a_loop_moves_what_its_body_moves_in_one_pass():
    module = ix.hlo.parse(PROGRAM)
    rows = ix.analyze(module.entry.root).rows
    read = {(r.instruction, r.array): r.ideal_bytes for r in rows if r.kind == "read"}
    assert read["y", "x"] == 64 * 4
    assert {name for name, _ in read} == {"less", "next", "y"}


def test_what_accumulates_outside_of_fusions_is_judged_by_the_least_that_a_kernel_moves():
    text = """ENTRY e { a = f32[64,32] parameter(0) b = f32[32,16] parameter(1)
      d = f32[64,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT t = f32[16,64] transpose(d), dimensions={1,0} }"""
    module = ix.hlo.parse(text)
    rows = ix.analyze(module).rows
    least = {r.array: (r.uses, r.ideal_bytes, r.will_move) for r in rows if r.instruction == "d"}
    assert least == {"a": (64 * 32 * 16, 8192, 8192), "b": (64 * 32 * 16, 2048, 2048), "output": (1024, 4096, 4096)}
    assert all("a tiled kernel" in r.why for r in rows if r.instruction == "d" and r.kind == "read")
    # the transpose reads along columns: it wastes most, and comes first
    assert (rows[0].instruction, rows[0].kind, rows[0].coalesced) == ("t", "read", False)
