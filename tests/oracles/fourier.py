"""Programs of one Fourier transform, and numpy's result, in double precision."""

from collections.abc import Callable

import numpy as np

import indexing as ix
from indexing.reference.interpreter import run_computation

KINDS = ["FFT", "IFFT", "RFFT", "IRFFT"]
EXACTNESS = {"c64": 2e-6, "c128": 1e-13}  # of the greatest element
REAL = {"c64": "f32", "c128": "f64"}


def transform(kind: str, batch: list[int], lengths: list[int], of: str = "c64") -> ix.hlo.Module:
    full, half = [*batch, *lengths], [*batch, *lengths[:-1], lengths[-1] // 2 + 1]
    real, every, stored = f"{REAL[of]}{full}", f"{of}{full}", f"{of}{half}"
    given, result = {"RFFT": (real, stored), "IRFFT": (stored, real)}.get(kind, (every, every))
    sizes = ",".join(map(str, lengths))
    given, result = (text.replace(" ", "") for text in (given, result))
    body = f"x = {given} parameter(0)\n ROOT y = {result} fft(x), fft_type={kind}, fft_length={{{sizes}}}"
    return ix.hlo.parse(f"HloModule m\nENTRY e {{\n {body}\n}}")


def random_operand(module: ix.hlo.Module, seed: int) -> np.ndarray:
    shape, rng = module.entry.parameters[0].shape, np.random.default_rng(seed)
    parts = rng.standard_normal((2, *shape.dimensions))
    return (parts[0] + 1j * parts[1] if shape.element_type[0] == "c" else parts[0]).astype(shape.dtype)


def by_numpy(kind: str, value: np.ndarray, lengths: list[int]) -> np.ndarray:
    axes = tuple(range(value.ndim - len(lengths), value.ndim))
    real = {"s": lengths} if kind == "IRFFT" else {}
    functions = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}
    wide = value.astype(np.complex128 if np.iscomplexobj(value) else np.float64)
    return functions[kind](wide, axes=axes, **real)


def assert_is(actual: object, expected: np.ndarray, of: str) -> None:
    assert np.abs(np.asarray(actual) - expected).max() <= EXACTNESS[of] * np.abs(expected).max()


def assert_is_transform(
    expand: Callable[[ix.hlo.Instruction], ix.hlo.Computation | None],
    kind: str,
    batch: list[int],
    lengths: list[int],
    of: str = "c64",
) -> None:
    """An expansion has the shape and, of random elements, the values of the transform."""
    module = transform(kind, batch, lengths, of)
    computation, value = expand(module.entry.root), random_operand(module, sum(lengths))
    assert computation is not None and computation.root.shape == module.entry.root.shape
    assert_is(run_computation(computation, [value]), by_numpy(kind, value, lengths), of)
