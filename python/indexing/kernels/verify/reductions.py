"""Validation of the lowering of group reductions: each group's value combines the values of all of its threads, each once.

The statements that replace a reduction are run for all threads of a block, on values that only say whose they are: the
variable, and a number with one digit for each thread, which a combiner adds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import prod
from typing import Any, TypeAlias

from indexing._core import SymbolicExpr
from indexing.errors import IndexingError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.passes.group_loops import array_of, pairs_of
from indexing.kernels.verify.check import Check
from indexing.lazy import np

CONVERSIONS = ("convert", "decode", "encode", "ne")  # types of values and of memory differ: predicates are bytes
BITS = 11  # a digit's width: a block has at most 1,024 threads, so that none overflows when all count one thread
AXES, WARP, INFINITE = 3, 32, 1 << 63
Owners: TypeAlias = "tuple[str, int] | None"  # the variable and the threads whose values are combined; None: of nobody


def check_reductions(before: ir.Kernel, after: ir.Kernel, name: str, is_sequential: bool) -> Iterator[Check]:
    """One check for each run of adjacent reductions that the pass `name` has replaced."""
    if before is after or not any(isinstance(s, ir.GroupReduce) for s in ir.statements(before.body)):
        return
    if any(isinstance(s, ir.GroupReduce) for s in ir.statements(after.body)):
        return
    try:
        pairs = [*(_sequential_runs(before, after) if is_sequential else _replaced_runs(before.body, after.body))]
    except IndexingError as error:
        yield Check("reduction", name, "refuted", str(error))
        return
    for run, replacement in pairs:
        subject = f"{name}: {', '.join(n for r in run for n in r.names)}"
        try:
            fault = _fault(before, after, run, replacement, is_sequential)
        except IndexingError as error:
            yield Check("reduction", subject, "open", str(error))
        else:
            yield Check("reduction", subject, "refuted" if fault else "proved", fault)


# ---------------------------------------------------------------- which statements replace which reductions

Run: TypeAlias = "list[ir.GroupReduce]"


def _replaced_runs(old: ir.Block, new: ir.Block) -> Iterator[tuple[Run, list[ir.Statement]]]:
    """Runs of adjacent reductions, each with the statements in their place; all other statements must be the same."""
    rest = list(new)
    run: Run = []
    for number, s in enumerate(old):
        if isinstance(s, ir.GroupReduce):
            run.append(s)
            if number + 1 < len(old) and isinstance(old[number + 1], ir.GroupReduce):
                continue
            following = old[number + 1] if number + 1 < len(old) else None
            replacement: list[ir.Statement] = []
            while rest and not (following is not None and _is_like(following, rest[0])):
                replacement.append(rest.pop(0))
            yield run, replacement
            run = []
        elif not rest or not _is_like(s, rest[0]):
            raise IndexingError("a statement beside the reductions is another")
        else:
            t = rest.pop(0)
            for own, others in zip(ir.blocks_of(s), ir.blocks_of(t), strict=True):
                yield from _replaced_runs(own, others)
    if any(not isinstance(s, ir.Barrier) for s in rest):
        raise IndexingError("there are more statements beside the reductions")


def _is_like(s: ir.Statement, t: ir.Statement) -> bool:
    """Whether a statement is another, but for the reductions in it."""
    if not any(isinstance(inner, ir.GroupReduce) for inner in ir.statements((s,))):
        return s == t
    if isinstance(s, ir.For) and isinstance(t, ir.For):
        return (s.variable, s.start, s.stop, s.step) == (t.variable, t.start, t.stop, t.step)
    return isinstance(s, ir.If) and isinstance(t, ir.If) and s.conditions == t.conditions


def _sequential_runs(before: ir.Kernel, after: ir.Kernel) -> Iterator[tuple[Run, list[ir.Statement]]]:
    """Each reduction with the statements, outside of loops over threads, that write the arrays of its names."""
    reductions = [s for s in ir.statements(before.body) if isinstance(s, ir.GroupReduce)]
    units = list(_units(after.body, {array for r in reductions for array in _arrays(r)}))
    for r in reductions:
        own = _arrays(r)
        while units and not units[0]:
            units.pop(0)
        replacement: list[ir.Statement] = []
        while units and units[0] and _written(units[0]) <= own:
            replacement += units.pop(0)
        yield [r], replacement
    if any(units):
        raise IndexingError("there are more statements than the reductions need")


def _arrays(r: ir.GroupReduce) -> set[str]:
    """The arrays that a reduction's values are kept in."""
    return {array(n) for n in r.names for array in (array_of, pairs_of)}


