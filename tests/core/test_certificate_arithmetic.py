"""The checker of certificates reads expressions as forms, and derives claims from facts: each against the definition."""

from __future__ import annotations

import ast
import math
import operator
import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

import indexing as ix
from certificate_texts import Texts, certificate, forged
from exact_maps import Style, random_map
from indexing.certificates.checker.facts import Facts
from indexing.certificates.checker.forms import Form, Forms, constant
from indexing.certificates.checker.laws import compared, equations, rows, value_of
from indexing.certificates.checker.questions import read as read_map
from indexing.certificates.checker.table import Table
from indexing.certificates.step import Node


def value_of_form(forms: Forms, form: Form, at: dict[str, int]) -> int:
    return sum(c * value_of_unknown(forms, k, at) for k, c in form.items())


def value_of_unknown(forms: Forms, k: int, at: dict[str, int]) -> int:
    kind, forms_in = forms.unknowns[k]
    parts = [value_of_form(forms, f, at) for f in forms_in]
    match kind:
        case "1":
            return 1
        case "*":
            return math.prod(parts)
        case "/":
            return parts[0] // parts[1]
        case "%":
            return parts[0] % abs(parts[1])
        case "min":
            return min(parts)
    return at["xyzwv"[int(kind.removeprefix("variable "))]]


def random_expr(
    chosen: random.Random, depth: int, divisors: tuple[int | str, ...] = (-7, -2, 2, 3, 4, 6, 8)
) -> tuple[str, str]:
    """An expression, and the same in Python."""
    if depth == 0 or chosen.random() < 0.2:
        return (str(chosen.choice(("x", "y", "z", chosen.randint(-9, 9)))),) * 2
    left, right = random_expr(chosen, depth - 1, divisors), random_expr(chosen, depth - 1, divisors)
    name = chosen.choice(["+", "-", "*", "min", "max", "floordiv", "mod", "ceildiv"])
    if name in ("floordiv", "mod", "ceildiv"):
        right = (str(chosen.choice(divisors)),) * 2
    written = f"{name}({left[0]}, {right[0]})" if name in ("min", "max") else f"({left[0]}) {name} ({right[0]})"
    python = {
        "floordiv": "{} // {}",
        "mod": "{} % abs({})",
        "ceildiv": "-(-{} // {})",
        "min": "min({}, {})",
        "max": "max({}, {})",
    }
    return written, python.get(name, f"{{}} {name} {{}}").format(f"({left[1]})", f"({right[1]})")


class Read:
    """Reads expressions of x, y, z as forms."""

    def __init__(self, forms: Forms) -> None:
        self.algebra, self.variables = forms, dict(enumerate(forms.variables(3)))

    def expression(self, text: str) -> Form:
        texts = Texts("xyz")
        node = texts.expression(text)
        form: Form = Table(texts.nodes, self.algebra, self.variables).value(node)
        return form


def variables(forms: Forms) -> Read:
    return Read(forms)


def test_forms_have_the_values_of_expressions() -> None:
    chosen = random.Random(1)
    for _ in range(3000):
        forms, at = Forms(), {name: chosen.randint(-40, 40) for name in "xyz"}
        divisors = (-7, -2, 2, 3, 4, 8, *(("x", "y") if at["x"] and at["y"] else ()))
        text, python = random_expr(chosen, chosen.randint(1, 5), divisors)
        form = variables(forms).expression(text)
        assert (
            value_of_form(forms, form, at)
            == eval(python, at)
            == forms.value(form, dict(enumerate((at[n] for n in "xyz"), 1)))
        ), text


def odd(forms: Forms, name: str, lower: int) -> Form:
    """What is 0 where a variable is odd or even like its bound."""
    return forms.remainder(forms.variables(3)["xyz".index(name)] - lower, constant(2))


