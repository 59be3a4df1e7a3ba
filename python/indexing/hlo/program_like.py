"""Values that public functions accept as programs: modules, computations, instructions, HLO text, and JAX functions.

A module, and text, stand for the module's entry. A function is followed by its arguments, as in JAX: `analyze(f, x, y)`; the
options of the question are then given by name. Its program is that of `from_jax`, which gets all other keyword
arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from io import IOBase
from os import PathLike
from typing import Concatenate, Never, ParamSpec, Protocol, TypeAlias, TypeGuard, TypeVar, overload

from indexing import _core
from indexing.arguments import described, of_type
from indexing.errors import ParseError
from indexing.hlo.front_ends import from_jax
from indexing.hlo.metadata import op_name
from indexing.hlo.program import Computation, Instruction, Module

#: An instruction, or a computation, whose parameters are then its operands.
Part: TypeAlias = Instruction | Computation
#: Values accepted as a program, beside functions and their arguments; the string is HLO text.
Program: TypeAlias = Instruction | Computation | Module | str
_PROGRAMS = (Instruction, Computation, Module, str)
#: A program to run.
WholeProgram: TypeAlias = Module | str

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class TakesFunction(Protocol[T_contra, P, R_co]):
    """A question about a program: of a module, a part of one or text, or of a function followed by its arguments."""

    @overload
    def __call__(self, program: T_contra, /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, function: Callable[..., object], /, *arguments: object, **options: object) -> R_co: ...


def or_function(question: Callable[Concatenate[T_contra, P], R_co]) -> TakesFunction[T_contra, P, R_co]:
    """Let a question, whose first argument is a program, take a function and its arguments in its place."""

    kinds = signature(question).parameters
    takes_all = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in kinds.values())

    @wraps(question)
    def asked(*args: object, **options: object) -> R_co:
        if args and is_function(args[0]):
            of_function = {} if takes_all else {name: options.pop(name) for name in options.keys() - kinds.keys()}
            args = (_traced(question.__name__, list(kinds)[1:], args, of_function),)
        return question(*args, **options)  # type: ignore[arg-type]

    return asked


def _traced(who: str, options: list[str], args: tuple[object, ...], named: dict[str, object]) -> Module:
    """The program of a function and its arguments; a TypeError of JAX has a note that says what is passed to it."""
    try:
        return from_jax(*args, **named)  # type: ignore[arg-type]
    except TypeError as error:
        by_name = f"; options of {who} are given by name: {', '.join(options)}" if options else ""
        error.add_note(f"{who}(function, *arguments) passes what follows the function to it{by_name}.")
        raise


def is_function(value: object) -> TypeGuard[Callable[..., object]]:
    """Whether a value is a function, or one that JAX has lowered or compiled."""
    if isinstance(value, _PROGRAMS):
        return False
    return (callable(value) and not isinstance(value, type)) or is_staged(value)


def is_staged(value: object) -> TypeGuard[Callable[..., object]]:
    """Whether a value is a result of `jax.jit(f).lower(..)`, or of `.compile()` on that, whose arguments are known."""
    return not isinstance(value, type) and (hasattr(value, "compiler_ir") or hasattr(value, "runtime_executable"))


def part_of_program(value: object, what: str) -> Part:
    """The instruction or computation for which a value stands. Raises TypeError for other values, ParseError for text."""
    if isinstance(value, Instruction | Computation):
        return value
    if isinstance(value, Module):
        return value.entry
    if isinstance(value, str):
        return parsed(value).entry
    return _refuse(value, what, (Instruction, Computation, Module, str))


def whole_program(value: object, what: str) -> Module:
    """The module for which a value stands: a module itself, or HLO text. Raises as `part_of_program`."""
    if isinstance(value, Module):
        return value
    if isinstance(value, str):
        return parsed(value)
    return _refuse(value, what, (Module, str))


def parsed(text: str) -> Module:
    """The module of HLO text. The ParseError for a path, or MLIR, has a note that says what reads it."""
    try:
        return Module(_core.parse_hlo(text))
    except ParseError as error:
        if text.strip() and "{" not in text and "\n" not in text.strip():
            error.add_note("This looks like a path: ix.hlo.load reads files.")
        if "func.func" in text:
            error.add_note("This looks like MLIR: ix.hlo.from_stablehlo reads StableHLO, and ix.hlo.load files of it.")
        raise


def remedy_for(value: object) -> str:
    """The call that gives the program of a value that is no file and no text; empty if there is none."""
    if isinstance(value, Module):
        return "it is a program already"
    if is_staged(value):
        return "its program is ix.from_jax(value)"
    return "its program is ix.from_jax(function, *arguments)" if is_function(value) else ""


def _refuse(value: object, what: str, types: tuple[type, ...]) -> Never:
    if isinstance(value, PathLike | IOBase):
        raise TypeError(f"{what} is {described(value)}; expected a program: ix.hlo.load(path)")
    if isinstance(value, bytes):
        raise TypeError(f"{what} is bytes; expected a program: ix.hlo.load(io.BytesIO(value))")
    if is_function(value):
        raise TypeError(f"{what} is a function; expected its program: ix.from_jax(function, *arguments)")
    try:
        of_type(*types)(value, what)
    except TypeError as refused:
        raise TypeError(f"{refused}, or a function and its arguments") from None
    raise AssertionError(f"{what} is what was expected")


def parameter_names(part: Part) -> tuple[str, ...]:
    """For each operand (of a computation: parameter), its name from the front end, such as `params['w']`, or its own.

    Repeated names get the operand's number appended, from the second on, so that all are distinct.
    """
    names: dict[str, None] = {}
    for k, operand in enumerate(part.operands):
        name = (op_name(operand) if operand.is_parameter else "") or operand.name
        names[f"{name}@{k}" if name in names else name] = None
    return tuple(names)
