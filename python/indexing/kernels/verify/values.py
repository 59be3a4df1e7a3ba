"""Validation of a pass: what is stored is computed by the same operations, of loads from the same memory.

A value is a term: operations on constants, loads, indices and conditions on indices, with names replaced by what they stand
for. Of a load, the memory counts (`translation.py` compares the elements). Variables and local arrays hold sets of terms: all
that they are given, with the conditions on data under which they are, moves from others followed. Each term after the pass must
be one that there may be before it, and each operation before it is still there, with such operands. How often a statement is
executed, and in which order, does not matter here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from indexing._core import SymbolicExpr
from indexing.errors import IndexingError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.memory import Memory, moves
from indexing.kernels.verify.check import Check
from indexing.walks import reached

Label: TypeAlias = "tuple[object, ...]"
Node: TypeAlias = int  # the number of a term, greater than those of its operands, but for what variables hold
Given: TypeAlias = "tuple[Node, Node]"  # a value, and the condition on data under which it is given

HOLDER, INDEX, WITHIN = ("holder",), ("index",), ("within",)
LOOPS, INDICES = "ends of loops", "indices of data"
MAX_NESTED = 200  # variables that are computed of each other, one of the other


def compare_values(before: ir.Kernel, after: ir.Kernel, name: str) -> Iterator[Check]:
    """One check for each memory that both kernels write, and for what data decide of indices and of the ends of loops; `name`
    is the pass between them.
    """
    if before is after:
        return
    terms = _Terms()
    old, new = (_Collector(kernel, terms).collected() for kernel in (before, after))
    instances = _Instances(terms)
    kept = instances.operations([n for nodes in new.values() for n in nodes])
    for memory in sorted(old.keys() & new.keys()):
        try:
            is_same = instances.has_all(new[memory], old[memory]) and instances.operations(old[memory]) <= kept
            reason = "" if is_same else "other operations compute what is stored"
        except IndexingError as error:
            is_same, reason = False, str(error)
        yield Check("same values", f"{name}: {memory}", "proved" if is_same else "open", reason)


class _Terms:
    """Terms, each once; those of two kernels without variables and local arrays are the same if they are equal."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Label, tuple[Node, ...]], Node] = {}
        self.labels: list[Label] = []
        self.operands: list[tuple[Node, ...]] = []
        self.given: dict[Node, dict[Given, None]] = {}  # what variables and local arrays are given

    def node(self, label: Label, *operands: Node) -> Node:
        """The number of a term."""
        key = label, operands
        if (number := self.numbers.get(key)) is None:
            number = self.numbers[key] = self._new(label, operands)
        return number

    def holder(self) -> Node:
        """A new variable or local array."""
        number = self._new(HOLDER, ())
        self.given[number] = {}
        return number

    def _new(self, label: Label, operands: tuple[Node, ...]) -> Node:
        self.labels.append(label)
        self.operands.append(operands)
        return len(self.labels) - 1


