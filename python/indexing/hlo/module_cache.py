"""A cache of function results that lives as long as the module they are about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from indexing.hlo.program import Instruction, Module


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
    return _cached(function, lambda subject: subject)


def cached_by_signature(function: Callable[Concatenate[Instruction, P], R]) -> Callable[Concatenate[Instruction, P], R]:
    """As `cached_on_module`, one result for all equal instructions of the module."""
    return _cached(function, lambda instruction: instruction.signature)


def _cached(function: Callable[Concatenate[S, P], R], key_of: Callable[[S], object]) -> Callable[Concatenate[S, P], R]:
    @wraps(function)
    def cached(subject: S, *more: P.args, **named: P.kwargs) -> R:
        known = subject.module.attached(_Cache).known
        key = function, key_of(subject), more, tuple(named.items())
        if key not in known:
            known[key] = function(subject, *more, **named)
        return cast(R, known[key])

    return cast(Callable[Concatenate[S, P], R], cached)
