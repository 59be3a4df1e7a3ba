"""Operations as XLA's cost analysis counts them: of a sample of each opcode, of shapes in which rules differ, of real models."""

from __future__ import annotations

import jax
import pytest
from jaxlib import _hlo, _jax

import indexing as ix
from indexing.ops.operation_totals import operations_in
from indexing.ops.registry import REGISTRY
from opcode_samples import SAMPLES, program

#: Opcodes whose operations XLA counts otherwise, as docs/analyses.md lists them.
DEVIATIONS = {
    "batch-norm-grad": "XLA counts none",
    "batch-norm-inference": "XLA counts none",
    "batch-norm-training": "XLA counts none",
    "ragged-dot": "XLA counts one contracted element",
    "scan": "XLA counts the computation once for each element of a step",
}


def counted_by_xla(text: str) -> tuple[float, float]:
    module = _hlo.hlo_module_from_text(text)
    costs = _jax.hlo_module_cost_analysis(jax.devices("cpu")[0].client, module)
    return costs.get("flops", 0.0), costs.get("transcendentals", 0.0)


def counted(text: str) -> tuple[int, int]:
    operations = operations_in(ix.hlo.parse(text).entry)
    return operations.flops, operations.transcendentals


def test_each_op_that_computes_states_its_operations() -> None:
    silent = [op.opcode for op in REGISTRY.values() if op.operations is None]
    assert all(REGISTRY[o].is_index_arithmetic or REGISTRY[o].kind == "orders" for o in silent), silent


@pytest.mark.parametrize("opcode", sorted(set(SAMPLES) - set(DEVIATIONS) - {"custom-call"}))
def test_a_sample_of_each_opcode(opcode: str) -> None:
    assert counted(program(opcode)) == counted_by_xla(program(opcode))


def test_deviations() -> None:
    """By the definition: rows times columns times contracted elements, steps times elements of a step."""
    assert counted(program("ragged-dot")) == (2 * 6 * 3 * 4, 0)
    assert counted(program("scan")) == (5 * 3, 0)
    training = counted(program("batch-norm-training"))
    # mean and variance: 2 sums of 2 elements; centered, squared, scaled, shifted; for 3 features
    assert training[0] >= 3 * (2 + 4 * 2) and training[1] == 3
    assert operations_in(ix.hlo.parse(program("custom-call")).entry).unknown == 1
    assert all(counted(program(o)) != counted_by_xla(program(o)) for o in DEVIATIONS), "XLA agrees by now"


