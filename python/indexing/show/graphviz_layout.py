"""Pictures of computations laid out by Graphviz: that of pygraphviz (the extra `viz`), or the program `dot`.

Graphviz is a C library for a single thread and trusted text, so it runs in a process of its own, one for many graphs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Literal, TypeAlias

from indexing.arguments import of_type, one_of, takes
from indexing.errors import UnsupportedOp
from indexing.extras import missing_extra
from indexing.hlo import Computation
from indexing.show.drawing import dot, svg

Form: TypeAlias = Literal["svg", "png"]
MAX_LAID_OUT = 400  # instructions; Graphviz takes minutes for thousands, and their picture is unreadable
MAX_SECONDS = 300
PROGRAM = """
import sys, warnings, pygraphviz
warnings.simplefilter("ignore")
for text in sys.stdin.buffer.read().decode().split("\f"):
    sys.stdout.buffer.write(pygraphviz.AGraph(string=text).draw(format=sys.argv[1], prog="dot"))
"""


def graph_svgs(computations: Sequence[Computation]) -> list[str]:
    """A picture of each computation: by Graphviz where it can be had and none is too large for it, otherwise plain."""
    small = all(len(c.instructions) <= MAX_LAID_OUT for c in computations)
    if not (small and computations and is_available()):
        return [svg(c) for c in computations]
    return _pictures(_drawn([dot(c) for c in computations], "svg"))


@takes(computation=of_type(Computation), form=one_of("svg", "png"))
def graphviz_svg(computation: Computation, form: Form = "svg") -> bytes:
    """The computation as a picture: operands above their users, maps beside the edges.

    Raises UnsupportedOp without the extra, for more than MAX_LAID_OUT instructions, and if Graphviz fails.
    """
    count = len(computation.instructions)
    if count > MAX_LAID_OUT:
        raise UnsupportedOp(f"{count} instructions are too many for Graphviz's layout, {MAX_LAID_OUT} are the most")
    if not is_available():
        absent = ImportError("there is neither pygraphviz nor the program dot")
        raise UnsupportedOp(missing_extra("Graphviz's layout", "viz", absent))
    drawn = _drawn([dot(computation)], form)
    return drawn if form == "png" else _pictures(drawn)[0].encode()


def _pictures(drawn: bytes) -> list[str]:
    """The pictures of several graphs, without the heads of files; sizes in pixels."""
    pictures = re.findall(r"<svg.*?</svg>", drawn.decode(), re.DOTALL)
    return [re.sub(r'="(\d+)pt"', r'="\1"', p, count=2).encode("ascii", "xmlcharrefreplace").decode() for p in pictures]


def _drawn(graphs: Sequence[str], form: Form) -> bytes:
    program = [sys.executable, "-I", "-c", PROGRAM, form] if _has_pygraphviz() else ["dot", f"-T{form}"]
    between = "\f" if _has_pygraphviz() else "\n"
    text = between.join(graphs).encode()
    try:
        done = subprocess.run(program, input=text, capture_output=True, timeout=MAX_SECONDS, check=True)
    except subprocess.CalledProcessError as failure:
        said = failure.stderr.decode(errors="replace").strip().splitlines() or [f"status {failure.returncode}"]
        raise UnsupportedOp(f"Graphviz could not draw this ({said[-1]}); the plain layout does without it") from None
    except subprocess.TimeoutExpired:
        raise UnsupportedOp(f"Graphviz took more than {MAX_SECONDS} s; the plain layout does without it") from None
    return done.stdout


def is_available() -> bool:
    """Whether Graphviz is available."""
    return _has_pygraphviz() or shutil.which("dot") is not None


def _has_pygraphviz() -> bool:
    try:
        return sys.modules.get("pygraphviz", sys) is not None and find_spec("pygraphviz") is not None
    except (ImportError, ValueError):
        return False
