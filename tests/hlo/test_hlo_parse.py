"""HLO text in all the forms that XLA and JAX print, read and printed back."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import indexing as ix

OPTIMIZED = """\
HloModule jit_step, is_scheduled=true, entry_computation_layout={(f32[4,8]{1,0}, /*index=1*/s32[])->(f32[4]{0})}, \
input_output_alias={ {0}: (0, {}, may-alias) }, num_partitions=2

FileNames
1 "a \\"quoted\\" {name}.py"
2 "b.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=2 end_column=32}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%region_0.1 (Arg_0: f32[], Arg_1: f32[]) -> f32[] {
  %Arg_0 = f32[] parameter(0)
  %Arg_1 = f32[] parameter(1)
  ROOT %add.2 = f32[] add(f32[] %Arg_0, f32[] %Arg_1), metadata={op_name="jit(f)/add[a={b}, c=\\"d\\"]" stack_frame_id=1}
} // region_0.1

%fused_computation (p.0: f32[4,8]) -> f32[4] {
  %p.0 = f32[4,8]{1,0:T(8,128)(2,1)S(5)} parameter(0)
  %zero = f32[] constant(0)
  ROOT %reduce = f32[4]{0} reduce(%p.0, %zero), dimensions={1}, to_apply=%region_0.1
}, execution_thread="main"

