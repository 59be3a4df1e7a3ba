"""The numbers and polynomials of `math.c` and `math_f64.c`, functions for CPUs that compilers can vectorize."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from indexing.kernels.targets.library import Definition, read_definitions
from indexing.kernels.targets.library_integer import saturate
from indexing.ops.element_types import ELEMENT_TYPES

REM_BITS = 48  # a part of a quotient, which is computed with an error of less than 2**-3

_LN2 = math.log(2)
_TWO_OVER_PI = 0x28BE60DB9391054A7F09D5F47D4D377036D8A5664F10E4107F  # times 2**198
# (e**r - 1 - r) / r**2
_EXP = (0.5, 0.16666515171527863, 0.04166625812649727, 0.008369294926524162, 0.001394667662680149)
# (log(1 + f) - f + f**2 / 2) / f**3 for 1 + f from sqrt(1/2) to sqrt(2): relative error 2**-30
_LOG = (
    *(0.3333331346511841, -0.25000008940696716, 0.2000211924314499, -0.16667994856834412, 0.1421954184770584),
    *(-0.12405594438314438, 0.11888237297534943, -0.11675641685724258, 0.06746465712785721),
)
# erf(x) / x as a quotient of polynomials in x * x, from 0 to 15.6: the least greatest relative error, 2**-28. No coefficient is
# negative, so that nothing cancels.
_ERF_ABOVE = (1.12837917, 0.192534083, 0.0556093466, 0.00419984385, 0.000406594505, 6.61985527e-06)
_ERF_BELOW = (1.0, 0.503962312, 0.117269352, 0.0162265884, 0.00140971522, 7.13337822e-05, 2.50784176e-07)


def _horner(variable: str, coefficients: Sequence[float], kind: str = "f64") -> str:
    """C text of a polynomial in f64 or f32, the constant coefficient first."""
    ending = "f" if kind == "f32" else ""
    text = f"{coefficients[-1]!r}{ending}"
    for coefficient in reversed(coefficients[:-1]):
        text = f"mul_add_{kind}({text}, {variable}, {coefficient!r}{ending})"
    return text


def _quotient_parts() -> str:
    """The statements of a remainder's parts, but for the last one, of `REM_BITS` bits of the quotient each."""
    shifts = range(REM_BITS * (277 // REM_BITS), 0, -REM_BITS)  # a quotient of two f32 is below 2**278
    return " ".join(f"a = b <= 0x1p{129 - k} ? rem_part(a, b, over_b, 0x1p{k}, 0x1p-{k}) : a;" for k in shifts)


#: The texts that take the place of `$NAME`.
NUMBERS: dict[str, object] = {
    "TO_INTEGER": 1.5 * 2**52,  # adding it rounds a number to an integer, in the last bits
    "LN2": _LN2,
    "OVER_LN2": 1 / _LN2,
    "PI": math.pi,
    "HALF": math.pi / 2,
    "QUARTER": math.pi / 4,
    "OVER_HALF": 2 / math.pi,
    "TURN": math.pi / 2 * 2.0**-62,
    "TAN_EIGHTH": math.tan(math.pi / 8),
    "COT_EIGHTH": 1 / math.tan(math.pi / 8),
    "TWO_OVER_PI": ", ".join(f"{_TWO_OVER_PI >> 8 * (22 - k) & 0xFFFFFFFF:#010x}u" for k in range(23)),
    "EXP": _horner("r", _EXP, "f32"),
    "EXPM1": _horner("r", [1 / math.factorial(k) for k in range(1, 11)]),
    "ATANH": _horner("z", [1 / (2 * k + 1) for k in range(9)]),
    "ATAN": _horner("z", [(-1) ** k / (2 * k + 1) for k in range(14)]),
    "SIN": _horner("z", [(-1) ** k / math.factorial(2 * k + 1) for k in range(7)]),
    "COS": _horner("z", [(-1) ** k / math.factorial(2 * k) for k in range(8)]),
    "LOG": _horner("f", _LOG, "f32"),
    "LN2_HIGH": 0x162E42FEE00000 / 2**53,
    "LN2_LOW": 1.9082149292705877e-10,
    "EXP_WIDE": _horner("r", [1 / math.factorial(k) for k in range(2, 14)]),
    "ATANH_WIDE": _horner("z", [2 / (2 * k + 1) for k in range(1, 12)]),
    "ATAN_WIDE": _horner("z", [(-1) ** k / (2 * k + 1) for k in range(1, 21)]),
    "ERF_ABOVE": _horner("z", _ERF_ABOVE, "f32"),
    "ERF_BELOW": _horner("z", _ERF_BELOW, "f32"),
    "REM_PARTS": _quotient_parts(),
}


def _reals() -> Iterator[Definition]:
    for real, bits in (("f32", "u32"), ("f64", "u64")):
        yield from read_definitions("c_reals.c", T=real, B=bits)
        integers = (kind for kind in ELEMENT_TYPES.values() if kind.is_integer)
        yield from (saturate(kind, real, f"choose_{real}({{0}}, {{1}}, {{2}})") for kind in integers)


VECTORIZABLE: tuple[Definition, ...] = (
    *_reals(),
    *read_definitions("math.c", **NUMBERS),
    *read_definitions("math_f64.c", **NUMBERS),
)
