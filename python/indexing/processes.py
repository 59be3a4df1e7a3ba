"""Work on many items by processes of this machine. What is under way when a process dies is done again."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from indexing.lazy import futures, multiprocessing

__all__ = ["UNDER_WAY", "by_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")
UNDER_WAY = 4  # items that a worker has been handed
_DIED = "the process that worked on it died, twice: it may need more memory than there is"


def by_processes(
    items: Sequence[Item], workers: int, work: Callable[[Item], Result], failed: Callable[[Item, str], Result]
) -> Iterator[Result]:
    """The results of `work` on each item, in the order in which they are done; `failed` makes that of one that gave none.

    When a process dies, the items under way are done again one by one, so that the one that kills it is found. Items,
    results and `work` travel by pickle; processes are begun anew, so that a script calls this below
    `if __name__ == "__main__":`.
    """
    pool = _Pool(work, failed)
    waiting, suspects = deque(items), deque[Item]()
    while waiting or suspects:
        one_by_one = bool(suspects)
        count, anew = 1 if one_by_one else workers, multiprocessing.get_context("spawn")
        processes = futures.ProcessPoolExecutor(count, anew, _end_with_parent)
        try:
            at_once = 1 if one_by_one else UNDER_WAY * workers
            lost = yield from pool.until_one_dies(processes, suspects or waiting, at_once)
        finally:
            processes.shutdown(cancel_futures=True)
        if one_by_one:
            yield from (failed(item, _DIED) for item in lost)
        else:
            suspects.extend(lost)


def _end_with_parent() -> None:
    """Let this process end when the one that began it does, even by a kill: it would wait for work forever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@dataclass(frozen=True, slots=True)
class _Pool(Generic[Item, Result]):
    work: Callable[[Item], Result]
    failed: Callable[[Item, str], Result]

    def until_one_dies(
        self, processes: futures.ProcessPoolExecutor, waiting: deque[Item], at_once: int
    ) -> Generator[Result, None, list[Item]]:
        """The results of those that are done; in the end the items that were under way when a process died."""
        running: dict[futures.Future[Result], Item] = {}
        lost: list[Item] = []
        while (waiting or running) and not lost:
            while waiting and len(running) < at_once:
                try:
                    running[processes.submit(self.work, waiting[0])] = waiting[0]
                except futures.BrokenExecutor:  # told by those that run, where there are any
                    break
                waiting.popleft()
            done, _ = futures.wait(running, return_when=futures.FIRST_COMPLETED)
            for future in done:
                item, failure = running.pop(future), future.exception()
                if isinstance(failure, futures.BrokenExecutor):
                    lost.append(item)
                elif failure is not None:
                    yield self.failed(item, f"{type(failure).__name__}: {failure}")
                else:
                    yield future.result()
            if not done:
                break
        return lost + list(running.values()) if lost else lost