def test_what_follows_holds_at_every_point() -> None:
    chosen, followed = random.Random(2), 0
    for _ in range(600):
        forms = Forms()
        reader = variables(forms)
        bounds = {name: sorted((chosen.randint(-4, 4), chosen.randint(-4, 4))) for name in "xy"}
        text, python = random_expr(chosen, chosen.randint(1, 3), (-3, 2, 3, 4, "x", "y"))
        facts = Facts(forms, [forms.range(reader.expression(name), *ends) for name, ends in bounds.items()])
        facts.add(forms.range(odd(forms, name, a), 0, 0) for name, (a, b) in bounds.items() if b - a == 2)
        facts.add([forms.range(reader.expression("z"), 0, 0)])
        box = [*product(range(-4, 5), repeat=2)]
        inside = [p for p in box if all(low <= v <= high for v, (low, high) in zip(p, bounds.values(), strict=True))]
        inside = [
            p
            for p in inside
            if all(b - a != 2 or (v - a) % 2 == 0 for v, (a, b) in zip(p, bounds.values(), strict=True))
        ]
        try:
            values = [eval(python, {"x": p[0], "y": p[1], "z": 0}) for p in inside]
            form = reader.expression(text)
        except ZeroDivisionError:
            continue
        least, most = min(values), max(values)
        for lower, upper in ((least, most), (least + 1, math.inf), (-math.inf, most - 1), (0, 0), (-math.inf, 1)):
            for by_systems in (False, True):
                claim = forms.range(form, lower, upper)
                if facts.imply(*claim) if by_systems else facts.hold_everywhere(*claim):
                    followed += 1
                    assert all(lower <= v <= upper for v in values), (text, bounds)
        for m in (2, 3):
            if facts.imply(*forms.range(forms.remainder(form, constant(m)), 1, 1)):
                assert all(v % m == 1 for v in values), (text, bounds)
        assert not facts.exclude()
    assert followed > 800  # it proves something


@pytest.mark.parametrize(
    ("claim", "needed"),
    [
        ("min(x, y) - min(x, y + 1)", ["y - x - 3"]),
        ("(x * 4 + y) floordiv 4 - x", ["y - 3"]),
        ("max(x, min(y, z)) - x", ["y - x"]),
        ("(x + 8) mod 4 - y", ["x - 2", "y - 2"]),
    ],
)
def test_what_follows_does_so_by_each_of_its_reasons(claim: str, needed: list[str]) -> None:
    forms = Forms()
    read = variables(forms).expression
    zeros = [forms.range(read(text), 0, 0) for text in needed]
    wanted = [forms.range(read(claim), 0, 0)]
    assert Facts(forms, zeros).prove(wanted)
    for k in range(len(zeros)):
        assert not Facts(forms, zeros[:k] + zeros[k + 1 :]).prove(wanted)


@pytest.mark.parametrize(
    ("claim", "bounds", "expected"),
    [
        ("(x + 1) * (y + 1)", {"x": (0, 3), "y": (-2, 1)}, (-4, 8)),
        ("-32 floordiv x", {"x": (-7, -3)}, (4, 10)),
        ("x floordiv y", {"x": (-2, 1), "y": (-10, -3)}, (-1, 0)),
        ("x mod y", {"x": (0, 9), "y": (0, 3)}, (0, 2)),
        ("x mod y", {"x": (0, 1), "y": (-7, -5)}, (0, 1)),
    ],
)
def test_bounds_by_definition(claim: str, bounds: dict[str, tuple[int, int]], expected: tuple[int, int]) -> None:
    forms = Forms()
    read = variables(forms).expression
    facts = Facts(forms, [forms.range(read(name), *ends) for name, ends in bounds.items()])
    assert facts.span(read(claim)) == expected


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("(x * 2 + 1) floordiv 4", "x floordiv 2"),
        ("(x * 2 + 3) floordiv 4", "(x + 1) floordiv 2"),
        ("(x * 6 + 5) floordiv -9", "(x * -2 - 2) floordiv 3"),
        ("(x * 4 + 7) mod 8", "(x + 1) mod 2 * 4 + 3"),
        ("(x floordiv 3 + 1) floordiv 2", "(x + 3) floordiv 6"),
    ],
)
def test_common_factors_of_quotients_are_divided_out(text: str, other: str) -> None:
    read = variables(Forms()).expression
    assert read(text) == read(other)


