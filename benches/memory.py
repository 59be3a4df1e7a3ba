"""Resident memory of a long run, and what threads gain: maps are made, simplified and dropped, all of them different.

    python benches/memory.py [--count 1000000]

Prints the resident size at each tenth of the run, in one thread and in two Python threads; then the time of batch calls
in one thread and in all cores, and of single calls from one Python thread and from two.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections.abc import Callable, Iterator

import indexing as ix

BATCH = 5_000


def texts(start: int, count: int) -> list[str]:
    """Maps that differ in their numbers."""
    return [
        f"(d0, d1)[s0] -> ((d0 * {k % 97 + 3} + d1 + s0 * {k}) mod {k % 89 + 7}, (d0 * 32 + d1) floordiv {k % 61 + 2}), "
        f"domain: d0 in [0, {k % 1013 + 9}], d1 in [0, 31], s0 in [0, {k // 1013 % 511 + 1}]"
        for k in range(start, start + count)
    ]


def resident() -> float:
    """Resident memory of this process, MiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def batches(start: int, count: int) -> Iterator[list[str]]:
    for first in range(start, start + count, BATCH):
        yield texts(first, min(BATCH, start + count - first))


def churn(start: int, count: int) -> None:
    """Make, simplify and drop."""
    for lines in batches(start, count):
        ix.simplify_all(ix.parse_all(lines, threads=1), threads=1)


def together(work: Callable[[int], None], threads: int) -> float:
    """Seconds until each of so many threads has done its share."""
    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - start


def flatness(count: int, threads: int) -> None:
    share = count // threads // 10
    sizes = []
    for tenth in range(10):
        together(lambda k, tenth=tenth: churn((tenth * threads + k) * share, share), threads)
        sizes.append(resident())
    shown = ", ".join(f"{size:.1f}" for size in sizes)
    print(f"{count:,} maps, {threads} thread(s): resident MiB after each tenth: {shown}", flush=True)


def scaling() -> None:
    count, cores = 200_000, os.cpu_count() or 1
    maps = ix.parse_all(texts(0, count))
    second = ix.IndexingMap.parse("(d0, d1) -> (d0 * 5 + d1 floordiv 3), domain: d0 in [0, 99], d1 in [0, 99]")
    pairs = [(m, second) for m in maps]
    calls: dict[str, Callable[[int], object]] = {
        "simplify_all": lambda threads: ix.simplify_all(maps, threads=threads),
        "compose_all": lambda threads: ix.compose_all(pairs, threads=threads),
    }
    for name, call in calls.items():
        one, all_cores = (
            1e6 / count * min(together(lambda _, n=n, call=call: call(n), 1) for _ in range(3)) for n in (1, cores)
        )
        print(f"{name}: {one:.2f} us a map in one thread, {all_cores:.2f} us in {cores}: {one / all_cores:.2f} times")

    def single(k: int) -> None:
        for m in maps[k * 50_000 : (k + 1) * 50_000]:
            m.simplify()

    one, two = together(single, 1), together(single, 2)
    print(f"m.simplify(), 50,000 a Python thread: {one:.2f} s for one, {two:.2f} s for two: {2 * one / two:.2f} times")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=1_000_000)
    count = options.parse_args().count
    for threads in (1, 2):
        flatness(count, threads)
    scaling()


if __name__ == "__main__":
    main()
