"""Programs that are no HLO text: what a file holds is told by its content; what is missing or wrong is said."""

import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing.hlo import front_ends
from indexing.hlo.metadata import op_name

X = np.arange(6, dtype=np.float32).reshape(2, 3)
TEXT = "HloModule {} ENTRY e {{ ROOT a = f32[2] constant({{1, 2}}) }}"


def twice_transposed(x):
    return x.T * 2


LOWERED = jax.jit(twice_transposed).lower(X)
STABLEHLO = LOWERED.as_text()
EXPORTED = jax.export.export(jax.jit(twice_transposed))(X)
PROTO = LOWERED.compiler_ir("hlo").as_serialized_hlo_module_proto()


def in_a_message(data: bytes) -> bytes:
    """A protocol buffer whose field 1 is this."""
    length, size = len(data), b""
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return b"\x0a" + size + bytes([length]) + data


FORMS = {
    "text": LOWERED.compiler_ir("hlo").as_hlo_text().encode(),
    "text after empty lines": b"\n\n" + LOWERED.compiler_ir("hlo").as_hlo_text().encode(),
    "text after a comment": b"// the module of `func.func` // module\n"
    + LOWERED.compiler_ir("hlo").as_hlo_text().encode(),
    "text after a ruler": b"//" * 10_000 + b"\n" + LOWERED.compiler_ir("hlo").as_hlo_text().encode(),
    "proto": PROTO,
    "dumped proto": in_a_message(PROTO),
    "stablehlo": STABLEHLO.encode(),
    "stablehlo with places": b"\n// of a test\n" + LOWERED.as_text(debug_info=True).encode(),
    "bytecode": EXPORTED.mlir_module_serialized,
    "export": bytes(EXPORTED.serialize()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_load_sees_what_a_file_holds(tmp_path: Path, form: str, packed) -> None:
    (tmp_path / "program").write_bytes(packed(FORMS[form]))
    module = ix.hlo.load(tmp_path / "program")
    np.testing.assert_array_equal(ix.evaluate(module, X), X.T * 2)


def test_what_was_lowered_or_exported_already() -> None:
    for module in (ix.from_jax(LOWERED), ix.from_jax(LOWERED, stage="compiled"), ix.hlo.from_exported(EXPORTED)):
        np.testing.assert_array_equal(ix.evaluate(module, X), X.T * 2)
    with pytest.raises(ix.IndexingError, match="lowered already"):
        ix.from_jax(LOWERED, X)


@pytest.mark.parametrize("data", [b"", b"\x00\x01", b"\x0a\xff\xff", b"\x0a\x02ab", PROTO[:80]])
def test_bytes_that_are_no_program(data: bytes) -> None:
    for read in (ix.hlo.from_proto, ix.hlo.from_exported, ix.hlo.from_stablehlo):
        with pytest.raises(ix.IndexingError):
            read(data)


@pytest.mark.parametrize("form", ["proto", "dumped proto", "bytecode", "export", "gzip"])
def test_files_that_were_cut_off(tmp_path: Path, form: str) -> None:
    """A part of a file is refused, unless all of the program is in it; where it comes from stands behind it in a proto."""
    whole = gzip.compress(FORMS["text"]) if form == "gzip" else FORMS[form]

    def body(data: bytes) -> str:
        (tmp_path / "program").write_bytes(data)
        text = str(ix.hlo.load(tmp_path / "program")).partition("\n")[2]
        return re.sub(", metadata={.*}", "", text.partition("ENTRY")[2]) if form == "proto" else text

    expected, refused = body(whole), 0
    step = 1 if form == "proto" else len(whole) // 30  # a proto also ends between two of its fields
    for end in range(len(whole) // 30, len(whole), step):
        try:
            assert body(whole[:end]) == expected
        except ix.IndexingError as error:
            refused += 1
            assert str(error).startswith(str(tmp_path / "program"))
            assert "if it was cut off, copy or write it again" in str(error)
    assert refused > 20
    (tmp_path / "binary").write_bytes(b"HloModule m\0")
    with pytest.raises(ix.IndexingError, match="neither text nor the beginning of a program in another form"):
        ix.hlo.load(tmp_path / "binary")


def test_what_is_no_program_at_all() -> None:
    for call in (ix.hlo.from_proto, ix.hlo.from_exported, ix.hlo.from_stablehlo):
        with pytest.raises(TypeError, match="expected"):
            call(3)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (LOWERED, r"a Lowered; .* its program is ix\.from_jax\(value\)"),
        (LOWERED.compile(), r"its program is ix\.from_jax\(value\)"),
        (len, r"its program is ix\.from_jax\(function, \*arguments\)"),
        (ix.from_jax(LOWERED), "it is a program already"),
        (b"HloModule m", r"a bytes; expected a path, or a binary file .* io\.BytesIO\(source\)"),
        (io.StringIO("HloModule m"), r"opened as text; .* open\(path, 'rb'\)"),
        (None, "a NoneType; expected a path, or a binary file opened for reading$"),
    ],
)
def test_what_is_no_file(source: object, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        ix.hlo.load(source)  # type: ignore[arg-type]
    if source is not None and not hasattr(source, "read") and not isinstance(source, bytes):
        with pytest.raises(ix.ParseError, match=told.rpartition("; ")[2].rpartition(".* ")[2]):
            ix.hlo.parse(source)  # type: ignore[arg-type]


def test_text_in_place_of_a_path() -> None:
    with pytest.raises(ix.IndexingError, match=r"not a path; ix\.hlo\.parse\(text\) reads it"):
        ix.hlo.load(LOWERED.as_text("hlo"))
    with pytest.raises(ix.IndexingError, match=r"not a path; ix\.hlo\.from_stablehlo\(text\) reads it"):
        ix.hlo.load(LOWERED.as_text())


# ---- folders that XLA dumped into

DUMPED = {
    "module_0001.jit_f.before_optimizations.txt": "before_f",
    "module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt": "f",
    "module_0001.jit_f.sm_9.0_gpu_after_optimizations-buffer-assignment.txt": "no program",
    "module_0002.jit_g.before_optimizations.txt": "before_g",
    "notes.txt": "no program",
}


def dump(folder: Path, names: list[str]) -> Path:
    for name in names:
        (folder / name).write_text(TEXT.format(DUMPED[name]))
    return folder


def test_programs_of_a_dump(tmp_path: Path) -> None:
    programs = ix.hlo.dumped_programs(dump(tmp_path, list(DUMPED)))
    actual = {name: ix.hlo.load(path).name for name, path in programs.items()}
    assert actual == {"module_0001.jit_f": "f", "module_0002.jit_g": "before_g"}
    with pytest.raises(
        ix.IndexingError, match="has 2 programs; give one of these files, the largest first: module_0002.jit_g.before"
    ):
        ix.hlo.load(tmp_path)


def test_a_dump_of_one_program_is_that_program(tmp_path: Path) -> None:
    assert ix.hlo.load(dump(tmp_path, list(DUMPED)[:3])).name == "f"


def test_a_folder_without_programs(tmp_path: Path) -> None:
    with pytest.raises(
        ix.IndexingError, match="a directory without programs that XLA dumped; give a file, or .* --out"
    ):
        ix.hlo.load(tmp_path)


# ---- stages and targets


def test_stages() -> None:
    assert ix.from_jax(jnp.sin, X, stage="lowered").entry.root.opcode == "sine"
    assert ix.from_jax(jnp.sin, X, stage="compiled").attributes["is_scheduled"] == "true"
    with pytest.raises(ix.UnsupportedOp, match="no stage 'traced'"):
        ix.from_jax(jnp.sin, X, stage="traced")
    with pytest.raises(ix.IndexingError, match="leave out stage"):
        ix.from_jax(jnp.sin, X, stage="lowered", target="h100")
    with pytest.raises(
        ix.IndexingError,
        match="no device 'h1000'; one of 'V100', 'V100 PCIe 32GB', 'A100 SXM 80GB'.* or a Device of your own",
    ):
        ix.from_jax(jnp.sin, X, target="h1000")


def test_parameters_are_all_arguments_and_have_their_names() -> None:
    module = ix.from_jax(lambda weights, unused: weights["b"] + 1, {"a": X, "b": X}, np.float32(1))
    shapes = [p.shape.dimensions for p in module.entry.parameters]
    assert shapes == [(2, 3), (2, 3), ()]
    names = [p.attributes["metadata"] for p in module.entry.parameters]
    assert ["a" in names[0], "b" in names[1], "unused" in names[2]] == [True] * 3


@pytest.mark.parametrize("stage", ["lowered", "compiled"])
def test_arguments_that_jit_would_drop_are_parameters(stage: str) -> None:
    def last(state, unused, x, *, y):
        return {"sum": state["w"] + x, "y": y + jnp.zeros_like(unused)}

    arguments = ({"b": X, "w": X}, np.float32(1), X)
    dropping, keeping = (jax.jit(last, donate_argnums=0, keep_unused=k) for k in (False, True))
    module = ix.from_jax(dropping, *arguments, y=X, stage=stage)
    assert [op_name(p) for p in module.entry.parameters] == ["state['b']", "state['w']", "unused", "x", "y"]
    assert module.attributes == ix.from_jax(keeping, *arguments, y=X, stage=stage).attributes


def test_what_jit_made_is_evaluated_for_its_arguments() -> None:
    jitted = jax.jit(lambda a, unused, c: a - c)
    a, c = np.full((2, 3), 5, np.float32), np.float32(3)
    for program in (jitted, jax.jit(lambda a, unused, c: a - c, keep_unused=True).lower(a, a, c)):
        assert (ix.evaluate(program, a, a, c) == 2).all()
    run = (lambda: ix.compile(jitted, a, a, c, device="reference"))()
    assert (run(a, a, c) == 2).all() and (run(c + a, a, c) == 5).all()


def answering(monkeypatch: pytest.MonkeyPatch, answer: object, status: int = 0) -> list[dict]:
    """Let the compiler's process answer this; gives what it is asked."""
    asked = []

    def run(command, input: bytes, **options):
        asked.append({"command": command, "input": input, **options})
        return subprocess.CompletedProcess(command, status, json.dumps(answer).encode(), b"first\nlast words\n")

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_a_program_for_a_target_is_compiled_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/elsewhere")
    asked = answering(monkeypatch, {"program": TEXT.format("fused")})
    assert ix.from_jax(twice_transposed, X, target="h200").name == "fused"
    (one,) = asked
    line, program = one["input"].split(b"\n", 1)
    assert "NVIDIA H200" in json.loads(line)["config"] and program.startswith(b"ML\xefR")
    assert one["env"]["XLA_FLAGS"] == "--xla_dump_to=/elsewhere --xla_gpu_autotune_level=0"
    assert one["env"]["JAX_PLATFORMS"] == "cpu"


def test_what_the_compiler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, {"missing": "topology not implemented for cuda"})
    with pytest.raises(ix.UnsupportedOp, match="the jax-cuda extra .topology not implemented"):
        ix.hlo.from_stablehlo(STABLEHLO, target="l4")
    answering(monkeypatch, {"refused": "INTERNAL: too large"})
    with pytest.raises(ix.CompileError, match="does not compile this program for L4: INTERNAL: too large"):
        ix.hlo.from_stablehlo(STABLEHLO, target="l4")
    answering(monkeypatch, {"refused": 'Unable to parse: error: "-":2:3: no such op'})
    with pytest.raises(ix.ParseError, match="line 2, column 3: no such op"):
        ix.hlo.from_stablehlo("module {\n  what\n}", target="l4")
    answering(monkeypatch, None, status=-6)
    with pytest.raises(ix.CompileError, match="status -6; it said:\nfirst\nlast words"):
        ix.hlo.from_stablehlo(STABLEHLO, target="l4")


def test_hlo_is_compiled_for_no_target(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(FORMS["text"])
    with pytest.raises(ix.IndexingError, match="is HLO already"):
        ix.hlo.load(tmp_path / "p", target="h100")


def test_the_process_says_what_is_missing() -> None:
    """The process itself, without a plug-in."""
    request = b'{"config": ""}\n' + STABLEHLO.encode()
    script = "import indexing.hlo.gpu_compiler as compiler\ncompiler.find_spec = lambda name: None\ncompiler.main()"
    done = subprocess.run([sys.executable, "-c", script], input=request, capture_output=True, check=True)
    assert json.loads(done.stdout) == {"missing": "JAX has no plug-in for CUDA"}


def test_errors_of_stablehlo_have_their_place() -> None:
    assert str(front_ends._refused("a\n  bad", "<unknown>:2:3: error: use of undeclared value\nnote")) == (
        "line 2, column 3: use of undeclared value\n  bad\n  ^"
    )
    assert front_ends._refused("empty", "<unknown>:0:0: error: no main").line == 1
    assert isinstance(front_ends._refused("odd", "INTERNAL: no lowering"), ix.UnsupportedOp)


def test_without_jax_the_error_names_the_extra() -> None:
    script = (
        "import sys\nsys.modules['jax'] = None\nimport indexing as ix\n"
        "for call in (lambda: ix.from_jax(abs, 1), lambda: ix.hlo.from_stablehlo('module {}')):\n"
        "    try:\n        call()\n    except ix.UnsupportedOp as e:\n        print(e)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.count("needs the jax extra") == out.count(" -m pip install ") == 2


def test_an_unknown_opcode_is_shown_in_its_file(tmp_path: Path) -> None:
    program = tmp_path / "program.hlo"
    program.write_text("ENTRY e {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] expontial(a)\n}")
    with pytest.raises(ix.UnsupportedOp, match=f"^{program}:3:8: b: opcode 'expontial' .* did you mean 'exponential'"):
        ix.output_to_input(ix.hlo.load(program).entry.root)
