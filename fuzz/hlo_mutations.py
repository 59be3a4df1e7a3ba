"""Small wrong changes of HLO text: most make a module that a verifier must refuse, some leave it valid."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

__all__ = ["MUTATIONS", "mutate", "opcodes"]

ELEMENT_TYPES = "pred s4 s8 s16 s32 s64 u8 u16 u32 u64 bf16 f16 f32 f64 f8e4m3fn f8e5m2 c64 c128".split()
_SHAPE = re.compile(r"\b([a-z][a-z0-9]*)\[([0-9,<=?]*)\](\{[0-9,]*\})?")
_LINE = re.compile(r"^\s+(ROOT )?%?([\w.$-]+) = ")
_OPCODE = re.compile(r"(?<= )([a-z][a-z0-9-]*)\(")
_OPERAND = re.compile(r"%([\w.-]+)")
_ATTRIBUTE = re.compile(r", ([a-z_]+)=((?:[^,{}\[\]]|\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\]]*\])+)")
_NUMBER = re.compile(r"-?\b\d+\b")
#: Attributes that say nothing of what is computed, or that any value may have.
_FREE = {"metadata", "backend_config", "sharding", "frontend_attributes", "custom_call_target", "kind", "api_version"}


class Line:
    """One instruction: where its parts are."""

    def __init__(self, lines: list[str], number: int) -> None:
        self.lines, self.number, self.text = lines, number, lines[number]
        head = _LINE.match(self.text)
        opcode = _OPCODE.search(self.text, head.end() - 1) if head else None
        if head is None or opcode is None:
            raise UnfitError
        self.name, self.opcode = head[2], opcode[1]
        self.shape = (head.end(), opcode.start() - 1)
        self.opcode_span = opcode.span(1)
        self.operands = (opcode.end(), _closing(self.text, opcode.end()))

    def replaced(self, span: tuple[int, int], new: str) -> list[str]:
        """All lines, with this one's span replaced."""
        line = self.text[: span[0]] + new + self.text[span[1] :]
        return [*self.lines[: self.number], line, *self.lines[self.number + 1 :]]

    def attributes(self) -> list[re.Match[str]]:
        """The attributes that matter."""
        return [m for m in _ATTRIBUTE.finditer(self.text, self.operands[1]) if m[1] not in _FREE]

    def names_before(self) -> list[str]:
        """What this instruction could have as operands."""
        names: list[str] = []
        for line in reversed(self.lines[: self.number]):
            if line.rstrip().endswith("{"):
                break
            if head := _LINE.match(line):
                names.append(head[2])
        return names


class UnfitError(Exception):
    """A mutation that has nothing to change here."""


def _closing(text: str, at: int) -> int:
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1


def _some(r: random.Random, matches: list[re.Match[str]]) -> re.Match[str]:
    if not matches:
        raise UnfitError
    return r.choice(matches)


def _shapes(line: Line) -> list[re.Match[str]]:
    return [m for m in _SHAPE.finditer(line.text, *line.shape) if m[1] not in ("token", "opaque")]


def _changed(r: random.Random, number: int) -> int:
    return r.choice([number + 1, number - 1, number * 2, 0, 1, number + 7])


def change_dimension(r: random.Random, line: Line) -> list[str]:
    """One size of the result."""
    shape = _some(r, [m for m in _shapes(line) if m[2]])
    sizes = list(_NUMBER.finditer(line.text, *shape.span(2)))
    size = _some(r, sizes)
    return line.replaced(size.span(), str(abs(_changed(r, int(size[0])))))


def change_rank(r: random.Random, line: Line) -> list[str]:
    """A dimension more or less, without a layout."""
    shape = _some(r, _shapes(line))
    sizes = shape[2].split(",") if shape[2] else []
    if sizes and r.random() < 0.5:
        sizes.pop(r.randrange(len(sizes)))
    else:
        sizes.insert(r.randint(0, len(sizes)), str(r.choice([1, 2, 3])))
    return line.replaced(shape.span(), f"{shape[1]}[{','.join(sizes)}]")


def change_type(r: random.Random, line: Line) -> list[str]:
    """The element type of the result."""
    shape = _some(r, _shapes(line))
    return line.replaced(shape.span(1), r.choice(ELEMENT_TYPES))


