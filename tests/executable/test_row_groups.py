"""Fusion planning of rows: what unfused programs compute around reductions of shared rows is one kernel."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.planning.program import planned_kernels
from kernels import as_list, compiled


def softmax(x: jax.Array) -> jax.Array:
    return jax.nn.softmax(x, -1)


def log_softmax(x: jax.Array) -> jax.Array:
    return jax.nn.log_softmax(x, 1)


def layernorm(x: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * 0.5


def deviation(x: jax.Array) -> jax.Array:
    return ((x - x.mean(-1, keepdims=True)) ** 2).sum(-1)


def group_norm(x: jax.Array) -> jax.Array:
    groups = x.reshape(*x.shape[:-1], 4, -1)
    mean = groups.mean((1, 3), keepdims=True)
    scale = jax.lax.rsqrt(groups.var((1, 3), keepdims=True) + 1e-5)
    return ((groups - mean) * scale).reshape(x.shape)


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        *[(softmax, (70, 33)), (softmax, (3, 5, 40)), (log_softmax, (6, 50)), (log_softmax, (6, 50, 7))],
        *[(layernorm, (9, 64)), (deviation, (20, 130)), (group_norm, (3, 10, 24)), (jax.nn.standardize, (8, 100))],
    ],
)
def test_one_kernel(function: object, sizes: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(sizes).astype(np.float32)
    executable = compiled(ix.from_jax(function, x), tolerance=1e-3)
    np.testing.assert_allclose(executable(x), function(x), rtol=1e-4, atol=1e-5)
    assert [k.emitter for k in executable.kernels] == ["rows"]


def rms_norm(x: jax.Array, g: jax.Array) -> jax.Array:
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g


def affine_norm(x: jax.Array, g: jax.Array, b: jax.Array) -> jax.Array:
    return layernorm(x) * g + b


def affine_group_norm(x: jax.Array, g: jax.Array, b: jax.Array) -> jax.Array:
    return group_norm(x) * g + b


def quantized(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    scale = jnp.abs(x).max(-1, keepdims=True) / 127
    return jnp.round(x / scale * 0.25), scale


def largest(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jnp.argmax(x, -1), x.max(-1)


def normalized_and_moments(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    return layernorm(x), x.mean(-1), x.var(-1)


def weights_and_logarithm(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.nn.softmax(x, -1), jax.nn.logsumexp(x, -1)


def moments(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    return x.std(-1), x.mean(-1), (x * x).sum(-1)


def add_and_norm(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    total = x + y
    return total, layernorm(total)


def gradient(function: object) -> object:
    """The gradients of all arguments but the last, which is the result's."""
    return lambda *arrays: jax.vjp(function, *arrays[:-1])[1](arrays[-1])


