"""Loops of a tape that one compiled function runs: which ones, with which results, and until when; against the reference."""

from collections.abc import Callable

import numpy as np
import pytest

import indexing as ix
from indexing.runtime.compiled_loops import compile_loops
from indexing.runtime.host import Host
from indexing.runtime.tape import Tape
from kernels import compiled

STATE = "(s32[], s32[], f32[], s32[], f32[], f32[5], f32[5], f32[100], f32[100])"
KINDS = STATE[1:-1].split(", ")


class Program:
    """Writes random programs: a counted loop with branches and an inner loop, whose state is scalars of two types, and arrays."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.computations: list[str] = []

    def text(self, turns: int) -> str:
        body = self.computation("body", self.turn)
        self.loop_condition("more", turns)
        values = " ".join(f"p{k} = {kind} parameter({k})" for k, kind in enumerate(KINDS[1:]))
        entry = f"""ENTRY main {{ {values} zero = s32[] constant(0)
  s = {STATE} tuple(zero, {", ".join(f"p{k}" for k in range(len(KINDS) - 1))})
  ROOT w = {STATE} while(s), condition=more, body={body} }}"""
        return "\n".join(["HloModule random", *self.computations, entry])

    def loop_condition(self, name: str, turns: int) -> None:
        self.computations.append(
            f"{name} {{ s = {STATE} parameter(0) n = s32[] get-tuple-element(s), index=0 "
            f"limit = s32[] constant({turns}) ROOT less = pred[] compare(n, limit), direction=LT }}"
        )

    def computation(self, name: str, write: Callable[[list[str]], None]) -> str:
        lines = [f"s = {STATE} parameter(0)"]
        write(lines)
        self.computations.append(f"{name} {{\n  " + "\n  ".join(lines) + "\n}")
        return name

    def turn(self, lines: list[str]) -> None:
        """A branch, then an inner loop with its own counter, then new values."""
        branches = [self.computation(f"branch{k}", lambda own: self.values(own, "s", "s.n")) for k in range(3)]
        inner = self.computation("inner", lambda own: self.values(own, "s", "next"))
        self.loop_condition("fewer", 8)
        lines.append("n = s32[] get-tuple-element(s), index=0")
        lines.append("i = s32[] get-tuple-element(s), index=1")
        lines.append("three = s32[] constant(3) chosen = s32[] remainder(i, three) zero = s32[] constant(0)")
        lines.append(f"b = {STATE} conditional(chosen, s, s, s), branch_computations={{{', '.join(branches)}}}")
        lines += [f"b.{k} = {kind} get-tuple-element(b), index={k}" for k, kind in enumerate(KINDS)]
        lines.append(f"t = {STATE} tuple(zero, {', '.join(f'b.{k}' for k in range(1, len(KINDS)))})")
        lines.append(f"w = {STATE} while(t), condition=fewer, body={inner}")
        lines.append("one.n = s32[] constant(1) m = s32[] add(n, one.n)")
        self.values(lines, "w", "m")

    def values(self, lines: list[str], state: str, counter: str) -> None:
        """New values of a state, in any order of those of its types; `counter` names the new count."""
        lines += [f"{state}.v{k} = {kind} get-tuple-element({state}), index={k}" for k, kind in enumerate(KINDS) if k]
        lines.append(f"{state}.n = s32[] get-tuple-element({state}), index=0")
        lines.append(f"one = s32[] constant(1) next = s32[] add({state}.n, one)")
        of_kind = {kind: [f"{state}.v{k}" for k, own in enumerate(KINDS) if k and own == kind] for kind in set(KINDS)}
        for k, kind in enumerate(KINDS[1:]):
            x, y = self.rng.choice(of_kind[kind], 2)
            name = f"{state}.w{k}"
            operation = ["subtract({}, {})", "maximum({}, {})"][self.rng.integers(2)]
            if self.rng.integers(2):
                lines.append(f"{name}.x = {kind} {operation.format(x, y)}")
                of_kind[kind].append(f"{name}.x")
                if "[5]" in kind or "[100]" in kind:
                    lines.append(f"{name} = {kind} reverse({name}.x), dimensions={{0}}")
                    of_kind[kind].append(name)
        chosen = [
            self.bounded(lines, f"{state}.z{k}", kind, self.rng.choice(of_kind[kind]))
            for k, kind in enumerate(KINDS[1:])
        ]
        lines.append(f"ROOT r = {STATE} tuple({counter}, {', '.join(chosen)})")

    def bounded(self, lines: list[str], name: str, kind: str, value: str) -> str:
        """A value that stays exact: integers up to a thousand, also of floats."""
        scalar = kind.split("[")[0] + "[]"
        lines.append(f"{name}.h = {scalar} constant(1000) {name}.l = {scalar} constant(-1000)")
        low, high = f"{name}.l", f"{name}.h"
        if kind != scalar:
            lines.append(
                f"{low}.b = {kind} broadcast({low}), dimensions={{}} {high}.b = {kind} broadcast({high}), dimensions={{}}"
            )
            low, high = f"{low}.b", f"{high}.b"
        lines.append(f"{name} = {kind} clamp({low}, {value}, {high})")
        return name


def arguments(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = [kind.split("[")[1][:-1] for kind in KINDS[1:]]
    types = [np.int32 if kind.startswith("s32") else np.float32 for kind in KINDS[1:]]
    return [
        rng.integers(-9, 10, tuple(map(int, filter(None, [s])))).astype(t) for s, t in zip(shapes, types, strict=True)
    ]


@pytest.mark.parametrize("seed", range(16))
def test_random_loops(seed: int) -> None:
    text = Program(seed).text(7)
    run, given = compiled(text, device="cpu"), arguments(seed)
    assert len(compile_loops(tape(text))) == 1
    before = [a.copy() for a in given]
    for _ in range(2):
        for got, want in zip(run(*given), ix.evaluate(ix.hlo.parse(text), *given), strict=True):
            np.testing.assert_array_equal(got, want)
    for array, kept in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, kept)


COUNTED = """HloModule counted
body {{
  s = (s32[], {kind}) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = {kind} get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] add(n, one)
  {computed}
  ROOT r = (s32[], {kind}) tuple(m, y)
}}
more {{
  s = (s32[], {kind}) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  limit = s32[] constant({turns})
  ROOT less = pred[] compare(n, limit), direction=LT
}}
ENTRY main {{
  x = {kind} parameter(0)
  zero = s32[] constant(0)
  s = (s32[], {kind}) tuple(zero, x)
  w = (s32[], {kind}) while(s), condition=more, body=body
  ROOT y = {kind} get-tuple-element(w), index=1
}}
"""
LINEAR = "a = u32[] constant(1664525) b = u32[] constant(1013904223) z = u32[] multiply(x, a) y = u32[] add(z, b)"


def tape(text: str) -> Tape:
    return compiled(text, device="cpu")._program.tape


def loops_of(kind: str, computed: str, turns: int) -> int:
    text = COUNTED.format(kind=kind, computed=computed, turns=turns)
    return len(compile_loops(tape(text)))


def test_a_loop_goes_on_where_it_has_paused() -> None:
    """A program returns to its caller after 50 milliseconds, to let signals be handled; the loop takes longer."""
    turns = 100_000_000
    program = tape(COUNTED.format(kind="u32[]", computed=LINEAR, turns=turns))
    factor, summand, power = 1664525, 1013904223, turns
    want = 7
    while power:
        if power % 2:
            want = (want * factor + summand) % 2**32
        factor, summand, power = factor**2 % 2**32, summand * (factor + 1) % 2**32, power // 2
    host = Host()
    (got,) = host.program(program).run(
        [host.share(np.uint32([7]))], lambda _, b: host.download(b, np.dtype(np.uint32), ())
    )
    assert int(got) == want


def test_which_loops_are_compiled() -> None:
    """Those of small kernels that make many launches, without steps of the host."""
    assert loops_of("u32[]", LINEAR, 100) == 1
    assert loops_of("u32[]", LINEAR, 3) == 0
    negated = "y = f32[{0}] negate(x)"
    assert loops_of("f32[100]", negated.format(100), 100) == 1
    assert loops_of("f32[100000]", negated.format(100000), 100) == 0
    spectrum = "c = c64[5] fft(x), fft_type=RFFT, fft_length={9} e = f32[5] real(c) z = f32[4] slice(e), slice={[0:4]} "
    assert loops_of("f32[9]", spectrum + "y = f32[9] concatenate(e, z), dimensions={0}", 100) == 0


def test_a_profile_has_the_launches_of_each_turn() -> None:
    profile = compiled(COUNTED.format(kind="u32[]", computed=LINEAR, turns=100), device="cpu").profile(np.uint32(7))
    assert [step.launches for step in profile.steps if step.launches > 1] == [100]
