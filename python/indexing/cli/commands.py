"""The command line `indexing`: each command reads text, and prints what the package's functions answer.

Exit status 0; 1 for a problem with the input, told in one message on standard error; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Never, TypeAlias

import indexing as ix
from indexing.analysis import report as analysis
from indexing.analysis.device import DEVICES, Device, device_named
from indexing.cli.console import STDIN, Json, Problem, complain, spoken_warnings, standard_input, write, write_json
from indexing.emitters.ir.passes import STAGES
from indexing.emitters.ir.text import print_kernel
from indexing.emitters.ir.verify import Verification
from indexing.emitters.targets import TARGETS
from indexing.executable import DEVICE_NAMES
from indexing.hlo import Computation, Instruction, Module
from indexing.hlo.files import decoded
from indexing.lazy import np
from indexing.ops.op import HloValue, OperandIndexing
from indexing.reference.compare import difference, make_inputs
from indexing.show import drawing as drawing

if TYPE_CHECKING:
    from indexing.emitters.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found: `data` for --json, `lines` for people; `status` is the exit status."""

    data: Json
    lines: Iterable[str]
    status: int = 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (default: the process's own arguments); returns the exit status, prints, raises nothing.

    Wrong usage leaves by argparse's SystemExit with status 2.
    """
    try:
        options = parsed(arguments)
        command: Callable[[argparse.Namespace], Answer] = options.command
        with spoken_warnings():
            answer = command(options)
        if options.json:
            write_json(answer.data)
        else:
            write(answer.lines)
    except BrokenPipeError:  # the reader has seen enough
        return 0
    except KeyboardInterrupt:
        return 130
    except ix.IndexingError as error:
        complain(str(error))
    except OSError as error:
        complain(f"{error.filename or 'input'}: {error.strerror or error}")
    except MemoryError as error:
        complain(f"there is not enough memory: {error}")
    else:
        return answer.status
    return 1


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; what --help and --version print reaches its reader or is an error."""
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            return parser().parse_args(arguments)
    except SystemExit as leaving:
        if not leaving.code:
            write(said.getvalue().splitlines())
        raise


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="indexing", description="Indexing maps of tensor programs.")
    top.add_argument("--version", action="version", version=f"indexing {ix.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], Answer], about: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        sub.set_defaults(command=command)
        sub.add_argument("--json", action="store_true", help="print JSON")
        return sub

    def add_for_file(name: str, command: Callable[[argparse.Namespace], Answer], about: str) -> argparse.ArgumentParser:
        sub = add(name, command, about)
        sub.add_argument("file", metavar="FILE", help="HLO text; - reads standard input")
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
        "analyze", analyze, "print how much of its operands each fusion reads, and what memory moves for it"
    )
    sub.add_argument("--instruction", metavar="NAME", help="of this instruction only, wherever it is")
    sub.add_argument(
        "--device", type=memory_device, default="H100", help=f"whose memory: {', '.join(DEVICES)} (default: H100)"
    )
    sub.add_argument("--html", metavar="FILE", type=Path, help="write a page with a table to sort as well")

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
        "--tolerance", type=positive, default=1e-3, help="largest relative error that passes (default: 1e-3)"
    )

    sub = add_for_file("draw", draw, "draw a computation, its maps on the edges")
    sub.add_argument("--computation", metavar="NAME", help="this one (default: the entry)")
    sub.add_argument("--format", choices=("svg", "dot"), default="svg", help="default: svg")
    return top


# ---- programs and their parts


def memory_device(name: str) -> Device:
    """The device of that name."""
    try:
        return device_named(name)
    except ix.IndexingError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def natural(text: str) -> int:
    """An integer from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 0")
    return int(text)


def positive(text: str) -> float:
    """A number from 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0")
    return number


@contextmanager
def text_of(file: str) -> Iterator[None]:
    """Let errors of a text name the file that it comes from."""
    try:
        yield
    except ix.ParseError as error:
        raise (error if error.file or not file else error.in_file(file)) from None


def read_program(name: str) -> Module:
    """The program of a file, or of standard input for `-`; either may be compressed by gzip."""
    if name != "-":
        return ix.hlo.load(name)
    with text_of(STDIN):
        return ix.hlo.parse(decoded(standard_input()))


def read_maps(argument: str) -> tuple[str, str]:
    """The text of maps, and the file it comes from: standard input for `-`, none where it is the argument itself."""
    if argument != "-":
        return argument, ""
    with text_of(STDIN):
        return decoded(standard_input()), STDIN


