"""Transposes in front of other kernels: one of their own where arrays are read again and again."""

import numpy as np
import pytest

import indexing as ix
from indexing.graph.facts import GraphFacts
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Ref
from indexing.kernels.emitters.dot.match import fastest, planned_product
from indexing.kernels.emitters.tile.match import along_sums
from indexing.kernels.proposal import is_read_repeatedly
from indexing.reference.interpreter import run_computation
from kernels import compiled


def transposed_product(rows: int, reader: str) -> str:
    return f"""ENTRY main {{
      x = f32[16,{rows},8,32]{{1,3,2,0}} parameter(0)
      w = f32[256,128] parameter(1)
      c = f32[16,{rows},8,32] copy(x)
      r = f32[{16 * rows},256] reshape(c)
      ROOT d = {reader} }}"""


@pytest.mark.parametrize(
    ("rows", "is_apart"),
    [(1024, True), (4, False)],  # of few elements, none takes as long to read as a kernel to launch
)
def test_what_a_product_reads_again_and_again_is_transposed_once(rows: int, is_apart: bool) -> None:
    text = transposed_product(
        rows, f"f32[{16 * rows},128] dot(r, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
    )
    emitters = [k.emitter for k in ix.emit_all(text, dialect="cuda")]
    assert ("transpose" in emitters) == is_apart and len(emitters) == 1 + is_apart


def test_a_transpose_that_is_read_once_has_no_kernel_of_its_own() -> None:
    text = transposed_product(1024, f"f32[{16 * 1024},256] negate(r)")
    assert [k.emitter for k in ix.emit_all(text, dialect="cuda")] == ["transpose"]


LOOP = """less { s = (s32[], f32[16384,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)
  ROOT p = pred[] compare(i, n), direction=LT }
step { s = (s32[], f32[16384,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[16384,256] get-tuple-element(s), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  u = f32[16384,256] sine(v)
  ROOT t = (s32[], f32[16384,256]) tuple(j, u) }
"""


def test_a_loop_that_takes_an_array_reads_no_element_of_it_repeatedly() -> None:
    """It is given the array that a reshape gives, once more behind its operand, as what is moved in front of loops is."""
    both = "i = s32[] constant(0)\n      both = (s32[], f32[16384,256]) tuple(i, r)\n      ROOT d ="
    loop = "(s32[], f32[16384,256]) while(both), condition=less, body=step"
    module = ix.hlo.parse(LOOP + transposed_product(1024, loop).replace("ROOT d =", both))
    graph = flatten(module.entry)
    (copy, reshape, loop_node) = (n for n in graph.nodes if n.instruction.name in ("c", "r", "d"))
    loop_node.carry((*loop_node.operands, Ref(reshape, 0)), loop_node.tree)
    facts = GraphFacts(graph, lambda i: not i.called)
    assert not is_read_repeatedly(facts, copy, facts.users_of(copy))


def test_a_product_of_a_transposed_array_is_right() -> None:
    text = transposed_product(64, "f32[1024,128] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}")
    x, w = (
        np.random.default_rng(k).standard_normal(s).astype(np.float32)
        for k, s in enumerate([(16, 64, 8, 32), (256, 128)])
    )
    executable = compiled(text, device="cpu")
    assert "transpose" in [k.emitter for k in executable.kernels]
    np.testing.assert_allclose(np.asarray(executable(x, w)), x.reshape(1024, 256) @ w, rtol=1e-4, atol=1e-4)


def test_what_a_transpose_computes_is_no_result_of_another_kernel() -> None:
    """The product of a matrix with its conjugate transpose, both of the same two real arrays, which are slices."""
    text = """ENTRY e {
  x = f32[2,8,512] parameter(0)
  first = f32[1,8,512] slice(x), slice={[0:1], [0:8], [0:512]}
  re = f32[8,512] reshape(first)
  second = f32[1,8,512] slice(x), slice={[1:2], [0:8], [0:512]}
  im = f32[8,512] reshape(second)
  z = c64[8,512] complex(re, im)
  negated = f32[8,512] negate(im)
  conjugate = c64[8,512] complex(re, negated)
  t = c64[512,8] transpose(conjugate), dimensions={1,0}
  ROOT d = c64[8,8] dot(z, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
    x = np.random.default_rng(0).normal(size=(2, 8, 512)).astype(np.float32)
    z = x[0].astype(np.float64) + 1j * x[1]
    np.testing.assert_allclose(compiled(text, "cpu")(x), z @ z.conj().T, atol=1e-3)


def bytes_product(kind: str, left: str, right: str, numbers: str, result: str) -> str:
    return f"""ENTRY main {{
      x = {kind}[{left}] parameter(0)
      y = {kind}[{right}] parameter(1)
      ROOT d = {result} dot(x, y), {numbers} }}"""


FIRST = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"


@pytest.mark.parametrize(
    ("kind", "left", "right", "numbers", "is_apart"),
    [
        ("s8", "1024,2048", "1024,2048", FIRST, True),
        ("f8e4m3fn", "1024,2048", "1024,2048", FIRST, True),
        ("bf16", "1024,2048", "1024,2048", FIRST, False),  # fragments of two bytes are transposed when they are loaded
        ("s8", "2048,1024", "1024,2048", "lhs_contracting_dims={1}, rhs_contracting_dims={0}", False),
        ("s8", "128,2048", "128,2048", FIRST, False),  # of sums so short, a transpose takes as long as what it saves
    ],
)
def test_bytes_of_the_left_factor_lie_along_sums(
    kind: str, left: str, right: str, numbers: str, is_apart: bool
) -> None:
    result = "s32[2048,2048]" if kind == "s8" else "bf16[2048,2048]"
    kernels = ix.emit_all(bytes_product(kind, left, right, numbers, result), device=ix.find_device("h100"))
    assert [k.emitter for k in kernels] == ["transpose"] * is_apart + ["dot-tile"]
    assert all(check.status != "refuted" for k in kernels for check in k.verify().checks)


@pytest.mark.parametrize(
    ("left", "right", "numbers", "result"),
    [
        ("512,24", "512,32", FIRST, "24,32"),
        ("16,32,3,8", "16,32,16", "lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}", "3,8,16"),
        ("32,16,24", "32,16,16", "lhs_contracting_dims={1,0}, rhs_contracting_dims={1,0}", "24,16"),
        (
            "512,3,20,2",
            "2,512,3,16",
            "lhs_batch_dims={3,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={0}, rhs_contracting_dims={1}",
            "2,3,20,16",
        ),
    ],
)
def test_a_product_of_bytes_along_sums_is_the_product(left: str, right: str, numbers: str, result: str) -> None:
    module = ix.hlo.parse(bytes_product("s8", left, right, numbers, f"s32[{result}]"))
    other = along_sums(module.entry.root)
    assert other is not None
    first = planned_product(other.root).operands[0]
    assert other.root.operands[first].opcode == "transpose" and fastest(other.root, first)[0] == "sum"
    assert along_sums(other.root) is None
    rng = np.random.default_rng(5)
    arrays = [rng.integers(-128, 128, [int(n) for n in sizes.split(",")], np.int8) for sizes in (left, right)]
    np.testing.assert_array_equal(run_computation(other, arrays), ix.evaluate(module, *arrays))
