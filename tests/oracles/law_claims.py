"""The claims that the text of a law makes, for an SMT solver: what is proved is the row of the table, not a copy of it.

A law is closed where its text and its precondition are written in this grammar; `/` is floordiv, `%` is mod:

    law         equation, ..  |  statement "=" | "is" | "implies" statement
    statement   atom "," | "and" ..
    atom        a = b, a <= b < c, a != b, e in [a, b], g divides e and f, a or b, true, false
    precondition  atom, .. or "none", then "(max alike)" where the law holds with min and max, and the order, turned round
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import z3

from solver import Claim, Integer, Writer, high, low

Node = tuple[object, ...] | int | str  # ("+", a, b), a number, a name

_TOKEN = re.compile(r"\s*(\d+|[a-z]\w*|[-+*/%(),])")
_COMPARISON = re.compile(r"(<=|>=|!=|<|>|=)")
_COMPARE: dict[str, Callable[[Integer, Integer], z3.BoolRef]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
    "!=": operator.ne,
}
_TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "=": "=", "!=": "!="}
_FUNCTIONS = {"min", "max"}


class Open(ValueError):
    """The text of a law is not closed: it says something in words."""


def parse(text: str) -> Node:
    """The expression that `text` is; raises Open where it is none."""
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        actual = _TOKEN.match(text, at)
        if not actual:
            raise Open(text)
        tokens.append(actual[1])
        at = actual.end()
    tokens.append("")
    node = _sum(tokens)
    if tokens != [""]:
        raise Open(text)
    return node


def _sum(tokens: list[str]) -> Node:
    node = _product(tokens)
    while tokens[0] in ("+", "-"):
        node = (tokens.pop(0), node, _product(tokens))
    return node


def _product(tokens: list[str]) -> Node:
    node = _factor(tokens)
    while tokens[0] in ("*", "/", "%", "ceildiv"):
        node = (tokens.pop(0), node, _factor(tokens))
    return node


def _factor(tokens: list[str]) -> Node:
    token = tokens.pop(0)
    if token == "-":
        return ("-", 0, _factor(tokens))
    if token.isdigit():
        return int(token)
    if token == "(":
        node = _sum(tokens)
        _take(tokens, ")")
        return node
    if token in _FUNCTIONS:
        _take(tokens, "(")
        args = [_sum(tokens)]
        while tokens[0] == ",":
            tokens.pop(0)
            args.append(_sum(tokens))
        _take(tokens, ")")
        return (token, *args)
    if not token.isidentifier() or tokens[0] == "(" or (tokens[0].isidentifier() and tokens[0] != "ceildiv"):
        raise Open(token)
    return token


def _take(tokens: list[str], token: str) -> None:
    if tokens.pop(0) != token:
        raise Open(token)


def split(text: str, separator: str) -> list[str]:
    """`text` cut at `separator`, but not inside brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and text.startswith(separator, at) and at >= start:
            parts.append(text[start:at])
            start = at + len(separator)
    return [*parts, text[start:]]