def change_type_everywhere(r: random.Random, line: Line) -> list[str]:
    """One element type by another in the whole module: operands and results still fit one another."""
    shape = _some(r, _shapes(line))
    new = r.choice(ELEMENT_TYPES)
    return [re.sub(rf"\b{shape[1]}\[", f"{new}[", text) for text in line.lines]


def change_size_everywhere(r: random.Random, line: Line) -> list[str]:
    """One size by another in the whole module."""
    shape = _some(r, [m for m in _shapes(line) if m[2]])
    old = r.choice(_NUMBER.findall(shape[2]))
    new = str(abs(_changed(r, int(old))))

    def sizes(m: re.Match[str]) -> str:
        changed = re.sub(rf"\b{old}\b", new, m[2])
        return f"{m[1]}[{changed}]{m[3] or ''}"

    return [_SHAPE.sub(sizes, text) for text in line.lines]


def _operands(line: Line) -> list[re.Match[str]]:
    return list(_OPERAND.finditer(line.text, *line.operands))


def change_operand(r: random.Random, line: Line) -> list[str]:
    """Another instruction in place of an operand."""
    operand, names = _some(r, _operands(line)), line.names_before()
    start = line.text.rfind(",", line.operands[0], operand.start()) + 1 or line.operands[0]
    return line.replaced((start, operand.end()), f" %{r.choice(names)}")


def _listed(line: Line) -> list[str]:
    return [f"%{m[1]}" for m in _operands(line)]


def drop_operand(r: random.Random, line: Line) -> list[str]:
    """An operand less."""
    names = _listed(line)
    if not names:
        raise UnfitError
    names.pop(r.randrange(len(names)))
    return line.replaced(line.operands, ", ".join(names))


def add_operand(r: random.Random, line: Line) -> list[str]:
    """An operand more."""
    names, before = _listed(line), line.names_before()
    if not before or line.opcode in ("parameter", "constant"):
        raise UnfitError
    names.insert(r.randint(0, len(names)), f"%{r.choice(before)}")
    return line.replaced(line.operands, ", ".join(names))


def swap_operands(r: random.Random, line: Line) -> list[str]:
    """Two operands in each other's place."""
    names = _listed(line)
    if len(set(names)) < 2:
        raise UnfitError
    a, b = r.sample(range(len(names)), 2)
    names[a], names[b] = names[b], names[a]
    return line.replaced(line.operands, ", ".join(names))


def drop_attribute(r: random.Random, line: Line) -> list[str]:
    """An attribute less."""
    return line.replaced(_some(r, line.attributes()).span(), "")


def change_number(r: random.Random, line: Line) -> list[str]:
    """One number in an attribute."""
    attribute = _some(r, line.attributes())
    number = _some(r, list(_NUMBER.finditer(line.text, *attribute.span(2))))
    return line.replaced(number.span(), str(_changed(r, int(number[0]))))


def drop_number(r: random.Random, line: Line) -> list[str]:
    """One number less in a list of an attribute."""
    attribute = _some(r, line.attributes())
    number = _some(r, list(re.finditer(r",-?\d+\b|\b\d+,|(?<=\{)\d+(?=\})", line.text[: attribute.end(2)])))
    if number.start() < attribute.start(2):
        raise UnfitError
    return line.replaced(number.span(), "")


def repeat_number(r: random.Random, line: Line) -> list[str]:
    """One number once more in a list of an attribute."""
    attribute = _some(r, line.attributes())
    number = _some(r, list(re.finditer(r"(?<=[{,])\d+(?=[,}])", line.text[: attribute.end(2)])))
    if number.start() < attribute.start(2):
        raise UnfitError
    return line.replaced(number.span(), f"{number[0]},{number[0]}")


def take_value(r: random.Random, line: Line) -> list[str]:
    """The value that another instruction gives the same attribute."""
    attribute = _some(r, line.attributes())
    others = [m[2] for text in line.lines for m in _ATTRIBUTE.finditer(text) if m[1] == attribute[1]]
    return line.replaced(attribute.span(2), r.choice(others or [attribute[2]]))


