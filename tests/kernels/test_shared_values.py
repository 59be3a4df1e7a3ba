"""Values that several heroes or outputs of a kernel share: counted as often as the kernel's code computes them."""

import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels import choose_emitter
from indexing.kernels.ir.nodes import Block, CallFunction, Kernel, Op, statements
from indexing.kernels.ir.traversal import subvalues, values_of

SHARED = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
pair { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) e = f32[] add(a, c)
  f = f32[] maximum(b, d) ROOT r = (f32[], f32[]) tuple(e, f) }
ENTRY e {
  x = f32[64,64] parameter(0)
  z = f32[] constant(0)
  one = f32[] constant(1)
  ones = f32[64,64] broadcast(one), dimensions={}
  shared = f32[64,64] exponential(x)
  left = f32[64,64] add(shared, ones)
  right = f32[64,64] negate(shared)
"""
SUM = "s = f32[64] reduce(left, z), dimensions={1}, to_apply=add"
OTHER_SUM = "t = f32[64] reduce(right, z), dimensions={1}, to_apply=add"
TRANSPOSE = "s = f32[64,64] transpose(left), dimensions={1,0}"
#: Programs, their emitters, how often their code computes a shared value, and the values computed.
PROGRAMS = {
    "a sum and its operand's neighbour": (
        f"{SUM}\nROOT r = (f32[64], f32[64,64]) tuple(s, right)",
        "reduction",
        1,
        64 * 64,
    ),
    "two sums": (f"{SUM}\n{OTHER_SUM}\nROOT r = (f32[64], f32[64]) tuple(s, t)", "reduction", 1, 64 * 64),
    "a sum of two arrays": (
        "ROOT r = (f32[64], f32[64]) reduce(left, right, z, z), dimensions={1}, to_apply=pair",
        "reduction",
        1,
        64 * 64,
    ),
    "a transpose": (f"{TRANSPOSE}\nROOT r = (f32[64,64], f32[64,64]) tuple(s, right)", "transpose", 1, 64 * 64),
    "another place": (
        f"o = f32[64,64] reverse(right), dimensions={{1}}\n{SUM}\nROOT r = (f32[64], f32[64,64]) tuple(s, o)",
        "reduction",
        2,
        2 * 64 * 64,
    ),
    "a branch": (
        f"""p = f32[64,65] pad(right, z), padding=0_0x0_1
        o = f32[64,64] slice(p), slice={{[0:64], [1:65]}}
        q = f32[64,65] pad(left, z), padding=0_0x0_1
        l = f32[64,64] slice(q), slice={{[0:64], [1:65]}}
        {SUM.replace("left", "l")}
        ROOT r = (f32[64], f32[64,64]) tuple(s, o)""",
        "reduction",
        2,
        2 * 64 * 63,
    ),
    "every second element": (
        f"""o = f32[64,127] pad(right, z), padding=0_0x0_0_1
        l = f32[64,127] pad(left, z), padding=0_0x0_0_1
        {SUM.replace("left", "l")}
        ROOT r = (f32[64], f32[64,127]) tuple(s, o)""",
        "reduction",
        2,
        2 * 64 * 127,  # conditions are not taken into account
    ),
    "a product": (
        "ROOT r = f32[64,64] dot(left, right), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "dot-simt",
        2,
        2 * 64 * 64,
    ),
}


def occurrences(body: Block, functions: dict[str, Block]) -> int:
    """How often code computes an exponential, through the functions that it calls."""
    count = 0
    for statement in statements(body):
        values = (v for value in values_of(statement) for v in subvalues(value))
        count += sum(isinstance(v, Op) and v.opcode == "exp" for v in values)
        if isinstance(statement, CallFunction):
            count += occurrences(functions[statement.function], functions)
    return count


@pytest.mark.parametrize(("text", "emitter", "times", "wanted"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_values_are_counted_as_often_as_they_are_computed(text: str, emitter: str, times: int, wanted: int) -> None:
    entry = ix.hlo.parse(f"{SHARED}{text}\n}}").entry
    kernel: Kernel = ix.emit(entry, vector_width=1).ir if emitter == "reduction" else ix.emit(entry).ir
    assert kernel.emitter == emitter
    assert occurrences(kernel.body, {f.name: f.body for f in kernel.functions}) == times
    counts = choose_emitter(entry, portable_device()).match.parts.evaluations
    assert counts[entry.instructions["shared"]] == wanted
