"""The process that judges modules; jaxlib may end it at any of them."""

from __future__ import annotations

import argparse
import os
import random
import traceback
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modules.program import Program

READY = "ready"
# The process runs kernels of a module from now on; the text of this message says what is wrong if that ends it.
KERNELS = "kernels"


def work(pipe: Connection, seed: int, numbers: range, options: argparse.Namespace) -> None:
    """Judge modules one after the other; each is answered by one message, a failure by a second one made smaller."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)  # what XLA has to say before it dies
    from modules import generate, kernels, oracle
    from modules.check import Options, check, shrink

    pipe.send(READY)
    for number in numbers:
        key = f"{seed}/{number}"
        chosen = kernels.chosen(random.Random(f"{key}/kernels"), options)
        plans = key if random.Random(f"{key}/plans").random() < options.plans else None
        try:
            program = generate.random_program(key, options.steps)
            how = Options(options.tries, tuple(chosen.values()), plans, partial(_announce, pipe, number, program))
            finding = check(program, key, how)
        except oracle.Refused as error:
            pipe.send((number, "refused by jaxlib", str(error)))
            continue
        except BaseException:  # a mistake of the fuzzer's own
            pipe.send((number, "failed", ""))
            pipe.send((number, "smaller", f"the fuzzer itself: {traceback.format_exc()}"))
            continue
        if finding is None:
            pipe.send((number, " with kernels on ".join(["right", " and ".join(chosen)]) if chosen else "right", ""))
            continue
        pipe.send((number, "failed", str(finding)))
        small, why = shrink(program, key, how, finding.kind)
        pipe.send((number, "smaller", f"{why or finding}\n{small.text()}"))


def _announce(pipe: Connection, number: int, program: Program, device: str) -> None:
    pipe.send((number, KERNELS, f"the process died or fell silent while kernels ran on {device}\n{program.text()}"))
