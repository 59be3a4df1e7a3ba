"""The checker's arithmetic: expressions as integer polynomials over atoms, in a normal form that decides closed laws.

An atom is a variable, a quotient by a constant, a quotient or remainder by an expression, or a minimum. `x mod m` is
`x - m * (x floordiv m)` and `max(a, b)` is `-min(-a, -b)`, so that no law about them is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import gcd
from typing import TypeAlias

from indexing.certificates.reader import Expr

__all__ = ["Atom", "Form", "Forms", "add", "apart", "constant", "made", "scale", "times", "value", "without"]

#: Products of atoms by id, in order, each with its coefficient; `()` is the product of none.
Form: TypeAlias = "tuple[tuple[tuple[int, ...], int], ...]"
#: Its kind, `variable / quotient remainder min`, and what it is made of.
Atom: TypeAlias = "tuple[object, ...]"

ZERO: Form = ()
MAX_ARGUMENTS = 64


def constant(value: int) -> Form:
    """The form of a number."""
    return (((), value),) if value else ZERO


def made(terms: dict[tuple[int, ...], int]) -> Form:
    """The form of these terms."""
    return tuple(sorted((k, c) for k, c in terms.items() if c))


def add(left: Form, right: Form, factor: int = 1) -> Form:
    """`left + factor * right`."""
    terms = dict(left)
    for k, c in right:
        terms[k] = terms.get(k, 0) + factor * c
    return made(terms)


def scale(form: Form, factor: int) -> Form:
    """`factor * form`."""
    return tuple((k, c * factor) for k, c in form) if factor else ZERO


def times(left: Form, right: Form) -> Form:
    """The product."""
    terms: dict[tuple[int, ...], int] = {}
    for k, c in left:
        for j, d in right:
            both = tuple(sorted(k + j))
            terms[both] = terms.get(both, 0) + c * d
    return made(terms)


def apart(form: Form) -> tuple[Form, Form]:
    """The form without its constant, and the constant."""
    return (form[1:], form[:1]) if form and form[0][0] == () else (form, ZERO)


def value(form: Form) -> int | None:
    """The number that it is, if it is one."""
    if not form:
        return 0
    return form[0][1] if len(form) == 1 and form[0][0] == () else None


class Forms:
    """The atoms met so far, and the forms of expressions over them."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.ids: dict[Atom, int] = {}
        #: Divisors that are known not to be 0.
        self.nonzero: set[Form] = set()
        self.memo: dict[Expr, Form] = {}

    def atom(self, atom: Atom) -> Form:
        """The form of one atom."""
        place = self.ids.setdefault(atom, len(self.atoms))
        if place == len(self.atoms):
            self.atoms.append(atom)
        return (((place,), 1),)

    def of(self, e: Expr, equal: dict[Form, Form] | None = None) -> Form:
        """The form of an expression; parts that have a form in `equal` are replaced by the equal one."""
        if equal:
            return self.replaced(e, equal, {})
        known = self.memo.get(e)
        if known is None:
            known = self.memo[e] = self.built(e, self.of)
        return known

    def replaced(self, e: Expr, equal: dict[Form, Form], memo: dict[Expr, Form]) -> Form:
        """As `of`, with a memo of its own."""
        if e not in memo:
            rest, shift = apart(self.of(e))
            if rest not in equal:
                rest, shift = apart(self.built(e, lambda part: self.replaced(part, equal, memo)))
            memo[e] = add(equal.get(rest, rest), shift)
        return memo[e]

    def built(self, e: Expr, part: Callable[[Expr], Form]) -> Form:
        """The form of an expression from those of its operands."""
        if isinstance(e, int):
            return constant(e)
        if isinstance(e, str):
            return self.atom(("variable", e))
        left, right = part(e[1]), part(e[2])
        match e[0]:
            case "+":
                return add(left, right)
            case "*":
                return times(left, right)
            case "/":
                return self.quotient(left, right)
            case "%":
                return self.remainder(left, right)
            case "min":
                return self.minimum([left, right])
        return scale(self.minimum([scale(left, -1), scale(right, -1)]), -1)

    # ------------------------------------------------------------------ quotients and remainders

    def quotient(self, n: Form, d: Form) -> Form:
        """`n floordiv d`."""
        m = value(d)
        if m == 0:
            raise ZeroDivisionError
        if m is not None:
            return self.by_constant(scale(n, -1), -m) if m < 0 else self.by_constant(n, m)
        whole, rest = self.multiples(n, d)
        if d in self.nonzero and rest == ZERO:
            return whole
        return add(whole, self.atom(("quotient", rest, d)))

    def remainder(self, n: Form, d: Form) -> Form:
        """`n mod d`, in [0, |d|)."""
        m = value(d)
        if m is not None:
            return add(n, self.quotient(n, constant(abs(m))), -abs(m))
        rest = self.multiples(n, d)[1]
        if d in self.nonzero and rest == ZERO:
            return ZERO
        return self.atom(("remainder", rest, d))

    def multiples(self, n: Form, d: Form) -> tuple[Form, Form]:
        """`(x, z)` with `n = x * d + z`, where `d` is one atom that is not 0."""
        if d not in self.nonzero or len(d) != 1 or len(d[0][0]) != 1 or d[0][1] != 1:
            return ZERO, n
        (a,) = d[0][0]
        whole = made({without(k, a): c for k, c in n if a in k})
        return whole, made({k: c for k, c in n if a not in k})

    def by_constant(self, n: Form, m: int) -> Form:
        """`n floordiv m` for positive `m`: multiples of m are moved out, common factors cancelled, quotients joined."""
        unit = self.joined(n, m)
        if unit is not None:
            return self.by_constant(*unit)
        whole = made({k: c // m for k, c in n})
        rest = made({k: c % m for k, c in n})
        g = gcd(m, *(c for k, c in rest if k))
        if g > 1:
            rest, m = made({k: c // g for k, c in rest}), m // g
        if value(rest) is not None:  # in [0, m)
            return whole
        residue = next((k for k, c in rest if c == m - 1 and self.is_quotient(k)), None)
        if residue is not None or self.joined(rest, m) is not None:
            back = ZERO if residue is None else ((residue, 1),)
            return add(add(whole, back), self.by_constant(add(rest, back, -m), m))
        turned = made({k: c % m for k, c in add(constant(m - 1), rest, -1)})
        if _order(turned) < _order(rest):
            # rest / m = -((m - 1 - rest) / m), of which multiples of m are moved out once more
            return add(whole, self.negated(rest, m), -1)
        return add(whole, self.atom(("/", rest, m)))

    def negated(self, n: Form, m: int) -> Form:
        """`(m - 1 - n) floordiv m`, whose turned form is that of `n`."""
        turned = add(constant(m - 1), n, -1)
        whole = made({k: c // m for k, c in turned})
        return add(whole, self.atom(("/", made({k: c % m for k, c in turned}), m)))

    def is_quotient(self, k: tuple[int, ...]) -> bool:
        """Whether a product is one quotient by a constant."""
        return len(k) == 1 and self.atoms[k[0]][0] == "/"

    def joined(self, n: Form, m: int) -> tuple[Form, int] | None:
        """`(x / b + y) / m = (x + b * y) / (b * m)`, and `(y - x / b) / m = (b * y - x + b - 1) / (b * m)`."""
        for k, c in n:
            if c in (1, -1) and self.is_quotient(k):
                x, b = self.atoms[k[0]][1:]
                assert isinstance(x, tuple) and isinstance(b, int)
                others = tuple(t for t in n if t[0] != k)
                return add(add(scale(others, b), x, c), constant(b - 1 if c < 0 else 0)), b * m
        return None

    # ------------------------------------------------------------------ minima

    def minimum(self, arguments: Iterable[Form]) -> Form:
        """The minimum: flat, common terms and factors moved out, arguments that differ by a constant merged."""
        least: dict[Form, int] = {}
        for form in self.flat(list(arguments)):
            shift = dict(form).get((), 0)
            key = tuple(t for t in form if t[0] != ())
            least[key] = min(shift, least.get(key, shift))
        forms = [add(key, constant(shift)) for key, shift in least.items()]
        if len(forms) == 1:
            return forms[0]
        outside = self.common(forms)
        forms = [add(f, outside, -1) for f in forms]
        g = gcd(*(c for f in forms for _, c in f))
        inner = frozenset(made({k: c // g for k, c in f}) for f in forms)
        return add(outside, self.atom(("min", inner)), g)

    def flat(self, forms: list[Form]) -> list[Form]:
        """The arguments, with minima in them replaced by their arguments."""
        done = []
        while forms:
            form = forms.pop()
            inner = next(((k, c) for k, c in form if c > 0 and len(k) == 1 and self.atoms[k[0]][0] == "min"), None)
            if inner is None or len(forms) > MAX_ARGUMENTS:
                done.append(form)
            else:
                rest = tuple(t for t in form if t != inner)
                forms += [add(rest, f, inner[1]) for f in self.arguments(inner[0][0])]
        return done

    def common(self, forms: list[Form]) -> Form:
        """The least coefficient of each product: what is moved out of a minimum."""
        tables = [dict(f) for f in forms]
        return made({k: min(t.get(k, 0) for t in tables) for k in {k for t in tables for k in t}})

    def arguments(self, atom: int) -> list[Form]:
        """The arguments of the minimum `atom`."""
        inner = self.atoms[atom][1]
        return sorted(inner) if isinstance(inner, frozenset) else []

    # ------------------------------------------------------------------ parts

    def below(self, form: Form) -> set[int]:
        """The atoms of a form, and those inside of them."""
        found: set[int] = set()
        todo = [form]
        while todo:
            for k, _ in todo.pop():
                for a in k:
                    if a not in found:
                        found.add(a)
                        todo += self.parts(a)
        return found

    def parts(self, atom: int) -> list[Form]:
        """The forms that an atom is made of."""
        kind, *inside = self.atoms[atom]
        if kind == "variable":
            return []
        if kind == "min":
            return self.arguments(atom)
        return [f for f in inside if isinstance(f, tuple)]

    def substituted(self, form: Form, place: int, by: Form, memo: dict[int, Form]) -> Form:
        """The form with the atom `place` replaced by an equal form, also inside of other atoms."""
        out = ZERO
        for k, c in form:
            product = constant(c)
            for a in k:
                if a not in memo:
                    memo[a] = by if a == place else self.rebuilt(a, place, by, memo)
                product = times(product, memo[a])
            out = add(out, product)
        return out

    def rebuilt(self, atom: int, place: int, by: Form, memo: dict[int, Form]) -> Form:
        """An atom with another atom replaced inside of it."""
        parts = [self.substituted(p, place, by, memo) for p in self.parts(atom)]
        match self.atoms[atom]:
            case ("/", _, int(m)):
                return self.by_constant(parts[0], m)
            case ("min", _):
                return self.minimum(parts)
            case ("quotient", *_):
                return self.quotient(*parts)
            case ("remainder", *_):
                return self.remainder(*parts)
        return (((atom,), 1),)


def without(k: tuple[int, ...], a: int) -> tuple[int, ...]:
    """The product without one factor."""
    i = k.index(a)
    return k[:i] + k[i + 1 :]


def _order(form: Form) -> tuple[tuple[int, ...], ...]:
    """The order by which one of two forms of a quotient is chosen: the coefficients, that of the constant last."""
    return (tuple(c for k, c in form if k), tuple(c for k, c in form if not k))
