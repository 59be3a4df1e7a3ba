"""Random maps whose variables are digits of numbers, with brute force by numpy for what is asked of them."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np

__all__ = ["DigitMap", "digit_map"]


@dataclass(frozen=True)
class DigitMap:
    """A map as text, and as Python: bounds of variables, results, and constraints with their bounds."""

    bounds: tuple[tuple[int, int], ...]
    results: tuple[str, ...]
    constraints: tuple[tuple[str, int, int], ...]

    @property
    def text(self) -> str:
        names = ", ".join(f"d{k}" for k in range(len(self.bounds)))
        domain = [f"d{k} in [{a}, {b}]" for k, (a, b) in enumerate(self.bounds)]
        domain += [f"{spelled(e)} in [{a}, {b}]" for e, a, b in self.constraints]
        return f"({names}) -> ({', '.join(map(spelled, self.results))}), domain: {', '.join(domain)}"

    def rows(self) -> np.ndarray:
        """The results at all points of the domain."""
        axes = np.meshgrid(*(np.arange(a, b + 1) for a, b in self.bounds), indexing="ij")
        at = {f"d{k}": axis.ravel() for k, axis in enumerate(axes)}
        inside = np.ones(axes[0].size, dtype=bool)
        for e, a, b in self.constraints:
            value = eval(e, {}, at)
            inside &= (a <= value) & (value <= b)
        columns = [np.broadcast_to(eval(e, {}, at), inside.shape)[inside] for e in self.results]
        return np.stack(columns, axis=1)


def spelled(expression: str) -> str:
    """A Python expression as that of a map."""
    return expression.replace("//", "floordiv").replace("%", "mod")


def digit_map(rng: random.Random, most: int = 60_000) -> DigitMap:
    """A map of at most so many points: numbers are made of digits, then divided, and their parts joined in another order."""
    sizes, points = [], 1
    for _ in range(rng.randint(1, 4)):
        size = rng.choice([2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 60, 96, 100, 128, 255])
        if points * size <= most:
            sizes.append(size)
            points *= size
    if points * 6 < most and rng.random() < 0.8:
        sizes.append(rng.randint(2, most // points))
    bounds = tuple((low, low + size - 1) for size in sizes for low in [rng.choice([0, 0, 0, 1, -2, 5])])
    number, size = joined(rng, bounds)
    parts = [part(rng, number, size) for _ in range(rng.randint(1, 4))]
    results = tuple(e for e, _ in parts) if rng.random() < 0.6 else (recombined(rng, parts),)
    constraints = []
    for _ in range(rng.choice([0, 1, 1, 2])):
        e, count = part(rng, *rng.choice([(number, size), joined(rng, bounds)]))
        low = rng.randrange(max(count // 2, 1))
        constraints.append((e, low, low + rng.randrange(max(count, 1))))
    if rng.random() < 0.25:
        # An equation determines one more variable, which may be too small for some points.
        e, count = part(rng, number, size)
        if math.prod(sizes) * (count + 3) <= most * 8:
            sign, k = rng.choice("+-"), len(bounds)
            low, high = sorted((rng.randint(-2, 2), max(count + rng.randint(-2, 2), 0)))
            bounds = (*bounds, (low, high) if sign == "-" else (-high, -low))
            constraints.append((f"{e} {sign} d{k}", 0, 0))
            results = (*results, f"d{k} * {rng.choice([1, 2, 5])}")[rng.randrange(2) :]
    return DigitMap(bounds, results, tuple(constraints))


def joined(rng: random.Random, bounds: tuple[tuple[int, int], ...]) -> tuple[str, int]:
    """A number with the variables as digits, in some order, and about how many values it has."""
    order = rng.sample(range(len(bounds)), len(bounds))
    terms, weight = [], 1
    for k in order:
        low, high = bounds[k]
        digit = f"d{k}" if rng.random() < 0.8 else f"({high} - d{k})"
        terms.append(f"{digit} * {weight}")
        weight *= high - low + 1 if rng.random() < 0.85 else rng.randint(1, high - low + 4)
    offset = rng.choice([0, 0, 0, rng.randint(-40, 40)])
    return f"({' + '.join(terms)} + {offset})", weight


def part(rng: random.Random, number: str, size: int) -> tuple[str, int]:
    """A digit of a number, or several, and about how many values it has."""
    low = rng.choice([1, 1, *(d for d in (2, 3, 4, 6, 8, 12, 32, 60, 100, 500) if d < max(size, 2))])
    number = number if low == 1 else f"({number} // {low})"
    size = size // low + 1
    if rng.random() < 0.6:
        high = rng.choice([2, 3, 4, 5, 7, 8, 12, 32, 60, 100])
        return f"({number} % {high})", min(size, high)
    return number, size


def recombined(rng: random.Random, parts: list[tuple[str, int]]) -> str:
    """A sum of parts with the weights of digits, most of the time."""
    terms, weight = [], 1
    for e, count in rng.sample(parts, len(parts)):
        terms.append(f"{e} * {rng.choice([1, 1, 1, -1]) * weight}")
        weight *= count if rng.random() < 0.8 else rng.randint(1, 9)
    return " + ".join(terms)
