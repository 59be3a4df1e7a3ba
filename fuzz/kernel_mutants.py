"""Mutants of kernels: one fault each, made in all places where it can be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

import indexing as ix
from indexing._core import Interval, constant
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.accesses import BLOCK_X
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import rewrite_blocks, rewrite_statement

Moving = ir.Copy | ir.CopyAsync | ir.LoadMatrices | ir.MatrixMultiply | ir.MultiplyPanels
PROBE = ir.Buffer("probe", "s32", (1,), "global", "scratch", 99)
REACHED = ir.Store("probe", (constant(0),), ir.Constant("s32", 1))
FIRST = "first value of "


@dataclass(frozen=True)
class Mutant:
    """A kernel with one fault. In `probes` a store to the buffer `probe` stands where the fault makes a difference."""

    kind: str
    what: str
    kernel: ir.Kernel
    probes: tuple[ir.Kernel, ...] = ()
    unread: ir.Kernel | None = None


# ---------------------------------------------------------------- where


@dataclass(frozen=True)
class Fault:
    """A block with a fault, and the block with probes in its place. `unread`: the block as it was, with poison in what the
    fault may change unseen: variables of the threads that a weaker condition lets in, memory that a constant only fills.
    """

    kind: str
    what: str
    block: ir.Block
    probes: tuple[ir.Block, ...] = ()
    unread: ir.Block | None = None

    def within(self, wrap: Callable[[ir.Block], ir.Block]) -> Fault:
        """The fault of a block around it."""
        unread = None if self.unread is None else wrap(self.unread)
        return Fault(self.kind, self.what, wrap(self.block), tuple(map(wrap, self.probes)), unread)


Change = Callable[[ir.Statement], "Iterator[Fault]"]


def in_block(block: ir.Block, change: Change) -> Iterator[Fault]:
    """All changes of one statement of a block, or of a block within."""
    for k, s in enumerate(block):

        def here(statements: ir.Block, k: int = k) -> ir.Block:
            return (*block[:k], *statements, *block[k + 1 :])

        for fault in change(s):
            yield replace(fault, probes=fault.probes or ((REACHED, s),)).within(here)
        names = ("body",) if isinstance(s, ir.For) else ("then", "otherwise") if isinstance(s, ir.If) else ()
        for name in names:

            def around(body: ir.Block, s: ir.Statement = s, name: str = name) -> ir.Block:
                return here((replace(s, **{name: body}),))

            for fault in in_block(getattr(s, name), change):
                yield fault.within(around)


def mutants(kernel: ir.Kernel) -> Iterator[Mutant]:
    """All mutants of a kernel."""
    buffers = (*kernel.buffers, PROBE)
    for change in (_changes, lambda s: _moved_stores(kernel, s)):
        for f in in_block(kernel.body, change):
            probes = tuple(replace(kernel, body=p, buffers=buffers) for p in f.probes)
            unread = None if f.unread is None else replace(kernel, body=f.unread)
            yield Mutant(f.kind, f.what, replace(kernel, body=f.block), probes, unread)
    yield from _intervals(kernel)
    for k, function in enumerate(kernel.functions):
        for f in in_block(function.body, _changes):
            functions = (*kernel.functions[:k], replace(function, body=f.block), *kernel.functions[k + 1 :])
            yield Mutant(f.kind, f"{function.name}: {f.what}", replace(kernel, functions=functions))


# ---------------------------------------------------------------- what


def _changes(s: ir.Statement) -> Iterator[Fault]:
    if isinstance(s, ir.If):
        yield from _conditions(s)
    elif isinstance(s, ir.For):
        for name, by in (("stop", -1), ("stop", 1), ("start", 1)):
            changed = replace(s, **{name: getattr(s, name) + by})
            what = f"{name} {getattr(s, name)} of the loop over {s.variable} by {by}"
            lost = s.start if name == "start" else s.stop - 1 if by < 0 else s.stop
            turn = ir.Within(ix.variable(s.variable) - lost, 0, 0)
            probe = replace(s, stop=s.stop + max(by, 0), body=(ir.If((turn,), _first_effect(s.body)),))
            yield Fault("loop bound", what, (changed,), ((probe,),))
    elif isinstance(s, ir.Barrier):
        yield Fault("barrier", "a barrier less", ())
    elif isinstance(s, ir.WaitCopies):
        yield Fault("wait", "a wait for copies less", ())
    elif isinstance(s, ir.Fence):
        yield Fault("fence", "a fence less", ())
    elif isinstance(s, ir.Store | ir.AtomicUpdate | ir.Assign | Moving):
        name = moves(s)[-1].buffer if isinstance(s, Moving) else s.name if isinstance(s, ir.Assign) else s.buffer
        yield Fault("statement", f"without the {type(s).__name__.lower()} to {name}", (), unread=_filled(s))
    yield from _places(s)
    yield from _values(s)


def _conditions(s: ir.If) -> Iterator[Fault]:
    for k, c in enumerate(s.conditions):
        others = s.conditions[:k], s.conditions[k + 1 :]
        without = (*others[0], *others[1])
        dropped = (replace(s, conditions=without),) if without else s.then
        if not isinstance(c, ir.Within):
            yield Fault("predicate", f"condition {k} dropped", dropped)
            continue
        outside = []
        if c.lower is not None:
            outside.append(ir.Within(c.expression, None, c.lower - 1))
        if c.upper is not None:
            outside.append(ir.Within(c.expression, c.upper + 1, None))
        probes = tuple((_probe(without, o),) for o in outside)
        what = f"condition {k} dropped: {c.expression} in [{c.lower}, {c.upper}]"
        yield Fault("predicate", what, dropped, probes, _with_poison(s))
        for name, by in (("lower", -1), ("lower", 1), ("upper", -1), ("upper", 1)):
            bound = getattr(c, name)
            if bound is None:
                continue
            changed = replace(c, **{name: bound + by})
            edge = max(bound, bound + by) if name == "upper" else min(bound, bound + by)
            probe = _probe(without, ir.Within(c.expression, edge, edge))
            faulty = replace(s, conditions=(*others[0], changed, *others[1]))
            what = f"{name} bound {bound} of {c.expression} by {by}"
            unread = _with_poison(s) if (by > 0) == (name == "upper") else None
            yield Fault("predicate", what, (faulty,), ((probe,),), unread)


def _with_poison(s: ir.If) -> ir.Block | None:
    """The branch, and what it assigns poisoned for all other threads; None where it does more than to assign.

    A store of a constant to a place that is the same for all threads is done as well by more of them.
    """
    poisoned: list[ir.Statement] = []
    for t in ir.statements(s.then):
        if isinstance(t, ir.Assign):
            poisoned.append(ir.Assign(t.name, _poison(t.value.type)))
        elif isinstance(t, ir.Store) and isinstance(t.value, ir.Constant):
            if any(v < BLOCK_X for e in t.index for v in e.used_variables()):
                return None
        elif not isinstance(t, ir.Let | ir.CallFunction):
            return None
    return None if s.otherwise else (replace(s, otherwise=tuple(poisoned)),)


def _poison(kind: str) -> ir.Constant:
    if kind in ("f32", "f64"):
        return ir.Constant(kind, 1e30)
    return ir.Constant(kind, True if kind == "pred" else 77)


def _probe(conditions: tuple[ir.Value, ...], where: ir.Within) -> ir.If:
    return ir.If((*conditions, where), (REACHED,))


def _first_effect(block: ir.Block) -> ir.Block:
    """The probe where a block begins to do something: within the condition that is around all of it."""
    if len(block) == 1 and isinstance(block[0], ir.If) and not block[0].otherwise:
        return (replace(block[0], then=_first_effect(block[0].then)),)
    return (REACHED,)


def _places(s: ir.Statement) -> Iterator[Fault]:
    """Places off by one, of stores and index variables."""
    for by in (-1, 1):
        if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
            for k, e in enumerate(s.index):
                moved = (*s.index[:k], e + by, *s.index[k + 1 :])
                what = f"place in {s.buffer} by {by}"
                yield Fault("index", what, (replace(s, index=moved),), unread=_filled(s))
        elif isinstance(s, Moving):
            for name in (f.name for f in fields(s) if f.name.endswith("_index")):
                moved_copy = replace(s, **{name: getattr(s, name) + by})
                yield Fault(
                    "index", f"{name} of the {type(s).__name__.lower()} to {moves(s)[-1].buffer} by {by}", (moved_copy,)
                )
        elif isinstance(s, ir.LetIndex) and isinstance(s.value, ix.SymbolicExpr):
            yield Fault("index", f"index variable {s.variable} by {by}", (replace(s, value=s.value + by),))


_OTHER = {"add": "sub", "sub": "add", "mul": "add", "maximum": "minimum", "minimum": "maximum", "lt": "ge", "ge": "lt"}


def _values(s: ir.Statement) -> Iterator[Fault]:
    """A load off by one, another constant, another operation."""
    seen: list[ir.Value] = []

    def note(value: ir.Value) -> ir.Value:
        seen.append(value)
        return value

    rewrite_statement(s, note)
    for number, value in enumerate(seen):
        if number + 1 < len(seen) and _is_finite_part(seen[number + 1]):  # whose last operand this is
            continue
        for kind, what, other in _other_values(value):
            kind = f"{FIRST}{s.name}" if isinstance(s, ir.Var) else kind
            count = iter(range(len(seen)))
            changed = rewrite_statement(s, lambda v: other if next(count) == number else v)  # noqa: B023
            yield Fault(kind, what, (changed,), unread=_filled(s) or _named_poison(s))


def _filled(s: ir.Statement) -> ir.Block | None:
    """The store of another constant, in the place of one that may only fill memory: no sum hides it, but a product with the
    zeros that fill the other operand does.
    """
    if isinstance(s, ir.Store) and isinstance(s.value, ir.Constant) and s.value.type != "pred":
        return (replace(s, value=_poison(s.value.type)),)
    return None


def _named_poison(s: ir.Statement) -> ir.Block | None:
    """The statement with poison for what it names: a count of zero elements hides their mean, whatever it is."""
    if isinstance(s, ir.Let) and not s.value.type.startswith("c"):
        return (replace(s, value=_poison(s.value.type)),)
    if isinstance(s, ir.Var) and not s.type.startswith("c"):
        return (replace(s, initial=_poison(s.type)),)
    return None


def _is_finite_part(value: ir.Value) -> bool:
    """Whether a value is `x` if that is finite, else a constant: a shift of exponents, for which any finite number does."""
    match value:
        case ir.Op("select", _, (ir.Op("is_finite", _, (x,)), same, ir.Constant())):
            return x == same
    return False


def _other_values(value: ir.Value) -> Iterator[tuple[str, str, ir.Value]]:
    if isinstance(value, ir.Load):
        for by in (-1, 1):
            for k, e in enumerate(value.index):
                moved = (*value.index[:k], e + by, *value.index[k + 1 :])
                yield "index", f"load of {value.buffer} by {by}", replace(value, index=moved)
    elif isinstance(value, ir.Constant) and not isinstance(value.value, complex):
        other = not value.value if value.type == "pred" else 1 if abs(value.value) == float("inf") else value.value + 1
        yield "constant", f"constant {value.value}", replace(value, value=other)
    elif isinstance(value, ir.Op) and value.opcode in _OTHER and (value.type != "pred" or value.opcode in ("lt", "ge")):
        yield "operation", f"{value.opcode} as {_OTHER[value.opcode]}", replace(value, opcode=_OTHER[value.opcode])


def _moved_stores(kernel: ir.Kernel, s: ir.Statement) -> Iterator[Fault]:
    """A store at the place that counts from the buffer's end, or with two variables exchanged."""
    if isinstance(s, ir.Store | ir.AtomicUpdate) and s.index:
        turned = -s.index[0] + kernel.buffer(s.buffer).size - 1
        if not _fills(kernel, s):
            kind = "store's index" if kernel.buffer(s.buffer).role == "output" else "part"
            what = f"place {s.index[0]} in {s.buffer} from the end"
            yield Fault(kind, what, (replace(s, index=(turned,)),), unread=_filled(s))
        used = s.index[0].used_variables()
        if len(used) > 1:
            swapped = [ix.variable(k) for k in range(max(used) + 1)]
            a, b = used[:2]
            swapped[a], swapped[b] = swapped[b], swapped[a]
            place = s.index[0].replace_variables(swapped)
            yield Fault("store's index", f"variables {a} and {b} of {s.buffer}", (replace(s, index=(place,)),))


