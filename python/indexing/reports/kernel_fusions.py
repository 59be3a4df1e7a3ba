"""Kernels' computations as fusions, each in a module of its own: analyses of fusions then apply to them."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.graph.support import KernelSupport
from indexing.hlo import Computation, ComputationBuilder, Instruction, ModuleBuilder, Shape
from indexing.kernels import share_kernels


def fusion_of(computation: Computation, name: str) -> Instruction:
    """A fusion of a computation whose parameters are arrays, with the kernels that it has already."""
    module = ModuleBuilder(name)
    fusion = _called(module, module.copy(computation), computation.operands, computation.shape, name)
    share_kernels(fusion.called[0], computation)
    return fusion


def copy_of(array: Instruction) -> Instruction:
    """A fusion that copies an array."""
    module = ModuleBuilder(array.name)
    body = module.computation(f"copy_{array.name}")
    body.add("copy", array.shape, [body.parameter(array.shape)])
    return _called(module, body, [array], array.shape, array.name)


class SingleFusions:
    """The fusions of single instructions outside of fusions; those of equal instructions are the same."""

    def __init__(self) -> None:
        """Start without any."""
        self._support = KernelSupport()
        self._known: dict[int, Instruction] = {}

    def of(self, i: Instruction) -> Instruction:
        """The fusion of an instruction that a kernel of this package can compute; other instructions as they are."""
        if i.is_fusion or not self._support.instruction(i) or not all(o.shape.is_array for o in i.operands):
            return i
        if i.signature not in self._known:
            self._known[i.signature] = single_fusion(i)
        return self._known[i.signature]


def single_fusion(i: Instruction) -> Instruction:
    """A fusion of one instruction, whose operands are arrays."""
    module = ModuleBuilder(i.name)
    for called in i.called:
        module.copy(called)  # in front of what calls it
    body = module.computation(f"fused_{i.name}")
    body.copy(i, [body.parameter(o.shape) for o in i.operands])
    return _called(module, body, i.operands, i.shape, i.name)


def _called(
    module: ModuleBuilder, body: ComputationBuilder, given: Sequence[Instruction], shape: Shape, name: str
) -> Instruction:
    """The root of the entry: a fusion of `body` for the given operands, with a result of this shape."""
    operands = [module.entry.parameter(o.shape, _name_of(o, k)) for k, o in enumerate(given)]
    module.entry.add("fusion", shape, operands, name, kind="kLoop", calls=body)
    return module.build().entry.root


def _name_of(operand: Instruction, number: int) -> str:
    return f"operand.{number}" if operand.is_parameter else f"{operand.name}.{number}"
