"""Small kernels that do not depend on each other become one."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.executable import planned_kernels
from indexing.planning.program import PlannedKernel
from kernels import compiled

GPU = portable_device("cuda")


def planned(text: str, dialect: str = "cuda") -> list[PlannedKernel]:
    return planned_kernels(ix.hlo.parse(text), portable_device(dialect))


def updates(sizes: list[int]) -> str:
    """Parameters of these sizes, each updated by its gradient, which is computed from the update before."""
    lines, results = ["HloModule m", "ENTRY e {"], []
    for k, n in enumerate(sizes):
        shape = f"f32[{n}]"
        lines += [f"  p{k} = {shape} parameter({2 * k})", f"  g{k} = {shape} parameter({2 * k + 1})"]
        lines += [f"  r{k} = {shape} subtract(p{k}, g{k})"]
        results.append((f"r{k}", shape))
    names, shapes = (", ".join(part) for part in zip(*results, strict=True))
    return "\n".join([*lines, f"  ROOT t = ({shapes}) tuple({names})", "}"])


def test_updates_of_small_arrays_are_one_kernel_with_their_results() -> None:
    sizes = [5, 300, 300, 17, 1, 64]
    assert [len(p.outputs) for p in planned(updates(sizes))] == [6]
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(n).astype(np.float32) for n in sizes for _ in range(2)]
    for result, p, g in zip(compiled(updates(sizes))(*arrays), arrays[::2], arrays[1::2], strict=True):
        np.testing.assert_array_equal(result, p - g)


def test_loops_of_a_cpu_have_results_of_one_size() -> None:
    outputs = [sorted(r.shape.element_count for r in p.outputs) for p in planned(updates([5, 300, 300, 5, 7]), "c")]
    assert sorted(outputs) == [[5, 5], [7], [300, 300]]


def test_what_takes_longer_than_its_launch_has_a_kernel_of_its_own() -> None:
    large = int(GPU.launch_seconds * GPU.reached_bandwidth)
    assert sorted(len(p.outputs) for p in planned(updates([large, 8, large + 4, 8]))) == [1, 1, 2]


def test_a_kernel_has_at_most_64_arrays() -> None:
    kernels = planned(updates([8 + k for k in range(50)]))
    assert len(kernels) == 3 and sum(len(p.outputs) for p in kernels) == 50
    assert all(len(p.inputs) + len(p.outputs) <= 64 for p in kernels)


CHAINS = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  zero = f32[] constant(0)
  x = f32[40,30] parameter(0)
  y = f32[7] parameter(1)
  e0 = f32[40,30] exponential(x)
  s0 = f32[30] reduce(e0, zero), dimensions={0}, to_apply=add
  a = f32[30] negate(s0)
  first = f32[] reduce(a, zero), dimensions={0}, to_apply=add
  spread = f32[7] broadcast(first), dimensions={}
  b = f32[7] multiply(spread, y)
  l = f32[] reduce(b, zero), dimensions={0}, to_apply=add
  all = f32[3] broadcast(l), dimensions={}
  three = f32[3] parameter(2)
  c = f32[3] multiply(all, three)
  d = f32[3] tanh(three)
  ROOT t = (f32[30], f32[7], f32[3], f32[3]) tuple(a, b, c, d)
}"""


def test_kernels_on_a_path_stay_apart() -> None:
    """`a`, `b` and `c` are computed one from the other; `d` may be with one of them."""
    kernels = planned(CHAINS)
    names = [{ref.node.instruction.name for ref in p.outputs} for p in kernels]
    assert all(len(own & {"a", "b", "c"}) <= 1 for own in names)
    rng = np.random.default_rng(1)
    x, y, three = (rng.standard_normal(s).astype(np.float32) for s in ((40, 30), 7, 3))
    a = -np.exp(x).sum(0)
    b = a.sum() * y
    for result, expected in zip(compiled(CHAINS)(x, y, three), (a, b, b.sum() * three, np.tanh(three)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-4)


def conversions(layers: int) -> str:
    """Weights that are converted at the start and used one after the other."""
    lines = ["HloModule m", "ENTRY e {", "  x0 = bf16[16,16] parameter(0)"]
    for k in range(layers):
        lines += [f"  w{k} = f32[16,16] parameter({k + 1})", f"  n{k} = bf16[16,16] convert(w{k})"]
        lines += [f"  x{k + 1} = bf16[16,16] dot(x{k}, n{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"]
    results = ", ".join([f"x{layers}", *(f"n{k}" for k in range(layers))])
    shapes = ", ".join(["bf16[16,16]"] * (layers + 1))
    return "\n".join([*lines, f"  ROOT t = ({shapes}) tuple({results})", "}"])


@pytest.mark.parametrize("layers", [1, 4])
def test_conversions_at_the_start_are_one_kernel_though_they_are_read_one_after_the_other(layers: int) -> None:
    outputs = [{r.node.instruction.name for r in p.outputs} for p in planned(conversions(layers))]
    assert {f"n{k}" for k in range(layers)} in outputs


def test_views_have_no_kernel_beside_small_ones() -> None:
    text = """ENTRY e { p = f32[6,4] parameter(0) q = f32[24] parameter(1) v = f32[24] reshape(p) n = f32[24] negate(q)
      ROOT t = (f32[24], f32[24]) tuple(v, n) }"""
    assert [len(p.outputs) for p in planned(text)] == [1]


def test_what_has_no_element_code_stays_apart() -> None:
    """A sort, a factorization and a transform are steps of their own beside small kernels."""
    less = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }"
    for op in (
        "f32[4,4] sort(p), dimensions={1}, to_apply=less",
        "f32[4,4] cholesky(p), lower=true",
        "c64[4,3] fft(p), fft_type=RFFT, fft_length={4}",
    ):
        shape, count = op.split()[0], 12 if op.startswith("c64") else 16  # loops of a CPU have results of one size
        text = f"""HloModule m {less} ENTRY e {{ p = f32[4,4] parameter(0) q = f32[{count}] parameter(1) n = f32[{count}] negate(q)
          s = {op} ROOT t = ({shape}, f32[{count}]) tuple(s, n) }}"""
        module = ix.hlo.parse(text)
        arguments = [np.eye(4, dtype=np.float32) * 2 + 1, np.arange(count, dtype=np.float32)]
        for actual, expected in zip(compiled(text)(*arguments), ix.evaluate(module, *arguments), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_concatenations_are_one_kernel_with_others() -> None:
    text = """ENTRY e { p = f32[6,4] parameter(0) q = f32[6,2] parameter(1) c = f32[6,6] concatenate(p, q), dimensions={1}
      d = f32[6,6] concatenate(q, p), dimensions={1} ROOT t = (f32[6,6], f32[6,6]) tuple(c, d) }"""
    assert [len(p.outputs) for p in planned(text)] == [2]
    topk = """ENTRY e { x = f32[10,10] parameter(0) ROOT t = (f32[10,3], s32[10,3]) topk(x), k=3, largest=true }"""
    assert len(planned(topk)) == 2
