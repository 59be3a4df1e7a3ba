"""A transformer block in JAX, and how `transformer_block.hlo` was lowered from it.

    python examples/transformer_block.py > examples/transformer_block.hlo        (needs jax)

Layer norm, causal multi-head attention with softmax, a residual, layer norm, a GELU feed-forward, a residual. The text
is what XLA's CPU backend leaves after optimization: the fusions in it are XLA's own.
"""

import jax
import jax.numpy as jnp
from jaxlib._hlo import HloPrintOptions

BATCH, SEQUENCE, HEADS, WIDTH = 2, 48, 4, 16
MODEL = HEADS * WIDTH
HIDDEN = 2 * MODEL


def layer_norm(x, scale, bias):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def attention(x, w_qkv, w_out):
    qkv = (x @ w_qkv).reshape(BATCH, SEQUENCE, 3, HEADS, WIDTH)
    q, k, v = (qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * WIDTH**-0.5
    causal = jnp.tril(jnp.ones((SEQUENCE, SEQUENCE), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e30), axis=-1)
    heads = jnp.einsum("bhqk,bhkd->bhqd", weights, v)
    return heads.transpose(0, 2, 1, 3).reshape(BATCH, SEQUENCE, MODEL) @ w_out


def block(x, scale1, bias1, w_qkv, w_out, scale2, bias2, w_up, w_down):
    x = x + attention(layer_norm(x, scale1, bias1), w_qkv, w_out)
    return x + jax.nn.gelu(layer_norm(x, scale2, bias2) @ w_up) @ w_down


def lower() -> str:
    shapes = [
        (BATCH, SEQUENCE, MODEL),
        (MODEL,),
        (MODEL,),
        (MODEL, 3 * MODEL),
        (MODEL, MODEL),
        (MODEL,),
        (MODEL,),
        (MODEL, HIDDEN),
        (HIDDEN, MODEL),
    ]
    arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    compiled = jax.jit(block).lower(*arguments).compile()
    (module,) = compiled.runtime_executable().hlo_modules()
    options = HloPrintOptions()
    options.print_metadata = False
    options.print_backend_config = False
    return module.to_string(options)


if __name__ == "__main__":
    print(lower())
