"""Functions of f64 on the processor against mpmath: a bound in units of the last place, and the special values."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from indexing.kernels.ir import nodes as ir
from ir_kernels import elementwise, run

#: By opcode, the exact function of finite numbers, values at zero, both infinities and NaN, and a bound on the error.
UNARY: dict[str, tuple[Callable[[mpmath.mpf], mpmath.mpf], Callable[[np.ndarray], np.ndarray], float]] = {
    "exp": (mpmath.exp, np.exp, 1),
    "expm1": (mpmath.expm1, np.expm1, 2),
    "log": (mpmath.log, np.log, 1),
    "log1p": (mpmath.log1p, np.log1p, 1.6),
    "logistic": (lambda x: 1 / (1 + mpmath.exp(-x)), lambda x: 1 / (1 + np.exp(-x)), 2.6),
    "tanh": (mpmath.tanh, np.tanh, 2.6),
    "sinh": (mpmath.sinh, np.sinh, 2.6),
    "cosh": (mpmath.cosh, np.cosh, 1.6),
    "atan": (mpmath.atan, np.arctan, 1.6),
}
LOWEST = {"log": 0, "log1p": -1}
SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan])
# Where results overflow, become subnormal or 0, and where ranges are reduced.
EDGES = (
    709.782712893384,
    709.79,
    710.475860073943,
    710.48,
    -708.5,
    -745.133219101941,
    -745.14,
    -36.7,
    5e-324,
    2.3e-308,
)
EDGES = (
    *EDGES,
    1.7e308,
    20.0,
    0.41421356237309503,
    2.414213562373095,
    0.7071067811865475,
    1.4142135623730951,
    -1 + 2**-53,
)


def numbers() -> np.ndarray:
    """Numbers of all exponents, many of them near 1 and where exponentials are numbers, and the edges with their signs."""
    rng = np.random.default_rng(5)
    spread = np.ldexp(rng.uniform(-1, 1, 600), rng.integers(-1073, 1024, 600))
    near = [rng.uniform(-limit, limit, 1000) for limit in (0.01, 1, 2, 50, 750)]
    return np.concatenate([spread, *near, EDGES, np.negative(EDGES)])


def distances(got: np.ndarray, exact: list[mpmath.mpf]) -> list[float]:
    """Distances in units of the last place of the exact results, which may be too large for a number."""
    return [distance(float(g), e) for g, e in zip(got, exact, strict=True)]


def distance(got: float, exact: mpmath.mpf) -> float:
    if np.isinf(got) or np.isinf(float(exact)):
        return 0.0 if got == float(exact) else np.inf
    return float(abs(mpmath.mpf(got) - exact) / mpmath.mpf(float(np.spacing(abs(float(exact))))))


@pytest.mark.parametrize("opcode", UNARY)
def test_functions_of_one_number(opcode: str) -> None:
    exact, at_special, bound = UNARY[opcode]
    x = numbers()
    x = x[x > LOWEST.get(opcode, -np.inf)]
    k = elementwise(lambda a: ir.Op(opcode, "f64", (a,)), ["f64"], "f64", x.size + SPECIAL.size)
    (got,) = run(k, np.concatenate([x, SPECIAL]))
    with mpmath.workdps(40), np.errstate(all="ignore"):
        far = distances(got[: x.size], [exact(mpmath.mpf(float(v))) for v in x])
        expected = at_special(SPECIAL)
    worst = int(np.argmax(far))
    assert far[worst] <= bound, f"{far[worst]:.3f} units at {x[worst]!r}: {got[worst]!r}"
    np.testing.assert_array_equal(got[x.size :], expected)
    assert (np.signbit(got[x.size :])[:4] == np.signbit(expected)[:4])[~np.isnan(expected[:4])].all()


@pytest.mark.parametrize("opcode", ["expm1", "log1p", "tanh", "sinh", "atan"])
def test_tiny_numbers_are_their_own_results(opcode: str) -> None:
    x = np.concatenate([np.arange(1, 9) * 5e-324, np.arange(1, 9) * -5e-324 - 2**-1030, [1e-18, -3e-200]])
    (got,) = run(elementwise(lambda a: ir.Op(opcode, "f64", (a,)), ["f64"], "f64", x.size), x)
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("opcode", LOWEST)
def test_logarithms_at_the_end_of_their_domain(opcode: str) -> None:
    lowest = float(LOWEST[opcode])
    x = np.array([lowest, np.nextafter(lowest, -2), -3.0, -1e300])
    (got,) = run(elementwise(lambda a: ir.Op(opcode, "f64", (a,)), ["f64"], "f64", x.size), x)
    np.testing.assert_array_equal(got, [-np.inf, np.nan, np.nan, np.nan])


def test_angles_of_points() -> None:
    rng = np.random.default_rng(6)
    y, x = np.concatenate(
        [rng.normal(size=(2, 1000)), np.ldexp(rng.normal(size=(2, 1000)), rng.integers(-9, 9, (2, 1000)))], 1
    )
    a, b = (v.reshape(-1) for v in np.meshgrid([0, -0.0, 1, -2, 5e-324, 1e308, np.inf, -np.inf, np.nan], SPECIAL))
    k = elementwise(lambda a, b: ir.Op("atan2", "f64", (a, b)), ["f64", "f64"], "f64", y.size + 2 * a.size)
    (got,) = run(k, np.concatenate([y, a, b]), np.concatenate([x, b, a]))
    with mpmath.workdps(40):
        far = distances(
            got[: y.size], [mpmath.atan2(mpmath.mpf(float(s)), mpmath.mpf(float(t))) for s, t in zip(y, x, strict=True)]
        )
    assert max(far) <= 2.6
    expected = np.arctan2(np.concatenate([a, b]), np.concatenate([b, a]))
    np.testing.assert_allclose(got[y.size :], expected, rtol=4e-16, atol=0)
    there = ~np.isnan(expected)
    assert (np.signbit(got[y.size :]) == np.signbit(expected))[there].all()
