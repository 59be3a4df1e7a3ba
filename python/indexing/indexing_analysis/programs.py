"""Maps between the elements of a program's outputs and inputs, in both directions, by the names of the arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, cast, overload

from indexing.arguments import described, integer, one_of
from indexing.cached import cached_property
from indexing.display import count_text, shown
from indexing.errors import IndexingError
from indexing.hlo import Instruction, Module, Part, Program, Shape, from_jax
from indexing.hlo.files import load
from indexing.hlo.front_ends import lower, output_names
from indexing.hlo.program_like import is_function, is_staged, parameter_names, part_of_program
from indexing.indexing_analysis.computations import maps_of
from indexing.ops.operand_indexing import Indexing, OperandIndexing
from indexing.processes import by_processes

Direction = Literal["output_to_input", "input_to_output"]
#: The array at the near side of maps, and that at the far side, by name.
Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Array:
    """An input or output array: its name and shape, its operand's number (0 for outputs), and its number in that operand."""

    name: str
    shape: Shape
    number: int
    leaf: int


class InstructionIndexing(Sequence["Indexing"]):
    """The maps of one instruction: for each array of its shape the result of `output_to_input`, or for each operand that of
    `input_to_output`. The core has computed them; Python objects are created on access.
    """

    __slots__ = ("_instruction", "_inverse")

    def __init__(self, instruction: Instruction, inverse: bool) -> None:
        """Made by `maps`."""
        self._instruction = instruction
        self._inverse = inverse

    def __len__(self) -> int:
        """The number of arrays (or operands)."""
        return len(self._instruction.operands if self._inverse else self._instruction.shape.leaves)

    @overload
    def __getitem__(self, index: int) -> Indexing: ...

    @overload
    def __getitem__(self, index: slice) -> list[Indexing]: ...

    def __getitem__(self, index: int | slice) -> Indexing | list[Indexing]:
        """The maps of one array (or operand); of a slice, those of several."""
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        return maps_of(self._instruction.module).of_instruction(self._instruction, at, self._inverse)

    def __eq__(self, other: object) -> bool:
        """Whether the maps are those of another sequence of them, or of a list."""
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # its lists are mutable

    def __repr__(self) -> str:
        """As a list."""
        return repr(list(self))


class InstructionMaps(Mapping[Instruction, InstructionIndexing]):
    """The maps of each instruction of a module, computed on first access; once for equal instructions (opcode, shapes,
    attributes, called computations by content).

    `maps[instruction]` has, for each array of its shape, the result of `output_to_input`; with "input_to_output", for each
    operand, that of `input_to_output`.
    """

    def __init__(self, module: Module, direction: Direction) -> None:
        """Made by `maps`."""
        self.module = module
        self.direction = direction
        self._known: dict[int, InstructionIndexing] = {}  # by the numbers of `ModuleMaps.find_formulas`

    def __getitem__(self, instruction: Instruction) -> InstructionIndexing:
        """The maps of an instruction. Raises KeyError for one of another module."""
        if instruction.module is not self.module:
            raise KeyError(f"{instruction.name} is no instruction of {self.module.name}")
        (maps,) = self._of_rows([instruction])
        return maps

    def __iter__(self) -> Iterator[Instruction]:
        """All instructions, computation by computation."""
        return (i for c in self.module.computations.values() for i in c.listed)

    def items(self) -> ItemsView[Instruction, InstructionIndexing]:
        """All instructions with their maps, computation by computation."""
        return _InstructionItems(self)

    def _of_rows(self, instructions: Sequence[Instruction]) -> Iterator[InstructionIndexing]:
        """The maps of instructions of successive rows; raises the error of the first that has none."""
        known, inverse = self._known, self.direction == "input_to_output"
        rest = instructions
        while rest:  # once, unless an instruction has no maps
            numbers = maps_of(self.module).find_formulas(rest[0].row, rest[-1].row + 1, inverse)
            fresh = {n: i for n, i in zip(numbers, rest, strict=False) if n not in known}
            known.update((n, InstructionIndexing(i, inverse)) for n, i in fresh.items())
            yield from map(known.__getitem__, numbers)
            rest = rest[len(numbers) :]

    def __len__(self) -> int:
        """The number of instructions."""
        return self.module.instruction_count

    def __repr__(self) -> str:
        """The module, and how many instructions it has."""
        return f"<maps of the {len(self)} instructions of {self.module.name}>"


