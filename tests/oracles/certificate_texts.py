"""Certificates from texts, which say what the core would never write: nothing here is in a canonical form."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

import indexing as ix
from indexing.certificates import Certificate, Step, Verdict
from indexing.certificates.step import MapTable, Node

BINARY = {ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Mult: "product"}
HEAD = re.compile(r"\(([^()]*)\)(?:\[([^]]*)\])?(?:\{([^}]*)\})?")
CONSTRAINT = re.compile(r"(.+?) in \[(-?\d+), (-?\d+)\](?:, (?=.)|$)")
EMPTY = {"KNOWN EMPTY": "known empty", "UNDEFINED": "undefined"}


class Texts:
    """A table of nodes that grows by what is read."""

    def __init__(self, names: Sequence[str], nodes: Sequence[Node] = ()) -> None:
        self.names, self.nodes = list(names), list(nodes)

    def node(self, kind: str, numbers: Sequence[int], operands: Sequence[int]) -> int:
        self.nodes.append((kind, tuple(numbers), tuple(operands)))
        return len(self.nodes) - 1

    def expression(self, text: str) -> int:
        """The node of an expression."""
        python = text.replace("floordiv", "//").replace("mod", "%").replace("ceildiv", "@")
        return self._of(ast.parse(python, mode="eval").body)

    def _of(self, tree: ast.expr) -> int:
        match tree:
            case ast.Constant(int(number)):
                return self.node("constant", [number], [])
            case ast.Name(name):
                return self.node("variable", [self.names.index(name)], [])
            case ast.UnaryOp(ast.USub(), operand):
                return self.node("sum", [0, -1], [self._of(operand)])
            case ast.Call(ast.Name(kind), arguments):
                return self.node(kind, [], [self._of(a) for a in arguments])
            case ast.BinOp(left, ast.MatMult(), right):
                turned = self.node("sum", [0, -1], [self._of(left)])
                return self.node("sum", [0, -1], [self.node("floordiv", [], [turned, self._of(right)])])
            case ast.BinOp(left, (ast.Add() | ast.Sub()) as sign, right):
                factors = [0, 1, 1 if isinstance(sign, ast.Add) else -1]
                return self.node("sum", factors, [self._of(left), self._of(right)])
            case ast.BinOp(left, operator, right):
                return self.node(BINARY[type(operator)], [], [self._of(left), self._of(right)])
        raise ValueError(ast.dump(tree))

    def map(self, text: str) -> MapTable:
        """The table of a map, whose names are then those of expressions."""
        if text in EMPTY:
            return MapTable(EMPTY[text])
        head, _, rest = text.partition(" -> ")
        results, _, domain = rest.partition(", domain: ")
        match = HEAD.fullmatch(head)
        assert match, head
        names = tuple(tuple(group.split(", ")) if group else () for group in match.groups(""))
        self.names = [name for group in names for name in group]
        stated = [(self.expression(e), int(a), int(b)) for e, a, b in CONSTRAINT.findall(domain)]
        tree = ast.parse(f"({results[1:-1]},)".replace("floordiv", "//").replace("mod", "%").replace("ceildiv", "@"))
        elements = tree.body[0].value.elts  # type: ignore[attr-defined]
        return MapTable("defined", names, tuple(map(self._of, elements)), tuple(stated))

    def step(self, of: Step[str]) -> Step[int]:
        """A step with nodes for its texts."""
        before, after = (None if e is None else self.expression(e) for e in (of.before, of.after))
        letters = tuple((letter, self.expression(e)) for letter, e in of.bindings)
        return Step(*of[:3], before, after, *of[5:9], letters, of.reasons)


def with_map(made: Certificate, place: int, text: str) -> Certificate:
    """A certificate with another map."""
    texts, place = Texts((), made.nodes), place % len(made.maps)
    other = texts.map(text)
    maps = (*made.maps[:place], other, *made.maps[place + 1 :])
    return replace(made, maps=maps, nodes=tuple(texts.nodes))


def with_step(made: Certificate, step: Step[str]) -> Certificate:
    """A certificate with another step of that number."""
    texts = Texts([name for group in made.maps[0].names for name in group], made.nodes)
    steps = (*made.steps[: step.number], texts.step(step), *made.steps[step.number + 1 :])
    return replace(made, steps=steps, nodes=tuple(texts.nodes))


def forged(before: str, after: str, steps: Sequence[Step[str]] = (), results: Sequence[int | None] = ()) -> Certificate:
    """The certificate of a simplification that claims anything."""
    texts = Texts(())
    second, first = texts.map(after), texts.map(before)
    numbered = tuple(map(texts.step, steps))
    return Certificate("simplify", tuple(texts.nodes), (first, second), numbered, None, tuple(results))


def certificate(text: str) -> Certificate:
    return ix.IndexingMap.parse(text).simplify(certificate=True)[1]


def refused(made: Certificate, message: str, solver: str | None = None) -> Verdict:
    """The verdict of a certificate that must not hold."""
    verdict = made.check(solver)
    assert not verdict and message in str(verdict), verdict
    return verdict
