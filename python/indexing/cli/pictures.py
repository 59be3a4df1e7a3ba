"""`indexing draw` and `indexing report`: a picture of a computation, and a page about a program."""

from __future__ import annotations

import argparse
from pathlib import Path

import indexing as ix
from indexing.cli.answer import Answer, Listing, write_file
from indexing.cli.console import CommandLineError, Json
from indexing.cli.option_types import add_device, add_file, sizes
from indexing.cli.programs import fusions, named_computation, named_instruction, printable_name, read_program
from indexing.hlo import Computation, Instruction, Module
from indexing.show import drawing, graphviz_layout
from indexing.show.colours import with_scheme
from indexing.show.fusion_pictures import access_pictures, bank_pictures, stacked
from indexing.show.roofline import roofline_svg
from indexing.show.tile_path import tile_picture

FORMS = ("svg", "png", "dot")
MAX_LISTED = 40  # instructions to choose from
STANDARD_OUTPUT = Path("-")


def draw_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `draw`."""
    add_file(sub)
    sub.add_argument("--computation", metavar="NAME", help="this one (default: the entry)")
    sub.add_argument(
        "--instruction", metavar="NAME", help="this one, wherever it is: a fusion's computation, its accesses"
    )
    about_picture = (
        "what a warp touches by sector, shared memory by bank, a tile's way, kernels by speed (default: graph)"
    )
    sub.add_argument(
        "--picture", choices=("graph", "accesses", "banks", "tile", "roofline"), default="graph", help=about_picture
    )
    sub.add_argument("--tile", metavar="SIZES", type=sizes, help="of the tile, such as 32,32: for accesses and tile")
    sub.add_argument("--format", choices=FORMS, help="default: what the ending of --out says, else svg")
    about_layout = "default: Graphviz's where it can be had and the picture is not large, else plain"
    sub.add_argument("--layout", choices=("auto", "graphviz", "plain"), default="auto", help=about_layout)
    about_out = "write the picture there, and print its path (default: - for standard output)"
    sub.add_argument("--out", "-o", metavar="FILE", type=Path, help=about_out)
    add_device(sub)


def draw(options: argparse.Namespace) -> Answer:
    """Draw one computation, or the memory that an instruction's kernel touches."""
    module = read_program(options.file)
    out = None if options.out == STANDARD_OUTPUT else options.out
    form = options.format or _form_of(out)
    if options.picture == "graph":
        name = options.computation or (_called_by(module, options.instruction) if options.instruction else None)
        chosen = named_computation(module, name) if name else module.entry
        about, picture = chosen.name, draw_computation(chosen, form, options.layout)
    elif options.picture == "roofline":
        about, picture = module.name, _roofline(module, options.device, form)
    else:
        target = _target(module, options)
        about, picture = target.name, _in_cells(target, options, form)
    data: dict[str, Json] = {"computation": about, "format": form}
    if out is not None:
        path = str(write_file(out, picture))
        return Answer(data | {"file": path}, [path])
    if form == "png":
        raise CommandLineError("a PNG picture goes to a file: say --out FILE.png")
    text = picture.decode()
    return Answer(data | {"picture": text}, [Listing(text, "xml" if form == "svg" else "dot")])


def _roofline(module: Module, device: str | None, form: str) -> bytes:
    if form != "svg":
        raise CommandLineError("a roofline is drawn as SVG: say --format svg, or --out FILE.svg")
    return with_scheme(roofline_svg(ix.analyze(module, device))).encode()


def _form_of(path: Path | None) -> str:
    """The format by the suffix of a file's name; SVG if there is none."""
    ending = path.suffix.removeprefix(".").lower() if path is not None else ""
    if ending and ending not in FORMS:
        raise CommandLineError(
            f"pictures are {', '.join(FORMS)}, not {printable_name(ending)}; --format says which without an ending"
        )
    return ending or "svg"


def _target(module: Module, options: argparse.Namespace) -> Instruction | Computation:
    """The subject of a picture of cells: one instruction, or one computation, which is drawn as a fusion; the only one of a
    program without being named.
    """
    if options.instruction:
        return named_instruction(module, options.instruction)
    if options.computation:
        return named_computation(module, options.computation)
    computed = fusions(module) or [i for i in module.entry.instructions.values() if i.shape.is_array and i.operands]
    if len(computed) == 1:  # a kernel that has shared memory is that of a whole computation
        return module.entry if options.picture == "banks" and not computed[0].is_fusion else computed[0]
    listed = "".join(f"\n  {printable_name(i.name)}  {i.opcode} {i.shape}" for i in computed[:MAX_LISTED])
    more = f"\n  and {len(computed) - MAX_LISTED} more" if len(computed) > MAX_LISTED else ""
    raise CommandLineError(f"say which instruction: --instruction NAME, one of{listed}{more}")


def _called_by(module: Module, name: str) -> str:
    """The name of the computation that a fusion calls."""
    instruction = named_instruction(module, name)
    if not instruction.called:
        raise CommandLineError(f"{name} calls no computation whose graph could be drawn")
    return instruction.called[0].name


def _in_cells(target: Instruction | Computation, options: argparse.Namespace, form: str) -> bytes:
    """A picture of the elements that the kernel's accesses, or a tile, touch."""
    if options.picture == "tile":
        picture = tile_picture(target, options.tile)
    elif options.picture == "banks":
        picture = stacked(bank_pictures(target, options.device), f"Shared memory of {target.name}")
    else:
        launch = ix.Tiles(options.tile) if options.tile else None
        picture = stacked(access_pictures(target, options.device, launch), f"What {target.name} touches")
    if form == "dot":
        raise CommandLineError("only graphs are drawn as dot")
    if not picture.panels:
        kind = "shared" if options.picture == "banks" else "global"
        raise CommandLineError(
            f"the kernel of {printable_name(target.name)} does not use {kind} memory: there is nothing to draw"
        )
    return picture.png() if form == "png" else picture.svg().encode()


def draw_computation(computation: Computation, form: str, layout: str) -> bytes:
    """The picture; laid out by Graphviz on request, or if it is available and the picture is not too large."""
    if form == "dot":
        return drawing.dot(computation).encode()
    if form == "png":
        return graphviz_layout.graphviz_svg(computation, "png")
    if layout == "auto":
        (picture,) = graphviz_layout.graph_svgs([computation])
    else:
        plain = layout == "plain"
        picture = drawing.svg(computation) if plain else graphviz_layout.graphviz_svg(computation).decode()
    return with_scheme(picture).encode()


def report_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    add_file(sub)
    about_out = "default: report.html; - for standard output"
    sub.add_argument("--out", "-o", metavar="PAGE", type=Path, default=Path("report.html"), help=about_out)
    add_device(sub)


def report(options: argparse.Namespace) -> Answer:
    """Write a self-contained page about a program."""
    page = ix.report(read_program(options.file), options.device, progress=options.progress)
    kernels = len(page.report.fusions)
    if options.out == STANDARD_OUTPUT:
        return Answer({"page": page.html, "kernels": kernels}, [Listing(page.html, "html")])
    path = str(write_file(options.out, page.html.encode()))
    return Answer({"page": path, "kernels": kernels}, [path])
