"""Every opcode of HLO has a block with formulas, a reference, and a case that compares them; docs/ops.md is current."""

from __future__ import annotations

import itertools
import pathlib

import pytest

import indexing as ix
from indexing.ops.docs import ops_table
from indexing.ops.registry import MODULES, REGISTRY
from opcode_samples import ELSEWHERE, SAMPLES, program
from reached import check, own_formula, own_inverse

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
mulhi multiply negate not opt-barrier or outfeed pad parameter partition-id popcnt power ragged-all-to-all ragged-dot real
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


def test_every_opcode_has_a_case() -> None:
    """Its sample, or programs of its own in a file that is known to ask for its maps: see `conftest.py`."""
    assert sorted(SAMPLES) == sorted(OPCODES)
    assert set().union(*ELSEWHERE.values()) < OPCODES


@pytest.mark.parametrize("opcode", sorted(OPCODES - set().union(*ELSEWHERE.values())))
def test_maps_of_the_sample_name_what_the_reference_reads(opcode: str) -> None:
    root = check(program(opcode), only_bounds=range(8))  # rounding and clamping hide some changes
    assert root.opcode == opcode


@pytest.mark.parametrize("opcode", sorted(OPCODES))
def test_formulas_have_maps_for_each_operand_and_inverses_for_each_array_of_the_result(opcode: str) -> None:
    instructions = ix.hlo.parse(program(opcode)).entry.instructions.values()
    sample = next(i for i in instructions if i.opcode == opcode)
    for output, formula in itertools.product(range(len(sample.shape.leaves)), own_formula(sample)):
        assert len(formula(sample, output)) == len(sample.operands)
    for operand in range(len(sample.operands)):
        assert all(len(inverse) == len(sample.shape.leaves) for inverse in own_inverse(sample, operand))


def test_formulas_are_one_line() -> None:
    assert [
        op.opcode for op in REGISTRY.values() if not op.formula.strip() or "\n" in op.formula or len(op.formula) > 120
    ] == []


def test_the_table_of_ops_is_current() -> None:
    written = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
    assert written == ops_table(), "run: make docs"
