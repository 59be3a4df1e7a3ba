"""Random maps over large domains, judged by isl: the simplified map is the same function on the same set. With `--domains`,
maps of several constraints: whether they have points, and the least and greatest value of each variable and result.

    python fuzz/presburger.py --count N [--seed S] [--first I] [--domains]

Maps that isl can't decide within its budget of operations are counted, and left.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import islpy as isl

import indexing as ix

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))
from exact_maps import Bounds, Expr, Map, Style, random_constraint, random_map, read

LARGE = Style(most_points=10**12, largest_size=5000, huge_numbers=False, variable_divisors=False)
SMALL = replace(LARGE, most_points=10**5, largest_size=20)
BUDGET = 200_000  # isl's operations a map


def function(e: Expr, space: isl.LocalSpace, places: dict[str, int]) -> isl.PwAff:
    """The expression as isl's piecewise quasi-affine function; a product needs a constant side, a divisor is one."""
    if isinstance(e, int):
        return isl.PwAff.from_aff(isl.Aff.val_on_domain(space, isl.Val(e)))
    if isinstance(e, str):
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, places[e]))
    a, b = function(e[1], space, places), function(e[2], space, places)
    match e[0]:
        case "+":
            return a.add(b)
        case "-":
            return a.sub(b)
        case "*":
            return a.mul(b)
        case "floordiv":
            return a.div(b).floor()
        case "ceildiv":
            return a.div(b).ceil()
        case "mod":
            size = abs(e[2])
            positive = function(size, space, places)
            return a.sub(positive.mul(a.div(positive).floor()))
        case "min":
            return a.min(b)
        case _:
            return a.max(b)


def between(e: isl.PwAff, bounds: Bounds, space: isl.LocalSpace) -> isl.Set:
    low, high = (function(n, space, {}) for n in bounds)
    return e.ge_set(low).intersect(e.le_set(high))


def meaning(m: Map, context: isl.Context) -> tuple[isl.Set, list[isl.PwAff]]:
    """Domain and results of a map."""
    space = isl.LocalSpace.from_space(isl.Space.create_from_names(context, set=m.names))
    places = {n: k for k, n in enumerate(m.names)}
    domain = isl.Set.universe(space.get_space())
    for name, bounds in m.bounds.items():
        domain = domain.intersect(between(function(name, space, places), bounds, space))
    for e, bounds in m.constraints:
        domain = domain.intersect(between(function(e, space, places), bounds, space))
    return domain, [function(e, space, places) for e in m.results]


def check(source: Map) -> str | None:
    """What is wrong with the simplified form; None when nothing is."""
    answer = str(ix.IndexingMap.parse(str(source)).simplify())
    context = isl.Context()
    context.set_max_operations(BUDGET)
    domain, results = meaning(source, context)
    if answer == "KNOWN EMPTY":
        return None if domain.is_empty() else f"lost {domain.sample_point()}: {answer}"
    found_domain, simplified = meaning(read(answer), context)
    if not domain.is_equal(found_domain):
        apart = domain.subtract(found_domain).union(found_domain.subtract(domain))
        return f"another domain, at {apart.sample_point()}: {answer}"
    for k, (a, b) in enumerate(zip(results, simplified, strict=True)):
        apart = a.ne_set(b).intersect(domain)
        if not apart.is_empty():
            return f"result {k} differs at {apart.sample_point()}: {answer}"
    return None


def is_quasi_affine(e: Expr) -> bool:
    """No product of variables, no divisor that isn't a constant."""
    if not isinstance(e, tuple):
        return True
    constant = isinstance(e[1], int) or isinstance(e[2], int)
    return (e[0] != "*" or constant) and is_quasi_affine(e[1]) and is_quasi_affine(e[2])


# ---- domains


def random_domain(generator: random.Random) -> Map:
    """A map of one result whose constraints have variables in common."""
    style = generator.choice((LARGE, SMALL))
    source = random_map(generator, style)
    kinds = (random_form, lambda g, bounds: random_constraint(g, bounds, style))
    constraints = (generator.choice(kinds)(generator, source.bounds) for _ in range(generator.randint(1, 3)))
    return replace(source, results=source.results[:1], constraints=tuple(constraints))


