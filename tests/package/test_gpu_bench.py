"""The benchmark of GPUs, as far as it goes without one: each of its fusions is emitted, compiled and well laid out."""

import re
import sys
from pathlib import Path

import pytest

import indexing as ix

sys.path.append(str(Path(__file__).resolve().parents[2] / "benches"))

import gpu
from gpu_cases import CASES

# Sectors for each that is needed, at most.
MOST_SECTORS = {
    "row sum f32 1024x50257": 1.25,  # rows do not begin where sectors do
    "transpose f32 210": 1.25,
    "scatter-add": 2.5,  # a thread reads a vector of updates, and adds its elements by an atomic function each
}


@pytest.mark.parametrize("name", CASES)
def test_each_case_compiles_and_wastes_no_sectors(name: str) -> None:
    kernel = ix.emit(ix.hlo.parse(CASES[name]).entry)
    assert ix.runtime.cubin(kernel)
    assert gpu.bytes_moved(kernel) > 2**26
    accesses = ix.coalescing(kernel).accesses
    moved, ideal = sum(a.total.sectors for a in accesses), sum(a.total.ideal for a in accesses)
    assert moved <= ideal * MOST_SECTORS.get(name, 1.01)


@pytest.mark.parametrize(
    "name", ["chain f32 2^26", "gather bf16", "row sum bf16 8192x8192", "column sum f32 2^22x8", "concatenate bf16"]
)
def test_ptx_loads_sixteen_bytes_at_once(name: str) -> None:
    """Structs of neighbours become vector instructions, and arrays of accumulators stay in registers."""
    text = ix.runtime.ptx(ix.emit(ix.hlo.parse(CASES[name]).entry))
    assert re.search(r"ld\.global\.nc\.v4\.[fu]32", text)
    assert not re.search(r"ld\.global\.nc\.[fu](8|16)\b", text)
    assert ".local" not in text


def test_a_dry_run_needs_no_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    gpu.main(["--dry-run", "--arch", "sm_100", "sum"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == sum("sum" in name for name in CASES)
    assert all("sectors" in line for line in lines)


def test_there_are_fusions_of_all_emitters() -> None:
    assert len(CASES) >= 30
    assert {ix.emit(ix.hlo.parse(text).entry).emitter for text in CASES.values()} == {
        *("loop", "transpose", "reduction", "concatenate", "dynamic-update-slice", "scatter")
    }
