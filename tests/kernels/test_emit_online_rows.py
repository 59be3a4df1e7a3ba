"""Sums that the rows emitter finds in the pass of what their elements subtract, by one block a row and by several."""

from collections.abc import Callable

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.ir.nodes import FetchAdd, statements
from indexing.kernels.kernel import Kernel
from indexing.runtime.device import Device
from indexing.runtime.host import Host
from kernels import DEVICE, device_of_tests, launch, launcher
from opencl_runtime import device as opencl_device
from row_programs import layernorm, log_sum_exp, moments, softmax

Want = list[np.ndarray]
DIALECTS = ["cuda"] if DEVICE == "cuda" else ["c", "opencl"]
MAKERS = {"cuda": device_of_tests, "c": Host, "opencl": opencl_device}


def device_of(kernel: Kernel) -> Device:
    return MAKERS[kernel.dialect]()


def unusual_rows(length: int) -> np.ndarray:
    """Rows of infinite numbers, of NaN, of equal ones, each at either end; of rising, of falling, and of far apart ones."""
    rng = np.random.default_rng(length)
    rows = [rng.standard_normal(length) * scale for scale in (1, 100)]
    rows += [np.full(length, v) for v in (0.0, 7.5, -np.inf, np.inf, np.nan)]
    rows += [np.linspace(-90, 90, length), np.linspace(90, -90, length)]
    for value in (-np.inf, np.inf, np.nan, 1e30, -1e30):
        for place in (0, length // 2, length - 1):
            rows.append(rng.standard_normal(length))
            rows[-1][place] = value
    rows.append(np.full(length, -np.inf))
    rows[-1][-1] = 3
    rows.append(np.zeros(length))
    rows[-1][[0, -1]] = 3e38, -3e38
    return np.array(rows, np.float32)


def softmax_of(x: np.ndarray) -> Want:
    e = np.exp(x - x.max(1, keepdims=True))
    return [e / e.sum(1, keepdims=True)]


def log_sum_exp_of(x: np.ndarray) -> Want:
    top = np.where(np.isfinite(x.max(1)), x.max(1), 0)
    return [np.log(np.exp(x - top[:, None]).sum(1)) + top]


def moments_of(x: np.ndarray) -> Want:
    """In f32 a sum of numbers that all are finite may be infinite, and so may squares."""
    sums = x.sum(1).astype(np.float32)
    means = (sums / np.float32(x.shape[1])).astype(np.float64)
    return [means, ((x - means[:, None]) ** 2).sum(1)]


PROGRAMS = [(softmax, softmax_of, 2), (log_sum_exp, log_sum_exp_of, 1), (moments, moments_of, 1)]


def check_rows(kernel: Kernel, module: ix.hlo.Module, want_of: Callable[[np.ndarray], Want]) -> None:
    """On unusual rows, in this order and backwards, by turns."""
    (parameter,) = module.entry.parameters
    x, on = unusual_rows(parameter.shape.dimensions[1]), device_of(kernel)
    shapes = list(module.entry.root.shape.leaves)
    with np.errstate(all="ignore"):
        want = [w.astype(np.float32) for w in want_of(x.astype(np.float64))]
        for order in (slice(None), slice(None, None, -1), slice(None)):
            for got, w in zip(launch(kernel, [x[order]], shapes, on), want, strict=True):
                np.testing.assert_allclose(got, w[order], rtol=3e-5, atol=1e-5)


def assert_proved(kernel: Kernel) -> None:
    for target in ("c", "cuda", "opencl"):
        proofs = Kernel(kernel.ir, portable_device(target)).verify()
        assert (proofs.refuted, proofs.open) == ((), ())


@pytest.mark.parametrize("threads", [1, 32, 256])
@pytest.mark.parametrize("length", [1, 7, 33, 256, 1001, 4096])
@pytest.mark.parametrize(("program", "want", "passes"), PROGRAMS)
def test_one_pass(
    program: Callable[[int, int], str], want: Callable[[np.ndarray], Want], passes: int, length: int, threads: int
) -> None:
    module = ix.hlo.parse(program(len(unusual_rows(length)), length))
    width = 4 if length % 4 == 0 else 1
    threads = min(threads, 1 << (length // width).bit_length() - 1)
    knobs = {"keep": 3, "threads": threads, "vector_width": width}
    kernel = ix.emit(module.entry, dialect=DIALECTS[0], **knobs, **({"split_k": 1} if passes == 1 else {}))
    check_rows(kernel, module, want)
    assert len(kernel.input_maps[0]) <= passes
    assert_proved(kernel)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("threads", "split_k"), [(1, 5), (32, 7), (64, 3), (256, 4), (2, 480)])
@pytest.mark.parametrize("length", [1001, 4096])
@pytest.mark.parametrize(("program", "want", "passes"), PROGRAMS[1:])
def test_blocks_share_rows(
    program: Callable[[int, int], str],
    want: Callable[[np.ndarray], Want],
    passes: int,
    length: int,
    threads: int,
    split_k: int,
    dialect: str,
) -> None:
    module = ix.hlo.parse(program(len(unusual_rows(length)), length))
    split_k = min(split_k, length // threads)
    kernel = ix.emit(module.entry, dialect=dialect, threads=threads, split_k=split_k, vector_width=1)
    assert kernel.grid[0] >= split_k
    assert sum(isinstance(s, FetchAdd) for s in statements(kernel.ir.body)) == 1
    check_rows(kernel, module, want)
    assert len(kernel.input_maps[0]) <= 1 + (dialect == "c")  # a stretch, and what is left after all of them
    assert_proved(kernel)


@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize(
    ("sizes", "dims"), [((3, 900, 5), (1,)), ((2, 30, 4, 40), (1, 3)), ((2000, 6), (0,)), ((9000,), (0,))]
)
def test_blocks_share_rows_of_any_dimensions(sizes: tuple[int, ...], dims: tuple[int, ...], threads: int) -> None:
    kept = [d for d in range(len(sizes)) if d not in dims]
    of, row = f"f32[{','.join(map(str, sizes))}]", f"f32[{','.join(str(sizes[d]) for d in kept)}]"
    spread, gone = ",".join(map(str, kept)), ",".join(map(str, dims))
    module = ix.hlo.parse(f"""
    add {{ a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT c = f32[] add(a, b) }}
    ENTRY fused {{
      x = {of} parameter(0)
      w = {row} parameter(1)
      z = f32[] constant(2)
      wb = {of} broadcast(w), dimensions={{{spread}}}
      y = {of} multiply(x, wb)
      s = {row} reduce(y, z), dimensions={{{gone}}}, to_apply=add
      sw = {row} multiply(s, w)
      mb = {of} broadcast(sw), dimensions={{{spread}}}
      d = {of} subtract(y, mb)
      q = {of} multiply(d, d)
      ROOT v = {row} reduce(q, z), dimensions={{{gone}}}, to_apply=add
    }}""")
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(p.shape.dimensions).astype(np.float32) for p in module.entry.parameters]
    wide, weights = (a.astype(np.float64) for a in arrays)
    y = wide * np.expand_dims(weights, dims)
    want = 2 + ((y - np.expand_dims((y.sum(dims) + 2) * weights, dims)) ** 2).sum(dims)
    for dialect in DIALECTS:
        kernel = ix.emit(module.entry, dialect=dialect, threads=threads, split_k=6)
        (got,) = launcher(kernel, [module.entry.root.shape], device_of(kernel))(arrays)
        np.testing.assert_allclose(got, want, rtol=2e-5)
        assert_proved(kernel)


@pytest.mark.parametrize("threads", [1, 64])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_moments_far_from_zero(dialect: str, threads: int) -> None:
    """A mean of a thousand times the spread costs as many units in the last place, and less where many of them cancel."""
    module = ix.hlo.parse(moments(3, 100000))
    x = (np.random.default_rng(1).standard_normal((3, 100000)) + 1000).astype(np.float32)
    kernel = ix.emit(module.entry, dialect=dialect, threads=threads, split_k=50)
    _, squares = launcher(kernel, list(module.entry.root.shape.leaves), device_of(kernel))([x])
    np.testing.assert_allclose(squares, 100000 * x.astype(np.float64).var(1), rtol=2e-5)


def test_plans_of_few_long_rows() -> None:
    """As many blocks as keep a device busy, from 65,536 elements on; each row's by one block where there are enough of them."""
    for rows, length, split_k in ((1, 1 << 24, 512), (8, 1 << 20, 64), (1000, 4096, 1), (2, 1 << 12, 1)):
        kernel = ix.emit(ix.hlo.parse(moments(rows, length)).entry)
        assert kernel.grid[0] >= min(rows, 8) * split_k, (rows, length)
        assert bool(kernel.scratch) == (split_k > 1)


def test_splits_that_are_refused() -> None:
    """Where something is written for each element, where passes follow each other, and more than there are steps."""
    for program, knobs, most, legal in (
        (softmax(3, 4096), {}, 1, r"\{1\}"),
        (layernorm(3, 4096), {"keep": 3}, 1, r"\{1\}"),
        (moments(3, 4096), {"keep": 2}, 1, r"\{1\}"),
        (moments(3, 4096), {"threads": 64, "vector_width": 1}, 64, r"\[1, 64\]"),
    ):
        with pytest.raises(ix.IndexingError, match=f"split_k is in {legal}"):
            ix.emit(ix.hlo.parse(program).entry, split_k=most + 1, **knobs)


def test_every_plan_that_knobs_allow() -> None:
    entry = ix.hlo.parse(moments(5, 1024)).entry
    space = ix.knobs(entry)
    assert space.names == ("vector_width", "threads", "keep", "split_k")
    assert space.legal("split_k", {"vector_width": 4, "threads": 32, "keep": 3}) == range(1, 9)
    assert space.legal("split_k", {"vector_width": 4, "threads": 32, "keep": 0}) == range(1, 2)
    for keep, split_k in ((0, 1), (1, 1), (3, 1), (3, 8)):
        plan = space.check({"vector_width": 4, "threads": 32, "keep": keep, "split_k": split_k})
        assert ix.emit(entry, **plan).verify().open == ()


def test_what_has_no_such_sum() -> None:
    text = softmax(5, 300).replace("e = f32[5,300] exponential", "e = f32[5,300] tanh")
    with pytest.raises(ix.IndexingError, match=r"keep is in \[0, 2\]; got 3"):
        ix.emit(ix.hlo.parse(text).entry, keep=3)
    (keep,) = (k for k in ix.knobs(ix.hlo.parse(text).entry).knobs if k.name == "keep")
    assert tuple(keep.values) == (0, 1, 2)
