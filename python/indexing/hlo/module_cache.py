"""A cache of function results that lives as long as the module they are about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from indexing.hlo.program import Module


class _OfModule(Protocol):
    """A part of a module, such as a computation, that is hashed by identity."""

    @property
    def module(self) -> Module: ...


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=_OfModule)


@dataclass(slots=True)
class _Cache:
    """The results for one module, by function and arguments."""

    known: dict[tuple[object, ...], object] = field(default_factory=dict)


def cached_on_module(function: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Cache the results of a function on the module of its first argument; they are freed with the module."""

    @wraps(function)
    def cached(subject: S, *more: P.args, **named: P.kwargs) -> R:
        known = subject.module.attached(_Cache).known
        key = function, subject, more, tuple(named.items())
        if key not in known:
            known[key] = function(subject, *more, **named)
        return cast(R, known[key])

    return cast(Callable[Concatenate[S, P], R], cached)
