"""Questions about JAX functions: by the names of pytrees' leaves, against the function's derivatives."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing import compile as compile_program
from indexing.hlo import Place, op_name, source_place

RANDOM = np.random.default_rng(0)


def array(*shape: int) -> np.ndarray:
    return RANDOM.uniform(1, 2, shape).astype(np.float32)


def model(params, x, unused):
    hidden = x @ params["w"] + params["b"]
    return {"rows": hidden.T[::2], "loss": (hidden[:, 1:] * hidden[:, :-1]).sum()}


ARGUMENTS = ({"w": array(5, 4), "b": array(4)}, array(3, 5), array(2))


def needed(function, arguments) -> dict[tuple[str, str], np.ndarray]:
    """For each output and input, by names: whether the derivative of an element by an element is no zero."""
    by_output = jax.jacobian(function, argnums=tuple(range(len(arguments))))(*arguments)
    result = {}
    for output, of_arguments in by_output.items():
        for place, of_leaves in zip(("params", "x", "unused"), of_arguments, strict=True):
            for path, derivative in jax.tree_util.tree_flatten_with_path(of_leaves)[0]:
                result[f"result['{output}']", place + jax.tree_util.keystr(path)] = np.asarray(derivative) != 0
    return result


def named(maps, near, far) -> np.ndarray:
    """Which elements the maps between two arrays name."""
    result = np.zeros(near + far, bool)
    for m in maps:
        assert m.exactness == "exact"
        for dims, symbols in m.map.points():
            result[(*dims, *m.map.evaluate(dims, symbols))] = True
    return result


def test_maps_name_what_derivatives_show() -> None:
    maps = ix.maps(model, *ARGUMENTS)
    back = ix.maps(model, *ARGUMENTS, direction="input_to_output")
    sizes = {a.name: a.shape.dimensions for a in (*maps.inputs, *maps.outputs)}
    expected = needed(model, ARGUMENTS)
    assert set(maps) == set(expected) and len(maps) == len(expected) == 8
    for (output, leaf), wanted in expected.items():
        np.testing.assert_array_equal(named(maps[output, leaf], sizes[output], sizes[leaf]), wanted)
        turned = named(back[leaf, output], sizes[leaf], sizes[output])
        axes = (*range(len(sizes[leaf]), turned.ndim), *range(len(sizes[leaf])))
        np.testing.assert_array_equal(turned.transpose(axes), wanted)


def test_maps_as_text() -> None:
    text = str(ix.maps(lambda a, b: (a.T, b), array(2, 3), array(4)))
    assert text == (
        "result[0]: f32[3,2]\n  a  (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]\n"
        "result[1]: f32[4]\n  b  (d0) -> (d0), domain: d0 in [0, 3]"
    )
    assert str(ix.maps(lambda a: jnp.zeros(2), array(2))) == "result: f32[2]\n  nothing"
    gathered = str(ix.maps(lambda a, k: jax.lax.dynamic_slice(a, (k,), (2,)), array(4), np.int32(1)))
    assert (
        "  a  (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 2]\n     rt0: element (d0) -> () of "
        in gathered
    )
    called = 'ENTRY e { p = f32[2] parameter(0) ROOT c = f32[2] custom-call(p), custom_call_target="mine" }'
    assert "  p  UNDEFINED\n     unknown: " in str(ix.maps(ix.hlo.parse(called)))


def test_names_that_are_not_there() -> None:
    maps = ix.maps(model, *ARGUMENTS)
    with pytest.raises(KeyError, match="no array 'y'; there is params"):
        maps["result['rows']", "y"]
    with pytest.raises(KeyError, match="give two names"):
        maps["result['rows']"]
    assert list(maps.of("result['loss']")) == ["params['b']", "params['w']", "x"]
    with pytest.raises(TypeError, match="takes no arguments"):
        ix.maps(ix.from_jax(jnp.sin, array(2)), array(2))
    with pytest.raises(ix.IndexingError, match="direction is 'sideways'"):
        ix.maps(model, *ARGUMENTS, direction="sideways")


def test_maps_of_modules_and_instructions() -> None:
    module = ix.hlo.parse(
        "ENTRY e { p = f32[4] parameter(0) q = (f32[4], s32[2]) parameter(1) g = f32[4] get-tuple-element(q), index=0 "
        "a = f32[4] add(p, g) ROOT t = (f32[4], f32[4]) tuple(a, p) }"
    )
    maps = ix.maps(module)
    assert [a.name for a in maps.inputs] == ["p", "q[0]", "q[1]"] and [a.name for a in maps.outputs] == [
        "result[0]",
        "result[1]",
    ]
    assert {pair for pair in maps if maps[pair]} == {("result[0]", "p"), ("result[0]", "q[0]"), ("result[1]", "p")}
    doubled = ix.hlo.parse("ENTRY e { p = f32[4] parameter(0) ROOT a = f32[4] add(p, p) }").entry.root
    assert [a.name for a in ix.maps(doubled).inputs] == ["p", "p@1"]


QUESTIONS = {
    "output_to_input": ix.output_to_input,
    "input_to_output": ix.input_to_output,
    "maps": lambda *p: str(ix.maps(*p).of("result")).count("(d0, d1) -> (d1, d0)"),
    "utilization": lambda *p: [(u.distinct, u.reads) for u in ix.utilization(*p)],
    "propagate_tile": ix.propagate_tile,
    "propagate_tiles": ix.propagate_tiles,
    "valid_tilings": lambda *p: list(ix.valid_tilings(*p)),
    "tiling_space": lambda *p: len(ix.tiling_space(*p).dimensions),
    "coalescing": lambda *p: [a.sectors for a in ix.coalescing(*p).reads],
    "partition": lambda *p: [s.name for s in ix.partition(*p).subgraphs],
    "emit": lambda *p: ix.emit(*p).source,
    "emit_all": lambda *p: [k.source for k in ix.emit_all(*p)],
    "knobs": ix.knobs,
    "predict": lambda *p: ix.predict(*p).time.tolist(),
    "analyze": lambda *p: ix.analyze(*p).ideal_bytes,
    "access_pictures": lambda *p: [picture.title for picture in ix.show.access_pictures(*p)],
    "bank_pictures": lambda *p: len(ix.show.bank_pictures(*p)) + 1,
    "tile_picture": lambda *p: ix.show.tile_picture(*p).note,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_take_a_program_in_every_form(question: str) -> None:
    ask, x = QUESTIONS[question], array(6, 4)
    module = ix.from_jax(jnp.transpose, x)
    forms = ((module,), (module.entry,), (str(module),), (jnp.transpose, x))
    answers = [ask(*program) for program in forms]
    assert answers[0] == answers[1] == answers[2] == answers[3] != []
    for wrong in (3, (), (1, 2), (jnp.transpose, x)):
        with pytest.raises(TypeError, match="expected an? .*, or a function and its arguments"):
            ask(wrong)


def test_compile_and_tune_take_a_program_in_every_form(tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    module = ix.from_jax(jnp.transpose, x)
    for program in ((module,), (str(module),), (jnp.transpose, x)):
        executable = compile_program(*program, device="reference")
        for data in (x, x + 1):
            np.testing.assert_array_equal(executable(data), data.T)
        (trials,) = ix.tune(*program, budget=1, device="cpu", store=tmp_path / "store")
        assert trials.trials[0].plan == ix.knobs(module, "c").default


# ---- where instructions come from


def test_instructions_know_their_line() -> None:
    module = ix.from_jax(model, *ARGUMENTS)
    places = {i.opcode: source_place(i) for i in module.entry.instructions.values()}
    first = model.__code__.co_firstlineno
    assert places["dot"] == Place(__file__, first + 1, "model")
    assert str(places["slice"]) == f"{__file__}:{first + 2} (model)"
    assert places["tuple"] is None
    assert [op_name(p) for p in module.entry.parameters] == ["params['b']", "params['w']", "x", "unused"]


TABLES = """HloModule m

