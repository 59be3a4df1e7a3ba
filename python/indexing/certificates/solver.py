"""The check of each step by an SMT solver, over unbounded integers (extra `[proofs]`)."""

from __future__ import annotations

from functools import reduce
from typing import Any

from indexing.certificates.checker.table import Table
from indexing.certificates.step import Claims, Refused, Step
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
        self._quotient, self._product = z3.Function("quotient", *numbers), z3.Function("product", *numbers)
        self.definitions: list[Any] = []
        self.number = z3.IntVal

    def least(self, values: list[Any]) -> Any:
        """The least of terms."""
        return reduce(lambda a, b: self.z3.If(a <= b, a, b), values)

    def sum(self, terms: list[tuple[Any, int]]) -> Any:
        """The sum of multiples."""
        return self.z3.Sum([term * factor for term, factor in terms])

    def times(self, a: Any, b: Any) -> Any:
        """The product."""
        if self.exact or any(self.z3.is_int_value(self.z3.simplify(term)) for term in (a, b)):
            return a * b
        return self._product(*sorted((a, b), key=str))

    def quotient(self, a: Any, b: Any) -> Any:
        """The quotient by definition: a = b * q + r, r between 0 and b."""
        z3, q = self.z3, self._quotient(a, b)
        r = a - self.times(b, q)
        inside = z3.If(b > 0, z3.And(r >= 0, r < b), z3.And(r <= 0, r > b))
        # Of 0 by 0 the quotient is any number: 0 serves, here and in `checker/forms.py`.
        self.definitions += [z3.Implies(b != 0, inside), z3.Implies(a == 0, q == 0)]
        return q

    def remainder(self, a: Any, b: Any) -> Any:
        """The rest that the quotient leaves, which is not negative."""
        r = a - self.times(b, self.quotient(a, b))
        return self.z3.If(self.z3.And(b < 0, r != 0), r - b, r)

    def claim(self, table: Table, step: Step[int]) -> Any:
        """The claim of a step."""
        z3 = self.z3
        if step.claim == "never" or step.before is None:
            return z3.BoolVal(False)
        e = table.value(step.before)
        if step.claim == "equal":
            return e == table.value(step.after)
        parts = [] if step.lower is None else [e >= step.lower]
        parts += [] if step.upper is None else [e <= step.upper]
        parts += [e % step.modulus == step.residue] if step.modulus > 1 else []
        return z3.And(*parts) if parts else z3.BoolVal(True)


def prove(of: Claims) -> None:
    """Prove each step of a certificate from those it names. Raises Refused."""
    try:
        import z3
    except ImportError as failure:
        raise IndexingError(missing_extra("solver='z3'", "proofs", failure)) from None
    for step in of.steps:
        if step.law not in ("given", "constraint-divisor"):
            _prove(z3, of, step)


def _prove(z3: Any, of: Claims, step: Step[int]) -> None:
    """Prove one step: the divisors of the map are not 0, the reasons hold, the claim does not."""
    for exact in (False, True):
        translation = Translation(z3, exact)
        stated = of.maps[1 if of.question == "instantiate" else 0]
        variables = dict(enumerate(z3.Int(name) for group in stated.names for name in group))
        table = Table(of.nodes, translation, variables)
        defined = [divisor != 0 for divisor in table.map(stated, variables.values()).divisors]
        claims = [translation.claim(table, of.steps[k]) for k in step.reasons]
        goal = translation.claim(table, step)
        solver = z3.Solver()
        solver.set("timeout", MILLISECONDS)
        solver.add(*claims, *defined, *translation.definitions, z3.Not(goal))
        answer = solver.check()
        if answer == z3.unsat:
            return
    if answer == z3.sat:
        raise Refused(step.number, f"it is wrong where {solver.model()}")
    raise Refused(step.number, f"undecided: {step.law}: the solver found neither a proof nor a counterexample")
