"""The check of each step by an SMT solver, over unbounded integers (extra `[proofs]`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from indexing.certificates.checker.reader import Node, Reader, Table, TextError
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

    def __init__(self, z3: Any, table: Table, exact: bool) -> None:
        self.z3 = z3
        self.table = table
        self.exact = exact
        numbers = (z3.IntSort(),) * 3
        self.quotient, self.product = z3.Function("quotient", *numbers), z3.Function("product", *numbers)
        self.terms: dict[int, Any] = {}
        self.definitions: list[Any] = []

    def term(self, number: int) -> Any:
        """The solver's term of an expression."""
        if number not in self.terms:
            self.terms[number] = self.made(self.table.nodes[number])
        return self.terms[number]

    def made(self, node: Node) -> Any:
        z3 = self.z3
        if isinstance(node, int):
            return z3.IntVal(node)
        if isinstance(node, str):
            return z3.Int(node)
        parts = [self.term(o) for o in node[1]]
        match node[0]:
            case "+":
                return z3.Sum(parts)
            case "*":
                return self.times(*parts)
            case "min":
                return reduce(lambda a, b: z3.If(a <= b, a, b), parts)
            case "max":
                return reduce(lambda a, b: z3.If(a >= b, a, b), parts)
        quotient, remainder = self.divided(*parts)
        return quotient if node[0] == "/" else remainder

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
        # Of 0 by 0 the quotient is any number: 0 serves, here and in `checker/forms.py`.
        self.definitions += [z3.Implies(b != 0, inside), z3.Implies(a == 0, q == 0)]
        return q, z3.If(z3.And(b < 0, r != 0), r - b, r)

    def claim(self, read: Callable[[str], int], step: Step) -> Any:
        """The claim of a step."""
        z3 = self.z3
        if step.claim == "never":
            return z3.BoolVal(False)
        e = self.term(read(step.before))
        if step.claim == "equal":
            return e == self.term(read(step.after))
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
    reader = Reader(Table())
    own = reader.map(before)
    divisors = set[int]().union(*map(reader.table.divisors, own.expressions))
    for step in steps:
        if step.law in ("given", "constraint-divisor"):
            continue
        try:
            _prove(z3, reader, divisors, steps, step)
        except TextError as error:
            raise Refused(step.number, str(error)) from None


def _prove(z3: Any, reader: Reader, divisors: set[int], steps: Sequence[Step], step: Step) -> None:
    """Prove one step: the divisors of the map are not 0, the reasons hold, the claim does not."""
    for exact in (False, True):
        translation = Translation(z3, reader.table, exact)
        claims = [translation.claim(reader.expression, steps[k]) for k in step.reasons]
        goal = translation.claim(reader.expression, step)
        defined = [translation.term(d) != 0 for d in divisors]
        solver = z3.Solver()
        solver.set("timeout", MILLISECONDS)
        solver.add(*claims, *defined, *translation.definitions, z3.Not(goal))
        answer = solver.check()
        if answer == z3.unsat:
            return
    if answer == z3.sat:
        raise Refused(step.number, f"{step.text} is wrong where {solver.model()}")
    raise Refused(step.number, f"undecided: {step.text}: the solver found neither a proof nor a counterexample")
