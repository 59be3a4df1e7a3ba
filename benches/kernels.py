"""What kernels cost before they run: time to emit, lines of source, time in NVRTC, bytes of machine code; and what the
maps of their threads predict: of loads and of stores, bytes and sectors a request, and sectors moved to the ideal.

    python benches/kernels.py [FILE.hlo ...] [--arch sm_90]

Without files: the cases of tests/golden, and the log-transpose-add graph 64 stages deep. Nothing is taken from the cache.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import indexing as ix
from indexing.analysis.memory.global_memory import Access
from indexing.device.table import portable_device
from indexing.kernels import emit_fused

CASES = Path(__file__).resolve().parent.parent / "tests" / "golden"


def stages(count: int) -> str:
    """Each stage reads the one before at two indices."""
    lines = ["x0 = f32[64,64] parameter(0)"]
    for k in range(count):
        lines += [f"l{k} = f32[64,64] log(x{k})", f"t{k} = f32[64,64] transpose(l{k}), dimensions={{1,0}}"]
        lines += [f"{'ROOT ' if k == count - 1 else ''}x{k + 1} = f32[64,64] add(l{k}, t{k})"]
    return "stages {\n" + "\n".join(lines) + "\n}"


def measure(name: str, module: ix.hlo.Module, arch: str) -> tuple[int, float]:
    """Print one line; returns lines of source and seconds in NVRTC."""
    start = time.perf_counter()
    kernel = emit_fused(module.entry, portable_device("cuda"))  # whatever it repeats
    emitted = time.perf_counter()
    cubin = ix.runtime.cubin(kernel, arch)
    compiled = time.perf_counter()
    lines = kernel.source.count("\n")
    report = ix.coalescing(kernel)
    print(
        f"{name:28} {kernel.emitter:22} {1e3 * (emitted - start):8.1f} ms {lines:6} lines "
        f"{1e3 * (compiled - emitted):8.0f} ms {len(cubin):8} bytes   "
        f"loads {requests(report.reads)}  stores {requests(report.writes)}"
    )
    return lines, compiled - emitted


def requests(accesses: Sequence[Access]) -> str:
    """Bytes and sectors of a mean request of a warp, and sectors moved to the fewest that could."""
    count = sum(a.total.instructions for a in accesses)
    if not count:
        return f"{'none':21}"
    asked, moved, ideal = (sum(getattr(a.total, n) for a in accesses) for n in ("asked", "sectors", "ideal"))
    return f"{asked / count:5.0f} B {moved / count:5.1f} s {moved / ideal:6.2f}"


def main() -> None:
    """Measure each case, then print the totals."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--arch", default="sm_90")
    chosen = options.parse_args()
    files = chosen.files or sorted(CASES.glob("*.hlo"))
    modules = [(file.stem, ix.hlo.load(file)) for file in files]
    if not chosen.files:
        modules.append(("64 stages", ix.hlo.parse(stages(64))))
    with tempfile.TemporaryDirectory() as empty:
        os.environ["INDEXING_CACHE_DIR"] = empty
        measured = [measure(name, module, chosen.arch) for name, module in modules]
    seconds = sorted(s for _, s in measured)
    print(
        f"{len(measured)} kernels, {sum(n for n, _ in measured)} lines; NVRTC for {chosen.arch}: "
        f"median {1e3 * seconds[len(seconds) // 2]:.0f} ms, longest {1e3 * seconds[-1]:.0f} ms"
    )


if __name__ == "__main__":
    main()
