"""Programs of JAX functions and of StableHLO text, with JAX itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from kernels import compiled

STABLEHLO = """\
module @m {
  func.func public @main(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %c = stablehlo.constant dense<2.0> : tensor<2x3xf32>
    %m = stablehlo.multiply %a, %c : tensor<2x3xf32>
    %t = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %t : tensor<3x2xf32>
  }
}
"""


def test_a_function_as_it_is_lowered() -> None:
    table = np.arange(400, dtype=np.float32).reshape(20, 20)

    def f(x, *, scale):
        return (x @ table) * scale

    x = np.linspace(-1, 1, 80, dtype=np.float32).reshape(4, 20)
    module = ix.from_jax(f, x, scale=np.float32(2))
    assert [p.shape.dimensions for p in module.entry.parameters] == [(4, 20), ()]
    (constant,) = (i for i in module.entry.instructions.values() if i.shape.dimensions == (20, 20))
    assert np.array_equal(constant.literal, table)
    np.testing.assert_allclose(ix.evaluate(module, x, np.float32(2)), f(x, scale=2), rtol=1e-5)


def test_a_function_as_it_is_compiled() -> None:
    argument = jax.ShapeDtypeStruct((8, 16), jnp.bfloat16)
    module = ix.from_jax(jax.jit(lambda x: jnp.tanh(x) + jnp.ones_like(x)), argument, stage="compiled")
    assert module.attributes["is_scheduled"] == "true" and any(
        i.opcode == "fusion" for i in module.entry.instructions.values()
    )
    with pytest.raises(ix.UnsupportedOp, match="no stage 'traced'"):
        ix.from_jax(jnp.tanh, argument, stage="traced")


def test_stablehlo() -> None:
    module = ix.hlo.from_stablehlo(STABLEHLO)
    assert module.entry.root.opcode == "transpose" and module.entry.root.ints("dimensions") == (1, 0)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(ix.evaluate(module, x), 2 * x.T)


def test_stablehlo_that_is_wrong() -> None:
    with pytest.raises(ix.ParseError) as caught:
        ix.hlo.from_stablehlo(STABLEHLO.replace("%a, %c", "%a, %d"))
    assert (caught.value.line, caught.value.column) == (4, 33) and "%m = " in str(caught.value)
    for bad in ("", "module {", "module { func.func @f() { return } }"):
        with pytest.raises(ix.ParseError, match=r"line 1, column \d"):
            ix.hlo.from_stablehlo(bad)


def test_arrays_of_programs_that_are_lowered_are_row_major() -> None:
    """XLA converts a transpose as a change of layout; which layouts there are is yet to be chosen."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for module in (ix.from_jax(lambda a: a.T * 2, x), ix.hlo.from_stablehlo(STABLEHLO)):
        layouts = {i.shape.layout for i in module.entry.instructions.values() if not i.shape.is_tuple}
        assert all(layout is None or layout == tuple(reversed(range(len(layout)))) for layout in layouts)
        np.testing.assert_array_equal(ix.evaluate(module, x), x.T * 2)


def scaled_rows(x, n, *, scale):
    return (x * scale).reshape(n, -1)


ROWS = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize("is_array", [True, False])
def test_questions_give_a_function_its_static_and_keyword_arguments(is_array: bool) -> None:
    jitted = jax.jit(scaled_rows, static_argnums=1, static_argnames=() if is_array else "scale")
    scale = np.float32(3) if is_array else 3
    expected = (ROWS * 3).reshape(2, 12)
    assert np.array_equal(ix.evaluate(jitted, ROWS, 2, scale=scale), expected)
    assert [str(k) for k in ix.emit_all(jitted, ROWS, 2, scale=scale)] == [
        str(k) for k in ix.emit_all(ix.from_jax(jitted, ROWS, 2, scale=scale))
    ]
    assert str(ix.maps(jitted, ROWS, 2, scale=scale)) == str(ix.maps(ix.from_jax(jitted, ROWS, 2, scale=scale)))
    assert ix.analyze(jitted, ROWS, 2, device="h100", scale=scale).device.name == "H100 SXM"


def test_a_program_takes_no_keyword_arguments() -> None:
    lowered = jax.jit(lambda x: x + 1).lower(ROWS)
    for program in (ix.from_jax(lowered), lowered):
        with pytest.raises(TypeError, match="only a function does"):
            ix.evaluate(program, ROWS, scale=3)
    with pytest.raises(TypeError, match="only a function does"):
        ix.maps(ix.from_jax(lowered), scale=3)
    with pytest.raises(TypeError, match="scale"):
        ix.analyze(ix.from_jax(lowered), scale=3)


@pytest.mark.parametrize("kind", ["threefry2x32", "rbg"])
def test_random_keys_are_arguments(kind: str) -> None:
    def noisy(key, x):
        return x + jax.random.normal(key, x.shape)

    key = jax.random.key(5, impl=kind)
    expected = noisy(key, ROWS)
    module = ix.from_jax(noisy, key, ROWS)
    for actual in (ix.evaluate(noisy, key, ROWS), ix.evaluate(module, key, ROWS), compiled(module)(key, ROWS)):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def test_a_shape_is_no_argument_of_an_evaluation() -> None:
    with pytest.raises(ix.IndexingError, match="is a ShapeDtypeStruct, which has no numbers; expected f32"):
        ix.evaluate(lambda x: x + 1, jax.ShapeDtypeStruct((3,), np.float32))
