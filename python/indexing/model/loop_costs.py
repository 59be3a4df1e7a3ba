"""Costs of a kernel without threads: the steps of its loops, and the lines of memory that they fetch.

The lowered kernel is visited for each of a few blocks. The body of a loop is visited once, with the counter in the middle of
its range, and multiplied by the number of iterations. The laws are those of docs/prediction.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr
from indexing.device.record import Memory
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.nodes import Block, Statement
from indexing.kernels.ir.traversal import all_values, expressions_of
from indexing.kernels.targets.c_body import assigned_again
from indexing.model.loop_accesses import Fetches, LoopAccesses, last_loop
from indexing.model.loop_steps import BRANCH, CHAIN, ENTRY, LANES, LOAD_CHAIN, UPDATE, LoopSteps, delay

if TYPE_CHECKING:
    from indexing.model.loop_accesses import Guards, Path

BLOCKS = 3  # so many blocks are visited, evenly spaced
MAX_UNROLLED = 16  # iterations of a loop over lanes that the compiler unrolls
MAX_SHORT = 8  # iterations of another one
MAX_INLINED_STEPS = 16384  # a kernel of more takes longer than waking a thread; loops of a program inline smaller ones

# Steps besides those of statements.
ITERATION = 4  # the cost of an iteration of an innermost loop
WINDOW = 400  # a processor overlaps so many steps
ELEMENT_UPDATE = 3  # the cost of an update in a loop that moves from element to element
GATHER = (
    32  # the cost of an access of an element that lies apart, where a guard changes: a branch, or a lane of a gather
)
INSERT = 4  # the cost of an access of one lane of a vector


@dataclass(slots=True)
class LoopCosts:
    """The costs of a whole launch: `steps`, and what is fetched of global memory, by buffer."""

    steps: float = 0.0
    fetches: Mapping[str, Fetches] = field(default_factory=dict)

    @property
    def lines(self) -> float:
        """The lines that the caches of cores fetch."""
        return sum(f.lines for f in self.fetches.values())

    @property
    def runs(self) -> float:
        """The runs of adjacent lines among them."""
        return sum(f.runs for f in self.fetches.values())

    @property
    def from_memory(self) -> float:
        """The lines that come from memory, and one more for each run of them."""
        return sum(f.from_memory for f in self.fetches.values())


def costs_of_loops(kernel: ir.Kernel, memory: Memory) -> LoopCosts:
    """The costs of a kernel that is lowered for a target without threads, whose cores have such caches."""
    blocks = prod(kernel.grid)
    visited = min(BLOCKS, blocks)
    visitor = _BlockVisitor(kernel, memory)
    for k in range(visited):
        number = blocks * (2 * k + 1) // (2 * visited)
        x, y, _ = kernel.grid
        visitor.visit((number % x, number // x % y, number // (x * y)), blocks / visited, 1 / visited)
    return LoopCosts(visitor.total, visitor.fetches)


class _BlockVisitor(LoopAccesses):
    """A visitor of blocks, each of which stands for a `share` of all: `times` executions of a statement."""

    def __init__(self, kernel: ir.Kernel, memory: Memory) -> None:
        super().__init__(kernel, memory)
        self.total = 0.0  # steps
        self.steps = LoopSteps(kernel)
        self.declared: dict[str, int] = {}  # the lengths of the paths to variables
        self._flat: dict[int, Block] = {}  # by the identity of a block

    def visit(self, block: Sequence[int], times: float, share: float) -> None:
        """Add the costs of a block, which stands for so many."""
        self.begin_block(block)
        self.block(self.kernel.body, (), times, ())
        self.count_fetches(share)

    def block(self, block: Block, path: Path, times: float, guards: Guards) -> None:
        """Count statements outside of innermost loops, and visit loops and branches."""
        self.steps.enter()
        for s in self.flat(block):
            if isinstance(s, ir.For):
                self._loop(s, path, times, guards)
            elif isinstance(s, ir.If):
                self.total += BRANCH * times
                for body, probability, added in self.guarded(s, path):
                    self.block(body, path, times * probability, (*guards, *added))
            else:
                path = self.named(s, path)
                self.total += times * self.steps.of(s)
                self.access(s, path, guards)
        self.steps.leave()

    def flat(self, block: Block) -> Block:
        """A block with the bodies of its loops of one iteration, which are no loops, in the place of these."""
        if id(block) not in self._flat:
            flat: list[Statement] = []
            for s in block:
                if isinstance(s, ir.For) and _turns(s) == 1:
                    flat += ir.LetIndex(s.variable, s.start), *self.flat(s.body)
                else:
                    flat.append(s)
            self._flat[id(block)] = tuple(flat)
        return self._flat[id(block)]

    def named(self, s: Statement, path: Path) -> Path:
        """The path after a statement, which may define a name."""
        if isinstance(s, ir.Var | ir.Let):
            self.declared[s.name] = len(path)
        return self.defined(s, path)

    def _loop(self, loop: ir.For, path: Path, times: float, guards: Guards) -> None:
        iterations = self.enter(loop)
        if iterations:
            self.total += ENTRY * times
            inside = [s for s in ir.statements(loop.body) if isinstance(s, ir.For) and _turns(s) != 1]
            around = (*path, (loop, iterations))
            of_lanes = all(s.unroll and self.iterations(s)[1] <= MAX_UNROLLED for s in inside)
            if of_lanes or (not loop.lanes and _may_be_vectors(loop, inside)):
                self._innermost(loop, around, iterations, times, guards)
            else:
                self.block(loop.body, around, times * iterations, guards)
        self.leave(loop)

    def _innermost(self, loop: ir.For, path: Path, iterations: int, times: float, guards: Guards) -> None:
        """Count a loop that a compiler may vectorize, or the loops in it that it unrolls."""
        body = _InnermostBody(self, loop.body, path)
        body.collect(loop.body, path, 1.0, guards, 1, last_loop(path))
        before = prod(part[1] for part in path[body.chain_from : -1] if not isinstance(part, ir.LetIndex))
        steps = body.alone(iterations, before)
        if body.is_vector and not body.chain:
            turns = iterations if body.has_lanes else iterations // LANES + (iterations % LANES).bit_count()
            steps = min(steps, turns * (ITERATION + body.vector_steps) + iterations * INSERT * body.lane_steps)
        self.total += times * max(steps, body.kept_chain)


def _may_be_vectors(loop: ir.For, inside: Sequence[ir.For]) -> bool:
    """Whether a compiler may make vectors of a loop whose inner loops are sums of its elements: it takes a single one, or
    unrolls short ones.
    """
    own = {s.name for s in loop.body if isinstance(s, ir.Var)}
    for s in inside:
        parts = ir.statements(s.body)
        sums = any(isinstance(part, ir.Assign) and part.name in own for part in parts)
        turns = _turns(s)
        if s.lanes or s.unroll or not sums or turns is None or not (turns <= MAX_SHORT or len(inside) == 1):
            return False
    return True


def _turns(loop: ir.For) -> int | None:
    """The iterations of a loop, if they are always as many."""
    length = (loop.stop - loop.start).constant_value
    return None if length is None else max(-(-length // loop.step), 0)


class _InnermostBody:
    """An iteration of an innermost loop: its steps without vectors, those of one vector, and those that remain each lane's own:
    accesses of elements that are not adjacent. The `chain` are the steps from variables that it has from the iteration before
    to those that it leaves, `kept_chain` those from what all of the loop has stored before.
    """

    def __init__(self, visitor: _BlockVisitor, block: Block, path: Path) -> None:
        self.visitor, self.path = visitor, path
        self.steps = self.vector_steps = self.lane_steps = self.chain = self.kept_chain = 0.0
        self.is_vector, self.has_lanes = True, False
        depth, declared = len(path), visitor.declared
        statements = ir.statements(block)
        own = {s.name for s in statements if isinstance(s, ir.Var)}
        carried = {s.name for s in statements if isinstance(s, ir.Assign)} - own
        self.chain_from = min((declared[name] for name in carried), default=depth)
        self.carried = carried
        self.delays: dict[str | int, float] = dict.fromkeys(carried, 0.0)  # of names and index variables

    def alone(self, iterations: int, loops: int, overhead: float = ITERATION) -> float:
        """The steps of the loop without vectors, where so many loops together update a variable."""
        return self.waiting(iterations, iterations * (overhead + self.steps), loops)

    def waiting(self, iterations: int, steps: float, loops: int = 1) -> float:
        """Operations that wait for those of the iteration before hide behind those of other variables, if these are near."""
        return max(steps, iterations * self.chain * min(loops * steps / WINDOW, 1.0))

    def collect(
        self, block: Block, path: Path, times: float, guards: Guards, lanes: int, level: int, is_masked: bool = False
    ) -> None:
        """Collect a block, which runs so often in an iteration; a vector does so many iterations of its own loop, and moves
        with the loop at a level of the path; a mask may leave some out.
        """
        visitor = self.visitor
        self.is_vector = self.is_vector and not assigned_again(block)
        visitor.steps.enter()
        for s in visitor.flat(block):
            if isinstance(s, ir.For):
                self._inner(s, path, times, guards, lanes, level, is_masked)
            elif isinstance(s, ir.If):
                self._count(BRANCH * times, 0.0, lanes)
                varies = is_masked or any(visitor.varies(c, path, level) for c in s.conditions)
                for body, probability, added in visitor.guarded(s, path):
                    self.collect(body, path, times * probability, (*guards, *added), lanes, level, varies)
            else:
                path = visitor.named(s, path)
                self._statement(s, path, times, lanes, level, is_masked)
                visitor.access(s, path, guards)
        visitor.steps.leave()

    def _statement(self, s: Statement, path: Path, times: float, lanes: int, level: int, is_masked: bool) -> None:
        visitor = self.visitor
        apart, is_even = visitor.accesses_apart(s, path, level)
        self.is_vector = self.is_vector and is_even and not (is_masked and apart)
        gathered = GATHER * apart if is_masked and not isinstance(s, ir.AtomicUpdate) else 0
        steps = visitor.steps.of(s)
        apart += is_masked and isinstance(s, ir.Store)
        steps += gathered - apart
        if isinstance(s, ir.AtomicUpdate) and is_even:
            steps += ELEMENT_UPDATE - UPDATE
        self._count(times * steps, times * apart, lanes)
        self._follow(s, path, times)
        is_single = isinstance(s, ir.FetchAdd | ir.Break | ir.MultiplyPanels)
        is_single = is_single or (isinstance(s, ir.CallFunction) and not visitor.steps.is_straight(s.function))
        self.is_vector = self.is_vector and not is_single

    def _inner(
        self, loop: ir.For, path: Path, times: float, guards: Guards, lanes: int, level: int, is_masked: bool
    ) -> None:
        """Collect a loop in this one: over the lanes of a vector, or a sum, of which vectors do several at a time."""
        visitor = self.visitor
        iterations = visitor.enter(loop)
        if iterations:
            around = (*path, (loop, iterations))
            if loop.unroll:
                self.has_lanes = True
                of_vector = min(iterations, LANES)
                self.collect(loop.body, around, times * iterations, guards, of_vector, len(path), is_masked)
            else:
                self._sum(loop, iterations, around, times, guards, level, is_masked)
        visitor.leave(loop)

    def _sum(
        self, loop: ir.For, iterations: int, path: Path, times: float, guards: Guards, level: int, is_masked: bool
    ) -> None:
        inner = _InnermostBody(self.visitor, loop.body, path)
        inner.collect(loop.body, path, 1.0, guards, 1, level, is_masked)
        overhead = 0.0 if iterations <= MAX_SHORT else ITERATION
        self.steps += times * inner.alone(iterations, 1, overhead)
        self.vector_steps += times * inner.waiting(iterations, iterations * (overhead + inner.vector_steps))
        self.lane_steps += times * iterations * inner.lane_steps
        has_branches = any(isinstance(s, ir.If) for s in ir.statements(loop.body))
        is_own = inner.chain_from >= len(self.path)
        is_even = inner.is_vector and not inner.lane_steps
        self.is_vector = self.is_vector and is_even and is_own and not has_branches

    def _count(self, steps: float, apart: float, lanes: int) -> None:
        self.steps += steps + apart
        self.vector_steps += steps / lanes
        self.lane_steps += apart

    def _follow(self, s: Statement, path: Path, times: float) -> None:
        """Follow what depends on variables of the iteration before, and how many steps after it."""
        waits = self._delay(s, path)
        if waits is None:
            return
        if isinstance(s, ir.Store) and self._is_kept(s, path):
            self.kept_chain = max(self.kept_chain, waits)
        elif isinstance(s, ir.Let | ir.Var | ir.Assign):
            self.delays[s.name] = waits
        elif isinstance(s, ir.LetIndex):
            self.delays[s.variable] = waits
        elif isinstance(s, ir.CallFunction):
            after = waits + max(self.visitor.steps.of_function(s.function), CHAIN)
            self.delays |= dict.fromkeys(s.names, after)
        if isinstance(s, ir.Assign) and s.name in self.carried:
            self.chain = max(self.chain, times * waits)

    def _delay(self, s: Statement, path: Path) -> float | None:
        """The steps until a statement's values are known, from the beginning of an iteration; None if they do not wait."""
        delays = self.delays
        waits: list[float] = []
        of: dict[int, float] = {}
        for v in all_values(s):
            before: list[str | int] = [k for e in expressions_of(v) for k in e.used_variables()]
            before += [v.name] if isinstance(v, ir.Ref) else []
            known = [delays[k] for k in before if k in delays]
            if isinstance(v, ir.Op):
                known = [of[id(o)] for o in v.operands if id(o) in of]
            if isinstance(v, ir.Load) and not known and not self.carried and self._is_kept(v, path):
                known = [0.0]
            if known:
                after = delay(v) if isinstance(v, ir.Op) else LOAD_CHAIN * isinstance(v, ir.Load)
                of[id(v)] = max(known) + after
                waits.append(of[id(v)])
        if isinstance(s, ir.LetIndex) and isinstance(s.value, SymbolicExpr):
            waits += [delays[k] for k in s.value.used_variables() if k in delays]
        return max(waits, default=None)

    def _is_kept(self, access: ir.Load | ir.Store, path: Path) -> bool:
        """Whether an access of a core's own memory is at the same place in each iteration of the loop around this one."""
        levels = [k for k, part in enumerate(self.path[:-1]) if not isinstance(part, ir.LetIndex)]
        is_own = self.visitor.buffers[access.buffer].space != "global"
        return is_own and bool(levels) and self.visitor.stays(access.index[0], path, levels[-1])
