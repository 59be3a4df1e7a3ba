"""Compilers that make wrong code: found by kernels with known answers, used with flags that are right, or refused."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing.cli import diagnosis
from indexing.errors import CompileError
from indexing.runtime import compiler, known_answers
from indexing.runtime.compiler_verdicts import SAFER
from indexing.runtime.known_answers import wrong_kernels
from kernels import compiled

REAL = [shutil.which("cc")] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
# A compiler that changes what it is given, unless one of some flags is among its arguments.
CHANGES = """#!{python}
import subprocess, sys
arguments, source = sys.argv[1:], sys.stdin.read()
if {refused!r} in arguments:
    sys.exit("unknown flag")
if not {right!r} & set(arguments):
    source = source.replace({old!r}, {new!r})
with open({log!r}, "a") as log:
    log.write("-E" in arguments and "described\\n" or "compiled\\n")
sys.exit(subprocess.run([*{real!r}, *arguments, "-O0"], input=source, text=True).returncode)
"""
MINUS = ("o0[th_x] + p0[row", "o0[th_x] - p0[row")  # a change of the kernel `take`
ENDS = ("const s32 j = p0[th_x];", "const s32 j = p0[th_x]; __builtin_trap();")  # a change of the kernel `scatter`


class Wrong:
    """Writes scripts that stand for wrong compilers."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"

    def write(self, right: set[str], change: tuple[str, str] = MINUS, refused: str = "", name: str = "wrong") -> Path:
        path = self.folder / name
        values = {"right": right, "old": change[0], "new": change[1], "refused": refused, "real": REAL}
        path.write_text(CHANGES.format(python=sys.executable, log=str(self.log), **values))
        path.chmod(0o755)
        return path

    def compilations(self) -> int:
        return self.log.read_text().count("compiled")


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wrong]:
    monkeypatch.setenv("INDEXING_CACHE_DIR", str(tmp_path / "cache"))
    made = Wrong(tmp_path)
    monkeypatch.setenv("CC", str(tmp_path / "wrong"))
    compiler.find_compiler.cache_clear()
    yield made
    compiler.find_compiler.cache_clear()


@pytest.mark.parametrize("options", [(), ("-O0",)], ids=["as used", "-O0"])
def test_the_compiler_here_knows_the_answers(options: tuple[str, ...]) -> None:
    c_compiler = compiler.find_compiler()
    flags = [f for f in c_compiler.flags if f != "-shared"]
    assert wrong_kernels([*c_compiler.command, *flags, *options, "-lm"]) == ()


def test_each_kernel_has_an_answer_and_its_number() -> None:
    table = re.search(r"kernels\[\] = \{(.*?)\}", known_answers.SOURCE, re.DOTALL)
    assert table is not None
    assert tuple(re.findall(r"\w+", table[1])) == known_answers.KERNELS
    assert tuple(case.name for case in known_answers.cases()) == known_answers.KERNELS


@pytest.mark.parametrize("case", list(known_answers.cases()), ids=lambda c: c.name)
def test_an_answer_differs_from_what_was_there_before(case: known_answers.Case) -> None:
    assert any(not np.array_equal(a, b) for a, b in zip(case.before, case.after, strict=True))


def test_flags_that_are_right_are_added(wrong: Wrong) -> None:
    wrong.write({"-O2"})
    c_compiler = compiler.find_compiler()
    assert c_compiler.flags[-1] == "-O2" and c_compiler.verdict.added == ("-O2",)
    assert c_compiler.verdict.wrong[:3] == tuple((flags, ("take",)) for flags in SAFER[:3])
    x = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(
        compiled("ENTRY e { p = f32[6] parameter(0) ROOT n = f32[6] negate(p) }", "cpu")(x), -x
    )


def test_objects_made_with_other_flags_are_other_objects(wrong: Wrong) -> None:
    wrong.write({"-O2"})
    first = compiler.object_path("source")
    wrong.write({"-O1"})
    compiler.find_compiler.cache_clear()
    assert compiler.object_path("source") != first


def test_a_flag_that_the_compiler_does_not_know_is_left_out(wrong: Wrong) -> None:
    wrong.write({"-fno-tree-loop-if-convert"}, refused="-mprefer-vector-width=256")
    assert compiler.find_compiler().verdict.added == ("-fno-tree-loop-if-convert",)


def test_code_that_ends_its_process_is_wrong(wrong: Wrong) -> None:
    wrong.write({"-O1"}, ENDS)
    assert compiler.find_compiler().verdict.wrong[0] == ((), ("scattered",))


def test_a_compiler_without_flags_that_are_right_is_refused_by_name(wrong: Wrong) -> None:
    path = wrong.write(set())
    with pytest.raises(CompileError, match=f"{path} makes wrong code: wrong with the usual flags: take; .*set CC"):
        compiler.find_compiler()
    assert not compiler.is_available()


