"""The maps of all instructions of a module; equal instructions share them, whatever the names of what they call."""

import pytest

import indexing as ix

TEXT = """HloModule m
add.1 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
sum.of { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y) }
swapped { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(y, x) }
outer.1 { p = f32[4,6] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[4] reduce(p, z), dimensions={1}, to_apply=add.1 }
outer.2 { q = f32[4,6] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[4] reduce(q, zero), dimensions={1}, to_apply=sum.of }
other { q = f32[4,6] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[4] reduce(q, zero), dimensions={1}, to_apply=swapped }
ENTRY e { p = f32[4,6] parameter(0)
  k = s32[] parameter(1)
  c1 = f32[4] call(p), to_apply=outer.1
  c2 = f32[4] call(p), to_apply=outer.2
  c3 = f32[4] call(p), to_apply=other
  d1 = f32[1] dynamic-slice(c1, k), dynamic_slice_sizes={1}
  d2 = f32[1] dynamic-slice(c2, k), dynamic_slice_sizes={1}
  ROOT t = (f32[1], f32[1], f32[4]) tuple(d1, d2, c3) }
"""


@pytest.mark.parametrize("direction", ["output_to_input", "input_to_output"])
def test_every_instruction_has_the_maps_that_it_has_by_itself(direction: str) -> None:
    module, alone = ix.hlo.parse(TEXT), ix.hlo.parse(TEXT)
    found = ix.maps(module, direction=direction).instructions
    assert len(found) == len(list(found)) == module.instruction_count
    for i in found:
        same = alone.computations[i.computation.name].instructions[i.name]
        if direction == "output_to_input":
            wanted = [ix.output_to_input(same, k) for k in range(len(same.shape.leaves))]
        else:
            wanted = [ix.input_to_output(same, k) for k in range(len(same.operands))]
        assert repr(found[i]) == repr(wanted), i.name


def test_called_computations_count_by_content() -> None:
    entry = ix.hlo.parse(TEXT).entry.instructions
    assert entry["c1"].signature == entry["c2"].signature != entry["c3"].signature
    found = ix.maps(entry["c1"].module).instructions
    assert found[entry["c1"]] is found[entry["c2"]]
    d1, d2 = (found[entry[n]][0][0][0] for n in ("d1", "d2"))
    assert d1.map == d2.map and d1.runtime_values[0].instruction is entry["k"]


def test_called_further_down_or_written_in_place() -> None:
    text = """ENTRY e { p = f32[4] parameter(0)
      a = f32[4] call(p), to_apply=below
      b = f32[4] call(p), to_apply=below
      ROOT t = (f32[4], f32[4]) tuple(a, b) }
    below { q = f32[4] parameter(0)
      ROOT n = f32[4] reverse(q), dimensions={0} }"""
    entry = ix.hlo.parse(text).entry.instructions
    assert entry["a"].signature == entry["b"].signature
    assert str(ix.output_to_input(entry["a"])[0][0].map.results[0]) == "3 - v0"


def test_an_instruction_of_another_module_is_refused() -> None:
    found = ix.maps(ix.hlo.parse(TEXT)).instructions
    with pytest.raises(KeyError, match="no instruction of m"):
        found[ix.hlo.parse(TEXT).entry.root]


def test_no_numpy_for_indices_that_are_known() -> None:
    text = """ENTRY e { p = f32[8,9] parameter(0)
      i = s64[2] constant({3, 5})
      j = s64[1] slice(i), slice={[1:2]}
      k = s64[] reshape(j)
      zero = u8[] constant(250)
      ROOT d = f32[1,1] dynamic-slice(p, k, zero), dynamic_slice_sizes={1,1} }"""
    (m,) = ix.output_to_input(ix.hlo.parse(text).entry.root)[0]
    assert str(m.map.results[0]) == "5" and m.map.runtimes[0].interval == ix.Interval(0, 8)
    (literal,) = [i for i in ix.hlo.parse(text).entry.instructions.values() if i.name == "i"]
    assert list(literal.literal_integers or ()) == [3, 5]
