"""Generators of elementwise ops: each adds one instruction over arrays of equal sizes."""

from __future__ import annotations

from collections.abc import Callable

from modules.program import EXACT, Array, Builder, Tolerance, Value
from modules.values import ALL, ANY, COMPLEX, F8S, FLOATS, INTEGERS, REAL, SIGNED, Data, bits, is_float

Generator = Callable[[Builder], object]

REALS = FLOATS * 3 + tuple(k for k in F8S if k not in ("f8e8m0fnu", "f4e2m1fn"))
NUMBERS = (*REALS, *COMPLEX, *INTEGERS)
#: Types whose bits jaxlib counts right (deviations.AVOIDED).
COUNTED = tuple(k for k in INTEGERS if k not in ("s2", "s4"))

# Opcode: the types of operands, and how many units in the last place of f32 (of f64, times DOUBLE) results may differ.
UNARY: dict[str, tuple[tuple[str, ...], float]] = {
    "abs": ((*REALS, *SIGNED), 0),
    "ceil": (REALS, 0),
    "floor": (REALS, 0),
    "negate": (NUMBERS, 0),
    "not": (("pred", *INTEGERS), 0),
    "popcnt": (COUNTED, 0),
    "count-leading-zeros": (COUNTED, 0),
    "round-nearest-afz": (REALS, 0),
    "round-nearest-even": (REALS, 0),
    "sign": ((*REALS, *SIGNED), 0),
    "sqrt": ((*REALS, *COMPLEX), 4),
    "rsqrt": ((*REALS, *COMPLEX), 8),
    "cbrt": (REALS, 8),
    "exponential": ((*REALS, *COMPLEX), 8),
    "exponential-minus-one": ((*REALS, *COMPLEX), 8),
    "log": ((*REALS, *COMPLEX), 8),
    "log-plus-one": ((*REALS, *COMPLEX), 256),
    "logistic": (REALS, 8),
    "sine": ((*REALS, *COMPLEX), 8),
    "cosine": ((*REALS, *COMPLEX), 8),
    "tan": ((*REALS, *COMPLEX), 16),
    "tanh": ((*REALS, *COMPLEX), 16),
    "erf": (REALS, 8),
}
BINARY: dict[str, tuple[tuple[str, ...], float]] = {
    "add": ((*NUMBERS, "pred"), 0),
    "subtract": (NUMBERS, 0),
    "multiply": ((*NUMBERS, "pred"), 0),
    "divide": (NUMBERS, 0),
    "remainder": ((*REALS, *INTEGERS), 0),
    "maximum": ((*REALS, *INTEGERS, "pred"), 0),
    "minimum": ((*REALS, *INTEGERS, "pred"), 0),
    "atan2": (REALS, 16),
    "and": (("pred", *INTEGERS), 0),
    "or": (("pred", *INTEGERS), 0),
    "xor": (("pred", *INTEGERS), 0),
    "shift-left": (INTEGERS, 0),
    "shift-right-arithmetic": (INTEGERS, 0),
    "shift-right-logical": (INTEGERS, 0),
}
COMPLEX_ULPS = 32  # relative to the number's magnitude: a product or quotient of complex numbers rounds in many ways


def _tolerance(kind: str, ulps: float) -> Tolerance:
    return Tolerance(max(ulps, COMPLEX_ULPS)) if kind in COMPLEX else Tolerance(ulps)


def _computed(kind: str) -> bool:
    """Does a result of this type come out of arithmetic that a compiler may contract or reorder?"""
    return is_float(kind) or kind in COMPLEX


def finish(b: Builder, opcode: str, kind: str, operands: list[Value], ulps: float, **more: object) -> Value:
    """An instruction of arithmetic. What it computes in floats, no further arithmetic reads: see `Builder.array`."""
    tolerance = _tolerance(kind, ulps) if _computed(kind) else EXACT
    arithmetic = opcode in ("add", "subtract", "multiply", "divide")
    if tolerance == EXACT and arithmetic and _computed(kind):
        tolerance = Tolerance(0.5)
    return b.emit(opcode, Array(kind, operands[0].sizes), operands, tolerance=tolerance, **more)  # type: ignore[arg-type]


def unary(b: Builder, opcode: str) -> Value:
    kinds, ulps = UNARY[opcode]
    x = b.array(kinds, ranks=b.ranks)
    return finish(b, opcode, x.kind, [x], ulps)


def power(b: Builder) -> Value:
    """Exponents of integers up to 63; complex numbers of moderate size, since special ones have powers of every kind."""
    x = b.array(NUMBERS, ranks=b.ranks, data=ANY if b.chance(0.5) else REAL)
    if x.kind in INTEGERS:
        most = 2 ** (bits(x.kind) - 1) - 1
        data = Data("range", max(-3, -most) if x.kind[0] == "s" else 0, min(63, most))
    elif x.kind in COMPLEX:
        x, data = b.array([x.kind], x.sizes, REAL), REAL
    else:
        data = x.data
    return finish(b, "power", x.kind, [x, b.array([x.kind], x.sizes, data)], 16)


