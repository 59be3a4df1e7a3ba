"""Work on many items by processes of this machine, within limits of time and memory. What a process that dies was working on is
done once more.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from indexing.errors import IndexingError
from indexing.lazy import imported, multiprocessing

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

Item = TypeVar("Item")
Result = TypeVar("Result")
TICK = 1.0  # seconds between two calls of `on_tick`, at most
MAX_DEATHS = 2  # an item is given up after so many processes died of it
MAX_KILLED_STARTS = 3  # processes that are killed one after another before they have started
MEBIBYTE = 1 << 20
MIN_ROOM = 32 * MEBIBYTE  # what a process may allocate before it works on anything, at least
# Reserved memory counts as allocated where it is writable: the core's allocator reserves a gibibyte that it may never use.
_ALLOCATOR = {"MIMALLOC_ARENA_EAGER_COMMIT": "0"}
_DIED = "the process that worked on it died, twice: it may need more memory than {}"
_NO_ROOM = "{} MiB of memory are too few for a process of this package, before it works on anything; allow 256 or more"
_NO_START = (
    "worker processes can't start (exit status {}): does the script call this below `if __name__ == '__main__':`?"
)
_KILLED = "worker processes are killed (signal {}) before they have started, {} in a row: is there enough memory?"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one item may take: `seconds`, and `mebibytes` of memory that its process allocates. None is no limit."""

    seconds: float | None = None
    mebibytes: int | None = None


NO_LIMITS = Limits()


def by_processes(
    items: Sequence[Item],
    workers: int,
    work: Callable[[Item], Result],
    failed: Callable[[Item, str], Result],
    limits: Limits = NO_LIMITS,
    on_tick: Callable[[], None] = lambda: None,
) -> Iterator[Result]:
    """The results of `work` on each item, in the order in which they are done; `failed` makes that of one that gave none.

    `on_tick` is called at least once a second. Items, results and `work` travel by pickle; processes are begun anew, so that a
    script calls this below `if __name__ == "__main__":`. Raises IndexingError if they can't start, or if the system can't limit
    their memory.
    """
    pool = _Pool(work, failed, limits, deque((item, 0) for item in items))
    try:
        pool.start(min(workers, len(items)))
        while pool.workers:
            on_tick()
            yield from pool.results()
    finally:
        pool.end()


@dataclass(slots=True, eq=False)
class _Worker(Generic[Item]):
    """A process, and the item that it works on: None until it has started, and between two."""

    process: SpawnProcess
    pipe: Connection
    item: Item | None = None
    deaths: int = 0
    begun: float = 0.0
    has_started: bool = False
    has_worked: bool = False


