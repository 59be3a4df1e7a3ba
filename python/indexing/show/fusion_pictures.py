"""The pictures of all accesses of a fusion, or of another instruction: of global memory by sector, of shared memory by bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from indexing.analysis.memory.global_memory import Access, Launch, Tiles, coalescing
from indexing.arguments import of_type, optional, takes
from indexing.device.record import Device, DeviceLike
from indexing.hlo import Computation, Instruction, Program, Shape
from indexing.hlo.program_like import or_function, parameter_names, part_of_program
from indexing.show.banks import bank_picture
from indexing.show.cells import Cell, Panel
from indexing.show.picture import Picture
from indexing.show.warp import access_picture


@or_function
@takes(device=optional(of_type(Device, str)), launch=optional(of_type(Launch, Tiles)))
def access_pictures(
    target: Program, device: DeviceLike = None, launch: Launch | Tiles | None = None
) -> tuple[Picture, ...]:
    """A picture of each load and store of global memory, loads first: what the first warp touches, or with `Tiles`, a tile.

    Arguments and errors are those of `coalescing`.
    """
    part = part_of_program(target, "access_pictures: target")
    report = coalescing(part, device, launch)
    return tuple(pictures_of_accesses(part, report.accesses))


def pictures_of_accesses(
    part: Instruction | Computation, chosen: Sequence[Access], names: Sequence[str] | None = None
) -> list[Picture]:
    """The pictures of some accesses; `names` are those of the operands, by default the part's."""
    named = parameter_names(part) if names is None else names
    return [access_picture(a, _shape(part, a), a.threads, name_of_access(a, named)) for a in chosen]


def _shape(part: Instruction | Computation, access: Access) -> Shape:
    """The shape of the array that an access touches."""
    if access.operand is not None:
        return part.operands[access.operand].shape.leaves[0]
    return part.shape.leaves[access.output or 0]


def name_of_access(access: Access, names: Sequence[str]) -> str:
    """The name of an access; `names` are those of the operands."""
    if access.operand is not None:
        return f"read of operand {access.operand}, {names[access.operand]}"
    return f"write of output {access.output}"


@or_function
@takes(device=optional(of_type(Device, str)))
def bank_pictures(target: Program, device: DeviceLike = None) -> tuple[Picture, ...]:
    """A picture of each load and store of shared memory: the warp instruction with most passes; conflicts are red."""
    part = part_of_program(target, "bank_pictures: target")
    report = coalescing(part, device)
    return tuple(bank_picture(access, report.device) for access in report.shared)


def stacked(pictures: Sequence[Picture], title: str) -> Picture:
    """Several pictures as one, below each other; the first panel of each has its title and its note."""
    panels: list[Panel] = []
    for number, picture in enumerate(pictures):
        first = max((panel.level for panel in panels), default=-1) + 1
        for k, panel in enumerate(picture.panels):
            head = f"{picture.title}: {picture.note}; " if k == 0 else ""
            cells = tuple(_renamed(cell, f"p{number}") for cell in panel.cells)
            panels.append(replace(panel, title=head + panel.title, cells=cells, level=first + panel.level))
    return Picture(title, f"{len(pictures)} picture{'' if len(pictures) == 1 else 's'}", tuple(panels))


def _renamed(cell: Cell, prefix: str) -> Cell:
    return replace(cell, key=prefix + cell.key, partners=tuple(prefix + key for key in cell.partners))
