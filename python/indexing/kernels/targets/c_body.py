"""Printing of function bodies as C: blocks of statements, loops and conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from indexing._core import SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import keeps_best, loads_of, may_leave
from indexing.kernels.targets.c_atomics import write_atomic
from indexing.kernels.targets.c_index import ATOM, IndexWriter, repeated_quotients
from indexing.kernels.targets.c_statements import StatementWriter
from indexing.kernels.targets.c_unit import TranslationUnit

THREAD_AXES = 3
MAX_SHORT_ROW = 7  # turns of a loop that compilers write out within the loop around it
VECTORS = (4, 8, 16)  # turns of a loop that are vectors, where compilers do not unroll it first


def index_types(function: ir.Function, use: Callable[[str], str]) -> Iterator[tuple[int, str]]:
    """The index parameters of a function with their C types."""
    writer = IndexWriter(function.variables, use)
    for k in function.index:
        yield k, writer.variable_type(k)


class BodyWriter(StatementWriter):
    """The lines of one function."""

    def __init__(self, unit: TranslationUnit, variables: Sequence[ir.IndexVariable], depth: int) -> None:
        """Start a body; `depth` blocks are open around its first line."""
        super().__init__(unit, variables, depth)
        self._undeclared: dict[str, ir.Buffer] = {}
        self._copied: set[str] = set()
        self._within: dict[int, frozenset[str]] = {}  # the buffers of statements, by their ids
        self._is_entry = False
        self._outermost = depth
        self._repeated: list[SymbolicExpr] = []  # quotients to be named
        self._defined: set[int] = set()  # index variables of all that follows

    # ------------------------------------------------------------ blocks

    def entry(self, kernel: ir.Kernel) -> None:
        """Write the body of a kernel: shared memory, then statements; local memory is declared in the innermost block."""
        copied = {m.buffer for s in ir.statements(kernel.body) for m in moves(s)}
        for buffer in kernel.buffers:
            if buffer.space == "shared":
                self.line(self.unit.declaration(buffer, aligned=buffer.name in copied))
            elif buffer.space == "local":
                self._undeclared[buffer.name] = buffer
        self._copied, self._is_entry = copied, True
        if self.target.has_reciprocals:
            self._repeated = repeated_quotients(kernel.body, self.index.intervals)
            self._defined = {k for k, v in enumerate(self.variables) if v.kind == "thread"}
            self._name_quotients()
        self.block(kernel.body)

    def _name_quotients(self) -> None:
        """Name quotients of variables that are defined here, for all blocks that follow: compilers find a quotient again only
        below the block that computes it, not in branches beside it.
        """
        for quotient in self._repeated:
            if quotient not in self.index.quotients and self._defined.issuperset(quotient.used_variables()):
                text = self.index.written(quotient)
                if not text.wide:
                    name = self.fresh("quotient")
                    self.line(f"const {self.unit.use('s32')} {name} = {text.text};")
                    self.index.quotients[quotient] = replace(text, text=name, precedence=ATOM)

    def block(self, block: ir.Block) -> None:
        """All statements of a block."""
        self._declare_locals(block)
        again = assigned_again(block) if self.target.scalar_branch else frozenset()
        for statement in block:
            if isinstance(statement, ir.If) and not again.isdisjoint(_assigned(statement)):
                self._if(statement, self.target.scalar_branch)
            else:
                self.statement(statement)
            if self._repeated and self.depth == self._outermost and isinstance(statement, ir.LetIndex):
                self._defined.add(statement.variable)
                self._name_quotients()

    def _declare_locals(self, block: ir.Block) -> None:
        """Declare local memory here, unless a nested block has all uses of it and runs once for each thread."""
        if not self._undeclared:
            return
        users: dict[str, list[ir.Statement]] = {name: [] for name in self._undeclared}
        for statement in block:
            for name in self._buffers_within(statement) & users.keys():
                users[name].append(statement)
        for name, blocks in users.items():
            if blocks and not (len(blocks) == 1 and self._runs_once(blocks[0], name)):
                self.line(self.unit.declaration(self._undeclared.pop(name), aligned=name in self._copied))

    def _runs_once(self, statement: ir.Statement, name: str) -> bool:
        """Whether a nested block of the statement has all uses of a buffer, whose contents no two iterations share."""
        if isinstance(statement, ir.If):
            branches = [any(name in self._buffers_within(s) for s in b) for b in (statement.then, statement.otherwise)]
            return branches != [True, True] and name not in _own_buffers(statement)
        return isinstance(statement, ir.For) and self._is_thread_loop(statement)

    def _buffers_within(self, statement: ir.Statement) -> frozenset[str]:
        if id(statement) not in self._within:
            nested = (self._buffers_within(s) for b in ir.blocks_of(statement) for s in b)
            self._within[id(statement)] = frozenset(_own_buffers(statement)).union(*nested)
        return self._within[id(statement)]

    def _is_thread_loop(self, loop: ir.For) -> bool:
        """Whether the loop is over the threads of a block, whose ids are the entry's first variables."""
        return self._is_entry and loop.variable < THREAD_AXES

    def _nested(self, head: str, block: ir.Block, first: str = "") -> None:
        self.line(f"{head} {{")
        self.depth += 1
        if first:
            self.line(self.unit.use(first))
        self.block(block)
        self.depth -= 1

    # ------------------------------------------------------------ statements

    def _atomicupdate(self, s: ir.AtomicUpdate) -> None:
        write_atomic(self, s)

    def _once(self, definition: str, body: ir.Block) -> None:
        self.line("{")
        self.depth += 1
        self.line(definition)
        self.block(body)
        self.depth -= 1
        self.line("}")

    def _is_single(self, loop: ir.For) -> bool:
        """Whether a loop over threads has one iteration, so that it is a block: compilers vectorize loops around blocks."""
        length = (loop.stop - loop.start).constant_value
        return (
            self._is_thread_loop(loop) and length is not None and 0 < length <= loop.step and not may_leave(loop.body)
        )

    def _turns_in_row(self, loop: ir.Statement) -> int:
        """The turns of a loop over the threads of one of several short rows, which compilers shall write out; else 0."""
        if not isinstance(loop, ir.For) or not self._is_thread_loop(loop) or loop.start.constant_value is not None:
            return 0
        turns = (loop.stop - loop.start).constant_value
        return turns if turns is not None and 0 < turns <= MAX_SHORT_ROW and loop.step == 1 else 0

    def _has_short_rows(self, loop: ir.For) -> bool:
        """Whether each turn of a loop is one over the threads of the next short row."""
        if len(loop.body) != 1 or _has_atomics(loop) or not (turns := self._turns_in_row(loop.body[0])):
            return False
        (row,) = loop.body
        assert isinstance(row, ir.For)
        beside = list(map(variable, range(len(self.variables))))
        beside[loop.variable] = variable(loop.variable) + 1
        return loop.step == 1 and row.start.replace_variables(beside) - row.start == constant(turns)

    def _short_row(self, row: ir.For, kind: str, turns: int) -> None:
        """Write a loop whose number of turns compilers see."""
        name = self.variables[row.variable].name
        column = f"{name}_in_row"
        definition = f"const {kind} {name} = {self.index.text(row.start)} + {column};"
        self.line(f"for ({kind} {column} = 0; {column} < {turns}; {column}++) {{")
        self.depth += 1
        self.line(definition)
        self.block(row.body)
        self.depth -= 1
        self.line("}")

    def _for(self, s: ir.For) -> None:
        name = self.variables[s.variable].name
        last = s.stop.range(self.index.intervals).upper + s.step
        kind = self.index.variable_type(s.variable, last)
        if self.target.thread_loop and _loads_under_guards(s):
            kind = self.index.use("s64")
        if self._is_single(s):
            self._once(f"const {kind} {name} = {self.index.text(s.start)};", s.body)
            return
        if self.target.thread_loop and (turns := self._turns_in_row(s)):
            self._short_row(s, kind, turns)
            return
        step = f"{name}++" if s.step == 1 else f"{name} += {s.step}"
        if self.target.thread_loop and self._has_short_rows(s):
            self.line(self.target.thread_loop)
        elif self.target.thread_loop and s.variable == 0 and self._is_thread_loop(s) and not _has_atomics(s):
            self.line(self.target.thread_loop)
            if ir.iterations_of(s) in VECTORS:
                self.line(self.target.lane_loop)
        elif self.target.lane_loop and (s.lanes or _keeps_best_in_few_turns(s)):
            self.line(self.target.lane_loop)
        elif s.unroll and self.target.unroll:
            self.line(self.target.unroll.format(n=s.unroll))
        start, stop = self.index.text(s.start), self.index.text(s.stop)
        self._nested(f"for ({kind} {name} = {start}; {name} < {stop}; {step})", s.body)
        self.line("}")

    def _if(self, s: ir.If, first: str = "") -> None:
        self._nested(f"if ({self.values.conditions(s.conditions)})", s.then, first)
        if s.otherwise:
            self._nested("} else", s.otherwise)
        self.line("}")


