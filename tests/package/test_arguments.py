"""What public functions say of arguments that they cannot take: a TypeError or an error of this package, always a message."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from arguments import PROGRAM, Calls

CALLS = Calls()
MODULE = ix.hlo.parse(PROGRAM)
FUSION = MODULE.entry.instructions["f"]
MAP = ix.IndexingMap.parse("(d0) -> (d0), domain: d0 in [0, 3]")


@settings(max_examples=1500, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 2**20))
def test_no_call_ends_in_another_error(seed: int, number: int) -> None:
    assert CALLS.check(seed, number) is None


def test_every_public_function_is_called() -> None:
    called = {name.split(" of ")[0] for name in CALLS.things}
    assert {
        "indexing.output_to_input",
        "indexing.compile",
        "indexing.hlo.parse",
        "indexing.convert.to_isl",
    } <= called
    assert {"IndexingMap.evaluate", "Kernel.thread_to_output", "Shape.is_dynamic", "Executable.__call__"} <= {
        name.replace("ReferenceExecutable", "Executable") for name in called
    }
    assert len(called) > 180


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ix.output_to_input(None), "output_to_input: instruction is a NoneType; expected an Instruction"),
        (
            lambda: ix.utilization((1, 2)),
            "instruction is a tuple; expected an Instruction or a Computation",
        ),
        (lambda: ix.output_to_input(FUSION, 0.0), "output_to_input: output is a float; expected an integer"),
        (lambda: ix.output_to_input(FUSION, np.arange(2)), "output is a ndarray; expected an integer"),
        (lambda: ix.grouped_indexing("f", FUSION), "instructions is a str; expected a sequence of Instruction"),
        (lambda: ix.grouped_indexing([FUSION, 3], FUSION), "instructions is a list; expected a sequence"),
        (lambda: ix.emit(MAP), "emit: fusion is an IndexingMap; expected an Instruction or a Computation"),
        (lambda: ix.compile(3), "compile: module is an int; expected a Module or a str"),
        (lambda: ix.compile(MODULE, device=3), "device is an int; expected a str or a Device"),
        (lambda: ix.Tiles(("a",)), r"Tiles: sizes\[0\] is a str; expected an integer"),
        (lambda: ix.Tiles(3), "Tiles: sizes is an int; expected a sequence of integers"),
        (lambda: ix.convert.to_isl("x"), "to_isl: m is a str; expected an IndexingMap"),
        (lambda: ix.compose_all([(MAP,)]), "pairs of maps"),
        (lambda: ix.compose_all([MAP], [MAP]), "zip\\(firsts, seconds\\)"),
        (lambda: ix.Equivalence((1,)), "a pair"),
        (lambda: ix.variable(0).evaluate([[[1], [2, 3]]]), "expected integers"),
        (lambda: ix.reference.run_computation(FUSION, []), "computation is an Instruction; expected a Computation"),
        (lambda: ix.reference.run_computation(MODULE.entry, 1), "arguments is an int; expected a tuple or a list"),
        (lambda: ix.reference.evaluate_instruction("f", []), "instruction is a str; expected an Instruction"),
        (lambda: ix.reference.apply(1.5), "apply: computation is a float; expected a Computation"),
        (
            lambda: ix.reference.evaluate_replicas(MODULE, [1]),
            "arguments is a list; expected a sequence of tuple or list",
        ),
        (lambda: ix.runtime.cubin(MAP), "cubin: kernel is an IndexingMap; expected a CompilableKernel"),
        (lambda: ix.runtime.ptx(ix.emit(FUSION), 90), "ptx: arch is an int; expected a str"),
        (lambda: ix.maps(FUSION)[0], r"the names of two arrays, maps\[name, name\]; got 0"),
        (lambda: ix.show.program_page(MODULE), "program_page: report is a Module; expected a ProgramReport"),
    ],
)
def test_types_that_do_not_fit(call, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ix.output_to_input(FUSION, 1), "f has 1 output, numbered from 0: there is no 1"),
        (lambda: ix.output_to_input(FUSION, -1), "there is no -1"),
        (lambda: ix.input_to_output(MODULE.entry.parameters[0]), "x has 0 operands"),
        (
            lambda: ix.input_to_output(ix.hlo.parse("ENTRY f { ROOT c = f32[] constant(0) }").entry.root),
            "c has 0 operands",
        ),
        (lambda: ix.input_to_output(ix.hlo.parse("ENTRY f { ROOT t = () tuple() }").entry.root), "t has 0 operands"),
        (lambda: ix.propagate_tile(FUSION, 7), "f has 1 operand,"),
        (lambda: ix.propagate_tile(FUSION, direction="up"), "expected one of 'to operand', 'to output'"),
        (lambda: ix.coalescing(FUSION, storage="bits"), "storage is 'bits'; expected one of"),
        (lambda: ix.emit(FUSION).thread_to_output(1), "1 output,"),
        (lambda: ix.emit(FUSION).thread_to_input(0, -1), "there is no -1"),
        (lambda: FUSION.shape.is_dynamic(2), "2 dimensions"),
        (lambda: MAP.to_text(style="C"), "style is 'plain' or 'xla', not \"C\""),
        (lambda: ix.simplify_all([MAP], threads=0), "threads is at least 1"),
        (lambda: ix.variable(-1), "-1 is no index"),
        (lambda: ix.SymbolicMap.identity(2**40), "from 0 to"),
        (lambda: ix.SymbolicMap(-1, 0, []), "-1 is no number"),
        (lambda: ix.reference.evaluate_instruction(FUSION, []), "f has 1 operands, not 0"),
        (lambda: ix.reference.evaluate_instruction(MODULE.entry.parameters[1], []), "i: there are 0 arguments"),
        (lambda: ix.reference.apply(MODULE.computations["add"], 1.0), "add takes 2 arguments, not 1"),
        (lambda: ix.reference.run_computation(MODULE.entry, [1.0]), "main takes 2 arguments, not 1"),
    ],
)
def test_values_that_do_not_fit(call, message: str) -> None:
    with pytest.raises(ix.IndexingError, match=message):
        call()


def test_integers_beyond_64_bits() -> None:
    for call in (lambda: ix.variable(2**64), lambda: ix.Interval(0, 1).contains(2**64), lambda: ix.Tiles((2**64,))):
        with pytest.raises(ix.IndexingError):
            call()


def test_integers_of_numpy_are_integers() -> None:
    assert ix.output_to_input(FUSION, np.int8(0)) == ix.output_to_input(FUSION, 0)
    assert ix.Tiles(np.array([2, 3])) == ix.Tiles((2, 3))
    assert type(ix.Launch(np.int64(64)).block) is int
    assert ix.variable(np.uint8(3)) == ix.variable(3)
    assert ix.SymbolicMap.identity(np.int64(2)) == ix.SymbolicMap.identity(2)


@pytest.mark.parametrize(
    "read",
    [
        ix.IndexingMap.parse,
        ix.SymbolicMap.parse,
        ix.SymbolicExpr.parse,
        ix.hlo.parse,
        lambda text: ix.parse_all(["(d0) -> (d0), domain: d0 in [0, 3]", text]),
        ix.convert.from_isl,
    ],
)
def test_half_of_a_character_is_a_parse_error(read) -> None:
    with pytest.raises(ix.ParseError):
        read("(d0)\n -> \udcff")


def test_half_of_a_character_has_a_place() -> None:
    with pytest.raises(ix.ParseError) as caught:
        ix.IndexingMap.parse("(d0)\n -> \udcff")
    assert (caught.value.line, caught.value.column) == (2, 5)
    assert str(caught.value).splitlines()[1:] == [" -> ", "    ^"]
    for name in (lambda: ix.Variable("\udcff", 3), lambda: MAP.ranges_to_dims(["\udcff"])):
        with pytest.raises(ix.ParseError):
            name()
