"""Kernels with known answers, by which it is decided whether a compiler is right, and with which flags.

The kernels are those of `known_answers.c`; the answers follow from their definitions, in numpy.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from pathlib import Path

from indexing.lazy import np

MAX_SECONDS = 60.0  # the time allowed for a kernel, which takes milliseconds
SOURCE, _ANSWERS = (files(__package__).joinpath(f"known_answers{suffix}").read_text() for suffix in (".c", ".py"))
DIGEST = hashlib.sha256((SOURCE + _ANSWERS).encode()).hexdigest()
WINDOWS = ("window_f32", "window_f64", "window_s32", "window_s64", "window_s16", "window_u8")
OTHERS = (
    "dilated",
    "padded",
    "take",
    "columns",
    "rows",
    "transposed",
    "integers",
    "scattered",
    "product",
    "narrow",
    "floats",
    "triangle",
)
KERNELS = (*WINDOWS, *OTHERS)  # numbered in this order by `known_answers.c`


@dataclass(frozen=True, slots=True)
class Case:
    """A call of a kernel: its buffers before, and after it."""

    name: str
    blocks: int
    before: tuple[np.ndarray, ...]
    after: tuple[np.ndarray, ...]


def wrong_kernels(command: Sequence[str]) -> tuple[str, ...] | str:
    """The kernels that a compiler makes wrong code of, given its command with flags; its message if it refuses their source.

    The code runs in a process of its own, which wrong code may end.
    """
    with tempfile.TemporaryDirectory(prefix="indexing-") as folder:
        program = Path(folder) / "known_answers.exe"
        built = subprocess.run(
            [*command, "-", "-o", str(program)], input=SOURCE.encode(), capture_output=True, check=False
        )
        if built.returncode != 0:
            return built.stderr.decode(errors="replace") or "it fails without a message"
        return tuple(case.name for case in cases() if not _is_right(program, case))


def _is_right(program: Path, case: Case) -> bool:
    number = np.array([KERNELS.index(case.name), case.blocks, len(case.before)], np.int64)
    call = number.tobytes() + b"".join(np.int64(a.nbytes).tobytes() + a.tobytes() for a in case.before)
    try:
        done = subprocess.run([str(program)], input=call, capture_output=True, check=False, timeout=MAX_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    if done.returncode != 0 or len(done.stdout) != sum(a.nbytes for a in case.after):
        return False
    start = 0
    for want in case.after:
        got = np.frombuffer(done.stdout[start : start + want.nbytes], want.dtype).reshape(want.shape)
        if not np.array_equal(got, want, equal_nan=want.dtype.kind == "f"):
            return False
        start += want.nbytes
    return True


# ---------------------------------------------------------------- the answers, by the definitions


def cases() -> Iterator[Case]:
    """A call of each kernel."""
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64, np.int32, np.int64, np.int16, np.uint8):
        yield _window(kind, rng)
    yield from (f(rng) for f in (_dilated, _pad, _take, _columns, _rows, _transpose, _integers, _scatter))
    yield _product(rng, "product", 20, (20, 24, 28))
    yield _product(rng, "narrow", 1, (9, 12, 4))
    yield _floats(rng)
    yield _triangle(rng)


def _quarters(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Small multiples of a quarter: sums and products of some are exact in any order."""
    return (rng.integers(-16, 17, shape) / 4).astype(np.float32)


