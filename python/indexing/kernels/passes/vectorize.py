"""Vectorization of memory accesses: accesses of a loop over lanes become vector loads in front of the loop, and vector stores
after it.

The loads of a buffer whose indices are constant distances from a loop-invariant `anchor`, one for each lane, are loaded
together, each element once, in aligned vectors, whole ones where these are fewer. Stores are merged if lanes store to
neighbouring elements, atomic updates if targets may update such elements together. Accesses in a branch whose conditions are
the same for all lanes are merged in a branch with the same conditions; where some lanes surely take a branch, as all but those
at the edge of an array, it is written twice: their loads are merged. Innermost loops of one thread that load neighbours become
loops over lanes, long ones in parts. Then, outside of these loops, loads from global memory in one block, as of both elements
of a pair, are merged in the same way, as of one lane.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import prod
from typing import TypeAlias

from indexing._core import Interval, SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import Names
from indexing.kernels.ir.memory import VECTOR_BYTES, Memory, moves, orders_memory, vector_elements
from indexing.kernels.ir.traversal import (
    loads_of,
    may_leave,
    replace_loops,
    rewrite_statement,
    rewrite_value,
    same_block,
    subvalues,
    values_of,
)
from indexing.kernels.ir.types import decoded, encoded, storage_type
from indexing.kernels.passes.lanes import LaneIndices, Place, lane_count

MAX_SPAN = 256  # a local buffer has at most so many elements; those that nothing reads take no register
MAX_ITERATIONS = 16  # a loop without lanes of at most so many is written out, so that vectors stay in registers
MAX_WRITTEN = 512  # it becomes at most so many statements, those of loops over lanes in it once for each lane
STRIPS = (8, 4, 2)  # the lanes of vectors that a longer one loads, if as many divide its iterations
MAX_DIVIDED = 64  # statements of a branch that is written twice, so that the lanes which surely take it load vectors
MAX_HELD = 32  # it loads at most so many elements in front: more take the registers of other threads
#: Atomic updates, and the types of neighbouring elements that targets may update together.
UPDATED_TOGETHER = {"add": ("f32", "f16", "bf16"), "maximum": ("f32", "f64"), "minimum": ("f32", "f64")}
Key: TypeAlias = "tuple[str, SymbolicExpr]"  # a buffer, and an anchor


def vectorize_accesses(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with vector loads and stores of global and shared memory."""
    vectors = _Vectors(kernel)
    body = vectors.one_lane(replace_loops(kernel.body, vectors.loop))
    buffers = (*kernel.buffers, *vectors.buffers)
    return replace(kernel, body=body, buffers=buffers, variables=tuple(vectors.variables))


