"""The check of each step by an SMT solver, over unbounded integers (extra `[proofs]`)."""

from __future__ import annotations

from typing import Any

from indexing.certificates.reader import Expr, MapText, TextError, read_expr, read_map
from indexing.certificates.step import Step
from indexing.errors import IndexingError, Refuted
from indexing.extras import missing_extra

__all__ = ["prove"]

#: Of one step; beyond it the step is undecided.
MILLISECONDS = 5_000


class Translation:
    """Expressions as terms of the solver, and the definitions of the quotients in them."""

    def __init__(self, z3: Any) -> None:
        self.z3 = z3
        self.terms: dict[Expr, Any] = {}
        self.definitions: list[Any] = []

    def term(self, e: Expr) -> Any:
        """The solver's term of an expression."""
        if e not in self.terms:
            self.terms[e] = self.made(e)
        return self.terms[e]

    def made(self, e: Expr) -> Any:
        z3 = self.z3
        if isinstance(e, int):
            return z3.IntVal(e)
        if isinstance(e, str):
            return z3.Int(e)
        a, b = self.term(e[1]), self.term(e[2])
        match e[0]:
            case "+":
                return a + b
            case "*":
                return a * b
            case "min":
                return z3.If(a <= b, a, b)
            case "max":
                return z3.If(a >= b, a, b)
        quotient, remainder = self.divided(e[1], e[2])
        return quotient if e[0] == "/" else remainder

    def divided(self, n: Expr, d: Expr) -> tuple[Any, Any]:
        """Quotient and remainder by definition: n = d * q + r, r between 0 and d; the remainder of `mod` is not negative."""
        key: Expr = ("divided", n, d)
        a, b = self.term(n), self.term(d)
        if key not in self.terms:
            q, r = self.z3.FreshInt("q"), self.z3.FreshInt("r")
            inside = self.z3.If(b > 0, self.z3.And(r >= 0, r < b), self.z3.And(r <= 0, r > b))
            self.definitions.append(self.z3.Implies(b != 0, self.z3.And(a == b * q + r, inside)))
            self.terms[key] = q, self.z3.If(self.z3.And(b < 0, r != 0), r - b, r)
        found: tuple[Any, Any] = self.terms[key]
        return found

    def claim(self, step: Step) -> Any:
        """The claim of a step."""
        z3 = self.z3
        if step.claim == "never":
            return z3.BoolVal(False)
        e = self.term(read_expr(step.before))
        if step.claim == "equal":
            return e == self.term(read_expr(step.after))
        parts = [] if step.lower is None else [e >= step.lower]
        parts += [] if step.upper is None else [e <= step.upper]
        parts += [e % step.modulus == step.residue] if step.modulus > 1 else []
        return z3.And(*parts) if parts else z3.BoolVal(True)


def prove(before: str, steps: tuple[Step, ...]) -> None:
    """Prove each step about the map `before` from those it names. Raises Refuted."""
    try:
        import z3
    except ImportError as failure:
        raise IndexingError(missing_extra("solver='z3'", "proofs", failure)) from None
    for step in steps:
        if step.law in ("given", "constraint-divisor"):
            continue
        try:
            _prove(z3, steps, read_map(before), step)
        except TextError as error:
            raise Refuted(step.number, f"{error.message} at character {error.at}") from None


def _prove(z3: Any, steps: tuple[Step, ...], before: MapText, step: Step) -> None:
    """Prove one step: the divisors of the map are not 0, the reasons hold, the claim does not."""
    translation = Translation(z3)
    claims = [translation.claim(steps[k]) for k in step.reasons]
    goal = translation.claim(step)
    solver = z3.Solver()
    solver.set("timeout", MILLISECONDS)
    solver.add(*claims, *(translation.term(d) != 0 for d in divisors(before)), *translation.definitions, z3.Not(goal))
    found = solver.check()
    if found == z3.sat:
        raise Refuted(step.number, f"{step} is wrong where {solver.model()}")
    if found == z3.unknown:
        raise Refuted(step.number, f"{step}: the solver found neither a proof nor a counterexample")


def divisors(of: MapText) -> set[Expr]:
    """The divisors of a map that are no numbers."""
    found: set[Expr] = set()
    todo = [*of.results, *(e for e, _, _ in of.domain)]
    while todo:
        e = todo.pop()
        if isinstance(e, tuple):
            todo += e[1:]
            if e[0] in "/%" and not isinstance(e[2], int):
                found.add(e[2])
    return found
