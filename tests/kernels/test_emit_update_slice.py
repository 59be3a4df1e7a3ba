"""The dynamic-update-slice emitter: in place where that is safe, clamped starts; elsewhere a loop."""

import numpy as np
import pytest

import indexing as ix
from kernels import check, compiled, vector_moves, visits

HEAD = """fused {
  x = f32[7,8] parameter(0)
  u = f32[2,3] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
"""


@pytest.mark.parametrize("seed", range(6))
def test_starts_are_clamped(seed: int) -> None:
    kernel = check(HEAD + "ROOT d = f32[7,8] dynamic-update-slice(x, u, i, j) }", "dynamic-update-slice", seed)
    assert kernel.outputs[0].alias_of == 0
    assert kernel.grid[0] * kernel.block[0] >= 6


def test_only_the_window_is_written() -> None:
    kernel = ix.emit(ix.hlo.parse(HEAD + "ROOT d = f32[7,8] dynamic-update-slice(x, u, i, j) }").entry)
    written = kernel.thread_to_output(0)
    assert len(written.runtimes) == 2
    got = {
        tuple(int(v) for v in written.evaluate([t, 0, 0, 0, 0, 0], [4, 2]))
        for t in range(kernel.block[0])
        if written.contains([t, 0, 0, 0, 0, 0], [4, 2])
    }
    assert got == {(4 + a, 2 + b) for a in range(2) for b in range(3)}


@pytest.mark.parametrize("kind", ["s8", "bf16", "c128", "s4", "pred"])
@pytest.mark.parametrize("index", ["s64", "u8"])
def test_types(kind: str, index: str) -> None:
    check(
        f"""fused {{
      x = {kind}[9,4]{{0,1}} parameter(0)
      u = {kind}[2,4]{{0,1}} parameter(1)
      i = {index}[] parameter(2)
      z = {index}[] constant(0)
      ROOT d = {kind}[9,4]{{0,1}} dynamic-update-slice(x, u, i, z)
    }}""",
        "dynamic-update-slice",
    )


def test_bitcasts_prologues_and_several_updates() -> None:
    kernel = check(
        """fused {
      x = f32[56] parameter(0)
      u = f32[2,3] parameter(1)
      i = s32[] parameter(2)
      y = f32[9,8] parameter(3)
      z = s32[] constant(1)
      k = s32[] add(i, z)
      n = f32[2,3] negate(u)
      b = f32[7,8] bitcast(x)
      d = f32[7,8] dynamic-update-slice(b, n, k, z)
      e = f32[9,8] dynamic-update-slice(y, u, z, i)
      f = f32[4,14] bitcast(d)
      ROOT t = (f32[4,14], f32[9,8]) tuple(f, e)
    }""",
        "dynamic-update-slice",
    )
    assert [kernel.arguments[o.alias_of].number for o in kernel.outputs] == [0, 3]


def test_a_bitcast_to_another_layout_of_the_same_sizes() -> None:
    """Its element (i, j) is (j, i) of the update's result."""
    check(
        """fused {
      x = f32[6,6] parameter(0)
      u = f32[2,3] parameter(1)
      i = s32[] parameter(2)
      z = s32[] constant(1)
      d = f32[6,6] dynamic-update-slice(x, u, i, z)
      ROOT b = f32[6,6]{0,1} bitcast(d)
    }""",
        "dynamic-update-slice",
    )


UNSAFE = {
    "read by the update": "s = f32[2,3] slice(x), slice={[0:2], [0:3]} ROOT d = f32[7,8] dynamic-update-slice(x, s, i, j) }",
    "read after it": "d = f32[7,8] dynamic-update-slice(x, u, i, j) ROOT a = f32[7,8] add(d, x) }",
    "not a parameter": "n = f32[7,8] negate(x) ROOT d = f32[7,8] dynamic-update-slice(n, u, i, j) }",
    "an output too": "d = f32[7,8] dynamic-update-slice(x, u, i, j) ROOT t = (f32[7,8], f32[7,8]) tuple(d, x) }",
    "two outputs": "d = f32[7,8] dynamic-update-slice(x, u, i, j) ROOT t = (f32[7,8], f32[7,8]) tuple(d, d) }",
    "another epilogue": "d = f32[7,8] dynamic-update-slice(x, u, i, j) ROOT n = f32[7,8] negate(d) }",
    "another layout": "ROOT d = f32[7,8]{0,1} dynamic-update-slice(x, u, i, j) }",
}


@pytest.mark.parametrize("body", UNSAFE.values(), ids=UNSAFE.keys())
def test_what_is_not_safe_in_place_is_a_loop(body: str) -> None:
    kernel = check(HEAD + body, "loop")
    assert all(a.alias_of is None for a in kernel.arguments)


def test_a_program_never_overwrites_its_arguments() -> None:
    run = compiled("HloModule m\n" + "ENTRY " + HEAD + "ROOT d = f32[7,8] dynamic-update-slice(x, u, i, j) }", "cpu")
    assert [k.emitter for k in run.kernels] == ["dynamic-update-slice"]
    x, u = np.zeros((7, 8), np.float32), np.ones((2, 3), np.float32)
    for start in (0, 3, 9):
        got = run(x, u, np.int32(start), np.int32(1))
        want = np.zeros((7, 8), np.float32)
        want[min(start, 5) : min(start, 5) + 2, 1:4] = 1
        np.testing.assert_array_equal(got, want)
    assert not x.any()


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_compiles(arch: str) -> None:
    assert ix.runtime.cubin(
        ix.emit(ix.hlo.parse(HEAD + "ROOT d = f32[7,8] dynamic-update-slice(x, u, i, j) }").entry), arch
    )


@pytest.mark.parametrize(("kind", "width"), [("f32", 4), ("bf16", 8), ("s8", 8)])
def test_whole_rows_move_as_vectors(kind: str, width: int) -> None:
    text = f"""f {{
      x = {kind}[40,256] parameter(0)
      u = {kind}[16,256] parameter(1)
      n = {kind}[16,256] negate(u)
      i = s32[] parameter(2)
      z = s32[] constant(0)
      ROOT d = {kind}[40,256] dynamic-update-slice(x, n, i, z)
    }}"""
    kernel = check(text, "dynamic-update-slice", vector_width=width)
    assert vector_moves(kernel)["o0"] == vector_moves(kernel)["p1"] == {width}
    assert (visits(kernel.thread_to_input(1), (16, 256)) == 1).all()


def test_rows_that_begin_anywhere_are_stored_element_by_element() -> None:
    text = """f {
      x = f32[40,256] parameter(0)
      u = f32[16,64] parameter(1)
      i = s32[] parameter(2)
      ROOT d = f32[40,256] dynamic-update-slice(x, u, i, i)
    }"""
    assert not vector_moves(check(text, "dynamic-update-slice", vector_width=4))["o0"]
