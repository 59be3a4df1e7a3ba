"""Reducers as kernels see them: the opcode and the neutral element of one binary op, and those that depend on an order."""

from __future__ import annotations

from indexing.hlo import Computation, Instruction, ModuleBuilder, Shape
from indexing.hlo.module_cache import cached_on_module
from indexing.ops.element_types import ElementType, element_type

SECOND = "second"  # the opcode of a reducer that returns its second parameter
_SELECTING = frozenset({"parameter", "compare", "select", "and", "or", "not", "tuple"})
_NEUTRAL: dict[str, dict[str, complex | bool | str]] = {
    "add": {"float": -0.0, "signed": 0, "unsigned": 0, "complex": 0j},
    "multiply": {"float": 1.0, "signed": 1, "unsigned": 1, "pred": True, "complex": 1 + 0j},
    "maximum": {"float": float("-inf"), "signed": "lowest", "unsigned": "lowest", "pred": False},
    "minimum": {"float": float("inf"), "signed": "highest", "unsigned": "highest", "pred": True},
    "and": {"signed": -1, "unsigned": "highest", "pred": True},
    "or": {"signed": 0, "unsigned": 0, "pred": False},
    "xor": {"signed": 0, "unsigned": 0, "pred": False},
}


def reducer_opcode(computation: Computation) -> str | None:
    """The opcode of a reducer that is one op on its two parameters; SECOND if it returns the second one."""
    root = computation.root
    if root.is_parameter and root.parameter_number == 1:
        return SECOND
    if [o.is_parameter for o in root.operands] != [True, True] or root.operands[0] is root.operands[1]:
        return None
    return str(root.opcode)


def neutral_element(reduce: Instruction) -> complex | bool | None:
    """The reducer's neutral element; None if the reducer isn't a single op, or has none."""
    root = reduce.computation_of("to_apply").root
    if reduce.shape.is_tuple or [o.is_parameter for o in root.operands] != [True, True]:
        return None
    if root.operands[0] is root.operands[1]:
        return None
    kind = element_type(reduce.shape.element_type)
    neutral = _NEUTRAL.get(root.opcode, {}).get(kind.kind)
    return _limit(kind, neutral) if isinstance(neutral, str) else neutral


def _limit(kind: ElementType, which: str) -> int:
    if which == "lowest":
        return -(1 << (kind.bits - 1)) if kind.kind == "signed" else 0
    return (1 << (kind.bits - (kind.kind == "signed"))) - 1


@cached_on_module
def in_order_of_index(computation: Computation) -> Computation:
    """The reducer for values that are not reduced in the order of their positions, as those of several threads.

    One that selects a pair of a value and its index, as argmax does, may prefer its first operand: of two NaNs, JAX keeps
    that one. It gets the pair of the smaller index first. Others are the same in any order.
    """
    kinds = [element_type(p.shape.element_type).kind for p in computation.parameters]
    integers = [k for k, kind in enumerate(kinds[:2]) if kind in ("signed", "unsigned")]
    if len(kinds) != 4 or len(integers) != 1 or any(i.opcode not in _SELECTING for i in computation.post_order()):
        return computation
    module = ModuleBuilder("ordered", computation.name)
    body, shapes = module.entry, [p.shape for p in computation.parameters]
    pairs = [body.parameter(shape) for shape in shapes]
    is_first = body.add("compare", Shape.array("pred", ()), pairs[integers[0] :: 2], direction="LE")
    flipped = [*pairs[2:], *pairs[:2]]
    ordered = [body.add("select", s, [is_first, a, b]) for s, a, b in zip(shapes, pairs, flipped, strict=True)]
    body.add("call", computation.root.shape, ordered, to_apply=module.copy(computation))
    return module.build().entry