def test_the_next_compiler_is_used_instead(wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC")
    wrong.write(set(), name="cc")
    right = wrong.write({"-O3"}, name="gcc")
    monkeypatch.setenv("PATH", f"{wrong.folder}{os.pathsep}{os.environ['PATH']}")
    assert compiler.find_compiler().command == (str(right),)


def test_a_compiler_that_compiles_nothing_says_why(wrong: Wrong) -> None:
    wrong.write(set(), ("int main", "int main int"))
    with pytest.raises(CompileError, match="wrong compiles no program: .*error"):
        compiler.find_compiler()


def test_a_verdict_is_kept_until_the_compiler_changes(wrong: Wrong) -> None:
    path = wrong.write({"-O2"})
    first = compiler.find_compiler()
    count = wrong.compilations()
    compiler.find_compiler.cache_clear()
    assert compiler.find_compiler() == first and wrong.compilations() == count
    path.write_text(path.read_text() + "# another version\n")
    compiler.find_compiler.cache_clear()
    assert compiler.find_compiler() == first and wrong.compilations() == 2 * count


def test_a_damaged_verdict_is_found_anew(wrong: Wrong) -> None:
    wrong.write({"-O2"})
    first = compiler.find_compiler()
    (kept,) = (wrong.folder / "cache" / "host").glob("*.verdict")
    kept.write_bytes(b"[[], []]")
    compiler.find_compiler.cache_clear()
    assert compiler.find_compiler() == first


def test_the_doctor_says_which_flags_are_used_and_why(wrong: Wrong) -> None:
    path = wrong.write({"-O1"})
    actual = diagnosis.test_device("cpu")
    assert actual.works
    right = f"right with -O1 in {len(known_answers.KERNELS)} of {len(known_answers.KERNELS)} "
    assert re.search(rf"{path} \(.+\): {right}.*\(wrong with the usual flags: take; .*O2: take\)", actual.about)
    wrong.write(set())
    compiler.find_compiler.cache_clear()
    refused = diagnosis.test_device("cpu")
    assert not refused.works and f"{path} makes wrong code" in refused.about


WINDOW = """c0 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e {
  p0 = KIND[16,3,3] parameter(0)
  v1 = KIND[] constant(1)
  ROOT v3 = KIND[10,6,2] reduce-window(p0, v1), window={size=3x1x3 stride=3x1x1 pad=0_0x0_-1x-1_2 lhs_dilate=2x3x1}, to_apply=c0
}"""


@pytest.mark.parametrize("kind", ["f32", "s32", "f64"])
def test_conditions_on_wide_vectors_lose_no_elements(kind: str, monkeypatch: pytest.MonkeyPatch, wrong: Wrong) -> None:
    """gcc 11 and 12 with vectors of 512 bits lose them."""
    wide = (*REAL, "-mprefer-vector-width=512")
    monkeypatch.setenv("CC", shlex.join(wide if compiler.with_known_flags(wide) else REAL))
    text = WINDOW.replace("KIND", kind).replace("f32", kind)
    x = np.random.default_rng(0).integers(-4, 5, (16, 3, 3)).astype(ix.hlo.parse(text).entry.parameters[0].shape.dtype)
    np.testing.assert_array_equal(compiled(text, "cpu")(x), ix.evaluate(text, x))


def test_a_small_product_is_right_with_the_compiler_in_a_wheel(monkeypatch: pytest.MonkeyPatch, wrong: Wrong) -> None:
    """Clang 22 adds up other elements where it unrolls the loop."""
    pytest.importorskip("ziglang")
    monkeypatch.setenv("CC", shlex.join([sys.executable, "-m", "ziglang", "cc"]))
    text = """ENTRY e { a = f32[9,12] parameter(0) b = f32[12,4] parameter(1)
      ROOT d = f32[9,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 9, sizes).astype(np.float32) for sizes in ((9, 12), (12, 4)))
    np.testing.assert_array_equal(compiled(text, "cpu")(a, b), a @ b)


@pytest.mark.parametrize("kind", ["s8", "u8"])
def test_a_running_sum_of_few_numbers_is_right(kind: str, wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    """gcc 12 loads before it stores, where it makes vectors of the statements of an unrolled loop."""
    monkeypatch.setenv("CC", shlex.join(REAL))
    text = f"""sum {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT s = {kind}[] add(a, b) }}
ENTRY e {{ p = {kind}[64] parameter(0) zero = {kind}[] constant(0)
  ROOT w = {kind}[64] reduce-window(p, zero), window={{size=64 pad=63_0}}, to_apply=sum }}"""
    x = np.ones(64, ix.hlo.parse(text).entry.root.shape.dtype)
    np.testing.assert_array_equal(compiled(text, "cpu")(x), np.arange(1, 65))
