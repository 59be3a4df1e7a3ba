"""Arithmetic of floats below f32, which kernels do in f32: rounded once, of all pairs of values of 8 bits, of many of 16.

The oracle is arithmetic in f64, which is exact or rounds innocuously (53 bits are more than twice the format's and two), and the
nearest number of the format by a search among all of them; of two that are equally near the one whose last bit is 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import indexing as ix
from indexing.ops.element_types import ELEMENT_TYPES
from kernels import compiled

NARROW = [k.name for k in ELEMENT_TYPES.values() if k.is_narrow_float]
OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide
}  # fmt: skip
COUNT = 1 << 16


def values_of(name: str) -> np.ndarray:
    """All values of a format, in order of their bits."""
    kind = ELEMENT_TYPES[name]
    return np.arange(1 << kind.bits, dtype=f"u{kind.dtype.itemsize}").view(kind.dtype)


def pairs(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of a format of 8 bits; of one of 16 random pairs, many of them of neighbouring exponents."""
    values = values_of(name)
    if values.size <= 256:
        return np.repeat(values, values.size), np.tile(values, values.size)
    rng = np.random.default_rng(3)
    x, y = (rng.integers(0, values.size, COUNT) for _ in range(2))
    near = (x + rng.integers(-(1 << 12), 1 << 12, COUNT)) % values.size
    return values[x], values[np.where(rng.integers(0, 2, COUNT) == 0, y, near)]


def nearest(exact: np.ndarray, name: str) -> np.ndarray:
    """The numbers of a format nearest to those of f64, NaN where the largest is not near enough."""
    values = values_of(name)
    finite = values[np.isfinite(values.astype(np.float64))]
    order = np.argsort(finite.astype(np.float64), kind="stable")
    numbers, codes = finite.astype(np.float64)[order], finite.view(f"u{finite.dtype.itemsize}")[order]
    at = np.clip(np.searchsorted(numbers, exact), 1, numbers.size - 1)
    low, high = exact - numbers[at - 1], numbers[at] - exact
    takes_low = (low < high) | ((low == high) & (codes[at - 1] % 2 == 0))
    return np.where(np.abs(exact) <= numbers[-1], np.where(takes_low, numbers[at - 1], numbers[at]), np.nan)


