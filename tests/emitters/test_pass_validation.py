"""The validation of passes: faults that a pass could make are found, and named with the pass."""

from pathlib import Path

import pytest

from indexing.device.table import portable_device
from indexing.emitters.ir.passes import PASSES
from indexing.emitters.ir.verify.lowering import verify_steps
from pass_mutants import faults, judge, steps

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = [
    GOLDEN / f"{name}.hlo"
    for name in (
        "concatenate",
        "loop_gelu_bf16",
        "reduction_moments_bf16",
        "reduction_split",
        "rows_columns",
        "scatter_sorted",
        "transpose_packed",
        "transpose_short",
    )
]
FAULTS = 5  # of each pass


@pytest.fixture(scope="module")
def changed():
    return list(steps(FILES, ("c", "opencl")))


def test_faults_of_each_pass_are_found(changed) -> None:
    counts, missed = judge(changed, FAULTS, seed=27)
    assert not missed
    assert set(counts) == {p.name for p in PASSES}
    assert set(counts.values()) == {FAULTS}


def test_a_pass_is_named_where_its_kernel_cannot_be_proved(changed) -> None:
    step = next(s for s in changed if s.of.name == "row-loops")
    what, mutant = next((w, k) for w, k in faults(step.after) if "stop" in w)
    checks = verify_steps([(step.of, step.before, mutant)], portable_device("c").limits).checks
    found = [c for c in checks if c.status != "proved"]
    assert found, what
    assert all("row-loops" in str(c) for c in found)
