"""Launches lie within the limits of the device that a kernel is made for: default plans, all plans of a space, and proofs.

The limits are those of small devices of our own, besides the dialects'. What a kernel takes is counted from its IR.
"""

import random
import re
from dataclasses import replace
from math import prod

import pytest

import indexing as ix
from fusion_texts import FUSIONS, fusion, softmax
from indexing.device.record import Device
from indexing.device.table import PORTABLE, portable_device
from indexing.kernels import knobs_of
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel import Kernel

SMALL = {
    "few threads": {"threads": 64, "block": (64, 64, 64)},
    "narrow blocks": {"block": (96, 1024, 64)},
    "little memory": {"shared_bytes": 4096},
    "hardly any memory": {"shared_bytes": 64},
    "small grid": {"grid": (6, 6, 6)},
}
ADD = "add { a = c128[] parameter(0)\n b = c128[] parameter(1)\n ROOT c = c128[] add(a, b) }\n"


def small(dialect: str, name: str) -> Device:
    return replace(portable_device(dialect).with_limits(**SMALL[name]), name=name)


def within(kernel: Kernel, device: Device) -> bool:
    """Whether a kernel's launch is within the limits, by definition."""
    limits, memory = device.limits, [b for b in kernel.lowered.buffers if b.space == "shared"]
    shared = sum(prod(b.dimensions) * storage_bytes(b.element_type) for b in memory)
    sizes = zip((*kernel.block, *kernel.grid), (*limits.block, *limits.grid), strict=True)
    return prod(kernel.block) <= limits.threads and shared <= limits.shared_bytes and all(a <= b for a, b in sizes)


@pytest.mark.parametrize("name", FUSIONS)
@pytest.mark.parametrize("limited", SMALL)
@pytest.mark.parametrize("dialect", PORTABLE)
def test_default_plans_and_samples_of_all_plans(dialect: str, limited: str, name: str) -> None:
    computation, device = fusion(name), small(dialect, limited)
    space = ix.knobs(computation, device=device)
    plans = list(space.plans())
    for plan in ({}, *random.Random(5).sample(plans, min(len(plans), 6))):
        kernel = ix.emit(computation, None, device, **plan)
        assert kernel.emitter == space.emitter and within(kernel, device), (plan, kernel)
    assert ix.emit(computation, None, device).source == ix.emit(computation, None, device, **space.default).source


def unlaunchable_plans(space: ix.KnobSpace, whole: ix.KnobSpace, device: Device) -> list[dict[str, int]]:
    """Plans of the larger device's space that the smaller one's leaves out, but those that stand for others."""
    out = [p for p in whole.plans() if not space.allows({n: [v] for n, v in p.items()})[0]]
    # More blocks than the grid has are as many as it has; the least size of a block is that for single elements.
    out = [p for p in out if "max_blocks" not in p or p["block_size"] > device.limits.block_size]
    return [p for p in out if p.get("vector_width", 1) == 1 or space.emitter in ("reduction", "rows")]


@pytest.mark.parametrize("limited", ["few threads", "little memory", "small grid"])
def test_what_is_left_out_cannot_be_launched(limited: str) -> None:
    """A plan of the larger device, which the smaller one's space leaves out, is refused, with the legal values, or the limit and a remedy."""
    device, refused = small("opencl", limited), []
    for computation in map(fusion, FUSIONS):
        space, whole = ix.knobs(computation, device=device), ix.knobs(computation, "opencl")
        plans = unlaunchable_plans(space, whole, device) if space.emitter == whole.emitter else []
        for plan in random.Random(3).sample(plans, min(len(plans), 8)):
            with pytest.raises(ix.IndexingError, match=r"exceeds? the limit| is in ") as error:
                ix.emit(computation, None, device, **plan)
            refused.append(str(error.value))
    assert len(refused) > 30
    assert all("`ix.knobs`" in text for text in refused if "limit" in text)


@pytest.mark.parametrize("dialect", ["cuda", "opencl"])
@pytest.mark.parametrize(
    "name", ["transpose", "transpose of short rows", "row reduction", "column reduction", "rows", "long rows"]
)
def test_plans_state_the_memory_that_kernels_declare(dialect: str, name: str) -> None:
    """A limit of exactly as many bytes as the kernel declares allows a plan, and one less refuses it."""
    computation = fusion(name)
    plans = list(ix.knobs(computation, dialect).plans())
    for plan in random.Random(11).sample(plans, min(len(plans), 25)):
        kernel = ix.emit(computation, dialect, None, **plan)
        if not kernel.shared_bytes:
            continue
        enough = portable_device(dialect).with_limits(shared_bytes=kernel.shared_bytes)
        fewer = portable_device(dialect).with_limits(shared_bytes=kernel.shared_bytes - 1)
        if knobs_of(computation, enough).emitter == kernel.emitter:
            assert ix.emit(computation, None, enough, **plan).shared_bytes <= kernel.shared_bytes
        try:
            assert ix.emit(computation, None, fewer, **plan).shared_bytes < kernel.shared_bytes  # fewer rows a block
        except ix.IndexingError as refused:
            assert re.search(rf"exceed the limit of {kernel.shared_bytes - 1}|no knob| is in ", str(refused))


def transposes(count: int, sizes: str = "64,64", kind: str = "c128") -> str:
    lines = [
        f"p{k} = {kind}[{sizes}] parameter({k})\n t{k} = {kind}[{sizes}] transpose(p{k}), dimensions={{1,0}}"
        for k in range(count)
    ]
    shapes, names = ", ".join([f"{kind}[{sizes}]"] * count), ", ".join(f"t{k}" for k in range(count))
    return f"ENTRY f {{ {chr(10).join(lines)}\n ROOT t = ({shapes}) tuple({names}) }}"


