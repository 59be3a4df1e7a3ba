"""Pictures of a computation: instructions as boxes, operands as edges with their indexing maps.

`svg` needs no other program; `dot` is text for Graphviz. Both are pure functions of the computation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from indexing.arguments import of_type, takes
from indexing.hlo import Computation, Instruction
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.operand_indexing import Indexing
from indexing.ops.registry import traits_of
from indexing.show.colours import COUNTED, FUSED, GIVEN, INK, LINE, LOOPING, MUTED, OTHER
from indexing.show.layers import Link, Point, curves, place_in_layers

EDGE, HEIGHT = 16, 44  # pixels around the picture; the height of a box
ROW = 13  # the height of a line with a map, above the reader's box
NAME, LABEL = 60, 46  # characters of a line in a box, and of a line with a map
POINTS = 72  # points of an inch: Graphviz has widths in inches
PORTS = 10  # pixels between the ends of edges at a box


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
    lines = [f"digraph {dot_string(computation.name)} {{", "  graph [bgcolor=transparent, ranksep=0.6, nodesep=0.3];"]
    font = 'fontname="Helvetica,Arial,sans-serif"'
    lines.append(f'  node [shape=box, style=filled, {font}, fontsize=12, color="{LINE}", fontcolor="{INK}"];')
    lines.append(f'  edge [{font}, fontsize=10, color="{LINE}", fontcolor="{MUTED}", headport=n, tailport=s];')
    for name, instruction in computation.instructions.items():
        colour = colour_of(instruction)
        line = ", penwidth=2" if instruction.is_root else ""
        width = Box(instruction, []).inner_width / POINTS  # Graphviz measures with a font that a reader may not have
        label = f"label={dot_string(caption(instruction))}, width={width:.2f}"
        lines.append(f"  n{numbers[name]} [{label}, fillcolor={dot_string(colour)}{line}];")
    for edge in edges(computation):
        texts = (shortened(map_text(line), LABEL) for line in edge.label.split("\n") if line)
        label = "\n".join(text.center(len(text) * 5 // 4 + 6) for text in texts)
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


@dataclass(frozen=True, slots=True)
class Box:
    """An instruction and the lines above it: its maps, to the right of where its edges end."""

    instruction: Instruction
    lines: list[str]

    @property
    def inner_width(self) -> int:
        """The width of the rectangle."""
        return 24 + 7 * max(len(shortened(line, NAME)) for line in caption(self.instruction).split("\n"))

    @property
    def ports(self) -> float:
        """Half of the width that the ends of edges take."""
        return min(PORTS * (len(self.instruction.operands) - 1), self.inner_width - 24) / 2

    @property
    def size(self) -> Point:
        """The size with the lines, whose longest decides how wide it is on both sides."""
        longest = max((len(shortened(line, LABEL)) for line in self.lines), default=0)
        width = max(self.inner_width, round(2 * self.ports) + 16 + 12 * longest)
        return width, HEIGHT + ROW * len(self.lines)

    def port(self, number: int) -> Point:
        """The end of an operand's edge, from the upper left corner."""
        step = 2 * self.ports / max(len(self.instruction.operands) - 1, 1)
        return round(self.size[0] / 2 - self.ports + step * number), ROW * len(self.lines)


@takes(computation=of_type(Computation))
def svg(computation: Computation) -> str:
    """The computation as an SVG picture: operands above their users, and above each user its maps, by the operand's number.

    Lines that are shortened have tooltips with the whole line.
    """
    drawn = edges(computation)
    labels = lines_above(drawn)
    boxes = {name: Box(i, labels.get(name, [])) for name, i in computation.instructions.items()}
    numbers = {name: k for k, name in enumerate(boxes)}
    links = [Link(numbers[e.operand.name], numbers[e.user.name], boxes[e.user.name].port(e.number)) for e in drawn]
    places = place_in_layers([box.size for box in boxes.values()], levels_of(computation), links)
    body = [line for edge, route in zip(drawn, places.routes, strict=True) for line in edge_svg(edge, curves(route))]
    for box, place in zip(boxes.values(), places.corners, strict=True):
        body += box_svg(box, place)
    across, down = (side + 2 * EDGE for side in places.size)
    size = f'width="{across}" height="{down}" viewBox="{-EDGE} {-EDGE} {across} {down}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    title = f"<title>{xml_text(computation.name)}</title>"
    return "\n".join([head, title, arrow_head("arrow"), *body, "</svg>", ""])


def arrow_head(name: str) -> str:
    """The head of arrows, to refer to by its name."""
    marker = f'<marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    return f'<defs>{marker}<path d="M0 0 L8 4 L0 8 z" fill="{LINE}"/></marker></defs>'


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


def levels_of(computation: Computation) -> list[int]:
    """The row of each instruction: directly below the lowest operand; without operands, directly above the highest user."""
    depth: dict[str, int] = {}
    for name, instruction in computation.instructions.items():
        depth[name] = 1 + max((depth[o.name] for o in instruction.operands), default=-1)
    levels = []
    for name, instruction in computation.instructions.items():
        users = [depth[u.name] for u in instruction.users]
        levels.append(min(users) - 1 if users and not instruction.operands else depth[name])
    return levels


def edge_svg(edge: Edge, path: str) -> Iterator[str]:
    """An edge, with its maps in a tooltip."""
    yield f'<path d="{path}" fill="none" stroke="{LINE}" marker-end="url(#arrow)">'
    yield f"<title>{xml_text(edge.label)}</title></path>"


def box_svg(box: Box, place: Point) -> Iterator[str]:
    """A rectangle with the instruction's name, opcode and shape; above it its maps, line by line."""
    middle, top = place[0] + box.size[0] // 2, place[1] + box.size[1] - HEIGHT
    for k, line in enumerate(box.lines):
        x, y = round(middle + box.ports + 8), place[1] + ROW * k + 8
        yield text_svg(x, y, line, LABEL, f'font-size="10" fill="{MUTED}"')
    root = box.instruction.is_root
    style = f'fill="{colour_of(box.instruction)}" stroke="{INK if root else LINE}" stroke-width="{2 if root else 1}"'
    inner = box.inner_width
    yield f'<rect x="{middle - inner // 2}" y="{top}" width="{inner}" height="{HEIGHT}" rx="5" {style}/>'
    for k, line in enumerate(caption(box.instruction).split("\n")):
        yield text_svg(middle, top + 18 + 16 * k, line, NAME, f'font-size="{12 - k}" fill="{INK}" text-anchor="middle"')


def text_svg(x: int, y: int, line: str, most: int, style: str) -> str:
    """One line, with a tooltip if it is shortened."""
    whole = f"<title>{xml_text(line)}</title>" if len(line) > most else ""
    return f'<text x="{x}" y="{y}" {style}>{xml_text(shortened(line, most))}{whole}</text>'


def xml_text(text: str) -> str:
    """The text for XML: characters that are not ASCII, or have a meaning there, by number or name."""
    return escape(text).encode("ascii", "xmlcharrefreplace").decode()


def shortened(line: str, most: int) -> str:
    """The text, shortened to so many characters."""
    return line if len(line) <= most else line[: most - 1] + "…"
