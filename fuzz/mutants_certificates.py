"""Mutants of rules, ranges and constraints that claim what is not true, whose certificates the checker must refuse.

    python fuzz/mutants_certificates.py --count 50 [--seed S] [WORD ...]

A mutant is a wrong operator, a number greater by 1, or a condition that is left out; words choose those that have all of
them in their names. One build holds them all, as in `mutants_rust.py`. Each simplifies the first maps of
`certificates.py`, after the examples of the laws; those under which a certificate claims something that is false at a
point, of its steps or of the map, count, and ALWAYS do. Prints for each the first step that is refused. The exit status is
1 if something false holds, or one of ALWAYS is not refused.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from certificates import SMALL
from indexing.certificates import Certificate, Step
from indexing.certificates.text import texts as texts_of
from mutants_rust import COPY, ROOT, Mutant, make_copy, put_mutants_in

sys.path.insert(0, str(ROOT / "tests" / "oracles"))
sys.path.insert(0, str(ROOT / "tests" / "core"))
from domain_examples import DOMAINS
from exact_maps import random_map, read
from rule_examples import RULES

PLACES = (
    "simplify/rules/*.rs",
    "simplify/range/*.rs",
    "simplify/constraints/*.rs",
    "simplify/congruence.rs",
    "simplify/preimage.rs",
)
#: Mutants that no test of maps found for long, with maps that show them.
ALWAYS = {
    "simplify/rules/extraction.rs: remainder_expanded_inside: w % m == 0 -> true": "(d0, d1) -> "
    "((d1 + (d0 mod 4) * 3) floordiv 8 + d0 floordiv 4), domain: d0 in [0, 31], d1 in [0, 31]",
    "simplify/constraints/congruence.rs: normal_congruence: modulus == m -> true": "(d0) -> (d0), domain: "
    "d0 in [0, 31], ((d0 mod 4) * 7 + 5) mod 16 in [10, 10]",
}
SECONDS = 60
MAX_POINTS = 2000
#: What a process does with a mutant: it prints a certificate a line, or an empty text where there is none.
WORKER = """
import json, sys
import indexing as ix
for text in json.load(sys.stdin):
    try:
        print(json.dumps(ix.IndexingMap.parse(text).simplify(certificate=True)[1].to_json()), flush=True)
    except ix.IndexingError:
        print('""', flush=True)
