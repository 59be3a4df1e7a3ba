"""Checks of what is passed to public functions: a clear TypeError at the door, not an AttributeError within."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Never, ParamSpec, SupportsIndex, TypeAlias, TypeVar

from indexing.errors import IndexingError

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
#: Gives the argument as the function takes it; the second argument names it, for the TypeError where it doesn't fit.
Check: TypeAlias = Callable[[object, str], object]


def takes(**checks: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check arguments by the names of their parameters; those left out, and defaults, are taken as they are."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        wanted = [(names.index(name), name, f"{function.__name__}: {name}", check) for name, check in checks.items()]

        @functools.wraps(function)
        def checked(*args: P.args, **named: P.kwargs) -> R:
            given = list(args)
            for place, name, what, check in wanted:
                if place < len(given):
                    given[place] = check(given[place], what)
                elif name in named:
                    named[name] = check(named[name], what)
            return function(*given, **named)  # type: ignore[arg-type]

        return checked

    return wrap


def of_type(*types: type) -> Check:
    """One of these types."""

    def check(value: object, what: str) -> object:
        return value if isinstance(value, types) else _refuse(value, what, _names(types))

    return check


def each(*types: type) -> Check:
    """Any number of values of these types; given as a tuple."""

    def check(value: object, what: str) -> object:
        values = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
        if values is None or not all(isinstance(v, types) for v in values):
            _refuse(value, what, f"a sequence of {' or '.join(t.__name__ for t in types)}")
        return values

    return check


def integer(value: object, what: str) -> int:
    """An integer of Python or numpy; given as one of Python."""
    if type(value) is int:
        return value
    if isinstance(value, SupportsIndex):
        try:
            return operator.index(value)
        except TypeError:
            pass  # an array of several elements
    return _refuse(value, what, "an integer")


def integers(value: object, what: str) -> object:
    """Any number of integers; given as a tuple of Python's."""
    if not isinstance(value, Iterable) or isinstance(value, str):
        return _refuse(value, what, "a sequence of integers")
    return tuple(integer(v, f"{what}[{k}]") for k, v in enumerate(value))


def one_of(*options: str) -> Check:
    """One of these words; any other is an IndexingError that lists them."""

    def check(value: object, what: str) -> object:
        if not isinstance(value, str):
            _refuse(value, what, f"one of {', '.join(map(repr, options))}")
        if value not in options:
            raise IndexingError(f"{what} is {value!r}; expected one of {', '.join(map(repr, options))}")
        return value

    return check


def optional(check: Check) -> Check:
    """None, or what passes the check."""
    return lambda value, what: None if value is None else check(value, what)


def check_number(number: int, count: int, who: str, what: str) -> None:
    """IndexingError where there are `count` of them, numbered from 0, and this is none; `what` is their plural."""
    if not 0 <= number < count:
        counted = what.removesuffix("s") if count == 1 else what
        raise IndexingError(f"{who} {count} {counted}, numbered from 0: there is no {number}")


def item(items: Sequence[T], number: int, who: str, what: str) -> T:
    """One of several; IndexingError where there is none of that number."""
    check_number(number, len(items), who, what)
    return items[number]


def check_fields(record: object, **checks: Check) -> None:
    """Check fields of a frozen dataclass that is being made."""
    for name, check in checks.items():
        object.__setattr__(record, name, check(getattr(record, name), f"{type(record).__name__}: {name}"))


def described(value: object) -> str:
    """The type of a value, with its article: "an int"."""
    return _article(type(value).__name__)


def _refuse(value: object, what: str, wanted: str) -> Never:
    raise TypeError(f"{what} is {described(value)}; expected {wanted}")


def _names(types: tuple[type, ...]) -> str:
    return " or ".join(_article(t.__name__) for t in types)


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOaeiou' else 'a'} {name}"