@pytest.mark.parametrize("name", NARROW)
def test_arithmetic_is_rounded_once(name: str) -> None:
    x, y = pairs(name)
    lines = "\n".join(f"  r{k} = {name}[{x.size}] {op}(x, y)" for k, op in enumerate(OPERATIONS))
    text = f"ENTRY e {{\n  x = {name}[{x.size}] parameter(0)\n  y = {name}[{x.size}] parameter(1)\n{lines}\n"
    kinds = ", ".join(f"{name}[{x.size}]" for _ in OPERATIONS)
    results = ", ".join(f"r{k}" for k in range(len(OPERATIONS)))
    executable = compiled(f"{text}  ROOT all = ({kinds}) tuple({results})\n}}", device="cpu")
    a, b = x.astype(np.float64), y.astype(np.float64)
    numbers = values_of(name).astype(np.float64)
    for got, (op, function) in zip(executable(x, y), OPERATIONS.items(), strict=True):
        with np.errstate(all="ignore"):
            exact = function(a, b)
        inside = np.abs(exact) <= numbers[np.isfinite(numbers)].max()
        if name == "f8e8m0fnu":  # positive powers of two alone, the larger one of two that are equally near
            inside &= (exact >= np.nanmin(numbers)) & (np.frexp(exact)[0] != 0.75)
        expected = nearest(exact[inside], name)
        np.testing.assert_array_equal(np.asarray(got)[inside].astype(np.float64), expected, err_msg=op)


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_square_roots_of_all_values(name: str) -> None:
    x = values_of(name)
    text = f"ENTRY e {{\n  x = {name}[{x.size}] parameter(0)\n  ROOT y = {name}[{x.size}] sqrt(x)\n}}"
    got = np.asarray(compiled(text, device="cpu")(x)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        exact = np.sqrt(x.astype(np.float64))
    inside = np.isfinite(exact)
    np.testing.assert_array_equal(got[inside], nearest(exact[inside], name))


@pytest.mark.parametrize("name", NARROW)
def test_whole_numbers_beyond_the_largest_are_infinite(name: str) -> None:
    """Of f8e3m4, the largest number is 15.5: 16, to which `ceil` rounds it, is none."""
    x = values_of(name)
    text = f"""ENTRY e {{
      x = {name}[{x.size}] parameter(0)
      up = {name}[{x.size}] ceil(x)
      ROOT y = f32[{x.size}] convert(up)
    }}"""
    with np.errstate(invalid="ignore", over="ignore"):
        expected = np.ceil(x.astype(np.float64)).astype(x.dtype).astype(np.float32)
    np.testing.assert_array_equal(compiled(text)(x), expected)


@pytest.mark.parametrize("name", NARROW)
def test_what_is_only_moved_keeps_its_bits(name: str) -> None:
    """Those of NaN too, through a type that holds them all."""
    x = values_of(name)
    text = f"""ENTRY e {{
      x = {name}[{x.size}] parameter(0)
      w = f32[{x.size}] convert(x)
      ROOT y = {name}[{x.size}] convert(w)
    }}"""
    got = np.asarray(compiled(text, device="cpu")(x))
    np.testing.assert_array_equal(got.view(f"u{x.dtype.itemsize}"), x.view(f"u{x.dtype.itemsize}"))


def test_each_half_of_a_word_of_bf16_becomes_a_float_by_one_instruction() -> None:
    """By hand: vectors of eight elements of two operands have 16 halves, each the upper half of a float."""
    text = "ENTRY e { p = bf16[65536] parameter(0) q = bf16[65536] parameter(1) ROOT r = bf16[65536] divide(p, q) }"
    ptx = ix.runtime.ptx(ix.emit(ix.hlo.parse(text).entry, dialect="cuda", vector_width=8), "sm_80")
    assert len(re.findall(r"mov\.b32 %\w+, \{%rs\d+, %rs\d+\};", ptx)) == 16
    assert not re.search(r"shl\.b32 %\w+, %\w+, 16;", ptx)


@pytest.mark.parametrize(("name", "products"), [("bf16", 1), ("f16", 1), ("f32", 5)])
def test_an_exponential_of_a_narrow_float_is_one_product_and_a_power_of_two(name: str, products: int) -> None:
    text = f"ENTRY e {{ p = {name}[4096] parameter(0) ROOT r = {name}[4096] exponential(p) }}"
    ptx = ix.runtime.ptx(ix.emit(ix.hlo.parse(text).entry, dialect="cuda", vector_width=1), "sm_80")
    assert len(re.findall(r"ex2\.approx", ptx)) == 1
    assert len(re.findall(r"(mul|fma)\.r?.*f32", ptx)) == products


@pytest.mark.parametrize(
    ("result", "instruction", "code"),
    [
        ("f32", "maximum(p, q)", r"max\.NaN\.f32"),
        ("s32", "convert(p)", r"cvt\.rzi\.s32\.f32"),
        ("bf16", "convert(p)", r"cvt\.rn\.bf16"),
    ],
)
def test_a_compiler_finds_equal_values_that_are_instructions_of_assembly(
    result: str, instruction: str, code: str
) -> None:
    text = f"""ENTRY e {{
      p = f32[4096] parameter(0)
      q = f32[4096] parameter(1)
      a = {result}[4096] {instruction}
      b = {result}[4096] {instruction}
      ROOT r = ({result}[4096], {result}[4096]) tuple(a, b)
    }}"""
    kernel = ix.emit(ix.hlo.parse(text).entry, dialect="cuda", vector_width=1)
    assert len(re.findall(code, ix.runtime.ptx(kernel, "sm_90"))) == 1
