"""Infinities and NaNs: what annex G of C99 and IEEE arithmetic give, in the reference and in kernels alike."""

import cmath
import itertools
import math

import numpy as np
import pytest

import indexing as ix
from kernels import compiled

PARTS = [0.0, -0.0, 0.5, -0.5, 3.0, -3.0, 30.0, math.inf, -math.inf, math.nan]
GRID = np.array([complex(a, b) for a, b in itertools.product(PARTS, PARTS)])
FUNCTIONS = {
    "sqrt": cmath.sqrt, "tanh": cmath.tanh, "exponential": cmath.exp, "cosine": cmath.cos, "sine": cmath.sin,
    "tan": cmath.tan, "cosh": cmath.cosh, "sinh": cmath.sinh, "log": cmath.log,
}  # fmt: skip
RAISING = {  # Python raises here instead of giving annex G's value
    "exponential": lambda z: complex(math.inf, math.nan) if z.real == math.inf else complex(math.nan, math.nan),
    "sinh": lambda z: complex(z.real if z.real == 0 or math.isinf(z.real) else math.nan, math.nan),
    "tanh": lambda z: complex(z.real if z.real == 0 else math.nan, math.nan),
    "cosh": lambda z: complex(
        math.inf if math.isinf(z.real) else math.nan, z.real if z.real == 0 else math.nan
    ),
    "log": lambda z: complex(-math.inf, math.atan2(z.imag, z.real)),
}  # fmt: skip


def annex_g(name, z):
    """The value that annex G gives; the circular functions are the hyperbolic ones of i * z."""
    circular = {"sine": "sinh", "cosine": "cosh", "tan": "tanh"}.get(name)
    if circular:
        w = annex_g(circular, complex(-z.imag, z.real))
        return w if name == "cosine" else complex(w.imag, -w.real)
    if name == "tanh" and z.real == 0 and not math.isfinite(z.imag):
        return complex(0, math.nan)  # C17; C99 and Python have two NaNs
    try:
        return FUNCTIONS[name](z)
    except (ValueError, OverflowError):
        return RAISING[name](z)


def same_part(got, want, sign):
    """Equal as far as annex G says: not the sign of a NaN, nor (unless `sign`) of an infinity or a zero."""
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if want == 0 or math.isinf(want):
        return abs(got) == abs(want) and (not sign or math.copysign(1, got) == math.copysign(1, want))
    return math.isclose(got, want, rel_tol=1e-4)


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_complex_functions_at_infinities(name, kind):
    text = f"ENTRY e {{\n p = {kind}[{GRID.size}] parameter(0)\n ROOT r = {kind}[{GRID.size}] {name}(p)\n}}\n"
    x = GRID.astype(np.complex64 if kind == "c64" else np.complex128)
    on_device = compiled(text)
    assert on_device.reference_steps == ()
    for results in (ix.evaluate(text, x), on_device(x), on_device(x)):
        for z, got in zip(GRID, results, strict=True):
            want = annex_g(name, complex(z))
            finite = math.isfinite(z.real) and math.isfinite(z.imag)
            assert same_part(got.real, want.real, finite), (z, got, want)
            assert same_part(got.imag, want.imag, finite), (z, got, want)


def quotient(a: complex, b: complex) -> complex:
    """The algorithm that annex G of C99 gives in its example, G.5.1, scaled by hand where Python would raise."""
    infinite, finite = (any(map(math.isinf, (z.real, z.imag))) for z in (a, b)), cmath.isfinite
    a_infinite, b_infinite = infinite

    def box(z: complex) -> tuple[float, float]:
        return tuple(math.copysign(1.0 if math.isinf(p) else 0.0, p) for p in (z.real, z.imag))

    if b == 0:
        return complex(*(math.copysign(math.inf, b.real) * p if p else math.nan for p in (a.real, a.imag)))
    if a_infinite and finite(b):
        (p, q), r, s, scale = box(a), b.real, b.imag, math.inf
    elif b_infinite and finite(a):
        p, q, (r, s), scale = a.real, a.imag, box(b), 0.0
    else:
        return a / b
    return complex(scale * (p * r + q * s), scale * (q * r - p * s))