def _units(block: ir.Block, arrays: set[str]) -> Iterator[list[ir.Statement]]:
    """The loops, and the calls with the stores after them, that write the arrays; nothing for other statements."""
    unit: list[ir.Statement] = []
    for s in block:
        is_store = isinstance(s, ir.Store) and s.buffer in arrays
        if unit and not is_store:
            yield unit
            unit = []
        if isinstance(s, ir.CallFunction) or is_store:
            unit.append(s)
        elif isinstance(s, ir.For) and not _has_thread_loop(s) and set() < _written([s]) <= arrays:
            yield [s]
        else:
            yield []
            if not (isinstance(s, ir.For) and s.variable < AXES):
                for inner in ir.blocks_of(s):
                    yield from _units(inner, arrays)
            yield []
    yield unit


def _has_thread_loop(s: ir.Statement) -> bool:
    return any(isinstance(t, ir.For) and t.variable < AXES for t in ir.statements((s,)))


def _written(unit: Sequence[ir.Statement]) -> set[str]:
    return {t.buffer for t in ir.statements(tuple(unit)) if isinstance(t, ir.Store)}


# ---------------------------------------------------------------- what they compute


def _fault(
    kernel: ir.Kernel, after: ir.Kernel, run: Run, replacement: Sequence[ir.Statement], is_sequential: bool
) -> str:
    """The reason why the statements do not compute the reductions; empty if they do."""
    threads = prod(kernel.block)
    local = {b.name for b in after.buffers if b.space == "local"} if not is_sequential else set()
    combining = _Combining(len(after.variables), 1 if is_sequential else threads, local)
    given = [1 << (BITS * t) for t in range(threads)]
    for n in (n for r in run for n in r.names):
        own: list[Owners] = [(n, digits) for digits in given]
        if is_sequential:
            combining.memory[array_of(n)] = dict(enumerate(own))
        else:
            combining.names[n] = own
    combining.run(replacement, range(combining.threads))
    for r in run:
        combined = sum(given[k * r.distance] for k in range(r.threads))  # in the group of thread 0
        for n in r.names:
            values = combining.memory[array_of(n)] if is_sequential else dict(enumerate(combining.names[n]))
            for t in range(threads):
                number = t // r.distance % r.threads
                first = t - number * r.distance
                if (number == 0 or r.to_all) and values[t] != (n, combined << BITS * first):
                    return f"{n} of thread {t} is not the combination of its group's values"
    return ""


