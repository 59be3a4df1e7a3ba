"""What a report says of an access is true of the addresses of its kernel's warps, enumerated one by one."""

from collections.abc import Callable
from pathlib import Path

import pytest

import indexing as ix
from indexing.hlo.program_like import parameter_names
from indexing.reports.accesses import AccessReport, rows_of
from random_fusions import random_fusion, random_hero_fusion
from warp_claims import Told, false_claims, launch_of

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "tests/golden").glob("*.hlo"), *(ROOT / "examples").glob("*.hlo")])
#: Fusions of every kind of waste: parameters, the body, and words that the sentence about the first one must have.
WASTEFUL = [
    ("f32[96,64]{0,1}", "ROOT n = f32[96,64]{1,0} negate(p0)", "neighbouring lanes are 384 B apart"),
    ("f32[8192]", "ROOT s = f32[2048] slice(p0), slice={[0:8192:4]}", "neighbouring lanes are 16 B apart"),
    (
        "f32[4096,26]",
        "ROOT s = f32[4096,10] slice(p0), slice={[0:4096],[8:18]}",
        "runs of 40 B",
    ),
    ("f32[70,33]", "ROOT s = f32[70,32] slice(p0), slice={[0:70],[0:32]}", "a row of `p0` (dimension 1) is 132 B"),
    (
        "bf16[40,3,24]",
        "ROOT s = bf16[40,2,24] slice(p0), slice={[0:40],[0:2],[0:24]}",
        "a row of `p0` (dimensions 1, 2) is 144 B",
    ),
    ("f32[64,128]", "ROOT s = f32[64,126] slice(p0), slice={[0:64],[1:127]}", "begin within a sector (32 B), "),
    ("f32[64]", "ROOT b = f32[300,64] broadcast(p0), dimensions={1}", "warps load each element 300 times"),
    ("f32[512]", "ROOT b = f32[512,64] broadcast(p0), dimensions={0}", "a warp reads 4 B at a time, and"),
    ("f32[]", "ROOT b = f32[64] broadcast(p0), dimensions={}", "its 4 B are less than a sector"),
    ("f32[45]", "ROOT n = f32[45] negate(p0)", "its 180 B are no multiple of a sector"),
    (
        "f32[4096]",
        "a = f32[3072] slice(p0), slice={[0:3072]} b = f32[3072] slice(p0), slice={[1024:4096]} "
        "ROOT s = f32[3072] add(a, b)",
        "the 2 loads of the kernel overlap: warps load each element 1.5 times",
    ),
    (
        "f32[512,64]",
        "z = f32[] constant(0) s = f32[512,1] slice(p0), slice={[0:512],[7:8]} v = f32[512] bitcast(s) "
        "ROOT w = f32[512,16] broadcast(v), dimensions={0}",
        "16 lanes share an element, the next are 256 B apart",
    ),
    (
        "f32[512]",
        "z = f32[] constant(0) s = f32[256] slice(p0), slice={[0:512:2]} ROOT w = f32[512] pad(s, z), padding=0_1_1",
        "one lane in 2 is active, the next 8 B apart",
    ),
]


def fusion(parameter: str, body: str) -> ix.hlo.Module:
    result = body.split("ROOT ")[1].split(" = ")[1].split(" ")[0]
    body = body.replace(" ROOT", "\n ROOT").replace(") ", ")\n ").replace("} ", "}\n ")
    return ix.hlo.parse(f"""add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
    f {{ p0 = {parameter} parameter(0)\n {body} }}
    ENTRY e {{ p0 = {parameter} parameter(0)\n ROOT r = {result} fusion(p0), kind=kLoop, calls=f }}""")


def judged(module: ix.hlo.Module) -> list[Told]:
    """The sentences of a program about accesses that can be enumerated."""
    result = []
    report = ix.analyze(module, "h100")
    for kernel in report.fusions:
        for row in rows_of(kernel.instruction, report.device):  # whose operands have the names of the instruction's own
            told = told_of(kernel.instruction, row, report.device)
            if told is not None:
                result.append(told)
    return result


def told_of(i: ix.hlo.Instruction, row: AccessReport, device: ix.Device) -> Told | None:
    if not row.why or row.ratio is None:
        return None
    moved = ix.coalescing(i, device)
    if row.kind == "write":
        number = int(row.array.removeprefix("output") or 0)
        accesses, shape = [a for a in moved.writes if a.output == number], i.shape.leaves[number]
    else:
        number = parameter_names(i).index(row.array)
        if not i.operands[number].shape.is_array:
            return None
        accesses, shape = [a for a in moved.reads if a.operand == number], i.operands[number].shape
    order = tuple(shape.layout if shape.layout is not None else range(shape.rank - 1, -1, -1))
    launches = [launch_of(a, shape.dimensions, order) for a in accesses]
    known = [launch for launch in launches if launch is not None]
    return Told(row.why, row.ideal_bytes, tuple(shape.dimensions), order, known) if known == launches else None


def holds(module: ix.hlo.Module) -> int:
    """Assert that no claim about the program is false; the number of sentences."""
    result = judged(module)
    assert not [(told.why, wrong) for told in result if (wrong := false_claims(told))]
    return len(result)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_reasons_of_examples_are_true_of_addresses(path: Path) -> None:
    holds(ix.hlo.load(path))


@pytest.mark.parametrize(("parameter", "body", "words"), WASTEFUL)
def test_each_kind_of_waste_has_its_reason(parameter: str, body: str, words: str) -> None:
    module = fusion(parameter, body)
    assert holds(module) > 0
    (row,) = [r for r in ix.analyze(module, "h100").rows if r.kind == "read"]
    assert words in row.why


@pytest.mark.parametrize("random", [random_fusion, random_hero_fusion])
def test_reasons_of_random_fusions_are_true_of_addresses(random: Callable[[int], str]) -> None:
    assert sum(holds(ix.hlo.parse(random(seed))) for seed in range(60)) > 30
