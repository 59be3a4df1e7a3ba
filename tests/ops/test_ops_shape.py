"""Ops that move elements: random shapes and attributes against the numpy reference, in both directions."""

from __future__ import annotations

import math
from functools import partial

import ml_dtypes  # noqa: F401  registers the narrow types with numpy
import numpy as np
import pytest

import indexing as ix
from kernels import compiled
from reached import check

SEEDS = range(12)


def sizes_text(sizes: object) -> str:
    return ",".join(map(str, sizes))


def random_sizes(rng: np.random.Generator, rank: int, most: int = 5) -> list[int]:
    """Sizes from 1, now and then 0."""
    sizes = [int(s) for s in rng.integers(1, most, rank)]
    if rank and rng.random() < 0.1:
        sizes[int(rng.integers(rank))] = 0
    return sizes


def program(line: str, *parameters: str) -> str:
    lines = [f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(parameters)]
    return "HloModule m\nENTRY e {\n" + "\n".join(lines) + f"\n  ROOT r = {line}\n}}\n"


@pytest.mark.parametrize("seed", SEEDS)
def test_broadcast(seed: int) -> None:
    rng = np.random.default_rng(seed)
    out = random_sizes(rng, int(rng.integers(0, 4)))
    kept = rng.permutation(len(out))[: int(rng.integers(0, len(out) + 1))]  # in any order
    operand = f"s32[{sizes_text(out[d] for d in kept)}]"
    check(program(f"s32[{sizes_text(out)}] broadcast(p0), dimensions={{{sizes_text(kept)}}}", operand), seed=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_transpose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, int(rng.integers(0, 5)), 4)
    order = rng.permutation(len(sizes))
    out = f"s32[{sizes_text(sizes[d] for d in order)}]"
    check(program(f"{out} transpose(p0), dimensions={{{sizes_text(order)}}}", f"s32[{sizes_text(sizes)}]"), seed=seed)


def factored(rng: np.random.Generator, count: int) -> list[int]:
    """Random sizes, ones among them, whose product is `count`."""
    sizes = []
    while count > 1 and len(sizes) < 4:
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        sizes.append(int(rng.choice(divisors)))
        count //= sizes[-1]
    sizes += [count] if count > 1 else []
    for _ in range(int(rng.integers(0, 2))):
        sizes.insert(int(rng.integers(0, len(sizes) + 1)), 1)
    return sizes


@pytest.mark.parametrize("seed", range(30))
def test_reshape(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.choice([1, 6, 12, 16, 24, 30, 36, 48]))
    shapes = [sizes_text(factored(rng, count)) for _ in range(2)]
    check(program(f"s32[{shapes[1]}] reshape(p0)", f"s32[{shapes[0]}]"), seed=seed)


@pytest.mark.parametrize(("source", "target"), [("0,3", "5,0,2"), ("1,0,0", "0"), ("", "1,1"), ("1", "")])
def test_reshape_of_nothing_and_of_scalars(source: str, target: str) -> None:
    check(program(f"s32[{target}] reshape(p0)", f"s32[{source}]"))


@pytest.mark.parametrize("seed", range(30))
def test_bitcast(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.choice([1, 6, 12, 24, 36]))
    shapes = []
    for _ in range(2):
        sizes = factored(rng, count)
        layout = f"{{{sizes_text(rng.permutation(len(sizes)))}}}" if len(sizes) else ""  # scalars have none
        shapes.append(f"s32[{sizes_text(sizes)}]{layout}")
    check(program(f"{shapes[1]} bitcast(p0)", shapes[0]), seed=seed)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("s32[2,3]{1,0}", "s8[2,3,4]{2,1,0}"),
        ("s32[2,3]{0,1}", "s16[3,2,2]{2,1,0}"),
        ("s8[3,4]{1,0}", "s32[3]{0}"),
        ("s16[4,3]{0,1}", "s32[6]{0}"),
        ("s64[5]{0}", "s32[10]{0}"),
        ("s32[10]{0}", "s64[5]{0}"),
    ],
)
def test_bitcast_to_another_width(source: str, target: str) -> None:
    """Changing one element of the operand may leave some of its bytes as they were."""
    rng = np.random.default_rng(0)
    shape = ix.hlo.parse(program(f"{target} bitcast(p0)", source)).entry.parameters[0].shape
    top = 2 ** (8 * shape.dtype.itemsize - 2)
    check(program(f"{target} bitcast(p0)", source), [rng.integers(0, top, shape.dimensions)], only_bounds=[0])


