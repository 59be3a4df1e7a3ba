"""The text form of kernels: it reads back as it was printed, and bad text is an error that says where."""

import random
from pathlib import Path

import pytest

import indexing as ix
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.ir.text import print_kernel
from indexing.kernels.passes import PASSES
from indexing.kernels.verify import verify
from ir_reader import read_kernel

CASES = sorted((Path(__file__).parents[1] / "golden").glob("*.hlo"))

SMALL = """\
kernel k emitter loop grid (13, 1, 1) block (128, 1, 1)  # any words
buffer p0: bf16[100,16]{0,1} global input 0
buffer o0: f32[100,16] global output 0
buffer o1: bf16[100,16] global output 1 in p0
buffer t: c64[2] constant = (1-2j), (-0+infj)
buffer s: u32[1] shared
function add(a: f32, b: f32) inline  # adds
  v = add.f32(a, b)
  return v
function f() noinline
  index x in [0, 99] parameter
  y in [0, 99] = 99 - x
  return load.u16 p0[y, 0], f32 nan
entry
  index th_x in [0, 127] thread
  index th_y in [0, 0] thread
  index th_z in [0, 0] thread
  index bl_x in [0, 12] thread
  index bl_y in [0, 0] thread
  index bl_z in [0, 0] thread
  if within(bl_x * 128 + th_x, [, 1599]) and eq.pred(u8 1, u8 1)
    i in [0, 1599] = th_x + bl_x * 128
    v0, v1 = call f[i floordiv 16]()
    var w: f32 = decode.f32.bf16(v0)
    for j in [0, 6] = 0 to max(min(i, 7), 1) step 2 lanes
      break if lt.pred(w, f32 -inf)
      set w = add.f32(w, f32 1e-05)
    k in [0, 15] = clamp.s64(s64 0, index.s64(i), s64 15)
    store o0[i floordiv 16, k] = w
    atomic o0[0, 0] = add.add(v1)
  else
    fence
  n = fetch_add s[0] += u32 4294967295
  m = shuffle 16 of n
  m1 = shuffle first 8 of n
  group_reduce w: f32, v: pred by add threads 32 distance 1
  group_reduce w: f32 by add threads 4 distance 8 to all
  copy_async 8: s[0] = s[8]
  wait_copies
  load_matrices 8: s[0] = s[0] transposed
  load_matrices 16: s[4] = s[bl_x * 16]
  matrix_multiply bf16: s[0] += s[4] * s[8]
  multiply_panels f32 16: s[0] += s[4] * s[bl_x * 16]
  barrier
  break
"""


def as_read(text: str) -> str:
    return print_kernel(read_kernel(text))


def test_all_forms_of_statements_and_values_read_back() -> None:
    # the terms of sums stand in the order in which their variables are declared
    assert as_read(SMALL) == SMALL.replace("bl_x * 128 + th_x", "th_x + bl_x * 128")


def test_what_is_read_is_the_kernel_itself() -> None:
    kernel = read_kernel(SMALL)
    assert (kernel.name, kernel.emitter, kernel.grid, kernel.block) == ("k", "loop", (13, 1, 1), (128, 1, 1))
    assert kernel.comment == "any words"
    assert kernel.buffer("p0").layout == (0, 1)
    assert kernel.buffer("o1").alias_of == "p0"
    assert kernel.buffer("t").data == (1 - 2j, complex(-0.0, float("inf")))
    assert [v.name for v in kernel.variables] == ["th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z", "i", "j", "k"]
    assert kernel.function("add").inline is True
    assert kernel.function("f").index == (0,)
    assert [r.type for r in kernel.function("f").results] == ["u16", "f32"]


def test_a_stage_prints_as_text() -> None:
    kernel = ix.emit(ix.hlo.load(CASES[0]).entry)
    for stage in (kernel.ir, kernel.stage("hoist")):
        assert str(stage) == print_kernel(stage)


def stages(case: Path, dialect: str) -> list[tuple[str, Kernel]]:
    kernel = ix.emit(ix.hlo.load(case).entry, dialect=dialect)
    result = [("built", kernel.ir)]
    for p in PASSES:
        result.append((p.name, p.rewrite(result[-1][1], kernel.target)))
    return result


