"""Partition of a computation into functions, so that a kernel's size is linear in that of its graph.

An instruction is inlined into the function of its users if all of them read it at the same index of that function's root,
and its code is needed once; else it becomes the root of a function of its own. Indices are compared by the composed,
simplified output-to-input maps from the root. Two accesses are the same if their maps are equal, their runtime variables
are read from the same elements, and their range variables run in the same loop.

Source of the rule: "Partitioning" in XLA's document on its emitters; openxla/xla, computation_partitioner.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, count
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import IndexingMap
from indexing.arguments import each, of_type, takes
from indexing.cached import cached_property
from indexing.errors import IndexingError
from indexing.hlo import Computation, Instruction, Program
from indexing.hlo.layout import bitcast_map
from indexing.hlo.program_like import or_function, part_of_program
from indexing.indexing_analysis.access import Access, AccessComposer
from indexing.indexing_analysis.computations import instruction_indexing
from indexing.indexing_analysis.instructions import epilogue_indexing
from indexing.ops.bounded import check_has_size
from indexing.ops.operand_indexing import OperandIndexing
from indexing.ops.registry import traits_of
from indexing.ops.tuples import array_source, named_array
from indexing.walks import reached

if TYPE_CHECKING:
    from indexing.hlo import Module, Shape

MAX_INDEX_NODES = 256  # nodes of an index composed from a function's root; a longer one starts a new function


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """Instructions that become one function, from an index (of sizes `index_sizes`) to one element of each root.

    `instructions` are ordered operands first. `root_indexing` has a map for each root, from the function's index to the
    root's. `injected` are the heroes whose values an epilogue takes as arguments instead of computing them.
    """

    name: str
    instructions: tuple[Instruction, ...]
    roots: tuple[Instruction, ...]
    index_sizes: tuple[int, ...]
    root_indexing: tuple[IndexingMap, ...]
    injected: tuple[Instruction, ...] = ()

    @property
    def has_no_compute(self) -> bool:
        """Whether the function only moves elements, so that inlining it into each caller costs nothing."""
        return all(traits_of(i).has_no_compute for i in self.instructions)

    def __str__(self) -> str:
        """XLA's text form: a line for each instruction, and `no_compute` if the function has none."""
        roots = set(self.roots)
        lines = [f"  {'ROOT ' if i in roots and not i.is_root else ''}{i}" for i in self.instructions]
        return "\n".join([f"SUBGRAPH {self.name} {'no_compute ' if self.has_no_compute else ''}{{", *lines, "}"])


@dataclass(frozen=True, slots=True, eq=False)
class Epilogue:
    """The part of a fusion after its heroes: computes `roots` from the heroes' values at an index of sizes `index_sizes`.

    `root_indexing` has a map for each root, from that index to the root's.
    """

    heroes: tuple[Instruction, ...]
    roots: tuple[Instruction, ...]
    index_sizes: tuple[int, ...]
    root_indexing: tuple[IndexingMap, ...]

    @staticmethod
    def from_paths(paths: Sequence[tuple[Instruction, Instruction]], others: Sequence[Instruction] = ()) -> Epilogue:
        """The epilogue of (hero, root) pairs; heroes have one shape, and each root is indexed from the hero of its pair.

        `others` are further heroes, which roots may also read.

        Raises IndexingError if there are no pairs, or heroes differ in sizes; InvalidMap if there is no single map from a
        hero to its root.
        """
        heroes = tuple(dict.fromkeys([*(hero for hero, _ in paths), *others]))
        sizes = {_first_leaf(hero.shape).dimensions for hero in heroes}
        if len(sizes) != 1:
            raise IndexingError(f"the heroes of an epilogue have one shape; got {sorted(sizes)}")
        maps = tuple(_root_map(hero, root) for hero, root in paths)
        return Epilogue(heroes, tuple(root for _, root in paths), sizes.pop(), maps)


