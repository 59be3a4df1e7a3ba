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
from dataclasses import dataclass

import indexing as ix
from hlo_mutations import mutate, opcodes

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "hlo"))
from opcode_samples import SAMPLES, program

ABORTED = "aborted"
BATCH = 100
MAX_LENGTH = 6000  # characters of a program worth mutating
MAX_TAKEN = 0.005
#: Refusals of jaxlib that say nothing about the program.
NO_VERDICT = re.compile(
    r"UNIMPLEMENTED|NOT_FOUND|UNAVAILABLE|unexpected attribute|unknown operation|not supported|[Uu]nsupported"
    r"|stablehlo\.future|async_start"  # what starts may be no root
    r"|Unexpected bitcast operation|unregistered operation"
)


@dataclass(frozen=True)
class Deviation:
    """Programs that are taken by one of the two alone: as an error says it, in words, why, and one of them.

    From the version `agreed` of jaxlib on, it refuses them as well.
    """

    pattern: str
    what: str
    reason: str
    example: str
    agreed: tuple[int, ...] | None = None


#: What jaxlib takes and this package refuses: `pattern` is of our error.
STRICTER = (
    Deviation(
        r"(add-dependency|bitcast-convert|convolution|get-tuple-element|rng-bit-generator|set-dimension-size)"
        r": the operands give",
        "a result shape that differs from the one the operands imply: `add-dependency`, `bitcast-convert`, `convolution`, "
        "`get-tuple-element`, `rng-bit-generator`, `set-dimension-size`",
        "the import infers the shape again; the author of the program meant another one",
        "p = f32[2] parameter(0) t = token[] after-all() ROOT r = f32[3] add-dependency(p, t)",
    ),
    Deviation(
        r"(fusion|conditional) .* (calls|\w+_computations?)=.*root has shape",
        "a fusion or a conditional whose shape differs from that of its computations' roots",
        "the import infers their shapes again; XLA's own verifier rejects them",
        "p = f32[2] parameter(0) ROOT r = f32[3] fusion(p), kind=kLoop, calls=f",
    ),
    Deviation(
        r"(dot|rng-bit-generator).* takes \d+ operands",
        "more operands than `dot` or `rng-bit-generator` read",
        "the import drops the extra operands silently; jaxlib 0.12 rejects them too",
        "p = f32[2,2] parameter(0) ROOT r = f32[2,2] dot(p, p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        agreed=(0, 12),
    ),
    Deviation(
        r"dimensions names dimension \d+, twice",
        "a list of dimensions that names one twice, where only one is meant",
        "the import reads the first number alone; jaxlib 0.11.1 rejects it too",
        "p = f32[2,3] parameter(0) ROOT r = s32[] get-dimension-size(p), dimensions={1,1}",
        agreed=(0, 11, 1),
    ),
    Deviation(
        r"fft_length .* do not fit",
        "an `fft_length` that differs from the dimensions",
        "nothing compares the two; the result is then arbitrary",
        "p = c64[2,8] parameter(0) ROOT r = c64[2,8] fft(p), fft_type=FFT, fft_length={16}",
    ),
    Deviation(
        r"inf is no value of f",
        "infinity in a literal of a type without infinities",
        "the import reads a NaN, which is another number",
        "ROOT c = f8e4m3fn[] constant(-inf)",
    ),
    Deviation(
        r"(-start|-done|async-update|recv|send): the (operands|shape)",
        "a start or done instruction whose shape is not that of its operands",
        "the import constructs the pairs again",
        "p = f32[2,3] parameter(0) s = (f32[1,3], f32[4,3]) all-gather-start(p), channel_id=1, "
        "replica_groups={{0,1}}, dimensions={0} ROOT r = f32[4,3] all-gather-done(s)",
    ),
    Deviation(
        r"compare: type of .* must be",
        "a `compare` whose `type` is not that of its operands",
        "the import reads the operands' type; XLA's own verifier rejects it",
        "p = s32[2] parameter(0) ROOT r = pred[2] compare(p, p), direction=LT, type=UNSIGNED",
    ),
    Deviation(
        r"runs on thread",
        "a computation on another thread than its caller, unless an `async-start` calls it",
        "the import drops the names of threads; XLA's own verifier rejects it",
        "p = f32[2] parameter(0) ROOT r = f32[2] call(p), to_apply=h",
    ),
)
#: What this package takes and jaxlib refuses: `pattern` is of jaxlib's error.
LOOSER = (
    Deviation(
        r"Non-root instruction .* must have users",
        "unused parameters of fusions",
        "their meaning is clear, and hand-written programs have them",
        "p = f32[2] parameter(0) ROOT r = f32[2] fusion(p, p), kind=kLoop, calls=g",
    ),
    Deviation(
        r"expects name .*\b(?:true|false|nan|inf) = ",
        "a name without `%` that is a keyword of the grammar, such as `true`, `nan` or `ENTRY`",
        "it is unambiguous; printed names have a `%`, with which jaxlib accepts them",
        "nan = f32[2] parameter(0) ROOT r = f32[2] negate(nan)",
    ),
)
CALLED = """HloModule m, replica_count=2
f { a = f32[2] parameter(0) ROOT n = f32[2] negate(a) }
g { a = f32[2] parameter(0) b = f32[2] parameter(1) ROOT n = f32[2] negate(a) }
h { a = f32[2] parameter(0) ROOT n = f32[2] negate(a) }, execution_thread="host"
"""


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


