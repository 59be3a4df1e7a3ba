"""The panels emitter: sizes with and without rests, layouts, types, proofs, results on the CPU, faults."""

from dataclasses import replace

import numpy as np
import pytest

import indexing as ix
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import rewrite_blocks
from indexing.kernels.kernel import Kernel
from indexing.kernels.verify import verify
from kernel_mutants import mutants
from kernels import assert_written_once, close, launch, random_array

PLAIN = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
TRANSPOSED = "lhs_contracting_dims={0}, rhs_contracting_dims={1}"
BATCH = "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"


def product(left: str, right: str, out: str, numbers: str, kind: str = "f32", result: str = "f32") -> str:
    return f"""fused {{
      x = {kind}[{left}] parameter(0)
      y = {kind}[{right}] parameter(1)
      ROOT d = {result}[{out}] dot(x, y), {numbers}
    }}"""


AROUND = """fused {
  x = f32[50,70] parameter(0)
  y = f16[70,33] parameter(1)
  b = f32[33] parameter(2)
  halves = f32[70,33] convert(y)
  left = f32[50,70] exponential(x)
  d = f32[50,33] dot(left, halves), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  rows = f32[50,33] broadcast(b), dimensions={1}
  ROOT out = f32[50,33] add(d, rows)
}"""


def emitted(text: str, **knobs: int) -> Kernel:
    kernel = ix.emit(ix.hlo.parse(text).entry, dialect="c", **knobs)
    assert kernel.emitter == "dot-panels"
    return kernel


CASES = [
    (product("64,32", "32,64", "64,64", PLAIN), {}),
    (product("250,100", "100,130", "250,130", PLAIN), {}),
    (product("101,43", "43,51", "101,51", PLAIN), {"row_panels": 3, "column_panels": 2, "tile_depth": 7}),
    (product("40,100", "51,40", "100,51", TRANSPOSED, "f64", "f64"), {}),
    (product("6,8", "8,16", "6,16", PLAIN), {}),
    (product("50,66", "66,154", "50,154", PLAIN), {"row_panels": 2}),  # wide panels, the last ones of them empty
    (product("20,30", "30,28", "20,28", PLAIN, "f64", "f64"), {}),  # wide panels
    (product("6,129", "129,16", "6,16", PLAIN), {}),  # one thread, several steps
    (product("70,33", "33,10", "70,10", PLAIN), {}),  # columns that fill no panel
    (product("12,200", "200,2", "12,2", PLAIN, "f64", "f64"), {}),
    (product("3,24,40", "3,40,20", "3,24,20", BATCH), {"row_panels": 1}),
    (product("60,70", "70,50", "60,50", PLAIN, "s8", "s32"), {"tile_depth": 64}),
    (product("60,131", "131,50", "60,50", PLAIN, "u8", "s32"), {"tile_depth": 64}),  # groups of lines in part
    (product("131,60", "50,131", "60,50", TRANSPOSED, "s8", "s32"), {}),
    (product("65,60", "60,70", "65,70", PLAIN, "bf16", "bf16"), {}),
    (product("60,65", "70,60", "65,70", TRANSPOSED, "bf16", "f32"), {"row_panels": 2}),
    (product("65,61", "61,70", "65,70", PLAIN, "f8e4m3fn", "f32"), {"column_panels": 1}),
    (product("30,60", "60,40", "30,40", PLAIN, "f16", "f32"), {}),
    (AROUND, {"column_panels": 1}),
    (product("64,32", "32,13", "64,13", PLAIN).replace("] dot(", "]{0,1} dot("), {}),
]


@pytest.mark.parametrize(("text", "knobs"), CASES)
def test_kernels_are_proved_and_right(text: str, knobs: dict[str, int]) -> None:
    kernel, computation = emitted(text, **knobs), ix.hlo.parse(text).entry
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert_written_once(kernel, [computation.root.shape])
    rng = np.random.default_rng(7)
    arrays = [random_array(p.shape, rng) for p in computation.parameters]
    (result,) = launch(kernel, arrays, [computation.root.shape])
    close(result, ix.evaluate(computation.module, *arrays))


