"""What other parts of the package know of opcodes they ask of the op's traits: no opcode is named outside of ops/."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing import _core
from indexing.ops.registry import REGISTRY, UNKNOWN, traits_of
from indexing.reference.differences import make_inputs

PACKAGE = Path(ix.__file__).parent
# What spells an opcode of HLO without meaning one.
OTHER_MEANINGS = {
    "analysis/memory/grids.py": {"constant"},  # a node of an index expression
    "analysis/tiling/mixed_radix.py": {"constant"},
    "analysis/tiling/sizes.py": {"constant"},
    "convert/isl_relations.py": {"constant"},
    "convert/polyhedral.py": {"constant"},
    "convert/symbolic.py": {"constant"},
    "show/notebook.py": {"map"},  # a column
    "tuning/calibration.py": {"copy", "exponential", "negate", "tanh", "transpose"},  # programs that are measured
    "tuning/loop_costs.py": {  # functions of the kernel IR
        *("atan2", "cbrt", "cosh", "erf", "log", "logistic", "rsqrt", "sinh", "sqrt", "tan", "tanh"),
    },
    "tuning/picture.py": {"log"},  # a scale
    "cli/instruction_maps.py": {"map"},  # a field of the answer
    "cli/map_algebra.py": {"map"},
    "__init__.py": {"compare"},  # a function
    "report/comparison.py": {"compare"},
    "cli/exploration.py": {"fusion"},  # a field of the answer
    "cli/exploration_server.py": {"fusion"},  # a field of the question
    "cli/pictures.py": {"dot"},
    "cli/options.py": {"compare"},  # a command
    "hlo/shape.py": {"tuple"},  # an element type
    "hlo/attributes.py": {"slice"},  # an attribute
    "hlo/window.py": {"pad"},  # a field of windows
    "emitters/launch.py": {"clamp"},
    "emitters/scope.py": {"parameter"},  # a kind of index variable
    "emitters/kernel_parts.py": {"constant"},  # a space of memory
    "emitters/heroes/reduction/accumulators.py": {"complex"},  # a kind of element type
}
# A module's own structure; the kernel IR has opcodes of its own, which targets spell in their languages.
OWN_TABLES = ("hlo/program.py", "hlo/builder.py", "emitters/ir/", "emitters/targets/")


def named_opcodes(file: Path) -> Iterator[tuple[int, str]]:
    """String constants that are opcodes, those aside that name an operation of the kernel IR: `op("add", ...)`."""
    tree = ast.parse(file.read_text())
    calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args)
    of_ir = {id(c.args[0]) for c in calls if getattr(c.func, "attr", getattr(c.func, "id", "")) in ("op", "Op")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in REGISTRY:
            if id(node) not in of_ir:
                yield node.lineno, node.value


def test_no_opcode_is_named_outside_of_ops() -> None:
    found, used = [], set()
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(PACKAGE).as_posix()
        if path.startswith(("ops/", *OWN_TABLES)):
            continue
        for line, opcode in named_opcodes(file):
            used.add((path, opcode))
            if opcode not in OTHER_MEANINGS.get(path, set()):
                found.append(f"{path}:{line}: {opcode}")
    assert found == []
    assert {(path, word) for path, words in OTHER_MEANINGS.items() for word in words} == used


CALLING_ATTRIBUTES = {"to_apply", "calls", "condition", "body", "select", "scatter"}


def test_ops_that_call_say_how() -> None:
    needs = {name: set(keys) & CALLING_ATTRIBUTES for name, _, _, keys in _core.hlo_opcodes()}
    calling = {name for name, keys in needs.items() if keys and name in REGISTRY}
    assert {name for name, op in REGISTRY.items() if op.calls} == calling | {"conditional"}  # whose attributes differ
    loops = {name for name, op in REGISTRY.items() if op.calls == "loops"}
    assert loops == {name for name, keys in needs.items() if "body" in keys}


def roots() -> Iterator[tuple[str, ix.hlo.Module]]:
    from opcode_samples import program

    for opcode, op in REGISTRY.items():
        if op.kind in ("moves", "names") or op.passes_operand or op.same_memory:
            yield opcode, ix.hlo.parse(program(opcode))


@pytest.mark.parametrize(("opcode", "module"), list(roots()), ids=lambda v: v if isinstance(v, str) else "")
def test_what_moves_gives_elements_of_its_operand_as_they_are(opcode: str, module: ix.hlo.Module) -> None:
    """One element of the operand an element, by the maps; and the same ones where the operand passes as it is."""
    instruction = next(i for i in module.entry.instructions.values() if i.opcode == opcode)
    op = traits_of(instruction)
    for output, shape in enumerate(instruction.shape.leaves):
        if shape.element_type == "token":
            continue
        maps = [m for found in ix.output_to_input(instruction, output) for m in found]
        assert len(maps) == 1 and maps[0].exactness == "exact"
        assert not maps[0].map.ranges and not maps[0].map.constraints
        if op.passes_operand or op.kind == "names":
            assert maps[0].map == ix.IndexingMap.identity(shape.dimensions)
    if op.kind == "moves":
        (given,) = make_inputs([instruction.operands[0].shape], 1)
        result = ix.reference.evaluate_instruction(instruction, [given])
        assert {bytes(x) for x in np.asarray(result).reshape(-1)} <= {bytes(x) for x in np.asarray(given).reshape(-1)}


def test_what_is_no_opcode_has_the_traits_of_what_nobody_knows() -> None:
    module = ix.hlo.parse("ENTRY e { p = f32[2] parameter(0)\n ROOT r = f32[2] frobnicate(p) }")
    assert traits_of(module.entry.root) is UNKNOWN
    assert [m.exactness for maps in UNKNOWN.output_to_input(module.entry.root, 0) for m in maps] == ["unknown"]
    with pytest.raises(ix.UnsupportedOp, match="frobnicate"):
        ix.partition(module.entry)
