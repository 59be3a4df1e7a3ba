"""The roofline of a program as SVG: each kernel by its operations for a byte and a second, below what is attainable.

A disk's area is the kernel's share of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log10, sqrt
from typing import TypeAlias

from indexing.display import count_text
from indexing.reports.kernel_report import Group, groups_of, lost_text, time_of
from indexing.reports.lines import number_text, printable, seconds_text
from indexing.reports.program_report import ProgramReport
from indexing.reports.roofline import peak_of
from indexing.show.colours import INK
from indexing.show.drawing import xml_text

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 78, 20, 42, 44
ROOM = 20  # the last intensity over that of the highest peak, so that there is room for the names of peaks
NAMED = 3  # kernels with their names beside them
NAME = 30  # characters of a name
#: The centre and the radius of a kernel's disk.
Disk: TypeAlias = tuple[float, float, float]
LINE = 13  # pixels of a line of text
LETTER = 6.2  # pixels of a letter, about
WHOLE, LOSING = "#2f7fc1", "#d6404e"  # kernels that lose no time, and those that do


@dataclass(frozen=True, slots=True)
class _Axes:
    """Logarithmic axes: the powers of ten at the ends of operations for a byte, and of operations a second."""

    x: tuple[int, int]
    y: tuple[int, int]

    def across(self, intensity: float) -> float:
        return LEFT + (log10(intensity) - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - LEFT - RIGHT)

    def down(self, flops: float) -> float:
        return HEIGHT - BOTTOM - (log10(flops) - self.y[0]) / (self.y[1] - self.y[0]) * (HEIGHT - TOP - BOTTOM)


def roofline_svg(report: ProgramReport) -> str:
    """The picture. Kernels without operations, or without a time, are not in it."""
    groups = groups_of(report.fusions, "time")
    drawn = [g for g in groups if g[0].intensity and g[0].flops_per_second]
    left_out = sum(map(len, groups)) - sum(map(len, drawn))
    roofs = dict(peak_of(g[0].instruction, report.device) for g in drawn)
    bandwidth = report.device.memory.bandwidth
    axes = _axes(drawn, max(roofs.values(), default=report.device.rates.operations), bandwidth)
    levels = [(_level_start(peak, bandwidth, axes), axes.down(peak), 0.0) for peak in roofs.values()]
    note = f"{count_text(left_out, 'kernel')} without operations or a time not drawn" if left_out else ""
    title = f"{_short(report.name)} on {report.device.name}: operations a second over operations for a byte"
    label = xml_text(f"{title}; {note}" if note else title)
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="roofline" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'font-family="sans-serif" font-size="11" fill="{INK}" role="img" aria-label="{label}">',
        _text(LEFT, 16, title, "start"),
        _text(LEFT, 16 + LINE, note, "start"),
        *_grid(axes),
        *_roofs(roofs, bandwidth, [_disk(g, axes) for g in drawn], axes),
        *(_kernel(g, axes) for g in drawn),
        *_names(drawn, levels, axes),
        "</svg>",
    ]
    return "\n".join(body)


def _axes(groups: Sequence[Group], highest: float, bandwidth: float) -> _Axes:
    xs = [*(g[0].intensity or 1.0 for g in groups), highest / bandwidth * ROOM]
    ys = [*(g[0].flops_per_second or 1.0 for g in groups), highest * 2]
    return _Axes(
        (floor(log10(min(xs)) - 0.2), ceil(log10(max(xs)))), (floor(log10(min(ys)) - 0.2), ceil(log10(max(ys))))
    )


def _grid(axes: _Axes) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for power in range(axes.x[0], axes.x[1] + 1):
        x = axes.across(10.0**power)
        yield _line(x, TOP, x, bottom, 0.12)
        yield _text(x, bottom + 15, f"{10.0**power:g}")
    for power in range(axes.y[0], axes.y[1] + 1):
        y = axes.down(10.0**power)
        yield _line(LEFT, y, right, y, 0.12)
        yield _text(LEFT - 6, y + 4, f"{number_text(10.0**power)}FLOP/s", "end")
    yield _text((LEFT + right) / 2, bottom + 34, "FLOP a byte")


def _roofs(roofs: dict[str, float], bandwidth: float, disks: Sequence[Disk], axes: _Axes) -> Iterator[str]:
    """The line of the memory's bandwidth up to the highest peak, and a level line for each of the units."""
    right, highest = WIDTH - RIGHT, max(roofs.values(), default=10.0 ** axes.y[1])
    first = max(10.0 ** axes.x[0], 10.0 ** axes.y[0] / bandwidth)
    corner = highest / bandwidth
    if first < corner:
        yield _line(axes.across(first), axes.down(first * bandwidth), axes.across(corner), axes.down(highest), 0.8, 1.5)
        label = f"{number_text(bandwidth)}B/s"
        wide = LETTER * len(label)
        steps = (first * (corner / first) ** (k / 10) for k in range(1, 11))
        ends = [(axes.across(x) - 8, axes.down(x * bandwidth) - 6) for x in steps]
        inside = [e for e in ends if e[0] - wide > LEFT] or ends[-1:]
        free = (e for e in inside if not any(_meets(disk, e[0] - wide, e[0], e[1]) for disk in disks))
        yield _text(*next(free, inside[0]), label, "end")
    levels = {name: axes.down(peak) for name, peak in sorted(roofs.items(), key=lambda roof: -roof[1])}
    for name, y in levels.items():
        yield _line(_level_start(roofs[name], bandwidth, axes), y, right, y, 0.8, 1.5)
    for name, y in _label_places(levels).items():
        yield _text(right, y, f"{name}: {number_text(roofs[name])}FLOP/s", "end")


