"""Many files by many processes, of this machine or of a Ray cluster. What dies on the way is done again."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from indexing.report.file_rows import FileRows, Source, failed, rows_of_file
from indexing.runtime.ray_cluster import connected

if TYPE_CHECKING:
    from indexing.analysis.device import Device

Work: TypeAlias = "Callable[[Source, bytes | None, Device], FileRows]"
UNDER_WAY = 4  # files that a worker has been handed
RETRIES = 5  # of a file on Ray, when nodes die
_DIED = "the process that analyzed it died, twice: it may need more memory than there is"


def by_processes(
    sources: Sequence[Source], device: Device, workers: int, work: Work = rows_of_file
) -> Iterator[FileRows]:
    """The rows of each file, in the order in which they are done.

    When a process dies, those under way are done again one by one, so that the one that kills it is found.
    """
    waiting, suspects = deque(sources), deque[Source]()
    while waiting or suspects:
        one_by_one = bool(suspects)
        pool = ProcessPoolExecutor(1 if one_by_one else workers, get_context("spawn"), _end_with_parent)
        try:
            at_once = 1 if one_by_one else UNDER_WAY * workers
            lost = yield from _until_one_dies(pool, work, suspects or waiting, at_once, device)
        finally:
            pool.shutdown(cancel_futures=True)
        if one_by_one:
            yield from (failed(source, device, _DIED) for source in lost)
        else:
            suspects.extend(lost)


def _end_with_parent() -> None:
    """Let this process end when the one that began it does, even by a kill: it would wait for work forever."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _until_one_dies(
    pool: ProcessPoolExecutor, work: Work, waiting: deque[Source], at_once: int, device: Device
) -> Generator[FileRows, None, list[Source]]:
    """The rows of those that are done; in the end those that were under way when a process died."""
    running: dict[Future[FileRows], Source] = {}
    lost: list[Source] = []
    while (waiting or running) and not lost:
        while waiting and len(running) < at_once:
            try:
                running[pool.submit(work, waiting[0], None, device)] = waiting[0]
            except BrokenExecutor:  # told by those that run, where there are any
                break
            waiting.popleft()
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            source, failure = running.pop(future), future.exception()
            if isinstance(failure, BrokenExecutor):
                lost.append(source)
            elif failure is not None:
                yield failed(source, device, f"{type(failure).__name__}: {failure}")
            else:
                yield future.result()
        if not done:
            break
    return lost + list(running.values()) if lost else lost


def by_ray(sources: Sequence[Source], device: Device, address: str) -> Iterator[FileRows]:
    """The same on the Ray cluster at `address` ("local" begins one here). Nodes need this package, not the files."""
    with connected(address) as ray:
        yield from _on_cluster(ray, deque(sources), device)


def _on_cluster(ray: Any, waiting: deque[Source], device: Device) -> Iterator[FileRows]:
    task = ray.remote(max_retries=RETRIES)(rows_of_file)
    most = UNDER_WAY * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    running: dict[Any, Source] = {}
    while waiting or running:
        while waiting and len(running) < most:
            source = waiting.popleft()
            try:
                running[task.remote(source, Path(source.path).read_bytes(), device)] = source
            except OSError as error:
                yield failed(source, device, f"{type(error).__name__}: {error}")
        done, _ = ray.wait(list(running), num_returns=1) if running else ([], [])
        for reference in done:
            source = running.pop(reference)
            try:
                yield ray.get(reference)
            except ray.exceptions.RayError as error:
                yield failed(source, device, f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}")
