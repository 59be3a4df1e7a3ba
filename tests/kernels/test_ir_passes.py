"""Each pass as text in and text out.

ir_passes/NAME.ir has the cases of the pass NAME, and of those that do the same later (`CASES_OF`): a title, a kernel, and
behind `--` what the pass makes of it, worked out by hand; `same` where it must leave it. Buffers and functions that the second part does not state are those of the
first, but for `no function`.
A title may name a target in brackets; cuda is meant otherwise.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.kernels.ir.text import IDS, print_kernel
from indexing.kernels.passes import PASSES
from indexing.kernels.targets import TARGETS
from indexing.kernels.verify import verify
from ir_reader import read_kernel

FOLDER = Path(__file__).parents[1] / "ir_passes"
BY_NAME = {p.name: p for p in PASSES}
CASES_OF = {
    "fold-again": "fold",
    "dead-code-again": "dead-code",
    "hoist-from-lanes": "hoist",
    "hoist-from-threads-again": "hoist-from-threads",
    "inline-combiners": "inline",
}
LAUNCH = "grid (4, 1, 1) block (32, 1, 1)"


def cases() -> list[tuple[str, str, str, str]]:
    """The pass, the title, before and after of each case."""
    return [(p.name, *case) for p in PASSES for case in cases_of(p.name)]


def cases_of(name: str) -> Iterator[tuple[str, str, str]]:
    """The title, before and after of each case of a pass."""
    for case in (FOLDER / f"{CASES_OF.get(name, name)}.ir").read_text().split("== ")[1:]:
        title, _, both = case.partition("\n")
        before, _, after = both.partition("--\n")
        yield title.strip(), before, after


def whole(text: str, like: str = "") -> str:
    """The text of a kernel from that of a case; what it leaves out is as in `like`."""
    launch = next((t.splitlines()[0] for t in (text, like) if t.startswith("grid")), LAUNCH)
    declared = "" if "\nbuffer" in f"\n{text}" else part(like, "buffer")
    functions = "" if "\nfunction" in f"\n{text}" or text.startswith("no function\n") else part(like, "function")
    text = text.removeprefix("no function\n")
    sizes = [int(n) for n in re.findall(r"\d+", launch)]
    ids = [
        f"  index {name} in [0, {size - 1}] thread\n"
        for name, size in zip(IDS, (*sizes[3:], *sizes[:3]), strict=True)
        if f"for {name} " not in text
    ]
    head, _, body = text.rpartition("entry\n")
    head = "".join(line for line in head.splitlines(True) if not line.startswith("grid"))
    return f"kernel k emitter test {launch}\n{declared}{head}{functions}entry\n{''.join(ids)}{body}"


def part(text: str, word: str) -> str:
    """The lines of a kernel that declare its buffers, or its functions with their bodies."""
    result, takes = "", False
    for line in text.splitlines(True):
        takes = line.startswith(word) or (takes and line.startswith(" "))
        result += line if takes else ""
    return result


@pytest.mark.parametrize(("name", "title", "before", "after"), cases(), ids=lambda value: value[:60].replace("\n", " "))
def test_pass(name: str, title: str, before: str, after: str) -> None:
    given = read_kernel(whole(before))
    assert not [c for c in verify(given).checks if c.kind == "typed" and c.status != "proved"]
    dialect = title[1 : title.index("]")] if title.startswith("[") else "c" if name == "thread-loops" else "cuda"
    expected = given if after.strip() == "same" else read_kernel(whole(after, before))
    rewritten = BY_NAME[name].rewrite(given, TARGETS[dialect])
    assert print_kernel(rewritten) == print_kernel(expected)
    if after.strip() == "same" and name not in ("flatten", "row-loops"):
        assert rewritten.body is given.body  # nothing is made anew
    if name != "thread-loops":  # whose threads are not side by side
        assert not verify(rewritten).refuted or verify(given).refuted


@pytest.mark.parametrize("name", BY_NAME)
def test_each_pass_has_its_cases(name: str) -> None:
    actual = {after.strip() for _, _, after in cases_of(name)}
    assert "same" in actual, f"{name} has no case where it leaves a kernel as it is"
    assert actual - {"same"}, f"{name} has no case where it changes a kernel"


def test_each_file_of_cases_is_of_a_pass() -> None:
    assert {f.stem for f in FOLDER.glob("*.ir")} == {CASES_OF.get(name, name) for name in BY_NAME}
