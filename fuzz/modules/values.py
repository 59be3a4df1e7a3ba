"""Element types, and random arrays of them: plain values, small integers, special values, any bits."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

FLOATS = ("f32", "f64", "f16", "bf16")
F8S = (
    *("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3", "f8e3m4"),
    *("f8e8m0fnu", "f4e2m1fn"),
)
COMPLEX = ("c64", "c128")
SIGNED = ("s32", "s8", "s16", "s64", "s4", "s2")
UNSIGNED = ("u32", "u8", "u16", "u64", "u4", "u2")
INTEGERS = SIGNED + UNSIGNED
INDICES = ("s32", "s64", "u32", "s8", "u8", "s16", "u16", "u64")
ALL = ("pred", *INTEGERS, *FLOATS, *F8S, *COMPLEX)
# What most programs use comes up more often.
USUAL = ("f32",) * 8 + ("s32",) * 5 + ("f64", "f16", "bf16", "s64", "pred") * 2 + ALL
SUMMED = ("f32",) * 4 + ("s32",) * 3 + ("f64", "bf16", "f16", "s8", "u8", "s64", "u32", "c64", "s16")

_NAMES = {"pred": "bool", "bf16": "bfloat16", "c64": "complex64", "c128": "complex128"}
_LETTERS = {"s": "int", "u": "uint", "f": "float"}
BITS = {"pred": 8, "bf16": 16, "c64": 64, "c128": 128}


@dataclass(frozen=True, slots=True)
class Data:
    """What the elements of a parameter are like.

    any: what the type has, special values and any bits included. real: finite, of moderate size. small: integers of at
    most 4, so that sums and products of many are exact. range: integers from `low` to `high`. distinct: no two are
    equal. definite: matrices with a Cholesky decomposition. triangular: matrices far from singular.
    """

    style: str = "any"
    low: int = 0
    high: int = 0


ANY, REAL, SMALL, DISTINCT = Data(), Data("real"), Data("small"), Data("distinct")
DEFINITE, TRIANGULAR = Data("definite"), Data("triangular")


def dtype(kind: str) -> np.dtype:
    if kind in _NAMES:
        name = _NAMES[kind]
    elif kind[:2] in ("f8", "f4"):
        name = f"float{kind[1]}_{kind[2:]}"
    else:
        name = _LETTERS[kind[0]] + kind[1:]
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def bits(kind: str) -> int:
    """The width of an element; f8e4m3 has 8 bits."""
    if kind in BITS:
        return BITS[kind]
    return int(kind[1]) if kind[:2] in ("f8", "f4") else int(kind[1:])


def is_float(kind: str) -> bool:
    return kind[0] == "f" or kind == "bf16"


def random_array(kind: str, sizes: tuple[int, ...], data: Data, rng: np.random.Generator) -> np.ndarray:
    make = {"real": _real, "small": _small, "distinct": _distinct, "definite": _definite, "triangular": _triangular}
    if data.style == "range":
        array = rng.integers(data.low, data.high, sizes, endpoint=True)
    elif data.style == "any":
        array = _any(kind, sizes, rng)
    else:
        array = make[data.style](kind, sizes, rng)
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(dtype(kind)).reshape(sizes)


def _any(kind: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if kind == "pred":
        return rng.integers(0, 2, sizes)
    if kind[0] in "su":
        return _any_integers(kind, sizes, rng)
    if kind[0] == "c":
        part = "f32" if kind == "c64" else "f64"
        array = np.empty(sizes, np.complex128)
        array.real, array.imag = _any(part, sizes, rng), _any(part, sizes, rng)
        return array
    if kind[:2] in ("f8", "f4") or (kind in ("f16", "bf16") and rng.random() < 0.3):
        return _any_bits(kind, sizes, rng)
    array = _real(kind, sizes, rng)
    if rng.random() < 0.4:
        array = np.where(rng.random(sizes) < 0.3, rng.choice(_special(kind), sizes), array)
    return array


def _special(kind: str) -> list[float]:
    info = ml_dtypes.finfo(dtype(kind))
    tiny, largest = float(info.tiny), float(info.max)
    specials = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, largest, -largest, tiny, 0.5, 2.5, 1e4]
    return [*specials, tiny / 4, -tiny / 8]


def _any_integers(kind: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if rng.random() < 0.5:
        return _small(kind, sizes, rng)
    info = ml_dtypes.iinfo(dtype(kind))
    low, high = int(info.min), int(info.max)
    array = rng.integers(low, high, sizes, endpoint=True, dtype=np.uint64 if kind == "u64" else np.int64)
    edges = np.array([low, high, 0, 1, high - 1, low + 1], dtype=array.dtype)
    return np.where(rng.random(sizes) < 0.3, rng.choice(edges, sizes), array)


def _any_bits(kind: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    width = bits(kind)
    array = rng.integers(0, 1 << width, sizes, dtype=np.uint16)
    carrier = np.ascontiguousarray(array.astype(np.uint16 if width == 16 else np.uint8))
    return carrier.view(dtype(kind))


def _real(kind: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if not (is_float(kind) or kind[0] == "c"):
        return _small(kind, sizes, rng)
    array = rng.normal(size=sizes) * rng.choice([0.5, 1, 3])
    if kind[0] == "c":
        return array + 1j * rng.normal(size=sizes)
    return np.where(rng.random(sizes) < 0.3, np.round(array * 2), array)


def _small(kind: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    most = {"s2": 1, "u2": 3}.get(kind, 4)
    least = 0 if kind[0] == "u" or kind == "f8e8m0fnu" else -most
    if kind == "pred":
        return rng.integers(0, 2, sizes)
    array = rng.integers(least, most, sizes, endpoint=True)
    return array + 1j * rng.integers(least, most, sizes, endpoint=True) if kind[0] == "c" else array


def _distinct(kind: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    count = int(np.prod(sizes, dtype=np.int64))
    return (rng.permutation(count) - (count // 2 if kind[0] != "u" else 0)).reshape(sizes)


def _definite(kind: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    half = _real(kind, sizes, rng)
    matrix = half @ np.conj(np.swapaxes(half, -1, -2))
    return matrix + np.eye(sizes[-1]) * (sizes[-1] + 1)


def _triangular(kind: str, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    return np.clip(_real(kind, sizes, rng).real, -1, 1) * 0.3 + np.eye(sizes[-1]) * 2
