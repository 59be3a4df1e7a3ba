"""One program held against jaxlib: accepted, evaluated, its maps, and its kernels on devices."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import indexing as ix
from indexing import hlo
from indexing.executable import DeviceExecutable
from indexing.planning.program import KnobChoice, default_knobs
from modules import alone, deviations, oracle, perturb
from modules.compare import difference, flushed
from modules.generate import arguments
from modules.kernels import PATTERNS, Opener, random_plans
from modules.program import Program

Arrays = Sequence[np.ndarray]
Run = Callable[[Arrays], Sequence[object]]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong: `kind` stays the same while a program is made smaller."""

    kind: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Options:
    """How much is done for a program: changed elements, and the devices that kernels are compiled for.

    Kernels have random plans where `plans` is their seed, else the default ones. `announce` is called with a device's name
    before its kernels run, which may end the process.
    """

    tries: int = 12
    devices: tuple[Opener, ...] = ()
    plans: str | None = None
    announce: Callable[[str], None] = lambda device: None


def check(program: Program, seed: str, options: Options) -> Finding | None:
    """What is wrong with our answers to a program; None where nothing is. Raises `oracle.Refused` if jaxlib refuses."""
    theirs = oracle.Compiled(program.text(oracle=True))
    given = arguments(program, seed)
    want = theirs(given)
    try:
        module = hlo.parse(program.text())
        reference = _reference(module)
        ours = reference(given)
    except BaseException as error:  # whatever it is, the program is one that jaxlib accepts
        return Finding("refused", f"{type(error).__name__}: {error}")
    if wrong := _differences(program, module, reference, given, ours, want):
        return Finding("value", wrong)
    if wrong := _maps(program, module, theirs, given, seed, options.tries):
        return Finding("map", wrong)
    for opener in options.devices:
        device = opener()
        if program.keeps_last():
            continue
        options.announce(device.name)
        choose = default_knobs if options.plans is None else random_plans(options.plans, device)
        if finding := _kernels(program, module, theirs, seed, device, choose):
            return finding
    return None


def _reference(module: hlo.Module) -> Run:
    return lambda given: _tuple(ix.evaluate(module, *given))


def _tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _differences(
    program: Program,
    module: hlo.Module,
    run: Run,
    given: Arrays,
    results: Sequence[object],
    want: Arrays,
    device: str = "",
) -> str | None:
    """The first output that differs from jaxlib's: compiled as by default, without denormal numbers, op by op as well.

    `run`, on a device if it is named, gave the results, and is asked again where denormal numbers may be the reason.
    """
    names = list(program.outputs)
    differ = [n for k, n in enumerate(names) if difference(results[k], want[k], program.outputs[n])]
    if not differ:
        return None
    part = program.reduced(differ)
    careful = oracle.Compiled(part.text(oracle=True), quick=False)
    ours = [results[names.index(n)] for n in differ]
    wrong = _wrong(part, ours, careful(_given(program, part, given)), device)
    if not wrong:
        return None
    zeroed = [flushed(a) for a in given]
    without = run(zeroed)
    flat = [flushed(o) if isinstance(o, np.ndarray) else o for o in (without[names.index(n)] for n in differ)]
    still = _wrong(part, flat, [flushed(a) for a in careful(_given(program, part, zeroed))], device)
    reference = _reference(module)(given)
    for name in wrong:
        same = (
            difference(results[names.index(name)], np.asarray(reference[names.index(name)]), part.outputs[name]) is None
        )
        if name in still and not (same and alone.agrees(program, module, name, given)):
            return f"{name}: {wrong[name]}"
    return None


def _wrong(part: Program, ours: Sequence[object], theirs: Arrays, device: str) -> dict[str, str]:
    """The outputs that differ, and how; those that XLA, or the device, is known to answer otherwise left out."""
    by_name = {}
    for (name, tolerance), a, b in zip(part.outputs.items(), ours, theirs, strict=True):
        wrong = difference(a, b, tolerance)
        if wrong and not deviations.known(part, name, a, b, tolerance, device):
            by_name[name] = wrong
    return by_name


