"""Programs of JAX functions and of StableHLO text. Where JAX is missing, the error says how to install it."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import indexing as ix

HAS_JAX = importlib.util.find_spec("jax") is not None
needs_jax = pytest.mark.skipif(not HAS_JAX, reason="JAX is an extra")

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


def test_without_jax_the_error_names_the_extra() -> None:
    script = (
        "import sys\nsys.modules['jax'] = None\nimport indexing as ix\n"
        "for call in (lambda: ix.from_jax(abs, 1), lambda: ix.hlo.from_stablehlo('module {}')):\n"
        "    try:\n        call()\n    except ix.UnsupportedOp as e:\n        print(e)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.count("pip install 'indexing[jax]'") == 2


@needs_jax
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


@needs_jax
def test_a_function_as_it_is_compiled() -> None:
    import jax
    import jax.numpy as jnp

    argument = jax.ShapeDtypeStruct((8, 16), jnp.bfloat16)
    module = ix.from_jax(jax.jit(lambda x: jnp.tanh(x) + jnp.ones_like(x)), argument, stage="compiled")
    assert module.attributes["is_scheduled"] == "true" and any(
        i.opcode == "fusion" for i in module.entry.instructions.values()
    )
    with pytest.raises(ix.UnsupportedOp, match="no stage 'traced'"):
        ix.from_jax(jnp.tanh, argument, stage="traced")


@needs_jax
def test_stablehlo() -> None:
    module = ix.hlo.from_stablehlo(STABLEHLO)
    assert module.entry.root.opcode == "transpose" and module.entry.root.ints("dimensions") == (1, 0)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(ix.evaluate(module, x), 2 * x.T)


@needs_jax
def test_stablehlo_that_is_wrong() -> None:
    with pytest.raises(ix.ParseError) as caught:
        ix.hlo.from_stablehlo(STABLEHLO.replace("%a, %c", "%a, %d"))
    assert (caught.value.line, caught.value.column) == (4, 33) and "%m = " in str(caught.value)
    for bad in ("", "module {", "func.func @main() { return }"):
        with pytest.raises(ix.IndexingError):
            ix.hlo.from_stablehlo(bad)
