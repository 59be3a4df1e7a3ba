"""Laws from their rows: the equalities and the conditions that a row's text gives for bindings of its letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from indexing.certificates.entailment import Known
from indexing.certificates.forms import Form, Forms, add, scale, value
from indexing.certificates.reader import Expr, TextError, read_expr
from indexing.certificates.rows import ROWS

__all__ = ["LAWS", "instances"]

#: Consequences of equality itself; a step by one of these names no row.
EQUALITY = ("operands", "chain", "substituted")
LAWS = frozenset([*ROWS, *EQUALITY])
MAX_STEPS = 1024

Condition = Callable[[Known], bool]


def instances(
    law: str, letters: dict[str, str], forms: Forms, equal: dict[Form, Form]
) -> Iterator[tuple[list[Form], list[Condition]]]:
    """The content of a row for these letters: forms that are 0 under conditions. Parts of its sides are
    replaced by equal ones. Raises TextError for unfit letters."""
    if law not in ROWS:
        raise TextError(f"{law} has no letters", 0)
    text, precondition = ROWS[law]
    bound = {letter: read_expr(value) for letter, value in letters.items()}

    def form(part: str) -> Form:
        return forms.of(substituted(read_expr(part), bound))

    if law == "quotient-thresholds":
        yield [difference(text, form)], [lambda known: same_thresholds(known, {k: form(k) for k in bound})]
        return
    if law == "quotient-offset-redundant":
        letters_of = {k: form(k) for k in bound}
        yield [difference(text, form)], [lambda known: keeps_period(known, letters_of)]
        return
    zeros = [difference(alternative, form) for alternative in split(text)]
    for side in re.split(r" = ", ", ".join(split(text))) if len(zeros) == 1 else []:
        e = substituted(read_expr(side), bound)
        zeros.append(add(forms.of(e), forms.of(e, equal), -1))
    yield zeros, list(conditions(precondition, form))


def split(text: str) -> list[str]:
    """The parts between commas that stand in no bracket."""
    return re.split(r", (?![^()]*\))", text)


def difference(equality: str, form: Callable[[str], Form]) -> Form:
    """The left side of an equality less the right one."""
    left, right = equality.split(" = ")
    return add(form(left), form(right), -1)


def substituted(e: Expr, letters: dict[str, Expr]) -> Expr:
    """The expression with letters replaced by what they are bound to."""
    if isinstance(e, str):
        if e not in letters:
            raise TextError(f"the letter {e} is not bound", 0)
        return letters[e]
    return e if isinstance(e, int) else (e[0], substituted(e[1], letters), substituted(e[2], letters))


def conditions(text: str, form: Callable[[str], Form]) -> Iterator[Condition]:
    """The conditions of a row, read from its text."""
    for part in split(text):
        divides = re.fullmatch(r"(.+) divides (.+)", part)
        if part == "none":
            continue
        if divides:
            yield divisible(form(divides[1]), form(divides[2]))
            continue
        sides = re.split(r" (<=|<|=|!=) ", part)
        for k in range(0, len(sides) - 2, 2):
            yield compared(form(sides[k]), sides[k + 1], form(sides[k + 2]))


def divisible(divisor: Form, form: Form) -> Condition:
    """`divisor` divides `form`."""
    m = abs(value(divisor) or 0)
    return lambda known: m > 0 and known.has_residue(form, m, 0)


def compared(left: Form, relation: str, right: Form) -> Condition:
    """`left <= right`, or another relation."""
    gap = add(left, right, -1)
    match relation:
        case "<=":
            return lambda known: known.is_at_most(gap, 0)
        case "<":
            return lambda known: known.is_at_most(gap, -1)
        case "=":
            return lambda known: known.is_zero(gap)
    return lambda known: known.is_at_most(gap, -1) or known.is_at_most(scale(gap, -1), -1)


def keeps_period(known: Known, letters: dict[str, Form]) -> bool:
    """Whether `g > 0, k > 0, 0 <= x % g + c < g`, where the residue of x modulo g is known."""
    g, c, k = (value(letters[letter]) for letter in "gck")
    if g is None or c is None or k is None or g <= 0 or k <= 0:
        return False
    for r in known.ranges:
        apart = value(add(letters["x"], r.form, -1))
        own = r.residue if r.modulus > 1 else r.lower
        if apart is not None and own is not None and (r.is_point() or r.modulus % g == 0):
            return 0 <= (own + apart) % g + c < g
    return False


def same_thresholds(known: Known, letters: dict[str, Form]) -> bool:
    """Whether `(a * x + c) / m` and `(x - s) / k + q` are equal on the bounds of x: they rise at the same values."""
    a, c, m, s, k, q = (value(letters[letter]) for letter in "acmskq")
    lower, upper = known.interval(letters["x"])
    if None in (a, c, m, s, k, q, lower, upper):
        return False
    assert a is not None and c is not None and m is not None and s is not None and k is not None and q is not None
    assert lower is not None and upper is not None
    if a <= 0 or m <= 0 or k <= 0:
        return False
    at = lower
    for _ in range(MAX_STEPS):
        left, right = (a * at + c) // m, (at - s) // k + q
        if left != right:
            return False
        # the next value at which one of them rises
        rises = (-((c - (left + 1) * m) // a), s + (right - q + 1) * k)
        if rises[0] != rises[1] and min(rises) <= upper:
            return False
        at = min(rises)
        if at > upper:
            return True
    return False