@dataclass(slots=True)
class _Pool(Generic[Item, Result]):
    work: Callable[[Item], Result]
    failed: Callable[[Item, str], Result]
    limits: Limits
    waiting: deque[tuple[Item, int]]
    workers: list[_Worker[Item]] = field(default_factory=list)
    killed_starts: int = 0

    def start(self, count: int) -> None:
        """Begin processes."""
        anew = multiprocessing.get_context("spawn")
        for _ in range(count):
            ours, theirs = anew.Pipe()
            process = anew.Process(target=_serve, args=(theirs, self.work, self.limits.mebibytes), daemon=True)
            with _environment(_ALLOCATOR if self.limits.mebibytes is not None else {}):
                process.start()
            theirs.close()
            self.workers.append(_Worker(process, ours))

    def end(self) -> None:
        """End all processes."""
        for worker in self.workers:
            self._kill(worker)

    def results(self) -> Iterator[Result]:
        """The results that are there within a second."""
        wait = imported("multiprocessing.connection").wait
        ready = set(wait([w.pipe for w in self.workers], self._patience()))
        for worker in list(self.workers):
            if worker.pipe in ready:
                yield from self._received(worker)
            elif worker.item is not None and self._remaining(worker) <= 0:
                yield self.failed(worker.item, f"it took longer than {self.limits.seconds:g} seconds")
                self._replace(worker)
        self._hand_out()

    def _patience(self) -> float:
        return max(min([TICK, *(self._remaining(w) for w in self.workers if w.item is not None)]), 0.0)

    def _remaining(self, worker: _Worker[Item]) -> float:
        if self.limits.seconds is None:
            return TICK
        return worker.begun + self.limits.seconds - time.monotonic()

    def _received(self, worker: _Worker[Item]) -> Iterator[Result]:
        """The result that a worker sent, or that of its death."""
        try:
            result, problem = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._died(worker)
            return
        if not worker.has_started:
            if problem is not None:
                raise IndexingError(problem)
            worker.has_started, self.killed_starts = True, 0
        elif worker.item is not None:
            yield result if problem is None else self.failed(worker.item, problem)
            worker.item = None

    def _died(self, worker: _Worker[Item]) -> Iterator[Result]:
        item, deaths = worker.item, worker.deaths + 1
        if not worker.has_started:
            self._check_start(worker.process)
        if item is not None and deaths < MAX_DEATHS:
            self.waiting.append((item, deaths))
        elif item is not None:
            most = self.limits.mebibytes
            yield self.failed(item, _DIED.format("there is" if most is None else f"the limit of {most} MiB"))
        self._replace(worker)

    def _check_start(self, process: SpawnProcess) -> None:
        """Raise IndexingError for a process that could not start, or if too many were killed before they had."""
        process.join()
        status = process.exitcode or 0
        self.killed_starts += 1
        if status >= 0:
            raise IndexingError(_NO_START.format(status))
        if self.killed_starts == MAX_KILLED_STARTS:
            raise IndexingError(_KILLED.format(-status, self.killed_starts))

    def _replace(self, worker: _Worker[Item]) -> None:
        self._kill(worker)
        self.workers.remove(worker)
        if self.waiting:
            self.start(1)

    def _hand_out(self) -> None:
        """Give idle workers an item; without one, they end. An item that ended a process has a new one, and no other works."""
        for worker in [w for w in self.workers if w.has_started and w.item is None]:
            busy = [w for w in self.workers if w.item is not None]
            if not self.waiting:
                self._kill(worker)
                self.workers.remove(worker)
            elif any(w.deaths for w in busy) or (busy and self.waiting[0][1]):
                continue
            elif worker.has_worked and self.waiting[0][1]:
                self._replace(worker)
            else:
                self._hand(worker, *self.waiting.popleft())

    def _hand(self, worker: _Worker[Item], item: Item, deaths: int) -> None:
        worker.item, worker.deaths, worker.begun, worker.has_worked = item, deaths, time.monotonic(), True
        with suppress(OSError):  # it died meanwhile, which the next `recv` tells
            worker.pipe.send(item)

    def _kill(self, worker: _Worker[Item]) -> None:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Let processes that are begun meanwhile have these variables, unless the user has set them."""
    added = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _serve(pipe: Connection, work: Callable[[Any], Any], mebibytes: int | None) -> None:
    """Work on items until the pipe is closed; answers are a result, or None and what was wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    _end_with_parent()
    pipe.send((None, _limit_memory(mebibytes)))
    has_worked = False
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        answer, has_worked = _answer(work, item, has_worked), True
        try:
            pipe.send(answer)
        except BaseException as error:  # the result can't travel
            pipe.send((None, f"{type(error).__name__}: {error}"))


def _answer(work: Callable[[Any], Any], item: Any, has_worked: bool) -> tuple[Any, str | None]:
    """The result, or what was wrong. Without memory, a process that has worked on other items ends: a new one tries again."""
    try:
        return work(item), None
    except BaseException as error:  # whatever it is, a panic of the core too, it is the answer for this item
        if isinstance(error, MemoryError) and has_worked:
            os._exit(1)
        return None, f"{type(error).__name__}: {error}"


def _limit_memory(mebibytes: int | None) -> str | None:
    """Limit what this process may allocate; the reason why that can't be done."""
    if mebibytes is None:
        return None
    try:
        resource = imported("resource")
        before, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (min(mebibytes * MEBIBYTE, sys.maxsize), most))
    except (ImportError, OSError, ValueError) as error:
        return f"the memory of processes can't be limited on this system: {error}; leave out the limit"
    try:
        bytearray(MIN_ROOM)
    except MemoryError:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))
        return _NO_ROOM.format(mebibytes)
    # What the core writes when it can't allocate, with its callers, says less than the row of the item does.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return None


def _end_with_parent() -> None:
    """Let this process end when the one that began it does, even by a kill: it would wait for work forever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
