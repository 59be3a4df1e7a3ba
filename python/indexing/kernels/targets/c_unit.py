"""A translation unit of C: declarations of one source, and the names that it uses of the kernel and of the library."""

from __future__ import annotations

from indexing.errors import CompileError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import loads_of
from indexing.kernels.ir.types import storage_type
from indexing.kernels.targets.target import Target


class TranslationUnit:
    """The declarations of one source, and the names that it uses."""

    def __init__(self, kernel: ir.Kernel, target: Target) -> None:
        """Start without used names."""
        self.kernel, self.target = kernel, target
        self.buffers = {b.name: b for b in kernel.buffers}
        self.functions = {f.name: f for f in kernel.functions}
        self.used: set[str] = set()
        self.vectors: dict[str, str] = {}
        self.written_to = self._written_to()
        self.reads: dict[str, tuple[str, ...]] = {}
        for function in kernel.functions:
            self.reads[function.name] = self._reads(function)

    def use(self, name: str) -> str:
        """Record that the source uses a name of the library; returns the name."""
        known = {"pred": "bool"}.get(name, name)
        if known not in self.target.library:
            raise CompileError(
                f"kernel {self.kernel.name} needs {name!r}, which target {self.target.name!r} does not have"
            )
        self.used.add(known)
        return known

    def _written_to(self) -> frozenset[str]:
        """The buffers that the kernel writes to, directly or through an alias."""
        buffers: set[str] = set()
        for statement in ir.statements(self.kernel.body):
            if isinstance(statement, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
                buffers.add(statement.buffer)
            buffers.update(m.buffer for m in moves(statement) if m.kind == "store")
        return frozenset(buffers | {a for b in buffers if (a := self.buffers[b].alias_of) is not None})

    def _reads(self, function: ir.Function) -> tuple[str, ...]:
        """The buffers that a function takes as pointers: those that it reads, or a function that it calls."""
        buffers: set[str] = set()
        for statement in [*ir.statements(function.body), *(ir.Let("", r) for r in function.results)]:
            buffers.update(v.buffer for v in loads_of(statement))
            if isinstance(statement, ir.CallFunction):
                buffers.update(self.reads[statement.function])
        return tuple(b.name for b in self.kernel.buffers if b.name in buffers and b.space != "constant")

    def pointer(self, buffer: ir.Buffer, *, restrict: bool = False) -> str:
        """The declaration of a pointer to a buffer's elements."""
        constant = "" if buffer.name in self.written_to else "const "
        aliased = buffer.alias_of is not None or any(b.alias_of == buffer.name for b in self.kernel.buffers)
        kept = f"{self.target.restrict} " if restrict and not aliased else ""
        return f"{self.target.spaces[buffer.space]}{constant}{self.use(storage_type(buffer.element_type))} *{kept}{buffer.name}"

    def declaration(self, buffer: ir.Buffer, *, aligned: bool) -> str:
        """The line that declares shared or local memory."""
        storage = self.use(storage_type(buffer.element_type))
        qualifier = self.target.declarations[buffer.space] + (self.target.aligned.format(n=16) + " " if aligned else "")
        return f"{qualifier}{storage} {buffer.name}[{max(buffer.size, 1)}];"

    def vector(self, element_type_name: str, width: int) -> str:
        """The type of `width` neighbouring elements, aligned to its size, up to 16 bytes."""
        storage = self.use(storage_type(element_type_name))
        name = f"{storage}x{width}"
        alignment = min(storage_bits(storage) // 8 * width, 16)
        aligned = self.target.aligned.format(n=alignment)
        self.vectors[name] = f"typedef struct {aligned} {{ {storage} v[{width}]; }} {name};"
        return name

    def result_type(self, function: ir.Function) -> str:
        """The type that a function returns: its result's, or a struct of its results."""
        if len(function.results) == 1:
            return self.use(function.results[0].type)
        return f"{function.name}_results"


def storage_bits(storage: str) -> int:
    """The width of a storage type in bits."""
    return int(storage[1:])