def _assigned(branch: ir.If) -> frozenset[str]:
    """The variables that a branch assigns, those of nested branches aside."""
    return frozenset(s.name for s in (*branch.then, *branch.otherwise) if isinstance(s, ir.Assign))


def assigned_again(block: ir.Block) -> frozenset[str]:
    """The variables that several branches of a block assign."""
    counts = Counter(name for s in block if isinstance(s, ir.If) for name in _assigned(s))
    return frozenset(name for name, count in counts.items() if count > 1)


def _keeps_best_in_few_turns(loop: ir.For) -> bool:
    """Whether a short loop keeps the best element with its place: where gcc unrolls it, it joins the conditions of turns, and
    makes no vectors of the loop around it.
    """
    turns = ir.iterations_of(loop)
    return turns is not None and turns <= max(VECTORS) and keeps_best(ir.statements(loop.body))


def _loads_under_guards(loop: ir.For) -> bool:
    """Whether branches of a loop load: gcc 12 finds the distances of such loads in vectors only by counters of 64 bits."""
    branches = [s for s in loop.body if isinstance(s, ir.If)]
    return any(True for b in branches for s in ir.statements((*b.then, *b.otherwise)) for _ in loads_of(s))


def _has_atomics(statement: ir.Statement) -> bool:
    """Whether threads may change the same element within a statement."""
    return any(isinstance(s, ir.AtomicUpdate | ir.FetchAdd) for s in ir.statements((statement,)))


def _own_buffers(statement: ir.Statement) -> set[str]:
    buffers = {v.buffer for v in loads_of(statement)}
    match statement:
        case ir.Store(buffer=name) | ir.AtomicUpdate(buffer=name) | ir.FetchAdd(buffer=name):
            buffers.add(name)
    return buffers.union(m.buffer for m in moves(statement))
