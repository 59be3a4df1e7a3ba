"""Values that public functions accept as programs: instructions, computations, modules, and JAX functions with arguments.

A module stands for its entry, a tuple `(function, *arguments)` for the entry of the function's program, lowered by
`from_jax`.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Never, TypeAlias, TypeGuard

from indexing import _core
from indexing.arguments import of_type
from indexing.hlo.front_ends import from_jax
from indexing.hlo.metadata import op_name
from indexing.hlo.program import Computation, Instruction, Module

__all__ = [
    "Part",
    "Program",
    "WholeProgram",
    "is_staged",
    "parameter_names",
    "part_of_program",
    "refuse_bare_function",
    "whole_program",
]

#: An instruction, or a computation, whose parameters are then its operands.
Part: TypeAlias = Instruction | Computation
#: Values accepted as a program; the tuple is a JAX function and its arguments.
Program: TypeAlias = Instruction | Computation | Module | tuple[object, ...]

#: A program to run; the string is HLO text.
WholeProgram: TypeAlias = Module | str | tuple[object, ...]

_PARTS = (Instruction, Computation, Module)


def part_of_program(value: object, what: str) -> Part:
    """The instruction or computation for which a value stands. Raises TypeError for other values."""
    if isinstance(value, Instruction | Computation):
        return value
    if isinstance(value, Module):
        return value.entry
    if _is_called(value):
        return from_jax(*value).entry
    if is_staged(value):
        return from_jax(value).entry
    if isinstance(value, str | PathLike):
        raise TypeError(
            f"{what} is a {type(value).__name__}; expected a program: ix.hlo.load(path), or ix.hlo.parse(text)"
        )
    return _refuse(value, what, _PARTS)


def refuse_bare_function(value: object, what: str) -> object:
    """The value itself. Raises TypeError for a function without arguments, on which its program depends."""
    if callable(value) and not isinstance(value, type) and not is_staged(value):
        raise TypeError(f"{what} is a function; its program depends on the arguments: give (function, *arguments)")
    return value


def _refuse(value: object, what: str, types: tuple[type, ...]) -> Never:
    refuse_bare_function(value, what)
    try:
        of_type(*types)(value, what)
    except TypeError as refused:
        raise TypeError(f"{refused}, or (function, *arguments)") from None
    raise AssertionError(f"{what} is what was expected")


def is_staged(value: object) -> TypeGuard[Callable[..., object]]:
    """Whether a value is a result of `jax.jit(f).lower(..)`, or of `.compile()` on that, whose arguments are known."""
    return not isinstance(value, type) and (hasattr(value, "compiler_ir") or hasattr(value, "runtime_executable"))


def whole_program(value: object, what: str) -> Module:
    """The module for which a value stands: a module itself, HLO text, or a function with its arguments."""
    if isinstance(value, Module):
        return value
    if isinstance(value, str):
        return Module(_core.parse_hlo(value))
    if _is_called(value):
        return from_jax(*value)
    if is_staged(value):
        return from_jax(value)
    if isinstance(value, PathLike):
        raise TypeError(f"{what} is a {type(value).__name__}; expected a program: ix.hlo.load(path)")
    return _refuse(value, what, (Module, str))


def parameter_names(part: Part) -> tuple[str, ...]:
    """For each operand (of a computation: parameter), its name from the front end, such as `params['w']`, or its own.

    Repeated names get the operand's number appended, from the second on, so that all are distinct.
    """
    names: dict[str, None] = {}
    for k, operand in enumerate(part.operands):
        name = (op_name(operand) if operand.is_parameter else "") or operand.name
        names[f"{name}@{k}" if name in names else name] = None
    return tuple(names)


def _is_called(value: object) -> TypeGuard[tuple[Callable[..., object], *tuple[object, ...]]]:
    return isinstance(value, tuple) and len(value) > 0 and callable(value[0])
