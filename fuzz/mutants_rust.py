"""Mutants of the core: a sample with a seed, of which `cargo test` must kill at least 95 in 100.

    python fuzz/mutants_rust.py --count 400 --seed 7 [--list] [WORD ...]

A mutant is a change of one operator, match arm or function body of the rules, ranges, constraints, intervals or sets;
words choose those that have all of them in their names. One build holds them all (`fuzz/schemata`), each is chosen by a
variable of the environment, and only the tests that come to its place, and in which a comparison would answer
otherwise, run on it. What survives is listed. A mutant under which a test does not end counts as killed: one that takes
30 seconds of the processor's time where it takes 5 without, or 8 GiB.

Mutants that change no answer stand in `fuzz/surviving_mutants.txt`, each with its reason. They do not count; one of the
sample that is killed nevertheless, and one that does not exist, is an error.
"""

import argparse
import json
import os
import random
import resource
import secrets
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMATA = ROOT / "fuzz" / "schemata" / "Cargo.toml"
SURVIVORS = ROOT / "fuzz" / "surviving_mutants.txt"
#: The copy of the core that holds the mutants, and what is built of it.
COPY = ROOT / "target" / "mutants_rust"
SOURCE = Path("rust/core/src")
PLACES = (
    "simplify/rules/*.rs",
    "simplify/range/*.rs",
    "simplify/constraints/*.rs",
    "simplify/congruence.rs",
    "simplify/preimage.rs",
    "interval.rs",
    "sets/*.rs",
)
#: Which mutant is chosen: its number, 0 for none; or `trace`, and the numbers that are come to go to a file.
CHOICE = """
/// Is this the mutant that `MUTANT` names? A test that fails on one ends its program: nothing more is to be found.
pub(crate) fn mutant(number: u32) -> bool {
    static CHOSEN: std::sync::LazyLock<Option<u32>> = std::sync::LazyLock::new(|| {
        let chosen = std::env::var("MUTANT").unwrap_or_default().parse().ok();
        if chosen.is_some() {
            std::panic::set_hook(Box::new(|_| std::process::exit(101)));
        }
        chosen
    });
    match *CHOSEN {
        Some(chosen) => chosen == number,
        None => reached(number),
    }
}

fn reached(number: u32) -> bool {
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};
    static SEEN: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];
    let seen = &SEEN[number as usize];
    if !seen.load(Ordering::Relaxed) && !seen.swap(true, Ordering::Relaxed) {
        let path = std::env::var("REACHED").expect("where MUTANT is no number");
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{number}").unwrap();
    }
    false
}
"""
#: The programs of tests that run on mutants: all but those of HLO's text, and of cost, which take long.
TESTS = (
    "lib",
    "points",
    "is_simplified",
    "maps",
    "intervals",
    "limits",
    "relations",
    "counting",
    "ranges",
    "forms",
    "facts",
    "strength",
    "canonical",
    "order",
    "sets",
    "simplify",
)
#: Of a program's tests, those that take less run together.
QUICK_SECONDS = 0.1
ENOUGH = 0.95
#: Far above what a test takes, of the processor's time: what takes longer doesn't end.
CPU_SECONDS = 30
MEMORY = 8 << 30


@dataclass(frozen=True)
class Mutant:
    number: int
    name: str  # file: function: change; equal ones of a function are numbered
    place: str  # file:line


def make_copy() -> None:
    """Copy the crates to where they may be changed."""
    for name in ("Cargo.toml", "Cargo.lock"):
        COPY.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, COPY / name)
    shutil.rmtree(COPY / "rust", ignore_errors=True)
    shutil.copytree(ROOT / "rust", COPY / "rust", ignore=shutil.ignore_patterns("target"))


def put_mutants_in(places: Sequence[str] = PLACES, *options: str) -> list[Mutant]:
    """Write all mutants into the copy."""
    files = [str(f.relative_to(COPY)) for place in places for f in sorted((COPY / SOURCE).glob(place))]
    run = ["cargo", "run", "--quiet", "--locked", "--release", "--manifest-path", str(SCHEMATA), "--", *options, *files]
    printed = subprocess.run(run, cwd=COPY, check=True, stdout=subprocess.PIPE, text=True).stdout
    with (COPY / SOURCE / "lib.rs").open("a") as face:
        face.write(CHOICE)
    return list(named(printed.splitlines()))


def named(rows: list[str]) -> Iterator[Mutant]:
    seen: Counter[str] = Counter()
    for row in rows:
        number, path, line, function, change = row.split("\t")
        name = f"{Path(path).relative_to(SOURCE)}: {function}: {change}"
        seen[name] += 1
        yield Mutant(int(number), name if seen[name] == 1 else f"{name} ({seen[name]})", f"{path}:{line}")