def known(deviations: Sequence[Deviation], error: str) -> bool:
    """Is it one of the deviations that an error speaks of?"""
    return any(re.search(d.pattern, error) for d in deviations)


def verdicts(texts: Sequence[str]) -> list[str | None]:
    """What jaxlib says of each text. A child judges them in turn; where it dies, the next child goes on behind."""
    answers: list[str | None] = []
    while len(answers) < len(texts):
        before = len(answers)
        answers += _judged_by_a_child(texts[before:])
        if len(answers) < len(texts):
            answers.append(ABORTED)
    return answers


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
        answers = [line.rstrip("\n") or None for line in lines]
    os.waitpid(child, 0)
    return answers


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
        if len(whole) < MAX_LENGTH:
            yield f"HloModule m\n\n{whole}\nENTRY {str(entry).removeprefix('ENTRY ')}"


def read(path: str) -> str:
    data = pathlib.Path(path).read_bytes()
    return (gzip.decompress(data) if path.endswith(".gz") else data).decode()


def sources(files: Sequence[str]) -> dict[str, list[str]]:
    """Programs that jaxlib takes, by the opcodes in them."""
    texts = [program(opcode) for opcode in SAMPLES] + sorted({p for file in files for p in pieces(read(file))})
    programs: dict[str, list[str]] = collections.defaultdict(list)
    for text, refusal in zip(texts, verdicts(texts), strict=True):
        for opcode in opcodes(text) if refusal is None else ():
            programs[opcode].append(text)
    return programs


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
            if theirs is not None and ours is None and not (NO_VERDICT.search(theirs) or known(LOOSER, theirs)):
                taken.append((what, theirs, text))
            if theirs is None and ours is not None and not known(STRICTER, ours):
                refused.append((what, ours, text))
    return report(judged, taken, refused)


def report(judged: int, taken: list[tuple[str, str, str]], refused: list[tuple[str, str, str]]) -> int:
    """Prints what differs; 1 where it is too much."""
    share = len(taken) / max(judged, 1)
    print(f"{judged} mutants: {len(taken)} ({share:.2%}) taken here alone, {len(refused)} refused here alone")
    for title, differing in (("taken here, jaxlib says", taken), ("refused here", refused)):
        for what, why, text in differing[:20]:
            print(f"--- {what}; {title}: {why[:300]}\n{text}")
    return int(share > MAX_TAKEN or bool(refused))


if __name__ == "__main__":
    sys.exit(main())
