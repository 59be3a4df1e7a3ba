"""Partition of a computation into functions, so that the text of a kernel grows linearly with its graph.

An instruction is written into the function of its users when all of them, seen from that function's root, read it at
one and the same index, and at one place of the text; else it becomes the root of a function of its own. Seen from the
root means: through the composed output-to-input maps, simplified. Two accesses are the same when their maps are equal,
their runtime variables are read from the same elements, and their range variables run in the same loop.

Source of the rule: "Partitioning" in XLA's document on its emitters; openxla/xla, computation_partitioner.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, compose
from indexing.arguments import each, of_type, takes
from indexing.errors import IndexingError
from indexing.fusion import epilogue_indexing, output_to_input
from indexing.hlo import Computation, Instruction
from indexing.layout import bitcast_map
from indexing.ops.block import OperandIndexing, leaves

if TYPE_CHECKING:
    from indexing.hlo import Shape

MOVES_ELEMENTS_ONLY = frozenset(
    {"bitcast", "broadcast", "constant", "copy", "get-tuple-element", "parameter"}
    | {"reshape", "reverse", "slice", "transpose", "tuple"}
)

# The vector of start indices is written out component by component, so its producer stands in the text several times.
READS_INDICES_BY_COMPONENT = frozenset({"gather", "scatter"})
MAX_INDEX_NODES = 256  # of an index composed from a function's root; a longer one starts a function


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """Instructions that become one function: from an index (sizes `index_sizes`) to one element of each root.

    `instructions` stand operands first. `root_indexing` has one map a root, from the function's index to the root's.
    `injected` are the heroes whose values an epilogue takes as arguments instead of computing them.
    """

    name: str
    instructions: tuple[Instruction, ...]
    roots: tuple[Instruction, ...]
    index_sizes: tuple[int, ...]
    root_indexing: tuple[IndexingMap, ...]
    injected: tuple[Instruction, ...] = ()

    @property
    def has_no_compute(self) -> bool:
        """True where the function only moves elements, so that writing it into each caller costs nothing."""
        return all(i.opcode in MOVES_ELEMENTS_ONLY for i in self.instructions)

    def __str__(self) -> str:
        """XLA's text form: one line an instruction, `no_compute` where it is."""
        roots = set(self.roots)
        lines = [f"  {'ROOT ' if i in roots and not i.is_root else ''}{i}" for i in self.instructions]
        return "\n".join([f"SUBGRAPH {self.name} {'no_compute ' if self.has_no_compute else ''}{{", *lines, "}"])


@dataclass(frozen=True, slots=True, eq=False)
class Epilogue:
    """What is computed after the heroes: `roots`, from the heroes' values at an index of sizes `index_sizes`.

    `root_indexing` has one map a root, from that index to the root's.
    """

    heroes: tuple[Instruction, ...]
    roots: tuple[Instruction, ...]
    index_sizes: tuple[int, ...]
    root_indexing: tuple[IndexingMap, ...]

    @staticmethod
    def from_paths(paths: Sequence[tuple[Instruction, Instruction]], others: Sequence[Instruction] = ()) -> Epilogue:
        """The epilogue of (hero, root) pairs; heroes have one shape, and each root its map from the hero it is paired with.

        `others` are heroes too, that roots may read besides.

        Raises IndexingError where there are no pairs, or heroes differ in sizes; InvalidMap where several maps lead
        from a hero to its root.
        """
        heroes = tuple(dict.fromkeys([*(hero for hero, _ in paths), *others]))
        sizes = {_first_leaf(hero.shape).dimensions for hero in heroes}
        if len(sizes) != 1:
            raise IndexingError(f"the heroes of an epilogue have one shape; got {sorted(sizes)}")
        maps = tuple(_root_map(hero, root) for hero, root in paths)
        return Epilogue(heroes, tuple(root for _, root in paths), sizes.pop(), maps)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedComputation:
    """A computation as functions: `subgraphs` stand callers first, `epilogues` are among them, first of all.

    `has_long_indices` where a function was started because an index had grown too long: maps through the whole
    computation are longer still.
    """

    computation: Computation
    subgraphs: tuple[Subgraph, ...]
    epilogues: tuple[Subgraph, ...] = ()
    has_long_indices: bool = False
    _owner: Mapping[Instruction, Subgraph] = field(default_factory=dict, repr=False)

    @takes(instruction=of_type(Instruction))
    def holds(self, instruction: Instruction) -> bool:
        """Whether a subgraph holds the instruction."""
        return instruction in self._owner

    @takes(instruction=of_type(Instruction))
    def find(self, instruction: Instruction) -> Subgraph:
        """The subgraph that holds the instruction; IndexingError where none does (another computation, dead code)."""
        found = self._owner.get(instruction)
        if found is None:
            where = f"{instruction.name} of {instruction.computation.name}"
            raise IndexingError(
                f"{where} is in no subgraph of {self.computation.name}: it is not reached from its root, "
                "or it is a hero, whose value epilogues take as an argument"
            )
        return found

    def __str__(self) -> str:
        """XLA's text form: the name, then each subgraph."""
        return "\n".join([f"PartitionedComputation {self.computation.name}:", *map(str, self.subgraphs)])