"""


def texts(count: int, seed: int) -> list[str]:
    """Maps to which the laws of rules and constraints apply, or nearly so, and random maps."""
    examples = [text for rule in RULES.values() for text in (*rule.applies, *rule.idle)]
    examples += [text for domain in DOMAINS.values() for text, _ in (*domain.applies, *domain.idle)]
    rest = [str(random_map(random.Random(f"{seed}/{k}"), SMALL)) for k in range(count)]
    return [*ALWAYS.values(), *examples, *rest]


def built_package() -> Path:
    """The package with a core that holds all mutants."""
    run = ["cargo", "build", "--quiet", "--locked", "--profile", "mutants", "-p", "indexing-py"]
    target = {"RUSTFLAGS": "--cap-lints allow", "CARGO_TARGET_DIR": str(COPY / "built"), "PYO3_PYTHON": sys.executable}
    subprocess.run(run, cwd=COPY, env={**os.environ, **target}, check=True)
    package = COPY / "package" / "indexing"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python" / "indexing", package, ignore=shutil.ignore_patterns("_core*.so", "__pycache__"))
    shutil.copy2(COPY / "built" / "mutants" / "lib_core.so", package / "_core.abi3.so")
    return package.parent


def answers(package: Path, maps: list[str], **chosen: str) -> list[str]:
    """The certificates of maps by a mutant, as JSON; fewer than there are maps if the process ends before."""
    run = subprocess.Popen(
        [sys.executable, "-c", WORKER],
        env={**os.environ, "PYTHONPATH": str(package), "RUST_BACKTRACE": "0", **chosen},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        printed = run.communicate(json.dumps(maps), timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        run.kill()
        printed = run.communicate()[0]
    return [json.loads(line) for line in printed.splitlines(keepends=True) if line.endswith("\n")]


def falsehood(made: Certificate) -> str:
    """A claim of a certificate that is false at a point of the map, or that its answer is; "" if none is known."""
    own, other = read(made.before), None if made.after == "KNOWN EMPTY" else read(made.after)
    head = made.before.partition(" -> ")[0]
    written = texts_of(made.nodes, [name for group in made.maps[0].names for name in group])
    claimed = [[written[e] for e in (step.before, step.after) if e is not None] for step in made.steps]
    claims = [(step, read(f"{head} -> ({', '.join(own)})")) for step, own in zip(made.steps, claimed, strict=True)]
    for point in islice(own.box(), MAX_POINTS):
        inside = own.contains(point)
        if inside != (other is not None and other.contains(point)):
            return f"the domain is wrong at {point}"
        if inside and other is not None and own.at(point) != other.at(point):
            return f"the results are wrong at {point}"
        for step, claimed in claims if inside else ():
            with suppress(ZeroDivisionError):
                if not is_true(step, claimed.at(point)):
                    return f"step {step.number}, {step.law}, is wrong at {point}"
    return ""


def is_true(step: Step[int], values: tuple[int, ...]) -> bool:
    """Whether the claim of a step is true of the values of its expressions."""
    if step.claim != "within":
        return step.claim == "equal" and values[0] == values[1]
    above, below = step.lower is None or step.lower <= values[0], step.upper is None or values[0] <= step.upper
    return above and below and (values[0] - step.residue) % step.modulus == 0


def outcome(usual: list[str], new: list[str]) -> tuple[str, str]:
    """Whether a mutant is refused, and by which step; else what becomes of it."""
    changed = [Certificate.from_json(a) for a, b in zip(new, usual, strict=False) if a and a != b]
    refused = ""
    for made in changed:
        verdict, wrong = made.check(), falsehood(made)
        if verdict and wrong:
            return "HOLDS", f"{wrong}\n{made}"
        if wrong and not refused:
            law = "the map" if verdict.step is None else made.steps[verdict.step].law
            refused = f"{wrong}: {law}: {verdict}, for {made.before}"
    if refused:
        return "refused", refused
    if len(new) < len(usual):
        return "ends", "the process ends, or takes too long"
    return ("true", "all that changes is true") if changed else ("unchanged", "no certificate changes")


def sampled(every: list[Mutant], reached: set[int], seed: int) -> Iterator[Mutant]:
    """The mutants of ALWAYS, then those that the maps come to, in any order."""
    always = [m for m in every if m.name in ALWAYS]
    if missing := {*ALWAYS} - {m.name for m in always}:
        raise SystemExit(f"no such mutant: {', '.join(sorted(missing))}")
    met = [m for m in every if m.number in reached and m not in always]
    return iter([*always, *random.Random(seed).sample(met, len(met))])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--count", type=int, default=50, help="how many that claim what is false (50)")
    parser.add_argument("--maps", type=int, default=1000, help="how many random maps (1000)")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    make_copy()
    every, package, maps = put_mutants_in(PLACES, "--claims"), built_package(), texts(options.maps, seed)
    trace = COPY / "reached.txt"
    trace.write_text("")
    answers(package, maps, MUTANT="trace", REACHED=str(trace))
    usual = answers(package, maps, MUTANT="0")
    print(f"seed {seed}: {len(every)} mutants, {len(maps)} maps", flush=True)
    counts, missed = Counter[str](), False
    for mutant in sampled(every, {int(line) for line in trace.read_text().split()}, seed):
        if not all(word in mutant.name for word in options.words):
            continue
        kind, why = outcome(usual, answers(package, maps, MUTANT=str(mutant.number)))
        counts[kind] += 1
        missed |= mutant.name in ALWAYS and kind != "refused"
        print(f"{kind}: {mutant.name}\n    {why}", flush=True)
        if counts["refused"] >= options.count:
            break
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()), f"of {counts.total()}")
    return 1 if counts["HOLDS"] or missed else 0


if __name__ == "__main__":
    sys.exit(main())
