"""Arguments of programs: what is taken for an array of a parameter's type, by the reference and by executables alike."""

import copy
import pickle

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import indexing as ix
from kernels import compiled

INF, NAN = np.inf, np.nan


def runners(kind: str, sizes: str = "3"):
    """`evaluate`, and executables, of the program that returns its parameter."""
    text = f"ENTRY e {{ p = {kind}[{sizes}] parameter(0) ROOT c = {kind}[{sizes}] copy(p) }}"
    return [
        lambda *arrays: ix.evaluate(text, *arrays),
        compiled(text, device="cpu"),
        compiled(text, device="reference"),
    ]


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("s32", np.arange(3)),
        ("s32", [1, 2, 3]),
        ("s32", (1.0, -2.0, 2.0**31 - 1)),
        ("s32", np.zeros(3)),
        ("s32", [True, False, True]),
        ("s32", np.array([1, 2, 3], ml_dtypes.bfloat16)),
        ("s32", [1 + 0j, 2, 3]),
        ("u64", np.array([0, 1, 2**64 - 1], np.uint64)),
        ("u64", [0.0, 1.0, 2.0**63]),
        ("s64", np.array([0, 1, 2**63 - 1], np.uint64)),
        ("u8", [0, 255, 7]),
        ("s4", [-8, 7, 0]),
        ("u8", np.array([0, 15, 7], ml_dtypes.uint4)),
        ("pred", [0, 1, 1]),
        ("pred", [0.0, 1.0, 1.0]),
        ("f32", [1, 2, 3]),
        ("f32", np.array([-0.0, INF, NAN])),
        ("f32", np.array([2**31, 1, 0], np.uint32)),
        ("bf16", [0.5, -INF, 256]),
        ("f8e4m3fn", [0.5, NAN, 448]),
        ("f4e2m1fn", [0.5, 6, -1]),
        ("c64", [1, 2.5, INF]),
        ("c64", np.array([1 + 2j, INF, complex(0, NAN)])),
    ],
)
def test_numbers_that_stay_what_they_are_are_converted(kind: str, given: object) -> None:
    for run in runners(kind):
        results = run(given)
        assert results.dtype == ix.hlo.Shape.array(kind, [3]).dtype
        wanted = np.asarray(given)
        wide = np.complex128 if wanted.dtype.kind == "c" or kind == "c64" else object
        if wide is object and wanted.dtype.kind in "biu" and results.dtype.kind in "biu":
            assert [int(x) for x in results] == [int(x) for x in wanted]
        else:
            np.testing.assert_array_equal(results.astype(np.complex128), wanted.astype(np.complex128))


def test_floats_are_rounded_to_the_nearest() -> None:
    for run in runners("f32"):
        assert run([0.1, 1 / 3, 2**24 + 1]).tolist() == np.array([0.1, 1 / 3, 2**24], np.float32).tolist()


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("s32", [1.5, 0, 0], "1.5 at [0] is no s32"),
        ("s32", [0, NAN, 0], "nan at [1] is no s32"),
        ("s32", [0, 2**31, 0], "2147483648 at [1] is no s32"),
        ("s32", [0.0, 0, 2.0**31], "2147483648.0 at [2] is no s32"),
        ("s32", np.array([0, 0, 1j]), "1j at [2] is no s32"),
        ("s64", np.array([0, 2**63, 0], np.uint64), "9223372036854775808 at [1] is no s64"),
        ("s64", [0, 2.0**63, 0], "at [1] is no s64"),
        ("u64", np.array([0, -1, 0]), "-1 at [1] is no u64"),
        ("u64", [0, 2.0**64, 0], "at [1] is no u64"),
        ("u8", [0, 256, 0], "256 at [1] is no u8"),
        ("s4", np.array([0, 0, 8], np.int8), "8 at [2] is no s4"),
        ("s4", np.array([0, 0, 8], ml_dtypes.uint4), "8 at [2] is no s4"),
        ("pred", [0, 2, 0], "2 at [1] is no pred"),
        ("pred", [0, 0.5, 0], "0.5 at [1] is no pred"),
        ("f32", [0, 1e39, 0], "1e+39 at [1] is no f32"),
        ("f16", [0, 70000, 0], "70000 at [1] is no f16"),
        ("f8e4m3fn", [0, 1e9, 0], "at [1] is no f8e4m3fn"),
        ("f8e4m3fn", [0, INF, 0], "inf at [1] is no f8e4m3fn"),
        ("f4e2m1fn", [0, 100.0, 0], "100.0 at [1] is no f4e2m1fn"),
        ("f4e2m1fn", [0, NAN, 0], "nan at [1] is no f4e2m1fn"),
        ("f32", np.array([0, 1j, 0]), "1j at [1] is no f32"),
        ("c64", np.array([0, 1e39j, 0]), "1e+39j at [1] is no c64"),
        ("f32", ["a", "b", "c"], "whose elements aren't numbers"),
        ("f32", [None, 1, 2], "element type object, whose elements aren't numbers"),
        ("s64", [0, 2**64, 0], "element type object, whose elements aren't numbers"),
        ("f32", [[1], [1, 2], [3]], "that numpy can't convert to an array"),
        ("f32", [1, 2], "has shape [2]; expected [3] (f32[3])"),
        ("f32", 1, "has shape []; expected [3] (f32[3])"),
    ],
)
def test_what_would_become_another_number_is_refused_by_name(kind: str, given: object, said: str) -> None:
    for run in runners(kind):
        with pytest.raises(ix.IndexingError) as refusal:
            run(given)
        assert "argument 0" in str(refusal.value) and said in str(refusal.value)


