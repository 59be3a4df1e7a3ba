"""Products of matrices that the device's library computes in place of a kernel: where it is predicted to be faster."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from indexing.device.record import Device
from indexing.errors import IndexingError
from indexing.hlo import Instruction
from indexing.model.instruction_time import predict_instruction, predict_library
from indexing.model.libraries import LIBRARIES, library_product

#: Kernels compute products of matrices, or, where it is predicted to be faster, the device's library.
Matmul: TypeAlias = Literal["kernels", "library"]
MATMULS: tuple[Matmul, ...] = get_args(Matmul)


def check_matmul(matmul: str) -> None:
    """Raise IndexingError for an unknown value."""
    if matmul not in MATMULS:
        raise IndexingError(f"matmul is {' or '.join(map(repr, MATMULS))}; got {matmul!r}")


def check_has_library(matmul: str, dialect: str) -> None:
    """Raise IndexingError where a library is asked for, and devices of that dialect have none."""
    if matmul == "library" and dialect not in LIBRARIES:
        raise IndexingError(
            f"no library multiplies matrices for dialect {dialect!r} (there are some for {', '.join(LIBRARIES)}); "
            "use matmul='kernels'"
        )


def is_faster_in_library(instruction: Instruction, device: Device) -> bool:
    """Whether the device's library has an instruction, and is predicted to take less time than a kernel of it alone."""
    if library_product(instruction, device.dialect) is None:
        return False
    kernel, library = predict_instruction(instruction, device).seconds, predict_library(instruction, device).seconds
    return library is not None and (kernel is None or library < kernel)