def sums(count: int) -> str:
    lines = [
        f"p{k} = c128[64,64] parameter({k})\n r{k} = c128[64] reduce(p{k}, z), dimensions={{0}}, to_apply=add"
        for k in range(count)
    ]
    shapes, names = ", ".join(["c128[64]"] * count), ", ".join(f"r{k}" for k in range(count))
    return (
        f"{ADD}ENTRY f {{ z = c128[] constant((0, 0))\n {chr(10).join(lines)}\n ROOT t = ({shapes}) tuple({names}) }}"
    )


@pytest.mark.parametrize("dialect", PORTABLE)
@pytest.mark.parametrize(
    ("text", "emitters"),
    [
        (transposes(2), {"transpose"}),
        (transposes(12), {"transpose"}),
        (transposes(70), {"loop"}),
        (sums(40), {"reduction"}),
    ],
    ids=["two transposes", "many transposes", "too many transposes", "many sums"],
)
def test_fusions_that_want_much_memory(dialect: str, text: str, emitters: set[str]) -> None:
    device, computation = portable_device(dialect), ix.hlo.parse(text).entry
    kernel = ix.emit(computation, dialect)
    assert kernel.emitter in emitters and within(kernel, device)
    for plan in random.Random(2).sample(list(ix.knobs(computation, dialect).plans()), 2):
        assert within(ix.emit(computation, dialect, None, **plan), device)


@pytest.mark.parametrize("dialect", ["cuda", "opencl"])
def test_all_transposes_of_wide_elements(dialect: str) -> None:
    computation = ix.hlo.parse(transposes(1, "512,512", "f64")).entry
    plans = list(ix.knobs(computation, dialect).plans())
    tiles = {p["tile"] for p in plans}
    most = PORTABLE[dialect].limits.shared_bytes
    assert tiles == {t for t in (8, 16, 32, 64, 128) if (t + 1) * t * 8 <= most}  # a square, its rows padded by one
    with pytest.raises(ix.IndexingError, match=r"tile is in \{8, .*\}; got 128"):
        ix.emit(computation, dialect, None, tile=128)


def test_products_of_more_blocks_than_a_grid_has() -> None:
    text = """ENTRY f { p = f32[65536,4] parameter(0)
      q = f32[4,131072] parameter(1)
      ROOT d = f32[65536,131072] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    computation = ix.hlo.parse(text).entry
    space, most = ix.knobs(computation), 2**31 - 1
    for rows in (1, 2, 4, 8):
        least = next(n for n in range(1, 20) if 65536 // rows * -(-131072 // n) <= most)
        assert space.legal("block_size", {"rows": rows}) == range(least, 1025)
    with pytest.raises(ix.IndexingError, match=r"block_size is in \[5, 1024\] where rows = 1; got 1"):
        ix.emit(computation, rows=1, block_size=1)


def test_rows_take_as_much_memory_as_there_is() -> None:
    """Rows of 5500 numbers and their exponentials, 44000 bytes, are kept in 48 KiB, and cannot be in 32 KiB."""
    computation = ix.hlo.parse(softmax(2000, 5500)).entry
    assert 44000 <= ix.emit(computation, "cuda", None, keep=1).shared_bytes <= 48 * 1024
    assert 1 in ix.knobs(computation, "cuda").legal("keep", {"vector_width": 1, "threads": 256})
    assert 1 not in ix.knobs(computation, "opencl").legal("keep", {"vector_width": 1, "threads": 256})
    with pytest.raises(ix.IndexingError, match=r"keep is in \{0, 2, 3\}; got 1"):
        ix.emit(computation, "opencl", None, keep=1)


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ({"block": (2048, 1, 1)}, "2048 threads of a block exceed the limit of 1024"),
        ({"block": (1, 1, 65)}, "the block (1, 1, 65) exceeds the limit of (1024, 1024, 64)"),
        ({"grid": (1, 65536, 1)}, "the grid (1, 65536, 1) exceeds the limit of"),
        ({"buffers": ()}, "65536 bytes of shared memory of a block exceed the limit of 49152"),
    ],
    ids=["threads", "block", "grid", "memory"],
)
def test_the_verifier_refutes_a_launch_beyond_a_limit(change: dict, limit: str) -> None:
    kernel = ix.emit(fusion("transpose"))
    (proved,) = [c for c in kernel.verify().checks if c.kind == "launch"]
    assert proved.status == "proved"
    if "buffers" in change:
        change = {
            "buffers": tuple(replace(b, dimensions=(1 << 14,)) if b.space == "shared" else b for b in kernel.ir.buffers)
        }
    (refuted,) = [c for c in replace(kernel, ir=replace(kernel.ir, **change)).verify().checks if c.kind == "launch"]
    assert refuted.status == "refuted" and limit in refuted.reason and "ix.knobs" in refuted.reason


def test_limits_are_checked() -> None:
    limits = portable_device("cuda").limits
    with pytest.raises(ix.IndexingError, match="positive"):
        replace(limits, threads=0)
    with pytest.raises(ix.IndexingError, match="in x, y and z"):
        replace(limits, grid=(1, 1))
    with pytest.raises(TypeError, match="shared_bytes is a str"):
        replace(limits, shared_bytes="48")
    with pytest.raises(ix.IndexingError, match="runs kernels in dialect 'c'; leave out dialect='cuda'"):
        ix.emit(fusion("loop"), "cuda", portable_device("c"))
