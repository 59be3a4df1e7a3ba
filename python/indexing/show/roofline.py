"""The roofline of a program as SVG: each kernel by its operations for a byte and a second, below what is attainable.

A disk's area is the kernel's share of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import TYPE_CHECKING

from indexing.display import count_text
from indexing.reports.kernel_report import groups_of, lost_text, time_of
from indexing.reports.lines import number_text, printable, seconds_text
from indexing.reports.roofline import peak_of
from indexing.show.colours import INK
from indexing.show.drawing import xml_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing.reports.kernel_report import Group
    from indexing.reports.program_report import ProgramReport

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 78, 20, 42, 44
ROOM = 20  # the last intensity over that of the highest peak, so that there is room for the names of peaks
NAMED = 3  # kernels with their names beside them
NAME = 30  # characters of a name
LINE = 13  # pixels of a line of text
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
    axes = _axes(drawn, max(roofs.values(), default=report.device.rates.operations), report.device.memory.bandwidth)
    note = f"; {count_text(left_out, 'kernel')} without operations or a time not drawn" if left_out else ""
    title = f"{printable(report.name)} on {report.device.name}: operations a second over operations for a byte{note}"
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="roofline" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'font-family="sans-serif" font-size="11" fill="{INK}" role="img" aria-label="{xml_text(title)}">',
        _text(LEFT, 16, title, "start"),
        *_grid(axes),
        *_roofs(roofs, report.device.memory.bandwidth, axes),
        *(_kernel(g, axes) for g in drawn),
        *_names(drawn[:NAMED], axes),
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


def _roofs(roofs: dict[str, float], bandwidth: float, axes: _Axes) -> Iterator[str]:
    """The line of the memory's bandwidth up to the highest peak, and a level line for each of the units."""
    right, highest = WIDTH - RIGHT, max(roofs.values(), default=10.0 ** axes.y[1])
    first = max(10.0 ** axes.x[0], 10.0 ** axes.y[0] / bandwidth)
    corner = highest / bandwidth
    yield _line(axes.across(first), axes.down(first * bandwidth), axes.across(corner), axes.down(highest), 0.8, 1.5)
    yield _text(axes.across(first) + 8, axes.down(first * bandwidth) - 26, f"{number_text(bandwidth)}B/s", "start")
    for name, peak in roofs.items():
        y = axes.down(peak)
        yield _line(axes.across(peak / bandwidth), y, right, y, 0.8, 1.5)
        yield _text(right, y - 5 if peak == highest else y + 13, f"{name}: {number_text(peak)}FLOP/s", "end")


def _kernel(group: Group, axes: _Axes) -> str:
    """A disk whose area is the share of the program's time; red if some of that is lost."""
    x, y, radius = _disk(group, axes)
    many = f" and {len(group) - 1} like it" if len(group) > 1 else ""
    about = f"{printable(group[0].name)}{many}: {seconds_text(time_of(group))}, {lost_text(group)} of it lost"
    colour = LOSING if any(f.seconds_lost for f in group) else WHOLE
    disk = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}" fill-opacity="0.75">'
    return f"{disk}<title>{xml_text(f'{about}; limit: {group[0].limit}')}</title></circle>"


def _disk(group: Group, axes: _Axes) -> tuple[float, float, float]:
    first = group[0]
    radius = 3 + 13 * sqrt(sum(f.share for f in group))
    return axes.across(first.intensity or 1.0), axes.down(first.flops_per_second or 1.0), radius


def _names(groups: Sequence[Group], axes: _Axes) -> Iterator[str]:
    """The names of kernels, to the right of their disks and of those beside them, left near the edge; none covers another."""
    disks = [_disk(group, axes) for group in groups]
    taken: list[float] = []
    for group, (x, y, radius) in zip(groups, disks, strict=True):
        at = max(other + r for other, below, r in disks if abs(below - y) < r + LINE and abs(other - x) < r + radius)
        y += 4
        while any(abs(y - other) < LINE for other in taken):
            y += 1
        taken.append(y)
        name = printable(group[0].name)
        short = name if len(name) <= NAME else name[: NAME - 2] + ".."
        side, at = ("end", x - radius - 4) if x > WIDTH * 2 / 3 else ("start", at + 4)
        yield _text(at, y, short, side)


def _line(x: float, y: float, to_x: float, to_y: float, opacity: float, width: float = 1.0) -> str:
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{INK}" '
        f'stroke-opacity="{opacity}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{xml_text(text)}</text>'
