"""Invariants of kernels on a real program: each output element written once, source that depends on nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import indexing as ix

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "transformer_block.hlo"
MODULE = ix.hlo.load(EXAMPLE)
FUSIONS = [i for i in MODULE.entry.instructions.values() if i.opcode == "fusion"]


@pytest.mark.parametrize("fusion", FUSIONS, ids=lambda f: f.name)
def test_threads_write_each_output_element_exactly_once(fusion: ix.hlo.Instruction) -> None:
    kernel = ix.emit(fusion)
    written = np.zeros(fusion.shape.dimensions, np.int64)
    for point in kernel.thread_to_output(0).points():
        index = kernel.thread_to_output(0).evaluate(*point)
        written[tuple(index)] += 1
    assert (written == 1).all()


def test_source_depends_on_nothing_but_the_module() -> None:
    script = (
        "import sys, indexing as ix\n"
        "m = ix.hlo.load(sys.argv[1])\n"
        "for i in m.entry.instructions.values():\n"
        "    if i.opcode == 'fusion':\n"
        "        print(ix.emit(i).source, ix.emit(i, dialect='opencl').source)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, str(EXAMPLE)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(outputs) == 1
    assert outputs.pop()