@dataclass
class Reader:
    """Writes a law, or its dual under `turned`, with the variables of a `Writer`."""

    writer: Writer
    positive: set[str]
    turned: bool
    names: dict[str, Integer] = field(default_factory=dict)
    quotients: dict[tuple[str, str], Integer] = field(default_factory=dict)  # m / g, exact by a precondition

    def name(self, name: str) -> Integer:
        if name not in self.names:
            made = self.writer.small(name) if name in self.positive else self.writer.integers(name)
            self.names[name] = made[0]
        return self.names[name]

    def is_positive(self, node: Node) -> bool:
        if isinstance(node, int):
            return node > 0
        if isinstance(node, str):
            return node in self.positive
        return node[0] in ("*", "/") and all(self.is_positive(part) for part in node[1:])  # type: ignore[arg-type]

    def value(self, node: Node) -> Integer:
        if isinstance(node, int):
            return node
        if isinstance(node, str):
            return self.name(node)
        if node[0] in _FUNCTIONS:
            least = (node[0] == "min") != self.turned
            return (low if least else high)(*map(self.value, node[1:]))  # type: ignore[arg-type]
        kind, a, b = node
        if kind == "/" and (a, b) in self.quotients:
            return self.quotients[a, b]  # type: ignore[index]
        x, y = self.value(a), self.value(b)  # type: ignore[arg-type]
        if kind in ("/", "%"):
            known = self.is_positive(b)  # type: ignore[arg-type]
            write = self.writer
            quotient, remainder = (write.positive_div, write.positive_mod) if known else (write.div, write.mod)
            return (quotient if kind == "/" else remainder)(x, y)
        if kind == "ceildiv":
            return -self.value(("/", ("-", 0, a), b))
        return {"+": operator.add, "-": operator.sub, "*": operator.mul}[str(kind)](x, y)

    def atom(self, text: str) -> z3.BoolRef:
        text = text.strip().removesuffix(" on the domain")
        if text in ("true", "false"):
            return z3.BoolVal(text == "true")
        if len(alternatives := split(text, " or ")) > 1:
            return z3.Or(*map(self.atom, alternatives))
        if len(parts := split(text, " divides ")) == 2:
            return self.divides(*parts)
        if actual := re.fullmatch(r"(.*) in \[(.*)\]", text):
            lower, upper = split(actual[2], ", ")
            ends = [f"{lower} <= {actual[1]}"] * (lower != "-oo") + [f"{actual[1]} <= {upper}"] * (upper != "oo")
            return z3.And(*map(self.atom, ends))
        parts = _COMPARISON.split(text)
        if len(parts) < 3:
            raise Open(text)
        values = [self.value(parse(part)) for part in parts[::2]]
        signs = [self.sign(sign, parts[2 * k], parts[2 * k + 2]) for k, sign in enumerate(parts[1::2])]
        links = zip(signs, values, values[1:], strict=False)
        return z3.And(*(_COMPARE[sign](a, b) for sign, a, b in links))

    def sign(self, sign: str, left: str, right: str) -> str:
        """In the dual the order is turned round, but not against numbers: parameters keep their signs."""
        numbers = left.strip().lstrip("-").isdigit() or right.strip().lstrip("-").isdigit()
        return _TURNED[sign] if self.turned and not numbers else sign

    def divides(self, g: str, wholes: str) -> z3.BoolRef:
        """`g divides m and n`: what is a name, not written yet, becomes `g * k`; what is `n - r`, `n = g * k + r`."""
        divisor, claims = self.value(parse(g)), []
        for whole in re.split(r" and |, ", wholes):
            node = parse(whole)
            known = isinstance(node, str) and node in self.positive
            factor = f"{g.replace(' ', '')}_{len(self.quotients)}_{len(self.names)}"
            k = (self.writer.small if known else self.writer.integers)(factor)[0]
            first = node[1] if isinstance(node, tuple) and node[0] == "-" else node
            if isinstance(first, str) and first not in self.names:
                rest = self.value(node[2]) if isinstance(node, tuple) else 0  # type: ignore[arg-type]
                self.names[first] = divisor * k + rest
                if first == node:
                    self.quotients[first, g] = k
            else:
                claims.append(self.value(node) == divisor * k)
        return z3.And(*claims)

    def all(self, text: str) -> z3.BoolRef:
        return z3.And(*(self.atom(a) for part in split(text, ", ") for a in split(part, " and ")))

    def conclusions(self, law: str) -> list[z3.BoolRef]:
        for word in (" implies ", " is "):
            if len(sides := split(law, word)) == 2:
                left, right = map(self.all, sides)
                return [z3.Implies(left, right) if word == " implies " else left == right]
        if len(sides := re.split(r"(?<=\]) = ", law)) == 2:
            return [self.all(sides[0]) == self.all(sides[1])]
        return [self.atom(part) for part in split(law, ", ")]


def claims(law: str, precondition: str) -> Callable[[Writer], Iterator[Claim]]:
    """The builder of a law's claims; raises Open where it is not closed."""
    condition = precondition.removesuffix(" (max alike)").removesuffix("(max alike)").strip()
    dual = condition != precondition
    if ";" in condition or ".." in condition:
        raise Open(condition)
    atoms = [] if condition == "none" else _joined(split(condition, ", "))
    positive = {actual[1] for atom in atoms if (actual := re.fullmatch(r"(\w+) > 0", atom))}

    def build(writer: Writer) -> Iterator[Claim]:
        for turned in (False, True)[: 1 + dual]:
            reader = Reader(writer, positive, turned)
            # What divides comes first: it says what the other names are made of.
            ordered = sorted(atoms, key=lambda atom: " divides " not in atom)
            hypotheses = [reader.atom(atom) for atom in ordered if not re.fullmatch(r"\w+ > 0", atom)]
            for conclusion in reader.conclusions(law):
                yield z3.And(*hypotheses), conclusion

    for _ in build(Writer()):
        pass
    return build


def _joined(atoms: list[str]) -> list[str]:
    """`g divides m, n and s - r` is one atom."""
    result: list[str] = []
    for atom in atoms:
        if result and " divides " in result[-1] and not _COMPARISON.search(atom) and " divides " not in atom:
            result[-1] += " and " + atom
        else:
            result.append(atom)
    return result
