"""Mutants of the core, by cargo-mutants: a sample with a seed, of which `cargo test` must kill at least 95 in 100.

    python fuzz/mutants_rust.py --count 60 --seed 7

A mutant is a change of one operator, constant or function body of the rules, ranges, constraints, intervals or sets. What
survives is listed, but for what `fuzz/surviving_mutants.txt` knows, each with its reason. Needs `cargo install cargo-mutants`.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = "rust/core/src"
FILES = [
    f"{CORE}/{name}"
    for name in (
        "simplify/rules/*.rs",
        "simplify/range.rs",
        "simplify/constraints.rs",
        "simplify/congruence.rs",
        "simplify/preimage.rs",
        "interval.rs",
        "sets/*.rs",
    )
]
#: The tests that run on each mutant: all but those of cost, which take long and count work.
TESTS = ("canonical", "forms", "intervals", "is_simplified", "maps", "order", "sets", "simplify")
ENOUGH = 0.95


def known_survivors() -> set[str]:
    """Mutants that change no answer, as cargo-mutants names them without the place; a reason stands behind ` -- `."""
    lines = (ROOT / "fuzz" / "surviving_mutants.txt").read_text().splitlines()
    return {line.split(" -- ")[0] for line in lines if line and not line.startswith("#")}


def without_place(mutant: str) -> str:
    """`file: what`, of `file:line:column: what`."""
    file, _, rest = mutant.partition(":")
    return f"{file}: {rest.split(': ', 1)[1]}"


def command(count: int, seed: int, out: str) -> list[str]:
    files = [argument for file in FILES for argument in ("--file", file)]
    listed = subprocess.run(
        ["cargo", "mutants", "--list", "-p", "indexing-core", *files],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    shards = max(1, len(listed.stdout.splitlines()) // count)
    run = ["cargo", "mutants", "-p", "indexing-core", *files, "--profile", "mutants", "--timeout", "120", "-o", out]
    tests = ["--lib", *(argument for test in TESTS for argument in ("--test", test))]
    return [*run, "--shard", f"{seed % shards}/{shards}", "--sharding", "round-robin", "--", *tests]


def outcome(out: Path, kind: str) -> list[str]:
    return (out / "mutants.out" / f"{kind}.txt").read_text().splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60, help="about how many mutants (60)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (0)")
    options = parser.parse_args()
    if not shutil.which("cargo-mutants"):
        print("cargo-mutants is missing: cargo install cargo-mutants --locked", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command(options.count, options.seed, folder), cwd=ROOT, check=False)
        if done.returncode not in (0, 2, 3):  # all killed, some missed, some timed out
            return done.returncode
        killed = len(outcome(Path(folder), "caught")) + len(outcome(Path(folder), "timeout"))
        known = known_survivors()
        missed = [m for m in outcome(Path(folder), "missed") if without_place(m) not in known]
    for mutant in missed:
        print(f"survived: {mutant}")
    total = killed + len(missed)
    print(f"{killed} of {total} mutants were killed")
    return int(killed < ENOUGH * total)


if __name__ == "__main__":
    raise SystemExit(main())