@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_complex_quotients_of_zeros_and_infinities(kind):
    a, b = (np.array(x) for x in zip(*itertools.product(GRID, GRID), strict=True))
    n, dtype = len(a), np.complex64 if kind == "c64" else np.complex128
    text = f"ENTRY e {{\n p = {kind}[{n}] parameter(0)\n q = {kind}[{n}] parameter(1)\n ROOT r = {kind}[{n}] divide(p, q)\n}}\n"
    x, y = a.astype(dtype), b.astype(dtype)
    on_device = compiled(text)
    for results in (ix.evaluate(text, x, y), on_device(x, y)):
        for p, q, got in zip(a, b, results, strict=True):
            want = quotient(complex(p), complex(q))
            if cmath.isnan(want) and not cmath.isinf(want):
                assert not cmath.isfinite(got), (p, q, got)  # which part is NaN is left open
            elif cmath.isinf(want):
                assert cmath.isinf(got), (p, q, got, want)
            else:
                assert same_part(got.real, want.real, False) and same_part(got.imag, want.imag, False), (
                    p,
                    q,
                    got,
                    want,
                )


def test_the_inverse_root_of_infinite_numbers_is_zero():
    x = np.array([complex(math.inf, 1), complex(-0.3, -math.inf), complex(-math.inf, math.inf)], np.complex64)
    text = "ENTRY e {\n p = c64[3] parameter(0)\n ROOT r = c64[3] rsqrt(p)\n}\n"
    for got in (ix.evaluate(text, x), compiled(text)(x)):
        assert (got == 0).all()


@pytest.mark.parametrize("opcode", ["log", "log-plus-one"])
@pytest.mark.parametrize(("kind", "large"), [("c64", 3e38), ("c128", 1.7e308)])
def test_complex_logarithms_of_large_numbers_do_not_overflow(opcode, kind, large):
    x = np.array([complex(large, large), complex(-large, large)], np.complex64 if kind == "c64" else np.complex128)
    text = f"ENTRY e {{\n p = {kind}[2] parameter(0)\n ROOT r = {kind}[2] {opcode}(p)\n}}\n"
    want = [math.log(large) + math.log(2) / 2 + angle * 1j for angle in (math.pi / 4, 3 * math.pi / 4)]
    for got in (ix.evaluate(text, x), compiled(text)(x)):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_complex_logarithms_beside_one_keep_both_parts(kind):
    """Against the first terms of the series, part by part."""
    z = np.array([1e-10 + 1e-13j, 1e-20 + 3e-21j, -1e-12 + 1e-9j, complex(1e-6, -0.0)])
    z = z.astype(np.complex64 if kind == "c64" else np.complex128)
    want = (wide := z.astype(np.complex128)) - wide**2 / 2 + wide**3 / 3
    text = f"ENTRY e {{\n p = {kind}[4] parameter(0)\n ROOT r = {kind}[4] log-plus-one(p)\n}}\n"
    for got in (ix.evaluate(text, z), compiled(text)(z)):
        np.testing.assert_allclose(got.real, want.real, rtol=1e-6)
        np.testing.assert_allclose(got.imag, want.imag, rtol=1e-6)


@pytest.mark.parametrize("opcode", ["log-plus-one", "rsqrt", "divide"])
def test_complex_scalars(opcode):
    operands = "p, p" if opcode == "divide" else "p"
    text = f"ENTRY e {{\n p = c64[] parameter(0)\n ROOT r = c64[] {opcode}({operands})\n}}\n"
    x = np.complex64(3 + 4j)
    want = {"log-plus-one": cmath.log(4 + 4j), "rsqrt": 1 / (2 + 1j), "divide": 1}[opcode]
    np.testing.assert_allclose(ix.evaluate(text, x), want, rtol=1e-6)


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_tables_of_constants_hold_infinities_and_nans(kind):
    values = [math.nan, math.inf, -math.inf, 1.5, -0.0, 2, math.nan, 0.25, 1, -1, 3, 7.25]
    listed = ", ".join(map(str, values))
    text = (
        f"f {{\n p = {kind}[12] parameter(0)\n c = {kind}[12] constant({{{listed}}})\n"
        f" n = {kind}[12] negate(p)\n ROOT r = ({kind}[12], {kind}[12]) tuple(n, c)\n}}\n"
        f"ENTRY e {{\n p = {kind}[12] parameter(0)\n"
        f" ROOT r = ({kind}[12], {kind}[12]) fusion(p), kind=kLoop, calls=f\n}}\n"
    )
    x = np.arange(12).astype(ix.hlo.parse(text).entry.parameters[0].shape.dtype)
    for got in (ix.evaluate(text, x), compiled(text)(x)):
        np.testing.assert_array_equal(got[1].astype(np.float64), values)


