"""Convolutions as products of matrices: windows, layouts, types, proofs on each target, results on the processor."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.emitters.panels import match_panels, plan_panels
from indexing.kernels.ir.executions import global_executions
from kernels import check, compiled, random_array


def convolution(
    labels: str, left: str, right: str, out: str, window: str, kind: str = "f32", result: str = "f32", more: str = ""
) -> str:
    return f"""fused {{
      x = {kind}[{left}] parameter(0)
      w = {kind}[{right}] parameter(1)
      ROOT c = {result}[{out}] convolution(x, w), window={{{window}}}, dim_labels={labels}{more}
    }}"""


NHWC, NCHW = "b01f_01io->b01f", "bf01_oi01->bf01"
AROUND = """fused {
  x = f32[2,9,9,16] parameter(0)
  h = f16[3,3,16,32] parameter(1)
  b = f32[32] parameter(2)
  w = f32[3,3,16,32] convert(h)
  e = f32[2,9,9,16] exponential(x)
  c = f32[2,9,9,32] convolution(e, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  bias = f32[2,9,9,32] broadcast(b), dimensions={3}
  ROOT out = f32[2,9,9,32] add(c, bias)
}"""
CASES = {
    "as is": convolution(NHWC, "2,9,9,16", "3,3,16,32", "2,7,7,32", "size=3x3"),
    "padding": convolution(NHWC, "2,9,9,16", "3,3,16,32", "2,9,9,32", "size=3x3 pad=1_1x1_1"),
    "cropped": convolution(NHWC, "2,9,9,16", "3,3,16,32", "2,5,6,32", "size=3x3 pad=-1_-1x-2_1"),
    "strides": convolution(NHWC, "2,9,9,16", "3,2,16,32", "2,5,3,32", "size=3x2 stride=2x3 pad=1_1x0_0"),
    "holes": convolution(NHWC, "2,5,5,16", "3,3,16,32", "2,10,13,32", "size=3x3 pad=1_2x1_1 lhs_dilate=2x3"),
    "phases": convolution(NHWC, "2,5,5,32", "4,3,32,32", "2,10,10,32", "size=4x3 pad=2_2x1_2 lhs_dilate=2x2"),
    "phases of unlike sizes": convolution(NHWC, "2,5,5,16", "3,5,16,32", "2,11,15,32", "size=3x5 pad=2_2x3_3 lhs_dilate=2x3"),
    "phases without taps": convolution(NHWC, "2,5,5,32", "1,2,32,32", "2,9,13,32", "size=1x2 pad=0_0x1_0 lhs_dilate=2x3"),
    "few phases with taps": convolution("b0f_0io->b0f", "4,20,8", "3,8,32", "4,116,32", "size=3 pad=3_0 lhs_dilate=6"),
    "phases with strides": convolution(NHWC, "2,5,5,16", "4,5,16,32", "2,7,9,32", "size=4x5 stride=2x4 pad=2_2x5_8 lhs_dilate=3x6"),
    "phases of what is apart": convolution(NHWC, "2,5,5,16", "3,3,16,32", "2,8,20,32", "size=3x3 pad=2_1x4_3 lhs_dilate=2x4 rhs_dilate=2x2"),
    "reversed phases": convolution(NHWC, "2,5,5,16", "3,3,16,32", "2,10,10,32", "size=3x3 pad=1_2x1_2 lhs_dilate=2x2 rhs_reversal=1x1"),
    "more phases than places": convolution(NHWC, "40,2,2,16", "3,3,16,32", "40,6,2,32", "size=3x3 pad=1_1x0_0 lhs_dilate=5x9 rhs_dilate=1x4"),
    "phases, features first": convolution(NCHW, "2,16,5,5", "24,16,3,4", "2,24,10,9", "size=3x4 pad=1_2x1_2 lhs_dilate=2x2"),
    "groups": convolution(NHWC, "2,9,9,48", "3,3,16,48", "2,9,9,48", "size=3x3 pad=1_1x1_1", more=", feature_group_count=3"),
    "groups, features first": convolution(NCHW, "2,16,9,9", "48,8,3,3", "2,48,7,7", "size=3x3", more=", feature_group_count=2"),
    "groups of the batch": convolution(NHWC, "4,9,9,16", "3,3,16,32", "2,7,7,32", "size=3x3", more=", batch_group_count=2"),
    "kernel's gradient of groups": convolution("f01b_i01o->01bf", "3,8,8,48", "3,6,6,32", "3,3,24,32", "size=6x6", more=", batch_group_count=2"),
    "groups and phases": convolution(NHWC, "2,5,5,32", "3,3,16,48", "2,10,10,48", "size=3x3 pad=1_2x1_2 lhs_dilate=2x2", more=", feature_group_count=2"),
    "apart": convolution(NHWC, "2,9,9,16", "3,3,16,32", "2,7,3,32", "size=3x3 pad=1_1x0_0 rhs_dilate=2x3"),
    "reversed": convolution(NHWC, "2,9,9,16", "3,3,16,32", "2,9,9,32", "size=3x3 pad=1_1x1_1 rhs_reversal=1x1"),
    "features first": convolution(NCHW, "2,16,9,9", "24,16,3,3", "2,24,9,9", "size=3x3 pad=1_1x1_1"),
    "three features": convolution(NCHW, "2,3,12,12", "24,3,5,5", "2,24,6,6", "size=5x5 stride=2x2 pad=2_1x2_1"),
    "rows of three features": convolution(NHWC, "2,9,9,3", "3,3,3,32", "2,9,9,32", "size=3x3 pad=1_1x1_1"),
    "rows with strides": convolution(NHWC, "2,12,12,3", "5,5,3,32", "2,6,6,32", "size=5x5 stride=2x2 pad=2_1x2_1"),
    "rows of columns": convolution("b01f_01io->bf01", "2,9,9,6", "3,4,6,24", "2,24,9,9", "size=3x4 pad=1_1x2_1"),
    "rows wider than the input": convolution(NHWC, "8,9,2,3", "3,4,3,32", "8,9,2,32", "size=3x4 pad=1_1x2_1"),
    "few features apart": convolution(NHWC, "2,9,9,3", "3,3,3,32", "2,9,7,32", "size=3x3 pad=1_1x1_1 rhs_dilate=1x2"),
    "batch last": convolution("01bf_01io->01bf", "7,7,20,24", "3,3,24,16", "7,7,20,16", "size=3x3 pad=1_1x1_1"),
    "kernel's gradient": convolution("f01b_i01o->01bf", "3,8,8,24", "3,6,6,32", "3,3,24,32", "size=6x6"),
    "kernel's gradient, features first": convolution("fb01_io01->01bf", "3,24,8,8", "3,32,6,6", "3,3,24,32", "size=6x6"),
    "batch is fastest": convolution("f01b_i01o->b01f", "3,8,8,24", "3,6,6,32", "24,3,3,32", "size=6x6"),
    "one dimension": convolution("b0f_0io->b0f", "3,40,16", "5,16,32", "3,40,32", "size=5 pad=4_0"),
    "three dimensions": convolution("b012f_012io->b012f", "1,4,4,4,16", "3,3,3,16,32", "1,4,4,4,32", "size=3x3x3 pad=1_1x1_1x1_1"),
    "one place": convolution(NHWC, "2,9,9,16", "1,1,16,32", "2,9,9,32", "size=1x1"),
    "around": AROUND,
}  # fmt: skip
NARROW = [
    ("bf16", "bf16", "dot-tile"),
    ("f16", "f32", "dot-tile"),
    ("s8", "s32", "dot-tile"),
    ("f64", "f64", "dot-simt"),
    ("s32", "s32", "dot-simt"),
]


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_panels_on_a_processor(text: str) -> None:
    assert check(text, "dot-panels", tolerance=1e-4).verify().refuted == ()


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_tiles_on_a_gpu(text: str) -> None:
    kernel = ix.emit(ix.hlo.parse(text).entry, "cuda", device="h100")
    assert kernel.emitter == "dot-simt"
    assert len(kernel.verify().proved) == len(kernel.verify().checks)


@pytest.mark.parametrize(("kind", "result", "emitter"), NARROW)
def test_types(kind: str, result: str, emitter: str) -> None:
    text = convolution(NHWC, "2,9,9,32", "3,3,32,64", "2,9,9,64", "size=3x3 pad=1_1x1_1", kind, result)
    kernel = ix.emit(ix.hlo.parse(text).entry, "cuda", device="h100")
    assert kernel.emitter == emitter
    assert len(kernel.verify().proved) == len(kernel.verify().checks)
    compiled(text)(*(random_array(p.shape, np.random.default_rng(0)) for p in ix.hlo.parse(text).entry.parameters))


def test_padding_is_zeros_which_meet_infinite_weights() -> None:
    """Zero times infinity is not a number, in the reference as in kernels."""
    module = ix.hlo.parse(CASES["padding"])
    x, w = np.ones((2, 9, 9, 16), np.float32), np.full((3, 3, 16, 32), np.inf, np.float32)
    expected, computed = ix.evaluate(module, x, w), compiled(module, "cpu")(x, w)
    assert np.isnan(expected).any() and np.isinf(expected).any()
    np.testing.assert_array_equal(computed, expected)


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_holes_are_not_multiplied(target: str) -> None:
    """Each element of the kernel meets the input in one of the four phases, whose places are one tile."""
    text = convolution(NHWC, "2,5,5,32", "3,3,32,32", "2,10,10,32", "size=3x3 pad=1_2x1_2 lhs_dilate=2x2")
    tile = {"row_panels": 9} if target == "c" else {"tile_rows": 64, "tile_columns": 32, "split_k": 1}
    kernel = ix.emit(ix.hlo.parse(text).entry, target, tile_depth=32, **tile)
    loads = global_executions(kernel.lowered).of["p1", "load"]
    assert sum(e.map.count() * e.times for e in loads) == 3 * 3 * 32 * 32


@pytest.mark.parametrize("size", [1, 3])
def test_neighbours_that_are_summed_over_are_loaded_together(size: int) -> None:
    """A gradient of weights has few places, each a sum over whole images: 16 of a tile's lanes go along a row of one."""
    padding = f"size=32x32 pad={size // 2}_{size // 2}x{size // 2}_{size // 2}"
    text = convolution("fb01_io01->01bf", "8,64,32,32", "8,32,32,32", f"{size},{size},64,32", padding)
    reads = ix.coalescing(ix.hlo.parse(text).entry, device="h100").reads
    of_input = [a.ratio for a in reads if a.operand == 0]
    assert of_input and max(of_input) < 2.0


def test_convolutions_by_channel_are_loops() -> None:
    """A product for each channel, of one column, would be mostly waste."""
    text = convolution(
        NHWC, "2,9,9,32", "7,7,1,32", "2,9,9,32", "size=7x7 pad=3_3x3_3", more=", feature_group_count=32"
    )
    assert [ix.emit(ix.hlo.parse(text).entry, t).emitter for t in ("c", "cuda")] == ["loop", "loop"]


def test_rows_of_few_features_are_copied_at_once() -> None:
    """Three elements of the kernel beside one another, of three features each; elements apart are copied one by one."""
    vectors = []
    for window, sizes in (("size=3x3", "2,7,7,32"), ("size=3x3 rhs_dilate=1x2", "2,7,5,32")):
        text = convolution(NHWC, "2,9,9,3", "3,3,3,32", sizes, window)
        plan = plan_panels(match_panels(ix.hlo.parse(text).entry), portable_device("c"))
        vectors.append(plan.shared_tiles[0].vector)
    assert vectors == [9, 3]