class _Vectors:
    """The local buffers of vectors that a kernel needs."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.memory = Memory(kernel)
        self.by_name = {b.name: b for b in kernel.buffers}
        self.names = Names(kernel)
        self.buffers: list[ir.Buffer] = []
        written = {m for s in ir.statements(kernel.body) for m in self.memory.written(s)}
        self.constant = {
            b.name for b in kernel.buffers if b.space == "global" and self.memory.of(b.name) not in written
        }

    @property
    def variables(self) -> list[ir.IndexVariable]:
        """The index variables of the kernel, with those of new loops."""
        return self.names.variables

    def loop(self, loop: ir.For) -> Sequence[ir.Statement]:
        return _Lanes(self, loop).rewritten() if lane_count(loop) else self._short(loop)

    def one_lane(self, block: ir.Block) -> ir.Block:
        """A block outside of loops over lanes with its loads merged, and those of the blocks in it."""
        inner = [self._one_lane_inside(s) for s in block]
        runs = (tuple(run) for _, run in groupby(inner, _orders))
        return same_block(block, [s for run in runs for s in self._together(run)])

    def _together(self, run: ir.Block) -> Sequence[ir.Statement]:
        """Neighbouring statements of a block, none of which orders memory, or all, with their loads merged in front."""
        if not self._has_pair(run):
            return run
        loop = ir.For(len(self.variables), constant(0), constant(1), 1, run, lanes=True)
        return _Lanes(self, loop, ("global",)).in_front()

    def _has_pair(self, block: ir.Block) -> bool:
        """Whether the statements of a block, but for those of blocks in it, load twice from an array in global memory."""
        values = (v for s in block if not any(ir.blocks_of(s)) for value in values_of(s) for v in subvalues(value))
        loaded = [v.buffer for v in values if isinstance(v, ir.Load) and self.by_name[v.buffer].space == "global"]
        return len(loaded) > len(set(loaded))

    def _one_lane_inside(self, s: ir.Statement) -> ir.Statement:
        if isinstance(s, ir.For) and not s.lanes:
            body = self.one_lane(s.body)
            return s if body is s.body else replace(s, body=body)
        if isinstance(s, ir.If):
            then, otherwise = self.one_lane(s.then), self.one_lane(s.otherwise)
            is_same = then is s.then and otherwise is s.otherwise
            return s if is_same else replace(s, then=then, otherwise=otherwise)
        return s

    def _short(self, loop: ir.For) -> ir.Block:
        """A loop without one in it, but over lanes, as one over lanes if its iterations load vectors, a long one in parts that
        registers hold.
        """
        lanes = replace(loop, lanes=True)
        if lane_count(lanes) < 2 or _written_out(loop.body) * min(lane_count(lanes), MAX_ITERATIONS) > MAX_WRITTEN:
            return (loop,)
        is_short = lane_count(lanes) <= MAX_ITERATIONS
        return (is_short and self._if_held(lanes)) or self._strips(lanes) or (loop,)

    def _if_held(self, lanes: ir.For) -> ir.Block:
        """A loop over lanes that load vectors, if registers hold them; otherwise nothing."""
        count, variables = len(self.buffers), len(self.variables)
        rewritten = tuple(_Lanes(self, lanes).rewritten())
        names = {b.name for b in self.buffers[count:]}
        held = sum(s.width for s in ir.statements(rewritten) if isinstance(s, ir.Copy) and s.destination in names)
        if 0 < held <= MAX_HELD:
            return rewritten
        del self.buffers[count:], self.variables[variables:]
        return ()

    def _strips(self, lanes: ir.For) -> ir.Block:
        """A loop as one over vectors with one over their lanes in it, if its iterations load neighbours; otherwise nothing."""
        for width in STRIPS:
            strip = replace(lanes, stop=constant(width))
            if lane_count(lanes) % width or lane_count(lanes) == width or not self._loads_neighbours(strip):
                continue
            count, own = len(self.variables), self.variables[lanes.variable]
            steps = lane_count(lanes) // width
            for stop, name in ((steps, own.name), (width, "lane")):
                self.names.add_variable(replace(own, name=name, interval=Interval(0, stop - 1)))
            place = variable(count) * width + variable(count + 1)
            body = self.names.copied(lanes.body, {lanes.variable: place})
            inner = self._if_held(replace(strip, variable=count + 1, body=body))
            if inner:
                return (replace(lanes, variable=count, stop=constant(steps), body=inner, lanes=False),)
            del self.variables[count:]
        return ()

    def _loads_neighbours(self, strip: ir.For) -> bool:
        """Whether the lanes of a loop load neighbouring elements of an array in global memory."""
        index = LaneIndices(self.variables, strip)
        loads = (v for s in ir.statements(strip.body) for v in loads_of(s))
        places = (
            index.place(load.index[0], range(lane_count(strip)))
            for load in loads
            if self.by_name[load.buffer].space == "global"
        )
        return any(place is not None and place.is_run for place in places)

    def local(self, like: ir.Buffer, width: int) -> str:
        """A new local buffer for a vector of the elements of another."""
        name = f"x{len(self.buffers)}"
        self.buffers.append(ir.Buffer(name, like.element_type, (width,), "local"))
        self.by_name[name] = self.buffers[-1]
        return name

    def unit(self, buffer: ir.Buffer, anchor: SymbolicExpr, most: int) -> int:
        """The largest number of elements, a power of two up to `most`, that one instruction may move from an anchor on."""
        unit = min(most & -most, vector_elements(buffer))
        while unit > 1 and not anchor.is_multiple_of(unit):
            unit //= 2
        return unit


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The elements of a buffer that were loaded: their distances from an anchor, and where the local buffer begins."""

    name: str
    first: int
    offsets: frozenset[int]


@dataclass
class _Scope:
    """A block whose statements run under the same conditions for all lanes: vector loads in front of the loop, and vector
    stores after it.
    """

    loaded: dict[Key, tuple[_Loaded, ...]]
    is_conditional: bool = False
    before: list[ir.Statement] = field(default_factory=list)
    after: list[ir.Statement] = field(default_factory=list)