@takes(computation=of_type(Computation), force_roots=each(Instruction), epilogues=each(Epilogue))
def partition(
    computation: Computation, force_roots: Iterable[Instruction] = (), epilogues: Sequence[Epilogue] = ()
) -> PartitionedComputation:
    """Split `computation` into functions, in time linear in its instructions.

    `force_roots` become roots of functions of their own. With `epilogues`, each of these is one function too, the
    computation's root is left to the kernel that writes the outputs, and operands of heroes are forced roots.
    """
    builder = _Partitioner(computation, force_roots, epilogues)
    needed = _needed(computation)
    for instruction in reversed(computation.post_order()):
        if instruction in needed:
            builder.place(instruction)
    return builder.finish()


@dataclass(frozen=True, slots=True)
class _Access:
    """An instruction is read by the function `owner` at `map`; `context` tells loops and runtime values apart."""

    owner: int
    map: IndexingMap
    context: tuple[object, ...] = ()


@dataclass(slots=True)
class _Draft:
    """A subgraph that still grows."""

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
        self.accesses: dict[Instruction, set[_Access]] = {}
        self.composed: dict[tuple[IndexingMap, IndexingMap], IndexingMap] = {}
        self.long: dict[IndexingMap, bool] = {}
        self.heroes = {hero for e in epilogues for hero in e.heroes}
        self.forced = {*force_roots, *(o for hero in self.heroes for o in hero.operands)}
        self.output_count = len(epilogues)
        for epilogue in epilogues:
            self._open_epilogue(epilogue)

    def _open_epilogue(self, epilogue: Epilogue) -> None:
        owner = len(self.drafts)
        self.drafts.append(
            _Draft(epilogue.roots, epilogue.index_sizes, epilogue.root_indexing, epilogue.heroes, infix="__epilogue__")
        )
        for root, map_ in zip(epilogue.roots, epilogue.root_indexing, strict=True):
            if root not in epilogue.heroes:
                self.accesses.setdefault(root, set()).add(_Access(owner, map_))

    def place(self, instruction: Instruction) -> None:
        """Join the users' function, or start one; then tell the operands how they are read. Users come first."""
        if self.output_count and (instruction in self.heroes or instruction.is_root) and not self._read(instruction):
            return  # the kernel itself writes the outputs and computes the heroes
        access = self._shared_access(instruction) or self._start(instruction)
        self.drafts[access.owner].instructions.append(instruction)
        if instruction.shape.is_tuple and instruction.opcode == "tuple":
            self._pass_to_elements(instruction, access)
        else:
            self._pass_to_operands(instruction, access)

    def _read(self, instruction: Instruction) -> bool:
        return bool(self.accesses.get(instruction))

    def _shared_access(self, instruction: Instruction) -> _Access | None:
        accesses = self.accesses.pop(instruction, set())
        if len(accesses) != 1 or instruction in self.forced or _is_written_several_times(instruction):
            return None
        access = next(iter(accesses))
        return access if access.owner >= 0 and not self._is_long(access.map) else None

    def _is_long(self, map_: IndexingMap) -> bool:
        """Whether an index has grown through many reshapes so far that a function of its own is shorter."""
        found = self.long.get(map_)
        if found is None:
            found = self.long[map_] = sum(len(e.nodes()) for e in map_.results) > MAX_INDEX_NODES
        return found

    def _start(self, instruction: Instruction) -> _Access:
        sizes = _first_leaf(instruction.shape).dimensions
        identity = IndexingMap.identity(sizes)
        self.drafts.append(_Draft((instruction,), sizes, (identity,)))
        return _Access(len(self.drafts) - 1, identity)

    def _pass_to_elements(self, root: Instruction, access: _Access) -> None:
        """A tuple's elements are read at its index (that of its first array), or at a bitcast of it."""
        first = _first_leaf(root.shape)
        for k, operand in enumerate(root.operands):
            shape = _first_leaf(operand.shape)
            if shape.dimensions == first.dimensions:
                self._record(operand, access)
            elif shape.dimensions and first.dimensions and shape.element_count == first.element_count:
                same = bitcast_map(replace(first, element_type=shape.element_type), shape)
                self._record(operand, self._then(access, OperandIndexing(same), root, k))
            else:
                self._record(operand, _Access(-1, access.map, (root.index, k)))

    def _pass_to_operands(self, instruction: Instruction, access: _Access) -> None:
        for output in range(len(leaves(instruction.shape)) or 1):
            for position, found in enumerate(output_to_input(instruction, output)):
                for indexing in found:
                    self._record(instruction.operands[position], self._then(access, indexing, instruction, position))

    def _record(self, operand: Instruction, access: _Access) -> None:
        if access.owner >= 0 and operand in self.drafts[access.owner].injected:
            own = IndexingMap.identity(_first_leaf(operand.shape).dimensions)
            if access.map == own and not access.context:
                return  # an argument of the epilogue; elsewhere than at its own index the hero is computed again
        known = self.accesses.setdefault(operand, set())
        if len(known) < 2:  # two are enough to know that they differ
            known.add(access)

    def _then(self, access: _Access, indexing: OperandIndexing, user: Instruction, position: int) -> _Access:
        if indexing.exactness == "unknown" or indexing.map.is_undefined:
            return _Access(access.owner, access.map, (*access.context, user.index, position, "unknown"))
        context = access.context
        if indexing.map.ranges:
            context = (*context, ("loop", user.index))
        if indexing.runtime_values:
            places = (
                (v.instruction.index, v.output, self._compose(access.map, v.map)) for v in indexing.runtime_values
            )
            context = (*context, *places)
        return _Access(access.owner, self._compose(access.map, indexing.map), context)

    def _compose(self, first: IndexingMap, second: IndexingMap) -> IndexingMap:
        found = self.composed.get((first, second))
        if found is None:
            found = self.composed[first, second] = compose(first, second).simplify()
        return found

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
        return PartitionedComputation(self.computation, tuple(subgraphs), epilogues, any(self.long.values()), owner)

    def _name(self, draft: _Draft) -> str:
        return c_identifier(self.computation.name + draft.infix + "_".join(r.name for r in draft.roots))


