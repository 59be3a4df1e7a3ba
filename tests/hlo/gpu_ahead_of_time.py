"""Programs compiled for GPUs that aren't there, by XLA itself: `make ahead-of-time`, which installs its plug-in first."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing.hlo import source_place

X = jax.ShapeDtypeStruct((512, 256), jnp.float32)


def softmax_transposed(x):
    return jax.nn.softmax(x, -1).T


def fused(module: ix.hlo.Module) -> list[str]:
    return [i.attributes["kind"] for i in module.entry.instructions.values() if i.opcode == "fusion"]


@pytest.mark.parametrize("target", [d for d in ix.devices() if d.architecture], ids=str)
def test_each_target(target: ix.Device) -> None:
    module = ix.from_jax(softmax_transposed, X, target=target)
    assert module.attributes["is_scheduled"] == "true" and "kInput" in fused(module)
    lines = {str(source_place(i)) for i in module.entry.instructions.values() if i.opcode == "fusion"}
    assert any(__file__ in line for line in lines)
    x = np.random.default_rng(0).normal(size=X.shape).astype(np.float32)
    np.testing.assert_allclose(ix.evaluate(module, x), softmax_transposed(x), rtol=1e-5)


def test_the_same_from_other_forms() -> None:
    lowered = jax.jit(softmax_transposed).trace(X).lower(lowering_platforms=("cuda",))
    exported = jax.export.export(jax.jit(softmax_transposed), platforms=("cuda",))(X)
    expected = fused(ix.from_jax(softmax_transposed, X, target="h100"))
    assert fused(ix.hlo.from_stablehlo(lowered.as_text(), target="h100")) == expected
    assert fused(ix.hlo.from_exported(exported, target="h100")) == expected
    with pytest.raises(ix.ParseError, match="line 2, column 3"):
        ix.hlo.from_stablehlo("module {\n  nothing.like_it\n}", target="h100")


def test_partitioned_programs() -> None:
    mesh = jax.sharding.AbstractMesh((2,), ("rows",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    halves = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=rows)
    module = ix.from_jax(lambda x: x.sum(0), halves, target="h100")
    assert module.attributes["num_partitions"] == "2"
    assert module.entry.parameters[0].shape.dimensions == (256, 256)
