"""Products of matrices in programs: what is transposed first, what becomes a reduction of rows, what stays."""

import numpy as np
import pytest

import indexing as ix
from kernels import close, compiled, random_array

PLAIN = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
LAST = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"


def program(left: str, right: str, out: str, numbers: str, kind: str = "f32") -> str:
    return f"""ENTRY product {{
      x = {kind}[{left}] parameter(0)
      y = {kind}[{right}] parameter(1)
      ROOT d = {kind}[{out}] dot(x, y), {numbers}
    }}"""


@pytest.mark.parametrize(
    ("left", "right", "out", "numbers", "emitters"),
    [
        ("40,24", "24,32", "40,32", PLAIN, ["dot-panels"]),
        ("40,24", "32,24", "40,32", LAST, ["dot-panels"]),
        ("40,24", "24", "40", PLAIN, ["reduction"]),
        ("40,24", "8,24", "40,8", LAST, ["reduction"]),
        ("2,24", "50,24", "2,50", LAST, ["reduction"]),
        ("24", "24", "", "lhs_contracting_dims={0}, rhs_contracting_dims={0}", ["reduction"]),
        ("3,20,16", "3,30,16", "3,20,30", "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}", ["dot-panels"]),
        ("3,20,16", "3,16", "3,20", "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}", ["reduction"]),
        ("40,24", "24,8", "40,8", PLAIN, ["loop"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_kernels_of_products(left: str, right: str, out: str, numbers: str, emitters: list[str], kind: str) -> None:
    executable = compiled(program(left, right, out, numbers, kind))
    assert [k.emitter for k in executable.kernels] == emitters


def test_a_transpose_that_columns_need_is_a_kernel_of_its_own() -> None:
    text = """ENTRY product {
      x = f32[40,24] parameter(0)
      y = f32[32,24] parameter(1)
      t = f32[24,32] transpose(y), dimensions={1,0}
      e = f32[24,32] exponential(t)
      ROOT d = f32[40,32] dot(x, e), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }"""
    assert [k.emitter for k in compiled(text).kernels] == ["transpose", "dot-panels"]
    left = text.replace(
        "x = f32[40,24] parameter(0)", "p = f32[24,40] parameter(0)\n x = f32[40,24] transpose(p), dimensions={1,0}"
    )
    both = [k.emitter for k in compiled(left).kernels]  # each of 32 columns reads the left operand, too
    assert both == ["transpose", "transpose", "dot-panels"]


@pytest.mark.parametrize("rows", [1, 3, 5])
@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_few_rows_times_a_transpose_read_its_operand_in_rows(rows: int, kind: str) -> None:
    text = f"""ENTRY product {{
      x = {kind}[{rows},24] parameter(0)
      w = {kind}[50,24] parameter(1)
      t = {kind}[24,50] transpose(w), dimensions={{1,0}}
      ROOT d = {kind}[{rows},50] dot(x, t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    }}"""
    executable, rng = compiled(text), np.random.default_rng(2)
    assert [k.emitter for k in executable.kernels] == (["reduction"] if rows < 4 else ["transpose", "dot-panels"])
    x, w = (random_array(p.shape, rng) for p in ix.hlo.parse(text).entry.parameters)
    close(executable(x, w), ix.evaluate(ix.hlo.parse(text), x, w))


def test_a_matrix_transposed_by_batch_times_a_vector_is_a_reduction() -> None:
    text = """ENTRY product {
      w = f32[4,30,2,20] parameter(0)
      x = f32[2,4,20] parameter(1)
      t = f32[2,20,4,30] transpose(w), dimensions={2,3,0,1}
      ROOT d = f32[2,4,30] dot(t, x), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, rhs_batch_dims={0,1}, rhs_contracting_dims={2}
    }"""
    executable, rng = compiled(text), np.random.default_rng(2)
    w, x = (random_array(p.shape, rng) for p in ix.hlo.parse(text).entry.parameters)
    close(executable(w, x), np.einsum("bjak,abk->abj", w, x))


def test_two_transposes_that_leave_an_array_as_it_is_have_no_kernel() -> None:
    text = """ENTRY e {
      x = f32[4,5,6] parameter(0)
      a = f32[5,6,4] transpose(x), dimensions={1,2,0}
      ROOT b = f32[4,5,6] transpose(a), dimensions={2,0,1}
    }"""
    x = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
    assert compiled(text).kernels == () and (compiled(text)(x) == x).all()
    again = text.replace("[4,5,6] transpose(a), dimensions={2,0,1}", "[6,4,5] transpose(a), dimensions={1,2,0}")
    assert len(compiled(again).kernels) == 1 and (compiled(again)(x) == x.transpose(2, 0, 1)).all()
    moved = text.replace("ROOT b = f32[4,5,6]", "ROOT b = f32[4,5,6]{0,1,2}")
    assert len(compiled(moved).kernels) == 1 and (compiled(moved)(x) == x).all()


def test_a_product_whose_columns_are_moved_apart_is_a_kernel_of_its_own() -> None:
    text = """ENTRY products {
      x = f32[40,24] parameter(0)
      y = f32[24,32] parameter(1)
      d = f32[40,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      e = f32[40,32] exponential(d)
      ROOT t = f32[32,40] transpose(e), dimensions={1,0}
    }"""
    assert [k.emitter for k in compiled(text).kernels] == ["dot-panels", "transpose"]
    beside = text.replace("ROOT t = f32[32,40] transpose(e), dimensions={1,0}", "ROOT t = f32[40,32] negate(e)")
    assert [k.emitter for k in compiled(beside).kernels] == ["dot-panels"]


def test_integers_stay_as_they_are() -> None:
    text = program("6,8", "8", "6", PLAIN, "s32")
    x, y = np.arange(48, dtype=np.int32).reshape(6, 8), np.arange(8, dtype=np.int32)
    executable = compiled(text)
    assert [k.emitter for k in executable.kernels] == ["loop"]
    np.testing.assert_array_equal(executable(x, y), x @ y)
    assert ix.evaluate(ix.hlo.parse(text), x, y).tolist() == (x @ y).tolist()


def test_tiles_are_read_from_operands_in_any_layout() -> None:
    """A product is one kernel, with what follows it, where tiles are copied first; other kernels read a transposed operand."""
    text = """ENTRY e {
      x = bf16[40,32] parameter(0)
      y = bf16[64,32] parameter(1)
      d = f32[40,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
      ROOT e = f32[40,64] negate(d)
    }"""
    module = ix.hlo.parse(text)
    assert [k.emitter for k in ix.emit_all(module, dialect="cuda")] == ["dot-tile"]
    assert [k.emitter for k in ix.emit_all(module, dialect="c")] == ["dot-panels"]
    assert [k.emitter for k in ix.emit_all(module, dialect="opencl")] == ["dot-simt"]
    few = ix.hlo.parse(text.replace("[40,", "[8,"))
    assert [k.emitter for k in ix.emit_all(few, dialect="opencl")] == ["dot-simt"]
    few = ix.hlo.parse(text.replace("[40,", "[8,").replace("32]", "24]"))
    assert [k.emitter for k in ix.emit_all(few, dialect="opencl")] == ["transpose", "dot"]


@pytest.mark.parametrize(
    ("left", "right", "out", "numbers", "subscripts", "emitter"),
    [
        ("20,40", "40,120", "20,120", PLAIN, "ik,kj->ij", "dot-panels"),
        ("2,20,40", "2,40,120", "2,20,120", "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}", "bik,bkj->bij", "dot-panels"),
        ("40,20", "120,40", "20,120", "lhs_contracting_dims={0}, rhs_contracting_dims={1}", "ki,jk->ij", "dot-panels"),
        ("4,20,10", "10,2,4,60", "20,2,60", "lhs_contracting_dims={2,0}, rhs_contracting_dims={0,2}", "lik,kalj->iaj", "dot-panels"),
        ("60,70", "70", "60", PLAIN, "ik,k->i", "reduction"),
        ("20,40", "40,30", "20,30", PLAIN, "ik,kj->ij", "loop"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_complex_products_are_real_ones_where_they_are_large(
    left, right, out, numbers, subscripts, emitter, kind
) -> None:
    executable, rng = compiled(program(left, right, out, numbers, kind), device="cpu"), np.random.default_rng(3)
    operands = [
        random_array(o.shape, rng) for o in ix.hlo.parse(program(left, right, out, numbers, kind)).entry.parameters
    ]
    assert np.array_equal(executable(*operands), np.einsum(subscripts, *operands))
    assert emitter in [k.emitter for k in executable.kernels]
