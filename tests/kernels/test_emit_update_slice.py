"""The dynamic-update-slice emitter: in place where that is safe, clamped starts; elsewhere a loop."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.planning.program import plan_program
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


@pytest.mark.parametrize("seed", range(3))
def test_results_beside_the_update(seed: int) -> None:
    """The state of a loop, of which each step collects some, in other shapes with as many elements."""
    text = HEAD.replace("u = f32[2,3]", "u = f32[6]")
    text += """  n = f32[6] negate(u)
      r = f32[2,3] reshape(n)
      d = f32[7,8] dynamic-update-slice(x, r, i, j)
      k = f32[2,3] exponential(r)
      h = bf16[6] convert(u)
      c = bf16[3,2] reshape(h)
      ROOT t = (f32[6], f32[7,8], f32[2,3], bf16[3,2]) tuple(n, d, k, c) }"""
    kernel = check(text, "dynamic-update-slice", seed)
    assert [o.alias_of for o in kernel.outputs] == [None, 0, None, None]


UNSAFE = {
    "read by the update": "s = f32[2,3] slice(x), slice={[0:2], [0:3]} ROOT d = f32[7,8] dynamic-update-slice(x, s, i, j) }",
    "read after it": "d = f32[7,8] dynamic-update-slice(x, u, i, j) ROOT a = f32[7,8] add(d, x) }",
    "not a parameter": "n = f32[7,8] negate(x) ROOT d = f32[7,8] dynamic-update-slice(n, u, i, j) }",
    "an output too": "d = f32[7,8] dynamic-update-slice(x, u, i, j) ROOT t = (f32[7,8], f32[7,8]) tuple(d, x) }",
    "two outputs": "d = f32[7,8] dynamic-update-slice(x, u, i, j) ROOT t = (f32[7,8], f32[7,8]) tuple(d, d) }",
    "another epilogue": "d = f32[7,8] dynamic-update-slice(x, u, i, j) ROOT n = f32[7,8] negate(d) }",
    "a result that reads it": """d = f32[7,8] dynamic-update-slice(x, u, i, j) s = f32[2,3] slice(d), slice={[2:4], [1:4]}
      ROOT t = (f32[7,8], f32[2,3]) tuple(d, s) }""",
    "a result that reads the array": """d = f32[7,8] dynamic-update-slice(x, u, i, j) s = f32[2,3] slice(x), slice={[2:4], [1:4]}
      ROOT t = (f32[2,3], f32[7,8]) tuple(s, d) }""",
    "a result of another size": """d = f32[7,8] dynamic-update-slice(x, u, i, j) s = f32[1,3] slice(u), slice={[0:1], [0:3]}
      ROOT t = (f32[7,8], f32[1,3]) tuple(d, s) }""",
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


SCAN = """body {{
  s = (s32[], f32[64], f32[9,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0 h = f32[64] get-tuple-element(s), index=1
  y = f32[9,64] get-tuple-element(s), index=2
  one = s32[] constant(1) zero = s32[] constant(0) j = s32[] add(i, one)
  {before}
  t = f32[64] tanh(g) q = f32[1,64] reshape(t) {update} d = f32[9,64] dynamic-update-slice(y, r, i, zero)
  ROOT u = (s32[], f32[64], f32[9,64]) tuple(j, t, d) }}
more {{ s = (s32[], f32[64], f32[9,64]) parameter(0) i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9) ROOT r = pred[] compare(i, n), direction=LT }}
ENTRY main {{
  a = f32[64] parameter(0) b = f32[9,64] parameter(1) zero = s32[] constant(0)
  s = (s32[], f32[64], f32[9,64]) tuple(zero, a, b)
  w = (s32[], f32[64], f32[9,64]) while(s), condition=more, body=body
  h = f32[64] get-tuple-element(w), index=1 y = f32[9,64] get-tuple-element(w), index=2
  ROOT o = (f32[64], f32[9,64]) tuple(h, y) }}"""


@pytest.mark.parametrize(
    ("before", "update", "emitters"),
    [
        ("g = f32[64] add(h, h)", "r = f32[1,64] negate(q)", ["loop", "dynamic-update-slice"]),
        (
            "l = f32[1,64] slice(y), slice={[8:9], [0:64]} m = f32[64] reshape(l) g = f32[64] add(h, m)",
            "r = f32[1,64] negate(q)",
            ["loop", "loop", "dynamic-update-slice"],
        ),
        (
            "g = f32[64] add(h, h)",
            "l = f32[1,64] slice(y), slice={[8:9], [0:64]} m = f32[1,64] multiply(q, l) r = f32[1,64] subtract(m, l)",
            ["loop", "loop", "loop"],
        ),
    ],
    ids=["apart", "state of the array", "update of the array"],
)
def test_a_loop_writes_its_state_beside_the_results_that_it_collects(
    before: str, update: str, emitters: list[str]
) -> None:
    """In one kernel besides the counter's, unless one of them is computed from the array that is written."""
    text = SCAN.format(before=before, update=update)
    run = compiled(text, "cpu")
    rows = np.random.default_rng(3).standard_normal((10, 64)).astype(np.float32)
    state, collected = rows[0], rows[1:].copy()
    got = run(state, rows[1:])
    for k in range(9):
        last = collected[8].copy()
        state = np.tanh(state + (state if "h, h" in before else last))
        collected[k] = state * last - last if "multiply" in update else -state
    for value, expected in zip(got, (state, collected), strict=True):  # type: ignore[call-overload]
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-6)
    planned = {c.name: p for c, p in plan_program(ix.hlo.parse(text).entry, portable_device("c")).items()}
    assert sorted(p.kernel.emitter for p in planned["body"].kernels.values()) == sorted(emitters)