class _Collector:
    """The terms that a kernel stores in each memory which is not a thread's own."""

    def __init__(self, kernel: ir.Kernel, terms: _Terms) -> None:
        self.kernel, self.memory, self.terms = kernel, Memory(kernel), terms
        self.local = {b.name: terms.holder() for b in kernel.buffers if b.space == "local"}
        self.names: dict[str, Node] = {}
        self.written: dict[str, dict[Node, None]] = defaultdict(dict)

    def collected(self) -> dict[str, dict[Node, None]]:
        """The terms, by memory."""
        self.collect(self.kernel.body, self.terms.node(()))
        return self.written

    def value(self, value: ir.Value) -> Node:
        """The term of a value."""
        match value:
            case ir.Op():
                return self._operation(value)
            case ir.Ref(_, name):
                return self.names[name]
            case ir.Load(_, buffer):
                return self._loaded(buffer)
            case ir.Constant(kind, number):
                return self.terms.node((kind, repr(number)))
        return self.terms.node(INDEX if isinstance(value, ir.IndexValue) else WITHIN)

    def _operation(self, op: ir.Op) -> Node:
        """The term of an operation. Conversions of a predicate to its byte and back, and of a decoded number to its bits, are
        none.
        """
        operands = [self.value(o) for o in op.operands]
        of = self.terms.labels[operands[0]]
        if op.opcode == "encode" and of[0] == "decode" and of[2] == op.format:
            return self.terms.operands[operands[0]][0]
        is_byte = (op.opcode, op.type, op.operands[0].type) == ("convert", "u8", "pred")
        if is_byte or (op.opcode == "ne" and op.operands[1] == ir.Constant("u8", 0)):
            return operands[0]
        return self.terms.node((op.opcode, op.type, op.format), *operands)

    def _loaded(self, buffer: str) -> Node:
        return self.local[buffer] if buffer in self.local else self.terms.node(("load", self.memory.of(buffer)))

    def collect(self, block: ir.Block, under: Node) -> None:
        """Collect what statements store under a condition on data."""
        for s in block:
            self._statement(s, under)

    def _statement(self, s: ir.Statement, under: Node) -> None:
        match s:
            case ir.Let(name, value):
                self.names[name] = self.value(value)
            case ir.Var(name, _, value):
                held = self.value(value)
                self.names[name] = self.terms.holder()
                self._give(self.names[name], held, under)
            case ir.Assign(name, value):
                self._give(self.names[name], self.value(value), under)
            case ir.Store(buffer, _, value):
                self._store(buffer, self.value(value), under)
            case ir.For(body=body):
                self.collect(body, under)
            case ir.If(conditions, then, otherwise):
                data = self._of_data(conditions)
                self.collect(then, self.terms.node(("if",), under, *data) if data else under)
                self.collect(otherwise, self.terms.node(("unless",), under, *data) if data else under)
            case ir.Break(conditions):
                self._write(LOOPS, self.terms.node(("break",), *self._of_data(conditions)), under)
            case ir.LetIndex(_, value, promise) if not isinstance(value, SymbolicExpr):
                self._write(INDICES, self.terms.node((promise,), self.value(value)), under)
            case _:
                self._effect(s, under)

    def _effect(self, s: ir.Statement, under: Node) -> None:
        match s:
            case ir.CallFunction(names, function, _, arguments):
                self.names.update(zip(names, self._called(function, [*map(self.value, arguments)]), strict=True))
            case ir.GroupReduce(names, _, combiner):
                own = [self.names[n] for n in names]
                for holder, result in zip(own, self._called(combiner, [*own, *own]), strict=True):
                    self._give(holder, result, under)
            case ir.Shuffle(name, value, offset, group):
                self.names[name] = self.terms.node(("shuffle", offset, group), self.value(value))
            case ir.FetchAdd(name, buffer, _, value):
                self.names[name] = self.terms.node(("fetch_add", self.memory.of(buffer)), self.value(value))
                self._write(self.memory.of(buffer), self.names[name], under)
            case ir.AtomicUpdate(buffer, _, combiner, values, opcode):
                old = self.terms.node(("load", self.memory.of(buffer)))
                for v in values:
                    (combined,) = self._called(combiner, [old, self.value(v)])
                    self._write(self.memory.of(buffer), combined, under, f"atomic {opcode}")
            case ir.Copy() | ir.CopyAsync():
                self._store(s.destination, self._loaded(s.source), under)
            case ir.LoadMatrices() | ir.MatrixMultiply() | ir.MultiplyPanels():
                *loads, to = moves(s)
                what = next(getattr(s, f) for f in ("instruction", "product", "transposed") if hasattr(s, f))
                self._store(
                    to.buffer, self.terms.node((type(s), what), *(self._loaded(m.buffer) for m in loads)), under
                )

    def _of_data(self, conditions: Sequence[ir.Value]) -> list[Node]:
        return [self.value(c) for c in conditions if not isinstance(c, ir.Within)]

    def _store(self, buffer: str, value: Node, under: Node) -> None:
        if buffer in self.local:
            self._give(self.local[buffer], value, under)
        else:
            self._write(self.memory.of(buffer), value, under)

    def _give(self, holder: Node, value: Node, under: Node) -> None:
        self.terms.given[holder][value, under] = None

    def _write(self, memory: str, value: Node, under: Node, how: str = "store") -> None:
        self.written[memory][self.terms.node((how,), value, under)] = None

    def _called(self, name: str, arguments: Sequence[Node]) -> list[Node]:
        """The results of a function, whose names are its own."""
        function, outer = self.kernel.function(name), self.names
        self.names = dict(zip([p.name for p in function.parameters], arguments, strict=True))
        self.collect(function.body, self.terms.node(()))
        results = [*map(self.value, function.results)]
        self.names = outer
        return results


