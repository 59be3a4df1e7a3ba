"""Write docs/ops.md from the registry: `python -m indexing.ops.docs docs/ops.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from indexing.ops.op import Op
from indexing.ops.registry import REGISTRY

_HEAD = """# HLO ops

One row per opcode, generated from the definitions in `python/indexing/ops/` by `python -m indexing.ops.docs`.

- **Formula**: the operand elements from which an element of the result is computed.
- **Maps**: their exactness. A bound names at least the elements that are needed, with a reason; pieces are maps with
  disjoint domains that together are exact.
- **Backwards**: `own` if the op defines its input-to-output formula, `inverse` if it is the generic inverse of the
  output-to-input formula. Both describe the same pairs of elements.
- **Reference**: `yes` if `ix.evaluate` computes it; `replicas` if several replicas are evaluated together.
- **Kernel**: `yes` if it has element code; `expanded` if kernels compute it as a computation of other ops, where it has one;
  `rows` if kernels for GPUs compute whole rows.

Every map also carries its own exactness: `exact`, `over-approximate` or `unknown`, with a reason for the last two.

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
    kernels = {"yes": op.element is not None, "expanded": op.expansion is not None, "rows": op.by_rows, "no": True}
    kernel = next(name for name, holds in kernels.items() if holds)
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
