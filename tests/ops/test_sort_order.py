"""Stable orders: those of numbers by their keys, those that only the comparator tells, against a sort by comparisons."""

import functools

import numpy as np
import pytest

import indexing as ix

SPECIAL = np.array([0.0, -0.0, 1, -1, 1, np.inf, -np.inf, 0.5, -0.0, 0.0, 3, 1], np.float32)


def program(kinds: list[str], body: str, length: int) -> ix.hlo.Module:
    parameters = "\n".join(
        f"  {name}{k} = {kind}[] parameter({2 * k + side})"
        for k, kind in enumerate(kinds)
        for side, name in enumerate("ab")
    )
    shapes = [f"{kind}[3,{length}]" for kind in kinds]
    inputs = "\n".join(f"  x{k} = {s} parameter({k})" for k, s in enumerate(shapes))
    result = shapes[0] if len(kinds) == 1 else f"({', '.join(shapes)})"
    operands = ", ".join(f"x{k}" for k in range(len(kinds)))
    return ix.hlo.parse(
        f"less {{\n{parameters}\n{body}\n}}\nENTRY e {{\n{inputs}\n"
        f"  ROOT s = {result} sort({operands}), dimensions={{1}}, is_stable=true, to_apply=less\n}}"
    )


def by_comparisons(less, *rows: np.ndarray) -> list[np.ndarray]:
    """Each row sorted by Python's own stable sort."""
    out = [np.empty_like(r) for r in rows]
    for k in range(rows[0].shape[0]):
        elements = list(zip(*(r[k] for r in rows), strict=True))
        order = sorted(elements, key=functools.cmp_to_key(lambda a, b: -1 if less(a, b) else 1 if less(b, a) else 0))
        for o, column in zip(out, zip(*order, strict=True), strict=True):
            o[k] = column
    return out


CASES = {
    "rising": (["f32", "s32"], "ROOT c = pred[] compare(a0, b0), direction=LT", lambda a, b: a[0] < b[0]),
    "falling": (["f32", "s32"], "ROOT c = pred[] compare(a0, b0), direction=GT", lambda a, b: a[0] > b[0]),
    "second": (["f32", "s32"], "ROOT c = pred[] compare(b1, a1), direction=GT", lambda a, b: b[1] > a[1]),
    "magnitude": (
        ["f32", "s32"],
        "p = f32[] abs(a0)\n q = f32[] abs(b0)\n ROOT c = pred[] compare(p, q), direction=LT",
        lambda a, b: abs(a[0]) < abs(b[0]),
    ),
    "two keys": (
        ["f32", "s32"],
        "e = pred[] compare(a0, b0), direction=EQ\n t = pred[] compare(a1, b1), direction=LT\n"
        "l = pred[] compare(a0, b0), direction=LT\n ROOT c = pred[] select(e, t, l)",
        lambda a, b: (a[0], a[1]) < (b[0], b[1]),
    ),
    "nothing": (["f32", "s32"], "ROOT c = pred[] constant(false)", lambda a, b: False),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("length", [1, 2, 12, 65])
def test_orders(case: str, length: int) -> None:
    kinds, body, less = CASES[case]
    module = program(kinds, body, length)
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        x = rng.choice(SPECIAL, (3, length)) if seed else rng.standard_normal((3, length)).astype(np.float32)
        y = rng.integers(-4, 4, (3, length)).astype(np.int32)
        for got, want in zip(ix.evaluate(module, x, y), by_comparisons(less, x, y), strict=True):
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("case", ["rising", "falling", "magnitude", "nothing"])
@pytest.mark.parametrize("kind", ["f32", "s32"])
def test_orders_of_one_operand(case: str, kind: str) -> None:
    """Elements that the comparator gives no order keep their places, unless nothing tells them apart."""
    _, body, less = CASES[case]
    module = program([kind], body.replace("f32", kind), 65)
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        x = rng.choice(SPECIAL, (3, 65)) if seed else rng.standard_normal((3, 65)) * 4
        x = np.nan_to_num(x, posinf=9, neginf=-9).astype(module.entry.parameters[0].shape.dtype)
        (want,) = by_comparisons(less, x)
        actual = ix.evaluate(module, x)
        np.testing.assert_array_equal(actual, want)
        np.testing.assert_array_equal(np.signbit(actual), np.signbit(want))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_total_order_tells_zeros_and_nans_apart(kind: str) -> None:
    """A sort of numpy would make all NaNs of f16 positive."""
    module = program([kind], "ROOT c = pred[] compare(a0, b0), direction=LT, type=TOTALORDER", 6)
    dtype = module.entry.parameters[0].shape.dtype
    row = np.array([np.nan, 0.0, -0.0, -np.nan, np.inf, -np.inf]).astype(dtype)
    got = ix.evaluate(module, np.stack([row, row[::-1], np.roll(row, 2)]))
    for actual in got:
        assert np.isnan(actual[[0, 5]]).all() and actual[1] == -np.inf and actual[4] == np.inf
        assert np.signbit(actual).tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize("kind", ["s8", "u8", "s64", "u64", "bf16", "f64", "u32"])
def test_types(kind: str) -> None:
    module = program([kind], "ROOT c = pred[] compare(a0, b0), direction=LT", 40)
    dtype = module.entry.parameters[0].shape.dtype
    x = np.random.default_rng(0).integers(0, 250, (3, 40)).astype(np.uint8).astype(dtype)
    np.testing.assert_array_equal(ix.evaluate(module, x), np.sort(x, axis=-1))


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("k", [1, 7, 40])
def test_topk_takes_the_first_of_equal_ones(k: int, largest: str) -> None:
    module = ix.hlo.parse(
        f"ENTRY e {{ x = f32[3,40] parameter(0) ROOT t = (f32[3,{k}], s32[3,{k}]) topk(x), k={k}, largest={largest} }}"
    )
    for seed in (0, 1):
        x = np.random.default_rng(seed).integers(-5, 5, (3, 40)).astype(np.float32)
        values, places = ix.evaluate(module, x)
        order = np.argsort(-x if largest == "true" else x, axis=-1, kind="stable")[:, :k]
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))


@pytest.mark.parametrize("kind", ["f32", "f64", "s32", "u8"])
@pytest.mark.parametrize(("length", "k"), [(4096, 1), (4096, 16), (5003, 17), (5003, 625), (5003, 626)])
def test_few_of_long_rows(kind: str, length: int, k: int) -> None:
    rng, (rows, few) = np.random.default_rng(9), (f"{kind}[3,{length}]", f"3,{k}")
    text = f"ENTRY e {{ x = {rows} parameter(0)\n ROOT t = ({kind}[{few}], s32[{few}]) topk(x), k={k}, largest=true }}"
    module = ix.hlo.parse(text)
    dtype = module.entry.parameters[0].shape.dtype
    many, equal, rising = rng.permutation(length), rng.integers(0, 3, length), np.arange(length)
    x = np.stack([many % 200, equal, rising % 200 if kind == "u8" else rising]).astype(dtype)
    values, places = ix.evaluate(module, x)
    order = np.argsort(-x.astype(np.int64), axis=-1, kind="stable")[:, :k]
    assert np.array_equal(places, order)
    assert np.array_equal(values, np.take_along_axis(x, order, axis=-1))
