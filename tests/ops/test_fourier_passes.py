"""Fourier transforms as passes: numpy's transforms, the radices of lengths, and kernels of a processor."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourier import KINDS, REAL, assert_is, assert_is_transform, by_numpy, random_operand, transform
from indexing.ops.fourier_passes import MAX_LENGTH, RADICES, fourier_in_passes, radices
from kernels import compiled

SMOOTH = [n for n in range(1, 61) if prod(radices(n)) == n]
EVEN = [n for n in SMOOTH if n % 2 == 0]


@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(1, 3), max_size=2),
    st.lists(st.sampled_from(SMOOTH), max_size=2),
    st.sampled_from(EVEN),
    st.sampled_from(list(REAL)),
)
def test_passes_are_the_transform(kind: str, batch: list[int], leading: list[int], last: int, of: str) -> None:
    assert_is_transform(fourier_in_passes, kind, batch, [*leading, last], of)


@pytest.mark.parametrize("length", [1, 3, 5, 7, 49, 105, 4096, 2000, MAX_LENGTH])
@pytest.mark.parametrize("kind", ["FFT", "IFFT"])
def test_long_and_odd_transforms(kind: str, length: int) -> None:
    assert_is_transform(fourier_in_passes, kind, [2], [length])


@given(st.integers(1, 1 << 20))
def test_radices_are_what_they_divide(length: int) -> None:
    rest = length
    for radix in radices(length):
        assert rest % radix == 0
        rest //= radix
    assert all(rest % radix for radix in RADICES)


@pytest.mark.parametrize(
    ("kind", "batch", "length"),
    [("FFT", [], 22), ("FFT", [], MAX_LENGTH * 2), ("FFT", [0], 8), ("RFFT", [], 9), ("IRFFT", [2], 15)],
)
def test_other_primes_many_or_no_elements_and_odd_real_ones_stay_as_they_are(
    kind: str, batch: list[int], length: int
) -> None:
    module = transform(kind, batch, [length])
    assert fourier_in_passes(module.entry.root) is None
    assert compiled(module, device="cpu").reference_steps == (module.entry.root,)


@pytest.mark.parametrize(
    ("kind", "batch", "lengths", "kernels"),
    [
        ("FFT", [8], [1024], 5),
        ("RFFT", [2, 3], [512], 7),  # pairs, four passes, the first element again, and the sum
        ("IFFT", [2], [12, 16], 4),
        ("IRFFT", [4], [16, 500], None),
        ("FFT", [3], [4, 3, 5], 3),
    ],
)
@pytest.mark.parametrize("of", list(REAL))
def test_each_pass_is_a_kernel(kind: str, batch: list[int], lengths: list[int], kernels: int | None, of: str) -> None:
    module = transform(kind, batch, lengths, of)
    executable = compiled(module, device="cpu")
    assert executable.reference_steps == ()
    assert kernels in (None, len(executable.kernels))
    assert "concatenate" in {k.emitter for k in executable.kernels}
    for seed in range(2):
        value = random_operand(module, seed)
        assert_is(executable(value), by_numpy(kind, value, lengths), of)


def test_meaningless_imaginary_parts_are_not_read() -> None:
    module = transform("IRFFT", [], [8])
    value = random_operand(module, 3)
    marked = value.copy()
    marked.imag[[0, 4]] = np.inf
    executable = compiled(module, device="cpu")
    np.testing.assert_array_equal(executable(marked), executable(value))
