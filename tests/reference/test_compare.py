"""How results are compared: what counts as rounding, and in what words differences are told."""

import ml_dtypes
import numpy as np
import pytest

from indexing.reference.differences import difference

TYPES = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("kind", TYPES, ids=lambda t: np.dtype(t).name)
def test_neighbouring_numbers_of_a_type_differ_by_rounding(kind: type) -> None:
    eps = float(ml_dtypes.finfo(kind).eps)
    expected = np.array([1.0, 1.5, 2.0], kind)
    assert difference((expected.astype(float) * (1 + eps)).astype(kind), expected).is_rounding
    assert not difference((expected.astype(float) * (1 + max(8 * eps, 2e-3))).astype(kind), expected).is_rounding


@pytest.mark.parametrize("kind", [np.int32, np.bool_, ml_dtypes.int4], ids=lambda t: np.dtype(t).name)
def test_small_integers_that_differ_are_no_rounding(kind: type) -> None:
    assert not difference(np.array([0, 1], kind), np.array([1, 1], kind)).is_rounding


def test_an_infinity_in_one_only_is_no_rounding() -> None:
    apart = difference(np.array([np.inf, np.nan]), np.array([1.0, np.nan]), tolerance=np.inf)
    assert not apart.is_rounding
    assert (
        str(apart)
        == "DIFFERS: error up to 0 where inf is allowed, 1 of 2 elements, 1 of them infinite or NaN in one only"
    )


def test_the_words_say_how_far_arrays_lie_apart() -> None:
    one = np.array([1.0, 2.0], np.float32)
    assert str(difference(one, one)) == "all 2 elements equal the reference"
    near = str(difference(np.array([1.0, 2.00001], np.float32), one))
    assert near == "agrees with the reference up to rounding: error at most 5e-06, 1 of 2 equal"
    far = str(difference(np.array([1.0, 3.0], np.float32), one))
    assert far == "DIFFERS: error up to 0.5 where 0.001 is allowed, 1 of 2 elements"
