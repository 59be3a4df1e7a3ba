"""Programs of arrays with wide rows: what is sliced, reversed, joined and reduced together, in fusions of several results too.

Kernels take apart rows that are longer than a warp in ways that small arrays never meet.
"""

from __future__ import annotations

from collections.abc import Callable

from modules import elementwise, moving, reductions
from modules.control import Body, call
from modules.program import Array, Builder, wide_sizes
from modules.values import SMALL

KINDS = ("f32", "s32") * 3 + ("f64", "bf16", "u8", "s8", "s64", "f16", "pred")
MOVING = ("slice", "reverse", "concatenate", "reshape", "transpose", "pad", "broadcast", "dynamic-slice")
COMPUTING = ("negate", "add", "maximum", "select", "convert", "compare")
REUSE = 0.9  # the probability that an array is read again, so that several results come from one
_STEPS: list[Callable[[Builder], object]] = [
    *(g for opcode in MOVING * 2 for g in moving.GENERATORS[opcode]),
    *moving.GENERATORS["dynamic-update-slice"],
    *moving.GENERATORS["iota"],
    *reductions.GENERATORS["reduce"] * 4,
    *(g for opcode in COMPUTING for g in elementwise.GENERATORS[opcode]),
]


def add_steps(b: Builder) -> None:
    """A wide array, and two to six instructions that read it, each other, or small ones."""
    b.parameter(Array(b.pick(*KINDS), wide_sizes(b.rng)), SMALL)
    for step in b.rng.choices(_STEPS, k=b.rng.randint(2, 6)):
        step(b)


def fusion(b: Builder) -> object:
    """A fusion of such instructions, mostly of several results."""
    inner = b.nested(reuse=REUSE)
    add_steps(inner)
    roots = b.rng.sample(inner.results, min(len(inner.results), b.rng.choice((1, 2, 2, 3, 4))))
    return call(b, "fusion", Body(inner, [i for i in inner.instructions if i.opcode == "parameter"], roots))
