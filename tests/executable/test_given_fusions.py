"""Fusions of a program: one kernel each, unless the kernels of its parts are predicted to be faster."""

import pytest

import indexing as ix
from indexing.device.record import Device
from indexing.device.table import CPU, DEVICES
from indexing.hlo import Computation
from indexing.planning.program import planned_kernels

H100 = DEVICES["H100 SXM"]
FOLDS = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
"""


def windows(rows: int, length: int) -> str:
    """Maxima of windows of sums of windows: 256 reads an element, or 32 in two kernels."""
    return f"""x = f32[{rows},{length}] parameter(0) zero = f32[] constant(0)
  s = f32[{rows},{length}] reduce-window(x, zero), window={{size=1x16 pad=0_0x15_0}}, to_apply=add
  ROOT m = f32[{rows},{length}] reduce-window(s, zero), window={{size=1x16 pad=0_0x15_0}}, to_apply=max"""


def row_sums(rows: int, length: int) -> str:
    """Sums of few long rows, which several blocks can share."""
    return f"""x = f32[{rows},{length}] parameter(0) zero = f32[] constant(0)
  e = f32[{rows},{length}] exponential(x)
  s = f32[{rows}] reduce(e, zero), dimensions={{1}}, to_apply=add
  b = f32[{rows},{length}] broadcast(s), dimensions={{0}}
  ROOT m = f32[{rows},{length}] divide(e, b)"""


def grid(rows: int, length: int) -> str:
    """An index that takes three functions, of which each element of a row would need the value."""
    return f"""x = f32[{rows}] parameter(0) t = f32[1000] parameter(1) k = s32[] constant(7)
  a = f32[{rows}] sine(x) c = f32[{rows}] sine(a) d = f32[{rows}] cosine(c) i = s32[{rows}] convert(d)
  j = s32[{rows},1] reshape(i)
  g = f32[{rows}] gather(t, j), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}
  ROOT b = f32[{rows},{length}] broadcast(g), dimensions={{0}}"""


BODIES = {
    f"{make.__name__} {rows}x{length}": make(rows, length)
    for make in (windows, row_sums, grid)
    for rows, length in ((4, 37), (64, 1024), (2, 1 << 20), (4096, 4096))
}


def fused(body: str) -> str:
    """A program that is one fusion with this body."""
    entry = ix.hlo.parse(f"{FOLDS}ENTRY f {{ {body} }}").entry
    parameters = "\n".join(f"q{k} = {p.shape} parameter({k})" for k, p in enumerate(entry.parameters))
    names = ", ".join(f"q{k}" for k in range(len(entry.parameters)))
    call = f"ROOT r = {entry.root.shape} fusion({names}), kind=kLoop, calls=f"
    return f"{FOLDS}f {{ {body} }}\nENTRY e {{ {parameters}\n{call} }}"


def seconds(computation: Computation, device: Device) -> float:
    return float(ix.predict(computation, {}, device=device).time[0])


def planned_seconds(text: str, device: Device) -> list[float]:
    return [seconds(p.computation, device) for p in planned_kernels(ix.hlo.parse(text), device)]


@pytest.mark.parametrize("device", [H100, CPU], ids=lambda d: d.name)
@pytest.mark.parametrize("name", BODIES)
def test_the_faster_of_one_kernel_and_several_is_planned(name: str, device: Device) -> None:
    text = fused(BODIES[name])
    whole = seconds(ix.hlo.parse(text).computations["f"], device)
    parts = planned_seconds(f"{FOLDS}ENTRY f {{ {BODIES[name]} }}", device)
    assert sum(planned_seconds(text, device)) == pytest.approx(min(whole, sum(parts)))


@pytest.mark.parametrize(
    ("name", "kernels"), [("windows 4x37", 1), ("windows 4096x4096", 2), ("row_sums 2x1048576", 3)]
)
def test_a_launch_is_weighed_against_repeated_work_and_idle_cores(name: str, kernels: int) -> None:
    assert len(planned_kernels(ix.hlo.parse(fused(BODIES[name])), H100)) == kernels
