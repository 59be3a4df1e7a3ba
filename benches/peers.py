"""The same problems through this package and the simplifiers that pip installs, in one run: times, forms, ratios.

    python benches/peers.py [--count N] [--seed S] [--markdown FILE ..]

Prints a table; with --markdown, writes it between the markers of each file. Times are those of the processor, which other
programs on the machine change little. A form counts as best when no other
answer to the problem costs less (1 for + and *, 4 for a quotient, remainder, min or max). Answers are checked at random
points; a wrong one is counted as such.
"""

from __future__ import annotations

import argparse
import ast
import math
import random
import statistics
import time
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from problems import Problem, infix, problems
from simplifiers import SIMPLIFIERS

MARKERS = ("<!-- made by make bench -->\n", "<!-- end -->\n")
SLOW = 20.0  # seconds after which a simplifier is given no more problems


@dataclass
class Result:
    """What one simplifier did; `name` has its version."""

    name: str
    times: list[float] = field(default_factory=list)
    costs: dict[int, float] = field(default_factory=dict)
    wrong: int = 0
    refused: int = 0


def cost(text: str) -> float:
    """Cost of an answer in Python syntax."""
    total = 0.0
    for node in ast.walk(ast.parse(text.strip(), mode="eval")):
        if isinstance(node, ast.BinOp):
            total += 4 if isinstance(node.op, ast.FloorDiv | ast.Mod) else 0 if isinstance(node.op, ast.Div) else 1
        elif isinstance(node, ast.Call):
            total += 4 * max(1, len(node.args) - 1)
        elif isinstance(node, ast.IfExp):
            total += 4
    return total


def value(text: str, point: dict[str, int]) -> Any:
    number = Fraction if "floor(" in text else int  # SymPy divides before it floors
    names: dict[str, Any] = {n: number(v) for n, v in point.items()}
    names |= {"floor": math.floor, "floord": lambda a, b: a // b, "min": min, "max": max, "Min": min, "Max": max}
    names |= {"Mod": lambda a, b: a % b, "ceildiv": lambda a, b: -(-a // b)}
    return eval(text, {"__builtins__": {}}, names)


def is_right(problem: Problem, text: str, generator: random.Random) -> bool:
    original = infix(problem.expr).replace("floordiv", "//").replace("mod", "%")
    for _ in range(20):
        point = {n: generator.randint(low, high) for n, (low, high) in problem.bounds.items()}
        if value(original, point) != value(text, point):
            return False
    return True


def measure(simplifier: Any, given: list[Problem]) -> Result:
    """One cold pass: each problem is built, then simplified once; only the second is timed."""
    result = Result(f"{simplifier.name} ({simplifier.package} {version(simplifier.package)})")
    generator = random.Random(0)
    simplifier.simplify(simplifier.build(problems(1, seed=0)[0]))  # what is loaded at the first call
    for number, problem in enumerate(given):
        if sum(result.times) > SLOW:
            break
        try:
            built = simplifier.build(problem)
            start = time.process_time()
            answer = simplifier.simplify(built)
            result.times.append(time.process_time() - start)
            text = simplifier.text(answer)
            if is_right(problem, text, generator):
                result.costs[number] = cost(text)
            else:
                result.wrong += 1
        except (KeyError, TypeError, ValueError, SyntaxError, NameError, RuntimeError):
            result.refused += 1  # outside what this simplifier can take or print
    return result


def results_of(given: list[Problem]) -> list[Result]:
    """Of all that are installed, ours first."""
    results = []
    for make in SIMPLIFIERS:
        try:
            simplifier = make()
        except ImportError as error:
            print(f"{make.name} is not installed: {error}")
            continue
        results.append(measure(simplifier, given))
    return results


def table(results: list[Result], count: int) -> list[str]:
    best = {
        n: min(r.costs[n] for r in results if n in r.costs) for n in range(count) if any(n in r.costs for r in results)
    }
    ours = statistics.median(results[0].times)
    lines = [
        f"| {count} problems | median time | 95 % within | against ours | best form | wrong | not taken |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        times = sorted(r.times)
        share = sum(1 for n, c in r.costs.items() if c <= best[n]) / count
        p95 = times[int(0.95 * (len(times) - 1))]
        median = statistics.median(times)
        missing = count - len(r.costs) - r.wrong
        row = [r.name, micro(median), micro(p95), f"{median / ours:,.1f}", f"{share:.0%}", str(r.wrong), str(missing)]
        lines.append(f"| {' | '.join(row)} |")
    return lines


def micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.1f} ms"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--markdown", type=Path, nargs="*", default=[])
    chosen = options.parse_args()
    given = problems(chosen.count, chosen.seed)
    lines = table(results_of(given), len(given))
    print("\n".join(lines))
    for file in chosen.markdown:
        before, _, rest = file.read_text().partition(MARKERS[0])
        after = rest.partition(MARKERS[1])[2]
        file.write_text(before + MARKERS[0] + "\n".join(lines) + "\n" + MARKERS[1] + after)


if __name__ == "__main__":
    main()
