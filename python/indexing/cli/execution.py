"""`indexing run`: a program's outputs on a device, compared with the reference."""

from __future__ import annotations

import argparse
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.console import CommandLineError, Json
from indexing.cli.option_types import add_file, nonnegative_integer, nonnegative_number
from indexing.cli.programs import read_program
from indexing.display import count_text
from indexing.executable.devices import DEVICE_NAMES
from indexing.lazy import np
from indexing.ops.values import HloValue, leaves_of
from indexing.reference.differences import difference, make_inputs


def run_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    add_file(sub)
    sub.add_argument("--device", type=str.lower, choices=DEVICE_NAMES, default="auto", help="default: auto")
    sub.add_argument(
        "--input",
        metavar="FILE.npy",
        action="append",
        type=Path,
        default=[],
        help="an .npy file a parameter, or one .npz with all in order (default: made-up values)",
    )
    sub.add_argument("--seed", type=nonnegative_integer, default=0, help="of the made-up values")
    sub.add_argument(
        "--tolerance",
        type=nonnegative_number,
        help="largest relative error that passes (default: 1e-3, or two units in the last place of a type coarser than that)",
    )


def run(options: argparse.Namespace) -> Answer:
    """Run a program on a device; status 1 if an output differs from the reference by more than the tolerance."""
    module = read_program(options.file)
    arrays = given_inputs(options.input) or make_inputs([p.shape for p in module.entry.parameters], options.seed)
    executable = ix.compile(module, device=options.device)
    results = leaves_of(executable(*arrays)), leaves_of(ix.evaluate(module, *arrays))
    outputs, expected = ([np.asarray(a) for a in leaves if a is not None] for leaves in results)  # without tokens
    data: list[Json] = []
    lines = [f"{count_text(len(executable.kernels), 'kernel')} on {executable.device}"]
    close = True
    for k, (got, want) in enumerate(zip(outputs, expected, strict=True)):
        apart = difference(got, want, options.tolerance)
        close &= apart.is_rounding
        lines.append(f"output {k}: {got.dtype}{list(got.shape)}, {summary(got)}: {apart}")
        data.append(
            {
                "output": k,
                "type": str(got.dtype),
                "sizes": list(got.shape),
                "largest_relative_error": apart.largest,
                "differing": apart.differing,
                "misplaced": apart.misplaced,
            }
        )
    lines.append("agrees with the reference" if close else "differs from the reference by more than rounding")
    return Answer({"device": executable.device, "close": close, "outputs": data}, lines, 0 if close else 1)


# The errors of numpy and of zipfile for files that are not arrays.
UNREADABLE = (ValueError, EOFError, SyntaxError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error)


def given_inputs(paths: Sequence[Path]) -> list[HloValue]:
    """The arrays of .npy files, one each, and of .npz files, several in their order."""
    arrays: list[HloValue] = []
    for path in paths:
        try:
            loaded = np.load(path, allow_pickle=False)
            arrays += [loaded] if isinstance(loaded, np.ndarray) else [loaded[name] for name in loaded.files]
        except UNREADABLE as error:
            raise CommandLineError(f"{path}: not an array that numpy can read: {error}") from error
    return arrays


def summary(array: np.ndarray) -> str:
    """The first elements of an array."""
    head = ", ".join(str(x) for x in array.reshape(-1)[:3])
    return f"[{head}{', ...' if array.size > 3 else ''}]"
