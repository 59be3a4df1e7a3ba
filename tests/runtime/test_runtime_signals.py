"""Signals while a kernel runs: Ctrl-C ends a long one between its blocks, and the threads are ready for the next."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from indexing.runtime.device import Buffer
from indexing.runtime.host import Host
from indexing.runtime.host_kernel import HostKernel
from indexing.runtime.host_memory import address, aligned_bytes
from indexing.runtime.tape import Tape

BLOCKS, FEW = 20_000, 400  # of a millisecond each
# A block that finds a 2 interrupts the process.
SOURCE = """#include <signal.h>
#include <unistd.h>
void slow(void *const *buffers, long long first, long long last) {
  volatile int *marks = buffers[0];
  for (long long k = first; k < last; k++) {
    if (marks[k] == 2) kill(getpid(), SIGINT);
    usleep(1000);
    marks[k] = 1;
  }
}
"""


@pytest.fixture(autouse=True)
def _raising() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def slow(blocks: int) -> HostKernel:
    return HostKernel("slow", SOURCE, (blocks, 1, 1), 1)


def marks(blocks: int, signals: bool = True) -> np.ndarray:
    array = aligned_bytes(4 * blocks).view(np.int32)
    array[:] = 0
    array[0] = 2 * signals
    return array


def launched(array: np.ndarray) -> None:
    slow(array.size).launch([address(array)])


def timed(array: np.ndarray) -> None:
    slow(array.size).clock([[Buffer(array, array.nbytes)]])(0, 1)


def replayed(array: np.ndarray) -> None:
    tape = Tape(kernels=[slow(array.size)], sizes=[array.nbytes], arguments=[0])
    tape.launch(0, [0])
    tape.end()
    Host().program(tape).run([Buffer(array, array.nbytes)], lambda number, buffer: None)


@pytest.mark.parametrize("run", [launched, timed, replayed])
def test_a_long_kernel_ends_between_its_blocks(run: Callable[[np.ndarray], None]) -> None:
    for _ in range(2):
        array = marks(BLOCKS)
        with pytest.raises(KeyboardInterrupt):
            run(array)
        assert 0 < (array == 1).sum() < BLOCKS
        done = array.copy()
        whole = marks(FEW, signals=False)
        launched(whole)
        assert (whole == 1).all()  # the threads are ready
        assert (array == done).all()  # and none works on the launch before


def test_a_kernel_that_was_interrupted_runs_again() -> None:
    kernel, array = slow(BLOCKS), marks(BLOCKS)
    for _ in range(3):
        array[:FEW] = 2
        with pytest.raises(KeyboardInterrupt):
            kernel.launch([address(array)])
        assert not (array == 1).all()


def test_the_exception_is_that_of_the_handler() -> None:
    def fail(number: int, frame: object) -> None:
        raise ZeroDivisionError("of the handler")

    signal.signal(signal.SIGINT, fail)
    with pytest.raises(ZeroDivisionError, match="of the handler"):
        launched(marks(BLOCKS))


def test_a_handler_that_returns_lets_the_kernel_go_on() -> None:
    handled: list[int] = []
    array = marks(FEW)
    signal.signal(signal.SIGINT, lambda number, frame: handled.append((array == 1).sum()))
    launched(array)
    assert (array == 1).all()
    assert len(handled) == 1 and handled[0] < FEW  # while it ran


def test_a_kernel_beside_another_threads_ends_too() -> None:
    """The pool is at work for another thread: this one runs alone."""
    others = marks(FEW * 3, signals=False)
    other = threading.Thread(target=launched, args=(others,))
    other.start()
    while not others.any():
        pass
    array = marks(BLOCKS)
    with pytest.raises(KeyboardInterrupt):
        launched(array)
    other.join()
    assert (others == 1).all() and not (array == 1).all()


def test_a_thread_that_handles_no_signals_runs_its_kernel_to_the_end() -> None:
    handled: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: handled.append(number))
    array = marks(FEW)
    worker = threading.Thread(target=launched, args=(array,))
    worker.start()
    worker.join()
    assert (array == 1).all() and handled == [signal.SIGINT]
