"""Composition of `OperandIndexing`: one map after another, with runtime values, replicas and exactness kept right.

Runtime values are carried as further results of one joint map, so that composition, simplification and renumbering
act on the map and on its values alike, and each variable keeps its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import IndexingMap, SymbolicMap, compose, variable
from indexing.indexing_analysis.constant_folding import fold_known
from indexing.indexing_analysis.joint_maps import Joint, Places, Read, Source
from indexing.ops.op import Exactness, OperandIndexing, RuntimeValue, join_reasons

if TYPE_CHECKING:
    from indexing.hlo import Instruction

_ORDER: tuple[Exactness, ...] = ("exact", "over-approximate", "unknown")
# A joint map as simple as it is before anything is known of its values, and taken apart (`Joint.apart`).
Known: TypeAlias = "tuple[Joint, tuple[IndexingMap, tuple[tuple[int, Read], ...]]]"
MAX_PIECES = 16  # exact pieces beyond this number are not carried on; the bound that they refine is


def compose_indexing(first: OperandIndexing, second: OperandIndexing) -> OperandIndexing:
    """`second` after `first`: from first's index to second's element, simplified, unused symbols removed.

    Variables: ranges and runtimes of `second`, then those of `first`. As exact as the less exact of the two.
    """
    if first.runtime_values or second.runtime_values or first.pieces is not None or second.pieces is not None:
        return _compose_indexing(first, second)
    return _composed_indexing(first, second)


class Compositions:
    """The compositions of a module's maps, each computed once; equal ones are one object, so that most are found by identity.

    Those with runtime values name instructions: they are kept as long as their module only.
    """

    __slots__ = ("_by_content", "_by_identity", "_different")

    def __init__(self) -> None:
        """None so far."""
        self._by_identity: dict[tuple[int, int], tuple[OperandIndexing, OperandIndexing, OperandIndexing]] = {}
        self._by_content: dict[tuple[OperandIndexing, OperandIndexing], OperandIndexing] = {}
        self._different: dict[OperandIndexing, OperandIndexing] = {}

    def compose(self, first: OperandIndexing, second: OperandIndexing) -> OperandIndexing:
        """The map as `compose_indexing` gives it."""
        identity = (id(first), id(second))
        known = self._by_identity.get(identity)
        if known is not None:
            return known[0]
        found = self._by_content.get((first, second))
        if found is None:
            found = compose_indexing(first, second)
            found = self._by_content[first, second] = self._different.setdefault(found, found)
        self._by_identity[identity] = found, first, second  # which live on, or others might get their identities
        return found


def _compose_indexing(first: OperandIndexing, second: OperandIndexing) -> OperandIndexing:
    exactness, reason = first.exactness, first.reason
    if second.exactness != "exact" or second.reason:
        exactness = max(first.exactness, second.exactness, key=_ORDER.index)
        reason = join_reasons(first.reason, second.reason)
    if first.map.is_undefined or second.map.is_undefined:
        return OperandIndexing(IndexingMap.undefined(), (), "unknown", reason, None, second.leaf)
    if first.map.is_known_empty or second.map.is_known_empty:
        empty = first.map if first.map.is_known_empty else second.map
        return OperandIndexing(empty, (), exactness, reason, None, second.leaf)
    found, values = compose_with_values(first, second)
    return OperandIndexing(
        found, values, exactness, reason, _compose_replicas(first, second), second.leaf, _compose_pieces(first, second)
    )


# Programs repeat themselves: of the compositions along a program's paths, few are different ones. Those with runtime
# values aren't kept here, since they name instructions, and these would keep their modules alive.
_composed_indexing = lru_cache(maxsize=16384)(_compose_indexing)


def compose_with_values(
    first: OperandIndexing, second: OperandIndexing
) -> tuple[IndexingMap, tuple[RuntimeValue, ...]]:
    """The composed map, simplified and without unused symbols, and where its runtime variables are read."""
    if not (first.runtime_values or second.runtime_values):
        return compose(first.map, second.map).simplify().remove_unused_symbols(), ()
    instructions = [v.instruction for v in (*second.runtime_values, *first.runtime_values)]
    return _of_instructions(_composed(first.map, _reads(first), second.map, _reads(second)), instructions)


@lru_cache(maxsize=16384)
def _composed(first: IndexingMap, firsts: tuple[Read, ...], second: IndexingMap, seconds: tuple[Read, ...]) -> Known:
    """The composed map with its values, second's numbered before first's: the same whatever instructions these are."""
    composed = compose(first, second)
    if composed.is_known_empty:
        return _known_apart(Joint(composed, []))
    dims = len(composed.dims)
    of_first = Places(
        [variable(d) for d in range(dims)],
        dims + len(second.ranges),
        dims + len(composed.ranges) + len(second.runtimes),
    )
    index = [of_first.move(first, first, e) for e in first.results]
    of_second = Places(index, dims, dims + len(composed.ranges))
    sources = [Source.of(k, read, second, k, of_second) for k, read in enumerate(seconds)]
    sources += [Source.of(len(seconds) + k, read, first, k, of_first) for k, read in enumerate(firsts)]
    return _known_apart(Joint(composed, sources).simplified())


@lru_cache(maxsize=4096)
def _simplified(m: IndexingMap) -> IndexingMap:
    return m.simplify().remove_unused_symbols()


def simplified_with_values(m: OperandIndexing) -> tuple[IndexingMap, tuple[RuntimeValue, ...]]:
    """The map simplified, without unused symbols, what is known of its runtime values folded in; and their places."""
    if m.map.is_known_empty or not m.runtime_values:
        return _simplified(m.map), ()
    return _of_instructions(_simplified_jointly(m.map, _reads(m)), [v.instruction for v in m.runtime_values])


@lru_cache(maxsize=4096)
def _simplified_jointly(m: IndexingMap, reads: tuple[Read, ...]) -> Known:
    dims = len(m.dims)
    places = Places([variable(d) for d in range(dims)], dims, dims + len(m.ranges))
    joint = Joint(m, [Source.of(k, read, m, k, places) for k, read in enumerate(reads)])
    return _known_apart(joint.simplified())


def _reads(m: OperandIndexing) -> tuple[Read, ...]:
    return tuple([(v.map, v.output, v.out_of_bounds, v.bounds) for v in m.runtime_values])


def _known_apart(joint: Joint) -> Known:
    return joint, joint.without_unused().apart()


def _of_instructions(known: Known, instructions: Sequence[Instruction]) -> tuple[IndexingMap, tuple[RuntimeValue, ...]]:
    """The map and its values, now that the instructions are known whose elements are read: what they say is folded."""
    joint, (found, reads) = known
    folded = fold_known(joint, instructions)
    if folded is not joint:
        found, reads = folded.without_unused().apart()
    return found, tuple([RuntimeValue(instructions[number], *read) for number, read in reads])


def _compose_pieces(first: OperandIndexing, second: OperandIndexing) -> tuple[OperandIndexing, ...] | None:
    if first.pieces is None and second.pieces is None:
        return None
    if "unknown" in (first.exactness, second.exactness):
        return None
    firsts = (first,) if first.pieces is None else first.pieces
    seconds = (second,) if second.pieces is None else second.pieces
    if len(firsts) * len(seconds) > MAX_PIECES:
        return None
    if any(p.exactness != "exact" for p in (*firsts, *seconds)):
        return None
    found = [compose_indexing(a, b) for a in firsts for b in seconds]
    return tuple(f for f in found if not f.map.is_known_empty)


def _compose_replicas(first: OperandIndexing, second: OperandIndexing) -> IndexingMap | None:
    """Which replica is read in the end: second's, asked by the replica that first names, at the index first gives."""
    if second.replica_map is None:
        return first.replica_map
    if first.map.ranges or first.map.runtimes:
        return _any_index(first, second.replica_map)
    at_first = first.map.results
    asked = second.replica_map
    dims = len(first.map.dims)
    if first.replica_map is None:
        return compose(first.map, asked).simplify().remove_unused_symbols()
    own = first.replica_map
    count = dims + len(asked.ranges) + len(own.ranges)
    own_places = [
        *(variable(d) for d in range(dims)),
        *(variable(dims + len(asked.ranges) + k) for k in range(len(own.ranges))),
        *(variable(count + k) for k in range(len(own.runtimes))),
    ]
    middle = own.results[0].replace_variables(own_places)
    asked_places = [
        *at_first,
        *(variable(dims + k) for k in range(len(asked.ranges))),
        *(middle for _ in asked.runtimes),
    ]
    constraints = [
        *((e.replace_variables(asked_places), b) for e, b in asked.constraints),
        *((e.replace_variables(own_places), b) for e, b in own.constraints),
        *((e, v.interval) for e, v in zip(at_first, asked.dims, strict=True)),
        *((middle, v.interval) for v in asked.runtimes),
    ]
    return (
        IndexingMap(
            SymbolicMap(dims, count - dims + len(own.runtimes), [asked.results[0].replace_variables(asked_places)]),
            list(first.map.dims),
            [v.interval for v in (*asked.ranges, *own.ranges)],
            [v.interval for v in own.runtimes],
            constraints,
        )
        .simplify()
        .remove_unused_symbols()
    )


def _any_index(first: OperandIndexing, asked: IndexingMap) -> IndexingMap:
    """A bound: the replicas that any index may ask for, where first's symbols would tie index and replica together."""
    replicas = asked.range(asked.results[0])
    dims = len(first.map.dims)
    return IndexingMap(SymbolicMap(dims, 1, [variable(dims)]), list(first.map.dims), [replicas], [], [])
