"""A picture made of cells, and its output formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.show.cells import Panels
from indexing.show.figure_renderer import figure, png
from indexing.show.svg_renderer import whole_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(Panels):
    """Panels of cells, arrows between them, a title and a description; as SVG, PNG or a figure."""

    __slots__ = ()

    def svg(self) -> str:
        """Self-contained SVG. In a browser, pointing at a cell highlights its partners, and a click keeps them highlighted."""
        return whole_svg(self)

    def png(self) -> bytes:
        """PNG. Raises UnsupportedOp without matplotlib (extra `viz`)."""
        return png(self)

    def figure(self) -> Figure:
        """A Figure of matplotlib. Raises UnsupportedOp without matplotlib (extra `viz`)."""
        return figure(self)

    def __repr__(self) -> str:
        """The title."""
        return f"<picture: {self.title}>"

    def _repr_html_(self) -> str:
        """The picture as a notebook shows it."""
        return whole_svg(self)
