"""Answers that are asked for again and again, and kept with the module that they are about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from indexing.hlo.program import Module


class _OfModule(Protocol):
    """A computation, or another part of a module that is hashed by identity."""

    @property
    def module(self) -> Module: ...


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=_OfModule)


@dataclass(slots=True)
class _Answers:
    """Those of one module, by the function and its arguments."""

    known: dict[tuple[object, ...], object] = field(default_factory=dict)


def remembered(function: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """The function, with each answer found once and freed with the module."""

    @wraps(function)
    def asked(subject: S, *more: P.args, **named: P.kwargs) -> R:
        known = subject.module.attached(_Answers).known
        key = function, subject, more, tuple(named.items())
        if key not in known:
            known[key] = function(subject, *more, **named)
        return cast(R, known[key])

    return cast(Callable[Concatenate[S, P], R], asked)
