"""Random maps through the simplifier, each with its certificate, which is checked.

    python fuzz/certificates.py --count N [--seed S] [--first I] [--solver z3] [--show]

Prints the seed, and each certificate that the checker refuses. Of those the solver says whether a step is wrong, if it is
installed: else they count as undecided. With `--solver z3` the solver proves all steps of all certificates. The exit status
is 1 if one is wrong, or more than one in a hundred undecided.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
from collections import Counter
from pathlib import Path

import indexing as ix
from indexing.certificates import Certificate, Verdict

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))
from exact_maps import Style, random_map

SMALL = Style()


def certificate(seed: int, number: int) -> Certificate | None:
    """The certificate of a random map; None where the map was refused for overflow."""
    source = str(random_map(random.Random(f"{seed}/{number}"), SMALL))
    try:
        made = ix.IndexingMap.parse(source).simplify(certificate=True)[1]
    except ix.Overflow:
        return None
    return Certificate.from_json(made.to_json())


def judged(made: Certificate, solver: str | None) -> tuple[str, Verdict] | None:
    """What is wrong with a certificate that does not hold: by the solver's counterexample if there is one."""
    verdict = made.check(solver)
    if verdict:
        return None
    opinion = None if solver else second_opinion(made)
    proved = verdict if opinion is None else opinion
    law = proved.reason if proved.step is None else made.steps[proved.step].law
    return f"{'wrong' if ' is wrong where ' in proved.reason else 'undecided'}: {law}", proved


def second_opinion(made: Certificate) -> Verdict | None:
    """The solver's verdict, if it is installed and there is something that it refutes."""
    try:
        verdict = made.check("z3")
        return None if verdict else verdict
    except ix.IndexingError:
        return None


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--solver", choices=["z3"], default=None)
    options.add_argument("--show", action="store_true", help="print each refused certificate")
    chosen = options.parse_args()
    seed = secrets.randbits(32) if chosen.seed is None else chosen.seed
    print(f"seed {seed}, {chosen.count} maps", flush=True)
    start, steps, refused = time.process_time(), 0, Counter[str]()
    for number in range(chosen.first, chosen.first + chosen.count):
        made = certificate(seed, number)
        if made is None:
            continue
        steps += len(made.steps)
        error = judged(made, chosen.solver)
        if error is not None:
            refused[error[0]] += 1
            shown = made if chosen.show else made.before
            print(
                f"\n{shown}\n  {error[1]}\n  again: {sys.argv[0]} --seed {seed} --first {number} --count 1", flush=True
            )
    seconds = time.process_time() - start
    print(f"{chosen.count} maps, {steps} steps in {seconds:.0f} s: {refused.total()} refused")
    for law, count in refused.most_common():
        print(f"  {count:6} {law}")
    wrong = any(law.startswith("wrong") for law in refused)
    return 1 if wrong or refused.total() * 100 > chosen.count else 0


if __name__ == "__main__":
    sys.exit(main())
