"""`indexing partition` and `indexing emit`: a program's functions and kernels."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import indexing as ix
from indexing.cli.answer import Answer, Listing, Part, Remark, write_file
from indexing.cli.console import Json
from indexing.cli.option_types import add_file, named_device
from indexing.cli.programs import named_computation, named_instruction, printable_name, read_program
from indexing.display import count_text
from indexing.hlo import Module
from indexing.kernels.ir.text import print_kernel
from indexing.kernels.passes import STAGES
from indexing.kernels.targets import TARGETS
from indexing.kernels.verify import Verification
from indexing.kernels.verify.check import Check
from indexing.reports.lines import kernel_line

if TYPE_CHECKING:
    from indexing.kernels.kernel import Kernel
    from indexing.partitioner import Subgraph


def partition_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `partition`."""
    add_file(sub)
    sub.add_argument(
        "--computation", metavar="NAME", help="this one (default: what each kernel of the program computes)"
    )


def partition(options: argparse.Namespace) -> Answer:
    """Partition a computation, or the computation of each kernel of the program."""
    from indexing.executable import planned_kernels  # imports numpy, which other commands do not need

    module = read_program(options.file)
    if options.computation:
        computations = [named_computation(module, options.computation)]
    else:
        computations = [planned.computation for planned in planned_kernels(module)]
    partitions = [(c.name, ix.partition(c).subgraphs) for c in computations]
    data: list[Json] = [
        {"computation": name, "subgraphs": [subgraph_json(s) for s in subgraphs]} for name, subgraphs in partitions
    ]
    return Answer(data, (line for name, subgraphs in partitions for line in subgraph_lines(name, subgraphs)))


def subgraph_json(subgraph: Subgraph) -> Json:
    """The names of a function, of its roots and of its instructions."""
    roots, names = ([i.name for i in group] for group in (subgraph.roots, subgraph.instructions))
    return {"name": subgraph.name, "roots": list(roots), "instructions": list(names)}


def subgraph_lines(computation: str, subgraphs: Sequence[Subgraph]) -> Iterator[str]:
    """A computation's functions as indented text."""
    yield f"{printable_name(computation)}: {count_text(len(subgraphs), 'function')}"
    for subgraph in subgraphs:
        yield f"  {printable_name(subgraph.name)}: {', '.join(printable_name(i.name) for i in subgraph.instructions)}"
        yield f"    returns {', '.join(printable_name(i.name) for i in subgraph.roots)}"


