"""Packing of neighbouring lanes: two numbers of bf16 or f16 become a word, on which one instruction works.

A sum, difference or product of two numbers of these formats, computed in f32 and rounded, is the exact one rounded once (f32
has more than twice their digits), which is what the instructions compute; extrema and signs are not rounded. What else is
rounded is rounded two at a time. The loop has half the iterations: what neither changes memory or variables nor reads what the
body changes comes first, for both lanes side by side; the rest follows, lane by lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexing._core import Interval, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import Copying, Names, names_of
from indexing.kernels.ir.memory import Memory, orders_memory
from indexing.kernels.ir.traversal import may_leave, names_in, replace_loops, rewrite_values, values_of
from indexing.kernels.passes.dead_code import remove_dead_code
from indexing.kernels.passes.lanes import lane_count
from indexing.lazy import np
from indexing.ops.element_types import ELEMENT_TYPES

FORMATS = ("bf16", "f16")
ROUNDED, EXACT = ("add", "sub", "mul"), ("maximum", "minimum", "neg", "abs")
HALVES = ("unpack_low", "unpack_high")


def pack_words(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with words of two neighbouring lanes in place of numbers of bf16 and f16."""
    names, memory, formats = Names(kernel), Memory(kernel), dict(_formats(kernel.body))

    def on_loop(loop: ir.For) -> Sequence[ir.Statement]:
        return _Pairs(loop, names, memory, formats).packed() if _can_be_packed(loop) else (loop,)

    body = replace_loops(kernel.body, on_loop)
    if body is kernel.body:
        return kernel
    return remove_dead_code(replace(kernel, body=body, variables=tuple(names.variables)))


def _formats(body: ir.Block) -> Iterator[tuple[str, str]]:
    """The names of values that are numbers of a format, with the format."""
    for s in ir.statements(body):
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Op) and s.value.opcode in ("decode", "round"):
            yield s.name, s.value.format


def _can_be_packed(loop: ir.For) -> bool:
    """Whether a loop has an even number of lanes, and may compute numbers of a format."""
    if not lane_count(loop) or lane_count(loop) % 2 or may_leave(loop.body):
        return False
    computed = (s.value for s in loop.body if isinstance(s, ir.Let) and isinstance(s.value, ir.Op))
    computes = any(v.opcode in EXACT or (v.opcode == "round" and v.format in FORMATS) for v in computed)
    return computes and not any(map(orders_memory, ir.statements(loop.body)))


