"""The places of boxes in rows, operands above their users. Edges pass through gaps between boxes, never behind one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

Point: TypeAlias = tuple[int, int]
Size: TypeAlias = tuple[int, int]
GAP_X, GAP_Y = 22, 40  # pixels between the boxes of a row, and between rows
SWEEPS = 6  # down and up by turns, after which crossings hardly become fewer


@dataclass(frozen=True, slots=True)
class Link:
    """An edge from one box to another, by number; `port` is where it ends, from the upper left corner of the box."""

    start: int
    end: int
    port: Point


@dataclass(frozen=True, slots=True)
class Layers:
    """The upper left corner of each box, the points of each edge, and the size of all."""

    corners: list[Point]
    routes: list[list[Point]]
    size: Size


def place_in_layers(sizes: Sequence[Size], levels: Sequence[int], links: Sequence[Link]) -> Layers:
    """Place boxes with these sizes in rows by level, and each near what it is linked to.

    An edge that passes a level has a lane there, a box without width that the edges from the same box share: each begins
    where those before it left the lane.
    """
    lanes: dict[Point, int] = {}
    for link in links:
        for level in range(levels[link.start] + 1, levels[link.end]):
            lanes.setdefault((link.start, level), len(sizes) + len(lanes))
    rows: dict[int, list[int]] = defaultdict(list)
    for number, level in [*enumerate(levels), *((lane, level) for (_, level), lane in lanes.items())]:
        rows[level].append(number)
    widths = [width for width, _ in sizes] + [0] * len(lanes)
    middles = _middles([rows[k] for k in sorted(rows)], _steps(links, levels, lanes), widths)
    tops = _tops(rows, sizes)
    corners = [(middles[k] - w // 2, tops[levels[k]][1] - h) for k, (w, h) in enumerate(sizes)]
    routes: list[list[Point]] = [[] for _ in links]
    reached = list(levels)  # by box, the level down to which its lane is drawn
    for number in sorted(range(len(links)), key=lambda k: levels[links[k].end]):
        link = links[number]
        first, reached[link.start] = reached[link.start], levels[link.end] - 1
        end_x, end_y = (corner + port for corner, port in zip(corners[link.end], link.port, strict=True))
        start = (middles[lanes.get((link.start, first), link.start)], tops[first][1])
        passed = [middles[lanes[link.start, k]] for k in range(first + 1, levels[link.end])]
        between = [(x, y) for k, x in enumerate(passed, first + 1) for y in tops[k]]
        above = (end_x, tops[levels[link.end]][0])
        routes[number] = [start, *between, above, *([(end_x, end_y)] if end_y > above[1] else [])]
    across = max(x + w for (x, _), (w, _) in zip(corners, sizes, strict=True))
    return Layers(corners, routes, (max([across, *middles]), max(bottom for _, bottom in tops.values())))


def curves(route: Sequence[Point]) -> str:
    """The path of an edge in SVG: curved between rows, straight through them."""
    path = f"M{route[0][0]} {route[0][1]}"
    for k, ((x0, y0), (x1, y1)) in enumerate(pairwise(route)):
        bend = (y1 - y0) // 2
        path += f" L{x1} {y1}" if k % 2 else f" C{x0} {y0 + bend} {x1} {y1 - bend} {x1} {y1}"
    return path


def _steps(links: Iterable[Link], levels: Sequence[int], lanes: Mapping[Point, int]) -> set[tuple[int, int]]:
    """The edges from each row to the next, through lanes."""
    pairs = set()
    for link in links:
        passed = [lanes[link.start, level] for level in range(levels[link.start] + 1, levels[link.end])]
        pairs |= set(pairwise([link.start, *passed, link.end]))
    return pairs


def _middles(rows: Sequence[list[int]], steps: Iterable[tuple[int, int]], widths: Sequence[int]) -> list[int]:
    """The middle of each box, as near as possible to the mean of those above, and then below it, by turns."""
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for start, end in sorted(steps):
        above[end].append(start)
        below[start].append(end)
    middles = [0.0] * len(widths)
    for row in rows:
        _spread(row, middles, widths)
    for sweep in range(SWEEPS):
        near, others, order = (below, above, rows[::-1]) if sweep % 2 else (above, below, rows)
        for row in order:
            for k in row:
                linked = near[k] or others[k]
                middles[k] = sum(middles[n] for n in linked) / len(linked) if linked else middles[k]
            row.sort(key=middles.__getitem__)
            _spread(row, middles, widths)
    left = min(m - w / 2 for m, w in zip(middles, widths, strict=True))
    return [round(m - left) for m in middles]


def _spread(row: Sequence[int], middles: list[float], widths: Sequence[int]) -> None:
    """Move the boxes of a row apart, by the least sum of squares (pooling neighbours that would overlap)."""
    apart = list(accumulate(((widths[a] + widths[b]) / 2 + GAP_X for a, b in pairwise(row)), initial=0.0))
    pools: list[tuple[float, int]] = []  # the sum and number of those that move together
    for k, offset in zip(row, apart, strict=True):
        total, count = middles[k] - offset, 1
        while pools and pools[-1][0] * count >= total * pools[-1][1]:
            before, many = pools.pop()
            total, count = total + before, count + many
        pools.append((total, count))
    moved = [total / count for total, count in pools for _ in range(count)]
    for k, offset, place in zip(row, apart, moved, strict=True):
        middles[k] = place + offset


def _tops(rows: Mapping[int, Sequence[int]], sizes: Sequence[Size]) -> dict[int, Point]:
    """The upper and lower end of each row."""
    y, extents = 0, {}
    for level in sorted(rows):
        bottom = y + max((sizes[k][1] for k in rows[level] if k < len(sizes)), default=0)
        extents[level], y = (y, bottom), bottom + GAP_Y
    return extents
