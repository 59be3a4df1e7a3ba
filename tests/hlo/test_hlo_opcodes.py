"""The parser's table of opcodes against the registry of ops, both ways: what one needs, the other asks for."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing import _core
from indexing.ops.registry import REGISTRY
from opcode_samples import SAMPLES, program

TABLE = {name: (least, most, needs) for name, least, most, needs in _core.hlo_opcodes()}
#: Opcodes of the text alone, which have no maps and no values.
TEXT_ONLY = {"collective-reduce"}
CALLS = {
    "all-reduce": ["to_apply"],
    "all-reduce-start": ["to_apply"],
    "async-start": ["calls"],
    "call": ["to_apply"],
    "collective-reduce": ["to_apply"],
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
    actual = {name: sorted(keys & set(needs)) for name, (_, _, needs) in TABLE.items()}
    assert {name: called for name, called in actual.items() if called} == CALLS


#: What spells an opcode in the Rust sources without meaning one, or is part of the text's grammar.
IN_RUST = {
    "capi/src/batch.rs": {"map"},  # kinds of values
    "capi/src/maps.rs": {"map"},
    "capi/src/points.rs": {"map"},
    "core/src/hlo_text/called.rs": {"parameter"},  # a noun that is counted in messages
    "core/src/hlo_text/parser.rs": {"parameter"},
    "core/src/hlo_text/attributes.rs": {"pad"},  # keys of attributes
    "core/src/hlo_text/infer.rs": {"complex", "scatter", "select"},  # a class of element types, keys of attributes
    "core/src/hlo_text/infer/movement.rs": {"slice"},
    "core/src/hlo_text/parser/build.rs": {"constant", "parameter"},  # whose parentheses hold no operands
    "core/src/hlo_text/parser/operands.rs": {"constant", "parameter"},
    "core/src/hlo_text/parser/instruction.rs": {"custom-call", "outfeed"},  # whose attributes write shapes
    "core/src/hlo_text/parser/starts.rs": {  # short forms of the text
        *("async-done", "async-start", "async-update", "custom-call", "fusion", "get-tuple-element", "parameter"),
    },
    "core/src/hlo_text/element.rs": {"tuple"},  # an element type
    "core/src/hlo_text/tables.rs": {"custom-call"},  # whose backend_config has a meaning
    "core/src/map/names.rs": {"domain"},  # a word of maps
    "core/src/text/read_map.rs": {"domain"},
    "py/src/expr.rs": {"constant"},  # kinds of nodes
    "py/src/maps.rs": {"map"},
    "py/src/operand_maps.rs": {"clamp", "map"},  # fields of maps
}


def test_the_core_names_opcodes_in_one_table() -> None:
    rust, actual = Path(__file__).parents[2] / "rust", {}
    for file in rust.rglob("*.rs"):
        code = re.sub(r"^\s*//.*$", "", file.read_text().split("#[cfg(test)]")[0], flags=re.MULTILINE)
        listed = " ".join(re.findall(r"words!\[([^]]*)", code)).split()
        words = {*re.findall(r'"([a-z-]+)"', code), *listed} & set(TABLE)
        if words and "tests" not in file.parts and file.name != "opcodes.rs":
            actual[file.relative_to(rust).as_posix()] = words
    assert actual == IN_RUST


def instruction(opcode: str) -> tuple[ix.hlo.Instruction, str]:
    """The sample's instruction, and the whole program as it prints."""
    module = ix.hlo.parse(program(opcode))
    return next(i for i in module.entry.instructions.values() if i.opcode == opcode), str(module)


@pytest.mark.parametrize("opcode", sorted(SAMPLES))
def test_numbers_of_operands(opcode: str) -> None:
    """The sample has as many operands as the table allows; one less than the least, one more than the most is refused."""
    actual, text = instruction(opcode)
    least, most, _ = TABLE[opcode]
    count = len(actual.operands)
    assert least <= count and (most is None or count <= most)
    if opcode in ("parameter", "constant"):
        return
    line = str(actual)
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
    actual, text = instruction(opcode)
    line, needs = str(actual), TABLE[opcode][2]
    assert set(needs) <= set(actual.attributes)
    for key, value in actual.attributes.items():
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
