"""Index variables that are data: their ranges, and the variables on which they depend."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from indexing._core import Interval, SymbolicExpr
from indexing.errors import IndexingError, Overflow
from indexing.kernels.ir.accesses import INT64, Accesses, Context
from indexing.kernels.ir.nodes import Buffer, Constant, IndexValue, Kernel, Load, Op, Ref, Value, Within
from indexing.kernels.ir.traversal import subvalues


def value_range(body: Accesses, value: Value, context: Context) -> Interval:
    """An interval that contains an integer value."""
    whole = limits(value.type)
    match value:
        case Constant(_, int(number)):
            return Interval(int(number), int(number))
        case IndexValue(expression, _):
            interval = context.at(expression).range(body.intervals)
        case Ref(_, name) if name in body.names:
            return value_range(body, *body.names[name])
        case Op(opcode, _, operands) if opcode in _KNOWN:
            parts = [value_range(body, o, context) for o in operands if o.type != "pred"]
            try:
                interval = _KNOWN[opcode](*parts)
            except Overflow:  # 64-bit sums wrap
                return whole
        case _:
            return whole
    return interval if whole.contains(interval) else whole


def index_of(body: Accesses, value: Value, context: Context) -> SymbolicExpr | None:
    """The index expression that an integer value is; None for others."""
    match value:
        case IndexValue(expression, _):
            return context.at(expression)
        case Ref(_, name) if name in body.names:
            return index_of(body, *body.names[name])
        case Op("convert", kind, (operand,)):
            inner = index_of(body, operand, context)
            known = None if inner is None else value_range(body, operand, context)
            return inner if known is not None and limits(kind).contains(known) else None
    return None


def limits(kind: str) -> Interval:
    """The interval of the values of an integer type, within int64."""
    if kind == "pred":
        return Interval(0, 1)
    if kind[0] not in "su" or kind == "u64":
        return INT64
    bits = int(kind[1:])
    return Interval(-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else Interval(0, (1 << bits) - 1)


def _clamped(low: Interval, x: Interval, high: Interval) -> Interval:
    return Interval(min(max(x.lower, low.lower), high.lower), min(max(x.upper, low.upper), high.upper))


def _sum(a: Interval, b: Interval) -> Interval:
    return Interval(a.lower + b.lower, a.upper + b.upper)


def _bits(a: Interval, b: Interval) -> Interval:
    masks = [x.upper for x in (a, b) if x.lower >= 0]
    return Interval(0, min(masks)) if masks else INT64


_KNOWN: dict[str, Callable[..., Interval]] = {
    "clamp": _clamped,
    "convert": lambda x: x,
    "maximum": lambda a, b: Interval(max(a.lower, b.lower), max(a.upper, b.upper)),
    "minimum": lambda a, b: Interval(min(a.lower, b.lower), min(a.upper, b.upper)),
    "and": _bits,
    "select": lambda a, b: Interval(min(a.lower, b.lower), max(a.upper, b.upper)),
    "add": _sum,
    "sub": lambda a, b: _sum(a, Interval(-b.upper, -b.lower)),
}


class Dependence:
    """The indices, and the elements of memory that the kernel never writes, on which index variables of data depend.

    Threads that agree on these have the same value.
    """

    def __init__(self, kernel: Kernel, body: Accesses) -> None:
        aliased = {b.alias_of for b in kernel.buffers}
        self.body = body
        self.buffers: dict[str, Buffer] = {
            b.name: b for b in kernel.buffers if b.role == "input" and b.name not in aliased
        }

    def used(self, context: Context, expressions: Iterable[SymbolicExpr]) -> tuple[int, ...]:
        """The data variables that expressions and constraints use, in program order."""
        everything = [*expressions, *(e for e, _ in context.constraints)]
        named = {v for e in everything for v in e.used_variables()}
        return tuple(v for v in context.data if v in named)

    def places(self, variables: Iterable[int]) -> list[SymbolicExpr]:
        """The indices on which data variables depend; IndexingError if they depend on anything else."""
        indices: dict[SymbolicExpr, None] = {}
        for number in variables:
            value, context = self.body.data[number]
            self._collect(value, context, indices)
        return [e for e in indices if e.constant_value is None]

    def _collect(self, value: Value, context: Context, indices: dict[SymbolicExpr, None]) -> None:
        for part in subvalues(value):
            match part:
                case IndexValue(expression) | Within(expression):
                    indices[context.at(expression)] = None
                case Load(_, buffer, index):
                    if buffer not in self.buffers:
                        raise IndexingError(f"an index is read from {buffer}, which the kernel writes")
                    indices.update(dict.fromkeys(map(context.at, index)))
                case Ref(_, name) if name in self.body.assigned:
                    self._collect_assigned(name, indices)
                case Ref(_, name):
                    if name not in self.body.names:
                        raise IndexingError(f"an index is {name}, the result of a function")
                    self._collect(*self.body.names[name], indices)

    def _collect_assigned(self, name: str, indices: dict[SymbolicExpr, None]) -> None:
        """Add what the values of a variable depend on, and the conditions under which it gets them."""
        (_, outer), *_ = values = self.body.assigned[name]
        for value, context in values:
            if context.loops != outer.loops or not (context.is_certain or context == outer):
                raise IndexingError(f"an index is {name}, which a loop or a condition on data changes")
            indices.update(dict.fromkeys(e for e, i in context.constraints if (e, i) not in outer.constraints))
            self._collect(value, context, indices)

    def promises(self, variables: Iterable[int]) -> set[str]:
        """The caller's promises about the variables."""
        return {self.body.promises.get(v, "") for v in variables}
