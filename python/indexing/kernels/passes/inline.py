"""Inlining of functions that are called once, and of cheap ones.

Functions that are called several times and do more work stay, so that the kernel's size is linear in the graph: inlining one
adds at most MAX_COPIED statements, or MAX_COPIED_LOADING if it loads elements, which callers then load as vectors. On targets
with threads, those that load and compute by operators only are inlined beyond that, also into each other as the steps of a
scan are, until MAX_ADDED statements are added in all: in a call, each lane loads alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf

from indexing._core import Interval
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import Copying, Names
from indexing.kernels.ir.opcodes import OPERATORS
from indexing.kernels.ir.traversal import all_values, replace_statements

MAX_DEPTH = 4  # nested blocks of an inlined function; otherwise a chain of functions could nest without bound
MAX_CHEAP = 12  # statements of a cheap function, over all iterations of its loops; it calls none
MAX_COPIED = 96  # inlining a function adds at most so many to all of its callers
MAX_COPIED_LOADING = 256  # one that loads elements
MAX_ADDED = 8192  # statements that further copies of functions add to a kernel
MAX_ADDED_DEPTH = 24  # nested blocks of a function that is inlined further


def inline_functions(kernel: ir.Kernel, has_threads: bool = False) -> ir.Kernel:
    """The kernel with functions called once, and cheap ones, inlined; if it `has_threads`, also others that load."""
    calls = Counter(
        s.function for f in ir.bodies(kernel) for s in ir.statements(f.body) if isinstance(s, ir.CallFunction)
    )
    combiners = {s.combiner for s in ir.statements(kernel.body) if isinstance(s, ir.GroupReduce | ir.AtomicUpdate)}
    done: dict[str, ir.Function] = {}
    inlined: set[str] = set()
    left: float = MAX_ADDED
    for function in kernel.functions:
        names = Names(function)
        variables, body = _inlined(names, function.body, done, inlined)
        done[function.name] = replace(function, variables=variables, body=body)
        if depth(body) <= MAX_DEPTH and (calls[function.name] == 1 or _is_cheap(body, calls[function.name])):
            inlined.add(function.name)
        elif has_threads and depth(body) <= MAX_ADDED_DEPTH and _loads(body) and _is_short_to_write(body):
            added = _size(body) * (calls[function.name] - 1)
            if added <= left:
                inlined.add(function.name)
                left -= added
    variables, body = _inlined(Names(kernel), kernel.body, done, inlined)
    kept = tuple(f for f in done.values() if f.name not in inlined or f.name in combiners)
    return replace(kernel, functions=kept, variables=variables, body=body)


def depth(body: ir.Block) -> int:
    """The depth of nested blocks."""
    return 1 + max((depth(b) for s in body for b in ir.blocks_of(s)), default=0)


def _is_cheap(body: ir.Block, calls: int) -> bool:
    size = _size(body)
    return size <= MAX_CHEAP or size * (calls - 1) <= (MAX_COPIED_LOADING if _loads(body) else MAX_COPIED)


def _loads(body: ir.Block) -> bool:
    values = (v for s in ir.statements(body) for v in all_values(s))
    return any(isinstance(v, ir.Load) for v in values)


def _is_short_to_write(body: ir.Block) -> bool:
    """Whether targets write each statement as a few operators, and none as a function such as a logarithm."""
    values = (v for s in ir.statements(body) for v in all_values(s))
    return all(v.opcode in OPERATORS for v in values if isinstance(v, ir.Op))


def _size(body: ir.Block) -> float:
    """The number of statements that compute something, those of loops as often as they run; infinite with calls."""
    total = 0.0
    for s in body:
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Ref):
            continue
        turns = ir.iterations_of(s) if isinstance(s, ir.For) else 1
        inner = sum(map(_size, ir.blocks_of(s))) if not isinstance(s, ir.If) or _may_hold(s) else _size(s.otherwise)
        total += inf if turns is None or isinstance(s, ir.CallFunction) else 1 + turns * inner
    return total


def _may_hold(branch: ir.If) -> bool:
    """Whether no condition is false for a constant, as for all parts but one of a concatenation of indices."""
    of_constants = ((c, c.expression.constant_value) for c in branch.conditions if isinstance(c, ir.Within))
    return not any(n is not None and c.decided(Interval(n, n)) is False for c, n in of_constants)


def _inlined(
    names: Names, body: ir.Block, functions: dict[str, ir.Function], inlined: set[str]
) -> tuple[tuple[ir.IndexVariable, ...], ir.Block]:
    def on_statement(s: ir.Statement) -> Sequence[ir.Statement]:
        if isinstance(s, ir.CallFunction) and s.function in inlined:
            return _body(functions[s.function], s, names)
        return (s,)

    inlined_body = replace_statements(body, on_statement)
    return tuple(names.variables), inlined_body


def _body(function: ir.Function, call: ir.CallFunction, names: Names) -> list[ir.Statement]:
    """The function's body at a call, followed by definitions of the names of its results."""
    places = dict(zip(function.index, call.index, strict=True))
    values = {p.name: a for p, a in zip(function.parameters, call.arguments, strict=True)}
    copy = Copying(names, function.variables, function.body, places, values)
    results = zip(call.names, function.results, strict=True)
    return [*copy.body, *(ir.Let(name, copy.value(r)) for name, r in results)]