class _Instances:
    """Answers which terms are instances of others: of the same operations, where a variable may be any value that it holds."""

    def __init__(self, terms: _Terms) -> None:
        self.labels, self.operands, self.given = terms.labels, terms.operands, terms.given
        self.known: dict[tuple[Node, Node], bool] = {}
        self.begun: set[tuple[Node, Node]] = set()
        self.assumed: set[tuple[Node, Node]] = set()  # pairs that were asked for while they were not known
        self.held: dict[Node, dict[Given, None]] = {}

    def has_all(self, terms: Iterable[Node], others: Collection[Node]) -> bool:
        """Whether each term is an instance of another."""
        return all(self._is_one_of(t, others) for t in terms)

    def _is_one_of(self, term: Node, others: Collection[Node]) -> bool:
        """Whether a term is an instance of another; repeated without what was assumed where that was wrong."""
        if term in others:
            return True
        alike = [o for o in others if self.labels[o] == self.labels[term]]
        while True:
            is_instance = any(self._is_instance(term, o, 0) for o in alike)
            wrong = [pair for pair in self.assumed if not self.known[pair]]
            self.assumed.clear()
            if not wrong:
                return is_instance
            self.known = {pair: known for pair, known in self.known.items() if not known}

    def _is_instance(self, a: Node, b: Node, depth: int) -> bool:
        """Whether a term is an instance of another. Of variables that are computed of themselves, this is assumed meanwhile."""
        if depth > MAX_NESTED:
            raise IndexingError(f"more than {MAX_NESTED} variables are computed of each other")
        pending, seen, known = [(a, b)], {(a, b)}, self.known
        while pending:
            pair = x, y = pending.pop()
            if x == y or known.get(pair):
                continue
            if pair in self.begun:
                self.assumed.add(pair)
            elif HOLDER in (self.labels[x], self.labels[y]):
                if pair not in known:
                    self.begun.add(pair)
                    known[pair] = self._may_be(x, y, depth + 1)
                    self.begun.remove(pair)
                if not known[pair]:
                    return False
            elif self.labels[x] != self.labels[y] or len(self.operands[x]) != len(self.operands[y]):
                return False
            else:
                inner = [p for p in zip(self.operands[x], self.operands[y], strict=True) if p not in seen]
                pending += inner
                seen.update(inner)
        return True

    def _may_be(self, a: Node, b: Node, depth: int) -> bool:
        """Whether all that is held by a variable, or is a term, is an instance of something held by another, or of a term."""
        if self.labels[b] is not HOLDER:
            return all(self._is_instance(v, b, depth) for v, _ in self._held(a))
        if self.labels[a] is not HOLDER:
            return any(self._is_instance(a, w, depth) for w, _ in self._held(b))
        for v, under in self._held(a):
            if not any(
                self._is_instance(v, w, depth) and self._is_instance(under, other, depth) for w, other in self._held(b)
            ):
                return False
        return True

    def _held(self, holder: Node) -> dict[Given, None]:
        """The values that a variable or local array holds, moves from others followed."""
        if holder not in self.held:
            same = reached([holder], lambda h: [v for v, _ in self.given[h] if v in self.given])
            self.held[holder] = {given: None for h in same for given in self.given[h] if given[0] not in self.given}
        return self.held[holder]

    def operations(self, terms: Iterable[Node]) -> set[tuple[Label, ...]]:
        """The operations that terms are computed by, with those of their operands."""
        every = reached(terms, self._parts)
        return {(self.labels[n], *map(self._outline, self.operands[n])) for n in every if self.labels[n] is not HOLDER}

    def _parts(self, n: Node) -> Iterable[Node]:
        return [part for given in self._held(n) for part in given] if self.labels[n] is HOLDER else self.operands[n]

    def _outline(self, n: Node) -> Label:
        """The operation of a term; of a variable, that of all that it holds, if it is one."""
        if self.labels[n] is not HOLDER:
            return self.labels[n]
        labels = {self.labels[v] for v, _ in self._held(n)}
        return labels.pop() if len(labels) == 1 else HOLDER
