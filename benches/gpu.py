"""Fusions on a GPU: time of our kernels against the device's copy bandwidth, and against jax.jit where jax has a GPU.

    python benches/gpu.py [NAME ...] [--repeats 50] [--dry-run [--arch sm_90]]

Needs the cuda extra and, unless it is a dry run, a GPU. A dry run emits and compiles each kernel, and prints what the
maps of its threads predict: sectors moved to the fewest that could, then for each load and store the bytes that a warp
asks for at once and the sectors that these take (`r512:16.0`).

Times are medians of CUDA events over launches whose inputs rotate through more memory than the L2 cache holds.
`bandwidth` counts each input and output once, and is given as a share of what a copy of 1 GiB reaches on the same device
in the same run. Where jax is installed and has a GPU, XLA's time is that of a batch of launches.
"""

import argparse
import importlib
import statistics
import time
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

import indexing as ix
from gpu_cases import CASES
from indexing.device.detect import gpu_count
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel import Argument, Kernel
from indexing.runtime.cuda import CudaDevice
from indexing.runtime.device import Buffer

ROTATED_BYTES = 512 * 2**20  # more than the L2 cache of any GPU
BATCH = 50  # launches of XLA's executable that are timed together


class Bench:
    """One device; kernels are measured one after another."""

    def __init__(self, repeats: int) -> None:
        """Open the device, and measure what a copy reaches."""
        self.device = CudaDevice()
        self.repeats = repeats
        source, target = self.device.empty(2**30), self.device.empty(2**30)
        seconds = self.median([lambda: self.device.copy(source, target)])
        self.copy_bytes_per_second = 2 * 2**30 / seconds

    def median(self, launches: Sequence[Callable[[], None]]) -> float:
        """Seconds of one launch: the median of CUDA events, the launches taken in turn."""
        from cuda.core import EventOptions

        timed = EventOptions(timing_enabled=True)
        stream = self.device.stream
        for launch in launches:
            launch()
        seconds = []
        for k in range(self.repeats):
            start = stream.record(options=timed)
            launches[k % len(launches)]()
            end = stream.record(options=timed)
            end.sync()
            seconds.append((end - start) * 1e-3)
        return statistics.median(seconds)

    def run(self, kernel: Kernel) -> float:
        """Seconds of one launch of the kernel."""
        moved = bytes_moved(kernel)
        copies = max(2, min(16, -(-ROTATED_BYTES // max(moved, 1))))
        launch = self.device.load(kernel)
        sets = [self.buffers(kernel)]
        while len(sets) < copies:
            sets.append([self.copied(buffer) for buffer in sets[0]])
        return self.median([lambda buffers=buffers: launch(buffers) for buffers in sets])

    def buffers(self, kernel: Kernel) -> list[Buffer]:
        """Inputs with random values and outputs, in the order of the signature."""
        rng = np.random.default_rng(0)
        return [self.device.upload(values_of(a, rng)) for a in kernel.arguments if a.alias_of is None]

    def copied(self, buffer: Buffer) -> Buffer:
        """A buffer of its own with the same contents."""
        copy = self.device.empty(buffer.nbytes)
        self.device.copy(buffer, copy)
        return copy


def values_of(argument: Argument, rng: np.random.Generator) -> np.ndarray:
    """Small whole numbers, in order where they are few enough to be indices; zeros for memory to work in."""
    if argument.kind == "scratch":
        return argument.zeros()
    return random_values(argument.element_type, argument.dimensions, rng)


def random_values(element_type: str, sizes: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Small whole numbers; of s32 in order, as they may be indices."""
    dtype = ix.hlo.Shape.array(element_type, tuple(sizes)).dtype
    if element_type == "s32":
        return np.sort(rng.integers(0, 2**16, prod(sizes), np.int32)).reshape(sizes)
    return rng.integers(0, 64, sizes, np.uint8).astype(np.float32).astype(dtype)


def bytes_moved(kernel: Kernel) -> int:
    """Bytes of all inputs and outputs, each counted once; what is updated in place not at all."""
    in_place = {a.alias_of for a in kernel.arguments}
    moved = [
        a for k, a in enumerate(kernel.arguments) if k not in in_place and a.alias_of is None and a.kind != "scratch"
    ]
    return sum(prod(a.dimensions) * storage_bytes(a.element_type) for a in moved)


def xla_seconds(text: str, repeats: int) -> float | None:
    """The same program by XLA through jax, where jax is installed and has a GPU; None elsewhere."""
    try:
        jax, hlo, xla = map(importlib.import_module, ("jax", "jaxlib._hlo", "jaxlib._jax"))
        (device, *_) = jax.devices("gpu")
    except (ImportError, RuntimeError):
        return None
    module = hlo.hlo_module_from_text(text)
    program = xla.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
    executable = device.client.compile_and_load(program, xla.DeviceList((device,)), xla.CompileOptions())
    rng = np.random.default_rng(0)
    shapes = [p.shape for p in ix.hlo.parse(text).entry.parameters]
    with jax.enable_x64(True):
        arrays = [jax.device_put(random_values(s.element_type, s.dimensions, rng), device) for s in shapes]
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(BATCH):  # the device works while the host launches
            results = executable.execute_sharded(arrays).disassemble_into_single_device_arrays()
        for (result,) in results:
            result.block_until_ready()
        seconds.append((time.perf_counter() - start) / BATCH)
    return statistics.median(seconds)


def predicted(kernel: Kernel, arch: str) -> str:
    """What is known of a kernel without a GPU."""
    code = ix.runtime.cubin(kernel, arch)
    known = ix.coalescing(kernel)
    moved = sum(a.total.sectors for a in known.accesses)
    ideal = sum(a.total.ideal for a in known.accesses)
    asked = [f"{a.kind[0]}{a.bytes_asked:.0f}:{a.sectors:.1f}" for a in known.accesses]
    launch = f"{kernel.grid[0]:8} x {kernel.block[0]:4} {len(code):6} bytes"
    return f"{launch}  sectors {moved / max(ideal, 1):5.2f}  {' '.join(asked)}"


def measured(bench: "Bench", kernel: Kernel, text: str) -> str:
    """Time and bandwidth of a kernel, and what XLA takes."""
    seconds = bench.run(kernel)
    rate = bytes_moved(kernel) / seconds
    line = f"{1e6 * seconds:9.1f} us {rate / 1e9:7.0f} GB/s {100 * rate / bench.copy_bytes_per_second:5.0f} % of copy"
    other = xla_seconds(text, bench.repeats)
    return line + (f"   XLA {1e6 * other:9.1f} us, {other / seconds:.2f} times ours" if other is not None else "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the cases asked for, or all."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--repeats", type=int, default=50)
    options.add_argument("--dry-run", action="store_true", help="emit, compile and predict; no GPU is needed")
    options.add_argument("--arch", default="sm_90", help="what a dry run compiles for")
    chosen = options.parse_args(arguments)
    if not chosen.dry_run and gpu_count() == 0:
        print("no GPU is found: nothing is measured (--dry-run needs none)")
        return
    bench = None if chosen.dry_run else Bench(chosen.repeats)
    if bench is not None:
        print(f"copy: {bench.copy_bytes_per_second / 1e9:.0f} GB/s")
    for name, text in CASES.items():
        if chosen.names and not any(part in name for part in chosen.names):
            continue
        kernel = ix.emit(ix.hlo.parse(text).entry)
        line = predicted(kernel, chosen.arch) if bench is None else measured(bench, kernel, text)
        print(f"{name:28} {kernel.emitter:14} {line}")


if __name__ == "__main__":
    main()
