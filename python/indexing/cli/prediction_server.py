"""`indexing serve`: predictions for programs in other languages, by lines of JSON on the standard streams (docs/c.md)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from functools import lru_cache, partial
from math import isfinite
from typing import Any, cast

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.console import CommandLineError, Json, write
from indexing.cli.memory import report_json
from indexing.cli.option_types import add_device
from indexing.cli.programs import named_instruction
from indexing.device.record import Device
from indexing.hlo import Computation, Module, Part

FIELDS = ("hlo", "instruction", "device", "plans", "id")
MAX_NAMED = 5  # fusions to choose from
MAX_PROGRAMS = 8  # the last ones are kept, with what was counted of them


def serve_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `serve`."""
    add_device(sub)


def serve(options: argparse.Namespace) -> Answer:
    """Answer each line of standard input, until it ends, by a line of standard output; what is wrong with one is its answer."""
    options.json = False  # nothing follows the answers
    if sys.stdin is None:
        raise CommandLineError("standard input is closed: there are no requests")
    read = lru_cache(MAX_PROGRAMS)(ix.hlo.parse)
    for line in sys.stdin.buffer:
        if line.strip():
            write([json.dumps(finite(answer_to(line, partial(predicted, read, options.device))))])
    return Answer(None, ())


def answer_to(line: bytes, predict: Any) -> dict[str, Json]:
    """The answer for a request: an object with the request's `id`, and an `error` where there is no other answer."""
    identity: Json = None
    try:
        request = json.loads(line, object_pairs_hook=_object)
        if not isinstance(request, dict):
            raise CommandLineError(f"a request is an object with {', '.join(FIELDS)}")
        identity = request.get("id")
        answered = predict(request)
    except ix.IndexingError as error:
        answered = {"error": str(error), "kind": error.id}
        if isinstance(error, ix.ParseError | ix.UnsupportedOp) and error.line is not None:
            answered |= {"line": error.line, "column": error.column}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # no request ends the others, not by a panic of the core either
        is_request = isinstance(error, TypeError | ValueError | RecursionError)  # no JSON, a wrong type, too deep
        answered = {"error": f"{type(error).__name__}: {error}", "kind": "request" if is_request else "internal"}
    return answered if identity is None else {"id": identity, **answered}


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object of JSON, each field of which stands once."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise CommandLineError(f"{next(n for n in names if names.count(n) > 1)!r} stands twice in an object")
    return fields


def predicted(read: Any, default: Device | None, request: Mapping[str, Any]) -> dict[str, Json]:
    """The analysis of a program, as `analyze --json` prints it; with `plans`, the predictions for those of one kernel."""
    if unknown := [name for name in request if name not in FIELDS]:
        raise CommandLineError(f"a request has no field {unknown[0]!r}; its fields are {', '.join(FIELDS)}")
    module, name, plans = read(request.get("hlo")), request.get("instruction"), request.get("plans")
    device = request.get("device") or default
    if name is not None and not isinstance(name, str):
        raise CommandLineError(f"instruction is {name!r}; expected the name of one")
    if plans is None:
        report = ix.analyze(module if name is None else named_instruction(module, name), device)
        return cast("dict[str, Json]", report_json(report.worst(None), report))
    return plans_json(ix.predict(_one_kernel(module, name), None if plans == "grid" else plans, device))


def _one_kernel(module: Module, name: str | None) -> Part:
    """The fusion of that name, or the entry computation if it is one kernel. Raises CommandLineError for anything else."""
    fusions = [i for i in module.entry.instructions.values() if i.is_fusion]
    part = module.entry if name is None else named_instruction(module, name)
    is_one = fusions in ([], [module.entry.root]) if isinstance(part, Computation) else part.is_fusion
    if not is_one:
        remedy = "leave out `instruction` for the entry computation as one kernel"
        if fusions:
            remedy = f"name a fusion by `instruction` ({', '.join(i.name for i in fusions[:MAX_NAMED])})"
        raise CommandLineError(f"plans are those of one kernel: {remedy}")
    return part


def plans_json(predictions: ix.Predictions) -> dict[str, Json]:
    """The columns of plans and of predictions, and the default plan."""
    return {
        "device": str(predictions.device),
        "emitter": predictions.emitter,
        "default": dict(predictions.default),
        "plans": {name: column.tolist() for name, column in predictions.plans.items()},
        "resident_blocks": predictions.resident_blocks.tolist(),
        "occupancy": predictions.occupancy.tolist(),
        "waves": predictions.waves.tolist(),
        "seconds": predictions.time.tolist(),
        "limit": predictions.limit.tolist(),
    }


def finite(data: Json) -> Json:
    """The data with null for numbers that JSON lacks: the infinite time of a plan that can't be launched."""
    if isinstance(data, dict):
        return {name: finite(value) for name, value in data.items()}
    if isinstance(data, list):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not isfinite(data) else data