class _Combining:
    """The values of names, for each thread, and of memory, where statements are run in order for all threads."""

    def __init__(self, variables: int, threads: int, local: Collection[str]) -> None:
        """Start without values; with one thread, `threads` is 1. Each thread has its own `local` buffers."""
        self.threads, self.local = threads, local
        self.places: list[Any] = [0] * variables
        self.places[0] = np.arange(threads) if threads > 1 else 0
        self.names: dict[str, list[Owners]] = {}
        self.memory: dict[str, dict[int, Owners]] = {}  # those of a local buffer one thread after the other

    def run(self, block: Iterable[ir.Statement], active: Sequence[int]) -> None:
        """Run statements for the active threads."""
        for s in block:
            match s:
                case ir.Let(name, value) | ir.Assign(name, value):
                    self._name(name, self._values(value), active)
                case ir.Store(buffer, (index,), value):
                    self._store(buffer, index, self._values(value), active)
                case ir.Copy(destination, place, source, other, width):
                    for k in range(width):
                        self._store(destination, place + k, self._loaded(source, other + k), active)
                case ir.Shuffle(name, value, offset, group):
                    self._name(name, self._shuffled(self._values(value), offset, group), active)
                case ir.CallFunction(names, _, (), arguments):
                    self._combine(names, [self._values(a) for a in arguments], active)
                case ir.If(conditions, then, ()) if all(isinstance(c, ir.Within) for c in conditions):
                    inside = set(active).intersection(*map(self._where, conditions))
                    self.run(then, sorted(inside))
                case ir.For(counter, start, stop, step, body):
                    for turn in range(self._cells(start)[0], self._cells(stop)[0], step):
                        self.places[counter] = turn
                        self.run(body, active)
                case ir.Barrier():
                    pass
                case _:
                    raise IndexingError(f"a {type(s).__name__} in a reduction is not understood")

    def _combine(self, names: Sequence[str], given: Sequence[list[Owners]], active: Sequence[int]) -> None:
        half = len(given) // 2
        for name, a, b in zip(names, given[:half], given[half:], strict=True):
            both = [_together(x, y) for x, y in zip(a, b, strict=True)]
            self._name(name, both, active)

    def _name(self, name: str, values: Sequence[Owners], active: Iterable[int]) -> None:
        own = self.names.setdefault(name, [None] * self.threads)
        for t in active:
            own[t] = values[t]

    def _shuffled(self, values: Sequence[Owners], offset: int, group: int) -> list[Owners]:
        if group:
            return [values[t // group * group] for t in range(self.threads)]
        lanes = range(self.threads)
        return [values[t + offset] if t % WARP + offset < WARP and t + offset in lanes else None for t in lanes]

    def _values(self, value: ir.Value) -> list[Owners]:
        match value:
            case ir.Ref(_, name):
                return list(self.names.get(name, [None] * self.threads))
            case ir.Load(_, buffer, (index,)):
                return self._loaded(buffer, index)
            case ir.Op(opcode, _, (operand, *others)) if opcode in CONVERSIONS:
                if all(isinstance(o, ir.Constant) for o in others):
                    return self._values(operand)
        raise IndexingError("a value in a reduction is not understood")

    def _store(self, buffer: str, index: SymbolicExpr, values: Sequence[Owners], active: Iterable[int]) -> None:
        cells = self._places(buffer, index)
        self.memory.setdefault(buffer, {}).update({cells[t]: values[t] for t in active})

    def _loaded(self, buffer: str, index: SymbolicExpr) -> list[Owners]:
        cells = self.memory.get(buffer, {})
        return [cells.get(c) for c in self._places(buffer, index)]

    def _places(self, buffer: str, index: SymbolicExpr) -> list[int]:
        """The cells of a buffer for each thread; those of local buffers are one thread's alone."""
        cells = self._cells(index)
        return [c * self.threads + t for t, c in enumerate(cells)] if buffer in self.local else cells

    def _cells(self, index: SymbolicExpr) -> list[int]:
        cells = index.evaluate(self.places)
        return [cells] * self.threads if isinstance(cells, int) else cells.tolist()

    def _where(self, condition: ir.Value) -> set[int]:
        """The threads for which a condition holds."""
        assert isinstance(condition, ir.Within)
        low = -INFINITE if condition.lower is None else condition.lower
        high = INFINITE if condition.upper is None else condition.upper
        return {t for t, place in enumerate(self._cells(condition.expression)) if low <= place <= high}


def _together(a: Owners, b: Owners) -> Owners:
    """The combination of two values; nobody's if they are of two variables."""
    return (a[0], a[1] + b[1]) if a is not None and b is not None and a[0] == b[0] else None
