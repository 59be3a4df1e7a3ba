"""Values as people read them. In notebooks their methods `_repr_latex_`, `_repr_svg_` and `_repr_html_` ask `shown`.

`show/notebook.py` is loaded when the first value is shown, so that importing the package takes no longer for it.
"""

from indexing.lazy import Library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_notebook = Library("indexing.show.notebook")


def shown(value: object, function: str) -> str | None:
    """The form of a value that a function of `show/notebook.py` makes; None where there is no picture of it."""
    made: str | None = getattr(_notebook, function)(value)
    return made


def count_text(count: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def aligned(rows: "Sequence[Sequence[str]]", left: int = 0) -> list[str]:
    """Lines of text with the cells of rows in columns, the first `left` of them aligned to the left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: "Sequence[str]") -> str:
        cells = zip(row, widths, strict=True)
        return "  ".join(c.ljust(w) if k < left else c.rjust(w) for k, (c, w) in enumerate(cells)).rstrip()

    return [line(row) for row in rows]
