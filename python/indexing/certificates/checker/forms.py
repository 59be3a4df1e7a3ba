"""Expressions as integer polynomials over atoms: variables, quotients, minima, and quotients and remainders by expressions.

`x mod m` is `x - m * (x floordiv m)` and `max(a, b)` is `-min(-a, -b)`, so that no law about them is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd
from typing import TypeAlias

from indexing.certificates.checker.reader import Expr

__all__ = ["Form", "Forms", "add", "apart", "constant", "made", "scale", "times", "value"]

#: A product of atoms, by id.
Product: TypeAlias = "tuple[int, ...]"
#: Products, in order, each with its coefficient; `()` is the product of none.
Form: TypeAlias = "tuple[tuple[Product, int], ...]"
#: Its kind, `variable / quotient remainder min`, and what it is made of.
Atom: TypeAlias = "tuple[object, ...]"


def constant(number: int) -> Form:
    """The form of a number."""
    return (((), number),) if number else ()


def made(terms: Mapping[Product, int]) -> Form:
    """The form of these terms."""
    return tuple(sorted((k, c) for k, c in terms.items() if c))


def add(left: Form, right: Form, factor: int = 1) -> Form:
    """`left + factor * right`."""
    if not left and factor == 1:
        return right
    terms = dict(left)
    for k, c in right:
        terms[k] = terms.get(k, 0) + factor * c
    return made(terms)


def scale(form: Form, factor: int) -> Form:
    """`factor * form`."""
    return tuple((k, c * factor) for k, c in form) if factor else ()


def times(left: Form, right: Form) -> Form:
    """The product."""
    terms: dict[Product, int] = {}
    for k, c in left:
        for j, d in right:
            both = tuple(sorted(k + j))
            terms[both] = terms.get(both, 0) + c * d
    return made(terms)


def apart(form: Form) -> tuple[Form, int]:
    """The form without its constant, and the constant."""
    return (form[1:], form[0][1]) if form and form[0][0] == () else (form, 0)


def value(form: Form) -> int | None:
    """The number that it is, if it is one."""
    rest, number = apart(form)
    return None if rest else number


class Forms:
    """The atoms met so far, and the forms of expressions over them."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.ids: dict[Atom, int] = {}
        self.memo: dict[Expr, Form] = {}
        #: Divisors that are known not to be 0.
        self.nonzero: set[Form] = set()

    def atom(self, atom: Atom) -> Form:
        """The form of one atom."""
        place = self.ids.setdefault(atom, len(self.atoms))
        if place == len(self.atoms):
            self.atoms.append(atom)
        return (((place,), 1),)

    def of(self, e: Expr, equal: Mapping[Form, Form] | None = None, memo: dict[Expr, Form] | None = None) -> Form:
        """The form of an expression; parts that have a form in `equal` are replaced by the equal one."""
        memo = self.memo if memo is None else memo
        if e not in memo:
            rest, shift = apart(self.of(e)) if equal else ((), 0)
            if not equal or rest not in equal:
                rest, shift = self.built(e, equal, memo), 0
                rest, shift = apart(rest) if equal else (rest, 0)
            memo[e] = add(constant(shift), (equal or {}).get(rest, rest))
        return memo[e]

    def built(self, e: Expr, equal: Mapping[Form, Form] | None, memo: dict[Expr, Form]) -> Form:
        """The form of an expression from those of its operands."""
        if isinstance(e, int):
            return constant(e)
        if isinstance(e, str):
            return self.atom(("variable", e))
        parts = [self.of(o, equal, memo) for o in e[1]]
        match e[0]:
            case "+":
                terms: dict[Product, int] = {}
                for k, c in (t for part in parts for t in part):
                    terms[k] = terms.get(k, 0) + c
                return made(terms)
            case "*":
                return times(*parts)
            case "/":
                return self.quotient(*parts)
            case "%":
                return self.remainder(*parts)
            case "min":
                return self.minimum(parts)
        return scale(self.minimum(scale(part, -1) for part in parts), -1)

    def quotient(self, n: Form, d: Form) -> Form:
        """`n floordiv d`: multiples of a number are moved out, common factors cancelled."""
        m = value(d)
        if m is None:
            whole, rest = self.multiples(n, d)
            return add(whole, self.atom(("quotient", rest, d)) if rest or not whole else ())
        if m == 0:
            raise ZeroDivisionError
        if m < 0:
            n, m = scale(n, -1), -m
        whole = made(
            {k: (c + (m - 1) // 2) // m if k else c // m for k, c in n}
        )  # what is left has the least coefficients
        rest = add(n, whole, -m)
        g = gcd(m, *(c for k, c in rest if k))
        rest, m = made({k: c // g for k, c in rest}), m // g
        return whole if value(rest) is not None else add(whole, self.atom(("/", rest, m)))

    def remainder(self, n: Form, d: Form) -> Form:
        """`n mod d`, in [0, |d|)."""
        m = value(d)
        if m is None:
            whole, rest = self.multiples(n, d)
            return self.atom(("remainder", rest, d)) if rest or not whole else ()
        return add(n, self.quotient(n, constant(abs(m))), -abs(m))

    def multiples(self, n: Form, d: Form) -> tuple[Form, Form]:
        """`(x, z)` with `n = x * d + z`, where `d` is one atom that is not 0."""
        if d not in self.nonzero or len(d) != 1 or len(d[0][0]) != 1 or d[0][1] != 1:
            return (), n
        (a,) = d[0][0]
        places = [(k, k.index(a), c) for k, c in n if a in k]
        return made({k[:i] + k[i + 1 :]: c for k, i, c in places}), made({k: c for k, c in n if a not in k})

    def minimum(self, arguments: Iterable[Form]) -> Form:
        """The minimum: flat, common terms and factors moved out, arguments that differ by a constant merged."""
        least: dict[Form, int] = {}
        for form in self.flat(list(arguments)):
            key, shift = apart(form)
            least[key] = min(shift, least.get(key, shift))
        forms = [add(constant(shift), key) for key, shift in least.items()]
        tables = [dict(f) for f in forms]
        outside = made({k: min(t.get(k, 0) for t in tables) for k in {k for t in tables for k in t}})
        forms = [add(f, outside, -1) for f in forms]
        if len(forms) == 1:
            return outside
        g = gcd(*(c for f in forms for _, c in f))
        inner = frozenset(tuple((k, c // g) for k, c in f) for f in forms)
        return add(outside, self.atom(("min", inner)), g)

    def flat(self, forms: list[Form]) -> list[Form]:
        """The arguments, with minima in them replaced by their arguments."""
        done = []
        while forms:
            form = forms.pop()
            inner = next(((k, c) for k, c in form if c > 0 and len(k) == 1 and self.atoms[k[0]][0] == "min"), None)
            if inner is None or len(forms) > 64:
                done.append(form)
            else:
                rest = tuple(t for t in form if t != inner)
                forms += [add(rest, f, inner[1]) for f in self.parts(inner[0][0])]
        return done

    def parts(self, atom: int) -> list[Form]:
        """The forms that an atom is made of."""
        kind, *inside = self.atoms[atom]
        if kind == "min" and isinstance(inside[0], frozenset):
            return sorted(inside[0])
        return [f for f in inside if isinstance(f, tuple)]

    def below(self, forms: Iterable[Form]) -> set[int]:
        """The atoms of forms, and those inside of them."""
        atoms: set[int] = set()
        todo = list(forms)
        while todo:
            new = {a for k, _ in todo.pop() for a in k} - atoms
            atoms |= new
            todo += [part for a in new for part in self.parts(a)]
        return atoms
