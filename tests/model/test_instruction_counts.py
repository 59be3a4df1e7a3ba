"""Instructions of warps: counts by hand."""

from __future__ import annotations

import pytest

import indexing as ix
from indexing._core import constant, variable
from indexing.device.detect import find_device
from indexing.kernels.ir import nodes as ir
from indexing.model.instruction_counts import count_instructions
from ir_kernels import TH_X, given, kernel, result

H100 = find_device("h100")
ZERO = constant(0)


@pytest.mark.parametrize(("kind", "depth"), [("bf16", 16), ("f16", 16), ("s8", 32), ("u8", 32)])
def test_products_of_matrices_take_the_time_of_matrix_units(kind: str, depth: int) -> None:
    """By hand: 2 blocks of 4 warps issue 10 instructions each, of 16 x 8 x depth products; a core does 2,048 of
    them in a clock of its matrix units, twice as many of bytes, and 128 operations of f32 in a clock of its own.
    """
    registers = [ir.Buffer(name, "u32", (4,), "local") for name in ("c", "a", "b")]
    multiply = ir.MatrixMultiply(kind, "c", ZERO, "a", variable(6) * 4, "b", ZERO)  # places of registers cost nothing
    loop = ir.For(6, ZERO, constant(10), 1, (multiply,), unroll=10)
    k = kernel([loop], [*registers, result(0, "f32", 1)], 2, 128, step=("loop", 0, 9))
    counts = count_instructions(k, H100)
    clocks = 2 * 4 * 10 * 16 * 8 * depth / (2048 if depth == 16 else 4096)
    assert counts.issued == 80
    assert counts.operations == pytest.approx(clocks * 128 * H100.rates.clock / H100.rates.matrix_clock)


def test_registers_are_no_memory() -> None:
    """By hand: a warp stores once; its loads and stores of a local buffer are no instructions."""
    local = ir.Buffer("x", "f32", (2,), "local")
    body = [ir.Store("x", (ZERO,), ir.Constant("f32", 1.0)), ir.Store("o0", (TH_X,), ir.Load("f32", "x", (ZERO,)))]
    assert count_instructions(kernel(body, [local, result(0, "f32", 32)], 1, 32), H100).issued == 1


@pytest.mark.parametrize(("kind", "size", "issued"), [("s32", 1, 34), ("s32", 16, 4), ("f32", 16, 16), ("f32", 128, 9)])
def test_lanes_that_update_one_element_of_shared_memory_take_turns(kind: str, size: int, issued: float) -> None:
    """By hand: 32 lanes over `size` elements, 2 turns more; 4 instructions each where floats are swapped."""
    pair = (ir.Ref(kind, "a"), ir.Ref(kind, "b"))
    combiner = ir.Function("both", (), pair, (), (ir.Op("add", kind, pair),))
    one = ir.Constant(kind, 1 if kind == "s32" else 1.0)
    copy = ir.Buffer("copy", kind, (size,), "shared")
    k = kernel([ir.AtomicUpdate("copy", (ZERO,), "both", (one,), "add")], [copy], 1, 32, [combiner])
    assert count_instructions(k, H100).issued == issued