def _needed(computation: Computation) -> set[Instruction]:
    """The instructions that the root depends on."""
    found: set[Instruction] = set()
    pending = [computation.root]
    while pending:
        instruction = pending.pop()
        if instruction not in found:
            found.add(instruction)
            pending.extend(instruction.operands)
    return found


def c_identifier(name: str) -> str:
    """`name` with every character that C does not allow in an identifier replaced by an underscore."""
    spelled = re.sub(r"[^0-9A-Za-z_]", "_", name)
    return spelled if spelled and not spelled[0].isdigit() else f"_{spelled}"


def _unique(name: str, taken: set[str]) -> str:
    candidate, count = name, 1
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    taken.add(candidate)
    return candidate


def _first_leaf(shape: Shape) -> Shape:
    found = leaves(shape)
    return found[0] if found else shape


def _root_map(hero: Instruction, root: Instruction) -> IndexingMap:
    if root is hero:
        return IndexingMap.identity(_first_leaf(root.shape).dimensions)
    return epilogue_indexing(hero, root)


def _is_written_several_times(instruction: Instruction) -> bool:
    """Whether a user's text holds the instruction more than once, although it is read at one index."""
    return any(
        user.opcode in READS_INDICES_BY_COMPONENT
        and not user.is_root
        and _index_components(user) > 1
        and any(o is instruction for o in user.operands[1:])
        for user in instruction.users
    )


def _index_components(user: Instruction) -> int:
    """How many components one index vector of a gather or scatter has."""
    key = "start_index_map" if user.opcode == "gather" else "scatter_dims_to_operand_dims"
    return len(user.ints(key))
