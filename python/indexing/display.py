"""Values as people read them. In notebooks their methods `_repr_latex_`, `_repr_svg_` and `_repr_html_` ask `shown`.

`show/notebook.py` is loaded when the first value is shown, so that importing the package takes no longer for it.
"""

from indexing.lazy import Library

_notebook = Library("indexing.show.notebook")


def shown(value: object, function: str) -> str | None:
    """The form of a value that a function of `show/notebook.py` makes; None where there is no picture of it."""
    made: str | None = getattr(_notebook, function)(value)
    return made


def count_text(count: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
