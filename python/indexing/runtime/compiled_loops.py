"""Loops of a tape as functions of C: where launching kernels takes longer than they do, one function runs all turns.

It has the kernels' own sources, whose entry functions are called on the memory of the tape's registers, so that the C compiler
inlines them and keeps small arrays in the registers of the processor. A loop is compiled if all its instructions are launches
of small kernels, copies, and jumps inside it. A function that takes long returns between two turns, and goes on when called
again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from indexing.kernels.ir.types import storage_type
from indexing.kernels.targets.c_family import joint_source
from indexing.runtime.compiler import load_library, shared_library
from indexing.runtime.tape import Opcode, SmallKernel, Tape

MAX_TURN_STEPS = 10_000_000  # during a turn, no signal is handled: about a millisecond
MIN_LAUNCHES = 64  # fewer take about a microsecond, much less than a call of the program
STEPS_PER_NANOSECOND = 8
LOCAL_BYTES = 64  # arrays up to this size are local variables

#: The first word that is a target of a jump.
JUMPS = {Opcode.UNLESS: 2, Opcode.JUMP: 1, Opcode.SWITCH: 3, Opcode.REPEAT: 3}
#: The instructions that a compiled loop may have.
INSIDE = {Opcode.LAUNCH, Opcode.COPY, Opcode.MOVE, *JUMPS}


@dataclass(frozen=True, slots=True)
class CompiledLoop:
    """A compiled loop: the position of its first word, that behind its last one, and the address of its function."""

    start: int
    end: int
    function: int


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop of a tape: its instructions by position, and how often a turn carries each one out."""

    start: int
    end: int
    instructions: dict[int, list[int]]
    repeats: dict[int, int]

    def launches(self) -> Iterator[tuple[int, int]]:
        """The kernels of its launches by number, and how often a turn launches each."""
        yield from ((w[1], self.repeats[at]) for at, w in self.instructions.items() if w[0] == Opcode.LAUNCH)

    def steps(self, kernels: Mapping[int, SmallKernel]) -> int:
        """The steps of a turn."""
        return sum(kernels[number].steps * repeats for number, repeats in self.launches())


def compile_loops(tape: Tape) -> list[CompiledLoop]:
    """Compile loops of a tape, outermost ones first.

    Raises CompileError with the numbered source and the compiler's log.
    """
    loops: list[_Loop] = []
    for loop in _loops(tape):
        is_inside = bool(loops) and loop.start < loops[-1].end
        if not is_inside and _should_compile(loop, tape):
            loops.append(loop)
    if not loops:
        return []
    library = load_library(shared_library(f"{len(loops)} loops", _source(loops, tape)))
    functions = [ctypes.cast(getattr(library, f"loop_{k}"), ctypes.c_void_p).value for k in range(len(loops))]
    return [CompiledLoop(loop.start, loop.end, f or 0) for loop, f in zip(loops, functions, strict=True)]


def _loops(tape: Tape) -> list[_Loop]:
    """The loops of a tape in the order of their starts, outer ones first: each ends with the jump back to its start."""
    instructions = dict(tape.instructions())
    spans = [(w[1], at + len(w)) for at, w in instructions.items() if w[0] == Opcode.JUMP and w[1] <= at]
    spans.sort(key=lambda span: (span[0], -span[1]))
    loops = []
    for start, end in spans:
        inner = [s for s in spans if start <= s[0] and s[1] <= end and s != (start, end)]
        own = {at: w for at, w in instructions.items() if start <= at < end}
        repeats = {at: prod(_turns(instructions[s]) for s, e in inner if s <= at < e) for at in own}
        loops.append(_Loop(start, end, own, repeats))
    return loops


def _turns(head: Sequence[int]) -> int:
    """The turns of a loop that begins with an instruction; more than any turn may take if they are not counted."""
    return head[2] if head[0] == Opcode.REPEAT else MAX_TURN_STEPS


def _should_compile(loop: _Loop, tape: Tape) -> bool:
    """Whether a loop has only instructions of compiled loops, small kernels, short turns and many launches."""
    own = loop.instructions.values()
    if not all(w[0] in INSIDE and all(loop.start <= t <= loop.end for t in _targets(w)) for w in own):
        return False
    if not all(number in tape.small for number, _ in loop.launches()):
        return False
    if any(tape.sizes[a] != tape.sizes[b] for w in own if w[0] == Opcode.MOVE for a, b in _pairs(w)):
        return False
    launches = sum(repeats for _, repeats in loop.launches()) * _turns(loop.instructions[loop.start])
    return loop.steps(tape.small) <= MAX_TURN_STEPS and launches >= MIN_LAUNCHES


def _pairs(words: Sequence[int]) -> list[tuple[int, int]]:
    """The targets and sources of a MOVE."""
    return list(zip(words[2::2], words[3::2], strict=True))


# ------------------------------------------------------------ source


def _source(loops: Sequence[_Loop], tape: Tape) -> str:
    """The source of loops, with the kernels that they launch, which are declared first so that they can be inlined."""
    used = sorted({number for loop in loops for number, _ in loop.launches()})
    return "\n".join(
        [
            *(f"static void kernel_{n}(void *const *, long long, long long);" for n in used),
            joint_source((tape.small[n].kernel.source_parts, f"kernel_{n}") for n in used),
            *(_Writer(loop, tape).function(f"loop_{k}") for k, loop in enumerate(loops)),
        ]
    )


