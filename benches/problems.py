"""Problems of simplification: expressions over bounded variables, of the kinds that index arithmetic brings."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass

Expr = int | str | tuple  # a constant, a variable, (operator, operand, operand); floordiv, mod, +, *, min, max


@dataclass(frozen=True)
class Problem:
    """Simplify `expr`, with each variable within its inclusive bounds."""

    kind: str
    expr: Expr
    bounds: dict[str, tuple[int, int]]

    def map_text(self) -> str:
        domain = ", ".join(f"{n} in [{low}, {high}]" for n, (low, high) in self.bounds.items())
        return f"({', '.join(self.bounds)}) -> ({infix(self.expr)}), domain: {domain}"


def infix(e: Expr) -> str:
    if not isinstance(e, tuple):
        return str(e)
    operator, a, b = e
    return (
        f"{operator}({infix(a)}, {infix(b)})" if operator in ("min", "max") else f"({infix(a)} {operator} {infix(b)})"
    )


def linear(names: list[str], sizes: list[int]) -> Expr:
    """Row-major position of an index."""
    total: Expr = names[0]
    for name, size in zip(names[1:], sizes[1:], strict=True):
        total = ("+", ("*", total, size), name)
    return total


def digit(e: Expr, sizes: list[int], k: int) -> Expr:
    """The k-th coordinate of row-major position `e` in a shape."""
    stride = math.prod(sizes[k + 1 :])
    quotient = ("floordiv", e, stride) if stride > 1 else e
    return ("mod", quotient, sizes[k]) if k else quotient


def factors(generator: random.Random, total: int, rank: int) -> list[int]:
    """A random shape of `rank` sizes with `total` elements."""
    sizes = [1] * rank
    for p in (2, 3, 5, 7):
        while total % p == 0:
            sizes[generator.randrange(rank)] *= p
            total //= p
    sizes[generator.randrange(rank)] *= total
    return sizes


def reshape(generator: random.Random) -> Problem:
    total = generator.choice((4096, 720, 3072, 2520, 98304, 1344))
    first, second = factors(generator, total, 3), factors(generator, total, 3)
    bounds = {f"d{k}": (0, n - 1) for k, n in enumerate(first)}
    return Problem("reshape", digit(linear(list(bounds), first), second, generator.randrange(3)), bounds)


def grid(generator: random.Random) -> Problem:
    threads, vector = generator.choice((128, 256)), generator.choice((2, 4, 8))
    blocks = generator.choice((16, 48, 100))
    bounds = {"bl": (0, blocks - 1), "th": (0, threads - 1), "s": (0, vector - 1)}
    position: Expr = ("+", ("+", ("*", "bl", threads * vector), ("*", "th", vector)), "s")
    return Problem(
        "grid", digit(position, factors(generator, blocks * threads * vector, 3), generator.randrange(3)), bounds
    )


def window(generator: random.Random) -> Problem:
    stride, size, tile = generator.choice((1, 2, 3)), generator.choice((3, 5, 7)), generator.choice((4, 8, 16))
    bounds = {"o": (0, generator.choice((27, 55, 111))), "w": (0, size - 1)}
    position: Expr = ("+", ("+", ("*", "o", stride * tile), ("*", "w", tile)), generator.randrange(tile))
    return Problem("window", (generator.choice(("floordiv", "mod")), position, tile * generator.choice((1, 2))), bounds)


def clamp(generator: random.Random) -> Problem:
    last, tile = generator.choice((63, 100, 127)), generator.choice((4, 8, 32))
    bounds = {"b": (0, last // tile + generator.randrange(2)), "t": (0, tile - 1)}
    position: Expr = ("+", ("*", "b", tile), "t")
    clamped = ("max", ("min", position, last), generator.choice((0, -3, 2)))
    return Problem("clamp", generator.choice((clamped, ("floordiv", clamped, tile))), bounds)


def mixed(generator: random.Random) -> Problem:
    """The same digits taken apart and put together again."""
    base, size = generator.choice((3, 4, 5, 8)), generator.choice((4, 6, 10))
    bounds = {"x": (0, base * size * generator.choice((1, 2, 3)) - 1), "y": (0, base - 1)}
    high = ("mod", ("floordiv", "x", base), size)
    e: Expr = ("+", ("*", high, base), ("mod", "x", base))
    return Problem("digits", generator.choice((e, ("floordiv", ("+", ("*", "x", base), "y"), base))), bounds)


KINDS: tuple[Callable[[random.Random], Problem], ...] = (reshape, grid, window, clamp, mixed)


def problems(count: int, seed: int = 1) -> list[Problem]:
    """`count` different problems, the kinds in turn while they last; the same for the same seed."""
    generator = random.Random(seed)
    by_text: dict[str, Problem] = {}
    for attempt in itertools.count():
        if len(by_text) == count:
            break
        problem = KINDS[attempt % len(KINDS)](generator)
        by_text.setdefault(problem.map_text(), problem)
    return list(by_text.values())
