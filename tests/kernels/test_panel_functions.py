"""The functions in C that multiply panels, as compiled for processors with and without their instructions, against numpy."""

import ctypes
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16

from indexing.kernels.ir.fragments import PANEL_PRODUCTS
from indexing.kernels.targets.c import C
from indexing.kernels.targets.library import closure
from indexing.runtime.compiler import find_compiler

IN_GROUPS = [name for name, p in PANEL_PRODUCTS.items() if p.group > 1]
NO_TILES = ("-mno-amx-int8", "-mno-amx-bf16")
NO_PRODUCTS_OF_BYTES = (*NO_TILES, "-mno-avx512vnni", "-mno-avxvnni")
PROCESSORS = {
    "this one": (),
    "vectors": NO_TILES,
    "no products of bytes": NO_PRODUCTS_OF_BYTES,
    "vectors of 32 bytes": (*NO_PRODUCTS_OF_BYTES, "-mno-avx512bw"),
    "vectors of 16 bytes": (*NO_PRODUCTS_OF_BYTES, "-mno-avx512bw", "-mno-avx2"),
    "any processor": (*NO_PRODUCTS_OF_BYTES, "-mno-avx512bw", "-mno-avx2", "-U__SSE2__"),
}
Make = Callable[[np.random.Generator, tuple[int, int], type], np.ndarray]
DTYPES = {"s8": np.int8, "u8": np.uint8, "bf16": bfloat16, "s32": np.int32, "f32": np.float32}


def _source() -> str:
    names = [f"multiply_panels_{name}" for name in IN_GROUPS]
    definitions = [f"{C.function} {d.text}" if d.is_function else d.text for d in closure(names, C.library)]
    calls = (f"void run_{n}(void *s, void *l, void *r, long long k) {{ {n}(s, l, r, k); }}" for n in names)
    return "\n\n".join([*definitions, *calls])


def _run(library: ctypes.CDLL, name: str, sums: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    product = PANEL_PRODUCTS[name]
    depth = left.shape[1]
    grouped = right.reshape(depth // product.group, product.group, product.columns).transpose(0, 2, 1)
    arrays = [_at_line(a) for a in (sums, left, grouped)]
    run = library[f"run_multiply_panels_{name}"]
    run(*(ctypes.c_void_p(a.ctypes.data) for a in arrays), ctypes.c_longlong(depth))
    sums[:] = arrays[0]


def _at_line(a: np.ndarray) -> np.ndarray:
    """A copy that begins at a line of memory, as tiles do."""
    room = np.zeros(a.nbytes + 64, np.uint8)
    begin = -room.ctypes.data % 64
    copy = room[begin : begin + a.nbytes].view(a.dtype).reshape(a.shape)
    copy[...] = a
    return copy


def random_numbers(rng: np.random.Generator, shape: tuple[int, int], dtype: type) -> np.ndarray:
    return rng.integers(-128, 256, shape).astype(dtype)


def extreme_numbers(rng: np.random.Generator, shape: tuple[int, int], dtype: type) -> np.ndarray:
    least, most = (-3e18, 3e18) if dtype is bfloat16 else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return rng.choice(np.array([least, most], dtype), shape)


@pytest.fixture(scope="module", params=PROCESSORS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    flags = PROCESSORS[request.param]
    if flags and platform.machine() != "x86_64":
        pytest.skip("the instructions left out are those of x86-64")
    path: Path = tmp_path_factory.mktemp("panels") / "panels.so"
    compiler = find_compiler()
    command = [*compiler.command, *compiler.flags, "-fPIC", *flags, "-", "-o", str(path)]
    subprocess.run(command, input=_source(), text=True, check=True)
    return ctypes.CDLL(str(path))


@pytest.mark.parametrize("name", IN_GROUPS)
@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("make", [random_numbers, extreme_numbers])
def test_panels_are_multiplied(library: ctypes.CDLL, name: str, units: int, make: Make) -> None:
    product, rng = PANEL_PRODUCTS[name], np.random.default_rng(3)
    depth = units * product.depth_unit
    left = make(rng, (product.rows, depth), DTYPES[product.factors[0]])
    right = make(rng, (depth, product.columns), DTYPES[product.factors[1]])
    sums = (
        rng.integers(-(2**31), 2**31, (product.rows, product.columns)) if product.sums == "s32" else np.zeros((16, 32))
    )
    sums = sums.astype(DTYPES[product.sums])
    exact = sums + left.astype(np.float64) @ right.astype(np.float64)  # below 2^53
    _run(library, name, sums, left, right)
    if product.sums == "s32":
        assert (sums == (exact.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)).all()
    else:
        size = np.abs(left.astype(np.float64)) @ np.abs(right.astype(np.float64))
        assert (np.abs(sums - exact) <= size * depth * 2.0**-24).all()
