"""Mutated HLO programs: what jaxlib refuses must be refused here, and what it takes must be taken.

    python fuzz/hlo_verifier.py --count N [--seed S] [PROGRAM.hlo[.gz] ...]

Prints the seed. Programs to mutate are those of `tests/hlo/opcode_samples.py`, and the computations of the files named.
jaxlib judges by reading a text, importing it to StableHLO and compiling it for the CPU, in a process of its own, since it
aborts on some. What it refuses only because the CPU cannot do it, or for an attribute that it does not know, does not
count. The exit status is 1 where more than 0.5 % of the mutants are refused by jaxlib and taken here, or any the other
way round for a reason that is not listed below.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import os
import pathlib
import random
import re
import secrets
import sys
from collections.abc import Iterable, Sequence

import indexing as ix
from hlo_mutations import mutate, opcodes

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "hlo"))
from opcode_samples import SAMPLES, program

ABORTED = "aborted"
BATCH = 100
LONGEST = 6000  # characters of a program worth mutating
MOST_TAKEN = 0.005
#: Refusals of jaxlib that say nothing about the program.
NO_VERDICT = re.compile(
    r"UNIMPLEMENTED|NOT_FOUND|UNAVAILABLE|unexpected attribute|unknown operation|not supported|[Uu]nsupported"
    r"|stablehlo\.future|async_start"  # what starts may be no root
)
#: Programs without a meaning that jaxlib takes all the same, as our errors name them.
MEANINGLESS = {
    r"entry_computation_layout does not fit": "the import to StableHLO drops the header's layout",
    r"add-dependency: the operands give": "the import drops the instruction",
    r"fft_length .* do not fit": "lengths are not held against the dimensions",
    r"bitcast: .* elements": "sizes are compared only once layouts are assigned",
    r"dimensions names dimension \d+, twice": "the first of the numbers is used",
    r"(dot|rng-bit-generator|fusion).*(takes|operands are given)": "operands that nothing reads",
    r"its head declares": "heads of computations are not read",
    r"root of .* has shape .* its head declares": "heads of computations are not read",
    r"it needs one user|its operand must be what it ends": "pairs of asynchronous instructions are made anew",
    r"(-start|-done|async-update|recv|send): the (operands|shape)": "starts and ends are made anew",
    r"outfeed_shape does not fit": "the import drops the attribute",
    r"(bitcast-convert|convolution): the operands give": "the result's shape is inferred anew",
    r"set-dimension-size: the operands give": "the result's bound is inferred",
    r"fusion .* calls=": "fusions are imported as calls, whose shapes are inferred",
    r"is given twice": "the last value is used",
}


def jaxlib_refuses(text: str) -> str | None:
    """Why jaxlib refuses a program; None where it compiles."""
    from jaxlib import _hlo, _jax, xla_client

    try:
        module = _hlo.hlo_module_from_text(text)
        imported = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
        client = xla_client.make_cpu_client()
        devices = _jax.DeviceList(tuple(client.local_devices()[:1]))
        client.compile_and_load(imported, devices, _jax.CompileOptions())
    except (RuntimeError, ValueError, TypeError) as error:
        return str(error) or type(error).__name__
    return None


def refused_here(text: str) -> str | None:
    """Why the package refuses a program."""
    try:
        ix.hlo.parse(text)
    except ix.IndexingError as error:
        return str(error)
    return None


def verdicts(texts: Sequence[str]) -> list[str | None]:
    """What jaxlib says of each text. A child judges them in turn; where it dies, the next child goes on behind."""
    found: list[str | None] = []
    while len(found) < len(texts):
        before = len(found)
        found += _judged_by_a_child(texts[before:])
        if len(found) < len(texts):
            found.append(ABORTED)
    return found


def _judged_by_a_child(texts: Sequence[str]) -> list[str | None]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for text in texts:
            os.write(writer, ((jaxlib_refuses(text) or "").replace("\n", " ")[:1000] + "\n").encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as lines:
        found = [line.rstrip("\n") or None for line in lines]
    os.waitpid(child, 0)
    return found


def pieces(text: str) -> Iterable[str]:
    """Each computation of a program with what it calls, as a program."""
    module = ix.hlo.parse(text)
    for entry in module.computations.values():
        needed, open_ = {entry.name: entry}, [entry]
        while open_:
            for instruction in open_.pop().instructions.values():
                new = [c for c in instruction.called if c.name not in needed]
                needed |= {c.name: c for c in new}
                open_ += new
        texts = [str(c).removeprefix("ENTRY ") for name, c in module.computations.items() if name in needed]
        whole = "\n".join(t for t in texts if not t.startswith(f"%{entry.name} {{"))
        if len(whole) < LONGEST:
            yield f"HloModule m\n\n{whole}\nENTRY {str(entry).removeprefix('ENTRY ')}"


def read(path: str) -> str:
    data = pathlib.Path(path).read_bytes()
    return (gzip.decompress(data) if path.endswith(".gz") else data).decode()


def sources(files: Sequence[str]) -> dict[str, list[str]]:
    """Programs that jaxlib takes, by the opcodes in them."""
    texts = [program(opcode) for opcode in SAMPLES] + sorted({p for file in files for p in pieces(read(file))})
    found: dict[str, list[str]] = collections.defaultdict(list)
    for text, refusal in zip(texts, verdicts(texts), strict=True):
        for opcode in opcodes(text) if refusal is None else ():
            found[opcode].append(text)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("files", nargs="*", metavar="PROGRAM")
    options = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    r, programs = random.Random(seed), sources(options.files)
    taken: list[tuple[str, str, str]] = []
    refused: list[tuple[str, str, str]] = []
    judged = 0
    for first in range(0, options.count, BATCH):
        chosen = [r.choice(list(programs)) for _ in range(min(BATCH, options.count - first))]
        mutants = [mutate(r.choice(programs[opcode]), r, opcode) for opcode in chosen]
        for (text, what), theirs in zip(mutants, verdicts([t for t, _ in mutants]), strict=True):
            ours = refused_here(text)
            judged += 1
            if theirs is not None and ours is None and not NO_VERDICT.search(theirs):
                taken.append((what, theirs, text))
            if theirs is None and ours is not None and not any(re.search(m, ours) for m in MEANINGLESS):
                refused.append((what, ours, text))
    return report(judged, taken, refused)


def report(judged: int, taken: list[tuple[str, str, str]], refused: list[tuple[str, str, str]]) -> int:
    """Prints what differs; 1 where it is too much."""
    share = len(taken) / max(judged, 1)
    print(f"{judged} mutants: {len(taken)} ({share:.2%}) taken here alone, {len(refused)} refused here alone")
    for title, found in (("taken here, jaxlib says", taken), ("refused here", refused)):
        for what, why, text in found[:20]:
            print(f"--- {what}; {title}: {why[:300]}\n{text if found is refused else ''}")
    return int(share > MOST_TAKEN or bool(refused))


if __name__ == "__main__":
    sys.exit(main())
