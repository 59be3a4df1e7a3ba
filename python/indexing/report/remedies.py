"""Remedies in a program's Python: what its author can change so that a kernel is not needed, and the time that this saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.hlo.metadata import op_name
from indexing.ops.registry import traits_of
from indexing.report.lines import seconds_text

if TYPE_CHECKING:
    from indexing.hlo import Instruction

__all__ = ["donation"]


def donation(i: Instruction, seconds: float | None) -> str:
    """The remedy for a copy that only keeps an argument of the program as it is, while its copy is updated; empty for others.

    XLA needs no such copy where the argument is donated. `seconds` is the time of all runs of the copy.
    """
    op = traits_of(i)
    is_copy = op.passes_operand and op.kind == "moves"
    if not is_copy or not i.computation.is_entry or not i.operands[0].is_parameter or not i.users:
        return ""
    argument = i.operands[0]
    is_moved = argument.shape != i.shape  # to another layout
    if is_moved or f"({argument.parameter_number}," in i.module.attributes.get("input_output_alias", ""):
        return ""
    name = op_name(argument) or argument.name
    saved = "" if seconds is None else f", which saves {seconds_text(seconds)}"
    return (
        f"donate argument {argument.parameter_number}, `{name}`, if it is needed no more after the call: "
        f"jax.jit(f, donate_argnums=...){saved}"
    )
