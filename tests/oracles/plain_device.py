"""A device as a user brings one: the protocol of `indexing.runtime.device.Device` and nothing else, here on the CPU."""

from collections.abc import Callable, Sequence

import numpy as np

from indexing.runtime.device import Buffer, CompilableKernel, Launch
from indexing.runtime.host import Host


class PlainDevice:
    """Runs kernels in C one by one. `on_launch` is called before each launch, with its buffers."""

    name = "plain"
    dialect = "c"

    def __init__(self, on_launch: Callable[[Sequence[Buffer]], None] | None = None) -> None:
        self._host = Host()
        self.on_launch = on_launch

    def empty(self, nbytes: int) -> Buffer:
        return self._host.empty(nbytes)

    def upload(self, array: np.ndarray) -> Buffer:
        return self._host.upload(array)

    def share(self, array: np.ndarray) -> Buffer:
        return self._host.share(array)

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        return self._host.download(buffer, dtype, shape)

    def copy(self, source: Buffer, target: Buffer) -> None:
        self._host.copy(source, target)

    def finish(self) -> None:
        self._host.finish()

    def load(self, kernel: CompilableKernel) -> Launch:
        run = self._host.load(kernel)

        def launch(buffers: Sequence[Buffer]) -> None:
            if self.on_launch is not None:
                self.on_launch(buffers)
            run(buffers)

        return launch


class DeviceWithMemory(PlainDevice):
    """A device whose memory the host cannot read: arguments and results are copied, never shared."""

    def share(self, array: np.ndarray) -> Buffer:
        return self.upload(array)

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        was_borrowed = buffer.borrowed
        array = super().download(buffer, dtype, shape).copy()
        buffer.borrowed = was_borrowed
        return array


class DeviceWithGraphs(DeviceWithMemory):
    """A device that runs several launches and copies at once, always on the memory of the first time; counts both."""

    graphs = True

    def __init__(self) -> None:
        super().__init__()
        self.made, self.replayed = 0, 0

    def address(self, buffer: Buffer) -> int:
        assert isinstance(buffer.handle, np.ndarray)
        return int(buffer.handle.ctypes.data)

    def graph(self, steps: Sequence[tuple[Launch | None, Sequence[Buffer]]]) -> Callable[[], None]:
        self.made += 1

        def replay() -> None:
            self.replayed += 1
            for launch, buffers in steps:
                if launch is None:
                    self.copy(buffers[1], buffers[0])
                else:
                    launch(buffers)

        return replay
