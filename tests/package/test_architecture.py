"""The invariants of ARCHITECTURE.md that can be read off the sources: names, lengths, words."""

import ast
import itertools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "indexing"

MAX_LINES = 500  # lines
MAX_INLINE = 40  # attributes


def sources() -> list[Path]:
    folders = ("rust", "python", "tests", "benches", "examples", "fuzz", "docs")
    return sorted(f for d in folders for f in (ROOT / d).rglob("*") if f.suffix in (".rs", ".py", ".pyi"))


def test_no_file_is_named_for_nothing_in_particular() -> None:
    vague = {"util", "utils", "common", "helper", "helpers", "base", "misc"}
    assert [f for f in sources() if f.stem in vague or f.parent.name in vague] == []


def code_of(file: Path) -> str:
    """A file's text; of a Rust file without the tests at its end."""
    return file.read_text().split("#[cfg(test)]")[0]


def test_files_stay_short() -> None:
    written = [f for f in sources() if f.suffix != ".pyi"]  # the stub is one file as the compiled module is one
    long = {str(f.relative_to(ROOT)): n for f in written if (n := len(code_of(f).splitlines())) > MAX_LINES}
    assert long == {}


def test_few_functions_ask_to_be_inlined() -> None:
    """Those that save most instructions, as callgrind counts them; the compiler finds the rest."""
    asked = {str(f.relative_to(ROOT)): f.read_text().count("#[inline") for f in (ROOT / "rust").rglob("*.rs")}
    assert sum(asked.values()) <= MAX_INLINE, {f: n for f, n in asked.items() if n}


