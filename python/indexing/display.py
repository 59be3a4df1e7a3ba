"""Values in IPython and its notebooks: formulas, pictures and tables in place of text.

Types are told to IPython by name, and `show/notebook.py` is loaded when the first value is shown, so that importing the
package takes no longer in a notebook than elsewhere.
"""

import sys

from indexing.lazy import Library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_notebook = Library("indexing.show.notebook")

#: The function of `show/notebook.py` that shows a type, by format.
FORMATS = {
    "text/latex": {"indexing.IndexingMap": "formula", "indexing.SymbolicExpr": "formula"},
    "image/svg+xml": {
        "indexing.hlo.program.Computation": "graph",
        "indexing.hlo.program.Instruction": "graph",
        "indexing.hlo.program.Module": "graph",
    },
    "text/html": {
        "indexing.analysis.memory.global_memory.Coalescing": "accesses_table",
        "indexing.analysis.tiling.space.TilingSpace": "tiles_table",
        "indexing.emitters.kernel.Kernel": "source_block",
        "indexing.indexing_analysis.programs.ProgramMaps": "maps_table",
        "indexing.report.programs.ProgramReport": "report_table",
        "indexing.tuning.prediction.Predictions": "plans_table",
    },
}


def load_ipython_extension(shell: "Any") -> None:
    """Show this package's values as formulas, pictures and tables in an IPython shell, or a notebook.

    `import indexing` calls it where a shell runs; `%load_ext indexing` does where IPython was started afterwards.
    """
    for kind, functions in FORMATS.items():
        formatter = shell.display_formatter.formatters[kind]
        for path, function in functions.items():
            module, _, name = path.rpartition(".")
            formatter.for_type_by_name(module, name, _shown_by(function))


def _shown_by(function: str) -> "Callable[[Any], str | None]":
    def show(value: "Any") -> str | None:
        shown: str | None = getattr(_notebook, function)(value)
        return shown

    return show


def load_where_a_shell_runs() -> None:
    """The same for the IPython shell that imports the package; nothing where none does."""
    running = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = running() if running is not None else None
    if shell is not None:
        load_ipython_extension(shell)