@dataclass(frozen=True, eq=False)
class PartitionedComputation:
    """A computation as functions: `subgraphs` are ordered callers first, and begin with `epilogues`.

    `has_long_indices` if a function was started because an index was too long: maps through the whole computation are
    longer still. The functions of roots in `_read_together` are built one after another at one index, where what they
    share is computed once.
    """

    computation: Computation
    subgraphs: tuple[Subgraph, ...]
    epilogues: tuple[Subgraph, ...] = ()
    has_long_indices: bool = False
    _owner: Mapping[Instruction, Subgraph] = field(default_factory=dict, repr=False)
    _accesses: Mapping[Instruction, frozenset[tuple[Subgraph, Access]]] = field(default_factory=dict, repr=False)
    _read_together: frozenset[Instruction] = field(default=frozenset(), repr=False)

    @property
    def module(self) -> Module:
        """That of the computation."""
        return self.computation.module

    @cached_property
    def evaluations(self) -> Mapping[Instruction, int]:
        """The number of elements that are computed of each instruction, over calls of its function and iterations of loops.

        An instruction that no function reads is computed once for each element.
        """
        return self.evaluations_where({})

    @takes(known=of_type(Mapping))
    def evaluations_where(self, known: Mapping[Instruction, int]) -> Mapping[Instruction, int]:
        """`evaluations` of a kernel that computes roots of functions as often as is `known`, whoever reads them."""
        calls: dict[Subgraph, int] = {s: prod(s.index_sizes) for s in self.epilogues}
        counts: dict[Instruction, int] = {}
        for instruction, accesses in self._accesses.items():
            owner = self._owner[instruction]
            computed: dict[object, int] = {}
            for reader, a in accesses:
                place = (self._at_one_index(reader, a), a)
                computed[place] = max(a.evaluations(calls[reader]), computed.get(place, 0))
            counts[instruction] = sum(computed.values()) if accesses else _element_count(instruction.shape)
            counts[instruction] = known.get(instruction, counts[instruction])
            if owner not in calls:
                calls[owner] = counts[instruction]
        return counts

    def _at_one_index(self, reader: Subgraph, access: Access) -> Subgraph | None:
        """The function at whose index an access is made; None for the index of all roots that are read together. Under a
        condition, each function computes for itself.
        """
        if self._read_together.isdisjoint(reader.roots):
            return reader
        everywhere = IndexingMap.identity(reader.index_sizes).simplify().dims
        return None if access.map.dims == everywhere and not access.map.constraints else reader

    @takes(instruction=of_type(Instruction))
    def reads(self, instruction: Instruction) -> frozenset[tuple[Subgraph, Access]]:
        """The functions that read an instruction, each with the access from its index."""
        return self._accesses.get(instruction, frozenset())

    @takes(instruction=of_type(Instruction))
    def holds(self, instruction: Instruction) -> bool:
        """Whether a subgraph holds the instruction."""
        return instruction in self._owner

    @takes(instruction=of_type(Instruction))
    def find(self, instruction: Instruction) -> Subgraph:
        """The subgraph that holds the instruction; IndexingError if none does (another computation, dead code)."""
        owner = self._owner.get(instruction)
        if owner is None:
            where = f"{instruction.name} of {instruction.computation.name}"
            raise IndexingError(
                f"{where} is in no subgraph of {self.computation.name}: it is not reached from its root, "
                "or it is a hero, whose value epilogues take as an argument"
            )
        return owner

    def __str__(self) -> str:
        """XLA's text form: the name, then each subgraph."""
        return "\n".join([f"PartitionedComputation {self.computation.name}:", *map(str, self.subgraphs)])


@or_function
@takes(force_roots=each(Instruction), epilogues=each(Epilogue))
def partition(
    computation: Program, force_roots: Iterable[Instruction] = (), epilogues: Sequence[Epilogue] = ()
) -> PartitionedComputation:
    """Split a computation (of a module: its entry) into functions, in time linear in its instructions.

    `force_roots` become roots of functions of their own. Each of `epilogues` becomes a function, too; then the computation's
    root is left to the kernel, which writes the outputs, and operands of heroes are forced roots.
    """
    chosen = part_of_program(computation, "partition: computation")
    if isinstance(chosen, Instruction):
        raise TypeError(
            "partition: computation is an Instruction; expected a Computation: of a fusion, fusion.called[0]"
        )
    builder = _Partitioner(chosen, force_roots, epilogues)
    needed = set(reached([chosen.root], lambda i: i.operands))
    for instruction in reversed(chosen.post_order()):
        if instruction in needed:
            check_has_size(instruction)
            builder.place(instruction)
    return builder.finish()


_Read: TypeAlias = tuple[int, Access]  # the number of the reading function, and the access


@dataclass(slots=True)
class _Draft:
    """A subgraph under construction."""

    roots: tuple[Instruction, ...]
    index_sizes: tuple[int, ...]
    root_indexing: tuple[IndexingMap, ...]
    injected: tuple[Instruction, ...] = ()
    instructions: list[Instruction] = field(default_factory=list)
    infix: str = "_"


