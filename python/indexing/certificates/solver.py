"""The check of each step by an SMT solver, over unbounded integers (extra `[proofs]`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from indexing.certificates.checker.reader import Expr, MapText, TextError, parts, read_expr, read_map
from indexing.certificates.step import Refused, Step
from indexing.errors import IndexingError
from indexing.extras import missing_extra

__all__ = ["prove"]

#: Of one step; beyond it the step is undecided.
MILLISECONDS = 5_000


class Translation:
    """Expressions as terms of the solver, and the definitions of the quotients in them.

    Quotients are values of a function, so that equal ones are known to be equal; so are products without `exact`, of which
    nothing else is then known: what follows so follows.
    """

    def __init__(self, z3: Any, exact: bool) -> None:
        self.z3 = z3
        self.exact = exact
        numbers = (z3.IntSort(),) * 3
        self.quotient, self.product = z3.Function("quotient", *numbers), z3.Function("product", *numbers)
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
        parts = [self.term(o) for o in e[1]]
        match e[0]:
            case "+":
                return z3.Sum(parts)
            case "*":
                return self.times(*parts)
            case "min":
                return reduce(lambda a, b: z3.If(a <= b, a, b), parts)
            case "max":
                return reduce(lambda a, b: z3.If(a >= b, a, b), parts)
        quotient, remainder = self.divided(*parts)
        return quotient if e[0] == "/" else remainder

    def times(self, a: Any, b: Any) -> Any:
        """The product."""
        if self.exact or self.z3.is_int_value(a) or self.z3.is_int_value(b):
            return a * b
        return self.product(*sorted((a, b), key=str))

    def divided(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Quotient and remainder by definition: a = b * q + r, r between 0 and b; the remainder of `mod` is not negative."""
        z3, q = self.z3, self.quotient(a, b)
        r = a - self.times(b, q)
        inside = z3.If(b > 0, z3.And(r >= 0, r < b), z3.And(r <= 0, r > b))
        self.definitions.append(z3.Implies(b != 0, inside))
        return q, z3.If(z3.And(b < 0, r != 0), r - b, r)

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


def prove(before: str, steps: Sequence[Step]) -> None:
    """Prove each step about the map `before` from those it names. Raises Refused."""
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
            raise Refused(step.number, str(error)) from None


def _prove(z3: Any, steps: Sequence[Step], before: MapText, step: Step) -> None:
    """Prove one step: the divisors of the map are not 0, the reasons hold, the claim does not."""
    for exact in (False, True):
        translation = Translation(z3, exact)
        claims = [translation.claim(steps[k]) for k in step.reasons]
        goal = translation.claim(step)
        defined = [translation.term(d) != 0 for d in divisors(before)]
        solver = z3.Solver()
        solver.set("timeout", MILLISECONDS)
        solver.add(*claims, *defined, *translation.definitions, z3.Not(goal))
        answer = solver.check()
        if answer == z3.unsat:
            return
    if answer == z3.sat:
        raise Refused(step.number, f"{step.text} is wrong where {solver.model()}")
    raise Refused(step.number, f"undecided: {step.text}: the solver found neither a proof nor a counterexample")


def divisors(of: MapText) -> set[Expr]:
    """The divisors of a map that are no numbers."""
    divided = (e[1][1] for e in parts(of.expressions()) if isinstance(e, tuple) and e[0] in "/%")
    return {d for d in divided if not isinstance(d, int)}
