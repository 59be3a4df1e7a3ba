"""Element code of the elementwise ops: kernels on the CPU against the numpy reference, one kernel an element type."""

import itertools
import zlib
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

import indexing as ix
from indexing.ops.element_types import ELEMENT_TYPES, ElementType
from indexing.ops.registry import REGISTRY
from kernels import compiled

COUNT = 512
HYPERBOLIC = ["acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh", "tan", "tanh"]
ROUNDED = ["ceil", "floor", "round-nearest-afz", "round-nearest-even"]
ANALYTIC = [
    "cbrt",
    "cosine",
    "exponential",
    "exponential-minus-one",
    "log",
    "log-plus-one",
    "logistic",
    "rsqrt",
    "sine",
]
UNARY_FLOAT = ["abs", "erf", "negate", "sign", "sqrt", *HYPERBOLIC, *ROUNDED, *ANALYTIC]
UNARY_COMPLEX = ["cosh", "negate", "sign", "sinh", "sqrt", "tan", "tanh", *ANALYTIC]
BINARY = ["add", "divide", "multiply", "subtract", "power"]
EXTREMA = ["maximum", "minimum"]
BITS = ["and", "or", "xor", "mulhi", "shift-left", "shift-right-arithmetic", "shift-right-logical"]
# Where a result jumps or is large, one rounding of an argument may move it far: relative to max(|result|, 1).
TOLERANCE = {"f32": 2e-6, "f64": 1e-13, "f16": 2e-3, "bf16": 1.6e-2, "c64": 1e-5, "c128": 1e-12}
COMPLETE = ("s32", "f32")
EDGES = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, np.nan, np.inf, -np.inf, 1e-3, 80, -80, 448, 65504, 1e-40]


def operations(kind: ElementType) -> Iterator[tuple[str, str, str]]:
    """(instruction's text, its element type, its opcode) of everything that is defined on the type."""
    t, own = kind.name, f"{kind.name}[{COUNT}]"
    predicate = f"pred[{COUNT}]"
    binary = [*BINARY, *EXTREMA, "remainder"]
    if kind.kind == "float":
        yield from ((f"{own} {op}(a)", t, op) for op in UNARY_FLOAT)
        yield from ((f"{own} {op}(a, b)", t, op) for op in (*binary, "atan2"))
        yield f"{predicate} is-finite(a)", "pred", "is-finite"
    elif kind.kind == "complex":
        yield from ((f"{own} {op}(a)", t, op) for op in UNARY_COMPLEX)
        yield from ((f"{own} {op}(a, b)", t, op) for op in (*BINARY, "atan2"))
        yield from ((f"{kind.real}[{COUNT}] {op}(a)", kind.real, op) for op in ("abs", "real", "imag"))
    elif kind.kind == "pred":
        yield from ((f"{own} {op}(a, b)", t, op) for op in ("and", "or", "xor", "add", "multiply", *EXTREMA))
        yield f"{own} not(a)", t, "not"
    else:
        yield from ((f"{own} {op}(a, b)", t, op) for op in (*binary, *BITS))
        unary = ("negate", "not", "popcnt", "count-leading-zeros", *(("abs", "sign") if kind.kind == "signed" else ()))
        yield from ((f"{own} {op}(a)", t, op) for op in unary)
    if kind.kind != "complex":
        yield f"{own} clamp(a, b, c)", t, "clamp"
        yield from (
            (f"{predicate} compare(a, b), direction={d}", "pred", "compare")
            for d in ("EQ", "NE", "LT", "LE", "GT", "GE")
        )
    if kind.name in ("f16", "bf16", "f32", "f64"):
        yield f"{predicate} compare(a, b), direction=LT, type=TOTALORDER", "pred", "compare"
        for bits in ("exponent_bits=5, mantissa_bits=10", "exponent_bits=4, mantissa_bits=3"):
            yield f"{own} reduce-precision(a), {bits}", t, "reduce-precision"
    yield f"{own} select(p, a, b)", t, "select"
    yield from ((f"{other}[{COUNT}] convert(a)", other, "convert") for other in ELEMENT_TYPES)


