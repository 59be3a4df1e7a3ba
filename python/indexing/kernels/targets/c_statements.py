"""Printing of statements without nested blocks as lines of C."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from indexing._core import SymbolicExpr
from indexing.errors import CompileError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import FULL_WORDS, PIECE_BYTES
from indexing.kernels.ir.traversal import expressions_in
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.targets.c_index import ATOM, PRODUCT, IndexWriter
from indexing.kernels.targets.c_unit import TranslationUnit
from indexing.kernels.targets.c_values import ValueWriter, kind_of

MAX_TREE = 64  # nodes of an index expression as a tree; parts of a larger one are named first


class StatementWriter:
    """The lines of one function."""

    def __init__(self, unit: TranslationUnit, variables: Sequence[ir.IndexVariable], depth: int) -> None:
        """Start a body; `depth` blocks are open around its first line."""
        self.unit, self.target = unit, unit.target
        self.variables = list(variables)
        self.depth = depth
        self.lines: list[str] = []
        self._fresh = 0
        self.index = IndexWriter(self.variables, self.unit.use, self.target.has_reciprocals)
        self.values = ValueWriter(self.index, self.unit.use, self._load, self.target)

    def line(self, text: str) -> None:
        """Append one line."""
        self.lines.append("  " * self.depth + text)

    def fresh(self, prefix: str) -> str:
        """A name that is not in use in the function."""
        self._fresh += 1
        return f"{prefix}_{self._fresh}"

    def statement(self, statement: ir.Statement) -> None:
        """Write the lines of a statement."""
        self._name_large_parts(statement)
        write = getattr(self, f"_{type(statement).__name__.lower()}", None)
        if write is None:
            raise CompileError(
                f"target {self.target.name!r} can't print {type(statement).__name__}; run the pass that lowers it first"
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
        self.line(f"const {kind} {name} = {text.text if s.value.type == kind else f'({kind}){text.as_operand(ATOM)}'};")

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
        """Write the return of a function's results."""
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
        """C text of a pointer to an element. The index is added up first: a pointer plus each term takes wider sums."""
        if self.place(buffer, index) == "0":
            return buffer
        return f"{buffer} + {self.index.written(index[0]).as_operand(PRODUCT)}"

    def _load(self, load: ir.Load) -> str:
        return f"{load.buffer}[{self.place(load.buffer, load.index)}]"

    def _store(self, s: ir.Store) -> None:
        self.line(f"{s.buffer}[{self.place(s.buffer, s.index)}] = {self.values.text(s.value)};")

    def _copy(self, s: ir.Copy) -> None:
        to, source = self.unit.buffers[s.destination], self.unit.buffers[s.source]
        size = storage_bytes(to.element_type) * s.width
        load = "load_written" if source.name in self.unit.written_to else "load"
        for call, is_needed in (("store", to.space == "global"), (load, self._is_rest(s))):
            if is_needed and (function := f"{call}_vector_{size}") in self.target.library:
                self._call(function, (to.name, s.destination_index), (source.name, s.source_index))
                return
        kind = self.unit.vector(to.element_type, s.width)
        ends = []
        for buffer, place, constant in ((to, s.destination_index, ""), (source, s.source_index, "const ")):
            space = self.target.spaces[buffer.space]
            ends.append(f"*({space}{constant}{kind} *)({self.pointer(buffer.name, (place,))})")
        self.line(f"{ends[0]} = {ends[1]};")

    def _is_rest(self, s: ir.Copy) -> bool:
        """Whether a load goes on within a vector of its local array, and what it reads may end there."""
        source, place, most = self.unit.buffers[s.source], s.destination_index.constant_value, self.target.vector_bytes
        if source.space != "global" or not (place and most):
            return False
        return all(n * storage_bytes(source.element_type) % most for n in (place, source.size))

    def _copyasync(self, s: ir.CopyAsync) -> None:
        size = storage_bytes(self.unit.buffers[s.destination].element_type) * s.width
        self._call(f"copy_async_{size}", (s.destination, s.destination_index), (s.source, s.source_index))

    def _waitcopies(self, s: ir.WaitCopies) -> None:
        if self.target.copies_async:
            self._call(f"wait_copies_{s.pending}" if s.pending else "wait_copies")

    def _loadmatrices(self, s: ir.LoadMatrices) -> None:
        plain = "load_matrices_rounded" if s.width == FULL_WORDS else "load_matrices"
        bytes_or_pairs = "load_transposed_bytes" if s.width == PIECE_BYTES else "load_transposed"
        name = bytes_or_pairs if s.transposed else plain
        self._call(name, (s.destination, s.destination_index), (s.source, s.source_index))

    def _matrixmultiply(self, s: ir.MatrixMultiply) -> None:
        self._call(f"multiply_matrices_{s.instruction}", *_places(s))

    def _multiplypanels(self, s: ir.MultiplyPanels) -> None:
        self._call(f"multiply_panels_{s.product}", *_places(s), arguments=(str(s.depth),))

    def _call(self, name: str, *places: tuple[str, SymbolicExpr], arguments: Sequence[str] = ()) -> None:
        """Write a call of a library function on pointers to elements of buffers, and further arguments."""
        pointers = [self.pointer(buffer, (index,)) for buffer, index in places]
        self.line(f"{self.unit.use(name)}({', '.join([*pointers, *arguments])});")

    def _fetchadd(self, s: ir.FetchAdd) -> None:
        text = self.target.fetch_add.format(pointer=self.pointer(s.buffer, s.index), value=self.values.text(s.value))
        self.line(f"const {self.unit.use('u32')} {s.name} = {text};")

    def _shuffle(self, s: ir.Shuffle) -> None:
        if not self.target.shuffle_width:
            raise CompileError(
                f"target {self.target.name!r} has no shuffles; lower group reductions through shared memory"
            )
        kind = kind_of(s.value.type)
        value = self.values.written(s.value).as_operand(ATOM)
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

    def _break(self, s: ir.Break) -> None:
        self.line(f"if ({self.values.conditions(s.conditions)}) break;" if s.conditions else "break;")

    def _barrier(self, s: ir.Barrier) -> None:
        self.line(f"{self.target.barrier};")

    def _fence(self, s: ir.Fence) -> None:
        self.line(f"{self.target.fence};")

    # ------------------------------------------------------------ large indices

    def _name_large_parts(self, statement: ir.Statement) -> None:
        """Name the shared parts of a statement's large index expressions in front of it."""
        for expression in expressions_in(statement):
            if expression.variable_index is not None:
                continue
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


def _places(s: ir.MatrixMultiply | ir.MultiplyPanels) -> tuple[tuple[str, SymbolicExpr], ...]:
    return (s.accumulator, s.accumulator_index), (s.left, s.left_index), (s.right, s.right_index)


def _tree_size(nodes: Sequence[tuple[str, list[int], list[int]]]) -> int:
    """The number of nodes as a tree, shared ones counted each time."""
    sizes: list[int] = []
    for _, _, operands in nodes:
        sizes.append(1 + sum(sizes[o] for o in operands))
    return sizes[-1]
