"""Calls that a user may make by mistake: what is said names the argument, and what to write instead."""

import io
from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from kernels import compiled

PROGRAM = """
fused { p = f32[64,48] parameter(0)
  ROOT t = f32[48,64] transpose(p), dimensions={1,0} }
ENTRY main { x = f32[64,48] parameter(0)
  y = f32[48,64] parameter(1)
  f = f32[48,64] fusion(x), kind=kLoop, calls=fused
  ROOT z = f32[48,64] add(f, y) }"""
MODULE = ix.hlo.parse(PROGRAM)
FUSION = MODULE.entry.instructions["f"]
MAP = ix.IndexingMap.parse("(d0) -> (d0 * 2), domain: d0 in [0, 9]")
X, Y = np.ones((64, 48), np.float32), np.ones((48, 64), np.float32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ix.predict(FUSION, device="h100").best("3"), "best: count is a str; expected an integer"),
        (lambda: ix.predict(FUSION, "h100"), "plans is a str; expected .*; a device is named by device=$"),
        (lambda: ix.knobs(FUSION).sample("3"), "sample: count is a str; expected an integer"),
        (lambda: ix.compile(MODULE, "cpu", tuned="plans.sqlite"), "compile: tuned is a str; expected a bool"),
        (lambda: ix.compile(PROGRAM.encode()), "compile: module is bytes; expected a program: ix.hlo.load"),
        (lambda: ix.analyze(io.StringIO(PROGRAM)), r"program is a StringIO; expected a program: ix.hlo.load\(path\)"),
        (
            lambda: ix.analyze(np.tanh, X),
            "tanh is a function of numpy, which JAX can't trace; expected one of jax.numpy",
        ),
        (lambda: ix.tune(FUSION, 1, device="cpu", inputs=X), "inputs is an array; expected a list of arrays"),
        (lambda: ix.report(MODULE, path=3), "report: path is an int; expected a str or a PathLike"),
        (lambda: ix.StoredPlans.from_json(None), "from_json: text is a NoneType; expected a str"),
        (lambda: ix.hlo.dumped_programs(3), "dumped_programs: folder is an int; expected a str or a PathLike"),
        (lambda: ix.hlo.Shape("f32", [4]), "Shape: sizes, layout and elements are tuples"),
        (lambda: ix.hlo.from_proto(3), "from_proto: data is an int; expected bytes"),
        (lambda: ix.maps(FUSION, 0), "maps: an Instruction takes no arguments; only a function does"),
        (lambda: ix.Device("h100"), r"whole record of a device: ix.find_device\('h100'\) is the one of a name"),
        (lambda: MAP.simplify("search"), r'expected True or False .*named: effort="search"\), not a str'),
        (lambda: MAP.evaluate(3), "expected dims, a sequence of 1, not an int"),
        (lambda: MAP.evaluate([3], np.float64(3)), "expected symbols, a sequence of 0, not a float64"),
        (lambda: MAP.is_bijection_onto(20), "expected a sequence, not an int"),
        (lambda: ix.PiecewiseMap(MAP), "expected a sequence, not an IndexingMap"),
        (lambda: ix.simplify_all(MAP), "expected an iterable, not an IndexingMap"),
        (lambda: ix.simplify_all([MAP, 3]), "item 1: expected an IndexingMap, not an int"),
        (lambda: ix.SymbolicMap(1, 0, ["d0"]), "expected a SymbolicExpr or an int, not a str"),
    ],
)
def test_types(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ix.predict(FUSION, device="h100").best(-1), "count is a number of plans, at least 0; got -1"),
        (lambda: ix.knobs(FUSION).sample(-1), "count is a number of plans, from 0 to 10,000,000; got -1"),
        (lambda: ix.knobs(FUSION).sample(10**9), "from 0 to 10,000,000; got 1,000,000,000"),
        (lambda: ix.hlo.load(""), "load: source is an empty text; expected a path"),
        (lambda: ix.evaluate(MODULE, X), r"1 array was passed; expected 2 \(x: f32\[64,48\], y: f32\[48,64\]\)$"),
        (
            lambda: ix.evaluate(MODULE, [X, Y]),
            r"expected 2 .*: of a list, pass each array by itself, as in f\(\*arrays\)",
        ),
        (
            lambda: compiled(MODULE, "reference")(X, Y, Y),
            r"3 arrays were passed; expected 2 [^:]*: f32[^:]*: f32[^:]*$",
        ),
    ],
)
def test_values(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ix.IndexingError, match=message):
        call()


def notes_of(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", ()))


@pytest.mark.parametrize(
    "call",
    [lambda: ix.analyze(jnp.tanh, X, "h100"), lambda: ix.analyze(jnp.tanh), lambda: ix.analyze(jnp.tanh, X, devise=3)],
)
def test_options_beside_the_arguments_of_a_function(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError) as refused:
        call()
    wanted = "analyze(function, *arguments) passes what follows the function to it; options of analyze are given by name: device"
    assert wanted in notes_of(refused.value)


def test_hlo_for_stablehlo() -> None:
    with pytest.raises(ix.ParseError) as refused:
        ix.hlo.from_stablehlo("HloModule m" + PROGRAM)
    assert notes_of(refused.value) == "This looks like HLO: ix.hlo.parse reads it."


def test_nothing_is_written_for_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ix.report(MODULE, path=tmp_path / "nowhere" / "page.html")
    assert list(tmp_path.iterdir()) == []
