"""Pictures of a computation: instructions as boxes, operands as edges that carry their indexing maps.

`svg` needs no other program; `dot` is text for Graphviz. Both are pure functions of the computation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from indexing.arguments import of_type, takes
from indexing.hlo import Computation, Instruction
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.registry import traits_of

WIDTH, HEIGHT = 210, 44  # of a box
GAP_X, GAP_Y = 24, 70
GIVEN, COUNTED, FUSED, LOOPING, OTHER = "#d9e8fb", "#eeeeee", "#fde9c9", "#f9d5d5", "#ffffff"


@dataclass(frozen=True, slots=True)
class Edge:
    """An operand read by a user: its maps, without their domains, one a line."""

    operand: Instruction
    user: Instruction
    label: str


def edges(computation: Computation) -> list[Edge]:
    """Every read of a computation, in the order of the text."""
    found = []
    for user in computation.instructions.values():
        if not user.operands:
            continue
        for operand, indexings in zip(user.operands, output_to_input(user), strict=True):
            maps = [str(indexing.map).partition(", domain")[0] for indexing in indexings]
            found.append(Edge(operand, user, "\n".join(maps)))
    return found


# ---- Graphviz


@takes(computation=of_type(Computation))
def dot(computation: Computation) -> str:
    """The computation as text for Graphviz's `dot`."""
    numbers = {name: k for k, name in enumerate(computation.instructions)}
    lines = [f"digraph {quoted(computation.name)} {{", '  node [shape=box, style=filled, fontname="sans-serif"];']
    for name, instruction in computation.instructions.items():
        colour = colour_of(instruction)
        width = ", penwidth=2" if instruction.is_root else ""
        lines.append(f"  n{numbers[name]} [label={quoted(caption(instruction))}, fillcolor={quoted(colour)}{width}];")
    for edge in edges(computation):
        lines.append(f"  n{numbers[edge.operand.name]} -> n{numbers[edge.user.name]} [label={quoted(edge.label)}];")
    return "\n".join([*lines, "}", ""])


def colour_of(instruction: Instruction) -> str:
    """Of the box: parameters, other sources, fusions and what loops over elements stand out."""
    op = traits_of(instruction)
    if instruction.is_parameter:
        return GIVEN
    if op.is_source:
        return COUNTED
    if instruction.is_fusion:
        return FUSED
    return LOOPING if op.reads_many else OTHER


def quoted(text: str) -> str:
    """A string of the DOT language; backslashes mean nothing in it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def caption(instruction: Instruction) -> str:
    """Two lines: the name; opcode and shape."""
    return f"{instruction.name}\n{instruction.opcode} {instruction.shape}"


# ---- SVG


@takes(computation=of_type(Computation))
def svg(computation: Computation) -> str:
    """The computation as an SVG picture: operands above their users, a tooltip with the maps on each edge."""
    places = layout(computation)
    across = max(x for x, _ in places.values()) + WIDTH + GAP_X
    down = max(y for _, y in places.values()) + HEIGHT + GAP_X
    body = [line for edge in edges(computation) for line in drawn_edge(edge, places)]
    body += [line for i in computation.instructions.values() for line in drawn_box(i, places[i.name])]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" font-family="sans-serif">'
    marker = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#555555"/></marker></defs>'
    )
    return "\n".join([head, f"<title>{escape(computation.name)}</title>", marker, *body, "</svg>", ""])


def layout(computation: Computation) -> Mapping[str, tuple[int, int]]:
    """Where each box stands: a row below all its operands, ordered within the row by where the operands are."""
    depth: dict[str, int] = {}
    rows: dict[int, list[Instruction]] = {}
    for name, instruction in computation.instructions.items():
        depth[name] = 1 + max((depth[o.name] for o in instruction.operands), default=-1)
        rows.setdefault(depth[name], []).append(instruction)
    places: dict[str, tuple[int, int]] = {}
    for row in sorted(rows):
        ordered = sorted(rows[row], key=lambda i: middle(i, places))
        for column, instruction in enumerate(ordered):
            places[instruction.name] = (GAP_X + column * (WIDTH + GAP_X), GAP_X + row * (HEIGHT + GAP_Y))
    return places


def middle(instruction: Instruction, places: Mapping[str, tuple[int, int]]) -> float:
    """The mean column of the operands."""
    columns = [places[o.name][0] for o in instruction.operands]
    return sum(columns) / len(columns) if columns else 0.0


def drawn_edge(edge: Edge, places: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """A curve from operand to user, and the maps beside its middle."""
    (x0, y0), (x1, y1) = places[edge.operand.name], places[edge.user.name]
    x0, y0, x1 = x0 + WIDTH // 2, y0 + HEIGHT, x1 + WIDTH // 2
    bend = (y1 - y0) // 2
    path = f"M{x0} {y0} C{x0} {y0 + bend} {x1} {y1 - bend} {x1} {y1}"
    yield f'<path d="{path}" fill="none" stroke="#555555" marker-end="url(#arrow)">'
    yield f"<title>{escape(edge.label)}</title></path>"
    for k, line in enumerate(edge.label.split("\n")):
        yield text_at((x0 + x1) // 2, (y0 + y1) // 2 + 11 * k, line, 9, "#777777")


def drawn_box(instruction: Instruction, place: tuple[int, int]) -> Iterator[str]:
    """A rectangle with the instruction's name, opcode and shape."""
    (x, y), colour = place, colour_of(instruction)
    style = f'fill="{colour}" stroke="#333333" stroke-width="{2 if instruction.is_root else 1}"'
    yield f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" {style}/>'
    for k, line in enumerate(caption(instruction).split("\n")[:2]):
        yield text_at(x + WIDTH // 2, y + 18 + 16 * k, shortened(line), 12 - k, "#111111")


def text_at(x: int, y: int, line: str, size: int, colour: str) -> str:
    """One centred line."""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}" text-anchor="middle">{ascii_of(line)}</text>'


def ascii_of(text: str) -> str:
    """The text as it stands in XML: what is no ASCII, or means something there, by its number or name."""
    return escape(text).encode("ascii", "xmlcharrefreplace").decode()


def shortened(line: str, most: int = 34) -> str:
    """At most as many characters as a box holds."""
    return line if len(line) <= most else line[: most - 1] + "…"