def _fills(kernel: ir.Kernel, s: ir.Store | ir.AtomicUpdate) -> bool:
    """Whether a store gives all elements of its buffer the same constant, in a loop; then their order is the same."""
    used = s.index[0].used_variables()
    size = kernel.buffer(s.buffer).size
    return (
        isinstance(s, ir.Store)
        and isinstance(s.value, ir.Constant)
        and s.index[0] in [ix.variable(k) for k in used]
        and kernel.variables[used[0]].interval == Interval(0, size - 1)
    )


def _intervals(kernel: ir.Kernel) -> Iterator[Mutant]:
    """Intervals of index variables that say too much, or too little."""
    for k, v in enumerate(kernel.variables):
        low, high = v.interval.lower, v.interval.upper
        for a, b, edge in ((low, high - 1, high), (low + 1, high, low), (low, high + 1, high + 1)):
            if a <= b and v.kind != "thread":
                changed = replace(v, interval=Interval(a, b))
                variables = (*kernel.variables[:k], changed, *kernel.variables[k + 1 :])
                what = f"{v.name} in [{a}, {b}]"
                yield Mutant("interval", what, replace(kernel, variables=variables), (_with_value(kernel, k, edge),))


def _with_value(kernel: ir.Kernel, variable: int, value: int) -> ir.Kernel:
    """A probe wherever an index variable has a value."""
    probe = ir.If((ir.Within(ix.variable(variable), value, value),), (REACHED,))

    def on_block(block: ir.Block) -> ir.Block:
        out: list[ir.Statement] = []
        for s in block:
            is_loop = isinstance(s, ir.For) and s.variable == variable
            out.append(replace(s, body=(probe, *s.body)) if is_loop else s)
            if isinstance(s, ir.LetIndex) and s.variable == variable:
                out.append(probe)
        return tuple(out)

    return replace(kernel, body=rewrite_blocks(kernel.body, on_block), buffers=(*kernel.buffers, PROBE))