def test_systems_without_solution_have_none() -> None:
    chosen, contradictions = random.Random(3), 0
    values = [-4, -3, -2, -1, 1, 2, 3, 4]
    for _ in range(2000):
        system = [{u: chosen.choice(values) for u in ("x", "y", ())} for _ in range(chosen.randint(1, 5))]
        forms = Forms()
        x, y = forms.variables(2)
        read = [Form.sum([(x, r["x"]), (y, r["y"]), (constant(1), r[()])]) for r in system]
        ranges = [forms.range(read[0], 0, 0), *(forms.range(form, -math.inf, 0) for form in read[1:])]
        box = [(x, y) for x in range(-12, 13) for y in range(-12, 13)]
        at = [[r["x"] * x + r["y"] * y + r[()] for r in system] for x, y in box]
        has = any(values[0] == 0 and all(v <= 0 for v in values[1:]) for values in at)
        if Facts(forms, ranges).has_no_solution():
            contradictions += 1
            assert not has, system
    assert contradictions > 300


def test_maps_have_their_values() -> None:
    for number in range(200):
        m = ix.IndexingMap.parse(str(random_map(random.Random(f"read/{number}"), Style())))
        if m.is_known_empty:
            continue
        forms = Forms()
        made = m.simplify(certificate=True)[1]
        stated = read_map(made, 0, forms)[1]
        assert ix.IndexingMap.parse(made.before) == m
        assert read_map(forged(str(m), str(m)), 0, forms)[1] == stated
        at = dict.fromkeys(range(1, 1 + len(stated.variables)), 3)
        dims, symbols = [3] * len(m.dims), [3] * (len(m.ranges) + len(m.runtimes))
        with suppress(ix.Overflow):
            assert tuple(forms.value(e, at) for e in stated.results) == m.evaluate(dims, symbols)


class Numbers:
    """The algebra of integers."""

    number = staticmethod(int)
    least = staticmethod(min)
    times = staticmethod(operator.mul)

    @staticmethod
    def sum(terms: list[tuple[int, int]]) -> int:
        return sum(value * factor for value, factor in terms)

    @staticmethod
    def quotient(n: int, d: int) -> int:
        return n // d

    @staticmethod
    def remainder(n: int, d: int) -> int:
        return n % abs(d)


COMPARED = {
    ast.LtE: operator.le,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.Eq: operator.eq,
    ast.In: lambda g, n: n % g == 0,
}


def test_rows_hold_for_letters_of_which_their_comparisons_hold() -> None:
    chosen, held = random.Random(4), Counter[str]()
    for name in (name for name, row in rows().items() if row[0] == "rule" and "..." not in row[1]):
        for left, right, needs in equations(name):
            for _ in range(1000):
                letters = {letter: chosen.randint(-3, 6) for letter in "abcdefghijklmnpqrstuvwxyz"}

                def read(side: Any, letters: dict[str, int] = letters) -> int:
                    value: int = value_of(side, Numbers(), letters)
                    return value

                with suppress(ZeroDivisionError):
                    if needs is not None and all(COMPARED[sign](read(a), read(b)) for a, sign, b in needs):
                        assert read(left) == read(right), (name, letters)
                        held[name] += 1
    assert sum(count > 20 for count in held.values()) > 40
    assert not held["quotient-thresholds"] and not held["values-equal"]  # whose conditions are words


