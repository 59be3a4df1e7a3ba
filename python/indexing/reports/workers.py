"""The rows of many files, computed by the processes of a Ray cluster. Tasks whose process dies are repeated."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from indexing.device.record import Device
from indexing.reports.file_rows import FileRows, Source, failed, rows_of_file
from indexing.runtime.ray_cluster import connected

RETRIES = 5  # a file is tried again so often when nodes die
UNDER_WAY = 4  # so many files a core has been handed


def by_ray(sources: Sequence[Source], device: Device, address: str, on_tick: Callable[[], None]) -> Iterator[FileRows]:
    """The rows of each file, in the order in which they are finished, by the Ray cluster at `address` ("local" starts one).

    Nodes need this package, not the files. `on_tick` is called at least once a second.
    """
    with connected(address) as ray:
        yield from _on_cluster(ray, deque(sources), device, on_tick)


def _on_cluster(ray: Any, waiting: deque[Source], device: Device, on_tick: Callable[[], None]) -> Iterator[FileRows]:
    task = ray.remote(max_retries=RETRIES)(rows_of_file)
    most = UNDER_WAY * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    running: dict[Any, Source] = {}
    while waiting or running:
        while waiting and len(running) < most:
            source = waiting.popleft()
            try:
                content = b"" if source.problem else source.place.read_bytes()
                running[task.remote(source, content, device)] = source
            except OSError as error:
                yield failed(source, device, f"{type(error).__name__}: {error}")
        on_tick()
        done, _ = ray.wait(list(running), num_returns=1, timeout=1) if running else ([], [])
        for reference in done:
            source = running.pop(reference)
            try:
                yield ray.get(reference)
            except ray.exceptions.RayError as error:
                yield failed(source, device, f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}")
