"""C compilers beside each other: each compiles the kernels of programs, at several options, and all results must be equal.

    python fuzz/compilers.py --compiler COMMAND ... [--options FLAGS ...] [--random N] [--seed S] [FILE.hlo ...]

`--options` are added to the flags that are used, which allow no change of a result; without any, the kernels are compiled
with those flags and with -O0. With --random, kernels of N random modules are compiled too. The first compiler with the last
options is what others are compared with. Prints the kernels whose results differ, and writes their sources to --keep; the
exit status is then 1. A kernel that ends its process counts as one that differs.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import multiprocessing
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

import indexing as ix
from indexing.kernels.kernel import Argument, Kernel
from indexing.kernels.targets.c_family import joint_source
from indexing.ops.element_types import element_type
from indexing.runtime.compiler import FLAGS, PROCESSORS
from indexing.runtime.host_memory import address, aligned_bytes

MAX_SECONDS = 300.0  # the time allowed for the kernels of a program
MAX_BYTES = 2**27  # the size of a kernel's buffers; larger ones are left out
PATTERN = 0xA5  # the bytes of outputs before a kernel runs, which it must write
MAX_BLOCKS = 4096  # all blocks of a kernel run up to so many, since more take minutes with -O0
END_BLOCKS = 512  # the first and last so many blocks run of kernels with more
BATCH = 8  # random modules that are compiled together
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 1e-40, 3e38, 0.5, -2.0)


@dataclass(frozen=True)
class Builder:
    """A compiler with options."""

    command: tuple[str, ...]
    options: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join([*self.command, *self.options])

    def build(self, source: str, target: Path) -> str:
        """Compile a source to a shared library; returns what the compiler has to say if it refuses it."""
        command = [*self.command, *FLAGS, *PROCESSORS[0], "-fPIC", *self.options, "-", "-o", str(target), "-lm"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        return done.stderr[:2000] or "it fails" if done.returncode else ""


Outputs = list[list[np.ndarray]]  # of each kernel, for each of its inputs


# ---------------------------------------------------------------- kernels and their data


def random_array(argument: Argument, rng: np.random.Generator, special: bool) -> np.ndarray:
    """Small numbers, which narrow types hold exactly; or floats that are infinite, subnormal, not a number."""
    dtype, kind, sizes = argument.zeros().dtype, argument.element_type, argument.dimensions or (1,)
    if kind == "pred":
        return rng.integers(0, 2, sizes).astype(dtype)
    if kind[0] in "bf":
        values = rng.choice(SPECIAL, sizes) if special else rng.integers(-16, 17, sizes) / 4
        with np.errstate(all="ignore"):
            return values.astype(np.float32).astype(dtype)
    if kind[0] == "c":
        return ((rng.integers(-8, 9, sizes) + 1j * rng.integers(-8, 9, sizes)) / 4).astype(dtype)
    low, high = {"s2": (-2, 2), "u2": (0, 4), "s4": (-8, 8), "u4": (0, 16)}.get(kind, (0 if kind[0] == "u" else -9, 20))
    return rng.integers(low, high, sizes).astype(dtype)


def call(function: int, kernel: Kernel, special: bool) -> list[np.ndarray]:
    """The outputs of a kernel, whose inputs are random but the same each time."""
    rng, buffers, outputs = np.random.default_rng(7), [], []
    for argument in kernel.arguments:
        zeros = argument.zeros()
        memory = aligned_bytes(max(zeros.nbytes, 16)) if argument.alias_of is None else buffers[argument.alias_of]
        if argument.kind == "input":
            memory[: zeros.nbytes] = random_array(argument, rng, special).reshape(-1).view(np.uint8)
        elif argument.alias_of is None:
            memory[:] = PATTERN if argument.kind == "output" else 0
        if argument.kind == "output":
            outputs.append(memory[: zeros.nbytes].view(zeros.dtype))
        buffers.append(memory)
    passed = [b for b, a in zip(buffers, kernel.arguments, strict=True) if a.alias_of is None]
    x, y, z = kernel.launch_grid
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(function)
    for first, last in block_ranges(x * y * z):
        run((ctypes.c_void_p * max(len(passed), 1))(*map(address, passed)), first, last)
    return [o.copy() for o in outputs]


def block_ranges(count: int) -> list[tuple[int, int]]:
    """The first and last block of the ranges of blocks that run, of a grid of `count` blocks."""
    return [(0, count)] if count <= MAX_BLOCKS else [(0, END_BLOCKS), (count - END_BLOCKS, count)]


def work(pipe: Connection, library: str, kernels: Sequence[Kernel], first: int) -> None:
    """Run the kernels from number `first` on, in a process that they may end; each is answered by one message."""
    loaded = ctypes.CDLL(library)
    for number in range(first, len(kernels)):
        function = ctypes.cast(loaded[f"kernel_{number}"], ctypes.c_void_p).value or 0
        pipe.send([call(function, kernels[number], special) for special in (False, True)])


def outputs_of(library: Path, kernels: Sequence[Kernel]) -> list[Outputs | None]:
    """The outputs of each kernel; None for one that ends its process."""
    answers: list[Outputs | None] = []
    while len(answers) < len(kernels):
        answers += answered(library, kernels, len(answers))
        if len(answers) < len(kernels):
            answers.append(None)
    return answers


def answered(library: Path, kernels: Sequence[Kernel], first: int) -> Iterator[Outputs]:
    """The outputs of the kernels from number `first` on, as long as their process lives."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sender, str(library), kernels, first))
    process.start()
    sender.close()
    try:
        while receiver.poll(MAX_SECONDS):
            yield receiver.recv()
    except EOFError:
        pass
    process.kill()
    process.join()


