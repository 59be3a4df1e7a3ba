"""The rows emitter: short rows of an odd number of elements, which blocks copy to and from shared memory."""

from __future__ import annotations

import pytest

import indexing as ix
from indexing.analysis.memory.banks import bank_accesses
from indexing.device.table import portable_device
from indexing.kernels.kernel import Kernel
from kernels import as_fusion, assert_written_once, check_with_threads, vector_moves

PROGRAM = """
add { a = KIND[] parameter(0) b = KIND[] parameter(1) ROOT c = KIND[] add(a, b) }
ENTRY fused {
  z = KIND[] constant(0)
  STEPS
  s = KIND[ROWS] multiply(x, x)
  t = KIND[LEAD] reduce(s, z), dimensions={LAST}, to_apply=add
  r = KIND[LEAD] rsqrt(t)
  b = KIND[ROWS] broadcast(r), dimensions={ALL}
  n = KIND[ROWS] multiply(x, b)
  ROOT RESULT
}"""
GIVEN = "x = KIND[ROWS] parameter(0)"
TURNED = """m = KIND[ROWS,3] parameter(0) v = KIND[3] parameter(1) w = KIND[ROWS,3] broadcast(v), dimensions={DEEP}
  y = KIND[ROWS,3] multiply(m, w) x = KIND[ROWS] reduce(y, z), dimensions={DEEP}, to_apply=add"""
ONE, ALSO_NORMS = "o = KIND[ROWS] negate(n)", "o = (KIND[ROWS], KIND[LEAD]) tuple(n, t)"


def program(*sizes: int, kind: str = "f32", steps: str = GIVEN, result: str = ONE) -> str:
    """Rows over their norms."""
    rank = len(sizes)
    words = {
        "STEPS": steps,
        "RESULT": result,
        "ROWS": ",".join(map(str, sizes)),
        "LEAD": ",".join(map(str, sizes[:-1])),
        "LAST": str(rank - 1),
        "DEEP": str(rank),
        "ALL": ",".join(map(str, range(rank - 1))),
        "KIND": kind,
    }
    text = PROGRAM
    for word, value in words.items():
        text = text.replace(word, value)
    return text


@pytest.mark.parametrize(
    ("text", "tolerance"),
    [
        (program(1000, 3), 1e-5),
        (program(2, 77, 3, steps=TURNED, result=ALSO_NORMS), 1e-5),
        (program(515, 5, kind="bf16"), 3e-2),
        (program(16, 7, result=ALSO_NORMS), 1e-5),
    ],
)
def test_blocks_copy_rows(text: str, tolerance: float) -> None:
    """Each element of the array is read once, by vectors as far as blocks allow; no two threads of a warp use one bank."""
    kernel = ix.emit(as_fusion(text))
    assert kernel.emitter == "rows"
    check_with_threads(kernel, text, tolerance)
    assert_written_once(kernel, list(as_fusion(text).shape.leaves))
    accesses = ix.coalescing(kernel).accesses
    size = ix.hlo.parse(text).entry.parameters[0].shape
    elements, width = size.element_count, 2 if "bf16" in text else 4
    assert sum(a.total.sectors for a in accesses if a.operand == 0) == -(-elements * width // 32)
    assert all(a.ratio == 1 for a in accesses)
    if width == 4:
        assert not any(a.conflicts for a in bank_accesses(kernel, portable_device("cuda")))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (program(512, 3), 2),
        (program(512, 4), 0),
        (program(512, 6), 0),
        (program(512, 9), 0),
        (program(512, 3, result="o = KIND[128,3] slice(n), slice={[128:256], [0:3]}"), 0),
        (program(512, 3).replace("s = f32[512,3]", "s = f32[512,3]{0,1}"), 0),
        (program(512, 3, steps=GIVEN.replace("ROWS]", "ROWS]{0,1}")), 1),
        (program(512, 3, steps=TURNED.replace("ROWS,3]", "ROWS,4]").replace("KIND[3]", "KIND[4]")), 1),
        (program(512, 3, steps=TURNED.replace("ROWS,3]", "ROWS,7]").replace("KIND[3]", "KIND[7]")), 1),
        (program(512, 3, steps="p = KIND[ROWS] parameter(0) x = KIND[ROWS] reverse(p), dimensions={0}"), 1),
        (program(512, 3, result="o = KIND[3,512] transpose(n), dimensions={1,0}"), 1),
        (program(512, 3, steps="p = KIND[3] parameter(0) x = KIND[ROWS] broadcast(p), dimensions={1}"), 1),
    ],
)
def test_arrays_with_rows_side_by_side(text: str, count: int) -> None:
    """Of rows that are short and odd; others are accessed in place."""
    kernel = ix.emit(as_fusion(text))
    assert staged(kernel) == count
    check_with_threads(kernel, text)


def test_rows_are_copied_by_vectors() -> None:
    moves = vector_moves(ix.emit(as_fusion(program(512, 3))))
    assert moves["p0"] == moves["o0"] == {4}
    assert staged(ix.emit(as_fusion(program(512, 4)), vector_width=1, threads=1)) == 0  # threads would share banks


def staged(kernel: Kernel) -> int:
    return sum(b.space == "shared" and b.name.startswith("rows") for b in kernel.ir.buffers)
