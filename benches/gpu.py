"""Fusions on a GPU: time of our kernels against the device's copy bandwidth, and against jax.jit where jax has a GPU.

    python benches/gpu.py [NAME ...] [--repeats 50]

Needs a GPU and the cuda extra. Times are medians of CUDA events over launches whose inputs rotate through more memory
than the L2 cache holds. `bandwidth` counts each input and output once, and is given as a share of what a copy of 1 GiB
reaches on the same device in the same run.
"""

import argparse
import importlib
import statistics
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

import indexing as ix
from indexing.emit.kernel import Kernel
from indexing.runtime.cuda import CudaDevice, gpu_count
from indexing.runtime.device import Buffer

ROTATED_BYTES = 512 * 2**20
ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"


def chain(kind: str, count: int) -> str:
    """x * y + x, tanh: an elementwise chain."""
    return f"""f {{
      x = {kind}[{count}] parameter(0)
      y = {kind}[{count}] parameter(1)
      m = {kind}[{count}] multiply(x, y)
      a = {kind}[{count}] add(m, x)
      ROOT t = {kind}[{count}] tanh(a)
    }}"""


def transposed(kind: str, sizes: Sequence[int], order: Sequence[int]) -> str:
    """A transpose."""
    source, target = ",".join(map(str, sizes)), ",".join(str(sizes[d]) for d in order)
    dims = ",".join(map(str, order))
    return f"f {{ x = {kind}[{source}] parameter(0) ROOT t = {kind}[{target}] transpose(x), dimensions={{{dims}}} }}"


def summed(rows: int, columns: int, dim: int) -> str:
    """A sum along rows or columns."""
    kept = (rows, columns)[1 - dim]
    return f"""{ADD}ENTRY f {{
      x = f32[{rows},{columns}] parameter(0)
      z = f32[] constant(0)
      ROOT s = f32[{kept}] reduce(x, z), dimensions={{{dim}}}, to_apply=add
    }}"""


def joined(kind: str, rows: int, sizes: Sequence[int]) -> str:
    """A concatenate along the fast dimension."""
    lines = [f"p{k} = {kind}[{rows},{size}] parameter({k})" for k, size in enumerate(sizes)]
    names = ", ".join(f"p{k}" for k in range(len(sizes)))
    root = f"ROOT c = {kind}[{rows},{sum(sizes)}] concatenate({names}), dimensions={{1}}"
    return "\n".join(["f {", *lines, root, "}"])


def scatter_add(rows: int, width: int, updates: int) -> str:
    """Rows added at indices."""
    return f"""{ADD}ENTRY f {{
      x = f32[{rows},{width}] parameter(0)
      i = s32[{updates},1] parameter(1)
      u = f32[{updates},{width}] parameter(2)
      ROOT s = f32[{rows},{width}] scatter(x, i, u), update_window_dims={{1}}, inserted_window_dims={{0}},
        scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
    }}"""


CASES: dict[str, str] = {
    **{f"chain {kind} 2^26": chain(kind, 2**26) for kind in ("f32", "bf16", "f16")},
    **{f"row sum {r}x{c}": summed(r, c, 1) for r, c in ((2**19, 128), (2**16, 1024), (2**13, 8192), (2**10, 2**16))},
    **{f"column sum {r}x{c}": summed(r, c, 0) for r, c in ((8192, 8192), (2**20, 64), (2**22, 8))},
    **{f"transpose {kind} 8192x8192": transposed(kind, (8192, 8192), (1, 0)) for kind in ("f32", "bf16", "s8", "f64")},
    "transpose f32 0213": transposed("f32", (16, 2048, 16, 128), (0, 2, 1, 3)),
    "transpose f32 210": transposed("f32", (510, 200, 510), (2, 1, 0)),
    "transpose s8 runs of 3": transposed("s8", (4096, 4096, 3), (1, 0, 2)),
    **{f"concatenate {kind}": joined(kind, 2**16, (256, 512, 128)) for kind in ("f32", "bf16")},
    "scatter-add": scatter_add(2**16, 256, 2**17),
    "reshape odd": "f { x = f32[1021,30030] parameter(0) n = f32[1021,30030] negate(x) "
    "ROOT r = f32[30030,1021] reshape(n) }",
}


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
        found = []
        for k in range(self.repeats):
            start = stream.record(options=timed)
            launches[k % len(launches)]()
            end = stream.record(options=timed)
            end.sync()
            found.append((end - start) * 1e-3)
        return statistics.median(found)

    def run(self, kernel: Kernel) -> float:
        """Seconds of one launch of the kernel."""
        moved = bytes_moved(kernel)
        copies = max(2, min(16, -(-ROTATED_BYTES // max(moved, 1))))
        launch = self.device.load(kernel)
        sets = [self.buffers(kernel, seed) for seed in range(copies)]
        return self.median([lambda buffers=buffers: launch(buffers) for buffers in sets])

    def buffers(self, kernel: Kernel, seed: int) -> list[Buffer]:
        """Inputs with random values and outputs, in the order of the signature."""
        rng = np.random.default_rng(seed)
        found = []
        for argument in kernel.arguments:
            if argument.alias_of is None:
                dtype = ix.hlo.Shape.array(argument.element_type, argument.dimensions).dtype
                values = rng.integers(0, 64, argument.element_count).astype(np.float32)
                found.append(self.device.upload(values.astype(dtype)))
        return found


def bytes_moved(kernel: Kernel) -> int:
    """Bytes of all inputs and outputs, each counted once."""
    return sum(
        prod(a.dimensions) * ix.hlo.Shape.array(a.element_type, a.dimensions).dtype.itemsize for a in kernel.arguments
    )


def xla_seconds(text: str, repeats: int) -> float | None:
    """The same program by XLA through jax, where jax is installed and has a GPU; None elsewhere."""
    try:
        jax = importlib.import_module("jax")
        client = jax.devices("gpu")[0].client
        extension = importlib.import_module("jaxlib._jax")
        module = extension.hlo_module_from_text(text)
    except (ImportError, RuntimeError, AttributeError):
        return None
    import time

    computation = extension.XlaComputation(module.as_serialized_hlo_module_proto())
    executable = client.compile(computation)
    parameters = ix.hlo.parse(text).entry.parameters
    arrays = [jax.device_put(np.ones(p.shape.dimensions, p.shape.dtype)) for p in parameters]
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        for out in executable.execute(arrays):
            out.block_until_ready()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def main() -> None:
    """Measure the cases asked for, or all."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--repeats", type=int, default=50)
    chosen = options.parse_args()
    if gpu_count() == 0:
        print("no GPU is found: nothing is measured")
        return
    bench = Bench(chosen.repeats)
    print(f"copy: {bench.copy_bytes_per_second / 1e9:.0f} GB/s")
    for name, text in CASES.items():
        if chosen.names and not any(part in name for part in chosen.names):
            continue
        kernel = ix.emit(ix.hlo.parse(text).entry)
        seconds = bench.run(kernel)
        rate = bytes_moved(kernel) / seconds
        line = f"{name:26} {kernel.emitter:14} {1e6 * seconds:9.1f} us {rate / 1e9:7.0f} GB/s"
        line += f" {100 * rate / bench.copy_bytes_per_second:5.0f} % of copy"
        other = xla_seconds(text, chosen.repeats)
        print(line + (f"   XLA {1e6 * other:9.1f} us, with its launch" if other is not None else ""))


if __name__ == "__main__":
    main()
