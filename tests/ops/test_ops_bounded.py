"""Dimensions of which only a bound is known: computed by the reference where sizes come from operands, else refused."""

import numpy as np
import pytest

import indexing as ix
from kernels import compiled

ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
X = np.arange(1, 7, dtype=np.float32)


def program(body, sizes="6", bounded="<=6"):
    """A program of `d`, the first n of p, and `body` in which each line is an instruction."""
    lines = [f"p = f32[{sizes}] parameter(0)", "n = s32[] parameter(1)", "z = f32[] constant(0)"]
    lines += [f"d = f32[{bounded}] set-dimension-size(p, n), dimensions={{0}}", *body]
    return ADD + "ENTRY e {\n" + "\n".join(lines) + "\n}\n"


@pytest.mark.parametrize("n", [0, 1, 4, 6])
def test_only_elements_in_use_take_part(n):
    used = X[:n]
    for body, want in [
        (["ROOT g = s32[] get-dimension-size(d), dimensions={0}"], np.int32(n)),
        (["ROOT r = f32[] reduce(d, z), dimensions={0}, to_apply=add"], used.sum()),
        (["m = f32[<=6] multiply(d, d)", "ROOT r = f32[] reduce(m, z), dimensions={0}, to_apply=add"], (used**2).sum()),
        (["ROOT r = f32[<=6] reverse(d), dimensions={0}"], used[::-1]),
        (["ROOT r = f32[<=12] concatenate(d, d), dimensions={0}"], np.concatenate([used, used])),
        (["t = (f32[<=6], s32[]) tuple(d, n)", "ROOT r = f32[<=6] get-tuple-element(t), index=0"], used),
        (["r = f32[<=6] negate(d)", "ROOT g = s32[] get-dimension-size(r), dimensions={0}"], np.int32(n)),
    ]:
        got = ix.evaluate(program(body), X, np.int32(n))
        np.testing.assert_array_equal(got, want)


LESS = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GT }\n"


@pytest.mark.parametrize("n", [0, 2, 4, 6])
def test_sizes_follow_from_those_of_the_operand(n):
    padded = np.zeros(2 * n + 1 if n else 2, np.float32)
    padded[1 : 2 * n : 2] = X[:n]
    for body, want in [
        ("f32[<=3,2] reshape(d)", X[:n].reshape(-1, 2)),
        ("f32[2,<=3] reshape(d)", X[:n].reshape(2, -1)),
        ("f32[<=13] pad(d, z), padding=1_1_1", padded),
        ("f32[<=6] sort(d), dimensions={0}, to_apply=less", X[:n][::-1]),
    ]:
        got = ix.evaluate(LESS + program(["ROOT r = " + body]), X, np.int32(n))
        assert got.shape == want.shape
        np.testing.assert_array_equal(got, want)


def test_sizes_that_do_not_follow_are_refused():
    for body, error, message in [
        ("f32[<=3,2] reshape(d)", ix.UnsupportedOp, "the 3 elements in use do not tell the sizes .* dynamic-reshape"),
        ("f32[<=3,<=2] reshape(d)", ix.UnsupportedOp, "the 3 elements in use do not tell the sizes"),
        (
            "f32[12] concatenate(d, d), dimensions={0}",
            ix.IndexingError,
            r"\(6,\), not f32\[12\]; .* as bounds too: <=8",
        ),
        ("f32[<=2] pad(d, z), padding=-2_-2", ix.IndexingError, "takes away more elements than are in use"),
    ]:
        with pytest.raises(error, match=message):
            ix.evaluate(program(["ROOT r = " + body]), X, np.int32(3))


def test_a_dimension_in_the_middle():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    text = """ENTRY e {
      p = f32[2,3,4] parameter(0)
      n = s32[] parameter(1)
      d = f32[2,<=3,4] set-dimension-size(p, n), dimensions={1}
      ROOT t = f32[4,2,<=3] transpose(d), dimensions={2,0,1}
    }"""
    np.testing.assert_array_equal(ix.evaluate(text, x, np.int32(2)), x[:, :2].transpose(2, 0, 1))


def test_a_dynamic_reshape_keeps_the_order_of_elements_in_use():
    body = ["two = s32[] constant(2)", "h = s32[] divide(n, two)", "ROOT r = f32[2,<=3] dynamic-reshape(d, two, h)"]
    got = ix.evaluate(program(body), X, np.int32(4))
    np.testing.assert_array_equal(got, [[1, 2], [3, 4]])
    with pytest.raises(ix.IndexingError, match="r: 5 elements in use"):
        ix.evaluate(program(body), X, np.int32(5))