def parsed_map(text: str, file: str, number: int = 1) -> ix.IndexingMap:
    """The map that is line `number` of a text; errors name that line."""
    with text_of(file):
        try:
            return ix.IndexingMap.parse(text)
        except ix.IndexingError:
            return ix.IndexingMap.parse("\n" * (number - 1) + text)


def named_computation(module: Module, name: str) -> Computation:
    """The computation of that name; with or without %."""
    found = module.computations.get(name.removeprefix("%"))
    return found if found is not None else missing("computation", name, module.computations)


def named_instruction(module: Module, name: str) -> Instruction:
    """The instruction of that name, in whichever computation; with or without %."""
    bare = name.removeprefix("%")
    for computation in module.computations.values():
        if bare in computation.instructions:
            return computation.instructions[bare]
    return missing("instruction", name, (n for c in module.computations.values() for n in c.instructions))


def missing(kind: str, name: str, names: Iterable[str]) -> Never:
    """Say that there is none of that name, and which ones are spelled like it."""
    near = difflib.get_close_matches(name, list(names), n=3)
    hint = f"; there is {', '.join(map(plain, near))}" if near else ""
    raise Problem(f"the program has no {kind} {plain(name)}{hint}")


def fusions(module: Module) -> list[Instruction]:
    """The entry's fusion instructions, in the order of the text."""
    return [i for i in module.entry.instructions.values() if i.opcode == "fusion"]


def plain(name: str) -> str:
    """A name as it is, or quoted and escaped where a terminal would do something else than show it."""
    return name if name.isprintable() and name else json.dumps(name)


# ---- the commands


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
    found = [(i, *maps_of(i, options)) for i in chosen]
    data: Json = [
        {"instruction": i.name, "opcode": i.opcode, "shape": str(i.shape), label: [maps_json(*p) for p in parts]}
        for i, label, parts in found
    ]
    return Answer(data, (line for i, _, parts in found for line in maps_lines(i, parts)))


Part: TypeAlias = "tuple[str, list[OperandIndexing]]"  # an operand's (or output's) name, and its maps


def maps_of(instruction: Instruction, options: argparse.Namespace) -> tuple[str, list[Part]]:
    """The maps of one instruction, each list with the operand, or for --inputs the pair, that it belongs to."""
    physical = options.physical
    if not options.inputs:
        found = ix.output_to_input(instruction, physical_layout=physical)
        names = [f"operand {k}, {plain(o.name)}" for k, o in enumerate(instruction.operands)]
        return "operands", list(zip(names, found, strict=True))
    parts: list[Part] = []
    for k, operand in enumerate(instruction.operands):
        for output, indexings in enumerate(ix.input_to_output(instruction, k, physical_layout=physical)):
            parts.append((f"operand {k}, {plain(operand.name)}, to output {output}", indexings))
    return "inputs", parts


def maps_json(name: str, indexings: Sequence[OperandIndexing]) -> Json:
    """One operand's maps as JSON."""
    return {"of": name, "maps": [indexing_json(indexing) for indexing in indexings]}


def indexing_json(indexing: OperandIndexing) -> Json:
    """One map, the instructions that give its runtime variables, and how exact it is."""
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
    yield f"{plain(instruction.name)} = {instruction.shape} {instruction.opcode}"
    for name, indexings in parts:
        yield f"  {name}"
        if not indexings:
            yield "    no element"
        for indexing in indexings:
            yield from indexing_lines(indexing)


def indexing_lines(indexing: OperandIndexing) -> Iterator[str]:
    """A map; below it where its runtime variables are read, and what keeps it from being exact."""
    yield f"    {indexing.map}"
    for variable, value in zip(indexing.map.runtimes, indexing.runtime_values, strict=True):
        yield f"      {variable.name} = {plain(value.instruction.name)} at {value.map}"
    if indexing.replica_map is not None:
        yield f"      replica: {indexing.replica_map}"
    if indexing.exactness != "exact":
        yield f"      {indexing.exactness}: {indexing.reason}"


def simplify(options: argparse.Namespace) -> Answer:
    """Simplify one map, or one a line."""
    text, file = read_maps(options.map)
    numbered = enumerate(text.split("\n") if options.lines else [text], 1)
    sources = [(number, source) for number, source in numbered if source.strip() or not options.lines]
    pairs = [(source.strip(), simplified(source, file, number)) for number, source in sources]
    texts = [str(m) if options.style == "default" else m.to_text(style="xla") for _, m in pairs]
    items: list[Json] = [{"map": source, "simplified": t} for (source, _), t in zip(pairs, texts, strict=True)]
    return Answer(items if options.lines else items[0], texts)


