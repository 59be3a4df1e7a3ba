"""What a language costs: the same maps read, simplified and composed through Rust, C, Python one by one, and Python in batch.

    python benches/languages.py [--rounds 30]

Needs `cargo build --release` in benches/core, and of the crate indexing-capi in the workspace. Each map counts as often as it
takes part: two are read for each pair. The least of the rounds counts, so that what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import indexing as ix

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "core" / "corpus.maps"
RUST = HERE / "core" / "target" / "release" / "languages"
LIBRARY = HERE.parent / "target" / "release" / "libindexing.a"
STEPS = ("read two maps", "simplify a map", "compose two and simplify")
HEAD = ("language", *(f"{s}, us" for s in STEPS), "of Rust's time")
WIDE = 1_000_000_000


def pairs(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Each map, with an identity on what it gives."""
    return [(line, identity(len(ix.IndexingMap.parse(line).results))) for line in lines]


def identity(results: int) -> str:
    names = ", ".join(f"d{k}" for k in range(results))
    domain = ", ".join(f"d{k} in [-{WIDE}, {WIDE}]" for k in range(results))
    return f"({names}) -> ({names}), domain: {domain}" if results else "() -> ()"


def built(file: Path, options: str) -> Path:
    """A file that cargo builds; ends the program if it is missing, and says what builds it."""
    if not file.exists():
        raise SystemExit(f"{file} is missing: run `cargo build --release {options}` first, as `make bench` does")
    return file


def by_program(command: Sequence[str | Path], given: Sequence[tuple[str, str]], rounds: int) -> list[float]:
    """Nanoseconds a step, as a program in another language tells them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs"
        file.write_text("".join(f"{first}\t{second}\n" for first, second in given))
        done = subprocess.run([*command, file, str(rounds)], check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def in_c(given: Sequence[tuple[str, str]], rounds: int) -> list[float]:
    compiler = os.environ.get("CC") or shutil.which("cc") or "gcc"
    include = HERE.parent / "rust" / "capi" / "include"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "languages"
        sources = [HERE / "languages.c", built(LIBRARY, "-p indexing-capi")]
        flags = ["-std=c11", "-O2", "-I", include, "-lm", "-lpthread", "-ldl", "-o", program]
        subprocess.run([compiler, *sources, *flags], check=True)
        return by_program([program], given, rounds)


def in_python(given: Sequence[tuple[str, str]], rounds: int) -> list[float]:
    """One call an item."""

    def once() -> list[float]:
        reading, maps = timed(lambda: [(ix.IndexingMap.parse(a), ix.IndexingMap.parse(b)) for a, b in given])
        simplifying, _ = timed(lambda: [a.simplify() for a, _ in maps])
        composing, _ = timed(lambda: [ix.compose(a, b).simplify() for a, b in maps])
        return [reading, simplifying, composing]

    return least(once, rounds, len(given))


def in_batch(given: Sequence[tuple[str, str]], rounds: int) -> list[float]:
    """One call for all, on one thread."""
    texts = [text for pair in given for text in pair]

    def once() -> list[float]:
        reading, maps = timed(lambda: ix.parse_all(texts, threads=1))
        simplifying, _ = timed(lambda: ix.simplify_all(maps[::2], threads=1))
        composing, _ = timed(lambda: ix.compose_all(list(zip(maps[::2], maps[1::2], strict=True)), threads=1))
        return [reading, simplifying, composing]

    return least(once, rounds, len(given))


def timed(work: Callable[[], list]) -> tuple[float, list]:
    start = time.perf_counter()
    made = work()
    return time.perf_counter() - start, made


def least(once: Callable[[], list[float]], rounds: int, count: int) -> list[float]:
    """Nanoseconds an item."""
    return [min(step) * 1e9 / count for step in zip(*(once() for _ in range(rounds)), strict=True)]


def rows(rounds: int = 30) -> list[list[str]]:
    """A row a language: microseconds of each step, and the sum of all over Rust's."""
    given = pairs(CORPUS.read_text().splitlines())
    by_language = {
        "Rust": by_program([built(RUST, "--manifest-path benches/core/Cargo.toml")], given, rounds),
        "C": in_c(given, rounds),
        "Python, one by one": in_python(given, rounds),
        "Python, in batch": in_batch(given, rounds),
    }
    rust = sum(by_language["Rust"])
    return [
        [name, *(f"{t / 1e3:.2f}" for t in times), f"{sum(times) / rust:.2f}"] for name, times in by_language.items()
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=30)
    for row in [list(HEAD), *rows(options.parse_args().rounds)]:
        print("  ".join(cell.rjust(26) for cell in row))


if __name__ == "__main__":
    main()
