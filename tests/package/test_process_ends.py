"""Forks and the end of a process while other threads are at work: what they hold is not missed."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import indexing as ix
from indexing import lazy
from indexing.cached import cached_property
from indexing.indexing_analysis.computations import maps_of
from indexing.lazy import imported
from indexing.runtime import host_memory
from indexing.runtime.host_memory import MIN_POOLED, leased_bytes

MAX_WAIT = 60.0  # seconds for what takes a moment
NUMBERS = "ENTRY e { p = f32[64,32] parameter(0) ROOT n = f32[64,32] negate(p) }"


class Waiting:
    """Two properties that need those of another object, and a call before they do."""

    def __init__(self, before: Callable[[], object], other: "Waiting | None" = None) -> None:
        self.before, self.other = before, other

    @cached_property
    def one(self) -> int:
        """From `two` of the other one."""
        self.before()
        return 1 + (self.other.two if self.other else 0)

    @cached_property
    def two(self) -> int:
        """From `one` of the other one."""
        self.before()
        return 1 + (self.other.one if self.other else 0)


def test_threads_do_not_wait_for_each_other_s_properties() -> None:
    met = threading.Barrier(2, timeout=MAX_WAIT)
    first = Waiting(met.wait, Waiting(lambda: None))
    second = Waiting(met.wait, Waiting(lambda: None))
    values: list[int] = []
    threads = [
        threading.Thread(target=lambda: values.append(first.one), daemon=True),
        threading.Thread(target=lambda: values.append(second.two), daemon=True),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(MAX_WAIT)
    assert values == [2, 2]


def test_threads_get_one_value_of_a_property() -> None:
    met = threading.Barrier(4, timeout=MAX_WAIT)

    class Made:
        @cached_property
        def value(self) -> object:
            """A new object."""
            met.wait()
            return object()

    made, values = Made(), list[object]()
    threads = [threading.Thread(target=lambda: values.append(made.value)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 4 and set(values) == {made.value}


def test_a_property_of_the_class_is_the_property() -> None:
    assert isinstance(Waiting.one, cached_property) and Waiting.one.__doc__ == "From `two` of the other one."


# ---------------------------------------------------------------- forks


def ends_well(work: Callable[[], object]) -> bool:
    """Whether a forked process does the work within a moment; so it is where the system has no fork."""
    if not hasattr(os, "fork"):
        return True
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)
    end = time.monotonic() + MAX_WAIT
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


def importing(name: str, until: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> threading.Thread:
    """A thread that is inside of an import of a new module, until so."""
    (tmp_path / f"{name}.py").write_text(f"import sys, time\nbegun = True\nwhile not ({until}): time.sleep(0.01)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = threading.Thread(target=imported, args=[name])
    thread.start()
    while not hasattr(sys.modules.get(name), "begun"):
        time.sleep(0.001)
    return thread


def test_a_fork_waits_for_imports_of_other_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = importing("loads_slowly", f"time.monotonic() > {time.monotonic() + 1}", tmp_path, monkeypatch)
    assert ends_well(lambda: imported("loads_slowly"))
    thread.join()


def test_a_fork_does_not_wait_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "MAX_FORK_WAIT", 0.01)
    thread = importing("waits_to_load", "hasattr(sys.modules[__name__], 'go')", tmp_path, monkeypatch)
    assert ends_well(lambda: os._exit(len(lazy._importing)))  # whoever imported is not in the child
    vars(sys.modules["waits_to_load"])["go"] = True
    thread.join()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_while_a_property_is_computed() -> None:
    begun, done = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        done.wait(MAX_WAIT)

    thread = threading.Thread(target=lambda: Waiting(wait).one)
    thread.start()
    begun.wait(MAX_WAIT)
    try:
        assert ends_well(lambda: Waiting(lambda: None).one)
    finally:
        done.set()
        thread.join()


def test_a_fork_while_memory_is_leased() -> None:
    with host_memory._POOL._lock:
        before = time.monotonic()
        assert ends_well(lambda: [leased_bytes(MIN_POOLED) for _ in range(10_000)])
        assert time.monotonic() - before < MAX_WAIT


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_while_a_thread_is_inside_of_the_maps_of_the_same_module() -> None:
    chain = [f"x{k} = f32[8,8] transpose(x{k - 1}), dimensions={{1,0}}" for k in range(1, 2000)]
    text = "\n".join(["ENTRY e {", "x0 = f32[8,8] parameter(0)", *chain[:-1], f"ROOT {chain[-1]}", "}"])
    entry = ix.hlo.parse(text).entry
    order = list(entry.instructions.values())[::-1]
    known = maps_of(entry.module)
    start = known.identity(order[0], 0)
    known.propagate({order[0]: {0: start}}, order)  # which states the formulas
    arguments = (entry.row, [(order[0].row, [(0, start)])], [i.row for i in order])

    def reach() -> None:
        assert len(known._core.propagate(*arguments)) == len(order)

    ends = threading.Event()
    thread = threading.Thread(target=lambda: [reach() for _ in iter(ends.is_set, True)])
    thread.start()
    try:
        for _ in range(40):
            assert ends_well(reach)
            time.sleep(0.001)
    finally:
        ends.set()
        thread.join()
    reach()


# ---------------------------------------------------------------- the end of the process

AT_WORK = {
    "simplify": "ix.simplify_all(maps)",
    "maps": "str(ix.maps(ix.hlo.parse(text)))",
    "analyze": "ix.analyze(ix.hlo.parse(text), device='h100')",
}


@pytest.mark.parametrize("name", AT_WORK)
def test_a_process_ends_while_threads_are_at_work(name: str) -> None:
    program = f"""
        import threading, time
        import indexing as ix
        text = {NUMBERS!r}
        maps = [ix.IndexingMap.parse(f"(d0) -> (d0 floordiv {{k}} + d0 mod 7), domain: d0 in [0, 9999]") for k in range(1, 3000)]
        begun = threading.Semaphore(0)
        def work():
            {AT_WORK[name]}
            begun.release()
            while True:
                {AT_WORK[name]}
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        for _ in range(3):
            begun.acquire()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_views_of_a_program_are_one_for_all_threads() -> None:
    for _ in range(20):
        module = ix.hlo.parse(NUMBERS)
        with ThreadPoolExecutor(4) as pool:
            views = list(pool.map(lambda module: module.entry.root, [module] * 4))
        assert {id(view) for view in views} == {id(module.entry.root)}