# ---------------------------------------------------------------- comparison


def differences(got: Outputs | None, want: Outputs | None) -> str:
    """In words, what differs; NaNs are equal, whatever their bits."""
    if got is None or want is None:
        return "" if got is want else "it ends its process"
    texts = []
    for case, (ours, theirs) in enumerate(zip(got, want, strict=True)):
        for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            with np.errstate(all="ignore"):
                same = (bits(a) == bits(b)).all(axis=1) | ((a != a) & (b != b))
            if not same.all():
                place = int(np.flatnonzero(~same)[0])
                texts.append(
                    f"inputs {case}, output {number}: {int((~same).sum())} of {a.size}, [{place}] {a[place]!r} not {b[place]!r}"
                )
    return "; ".join(texts)


def bits(array: np.ndarray) -> np.ndarray:
    """The bytes of each element."""
    return array.view(np.uint8).reshape(array.size, array.itemsize)


def compare(name: str, kernels: Sequence[Kernel], builders: Sequence[Builder], keep: Path | None) -> int:
    """Print what differs of the kernels of one program; returns how often."""
    source = joint_source((k.source_parts, f"kernel_{number}") for number, k in enumerate(kernels))
    count, expected = 0, None
    with tempfile.TemporaryDirectory() as folder:
        for number, builder in enumerate(builders):
            library = Path(folder) / f"{number}.so"
            if refusal := builder.build(source, library):
                print(f"{name}: {builder} refuses: {refusal}", flush=True)
                count += 1
                continue
            got = outputs_of(library, kernels)
            expected = expected or got
            for kernel, ours, theirs in zip(kernels, got, expected, strict=True):
                if what := differences(ours, theirs):
                    count += 1
                    print(f"{name}: {kernel.name}, {builder}: {what}", flush=True)
                    if keep is not None:
                        digest = hashlib.sha256(kernel.source.encode()).hexdigest()[:8]
                        (keep / f"{kernel.name}.{digest}.c").write_text(kernel.source)
    return count


def programs(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The programs of the files, and random ones, each with its name."""
    for file in options.files:
        yield str(file), file.read_text()
    if options.random:
        from modules.generate import random_program

        for number in range(options.random):
            yield f"module {options.seed}/{number}", random_program(f"{options.seed}/{number}").text()


def batches(options: argparse.Namespace) -> Iterator[tuple[str, list[Kernel]]]:
    """The distinct kernels of each file, and of batches of random modules: starting a compiler takes long."""
    seen: set[str] = set()
    gathered: list[Kernel] = []
    for number, (name, text) in enumerate(programs(options)):
        try:
            kernels = ix.emit_all(ix.hlo.parse(text), dialect="c")
        except ix.IndexingError as refusal:
            print(f"{name}: {str(refusal).splitlines()[0]}")
            continue
        new = {k.source: k for k in kernels if k.source not in seen and size_of(k) <= MAX_BYTES}
        seen.update(new)
        gathered += new.values()
        is_random = number >= len(options.files)
        if gathered and (not is_random or (number + 1) % BATCH == 0):
            yield name, gathered
            gathered = []
    if gathered:
        yield name, gathered


def size_of(kernel: Kernel) -> int:
    """The bytes of all buffers."""
    return sum(a.element_count * element_type(a.element_type).dtype.itemsize for a in kernel.arguments)


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("files", type=Path, nargs="*")
    given.add_argument("--compiler", action="append", required=True, help="a command; may be given several times")
    given.add_argument("--options", action="append", help="flags, as in --options='-O2 -g'; may be given several times")
    given.add_argument("--random", type=int, default=0, help="how many random modules")
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--keep", type=Path, help="a folder for the sources of kernels whose results differ")
    options = given.parse_args()
    flags = [tuple(shlex.split(o)) for o in options.options or ["", "-O0"]]
    commands = [tuple(shlex.split(c)) for c in options.compiler]
    builders = [Builder(c, f) for c in commands for f in reversed(flags)]
    differing = count = 0
    for name, kernels in batches(options):
        count += len(kernels)
        differing += compare(name, kernels, builders, options.keep)
    print(f"{count} kernels, {len(builders)} compilers with options: {differing} differences")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
