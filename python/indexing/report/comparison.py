"""Comparison of two programs that do the same: fusions lost and made, bytes, waste."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from indexing.hlo import op_name
from indexing.report.programs import FusionReport, ProgramReport, analyze

if TYPE_CHECKING:
    from indexing.analysis.device import Device
    from indexing.hlo import Computation, Instruction, Program

__all__ = ["Comparison", "compare", "content_key"]

#: The key that two kernels which compute the same have in common, whatever their names.
Key: TypeAlias = "tuple[object, ...]"
_NAMES = frozenset({"metadata", "backend_config", "frontend_attributes", "calls", "to_apply", "sharding"})


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reports, and their fusions side by side.

    `same` compute the same in both; `changed` come from the same operation of the source; `lost` are only in the program
    before, `made` only in the one after: those that waste most first.
    """

    before: ProgramReport
    after: ProgramReport
    same: tuple[tuple[FusionReport, FusionReport], ...]
    changed: tuple[tuple[FusionReport, FusionReport], ...]
    lost: tuple[FusionReport, ...]
    made: tuple[FusionReport, ...]

    def __str__(self) -> str:
        """The totals of both, then what changed."""
        from indexing.report.lines import comparison_lines

        return "\n".join(comparison_lines(self, top=10))


def compare(before: Program, after: Program, device: Device | str = "h100") -> Comparison:
    """Compare two programs, such as two dumps of one JAX function from two versions of XLA.

    Kernels that compute the same from operands of the same shapes and layouts are paired, then those whose metadata names
    the same operation and that have results of the same shapes. Raises as `analyze` does.
    """
    first, second = analyze(before, device), analyze(after, device)
    same, lost, made = _paired(first.fusions, second.fusions, content_key)
    changed, lost, made = _paired(lost, made, _origin)
    return Comparison(first, second, tuple(same), tuple(changed), tuple(lost), tuple(made))


def _paired(
    before: Sequence[FusionReport], after: Sequence[FusionReport], key: Callable[[Instruction], Key]
) -> tuple[list[tuple[FusionReport, FusionReport]], list[FusionReport], list[FusionReport]]:
    """Those with equal keys in pairs, in order; and the others of both sides."""
    waiting: dict[Key, list[FusionReport]] = {}
    for fusion in after:
        waiting.setdefault(key(fusion.instruction), []).append(fusion)
    pairs, lost = [], []
    for fusion in before:
        found = waiting.get(key(fusion.instruction))
        if found:
            pairs.append((fusion, found.pop(0)))
        else:
            lost.append(fusion)
    left = {f.instruction for fusions in waiting.values() for f in fusions}
    return pairs, lost, [f for f in after if f.instruction in left]


def content_key(i: Instruction) -> Key:
    """Opcode, shapes and attributes, and those of all that is computed inside, names aside."""
    return (_own(i), *(str(o.shape) for o in i.operands), *(_inside(c) for c in i.called))


def _inside(computation: Computation) -> Key:
    order = computation.post_order()
    number = {i: k for k, i in enumerate(order)}
    return tuple((_own(i), *(number[o] for o in i.operands), *map(_inside, i.called)) for i in order)


def _own(i: Instruction) -> Key:
    kept = tuple(sorted((k, v) for k, v in i.attributes.items() if k not in _NAMES))
    literal = str(i).split(" = ", 1)[-1].partition(", metadata=")[0] if not i.operands else ""
    return i.opcode, str(i.shape), kept, literal


def _origin(i: Instruction) -> Key:
    """The operation of the source, and the result's shape; for what has no name one that nothing else has."""
    name = op_name(i)
    return (name, str(i.shape)) if name else (i,)
