"""The attention emitter: programs as JAX and as people write them, rows without keys, infinite values, sizes with rests, proofs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from attention_programs import AFTER, BIAS, CAUSAL, MASKED, PLAIN, SAFE, Sizes, attention
from indexing.device.table import portable_device
from indexing.kernels import emit_fused
from indexing.kernels.kernel import Kernel
from indexing.kernels.verify import verify
from kernel_mutants import mutants
from kernels import assert_written_once, close, compiled, launch, random_array

ODD = Sizes(2, 1, 7, 19, 5, 9)
LONG = Sizes(1, 2, 20, 200, 8, 24)


def emitted(text: str, dialect: str = "c", **knobs: int) -> Kernel:
    kernel = emit_fused(ix.hlo.parse(text).entry, portable_device(dialect), **knobs)
    assert kernel.emitter == "attention"
    return kernel


def run(text: str, arrays: list[np.ndarray], **knobs: int) -> np.ndarray:
    (result,) = launch(emitted(text, **knobs), arrays, [ix.hlo.parse(text).entry.root.shape])
    return result


def arrays_of(text: str, seed: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [random_array(p.shape, rng) for p in ix.hlo.parse(text).entry.parameters]


def softmax(logits: np.ndarray) -> np.ndarray:
    """By its definition, in f64."""
    with np.errstate(invalid="ignore"):
        e = np.exp(logits - logits.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray, change: object = lambda logits: logits) -> np.ndarray:
    """The attention of f64 queries, keys and values whose logits are changed by a function."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    return softmax(change(q @ k.swapaxes(-1, -2) * 0.25)) @ v  # type: ignore[operator]


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize(
    ("text", "knobs"),
    [
        (attention(), {}),
        (attention(CAUSAL, sizes=ODD), {}),
        (attention(BIAS, SAFE, AFTER, sizes=ODD), {"row_panels": 1, "key_panels": 1}),
        (attention(MASKED, SAFE, hidden="-1e30", sizes=LONG), {"key_panels": 3}),
        (attention(CAUSAL, PLAIN, AFTER, "f64", sizes=LONG), {"row_panels": 3}),
        (attention(CAUSAL, kind="bf16", hidden="-1e30"), {}),
        (attention(kind="f16", sizes=ODD), {}),
        (attention(BIAS, sizes=Sizes(2, 1, 1, 70, 8, 20)), {"key_panels": 2}),
    ],
)
def test_kernels_are_proved_and_right(text: str, knobs: dict[str, int]) -> None:
    kernel, computation = emitted(text, **knobs), ix.hlo.parse(text).entry
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert_written_once(kernel, [computation.root.shape])
    arrays = arrays_of(text)
    narrow = computation.root.shape.element_type in ("bf16", "f16")
    close(run(text, arrays, **knobs), ix.evaluate(computation.module, *arrays), 2e-2 if narrow else 1e-5)


@pytest.mark.parametrize("dialect", ["cuda", "opencl"])
@pytest.mark.parametrize("text", [attention(CAUSAL, sizes=LONG), attention(BIAS, SAFE, AFTER, "f16", sizes=ODD)])
def test_kernels_of_gpus_are_proved(text: str, dialect: str) -> None:
    kernel = emitted(text, dialect)
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert dialect != "cuda" or ix.runtime.cubin(kernel, "sm_80")


def test_a_group_of_heads_shares_its_keys() -> None:
    """The blocks of a decode with one query are as many as the heads of the keys; each reads keys and values once."""
    text = attention(sizes=Sizes(2, 3, 4, 128, 16, 16))  # rows are the heads of a group
    kernel = emitted(text)
    assert kernel.ir.grid == (6, 1, 1)
    counts = ix.predict(ix.hlo.parse(text).entry, {}, "CPU")
    arrays = 2 * 3 * (2 * 128 * 16 + 2 * 4 * 16) * 4
    assert counts.bytes[0] == pytest.approx(arrays, rel=0.02)


# ---------------------------------------------------------------- special values


def test_rows_without_keys_are_those_of_the_program() -> None:
    """Row i of the first program has no key: NaN; where the program subtracts 0 from such rows, 0 / 0 is NaN, too."""
    arrays = arrays_of(attention(MASKED, sizes=ODD))
    arrays[3][:] = np.arange(2)[:, None] > 0
    for text in (attention(MASKED, sizes=ODD), attention(MASKED, SAFE, AFTER, sizes=ODD)):
        result = run(text, arrays)
        assert np.isnan(result[0]).all()
        close(result[1], expected(*(a[1] for a in arrays[:3])).astype(np.float32))