def change_word(r: random.Random, line: Line) -> list[str]:
    """A value that is a word, by another that HLO knows somewhere."""
    words = [m for m in line.attributes() if re.fullmatch(r"[A-Za-z_]+", m[2])]
    known = "true false LT EQ TOTALORDER SIGNED FFT IRFFT TRANSPOSE NO_TRANSPOSE rng_normal rng_default kLoop".split()
    return line.replaced(_some(r, words).span(2), r.choice(known))


def change_called(r: random.Random, line: Line) -> list[str]:
    """Another computation in place of a called one."""
    called = _some(r, list(_OPERAND.finditer(line.text, line.operands[1])))
    heads = [m[1] for text in line.lines if (m := re.match(r"%([\w.-]+) .*\{$", text))]
    return line.replaced(called.span(1), r.choice(heads or [called[1]]))


def change_opcode(r: random.Random, line: Line) -> list[str]:
    """Another opcode of the same module, or a common one."""
    opcodes = [m[1] for text in line.lines if (m := _OPCODE.search(text))]
    common = "add and not negate compare select clamp tuple copy sine is-finite reshape bitcast convert sort".split()
    new = r.choice(opcodes if r.random() < 0.5 else common)
    if "parameter" in (new, line.opcode) or "constant" in (new, line.opcode):
        raise UnfitError
    return line.replaced(line.opcode_span, new)


def change_parameter(r: random.Random, line: Line) -> list[str]:
    """A parameter's number."""
    if line.opcode != "parameter":
        raise UnfitError
    return line.replaced(line.operands, str(_changed(r, int(line.text[slice(*line.operands)]))))


def drop_line(r: random.Random, line: Line) -> list[str]:
    """An instruction less."""
    return [*line.lines[: line.number], *line.lines[line.number + 1 :]]


def move_root(r: random.Random, line: Line) -> list[str]:
    """Another root."""
    at = line.number
    while "ROOT " not in line.lines[at]:
        at += 1
    lines = list(line.lines)
    lines[at] = lines[at].replace("ROOT ", "", 1)
    lines[line.number] = re.sub(r"^\s+", "  ROOT ", lines[line.number])
    return lines


def change_header(r: random.Random, line: Line) -> list[str]:
    """A size or a type in `entry_computation_layout`."""
    head = line.lines[0]
    at = head.find("entry_computation_layout=")
    shape = _some(r, list(_SHAPE.finditer(head, at)) if at >= 0 else [])
    spot = shape.span(1) if r.random() < 0.5 else shape.span(2)
    new = r.choice(ELEMENT_TYPES) if spot == shape.span(1) else f"{_changed(r, 3)}"
    return [head[: spot[0]] + new + head[spot[1] :], *line.lines[1:]]


Mutation = Callable[[random.Random, Line], list[str]]
MUTATIONS: tuple[Mutation, ...] = (
    change_dimension,
    change_rank,
    change_type,
    change_type_everywhere,
    change_size_everywhere,
    change_operand,
    drop_operand,
    add_operand,
    swap_operands,
    drop_attribute,
    change_number,
    drop_number,
    repeat_number,
    take_value,
    change_word,
    change_called,
    change_opcode,
    change_parameter,
    drop_line,
    move_root,
    change_header,
)


def opcodes(text: str) -> dict[str, list[int]]:
    """The lines of each opcode."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n")):
        head = _LINE.match(line)
        if head and (opcode := _OPCODE.search(line, head.end() - 1)):
            lines.setdefault(opcode[1], []).append(number)
    return lines


def mutate(text: str, r: random.Random, opcode: str = "") -> tuple[str, str]:
    """A text that differs by one mutation, and what was done: the mutation and the opcode of the line.

    The line has this opcode; without one, opcodes are as likely as one another, however many lines they have.
    """
    lines, numbers = text.split("\n"), opcodes(text)
    while True:
        line = Line(lines, r.choice(numbers[opcode or r.choice(list(numbers))]))
        mutation = r.choice(MUTATIONS)
        try:
            changed = "\n".join(mutation(r, line))
        except UnfitError:
            continue
        if changed != text:
            return changed, f"{mutation.__name__} {line.opcode}"
