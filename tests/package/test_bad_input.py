"""What no input may do: panic, hang, overflow the stack, wrap a number, leave a traceback."""

import io
import json
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterator

import pytest

import indexing as ix
from indexing.cli import main

DEEP = 100_000
LOWEST, HIGHEST = -(2**63), 2**63 - 1

PROGRAM = """HloModule every_kind, entry_computation_layout={(f32[4,6]{1,0})->(f32[6,4]{1,0}, s32[])}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(f32[] %a, f32[] %b)
}

%fused (p: f32[4,6]) -> f32[6,4] {
  %p = f32[4,6]{1,0} parameter(0)
  %c = f32[2,2]{1,0} constant({ { 1, -2.5e3 }, /*row 1*/ { nan, inf } })
  %z = f32[] constant(-inf)
  %padded = f32[4,6]{1,0} pad(%c, f32[] %z), padding=1_1x2_2
  %both = f32[4,6]{1,0} add(%p, %padded), metadata={op_name="jit(f)/add" source_file="a b.py" source_line=3}
  ROOT %t = f32[6,4]{1,0} transpose(%both), dimensions={1,0}
}

ENTRY %main (x: f32[4,6]) -> (f32[6,4], s32[]) {
  %x = f32[4,6]{1,0} parameter(0), sharding={replicated}
  %zero = f32[] constant(0)
  %r = f32[4]{0} reduce(%x, %zero), dimensions={1}, to_apply=%add
  %i = s32[] constant(2)
  %s = f32[2,6]{1,0} dynamic-slice(%x, %i, %i), dynamic_slice_sizes={2,6}
  %f = f32[6,4]{1,0} fusion(%x), kind=kLoop, calls=%fused, backend_config={"a": [1, {"b": "}"}]}
  ROOT %out = (f32[6,4]{1,0}, s32[]) tuple(%f, /*index=1*/%i)
}
"""

TOKEN = re.compile(r'"[^"]*"|/\*.*?\*/|[\w.%-]+|\S')


def broken_programs() -> Iterator[str]:
    """Each token of the program left out, written twice, and the text cut there."""
    for token in TOKEN.finditer(PROGRAM):
        before, after = PROGRAM[: token.start()], PROGRAM[token.end() :]
        yield before + after
        yield before + token[0] + " " + token[0] + after
        yield before


def test_the_program_itself_is_fine() -> None:
    assert ix.hlo.parse(PROGRAM).entry.name == "main"


def test_broken_programs_in_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = 0
    for text in broken_programs():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        start = time.process_time()
        status = main(["maps", "--all", "-"])
        assert time.process_time() - start < 5, text
        out, err = capsys.readouterr()
        assert status == (1 if err else 0), text
        if err:
            refused += 1
            assert err.startswith("indexing: "), text
            assert "Traceback" not in err, text
            assert out == "", text
    assert refused > 500


def test_a_parse_error_says_where() -> None:
    checked = 0
    for text in broken_programs():
        try:
            ix.hlo.parse(text)
        except ix.ParseError as error:
            checked += 1
            lines = str(error).splitlines()
            assert re.search(r"line \d+, column \d+", lines[0]), str(error)
            assert not error.source_line or any(line.strip() == "^" for line in lines), str(error)
        except ix.IndexingError as error:
            assert str(error)
    assert checked > 300