SEVERAL = {
    "quantized": (quantized, [(40, 50)], ["rows"]),
    "largest": (largest, [(40, 50)], ["reduction"]),
    "normalized and moments": (normalized_and_moments, [(9, 64)], ["rows"]),
    "weights and logarithm": (weights_and_logarithm, [(9, 64)], ["rows"]),
    "moments": (moments, [(9, 64)], ["rows"]),
    "add and norm": (add_and_norm, [(9, 64), (9, 64)], ["rows"]),
    "gradient of softmax": (gradient(softmax), [(33, 40), (33, 40)], ["rows"]),
    "gradient of log softmax": (gradient(log_softmax), [(33, 40), (33, 40)], ["rows"]),
    "gradient of rms norm": (gradient(rms_norm), [(33, 40), (40,), (33, 40)], ["reduction", "rows"]),
    "gradient of layernorm": (gradient(affine_norm), [(33, 40), (40,), (40,), (33, 40)], ["reduction", "rows"]),
    "gradient of group norm": (
        gradient(affine_group_norm),
        [(5, 6, 32), (32,), (32,), (5, 6, 32)],
        ["reduction", "rows"],
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_results_of_one_row_space(name: str) -> None:
    """The sums over rows of other dimensions, which gradients of weights are, are one kernel more."""
    function, sizes, emitters = SEVERAL[name]
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in sizes]
    executable = compiled(ix.from_jax(function, *arrays), tolerance=2e-3)
    got, want = executable(*arrays), function(*arrays)
    for a, b in zip(as_list(got), as_list(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    assert sorted(k.emitter for k in executable.kernels) == emitters


def test_what_is_cheap_is_computed_again() -> None:
    """The kernel of the weights' gradients reads the input and each row's moments: no array of the input's size is stored
    between the two.
    """
    shapes = [jax.ShapeDtypeStruct(s, jnp.float32) for s in SEVERAL["gradient of layernorm"][1]]
    kernels = ix.emit_all(ix.from_jax(gradient(affine_norm), *shapes))
    (rows,) = (k for k in kernels if k.emitter == "rows")
    assert sorted(a.element_count for a in rows.outputs) == [33, 33, 33 * 40]


def test_results_far_apart_in_order() -> None:
    """A kernel of several results runs before all that read one of them, and after all that it reads."""

    def function(x: jax.Array, y: jax.Array) -> tuple[jax.Array, ...]:
        mean = x.mean(-1, keepdims=True)
        sorted_means = jnp.sort(mean, 0)
        other = jnp.sort(y, 0)
        return sorted_means, (x - mean) * other, jnp.sort((x - mean).max(-1))

    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((20, 30)).astype(np.float32) for _ in range(2))
    executable = compiled(ix.from_jax(function, x, y))
    for got, want in zip(executable(x, y), function(x, y), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert [k.emitter for k in executable.kernels].count("rows") == 1


def test_groups_do_not_wait_for_each_other() -> None:
    """Each of two groups could have a result that the other reads: they would not know which runs first."""

    def function(x: jax.Array, y: jax.Array) -> tuple[jax.Array, ...]:
        a, b = x - x.max(-1, keepdims=True), y - y.max(-1, keepdims=True)
        c = jnp.cumsum(a, 0) + b
        d = jnp.cumsum(b, 0) + a
        return a, b, c - c.max(-1, keepdims=True), d - d.max(-1, keepdims=True), jnp.sort(c, 0), jnp.sort(d, 0)

    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((20, 30)).astype(np.float32) for _ in range(2))
    executable = compiled(ix.from_jax(function, x, y))
    for got, want in zip(executable(x, y), function(x, y), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_what_waits_for_others_stays_outside() -> None:
    """The product reads an element of the row space, and a sort of all of them: what it reads of the rows is stored, or their
    means.
    """

    def function(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        centred = x - x.mean(-1, keepdims=True)
        return centred * 2, centred * jnp.sort(centred, 0)

    x = np.random.default_rng(0).standard_normal((20, 30)).astype(np.float32)
    executable = compiled(ix.from_jax(function, x))
    for got, want in zip(executable(x), function(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    (rows,) = (k for k in executable.kernels if k.emitter == "rows")
    assert len(rows.outputs) == 2 and {a.element_count for a in rows.outputs} <= {20, 600}


def test_what_a_product_can_compute_last_is_left_to_it() -> None:
    """Else the product itself would be stored, and read, besides."""

    def function(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        h = jnp.exp(x @ w)
        return h, h - h.max(-1, keepdims=True)

    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(sizes).astype(np.float32) for sizes in ((40, 16), (16, 30)))
    executable = compiled(ix.from_jax(function, x, w), tolerance=1e-2)
    for got, want in zip(executable(x, w), function(x, w), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
    assert {k.emitter: len(k.outputs) for k in executable.kernels} == {"dot-panels": 1, "rows": 1}


@pytest.mark.parametrize(("kind", "reducer"), [("f32", "add"), ("s32", "maximum"), ("bf16", "multiply")])
def test_reductions_of_single_elements_are_none(kind: str, reducer: str) -> None:
    text = f"""
    by {{ a = {kind}[] parameter(0)
          b = {kind}[] parameter(1)
          ROOT c = {kind}[] {reducer}(a, b) }}
    ENTRY main {{
      x = {kind}[7,1,5,1] parameter(0)
      z = {kind}[] constant(3)
      r = {kind}[7,5] reduce(x, z), dimensions={{1,3}}, to_apply=by
      ROOT n = {kind}[7,5] negate(r)
    }}"""
    module = ix.hlo.parse(text)
    executable = compiled(module)
    x = np.arange(-17, 18).reshape(7, 1, 5, 1).astype(module.entry.parameters[0].shape.dtype)
    np.testing.assert_array_equal(executable(x), ix.evaluate(module, x))
    (kernel,) = executable.kernels
    assert kernel.emitter == "loop"
    assert "for (s32 r" not in kernel.source


def test_several_groups_and_what_is_between() -> None:
    """An attention: a product, a softmax, a product, a norm of the sum with its input, whose deviation is an output too."""

    def block(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        y = jax.nn.softmax(x @ x.T, -1) @ x + x
        deviation = y.std(-1, keepdims=True)
        return (y - y.mean(-1, keepdims=True)) / deviation, deviation

    x = np.random.default_rng(0).standard_normal((40, 200)).astype(np.float32)
    executable = compiled(ix.from_jax(block, x), tolerance=1e-2)
    for got, want in zip(executable(x), block(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
    assert [k.emitter for k in executable.kernels].count("rows") >= 2


def test_what_other_kernels_read_is_computed_once() -> None:
    """The exponentials are an output as well: they are read again, not computed again."""

    def both(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        e = jnp.exp(x - x.max(-1, keepdims=True))
        return e, e / e.sum(-1, keepdims=True)

    x = np.random.default_rng(0).standard_normal((66, 90)).astype(np.float32)
    executable = compiled(ix.from_jax(both, x))
    for got, want in zip(executable(x), both(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert sum("exp_f32(" in k.source.split("_blocks(")[1] for k in executable.kernels) == 1


@pytest.mark.parametrize("sizes", [(8, 64, 32), (4, 8, 32)])  # a view of as many elements as there are rows, too
def test_a_view_of_an_operand_is_no_result(sizes: tuple[int, int, int]) -> None:
    """Whoever else reads the view has one of its own, however often it reads each element."""
    space, rows = "f32[{},{},{}]".format(*sizes), "f32[{},{}]".format(*sizes)
    text = f"""add {{ a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }}
    ENTRY f {{ x = {space} parameter(0)
      g = f32[32] parameter(1)
      z = f32[5,7,32] parameter(2)
      v = f32[1,1,32] reshape(g)
      zero = f32[] constant(0)
      r = {rows} reduce({space} multiply(x, x), zero), dimensions={{2}}, to_apply=add
      q = {space} broadcast({rows} rsqrt(r)), dimensions={{0,1}}
      n = {space} multiply(x, q)
      w = f32[32] reshape(v)
      s = {space} broadcast(w), dimensions={{2}}
      y = {space} multiply(n, s)
      u = f32[32] reshape(v)
      o = f32[5,7,32] broadcast(u), dimensions={{2}}
      t = f32[5,7,32] multiply(z, o)
      ROOT both = ({space}, f32[5,7,32]) tuple(y, t) }}"""
    assert sorted(k.emitter for k in ix.emit_all(text, dialect="cuda")) == ["loop", "rows"]
    x, g, z = (
        np.random.default_rng(k).uniform(1, 2, s).astype(np.float32) for k, s in enumerate([sizes, 32, (5, 7, 32)])
    )
    y, t = map(np.asarray, compiled(text)(x, g, z))
    np.testing.assert_allclose(y, x / np.sqrt((x * x).sum(-1, keepdims=True)) * g, rtol=1e-5)
    np.testing.assert_allclose(t, z * g, rtol=1e-6)


def test_what_a_loop_outside_reads_is_in_memory() -> None:
    def both(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        e = jnp.exp(x - x.max(-1, keepdims=True))
        return e @ w, e / e.sum(-1, keepdims=True)

    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(sizes).astype(np.float32) for sizes in ((66, 90), (90, 20)))
    executable = compiled(ix.from_jax(both, x, w), tolerance=1e-2)
    for got, want in zip(executable(x, w), both(x, w), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
    assert sum("exp_f32(" in k.source.split("_blocks(")[1] for k in executable.kernels) == 1


def test_few_long_rows_stay_apart() -> None:
    x = np.zeros((2, 1 << 17), np.float32)
    assert len(planned_kernels(ix.from_jax(softmax, x), portable_device("c"))) > 1


FUSED = """add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
largest {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }}
whole {{
  x = f32[{0}] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[{1}] reduce(x, low), dimensions={{1}}, to_apply=largest
  ms = f32[{0}] broadcast(m), dimensions={{0}}
  d = f32[{0}] subtract(x, ms)
  e = f32[{0}] exponential(d)
  s = f32[{1}] reduce(e, zero), dimensions={{1}}, to_apply=add
  ss = f32[{0}] broadcast(s), dimensions={{0}}
  ROOT r = f32[{0}] divide(e, ss)
}}
ENTRY main {{ x = f32[{0}] parameter(0) ROOT r = f32[{0}] fusion(x), kind=kCustom, calls=whole }}
"""


@pytest.mark.parametrize(
    ("sizes", "is_one"), [((3, 300_000), False), ((1, 70_000), False), ((3, 8_000), True), ((64, 70_000), True)]
)
@pytest.mark.parametrize(("is_fused", "dialect"), [(True, "cuda"), (False, "cuda"), (False, "c")])
def test_few_long_rows_are_shared_by_blocks(sizes: tuple[int, int], is_one: bool, is_fused: bool, dialect: str) -> None:
    text = FUSED.format(",".join(map(str, sizes)), sizes[0])
    if not is_fused:
        text = text.replace("fusion(x), kind=kCustom, calls=whole", "call(x), to_apply=whole")
    kernels = ix.emit_all(ix.hlo.parse(text), dialect)
    assert ([k.emitter for k in kernels] == ["rows"]) == is_one
    if not is_one:
        assert min(k.grid[0] for k in kernels) > sizes[0]  # each of them
        assert all(k.verify().refuted == k.verify().open == () for k in kernels)


def test_few_long_rows_give_what_they_should() -> None:
    x = np.random.default_rng(0).standard_normal((3, 90_001)).astype(np.float32)
    for sizes in (x.shape, (1, x.size)):
        got = compiled(FUSED.format(",".join(map(str, sizes)), sizes[0]), device="cpu")(x.reshape(sizes))
        e = np.exp(x.reshape(sizes) - x.reshape(sizes).max(1, keepdims=True, initial=-np.inf).astype(np.float64))
        np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=2e-5)


def test_an_output_without_elements_beside_a_reduction_of_all_has_no_rows() -> None:
    text = """largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
    ENTRY e {
      x = f32[2,33] parameter(0)
      t = f32[33,2] transpose(x), dimensions={1,0}
      none = f32[2,0] slice(t), slice={[30:33:2], [1:1]}
      low = f32[] constant(-inf)
      m = f32[] reduce(x, low), dimensions={0,1}, to_apply=largest
      ROOT r = (f32[2,0], f32[33,2], f32[]) tuple(none, t, m)
    }"""
    computation = ix.hlo.parse(text).entry
    assert all(ix.emit(computation, dialect=d).verify().refuted == () for d in ("c", "cuda"))
    x = np.arange(66, dtype=np.float32).reshape(2, 33)
    none, transposed, largest = compiled(text)(x)
    assert none.shape == (2, 0) and (transposed == x.T).all() and largest == 65