ADD = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
exp_add { a = f32[] parameter(0) b = f32[] parameter(1) e = f32[] exponential(b) t = f32[] add(a, e) ROOT s = f32[] multiply(t, e) }
two { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  l = pred[] compare(a, b), direction=GT c = f32[] select(l, a, b) k = s32[] select(l, i, j) ROOT t = (f32[], s32[]) tuple(c, k) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }
"""
CASES = {
    "contracts two": (
        "f32[5,7,3,4] f32[4,5,3,6]",
        "f32[5,7,6] dot(p0, p1), lhs_batch_dims={0}, "
        "lhs_contracting_dims={2,3}, rhs_batch_dims={1}, rhs_contracting_dims={2,0}",
    ),
    "nothing contracted": ("f32[5] f32[7]", "f32[5,7] dot(p0, p1), lhs_contracting_dims={}, rhs_contracting_dims={}"),
    "padded and dilated": (
        "f32[2,9,6,4] f32[3,2,4,5]",
        "f32[2,9,14,5] convolution(p0, p1), "
        "window={size=3x2 stride=2x1 pad=2_3x2_2 lhs_dilate=2x2 rhs_dilate=2x1}, dim_labels=b01f_01io->b01f",
    ),
    "feature groups": (
        "f32[2,9,8] f32[3,2,12]",
        "f32[2,7,12] convolution(p0, p1), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=4",
    ),
    "batch groups": (
        "f32[8,9,2] f32[3,2,12]",
        "f32[2,7,12] convolution(p0, p1), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=4",
    ),
    "reduce all": ("f32[6,7] f32[]", "f32[] reduce(p0, p1), dimensions={0,1}, to_apply=exp_add"),
    "reduce pairs": (
        "f32[6,7] s32[6,7] f32[] s32[]",
        "(f32[6], s32[6]) reduce(p0, p1, p2, p3), dimensions={1}, to_apply=two",
    ),
    "windows in two dimensions": (
        "f32[9,9] f32[]",
        "f32[4,4] reduce-window(p0, p1), window={size=3x3 stride=2x2}, to_apply=exp_add",
    ),
    "selects in two dimensions": (
        "f32[8,8] f32[4,4] f32[]",
        "f32[8,8] select-and-scatter(p0, p1, p2), window={size=2x2 stride=2x2}, select=less, scatter=add",
    ),
    "scatter": (
        "f32[40,5] s32[7,1] f32[7,5]",
        "f32[40,5] scatter(p0, p1, p2), update_window_dims={1}, "
        "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=exp_add",
    ),
    "sort of no power of two": ("f32[5,7]", "f32[5,7] sort(p0), dimensions={1}, to_apply=less"),
    "sort of one": ("f32[1]", "f32[1] sort(p0), dimensions={0}, to_apply=less"),
    "real fft": ("f32[3,24]", "c64[3,13] fft(p0), fft_type=RFFT, fft_length={24}"),
    "inverse real fft": ("c64[3,13]", "f32[3,24] fft(p0), fft_type=IRFFT, fft_length={24}"),
    "fft in two dimensions": ("c64[3,8,32]", "c64[3,8,32] fft(p0), fft_type=FFT, fft_length={8,32}"),
    "cholesky": ("f32[2,7,7]", "f32[2,7,7] cholesky(p0), lower=true"),
    "solve from the right": (
        "f32[4,4] f32[6,4]",
        "f32[6,4] triangular-solve(p0, p1), left_side=false, lower=true, transpose_a=NO_TRANSPOSE",
    ),
    "map": ("f32[6,7] f32[6,7]", "f32[6,7] map(p0, p1), dimensions={0,1}, to_apply=exp_add"),
    "convert to the same": ("f32[6,7]", "f32[6,7] convert(p0)"),
    "wide bits": ("f32[6,7]", "u8[6,7,4] bitcast-convert(p0)"),
    "nothing": ("f32[0,7]", "f32[0,7] tanh(p0)"),
}


@pytest.mark.parametrize("case", CASES)
def test_shapes_in_which_rules_differ(case: str) -> None:
    shapes, root = CASES[case]
    lines = [f"p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes.split())]
    text = f"HloModule m\n{ADD}ENTRY e {{\n" + "\n".join(lines) + f"\nROOT r = {root}\n}}\n"
    assert counted(text) == counted_by_xla(text)


def test_a_convolution_counts_without_listing_the_elements() -> None:
    """Windows of 3 elements of an input padded by one, along 2^40 outputs: 3 * 2^40 - 2 pairs for each feature."""
    text = f"""HloModule m
    ENTRY e {{ x = f32[1,{2**40},8] parameter(0) w = f32[3,8,8] parameter(1)
      ROOT y = f32[1,{2**40},8] convolution(x, w), window={{size=3 pad=1_1}}, dim_labels=b0f_0io->b0f }}"""
    assert counted(text)[0] == 2 * (3 * 2**40 - 2) * 8 * 8


def loss(weights: list[jax.Array], x: jax.Array) -> jax.Array:
    for w in weights:
        x = jax.nn.gelu(x @ w)
    return (jax.nn.log_softmax(x) ** 2).mean()


def test_a_training_step_before_and_after_optimization() -> None:
    """Fusions, reductions, products: within a hundredth."""
    weights = [jax.ShapeDtypeStruct((64, 64), "float32")] * 3
    lowered = jax.jit(jax.value_and_grad(loss)).lower(weights, jax.ShapeDtypeStruct((32, 64), "float32"))
    for text in (lowered.as_text("hlo"), lowered.compile().as_text()):
        if "custom-call" not in text:
            assert counted(text) == pytest.approx(counted_by_xla(text), rel=0.01)


def test_a_loop_counts_once_and_of_branches_the_largest() -> None:
    text = """HloModule m
    small { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }
    large { p = f32[8] parameter(0) n = f32[8] negate(p) ROOT e = f32[8] exponential(n) }
    ENTRY e { i = s32[] parameter(0) x = f32[8] parameter(1)
      ROOT c = f32[8] conditional(i, x, x), branch_computations={small, large} }"""
    assert counted(text) == (8, 8) == counted_by_xla(text)
