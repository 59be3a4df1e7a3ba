"""Queries per second of the analyses: on fusions of the kinds that emitters know, or on a program's.

    python benches/analyses.py [FILE.hlo ...] [--rounds 20] [--most 300]

A query is one call; its maps are known (a search asks for them once), its kernel is emitted. Times are the best of the rounds.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import indexing as ix
from indexing.analysis.tiling.propagation import propagate_tiles
from indexing.kernels.kernel import Kernel

ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
RANK_12 = ",".join(["2", "3"] * 6)

# Of each: the parameters' shapes, the body, and the result's shape.
CASES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "chain": (
        ("bf16[4096,1000]", "bf16[4096,1000]"),
        "m = bf16[4096,1000] multiply(p0, p1)\n ROOT t = bf16[4096,1000] tanh(m)",
        "bf16[4096,1000]",
    ),
    "bias": (
        ("f32[4096,1000]", "f32[1000]"),
        "b = f32[4096,1000] broadcast(p1), dimensions={1}\n ROOT t = f32[4096,1000] add(p0, b)",
        "f32[4096,1000]",
    ),
    "normalize rows": (
        ("f32[512,1000]",),
        "z = f32[] constant(0)\n s = f32[512] reduce(p0, z), dimensions={1}, to_apply=add\n"
        "b = f32[512,1000] broadcast(s), dimensions={0}\n ROOT t = f32[512,1000] divide(p0, b)",
        "f32[512,1000]",
    ),
    "row sum": (
        ("f32[2048,3000]",),
        "z = f32[] constant(0)\n ROOT s = f32[2048] reduce(p0, z), dimensions={1}, to_apply=add",
        "f32[2048]",
    ),
    "column sum": (
        ("f32[3000,2048]",),
        "z = f32[] constant(0)\n ROOT s = f32[2048] reduce(p0, z), dimensions={0}, to_apply=add",
        "f32[2048]",
    ),
    "transpose": (("f32[1024,768]",), "ROOT t = f32[768,1024] transpose(p0), dimensions={1,0}", "f32[768,1024]"),
    "heads": (
        ("bf16[8,128,12,64]",),
        "ROOT t = bf16[8,12,128,64] transpose(p0), dimensions={0,2,1,3}",
        "bf16[8,12,128,64]",
    ),
    "concatenate": (
        ("f32[64,100]", "f32[64,28]"),
        "ROOT c = f32[64,128] concatenate(p0, p1), dimensions={1}",
        "f32[64,128]",
    ),
    "pad": (
        ("f32[32,224,224]",),
        "z = f32[] constant(0)\n ROOT p = f32[32,230,230] pad(p0, z), padding=0_0x3_3x3_3",
        "f32[32,230,230]",
    ),
    "cache": (
        ("f32[16,2048,64]", "f32[16,1,64]", "s32[]"),
        "z = s32[] constant(0)\n ROOT u = f32[16,2048,64] dynamic-update-slice(p0, p1, z, p2, z)",
        "f32[16,2048,64]",
    ),
    "embedding": (
        ("f32[30000,512]", "s32[256,1]"),
        "ROOT g = f32[256,512] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1,512}",
        "f32[256,512]",
    ),
    "dot": (
        ("f32[256,512]", "f32[512,384]"),
        "ROOT d = f32[256,384] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "f32[256,384]",
    ),
    "windows": (
        ("f32[64,112,112]",),
        "z = f32[] constant(0)\n"
        "ROOT w = f32[64,56,56] reduce-window(p0, z), window={size=1x3x3 stride=1x2x2 pad=0_0x0_1x0_1}, to_apply=add",
        "f32[64,56,56]",
    ),
    "merge rank 12": ((f"f32[{RANK_12}]",), f"ROOT r = f32[{6**6}] reshape(p0)", f"f32[{6**6}]"),
    "split rank 12": ((f"f32[{6**6}]",), f"ROOT r = f32[{RANK_12}] reshape(p0)", f"f32[{RANK_12}]"),
    "regroup rank 12": ((f"f32[{RANK_12}]",), "ROOT r = f32[6,4,9,6,4,9] reshape(p0)", "f32[6,4,9,6,4,9]"),
}


def fused(shapes: tuple[str, ...], body: str, result: str) -> ix.hlo.Instruction:
    """A program of one fusion; the fusion."""
    parameters = "\n".join(f"p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes))
    names = ", ".join(f"p{k}" for k in range(len(shapes)))
    entry = f"ENTRY e {{\n{parameters}\nROOT r = {result} fusion({names}), kind=kLoop, calls=f\n}}"
    return ix.hlo.parse(f"{ADD}f {{\n{parameters}\n{body}\n}}\n{entry}").entry.root


def tiles(fusion: ix.hlo.Instruction) -> int:
    """The tiles of all operands."""
    count = 0
    for operand, maps in enumerate(ix.output_to_input(fusion)):
        if maps and not any(m.map.is_undefined or m.map.is_known_empty for m in maps):
            count += len(propagate_tiles(fusion, operand))
    return count


def queries(fusion: ix.hlo.Instruction, kernel: Kernel | None) -> dict[str, Callable[[], object]]:
    """What is asked about one fusion."""
    asked: dict[str, Callable[[], object]] = {"utilization": lambda: ix.utilization(fusion)}
    if kernel is not None:
        asked["coalescing of the kernel"] = lambda: ix.coalescing(kernel)
    asked["coalescing of a loop"] = lambda: ix.coalescing(fusion, launch=ix.Launch(256))
    asked["tiles"] = lambda: tiles(fusion)
    asked["tiling space"] = lambda: ix.tiling_space(fusion)
    asked["100 valid tilings"] = lambda: list(itertools.islice(ix.valid_tilings(fusion), 100))
    return asked


def seconds(query: Callable[[], object], rounds: int) -> float | None:
    """Of one call, the best of the rounds; None where the question has no answer."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        try:
            query()
        except ix.IndexingError:
            return None
        best = min(best, time.perf_counter() - start)
    return best