class _Writer:
    """Writes one loop. Small arrays of the run are variables: what moves between registers are then their elements."""

    def __init__(self, loop: _Loop, tape: Tape) -> None:
        self.loop, self.tape = loop, tape
        own = loop.instructions.values()
        self.registers = sorted({r for words in own for r in _registers(words)})
        self.counters = sorted({words[1] for words in own if words[0] == Opcode.REPEAT})
        self.targets = {target for words in own for target in _targets(words)}
        self.elements: dict[int, str] = {}  # the types of registers with one element
        for words in own:
            self._note_elements(words)

    def _note_elements(self, words: Sequence[int]) -> None:
        if words[0] != Opcode.LAUNCH:
            return
        passed = [a for a in self.tape.small[words[1]].kernel.arguments if a.alias_of is None]
        for register, argument in zip(words[3:], passed, strict=True):
            if argument.element_count == 1:
                self.elements.setdefault(register, storage_type(argument.element_type))

    def function(self, name: str) -> str:
        """The function of the loop, which returns whether it is at its end."""
        lines = [
            f"__attribute__((flatten)) int {name}(void **registers, long long *counters, long long *budget) {{",
            "long long left = *budget;",
            "int done = 1;",
            *(line for r in self.registers for line in self._declared(r)),
            *(f"long long c{c} = counters[{c}];" for c in self.counters),
        ]
        for at, words in self.loop.instructions.items():
            if at in self.targets:
                lines.append(f"at_{at}:;")
            if at == self.loop.start:
                lines.append(f"if (left <= 0) {{ done = 0; goto at_{self.loop.end}; }}")
            lines += self._instruction(words)
        return (
            "\n".join(
                [
                    *lines,
                    f"at_{self.loop.end}:;",
                    *(self._returned(r) for r in self.registers),
                    *(f"counters[{c}] = c{c};" for c in self.counters),
                    "*budget = left;",
                    "return done;",
                    "}",
                ]
            )
            + "\n"
        )

    # ------------------------------------------------------------ registers

    def _is_local(self, r: int) -> bool:
        return self.tape.sizes[r] <= LOCAL_BYTES

    def _declared(self, r: int) -> list[str]:
        """The variable of a register: the address of its memory, or a copy of its contents."""
        if not self._is_local(r):
            return [f"void *r{r} = registers[{r}];"]
        variable = f"{self.elements[r]} r{r}" if r in self.elements else f"_Alignas(64) char r{r}[{self.tape.sizes[r]}]"
        return [f"{variable};", f"__builtin_memcpy(&r{r}, registers[{r}], {self.tape.sizes[r]});"]

    def _returned(self, r: int) -> str:
        """The line that stores the variable of a register; nothing overwrites arguments and constants."""
        if not self._is_local(r):
            return f"registers[{r}] = r{r};"
        if r in self.tape.arguments or r in self.tape.constants:
            return ""
        return f"__builtin_memcpy(registers[{r}], &r{r}, {self.tape.sizes[r]});"

    def _address(self, r: int) -> str:
        return f"&r{r}" if self._is_local(r) else f"r{r}"

    # ------------------------------------------------------------ instructions

    def _instruction(self, words: Sequence[int]) -> list[str]:
        """An instruction, as `replay.c` carries it out."""
        opcode = Opcode(words[0])
        if opcode == Opcode.LAUNCH:
            return [self._launch(words)]
        if opcode == Opcode.COPY:
            return [f"__builtin_memcpy({self._address(words[1])}, {self._address(words[2])}, {words[3]});"]
        if opcode == Opcode.MOVE:
            return self._move(words)
        if opcode == Opcode.UNLESS:
            return [f"if (!*(const unsigned char *){self._address(words[1])}) goto at_{words[2]};"]
        if opcode == Opcode.SWITCH:
            cases = "".join(f"case {k}: goto at_{target}; " for k, target in enumerate(words[3:-1]))
            return [f"switch (*(const int *){self._address(words[1])}) {{ {cases}default: goto at_{words[-1]}; }}"]
        if opcode == Opcode.REPEAT:
            c = f"c{words[1]}"
            return [f"if ({c} >= {words[2]}) {{ {c} = 0; goto at_{words[3]}; }}", f"{c}++;"]
        assert opcode == Opcode.JUMP
        spent = self.loop.steps(self.tape.small) // STEPS_PER_NANOSECOND + 1 if words[1] == self.loop.start else 0
        return [f"left -= {spent};", f"goto at_{words[1]};"]

    def _launch(self, words: Sequence[int]) -> str:
        passed = ", ".join(map(self._address, words[3:]))
        return f"kernel_{words[1]}((void *[]){{{passed}}}, 0, {prod(self.tape.small[words[1]].kernel.launch_grid)});"

    def _move(self, words: Sequence[int]) -> list[str]:
        """Exchange variables, by their bytes where their types differ."""
        before, after = list[str](), list[str]()
        for target, source in _pairs(words):
            size = self.tape.sizes[source]
            if self._is_local(source) and self.elements.get(source, "") != self.elements.get(target):
                before.append(f"char was_{source}[{size}]; __builtin_memcpy(was_{source}, &r{source}, {size});")
                after.append(f"__builtin_memcpy(&r{target}, was_{source}, {size});")
            else:
                before.append(f"__typeof__(r{source}) was_{source} = r{source};")
                after.append(f"r{target} = was_{source};")
        return ["{", *before, *after, "}"]


def _registers(words: Sequence[int]) -> Sequence[int]:
    """The registers of an instruction."""
    opcode = Opcode(words[0])
    if opcode == Opcode.COPY:
        return words[1:3]
    if opcode in (Opcode.UNLESS, Opcode.SWITCH):
        return words[1:2]
    return words[{Opcode.LAUNCH: 3, Opcode.MOVE: 2}.get(opcode, len(words)) :]


def _targets(words: Sequence[int]) -> Sequence[int]:
    """The positions to which an instruction may jump."""
    return words[JUMPS.get(Opcode(words[0]), len(words)) :]
