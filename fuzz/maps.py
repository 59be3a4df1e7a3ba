"""Random maps through the simplifier, judged at every point of their domain, and by isl where domains are large.

    python fuzz/maps.py --count N [--seed S] [--first I] [--jobs J]

Prints the seed. A failure prints the map, its answer, and the command that makes it again; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import indexing as ix

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))
from exact_maps import Map, Style, random_map, read

SMALL = Style()
#: Maps of these styles take turns.
STYLES = (SMALL, Style(shared_dividends=True))
BATCH = 500


def check(source: Map) -> str | None:
    """What is wrong with the simplified form of a map; None when nothing is, "overflow" when it was refused."""
    try:
        answer = str(ix.IndexingMap.parse(str(source)).simplify())
    except ix.Overflow:
        return "overflow"
    again = str(ix.IndexingMap.parse(answer).simplify())
    if again != answer:
        return f"not idempotent: {answer}\n  becomes {again}"
    inside = [point for point in source.box() if source.contains(point)]
    if answer == "KNOWN EMPTY":
        return f"lost {inside[0]}: {answer}" if inside else None
    simplified = read(answer)
    if simplified.groups != source.groups:
        return f"other variables: {answer}"
    wrong = compare(source, simplified, inside)
    return wrong and f"{wrong}: {answer}"


def compare(source: Map, simplified: Map, inside: list[dict[str, int]]) -> str | None:
    """Where two maps over the same variables differ: a point lost or added, or another value."""
    for point in inside:
        if not simplified.contains(point):
            return f"lost {point}"
        if simplified.at(point) != source.at(point):
            return f"at {point}: {simplified.at(point)} instead of {source.at(point)}"
    for name, (low, high) in simplified.bounds.items():
        if low < source.bounds[name][0] or high > source.bounds[name][1]:
            return f"the bounds of {name} grew"
    members = len(inside)
    if sum(1 for point in simplified.box() if simplified.contains(point)) != members:
        return "added a point"
    return None


def run_batch(seed: int, first: int, count: int) -> tuple[int, list[tuple[int, str, str]]]:
    """Check maps `first` to `first + count - 1` of a seed; returns how many were refused, and the failures."""
    refused, failures = 0, []
    for number in range(first, first + count):
        source = random_map(random.Random(f"{seed}/{number}"), STYLES[number % len(STYLES)])
        try:
            wrong = check(source)
        except BaseException as error:  # a panic is no Exception; anything but an answer is a finding
            wrong = f"{type(error).__name__}: {error}"
        if wrong == "overflow":
            refused += 1
        elif wrong:
            failures.append((number, str(source), wrong))
    return refused, failures


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    chosen = options.parse_args()
    seed = secrets.randbits(32) if chosen.seed is None else chosen.seed
    print(f"seed {seed}, {chosen.count} maps", flush=True)
    start = time.perf_counter()
    starts = range(chosen.first, chosen.first + chosen.count, BATCH)
    counts = [min(BATCH, chosen.first + chosen.count - s) for s in starts]
    refused, failures = 0, []
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for overflowed, wrong in pool.map(run_batch, [seed] * len(counts), starts, counts):
            refused += overflowed
            for number, source, why in wrong:
                failures.append(number)
                print(f"\n{source}\n  {why}\n  again: make fuzz SEED={seed} FIRST={number} N=1", flush=True)
    seconds = time.perf_counter() - start
    print(f"{chosen.count} maps in {seconds:.0f} s: {len(failures)} wrong, {refused} refused for overflow")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
