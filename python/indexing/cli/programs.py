"""Reading programs and maps from files and standard input, and finding their parts by name."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Never

import indexing as ix
from indexing.cli.console import STDIN, CommandLineError, standard_input
from indexing.hlo import Computation, Instruction, Module
from indexing.hlo.files import decoded, program_of


@contextmanager
def with_file_name(file: str) -> Iterator[None]:
    """Add the name of the file to errors in its text."""
    try:
        yield
    except ix.ParseError as error:
        raise (error if error.file or not file else error.in_file(file)) from None


def read_program(name: str) -> Module:
    """The program of a file or folder, or of standard input for `-`, in any form that `ix.hlo.load` reads."""
    if name != "-":
        return ix.hlo.load(name)
    return program_of(standard_input(), STDIN)


def read_maps(argument: str) -> tuple[str, str]:
    """The text of maps, and the name of its file: standard input for `-`, None if the text is the argument itself."""
    if argument != "-":
        return argument, ""
    with with_file_name(STDIN):
        return decoded(standard_input()), STDIN


def parsed_map(text: str, file: str, number: int = 1) -> ix.IndexingMap:
    """The map in line `number` of a text; errors state that line."""
    with with_file_name(file):
        try:
            return ix.IndexingMap.parse(text)
        except ix.IndexingError:
            return ix.IndexingMap.parse("\n" * (number - 1) + text)


def named_computation(module: Module, name: str) -> Computation:
    """The computation of a name, with or without %."""
    computation = module.computations.get(name.removeprefix("%"))
    return computation if computation is not None else no_such_name("computation", name, module.computations)


def named_instruction(module: Module, name: str) -> Instruction:
    """The instruction of a name, with or without %: in the entry computation, otherwise in any other."""
    bare = name.removeprefix("%")
    searched = (module.entry, *module.computations.values())
    for computation in searched:
        if bare in computation.instructions:
            return computation.instructions[bare]
    return no_such_name("instruction", name, (n for c in searched for n in c.instructions))


def no_such_name(kind: str, name: str, names: Iterable[str]) -> Never:
    """The error that there is none of a name, with similar names, or the first ones."""
    known = list(dict.fromkeys(names))
    near = difflib.get_close_matches(name, known, n=3)
    more = ", ..." if not near and len(known) > 3 else ""
    hint = f"; there is {', '.join(map(printable_name, near or known[:3]))}{more}" if known else ""
    raise CommandLineError(f"the program has no {kind} {printable_name(name)}{hint}")


def fusions(module: Module) -> list[Instruction]:
    """The entry's fusion instructions, in the order of the text."""
    return [i for i in module.entry.instructions.values() if i.is_fusion]


def printable_name(name: str) -> str:
    """A name, which is quoted and escaped if it contains control characters."""
    return name if name.isprintable() and name else json.dumps(name)
