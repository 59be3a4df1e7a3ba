"""One block an opcode: output-to-input law, input-to-output law, numpy reference, element code.

`REGISTRY` maps each opcode to its `Op`. A module of this package ends with its `OPS`; the tuple below lists the modules.
"""

from __future__ import annotations

from types import ModuleType

from indexing.ops import (
    assemble,
    batch_norm,
    collective,
    control,
    convolution,
    dot,
    dynamic,
    elementwise,
    gather,
    linalg,
    reduce,
    rng,
    scan,
    scatter,
    shape,
    sort,
    tuples,
    window,
)
from indexing.ops.library_calls import custom_call
from indexing.ops.op import Op

_MODULES: tuple[ModuleType, ...] = (
    assemble,
    batch_norm,
    collective,
    control,
    convolution,
    dot,
    dynamic,
    elementwise,
    gather,
    custom_call,
    linalg,
    reduce,
    rng,
    scan,
    scatter,
    shape,
    sort,
    tuples,
    window,
)

REGISTRY: dict[str, Op] = {op.opcode: op for module in _MODULES for op in module.OPS}
