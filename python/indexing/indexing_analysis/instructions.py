"""Indexing of instructions in both directions, through fusions and called computations; of clusters; and of epilogues.

Maps are simplified, and memoized per module by what an instruction's maps depend on: opcode, shapes, attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from indexing._core import IndexingMap
from indexing.arguments import check_number, each, integer, of_type, takes
from indexing.errors import IndexingError, InvalidMap
from indexing.hlo import Computation, Instruction, Part, Program, Shape
from indexing.hlo.layout import to_logical, to_physical
from indexing.hlo.program_like import or_function, part_of_program
from indexing.indexing_analysis.computations import (
    Arrays,
    ModuleMaps,
    computation_indexing,
    computation_inverse,
    instruction_indexing,
    instruction_inverse,
    maps_of,
)
from indexing.ops.operand_indexing import Indexing, OperandIndexing
from indexing.ops.registry import op_of
from indexing.ops.tuples import is_array


@or_function
@takes(output=integer, physical_layout=of_type(bool, int))
def output_to_input(instruction: Program, output: int = 0, physical_layout: bool = False) -> Indexing:
    """For each operand, the maps from an index of array `output` of the instruction to the operand's elements it needs.

    Maps are simplified, and composed through the computation of a fusion or call. An operand without maps isn't read.
    For a computation, a module (its entry) or a JAX function and its arguments, the maps lead from its
    root to its parameters.
    Arrays of a tuple-shaped instruction are counted in order, nested tuples flattened. With `physical_layout`, indices
    are those of physical shapes (sizes from major to minor) on both sides. Raises IndexingError where there is no such
    output, UnsupportedOp for an opcode that HLO doesn't have.
    """
    part = part_of_program(instruction, "output_to_input: instruction")
    count = len(part.shape.leaves)
    if not 0 <= output < count:
        check_number(output, max(count, 1), f"{part.name} has", "outputs")
        return [[] for _ in part.operands]  # an empty tuple has no elements
    indexing = _indexing(part, output)
    if physical_layout:
        result = part.shape.leaves[output]
        pairs = zip(indexing, part.operands, strict=True)
        known = maps_of(part.module)
        return [[_physical(known, m, result, o.shape.leaves[m.leaf]) for m in maps] for maps, o in pairs]
    return indexing


def _indexing(part: Part, output: int) -> Indexing:
    return instruction_indexing(part, output) if isinstance(part, Instruction) else computation_indexing(part, output)


@or_function
@takes(input=integer, physical_layout=of_type(bool, int))
def input_to_output(instruction: Program, input: int = 0, physical_layout: bool = False) -> Indexing:
    """For each array of the instruction, the maps from an index of operand `input` to the elements that need it.

    If the operand is a tuple, `leaf` is the number of the array from which a map starts. Otherwise as `output_to_input`.
    """
    part = part_of_program(instruction, "input_to_output: instruction")
    # An op without operands may state an inverse nevertheless.
    if part.operands or input or isinstance(part, Computation) or not callable(op_of(part).input_to_output):
        check_number(input, len(part.operands), f"{part.name} has", "operands")
    indexing = instruction_inverse(part, input) if isinstance(part, Instruction) else computation_inverse(part, input)
    if physical_layout and part.operands:
        sources = part.operands[input].shape.leaves
        pairs = zip(indexing, part.shape.leaves, strict=True)
        known = maps_of(part.module)
        return [[_physical(known, m, sources[m.leaf], result) for m in maps] for maps, result in pairs]
    return indexing


@takes(instructions=each(Instruction), target=of_type(Instruction), output=integer)
def grouped_indexing(
    instructions: Iterable[Instruction], target: Instruction, output: int = 0
) -> dict[Instruction, list[OperandIndexing]]:
    """Maps from array `output` of `target` to every instruction that leads to it within a cluster, and to its inputs.

    The cluster is `instructions` of one computation; a fusion among them includes the instructions of its computation,
    whose parameters are its operands. The result includes producers outside of the cluster, but nothing beyond them;
    `target` itself has the identity. Raises IndexingError if `target` isn't in the cluster.
    """
    cluster = dict.fromkeys(instructions)
    fusions = {i.called[0]: i for i in cluster if i.is_fusion}
    if target not in cluster and target.computation not in fusions:
        raise IndexingError(
            f"{target.name} is not in the cluster: give the cluster's instructions, {target.name} among them"
        )
    check_number(output, len(target.shape.leaves), f"{target.name} has", "outputs")
    known = maps_of(target.module)
    reached: dict[Instruction, Arrays] = {target: {output: known.identity(target, output)}}
    outer = target.computation
    if target not in cluster:
        fusion = fusions[target.computation]
        outer = fusion.computation
        _propagate_to_operands(known, fusion, reached)
    for i in outer.post_order()[::-1]:
        if i not in cluster or i not in reached:
            continue
        if i in fusions.values():
            reached[i.called[0].root] = dict(reached[i])
            _propagate_to_operands(known, i, reached)
        else:
            known.propagate(reached, [i])
    grouped: dict[Instruction, list[OperandIndexing]] = {}
    for i, arrays in reached.items():
        if not i.is_parameter or i.computation not in fusions:
            grouped[i] = [m for leaf, maps in arrays.items() for m in known.maps(maps, leaf)]
    return grouped


@takes(hero=of_type(Instruction), root=of_type(Instruction))
def epilogue_indexing(hero: Instruction, root: Instruction) -> IndexingMap:
    """The map from an index of `hero` to the index of `root` at which its element is used, through the instructions between.

    Both belong to one computation; the map of a hero that is its own root is the identity. Raises InvalidMap if no path
    leads from one to the other, or several with different maps do; IndexingError for instructions of two computations.
    """
    if hero.computation is not root.computation:
        raise IndexingError(
            f"{hero.name} and {root.name} belong to different computations: give two of one computation"
        )
    paths = maps_of(hero.module).leading_to(hero, root)
    if len(paths) != 1:
        how_many = "no path leads" if not paths else f"{len(paths)} paths with different maps lead"
        raise InvalidMap(f"{how_many} from {hero.name} to {root.name}: an epilogue has one map")
    return paths[0].map


def _propagate_to_operands(known: ModuleMaps, fusion: Instruction, reached: dict[Instruction, Arrays]) -> None:
    """Propagate maps through the fusion's computation to its parameters, and from these to its operands."""
    inside: Computation = fusion.called[0]
    known.propagate(reached, inside.post_order()[::-1])
    for parameter, operand in zip(inside.parameters, fusion.operands, strict=True):
        for leaf, maps in sorted(reached.get(parameter, {}).items()):
            known.merge(reached.setdefault(operand, {}), leaf, maps)


def _physical(known: ModuleMaps, m: OperandIndexing, source: Shape, target: Shape) -> OperandIndexing:
    """The map between physical indices of both sides."""
    if m.map.is_undefined or not (is_array(source) and is_array(target)):
        return m
    from_physical = OperandIndexing(to_logical(source))
    moved = known.compose(known.compose(from_physical, m), OperandIndexing(to_physical(target)))
    return replace(moved, leaf=m.leaf)
