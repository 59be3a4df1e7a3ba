"""HLO text that is broken or too large: an error with line, column and caret, never a crash or a hang."""

import re
import threading
from collections.abc import Callable

import pytest

import indexing as ix
from indexing.errors import did_you_mean
from indexing.ops.registry import REGISTRY

PROGRAM = """\
HloModule sample, entry_computation_layout={(f32[2,3]{1,0}, s32[])->(f32[3]{0}, f32[])}, num_partitions=2

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=2 end_column=32}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(f32[] %a, f32[] %b), metadata={op_name="x/add[y=\\"z\\"]" source_line=3}
}

%fused (p: f32[2,3]) -> f32[3] {
  %p = f32[2,3]{1,0:T(2,128)S(1)} parameter(0)
  %k = f32[2,3]{1,0} constant({ { 1, -2.5e3, inf }, { nan, 0, 4 } }) /*six*/
  %m = f32[2,3]{1,0} multiply(%p, %k)
  %z = f32[] constant(0)
  ROOT %r = f32[3]{0} reduce(%m, %z), dimensions={0}, to_apply=%add
}

ENTRY %main (x: f32[2,3], n: s32[]) -> (f32[3], f32[]) {
  %x = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %n = s32[] parameter(1) // not used
  %f = f32[3]{0} fusion(%x), kind=kInput, calls=%fused, backend_config={"a":[1,"}"]}
  %s = f32[2]{0} slice(%f), slice={[0:3:2]}
  %w = f32[] constant(1)
  %q = f32[] reduce(%s, %w), dimensions={0}, to_apply={
    u = f32[] parameter(0)
    v = f32[] parameter(1)
    ROOT t = f32[] maximum(u, v)
  }
  ROOT %o = (f32[3]{0}, f32[]) tuple(%f, %q)
}
"""

TOKENS = [m.span() for m in re.finditer(r'"(?:\\.|[^"\\])*"|[\w.\-]+|\S', PROGRAM)]


def check_error(error: ix.ParseError, text: str) -> None:
    lines = text.split("\n")
    assert 1 <= error.line <= len(lines) and 1 <= error.column <= len(lines[error.line - 1]) + 1
    if not lines[error.line - 1].strip("\r"):
        assert str(error) == f"line {error.line}, column {error.column}: {error.message}"
        return
    message, source, caret = str(error).rsplit("\n", 2)
    assert message.startswith(f"line {error.line}, column {error.column}: ") and caret.strip() == "^"
    assert source.strip("\r") in lines[error.line - 1].replace("\t", " ")
    assert len(caret) - 1 <= len(source)


def accepts_or_explains(text: str) -> bool:
    try:
        module = ix.hlo.parse(text)
    except ix.ParseError as error:
        check_error(error, text)
        return False
    assert str(ix.hlo.parse(str(module))) == str(module)
    return True


def test_the_sample_is_sound() -> None:
    assert len(TOKENS) > 400 and accepts_or_explains(PROGRAM)


