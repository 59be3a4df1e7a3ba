"""The means to prove a law: claims for an SMT solver, over unbounded integers.

A builder gets a `Writer`, which hands out integer variables and writes floordiv and mod by their definitions, and yields
pairs (hypothesis, conclusion). Parameters made by `small` are positive variables; should the solver not settle their
products, `Proof.values` lets them take each of these values instead, the other variables staying unbounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import z3

Integer = z3.ArithRef | int
Claim = tuple[z3.BoolRef | bool, z3.BoolRef | bool]
Builder = Callable[["Writer"], Iterator[Claim]]

#: The solver's own count of work, so that the outcome doesn't depend on the machine.
WORK = 30_000_000
SMALL = (1, 2, 3, 4, 6)


class Refuted(AssertionError):
    """A law does not hold; the message is the counterexample."""


@dataclass
class Writer:
    """Variables, and the definitions of what was written with them."""

    values: dict[str, int] = field(default_factory=dict)
    definitions: list[z3.BoolRef] = field(default_factory=list)
    known: dict[tuple[object, ...], Integer] = field(default_factory=dict)
    kept: list[Integer] = field(default_factory=list)  # what an id in `known` stands for lives as long as the ids
    asked: list[str] = field(default_factory=list)

    def integers(self, names: str) -> list[z3.ArithRef]:
        return [z3.Int(name) for name in names.split()]

    def small(self, names: str) -> list[Integer]:
        """Positive parameters."""
        result: list[Integer] = []
        for name in names.split():
            self.asked.append(name)
            value: Integer = self.values.get(name, z3.Int(name))
            if not isinstance(value, int):
                self.definitions.append(value > 0)
            result.append(value)
        return result

    def fresh(self, kind: str) -> z3.ArithRef:
        return z3.Int(f"{kind}!{len(self.known)}")

    def _written(self, kind: str, a: Integer, b: Integer, define: Callable[[z3.ArithRef], z3.BoolRef]) -> Integer:
        key = (kind, *(("int", x) if isinstance(x, int) else ("expression", x.get_id()) for x in (a, b)))
        if key not in self.known:
            self.kept += [a, b]
            result = self.fresh(kind)
            self.known[key] = result
            self.definitions.append(define(result))
        return self.known[key]

    def div(self, x: Integer, m: Integer) -> Integer:
        """`x floordiv m`: the q with `0 <= x - q * m < m`, for negative m `m < x - q * m <= 0`."""
        if isinstance(m, int):
            return self._written("q", x, m, lambda q: _between(x - q * m, m))
        above = z3.simplify(m > 0)
        return self._written(
            "q",
            x,
            m,
            lambda q: z3.And(
                m != 0, z3.Implies(above, _between(x - q * m, m)), z3.Implies(m < 0, _below(x - q * m, m))
            ),
        )

    def mod(self, x: Integer, m: Integer) -> Integer:
        """`x mod m`: the r in `[0, |m|)` with `x = r + k * m`."""
        if isinstance(m, int):
            return x - abs(m) * self.div(x, abs(m))
        k = self._written("k", x, m, lambda k: z3.And(m != 0, x - k * m >= 0, x - k * m < z3.If(m > 0, m, -m)))
        return x - k * m

    def positive_div(self, x: Integer, m: Integer) -> Integer:
        """`x floordiv m` for a positive m."""
        return self._written("q", x, m, lambda q: _between(x - q * m, m))

    def positive_mod(self, x: Integer, m: Integer) -> Integer:
        """`x mod m` for a positive m."""
        return x - m * self.positive_div(x, m)


def _between(rest: z3.ArithRef, m: Integer) -> z3.BoolRef:
    return z3.And(rest >= 0, rest < m) if not isinstance(m, int) or m > 0 else _below(rest, m)


def _below(rest: z3.ArithRef, m: Integer) -> z3.BoolRef:
    return z3.And(rest <= 0, rest > m)


def low(a: Integer, *others: Integer) -> z3.ArithRef:
    for b in others:
        a = z3.If(a <= b, a, b)
    return a


def high(a: Integer, *others: Integer) -> z3.ArithRef:
    for b in others:
        a = z3.If(a >= b, a, b)
    return a


@dataclass(frozen=True)
class Proof:
    """How a law is proved: in general, or (`values`) for each small value of its parameters."""

    build: Builder
    values: tuple[int, ...] = ()

    @property
    def manner(self) -> str:
        if not self.values:
            return "z3"
        return f"z3 for each parameter in {{{', '.join(map(str, self.values))}}}"

    def assignments(self) -> Iterator[dict[str, int]]:
        if not self.values:
            yield {}
            return
        names = self.parameters()
        for values in itertools.product(self.values, repeat=len(names)):
            yield dict(zip(names, values, strict=True))

    def parameters(self) -> list[str]:
        probe = Writer()
        for _ in self.build(probe):
            pass
        return list(dict.fromkeys(probe.asked))

    def check(self) -> None:
        """Raise Refuted with a counterexample, or because the solver gave up."""
        for values in self.assignments():
            writer = Writer(values)
            for k, (hypothesis, conclusion) in enumerate(self.build(writer)):
                solver = z3.Solver()
                solver.set("rlimit", WORK)
                solver.set("random_seed", 1)
                solver.add(*writer.definitions, hypothesis, z3.Not(conclusion))
                answer = solver.check()
                if answer == z3.sat:
                    raise Refuted(f"claim {k} with {values}: {solver.model()}")
                if answer != z3.unsat:
                    raise Refuted(f"claim {k} with {values}: not settled ({solver.reason_unknown()})")

    def check_hypotheses(self) -> None:
        """Raise Refuted where a claim says nothing, for nothing meets its definitions and its hypothesis."""
        met: set[int] = set()
        count = 0
        names = self.parameters()
        for values in itertools.product(SMALL, repeat=len(names)):
            writer = Writer(dict(zip(names, values, strict=True)))
            claims = list(self.build(writer))
            count = len(claims)
            for k, (hypothesis, _) in enumerate(claims):
                solver = z3.Solver()
                solver.set("rlimit", WORK)
                solver.add(*writer.definitions, hypothesis)
                if k not in met and solver.check() == z3.sat:
                    met.add(k)
            if len(met) == count:
                return
        raise Refuted(f"nothing meets the hypotheses of claims {sorted(set(range(count)) - met)}")


def shifted(w: Writer, m: Integer) -> Iterator[Claim]:
    """`(a + m * t) mod m = a mod m`: the last step, by what the claim before it says."""
    a, t = w.integers("a! t!")
    yield True, w.positive_mod(a + m * t, m) == w.positive_mod(a, m)
