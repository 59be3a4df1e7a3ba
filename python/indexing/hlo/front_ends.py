"""Programs from elsewhere: JAX functions, and StableHLO text. JAX is imported when one of these is called, not before."""

from __future__ import annotations

import importlib
import re
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Literal, Protocol, cast

from indexing import _core
from indexing.errors import ParseError, UnsupportedOp
from indexing.extras import missing_extra
from indexing.hlo.program import Module

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Stage", "from_jax", "from_stablehlo"]

#: Which of a JAX function's programs: as it is lowered, or as XLA optimized it for the default device.
Stage = Literal["lowered", "compiled"]

_PLACE = re.compile(r":(\d+):(\d+): error: (.*)")

_LAYOUT = re.compile(r"(?<=\])\{[\d,]*\}")


class _Computation(Protocol):
    def as_hlo_text(self, print_large_constants: bool = ...) -> str: ...


class _Compiled(Protocol):
    def runtime_executable(self) -> _Executable: ...


class _Lowered(Protocol):
    def compiler_ir(self, dialect: str) -> _Computation: ...
    def compile(self) -> _Compiled: ...


class _Executable(Protocol):
    def hlo_modules(self) -> list[_HloModule]: ...


class _HloModule(Protocol):
    def to_string(self, options: object) -> str: ...


def from_jax(function: Callable[..., object], *args: object, stage: Stage = "lowered", **kwargs: object) -> Module:
    """The HLO program of a JAX function for these arguments: arrays, or anything with a shape and a dtype.

    `function` is a plain function or one that `jax.jit` made. Keyword arguments are the function's own. Constants are
    kept whole. Raises UnsupportedOp where JAX is not installed, and what JAX itself raises for the function.
    """
    jax = _needed("jax")
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    lowered = cast(_Lowered, jitted.lower(*args, **kwargs))
    if stage == "lowered":
        return _parsed(_row_major(lowered.compiler_ir("hlo").as_hlo_text(print_large_constants=True)))
    if stage == "compiled":
        return _parsed(_optimized_text(lowered.compile()))
    raise UnsupportedOp(f"a JAX function has no stage {stage!r}; one of 'lowered', 'compiled'")


def _optimized_text(compiled: _Compiled) -> str:
    """`compiled.as_text()` with its large constants."""
    modules = compiled.runtime_executable().hlo_modules()
    if len(modules) != 1:
        raise UnsupportedOp(f"the function compiles to {len(modules)} HLO modules; only one can be read")
    options = sys.modules[type(modules[0]).__module__].HloPrintOptions()
    options.print_large_constants = True
    return modules[0].to_string(options)


def from_stablehlo(text: str) -> Module:
    """The HLO program of StableHLO text, as XLA converts it.

    Raises ParseError for text that is no StableHLO, UnsupportedOp where JAX is not installed or XLA cannot convert the
    program.
    """
    _needed("jax")
    convert = _needed("jaxlib._jax").mlir.mlir_module_to_xla_computation
    runtime_error = _needed("jax.errors").JaxRuntimeError
    try:
        computation = cast(_Computation, convert(text, use_tuple_args=False, return_tuple=False))
    except (ValueError, TypeError, runtime_error) as e:
        raise _refused(text, str(e)) from None
    return _parsed(_row_major(computation.as_hlo_text(print_large_constants=True)))


def _refused(text: str, message: str) -> ParseError | UnsupportedOp:
    """What MLIR says of a text, with its place where it names one."""
    found = _PLACE.search(message)
    if found is None:
        return UnsupportedOp(f"XLA does not convert this StableHLO: {message.strip()}")
    line, column = max(int(found[1]), 1), max(int(found[2]), 1)
    lines = text.split("\n")
    source = lines[line - 1] if line <= len(lines) else ""
    return ParseError(found[3], line, column, source)


def _row_major(text: str) -> str:
    """The text without layouts: before XLA has chosen any, those in it only say how it was converted, and JAX's arrays are
    row-major.
    """
    return _LAYOUT.sub("", text)


def _parsed(text: str) -> Module:
    return Module(_core.parse_hlo(text))


def _needed(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise UnsupportedOp(missing_extra("reading programs of JAX", "jax", missing)) from None
