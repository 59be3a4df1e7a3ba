"""From a fusion to a kernel as plain data; no device and no compiler is needed."""

from __future__ import annotations

from types import ModuleType

from indexing.arguments import of_type, takes
from indexing.emit import concatenate, loop, reduction, scatter, transpose, update_slice
from indexing.emit.kernel import DIALECTS, Dialect, Kernel
from indexing.errors import CompileError, UnsupportedOp
from indexing.hlo import Computation, Instruction
from indexing.ops.block import leaves
from indexing.ops.bounded import check_kernel_sizes

EMITTERS: tuple[ModuleType, ...] = (
    scatter,
    update_slice,
    transpose,
    reduction,
    concatenate,
    loop,
)  # the first that matches makes the kernel


@takes(fusion=of_type(Instruction, Computation), dialect=of_type(str))
def emit(fusion: Instruction | Computation, dialect: Dialect = "cuda", **knobs: int | None) -> Kernel:
    """The kernel of a fusion instruction or of a computation (an entry that only calls a fusion means that fusion).

    `knobs` are those of the emitter that is chosen (its `plan` lists them with their ranges). Raises UnsupportedOp for
    an op that no kernel computes, CompileError for an unknown dialect or shape.
    """
    if dialect not in DIALECTS:
        raise CompileError(f"there is no dialect {dialect!r}; choose one of {', '.join(DIALECTS)}")
    computation = fused_computation(fusion)
    _check(computation)
    emitter = next(e for e in EMITTERS if e.matches(computation))
    return emitter.kernel(computation, emitter.plan(computation, **knobs), dialect)  # type: ignore[no-any-return]


def _check(computation: Computation) -> None:
    """Raises UnsupportedOp for a computation between anything but arrays of known sizes."""
    check_kernel_sizes(computation)
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
    root = fusion if isinstance(fusion, Instruction) else fusion.root
    if root.opcode == "fusion":
        return root.called[0]
    if isinstance(fusion, Instruction):
        raise UnsupportedOp(f"{fusion.name} is a {fusion.opcode}; emit takes a fusion or a computation")
    return fusion