@pytest.mark.parametrize(
    "text",
    [
        "(d0) -> (" + "(" * DEEP + "d0" + ")" * DEEP + "), domain: d0 in [0, 9]",
        "(d0) -> (" + "-" * DEEP + "d0), domain: d0 in [0, 9]",
        "(d0) -> (" + "(" * DEEP + "d0" + " * 3 + 1) mod 7" * DEEP + "), domain: d0 in [0, 9]",
        "(d0) -> (" + "max(3, " * DEEP + "d0" + ")" * DEEP + "), domain: d0 in [0, 9]",
        "(d0) -> (" + "(" * DEEP + "d0), domain: d0 in [0, 9]",
        "(d0) -> (" + "d0 + " * DEEP + "d0), domain: d0 in [0, 9]",
        "(d0) -> (d0" + " floordiv 2" * DEEP + "), domain: d0 in [0, 9]",
    ],
    ids=["parentheses", "minus", "mod", "max", "unclosed", "sum", "floordiv"],
)
def test_deep_maps(text: str) -> None:
    try:
        m = ix.IndexingMap.parse(text)
        m.simplify()
    except ix.IndexingError as error:
        assert len(str(error)) < 2000
    else:
        assert ix.IndexingMap.parse(str(m)) == m
        assert hash(m) == hash(ix.IndexingMap.parse(text))


def test_deep_expressions_made_by_operators() -> None:
    e = ix.variable(0)
    for _ in range(DEEP):
        e = (e * 3 + 1) % 7
    value = 5
    for _ in range(DEEP):
        value = (value * 3 + 1) % 7
    assert e.evaluate([5]) == value
    assert e == e.replace({})
    assert e.used_variables() == ix.variable(0).used_variables()
    assert e.replace({ix.variable(0): ix.constant(5)}) == ix.constant(value)
    hash(e)
    str(e)
    del e


def test_deep_shapes_and_literals() -> None:
    for text in (
        "HloModule m\nENTRY e { ROOT p = " + "(" * DEEP + "f32[]" + ")" * DEEP + " parameter(0) }",
        "HloModule m\nENTRY e { ROOT p = f32[2] constant(" + "{" * DEEP + "1, 2" + "}" * DEEP + ") }",
        "HloModule m\nENTRY e { ROOT p = f32[] parameter(0), backend_config=" + "{" * DEEP + "}" * DEEP + " }",
        "HloModule m\nENTRY e { ROOT p = f32[] parameter(0), x=" + "{" * DEEP + " }",
    ):
        try:
            module = ix.hlo.parse(text)
        except ix.IndexingError as error:
            assert len(str(error)) < 2000
        else:
            assert ix.hlo.parse(str(module)).entry.root.name == "p"


def test_a_chain_of_instructions_as_long_as_a_program_gets() -> None:
    lines = ["p0 = f32[4] parameter(0)"]
    lines += [f"p{k} = f32[4] negate(p{k - 1})" for k in range(1, 20_000)]
    module = ix.hlo.parse("HloModule m\nENTRY e {\n" + "\n".join(lines[:-1]) + "\nROOT " + lines[-1] + "\n}")
    assert len(module.entry.instructions) == 20_000
    assert str(ix.output_to_input(module.entry.root)[0][0].map) == "(d0) -> (d0), domain: d0 in [0, 3]"


@pytest.mark.parametrize("operator", ["floordiv", "mod", "ceildiv"])
def test_divisors_of_zero(operator: str) -> None:
    apply: Callable[[ix.SymbolicExpr, int], ix.SymbolicExpr] = {
        "floordiv": lambda a, b: a // b,
        "mod": lambda a, b: a % b,
        "ceildiv": lambda a, b: a.ceildiv(b),
    }[operator]
    with pytest.raises(ix.IndexingError):
        apply(ix.variable(0), 0).evaluate([3])
    with pytest.raises(ix.IndexingError):
        ix.IndexingMap.parse(f"(d0) -> (d0 {operator} 0), domain: d0 in [0, 3]").simplify().evaluate([1], [])
    by_variable = ix.IndexingMap.parse(f"(d0, d1) -> (d0 {operator} d1), domain: d0 in [0, 3], d1 in [0, 3]")
    for m in (by_variable, by_variable.simplify()):
        assert [int(v) for v in m.evaluate([3, 1], [])] == [3 if operator != "mod" else 0]
        with pytest.raises(ix.IndexingError):
            m.evaluate([3, 0], [])