def _window(kind: type[np.generic], rng: np.random.Generator) -> Case:
    dtype = np.dtype(kind)
    name = {"f": "f", "i": "s", "u": "u"}[dtype.kind] + str(8 * dtype.itemsize)
    size = 72 if name == "s64" else 120
    operand = rng.integers(0, 9, 144).astype(dtype)
    result = np.ones(2 * size, dtype)
    for i, r1, r2 in product(range(size), range(3), range(3)):
        if (r1 + i // 12) % 2 == 0 and (i // 2) % 3 == 0 and r2 + i % 2 + 1 <= 2:
            place = r2 + i % 2 + 1 + (r1 + i // 12 * 3) // 2 * 9 + i // 6 % 2 * 3
            result[[i, i + size]] += operand[place]
    return Case(f"window_{name}", 2, (operand, np.zeros_like(result)), (operand, result))


def _dilated(rng: np.random.Generator) -> Case:
    operand = rng.integers(-9, 9, (2, 2, 4)).astype(np.int32)
    result = np.zeros((2, 2, 3), np.int32)
    for d0, d1, d2, r1, r2, r3 in product(range(2), range(2), range(3), range(4), range(2), range(4)):
        if r1 + d0 <= 2 and (r1 + d0) % 2 == 0 and d1 == r2 and r3 + d2 <= 3:
            result[d0, d1, d2] ^= operand[(r1 + d0) // 2, r2, r3 + d2]
    return Case("dilated", 1, (operand, np.zeros_like(result)), (operand, result))


def _pad(rng: np.random.Generator) -> Case:
    operand = _quarters(rng, (13, 8))
    result = np.full((15, 20), -1, np.float32)
    result[1:14, 3:18:2] = operand
    return Case("padded", 3, (operand, np.zeros_like(result)), (operand, result))


def _take(rng: np.random.Generator) -> Case:
    table, rows = _quarters(rng, (11, 5)), rng.integers(-4, 16, 40).astype(np.int32)
    chosen, start = rng.integers(0, 2, (40, 5)).astype(np.uint8), _quarters(rng, (40, 5))
    result = np.where(chosen, start + table[np.clip(rows, 0, 10)], start)
    return Case("take", 1, (table, rows, chosen, start), (table, rows, chosen, result))


def _columns(rng: np.random.Generator) -> Case:
    operand = rng.integers(-(2**31), 2**31, (3, 37, 53)).astype(np.int32)
    results = (operand.sum(1, np.int32), operand.max(1), operand.argmax(1).astype(np.int32))
    return Case("columns", 3, (operand, *map(np.zeros_like, results)), (operand, *results))


def _rows(rng: np.random.Generator) -> Case:
    floats, narrow = _quarters(rng, (6, 77)), rng.integers(-128, 128, (6, 77)).astype(np.int8)
    floats[2, 30], floats[3, 5] = np.nan, np.inf
    results = (floats.max(1), (narrow.astype(np.int64) * narrow[:, ::-1]).sum(1))
    return Case("rows", 6, (floats, narrow, *map(np.zeros_like, results)), (floats, narrow, *results))


def _transpose(rng: np.random.Generator) -> Case:
    operand = rng.integers(0, 2**16, (40, 33)).astype(np.uint16)
    result = np.ascontiguousarray(operand.T)
    return Case("transposed", 5, (operand, np.zeros_like(result)), (operand, result))


def _integers(rng: np.random.Generator) -> Case:
    narrow, wide = rng.integers(-128, 128, 150).astype(np.int8), rng.integers(-1000, 1000, 150).astype(np.int32)
    squares = (narrow.astype(np.int32) ** 2 + wide).astype(np.int8)
    quotients = wide // 7 * 100 + wide % 7 + (wide >> 3)
    shifted = (wide.astype(np.uint16).astype(np.int64) << np.arange(150) % 16).astype(np.uint16) >> 2
    results = (squares, quotients.astype(np.int32), shifted.astype(np.uint16))
    return Case("integers", 3, (narrow, wide, *map(np.zeros_like, results)), (narrow, wide, *results))


def _scatter(rng: np.random.Generator) -> Case:
    places, updates, start = rng.integers(-3, 27, 150).astype(np.int32), _quarters(rng, (150,)), _quarters(rng, (24,))
    result, inside = start.copy(), (places >= 0) & (places < 24)
    np.add.at(result, places[inside], updates[inside])
    return Case("scattered", 1, (places, updates, start), (places, updates, result))


def _product(rng: np.random.Generator, name: str, blocks: int, sizes: tuple[int, int, int]) -> Case:
    rows, depth, columns = sizes
    left, right = _quarters(rng, (rows, depth)), _quarters(rng, (depth, columns))
    result = (left.astype(np.float64) @ right).astype(np.float32)
    return Case(name, blocks, (left, right, np.zeros_like(result)), (left, right, result))


def _floats(rng: np.random.Generator) -> Case:
    """Values whose products are rounded, and numbers that are infinite, subnormal or none."""
    special = np.array([np.nan, np.inf, -np.inf, 1e-40, -0.0, 3e38, 1234.5, -5000.0], np.float32)
    a, b = (rng.choice(np.concatenate([special, rng.standard_normal(60).astype(np.float32)]), 128) for _ in range(2))
    with np.errstate(all="ignore"):
        value = a * b + (a - b) - a
        chosen = np.where(np.isnan(a) | (a > b), value, np.where(np.isnan(b), np.float32(0), -value))
        whole = np.where(np.isnan(a), np.float32(0), np.clip(a, -1000, 1000)).astype(np.int32)
    return Case("floats", 2, (a, b, np.zeros_like(chosen), np.zeros_like(whole)), (a, b, chosen, whole))


def _triangle(rng: np.random.Generator) -> Case:
    operand = rng.integers(1, 30, 4).astype(np.int8)
    result = np.cumsum(operand, dtype=np.int8) - operand
    return Case("triangle", 1, (operand, np.zeros_like(result)), (operand, result))