def test_comparisons_are_ranges() -> None:
    chosen, forms, (left, right) = random.Random(5), Forms(), (ast.Name("a"), ast.Name("b"))
    for _ in range(500):
        a, b = chosen.choice((-6, -3, -1, 1, 2, 4)), chosen.randint(-6, 6)
        letters = {"a": constant(a), "b": constant(b)}
        for sign, holds in COMPARED.items():
            assert Facts(forms).imply(*compared(forms, letters, left, sign, right)) == holds(a, b), (a, sign, b)
        assert Facts(forms).imply(*forms.nonzero(constant(b))) == (b != 0)


def test_a_product_is_not_zero_by_each_factor() -> None:
    """A divisor is what a step replaces: a law whose letters are its factors needs no more than that the map has it."""
    product = "(a, n, m) -> ((a * n) floordiv (n * (m - 3))), domain: a in [-9, 9], n in [-3, 3], m in [-4, 4]"
    simple, made = ix.IndexingMap.parse(product).simplify(certificate=True)
    assert "a floordiv (m - 3)" in str(simple) and made.check()
    assert "max(-n, n) in [1, 3]" in str(simple)


def test_a_remainder_inside_a_quotient_is_expanded_only_if_its_multiples_move_out() -> None:
    text = "(d0, d1) -> ((d1 + (d0 mod 4) * 3) floordiv 8 + d0 floordiv 4), domain: d0 in [0, 31], d1 in [0, 31]"
    simple, made = ix.IndexingMap.parse(text).simplify(certificate=True)
    assert made.check()
    for x in range(32):
        for y in range(32):
            assert simple.evaluate((x, y)) == ((y + x % 4 * 3) // 8 + x // 4,)


def test_a_congruence_keeps_its_modulus_if_a_remainder_has_a_smaller_one() -> None:
    text = "(d0) -> (d0), domain: d0 in [0, 31], ((d0 mod 4) * 7 + 5) mod 16 in [10, 10]"
    simple, made = ix.IndexingMap.parse(text).simplify(certificate=True)
    assert made.check()
    assert [p[0][0] for p in simple.points()] == [x for x in range(32) if (x % 4 * 7 + 5) % 16 == 10]


@pytest.mark.parametrize(
    ("first", "repeated", "message"),
    [
        (("variable", (0,), ()), [("product", (), (-1, -1))], "a product has too many factors"),
        (("constant", (9,), ()), [("product", (), (-1, -1))], "a number has too many bits"),
        (
            ("sum", (1, 1), (0,)),
            [("product", (), (-1, -1)), ("sum", (1, 1, 1), (-1, 0))],
            "a product has too many terms",
        ),
        (("variable", (0,), ()), [("sum", (9, 1), (-1,)), ("min", (), (-2, -1)), ("sum", (0, 2, 1), (-1, 0))], "holds"),
        (
            ("variable", (0,), ()),
            [("sum", (0, 1, 3), (-1, 0)), ("sum", (0, 1, 5), (-2, 1)), ("min", (), (-3, -2, -1))],
            "holds",
        ),
        (
            ("variable", (0,), ()),
            [("floordiv", (), (-1, 2))],
            "a divisor has too many bits",
        ),
    ],
)
def test_expressions_that_grow_are_undecided_beyond_a_limit(first: Node, repeated: list[Node], message: str) -> None:
    nodes: list[Node] = [("variable", (0,), ()), ("variable", (1,), ()), ("constant", (2**60,), ()), first]
    for _ in range(80):
        for kind, numbers, operands in repeated:
            nodes.append((kind, numbers, tuple(k + len(nodes) if k < 0 else k for k in operands)))
    made = certificate("(d0, d1) -> (0), domain: d0 in [0, 9], d1 in [0, 9]")
    maps = tuple(m._replace(results=(len(nodes) - 1,), domain=()) for m in made.maps)
    verdict = replace(made, nodes=tuple(nodes), maps=maps, steps=(), results=(None,)).check()
    assert str(verdict) == message and verdict.is_undecided is not bool(verdict)
