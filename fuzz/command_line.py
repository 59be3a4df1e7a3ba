"""Random command lines on good and broken input: each ends with status 0, 1 and one message, or 2 for wrong usage.

    python fuzz/command_line.py --count N [--seed S] [--first I]

Works in a temporary folder. Prints the seed, and for each failure the command line and what makes it again.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import os
import random
import secrets
import sys
import tempfile
import traceback

from arguments import MAPS, PROGRAM
from indexing.cli import main as command_line

COMMANDS = ("maps", "simplify", "compose", "analyze", "compare", "partition", "emit", "run", "draw", "report")
OPTIONS = {
    "maps": ("--computation", "--instruction", "--all", "--inputs", "--physical"),
    "simplify": ("--lines", "--style"),
    "analyze": ("--fusion", "--device", "--top", "--min-waste"),
    "compare": ("--device", "--top"),
    "partition": ("--computation",),
    "emit": ("--instruction", "--computation", "--dialect", "--stage", "--out"),
    "run": ("--input", "--seed", "--tolerance"),
    "draw": ("--computation", "--format"),
    "report": ("--device", "--out"),
}
GOOD = {
    "--computation": ("main", "fused", "add", "%main"),
    "--instruction": ("f", "r", "%d", "t"),
    "--style": ("xla", "default"),
    "--device": ("h100", "V100", "rtx a6000"),
    "--fusion": ("f", "r", "%d"),
    "--top": ("0", "3"),
    "--min-waste": ("0", "1000"),
    "--dialect": ("cuda", "c", "opencl"),
    "--stage": ("built", "hoist", "thread-loops"),
    "--out": ("out", "out/deep"),
    "--seed": ("0", "7"),
    "--tolerance": ("0.5", "1e-9"),
    "--format": ("svg", "dot"),
}
FLAGS = {"--all", "--inputs", "--physical", "--lines", "--json", "--verify"}
WORDS = (
    "x",
    "f",
    "fused",
    "main",
    "add",
    "%r",
    "cuda",
    "opencl",
    "svg",
    "dot",
    "xla",
    "h100",
    "V100",
    "0",
    "-1",
    "1e9",
    "nan",
)
ODD_WORDS = (
    "",
    " ",
    "é",
    "\udcff",
    "\0",
    "-",
    "--",
    "../..",
    "a/b",
    ".",
    "f" * 300,
    "1" * 50,
    "out",
    "page.html",
    "a.npy",
    "b.npz",
)
FILES = ("program.hlo", "broken.hlo", "bytes.hlo", "packed.hlo", "torn.gz", "empty", "folder", "missing", "a.npy", "-")


def write_files() -> None:
    """The files of FILES, in the current folder."""
    packed = gzip.compress(PROGRAM.encode())
    contents = {
        "program.hlo": PROGRAM.encode(),
        "bytes.hlo": b"HloModule \xff",
        "packed.hlo": packed,
        "torn.gz": packed[:-9],
    }
    contents |= {
        "empty": b"",
        "broken.hlo": PROGRAM.replace("f32[6,4]", "f32[6").encode(),
        "a.npy": b"\x93NUMPY\x01\x00",
    }
    contents["b.npz"] = b"PK\x03\x04"
    for name, content in contents.items():
        with open(name, "wb") as file:
            file.write(content)
    os.makedirs("folder", exist_ok=True)


def mutated(chance: random.Random, text: str) -> str:
    """The text with up to three places changed."""
    for _ in range(max(chance.randrange(-2, 4), 0)):
        a, b = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + 12)
        text = text[:a] + chance.choice((text[a:b] * 2, "", "9" * 25, "\udcff", "(", "é")) + text[b:]
    return text


def command(seed: int, number: int) -> tuple[list[str], bytes]:
    """A command line and what stands on its standard input."""
    chance = random.Random(f"{seed} {number}")
    name = chance.choice(COMMANDS)
    if name in ("simplify", "compose"):
        given = [mutated(chance, chance.choice((*MAPS, "-"))) for _ in range(1 if name == "simplify" else 2)]
    else:
        given = [chance.choice(("program.hlo", "packed.hlo", "-") if chance.random() < 0.6 else FILES)]
    words = [name, *given]
    for option in OPTIONS.get(name, ()):
        if chance.random() < 0.3:
            values = GOOD.get(option, WORDS) if chance.random() < 0.7 else (*WORDS, *ODD_WORDS)
            words += [option] if option in FLAGS else [option, chance.choice(values)]
    words += ["--device", chance.choice(("reference", "REFERENCE", "cpus"))] if name == "run" else []
    words += ["--json"] if chance.random() < 0.3 else []
    if chance.random() < 0.1:
        words.insert(chance.randrange(len(words)), chance.choice(ODD_WORDS))
    text = mutated(chance, chance.choice((*MAPS, "\n".join(MAPS)) if name in ("simplify", "compose") else (PROGRAM,)))
    data = text.encode("utf-8", "surrogateescape")
    return words, gzip.compress(data) if chance.random() < 0.2 else data


def check(words: list[str], data: bytes) -> str | None:
    """What is wrong with how a command ends; None where nothing is."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=e) for e in ("strict", "backslashreplace"))
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(data))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status: object = command_line(words)
    except SystemExit as leaving:
        status = leaving.code
    except BaseException:  # a panic of the core is a BaseException
        return traceback.format_exc()
    finally:
        sys.stdin = before
    err.flush()
    said = err.buffer.getvalue().decode()  # type: ignore[attr-defined]
    if status not in (0, 1, 2):
        return f"status {status!r}"
    if (status == 2) != ("usage:" in said) or (status == 0 and said):
        return f"status {status}, and on standard error: {said}"
    ran = words[0] == "run" and not said  # which may differ from the reference
    return f"no message, but status {status}" if status and not said.strip() and not ran else None


@contextlib.contextmanager
def in_folder_of_files():
    """Work in a temporary folder with the files."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write_files()
            yield
        finally:
            os.chdir(before)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=5_000)
    options.add_argument("--seed", type=int, default=secrets.randbits(32))
    options.add_argument("--first", type=int, default=0)
    chosen = options.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    wrong = 0
    with in_folder_of_files():
        for number in range(chosen.first, chosen.first + chosen.count):
            words, data = command(chosen.seed, number)
            problem = check(words, data)
            if problem:
                wrong += 1
                print(f"indexing {words} < {data[:200]!r}: {problem}")
                print(f"  python fuzz/command_line.py --count 1 --seed {chosen.seed} --first {number}", flush=True)
    print(f"{chosen.count} commands, {wrong} with a wrong ending")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
