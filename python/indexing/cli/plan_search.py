"""`indexing tune`: the fastest plans of a program's kernels, by measurement on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import cast

import indexing as ix
from indexing.cli.answer import Answer, Part, Table
from indexing.cli.console import CommandLineError, Json
from indexing.cli.option_types import add_file, named_device, nonnegative_integer, nonnegative_number
from indexing.cli.programs import named_instruction, printable_name, read_program
from indexing.device.detect import devices
from indexing.runtime.plan_store import Gain, Store
from indexing.tuning.search import SAMPLERS
from indexing.tuning.trials import gain_text


def tune_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `tune`."""
    add_file(sub)
    sub.add_argument("--fusion", "--instruction", metavar="NAME", help="of this fusion only, wherever it is")
    sub.add_argument(
        "--budget", metavar="N", type=nonnegative_integer, default=32, help="plans of each kernel (default: 32)"
    )
    sub.add_argument(
        "--seed", metavar="N", type=nonnegative_integer, default=0, help="the same trials for the same one (default: 0)"
    )
    about_device = f"{', '.join(d.name for d in devices())} (default: a GPU where there is one, else CPU)"
    sub.add_argument("--device", metavar="NAME", type=named_device, help=about_device)
    sub.add_argument("--sampler", choices=SAMPLERS, default="predicted", help="default: predicted")
    sub.add_argument(
        "--seconds", metavar="S", type=nonnegative_number, help="try no further plans of a kernel after this time"
    )
    sub.add_argument("--warm", action="store_true", help="let arguments be in the caches when a kernel starts")
    sub.add_argument("--store", metavar="FILE", type=Path, help="of measurements (default: in the user's data folder)")
    sub.add_argument("--ray", metavar="ADDRESS", help="the nodes of the Ray cluster there measure; local begins one")


def tune(options: argparse.Namespace) -> Answer:
    """Search plans for the kernels of a program, or for one fusion; status 1 if no plan of a kernel could be measured."""
    module = read_program(options.file)
    part = named_instruction(module, options.fusion) if options.fusion else module
    store = Store(options.store).path
    tuned = ix.tune(
        part,
        options.budget,
        options.seed,
        options.device,
        options.sampler,
        store,
        options.ray,
        options.progress,
        options.seconds,
        options.warm,
    )
    searches = tuned if isinstance(tuned, list) else [tuned]
    if not searches:
        raise CommandLineError("no kernel of the program has a choice to make: there is nothing to tune")
    data: Json = {"store": str(store), "kernels": [search_json(s) for s in searches]}
    parts = [part for s in searches for part in search_parts(s)]
    parts += [f"kept in {printable_name(str(store))}: compile(..., tuned=True) takes the fastest plans"]
    return Answer(data, parts, 0 if all(is_measured(s) for s in searches) else 1)


def is_measured(tuning: ix.Tuning) -> bool:
    """Whether at least one plan was measured."""
    return any(t.seconds is not None for t in tuning.trials)


def search_parts(tuning: ix.Tuning) -> Iterator[Part]:
    """A line about the kernel, a row for each plan, and the best plan."""
    count = len(tuning.trials)
    yield f"{printable_name(tuning.name)}: {tuning.emitter}, {count} plan{'s' if count > 1 else ''} tried"
    head, *rows = tuning.cells()
    right = tuple(name if name == "problem" else f">{name}" for name in head)
    yield Table(right, rows, ["  " + line for line in tuning.table().splitlines()])
    if is_measured(tuning):
        plan = " ".join(f"{n}={v}" for n, v in tuning.best.items())
        yield f"  best: {plan}, {gain_text(tuning.gain)}"
    else:
        yield f"  no plan could be measured: {printable_name(tuning.trials[0].measured.detail)}"


def search_json(tuning: ix.Tuning) -> Json:
    """All trials in the order in which they were tried."""
    trials = [
        {
            "plan": cast("Json", dict(t.plan)),
            "predicted_seconds": t.predicted,
            "state": t.measured.state,
            "seconds": t.seconds,
            "spread": t.measured.spread,
            "detail": t.measured.detail,
        }
        for t in tuning.trials
    ]
    return {
        "kernel": tuning.name,
        "emitter": tuning.emitter,
        "device": str(tuning.device),
        "best": cast("Json", dict(tuning.best)) if is_measured(tuning) else None,
        "gain": gain_json(tuning.gain) if is_measured(tuning) else None,
        "trials": cast("Json", trials),
    }


def gain_json(gain: Gain) -> Json:
    """The median and the interval; null where the default could not be measured."""
    if gain.median == inf:
        return None
    return {"median": gain.median, "low": gain.low, "high": gain.high}
