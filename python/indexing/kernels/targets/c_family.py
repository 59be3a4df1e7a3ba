"""Printing of kernels as source in languages of the C family; the target object has the differences between these.

Kernels must be flattened: each load and store has one index. Functions take the buffers that they read as pointers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import expressions_in
from indexing.kernels.ir.types import storage_type
from indexing.kernels.names import sanitized
from indexing.kernels.targets.c_body import BodyWriter, index_types
from indexing.kernels.targets.c_unit import TranslationUnit, storage_bits
from indexing.kernels.targets.c_values import entry
from indexing.kernels.targets.library import closure
from indexing.kernels.targets.target import Parameter, Target
from indexing.lazy import np
from indexing.ops.element_types import element_type

TABLE_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class SourceParts:
    """A source in parts, so that several kernels can share one: library definitions, and the kernel's own part.

    `names` are the names that `own` defines besides the entry's `name`.
    """

    comment: str
    head: tuple[str, ...]
    library: tuple[str, ...]
    own: tuple[str, ...]
    name: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        """The whole source file."""
        parts = [self.comment, "\n".join(self.head), *self.library, *self.own]
        return "\n\n".join(p for p in parts if p) + "\n"


def joint_source(kernels: Iterable[tuple[SourceParts, str]]) -> str:
    """One source for several kernels, each given with its entry's new name; the preprocessor renames their own names."""
    kernels = list(kernels)
    head = dict.fromkeys(line for parts, _ in kernels for line in parts.head)
    library = dict.fromkeys(text for parts, _ in kernels for text in parts.library)
    texts = ["\n".join(head), *library]
    for parts, entry_name in kernels:
        renamed = {parts.name: entry_name} | {name: f"{entry_name}_{name}" for name in parts.names}
        texts.append("\n".join(f"#define {name} {to}" for name, to in renamed.items()))
        texts += parts.own
        texts.append("\n".join(f"#undef {name}" for name in renamed))
    return "\n\n".join(t for t in texts if t) + "\n"


def write(kernel: ir.Kernel, target: Target) -> str:
    """The kernel's source file, a pure function of kernel and target."""
    return str(write_parts(kernel, target))


def write_parts(kernel: ir.Kernel, target: Target) -> SourceParts:
    """The kernel's source in two parts: its own, and the library functions that it uses."""
    return UnitWriter(kernel, target).parts()


def arguments(kernel: ir.Kernel) -> tuple[ir.Buffer, ...]:
    """The buffers that a launch passes, in the order of the entry's parameters: global ones that alias no other."""
    return tuple(b for b in kernel.buffers if b.space == "global" and b.alias_of is None)


def shared_bytes(kernel: ir.Kernel) -> int:
    """The size of a block's shared memory in bytes."""
    sizes = (b.size * storage_bits(storage_type(b.element_type)) // 8 for b in kernel.buffers if b.space == "shared")
    return sum(sizes)


class UnitWriter(TranslationUnit):
    """Prints a translation unit."""

    def parts(self) -> SourceParts:
        """The whole text; the library's part is known after everything else is printed."""
        constants = [b for b in self.kernel.buffers if b.space == "constant"]
        own = [*map(self._table, constants), *map(self._function, self.kernel.functions), self._entry()]
        definitions = closure(self.used, self.target.library)
        types = [d.text for d in definitions if d.text and not d.is_function]
        library = [f"{self.target.function} {d.text}" for d in definitions if d.is_function]
        functions = [f.name for f in self.kernel.functions]
        return SourceParts(
            f"// {_comment(self.kernel.comment)}" if self.kernel.comment else "",
            (*self.target.prelude, *types, *self.vectors.values()),
            tuple(library),
            tuple(own),
            self.kernel.name,
            (
                *(b.name for b in constants),
                *functions,
                *(f"{f}_results" for f in functions),
                f"{self.kernel.name}_blocks",
            ),
        )

    def _table(self, buffer: ir.Buffer) -> str:
        storage = self.use(storage_type(buffer.element_type))
        values = [entry(v, storage, self.use) for v in _stored(buffer)]
        lines = [", ".join(values[k : k + TABLE_COLUMNS]) for k in range(0, len(values), TABLE_COLUMNS)]
        text = ",\n    ".join(lines)
        return f"{self.target.declarations['constant']}{storage} {buffer.name}[{len(values)}] = {{\n    {text}}};"

    # ------------------------------------------------------------ functions and the entry

    def _function(self, function: ir.Function) -> str:
        body = BodyWriter(self, function.variables, depth=1)
        pointers = [self.pointer(self.buffers[name]) for name in self.reads[function.name]]
        index = [f"{kind} {function.variables[k].name}" for k, kind in index_types(function, self.use)]
        values = [f"{self.use(p.type)} {p.name}" for p in function.parameters]
        result = self.result_type(function)
        body.block(function.body)
        body.returned(function)
        kept = self.target.noinline if function.inline is False else ""
        head = f"{self.target.function}{kept} {result} {function.name}({', '.join([*pointers, *index, *values]) or 'void'}) {{"
        fields = " ".join(f"{self.use(r.type)} r{k};" for k, r in enumerate(function.results))
        struct = f"typedef struct {{ {fields} }} {result};" if len(function.results) != 1 else ""
        comment = f"// {_comment(function.comment)}" if function.comment else ""
        return "\n".join(p for p in (comment, struct, head, *body.lines, "}") if p)

    def _entry(self) -> str:
        parameters = tuple(Parameter(b.name, self.pointer(b, restrict=True)) for b in arguments(self.kernel))
        self.use("s32")
        around = self.target.entry(self.kernel, parameters, _variables_read(self.kernel.body))
        body = BodyWriter(self, self.kernel.variables, depth=around.depth)
        for buffer in self.kernel.buffers:
            if buffer.alias_of is not None:
                space = self.target.spaces[buffer.space]
                kind = f"{space}{self.use(storage_type(buffer.element_type))} *"
                body.line(f"{kind}const {buffer.name} = ({kind}){buffer.alias_of};")
        body.entry(self.kernel)
        for name in around.uses:
            self.use(name)
        return "\n".join([*around.head, *body.lines, *around.closing])


def _variables_read(block: ir.Block) -> frozenset[int]:
    variables: set[int] = set()
    for statement in ir.statements(block):
        for expression in expressions_in(statement):
            variables.update(expression.used_variables())
    return frozenset(variables)


def _stored(buffer: ir.Buffer) -> Iterable[complex]:
    """The elements of a constant buffer in their storage type: floats below f32 as their bits."""
    if not element_type(buffer.element_type).is_narrow_float:
        return [int(v) if isinstance(v, bool) else v for v in buffer.data]
    kind = element_type(buffer.element_type)
    array = np.array(buffer.data, np.float64).astype(kind.dtype)
    return [int(v) for v in array.view(f"u{array.dtype.itemsize}")]


def _comment(text: str) -> str:
    """A comment; its names are sanitized, and anything else that might end it is removed."""
    return " ".join(sanitized(word) if "\\" in word else word for word in text.split())
