"""Plans predicted a second, and instances of a map in parameters made: each measured in fresh processes, by CPU time.

    python benches/predictions.py [--repeats 5]

A process imports `predict`, parses the fusion, and then predicts a set of plans with one call, of which nothing is known yet
("cold"), and again ("warm"). The least time of all processes counts. Sets are the grid that `predict` tries by itself; every
legal plan, of the knob `max_blocks` of a loop four values; 5000 plans drawn at random, in which some may be equal.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    import indexing as ix

ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
FUSIONS = {
    "transpose": "ENTRY f { p = f32[4096,4096] parameter(0) ROOT t = f32[4096,4096] transpose(p), dimensions={1,0} }",
    "row reduction": ADD + "ENTRY f { p = f32[8192,4096] parameter(0) z = f32[] constant(0) "
    "ROOT r = f32[8192] reduce(p, z), dimensions={1}, to_apply=add }",
    "loop": "ENTRY f { p = f32[4096,4096] parameter(0) q = f32[4096] parameter(1) "
    "b = f32[4096,4096] broadcast(q), dimensions={1} m = f32[4096,4096] multiply(p, b) "
    "e = f32[4096,4096] exponential(m) ROOT a = f32[4096,4096] add(e, p) }",
}
INSTANCES = ("columns", "repeated", "distinct")
SETS = ("grid", "legal", "random")
MAP = (
    "(d0, T)[s0] -> (d0 * T + s0, (d0 * T + s0) floordiv 128), domain: d0 in [0, 9999999], T in [1, 64], "
    "s0 in [0, 9999999], s0 - T in [-9999999, -1], d0 * T + s0 in [0, 9999999]"
)


def predictions(name: str, chosen: str) -> tuple[int, float, float, int]:
    """How many plans, seconds for all: cold, warm; and how many kernels are emitted for them."""
    import indexing as ix

    space = ix.knobs(ix.hlo.parse(FUSIONS[name]).entry)
    plans = space.sample(5000) if chosen == "random" else space.grid()
    if chosen == "legal":
        few = {"max_blocks": [64, 1024, 65536, 2**31 - 1]}
        plans = space.grid(**{k.name: few.get(k.name, k.values) for k in space.knobs})
    fusion, predict = ix.hlo.parse(FUSIONS[name]).entry, ix.predict
    start = time.process_time()
    predicted = predict(fusion, plans)
    cold = time.process_time()
    predict(fusion, plans)
    warm = time.process_time()
    return len(predicted), cold - start, warm - cold, kernel_count(space, plans)


def kernel_count(space: ix.KnobSpace, plans: Mapping[str, NDArray[np.int64]]) -> int:
    """The number of combinations of those knobs that change what threads do."""
    import indexing as ix
    from indexing.model.traffic import needs_kernel

    columns = [plans[k.name].tolist() for k in space.knobs if needs_kernel(k, ix.find_device("h100"))]
    return len(set(zip(*columns, strict=True)))


def instances(chosen: str) -> tuple[int, float, float, int]:
    """As `predictions`, of a map whose parameter takes a million values: all columns of its instances, or all as maps, or those
    of the same 64 values again and again.
    """
    import numpy as np

    import indexing as ix

    values = np.arange(1_000_000) % (64 if chosen == "repeated" else 1_000_000) + 1
    m = ix.IndexingMap.parse(MAP).with_parameters(T=(1, 1_000_000))
    start = time.process_time()
    made_instances = m.instantiate(T=values)
    made(made_instances, chosen)
    cold = time.process_time()
    made(m.instantiate(T=values), chosen)
    return len(made_instances), cold - start, time.process_time() - cold, 0


def made(instances: ix.Instances, chosen: str) -> None:
    """Have what was chosen made."""
    if chosen == "columns":
        assert instances.results and instances.constraints
    else:
        assert instances.maps


def measured(repeats: int, *case: str) -> tuple[float, float, int]:
    """Print a line; returns how many a second, cold and warm, and how many kernels were emitted."""
    command = [sys.executable, __file__, "--case", *case]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(repeats)]
    count, kernels = int(runs[0][0]), int(runs[0][3])
    cold, warm = (count / min(float(r[k]) for r in runs) for k in (1, 2))
    print(
        f"{' '.join(case):24} {count:9,} {cold:14,.0f} a second cold {warm:14,.0f} warm {kernels:3} kernels", flush=True
    )
    return cold, warm, kernels


def main() -> None:
    """Measure all sets of all fusions."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.case:
        print(*(instances(chosen.case[1]) if chosen.case[0] == "instances" else predictions(*chosen.case)))
        return
    for plans in SETS:
        rates = [measured(chosen.repeats, name, plans)[0] for name in FUSIONS]
        print(f"{'median':24} {'':9} {statistics.median(rates):14,.0f}")
    for values in INSTANCES:
        measured(chosen.repeats, "instances", values)


if __name__ == "__main__":
    main()
