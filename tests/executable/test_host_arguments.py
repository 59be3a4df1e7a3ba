"""Arguments that lie in host memory are read in place, whatever library made them; others are converted."""

import gc
import weakref

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import indexing as ix
from indexing._core import HostViews
from kernels import compiled

F32 = np.dtype(np.float32)


def addresses(*arrays: object, dtype: object = F32, sizes: tuple[int, ...] = (2, 3)) -> list[bool]:
    count = len(arrays)
    return [a != 0 for a in HostViews(arrays, (np.dtype(dtype),) * count, (sizes,) * count).addresses()]


def test_views_have_the_addresses_of_numpy_and_of_jax() -> None:
    array, other = np.zeros((2, 3), np.float32), jnp.ones((2, 3))
    views = HostViews((array, other), (F32, F32), ((2, 3), (2, 3)))
    assert views.addresses() == [array.ctypes.data, other.unsafe_buffer_pointer()]


def test_only_arrays_of_the_type_and_sizes_without_gaps_are_viewed() -> None:
    whole = np.zeros((4, 6), np.float32)
    assert addresses(whole[:2, :3], whole[:2].reshape(4, 3)[:2], whole.T[:2, :3]) == [False, True, False]
    assert addresses(np.zeros(6, np.float32), np.zeros((2, 3)), np.zeros((2, 3), ">f4")) == [False] * 3
    assert addresses([[0.0] * 3] * 2, 1.0, None, "text", object(), b"123456") == [False] * 6


def test_what_cannot_be_compared_is_not_viewed() -> None:
    class Odd:
        shape = (2, 3)

        @property
        def dtype(self) -> object:
            return np.zeros(2)

    assert addresses(Odd()) == [False]


def test_types_that_the_protocol_lacks_are_viewed_in_numpy_arrays() -> None:
    array = np.zeros((2, 3), ml_dtypes.bfloat16)
    assert addresses(array, jnp.zeros((2, 3), jnp.bfloat16), dtype=ml_dtypes.bfloat16) == [True, False]


def test_read_only_arrays_and_scalars_are_viewed() -> None:
    array = np.broadcast_to(np.float32(1), (2, 3)).copy()
    array.flags.writeable = False
    assert addresses(array) == [True]
    assert addresses(np.float32(3), np.array(3, np.float32), jnp.float32(3), sizes=()) == [True] * 3


def test_a_view_keeps_the_memory_and_gives_it_back() -> None:
    array = np.zeros((2, 3), np.float32)
    views, died = HostViews((array,), (F32,), ((2, 3),)), weakref.ref(array)
    del array
    gc.collect()
    assert died() is not None
    del views
    gc.collect()
    assert died() is None


def test_a_deleted_array_is_refused() -> None:
    run = compiled("ENTRY e { p = f32[3] parameter(0) ROOT c = f32[3] negate(p) }", device="cpu")
    array = jnp.ones(3)
    array.delete()
    with pytest.raises(ix.IndexingError, match="deleted"):
        run(array)


@pytest.mark.parametrize("kind", ["f32", "bf16", "s8", "pred", "c64", "u64"])
def test_all_sorts_of_arrays_give_the_same_result(kind: str) -> None:
    text = f"""
      ENTRY e {{
        p = {kind}[2,3] parameter(0)
        q = {kind}[] parameter(1)
        b = {kind}[2,3] broadcast(q), dimensions={{}}
        m = pred[2,3] compare(p, b), direction=NE
        ROOT s = {kind}[2,3] select(m, p, b)
      }}"""
    run = compiled(text, device="cpu")
    values = np.array([[0, 1, 1], [1, 0, 0]]).astype(ix.hlo.Shape.array(kind, []).dtype)
    with jax.enable_x64(True):
        forms = [
            values,
            np.asfortranarray(values),
            np.repeat(values, 2, 1)[:, ::2],
            jnp.asarray(values),
            values.tolist(),
        ]
    scalars = [values[0, 1], np.asarray(values[0, 1]), values[0, 1].item()]
    for array in forms:
        for scalar in scalars:
            np.testing.assert_array_equal(run(array, scalar), values)