def emit_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `emit`."""
    add_file(sub)
    sub.add_argument("--instruction", metavar="NAME", help="of this fusion only")
    sub.add_argument("--computation", metavar="NAME", help="of this computation, as one fusion")
    sub.add_argument("--dialect", choices=tuple(TARGETS), help="default: that of the device, else cuda")
    about = "whose limits the kernels keep (default: those of all devices of the dialect)"
    sub.add_argument("--device", metavar="NAME", type=named_device, help=about)
    sub.add_argument("--stage", metavar="NAME", choices=STAGES, help=f"the kernels' IR instead: {', '.join(STAGES)}")
    sub.add_argument("--verify", action="store_true", help="say what is proved of the kernels, and what isn't")
    sub.add_argument("--arch", metavar="ARCH", help="compile as well, for example for sm_90, and give the cubin's size")
    sub.add_argument("--out", metavar="DIR", type=Path, help="write sources (and cubins) there, and print their paths")


def emit(options: argparse.Namespace) -> Answer:
    """Emit kernels; compile them, verify them and write them to files on request."""
    kernels = [with_requested_parts(kernel, options) for kernel in kernels_to_emit(read_program(options.file), options)]
    parts: list[Part] = []
    repeated: Counter[str] = Counter()  # kernels of different fusions may have equal names
    for made_kernel in kernels:
        name = made_kernel.kernel.name
        repeated[name] += 1
        if options.out is None:
            parts += made_kernel.shown()
        else:
            stem = name if repeated[name] == 1 else f"{name}_{repeated[name]}"
            parts += made_kernel.write_files(options.out, stem)
        parts += made_kernel.proved()
    refuted = any(m.proofs is not None and m.proofs.refuted for m in kernels)
    return Answer([m.as_json() for m in kernels], parts, 1 if refuted else 0)


@dataclass(frozen=True, slots=True)
class EmittedKernel:
    """A kernel, or its IR after a stage; with its machine code for `arch` and its proofs if these are requested."""

    kernel: Kernel
    stage: str | None
    arch: str | None
    text: str
    cubin: bytes
    proofs: Verification | None

    @property
    def mark(self) -> str:
        """The characters that begin a comment in the text."""
        return "#" if self.stage else "//"

    @property
    def about(self) -> str:
        """A line with the kernel's emitter, launch and machine code."""
        compiled = f", cubin of {len(self.cubin)} bytes for {self.arch}" if self.cubin else ""
        return f"{kernel_line(self.kernel)}, {self.kernel.shared_bytes} bytes shared{compiled}"

    def as_json(self) -> Json:
        """The kernel as JSON."""
        kernel = self.kernel
        item: dict[str, Json] = {
            "name": kernel.name,
            "emitter": kernel.emitter,
            "dialect": kernel.dialect,
            "device": str(kernel.device),
            "grid": list(kernel.grid),
            "block": list(kernel.block),
            "shared_bytes": kernel.shared_bytes,
            "arguments": [str(a) for a in kernel.arguments],
        }
        item |= {"stage": self.stage, "ir": self.text} if self.stage else {"source": self.text}
        if self.cubin:
            item |= {"arch": self.arch, "cubin_bytes": len(self.cubin)}
        if self.proofs is not None:
            item["verification"] = verification(self.proofs)
        return item

    def shown(self) -> list[Part]:
        """The parts of the answer: a line about the kernel, then the text."""
        return [Remark(self.about, self.mark), Listing(self.text, "text" if self.stage else "c++"), ""]

    def write_files(self, folder: Path, stem: str) -> Iterator[str]:
        """Write the text and the machine code to files with this stem, and return their paths."""
        ending = ".ir" if self.stage else self.kernel.target.ending
        yield f"{write_file(folder / f'{stem}{ending}', self.text.encode())}  {self.about}"
        if self.cubin:
            yield str(write_file(folder / f"{stem}.{self.arch}.cubin", self.cubin))

    def proved(self) -> list[Part]:
        """The checks that are not proved, then the proofs, each by its name and place."""
        lines = f"{self.kernel.name}: {self.proofs.listing()}".splitlines() if self.proofs is not None else []
        return [Remark(line, self.mark) for line in lines]


def with_requested_parts(kernel: Kernel, options: argparse.Namespace) -> EmittedKernel:
    """A kernel with all that is requested."""
    text = print_kernel(kernel.stage(options.stage)) if options.stage else kernel.source
    cubin = ix.runtime.cubin(kernel, options.arch) if options.arch else b""
    return EmittedKernel(kernel, options.stage, options.arch, text, cubin, kernel.verify() if options.verify else None)


def verification(proofs: Verification) -> Json:
    """The number of checks, those that are not proved, and the proofs."""
    rest, proved = map(_checks, ((*proofs.refuted, *proofs.open), proofs.proved))
    return {"checks": len(proofs.checks), "not_proved": rest, "proved": proved}


def _checks(checks: Iterable[Check]) -> list[Json]:
    return [{"kind": c.kind, "subject": c.subject, "status": c.status, "reason": c.reason} for c in checks]


def kernels_to_emit(module: Module, options: argparse.Namespace) -> list[Kernel]:
    """The kernel of the named computation or instruction; by default, those that the program needs."""
    if options.instruction:
        return [ix.emit(named_instruction(module, options.instruction), options.dialect, options.device)]
    if options.computation:
        return [ix.emit(named_computation(module, options.computation), options.dialect, options.device)]
    return ix.emit_all(module, options.dialect, options.device)