FileNames
1 "a \\"b\\".py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=2 end_column=25}
2 {file_name_id=9 line=7}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2}

"""
ENTRY = """ENTRY e {
  p = f32[2] parameter(0), metadata={op_name="a\\'b" stack_frame_id=1}
  q = f32[2] negate(p), metadata={stack_frame_id=2}
  r = f32[2] negate(q), metadata={stack_frame_id=3}
  s = f32[2] negate(r), metadata={op_type="x" source_file="b.py" source_line=12}
  ROOT t = f32[2] negate(s), metadata={source_file="c.py"}
}
"""


def test_places_in_both_forms_of_metadata() -> None:
    entry = ix.hlo.parse(TABLES + ENTRY).entry
    places = [source_place(i) for i in entry.instructions.values()]
    assert places == [Place('a "b".py', 7, "f"), None, None, Place("b.py", 12), Place("c.py", 0)]
    assert op_name(entry.parameters[0]) == "a'b"
    without = ix.hlo.parse("HloModule m\n" + ENTRY).entry
    assert source_place(without.parameters[0]) is None


def test_tables_are_read_in_front_of_computations_only() -> None:
    """A literal may look like a row of a table."""
    text = TABLES + 'c {\n  ROOT k = s32[2] constant({1, 2}), metadata={op_name="FileNames\\n1 x"}\n}\n' + ENTRY
    assert source_place(ix.hlo.parse(text).entry.parameters[0]) == Place('a "b".py', 7, "f")


def test_what_jax_has_lowered_or_compiled_is_a_program() -> None:
    """A question about it is one about the function: the same maps, by the same names."""
    function, arguments = (lambda x, w: {"y": jnp.tanh(x @ w)}), (array(8, 5), array(5, 4))
    lowered = jax.jit(function).lower(*arguments)
    compiled = lowered.compile()
    expected = str(ix.maps(function, *arguments))
    assert str(ix.maps(lowered)) == str(ix.maps(compiled)).replace("{1,0}", "") == expected
    assert ix.analyze(lowered).ideal_bytes == ix.analyze(function, *arguments).ideal_bytes
    assert any(f.instruction.is_fusion for f in ix.analyze(compiled).fusions)
    assert np.allclose(ix.evaluate(ix.from_jax(compiled), *arguments), function(*arguments)["y"])
    with pytest.raises(ix.IndexingError, match="compiled already"):
        ix.from_jax(compiled, *arguments)
    with pytest.raises(ix.IndexingError, match="lowered already"):
        ix.maps(lowered, *arguments)


def test_what_is_no_program_is_told_from_one() -> None:
    for question in (ix.maps, ix.analyze, ix.emit, ix.coalescing):
        with pytest.raises(TypeError, match="or a function and its arguments"):
            question([model, *ARGUMENTS])
        with pytest.raises(TypeError):
            question((1, 2))
        with pytest.raises(TypeError, match=r"is a PosixPath; expected a program: ix.hlo.load"):
            question(Path("program.hlo"))
    with pytest.raises(TypeError, match=r"before is a function; expected its program: ix.from_jax"):
        ix.compare(model, model)
    with pytest.raises(TypeError, match=r"program is a function; expected its program: ix.from_jax"):
        ix.analyze(program=model)
    with pytest.raises(ix.ParseError) as refused:
        ix.analyze("program.hlo")  # as ix.hlo.parse
    assert refused.value.__notes__ == ["This looks like a path: ix.hlo.load reads files."]
    assert str(ix.maps("ENTRY e { ROOT t = () tuple() }")) == "e has no results"
    with pytest.raises(ix.ParseError) as refused:
        ix.hlo.parse(jax.jit(model).lower(*ARGUMENTS).as_text())
    assert refused.value.__notes__ == [
        "This looks like MLIR: ix.hlo.from_stablehlo reads StableHLO, and ix.hlo.load files of it."
    ]


def test_a_function_is_evaluated_on_its_arguments() -> None:
    """The arrays of pytrees are the program's arguments."""
    x, y = np.arange(6.0, dtype=np.float32).reshape(2, 3), np.float32(2)
    values = ix.evaluate(lambda tree, k: {"sum": tree["x"].sum() * k, "t": tree["x"].T}, {"x": x}, y)
    assert float(values[0]) == 30 and (values[1] == x.T).all()
    with pytest.raises(TypeError, match="expected a Module or a str, or a function and its arguments"):
        ix.evaluate(3)


def test_the_names_that_a_shell_completes_are_the_public_ones() -> None:
    names = {name for name in dir(ix) if not name.startswith("__")}
    assert names == set(ix.__all__) and set(ix.hlo.__all__) <= set(dir(ix.hlo))
