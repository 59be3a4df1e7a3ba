"""Functions of f32 on the processor against f64 of numpy: a bound in units of the last place, and the special values."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from indexing.kernels.ir import nodes as ir
from indexing.kernels.passes.thread_loops import make_thread_loops
from indexing.kernels.targets import TARGETS, write
from indexing.runtime.host_kernel import HostKernel
from ir_kernels import compiled, elementwise, run

BOUND = 0.51  # units in the last place, of an exact result rounded once
IN_F32 = {
    "exp": 1.1,
    "logistic": 2.5,
    "tanh": 2.7,
    "log": 0.9,
    "log1p": 1.5,
    "erf": 5.6,
}  # units, of what is computed in f32
erf = np.vectorize(math.erf, otypes=[np.float64])
UNARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "erf": erf,
}


def floats(step: int) -> np.ndarray:
    """Every `step`-th f32 by its bits, all signs, exponents, infinities and NaN among them, and those beside powers of two."""
    bits = np.arange(0, 1 << 32, step, dtype=np.uint64).astype(np.uint32)
    powers = np.ldexp(np.float32(1), np.arange(-149, 128)).astype(np.float32).view(np.uint32)
    near = np.concatenate([powers + np.uint32(d) for d in (0, 1, 2)] + [powers - np.uint32(1)])
    multiples = (np.arange(1, 2000) * (math.pi / 4)).astype(np.float32).view(np.uint32)
    near = np.concatenate([near, multiples, np.array([0, 0x7F800000, 0x7F7FFFFF, 0x7FC00000, 1], np.uint32)])
    return np.concatenate([bits, near, near | np.uint32(1 << 31)]).view(np.float32)


def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distances in units of the last place of the exact result; 0 where both are NaN or the same infinity."""
    rounded = exact.astype(np.float32)
    spacing = np.ldexp(1.0, np.maximum(np.frexp(np.where(np.isfinite(exact), exact, 1))[1], -125) - 24)
    distance = np.abs(got.astype(np.float64) - exact) / spacing
    distance = np.where(np.isinf(rounded) | np.isinf(got), np.where(got == rounded, 0, np.inf), distance)
    return np.where(np.isnan(exact), np.where(np.isnan(got), 0, np.inf), np.where(np.isnan(got), np.inf, distance))


def check(got: np.ndarray, exact: np.ndarray, bound: float, *inputs: np.ndarray) -> None:
    distance = ulps(got, exact)
    worst = int(np.argmax(distance))
    place = [float(x[worst]) for x in inputs]
    assert distance[worst] <= bound, f"{distance[worst]:.3f} ulp at {place}: {got[worst]}, not {exact[worst]}"
    zero = exact == 0
    assert (np.signbit(got[zero]) == np.signbit(exact[zero])).all()


@pytest.mark.parametrize("opcode", UNARY)
def test_functions_of_one_number(opcode: str) -> None:
    x = floats(20_003 if opcode == "erf" else 5_003)
    k = elementwise(lambda a: ir.Op(opcode, "f32", (a,)), ["f32"], "f32", x.size)
    once = compiled(k)
    with np.errstate(all="ignore"):
        for numbers in (x, x[::-1]):
            (got,) = run(once, numbers, of=k)
            check(got, UNARY[opcode](numbers.astype(np.float64)), IN_F32.get(opcode, BOUND), numbers)


def test_the_error_function_stays_between_its_limits() -> None:
    x = np.linspace(-5, 5, 1_000_001, dtype=np.float32)
    (got,) = run(elementwise(lambda a: ir.Op("erf", "f32", (a,)), ["f32"], "f32", x.size), x)
    assert got.min() == -1 and got.max() == 1 and got[0] == -1 and got[-1] == 1


@pytest.mark.parametrize("opcode", ["pow", "atan2", "rem"])
def test_functions_of_two_numbers(opcode: str) -> None:
    rng = np.random.default_rng(7)
    x, y = (rng.integers(0, 1 << 32, 400_000, dtype=np.uint64).astype(np.uint32).view(np.float32) for _ in "xy")
    near = rng.normal(size=(2, 400_000)).astype(np.float32) * np.float32(6)
    whole = rng.integers(-9, 9, (2, 40_000)).astype(np.float32)
    special = np.array(
        [0, -0.0, 1, -1, 0.5, -0.5, 2, 3, -3, 1e9, -1e9, 3e38, 1e-40, np.inf, -np.inf, np.nan], np.float32
    )
    a, b = (v.reshape(-1) for v in np.meshgrid(special, special))
    x, y = (
        np.concatenate([x, near[0], np.abs(near[0]), whole[0], a]),
        np.concatenate([y, near[1], near[1], whole[1], b]),
    )
    k = elementwise(lambda a, b: ir.Op(opcode, "f32", (a, b)), ["f32", "f32"], "f32", x.size)
    function = {"pow": np.power, "atan2": np.arctan2, "rem": np.fmod}[opcode]
    with np.errstate(all="ignore"):
        (got,) = run(k, x, y)
        exact = function(x.astype(np.float64), y.astype(np.float64))
    check(got, exact, 0 if opcode == "rem" else BOUND, x, y)