def test_finite_masks_weigh_all_keys_alike() -> None:
    text = attention(MASKED, hidden="-1e30", sizes=ODD)
    q, k, v, mask = arrays_of(text)
    mask[:] = False
    close(run(text, [q, k, v, mask]), np.broadcast_to(v.mean(2, keepdims=True), (2, 1, 7, 9)), 1e-5)


def test_keys_at_the_start_may_be_hidden() -> None:
    """The largest logit is -inf for several steps; then it is so low that its exponential is 0."""
    text = attention(MASKED, sizes=LONG)
    q, k, v, mask = arrays_of(text)
    q, k = np.abs(q) + 1, -np.abs(k) - 60
    mask[:] = np.arange(200) >= 150
    want = expected(q, k, v, lambda x: np.where(mask[:, None, None], x, -np.inf))
    close(run(text, [q, k, v, mask], key_panels=1), want.astype(np.float32), 1e-3)


@pytest.mark.parametrize("where", [0, 100, 199])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_infinite_and_undefined_values(value: float, where: int) -> None:
    """Hidden values are multiplied by 0, which is NaN for infinite ones; logits of +inf make their row NaN."""
    text = attention(CAUSAL, sizes=LONG)
    q, k, v = arrays_of(text)
    v[0, 0, where, 3] = value
    k[0, 1, where] = 0
    k[0, 1, where, 2] = value
    want = ix.evaluate(ix.hlo.parse(text), q, k, v)
    close(run(text, [q, k, v], key_panels=2), np.asarray(want))
    assert not np.isfinite(np.asarray(want)).all()


def test_logits_that_rise_and_fall_far() -> None:
    """Sums are rescaled where the largest logit rises, by factors down to 0."""
    text = attention(sizes=LONG)
    q, k, v = arrays_of(text)
    k *= np.where(np.arange(200) % 60 < 30, 1, 40)[:, None].astype(np.float32) * np.linspace(0, 3, 200)[:, None].astype(
        np.float32
    )
    close(run(text, [q, k, v], key_panels=1), expected(q, k, v).astype(np.float32), 1e-3)  # logits of hundreds


# ---------------------------------------------------------------- what is matched


def emitter_of(text: str) -> str:
    return emit_fused(ix.hlo.parse(text).entry, portable_device("c")).emitter


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("to_apply=larger", "to_apply=sum"),  # no maximum
        ("exponential(difference)", "exponential-minus-one(difference)"),
        ("subtract(logits, shifts)", "subtract(shifts, logits)"),
        ("multiply(scores, scales)", "multiply(scores, scores2)"),  # two products
        ("divide(e, totals)", "divide(totals, e)"),
        ("divide(e, totals)", "multiply(e, logits)"),  # no factor of the row
        ("reduce(e, zero)", "reduce(difference, zero)"),
    ],
)
def test_programs_that_are_none(old: str, new: str) -> None:
    text = attention()
    assert emitter_of(text) == "attention"
    second = """scores2 = f32[2,3,12,32] dot(q, k), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}
      scale ="""
    other = text.replace("scale =", second, 1) if "scores2" in new else text
    assert old in other
    assert emitter_of(other.replace(old, new)) != "attention"


def test_the_maximum_is_that_of_the_logits() -> None:
    text = attention(BIAS)
    assert emitter_of(text) == "attention"
    assert emitter_of(text.replace("reduce(logits, lowest)", "reduce(scaled, lowest)")) != "attention"


def test_another_rows_total_is_no_total() -> None:
    """What follows the second product must divide by the total of its own row."""
    text = attention(end=AFTER)
    swapped = text.replace("broadcast(total)", "broadcast(turned)").replace(
        "  product =", "  turned = f32[2,3,12] reverse(total), dimensions={2}\n  product ="
    )
    assert emitter_of(text) == "attention"
    assert emitter_of(swapped) != "attention"


def test_rounded_weights_need_results_as_narrow() -> None:
    """Weights that a program rounds are not rounded on their way: as long as the result has no more digits."""
    text = attention().replace(
        "ROOT out = f32[2,3,12,16] dot(weights,",
        "narrow = bf16[2,3,12,32] convert(weights)\n  ROOT out = f32[2,3,12,16] dot(narrow,",
    )
    assert emitter_of(text) != "attention"
    result = text.replace("ROOT out =", "wide =").rstrip()[:-1] + "  ROOT out = bf16[2,3,12,16] convert(wide)\n}"
    assert emitter_of(result) == "attention"


@pytest.mark.parametrize(("knob", "value"), [("row_panels", 0), ("row_panels", 33), ("key_panels", 33)])
def test_knobs_that_are_not_legal(knob: str, value: int) -> None:
    with pytest.raises(ix.IndexingError, match=f"{knob} is in "):
        emitted(attention(), **{knob: value})