class _Partitioner:
    """Walks a computation from its root to its parameters; the state of one call of `partition`."""

    def __init__(
        self, computation: Computation, force_roots: Iterable[Instruction], epilogues: Sequence[Epilogue]
    ) -> None:
        self.computation = computation
        self.drafts: list[_Draft] = []
        self.accesses: dict[Instruction, dict[_Read, None]] = {}  # ordered, so that partitions are deterministic
        self.placed: dict[Instruction, tuple[_Read, ...]] = {}
        self.owners: dict[Instruction, int] = {}
        self.composer = AccessComposer()
        self.long: dict[IndexingMap, bool] = {}
        self.heroes = {hero for e in epilogues for hero in e.heroes}
        self.forced = {*force_roots, *(o for hero in self.heroes for o in self._read_operands(hero))}
        self.output_count = len(epilogues)
        for epilogue in epilogues:
            self._open_epilogue(epilogue)

    def _read_operands(self, hero: Instruction) -> Iterator[Instruction]:
        """The operands that a kernel reads for a hero: an array that it updates may be what another hero has left in memory."""
        is_updated = traits_of(hero).is_scatter_like
        return (o for o in hero.operands if not (is_updated and o in self.heroes))

    def _open_epilogue(self, epilogue: Epilogue) -> None:
        owner = len(self.drafts)
        self.drafts.append(
            _Draft(epilogue.roots, epilogue.index_sizes, epilogue.root_indexing, epilogue.heroes, infix="__epilogue__")
        )
        points = prod(epilogue.index_sizes)
        for root, map_ in zip(epilogue.roots, epilogue.root_indexing, strict=True):
            if root not in epilogue.heroes:
                self._record(root, owner, Access(map_, points))

    def place(self, instruction: Instruction) -> None:
        """Add the instruction to its users' function, or start one; then record its reads of operands. Users come first."""
        reads = self.accesses.pop(instruction, {})
        is_given = instruction in self.heroes and instruction not in self.forced  # no other hero reads it
        if self.output_count and (is_given or instruction.is_root or self._names_hero(instruction)) and not reads:
            return  # the kernel itself writes the outputs and computes the heroes
        self.placed[instruction] = tuple(reads)
        if traits_of(instruction).kind == "alias" and reads and instruction not in self.forced:
            self._pass_to_named_array(instruction, reads)
            return
        shared = self._shared(instruction, reads)
        if shared is not None:
            owner, access = shared
            self._hold(instruction, owner)
            self._pass_to_operands(instruction, owner, access)
        elif traits_of(instruction).kind == "alias" and instruction.shape.is_tuple:
            self._pass_to_elements(instruction, self._start(instruction))
        else:
            owner = self._start(instruction)
            for access in self._own_accesses(instruction, reads):
                self._pass_to_operands(instruction, owner, access)

    def _names_hero(self, instruction: Instruction) -> bool:
        """Whether it is an array of a hero that is an output, without any other instruction between."""
        return traits_of(instruction).kind == "alias" and array_source(instruction, 0)[0] in self.heroes

    def _hold(self, instruction: Instruction, owner: int) -> None:
        self.drafts[owner].instructions.append(instruction)
        self.owners[instruction] = owner

    def _pass_to_named_array(self, instruction: Instruction, reads: Iterable[_Read]) -> None:
        """Forward reads of an instruction that only names arrays to the operand that has the array."""
        readers = {owner for owner, _ in reads}
        if len(readers) == 1:
            self._hold(instruction, readers.pop())
        else:
            self._start(instruction)
        for owner, access in reads:
            operand, leaf = named_array(instruction, access.leaf)
            self._record(operand, owner, replace(access, leaf=leaf))

    def _shared(self, instruction: Instruction, reads: Mapping[_Read, None]) -> _Read | None:
        if len(reads) != 1 or instruction in self.forced or _is_written_several_times(instruction):
            return None
        owner, access = next(iter(reads))
        return (owner, access) if access.is_known and not self._is_long(access.map) else None

    def _is_long(self, map_: IndexingMap) -> bool:
        """Whether an index, composed through many reshapes, is so long that calling a function is shorter."""
        is_long = self.long.get(map_)
        if is_long is None:
            is_long = self.long[map_] = sum(len(e.nodes()) for e in map_.results) > MAX_INDEX_NODES
        return is_long

    def _start(self, instruction: Instruction) -> int:
        sizes = _first_leaf(instruction.shape).dimensions
        self.drafts.append(_Draft((instruction,), sizes, (IndexingMap.identity(sizes),)))
        self._hold(instruction, len(self.drafts) - 1)
        return len(self.drafts) - 1

    def _own_accesses(self, instruction: Instruction, reads: Iterable[_Read]) -> list[Access]:
        """The accesses of an instruction's own function to it; if its arrays differ in sizes, one for each that is read."""
        parts = instruction.shape.leaves
        if has_one_index(instruction.shape):
            return [Access.of_all(_first_leaf(instruction.shape).dimensions)]
        wanted = sorted({access.leaf for _, access in reads}) or range(len(parts))
        return [Access.of_all(parts[leaf].dimensions, leaf, ("array", leaf)) for leaf in wanted]

    def _pass_to_elements(self, root: Instruction, owner: int) -> None:
        """Record the reads of a tuple's arrays: at the tuple's index (that of its first array), at a bitcast of it if sizes
        differ, or at unknown elements if element counts differ.
        """
        first = _first_leaf(root.shape)
        whole = Access.of_all(first.dimensions)
        for leaf, shape in enumerate(root.shape.leaves):
            operand, operand_leaf = named_array(root, leaf)
            if shape.dimensions == first.dimensions:
                access = whole
            elif shape.dimensions and first.dimensions and shape.element_count == first.element_count > 0:
                same = bitcast_map(replace(first, element_type=shape.element_type), shape)
                access = self.composer.compose(whole, OperandIndexing(same), root, leaf, shape.dimensions)
            else:
                identity = IndexingMap.identity(shape.dimensions)
                access = Access(identity, whole.points, context=((root, leaf),), is_known=False)
            self._record(operand, owner, replace(access, leaf=operand_leaf))

    def _pass_to_operands(self, instruction: Instruction, owner: int, access: Access) -> None:
        outputs = range(len(instruction.shape.leaves))
        for output in outputs if has_one_index(instruction.shape) else (access.leaf,):
            for position, indexings in enumerate(instruction_indexing(instruction, output)):
                operand = instruction.operands[position]
                parts = operand.shape.leaves
                for indexing in indexings:
                    sizes = parts[indexing.leaf].dimensions if parts else ()
                    read = self.composer.compose(access, indexing, instruction, position, sizes)
                    self._record(operand, owner, read)

    def _record(self, operand: Instruction, owner: int, access: Access) -> None:
        if access.leaf and has_one_index(operand.shape):
            access = replace(access, leaf=0)  # arrays of one index are computed together
        if operand in self.drafts[owner].injected:
            own = IndexingMap.identity(_first_leaf(operand.shape).dimensions)
            if access.map in (own, own.simplify()) and not access.context:
                return  # an argument of the epilogue; at any other index, the hero is recomputed
        self.accesses.setdefault(operand, {})[owner, access] = None

    def finish(self) -> PartitionedComputation:
        names: set[str] = set()
        owner: dict[Instruction, Subgraph] = {}
        subgraphs = []
        for draft in self.drafts:
            body = tuple(reversed(draft.instructions))
            name = _unique(self._name(draft), names)
            done = Subgraph(name, body, draft.roots, draft.index_sizes, draft.root_indexing, draft.injected)
            subgraphs.append(done)
            owner.update(dict.fromkeys(body, done))
        epilogues = tuple(subgraphs[: self.output_count])
        accesses = {i: frozenset((subgraphs[reader], a) for reader, a in reads) for i, reads in self.placed.items()}
        is_long = any(self.long.values())
        return PartitionedComputation(self.computation, tuple(subgraphs), epilogues, is_long, owner, accesses)

    def _name(self, draft: _Draft) -> str:
        return c_identifier(self.computation.name + draft.infix + "_".join(r.name for r in draft.roots))


