"""Devices that kernels of programs run on: the CPU, by the C target, and a runner of PTX that checks each access.

The memory that kernels write holds a pattern before each call, so that elements that nobody writes are seen.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import indexing as ix
from indexing import hlo
from indexing.kernels import knobs_of
from indexing.kernels.kernel import Kernel
from indexing.planning.program import KnobChoice
from indexing.runtime.device import Buffer
from indexing.runtime.host import Host
from indexing.runtime.host_memory import ALIGNMENT
from indexing.runtime.identity import described

PATTERNS = (0xA5, 0x00)  # a buffer's bytes in each call; as elements of pred these are true and false
MARGIN = 16 * ALIGNMENT  # bytes
UNWRITTEN = 0x5A  # the value of each byte before a kernel runs
ARCHITECTURES = ("80", "90")
Opener = Callable[[], Any]  # a device, with `pattern` and `errors`


class FilledHost(Host):
    """The CPU; new memory holds the pattern, between margins that nobody may write."""

    pattern = PATTERNS[0]

    def __init__(self) -> None:
        super().__init__()
        self._memory: list[np.ndarray] = []

    def empty(self, nbytes: int) -> Buffer:
        """A buffer of the pattern."""
        memory = np.asarray(super().empty(nbytes + 2 * MARGIN).handle)
        memory[:] = UNWRITTEN
        inside = memory[MARGIN : len(memory) - MARGIN]
        inside[:] = self.pattern
        self._memory.append(memory)
        return Buffer(inside, nbytes)

    def errors(self) -> list[str]:
        """Buffers whose margins were written."""
        sides = (("before", slice(None, MARGIN)), ("behind", slice(-MARGIN, None)))
        return [
            f"memory {name} a buffer of {len(m) - 2 * MARGIN} bytes was written"
            for m in self._memory
            for name, side in sides
            if (m[side] != UNWRITTEN).any()
        ]


def chosen(chance: random.Random, options: argparse.Namespace) -> dict[str, Opener]:
    """The devices for a module, by name: by the shares of the command line."""
    openers: dict[str, Opener] = {}
    if chance.random() < options.kernels:
        openers["cpu"] = FilledHost
    if options.ptx and chance.random() < options.ptx_share:
        arch = chance.choice(ARCHITECTURES)
        openers["ptx"] = ptx_opener(options.ptx, arch)
    return openers


def random_plans(seed: str, device: Any) -> KnobChoice:
    """Legal plans of kernels on a device, another one for each."""
    planned_for, chance = described(device), random.Random(seed)

    def choose(computation: hlo.Computation) -> dict[str, int]:
        try:
            columns = knobs_of(computation, planned_for).sample(1, chance.getrandbits(32))
        except ix.UnsupportedOp:
            return {}
        return {name: int(values[0]) for name, values in columns.items()}

    return choose


def ptx_opener(folder: Path, arch: str) -> Opener:
    """The opener of the runner in a folder: its `check.py` has `Kernels(arch)` and `PtxDevice(kernels)`; docs/fuzzing.md."""
    return lambda: _ptx_device(folder)(arch)


@cache
def _ptx_device(folder: Path) -> Callable[[str], Any]:
    sys.path.insert(0, str(folder))  # the runner's own modules
    spec = importlib.util.spec_from_file_location("ptx_runner", folder / "check.py")
    assert spec is not None and spec.loader is not None
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)

    class FilledPtx(runner.PtxDevice):  # type: ignore[misc, name-defined]
        """The runner's device; the memory of results holds the pattern when a kernel is launched."""

        pattern = PATTERNS[0]

        def __init__(self, arch: str) -> None:
            super().__init__(runner.Kernels(arch))

        def load(self, kernel: Kernel) -> Callable[[Sequence[Buffer]], object]:
            launch = super().load(kernel)
            passed = [a for a in kernel.arguments if a.alias_of is None]

            def filled(buffers: Sequence[Buffer]) -> object:
                for argument, buffer in zip(passed, buffers, strict=True):
                    if argument.kind == "output":
                        buffer.handle[:] = self.pattern  # type: ignore[index]
                return launch(buffers)

            return filled

        def errors(self) -> list[str]:
            """What the runner found in the launches so far."""
            return [str(e) for reports in self.kernels.reports.values() for report in reports for e in report.errors]

    return FilledPtx
