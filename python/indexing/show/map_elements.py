"""A picture of a map: the points of its dimensions, and the elements that each of them reaches."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TypeAlias

from indexing._core import IndexingMap
from indexing.arguments import of_type, takes
from indexing.display import count_text
from indexing.show.cells import Cell, Panel, hue, list_in_words
from indexing.show.picture import Picture

Index: TypeAlias = tuple[int, ...]
MAX_POINTS = 4096
MAX_ROWS = MAX_COLUMNS = 48
LABELLED = 4  # columns between two whose numbers are written


@takes(indexing=of_type(IndexingMap))
def map_picture(indexing: IndexingMap) -> Picture:
    """The points of a map's dimensions, by number, and the elements of its results, each with the first point that reaches it.

    Rows are the indices before the last one. The first MAX_POINTS points of the domain, and of these the first rows and columns
    are drawn; the note states what is left out.
    """
    points = list(islice(indexing.points(), MAX_POINTS + 1))
    reached: dict[Index, dict[Index, None]] = {}
    for dims, symbols in points[:MAX_POINTS]:
        reached.setdefault(tuple(dims), {})[tuple(indexing.evaluate(dims, symbols))] = None
    readers: dict[Index, dict[Index, None]] = {}
    for dims, results in reached.items():
        for result in results:
            readers.setdefault(result, {})[dims] = None
    numbers = {dims: k for k, dims in enumerate(reached)}
    given, _, computed = str(indexing.symbolic_map).partition(" -> ")
    panels = (
        _panel(given.partition("[")[0], reached, numbers, "dr", 0),
        _panel(computed, readers, numbers, "rd", 1),
    )
    note = f"{count_text(len(reached), 'point')} reach {count_text(len(readers), 'element')}"
    left_out = len(points) > MAX_POINTS or sum(len(p.cells) for p in panels) < len(reached) + len(readers)
    return Picture(str(indexing), f"{note}{'; not all are drawn' if left_out else ''}", panels)


def _panel(
    title: str, linked: Mapping[Index, Mapping[Index, None]], numbers: Mapping[Index, int], keys: str, level: int
) -> Panel:
    """The indices as cells, with the colours of points; `keys` are the first letters of their keys and of those linked."""
    rows = {row: k for k, row in enumerate(sorted({index[:-1] for index in linked})[:MAX_ROWS])}
    first = min((index[-1] for index in linked if index), default=0)
    last = max((index[-1] for index in linked if index), default=0)
    columns = range(first, min(last, first + MAX_COLUMNS - 1) + 1)
    cells = []
    for index, others in sorted(linked.items()):
        column = index[-1] if index else first
        if index[:-1] in rows and column in columns:
            number = numbers[index if keys[0] == "d" else next(iter(others))]
            text = f"{list(index)}: {list_in_words([list(other) for other in others])}"
            partners = tuple(_key(keys[1], other) for other in others)
            place = (rows[index[:-1]], column - first)
            cells.append(Cell(*place, _key(keys[0], index), str(number), text, hue(number, len(numbers)), partners))
    labels = tuple(", ".join(map(str, row)) for row in rows)
    across = tuple(str(k) if (k - first) % LABELLED == 0 else "" for k in columns)
    return Panel(title, labels, across, tuple(cells), level)


def _key(letter: str, index: Index) -> str:
    return letter + "_".join(map(str, index))
