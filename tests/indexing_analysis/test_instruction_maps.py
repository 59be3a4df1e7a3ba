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
    instructions = ix.maps(module, direction=direction).instructions
    assert len(instructions) == len(list(instructions)) == module.instruction_count
    for i in instructions:
        same = alone.computations[i.computation.name].instructions[i.name]
        if direction == "output_to_input":
            wanted = [ix.output_to_input(same, k) for k in range(len(same.shape.leaves))]
        else:
            wanted = [ix.input_to_output(same, k) for k in range(len(same.operands))]
        assert repr(instructions[i]) == repr(wanted), i.name


def test_called_computations_count_by_content() -> None:
    entry = ix.hlo.parse(TEXT).entry.instructions
    assert entry["c1"].signature == entry["c2"].signature != entry["c3"].signature
    instructions = ix.maps(entry["c1"].module).instructions
    assert instructions[entry["c1"]] is instructions[entry["c2"]]
    d1, d2 = (instructions[entry[n]][0][0][0] for n in ("d1", "d2"))
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
    instructions = ix.maps(ix.hlo.parse(TEXT)).instructions
    with pytest.raises(KeyError, match="no instruction of m"):
        instructions[ix.hlo.parse(TEXT).entry.root]


def test_no_numpy_for_indices_that_are_known() -> None:
    text = """ENTRY e { p = f32[8,9] parameter(0)
      i = s64[2] constant({3, 5})
      j = s64[1] slice(i), slice={[1:2]}
      k = s64[] reshape(j)
      zero = u8[] constant(250)
      ROOT d = f32[1,1] dynamic-slice(p, k, zero), dynamic_slice_sizes={1,1} }"""
    (m,) = ix.output_to_input(ix.hlo.parse(text).entry.root)[0]
    assert str(m.map.results[0]) == "5" and m.map.runtimes[0].interval == ix.Interval(0, 8)


OPERANDS = """HloModule m
keep { a = f32[] parameter(0)
  ROOT b = f32[] parameter(1) }
ENTRY e { p = f32[8,6] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  two = s32[] constant(2)
  far = s32[] constant(70)
  rows = s32[3,1] parameter(3)
  others = s32[3,1] parameter(4)
  known = s32[3,1] constant({{1},{4},{7}})
  new = f32[3,6] parameter(5)
  w1 = f32[2,2] dynamic-slice(p, i, j), dynamic_slice_sizes={2,2}
  w2 = f32[2,2] dynamic-slice(p, two, j), dynamic_slice_sizes={2,2}
  w3 = f32[2,2] dynamic-slice(p, j, two), dynamic_slice_sizes={2,2}
  w4 = f32[2,2] dynamic-slice(p, i, i), dynamic_slice_sizes={2,2}
  w5 = f32[2,2] dynamic-slice(p, far, two), dynamic_slice_sizes={2,2}
  g1 = f32[3,6] gather(p, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
  g2 = f32[3,6] gather(p, others), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
  g3 = f32[3,6] gather(p, known), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
  v1 = f32[8,6] scatter(p, rows, new), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=keep
  v2 = f32[8,6] scatter(p, known, new), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=keep
  v3 = f32[8,6] scatter(p, others, new), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=keep
  ROOT t = (f32[2,2], f32[2,2], f32[2,2], f32[2,2], f32[2,2], f32[3,6], f32[3,6], f32[3,6], f32[8,6], f32[8,6], f32[8,6]) tuple(w1, w2, w3, w4, w5, g1, g2, g3, v1, v2, v3) }
"""


@pytest.mark.parametrize("direction", ["output_to_input", "input_to_output"])
@pytest.mark.parametrize("order", [1, -1])
def test_formulas_name_the_operands_of_each_instruction_whatever_was_asked_before(direction: str, order: int) -> None:
    module = ix.hlo.parse(OPERANDS)
    instructions = ix.maps(module, direction=direction).instructions
    for i in list(module.entry.instructions.values())[::order]:
        alone = ix.hlo.parse(OPERANDS)
        asked_first = ix.maps(alone, direction=direction).instructions[alone.entry.instructions[i.name]]
        assert repr(instructions[i]) == repr(asked_first), i.name
    equal = [
        {module.entry.instructions[n].signature for n in names} for names in ("w1 w2 w3 w4 w5".split(), ["g1", "g2"])
    ]
    assert [len(s) for s in equal] == [1, 1]


