"""The functions of one kernel: written on demand, once each, and put together callees first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from indexing.emit.constants import entry
from indexing.emit.elemental import FunctionWriter
from indexing.emit.index import INT32_MAX, IndexScope
from indexing.emit.kernel import Dialect
from indexing.emit.source import identifier, sanitized, translation_unit
from indexing.emit.types import c_type
from indexing.lazy import np
from indexing.ops.block import leaves
from indexing.partition import has_one_index

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction
    from indexing.partition import PartitionedComputation

MAX_INLINED = 64  # lines
_CALL = re.compile("\x01(\\w+)\x02(.?)")  # stands for the pointers that a function takes, until all are known


@dataclass(slots=True)
class Function:
    """A device function: from an index to an element of `outputs`, the arrays of `instruction` that have one index."""

    name: str
    instruction: Instruction
    outputs: tuple[int, ...]
    result: str
    parameters: tuple[str, ...]
    writer: FunctionWriter
    returned: str = ""
    pointers: tuple[int, ...] = ()
    callees: dict[str, None] = field(default_factory=dict)


class Unit:
    """What is written for one computation in one dialect."""

    def __init__(self, dialect: Dialect, computation: Computation, partition: PartitionedComputation) -> None:
        """Nothing is written yet."""
        self.dialect = dialect
        self.computation = computation
        self.partition = partition
        self.structs: list[str] = []
        self.constants: list[str] = []
        self._tables: dict[Instruction, str] = {}
        self._functions: dict[tuple[Instruction, int], Function] = {}  # by the first array that it computes
        self._queue: list[Function] = []

    # ------------------------------------------------------------ what a writer asks for

    def is_together(self, instruction: Instruction, writer: FunctionWriter) -> bool:
        """Whether the partition lets `instruction` be written into the function of `writer`."""
        own = self.partition.find(instruction)
        if own.has_no_compute:
            return True
        return own is writer.home

    def pointer(self, number: int) -> str:
        """The C name of the pointer to parameter `number`."""
        return f"p{number}"

    def call_text(self, name: str, arguments: str) -> str:
        """C text of a call; the pointers are filled in by `assemble`."""
        return f"{name}(\x01{name}\x02{arguments})"

    def table(self, instruction: Instruction) -> str:
        """The C name of the table that holds an array constant, row-major."""
        name = self._tables.get(instruction)
        if name is None:
            name = self._tables[instruction] = f"table{len(self._tables)}"
            kind = instruction.shape.element_type
            values = [entry(v, kind) for v in np.asarray(instruction.literal).reshape(-1)]
            lines = [", ".join(values[k : k + 16]) for k in range(0, len(values), 16)]
            text = ",\n    ".join(lines)
            self.constants.append(f"@constant {c_type(kind).compute} {name}[{len(values)}] = {{\n    {text}}};")
        return name

    def has_function(self, instruction: Instruction, output: int) -> bool:
        """Whether a function of its own computes array `output` of the instruction already."""
        return (instruction, _outputs(instruction, output)[0]) in self._functions

    def function(self, instruction: Instruction, output: int) -> Function:
        """The function that computes array `output` of `instruction`; it is written when `write_functions` runs."""
        outputs = _outputs(instruction, output)
        found = self._functions.get((instruction, outputs[0]))
        if found is None:
            found = self._functions[instruction, outputs[0]] = self._declare(instruction, outputs)
            self._queue.append(found)
        return found

    def _declare(self, instruction: Instruction, outputs: tuple[int, ...]) -> Function:
        name = f"fn{len(self._functions)}_{identifier(instruction.opcode)}"
        parts = [leaves(instruction.shape)[k] for k in outputs]
        kinds = [c_type(p.element_type).compute for p in parts]
        result = kinds[0] if len(kinds) == 1 else f"{name}_result"
        if len(kinds) > 1:
            fields = " ".join(f"{kind} v{k};" for k, kind in enumerate(kinds))
            self.structs.append(f"typedef struct {{ {fields} }} {result};")
        scope = IndexScope()
        parameters = []
        for d, size in enumerate(parts[0].dimensions):
            scope.add(f"i{d}", 0, size - 1)
            parameters.append(f"{'s64' if size - 1 > INT32_MAX else 's32'} i{d}")
        writer = FunctionWriter(self, scope)
        writer.root = instruction
        return Function(name, instruction, outputs, result, tuple(parameters), writer)

    # ------------------------------------------------------------ putting it together

    def write_functions(self) -> None:
        """Write the bodies of all functions asked for, and of those that these ask for."""
        while self._queue:
            function = self._queue.pop(0)
            writer, instruction = function.writer, function.instruction
            index = writer.index_variables()
            values = [writer.value(instruction, index, k) for k in function.outputs]
            if len(values) == 1:
                writer.writer.line(f"return {values[0]};")
            else:
                writer.writer.line(f"{function.result} all;")
                for k, value in enumerate(values):
                    writer.writer.line(f"all.v{k} = {value};")
                writer.writer.line("return all;")
            function.callees = writer.callees

    def assemble(self, comment: str, kernel_head: str, body: FunctionWriter, extra: Iterable[str] = ()) -> str:
        """The whole source: functions, callees first, then the kernel, whose body is in `body`."""
        self.write_functions()
        order = self._callees_first(body)
        known: dict[str, tuple[int, ...]] = {}
        for function in order:
            known[function.name] = tuple(sorted(function.writer.pointers.union(*(known[c] for c in function.callees))))
        definitions = [*self.constants]
        apart = self._kept_apart(order)
        definitions += [self._definition(function, known, apart) for function in order]
        definitions.append("\n".join([f"{kernel_head} {{", *self._resolved(body.writer.kept_lines(), known), "}"]))
        return translation_unit(self.dialect, comment, definitions, [*self.structs, *extra])

    def used_parameters(self, body: FunctionWriter) -> tuple[int, ...]:
        """Numbers of the parameters that the kernel reads, its functions included."""
        self.write_functions()
        return tuple(sorted(body.pointers.union(*(f.writer.pointers for f in self._callees_first(body)))))

    def _callees_first(self, body: FunctionWriter) -> list[Function]:
        by_name = {f.name: f for f in self._functions.values()}
        order: dict[str, Function] = {}
        pending = [(name, False) for name in reversed(body.callees)]
        while pending:
            name, ready = pending.pop()
            if name in order:
                continue
            if ready:
                order[name] = by_name[name]
                continue
            pending.append((name, True))
            pending.extend((callee, False) for callee in reversed(by_name[name].callees) if callee not in order)
        return list(order.values())

    def _kept_apart(self, order: Sequence[Function]) -> frozenset[str]:
        """Functions that a compiler must not inline: with all that they call they would be longer than MAX_INLINED.

        Else a chain of functions that each call the one before twice would grow to all its paths.
        """
        sizes: dict[str, int] = {}
        apart = set()
        for function in order:
            size = _work(function.writer, sizes)
            if size > MAX_INLINED:
                apart.add(function.name)
                size = 1
            sizes[function.name] = size
        return frozenset(apart)

    def _definition(self, function: Function, known: dict[str, tuple[int, ...]], apart: frozenset[str]) -> str:
        pointers = [self.pointer_parameter(n) for n in known[function.name]]
        parameters = ", ".join([*pointers, *function.parameters]) or "void"
        name = sanitized(function.instruction.name)
        qualifier = "@fn @noinline" if function.name in apart else "@fn"
        head = f"// {name}\n{qualifier} {function.result} {function.name}({parameters}) {{"
        return "\n".join([head, *self._resolved(function.writer.writer.kept_lines(), known), "}"])

    def pointer_parameter(self, number: int, qualifier: str = "") -> str:
        """The declaration of the pointer to parameter `number`."""
        kind = self.computation.parameters[number].shape.element_type
        return f"@global const {c_type(kind).storage} *{qualifier}{self.pointer(number)}"

    def _resolved(self, lines: Sequence[str], known: dict[str, tuple[int, ...]]) -> list[str]:
        def pointers(match: re.Match[str]) -> str:
            text = ", ".join(self.pointer(n) for n in known[match[1]])
            return text + (", " if text and match[2] != ")" else "") + match[2]

        return [_CALL.sub(pointers, line) if "\x01" in line else line for line in lines]


def _outputs(instruction: Instruction, output: int) -> tuple[int, ...]:
    """The arrays that one function computes together with array `output`: all, where one index names an element of each."""
    return tuple(range(len(leaves(instruction.shape)))) if has_one_index(instruction.shape) else (output,)


def _work(writer: FunctionWriter, sizes: Mapping[str, int]) -> int:
    """Lines of a function, with those of the functions that it calls, whose `sizes` are known."""
    lines = writer.writer.lines
    return len(lines) + sum(sizes[name] for line in lines for name, _ in _CALL.findall(line))
