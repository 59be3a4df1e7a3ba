"""What kernels cost before they run: time to emit, lines of source, time in NVRTC, bytes of machine code.

    python benches/kernels.py [FILE.hlo ...] [--arch sm_90]

Without files: the cases of tests/golden, and the log-transpose-add graph 64 stages deep. Nothing is taken from the cache.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import indexing as ix

CASES = Path(__file__).resolve().parent.parent / "tests" / "golden"


def stages(count: int) -> str:
    """Each stage reads the one before at two indices."""
    lines = ["s0 = f32[64,64] parameter(0)"]
    for k in range(count):
        lines += [f"l{k} = f32[64,64] log(s{k})", f"t{k} = f32[64,64] transpose(l{k}), dimensions={{1,0}}"]
        lines += [f"{'ROOT ' if k == count - 1 else ''}s{k + 1} = f32[64,64] add(l{k}, t{k})"]
    return "stages {\n" + "\n".join(lines) + "\n}"


def measure(name: str, module: ix.hlo.Module, arch: str) -> tuple[int, float]:
    """Print one line; returns lines of source and seconds in NVRTC."""
    start = time.perf_counter()
    kernel = ix.emit(module.entry)
    emitted = time.perf_counter()
    cubin = kernel.cubin(arch)
    compiled = time.perf_counter()
    lines = kernel.source.count("\n")
    print(
        f"{name:28} {kernel.emitter:22} {1e3 * (emitted - start):8.1f} ms {lines:6} lines "
        f"{1e3 * (compiled - emitted):8.0f} ms {len(cubin):8} bytes"
    )
    return lines, compiled - emitted


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
        found = [measure(name, module, chosen.arch) for name, module in modules]
    seconds = sorted(s for _, s in found)
    print(
        f"{len(found)} kernels, {sum(n for n, _ in found)} lines; NVRTC for {chosen.arch}: "
        f"median {1e3 * seconds[len(seconds) // 2]:.0f} ms, longest {1e3 * seconds[-1]:.0f} ms"
    )


if __name__ == "__main__":
    main()
