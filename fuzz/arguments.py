"""Odd arguments to every public function and method: each call answers, or says by an error of its own what is wrong.

    python fuzz/arguments.py --count N [--seed S] [--first I]

Right are an answer, an `IndexingError`, and a `TypeError` with a message; anything else (an `AttributeError`, a panic, a
crash) is a defect. Prints the seed, and for each failure the call and the command that makes it again.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import random
import reprlib
import secrets
import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import indexing as ix

PROGRAM = """HloModule odd

add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }

fused { p = f32[4,6] parameter(0)
  n = f32[4,6] negate(p)
  ROOT t = f32[6,4] transpose(n), dimensions={1,0} }

ENTRY main {
  x = f32[4,6] parameter(0)
  i = s32[] parameter(1)
  zero = f32[] constant(0)
  r = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
  d = f32[2,6] dynamic-slice(x, i, i), dynamic_slice_sizes={2,6}
  f = f32[6,4] fusion(x), kind=kLoop, calls=fused
  ROOT out = (f32[6,4], f32[4], f32[2,6]) tuple(f, r, d)
}
"""
MAPS = (
    "(d0, d1) -> ((d0 * 16 + d1) floordiv 8, d1 mod 8), domain: d0 in [0, 9], d1 in [0, 15]",
    "(d0)[s0]{rt0} -> (d0 + s0 + rt0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [0, 4], d0 + s0 in [0, 4]",
    "(a, b) -> (a * b), domain: a in [-9223372036854775808, 9223372036854775807], b in [-3, 3]",
    "() -> ()",
    "KNOWN EMPTY",
    "UNDEFINED",
)
MODULES = (ix, ix.hlo, ix.layout, ix.convert, ix.reference, ix.runtime, ix.show)
# What hands its arguments to another library, and what reads files: their errors are the library's and the system's.
LEFT_OUT = {
    "analyze_files",
    "dumped_programs",
    "from_exported",
    "from_jax",
    "from_proto",
    "from_stablehlo",
    "load",
    "maps",
}
# Classes that users make; the others are answers, plain records of what a function found.
MADE_BY_USERS = {
    "Interval",
    "Variable",
    "SymbolicMap",
    "IndexingMap",
    "PiecewiseMap",
    "Equivalence",
    "Launch",
    "Tiles",
    "Device",
    "Strided",
}
MAX_ARGUMENTS = 5

Thing = Callable[..., object]


def fitting_values() -> list[object]:
    """Values of the package's own types: what its functions want, but seldom all in the right place."""
    module = ix.hlo.parse(PROGRAM)
    instructions = list(module.entry.instructions.values())
    fusion = module.entry.instructions["f"]
    maps = [ix.IndexingMap.parse(text) for text in MAPS]
    expression = (ix.variable(0) * 3 + ix.variable(1)) // 4 % 5
    values: list[object] = [module, *module.computations.values(), *instructions, *maps, expression]
    values += [ix.variable(0), ix.constant(7), ix.SymbolicMap.identity(2), ix.SymbolicMap(1, 1, [ix.variable(1)])]
    values += [
        ix.Interval(0, 3),
        ix.Interval(3, 0),
        ix.Variable("d0", ix.Interval(0, 3)),
        fusion.shape,
        module.entry.root.shape,
    ]
    values += [
        ix.emit(fusion),
        ix.partition(fusion.called[0]),
        ix.Launch(),
        ix.Tiles((2, 2)),
        ix.output_to_input(fusion),
    ]
    values += [ix.partition(fusion.called[0]).subgraphs[0], ix.tiling_space(fusion), ix.propagate_tile(fusion)]
    values += [
        maps[0].union(maps[0]),
        ix.compile(module, device="reference"),
        maps[0].equivalent(maps[0].simplify()),
        *MAPS,
        PROGRAM,
    ]
    return values


def odd_values() -> list[object]:
    """What somebody may pass by mistake."""
    deep: object = 0
    for _ in range(2000):
        deep = [deep]
    numbers: list[object] = [
        0,
        1,
        2,
        3,
        -1,
        7,
        64,
        65,
        2**31,
        2**32,
        2**40,
        2**63 - 1,
        -(2**63),
        2**63,
        2**64,
        10**30,
        True,
    ]
    floats: list[object] = [0.0, 1.5, float("nan"), float("inf"), 3j]
    scalars: list[object] = [
        np.int64(3),
        np.uint64(2**63),
        np.int8(-1),
        np.float32(2.5),
        np.bool_(True),
        np.datetime64(0, "s"),
    ]
    arrays: list[object] = [
        np.array(3),
        np.arange(4),
        np.zeros((4, 6), np.float32),
        np.zeros(0),
        np.array([None, 2]),
        np.array("a"),
    ]
    texts: list[object] = [
        "",
        "d0",
        "v1",
        "cuda",
        "cpu",
        "x",
        "\udcff",
        "\0",
        "é",
        "d0 in [0, 3]",
        b"d0",
        bytearray(b"\xff"),
        "f32",
        "1" * 400,
    ]
    others: list[object] = [
        None,
        ...,
        object(),
        int,
        len,
        ix,
        Exception("e"),
        {"T": 3},
        {},
        {1},
        range(3),
        slice(2),
        iter([1]),
        deep,
    ]
    return numbers + floats + scalars + arrays + texts + others


