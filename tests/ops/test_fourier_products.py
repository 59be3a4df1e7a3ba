"""Fourier transforms as products of matrices: numpy's transforms, the factors of lengths, and kernels on a device with threads."""

from math import prod

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import indexing as ix
from fourier import KINDS, REAL, assert_is, assert_is_transform, by_numpy, random_operand, transform
from indexing.ops.fourier_products import MAX_LENGTH, MAX_RADIX, fourier_in_products, radices
from kernels import compiled
from opencl_runtime import device as opencl_device


@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(1, 3), max_size=2),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.sampled_from(list(REAL)),
)
def test_products_are_the_transform(kind: str, batch: list[int], lengths: list[int], of: str) -> None:
    assert_is_transform(fourier_in_products, kind, batch, lengths, of)


@pytest.mark.parametrize("length", [1, 2, 97, 125, 127, 343, 1000, 4096, 2 * 3 * 5 * 7 * 11, 2**14])
@pytest.mark.parametrize("kind", KINDS)
def test_long_transforms(kind: str, length: int) -> None:
    assert_is_transform(fourier_in_products, kind, [2], [length])


@given(st.integers(1, 1 << 20))
@example(2**4 * 3**6 * 59)
def test_radices_are_factors_of_which_only_primes_are_long(length: int) -> None:
    factors = radices(length)
    assert prod(factors) == length
    for f in factors:
        assert f <= MAX_RADIX or all(f % d for d in range(2, f))


@pytest.mark.parametrize("length", [2**k for k in range(1, 21)])
def test_radices_of_powers_of_two_are_few_and_similar(length: int) -> None:
    factors = radices(length)
    assert len(factors) == -(-(length.bit_length() - 1) // 5) and max(factors) <= 2 * min(factors)


@pytest.mark.parametrize(("batch", "length"), [([], 2 * 131), ([], MAX_LENGTH * 2), ([0], 8)])
def test_what_has_long_primes_or_many_or_no_elements_stays_as_it_is(batch: list[int], length: int) -> None:
    assert fourier_in_products(transform("FFT", batch, [length]).entry.root) is None


def test_a_device_with_threads_has_kernels_for_it() -> None:
    on_gpu = ix.analyze(transform("FFT", [64], [1024]), "h100").fusions
    assert len(on_gpu) > 1 and all(k.run_seconds for k in on_gpu)


@pytest.mark.parametrize(
    ("kind", "batch", "lengths"),
    [("FFT", [8], [1024]), ("RFFT", [2, 3], [256]), ("IFFT", [2], [12, 48]), ("IRFFT", [4], [1000])],
)
def test_kernels_give_the_transform(kind: str, batch: list[int], lengths: list[int]) -> None:
    module = transform(kind, batch, lengths)
    value, executable = random_operand(module, 7), compiled(module, device=opencl_device())
    assert executable.reference_steps == () and "dot-simt" in {k.emitter for k in executable.kernels}
    assert_is(executable(value), by_numpy(kind, value, lengths), "c64")