def _level_start(peak: float, bandwidth: float, axes: _Axes) -> float:
    """The start of a peak's level line, across."""
    return max(axes.across(peak / bandwidth), LEFT)


def _meets(disk: Disk, left: float, right: float, bottom: float) -> bool:
    """Whether a disk is behind a text on a line of that height."""
    x, y, radius = disk
    return left - radius <= x <= right + radius and abs(bottom - 4 - y) < radius + LINE / 2


def _label_places(levels: dict[str, float]) -> dict[str, float]:
    """The heights of labels of level lines, from above: the first above its line, others below theirs, or those next to it."""
    names = list(levels)
    places = {name: levels[name] - 5 for name in names[:1]}
    below: list[str] = []
    for name, following in zip(names[1:], [*names[2:], ""], strict=False):
        below.append(name)
        if levels.get(following, inf) - levels[name] > LINE * len(below) + 3:
            places |= {waiting: levels[name] + LINE * k for k, waiting in enumerate(below, 1)}
            below = []
    return places


def _kernel(group: Group, axes: _Axes) -> str:
    """A disk whose area is the share of the program's time; red if some of that is lost."""
    x, y, radius = _disk(group, axes)
    many = f" and {len(group) - 1} like it" if len(group) > 1 else ""
    about = f"{printable(group[0].name)}{many}: {seconds_text(time_of(group))}, {lost_text(group)} of it lost"
    colour = LOSING if any(f.seconds_lost for f in group) else WHOLE
    disk = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}" fill-opacity="0.75">'
    return f"{disk}<title>{xml_text(f'{about}; limit: {group[0].limit}')}</title></circle>"


def _disk(group: Group, axes: _Axes) -> Disk:
    first = group[0]
    radius = 3 + 13 * sqrt(sum(f.share for f in group))
    return axes.across(first.intensity or 1.0), axes.down(first.flops_per_second or 1.0), radius


def _names(groups: Sequence[Group], levels: Sequence[Disk], axes: _Axes) -> Iterator[str]:
    """The names of the first kernels, to the right of their disks and of those beside them, left near the edge; none covers
    another, a disk, or a level line (given by its start).
    """
    disks = [_disk(group, axes) for group in groups]
    taken: list[float] = []
    for group, (x, y, radius) in zip(groups[:NAMED], disks, strict=False):
        at = max(other + r for other, below, r in disks if abs(below - y) < r + LINE and abs(other - x) < r + radius)
        y += 4
        short = _short(group[0].name)
        side, at = ("end", x - radius - 4) if x > WIDTH * 2 / 3 else ("start", at + 4)
        wide = LETTER * len(short)
        left = at if side == "start" else at - wide
        lines = [(max(x, left), y, r) for x, y, r in levels]
        while any(abs(y - o) < LINE for o in taken) or any(_meets(d, left, left + wide, y) for d in (*disks, *lines)):
            y += 1
        taken.append(y)
        yield _text(at, y, short, side)


def _short(name: str) -> str:
    """A name, cut off if it is long."""
    whole = printable(name)
    return whole if len(whole) <= NAME else whole[: NAME - 2] + ".."


def _line(x: float, y: float, to_x: float, to_y: float, opacity: float, width: float = 1.0) -> str:
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{INK}" '
        f'stroke-opacity="{opacity}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{xml_text(text)}</text>' if text else ""
