"""Ops that kernels compute as computations of simpler ones."""

import numpy as np
import pytest

import indexing as ix
from indexing.ops.registry import REGISTRY
from kernels import as_list, close, compiled, random_array

FULL = {"batch-norm-training": (0,), "batch-norm-inference": (0,), "batch-norm-grad": (0, 4)}
OPERANDS = {"batch-norm-training": 3, "batch-norm-inference": 5, "batch-norm-grad": 5}
SHAPES = [((6, 5), 1, ""), ((4, 3, 7), 0, ""), ((2, 3, 4, 5), 2, "{0,2,3,1}"), ((5,), 0, ""), ((0, 3), 1, "")]


def normalization(opcode: str, kind: str, sizes: tuple[int, ...], feature: int, layout: str) -> str:
    full, one = f"{kind}[{','.join(map(str, sizes))}]{layout}", f"{kind}[{sizes[feature]}]"
    shapes = [full if k in FULL[opcode] else one for k in range(OPERANDS[opcode])]
    result = full if opcode == "batch-norm-inference" else f"({full}, {one}, {one})"
    lines = [f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes)]
    operands = ", ".join(f"p{k}" for k in range(len(shapes)))
    lines.append(f"  ROOT r = {result} {opcode}({operands}), epsilon=0.01, feature_index={feature}")
    return "\n".join(["HloModule m", "ENTRY e {", *lines, "}"])


def positive(module: ix.hlo.Module, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.5, 2, p.shape.dimensions).astype(p.shape.dtype) for p in module.entry.parameters]


def test_each_op_with_an_expansion_has_a_case() -> None:
    assert {o for o, op in REGISTRY.items() if op.expansion} == {
        *FULL,
        "cholesky",
        "custom-call",
        "reduce",
        "reduce-window",
        "select-and-scatter",
        "topk",
        "triangular-solve",
    }


def normalized(opcode: str, values: list[np.ndarray], feature: int, epsilon: float) -> list[np.ndarray]:
    """The results of a normalization, in double precision; features first."""
    x, *rest = (np.moveaxis(v.astype(np.float64), feature, 0) if v.ndim > 1 else v.astype(np.float64) for v in values)
    rows = x.reshape(len(x), -1)
    count = rows.shape[1]
    if opcode == "batch-norm-grad":
        scale, mean, variance, grad = rest
        grads, factor = grad.reshape(rows.shape), 1 / np.sqrt(variance + epsilon)
        own = (rows - mean[:, None]) * factor[:, None]
        to_scale, to_offset = (grads * own).sum(1), grads.sum(1)
        mixed = grads - (to_offset[:, None] + own * to_scale[:, None]) / count
        results = [(scale * factor)[:, None] * mixed, to_scale, to_offset]
    else:
        scale, offset = rest[:2]
        mean, variance = rest[2:] or (rows.mean(1), rows.var(1))
        factor = (scale / np.sqrt(variance + epsilon))[:, None]
        out = (rows - mean[:, None]) * factor + offset[:, None]
        results = [out] if opcode == "batch-norm-inference" else [out, mean, variance]
    return [np.moveaxis(results[0].reshape(x.shape), 0, feature), *results[1:]]


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom", "ignore:invalid value")
@pytest.mark.parametrize(("kind", "tolerance"), [("f64", 1e-12), ("f32", 1e-5), ("bf16", 2e-2)])
@pytest.mark.parametrize(("sizes", "feature", "layout"), SHAPES)
@pytest.mark.parametrize("opcode", FULL)
def test_an_expansion_normalizes(opcode, sizes, feature, layout, kind, tolerance) -> None:
    module = ix.hlo.parse(normalization(opcode, kind, sizes, feature, layout))
    instruction, values = module.entry.root, positive(module, 3)
    expansion = REGISTRY[opcode].expansion(instruction)
    assert expansion.root.shape.without_layout() == instruction.shape.without_layout()
    for mine, its in zip(expansion.root.shape.leaves, instruction.shape.leaves, strict=True):
        assert mine.minor_to_major == its.minor_to_major
    with np.errstate(all="ignore"):
        actual, expected = ix.evaluate(module, *values), normalized(opcode, values, feature, 0.01)
    for one, other in zip(as_list(actual), expected, strict=True):
        close(one, other.astype(one.dtype), tolerance)


@pytest.mark.parametrize("opcode", FULL)
def test_normalization_runs_in_kernels(opcode: str) -> None:
    module = ix.hlo.parse(normalization(opcode, "f32", (4, 6, 5), 1, "{1,2,0}"))
    executable = compiled(module)
    assert executable.kernels and not executable.reference_steps
    for seed in range(3):
        values = positive(module, seed)
        for one, other in zip(as_list(executable(*values)), as_list(ix.evaluate(module, *values)), strict=True):
            close(one, other)


def selection(
    sizes: str, window: str, out: str, select: str = "GE", scatter: str = "add", layout: str = ""
) -> ix.hlo.Module:
    return ix.hlo.parse(f"""HloModule m
best {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = pred[] compare(a, b), direction={select} }}
into {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] {scatter}(a, b) }}
ENTRY e {{
  x = s32[{sizes}]{layout} parameter(0)
  s = s32[{out}]{layout} parameter(1)
  i = s32[] parameter(2)
  ROOT r = s32[{sizes}]{layout} select-and-scatter(x, s, i), window={{{window}}}, select=best, scatter=into
}}""")


