"""Invariants of kernels on a real program: each output element written once, source that depends on nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing.kernels.emitters import EMITTERS
from indexing.kernels.kernel import Argument, Kernel
from kernels import visits

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "transformer_block.hlo"
MODULE = ix.hlo.load(EXAMPLE)
FUSIONS = [i for i in MODULE.entry.instructions.values() if i.opcode == "fusion"]


@pytest.mark.parametrize("fusion", FUSIONS, ids=lambda f: f.name)
def test_threads_write_each_output_element_exactly_once(fusion: ix.hlo.Instruction) -> None:
    kernel = ix.emit(fusion)
    written = np.zeros(fusion.shape.dimensions, np.int64)
    for m in kernel.output_maps[0]:
        for point in m.points():
            written[tuple(m.evaluate(*point))] += 1
    assert (written == 1).all()


GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.hlo"))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.stem)
def test_kernels_of_all_emitters_write_each_element_exactly_once(case: Path) -> None:
    """What is written in place, at places that data decide: there each element of the updates is read exactly once."""
    kernel = ix.emit(ix.hlo.load(case).entry)
    for argument in kernel.outputs:
        if argument.alias_of is None:
            maps = kernel.output_maps[argument.number]
            assert (sum(visits(m, argument.dimensions) for m in maps) == 1).all()
        else:
            update, read = updates(kernel, argument)
            assert (visits(read, update.dimensions) == 1).all()
            assert kernel.thread_to_output(argument.number).dims == read.dims


def updates(kernel: Kernel, output: Argument) -> tuple[Argument, ix.IndexingMap]:
    """The input that an in-place kernel writes into an output: the largest one that is read; and the map of its reads."""
    inputs = [a for k, a in enumerate(kernel.inputs) if kernel.input_maps[a.number] and k != output.alias_of]
    result = max((a for a in inputs if a.element_type == output.element_type), key=lambda a: a.element_count)
    return result, min(kernel.input_maps[result.number], key=lambda m: len(m.ranges))  # not those of runs


def test_all_emitters_have_their_cases() -> None:
    actual = {ix.emit(ix.hlo.load(case).entry, dialect=d).emitter for case in GOLDEN for d in ("cuda", "c")}
    assert actual == {emitter.name for emitter in EMITTERS}


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
