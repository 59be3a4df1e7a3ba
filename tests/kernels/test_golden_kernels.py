"""The source of every kind of kernel, kept: a refactor leaves these files as they are.

golden/NAME.hlo is a fusion, NAME.cu its kernel. Of one fusion for each construct that the languages spell differently, there are
kernels in C and OpenCL too (NAME.c, NAME.cl). `make golden` accepts what is emitted now.
"""

import os
from pathlib import Path

import pytest

import indexing as ix
from indexing.kernels.targets import TARGETS

FOLDER = Path(__file__).parents[1] / "golden"
CASES = sorted(FOLDER.glob("*.hlo"))
ENDINGS = {name: target.ending for name, target in TARGETS.items()}


# Plain loops; rows and barriers; shared memory; atomics; matrix products of narrow floats.
IN_ALL_DIALECTS = ("loop_gather_pad", "rows_softmax_bf16", "transpose_021", "scatter_atomic", "dot_tile_batch_bf16")
KEPT = [(case, d) for case in CASES for d in ENDINGS if d == "cuda" or case.stem in IN_ALL_DIALECTS]


@pytest.mark.parametrize(("case", "dialect"), KEPT, ids=lambda v: v if isinstance(v, str) else v.stem)
def test_golden_source(case: Path, dialect: str) -> None:
    kernel = ix.emit(ix.hlo.load(case).entry, dialect=dialect)
    if dialect == "cuda":
        assert case.stem.startswith(kernel.emitter.removeprefix("dynamic-").replace("-", "_"))
    kept = case.with_suffix(ENDINGS[dialect])
    if os.environ.get("GOLDEN") == "accept":
        kept.write_text(kernel.source)
    assert kept.exists(), f"{kept.name} is missing; `make golden` accepts what is emitted"
    assert kernel.source == kept.read_text(), f"{kept.name} has changed; `make golden` accepts what is emitted"


def test_golden_files_all_have_their_case() -> None:
    sources = {case.with_suffix(ENDINGS[dialect]) for case, dialect in KEPT}
    assert set(FOLDER.iterdir()) == {*CASES, *sources}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden_cases_compile(case: Path, arch: str) -> None:
    assert ix.runtime.cubin(ix.emit(ix.hlo.load(case).entry), arch)