@pytest.mark.parametrize(
    "module",
    [
        selection("6", "size=2 stride=2", "3"),
        selection("7", "size=3", "5", "LE"),
        selection("7,6", "size=3x2 stride=2x1 pad=1_1x1_0", "4,6", layout="{0,1}"),
        selection("5,9", "size=1x2 stride=1x4 pad=0_0x1_1", "5,3", scatter="maximum"),
        selection("2,5,4", "size=1x4x3 stride=1x3x2 pad=0_0x3_2x1_1", "2,3,2", "GT"),
        selection("3,4", "size=2x2 stride=2x2 pad=2_0x0_0", "2,2"),
        selection("1", "size=1", "1"),
        selection("", "", ""),
    ],
    ids=lambda module: module.entry.root.shape.dimensions,
)
def test_selected_elements_are_found_in_kernels(module: ix.hlo.Module) -> None:
    """Of equal elements the first of each window is taken, as the reference says; a window in the padding has none."""
    executable = compiled(module)
    assert executable.kernels and not executable.reference_steps
    rng = np.random.default_rng(11)
    for _ in range(4):
        values = [rng.integers(-2, 3, p.shape.dimensions, np.int32) for p in module.entry.parameters]
        np.testing.assert_array_equal(executable(*values), ix.evaluate(module, *values))


def test_an_element_in_too_many_windows_is_left_to_the_reference() -> None:
    assert compiled(selection("9,20", "size=9x8", "1,13")).reference_steps


def top(kind: str, sizes: tuple[int, ...], k: int, largest: str = "true") -> ix.hlo.Module:
    rows, result = ",".join(map(str, sizes)), ",".join(map(str, (*sizes[:-1], k)))
    return ix.hlo.parse(f"""HloModule m
ENTRY e {{
  x = {kind}[{rows}] parameter(0)
  ROOT t = ({kind}[{result}], s32[{result}]) topk(x), k={k}, largest={largest}
}}""")


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, -1.0, 1e-40, 5.0]


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("kind", "f64 f32 bf16 f16 s64 s32 s16 s8 u64 u32 u16 u8".split())
def test_top_elements_are_found_in_kernels(kind: str, largest: str) -> None:
    """All bits of elements are equal: the order is total, with NaN at its ends, and of equal elements the first comes first."""
    module = top(kind, (5, 12), 12, largest)
    executable = compiled(module)
    assert executable.kernels and not executable.reference_steps
    dtype, rng = module.entry.parameters[0].shape.dtype, np.random.default_rng(3)
    for _ in range(3):
        x = rng.integers(0, 256, (5, 12, dtype.itemsize), np.uint8).view(dtype).reshape(5, 12)
        x[1] = rng.integers(0, 3, 12).astype(dtype)
        if kind[0] in "bf":
            x[0], x[2] = rng.choice(np.array(SPECIAL).astype(dtype), (2, 12))
        for one, other in zip(executable(x), ix.evaluate(module, x), strict=True):
            assert one.tobytes() == other.tobytes()


def test_top_elements_of_vectors_and_single_ones() -> None:
    for sizes, k in (((7,), 1), ((7,), 3), ((2, 3, 1), 1), ((2, 3, 50), 16)):
        module = top("f32", sizes, k)
        x = np.random.default_rng(k).integers(-9, 9, sizes).astype(np.float32)
        for one, other in zip(compiled(module)(x), ix.evaluate(module, x), strict=True):
            np.testing.assert_array_equal(one, other)


def test_many_top_elements_are_sorted_by_the_reference() -> None:
    assert compiled(top("f32", (3, 40), 17)).reference_steps


PRODUCT = """HloModule m
ENTRY e {
  a = f32[4,6]{0,1} parameter(0)
  b = f32[6,5]{0,1} parameter(1)
  ROOT c = (f32[4,5]{0,1}, s8[64]) custom-call(a, b), custom_call_target="__cublas$gemm",
    backend_config={"gemm_backend_config":{"alpha_real":0.5,"beta":0,"epilogue":"DEFAULT","dot_dimension_numbers":
    {"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}
}
"""
BITCAST = PRODUCT.replace("ROOT c = (f32[4,5]{0,1}, s8[64])", "c = (f32[4,5]{0,1}, s8[64])").replace(
    '["0"]}}}', '["0"]}}}\n  d = f32[4,5]{0,1} get-tuple-element(c), index=0\n  ROOT t = f32[5,4]{1,0} bitcast(d)'
)
LATER = """HloModule m
turn { x = f32[3,4] parameter(0) y = f32[3,4] negate(x) ROOT z = f32[4,3] transpose(y), dimensions={1,0} }
ENTRY e {
  p = f32[3,4] parameter(0)
  s = ((f32[3,4]), f32[4,3], u32[]) async-start(p), calls=turn
  u = ((f32[3,4]), f32[4,3], u32[]) async-update(s)
  d = f32[4,3] async-done(u)
  ROOT e = f32[4,3] exponential(d)
}
"""


@pytest.mark.parametrize("text", [PRODUCT, BITCAST, LATER], ids=["product", "read by a bitcast", "asynchronous"])
def test_library_calls_and_asynchronous_computations_run_in_kernels(text: str) -> None:
    executable = compiled(text)
    assert executable.kernels and not executable.reference_steps
    rng = np.random.default_rng(5)
    values = [random_array(p.shape, rng) for p in ix.hlo.parse(text).entry.parameters]
    for one, other in zip(as_list(executable(*values)), as_list(ix.evaluate(text, *values)), strict=True):
        close(one, other)