def simplified(source: str, file: str, number: int) -> ix.IndexingMap:
    """The map of a line, simplified; errors name the line."""
    parsed = parsed_map(source, file, number)
    try:
        return parsed.simplify()
    except ix.IndexingError as error:
        raise Problem(f"line {number}: {error}") from None


def compose(options: argparse.Namespace) -> Answer:
    """Compose two maps and simplify what comes out."""
    if options.first == options.second == "-":
        raise Problem("only one of the two maps can come from standard input")
    texts = [read_maps(options.first), read_maps(options.second)]
    first, second = (parsed_map(text, file) for text, file in texts)
    composed = str(ix.compose(first, second).simplify())
    return Answer({"first": texts[0][0].strip(), "second": texts[1][0].strip(), "composed": composed}, [composed])


def analyze(options: argparse.Namespace) -> Answer:
    """Print what the entry's fusions (or its instructions, where it has none) must move, and what they will."""
    module = read_program(options.file)
    if options.instruction:
        chosen = [named_instruction(module, options.instruction)]
    else:
        chosen = fusions(module) or [i for i in module.entry.instructions.values() if i.operands]
    found = analysis.report(module.name, chosen, options.device)
    if options.html is not None:
        written(options.html, found.html().encode())
    names = [f.name for f in fields(analysis.Row)]
    rows: list[Json] = [{name: getattr(row, name) for name in names} for row in found.rows]
    data: Json = {"device": found.device.name, "must_move": found.must_move, "will_move": found.will_move, "rows": rows}
    return Answer(data, analysis.table(found))


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
            status = 1 if proofs.refuted else status
        data.append(item)
    return Answer(data, lines, status)


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


def written(path: Path, content: bytes) -> Path:
    """Write a file, its folder too; a kernel's name is an identifier, so the path stays in the folder asked for."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    return path


def run(options: argparse.Namespace) -> Answer:
    """Run a program on a device; status 1 where an output lies further from the reference than the tolerance."""
    module = read_program(options.file)
    arrays = given_inputs(options.input) or make_inputs([p.shape for p in module.entry.parameters], options.seed)
    executable = ix.compile(module, device=options.device)
    outputs, expected = flat(executable(*arrays)), flat(ix.evaluate(module, *arrays))
    data: list[Json] = []
    lines = [f"{len(executable.kernels)} kernels on {executable.device}"]
    close = True
    for k, (got, want) in enumerate(zip(outputs, expected, strict=True)):
        apart = difference(got, want)
        close &= apart.largest <= options.tolerance and not apart.misplaced
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
    lines.append(
        "agrees with the reference" if close else f"differs from the reference by more than {options.tolerance}"
    )
    return Answer({"device": executable.device, "close": close, "outputs": data}, lines, 0 if close else 1)


# What numpy and the reader of archives say of files that are no arrays.
UNREADABLE = (ValueError, EOFError, SyntaxError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error)


def given_inputs(paths: Sequence[Path]) -> list[HloValue]:
    """The arrays of .npy files, one each, and of .npz files, all in their order."""
    arrays: list[HloValue] = []
    for path in paths:
        try:
            loaded = np.load(path, allow_pickle=False)
            arrays += [loaded] if isinstance(loaded, np.ndarray) else [loaded[name] for name in loaded.files]
        except UNREADABLE as error:
            raise Problem(f"{path}: not an array that numpy can read: {error}") from error
    return arrays


def flat(value: HloValue) -> list[np.ndarray]:
    """The arrays of a result, in order; nested tuples opened, tokens left out."""
    found: list[np.ndarray] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend(reversed(part))
        elif part is not None:
            found.append(np.asarray(part))
    return found


def summary(array: np.ndarray) -> str:
    """The first elements of an array."""
    head = ", ".join(str(x) for x in array.reshape(-1)[:3])
    return f"[{head}{', ...' if array.size > 3 else ''}]"


def draw(options: argparse.Namespace) -> Answer:
    """Draw one computation."""
    module = read_program(options.file)
    chosen = named_computation(module, options.computation) if options.computation else module.entry
    picture = drawing.svg(chosen) if options.format == "svg" else drawing.dot(chosen)
    return Answer({"computation": chosen.name, "format": options.format, "picture": picture}, [picture.rstrip("\n")])