def test_iterating_ends_at_the_instruction_that_has_no_maps() -> None:
    module = ix.hlo.parse(
        "HloModule m\nENTRY e { p = f32[4] parameter(0) n = f32[4] negate(p) f = f32[4] frobnicate(n) ROOT r = f32[4] negate(f) }"
    )
    items, seen = iter(ix.maps(module).instructions.items()), []
    with pytest.raises(ix.UnsupportedOp, match="f: opcode 'frobnicate'"):
        for instruction, maps in items:
            seen.append((instruction.name, [len(array) for array in maps]))
    assert seen == [("p", [0]), ("n", [1])]


def test_arrays_of_bounded_sizes_are_unknown_others_of_the_tuple_are_not() -> None:
    module = ix.hlo.parse(
        "HloModule m\nENTRY e { p = f32[<=4] parameter(0) q = f32[3] parameter(1)\n"
        "  t = (f32[<=4], f32[3]) tuple(p, q)\n  g = f32[3] get-tuple-element(t), index=1\n"
        "  ROOT h = f32[<=4] get-tuple-element(t), index=0 }"
    )
    t, g, h = (module.entry.instructions[n] for n in "tgh")
    about = "how much of f32[<=4] is in use is not known before run time"
    unknown = [("unknown", about)]
    exact = [("exact", "")]

    def said(indexing: list) -> list:
        return [[(m.exactness, m.reason) for m in maps] for maps in indexing]

    assert said(ix.output_to_input(t, 0)) == said(ix.input_to_output(t, 0)) == [unknown, []]
    assert said(ix.output_to_input(t, 1)) == said(ix.input_to_output(t, 1)) == [[], exact]
    assert said(ix.output_to_input(g)) == said(ix.input_to_output(g)) == [exact]
    assert said(ix.output_to_input(h)) == said(ix.input_to_output(h)) == [unknown]


def test_what_is_unknown_for_its_size_is_so_of_the_array_that_is_meant() -> None:
    module = ix.hlo.parse(
        "HloModule m\nENTRY e { p = f32[<=4] parameter(0) q = f32[3] parameter(1)\n"
        "  t = (f32[3], f32[<=4]) tuple(q, p)\n  g = f32[<=4] get-tuple-element(t), index=1\n"
        '  all = f32[<=4] custom-call(t), custom_call_target="f"\n'
        "  ROOT r = (f32[<=4], f32[<=4]) tuple(g, all) }"
    )
    get, call = (module.entry.instructions[n] for n in ("g", "all"))

    def arrays(indexing: list) -> list:
        return [[(m.leaf, m.exactness) for m in maps] for maps in indexing]

    assert arrays(ix.output_to_input(get)) == arrays(ix.input_to_output(get)) == [[(1, "unknown")]]
    assert arrays(ix.output_to_input(call)) == arrays(ix.input_to_output(call)) == [[(0, "unknown"), (1, "unknown")]]
    assert arrays(ix.output_to_input(module, 0)) == [[(0, "unknown")], []]
    assert arrays(ix.output_to_input(module, 1)) == [[(0, "unknown")], [(0, "unknown")]]


def test_an_empty_tuple_has_no_array_that_could_be_needed() -> None:
    module = ix.hlo.parse(
        "HloModule m\nENTRY e { p = f32[<=4] parameter(0) none = () parameter(1) q = f32[3] parameter(2)\n"
        '  ROOT r = f32[<=4] custom-call(p, none, q), custom_call_target="f" }'
    )
    assert [len(maps) for maps in ix.output_to_input(module.entry.root)] == [1, 0, 1]
    assert [len(maps) for maps in ix.output_to_input(module)] == [1, 0, 1]