def random_form(generator: random.Random, bounds: dict[str, Bounds]) -> tuple[Expr, Bounds]:
    """A constraint on a sum of all variables, or on its remainder."""
    e: Expr = 0
    for name in bounds:
        e = ("+", e, ("*", name, generator.choice((1, 1, -1, 2, 3, -2, 5, 8, -7, 16))))
    if generator.random() < 0.4:
        modulus = generator.choice((3, 4, 5, 8, 12, 16))
        low = generator.randint(0, modulus - 1)
        return ("mod", e, modulus), (low, min(modulus - 1, low + generator.choice((0, 0, 1, 2))))
    low = generator.randint(-20, 40)
    return e, (low, low + generator.choice((0, 0, 1, 3, 5, 10, 30)))


def extremes(e: isl.PwAff, domain: isl.Set) -> Bounds:
    on = e.intersect_domain(domain)
    return int(on.min_val().to_str()), int(on.max_val().to_str())


def compare_domain(source: Map) -> Counter[str]:
    """What was asked of a domain, what has isl's answer, and what contradicts it."""
    context = isl.Context()
    context.set_max_operations(BUDGET)
    domain, results = meaning(source, context)
    space = isl.LocalSpace.from_space(domain.get_space())
    variables = [
        isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, k)) for k in range(len(source.names))
    ]
    bounds = [] if domain.is_empty() else [extremes(e, domain) for e in (*variables, *results)]
    m = ix.IndexingMap.parse(str(source))
    simple = m.simplify()
    result: Counter[str] = Counter({"domains": 1, "empty": not bounds})
    result["known empty"] = simple.is_known_empty and not bounds
    result["contradictions"] = (simple.is_known_empty or m.is_empty()) and bool(bounds)
    result["emptiness decided"] = m.is_empty() == (not bounds)
    if not bounds or simple.is_known_empty:
        return result
    own = [m.range(e) for e in (*map(ix.variable, range(len(variables))), *m.results)]
    stated = [v.interval for v in (*simple.dims, *simple.ranges, *simple.runtimes)]
    for known, (low, high) in zip([*own, *stated], [*bounds, *bounds[: len(stated)]], strict=True):
        result["contradictions"] += known.lower > low or known.upper < high
    result["bounds"] = len(bounds)
    result["best bounds"] = sum((i.lower, i.upper) == b for i, b in zip(own, bounds, strict=True))
    result["simplified bounds"] = len(stated)
    result["best simplified bounds"] = sum((i.lower, i.upper) == b for i, b in zip(stated, bounds, strict=False))
    return result


def compare_domains(seed: int, numbers: range) -> int:
    """Compares domains, prints what contradicts isl and the sums; the exit status."""
    total: Counter[str] = Counter()
    for number in numbers:
        source = random_domain(random.Random(f"{seed}/{number}"))
        if not all(map(is_quasi_affine, [*source.results, *(e for e, _ in source.constraints)])):
            continue
        try:
            actual = compare_domain(source)
        except isl.Error:  # out of budget
            continue
        except ix.IndexingError as undecided:
            actual = Counter({"domains": 1, str(undecided): 1})
        if actual["contradictions"]:
            print(
                f"\n{source}\n  again: fuzz/presburger.py --domains --seed {seed} --first {number} --count 1",
                flush=True,
            )
        total += actual
    print(", ".join(f"{name}: {count}" for name, count in total.items()))
    return 1 if total["contradictions"] else 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--domains", action="store_true", help="compare emptiness and bounds of domains")
    chosen = options.parse_args()
    seed = secrets.randbits(32) if chosen.seed is None else chosen.seed
    numbers = range(chosen.first, chosen.first + chosen.count)
    if chosen.domains:
        print(f"seed {seed}, {chosen.count} domains against isl", flush=True)
        return compare_domains(seed, numbers)
    print(f"seed {seed}, {chosen.count} maps against isl", flush=True)
    undecided, wrong = 0, 0
    for number in numbers:
        source = random_map(random.Random(f"{seed}/{number}"), LARGE)
        if not all(map(is_quasi_affine, [*source.results, *(e for e, _ in source.constraints)])):
            undecided += 1
            continue
        try:
            why = check(source)
        except isl.Error:  # out of budget
            undecided += 1
            continue
        if why:
            wrong += 1
            print(
                f"\n{source}\n  {why}\n  again: fuzz/presburger.py --seed {seed} --first {number} --count 1", flush=True
            )
    print(f"{chosen.count} maps: {wrong} wrong, {undecided} not for isl or beyond its budget")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
