"""Arrays that one instruction updates in memory while others read the same values: each has a kernel that writes it."""

import itertools

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.graph.nodes import Ref, needed_nodes
from indexing.planning.program import plan_program
from kernels import compiled

FOLDS = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
"""
SUM = """  s = f32[8] reduce(x, zero), dimensions={1}, to_apply=add
  sb = f32[8,12] broadcast(s), dimensions={0}
  d = f32[8,12] subtract(x, sb)
"""
VALUES = {
    "a parameter": "y = f32[8,12] bitcast(x)",
    "a negation": "y = f32[8,12] negate(x)",
    "equal elements": "y = f32[8,12] broadcast(zero), dimensions={}",
    "a cheap member of a row group": f"""{SUM}  q = f32[8,12] multiply(d, d)
  v = f32[8] reduce(q, zero), dimensions={{1}}, to_apply=add
  vb = f32[8,12] broadcast(v), dimensions={{0}}
  w = f32[8,12] divide(d, vb)
  y = f32[8,12] add(d, d)""",
    "a result of a row group": f"""{SUM}  m = f32[8] reduce(d, zero), dimensions={{1}}, to_apply=max
  mb = f32[8,12] broadcast(m), dimensions={{0}}
  y = f32[8,12] divide(d, mb)""",
}
VIEWS = {
    "a reshape": "f = f32[96] reshape(y)",
    "a copy": "c = f32[8,12] copy(y)\n  f = f32[96] reshape(c)",
    "a reverse": "c = f32[8,12] reverse(y), dimensions={1}\n  f = f32[96] reshape(c)",
    "an absolute value": "c = f32[96] reshape(y)\n  f = f32[96] abs(c)",
}
SCATTER = """scatter(f, i, u), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"""
UPDATES = {
    "a scatter": f"z = f32[96] {SCATTER}",
    "a slice": "z = f32[96] dynamic-update-slice(f, u, k)",
    "both": f"za = f32[96] {SCATTER}\n  zb = f32[96] dynamic-update-slice(f, u, k)\n  z = f32[96] multiply(za, zb)",
}
READERS = {
    "the array": "o = f32[96] cosine(f)",
    "what it is a view of": "o = f32[8,12] sine(y)",
    "the result too": "o = f32[96] multiply(z, f)",
    "rows of it": "g = f32[8,12] reshape(f)\n  o = f32[8] reduce(g, zero), dimensions={1}, to_apply=add",
}


def program(value: str, view: str, update: str, reader: str) -> str:
    kind = reader.removeprefix("g = f32[8,12] reshape(f)\n  ").split()[2]
    return f"""{FOLDS}ENTRY e {{
  x = f32[8,12] parameter(0)
  i = s32[5,1] parameter(1)
  u = f32[5] parameter(2)
  zero = f32[] constant(0)
  k = s32[] constant(3)
  {value}
  {view}
  {update}
  {reader}
  ROOT t = (f32[96], {kind}) tuple(z, o)
}}"""


@pytest.mark.parametrize("value", VALUES)
def test_each_array_that_a_kernel_reads_is_written(value: str) -> None:
    for parts in itertools.product(VIEWS.values(), UPDATES.values(), READERS.values()):
        entry = ix.hlo.parse(program(VALUES[value], *parts)).entry
        (planned,) = plan_program(entry, portable_device("c")).values()
        nodes = needed_nodes(planned.graph) & planned.kernels.keys()
        written = {ref for node in nodes for ref in planned.kernels[node].outputs} | {*map(Ref, planned.views)}
        for ref in (ref for node in nodes for ref in planned.kernels[node].inputs):
            assert ref in written or ref.node.instruction.is_parameter, (parts, str(ref.node.instruction))


@pytest.mark.parametrize(
    ("value", "view", "update", "reader"),
    [
        ("a negation", "a copy", "a scatter", "the array"),
        ("a negation", "a reshape", "a scatter", "what it is a view of"),
        ("a negation", "a reverse", "both", "the result too"),
        ("a cheap member of a row group", "a reshape", "a scatter", "the array"),
        ("a result of a row group", "an absolute value", "a scatter", "rows of it"),
        ("a parameter", "a reshape", "both", "the result too"),
    ],
)
def test_a_reader_has_the_values_from_before_the_update(value: str, view: str, update: str, reader: str) -> None:
    text = program(VALUES[value], VIEWS[view], UPDATES[update], READERS[reader])
    x = np.linspace(-1, 1, 96, dtype=np.float32).reshape(8, 12)
    arguments = x, np.array([[1], [95], [1], [-3], [96]], np.int32), np.arange(1, 6, dtype=np.float32)
    for got, want in zip(compiled(text)(*arguments), ix.evaluate(text, *arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)  # rows of x add up to almost 0