ENTRY %main.9 (x: f32[4,8], n: s32[]) -> (f32[4]) {
  %x = f32[4,8]{1,0} parameter(0), sharding={devices=[2,1]<=[2] last_tile_dims={replicated}}
  %n = s32[] parameter(1) // unused
  %sum = f32[4]{0} fusion(f32[4,8]{1,0} %x), kind=kInput, calls=%fused_computation, \
backend_config={"operation_queue_id":"0","wait":[],"fusion_backend_config":{"kind":"__custom","x":"a,b}"}}
  %call = f32[4]{0} custom-call(%sum), custom_call_target="my\\\\target", operand_layout_constraints={f32[4]{0}}, \
backend_config="{\\"a\\": 1}", control-predecessors={%n}, frontend_attributes={k="v, w"}
  ROOT %tuple = (f32[4]{0}) tuple(f32[4]{0} /*index=0*/%call)
}
"""


def facts(module: ix.hlo.Module) -> list[object]:
    """All that a reader can see of a module."""
    out: list[object] = [module.name, module.entry.name, dict(module.attributes)]
    for c in module.computations.values():
        out.append((c.name, c.root.name, dict(c.attributes)))
        for i in c.instructions.values():
            called = [k.name for k in i.called]
            out.append((i.name, i.opcode, i.shape, dict(i.attributes), [o.name for o in i.operands], called))
    return out


def check_round_trip(text: str) -> ix.hlo.Module:
    module = ix.hlo.parse(text)
    again = ix.hlo.parse(str(module))
    assert facts(again) == facts(module)
    assert str(again) == str(module)
    return module


def entry(*lines: str) -> ix.hlo.Computation:
    return ix.hlo.parse("ENTRY e {\n" + "\n".join(lines) + "\n}").entry


def test_a_program_after_optimization() -> None:
    module = check_round_trip(OPTIMIZED)
    assert module.name == "jit_step"
    assert module.attributes["input_output_alias"] == "{ {0}: (0, {}, may-alias) }"
    assert module.attributes["num_partitions"] == "2"
    assert list(module.computations) == ["region_0.1", "fused_computation", "main.9"]
    assert 'a \\"quoted\\" {name}.py' in str(module) and "StackFrames" in str(module)

    main = module.entry
    assert main is module.computations["main.9"] and main.is_entry
    assert [p.name for p in main.parameters] == ["x", "n"]
    assert main.instructions["x"].attributes["sharding"] == "{devices=[2,1]<=[2] last_tile_dims={replicated}}"
    fusion = main.instructions["sum"]
    assert fusion.opcode == "fusion" and fusion.called == (module.computations["fused_computation"],)
    assert fusion.computation_of("calls") is module.computations["fused_computation"]
    assert fusion.attributes["calls"] == "%fused_computation" and fusion.text("kind") == "kInput"
    assert fusion.attributes["backend_config"].endswith('"x":"a,b}"}}')
    call = main.instructions["call"]
    assert call.attributes["backend_config"] == '"{\\"a\\": 1}"'
    assert call.text("custom_call_target") == "my\\target"
    assert call.attributes["control-predecessors"] == "{%n}"

    fused = module.computations["fused_computation"]
    assert fused.attributes == {"execution_thread": '"main"'}
    tiled = fused.parameters[0].shape
    assert tiled.layout == (1, 0) and tiled.layout_text == "{1,0:T(8,128)(2,1)S(5)}"
    assert fused.root.computation_of("to_apply").root.attributes["metadata"].startswith('{op_name="jit(f)/add[a={b}')


def test_views_are_the_same_objects_whichever_way_they_are_reached() -> None:
    main = ix.hlo.parse(OPTIMIZED).entry
    x, total = main.instructions["x"], main.instructions["sum"]
    assert total.operands[0] is x and x.users[0] is total and main.parameters[0] is x
    assert main.root.operands[0] is main.instructions["call"] and main.root.is_root and not x.is_root
    assert x.computation is main and x.module.entry is main
    assert total.operands[0].shape is x.shape
    assert [i.index for i in main.instructions.values()] == [0, 1, 2, 3, 4]
    assert {x: 1}[main.instructions["x"]] == 1


def test_values_pickle_and_copy() -> None:
    module = ix.hlo.parse(OPTIMIZED)
    again = pickle.loads(pickle.dumps(module))
    assert facts(again) == facts(module)
    root, same = pickle.loads(pickle.dumps((module.entry.root, module.entry)))
    assert root is same.root and root.name == "tuple"
    shape = module.entry.parameters[0].shape
    assert pickle.loads(pickle.dumps(shape)) == shape == copy.deepcopy(shape)


def test_threads_see_the_same_views() -> None:
    lines = ["a0 = f32[] parameter(0)"] + [f"a{i} = f32[] abs(a{i - 1})" for i in range(1, 2000)]
    module = ix.hlo.parse("e {\n" + "\n".join(lines) + "\n}")
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda _: [id(i) for i in module.entry.instructions.values()], range(16)))
    assert all(ids == seen[0] for ids in seen)


def test_users_are_listed_once_in_text_order() -> None:
    c = entry("a = f32[2] parameter(0)", "b = f32[2] multiply(a, a)", "ROOT c = f32[2] add(a, b)")
    a = c.instructions["a"]
    assert [u.name for u in a.users] == ["b", "c"] and c.root.users == ()
    assert c.instructions["b"].operands == (a, a)


def test_post_order_puts_operands_first_and_keeps_all() -> None:
    c = entry(
        "a = f32[] parameter(0)",
        "b = f32[] parameter(1)",
        "c = f32[] negate(b)",
        "ROOT d = f32[] add(c, a)",
        "e = f32[] abs(d)",
    )
    assert [i.name for i in c.post_order()] == ["b", "c", "a", "d", "e"]


def test_a_text_without_entry_has_its_last_computation_as_entry() -> None:
    module = check_round_trip(
        "f { ROOT a = f32[] parameter(0) }\n%g (b: f32[]) -> f32[] { ROOT b = f32[] parameter(0) }"
    )
    assert module.entry.name == "g" and module.name == "g"
    assert check_round_trip("ENTRY f { a = f32[] parameter(0) } g { a = f32[] parameter(0) }").entry.name == "f"


def test_the_last_instruction_is_the_root_where_none_is_marked() -> None:
    assert entry("a = f32[] parameter(0)", "b = f32[] abs(a)").root.name == "b"


def test_bare_instructions_have_their_unknown_operands_as_parameters() -> None:
    module = check_round_trip('ROOT %r = f32[2]{0} add(f32[2]{0} %x, f32[2]{0} %y), metadata={op_name="n"}')
    assert [p.name for p in module.entry.parameters] == ["x", "y"]
    assert [o.name for o in module.entry.root.operands] == ["x", "y"]
    module = check_round_trip("a = s32[] parameter(0)\nb = s32[] add(a, s32[] c)\nc2 = s32[] negate(b)")
    assert [i.name for i in module.entry.instructions.values()] == ["a", "c", "b", "c2"]
    assert [p.name for p in module.entry.parameters] == ["a", "c"] and module.entry.root.name == "c2"


def test_computations_written_in_place() -> None:
    module = check_round_trip("""ENTRY e {
      x = f32[4]{0} parameter(0)
      z = f32[] constant(0)
      r = f32[] reduce(x, z), dimensions={0}, to_apply={
        a = f32[] parameter(0)
        b = f32[] parameter(1)
        f = f32[] fusion(a, b), kind=kLoop, calls={
          p = f32[] parameter(0)
          q = f32[] parameter(1)
          ROOT s = f32[] add(p, q)
        }
        ROOT t = f32[] add(f, f)
      }
      i = s32[] parameter(1)
      ROOT c = f32[] conditional(i, r, r), branch_computations={{ROOT k = f32[] parameter(0)},
        {ROOT k = f32[] parameter(0)}}
    }""")
    assert list(module.computations) == ["_", "_.1", "_.2", "_.3", "e"] and module.entry.name == "e"
    reduce = module.entry.instructions["r"]
    assert reduce.called == (module.computations["_.1"],) and reduce.attributes["to_apply"] == "%_.1"
    assert module.computations["_.1"].instructions["f"].called == (module.computations["_"],)
    assert module.entry.root.attributes["branch_computations"] == "{%_.2, %_.3}"


def test_comments_anywhere() -> None:
    module = check_round_trip("""// before