class Calls:
    """Random calls, each a pure function of seed and number."""

    def __init__(self) -> None:
        self.fitting = fitting_values()
        self.odd = odd_values()
        self.things = dict(things(self.fitting))

    def value(self, chance: random.Random, depth: int = 0) -> object:
        """One argument: fitting, odd, or a collection of such."""
        kind = chance.random()
        if kind < 0.45:
            return chance.choice(self.fitting)
        if kind < 0.8 or depth > 2:
            return chance.choice(self.odd)
        items = [self.value(chance, depth + 1) for _ in range(chance.randrange(4))]
        if kind < 0.9:
            return items
        if kind < 0.97 or not all(isinstance(i, str | int) for i in items):
            return tuple(items)
        return dict.fromkeys(items, self.value(chance, depth + 1))

    def call(self, seed: int, number: int) -> tuple[str, Thing, list[object], dict[str, object]]:
        """What to call, its name, and with what."""
        chance = random.Random(f"{seed} {number}")
        name = chance.choice(sorted(self.things))
        thing = self.things[name]
        names, least, most = parameters(thing)
        count = chance.randint(least, most) if chance.random() < 0.9 else chance.randrange(MAX_ARGUMENTS)
        arguments = [self.value(chance) for _ in range(count)]
        named = {n: self.value(chance) for n in names[count:] if chance.random() < 0.3}
        return name, thing, arguments, named

    def check(self, seed: int, number: int) -> str | None:
        """What is wrong with the outcome of a call; None where nothing is."""
        name, thing, arguments, named = self.call(seed, number)
        outcome = outcome_of(thing, arguments, named)
        return outcome and f"{name}{shown(arguments, named)}: {outcome}"


def parameters(thing: Thing) -> tuple[list[str], int, int]:
    """The names of the parameters that can be given by name, and how many can stand by position, at least and at most."""
    try:
        stated = list(inspect.signature(thing).parameters.values())
    except ValueError:  # a method of a builtin type
        return [], 0, 2
    by_position = [p for p in stated if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in by_position)
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in stated)
    names = [p.name for p in stated if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return names, least, MAX_ARGUMENTS if open_ended else len(by_position)


def outcome_of(thing: Thing, arguments: list[object], named: dict[str, object]) -> str | None:
    """Why the outcome of a call is wrong: None for an answer, an error of the package, or a TypeError that says something."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = thing(*arguments, **named)
            if type(answer).__module__ == "indexing":
                str(answer)
            if isinstance(answer, Iterator):
                list(itertools.islice(answer, 3))
    except ix.IndexingError as error:
        return None if str(error).strip() else f"{type(error).__name__} without a message"
    except TypeError as error:
        return None if str(error).strip() else "TypeError without a message"
    except BaseException as error:  # a panic of the core is a BaseException
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error}"
    return None


def shown(arguments: list[object], named: dict[str, object]) -> str:
    """The arguments of a call, shortened."""
    texts = [reprlib.repr(a) for a in arguments] + [f"{k}={reprlib.repr(v)}" for k, v in named.items()]
    return f"({', '.join(texts)})"


def things(values: list[object]) -> Iterator[tuple[str, Thing]]:
    """Every public function and class, and every method and operator of the values, by name."""
    for module in MODULES:
        for name in [n for n in getattr(module, "__all__", vars(module)) if n[0] != "_" and n not in LEFT_OUT]:
            thing = getattr(module, name)
            of_package = (getattr(thing, "__module__", None) or "indexing").startswith("indexing")
            if callable(thing) and of_package and (not isinstance(thing, type) or name in MADE_BY_USERS):
                yield f"{module.__name__}.{name}", thing
    for place, value in enumerate(values):
        kind = type(value)
        if kind.__module__.split(".")[0] != "indexing":
            continue
        for name in dir(kind):
            if (name[0] != "_" or name in OPERATORS) and callable(getattr(kind, name)):
                yield f"{kind.__name__}.{name} of value {place}", getattr(value, name)


OPERATORS = {
    f"__{n}__" for n in "add radd sub rsub mul rmul floordiv rfloordiv mod rmod eq lt contains getitem len call".split()
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=secrets.randbits(32))
    options.add_argument("--first", type=int, default=0)
    chosen = options.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    calls, wrong = Calls(), 0
    for number in range(chosen.first, chosen.first + chosen.count):
        problem = calls.check(chosen.seed, number)
        if problem:
            wrong += 1
            print(f"{problem}\n  python fuzz/arguments.py --count 1 --seed {chosen.seed} --first {number}", flush=True)
    print(f"{chosen.count} calls of {len(calls.things)} functions and methods, {wrong} with a wrong outcome")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