def test_products_of_large_integers_wrap() -> None:
    text = product("8,16", "16,16", "8,16", PLAIN, "s32", "s32")
    x, y = (np.random.default_rng(k).integers(-(2**31), 2**31, s, np.int32) for k, s in enumerate([(8, 16), (16, 16)]))
    (result,) = launch(emitted(text), [x, y], [ix.hlo.parse(text).entry.root.shape])
    expected = (x.astype(object) @ y.astype(object)) % 2**32
    assert (result.view(np.uint32).astype(object) == expected).all()


@pytest.mark.parametrize("kind", ["s8", "u8", "s4", "u4"])
@pytest.mark.parametrize("knobs", [{}, {"tile_depth": 256}, {"tile_depth": 64}])
def test_sums_of_the_largest_small_integers_are_exact(kind: str, knobs: dict[str, int]) -> None:
    text = product("7,300", "300,17", "7,17", PLAIN, kind, "s32")
    bits, is_signed = int(kind[1:]), kind[0] == "s"
    largest = -(2 ** (bits - 1)) if is_signed else 2**bits - 1
    dtype = ix.hlo.parse(text).entry.parameters[0].shape.dtype
    x, y = np.full((7, 300), largest).astype(dtype), np.full((300, 17), largest).astype(dtype)
    x[0, ::3] = y[5::4, 2] = 1  # sums that are odd
    (result,) = launch(emitted(text, **knobs), [x, y], [ix.hlo.parse(text).entry.root.shape])
    assert (result == x.astype(np.int64) @ y.astype(np.int64)).all()


def test_small_integers_of_two_types_and_of_others() -> None:
    def names(kind: str, other: str, result: str = "s32") -> set[str]:
        text = product("64,32", "32,64", "64,64", PLAIN, kind, result).replace(f"y = {kind}", f"y = {other}")
        return {s.product for s in ir.statements(emitted(text).ir.body) if isinstance(s, ir.MultiplyPanels)}

    assert names("s4", "s8") == {"s8"}
    assert names("s8", "u8") == names("s4", "u4") == {"s8_u8"}
    assert names("bf16", "f8e5m2", "f32") == {"bf16"}
    assert names("bf16", "f16", "f32") <= {"f32", "f32_wide"}
    assert names("s8", "s16") == names("s32", "s32") == {"s32"}


@pytest.mark.parametrize(("columns", "width"), [(16, 16), (17, 32), (33, 16), (48, 16), (49, 32), (300, 32)])
def test_panels_are_wide_where_few_columns_are_empty(columns: int, width: int) -> None:
    kernel = emitted(product("64,32", f"32,{columns}", f"64,{columns}", PLAIN))
    (sums,) = (b.size for b in kernel.ir.buffers if b.name == "sums")
    assert sums == 6 * width


@pytest.mark.parametrize(
    ("rows", "kind", "lines", "depth"), [(900, "f32", 96, 16), (40, "f64", 42, 8), (50, "f64", 48, 8)]
)
def test_rows_that_are_columns_in_memory_are_copied_in_whole_vectors(
    rows: int, kind: str, lines: int, depth: int
) -> None:
    numbers = "lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}"
    kernel = emitted(product(f"999,400,{rows}", "999,400,32", f"999,{rows},32", numbers, kind, kind))
    sizes = {b.name: b.size for b in kernel.ir.buffers if b.space == "shared"}
    assert sizes["left_tile"] == lines * depth