HloModule m, x=a// end of x
, y={b // inside }
}/*z*/ // and after
ENTRY /*e*/ e { // open
  p = f32[2]{0 /*minor*/ : // tiles
    T(8)} parameter(/**/0), x=a//, y=2
  ROOT /*r*/ q = (f32[2], /*index=1*/ f32[2]) tuple(p /* first */, /*index=1*/p), z=1 /* { */, w={/*}*/}
} // e
// after""")
    assert module.attributes == {"x": "a", "y": "{b // inside }\n}"}
    p, q = module.entry.instructions.values()
    assert p.shape.layout_text == "{0:T(8)}" and p.attributes == {"x": "a"}
    assert q.attributes == {"z": "1", "w": "{/*}*/}"} and q.operands == (p, p)


def test_lines_that_end_with_a_carriage_return_alone() -> None:
    text = "HloModule m // name\rENTRY e { // open\r  p = f32[2] parameter(0) // first\r  ROOT r = f32[2] abs(p)\r}"
    assert str(ix.hlo.parse(text)) == str(ix.hlo.parse(text.replace("\r", "\n")))


def test_control_predecessors_stand_before() -> None:
    head = "ENTRY e {\n  p = f32[] parameter(0)\n  q = f32[] abs(p), control-predecessors={%p}\n"
    assert check_round_trip(head + "  ROOT r = f32[] abs(p), control-predecessors={p, %q}\n}").entry.root.name == "r"
    for name in ("r", "s"):
        with pytest.raises(ix.ParseError, match=f"there is no instruction {name} before this one") as caught:
            ix.hlo.parse(head + f"  ROOT r = f32[] abs(p), control-predecessors={{%q, %{name}}}\n}}")
        assert (caught.value.line, caught.value.column) == (4, 53)