def test_each_warp_is_counted_by_its_own_threads() -> None:
    """By hand: both warps evaluate a condition, branch, and divide an index once, by 3; only the first stores, twice."""
    stores = [ir.Store("o0", (TH_X // 3,), ir.Constant("f32", value)) for value in (1.0, 2.0)]
    branch = ir.If((ir.Within(TH_X // 3, 0, 9),), tuple(stores))
    assert count_instructions(kernel([branch], [result(0, "f32", 32)], 1, 64), H100).issued == 2 * (1 + 1 + 4) + 2


def test_the_numbers_of_registers_are_not_computed() -> None:
    """By hand: 64 sums of registers are an instruction each, and a store; the loops are unrolled."""
    local = [ir.Buffer(name, "f32", (size,), "local") for name, size in (("sums", 64), ("left", 8), ("right", 8))]
    i, j = (variable(k) for k in (6, 7))
    loads = ir.Load("f32", "left", (i,)), ir.Load("f32", "right", (j,)), ir.Load("f32", "sums", (i * 8 + j,))
    add = ir.Store("sums", (i * 8 + j,), ir.Op("mul_add", "f32", loads))
    nest = ir.For(6, ZERO, constant(8), 1, (ir.For(7, ZERO, constant(8), 1, (add,)),))
    store = ir.Store("o0", (TH_X,), ir.Load("f32", "sums", (ZERO,)))
    k = kernel([nest, store], [*local, result(0, "f32", 32)], 1, 32, i=("loop", 0, 7), j=("loop", 0, 7))
    assert count_instructions(k, H100).issued == 65


@pytest.mark.parametrize(("unroll", "control", "growth"), [(1, 8 * 2, 8), (4, 2 * 2, 2), (8, 0, 0)])
def test_parts_of_an_index_count_where_loops_change_them(unroll: int, control: int, growth: int) -> None:
    """By hand: 8 stores at th_x // 3 * 2 + i * 64 + i // 3. The first division is done once, the second, and its addition, in
    each iteration; i * 64 is added once for all iterations that are unrolled together, and a constant if all are.
    """
    i = variable(6)
    store = ir.Store("o0", (TH_X // 3 * 2 + i * 64 + i // 3,), ir.Constant("f32", 0.0))
    loop = ir.For(6, ZERO, constant(8), 1, (store,), unroll=unroll)
    counts = count_instructions(kernel([loop], [result(0, "f32", 1000)], 1, 32, i=("loop", 0, 7)), H100)
    assert counts.issued == control + 8 + 4 + 8 * (4 + 1) + growth


def test_a_warp_takes_the_branches_of_all_its_lanes() -> None:
    """By hand: of each group of 16 lanes the last stores once, the others twice; the condition and a branch, one index."""
    stores = [ir.Store("o0", (TH_X,), ir.Constant("f32", value)) for value in (1.0, 2.0, 3.0)]
    branch = ir.If((ir.Within(TH_X % 16, 15, None),), (stores[0],), tuple(stores[1:]))
    assert count_instructions(kernel([branch], [result(0, "f32", 64)], 1, 64), H100).issued == 2 * (3 + 1 + 1 + 1)


def test_blocks_of_one_thread_are_lanes_of_a_warp() -> None:
    """By hand, as above: a launch of 64 blocks counts as 64 warps, each of which does what 32 of them do."""
    store = ir.Store("o0", (variable(3),), ir.Constant("f32", 1.0))
    branch = ir.If((ir.Within(variable(3) % 64, 20, None),), (store,))
    counts = count_instructions(kernel([branch], [result(0, "f32", 64)], 64, 1), H100)
    assert counts.issued == 64 * (1 + 1 + 1 + 1)


def test_integers_of_another_width_are_the_same_registers() -> None:
    wide = ir.Op("convert", "s32", (ir.Load("s16", "i0", (TH_X,)),))
    k = kernel([ir.Store("o0", (TH_X,), wide)], [given(0, "s16", 32), result(0, "s32", 32)], 1, 32)
    assert count_instructions(k, H100).issued == 2


def test_words_of_two_numbers_are_no_conversions() -> None:
    """By hand: a sum of two words and two stores; to take words apart takes no instruction."""
    words = ir.Constant("u32", 1), ir.Constant("u32", 2)
    both = ir.Let("w", ir.Op("packed_add", "u32", words, "bf16"))
    halves = [ir.Op(name, "u16", (ir.Ref("u32", "w"),)) for name in ("unpack_low", "unpack_high")]
    stores = [ir.Store("o0", (TH_X * 2 + k,), half) for k, half in enumerate(halves)]
    counts = count_instructions(kernel([both, *stores], [result(0, "bf16", 64)], 1, 32), H100)
    assert counts.issued == 1 + 2 + 1  # both places have one address


@pytest.mark.parametrize(("format_", "issued"), [("bf16", 1), ("f8e4m3fn", 12)])
def test_floats_of_a_byte_are_rounded_by_integers(format_: str, issued: float) -> None:
    """By hand: an instruction of the GPU, or a function of the library; what was rounded has its bits already."""
    rounded = ir.Op("round", "f32", (ir.Load("f32", "i0", (TH_X,)),), format_)
    storage = "u16" if format_ == "bf16" else "u8"
    body = [ir.Let("x", rounded), ir.Store("o0", (TH_X,), ir.Op("exact_bits", storage, (ir.Ref("f32", "x"),), format_))]
    counts = count_instructions(kernel(body, [given(0, "f32", 32), result(0, format_, 32)], 1, 32), H100)
    encoded = 1 if format_ == "bf16" else 0
    assert counts.issued == 1 + issued + encoded + 1


def test_a_product_takes_at_least_the_time_of_its_matrix_units() -> None:
    text = """ENTRY e { a = bf16[2048,1024] parameter(0) b = bf16[1024,4096] parameter(1)
      ROOT d = f32[2048,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    prediction = ix.predict(ix.hlo.parse(text).entry, {"tile_rows": [64, 128], "tile_columns": 128}, "h100")
    assert prediction.emitter == "dot-tile"
    assert (prediction.time >= 2048 * 1024 * 4096 / (132 * 2048 * H100.rates.matrix_clock)).all()
