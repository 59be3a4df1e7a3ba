"""Loop unrolling, here or by the target's compiler.

With parallel threads, loops over the lanes of a vector, or over elements of a local array, are unrolled fully, since registers
can't be indexed; four iterations of other loops with loads are, eight of a long one whose load is narrow, or all of up to
sixteen (thirty-two with narrow loads), so that loads overlap. Short loops are unrolled here; others are marked for the
compiler, which gives the same machine code in less time than compiling a long source.

If threads become loops, the compiler vectorizes these inside of the others. Only sums of few terms are unrolled, which a thread
loop then keeps in a register, and whose conditions on the counter are decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexing._core import SymbolicExpr, constant
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import Names
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import expressions_of, keeps_best, loads_of, may_leave, replace_loops
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.passes.lanes import lane_count

MAX_STATEMENTS = 12  # a loop is unrolled here if it becomes at most so many
# A sum, of whose terms none is stored, is unrolled in thread loops if it has at most so many terms, and becomes at most so many
# statements: either of these pairs.
FEW_TERMS = ((4, 160), (8, 64))
MAX_IN_LANES = 128  # a loop inside a loop over lanes is unrolled if it becomes at most so many
MAX_MARKED_STATEMENTS = 64  # a loop with loads of at most so many is left for the compiler to unroll
UNROLL_FACTOR = 4
NARROW_FACTOR = 8  # turns of a long loop with narrow loads that are unrolled
MAX_NARROW_BYTES, MAX_NARROW_STATEMENTS, MIN_NARROW_TURNS = 4, 8, 32
MAX_WHOLE = 16  # up to so many iterations are all unrolled, if they are at most MAX_WHOLE_STATEMENTS
MAX_WHOLE_NARROW = 32  # the same of iterations with narrow loads
MAX_WHOLE_STATEMENTS = 288


def unroll_loops(kernel: ir.Kernel, has_threads: bool) -> ir.Kernel:
    """The kernel with loops unrolled, or marked; `has_threads`: the threads of a block run in parallel."""
    unrolling = _Unroller(kernel, has_threads)
    body = replace_loops(kernel.body, unrolling.loop)
    return replace(kernel, body=body, variables=tuple(unrolling.names.variables))


def unroll_in_lanes(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with short loops inside loops over lanes written out, so that their accesses can be vectorized."""
    unrolling = _Unroller(kernel, has_threads=True)

    def in_lanes(loop: ir.For) -> ir.Block:
        body = replace_loops(loop.body, unrolling.short) if lane_count(loop) else ()
        return (replace(loop, body=body) if body and body is not loop.body else loop,)

    body = replace_loops(kernel.body, in_lanes)
    return replace(kernel, body=body, variables=tuple(unrolling.names.variables))