def test_operands_written_in_place() -> None:
    module = check_round_trip(
        """ENTRY e {
      x.anon = f32[10] negate(f32[10] parameter(0))
      parameter.anon = f32[10] abs(x.anon)
      ROOT r = add(f32[10]{0} multiply(x.anon, f32[10] parameter(1)),
        multiply(f32[10] abs(%x.anon), f32[10] broadcast(f32[] constant(2)))), metadata={op_name="n"}
    }"""
    )
    e = module.entry
    assert [i.name for i in e.instructions.values()] == [
        "parameter.anon.1", "x.anon", "parameter.anon", "parameter.anon.2", "multiply.anon", "abs.anon", "constant.anon",
        "broadcast.anon", "multiply.anon.1", "r",
    ]  # fmt: skip
    assert [o.name for o in e.root.operands] == ["multiply.anon", "multiply.anon.1"] and e.root.attributes
    assert [p.name for p in e.parameters] == ["parameter.anon.1", "parameter.anon.2"]
    with pytest.raises(ix.ParseError, match="r is not defined before this use"):
        ix.hlo.parse("ENTRY e { r = f32[] add(f32[] constant(1), r) }")
    with pytest.raises(ix.ParseError, match="attribute dimensions is missing"):  # there is no place for attributes
        ix.hlo.parse("ENTRY e { r = f32[2,2] abs(f32[2,2] transpose(f32[2,2] parameter(0)), dimensions={0,1}) }")
    deep = 50_000
    chain = ix.hlo.parse("ENTRY e { r = f32[] " + "abs(f32[] " * deep + "parameter(0)" + ")" * deep + " }")
    assert chain.instruction_count == deep + 1 and len(chain.entry.post_order()) == deep + 1


def test_values_with_spaces_outside_of_brackets() -> None:
    c = check_round_trip("""ENTRY e {
      a = f32[1] custom-call(), custom_call_target="x", literal=s32[2]{0} {1, 2}, api_version=API_VERSION_TYPED_FFI
      b = f32[1] custom-call(), custom_call_target="x", literal=( s32[4]{0} {4, 128, 128, 3}, pred[] true ), sharding={mesh['a'=2,'<z> w'=2], [{}]}
      n = f32[1] custom-call(), custom_call_target="x", literal=f32[] nan
      ROOT nan = f32[1] custom-call(), custom_call_target="x", literal=f32[] 0.1
    }""").entry
    assert c.instructions["a"].attributes["literal"] == "s32[2]{0} {1, 2}"
    assert c.instructions["b"].attributes["literal"] == "( s32[4]{0} {4, 128, 128, 3}, pred[] true )"
    assert c.instructions["n"].attributes["literal"] == "f32[] nan" and c.root.attributes["literal"] == "f32[] 0.1"


def test_called_computations_may_stand_below() -> None:
    module = check_round_trip("ENTRY e { ROOT r = f32[] call(), to_apply=f } f { ROOT c = f32[] constant(1) }")
    assert module.entry.root.called[0].name == "f"


def test_shapes_that_text_leaves_out_are_inferred() -> None:
    c = entry(
        "a = f32[2,3] parameter(0)",
        "b = f32[3,5] parameter(1)",
        "d = dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "t = transpose(d), dimensions={1,0}",
        "n = abs(t)",
        "g = compare(n, t), direction=LT",
        "ROOT r = tuple(g, n)",
    )
    actual = {i.name: str(i.shape) for i in c.instructions.values()}
    called = check_round_trip("""HloModule m
      flip { x = f32[2,3] parameter(0) ROOT t = transpose(x), dimensions={1,0} }
      is_less { x = f32[] parameter(0) y = f32[] parameter(1) ROOT c = compare(x, y), direction=LT }
      ENTRY e {
        p = f32[2,3] parameter(0)
        c = call(p), to_apply=flip
        f = fusion(p), kind=kLoop, calls={ q = f32[2,3] parameter(0) ROOT t = tuple(q, q) }
        m = map(p, p), dimensions={0,1}, to_apply=is_less
        d = conditional(pred[] constant(true), p, p), true_computation=flip, false_computation=flip
        ROOT r = tuple(c, f, m, d)
      }""").entry
    assert str(called.root.shape.without_layout()) == "(f32[3,2], (f32[2,3], f32[2,3]), pred[2,3], f32[3,2])"
    with pytest.raises(ix.ParseError, match="call: expected the shape in front of the opcode"):
        ix.hlo.parse("ENTRY e { ROOT r = call(), to_apply=below } below { ROOT c = f32[] constant(1) }")
    assert actual["d"] == "f32[2,5]" and actual["t"] == "f32[5,2]" and actual["r"] == "(pred[5,2], f32[5,2])"