def test_a_bounded_parameter_takes_any_size_up_to_the_bound():
    text = "ENTRY e {\n  p = f32[<=6] parameter(0)\n  ROOT r = f32[<=6] negate(p)\n}\n"
    for executable in (lambda x: ix.evaluate(text, x), compiled(text, device="reference")):
        np.testing.assert_array_equal(executable(X[:3]), -X[:3])
        with pytest.raises(ix.IndexingError):
            executable(np.zeros(7, np.float32))


@pytest.mark.parametrize("n", [-1, 7])
def test_a_size_outside_of_the_bound_is_an_error(n):
    with pytest.raises(ix.IndexingError, match=f"d: {n} is no size"):
        ix.evaluate(program(["ROOT g = s32[] get-dimension-size(d), dimensions={0}"]), X, np.int32(n))


def test_operands_must_have_equal_sizes_in_use():
    body = ["one = s32[] constant(1)", "e = f32[<=6] set-dimension-size(p, one), dimensions={0}"]
    for operation in ("f32[<=6] add(d, e)", "pred[<=6] compare(d, e), direction=LT"):
        with pytest.raises(ix.IndexingError, match=r"\(1,\) and \(4,\) in use"):
            ix.evaluate(program([*body, f"ROOT r = {operation}"]), X, np.int32(4))


@pytest.mark.parametrize(
    "operation",
    [
        "f32[] dot(d, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        "f32[<=6] iota(), iota_dimension=0",
        "f32[<=6] broadcast(z), dimensions={}",
    ],
)
def test_what_the_reference_cannot_compute_is_refused_by_name(operation):
    text = program([f"ROOT r = {operation}"])
    with pytest.raises(ix.UnsupportedOp, match="r: .* bounded dimensions"):
        ix.evaluate(text, X, np.int32(4))
    with pytest.raises(ix.UnsupportedOp, match="r: .* bounded dimensions"):
        compiled(text, device="reference")


def test_kernels_refuse_bounded_dimensions_by_name():
    text = program(["ROOT r = f32[] reduce(d, z), dimensions={0}, to_apply=add"])
    with pytest.raises(ix.UnsupportedOp, match=r"d is f32\[<=6\]"):
        compiled(text, device="cpu")
    with pytest.raises(ix.UnsupportedOp, match=r"p is f32\[<=6\]"):
        ix.emit(ix.hlo.parse("ENTRY e {\n  p = f32[<=6] parameter(0)\n  ROOT r = f32[<=6] negate(p)\n}\n").entry)
    inside = program(["ROOT c = f32[] call(d), to_apply=sum"]).replace(
        "ENTRY", "sum {\n  q = f32[<=6] parameter(0)\n  y = f32[] constant(0)\n"
        "  ROOT s = f32[] reduce(q, y), dimensions={0}, to_apply=add\n}\nENTRY")  # fmt: skip
    assert ix.evaluate(inside, X, np.int32(4)) == 10
    with pytest.raises(ix.UnsupportedOp, match=r"is f32\[<=6\]"):
        compiled(inside, device="cpu")


def test_maps_are_unknown_with_the_reason():
    body = ["r = f32[<=6] negate(d)", "g = s32[] get-dimension-size(d), dimensions={0}",
            "s = f32[] reduce(r, z), dimensions={0}, to_apply=add", "ROOT t = (s32[], f32[]) tuple(g, s)"]  # fmt: skip
    module = ix.hlo.parse(program(body))
    for name in ("d", "r", "g", "s"):
        instruction = module.entry.instructions[name]
        for (actual,) in ix.output_to_input(instruction):
            assert (actual.exactness, actual.map.is_undefined) == ("unknown", True)
            assert "f32[<=6] is in use" in actual.reason
        for (actual,) in ix.input_to_output(instruction, 0):
            assert actual.exactness == "unknown"
    assert [m.exactness for maps in ix.output_to_input(module.entry.root) for m in maps] == ["exact"]


def test_a_size_reaches_what_asks_for_it_through_a_fusion():
    text = program(["ROOT f = s32[] fusion(p, n), kind=kLoop, calls=size"]).replace(
        "ENTRY", "size {\n  q = f32[6] parameter(0)\n  m = s32[] parameter(1)\n"
        "  b = f32[<=6] set-dimension-size(q, m), dimensions={0}\n"
        "  ROOT g = s32[] get-dimension-size(b), dimensions={0}\n}\nENTRY")  # fmt: skip
    assert ix.evaluate(text, X, np.int32(4)) == 4
    (of_array, of_size) = ix.output_to_input(ix.hlo.parse(text).entry.root)
    assert [m.exactness for m in of_array] == [m.exactness for m in of_size] == ["unknown"]