def test_complex_square_roots_of_large_numbers_do_not_overflow():
    x = np.array([3e38, -3e38, 3e38j, 3e38 + 3e38j, -3e38 - 3e38j, 1e30 + 1j], np.complex64)
    text = "ENTRY e {\n p = c64[6] parameter(0)\n ROOT r = c64[6] sqrt(p)\n}\n"
    np.testing.assert_allclose(compiled(text)(x), np.sqrt(x.astype(np.complex128)), rtol=1e-6)


def test_complex_exponentials_whose_modulus_alone_overflows():
    x = np.array([89 + 1.5707j, 89 - 1.5707j, 89 + 1.5708j], np.complex64)
    text = "ENTRY e {\n p = c64[3] parameter(0)\n ROOT r = c64[3] exponential(p)\n}\n"
    want = np.exp(x.astype(np.complex128))
    for got in (ix.evaluate(text, x), compiled(text)(x)):
        np.testing.assert_allclose(got.real, want.real, rtol=1e-4)


@pytest.mark.parametrize(
    ("opcode", "x", "want"),
    [
        ("logistic", -100 + 1j, np.exp(-100 + 1j)),
        ("logistic", complex(-100, 100), np.exp(complex(-100, 100))),
        ("logistic", complex(-math.inf, 0), 0),
        ("exponential-minus-one", complex(math.inf, 0), complex(math.inf, 0)),
        ("exponential-minus-one", complex(-math.inf, 0), -1),
        ("sign", complex(math.inf, 1), complex(math.nan, 0)),
        ("sign", complex(3, -4), 0.6 - 0.8j),
        ("sign", 0, 0),
    ],
)
def test_other_complex_functions_far_out(opcode, x, want):
    """By their definitions: exp(z) / (1 + exp(z)), exp(z) - 1, z / |z| part by part."""
    text = f"ENTRY e {{\n p = c128[1] parameter(0)\n ROOT r = c128[1] {opcode}(p)\n}}\n"
    values = np.array([x], np.complex128)
    for got in (ix.evaluate(text, values), compiled(text)(values)):
        np.testing.assert_allclose([got[0].real, got[0].imag], [want.real, want.imag], rtol=1e-9, atol=1e-60)


@pytest.mark.parametrize("window", ["size=2 pad=1_1", "size=2 pad=1_1 lhs_dilate=2", "size=2 stride=2 pad=0_1"])
def test_padding_of_a_convolution_is_zeros_that_meet_infinite_weights(window):
    """Against a sum over a padded copy of the input, without the terms of holes."""
    x, w = np.array([1, 2, 3], np.float32), np.array([np.inf, 1], np.float32)
    dilate, stride = (2 if "dilate" in window else 1), (2 if "stride" in window else 1)
    low = 1 if "pad=1" in window else 0
    row = np.zeros(low + 2 * dilate + 2, np.float32)
    row[low : low + 2 * dilate + 1 : dilate] = x
    terms = [[k for k in range(2) if (o + k - low) % dilate == 0] for o in range(0, len(row) - 1, stride)]
    with np.errstate(invalid="ignore"):
        want = np.array([sum(row[o * stride + k] * w[k] for k in taps) for o, taps in enumerate(terms)])
    text = (f"ENTRY e {{\n p = f32[1,1,3] parameter(0)\n k = f32[1,1,2] parameter(1)\n"
            f" ROOT o = f32[1,1,{len(want)}] convolution(p, k), window={{{window}}}, dim_labels=bf0_io0->bf0\n}}\n")  # fmt: skip
    for run in (lambda *a: ix.evaluate(text, *a), compiled(text)):
        np.testing.assert_array_equal(run(x.reshape(1, 1, 3), w.reshape(1, 1, 2)).ravel(), want)
        finite = run(x.reshape(1, 1, 3), np.ones((1, 1, 2), np.float32)).ravel()
        np.testing.assert_array_equal(finite, [row[o] + row[o + 1] for o in range(0, len(row) - 1, stride)])