@pytest.mark.parametrize(
    ("text", "element_type", "dimensions", "layout", "layout_text", "dynamic"),
    [
        ("f32[]", "f32", (), None, "", ()),
        ("f32[]{:T(128)S(6)}", "f32", (), (), "{:T(128)S(6)}", ()),
        ("bf16[2, 3]{1, 0}", "bf16", (2, 3), (1, 0), "{1,0}", (False, False)),
        ("bf16[2,3] {0,1}", "bf16", (2, 3), (0, 1), "{0,1}", (False, False)),
        ("s4[5,0]{0,1:T(8,128)(4,1)E(4)}", "s4", (5, 0), (0, 1), "{0,1:T(8,128)(4,1)E(4)}", (False, False)),
        ("u8[<=7,2]", "u8", (7, 2), None, "", (True, False)),
        ("f8e4m3fn[?]", "f8e4m3fn", (-1,), None, "", (True,)),
        ("c128[1]{0:D(D)#(u32)*(s32)L(64)P(f32[2]{0})M(3)}", "c128", (1,), (0,), None, (False,)),
    ],
)
def test_array_shapes(text, element_type, dimensions, layout, layout_text, dynamic) -> None:
    c = check_round_trip(f"ENTRY e {{ p = {text} parameter(0) q = {text} parameter(1) }}").entry
    p, q = (i.shape for i in c.parameters)
    assert p is q
    assert (p.element_type, p.dimensions, p.layout) == (element_type, dimensions, layout)
    assert p.dynamic_dimensions == dynamic and [p.is_dynamic(d) for d in range(p.rank)] == list(dynamic)
    if layout_text is not None:
        assert p.layout_text == layout_text


def test_tuples_tokens_and_opaque_values() -> None:
    text = "(f32[2]{0}, (s32[], ()), token[], /*index=3*/opaque[])"
    buffer = check_round_trip(
        "ENTRY e { p = b(f32[8]{0}) parameter(0) q = (b(f32[8]), s32[]) tuple(p, s32[] parameter(1)) }"
    )
    p, q = (buffer.entry.instructions[n].shape for n in "pq")
    assert p.element_type == "buffer" and str(p) == "b(f32[8]{0})" and q.elements[0] == p.without_layout()
    shape = check_round_trip(f"ENTRY e {{ p = {text} parameter(0) }}").entry.root.shape
    assert shape.is_tuple and not shape.is_array and len(shape.elements) == 4
    assert shape.elements[1].elements[1].elements == () and shape.elements[1].elements[1].is_tuple
    assert [e.element_type for e in shape.elements] == ["f32", "tuple", "token", "opaque"]
    assert str(shape) == "(f32[2]{0}, (s32[], ()), token[], opaque[])"
    assert str(shape.without_layout()) == "(f32[2], (s32[], ()), token[], opaque[])"
    with pytest.raises(ix.UnsupportedOp, match="token"):
        _ = shape.elements[2].dtype


def test_shapes_made_by_hand_equal_parsed_ones() -> None:
    parsed = entry("p = f16[2,3] parameter(0)").root.shape
    made = ix.hlo.Shape.array("f16", (2, 3))
    assert parsed == made and hash(parsed) == hash(made) and parsed.element_count == made.element_count == 6
    assert made.dtype == np.float16 and made.minor_to_major == (1, 0)
    for bad in [("f17", (2,)), ("f32", (-1,)), ("tuple", ())]:
        with pytest.raises(ix.IndexingError):
            ix.hlo.Shape.array(*bad)


