"""Programs on which this package and jaxlib part: each for a documented reason, and both as the document says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jaxlib.version
import pytest

import indexing as ix
from hlo_verifier import CALLED, LOOSER, STRICTER, Deviation, refused_here
from indexing.hlo.shape import DTYPES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "hlo.md"
#: In a process of its own: jaxlib judges in children of one that has no threads.
JUDGE = "import json, sys; from hlo_verifier import verdicts; print(json.dumps(verdicts(json.load(sys.stdin))))"


def text(deviation: Deviation) -> str:
    return f"{CALLED}ENTRY e {{ {deviation.example} }}"


@pytest.mark.parametrize("deviation", STRICTER + LOOSER, ids=lambda d: d.what[:30])
def test_deviations_are_documented(deviation: Deviation) -> None:
    assert f"| {deviation.what} | {deviation.reason} |" in DOCUMENT.read_text()


def judged_by_jaxlib(texts: list[str]) -> list[str | None]:
    """The message of each text that jaxlib refuses."""
    results = subprocess.run(
        [sys.executable, "-c", JUDGE],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT / "fuzz",
    )
    return json.loads(results.stdout)


def test_no_instruction_is_called_like_an_element_type() -> None:
    """Both refuse the same names, with `%` and without it; the name that the message proposes is taken, and what is printed."""
    words = [*DTYPES, "token", "opaque", "tuple", "buffer", "true", "nan", "ROOT"]
    named = {w: f"HloModule m ENTRY e {{ %{w} = f32[2] parameter(0) ROOT r = f32[2] negate(%{w}) }}" for w in words}
    theirs = dict(zip(words, judged_by_jaxlib(list(named.values())), strict=True))
    assert {w for w in words if theirs[w]} == {*DTYPES, "token", "opaque"}
    for word in words:
        if theirs[word]:
            with pytest.raises(ix.ParseError, match=f"{word} is an element type.*call it {word}_"):
                ix.hlo.parse(named[word])
            with pytest.raises(ix.ParseError, match="is an element type"):
                ix.hlo.parse(named[word].replace("%", ""))
    proposed = [str(ix.hlo.parse(named[w].replace(f"%{w}", f"%{w}_" if theirs[w] else f"%{w}"))) for w in words]
    assert judged_by_jaxlib(proposed) == [None] * len(words)


def test_each_example_is_taken_by_one_of_the_two() -> None:
    theirs = dict(zip(STRICTER + LOOSER, judged_by_jaxlib([text(d) for d in STRICTER + LOOSER]), strict=True))
    for deviation in STRICTER:
        agreed = deviation.agreed is not None and jaxlib.version.__version_info__ >= deviation.agreed
        assert (theirs[deviation] is not None) == agreed, deviation.what
        assert re.search(deviation.pattern, refused_here(text(deviation)) or ""), deviation.what
    for deviation in LOOSER:
        assert re.search(deviation.pattern, theirs[deviation] or ""), deviation.what
        assert refused_here(text(deviation)) is None, deviation.what


def test_convolutions_take_the_pairs_of_types_that_jaxlib_takes() -> None:
    """One type has all numbers of the other: floats with a sign and powers of two alone are no exception."""
    kinds = ("pred", "s8", "u64", "f8e4m3fn", "f8e8m0fnu", "bf16", "f16", "f32", "c64")
    call = "convolution(p, q), window={size=2}, dim_labels=b0f_0io->b0f"
    texts = [
        f"ENTRY e {{ p = {a}[1,4,1] parameter(0) q = {b}[2,1,1] parameter(1) ROOT c = {a}[1,3,1] {call} }}"
        for a in kinds
        for b in kinds
    ]
    for text, refusal in zip(texts, judged_by_jaxlib(texts), strict=True):
        if refusal is None:
            ix.hlo.parse(text)
        else:
            with pytest.raises(ix.ParseError, match="has all numbers of"):
                ix.hlo.parse(text)