def test_numbers_are_scalars_and_lists_are_arrays_of_any_rank() -> None:
    for run in runners("s32", ""):
        assert run(7) == run(7.0) == run(np.int64(7)) == 7
    for run in runners("f32", "2,2"):
        assert run([[1, 2], (3, np.float64(4))]).tolist() == [[1, 2], [3, 4]]
    for run in runners("s32", "2,0"):
        assert run(np.zeros((2, 0))).shape == run([[], []]).shape == (2, 0)


def test_tuples_are_converted_part_by_part() -> None:
    text = """ENTRY e { p = (s32[2], (f32[], pred[])) parameter(0)
      ROOT r = (f32[], pred[]) get-tuple-element(p), index=1 }"""
    for run in (lambda *a: ix.evaluate(text, *a), compiled(text, device="cpu"), compiled(text, device="reference")):
        assert run(([1, 2.0], (3, 1))) == (3, True)
        with pytest.raises(ix.IndexingError, match=r"argument 0\[1\]\[1\] has element type int64; 3 is no pred"):
            run(([1, 2], (3, 3)))
        with pytest.raises(ix.IndexingError, match=r"argument 0\[1\] is a int; expected a tuple of 2 values"):
            run(([1, 2], 3))


def test_data_of_a_parameter_s_own_type_is_not_looked_at() -> None:
    values = np.array([INF, NAN, -0.0], np.float32)
    for run in runners("f32"):
        assert run(values).tobytes() == values.tobytes()


def test_an_array_that_was_donated_is_refused_with_the_reason_of_its_library() -> None:
    given = jnp.arange(3.0)
    given.delete()
    for run in runners("f32"):
        with pytest.raises(
            ix.IndexingError, match="argument 0 is .* can't convert to an array: Array has been deleted"
        ):
            run(given)


class OnSeveralDevices:
    """An array that has no one place, as JAX says of sharded ones, and that numpy can gather."""

    def __dlpack_device__(self) -> tuple[int, int]:
        raise BufferError("sharded")

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.arange(3, dtype=np.float32)


def test_an_array_without_one_place_is_read_by_numpy() -> None:
    for run in runners("f32"):
        np.testing.assert_array_equal(run(OnSeveralDevices()), np.arange(3))


def test_masked_elements_have_no_value() -> None:
    numbers = np.ma.array([1, 2, 3], np.float32)
    for run in runners("f32"):
        np.testing.assert_array_equal(run(numbers), [1, 2, 3])
        with pytest.raises(
            ix.IndexingError, match="argument 0 is a masked array; expected f32.3. without masked elements"
        ):
            run(np.ma.masked_greater(numbers, 2))


@pytest.mark.parametrize("move", [pickle.dumps, copy.copy, copy.deepcopy], ids=lambda f: f.__name__)
@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_an_executable_stays_in_its_process(move, device: str) -> None:
    run = compiled("ENTRY e { p = f32[3] parameter(0) ROOT n = f32[3] negate(p) }", device=device).executable
    with pytest.raises(TypeError, match=r"Executable\(.*\) belongs to this process: pickle its `module`"):
        move(run)
    assert str(pickle.loads(pickle.dumps(run.module))) == str(run.module)
