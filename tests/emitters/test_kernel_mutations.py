"""Mutants of the golden kernels: the verifier finds each, or running it beside the reference does.

A sample with a fixed seed; `python fuzz/kernel_mutations.py tests/golden/*.hlo` tries all of them.
"""

from pathlib import Path

import pytest

import kernel_mutations

CASES = sorted((Path(__file__).parents[1] / "golden").glob("*.hlo"))
COUNT = 10
SEED = 20264


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_mutants_are_found(case: Path) -> None:
    counts, missed = kernel_mutations.judge(case, COUNT, SEED)
    assert [f"{m.kind}: {m.what}" for m in missed] == []
    assert counts["proof"] + counts["run"] >= COUNT // 2
