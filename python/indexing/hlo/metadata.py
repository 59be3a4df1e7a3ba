"""The origin of an instruction from its metadata: its name in the program, and its source location."""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexing.arguments import of_type
from indexing.hlo.program import Instruction, Module
from indexing.hlo.quoted import unescaped

_FIELD = re.compile(r'\b(\w++)=(?:"((?:[^"\\]|\\.)*)"|(\d+))')
_ROW = re.compile(r'^(\d+) (?:"((?:[^"\\]|\\.)*)"|\{([^}]*)\})$', re.MULTILINE)
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?[\w.-]++[^=\n]*+(?<=\{)$", re.MULTILINE)
_TABLE = re.compile(r"^(FileNames|FunctionNames|FileLocations|StackFrames)\n((?:\d+ .*\n)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a source file, and its function, if that is known."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        """The file and the line in the format of compilers, and the function in parentheses."""
        return f"{self.file}:{self.line}" + (f" ({self.function})" if self.function else "")


def op_name(instruction: Instruction) -> str:
    """The name from the front end: `jit(f)/reduce_sum`, or `params['w']` for a parameter."""
    of_type(Instruction)(instruction, "op_name: instruction")
    return _fields(instruction).get("op_name", "")


def source_place(instruction: Instruction) -> Place | None:
    """The innermost source line of the instruction; None if the metadata has none."""
    of_type(Instruction)(instruction, "source_place: instruction")
    fields = _fields(instruction)
    if "source_file" in fields:
        line = fields.get("source_line", "0")
        return Place(fields["source_file"], int(line))
    frame = fields.get("stack_frame_id")
    return instruction.module.attached(_Frames).place(instruction.module, frame) if frame else None


def _fields(instruction: Instruction) -> dict[str, str]:
    text = instruction.attributes.get("metadata", "")
    return {m[1]: unescaped(m[2]) if m[2] is not None else m[3] for m in _FIELD.finditer(text)}


class _Frames:
    """The tables of stack frames in a module's header, parsed on first access."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, str]] | None = None

    def place(self, module: Module, frame: str) -> Place | None:
        """The place of a stack frame; None if a table lacks an entry that another refers to."""
        if self._tables is None:
            self._tables = _tables(str(module))
        location = self._fields("FileLocations", self._fields("StackFrames", frame).get("file_location_id"))
        file = self._tables.get("FileNames", {}).get(location.get("file_name_id", ""))
        if file is None:
            return None
        function = self._tables.get("FunctionNames", {}).get(location.get("function_name_id", ""), "")
        return Place(file, int(location.get("line", "0")), function)

    def _fields(self, table: str, row: str | None) -> dict[str, str]:
        text = (self._tables or {}).get(table, {}).get(row or "", "")
        return dict(part.split("=", 1) for part in text.split() if "=" in part)


def _tables(text: str) -> dict[str, dict[str, str]]:
    """The tables in a module's header, with their rows by number."""
    tables: dict[str, dict[str, str]] = {}
    for table in _TABLE.finditer(text[: _end_of_header(text)]):
        rows = _ROW.finditer(table[2])
        tables[table[1]] = {m[1]: unescaped(m[2]) if m[2] is not None else m[3] for m in rows}
    return tables


def _end_of_header(text: str) -> int:
    """The start of the first computation, whose header is the first line that ends with a brace."""
    computation = _COMPUTATION.search(text)
    return computation.start() if computation else len(text)
