"""Every opcode of HLO has a block with laws, a reference, and a case that compares them; docs/ops.md is current."""

from __future__ import annotations

import ast
import pathlib
import re

from indexing.ops.docs import ops_table
from indexing.ops.registry import MODULES, REGISTRY

ROOT = pathlib.Path(__file__).parents[2]

# The opcodes of HLO, as HloOpcode lists them.
NAMES = """
abs acos acosh add add-dependency after-all all-gather all-gather-done all-gather-start all-reduce all-reduce-done
all-reduce-start all-to-all and asin asinh async-done async-start async-update atan2 atanh batch-norm-grad
batch-norm-inference batch-norm-training bitcast bitcast-convert broadcast call cbrt ceil cholesky clamp
collective-broadcast collective-permute collective-permute-done collective-permute-start compare complex concatenate
conditional constant convert convolution copy copy-done copy-start cosine cosh count-leading-zeros custom-call divide
domain dot dynamic-reshape dynamic-slice dynamic-update-slice erf exponential exponential-minus-one fft floor fusion
gather get-dimension-size get-tuple-element imag infeed iota is-finite log log-plus-one logistic map maximum minimum
multiply negate not opt-barrier or outfeed pad parameter partition-id popcnt power ragged-all-to-all ragged-dot real
recv recv-done reduce reduce-precision reduce-scatter reduce-window remainder replica-id reshape reverse rng
rng-bit-generator rng-get-and-update-state round-nearest-afz round-nearest-even rsqrt scaled-dot scan scatter select
select-and-scatter send send-done set-dimension-size shift-left shift-right-arithmetic shift-right-logical sign sine
sinh slice sort sqrt stochastic-convert subtract tan tanh topk transpose triangular-solve tuple while xor
"""
OPCODES = frozenset(NAMES.split())


def test_every_opcode_has_a_block_and_no_block_is_made_up() -> None:
    assert sorted(OPCODES - set(REGISTRY)) == []
    assert sorted(set(REGISTRY) - OPCODES) == []


def test_each_opcode_stands_in_one_block() -> None:
    opcodes = [op.opcode for module in MODULES for op in module.OPS]
    assert sorted({o for o in opcodes if opcodes.count(o) > 1}) == []


def test_every_opcode_has_a_reference() -> None:
    assert sorted(op.opcode for op in REGISTRY.values() if op.reference is None) == []


def opcodes_in_cases(source: str) -> set[str]:
    """What the data of tests names: instructions in texts of HLO (`abs(`), and opcodes in lists of cases; no comment, no
    name of a function.
    """
    tree = ast.parse(source)
    docstrings = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    texts = [
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docstrings
    ]
    applied = {word for text in texts for word in re.findall(r"(?<![\w%.-])([a-z][a-z0-9-]*)\(", text)}
    listed = {
        e.value
        for n in ast.walk(tree)
        if isinstance(n, ast.List | ast.Tuple | ast.Set)
        for e in n.elts
        if isinstance(e, ast.Constant)
    }
    keyed = {k.value for n in ast.walk(tree) if isinstance(n, ast.Dict) for k in n.keys if isinstance(k, ast.Constant)}
    split = {word for text in texts if re.fullmatch(r"[a-z0-9 -]+", text) for word in text.split()}
    return (applied | listed | keyed | split) & OPCODES


def test_cases_are_told_from_words() -> None:
    source = 'def test_abs():\n    """negate(p)"""\n    check("ENTRY e { ROOT r = f32[] sine(p) }")  # tan(p)\n    for o in ["floor"]: pass'
    assert opcodes_in_cases(source) == {"sine", "floor"}


def test_every_opcode_has_a_case() -> None:
    """An instruction of it stands in the programs that tests of ops and of elements compare."""
    files = [
        *(f for f in ROOT.glob("tests/ops/test_*.py") if f.name != "test_ops_complete.py"),
        *ROOT.glob("tests/*/test_element*.py"),
        ROOT / "tests/indexing_analysis/test_fusion.py",
    ]
    found = set().union(*(opcodes_in_cases(f.read_text(encoding="utf-8")) for f in files))
    assert sorted(OPCODES - found) == []


def test_formulas_are_one_line() -> None:
    assert [
        op.opcode for op in REGISTRY.values() if not op.formula.strip() or "\n" in op.formula or len(op.formula) > 120
    ] == []


def test_the_table_of_ops_is_current() -> None:
    written = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
    assert written == ops_table(), "run: make docs"
