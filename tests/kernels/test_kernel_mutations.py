"""Mutants of the golden kernels: the verifier finds each, or running it beside the reference does.

A sample with a fixed seed; `python fuzz/kernel_mutations.py tests/golden/*.hlo` tries all of them.
"""

from pathlib import Path

import pytest

import indexing as ix
import kernel_mutations
from indexing.kernels.verify import verify

CASES = sorted((Path(__file__).parents[1] / "golden").glob("*.hlo"))
COUNT = 6
SEED = 20264


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_mutants_are_found(case: Path) -> None:
    counts, missed = kernel_mutations.check(case, COUNT, SEED)
    assert [f"{m.kind}: {m.what}" for m in missed] == []
    assert counts["proof"] + counts["run"] >= COUNT // 2


def test_a_counter_that_begins_with_another_number_is_found_by_proof() -> None:
    """Blocks that come one after the other give right results with it, in every call."""
    (case,) = (c for c in CASES if c.stem == "reduction_split_columns")
    trial = kernel_mutations.Trial(ix.hlo.load(case).entry)
    actual = [m for m in kernel_mutations.mutants(trial.kernel) if m.what == "constant 0"]
    assert actual
    assert all("not reset" in str(verify(m.kernel)) for m in actual)
