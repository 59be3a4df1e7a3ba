"""Write the documents of this folder that are generated from the code: `python docs/generate.py`."""

from __future__ import annotations

from pathlib import Path

import notebooks
from api_table import api_table

import indexing as ix
from indexing.ops.docs import ops_table
from indexing.show.roofline import roofline_svg

HERE = Path(__file__).parent


def main() -> None:
    """Write each of them."""
    (HERE / "api.md").write_text(api_table(), encoding="utf-8")
    (HERE / "ops.md").write_text(ops_table(), encoding="utf-8")
    rotary = ix.analyze(ix.hlo.load(HERE.parent / "examples/rotary.hlo"), "h100")
    (HERE / "pictures/rotary_roofline.svg").write_text(roofline_svg(rotary, is_alone=True), encoding="utf-8")
    notebooks.main()


if __name__ == "__main__":
    main()