def test_panels_without_rows_or_columns_are_not_multiplied() -> None:
    def is_asked(rows: int, columns: int) -> bool:
        text = product(f"{rows},32", f"32,{columns}", f"{rows},{columns}", PLAIN)
        kernel = emitted(text, row_panels=2, column_panels=2)
        branches = (s for s in ir.statements(kernel.lowered.body) if isinstance(s, ir.If))
        return any(isinstance(t, ir.MultiplyPanels) for s in branches for t in s.then)

    assert [is_asked(*sizes) for sizes in ((24, 128), (18, 128), (24, 96))] == [False, True, True]


def test_panels_in_groups_have_whole_units_of_the_depth() -> None:
    text = product("12,300", "300,32", "12,32", PLAIN, "s8", "s32")
    with pytest.raises(ix.IndexingError, match=r"tile_depth is in \{64, 128, 192, 256\}; got 32"):
        emitted(text, tile_depth=32)

    def less_deep(block: ir.Block) -> ir.Block:
        return tuple(replace(s, depth=32) if isinstance(s, ir.MultiplyPanels) else s for s in block)

    kernel = emitted(text, tile_depth=256).lowered
    checks = verify(replace(kernel, body=rewrite_blocks(kernel.body, less_deep))).refuted
    assert any("none for s8 and depth 32" in c.subject + c.reason for c in checks)


def test_small_products_and_other_targets_are_left_to_others() -> None:
    large = ix.hlo.parse(product("64,32", "32,64", "64,64", PLAIN)).entry
    assert [ix.emit(large, dialect=d).emitter for d in ("cuda", "opencl")] == ["dot-simt", "dot-simt"]
    few = ix.hlo.parse(product("4,32", "32,64", "4,64", PLAIN)).entry
    assert ix.emit(few, dialect="c").emitter == "dot"
    for columns, emitter in {1: "loop", 7: "dot-panels", 8: "loop", 9: "dot-panels"}.items():
        few = ix.hlo.parse(product("64,32", f"32,{columns}", f"64,{columns}", PLAIN)).entry
        assert ix.emit(few, dialect="c").emitter == emitter, columns


@pytest.mark.parametrize(("knob", "value"), [("row_panels", 33), ("column_panels", -1), ("tile_depth", 257)])
def test_knobs_that_are_not_legal(knob: str, value: int) -> None:
    with pytest.raises(ix.IndexingError, match=f"{knob} is in "):
        emitted(product("64,32", "32,64", "64,64", PLAIN), **{knob: value})


def test_plans_beyond_the_memory_of_a_block_are_refused() -> None:
    with pytest.raises(ix.IndexingError, match=r"tile_depth is in \[1, 13\] where"):
        emitted(product("256,256", "256,256", "256,256", PLAIN), row_panels=32, column_panels=32, tile_depth=256)


# ---------------------------------------------------------------- faults


def test_a_kernel_without_its_barriers_is_refuted() -> None:
    kernel = emitted(product("24,64", "64,96", "24,96", PLAIN), tile_depth=16)
    without = [m.kernel for m in mutants(kernel.ir) if m.kind == "barrier"]
    assert len(without) == 2
    assert all("race" in {c.kind for c in verify(k).checks if c.status != "proved"} for k in without)


def test_panels_beside_their_places_are_not_proved() -> None:
    kernel = emitted(product("20,24", "24,32", "20,32", PLAIN), tile_depth=8)
    wrong = [m for m in mutants(kernel.lowered) if "of the multiplypanels" in m.what]
    assert wrong
    assert all(any(c.status != "proved" for c in verify(m.kernel).checks) for m in wrong)


def test_panels_of_another_type_are_refuted() -> None:
    kernel = emitted(product("20,24", "24,32", "20,32", PLAIN)).lowered

    def of_type(block: ir.Block) -> ir.Block:
        return tuple(replace(s, product="f64") if isinstance(s, ir.MultiplyPanels) else s for s in block)

    checks = verify(replace(kernel, body=rewrite_blocks(kernel.body, of_type))).refuted
    assert "typed" in {c.kind for c in checks}