def program(kind: ElementType) -> tuple[str, list[tuple[str, str]]]:
    own, lines, results = f"{kind.name}[{COUNT}]", [], []
    every = list(operations(kind))
    step = 1 if kind.name in COMPLETE else 6  # a compiler takes some 0.1 s an operation
    for text, result, opcode in every[zlib.crc32(kind.name.encode()) % step :: step]:
        lines.append(f"  r{len(lines)} = {text}")
        results.append((result, opcode))
    shapes = ", ".join(f"{r}[{COUNT}]" for r, _ in results)
    names = ", ".join(f"r{k}" for k in range(len(results)))
    head = [f"  {n} = {own} parameter({k})" for k, n in enumerate("abc")] + [f"  p = pred[{COUNT}] parameter(3)"]
    return "\n".join(["f {", *head, *lines, f"  ROOT t = ({shapes}) tuple({names})", "}"]), results


def test_high_products() -> None:
    """The upper half of products at the ends of types and of their halves, by Python's integers."""
    kinds = [k for k in ELEMENT_TYPES.values() if k.is_integer]
    pairs = []
    for kind in kinds:
        top = 2 ** (kind.bits - 1)
        ends = (top - 1, -top, -1) if kind.kind == "signed" else (2 * top - 1, top, top + 1)
        halves = [v for v in (2 ** (kind.bits // 2), 2 ** (kind.bits // 2) - 1) if v <= max(ends)]
        pairs.append(list(itertools.product(sorted({0, 1, *halves, *ends}), repeat=2)))
    lines, arrays = [], []
    for k, (kind, rows) in enumerate(zip(kinds, pairs, strict=True)):
        shape = f"{kind.name}[{len(rows)}]"
        lines += [f"a{k} = {shape} parameter({2 * k})", f"b{k} = {shape} parameter({2 * k + 1})"]
        lines.append(f"m{k} = {shape} mulhi(a{k}, b{k})")
        wide = np.uint64 if kind.kind == "unsigned" else np.int64
        arrays += [np.array(column, object).astype(wide).astype(kind.dtype) for column in zip(*rows, strict=True)]
    names = ", ".join(f"m{k}" for k in range(len(kinds)))
    text = "ENTRY e {\n" + "\n".join(lines) + f"\nROOT t = tuple({names})\n}}"
    for got, kind, rows in zip(compiled(text)(*arrays), kinds, pairs, strict=True):
        assert [int(x) for x in got] == [a * b >> kind.bits for a, b in rows], kind.name


def values(kind: ElementType, seed: int) -> np.ndarray:
    """Edge values and random ones, in random order."""
    rng = np.random.default_rng(zlib.crc32(kind.name.encode()) + seed)
    if kind.kind == "pred":
        return rng.integers(0, 2, COUNT).astype(bool)
    if kind.kind == "complex":
        return (rng.normal(size=COUNT) * 2 + 2j * rng.normal(size=COUNT)).astype(kind.dtype)
    if kind.kind == "float":
        wide = np.concatenate([rng.choice(EDGES, COUNT // 2), rng.normal(size=COUNT // 2) * 3])
        return wide.astype(np.float32).astype(kind.dtype)
    low, high = (
        (-(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1) if kind.kind == "signed" else (0, 2**kind.bits - 1)
    )
    edges = [v for v in (0, 1, -1, 2, 3, 7, kind.bits - 1, kind.bits, low, low + 1, high) if low <= v <= high]
    drawn = [edges[k] for k in rng.integers(0, len(edges), COUNT // 2)]
    drawn += [int.from_bytes(rng.bytes(8), "little") % (high - low + 1) + low for _ in range(COUNT // 2)]
    wide = np.array(drawn, object).astype(np.uint64 if low == 0 else np.int64)
    return wide.astype(np.int8).astype(kind.dtype) if kind.bits < 8 else wide.astype(kind.dtype)


def differs(got: np.ndarray, want: np.ndarray, kind: ElementType) -> np.ndarray:
    if kind.kind not in ("float", "complex"):
        return got.astype(np.int64) != want.astype(np.int64)
    wide = np.complex128 if kind.kind == "complex" else np.float64
    g, w = got.astype(wide), want.astype(wide)
    both_nan = np.isnan(g) & np.isnan(w)
    if kind.bits < 16:  # neighbours, where the wide value lies beside the middle between them
        scale = np.maximum(np.abs(w), float(np.abs(ml_dtypes.finfo(kind.dtype).smallest_normal)))
        with np.errstate(all="ignore"):
            return ~(both_nan | (g == w) | (np.abs(g - w) <= scale * (2.0 if kind.name == "f8e8m0fnu" else 0.5)))
    with np.errstate(all="ignore"):
        return ~(both_nan | (g == w) | (np.abs(g - w) <= TOLERANCE[kind.name] * np.maximum(np.abs(w), 1)))


def test_every_elementwise_op_is_among_them() -> None:
    tested = {opcode for kind in ELEMENT_TYPES.values() for _, _, opcode in operations(kind)}
    apart = {"bitcast-convert", "complex", "stochastic-convert"}  # below, and in test_emit_elements.py
    coded = {opcode for opcode, op in REGISTRY.items() if op.element is not None and op.is_elementwise}
    assert coded == tested | apart


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_kernels_agree_with_the_reference(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    text, results = program(kind)
    arrays = [values(kind, seed) for seed in range(3)] + [values(ELEMENT_TYPES["pred"], 3)]
    got = compiled(text, device="cpu")(*arrays)
    want = ix.evaluate(text, *arrays)
    for k, (result, opcode) in enumerate(results):
        assert got[k].dtype == want[k].dtype == ELEMENT_TYPES[result].dtype
        wrong = np.flatnonzero(differs(got[k], want[k], ELEMENT_TYPES[result]))
        shown = [(*(a[i] for a in arrays), want[k][i], got[k][i]) for i in wrong[:3]]
        assert not wrong.size, f"{opcode} of {name} to {result}: {wrong.size} differ, as {shown}"


@pytest.mark.parametrize("name", ["s4", "u64", "f8e4m3fn", "f8e8m0fnu", "f4e2m1fn", "f16", "c64"])
def test_kernels_compile_for_a_gpu(name: str) -> None:
    kernel = ix.emit(ix.hlo.parse(program(ELEMENT_TYPES[name])[0]).entry)
    assert ix.runtime.cubin(kernel)


@pytest.mark.parametrize(
    ("source", "target", "sizes"),
    [
        ("f32", "s32", ("6", "6")),
        ("bf16", "u16", ("6", "6")),
        ("s32", "u8", ("6", "6,4")),
        ("f64", "f32", ("6", "6,2")),
        ("u8", "f16", ("6,2", "6")),
        ("s8", "s64", ("6,8", "6")),
        ("s4", "u8", ("6,2", "6")),
        ("u16", "u4", ("6", "6,4")),
        ("f8e5m2", "f32", ("6,4", "6")),
    ],
)
def test_bits_split_and_join(source: str, target: str, sizes: tuple[str, str]) -> None:
    text = f"f {{\n  a = {source}[{sizes[0]}] parameter(0)\n  ROOT r = {target}[{sizes[1]}] bitcast-convert(a)\n}}"
    rng = np.random.default_rng(0)
    shape = tuple(map(int, sizes[0].split(",")))
    if source == "bf16":
        array = np.array([0x7FC0, 0xFFC1, 0x7F80, 0x8000, 0x3F80, 1], np.uint16)
        assert np.array_equal(compiled(text, device="cpu")(array.view(ml_dtypes.bfloat16)), array)
    array = rng.integers(0, 4, shape).astype(np.int8).astype(ELEMENT_TYPES[source].dtype)
    want = ix.evaluate(text, array)
    got = compiled(text, device="cpu")(array)
    if ELEMENT_TYPES[source].bits >= 8 and ELEMENT_TYPES[target].bits >= 8:
        assert want.tobytes() == array.tobytes()
    assert got.tobytes() == want.tobytes()