def _given(program: Program, part: Program, arguments: Arrays) -> list[np.ndarray]:
    """The arguments of a part of a program."""
    known = dict(zip(program.parameters, arguments, strict=True))
    return [known[name] for name in part.parameters]


def _maps(
    program: Program, module: hlo.Module, theirs: oracle.Compiled, given: Arrays, seed: str, tries: int
) -> str | None:
    kinds = [(i.shape.kind, program.data[i.name]) for i in program.instructions if i.opcode == "parameter"]
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    tolerances = list(program.outputs.values())
    try:
        unnamed = perturb.unsound(module.entry, theirs, given, kinds, tolerances, rng, tries)
        return unnamed and _unless_values_differ(program, module, theirs, given, unnamed)
    except perturb.TooLarge:
        return None
    except oracle.Refused:
        raise
    except BaseException as error:  # a panic is no Exception
        return f"{type(error).__name__}: {error}"


def _unless_values_differ(
    program: Program, module: hlo.Module, theirs: oracle.Compiled, given: Arrays, unnamed: perturb.Unnamed
) -> str | None:
    """What no map names; where jaxlib's value of the output is another than ours, what is wrong with that value."""
    tolerance = list(program.outputs.values())[unnamed.output]
    reference = _reference(module)
    for asked in (given, unnamed.arguments):
        ours, want = reference(asked), theirs(asked)
        if difference(ours[unnamed.output], want[unnamed.output], tolerance):
            return _differences(program, module, reference, asked, ours, want)
    return unnamed.what


def _kernels(
    program: Program, module: hlo.Module, theirs: oracle.Compiled, seed: str, device: Any, choose: KnobChoice
) -> Finding | None:
    """Kernels of chosen plans, called with different data; the memory of their results holds another pattern each time."""

    def run(given: Arrays) -> Sequence[object]:
        return _tuple(executable(*given))

    try:
        executable = DeviceExecutable(hlo.parse(program.text()), device, choose)
        for call, pattern in enumerate(PATTERNS):
            device.pattern = pattern
            given = arguments(program, f"{seed}/call {call}")
            ours, want = run(given), theirs(given)
            if errors := device.errors():
                return Finding(f"access on {device.name}", "; ".join(errors[:3]))
            if wrong := _differences(program, module, run, given, ours, want, device.name):
                return Finding(f"value on {device.name}", f"call {call}: {wrong}")
    except oracle.Refused:
        raise
    except BaseException as error:
        return Finding(f"error on {device.name}", f"{type(error).__name__}: {error}")
    return None


def shrink(
    program: Program, seed: str, options: Options, kind: str, patience: int = 150
) -> tuple[Program, Finding | None]:
    """A smaller program with a finding of the same kind: fewer outputs, and parameters instead of instructions."""
    rng, best = random.Random(seed), None
    while patience > 0:
        for smaller in _smaller(program, rng):
            patience -= 1
            try:
                finding = check(smaller, seed, options)
            except oracle.Refused:
                continue
            if finding is not None and finding.kind == kind:
                program, best = smaller, finding
                break
            if patience <= 0:
                break
        else:
            break
    return program, best


def _smaller(program: Program, rng: random.Random) -> list[Program]:
    outputs = list(program.outputs)
    programs = []
    if len(outputs) > 1:
        half = len(outputs) // 2
        programs += [program.reduced(part) for part in (outputs[:half], outputs[half:]) if part]
        if len(outputs) < 8:
            programs += [program.reduced([o for o in outputs if o != left]) for left in outputs]
    inner = [i for i in program.instructions if i.opcode not in ("parameter", "constant") and hasattr(i.shape, "kind")]
    inner = [i for i in inner if i.shape.kind != "token" and i.name not in outputs]
    rng.shuffle(inner)
    return programs + [program.with_parameter(i.name) for i in inner]
