"""Programs on which this package and jaxlib part: each for a documented reason, and both as the document says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hlo_verifier import CALLED, LOOSER, STRICTER, Deviation, refused_here

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "hlo.md"
#: In a process of its own: jaxlib judges in children of one that has no threads.
JUDGE = "import json, sys; from hlo_verifier import verdicts; print(json.dumps(verdicts(json.load(sys.stdin))))"


def text(deviation: Deviation) -> str:
    return f"{CALLED}ENTRY e {{ {deviation.example} }}"


@pytest.mark.parametrize("deviation", STRICTER + LOOSER, ids=lambda d: d.what[:30])
def test_deviations_are_documented(deviation: Deviation) -> None:
    assert f"| {deviation.what} | {deviation.reason} |" in DOCUMENT.read_text()


def test_each_example_is_taken_by_one_of_the_two() -> None:
    texts = json.dumps([text(d) for d in STRICTER + LOOSER])
    found = subprocess.run(
        [sys.executable, "-c", JUDGE], input=texts, capture_output=True, text=True, check=True, cwd=ROOT / "fuzz"
    )
    theirs = dict(zip(STRICTER + LOOSER, json.loads(found.stdout), strict=True))
    for deviation in STRICTER:
        assert theirs[deviation] is None, deviation.what
        assert re.search(deviation.pattern, refused_here(text(deviation)) or ""), deviation.what
    for deviation in LOOSER:
        assert re.search(deviation.pattern, theirs[deviation] or ""), deviation.what
        assert refused_here(text(deviation)) is None, deviation.what