class _Pairs:
    """The lanes of one loop, two at a time."""

    def __init__(self, loop: ir.For, names: Names, memory: Memory, formats: dict[str, str]) -> None:
        self.loop, self.names, self.memory, self.formats = loop, names, memory, formats
        self.inner = ir.statements(loop.body)
        self.own = {n for s in self.inner for n in names_of(s)}
        interval = Interval(0, lane_count(loop) // 2 - 1)
        self.pair = names.add_variable(replace(names.variables[loop.variable], interval=interval))
        places = (variable(self.pair) * 2 + k for k in range(2))
        self.lanes = [Copying(names, names.variables, loop.body, {loop.variable: p}, {}) for p in places]
        self.words: dict[tuple[str, str], ir.Value] = {}  # by name and format
        self.halves: dict[tuple[str, str], ir.Value] = {}  # the bits of a lane's value, by name and format
        self.front: list[ir.Statement] = []
        self.packs = False

    def packed(self) -> Sequence[ir.Statement]:
        """The statements in place of the loop; the loop itself if no instruction works on words."""
        side_by_side: list[ir.Statement] = []
        lanes: tuple[list[ir.Statement], list[ir.Statement]] = ([], [])
        late = self._late()
        for k, (s, *copies) in enumerate(zip(self.loop.body, *(lane.body for lane in self.lanes), strict=True)):
            if k in late:
                for lane, copy in zip(lanes, copies, strict=True):
                    lane += self._with_bits(copy)
            elif isinstance(s, ir.Let):
                side_by_side += self._let(s, [c.name for c in copies if isinstance(c, ir.Let)])
            else:
                side_by_side += self._with_bits(*copies)
        if not self.packs:
            return [self.loop]
        stop, body = constant(lane_count(self.loop) // 2), (*side_by_side, *lanes[0], *lanes[1])
        return [*self.front, replace(self.loop, variable=self.pair, stop=stop, body=body)]

    def _late(self) -> set[int]:
        """The places of statements that change something, or that depend on what the body changes."""
        changed = {s.name for s in self.inner if isinstance(s, ir.Assign)}
        written = {name for s in self.inner for name in self.memory.written(s)}
        late: set[int] = set()
        moves_index = False
        for k, s in enumerate(self.loop.body):
            read = set(names_in(values_of(s)))
            is_pure = isinstance(s, ir.Let | ir.LetIndex | ir.CallFunction)
            if moves_index or not is_pure or read & changed or not written.isdisjoint(self.memory.read(s)):
                late.add(k)
                changed.update(names_of(s))
                moves_index |= isinstance(s, ir.LetIndex)
        return late

    def _let(self, s: ir.Let, names: Sequence[str]) -> Sequence[ir.Statement]:
        """The definition of a value for both lanes, as a word if it is one, and of what may be asked of each lane."""
        for narrow in FORMATS:
            word = self._word(s.value, narrow)
            if isinstance(word, ir.Op) and word.opcode != "pack":
                return self._halves(s, names, word)
            if word is not None:
                self.words[s.name, narrow] = word
        return self._with_bits(*(ir.Let(n, lane.value(s.value)) for n, lane in zip(names, self.lanes, strict=True)))

    def _halves(self, s: ir.Let, names: Sequence[str], word: ir.Op) -> Sequence[ir.Statement]:
        """The definition of a word that an instruction computes, and of its halves as f32."""
        self.packs = True
        own = ir.Ref("u32", self.names.fresh(f"{s.name}_pair"))
        self.words[s.name, word.format] = own
        out: list[ir.Statement] = [ir.Let(own.name, word)]
        for name, opcode in zip(names, HALVES, strict=True):
            bits = self.halves[name, word.format] = ir.Op(opcode, "u16", (own,))
            out.append(ir.Let(name, ir.Op("decode", "f32", (bits,), word.format)))
        return out

    def _word(self, value: ir.Value, narrow: str) -> ir.Value | None:
        """The word of a value of both lanes that is a number of the format; None for others."""
        match value:
            case ir.Ref():
                return self.words.get((value.name, narrow)) or self._from_outside(value, narrow)
            case ir.Constant("f32", number):
                return _word_of(float(number.real), narrow)
            case ir.Op("decode", _, (ir.Ref() as bits,), kind) if kind == narrow:
                return ir.Op("pack", "u32", tuple(lane.value(bits) for lane in self.lanes))
            case ir.Op("round", _, (operand,), kind) if kind == narrow:
                return self._rounded(operand, narrow)
            case ir.Op(opcode) if opcode in EXACT:
                return self._operation(value, narrow)
        return None

    def _rounded(self, value: ir.Value, narrow: str) -> ir.Value:
        if isinstance(value, ir.Op) and value.opcode in ROUNDED:
            known = self._operation(value, narrow)
        else:
            known = self._word(value, narrow)
        lanes = tuple(lane.value(value) for lane in self.lanes)
        return ir.Op("packed_encode", "u32", lanes, narrow) if known is None else known

    def _operation(self, op: ir.Op, narrow: str) -> ir.Value | None:
        """One instruction for an operation on numbers of the format; None if some operand is none."""
        words = [self._word(o, narrow) for o in op.operands]
        known = tuple(w for w in words if w is not None)
        return ir.Op(f"packed_{op.opcode}", "u32", known, narrow) if len(known) == len(words) else None

    def _from_outside(self, value: ir.Ref, narrow: str) -> ir.Value | None:
        """The word that has a value from in front of the loop twice."""
        if value.name in self.own or self.formats.get(value.name) != narrow:
            return None
        bits = ir.Op("encode", "u16", (value,), narrow)
        name = self.names.fresh(f"{value.name}_pair")
        self.front.append(ir.Let(name, ir.Op("pack", "u32", (bits, bits))))
        return self.words.setdefault((value.name, narrow), ir.Ref("u32", name))

    def _with_bits(self, *copies: ir.Statement) -> Sequence[ir.Statement]:
        """Statements of lanes that take the bits of a number from its word."""

        def on_value(value: ir.Value) -> ir.Value:
            if not isinstance(value, ir.Op) or value.opcode not in ("encode", "exact_bits"):
                return value
            (number,) = value.operands
            return self.halves.get((number.name, value.format), value) if isinstance(number, ir.Ref) else value

        return rewrite_values(copies, on_value)


def _word_of(number: float, narrow: str) -> ir.Value | None:
    """The word that has a number of the format twice; None for others, and NaN."""
    rounded = np.asarray(number, ELEMENT_TYPES[narrow].dtype)
    bits = int(rounded.view(np.uint16))
    return ir.Constant("u32", bits << 16 | bits) if float(rounded) == number else None
