"""Every operation of the IR on every type, as C on the processor, against numpy; NVRTC and OpenCL take the same kernels."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.opcodes import OPCODES
from indexing.kernels.targets import TARGETS, write
from indexing.ops.element_types import ELEMENT_TYPES
from ir_kernels import BL_X, NUMPY, TH_X, compiled, given, held, kernel, loaded, result, run, stored

INTEGERS = [f"{s}{b}" for s in "su" for b in (8, 16, 32, 64)]
FLOATS, COMPLEX = ["f32", "f64"], ["c64", "c128"]
NARROW = [k.name for k in ELEMENT_TYPES.values() if k.is_narrow_float]
Expected = Callable[..., np.ndarray]
COUNT = 3000


def truncated(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quotients towards zero and remainders in Python's integers, with HLO's answers for the divisor 0."""
    quotients, rests = [], []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        q = -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        quotients.append(q)
        rests.append(x if y == 0 else x - q * y)
    return wrapped(quotients, a.dtype), wrapped(rests, a.dtype)


def wrapped(values: list[int], dtype: np.dtype) -> np.ndarray:
    mask = (1 << 8 * dtype.itemsize) - 1
    return np.array([v & mask for v in values], np.uint64).astype(f"u{dtype.itemsize}").view(dtype)


def power(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    def one(x: int, y: int) -> int:
        if y >= 0:
            return pow(x, y, 1 << 64)
        return {1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0)

    return wrapped([one(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], a.dtype)


def shifted(a: np.ndarray, n: np.ndarray, how: str) -> np.ndarray:
    bits = 8 * a.dtype.itemsize
    out = []
    for x, y in zip(a.tolist(), n.view(f"u{a.dtype.itemsize}").tolist(), strict=True):
        low = x & ((1 << bits) - 1)
        signed = low - (1 << bits) if low >> (bits - 1) else low
        left, right = (low << min(y, bits)), (low >> min(y, bits))
        out.append({"shl": left, "shr_logical": right, "shr_arithmetic": signed >> min(y, bits)}[how])
    return wrapped(out, a.dtype)


def counted(a: np.ndarray, how: str) -> np.ndarray:
    bits = 8 * a.dtype.itemsize
    lows = [x & ((1 << bits) - 1) for x in a.tolist()]
    return np.array([x.bit_count() if how == "popcount" else bits - x.bit_length() for x in lows]).astype(a.dtype)


def extremum(a: np.ndarray, b: np.ndarray, larger: bool) -> np.ndarray:
    if a.dtype.kind != "f":
        return np.maximum(a, b) if larger else np.minimum(a, b)
    by_sign = np.where(np.signbit(a) == larger, b, a)
    return np.where(a == b, by_sign, np.maximum(a, b) if larger else np.minimum(a, b))


def sign(a: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "c":
        return np.where(a == 0, a, a / np.where(a == 0, 1, np.abs(a)))
    return np.where((a == 0) | (a != a), a, np.copysign(1, a)) if a.dtype.kind == "f" else np.sign(a)


def total_order(a: np.ndarray) -> np.ndarray:
    bits = a.view(f"i{a.dtype.itemsize}")
    return np.where(bits < 0, np.iinfo(bits.dtype).max ^ bits, bits)


def joined(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    out = np.empty(re.shape, np.complex128 if re.dtype == np.float64 else np.complex64)
    out.real, out.imag = re, im
    return out


def logical(name: str) -> Expected:
    return {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[name]


COMPARE: dict[str, Expected] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal
}  # fmt: skip
ARITHMETIC: dict[str, Expected] = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
EXACT: dict[str, Expected] = {
    "maximum": lambda a, b: extremum(a, b, True),
    "minimum": lambda a, b: extremum(a, b, False),
    "neg": lambda a: 0 - a if a.dtype.kind in "iu" else -a,
    "sign": sign,
    "abs": lambda a: np.where(a < 0, 0 - a, a) if a.dtype.kind == "i" else np.abs(a),
}
ANALYTIC: dict[str, Expected] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": lambda x: np.exp(np.log(x) / 3) if x.dtype.kind == "c" else np.cbrt(x),
}  # fmt: skip
REAL: dict[str, Expected] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "erf": lambda x: np.array([math.erf(v) for v in x]), "ceil": np.ceil,
    "floor": np.floor, "trunc": np.trunc, "round_even": np.rint,
    "round_away": lambda x: np.where(np.abs(x) < 1e15, np.copysign(np.floor(np.abs(x) + 0.5), x), x),
}  # fmt: skip


def operations(kind: str) -> list[tuple[str, str, int, Expected]]:
    """Opcode, type of the result, arity, and the result in numpy."""
    out: list[tuple[str, str, int, Expected]] = [
        (n, "pred", 2, f) for n, f in COMPARE.items() if kind[0] != "c" or n in ("eq", "ne")
    ]
    if kind == "pred":
        return [*out, *((n, kind, 2, logical(n)) for n in ("and", "or", "xor")), ("not", kind, 1, lambda a: 1 - a)]
    out += [(n, kind, 2, f) for n, f in ARITHMETIC.items()]
    out += [(n, kind, OPCODES[n].arity, f) for n, f in EXACT.items() if kind[0] != "c" or n in ("neg", "sign")]
    if kind in INTEGERS:
        out += [(n, kind, 2, logical(n)) for n in ("and", "or", "xor")]
        out += [("not", kind, 1, np.invert), ("div", kind, 2, lambda a, b: truncated(a, b)[0])]
        out += [("rem", kind, 2, lambda a, b: truncated(a, b)[1]), ("pow", kind, 2, power)]
        out += [(n, kind, 2, lambda a, b, n=n: shifted(a, b, n)) for n in ("shl", "shr_logical", "shr_arithmetic")]
        out += [(n, kind, 1, lambda a, n=n: counted(a, n)) for n in ("popcount", "clz")]
        return [*out, ("clamp", kind, 3, lambda low, x, high: np.minimum(np.maximum(x, low), high))]
    out += [("div", kind, 2, np.divide), ("pow", kind, 2, np.power)]
    out += [(n, kind, 1, f) for n, f in ANALYTIC.items()]
    if kind in COMPLEX:
        real = "f32" if kind == "c64" else "f64"
        return [*out, ("abs", real, 1, np.abs), ("real", real, 1, np.real), ("imag", real, 1, np.imag)]
    u, s = kind.replace("f", "u"), kind.replace("f", "s")
    out += [(n, kind, 1, f) for n, f in REAL.items()]
    out += [("exp_narrow", kind, 1, np.exp)] if kind == "f32" else []
    out += [("rem", kind, 2, np.fmod), ("atan2", kind, 2, np.arctan2), ("copysign", kind, 2, np.copysign)]
    out += [
        ("mul_add", kind, 3, lambda a, b, c: a * b + c),
        ("is_finite", "pred", 1, np.isfinite),
        ("total_order", s, 1, total_order),
        ("bits", u, 1, lambda a: a.view(f"u{a.dtype.itemsize}")),
    ]
    complex_kind = "c64" if kind == "f32" else "c128"
    return [*out, ("complex", complex_kind, 2, joined)]


def numbers(kind: str, rng: np.random.Generator) -> np.ndarray:
    dtype = NUMPY[kind]
    if kind == "pred":
        return rng.integers(0, 2, COUNT).astype(np.uint8)
    if kind in INTEGERS:
        info = np.iinfo(dtype)
        special = np.array([0, 1, 2, 3, 7, info.max, info.min, info.max - 1, info.min + 1], dtype)
        small = rng.integers(max(info.min, -10), 40, COUNT).astype(dtype)
        wide = rng.integers(info.min, info.max, COUNT, dtype=dtype, endpoint=True)
        mixed = np.where(rng.integers(0, 2, COUNT) == 0, small, wide)
        return np.where(rng.integers(0, 4, COUNT) == 0, special[rng.integers(0, special.size, COUNT)], mixed)
    if kind in COMPLEX:
        return (rng.normal(size=COUNT) + 1j * rng.normal(size=COUNT)).astype(dtype)
    special = np.array([0, -0.0, 1, -1, 2, 0.5, -0.5, 1.5, np.inf, -np.inf, np.nan], dtype)
    normal = (rng.normal(size=COUNT) * 3).astype(dtype)
    return np.where(rng.integers(0, 3, COUNT) == 0, special[rng.integers(0, special.size, COUNT)], normal)


def operations_kernel(kind: str) -> ir.Kernel:
    """All operations on a type in one kernel, one output each."""
    place = BL_X * 128 + TH_X
    operands = [loaded(ir.Load(stored(kind), f"p{k}", (place,)), kind) for k in range(3)]
    lets = [ir.Let(f"x{k}", operand) for k, operand in enumerate(operands)]
    refs = [ir.Ref(kind, f"x{k}") for k in range(3)]
    stores = [
        ir.Store(f"o{k}", (place,), held(ir.Op(opcode, to, tuple(refs[:arity]))))
        for k, (opcode, to, arity, _) in enumerate(operations(kind))
    ]
    buffers = [given(k, kind, COUNT) for k in range(3)]
    buffers += [result(k, to, COUNT) for k, (_, to, _, _) in enumerate(operations(kind))]
    return kernel([ir.If((ir.Within(place, 0, COUNT - 1),), (*lets, *stores))], buffers, -(-COUNT // 128), 128)


KINDS = ["pred", *INTEGERS, *FLOATS, *COMPLEX]


@pytest.mark.parametrize("kind", KINDS)
def test_operations(kind: str) -> None:
    ir_kernel = operations_kernel(kind)
    once = compiled(ir_kernel)
    for seed in (1, 2):
        inputs = [numbers(kind, np.random.default_rng([seed, k])) for k in range(3)]
        outputs = run(once, *inputs, of=ir_kernel)
        for got, (opcode, to, arity, function) in zip(outputs, operations(kind), strict=True):
            with np.errstate(all="ignore"):
                expected = function(*inputs[:arity]).astype(NUMPY[to])
            if (
                opcode in ANALYTIC
                or opcode in ("exp_narrow", "pow", "div", "erf", "atan2", "sign", "abs")
                or opcode in (*REAL, "mul_add")
                or kind in COMPLEX
            ):
                tolerance = 2e-4 if kind == "c64" else 1e-6 if kind == "f32" else 1e-11
                least = tolerance * (100 if opcode == "mul_add" else 0.1)  # the product may be rounded, and cancelled
                np.testing.assert_allclose(got, expected, rtol=tolerance, atol=least, err_msg=opcode)
            else:
                np.testing.assert_array_equal(got, expected, err_msg=opcode)


def test_every_opcode_is_among_them() -> None:
    here = {opcode for kind in KINDS for opcode, *_ in operations(kind)}
    below = {
        "select",
        "convert",
        "from_bits",
        "encode",
        "decode",
        "exact_bits",
        "round",
        "wrap",
        "saturate",
        "reduce_precision",
    }
    of_words = {"pack", "unpack_low", "unpack_high", *(n for n in OPCODES if n.startswith("packed_"))}  # CUDA's alone
    assert set(OPCODES) == here | below | of_words


# ---------------------------------------------------------------- conversions


def many(kind: str, outputs: list[tuple[str, Callable[[ir.Value], ir.Value]]]) -> ir.Kernel:
    place = BL_X * 128 + TH_X
    x = ir.Let("x", loaded(ir.Load(stored(kind), "p0", (place,)), kind))
    stores = [ir.Store(f"o{k}", (place,), held(f(ir.Ref(kind, "x")))) for k, (_, f) in enumerate(outputs)]
    buffers = [given(0, kind, COUNT), *(result(k, to, COUNT) for k, (to, _) in enumerate(outputs))]
    return kernel([ir.If((ir.Within(place, 0, COUNT - 1),), (x, *stores))], buffers, -(-COUNT // 128), 128)


def converted(x: np.ndarray, source: str, to: str) -> np.ndarray:
    if to == "pred":
        return (x != 0).astype(np.uint8)
    if source in COMPLEX and to not in COMPLEX:
        x = x.real
    if to in INTEGERS and x.dtype.kind == "f":
        info = np.iinfo(NUMPY[to])
        return np.array([saturated(v, info.min, info.max) for v in x.tolist()], NUMPY[to])
    return x.astype(NUMPY[to])


def saturated(value: float, low: int, high: int) -> int:
    if value != value:
        return 0
    if value in (float("inf"), float("-inf")):
        return int(high if value > 0 else low)
    return min(max(int(value), int(low)), int(high))


@pytest.mark.parametrize("kind", KINDS)
def test_conversions(kind: str) -> None:
    ir_kernel = many(kind, [(to, lambda x, to=to: ir.Op("convert", to, (x,))) for to in KINDS])
    x = numbers(kind, np.random.default_rng(3))
    if kind in FLOATS:
        x = np.where(np.arange(COUNT) % 3 == 0, x * np.float32(1e5), x).astype(x.dtype)
        x[: COUNT // 5] *= x.dtype.type(1e15)
    for got, to in zip(run(ir_kernel, x), KINDS, strict=True):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(got, converted(x, kind, to), err_msg=to)


@pytest.mark.parametrize("kind", FLOATS)
def test_saturation_to_every_integer_type(kind: str) -> None:
    names = [k.name for k in ELEMENT_TYPES.values() if k.is_integer]
    storage = {n: ELEMENT_TYPES[n].storage_type for n in names}
    ir_kernel = many(kind, [(storage[n], lambda x, n=n: ir.Op("saturate", storage[n], (x,), n)) for n in names])
    x = numbers(kind, np.random.default_rng(4)) * NUMPY[kind].type(50)
    for got, name in zip(run(ir_kernel, x), names, strict=True):
        bits, is_signed = ELEMENT_TYPES[name].bits, name[0] == "s"
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
        expected = np.array([saturated(v, low, high) for v in x.tolist()], got.dtype)
        np.testing.assert_array_equal(got, expected, err_msg=name)


def bits_of(name: str) -> np.ndarray:
    """All bit patterns of a narrow float, and of f16 and bf16."""
    width = ELEMENT_TYPES[name].bits
    return np.arange(1 << width, dtype=np.uint16 if width == 16 else np.uint8)


def run_chunks(ir_kernel: ir.Kernel, x: np.ndarray) -> list[np.ndarray]:
    once = compiled(ir_kernel)
    padded = np.resize(x, -(-x.size // COUNT) * COUNT)
    parts = [run(once, padded[k : k + COUNT], of=ir_kernel) for k in range(0, padded.size, COUNT)]
    return [np.concatenate(p)[: x.size] for p in zip(*parts, strict=True)]


@pytest.mark.parametrize("name", NARROW)
def test_narrow_floats(name: str) -> None:
    """decode of all patterns; encode of numbers on, between and beyond them; round as the two together."""
    storage, dtype = ELEMENT_TYPES[name].storage_type, ELEMENT_TYPES[name].dtype
    patterns = bits_of(name)
    (decoded,) = run_chunks(many(storage, [("f32", lambda x: ir.Op("decode", "f32", (x,), name))]), patterns)
    values = patterns.view(dtype).astype(np.float32)
    np.testing.assert_array_equal(decoded, values)
    finite = np.unique(values[np.isfinite(values)])
    between = (finite[:-1].astype(np.float64) + finite[1:]) / 2
    rng = np.random.default_rng(5)
    with np.errstate(over="ignore"):
        near = np.concatenate(
            [finite, between, between * (1 + 1e-6), between * (1 - 1e-6), finite[-1:] * 1.5, finite[:1] * 4]
        )
        x = np.concatenate([near, rng.normal(size=4000), [np.inf, -np.inf, 1e-44, -1e-44, 3e38, 0.0, -0.0]]).astype(
            np.float32
        )
    if name == "f8e8m0fnu":  # ml_dtypes rounds numbers below the normal ones of f32 twice
        x = x[(np.abs(x) >= np.finfo(np.float32).tiny) | (x == 0)]
    outputs = [
        (storage, lambda v: ir.Op("encode", storage, (v,), name)),
        ("f32", lambda v: ir.Op("round", "f32", (v,), name)),
    ]
    encoded, rounded = run_chunks(many("f32", outputs), x)
    with np.errstate(all="ignore"):
        expected = x.astype(dtype)
    same = (encoded == expected.view(storage.replace("u", "uint"))) | np.isnan(expected.astype(np.float32))
    assert same.all(), (x[~same][:5], encoded[~same][:5], expected.view(storage.replace("u", "uint"))[~same][:5])
    np.testing.assert_array_equal(rounded, expected.astype(np.float32))


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_exact_bits_keep_those_of_nans(name: str) -> None:
    patterns = bits_of(name)
    kept = many("u16", [("u16", lambda x: ir.Op("exact_bits", "u16", (ir.Op("decode", "f32", (x,), name),), name))])
    (got,) = run_chunks(kept, patterns)
    dtype = ELEMENT_TYPES[name].dtype
    same = (got == patterns) | (
        np.isnan(patterns.view(dtype).astype(np.float32)) & np.isnan(got.view(dtype).astype(np.float32))
    )
    assert same.all()


@pytest.mark.parametrize("name", ["s2", "s4", "u2", "u4"])
def test_wrapping_to_less_than_a_byte(name: str) -> None:
    kind = name[0] + "8"
    x = np.resize(np.arange(256, dtype=np.uint8).view(NUMPY[kind]), COUNT)
    (got,) = run(many(kind, [(kind, lambda v: ir.Op("wrap", kind, (v,), name))]), x)
    bits = int(name[1:])
    low = x.astype(np.int64) & ((1 << bits) - 1)
    expected = np.where((low >> (bits - 1) != 0) & (name[0] == "s"), low - (1 << bits), low)
    np.testing.assert_array_equal(got, expected.astype(NUMPY[kind]))


@pytest.mark.parametrize("name", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (4, 3), (2, 1)])
def test_reduced_precision(name: str, bits: tuple[int, int]) -> None:
    """Against rounding to so many bits in exact arithmetic."""
    compute = "f64" if name == "f64" else "f32"
    own = {"f32": (8, 23), "f64": (11, 52), "f16": (5, 10), "bf16": (8, 7)}[name]
    exponent, mantissa = min(bits[0], own[0]), min(bits[1], own[1])
    wide = [ir.Constant("s32", b) for b in (exponent, mantissa)]
    ir_kernel = many(compute, [(compute, lambda x: ir.Op("reduce_precision", compute, (x, *wide), name))])
    x = numbers(compute, np.random.default_rng(6))
    if name in ("f16", "bf16"):
        x = x.astype(ELEMENT_TYPES[name].dtype).astype(np.float32)
    (got,) = run(ir_kernel, x)
    np.testing.assert_array_equal(got, np.array([reduced(float(v), exponent, mantissa) for v in x]).astype(x.dtype))


def reduced(value: float, exponent: int, mantissa: int) -> float:
    if value != value or value in (0.0, float("inf"), float("-inf")):
        return value
    fraction, power_of_two = np.frexp(abs(value))
    steps = np.rint(fraction * 2.0 ** (mantissa + 1))  # halves to even
    size = float(np.ldexp(steps, int(power_of_two) - mantissa - 1))
    bias = (1 << (exponent - 1)) - 1
    at = int(np.frexp(size)[1]) - 1
    size = float("inf") if at > bias else 0.0 if at < 1 - bias else size
    return float(np.copysign(size, value))


def test_bits_there_and_back() -> None:
    for kind in FLOATS:
        u = kind.replace("f", "u")
        same = lambda x, u=u, kind=kind: ir.Op("from_bits", kind, (ir.Op("bits", u, (x,)),))  # noqa: E731
        x = numbers(kind, np.random.default_rng(8))
        (got,) = run(many(kind, [(kind, same)]), x)
        np.testing.assert_array_equal(got.view(f"u{got.dtype.itemsize}"), x.view(f"u{x.dtype.itemsize}"))


@pytest.mark.parametrize("kind", KINDS)
def test_selection_and_constants(kind: str) -> None:
    number = {"pred": True, "f32": 0.1, "f64": -1e300, "c64": 1 - 2j, "c128": -0.5j}.get(kind)
    if number is None:
        number = int(np.iinfo(NUMPY[kind]).min)
    constant = ir.Constant(kind, number)
    first = lambda x: ir.Op("select", kind, (ir.Op("eq", "pred", (x, constant)), constant, x))  # noqa: E731
    x = numbers(kind, np.random.default_rng(9))
    x[::7] = number
    for got in run(many(kind, [(kind, first), (kind, lambda x: constant)]), x)[:1]:
        np.testing.assert_array_equal(got, x)
    got = run(many(kind, [(kind, lambda x: constant)]), x)[0]
    np.testing.assert_array_equal(got, np.full(COUNT, number, NUMPY[kind]))


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e39, 1e-45, -0.0])
def test_floats_that_have_no_literal(value: float) -> None:
    for kind in FLOATS:
        x = np.zeros(COUNT, NUMPY[kind])
        (got,) = run(many(kind, [(kind, lambda x, kind=kind: ir.Constant(kind, value))]), x)
        with np.errstate(all="ignore"):
            expected = NUMPY[kind].type(value)
        np.testing.assert_array_equal(got[0], expected)
        assert np.signbit(got[0]) == np.signbit(expected) or value != value


@pytest.mark.parametrize("kind", KINDS)
def test_nvrtc_takes_them(kind: str) -> None:
    program = pytest.importorskip("cuda.core").Program
    from cuda.core import ProgramOptions

    options = ProgramOptions(name="kernel.cu", arch="sm_80", std="c++17")
    source = write(operations_kernel(kind), TARGETS["cuda"])
    assert program(source, "c++", options=options).compile("cubin").code