@pytest.mark.parametrize(
    "result",
    ["d0 + 1", "d0 - 1", "-d0", "d0 * 2", "d0 * d0", "d0 floordiv -1", "d0 mod -9223372036854775808", "d0 ceildiv 2"],
)
@pytest.mark.parametrize("bounds", [(LOWEST, HIGHEST), (LOWEST, LOWEST), (HIGHEST, HIGHEST), (LOWEST, LOWEST + 3)])
def test_bounds_at_both_ends_of_int64(result: str, bounds: tuple[int, int]) -> None:
    text = f"(d0) -> ({result}), domain: d0 in [{bounds[0]}, {bounds[1]}]"
    if "mod" in result:  # |divisor| is no int64
        with pytest.raises(ix.Overflow):
            ix.IndexingMap.parse(text)
        return
    m = ix.IndexingMap.parse(text)
    exact: dict[str, Callable[[int], int]] = {
        "d0 + 1": lambda x: x + 1,
        "d0 - 1": lambda x: x - 1,
        "-d0": lambda x: -x,
        "d0 * 2": lambda x: x * 2,
        "d0 * d0": lambda x: x * x,
        "d0 floordiv -1": lambda x: -x,
        "d0 ceildiv 2": lambda x: -(-x // 2),
    }
    for form in (lambda: m, m.simplify):
        for x in {bounds[0], bounds[1], bounds[0] + 1 if bounds[0] < bounds[1] else bounds[0]}:
            try:
                (value,) = form().evaluate([x], [])
            except ix.Overflow:
                assert not LOWEST + 1 < exact[result](x) * 2 < HIGHEST - 1, f"{result} at {x} fits"
            else:
                assert int(value) == exact[result](x)


@pytest.mark.parametrize(
    ("question", "array"),
    [
        (lambda text: ix.analyze(text, device="h100"), "y, s8[9223372036854775807]"),
        (ix.emit_all, "y, s8[9223372036854775807]"),
        (lambda text: ix.coalescing(text, device="h100"), "y, s8[9223372036854775807]"),
        (lambda text: ix.predict(text, device="h100"), "y, s8[9223372036854775807]"),
        (lambda text: ix.coalescing(ix.hlo.parse(text).entry.root, "h100", ix.Launch()), "y, s8[9223372036854775807]"),
    ],
)
def test_an_array_too_large_for_addresses_of_64_bits_is_named(question: Callable[[str], object], array: str) -> None:
    text = f"HloModule m ENTRY e {{ x = s8[{HIGHEST}] parameter(0) ROOT y = s8[{HIGHEST}] negate(x) }}"
    with pytest.raises(ix.Overflow, match=re.escape(f"its largest array is {array}: 9,223,372,036,854,775,807")) as e:
        question(text)
    assert e.value.array == array and pickle.loads(pickle.dumps(e.value)).array == array
    wide = ix.IndexingMap.parse(f"(d0) -> (d0 * 3), domain: d0 in [0, {HIGHEST}]")
    with pytest.raises(ix.Overflow) as plain:
        wide.evaluate([HIGHEST], [])
    assert plain.value.array == ""


@pytest.mark.parametrize(
    "text",
    [
        "(d0) -> (99999999999999999999), domain: d0 in [0, 3]",
        "(d0) -> (d0), domain: d0 in [0, 9223372036854775808]",
        "(d0) -> (d0), domain: d0 in [3]",
        "(d0, d0) -> (d0), domain: d0 in [0, 3], d0 in [0, 3]",
        "(d0) -> (d1), domain: d0 in [0, 3]",
        "(d0) -> (d0), domain: d0 in [0, 3] trailing",
        "(d0) -> (d0 & 3), domain: d0 in [0, 3]",
        "",
        "\0",
        "(d0) -> (dé), domain: d0 in [0, 3]",
    ],
)
def test_maps_that_are_none(text: str) -> None:
    with pytest.raises(ix.IndexingError) as caught:
        ix.IndexingMap.parse(text)
    assert str(caught.value).strip()


@pytest.mark.parametrize(
    "text",
    [
        "ENTRY e { ROOT p = f32[4294967296,4294967296] parameter(0) }",
        "ENTRY e { ROOT p = f32[99999999999999999999] parameter(0) }",
        "ENTRY e { ROOT p = f32[-1] parameter(0) }",
        "a { ROOT p = f32[] call(), to_apply=b }\nb { ROOT q = f32[] call(), to_apply=a }\n"
        "ENTRY e { ROOT r = f32[] call(), to_apply=a }",
        "a { ROOT p = f32[] call(), to_apply=a }\nENTRY e { ROOT r = f32[] call(), to_apply=a }",
        "ENTRY e { ROOT r = f32[] call(), to_apply=e }",
        "ENTRY e { ROOT r = f32[] negate(r) }",
        "ENTRY e { a = f32[] negate(b)\n b = f32[] negate(a)\n ROOT r = f32[] negate(b) }",
        "ENTRY e { p = f32[] parameter(0)\n p = f32[] parameter(1)\n ROOT r = f32[] negate(p) }",
        "ENTRY e { p = f32[] parameter(0)\n ROOT r = f32[] add(p) }",
        "ENTRY e { p = f32[2] parameter(0)\n ROOT r = f32[3] negate(p) }",
        "ENTRY e { p = f32[2,3] parameter(0)\n ROOT r = f32[3,2] transpose(p), dimensions={0,1} }",
        "ENTRY e { p = f32[2,3] parameter(0)\n ROOT r = f32[3,2] transpose(p), dimensions={1,7} }",
        "ENTRY e { p = f32[4] parameter(0)\n ROOT r = f32[2] reshape(p) }",
        "ENTRY e { p = f32[4] parameter(0)\n ROOT r = f32[2] slice(p), slice={[0:9]} }",
        "ENTRY e { ROOT p = f32[2,2]{3,1} parameter(0) }",
        "",
        "HloModule m",
        "HloModule m\nENTRY e { }",
        "\ufeff\0",
    ],
)
def test_programs_that_are_none(text: str) -> None:
    with pytest.raises(ix.IndexingError) as caught:
        ix.hlo.parse(text if text.startswith("HloModule") or not text else "HloModule m\n" + text)
    assert str(caught.value).strip()


HOSTILE = ["x*/int evil;/*", "a\nb", "größe", 'q"uote', "x;rm -rf /", "../../etc/passwd", "a\\", "\x1b[31mred"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_never_reach_source_unescaped(name: str) -> None:
    """Whatever the parser takes as a name, an identifier stands for it in source and in file names."""
    for text in (
        f'HloModule "{name}"\nENTRY main {{ ROOT p = f32[4] parameter(0) }}',
        f"HloModule m\nENTRY %{name} {{ p = f32[4] parameter(0)\n ROOT %{name} = f32[4] negate(p) }}",
        f'HloModule m\nENTRY main {{ p = f32[4] parameter(0)\n ROOT "{name}" = f32[4] negate(p) }}',
    ):
        try:
            module = ix.hlo.parse(text)
            kernel = ix.emit(module.entry)
        except ix.IndexingError:
            continue
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", kernel.name)
        assert kernel.source.isascii()
        assert name not in kernel.source


def test_names_are_escaped_on_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HOSTILE:
        text = f"HloModule m\nENTRY e {{ p = f32[4] parameter(0)\n ROOT %{name} = f32[4] negate(p) }}"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        main(["maps", "-"])
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err


def test_json_stays_json_with_any_name(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = "HloModule m\nENTRY e { größe = f32[4] parameter(0)\n ROOT r = f32[4] negate(größe) }"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    if main(["maps", "--json", "-"]) == 0:
        assert json.loads(capsys.readouterr().out)[0]["instruction"] == "r"
    else:
        assert "<stdin>:2:" in capsys.readouterr().err