@pytest.mark.parametrize("seed", range(20))
def test_slice(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, int(rng.integers(0, 4)), 7)
    bounds, out = [], []
    for size in sizes:
        start = int(rng.integers(0, size + 1))
        limit = int(rng.integers(start, size + 1))
        stride = int(rng.integers(1, 4))
        bounds.append(f"[{start}:{limit}:{stride}]")
        out.append(math.ceil((limit - start) / stride))
    line = f"s32[{sizes_text(out)}] slice(p0), slice={{{', '.join(bounds)}}}"
    check(program(line, f"s32[{sizes_text(sizes)}]"), seed=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_reverse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, int(rng.integers(1, 4)))
    turned = [d for d in range(len(sizes)) if rng.random() < 0.6]
    shape = f"s32[{sizes_text(sizes)}]"
    check(program(f"{shape} reverse(p0), dimensions={{{sizes_text(turned)}}}", shape), seed=seed)


@pytest.mark.parametrize("seed", range(20))
def test_concatenate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, int(rng.integers(1, 4)), 4)
    d = int(rng.integers(len(sizes)))
    widths = [int(w) for w in rng.integers(0, 4, int(rng.integers(1, 4)))]
    parts = [f"s32[{sizes_text([*sizes[:d], w, *sizes[d + 1 :]])}]" for w in widths]
    out = f"s32[{sizes_text([*sizes[:d], sum(widths), *sizes[d + 1 :]])}]"
    names = ", ".join(f"p{k}" for k in range(len(parts)))
    check(program(f"{out} concatenate({names}), dimensions={{{d}}}", *parts), seed=seed)


@pytest.mark.parametrize("seed", range(40))
def test_pad_low_high_and_interior_also_negative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, int(rng.integers(0, 3)), 5)
    config, out = [], []
    for size in sizes:
        interior = int(rng.integers(0, 3))
        low = int(rng.integers(-3, 4))
        span = size + max(size - 1, 0) * interior
        high = int(rng.integers(max(-3, -low - span), 4)) if -low - span < 4 else -low - span
        config.append(f"{low}_{high}_{interior}")
        out.append(span + low + high)
    attribute = f", padding={'x'.join(config)}" if config else ""
    line = f"s32[{sizes_text(out)}] pad(p0, p1){attribute}"
    check(program(line, f"s32[{sizes_text(sizes)}]", "s32[]"), [generic_ids(sizes), np.array(-7, np.int32)])


def generic_ids(sizes: list[int]) -> np.ndarray:
    return np.arange(math.prod(sizes), dtype=np.int32).reshape(sizes)


@pytest.mark.parametrize("shape", ["s32[2,3]", "f32[]", "s32[0,3]", "pred[4]"])
@pytest.mark.parametrize("opcode", ["copy", "opt-barrier", "domain"])
def test_copies(opcode: str, shape: str) -> None:
    attribute = ', domain={kind="sharding"}' if opcode == "domain" else ""
    check(program(f"{shape} {opcode}(p0){attribute}", shape))


def test_sizes_that_are_set_and_asked_for() -> None:
    text = program("s32[4] set-dimension-size(p0, p1), dimensions={0}", "s32[4]", "s32[]")
    whole, part = (text.replace("parameter(1)", f"constant({n})") for n in (4, 3))
    check(whole, operands=[0])
    x = np.arange(4, dtype=np.int32)
    assert compiled(whole, device="cpu")(x).tolist() == ix.evaluate(text, x, np.int32(4)).tolist() == [0, 1, 2, 3]
    for run in (partial(ix.evaluate, part), compiled(part, device="cpu")):
        with pytest.raises(
            ix.IndexingError, match="r is .*, but 3 elements of dimension 0 are in use; write <=4 as its size"
        ):
            run(x)
    root = check(program("s32[] get-dimension-size(p0), dimensions={1}", "s32[4,6]"))
    assert ix.evaluate(root.computation.module, np.zeros((4, 6), np.int32)) == 6


def test_dynamic_reshape_of_static_sizes_is_a_reshape() -> None:
    check(program("s32[3,4] dynamic-reshape(p0, p1, p2)", "s32[12]", "s32[]", "s32[]"), only_bounds=[1, 2])


def test_dynamic_reshape_of_a_dynamic_size_is_unknown_with_its_reason() -> None:
    module = ix.hlo.parse(program("s32[3,<=4] dynamic-reshape(p0, p1, p2)", "s32[<=12]", "s32[]", "s32[]"))
    (indexing,) = ix.output_to_input(module.entry.root)[0]
    assert indexing.exactness == "unknown"
    assert "run time" in indexing.reason


def test_iota_counts_along_its_dimension_and_wraps_in_narrow_types() -> None:
    assert ix.evaluate(program("s32[2,3] iota(), iota_dimension=1")).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert ix.evaluate(program("s8[300] iota(), iota_dimension=0"))[299] == np.int8(299 - 256)
    assert ix.evaluate(program("f32[1000000000000,0] iota(), iota_dimension=0")).shape == (10**12, 0)