@pytest.mark.parametrize("dialect", ["c", "cuda"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_every_kernel_reads_back_after_every_pass(case: Path, dialect: str) -> None:
    for name, kernel in stages(case, dialect):
        text = print_kernel(kernel)
        assert as_read(text) == text, name


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.stem)
def test_as_much_is_proved_of_what_is_read(case: Path) -> None:
    kernel = ix.emit(ix.hlo.load(case).entry, dialect="cuda").lowered
    statuses = [c.status for c in verify(kernel).checks]
    assert [c.status for c in verify(read_kernel(print_kernel(kernel))).checks] == statuses


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kernel k", "kernels k", "1:1: expected 'kernel', found 'kernels'"),
        ("grid (13, 1, 1)", "grid (13, 1)", "1:28: a grid has three sizes"),
        ("grid (13", "grid (x", "1:29: expected a number, found 'x,'"),
        ("p0: bf16[", "p0: bf17[", "2:12: expected an element type, found 'bf17[100,16]{0,1}'"),
        ("buffer o1:", "buffer p0:", "4:8: there is a buffer p0 already"),
        ("[2] constant", "[2] texture", "5:18: expected one of global, shared, local, constant, found 'texture'"),
        ("add.f32(a, b)", "add.f32(a, c)", "8:18: there is no value c here"),
        ("add.f32(a, b)", "plus.f32(a, b)", "8:7: plus is no operation"),
        ("add.f32(a, b)", "add.f32(a; b)", "8:16: expected ',', found ';'"),
        ("add.f32(a, b)", "add.f32(a, b) c", "8:21: expected the end of the line, found 'c'"),
        ("x in [0, 99]", "x in [0, 99999999999999999999]", "11:11: "),
        ("99 - x", "99 - z", "12:23: there is no index variable z here"),
        ("99 - x", "99 - x -", "12:26: expected an expression"),
        ("99 - x", "99999999999999999999 - x", "12:18: expected an integer of 64 bits"),
        ("call f[", "call g[", "23:19: there is no function g above"),
        ("v0, v1 = call", "v0 = call", "23:15: f has 2 results; 1 are named"),
        ("      break if", "       break if", "26:8: this line is indented by 7 spaces"),
        ("\nentry", "\nbuffer x: f32[] shared\nentry", "14:1: expected 'entry', found 'buffer'"),
        ("  break\n", "  break\nx = 1\n", "46:1: expected the end of the kernel, found 'x'"),
        ("to max", "till max", "25:25: there is no index variable till here"),
        ("k in [0, 15] =", "i in [0, 15] =", "28:7: i was declared with another interval or of another kind"),
    ],
)
def test_bad_text_is_named_with_its_place(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(ix.ParseError) as caught:
        read_kernel(SMALL.replace(old, new, 1))
    place, _, said = message.partition(": ")
    line, column = map(int, place.split(":"))
    assert said in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).endswith(" " * (column - 1) + "^")


@pytest.mark.parametrize("text", ["", "\n\n", "kernel", "kernel k emitter loop grid (1, 1, 1) block (1, 1, 1)\n"])
def test_a_text_that_ends_early_is_an_error(text: str) -> None:
    with pytest.raises(ix.ParseError):
        read_kernel(text)


def test_deep_text_is_an_error() -> None:
    head = SMALL[: SMALL.index("  if within")]
    with pytest.raises(ix.ParseError, match="too deep"):
        read_kernel(head + "".join("  " * k + "if pred True\n" for k in range(1, 5000)))
    with pytest.raises(ix.ParseError, match="too deep"):
        read_kernel(head + "  v = " + "neg.f32(" * 5000 + "f32 0.0" + ")" * 5000)
    assert read_kernel(head + "  j in [0, 1] = " + "(" * 50000 + "th_x" + ")" * 50000 + "\n").body


def test_damaged_text_is_read_or_refused() -> None:
    rng = random.Random(0)
    refused = 0
    for _ in range(2000):
        at = rng.randrange(len(SMALL))
        damaged = SMALL[:at] + rng.choice(["", "(", "]", ",", " ", "7", "x", ".", "\n", "\t", "é"]) + SMALL[at + 1 :]
        try:
            text = as_read(damaged)
        except ix.ParseError:
            refused += 1
        else:
            assert as_read(text) == text
    assert refused > 500
