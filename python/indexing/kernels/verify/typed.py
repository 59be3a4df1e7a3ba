"""The check of names and types: each name is defined once, before its uses; operands and results have the right types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import names_of
from indexing.kernels.ir.fragments import (
    ASYNC_BYTES,
    INSTRUCTIONS,
    MAX_PENDING,
    PANEL_PRODUCTS,
    PIECE_BYTES,
)
from indexing.kernels.ir.opcodes import OPCODES
from indexing.kernels.ir.traversal import expressions_of, indices_of, subvalues, values_of
from indexing.kernels.ir.types import compute_type, storage_bytes, storage_type
from indexing.kernels.verify.check import Check
from indexing.ops.element_types import ELEMENT_TYPES, element_type

_KINDS = {"signed": "integer", "unsigned": "integer"}


def check_types(kernel: ir.Kernel) -> Iterator[Check]:
    """One check for each function and for the entry, if it has no fault; else a refuted one for each fault."""
    for f in ir.bodies(kernel):
        faults = list(_TypeChecker(kernel, f).faults(f.body, getattr(f, "results", ())))
        if isinstance(f, ir.Kernel):
            faults += _launch_faults(f)
        for fault in faults:
            yield Check("typed", f.name, "refuted", fault)
        if not faults:
            yield Check("typed", f.name, "proved")


def _launch_faults(kernel: ir.Kernel) -> Iterator[str]:
    """Faults of thread and block ids, whose intervals must be those of the launch."""
    for v, size in zip(kernel.variables, (*kernel.block, *kernel.grid), strict=False):
        if v.kind == "thread" and (v.interval.lower, v.interval.upper) != (0, size - 1):
            yield f"{v.name} counts to {v.interval.upper}, {size} are launched"


class _TypeChecker:
    """Checks one function, with the types of the names in scope."""

    def __init__(self, kernel: ir.Kernel, function: ir.Function | ir.Kernel) -> None:
        self.buffers = {b.name: b for b in kernel.buffers}
        self.functions = {f.name: f for f in kernel.functions}
        self.names = {p.name: p.type for p in getattr(function, "parameters", ())}
        self.index_names = [v.name for v in function.variables]
        self.variables = {k for k, v in enumerate(function.variables) if v.kind in ("thread", "parameter")}
        self.mutable: set[str] = set()

    def faults(self, body: ir.Block, results: tuple[ir.Value, ...]) -> Iterator[str]:
        for statement in body:
            yield from self._statement(statement)
        for value in results:
            yield from self._value(value)

    def _inner(self, block: ir.Block) -> Iterator[str]:
        names, variables = dict(self.names), set(self.variables)
        for statement in block:
            yield from self._statement(statement)
        self.names, self.variables = names, variables

    def _statement(self, s: ir.Statement) -> Iterator[str]:
        for value in values_of(s):
            yield from self._value(value)
        for e in indices_of(s):
            yield from self._index(e.used_variables())
        match s:
            case ir.For():
                if s.step < 1:
                    yield f"a loop has steps of {s.step}"
                yield from self._declare(s.variable)
                yield from self._inner(s.body)
                self.variables.discard(s.variable)
            case ir.If():
                yield from self._conditions(s.conditions)
                yield from self._inner(s.then)
                yield from self._inner(s.otherwise)
            case ir.Break():
                yield from self._conditions(s.conditions)
            case ir.LetIndex():
                yield from self._declare(s.variable)
            case ir.Assign():
                if s.name not in self.mutable or self.names.get(s.name) != s.value.type:
                    yield f"set {s.name}: no variable of type {s.value.type}"
            case ir.Store():
                yield from self._store(s.buffer, s.value.type)
            case ir.AtomicUpdate() | ir.FetchAdd():
                yield from self._atomic(s)
            case ir.Copy():
                yield from self._copy(s)
            case ir.CopyAsync():
                yield from self._copy_async(s)
            case ir.WaitCopies(pending) if not 0 <= pending <= MAX_PENDING:
                yield f"wait_copies {pending}: at most {MAX_PENDING} groups may stay incomplete"
            case ir.LoadMatrices():
                yield from self._load_matrices(s)
            case ir.MatrixMultiply():
                yield from self._multiply(s)
            case ir.MultiplyPanels():
                yield from self._multiply_panels(s)
            case ir.CallFunction():
                yield from self._call(s)
            case ir.GroupReduce():
                yield from self._group_reduction(s)
                for name, kind in zip(s.names, s.types, strict=True):
                    if name not in self.mutable or self.names.get(name) != kind:
                        yield f"group_reduce {name}: no variable of type {kind}"
            case ir.Var():
                self.mutable.add(s.name)
                if s.initial.type != s.type:
                    yield f"var {s.name}: {s.type} begins with a {s.initial.type}"
        yield from self._define(s)

    def _declare(self, k: int) -> Iterator[str]:
        """An index variable comes into scope, where no other one of its name may be."""
        if self.index_names[k] in {self.index_names[other] for other in self.variables - {k}}:
            yield f"index {self.index_names[k]} is defined twice"
        self.variables.add(k)

    def _define(self, s: ir.Statement) -> Iterator[str]:
        for k, name in enumerate(names_of(s)):
            if name in self.names:
                yield f"{name} is defined twice"
            if isinstance(s, ir.CallFunction):
                function = self.functions.get(s.function)
                self.names[name] = (
                    function.results[k].type if function is not None and k < len(function.results) else ""
                )
            elif isinstance(s, ir.Var):
                self.names[name] = s.type
            else:
                self.names[name] = s.value.type  # type: ignore[union-attr]

    def _group_reduction(self, s: ir.GroupReduce) -> Iterator[str]:
        combiner, types = self.functions.get(s.combiner), list(s.types)
        if combiner is None or [p.type for p in combiner.parameters] != types * 2:
            yield f"group_reduce: {s.combiner} is no function of twice {', '.join(types)}"
        elif [r.type for r in combiner.results] != types:
            yield f"group_reduce: {s.combiner} does not give {', '.join(types)}"

    def _conditions(self, conditions: tuple[ir.Value, ...]) -> Iterator[str]:
        yield from (f"a condition has type {c.type}" for c in conditions if c.type != "pred")

    def _store(self, name: str, kind: str) -> Iterator[str]:
        buffer = self.buffers.get(name)
        if buffer is None:
            yield f"store {name}: there is no such buffer"
        elif buffer.role == "input" or buffer.space == "constant":
            yield f"store {name}: it is only read"
        elif storage_type(buffer.element_type) != kind:
            yield f"store {name}: the buffer's storage type is {storage_type(buffer.element_type)}, the value's type is {kind}"

    def _atomic(self, s: ir.AtomicUpdate | ir.FetchAdd) -> Iterator[str]:
        buffer = self.buffers.get(s.buffer)
        if isinstance(s, ir.FetchAdd):
            yield from self._store(s.buffer, s.value.type)
        elif buffer is None or buffer.role == "input":
            yield f"atomic {s.buffer}: there is no such buffer, or it is only read"
        else:
            combiner, kind = self.functions.get(s.combiner), compute_type(buffer.element_type)
            if combiner is None or [p.type for p in combiner.parameters] != [kind, kind]:
                yield f"atomic {s.buffer}: {s.combiner} is no function of two {kind}"
            for value in s.values:
                if value.type != kind:
                    yield f"atomic {s.buffer}: the buffer is of {kind}, the value's type is {value.type}"
            if (count := len(s.values)) < 1 or count & (count - 1):
                yield f"atomic {s.buffer}: {count} elements are no vector"

    def _copy(self, s: ir.Copy) -> Iterator[str]:
        ends = [self.buffers.get(name) for name in (s.destination, s.source)]
        spaces = [b.space for b in ends if b is not None]
        if len({b.element_type if b is not None else "" for b in ends}) > 1 or "local" not in spaces:
            yield f"copy {s.destination} = {s.source}: no vector between a local buffer and another of its type"
        elif ends[0] is not None and ends[0].role == "input":
            yield f"copy {s.destination}: it is only read"
        if s.width < 1 or s.width & (s.width - 1):
            yield f"copy {s.destination}: {s.width} elements are no vector"

    def _copy_async(self, s: ir.CopyAsync) -> Iterator[str]:
        to, source = self.buffers.get(s.destination), self.buffers.get(s.source)
        if to is None or to.space != "shared" or source is None or source.space != "global":
            yield f"copy_async {s.destination} = {s.source}: it copies from global to shared memory"
        elif storage_type(to.element_type) != storage_type(source.element_type):
            yield f"copy_async {s.destination} = {s.source}: their types differ"
        elif storage_bytes(to.element_type) * s.width not in ASYNC_BYTES:
            yield f"copy_async {s.destination}: {s.width} elements are not {' or '.join(map(str, ASYNC_BYTES))} bytes"

    def _load_matrices(self, s: ir.LoadMatrices) -> Iterator[str]:
        source = self.buffers.get(s.source)
        if source is None or source.space != "shared":
            yield f"load_matrices {s.source}: there is no such shared buffer"
        elif storage_bytes(source.element_type) * s.width != PIECE_BYTES:
            yield f"load_matrices {s.source}: {s.width} elements are not {PIECE_BYTES} bytes"
        elif s.transposed and s.width < PIECE_BYTES // 2:
            yield f"load_matrices {s.source}: only elements of 8 or 16 bits are transposed"
        yield from self._registers(s.destination, "u32")

    def _multiply(self, s: ir.MatrixMultiply) -> Iterator[str]:
        instruction = INSTRUCTIONS.get(s.instruction)
        if instruction is None:
            yield f"matrix_multiply: there is none for {s.instruction}"
            return
        yield from self._registers(s.accumulator, instruction.accumulator)
        yield from self._registers(s.left, "u32")
        yield from self._registers(s.right, "u32")

    def _multiply_panels(self, s: ir.MultiplyPanels) -> Iterator[str]:
        product = PANEL_PRODUCTS.get(s.product)
        if product is None or s.depth < 1 or s.depth % product.depth_unit:
            yield f"multiply_panels: there is none for {s.product} and depth {s.depth}"
            return
        for name, kind in zip((s.left, s.right), product.factors, strict=True):
            buffer = self.buffers.get(name)
            if buffer is None or buffer.space != "shared" or buffer.element_type != kind:
                yield f"multiply_panels {name}: there is no such shared buffer of type {kind}"
        yield from self._registers(s.accumulator, product.sums)

    def _registers(self, name: str, kind: str) -> Iterator[str]:
        buffer = self.buffers.get(name)
        if buffer is None or buffer.space != "local" or buffer.element_type != kind:
            yield f"{name} holds no registers of type {kind}"

    def _call(self, s: ir.CallFunction) -> Iterator[str]:
        function = self.functions.get(s.function)
        if function is None:
            yield f"call {s.function}: there is no such function"
            return
        given = [a.type for a in s.arguments]
        if given != [p.type for p in function.parameters] or len(s.index) != len(function.index):
            yield f"call {s.function}: its index and arguments are not those of the function"
        if len(s.names) != len(function.results):
            yield f"call {s.function}: {len(s.names)} names for {len(function.results)} results"

    def _index(self, used: Iterable[int]) -> Iterator[str]:
        yield from (f"index variable {k} is not in scope" for k in sorted(set(used) - self.variables))

    def _value(self, value: ir.Value) -> Iterator[str]:
        for v in subvalues(value):
            for e in expressions_of(v):
                yield from self._index(set(e.used_variables()))
            match v:
                case ir.Ref():
                    if self.names.get(v.name) != v.type:
                        yield f"{v.name} is used as {v.type}; it is {self.names.get(v.name, 'not in scope')}"
                case ir.Load():
                    buffer = self.buffers.get(v.buffer)
                    if buffer is None or storage_type(buffer.element_type) != v.type:
                        yield f"load.{v.type} {v.buffer}: memory holds no such elements"
                case ir.Op():
                    yield from _operation(v)
                case ir.Constant() | ir.IndexValue() | ir.Within():
                    pass


def _operation(op: ir.Op) -> Iterator[str]:
    known = OPCODES.get(op.opcode)
    if known is None:
        yield f"{op.opcode} is no operation"
        return
    if len(op.operands) != known.arity:
        yield f"{op.opcode} takes {known.arity} operands, not {len(op.operands)}"
        return
    types = [o.type for o in op.operands]
    subject = types[1:] if op.opcode == "select" else types[:1] if op.opcode == "reduce_precision" else types
    kind = _kind(subject[0])
    if kind not in known.kinds or any(t != subject[0] for t in subject):
        yield f"{op.opcode} on {', '.join(types)}"
    if op.opcode == "select" and (types[0] != "pred" or op.type != types[1]):
        yield f"select on {', '.join(types)} gives {op.type}"
    expected = _result(known.result, subject[0])
    if expected is not None and op.type != expected:
        yield f"{op.opcode} on {subject[0]} gives {expected}, not {op.type}"


def _kind(name: str) -> str:
    kind = ELEMENT_TYPES[name].kind
    return _KINDS.get(kind, kind)


def _result(rule: str, operand: str) -> str | None:
    if rule == "same":
        return operand
    if rule == "pred":
        return "pred"
    if rule == "real":
        return element.real if (element := element_type(operand)).kind == "complex" else operand
    return {"f32": "s32", "f64": "s64"}.get(operand) if rule == "bits" else None