def built_tests() -> dict[str, Path]:
    """The programs of the tests, by name."""
    tests = [argument for test in TESTS for argument in (["--lib"] if test == "lib" else ["--test", test])]
    run = ["cargo", "test", "--quiet", "--locked", "--no-run", "--profile", "mutants", "-p", "indexing-core", *tests]
    built = subprocess.run(
        [*run, "--message-format", "json"],
        cwd=COPY,
        # A mutant may be an overflow that the compiler sees.
        env={**os.environ, "RUSTFLAGS": "--cap-lints allow", "CARGO_TARGET_DIR": str(COPY / "built")},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    programs = {m["target"]["name"]: Path(m["executable"]) for m in messages if m.get("executable")}
    return {test: programs["indexing_core" if test == "lib" else test] for test in TESTS}


def passes(program: Path, functions: Sequence[str], chosen: dict[str, str]) -> bool:
    """Whether some functions of a program of tests pass within its limits."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    run = subprocess.run(
        [program, "--quiet", "--test-threads=1", "--exact", *functions],
        cwd=COPY / "rust" / "core",
        env={**chosen, "RUST_BACKTRACE": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limit,
    )
    return run.returncode == 0


@dataclass(frozen=True)
class Test:
    program: Path
    function: str
    reaches: frozenset[int]  # the mutants that would answer otherwise in it
    seconds: float


def tests_of(program: Path) -> Iterator[Test]:
    """The functions of a program of tests, each with the mutants whose places it comes to."""
    listed = COPY / "reached.txt"
    names = subprocess.run([program, "--list", "--format=terse"], check=True, stdout=subprocess.PIPE, text=True)
    for line in names.stdout.splitlines():
        function = line.removesuffix(": test")
        listed.write_text("")
        before = processor_seconds()
        if not passes(program, [function], {"MUTANT": "trace", "REACHED": str(listed)}):
            raise SystemExit(f"{program.name}: {function} fails without a mutant")
        reaches = frozenset(int(number) for number in listed.read_text().split())
        yield Test(program, function, reaches, processor_seconds() - before)


def processor_seconds() -> float:
    """What all processes that have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def known_survivors() -> dict[str, str]:
    """Mutants that change no answer, by name, with the reason."""
    lines = SURVIVORS.read_text().splitlines()
    rows = [line.partition(" -- ") for line in lines if line and not line.startswith("#")]
    return {name: reason for name, _, reason in rows}


def runs(tests: list[Test], mutant: Mutant) -> list[list[Test]]:
    """The tests that may kill a mutant, the quickest first; those that take next to nothing run together."""
    mine = sorted((t for t in tests if mutant.number in t.reaches), key=lambda t: t.seconds)
    quick: dict[Path, list[Test]] = {}
    for test in mine:
        if test.seconds < QUICK_SECONDS:
            quick.setdefault(test.program, []).append(test)
    return [*quick.values(), *([t] for t in mine if t.seconds >= QUICK_SECONDS)]


def killers(tests: list[Test], sample: list[Mutant], jobs: int) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with the test that kills it; none: it survives."""

    def killer(mutant: Mutant) -> tuple[Mutant, str]:
        chosen = {"MUTANT": str(mutant.number)}
        for run in runs(tests, mutant):
            if not passes(run[0].program, [t.function for t in run], chosen):
                return mutant, run[0].program.name.rpartition("-")[0]
        return mutant, ""

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(killer, sample)


def check(results: Iterator[tuple[Mutant, str]], known: dict[str, str]) -> bool:
    """Print what survives; whether enough are killed, and no known survivor is."""
    killed, survivors, mistaken = 0, 0, 0
    for mutant, test in results:
        if mutant.name in known:
            mistaken += bool(test)
            if test:
                print(f"killed by {test}, but said to survive: {mutant.name}", flush=True)
        elif test:
            killed += 1
        else:
            survivors += 1
            print(f"survives: {mutant.name}  [{mutant.place}]", flush=True)
    total = killed + survivors
    print(f"{killed} of {total} mutants are killed: {killed / max(total, 1):.1%}")
    return mistaken == 0 and killed >= ENOUGH * total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--count", type=int, default=400, help="how many mutants (400)")
    parser.add_argument("--seed", type=int, default=None, help="which sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    parser.add_argument("--list", action="store_true", help="print the mutants, and run nothing")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    make_copy()
    every = put_mutants_in()
    known = known_survivors()
    if missing := known.keys() - {m.name for m in every}:
        print(*(f"no such mutant: {name}" for name in sorted(missing)), sep="\n")
        return 1
    every = [m for m in every if all(word in m.name for word in options.words)]
    sample = random.Random(seed).sample(every, min(options.count, len(every)))
    print(f"seed {seed}: {len(sample)} of {len(every)} mutants", flush=True)
    if options.list:
        print(*(f"{m.name}  [{m.place}]" for m in sample), sep="\n")
        return 0
    tests = [test for program in built_tests().values() for test in tests_of(program)]
    return 0 if check(killers(tests, sample, options.jobs), known) else 1


if __name__ == "__main__":
    raise SystemExit(main())
