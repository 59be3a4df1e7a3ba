"""`indexing serve`: a line of JSON answers each request, whatever it is; the answers are those of `ix.analyze` and `ix.predict`."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import indexing as ix
from indexing.cli.prediction_server import finite

TRANSPOSE = "ENTRY f { p = f32[4096,2048] parameter(0) ROOT t = f32[2048,4096] transpose(p), dimensions={1,0} }"
FUSED = """f { p = f32[4096,2048] parameter(0) ROOT t = f32[2048,4096] transpose(p), dimensions={1,0} }
ENTRY g { q = f32[4096,2048] parameter(0) n = f32[2048,4096] fusion(q), kind=kLoop, calls=f
  ROOT m = f32[2048,4096] negate(n) }"""
SCALAR = "ENTRY f { p = s32[] parameter(0) ROOT n = s32[] negate(p) }"


def served(lines: Sequence[bytes], *options: str) -> list[Any]:
    command = [sys.executable, "-m", "indexing", "serve", *options]
    done = subprocess.run(command, input=b"\n".join(lines), capture_output=True, check=True, timeout=300)
    assert not done.stderr
    return [json.loads(line, parse_constant=lambda name: 1 / 0) for line in done.stdout.splitlines()]


def request(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def test_programs_and_plans_are_predicted_as_in_python() -> None:
    plans = {"tile": [8, 64], "block_size": [256, 1024]}
    asked = [
        request(hlo=TRANSPOSE),
        request(hlo=TRANSPOSE, plans=plans, device="a100", id=["first"]),
        request(hlo=FUSED, plans="grid", instruction="n"),
        request(hlo=TRANSPOSE, plans=[]),
    ]
    program, two, grid, none = served(asked, "--device", "h100")
    module = ix.hlo.parse(TRANSPOSE)
    report = ix.analyze(module, "h100")
    assert (program["seconds"], program["device"]) == (report.seconds, "H100 SXM")
    assert [(f["kernel"], f["seconds"], f["limit"]) for f in program["fusions"]] == [
        (f.name, f.seconds, f.limit) for f in report.fusions
    ]
    predicted = ix.predict(module.entry, plans, "a100")
    assert (two["id"], two["plans"], two["seconds"]) == (["first"], plans, predicted.time.tolist())
    assert two["limit"] == predicted.limit.tolist() and two["default"] == ix.knobs(module.entry, device="a100").default
    every = ix.predict(module.entry, device="h100")
    assert grid["seconds"] == every.time.tolist() and grid["plans"]["tile"] == every.plans["tile"].tolist()
    assert none["seconds"] == [] and none["plans"]["tile"] == []


def test_what_is_wrong_with_a_request_is_its_answer_and_the_next_is_answered() -> None:
    wrong = {
        b"{": "JSONDecodeError",
        b"\xff\xfe": "Error",
        b"[" * 100_000: "RecursionError",
        b"7": "a request is an object",
        request(text=TRANSPOSE): "a request has no field 'text'; its fields are hlo",
        request(): "expected HLO text as a string",
        request(hlo=[TRANSPOSE]): "TypeError",
        request(hlo="\ud800"): "half of a character",
        request(hlo=TRANSPOSE, device="x100"): "there is no device 'x100'",
        request(hlo=TRANSPOSE, device=7): "device is an int",
        request(hlo=TRANSPOSE, instruction="x"): "the program has no instruction x; there is p, t",
        request(hlo=TRANSPOSE, instruction=7): "expected the name of one",
        request(hlo=TRANSPOSE, plans=7): "plans is an int",
        request(hlo=FUSED, plans="grid"): "plans are those of one kernel: name a fusion by `instruction` (n)",
        request(hlo=FUSED, plans="grid", instruction="m"): "those of one kernel: name a fusion by `instruction` (n)",
        request(hlo=TRANSPOSE, plans="grid", instruction="t"): "leave out `instruction` for the entry computation",
        b'{"plans": {"tile": [8], "tile": [64]}}': "'tile' stands twice in an object",
        request(hlo=TRANSPOSE, plans={"tile": [9]}): "plan 0 is not legal",
        request(hlo=TRANSPOSE, plans={"tile": ["a"]}): "expected one dimension of integers",
    }
    parse = request(hlo="ENTRY f {\n  p = f32[8] parameter(0)\n  ROOT n = f32[9] negate(p)\n}", id=1)
    opcode = request(hlo="ENTRY f {\n  p = f32[8] parameter(0)\n  ROOT n = f32[8] nosuch(p)\n}", id=2)
    answers = served([*wrong, b"", parse, opcode, request(hlo=SCALAR)])
    for answer, message in zip(answers, wrong.values(), strict=False):
        assert message in answer["error"] and answer["kind"] != "internal"
    *_, place, unknown, last = answers
    assert len(answers) == len(wrong) + 3 and "error" not in last
    assert [unknown[name] for name in ("id", "kind", "line", "column")] == [2, "unsupported-op", 3, 8]
    assert (place["id"], place["kind"], place["line"], place["column"]) == (1, "parse-error", 3, 19)


def test_a_plan_that_cannot_be_launched_has_no_time() -> None:
    assert finite({"seconds": [1.0, float("inf"), float("nan")], "n": 1}) == {"seconds": [1.0, None, None], "n": 1}


def test_a_reader_who_leaves_ends_the_server() -> None:
    command = [sys.executable, "-m", "indexing", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdout.close()
        process.stdin.write(request(hlo=SCALAR) + b"\n")
        process.stdin.close()
        assert process.wait(timeout=60) == 141
