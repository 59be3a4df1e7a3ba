"""Trip counts of loops: stated by a `while`, or computed from the counter's start, step and bound."""

from __future__ import annotations

from indexing.hlo import Instruction
from indexing.ops.element_types import element_type
from indexing.ops.library_calls.configs import UNREADABLE, backend_config

_MIRRORED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE"}


def stated_trip_count(loop: Instruction) -> int | None:
    """The trip count that XLA has stored in the loop's `backend_config`."""
    if "known_trip_count" not in loop.attributes.get("backend_config", ""):
        return None
    try:
        count = int(backend_config(loop)["known_trip_count"]["n"])
    except UNREADABLE:
        return None
    return count if 0 <= count < 1 << 63 else None


def direction_of(comparison: Instruction, *, mirrored: bool) -> str | None:
    """The direction of a comparison of two integers, with the operands exchanged if `mirrored`; None for anything else."""
    if comparison.opcode != "compare" or not element_type(comparison.operands[0].shape.element_type).is_integer:
        return None
    direction = comparison.attributes["direction"]
    return _MIRRORED.get(direction) if mirrored else direction


def sign_of_step(update: Instruction, position: int) -> int | None:
    """1 if an instruction adds its other operand to that at `position`, -1 if it subtracts it; None otherwise."""
    if update.opcode == "add":
        return 1
    return -1 if update.opcode == "subtract" and position == 0 else None


def trip_count(kind: str, direction: str, first: int, bound: int, step: int) -> int | None:
    """The number of terms of `first`, `first + step`, ... before the first that fails the comparison with `bound`.

    None if no term fails it, or a term overflows the element type `kind`.
    """
    if direction == "NE":
        turns, rest = divmod(bound - first, step) if step else (int(bound != first) * -1, 0)
        return turns if turns >= 0 and not rest else None
    if direction in ("GT", "GE"):
        direction, first, bound, step = _MIRRORED[direction], -first, -bound, -step
        lowest, highest = (-end for end in reversed(_range(kind)))
    else:
        lowest, highest = _range(kind)
    end = bound + (direction == "LE")
    if direction not in ("LT", "LE") or not lowest <= first <= highest:
        return None
    if first >= end:
        return 0
    turns = -(-(end - first) // step) if step > 0 else 0
    return turns if step > 0 and first + turns * step <= highest else None


def _range(kind: str) -> tuple[int, int]:
    integer = element_type(kind)
    if integer.kind == "unsigned":
        return 0, 2**integer.bits - 1
    return -(2 ** (integer.bits - 1)), 2 ** (integer.bits - 1) - 1
