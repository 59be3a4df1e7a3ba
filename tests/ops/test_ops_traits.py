"""What other parts of the package know of opcodes they ask of the op's traits: no opcode is named outside of ops/."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing import _core
from indexing.kernels.ir.opcodes import OPCODES as OPERATIONS
from indexing.ops.registry import REGISTRY, UNKNOWN, traits_of
from indexing.reference.differences import make_inputs

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "indexing"
# What spells an opcode of HLO without meaning one.
OTHER_MEANINGS = {
    "__init__.py": {"compare"},  # the function `ix.compare`
    "analysis/tiling/mixed_radix.py": {"constant"},
    "analysis/tiling/sizes.py": {"constant"},
    "kernels/emitters/dot/group.py": {"complex"},  # a kind of element types
    "kernels/emitters/panels/match.py": {"complex"},
    "kernels/solvers.py": {"cholesky"},  # a function of C
    "kernels/targets/c_index.py": {"parameter"},  # a kind of variable
    "model/instruction_time.py": {"complex"},
    "show/graphviz_layout.py": {"dot"},  # a program of Graphviz
    "cli/folders.py": {"log"},  # the file of a run
    "cli/stored_plans.py": {"fusion"},  # a word of a sentence
    "tuning/plan_queries.py": {"fusion"},  # a column
    "convert/isl_relations.py": {"constant"},
    "convert/polyhedral.py": {"constant"},
    "convert/symbolic.py": {"constant"},
    "reports/kernel_fusions.py": {"copy", "fusion"},  # the instructions that stand for kernels
    "reports/remedies.py": {"call", "convert"},  # of programs that are changed as a remedy says
    "kernels/emitters/scatter/copies.py": {"copy"},  # a buffer
    "kernels/emitters/tile/splits.py": {"add"},  # what joins the sums of blocks
    "show/notebook.py": {"map"},  # a column
    "tuning/calibration.py": {"copy", "exponential", "negate", "tanh", "transpose"},  # programs that are measured
    "model/loop_steps.py": {  # functions of the kernel IR
        *("atan2", "cbrt", "cosh", "erf", "log", "logistic", "rsqrt", "sinh", "sqrt", "tan", "tanh"),
        *("acos", "acosh", "asin", "asinh", "atanh", "maximum", "minimum"),
    },
    "model/index_costs.py": {"constant"},  # a kind of index expression
    "model/instruction_counts.py": {
        *(
            "atan2",
            "cbrt",
            "complex",
            "convert",
            "cosh",
            "erf",
            "imag",
            "log",
            "logistic",
            "real",
            "rsqrt",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
        ),
        *("acos", "acosh", "asin", "asinh", "atanh"),
    },
    "tuning/trials.py": {"log"},  # a scale
    "cli/instruction_maps.py": {"map"},  # a field of the answer
    "cli/map_algebra.py": {"map"},
    "explorer/answers.py": {"fusion"},  # a field of the answer
    "explorer/server.py": {"fusion"},  # a field of the question
    "cli/pictures.py": {"dot"},
    "cli/options.py": {"compare"},  # a command
    "hlo/shape.py": {"complex", "tuple"},  # a type of numpy, an element type
    "hlo/attributes.py": {"slice"},  # an attribute
    "hlo/window.py": {"pad"},  # a field of windows
    "kernels/launch.py": {"clamp"},
    "certificates/checker/forms.py": {"constant"},  # a function
    "certificates/checker/table.py": {"constant"},
    "certificates/text.py": {"constant"},
    "certificates/json_text.py": {"domain"},  # a field
    "kernels/emitters/simt/match.py": {"complex"},  # a kind of element type
    "kernels/statement_builder.py": {"parameter"},  # a kind of index variable
    "kernels/kernel_parts.py": {"constant"},  # a space of memory
    "kernels/emitters/reduction/accumulators.py": {"complex"},  # a kind of element type
}
# A module's own structure; the kernel IR has opcodes of its own, which targets spell in their languages, and nodes.
OWN_TABLES = {
    "hlo/program.py": {"constant", "fusion", "parameter"},
    "hlo/builder.py": {"constant", "get-tuple-element", "parameter", "tuple"},
    "kernels/ir/": {*OPERATIONS, "call", "constant", "copy", "parameter"},
    "kernels/passes/": {*OPERATIONS, "call", "constant", "copy", "parameter"},
    "kernels/targets/": {*OPERATIONS, "constant"},
    "kernels/verify/": {*OPERATIONS, "call", "constant", "copy", "parameter"},
}


def sources() -> Iterator[tuple[str, ast.Module]]:
    """The modules of the package, those of ops/ aside."""
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(PACKAGE).as_posix()
        if not path.startswith("ops/"):
            yield path, ast.parse(file.read_text())


def named_opcodes(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """String constants that are opcodes, or lists of them, but not an operation of the kernel IR: `op("add", ...)`."""
    calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args)
    given = (c.args[0] for c in calls if getattr(c.func, "attr", getattr(c.func, "id", "")) in ("op", "Op"))
    of_ir = {id(a) for a in given if isinstance(a, ast.Constant) and a.value in OPERATIONS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in of_ir:
            words = node.value.split()
            if node.value in REGISTRY or (len(words) > 1 and REGISTRY.keys() >= set(words)):
                yield from ((node.lineno, word) for word in words)


def test_no_opcode_is_named_outside_of_ops() -> None:
    violations, used = [], set()
    for path, tree in sources():
        own = {word for start, words in OWN_TABLES.items() if path.startswith(start) for word in words}
        for line, opcode in named_opcodes(tree):
            if opcode in own:
                continue
            used.add((path, opcode))
            if opcode not in OTHER_MEANINGS.get(path, set()):
                violations.append(f"{path}:{line}: {opcode}")
    assert violations == []
    assert {(path, word) for path, words in OTHER_MEANINGS.items() for word in words} == used


def asked_about(node: ast.AST) -> list[ast.expr]:
    """The expressions that a comparison, a `match`, a subscript, a method or a search looks into."""
    match node:
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.Match():
            return [node.subject]
        case ast.Subscript():
            return [node.slice]
        case ast.Attribute():
            return [node.value]
        case ast.Call(func=ast.Attribute(attr="get" | "match" | "fullmatch" | "search")):
            return node.args
    return []


def test_opcodes_are_shown_and_not_asked_about_outside_of_ops() -> None:
    """No `.opcode == ..`, `.opcode in ..`, `.opcode.startswith(..)`; the kernel IR's own are looked up by those who read it."""
    asks = [
        f"{path}:{asked.lineno}"
        for path, tree in sources()
        if not path.startswith((*OWN_TABLES, "model/"))
        for node in ast.walk(tree)
        for asked in asked_about(node)
        if isinstance(asked, ast.Attribute) and asked.attr == "opcode"
    ]
    assert asks == []