@lru_cache(maxsize=1024)  # a loop's state may have hundreds of arrays, and each of them asks
def has_one_index(shape: Shape) -> bool:
    """Whether all arrays of a shape have the same dimensions, so that one index names an element of each."""
    return len({part.dimensions for part in shape.leaves}) <= 1


def c_identifier(name: str) -> str:
    """`name` as a C identifier: characters that C does not allow become underscores; one precedes a leading digit."""
    spelled = re.sub(r"[^0-9A-Za-z_]", "_", name)
    return spelled if spelled and not spelled[0].isdigit() else f"_{spelled}"


def _unique(name: str, taken: set[str]) -> str:
    free = next(n for n in chain([name], (f"{name}_{k}" for k in count(2))) if n not in taken)
    taken.add(free)
    return free


def _element_count(shape: Shape) -> int:
    """The number of elements of the longest array."""
    return max((part.element_count for part in shape.leaves), default=0)


def _first_leaf(shape: Shape) -> Shape:
    leaves = shape.leaves
    return leaves[0] if leaves else shape


def _root_map(hero: Instruction, root: Instruction) -> IndexingMap:
    if root is hero:
        return IndexingMap.identity(_first_leaf(root.shape).dimensions)
    return epilogue_indexing(hero, root)


def _is_written_several_times(instruction: Instruction) -> bool:
    """Whether a user's code would repeat the instruction, although it is read at a single index."""
    return any(
        not user.is_root and _index_components(user) > 1 and any(o is instruction for o in user.operands[1:])
        for user in instruction.users
    )


def _index_components(user: Instruction) -> int:
    """The number of components of an index vector that the user reads, one by one, each with the code of its producer."""
    return len(user.ints(traits_of(user).index_vectors))
