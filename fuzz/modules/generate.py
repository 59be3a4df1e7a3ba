"""A random program from a seed; and one for each op, so that every op is known to have a generator."""

from __future__ import annotations

import random
import zlib

import numpy as np

from modules import contraction, control, elementwise, indexed, moving, reductions, rows
from modules.program import Array, Builder, Names, Program
from modules.values import random_array

SIMPLE = (
    elementwise.GENERATORS | moving.GENERATORS | indexed.GENERATORS | reductions.GENERATORS | contraction.GENERATORS
)
_STEPS = [g for generators in SIMPLE.values() for g in generators]
GENERATORS = SIMPLE | control.generators(_STEPS)
ROWS = 0.4  # the share of programs of arrays with wide rows

# Opcodes without a generator, each with the reason.
LEFT_OUT = {
    "parameter": "every program has some",
    **dict.fromkeys(("infeed", "outfeed", "send", "send-done", "recv", "recv-done"), "exchange data with the outside"),
    **dict.fromkeys(("rng", "rng-get-and-update-state"), "random by definition"),
    **dict.fromkeys(("custom-call", "domain"), "no meaning of their own"),
    **dict.fromkeys(
        (
            *("acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh"),
            *(
                "copy-start",
                "copy-done",
                "ragged-dot",
                "stochastic-convert",
                "scaled-dot",
                "ragged-all-to-all",
                "mulhi",
            ),
        ),
        "jaxlib's CPU client doesn't run them",
    ),
    **dict.fromkeys(
        ("async-start", "async-update", "async-done"),
        "lost between HLO and the form that jaxlib's CPU client takes",
    ),
    **dict.fromkeys(("set-dimension-size", "dynamic-reshape"), "sizes that are known only when the program runs"),
    **dict.fromkeys(
        (
            *("all-gather", "all-gather-start", "all-gather-done", "all-reduce", "all-reduce-start", "all-reduce-done"),
            *("all-to-all", "collective-broadcast", "collective-permute", "collective-permute-start"),
            *("collective-permute-done", "reduce-scatter", "partition-id", "replica-id"),
        ),
        "several replicas are needed",
    ),
}


def random_program(seed: str, steps: int = 8) -> Program:
    """A program of about so many instructions; some are of arrays with wide rows. Half return all of their results, others
    those that no instruction reads, so that what is between may stay within a kernel.
    """
    rng = random.Random(seed)
    if rng.random() < ROWS:
        b = Builder(rng, Names(), reuse=rows.REUSE)
        for _ in range(max(steps // 4, 1)):
            rng.choice((rows.add_steps, rows.fusion, rows.fusion))(b)
    else:
        b = Builder(rng, Names())
        opcodes = list(GENERATORS)
        for _ in range(steps):
            rng.choice(GENERATORS[rng.choice(opcodes)])(b)
    program = finished(b)
    return program if rng.random() < 0.5 else program.reduced(_unread(program))


def _unread(program: Program) -> list[str]:
    """The results that no instruction reads."""
    read = {name for i in program.instructions for name in i.operands}
    return [name for name in program.outputs if name not in read] or list(program.outputs)


def program_of(opcode: str, seed: str) -> Program:
    """A program of one instruction of this opcode, and of what that needs."""
    b = Builder(random.Random(f"{seed}/{opcode}"), Names())
    b.rng.choice(GENERATORS[opcode])(b)
    return finished(b)


def finished(b: Builder) -> Program:
    program = Program(b.instructions, b.data, {r.name: r.tolerance for r in b.results})
    return program.reduced([r.name for r in b.results])


def arguments(program: Program, seed: str) -> list[np.ndarray]:
    """Data for the parameters; that of a parameter depends on its name and the seed alone."""
    arrays = []
    for i in program.instructions:
        if i.opcode == "parameter":
            assert isinstance(i.shape, Array)
            rng = np.random.default_rng(zlib.crc32(f"{seed}/{i.name}".encode()))
            arrays.append(random_array(i.shape.kind, i.shape.sizes, program.data[i.name], rng))
    return arrays