def test_only_heroes_and_their_planners_ask_for_one_op() -> None:
    """By its block, `traits_of(hero) is TRANSPOSE`: emitters and the planner have kernels for few ops. All others ask traits."""
    kernels = {
        "CHOLESKY",
        "CONCATENATE",
        "CONVOLUTION",
        "COPY",
        "DOT",
        "DYNAMIC_UPDATE_SLICE",
        "FFT",
        "REDUCE",
        "SCATTER",
        "SORT",
        "TOPK",
        "TRANSPOSE",
        "TRIANGULAR_SOLVE",
    }
    structure = {"GET_TUPLE_ELEMENT", "TUPLE"}
    blocks = {id(op) for op in REGISTRY.values()}
    for path, tree in sources():
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and "indexing.ops." in f"{n.module}"]
        named = {
            a.name for n in imports for a in n.names if id(getattr(import_module(f"{n.module}"), a.name, 0)) in blocks
        }
        assert not named or (
            path.startswith(("graph/", "kernels/", "planning/", "executable/")) and named <= kernels | structure
        ), path


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
        if op.kind in ("moves", "alias") or op.passes_operand or op.same_memory:
            yield opcode, ix.hlo.parse(program(opcode))


@pytest.mark.parametrize(("opcode", "module"), list(roots()), ids=lambda v: v if isinstance(v, str) else "")
def test_what_moves_gives_elements_of_its_operand_as_they_are(opcode: str, module: ix.hlo.Module) -> None:
    """One element of the operand an element, by the maps; and the same ones where the operand passes as it is."""
    instruction = next(i for i in module.entry.instructions.values() if i.opcode == opcode)
    op = traits_of(instruction)
    for output, shape in enumerate(instruction.shape.leaves):
        if shape.element_type == "token":
            continue
        maps = [m for actual in ix.output_to_input(instruction, output) for m in actual]
        assert len(maps) == 1 and maps[0].exactness == "exact"
        assert not maps[0].map.ranges and not maps[0].map.constraints
        if op.passes_operand or op.kind == "alias":
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
