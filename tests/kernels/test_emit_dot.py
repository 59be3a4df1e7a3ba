"""The dot emitter: sizes with and without rests, dimension numbers, types, epilogues, knobs; thread maps."""

from functools import partial

import numpy as np
import pytest

import indexing as ix
from indexing import kernels as emission
from indexing.kernels.emitters import EMITTERS, panels, simt
from kernels import as_fusion, assert_written_once, check, launch


@pytest.fixture(autouse=True)
def without_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the dot emitter take what others would take."""
    others = tuple(e for e in EMITTERS if e not in (panels.EMITTER, simt.EMITTER))
    monkeypatch.setattr(emission, "choose_emitter", partial(emission.choose_emitter, emitters=others))


def product(left: str, right: str, out: str, numbers: str, kinds: tuple[str, str, str] = ("f32", "f32", "f32")) -> str:
    return f"""fused {{
      x = {kinds[0]}[{left}] parameter(0)
      y = {kinds[1]}[{right}] parameter(1)
      ROOT d = {kinds[2]}[{out}] dot(x, y), {numbers}
    }}"""


PLAIN = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
BATCH = "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"


@pytest.mark.parametrize(
    ("left", "right", "out", "numbers"),
    [
        ("64,32", "32,64", "64,64", PLAIN),
        ("1021,43", "43,50", "1021,50", PLAIN),
        ("3,7", "7,130", "3,130", PLAIN),
        ("1,9", "9,16", "1,16", PLAIN),
        ("40,33", "40,200", "33,200", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ("5,24,8", "5,8,17", "5,24,17", BATCH),
        ("24,5,8", "8,5,20", "5,24,20", BATCH.replace("={0}", "={1}").replace("rhs_contracting_dims={1}", "rhs_contracting_dims={0}")),
        ("6,4,5", "4,5,3,8", "6,3,8", "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}"),
        ("13", "13,40", "40", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ("20,16", "30,16", "20,30", "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
    ],
)  # fmt: skip
def test_sizes(left: str, right: str, out: str, numbers: str) -> None:
    text = product(left, right, out, numbers)
    kernel = check(text, "dot")
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    proofs = kernel.verify()
    assert not proofs.refuted and not proofs.open


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        (product("30,16", "16,5", "30,5", PLAIN), "0,1"),
        (product("5,70,8", "5,8,3", "5,70,3", BATCH), "1,2,0"),
        (product("5,6,8", "5,8,33", "5,6,33", BATCH), "2,0,1"),
    ],
)
def test_neighbouring_threads_have_neighbours_in_the_memory_of_the_result(text: str, layout: str) -> None:
    kernel = check(text.replace("] dot(", f"]{{{layout}}} dot("), "dot")
    stores = [a for a in ix.coalescing(kernel).accesses if a.kind == "write"]
    assert stores and all(a.coalesced for a in stores)


@pytest.mark.parametrize(
    "kinds", [("bf16", "bf16", "bf16"), ("bf16", "bf16", "f32"), ("f64", "f64", "f64"), ("f16", "f32", "f32")]
)
def test_types(kinds: tuple[str, str, str]) -> None:
    check(product("14,24", "24,32", "14,32", PLAIN, kinds), "dot")


def test_producers_are_rounded() -> None:
    """By hand: 1 + 2**-9 is 1 in bf16, so that sums of its products with 1 are whole."""
    text = """fused {
      p = f32[16,24] parameter(0)
      y = bf16[24,40] parameter(1)
      x = bf16[16,24] convert(p)
      ROOT d = f32[16,40] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }"""
    fusion = as_fusion(text)
    kernel = ix.emit(fusion, dialect="c")
    assert kernel.emitter == "dot"
    arrays = [np.full((16, 24), 1 + 2**-9, np.float32), np.ones((24, 40), fusion.operands[1].shape.dtype)]
    (result,) = launch(kernel, arrays, [fusion.shape])
    assert (result == 24).all()


@pytest.mark.parametrize("text", [product("8,32", "32,15", "8,15", PLAIN), product("64,3", "3,64", "64,64", PLAIN)])
def test_few_columns_or_products_are_left_to_the_loop(text: str) -> None:
    assert ix.emit(ix.hlo.parse(text).entry).emitter == "loop"


def test_wide_integers_are_left_to_the_loop() -> None:
    text = product("64,32", "32,64", "64,64", PLAIN, ("s32", "s32", "s32"))
    assert ix.emit(ix.hlo.parse(text).entry).emitter == "loop"


def test_prologue_and_epilogue() -> None:
    text = """fused {
      p = bf16[33,24] parameter(0)
      y = f32[24,40] parameter(1)
      b = f32[40] parameter(2)
      x = f32[33,24] convert(p)
      e = f32[33,24] exponential(x)
      d = f32[33,40] dot(e, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      bias = f32[33,40] broadcast(b), dimensions={1}
      s = f32[33,40] add(d, bias)
      r = f32[33,8,5] reshape(s)
      ROOT t = (f32[33,40], f32[33,8,5]) tuple(d, r)
    }"""
    kernel = check(text, "dot")
    assert_written_once(kernel, [ix.hlo.Shape.array("f32", (33, 40)), ix.hlo.Shape.array("f32", (33, 8, 5))])


@pytest.mark.parametrize("knobs", [{"rows": 1}, {"rows": 8, "block_size": 7}, {"rows": 2, "block_size": 1}])
def test_knobs(knobs: dict[str, int]) -> None:
    check(product("21,19", "19,50", "21,50", PLAIN), "dot", **knobs)


def test_rows_share_what_is_read() -> None:
    """Each element of the right operand is read once for all rows of a thread."""
    kernel = ix.emit(ix.hlo.parse(product("2048,64", "64,64", "2048,64", PLAIN)).entry, rows=8)
    step = len(kernel.input_maps[1])
    assert len(kernel.input_maps[0]) == 8 * step
    with pytest.raises(ix.IndexingError, match="rows is in "):
        ix.emit(ix.hlo.parse(product("2048,64", "64,64", "2048,64", PLAIN)).entry, rows=3)
