"""Laws from their rows in `laws.txt`, one a line: group, id, law, condition. A test compares them with those of the core."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from indexing.certificates.checker.facts import Facts
from indexing.certificates.checker.forms import Forms, add
from indexing.certificates.checker.reader import read_expr, replaced
from indexing.certificates.step import Refused, Step

__all__ = ["check_law", "rows"]

#: The claims that laws of a group make.
CLAIMS = {"rule": ("equal",), "constructor": ("equal",), "constraint": ("within", "never"), "range": ("within",)}
#: Consequences of equality itself, which have no row.
EQUALITY = {"operands": "equal", "chain": "equal", "substituted": "within"}


@cache
def rows() -> dict[str, tuple[str, str, str]]:
    """The group, the law and the condition of each law, by id."""
    text = files(__package__).joinpath("laws.txt").read_text(encoding="utf-8")
    return {
        name: (group, law, condition) for group, name, law, condition in (x.split(" | ") for x in text.splitlines())
    }


def check_law(step: Step, forms: Forms) -> None:
    """Check that the law of a step is one of claims like its, and that it is about the left side with the law's letters."""
    if step.law not in rows() and step.law not in EQUALITY:
        raise Refused(step.number, f"there is no law {step.law!r}")
    group, law, _ = rows().get(step.law, ("", "", ""))
    if step.claim not in (CLAIMS[group] if group else EQUALITY[step.law]):
        raise Refused(step.number, f'{step.law} is no law of claims that are "{step.claim}"')
    letters = {letter: read_expr(text) for letter, text in step.bindings}
    sides = [side for part in re.split(r", (?![^()]*\))", law) for side in part.split(" = ")] if letters else []
    before = forms.of(read_expr(step.before)) if letters else ()
    apart = [add(forms.of(replaced(read_expr(side), letters)), before, -1) for side in sides]
    if letters and () not in apart and not any(Facts(forms).is_zero(d) for d in apart):
        raise Refused(step.number, f"{step.before} is no side of {law} for these letters")
