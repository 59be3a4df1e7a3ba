"""Runs of tapes on devices that launch a series of kernels at once, as a graph."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from indexing.runtime.device import Buffer, GraphDevice, LaunchTimes
from indexing.runtime.interpreter import InterpretedRun
from indexing.runtime.tape import Tape

MAX_STEPS = 1024  # the most launches and copies of a graph
MAX_GRAPHS = 64  # a run remembers so many series
COPY = -1  # stands for a kernel's number
Step: TypeAlias = "tuple[int, tuple[Buffer, ...]]"  # a kernel, or a copy, and its buffers


class GraphedRun(InterpretedRun):
    """A run that holds launches and copies back until the host needs what they compute, or the tape ends.

    A series that comes again on the same memory is a graph from its second time on; of others nothing is kept.
    """

    def __init__(self, tape: Tape, device: GraphDevice) -> None:
        """Start with the tape's constants, and without graphs."""
        super().__init__(tape, device)
        self._graphs = device
        self._series: list[Step] = []
        self._known: OrderedDict[tuple[tuple[int, ...], ...], Callable[[], None] | None] = OrderedDict()

    def execute(self, times: LaunchTimes | None) -> None:
        """Run to the end; with `times`, launches are timed one by one."""
        self._series.clear()
        super().execute(times)
        self._run_series()

    def _launch(self, at: int) -> int:
        if self._times is not None:
            return super()._launch(at)
        kernel, count = self.tape.words[at + 1 : at + 3]
        self._hold(kernel, *self.tape.words[at + 3 : at + 3 + count])
        return at + 3 + count

    def _copy(self, at: int) -> int:
        if self._times is not None:
            return super()._copy(at)
        self._hold(COPY, *self.tape.words[at + 1 : at + 3])
        return at + 4

    def _host(self, at: int) -> int:
        self._run_series()
        return super()._host(at)

    def _download(self, register: int, dtype: np.dtype, sizes: tuple[int, ...]) -> np.ndarray:
        self._run_series()
        return super()._download(register, dtype, sizes)

    def _hold(self, kernel: int, *registers: int) -> None:
        self._series.append((kernel, tuple(map(self.buffer, registers))))
        if len(self._series) == MAX_STEPS:
            self._run_series()

    def _run_series(self) -> None:
        """Run what is held back: as a graph, if it has run on the same memory before."""
        address = self._graphs.address
        key = tuple((kernel, *map(address, buffers)) for kernel, buffers in self._series)
        steps = [(None if kernel == COPY else self.tape.kernels[kernel], buffers) for kernel, buffers in self._series]
        self._series.clear()
        is_known = key in self._known
        graph = self._known.pop(key, None)
        if graph is None and is_known:
            graph = self._graphs.graph(steps)
        if len(key) > 1:
            self._known[key] = graph
            if len(self._known) > MAX_GRAPHS:
                self._known.popitem(last=False)
        if graph is not None:
            return graph()
        for launch, buffers in steps:
            if launch is None:
                self.device.copy(buffers[1], buffers[0])
            else:
                launch(buffers)
        return None
