"""The commands of `indexing` and their options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

import indexing as ix
from indexing.analysis.device import DEVICES, Device, device_named
from indexing.cli.answer import Answer
from indexing.cli.diagnosis import doctor
from indexing.cli.execution import run
from indexing.cli.exploration_server import explore
from indexing.cli.instruction_maps import maps
from indexing.cli.kernels import emit, partition
from indexing.cli.manual import completion, manual_page
from indexing.cli.map_algebra import compose, simplify
from indexing.cli.memory import analyze, compare
from indexing.cli.pictures import FORMS, draw, report
from indexing.cli.plan_search import tune
from indexing.emitters.ir.passes import STAGES
from indexing.emitters.targets import TARGETS
from indexing.executable.devices import DEVICE_NAMES
from indexing.tuning.machine import MACHINES, Machine, machine_of
from indexing.tuning.search import SAMPLERS

MAX_PORT = 65535


class _Parser(argparse.ArgumentParser):
    """Says of a word that is no choice, and of an option that there is not, which one is nearest."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # argparse's own
        """As usual, but a command refuses options that it lacks itself, and so prints its own usage."""
        known, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return known, others

    def error(self, message: str) -> NoReturn:
        """Print the message, end with status 2."""
        near: list[str] = []
        if found := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            near = get_close_matches(found[1], re.findall(r"[\w-]+", found[2]), 1)
        elif found := re.search(r"unrecognized arguments: (?:.* )?(--[\w-]+)", message):
            near = get_close_matches(found[1], self._option_string_actions, 1)
        super().error(message + (f"; did you mean {near[0]!r}?" if near else ""))


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = _Parser(prog="indexing", description="Indexing maps of tensor programs.")
    top.add_argument("--version", action="version", version=f"indexing {ix.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], Answer], about: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        sub.set_defaults(command=command)
        sub.add_argument("--json", action="store_true", help="print JSON")
        return sub

    def add_for_file(name: str, command: Callable[[argparse.Namespace], Answer], about: str) -> argparse.ArgumentParser:
        sub = add(name, command, about)
        about_file = (
            "HLO text or a protocol buffer, StableHLO, a jax.export, a folder of XLA's dumps; - reads standard input"
        )
        sub.add_argument("file", metavar="FILE", help=about_file)
        return sub

    sub = add_for_file("maps", maps, "print the indexing maps of a program's instructions")
    sub.add_argument("--computation", metavar="NAME", help="of this computation (default: the entry)")
    sub.add_argument("--instruction", metavar="NAME", help="of this instruction only, wherever it is")
    sub.add_argument("--all", action="store_true", help="of every computation")
    sub.add_argument("--inputs", action="store_true", help="from each operand to the outputs, not the other way round")
    sub.add_argument("--physical", action="store_true", help="between physical layouts, not logical shapes")

    sub = add("simplify", simplify, "simplify an indexing map over its domain")
    sub.add_argument("map", metavar="MAP", help="the map's text; - reads standard input")
    sub.add_argument("--lines", action="store_true", help="the input holds one map a line")
    sub.add_argument("--style", choices=("default", "xla"), default="default", help="xla prints / for floordiv")

    sub = add("compose", compose, "compose two maps: the second applied to the results of the first")
    sub.add_argument("first", metavar="FIRST", help="the map applied first; - reads standard input")
    sub.add_argument("second", metavar="SECOND", help="the map applied to its results; - reads standard input")

    sub = add_for_file(
        "analyze", analyze, "print what a program's fusions waste of the memory's bandwidth, the worst first, and why"
    )
    sub.add_argument("--fusion", "--instruction", metavar="NAME", help="this one only, wherever it is")
    sub.add_argument("--top", metavar="N", type=natural, default=10, help="so many; 0 means all (default: 10)")
    sub.add_argument("--min-waste", metavar="BYTES", type=natural, default=0, help="only those that waste so much")
    sub.add_argument("--out", metavar="DIR", help="of all programs below the folder FILE, write tables there (Parquet)")
    sub.add_argument("--workers", metavar="N", type=natural, default=1, help="with --out: by N processes (default: 1)")
    sub.add_argument("--ray", metavar="ADDRESS", help="with --out: by the Ray cluster there; local begins one")
    add_device(sub)

    sub = add("compare", compare, "print what changed between two dumps of one program: fusions, bytes, waste")
    sub.add_argument("before", metavar="BEFORE", help="the program before; whatever the other commands read")
    sub.add_argument("after", metavar="AFTER", help="the program after")
    sub.add_argument("--top", metavar="N", type=natural, default=10, help="so many of each kind; 0 means all")
    add_device(sub)

    sub = add_for_file("partition", partition, "split computations into functions, each emitted once")
    sub.add_argument(
        "--computation", metavar="NAME", help="this one (default: what each kernel of the program computes)"
    )

    sub = add_for_file("emit", emit, "print the kernels of a program")
    sub.add_argument("--instruction", metavar="NAME", help="of this fusion only")
    sub.add_argument("--computation", metavar="NAME", help="of this computation, as one fusion")
    sub.add_argument("--dialect", choices=tuple(TARGETS), default="cuda", help="default: cuda")
    sub.add_argument("--stage", metavar="NAME", choices=STAGES, help=f"the kernels' IR instead: {', '.join(STAGES)}")
    sub.add_argument("--verify", action="store_true", help="say what is proved of the kernels, and what isn't")
    sub.add_argument("--arch", metavar="ARCH", help="compile as well, for example for sm_90, and give the cubin's size")
    sub.add_argument("--out", metavar="DIR", type=Path, help="write sources (and cubins) there, and print their paths")

    sub = add_for_file("run", run, "run a program and compare the outputs with the reference")
    sub.add_argument("--device", type=str.lower, choices=DEVICE_NAMES, default="auto", help="default: auto")
    sub.add_argument(
        "--input",
        metavar="FILE.npy",
        action="append",
        type=Path,
        default=[],
        help="an .npy file a parameter, or one .npz with all in order (default: made-up values)",
    )
    sub.add_argument("--seed", type=natural, default=0, help="of the made-up values")
    sub.add_argument(
        "--tolerance",
        type=positive,
        help="largest relative error that passes (default: 1e-3, or two units in the last place of a type coarser than that)",
    )

    sub = add_for_file("tune", tune, "measure plans of a program's kernels on this machine, and keep the fastest")
    sub.add_argument("--fusion", "--instruction", metavar="NAME", help="of this fusion only, wherever it is")
    sub.add_argument("--budget", metavar="N", type=natural, default=32, help="plans of each kernel (default: 32)")
    sub.add_argument(
        "--seed", metavar="N", type=natural, default=0, help="the same trials for the same one (default: 0)"
    )
    about_machine = f"{', '.join(MACHINES)} (default: a GPU where there is one, else CPU)"
    sub.add_argument("--device", metavar="NAME", type=machine, help=about_machine)
    sub.add_argument("--sampler", choices=SAMPLERS, default="predicted", help="default: predicted")
    sub.add_argument("--store", metavar="FILE", type=Path, help="of measurements (default: in the user's data folder)")
    sub.add_argument("--ray", metavar="ADDRESS", help="the nodes of the Ray cluster there measure; local begins one")

    sub = add_for_file("draw", draw, "draw a computation, its maps on the edges; or what a kernel does to memory")
    sub.add_argument("--computation", metavar="NAME", help="this one (default: the entry)")
    sub.add_argument(
        "--instruction", metavar="NAME", help="this one, wherever it is: a fusion's computation, its accesses"
    )
    about_picture = "what a warp touches by sector, shared memory by bank, a tile's way (default: graph)"
    sub.add_argument("--picture", choices=("graph", "accesses", "banks", "tile"), default="graph", help=about_picture)
    sub.add_argument("--tile", metavar="SIZES", type=sizes, help="of the tile, such as 32,32: for accesses and tile")
    sub.add_argument("--format", choices=FORMS, help="default: what the ending of --out says, else svg")
    about_layout = "default: Graphviz's where the extra viz is there and the picture is not large, else plain"
    sub.add_argument("--layout", choices=("auto", "graphviz", "plain"), default="auto", help=about_layout)
    sub.add_argument("--out", "-o", metavar="FILE", type=Path, help="write the picture there, and print its path")
    add_device(sub)

    sub = add_for_file(
        "report", report, "write a page for a browser: what a program's kernels waste, why, and their sources"
    )
    sub.add_argument("--out", "-o", metavar="PAGE", type=Path, default=Path("report.html"), help="default: report.html")
    add_device(sub)

    sub = add_for_file("explore", explore, "serve a program's kernels to a browser here: change plans, see predictions")
    sub.add_argument("--port", metavar="N", type=port, default=0, help="default: any that is free")
    add_device(sub)

    add("doctor", doctor, "say which back ends work here, why others don't, and how to install what is missing")
    sub = add("man", lambda options: text_of(top, options.form), "print the manual page, or what a shell completes by")
    sub.add_argument("--form", choices=("troff", "bash"), default="troff", help="default: troff")
    return top


def text_of(top: argparse.ArgumentParser, form: str) -> Answer:
    """The manual page, or the completion for a shell."""
    lines = list(manual_page(top) if form == "troff" else completion(top))
    return Answer({"form": form, "text": "\n".join(lines)}, lines)


def add_device(sub: argparse.ArgumentParser) -> None:
    """The option that says whose memory moves the data."""
    about = f"whose memory: {', '.join(DEVICES)} (default: H100)"
    sub.add_argument("--device", type=memory_device, default="H100", help=about)


def memory_device(name: str) -> Device:
    """The device of that name."""
    try:
        return device_named(name)
    except ix.IndexingError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def machine(name: str) -> Machine:
    """The machine of that name."""
    try:
        return machine_of(name)
    except ix.IndexingError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def natural(text: str) -> int:
    """An integer from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 0")
    return int(text)


def port(text: str) -> int:
    """A number of a port."""
    number = natural(text)
    if number > MAX_PORT:
        raise argparse.ArgumentTypeError(f"there is no port {number}: the last is {MAX_PORT}")
    return number


def sizes(text: str) -> tuple[int, ...]:
    """Integers from 0 with commas between."""
    return tuple(natural(part) for part in text.split(","))


def positive(text: str) -> float:
    """A number from 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0")
    return number
