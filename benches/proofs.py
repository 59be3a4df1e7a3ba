"""Which share of the checks of a program's kernels is proved, and what the others lack.

python benches/proofs.py FILE.hlo[.gz] ...       all kernels that are planned for each program, equal ones once
python benches/proofs.py --dialect c FILE ...    for another target
python benches/proofs.py --show FILE ...         each check that is not proved, with its kernel
"""

from __future__ import annotations

import argparse
import gzip
import re
import time
from collections import Counter
from pathlib import Path

import indexing as ix


def load(path: Path) -> ix.hlo.Module:
    return ix.hlo.parse(gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text())


def outline(reason: str) -> str:
    """A reason without its names and numbers."""
    return re.sub(r"-?\d+", "N", re.sub(r"\b([a-z]+_?)\d+\b", r"\1", reason))[:110]


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("files", nargs="+", type=Path)
    args.add_argument("--dialect", default="cuda")
    args.add_argument("--show", action="store_true")
    a = args.parse_args()
    statuses: dict[str, Counter[str]] = {}
    reasons: Counter[tuple[str, str]] = Counter()
    seen: set[object] = set()
    for path in a.files:
        start, before = time.perf_counter(), len(seen)
        try:
            kernels = ix.emit_all(load(path), dialect=a.dialect)
        except ix.IndexingError as error:
            print(f"{path.name}: {str(error).splitlines()[0]}", flush=True)
            continue
        of_file: Counter[str] = Counter()
        for kernel in kernels:
            if kernel.ir in seen:
                continue
            seen.add(kernel.ir)
            for check in kernel.verify().checks:
                statuses.setdefault(check.kind, Counter())[check.status] += 1
                of_file[check.status] += 1
                if check.status != "proved":
                    reasons[check.kind, outline(check.reason)] += 1
                    if a.show:
                        print(f"  {kernel.name} ({kernel.emitter}): {check}")
        seconds = time.perf_counter() - start
        print(f"{path.name}: {len(seen) - before} kernels, {dict(of_file)}, {seconds:.1f} s", flush=True)
    for kind, counts in statuses.items():
        whole = sum(counts.values())
        left = f"{counts['open']} open, {counts['refuted']} refuted"
        print(f"{kind:14}{whole:8} checks, {counts['proved'] / whole:8.2%} proved, {left}")
    for (kind, reason), count in reasons.most_common():
        print(f"{count:6} {kind}: {reason}")


if __name__ == "__main__":
    main()
