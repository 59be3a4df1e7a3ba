"""`indexing maps`: the maps of a program's instructions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.console import Json
from indexing.cli.option_types import add_file
from indexing.cli.programs import named_computation, named_instruction, printable_name, read_program
from indexing.hlo import Instruction
from indexing.ops.operand_indexing import OperandIndexing


def maps_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `maps`."""
    add_file(sub)
    sub.add_argument("--computation", metavar="NAME", help="of this computation (default: the entry)")
    sub.add_argument("--instruction", metavar="NAME", help="of this instruction only, wherever it is")
    sub.add_argument("--all", action="store_true", help="of every computation")
    sub.add_argument("--inputs", action="store_true", help="from each operand to the outputs, not the other way round")
    sub.add_argument("--physical", action="store_true", help="between physical layouts, not logical shapes")


def maps(options: argparse.Namespace) -> Answer:
    """Print the maps of a computation's instructions, operand by operand."""
    module = read_program(options.file)
    if options.instruction:
        chosen = [named_instruction(module, options.instruction)]
    else:
        computations = list(module.computations.values()) if options.all else [module.entry]
        if options.computation:
            computations = [named_computation(module, options.computation)]
        chosen = [i for c in computations for i in c.instructions.values() if i.operands]
    instructions = [(i, *maps_of(i, options)) for i in chosen]
    data: Json = [
        {"instruction": i.name, "opcode": i.opcode, "shape": str(i.shape), label: [maps_json(*p) for p in parts]}
        for i, label, parts in instructions
    ]
    return Answer(data, (line for i, _, parts in instructions for line in maps_lines(i, parts)))


Part: TypeAlias = "tuple[str, list[OperandIndexing]]"  # the name of an operand (or output), and its maps


def maps_of(instruction: Instruction, options: argparse.Namespace) -> tuple[str, list[Part]]:
    """The maps of one instruction, by operand, or for --inputs by pair of operand and output."""
    physical = options.physical
    if not options.inputs:
        indexing = ix.output_to_input(instruction, physical_layout=physical)
        names = [f"operand {k}, {printable_name(o.name)}" for k, o in enumerate(instruction.operands)]
        return "operands", list(zip(names, indexing, strict=True))
    parts: list[Part] = []
    for k, operand in enumerate(instruction.operands):
        for output, indexings in enumerate(ix.input_to_output(instruction, k, physical_layout=physical)):
            parts.append((f"operand {k}, {printable_name(operand.name)}, to output {output}", indexings))
    return "inputs", parts


def maps_json(name: str, indexings: Sequence[OperandIndexing]) -> Json:
    """One operand's maps as JSON."""
    return {"of": name, "maps": [indexing_json(indexing) for indexing in indexings]}


def indexing_json(indexing: OperandIndexing) -> Json:
    """One map as JSON, with the instructions that determine its runtime variables, and its exactness."""
    variables = [v.name for v in indexing.map.runtimes]
    values: list[Json] = [
        {"variable": variable, "instruction": value.instruction.name, "map": str(value.map)}
        for variable, value in zip(variables, indexing.runtime_values, strict=True)
    ]
    answer: dict[str, Json] = {"map": str(indexing.map), "exactness": indexing.exactness, "runtime_values": values}
    if indexing.reason:
        answer["reason"] = indexing.reason
    if indexing.replica_map is not None:
        answer["replica_map"] = str(indexing.replica_map)
    return answer


def maps_lines(instruction: Instruction, parts: Sequence[Part]) -> Iterator[str]:
    """One instruction's maps as indented text."""
    yield f"{printable_name(instruction.name)} = {instruction.shape} {instruction.opcode}"
    for name, indexings in parts:
        yield f"  {name}"
        if not indexings:
            yield "    no element"
        for indexing in indexings:
            yield from indexing_lines(indexing)


def indexing_lines(indexing: OperandIndexing) -> Iterator[str]:
    """The lines of a map: below it, the sources of its runtime variables, and the reason if it is not exact."""
    yield f"    {indexing.map}"
    for variable, value in zip(indexing.map.runtimes, indexing.runtime_values, strict=True):
        yield f"      {variable.name} = {printable_name(value.instruction.name)} at {value.map}"
    if indexing.replica_map is not None:
        yield f"      replica: {indexing.replica_map}"
    if indexing.exactness != "exact":
        yield f"      {indexing.exactness}: {indexing.reason}"
