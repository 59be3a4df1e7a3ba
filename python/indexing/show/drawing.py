"""Pictures of a computation: instructions as boxes, operands as edges with their indexing maps.

`svg` needs no other program; `dot` is text for Graphviz. Both are pure functions of the computation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from indexing.arguments import of_type, takes
from indexing.hlo import Computation, Instruction
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.ops.operand_indexing import Indexing

WIDTH, HEIGHT = 240, 44  # the sides of a box
GAP_X, GAP_Y, LINE = 24, 44, 12  # gaps between boxes; the height of a line with a map, above the reader's box
LABEL = 46  # characters of such a line
GIVEN, COUNTED, FUSED, LOOPING, OTHER = "#d9e8fb", "#eeeeee", "#fde9c9", "#f9d5d5", "#ffffff"


@dataclass(frozen=True, slots=True)
class Edge:
    """An operand of a user, with the operand's number and its maps, without domains, one per line."""

    operand: Instruction
    user: Instruction
    number: int
    label: str


def edges(computation: Computation) -> list[Edge]:
    """The edges of a computation, in the order of the text."""
    drawn = []
    for user in computation.instructions.values():
        if not user.operands:
            continue
        for number, (operand, indexings) in enumerate(zip(user.operands, maps_of(user), strict=True)):
            maps = [str(indexing.map).partition(", domain")[0] for indexing in indexings]
            drawn.append(Edge(operand, user, number, "\n".join(maps)))
    return drawn


def maps_of(user: Instruction) -> Indexing:
    """The maps of an array's operands; none for a tuple, whose arrays are its operands."""
    return output_to_input(user) if user.shape.is_array else [[] for _ in user.operands]


# ---- Graphviz


@takes(computation=of_type(Computation))
def dot(computation: Computation) -> str:
    """The computation as text for Graphviz's `dot`."""
    numbers = {name: k for k, name in enumerate(computation.instructions)}
    lines = [f"digraph {dot_string(computation.name)} {{", '  node [shape=box, style=filled, fontname="sans-serif"];']
    lines.append('  edge [fontname="sans-serif", fontsize=10];')
    for name, instruction in computation.instructions.items():
        colour = colour_of(instruction)
        width = ", penwidth=2" if instruction.is_root else ""
        lines.append(
            f"  n{numbers[name]} [label={dot_string(caption(instruction))}, fillcolor={dot_string(colour)}{width}];"
        )
    for edge in edges(computation):
        label = "\n".join(shortened(map_text(line), LABEL) for line in edge.label.split("\n"))
        ends = f"n{numbers[edge.operand.name]} -> n{numbers[edge.user.name]}"
        lines.append(f"  {ends} [label={dot_string(label)}, tooltip={dot_string(edge.label)}];")
    return "\n".join([*lines, "}", ""])


def colour_of(instruction: Instruction) -> str:
    """The colour of a box: parameters, other sources, fusions and loops over elements have their own."""
    op = traits_of(instruction)
    if instruction.is_parameter:
        return GIVEN
    if op.is_source:
        return COUNTED
    if instruction.is_fusion:
        return FUSED
    return LOOPING if op.reads_many else OTHER


def dot_string(text: str) -> str:
    """A string of the DOT language, in which backslashes are escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def caption(instruction: Instruction) -> str:
    """The two lines in a box: the name; opcode and shape."""
    return f"{instruction.name}\n{instruction.opcode} {instruction.shape}"


# ---- SVG


@takes(computation=of_type(Computation))
def svg(computation: Computation) -> str:
    """The computation as an SVG picture: operands above their users, and above each user its maps, by the operand's number.

    Lines that are shortened have tooltips with the whole line.
    """
    drawn = edges(computation)
    labels = lines_above(drawn)
    places = layout(computation, {name: len(lines) for name, lines in labels.items()})
    across = max(x for x, _ in places.values()) + WIDTH + GAP_X
    down = max(y for _, y in places.values()) + HEIGHT + GAP_X
    body = [line for edge in drawn for line in edge_svg(edge, places)]
    for i in computation.instructions.values():
        body += labels_svg(labels.get(i.name, []), places[i.name])
        body += box_svg(i, places[i.name])
    size = f'width="{across}" height="{down}" viewBox="0 0 {across} {down}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    marker = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#555555"/></marker></defs>'
    )
    return "\n".join([head, f"<title>{xml_text(computation.name)}</title>", marker, *body, "</svg>", ""])


def lines_above(drawn: Sequence[Edge]) -> dict[str, list[str]]:
    """By the name of a user, a line for each of its maps, with the operand's number if there are several operands."""
    lines: dict[str, list[str]] = {}
    for edge in drawn:
        number = f"{edge.number}: " if len(edge.user.operands) > 1 else ""
        lines.setdefault(edge.user.name, []).extend(number + map_text(line) for line in edge.label.split("\n") if line)
    return lines


