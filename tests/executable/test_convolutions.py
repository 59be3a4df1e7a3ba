"""Convolutions in programs: features last, by transposes of the weights and of the result."""

import pytest

from kernels import compiled


def program(x: str, w: str, y: str, labels: str, more: str = "window={size=3x3 pad=1_1x1_1}", kind: str = "f32") -> str:
    return f"""ENTRY picture {{
      x = {kind}[{x}] parameter(0)
      w = {kind}[{w}] parameter(1)
      ROOT y = {kind}[{y}] convolution(x, w), {more}, dim_labels={labels}
    }}"""


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (program("2,5,9,7", "16,5,3,3", "2,16,9,7", "bf01_oi01->bf01"), 3),
        (program("2,5,9,7", "16,5,3,3", "2,16,9,7", "bf01_oi01->bf01", kind="bf16"), 3),
        (program("5,2,9,8", "3,3,5,17", "9,17,4,2", "fb01_01io->0f1b", "window={size=3x3 stride=1x2 pad=1_1x0_1}"), 2),
        (program("2,5,9", "24,5,4", "2,24,6", "bf0_oi0->bf0", "window={size=4}"), 3),
        (program("2,9,7,5", "3,3,5,16", "2,9,7,16", "b01f_01io->b01f"), 1),
        (program("2,5,9,7", "8,5,3,3", "2,8,9,7", "bf01_oi01->bf01"), 1),
        (program("2,32,9,7", "32,1,3,3", "2,32,9,7", "bf01_oi01->bf01", "window={size=3x3 pad=1_1x1_1}, feature_group_count=32"), 1),
    ],
)  # fmt: skip
def test_kernels_of_convolutions(text: str, count: int) -> None:
    assert len(compiled(text, tolerance=1e-2 if "bf16" in text else 1e-3).kernels) == count


def test_a_transpose_of_a_product_is_a_kernel_of_its_own() -> None:
    text = """ENTRY product {
      x = f32[40,24] parameter(0)
      y = f32[24,32] parameter(1)
      d = f32[40,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT t = f32[32,40] transpose(d), dimensions={1,0}
    }"""
    assert [k.emitter for k in compiled(text).kernels] == ["dot", "transpose"]
