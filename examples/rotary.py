"""The start of a decoder in JAX, and how `rotary.hlo` was compiled from it for an H100, without one.

    python examples/rotary.py > examples/rotary.hlo        (needs the extra `jax-cuda`)

Embeddings of tokens are columns of the matrix of the output projection (tied embeddings). They are normalized by head, and
pairs of their neighbouring elements are rotated by an angle of their position. The text is what XLA's GPU compiler makes of
it: the fusions in it are XLA's own.
"""

import jax
import jax.numpy as jnp

import indexing as ix

BATCH, SEQUENCE, HEADS, WIDTH, TOKENS = 4, 2048, 8, 128, 32_000


def embed(head, tokens):
    return jnp.moveaxis(head[:, tokens], 0, -1).reshape(*tokens.shape, HEADS, WIDTH)


def normalize(x, scale):
    wide = x.astype(jnp.float32)
    return wide * jax.lax.rsqrt(jnp.mean(wide**2, axis=-1, keepdims=True) + 1e-6) * scale


def rotate(x, positions):
    angles = positions[:, None, None] * 10_000.0 ** (-jnp.arange(0, WIDTH, 2) / WIDTH)
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    return jnp.stack((even * cos - odd * sin, odd * cos + even * sin), axis=-1).reshape(x.shape)


def queries(head, tokens, scale, positions):
    return rotate(normalize(embed(head, tokens), scale), positions).astype(jnp.bfloat16)


def compiled() -> ix.hlo.Module:
    jax.config.update("jax_traceback_in_locations_limit", 1)  # the innermost line, by the name of this file
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    head = jax.ShapeDtypeStruct((HEADS * WIDTH, TOKENS), jnp.bfloat16)
    tokens = jax.ShapeDtypeStruct((BATCH, SEQUENCE), jnp.int32)
    scale, positions = (jax.ShapeDtypeStruct((n,), jnp.float32) for n in (WIDTH, SEQUENCE))
    return ix.from_jax(queries, head, tokens, scale, positions, target="h100")


if __name__ == "__main__":
    print(compiled())