@pytest.mark.parametrize("how", ["deleted", "doubled", "cut", "brace", "quote", "number", "percent"])
def test_every_token_broken(how: str) -> None:
    accepted = 0
    for start, end in TOKENS:
        before, token, after = PROGRAM[:start], PROGRAM[start:end], PROGRAM[end:]
        texts = {
            "deleted": before + after,
            "doubled": before + token + " " + token + after,
            "cut": before + token[: len(token) // 2],
            "brace": before + "}" + after,
            "quote": before + '"' + after,
            "number": before + "99999999999999999999" + after,
            "percent": before + "%" + token + after,
        }
        accepted += accepts_or_explains(texts[how])
    assert accepted < len(TOKENS) // 3


def test_every_prefix_and_every_byte_replaced() -> None:
    for i in range(0, len(PROGRAM), 3):
        accepts_or_explains(PROGRAM[:i])
        for byte in "é\0\\(<":
            accepts_or_explains(PROGRAM[:i] + byte + PROGRAM[i + 1 :])


def refused(text: str, message: str, line: int | None = None) -> None:
    with pytest.raises(ix.ParseError, match=message) as caught:
        ix.hlo.parse(text)
    check_error(caught.value, text)
    if line is not None:
        assert caught.value.line == line


def entry_refused(lines: str, message: str) -> None:
    refused(f"ENTRY e {{\n{lines}\n}}", message)


def test_the_caret_stands_below_the_place() -> None:
    with pytest.raises(ix.ParseError) as caught:
        ix.hlo.parse("ENTRY e {\n  a = f32[2] parameter(0)\n  b = f32[2] add(a, öh)\n}")
    assert str(caught.value).split("\n")[1:] == ["  b = f32[2] add(a, öh)", "                    ^"]
    with pytest.raises(ix.ParseError) as caught:
        ix.hlo.parse("ENTRY e { a = f32[2] parameter(0) " + "b = f32[2] abs(a) " * 20_000 + "}")
    assert "b is defined twice in e" in str(caught.value) and len(str(caught.value)) < 400


def test_structure() -> None:
    refused("", "expected a computation, found the end of the text", 1)
    refused("HloModule m\n\n", "expected a computation", 3)
    refused("HloModule", "the module's name")
    refused("HloModule m, a=1, a=2", "attribute a is given twice")
    one = "HloModule m\nENTRY e { a = f32[] parameter(0) }\n"
    refused(one + one, "a second HloModule; a text holds one, so split it here", 3)
    assert (
        ix.hlo.parse("HloModule { a = f32[] parameter(0) }".replace("Hlo", "HloModule m Hlo")).entry.name == "HloModule"
    )
    refused("e { }", "computation e has no instruction")
    refused("e { a = f32[] parameter(0) } e { a = f32[] parameter(0) }", "computation e is defined twice")
    refused("ENTRY e { a = f32[] parameter(0) } ENTRY f { a = f32[] parameter(0) }", "a second ENTRY")
    entry_refused("ROOT a = f32[] parameter(0) ROOT b = f32[] abs(a)", "a second ROOT in e")
    entry_refused("a = f32[] parameter(1)", r"the 1 parameter of e must be numbered 0, 1, \.\.\. once each")
    entry_refused("a = f32[] parameter(0) b = f32[] parameter(0)", "must be numbered")
    entry_refused("a = f32[] parameter(-1)", "cannot be negative")
    entry_refused("a = f32[] abs(b) b = f32[] parameter(0)", "b is not defined before this use in e")
    entry_refused("a = f32[] abs(a)", "a is not defined before this use")
    entry_refused("a = f32[2] parameter(0) b = f32[] abs(f32[] a)", r"a has shape f32\[2\], not f32\[\]")
    entry_refused("a = f32[] parameter(0), x=1, x=2", "attribute x is given twice")
    entry_refused("a = f32[] parameter(0), x=[1}", r"expected '\]'")
    entry_refused("a = f32[] parameter(0), x={{1", "never closed")
    refused("ENTRY e {\na = f32[] parameter(0)\n", "expected an instruction or '}', found the end of the text", 3)
    entry_refused("a = f32[] parameter(0), x=", "expected a value")
    entry_refused('a = f32[] parameter(0), x="1', "no closing")
    entry_refused("a = f32[] parameter(0) /* b", "a comment")
    assert ix.hlo.parse("e (a: f32[2]) -> f32[] { a = f32[] parameter(0) }").entry.parameters[0].shape.dimensions == ()
    refused("e (a: f32[2) -> f32[] { a = f32[] parameter(0) }", r"expected ',' or '\]'|expected '\]'")
    refused(
        "e (a: f32[]) -> f32[2] { a = f32[] parameter(0) }", r"root of e has shape f32\[\], its head declares f32\[2\]"
    )


CUT_OFF = "if the text was cut off, copy or dump it again"


def test_a_text_that_was_cut_off_says_where_it_ends() -> None:
    """A sample cut after each byte: in its header, between computations, and inside each."""
    heads = {"%fused (": "fused", "region (": "region", "ENTRY %main (": "main"}
    text = """HloModule m, entry_computation_layout={(f32[2,3]{1,0}, f32[])->f32[2]{0}}

%fused (p: f32[2,3]) -> f32[2,3] {
  %p = f32[2,3]{1,0} parameter(0)
  ROOT %n = f32[2,3]{1,0} negate(%p), metadata={op_name="jit(f)/neg" source_line=3}
}

region (a: f32[], b: f32[]) -> f32[] {
  a = f32[] parameter(0) /* one */
  b = f32[] parameter(1)
  ROOT add = f32[] add(a, b)
}

ENTRY %main (x: f32[2,3], init: f32[]) -> f32[2] {
  %x = f32[2,3]{1,0} parameter(0)
  %init = f32[] parameter(1)
  %f = f32[2,3]{1,0} fusion(%x), kind=kLoop, calls=%fused
  ROOT %r = f32[2]{0} reduce(%f, %init), dimensions={1}, to_apply=region
}"""
    assert ix.hlo.parse(text).entry.name == "main"
    for end in range(len("HloModule m,"), len(text)):
        with pytest.raises(ix.ParseError) as caught:
            ix.hlo.parse(text[:end])
        message, begun = caught.value.message, [n for h, n in heads.items() if text.find(h) + len(h) <= end]
        is_open = text[:end].count("{\n") > text[:end].count("\n}")
        ending = f", inside computation {begun[-1]}; {CUT_OFF}" if is_open else f"; {CUT_OFF}"
        assert message.endswith(ending), text[:end]
    refused(text[: text.index("ENTRY")], f"other shapes than region; .* none is marked ENTRY; {CUT_OFF}", 1)
    refused(text[: text.index("region (")], f"has 2 parameters, fused has 1; .* none is marked ENTRY; {CUT_OFF}", 1)
    refused(
        "e { a = f32[] parameter(0", f"expected '\\)', found the end of the text, inside computation e; {CUT_OFF}", 1
    )
    refused("e { a = f32[] parameter(0), b={ ROOT", f"'{{' is never closed, inside computation e; {CUT_OFF}", 1)
    refused("a = f32[] parameter(0", f"found the end of the text; {CUT_OFF}", 1)
    with pytest.raises(ix.ParseError) as caught:
        ix.hlo.parse("e { a = f32[] parameter(0) b = f32[ }")
    assert CUT_OFF not in caught.value.message


@pytest.mark.parametrize("name", ['"a"', "a b", "naïve", "%", "a\nb", "-a", "a/b", "a'", "%%a", "a:b"])
def test_names_that_are_no_names(name: str) -> None:
    entry_refused(f"{name} = f32[] parameter(0)", "expected")
    refused(f"{name} {{ a = f32[] parameter(0) }} f {{ a = f32[] parameter(0) }}", "expected")


def test_shapes_that_are_none() -> None:
    for shape, message in [
        ("f33[2]", "an element type such as f32, found 'f33'"),
        ("tuple[2]", "an element type"),
        ("f32", "expected"),
        ("f32[-1]", "cannot be negative"),
        ("f32[2", r"']'"),
        ("f32[2,]", "a size"),
        ("f32[<2]", "'='"),
        ("f32[9223372036854775808]", "is no 64-bit integer"),
        ("f32[9223372036854775807]", "exceeds 64 bits"),
        ("s8[4294967296,4294967296]", "exceeds 64 bits"),
        ("s8[4294967296,4294967296,0]", "exceeds 64 bits"),
        ("token[2]", "token has no dimensions"),
        ("f32[2,3]{0}", "each of the 2 dimensions once"),
        ("f32[2,3]{0,0}", "twice or beyond the rank 2"),
        ("f32[2,3]{0,2}", "twice or beyond the rank 2"),
        ("f32[2,3]{1,0:T(2}", "expected"),
        ("(f32[2]", r"',' or '\)'"),
        ("(f32[2],)", "a shape"),
    ]:
        entry_refused(f"a = {shape} parameter(0)", message)
    assert (
        ix.hlo.parse("ENTRY e { a = s8[9223372036854775807] parameter(0) }").entry.root.shape.element_count == 2**63 - 1
    )


def test_calls() -> None:
    refused("e { ROOT r = f32[] call(), to_apply=f }", "there is no computation f")
    refused("e { ROOT r = f32[] call(), to_apply=e }", "computation e calls itself")
    refused(
        "a { ROOT r = f32[] call(), to_apply=b }\nb { ROOT r = f32[] call(), to_apply=c }\n"
        "c { ROOT r = f32[] call(), to_apply=a }",
        "calls itself, directly or through others",
    )
    one = "f { x = f32[] parameter(0) ROOT y = f32[2] broadcast(x), dimensions={} } "
    refused(
        one + "e { a = f32[] parameter(0) ROOT r = f32[2] fusion(a, a), calls=f }",
        "takes 1 parameter, the number of operands is 2",
    )
    refused(
        one + "e { a = f32[] parameter(0) ROOT r = f32[3] fusion(a), calls=f }",
        r"root has shape f32\[2\], not f32\[3\]",
    )
    refused(one + "e { a = f32[2] parameter(0) ROOT r = f32[2] call(a), to_apply=f }", "parameter 0 has shape")
    reduce = (
        "e { a = f32[2] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=f }"
    )
    refused(one + reduce, r"must take \(f32\[\], f32\[\]\), it takes \(f32\[\]\)")
    refused(
        one + "e { a = f32[2] parameter(0) ROOT r = f32[2] while(a), condition=f, body=f }", "parameter 0 has shape"
    )


@pytest.mark.parametrize(
    ("instruction", "key"),
    [
        ("f32[2] fusion(a), kind=kLoop, calls=g", "calls"),
        ("f32[2] call(a), to_apply=g", "to_apply"),
        ("f32[2] conditional(i, a, a), branch_computations={f, g}", "branch_computations"),
    ],
)
def test_a_computation_runs_on_the_thread_of_its_caller(instruction: str, key: str) -> None:
    """An asynchronous start changes the thread; a library call names computations without running them."""
    one = "{ x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }"
    start = f'f {one} g {one}, execution_thread="other" ENTRY e {{ a = f32[2] parameter(0) i = s32[] parameter(1) '
    refused(f"{start}ROOT r = {instruction} }}", f"{key}=g runs on thread other, its caller on main")
    ix.hlo.parse(f'{start}ROOT r = f32[2] custom-call(a), custom_call_target="t", called_computations={{g}} }}')
    ix.hlo.parse(f"{start}s = ((f32[2]), f32[2], s32[]) async-start(a), calls=g ROOT r = f32[2] async-done(s) }}")


def test_depths() -> None:
    """What nests too deep is refused, in a thread with a small stack."""
    deep = 200_000
    texts = [
        "e { a = " + "(" * deep + ")" * deep + " parameter(0) }",
        "e { a = " + "(" * deep,
        "e { a = f32[] parameter(0), x=" + "{" * deep + "}" * deep + " }",
        "e { a = f32[] parameter(0), x=" + "[" * deep,
        "e { a = f32[2] constant(" + "{" * deep + "}" * deep + ") }",
        "e { a = f32[" + ",".join(["1"] * deep) + "] constant(" + "{" * deep + "1" + "}" * deep + ") }",
        "e { " + "a = f32[] call(), to_apply={ " * deep + "z = f32[] constant(0) }" * deep + " }",
        "e { " + "a = f32[] call(), to_apply={ " * deep,
        "e0 { a = f32[] constant(0) }"
        + "".join(f" e{i + 1} {{ a = f32[] call(), to_apply=e{i} }}" for i in range(9999)),
        "/*" * deep,
        "e { a = f32[] parameter(0) "
        + "".join(f"a{i} = f32[] abs(a{i - 1 if i else ''}) " for i in range(deep // 4))
        + "}",
    ]
    outcomes: list[bool] = []
    threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: outcomes.extend(map(parses, texts)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(0)
    assert outcomes == [False, False, True, False, False, True, False, False, False, False, True]


def parses(text: str) -> bool:
    try:
        ix.hlo.parse(text)
    except ix.ParseError:
        return False
    return True


def test_what_is_not_text() -> None:
    for bad in (None, 3, b"HloModule m", ["e"]):
        with pytest.raises(ix.ParseError, match="expected HLO text as a string"):
            ix.hlo.parse(bad)
    with pytest.raises(ix.ParseError, match=r"line 2, column 5: .*surrogate"):
        ix.hlo.parse("e {\n  a \ud800")


@pytest.mark.parametrize(
    "ask", [ix.output_to_input, ix.input_to_output, lambda i: ix.evaluate(i.computation.module, 1.0)]
)
def test_an_unknown_opcode_stands_where_it_is_written(ask: Callable[[ix.hlo.Instruction], object]) -> None:
    module = ix.hlo.parse("HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  ROOT b = f32[] addd(a, a)\n}")
    with pytest.raises(ix.UnsupportedOp) as caught:
        ask(module.entry.root)
    message, line, caret = str(caught.value).split("\n")
    assert re.fullmatch(
        r"line 4, column 8: b: opcode 'addd' is not one of HLO's \d+ known opcodes; did you mean 'add'\?", message
    )
    assert (line, caret) == ("  ROOT b = f32[] addd(a, a)", "       ^")


@pytest.mark.parametrize(
    "name, meant",
    [("addd", "'add'"), ("tanspose", "'transpose'"), ("exp", "'exponential'")]
    + [("mul", "'mulhi' or 'multiply'"), ("sin", "'sine' or 'sinh'")]
    + [(name, "") for name in ("nosuch", "gte", "xy", "e", "")],
)
def test_a_hint_names_what_was_abridged_or_nearly_written(name: str, meant: str) -> None:
    assert did_you_mean(name, REGISTRY) == (f"; did you mean {meant}?" if meant else "")


def test_a_row_of_another_computation_is_refused() -> None:
    entry = ix.hlo.parse(PROGRAM).entry
    rows = range(entry.first_row, entry.first_row + len(entry.instructions))
    assert [entry.instruction_at(row).row for row in rows] == list(rows)
    for row in [-1, rows.start - 1, rows.stop, 2**64, -(2**64)]:
        with pytest.raises(
            ix.IndexingError, match=f"row {row} is not one of main, whose rows are {rows[0]} to {rows[-1]}"
        ):
            entry.instruction_at(row)


HEADS = [
    ("replica_count=2, num_partitions=3, is_scheduled=false, alias_passthrough_params=true", ""),
    ("input_output_alias={ {0}: (0, {0}, must-alias), {1, 0}: (1, {}, may-alias), {}: (2, {1}) }", ""),
    ("buffer_donor={ (0, {0}), (1, {}) }, allow_spmd_sharding_propagation_to_output={true,false}", ""),
    ("allow_spmd_sharding_propagation_to_parameters=true, input_output_alias={}, frontend_attributes={a=b}", ""),
    ("replica_count=^x", "expected an integer"),
    ("num_partitions=2^.5", "expected the end of the attribute"),
    ("is_scheduled=^yes", "expected true or false"),
    ("allow_spmd_sharding_propagation_to_output={^tru,false}", "expected true or false"),
    ("input_output_alias={ {0, ^a}: (0, {0}) }", "expected an integer"),
    ("input_output_alias={ {0}: (^zero, {0}) }", "expected a parameter's number"),
    ("input_output_alias={ {0}: (0, {0})^: {0} }", "expected '}'"),
    ("input_output_alias={ {0}: (0, {0}), ^(0, {1}) }", "expected '{'"),
    ("input_output_alias={ {0}: (0, {0}, ^never-alias) }", "expected may-alias or must-alias"),
    ("buffer_donor={ (0, {0^-}) }", "expected '}'"),
    ("buffer_donor={ (0, {0}^, may-alias) }", "expected ')'"),
]


@pytest.mark.parametrize(("attributes", "message"), HEADS)
def test_attributes_of_the_head(attributes: str, message: str) -> None:
    """`^` marks where the error points."""
    text = f"HloModule m, {attributes}\nENTRY e {{ ROOT c = f32[] constant(1) }}"
    if not message:
        assert accepts_or_explains(text)
        return
    with pytest.raises(ix.ParseError, match=re.escape(message)) as caught:
        ix.hlo.parse(text.replace("^", ""))
    assert (caught.value.line, caught.value.column) == (1, text.index("^") + 1)