def test_functions_stay_short() -> None:
    """Half of them have at most 12 lines, nine in ten at most 30, folder by folder."""
    violations = {}
    for folder in sorted({f.relative_to(PACKAGE).parts[0] for f in PACKAGE.rglob("*.py") if f.parent != PACKAGE}):
        trees = [ast.parse(f.read_text()) for f in (PACKAGE / folder).rglob("*.py")]
        lengths = [
            (n.end_lineno or 0) - n.lineno + 1 for t in trees for n in ast.walk(t) if isinstance(n, ast.FunctionDef)
        ]
        median, ninth_decile = (sorted(lengths)[len(lengths) * k // 10] for k in (5, 9))
        if median > 12 or ninth_decile > 30:
            violations[folder] = (median, ninth_decile)
    assert violations == {}


def test_every_executable_of_a_test_is_called_with_data_that_differs() -> None:
    """The helper `compiled` sees to it; a program compiled in another way could answer from its first call.

    What is refused stands in a lambda.
    """
    allowed = {"kernels.py", Path(__file__).name}
    files = [f for f in (ROOT / "tests").rglob("*.py") if f.name not in allowed]
    assert [f.name for f in files if re.search(r"(?<!lambda: )ix\.compile\(", f.read_text())] == []


def test_nothing_but_the_emitters_knows_an_emitter() -> None:
    """Others go through `EMITTERS`: they import no emitter, and do not ask which one a kernel has."""
    asks = re.compile(
        r"kernels\.emitters\.\w|kernels\.emitters import (?!EMITTERS$)|\.emitter(\.name)? (==|!=|in|is)\b"
    )
    violations = []
    for folder in ("graph", "kernels", "model", "planning", "executable", "tuning", "runtime"):
        for file in (PACKAGE / folder).rglob("*.py"):
            if "emitters" in file.relative_to(PACKAGE).parts:
                continue
            lines = enumerate(file.read_text().splitlines(), 1)
            violations += [f"{file.relative_to(ROOT)}:{number}: {line}" for number, line in lines if asks.search(line)]
    assert violations == []


def test_only_targets_know_which_target_it_is() -> None:
    """A pass, a hero or a builder asks what a target can do, never which one it is."""
    names = re.compile(r"""["'](cuda|opencl|c)["']""")
    asked = re.compile(r"dialect (==|!=|in)|target\.name|TARGETS\[[\"']")
    violations = []
    for file in sorted((PACKAGE / "kernels").rglob("*.py")):
        if file.parent.name == "targets":
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            is_default = "dialect: Dialect =" in line
            if asked.search(line) or (names.search(line) and not is_default and 'kind == "c"' not in line):
                violations.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert violations == []


def test_nothing_asks_for_a_dialect_by_name() -> None:
    """A device says what it can do, and one name says which dialect the processor runs."""
    asked = re.compile(r"""dialect (==|!=|in) [("'{\[]""")
    violations = [f"{f.relative_to(ROOT)}" for f in PACKAGE.rglob("*.py") if asked.search(f.read_text())]
    assert violations == []


def test_no_unfinished_or_silenced_code() -> None:
    mark = re.compile(
        r"\bTO" + r"DO\b|\bXX" + r"X\b|except Exception|except:$|mark\.skip|\b(unimplemented|todo)!|NotImplementedError"
    )
    violations = []
    for file in sources():
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if mark.search(line) and file != Path(__file__).resolve():
                violations.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert violations == []


def test_doc_comments_begin_with_the_thing_that_they_are_about() -> None:
    """Not with How, Where or What, and not with a question: a sentence that names a thing is read once."""
    asks = r"(How|Where|What|Which|When|Why|Who)\b|(Is|Are|Was|Does|Do|Did|Has|Have|May|Can|Would|Should)\b[^.:;]*\?"
    begun = re.compile(rf"^\s*(///|//!|\"{{3}}|#:)\s*({asks})")
    violations = []
    for file in (f for folder in ("rust", "python") for f in (ROOT / folder).rglob("*")):
        if file.suffix not in (".rs", ".py", ".pyi") or "tests" in file.relative_to(ROOT).parts:
            continue
        lines = ["", *file.read_text().splitlines()]
        for number, (before, line) in enumerate(itertools.pairwise(lines), 1):
            if begun.search(line) and not before.lstrip().startswith(("///", "//!", "#:")):
                violations.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert violations == []


def test_nothing_is_called_found() -> None:
    """A variable says what it holds; that it was found says nothing."""
    in_rust = re.compile(r"\blet\b[^=;]*\bfound\b|\bfound\s*:(?!:)|\|[^|]*\bfound\b[^|]*\|")
    named = []
    for file in (f for folder in ("rust", "python", "tests", "fuzz", "benches") for f in (ROOT / folder).rglob("*")):
        if file.suffix == ".py":
            nodes = ast.walk(ast.parse(file.read_text()))
            names = [n.id if isinstance(n, ast.Name) else n.arg for n in nodes if isinstance(n, ast.Name | ast.arg)]
            named += [str(file.relative_to(ROOT))] * ("found" in names)
        elif file.suffix == ".rs":
            code = (line.partition("//")[0] for line in file.read_text().splitlines())
            named += [str(file.relative_to(ROOT)) for line in code if in_rust.search(re.sub('".*"', "", line))]
    assert named == []


def test_comments_on_constants_are_whole() -> None:
    """A comment on a constant does not go on with its name, as "of a block" would: it is read without it."""
    goes_on = re.compile(
        r"^\s*(pub )?(const )?_?[A-Z][A-Z_0-9]*\b[^#\"]* = .*?(#|; //) "
        r"(of|that|which|whose|to|in|for|at(?! most| least)|on|from|between|so that|per|where|around|such|kept)\b"
    )
    violations = []
    for file in (f for folder in ("rust", "python", "fuzz", "benches") for f in (ROOT / folder).rglob("*")):
        if file.suffix in (".rs", ".py", ".pyi") and "target" not in file.parts:
            lines = enumerate(file.read_text().splitlines(), 1)
            violations += [f"{file.relative_to(ROOT)}:{n}: {line.strip()}" for n, line in lines if goes_on.search(line)]
    assert violations == []


def test_limits_are_named_max_and_min() -> None:
    odd = re.compile(
        r"^_?(MOST|LEAST|FEWEST|LONGEST|DEEPEST|LARGEST|FARTHEST|WIDEST|PATIENCE)(_|\b).* = \d", re.MULTILINE
    )
    assert [
        f"{f.relative_to(ROOT)}: {m[0]}" for f in sources() if f.suffix == ".py" for m in odd.finditer(f.read_text())
    ] == []
