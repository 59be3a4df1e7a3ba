"""From text to all maps of programs, beside what jaxlib needs to parse the same text alone.

    python benches/program_maps.py [--turns N] [FILE ...]

FILE is HLO text, compressed by gzip or not; without one, a generated program of 42,000 instructions. CPU time of a fresh
process each, after imports and the reading of the file, the least of N; the processes take turns. "parse" is this
package's parser alone; "output to input" and "input to output" are text to the maps of every array (operand) of every
instruction, computed and simplified, as iterating `ix.maps(module).instructions.items()` finds them; "as objects" makes the
Python object of each map as well.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import program

BEGIN = """
import sys, time
text = open(sys.argv[1]).read()
"""
JAXLIB = """
from jaxlib import _hlo
start = time.process_time()
module = _hlo.hlo_module_from_text(text)
print(time.process_time() - start)
"""
OURS = """
import indexing as ix
parse, maps = ix.hlo.parse, ix.maps
start = time.process_time()
module = parse(text)
{}
print(time.process_time() - start)
"""
ALL = """
for instruction, indexings in maps(module, direction="{}").instructions.items():
    pass
"""
OBJECTS = """
for instruction, indexings in maps(module).instructions.items():
    for indexing in indexings:
        for operand in indexing:
            for m in operand:
                m.map
"""
WORK = {
    "jaxlib, parse alone": JAXLIB,
    "parse": OURS.format(""),
    "output to input": OURS.format(ALL.format("output_to_input")),
    "output to input, as objects": OURS.format(OBJECTS),
    "input to output": OURS.format(ALL.format("input_to_output")),
}


def seconds(script: str, file: Path) -> float:
    """CPU time that a script prints."""
    command = [sys.executable, "-c", BEGIN + script, str(file)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(file: Path, turns: int) -> dict[str, float]:
    """The least time of each kind of work."""
    best = dict.fromkeys(WORK, float("inf"))
    for _ in range(turns):
        for name, script in WORK.items():
            best[name] = min(best[name], seconds(script, file))
    return best


def text_of(file: str) -> str:
    """The text of a file, compressed or not."""
    data = Path(file).read_bytes()
    return (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*", metavar="FILE")
    options.add_argument("--turns", type=int, default=7)
    given = options.parse_args()
    texts = {Path(f).name: text_of(f) for f in given.files} or {"generated": program()}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            file = Path(folder) / "program.hlo"
            file.write_text(text)
            best = measure(file, given.turns)
            peer = best["jaxlib, parse alone"]
            print(f"{name}, {len(text) / 1e6:.1f} MB")
            for kind, time in best.items():
                print(f"  {kind:28} {time * 1e3:8.1f} ms {time / peer:6.2f}", flush=True)


if __name__ == "__main__":
    main()