def emitted(fusion: ix.hlo.Instruction) -> Kernel | None:
    """Its kernel; None for what no emitter makes, and for an instruction outside of fusions."""
    try:
        return ix.emit(fusion) if fusion.opcode == "fusion" else None
    except ix.IndexingError:
        return None


def measure(fusions: Iterable[tuple[str, ix.hlo.Instruction]], rounds: int, each: bool) -> None:
    """Print a line a fusion where `each` is asked for, then, of each query, the distribution."""
    by_query: dict[str, list[float]] = {}
    for name, fusion in fusions:
        times = {q: seconds(f, rounds) for q, f in queries(fusion, emitted(fusion)).items()}
        for query, time_ in times.items():
            if time_ is not None:
                by_query.setdefault(query, []).append(time_)
        if each:
            cells = (f"{q} {1e6 * t:8.0f}" if t is not None else f"{q}        -" for q, t in times.items())
            print(f"{name:18} " + "  ".join(cells))
    for query, all_times in by_query.items():
        ordered = sorted(all_times)
        mean = statistics.fmean(ordered)
        print(
            f"{query:26} {len(ordered):6} asked   median {1e6 * statistics.median(ordered):8.0f} us   "
            f"90 % below {1e6 * ordered[len(ordered) * 9 // 10]:8.0f} us   longest {1e6 * ordered[-1]:8.0f} us   "
            f"{1 / mean:8.0f} a second"
        )


def asked_about(file: Path, most: int) -> list[tuple[str, ix.hlo.Instruction]]:
    """A program's fusions; where it has none, `most` of its instructions with operands, spread over the program."""
    module = ix.hlo.load(file)
    every = [i for c in module.computations.values() for i in c.instructions.values()]
    fusions = [i for i in every if i.opcode == "fusion"]
    instructions = fusions or [i for i in module.entry.instructions.values() if i.operands]
    return [(i.name, i) for i in instructions[:: -(-len(instructions) // most)]]


def main() -> None:
    """Measure the cases, or the fusions of the files."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--most", type=int, default=300, help="instructions of a program")
    chosen = options.parse_args()
    if not chosen.files:
        measure(((name, fused(*case)) for name, case in CASES.items()), chosen.rounds, each=True)
    for file in chosen.files:
        print(file.name)
        measure(asked_about(file, chosen.most), chosen.rounds, each=False)


if __name__ == "__main__":
    main()
