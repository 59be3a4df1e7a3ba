"""What a call costs as its input grows: a line a size, and the exponent of a power law through the larger half.

    python benches/growth.py [--quick]

An exponent near 1 is linear. Each size is timed cold: nothing is remembered from one call to the next.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import indexing as ix


@dataclass(frozen=True)
class Family:
    """Inputs of growing size: `text(n)` is a map, simplified."""

    name: str
    text: Callable[[int], str]
    sizes: tuple[int, ...]


def one_variable(e: str, upper: int = 1000) -> str:
    return f"(d0) -> ({e}), domain: d0 in [0, {upper}]"


def nested_mod(n: int) -> str:
    """((d0*3 + 1) mod 7919)*3 + 1 ... n deep."""
    return one_variable("(" * n + "d0" + "".join(f" * 3 + 1) mod {7919 - 2 * (k % 50)}" for k in range(n)))


def nested_max(n: int) -> str:
    """max(max(d0, 5) * 2 - 1 ...) n deep, of two variables by turns."""
    inner = "d0"
    opened = "".join("max(" for _ in range(n))
    closed = "".join(f" - {k % 3}, d{k % 2} + {k % 5})" for k in range(n))
    return f"(d0, d1) -> ({opened}{inner}{closed}), domain: d0 in [0, 1000], d1 in [0, 1000]"


def linearize_delinearize(n: int) -> str:
    """The position of an index of rank n with sizes 2 and 3 by turns, taken apart again (ranks whose position fits)."""
    sizes = [2 if k % 2 else 1 for k in range(n)]
    strides = [math.prod(sizes[k + 1 :]) for k in range(n)]
    position = " + ".join(f"d{k} * {s}" for k, s in enumerate(strides))
    results = ", ".join(f"({position}) floordiv {s} mod {size}" for s, size in zip(strides, sizes, strict=True))
    names = ", ".join(f"d{k}" for k in range(n))
    domain = ", ".join(f"d{k} in [0, {size - 1}]" for k, size in enumerate(sizes))
    return f"({names}) -> ({results}), domain: {domain}"


def long_sum(n: int) -> str:
    """A sum of n quotients of one variable, all different."""
    return one_variable(" + ".join(f"(d0 floordiv {k + 2}) * {k % 7 + 1}" for k in range(n)))


def wide_sum(n: int) -> str:
    """A quotient of a sum of n variables."""
    names = [f"d{k}" for k in range(n)]
    terms = " + ".join(f"{name} * {4 * (k % 9 + 1)}" for k, name in enumerate(names))
    domain = ", ".join(f"{name} in [0, 7]" for name in names)
    return f"({', '.join(names)}) -> (({terms} + 3) floordiv 4), domain: {domain}"


def constraints(n: int) -> str:
    """n constraints on sums of neighbours."""
    names = [f"d{k}" for k in range(n + 1)]
    domain = [f"{name} in [0, 63]" for name in names]
    domain += [f"d{k} + d{k + 1} * 2 in [{k % 5}, {100 + k % 7}]" for k in range(n)]
    return f"({', '.join(names)}) -> (d0), domain: {', '.join(domain)}"


def nested_min_of_max(n: int) -> str:
    """max(min(max(d0, d0), d1 + 1) ..) n deep."""
    e = "d0"
    for k in range(n):
        e = f"{'min' if k % 2 else 'max'}({e}, d{k % 5} + {k % 7})"
    return on_box(e, 5)


def max_of_min_sums(n: int) -> str:
    """The greatest of n sums of a minimum and a variable."""
    parts = (f"min(d{k % 4} * {k + 1}, d{(k + 1) % 4} + {k}) + d{(k + 2) % 4}" for k in range(n))
    return on_box(f"max({', '.join(parts)})", 4)


def product_of_sums(n: int) -> str:
    """n factors, each a variable and a constant."""
    return on_box(" * ".join(f"(d{k % 4} + {k + 1})" for k in range(n)), 4)


def chain_of_equalities(n: int) -> str:
    """n + 1 variables, each equal to the next."""
    return on_box(f"d0 + d{n}", n + 1, [f"d{k} - d{k + 1} in [0, 0]" for k in range(n)])


def cycle_of_differences(n: int) -> str:
    """n variables, each greater than the next, in a ring: bounds that tighten by 1 in each round."""
    return on_box("d0", n, [f"d{k} - d{(k + 1) % n} in [1, 1000000000]" for k in range(n)], 1_000_000_000)


def on_box(e: str, variables: int, constraints: Iterable[str] = (), upper: int = 99) -> str:
    names = [f"d{k}" for k in range(variables)]
    domain = [f"{name} in [0, {upper}]" for name in names]
    return f"({', '.join(names)}) -> ({e}), domain: {', '.join([*domain, *constraints])}"


FAMILIES = (
    Family("nested (x*3 + 1) mod p", nested_mod, (125, 250, 500, 1000)),
    Family("nested max", nested_max, (125, 250, 500, 1000)),
    Family("linearize-delinearize, rank", linearize_delinearize, (16, 32, 64)),
    Family("sum of quotients", long_sum, (1250, 2500, 5000, 10000)),
    Family("quotient of a sum", wide_sum, (64, 256, 1024)),
    Family("constraints", constraints, (25, 50, 100, 200)),
    Family("nested min of max", nested_min_of_max, (125, 250, 500, 1000)),
    Family("max of min-sums", max_of_min_sums, (125, 250, 500, 1000)),
    Family("product of sums", product_of_sums, (1250, 2500, 5000, 10000)),
    Family("chain of equalities", chain_of_equalities, (250, 500, 1000, 2000)),
    Family("cycle of differences", cycle_of_differences, (250, 500, 1000, 2000)),
)


def seconds(text: str) -> float:
    """Of the CPU, reading and simplifying once, cold: what holds for all integers is found while reading."""
    start = time.process_time()
    ix.IndexingMap.parse(text).simplify()
    return time.process_time() - start


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    """Slope of the logarithms over the last doubling or more."""
    half = len(sizes) // 2
    return math.log(times[-1] / times[half - 1]) / math.log(sizes[-1] / sizes[half - 1])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="the two smallest sizes only")
    quick = options.parse_args().quick
    for family in FAMILIES:
        sizes = family.sizes[:2] if quick else family.sizes
        times = [min(seconds(family.text(n)) for _ in range(3)) for n in sizes]
        cells = ", ".join(f"{n}: {t * 1e3:.2f} ms" for n, t in zip(sizes, times, strict=True))
        print(f"{family.name:28} {cells}; exponent {exponent(sizes, times):.1f}", flush=True)


if __name__ == "__main__":
    main()
