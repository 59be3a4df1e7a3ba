"""Pictures of computations laid out by Graphviz, which pygraphviz (of the extra `viz`) contains.

Graphviz is a C library for a single thread and trusted text, so it runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Literal, TypeAlias

from indexing.arguments import of_type, one_of, takes
from indexing.errors import UnsupportedOp
from indexing.extras import missing_extra
from indexing.hlo import Computation
from indexing.show.drawing import dot

__all__ = ["MAX_LAID_OUT", "Form", "graphviz_svg", "is_available"]

Form: TypeAlias = Literal["svg", "png"]
MAX_LAID_OUT = 400  # instructions; Graphviz takes minutes for thousands, and their picture is unreadable
MAX_SECONDS = 300
PROGRAM = """
import sys, warnings, pygraphviz
warnings.simplefilter("ignore")
graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode())
sys.stdout.buffer.write(graph.draw(format=sys.argv[1], prog="dot"))
"""


@takes(computation=of_type(Computation), form=one_of("svg", "png"))
def graphviz_svg(computation: Computation, form: Form = "svg") -> bytes:
    """The computation as a picture: operands above their users, maps beside the edges.

    Raises UnsupportedOp without the extra, for more than MAX_LAID_OUT instructions, and if Graphviz fails.
    """
    count = len(computation.instructions)
    if count > MAX_LAID_OUT:
        raise UnsupportedOp(f"{count} instructions are too many for Graphviz's layout, {MAX_LAID_OUT} are the most")
    if not is_available():
        raise UnsupportedOp(missing_extra("Graphviz's layout", "viz", ImportError("there is no pygraphviz")))
    drawn = _drawn(dot(computation), form)
    if form == "png":
        return drawn
    picture = drawn[drawn.index(b"<svg") :].decode()
    return picture.encode("ascii", "xmlcharrefreplace")


def _drawn(graph: str, form: Form) -> bytes:
    command = [sys.executable, "-I", "-c", PROGRAM, form]
    try:
        done = subprocess.run(command, input=graph.encode(), capture_output=True, timeout=MAX_SECONDS, check=True)
    except subprocess.CalledProcessError as failure:
        said = failure.stderr.decode(errors="replace").strip().splitlines() or [f"status {failure.returncode}"]
        raise UnsupportedOp(f"Graphviz could not draw this ({said[-1]}); the plain layout does without it") from None
    except subprocess.TimeoutExpired:
        raise UnsupportedOp(f"Graphviz took more than {MAX_SECONDS} s; the plain layout does without it") from None
    return done.stdout


def is_available() -> bool:
    """Whether Graphviz is available."""
    try:
        return sys.modules.get("pygraphviz", sys) is not None and find_spec("pygraphviz") is not None
    except (ImportError, ValueError):
        return False
