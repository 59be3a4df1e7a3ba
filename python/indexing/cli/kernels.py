"""`indexing partition` and `indexing emit`: a program's functions and kernels."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

import indexing as ix
from indexing.cli.answer import Answer, written
from indexing.cli.console import Json
from indexing.cli.programs import named_computation, named_instruction, plain, read_program
from indexing.cli.terminal import Listing, Part
from indexing.emitters.ir.text import print_kernel
from indexing.emitters.ir.verify import Verification
from indexing.hlo import Module

if TYPE_CHECKING:
    from indexing.emitters.kernel import Kernel


def partition(options: argparse.Namespace) -> Answer:
    """Partition a computation, or what each kernel of the program computes."""
    from indexing.executable import planned_kernels  # with numpy: other commands start without

    module = read_program(options.file)
    if options.computation:
        computations = [named_computation(module, options.computation)]
    else:
        computations = [planned.computation for planned in planned_kernels(module)]
    data: list[Json] = []
    lines: list[str] = []
    for computation in computations:
        subgraphs = ix.partition(computation).subgraphs
        lines.append(f"{plain(computation.name)}: {len(subgraphs)} functions")
        items: list[Json] = []
        for subgraph in subgraphs:
            roots, names = ([i.name for i in group] for group in (subgraph.roots, subgraph.instructions))
            items.append({"name": subgraph.name, "roots": list(roots), "instructions": list(names)})
            lines.append(f"  {plain(subgraph.name)}: {', '.join(map(plain, names))}")
            lines.append(f"    returns {', '.join(map(plain, roots))}")
        data.append({"computation": computation.name, "subgraphs": items})
    return Answer(data, lines)


def emit(options: argparse.Namespace) -> Answer:
    """Emit kernels; compile them, verify them and write them to files on request."""
    kernels = emitted(read_program(options.file), options)
    repeated: Counter[str] = Counter()  # kernels of different fusions may have one name
    data: list[Json] = []
    lines: list[str] = []
    parts: list[Part] = []
    status = 0
    for kernel in kernels:
        cubin = kernel.cubin(options.arch) if options.arch else b""
        about = f"{kernel.name}: {kernel.emitter} emitter, grid {kernel.grid}, block {kernel.block}"
        about += f", {kernel.shared_bytes} bytes shared"
        about += f", cubin of {len(cubin)} bytes for {options.arch}" if cubin else ""
        item: dict[str, Json] = {
            "name": kernel.name,
            "emitter": kernel.emitter,
            "dialect": kernel.dialect,
            "grid": list(kernel.grid),
            "block": list(kernel.block),
            "shared_bytes": kernel.shared_bytes,
            "arguments": [str(a) for a in kernel.arguments],
        }
        text, ending = kernel.source, kernel.target.ending
        if options.stage:
            text, ending = print_kernel(kernel.stage(options.stage)), ".ir"
            item |= {"stage": options.stage, "ir": text}
        else:
            item["source"] = text
        if cubin:
            item |= {"arch": options.arch, "cubin_bytes": len(cubin)}
        mark = "#" if options.stage else "//"
        if options.out is None:
            lines += [f"{mark} {about}", text.rstrip("\n"), ""]
            parts += [about, Listing(text, "text" if options.stage else "c++"), ""]
        else:
            repeated[kernel.name] += 1
            count = repeated[kernel.name]
            stem = kernel.name if count == 1 else f"{kernel.name}_{count}"
            lines.append(f"{written(options.out / f'{stem}{ending}', text.encode())}  {about}")
            if cubin:
                lines.append(str(written(options.out / f"{stem}.{options.arch}.cubin", cubin)))
        if options.verify:
            proofs = kernel.verify()
            item["verification"] = verification(proofs)
            lines += [f"{mark} {line}" for line in f"{kernel.name}: {proofs}".splitlines()]
            parts += f"{kernel.name}: {proofs}".splitlines()
            status = 1 if proofs.refuted else status
        data.append(item)
    return Answer(data, lines, status, parts if options.out is None else ())


def verification(found: Verification) -> Json:
    """What is proved, counted, and each check that is not."""
    rest: list[Json] = [
        {"kind": c.kind, "subject": c.subject, "status": c.status, "reason": c.reason}
        for c in (*found.refuted, *found.open)
    ]
    return {"checks": len(found.checks), "proved": len(found.proved), "not_proved": rest}


def emitted(module: Module, options: argparse.Namespace) -> list[Kernel]:
    """The kernel of what was named, else those that the program needs."""
    if options.instruction:
        return [ix.emit(named_instruction(module, options.instruction), dialect=options.dialect)]
    if options.computation:
        return [ix.emit(named_computation(module, options.computation), dialect=options.dialect)]
    return ix.emit_all(module, dialect=options.dialect)
