"""The array that makes an answer leave the range of int64, which the arithmetic of maps alone does not know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from math import prod
from typing import Concatenate, ParamSpec, TypeVar, cast

from indexing.errors import Overflow
from indexing.hlo import Computation, Instruction
from indexing.kernels.kernel import Kernel

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=Computation | Instruction | Kernel)


def names_largest_array(question: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let an Overflow that a question about a program or a kernel raises name its largest array."""

    @wraps(question)
    def asked(subject: S, *args: P.args, **options: P.kwargs) -> R:
        try:
            return question(subject, *args, **options)
        except Overflow as error:
            if error.array:
                raise
            count, array = max(_arrays(subject), default=(0, ""))
            message = f"{subject.name}: {error}; its largest array is {array}: {count:,} elements"
            raise Overflow(message, array) from None

    return cast("Callable[Concatenate[S, P], R]", asked)


def _arrays(subject: Computation | Instruction | Kernel) -> Iterator[tuple[int, str]]:
    """The numbers of elements of arrays, and what they are."""
    if isinstance(subject, Kernel):
        for a in subject.arguments:
            yield a.element_count, f"{a.kind} {a.number}, {a.element_type}[{','.join(map(str, a.dimensions))}]"
        return
    inside = subject.called[0] if isinstance(subject, Instruction) and subject.is_fusion else subject
    around = inside.instructions.values() if isinstance(inside, Computation) else (inside, *inside.operands)
    for i in around:
        yield from ((prod(leaf.dimensions), f"{i.name}, {leaf}") for leaf in i.shape.leaves)
