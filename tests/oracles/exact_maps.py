"""Random indexing maps as text, and what they mean: an evaluator and a reader of their own, in exact integers.

Nothing here calls the package, so that its answers are judged by something that shares no code with it.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

Expr = int | str | tuple  # a constant, a variable's name, (operator, operand, operand)
Bounds = tuple[int, int]
Point = dict[str, int]


@dataclass(frozen=True)
class Map:
    """A map as read from text: kinds of variables in `groups`, bounds by name, results, constraints."""

    groups: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    bounds: dict[str, Bounds]
    results: tuple[Expr, ...]
    constraints: tuple[tuple[Expr, Bounds], ...]

    @property
    def names(self) -> list[str]:
        return [name for group in self.groups for name in group]

    def __str__(self) -> str:
        dims, ranges, runtimes = (", ".join(group) for group in self.groups)
        head = f"({dims})" + (f"[{ranges}]" if ranges else "") + (f"{{{runtimes}}}" if runtimes else "")
        domain = [f"{name} in [{low}, {high}]" for name, (low, high) in self.bounds.items()]
        domain += [f"{text(e)} in [{low}, {high}]" for e, (low, high) in self.constraints]
        results = ", ".join(text(e) for e in self.results)
        return f"{head} -> ({results})" + (f", domain: {', '.join(domain)}" if domain else "")

    def box(self, margin: int = 0) -> Iterator[Point]:
        """Every point within the bounds, and `margin` beyond them."""
        spans = [range(low - margin, high + margin + 1) for low, high in (self.bounds[n] for n in self.names)]
        return (dict(zip(self.names, point, strict=True)) for point in itertools.product(*spans))

    def contains(self, point: Point) -> bool:
        """Is it within the bounds and constraints, with nothing divided by 0?"""
        if not all(low <= point[n] <= high for n, (low, high) in self.bounds.items()):
            return False
        try:
            inside = all(low <= evaluate(e, point) <= high for e, (low, high) in self.constraints)
            return inside and self.at(point) is not None
        except ZeroDivisionError:
            return False

    def at(self, point: Point) -> tuple[int, ...]:
        return tuple(evaluate(e, point) for e in self.results)


def evaluate(e: Expr, point: Point) -> int:
    """The value in unbounded integers: floordiv floors, x mod m lies in [0, |m|)."""
    if isinstance(e, int):
        return e
    if isinstance(e, str):
        return point[e]
    a, b = evaluate(e[1], point), evaluate(e[2], point)
    return OPERATIONS[e[0]](a, b)


OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % abs(b),
    "min": min,
    "max": max,
}


def text(e: Expr) -> str:
    """Fully parenthesised text."""
    if not isinstance(e, tuple):
        return str(e) if not isinstance(e, int) or e >= 0 else f"({e})"
    operator, a, b = e
    return f"{operator}({text(a)}, {text(b)})" if operator in ("min", "max") else f"({text(a)} {operator} {text(b)})"


# ---- reading


TOKEN = re.compile(r"\s*(->|\d+|[A-Za-z_]\w*|.)")


class Reader:
    """Reads printed maps."""

    def __init__(self, source: str) -> None:
        self.tokens = TOKEN.findall(source.strip())
        self.position = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if expected and token != expected:
            raise ValueError(f"expected {expected!r}, found {token!r} in {''.join(self.tokens)}")
        self.position += 1
        return token

    def names(self, opening: str, closing: str) -> tuple[str, ...]:
        result: list[str] = []
        if self.peek() == opening:
            self.take()
            while self.peek() != closing:
                result.append(self.take())
                if self.peek() == ",":
                    self.take()
            self.take(closing)
        return tuple(result)

    def map(self) -> Map:
        groups = (self.names("(", ")"), self.names("[", "]"), self.names("{", "}"))
        self.take("->")
        self.take("(")
        results = []
        while self.peek() != ")":
            results.append(self.sum())
            if self.peek() == ",":
                self.take()
        self.take(")")
        names = {name for group in groups for name in group}
        bounds: dict[str, Bounds] = {}
        constraints = []
        while self.peek():
            self.take(",")
            if self.peek() == "domain":
                self.take("domain")
                self.take(":")
            e = self.sum()
            self.take("in")
            interval = self.interval()
            if isinstance(e, str) and e in names and e not in bounds:
                bounds[e] = interval
            else:
                constraints.append((e, interval))
        return Map(groups, bounds, tuple(results), tuple(constraints))

    def interval(self) -> Bounds:
        self.take("[")
        low = self.integer()
        self.take(",")
        high = self.integer()
        self.take("]")
        return low, high

    def integer(self) -> int:
        sign = -1 if self.peek() == "-" else 1
        if sign < 0:
            self.take()
        return sign * int(self.take())

    def sum(self) -> Expr:
        e = self.product()
        while self.peek() in ("+", "-"):
            e = (self.take(), e, self.product())
        return e

    def product(self) -> Expr:
        e = self.atom()
        while self.peek() in ("*", "floordiv", "ceildiv", "mod"):
            e = (self.take(), e, self.atom())
        return e

    def atom(self) -> Expr:
        token = self.take()
        if token == "-":
            e = self.atom()
            return -e if isinstance(e, int) else ("*", -1, e)
        if token == "(":
            e = self.sum()
            self.take(")")
            return e
        if token in ("min", "max"):
            self.take("(")
            e = self.sum()
            while self.peek() == ",":
                self.take()
                e = (token, e, self.sum())
            self.take(")")
            return e
        return int(token) if token.isdigit() else token


def read(source: str) -> Map:
    return Reader(source).map()


# ---- making


@dataclass(frozen=True)
class Style:
    """What kind of maps to make."""

    most_points: int = 600  # of the box
    largest_size: int = 9
    negative_divisors: bool = True
    huge_numbers: bool = True
    variable_divisors: bool = True
    shared_dividends: bool = False  # results are sums of digits of few dividends, where these recombine


def random_map(generator: random.Random, style: Style) -> Map:
    """One map: few variables, bounds on both sides of zero, results and constraints up to four operators deep."""
    while True:
        counts = generator.choice(
            [(1, 0, 0), (2, 0, 0), (1, 1, 0), (2, 1, 0), (1, 0, 1), (1, 1, 1), (3, 0, 0), (0, 2, 0)]
        )
        groups = tuple(
            tuple(f"{letter}{i}" for i in range(n)) for letter, n in zip(("d", "s", "rt"), counts, strict=True)
        )
        bounds = {name: random_bounds(generator, style) for group in groups for name in group}
        points = 1
        for low, high in bounds.values():
            points *= high - low + 1
        if points <= style.most_points:
            break
    results = tuple(
        random_digits(generator, bounds, style)
        if style.shared_dividends
        else random_expr(generator, bounds, style, generator.randint(1, 4))
        for _ in range(generator.randint(1, 2))
    )
    constraints = tuple(
        random_constraint(generator, bounds, style) for _ in range(generator.choice((0, 0, 0, 1, 1, 2)))
    )
    return Map(groups, bounds, results, constraints)


def random_bounds(generator: random.Random, style: Style) -> Bounds:
    size = generator.randint(1, style.largest_size)
    low = generator.choice((0, 0, 0, 0, -size // 2, generator.randint(-12, 12)))
    if style.huge_numbers and generator.random() < 0.02:
        low = generator.choice((-(2**63), 2**63 - size, 2**31 - 2, -(2**31) - 2, 10**12))
    return low, low + size - 1


def random_constant(generator: random.Random, style: Style) -> int:
    if style.huge_numbers and generator.random() < 0.02:
        return generator.choice((2**31, 2**32 - 1, 2**62, -(2**63), 2**63 - 1, 10**10))
    return generator.choice(
        (generator.randint(-8, 8), generator.randint(0, 64), generator.choice((2, 3, 4, 6, 8, 12, 16, 32)))
    )


def random_expr(generator: random.Random, bounds: dict[str, Bounds], style: Style, depth: int) -> Expr:
    if depth == 0 or generator.random() < 0.1:
        return generator.choice(list(bounds)) if generator.random() < 0.8 else random_constant(generator, style)
    a = random_expr(generator, bounds, style, depth - 1)
    operator = generator.choice(
        ("+", "+", "+", "-", "*", "*", "floordiv", "floordiv", "mod", "mod", "ceildiv", "min", "max")
    )
    if operator == "*" and generator.random() < 0.9:
        return ("*", a, random_constant(generator, style))
    if operator in ("floordiv", "mod", "ceildiv"):
        return (operator, a, random_divisor(generator, bounds, style))
    return (operator, a, random_expr(generator, bounds, style, generator.randint(0, depth - 1)))


def random_digits(generator: random.Random, bounds: dict[str, Bounds], style: Style) -> Expr:
    """A sum of quotients and remainders of few dividends, often within a remainder, and these dividends themselves."""
    dividends = [random_dividend(generator, bounds) for _ in range(2)]
    whole = random_dividend(generator, bounds)
    for _ in range(generator.randint(2, 4)):
        term = generator.choice(dividends)
        if generator.random() < 0.75:
            operator = generator.choice(("floordiv", "floordiv", "mod", "ceildiv", "min"))
            term = (operator, term, generator.choice((2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 20)))
        whole = ("+", whole, ("*", term, generator.randint(-16, 16)))
    if generator.random() < 0.5:
        whole = ("mod", whole, random_divisor(generator, bounds, style))
    return whole


def random_dividend(generator: random.Random, bounds: dict[str, Bounds]) -> Expr:
    """A linear form, with coefficients beyond most divisors."""
    form: Expr = generator.randint(-20, 20)
    for name in generator.sample(list(bounds), generator.randint(1, min(2, len(bounds)))):
        form = ("+", form, ("*", name, generator.choice((1, -1, generator.randint(-33, 33)))))
    return form


def random_divisor(generator: random.Random, bounds: dict[str, Bounds], style: Style) -> Expr:
    never_zero = [name for name, (low, high) in bounds.items() if low > 0 or high < 0]
    if style.variable_divisors and never_zero and generator.random() < 0.1:
        return generator.choice(never_zero)
    divisor = abs(random_constant(generator, style)) or 5
    return -divisor if style.negative_divisors and generator.random() < 0.15 else min(divisor, 2**63 - 1)


def random_constraint(generator: random.Random, bounds: dict[str, Bounds], style: Style) -> tuple[Expr, Bounds]:
    name = generator.choice(list(bounds))
    shape = generator.randrange(4)
    if shape == 0:  # a residue
        modulus = generator.choice((2, 3, 4, 5, 6, 8))
        low = generator.randint(0, modulus - 1)
        return ("mod", random_expr(generator, bounds, style, 1), modulus), (low, generator.choice((low, modulus - 1)))
    if shape == 1:  # an equality of two variables
        return ("-", name, generator.choice(list(bounds))), (0, 0)
    low = generator.randint(-6, 12)
    e = random_expr(generator, bounds, style, generator.randint(1, 3))
    return e, (low, low + generator.choice((0, 3, 10, 30)))