class UnrollingRule:
    """The rule for loops of parallel threads of a kernel that has these buffers."""

    def __init__(self, buffers: Sequence[ir.Buffer]) -> None:
        self.spaces = {b.name: b.space for b in buffers}
        self.bytes = {b.name: storage_bytes(b.element_type) for b in buffers}

    def factor(self, loop: ir.For) -> int:
        """The iterations that become straight code; 0: as the compiler decides."""
        turns, inner = ir.iterations_of(loop), list(ir.statements(loop.body))
        if turns is None or may_leave(loop.body) or any(isinstance(s, ir.Barrier | ir.GroupReduce) for s in inner):
            return 0
        if turns * len(inner) <= MAX_STATEMENTS or loop.lanes or self._counts_registers(loop.variable, inner):
            return turns
        loaded = self._loaded_bytes(inner, "global")
        most = MAX_WHOLE_NARROW if loaded <= MAX_NARROW_BYTES else MAX_WHOLE
        # A loop that is left with few iterations costs more than it saves.
        if turns <= most and turns * len(inner) <= MAX_WHOLE_STATEMENTS:
            return turns if loaded or self._loaded_bytes(inner, "shared") else 0
        if turns < UNROLL_FACTOR or len(inner) > MAX_MARKED_STATEMENTS or not loaded:
            return 0
        is_narrow = loaded <= MAX_NARROW_BYTES and len(inner) <= MAX_NARROW_STATEMENTS and turns >= MIN_NARROW_TURNS
        return NARROW_FACTOR if is_narrow else UNROLL_FACTOR

    def _counts_registers(self, counter: int, inner: Sequence[ir.Statement]) -> bool:
        """Whether the counter occurs in an index of a local array."""
        return any(counter in e.used_variables() for s in inner for e in self.registers(s))

    def registers(self, s: ir.Statement) -> Iterator[SymbolicExpr]:
        """The indices at which a statement accesses local arrays."""
        yield from (m.index for m in moves(s) if self.spaces[m.buffer] == "local")
        if isinstance(s, ir.Store) and self.spaces[s.buffer] == "local":
            yield from s.index
        for load in loads_of(s):
            if self.spaces[load.buffer] == "local":
                yield from expressions_of(load)

    def _loaded_bytes(self, inner: Sequence[ir.Statement], space: ir.Space) -> int:
        """The bytes that statements load from a space."""
        loaded = [(load.buffer, 1) for s in inner for load in loads_of(s)]
        loaded += [(m.buffer, m.width) for s in inner for m in moves(s) if m.kind == "load"]
        return sum(self.bytes[name] * width for name, width in loaded if self.spaces[name] == space)


class _Unroller:
    def __init__(self, kernel: ir.Kernel, has_threads: bool) -> None:
        self.has_threads = has_threads
        self.names = Names(kernel)
        self.rule = UnrollingRule(kernel.buffers)

    def short(self, loop: ir.For) -> list[ir.Statement]:
        """A short loop written out, or another one itself."""
        turns = ir.iterations_of(loop)
        if loop.lanes or turns is None or may_leave(loop.body) or turns * len(ir.statements(loop.body)) > MAX_IN_LANES:
            return [loop]
        return self._written(loop, turns)

    def loop(self, loop: ir.For) -> Sequence[ir.Statement]:
        """A loop written out, or marked, or itself."""
        turns, inner = ir.iterations_of(loop), list(ir.statements(loop.body))
        if turns is None or may_leave(loop.body) or any(isinstance(s, ir.Barrier | ir.GroupReduce) for s in inner):
            return [loop]
        is_short = turns * len(inner) <= MAX_STATEMENTS
        if not self.has_threads:
            is_few = any(turns <= terms and turns * len(inner) <= statements for terms, statements in FEW_TERMS)
            is_few = is_few and not any(isinstance(s, ir.Store) for s in inner)
            # gcc joins conditions of turns that keep the best element, and makes no vectors of the loop around them.
            is_sum = _is_sum(loop, inner) and not keeps_best(inner)
            return self._written(loop, turns) if (is_short or is_few) and is_sum else [loop]
        if is_short:
            return self._written(loop, turns)
        factor = self.rule.factor(loop)
        return [replace(loop, unroll=factor) if factor else loop]

    def _written(self, loop: ir.For, turns: int) -> list[ir.Statement]:
        """All iterations of the loop, with the counter replaced by its values."""
        start = loop.start.constant_value
        assert start is not None
        out: list[ir.Statement] = []
        for turn in range(turns):
            out += self.names.copied(loop.body, {loop.variable: constant(start + turn * loop.step)})
        return out


def _is_sum(loop: ir.For, inner: Sequence[ir.Statement]) -> bool:
    """Whether a loop's statements assign to a variable, without loops, and without conditions on more than its counter."""
    conditions = [c for s in inner if isinstance(s, ir.If) for c in s.conditions]
    is_decided = all(
        isinstance(c, ir.Within) and set(c.expression.used_variables()) <= {loop.variable} for c in conditions
    )
    return is_decided and any(isinstance(s, ir.Assign) for s in inner) and not any(isinstance(s, ir.For) for s in inner)