def test_signatures_are_equal_for_what_is_computed_alike() -> None:
    c = entry(
        "a = f32[2]{0} parameter(0)",
        "b = f32[2]{0} parameter(1)",
        'c = f32[2]{0} add(a, b), metadata={op_name="x"}',
        'd = f32[2]{0} add(b, a), sharding={replicated}, backend_config={}, frontend_attributes={a="b"}',
        "e = f32[1]{0} slice(a), slice={[0:1]}",
        "f = f32[1]{0} slice(b), slice={[1:2]}",
        "k = f32[] constant(1)",
        "l = f32[] constant(2)",
        "m = f32[2] add(a, b)",
    ).instructions
    s = {name: i.signature for name, i in c.items()}
    assert s["c"] == s["d"]
    assert len({s[n] for n in "abcefklm"}) == 8  # parameters, slices, constants, layouts differ


def test_unknown_opcodes_and_attributes_are_kept() -> None:
    c = check_round_trip(
        'ENTRY e { a = f32[2] parameter(0), shiny={x=[1,2], y="}"}, flag=-3 ROOT b = s8[9] frobnicate(a, a) }'
    ).entry
    assert c.root.opcode == "frobnicate" and c.root.shape.dimensions == (9,)
    assert c.instructions["a"].attributes == {"shiny": '{x=[1,2], y="}"}', "flag": "-3"}


def test_names_are_free_of_the_words_of_the_grammar() -> None:
    c = check_round_trip(
        "ROOT { ROOT = f32[] parameter(0) ENTRY = f32[] abs(ROOT) ROOT tuple = f32[] abs(%ENTRY) } "
        "ENTRY ENTRY (HloModule: f32[]) -> f32[] { HloModule = f32[] parameter(0) %0 = f32[] negate(HloModule) }"
    )
    assert c.entry.name == "ENTRY" and c.entry.root.name == "0" and c.computations["ROOT"].root.name == "tuple"


def test_files(tmp_path) -> None:
    import gzip

    plain, packed = tmp_path / "a.hlo", tmp_path / "a.hlo.gz"
    plain.write_text(OPTIMIZED)
    packed.write_bytes(gzip.compress(OPTIMIZED.encode()))
    assert facts(ix.hlo.load(plain)) == facts(ix.hlo.load(str(packed))) == facts(ix.hlo.parse(OPTIMIZED))
    packed.write_bytes(packed.read_bytes()[:-20])
    plain.write_bytes(b"HloModule m\nENTRY \xff")
    for path, where in [(packed, "gzip"), (plain, "a.hlo:2:7: ")]:
        with pytest.raises(ix.ParseError, match=where):
            ix.hlo.load(path)
    with pytest.raises(FileNotFoundError):
        ix.hlo.load(tmp_path / "none")


PAIR = """
f {
  p = f32[8] parameter(0)
  a = f32[8] negate(p)
  b = (f32[8], s32[]) custom-call(p), custom_call_target="x"
  ROOT t = (f32[8], (f32[8], s32[])) tuple(a, b)
}
"""


def test_elements_of_tuples_without_an_instruction() -> None:
    """`%f#1#0` is an element of an element; equal ones are one instruction."""
    module = check_round_trip(
        PAIR
        + """ENTRY e {
      x = f32[8] parameter(0)
      %f.1 = (f32[8], (f32[8], s32[])) fusion(x), kind=kLoop, calls=f
      y = f32[8] add(%f.1#0, f32[8] %f.1#1#0)
      ROOT %r = f32[8] subtract(y, %f.1#1#0)
    }"""
    )
    r = module.entry.root
    inner = r.operands[1]
    assert inner.opcode == "get-tuple-element" and inner.integer("index") == 0
    assert inner.operands[0].opcode == "get-tuple-element" and inner.operands[0].integer("index") == 1
    assert r.operands[0].operands[1] is inner
    assert [i.opcode for i in module.entry.instructions.values()].count("get-tuple-element") == 3
    assert inner.operands[0].operands == (module.entry.instructions["f.1"],)