def map_text(line: str) -> str:
    """A map; an identity in words."""
    left, _, right = line.partition(" -> ")
    return "same index" if left == right else line


def layout(computation: Computation, lines: Mapping[str, int]) -> Mapping[str, tuple[int, int]]:
    """The position of each box: in a row above all its users and below all its operands, near boxes with the same users.

    `lines` are the numbers of lines above the boxes.
    """
    rows = rows_of_boxes(computation)
    widest = max(map(len, rows))
    places: dict[str, tuple[int, int]] = {}
    y = GAP_X
    for row in rows:
        ordered = sorted(row, key=lambda i: mean_column(i, places))
        y += LINE * max(lines.get(i.name, 0) for i in row)
        indent = GAP_X + (widest - len(row)) * (WIDTH + GAP_X) // 2
        for column, instruction in enumerate(ordered):
            places[instruction.name] = (indent + column * (WIDTH + GAP_X), y)
        y += HEIGHT + GAP_Y
    return places


def rows_of_boxes(computation: Computation) -> list[list[Instruction]]:
    """The instructions by row: directly below the lowest operand; without operands, directly above the highest user."""
    depth: dict[str, int] = {}
    for name, instruction in computation.instructions.items():
        depth[name] = 1 + max((depth[o.name] for o in instruction.operands), default=-1)
    rows: dict[int, list[Instruction]] = {}
    for name, instruction in computation.instructions.items():
        users = [depth[u.name] for u in instruction.users]
        row = min(users) - 1 if users and not instruction.operands else depth[name]
        rows.setdefault(row, []).append(instruction)
    return [rows[k] for k in sorted(rows)]


def mean_column(instruction: Instruction, places: Mapping[str, tuple[int, int]]) -> float:
    """The mean column of the operands; without operands, that of the other operands of its users."""
    beside = instruction.operands or [o for u in instruction.users for o in u.operands]
    columns = [places[o.name][0] for o in beside if o.name in places]
    return sum(columns) / len(columns) if columns else 0.0


def edge_svg(edge: Edge, places: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """A curve from the operand to its position among the user's operands, with its maps in a tooltip."""
    (x0, y0), (x1, y1) = places[edge.operand.name], places[edge.user.name]
    x0, y0 = x0 + WIDTH // 2, y0 + HEIGHT
    x1 += WIDTH * (edge.number + 1) // (len(edge.user.operands) + 1)
    bend = (y1 - y0) // 2
    path = f"M{x0} {y0} C{x0} {y0 + bend} {x1} {y1 - bend} {x1} {y1}"
    yield f'<path d="{path}" fill="none" stroke="#999999" marker-end="url(#arrow)">'
    yield f"<title>{xml_text(edge.label)}</title></path>"


def labels_svg(lines: Sequence[str], place: tuple[int, int]) -> Iterator[str]:
    """The maps of a user, line by line, above its box."""
    x, y = place
    for k, line in enumerate(lines):
        at = y - LINE * (len(lines) - k) + 5
        short = xml_text(shortened(line, LABEL))
        style = 'font-size="9" fill="#444444" stroke="#ffffff" stroke-width="3" paint-order="stroke"'
        yield f'<text x="{x + 2}" y="{at}" {style}>{short}<title>{xml_text(line)}</title></text>'


def box_svg(instruction: Instruction, place: tuple[int, int]) -> Iterator[str]:
    """A rectangle with the instruction's name, opcode and shape."""
    (x, y), colour = place, colour_of(instruction)
    style = f'fill="{colour}" stroke="#333333" stroke-width="{2 if instruction.is_root else 1}"'
    yield f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" {style}/>'
    for k, line in enumerate(caption(instruction).split("\n")[:2]):
        yield text_svg(x + WIDTH // 2, y + 18 + 16 * k, shortened(line), 12 - k, "#111111")


def text_svg(x: int, y: int, line: str, size: int, colour: str) -> str:
    """One centred line."""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}" text-anchor="middle">{xml_text(line)}</text>'


def xml_text(text: str) -> str:
    """The text for XML: characters that are not ASCII, or have a meaning there, by number or name."""
    return escape(text).encode("ascii", "xmlcharrefreplace").decode()


def shortened(line: str, most: int = 34) -> str:
    """The text, shortened to the number of characters that fit in a box."""
    return line if len(line) <= most else line[: most - 1] + "…"