@pytest.mark.parametrize("divisor", [256.0, 300.0, 1e10, 1e20, 0.1, -3.0, 1e-38, 1e-45, 3e38, math.inf, 0.0])
def test_a_remainder_by_a_constant(divisor: float) -> None:
    """Which parts of the quotient are left out depends on the divisor; none that has bits is."""
    x = floats(100_003)
    k = elementwise(lambda a: ir.Op("rem", "f32", (a, ir.Constant("f32", divisor))), ["f32"], "f32", x.size)
    with np.errstate(all="ignore"):
        (got,) = run(k, x)
        check(got, np.fmod(x, np.float32(divisor)).astype(np.float64), 0, x)


@pytest.mark.parametrize("opcode", ["maximum", "minimum"])
@pytest.mark.parametrize("constant", [0.0, -0.0, 1.5, math.nan])
def test_an_extremum_of_a_number_and_a_constant(opcode: str, constant: float) -> None:
    """NaN wins, and of two zeros the one with the sign of the extremum."""
    x = np.array([0, -0.0, 1, -1, 1.5, 2, 1e-40, -1e-40, np.inf, -np.inf, np.nan], np.float32)
    known = ir.Constant("f32", constant)
    with np.errstate(all="ignore"):
        expected = (np.maximum if opcode == "maximum" else np.minimum)(x, np.float32(constant))
    zeros = x == constant
    of_zeros = np.signbit(x) & np.signbit(constant) if opcode == "maximum" else np.signbit(x) | np.signbit(constant)
    for value in (lambda a: ir.Op(opcode, "f32", (a, known)), lambda a: ir.Op(opcode, "f32", (known, a))):
        (got,) = run(elementwise(value, ["f32"], "f32", x.size), x)
        np.testing.assert_array_equal(got, expected)
        assert (np.signbit(got[zeros]) == of_zeros[zeros]).all()


@pytest.mark.parametrize("opcode", ["ceil", "floor", "trunc", "round_even", "round_away"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_rounding_to_integers(opcode: str, kind: str) -> None:
    x = np.concatenate(
        [floats(40_009), np.arange(-50, 50).astype(np.float32) / 4, np.float32([0.49999997, -0.49999997])]
    )
    x = x.astype(np.float32 if kind == "f32" else np.float64)
    k = elementwise(lambda a: ir.Op(opcode, kind, (a,)), [kind], kind, x.size)
    with np.errstate(all="ignore"):
        (got,) = run(k, x)
        away = np.copysign(np.trunc(x) + (np.abs(x - np.trunc(x)) >= 0.5) * np.copysign(1, x), x)
        named = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round_even": np.rint}
        expected = named[opcode](x) if opcode in named else np.where(np.abs(x) < 2**52, away, x)
    np.testing.assert_array_equal(got, expected)
    zero = expected == 0
    assert (np.signbit(got[zero]) == np.signbit(expected[zero])).all()


@pytest.mark.parametrize(("dialect", "bound"), [("cuda", 2.5), ("c", 1.1)])
def test_lengths_of_vectors(dialect: str, bound: float) -> None:
    """Definitions compiled for the processor: exact where one side is far longer, up to the largest number."""
    largest = float(np.finfo(np.float32).max)
    special = np.array([0, -0.0, 1, -3, 4, 1e-40, 1e-30, 1e-20, 1e20, largest, np.inf, -np.inf, np.nan], np.float32)
    rng = np.random.default_rng(3)
    x, y = (np.ldexp(rng.normal(size=10_000), rng.integers(-100, 100, 10_000)).astype(np.float32) for _ in "xy")
    a, b = (v.reshape(-1) for v in np.meshgrid(special, special))
    near = np.ldexp(rng.uniform(1, 2, 10_000), rng.choice([-149, -60, -51, -50, 0, 59, 60, 126], 10_000)).astype(
        np.float32
    )
    x, y = np.concatenate([x, a, near]), np.concatenate([y, b, near[::-1] * np.float32(0.75)])
    numbers = np.empty(x.shape, np.complex64)
    numbers.real, numbers.imag = x, y
    k = elementwise(lambda z: ir.Op("abs", "f32", (z,)), ["c64"], "f32", x.size)
    c = TARGETS["c"]
    target = replace(c, library={**c.library, "hypot_f32": TARGETS[dialect].library["hypot_f32"]})
    source = write(make_thread_loops(k), target)
    assert ("ratio" in source) == (dialect == "cuda")
    (got,) = run(HostKernel(k.name, source, k.grid, k.block[0]), numbers, of=k)
    with np.errstate(all="ignore"):
        exact = np.hypot(x.astype(np.float64), y.astype(np.float64))
    is_both = (np.abs(x) == largest) & (np.abs(y) == largest)
    with np.errstate(all="ignore"):
        check(got[~is_both], exact[~is_both], bound, x[~is_both], y[~is_both])
    assert np.isinf(got[is_both]).all()
