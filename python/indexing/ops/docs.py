"""Write docs/ops.md from the registry: `python -m indexing.ops.docs docs/ops.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from indexing.ops.op import Op
from indexing.ops.registry import REGISTRY

_HEAD = """# HLO ops

One line an opcode, from the blocks in `python/indexing/ops/` (this file is written by `python -m indexing.ops.docs`).

- **Formula**: which operand elements an element of the result is made of.
- **Maps**: how exact they are. A bound names no fewer elements than are needed, and says why it names more; pieces are
  maps with disjoint domains that say exactly what a bound bounds.
- **Backwards**: `own` where the block states its input-to-output formula, `inverse` where it is the generic inverse of the
  output-to-input formula. Both name the same pairs of elements.
- **Reference**: `yes` where `ix.evaluate` computes it; `replicas` where several replicas are evaluated together.
- **Kernel**: `yes` where it has element code.

Each map says for itself how exact it is: `exact`, `over-approximate` or `unknown`, with the reason.

| opcode | formula | maps | backwards | reference | kernel |
|---|---|---|---|---|---|
"""


def ops_table() -> str:
    """The whole text of docs/ops.md."""
    return _HEAD + "".join(_row(REGISTRY[opcode]) for opcode in sorted(REGISTRY))


def _row(op: Op) -> str:
    backwards = "own" if op.input_to_output is not None else "inverse"
    reference = "replicas" if op.across_replicas is not None else "yes" if op.reference is not None else "no"
    formula = op.formula.replace("|", "\\|")
    kernel = "yes" if op.element is not None else "no"
    return f"| `{op.opcode}` | {formula} | {op.exactness} | {backwards} | {reference} | {kernel} |\n"


def main(arguments: list[str]) -> int:
    """Write the file named by the only argument."""
    if len(arguments) != 1:
        print("usage: python -m indexing.ops.docs docs/ops.md", file=sys.stderr)
        return 2
    Path(arguments[0]).write_text(ops_table(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
