"""From a fusion to a kernel: heroes build a kernel in a small typed IR, passes rewrite it, targets write it as source."""

from __future__ import annotations

from inspect import signature
from types import ModuleType
from typing import TYPE_CHECKING

from indexing.emitters.heroes import concatenate, loop, reduction, rows, scatter, transpose, update_slice
from indexing.emitters.kernel import Kernel, check_dialect
from indexing.emitters.targets import TARGETS
from indexing.errors import UnsupportedOp
from indexing.ops.block import leaves

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction

EMITTERS: tuple[ModuleType, ...] = (
    scatter,
    update_slice,
    transpose,
    rows,
    reduction,
    concatenate,
    loop,
)  # the first that matches makes the kernel


def emit(fusion: Instruction | Computation, dialect: str = "cuda", **knobs: int | None) -> Kernel:
    """The kernel of a fusion instruction or of a computation (an entry that only calls a fusion means that fusion).

    `knobs` are those of the emitter that is chosen (its `plan` lists them with their ranges). Raises UnsupportedOp for
    an op that no kernel computes, CompileError for an unknown dialect or shape.
    """
    check_dialect(dialect)
    computation = fused_computation(fusion)
    _check(computation)
    emitter = next(e for e in EMITTERS if e.matches(computation))
    if not TARGETS[dialect].vector_bytes and "vector_width" in signature(emitter.plan).parameters:
        knobs = {"vector_width": 1, **knobs}  # the compiler makes vectors of neighbouring threads
    return Kernel(emitter.kernel(computation, emitter.plan(computation, **knobs)), dialect)


def _check(computation: Computation) -> None:
    """Raises UnsupportedOp for a computation between anything but arrays."""
    shapes = leaves(computation.root.shape)
    if not shapes:
        raise UnsupportedOp(f"{computation.name} returns no array: there is nothing for a kernel to write")
    for shape in shapes:
        if shape.element_type in ("token", "opaque"):
            raise UnsupportedOp(f"{computation.name} returns a {shape.element_type}: no kernel makes one")
    for parameter in computation.parameters:
        if parameter.shape.is_tuple:
            what = f"parameter {parameter.name} of {computation.name} is a tuple"
            raise UnsupportedOp(f"{what}: a kernel takes arrays; give each of its arrays a parameter")


def fused_computation(fusion: Instruction | Computation) -> Computation:
    """The computation that a kernel computes."""
    from indexing.hlo import Instruction

    root = fusion if isinstance(fusion, Instruction) else fusion.root
    if root.opcode == "fusion":
        return root.called[0]
    if isinstance(fusion, Instruction):
        raise UnsupportedOp(f"{fusion.name} is a {fusion.opcode}; emit takes a fusion or a computation")
    return fusion