class _Lanes:
    """Vectorizes one loop over lanes."""

    def __init__(self, vectors: _Vectors, loop: ir.For, spaces: Sequence[ir.Space] = ("global", "shared")) -> None:
        self.vectors, self.loop, self.spaces = vectors, loop, spaces
        self.lanes = range(lane_count(loop))
        self.index = LaneIndices(vectors.variables, loop)
        inner = list(ir.statements(loop.body))
        memory = vectors.memory
        written, read = ([set(of(s)) for s in inner] for of in (memory.written, memory.read))
        self.writes = Counter(m for s in inner for m in memory.written(s))
        touching: dict[str, list[ir.Statement]] = {m: [] for m in self.writes}
        for s, *names in zip(inner, written, read, strict=True):
            for name in set().union(*names) & touching.keys():
                touching[name].append(s)
        has_loops = any(isinstance(s, ir.For) for s in inner)
        self.own = {m for m, of in touching.items() if not has_loops and self._is_own(m, of)}
        self.read = set().union(*read) - self.own
        self.orders = any(map(_orders, loop.body))

    def _is_own(self, name: str, touching: Sequence[ir.Statement]) -> bool:
        """Whether each lane loads no element of a memory but that which it stores once, after all loads."""
        memory, store = self.vectors.memory, touching[-1]
        if self.writes[name] != 1 or not isinstance(store, ir.Store):
            return False
        loads = [v for s in touching for v in loads_of(s)]
        places = {v.index for v in loads if memory.of(v.buffer) == name}
        return places <= {store.index} and not any(isinstance(s, ir.CallFunction) or moves(s) for s in touching)

    def rewritten(self) -> Sequence[ir.Statement]:
        if self.orders:
            return (self.loop,)
        scope = _Scope({})
        body = self._scope(self.loop.body, self.lanes, scope)
        rewritten = self.loop if body is self.loop.body else replace(self.loop, body=body)
        return *scope.before, rewritten, *scope.after

    def in_front(self) -> Sequence[ir.Statement]:
        """The body for the only lane, with its loads from global memory, but for those of blocks in it, merged in front."""
        if self.orders:
            return self.loop.body
        scope = _Scope({})
        self._load_together(tuple(s for s in self.loop.body if not any(ir.blocks_of(s))), self.lanes, scope)
        body = [s if any(ir.blocks_of(s)) else self._statement(s, self.lanes, scope) for s in self.loop.body]
        return *scope.before, *body

    def _scope(self, block: ir.Block, lanes: Sequence[int], scope: _Scope) -> ir.Block:
        """A block of some lanes, under conditions that are the same for them, with its loads and stores in `scope`."""
        self._load_together(block, lanes, scope)
        return self._block(block, lanes, scope)

    def _load_together(self, block: ir.Block, lanes: Sequence[int], scope: _Scope) -> None:
        """Load what lies in order in front of the loop."""
        together: dict[Key, list[tuple[int, ...]]] = {}
        for load, place in self._loads(block, lanes):
            together.setdefault((load.buffer, place.anchor), []).append(place.offsets)
        for key, loads in together.items():
            unit = self.vectors.unit(self.vectors.by_name[key[0]], key[1], VECTOR_BYTES)
            times = Counter(at for offsets in loads for at in offsets)
            for near in _clusters(loads, unit):
                if not any(near <= known.offsets for known in scope.loaded.get(key, ())):
                    self._load(key, near, sum(times[at] for at in near), unit, scope)

    def _load(self, key: Key, offsets: frozenset[int], times: int, unit: int, scope: _Scope) -> None:
        """Load the elements at these distances from an anchor, unless that takes as many instructions as one by one: a
        compiler loads each once, but under a condition in each of the `times` that lanes do.
        """
        buffer, anchor = self.vectors.by_name[key[0]], key[1]
        pieces = self._loaded_pieces(key, offsets, unit)
        if len(pieces) >= (times if scope.is_conditional else len(offsets)):
            return
        if max(offsets) - min(offsets) >= MAX_SPAN:
            return
        first = min(offsets) // unit * unit
        name = self.vectors.local(buffer, max(at + width for at, width in pieces) - first)
        scope.loaded[key] = (*scope.loaded.get(key, ()), _Loaded(name, first, offsets))
        for at, width in pieces:
            scope.before.append(ir.Copy(name, constant(at - first), buffer.name, anchor + at, width))

    def _loaded_pieces(self, key: Key, offsets: frozenset[int], unit: int) -> list[tuple[int, int]]:
        """The runs that are loaded: whole vectors, with elements that nobody needs, where these are fewer. A vector that has
        one element of an array has all if the array ends with one, and none of them in another sector.
        """
        buffer = self.vectors.by_name[key[0]]
        pieces = list(_pieces(offsets, unit))
        vectors = sorted({at // unit * unit for at in offsets})
        may_widen = prod(buffer.dimensions) % unit == 0 and buffer.name in self.vectors.constant
        return [(at, unit) for at in vectors] if may_widen and len(vectors) < len(pieces) else pieces

    # ------------------------------------------------------------ loads of a block

    def _loads(self, block: ir.Block, lanes: Sequence[int]) -> Iterator[tuple[ir.Load, Place]]:
        """The loads that all of `lanes` make, and those in branches that some of them take."""
        for s in block:
            if isinstance(s, ir.For):
                continue
            values = s.conditions[:1] if isinstance(s, ir.If) else values_of(s)  # the first is always evaluated
            for load in (v for value in values for v in subvalues(value) if isinstance(v, ir.Load)):
                place = self._place(load, lanes)
                if place is not None:
                    yield load, place
            if isinstance(s, ir.If):
                taken, not_taken, _ = self._divided(s, lanes)
                yield from self._loads(s.then, taken)
                yield from self._loads(s.otherwise, not_taken)

    def _divided(self, s: ir.If, lanes: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
        """The lanes that take either branch, and those of which more than the lane decides: all if none can be told apart."""
        taken = [self.index.decided(s.conditions, lane) for lane in lanes]
        yes, no, unknown = (
            [lane for lane, t in zip(lanes, taken, strict=True) if t is kind] for kind in (True, False, None)
        )
        return (yes, no, unknown) if not unknown or _may_divide(s, unknown) else ([], [], list(lanes))

    def _place(self, load: ir.Load, lanes: Sequence[int]) -> Place | None:
        buffer = self.vectors.by_name[load.buffer]
        memory = self.vectors.memory.of(load.buffer)
        is_kept = buffer.space in self.spaces and (memory not in self.writes or memory in self.own)
        return self.index.place(load.index[0], lanes) if is_kept and len(load.index) == 1 and lanes else None

    # ------------------------------------------------------------ rewriting

    def _block(self, block: ir.Block, lanes: Sequence[int], scope: _Scope) -> ir.Block:
        return same_block(block, [self._statement(s, lanes, scope) for s in block])

    def _statement(self, s: ir.Statement, lanes: Sequence[int], scope: _Scope) -> ir.Statement:
        if isinstance(s, ir.For):
            return s

        def on_value(value: ir.Value) -> ir.Value:
            return self._loaded(value, lanes, scope) if isinstance(value, ir.Load) else value

        if isinstance(s, ir.If):
            return self._branch(s, lanes, scope, rewrite_value(s.conditions[0], on_value))
        rewritten = rewrite_statement(s, on_value)
        if isinstance(rewritten, ir.Store | ir.AtomicUpdate) and lanes is self.lanes:
            return self._merged(rewritten, scope)
        return rewritten

    def _loaded(self, load: ir.Load, lanes: Sequence[int], scope: _Scope) -> ir.Value:
        """The load of an element that was loaded before, from the local buffer."""
        place = self._place(load, lanes)
        if place is None:
            return load
        known = scope.loaded.get((load.buffer, place.anchor), ())
        held = next((k for k in known if k.offsets.issuperset(place.offsets)), None)
        return load if held is None else ir.Load(load.type, held.name, (place.distance - held.first,))

    def _branch(self, s: ir.If, lanes: Sequence[int], scope: _Scope, first: ir.Value) -> ir.If:
        *decided, unknown = self._divided(s, lanes)
        uniform = self.index.uniform(s.conditions) if unknown else None
        if uniform is not None:
            return self._uniform_branch(s, uniform, lanes, scope)
        if len(unknown) == len(lanes):
            return s if first is s.conditions[0] else replace(s, conditions=(first, *s.conditions[1:]))
        then, otherwise = (self._block(b, p, scope) for b, p in zip((s.then, s.otherwise), decided, strict=True))
        if then is s.then and otherwise is s.otherwise:
            return s
        whole = ir.If(s.conditions, then, otherwise)
        if not unknown:
            return whole
        copy = self.vectors.names.copied((s,))
        return ir.If((ir.Within(variable(self.loop.variable), unknown[0], unknown[-1]),), copy, (whole,))

    def _uniform_branch(self, s: ir.If, uniform: tuple[ir.Value, ...], lanes: Sequence[int], scope: _Scope) -> ir.If:
        """A branch that all of `lanes` take or none, with its accesses in a branch with the same conditions."""
        own = [_Scope(dict(scope.loaded), is_conditional=True) for _ in range(2)]
        then, otherwise = (self._scope(b, lanes, o) for b, o in zip((s.then, s.otherwise), own, strict=True))
        if then is s.then and otherwise is s.otherwise:
            return s
        for out, parts in ((scope.before, [o.before for o in own]), (scope.after, [o.after for o in own])):
            if any(parts):
                out.append(ir.If(uniform, *map(tuple, parts)))
        return ir.If(uniform, then, otherwise)

    def _merged(self, s: ir.Store | ir.AtomicUpdate, scope: _Scope) -> ir.Statement:
        """A store or an atomic update of neighbouring elements: the store of a value that a vector instruction writes later."""
        buffer = self.vectors.by_name[s.buffer]
        place = self._written_place(s, buffer)
        if place is None:
            return s
        base, width = place.anchor + place.offsets[0], len(self.lanes)
        unit = self.vectors.unit(buffer, base, width)
        if unit == 1:
            return s
        name = self.vectors.local(buffer, width)
        for k in range(0, width, unit):
            if isinstance(s, ir.Store):
                scope.after.append(ir.Copy(s.buffer, base + k, name, constant(k), unit))
            else:
                scope.after.append(replace(s, index=(base + k,), values=_held(buffer, name, range(k, k + unit))))
        value = s.value if isinstance(s, ir.Store) else encoded(buffer.element_type, *s.values)
        return ir.Store(name, (variable(self.loop.variable),), value)

    def _written_place(self, s: ir.Store | ir.AtomicUpdate, buffer: ir.Buffer) -> Place | None:
        """The neighbours that lanes write together; None if they can't, or the loop accesses the memory elsewhere."""
        if isinstance(s, ir.AtomicUpdate) and buffer.element_type not in UPDATED_TOGETHER.get(s.opcode, ()):
            return None
        memory = self.vectors.memory.of(s.buffer)
        if self.writes[memory] > 1 or memory in self.read or buffer.space not in ("global", "shared"):
            return None
        place = self.index.place(s.index[0], self.lanes) if len(s.index) == 1 else None
        return place if place is not None and place.is_run else None


def _written_out(block: ir.Block) -> int:
    """The statements of a block with its loops over lanes written out; more than MAX_WRITTEN if there are other loops in it."""
    count = 0
    for s in block:
        lanes = lane_count(s) if isinstance(s, ir.For) else 1
        count += sum(map(_written_out, ir.blocks_of(s))) * lanes + 1 if lanes else MAX_WRITTEN + 1
    return count


def _orders(s: ir.Statement) -> bool:
    """Whether no load may be moved past a statement, even from an array that nobody writes."""
    return any(map(orders_memory, ir.statements((s,)))) or may_leave((s,))


def _may_divide(s: ir.If, lanes: Sequence[int]) -> bool:
    """Whether a branch may be written for these lanes, which are neighbours, and once more for the others."""
    is_run = lanes[-1] - lanes[0] + 1 == len(lanes)
    is_small = sum(1 for _ in ir.statements((s,))) <= MAX_DIVIDED
    return is_run and is_small and all(isinstance(c, ir.Within) for c in s.conditions)


def _held(buffer: ir.Buffer, name: str, places: Iterable[int]) -> tuple[ir.Value, ...]:
    """The values of a buffer's elements that a local buffer holds."""
    kind = buffer.element_type
    return tuple(decoded(kind, ir.Load(storage_type(kind), name, (constant(k),))) for k in places)


def _clusters(loads: Iterable[tuple[int, ...]], unit: int) -> list[frozenset[int]]:
    """The offsets of loads in groups: those of one load, and those with no gap of more than a vector."""
    groups: list[frozenset[int]] = []
    for offsets in loads:
        near = [g for g in groups if any(abs(a - b) <= unit for a in g for b in offsets)]
        groups = [g for g in groups if g not in near] + [frozenset(offsets).union(*near)]
    return sorted(groups, key=min)


def _pieces(offsets: Iterable[int], unit: int) -> Iterator[tuple[int, int]]:
    """The aligned runs of up to `unit` neighbouring elements, powers of two, that have exactly these offsets."""
    left = set(offsets)
    while left:
        at, width = min(left), unit
        while at % width or not left.issuperset(range(at, at + width)):
            width //= 2
        yield at, width
        left.difference_update(range(at, at + width))