def binary(b: Builder, opcode: str) -> Value:
    kinds, ulps = BINARY[opcode]
    x = b.array(kinds, ranks=b.ranks)
    return finish(b, opcode, x.kind, [x, b.array([x.kind], x.sizes)], ulps)


def compare(b: Builder) -> Value:
    kinds = (*ALL, *COMPLEX)
    x = b.array(kinds, ranks=b.ranks)
    ordered = () if x.kind in COMPLEX else ("LT", "LE", "GT", "GE")
    attributes = f"direction={b.pick('EQ', 'NE', *ordered)}"
    if is_float(x.kind) and x.kind in FLOATS and b.chance(0.3):
        attributes += ", type=TOTALORDER"
    y = b.array([x.kind], x.sizes)
    return b.emit("compare", Array("pred", x.sizes), [x, y], attributes, tolerance=EXACT)


def select(b: Builder) -> Value:
    x = b.array(ALL, ranks=b.ranks, moved=True)
    y = b.array([x.kind], x.sizes, moved=True)
    sizes = () if b.chance(0.2) else x.sizes
    return b.emit("select", x.shape, [b.array(["pred"], sizes), x, y])


def clamp(b: Builder) -> Value:
    x = b.array((*REALS, *INTEGERS), ranks=b.ranks)
    sizes = () if b.chance(0.3) else x.sizes
    low, high = b.array([x.kind], sizes), b.array([x.kind], sizes)
    return b.emit("clamp", x.shape, [low, x, high], tolerance=EXACT)


def complex_(b: Builder) -> Value:
    x = b.array(("f32", "f64"), ranks=b.ranks, moved=True)
    y = b.array([x.kind], x.sizes, moved=True)
    return b.emit("complex", Array({"f32": "c64", "f64": "c128"}[x.kind], x.sizes), [x, y])


def part(b: Builder, opcode: str) -> Value:
    x = b.array((*COMPLEX, *COMPLEX, "f32"), ranks=b.ranks)
    kind = {"c64": "f32", "c128": "f64"}.get(x.kind, x.kind)
    return b.emit(opcode, Array(kind, x.sizes), [x], tolerance=EXACT)


def magnitude(b: Builder) -> Value:
    x = b.array(COMPLEX, ranks=b.ranks)
    kind = {"c64": "f32", "c128": "f64"}[x.kind]
    return b.emit("abs", Array(kind, x.sizes), [x], tolerance=Tolerance(4))


def is_finite(b: Builder) -> Value:
    x = b.array(REALS, ranks=b.ranks)
    return b.emit("is-finite", Array("pred", x.sizes), [x], tolerance=EXACT)


def convert(b: Builder) -> Value:
    target = b.pick(*ALL)
    sources = ALL if target in COMPLEX else [k for k in ALL if k not in COMPLEX]
    x = b.array(list(sources), ranks=b.ranks)
    return b.emit("convert", Array(target, x.sizes), [x], tolerance=EXACT)


def bitcast_convert(b: Builder) -> Value:
    """The bits as another type of the same width, or split or joined along the last dimension."""
    whole = [k for k in ALL if k != "pred" and k not in COMPLEX]
    x = b.array(whole, ranks=b.ranks)
    width = bits(x.kind)
    last = x.sizes[-1] if x.sizes else 1
    targets = [k for k in whole if bits(k) == width]
    if b.ranks[1] > 0:
        targets += [k for k in whole if bits(k) < width] + [k for k in whole if x.sizes and bits(k) == width * last]
    kind = b.rng.choice(targets)
    sizes = x.sizes
    if bits(kind) < width:
        sizes = (*x.sizes, width // bits(kind))
    elif bits(kind) > width:
        sizes = x.sizes[:-1]
    return b.emit("bitcast-convert", Array(kind, sizes), [x], tolerance=EXACT)


def reduce_precision(b: Builder) -> Value:
    x = b.array(FLOATS, ranks=b.ranks)
    attributes = f"exponent_bits={b.rng.randint(1, 9)}, mantissa_bits={b.rng.randint(0, 12)}"
    return b.emit("reduce-precision", x.shape, [x], attributes, tolerance=EXACT)


def _of(function: Callable[[Builder, str], Value], opcode: str) -> Generator:
    return lambda b: function(b, opcode)


GENERATORS: dict[str, tuple[Generator, ...]] = {
    **{opcode: (_of(unary, opcode),) for opcode in UNARY},
    **{opcode: (_of(binary, opcode),) for opcode in BINARY},
    "abs": (_of(unary, "abs"), magnitude),
    "power": (power,),
    "compare": (compare,),
    "select": (select,),
    "clamp": (clamp,),
    "complex": (complex_,),
    "real": (_of(part, "real"),),
    "imag": (_of(part, "imag"),),
    "is-finite": (is_finite,),
    "convert": (convert,),
    "bitcast-convert": (bitcast_convert,),
    "reduce-precision": (reduce_precision,),
}
