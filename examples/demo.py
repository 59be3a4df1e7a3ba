"""The main job on one program: maps, a partition, a kernel, its machine code, and its result against the reference.

python examples/demo.py [FILE.hlo]
"""

import sys
import time
from collections import Counter
from pathlib import Path

from indexing.reference.compare import difference, make_inputs

import indexing as ix

SHOWN = 6  # fusions whose maps are printed


def heading(text: str) -> None:
    print(f"\n== {text}\n")


def main(path: Path) -> int:
    start = time.perf_counter()
    module = ix.hlo.load(path)
    fusions = [i for i in module.entry.instructions.values() if i.opcode == "fusion"]
    count = sum(len(c.instructions) for c in module.computations.values())
    print(f"{path.name}: {count} instructions in {len(module.computations)} computations, {len(fusions)} fusions.")

    show_maps(fusions)
    show_partition(max(fusions, key=lambda f: len(ix.partition(f.called[0]).subgraphs)))
    show_kernel(max(fusions, key=lambda f: len(f.called[0].instructions)))
    status = show_results(module)
    print(f"\nAll of this took {time.perf_counter() - start:.1f} s.")
    return status


def show_maps(fusions: list[ix.hlo.Instruction]) -> None:
    heading("Indexing maps: which elements of each operand one element of a fusion's output needs")
    answers: Counter[str] = Counter()
    for number, fusion in enumerate(fusions):
        operands = ix.output_to_input(fusion)
        answers.update(indexing.exactness for operand in operands for indexing in operand)
        if number >= SHOWN:
            continue
        print(f"{fusion.name} = {fusion.shape}")
        for operand, indexings in zip(fusion.operands, operands, strict=True):
            for indexing in indexings:
                print(f"    {operand.name:27} {indexing.map}")
    print(f"... and so on: {', '.join(f'{n} maps {kind}' for kind, n in answers.items())}.")


def show_partition(fusion: ix.hlo.Instruction) -> None:
    heading(f"Partition of {fusion.name}: functions that are emitted once each")
    for subgraph in ix.partition(fusion.called[0]).subgraphs:
        print(f"{subgraph.name}")
        for instruction in subgraph.instructions:
            root = "returns " if instruction in subgraph.roots else ""
            print(f"    {root}{instruction.name} = {instruction.opcode}")


def show_kernel(fusion: ix.hlo.Instruction) -> None:
    heading(f"CUDA C++ of {fusion.name}")
    kernel = ix.emit(fusion)
    print(kernel.source)
    size = len(kernel.cubin("sm_90"))
    print(f"{kernel.emitter} emitter, grid {kernel.grid}, block {kernel.block}, {kernel.shared_bytes} bytes shared.")
    print(f"Compiled by NVRTC for sm_90 without a GPU: a cubin of {size} bytes.")


def show_results(module: ix.hlo.Module) -> int:
    heading("The whole program, kernel after kernel, on this machine's CPU, against the numpy reference")
    inputs = [array / 16 for array in make_inputs([p.shape for p in module.entry.parameters])]
    start = time.perf_counter()
    executable = ix.compile(module, device="cpu")
    compiled = time.perf_counter()
    got = executable(*inputs)
    done = time.perf_counter()
    expected = ix.evaluate(module, *inputs)
    apart = difference(got, expected, tolerance=1e-4)
    print(f"{len(executable.kernels)} kernels, compiled in {compiled - start:.1f} s, run in {done - compiled:.3f} s.")
    print(f"Output {got.dtype}{list(got.shape)}: {apart}.")
    return 0 if apart.is_rounding else 1


if __name__ == "__main__":
    default = Path(__file__).parent / "transformer_block.hlo"
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else default))
