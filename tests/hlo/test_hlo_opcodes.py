"""The parser's table of opcodes against the registry of ops, both ways: what one needs, the other asks for."""

from __future__ import annotations

import re

import numpy as np
import pytest

import indexing as ix
from indexing import _core
from indexing.ops.registry import REGISTRY
from opcode_samples import SAMPLES, program

TABLE = {name: (least, most, needs) for name, least, most, needs in _core.hlo_opcodes()}
#: Opcodes of the text alone, which no compiler makes any more.
TEXT_ONLY = {"collective-reduce"}
CALLS = {
    "all-reduce": ["to_apply"],
    "all-reduce-start": ["to_apply"],
    "async-start": ["calls"],
    "call": ["to_apply"],
    "fusion": ["calls"],
    "map": ["to_apply"],
    "reduce": ["to_apply"],
    "reduce-scatter": ["to_apply"],
    "reduce-window": ["to_apply"],
    "scan": ["to_apply"],
    "scatter": ["to_apply"],
    "select-and-scatter": ["scatter", "select"],
    "sort": ["to_apply"],
    "while": ["body", "condition"],
}


def test_the_names_are_those_of_the_registry() -> None:
    assert sorted(set(TABLE) - TEXT_ONLY) == sorted(REGISTRY)
    assert sorted(SAMPLES) == sorted(REGISTRY)


def test_what_calls_needs_the_computation() -> None:
    keys = {key for keys in CALLS.values() for key in keys}
    found = {name: sorted(keys & set(needs)) for name, (_, _, needs) in TABLE.items()}
    assert {name: called for name, called in found.items() if called} == CALLS


def instruction(opcode: str) -> tuple[ix.hlo.Instruction, str]:
    """The sample's instruction, and the whole program as it prints."""
    module = ix.hlo.parse(program(opcode))
    return next(i for i in module.entry.instructions.values() if i.opcode == opcode), str(module)


@pytest.mark.parametrize("opcode", sorted(SAMPLES))
def test_numbers_of_operands(opcode: str) -> None:
    """The sample has as many operands as the table allows; one less than the least, one more than the most is refused."""
    found, text = instruction(opcode)
    least, most, _ = TABLE[opcode]
    count = len(found.operands)
    assert least <= count and (most is None or count <= most)
    if opcode in ("parameter", "constant"):
        return
    line = str(found)
    written = re.search(rf" {opcode}\((.*?)\)", line)
    assert written is not None
    for wrong in [least - 1] * (least > 0) + ([] if most is None else [most + 1]):
        names = ", ".join(["%p0"] * wrong)
        changed = text.replace(line, line.replace(written[0], f" {opcode}({names})"))
        with pytest.raises(ix.ParseError, match=f"{opcode} takes .* found {wrong}"):
            ix.hlo.parse(changed)


@pytest.mark.parametrize("opcode", sorted(SAMPLES))
def test_needed_attributes(opcode: str) -> None:
    """Without an attribute, the parser names it if the table needs it; else the op's maps do without it."""
    found, text = instruction(opcode)
    line, needs = str(found), TABLE[opcode][2]
    assert set(needs) <= set(found.attributes)
    for key, value in found.attributes.items():
        changed = text.replace(line, line.replace(f", {key}={value}", ""))
        assert changed != text
        if key in needs:
            with pytest.raises(ix.ParseError, match=f"attribute {key} is missing") as caught:
                ix.hlo.parse(changed)
            assert opcode in str(caught.value) and caught.value.line > 0
            continue
        try:
            module = ix.hlo.parse(changed)
        except ix.ParseError:
            continue  # the shape says that something else is meant
        ix.output_to_input(next(i for i in module.entry.instructions.values() if i.opcode == opcode))


ELEMENT_TYPES = {"pred": "bool", "s32": "int32", "u32": "uint32", "f32": "float32", "c64": "complex64"}
ELEMENTWISE = [name for name, op in REGISTRY.items() if op.is_elementwise and TABLE[name][:2] in ((1, 1), (2, 2))]


@pytest.mark.parametrize("opcode", ELEMENTWISE)
def test_element_types(opcode: str) -> None:
    """Where the table takes an element type the op computes it, or says by name that it has no meaning there."""
    count, needs = TABLE[opcode][0], TABLE[opcode][2]
    operands = ", ".join(f"p{k}" for k in range(count))
    taken = []
    for name, dtype in ELEMENT_TYPES.items():
        parameters = " ".join(f"p{k} = {name}[3] parameter({k})" for k in range(count))
        try:
            module = ix.hlo.parse(f"ENTRY e {{ {parameters} ROOT r = {name}[3] {opcode}({operands}) }}")
        except ix.ParseError as refusal:
            assert refusal.line == 1
            continue
        taken.append(name)
        arrays = [np.array([1, 0, 1], dtype)] * count
        try:
            assert np.asarray(ix.evaluate(module, *arrays)).dtype == dtype
        except ix.UnsupportedOp as refusal:
            assert f"{opcode} is not defined on {name}" in str(refusal)
    others = {"compare", "complex", "imag", "is-finite", "real", "reduce-precision", "stochastic-convert"}
    assert taken or needs or opcode in others, opcode
