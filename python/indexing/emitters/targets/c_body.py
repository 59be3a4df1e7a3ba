"""Writes statements of the IR as lines of C."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr
from indexing.emitters.ir import nodes as ir
from indexing.emitters.ir.traversal import expressions_of, indices_of, subvalues, values_of
from indexing.emitters.targets.c_atomics import write_atomic
from indexing.emitters.targets.c_index import ATOM, SUM, IndexWriter
from indexing.emitters.targets.c_values import ValueWriter, kind_of
from indexing.errors import CompileError

if TYPE_CHECKING:
    from indexing.emitters.targets.c_family import UnitWriter

THREAD_AXES = 3
MAX_TREE = 64  # nodes of an index expression that is written out; parts of a larger one are named first


def index_types(function: ir.Function, use: Callable[[str], str]) -> Iterator[tuple[int, str]]:
    """The index parameters of a function with their C types."""
    writer = IndexWriter(function.variables, use)
    for k in function.index:
        yield k, writer.variable_type(k)


class BodyWriter:
    """The lines of one function."""

    def __init__(self, unit: UnitWriter, variables: Sequence[ir.IndexVariable], depth: int) -> None:
        """`depth` blocks are open around the first line."""
        self.unit, self.target = unit, unit.target
        self.variables = list(variables)
        self.depth = depth
        self.lines: list[str] = []
        self._undeclared: dict[str, ir.Buffer] = {}
        self._copied: set[str] = set()
        self._is_entry = False
        self._fresh = 0
        self._set_index_writer()

    def _set_index_writer(self) -> None:
        self.index = IndexWriter(self.variables, self.unit.use)
        self.values = ValueWriter(self.index, self.unit.use, self._load, self.target.constant_select)

    def line(self, text: str) -> None:
        """Append one line."""
        self.lines.append("  " * self.depth + text)

    def fresh(self, prefix: str) -> str:
        """A name that the function does not have yet."""
        self._fresh += 1
        return f"{prefix}_{self._fresh}"

    # ------------------------------------------------------------ blocks

    def entry(self, kernel: ir.Kernel) -> None:
        """The body of a kernel: shared memory, then statements; local memory is declared where it is first needed."""
        copied = {n for s in ir.statements(kernel.body) if isinstance(s, ir.Copy) for n in (s.destination, s.source)}
        for buffer in kernel.buffers:
            if buffer.space == "shared":
                self.line(self.unit.declaration(buffer, aligned=buffer.name in copied))
            elif buffer.space == "local":
                self._undeclared[buffer.name] = buffer
        self._copied, self._is_entry = copied, True
        self.block(kernel.body)

    def block(self, block: ir.Block) -> None:
        """All statements of a block."""
        self._declare_locals(block)
        for statement in block:
            self._statement(statement)

    def _declare_locals(self, block: ir.Block) -> None:
        """Declare local memory here, unless one block within has all uses of it and runs once for each thread."""
        if not self._undeclared:
            return
        users: dict[str, list[ir.Statement]] = {name: [] for name in self._undeclared}
        for statement in block:
            for name in _buffers_within(statement) & set(users):
                users[name].append(statement)
        for name, found in users.items():
            if found and not (len(found) == 1 and self._runs_once(found[0], name)):
                self.line(self.unit.declaration(self._undeclared.pop(name), aligned=name in self._copied))

    def _runs_once(self, statement: ir.Statement, name: str) -> bool:
        """Whether a block within it has all uses of a buffer, and no two turns of it share the contents."""
        if isinstance(statement, ir.If):
            branches = [any(name in _buffers_within(s) for s in b) for b in (statement.then, statement.otherwise)]
            return branches != [True, True] and name not in _own_buffers(statement)
        return isinstance(statement, ir.For) and self._is_thread_loop(statement)

    def _is_thread_loop(self, loop: ir.For) -> bool:
        """Whether the loop is over the threads of a block, whose ids are the entry's first variables."""
        return self._is_entry and loop.variable < THREAD_AXES

    def _nested(self, head: str, block: ir.Block) -> None:
        self.line(f"{head} {{")
        self.depth += 1
        self.block(block)
        self.depth -= 1

    # ------------------------------------------------------------ statements

    def _statement(self, statement: ir.Statement) -> None:
        self._name_large_parts(statement)
        write = getattr(self, f"_{type(statement).__name__.lower()}", None)
        if write is None:
            raise CompileError(
                f"target {self.target.name!r} writes no {type(statement).__name__}; run the pass that lowers it first"
            )
        write(statement)
        self.index.named.clear()

    def _let(self, s: ir.Let) -> None:
        self.line(f"const {self.unit.use(s.value.type)} {s.name} = {self.values.text(s.value)};")

    def _var(self, s: ir.Var) -> None:
        self.line(f"{self.unit.use(s.type)} {s.name} = {self.values.text(s.initial)};")

    def _assign(self, s: ir.Assign) -> None:
        self.line(f"{s.name} = {self.values.text(s.value)};")

    def _letindex(self, s: ir.LetIndex) -> None:
        kind, name = self.index.variable_type(s.variable), self.variables[s.variable].name
        if isinstance(s.value, SymbolicExpr):
            self.line(f"const {kind} {name} = {self.index.text(s.value)};")
            return
        text = self.values.written(s.value)
        self.line(f"const {kind} {name} = {text.text if s.value.type == kind else f'({kind}){text.under(ATOM)}'};")

    def _callfunction(self, s: ir.CallFunction) -> None:
        function = self.unit.functions[s.function]
        call = self.call(s)
        kind = self.unit.result_type(function)
        if len(s.names) == 1:
            self.line(f"const {kind} {s.names[0]} = {call};")
            return
        whole = self.fresh("results")
        self.line(f"const {kind} {whole} = {call};")
        for k, (name, result) in enumerate(zip(s.names, function.results, strict=True)):
            self.line(f"const {self.unit.use(result.type)} {name} = {whole}.r{k};")

    def call(self, s: ir.CallFunction) -> str:
        """C text of a call."""
        index = [self.index.text(e) for e in s.index]
        values = [self.values.text(a) for a in s.arguments]
        return f"{s.function}({', '.join([*self.unit.reads[s.function], *index, *values])})"

    def returned(self, function: ir.Function) -> None:
        """The last lines of a function: its results."""
        texts = [self.values.text(r) for r in function.results]
        if len(texts) == 1:
            self.line(f"return {texts[0]};")
            return
        self.line(f"{self.unit.result_type(function)} results;")
        for k, text in enumerate(texts):
            self.line(f"results.r{k} = {text};")
        self.line("return results;")

    def place(self, buffer: str, index: ir.Index) -> str:
        """C text of the index of an element of a flat buffer."""
        if len(index) > 1:
            raise CompileError(f"buffer {buffer} has an index of rank {len(index)}; run the pass `flatten` first")
        return self.index.text(index[0]) if index else "0"

    def pointer(self, buffer: str, index: ir.Index) -> str:
        """C text of a pointer to an element."""
        if self.place(buffer, index) == "0":
            return buffer
        return f"{buffer} + {self.index.written(index[0]).under(SUM)}"

    def _load(self, load: ir.Load) -> str:
        return f"{load.buffer}[{self.place(load.buffer, load.index)}]"

    def _store(self, s: ir.Store) -> None:
        self.line(f"{s.buffer}[{self.place(s.buffer, s.index)}] = {self.values.text(s.value)};")

    def _copy(self, s: ir.Copy) -> None:
        to, source = self.unit.buffers[s.destination], self.unit.buffers[s.source]
        kind = self.unit.vector(to.element_type, s.width)
        ends = []
        for buffer, place, constant in ((to, s.destination_index, ""), (source, s.source_index, "const ")):
            space = self.target.spaces[buffer.space]
            ends.append(f"*({space}{constant}{kind} *)({self.pointer(buffer.name, (place,))})")
        self.line(f"{ends[0]} = {ends[1]};")

    def _atomicupdate(self, s: ir.AtomicUpdate) -> None:
        write_atomic(self, s)

    def _fetchadd(self, s: ir.FetchAdd) -> None:
        text = self.target.fetch_add.format(pointer=self.pointer(s.buffer, s.index), value=self.values.text(s.value))
        self.line(f"const {self.unit.use('u32')} {s.name} = {text};")

    def _shuffle(self, s: ir.Shuffle) -> None:
        if not self.target.shuffle_width:
            raise CompileError(
                f"target {self.target.name!r} has no shuffles; lower team reductions through shared memory"
            )
        kind = kind_of(s.value.type)
        value = self.values.written(s.value).under(ATOM)
        self.unit.use("s32")

        def moved(text: str) -> str:
            if s.group:
                return self.target.shuffle_first.format(value=text, group=s.group)
            return self.target.shuffle.format(value=text, offset=s.offset)

        if kind == "complex":
            text = f"{self.unit.use('make_' + s.value.type)}({moved(value + '.x')}, {moved(value + '.y')})"
        elif kind == "pred":
            text = f"{moved('(s32)' + value)} != 0"
        elif s.value.type[1:] in ("8", "16"):
            text = f"({self.unit.use(s.value.type)}){moved('(s32)' + value)}"
        else:
            text = moved(value)
        self.line(f"const {self.unit.use(s.value.type)} {s.name} = {text};")

    def _for(self, s: ir.For) -> None:
        name = self.variables[s.variable].name
        last = s.stop.range(self.index.intervals).upper + s.step
        kind = self.index.variable_type(s.variable, last)
        step = f"{name}++" if s.step == 1 else f"{name} += {s.step}"
        if self.target.thread_loop and s.variable == 0 and self._is_thread_loop(s) and not _has_atomics(s):
            self.line(self.target.thread_loop)
        elif s.unroll and self.target.unroll:
            self.line(self.target.unroll.format(n=s.unroll))
        start, stop = self.index.text(s.start), self.index.text(s.stop)
        self._nested(f"for ({kind} {name} = {start}; {name} < {stop}; {step})", s.body)
        self.line("}")

    def _if(self, s: ir.If) -> None:
        self._nested(f"if ({self.values.conditions(s.conditions)})", s.then)
        if s.otherwise:
            self._nested("} else", s.otherwise)
        self.line("}")

    def _break(self, s: ir.Break) -> None:
        self.line(f"if ({self.values.conditions(s.conditions)}) break;" if s.conditions else "break;")

    def _barrier(self, s: ir.Barrier) -> None:
        self.line(f"{self.target.barrier};")

    def _fence(self, s: ir.Fence) -> None:
        self.line(f"{self.target.fence};")

    # ------------------------------------------------------------ large indices

    def _name_large_parts(self, statement: ir.Statement) -> None:
        """Give names to what large index expressions of a statement have in several places, in front of it."""
        expressions = list(indices_of(statement))
        for value in values_of(statement):
            for part in subvalues(value):
                expressions.extend(expressions_of(part))
        for expression in expressions:
            nodes = expression.nodes()
            if _tree_size(nodes) <= MAX_TREE:
                continue
            users = Counter(o for _, _, operands in nodes for o in operands)
            for k, node in enumerate(expression.postorder()):
                if nodes[k][2] and users[k] > 1 and node not in self.index.named:
                    text = self.index.written(node)
                    name = self.fresh("part")
                    self.line(f"const {self.index.c_type(node)} {name} = {text.text};")
                    self.index.named[node] = replace(text, text=name, precedence=ATOM)


def _tree_size(nodes: Sequence[tuple[str, list[int], list[int]]]) -> int:
    """The number of nodes in the text, those in several places counted each time."""
    sizes: list[int] = []
    for _, _, operands in nodes:
        sizes.append(1 + sum(sizes[o] for o in operands))
    return sizes[-1]


def _has_atomics(statement: ir.Statement) -> bool:
    """Whether threads may change the same element within a statement."""
    return any(isinstance(s, ir.AtomicUpdate | ir.FetchAdd) for s in ir.statements((statement,)))


def _own_buffers(statement: ir.Statement) -> set[str]:
    found = {v.buffer for value in values_of(statement) for v in subvalues(value) if isinstance(v, ir.Load)}
    match statement:
        case ir.Store(buffer=name) | ir.AtomicUpdate(buffer=name) | ir.FetchAdd(buffer=name):
            found.add(name)
        case ir.Copy(destination=a, source=b):
            found.update((a, b))
    return found


def _buffers_within(statement: ir.Statement) -> set[str]:
    return {name for s in ir.statements((statement,)) for name in _own_buffers(s)}
