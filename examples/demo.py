"""Analyze one program, draw a picture, verify and run a kernel, and compare the results with the reference.

python examples/demo.py [FILE] [PICTURE.html]
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import indexing as ix
from indexing.reference.differences import difference, make_inputs
from indexing.reports.program_report import report_lines
from indexing.show.page import program_page


def heading(text: str) -> None:
    print(f"\n== {text}\n", flush=True)


def main(path: Path, picture: Path) -> int:
    start = time.perf_counter()
    module = ix.hlo.load(path)
    fusions = [i for i in module.entry.instructions.values() if i.opcode == "fusion"]
    sizes = (
        f"{module.instruction_count} instructions in {len(module.computations)} computations, {len(fusions)} fusions"
    )
    print(f"{path.name}: {sizes}.")

    report = show_worst(module, picture)
    show_maps(report.fusions[0].instruction)
    show_kernel(report.fusions[0].instruction)
    status = show_results(module)
    heading("What to try next")
    worst = report.fusions[0].name
    for command in (
        f"indexing analyze {path} --device h100 --roofline",
        f"indexing explore {path}",
        f"indexing draw {path} --picture accesses --instruction {worst} -o accesses.svg",
        "indexing doctor",
    ):
        print(f"    {command}")
    print(
        "    and, where JAX is installed, in Python: print(ix.maps(jax.numpy.matmul, np.ones((4, 8)), np.ones((8, 2))))"
    )
    print(f"\nAll of this took {time.perf_counter() - start:.1f} s.")
    return status


def show_worst(module: ix.hlo.Module, picture: Path) -> ix.ProgramReport:
    heading("What its kernels take, and the one that loses most time")
    report = ix.analyze(module, "h100")
    print(*report_lines(report, top=1), sep="\n")
    picture.write_text(program_page(report), encoding="utf-8")
    print(f"\nAll {len(report.fusions)} kernels, with graphs and sources, as a page for a browser: {picture}")
    return report


def show_maps(fusion: ix.hlo.Instruction) -> None:
    heading(f"Which elements of each operand an element of {fusion.name} needs")
    print(ix.maps(fusion))


def show_kernel(fusion: ix.hlo.Instruction) -> None:
    heading(f"CUDA C++ of {fusion.name}")
    kernel = ix.emit(fusion)
    lines = kernel.source.splitlines()
    shown = lines[next(k for k, line in enumerate(lines) if "__global__" in line) :]
    print("\n".join(shown))
    print(f"\n{kernel.emitter} emitter, grid {kernel.grid}, block {kernel.block}, {kernel.shared_bytes} bytes shared.")
    print(f"Proved without running it (types, bounds, each element written once, no races): {kernel.verify()}")
    try:
        print(f"Compiled by NVRTC for sm_90 without a GPU: a cubin of {len(ix.runtime.cubin(kernel))} bytes.")
    except ix.CompileError as missing:  # NVRTC is not made for every system
        print(f"Not compiled for a GPU here: {missing}")


def scaled(array: np.ndarray) -> np.ndarray:
    """Small floats, for sums without overflow; integers as they are, since they may be indices."""
    return array if array.dtype.kind in "iub" else array / 16


def show_results(module: ix.hlo.Module) -> int:
    heading("The whole program on this machine's CPU, against the numpy reference")
    print("Compiling ...", flush=True)
    inputs = [scaled(a) for a in make_inputs([p.shape for p in module.entry.parameters])]
    start = time.perf_counter()
    executable = ix.compile(module, device="cpu")
    compiled = time.perf_counter()
    executable(*inputs)
    first = time.perf_counter()
    got = np.asarray(executable(*inputs))
    done = time.perf_counter()
    apart = difference(got, np.asarray(ix.evaluate(module, *inputs)))
    print(f"{len(executable.kernels)} kernels, compiled in {compiled - start:.1f} s.")
    print(f"First call {(first - compiled) * 1e3:.1f} ms, second call {(done - first) * 1e3:.1f} ms.")
    print(f"Output {got.dtype}{list(got.shape)}: {apart}.")
    return 0 if apart.is_rounding else 1


if __name__ == "__main__":
    here = Path(__file__).parent
    given = [Path(argument) for argument in sys.argv[1:]]
    program = given[0] if given else here / "rotary.hlo"
    sys.exit(main(program, given[1] if len(given) > 1 else Path(tempfile.gettempdir()) / "indexing_demo.html"))
