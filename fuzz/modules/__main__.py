"""Random HLO modules on jaxlib's CPU client, and here: accepted, evaluated, their maps, and kernels of half of them.

    cd fuzz && python -m modules --count N [--seed S] [--first I] [--tries T] [--kernels SHARE] [--ptx FOLDER] [--plans SHARE]

Prints the seed. A failure prints the module made smaller, what is wrong, and the command that makes it again; the exit
status is then 1. jaxlib may die of a module: it runs in a process of its own, which is started again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import secrets
import sys
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

from modules import worker

MAX_SECONDS = 300  # the time allowed for one module


class Runner:
    """Runs modules in a process of its own, and starts another where that one dies."""

    def __init__(self, seed: int, options: argparse.Namespace) -> None:
        self.seed, self.options = seed, options
        self.counts: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.failures: dict[int, str] = {}
        self.deaths: list[int] = []
        self.running: dict[int, str] = {}  # the module whose kernels run, and what is wrong if they end the process

    def run(self, first: int, count: int) -> None:
        context, last = multiprocessing.get_context("spawn"), first + count
        while first < last:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=worker.work, args=(sender, self.seed, range(first, last), self.options))
            process.start()
            sender.close()
            first = self._listen(receiver, first, last)
            process.kill()
            process.join()

    def _listen(self, receiver: Connection, first: int, last: int) -> int:
        """The module to go on with after the process ended or fell silent."""
        if not receiver.poll(MAX_SECONDS) or receiver.recv() != worker.READY:
            raise RuntimeError("the process that runs the modules doesn't start")
        answered, shrinking = first - 1, False
        while receiver.poll(MAX_SECONDS):
            try:
                number, verdict, text = receiver.recv()
            except EOFError:
                break
            if verdict == worker.KERNELS:
                self.running = {number: text}
                continue
            self.running, shrinking = {}, verdict == "failed"
            if verdict == "smaller":
                self.failures[number] = text
                self.report(number)
                continue
            self._count(number, verdict, text)
            answered = number
        if shrinking:
            self.report(answered)
            return answered + 1
        if answered + 1 < last:
            self._bury(answered + 1)
        return answered + 2

    def _count(self, number: int, verdict: str, text: str) -> None:
        self.counts[verdict] += 1
        if verdict == "refused by jaxlib":
            self.refusals[text[:100]] += 1
        if verdict == "failed":
            self.failures[number] = text

    def _bury(self, number: int) -> None:
        """Count a module at which the process died: of our kernels, if these were what it ran, else of jaxlib."""
        if number in self.running:
            self._count(number, "failed", self.running[number])
            self.report(number)
        else:
            self.deaths.append(number)

    def report(self, number: int) -> None:
        given = self.options
        again = f"python -m modules --seed {self.seed} --first {number} --count 1 --steps {given.steps}"
        again += f" --kernels {given.kernels} --plans {given.plans}"
        if given.ptx:
            again += f" --ptx {given.ptx} --ptx-share {given.ptx_share}"
        print(f"module {self.seed}/{number}: {self.failures[number]}\n  again: {again}\n", flush=True)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--steps", type=int, default=8, help="random instructions a module")
    options.add_argument("--tries", type=int, default=12, help="changed elements a module")
    options.add_argument("--kernels", type=float, default=0.5, help="the share of modules compiled for the C target")
    options.add_argument("--ptx", type=Path, help="the folder of a runner of PTX, where there is one; docs/fuzzing.md")
    options.add_argument("--ptx-share", type=float, default=0.05, help="the share of modules that it runs")
    options.add_argument(
        "--plans", type=float, default=0.5, help="the share of modules whose kernels have random plans"
    )
    given = options.parse_args()
    seed = secrets.randbits(32) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    runner, start = Runner(seed, given), time.perf_counter()
    try:
        runner.run(given.first, given.count)
    except KeyboardInterrupt:
        print("interrupted")
    judged = sum(runner.counts.values()) + len(runner.deaths)
    counts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(runner.counts.items()))
    print(f"{judged} modules in {time.perf_counter() - start:.0f} s: {counts}, jaxlib died of {len(runner.deaths)}")
    for text, count in runner.refusals.most_common(10):
        print(f"  refused by jaxlib, {count}: {text}")
    if runner.deaths:
        print(f"  jaxlib died of {runner.deaths[:20]}")
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