# ---------------------------------------------------------------- programs


def shaped(*sizes: int, kind: object = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, kind)


def windowed(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, local_window_size=(16, 0))


def causal(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def biased(q, k, v, bias, mask):
    return jax.nn.dot_product_attention(q, k, v, bias=bias, mask=mask)


def by_hand(q, k, v):
    """Softmax divided after the second product, in another order of dimensions."""
    scores = jnp.einsum("bqhc,bkhc->hbkq", q, k) / np.sqrt(q.shape[-1])
    e = jnp.exp(scores - scores.max(2, keepdims=True))
    return jnp.einsum("hbkq,bkhc->bqhc", e, v) / e.sum(2).transpose(1, 2, 0)[..., None]


def decode(q, k, v, lengths):
    scores = jnp.einsum("bhgd,bkhd->bhgk", q, k) * 0.125
    seen = jnp.arange(k.shape[1]) < lengths[:, None, None, None]
    return jnp.einsum("bhgk,bkhd->bhgd", jax.nn.softmax(jnp.where(seen, scores, -1e30)), v)


ALL = [shaped(1, 64, 2, 32)] * 3
PROGRAMS = [
    (jax.nn.dot_product_attention, ALL),
    (causal, [shaped(1, 64, 4, 32), *[shaped(1, 64, 2, 32)] * 2]),
    (windowed, ALL),
    (biased, [*ALL, shaped(1, 2, 64, 64), shaped(1, 1, 1, 64, kind=jnp.bool_)]),
    (by_hand, ALL),
    (decode, [shaped(2, 2, 4, 64), *[shaped(2, 256, 2, 64)] * 2, shaped(2, kind=jnp.int32)]),
]


@pytest.mark.parametrize(("function", "shapes"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_programs_of_jax_are_one_kernel(function, shapes) -> None:
    executable = compiled(jax.jit(function).lower(*shapes).as_text("hlo"), device="cpu")
    assert [k.emitter for k in executable.kernels] == ["attention"]
    rng = np.random.default_rng(5)
    arrays = [
        rng.integers(0, 90, s.shape).astype(s.dtype)
        if s.dtype != jnp.float32
        else rng.standard_normal(s.shape, np.float32)
        for s in shapes
    ]
    close(np.asarray(executable(*arrays)), np.asarray(jax.jit(function)(*arrays)), 2e-5)


def test_decodes_of_one_row_are_one_kernel() -> None:
    """Each product by itself would be a reduction: it has one row. Of few keys, launches take more; on CPUs these take little."""
    shapes = [shaped(2, 2, 1, 32), *[shaped(2, 32, 2, 32)] * 2, shaped(2, kind=jnp.int32)]
    module = ix.hlo.parse(jax.jit(decode).lower(*shapes).as_text("hlo"))
    assert [k.emitter for k in ix.emit_all(module, device="V100")] == ["attention"]


def test_planning_leaves_products_to_faster_kernels() -> None:
    """Large products take less time in kernels of their own with more sums in a thread, if matrix units don't compute the
    attention; launches and the traffic of small ones take more.
    """
    large, small = (
        ix.hlo.parse(jax.jit(causal).lower(*[shaped(*sizes, kind=jnp.bfloat16)] * 3).as_text("hlo"))
        for sizes in ((1, 512, 8, 128), (1, 128, 8, 64))
    )
    assert [k.emitter for k in ix.emit_all(large, device="H100 SXM")] == ["attention-tile"]
    assert [k.emitter for k in ix.emit_all(large, device="V100")].count("dot-simt") == 2
    assert [k.emitter for k in ix.emit_all(small, device="V100")] == ["attention"]


def test_panels_of_a_few_more_keys_are_one_step() -> None:
    """Of 65 keys, five panels of 16 have the least that are not there; steps of more than 96 do not fit into the cache."""
    for keys, panels in ((65, 5), (96, 6), (97, 4), (128, 4)):
        assert (
            ix.knobs(ix.hlo.parse(attention(sizes=Sizes(keys=keys))).entry, dialect="c").default["key_panels"] == panels
        )


# ---------------------------------------------------------------- faults


@pytest.mark.parametrize("dialect", ["c", "cuda"])
def test_a_kernel_without_its_barriers_is_refuted(dialect: str) -> None:
    kernel = emitted(attention(sizes=Sizes(1, 1, 24, 64, 16, 16)), dialect, row_panels=2, key_panels=2)
    without = [m.kernel for m in mutants(kernel.ir) if m.kind == "barrier"]
    assert len(without) == 5
    assert all("race" in {c.kind for c in verify(k).checks if c.status != "proved"} for k in without)