class _InstructionItems(ItemsView[Instruction, InstructionIndexing]):
    """The instructions of a module with their maps."""

    _mapping: InstructionMaps

    def __iter__(self) -> Iterator[tuple[Instruction, InstructionIndexing]]:
        for computation in self._mapping.module.computations.values():
            listed = computation.listed
            yield from zip(listed, self._mapping._of_rows(listed), strict=True)


class ProgramMaps(Mapping[Pair, "list[OperandIndexing]"]):
    """The maps between a program's inputs and outputs, by the names of both; computed on first access.

    `maps[output, input]` (with "input_to_output", `maps[input, output]`) lists the maps between two arrays; it is empty if
    one doesn't need the other. `maps.of(name)` has all that start at an array, by the name of the other. Names of a JAX
    program are those of its pytrees' leaves. `print` shows all.
    """

    def __init__(self, part: Part, names: tuple[str, ...], direction: Direction) -> None:
        """Made by `maps`, with the names of the outputs, or none."""
        self.part = part
        self.direction = direction
        self._names = names
        self._indexings: dict[int, dict[int, list[OperandIndexing]]] = {}
        self._instructions: InstructionMaps | None = None

    @cached_property
    def inputs(self) -> tuple[Array, ...]:
        """The input arrays."""
        return _inputs(self.part)

    @cached_property
    def outputs(self) -> tuple[Array, ...]:
        """The output arrays."""
        return _outputs(self.part, self._names)

    @property
    def instructions(self) -> InstructionMaps:
        """The maps of each single instruction of the program's module."""
        if self._instructions is None:
            self._instructions = InstructionMaps(self.part.module, self.direction)
        return self._instructions

    @property
    def near(self) -> tuple[Array, ...]:
        """The arrays from which maps start."""
        return self.outputs if self.direction == "output_to_input" else self.inputs

    @property
    def far(self) -> tuple[Array, ...]:
        """The arrays to which maps lead."""
        return self.inputs if self.direction == "output_to_input" else self.outputs

    def __getitem__(self, names: Pair | str) -> list[OperandIndexing]:
        """The maps between two arrays. Raises KeyError, which lists the names, for unknown ones; for one name, see `of`."""
        if isinstance(names, str):
            raise KeyError(f"give two names, maps[{names!r}, ...]; maps.of({names!r}) gives all that start there")
        if not isinstance(names, tuple) or len(names) != 2:
            raise TypeError(f"maps are found by the names of two arrays, maps[name, name]; got {names!r}")
        start, end = (_named(name, arrays) for name, arrays in zip(names, self._by_name, strict=True))
        return self._between(start, end)

    def of(self, name: str) -> dict[str, list[OperandIndexing]]:
        """All maps that start at this array, by the name of the array that they lead to; arrays without maps are omitted."""
        return self._of(_named(name, self._by_name[0]))

    def __iter__(self) -> Iterator[Pair]:
        """The pairs of names, whether maps lead from one to the other or not."""
        return ((start.name, end.name) for start in self.near for end in self.far)

    def find(self) -> None:
        """Compute all maps now."""
        for start in self.near:
            self._from(self._start(start))

    def __getstate__(self) -> dict[str, object]:
        """The state to pickle: all maps found so far; those of single instructions are computed again."""
        return {**self.__dict__, "_instructions": None}

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.inputs) * len(self.outputs)

    def __str__(self) -> str:
        """For each array from which maps start, its shape and, indented, the arrays that its elements need (or reach)."""
        lines = [line for start in self.near for line in self._lines(start)]
        missing = "results" if self.direction == "output_to_input" else "inputs"
        return "\n".join(lines or [f"{self.part.name} has no {missing}"])

    def __repr__(self) -> str:
        """The part, and how many arrays there are."""
        counted = f"{count_text(len(self.inputs), 'input')}, {count_text(len(self.outputs), 'output')}"
        return f"<maps of {self.part.name}: {counted}>"

    def _repr_html_(self) -> str | None:
        return shown(self, "maps_table")

    def _of(self, start: Array) -> dict[str, list[OperandIndexing]]:
        reached = sorted(n for place in self._from(self._start(start)) for n in self._ends_by_place[place])
        by_end = {self.far[n].name: self._between(start, self.far[n]) for n in reached}
        return {end: maps for end, maps in by_end.items() if maps}

    def _between(self, start: Array, end: Array) -> list[OperandIndexing]:
        indexings = self._from(self._start(start)).get(self._place(end), [])
        leaf = end.leaf if self.direction == "output_to_input" else start.leaf
        return [replace(m, leaf=0) if leaf else m for m in indexings if m.leaf == leaf]

    @cached_property
    def _by_name(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """The arrays from which maps start, and those to which they lead, by name."""
        return {a.name: a for a in self.near}, {a.name: a for a in self.far}

    @cached_property
    def _ends_by_place(self) -> dict[int, list[int]]:
        """The numbers of the arrays to which maps lead, by their place in an answer: the arrays of a tuple share one."""
        by_place: dict[int, list[int]] = {}
        for k, end in enumerate(self.far):
            by_place.setdefault(self._place(end), []).append(k)
        return by_place

    def _place(self, end: Array) -> int:
        return end.number if self.direction == "output_to_input" else end.leaf

    def _start(self, array: Array) -> int:
        return array.leaf if self.direction == "output_to_input" else array.number

    def _from(self, number: int) -> dict[int, list[OperandIndexing]]:
        """The answer for a start, without the places that it does not reach."""
        indexing = self._indexings.get(number)
        if indexing is None:
            inverse = self.direction == "input_to_output"
            indexing = maps_of(self.part.module).reached(self.part, number, (), inverse)
            self._indexings[number] = indexing
        return indexing

    def _lines(self, start: Array) -> Iterator[str]:
        yield f"{start.name}: {start.shape}"
        by_end = self._of(start)
        width = max(map(len, by_end), default=0)
        for name, indexings in by_end.items():
            for k, m in enumerate(indexings):
                yield f"  {'' if k else name:{width}}  {m.map}"
                yield from (f"  {'':{width}}  {line}" for line in _about(m))
        if not by_end:
            yield "  nothing"


def _about(m: OperandIndexing) -> Iterator[str]:
    """The places of runtime variables' values, and the reason why the map isn't exact."""
    for variable, value in zip(m.map.runtimes, m.runtime_values, strict=True):
        yield f"{variable.name}: element {str(value.map).partition(', domain')[0]} of {value.instruction.name}"
    if m.exactness != "exact":
        yield f"{m.exactness}: {m.reason}"


@dataclass(frozen=True, slots=True)
class FileMaps:
    """The maps of a file's program, all computed; or None, with the `error` that prevented it."""

    path: str
    maps: ProgramMaps | None
    error: str | None = None


@overload
def maps(
    program: Program | Callable[..., object],
    *args: object,
    direction: Direction = "output_to_input",
    workers: None = None,
) -> ProgramMaps: ...


@overload
def maps(
    program: Sequence[str | os.PathLike[str]], *, direction: Direction = "output_to_input", workers: int
) -> Iterator[FileMaps]: ...


def maps(
    program: Program | Callable[..., object] | Sequence[str | os.PathLike[str]],
    *args: object,
    direction: Direction = "output_to_input",
    workers: int | None = None,
    **keywords: object,
) -> ProgramMaps | Iterator[FileMaps]:
    """The elements of each input that each element of each output needs; with "input_to_output", those that need it.

    `program` is a module (its entry), a computation, an instruction, HLO text, or a JAX function, followed by its arguments
    and keyword arguments (arrays, or anything with a shape and a dtype). `.instructions` has the maps of each instruction of
    its module.

    With `workers`, it is a list of files that `ix.hlo.load` reads: that many processes compute the maps of all of them, and
    yield a `FileMaps` for each as it is done. A file that can't be read, or whose process dies, yields its error. Scripts
    must call this below `if __name__ == "__main__":`, since worker processes import them.
    """
    one_of("output_to_input", "input_to_output")(direction, "maps: direction")
    if workers is not None:
        if args or keywords:
            raise TypeError("maps: files take no arguments; only a function does")
        integer(workers, "maps: workers")
        return _of_files(program, direction, workers)
    return _of_program(cast("Program | Callable[..., object]", program), args, keywords, direction)


def _of_files(files: object, direction: Direction, workers: int) -> Iterator[FileMaps]:
    if workers < 1:
        raise IndexingError(f"maps: workers is at least 1; got {workers}")
    if isinstance(files, str | bytes) or not isinstance(files, Sequence):
        raise TypeError(f"maps: workers are for a list of files; got a {type(files).__name__}")
    paths = []
    for file in files:
        if not isinstance(file, str | os.PathLike):
            raise TypeError(f"maps: workers are for a list of files; got one with a {type(file).__name__}")
        paths.append(os.fspath(file))
    return by_processes(paths, workers, partial(_of_file, direction=direction), _failed)


def _of_file(path: str, direction: Direction) -> FileMaps:
    try:
        maps = _of_program(load(path), (), {}, direction)
        maps.find()
    except (IndexingError, OSError, RecursionError) as error:
        return _failed(path, f"{type(error).__name__}: {error}")
    return FileMaps(path, maps)


def _failed(path: str, error: str) -> FileMaps:
    return FileMaps(path, None, error)


def _of_program(
    program: Program | Callable[..., object],
    args: tuple[object, ...],
    keywords: dict[str, Any],
    direction: Direction,
) -> ProgramMaps:
    if is_function(program):
        staged = program if is_staged(program) else lower(program, args, keywords)
        names = output_names(staged)
        given, named = (args, keywords) if staged is program else ((), {})
        part: Part = from_jax(staged, *given, **named).entry
    elif args or keywords:
        raise TypeError(f"maps: {described(program)} takes no arguments; only a function does")
    else:
        part = part_of_program(program, "maps: program")
        names = ()
    return ProgramMaps(part, names, direction)


def _inputs(part: Part) -> tuple[Array, ...]:
    names = parameter_names(part)
    pairs = enumerate(zip(part.operands, names, strict=True))
    return tuple(a for k, (operand, name) in pairs for a in _arrays(name, operand.shape, k))


def _outputs(part: Part, names: tuple[str, ...]) -> tuple[Array, ...]:
    arrays = _arrays("result", part.shape, 0)
    if len(names) != len(arrays):
        return arrays
    return tuple(Array(name, a.shape, 0, a.leaf) for name, a in zip(names, arrays, strict=True))


def _arrays(name: str, shape: Shape, number: int) -> tuple[Array, ...]:
    shapes = shape.leaves
    one = not shape.is_tuple
    return tuple(Array(name if one else f"{name}[{k}]", s, number, k) for k, s in enumerate(shapes))


def _named(name: str, arrays: dict[str, Array]) -> Array:
    if name not in arrays:
        raise KeyError(f"there is no array {name!r}; there is {', '.join(arrays) or 'none'}")
    return arrays[name]