@pytest.mark.parametrize(
    ("operand", "message"),
    [
        ("%f.1#2", r"there is no element 2 in \(f32"),
        ("%f.1#0#0", r"there is no element 0 in f32\[8\]"),
        ("%f.1#", "expected the number of an element"),
        ("%f.1#-1", "expected the number of an element"),
        ("f32[7] %f.1#0", r"f.1 has shape f32\[8\], not f32\[7\]"),
    ],
)
def test_elements_that_are_none(operand: str, message: str) -> None:
    entry = "ENTRY e { x = f32[8] parameter(0) f.1 = (f32[8], (f32[8], s32[])) fusion(x), kind=kLoop, calls=f\n"
    with pytest.raises(ix.ParseError, match=message):
        ix.hlo.parse(f"{PAIR}{entry} ROOT r = f32[8] negate({operand}) }}")


@pytest.mark.parametrize(
    ("operation", "result", "attributes"),
    [
        ("fusion", "f32[8]", "kind=kLoop, calls=g"),
        ("slice", "f32[3]", 'slice={[0:3]}, metadata={op_name="s"}'),
        ("negate", "f32[8]", ""),
        ("call", "f32[8]", "to_apply=g"),
        ("negate", "f32[8]", "calls=g"),
    ],
)
def test_any_operation_may_run_in_the_background(operation: str, result: str, attributes: str) -> None:
    """`<op>-start` is an async-start that calls a computation of that operation."""
    called = "g { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }\n"
    shape, after = f"((f32[8]), {result}, u32[])", f", {attributes}" if attributes else ""
    module = check_round_trip(
        f"""{called}ENTRY e {{
      x = f32[8] parameter(0)
      s = {shape} {operation}-start(x){after}, control-predecessors={{x}}
      u = {shape} {operation}-update(s)
      ROOT d = {result} {operation}-done(u)
    }}"""
    )
    start = module.entry.instructions["s"]
    assert [i.opcode for i in module.entry.instructions.values()][1:] == ["async-start", "async-update", "async-done"]
    assert start.computation_of("calls").root.opcode == operation and "control-predecessors" in start.attributes
    x = np.arange(8, dtype=np.float32)
    assert np.array_equal(ix.evaluate(module, x), x[:3] if operation == "slice" else -x)


def test_a_start_without_an_end() -> None:
    start = "s = ((f32[8]), f32[8], u32[]) negate-start(x)"
    for rest, message in [
        (f"ROOT {start}", "it needs one user, async-update or async-done; found none"),
        (f"{start} ROOT d = f32[8] async-done(s) d2 = f32[8] async-done(s)", "needs one user"),
        ("ROOT d = f32[8] get-tuple-element(x), index=0", "must be a tuple"),
        ("t = (f32[8], f32[8]) tuple(x, x) ROOT d = f32[8] async-done(t)", "its operand must be what it ends"),
    ]:
        with pytest.raises(ix.ParseError, match=message):
            ix.hlo.parse(f"ENTRY e {{ x = f32[8] parameter(0) {rest} }}")


def test_a_layout_of_the_entry_that_does_not_fit() -> None:
    body = "\nENTRY e { x = f32[8] parameter(0) ROOT n = s32[8] convert(x) }"
    check_round_trip("HloModule m, entry_computation_layout={(f32[8]{0})->s32[8]{0}}" + body)
    for layout in ["(f32[8]{0})->s32[7]{0}", "(f32[8]{0})->f32[8]{0}", "(f16[8]{0})->s32[8]{0}"]:
        assert ix.hlo.parse(
            f"HloModule m, entry_computation_layout={{{layout}}}{body}"
        ).entry.root.shape.dimensions == (8,)
    for layout in [
        "()->s32[8]{0}",
        "(f32[8]{0}, f32[8]{0})->s32[8]{0}",
        "(f32[8]{1,0})->s32[8]{0}",
        "(f32[8]{0})",
    ]:
        with pytest.raises(ix.ParseError) as caught:
            ix.hlo.parse(f"HloModule m, entry_computation_layout={{{layout}}}{body}")
        assert caught.value.line == 1 and caught.value.column > 12
