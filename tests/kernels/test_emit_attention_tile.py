"""The attention-tile emitter: registers by their definition, sizes with and without rests, layouts, proofs, faults."""

from itertools import product as all_of

import pytest

import indexing as ix
from attention_programs import AFTER, BIAS, CAUSAL, MASKED, NONE, PLAIN, SAFE, Sizes, attention
from indexing.analysis.memory.banks import bank_accesses
from indexing.device.table import portable_device
from indexing.executable import planned_kernels
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import INSTRUCTIONS, SUM, SUM_OF_WORD
from indexing.kernels.kernel import Kernel
from indexing.kernels.verify import verify
from kernel_mutants import mutants
from kernels import assert_written_once

EVEN = Sizes(2, 1, 64, 128, 64, 64)
ODD = Sizes(1, 3, 37, 41, 20, 50)


def emitted(text: str, device: str | None = None, **knobs: int) -> Kernel:
    dialect = "cuda" if device is None else None
    kernel = ix.emit(ix.hlo.parse(text).entry, dialect=dialect, device=device, **knobs)
    assert kernel.emitter == "attention-tile"
    return kernel


def test_two_sums_are_a_left_factor() -> None:
    """An element of a register of the factor is at the same row and column as that of the sum."""
    left = INSTRUCTIONS["bf16"].left
    for lane, word, element in all_of(range(32), range(4), range(2)):
        block, register = SUM_OF_WORD.evaluate([word, element])
        row, column = SUM.evaluate([lane, register])
        assert left.evaluate([lane, word, element]) == (row, block * 8 + column)


@pytest.mark.parametrize(
    ("text", "knobs"),
    [
        (attention(kind="bf16", sizes=EVEN), {}),
        (attention(CAUSAL, kind="f16", sizes=ODD), {}),
        (attention(BIAS, SAFE, AFTER, "bf16", sizes=ODD), {"warps": 2, "keys": 16}),
        (attention(MASKED, SAFE, kind="bf16", hidden="-1e30", sizes=EVEN), {"warps": 1, "keys": 32}),
        (attention(CAUSAL, PLAIN, AFTER, "f16", sizes=Sizes(1, 1, 130, 200, 16, 136)), {"warps": 8, "keys": 128}),
        (attention(CAUSAL, kind="bf16", sizes=EVEN), {"keys": 32, "stages": 2}),  # an even number of steps
        (
            attention(BIAS, SAFE, AFTER, "f16", sizes=ODD),
            {"warps": 1, "keys": 16, "stages": 2},
        ),  # an odd one, with a rest
    ],
)
def test_kernels_are_proved_and_compile(text: str, knobs: dict[str, int]) -> None:
    kernel = emitted(text, **knobs)
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    assert ix.runtime.cubin(kernel, "sm_80")


@pytest.mark.parametrize("turned", [("q", "R,C"), ("k", "K,C"), ("v", "K,D")])
def test_operands_in_any_layout(turned: tuple[str, str]) -> None:
    name, sizes = turned
    given = {"R": 37, "K": 41, "C": 20, "D": 50}
    numbers = ",".join(str(given[s]) for s in sizes.split(","))
    declared = f"{name} = bf16[1,3,{numbers}] parameter"
    text = attention(kind="bf16", sizes=ODD)
    assert declared in text
    kernel = emitted(text.replace(declared, declared.replace("] parameter", "]{2,3,1,0} parameter")))
    proofs = kernel.verify()
    assert proofs.refuted == proofs.open == (), str(proofs)


def test_the_kernel_has_no_bank_conflicts() -> None:
    actual = list(bank_accesses(emitted(attention(CAUSAL, kind="bf16", sizes=EVEN)), portable_device("cuda")))
    assert {(a.kind, a.array) for a in actual} >= {("load", name) for name in ("queries", "keys", "values")}
    assert all(a.conflicts == 0 for a in actual)


# ---------------------------------------------------------------- where it is not


@pytest.mark.parametrize(
    "text",
    [
        attention(sizes=EVEN),  # no instruction for f32
        attention(kind="bf16", sizes=Sizes(2, 1, 8, 128, 64, 64)),  # few rows
        attention(kind="bf16", sizes=Sizes(1, 1, 16, 64, 16, 264)),  # more columns than registers
    ],
)
def test_other_attentions_are_left_to_scalar_units(text: str) -> None:
    assert ix.emit(ix.hlo.parse(text).entry, dialect="cuda").emitter == "attention"


@pytest.mark.parametrize("rows", [1024, 2048])
def test_programs_with_long_masked_rows_are_one_kernel(rows: int) -> None:
    """What makes the mask is computed by the kernel, and its time is predicted with it."""
    text = attention(CAUSAL, SAFE, kind="bf16", sizes=Sizes(2, 4, rows, rows, 128, 128))
    kernels = planned_kernels(ix.hlo.parse(text), ix.find_device("h200"))
    assert [k.kernel.emitter for k in kernels] == ["attention-tile"]


@pytest.mark.parametrize("device", ["T4", "CPU"])
def test_devices_without_the_instructions(device: str) -> None:
    assert ix.emit(ix.hlo.parse(attention(kind="bf16", sizes=EVEN)).entry, device=device).emitter == "attention"


@pytest.mark.parametrize(("knob", "value"), [("warps", 3), ("warps", 16), ("keys", 8), ("keys", 256), ("stages", 3)])
def test_knobs_that_are_not_legal(knob: str, value: int) -> None:
    with pytest.raises(ix.IndexingError, match=f"{knob} is in "):
        emitted(attention(kind="bf16", sizes=EVEN), **{knob: value})


def test_tiles_fit_into_shared_memory() -> None:
    """The default of a device with 48 KiB a block; larger tiles are no legal plans there."""
    text = attention(kind="bf16", sizes=Sizes(2, 1, 512, 512, 256, 256))
    kernel = emitted(text)
    assert kernel.shared_bytes <= 48 * 1024
    legal = list(ix.knobs(ix.hlo.parse(text).entry, "cuda").plans())
    assert legal
    assert all(emitted(text, **plan).shared_bytes <= 48 * 1024 for plan in legal)


# ---------------------------------------------------------------- faults


def lowered(stages: int = 1) -> ir.Kernel:
    return emitted(
        attention(NONE, kind="bf16", sizes=Sizes(1, 1, 32, 64, 16, 16)), warps=2, keys=32, stages=stages
    ).lowered


@pytest.mark.parametrize("stages", [1, 2])
def test_a_kernel_without_its_barriers_or_waits_is_refuted(stages: int) -> None:
    without = [m for m in mutants(lowered(stages)) if m.kind in ("barrier", "wait")]
    assert {m.kind for m in without} == {"barrier", "wait"}
    assert all("race" in {c.kind for c in verify(m.kernel).checks if c.status != "proved"} for m in without)


def test_places_beside_pieces_are_not_proved() -> None:
    actual = [m for m in mutants(lowered()) if "source_index of the loadmatrices" in m.what]
    assert actual
    assert all(any(c.status != "proved" for c in verify(m.kernel).checks) for m in actual)
