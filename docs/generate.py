"""Write the documents of this folder, and the stubs, that are generated from the code: `python docs/generate.py`."""

from __future__ import annotations

from pathlib import Path

import notebooks
import pictures
from api_table import api_table, lazy_packages

from indexing.ops.docs import ops_table

HERE = Path(__file__).parent


def main() -> None:
    """Write each of them."""
    (HERE / "api.md").write_text(api_table(), encoding="utf-8")
    for stub, text in lazy_packages():
        stub.write_text(text, encoding="utf-8")
    (HERE / "ops.md").write_text(ops_table(), encoding="utf-8")
    pictures.main()
    notebooks.main()


if __name__ == "__main__":
    main()
